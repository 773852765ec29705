"""Stores of LangGraph: any ``BaseStore`` with an index."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.nearest import NearestStore, stored
from memeval.stores.needing import needed
from memeval.stores.sqlite_rows import check_question

if TYPE_CHECKING:
    from memeval.embedders.base import Embedder

ROOT = "memeval"


class LangGraphStore(NearestStore):
    """A store of LangGraph, each scope a namespace of it.

    Parameters
    ----------
    embedder : {'table', 'hash', 'minilm'} or Embedder
        What turns texts into vectors, in a store that is made here.
    store : object, optional
        A ``BaseStore`` of your own, whose index embeds the field ``text``; by default an
        ``InMemoryStore``.

    Raises
    ------
    StoreError
        If the extra ``langgraph`` is not installed.

    Notes
    -----
    A search of LangGraph finds what lies below a namespace as well, and a label may hold no dot: a
    scope is written as the hexadecimal digits of its bytes, one label deep, so that neither meets
    the other. Filters compare whole values for equality, not the items of a list, so none is passed
    on. Stores cannot count. In a database ``fields`` is not heeded and ``text_fields`` must name
    the field as well, or the whole record is embedded. ``InMemoryStore`` refuses a batch in which
    two records have one text, so these are written one after another.

    Examples
    --------
    >>> store = LangGraphStore()  # doctest: +SKIP
    >>> store.put(Record("tea", "My favourite tea is lapsang."))  # doctest: +SKIP
    >>> store.search("a hot drink", k=1, scope="default")  # doctest: +SKIP
    """

    distribution = "langgraph"
    capabilities = Capabilities(score_order="high", deterministic=True, thread_safe=True)

    def __init__(self, embedder: str | Embedder = "table", *, store: Any = None) -> None:
        super().__init__(embedder)
        self._base = needed("langgraph.store.base", store="langgraph", extra="langgraph")
        self._closing = contextlib.ExitStack()
        self._asked: tuple[str, list[float]] | None = None
        self.store = store
        if store and getattr(store, "index_config", None) is None:
            self.capabilities = replace(self.capabilities, score_order=None)  # it gives no score
        self._embeds = not store
        if store is None:
            memory = needed("langgraph.store.memory", store="langgraph", extra="langgraph")
            self.store = memory.InMemoryStore(index=self.index())

    def index(self) -> dict[str, Any]:
        """How a store of LangGraph embeds: the text of a record alone."""

        def embed(texts: Sequence[str]) -> list[list[float]]:
            asked = self._asked
            if asked is not None and list(texts) == [asked[0]]:
                return [asked[1]]  # looked at just now, before the store was asked
            found: list[list[float]] = self.embedder.inner.embed(list(texts)).tolist()
            return found

        fields = ["text"]
        return {
            "dims": self.embedder.dimension, "embed": embed, "fields": fields, "text_fields": fields
        }  # fmt: skip

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write several records by one batch, or by several where a text comes twice."""
        kept = list(records)
        for batch in _batches(kept):
            self.store.batch([self._put(one) for one in batch])
        return stored(kept)

    def _put(self, one: Record) -> Any:
        value = {"text": one.text, "meta": dict(one.meta)}
        return self._base.PutOp(_namespace(one.scope), one.id, value)

    def search(
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Return at most k records of the scope, nearest first; the score is the store's own."""
        if not self._can_ask(query, k, scope):
            return []
        found = self.store.search(_namespace(scope), query=query, limit=k)
        return [_hit(item) for item in found]

    def _can_ask(self, query: str, k: int, scope: str) -> bool:
        """Whether there is a vector to ask with; a store of yours sees to that itself."""
        if not self._embeds:
            check_question(query, k, scope)
            return True
        vector = self.asked(query, k, scope)
        self._asked = None if vector is None else (query, vector)
        return vector is not None

    def delete(self, store_id: str, *, scope: str) -> None:
        """Delete one record of a scope."""
        self.store.delete(_namespace(scope), store_id)

    def close(self) -> None:
        """Let go of a database that was opened here."""
        self._closing.close()

    def info(self) -> dict[str, Any]:
        """Name, version, the store within and the embedder, for the manifest."""
        embedder = {} if self._embeds else {"embedder": "of the store"}
        return super().info() | {"store": type(self.store).__name__} | embedder


class AsyncLangGraphStore(LangGraphStore):
    """The same by the coroutines of a store of LangGraph, for those that have no other."""

    async def put(self, record: Record) -> Receipt:  # type: ignore[override]
        """Write one record."""
        await self.store.abatch([self._put(record)])
        return Receipt("stored", (record.id,))

    async def put_many(self, records: Iterable[Record]) -> list[Receipt]:  # type: ignore[override]
        """Write several records by one batch, or by several where a text comes twice."""
        kept = list(records)
        for batch in _batches(kept):
            await self.store.abatch([self._put(one) for one in batch])
        return stored(kept)

    async def search(  # type: ignore[override]
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Return at most k records of the scope, nearest first; the score is the store's own."""
        if not self._can_ask(query, k, scope):
            return []
        return [_hit(item) for item in await self.store.asearch(
            _namespace(scope), query=query, limit=k
        )]  # fmt: skip

    async def delete(self, store_id: str, *, scope: str) -> None:  # type: ignore[override]
        """Delete one record of a scope."""
        await self.store.adelete(_namespace(scope), store_id)


def by_sqlite(path: str = ":memory:", embedder: str | Embedder = "table") -> LangGraphStore:
    """Open LangGraph's store in SQLite.

    Parameters
    ----------
    path : str
        File of the database; by default it is in memory.
    embedder : {'table', 'hash', 'minilm'} or Embedder
        What turns texts into vectors.

    Raises
    ------
    StoreError
        If the extra ``langgraph`` is not installed, or this Python cannot load extensions of
        SQLite, which its search needs.
    """
    from memeval.stores.sqlite_vec import loading_sqlite

    sqlite = needed("langgraph.store.sqlite", store="langgraph-sqlite", extra="langgraph")
    made = LangGraphStore(embedder, store=False)
    base = loading_sqlite("langgraph-sqlite").connect(
        path, check_same_thread=False, isolation_level=None
    )
    made._closing.callback(base.close)
    made.store = sqlite.SqliteStore(base, index=made.index())
    made.store.setup()
    return made


def _batches(records: Sequence[Record]) -> list[list[Record]]:
    """One batch, or one for each record where an id or a text comes twice."""
    distinct = len({one.text for one in records}) == len({one.id for one in records})
    if distinct and len({one.id for one in records}) == len(records):
        return [list(records)]
    return [[one] for one in records]


def _namespace(scope: str) -> tuple[str, str]:
    """Where the records of a scope lie.

    Examples
    --------
    >>> _namespace("a.b")
    ('memeval', 's612e62')
    """
    return ROOT, f"s{scope.encode('utf-8', 'surrogatepass').hex()}"


def _hit(item: Any) -> Hit:
    return Hit(item.key, item.value["text"], item.score, item.value.get("meta") or {})
