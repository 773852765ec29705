"""MADial-Bench and data sets in the form of BEIR as suites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memeval.datasets import Retrieval, read_beir, read_madial
from memeval.errors import ProbeError, WeakSuiteWarning
from memeval.runner import run

MEMORY = {"time": "2023-12-25", "scene": "Activity", "emotion": "Happy", "event": "Bart sang."}
SAID = ["<BOD>\n", '<Bart>: "I am nervous."\n', '<Assistant>: "You sang well."\n', "<EOD>\n"]
DIALOGUE = {"dialogue": SAID, "test-turn": [2], "relevant-id": [1], "user-id": 1}


def raw(folder: Path, memories: list[Any], dialogues: list[Any]) -> Path:
    for name, rows in (("x-en-memory.json", memories), ("x-en-dialogue.json", dialogues)):
        text = "\n".join(json.dumps(row) for row in rows)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def beir(folder: Path, corpus: list[Any], queries: list[Any], qrels: str) -> Path:
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        text = "\n".join(json.dumps(row) for row in rows)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "qrels").mkdir(exist_ok=True)
    (folder / "qrels" / "test.tsv").write_text(qrels, encoding="utf-8")
    return folder


CORPUS = [
    {"_id": "m1", "title": "Tea", "text": "is at four.", "metadata": {"by": 1, "on": "2023-01-02"}},
    {"_id": "m2", "text": "Tea is at five.", "metadata": {"by": 2, "kind": "note"}},
]
QUERIES = [{"_id": "q1", "text": "When is tea?", "metadata": {"by": 1}}]
HEAD = "query-id\tcorpus-id\tscore\n"


def rows(found: Retrieval) -> list[list[str]]:
    return found.faults[["place", "found", "done"]].to_numpy().tolist()


def test_a_dialogue_breaks_off_where_the_assistant_is_to_recall(tmp_path):
    other = {**MEMORY, "event": "Lisa danced."}
    found = read_madial(raw(tmp_path, [{"1": MEMORY}, {"2": other}], [DIALOGUE]))
    (probe,) = found.suite
    assert (probe.name, probe.query) == ("d0", '<Bart>: "I am nervous."')
    assert (probe.expect, probe.scope, probe.k) == (("m1",), "user_id-1", 5)
    first, second = probe.records
    assert (first.text, first.at.isoformat()) == ("Bart sang.", "2023-12-25T00:00:00+00:00")
    assert first.meta == {"scene": "Activity", "emotion": "Happy"}
    assert second.scope == "user_id-2"
    assert probe.foreign == {"m2"}


def test_faults_of_memories_and_dialogues_are_told(tmp_path):
    memories = [
        {"1": MEMORY},
        {"2": {**MEMORY, "event": "Someone sang."}},
        {"3": {**MEMORY, "event": "Bart and Lisa sang."}},
        {"4": {**MEMORY, "event": "Bart ran.", "time": "last May"}},
        {"5": {**MEMORY, "event": "Lisa ran."}},
    ]
    dialogues = [DIALOGUE | {"relevant-id": [1, 2, 5, 1]}, DIALOGUE | {"relevant-id": [9]}]
    found = read_madial(raw(tmp_path, memories, dialogues))
    assert rows(found) == [
        ["line 2", "memory 2 of no user", "not written"],
        ["line 3", "memory 3 of Bart and Lisa", "not written"],
        ["line 4", "the time 'last May'", "the record has no time"],
        ["d0", "'m2', which no record has", "dropped"],
        ["d0", "'m5' of user_id-2, asked is user_id-1", "dropped"],
        ["d1", "'m9', which no record has", "dropped"],
    ]
    assert found.suite[0].expect == ("m1",)
    assert found.left_out[["probe", "reason"]].to_numpy().tolist() == [
        ["d1", "no record is relevant to it"]
    ]


@pytest.mark.parametrize(
    ("memories", "dialogues", "words"),
    [
        ([{"1": 3}], [DIALOGUE], r"line 1: found int as memory '1', wanted dict"),
        ([{"1": MEMORY}], [DIALOGUE | {"test-turn": []}], r"NoneType as test-turn\[0\]"),
        ([{"1": MEMORY}], [DIALOGUE | {"test-turn": [9]}], r"9 as test-turn\[0\], wanted 1 to 4"),
        ([{"1": MEMORY}], [DIALOGUE | {"user-id": "Bart"}], "str as 'user-id', wanted int"),
        ([{"1": MEMORY}, {"1": MEMORY}], [DIALOGUE], "the id 'm1' twice in the corpus"),
        ([[]], [DIALOGUE], "line 1: found list as the line, wanted dict"),
    ],
)
def test_damage_is_named_with_its_place(tmp_path, memories, dialogues, words):
    with pytest.raises(ProbeError, match=words):
        read_madial(raw(tmp_path, memories, dialogues))


def test_a_missing_file_or_another_form_is_refused(tmp_path):
    with pytest.raises(ProbeError, match="MADial-Bench"):
        read_madial(tmp_path)
    with pytest.raises(ProbeError, match="no file.*corpus.jsonl.*BEIR"):
        read_madial(tmp_path, form="beir")
    with pytest.raises(ProbeError, match="form is 'trec'.*read_trec"):
        read_madial(tmp_path, form="trec")  # type: ignore[arg-type]


def test_both_forms_give_the_same_160_probes(shared: Path) -> None:
    folder = shared / "data" / "madial-bench"
    published, made = read_madial(folder / "raw"), read_madial(folder / "beir")
    assert [p.content_hash for p in published.suite] == [p.content_hash for p in made.suite]
    assert [p.name for p in published.suite] == [f"d{n}" for n in range(160)]
    assert made.suite.histories == published.suite.histories
    assert published.faults.empty and published.left_out.empty
    assert published.raised.to_numpy().tolist() == [["d84", 6, 6], ["d85", 6, 6], ["d143", 7, 7]]
    probe = published.suite[0]
    scopes = [record.scope for record in probe.records]
    assert (scopes.count("user_id-1"), scopes.count("user_id-2")) == (76, 84)
    assert sum(len(p.expect) for p in published.suite) == 405


def test_no_memory_of_the_other_user_comes_back_from_the_embedded_store(shared: Path) -> None:
    suite = read_madial(shared / "data" / "madial-bench" / "raw").suite
    with pytest.warns(WeakSuiteWarning, match="negative probes: 0"):
        found = run(suite, "sqlite")
    assert found.leaks == 0
    assert found.summary.set_index("metric")["n"]["leak_rate"] == 160
    assert 0.2 < found.recall_at_k < 0.7


def test_a_field_of_the_metadata_says_whose_and_when(tmp_path):
    folder = beir(tmp_path, CORPUS, QUERIES, HEAD + "q1\tm1\t1\n")
    (probe,) = read_beir(folder, scope="by", at="on").suite
    first, second = probe.records
    assert (first.text, first.scope, first.meta) == ("Tea is at four.", "by-1", {})
    assert first.at.isoformat() == "2023-01-02T00:00:00+00:00"
    assert (second.at, second.meta) == (None, {"kind": "note"})
    assert (probe.scope, probe.foreign) == ("by-1", {"m2"})
    (plain,) = read_beir(folder).suite
    assert (plain.scope, plain.foreign) == ("default", frozenset())
    assert plain.records[0].meta == {"by": 1, "on": "2023-01-02"}


def test_faults_of_a_beir_folder_are_told(tmp_path):
    corpus = [*CORPUS, {"_id": "m3", "text": " "}]
    queries = [*QUERIES, {"_id": "q2", "text": "Why?"}, {"_id": "q3", "text": ""}]
    qrels = HEAD + "q1\tm1\t2\nq1\tm1\t1\nq1\tm3\t1\nq1\tm2\t0\nq9\tm1\t1\nq3\tm1\t1\n"
    found = read_beir(beir(tmp_path, corpus, queries, qrels))
    assert rows(found) == [
        ["line 3", "'m3' without text", "not written"],
        ["line 3", "'m1' judged again", "first kept"],
        ["q9", "no query has this id", "not used"],
        ["q1", "'m3', which no record has", "dropped"],
    ]
    assert [(probe.name, probe.expect) for probe in found.suite] == [("q1", ("m1",))]
    assert found.left_out["reason"].tolist() == [
        "no record is relevant to it",
        "the query is blank",
    ]


def test_damaged_judgements_are_told_with_their_lines(tmp_path):
    folder = beir(tmp_path, CORPUS, QUERIES, HEAD + "q1 m1 1\nq1\tm1\thigh\nq1\tm1\t1\n")
    with pytest.raises(ProbeError) as caught:
        read_beir(folder)
    assert [fault.line for fault in caught.value.faults] == [2, 3]
    assert "1 fields" in str(caught.value) and "the score 'high'" in str(caught.value)


@pytest.mark.parametrize(
    ("corpus", "queries", "options", "words"),
    [
        ([*CORPUS, CORPUS[0]], QUERIES, {}, "the id 'm1' twice in the corpus"),
        (CORPUS, [*QUERIES, *QUERIES], {}, "the id 'q1' twice in the queries"),
        ([{"_id": 3, "text": "x"}], QUERIES, {}, "int as '_id', wanted str"),
        ([{"_id": "m1", "text": "x"}], QUERIES, {"scope": "by"}, "None as metadata 'by'"),
        (CORPUS, QUERIES, {"split": "dev"}, r"found no file .*dev\.tsv.*BEIR"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, corpus, queries, options, words):
    with pytest.raises(ProbeError, match=words):
        read_beir(beir(tmp_path, corpus, queries, HEAD + "q1\tm1\t1\n"), **options)
    with pytest.raises(ProbeError, match=r"found no folder .*nowhere.*BEIR"):
        read_beir(tmp_path / "nowhere")
