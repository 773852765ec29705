"""The embedded store, used as a person would use it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memeval.record import Receipt, Record
from memeval.stores.sqlite import SqliteStore

MAY = datetime(2026, 5, 1, 12, tzinfo=UTC)
WORDS = "kiosk ferry lamp orchard rye timer blue north slate drum".split()


def store_of(*texts: str, scope: str = "s") -> SqliteStore:
    """Give a store that holds these texts as r0, r1, ..."""
    store = SqliteStore()
    store.put_many(Record(f"r{i}", text, scope) for i, text in enumerate(texts))
    return store


def found(store: SqliteStore, query: str, k: int = 5, scope: str = "s", **more: Any) -> list[Any]:
    return [hit.id for hit in store.search(query, k=k, scope=scope, **more)]


def test_the_record_that_holds_a_word_of_the_query_is_found_with_text_score_and_time() -> None:
    store = SqliteStore()
    east = timezone(timedelta(hours=2))
    receipt = store.put(
        Record(
            "r1", "The kiosk is blue.", "s", datetime(2026, 5, 1, 14, tzinfo=east), meta={"a": 1}
        )
    )
    assert receipt == Receipt("stored", ("r1",))
    (hit,) = store.search("Which colour is the kiosk?", k=5, scope="s")
    assert (hit.id, hit.text, hit.meta) == ("r1", "The kiosk is blue.", {"at": MAY, "a": 1})
    assert hit.score is not None and hit.score > 0


def test_the_score_is_bm25() -> None:
    # N = 3 records of 3 words, "kiosk" in n = 1 of them once: length = average, so the weight is
    # tf (k1 + 1) / (tf + k1) = 2.2 / 2.2 = 1, and idf = ln((3 - 1 + .5) / (1 + .5)) = ln(5/3).
    (hit,) = store_of("kiosk blue paint", "ferry blue paint", "lamp north slate").search(
        "kiosk", k=5, scope="s"
    )
    assert hit.score == pytest.approx(math.log(5 / 3))


def test_english_words_are_found_by_their_stem_and_only_where_that_is_wanted() -> None:
    record = Record("r", "The choir rehearses on Tuesday.", "s")
    stemmed, bare = SqliteStore(), SqliteStore(stem=False)
    for store in (stemmed, bare):
        store.put(record)
    assert found(stemmed, "rehearsing choirs") == ["r"]
    assert found(bare, "rehearsing choirs") == []


def test_words_that_occur_nowhere_do_not_empty_the_answer() -> None:
    store = store_of("The beehive by the wall was moved to the orchard.", "The wall is repointed.")
    assert found(store, "beehive orchard whereabouts please", k=1) == ["r0"]


def test_small_talk_and_lone_function_words_find_nothing() -> None:
    store = store_of("I am Ana and you are in the right place to see it.", "Later, thanks to Bo.")
    for query in ("ok thanks, see you later", "the", "Who?", "hello", "it is what it is"):
        assert found(store, query) == []


def test_a_query_of_function_words_finds_what_holds_it_word_for_word() -> None:
    store = store_of("Tickets for The Who are on the shelf.", "The one who knows is Ana.")
    assert found(store, "the who") == ["r0"]
    assert found(store, "who am I") == []


def test_stop_words_can_be_kept() -> None:
    with SqliteStore(stop_words=False) as store:
        store.put(Record("r", "That is it.", "s"))
        assert found(store, "it") == ["r"]


def test_no_more_than_k_come_back_and_at_most_what_there_is() -> None:
    store = store_of(*(f"choir note {word}" for word in WORDS))
    assert [len(found(store, "choir", k=k)) for k in (1, 2, 10, 10**30)] == [1, 2, 10, 10]


def test_equal_scores_stand_newest_first_then_by_text_then_by_id() -> None:
    store = SqliteStore()
    early, late = MAY, MAY + timedelta(seconds=1)
    store.put_many(
        [
            Record("none", "seat in row A", "s"),
            Record("y", "seat in row C", "s", early),
            Record("x", "seat in row C", "s", early),
            Record("z", "seat in row B", "s", early),
            Record("new", "seat in row D", "s", late),
        ]
    )
    assert found(store, "seat") == ["new", "z", "x", "y", "none"]


def test_the_same_question_gets_the_same_list_and_after_a_rebuild_in_any_order() -> None:
    texts = [f"Seat in row {letter} is free." for letter in "ABCD"]
    store = store_of(*texts)
    first = store.search("free seat", k=2, scope="s")
    assert len(first) == 2
    assert all(store.search("free seat", k=2, scope="s") == first for _ in range(4))
    turned = SqliteStore()
    turned.put_many(Record(f"r{i}", texts[i], "s") for i in (3, 1, 0, 2))
    assert turned.search("free seat", k=2, scope="s") == first


def test_one_persons_record_is_not_anothers() -> None:
    store = SqliteStore()
    store.put(Record("ana", "Lunch on workdays is at the noodle bar on Quay Street.", "ana"))
    store.put(Record("bo", "Lunch on workdays is at the falafel van behind the station.", "bo"))
    assert found(store, "Where do I have lunch on workdays?", scope="ana") == ["ana"]
    assert found(store, "Where do I have lunch on workdays?", scope="cy") == []


SCOPES = [
    "team/orchid",
    "team/orchid-labs",
    "team/orchid/archive",
    "user=kai;agent=gardener",
    "user=kai;agent=cook",
    "x' OR '1'='1",
    '") or true or ("',
    "victim*",
    "victim",
    "%",
    "_",
    "*",
    "../victim",
    "",
    " ",
    "a\x00b",
    "a",
    "A",
    "\u00e9",
    "e\u0301",
    "\ud800",
    "\ud801",
    "\ufffd",
    "x" * 100_000,
]


def test_scopes_compare_whole_whatever_their_names() -> None:
    store = SqliteStore()
    store.put_many(Record(f"r{i}", "the alarm is off", scope) for i, scope in enumerate(SCOPES))
    for i, scope in enumerate(SCOPES):
        assert found(store, "alarm off", scope=scope) == [f"r{i}"]
        assert store.count(scope) == 1
    assert found(store, "alarm", scope="victi") == []


def test_a_small_scope_is_found_whole_beside_a_crowd_that_is_nearer() -> None:
    store = SqliteStore()
    boat = "Boat trip to the seal bank leaves at ten."
    store.put_many(Record(f"c{i}", boat, "crowd") for i in range(2000))
    small = [
        "The boat trip to the seal bank costs 24 euros.",
        "A jacket for the seal bank.",
        "seal",
    ]
    store.put_many(Record(f"b{i}", text, "solo") for i, text in enumerate(small))
    for k in (1, 2, 3, 10):
        answer = found(store, "boat trip to the seal bank", k=k, scope="solo")
        assert answer == ["b0", "b1", "b2"][:k]


def test_hundreds_of_scopes_live_in_one_store() -> None:
    store = SqliteStore()
    store.put_many(Record(f"r{i}", f"kiosk {i}", f"scope {i % 300}") for i in range(600))
    assert store.count() == 600
    assert sorted(found(store, "kiosk", scope="scope 299")) == ["r299", "r599"]


def test_an_id_that_is_odd_comes_back_as_it_was_written() -> None:
    store = SqliteStore()
    ids = ["\ud800", "\ud801", "a\x00b", "x' OR 1", "", "caf\u00e9", "cafe\u0301"]
    store.put_many(Record(name, "kiosk", "s") for name in ids)
    assert sorted(found(store, "kiosk", k=9)) == sorted(ids)
