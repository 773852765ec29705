"""Small stores with one odd habit each, for the tests of what asks them."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple

from memeval.record import Hit, Receipt, Record
from memeval.stores.base import BaseStore, Capabilities


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


class Plain:
    """Sound and simple: ranks by shared words, then by the order of writing."""

    def __init__(self) -> None:
        self.kept: dict[str, Record] = {}

    def put(self, record: Record) -> Any:
        self.kept[record.id] = record
        return record.id

    def found(self, query: str, k: int, scope: str | None) -> list[Hit]:
        asked = set(words(query))
        scored = [
            (len(asked & set(words(record.text))), record)
            for record in self.kept.values()
            if scope is None or record.scope == scope
        ]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [Hit(record.id, record.text, float(score)) for score, record in best[:k]]

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return self.found(query, k, scope)


class Deleting(Plain):
    """Deletes by its own id, within a scope."""

    def delete(self, store_id: str, *, scope: str) -> None:
        if self.kept[store_id].scope == scope:
            del self.kept[store_id]


class DeletingAnywhere(Plain):
    """Deletes by its own id, and takes no scope."""

    def delete(self, store_id: str) -> None:
        del self.kept[store_id]


class DeletingNothing(Plain):
    """Says ok and leaves the record."""

    def delete(self, store_id: str) -> str:
        return "ok"


class Counting(Deleting):
    """Tells how many records it holds."""

    def count(self) -> int:
        return len(self.kept)


class WrongPartition(Plain):
    """Writes to one place and reads from another."""

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return []


class OtherPartition(Plain):
    """Reads from a place that holds other people's records."""

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return [Hit("theirs", "Somebody else's note.")]


class SharedState(Plain):
    """All its instances hold the same records."""

    everywhere: dict[str, Record]

    def __init__(self) -> None:
        super().__init__()
        self.kept = type(self).everywhere


def shared_state() -> type[SharedState]:
    """A class of its own for each test."""
    return type("SharedState", (SharedState,), {"everywhere": {}})


class Filled(Counting):
    """Comes with records of somebody else's."""

    def __init__(self) -> None:
        super().__init__()
        self.kept["theirs"] = Record("theirs", "Somebody else's tram ticket.", "them")


class Assigning(Plain):
    """Gives ids of its own, and only them in its hits."""

    capabilities = Capabilities(ids="assigned")

    def put(self, record: Record) -> Any:
        store_id = f"m-{len(self.kept)}"
        self.kept[store_id] = Record(store_id, record.text, record.scope)
        return store_id


class AssigningSilently(Assigning):
    """Gives ids of its own, hides the texts, and tells nobody which is which."""

    def put(self, record: Record) -> Any:
        super().put(record)
        return None

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return [Hit(hit.id) for hit in self.found(query, k, scope)]


class Splitting(Plain):
    """Keeps every word pair of a text under an id of its own, rewritten."""

    capabilities = Capabilities(ids="assigned", rewrites=True)

    def put(self, record: Record) -> Any:
        said = words(record.text)
        ids = []
        for n in range(0, len(said), 2):
            part = " ".join(said[n : n + 2])
            store_id = f"m-{len(self.kept)}"
            self.kept[store_id] = Record(store_id, part, record.scope)
            ids.append(store_id)
        return ids


class Rewriting(Plain):
    """Keeps a text in capitals."""

    capabilities = Capabilities(rewrites=True)

    def put(self, record: Record) -> Any:
        text = record.text.upper()
        self.kept[record.id] = Record(record.id, text, record.scope)
        return Receipt("stored", (record.id,), (text,))


class Merging(Plain):
    """Takes texts of the same words for one record, and keeps the first."""

    capabilities = Capabilities(dedupes=True)

    def put(self, record: Record) -> Any:
        for other in self.kept.values():
            if (other.scope, sorted(words(other.text))) == (
                record.scope,
                sorted(words(record.text)),
            ):
                return Receipt("merged", (other.id,))
        return super().put(record)


class Rejecting(Plain):
    """Keeps nothing that has to do with noodles."""

    def put(self, record: Record) -> Any:
        return [] if "noodles" in words(record.text) else super().put(record)


class FailingPut(Plain):
    """Raises on the first `times` writes of a record about noodles."""

    def __init__(self, times: int = 99) -> None:
        super().__init__()
        self.times = times

    def put(self, record: Record) -> Any:
        if "noodles" in words(record.text) and self.times:
            self.times -= 1
            raise ConnectionError("429 too many requests")
        return super().put(record)


class FailingSearch(Plain):
    """Raises on searches whose text holds a word, the first `times` of them."""

    def __init__(self, word: str, times: int = 99) -> None:
        super().__init__()
        self.word, self.times = word, times

    def search(self, query: str, *, k: int, scope: str) -> Any:
        if self.word in words(query) and self.times:
            self.times -= 1
            raise ValueError("k is larger than the store")
        return super().search(query, k=k, scope=scope)


class Returning(Plain):
    """Returns one and the same thing to whatever is asked about noodles."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    def search(self, query: str, *, k: int, scope: str) -> Any:
        if "noodles" in words(query):
            return self.answer
        return super().search(query, k=k, scope=scope)


class Hanging(Plain):
    """Does not come back from a search for a word."""

    def __init__(self, word: str = "noodles", seconds: float = 20.0) -> None:
        super().__init__()
        self.word, self.seconds = word, seconds
        self.free = threading.Event()
        self.closed = False

    def search(self, query: str, *, k: int, scope: str) -> Any:
        if self.word in words(query):
            self.free.wait(self.seconds)
        return super().search(query, k=k, scope=scope)

    def close(self) -> None:
        self.closed = True


class Slow(Plain):
    """Takes its time to write, to search, or on its first search."""

    def __init__(self, put_s: float = 0.0, search_s: float = 0.0, first_s: float = 0.0) -> None:
        super().__init__()
        self.put_s, self.search_s, self.first_s = put_s, search_s, first_s

    def put(self, record: Record) -> Any:
        time.sleep(self.put_s)
        return super().put(record)

    def search(self, query: str, *, k: int, scope: str) -> Any:
        time.sleep(self.search_s + self.first_s)
        self.first_s = 0.0
        return super().search(query, k=k, scope=scope)


class Eventual(Plain):
    """Finds what was written only after so many searches."""

    capabilities = Capabilities(consistency="eventual")

    def __init__(self, searches: int = 3) -> None:
        super().__init__()
        self.left = searches

    def put(self, record: Record) -> Any:
        self.waits = self.left
        return super().put(record)

    def search(self, query: str, *, k: int, scope: str) -> Any:
        self.waits -= 1
        return super().search(query, k=k, scope=scope) if self.waits < 0 else []


class Waiting(Plain):
    """Finds what was written once it was waited for, if ever."""

    def __init__(self, ever: bool = True) -> None:
        super().__init__()
        self.ever, self.ready = ever, False
        self.waited: list[list[str]] = []

    def wait_visible(self, store_ids: list[str], timeout_s: float) -> bool:
        self.waited.append(store_ids)
        self.ready = self.ever or "memeval-self-check" in store_ids
        return self.ready

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return super().search(query, k=k, scope=scope) if self.ready else []


class Async:
    """Every method is a coroutine function."""

    capabilities = Capabilities(honours=frozenset({"filter", "now"}), isolation="fork")

    def __init__(self) -> None:
        self.inner = Counting()
        self.told: list[Any] = []

    async def put(self, record: Record) -> Any:
        return self.inner.put(record)

    async def put_many(self, records: list[Record]) -> Any:
        return [self.inner.put(record) for record in records]

    async def search(self, query: str, *, k: int, scope: str, filter: Any = None, now: Any = None):
        self.told.append((filter, now))
        return self.inner.search(query, k=k, scope=scope)

    async def delete(self, store_id: str, *, scope: str) -> None:
        self.inner.delete(store_id, scope=scope)

    async def advance(self, by: Any) -> None:
        self.told.append(by)

    async def consolidate(self) -> None:
        self.told.append("consolidate")

    async def count(self) -> int:
        return self.inner.count()

    async def clear(self) -> None:
        self.inner.kept.clear()

    @asynccontextmanager
    async def scratch(self):
        before = dict(self.inner.kept)
        yield
        self.inner.kept = before

    async def wait_visible(self, store_ids: list[str], timeout_s: float) -> bool:
        return True

    async def close(self) -> None:
        self.told.append("close")

    async def info(self) -> dict[str, Any]:
        return {"name": "Async", "version": "3"}


class AsyncBase(BaseStore):
    """An asynchronous adapter on the base class, whose fallbacks are not."""

    def __init__(self) -> None:
        self.inner = Plain()

    async def put(self, record: Record) -> Any:  # type: ignore[override]
        return self.inner.put(record)

    async def search(self, query: str, *, k: int, scope: str) -> Any:  # type: ignore[override]
        return self.inner.search(query, k=k, scope=scope)


class AsyncGenerating(AsyncBase):
    """Its search is an asynchronous generator."""

    async def search(self, query: str, *, k: int, scope: str) -> Any:  # type: ignore[override]
        for hit in self.inner.search(query, k=k, scope=scope):
            yield hit


class Generating(Plain):
    """Its search is a generator that takes its time for each hit."""

    seconds = 0.0

    def search(self, query: str, *, k: int, scope: str) -> Any:
        for hit in self.found(query, k, scope):
            time.sleep(self.seconds)
            yield hit


class Mappings(Plain):
    """Returns mappings, with the id in the metadata alone."""

    capabilities = Capabilities(ids="meta")

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return [
            {"id": n, "text": hit.text, "score": hit.score, "metadata": {"source": hit.id}}
            for n, hit in enumerate(self.found(query, k, scope))
        ]


class Pairs(Plain):
    """Returns pairs of id and score."""

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return [(hit.id, hit.score) for hit in self.found(query, k, scope)]


class SpecHit(NamedTuple):
    record: Record
    score: float
    why: str = ""


class SpecStyle(Plain):
    """Returns hits in the shape of the specification."""

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return [SpecHit(self.kept[h.id or ""], h.score or 0.0) for h in self.found(query, k, scope)]


class TextsOnly(Plain):
    """Returns texts without ids."""

    capabilities = Capabilities(ids="none")

    def put(self, record: Record) -> Any:
        super().put(record)
        return Receipt("stored")

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return [Hit(None, hit.text) for hit in self.found(query, k, scope)]


class Filling(Plain):
    """Fills its answer up to k with ids -1 and None."""

    def search(self, query: str, *, k: int, scope: str) -> Any:
        found: list[Any] = list(self.found(query, k, scope))
        filler = [(-1, float("nan")), (None, None)]
        return found + [filler[n % 2] for n in range(k - len(found))]


class Strangers(Plain):
    """Puts a record that nobody wrote before its answer."""

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return [Hit("zz9", "A summary made on the fly."), *self.found(query, k - 1, scope)]


class Twice(Plain):
    """Returns its best hit twice."""

    def search(self, query: str, *, k: int, scope: str) -> Any:
        found = self.found(query, k - 1, scope)
        return found[:1] + found


class Generous(Plain):
    """Returns everything, whatever k is."""

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return self.found(query, 10_000, scope)


class OddScores(Plain):
    """Scores are NaN, None, or not there at all."""

    def search(self, query: str, *, k: int, scope: str) -> Any:
        found = self.found(query, k, scope)
        odd = [float("nan"), None]
        return [[h.id, odd[n]] if n < 2 else [h.id] for n, h in enumerate(found)]


class Distances(Plain):
    """Scores are distances, best first."""

    capabilities = Capabilities(score_order="low")

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return [(hit.id, 0.1 * (n + 1)) for n, hit in enumerate(self.found(query, k, scope))]


class Scopeless(Plain):
    """Has no scopes and says so."""

    capabilities = Capabilities(scoping="none")

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return self.found(query, k, None)


class ClientScoped(Plain):
    """The adapter filters what the store found in all scopes."""

    capabilities = Capabilities(scoping="client")


class ScopeBlind(Plain):
    """Declares scopes and ignores them."""

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return self.found(query, k, None)


class Learning(Plain):
    """Ranks what was read before what was not."""

    def __init__(self) -> None:
        super().__init__()
        self.read: Counter[str] = Counter()

    def search(self, query: str, *, k: int, scope: str) -> Any:
        found = sorted(self.found(query, 100, scope), key=lambda hit: self.read[hit.id or ""])
        self.read.update(hit.id or "" for hit in found[:1])
        return found[:k]


class Alternating(Plain):
    """Turns its answer round every other time."""

    def __init__(self) -> None:
        super().__init__()
        self.searches = 0

    def search(self, query: str, *, k: int, scope: str) -> Any:
        self.searches += 1
        return self.found(query, k, scope)[:: 1 if self.searches % 2 else -1]


class SteadyLiar(Alternating):
    """The same, and declares itself deterministic."""

    capabilities = Capabilities(deterministic=True)


class OpenChance(Alternating):
    """The same, and declares that it is not deterministic."""

    capabilities = Capabilities(deterministic=False)


class Place:
    """A place of the user's, in which several clients see the same records."""

    def __init__(self, isolation: str, **declared: Any) -> None:
        self.kept: dict[str, Record] = {}
        self.calls: list[str] = []
        self.declared = Capabilities(isolation=isolation, **declared)  # type: ignore[arg-type]


class Client(Counting):
    """One client of a `Place`."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.capabilities = place.declared

    @property
    def kept(self) -> dict[str, Record]:  # type: ignore[override]
        return self.place.kept

    def put(self, record: Record) -> Any:
        self.place.calls.append("put")
        return super().put(record)


class Clearing(Client):
    """Can be emptied."""

    def clear(self) -> None:
        self.place.calls.append("clear")
        self.place.kept.clear()


class ClearingBadly(Client):
    """Says ok and leaves records."""

    def clear(self) -> str:
        return "ok"


class Scratching(Client):
    """Forgets what was written within `scratch`."""

    @contextmanager
    def scratch(self):
        before = dict(self.place.kept)
        try:
            yield
        finally:
            self.place.kept = before


class HangingScratch(Scratching):
    """Hangs in a search, and its scratch cannot end meanwhile."""

    def __init__(self, place: Place, word: str = "noodles") -> None:
        super().__init__(place)
        self.word = word
        self.lock = threading.Lock()

    def search(self, query: str, *, k: int, scope: str) -> Any:
        with self.lock:
            if self.word in words(query):
                time.sleep(20.0)
            return super().search(query, k=k, scope=scope)

    @contextmanager
    def scratch(self):
        before = dict(self.place.kept)
        try:
            yield
        finally:
            with self.lock:
                self.place.kept = before


class Forking(Plain):
    """Gives forks of a snapshot, and no scratch."""

    capabilities = Capabilities(isolation="fork")

    def snapshot(self) -> dict[str, Record]:
        return dict(self.kept)

    def fork(self, token: dict[str, Record]) -> Plain:
        forked = Plain()
        forked.kept = dict(token)
        return forked
