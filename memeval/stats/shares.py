"""Intervals, quantiles and rank agreement: numbers in, floats out.

Nothing here knows a table, a probe or a store. An undefined value is NaN (the tables turn it
into NA); nonsense is a `ValueError` that says what was found and what was wanted.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Interval",
    "auroc",
    "check_confidence",
    "clopper_pearson",
    "quantile_hf8",
    "quantile_interval",
    "wilson",
    "zero_event_bound",
]


class Interval(NamedTuple):
    """The two ends of an interval, in the unit of what it is about.

    Attributes
    ----------
    low, high : float
        The ends; both NaN where the interval is undefined.

    Examples
    --------
    >>> Interval(0.25, 0.75).high
    0.75
    """

    low: float
    high: float


_UNDEFINED = Interval(math.nan, math.nan)


def check_confidence(confidence: float) -> None:
    """Refuse a level outside 0 to 1, such as one in per cent."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence: found {confidence!r}, wanted a share between 0 and 1")


def _check_counts(hits: float, n: int, confidence: float) -> None:
    check_confidence(confidence)
    if n < 0:
        raise ValueError(f"n: found {n!r}, wanted a count of 0 or more")
    if not 0 <= hits <= n:
        raise ValueError(f"hits: found {hits!r}, wanted 0 to n = {n!r}")


def wilson(hits: float, n: int, confidence: float = 0.95) -> Interval:
    """Wilson score interval of a share, the one that is shown beside every rate.

    Parameters
    ----------
    hits : float
        Successes, 0 to `n`. A fraction is allowed (a mean of repeats times `n`).
    n : int
        Trials. With 0 the share is undefined.
    confidence : float
        Two-sided level, between 0 and 1.

    Returns
    -------
    Interval
        Ends in 0 to 1; (NaN, NaN) for ``n = 0``.

    Raises
    ------
    ValueError
        `hits` outside 0 to `n`, `n` negative, `confidence` outside 0 to 1.

    Notes
    -----
    With p = hits / n and z the normal quantile of (1 + confidence) / 2, the ends are
    (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n). Wilson (1927); without
    continuity correction.

    Examples
    --------
    >>> low, high = wilson(30, 34)
    >>> round(low, 4), round(high, 4)
    (0.7338, 0.9533)
    """
    _check_counts(hits, n, confidence)
    if n == 0:
        return _UNDEFINED
    z2 = NormalDist().inv_cdf((1.0 + confidence) / 2.0) ** 2
    share = hits / n
    centre = share + z2 / (2 * n)
    spread = math.sqrt(z2 * (share * (1.0 - share) / n + z2 / (4 * n * n)))
    scale = 1.0 + z2 / n
    # The closed ends are exact in theory; rounding would leave 1e-17 in place of 0.
    low = 0.0 if hits == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if hits == n else min(1.0, (centre + spread) / scale)
    return Interval(low, high)


def clopper_pearson(hits: int, n: int, confidence: float = 0.95) -> Interval:
    """Exact (Clopper-Pearson) interval of a share, the one that backs a guarantee.

    Parameters
    ----------
    hits : int
        Successes, 0 to `n`.
    n : int
        Trials. With 0 the share is undefined.
    confidence : float
        Two-sided level, between 0 and 1.

    Returns
    -------
    Interval
        Ends in 0 to 1; (NaN, NaN) for ``n = 0``.

    Raises
    ------
    ValueError
        `hits` outside 0 to `n`, `n` negative, `confidence` outside 0 to 1.

    Notes
    -----
    Beta quantiles: low = B(a/2; hits, n-hits+1), high = B(1-a/2; hits+1, n-hits), with
    a = 1 - confidence. Covers at least the stated level at every true share, unlike Wilson.

    Examples
    --------
    >>> low, high = clopper_pearson(30, 34)
    >>> round(low, 4), round(high, 4)
    (0.7255, 0.967)
    """
    from scipy.special import betaincinv

    _check_counts(hits, n, confidence)
    if n == 0:
        return _UNDEFINED
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, tail))
    high = 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 1.0 - tail))
    return Interval(low, high)


def zero_event_bound(n: int, confidence: float = 0.95) -> float:
    """Upper bound of a rate of which no event was seen in `n` chances.

    Parameters
    ----------
    n : int
        Chances that an event had.
    confidence : float
        One-sided level, between 0 and 1.

    Returns
    -------
    float
        The bound, 0 to 1; NaN for ``n = 0``.

    Raises
    ------
    ValueError
        `n` negative or `confidence` outside 0 to 1.

    Notes
    -----
    1 - (1 - confidence)^(1/n): the rate at which n chances without an event have probability
    1 - confidence.

    Examples
    --------
    >>> round(zero_event_bound(34), 3)
    0.084
    """
    _check_counts(0, n, confidence)
    if n == 0:
        return math.nan
    return -math.expm1(math.log1p(-confidence) / n)


def quantile_hf8(values: ArrayLike, q: float) -> float:
    """Median-unbiased quantile, Hyndman and Fan's definition 8.

    Parameters
    ----------
    values : array_like of float
        Any order. NaN stands for "not measured" and is left out.
    q : float
        The quantile, 0 to 1.

    Returns
    -------
    float
        In the unit of `values`; NaN when nothing was measured.

    Raises
    ------
    ValueError
        `q` outside 0 to 1.

    Notes
    -----
    Linear between the order statistics around position q (n + 1/3) + 1/3, kept inside 1 to n
    (numpy ``method="median_unbiased"``). Hyndman and Fan (1996).

    Examples
    --------
    >>> round(quantile_hf8([10.0, 20.0, 30.0, 40.0], 0.25), 4)
    14.1667
    """
    if not 0.0 <= q <= 1.0:
        raise ValueError(f"q: found {q!r}, wanted a share from 0 to 1")
    measured = np.asarray(values, dtype=np.float64).ravel()
    measured = measured[~np.isnan(measured)]
    if measured.size == 0:
        return math.nan
    return float(np.quantile(measured, q, method="median_unbiased"))


def quantile_interval(values: ArrayLike, q: float, confidence: float = 0.95) -> Interval:
    """Interval of a quantile from two order statistics, whatever the distribution.

    Parameters
    ----------
    values : array_like of float
        One number an independent observation (a query, not a repeat of one), in any order. NaN
        stands for "not measured" and is left out.
    q : float
        The quantile, between 0 and 1.
    confidence : float
        Two-sided level, between 0 and 1: it covers at least that.

    Returns
    -------
    Interval
        In the unit of `values`; (NaN, NaN) where there are too few to bound the quantile on both
        sides. With 95 % that is below 6 for the median, 72 for q = 0.95, 368 for q = 0.99.

    Raises
    ------
    ValueError
        `q` or `confidence` outside 0 to 1.

    Notes
    -----
    The number of observations below the quantile is binomial. With a = 1 - confidence, the ends are
    the values of rank max{i: B(i-1; n, q) <= a/2} and min{i: B(i-1; n, q) >= 1 - a/2}, B the
    binomial distribution function. Conover (1999), "Practical Nonparametric Statistics", 3.2.

    Examples
    --------
    >>> quantile_interval(range(1, 101), 0.95)
    Interval(low=90.0, high=100.0)
    >>> quantile_interval(range(1, 72), 0.95)
    Interval(low=nan, high=nan)
    """
    check_confidence(confidence)
    if not 0.0 < q < 1.0:
        raise ValueError(f"q: found {q!r}, wanted a share between 0 and 1")
    measured = np.asarray(values, dtype=np.float64).ravel()
    measured = np.sort(measured[~np.isnan(measured)])
    tail = (1.0 - confidence) / 2.0
    below = _binomial_below(measured.size, q)
    low = int(np.searchsorted(below, tail, side="right"))
    high = int(np.searchsorted(below, 1.0 - tail, side="left")) + 1
    if low < 1 or high > measured.size:
        return _UNDEFINED
    return Interval(float(measured[low - 1]), float(measured[high - 1]))


def _binomial_below(n: int, q: float) -> NDArray[np.float64]:
    """P(at most i of n) for i = 0 .. n-1, from the ratios of neighbours around the mode."""
    mode = min(int((n + 1) * q), n)
    i = np.arange(n)
    ratio = (n - i) / (i + 1) * (q / (1.0 - q))
    up = np.multiply.accumulate(ratio[mode:])
    down = np.multiply.accumulate(1.0 / ratio[:mode][::-1])[::-1]
    chance = np.concatenate((down, [1.0], up))
    rising: NDArray[np.float64] = np.cumsum(chance / chance.sum())[:n]
    return rising


def auroc(positives: ArrayLike, negatives: ArrayLike) -> float:
    """How well a score alone tells positives from negatives.

    Parameters
    ----------
    positives, negatives : array_like of float
        One score a probe. ``-inf`` stands for an empty answer: below every score, and level
        with another empty answer.

    Returns
    -------
    float
        Area under the ROC curve, 0 to 1; 0.5 is no information; NaN when a side is empty.

    Raises
    ------
    ValueError
        A score is NaN: it has no place in the order.

    Notes
    -----
    P(s+ > s-) + P(s+ = s-)/2 over all pairs, the Mann-Whitney statistic over its maximum, by
    sorting once: O(n log n).

    Examples
    --------
    >>> auroc([3.0, 2.0], [2.0, 1.0])
    0.875
    """
    above = np.asarray(positives, dtype=np.float64).ravel()
    below = np.sort(np.asarray(negatives, dtype=np.float64).ravel())
    n_nan = int(np.isnan(above).sum() + np.isnan(below).sum())
    if n_nan:
        raise ValueError(f"scores: found {n_nan} NaN, wanted numbers; use -inf for an empty answer")
    if above.size == 0 or below.size == 0:
        return math.nan
    # Left counts the negatives beaten, right adds the ties: their mean gives a tie one half.
    beaten = np.searchsorted(below, above, side="left").sum(dtype=np.int64)
    not_lost = np.searchsorted(below, above, side="right").sum(dtype=np.int64)
    return (int(beaten) + int(not_lost)) / (2 * above.size * below.size)
