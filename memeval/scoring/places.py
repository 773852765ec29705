"""Where expected ids stand in rankings: the one loop over all ids.

The expected ids are put behind the returned ones and looked for in that list: always found, and a
place past the returned ones is a miss. No id is hashed, and the first of several places counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import concat, countOf
from typing import Any, cast

import numpy as np

from memeval.scoring.measures import Ints

Sequences = list[Sequence[Any]] | list[list[Any]]
# So many rankings fit the processor's cache together with their ids.
BLOCK = 512
# Up to so many expected ids a search each is faster than one walk with a dict.
FEW = 16


@dataclass(frozen=True)
class Places:
    """Where the expected ids of all probes stand.

    Attributes
    ----------
    n_returned, n_wanted : ndarray of int64
        Hits and expected ids of each probe.
    rank : ndarray of int64
        Rank of each expected id in the top k, probe after probe; 0 where it is missed.
    twice : int
        First probe that expects an id twice; -1 for none.
    n_different : ndarray of int64
        Different hits in the top k of each probe; empty unless asked for.
    """

    n_returned: Ints
    n_wanted: Ints
    rank: Ints
    twice: int
    n_different: Ints


def find_places(
    returned: Sequences,
    wanted: Sequences,
    k: int,
    *,
    trusted: bool = False,
    different: bool = False,
) -> Places:
    """Find the expected ids of each probe.

    Parameters
    ----------
    returned, wanted : list of sequence of str
        Rankings and expected ids, a list per probe.
    k : int
        Places that are looked at.
    trusted : bool
        Whether the lists are known to be lists or tuples, of texts or None. If not, they are
        looked through in passing, which accepts nothing but lists of texts.
    different : bool
        Whether to count the different hits.

    Raises
    ------
    TypeError
        If they are not trusted and something else than a list of texts is among them.
    """
    n = len(returned)
    n_returned, n_wanted = np.zeros((2, n), dtype=np.int64)
    n_different = np.zeros(n if different else 0, dtype=np.int64)
    found = []
    for start in range(0, n, BLOCK):
        block = slice(start, start + BLOCK)
        rankings, ids = (_lists(lists[block], trusted) for lists in (returned, wanted))
        n_returned[block] = _lengths(rankings)
        n_wanted[block] = _lengths(ids)
        if n_returned[block].max() > k:
            if not trusted:
                deque(map("".join, rankings), maxlen=0)
            rankings = [ranking[:k] for ranking in rankings]
        few = bool(n_wanted[block].max() <= FEW)
        found.append(np.array(list(_behind(rankings, ids, few, trusted)), dtype=np.int64))
        if different:
            n_different[block] = list(map(len, map(set, rankings)))
    place = np.concatenate([np.zeros(0, dtype=np.int64), *found])
    found.clear()
    twice = _first_twice(place, n_wanted)
    missed = place >= np.repeat(np.minimum(n_returned, k), n_wanted)
    place += 1
    place[missed] = 0
    return Places(n_returned, n_wanted, place, twice, n_different)


def _lists(block: Sequences, trusted: bool) -> list[list[Any]]:
    if countOf(map(type, block), list) == len(block):
        return cast("list[list[Any]]", block)
    if not trusted:
        raise TypeError("something that is no list")
    return list(map(list, block))


def _lengths(lists: list[list[Any]]) -> list[int]:
    return list(map(len, lists))


def _behind(
    rankings: list[list[Any]], wanted: list[list[Any]], few: bool, trusted: bool
) -> list[int]:
    """Place of each expected id in its ranking with the expected ids behind it."""
    joined = zip(map(concat, rankings, wanted), wanted, strict=True)
    if not few:
        if not trusted:
            deque(map("".join, map(concat, rankings, wanted)), maxlen=0)
        return [at for ids, want in joined for at in _walked(ids, want)]
    if trusted:
        return [ids.index(record) for ids, want in joined for record in want]
    # To join is the cheapest way to have every id looked at; anything but a text is a TypeError.
    all_texts = "".join
    return [
        ids.index(record) for ids, want in joined if all_texts(ids) is not None for record in want
    ]


def _walked(ids: Sequence[Any], wanted: list[Any]) -> Iterator[int]:
    if len(wanted) <= FEW:
        return map(ids.index, wanted)
    first = dict.fromkeys(wanted, -1)
    for at, record in enumerate(ids):
        if first.get(record) == -1:
            first[record] = at
    return map(first.__getitem__, wanted)


def _first_twice(place: Ints, n_wanted: Ints) -> int:
    """First probe with two ids at one place, which are then the same id; -1 for none."""
    most = int(n_wanted.max(initial=0))
    start = np.cumsum(n_wanted) - n_wanted
    if most > FEW:
        return _first_twice_of_many(place, n_wanted)
    twice = len(n_wanted)
    for later in range(1, most):
        probes = np.flatnonzero(n_wanted > later)
        at = start[probes]
        for earlier in range(later):
            same = np.flatnonzero(place[at + earlier] == place[at + later])
            twice = min(twice, *probes[same[:1]].tolist(), len(n_wanted))
    return twice if twice < len(n_wanted) else -1


def _first_twice_of_many(place: Ints, n_wanted: Ints) -> int:
    owner = np.repeat(np.arange(len(n_wanted)), n_wanted)
    order = np.lexsort((place, owner))
    same = (np.diff(place[order]) == 0) & (np.diff(owner[order]) == 0)
    return int(owner[order][np.argmax(same)]) if same.any() else -1
