"""Did the second of two runs answer more slowly? Times of the same probes in, floats out."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memeval.errors import FrameError
from memeval.stats import check_confidence

__all__ = ["LogRatio", "paired_log_ratio"]

Floats = NDArray[np.float64]

# A spread of log ratios below this is rounding, not timing.
_NO_SPREAD = 1e-12


class LogRatio(NamedTuple):
    """How many times as long the second run took, and whether that is more than chance.

    Attributes
    ----------
    ratio : float
        Geometric mean of after / before: 1.2 is a fifth slower. NaN without a pair.
    low, high : float
        Ends of its interval; NaN below two pairs.
    p_value : float
        One-sided, that the second run is slower; NaN below two pairs.
    n : int
        Pairs that were used.

    Examples
    --------
    >>> LogRatio(1.2, 1.1, 1.31, 0.001, 34).ratio
    1.2
    """

    ratio: float
    low: float
    high: float
    p_value: float
    n: int


def paired_log_ratio(
    before_ms: ArrayLike, after_ms: ArrayLike, confidence: float = 0.90
) -> LogRatio:
    """How much slower the second run was, probe by probe.

    Parameters
    ----------
    before_ms, after_ms : array_like of float
        Time of each probe in the two runs, in the same order and in milliseconds; where there
        are repeats, their median. A pair with a NaN (not measured) or a 0 (below the tick of the
        clock) on either side has no ratio and is left out.
    confidence : float
        Two-sided level, between 0 and 1. At 0.90 the lower end is above 1 exactly when the
        p-value is below 0.05.

    Returns
    -------
    LogRatio
        Ratio, ends of its interval, p-value and number of pairs used.

    Raises
    ------
    FrameError
        The times are not two rows of equal length, or one of them is negative or infinite.
    ValueError
        `confidence` outside 0 to 1.

    Notes
    -----
    With x the logs of after / before, m their mean, s their standard deviation: ratio exp(m), ends
    exp(m -+ t s / sqrt(n)), p = P(T >= m sqrt(n) / s), T having Student's t distribution with
    n - 1 degrees of freedom. Where all ratios are the same there is no spread to set them against:
    the ends are the ratio, and p is 0 if it is above 1, else 1.

    Examples
    --------
    >>> found = paired_log_ratio([10.0, 20.0, 40.0, 80.0], [11.0, 24.0, 44.0, 92.0])
    >>> round(found.ratio, 3), round(found.low, 3), found.n
    (1.137, 1.082, 4)
    >>> paired_log_ratio([2.0, 0.0], [3.0, 1.0])
    LogRatio(ratio=1.5, low=nan, high=nan, p_value=nan, n=1)
    """
    check_confidence(confidence)
    before, after = _checked("before_ms", before_ms), _checked("after_ms", after_ms)
    if before.size != after.size:
        found = f"before_ms and after_ms: found {before.size} and {after.size} times"
        raise FrameError(f"{found}, wanted one pair a probe; keep the probes that both runs have")
    timed = (before > 0.0) & (after > 0.0)
    logs = np.log(after[timed]) - np.log(before[timed])
    if logs.size < 2:
        ratio = float(after[timed][0] / before[timed][0]) if logs.size else math.nan
        return LogRatio(ratio, math.nan, math.nan, math.nan, int(logs.size))
    return _student(logs, confidence)


def _student(logs: Floats, confidence: float) -> LogRatio:
    """Interval and p-value of two or more log ratios."""
    from scipy.special import stdtr, stdtrit

    n, mean, spread = int(logs.size), float(logs.mean()), float(logs.std(ddof=1))
    ratio = math.exp(mean)
    if spread < _NO_SPREAD:
        return LogRatio(ratio, ratio, ratio, 0.0 if mean > _NO_SPREAD else 1.0, n)
    error = spread / math.sqrt(n)
    reach = float(stdtrit(n - 1, (1.0 + confidence) / 2.0)) * error
    p_value = float(stdtr(n - 1, -mean / error))
    return LogRatio(ratio, math.exp(mean - reach), math.exp(mean + reach), p_value, n)


def _checked(name: str, times_ms: ArrayLike) -> Floats:
    """Times as one row, none of them impossible."""
    times = np.asarray(times_ms, dtype=np.float64)
    if times.ndim != 1:
        found = f"{name}: found shape {times.shape}, wanted one time a probe"
        raise FrameError(f"{found}; take the median of the repeats first")
    wrong = times[(times < 0.0) | np.isinf(times)]
    if wrong.size:
        found = f"{name}: found {float(wrong[0])!r}, wanted milliseconds of 0 or more"
        raise FrameError(f"{found}; pass NaN for a probe that was not timed")
    return times
