"""What a run says of other cutoffs and of a floor on the score, ready to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from memeval.chances import NOT_MEASURED
from memeval.curves import recall_curve, threshold_curve
from memeval.report import drawing
from memeval.report.control_rows import withheld
from memeval.report.drawing import Chart, Dot, Path, Segment
from memeval.report.figures import UNDEFINED, count, figure, is_missing
from memeval.runs import Run

FITTED = (
    "It is fitted to these very probes: expect less of it on others, and check it on the held-out "
    "ones (--holdout)."
)
MOST_CUTOFFS = 20
MOST_TICKS = 10
MOST_POINTS = 160
MOST_FLOORS = 9


@dataclass(frozen=True, slots=True)
class Cutoff:
    """What the answers would be worth at a smaller k.

    Attributes
    ----------
    k, n : int
        The cutoff, and the positive probes that were asked with it or a larger one.
    recall, interval, mrr, ndcg : str
        Ready to be shown.
    place, low, high : float
        Recall and its interval, for drawing.
    """

    k: int
    n: int
    recall: str
    interval: str
    mrr: str
    ndcg: str
    place: float
    low: float
    high: float


def cutoffs(run: Run) -> list[Cutoff]:
    """Recall at every k up to the largest that was asked for, at most 20.

    Empty for an invalid suite, and where there is nothing to choose: one cutoff, or no positive
    probe.
    """
    if withheld(run.validity) or run.calls.empty:
        return []
    last = min(MOST_CUTOFFS, int(run.calls["k"].max()))
    curve = recall_curve(run.hits, run.qrels, run.calls, max_k=last)
    wide = curve.pivot(index="k", columns="metric", values="value")
    shares: list[Any] = list(curve[curve["metric"].eq("recall_all")].itertuples())
    made = [_cutoff(row, wide.loc[row.k]) for row in shares if row.n]
    return made if len(made) > 1 else []


def _cutoff(row: Any, values: pd.Series) -> Cutoff:
    return Cutoff(
        k=int(row.k),
        n=int(row.n),
        recall=figure(row.value),
        interval=_range(row.low, row.high),
        mrr=figure(values["mrr"]),
        ndcg=figure(values["ndcg"]),
        place=float(row.value),
        low=float(row.low),
        high=float(row.high),
    )


def _range(low: Any, high: Any) -> str:
    return UNDEFINED if is_missing(low) else f"{figure(low)} to {figure(high)}"


def cutoff_line(rows: Sequence[Cutoff]) -> str:
    """Recall at every k in one line, each with the probes that it was taken over."""
    return ", ".join(f"k = {row.k}: {row.recall} (n = {row.n:,})" for row in rows)


def cutoff_note(rows: Sequence[Cutoff]) -> str:
    """What the reader must know where not all probes were asked for as many records."""
    first, last = rows[0], rows[-1]
    if first.n == last.n:
        return ""
    return (
        f"Probes were asked with different k: at k = {last.k} only {last.n:,} of {first.n:,} "
        "count, so the ends of the line are of different probes."
    )


def cutoff_chart(rows: Sequence[Cutoff]) -> Chart:
    """Line of recall over k with its interval; faint where fewer probes count than before."""
    ends = rows[0].k, rows[-1].k
    dots = [
        Dot(
            drawing.across(row.k, *ends),
            drawing.down(row.place),
            f"k = {row.k}: recall {row.recall}, {row.interval}, n = {row.n:,}",
        )
        for row in rows
    ]
    every = -(-len(rows) // MOST_TICKS)
    return Chart(
        alt=f"Recall at every cutoff. {cutoff_line(rows)}.",
        band=drawing.band([(d.x, r.low, r.high) for d, r in zip(dots, rows, strict=True)]),
        segments=[
            Segment(dots[at], dots[at + 1], rows[at].n != rows[at + 1].n)
            for at in range(len(rows) - 1)
        ],
        dots=dots,
        ticks=[Dot(dots[at].x, 0.0, str(rows[at].k)) for at in range(0, len(rows), every)],
    )


@dataclass(frozen=True, slots=True)
class Floor:
    """What the answers would be worth without the hits that score worse than a floor."""

    floor: str
    recall: str
    abstention: str
    leaks: str
    dropped: str
    best: bool


@dataclass(frozen=True, slots=True)
class Floors:
    """Everything on score floors: in words, as rows and as a chart.

    Attributes
    ----------
    words : str
        The best floor and what it would change, or why there is none.
    best : bool
        Whether there is a floor that is better than none.
    rows : sequence of Floor
        Some floors, the laxest first; empty where none can be tried.
    chart : Chart or None
        Recall, abstention and leaks against the floor.
    """

    words: str
    best: bool = False
    rows: Sequence[Floor] = ()
    chart: Chart | None = None


def floors(run: Run) -> Floors | None:
    """What a floor on the score would do; None for an invalid suite and an empty run."""
    if withheld(run.validity) or run.calls.empty:
        return None
    curve = threshold_curve(run.hits, run.qrels, run.calls, score_order=_order(run))
    if curve.empty:
        return Floors(f"No floor can be tried: {curve.attrs['reason']}.")
    shown = curve.iloc[_spread(curve, MOST_FLOORS)]
    return Floors(
        floor_words(curve, _order(run)),
        bool(curve["best"].any() and not curve["best"].iloc[0]),
        [_floor(row) for row in shown.itertuples()],
        floor_chart(curve) if len(curve) > 1 else None,
    )


def _order(run: Run) -> Literal["high", "low"] | None:
    said = run.manifest.capabilities.get("score_order")
    return "high" if said == "high" else "low" if said == "low" else None


def _spread(curve: pd.DataFrame, most: int) -> list[int]:
    """Positions of rows spread over the curve: the ends and the best are among them."""
    last = len(curve) - 1
    steps = {round(last * n / (most - 1)) for n in range(most)}
    best = {at for at, is_best in enumerate(curve["best"]) if is_best}
    return sorted(steps | best)


def _floor(row: Any) -> Floor:
    return Floor(
        floor=f"{row.floor:.4g}",
        recall=figure(row.recall_all),
        abstention=figure(row.abstention),
        leaks=_leak_words(row),
        dropped=f"{row.n_dropped:,}",
        best=bool(row.best),
    )


def _leak_words(row: Any) -> str:
    """Leaks, or that they were not measured where no probe could leak."""
    return NOT_MEASURED if not row.leaks and is_missing(row.leak_rate) else f"{row.leaks:,}"


def floor_words(curve: pd.DataFrame, order: str | None) -> str:
    """Name the best floor, and what it would change; or say why there is none."""
    rows: list[Any] = list(curve.itertuples())
    lax, best = rows[0], next((row for row in rows if row.best), None)
    if best is None:
        return (
            "No floor can be called the best: that needs positive and negative probes, and these "
            f"are {lax.n_positive:,} and {lax.n_negative:,}."
        )
    if best is lax:
        return "No floor separates better than none: each costs more recall than it brings."
    side = "above" if order == "low" else "below"
    return (
        f"A floor of {best.floor:.4g} separates best: without the "
        f"{count(int(best.n_dropped), 'hit')} {side} it recall would be "
        f"{figure(best.recall_all)} (now {figure(lax.recall_all)}), abstention "
        f"{figure(best.abstention)} (now {figure(lax.abstention)}), leaks {_leak_words(best)} "
        f"(now {_leak_words(lax)})."
    )


def floor_chart(curve: pd.DataFrame) -> Chart:
    """Recall, abstention and leak rate against the floor, which gets stricter to the right."""
    rows: list[Any] = list(curve.iloc[_spread(curve, MOST_POINTS)].itertuples())
    ends = rows[0].floor, rows[-1].floor
    best = next((row for row in rows if row.best), None)
    middle = (ends[0] + ends[1]) / 2
    return Chart(
        alt=_floor_alt(rows),
        paths=[
            Path(name, kind, drawn)
            for name, kind, column in (
                ("recall", "recall", "recall_all"),
                ("abstention", "abstention", "abstention"),
                ("leak rate", "leak", "leak_rate"),
            )
            if (drawn := _line(rows, column, ends)) and (column != "leak_rate" or _leaks(rows))
        ],
        ticks=[Dot(drawing.across(x, *ends), 0.0, f"{x:.3g}") for x in (ends[0], middle, ends[1])],
        mark=Dot(drawing.across(best.floor, *ends), 0.0, f"best: {best.floor:.4g}")
        if best is not None
        else None,
    )


def _line(rows: Sequence[Any], column: str, ends: tuple[float, float]) -> str:
    return drawing.points(
        (drawing.across(row.floor, *ends), float(getattr(row, column))) for row in rows
    )


def _leaks(rows: Sequence[Any]) -> bool:
    return any(row.leaks for row in rows)


def _floor_alt(rows: Sequence[Any]) -> str:
    """The curve in words: its ends and its middle."""
    told = [rows[0], rows[len(rows) // 2], rows[-1]]
    words = [
        f"{row.floor:.4g}: recall {figure(row.recall_all)}, abstention "
        f"{figure(row.abstention)}, leaks {_leak_words(row)}"
        for row in told
    ]
    return "What a floor on the score would do. " + "; ".join(words) + "."
