"""How often each value stands in a column: all that a figure needs of it, and mergeable exactly.

Most columns hold few values, however many the probes: those of a recall at 5 are six. A tally of
them stays small and loses nothing, so a mean, an exact bootstrap or a quantile is the same, bit for
bit, as from the column itself. Where all values differ, as times do, a tally is 16 bytes a probe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["Merging", "Tallies", "Tally", "column_of", "tallies_of", "tally"]


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Distinct values, and how often each was met.

    Attributes
    ----------
    values : ndarray of float64 or complex128
        Rising, none of them NaN and no negative zero.
    counts : ndarray of int64
        From 1.
    """

    values: NDArray[Any]
    counts: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.values.nbytes + self.counts.nbytes


Tallies = dict[str, Tally]


def tally(column: pd.Series) -> Tally:
    """Count the values of a column; NA is left out.

    Examples
    --------
    >>> made = tally(pd.Series([0.5, 1.0, None, 0.5]))
    >>> made.values.tolist(), made.counts.tolist()
    ([0.5, 1.0], [2, 1])
    """
    known = column.dropna()
    kind = np.complex128 if known.dtype.kind == "c" else np.float64
    values, counts = np.unique(known.to_numpy(kind) + 0, return_counts=True)
    return Tally(values, counts.astype(np.int64))


def tallies_of(columns: Mapping[str, pd.Series]) -> Tallies:
    """A tally of each column."""
    return {name: tally(column) for name, column in columns.items()}


def column_of(counted: Tally) -> pd.Series:
    """A column with these values: that which was counted, up to its order.

    Examples
    --------
    >>> column_of(tally(pd.Series([2.0, 1.0, 2.0]))).tolist()
    [1.0, 2.0, 2.0]
    """
    return pd.Series(np.repeat(counted.values, counted.counts))


def merged(one: Tallies, other: Tallies) -> Tallies:
    """Tallies of all that either has counted, the same in whatever order they are merged.

    Examples
    --------
    >>> halves = [tallies_of({"rr": pd.Series(values)}) for values in ([1.0, 0.5], [0.5])]
    >>> merged(*halves)["rr"].counts.tolist()
    [2, 1]
    """
    both = {name: [side[name] for side in (one, other) if name in side] for name in one | other}
    return {name: _merged(parts) for name, parts in both.items()}


def _merged(parts: list[Tally]) -> Tally:
    values, place = np.unique(np.concatenate([part.values for part in parts]), return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, place, np.concatenate([part.counts for part in parts]))
    return Tally(values, counts)


class Merging:
    """Merges tallies as they come, those of like size with each other.

    So each value is sorted about log2(parts) times, not once for each part that follows.

    Examples
    --------
    >>> merging = Merging()
    >>> for rank in (1.0, 0.5, 1.0):
    ...     merging.add(tallies_of({"rr": pd.Series([rank])}))
    >>> merging.whole()["rr"].counts.tolist()
    [1, 2]
    """

    def __init__(self) -> None:
        self._piles: list[tuple[int, Tallies]] = []

    def add(self, part: Tallies) -> None:
        """Take in the tallies of one more part."""
        height = 0
        while self._piles and self._piles[-1][0] == height:
            part = merged(self._piles.pop()[1], part)
            height += 1
        self._piles.append((height, part))

    def whole(self) -> Tallies:
        """Tallies of everything that came."""
        made: Tallies = {}
        for _, pile in reversed(self._piles):
            made = merged(pile, made)
        return made
