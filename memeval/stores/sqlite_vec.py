"""sqlite-vec: nearest vectors in SQLite."""

from __future__ import annotations

import json
import sqlite3
import struct
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.errors import StoreError
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.nearest import NearestStore, stored, wanted
from memeval.stores.needing import needed

if TYPE_CHECKING:
    from memeval.embedders.base import Embedder

ANY_OF = """EXISTS (
    SELECT 1 FROM json_each(r.meta) pair, json_each(?) given WHERE pair.key = ? AND (
        (pair.type <> 'array' AND json_array(pair.value) = json_array(given.value))
        OR (pair.type = 'array' AND EXISTS (
            SELECT 1 FROM json_each(pair.value) item
            WHERE json_array(item.value) = json_array(given.value)))))"""


class SqliteVecStore(NearestStore):
    """A table of sqlite-vec: exact, by cosine, the scope as its partition key.

    Parameters
    ----------
    embedder : {'table', 'hash', 'minilm'} or Embedder
        What turns texts into vectors.
    path : str or Path, optional
        File of the database; by default it is in memory.

    Raises
    ------
    StoreError
        If the extra ``sqlite-vec`` is not installed, or this Python cannot load extensions.

    Notes
    -----
    The table takes whole numbers for ids, so a table beside it holds id, text and metadata. Some
    builds of Python have a ``sqlite3`` that loads no extensions; then ``pysqlite3`` is taken, which
    the extra brings on Linux. The most that can be asked for at once is 4,096.

    Examples
    --------
    >>> store = SqliteVecStore()  # doctest: +SKIP
    >>> store.put(Record("tea", "My favourite tea is lapsang."))  # doctest: +SKIP
    >>> store.search("a hot drink", k=1, scope="default")  # doctest: +SKIP
    """

    distribution = "sqlite-vec"
    capabilities = Capabilities(
        score_order="high", deterministic=True, honours=frozenset({"filter"}), thread_safe=True
    )

    def __init__(
        self, embedder: str | Embedder = "table", *, path: str | Path | None = None
    ) -> None:
        super().__init__(embedder)
        extension = needed("sqlite_vec", store="sqlite-vec", extra="sqlite-vec")
        self._lock = threading.Lock()
        self._base = loading_sqlite("sqlite-vec").connect(
            ":memory:" if path is None else str(path),
            check_same_thread=False,
            isolation_level=None,
        )
        self._base.enable_load_extension(True)
        extension.load(self._base)
        self._base.enable_load_extension(False)
        self._base.executescript(
            "CREATE TABLE IF NOT EXISTS records "
            "(n INTEGER PRIMARY KEY, id TEXT UNIQUE, scope TEXT, text TEXT, meta TEXT);"
            "CREATE VIRTUAL TABLE IF NOT EXISTS vectors USING vec0 "
            "(scope TEXT PARTITION KEY, "
            f"vector FLOAT[{int(self.embedder.dimension)}] distance_metric=cosine)"
        )

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write several records in one transaction."""
        kept = list(records)
        vectors = self.vectors(kept)
        with self._lock:
            self._base.execute("BEGIN")
            try:
                for one, vector in zip(kept, vectors, strict=True):
                    self._write(one, vector)
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")
        return stored(kept)

    def _write(self, one: Record, vector: Sequence[float]) -> None:
        self._drop(one.id)
        row = (one.id, one.scope, one.text, json.dumps(dict(one.meta)))
        made = self._base.execute(
            "INSERT INTO records (id, scope, text, meta) VALUES (?, ?, ?, ?)", row
        )
        if any(vector):  # zeros have no direction, and would stand first in every answer
            self._base.execute(
                "INSERT INTO vectors (rowid, scope, vector) VALUES (?, ?, ?)",
                (made.lastrowid, one.scope, _packed(vector)),
            )

    def _drop(self, record_id: str, scope: str | None = None) -> None:
        sql = "SELECT n FROM records WHERE id = ?" + ("" if scope is None else " AND scope = ?")
        told = (record_id,) if scope is None else (record_id, scope)
        for (n,) in self._base.execute(sql, told).fetchall():
            self._base.execute("DELETE FROM vectors WHERE rowid = ?", (n,))
            self._base.execute("DELETE FROM records WHERE n = ?", (n,))

    def nearest(
        self, vector: list[float], k: int, scope: str, filter: Mapping[str, Any] | None
    ) -> list[Hit]:
        """Ask for the nearest records; the score is the cosine."""
        told: list[Any] = [_packed(vector), k, scope]
        clauses = []
        for key, values in wanted(filter):
            clauses.append(ANY_OF)
            told += [json.dumps(values), key]
        # No more than one such list may stand in a query, so it holds all conditions.
        listed = f"SELECT r.n FROM records r WHERE {' AND '.join(clauses)}"
        within = f"AND rowid IN ({listed})" if clauses else ""
        sql = (
            "SELECT r.id, r.text, near.distance, r.meta FROM (SELECT rowid, distance FROM vectors "
            f"WHERE vector MATCH ? AND k = ? AND scope = ? {within}) near "
            "JOIN records r ON r.n = near.rowid ORDER BY near.distance"
        )
        with self._lock:
            rows = self._base.execute(sql, told).fetchall()
        return [
            Hit(name, text, None if distance is None else 1.0 - distance, json.loads(meta))
            for name, text, distance, meta in rows
        ]

    def delete(self, store_id: str, *, scope: str | None = None) -> None:
        """Delete one record, where a scope is given only if it is there."""
        with self._lock:
            self._drop(store_id, scope)

    def count(self, scope: str | None = None) -> int:
        """Count the records, or those of one scope."""
        sql = "SELECT count(*) FROM records" + ("" if scope is None else " WHERE scope = ?")
        with self._lock:
            found: int = self._base.execute(sql, () if scope is None else (scope,)).fetchone()[0]
        return found

    def close(self) -> None:
        """Let go of the database."""
        self._base.close()


def _packed(vector: Sequence[float]) -> bytes:
    return struct.pack(f"{len(vector)}f", *vector)


def loading_sqlite(store: str) -> Any:
    """A ``sqlite3`` that can load extensions.

    Parameters
    ----------
    store : str
        Short name of the store that needs it.

    Raises
    ------
    StoreError
        If there is none.
    """
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    try:
        return needed("pysqlite3", store=store, extra="sqlite-vec")
    except StoreError as error:
        raise StoreError(
            f"store {store!r}: the sqlite3 of this Python loads no extensions, and there is no "
            "pysqlite3 in its place; use a Python that was built to load them, or pip install "
            "pysqlite3-binary"
        ) from error
