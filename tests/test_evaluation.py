"""The evaluation call: its fields, its figures, and that it leaves no trace."""

from __future__ import annotations

import json
import math
import threading
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.errors import RequestError, StoreError
from memeval.evaluating.request import MOST_CASES, read_request
from memeval.evaluation import evaluate_request
from memeval.record import Hit, Record
from memeval.stores.base import Capabilities
from memeval.stores.hybrid import HybridStore
from memeval.stores.sqlite import SqliteStore
from memeval.stores.vector import VectorStore

MEMORIES = {
    "m1": "Invoice numbers come from the billing service, in steps of one.",
    "m2": "Invoice numbers used to come from a spreadsheet.",
    "m3": "The kiosk by the station sells soup on workdays.",
    "m4": "Marta parks the blue van behind the bakery.",
}


def body(*cases: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"agentId": "ana", "cases": list(cases), **fields}


def filled(store: Any) -> Any:
    for name, text in MEMORIES.items():
        store.put(Record(name, text, "ana"))
    store.put(Record("b1", "Invoice numbers of Bo are written by hand.", "bo"))
    return store


class Fixed:
    """Answers every query with the same list; promises that this changes nothing."""

    capabilities = Capabilities(traceless=True)

    def __init__(self, answers: dict[str, list[Any]]) -> None:
        self.answers = answers

    def put(self, record: Record) -> None:
        raise AssertionError("an evaluation writes nothing")

    def search(self, query: str, *, k: int, scope: str) -> list[Any]:
        answer = self.answers.get(query, [])
        if isinstance(answer, Exception):
            raise answer
        return answer[:k]


class Learning:
    """Counts how often each record came back, and ranks by that: every read leaves a trace."""

    def __init__(self, reads: dict[str, int] | None = None) -> None:
        self.reads = reads or dict.fromkeys(MEMORIES, 0)

    def put(self, record: Record) -> None:
        raise AssertionError("an evaluation writes nothing")

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        order = sorted(MEMORIES, key=lambda name: (self.reads[name], name))[:k]
        for name in order:
            self.reads[name] += 1
        return [Hit(name, MEMORIES[name]) for name in order]


class Scratching(Learning):
    @contextmanager
    def scratch(self) -> Any:
        kept = dict(self.reads)
        yield self
        self.reads = kept


class Forking(Learning):
    def snapshot(self) -> dict[str, int]:
        return dict(self.reads)

    def fork(self, snapshot: dict[str, int]) -> Learning:
        return Learning(dict(snapshot))


class Lying(Learning):
    capabilities = Capabilities(traceless=True)


ASKED = body(*({"query": f"q{n}", "expectedIds": ["m1"]} for n in range(3)), k=2)


def without_times(told: dict[str, Any]) -> dict[str, Any]:
    kept = json.loads(json.dumps(told))
    del kept["latencyMs"], kept["intervals"]["latencyMs"]
    for case in kept["perCase"]:
        del case["latencyMs"]
    return kept


@pytest.mark.parametrize("make", [Scratching, Forking])
def test_reading_leaves_no_trace_in_a_store_that_learns_from_it(make: type[Learning]) -> None:
    store = make()
    first = evaluate_request(ASKED, store)
    assert store.reads == dict.fromkeys(MEMORIES, 0)
    assert without_times(evaluate_request(ASKED, store)) == without_times(first)
    # Every case is asked of the store as it was: m1 comes first each time.
    assert [case["expected"][0]["rank"] for case in first["perCase"]] == [1, 1, 1]


def test_without_a_fork_that_store_would_change_between_and_within_calls() -> None:
    """What the test above would see: here the store's promise is a lie."""
    store = Lying()
    first = evaluate_request(ASKED, store)
    assert store.reads != dict.fromkeys(MEMORIES, 0)
    assert [case["expected"][0]["rank"] for case in first["perCase"]] != [1, 1, 1]


def test_a_store_that_can_neither_fork_nor_promise_is_refused() -> None:
    store = Learning()
    with pytest.raises(StoreError, match=r"Learning has no scratch\(\).*traceless=True"):
        evaluate_request(ASKED, store)
    assert store.reads == dict.fromkeys(MEMORIES, 0)


@pytest.mark.parametrize("make", [SqliteStore, VectorStore, HybridStore])
def test_the_stores_that_ship_are_asked_without_a_trace(make: Any) -> None:
    store = filled(make())
    call = body(
        {"query": "how are invoice numbers generated", "expectedIds": ["m1"], "staleIds": ["m2"]},
        {"query": "where is the blue van", "expectedIds": ["m4"], "forbiddenIds": ["b1"]},
    )
    before = [store.search("invoice", k=9, scope=who) for who in ("ana", "bo")]
    first = evaluate_request(call, store)
    assert without_times(evaluate_request(call, store)) == without_times(first)
    assert [store.search("invoice", k=9, scope=who) for who in ("ana", "bo")] == before
    assert first["passed"] is True
    assert first["hitRate"] == 1.0
    returned = {hit["id"] for case in first["perCase"] for hit in case["returned"]}
    assert returned <= set(MEMORIES)


def test_every_figure_by_hand() -> None:
    """Four cases at k = 3; the arithmetic stands beside each figure."""
    store = Fixed(
        {
            "both": ["m1", "x", "m2"],
            "second": ["x", "m3"],
            "stale": ["old", "x", "y"],
            "nothing": [],
        }
    )
    told = evaluate_request(
        body(
            {"query": "both", "expectedIds": ["m1", "m2"]},
            {"query": "second", "expectedIds": ["m3"], "forbiddenIds": ["z"]},
            {"query": "stale", "expectedIds": ["m4"], "staleIds": ["old"]},
            {"query": "nothing"},
            k=3,
            datasetVersion="billing-v1",
        ),
        store,
    )
    assert told["hitRate"] == pytest.approx(2 / 3)  # met in the first two of three
    assert told["recallAtK"] == pytest.approx((1 + 1 + 0) / 3)
    assert told["precisionAtK"] == pytest.approx((2 / 3 + 1 / 3 + 0) / 3)
    assert told["mrr"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    both = (1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3))
    assert told["ndcgAtK"] == pytest.approx((both + 1 / math.log2(3) + 0) / 3)
    assert told["staleRate"] == pytest.approx(1 / 8)  # one of 3 + 2 + 3 hits
    assert told["zeroResultRate"] == 0.25
    assert told["abstentionAccuracy"] == 1.0
    assert told["forbiddenRate"] == 0.0 and told["forbiddenSurfaced"] == []
    assert told["passed"] is True
    assert (told["cases"], told["expectingCases"], told["forbiddingCases"]) == (4, 3, 1)
    assert told["intervals"]["hitRate"]["n"] == 3
    assert told["llmCalls"] is None
    assert told["meanContextTokens"] is None  # no text came with any hit
    assert told["perCase"][0]["expected"] == [{"id": "m1", "rank": 1}, {"id": "m2", "rank": 3}]
    assert set(told["manifest"]) == {
        "dataset",
        "k",
        "scoreVersion",
        "mode",
        "embeddingGeneration",
        "codeVersion",
    }
    assert told["manifest"]["dataset"].startswith("billing-v1 ")
    json.dumps(told, allow_nan=False)


def test_one_forbidden_memory_fails_the_call_wherever_it_stands() -> None:
    class Long(Fixed):
        def search(self, query: str, *, k: int, scope: str) -> list[Any]:
            return self.answers[query]  # more than was asked for

    store = Long({"q": ["m1", "m2", "secret"], "r": ["m1"]})
    told = evaluate_request(
        body(
            {"query": "q", "expectedIds": ["m1"], "forbiddenIds": ["secret"]},
            {"query": "r", "expectedIds": ["m1"], "forbiddenIds": ["secret"]},
            k=2,
        ),
        store,
    )
    assert told["passed"] is False
    assert told["forbiddenSurfaced"] == [{"case": 0, "id": "secret", "rank": 3}]
    assert told["forbiddenRate"] == 0.5
    assert "1 of 2 cases" in told["reason"]


def test_nothing_forbidden_is_not_a_rate_of_zero() -> None:
    told = evaluate_request(body({"query": "q", "expectedIds": ["m1"]}), Fixed({"q": ["m1"]}))
    assert told["forbiddenRate"] is None and told["forbiddingCases"] == 0


def test_a_failed_search_counts_and_fails_the_call() -> None:
    store = Fixed({"q": ["m1"], "broken": RuntimeError("no index")})  # type: ignore[dict-item]
    told = evaluate_request(
        body({"query": "q", "expectedIds": ["m1"]}, {"query": "broken", "expectedIds": ["m1"]}),
        store,
    )
    assert told["passed"] is False and told["errors"] == 1
    assert told["recallAtK"] == 0.5  # a failed search is no answer, and stays in the denominator
    assert told["perCase"][1]["status"] == "failed"
    assert "no index" in told["perCase"][1]["error"]
    assert told["zeroResultRate"] == 0.0


def test_a_hit_without_an_id_is_known_by_the_one_in_its_metadata() -> None:
    store = Fixed({"q": [Hit(None, "text", meta={"id": "m1"}), Hit(None, "a stranger")]})
    told = evaluate_request(body({"query": "q", "expectedIds": ["m1"]}), store)
    assert told["mrr"] == 1.0
    assert [hit["id"] for hit in told["perCase"][0]["returned"]] == ["m1", None]


@pytest.mark.parametrize(
    ("hit", "rank"),
    [
        (Hit(None, meta={"id": 7}), 1),
        (Hit("c1", meta={"memory_id": "7"}), 1),
        (Hit("7", meta={"id": "other"}), 1),
        (Hit(None, meta={"id": True}), None),
    ],
)
def test_a_forbidden_id_in_the_metadata_is_a_leak(hit: Hit, rank: int | None) -> None:
    told = evaluate_request(
        body({"query": "q", "expectedIds": ["m1"], "forbiddenIds": ["7"]}), Fixed({"q": [hit]})
    )
    assert told["perCase"][0]["forbidden"] == [{"id": "7", "rank": rank}]
    assert told["passed"] is (rank is None)


def test_half_characters_are_cleaned_on_both_sides_and_before_checks() -> None:
    store = Fixed({"q": ["a\ud800"]})
    told = evaluate_request(
        body({"query": "q", "expectedIds": ["m1"], "forbiddenIds": ["a\ud800"]}), store
    )
    assert told["passed"] is False
    with pytest.raises(RequestError, match="2 times"):
        read_request(body({"query": "q", "expectedIds": ["a\ud800", "a\udc00"]}))
    with pytest.raises(RequestError, match="both expected and forbidden"):
        read_request(body({"query": "q", "expectedIds": ["a\ud800"], "forbiddenIds": ["a\udc00"]}))


def test_a_fork_that_is_the_store_itself_is_refused_and_not_closed() -> None:
    closed = []

    class Shared(Learning):
        def snapshot(self) -> None: ...

        def fork(self, snapshot: None) -> Shared:
            return self

        def close(self) -> None:
            closed.append(1)

    store = Shared()
    with pytest.raises(StoreError, match="gave the store itself"):
        evaluate_request(ASKED, store)
    assert store.reads == dict.fromkeys(MEMORIES, 0) and not closed


@pytest.mark.parametrize("place", ["enter", "exit", "none", "snapshot"])
def test_a_store_that_cannot_be_set_aside_is_said_to_be_at_fault(place: str) -> None:
    class Failing(Learning):
        @contextmanager
        def scratch(self) -> Any:
            if place == "enter":
                raise RuntimeError("no room")
            yield self
            raise RuntimeError("no way back")

    class Empty(Learning):
        def scratch(self) -> None: ...

    class Unpictured(Learning):
        def snapshot(self) -> None:
            raise RuntimeError("no picture")

        def fork(self, snapshot: None) -> Learning:
            return Learning()

    store = {"none": Empty, "snapshot": Unpictured}.get(place, Failing)()
    with pytest.raises(StoreError, match="could not be set aside, or not be taken back"):
        evaluate_request(ASKED, store)


def test_an_id_that_the_metadata_mentions_is_not_what_came_back() -> None:
    store = Fixed({"q": [Hit("m1", "text", meta={"supersedes": "old"})]})
    told = evaluate_request(
        body({"query": "q", "expectedIds": ["m1"], "forbiddenIds": ["old"]}), store
    )
    assert told["passed"] is True


def test_the_workspace_picks_the_store_and_others_are_not_named() -> None:
    stores = {"w1": Fixed({"q": ["m1"]}), "secret-project": Fixed({"q": ["m2"]})}
    case = {"query": "q", "expectedIds": ["m1"]}
    assert evaluate_request(body(case, workspaceId="w1"), stores)["recallAtK"] == 1.0
    assert evaluate_request(body(case, workspaceId="secret-project"), stores)["recallAtK"] == 0.0
    for fields in ({}, {"workspaceId": "w2"}):
        with pytest.raises(RequestError) as refused:
            evaluate_request(body(case, **fields), stores)
        told = refused.value.to_dict()["error"]
        assert told["field"] == "workspaceId"
        assert "secret-project" not in json.dumps(told)


def test_the_agent_is_the_scope() -> None:
    store = filled(SqliteStore())
    case = {"query": "invoice numbers", "expectedIds": ["b1"], "forbiddenIds": ["m1"]}
    told = evaluate_request({"agentId": "bo", "cases": [case]}, store)
    assert told["recallAtK"] == 1.0 and told["passed"]
    told = evaluate_request({"agentId": "ana", "cases": [case]}, store)
    assert told["recallAtK"] == 0.0 and not told["passed"]


GOOD = {"query": "q", "expectedIds": ["a"]}


@pytest.mark.parametrize(
    ("sent", "field", "words"),
    [
        (None, "", "the body is null"),
        ([GOOD], "", "the body is a list"),
        ({"cases": [GOOD]}, "agentId", "missing"),
        ({"agentId": " ", "cases": [GOOD]}, "agentId", "blank"),
        ({"agentId": 7, "cases": [GOOD]}, "agentId", "the number 7"),
        ({"agentId": "a"}, "cases", "missing"),
        (body(), "cases", "found 0 cases"),
        (body(*[GOOD] * (MOST_CASES + 1)), "cases", "found 201 cases"),
        ({"agentId": "a", "cases": "q"}, "cases", "a text, not a list"),
        (body(GOOD, k=0), "k", "k is 0"),
        (body(GOOD, k=101), "k", "k is 101"),
        (body(GOOD, k=True), "k", "k is True"),
        (body(GOOD, k=5.0), "k", "k is 5.0"),
        (body(GOOD, K=5), "K", "unknown field 'K'; write one of"),
        (body(GOOD, workspaceId=[]), "workspaceId", "a list, not a text"),
        (body("q"), "cases[0]", "a text, not an object"),
        (body(GOOD, {"expectedIds": ["a"]}), "cases[1].query", "missing"),
        (body({"query": "\u200b"}), "cases[0].query", "blank"),
        (body({"query": "q" * 10_001}), "cases[0].query", "10,001 characters"),
        (body({"query": "q", "expectedIds": "a"}), "cases[0].expectedIds", "not a list"),
        (body({"query": "q", "expectedIds": ["a", None]}), "cases[0].expectedIds[1]", "null"),
        (body({"query": "q", "staleIds": ["a", "a"]}), "cases[0].staleIds", "2 times"),
        (body({**GOOD, "forbiddenIds": ["b", "a"]}), "cases[0].forbiddenIds[1]", "both expected"),
        (body({**GOOD, "staleIds": ["a"]}), "cases[0].staleIds[0]", "both expected and stale"),
        (body({**GOOD, "expectedIDs": ["a"]}), "cases[0].expectedIDs", "write 'expectedIds'"),
    ],
)
def test_a_bad_body_is_refused_by_the_name_of_its_field(sent: Any, field: str, words: str) -> None:
    with pytest.raises(RequestError) as refused:
        read_request(sent)
    told = refused.value.to_dict()["error"]
    assert (told["code"], told["field"]) == ("bad_request", field)
    assert words in told["message"]
    json.dumps(told)


def test_all_faults_of_a_body_are_told_at_once_up_to_fifty() -> None:
    with pytest.raises(RequestError) as refused:
        read_request({"k": 0, "cases": [{}] * 3})
    fields = [one["field"] for one in refused.value.to_dict()["error"]["fields"]]
    assert fields == ["agentId", "k", *(f"cases[{n}].query" for n in range(3))]
    with pytest.raises(RequestError) as refused:
        read_request(body(*[{}] * MOST_CASES))
    assert len(refused.value.faults) == 50


def test_the_defaults_of_the_call() -> None:
    read = read_request(body(GOOD, k=None, workspaceId=None))
    assert (read.k, read.workspace, read.dataset) == (10, None, None)


def test_the_manifest_moves_with_the_cases_and_not_with_their_order_of_ids() -> None:
    store = Fixed({})

    def dataset(*ids: str) -> str:
        case = {"query": "q", "expectedIds": list(ids)}
        told = evaluate_request(body(case, datasetVersion="v1"), store)
        return str(told["manifest"]["dataset"])

    assert dataset("a", "b") == dataset("b", "a") != dataset("a")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["agentId", "cases", "k", "query", "expectedIds", "staleIds", "x"])
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_read_or_refused_by_field(sent: Any) -> None:
    try:
        read = read_request(sent)
    except RequestError as error:
        assert error.faults and json.dumps(error.to_dict())
    else:
        assert read.cases and read.agent


def test_a_store_that_hangs_is_not_asked_again() -> None:
    released = threading.Event()
    asked = []

    class Hanging(Fixed):
        def search(self, query: str, *, k: int, scope: str) -> list[Any]:
            asked.append(query)
            if query == "hang":
                released.wait()
            return ["m1"]

    cases = ({"query": query, "expectedIds": ["m1"]} for query in ("a", "hang", "b"))
    try:
        told = evaluate_request(body(*cases), Hanging({}), timeout_s=0.5)
    finally:
        released.set()
    assert [case["status"] for case in told["perCase"]] == ["ok", "timeout", "timeout"]
    assert "b" not in asked and "not asked" in told["perCase"][2]["error"]
    assert told["passed"] is False and told["errors"] == 2
