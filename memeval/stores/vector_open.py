"""An open store of vectors: its lock, scratches and snapshots."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from memeval.errors import StoreError
from memeval.stores.base import BaseStore
from memeval.stores.living import Living
from memeval.stores.scope_vectors import ScopeVectors, Vectors
from memeval.stores.sqlite_rows import Key, Row
from memeval.stores.vector_snapshot import in_order, packed, unpacked

if TYPE_CHECKING:
    from memeval.embedders.keeping import KeepingEmbedder


class OpenVectors(BaseStore):
    """What a store of vectors can do with all that it holds, whatever that is.

    Attributes
    ----------
    embedder : KeepingEmbedder
        What turns texts into vectors.
    settings : dict
        What the store was made with.
    """

    embedder: KeepingEmbedder
    settings: dict[str, Any]

    def _start(self, living: Living, scopes: dict[Key, ScopeVectors]) -> None:
        self._living = living
        self._scopes = scopes
        self._lock = threading.RLock()
        self._closed = self._in_scratch = False

    @contextmanager
    def _open(self) -> Iterator[None]:
        with self._lock:
            if self._closed:
                raise StoreError("store: found it closed, wanted it open; make a new store")
            yield

    def _place(self, rows: Sequence[Row], vectors: Vectors) -> None:
        """Give each of the rows, all of them different, its vector in the matrix of its scope."""
        by_scope: dict[Key, list[int]] = {}
        for place, row in enumerate(rows):
            by_scope.setdefault(row.scope, []).append(place)
        for scope, places in by_scope.items():
            if scope not in self._scopes:
                self._scopes[scope] = ScopeVectors(self.embedder.dimension)
            self._scopes[scope].write([rows[place] for place in places], vectors[places])

    @contextmanager
    def scratch(self) -> Iterator[Self]:
        """Undo on leaving all that is written within, by whichever thread, to the last byte.

        Raises
        ------
        StoreError
            If the store is in a scratch already.
        """
        with self._open():
            if self._in_scratch:
                raise StoreError(
                    "scratch: found one open, wanted none; leave it first, or use a second store"
                )
            before = self._living.copy(), {n: held.copy() for n, held in self._scopes.items()}
            self._in_scratch = True
        try:
            yield self
        finally:
            with self._lock:
                self._in_scratch = False
                if not self._closed:
                    self._living, self._scopes = before

    def snapshot(self) -> bytes:
        """Take a copy of everything that is kept, also of what a scratch holds just now.

        Returns
        -------
        bytes
            For `fork` of any store with these settings; the same for the same records, in whatever
            order they were written.

        Examples
        --------
        >>> from memeval.record import Record
        >>> from memeval.stores.vector import VectorStore
        >>> store = VectorStore("hash")
        >>> with store.scratch():
        ...     _ = store.put(Record("a", "the kiosk is blue"))
        ...     kept = store.snapshot()
        >>> store.count(), store.fork(kept).count()
        (0, 1)
        """
        with self._open():
            places = {name: place for place, name in enumerate(in_order(self._living))}
            vectors = np.empty((len(places), self.embedder.dimension), np.float32)
            for held in self._scopes.values():
                vectors[[places[name] for name in held.ids]] = held.matrix
            return packed(self._living, vectors, self.settings)

    def fork(self, snapshot: bytes) -> Self:
        """Make another store that holds what a snapshot holds.

        Parameters
        ----------
        snapshot : bytes
            From `snapshot`.

        Returns
        -------
        VectorStore
            Of the class and settings of this one, to be closed by the caller.

        Raises
        ------
        StoreError
            If that is no snapshot of a store with these settings.
        """
        living, vectors = unpacked(snapshot, self.embedder.dimension, self.settings)
        forked = copy.copy(self)
        forked._start(living, {})
        forked._place(list(living.rows.values()), vectors)
        return forked

    def close(self) -> None:
        """Let go of everything that is kept."""
        with self._lock:
            self._closed = True
            self._living, self._scopes = Living(), {}

    def __enter__(self) -> Self:
        """Give the store, to be closed on leaving."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()
