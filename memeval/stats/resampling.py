"""The law of a bootstrap estimate without a draw: the ideal bootstrap, infinitely many resamples.

A resample of n values is n independent draws from the values themselves, so the characteristic
function of its sum is that of one draw to the n-th power. On a lattice one Fourier transform gives
it and a second one turns it back. A sample of few distinct values, or a small one, is enumerated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Law", "Sample", "law_of_mean", "law_of_resamples"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Resamples, up to their order, that are enumerated rather than transformed.
_MOST_LISTED = 4096
# Cells of a lattice that is taken as it is.
_MOST_CELLS = 1 << 18
# A window leaves out less than 2 exp(-30) = 2e-13 of the law, by Bernstein's inequality.
_BERNSTEIN = 30.0
# Frequencies whose power is below exp(-45) = 3e-20 add nothing to a double.
_NEGLIGIBLE = -45.0
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Sample:
    """Distinct rows of a sample, and how often each stands in it.

    Attributes
    ----------
    values : ndarray of float64
        Distinct values, or distinct rows of several columns.
    counts : ndarray of int64
        How many observations are of each.
    """

    values: Floats
    counts: Ints

    @property
    def n(self) -> int:
        """Observations."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Mean of the observations, the same in whatever order they came."""
        return float((self.values * self.counts).sum()) / self.n


@dataclass(frozen=True, slots=True)
class Law:
    """Where the estimate of a resample can lie, and how likely it is.

    Attributes
    ----------
    places : ndarray of float64
        Distance of the resample's estimate from that of the sample, rising.
    below : ndarray of float64
        P(distance <= place), rising to 1.
    """

    places: Floats
    below: Floats

    def mid_share(self) -> float:
        """P(distance < 0) + P(distance = 0) / 2."""
        left, right = (np.searchsorted(self.places, 0.0, side=s) for s in ("left", "right"))
        under = self.below[left - 1] if left else 0.0
        up_to = self.below[right - 1] if right else 0.0
        return float(under + up_to) / 2.0

    def up_to(self, distance: float) -> float:
        """P(distance <= this one)."""
        at = int(np.searchsorted(self.places, distance + _TIE, side="right"))
        return float(self.below[at - 1]) if at else 0.0

    def low_end(self, share: float) -> float:
        """Smallest place with P(distance <= place) >= `share`."""
        at = int(np.searchsorted(self.below, max(share, 2 * _TIE) - _TIE, side="left"))
        return float(self.places[min(at, len(self.places) - 1)])

    def high_end(self, share: float) -> float:
        """Largest place with P(distance >= place) >= 1 - `share`."""
        at = int(np.searchsorted(self.below, min(share, 1 - 2 * _TIE) + _TIE, side="right"))
        return float(self.places[min(at, len(self.places) - 1)])


def law_of_mean(sample: Sample, cells: int = 1 << 15) -> Law:
    """Law of the mean of a resample.

    Parameters
    ----------
    sample : Sample
        Finite values of a magnitude near 1, at least one.
    cells : int
        How fine a grid is that has to stand in for the values.

    Returns
    -------
    Law
        In the unit of the values. Exact where the values are multiples of one step (up to a shift)
        with up to half a million cells, and where the resamples can be listed. Else the values are
        rounded to a grid, and the law is stretched to the exact variance.

    Notes
    -----
    Rounding to a step h moves the mean of no resample by more than h / 2. The spread of what it
    moves is h / sqrt(12 n), and the stretch takes away its part in the variance.
    """
    gaps = sample.values - sample.mean
    spread = math.sqrt(float(sample.counts @ gaps**2) / sample.n)
    if len(gaps) == 1:
        return Law(np.zeros(1), np.ones(1))
    window = _window(gaps, spread, sample.n)
    span = min(2.0 * window, sample.n * float(np.ptp(gaps)))
    # The most frequent value keeps its place whatever the step.
    anchored = sample.values - sample.values[int(np.argmax(sample.counts))]
    step = _step(anchored, span / _MOST_CELLS)
    if step is not None:
        return _on_lattice(np.rint(anchored / step), sample, step, window)
    listed = law_of_resamples(sample, lambda drawn: drawn @ gaps / sample.n)
    return listed or _on_grid(anchored, sample, spread, span / cells, window)


def _on_grid(anchored: Floats, sample: Sample, spread: float, step: float, window: float) -> Law:
    """Law of the mean of values rounded to a step, stretched to the variance of the values."""
    places = np.rint(anchored / step)
    moved = float(sample.counts @ places) / sample.n
    rounded = math.sqrt(float(sample.counts @ (places - moved) ** 2) / sample.n)
    law = _on_lattice(places, sample, step, window)
    return Law(law.places * (spread / (rounded * step)), law.below)


def law_of_resamples(sample: Sample, distance: Callable[[Floats], Floats]) -> Law | None:
    """Law of any estimate, by listing every resample up to its order.

    Parameters
    ----------
    sample : Sample
        At least one observation.
    distance : callable
        Takes how often each value was drawn, a row per resample, and gives the distance of its
        estimate from that of the sample; NaN where a resample has none.

    Returns
    -------
    Law or None
        Over the resamples that have an estimate; None where there are too many to list.
    """
    if _n_resamples(sample) > _MOST_LISTED:
        return None
    n, n_values = sample.n, len(sample.counts)
    # Stars and bars: the bars' places among n stars tell how many stars fall to each value.
    bars = np.array(list(combinations(range(n + n_values - 1), n_values - 1)), dtype=np.int64)
    bars = bars.reshape(-1, n_values - 1)
    ends = np.full((len(bars), 1), n + n_values - 1)
    drawn = np.diff(bars, axis=1, prepend=-1, append=ends) - 1
    log_factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, n + 1)))))
    log_share = np.log(sample.counts / n)
    chance = np.exp(log_factorial[n] - log_factorial[drawn].sum(axis=1) + drawn @ log_share)
    places = distance(drawn.astype(np.float64))
    known = ~np.isnan(places)
    return _merged(places[known], chance[known])


def _n_resamples(sample: Sample) -> float:
    """Resamples up to their order; rounded up to infinity where that is quick to see."""
    n, n_values = sample.n, len(sample.counts)
    few = min(n, n_values - 1)
    return math.inf if few > 64 else math.comb(n + n_values - 1, n_values - 1)


def _merged(places: Floats, chance: Floats) -> Law:
    """Join places that differ by rounding alone, and set those next to 0 on it."""
    order = np.argsort(places)
    places, chance = places[order], chance[order]
    tie = _TIE * max(1.0, float(np.abs(places).max()))
    places = np.where(np.abs(places) <= tie, 0.0, places)
    starts = np.flatnonzero(np.diff(places, prepend=-math.inf) > tie)
    below = np.cumsum(np.add.reduceat(chance, starts))
    return Law(places[starts], below / below[-1])


def _window(gaps: Floats, spread: float, n: int) -> float:
    """How far the sum of n draws strays from its mean, by Bernstein's inequality."""
    reach = float(np.abs(gaps).max()) * _BERNSTEIN / 3.0
    return reach + math.sqrt(reach**2 + 2.0 * _BERNSTEIN * n * spread**2)


def _step(gaps: Floats, finest: float) -> float | None:
    """Largest step of which all gaps are multiples; None if there is none above `finest`.

    Euclid's algorithm on all gaps at once: what the smallest leaves of the others goes on.
    """
    rounding = 8.0 * float(np.finfo(np.float64).eps)
    largest = float(np.abs(gaps).max())
    rest = np.abs(gaps)
    rest = rest[rest > rounding]
    step = largest
    while rest.size:
        step = float(rest.min())
        if step < finest or step < 1e4 * rounding:
            return None
        # An error of a step is carried on as often as the step goes into a gap.
        left = np.abs(rest - np.rint(rest / step) * step)
        rest = left[left > rounding * (1.0 + rest / step)]
        rest = np.append(rest, step) if rest.size else rest
    # The smallest remainder has gathered the errors of all before it; the largest gap has not.
    step = largest / round(largest / step)
    off = np.abs(gaps - np.rint(gaps / step) * step)
    return step if bool((off <= 4.0 * rounding).all()) else None


def _on_lattice(steps: Floats, sample: Sample, step: float, window: float) -> Law:
    """Law of the mean where every value is a whole number of steps."""
    n, counts = sample.n, sample.counts
    at = steps.astype(np.int64)
    total = int(counts @ at)
    reach = math.ceil(window / step)
    first = max(n * int(at.min()), total - reach)
    n_cells = min(n * int(at.max()), total + reach) - first + 1
    size = _smooth(n_cells)
    drawn = np.bincount(at % size, weights=counts / n, minlength=size)
    chance = np.fft.irfft(_power(np.fft.rfft(drawn), n), size)
    below: Floats = np.cumsum(np.roll(chance, -(first % size))[:n_cells])
    below = np.maximum.accumulate(below / below[-1])
    places = np.arange(first - total, first - total + n_cells, dtype=np.float64)
    return Law(places * (step / n), below)


def _smooth(least: int) -> int:
    """A size from `least` on, of few small factors: 4 to 8 times a power of two."""
    shift = max(least.bit_length() - 3, 0)
    return max(2, (-(-least >> shift)) << shift)


def _power(phi: NDArray[np.complex128], n: int) -> NDArray[np.complex128]:
    """`phi` to the n-th power, without the work where nothing would be left."""
    kept = np.flatnonzero(np.abs(phi) > math.exp(_NEGLIGIBLE / n))
    square = phi[kept]
    product = np.ones_like(square)
    left = n
    while left:
        if left & 1:
            product *= square
        square *= square
        left >>= 1
    power = np.zeros_like(phi)
    power[kept] = product
    return power
