"""The law of a pooled ratio, sum over sum, under resampling of its observations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from memeval.stats.resampling import Floats, Ints, Law, Sample, law_of_mean, law_of_resamples

__all__ = ["RatioLaw"]

_NORMAL = NormalDist()
# A quantile that is not listed is narrowed down to this part of the standard error.
_CLOSE = 1e-3
# Each of a dozen steps needs a law of its own, which may be coarser.
_CELLS = 1 << 12
_LEAST_SHARE = 1e-12


@dataclass(frozen=True)
class RatioLaw:
    """Where sum(tops) / sum(bottoms) of a resample can lie.

    Attributes
    ----------
    tops, bottoms : ndarray of float64
        The distinct pairs, of a magnitude near 1; bottoms are 0 or more, and not all 0.
    counts : ndarray of int64
        How many observations are of each pair.

    Notes
    -----
    Where the sum of the bottoms is positive, the ratio is at most r just where
    sum(tops - r bottoms) <= 0, so the law of a mean gives that of the ratio at every r. Resamples
    whose bottoms are all 0 have no ratio and are left out.
    """

    tops: Floats
    bottoms: Floats
    counts: Ints

    @property
    def ratio(self) -> float:
        """The ratio of the sample itself."""
        return self._sum(self.tops) / self._sum(self.bottoms)

    def influences(self) -> Floats:
        """Distance of the ratio without an observation of each pair from their mean, negated."""
        n = int(self.counts.sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            without = (self._sum(self.tops) - self.tops) / (self._sum(self.bottoms) - self.bottoms)
        pulls: Floats = self._sum(without) / n - without
        return pulls

    def listed(self) -> Law | None:
        """The whole law, where its resamples can be listed or all bottoms are equal."""
        ratio = self.ratio
        if np.ptp(self.bottoms) == 0.0:
            return law_of_mean(Sample(self.tops / self.bottoms, self.counts))

        def distance(drawn: Floats) -> Floats:
            total = drawn @ self.bottoms
            known = np.where(total > 0.0, total, math.nan)
            found: Floats = drawn @ self.tops / known - ratio
            return found

        return law_of_resamples(Sample(self.tops, self.counts), distance)

    def mid_share(self) -> float:
        """P(ratio < that of the sample) + P(ratio = that of the sample) / 2."""
        law = law_of_mean(Sample(self._beyond(self.ratio), self.counts))
        return (law.mid_share() - self._empty / 2.0) / (1.0 - self._empty)

    def quantile(self, share: float) -> float:
        """Smallest ratio that a resample does not exceed with this probability, nearly."""
        wanted = _NORMAL.inv_cdf(min(max(share, _LEAST_SHARE), 1.0 - _LEAST_SHARE))
        own = self.bottoms > 0.0
        ratios = self.tops[own] / self.bottoms[own]
        error = math.sqrt(float(self.counts @ self._beyond(self.ratio) ** 2))
        error /= self._sum(self.bottoms)
        return _crossing(
            lambda r: self._probit(r) - wanted,
            float(ratios.min()),
            float(ratios.max()),
            self.ratio + wanted * error,
            error,
        )

    @property
    def _empty(self) -> float:
        """Probability of a resample whose bottoms are all 0."""
        return float((self.counts @ (self.bottoms == 0.0)) / self.counts.sum()) ** int(
            self.counts.sum()
        )

    def _sum(self, column: Floats) -> float:
        return float((column * self.counts).sum())

    def _beyond(self, ratio: float) -> Floats:
        """What each pair adds to the sum whose sign tells on which side of `ratio` it pulls."""
        return self.tops - ratio * self.bottoms

    def _probit(self, ratio: float) -> float:
        """Normal quantile of P(ratio of a resample <= ratio)."""
        sums = Sample(self._beyond(ratio), self.counts)
        law = law_of_mean(sums, _CELLS)
        under = law.up_to(-sums.mean)
        share = (under - self._empty) / (1.0 - self._empty)
        return _NORMAL.inv_cdf(min(max(share, _LEAST_SHARE), 1.0 - _LEAST_SHARE))


def _crossing(
    rising: Callable[[float], float], least: float, most: float, guess: float, error: float
) -> float:
    """Where a rising function first is 0 or more; `least` if it is so from there on."""
    if (at_low := rising(least)) >= 0.0:
        return least
    low, high, near = least, most, 0.5 * _CLOSE * error
    at_high = 1.0  # some number above 0: no resample exceeds the largest ratio
    first = [guess + 0.1 * error, guess - 0.1 * error]
    for turn in range(100):
        if high - low <= 2.0 * abs(near):
            break
        secant = low - at_low * (high - low) / (at_high - at_low)
        at = first.pop() if first else secant + near if turn % 3 else (low + high) / 2.0
        if not low < at < high:
            at = (low + high) / 2.0
        value = rising(at)
        # The next secant falls just beyond the root, on the side of the end that did not move.
        if value < 0.0:
            low, at_low, near = at, value, abs(near)
        else:
            high, at_high, near = at, value, -abs(near)
    return high
