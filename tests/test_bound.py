"""One face for every store: sync or async, bare or rich."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import odd_stores as odd
import pytest

from memeval.errors import StoreError
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore, CallLimitError, Meter, SearchTimeoutError, View
from memeval.stores.broken import NullStore, ShuffledStore
from memeval.stores.sqlite import SqliteStore

NOODLES = Record("r1", "Noodles at the red bar.", "ana")
ASKED = View("where are noodles", 5, "ana")
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def use_every_method() -> odd.Async:
    inner = odd.Async()
    store = BoundStore(inner)
    assert store.put(NOODLES) == Receipt("stored", ("r1",))
    assert store.put_many([Record("r2", "Noodles again.", "ana")]) == [Receipt("stored", ("r2",))]
    assert [hit.id for hit in store.search(ASKED)] == ["r1", "r2"]
    assert store.count() == 2
    store.delete("r2", "ana")
    store.advance(timedelta(days=1))
    assert store.consolidate()
    with store.scratch():
        store.put(Record("r3", "only for now"))
        assert store.count() == 2
    assert store.count() == 1
    assert store.wait_visible(["r1"], 1.0)
    assert store.info() == {"name": "Async", "version": "3"}
    store.clear()
    assert store.count() == 0
    store.close()
    return inner


def test_every_method_may_be_a_coroutine_function() -> None:
    inner = use_every_method()
    assert inner.told == [(None, None), timedelta(days=1), "consolidate", "close"]


def test_coroutines_run_inside_a_loop_that_is_running_already() -> None:
    async def as_in_a_notebook() -> odd.Async:
        return use_every_method()

    assert asyncio.run(as_in_a_notebook()).told[-1] == "close"


def test_a_factory_may_be_a_coroutine_function() -> None:
    async def make() -> odd.Plain:
        return odd.Plain()

    assert isinstance(BoundStore(make()).inner, odd.Plain)


@pytest.mark.parametrize("kind", [odd.AsyncBase, odd.AsyncGenerating, odd.Generating])
@pytest.mark.parametrize("limit", [None, 20.0])
def test_what_comes_bit_by_bit_is_waited_for(kind: type, limit: float | None) -> None:
    store = BoundStore(kind(), timeout_s=limit)
    assert store.put_many([NOODLES]) == [Receipt("stored", ("r1",))]
    assert [hit.id for hit in store.search(ASKED)] == ["r1"]


def test_the_time_that_a_generator_takes_is_the_time_of_the_search() -> None:
    inner = odd.Generating()
    inner.seconds = 0.05
    store = BoundStore(inner)
    store.put(NOODLES)
    store.search(ASKED)
    assert store.attempt_ms >= 50
    inner.seconds = 5.0
    store.timeout_s = 0.2
    with pytest.raises(SearchTimeoutError):
        store.search(ASKED)


class Telling(odd.Plain):
    def __init__(self, *honours: str) -> None:
        super().__init__()
        self.capabilities = Capabilities(honours=frozenset(honours))
        self.told: list[dict[str, Any]] = []

    def search(self, query: str, **options: Any) -> Any:
        self.told.append(options)
        return []


@pytest.mark.parametrize(
    ("honours", "told"),
    [
        ((), {}),
        (("filter",), {"filter": {"a": 1}}),
        (("now",), {"now": NOW}),
        (("filter", "now"), {"filter": {"a": 1}, "now": NOW}),
    ],
)
def test_filter_and_now_are_passed_where_they_are_declared(
    honours: tuple[str, ...], told: dict[str, Any]
) -> None:
    inner = Telling(*honours)
    BoundStore(inner).search(View("q", 5, "ana", {"a": 1}, NOW))
    BoundStore(inner).search(View("q", 5, "ana"))
    assert inner.told == [{"k": 5, "scope": "ana"} | told, {"k": 5, "scope": "ana"}]


@pytest.mark.parametrize("kind", [odd.Deleting, odd.DeletingAnywhere])
def test_delete_hands_on_the_scope_where_it_is_taken(kind: type) -> None:
    inner = kind()
    store = BoundStore(inner)
    store.put(NOODLES)
    store.delete("r1", "ana")
    assert inner.kept == {}


def test_delete_with_any_options_gets_the_scope_and_a_wrapped_store_its_own_delete() -> None:
    class Anything(odd.Plain):
        def delete(self, store_id: str, **options: Any) -> None:
            self.told = (store_id, options)

    inner = Anything()
    BoundStore(ShuffledStore(inner)).delete("r1", "ana")
    assert inner.told == ("r1", {"scope": "ana"})


def test_retries_are_counted_and_told_and_not_in_the_time() -> None:
    store = BoundStore(odd.FailingSearch("noodles", times=2), retries=3)
    store.put(NOODLES)
    started = time.monotonic()
    assert [hit.id for hit in store.search(ASKED)] == ["r1"]
    assert time.monotonic() - started >= 0.3  # pauses of 0.1 and 0.2 s
    assert store.attempt_ms < 250
    assert store.meter.retries == 2
    assert store.tried == ["ValueError: k is larger than the store"] * 2


def test_the_last_attempt_raises_what_the_store_raises() -> None:
    store = BoundStore(odd.FailingSearch("noodles", times=9), retries=1)
    with pytest.raises(ValueError, match="k is larger"):
        store.search(ASKED)
    assert store.meter.retries == 1


def test_a_search_that_hangs_ends_at_the_limit_and_is_neither_retried_nor_closed() -> None:
    inner = odd.Hanging()
    store = BoundStore(inner, timeout_s=0.1, retries=3)
    store.put(NOODLES)
    started = time.monotonic()
    with pytest.raises(SearchTimeoutError, match=r"no answer within 0\.1 s; raise timeout_s"):
        store.search(ASKED)
    assert time.monotonic() - started < 5.0
    store.close()
    inner.free.set()
    assert store.hung and not inner.closed


class AsyncHanging(odd.AsyncBase):
    blocks = False

    async def search(self, query: str, *, k: int, scope: str) -> Any:  # type: ignore[override]
        if self.blocks:
            time.sleep(3.0)  # the mistake: it stops the loop
        await asyncio.sleep(20.0)


@pytest.mark.parametrize("blocks", [False, True])
def test_a_coroutine_that_hangs_ends_at_the_limit_even_where_it_blocks_its_loop(
    blocks: bool,
) -> None:
    inner = AsyncHanging()
    inner.blocks = blocks
    with pytest.raises(SearchTimeoutError):
        BoundStore(inner, timeout_s=0.1).search(ASKED)
    started = time.monotonic()
    next_one = BoundStore(odd.AsyncBase(), timeout_s=5.0)
    next_one.put(NOODLES)
    assert [hit.id for hit in next_one.search(ASKED)] == ["r1"]
    assert time.monotonic() - started < 2.0


@pytest.mark.parametrize("limit", [None, 5.0])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_timeout_error_of_the_store_itself_is_a_failure_of_its_own(
    limit: float | None, kind: str
) -> None:
    class Sync(odd.Plain):
        def search(self, query: str, *, k: int, scope: str) -> Any:
            raise TimeoutError("server busy")

    class Asynchronous(odd.AsyncBase):
        async def search(self, query: str, *, k: int, scope: str) -> Any:  # type: ignore[override]
            raise TimeoutError("server busy")

    store = BoundStore(Sync() if kind == "sync" else Asynchronous(), timeout_s=limit)
    with pytest.raises(TimeoutError, match="server busy"):
        store.search(ASKED)


def test_max_calls_counts_writes_deletes_and_searches_over_all_stores() -> None:
    meter = Meter(limit=4)
    first, second = (BoundStore(odd.Deleting(), meter=meter) for _ in range(2))
    first.put_many([NOODLES])
    first.search(ASKED)
    first.delete("r1", "ana")
    second.put(NOODLES)
    with pytest.raises(CallLimitError, match=r"5 calls to the store, at most 4 .*raise max_calls"):
        second.search(ASKED)
    second.delete("r1", "ana", within_limit=False)  # cleaning up is not refused
    assert second.inner.kept == {}


@pytest.mark.parametrize(
    "answer", [None, "r1", b"r1", {"results": []}, 7, {"r1", "r2"}, Hit("r1"), object()]
)
def test_an_answer_that_is_no_list_is_an_error_that_says_what_to_return(answer: Any) -> None:
    store = BoundStore(odd.Returning(answer))
    with pytest.raises(
        StoreError, match=r"search returned \w+, wanted a list of hits; return \[\]"
    ):
        store.search(ASKED)


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_an_answer_may_be_any_ordered_thing(kind: Any) -> None:
    store = BoundStore(odd.Returning(kind([("r1", 0.5)])))
    assert store.search(ASKED) == [Hit("r1", "", 0.5)]


def test_capabilities_may_be_an_attribute_a_method_or_missing() -> None:
    declared = Capabilities(scoping="client")

    class Method(odd.Plain):
        def capabilities(self) -> Capabilities:
            return declared

    class Attribute(odd.Plain):
        capabilities = declared

    assert BoundStore(Method()).capabilities == BoundStore(Attribute()).capabilities == declared
    assert BoundStore(odd.Plain()).capabilities == Capabilities()
    assert BoundStore(ShuffledStore(Method())).capabilities == declared


@pytest.mark.parametrize("told", [{"scoping": "client"}, "native", 7])
def test_capabilities_of_another_type_are_refused(told: object) -> None:
    inner = odd.Plain()
    inner.capabilities = told  # type: ignore[attr-defined]
    with pytest.raises(StoreError, match=r"capabilities is a \w+, wanted memeval.Capabilities"):
        _ = BoundStore(inner).capabilities


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"isolation": "forked"}, "isolation is 'forked', wanted one of 'fresh', 'clear'"),
        ({"score_order": "ascending"}, "score_order is 'ascending', wanted one of 'high'"),
        ({"honours": {"expiry"}}, r"honours names \['expiry'\], wanted some of"),
    ],
)
def test_capabilities_with_an_unknown_word_are_refused(told: dict[str, Any], says: str) -> None:
    with pytest.raises(StoreError, match=says):
        Capabilities(**told)


def test_what_a_store_honours_may_be_any_collection_of_words() -> None:
    for told in ("filter", ["filter"], {"filter"}):
        assert Capabilities(honours=told).honours == frozenset({"filter"})  # type: ignore[arg-type]


def test_an_object_without_put_or_search_is_refused_with_what_it_lacks() -> None:
    with pytest.raises(StoreError, match="gave a dict without put and search, wanted put"):
        BoundStore({})
    with pytest.raises(StoreError, match="gave the class Plain, wanted an object of it"):
        BoundStore(odd.Plain)


def test_a_pipeline_is_asked_in_place_of_search_and_gets_plain_values() -> None:
    class PutOnly:
        def put(self, record: Record) -> None:
            self.kept = record

    seen: list[View] = []

    async def retrieve(store: PutOnly, view: View) -> list[Hit]:
        seen.append(view)
        return [Hit(store.kept.id, store.kept.text)]

    store = BoundStore(PutOnly(), retrieve=retrieve)
    store.put(NOODLES)
    assert [hit.id for hit in store.search(ASKED)] == ["r1"]
    assert seen == [ASKED]


class Bulk(odd.Plain):
    def __init__(self, returned: Any) -> None:
        super().__init__()
        self.returned = returned

    def put_many(self, records: list[Record]) -> Any:
        return self.returned


@pytest.mark.parametrize(
    ("returned", "receipts"),
    [
        (None, [("r1",), ("r2",)]),
        (["m1", None], [("m1",), ("r2",)]),
        (iter([["m1", "m2"], "m3"]), [("m1", "m2"), ("m3",)]),
    ],
)
def test_put_many_may_return_ids_none_or_a_generator(returned: Any, receipts: list[Any]) -> None:
    records = [NOODLES, Record("r2", "Tram at nine.", "ana")]
    got = BoundStore(Bulk(returned)).put_many(records)
    assert [receipt.store_ids for receipt in got] == receipts


@pytest.mark.parametrize("returned", [2, True, "r1", {"r1": "m1"}, ["m1", "m2"]])
def test_put_many_that_does_not_tell_each_record_is_refused(returned: Any) -> None:
    with pytest.raises(StoreError, match=r"put_many (returned|gave) .*return one receipt"):
        BoundStore(Bulk(returned)).put_many([NOODLES])


def test_a_store_that_says_nothing_of_itself_is_named_by_its_type() -> None:
    assert BoundStore(odd.Plain()).info() == {"name": "Plain"}
    assert BoundStore(NullStore()).info()["name"] == "NullStore"
    assert BoundStore(odd.Plain()).count() is None
    assert BoundStore(odd.Plain()).consolidate() is False
    assert BoundStore(odd.Plain()).llm_calls() is None


def test_model_calls_are_read_from_an_attribute_or_a_method() -> None:
    inner = odd.Plain()
    inner.llm_calls = 3  # type: ignore[attr-defined]
    assert BoundStore(inner).llm_calls() == 3
    inner.llm_calls = lambda: 4  # type: ignore[attr-defined]
    assert BoundStore(inner).llm_calls() == 4


def test_a_store_that_forks_a_snapshot_is_scratched_in_the_fork() -> None:
    inner = odd.Forking()
    store = BoundStore(inner)
    store.put(NOODLES)
    with store.scratch():
        store.put(Record("r2", "Noodles again.", "ana"))
        assert len(store.search(ASKED)) == 2
    assert len(store.search(ASKED)) == 1 and store.inner is inner


class Halved(SqliteStore):
    """Changes how a record is written, and nothing else."""

    def put(self, record: Record) -> Receipt:
        return super().put(dataclasses.replace(record, text=record.text[: len(record.text) // 2]))


class Through:
    """Hands on what it does not change."""

    def __init__(self) -> None:
        self.inner = SqliteStore()

    def put(self, record: Record) -> Receipt:
        return self.inner.put(record)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.mark.parametrize("make", [Halved, Through])
def test_a_put_of_its_own_is_not_passed_by_for_an_inherited_put_many(make: Any) -> None:
    store = BoundStore(make())
    assert store.supports("put_many") and not store.batches
    store.put_many([Record("r1", "blue kiosk red van")])
    assert store.meter.puts == 1


def test_a_subclass_that_changes_nothing_writes_in_batches() -> None:
    assert BoundStore(type("Same", (SqliteStore,), {})()).batches
