"""The shuffled store: what the real store returned, in random order.

How well luck alone would have ordered the answers of a run, in closed form for one answer and
exactly (or by seeded draws) for the mean over a run. Rule C4 of the controls reads it. The names
are handed on by `memeval.stats.laws`, which holds the laws of the random store.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "first_rank_pmf",
    "shuffled_mrr_critical",
    "shuffled_mrr_tail",
    "shuffled_ndcg",
    "shuffled_rr",
]

Floats = NDArray[np.float64]
Counts = Sequence[int] | NDArray[np.integer[Any]]
Answers = list[tuple[tuple[int, int], int]]

_DRAWS = 20_000
_TIE = 1e-12
# Cell updates of an exact convolution that still take well under a second.
_EXACT_WORK = 200_000_000


def check_count(name: str, value: int, low: int, high: int | None = None) -> int:
    """`value` as a whole number of `low` to `high`, else a `ValueError` that names it."""
    number = operator.index(value)
    if number < low or (high is not None and number > high):
        wanted = f"{low} or more" if high is None else f"{low} to {high}"
        raise ValueError(f"{name}: found {number}, wanted {wanted}")
    return number


def check_alpha(alpha: float) -> None:
    """Refuse a level outside 0 to 1."""
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha: found {alpha!r}, wanted a share between 0 and 1")


def _first_ranks(r: int, e: int, last: int) -> Floats:
    """P(first expected at rank j) for j = 1 .. min(last, r-e+1), by the ratio of neighbours."""
    rank = np.arange(1, min(last, r - e + 1), dtype=np.float64)
    steps = (r - rank - e + 1) / (r - rank)
    ratios: Floats = np.concatenate(([e / r], steps))
    return np.multiply.accumulate(ratios)


def expected_rr(r: int, e: int, last: int) -> float:
    """Mean of 1 / rank of the first of `e` expected among `r` shuffled, cut after `last`."""
    chances = _first_ranks(r, e, last)
    return float(chances @ (1.0 / np.arange(1, chances.size + 1)))


def sum_of_discounts(depth: int) -> float:
    """Sum of 1 / log2(j + 1) over the ranks j = 1 .. `depth`."""
    return float((1.0 / np.log2(np.arange(2, depth + 2))).sum())


def first_rank_pmf(r: int, e: int) -> Floats:
    """Where the first expected record stands after a shuffle.

    Parameters
    ----------
    r : int
        Records returned.
    e : int
        Expected records among them, 1 to `r`.

    Returns
    -------
    ndarray of float64, shape (r - e + 1,)
        P(first expected at rank j) for j = 1, 2, ...; sums to 1.

    Raises
    ------
    ValueError
        `e` outside 1 to `r`.

    Notes
    -----
    C(r-j, e-1) / C(r, e).

    Examples
    --------
    >>> first_rank_pmf(4, 2).round(4).tolist()
    [0.5, 0.3333, 0.1667]
    """
    r = check_count("r", r, 1)
    e = check_count("e", e, 1, r)
    return _first_ranks(r, e, r)


def shuffled_rr(r: int, e: int) -> float:
    """Mean reciprocal rank of one answer in random order.

    Parameters
    ----------
    r : int
        Records returned (within the cutoff).
    e : int
        Expected records among them, 0 to `r`.

    Returns
    -------
    float
        0 to 1; 0 where nothing expected was returned.

    Raises
    ------
    ValueError
        `e` outside 0 to `r`.

    Notes
    -----
    Sum of `first_rank_pmf` over j, divided by j; for e = 1 that is H_r / r.

    Examples
    --------
    >>> [round(shuffled_rr(r, 1), 3) for r in (1, 2, 3, 4, 5)]
    [1.0, 0.75, 0.611, 0.521, 0.457]
    """
    r = check_count("r", r, 0)
    e = check_count("e", e, 0, r)
    return expected_rr(r, e, r) if e else 0.0


def shuffled_ndcg(r: int, e: int, k: int, m: int) -> float:
    """Mean nDCG at `k` of one answer in random order.

    Parameters
    ----------
    r : int
        Records returned and shuffled. Places after `k` add nothing.
    e : int
        Expected records among them, 0 to `r`.
    k : int
        Cutoff, 1 or more.
    m : int
        All expected records of the probe, found or not; at least `e`.

    Returns
    -------
    float
        0 to 1.

    Raises
    ------
    ValueError
        `e` outside 0 to `r`, `m` below 1 or below `e`, `k` below 1.

    Notes
    -----
    (e / r) times the sum of 1 / log2(j + 1) over j = 1 .. min(r, k), over the ideal sum up to
    min(m, k).

    Examples
    --------
    >>> round(shuffled_ndcg(5, 1, 5, 1), 4)
    0.5897
    """
    r, k = check_count("r", r, 0), check_count("k", k, 1)
    e = check_count("e", e, 0, r)
    m = check_count("m", m, max(1, e))
    if e == 0:
        return 0.0
    return e / r * sum_of_discounts(min(r, k)) / sum_of_discounts(min(m, k))


def _answers(returned: Counts, found: Counts, n: int) -> Answers:
    """Distinct (returned, found) pairs with their counts, in a fixed order."""
    pairs = [
        (check_count("returned", r, 0), check_count("found", e, 0, operator.index(r)))
        for r, e in zip(returned, found, strict=True)
    ]
    check_count("n", n, max(1, len(pairs)))
    return sorted(Counter(pair for pair in pairs if pair[1] > 0).items())


def _lattice(answers: Answers) -> tuple[int, int]:
    """Step 1/D on which every sum of reciprocal ranks lies, and the work of an exact sum."""
    deepest = max((r - e + 1 for (r, e), _ in answers), default=1)
    step = math.lcm(*range(1, deepest + 1))
    n_answers = sum(count for _, count in answers)
    return step, n_answers * n_answers * step * deepest // 2


def _exact_sum(answers: Answers, step: int) -> tuple[Floats, Floats]:
    law = np.ones(1)
    for (r, e), count in answers:
        chances = first_rank_pmf(r, e)
        for _ in range(count):
            longer = np.zeros(law.size + step)
            for rank, chance in enumerate(chances, start=1):
                start = step // rank
                longer[start : start + law.size] += chance * law
            law = longer
    at = np.flatnonzero(law)
    return at / step, np.cumsum(law[at][::-1])[::-1]


def _drawn_sum(answers: Answers, seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    sums = np.zeros(_DRAWS)
    for (r, e), count in answers:
        chances = first_rank_pmf(r, e)
        places = rng.multinomial(count, chances, size=_DRAWS)
        sums += places @ (1.0 / np.arange(1, chances.size + 1))
    values, counts = np.unique(sums.round(12), return_counts=True)
    reached = np.cumsum(counts[::-1])[::-1].astype(np.float64)
    # The best order is possible even where no draw met it.
    best = float(sum(count for _, count in answers))
    if values[-1] < best:
        values, reached = np.append(values, best), np.append(reached, 0.0)
    return values, (reached + 1.0) / (_DRAWS + 1.0)


def _shuffled_sum(returned: Counts, found: Counts, n: int, seed: int) -> tuple[Floats, Floats]:
    """Values that the sum of RR takes after a shuffle, rising, with P(sum >= value)."""
    answers = _answers(returned, found, n)
    step, work = _lattice(answers)
    return _exact_sum(answers, step) if work <= _EXACT_WORK else _drawn_sum(answers, seed)


def shuffled_mrr_tail(
    returned: Counts, found: Counts, n: int, observed: float, seed: int = 0
) -> float:
    """Probability that shuffled answers reach a mean RR: the answer to "was it luck?".

    Parameters
    ----------
    returned : sequence or array of int
        Records returned (within the cutoff), one entry a probe.
    found : sequence or array of int
        Expected records among them, in the same order. A probe with 0 adds 0 to the mean.
    n : int
        Positive probes, over which the mean runs; at least ``len(returned)``.
    observed : float
        The real mean RR.
    seed : int
        Of the draws, where they are needed.

    Returns
    -------
    float
        0 to 1. The same input gives the same value.

    Raises
    ------
    ValueError
        Sequences of unequal length, `found` above `returned`, `n` below their length, or
        `observed` NaN.

    Notes
    -----
    Exact where it is cheap: reciprocal ranks down to rank d are multiples of 1 / lcm(1..d), and
    the laws of the probes are convolved on that lattice. That covers about 1100 probes with a
    find at a cutoff of 5 and about 125 at 10. Beyond, 20,000 seeded draws, with (1 + number at
    or above) / (1 + draws). Values within 1e-12 of `observed` count as reaching it.

    Examples
    --------
    >>> round(shuffled_mrr_tail([2, 2], [1, 1], n=2, observed=1.0), 4)
    0.25
    """
    if math.isnan(observed):
        raise ValueError("observed: found NaN, wanted the mean RR of the run")
    values, tails = _shuffled_sum(returned, found, n, seed)
    first = int(np.searchsorted(values, (observed - _TIE) * n, side="left"))
    if first == 0:
        return 1.0
    return min(1.0, float(tails[first])) if first < values.size else 0.0


def shuffled_mrr_critical(
    returned: Counts, found: Counts, n: int, alpha: float = 0.01, seed: int = 0
) -> float:
    """Smallest mean RR that a shuffle reaches with a probability of at most `alpha`.

    Parameters
    ----------
    returned, found, n, seed
        As in `shuffled_mrr_tail`.
    alpha : float
        Between 0 and 1.

    Returns
    -------
    float
        The bound that a real mean RR must reach, a value that these answers can take; NaN where
        even the best order of them is not unlikely enough.

    Raises
    ------
    ValueError
        As in `shuffled_mrr_tail`, or `alpha` outside 0 to 1.

    Examples
    --------
    >>> shuffled_mrr_critical([2] * 8, [1] * 8, n=8)
    1.0
    >>> shuffled_mrr_critical([2] * 3, [1] * 3, n=3)
    nan
    """
    check_alpha(alpha)
    values, tails = _shuffled_sum(returned, found, n, seed)
    enough = np.flatnonzero(tails <= alpha)
    return float(values[enough[0]]) / n if enough.size else math.nan
