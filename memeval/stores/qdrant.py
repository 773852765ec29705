"""Qdrant, in this process."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.errors import StoreError
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.nearest import NearestStore, latest, wanted
from memeval.stores.needing import needed
from memeval.text import visible

if TYPE_CHECKING:
    from memeval.embedders.base import Embedder

COLLECTION = "memeval"
NAMES = uuid.UUID("6f1b7a52-0f6c-5d0e-9c59-5f2a6a4a7f10")


class QdrantStore(NearestStore):
    """A collection of Qdrant's local mode: exact, by cosine, the scope in the payload.

    Parameters
    ----------
    embedder : {'table', 'hash', 'minilm'} or Embedder
        What turns texts into vectors.
    path : str or Path, optional
        Folder of the database; by default it is in memory.

    Raises
    ------
    StoreError
        If the extra ``qdrant`` is not installed.

    Notes
    -----
    Qdrant takes whole numbers and UUIDs for ids: a record is written under a UUID made of its id,
    and the id itself stands in the payload. Local mode breaks where threads write while others
    read, so one lock goes around every call. In a folder each write is saved at once.

    Examples
    --------
    >>> store = QdrantStore()  # doctest: +SKIP
    >>> store.put(Record("tea", "My favourite tea is lapsang."))  # doctest: +SKIP
    >>> store.search("a hot drink", k=1, scope="default")  # doctest: +SKIP
    """

    distribution = "qdrant-client"
    capabilities = Capabilities(
        ids="meta",
        score_order="high",
        deterministic=True,
        honours=frozenset({"filter"}),
        thread_safe=True,
    )

    def __init__(
        self, embedder: str | Embedder = "table", *, path: str | Path | None = None
    ) -> None:
        super().__init__(embedder)
        qdrant = needed("qdrant_client", store="qdrant", extra="qdrant")
        self._models = qdrant.models
        self.client = qdrant.QdrantClient(":memory:") if path is None else (
            qdrant.QdrantClient(path=str(path))
        )  # fmt: skip
        self._lock = threading.Lock()
        if not self.client.collection_exists(COLLECTION):
            size, cosine = self.embedder.dimension, self._models.Distance.COSINE
            params = self._models.VectorParams(size=size, distance=cosine)
            self.client.create_collection(COLLECTION, vectors_config=params)

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write several records by one upsert."""
        kept = list(records)
        last = latest(kept)
        points = [
            self._models.PointStruct(
                id=_uuid(one.id),
                vector=vector,
                payload={
                    "id": one.id, "scope": one.scope, "text": one.text, "meta": dict(one.meta)
                },
            )
            for one, vector in zip(last, self.vectors(last), strict=True)
        ]  # fmt: skip
        if points:
            with self._lock:
                self.client.upsert(COLLECTION, points)
        return [Receipt("stored", (_uuid(one.id),)) for one in kept]

    def nearest(
        self, vector: list[float], k: int, scope: str, filter: Mapping[str, Any] | None
    ) -> list[Hit]:
        """Ask for the nearest records; the score is the cosine."""
        with self._lock:
            found = self.client.query_points(
                COLLECTION, query=vector, limit=k, query_filter=self._filter(scope, filter)
            ).points
        return [
            Hit(point.id, point.payload["text"], point.score,
                {"id": point.payload["id"], **point.payload["meta"]})
            for point in found
        ]  # fmt: skip

    def delete(self, store_id: str, *, scope: str | None = None) -> None:
        """Delete one record by its UUID, where a scope is given only if it is there."""
        must = [self._models.HasIdCondition(has_id=[store_id])]
        must += [] if scope is None else self._filter(scope, None).must
        with self._lock:
            self.client.delete(COLLECTION, self._models.Filter(must=must))

    def count(self, scope: str | None = None) -> int:
        """Count the records of the collection, or of one scope."""
        within = None if scope is None else self._filter(scope, None)
        with self._lock:
            return int(self.client.count(COLLECTION, count_filter=within).count)

    def close(self) -> None:
        """Let go of the database."""
        self.client.close()

    def _filter(self, scope: str, filter: Mapping[str, Any] | None) -> Any:
        models = self._models
        equal = models.MatchValue(value=scope)
        must = [models.FieldCondition(key="scope", match=equal)]
        for key, values in wanted(filter):
            either = [self._equals(key, value) for value in values]
            # An empty choice is met by nothing, and Qdrant would take it for no condition.
            must.append(models.Filter(should=either) if either else
                        models.HasIdCondition(has_id=[]))  # fmt: skip
        return models.Filter(must=must)

    def _equals(self, key: str, value: Any) -> Any:
        """The condition that a metadata key has a value."""
        models = self._models
        if '"' in key:
            raise StoreError(
                f"qdrant: the filter asks for {visible(key, 60)!r}, and a key with a double quote "
                "cannot be named in a path of Qdrant; rename it in the records and in the filter"
            )
        path = f'meta."{key}"'
        if isinstance(value, float):  # to match by value takes whole numbers alone
            return models.FieldCondition(key=path, range=models.Range(gte=value, lte=value))
        if not isinstance(value, str | int):
            raise StoreError(
                f"qdrant: the filter asks for {visible(key, 60)!r} equal to a "
                f"{type(value).__name__}, wanted a text, a number or a truth value, or a list of "
                "these; change the filter of the probe"
            )
        return models.FieldCondition(key=path, match=models.MatchValue(value=value))


def _uuid(record_id: str) -> str:
    return str(uuid.uuid5(NAMES, record_id))
