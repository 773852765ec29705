"""An open database of the embedded store: its lock, transactions, scratches and snapshots."""

from __future__ import annotations

import copy
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from memeval.errors import StoreError
from memeval.stores.base import BaseStore
from memeval.stores.sqlite_file import IN_MEMORY, reported
from memeval.stores.sqlite_snapshot import Snapshot, restored, serialized
from memeval.stores.sqlite_tables import Tables

_PAGES = ("page_count", "page_size")


class OpenDatabase(BaseStore):
    """What the embedded store can do with its database as a whole, whatever stands in it.

    Attributes
    ----------
    settings : dict of str to bool
        Those that the database was made with.
    """

    settings: dict[str, bool]

    def _open(self, path: str, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._lock = threading.RLock()
        self._closed = self._forked = False
        self._tables = Tables(connection, self.settings)

    @contextmanager
    def scratch(self) -> Iterator[Self]:
        """Undo on leaving all that is written within, by whichever thread, to the last byte.

        Raises
        ------
        StoreError
            If the store is in a scratch already.

        Examples
        --------
        >>> from memeval.record import Record
        >>> from memeval.stores.sqlite import SqliteStore
        >>> store = SqliteStore()
        >>> with store.scratch():
        ...     _ = store.put(Record("a", "only for now"))
        >>> store.count()
        0
        """
        with self._lock, reported(self._path):
            if self._connection.in_transaction:
                raise StoreError(
                    "scratch: found one open, wanted none; leave it first, or use a second store"
                )
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self
        finally:
            with self._lock, reported(self._path):
                if not self._closed and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the database; what an open scratch holds is undone."""
        with self._lock:
            self._closed = True
            self._connection.close()

    def n_bytes(self) -> int:
        """Size of the database in bytes, its free pages too.

        Returns
        -------
        int
            Pages times the size of a page, as SQLite has them; a write-ahead log is not counted.

        Examples
        --------
        >>> from memeval.stores.sqlite import SqliteStore
        >>> SqliteStore().n_bytes() % 512
        0
        """
        with self._lock, reported(self._path):
            pages, size = (self._tables.one(f"PRAGMA {name}")[0] for name in _PAGES)
            return int(pages) * int(size)

    def snapshot(self) -> Snapshot:
        """Take a copy of everything that is kept, also of what a scratch holds just now.

        Returns
        -------
        Snapshot
            Bytes that are a database, for `fork` of any store with these settings.

        Raises
        ------
        StoreError
            If the store is a fork in a scratch, or on disk: there its file is what to copy, and a
            fork, which lives in memory, would answer at another speed.

        Examples
        --------
        >>> from memeval.record import Record
        >>> from memeval.stores.sqlite import SqliteStore
        >>> store = SqliteStore()
        >>> with store.scratch():
        ...     _ = store.put(Record("a", "the kiosk is blue"))
        ...     kept = store.snapshot()
        >>> store.count(), store.fork(kept).count()
        (0, 1)
        """
        if self._path != IN_MEMORY:
            raise StoreError(
                f"store {self._path}: found a store on disk, wanted one in memory for a snapshot; "
                "use scratch(), or copy the file once the store is closed"
            )
        with self._lock, reported(self._path):
            if self._forked and self._connection.in_transaction:
                # Of what was deserialized only what is committed can be serialized.
                raise StoreError(
                    "snapshot: found a fork in a scratch, wanted a store of its own; take the "
                    "snapshot outside the scratch"
                )
            return serialized(self._connection, self.settings)

    def fork(self, snapshot: bytes) -> Self:
        """Make another store, in memory, that holds what a snapshot holds.

        Parameters
        ----------
        snapshot : bytes
            From `snapshot`.

        Returns
        -------
        SqliteStore
            Of the class and settings of this one, to be closed by the caller.

        Raises
        ------
        StoreError
            If that is no snapshot of a store with these settings.

        Notes
        -----
        A fork may grow to 1 GiB, unless the snapshot has 256 MiB already: then it has no limit, and
        takes longer to make. A subclass that keeps anything beside the database writes its own
        `snapshot` and `fork`.
        """
        forked = copy.copy(self)
        forked._open(IN_MEMORY, restored(snapshot, self.settings))
        forked._forked = True
        return forked

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

    @contextmanager
    def _writing(self) -> Iterator[Tables]:
        with self._lock, reported(self._path):
            inner = self._connection.in_transaction
            self._tables.run("SAVEPOINT written" if inner else "BEGIN IMMEDIATE")
            try:
                yield self._tables
                self._tables.run("RELEASE written" if inner else "COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    undo = ("ROLLBACK TO written", "RELEASE written") if inner else ("ROLLBACK",)
                    for statement in undo:
                        self._tables.run(statement)
                raise
