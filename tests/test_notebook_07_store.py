from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

import memeval as me
from memeval.loading import load
from memeval.record import Advance, Delete, Record
from memeval.resources import notebooks_folder
from tests.notebooks_shared import (
    ROOT,
    asked,
    check_outputs,
    code_cells,
    expected_groups,
    kept_run,
    mrr,
    recall,
    rows,
)

STEM = "07_your_store"
KEEP = """
import json
from pathlib import Path

runs = {**steps, "real": run, "floored": floored, "near": near, "far": far}
tables = {
    name: {
        "hits": one.hits.to_json(orient="records"),
        "calls": one.calls.to_json(orient="records"),
        "qrels": one.qrels.to_json(orient="records"),
    }
    for name, one in runs.items()
}
kept = {
    "tables": tables,
    "said": said,
    "broken": first.violations["relation"].unique().tolist(),
    "table": {name: column.to_dict() for name, column in table.items()},
    "leaked": came_back[["probe", "record_id"]].to_numpy().tolist(),
    "null": controls["null_recall"],
    "free": float(free),
    "scores": told.hits["score"].tolist(),
    "curve": floors[["floor", "recall_all", "abstention"]].to_numpy().tolist(),
    "changes": change.changes[["probe", "change"]].to_numpy().tolist(),
    "causes": causes["probe"].tolist(),
    "failing": run.results.loc[run.results["passed"].eq(False), "probe"].tolist(),
}
Path(KEPT).write_text(json.dumps(kept))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return kept_run(STEM, KEEP, tmp_path_factory.mktemp("notebook"))


@pytest.fixture
def kept(ran):
    return ran[1]


@pytest.fixture(scope="module")
def stores() -> SimpleNamespace:
    """The classes of the notebook, made here of its cells."""
    notebook = nbformat.read(notebooks_folder() / f"{STEM}.ipynb", as_version=4)
    space: dict[str, Any] = {"asyncio": asyncio, "re": re, "me": me, "free": 0.25}
    for cell in code_cells(notebook):
        if cell.source.startswith("class "):
            exec(cell.source, space)
    return SimpleNamespace(**space)


def test_it_runs_without_a_word_of_complaint(ran):
    check_outputs(ran[0], n_images=2)


def test_each_mistake_is_told_by_what_is_wrong_with_it(kept):
    words = {
        "errors turned into []": "record written, not found",
        "state that is shared": "stores that share their records",
        "no scope in the call": "unexpected keyword argument 'scope'",
        "a store, not a factory": "make_store=lambda: Notes(...)",
        "a name that leads nowhere": "No module named 'my_app'",
    }
    assert kept["said"].keys() == words.keys()
    assert all(words[mistake] in said for mistake, said in kept["said"].items())


def put(store: Any, *records: Record) -> Any:
    for record in records:
        store.put(record)
    return store


HERE = Record("a", "The red van is at the harbour.", scope="ana")
THERE = Record("b", "The red van is sold.", scope="bo")


def test_the_first_store_has_the_flaws_that_its_relations_break(kept, stores):
    # R3: other scopes. R11: own text first. R1: order of writing. R6: one record twice.
    assert {"R1", "R3", "R6", "R11"} <= set(kept["broken"])
    notes = put(stores.Notes(), THERE, HERE, HERE)
    found = [hit["id"] for hit in notes.search(HERE.text, k=5, scope="ana")]
    assert found == ["b", "a", "a"]


def test_the_next_ones_have_them_no_more(stores):
    for kind in (stores.Scoped, stores.Told, stores.Floored):
        weak = Record("c", "The ferry is late.", scope="ana")
        store = put(kind(), weak, THERE, HERE, HERE)
        assert [hit.id for hit in store.search(HERE.text, k=5, scope="ana")][0] == "a"
        assert {hit.id for hit in store.search("red van ferry", k=5, scope="ana")} == {"a", "c"}
        assert len(store.search("red van ferry", k=1, scope="ana")) == 1
    told = put(stores.Told(), HERE, Record("d", "The van is blue.", "ana", supersedes=("a",)))
    assert [hit.id for hit in told.search("red van", k=5, scope="ana")] == ["d"]
    told.delete("d", "ana")
    assert told.search("red van", k=5, scope="ana") == []


def test_a_floor_cuts_what_fits_less(stores):
    # "is" stands in 8 records of 8: 1 / 8 is below 0.25; "ferry" in one: 1.
    many = [Record(f"n{n}", f"Shelf {n} is full.", "ana") for n in range(7)]
    store = put(stores.Floored(), *many, Record("f", "The ferry is late.", "ana"))
    assert store.search("is it", k=5, scope="ana") == []
    assert [hit.id for hit in store.search("is the ferry late", k=5, scope="ana")] == ["f"]


def leaks(kept: Any, run: str) -> list[tuple[str, str]]:
    qrels = rows(kept, run, "qrels")
    forbidden = {(q["probe"], q["record_id"]) for q in qrels if q["label"] == "forbidden"}
    hits = rows(kept, run, "hits")
    return [
        (hit["probe"], hit["record_id"])
        for hit in hits
        if (hit["probe"], hit["record_id"]) in forbidden or hit["canary"] is not None
    ]


def abstention(kept: Any, run: str) -> float:
    positive = set(expected_groups(kept, run))
    answered = {hit["probe"] for hit in rows(kept, run, "hits")}
    negative = [
        call["probe"]
        for call in rows(kept, run, "calls")
        if call["probe"] not in positive and call["status"] != "not_supported"
    ]
    asked_of = {probe.name for probe in load(ROOT / "probes") if not probe.expect}
    assert set(negative) <= asked_of
    return sum(name not in answered for name in negative) / len(negative)


@pytest.mark.parametrize("run", ["Notes", "Scoped", "Told"])
def test_the_figures_of_each_step_are_those_of_a_slow_second_definition(kept, run):
    figures = kept["table"][run]
    supported = {c["probe"] for c in rows(kept, run, "calls") if c["status"] != "not_supported"}
    groups = {q["probe"] for q in rows(kept, run, "qrels") if q["label"] == "expected"}
    assert len(asked(kept, run)) == len(groups & supported)
    assert figures["recall_all"] == pytest.approx(recall(kept, run))
    assert figures["mrr"] == pytest.approx(mrr(kept, run))
    assert figures["leaks"] == len(leaks(kept, run))
    assert figures["abstention"] == pytest.approx(abstention(kept, run))


def test_scopes_and_order_gain_and_no_leak_is_left_at_the_end(kept):
    assert len(leaks(kept, "Notes")) > len(leaks(kept, "Scoped")) > 0 == len(leaks(kept, "Told"))
    assert sorted(map(tuple, kept["leaked"])) == sorted(leaks(kept, "Scoped"))
    assert recall(kept, "Notes") < recall(kept, "Scoped") <= recall(kept, "Told")
    assert kept["null"] == 0.0
    superseded = {
        (probe.name, old)
        for probe in load(ROOT / "probes")
        for op in probe.given
        if isinstance(op, Record)
        for old in op.supersedes
    }
    assert set(leaks(kept, "Scoped")) <= superseded


@pytest.mark.parametrize("run, deletes", [("Notes", False), ("Scoped", False), ("Told", True)])
def test_not_supported_is_what_needs_what_the_store_does_not_have(kept, run, deletes):
    lacking = set()
    for probe in load(ROOT / "probes"):
        records = [op for op in probe.given if isinstance(op, Record)]
        needs = bool(probe.filter) or any(isinstance(op, Advance) for op in probe.given)
        needs |= any(record.expires is not None for record in records)
        needs |= not deletes and any(isinstance(op, Delete) for op in probe.given)
        lacking |= {probe.name} if needs else set()
    calls = rows(kept, run, "calls")
    assert {c["probe"] for c in calls if c["status"] == "not_supported"} == lacking


def test_every_probe_that_failed_has_a_cause(kept):
    assert sorted(kept["causes"]) == sorted(kept["failing"])
    assert kept["failing"]


class Floors:
    """Recall and abstention of the store without a floor, its hits below one taken away."""

    def __init__(self, kept: Any) -> None:
        self.hits = list(zip(rows(kept, "Told", "hits"), kept["scores"], strict=True))
        groups = expected_groups(kept, "Told")
        asked_of = [c["probe"] for c in rows(kept, "Told", "calls") if c["status"] == "ok"]
        self.wanted = {name: list(groups[name].values()) for name in asked_of if name in groups}
        self.negative = [name for name in asked_of if name not in groups]

    def at(self, floor: float) -> tuple[float, float]:
        answers: dict[str, set[str]] = defaultdict(set)
        for hit, score in self.hits:
            if score >= floor:
                answers[hit["probe"]].add(hit["record_id"])
        found = [
            all(group & answers[name] for group in groups) for name, groups in self.wanted.items()
        ]
        silent = [not answers[name] for name in self.negative]
        return sum(found) / len(found), sum(silent) / len(silent)


def test_the_floor_is_the_highest_of_the_curve_that_loses_no_probe(kept):
    floors = Floors(kept)
    whole = recall(kept, "Told")
    for floor, recalled, silent in kept["curve"]:
        assert floors.at(floor) == pytest.approx((recalled, silent))
    free = [floor for floor, _, _ in kept["curve"] if floors.at(floor)[0] == whole]
    assert kept["free"] == max(free)


def test_the_floor_gains_silence_and_loses_no_probe(kept):
    assert recall(kept, "floored") == recall(kept, "Told")
    assert abstention(kept, "floored") > abstention(kept, "Told")
    assert abstention(kept, "floored") == pytest.approx(Floors(kept).at(kept["free"])[1])
    gained = {probe for probe, change in kept["changes"] if change == "gained"}
    before, after = ({h["probe"] for h in rows(kept, r, "hits")} for r in ("Told", "floored"))
    assert gained == before - after - set(expected_groups(kept, "Told"))


def test_the_same_store_behind_coroutines_gives_the_same_answers(kept):
    near, far = (
        [(h["probe"], h["rank"], h["record_id"], h["score"]) for h in rows(kept, run, "hits")]
        for run in ("near", "far")
    )
    assert near == far and len(near) > 20
