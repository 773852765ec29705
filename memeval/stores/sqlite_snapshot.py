"""A database of the embedded store as bytes, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing

from memeval.errors import StoreError
from memeval.stores.sqlite_file import IN_MEMORY, check, connected, reported

# A database that was deserialized cannot grow past 1 GiB; a copy of it page by page can.
COPIED_FROM_BYTES = 2**28


class Snapshot(bytes):
    """A database that was serialized, and what its store was made with."""

    settings: str = ""


def serialized(connection: sqlite3.Connection, settings: Mapping[str, bool]) -> Snapshot:
    """Take a snapshot, also of what an open transaction has written."""
    # The index holds nothing back: it is written out when a write releases its savepoint.
    taken = Snapshot(connection.serialize())
    taken.settings = json.dumps(settings)
    return taken


def restored(snapshot: bytes, settings: Mapping[str, bool]) -> sqlite3.Connection:
    """Open a snapshot as a database in memory.

    Parameters
    ----------
    snapshot : bytes
        A `Snapshot`, else it is looked into, which takes longer than to open it.
    settings : mapping of str to bool
        What its store must have been made with.

    Raises
    ------
    StoreError
        If it is no database of a store with these settings.
    """
    if not isinstance(snapshot, bytes) or not snapshot:
        kind = type(snapshot).__name__
        raise StoreError(f"fork: found {kind} {snapshot!r:.20}, wanted bytes from snapshot()")
    told = json.dumps(settings)
    connection = connected(IN_MEMORY, 0.0)
    try:
        with reported("snapshot"):
            _fill(connection, snapshot)
            if not isinstance(snapshot, Snapshot) or snapshot.settings != told:
                check(connection, "snapshot", told)
    except BaseException:
        connection.close()
        raise
    return connection


def _fill(connection: sqlite3.Connection, snapshot: bytes) -> None:
    if len(snapshot) < COPIED_FROM_BYTES:
        connection.deserialize(snapshot)
        return
    with closing(sqlite3.connect(IN_MEMORY)) as source:
        source.deserialize(snapshot)
        source.backup(connection)
