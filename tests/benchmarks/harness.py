"""What a run adds to a store's own time.

The store is a list: a write appends, a search gives the first k of the scope. Its own time is that
of a bare loop that makes the same calls on the same store; what is left is memeval's. A run also
has costs of its own that come once (the self check, versions and commit for the manifest, empty
tables): they fall out, because the time of a probe is the slope between a small and a large suite,
and the time of a record is the slope between few and many records in each probe.

In each figure probes are built before, and asked once before what is timed: their hashes, and the
copies of their records that stores are handed, are made once and kept with the history. What that
costs stands in a line of its own ("first run"). Scoring is not in these figures: a bare list of
probes is scored when somebody looks. Python's garbage collector is off where the line says so.

On the embedded store the bare loop makes the same writes and searches on one store, each history
in a scratch; building the haystack counts as memeval's. It writes the same batches as memeval does,
and in a line of its own one record after another, as the loops that people write do.
"""

from __future__ import annotations

import gc
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import memeval as me
from memeval.errors import WeakSuiteWarning
from memeval.harness.collecting import haystack_of, histories
from memeval.haystack import Haystack
from memeval.record import Hit, Record
from memeval.stores.sqlite import SqliteStore

from .timing import Figure, medians

FEW, MANY = 5, 205
BARE: dict[str, Any] = {"repeat_check": False, "contract_checks": False}


class Listed:
    """A store that is a list."""

    def __init__(self) -> None:
        self.kept: list[Record] = []

    def put(self, record: Record) -> None:
        """Append one record."""
        self.kept.append(record)

    def put_many(self, records: Sequence[Record]) -> None:
        """Append several records."""
        self.kept.extend(records)

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        """Give the first k of the scope."""
        found: list[Hit] = []
        for record in self.kept:
            if record.scope == scope:
                found.append(Hit(record.id, record.text))
                if len(found) == k:
                    break
        return found


class Named(Listed):
    """The same, and each write tells the id."""

    def put_many(self, records: Sequence[Record]) -> list[str]:  # type: ignore[override]
        """Append several records."""
        self.kept.extend(records)
        return [record.id for record in records]


def made(n: int, n_records: int) -> list[me.Probe]:
    """Probes of so many records each, of which the first is expected."""
    return [
        me.Probe(
            f"probe {p}",
            f"what is thing {p}",
            [Record(f"r{n}", f"Thing {n} of {p} is here.") for n in range(n_records)],
            ["r0"],
        )
        for p in range(n)
    ]


def looped(probes: Sequence[me.Probe], make: Callable[[], Any], searches: int) -> None:
    """The same calls, and nothing else."""
    for probe in probes:
        store = make()
        store.put_many(list(probe.given))
        for query in ("memory", probe.query, probe.query)[:searches]:
            store.search(query, k=probe.k, scope=probe.scope)


def quietly(call: Callable[[], object], *, collect: bool = False) -> Callable[[], None]:
    """Call it without the garbage collector, or with it."""

    def turn() -> None:
        if not collect:
            gc.disable()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", WeakSuiteWarning)
                call()
        finally:
            gc.enable()

    return turn


def figures(quick: bool) -> Iterator[Figure]:
    """Overhead on a list, without and with checks and haystack; on the embedded store."""
    small, large = (50, 250) if quick else (100, 1100)
    rounds = 5 if quick else 9
    yield from _per_probe(small, large, rounds, Listed, "put_many gives None")
    yield from _per_probe(small, large, rounds, Named, "put_many gives ids")
    yield _per_record(large // 5, rounds)
    yield _first_run(large // 5, rounds)
    yield _in_haystack(rounds)
    yield from _embedded(rounds)


def _per_probe(
    small: int, large: int, rounds: int, make: type[Listed], what: str
) -> Iterator[Figure]:
    few, many = made(small, FEW), made(large, FEW)
    times = medians(
        {
            "few": quietly(lambda: me.run(few, make, **BARE)),
            "many": quietly(lambda: me.run(many, make, **BARE)),
            "few bare": quietly(lambda: looped(few, make, 2)),
            "many bare": quietly(lambda: looped(many, make, 2)),
            "few checked": quietly(lambda: me.run(few, make), collect=True),
            "many checked": quietly(lambda: me.run(many, make), collect=True),
            "few bare checked": quietly(lambda: looped(few, make, 3), collect=True),
            "many bare checked": quietly(lambda: looped(many, make, 3), collect=True),
        },
        rounds,
    )
    for kind, limit, said in (("", 10, "no checks, no collector"), (" checked", 200, "defaults")):
        whole = times[f"many{kind}"] - times[f"few{kind}"]
        bare = times[f"many bare{kind}"] - times[f"few bare{kind}"]
        added = (whole - bare) / (large - small)
        yield Figure(
            f"added per probe of {FEW} records, {said}; {what}",
            added * 1e6, 1.0, "1 us", limit, at_least=False, unit="us",
        )  # fmt: skip


def _per_record(n: int, rounds: int) -> Figure:
    few, many = made(n, FEW), made(n, MANY)
    times = medians(
        {
            "few": quietly(lambda: me.run(few, Listed, **BARE)),
            "many": quietly(lambda: me.run(many, Listed, **BARE)),
            "few bare": quietly(lambda: looped(few, Listed, 2)),
            "many bare": quietly(lambda: looped(many, Listed, 2)),
        },
        rounds,
    )
    bare = times["many bare"] - times["few bare"]
    added = (times["many"] - times["few"] - bare) / (n * (MANY - FEW))
    return Figure(
        "added per record, no checks, no collector",
        added * 1e6, 1.0, "1 us", 0.06, at_least=False, unit="us",
    )  # fmt: skip


def _first_run(n: int, rounds: int) -> Figure:
    """Probes that were never asked: hashes for the manifest, and copies for the store."""
    few = [made(n, FEW) for _ in range(rounds + 1)]
    many = [made(n, MANY) for _ in range(rounds + 1)]
    times = medians(
        {
            "few": quietly(lambda: me.run(few.pop(), Listed, **BARE)),
            "many": quietly(lambda: me.run(many.pop(), Listed, **BARE)),
        },
        rounds,
    )
    added = (times["many"] - times["few"]) / (n * (MANY - FEW))
    return Figure(
        "per record in a first run, hashes and copies",
        added * 1e6, 1.0, "1 us", 5.0, at_least=False, unit="us",
    )  # fmt: skip


def _in_haystack(rounds: int) -> Figure:
    """Defaults, the shipped suite and its haystack, judged and scored."""
    suite = me.load()
    around = _haystacks(suite)
    times = medians(
        {
            "run": quietly(lambda: me.run(suite, Listed), collect=True),
            "bare": quietly(lambda: _surrounded(suite, around, Listed), collect=True),
        },
        rounds,
    )
    added = (times["run"] - times["bare"]) / len(suite)
    return Figure(
        "added per shipped probe in its haystack, defaults",
        added * 1e6, 1.0, "1 us", 1000, at_least=False, unit="us",
    )  # fmt: skip


def _haystacks(suite: me.Suite) -> list[Haystack]:
    return [haystack_of(suite, group, 0, True) for group in histories(suite)]


def _surrounded(suite: me.Suite, around: Sequence[Haystack], make: Callable[[], Any]) -> None:
    for group, haystack in zip(histories(suite), around, strict=True):
        _asked(make(), group[0], haystack)


def _asked(store: Any, probe: me.Probe, haystack: Haystack, *, singly: bool = False) -> None:
    write = (lambda records: deque(map(store.put, records), 0)) if singly else store.put_many
    write(list(haystack.before))
    batch: list[Record] = []
    for op in [*probe.given, None]:
        if isinstance(op, Record):
            batch.append(op)
            continue
        if batch:
            write(batch)
        batch = []
        if isinstance(op, me.Delete) and hasattr(store, "delete"):
            store.delete(op.id)
        elif isinstance(op, me.Advance) and hasattr(store, "advance"):
            store.advance(op.by)
    write(list(haystack.after))
    options: dict[str, Any] = {"k": probe.k, "scope": probe.scope}
    if isinstance(store, SqliteStore):
        options |= {"filter": dict(probe.filter) or None, "now": probe.now}
    for query in ("memory", probe.query, probe.query):
        store.search(query, **options)


def _embedded(rounds: int) -> Iterator[Figure]:
    """The shipped suite: first with every haystack to be built, then with all of them there."""
    from memeval import haystack as building

    suite = me.load()
    around = _haystacks(suite)

    def bare(singly: bool = False) -> None:
        store = SqliteStore()
        for group, haystack in zip(histories(suite), around, strict=True):
            with store.scratch():
                _asked(store, group[0], haystack, singly=singly)
        store.close()

    def first() -> None:
        building._made.cache_clear()
        me.run(me.load(), "sqlite")

    def later() -> None:
        me.run(suite, "sqlite")

    # Not all in one: a first run forgets the haystacks that a later one is to find.
    times = medians(
        {"run": quietly(later, collect=True), "bare": quietly(bare, collect=True)}, rounds
    )
    yield _beside("later runs", times["run"], times["bare"])
    times = medians(
        {
            "run": quietly(first, collect=True),
            "load": quietly(me.load, collect=True),
            "bare": quietly(bare, collect=True),
            "singly": quietly(lambda: bare(singly=True), collect=True),
        },
        rounds,
    )
    own = times["run"] - times["load"]
    yield _beside("first run, haystack built", own, times["bare"])
    yield _beside("the same", own, times["singly"], "a bare loop of puts")


def _beside(what: str, run: float, bare: float, against: str = "a bare loop") -> Figure:
    return Figure(
        f"run of the shipped suite on sqlite, {what}", run, bare, against, 1.25, at_least=False
    )
