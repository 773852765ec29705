"""Probes as items of pytest: asked together once, reported one by one."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memeval.config import Config, load_config
from memeval.errors import MemevalError, ProbeError, WeakSuiteWarning, said
from memeval.probefiles.sources import find_files
from memeval.pytest_names import item_names
from memeval.text import visible

if TYPE_CHECKING:
    from memeval.report.probes import Ledger
    from memeval.runs import Run, Validity
    from memeval.suite import Suite


class ProbeFailure(Exception):
    """A probe did not pass; the message is what there is to say."""


class ControlsFailure(Exception):
    """The suite cannot carry its results, or the store is at fault."""


@dataclass
class Probing:
    """What is collected and asked in one session.

    Attributes
    ----------
    config : pytest.Config
        Of the session.
    settings : Config
        Of the project.
    named : tuple of Path
        Paths of the command line.
    """

    config: pytest.Config
    settings: Config
    named: tuple[Path, ...]

    @classmethod
    def of(cls, config: pytest.Config, named: Sequence[str]) -> Probing | None:
        """Read the settings; None where nothing names a probe file."""
        try:
            settings = load_config(config.rootpath / "pyproject.toml")
        except MemevalError as error:
            raise pytest.UsageError(str(error)) from error
        here = config.invocation_params.dir
        made = cls(config, settings, tuple(here / path for path in named))
        return made if made.paths else None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where the probes are: the command line, else the settings."""
        return self.named or tuple(self.config.rootpath / path for path in self.settings.probes)

    @cached_property
    def files(self) -> dict[Path, str]:
        """Probe files that were found, in order, and their names in messages.

        Raises
        ------
        pytest.UsageError
            If a path holds none.
        """
        found, faults, _ = find_files(self.paths)
        if faults:
            by = "--memeval" if self.named else "probes of [tool.memeval] in pyproject.toml"
            raise pytest.UsageError("\n".join(f"{by}: {fault}" for fault in faults))
        return {path.resolve(): name for name, path in found.items()}

    @property
    def store(self) -> str:
        """Name of the store: option, else setting, else the embedded one."""
        return self.config.getoption("memeval_store") or self.settings.store or "sqlite"

    @property
    def store_words(self) -> str:
        """The store as it is shown."""
        return visible(self.store, 60)

    @cached_property
    def suite(self) -> Suite:
        """All probes of all named files, held-out ones left out.

        Raises
        ------
        ProbeError
            With every fault of every file.
        """
        from memeval.loading import load

        suite = load(*self.paths)
        share = self.settings.holdout
        return suite if share is None else suite.with_holdout(share).holdout(share)[0]

    @cached_property
    def names(self) -> tuple[str, dict[str, str]]:
        """Name of the controls as an item, and those of the probes."""
        return item_names(probe.name for probe in self.suite)

    def chosen(self, items: Sequence[pytest.Item]) -> Suite:
        """The probes that are items of this session."""
        names = {item.probe for item in items if isinstance(item, ProbeItem)}
        if not names or len(names) == len(self.suite):
            return self.suite
        return self.suite.select(names=[probe.name for probe in self.suite if probe.name in names])


class Asked:
    """One run for the whole session, made when the first item wants to know.

    Where all probes are asked, the controls come first; chosen probes judge neither suite nor
    store, as with ``memeval run --name``.
    """

    def __init__(self, probing: Probing, items: Sequence[pytest.Item]) -> None:
        self.probing = probing
        self.chosen = probing.chosen(items)

    @property
    def is_whole(self) -> bool:
        """Whether no probe is left out."""
        return len(self.chosen) == len(self.probing.suite)

    @cached_property
    def outcome(self) -> Run | Exception:
        """The run, or why there is none: the store is asked once, however many items there are."""
        try:
            return self._run()
        except Exception as error:  # raised again for every item
            return error

    @property
    def run(self) -> Run:
        """The run.

        Raises
        ------
        Exception
            The same for every item, where the store could not be asked.
        """
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def _run(self) -> Run:
        from memeval.controls import run_controls
        from memeval.runner import run
        from memeval.stores.base import resolve

        settings = self.probing.settings
        here = str(self.probing.config.rootpath)
        if here not in sys.path:  # as 'memeval run' finds modules of the project
            sys.path.insert(0, here)
        make = resolve(self.probing.store)
        _refuse_sharing(self.probing.config, make)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WeakSuiteWarning)  # the controls tell it
            if self.is_whole:
                return run_controls(self.chosen, make, seed=settings.seed or 0).real
            return run(self.chosen, make, seed=settings.seed or 0)

    @cached_property
    def ledger(self) -> Ledger:
        """What is told of failing probes, with their causes where they are asked for."""
        from memeval.diagnosis import diagnose
        from memeval.report.probes import Ledger

        if self.probing.config.getoption("memeval_no_diagnose"):
            return Ledger(self.run)
        try:
            found = diagnose(self.run, self.probing.store)
        except Exception as error:  # what failed is told all the same, without its cause
            warnings.warn(f"failing probes are not diagnosed: {said(error)}", stacklevel=1)
            return Ledger(self.run)
        return Ledger(self.run.diagnosed(found.causes))


def _refuse_sharing(config: pytest.Config, make: Any) -> None:
    """Refuse several workers of xdist on one store that each of them would empty."""
    from memeval.stores.bound import BoundStore

    one_worker = getattr(config.option, "loadgroup", False)  # set in workers by --dist loadgroup
    if "PYTEST_XDIST_WORKER" not in os.environ or one_worker:
        return
    store = BoundStore(make())
    declared = store.capabilities
    store.close()
    apart = declared.isolation in ("fresh", "fork")
    if not (apart or (declared.isolation == "namespace" and declared.thread_safe)):
        raise MemevalError(
            f"the store has isolation {declared.isolation!r}, and several workers would use it at "
            "once; run pytest with --dist loadgroup, which keeps the probes on one of them, or "
            "with -n 0"
        )


def _asked(item: pytest.Item, probing: Probing) -> Asked:
    """The one run of this session."""
    known: Asked | None = getattr(item.session, "_memeval_asked", None)
    if known is None:
        known = Asked(probing, item.session.items)
        item.session._memeval_asked = known  # type: ignore[attr-defined]
    return known


class ProbeFile(pytest.File):
    """A probe file that is named."""

    def __init__(self, *, probing: Probing, **options: Any) -> None:
        super().__init__(**options)
        self.probing = probing

    def collect(self) -> Iterator[pytest.Item]:
        """Its probes, in order; before those of the first file the controls of all of them."""
        here = self.path.resolve()
        if here == next(iter(self.probing.files)):
            name = self.probing.names[0]
            yield ControlsItem.from_parent(self, name=name, probing=self.probing)
        for probe in self.probing.suite:
            if Path(probe.file).resolve() == here:
                yield ProbeItem.from_parent(
                    self,
                    name=self.probing.names[1][probe.name],
                    probe=probe.name,
                    probing=self.probing,
                    line=probe.line,
                    tags=probe.tags,
                )

    def repr_failure(self, excinfo: Any) -> Any:  # type: ignore[override]
        """What is wrong with the files, without a traceback."""
        if isinstance(excinfo.value, ProbeError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class MemevalItem(pytest.Item):
    """An item that needs the run of the session."""

    def __init__(self, *, probing: Probing, line: int = 0, **options: Any) -> None:
        super().__init__(**options)
        self.probing = probing
        self.line = line
        self.add_marker("memeval")
        if self.config.pluginmanager.hasplugin("xdist"):
            self.add_marker(pytest.mark.xdist_group("memeval"))

    @property
    def asked(self) -> Asked:
        """The run of the session."""
        return _asked(self, self.probing)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """File, line and name."""
        return self.path, self.line - 1 if self.line else None, visible(self.name)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What there is to say, without a traceback of ours."""
        if isinstance(excinfo.value, ProbeFailure | ControlsFailure | MemevalError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class ControlsItem(MemevalItem):
    """Whether the suite can measure anything: it must fail every store that is broken."""

    def runtest(self) -> None:
        """Run the controls; skipped where probes were chosen."""
        if not self.asked.is_whole:
            pytest.skip("probes were chosen: they judge neither the suite nor the store")
        validity = self.asked.run.validity
        if validity.status == "invalid":
            raise ControlsFailure(_invalid(validity))
        if validity.store_faults:
            faults = "; ".join(validity.store_faults)
            raise ControlsFailure(f"the store is at fault: {faults}\n{validity.next_step}")
        if validity.status == "weak":
            warnings.warn(
                f"the suite is weak: {'; '.join(validity.reasons)}", WeakSuiteWarning, stacklevel=1
            )


class ProbeItem(MemevalItem):
    """One probe."""

    def __init__(self, *, probe: str, tags: Sequence[str] = (), **options: Any) -> None:
        super().__init__(**options)
        self.probe = probe
        self.extra_keyword_matches.update((probe, *tags))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """File, line and the name that the probe has in its file."""
        return *super().reportinfo()[:2], visible(self.probe)

    def runtest(self) -> None:
        """Look up what became of the probe; of an invalid suite nothing is told."""
        from memeval.report.plain_probes import probe_text

        run = self.asked.run
        if run.validity.status == "invalid":
            raise ProbeFailure(_invalid(run.validity))
        row = run.results.set_index("probe").loc[self.probe]
        if row["status"] == "not_supported":
            errors = run.calls.loc[run.calls["probe"].eq(self.probe), "error"].dropna()
            pytest.skip(visible("; ".join(errors) or "the store does not support it"))
        if not bool(row["passed"]):
            raise ProbeFailure(probe_text(self.asked.ledger, self.probe))


def _invalid(validity: Validity) -> str:
    reasons = "; ".join(validity.reasons)
    return (
        f"the suite is invalid, so no result of it says anything: {reasons}\n{validity.next_step}"
    )
