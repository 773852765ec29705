"""Where the lines of a chart run: shares from 0 to 1 over anything that can be counted or measured.

A chart is as wide as the page that it stands in, so places across are percentages and only places
up and down are pixels: words in it keep their size on a phone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LEFT, RIGHT = 8.0, 95.0
TOP, PLOT, BELOW = 18, 168, 24


@dataclass(frozen=True, slots=True)
class Dot:
    """One value: percent across, pixels down, and what stands there in words."""

    x: float
    y: float
    words: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A straight line between two values; a faint one joins what cannot be compared."""

    start: Dot
    end: Dot
    faint: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """A line through many values: its name, the kind for the eye, and its points."""

    name: str
    kind: str
    points: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Everything that a template draws.

    Attributes
    ----------
    alt : str
        The chart in words, with its numbers.
    band : str
        Points around the intervals; empty without any.
    segments, dots, paths : sequence
        Lines between values, the values, and lines through many values.
    ticks : sequence of Dot
        Words under the axis.
    mark : Dot or None
        A place to be pointed out, from top to bottom.
    """

    alt: str
    band: str = ""
    segments: Sequence[Segment] = ()
    dots: Sequence[Dot] = ()
    paths: Sequence[Path] = ()
    ticks: Sequence[Dot] = ()
    mark: Dot | None = None

    top = TOP
    plot = PLOT
    height = TOP + PLOT + BELOW

    @property
    def grid(self) -> list[Dot]:
        """Lines across, at 0, a half and 1."""
        return [Dot(0.0, down(share), f"{share:g}") for share in (0.0, 0.5, 1.0)]


def across(value: float, first: float, last: float) -> float:
    """Percent across of a value on an axis that runs from `first` to `last`.

    Examples
    --------
    >>> across(1, 1, 5), across(5, 1, 5), across(2, 2, 2)
    (8.0, 95.0, 51.5)
    """
    share = (value - first) / (last - first) if last != first else 0.5
    return round(LEFT + (RIGHT - LEFT) * share, 2)


def down(share: float) -> float:
    """Pixels down of a share from 0 to 1.

    Examples
    --------
    >>> down(1.0), down(0.0)
    (18.0, 186.0)
    """
    return round(TOP + PLOT * (1 - share), 1)


def points(values: Iterable[tuple[float, float]]) -> str:
    """Points of a line as SVG writes them, in pixels from the top of the plot.

    Parameters
    ----------
    values : iterable of (float, float)
        Percent across, and a share from 0 to 1; what is undefined is left out.

    Examples
    --------
    >>> points([(8.0, 1.0), (50.0, float("nan")), (97.0, 0.5)])
    '8,0 97,84'
    """
    known = [(x, share) for x, share in values if not math.isnan(share)]
    return " ".join(f"{x:g},{down(share) - TOP:g}" for x, share in known)


def band(values: Sequence[tuple[float, float, float]]) -> str:
    """Points around the intervals: percent across, low and high, there and back."""
    known = [v for v in values if not (math.isnan(v[1]) or math.isnan(v[2]))]
    edge = [(x, high) for x, _, high in known] + [(x, low) for x, low, _ in reversed(known)]
    return points(edge) if len(known) > 1 else ""
