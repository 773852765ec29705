from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

import memeval as me
from memeval.datasets import read_mem0
from memeval.errors import ProbeError

MEMORIES = [
    {"id": "m1", "memory": "Likes tea.", "user_id": "ana", "metadata": {"type": "taste"},
     "created_at": "2026-03-01T10:00:00-08:00", "hash": "x", "updated_at": None},
    {"id": "m2", "memory": "Runs the kiosk.", "agent_id": "helper", "metadata": None},
    {"id": 3, "memory": "Was asked twice.", "run_id": "r-1", "user_id": "bo"},
    {"id": "m1", "memory": "Likes coffee.", "user_id": "ana"},
    {"memory": "Has no id.", "user_id": "ana"},
    {"id": "m6", "memory": " ", "user_id": "ana"},
    {"id": "m7", "memory": "Came late.\ud800", "created_at": "yesterday", "metadata": [1]},
    "a text",
]  # fmt: skip


def test_memories_become_records_and_every_oddity_is_told(tmp_path):
    found = read_mem0({"results": MEMORIES, "relations": [{"source": "ana"}, {}]})
    assert [(r.id, r.text, r.scope) for r in found.records] == [
        ("m1", "Likes tea.", "ana"), ("m2", "Runs the kiosk.", "helper"),
        ("3", "Was asked twice.", "bo"), ("m7", "Came late.\ufffd", "default"),
    ]  # fmt: skip
    assert found.records[0].at == datetime(2026, 3, 1, 18, tzinfo=UTC)
    assert found.records[0].meta == {"type": "taste"} and found.records[3].at is None
    assert found.faults[["place", "found", "done"]].to_numpy().tolist() == [
        ["results[2]", "owners user_id, run_id", "the first counts"],
        ["results[3]", "the id 'm1' twice", "left out"],
        ["results[4]", "a memory without id", "left out"],
        ["results[5]", "a memory without text", "left out"],
        ["results[6]", "metadata [1]", "left out"],
        ["results[6]", "created_at 'yesterday'", "left out"],
        ["results[7]", "'a text'", "left out"],
        ["relations", "2 relations of a graph", "not read"],
    ]
    path = tmp_path / "memories.json"
    path.write_text(json.dumps(MEMORIES[:2]), encoding="utf-8")
    assert read_mem0(path).records == read_mem0(MEMORIES[:2]).records == found.records[:2]


def test_the_records_can_be_asked():
    records = read_mem0(MEMORIES).records
    probe = me.Probe("tea", "likes tea", records, ["m1"], scope="ana")
    assert me.run([probe], "sqlite").recall_at_k == 1.0


@pytest.mark.parametrize(
    "source", [{}, {"results": {}}, {"error": "quota"}, 3, "no-such-file.json"]
)
def test_what_is_no_answer_of_mem0_is_refused(source):
    with pytest.raises(ProbeError, match="mem0's get_all"):
        read_mem0(source)
