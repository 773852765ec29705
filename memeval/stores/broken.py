"""Stores that are broken on purpose: the controls of a suite.

A suite that passes against one of these measures nothing. None of them sees a probe: `RandomStore`
draws from (seed, ids written, query) and `ShuffledStore` from (seed, records returned, query), so
that two probes never share a draw and the same seed gives the same answers.
"""

from __future__ import annotations

import hashlib
import inspect
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from memeval.record import Hit, Receipt, Record
from memeval.stores.base import BaseStore, Capabilities, declared
from memeval.stores.batching import batching

_ABSENT = object()
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
# They honour everything that concerns who may see what, so that a control is not failed
# for a reason of its own: what is broken is recall alone.
_TOLD = frozenset({"filter", "expires", "now", "supersedes"})
_DECLARED = Capabilities(deterministic=True, honours=_TOLD)


class NullStore(BaseStore):
    """Returns nothing, whatever it is asked.

    Examples
    --------
    >>> store = NullStore()
    >>> _ = store.put(Record("a", "The kiosk is blue."))
    >>> store.search("kiosk", k=5, scope="default")
    []
    """

    capabilities = _DECLARED
    broken_on_purpose = True

    def put(self, record: Record) -> Receipt:
        """Take the record and forget it."""
        return Receipt("stored", (record.id,))

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Take the records and forget them."""
        return [self.put(record) for record in records]

    def delete(self, store_id: str, *, scope: str | None = None) -> None:
        """Do nothing: nothing was kept."""

    def advance(self, by: object) -> None:
        """Do nothing: nothing was kept."""

    def search(self, query: str, *, k: int = 5, scope: str = "default", **_: Any) -> list[Hit]:
        """Return nothing."""
        return []


class RandomStore(BaseStore):
    """Returns k records of the scope, drawn at random.

    Parameters
    ----------
    seed : int
        Same seed, same records and same query: same answer.

    Examples
    --------
    >>> store = RandomStore(seed=1)
    >>> _ = store.put_many(Record(f"r{i}", f"text {i}") for i in range(9))
    >>> [hit.id for hit in store.search("text", k=3, scope="default")] == [
    ...     hit.id for hit in store.search("text", k=3, scope="default")
    ... ]
    True
    """

    capabilities = _DECLARED
    broken_on_purpose = True

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.kept: dict[str, Record] = {}

    def put(self, record: Record) -> Receipt:
        """Keep the record; what it supersedes is gone, as the store was told."""
        for old in record.supersedes:
            self.kept.pop(old, None)
        self.kept[record.id] = record
        return Receipt("stored", (record.id,))

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Keep the records, in order."""
        return [self.put(record) for record in records]

    def delete(self, store_id: str, *, scope: str | None = None) -> None:
        """Forget one record."""
        self.kept.pop(store_id, None)

    def advance(self, by: object) -> None:
        """Do nothing: expiry is read off the time of asking."""

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        scope: str = "default",
        filter: Mapping[str, Any] | None = None,
        now: Any = None,
    ) -> list[Hit]:
        """Return k records of the scope at random."""
        live = self.seen(scope, filter, now)
        drawn = stream(self.seed, self.kept, query).sample(live, min(k, len(live)))
        return [Hit(record.id, record.text, 0.5) for record in drawn]

    def seen(self, scope: str, filter: Mapping[str, Any] | None, now: Any) -> list[Record]:
        """Records of a scope that a query may see, in the order of their first write."""
        return [
            record
            for record in self.kept.values()
            if record.scope == scope
            and meets(record.meta, filter)
            and not (now and record.expires and record.expires <= now)
        ]


class ConstantStore(RandomStore):
    """Returns the same k records of the scope for every query: those that were written first.

    Examples
    --------
    >>> store = ConstantStore()
    >>> _ = store.put_many(Record(f"r{i}", f"text {i}") for i in range(9))
    >>> [hit.id for hit in store.search("text 8", k=2, scope="default")]
    ['r0', 'r1']
    """

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        scope: str = "default",
        filter: Mapping[str, Any] | None = None,
        now: Any = None,
    ) -> list[Hit]:
        """Return the first k records of the scope, whatever is asked."""
        return [Hit(record.id, record.text, 0.5) for record in self.seen(scope, filter, now)[:k]]


class NewestStore(RandomStore):
    """Returns the newest k records of the scope, whatever is asked.

    Newest first by the time of a record, then by when it was written; a record without a time is
    older than any with one.

    Examples
    --------
    >>> store = NewestStore()
    >>> _ = store.put_many(Record(f"r{i}", f"text {i}") for i in range(9))
    >>> [hit.id for hit in store.search("text 0", k=2, scope="default")]
    ['r8', 'r7']
    """

    def put(self, record: Record) -> Receipt:
        """Keep the record; one that is written again is written last."""
        self.kept.pop(record.id, None)
        return super().put(record)

    put_many = RandomStore.put_many  # beside the put that it calls, so that batches go through it

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        scope: str = "default",
        filter: Mapping[str, Any] | None = None,
        now: Any = None,
    ) -> list[Hit]:
        """Return the last k records of the scope, the newest first."""
        seen = self.seen(scope, filter, now)
        ages = [(record.at is not None, record.at or _LONG_AGO, n) for n, record in enumerate(seen)]
        last = sorted(zip(ages, seen, strict=True), key=lambda pair: pair[0], reverse=True)[:k]
        return [Hit(record.id, record.text, 0.5) for _, record in last]


class ShuffledStore:
    """Wraps a store and scrambles the order of its answers.

    Recall holds, since the same records come back; rank must drop.

    Parameters
    ----------
    inner : Store
        The store under test; every other method and attribute is its own.
    seed : int
        Same seed, same answer and same query: same order.
    """

    def __init__(self, inner: Any, seed: int = 0) -> None:
        self.inner = inner
        self.seed = seed
        if batching(inner):  # records are handed on as they come, in a batch where the store can
            self.put_many = inner.put_many

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # not there yet while being copied or unpickled
            raise AttributeError(name)
        own = getattr(self.inner, name)
        return _forking(own, self.seed) if name == "fork" else own

    @property
    def capabilities(self) -> Capabilities:
        """Those of the wrapped store, without an order of scores."""
        return replace(declared(self.inner), score_order=None)

    def put(self, record: Record) -> Any:
        """Hand the record on."""
        return self.inner.put(record)

    def search(self, query: str, *, k: int = 5, **options: Any) -> Any:
        """Return the inner answer in another order; a coroutine where the inner search is one."""
        return self.scrambled(self.inner.search(query, k=k, **options), query, k)

    def scrambled(self, answer: Any, query: str, k: int | None = None) -> Any:
        """Return this answer in another order, once it is there.

        What stands past `k` stays there, so that the top k holds the same records; what is no
        answer at all is handed on as it is.
        """
        if inspect.isawaitable(answer) or inspect.isasyncgen(answer):
            return self._later(answer, query, k)
        if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
            return answer
        hits = [Hit.of(found) for found in answer]
        top, rest = hits[:k], [] if k is None else hits[k:]
        stream(self.seed, (f"{hit.id} {hit.text}" for hit in hits), query).shuffle(top)
        return top + rest

    async def _later(self, answer: Any, query: str, k: int | None) -> Any:
        if inspect.isasyncgen(answer):
            return self.scrambled([found async for found in answer], query, k)
        return self.scrambled(await answer, query, k)


def _forking(fork: Callable[[Any], Any], seed: int) -> Callable[[Any], Any]:
    """A fork of a shuffled store is shuffled too."""

    async def later(forked: Any) -> ShuffledStore:
        return ShuffledStore(await forked, seed)

    def shuffled(snapshot: Any) -> Any:
        forked = fork(snapshot)
        return later(forked) if inspect.isawaitable(forked) else ShuffledStore(forked, seed)

    return shuffled


@dataclass(frozen=True, slots=True)
class Answer:
    """What an `OracleStore` knows of one probe."""

    written: frozenset[str]
    query: str
    scope: str
    ids: tuple[str, ...]


class OracleStore(RandomStore):
    """Returns just what is expected: a suite that it cannot pass cannot be passed.

    Parameters
    ----------
    answers : iterable of Answer
        What each probe writes, asks and expects.
    """

    def __init__(self, answers: Iterable[Answer]) -> None:
        super().__init__()
        self.answers = tuple(answers)
        self.written: set[str] = set()

    def put(self, record: Record) -> Receipt:
        """Keep the record, and remember that it was written."""
        self.written.add(record.id)
        return super().put(record)

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        scope: str = "default",
        filter: Mapping[str, Any] | None = None,
        now: Any = None,
    ) -> list[Hit]:
        """Return the expected records, nothing for a query that no probe asks."""
        for answer in self.answers:
            asked = (answer.query, answer.scope) == (query, scope)
            if asked and answer.written <= self.written:
                return [Hit(i, self.kept[i].text, 1.0) for i in answer.ids if i in self.kept][:k]
        return []


def stream(seed: int, ids: Iterable[str], query: str) -> random.Random:
    """Random numbers that depend on the seed, the ids written and the query alone."""
    parts = "\x00".join((str(seed), query, *sorted(ids)))
    digest = hashlib.sha256(parts.encode("utf-8", "replace")).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


def meets(meta: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether metadata meets a filter: equal values, or one element of a list."""
    for key, value in (wanted or {}).items():
        found = meta.get(key, _ABSENT)
        held = found if isinstance(found, list | tuple) else [found]
        asked = value if isinstance(value, list | tuple) else [value]
        if not any(item in held for item in asked):
            return False
    return True
