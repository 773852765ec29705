"""The rank of a probe as a store grew, as a small line to be drawn and as rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from memeval.exploring.tracking import Line, Point

WIDTH, HEIGHT, EDGE = 190, 44, 6


@dataclass(frozen=True, slots=True)
class Dot:
    """One checkpoint on the drawing; `away` where no expected record came back."""

    x: float
    y: float
    passed: bool
    away: bool


@dataclass(frozen=True, slots=True)
class Drawn:
    """A line of a track, ready to be shown.

    Attributes
    ----------
    title, words : str
        Which planting, and what became of it.
    path : str
        Points of the line through the checkpoints.
    dots : tuple of Dot
        The checkpoints; empty where there is no rank to draw.
    rows : tuple of tuple of str
        Records, rank, outcome, and what stood in its place.
    more : int
        Checkpoints that have no row.
    """

    title: str
    words: str
    path: str
    dots: tuple[Dot, ...]
    rows: tuple[tuple[str, str, str, str], ...]
    more: int


def drawn(line: Line, most_rows: int = 12) -> Drawn:
    """Place the checkpoints of a line: size to the right, rank 1 on top, never found at the bottom.

    Examples
    --------
    >>> found = [Point(0, 10, 1, True, 0, ""), Point(9, 1010, None, False, 0, "h7")]
    >>> drawn(Line(0, True, tuple(found))).path
    '6.0,6.0 184.0,38.0'
    """
    ranked = line.points if line.positive and len(line.points) > 1 else ()
    dots = tuple(_dots(ranked)) if ranked else ()
    step = max(1, math.ceil(len(line.points) / most_rows))
    kept = line.points[::-1][::step][::-1]
    return Drawn(
        title=f"planted at session {line.cohort:,}",
        words=line.words,
        path=" ".join(f"{dot.x:.1f},{dot.y:.1f}" for dot in dots),
        dots=dots,
        rows=tuple(_row(point, line.positive) for point in kept),
        more=len(line.points) - len(kept),
    )


def _dots(points: tuple[Point, ...]) -> list[Dot]:
    sizes = [point.n_records for point in points]
    wide = max(1, max(sizes) - min(sizes))
    ranks = [point.rank for point in points if point.rank is not None]
    deep = math.log2(max(8, *ranks, 8))
    found = []
    for point in points:
        share = 1.0 if point.rank is None else 0.85 * math.log2(point.rank) / deep
        x = EDGE + (WIDTH - 2 * EDGE) * (point.n_records - min(sizes)) / wide
        y = EDGE + (HEIGHT - 2 * EDGE) * share
        found.append(Dot(round(x, 1), round(y, 1), point.passed, point.rank is None))
    return found


def _row(point: Point, positive: bool) -> tuple[str, str, str, str]:
    if point.n_leaked:
        outcome = f"leaked {point.n_leaked}"
    elif point.passed:
        outcome = "passed"
    else:
        outcome = "missed" if positive else "answered"
    rank = "" if not positive else "none" if point.rank is None else str(point.rank)
    return f"{point.n_records:,}", rank, outcome, point.displaced_by
