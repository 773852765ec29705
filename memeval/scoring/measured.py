"""One number over the probes of a suite: its value, how many it was taken over, its interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memeval.stats import Interval, wilson
from memeval.stats.bootstrap import bca_mean, bca_ratio

__all__ = ["UNDEFINED", "Measured", "mean", "mean_of_probes", "pooled", "share", "total"]

# Fewest distinct values of the probes on which an interval of a mean can stand.
_FEWEST_VALUES = 5


@dataclass(frozen=True, slots=True)
class Measured:
    """A value, what it was taken over, and its interval; NaN where undefined."""

    value: float
    n: int
    low: float = math.nan
    high: float = math.nan


UNDEFINED = Measured(math.nan, 0)


def mean(values: pd.Series) -> Measured:
    """Mean of what is not NA, the same whatever the order of the rows; without an interval."""
    known = values.dropna().to_numpy(np.float64)
    return Measured(math.fsum(known) / len(known), len(known)) if len(known) else UNDEFINED


def mean_of_probes(values: pd.Series) -> Measured:
    """Mean of what is not NA, with a BCa interval where there are 5 distinct values or more.

    Examples
    --------
    >>> mean_of_probes(pd.Series([1.0, 0.5, 0.25, 0.0, None]))
    Measured(value=0.4375, n=4, low=nan, high=nan)
    """
    known = values.dropna().to_numpy(np.float64)
    return _with_interval(mean(values), known, lambda: bca_mean(known))


def share(values: pd.Series) -> Measured:
    """Share of True among what is not NA, with a Wilson interval.

    Examples
    --------
    >>> share(pd.Series([True, False, None], dtype="boolean")).value
    0.5
    """
    known = values.dropna().to_numpy(np.bool_)
    hits, n = int(known.sum()), len(known)
    return Measured(hits / n, n, *wilson(hits, n)) if n else UNDEFINED


def total(counts: pd.Series) -> Measured:
    """Sum over probes, without an interval."""
    return Measured(float(counts.sum()), len(counts)) if len(counts) else UNDEFINED


def pooled(parts: pd.Series, wholes: pd.Series) -> Measured:
    """Sum of parts over sum of wholes; its interval draws probes, as hits of one go together.

    Parameters
    ----------
    parts, wholes : pandas.Series
        One of each a probe, such as its stale hits and all its hits.

    Returns
    -------
    Measured
        With ``n`` the sum of the wholes, and an interval where the probes pull the ratio in 5
        distinct ways or more: where parts - ratio * wholes has so many values.

    Examples
    --------
    >>> pooled(pd.Series([0, 1, 0]), pd.Series([5, 3, 0]))
    Measured(value=0.125, n=8, low=nan, high=nan)
    """
    tops, bottoms = parts.to_numpy(np.float64), wholes.to_numpy(np.float64)
    n = int(bottoms.sum())
    if not n:
        return UNDEFINED
    ratio = Measured(float(tops.sum() / n), n)
    held = np.where(bottoms > 0.0, tops, 0.0)
    return _with_interval(ratio, tops - ratio.value * bottoms, lambda: bca_ratio(held, bottoms))


def _with_interval(
    measured: Measured, values: NDArray[np.float64], interval: Callable[[], Interval]
) -> Measured:
    """Add an interval where there are enough distinct values, apart from rounding."""
    if len(np.unique(values.round(12))) < _FEWEST_VALUES:
        return measured
    low, high = interval()
    return replace(measured, low=low, high=high)
