"""The store that fuses words and vectors: a record found by either, by the ranks in both."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.errors import StoreError
from memeval.record import Record
from memeval.stores import vector
from memeval.stores.hybrid import HybridStore
from memeval.stores.sqlite import SqliteStore
from memeval.stores.vector import VectorStore
from tests.test_vector import SCOPES, WORDS, live, same_as_embedded, steps, texts, times

MAY = datetime(2026, 5, 1, 12, tzinfo=UTC)
quick = settings(deadline=None, max_examples=50)


def found(store: HybridStore, query: str, k: int = 5, scope: str = "s", **more: Any) -> list[Any]:
    return [hit.id for hit in store.search(query, k=k, scope=scope, **more)]


def test_a_record_is_found_by_its_word_or_by_its_meaning() -> None:
    store = HybridStore()
    store.put_many(
        [
            Record("code", "Error E-7734 means that the tank is empty.", "s"),
            Record("tea", "My favourite tea is lapsang.", "s"),
            *(Record(f"f{i}", f"The {word} stands in the yard.", "s")
              for i, word in enumerate(WORDS)),
        ]
    )  # fmt: skip
    assert found(store, "7734", k=1) == ["code"]
    assert found(store, "a hot drink", k=1) == ["tea"]


@quick
@given(st.lists(st.tuples(texts, times), max_size=20), texts, st.integers(1, 25))
def test_the_score_is_that_of_the_ranks_in_the_two_stores(
    rows: list[tuple[str, datetime | None]], query: str, k: int
) -> None:
    records = [Record(f"r{i:02}", text, "s", at) for i, (text, at) in enumerate(rows)]
    both, words, vectors = HybridStore(), SqliteStore(), VectorStore()
    for store in (both, words, vectors):
        store.put_many(records)
    wanted: dict[str, float] = {}
    for store in (words, vectors):
        for rank, hit in enumerate(store.search(query, k=99, scope="s"), 1):
            wanted[hit.id] = wanted.get(hit.id, 0) + 1 / (60 + rank)
    kept = {record.id: record for record in records}

    def order(name: str) -> Any:
        at = kept[name].at
        return -wanted[name], at is None, -at.timestamp() if at else 0, kept[name].text, name

    answer = both.search(query, k=k, scope="s")
    assert [hit.id for hit in answer] == sorted(wanted, key=order)[:k]
    assert [hit.score for hit in answer] == [wanted[hit.id] for hit in answer]


@settings(deadline=None, max_examples=60)
@given(st.lists(steps, max_size=7))
def test_after_any_history_the_same_records_are_live_as_in_the_embedded_store(
    history: list[Any],
) -> None:
    same_as_embedded(lambda: HybridStore(), history)


@quick
@given(st.lists(st.tuples(texts, times), max_size=20), st.randoms(), texts, st.integers(1, 9))
def test_the_order_of_writing_makes_no_difference(
    rows: list[tuple[str, datetime | None]], random: Any, query: str, k: int
) -> None:
    records = [Record(f"r{i}", text, "s", at) for i, (text, at) in enumerate(rows)]
    straight, turned = HybridStore("hash"), HybridStore("hash")
    straight.put_many(records)
    random.shuffle(records)
    for record in records:
        turned.put(record)
    longer = straight.search(query, k=k + 1, scope="s")
    assert turned.search(query, k=k, scope="s") == longer[:k]


@quick
@given(st.lists(steps, max_size=5), st.lists(steps, max_size=4))
def test_a_scratch_leaves_the_store_as_it_was_to_the_last_byte(
    before: list[Any], within: list[Any]
) -> None:
    store = HybridStore("hash")
    for step in before:
        store, _ = live(store, step)
    kept = store.snapshot()
    fork = store.fork(kept)
    assert fork.snapshot() == kept
    with store.scratch():
        for step in within:
            if step not in ("fork", "scratch"):
                live(store, step)
    for step in within:
        if step not in ("fork", "scratch"):
            live(fork, step)
    assert store.snapshot() == kept


def test_a_filter_leaves_out_and_reorders_nothing() -> None:
    store = HybridStore()
    store.put_many(
        Record(f"r{i}", f"kiosk {word}", "s", meta={"odd": i % 2}) for i, word in enumerate(WORDS)
    )
    every = store.search("kiosk lamp", k=99, scope="s")
    odd = store.search("kiosk lamp", k=99, scope="s", filter={"odd": 1})
    assert odd == [hit for hit in every if hit.meta["odd"] == 1]
    assert (
        len(odd) == 5 and store.search("kiosk lamp", k=2, scope="s", filter={"odd": 1}) == odd[:2]
    )


def test_a_floor_holds_for_the_vectors_and_not_for_the_words() -> None:
    store = HybridStore(floor=0.99)
    store.put_many([Record("a", "kiosk ferry orchard drum", "s"), Record("b", "rye", "s")])
    assert found(store, "drum") == ["a"]
    assert found(store, "unheard") == []


def test_a_query_of_function_words_finds_by_vector_and_one_without_words_nothing() -> None:
    store = HybridStore()
    store.put(Record("a", "The kiosk is blue.", "s"))
    assert found(store, "who is it") == ["a"]
    assert found(store, "") == found(store, "?!") == []


def test_time_passes_for_both() -> None:
    store = HybridStore("hash")
    store.put(Record("x", "kiosk", "s", at=MAY, expires=MAY + timedelta(days=30)))
    store.advance(timedelta(days=29))
    assert found(store, "kiosk") == ["x"]
    store.advance(timedelta(days=1))
    assert found(store, "kiosk") == [] and found(store, "kiosk", now=MAY) == ["x"]
    store.advance(timedelta.max)
    assert found(store, "kiosk") == []


def test_scopes_compare_whole_whatever_their_names() -> None:
    store = HybridStore("hash")
    store.put_many(Record(scope, "kiosk", scope) for scope in SCOPES)
    for scope in SCOPES:
        assert found(store, "kiosk", scope=scope) == [scope]


def test_a_text_that_cannot_be_embedded_is_written_to_neither() -> None:
    class Refusing:
        name, dimension = "refusing", 2

        def embed(self, texts: Any, /) -> Any:
            raise StoreError("no")

    store = HybridStore(Refusing())
    with pytest.raises(StoreError, match="no"):
        store.put(Record("a", "kiosk", "s"))
    assert store.count() == store.words.count() == 0


def test_what_the_words_cannot_keep_is_not_kept_by_the_vectors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = HybridStore("hash")
    monkeypatch.setattr(store.words, "put_many", lambda records: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.put(Record("a", "kiosk", "s"))
    assert store.count() == 0


def test_what_is_no_snapshot_of_such_a_store_is_refused() -> None:
    store = HybridStore("hash")
    store.put(Record("a", "kiosk", "s"))
    kept = store.snapshot()
    for wrong, said in (
        (b"", "found bytes b'', wanted bytes from snapshot"),
        (None, "found NoneType None"),
        (VectorStore("hash").snapshot(), "wanted bytes from snapshot"),
        (kept[:-1], "do not end where they say"),
        (HybridStore("hash", floor=0.1).snapshot(), "made with .*'floor': 0.1"),
    ):
        with pytest.raises(StoreError, match=said):
            store.fork(wrong)  # type: ignore[arg-type]
    fork = store.fork(kept)
    assert type(fork) is HybridStore and found(fork, "kiosk") == ["a"]
    fork.close()
    assert found(store, "kiosk") == ["a"]


def test_a_fork_in_a_scratch_gives_no_snapshot() -> None:
    store = HybridStore("hash")
    fork = store.fork(store.snapshot())
    with fork.scratch(), pytest.raises(StoreError, match="found a fork in a scratch"):
        fork.snapshot()


def test_it_says_what_it_is() -> None:
    info = HybridStore("hash").info()
    assert (info["name"], info["embedder"], info["constant"]) == ("HybridStore", "hash-512", 60)
    assert info["words"]["name"] == "SqliteStore"
    assert HybridStore.capabilities == SqliteStore.capabilities == vector.VectorStore.capabilities
