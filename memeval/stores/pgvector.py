"""PostgreSQL with pgvector, at an address of yours."""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memeval.errors import StoreError
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.nearest import NearestStore, latest, stored, wanted
from memeval.stores.needing import needed

if TYPE_CHECKING:
    from memeval.embedders.base import Embedder

ADDRESS = "MEMEVAL_PG_DSN"


class PgVectorStore(NearestStore):
    """A table of PostgreSQL with a column of pgvector: exact, by cosine, the scope in a column.

    Parameters
    ----------
    embedder : {'table', 'hash', 'minilm'} or Embedder
        What turns texts into vectors.
    dsn : str, optional
        Address of the database, as psycopg takes it; by default that of the environment variable
        ``MEMEVAL_PG_DSN``. It is told nowhere.

    Raises
    ------
    StoreError
        If the extra ``pgvector`` is not installed, there is no address, nobody answers there, or
        the database has no extension ``vector`` and may not make it.

    Notes
    -----
    Each store makes a schema with a name of its own and drops it when it is closed: no table of
    yours is touched. Without an index pgvector is exact. PostgreSQL keeps no NUL in a text. A
    record whose vector is zero has no cosine and is never found.

    Examples
    --------
    >>> store = PgVectorStore()  # doctest: +SKIP
    >>> store.put(Record("tea", "My favourite tea is lapsang."))  # doctest: +SKIP
    >>> store.search("a hot drink", k=1, scope="default")  # doctest: +SKIP
    """

    distribution = "psycopg"
    capabilities = Capabilities(
        score_order="high",
        deterministic=True,
        honours=frozenset({"filter"}),
        isolation="clear",
        thread_safe=True,
    )

    def __init__(self, embedder: str | Embedder = "table", *, dsn: str | None = None) -> None:
        super().__init__(embedder)
        psycopg = needed("psycopg", store="pgvector", extra="pgvector")
        address = dsn or os.environ.get(ADDRESS)
        if not address:
            raise StoreError(
                f"store 'pgvector': found no address of a database, wanted one; set {ADDRESS}, "
                "such as postgresql://user@localhost/name"
            )
        self._lock = threading.Lock()
        self._schema = f"memeval_{secrets.token_hex(8)}"
        self._table = f"{self._schema}.records"
        try:
            self._base = psycopg.connect(address, autocommit=True)
        except psycopg.OperationalError as error:  # its words may hold the address
            raise StoreError(
                f"store 'pgvector': nobody lets us in at the address of {ADDRESS} "
                f"({type(error).__name__}); look at it, and whether the server runs"
            ) from None
        try:
            self._version = self._made()
        except psycopg.Error as error:
            self._base.close()
            raise StoreError(
                f"store 'pgvector': the table could not be made ({error}); install pgvector in the "
                "server, and let the user CREATE EXTENSION vector and a schema"
            ) from error

    def _made(self) -> str:
        base = self._base
        base.execute("CREATE EXTENSION IF NOT EXISTS vector")
        base.execute(f"CREATE SCHEMA {self._schema}")
        base.execute(
            f"CREATE TABLE {self._table} (id text PRIMARY KEY, scope text NOT NULL, text text NOT "
            f"NULL, meta jsonb NOT NULL, vector vector({int(self.embedder.dimension)}))"
        )
        base.execute(f"CREATE INDEX ON {self._table} (scope)")
        found = base.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        return f"pgvector {found.fetchone()[0]}, PostgreSQL {base.info.server_version // 10000}"

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write several records in one transaction."""
        kept = list(records)
        last = latest(kept)
        rows = [
            (one.id, one.scope, one.text, json.dumps(dict(one.meta)), _written(vector))
            for one, vector in zip(last, self.vectors(last), strict=True)
        ]
        with self._lock, self._base.transaction(), self._base.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {self._table} VALUES (%s, %s, %s, %s, %s) ON CONFLICT (id) DO UPDATE "
                "SET scope = EXCLUDED.scope, text = EXCLUDED.text, meta = EXCLUDED.meta, "
                "vector = EXCLUDED.vector",
                rows,
            )
        return stored(kept)

    def nearest(
        self, vector: list[float], k: int, scope: str, filter: Mapping[str, Any] | None
    ) -> list[Hit]:
        """Ask for the nearest records; the score is the cosine."""
        told: list[Any] = [_written(vector), scope]
        within = ""
        for key, values in wanted(filter):
            within += " AND meta @> ANY (%s::jsonb[])"
            told.append([json.dumps({key: form}) for value in values for form in (value, [value])])
        with self._lock:
            rows = self._base.execute(
                "WITH asked AS (SELECT %s::vector AS vector) "
                "SELECT id, text, 1 - (r.vector <=> asked.vector), meta "
                f"FROM {self._table} r, asked WHERE scope = %s AND r.vector IS NOT NULL{within} "
                "ORDER BY r.vector <=> asked.vector LIMIT %s",
                [*told, k],
            ).fetchall()
        return [Hit(name, text, score, meta) for name, text, score, meta in rows]

    def delete(self, store_id: str, *, scope: str | None = None) -> None:
        """Delete one record, where a scope is given only if it is there."""
        within, told = ("", []) if scope is None else (" AND scope = %s", [scope])
        with self._lock:
            self._base.execute(
                f"DELETE FROM {self._table} WHERE id = %s{within}", [store_id, *told]
            )

    def count(self, scope: str | None = None) -> int:
        """Count the records of the table, or of one scope."""
        within, told = ("", []) if scope is None else (" WHERE scope = %s", [scope])
        with self._lock:
            found = self._base.execute(f"SELECT count(*) FROM {self._table}{within}", told)
            return int(found.fetchone()[0])

    def clear(self) -> None:
        """Empty the table of this store."""
        with self._lock:
            self._base.execute(f"TRUNCATE {self._table}")

    def close(self) -> None:
        """Drop the schema of this store and let go of the connection."""
        if not self._base.closed:
            self._base.execute(f"DROP SCHEMA IF EXISTS {self._schema} CASCADE")
            self._base.close()

    def info(self) -> dict[str, Any]:
        """Name, versions and embedder, for the manifest."""
        told = super().info()
        return told | {"version": f"{self._version}, {told['version']}"}


def _written(vector: Sequence[float]) -> str | None:
    """A vector as pgvector reads it; None for zeros, which have no direction."""
    return json.dumps(list(vector)) if any(vector) else None
