"""Graphiti on Kuzu in this process, with a scripted model: what comes of a text is the store's."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from graphiti_stub import Made, reader

import memeval as me
from memeval.record import Delete, Hit, Receipt, Record
from memeval.stores.graphiti import GraphitiStore, group_of
from memeval.stores.waiting import finish

LACKING = [name for name in ("graphiti_core", "kuzu") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.adapter,
    pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}"),
]

ROOT = Path(__file__).resolve().parent.parent
SCOPES = ["al", "alice", "AL", "*", "%", "_", "x_", "x_2a", "o'x", "мая", "a b", "al ", "s\n", ""]
TEA = "My favourite tea is lapsang."
OSLO = Record("old", "Ana lives in Oslo.", "ana", datetime(2026, 1, 1, tzinfo=UTC))
ROME = Record("new", "Ana now lives in Rome.", "ana", datetime(2026, 3, 1, tzinfo=UTC))


@pytest.fixture(scope="module")
def make() -> Iterator[Made]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it imports
        importlib.import_module("graphiti_core")
    with reader() as (base, scripted):
        made = Made(base, scripted)
        yield made
        made.close()


@pytest.fixture(scope="module")
def graph(make: Made) -> Any:
    return make.graph()


@pytest.fixture
def store(graph: Any) -> Iterator[GraphitiStore]:
    yield GraphitiStore(graph)
    finish(graph.driver.graph_ops.clear_data, (graph.driver,), None)


def put(store: GraphitiStore, *records: Record) -> Receipt:
    """Write records and give the last receipt."""
    told: Receipt
    for record in records:
        told = finish(store.put, (record,), None)
    return told


def search(store: GraphitiStore, query: str, scope: str = "default", k: int = 5) -> list[Hit]:
    found: list[Hit] = finish(store.search, (query,), None, {"k": k, "scope": scope})
    return found


def delete(store: GraphitiStore, store_id: str, scope: str = "default") -> None:
    finish(store.delete, (store_id,), None, {"scope": scope})


def count(store: GraphitiStore) -> int:
    """How many nodes of any kind the graph has."""
    rows, _, _ = finish(store.graph.driver.execute_query, ("MATCH (n) RETURN count(n) AS n",), None)
    return int(rows[0]["n"])


def test_what_is_written_is_found_in_its_scope_alone(store: GraphitiStore) -> None:
    at = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    receipt = put(store, Record("r1", TEA, at=at))
    assert (receipt.outcome, receipt.texts) == ("stored", ("My favourite tea is lapsang",))
    (hit,) = search(store, "which tea")
    assert hit.id == receipt.store_ids[1] and hit.score is None
    assert hit.text == "My favourite tea is lapsang"
    assert hit.meta == {"id": "r1", "valid_at": "2026-01-01T00:00:00"}
    assert search(store, "which tea", "bo") == []
    query = "MATCH (e:Episodic) RETURN e.valid_at AS at, e.name AS name, e.content AS text"
    rows, _, _ = finish(store.graph.driver.execute_query, (query,), None)
    assert rows == [{"at": datetime(2026, 1, 1), "name": "r1", "text": TEA}]  # UTC


def test_a_text_becomes_several_facts_or_none_or_one_that_is_there(store: GraphitiStore) -> None:
    split = put(store, Record("r1", "The van is blue. The kiosk is green."))
    assert split.outcome == "split" and len(split.store_ids) == 3
    assert split.texts == ("The van is blue", "The kiosk is green")
    none = put(store, Record("r2", "Hello there!"))
    assert none.outcome == "merged" and len(none.store_ids) == 1 and none.texts == ()
    again = put(store, Record("r3", "The van is blue!"))
    assert again.outcome == "merged" and again.store_ids[1] == split.store_ids[1]
    assert search(store, "blue van", k=1)[0].meta["records"] == ["r1", "r3"]
    some = put(store, Record("r4", "The van is blue. The shed is red."))
    assert some.outcome == "split" and some.store_ids[1] == split.store_ids[1]


def test_hostile_scopes_are_kept_apart(store: GraphitiStore) -> None:
    assert len({group_of(scope) for scope in SCOPES}) == len(SCOPES)
    for n, scope in enumerate(SCOPES):
        put(store, Record(f"r{n}", TEA, scope))
    for n, scope in enumerate(SCOPES):
        assert [hit.meta["id"] for hit in search(store, "lapsang tea", scope, 50)] == [f"r{n}"]
    assert search(store, "lapsang tea", "nobody", 50) == []


def test_a_record_is_deleted_with_the_facts_that_no_other_tells(store: GraphitiStore) -> None:
    shared = put(store, Record("r1", "The van is blue. The kiosk is green."))
    other = put(store, Record("r2", "The van is blue."))
    delete(store, shared.store_ids[0], "bo")
    assert len(search(store, "van kiosk")) == 2  # of another scope: not touched
    for store_id in shared.store_ids:
        delete(store, store_id)
    (hit,) = search(store, "van kiosk")
    assert (hit.text, hit.meta["id"]) == ("The van is blue", "r2") and "records" not in hit.meta
    for store_id in other.store_ids:
        delete(store, store_id)
    assert search(store, "van kiosk") == [] and count(store) == 0
    put(store, Record("r1", TEA))  # an id that was deleted is written like a new one
    assert [hit.meta["id"] for hit in search(store, "tea")] == ["r1"]


def test_a_fact_alone_is_deleted_in_its_scope(store: GraphitiStore) -> None:
    fact = put(store, Record("r1", "The van is blue. The kiosk is green.")).store_ids[1]
    delete(store, fact, "bo")
    assert len(search(store, "van kiosk")) == 2
    assert len(search(store, "van kiosk", k=1)) == 1
    delete(store, fact)
    delete(store, fact)  # is gone already
    assert [hit.text for hit in search(store, "van kiosk")] == ["The kiosk is green"]


def test_a_fact_that_outlived_a_record_can_be_deleted_alone(store: GraphitiStore) -> None:
    first = put(store, Record("r1", "The van is blue."))
    put(store, Record("r2", "The van is blue."))
    for store_id in first.store_ids:
        delete(store, store_id)
    assert [hit.meta["id"] for hit in search(store, "van")] == ["r2"]
    delete(store, first.store_ids[1])
    assert search(store, "van") == []


def test_a_second_put_takes_the_place_of_the_first_in_any_scope(store: GraphitiStore) -> None:
    put(store, Record("r1", TEA))
    second = put(store, Record("r1", "My favourite drink is assam."))
    assert [hit.text for hit in search(store, "favourite")] == ["My favourite drink is assam"]
    assert search(store, "favourite")[0].id in second.store_ids
    put(store, Record("r1", TEA, "bo"))
    assert search(store, "favourite") == []
    assert [hit.text for hit in search(store, "favourite", "bo")] == ["My favourite tea is lapsang"]


def test_a_fact_that_holds_no_more_is_found_with_its_end(store: GraphitiStore) -> None:
    put(store, OSLO, ROME)
    found = {hit.meta["id"]: hit for hit in search(store, "where Ana lives", "ana")}
    assert set(found) == {"old", "new"}  # graphiti gives both, and leaves it to who asks
    assert found["old"].meta["valid_at"] == "2026-01-01T00:00:00"
    assert found["old"].meta["invalid_at"] == "2026-03-01T00:00:00"
    assert "expired_at" in found["old"].meta and "invalid_at" not in found["new"].meta


def test_facts_that_still_hold_can_be_asked_for(store: GraphitiStore) -> None:
    put(store, OSLO, ROME)
    filters = importlib.import_module("graphiti_core.search.search_filters")
    no_end = filters.DateFilter(comparison_operator=filters.ComparisonOperator.is_null)
    holding = GraphitiStore(store.graph, search_filter=filters.SearchFilters(invalid_at=[[no_end]]))
    found = search(holding, "where Ana lives", "ana")
    assert [hit.text for hit in found] == ["Ana now lives in Rome"]
    assert (holding.info()["filtered"], store.info()["filtered"]) == (True, False)


def test_what_ended_a_fact_may_be_gone_and_the_end_stays(store: GraphitiStore) -> None:
    receipt = put(store, OSLO, ROME)
    assert receipt.texts == ("Ana now lives in Rome",)  # the old one is not told as made of it
    for store_id in receipt.store_ids:
        delete(store, store_id, "ana")
    (hit,) = search(store, "where Ana lives", "ana")
    assert hit.meta["id"] == "old" and hit.meta["invalid_at"] == "2026-03-01T00:00:00"


def probes() -> list[me.Probe]:
    given = [Record("r1", "My tea is lapsang.", "ana"), Record("r2", "The van is blue.", "ana")]
    twice = [*given, Record("r3", "The van is blue!", "ana")]
    broken = [Record("b", "The BROKEN tea is lapsang.", "ana")]
    ours: dict[str, Any] = {"scope": "ana"}
    return [
        me.Probe("tea", "lapsang tea", given, ["r1"], **ours),
        me.Probe("van", "blue van", twice, ["r3"], **ours),
        me.Probe("lost", "a greeting", [Record("h", "Hello, a greeting.", "ana")], ["h"], **ours),
        me.Probe("gone", "blue van", [*given, Delete("r2")], forbid=["r2"], **ours),
        me.Probe("moved", "where Ana lives", [OSLO, ROME], ["new"], ["old"], **ours),
        me.Probe("broken", "tea", broken, ["b"], **ours),
    ]


def test_a_suite_is_run_in_a_graph_of_yours_and_takes_away_what_it_wrote(
    store: GraphitiStore,
) -> None:
    put(store, Record("mine", TEA, "ana"))
    there = count(store)

    async def notebook() -> me.Run:
        return me.run(probes(), lambda: GraphitiStore(store.graph), repeats=1)

    run = asyncio.run(notebook())  # a loop runs already, as it does in Jupyter
    told = run.results.set_index("probe")
    assert told["status"].drop("broken").eq("ok").all() and not told["n_contract"].any()
    assert run.hits["record_id"].notna().all()
    passed = {"tea": True, "van": True, "lost": False, "gone": True, "moved": False}
    assert told["passed"].drop("broken").to_dict() == passed
    assert count(store) == there and len(search(store, "lapsang tea", "ana")) == 1
    assert run.manifest.store_info["version"].startswith("graphiti-core ")
    # A model that fails is told in words, and ends nothing but its probe.
    assert told.loc["broken", "status"] == "failed"
    assert "the model is out of order" in str(run.calls.set_index("probe").loc["broken", "error"])


def test_a_group_in_a_database_of_its_own_is_searched_and_emptied(make: Made) -> None:
    kuzu = importlib.import_module("graphiti_core.driver.kuzu_driver")

    class Apart(kuzu.KuzuDriver):  # type: ignore[misc, name-defined]
        """Keeps each group in a database of its own, as FalkorDB does."""

        def clone(self, database: str) -> Any:
            if database not in others:
                others[database] = make.graph().driver
            return others[database]

    others: dict[str, Any] = {}
    store = make()
    store.graph.driver.__class__ = Apart
    receipt = put(store, Record("r1", TEA, "ana"))
    assert count(store) == 0 and [h.meta["id"] for h in search(store, "tea", "ana")] == ["r1"]
    put(store, Record("r1", "The van is blue.", "ana"))
    assert [hit.text for hit in search(store, "tea van", "ana")] == ["The van is blue"]
    delete(store, search(store, "van", "ana")[0].id or "", "ana")
    assert search(store, "van", "ana") == [] and receipt.outcome == "stored"


def test_a_database_in_a_file_is_there_again(make: Made, tmp_path: Path) -> None:
    path = os.fspath(tmp_path / "graph")
    first = make(path, closes=True)
    put(first, Record("r1", TEA))
    finish(first.close, (), None)
    first.graph.driver.client.close()
    first.graph.driver.db.close()
    (hit,) = search(make(path), "which tea")
    assert hit.text == "My favourite tea is lapsang" and "id" not in hit.meta  # another's writing


def test_a_graph_of_yours_is_not_closed_unless_you_say_so(
    store: GraphitiStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []

    async def noting() -> None:
        closed.append(True)

    monkeypatch.setattr(store.graph, "close", noting)
    for closes in (False, True):
        finish(GraphitiStore(store.graph, closes=closes).close, (), None)
        assert len(closed) == closes


def test_what_is_no_graph_or_no_kind_of_text_is_refused(store: GraphitiStore) -> None:
    with pytest.raises(me.StoreError, match="graph is a dict, wanted a Graphiti"):
        GraphitiStore({})
    with pytest.raises(me.StoreError, match="source is 'prose', wanted one of text, message, json"):
        GraphitiStore(store.graph, source="prose")


SILENT = """
import atexit, sys
sys.path.insert(0, "tests")
told = []
ASKING = ("connect", "getaddrinfo", "gethostbyname", "gethostbyaddr", "sendto", "sendmsg")
def hook(event, args):
    if event.startswith("socket.") and event.split(".")[1] in ASKING:
        if "127.0.0.1" not in str(args[-1]) and "127.0.0.1" not in str(args[:2]):
            told.append((event, str(args[1:])))
sys.addaudithook(hook)
atexit.register(lambda: print("asked:", told))  # last of all: telemetry is sent when it ends
import memeval as me
from graphiti_stub import Made, reader
given = [me.Record("r1", "My tea is lapsang.")]
with reader() as (base, scripted):
    run = me.run([me.Probe("tea", "lapsang", given, ["r1"])], Made(base, scripted), repeats=1)
print("found:", run.recall_at_k)
"""


def test_it_asks_nobody_but_its_model() -> None:
    # In a process of its own: graphiti sends no telemetry from one that has imported pytest.
    environ = {**os.environ, "PYTHONPATH": os.fspath(ROOT)}
    environ.pop("GRAPHITI_TELEMETRY_ENABLED", None)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SILENT],
        capture_output=True, text=True, cwd=ROOT, env=environ,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.splitlines() == ["found: 1.0", "asked: []"]
