"""LongMemEval: its questions as a suite, and rankings that others published for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memeval.datasets import LongMemEval, read_longmemeval, read_longmemeval_rankings
from memeval.errors import ProbeError, WeakSuiteWarning
from memeval.rankings import score_rankings
from memeval.runner import run


def talk(*texts: str) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]


def question(**changes: Any) -> dict[str, Any]:
    return {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "How many?",
        "answer": 2,
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 00:05"],
        "haystack_session_ids": ["answer_1", "noise"],
        "haystack_sessions": [talk("One here.", "Noted."), talk("Rain.", "Indeed.", "Yes.")],
        "answer_session_ids": ["answer_1"],
    } | changes


def read(folder: Path, *questions: Any, **options: Any) -> LongMemEval:
    file = folder / "longmemeval_tiny.json"
    file.write_text(json.dumps(list(questions)), encoding="utf-8")
    return read_longmemeval(file, **options)


def faults(found: LongMemEval) -> list[list[str]]:
    return found.faults[["place", "found", "done"]].to_numpy().tolist()


def test_a_turn_is_a_record_and_any_turn_of_a_labelled_session_will_do(tmp_path):
    found = read(tmp_path, question())
    (probe,) = found.suite
    assert probe.expect == (("q1-s000-t000", "q1-s000-t001"),)
    assert (probe.name, probe.tags, probe.history) == ("q1", ("multi-session",), "longmemeval q1")
    assert probe.now.isoformat() == "2023-05-30T23:40:00+00:00"
    first = probe.records[0]
    assert (first.text, first.meta) == ("One here.", {"role": "user"})
    assert first.at.isoformat() == "2023-05-20T02:21:00+00:00"
    assert found.sessions.to_numpy().tolist() == [
        ["q1", "q1-s000", "answer_1", 2, True],
        ["q1", "q1-s001", "noise", 3, False],
    ]
    assert found.faults.empty


def test_a_session_may_be_the_record(tmp_path):
    (probe,) = read(tmp_path, question(), unit="session").suite
    assert probe.expect == (("q1-s000",),)
    assert [record.text for record in probe.records] == [
        "user: One here.\nassistant: Noted.",
        "user: Rain.\nassistant: Indeed.\nuser: Yes.",
    ]
    with pytest.raises(ProbeError, match="unit is 'word', wanted 'turn' or 'session'"):
        read(tmp_path, question(), unit="word")


def test_no_label_of_the_data_set_reaches_the_store(tmp_path):
    marked = [turn | {"has_answer": True} for turn in talk("One here.", "Noted.")]
    for unit in ("turn", "session"):
        found = read(tmp_path, question(haystack_sessions=[marked, talk("Rain.")]), unit=unit)
        written = repr(found.suite[0].given)
        assert "answer_1" not in written and "has_answer" not in written


def test_each_labelled_session_is_expected_and_k_is_raised_where_it_must_be(tmp_path):
    several = question(
        haystack_dates=["2023/05/20"] * 7,
        haystack_session_ids=[f"a{n}" for n in range(7)],
        haystack_sessions=[talk(f"Number {n}.") for n in range(7)],
        answer_session_ids=["a6", "a0", "a1", "a2", "a3", "a4"],
    )
    found = read(tmp_path, several)
    assert (len(found.suite[0].expect), found.suite[0].k) == (6, 6)
    assert found.raised.to_numpy().tolist() == [["q1", 6, 6]]


def test_a_question_that_cannot_be_answered_is_a_negative_probe(tmp_path):
    found = read(tmp_path, question(question_id="q1_abs"))
    (probe,) = found.suite
    assert (probe.name, probe.expect, probe.is_negative) == ("q1_abs", (), True)
    assert probe.tags == ("multi-session", "abstention")


def test_sessions_are_written_in_the_order_of_their_dates(tmp_path):
    found = read(tmp_path, question(haystack_dates=["2023/05/22 (Mon) 01:00", "2023/05/21 00:05"]))
    assert [record.id for record in found.suite[0].records][0] == "q1-s001-t000"
    assert faults(found) == [
        ["haystack_dates", "not in order", "written in the order of the dates"]
    ]


def test_faults_are_told(tmp_path):
    found = read(
        tmp_path,
        question(
            question_date=None,
            haystack_dates=["2023/02/30 (Thu) 02:21", 7, "2023/05/21"],
            haystack_session_ids=["answer_1", "noise", "noise"],
            haystack_sessions=[talk("One here.", " "), talk(""), []],
            answer_session_ids=["answer_1", "answer_2"],
        ),
        question(question_id="q2", answer_session_ids=["gone"]),
        question(question_id="q3", question=" "),
    )
    first = found.faults[found.faults["sample"] == "q1"]
    assert first[["place", "found", "done"]].to_numpy().tolist() == [
        ["haystack_dates[0]", "the date '2023/02/30 (Thu) 02:21'", "no time"],
        ["haystack_sessions[0][1]", "a turn without text", "not written"],
        ["haystack_dates[1]", "the date '7'", "no time"],
        ["haystack_sessions[1][0]", "a turn without text", "not written"],
        ["haystack_sessions[1]", "a session without text", "not written"],
        ["haystack_sessions[2]", "a session without text", "not written"],
        ["haystack_session_ids", "'noise' again", "both written"],
        ["answer_session_ids", "'answer_2', no session there", "dropped"],
        ["question_date", "no date", "no time"],
    ]
    (probe,) = found.suite
    assert (probe.expect, probe.now, len(probe.records)) == ((("q1-s000-t000",),), None, 1)
    assert found.left_out[["probe", "reason"]].to_numpy().tolist() == [
        ["q2", "no session that answers it"],
        ["q3", "the question is blank"],
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"question_id": 7}, r"\[0\]: found int as 'question_id', wanted str"),
        ({"haystack_dates": []}, "q1: found 2 haystack_session_ids, 0 haystack_dates, 2"),
        ({"haystack_sessions": [3, []]}, r"q1: found int as haystack_sessions\[0\], wanted list"),
        ({"haystack_sessions": [[{"role": "user"}], []]},
         r"q1: haystack_sessions\[0\]\[0\]: found nothing as 'content'"),
        ({"answer_session_ids": [1]}, r"q1: found int as answer_session_ids\[0\]"),
    ],
)  # fmt: skip
def test_damage_is_named_with_its_place_and_the_data_set(tmp_path, changes, words):
    with pytest.raises(ProbeError, match=f"{words}.*LongMemEval"):
        read(tmp_path, question(**changes))


def test_one_question_twice_or_none_is_refused(tmp_path):
    with pytest.raises(ProbeError, match="duplicate probe names: 'q1'"):
        read(tmp_path, question(), question())
    with pytest.raises(ProbeError, match="no question"):
        read(tmp_path)


def test_the_ten_questions_of_the_file(shared: Path) -> None:
    file = shared / "data" / "longmemeval" / "longmemeval_s_10_truncated.json"
    found = read_longmemeval(file)
    # counted in the file: 483 sessions with 1723 turns, 58 of these blank
    assert (len(found.suite), len(found.sessions)) == (10, 483)
    assert found.sessions["n_records"].sum() == 1723 - 58
    assert found.sessions["labelled"].sum() == 10
    assert found.faults["found"].value_counts().to_dict() == {
        "a turn without text": 58,
        "no date": 10,
    }
    assert found.faults["place"].value_counts()["question_date"] == 10
    assert all(record.at for probe in found.suite for record in probe.records)
    sessions = read_longmemeval(file, unit="session").suite
    assert sum(len(probe.records) for probe in sessions) == 483


def test_the_embedded_store_is_asked_the_ten(shared: Path) -> None:
    file = shared / "data" / "longmemeval" / "longmemeval_s_10_truncated.json"
    with pytest.warns(WeakSuiteWarning, match="weak"):
        found = run(read_longmemeval(file).suite, "sqlite")
    assert found.results["status"].eq("ok").all()
    assert found.recall_at_k >= 0.5


@pytest.mark.parametrize(
    ("ranker", "published"),
    [("bm25", (84.7, 93.2, 96.2)), ("dense-minilm", (86.8, 94.7, 97.2))],
)
def test_published_rankings_give_the_published_figures(shared: Path, ranker, published) -> None:
    read = read_longmemeval_rankings(shared / "data" / "longmemeval" / f"rankings_{ranker}.jsonl")
    assert (len(read.questions), read.questions["abstention"].sum()) == (500, 30)
    for k, wanted in zip((1, 5, 10), published, strict=True):
        found = score_rankings(read.rankings, read.expected, k=k)
        assert found["recall_any"].count() == 470
        assert round(100 * found["recall_any"].astype(float).mean(), 1) == wanted
    # counted over distinct sessions, the same answers look better
    distinct = {name: list(dict.fromkeys(ids)) for name, ids in read.rankings.items()}
    better = score_rankings(distinct, read.expected, k=5)
    assert better["recall_any"].sum() == {"bm25": 447, "dense-minilm": 457}[ranker]
    assert round(published[1] * 4.7) == {"bm25": 438, "dense-minilm": 445}[ranker]


LINE = {
    "question_id": "q1",
    "question_type": "t",
    "abstention": False,
    "n_indexed": 3,
    "evidence_sessions": ["a"],
    "retrieved_sessions": ["b", "b", "a"],
}


def test_a_session_that_comes_back_twice_fills_two_places(tmp_path):
    (tmp_path / "rankings_x.jsonl").write_text(json.dumps(LINE))
    read = read_longmemeval_rankings(tmp_path)
    assert read.questions.to_numpy().tolist() == [["q1", "t", False, 3, 1, 3]]
    assert score_rankings(read.rankings, read.expected, k=2)["recall_any"].tolist() == [False]
    assert score_rankings(read.rankings, read.expected, k=3)["rr"].tolist() == [1 / 3]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([LINE, LINE], "line 2: found question 'q1' again"),
        ([LINE | {"abstention": "no"}], "line 1: found str as 'abstention', wanted bool"),
        ([LINE | {"n_indexed": True}], "found bool as 'n_indexed', wanted int"),
        ([LINE | {"abstention": True}], "found 1 evidence_sessions, wanted none for a question"),
        ([LINE | {"evidence_sessions": []}], "found 0 evidence_sessions"),
        ([LINE | {"evidence_sessions": ["a", "a"]}], "as 'evidence_sessions', wanted each once"),
        ([LINE | {"retrieved_sessions": [None]}], r"NoneType as retrieved_sessions\[0\]"),
        ([[]], "line 1: found list as the line"),
        ([], "no line"),
    ],
)
def test_damaged_rankings_are_refused_with_the_line(tmp_path, lines, words):
    file = tmp_path / "rankings_x.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    with pytest.raises(ProbeError, match=words):
        read_longmemeval_rankings(file)
