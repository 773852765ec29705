"""Bootstrap intervals without random numbers: the same values give the same ends, bit for bit.

`bca_mean` is the interval that is shown beside the mean of a metric, and of differences between two
runs; `bca_ratio` that of a pooled share. Both are read off the exact law of
`memeval.stats.resampling`.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from memeval.stats import Interval, check_confidence
from memeval.stats.ratio_law import RatioLaw
from memeval.stats.resampling import Floats, Ints, Sample, law_of_mean

__all__ = ["bca_mean", "bca_ratio", "percentile_mean"]

_NORMAL = NormalDist()
_UNDEFINED = Interval(math.nan, math.nan)
# Shares beyond are those of a law that rounding has long since reached.
_LEAST_SHARE = 1e-12
_WANTED = "wanted finite numbers: leave out what was not measured"


def bca_mean(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Interval of a mean: bias-corrected and accelerated bootstrap, infinitely many resamples.

    Parameters
    ----------
    values : array_like of float
        One number an observation, in any order and of any sign. What was not measured has to be
        left out before.
    confidence : float
        Two-sided level, between 0 and 1.

    Returns
    -------
    Interval
        In the unit of `values`; both ends are the value itself where all are equal, and
        (NaN, NaN) where there are none. Whether so few distinct values deserve an interval is for
        the caller to say.

    Raises
    ------
    ValueError
        A value is NA, NaN or infinite, or `confidence` is outside 0 to 1.

    Notes
    -----
    With the law of the mean m* of n draws with replacement, z0 = Phi^-1(P(m* < m) + P(m* = m) / 2)
    and a = sum(u^3) / (6 sum(u^2)^(3/2)), where u = x - m is what the jackknife of a mean comes to,
    the ends are the quantiles of the law at Phi(z0 + (z0 + z) / (1 - a (z0 + z))), for z at both
    sides of `confidence`. Efron (1987), "Better bootstrap confidence intervals"; DiCiccio and Efron
    (1996), "Bootstrap confidence intervals"; ties count one half, as in `scipy.stats.bootstrap`,
    which this is for ``n_resamples`` without end. Where a share is hit exactly by the law, the
    outer of the two ends is taken, so that the interval of -x is minus that of x. How the law is
    found, and how exact it is: `memeval.stats.resampling.law_of_mean`.

    Examples
    --------
    >>> low, high = bca_mean([1.0, 1.0, 0.5, 1.0, 0.0, 0.25, 1.0, 0.2, 1.0, 0.5])
    >>> round(low, 3), round(high, 3)
    (0.39, 0.85)
    """
    return _interval_of_mean(values, confidence, corrected=True)


def percentile_mean(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Interval of a mean: plain percentiles of the bootstrap, infinitely many resamples.

    Parameters
    ----------
    values : array_like of float
        One number an observation. What was not measured has to be left out before.
    confidence : float
        Two-sided level, between 0 and 1.

    Returns
    -------
    Interval
        As for `bca_mean`, which covers better at small n and is the one that is shown.

    Raises
    ------
    ValueError
        A value is NA, NaN or infinite, or `confidence` is outside 0 to 1.

    Notes
    -----
    The quantiles of the law of the mean of a resample at (1 -+ confidence) / 2. Efron (1979).

    Examples
    --------
    >>> low, high = percentile_mean([1.0, 1.0, 0.5, 1.0, 0.0, 0.25, 1.0, 0.2, 1.0, 0.5])
    >>> round(low, 3), round(high, 3)
    (0.405, 0.87)
    """
    return _interval_of_mean(values, confidence, corrected=False)


def bca_ratio(numerators: ArrayLike, denominators: ArrayLike, confidence: float = 0.95) -> Interval:
    """Interval of a pooled share, sum over sum, where observations and not hits are drawn again.

    Parameters
    ----------
    numerators, denominators : array_like of float
        One of each an observation (a probe): say its stale hits, and all its hits. Denominators
        are 0 or more.
    confidence : float
        Two-sided level, between 0 and 1.

    Returns
    -------
    Interval
        (NaN, NaN) where the denominators sum to 0, or would without one of the observations: the
        jackknife then has no value.

    Raises
    ------
    ValueError
        A value is NA, NaN or infinite, a denominator is negative, the lengths differ, or
        `confidence` is outside 0 to 1.

    Notes
    -----
    The cluster bootstrap (Field and Welsh 2007) of R = sum(s) / sum(t), with BCa ends as for
    `bca_mean`. As sum(t*) > 0, R* <= r is the same as sum(s* - r t*) <= 0, of which the law is that
    of a mean: so the law of the ratio is known at every r without linearising it, and its quantiles
    are found by narrowing r down to a thousandth of the standard error (exactly where the
    resamples can be listed or all denominators are equal). The acceleration is that of the
    jackknife (sum(s) - s) / (sum(t) - t). Resamples with sum(t*) = 0 have no ratio and are left
    out. Where hits come from a handful of many observations, attainable ratios lie far apart, and
    an end may be the one next to that of the ideal bootstrap.

    Examples
    --------
    >>> low, high = bca_ratio([0, 1, 0, 2, 0, 0, 1, 0], [5, 5, 3, 5, 2, 5, 4, 5])
    >>> round(low, 3), round(high, 3)
    (0.029, 0.257)
    """
    check_confidence(confidence)
    tops, bottoms = _numbers(numerators, "numerators"), _numbers(denominators, "denominators")
    _check_pairs(tops, bottoms)
    if np.count_nonzero(bottoms) < 2:
        return _UNDEFINED
    over, under = _exponent(tops), _exponent(bottoms)
    pairs, counts = np.unique(
        np.ldexp(tops, -over) + 1j * np.ldexp(bottoms, -under), return_counts=True
    )
    law = RatioLaw(pairs.real, pairs.imag, counts)
    listed = law.listed()
    mid = law.mid_share() if listed is None else listed.mid_share()
    low, high = _bca_shares(mid, _acceleration(law.influences(), counts), confidence)
    if listed is None:
        ends = law.quantile(low), law.quantile(high)
    else:
        ends = law.ratio + listed.low_end(low), law.ratio + listed.high_end(high)
    return Interval(*(math.ldexp(end, over - under) for end in ends))


def _interval_of_mean(values: ArrayLike, confidence: float, corrected: bool) -> Interval:
    check_confidence(confidence)
    numbers = _numbers(values, "values")
    if numbers.size == 0:
        return _UNDEFINED
    distinct, counts = np.unique(numbers, return_counts=True)
    exponent = _exponent(distinct)
    sample = Sample(np.ldexp(distinct, -exponent), counts)
    law = law_of_mean(sample)
    tail = (1.0 - confidence) / 2.0
    low, high = tail, 1.0 - tail
    if corrected:
        gaps = sample.values - sample.mean
        low, high = _bca_shares(law.mid_share(), _acceleration(gaps, counts), confidence)
    ends = (sample.mean + law.low_end(low), sample.mean + law.high_end(high))
    scaled = (math.ldexp(_between(end, sample.values), exponent) for end in ends)
    return Interval(*(_between(end, distinct) for end in scaled))


def _between(end: float, values: Floats) -> float:
    """An end that rounding has carried past the least or the largest value, brought back to it."""
    return float(min(max(end, values[0]), values[-1]))


def _bca_shares(mid_share: float, acceleration: float, confidence: float) -> tuple[float, float]:
    """Shares of the bootstrap law at which the ends of a BCa interval lie."""
    bias = _NORMAL.inv_cdf(min(max(mid_share, _LEAST_SHARE), 1.0 - _LEAST_SHARE))
    far = -_NORMAL.inv_cdf((1.0 - confidence) / 2.0)  # at 1 - 1e-16 too
    low, high = (_moved(bias, acceleration, z) for z in (-far, far))
    return low, high


def _moved(bias: float, acceleration: float, z: float) -> float:
    shifted = bias + z
    slope = 1.0 - acceleration * shifted
    if slope <= 0.0:  # past the pole of the formula: all of the law lies on this side
        return 1.0 if shifted > 0.0 else 0.0
    return _NORMAL.cdf(bias + shifted / slope)


def _acceleration(influences: Floats, counts: Ints) -> float:
    """A sixth of the skewness of the influences over the root of their number; 0 without spread."""
    squares = float(counts @ influences**2)
    return float(counts @ influences**3) / (6.0 * squares**1.5) if squares else 0.0


def _numbers(values: ArrayLike, name: str) -> Floats:
    """Values as floats in one dimension; anything but finite numbers is refused."""
    try:
        numbers = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}; {_WANTED}") from error
    n_odd = int(np.count_nonzero(~np.isfinite(numbers)))
    if n_odd:
        raise ValueError(f"{name}: found {n_odd} NaN or infinite of {numbers.size}; {_WANTED}")
    return numbers


def _check_pairs(tops: Floats, bottoms: Floats) -> None:
    if len(tops) != len(bottoms):
        raise ValueError(
            f"numerators and denominators: found {len(tops)} and {len(bottoms)}, wanted one of "
            "each an observation"
        )
    if (bottoms < 0.0).any():
        raise ValueError(f"denominators: found {float(bottoms.min())!r}, wanted 0 or more")
    if tops[bottoms == 0.0].any():
        raise ValueError("numerators: found some over a denominator of 0, wanted 0 there")


def _exponent(values: Floats) -> int:
    """Power of two that brings the values to at most 1; dividing by it rounds nothing."""
    return math.frexp(float(np.abs(values).max()))[1]
