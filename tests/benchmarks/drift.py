"""What a simulation takes beside the calls that it makes, and how that grows with the store.

The store of a simulation notes every call, and the bare loop makes the same calls to a store of the
same kind: the same batches, the same searches, the same scratches. Both write the same sessions,
made before; a line of its own has them made within. The loop that people write puts one record at a
time, and has a line of its own too.

A checkpoint is held against its own searches: what it takes beside them must not grow. The largest
simulation is held against a fifth of it, in time and in memory per record, with one checkpoint at
each end; the searches of the last checkpoint cost what the store takes for so many records.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any, Self

import memeval as me
from memeval.record import Hit, Receipt, Record
from memeval.sessions import Generator, Session, generator_for
from memeval.simulate import run_simulation
from memeval.stores.sqlite import SqliteStore

from .timing import Figure, medians

Calls = list[tuple[str, Any, dict[str, Any]]]


def noting(calls: Calls) -> Callable[[], SqliteStore]:
    """Give stores that note what is asked of them, in order."""

    class Noting(SqliteStore):
        def put_many(self, records: Iterable[Record]) -> list[Receipt]:
            kept = list(records)
            calls.append(("put_many", kept, {}))
            return super().put_many(kept)

        def search(self, query: str, **options: Any) -> list[Hit]:
            calls.append(("search", query, options))
            return super().search(query, **options)

        def delete(self, store_id: str, **options: Any) -> bool:
            calls.append(("delete", store_id, options))
            return super().delete(store_id, **options)

        def advance(self, by: Any) -> None:
            calls.append(("advance", by, {}))
            super().advance(by)

        def count(self, scope: str | None = None) -> int:
            calls.append(("count", scope, {}))
            return super().count(scope)

        @contextmanager
        def scratch(self) -> Iterator[Self]:
            calls.append(("enter", None, {}))
            with super().scratch():
                yield self
            calls.append(("leave", None, {}))

    return Noting


def bare(calls: Calls, singly: bool = False) -> None:
    """Make the same calls, and nothing else; with ``singly`` each record in a put of its own."""
    store, stack = SqliteStore(), ExitStack()
    for name, told, options in calls:
        if singly and name == "put_many":
            for record in told:
                store.put(record)
            continue
        if name == "enter":
            stack.enter_context(store.scratch())
        elif name == "leave":
            stack.close()
        else:
            getattr(store, name)(told, **options)
    store.close()


@cache
def shipped() -> me.Suite:
    """The suite that is planted."""
    return me.load()


def sessions(n: int) -> list[Session]:
    """Made before anything is timed."""
    return list(generator_for(shipped(), 7, cohorts=5).sessions(n))


def figures(quick: bool) -> Iterator[Figure]:
    """The whole, its checkpoints, and what becomes of both in a store that is large."""
    n, rounds = (60, 3) if quick else (200, 5)
    yield from _whole(n, rounds)
    yield _with_generator(n, rounds)
    yield _checkpoint(200 if quick else 2000)
    small, large = (200, 1000) if quick else (1000, 5000)
    yield _linear(small, large)
    yield _memory(small, large)


def _whole(n: int, rounds: int) -> Iterator[Figure]:
    made, calls = sessions(n), []
    run_simulation(shipped(), noting(calls), sessions=n, source=made)
    times = medians(
        {
            "simulation": lambda: run_simulation(shipped(), SqliteStore, sessions=n, source=made),
            "bare": lambda: bare(calls),
            "singly": lambda: bare(calls, singly=True),
        },
        rounds,
    )
    what = f"{n} sessions, 4 cohorts, {len(shipped())} probes, 8 checkpoints"
    yield Figure(what, times["simulation"], times["bare"], f"the same {len(calls):,} calls",
                 1.3, at_least=False)  # fmt: skip
    n_records = sum(len(told) for name, told, _ in calls if name == "put_many")
    yield Figure("the same", times["simulation"], times["singly"],
                 f"{n_records:,} puts, the same searches", 1.3, at_least=False)  # fmt: skip


def _with_generator(n: int, rounds: int) -> Figure:
    calls: Calls = []
    run_simulation(shipped(), noting(calls), sessions=n)

    def loop() -> None:
        sessions(n)
        bare(calls)

    times = medians(
        {"whole": lambda: run_simulation(shipped(), SqliteStore, sessions=n), "bare": loop}, rounds
    )
    return Figure("the same, its sessions made within", times["whole"], times["bare"],
                  "made, and the same calls", 1.3, at_least=False)  # fmt: skip


class Timed(SqliteStore):
    """Adds up the time in its own searches and writes."""

    spent = 0.0

    def search(self, query: str, **options: Any) -> list[Hit]:
        """Search, timed."""
        started = time.process_time()
        found = super().search(query, **options)
        Timed.spent += time.process_time() - started
        return found

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write, timed."""
        started = time.process_time()
        told = super().put_many(records)
        Timed.spent += time.process_time() - started
        return told


def _checkpoint(n: int) -> Figure:
    """CPU time of the last checkpoint beside the store's own, against that of an early one."""
    from memeval.simulating.world import World

    beside: list[float] = []
    real = World.checkpoint

    def timed(self: World, session: int, fresh: Any) -> Any:
        began, spent = time.process_time(), Timed.spent
        told = real(self, session, fresh)
        beside.append(time.process_time() - began - (Timed.spent - spent))
        return told

    early = n // 20
    World.checkpoint = timed  # type: ignore[method-assign]
    try:
        run_simulation(shipped(), Timed, sessions=n, cohorts=1,
                       checkpoints=[early, early + 1, early + 2, n - 2, n - 1, n])  # fmt: skip
    finally:
        World.checkpoint = real  # type: ignore[method-assign]
    first, last = sorted(beside[1:4])[1], sorted(beside[4:])[1]
    return Figure(f"a checkpoint beside its calls, {n:,} sessions", last, first,
                  f"after {early:,}", 1.3, at_least=False)  # fmt: skip


def _grow(n: int) -> None:
    """A store and few probes: what counts here is the growth."""
    source = Generator(scopes=tuple(f"scope {i}" for i in range(20)))
    run_simulation(shipped()[:5], SqliteStore, sessions=n, cohorts=1, checkpoints=[0, n],
                   source=source)  # fmt: skip


def _linear(small: int, large: int) -> Figure:
    times = {}
    for n in (small, large):
        started = time.process_time()
        _grow(n)
        times[n] = time.process_time() - started
    return Figure(f"time per session, {20 * large:,} records", times[large] / large,
                  times[small] / small, f"{20 * small:,} records", 1.3, at_least=False)  # fmt: skip


def _memory(small: int, large: int) -> Figure:
    """Of Python alone: what the store holds in SQLite is the store's."""
    peaks = {}
    for n in (small, large):
        tracemalloc.start()
        _grow(n)
        peaks[n] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    first, last = peaks[small] / 20 / small, peaks[large] / 20 / large
    what = f"memory per record, {20 * large:,} records"
    return Figure(what, last, first, f"{20 * small:,} records", 1.3, False, "B")
