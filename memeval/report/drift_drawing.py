"""The charts of a simulation in the page: recall, what is kept, and the time of a search."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memeval.report import drawing
from memeval.report.drawing import Chart, Dot, Path, Segment
from memeval.report.figures import figure, is_missing
from memeval.simulation import HEADLINE, Simulation
from memeval.summary import TARGETS

MOST_DOTS = 60
_FAR = 4.0


@dataclass(frozen=True, slots=True)
class Scaled(Chart):
    """A chart whose values run from 0 to `top_value` instead of 1."""

    top_value: float = 1.0
    unit: str = ""

    @property
    def grid(self) -> list[Dot]:
        """Lines across, at 0, a half and the top."""
        ends = [(share, self.top_value * share) for share in (0.0, 0.5, 1.0)]
        return [Dot(0.0, drawing.down(share), f"{_scale(v)}{self.unit}") for share, v in ends]


def recall_chart(simulation: Simulation) -> Chart | None:
    """Recall of all cohorts with its interval, each cohort, the fresh one, and the target."""
    table = simulation.drift
    table = table[table["metric"].eq(HEADLINE)].sort_values("n_records", kind="stable")
    rows: list[Any] = list(table[table["cohort"].isna()].itertuples())
    if len(rows) < 2:
        return None
    ends = _ends(simulation)
    dots = [
        Dot(
            drawing.across(row.n_records, *ends),
            drawing.down(row.value),
            f"{row.n_records:,} records: {figure(row.value)}",
        )
        for row in rows
    ]
    target = TARGETS[HEADLINE]
    return Chart(
        alt=_recall_alt(rows, table),
        band=drawing.band([(drawing.across(r.n_records, *ends), r.low, r.high) for r in rows]),
        segments=[Segment(dots[at], dots[at + 1]) for at in range(len(dots) - 1)],
        dots=dots,
        ticks=_ticks(ends),
        paths=[
            *_cohorts(table, ends),
            Path(f"target {target:g}", "target", f"{drawing.LEFT:g},{_y(target)} 100,{_y(target)}"),
        ],
    )


def _y(share: float) -> str:
    return f"{drawing.down(share) - drawing.TOP:g}"


def _cohorts(table: pd.DataFrame, ends: tuple[float, float]) -> Iterator[Path]:
    """Cohorts that were asked again, and the fresh ones."""
    planted = table[table["cohort"].notna()]
    grown = planted.groupby("cohort")["age"].max().gt(0)
    fresh = planted[planted["age"].eq(0)]
    for cohort in grown.index[grown]:
        yield Path("each cohort", "cohort", _line(planted[planted["cohort"].eq(cohort)], ends))
    if len(fresh) > 1:
        yield Path("fresh cohort (age 0)", "fresh", _line(fresh, ends))


def _line(rows: pd.DataFrame, ends: tuple[float, float]) -> str:
    return drawing.points(
        (drawing.across(row.n_records, *ends), float(row.value)) for row in _told(rows)
    )


def _recall_alt(rows: Sequence[Any], table: pd.DataFrame) -> str:
    said = "; ".join(f"{row.n_records:,} records {figure(row.value)}" for row in rows)
    fresh = table[table["age"].eq(0).fillna(False)]
    new = ""
    if len(fresh):
        new = f" Fresh cohort: {figure(fresh['value'].iloc[0])} at first, "
        new += f"{figure(fresh['value'].iloc[-1])} at last."
    return f"Recall of all cohorts as the store grows: {said}.{new}"


def size_chart(simulation: Simulation) -> Chart | None:
    """Records kept against records written; None where the store does not count."""
    sizes = simulation.sizes
    rows = _few(_told(sizes[sizes["n_kept"].notna()].sort_values("n_records", kind="stable")))
    if len(rows) < 2:
        return None
    ends = float(rows[0].n_records), float(rows[-1].n_records)
    top = max(ends[1], *(float(row.n_kept) for row in rows)) or 1.0
    x = [drawing.across(row.n_records, *ends) for row in rows]
    kept = drawing.points((at, row.n_kept / top) for at, row in zip(x, rows, strict=True))
    whole = drawing.points((drawing.across(end, *ends), end / top) for end in ends)
    return Scaled(
        alt=f"What the store counts: {rows[0].n_kept:,} of {rows[0].n_records:,} records written "
        f"at first, {rows[-1].n_kept:,} of {rows[-1].n_records:,} at last.",
        paths=[
            Path("counted by the store", "recall", kept),
            Path("all that is written", "cohort", whole),
        ],
        ticks=_ticks(ends),
        top_value=top,
    )


def latency_chart(simulation: Simulation) -> Chart | None:
    """The 95th percentile of the searches, the law that fits, and the budget where it is near."""
    table = simulation.checkpoints
    timed = table[table["latency_p95_ms"].gt(0)].sort_values("n_records", kind="stable")
    rows = _told(timed)
    if len(rows) < 2:
        return None
    shape, budget = simulation.latency, simulation.budget_ms
    ends, most = _ends(simulation), max(row.latency_p95_ms for row in rows)
    near = budget <= _FAR * most
    top = 1.1 * max(most, budget if near else 0.0)
    paths = []
    if math.isfinite(shape.offset_ms):
        name = f"{shape.law} law" + (" (cannot tell)" if shape.group == "cannot tell" else "")
        sizes = [ends[0] + (ends[1] - ends[0]) * at / 40 for at in range(41)]
        fitted = zip(sizes, shape.at(sizes) / top, strict=True)
        paths = [Path(name, "fit", drawing.points((drawing.across(n, *ends), min(1.0, float(share)))
                                                  for n, share in fitted))]  # fmt: skip
    if near:
        at = _y(budget / top)
        paths.append(Path(f"budget {budget:g} ms", "target", f"{drawing.LEFT:g},{at} 100,{at}"))
    told = "; ".join(
        f"{row.n_records:,} records {figure(row.latency_p95_ms, '_ms')} ms" for row in rows
    )
    return Scaled(
        alt=f"Time within which 95 % of the searches were done: {told}.",
        dots=[
            Dot(
                drawing.across(row.n_records, *ends),
                drawing.down(row.latency_p95_ms / top),
                f"{row.n_records:,} records: {figure(row.latency_p95_ms, '_ms')} ms",
            )
            for row in rows
        ],
        paths=paths,
        ticks=_ticks(ends),
        top_value=top,
        unit=" ms",
    )


def _ends(simulation: Simulation) -> tuple[float, float]:
    sizes = simulation.checkpoints["n_records"]
    return float(sizes.min()), float(sizes.max())


def _ticks(ends: tuple[float, float]) -> list[Dot]:
    places = (ends[0], (ends[0] + ends[1]) / 2, ends[1])
    return [Dot(drawing.across(x, *ends), 0.0, f"{x:,.0f}") for x in places]


def _few(rows: Sequence[Any]) -> list[Any]:
    """Rows spread over all of them, with both ends."""
    last = len(rows) - 1
    if last < MOST_DOTS:
        return list(rows)
    return [rows[round(last * at / (MOST_DOTS - 1))] for at in range(MOST_DOTS)]


def _scale(value: float) -> str:
    if is_missing(value) or value == 0:
        return "0"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _told(frame: pd.DataFrame) -> list[Any]:
    return list(frame.itertuples())
