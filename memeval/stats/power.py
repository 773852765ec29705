"""What a number of probes can show: the smallest fall it would see, and how many would decide."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from memeval.stats.paired import checked_count, checked_flips, midp, net_loss_bounds
from memeval.stats.shuffle import check_alpha

__all__ = ["minimum_detectable_drop", "power_of_drop", "probes_to_decide"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

# Counts of gains that are less likely than this are left out of a sum of chances.
_NEVER = 1e-16
# Halvings that take an interval of length 1 below the spacing of floats.
_HALVINGS = 54
# More probes than anyone writes: a question that they do not settle stays open.
_MOST_PROBES = 2**30


def _check_gain_rate(gain_rate: float) -> None:
    if not 0.0 <= gain_rate < 0.5:
        wanted = "wanted a share from 0 to below 0.5"
        raise ValueError(f"gain_rate: found {gain_rate!r}, {wanted}; it is gains / probes")


def _critical_losses(n: int, gains: Counts, alpha: float) -> Counts:
    """Fewest losses that are significant at each count of gains; n + 1 where none would do."""
    low, high = np.zeros_like(gains), np.full_like(gains, n + 1)
    while (low < high).any():
        middle = (low + high) // 2
        significant = midp(middle, gains) <= alpha
        low = np.where((low < high) & ~significant, middle + 1, low)
        high = np.where((low < high) & significant, middle, high)
    return low


def _chances_of_gains(n: int, gain_rate: float) -> tuple[Counts, Floats]:
    """Counts of gains among `n` probes that can happen, with their binomial probabilities."""
    from scipy.special import gammaln, xlog1py, xlogy

    gains = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(gains + 1) - gammaln(n - gains + 1)
    chances = np.exp(ways + xlogy(gains, gain_rate) + xlog1py(n - gains, -gain_rate))
    kept = chances > _NEVER
    return gains[kept], chances[kept]


class _Power:
    """Power of the mid-p test at one n, gain rate and level, for any drop."""

    def __init__(self, n: int, gain_rate: float, alpha: float) -> None:
        self.gain_rate = gain_rate
        gains, chances = _chances_of_gains(n, gain_rate)
        critical = _critical_losses(n, gains, alpha)
        possible = critical <= n - gains
        self.chances = chances[possible]
        self.critical = critical[possible]
        self.spare = (n - gains - critical)[possible]

    def __call__(self, drop: float) -> float:
        from scipy.special import betainc

        share = min(1.0, (self.gain_rate + drop) / (1.0 - self.gain_rate))
        return float(self.chances @ betainc(self.critical, self.spare + 1, share))


def power_of_drop(n: int, drop: float, gain_rate: float, alpha: float = 0.05) -> float:
    """How likely a true net drop is to be seen by the mid-p test.

    Parameters
    ----------
    n : int
        Probes that both runs answer.
    drop : float
        True loss rate less gain rate, 0 to 1 - 2 `gain_rate`. With 0 the result is the chance of
        a false alarm.
    gain_rate : float
        True share of probes that turn from failed to passed, 0 to below 0.5.
    alpha : float
        One-sided level, between 0 and 1.

    Returns
    -------
    float
        Probability that `mcnemar_midp` gives at most `alpha`, 0 to 1.

    Raises
    ------
    ValueError
        An argument outside its range.

    Notes
    -----
    Exact: given g ~ Bin(n, gain_rate) gains, losses are Bin(n - g, (gain_rate + drop) /
    (1 - gain_rate)), and the test needs as many as its critical count at g gains.

    Examples
    --------
    >>> round(power_of_drop(34, 0.0, gain_rate=0.05), 3)
    0.02
    >>> round(power_of_drop(34, 0.2, gain_rate=0.01), 2)
    0.87
    """
    check_alpha(alpha)
    _check_gain_rate(gain_rate)
    if not 0.0 <= drop <= 1.0 - 2.0 * gain_rate:
        most = 1.0 - 2.0 * gain_rate
        wanted = f"wanted 0 to {most:g}, what gains of {gain_rate:g} leave"
        raise ValueError(f"drop: found {drop!r}, {wanted}; pass the loss rate less the gain rate")
    return _Power(checked_count("n", n), gain_rate, alpha)(drop)


def minimum_detectable_drop(
    n: int, gain_rate: float, power: float = 0.8, alpha: float = 0.05
) -> float:
    """The smallest true net drop that `n` probes would most likely show.

    Parameters
    ----------
    n : int
        Probes that both runs answer.
    gain_rate : float
        Share of probes that turn from failed to passed, 0 to below 0.5.
    power : float
        How likely the drop must be to be seen, between 0 and 1.
    alpha : float
        One-sided level of the mid-p test, between 0 and 1.

    Returns
    -------
    float
        Loss rate less gain rate, above 0; NaN where not even the largest drop would be seen.

    Raises
    ------
    ValueError
        An argument outside its range.

    See Also
    --------
    power_of_drop : the way back.

    Examples
    --------
    >>> round(minimum_detectable_drop(34, gain_rate=0.02), 3)
    0.194
    >>> minimum_detectable_drop(3, gain_rate=0.0)
    nan
    """
    check_alpha(alpha)
    _check_gain_rate(gain_rate)
    if not 0.0 < power < 1.0:
        raise ValueError(f"power: found {power!r}, wanted a share between 0 and 1")
    power_of = _Power(checked_count("n", n), gain_rate, alpha)
    low, high = 0.0, 1.0 - 2.0 * gain_rate
    if power_of(high) < power:
        return math.nan
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if power_of(middle) >= power else (middle, high)
    return high


def probes_to_decide(
    n: int,
    losses: int,
    gains: int,
    margin: float = 0.10,
    alpha: float = 0.05,
    *,
    test_alpha: float | None = None,
) -> int | None:
    """How many probes would decide, if losses and gains stay as frequent as they were seen.

    Parameters
    ----------
    n : int
        Probes that both runs answered.
    losses, gains : int
        Probes that turned from passed to failed, and from failed to passed.
    margin : float
        Net loss that is tolerated, above 0 and below 1.
    alpha : float
        One-sided level of the test and of the bound, above 0 and below 0.5.
    test_alpha : float, optional
        Level of the test where it is another, above 0 and below 0.5: half of `alpha` where the
        test is one of two that Holm's method adjusts.

    Returns
    -------
    int or None
        Fewest probes at which either the mid-p test is significant or the upper bound of the net
        loss is below `margin`; at most `n` where `n` decided already. None for ``n = 0``.

    Raises
    ------
    ValueError
        An argument outside its range.

    Notes
    -----
    Both rules are carried on to counts that are not whole (by the incomplete beta function and by
    Wilson's formula). At fixed rates the p-value of a net loss and the bound only fall as n grows,
    so halving finds the fewest. A guess, as the rates were: it may be far off after few flips.

    Examples
    --------
    >>> [probes_to_decide(20, 0, 0, margin) for margin in (0.10, 0.05, 0.03)]
    [29, 59, 99]
    >>> probes_to_decide(34, 3, 2)
    86
    >>> probes_to_decide(20, 4, 0), probes_to_decide(20, 4, 0, test_alpha=0.025)
    (17, 22)
    """
    level = alpha if test_alpha is None else test_alpha
    for name, share in (("alpha", alpha), ("test_alpha", level)):
        if not 0.0 < share < 0.5:
            raise ValueError(f"{name}: found {share!r}, wanted a share above 0 and below 0.5")
    if not 0.0 < margin < 1.0:
        raise ValueError(f"margin: found {margin!r}, wanted a share between 0 and 1")
    probes, lost, gained = checked_flips(n, losses, gains)
    if probes == 0:
        return None

    def decided(size: int) -> bool:
        lost_then, gained_then = size * lost / probes, size * gained / probes
        if float(midp(lost_then, gained_then)) <= level:
            return True
        return net_loss_bounds(size, lost_then, gained_then, 1.0 - 2.0 * alpha).high < margin

    high = 1
    while not decided(high):
        if high >= _MOST_PROBES:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high
