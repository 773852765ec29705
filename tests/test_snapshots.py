"""A history that was written once is restored, and nothing but times shows it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import odd_stores as odd
import pandas as pd
import pytest
import suites

from memeval.controls import run_controls
from memeval.harness.snapshots import Shelf
from memeval.probe import Probe
from memeval.record import Advance, Delete, Hit, Receipt, Record
from memeval.runner import run
from memeval.runs import Run
from memeval.stores.base import Capabilities
from memeval.stores.broken import ShuffledStore
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite

MAY = datetime(2026, 5, 1, 12, tzinfo=UTC)
TIMES = ["write_ms", "visible_ms", "cold_ms", "latency_ms"]
PRINTED = 20  # records that every run writes once, for the fingerprint of the store


def eventful() -> Suite:
    """Histories in which everything happens that can happen, in a haystack."""
    tea = [
        Record("old", "My favourite tea is lapsang.", at=MAY),
        Record("new", "My favourite tea is now genmaicha.", at=MAY, supersedes=("old",)),
        Record("x", "The tea room is closed.", at=MAY, expires=MAY + timedelta(days=30)),
        Record("gone", "The tea key is under the pot.", meta={"type": "note"}),
        Delete("gone"),
        Record("new", "My favourite tea is now sencha.", at=MAY, supersedes=("old",)),
        Advance(timedelta(days=31)),
        Record("theirs", "Their favourite tea is mate.", "bo"),
    ]
    probes = [
        Probe("tea", "favourite tea", tea, ["new"], ["gone"], stale=["old"]),
        Probe("room", "tea room", tea, ["new"], stale=["x"]),
        Probe("bo", "favourite tea", tea, ["theirs"], scope="bo", k=2),
    ]
    return Suite((*probes, *(suites.positive(n) for n in range(3))), suites.BACKGROUND, "test")


class Counted(SqliteStore):
    """Says which records of the suite were written to it."""

    log: list[str]

    def put_many(self, records: Any) -> list[Receipt]:
        kept = list(records)
        self.log += [record.id for record in kept if "self-check" not in record.id]
        return super().put_many(kept)


class Renaming(Counted):
    """Keeps records under ids of its own, tells them in receipts, and rejects what is of mate."""

    def put_many(self, records: Any) -> list[Receipt]:
        kept = [r for r in records if "mate" not in r.text]
        super().put_many(
            Record("m-" + r.id, r.text, r.scope, r.at, None, tuple("m-" + s for s in r.supersedes))
            for r in kept
        )
        return [
            Receipt("stored", ("m-" + r.id,)) if r in kept else Receipt("rejected") for r in records
        ]


def factory(kind: type[Counted], log: list[str]) -> Any:
    def make() -> Counted:
        store = kind()
        store.log = log
        return store

    return make


def plain(made: Run) -> list[pd.DataFrame]:
    return [made.hits, made.calls.drop(columns=TIMES), made.qrels]


def same(one: Run, other: Run) -> None:
    for a, b in zip(plain(one), plain(other), strict=True):
        pd.testing.assert_frame_equal(a, b)


@pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
@pytest.mark.parametrize("opaque", [False, True])
@pytest.mark.parametrize("kind", [Counted, Renaming])
def test_repeats_give_the_same_tables_with_and_without_a_shelf(
    kind: type[Counted], opaque: bool
) -> None:
    logs: list[list[str]] = [[], []]
    shelved, anew = (
        run(eventful(), factory(kind, log), repeats=3, opaque_ids=opaque, shelf=shelf)
        for log, shelf in zip(logs, (None, Shelf(0)), strict=True)
    )
    same(shelved, anew)
    assert set(shelved.calls["status"]) <= {"ok", "not_stored"}
    assert len(shelved.hits) > 20
    # Six histories of some 300 records, each written once instead of three times.
    assert len(logs[1]) - PRINTED == 3 * (len(logs[0]) - PRINTED) > 3 * 6 * 290
    restored = shelved.calls["repeat"] > 0
    assert (shelved.calls["write_ms"].isna() == restored).all()
    assert not anew.calls["write_ms"].isna().any()
    assert not shelved.calls[["cold_ms", "latency_ms"]].isna().any(axis=None)


@pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
def test_controls_write_each_history_once_for_the_store_and_its_shuffle() -> None:
    logs: list[list[str]] = [[], []]
    shelved, anew = (
        run_controls(eventful(), factory(Counted, log), shelf=shelf)
        for log, shelf in zip(logs, (Shelf(), Shelf(0)), strict=True)
    )
    for name in ("null", "random", "shuffled", "oracle"):
        same(shelved.runs[name], anew.runs[name])
    same(shelved.real, anew.real)
    pd.testing.assert_frame_equal(shelved.frame, anew.frame)
    assert len(logs[1]) - PRINTED == 2 * (len(logs[0]) - PRINTED)
    assert shelved.runs["shuffled"].calls["write_ms"].isna().all()
    order = [made.hits["record_id"].tolist() for made in (shelved.real, shelved.runs["shuffled"])]
    assert order[0] != order[1] and sorted(order[0]) == sorted(order[1])


def puts(made: Run) -> int:
    return int(made.manifest.options["puts"])


def test_a_history_is_restored_only_where_nothing_that_it_depends_on_differs() -> None:
    shelf = Shelf()
    probe, other = suites.positive(1), suites.positive(2)
    same_history = Probe("again", "room of person1", probe.given, ["r1"])

    def written(probes: list[Probe], **options: Any) -> int:
        kind = options.pop("kind", SqliteStore)
        return puts(run(probes, kind, shelf=shelf, check_store=False, **options))

    assert [written([probe]), written([probe])] == [4, 0]
    assert [written([other]), written([other])] == [4, 0]
    assert written([same_history]) == 4  # its haystack might differ
    assert [written([probe], opaque_ids=True), written([probe], opaque_ids=True)] == [4, 0]
    assert written([probe], seed=1) == 4
    assert written([probe], kind=lambda: SqliteStore(stem=False)) == 4
    assert written([probe]) == 0


def test_the_shelf_is_bounded_and_gives_up_what_was_not_used_for_longest() -> None:
    # A snapshot of four records is some 100 KiB: three of them fit in 400 KiB.
    shelf, probes = Shelf(400_000), [suites.positive(n) for n in range(8)]
    run(probes, SqliteStore, shelf=shelf)
    assert 200_000 < shelf.n_bytes <= 400_000
    again = run(probes[-1:], SqliteStore, shelf=shelf, check_store=False)
    first = run(probes[:1], SqliteStore, shelf=shelf, check_store=False)
    assert (puts(again), puts(first)) == (0, 4)
    assert shelf.n_bytes <= 400_000


class Chance(SqliteStore):
    capabilities = SqliteStore.capabilities.__class__(
        score_order="high", deterministic=False, isolation="fork"
    )


def test_a_store_of_chance_is_written_to_in_each_repeat() -> None:
    made = run([suites.positive(0)], Chance, repeats=3)
    assert not made.calls["write_ms"].isna().any()


class Loud:
    """A wrapper that hands on everything but search, forks of the inner store included."""

    def __init__(self) -> None:
        self.inner = SqliteStore()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def put(self, record: Record) -> Any:
        return self.inner.put(record)

    def search(self, query: str, **options: Any) -> list[Hit]:
        return self.inner.search(query, **options)[:1]


def test_a_fork_without_the_wrapper_around_it_is_not_asked() -> None:
    made = run([suites.positive(0)], Loud, repeats=2)
    assert len(made.hits) == 2 and not made.calls["write_ms"].isna().any()


def test_a_store_that_gives_no_snapshot_is_written_anew_and_the_manifest_says_so(
    tmp_path: Path,
) -> None:
    made = run([suites.positive(0)], lambda: SqliteStore(tmp_path / "m.db"), repeats=2)
    assert made.hits["record_id"].notna().all() and not made.calls["write_ms"].isna().any()
    (note,) = [note for note in made.manifest.notes if "anew" in note]
    assert "found a store on disk" in note

    class Forking(odd.Scratching):
        capabilities = Capabilities(isolation="fork", deterministic=True)

        def __init__(self) -> None:
            super().__init__(odd.Place("fork", deterministic=True))

        def snapshot(self) -> Any:
            return dict(self.kept)

        def fork(self, token: Any) -> Any:
            raise AssertionError("not asked for")

    made = run([suites.positive(0)], Forking, repeats=2)
    assert any("it is a dict, not bytes" in note for note in made.manifest.notes)


def test_a_fork_of_a_shuffled_store_is_shuffled_too() -> None:
    store = ShuffledStore(SqliteStore(), 3)
    store.put_many(Record(f"r{i}", "kiosk", "s") for i in range(9))
    fork = store.fork(store.snapshot())
    assert type(fork) is ShuffledStore and fork.inner is not store.inner
    asked = {"k": 9, "scope": "s"}
    assert fork.search("kiosk", **asked) == store.search("kiosk", **asked)
    assert fork.search("kiosk", **asked) != fork.inner.search("kiosk", **asked)
    assert not hasattr(ShuffledStore(odd.Plain()), "fork")
