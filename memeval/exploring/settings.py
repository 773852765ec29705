"""The cutoff and the score floor at which recorded answers are judged again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from memeval.errors import FrameError
from memeval.ranks import checked_k
from memeval.runs import Run
from memeval.scoring.levels import signed

MOST_K = 100
MOST_FLOORS = 60


@dataclass(frozen=True, slots=True)
class Settings:
    """At what to judge; None leaves it as it was asked.

    Attributes
    ----------
    k : int or None
        Cutoff of every probe; None: its own.
    floor : float or None
        Hits that score worse are dropped, on the store's own scale; one that scores exactly this
        is kept. None: none is dropped.

    Examples
    --------
    >>> Settings().as_asked, Settings(k=3).as_asked
    (True, False)
    """

    k: int | None = None
    floor: float | None = None

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", checked_k(self.k))
        if self.floor is not None:
            number = isinstance(self.floor, int | float | np.number)
            if not number or isinstance(self.floor, bool) or math.isnan(self.floor):
                raise FrameError(
                    f"floor: found {self.floor!r:.40}, wanted a number; leave it out for none"
                )

    @property
    def as_asked(self) -> bool:
        """Whether nothing is to be changed."""
        return self.k is None and self.floor is None


@dataclass(frozen=True, slots=True)
class Floors:
    """Floors to try.

    Attributes
    ----------
    values : tuple of float
        Scores that occur, the laxest first; empty where no floor can be tried.
    sign : str
        How a score stands to a floor that keeps it.
    reason : str
        Why no floor can be tried.
    """

    values: tuple[float, ...]
    sign: str = "≥"
    reason: str = ""


def largest_k(run: Run) -> int:
    """Largest cutoff that its answers can say anything of, at most 100."""
    largest = [int(column.max()) for column in (run.hits["rank"], run.calls["k"]) if len(column)]
    return min(MOST_K, max(largest, default=1))


def floors_of(run: Run) -> Floors:
    """Floors that are worth trying: at most 60 of the scores that occur, evenly through them."""
    order = run.manifest.capabilities.get("score_order")
    if order not in ("high", "low"):
        reason = "the scores have no order: the store does not say which are better"
        return Floors((), reason=reason)
    known = run.hits["score"].dropna().to_numpy(np.float64)
    scores = np.unique(signed(known[np.isfinite(known)], order))
    if not len(scores):
        reason = "no hit has a score: the store gives none, or returned nothing"
        return Floors((), reason=reason)
    places = np.linspace(0, len(scores) - 1, min(len(scores), MOST_FLOORS)).round().astype(int)
    values = signed(scores[places], order)
    return Floors(tuple(values.tolist()), "≤" if order == "low" else "≥")


def under(hits: pd.DataFrame, floor: float, score_order: str | None) -> pd.DataFrame:
    """What a floor leaves of the answers: what remains moves up, and keeps its index.

    Parameters
    ----------
    hits : pandas.DataFrame
        Hits of a run.
    floor : float
        On the store's own scale.
    score_order : {'high', 'low'}
        Which scores are better.

    Returns
    -------
    pandas.DataFrame
        The same columns; a hit without a score stays, since no floor can be held against it.
    """
    if score_order not in ("high", "low"):
        raise FrameError(
            f"floor: found {floor!r:.40} and scores without an order, wanted a store that "
            "declares score_order; leave the floor out"
        )
    better = signed(hits["score"], score_order)
    bound = signed(np.array([floor], dtype=np.float64), score_order)[0]
    left = hits[better.isna() | better.ge(bound)].sort_values(["probe", "repeat", "rank"])
    return left.assign(rank=left.groupby(["probe", "repeat"]).cumcount().astype("int64") + 1)
