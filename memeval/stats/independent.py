"""Two groups that have nothing in common, and the best of several draws: numbers in, floats out."""

from __future__ import annotations

import math

from memeval.stats.shares import Interval, wilson

__all__ = ["difference_interval", "expected_maximum"]


def difference_interval(
    hits: tuple[float, float], n: tuple[int, int], confidence: float = 0.95
) -> Interval:
    """Interval of the difference of two independent shares, the first minus the second.

    Parameters
    ----------
    hits : tuple of float
        Successes of either group, 0 to its `n`.
    n : tuple of int
        Trials of either group. With 0 in one of them the difference is undefined.
    confidence : float
        Two-sided level, between 0 and 1.

    Returns
    -------
    Interval
        Ends in -1 to 1; (NaN, NaN) where a group is empty.

    Raises
    ------
    ValueError
        `hits` outside 0 to `n`, `n` negative, `confidence` outside 0 to 1.

    Notes
    -----
    Square-and-add of the two Wilson intervals (l, u): with d = p1 - p2 the ends are
    d - sqrt((p1 - l1)^2 + (u2 - p2)^2) and d + sqrt((u1 - p1)^2 + (p2 - l2)^2). Newcombe (1998),
    "Interval estimation for the difference between independent proportions", Statistics in
    Medicine 17, 873-890, method 10.

    Examples
    --------
    >>> low, high = difference_interval((56, 48), (70, 80))
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    first, second = (wilson(h, k, confidence) for h, k in zip(hits, n, strict=True))
    if 0 in n:
        return Interval(math.nan, math.nan)
    one, other = hits[0] / n[0], hits[1] / n[1]
    gap = one - other
    low = gap - math.hypot(one - first.low, second.high - other)
    high = gap + math.hypot(first.high - one, other - second.low)
    return Interval(max(-1.0, low), min(1.0, high))


def expected_maximum(n: int) -> float:
    """Mean of the largest of `n` independent standard normal draws.

    Parameters
    ----------
    n : int
        Draws, from 1.

    Returns
    -------
    float
        In standard deviations; 0 for one draw.

    Raises
    ------
    ValueError
        `n` below 1.

    Notes
    -----
    E = integral over x > 0 of 1 - F(x)^n - F(-x)^n, F the normal distribution function, by
    adaptive quadrature. Tabulated by Harter (1961), "Expected values of normal order statistics",
    Biometrika 48, 151-165.

    Examples
    --------
    >>> round(expected_maximum(2), 5), round(expected_maximum(25), 5)
    (0.56419, 1.96531)
    """
    from scipy.integrate import quad
    from scipy.special import log_ndtr

    if n < 1:
        raise ValueError(f"n: found {n!r}, wanted a count of 1 or more")

    def above(x: float) -> float:
        return float(-math.expm1(n * log_ndtr(x)) - math.exp(n * log_ndtr(-x)))

    if n == 1:
        return 0.0  # rounding would leave 1e-18 of it
    # Past 40 nothing is left of any n that a computer counts; the bend lies near sqrt(2 log n).
    bend = math.sqrt(2.0 * math.log(n + 1))
    parts = (quad(above, *ends, epsabs=1e-12)[0] for ends in ((0.0, bend), (bend, 40.0)))
    return math.fsum(parts)
