"""Does the store find what was just written? Asked before any probe is.

An adapter that writes to one place and reads from another would score recall 0, and perfectly on
leaks and abstention; a store that shares state between instances would let one probe answer the
next.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from memeval.errors import StoreError
from memeval.harness.asking import Options
from memeval.harness.matching import IdMap
from memeval.harness.workspace import SLOW_PUT_MS, explained
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore, CallLimitError, SearchTimeoutError, View
from memeval.text import contains_tokens

CANARY = Record(
    "memeval-self-check", "Canary record of memeval, look me up by these words.", "memeval-check"
)
TWO_WORDS = "canary record"
MOST_HITS = 5
LENIENT_S = 10.0
WANTED = "put one record, then find it by its own words"
NEIGHBOUR = Record("memeval-self-check-2", "Another note, on tides and ferries.", CANARY.scope)


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """What one record written and searched told of the store.

    Attributes
    ----------
    capabilities : Capabilities
        As declared.
    info : mapping
        As the store tells it.
    put_ms, search_ms : float
        Time of one write (where it is slow the faster of two, since the first may load what is
        needed) and of one search, in milliseconds.
    """

    capabilities: Capabilities
    info: Mapping[str, Any]
    put_ms: float = 0.0
    search_ms: float = 0.0


def self_check(
    make: Callable[[], BoundStore],
    options: Options,
    *,
    search: bool = True,
    lenient: bool = False,
) -> SelfCheck:
    """Write one record to a fresh store and search it: its own text, then two of its words.

    What is written is taken away again, as the store's isolation has it.

    Parameters
    ----------
    make : callable
        Gives a fresh `BoundStore`.
    options : Options
        How to wait for writes.
    search : bool
        False for stores that are broken on purpose: only what they declare is read.
    lenient : bool
        For a check of the store itself, that tells what else is wrong: wait for a write also where
        it should be found at once, and do not look whether stores share their records.

    Raises
    ------
    StoreError
        If the store fails, holds records already, does not find the record, or a second store
        finds it too.
    """
    store = _made(make)
    try:
        with explained("self check: the store failed when asked what it is", WANTED):
            declared, told = store.capabilities, store.info()
        if not search or getattr(store.inner, "broken_on_purpose", False):
            return SelfCheck(declared, told)
        _refuse_filled(store, options)
        put_ms, search_ms = _round(store, options, lenient)
    finally:
        _let_go(store)
    if declared.isolation == "fresh" and not (options.allow_nonempty or lenient):
        _refuse_shared(make)
    return SelfCheck(declared, told, put_ms, search_ms)


def _made(make: Callable[[], BoundStore]) -> BoundStore:
    with explained("self check: make_store failed", "a fresh store for each probe"):
        return make()


def _let_go(store: BoundStore) -> None:
    with explained("self check: the store failed in close()", "close() lets go of it"):
        store.close()


def _count(store: BoundStore) -> int | None:
    with explained("self check: the store failed in count()", "the number of records, or None"):
        return store.count()


def _refuse_filled(store: BoundStore, options: Options) -> None:
    there = None if options.allow_nonempty else _count(store)
    if there:
        raise StoreError(
            f"make_store gave a store that holds {there} records already, wanted an empty one; let "
            "it give a fresh store for each probe (memeval writes to it), or say "
            "allow_nonempty=True (--allow-nonempty) if these records may stay"
        )


def _round(store: BoundStore, options: Options, waits: bool) -> tuple[float, float]:
    """Write the canary, look it up and take it away; times in milliseconds."""
    canary, neighbour = _notes(store.capabilities)
    ids = IdMap()
    with explained("self check: the store failed on its first record", WANTED), _passing(store):
        first_ms, receipt = _timed_put(store, canary)
        ids.wrote(canary, receipt)
        if store.supports("wait_visible"):
            store.wait_visible(receipt.store_ids, options.settle_s)
        started = time.perf_counter_ns()
        _find(store, canary, ids, options, waits)
        search_ms = (time.perf_counter_ns() - started) / 1e6
        put_ms = first_ms
        if first_ms > SLOW_PUT_MS:  # it may have loaded something: is the next one slow too?
            second_ms, beside = _timed_put(store, neighbour)
            put_ms = min(first_ms, second_ms)
            remove(store, neighbour, beside)
        remove(store, canary, receipt)
    return put_ms, search_ms


def _notes(declared: Capabilities) -> tuple[Record, Record]:
    """The records to write; in a store that keeps what is written, under names of their own."""
    if declared.isolation != "namespace":
        return CANARY, NEIGHBOUR
    own = f"-{secrets.token_hex(4)}"
    canary, neighbour = (
        replace(record, id=record.id + own, scope=record.scope + own)
        for record in (CANARY, NEIGHBOUR)
    )
    return canary, neighbour


@contextmanager
def _passing(store: BoundStore) -> Iterator[None]:
    """Leave nothing behind in a store that is forked or cleared."""
    isolation = store.capabilities.isolation
    if isolation == "fork" and (store.supports("scratch") or store.supports("fork")):
        with store.scratch():
            yield
        return
    yield
    if isolation == "clear" and store.supports("clear"):
        with explained("the store failed where it must not, in clear()", "clear() empties it"):
            store.clear()


def _timed_put(store: BoundStore, record: Record) -> tuple[float, Receipt]:
    receipt = store.put(record)
    return store.attempt_ms, receipt


def _find(store: BoundStore, canary: Record, ids: IdMap, options: Options, waits: bool) -> None:
    most = min(options.settle_s, LENIENT_S) if waits else 0.0
    if store.capabilities.consistency == "eventual":
        most = options.settle_s
    end = time.monotonic() + most
    seen: list[Hit] = []
    while True:
        for query in (canary.text, TWO_WORDS):
            hits = asked(store, query, canary.scope)
            if _is_among(hits, ids, store.capabilities):
                return
            seen += hits
        left = end - time.monotonic()
        if left <= 0:
            raise StoreError(_not_found(seen))
        time.sleep(min(options.poll_s, left))


def asked(store: BoundStore, query: str, scope: str) -> list[Hit]:
    """Ask for five hits, and for one where the store refuses a k above what it holds.

    Such a store is not broken: its probes have k records, or become failed searches of their own.
    """
    try:
        return store.search(View(query, MOST_HITS, scope))
    except (CallLimitError, SearchTimeoutError):
        raise
    except Exception:  # what the store cannot answer at all it raises again
        return store.search(View(query, 1, scope))


def _is_among(hits: Sequence[Hit], ids: IdMap, declared: Capabilities) -> bool:
    """Whether the canary came back; a store that makes its own records of it may hide which."""
    return any(declared.rewrites or ids.resolve(hit)[0] is not None for hit in hits)


def _not_found(seen: Sequence[Hit]) -> str:
    others = ""
    if seen:
        others = (
            f" Other records came back, such as id {seen[0].id!r}; let put return the store's own "
            "id, or give back the written id or text in the hit."
        )
    return (
        "self check: record written, not found. One record was put into a fresh store, and "
        f"neither its own text nor {TWO_WORDS!r} finds it in its scope.{others} Wanted: what is "
        "written comes back; check that the adapter writes to and reads from the same place, and "
        "that search does not turn errors into []"
    )


def remove(store: BoundStore, record: Record, receipt: Receipt) -> None:
    """Take one record away; where that cannot be done in a place of the user's, say so."""
    if store.supports("delete"):
        for store_id in receipt.store_ids or (record.id,):
            store.delete(store_id, record.scope, within_limit=False)
    elif store.capabilities.isolation == "namespace":
        store.meter.left_behind += 1


def _refuse_shared(make: Callable[[], BoundStore]) -> None:
    """A record written to one store may not be found in the next, as the next probe would."""
    first = _made(make)
    try:
        with explained("self check: the store failed on its first record", WANTED):
            receipt = first.put(CANARY)
    finally:
        _let_go(first)
    second = _made(make)
    try:
        shared = bool(_count(second))
        with explained("self check: the store failed after one of its kind", WANTED):
            beside = second.put(NEIGHBOUR)
            hits = asked(second, CANARY.text, CANARY.scope)
            shared = shared or any(map(is_canary, hits))
            if shared:
                remove(second, CANARY, receipt)
                remove(second, NEIGHBOUR, beside)
    finally:
        _let_go(second)
    if shared:
        raise StoreError(
            "self check: make_store gives stores that share their records: what was written to one "
            "is found in the next, wanted an empty one each time; give each a place of its own, or "
            "declare isolation 'namespace'"
        )


def is_canary(hit: Hit) -> bool:
    """Whether a hit is the record that this check writes."""
    named = CANARY.id in (hit.id, *(v for v in hit.meta.values() if isinstance(v, str)))
    return named or contains_tokens(hit.text, CANARY.text)


def refuse_one_place(make: Callable[[], BoundStore], declared: Capabilities, jobs: int) -> None:
    """Refuse stores of several workers that would meet in one place.

    A store that is cleared, or that forgets within ``scratch()``, may stand for a place of which
    there is one: alone it is clean each time, and beside another it is not. A fork is nobody
    else's by its nature.

    Parameters
    ----------
    make : callable
        Gives a fresh `BoundStore`.
    declared : Capabilities
        As the store declares them.
    jobs : int
        How many workers there are to be.

    Raises
    ------
    StoreError
        If a record that is written to one is found in another, or they stand in each other's way.
    """
    beside = f"self check: jobs is {jobs}, and the store failed beside another of its kind"
    with explained(beside, "stores that do not meet, or no jobs"), ExitStack() as opened:
        first, second = (opened.enter_context(closing(_made(make))) for _ in range(2))
        forked = declared.isolation == "fork" and not first.supports("scratch")
        if forked or getattr(first.inner, "broken_on_purpose", False):
            return
        with _passing(first), _passing(second):
            receipt = first.put(CANARY)
            other = second.put(NEIGHBOUR)
            hits = asked(second, CANARY.text, CANARY.scope)
            if declared.isolation == "fresh":
                remove(first, CANARY, receipt)
                remove(second, NEIGHBOUR, other)
        met = any(map(is_canary, hits))
    if met:
        raise StoreError(
            f"jobs is {jobs}, and make_store gives stores that share their records: what was "
            "written to one is found in the next, wanted one for each worker; give each a place of "
            "its own (such as a temporary folder), or leave jobs out"
        )
