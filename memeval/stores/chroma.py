"""Chroma, in this process."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from memeval.errors import StoreError
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.nearest import NearestStore, latest, stored, wanted
from memeval.stores.needing import needed

if TYPE_CHECKING:
    from memeval.embedders.base import Embedder

SCOPE = "memeval_scope"
BATCH = 5000


class ChromaStore(NearestStore):
    """A collection of Chroma; cosine, the scope in its metadata.

    Parameters
    ----------
    embedder : {'table', 'hash', 'minilm'} or Embedder
        What turns texts into vectors; Chroma's own would be downloaded.
    client : object, optional
        A client of Chroma; by default one in memory.
    collection : str, optional
        Name of a collection to write to, made where there is none; by default a new one, that is
        dropped by `close`.

    Raises
    ------
    StoreError
        If the extra ``chroma`` is not installed.

    Notes
    -----
    All clients in memory of one process share their collections, so each store has a name of its
    own. One that was made here is dropped between probes, since to delete records one by one
    takes Chroma far longer. It searches an approximate index (HNSW). It refuses an empty id, and
    in metadata empty lists, lists of several kinds and mappings. Its upsert adds metadata to what
    is there: a key that an update leaves out stays.

    Examples
    --------
    >>> store = ChromaStore()  # doctest: +SKIP
    >>> store.put(Record("tea", "My favourite tea is lapsang."))  # doctest: +SKIP
    >>> store.search("a hot drink", k=1, scope="default")  # doctest: +SKIP
    """

    distribution = "chromadb"
    capabilities = Capabilities(
        score_order="high", honours=frozenset({"filter"}), isolation="clear", thread_safe=True
    )

    def __init__(
        self,
        embedder: str | Embedder = "table",
        *,
        client: Any = None,
        collection: str | None = None,
    ) -> None:
        super().__init__(embedder)
        if client is None:
            chroma = needed("chromadb", store="chroma", extra="chroma")
            client = chroma.EphemeralClient()  # settings of our own would shut out other clients
        self.client = client
        self._theirs = collection
        self.collection = self._opened()

    def _opened(self) -> Any:
        """Their collection, or a new one of our own."""
        return self.client.get_or_create_collection(
            self._theirs or f"memeval-{secrets.token_hex(8)}",
            configuration={"hnsw": {"space": "cosine"}},
            embedding_function=None,
        )

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write several records by upserts of at most 5,000."""
        kept = list(records)
        last = latest(kept)
        for start in range(0, len(last), BATCH):
            batch = last[start : start + BATCH]
            self.collection.upsert(
                ids=[one.id for one in batch],
                embeddings=self.vectors(batch),
                documents=[one.text for one in batch],
                metadatas=[{**one.meta, SCOPE: one.scope} for one in batch],
            )
        return stored(kept)

    def nearest(
        self, vector: list[float], k: int, scope: str, filter: Mapping[str, Any] | None
    ) -> list[Hit]:
        """Ask for the nearest records; the score is the cosine."""
        found = self.collection.query(
            query_embeddings=[vector],
            n_results=k,
            where=_where(scope, filter),
            include=["documents", "metadatas", "distances"],
        )
        columns = (found[name][0] for name in ("ids", "documents", "distances", "metadatas"))
        return [
            Hit(name, text or "", 1.0 - distance, {k: v for k, v in meta.items() if k != SCOPE})
            for name, text, distance, meta in zip(*columns, strict=True)
        ]

    def delete(self, store_id: str, *, scope: str | None = None) -> None:
        """Delete one record, where a scope is given only if it is there."""
        where = None if scope is None else {SCOPE: {"$eq": scope}}
        self.collection.delete(ids=[store_id], where=where)

    def count(self, scope: str | None = None) -> int:
        """Count the records of the collection, or of one scope."""
        if scope is None:
            return int(self.collection.count())
        return len(self.collection.get(where={SCOPE: {"$eq": scope}}, include=[])["ids"])

    def clear(self) -> None:
        """Empty the collection: one of our own is dropped, which is far faster."""
        if self._theirs is None:
            self.client.delete_collection(self.collection.name)
            self.collection = self._opened()
            return
        while there := self.collection.get(limit=BATCH, include=[])["ids"]:
            self.collection.delete(ids=there)

    def close(self) -> None:
        """Drop the collection if it was made for this store."""
        if self._theirs is None and self.collection is not None:
            self.client.delete_collection(self.collection.name)
            self.collection = None


def _where(scope: str, filter: Mapping[str, Any] | None) -> dict[str, Any]:
    """Scope and filter as Chroma writes them; metadata that is a list need only hold the value."""
    clauses: list[dict[str, Any]] = [{SCOPE: {"$eq": scope}}]
    for key, values in wanted(filter):
        if not values:
            raise StoreError(f"filter: {key!r} allows no value; name one, or leave the key out")
        either = [{key: {word: value}} for value in values for word in ("$eq", "$contains")]
        clauses.append({"$or": either})
    return clauses[0] if len(clauses) == 1 else {"$and": clauses}
