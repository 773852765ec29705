"""A clean store for every history, on the embedded store: undone, made anew, restored.

Two sets of stores: the histories of the shipped suite, each with the haystack around it (about 300
records), and 34 stores of 5 to 200 short records. Every way gets the same records and asks each
store one question. The spellings of texts that repeat are cached in every way alike, as they are in
a run. "A put at a time" and "put_many" are memeval's own, so that the ratio is that of the ways.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import memeval as me
from memeval.controls import answers
from memeval.harness.asking import FIXED_WORD
from memeval.harness.collecting import haystack_of, histories
from memeval.harness.snapshots import Shelf
from memeval.record import Record
from memeval.runner import run
from memeval.stores.broken import NullStore, OracleStore, RandomStore, ShuffledStore
from memeval.stores.sqlite import SqliteStore

from .timing import Figure, medians

WRITTEN_ANEW = {"repeats": 1, "repeat_check": False, "check_store": False}


@dataclass(frozen=True)
class History:
    """What one store holds, and the question to it."""

    records: Sequence[Record]
    query: str
    k: int
    scope: str

    def ask(self, store: SqliteStore) -> None:
        """Search once."""
        store.search(self.query, k=self.k, scope=self.scope)


def shipped(every: int) -> list[History]:
    """Histories of the shipped suite, haystack included; of an id the last write."""
    suite = me.load()
    found: list[History] = []
    for probes in histories(suite)[::every]:
        around = haystack_of(suite, probes, 0, True)
        given = [op for op in probes[0].given if isinstance(op, Record)]
        records = {r.id: r for r in (*around.before, *given, *around.after)}
        asked = probes[0]
        found.append(History(tuple(records.values()), asked.query, asked.k, asked.scope))
    return found


def small(every: int) -> list[History]:
    """34 stores of 5 to 200 records of twelve words."""
    draw = random.Random(0)
    words = [f"word{n}" for n in range(2000)]
    at = datetime(2026, 5, 1, tzinfo=UTC)
    found: list[History] = []
    for n in range(0, 34, every):
        texts = [" ".join(draw.choices(words, k=12)) for _ in range(5 + 195 * n // 33)]
        records = [Record(f"r{i}", text, at=at) for i, text in enumerate(texts)]
        found.append(History(records, " ".join(texts[0].split()[:3]), 5, "default"))
    return found


def one_put_each(stores: Sequence[History]) -> None:
    """A new store, written a record at a time."""
    for history in stores:
        with SqliteStore() as store:
            for record in history.records:
                store.put(record)
            history.ask(store)


def in_batches(stores: Sequence[History], ask: bool = True) -> None:
    """A new store, written at once."""
    for history in stores:
        with SqliteStore() as store:
            store.put_many(history.records)
            if ask:
                history.ask(store)


def undone(stores: Sequence[History], ask: bool = True) -> None:
    """One store, and everything undone after each history: memeval's way."""
    with SqliteStore() as store:
        for history in stores:
            with store.scratch():
                store.put_many(history.records)
                if ask:
                    history.ask(store)


def made_only(stores: Sequence[History]) -> None:
    """New stores that nothing is done with."""
    for _ in stores:
        SqliteStore().close()


def snapshots(stores: Sequence[History]) -> list[bytes]:
    """What each store holds."""
    taken: list[bytes] = []
    with SqliteStore() as store:
        for history in stores:
            with store.scratch():
                store.put_many(history.records)
                taken.append(store.snapshot())
    return taken


def restored(stores: Sequence[History], taken: Sequence[bytes], ask: bool = False) -> None:
    """Each store as a fork of what was written once."""
    with SqliteStore() as store:
        for history, snapshot in zip(stores, taken, strict=True):
            with store.fork(snapshot) as fork:
                if ask:
                    history.ask(fork)


def scored(stores: Sequence[History], rounds: int) -> tuple[float, float]:
    """Median wall seconds of the scored search, restored and freshly written, in turns."""
    latencies: dict[str, list[float]] = {"restored": [], "written": []}
    with SqliteStore() as store:
        for history in list(stores) * rounds:
            with store.scratch():
                store.put_many(history.records)
                snapshot = store.snapshot()
                latencies["written"].append(_scored(store, history))
            with store.fork(snapshot) as fork:
                latencies["restored"].append(_scored(fork, history))
    return statistics.median(latencies["restored"]), statistics.median(latencies["written"])


def _scored(store: SqliteStore, history: History) -> float:
    store.search(FIXED_WORD, k=history.k, scope=history.scope)
    started = time.perf_counter()
    history.ask(store)
    return time.perf_counter() - started


def five_runs(suite: me.Suite) -> None:
    """What the controls ran before there was a shelf: every history written in every run."""
    run(suite, SqliteStore, shelf=Shelf(0))
    told = answers(suite)
    broken: list[Callable[[], object]] = [
        NullStore, RandomStore, lambda: ShuffledStore(SqliteStore()), lambda: OracleStore(told)
    ]  # fmt: skip
    for make in broken:
        run(suite, make, shelf=Shelf(0), **WRITTEN_ANEW)  # type: ignore[arg-type]


def figures(quick: bool) -> Iterator[Figure]:
    """Clean stores on both sets, then what a whole run makes of it."""
    rounds = 3 if quick else 5
    sets = {"shipped suite": shipped(5 if quick else 1), "34 stores": small(2 if quick else 1)}
    for name, stores in sets.items():
        yield from _clean(name, stores, rounds)
    stores = sets["shipped suite"]
    ours, other = scored(stores, rounds)
    told = f"scored search after a restore, {len(stores)} histories (wall)"
    yield Figure(told, ours, other, "after writing", 1.1, at_least=False)
    yield from _whole_runs(2 if quick else 3)


def _clean(name: str, stores: Sequence[History], rounds: int) -> Iterator[Figure]:
    n = sum(len(history.records) for history in stores)
    said = f"{name}, {len(stores)} histories, {n:,} records"
    taken = snapshots(stores)
    ways: dict[str, Callable[..., object]] = {
        "undone": undone,
        "undone, not asked": partial(undone, ask=False),
        "one put each": one_put_each,
        "put_many": in_batches,
        "put_many, not asked": partial(in_batches, ask=False),
        "made": made_only,
        "restored": partial(restored, taken=taken),
        "restored, asked": partial(restored, taken=taken, ask=True),
    }
    took = medians({way: partial(call, stores) for way, call in ways.items()}, rounds)
    begun = f"begin, put_many, search, rollback: {said}"
    yield Figure(begun, took["undone"], took["one put each"], "new store, a put at a time", 4.0)
    yield Figure(begun, took["undone"], took["put_many"], "new store, put_many", 1.8)
    # Parts as differences of wholes; making one store instead of many takes next to nothing.
    put, put_new = took["undone, not asked"], took["put_many, not asked"] - took["made"]
    yield Figure(f"  of it: put (and undo), {name}", put, put_new, "new store: put, commit", 1.0)
    asked = max(took["undone"] - put, 1e-6)
    asked_new = max(took["put_many"] - took["put_many, not asked"], 1e-6)
    yield Figure(f"  of it: first search, {name}", asked, asked_new, "new store: search", 1.0)
    alone = took["made"]
    yield Figure(f"  of it: make, {name}", alone, took["put_many"], "new store: all of it", 1.0)
    fork = f"fork of a snapshot: {said}"
    yield Figure(fork, took["restored"], took["put_many, not asked"], "make, put_many", 8.0)
    fork = f"fork of a snapshot, search: {name}"
    yield Figure(fork, took["restored, asked"], took["put_many"], "make, put_many, search", 8.0)


def _whole_runs(rounds: int) -> Iterator[Figure]:
    suite = me.load()
    took = medians(
        {
            "controls": lambda: me.run_controls(suite, SqliteStore),
            "five runs": lambda: five_runs(suite),
            "three": lambda: run(suite, SqliteStore, repeats=3),
            "three anew": lambda: run(suite, SqliteStore, repeats=3, shelf=Shelf(0)),
        },
        rounds,
    )
    told = f"run_controls, shipped suite, {len(suite)} probes"
    yield Figure(told, took["controls"], took["five runs"], "five runs without a shelf", 1.0)
    told = f"three repeats, shipped suite, {len(suite)} probes"
    yield Figure(told, took["three"], took["three anew"], "each written anew", 1.0)
