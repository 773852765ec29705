"""What becomes of a run when a history gets long and many probes ask it.

The suite is of the kind of FactConsolidation: one named history of n facts and n probes, each of
which asks for one fact. The store is a dict from the last word of a text to its record, so that its
own time does not grow. The whole of `memeval.run` is timed, scoring and verdict with it, and the
time per probe of the large suite is held against that of a small one; what comes once in a run
(the self check, the versions for the manifest) is left out of both as the time of a run of one
probe.

Suites in which facts are superseded get lines of their own: to label each superseded record for
each probe would grow with the square of the suite, so only those that come back are labelled.

Memory is what `tracemalloc` sees at its peak, less the tables that the run leaves behind.
"""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Iterator, Sequence

import memeval as me
from memeval.errors import WeakSuiteWarning
from memeval.given import Given
from memeval.record import Hit, Record
from memeval.runs import Run

from .timing import Figure, medians


class Looked:
    """A store that is a dict: a search is one look."""

    def __init__(self) -> None:
        self.kept: dict[str, Record] = {}

    def put(self, record: Record) -> None:
        """Keep one record."""
        self.kept[record.text.rpartition(" ")[2]] = record

    def put_many(self, records: Sequence[Record]) -> None:
        """Keep several records."""
        self.kept.update((record.text.rpartition(" ")[2], record) for record in records)

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        """Give the record of the last word, and for none of them any one."""
        record = self.kept.get(query.rpartition(" ")[2])
        return [Hit(record.id, record.text)] if record is not None else []


def facts(n: int, superseding: int = 0) -> me.Suite:
    """So many facts in one history and a probe for each; every so manieth supersedes another."""
    records = Given(
        Record(
            f"f{at}",
            f"The capital of country {at % 97} is called town{at}",
            supersedes=(f"f{at - 1}",) if superseding and at and not at % superseding else (),
        )
        for at in range(n)
    )
    gone = records.superseded
    return me.Suite.of(
        me.Probe(f"q{at}", f"What of town{at}", records, (f"f{at}",), history="facts")
        for at in range(n)
        if f"f{at}" not in gone
    )


def whole(suite: me.Suite) -> Run:
    """Ask, score and judge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakSuiteWarning)
        made = me.run(suite, Looked)
        assert made.verdict.word
        return made


def figures(quick: bool) -> Iterator[Figure]:
    """Time per probe and memory at ten times the size; building the suite apart."""
    small, large = (200, 2000) if quick else (1000, 10000)
    rounds = 3 if quick else 5
    yield _running(small, large, rounds)
    yield _building(small, large, rounds)
    yield _superseding(small, 2 * small, rounds)
    yield _superseding(small, large, rounds)
    yield _memory(small, large)


def _running(small: int, large: int, rounds: int) -> Figure:
    one, few, many = facts(1), facts(small), facts(large)
    times = medians(
        {"one": lambda: whole(one), "few": lambda: whole(few), "many": lambda: whole(many)}, rounds
    )
    return Figure(
        f"time per probe of a run, {large:,} probes in one history",
        (times["many"] - times["one"]) / large,
        (times["few"] - times["one"]) / small,
        f"at {small:,}", 1.3, at_least=False,
    )  # fmt: skip


def _building(small: int, large: int, rounds: int) -> Figure:
    times = medians({"few": lambda: facts(small), "many": lambda: facts(large)}, rounds)
    return Figure(
        "time per probe to build that suite",
        times["many"] / large, times["few"] / small, f"at {small:,}", 1.3, at_least=False,
    )  # fmt: skip


def _superseding(small: int, large: int, rounds: int) -> Figure:
    few, many = facts(small, 3), facts(large, 3)
    times = medians({"few": lambda: whole(few), "many": lambda: whole(many)}, rounds)
    return Figure(
        f"time per probe, a third superseded, {large:,} facts",
        times["many"] / len(many), times["few"] / len(few), f"{small:,} facts", 1.3, at_least=False,
    )  # fmt: skip


def _memory(small: int, large: int) -> Figure:
    sizes = {n: _beside_tables(facts(n)) for n in (small, large)}
    return Figure(
        f"memory beside the tables, {large:,} probes",
        sizes[large] / 2**20, sizes[small] / 2**20, f"at {small:,}", 1.3, False, "MiB",
    )  # fmt: skip


def _beside_tables(suite: me.Suite) -> int:
    """Bytes at the peak of asking, less those of the tables; hashes and copies are there before."""
    whole(suite)
    tracemalloc.start()
    try:
        made = me.run(suite.probes, Looked)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    tables = (made.hits, made.calls, made.qrels)
    return peak - sum(int(table.memory_usage(index=True).sum()) for table in tables)
