"""The definitions on plain arrays: one answer a place, no tables, no ids.

`memeval.metrics.score` and `memeval.rankings.score_rankings` find out what stands at which rank;
what that is worth is said here, once, so that both give the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Answers:
    """What was found in each answer: arrays of one length.

    An answer whose search was not ok has an empty top k.

    Attributes
    ----------
    k : ndarray of int64
        Cutoff.
    asked : ndarray of bool
        Whether the probe could be asked at all; if not, everything about it is undefined.
    ok : ndarray of bool
        Whether the search, and the writing before it, succeeded.
    n_expected, n_met, n_relevant : ndarray of int64
        Expected groups; groups met in the top k; distinct expected records in the top k.
    first_rank : ndarray of int64
        Rank of the first met group, 0 for none.
    dcg : ndarray of float64
        Discounted gain of the met groups.
    n_returned, n_leaked, n_contract : ndarray of int64
        Hits, leaking records and broken contract checks of the whole answer.
    """

    k: Ints
    asked: Bools
    ok: Bools
    n_expected: Ints
    n_met: Ints
    n_relevant: Ints
    first_rank: Ints
    dcg: Floats
    n_returned: Ints
    n_leaked: Ints
    n_contract: Ints

    @property
    def positive(self) -> Bools:
        """Whether something is expected."""
        return self.n_expected > 0

    @property
    def passed(self) -> Bools:
        """Whether the answer is right: ok, no leak, contract kept, and found or abstained."""
        kept = self.ok & (self.n_leaked == 0) & (self.n_contract == 0)
        right = np.where(self.positive, self.n_met == self.n_expected, self.n_returned == 0)
        return np.asarray(kept & right, dtype=np.bool_)


def discounts(n: int) -> Floats:
    """Worth of a hit at the ranks 1 to `n`.

    Notes
    -----
    1 / log2(rank + 1), as trec_eval (and not 1 / log2(rank), which would not discount rank 2).

    Examples
    --------
    >>> discounts(3).round(4).tolist()
    [1.0, 0.6309, 0.5]
    """
    return np.array([1.0 / math.log2(rank + 1) for rank in range(1, n + 1)], dtype=np.float64)


def gains(answer: Ints, rank: Ints, n: int) -> tuple[Ints, Ints, Floats]:
    """Count, first rank and discounted gain of the groups met in each answer.

    Parameters
    ----------
    answer, rank : ndarray of int64
        A place each per met group: which answer, and the group's best rank; in any order.
    n : int
        Number of answers.

    Returns
    -------
    n_met, first_rank : ndarray of int64
        ``first_rank`` is 0 where nothing is met.
    dcg : ndarray of float64
        Added from the first rank on, so that it is the sum of trec_eval to the last bit.

    Examples
    --------
    >>> met, first, dcg = gains(np.array([0, 0]), np.array([3, 1]), 2)
    >>> met.tolist(), first.tolist(), dcg.tolist()
    ([2, 0], [1, 0], [1.5, 0.0])
    """
    order = np.lexsort((rank, answer))
    answer, rank = answer[order], rank[order]
    starts = np.flatnonzero(np.diff(answer, prepend=-1))
    first_rank = np.zeros(n, dtype=np.int64)
    first_rank[answer[starts]] = rank[starts]
    worth = discounts(int(rank.max(initial=0)))[rank - 1]
    dcg = np.bincount(answer, weights=worth, minlength=n).astype(np.float64)
    return count(answer, n), first_rank, dcg


def count(answer: Ints, n: int) -> Ints:
    """How often each of `n` answers is named."""
    return np.bincount(answer, minlength=n).astype(np.int64)


def ideal_dcg(n_expected: Ints, k: Ints) -> Floats:
    """Discounted gain of the best answer there can be: all expected groups first, cut at `k`.

    Examples
    --------
    >>> ideal_dcg(np.array([0, 1, 3]), np.array([5, 5, 2])).round(4).tolist()
    [0.0, 1.0, 1.6309]
    """
    filled = np.minimum(n_expected, k)
    table = np.concatenate([[0.0], np.cumsum(discounts(int(filled.max(initial=0))))])
    return np.asarray(table[filled], dtype=np.float64)


def columns(answers: Answers) -> dict[str, Any]:
    """Every column of the results that follows from what was found.

    Parameters
    ----------
    answers : Answers
        What was found.

    Returns
    -------
    dict of str to array
        ``kind``, ``recall_all``, ``recall_any``, ``recall_fraction``, ``precision``,
        ``first_rank``, ``rr``, ``ndcg``, ``abstained``, and the counts of `answers`.

    Notes
    -----
    With h of n expected groups met in the top k: recall_all = [h = n], recall_any = [h > 0],
    recall_fraction = h / n, rr = 1 / first rank, ndcg = DCG / ideal DCG. A store that merges two
    expected records into one can meet two groups at one rank; ndcg is kept at 1 then.
    """
    asked, positive = answers.asked, answers.asked & answers.positive
    found, first = answers.n_met, answers.first_rank
    expected = np.maximum(answers.n_expected, 1)
    ideal = np.where(answers.positive, ideal_dcg(answers.n_expected, answers.k), 1.0)
    silent = answers.ok & (answers.n_returned == 0)
    return {
        "kind": np.where(answers.positive, "positive", "negative"),
        "k": answers.k,
        "n_expected": answers.n_expected,
        "n_returned": answers.n_returned,
        "n_leaked": answers.n_leaked,
        "n_contract": answers.n_contract,
        "recall_all": _booleans(found == answers.n_expected, positive),
        "recall_any": _booleans(found > 0, positive),
        "recall_fraction": np.where(positive, found / expected, np.nan),
        "precision": np.where(positive, answers.n_relevant / answers.k, np.nan),
        "first_rank": pd.arrays.IntegerArray(first, ~(positive & (first > 0))),
        "rr": np.where(positive, np.where(first > 0, 1.0 / np.maximum(first, 1), 0.0), np.nan),
        "ndcg": np.where(positive, np.minimum(1.0, answers.dcg / ideal), np.nan),
        "abstained": _booleans(silent, asked & ~answers.positive),
    }


def _booleans(values: Bools, defined: Bools) -> pd.arrays.BooleanArray:
    return pd.arrays.BooleanArray(np.asarray(values, dtype=np.bool_), ~defined)
