"""Does the store find what was just written? Asked before any probe is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import odd_stores as odd
import pytest

from memeval.errors import StoreError
from memeval.harness.asking import Options
from memeval.harness.selfcheck import self_check
from memeval.probe import Probe
from memeval.record import Record
from memeval.runner import run
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore, Meter
from memeval.stores.broken import NullStore
from memeval.stores.sqlite import SqliteStore

PROBE = Probe("p", "noodles", [Record("r1", "noodles at the red bar")], ["r1"])


def check(make: Callable[[], Any], meter: Meter | None = None, **options: Any) -> Any:
    meter = meter or Meter()
    bound = {"timeout_s": options.get("timeout_s"), "retrieve": options.get("retrieve")}
    return self_check(lambda: BoundStore(make(), meter=meter, **bound), Options(**options))


def refusal(make: Callable[[], Any], **options: Any) -> str:
    with pytest.raises(StoreError) as caught:
        check(make, **options)
    said = str(caught.value)
    assert "wanted" in said.lower() and (";" in said)
    return said


def test_a_store_that_reads_from_where_it_does_not_write_is_found_out() -> None:
    assert "record written, not found" in refusal(odd.WrongPartition)


def test_what_other_people_wrote_there_does_not_pass_for_the_record() -> None:
    said = refusal(odd.OtherPartition)
    assert "record written, not found" in said and "such as id 'theirs'" in said


def test_a_store_that_hides_which_record_it_returns_is_found_out() -> None:
    assert "let put return the store's own id" in refusal(odd.AssigningSilently)


def test_a_store_that_shares_its_records_between_instances_is_found_out() -> None:
    assert "share their records" in refusal(odd.shared_state())


def test_a_shared_place_behind_instances_that_are_closed_is_found_out_and_left_empty() -> None:
    place = odd.Place("fresh")
    assert "share their records" in refusal(lambda: odd.Client(place))
    assert place.kept == {}


def test_a_filled_store_is_found_out_and_stays_as_it_is() -> None:
    store = odd.Filled()
    assert "holds 1 records already" in refusal(lambda: store)
    assert list(store.kept) == ["theirs"]


def test_a_filled_store_is_taken_where_that_is_allowed() -> None:
    checked = check(odd.Filled, allow_nonempty=True)
    assert checked.put_ms >= 0.0


def failing(name: str) -> Callable[[], Any]:
    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    return lambda: type("Kind", (odd.Counting,), {name: fail})()


@pytest.mark.parametrize("what", ["put", "search", "count", "close", "info", "delete"])
def test_a_store_that_raises_is_an_error_with_its_words(what: str) -> None:
    assert "OSError: disk full" in refusal(failing(what))


def test_a_factory_that_raises_is_an_error_with_its_words() -> None:
    def make() -> None:
        raise KeyError("MEMORY_URL")

    said = refusal(make)
    assert "make_store failed" in said and "MEMORY_URL" in said


def test_a_search_that_hangs_is_an_error_and_not_waited_for() -> None:
    def make() -> odd.Hanging:
        return odd.Hanging("canary")

    with pytest.raises(StoreError, match=r"no answer within 0\.1 s"):
        check(make, timeout_s=0.1)
    place = odd.Place("fork")
    with pytest.raises(StoreError, match=r"no answer within 0\.1 s"):
        check(lambda: odd.HangingScratch(place, "canary"), timeout_s=0.1)


@pytest.mark.parametrize(
    "make",
    [
        odd.Plain,
        odd.Assigning,
        odd.Splitting,
        odd.Rewriting,
        odd.Mappings,
        odd.Pairs,
        odd.SpecStyle,
        odd.TextsOnly,
        odd.Generating,
        odd.Async,
        odd.AsyncBase,
        odd.AsyncGenerating,
        odd.Filling,
        odd.Scopeless,
        odd.Waiting,
        odd.Forking,
        SqliteStore,
    ],
)
def test_a_store_that_finds_its_record_passes(make: Callable[[], Any]) -> None:
    assert check(make).search_ms >= 0.0


class SmallIndex(odd.Counting):
    """Raises where more is asked for than it holds."""

    def search(self, query: str, *, k: int, scope: str) -> Any:
        if k > len(self.kept):
            raise IndexError("k is larger than the index")
        return super().search(query, k=k, scope=scope)


def test_a_store_that_refuses_a_k_above_what_it_holds_passes_and_fails_that_probe_alone() -> None:
    check(SmallIndex)
    made = run([PROBE, replace(PROBE, name="fitting", k=1)], SmallIndex)
    assert made.calls["status"].tolist() == ["failed", "ok"]
    assert "k is larger than the index" in made.calls["error"][0]


def test_stores_that_share_their_records_are_found_out_where_they_refuse_a_large_k_too() -> None:
    place = odd.Place("fresh")
    shared = type("Shared", (SmallIndex, odd.Client), {"count": lambda self: None})
    assert "share their records" in refusal(lambda: shared(place))


def test_a_store_that_finds_its_record_later_is_waited_for() -> None:
    assert check(odd.Eventual, poll_s=0.001).search_ms > 0.0
    assert "record written, not found" in refusal(
        lambda: odd.Eventual(10**6), settle_s=0.05, poll_s=10.0
    )


def test_a_pipeline_is_checked_in_place_of_search() -> None:
    def nothing(store: Any, view: Any) -> list[Any]:
        return []

    assert "record written, not found" in refusal(odd.Plain, retrieve=nothing)


@pytest.mark.parametrize("isolation", ["fork", "clear", "namespace"])
def test_nothing_of_the_check_is_left_in_a_place_of_the_user(isolation: str) -> None:
    kind = {"fork": odd.Scratching, "clear": odd.Clearing, "namespace": odd.Client}[isolation]
    place = odd.Place(isolation)
    check(lambda: kind(place))
    assert place.kept == {}
    assert run([PROBE], lambda: kind(place)).passed
    assert place.kept == {}


def test_what_the_check_cannot_remove_is_counted_and_does_not_stop_the_run() -> None:
    place = odd.Place("namespace")
    kind = type("Kind", (odd.Client,), {"delete": None})
    meter = Meter()
    check(lambda: kind(place), meter)
    assert (len(place.kept), meter.left_behind) == (1, 1)
    place.kept.clear()
    made = run([PROBE], lambda: kind(place))
    assert made.passed
    assert len(place.kept) == 2  # one of the check, one of the probe
    assert any(note.startswith("2 records could not be removed") for note in made.manifest.notes)


def test_one_slow_first_write_does_not_make_a_store_slow() -> None:
    class Loading(odd.Deleting):
        def put(self, record: Record) -> Any:
            if not self.kept:
                odd.time.sleep(0.05)
            return super().put(record)

    assert check(Loading).put_ms < 25.0
    assert check(lambda: odd.Slow(put_s=0.03)).put_ms >= 30.0


def test_a_store_that_is_broken_on_purpose_is_not_searched() -> None:
    meter = Meter()
    checked = self_check(lambda: BoundStore(NullStore(), meter=meter), Options(), search=False)
    assert (meter.puts, meter.searches) == (0, 0)
    assert checked.capabilities.deterministic is True
    assert checked.info["name"] == "NullStore"


def test_a_run_is_refused_with_the_same_words_before_any_probe_is_asked() -> None:
    with pytest.raises(StoreError, match="record written, not found"):
        run([PROBE], odd.WrongPartition)
    assert run([PROBE], odd.WrongPartition, check_store=False).recall_at_k == 0.0


def test_what_is_declared_and_told_is_handed_on() -> None:
    class Told(odd.Plain):
        capabilities = Capabilities(scoping="client")

        def info(self) -> dict[str, str]:
            return {"version": "3"}

    checked = check(Told)
    assert checked.capabilities == Told.capabilities
    assert checked.info == {"name": "Told", "version": "3"}
