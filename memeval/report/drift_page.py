"""The section of the page on drift: what the template prints, from a simulation alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memeval.report import drift_drawing
from memeval.report import drift_rows as rows
from memeval.report.drawing import Chart
from memeval.runs import Run, Verdict
from memeval.simulation import Simulation

MOST_LOST = 40
UNDER = "records written"


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its heading."""

    title: str
    chart: Chart
    under: str
    key: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Section:
    """Everything on drift, in words and cells.

    Attributes
    ----------
    word, slope, verdict
        FLAT, DECLINE or CANNOT TELL, behind LEAKS and a broken contract where there is one; the
        slope with its interval; and what it all comes to.
    withheld : bool
        Whether the suite is invalid: then nothing below the verdict is shown.
    note : str
        Where it grew another store or suite than the run asked; else empty.
    figures : sequence of Figure
        Those that can be drawn.
    more : int
        Lost probes that are not listed.
    """

    word: str
    slope: str
    verdict: Verdict
    head: str
    note: str
    circumstances: Sequence[tuple[str, str]]
    withheld: bool
    sentences: Sequence[tuple[str, str]] = ()
    unknown: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    slopes: Sequence[Sequence[str]] = ()
    checkpoints: Sequence[Sequence[str]] = ()
    lost_head: str = ""
    lost: Sequence[rows.Lost] = ()
    more: int = 0

    slope_head = rows.SLOPE_HEAD
    slope_sides = rows.SLOPE_SIDES
    slope_key = rows.SLOPE_KEY
    size_head = rows.SIZE_HEAD
    size_key = rows.SIZE_KEY
    lost_key = rows.LOST_KEY

    @property
    def tone(self) -> str:
        """How the verdict looks."""
        return rows.TONES.get(self.verdict.word, "warn")

    @property
    def sign(self) -> str:
        """The same as a sign."""
        return rows.SIGNS.get(self.verdict.word, "!")


def section(simulation: Simulation, run: Run) -> Section:
    """Gather what the page says of a simulation.

    Parameters
    ----------
    simulation : Simulation
        How the store answered as it grew.
    run : Run
        What the page reports; where it is of another suite or store, that is said.
    """
    return Section(
        word=rows.headline(simulation),
        slope=rows.slope(simulation),
        verdict=simulation.verdict,
        head=rows.head(simulation),
        note=rows.note(simulation, run.manifest.suite_hash, run.manifest.store),
        circumstances=list(rows.circumstances(simulation)),
        withheld=simulation.withheld,
        **({} if simulation.withheld else _numbers(simulation)),
    )


def _numbers(simulation: Simulation) -> dict[str, Any]:
    """What an invalid suite cannot carry."""
    lost = rows.lost(simulation)
    return dict(
        sentences=rows.sentences(simulation),
        unknown=rows.why_unknown(simulation),
        figures=list(_figures(simulation)),
        slopes=rows.slopes(simulation),
        checkpoints=rows.checkpoints(simulation),
        lost_head=rows.lost_head(simulation),
        lost=lost[:MOST_LOST],
        more=max(0, len(lost) - MOST_LOST),
    )


def _figures(simulation: Simulation) -> list[Figure]:
    drawn = [
        ("Recall as the store grows", drift_drawing.recall_chart(simulation),
         f"{UNDER}; band: 95 % interval", [("all cohorts", "recall")]),
        ("What the store keeps", drift_drawing.size_chart(simulation), UNDER, []),
        ("Time of a search (p95)", drift_drawing.latency_chart(simulation),
         f"{UNDER}; a dot for each checkpoint", []),
    ]  # fmt: skip
    return [
        Figure(title, chart, under, _key(chart, first))
        for title, chart, under, first in drawn
        if chart is not None
    ]


def _key(chart: Chart, first: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Each name once, with the line that it stands for."""
    return list(dict.fromkeys([*first, *((path.name, path.kind) for path in chart.paths)]))
