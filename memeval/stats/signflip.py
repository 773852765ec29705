"""The sign-flip permutation test of paired differences, exact wherever that is affordable.

If the second run is as good as the first, each difference might as well have had the other sign.
The test asks in which share of all sign patterns the sum falls as low as it did. Differences of
ranking metrics take few distinct values, and all sign patterns of one value c times are one
binomial variable; so the whole distribution is two lists of sums, met in the middle.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memeval.errors import FrameError

__all__ = ["sign_flip"]

Floats = NDArray[np.float64]

# Differences and sums closer than this, in units of the largest difference, are level.
_TIE = 1e-12
# Sums a half of the distribution may hold before equal ones are merged: 36 differences that are
# all distinct are two halves of 2^18, a tenth of a second.
_MOST_SUMS = 2**18
# Random signs drawn at once.
_SIGNS_AT_ONCE = 2**20


def sign_flip(
    differences: ArrayLike,
    *,
    seed: int = 0,
    draws: int = 9999,
    clusters: ArrayLike | None = None,
) -> float:
    """Whether the mean difference is negative by chance alone: the sign-flip permutation test.

    Parameters
    ----------
    differences : array_like of float
        Second run less first, one a probe. Those of 0 change nothing.
    seed : int
        Of the random signs. Without effect where the test is exact.
    draws : int
        Random sign patterns, 1 or more, where the test is not exact.
    clusters : array_like, optional
        A label a difference. Those of one label (one persona, one source conversation) keep
        together: their sum is flipped as one.

    Returns
    -------
    float
        One-sided p-value, above 0 to 1; 1 when nothing differs.

    Raises
    ------
    FrameError
        `differences` is not one row of finite numbers, or `clusters` does not label each of them.
    ValueError
        `draws` below 1.

    Notes
    -----
    P(sum of s_i d_i <= sum of d_i) over independent fair signs s_i. Sums within 1e-12 (times the
    largest difference, where that is above 1) of the one seen count as reached, so that rounding
    decides nothing. Exact for up to 36 differences other than 0, and for many more where they
    take few distinct values; else (1 + b) / (1 + draws) with b of the draws as low (Phipson and
    Smyth 2010). Fisher (1935).

    Examples
    --------
    >>> sign_flip([-0.5, -0.25, 0.0, -0.25])
    0.125
    >>> sign_flip([0.0] * 9 + [-0.37])
    0.5
    >>> sign_flip([-0.2, -0.3, -0.1], clusters=["ann", "ann", "bob"])
    0.25
    """
    if draws < 1:
        raise ValueError(f"draws: found {draws!r}, wanted 1 or more")
    values = _checked(differences)
    if clusters is not None:
        values = _cluster_sums(values, clusters)
    tie = _TIE * max(1.0, float(np.abs(values).max(initial=0.0)))
    values = values[np.abs(values) > tie]
    if values.size == 0:
        return 1.0
    seen = float(values.sum()) + tie
    halves = _halves(np.abs(values), tie)
    if halves is None:
        return _drawn(np.abs(values), seen, seed, draws)
    return _share_up_to(seen, *halves)


def _checked(differences: ArrayLike) -> Floats:
    """The differences as one row, none of them undefined."""
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1:
        found = f"differences: found shape {values.shape}, wanted one number a probe"
        raise FrameError(f"{found}; pass a flat list")
    wrong = int((~np.isfinite(values)).sum())
    if wrong:
        found = f"differences: found {wrong} of {values.size} not finite, wanted numbers"
        raise FrameError(f"{found}; leave out the probes that either run has no value for")
    return values


def _cluster_sums(values: Floats, clusters: ArrayLike) -> Floats:
    """The sum of the differences of each label."""
    import pandas as pd

    labels = np.asarray(clusters, dtype=object)
    if labels.shape != values.shape:
        found = f"clusters: found shape {labels.shape}, wanted {values.shape}"
        raise FrameError(f"{found}; pass one label a difference, in the same order")
    codes, _ = pd.factorize(labels)
    missing = int((codes < 0).sum())
    if missing:
        found = f"clusters: found {missing} of {codes.size} missing, wanted a label each"
        raise FrameError(f"{found}; give a probe that stands alone a label of its own")
    return np.bincount(codes, weights=values).astype(np.float64)


def _level_runs(ordered: Floats, tie: float) -> NDArray[np.intp]:
    """Where in ascending numbers a new value begins, numbers within `tie` being one value."""
    return np.flatnonzero(np.diff(ordered, prepend=-np.inf) > tie)


def _add(sums: Floats, chances: Floats, size: float, times: int, tie: float) -> tuple[Floats, ...]:
    """The distribution after `times` more differences of `size`, each with a fair sign."""
    up = np.arange(times + 1)
    whole = 1 << times
    # Python's integers keep each chance exact up to its one division.
    ways = np.array([math.comb(times, int(count)) / whole for count in up])
    wider = np.add.outer(sums, size * (2 * up - times)).ravel()
    order = np.argsort(wider, kind="stable")
    starts = _level_runs(wider[order], tie)
    merged = np.add.reduceat(np.multiply.outer(chances, ways).ravel()[order], starts)
    return wider[order][starts], merged


def _halves(sizes: Floats, tie: float) -> tuple[tuple[Floats, ...], tuple[Floats, ...]] | None:
    """Two independent distributions whose sum is the wanted one, or None if they grow too long."""
    ordered = np.sort(sizes)
    starts = _level_runs(ordered, tie)
    counts = np.diff(starts, append=ordered.size)
    means = np.add.reduceat(ordered, starts) / counts
    halves: list[tuple[Floats, ...]] = [(np.zeros(1), np.ones(1)), (np.zeros(1), np.ones(1))]
    # Many of one value first: they widen a half least while it is short.
    for group in np.argsort(-counts, kind="stable"):
        short = 0 if halves[0][0].size <= halves[1][0].size else 1
        times = int(counts[group])
        if halves[short][0].size * (times + 1) > _MOST_SUMS:
            return None
        sums, chances = halves[short]
        halves[short] = _add(sums, chances, float(means[group]), times, tie)
    return halves[0], halves[1]


def _share_up_to(seen: float, one: tuple[Floats, ...], other: tuple[Floats, ...]) -> float:
    """P(sum of one draw from each <= `seen`)."""
    up_to = np.concatenate(([0.0], np.cumsum(other[1])))
    reached = np.searchsorted(other[0], seen - one[0], side="right")
    return min(1.0, float(one[1] @ up_to[reached]))


def _drawn(sizes: Floats, seen: float, seed: int, draws: int) -> float:
    """The share of random sign patterns with a sum of at most `seen`, the true one among them."""
    rng = np.random.default_rng(seed)
    at_once = max(1, _SIGNS_AT_ONCE // sizes.size)
    total = float(sizes.sum())
    reached = 0
    for start in range(0, draws, at_once):
        shape = (min(at_once, draws - start), sizes.size)
        up = rng.integers(0, 2, size=shape, dtype=np.int8).astype(np.float64)
        reached += int((2.0 * (up @ sizes) - total <= seen).sum())
    return (1 + reached) / (1 + draws)
