"""Where the judged records stand in the answers.

A few ids are looked for in a short list: comparing them one by one is faster than hashing the
whole answer, and no table of all ids is ever made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from memeval.scoring import measures
from memeval.scoring.blocks import spread
from memeval.scoring.judging import Judged
from memeval.scoring.measures import Bools, Floats, Ints, count
from memeval.scoring.ordered import Calls, Hits
from memeval.textcolumns import Objects

__all__ = ["Found", "places", "seek"]

_FEW = 16
"""Ids of a probe that are looked for one by one; for more a dict is faster."""
_BLOCK = 512
"""Answers that are opened together: so many fit the processor's cache."""

_Bounds = tuple[list[int], ...]


@dataclass(frozen=True)
class Found:
    """Judged records in the answers: arrays of one length, a place per call and label.

    Attributes
    ----------
    call, label : ndarray of int64
        Row of the call, and row of the label in `memeval.scoring.judging.Judged`.
    hit : ndarray of int64
        Row of the first hit with that record; of no meaning where there is none.
    in_answer, in_top : ndarray of bool
        Whether the record stands in the whole answer, and in its top k.
    has_twins : bool
        Whether two labels of a probe are of one record.
    """

    call: Ints
    label: Ints
    hit: Ints
    in_answer: Bools
    in_top: Bools
    has_twins: bool


def seek(hits: Hits, judged: Judged, calls: Calls) -> Found:
    """Look for every judged record of a probe in every answer to it."""
    start, n = judged.start[calls.at], judged.n[calls.at]
    place = places(hits.record, hits.n, judged.record, start, n)
    call = np.repeat(np.arange(len(n)), n)
    return Found(
        call=call,
        label=spread(start, n),
        hit=hits.start[call] + place,
        in_answer=place < hits.n[call],
        in_top=place < hits.n_top[call],
        has_twins=_has_twins(call, place, int(n.max(initial=0))),
    )


def _has_twins(call: Ints, place: Ints, most: int) -> bool:
    """Whether two sought ids of a call stand at one place, and so are equal."""
    key = call * (int(place.max(initial=0)) + 1) + place
    if most > _FEW:
        key.sort()
    steps = range(1, 2 if most > _FEW else most)
    return any(bool((key[step:] == key[:-step]).any()) for step in steps)


def places(answers: Objects, lengths: Ints, sought: Objects, start: Ints, n: Ints) -> Ints:
    """First place, from 0, of each sought id in its answer; past its end when missed.

    Parameters
    ----------
    answers : ndarray of object
        Ids of all answers, one answer after the other.
    lengths : ndarray of int64
        Length of each answer.
    sought : ndarray of object
        Ids to look for.
    start, n : ndarray of int64
        Which of them to look for in each answer: the first, and how many.

    Returns
    -------
    ndarray of int64
        A place per answer and sought id.

    Examples
    --------
    >>> answers, sought = np.array(["a", "b", "a"], object), np.array(["b", "x"], object)
    >>> places(answers, np.array([3]), sought, np.array([0]), np.array([2])).tolist()
    [1, 4]
    """
    found: list[int] = []
    end, last = np.cumsum(lengths), start + n
    begin = end - lengths
    for at in range(0, len(lengths), _BLOCK):
        block = slice(at, at + _BLOCK)
        first_id, first_sought = begin[at], start[block].min()
        ids = answers[first_id : end[block][-1]].tolist()
        wanted = sought[first_sought : last[block].max()].tolist()
        bounds = (
            *((bound[block] - first_id).tolist() for bound in (begin, end)),
            *((bound[block] - first_sought).tolist() for bound in (start, last)),
        )
        find = _one_by_one if int(n[block].max()) <= _FEW else _by_dict
        found += find(ids, wanted, bounds)
    return np.array(found, dtype=np.int64)


def _one_by_one(ids: list[Any], wanted: list[str], bounds: _Bounds) -> list[int]:
    # With the sought ids behind the answer every one is found, and a miss lies past its end.
    return [
        behind.index(record)
        for begin, end, start, last in zip(*bounds, strict=True)
        for some in (wanted[start:last],)
        for behind in (ids[begin:end] + some,)
        for record in some
    ]


def _by_dict(ids: list[Any], wanted: list[str], bounds: _Bounds) -> list[int]:
    found: list[int] = []
    for begin, end, start, last in zip(*bounds, strict=True):
        some, length = wanted[start:last], end - begin
        back = range(length + len(some) - 1, length - 1, -1)
        first = dict(zip(reversed(some), back, strict=True))
        for place, record in enumerate(ids[begin:end]):
            if first.get(record, -1) >= length:
                first[record] = place
        found += map(first.__getitem__, some)
    return found


def gains(found: Found, hits: Hits, judged: Judged) -> tuple[Ints, Ints, Floats]:
    """Groups met in the top k of each call: how many, the first rank, the discounted gain."""
    met = found.in_top & judged.expected[found.label]
    call, hit = found.call[met], found.hit[met]
    if judged.are_plain:
        hit.sort()  # hits stand in the order of calls and ranks, and calls in their own
    else:
        key = call * (len(judged.group) + 1) + judged.group[found.label[met]]
        order = np.lexsort((hit, key))
        best = order[np.flatnonzero(np.diff(key[order], prepend=-1))]
        order = np.argsort(hit[best])
        call, hit = call[best][order], hit[best][order]
    return measures.gains_in_order(call, hits.rank[hit], len(hits.n))


def n_relevant(found: Found, hits: Hits, judged: Judged) -> Ints:
    """Distinct expected records in the top k of each call."""
    met = found.in_top & judged.expected[found.label]
    if judged.are_single:
        return count(found.call[met], len(hits.n))
    _, first = np.unique(found.hit[met], return_index=True)
    return count(found.call[met][first], len(hits.n))


def n_stale(found: Found, hits: Hits, judged: Judged) -> Ints:
    """Hits in the top k of each call that are stale; a record counts at each of its places."""
    met = np.flatnonzero(found.in_top & judged.stale[found.label])
    call, start = found.call[met], hits.start
    tops = zip(start[call].tolist(), (start + hits.n_top)[call].tolist(), strict=True)
    records = judged.record[found.label[met]].tolist()
    often = [
        hits.record[first:last].tolist().count(record)
        for (first, last), record in zip(tops, records, strict=True)
    ]
    return np.bincount(call, weights=often, minlength=len(hits.n)).astype(np.int64)
