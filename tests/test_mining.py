"""Candidates from transcripts: every form by its shape, nothing decided, nothing trusted."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memeval import candidates
from memeval.errors import MemevalError
from memeval.frames import CANDIDATES, names
from memeval.mining import asks
from memeval.transcripts import read_transcript

TOLD = "My locker at the pool is number 41."
ASKED = "Which number is my locker?"


def saved(tmp_path: Path, value: Any, name: str = "log.bin") -> Path:
    path = tmp_path / name
    text = value if isinstance(value, str) else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    return path


def lines(*entries: Any) -> str:
    return "\n".join(json.dumps(entry) for entry in entries) + "\n"


def node(role: str, text: Any, parent: str | None, children: list[str], at: float = 0) -> Any:
    told = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}}
    return {"message": told | {"create_time": at}, "parent": parent, "children": children}


CHATGPT = {
    "title": "Pool",
    "create_time": 1683554160.0,
    "current_node": "d",
    "mapping": {
        "root": {"message": None, "parent": None, "children": ["a"]},
        "a": node("system", "Be brief.", "root", ["b"]),
        "b": node("user", TOLD, "a", ["c", "lost"], 1683554160.0),
        "lost": node("user", "My locker is number 99, edited away.", "b", []),
        "c": node("assistant", "Noted.", "b", ["d"]),
        "d": node("user", ASKED, "c", [], 1683554161.0),
    },
}
CLAUDE = {
    "uuid": "x",
    "name": "Pool",
    "created_at": "2023-05-08T13:56:00.000Z",
    "chat_messages": [
        {"sender": "human", "text": TOLD, "created_at": "2023-05-08T13:56:00Z"},
        {"sender": "assistant", "text": "", "content": [{"type": "text", "text": "Noted."}]},
        {"sender": "human", "content": [{"type": "text", "text": ASKED}], "text": ""},
    ],
}
LOCOMO = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ana",
        "session_2_date_time": "1:56 pm on 9 May, 2023",
        "session_2": [{"speaker": "Ana", "dia_id": "D2:1", "text": ASKED}],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": TOLD}],
        "session_3_date_time": "1:56 pm on 10 May, 2023",
    },
    "qa": [
        {"question": "What number does Ana have?", "evidence": ["D1:1; D9:9"], "category": 4},
        {"question": "What number has Bo?", "evidence": ["D1:1"], "category": 5},
        {"question": "Who swims?", "evidence": []},
    ],
}
BANK = {
    "Ana": {
        "name": "Ana",
        "history": {
            "2023-05-08": [{"query": TOLD, "response": "Noted."}],
            "2023-05-09": [{"query": ASKED, "response": "41."}],
        },
    },
    "Bo": {"name": "Bo", "history": {"2023-05-09": [{"query": ASKED, "response": "None."}]}},
}
MESSAGES = [
    {"role": "user", "content": TOLD, "timestamp": 1683554160000},
    {"role": "assistant", "content": [{"type": "text", "text": "Noted."}]},
    {"role": "tool", "content": "My locker is number 7."},
    {"role": "user", "content": ASKED},
]


@pytest.mark.parametrize(
    ("value", "form", "source", "scope"),
    [
        ([CHATGPT], "ChatGPT export", "Pool, node 5", "default"),
        (CHATGPT, "ChatGPT export", "Pool, node 5", "default"),
        ([CLAUDE], "Claude export", "Pool, message 3", "default"),
        ([LOCOMO], "LoCoMo", "conv-1, D2:1", "conv-1"),
        (BANK, "MemoryBank", "Ana, 2023-05-09, turn 1", "Ana"),
        (MESSAGES, "chat log", "entry 4", "default"),
        (lines(*MESSAGES), "chat log", "entry 4", "default"),
        ({"messages": MESSAGES}, "list of messages", "conversation 1, message 4", "default"),
    ],
)
def test_each_form_is_known_by_its_shape_and_gives_the_question_with_what_was_told(
    tmp_path: Path, value: Any, form: str, source: str, scope: str
) -> None:
    path = saved(tmp_path, value)
    assert read_transcript(path).form == form
    frame = candidates(path)
    assert list(frame.columns) == names(CANDIDATES)
    first = frame.iloc[0]
    assert (first["source"], first["scope"]) == (source, scope)
    assert (first["query"], first["context"], first["n_records"]) == (ASKED, TOLD, 1)
    assert "number" in first["reason"] and "locker" in first["reason"]
    assert "99" not in "".join(frame["context"]) and "number 7" not in "".join(frame["context"])


def test_what_one_person_said_is_no_context_for_another(tmp_path: Path) -> None:
    assert set(candidates(saved(tmp_path, BANK))["scope"]) == {"Ana"}


def test_the_branch_of_an_export_without_a_current_node_is_the_last_one(tmp_path: Path) -> None:
    bare = {key: value for key, value in CHATGPT.items() if key != "current_node"}
    assert not len(
        candidates(saved(tmp_path, [bare]))
    )  # it ends at the edited turn, which asks not
    loop = {"mapping": {"a": node("user", TOLD, "b", ["b"]), "b": node("user", ASKED, "a", ["a"])}}
    assert len(read_transcript(saved(tmp_path, [loop])).turns) == 2


def test_conversations_of_an_export_are_put_in_the_order_of_time(tmp_path: Path) -> None:
    told, asked = json.loads(json.dumps(CLAUDE)), json.loads(json.dumps(CLAUDE))
    told["chat_messages"], asked["chat_messages"] = told["chat_messages"][:1], [
        asked["chat_messages"][2] | {"created_at": "2024-01-01T00:00:00Z"}
    ]  # fmt: skip
    (row,) = candidates(saved(tmp_path, [asked, told])).itertuples()
    assert row.context == TOLD and row.at == "2024-01-01T00:00:00+00:00"


def test_questions_that_the_file_asks_bring_the_turns_that_it_names(tmp_path: Path) -> None:
    frame = candidates(saved(tmp_path, [LOCOMO])).iloc[1:]
    assert list(frame["query"]) == [
        "What number does Ana have?",
        "What number has Bo?",
        "Who swims?",
    ]
    assert list(frame["context"]) == [f"Ana: {TOLD}", f"Ana: {TOLD}", ""]
    assert "its evidence misleads" in frame["reason"].iloc[1]


def test_every_query_of_a_log_is_proposed_once_and_counted(tmp_path: Path) -> None:
    log = lines({"query": "pool locker", "user_id": "ana"}, {"query": "Pool  locker!"},
                {"query": "pool locker", "at": "2026-03-01"}, {"query": " "})  # fmt: skip
    frame = candidates(saved(tmp_path, log))
    assert list(frame["query"]) == ["pool locker", "Pool locker!", "pool locker"]
    assert frame["scope"].iloc[0] == "ana" and frame["n_records"].eq(0).all()
    again = candidates(saved(tmp_path, lines(*[{"query": "pool locker"}] * 3)))
    assert list(again["reason"]) == ["a query of the log; asked 3 times"]


def test_a_list_of_questions_by_person_is_a_query_log_of_each(tmp_path: Path) -> None:
    frame = candidates(saved(tmp_path, lines({"Ana": ['"What do I like?"']}, {"Bo": ["And I?"]})))
    assert list(zip(frame["scope"], frame["query"], strict=True)) == [
        ("Ana", "What do I like?"), ("Bo", "And I?")]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Where is lunch", True),
        ("And when was that", True),
        ("Remind me of the code.", True),
        ("Lunch?", True),
        ("昼食はどこですか？", True),
        ('He said "where?"', True),
        ("Lunch is at the bar where we met.", False),
        ("See https://example.org/?q=1 for more.", False),
        ("Whatever.", False),
        ("", False),
    ],
)
def test_a_question_ends_in_its_mark_or_begins_like_one(text: str, wanted: bool) -> None:
    assert asks(text) is wanted


def test_a_question_that_refers_to_nothing_is_not_proposed(tmp_path: Path) -> None:
    log = [{"role": "user", "content": text} for text in (TOLD, "What is a gnu?", "Thank you.")]
    assert not len(candidates(saved(tmp_path, log)))
    asked = {"role": "user", "content": "Did I tell you of the gnu?"}
    assert list(candidates(saved(tmp_path, [*log, asked]))["n_records"]) == [0]


def test_what_is_said_later_is_no_context(tmp_path: Path) -> None:
    assert not len(candidates(saved(tmp_path, [MESSAGES[3], MESSAGES[0]])))


def test_at_most_three_statements_in_their_order_the_best_ones(tmp_path: Path) -> None:
    told = [f"The red bicycle number {n} is in the cellar." for n in range(6)]
    told[1] = "The red bicycle of Noor is in the attic."
    log = [{"role": "user", "content": text} for text in [*told, "Where is the bicycle of Noor?"]]
    (row,) = candidates(saved(tmp_path, log)).itertuples()
    # noor (1 of 6) and bicycle are shared with one statement, bicycle alone (6 of 6) with five
    assert row.context == told[1] and row.n_records == 1


def test_of_a_long_turn_only_the_sentences_that_share_words_are_kept(tmp_path: Path) -> None:
    long = "It rained. " * 60 + TOLD + " Then it rained again." * 20
    log = [{"role": "user", "content": text} for text in (long, "So it goes. " * 40 + ASKED)]
    (row,) = candidates(saved(tmp_path, log)).itertuples()
    assert (row.query, row.context) == (ASKED, TOLD)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_marked_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(json.dumps(MESSAGES).encode(encoding))
    assert len(candidates(path)) == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "found an empty file"),
        (b" \n\xef", "0xef, which is not UTF-8"),
        (b'[{"role": "user", "content": "caf\xe9"}]', "log.json:1: found the byte 0xe9"),
        (b"hello", "found no JSON"),
        (b"[]", "found no entry at all"),
        (b"[1, 2]", "found no entry at all"),
        (b'{"a": 1}', "found an entry with 'a'"),
        (b"[" * 100_000, "found JSON that nests too deep"),
        (b"9" * 5000, "found no JSON"),
    ],
)
def test_what_cannot_be_read_says_what_was_found_and_what_is_looked_for(
    tmp_path: Path, data: bytes, said: str
) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(data)
    with pytest.raises(MemevalError) as caught:
        candidates(path)
    assert said in str(caught.value)
    assert "chat_messages" in str(caught.value) or "UTF-8" in str(caught.value)


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(MemevalError, match="cannot be read"):
            candidates(path)


def test_entries_of_no_known_form_are_counted(tmp_path: Path) -> None:
    broken = lines(*MESSAGES, {"a": 1}, 7) + '{"role": "user", "cont'
    transcript = read_transcript(saved(tmp_path, broken))
    assert (len(transcript.turns), transcript.n_unread) == (3, 3)


def test_half_characters_and_control_characters_pass_as_text(tmp_path: Path) -> None:
    log = [{"role": "user", "content": "My \ud800 locker \x1b[31m is number 41."}, MESSAGES[3]]
    (row,) = candidates(saved(tmp_path, log)).itertuples()
    assert row.context == "My \ufffd locker \x1b[31m is number 41."
    row.context.encode("utf-8")


KEYS = (
    "mapping message author role content parts parent children chat_messages text sender "
    "conversation session_1 qa question evidence messages query history user Ana"
).split()
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner | st.sampled_from(["user", "assistant", "Where is it?", "It is there."]),
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_is_read_or_refused_in_words(tmp_path: Path, value: Any) -> None:
    path = saved(tmp_path, value)
    try:
        frame = candidates(path)
    except MemevalError as error:
        assert "wanted" in str(error)
    else:
        assert list(frame["candidate"]) == list(range(1, len(frame) + 1))
        assert frame["query"].str.strip().ne("").all()


def test_a_long_log_is_read_quickly(tmp_path: Path) -> None:
    words = ["pool", "locker", "number", "bicycle", "cellar", "attic"]
    log = [{"role": "user", "content": f"The {words[n % 6]} {n} is {words[n % 5]}."} if n % 4
           else {"role": "user", "content": f"Where is {words[n % 5]} {n - 3}?"}
           for n in range(20_000)]  # fmt: skip
    path = saved(tmp_path, log)
    start = time.perf_counter()
    assert 4_900 < len(candidates(path)) < 5_000  # not the first, before which nothing was said
    assert time.perf_counter() - start < 30


def test_the_real_files_give_candidates_of_each_person(shared: Path) -> None:
    bank = candidates(shared / "data" / "memorybank" / "memory_bank_en.json")
    assert bank["scope"].nunique() >= 14 and bank["n_records"].le(3).all()
    asked = candidates(shared / "data" / "memorybank" / "probing_questions_en.jsonl")
    assert len(asked) == 100
    locomo = candidates(shared / "data" / "locomo" / "locomo2.json")
    listed = locomo[locomo["reason"].str.startswith("asked by the file")]
    # 304 questions, of which conv-30 asks one twice; two have no evidence
    assert len(listed) == 303 and listed["n_records"].eq(0).sum() <= 2
    assert set(locomo["scope"]) == {"conv-26", "conv-30"}
