"""Ranks of what is expected, found once and worth something at any cutoff.

Up to rank 16 the ranks that are met in an answer are the bits of one number, and what they are
worth is looked up; further down it is added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memeval.columns import conform
from memeval.errors import FrameError
from memeval.frames import PROBE, RESULTS
from memeval.scoring import measures
from memeval.scoring.measures import Answers, Floats, Ints
from memeval.showing import Shown

__all__ = ["Ranks"]

# Ranks that fit a code: the tables of 2^16 entries still fit the cache.
CODED = 16
MOST_K = 2**31 - 1
Codes = NDArray[np.int32]


class _Worth(NamedTuple):
    """What each code is worth: met ranks, the first of them, and their discounted gain."""

    n_met: Ints
    first_rank: Ints
    dcg: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Ranks(Shown):
    """Where the expected groups of each probe stand, whatever the cutoff.

    Made by `memeval.rank_expected`. Nothing here is to be changed.

    Attributes
    ----------
    probes : sequence of str, or range
        Names of the probes, or their numbers.
    n_returned, n_expected : ndarray of int64
        Hits, and expected groups, of each probe.
    rank : ndarray of int64
        Best rank of each expected group, probe after probe; 0 where none of it was returned.
    n_records, record_rank : ndarray of int64
        The same for the records that are expected; they differ where any-of groups are.
    scores : ndarray of float64 or None
        Scores of all hits, probe after probe.

    Examples
    --------
    >>> from memeval.rankings import rank_expected
    >>> ranks = rank_expected([["r3", "r1"], ["r9"]], [["r1"], []], scores=[[0.9, 0.4], [0.3]])
    >>> ranks.score(k=1, columns=["recall_any", "rr"])
       recall_any   rr
    0       False  0.0
    1        <NA>  NaN
    >>> ranks.score(k=2, columns=["rr", "ndcg", "abstained"], floor=0.35)
        rr     ndcg  abstained
    0  0.5  0.63093       <NA>
    1  NaN      NaN       True
    """

    probes: Sequence[str] | range
    n_returned: Ints
    n_expected: Ints
    rank: Ints
    n_records: Ints
    record_rank: Ints
    scores: Floats | None = None

    def score(
        self, k: int = 5, *, columns: Sequence[str] | None = None, floor: float | None = None
    ) -> pd.DataFrame:
        """Score all probes at a cutoff.

        Parameters
        ----------
        k : int
            Cutoff of all probes.
        columns : sequence of str, optional
            Columns of the results that are wanted, in this order, and nothing else is worked out.
            Without them: all that ranks can tell.
        floor : float, optional
            Hits that score worse are dropped first; one that scores exactly this is kept.

        Returns
        -------
        pandas.DataFrame
            A row per probe, columns with the dtypes and meaning of `memeval.score`: ``probe``,
            ``kind``, ``k``, ``n_expected``, ``n_returned``, ``recall_all``, ``recall_any``,
            ``recall_fraction``, ``precision``, ``first_rank``, ``rr``, ``ndcg``, ``abstained``.

        Raises
        ------
        FrameError
            If k is below 1, a column is none of these, or there is a floor and no scores.
        """
        wanted = chosen(columns, TOLD)
        found = measures.columns(self.answers(k, floor=floor), wanted)
        if "probe" in wanted:
            found["probe"] = named(self.probes)
        index = pd.RangeIndex(len(self.n_returned))
        return pd.DataFrame({name: found[name] for name in wanted}, index=index, copy=False)

    def answers(self, k: int, *, floor: float | None = None) -> Answers:
        """What is found at a cutoff, as arrays: what `score` makes its columns from."""
        k = checked_k(k)
        n = len(self.n_returned)
        kept = self.n_returned if floor is None else self._kept(floor)
        at = int(min(k, self.n_returned.max(initial=1)))
        cut = None if floor is None else np.minimum(kept, at)
        if at <= CODED:
            mask = (1 << at) - 1 if cut is None else (1 << cut.astype(np.int32)) - 1
            code = self._codes & mask
            n_met, first_rank, dcg = (table[code] for table in _worth(at))
            n_relevant = n_met
            if self._has_groups:
                n_relevant = _worth(at).n_met[self._record_codes & mask]
        else:
            owner, rank = _within(self._met, at, cut)
            n_met, first_rank, dcg = measures.gains_in_order(owner, rank, n)
            n_relevant = n_met
            if self._has_groups:
                n_relevant = measures.count(_within(self._records_met, at, cut)[0], n)
        yes, none = np.broadcast_to(np.True_, (n,)), np.broadcast_to(np.int64(0), (n,))
        return Answers(
            k=np.broadcast_to(np.int64(k), (n,)),
            asked=yes,
            ok=yes,
            n_expected=self.n_expected,
            n_met=n_met,
            n_relevant=n_relevant,
            first_rank=first_rank,
            dcg=dcg,
            n_returned=kept,
            n_leaked=none,
            n_contract=none,
        )

    @property
    def _has_groups(self) -> bool:
        return self.record_rank is not self.rank

    @cached_property
    def _codes(self) -> Codes:
        return _coded(self.rank, self.n_expected)

    @cached_property
    def _record_codes(self) -> Codes:
        return _coded(self.record_rank, self.n_records)

    @cached_property
    def _met(self) -> tuple[Ints, Ints]:
        return _sorted(self.rank, self.n_expected)

    @cached_property
    def _records_met(self) -> tuple[Ints, Ints]:
        return _sorted(self.record_rank, self.n_records)

    def _kept(self, floor: float) -> Ints:
        """Hits of each probe that reach a floor: the first ones, since scores never rise."""
        if self.scores is None:
            raise FrameError("floor: found no scores; give them to rank_expected as scores=")
        number = isinstance(floor, int | float | np.number) and not isinstance(floor, bool)
        if not number or np.isnan(floor):
            raise FrameError(f"floor: found {floor!r:.40}, wanted a number; leave it out for none")
        if self._by_place is None:
            return _sums(self.scores >= floor, self.n_returned)
        kept = np.add.reduce(self._by_place >= floor, axis=0, dtype=np.uint8)
        return np.asarray(kept, dtype=np.int64)

    @cached_property
    def _by_place(self) -> Floats | None:
        """Scores with a row per place, where all answers are short and of one length."""
        n = len(self.n_returned)
        length = int(self.n_returned.max(initial=0))
        if self.scores is None or not 0 < length <= 255 or len(self.scores) < n * length:
            return None
        return np.ascontiguousarray(self.scores.reshape(n, length).T)


_UNTOLD = ("n_leaked", "n_contract")
# Columns of the results that follow from ranks alone.
TOLD = tuple(
    column.name
    for column in RESULTS
    if column.name == "probe" or column.name in measures.COLUMNS and column.name not in _UNTOLD
)


def named(probes: Sequence[str] | range) -> pd.Series:
    """Names of the probes as the column that the results have."""
    if isinstance(probes, range):
        return pd.Series(list(map(str, probes)), dtype="str")
    return conform(pd.DataFrame({"probe": probes}), (PROBE,))["probe"]


def chosen(columns: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Names of the wanted columns, checked; all that are known unless given."""
    if columns is None:
        return list(known)
    listed = [columns] if isinstance(columns, str) else list(columns)
    odd = [name for at, name in enumerate(listed) if name not in known or name in listed[:at]]
    if isinstance(columns, str) or odd:
        what = repr(columns) if isinstance(columns, str) else f"{odd[0]!r:.60}"
        raise FrameError(
            f"columns: found {what}, wanted a list with some of {', '.join(known)}, each once"
        )
    return listed


def checked_k(k: int) -> int:
    """Refuse what is no cutoff."""
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or not 1 <= k <= MOST_K:
        raise FrameError(f"k is {k!r:.40}, wanted a whole number from 1; give the cutoff")
    return int(k)


@lru_cache(maxsize=CODED)
def _worth(k: int) -> _Worth:
    """Tables over all codes of k ranks; bit 0 is rank 1.

    Each rank doubles the tables, so a gain is added to those of the ranks before it, from the
    first rank on: the sum of trec_eval to the last bit.
    """
    n_met, first = np.zeros((2, 1), dtype=np.int64)
    dcg = np.zeros(1)
    for rank, gain in enumerate(measures.discounts(k), 1):
        n_met = np.concatenate([n_met, n_met + 1])
        first = np.concatenate([first, np.where(first > 0, first, rank)])
        dcg = np.concatenate([dcg, dcg + gain])
    return _Worth(n_met, first, dcg)


def _coded(rank: Ints, n: Ints) -> Codes:
    """One number per probe, with a bit for every rank up to 16 that is met."""
    bits = rank.astype(np.int32)
    bits[bits > CODED] = 0
    np.left_shift(1, bits, out=bits)
    bits >>= 1
    return _sums(bits, n).astype(np.int32)


def _sums(values: NDArray[np.generic], n: Ints) -> Ints:
    """Sum of each run of `n` values; `np.add.reduceat` alone gives nonsense for empty ones."""
    total = np.zeros(len(n), dtype=np.int64)
    some = n > 0
    if some.any():
        start = np.cumsum(n) - n
        total[some] = np.add.reduceat(values, start[some], dtype=np.int64)
    return total


def _sorted(rank: Ints, n: Ints) -> tuple[Ints, Ints]:
    """Probe and rank of what was met, sorted by both."""
    owner = np.repeat(np.arange(len(n)), n)[rank > 0]
    met = rank[rank > 0]
    order = np.lexsort((met, owner))
    return owner, met[order]


def _within(met: tuple[Ints, Ints], k: int, cut: Ints | None) -> tuple[Ints, Ints]:
    owner, rank = met
    kept = rank <= (k if cut is None else cut[owner])
    return owner[kept], rank[kept]
