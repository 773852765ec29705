"""Did the second of two runs do worse on the same probes? Counts and arrays in, floats out.

A loss is a probe that the first run passed and the second failed, a gain the reverse; probes that
came out alike say nothing about the direction. All tests are one-sided: a small p-value says that
chance alone seldom makes so much of a fall. `sign_flip` and `paired_log_ratio` are handed on from
`memeval.stats.signflip` and `memeval.stats.logratio`; what a number of probes can show is in
`memeval.stats.power`.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memeval.errors import FrameError
from memeval.stats import Interval, wilson, zero_event_bound
from memeval.stats.logratio import LogRatio, paired_log_ratio
from memeval.stats.shuffle import check_alpha
from memeval.stats.signflip import sign_flip

__all__ = [
    "LogRatio",
    "holm",
    "mcnemar_exact",
    "mcnemar_midp",
    "paired_log_ratio",
    "paired_loss_bounds",
    "sign_flip",
    "spent_alpha",
]

Floats = NDArray[np.float64]

# Stands for a count of 0, at which the incomplete beta function has its limit but no value.
_ALMOST_ZERO = 1e-300


def checked_count(name: str, value: int) -> int:
    """`value` as a whole number of 0 or more, else a `ValueError` that names it."""
    try:
        number = operator.index(value)
    except TypeError as error:
        message = f"{name}: found {value!r}, wanted a whole number; count probes, not rates"
        raise ValueError(message) from error
    if number < 0:
        raise ValueError(f"{name}: found {number}, wanted 0 or more; count probes, not differences")
    return number


def checked_flips(n: int, losses: int, gains: int) -> tuple[int, int, int]:
    """The three counts, else a `ValueError`: a probe cannot be both lost and gained."""
    probes, lost, gained = (
        checked_count(name, value)
        for name, value in (("n", n), ("losses", losses), ("gains", gains))
    )
    if lost + gained > probes:
        found = f"{lost} losses and {gained} gains among n = {probes} probes"
        raise ValueError(f"n: found {found}, wanted at most n flips; count each probe once")
    return probes, lost, gained


def tail_at_least(losses: ArrayLike, gains: ArrayLike) -> Floats:
    """P(X >= losses) for X ~ Bin(losses + gains, 1/2), carried on to counts that are not whole."""
    from scipy.special import betainc

    lost = np.maximum(np.asarray(losses, dtype=np.float64), _ALMOST_ZERO)
    return np.asarray(betainc(lost, np.asarray(gains) + 1.0, 0.5), dtype=np.float64)


def tail_above(losses: ArrayLike, gains: ArrayLike) -> Floats:
    """P(X > losses) for the same X."""
    from scipy.special import betainc

    gained = np.maximum(np.asarray(gains, dtype=np.float64), _ALMOST_ZERO)
    return np.asarray(betainc(np.asarray(losses) + 1.0, gained, 0.5), dtype=np.float64)


def midp(losses: ArrayLike, gains: ArrayLike) -> Floats:
    """The mid-p value for arrays of counts, whole or not; without a single flip it is 1."""
    value = (tail_at_least(losses, gains) + tail_above(losses, gains)) / 2.0
    return np.where(np.asarray(losses) + np.asarray(gains) > 0, value, 1.0)


def mcnemar_midp(losses: int, gains: int) -> float:
    """Whether more probes were lost than gained by chance alone: McNemar's mid-p test.

    Parameters
    ----------
    losses, gains : int
        Probes that turned from passed to failed, and from failed to passed.

    Returns
    -------
    float
        One-sided p-value, 0 to 1; 1 when nothing turned.

    Raises
    ------
    ValueError
        A count that is negative or not whole.

    See Also
    --------
    mcnemar_exact : never above the stated level, at the price of power.

    Notes
    -----
    With X ~ Bin(losses + gains, 1/2), P(X > losses) + P(X = losses) / 2. Fagerland, Lydersen and
    Laake (2013): close to the stated level where the exact test stays far below it. At 5 % it
    takes 4, 6, 8, 9 losses at 0, 1, 2, 3 gains.

    Examples
    --------
    >>> mcnemar_midp(4, 0)
    0.03125
    >>> mcnemar_midp(3, 0)
    0.0625
    >>> mcnemar_midp(0, 0)
    1.0
    """
    return float(midp(checked_count("losses", losses), checked_count("gains", gains)))


def mcnemar_exact(losses: int, gains: int) -> float:
    """Whether more probes were lost than gained by chance alone: McNemar's exact test.

    Parameters
    ----------
    losses, gains : int
        Probes that turned from passed to failed, and from failed to passed.

    Returns
    -------
    float
        One-sided p-value, 0 to 1; 1 when nothing turned.

    Raises
    ------
    ValueError
        A count that is negative or not whole.

    Notes
    -----
    P(X >= losses) with X ~ Bin(losses + gains, 1/2): the sign test. At 5 % it takes 5, 7, 9, 10
    losses at 0, 1, 2, 3 gains.

    Examples
    --------
    >>> mcnemar_exact(5, 0)
    0.03125
    """
    return float(tail_at_least(checked_count("losses", losses), checked_count("gains", gains)))


def holm(p_values: ArrayLike) -> Floats:
    """P-values made good for having been looked at together.

    Parameters
    ----------
    p_values : array_like of float
        One p-value a test, each 0 to 1.

    Returns
    -------
    ndarray of float64
        Adjusted, in the order given, each 0 to 1. Those at most alpha are rejected at a
        family-wise level of alpha.

    Raises
    ------
    FrameError
        Not one row of numbers from 0 to 1. NaN is refused: it would vanish among the others.

    Notes
    -----
    Sorted upwards, p_(i) becomes max over j <= i of min(1, (m - j + 1) p_(j)). Holm (1979);
    holds whatever the tests share.

    Examples
    --------
    >>> holm([0.04, 0.01]).tolist()
    [0.04, 0.02]
    """
    values = np.asarray(p_values, dtype=np.float64)
    wanted = "wanted p-values from 0 to 1 in one row"
    if values.ndim != 1:
        raise FrameError(f"p_values: found shape {values.shape}, {wanted}; pass a flat list")
    wrong = values[~((values >= 0.0) & (values <= 1.0))]
    if wrong.size:
        todo = "leave out the test that was not made"
        raise FrameError(f"p_values: found {float(wrong[0])!r}, {wanted}; {todo}")
    order = np.argsort(values, kind="stable")
    stepped = values[order] * np.arange(values.size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return adjusted


def spent_alpha(look: int, alpha: float = 0.05) -> float:
    """Level of one of many looks at the same baseline, so that all of them together keep `alpha`.

    Parameters
    ----------
    look : int
        Looks that came before this one: 0 for the first.
    alpha : float
        Level of all looks together, between 0 and 1.

    Returns
    -------
    float
        Level of this look, above 0.

    Raises
    ------
    ValueError
        `look` negative or not whole, `alpha` outside 0 to 1.

    Notes
    -----
    alpha / ((look + 1)(look + 2)): the levels of looks 0, 1, 2, ... add up to alpha, for
    1/(l + 1)(l + 2) = 1/(l + 1) - 1/(l + 2). Boole's inequality does the rest.

    Examples
    --------
    >>> [round(spent_alpha(look), 4) for look in range(3)]
    [0.025, 0.0083, 0.0042]
    """
    check_alpha(alpha)
    before = checked_count("look", look)
    return alpha / ((before + 1) * (before + 2))


def net_loss_bounds(n: float, losses: float, gains: float, confidence: float) -> Interval:
    """`paired_loss_bounds` for counts that need not be whole; `n` is above 0."""
    trials: Any = n  # the formulas hold for any n above 0, their signatures say int
    lost, gained = losses / n, gains / n
    (low_lost, high_lost), (low_gained, high_gained) = (
        wilson(losses, trials, confidence),
        wilson(gains, trials, confidence),
    )
    exact = zero_event_bound(trials, (1.0 + confidence) / 2.0)
    high_lost = exact if losses == 0 else high_lost
    high_gained = exact if gains == 0 else high_gained
    net = lost - gained
    low = net - math.hypot(lost - low_lost, high_gained - gained)
    high = net + math.hypot(high_lost - lost, gained - low_gained)
    return Interval(max(-1.0, low), min(1.0, high))


def paired_loss_bounds(n: int, losses: int, gains: int, confidence: float = 0.90) -> Interval:
    """How large the net loss of the second run may truly be.

    Parameters
    ----------
    n : int
        Probes that both runs answered. With 0 the net loss is undefined.
    losses, gains : int
        Probes that turned from passed to failed, and from failed to passed.
    confidence : float
        Two-sided level, between 0 and 1. The upper end at 0.90 is the one-sided bound at 95 %.

    Returns
    -------
    Interval
        Ends of (losses - gains) / n, in -1 to 1; (NaN, NaN) for ``n = 0``.

    Raises
    ------
    ValueError
        A count that is negative or not whole, more flips than probes, or `confidence` outside
        0 to 1.

    Notes
    -----
    Square-and-add (Newcombe 1998): with shares p = losses/n and q = gains/n in their Wilson
    intervals (l_p, u_p), (l_q, u_q), the ends are p - q - sqrt((p - l_p)^2 + (u_q - q)^2) and
    p - q + sqrt((u_p - p)^2 + (q - l_q)^2). Where a count is 0 its upper end is the exact one,
    1 - ((1 - confidence)/2)^(1/n): Wilson's is too low there.

    Examples
    --------
    >>> low, high = paired_loss_bounds(34, 2, 1)
    >>> round(low, 3), round(high, 3)
    (-0.071, 0.136)
    >>> round(paired_loss_bounds(34, 0, 0).high, 3)
    0.084
    """
    probes, lost, gained = checked_flips(n, losses, gains)
    if probes == 0:
        return wilson(0, 0, confidence)
    return net_loss_bounds(probes, lost, gained, confidence)
