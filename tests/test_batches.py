"""A history as it is written, and the copies a store is handed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from memeval.batches import Batch, copied, steps_of
from memeval.record import Advance, Consolidate, Delete, Op, Record

TEA = Record("tea", "Lapsang.", "ana", unit="drinks", meta={"kind": "note", "of": ["ana"]})
CAT = Record("cat", "Miso.", "ana", datetime(2026, 5, 1, tzinfo=UTC), supersedes=("tea",))


def test_a_copy_says_all_but_the_authors_unit_and_shares_no_metadata() -> None:
    tea, cat = Batch([TEA, CAT]).lend()
    assert tea == Record("tea", "Lapsang.", "ana", meta={"kind": "note", "of": ["ana"]})
    assert cat == CAT and cat is not CAT
    assert tea.meta is not TEA.meta and tea.meta["of"] is not TEA.meta["of"]
    assert cat.meta is not CAT.meta


def test_a_copy_goes_under_other_names_where_these_are_given() -> None:
    renamed = copied(CAT, "x-cat", "x-ana", ["x-tea"])
    assert (renamed.id, renamed.scope, renamed.supersedes) == ("x-cat", "x-ana", ("x-tea",))
    assert (renamed.text, renamed.at) == (CAT.text, CAT.at)


def test_copies_that_come_back_unchanged_are_lent_again() -> None:
    batch = Batch([TEA, CAT])
    first = batch.lend()
    batch.give_back(first)
    again = batch.lend()
    assert all(one is other for one, other in zip(first, again, strict=True))


def test_copies_that_a_store_has_changed_are_made_anew() -> None:
    changes: list[Callable[[Any], None]] = [
        lambda copies: copies[0].meta.update(kind="seen"),
        lambda copies: copies[0].meta["of"].append("bo"),
        lambda copies: copies[0].meta.clear(),
        lambda copies: copies[1].meta.update(seen=True),
    ]
    for change in changes:
        batch = Batch([TEA, CAT])
        lent = batch.lend()
        batch.give_back(lent)
        change(lent)  # also after they were given back
        tea, cat = batch.lend()
        assert (tea.meta, cat.meta) == ({"kind": "note", "of": ["ana"]}, {})
        assert (TEA.meta, CAT.meta) == ({"kind": "note", "of": ["ana"]}, {})


def test_what_is_lent_to_one_store_is_not_lent_to_another() -> None:
    batch = Batch([TEA, CAT])
    first, second = batch.lend(), batch.lend()
    assert first == second and first[0] is not second[0]
    first[1].meta["seen"] = True  # type: ignore[index]
    assert second[1].meta == {}
    batch.give_back(second)
    assert batch.lend()[1].meta == {}


def test_a_batch_goes_to_another_process_with_its_records_alone() -> None:
    batch = Batch([TEA, CAT])
    batch.give_back(batch.lend())
    other = pickle.loads(pickle.dumps(batch))
    assert other.records == batch.records and other._copies is None


ops = some.lists(
    some.one_of(
        some.sampled_from("abc").map(lambda name: Record(name, "x")),
        some.sampled_from([Delete("a"), Consolidate(), Advance(timedelta(days=1))]),
    )
)


@given(ops)
def test_the_steps_are_the_operations_in_order_and_no_batch_could_be_longer(ops: list[Op]) -> None:
    steps = steps_of(ops)
    flat = [op for s in steps for op in (s.records if isinstance(s, Batch) else [s])]
    assert flat == ops
    for one, other in zip(steps, steps[1:], strict=False):
        if isinstance(one, Batch) and isinstance(other, Batch):
            assert other.ids[0] in one.by_id
    assert all(len(set(s.ids)) == len(s) > 0 for s in steps if isinstance(s, Batch))
