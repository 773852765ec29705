"""The vectors of one scope, and which of them are nearest to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memeval.stores.living import LATEST
from memeval.stores.sqlite_rows import Key, Row

Vectors = NDArray[np.float32]
DIGITS = 6
_SMALLEST = 16  # Places made for a new scope; twice as many whenever they are full.


class ScopeVectors:
    """A matrix with a row for each record of a scope, in no order that matters.

    Parameters
    ----------
    dimension : int
        Numbers in a vector.

    Attributes
    ----------
    ids : list
        Id of the record in each place.
    """

    def __init__(self, dimension: int) -> None:
        self.ids: list[Key] = []
        self._places: dict[Key, int] = {}
        self._vectors = np.zeros((0, dimension), np.float32)
        self._expires = np.zeros(0, np.int64)
        self._blank = np.zeros(0, np.bool_)

    def __len__(self) -> int:
        return len(self.ids)

    def copy(self) -> Self:
        """Another one that holds the same and goes its own way."""
        twin = type(self)(self._vectors.shape[1])
        twin.ids, twin._places = list(self.ids), dict(self._places)
        twin._vectors, twin._expires = self._vectors.copy(), self._expires.copy()
        twin._blank = self._blank.copy()
        return twin

    def write(self, rows: Sequence[Row], vectors: Vectors) -> None:
        """Write rows, each id once, in their old places where they have one."""
        for row in rows:
            if row.id not in self._places:
                self._places[row.id] = len(self.ids)
                self.ids.append(row.id)
        if len(self.ids) > len(self._expires):
            self._grow()
        places = [self._places[row.id] for row in rows]
        self._vectors[places] = vectors
        self._blank[places] = ~vectors.any(axis=1)
        self._expires[places] = [LATEST if row.expires is None else row.expires for row in rows]

    def _grow(self) -> None:
        size = max(_SMALLEST, len(self.ids), 2 * len(self._blank))
        self._vectors = _longer(self._vectors, size)
        self._expires = _longer(self._expires, size)
        self._blank = _longer(self._blank, size)

    def remove(self, name: Key) -> None:
        """Take a record out; the last one moves to its place."""
        place, last = self._places.pop(name), self.ids.pop()
        if last != name:
            self.ids[place], self._places[last] = last, place
            for array in (self._vectors, self._expires, self._blank):
                array[place] = array[len(self.ids)]

    @property
    def matrix(self) -> Vectors:
        """A row for each of the ids, in their order; a view, not a copy."""
        return self._vectors[: len(self.ids)]

    def nearest(
        self, query: Vectors, *, hidden: Iterable[Key], moment: int | None, k: int | None
    ) -> Iterator[tuple[float, list[Key]]]:
        """Records by their cosine to a query, highest first, those of equal cosines together.

        Parameters
        ----------
        query : ndarray of float32, shape (d,)
            Of length 1.
        hidden : iterable
            Ids that are not looked at.
        moment : int or None
            Microseconds since 1970: what has expired by then is not looked at.
        k : int or None
            At least so many are given, where there are; None: all.

        Notes
        -----
        A record without a vector (a row of zeros) has no cosine and is never given. The cosine is
        the sum of products in float64, rounded to 6 digits. Sums of float32 come out different in
        the last bit by where in a matrix a row stands, which would break ties by the order of
        writing; so they only choose whose cosines are worked out exactly.
        """
        n = len(self.ids)
        looked_at = ~self._blank[:n]
        looked_at[[self._places[name] for name in hidden if name in self._places]] = False
        if moment is not None:
            looked_at &= self._expires[:n] > min(moment, LATEST - 1)
        places = np.flatnonzero(looked_at)
        if k is not None and len(places) > k:
            places = self._candidates(places, query, k)
        exact = _products(self._vectors[places].astype(np.float64), query.astype(np.float64))
        # Adding 0 turns -0 into 0, which are equal and print differently.
        cosines = np.round(exact, DIGITS) + 0.0
        order = np.argsort(-cosines, kind="stable")
        pairs = zip(cosines[order].tolist(), places[order].tolist(), strict=True)
        for cosine, group in groupby(pairs, key=_first):
            yield cosine, [self.ids[place] for _, place in group]

    def _candidates(self, places: NDArray[Any], query: Vectors, k: int) -> NDArray[Any]:
        """Places that may be among the k nearest, by sums in float32 and what these can be off."""
        rough = _products(self.matrix, query)[places]
        # A sum of d products of unit vectors is off by at most d * 2**-24, and rounding moves it.
        margin = 2 * (len(query) + 2) * 2.0**-24 + 10.0**-DIGITS
        least = np.partition(rough, -k)[-k] - margin
        found: NDArray[Any] = places[rough >= least]
        return found


def _products(matrix: NDArray[Any], vector: NDArray[Any]) -> NDArray[Any]:
    """Product of each row and a vector, by one thread: more of them wait for each other."""
    products: NDArray[Any] = np.einsum("ij,j->i", matrix, vector)
    return products


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def _first(pair: tuple[float, int]) -> float:
    return pair[0]
