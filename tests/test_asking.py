"""One history written, and its probes asked, by a whole run over odd stores."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import odd_stores as odd
import pandas as pd
import pytest

from memeval.errors import StoreError
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Hit, Receipt, Record
from memeval.runner import run
from memeval.runs import Run
from memeval.stores.base import Capabilities
from memeval.stores.bound import CallLimitError, View
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite

NOODLES = Record("r1", "Noodles at the red bar.")
TRAM = Record("r2", "The tram leaves at nine.")
BAR = Record("r3", "The red bar is closed.")
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def lunch(name: str = "lunch", **more: Any) -> Probe:
    asked = {"query": "noodles in the red bar", "given": [NOODLES, TRAM, BAR], "expect": ["r1"]}
    return Probe(name, **(asked | more))


def tram(name: str = "tram") -> Probe:
    return Probe(name, "when does the tram leave", [TRAM, BAR], ["r2"])


def ask(make: Callable[[], Any], *probes: Probe, **options: Any) -> Run:
    return run(list(probes) or [lunch()], make, **options)


def call(made: Run, probe: str = "lunch", repeat: int = 0) -> Any:
    rows = made.calls[(made.calls["probe"] == probe) & (made.calls["repeat"] == repeat)]
    return rows.iloc[0]


def result(made: Run, probe: str = "lunch") -> Any:
    return made.results.set_index("probe").loc[probe]


def outcome(made: Run) -> pd.DataFrame:
    """The tables without their times."""
    kept = made.results.drop(columns="latency_ms").sort_values("probe", ignore_index=True)
    return kept


# --- statuses


def test_a_good_store_is_ok() -> None:
    made = ask(odd.Plain)
    assert call(made)["status"] == "ok"
    assert pd.isna(call(made)["error"]) and pd.isna(call(made)["breaches"])
    assert (result(made)["first_rank"], bool(result(made)["passed"])) == (1, True)
    assert made.hits["record_id"].tolist() == ["r1", "r3", "r2"]


def test_a_search_that_raises_is_failed_with_its_message_and_the_run_goes_on() -> None:
    made = ask(lambda: odd.FailingSearch("noodles"), lunch(), tram())
    assert call(made)["status"] == "failed"
    assert call(made)["error"] == "ValueError: k is larger than the store"
    assert call(made, "tram")["status"] == "ok"
    assert made.verdict.exit_code == 1
    # Two positive probes, one failed: 1/2, not 1/1.
    assert (made.recall_at_k, made.errors) == (0.5, 1)


def test_a_failed_negative_probe_has_not_abstained() -> None:
    made = ask(lambda: odd.FailingSearch("noodles"), lunch(expect=[]), tram())
    assert not result(made)["abstained"] and not result(made)["passed"]


@pytest.mark.parametrize("answer", [None, "r1", {"r1": 0.5}])
def test_an_answer_that_is_no_list_is_failed_and_never_empty(answer: Any) -> None:
    made = ask(lambda: odd.Returning(answer), lunch(expect=[]), tram())
    assert call(made)["status"] == "failed"
    assert "wanted a list of hits" in call(made)["error"]
    assert not result(made)["abstained"]


def test_a_write_that_raises_is_failed_with_the_record_and_no_miss() -> None:
    made = ask(odd.FailingPut, lunch(), tram())
    assert call(made)["status"] == "failed"
    assert call(made)["error"] == "writing 'r1': ConnectionError: 429 too many requests"
    assert call(made, "tram")["status"] == "ok"


def test_a_write_that_works_when_tried_again_is_ok_and_told() -> None:
    made = ask(lambda: odd.FailingPut(times=2), retries=2)
    assert call(made)["status"] == "ok"
    assert call(made)["error"].count("writing: tried again after ConnectionError: 429") == 2
    assert made.manifest.options["retried"] == 2


def test_a_search_that_works_when_tried_again_is_ok_and_its_pauses_are_not_in_the_latency() -> None:
    made = ask(lambda: odd.FailingSearch("noodles", times=2), retries=2)
    assert call(made)["status"] == "ok"
    assert call(made)["error"].count("tried again after ValueError") == 2
    assert call(made)["latency_ms"] < 250.0  # the pauses are 100 and 200 ms


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_search_that_hangs_is_timeout_and_the_run_goes_on(kind: str) -> None:
    class AsyncHanging(odd.AsyncBase):
        async def search(self, query: str, *, k: int, scope: str) -> Any:  # type: ignore[override]
            if "noodles" in odd.words(query):
                await odd_sleep(20.0)
            return self.inner.search(query, k=k, scope=scope)

    from asyncio import sleep as odd_sleep

    make: Callable[[], Any] = odd.Hanging if kind == "sync" else AsyncHanging
    started = time.monotonic()
    made = ask(make, lunch(), tram(), timeout_s=0.3)
    assert time.monotonic() - started < 10.0
    assert call(made)["status"] == "timeout"
    assert "no answer within 0.3 s" in call(made)["error"]
    assert call(made, "tram")["status"] == "ok"
    assert made.recall_at_k == 0.5


@pytest.mark.parametrize("isolation", ["fork", "clear", "namespace"])
def test_a_search_that_hangs_in_a_shared_store_does_not_stop_the_others(isolation: str) -> None:
    def search(self: Any, query: str, *, k: int, scope: str) -> Any:
        if "noodles" in odd.words(query):
            time.sleep(20.0)
        return odd.Plain.search(self, query, k=k, scope=scope)

    place = odd.Place(isolation)
    bases = {"clear": odd.Clearing, "namespace": odd.Client}
    if isolation == "fork":
        made = ask(
            lambda: odd.HangingScratch(odd.Place("fork")),
            tram("one"),
            lunch(),
            tram("two"),
            timeout_s=0.3,
        )
    else:
        kind = type("Kind", (bases[isolation],), {"search": search})
        made = ask(lambda: kind(place), tram("one"), lunch(), tram("two"), timeout_s=0.3)
    assert made.calls["status"].tolist() == ["ok", "timeout", "ok"]


def test_a_record_that_no_id_came_back_for_is_not_stored() -> None:
    made = ask(odd.Rejecting, lunch(), tram())
    assert call(made)["status"] == "not_stored"
    assert call(made, "tram")["status"] == "ok"
    assert made.recall_at_k == 0.5


def test_one_of_several_alternatives_is_enough_to_be_stored() -> None:
    made = ask(odd.Rejecting, lunch(expect=[("r1", "r3")]))
    assert call(made)["status"] == "ok"


def test_a_record_that_never_appears_is_not_visible_and_stays_in_the_denominator() -> None:
    made = ask(lambda: odd.Waiting(ever=False), lunch(), settle_s=0.1)
    assert call(made)["status"] == "not_visible"
    assert made.recall_at_k == 0.0

    class Never(odd.Eventual):
        def put(self, record: Record) -> Any:
            self.left = 3 if "canary" in odd.words(record.text) else 10**6
            return super().put(record)

    started = time.monotonic()
    made = ask(Never, lunch(), settle_s=0.2, poll_s=0.01)
    assert call(made)["status"] == "not_visible"
    assert call(made)["visible_ms"] >= 200.0 and time.monotonic() - started < 10.0


def test_a_last_look_is_taken_when_the_time_is_up() -> None:
    # After the first look there is less time left than one pause: it is used all the same.
    made = ask(lambda: odd.Eventual(1), lunch(), settle_s=0.05, poll_s=60.0)
    assert call(made)["status"] == "ok"


@pytest.mark.parametrize("make", [odd.Eventual, odd.Waiting])
def test_waiting_is_a_time_of_its_own_and_no_part_of_the_latency(make: Any) -> None:
    made = ask(make, lunch(), poll_s=0.15)
    assert call(made)["status"] == "ok"
    waited, latency = call(made)["visible_ms"], call(made)["latency_ms"]
    assert waited >= (300.0 if make is odd.Eventual else 0.0) and latency < 100.0
    assert pd.isna(call(ask(odd.Plain))["visible_ms"])


def test_a_record_that_the_store_was_told_is_replaced_is_not_waited_for() -> None:
    class Obedient(odd.Eventual):
        def put(self, record: Record) -> Any:
            for old in record.supersedes:
                self.kept.pop(old, None)
            return super().put(record)

    new = Record("r4", "Rice at the red bar.", supersedes=("r1",))
    negative = lunch(given=[NOODLES, new], expect=[], query="who sells maps?")
    made = ask(Obedient, negative, settle_s=0.3, poll_s=0.01)
    assert call(made)["status"] == "ok"


def test_a_record_that_was_merged_is_visible_in_what_it_was_merged_into() -> None:
    class EventualMerging(odd.Merging):
        capabilities = Capabilities(consistency="eventual", dedupes=True)

    again = Record("r4", "At the red bar: noodles.")
    made = ask(EventualMerging, lunch(given=[NOODLES, again], expect=["r4"]), settle_s=0.3)
    assert call(made)["status"] == "ok" and result(made)["passed"]


@pytest.mark.parametrize(
    ("probe", "lacks"),
    [
        (lunch(given=[NOODLES, TRAM, Delete("r2")]), "delete"),
        (lunch(given=[NOODLES, Advance(timedelta(days=1))]), "advance"),
        (lunch(filter={"type": "note"}), "filter"),
        (lunch(given=[NOODLES, Record("r9", "x", expires=NOW)]), "expires"),
    ],
)
def test_what_the_store_cannot_do_is_not_supported_and_leaves_every_denominator(
    probe: Probe, lacks: str
) -> None:
    made = ask(odd.Plain, probe, tram())
    assert call(made)["status"] == "not_supported"
    assert call(made)["error"] == f"the store has no support for {lacks}"
    assert pd.isna(result(made)["passed"]) and pd.isna(result(made)["recall_all"])
    assert made.recall_at_k == 1.0 and made.value("not_supported") == 1.0


def test_another_scope_is_not_supported_by_a_store_without_scopes() -> None:
    other = lunch("scopes", given=[NOODLES, Record("r9", "Noodles at home.", "bo")])
    made = ask(odd.Scopeless, other, lunch())
    assert call(made, "scopes")["status"] == "not_supported"
    assert call(made, "lunch")["status"] == "ok"
    assert any("scopes not measured" in note for note in made.manifest.notes)


def test_a_run_in_which_nothing_is_supported_does_not_pass() -> None:
    made = ask(odd.Plain, lunch(filter={"type": "note"}))
    assert made.verdict.exit_code == 1 and "no probe was answered" in made.verdict.reason


def test_consolidate_without_support_is_no_fault() -> None:
    assert call(ask(odd.Plain, lunch(given=[NOODLES, Consolidate()])))["status"] == "ok"


def test_every_operation_reaches_the_store_in_its_order() -> None:
    told: list[Any] = []

    class Noting(odd.Plain):
        capabilities = Capabilities(honours=frozenset({"expires"}))

        def put(self, record: Record) -> Any:
            told.append(record.id)
            return super().put(record)

        def delete(self, store_id: str, *, scope: str) -> None:
            told.append(("delete", store_id, scope))
            self.kept.pop(store_id)

        def advance(self, by: timedelta) -> None:
            told.append(by)

        def consolidate(self) -> None:
            told.append("consolidate")

    day = timedelta(days=1)
    ops = [NOODLES, TRAM, Delete("r2"), Advance(day), BAR, Consolidate()]
    made = ask(Noting, lunch(given=ops), check_store=False)
    assert told == ["r1", "r2", ("delete", "r2", "default"), day, "r3", "consolidate"]
    assert result(made)["passed"]


def test_a_deleted_record_that_comes_back_is_a_leak() -> None:
    probe = lunch(given=[NOODLES, BAR, Delete("r3")])
    made = ask(odd.DeletingNothing, probe)
    assert made.leaks == 1 and not result(made)["passed"]
    assert ask(odd.Deleting, probe).leaks == 0


# --- the answer


def test_hits_past_k_are_kept_and_leak_there_too() -> None:
    made = ask(odd.Generous, lunch(k=1, forbid=["r3"]))
    assert made.hits["rank"].tolist() == [1, 2, 3]
    assert made.leaks == 1
    assert call(made)["breaches"] == "length"


def test_a_stranger_keeps_its_place_and_is_counted() -> None:
    made = ask(odd.Strangers)
    assert made.hits["resolved_by"].tolist()[:2] == ["unknown", "own"]
    assert pd.isna(made.hits["record_id"][0])
    assert (result(made)["first_rank"], result(made)["n_unknown"]) == (2, 1)
    assert call(made)["breaches"] == "unknown"


def test_an_unknown_hit_on_a_negative_probe_is_no_silence() -> None:
    made = ask(odd.Strangers, lunch(query="maps", expect=[]), tram())
    assert not result(made)["abstained"]


def test_filler_ids_are_unknown_hits_and_never_a_crash() -> None:
    made = ask(odd.Filling, lunch(k=50))
    assert len(made.hits) == 50
    assert result(made)["n_unknown"] == 47 and result(made)["first_rank"] == 1


def test_a_run_whose_hits_are_all_unknown_stops_at_the_mapping_of_ids() -> None:
    with pytest.raises(StoreError, match=r"all 3 hits .*nobody wrote, such as id 'm-0'.*let put"):
        ask(odd.AssigningSilently, check_store=False)


def test_a_record_that_comes_back_twice_fills_two_places_and_is_found_once() -> None:
    made = ask(odd.Twice, lunch(given=[NOODLES, TRAM], k=3))
    assert made.hits["record_id"].tolist() == ["r1", "r1", "r2"]
    assert (result(made)["recall_fraction"], result(made)["rr"]) == (1.0, 1.0)
    # One relevant record in three places.
    assert result(made)["precision"] == pytest.approx(1 / 3)
    assert result(made)["distinct"] < 1.0
    assert call(made)["breaches"] == "ids"


def test_scores_are_shown_and_never_sorted_by() -> None:
    for make in (odd.Distances, odd.OddScores):
        made = ask(make)
        assert made.hits["record_id"].tolist() == ["r1", "r3", "r2"]
        assert result(made)["first_rank"] == 1
    assert ask(odd.OddScores).hits["score"].isna().all()


@pytest.mark.parametrize(
    ("make", "how"),
    [
        (odd.Plain, "own"),
        (odd.Assigning, "receipt"),
        (odd.Splitting, "receipt"),
        (odd.Rewriting, "own"),
        (odd.Mappings, "metadata"),
        (odd.Pairs, "own"),
        (odd.SpecStyle, "own"),
        (odd.TextsOnly, "text"),
        (odd.Generating, "own"),
        (odd.Async, "own"),
        (odd.AsyncBase, "own"),
        (odd.AsyncGenerating, "own"),
        (odd.ClientScoped, "own"),
        (odd.Forking, "own"),
    ],
)
def test_every_kind_of_store_is_graded_alike(make: Any, how: str) -> None:
    made = ask(make)
    assert made.hits["resolved_by"][0] == how
    assert made.hits["record_id"][0] == "r1"
    assert made.recall_at_k == 1.0 and result(made)["passed"]


def test_an_expected_record_that_was_merged_is_met_by_its_survivor_and_flagged() -> None:
    again = Record("r4", "At the red bar: noodles.")
    made = ask(odd.Merging, lunch(given=[NOODLES, TRAM, again], expect=["r4"]))
    assert result(made)["recall_all"] and result(made)["passed"]
    merged = made.qrels[made.qrels["merged"]]
    assert merged[["record_id", "label", "group"]].to_numpy().tolist() == [["r1", "expected", 0]]


def test_texts_of_a_store_that_returns_ids_alone_are_those_that_were_written() -> None:
    assert ask(odd.Pairs).hits["text"][0] == NOODLES.text


def test_a_canary_is_found_under_any_id() -> None:
    secret = Record("r9", "The red bar hides kestrel coins.", "bo")
    made = ask(odd.ScopeBlind, lunch(given=[NOODLES, secret], canary=["kestrel"]))
    assert made.hits["canary"].dropna().tolist() == ["kestrel"]
    assert made.leaks >= 1


def test_the_client_that_filters_is_told_of_in_the_notes() -> None:
    assert any("the adapter, not the store" in n for n in ask(odd.ClientScoped).manifest.notes)


# --- asking


class Watching(odd.Plain):
    seen: list[str]

    def put(self, record: Record) -> Any:
        self.seen.append(f"put {record.id}")
        return super().put(record)

    def search(self, query: str, *, k: int, scope: str) -> Any:
        self.seen.append(query)
        return super().search(query, k=k, scope=scope)


def test_the_order_is_write_cold_scored_again() -> None:
    seen: list[str] = []
    make = type("Watched", (Watching,), {"seen": seen})
    ask(make, lunch(given=[NOODLES, TRAM]), check_store=False)
    query = lunch().query
    assert seen == ["put r1", "put r2", "memory", query, query]
    seen.clear()
    ask(make, lunch(given=[NOODLES]), check_store=False, repeat_check=False)
    assert seen == ["put r1", "memory", query]


def test_the_cold_start_is_a_column_of_its_own() -> None:
    made = ask(lambda: odd.Slow(first_s=0.3))
    assert call(made)["cold_ms"] >= 300.0
    assert call(made)["latency_ms"] < 200.0


def test_writing_is_a_column_of_its_own_and_no_part_of_the_latency() -> None:
    # Under 5 ms a write would be kept apart in fresh stores; over it in namespaces: both count.
    made = ask(lambda: odd.Slow(put_s=0.1))
    assert call(made)["write_ms"] >= 300.0  # three records
    assert call(made)["latency_ms"] < 100.0
    assert call(ask(lambda: odd.Slow(search_s=0.1)))["latency_ms"] >= 100.0


def test_a_cold_search_that_raises_is_told_and_the_scored_search_decides() -> None:
    made = ask(lambda: odd.FailingSearch("memory"))
    assert call(made)["status"] == "ok"
    assert call(made)["error"] == "cold search: ValueError: k is larger than the store"
    assert pd.isna(call(made)["cold_ms"]) and result(made)["passed"]


def test_a_cold_search_that_hangs_is_timeout() -> None:
    made = ask(lambda: odd.Hanging("memory"), timeout_s=0.3)
    assert call(made)["status"] == "timeout"
    assert call(made)["error"].startswith("cold search: ")


def test_asking_again_that_raises_is_failed_and_says_when() -> None:
    class SecondFails(odd.Plain):
        asked = 0

        def search(self, query: str, *, k: int, scope: str) -> Any:
            self.asked += query == lunch().query
            if self.asked > 1:
                raise ValueError("too often")
            return super().search(query, k=k, scope=scope)

    made = ask(SecondFails)
    assert call(made)["status"] == "failed"
    assert call(made)["error"] == "asked again: ValueError: too often"
    assert call(ask(SecondFails, repeat_check=False))["status"] == "ok"


def test_another_second_answer_is_a_breach_where_the_store_declares_itself_deterministic() -> None:
    made = ask(odd.SteadyLiar)
    assert call(made)["breaches"] == "repeat"
    assert not result(made)["passed"] and made.manifest.repeats == 1


def test_another_second_answer_makes_five_repeats_where_nothing_is_declared() -> None:
    made = ask(odd.Alternating, lunch(), tram())
    assert made.manifest.repeats == 5
    assert made.calls["breaches"].isna().all()
    assert made.calls.groupby("probe")["repeat"].apply(list).to_dict() == {
        "lunch": [0, 1, 2, 3, 4],
        "tram": [0, 1, 2, 3, 4],
    }
    assert any("changed when the same query was asked again" in n for n in made.manifest.notes)


def test_a_store_that_says_it_is_not_deterministic_is_asked_five_times() -> None:
    assert ask(odd.OpenChance).manifest.repeats == 5
    assert ask(odd.OpenChance, repeats=2).manifest.repeats == 2


def test_a_store_that_learns_from_reading_is_seen_to_do_so_and_every_probe_starts_afresh() -> None:
    made = ask(odd.Learning, lunch(), lunch("again"))
    assert made.manifest.repeats == 5
    first = made.hits[made.hits["repeat"] == 0]
    ranked = first.groupby("probe")["record_id"].apply(list)
    assert ranked["lunch"] == ranked["again"]


def test_the_adapter_never_sees_what_is_expected_nor_the_name_nor_tags_nor_units() -> None:
    names: set[str] = set()
    texts: list[str] = []

    class Spy(odd.Plain):
        capabilities = Capabilities(honours=frozenset({"filter", "now"}))

        def put(self, record: Record) -> Any:
            texts.append(repr(record))
            return super().put(record)

        def search(self, query: str, **options: Any) -> Any:
            frame = inspect.currentframe()
            names.update(options)
            texts.append(repr((query, options)))
            del frame
            return super().search(query, k=options["k"], scope=options["scope"])

    probe = lunch(
        "secret-name",
        given=[Record("r1", "Noodles at the red bar.", unit="secret-unit"), BAR],
        tags=["secret-tag"],
        forbid=["r3"],
        near=[],
        why="secret-why",
        canary=["secret-canary"],
        now=NOW,
        filter={},
    )
    ask(Spy, probe)
    assert names == {"k", "scope", "now"}
    assert not [text for text in texts if "secret" in text]


def test_a_pipeline_gets_a_view_of_plain_values() -> None:
    views: list[View] = []

    def retrieve(store: Any, view: View) -> list[Hit]:
        views.append(view)
        found: list[Hit] = store.search(view.query, k=view.k, scope=view.scope)
        return found[::-1]

    made = ask(odd.Plain, lunch(k=2), retrieve=retrieve, check_store=False)
    assert views[1] == View(lunch().query, 2, "default", None, None)
    assert result(made)["first_rank"] == 2


def test_opaque_ids_say_nothing_and_change_no_number() -> None:
    seen: list[str] = []
    make = type("Watched", (Watching,), {"seen": seen})
    told = ask(make, lunch(), tram())
    seen.clear()
    blind = ask(make, lunch(), tram(), opaque_ids=True, check_store=False)
    assert not {"put r1", "put r2", "put r3"} & set(seen)
    pd.testing.assert_frame_equal(outcome(told), outcome(blind))
    assert blind.hits["record_id"].tolist() == told.hits["record_id"].tolist()


def test_supersedes_and_delete_follow_opaque_ids() -> None:
    new = Record("r4", "Noodles at the blue bar.", supersedes=("r1",))
    probe = lunch(given=[NOODLES, BAR, new, Delete("r3")], expect=["r4"])
    made = ask(SqliteStore, probe, opaque_ids=True)
    assert made.hits["record_id"].tolist() == ["r4"]


def test_max_calls_stops_the_run_before_and_while_it_asks() -> None:
    with pytest.raises(StoreError, match="would make at least 6 calls"):
        ask(odd.Plain, max_calls=5)
    with pytest.raises(CallLimitError, match=r"at most 9 were allowed"):
        ask(odd.Plain, lunch(), max_calls=9)  # 6, and the self check


@pytest.mark.parametrize(
    ("receipt", "status", "how"),
    [
        (lambda r: Receipt("stored", (r.id,), (f"kept: {r.text}",)), "ok", "text"),
        (lambda r: Receipt("stored", (r.id,)), "ok", "unknown"),
        (lambda r: Receipt("rejected", (r.id,)), "not_stored", "unknown"),
    ],
)
def test_a_batch_whose_receipts_say_more_than_the_own_id_is_noted_with_all_of_it(
    receipt: Callable[[Record], Receipt], status: str, how: str
) -> None:
    class Telling(odd.Plain):
        capabilities = Capabilities(rewrites=True)

        def put_many(self, records: list[Record]) -> Any:
            for record in records:
                self.put(record)
            return [receipt(record) for record in records]

        def search(self, query: str, *, k: int, scope: str) -> Any:
            return [Hit(None, f"kept: {NOODLES.text}"), Hit("r2", TRAM.text)]

    made = ask(Telling, check_store=False)
    assert call(made)["status"] == status
    assert made.hits["resolved_by"].tolist() == [how, "own"]


def test_answers_are_not_held_against_the_contract_where_that_is_not_asked_for() -> None:
    made = ask(odd.Twice, lunch(given=[NOODLES, TRAM], k=3), contract_checks=False)
    assert made.calls["breaches"].isna().all() and made.results["n_contract"].sum() == 0
    unchecked = "leaks not measured, as nothing could leak, contract not checked; "
    assert made.verdict.reason.startswith(unchecked)
    assert any("contract not checked" in note for note in made.manifest.notes)
    assert made.manifest.options["contract_checks"] is False
    kept = ask(odd.Plain)
    said = "leaks not measured, as nothing could leak, contract kept; "
    assert kept.verdict.reason.startswith(said)
    assert not any("contract" in note for note in kept.manifest.notes)


@pytest.mark.parametrize("batches", [False, True])
def test_a_store_that_changes_what_it_gets_changes_neither_the_probe_nor_the_next_run(
    batches: bool,
) -> None:
    seen: list[Any] = []

    class Meddling(odd.Plain):
        capabilities = Capabilities(honours=frozenset({"filter"}))

        def put(self, record: Record) -> Any:
            seen.append(repr(record.meta))
            record.meta["seen"] = True  # type: ignore[index]
            for listed in record.meta.values():
                if isinstance(listed, list):
                    listed.append("meddled")
            return super().put(record)

        def search(self, query: str, *, filter: Any = None, **options: Any) -> Any:
            if filter:
                seen.append(repr(filter))
                filter["of"].append("meddled")
            return super().search(query, **options)

    class Batching(Meddling):
        def put_many(self, records: list[Record]) -> Any:
            return [self.put(record) for record in records]

    said = Record("r1", NOODLES.text, meta={"of": ["ana"]})
    probe = lunch(given=[said, TRAM], filter={"of": ["ana"]})
    before = repr(probe)
    for _ in range(3):
        ask(Batching if batches else Meddling, probe, check_store=False)
        assert repr(probe) == before
        assert seen == ["{'of': ['ana']}", "{}", *["{'of': ['ana']}"] * 3]
        seen.clear()


# --- order and seeds


def suite(probes: Sequence[Probe]) -> Suite:
    notes = tuple(Record(f"h{n}", f"Note {n} on the red bar and trams.") for n in range(320))
    return Suite(tuple(probes), haystack=notes, haystack_name="notes")


def many() -> list[Probe]:
    history = [NOODLES, TRAM, BAR]
    return [
        lunch("p1"),
        tram("p2"),
        lunch("p3", given=[NOODLES, Record("r9", "Noodles at home.", "bo")]),
        Probe("h1", "where are noodles", history, ["r1"], history="shared"),
        Probe("h2", "when does the tram leave", history, ["r2"], history="shared"),
    ]


@pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
@pytest.mark.parametrize("isolation", ["fresh", "fork", "clear", "namespace"])
def test_any_order_and_a_second_run_give_the_same_outcome(isolation: str) -> None:
    place = odd.Place(isolation)
    kinds = {"fork": odd.Scratching, "clear": odd.Clearing, "namespace": odd.Client}

    def make() -> Any:
        return odd.Counting() if isolation == "fresh" else kinds[isolation](place)

    one, two, three, four, five = many()
    first = run(suite([one, two, three, four, five]), make)
    turned = run(suite([three, five, one, four, two]), make)
    second = run(suite([one, two, three, four, five]), make)
    pd.testing.assert_frame_equal(outcome(first), outcome(turned))
    pd.testing.assert_frame_equal(outcome(first), outcome(second))
    columns = ["probe", "rank", "record_id", "score", "text"]
    pd.testing.assert_frame_equal(first.hits[columns], second.hits[columns])
    assert place.kept == {}


@pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
def test_the_same_seed_gives_the_same_tables_but_for_times_and_another_seed_others() -> None:
    first, second = (run(suite(many()), odd.Counting, seed=5) for _ in range(2))
    times = ["write_ms", "visible_ms", "cold_ms", "latency_ms"]
    pd.testing.assert_frame_equal(first.hits, second.hits)
    pd.testing.assert_frame_equal(first.qrels, second.qrels)
    pd.testing.assert_frame_equal(first.calls.drop(columns=times), second.calls.drop(columns=times))
    other = run(suite(many()), odd.Counting, seed=6)
    assert other.hits["text"].tolist() != first.hits["text"].tolist()


@pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
def test_records_and_eligible_ones_are_counted_with_the_haystack() -> None:
    made = run(suite(many()), odd.Counting)
    # 300 of background and a twin in each of two foreign scopes, beside three of its own.
    assert (call(made, "p1")["n_records"], call(made, "p1")["n_eligible"]) == (305, 103)
    # p3 has two records of its own, one of them in another scope.
    assert (call(made, "p3")["n_records"], call(made, "p3")["n_eligible"]) == (304, 101)
    # The probes of the history expect two records: two twins in each foreign scope.
    assert (call(made, "h1")["n_records"], call(made, "h1")["n_eligible"]) == (307, 103)


@pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
def test_a_store_that_ignores_scopes_leaks_the_haystack() -> None:
    made = run(suite([lunch()]), odd.ScopeBlind)
    foreign = made.qrels[made.qrels["reason"].eq("foreign_scope")]
    assert made.leaks >= 1
    assert set(foreign["label"]) == {"forbidden"}
    assert run(suite([lunch()]), odd.Counting).leaks == 0


def test_stale_by_predicate_is_labelled_where_it_comes_back_and_never_on_expected() -> None:
    made = ask(odd.Plain, is_stale=lambda record: "red bar" in record.text)
    stale = made.qrels[made.qrels["label"].eq("stale")]
    assert stale["record_id"].tolist() == ["r3"]
