"""Which record is this hit?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from memeval.batches import Batch
from memeval.harness.matching import IdMap
from memeval.record import Hit, Receipt, Record

TEA = Record("tea", "I drink lapsang.")
CAT = Record("cat", "The cat is called Miso.")


def written(*pairs: tuple[Record, Receipt]) -> IdMap:
    ids = IdMap()
    for record, receipt in pairs:
        ids.wrote(record, receipt)
    return ids


def stored(*store_ids: str) -> Receipt:
    return Receipt("stored" if len(store_ids) < 2 else "split", store_ids)


def assigned() -> IdMap:
    return written((TEA, stored("m1")), (CAT, stored("m2")))


@pytest.mark.parametrize(
    ("hit", "found"),
    [
        # Each hit could be taken for the cat by every later rule.
        (Hit("tea", CAT.text, meta={"id": "cat"}), ("tea", "own")),
        (Hit("m2", CAT.text, meta={"source": "tea"}), ("tea", "metadata")),
        (Hit("m1", CAT.text), ("tea", "receipt")),
        (Hit("zz9", TEA.text), ("tea", "text")),
        (Hit(None, TEA.text), ("tea", "text")),
        (Hit("zz9", "i drink LAPSANG."), ("tea", "text")),
        (Hit("zz9", "something else"), (None, "unknown")),
        (Hit("zz9"), (None, "unknown")),
        (Hit(None), (None, "unknown")),
        (Hit("-1"), (None, "unknown")),
        (Hit("zz9", "   "), (None, "unknown")),
    ],
)
def test_a_hit_is_known_by_own_id_then_metadata_receipt_exact_and_normalised_text(
    hit: Hit, found: tuple[str | None, str]
) -> None:
    assert assigned().resolve(hit) == found


def test_an_exact_text_is_preferred_to_one_that_reads_the_same() -> None:
    ids = written((Record("a", "TEA"), stored("1")), (Record("b", "tea"), stored("2")))
    assert ids.resolve(Hit(None, "TEA")) == ("a", "text")
    assert ids.resolve(Hit(None, "tea")) == ("b", "text")


def test_an_id_in_a_list_of_the_metadata_is_found() -> None:
    assert assigned().resolve(Hit("x", meta={"tags": ["a", "tea"]})) == ("tea", "metadata")


def test_what_the_author_wrote_into_the_metadata_names_no_record() -> None:
    topic = Record("r9", "Miso sleeps on the piano.", meta={"topic": "cat", "all": ["tea", "cat"]})
    ids = written((TEA, stored("m1")), (CAT, stored("m2")), (topic, stored("m3")))
    assert ids.resolve(Hit("m3", topic.text, meta=topic.meta)) == ("r9", "receipt")
    told = dict(topic.meta) | {"source": "r9"}
    assert ids.resolve(Hit("m3", topic.text, meta=told)) == ("r9", "metadata")


def test_what_a_record_replaces_is_not_its_name() -> None:
    new = Record("tea2", "I drink genmaicha.", supersedes=("tea",))
    ids = written((TEA, stored("m1")), (new, stored("m2")))
    found = ids.resolve(Hit("m2", new.text, meta={"supersedes": ["tea"], "source": "tea2"}))
    assert found == ("tea2", "metadata")
    assert ids.resolve(Hit("m2", new.text, meta={"supersedes": ["tea"]})) == ("tea2", "receipt")


def test_of_two_records_in_the_metadata_the_receipt_then_the_text_decides() -> None:
    ids = assigned()
    both = {"seen_with": "cat", "source": "tea"}
    assert ids.resolve(Hit("m1", "rewritten", meta=both)) == ("tea", "metadata")
    assert ids.resolve(Hit("new", TEA.text, meta=both)) == ("tea", "metadata")


def test_a_record_that_was_split_is_known_by_each_of_its_ids() -> None:
    ids = written((TEA, Receipt("split", ("m1", "m2"), ("drinks tea", "the tea is lapsang"))))
    assert ids.resolve(Hit("m1")) == ids.resolve(Hit("m2")) == ("tea", "receipt")
    assert ids.resolve(Hit("new", "The tea is lapsang")) == ("tea", "text")
    assert ids.store_ids("tea") == ("m1", "m2")


def test_a_write_that_went_into_another_record_is_noted_as_merged() -> None:
    ids = written(
        (TEA, stored("m1")), (Record("tea2", "Lapsang it is."), Receipt("merged", ("m1",)))
    )
    assert ids.merged == {"tea2": ("tea",)}
    assert ids.lost == set()


def test_a_merge_into_an_own_id_of_a_store_that_gave_none_is_noted() -> None:
    ids = written(
        (TEA, Receipt("stored")), (Record("tea2", "Lapsang."), Receipt("merged", ("tea",)))
    )
    assert ids.merged == {"tea2": ("tea",)}


def test_a_record_that_is_written_again_on_its_own_is_merged_no_more() -> None:
    again = Record("tea2", "Genmaicha it is.")
    ids = written((TEA, stored("m1")), (again, Receipt("merged", ("m1",))), (again, stored("m2")))
    assert ids.merged == {}
    assert ids.resolve(Hit("m2")) == ("tea2", "receipt")


@pytest.mark.parametrize("shared", ["m1", "tea"])
def test_where_one_id_stands_for_several_records_the_text_decides(shared: str) -> None:
    second = Record("tea2", "Lapsang it is.")
    ids = written((TEA, stored(shared)), (second, Receipt("merged", (shared,))))
    assert ids.resolve(Hit(shared, TEA.text))[0] == "tea"
    assert ids.resolve(Hit(shared, second.text))[0] == "tea2"
    assert ids.resolve(Hit(shared, "LAPSANG it is."))[0] == "tea2"


@pytest.mark.parametrize("shared", ["m1", "tea"])
def test_where_the_text_says_nothing_it_is_the_latest_live_record(shared: str) -> None:
    second, third = Record("tea2", "Lapsang it is."), Record("tea3", "Still lapsang.")
    ids = written(*((r, stored(shared)) for r in (TEA, second, third)))
    assert ids.resolve(Hit(shared))[0] == "tea3"
    ids.deleted("tea3")
    assert ids.resolve(Hit(shared, "a summary"))[0] == "tea2"
    ids.deleted("tea")
    ids.deleted("tea2")
    assert ids.resolve(Hit(shared))[0] == "tea3"


def test_of_records_with_one_text_the_latest_live_one_is_meant() -> None:
    ids = written((TEA, stored("m1")), (Record("tea2", TEA.text), stored("m2")))
    assert ids.resolve(Hit(None, TEA.text))[0] == "tea2"
    ids.deleted("tea2")
    assert ids.resolve(Hit(None, TEA.text))[0] == "tea"


def test_a_store_that_numbers_records_as_the_author_does_is_told_apart_by_text() -> None:
    ids = written((Record("1", "One."), stored("2")), (Record("2", "Two."), stored("1")))
    assert ids.resolve(Hit("2", "One.")) == ("1", "receipt")
    assert ids.resolve(Hit("2", "Two.")) == ("2", "own")


def test_an_update_is_known_by_its_new_and_its_old_text_and_id() -> None:
    ids = written(
        (TEA, stored("m1")), (CAT, stored("m2")), (Record("tea", "Now mate."), stored("m3"))
    )
    for hit in (Hit("m1"), Hit("m3"), Hit(None, TEA.text), Hit(None, "Now mate.")):
        assert ids.resolve(hit)[0] == "tea"
    assert ids.text("tea") == "Now mate."
    assert ids.store_ids("tea") == ("m3",)
    assert ids.all_store_ids("tea") == ("m1", "m3")


def test_a_deleted_record_is_still_known_and_written_again_it_is_live() -> None:
    ids = assigned()
    ids.deleted("tea")
    assert ids.is_deleted("tea") and ids.resolve(Hit("m1")) == ("tea", "receipt")
    ids.wrote(TEA, stored("m4"))
    assert not ids.is_deleted("tea")


def test_a_rejected_write_is_lost_until_it_is_written_again() -> None:
    ids = written((TEA, Receipt("rejected")))
    assert ids.lost == {"tea"}
    ids.wrote(TEA, stored("m1"))
    assert ids.lost == set()


def test_ids_handed_to_the_store_lead_back_to_those_of_the_probe() -> None:
    ids = IdMap()
    ids.wrote(TEA, Receipt("stored"), "x-81f")
    assert ids.resolve(Hit("x-81f")) == ("tea", "own")
    assert ids.resolve(Hit("tea")) == (None, "unknown")


names = some.sampled_from("abcd")
writes = some.lists(some.lists(some.tuples(names, some.sampled_from(["x", "X ", "y", ""]))))
hits = some.builds(
    Hit,
    some.none() | names | some.just("zz9"),
    some.sampled_from(["x", "y", "q", ""]),
    meta=some.sampled_from([{}, {"source": "a"}, {"all": ["b", "c"]}]),
)


@given(writes, some.lists(names, max_size=3), some.lists(hits))
def test_writes_noted_by_batch_are_known_as_those_noted_one_by_one(
    written: list[list[tuple[str, str]]], deleted: list[str], asked: list[Hit]
) -> None:
    batched, single = IdMap(), IdMap()
    single.wrote(TEA, Receipt("rejected"))  # whatever it is, it leaves the quick way
    for n, pairs in enumerate(written):
        batch = Batch({i: Record(i, text) for i, text in pairs}.values())
        batched.wrote_plainly(batch)
        for record in batch.records:
            single.wrote(record, stored(record.id))
        if n < len(deleted):
            batched.deleted(deleted[n])
            single.deleted(deleted[n])
    assert batched.plain and not single.plain
    for name in "abcd":
        assert batched.text(name) == single.text(name)
        assert batched.store_ids(name) == single.store_ids(name)
        assert batched.all_store_ids(name) == single.all_store_ids(name)
    assert batched.resolve_all(asked) == single.resolve_all(asked)
    for hit in asked:
        assert batched.resolve(hit) == single.resolve(hit)
    assert [batched.is_deleted(n) for n in "abcd"] == [single.is_deleted(n) for n in "abcd"]
    assert batched.merged == single.merged == {}


def test_a_write_that_went_otherwise_after_a_batch_is_noted_with_it() -> None:
    ids = IdMap()
    ids.wrote_plainly(Batch([TEA]))
    assert ids.resolve(Hit("tea")) == ("tea", "own") and ids.plain
    ids.wrote(Record("tea2", "Lapsang."), Receipt("merged", ("tea",)))
    assert ids.merged == {"tea2": ("tea",)}
    assert ids.resolve(Hit("tea", "Lapsang.")) == ("tea2", "receipt")
    ids.wrote_plainly(Batch([CAT]))
    assert ids.resolve(Hit("cat")) == ("cat", "own") and not ids.plain
