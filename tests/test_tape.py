"""A tape says again what a store said, whatever the store is like."""

from __future__ import annotations

import pickle
import random
import uuid
import warnings
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import odd_stores as odd
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suites import suite as made_suite

import memeval as me
from memeval.harness.collecting import Collector
from memeval.harness.options import Options
from memeval.harness.recording import recording
from memeval.harness.replaying import NeverRecordedError, Replay
from memeval.harness.selfcheck import self_check
from memeval.harness.snapshots import Shelf
from memeval.harness.tape import Tape
from memeval.record import Advance, Consolidate, Delete, Record
from memeval.stores.base import Capabilities
from memeval.stores.bound import Meter, View

TIMES = ["write_ms", "visible_ms", "cold_ms", "latency_ms"]


class Uuids(odd.Assigning):
    """Gives every record an id that is drawn anew."""

    def put(self, record: Record) -> Any:
        store_id = str(uuid.uuid4())
        self.kept[store_id] = Record(store_id, record.text, record.scope)
        return store_id


class Dropping(odd.Counting):
    """Leaves out hits by chance, and says so."""

    capabilities = Capabilities(deterministic=False)
    chance = random.Random(5)

    def search(self, query: str, *, k: int, scope: str) -> Any:
        least = 0.0 if "memeval-check" in scope else 0.3  # the self check wants its record
        return [hit for hit in self.found(query, k, scope) if self.chance.random() >= least]


class InMetadata(odd.Plain):
    """Hits carry ids of the store, and the record's own in their metadata."""

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return [
            {"id": f"row-{n}", "text": h.text, "metadata": {"source": h.id, "scope": scope}}
            for n, h in enumerate(self.found(query, k, scope))
        ]


class Whole(odd.Deleting):
    """Filters, tells time, consolidates, expires nothing, and counts its model calls."""

    capabilities = Capabilities(honours=frozenset({"filter", "now", "expires", "supersedes"}))

    def __init__(self) -> None:
        super().__init__()
        self.llm_calls = 0

    def advance(self, by: timedelta) -> None: ...

    def consolidate(self) -> None: ...

    def search(self, query: str, *, k: int, scope: str, filter: Any = None, now: Any = None) -> Any:
        self.llm_calls += 2
        found = self.found(query, 100, scope)
        kept = [h for h in found if (filter or {}).items() <= dict(self.kept[h.id].meta).items()]
        return kept[:k]


def place(isolation: str, kind: Any, **declared: Any) -> Callable[[], Any]:
    where = odd.Place(isolation, **declared)
    return lambda: kind(where)


class NoCount(odd.Client):
    """A place of the user's that cannot tell how much it holds."""

    count = None  # type: ignore[assignment]


STORES: dict[str, Callable[[], Any]] = {
    "sqlite": me.SqliteStore,
    "assigning": odd.Assigning,
    "uuids": Uuids,
    "splitting": odd.Splitting,
    "rewriting": odd.Rewriting,
    "merging": odd.Merging,
    "rejecting": odd.Rejecting,
    "failing search": lambda: odd.FailingSearch("person1"),
    "failing put": odd.FailingPut,
    "mappings": odd.Mappings,
    "in metadata": InMetadata,
    "pairs": odd.Pairs,
    "texts only": odd.TextsOnly,
    "filling": odd.Filling,
    "strangers": odd.Strangers,
    "twice": odd.Twice,
    "scopeless": odd.Scopeless,
    "scope blind": odd.ScopeBlind,
    "learning": odd.Learning,
    "open chance": odd.OpenChance,
    "dropping": Dropping,
    "async": odd.Async,
    "waiting": odd.Waiting,
    "whole": Whole,
    "namespace": place("namespace", odd.Client),
    "namespace without count": place("namespace", NoCount),
    "clear": place("clear", odd.Clearing),
    "scratch": place("fork", odd.Scratching),
    "forking": odd.Forking,
}


def recorded(
    suite: me.Suite, factory: Callable[[], Any], repeats: int | None = None, **options: Any
) -> tuple[Tape, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    tape, asked = Tape(), Options(**options)
    make = recording(tape, asked, factory, Meter())
    checked = self_check(make, asked)
    return tape, *Collector(suite, make, checked, asked, repeats, None, Shelf()).tables()


def without_times(calls: pd.DataFrame) -> pd.DataFrame:
    return calls.drop(columns=TIMES)


def unprefixed(hits: pd.DataFrame) -> pd.DataFrame:
    """Without the prefix that a place of the user's is given, drawn anew for each run."""
    if "store_id" not in hits:
        return hits
    return hits.assign(store_id=hits["store_id"].str.replace(r"m[0-9a-f]{9}-", "", regex=True))


def assert_same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(one, other, check_exact=True)


def assert_replayed(
    suite: me.Suite, factory: Callable[[], Any], repeats: int | None = None, **options: Any
) -> None:
    tape, hits, calls, qrels = recorded(suite, factory, repeats, **options)
    tape = pickle.loads(pickle.dumps(tape))
    for plainly in (False, True):
        replay = Replay(tape, plainly)
        more = {**options, "retrieve": replay.retrieve}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", me.WeakSuiteWarning)
            run = me.run(suite, replay, repeats=repeats, check_store=False, **more)
        assert not replay.missed
        own = {**dict.fromkeys(TIMES), "store_id": None} if plainly else dict.fromkeys(TIMES)
        there = [name for name in own if name in run.hits]
        assert_same(unprefixed(run.hits.drop(columns=there)), unprefixed(hits.drop(columns=there)))
        assert_same(without_times(run.calls), without_times(calls))
        assert_same(run.qrels, qrels)


OPS = [
    Record("r0", "person1 keeps plums in the cellar", "ana", datetime(2026, 1, 1, tzinfo=UTC)),
    Record("r1", "person1 keeps noodles in the attic", "ana", meta={"type": "note"}),
    Record("r2", "person1 keeps keys in the hall", "bo"),
    Record("r0", "person1 keeps plums in the attic", "ana"),
    Record("r3", "person1 keeps noodles in the cellar", "ana", supersedes=("r1",)),
]
PROBES = [
    me.Probe("plums", "person1 plums", OPS, ["r0"], ["r2"], scope="ana"),
    me.Probe("keys", "person1 keys", OPS, ["r2"], scope="bo", k=2),
    me.Probe("gone", "noodles attic", [*OPS, Delete("r1")], ["r3"], scope="ana"),
    me.Probe("noted", "noodles", OPS[:3], ["r1"], scope="ana", filter={"type": "note"}),
    me.Probe("later", "plums", [*OPS, Advance(timedelta(1)), Consolidate()], ["r0"], scope="ana"),
]


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("repeats", [None, 2])
def test_a_replayed_run_is_the_recorded_run(name: str, repeats: int | None) -> None:
    probes = (*PROBES, *made_suite(2, 1, 1).probes)
    assert_replayed(me.Suite(probes, None, "none"), STORES[name], repeats)


@pytest.mark.parametrize("name", ["sqlite", "uuids", "namespace without count", "failing search"])
def test_a_replayed_run_in_a_haystack_is_the_recorded_run(name: str) -> None:
    background = made_suite().haystack
    suite = me.Suite((*PROBES, *made_suite(2, 1, 1).probes), background, "test")
    assert_replayed(suite, STORES[name])


def pipeline(store: Any, view: View) -> list[Any]:
    return [
        *store.search(view.query, k=1, scope=view.scope),
        *store.search("keys", k=9, scope="bo"),
    ]


class FailingTwice(odd.Plain):
    """Each query fails once before it is answered."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def search(self, query: str, *, k: int, scope: str) -> Any:
        if query not in self.seen:
            self.seen.add(query)
            raise ConnectionError("busy at http://me:secret@host/")
        return super().search(query, k=k, scope=scope)


def test_what_is_told_of_a_run_is_replayed_too() -> None:
    suite = me.Suite(tuple(PROBES), None, "none")
    assert_replayed(suite, STORES["whole"], retrieve=pipeline)
    assert_replayed(suite, STORES["namespace"], opaque_ids=True)
    assert_replayed(suite, FailingTwice, retries=1)
    assert_replayed(suite, odd.FailingPut)


def test_a_failed_search_fails_again_with_the_same_words() -> None:
    suite = me.Suite((PROBES[1],), None, "none")
    tape, _, calls, _ = recorded(suite, lambda: odd.FailingSearch("keys"))
    again = me.run(suite, Replay(tape), check_store=False)
    assert list(calls["error"]) == ["ValueError: k is larger than the store"]
    assert list(again.calls["error"]) == list(calls["error"])


def test_a_search_past_its_limit_is_one_again() -> None:
    suite = me.Suite((PROBES[1],), None, "none")
    tape, _, calls, _ = recorded(suite, lambda: odd.Hanging("keys", 1.0), timeout_s=0.05)
    again = me.run(suite, Replay(tape), check_store=False)
    assert list(again.calls["status"]) == list(calls["status"]) == ["timeout"]
    assert list(again.calls["error"]) == list(calls["error"])


def test_repeats_come_back_in_the_order_in_which_they_were_recorded() -> None:
    suite = me.Suite((PROBES[0],), None, "none")
    tape, hits, _, _ = recorded(suite, Dropping, 5)
    per_repeat = hits.groupby("repeat").size()
    assert per_repeat.nunique() > 1  # chance had its way, else nothing is shown here
    again = me.run(suite, Replay(tape), repeats=5, check_store=False)
    assert_same(again.hits, hits)


def test_probes_in_another_order_get_their_own_answers() -> None:
    suite = me.Suite(tuple(PROBES[:2]), None, "none")  # both write the same records
    tape, hits, _, _ = recorded(suite, Uuids)
    turned = me.run(me.Suite(suite.probes[::-1], None, "none"), Replay(tape), check_store=False)
    one, other = (
        t.sort_values(["probe", "rank"])["record_id"].tolist() for t in (turned.hits, hits)
    )
    assert one == other


def test_what_was_never_asked_or_written_is_an_error_and_no_empty_answer() -> None:
    suite = me.Suite((PROBES[0],), None, "none")
    tape, *_ = recorded(suite, odd.Deleting)
    replay = Replay(tape)
    asked = me.run(
        me.Suite((me.Probe("x", "other", OPS, ["r0"], scope="ana"),), None),
        replay,
        check_store=False,
    )
    assert list(asked.calls["status"]) == ["failed"]
    assert "'memory' was never asked" not in asked.calls["error"][0].partition("; ")[2]
    assert "'other' was never asked of this history" in asked.calls["error"][0]
    wider = me.Probe("x", PROBES[0].query, OPS, ["r0"], scope="ana", k=PROBES[0].k + 1)
    assert list(me.run([wider], replay, check_store=False).calls["status"]) == ["failed"]
    store = replay()
    with pytest.raises(NeverRecordedError, match="writing 'new' here was never recorded"):
        store.put(Record("r0", "new"))
    with pytest.raises(NeverRecordedError, match="deleting 'r0' here was never recorded"):
        store.delete("r0", scope="ana")
    assert len(replay.missed) >= 4


def test_a_replay_has_the_methods_that_the_store_had() -> None:
    suite = me.Suite((PROBES[1],), None, "none")
    tape, *_ = recorded(suite, odd.Deleting)
    store = Replay(tape)()
    assert hasattr(store, "delete") and not hasattr(store, "consolidate")
    assert store.info()["name"] == "Deleting"


class Hooked:
    """Has methods of the names that memeval's own stores have."""

    def __init__(self) -> None:
        self.inner = odd.Deleting()
        self.called: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def put(self, record: Record) -> Any:
        return self.inner.put(record)

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return self.inner.search(query, k=k, scope=scope)

    def begin(self) -> None:
        self.called.append("begin")

    def tidy(self) -> None:
        self.called.append("tidy")

    def remove(self, store_id: str, scope: str) -> None:
        self.called.append("remove")


def test_a_users_store_is_never_called_by_the_names_of_our_hooks() -> None:
    made: list[Hooked] = []

    class Placed(Hooked):
        capabilities = Capabilities(isolation="namespace")

        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    me.run([PROBES[1]], Placed)
    assert made and not any(store.called for store in made)
    assert not any(store.inner.kept for store in made)  # removed by delete, as ever


RECORDS = st.builds(
    Record,
    id=st.sampled_from("abcd"),
    text=st.sampled_from(["tea in the hall", "keys in the hall", "tea and keys", "plums"]),
    scope=st.just("ana"),
)
HISTORIES = st.lists(RECORDS, min_size=1, max_size=6)


@settings(max_examples=25)
@given(
    histories=st.lists(HISTORIES, min_size=1, max_size=4),
    queries=st.lists(st.sampled_from(["tea", "keys hall", "plums"]), min_size=4, max_size=4),
    k=st.integers(1, 3),
    kind=st.sampled_from(["uuids", "merging", "learning", "dropping", "namespace without count"]),
)
def test_any_histories_are_replayed(
    histories: list[list[Record]], queries: list[str], k: int, kind: str
) -> None:
    probes = tuple(
        me.Probe(f"p{n}", query, ops, [ops[0].id], scope="ana", k=k)
        for n, (ops, query) in enumerate(zip(histories, queries, strict=False))
    )
    suite = me.Suite(probes, None, "none")
    tape, hits, calls, qrels = recorded(suite, STORES[kind])
    again = me.run(list(suite), Replay(tape), check_store=False)
    assert_same(unprefixed(again.hits), unprefixed(hits))
    assert_same(without_times(again.calls), without_times(calls))
    assert_same(again.qrels, qrels)
