"""What a simulation leaves behind: how a store answered as it grew, and what that comes to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from memeval import drift as reading
from memeval import frames
from memeval.atomic import write_whole
from memeval.drifting.deciding import decide
from memeval.errors import FrameError, RunFileError
from memeval.files.saved import read_saved, strict
from memeval.plain import plain
from memeval.text import count, visible
from memeval.typed import typed
from memeval.verdicts import UNCHECKED, Validity, Verdict

FORMAT = "memeval simulation"
VERSION = 1
WANTED = "a simulation, such as memeval simulate writes"
TABLES = {
    "drift_probes": frames.DRIFT_PROBES,
    "checkpoints": frames.CHECKPOINTS,
    "sizes": frames.SIZES,
}
HEADLINE = "recall_all"
OLDER = Validity(
    "unchecked",
    notes=("an older file: nobody has judged its suite",),
    next_step="judge the suite with memeval control",
)


@dataclass(frozen=True, eq=False)
class Simulation:
    """How a store answered the same probes as it grew.

    Attributes
    ----------
    drift_probes : pandas.DataFrame
        As `memeval.frames.DRIFT_PROBES`: a row per probe, cohort and checkpoint.
    checkpoints : pandas.DataFrame
        As `memeval.frames.CHECKPOINTS`: size and times, a row per checkpoint.
    sizes : pandas.DataFrame
        As `memeval.frames.SIZES`: what the store counts, a row per session where that is cheap.
    manifest : mapping
        What was measured with what: suite, seed, sessions, planting, generator, store, how it was
        asked, and whether it was ended early (``complete`` is False).
    queries : mapping of str to str
        What each probe asks, for whoever reads the tables.
    margin, budget_ms : float
        Net fall that would matter, and what the 95th percentile of the latency should stay below.
    validity : Validity
        Whether the suite can carry its numbers. Of an invalid one none is shown; the tables are
        there by name all the same.
    allow_errors : int
        How many searches may fail or time out.
    """

    drift_probes: pd.DataFrame
    checkpoints: pd.DataFrame
    sizes: pd.DataFrame
    manifest: Mapping[str, Any]
    queries: Mapping[str, str] = field(default_factory=dict)
    margin: float = 0.10
    budget_ms: float = 100.0
    validity: Validity = UNCHECKED
    allow_errors: int = 0

    @cached_property
    def drift(self) -> pd.DataFrame:
        """Every metric at every checkpoint, as `memeval.frames.DRIFT`."""
        return reading.by_checkpoint(self.drift_probes)

    @cached_property
    def slopes(self) -> pd.DataFrame:
        """What drifts, a row per metric and curve, as `memeval.frames.SLOPES`."""
        return reading.slopes(
            self.drift_probes,
            self.checkpoints,
            self.sizes,
            margin=self.margin,
            budget_ms=self.budget_ms,
        )

    @cached_property
    def trend(self) -> reading.Trend:
        """The headline: whether recall falls as the store grows, as `memeval.drift.headline`."""
        return reading.headline(self.drift_probes, HEADLINE, margin=self.margin)

    @cached_property
    def retention(self) -> pd.DataFrame:
        """Recall against age, as `memeval.drift.retention`."""
        return reading.retention(self.drift_probes)

    @cached_property
    def crowding(self) -> pd.DataFrame:
        """Recall against size at fixed age, as `memeval.drift.crowding`."""
        return reading.crowding(self.drift_probes)

    @cached_property
    def survival(self) -> pd.DataFrame:
        """Share of the planted probes that still pass, as `memeval.drift.survival`."""
        return reading.survival(self.drift_probes)

    @cached_property
    def lost(self) -> pd.DataFrame:
        """The probes that were lost, and at which size, as `memeval.drift.lost_probes`."""
        return reading.lost_probes(self.drift_probes)

    @cached_property
    def growth(self) -> reading.Growth:
        """Whether the store still grows with what is written."""
        return reading.size_growth(self.sizes)

    @cached_property
    def latency(self) -> reading.Shape:
        """How the 95th percentile of the searches grows with the store."""
        timed = self.checkpoints[
            self.checkpoints["latency_p95_ms"].gt(0) & self.checkpoints["n_records"].gt(1)
        ]
        return reading.latency_shape(
            timed["n_records"], timed["latency_p95_ms"], budget_ms=self.budget_ms
        )

    @property
    def errors(self) -> int:
        """Searches that failed or timed out, at all checkpoints: each counts as not found."""
        return int(self.drift_probes["status"].isin(["failed", "timeout"]).sum())

    @property
    def withheld(self) -> bool:
        """Whether every number must be kept back, since the suite is invalid."""
        return self.validity.status == "invalid"

    @cached_property
    def verdict(self) -> Verdict:
        """INVALID where the suite is; FAIL on a leak, a broken contract, or a decline.

        FAIL too where more searches failed than are allowed. PASS where recall is flat, else
        CANNOT TELL.
        """
        return decide(self)

    def __repr__(self) -> str:
        from memeval.report.layout import fitted

        verdict = self.verdict
        head = (
            f"Simulation of {count(int(self.manifest.get('sessions_done', 0)), 'session')} on "
            f"{visible(str(self.manifest.get('store', 'store')))}: {verdict.word}: {verdict.reason}"
        )
        if self.withheld:
            return fitted(f"{head}\nno number of an invalid suite is shown\n{verdict.next_step}")
        weak = self.validity.reasons if self.validity.status == "weak" else ()
        thin = f"\nthe suite is weak: {'; '.join(weak)}" if weak else ""
        shown = self.slopes[["metric", "curve", "slope_per_1k", "low", "high", "n", "verdict"]]
        return fitted(f"{head}{thin}\n{shown.to_string(index=False)}")

    def _repr_html_(self) -> str:
        from memeval.report.drift_notebook import simulation_html

        return simulation_html(self)


def save_simulation(simulation: Simulation, path: str | os.PathLike[str]) -> Path:
    """Save a simulation; no record's text is in it.

    Parameters
    ----------
    simulation : Simulation
        What to save.
    path : str or path-like
        A JSON file; replaced as a whole.

    Returns
    -------
    Path
        The absolute path.

    Raises
    ------
    MemevalError
        If it cannot be written.
    """
    tables = {name: _columns(getattr(simulation, name)) for name in TABLES}
    payload = {
        "format": FORMAT,
        "version": VERSION,
        "manifest": dict(simulation.manifest),
        "queries": dict(simulation.queries),
        "margin": simulation.margin,
        "budget_ms": simulation.budget_ms,
        "validity": asdict(simulation.validity),
        "allow_errors": simulation.allow_errors,
        "tables": tables,
    }
    return write_whole(path, strict(payload) + "\n")


def load_simulation(path: str | os.PathLike[str]) -> Simulation:
    """Read a simulation that `save_simulation` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Simulation
        Equal tables with equal dtypes; of an older file, which does not say what was judged of its
        suite, unchecked.

    Raises
    ------
    RunFileError
        If it is no simulation, is damaged, or was written by a newer version.
    """
    payload = read_saved(path, WANTED)
    if payload.get("format") != FORMAT:
        raise RunFileError(f"{path}: found {payload.get('format')!r}, wanted {WANTED}; name one")
    if payload.get("version") != VERSION:
        raise RunFileError(
            f"{path}: found version {payload.get('version')!r}, wanted {VERSION}; simulate again, "
            "or update memeval"
        )
    try:
        tables = {
            name: frames.conform(pd.DataFrame(payload["tables"][name]), schema)
            for name, schema in TABLES.items()
        }
        return Simulation(
            **tables,
            manifest=dict(payload["manifest"]),
            queries={str(name): str(query) for name, query in payload["queries"].items()},
            margin=float(payload["margin"]),
            budget_ms=float(payload["budget_ms"]),
            validity=read_validity(payload["validity"]) if "validity" in payload else OLDER,
            allow_errors=int(payload.get("allow_errors", 0)),
        )
    except (
        LookupError, TypeError, ValueError, OverflowError, AttributeError, FrameError,
    ) as error:  # fmt: skip
        raise RunFileError(
            f"{path}: the simulation is damaged ({error}); restore it, or simulate again"
        ) from error


def read_validity(told: Mapping[str, Any]) -> Validity:
    """Read what was judged of a suite back from plain values.

    Raises
    ------
    TypeError, ValueError, AttributeError
        If they are no such thing.
    """
    words: dict[str, Any] = {
        n: tuple(v) if isinstance(v, list) else v for n, v in plain(told).items()
    }
    return typed(Validity(**words))


def _columns(frame: pd.DataFrame) -> dict[str, list[Any]]:
    plain = frame.astype("object").where(frame.notna(), None)
    return {str(name): plain[name].tolist() for name in plain}
