"""The broken stores, really run: a suite that passes against them measures nothing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memeval.blindness import blind_row
from memeval.errors import WeakSuiteWarning
from memeval.harness.collecting import Progress
from memeval.harness.snapshots import Shelf
from memeval.probe import Probe
from memeval.runner import run
from memeval.runs import Run, Validity, Verdict
from memeval.stats.laws import poisson_binomial_critical
from memeval.stores.base import resolve
from memeval.stores.bound import View
from memeval.stores.broken import (
    Answer,
    ConstantStore,
    NewestStore,
    NullStore,
    OracleStore,
    RandomStore,
    ShuffledStore,
)
from memeval.suite import Suite
from memeval.validity import Row, judge, positives, row, rows, to_frame


@dataclass(frozen=True)
class Controls:
    """What the controls came to.

    ``controls["null_recall"]``, ``["random_recall"]``, ``["shuffled_mrr"]`` and ``["valid"]`` are
    the values of the specification.

    Attributes
    ----------
    frame : pandas.DataFrame
        As `memeval.frames.CONTROLS`: a row per store and rule.
    real : Run
        The run of the store under test, with the controls in it.
    runs : mapping of str to Run
        The runs of the broken stores: ``null``, ``random``, ``shuffled``, ``oracle``, ``newest``,
        ``constant``.
    """

    frame: pd.DataFrame
    real: Run
    runs: Mapping[str, Run]

    @property
    def validity(self) -> Validity:
        """Whether the suite can carry its numbers."""
        return self.real.validity

    @property
    def verdict(self) -> Verdict:
        """INVALID, FAIL where the store is at fault, else PASS."""
        found = self.validity
        if found.status == "invalid":
            return Verdict("INVALID", "; ".join(found.reasons), found.next_step, 4)
        if found.status == "unchecked":
            return Verdict("PASS", "; ".join(found.notes), found.next_step, 0)
        if found.store_faults:
            return Verdict("FAIL", "; ".join(found.store_faults), found.next_step, 1)
        thin = f", but weak: {'; '.join(found.reasons)}" if found.status == "weak" else ""
        reason = f"the suite fails every broken store, as it must{thin}"
        return Verdict("PASS", reason, "run the suite: its numbers can be believed", 0)

    def __getitem__(self, name: str) -> float | bool:
        values: dict[str, Callable[[], float | bool]] = {
            "null_recall": lambda: self.runs["null"].recall_at_k,
            "random_recall": lambda: self.runs["random"].recall_at_k,
            "shuffled_mrr": lambda: self.runs["shuffled"].mrr,
            "valid": lambda: self.validity.status in ("valid", "weak"),
        }
        if name not in values:
            raise KeyError(f"controls have no {name!r}, they have {', '.join(values)}")
        return values[name]()

    def __repr__(self) -> str:
        from memeval.report.layout import fitted

        shown = _shown(self.frame, self.validity)
        verdict = self.verdict
        head = f"Controls: suite {self.validity.status}, {verdict.word}: {verdict.reason}"
        return fitted("\n".join([head, shown.to_string(index=False), *_scopes(self.real)]))

    def _repr_html_(self) -> str:
        from memeval.report.notebook import controls_html

        return controls_html(self, self.real)


def _shown(frame: pd.DataFrame, validity: Validity) -> pd.DataFrame:
    """What a terminal shows: of an invalid suite no row that holds a number of the store."""
    from memeval.report.control_rows import checks

    told = frame[["store", "rule", "metric", "value", "chance", "bound", "passed"]]
    if validity.status != "invalid":
        return told
    kept = {(one.store, one.rule, one.metric) for one in checks(frame, validity)}
    keys = zip(frame["store"], frame["rule"], frame["metric"], strict=True)
    return told[[(str(a), str(b), str(c)) in kept for a, b, c in keys]]


def run_controls(
    probes: Suite | Sequence[Probe],
    make_store: str | Callable[[], Any],
    *,
    retrieve: Callable[[Any, View], Any] | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
    **options: Any,
) -> Controls:
    """Run the suite against the store under test and against stores that are broken on purpose.

    Parameters
    ----------
    probes, make_store, retrieve, seed, jobs, progress
        As for `memeval.run`. The null and the random store stand behind ``retrieve`` too: a
        pipeline that answers without any store is found out. The oracle and the blind stores do
        not: they speak of the suite alone.
    **options
        Further options of `memeval.run`, for the store under test.

    Returns
    -------
    Controls
        The controls frame with value, real, chance and bound side by side; faults of the suite
        and of the store apart; the run of the store under test.

    Raises
    ------
    StoreError, ProbeError
        As `memeval.run`.

    Examples
    --------
    >>> import memeval as me
    >>> controls = me.run_controls(me.load(), "sqlite")
    >>> controls["null_recall"], controls["valid"]
    (0.0, True)
    """
    suite = Suite.of(probes)
    factory = resolve(make_store)
    shuffled = None if retrieve is None else _shuffling(retrieve)
    broken: dict[str, tuple[Callable[[], Any], Any]] = {
        "null": (NullStore, retrieve),
        "random": (lambda: RandomStore(seed), retrieve),
        "shuffled": (lambda: ShuffledStore(factory(), seed), shuffled),
        "oracle": (lambda: OracleStore(answers(suite)), None),
        "newest": (NewestStore, None),
        "constant": (ConstantStore, None),
    }
    shelf = Shelf() if options.get("shelf") is None else options["shelf"]
    options["shelf"] = shelf
    real = run(
        suite, factory, retrieve=retrieve, seed=seed, jobs=jobs, progress=progress, **options
    )
    waits = {name: options[name] for name in ("settle_s", "poll_s", "timeout_s") if name in options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakSuiteWarning)  # said once, of the store under test
        runs = {
            name: run(
                suite,
                make,
                retrieve=asked,
                seed=seed,
                repeats=1,
                repeat_check=False,
                check_store=False,
                shelf=shelf,
                jobs=jobs,
                progress=progress,
                **waits,
            )
            for name, (make, asked) in broken.items()
        }
    alone = rows(real)
    frame = to_frame(_measured(real, runs, alone) + alone)
    return Controls(frame, real.judged(judge(real, frame), frame), runs)


def answers(suite: Sequence[Probe]) -> list[Answer]:
    """What an oracle answers: of each expected group the first record."""
    return [
        Answer(
            frozenset(record.id for record in probe.live),
            probe.query,
            probe.scope,
            tuple(group[0] for group in probe.groups),
        )
        for probe in suite
    ]


def _scopes(run: Run) -> list[str]:
    """What is said of scopes; nothing of an invalid suite."""
    from memeval.report.coverage_rows import coverage

    told = coverage(run)
    return [] if told is None else [told.words]


def _shuffling(retrieve: Callable[[Any, View], Any]) -> Callable[[Any, View], Any]:
    """The user's pipeline over the wrapped store, its answer scrambled."""

    def scrambled(store: ShuffledStore, view: View) -> Any:
        return store.scrambled(retrieve(store.inner, view), view.query, view.k)

    return scrambled


def _measured(real: Run, runs: Mapping[str, Run], alone: list[Row]) -> list[Row]:
    """Rows of the broken stores themselves."""
    recall = {name: made.recall_at_k for name, made in runs.items()}
    seen = positives(real)
    n, luck = seen.n, sum(seen.chance) / seen.n if seen.n else math.nan
    beyond = poisson_binomial_critical(seen.chance, 0.001) if n else None
    most = 1.0 if beyond is None else (beyond - 1) / n
    common: Row = {"metric": "recall_all", "real": real.recall_at_k, "n": n, "applicable": n > 0}
    steady = real.manifest.capabilities.get("deterministic") is True
    return [
        _of(
            "null",
            "C1",
            "suite",
            0.0,
            "at_most",
            recall,
            common,
            chance=0.0,
            reason="a store that returns nothing recalls {value:.3f} of the probes, wanted 0",
        ),
        _of(
            "oracle",
            "C1",
            "suite",
            1.0,
            "at_least",
            recall,
            common,
            reason="a store that returns what is expected recalls {value:.3f}, wanted 1",
        ),
        _of(
            "random",
            "C2",
            "suite",
            most,
            "at_most",
            recall,
            common,
            chance=luck,
            reason="a store of random answers recalls {value:.3f}, luck gives {chance:.3f}",
        ),
        _of(
            "shuffled",
            "C4",
            "store" if steady else "none",
            real.recall_at_k,
            "at_least",
            recall,
            common,
            reason="shuffled answers recall {value:.3f}, the store itself {real:.3f}: "
            "order must not change what is found",
        ),
        _shuffled_mrr(real, runs["shuffled"], alone),
        *(blind_row(name, real, runs[name]) for name in ("newest", "constant")),
    ]


def _of(
    store: str,
    rule: str,
    blames: str,
    bound: float,
    must: str,
    recall: Mapping[str, float],
    common: Row,
    *,
    reason: str,
    **values: Any,
) -> Row:
    value = recall[store]
    kept = value <= bound + 1e-12 if must == "at_most" else value >= bound - 1e-12
    shown = {"value": value, "bound": bound, "must": must, **common, **values}
    shown["reason"] = reason.format(**shown) if common["applicable"] else "no positive probe"
    return row(store, rule, shown.pop("metric"), blames, passed=kept, **shown)


def _shuffled_mrr(real: Run, shuffled: Run, alone: list[Row]) -> Row:
    """The end-to-end check: a sampled shuffle beside its law, which blames nobody by luck."""
    law = next(r for r in alone if r["metric"] == "mrr_real")
    value, bound = shuffled.mrr, law["bound"]
    applicable = bool(law["applicable"]) and not math.isnan(bound)
    return row(
        "shuffled",
        "C4",
        "mrr",
        "none",
        value=value,
        real=real.mrr,
        chance=law["chance"],
        bound=bound,
        must="at_most",
        n=law["n"],
        applicable=applicable,
        passed=value <= bound,
        reason=(
            f"shuffled answers have MRR {value:.3f}, the law says {law['chance']:.3f}, "
            f"the store's own is {real.mrr:.3f}"
            if applicable
            else law["reason"]
        ),
    )
