"""Rows of one probe that stand together: told apart by their neighbours, not by a table of names.

Hits and labels mostly stand probe by probe, in the order of the calls. Then it is enough to compare
each name with the one above it (the same object nearly always, so no letter is read), and to look
up one name per block instead of one per row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from memeval.scoring.measures import Ints
from memeval.textcolumns import Objects
from memeval.words import clean

__all__ = ["Blocks", "blocks", "named", "numbers", "spread"]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Neighbouring rows with the same keys.

    Attributes
    ----------
    start, length : ndarray of int64
        First row and number of rows of each block.
    """

    start: Ints
    length: Ints


def blocks(*keys: Objects | Ints) -> Blocks:
    """Blocks of rows that have all keys in common with the row before.

    Examples
    --------
    >>> found = blocks(np.array(["p", "p", "q", "p"], dtype=object))
    >>> found.start.tolist(), found.length.tolist()
    ([0, 2, 3], [2, 1, 1])
    """
    n = len(keys[0])
    new = np.ones(n, dtype=np.bool_)
    new[1:] = False
    for key in keys:
        new[1:] |= (key[1:] != key[:-1]).astype(np.bool_)
    start = np.flatnonzero(new)
    return Blocks(start, np.diff(start, append=n))


def numbers(names: list[Any], known: Mapping[str, int]) -> Ints:
    """Number of each name, -1 for one that is not known.

    Parameters
    ----------
    names : list
        Names, or NA; half characters in them may stand as they came.
    known : mapping of str to int
        The numbers 0, 1, 2 ... of the known names, in this order.

    Examples
    --------
    >>> numbers(["q", "x"], {"p": 0, "q": 1}).tolist()
    [1, -1]
    """
    if len(names) == len(known) and names == list(known):
        return np.arange(len(names), dtype=np.int64)
    found = np.fromiter(map(known.get, names, repeat(-1)), dtype=np.int64, count=len(names))
    for missed in np.flatnonzero(found < 0).tolist():  # known names have no half characters
        if isinstance(names[missed], str):
            found[missed] = known.get(clean(names[missed]), -1)
    return found


def named(name: object) -> str:
    """A name as an error tells it, without half characters."""
    return repr(clean(name) if isinstance(name, str) else name)


def spread(start: Ints, length: Ints) -> Ints:
    """Rows of several stretches, one stretch after the other.

    Examples
    --------
    >>> spread(np.array([5, 0]), np.array([3, 2])).tolist()
    [5, 6, 7, 0, 1]
    """
    before = np.cumsum(length) - length
    rows: Ints = np.arange(int(length.sum())) + np.repeat(start - before, length)
    return rows
