"""mem0, the open source one, in this process."""

from __future__ import annotations

import atexit
import logging
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from memeval.errors import StoreError
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import BaseStore, Capabilities
from memeval.stores.nearest import wanted
from memeval.stores.needing import needed, version_of
from memeval.stores.sqlite_rows import check_question

if TYPE_CHECKING:
    from memeval.embedders.base import Embedder

ID = "memeval_id"


class Mem0Store(BaseStore):
    """A ``Memory`` of mem0; the scope is its ``user_id``.

    Parameters
    ----------
    embedder : {'table', 'hash', 'minilm'} or Embedder
        What turns texts into vectors, in a memory that is made here.
    memory : object, optional
        A ``Memory`` of your own; by default one with vectors in memory, that calls no model.
    infer : bool
        Whether mem0 asks its model what to remember of each text. Without, each text is kept as it
        is; with it a `memory` of your own is needed, for its model.
    threshold : float, optional
        Least score that is given; by default that of mem0 (0.1).

    Raises
    ------
    StoreError
        If the extra ``mem0`` is not installed, ``infer`` is asked for without a memory, or the
        memory is an ``AsyncMemory``.

    Notes
    -----
    mem0 gives every memory an id of its own, so ours goes along as metadata, and `put` gives the
    ids of mem0. A second `put` of an id is an ``update`` where one memory came of the first; with
    ``infer`` mem0 only ever adds, merges exact copies, and may make several memories of one text,
    or none; none is told as merged, whatever the reason. Its ``user_id`` is trimmed and ``*``
    stands for every user: both are told as they are found, and not worked around. It refuses a
    blank query. Telemetry is turned off, unless you have set ``MEM0_TELEMETRY``, and its folder
    is a temporary one, unless you have set ``MEM0_DIR``.

    Examples
    --------
    >>> store = Mem0Store()  # doctest: +SKIP
    >>> store.put(Record("tea", "My favourite tea is lapsang."))  # doctest: +SKIP
    >>> store.search("a hot drink", k=1, scope="default")  # doctest: +SKIP
    """

    def __init__(
        self,
        embedder: str | Embedder = "table",
        *,
        memory: Any = None,
        infer: bool = False,
        threshold: float | None = None,
    ) -> None:
        if infer and memory is None:
            raise StoreError(
                "infer=True asks a model, and there is none; pass memory=Memory.from_config(...) "
                "with a model of yours"
            )
        if memory is not None and iscoroutinefunction(memory.add):
            raise StoreError(
                "memory is an AsyncMemory, wanted a Memory; make one of the same settings"
            )
        self.infer = infer
        self.capabilities = Capabilities(
            ids="meta",
            score_order="high",
            rewrites=infer,
            dedupes=infer,
            deterministic=None if infer else True,
            honours=frozenset({"filter"}),
        )
        self._search_options = {} if threshold is None else {"threshold": threshold}
        self._ids: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._own = memory is None
        self.embedder_name = "of the memory"
        if memory is None:
            memory, self.embedder_name = _plain_memory(embedder)
        self.memory = memory

    def put(self, record: Record) -> Receipt:
        """Write one record; the receipt has what mem0 made of it."""
        scope, before = self._ids.get(record.id, ("", ()))
        if len(before) == 1 and not self.infer:
            if scope == record.scope:
                self.memory.update(before[0], text=record.text, metadata=_meta(record))
                return Receipt("stored", before)
            self.delete(before[0])  # an update keeps the user, and it is another's now
        told = self.memory.add(
            record.text, user_id=record.scope, metadata=_meta(record), infer=self.infer
        )
        made = [item for item in told["results"] if item.get("event", "ADD") != "NONE"]
        ids = tuple(str(item["id"]) for item in made)
        self._ids[record.id] = (record.scope, ids)
        if not ids:
            return Receipt("merged", ())
        texts = tuple(str(item["memory"]) for item in made)
        return Receipt("stored" if len(ids) == 1 else "split", ids, texts)

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write several records one after another; mem0 takes no batch of them."""
        return [self.put(record) for record in records]

    def search(
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Return at most k memories of the user, as mem0 ranks them."""
        check_question(query, k, scope)
        filters: dict[str, Any] = {"user_id": scope}
        filters |= {key: {"in": values} for key, values in wanted(filter)}
        found = self.memory.search(query, top_k=k, filters=filters, **self._search_options)
        return [
            Hit(item["id"], item["memory"], item["score"], _told(item.get("metadata")))
            for item in found["results"]
        ]

    def delete(self, store_id: str) -> None:
        """Delete one memory by the id of mem0."""
        self.memory.delete(store_id)
        self._ids = {ours: told for ours, told in self._ids.items() if store_id not in told[1]}

    def close(self) -> None:
        """Let go of a memory that was made here."""
        if self._own:
            self.memory.close()

    def info(self) -> dict[str, Any]:
        """Name, version and settings, for the manifest."""
        return {
            "name": type(self).__name__,
            "version": version_of("mem0ai"),
            "infer": self.infer,
            "embedder": self.embedder_name,
            **self._search_options,
        }


class _Once(logging.Filter):
    """Lets each message through once in this process; mem0 says the same of every memory."""

    def __init__(self) -> None:
        super().__init__()
        self.said: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        new = message not in self.said
        self.said.add(message)
        return new


_ONCE = _Once()


class _Embedding:
    """An embedder of memeval as mem0 calls one."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        found: list[float] = self.embedder.embed([text])[0].tolist()
        return found

    def embed_batch(
        self, texts: Sequence[str], memory_action: str | None = None
    ) -> list[list[float]]:
        found: list[list[float]] = self.embedder.embed(list(texts)).tolist()
        return found


@cache
def _folder() -> str:
    """Where mem0 keeps its settings, for as long as this process lives."""
    made = tempfile.mkdtemp(prefix="memeval-mem0-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def _plain_memory(embedder: str | Embedder) -> tuple[Any, str]:
    """A memory that calls no model and no network, and the name of its embedder."""
    from memeval.embedders.keeping import keeping

    kept = keeping(embedder)
    quiet = {"MEM0_TELEMETRY": "False", "MEM0_DIR": _folder()}
    mem0 = needed("mem0", store="mem0", extra="mem0", environ=quiet)
    qdrant = needed("qdrant_client", store="mem0", extra="mem0")
    logging.getLogger("mem0.vector_stores.qdrant").addFilter(_ONCE)
    no_key = {"api_key": "none is needed: no model is asked"}
    config = {
        "vector_store": {
            "provider": "qdrant",
            "config": {
                "client": qdrant.QdrantClient(":memory:"),
                "collection_name": "memeval",
                "embedding_model_dims": kept.dimension,
            },
        },
        "embedder": {"provider": "openai", "config": no_key},
        "llm": {"provider": "openai", "config": no_key},
        "history_db_path": ":memory:",
    }
    with warnings.catch_warnings():
        # Of an index that Qdrant has no use for in memory.
        warnings.filterwarnings("ignore", "Payload indexes have no effect", UserWarning)
        memory = mem0.Memory.from_config(config)
    memory.embedding_model = _Embedding(kept.inner)
    return memory, kept.name


def _meta(record: Record) -> dict[str, Any]:
    return {**record.meta, ID: record.id}


def _told(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Metadata with our id under ``id``, where hits are looked up."""
    told = dict(metadata or {})
    return {"id": told.pop(ID), **told} if ID in told else told
