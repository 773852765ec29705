"""Closed forms of chance and shuffle: what luck scores, without running anything.

The *random* store returns `k` of the `n` eligible records of a probe, drawn without replacement,
in random order: its laws stand here. The *shuffled* store returns what the real store returned,
in random order: its laws stand in `memeval.stats.shuffle` and are handed on from here. The rules
C2, C3 and C4 of the controls compare a run with these laws, so no control has to be sampled.

In the laws of RR and nDCG every expected group is one record.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from memeval.stats.shuffle import (
    Floats,
    check_alpha,
    check_count,
    expected_rr,
    first_rank_pmf,
    shuffled_mrr_critical,
    shuffled_mrr_tail,
    shuffled_ndcg,
    shuffled_rr,
    sum_of_discounts,
)

__all__ = [
    "chance_hit_all",
    "chance_ndcg",
    "chance_recall",
    "chance_rr",
    "first_rank_pmf",
    "poisson_binomial_critical",
    "poisson_binomial_tail",
    "shuffled_mrr_critical",
    "shuffled_mrr_tail",
    "shuffled_ndcg",
    "shuffled_rr",
]

# Above this length of both factors the FFT wins; below it the direct sum keeps tiny tails exact.
_DIRECT_LENGTH = 2_048


def chance_hit_all(n_eligible: int, group_sizes: Sequence[int], k: int) -> float:
    """Probability that `k` random records meet every expected group.

    Parameters
    ----------
    n_eligible : int
        Records of the scope that could be returned.
    group_sizes : sequence of int
        Eligible members of each expected group; a plain id is a group of 1. Groups share no
        member. A group without eligible member cannot be met.
    k : int
        Records drawn, without replacement.

    Returns
    -------
    float
        Expected `recall_all` of the random store, 0 to 1; 1 where `n_eligible` <= `k`.

    Raises
    ------
    ValueError
        `k` below 1, no group, a negative size, or more members than eligible records.

    Notes
    -----
    Groups of one: C(n-m, k-m) / C(n, k). Any-of groups: inclusion and exclusion over the
    groups that are missed, sum over sets S of (-1)^|S| C(n-size(S), k) / C(n, k). Both are
    summed in whole numbers and divided once, so nothing cancels at any `n_eligible`.

    Examples
    --------
    >>> chance_hit_all(25, [1], k=5)
    0.2
    >>> round(chance_hit_all(12, [1, 1], k=5), 4)
    0.1515
    >>> round(chance_hit_all(12, [2, 1], k=5), 4)
    0.2576
    """
    k = check_count("k", k, 1)
    sizes = [check_count("group size", size, 0) for size in group_sizes]
    if not sizes:
        raise ValueError("group_sizes: found none, wanted the size of at least one expected group")
    members = sum(sizes)
    n = check_count("n_eligible", n_eligible, members)
    if 0 in sizes:
        return 0.0
    if n <= k:
        return 1.0
    if members == len(sizes):
        return math.perm(k, members) / math.perm(n, members)
    return _hit_every_group(n, sizes, k)


def _hit_every_group(n: int, sizes: list[int], k: int) -> float:
    members = sum(sizes)
    missed = {0: 1}
    for size in sizes:
        longer = Counter(missed)
        for total, sign in missed.items():
            longer[total + size] -= sign
        missed = dict(longer)
    # C(n-t, k)/C(n, k) = C(n-k, t)/C(n, t): take the side with the shorter products.
    if k <= members:
        ways = sum(sign * math.perm(n - total, k) for total, sign in missed.items())
        return ways / math.perm(n, k)
    ways = sum(
        sign * math.perm(n - k, total) * math.perm(n - total, members - total)
        for total, sign in missed.items()
    )
    return ways / math.perm(n, members)


def chance_recall(n: int, k: int) -> float:
    """Mean `recall_fraction` of the random store.

    Parameters
    ----------
    n : int
        Eligible records, 1 or more.
    k : int
        Records drawn, 1 or more.

    Returns
    -------
    float
        min(k, n) / n, whatever the number of expected records.

    Raises
    ------
    ValueError
        `n` or `k` below 1.

    Examples
    --------
    >>> chance_recall(25, 5)
    0.2
    """
    n, k = check_count("n", n, 1), check_count("k", k, 1)
    return min(k, n) / n


def chance_rr(n: int, m: int, k: int) -> float:
    """Mean reciprocal rank of the random store, cut at `k`.

    Parameters
    ----------
    n : int
        Eligible records.
    m : int
        Expected records among them, 1 to `n`.
    k : int
        Records drawn, 1 or more.

    Returns
    -------
    float
        0 to 1.

    Raises
    ------
    ValueError
        `m` outside 1 to `n`, or `k` below 1.

    Notes
    -----
    Sum over j = 1 .. min(k, n) of C(n-j, m-1) / C(n, m) / j; for m = 1 that is H_k / n.

    Examples
    --------
    >>> round(chance_rr(25, 1, 5), 4)
    0.0913
    """
    n, k = check_count("n", n, 1), check_count("k", k, 1)
    return expected_rr(n, check_count("m", m, 1, n), k)


def chance_ndcg(n: int, m: int, k: int) -> float:
    """Mean nDCG at `k` of the random store.

    Parameters
    ----------
    n : int
        Eligible records.
    m : int
        Expected records among them, 1 to `n`.
    k : int
        Records drawn, 1 or more.

    Returns
    -------
    float
        0 to 1.

    Raises
    ------
    ValueError
        `m` outside 1 to `n`, or `k` below 1.

    Notes
    -----
    (m / n) times the sum of 1 / log2(j + 1) over j = 1 .. min(k, n), over the ideal sum up to
    min(m, k).

    Examples
    --------
    >>> round(chance_ndcg(25, 1, 5), 4)
    0.1179
    """
    n, k = check_count("n", n, 1), check_count("k", k, 1)
    m = check_count("m", m, 1, n)
    return m / n * sum_of_discounts(min(k, n)) / sum_of_discounts(min(m, k))


def _convolve(left: Floats, right: Floats) -> Floats:
    if min(left.size, right.size) <= _DIRECT_LENGTH:
        return np.asarray(np.convolve(left, right), dtype=np.float64)
    size = left.size + right.size - 1
    product = np.fft.irfft(np.fft.rfft(left, size) * np.fft.rfft(right, size), size)
    # Rounding leaves -1e-17 where a probability is 0.
    return np.asarray(product.clip(0.0), dtype=np.float64)


def _poisson_binomial_tails(probs: ArrayLike) -> Floats:
    """P(X >= x) for x = 0 .. n, by convolving the pairs of a tree."""
    chances = np.asarray(probs, dtype=np.float64).ravel()
    if not bool(np.all((chances >= 0.0) & (chances <= 1.0))):
        raise ValueError("probs: found a value outside 0 to 1 (or NaN), wanted probabilities")
    laws = [np.array([1.0 - p, p]) for p in chances] or [np.ones(1)]
    while len(laws) > 1:
        paired = [_convolve(a, b) for a, b in zip(laws[::2], laws[1::2], strict=False)]
        laws = paired + laws[2 * len(paired) :]
    tails: Floats = np.clip(np.cumsum(laws[0][::-1])[::-1], 0.0, 1.0)
    return tails


def poisson_binomial_tail(probs: ArrayLike, observed: int) -> float:
    """P(X >= observed) where X counts successes of independent, unequal trials.

    Parameters
    ----------
    probs : array_like of float
        Success probability of each trial.
    observed : int
        Successes seen.

    Returns
    -------
    float
        0 to 1; 1 for `observed` <= 0, 0 for more than there are trials.

    Raises
    ------
    ValueError
        A probability outside 0 to 1, or NaN.

    Notes
    -----
    Exact, by convolution; up to about two thousand trials also in relative terms, beyond that
    by FFT with an absolute error near 1e-15.

    Examples
    --------
    >>> poisson_binomial_tail([0.5, 0.5], 1)
    0.75
    """
    tails = _poisson_binomial_tails(probs)
    seen = operator.index(observed)
    if seen <= 0:
        return 1.0
    return float(tails[seen]) if seen < tails.size else 0.0


def poisson_binomial_critical(probs: ArrayLike, alpha: float = 0.001) -> int | None:
    """Fewest successes that chance explains with a probability below `alpha`.

    Parameters
    ----------
    probs : array_like of float
        Success probability of each trial.
    alpha : float
        Between 0 and 1.

    Returns
    -------
    int or None
        The smallest x with P(X >= x) < `alpha`; None where even all trials would not do.

    Raises
    ------
    ValueError
        A probability outside 0 to 1, or `alpha` outside 0 to 1.

    Examples
    --------
    >>> poisson_binomial_critical([0.2] * 34)
    16
    >>> poisson_binomial_critical([1.0] * 34) is None
    True
    """
    check_alpha(alpha)
    enough = np.flatnonzero(_poisson_binomial_tails(probs) < alpha)
    return int(enough[0]) if enough.size else None
