"""The definitions on plain arrays: one answer a place, no tables, no ids.

`memeval.metrics.score` and `memeval.rankings.score_rankings` find out what stands at which rank;
what that is worth is said here, once, so that both give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memeval.frames import KINDS

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
    return gains_in_order(answer[order], rank[order], n)


def gains_in_order(answer: Ints, rank: Ints, n: int) -> tuple[Ints, Ints, Floats]:
    """`gains` of places that are sorted by answer and rank already."""
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


def columns(answers: Answers, wanted: Collection[str] | None = None) -> dict[str, Any]:
    """Every column of the results that follows from what was found.

    Parameters
    ----------
    answers : Answers
        What was found.
    wanted : collection of str, optional
        Columns to work out; all unless given. Names that are not among them are left alone.

    Returns
    -------
    dict of str to array
        ``kind``, ``recall_all``, ``recall_any``, ``recall_fraction``, ``precision``,
        ``first_rank``, ``rr``, ``ndcg``, ``abstained``, and the counts of `answers`, each of the
        dtype that the results have.

    Notes
    -----
    With h of n expected groups met in the top k: recall_all = [h = n], recall_any = [h > 0],
    recall_fraction = h / n, rr = 1 / first rank, ndcg = DCG / ideal DCG. A store that merges two
    expected records into one can meet two groups at one rank; ndcg is kept at 1 then.
    """
    positive = answers.asked & answers.positive
    return {
        name: column(answers, positive)
        for name, column in COLUMNS.items()
        if wanted is None or name in wanted
    }


def _kind(answers: Answers, positive: Bools) -> pd.Categorical:
    return pd.Categorical.from_codes(np.where(answers.positive, 0, 1).astype(np.int8), dtype=_KIND)


def _recall_all(answers: Answers, positive: Bools) -> pd.arrays.BooleanArray:
    return _booleans(answers.n_met == answers.n_expected, positive)


def _recall_any(answers: Answers, positive: Bools) -> pd.arrays.BooleanArray:
    return _booleans(answers.n_met > 0, positive)


def _recall_fraction(answers: Answers, positive: Bools) -> Floats:
    values = np.maximum(answers.n_expected, 1.0)
    return _where(positive, np.divide(answers.n_met, values, out=values))


def _precision(answers: Answers, positive: Bools) -> Floats:
    return _where(positive, answers.n_relevant / answers.k)


def _first_rank(answers: Answers, positive: Bools) -> pd.arrays.IntegerArray:
    return pd.arrays.IntegerArray(answers.first_rank, ~(positive & (answers.first_rank > 0)))


def _rr(answers: Answers, positive: Bools) -> Floats:
    first = answers.first_rank
    values = np.maximum(first, 1.0)
    return _where(positive, np.divide(first > 0, values, out=values))


def _ndcg(answers: Answers, positive: Bools) -> Floats:
    values = ideal_dcg(answers.n_expected, answers.k)
    values[values == 0.0] = 1.0
    np.divide(answers.dcg, values, out=values)
    return _where(positive, np.minimum(values, 1.0, out=values))


def _abstained(answers: Answers, positive: Bools) -> pd.arrays.BooleanArray:
    silent = answers.ok & (answers.n_returned == 0)
    return _booleans(silent, answers.asked & ~answers.positive)


def _where(positive: Bools, values: Floats) -> Floats:
    """Make what a negative probe has no value for NaN; `values` is overwritten."""
    if not positive.all():
        values[~positive] = np.nan
    return values


def _booleans(values: Bools, defined: Bools) -> pd.arrays.BooleanArray:
    return pd.arrays.BooleanArray(np.asarray(values, dtype=np.bool_), ~defined)


_KIND = pd.CategoricalDtype(list(KINDS))
# How each column comes from the answers and from which of them are positive. Counts are copied: a
# frame is the user's to change, and answers may share their arrays.
COLUMNS: Mapping[str, Callable[[Answers, Bools], Any]] = {
    "ndcg": _ndcg,  # first, because it takes the most room in passing
    "kind": _kind,
    "k": lambda answers, _: np.array(answers.k),
    "n_expected": lambda answers, _: np.array(answers.n_expected),
    "n_returned": lambda answers, _: np.array(answers.n_returned),
    "n_leaked": lambda answers, _: np.array(answers.n_leaked),
    "n_contract": lambda answers, _: np.array(answers.n_contract),
    "recall_all": _recall_all,
    "recall_any": _recall_any,
    "recall_fraction": _recall_fraction,
    "precision": _precision,
    "first_rank": _first_rank,
    "rr": _rr,
    "abstained": _abstained,
}
