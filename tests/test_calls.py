"""Suites as evaluation calls, and their answers as runs: the way there and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from suites import suite

from memeval import compare, load_run, run
from memeval.calls import requests_of, run_of_answers
from memeval.cli import main
from memeval.errors import RunFileError
from memeval.evaluation import evaluate_request
from memeval.loading import load_text
from memeval.probe import Probe
from memeval.record import Record
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite

pytestmark = pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")

PROBES = """\
haystack: none
probes:
- name: kiosk
  query: Where is the soup?
  scope: ana
  given:
    - {id: a1, text: Soup was sold at the van.}
    - {id: a2, text: Soup is sold at the kiosk., supersedes: [a1]}
    - {id: a3, text: Soup recipes are secret., scope: bo}
    - {id: a4, text: Soup of the day is lentil.}
    - {delete: a4}
  expect: [a2]
  forbid: [a3]
- name: paint
  query: Which colour is the door?
  scope: ana
  k: 3
  given: [{id: b1, text: The door is painted green., scope: ana}]
  expect: [b1]
  canary: [vermilion]
- name: nothing
  query: Who won the regatta?
  scope: ana
  given: [{id: c1, text: The boathouse is locked., scope: ana}]
  expect: []
- name: either
  query: Where is tea?
  given: [{id: d1, text: Tea is here.}, {id: d2, text: Tea is there.}]
  expect: [[d1, d2]]
- name: filtered
  query: Where is coffee?
  given: [{id: e1, text: Coffee is here., meta: {type: note}}]
  filter: {type: note}
  expect: [e1]
"""


def full(*scopes: str) -> SqliteStore:
    """A store that holds what the probes above were told."""
    store = SqliteStore()
    for probe in load_text(PROBES):
        for record in probe.records:
            store.put(record)
    store.delete("a4", scope="ana")
    return store


def test_what_a_call_cannot_carry_is_named() -> None:
    calls = requests_of(load_text(PROBES), workspace="w", dataset="v1")
    assert calls.probes == (("kiosk", "nothing"), ("paint",))  # one k and one agent each
    assert calls.left_out == {"either": "any-of lists", "filtered": "filter"}
    assert calls.lines() == [
        "3 cases in 2 requests",
        "left out: 1 probe (any-of lists)",
        "left out: 1 probe (filter)",
        "canaries of 1 probe are not looked for",
    ]
    first = calls.requests[0]
    assert {name: first[name] for name in first if name != "cases"} == {
        "workspaceId": "w",
        "agentId": "ana",
        "k": 5,
        "datasetVersion": "v1",
    }
    kiosk = first["cases"][0]
    assert kiosk["expectedIds"] == ["a2"]
    assert kiosk["staleIds"] == ["a1"]
    assert set(kiosk["forbiddenIds"]) == {"a3", "a4"}  # listed, and deleted


def test_answers_come_back_as_a_run_that_compares() -> None:
    probes = load_text(PROBES)
    calls = requests_of(probes)
    answers = [evaluate_request(body, full()) for body in calls.requests]
    made = run_of_answers(probes, calls, json.loads(json.dumps(answers)))
    assert [probe.name for probe in made.suite] == ["kiosk", "paint", "nothing"]
    by = made.results.set_index("probe")
    for body, names, answer in zip(calls.requests, calls.probes, answers, strict=True):
        for name, case, entry in zip(names, body["cases"], answer["perCase"], strict=True):
            row = by.loc[name]
            assert row["k"] == body["k"]
            assert row["rr"] == entry["reciprocalRank"] or entry["reciprocalRank"] is None
            assert bool(row["passed"]) == entry["passed"], case
    assert compare(made, made).verdict.word in ("SAME", "PASS")
    worse = [{**answer} for answer in answers]
    worse[0] = {**answers[0], "perCase": [{**e, "returned": []} for e in answers[0]["perCase"]]}
    lost = compare(made, run_of_answers(probes, calls, worse)).changes
    assert lost.loc[lost["change"].eq("lost"), "probe"].tolist() == ["kiosk"]


def test_ids_of_the_store_go_out_and_come_back() -> None:
    probes = load_text(PROBES).select(names=["kiosk"])
    calls = requests_of(probes, ids={"kiosk": {"a2": "m-81", "a3": "m-82"}})
    case = calls.requests[0]["cases"][0]
    assert case["expectedIds"] == ["m-81"] and "m-82" in case["forbiddenIds"]
    answer = {"perCase": [{"results": [{"memoryId": "m-82"}, {"memoryId": "m-81", "score": 0.5}]}]}
    made = run_of_answers(probes, calls, [answer])
    assert made.hits["record_id"].tolist() == ["a3", "a2"]
    assert made.leaks == 1 and made.mrr == 0.5


def placed(*cases: object) -> list[dict[str, Any]]:
    """Entries of two cases, the right record first in those that say so."""
    return [{"case": case, "returned": [f"r{case}"]} for case in cases]


def two() -> Suite:
    return Suite.of(
        [Probe(f"p{n}", "Same words?", [Record(f"r{n}", f"t{n}")], [f"r{n}"]) for n in range(2)]
    )


def test_entries_stand_where_their_case_says() -> None:
    probes = two()
    made = run_of_answers(probes, requests_of(probes), [{"perCase": placed(1, 0)}])
    assert made.recall_at_k == 1.0  # by order it would be 0


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        (placed(0, 0), "case 0 is there twice"),
        (placed(0, 2), "case is 2, wanted a whole number from 0 to 1"),
        (placed(0, -1), "case is -1"),
        (placed(0, True), "case is True"),
        (placed(0, "1"), "case is '1'"),
        ([*placed(0), {"returned": []}], "found no case"),
    ],
)
def test_cases_that_cannot_be_placed_are_refused(entries: list[Any], words: str) -> None:
    probes = two()
    with pytest.raises(RunFileError, match=words):
        run_of_answers(probes, requests_of(probes), [{"perCase": entries}])


def test_answers_to_probes_that_changed_are_refused() -> None:
    probes = load_text(PROBES)
    calls = requests_of(probes)
    answers = [evaluate_request(body, full()) for body in calls.requests]
    other = load_text(PROBES.replace("The door is painted green", "The door is painted red"))
    with pytest.raises(RunFileError, match="'paint' has changed since"):
        run_of_answers(other, calls, answers)
    gone = probes.select(names=["kiosk", "paint"])
    with pytest.raises(RunFileError, match="'nothing' was asked and is not in the suite"):
        run_of_answers(gone, calls, answers)
    unasked = load_text(PROBES.replace("Coffee is here", "Coffee is there"))
    assert len(run_of_answers(unasked, calls, answers).results) == 3


def test_records_that_the_store_merged_come_back_as_the_expected_one() -> None:
    given = [Record("x1", "The van is blue."), Record("x2", "The blue van."), Record("x3", "Ink.")]
    probes = Suite.of([Probe("van", "Which colour is the van?", given, ["x2"], forbid=["x3"])])
    same = {"x1": "m-1", "x2": "m-1", "x3": "m-3"}
    calls = requests_of(probes, ids={"van": same})
    assert calls.requests[0]["cases"][0]["expectedIds"] == ["m-1"]
    answer = {"perCase": [{"returned": ["m-1"]}]}
    assert run_of_answers(probes, calls, [answer]).mrr == 1.0
    calls = requests_of(probes, ids={"van": {"x1": "x3"}})  # on the id of one that is forbidden
    made = run_of_answers(probes, calls, [{"perCase": [{"returned": ["x3"]}]}])
    assert made.leaks == 1


@pytest.mark.parametrize(
    ("known", "why"),
    [
        ({"a1": "m", "a2": "m"}, "one id is both expected and forbidden or stale"),  # a1 is stale
        ({"a3": "a2"}, "one id is both expected and forbidden or stale"),
    ],
)
def test_an_id_that_is_right_and_wrong_leaves_the_probe_out(
    known: dict[str, str], why: str
) -> None:
    calls = requests_of(load_text(PROBES), ids={"kiosk": known})
    assert calls.left_out["kiosk"] == why
    assert "kiosk" not in [name for names in calls.probes for name in names]


def test_two_expected_records_on_one_id_leave_the_probe_out() -> None:
    given = [Record("x1", "The van is blue."), Record("x2", "The door is red.")]
    probes = Suite.of([Probe("both", "What has a colour?", given, ["x1", "x2"])])
    calls = requests_of(probes, ids={"both": {"x1": "m", "x2": "m"}})
    assert calls.left_out == {"both": "one id is several expected records"}


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ({"kiosc": {}}, "no probe 'kiosc'; write 'kiosk'"),
        ({"kiosk": {"a22": "m"}}, "probe 'kiosk' has no record 'a22'; write 'a2'"),
    ],
)
def test_ids_of_nothing_are_refused(ids: dict[str, dict[str, str]], words: str) -> None:
    with pytest.raises(RunFileError, match=words):
        requests_of(load_text(PROBES), ids=ids)


def test_an_id_of_several_records_is_noted() -> None:
    given = [[Record("r1", text), Record("r2", "Same.")] for text in ("The van.", "The kiosk.")]
    probes = Suite.of([Probe(f"p{n}", f"q{n}", g, ["r1"]) for n, g in enumerate(given)])
    note = (
        "1 id stands for several records: give --ids unless the store keeps one workspace per probe"
    )
    assert requests_of(probes).lines()[-1] == note
    ids = {"p0": {"r1": "m-1"}, "p1": {"r1": "m-2"}}
    assert note not in requests_of(probes, ids=ids).lines()


def test_batches_are_as_long_as_a_call_allows() -> None:
    record = Record("r", "t")
    many = Suite.of([Probe(f"p{n}", f"q{n}", [record], ["r"]) for n in range(450)])
    calls = requests_of(many)
    assert [len(body["cases"]) for body in calls.requests] == [200, 200, 50]
    assert [name for batch in calls.probes for name in batch] == [p.name for p in many]


def test_a_search_that_failed_stays_in_the_denominator() -> None:
    probes = suite(2, 0, 0)
    calls = requests_of(probes)
    entries = [{"returned": [f"{next(iter(p.expect))}"]} for p in probes]
    entries[1] = {"status": "timeout", "error": "30 s"}
    made = run_of_answers(probes, calls, [{"perCase": entries}])
    assert made.recall_at_k == 0.5 and made.errors == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda told: [], "found 0 answers to 1 request"),
        (lambda told: [{}], "no list perCase"),
        (lambda told: [{"perCase": told[0]["perCase"][:1]}], "perCase has 1 entries, wanted 2"),
        (lambda told: [{"perCase": [{**e, "query": "x"} for e in told[0]["perCase"]]}], "another"),
        (lambda told: [{"perCase": [{"ids": ["a"]}] * 2}], "found ids, wanted the ids"),
        (lambda told: [{"perCase": [{"returned": [7]}] * 2}], "an id is 7"),
        (lambda told: [{"perCase": [{"status": "odd"}] * 2}], "status is 'odd'"),
    ],
)
def test_answers_to_something_else_are_refused(change: Any, words: str) -> None:
    probes = suite(2, 0, 0)
    calls = requests_of(probes)
    cases = calls.requests[0]["cases"]
    good = [{"perCase": [{"query": case["query"], "returned": ["a"]} for case in cases]}]
    run_of_answers(probes, calls, good)
    with pytest.raises(RunFileError, match=words):
        run_of_answers(probes, calls, change(good))


def test_from_the_command_line_there_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "a.yaml").write_text(PROBES)
    assert main(["convert", "--to", "calls", "--dir", "calls"]) == 0
    assert "left out: 1 probe (filter)" in capsys.readouterr().out
    assert main(["convert", "--from", "calls", "--dir", "calls"]) == 2
    assert "answer-001.json: is not there; save it" in capsys.readouterr().err
    for request in sorted((tmp_path / "calls").glob("request-*.json")):
        told = evaluate_request(json.loads(request.read_text()), full())
        request.with_name(request.name.replace("request", "answer")).write_text(json.dumps(told))
    (tmp_path / "probes" / "a.yaml").write_text(PROBES.replace("k: 3", "k: 4"))
    assert main(["convert", "--from", "calls", "--dir", "calls"]) == 2
    assert "probe 'paint' has changed since the calls were written" in capsys.readouterr().err
    (tmp_path / "probes" / "a.yaml").write_text(PROBES)
    assert main(["convert", "--from", "calls", "--dir", "calls"]) == 0
    made = load_run(tmp_path / "calls" / "run.json")
    assert len(made.results) == 3 and made.leaks == 0
    capsys.readouterr()
    for argv, words in (
        (["--to", "calls", "--dir", "calls"], "wanted an empty folder"),
        (["--from", "calls", "--dir", "calls"], "is there already and stays"),
        (["--from", "calls", "--dir", "calls", "--ids", "x"], "--ids is of --to"),
        (["--to", "calls", "--dir", "new", "--ids", "calls/calls.json"], "wanted an object"),
    ):
        assert main(["convert", *argv]) == 2
        assert words in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_run_of_the_suite_itself_agrees() -> None:
    """The same store, asked as a run and through calls: the same outcomes, probe by probe."""
    probes = load_text(PROBES).select(names=["kiosk", "paint", "nothing"])
    direct = run(list(probes), SqliteStore).results.set_index("probe")
    calls = requests_of(probes)
    answers = []
    for body, names in zip(calls.requests, calls.probes, strict=True):
        entries = []
        for name, case in zip(names, body["cases"], strict=True):
            store = SqliteStore()
            for op in next(probe for probe in probes if probe.name == name).given:
                if isinstance(op, Record):
                    store.put(op)
                else:
                    store.delete(op.id, scope="ana")
            (entry,) = evaluate_request({**body, "cases": [case]}, store)["perCase"]
            entries.append({**entry, "case": len(entries)})
        answers.append({"perCase": entries})
    made = run_of_answers(probes, calls, answers).results.set_index("probe")
    for column in ("recall_all", "rr", "n_leaked", "passed"):
        pd.testing.assert_series_equal(made[column], direct.loc[made.index, column])
