from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memeval.datasets import load_factconsolidation, read_factconsolidation
from memeval.datasets.factforms import FORMS, read_fact, read_question
from memeval.errors import ProbeError, WeakSuiteWarning
from memeval.runner import run

FACTS = [
    "The capital of France is Paris.",
    "Ana Ray is married to Bo Lin.",
    "The capital of France is Harare.",
    "The moon is round.",
    "The capital of France is Paris.",
    "Paris Hall was born in the city of Paris.",
]
CAPITAL = "What is the capital of France?"


def write(folder: Path, questions: list[Any], answers: list[Any], facts: list[str] = FACTS) -> Path:
    lines = [f"{n}. {fact}" for n, fact in enumerate(facts)]
    context = "\n".join(["Here is a list of facts:", *lines]) + "\n"
    file = folder / "sh_tiny.json"
    data = {"source": "s", "context": context, "questions": questions, "answers": answers}
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


def folder_of(shared: Path) -> Path:
    return shared / "data" / "factconsolidation"


def jsonl(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_the_newest_fact_is_expected_and_only_older_ones_that_differ_are_forbidden(tmp_path):
    suite = load_factconsolidation(write(tmp_path, [CAPITAL], [["paris"]]), k=3)
    (probe,) = suite
    # f0 says the same as f4, so only f2 is wrong
    assert (probe.name, probe.expect, probe.forbid, probe.k) == ("q0", ("f4",), ("f2",), 3)
    assert (probe.scope, probe.tags, suite.haystack) == ("default", ("update",), None)
    assert suite.haystack_name == "none"
    told = {record.id: record.supersedes for record in probe.records if record.supersedes}
    assert told == {"f2": ("f0",), "f4": ("f2",)}


def test_each_version_supersedes_all_older_ones(tmp_path):
    facts = [f"Rome is located in the continent of {o}." for o in ("Europe", "Asia", "Africa")]
    file = write(tmp_path, ["Which continent is Rome located in?"], [["Africa"]], facts)
    (probe,) = load_factconsolidation(file)
    assert probe.forbid == ("f0", "f1")
    told = [record.supersedes for record in probe.records]
    assert told == [(), ("f0",), ("f0", "f1")]


def test_a_fact_that_was_never_overruled_forbids_nothing(tmp_path):
    file = write(tmp_path, ["Who is Ana Ray married to?"], [["Someone", "BO LIN"]])
    (probe,) = load_factconsolidation(file)
    assert (probe.expect, probe.forbid, probe.tags) == (("f1",), (), ("single",))


def test_what_cannot_be_derived_is_left_out_and_named(tmp_path):
    questions = [
        CAPITAL,
        "What kind of work does Ana Ray do?",
        "Who founded Rome?",
        "Which city was Paris Hall born in?",
    ]
    file = write(tmp_path, questions, [["Harare"], ["singer", "actor"], ["Romulus"], ["Paris"]])
    read = read_factconsolidation(file)
    assert [probe.name for probe in read.suite] == ["q3"]
    assert read.left_out["probe"].tolist() == ["q0", "q1", "q2"]
    assert read.left_out["query"].tolist() == questions[:3]
    assert read.left_out["answers"].tolist() == ["Harare", "singer | actor", "Romulus"]
    newest, unnamed, unknown = read.left_out["reason"]
    assert "f4" in newest and "accepted answer" in newest
    assert "relation" in unnamed
    assert "no fact" in unknown
    assert read.unread == ("f3",)


def test_a_sentence_of_two_readings_is_not_read():
    assert read_fact("The capital of What is this is Rome.") is None
    assert read_question("Who is the author of What is this?") is not None
    assert read_fact("The capital of Rome is") is None


def test_every_form_reads_its_own_question_and_fact_alike():
    for question, fact in FORMS.items():
        asked = read_question(question.format(s="Ana Ray"))
        said = read_fact(fact.format(s="Ana Ray", o="Bo Lin"))
        assert asked is not None and said is not None
        assert said == (asked.relation, "Ana Ray", "Bo Lin")
        assert asked.subject == "Ana Ray"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"context": 7}, ("int as 'context'", "wanted str")),
        ({"questions": None}, ("NoneType as 'questions'", "wanted list")),
        ({"answers": [["Paris"], ["Rome"]]}, ("questions: 1, answers: 2",)),
        ({"answers": ["Paris"]}, ("'Paris' as answers[0]", "a list of str")),
        ({"questions": [3]}, ("int as questions[0]", "wanted str")),
        ({"context": "facts:\n0. A.\nB."}, ("the line 'B.'", "number. fact")),
        ({"context": "facts:\n0. A.\n2. B."}, ("fact 2", "fact 1 in its place")),
        ({"context": "facts:"}, ("no fact",)),
        ({"context": ""}, ("no fact",)),
    ],
)
def test_damage_is_named_with_the_file_and_the_data_set(tmp_path, change, words):
    file = write(tmp_path, [CAPITAL], [["Paris"]])
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(ProbeError) as caught:
        read_factconsolidation(file)
    for word in (*words, str(file), "MemoryAgentBench"):
        assert word in str(caught.value)


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe\x00", b"[]", b"{}"])
def test_a_file_of_another_form_is_refused(tmp_path, content):
    file = tmp_path / "sh_6k.json"
    file.write_bytes(content)
    with pytest.raises(ProbeError, match="MemoryAgentBench"):
        load_factconsolidation(tmp_path)


def test_a_missing_file_names_what_the_folder_has(tmp_path):
    write(tmp_path, [CAPITAL], [["Paris"]])
    with pytest.raises(ProbeError, match=r"sh_6k\.json.*sh_tiny.*MemoryAgentBench"):
        load_factconsolidation(tmp_path)
    assert len(load_factconsolidation(tmp_path, part="sh_tiny")) == 1
    with pytest.raises(ProbeError, match=r"found no file .*nowhere.*MemoryAgentBench"):
        load_factconsolidation(tmp_path / "nowhere")


def test_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    file = write(tmp_path, [CAPITAL], [["Paris"]])
    plain = load_factconsolidation(file)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\\n", b"\\r\\n"))
    assert load_factconsolidation(file) == plain


def test_all_of_6k_is_derived_as_in_the_reference(shared):
    folder = folder_of(shared)
    read = read_factconsolidation(folder)
    wanted = jsonl(folder / "sh_6k.probes.jsonl")
    derived = [(p.name, p.query, list(p.expect), list(p.forbid)) for p in read.suite]
    assert derived == [(w["id"], w["query"], w["expect"], w["forbid"]) for w in wanted]
    assert (len(derived), sum(bool(p.forbid) for p in read.suite)) == (99, 73)
    records = [(record.id, record.text) for record in read.suite[0].records]
    assert records == [(w["id"], w["text"]) for w in jsonl(folder / "sh_6k.records.jsonl")]
    assert read.left_out["query"].tolist() == ["What kind of work does Stephen McNeil do?"]
    assert len({id(p.given) for p in read.suite}) == 1
    assert list(read.suite.histories) == ["factconsolidation sh_6k"]


@pytest.mark.parametrize(("part", "derived", "left_out"), [("sh_6k", 99, 1), ("sh_32k", 97, 3)])
def test_probes_agree_with_a_reading_that_knows_no_form(shared, part, derived, left_out):
    """The expected fact ends in the answer; forbidden is what is older and begins alike."""
    file = folder_of(shared) / f"{part}.json"
    read = read_factconsolidation(file)
    assert (len(read.suite), len(read.left_out)) == (derived, left_out)
    data = json.loads(file.read_text(encoding="utf-8"))
    facts = [line.split(". ", 1)[1] for line in data["context"].strip().split("\n")[1:]]
    accepted = dict(zip(data["questions"], data["answers"], strict=True))
    for probe in read.suite:
        (newest,) = (int(name[1:]) for name in probe.expect)
        (answer,) = (a for a in accepted[probe.query] if facts[newest].endswith(f" {a}."))
        stem = facts[newest].removesuffix(f"{answer}.")
        alike = [n for n, fact in enumerate(facts) if fact.startswith(stem)]
        assert alike[-1] == newest
        assert probe.forbid == tuple(f"f{n}" for n in alike[:-1])


def test_a_store_that_is_told_nothing_finds_all_and_leaks_every_old_fact(shared):
    with pytest.warns(WeakSuiteWarning, match="negative probes: 0"):
        found = run(load_factconsolidation(folder_of(shared)), "sqlite-plain")
    # published with the data: FTS5, any word of the question
    assert found.recall_at_k == 1.0
    assert found.results["first_rank"].eq(1).sum() == 47
    assert found.results["n_leaked"].gt(0).sum() == 73
    assert (found.verdict.word, found.validity.status) == ("FAIL", "weak")


def test_at_k_1_less_than_half_is_found(shared):
    found = run(load_factconsolidation(folder_of(shared), k=1), "sqlite-plain")
    assert found.recall_at_k == pytest.approx(47 / 99)
    assert round(found.recall_at_k, 4) == 0.4747


def test_a_store_that_honours_what_it_is_told_leaks_nothing(shared):
    with pytest.warns(WeakSuiteWarning, match="negative probes: 0"):
        found = run(load_factconsolidation(folder_of(shared)), "sqlite")
    assert (found.leaks, found.recall_at_k) == (0, 1.0)
    assert found.results["first_rank"].eq(1).all()
    assert found.verdict.word == "PASS"
