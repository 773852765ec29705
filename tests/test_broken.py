"""The stores that are broken on purpose are broken as documented, and in no other way."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from math import comb
from statistics import mean
from typing import Any

import odd_stores as odd
import pytest

from memeval.errors import StoreError
from memeval.probe import Probe
from memeval.record import Hit, Receipt, Record
from memeval.runner import run
from memeval.stores.base import Capabilities, resolve
from memeval.stores.bound import BoundStore, View
from memeval.stores.broken import (
    Answer,
    ConstantStore,
    NewestStore,
    NullStore,
    OracleStore,
    RandomStore,
    ShuffledStore,
    meets,
)
from memeval.stores.sqlite import SqliteStore

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def filled(store: Any, n: int = 30, start: int = 0) -> Any:
    for i in range(start, start + n):
        store.put(Record(f"r{i}", f"noodles {i}", "ana"))
    return store


def ids(store: Any, query: str = "noodles", k: int = 5, **more: Any) -> list[str | None]:
    return [hit.id for hit in store.search(query, k=k, scope="ana", **more)]


def test_the_null_store_returns_nothing() -> None:
    store = filled(NullStore())
    store.delete("r1", scope="ana")
    store.advance(None)
    assert ids(store, filter={"a": 1}, now=NOW) == []


def test_the_random_store_returns_k_different_records_of_the_scope() -> None:
    store = filled(RandomStore())
    store.put(Record("theirs", "noodles", "bo"))
    drawn = ids(store, k=30)
    assert sorted(drawn) == sorted(f"r{i}" for i in range(30))
    assert len(set(ids(store))) == 5
    assert ids(RandomStore()) == []


def test_the_random_store_keeps_what_it_was_told() -> None:
    store = RandomStore()
    for record in (
        Record("old", "x", "ana"),
        Record("new", "y", "ana", supersedes=("old",)),
        Record("gone", "z", "ana"),
        Record("late", "w", "ana", expires=NOW),
        Record("note", "v", "ana", meta={"type": ["note", "todo"]}),
    ):
        store.put(record)
    store.delete("gone", scope="ana")
    assert sorted(ids(store, k=9)) == ["late", "new", "note"]
    assert sorted(ids(store, k=9, now=NOW)) == ["new", "note"]
    assert ids(store, k=9, filter={"type": "note"}) == ["note"]


def test_the_same_seed_gives_the_same_answers_and_another_others() -> None:
    assert ids(filled(RandomStore(1))) == ids(filled(RandomStore(1)))
    assert ids(filled(RandomStore(1))) != ids(filled(RandomStore(2)))


def test_two_probes_of_equal_size_get_different_draws() -> None:
    # Places among the records of each store: one shared draw would give equal ones.
    one = [int(i[1:]) for i in ids(filled(RandomStore())) if i]
    other = [int(i[1:]) - 100 for i in ids(filled(RandomStore(), start=100)) if i]
    assert one != other
    assert ids(filled(RandomStore()), "one") != ids(filled(RandomStore()), "another")


def test_random_recall_follows_the_hypergeometric_law_over_seeds_and_probes() -> None:
    probes = [
        Probe(
            f"p{n}",
            f"query {n}",
            [Record(f"r{n}-{i}", f"text {i}") for i in range(20)],
            [f"r{n}-{n}", f"r{n}-{n + 1}"],
        )
        for n in range(10)
    ]
    runs = [
        run(
            probes,
            lambda seed=seed: RandomStore(seed),
            repeats=1,
            repeat_check=False,
            check_store=False,
        )
        for seed in range(40)
    ]
    law = comb(18, 3) / comb(20, 5)  # 816 / 15504 = 0.0526
    recalls = [made.recall_at_k for made in runs]
    # 400 draws: standard deviation sqrt(.0526 * .9474 / 400) = 0.0112; three of them.
    assert mean(recalls) == pytest.approx(law, abs=0.034)
    # Were all probes of a run to share one draw, a run would recall nothing or much at once.
    assert max(recalls) <= 0.3
    assert mean(made.value("recall_fraction") for made in runs) == pytest.approx(5 / 20, abs=0.05)


def test_the_shuffled_store_returns_the_same_records_in_another_order() -> None:
    inner = filled(odd.Plain())
    shuffled = ShuffledStore(inner)
    orders = [ids(shuffled, f"noodles {i}", k=8) for i in range(20)]
    plain = [ids(inner, f"noodles {i}", k=8) for i in range(20)]
    assert [sorted(map(str, o)) for o in orders] == [sorted(map(str, o)) for o in plain]
    assert orders != plain
    assert orders == [ids(ShuffledStore(inner), f"noodles {i}", k=8) for i in range(20)]


def test_the_place_of_the_best_hit_is_uniform_when_shuffled() -> None:
    inner = filled(odd.Plain())
    places = [
        ids(ShuffledStore(inner, seed), f"noodles {i}", k=5).index(f"r{i}")
        for seed in range(20)
        for i in range(30)
    ]
    counts = [places.count(place) for place in range(5)]
    # 600 draws over 5 places: 120 each, standard deviation sqrt(600 * .2 * .8) = 9.8; four of them.
    assert sum(counts) == 600
    assert all(80 < count < 160 for count in counts)
    # E[1/rank] = H_5 / 5 = (1 + 1/2 + 1/3 + 1/4 + 1/5) / 5 = 0.4567
    assert mean(1 / (place + 1) for place in places) == pytest.approx(0.4567, abs=0.04)


def test_what_stands_past_k_stays_past_k_when_shuffled() -> None:
    shuffled = ShuffledStore(filled(odd.Generous(), 12))
    plain = ids(filled(odd.Generous(), 12), k=3)
    for seed in range(10):
        shuffled.seed = seed
        assert sorted(map(str, ids(shuffled, k=3)[:3])) == sorted(map(str, plain[:3]))
        assert ids(shuffled, k=3)[3:] == plain[3:]


@pytest.mark.parametrize("answer", [None, "r1", {"results": []}, 7])
def test_what_is_no_answer_is_none_when_shuffled_either(answer: Any) -> None:
    with pytest.raises(StoreError, match="wanted a list of hits"):
        BoundStore(ShuffledStore(odd.Returning(answer))).search(View("noodles", 5, "ana"))


@pytest.mark.parametrize(
    "kind", [odd.Async, odd.AsyncBase, odd.AsyncGenerating, odd.Generating, odd.Mappings, odd.Pairs]
)
def test_a_store_of_any_kind_can_be_shuffled(kind: type) -> None:
    plain, shuffled = BoundStore(kind()), BoundStore(ShuffledStore(kind()))
    for store in (plain, shuffled):
        store.put_many([Record(f"r{i}", f"noodles {i}", "ana") for i in range(6)])
    view = View("noodles", 5, "ana")

    def recognised(hits: list[Hit]) -> list[str]:
        return sorted(str(hit.meta.get("source", hit.id)) for hit in hits)

    assert recognised(shuffled.search(view)) == recognised(plain.search(view))


def test_a_shuffled_store_is_as_the_wrapped_one_without_an_order_of_scores() -> None:
    inner = odd.Distances()
    inner.extra = 7  # type: ignore[attr-defined]
    shuffled = ShuffledStore(inner)
    assert shuffled.extra == 7
    assert shuffled.capabilities == Capabilities(score_order=None)
    client = Capabilities(scoping="client", score_order="low")
    inner.capabilities = lambda: client  # type: ignore[assignment]
    assert shuffled.capabilities == Capabilities(scoping="client")
    with pytest.raises(AttributeError):
        _ = shuffled.delete


def test_the_oracle_returns_what_is_expected_and_nothing_else() -> None:
    answer = Answer(frozenset({"r1", "r2"}), "noodles?", "ana", ("r2", "r1"))
    store = filled(OracleStore([answer]))
    assert ids(store, "noodles?") == ["r2", "r1"]
    assert ids(store, "noodles?", k=1) == ["r2"]
    assert ids(store, "tram?") == []
    assert ids(filled(OracleStore([answer]), n=2), "noodles?") == []  # r2 was never written


def test_the_newest_come_first_by_time_and_then_by_when_they_were_written() -> None:
    store = NewestStore()
    for name, day in (("a", 3), ("b", None), ("c", 5), ("d", 5), ("e", 1), ("f", None)):
        at = None if day is None else datetime(2026, 3, day, tzinfo=UTC)
        store.put(Record(name, name, "ana", at=at))
    assert ids(store, k=9) == ["d", "c", "a", "e", "f", "b"]
    assert ids(store, "anything", k=2) == ids(store, "else", k=2) == ["d", "c"]


def test_what_is_written_again_is_newer() -> None:
    store = filled(NewestStore(), 3)
    store.put(Record("r0", "again", "ana"))
    assert ids(store) == ["r0", "r2", "r1"]
    store.put_many([Record("r2", "again", "ana")])
    assert ids(store) == ["r2", "r0", "r1"]


def test_the_constant_store_returns_what_was_written_first_whatever_is_asked() -> None:
    store = filled(ConstantStore())
    store.put(Record("theirs", "noodles", "bo"))
    assert ids(store, "noodles 9", k=3) == ids(store, "tram", k=3) == ["r0", "r1", "r2"]


@pytest.mark.parametrize("name", ["newest", "constant"])
def test_the_blind_stores_keep_what_they_were_told(name: str) -> None:
    store = resolve(name)()
    for record in (
        Record("old", "x", "ana"),
        Record("new", "y", "ana", supersedes=("old",)),
        Record("gone", "z", "ana"),
        Record("late", "w", "ana", expires=NOW),
        Record("note", "v", "ana", meta={"type": ["note", "todo"]}),
        Record("theirs", "u", "bo"),
    ):
        store.put(record)
    store.delete("gone", scope="ana")
    assert sorted(ids(store, k=9)) == ["late", "new", "note"]
    assert sorted(ids(store, k=9, now=NOW)) == ["new", "note"]
    assert ids(store, k=9, filter={"type": "note"}) == ["note"]


@pytest.mark.parametrize(
    ("meta", "wanted", "held"),
    [
        ({"a": 1}, None, True),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ({}, {"a": 1}, False),
        ({"a": [1, 2]}, {"a": 2}, True),
        ({"a": 1}, {"a": [1, 2]}, True),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, False),
    ],
)
def test_metadata_meets_a_filter_where_every_field_does(
    meta: dict[str, Any], wanted: dict[str, Any] | None, held: bool
) -> None:
    assert meets(meta, wanted) is held


def test_a_shuffled_store_writes_in_batches_where_the_store_within_does() -> None:
    class Batching(SqliteStore):
        written: list[int] = []

        def put_many(self, records: Iterable[Record]) -> list[Receipt]:
            kept = list(records)
            self.written.append(len(kept))
            return super().put_many(kept)

    class OneByOne(Batching):
        def put(self, record: Record) -> Receipt:  # passing this one by would measure another
            return super().put(record)

    records = [Record(f"r{n}", "tea") for n in range(4)]
    for kind, sizes in ((Batching, [4]), (OneByOne, [1, 1, 1, 1])):
        Batching.written.clear()
        store = BoundStore(ShuffledStore(kind()))
        store.put_many(records)
        assert Batching.written == sizes
        store.close()
