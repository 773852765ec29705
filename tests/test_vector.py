"""The store of vectors: exact cosines, and the rules of the embedded store in all else."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memeval as me
from memeval.embedders.hashed import HashEmbedder
from memeval.embedders.table import TableEmbedder
from memeval.errors import StoreError
from memeval.record import Receipt, Record
from memeval.stores.base import resolve
from memeval.stores.sqlite import SqliteStore
from memeval.stores.vector import VectorStore

MAY = datetime(2026, 5, 1, 12, tzinfo=UTC)
WORDS = "kiosk ferry lamp orchard rye timer blue north slate drum".split()
quick = settings(deadline=None, max_examples=60)


class Plane:
    """Places texts by the numbers that they are written with, "x y" or "x y z"."""

    def __init__(self, dimension: int = 2) -> None:
        self.name, self.dimension = f"plane-{dimension}", dimension

    def embed(self, texts: Sequence[str], /) -> Any:
        rows = np.zeros((len(texts), self.dimension))
        for row, text in zip(rows, texts, strict=True):
            numbers = [float(part) for part in text.split()[: self.dimension]]
            row[: len(numbers)] = numbers
        return rows


def store_of(*texts: str, scope: str = "s", **options: Any) -> VectorStore:
    """Give a store on the plane that holds these texts as r0, r1, ..."""
    store = VectorStore(Plane(), **options)
    store.put_many(Record(f"r{i}", text, scope) for i, text in enumerate(texts))
    return store


def found(store: VectorStore, query: str, k: int = 5, scope: str = "s", **more: Any) -> list[Any]:
    return [hit.id for hit in store.search(query, k=k, scope=scope, **more)]


def test_the_score_is_the_cosine_and_the_nearest_comes_first() -> None:
    store = store_of("1 0", "3 4", "0 2", "-5 0")
    receipt = store.put(Record("r4", "1 1", "s", MAY, meta={"a": 1}))
    assert receipt == Receipt("stored", ("r4",))
    answer = store.search("2 0", k=9, scope="s")
    # cos with (1, 0): 1; 3/5; 0; -1; 1/sqrt 2 = .707107.
    assert [(hit.id, hit.score) for hit in answer] == [
        ("r0", 1.0), ("r4", 0.707107), ("r1", 0.6), ("r2", 0.0), ("r3", -1.0)
    ]  # fmt: skip
    assert (answer[1].text, answer[1].meta) == ("1 1", {"at": MAY, "a": 1})
    assert [len(found(store, "2 0", k=k)) for k in (1, 3, 5, 10**30)] == [1, 3, 5, 5]


def cosine(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
    """The slow definition, from products of Python's floats."""
    dot = math.fsum(float(a) * float(b) for a, b in zip(one, other, strict=True))
    lengths = math.fsum(float(a) ** 2 for a in one) * math.fsum(float(b) ** 2 for b in other)
    return dot / math.sqrt(lengths)


texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
times = st.none() | st.integers(0, 3).map(lambda days: MAY + timedelta(days=days))


@quick
@given(st.lists(st.tuples(texts, times), max_size=25), texts, st.integers(1, 30))
@pytest.mark.parametrize("embedder", [HashEmbedder(), TableEmbedder(), HashEmbedder(3)])
def test_the_answer_is_that_of_comparing_with_each_record(
    embedder: Any, rows: list[tuple[str, datetime | None]], query: str, k: int
) -> None:
    store = VectorStore(embedder)
    store.put_many(Record(f"r{i:02}", text, "s", at) for i, (text, at) in enumerate(rows))
    (asked,) = embedder.embed([query])
    ranked = []
    for i, (text, at) in enumerate(rows):
        (vector,) = embedder.embed([text])
        if asked.any() and vector.any():
            latest_first = math.inf if at is None else -at.timestamp()
            ranked.append((-round(cosine(vector, asked), 6), latest_first, text, f"r{i:02}"))
    answer = store.search(query, k=k, scope="s")
    assert [hit.id for hit in answer] == [name for *_, name in sorted(ranked)[:k]]
    assert [-hit.score for hit in answer] == pytest.approx(
        [score for score, *_ in sorted(ranked)[:k]], abs=2e-6
    )


@quick
@given(st.lists(st.tuples(texts, times), max_size=25), st.randoms(), texts, st.integers(1, 9))
def test_the_order_of_writing_and_batches_make_no_difference(
    rows: list[tuple[str, datetime | None]], random: Any, query: str, k: int
) -> None:
    records = [Record(f"r{i}", text, "s", at) for i, (text, at) in enumerate(rows)]
    straight, turned = VectorStore(), VectorStore()
    straight.put_many(records)
    random.shuffle(records)
    turned.put_many([Record("gone", "kiosk rye", "s")])
    for record in records:
        turned.put(record)
    turned.delete("gone")
    assert turned.search(query, k=k, scope="s") == straight.search(query, k=k, scope="s")
    assert turned.snapshot() == straight.snapshot()
    longer = straight.search(query, k=k + 1, scope="s")
    assert straight.search(query, k=k, scope="s") == longer[:k]


def test_a_thousand_copies_in_any_place_of_the_matrix_tie() -> None:
    rng = np.random.default_rng(7)
    for dimension in (3, 128, 384):
        store = VectorStore(Plane(dimension))
        copies = [" ".join(map(str, rng.normal(size=dimension))) for _ in range(3)]
        store.put_many(Record(f"r{i:04}", copies[i % 3], "s") for i in range(999))
        query = " ".join(map(str, rng.normal(size=dimension)))
        answer = store.search(query, k=400, scope="s")
        assert len({hit.score for hit in answer}) == 2
        first = [hit.id for hit in answer[:333]]
        assert first == sorted(first) and len({int(name[1:]) % 3 for name in first}) == 1


ids = st.sampled_from("abcdefg")
records = st.builds(
    Record,
    ids,
    texts.filter(bool),
    st.sampled_from("st"),
    times,
    supersedes=st.lists(ids, max_size=2, unique=True).map(tuple),
    expires=times,
    meta=st.fixed_dictionaries({"t": st.sampled_from("xy")}),
)
steps = st.one_of(
    st.lists(records, max_size=5),
    ids,
    st.tuples(ids, st.sampled_from("st")),
    st.integers(0, 3).map(timedelta),
    st.sampled_from(["clear", "clear s", "fork", "scratch"]),
)


def live(store: Any, step: Any, records_within: Any = ()) -> Any:
    """Do one step; the store to go on with."""
    if isinstance(step, list):
        store.put_many(step)
    elif isinstance(step, tuple):
        return store, store.delete(step[0], scope=step[1])
    elif isinstance(step, timedelta):
        # Without a time in any record the clock starts at the time of day, in each at its own.
        store.put(Record("timed", "kiosk", "u", MAY))
        store.advance(step)
    elif step == "fork":
        return store.fork(store.snapshot()), None
    elif step == "scratch":
        with store.scratch():
            store.put_many([Record("a", "kiosk", "s", supersedes=("b", "c")), Record("n", "x")])
            store.delete("d")
            store.clear("t")
            store.advance(timedelta(days=1))
    elif step.startswith("clear"):
        store.clear(*step.split()[1:])
    else:
        return store, store.delete(step)
    return store, None


def same_as_embedded(make: Any, history: list[Any]) -> None:
    """Live through a history beside the embedded store and compare who can be found."""
    mine, embedded = make(), SqliteStore()
    everything = " ".join(WORDS)
    for step in history:
        (mine, did), (embedded, done) = live(mine, step), live(embedded, step)
        assert did == done
        assert mine.count() == embedded.count()
        for scope in "st":
            assert mine.count(scope) == embedded.count(scope)
            for more in ({}, {"now": MAY + timedelta(days=1)}, {"filter": {"t": "x"}}):
                answers = [
                    store.search(everything, k=10**9, scope=scope, **more)
                    for store in (mine, embedded)
                ]
                held = [{(hit.id, hit.text, str(hit.meta)) for hit in one} for one in answers]
                assert held[0] == held[1], (step, scope, more)
                assert len(answers[0]) == len(held[0])


@settings(deadline=None, max_examples=150)
@given(st.lists(steps, max_size=8))
def test_after_any_history_the_same_records_are_live_as_in_the_embedded_store(
    history: list[Any],
) -> None:
    same_as_embedded(lambda: VectorStore("table"), history)


@quick
@given(st.lists(st.lists(records, max_size=6), max_size=4))
def test_writing_at_once_is_writing_one_after_another(batches: list[list[Record]]) -> None:
    one, many = VectorStore("hash"), VectorStore("hash")
    for batch in batches:
        receipts = [one.put(record) for record in batch]
        assert many.put_many(batch) == receipts
    assert one.snapshot() == many.snapshot()


@quick
@given(st.lists(steps, max_size=6), st.lists(steps, max_size=4))
def test_a_scratch_leaves_the_store_as_it_was_to_the_last_byte(
    before: list[Any], within: list[Any]
) -> None:
    store = VectorStore("hash")
    for step in before:
        store, _ = live(store, step)
    kept = store.snapshot()
    fork = store.fork(kept)
    with store.scratch():
        for step in within:
            if step not in ("fork", "scratch"):
                live(store, step)
    assert store.snapshot() == fork.snapshot() == kept
    for step in within:
        if step not in ("fork", "scratch"):
            live(fork, step)
    assert store.snapshot() == kept


def test_a_snapshot_taken_in_a_scratch_holds_what_the_scratch_holds() -> None:
    store = store_of("1 0")
    with store.scratch():
        store.put(Record("late", "1 1", "s"))
        kept = store.snapshot()
        with (
            pytest.raises(StoreError, match="scratch: found one open, wanted none"),
            store.scratch(),
        ):
            pass
        with store.fork(kept) as fork, fork.scratch():
            fork.delete("r0")
            assert fork.fork(fork.snapshot()).count() == 1
    assert found(store, "1 1") == ["r0"]
    assert found(store.fork(kept), "1 1") == ["late", "r0"]


def test_an_error_in_a_scratch_undoes_it_too() -> None:
    store = store_of("1 0")
    with pytest.raises(ZeroDivisionError), store.scratch():
        store.clear()
        _ = 1 / 0
    assert store.count() == 1


def test_a_fork_is_of_the_class_and_with_the_attributes_of_its_origin() -> None:
    class Louder(VectorStore):
        tag = ""

    store = Louder("hash", floor=0.5)
    store.tag = "mine"
    fork = store.fork(store.snapshot())
    assert (type(fork), fork.tag, fork.floor) == (Louder, "mine", 0.5)


def test_what_is_no_snapshot_of_such_a_store_is_refused() -> None:
    store = store_of("1 0", "0 1")
    kept = store.snapshot()
    for wrong, said in (
        (b"", "found bytes b'', wanted bytes from snapshot"),
        ("text", "found str 'text', wanted bytes"),
        (SqliteStore().snapshot(), "found Snapshot .*, wanted bytes from snapshot"),
        (kept[:-1], "bytes that do not end where they say"),
        (kept + b"\x00", "bytes that do not end where they say"),
        (kept[:40], "bytes that do not end where they say"),
        (VectorStore("hash").snapshot(), "made with .*'embedder': 'hash-512'.*, wanted .*plane-2"),
        (store_of(floor=0.5).snapshot(), "made with .*'floor': 0.5"),
    ):
        with pytest.raises(StoreError, match=said):
            store.fork(wrong)
    assert store.fork(bytes(kept)).snapshot() == kept


def test_a_floor_empties_the_answer_where_nothing_is_near() -> None:
    store = store_of("3 4", "1 0", "0 1", floor=0.6)
    assert found(store, "1 0") == ["r1", "r0"]  # cosines 1, .6 and 0
    assert found(store, "-1 0") == []
    assert found(store_of("1 0", "-1 0", floor=-1), "1 0") == ["r0", "r1"]


@pytest.mark.parametrize("wrong", [1.5, -2, math.nan, True, "0.3"])
def test_a_floor_that_is_no_cosine_is_refused(wrong: Any) -> None:
    with pytest.raises(StoreError, match="floor is .*, wanted a number from -1 to 1, or None"):
        VectorStore("hash", floor=wrong)


def test_what_has_no_vector_finds_nothing_and_is_not_found() -> None:
    store = store_of("", "0 0", "1 0")
    assert found(store, "") == found(store, "0 0") == []
    assert found(store, "1 0") == ["r2"]
    assert store.count() == 3
    store.put(Record("r2", "", "s"))
    store.put(Record("r0", "0 1", "s"))
    assert found(store, "1 0") == ["r0"]
    mine = VectorStore("hash")
    mine.put(Record("a", "It is what it is", "s"))
    assert found(mine, "what is it", scope="s") == []
    table = VectorStore()
    table.put(Record("a", "It is what it is", "s"))
    assert found(table, "what is it") == ["a"] and found(table, "?!") == []


def test_clearing_a_scope_forgets_what_was_superseded_there_and_spares_others() -> None:
    store = store_of("1 0")
    for scope in "st":
        store.put(Record(f"new-{scope}", "0 1", scope, supersedes=("r0", "t0")))
    store.clear("s")
    store.put_many([Record("r0", "1 0", "s"), Record("t0", "1 0", "t")])
    assert found(store, "1 0") == ["r0"] and found(store, "1 0", scope="t") == ["new-t"]


def test_an_empty_store_and_an_unknown_scope_answer_nothing() -> None:
    store = VectorStore("hash")
    assert found(store, "kiosk") == [] and store.count() == store.count("s") == 0
    assert store.put_many([]) == []
    store.clear("s")
    assert store.delete("a") is False


SCOPES = [
    "team/orchid", "team/orchid-labs", "victim*", "victim", "%", "*", "../victim", "", " ",
    "a\x00b", "a", "A", "\u00e9", "e\u0301", "\ud800", "\ud801", "\ufffd",
    "\U0001f600", "\ud83d\ude00", "x" * 100_000,
]  # fmt: skip


def test_scopes_and_ids_compare_whole_whatever_their_names() -> None:
    store = store_of()
    store.put_many(Record(scope, "1 0", scope) for scope in SCOPES)
    store.put(Record("new", "1 0", "\ud800", supersedes=("\ud800",)))
    store.put(Record("other", "1 0", "\ud801", supersedes=("\ud800",)))
    for one in (store, store.fork(store.snapshot())):
        for scope in SCOPES:
            wanted = ["new"] if scope == "\ud800" else [scope]
            assert found(one, "1 0", scope=scope)[-1:] == wanted
            assert len(found(one, "1 0", scope=scope)) == (2 if scope == "\ud801" else 1)
        assert found(one, "1 0", scope="victi") == []
        one.clear("")
        assert one.count("") == 0 and one.count() == len(SCOPES) + 1


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda s: s.search(7, k=1, scope="s"), "query is a int, wanted a string"),
        (lambda s: s.search("1 0", k=0, scope="s"), "k is 0, wanted a whole number from 1"),
        (lambda s: s.search("1 0", k=True, scope="s"), "k is True"),
        (lambda s: s.search("1 0", k=1, scope=None), "scope is a NoneType"),
        (lambda s: s.search("1 0", k=1, scope="s", now=datetime(2026, 1, 1)), "now is .*time zone"),
        (lambda s: s.search("1 0", k=1, scope="s", filter={"a": object()}), "filter: the metadata"),
        (lambda s: s.put(Record("a", 7)), "record 'a': text is a int"),
        (lambda s: s.put(Record(7, "1 0")), "found a int as id or scope"),
        (lambda s: s.put(Record("a", "1 0", at=7)), "record 'a': at is 7"),
        (lambda s: s.put(Record("a", "1 0", supersedes="b")), "supersedes is a string"),
        (lambda s: s.put(Record("a", "1 0", meta={"a": object()})), "cannot be kept"),
        (lambda s: s.put_many([Record("a", "1 0"), Record("b", "not a number")]), "could not conv"),
        (lambda s: s.advance(7), "advance: found 7, wanted a timedelta"),
        (lambda s: s.advance(timedelta(-1)), "advance: found"),
        (lambda s: s.delete(7), "found a int as id or scope"),
        (lambda s: s.count(7), "found a int as id or scope"),
        (lambda s: s.clear(7), "found a int as id or scope"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(call: Any, said: str) -> None:
    store = store_of("1 0")
    before = store.snapshot()
    with pytest.raises((StoreError, ValueError), match=said):
        call(store)
    assert store.snapshot() == before


def test_a_closed_store_says_so() -> None:
    store = store_of("1 0")
    kept = store.snapshot()
    with store.scratch():
        store.close()
    for call in (lambda: found(store, "1 0"), lambda: store.count(), lambda: store.snapshot()):
        with pytest.raises(StoreError, match="found it closed, wanted it open; make a new store"):
            call()
    assert store.fork(kept).count() == 1


def test_threads_may_write_and_ask_at_once() -> None:
    store = VectorStore("hash")
    faults: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(60):
                store.put(Record(f"{number}-{i}", f"kiosk {WORDS[i % 10]} {number}", "s"))
                found(store, "kiosk drum")
                store.delete(f"{number}-{i - 5}")
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults and store.count() == 4 * 5


def test_it_says_what_it_is() -> None:
    info = VectorStore("hash", floor=0.25).info()
    assert info == {"name": "VectorStore", "embedder": "hash-512", "dimension": 512, "floor": 0.25}
    assert resolve("vector")().info()["embedder"].startswith("table-")
    assert resolve("vector-hash")().info()["embedder"] == "hash-512"


@pytest.mark.parametrize("name", ["vector", "vector-hash", "hybrid"])
def test_the_shipped_suite_is_valid_on_it_and_nothing_leaks(name: str) -> None:
    run = me.run(me.load(), name)
    assert run.validity.status == "valid"
    assert set(run.calls["status"]) == {"ok"} and run.manifest.notes is not None
    assert run.results["n_leaked"].sum() == run.results["n_contract"].sum() == 0
    assert run.results["recall_all"].mean() > 0.7
