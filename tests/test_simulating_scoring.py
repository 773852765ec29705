"""Answers at a checkpoint are worth what `memeval.metrics.score` says of them."""

from __future__ import annotations

from typing import Any

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from memeval import metrics
from memeval.harness.labels import labelled
from memeval.harness.rows import Rows
from memeval.probe import Probe
from memeval.record import Delete, Record
from memeval.simulating.scoring import Noted, answered
from memeval.suite import Suite

SCORED = {
    "kind": "kind", "status": "status", "rank": "first_rank", "ndcg": "ndcg",
    "recall_all": "recall_all", "n_leaked": "n_leaked", "n_contract": "n_contract",
    "latency_ms": "latency_ms",
}  # fmt: skip
IDS = [f"r{n}" for n in range(8)]
EXPECTS: list[list[Any]] = [[], ["r0"], ["r0", "r1"], [["r0", "r1"]], [["r0", "r1"], "r2"]]
STATUSES = ["ok", "ok", "ok", "failed", "timeout", "not_stored", "not_visible", "not_supported"]
BREACHES = [None, None, None, "length", "ids text"]
JUDGED = st.tuples(
    st.sampled_from(IDS), st.sampled_from(["expected", "forbidden"]), st.integers(0, 1)
)
ASKED = st.fixed_dictionaries(
    {
        "expect": st.sampled_from(EXPECTS),
        "k": st.integers(2, 5),
        "canary": st.booleans(),
        "history": st.booleans(),
        "status": st.sampled_from(STATUSES),
        "breaches": st.sampled_from(BREACHES),
        "answer": st.lists(
            st.tuples(st.sampled_from([*IDS, "x", None]), st.booleans(), st.booleans()), max_size=7
        ),
        "judged": st.lists(JUDGED, max_size=4),
    }
)


def made(n: int, told: dict[str, Any]) -> Probe:
    """One record is forbidden, one deleted, one superseded, one in another scope."""
    history = [Record(f"p{n}.r{i}", f"text {i}") for i in range(5)]
    history[4] = Record(f"p{n}.r4", "text 4", supersedes=(f"p{n}.r3",))
    end = [
        Record(f"p{n}.r5", "text 5"),
        Record(f"p{n}.r6", "text 6", "other"),
        Delete(f"p{n}.r5"),
    ]
    expect = [
        f"p{n}.{e}" if isinstance(e, str) else [f"p{n}.{i}" for i in e] for e in told["expect"]
    ]
    return Probe(
        f"p{n}@0", "what?", [*history, *end], expect, [f"p{n}.r4"], told["k"],
        canary=["TOKEN"] if told["canary"] else (),
        history=f"h{n}" if told["history"] else None,
    )  # fmt: skip


def note(rows: Rows, n: int, probe: Probe, told: dict[str, Any]) -> None:
    """As a table notes an answer, and what came up while asking."""
    hit = told["answer"] if told["status"] in ("ok", "not_stored", "not_visible") else []
    ids = [f"p{n}.{i}" if i in IDS else i for i, _, _ in hit]
    stores = [f"s{i}" if given else None for i, given, _ in hit]
    marks = ["TOKEN" if marked and told["canary"] else None for _, _, marked in hit]
    plain = ["own"] * len(hit), [1.0] * len(hit), ["text"] * len(hit), [None] * len(hit)
    call = (probe.name, 0, probe.k, told["status"], None, told["breaches"], 9, 9,
            None, None, None, 2.5, None)  # fmt: skip
    for name, label, group in told["judged"]:
        if label == "forbidden" or group < len(probe.groups):
            merged = label == "expected"
            number = group if merged else None
            rows.judge(probe.name, f"p{n}.{name}", label, "listed", number, merged)
    rows.add(call, (ids, stores, *plain, marks) if hit else ())


@given(st.lists(ASKED, min_size=1, max_size=4))
def test_the_numbers_are_those_of_the_score(asked: list[dict[str, Any]]) -> None:
    probes = [made(n, told) for n, told in enumerate(asked)]
    rows, noted = Rows(), Noted()
    for n, (probe, told) in enumerate(zip(probes, asked, strict=True)):
        note(rows, n, probe, told)
        note(noted, n, probe, told)
    suite = Suite.of(probes)
    hits, calls = rows.tables({probe.name: n for n, probe in enumerate(suite)})
    qrels = labelled(suite, hits, rows)
    wanted = metrics.score(hits, qrels, calls)
    found = answered([(0, probe) for probe in probes], noted, {"session": 3})
    table = pd.DataFrame([one.row for one in found])
    for name, column in SCORED.items():
        plain = [None if pd.isna(value) else value for value in wanted[column].tolist()]
        assert [None if pd.isna(v) else v for v in table[name].tolist()] == plain, name
    assert table["passed"].tolist() == wanted["passed"].fillna(False).tolist()
    for one in found:
        judged = qrels[qrels["probe"] == one.probe.name]
        said = judged[judged["label"] == "expected"].groupby("group")["record_id"].agg(set)
        assert [set(group) for group in one.labels.groups] == said.tolist()
        forbidden = judged[judged["label"] == "forbidden"]
        known = one.labels.forbidden
        assert {name: known[name] for name in forbidden["record_id"]} == dict(
            zip(forbidden["record_id"], forbidden["reason"].astype("str"), strict=True)
        )
        assert not known.keys() & set(judged.loc[judged["label"] == "expected", "record_id"])


def test_what_stands_in_its_place_is_named_in_order() -> None:
    told = {"expect": ["r0", "r1"], "k": 3, "canary": False, "history": False}
    hits = [("r2", True, False), (None, True, False), ("r0", True, False), ("r3", True, False)]
    probe, noted = made(0, told), Noted()
    note(noted, 0, probe, told | {"status": "ok", "breaches": None, "answer": hits, "judged": []})
    (one,) = answered([(5, probe)], noted, {"session": 7, "n_records": 9})
    assert one.row["displaced_by"] == "p0.r2 p0.r3"  # a stranger has no name
    assert (one.row["probe"], one.row["cohort"], one.row["session"]) == ("p0", 5, 7)
    assert one.row["recall_all"] is False and one.row["rank"] == 3
