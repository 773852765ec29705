"""Labels of what came back, against labels of everything: the numbers are the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pytest
from hypothesis import given as law
from hypothesis import settings
from hypothesis import strategies as st

import memeval as me
from memeval.errors import FrameError
from memeval.given import Given
from memeval.record import Delete, Hit, Record
from memeval.summary import summarize

MAY = datetime(2026, 5, 1, tzinfo=UTC)
NAMES = [f"r{n}" for n in range(6)]
ASKED = st.tuples(
    st.sampled_from(["one", None]),
    st.lists(st.sampled_from(NAMES[:5]), unique=True, max_size=3),
    st.lists(st.sampled_from(NAMES[:5]), unique=True, max_size=2),
    st.sampled_from([None, MAY, MAY + timedelta(days=9)]),
    st.sampled_from([[], ["bo"], ["bo", "cy"]]),
)
HISTORIES = st.tuples(
    st.lists(st.sampled_from(["default", "bo", "cy"]), min_size=5, max_size=5),
    st.lists(st.sampled_from([None, MAY, MAY + timedelta(days=5)]), min_size=5, max_size=5),
    st.lists(st.sampled_from(NAMES[:5]), unique=True),
    st.lists(st.sampled_from(NAMES[:5]), unique=True, max_size=2),
)


def suite_of(history: tuple[Any, ...], asked: list[tuple[Any, ...]]) -> me.Suite:
    scopes, ends, told, deleted = history
    records = [
        Record(name, f"text {name}", scope, expires=end)
        for name, scope, end in zip(NAMES, scopes, ends, strict=False)
    ]
    last = Record("r5", "text r5", supersedes=tuple(told))
    given = Given([*records, last, *map(Delete, deleted)])
    return me.Suite.of(
        me.Probe(
            f"p{n}", "q", given, ["r5"], forbid=forbid, stale=stale, k=3, now=now, reads=reads,
            history=shared,
        )
        for n, (shared, forbid, stale, now, reads) in enumerate(asked)
    )  # fmt: skip


@settings(deadline=None, max_examples=60)
@law(
    history=HISTORIES,
    asked=st.lists(ASKED, min_size=1, max_size=4),
    answers=st.lists(st.lists(st.sampled_from([*NAMES, None]), max_size=5), min_size=8, max_size=8),
)
def test_scores_and_summary_are_those_of_all_labels(
    history: tuple[Any, ...], asked: list[tuple[Any, ...]], answers: list[list[str | None]]
) -> None:
    suite = suite_of(history, asked)
    calls = pd.DataFrame([(p.name, r, p.k) for p in suite for r in (0, 1)])
    calls.columns = ["probe", "repeat", "k"]
    hits = pd.DataFrame(
        [
            (*call, rank, record_id)
            for call, answer in zip(calls[["probe", "repeat"]].values, answers, strict=False)
            for rank, record_id in enumerate(answer, 1)
        ],
        columns=["probe", "repeat", "rank", "record_id"],
    )
    every, some = suite.qrels(), suite.qrels(hits)
    pd.testing.assert_frame_equal(
        me.score(hits, every, calls), me.score(hits, some, calls), check_exact=True
    )
    sums = [summarize(me.score(hits, q, calls), hits, q, calls) for q in (every, some)]
    pd.testing.assert_frame_equal(*sums, check_exact=True)
    rows = [set(map(tuple, q.astype(str).values)) for q in (every, some)]
    assert rows[1] <= rows[0]


class Everything:
    """Returns the k records that were written first, of any scope."""

    def __init__(self) -> None:
        self.kept: list[Record] = []

    def put(self, record: Record) -> None:
        self.kept.append(record)

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        return [Hit(record.id, record.text) for record in self.kept[:k]]

    def delete(self, record_id: str) -> None:
        pass


@settings(deadline=None, max_examples=25)
@law(history=HISTORIES, asked=st.lists(ASKED, min_size=1, max_size=3))
def test_a_run_has_the_results_of_all_labels(
    history: tuple[Any, ...], asked: list[tuple[Any, ...]]
) -> None:
    suite = suite_of(history, asked)
    run = me.run(suite.probes, Everything)
    every = me.score(run.hits, suite.qrels(), run.calls)
    pd.testing.assert_frame_equal(run.results, every, check_exact=True)
    summary = summarize(every, run.hits, suite.qrels(), run.calls)
    values = ["metric", "value", "low", "high", "n"]
    pd.testing.assert_frame_equal(run.summary[values], summary[values], check_exact=True)


def test_a_shared_history_is_labelled_where_it_came_back():
    given = Given(
        [
            Record("a", "a"), Record("b", "b"), Record("c", "c", expires=MAY), Record("gone", "g"),
            Record("x", "x", "bo"), Record("y", "y", "bo"), Record("z", "z", "bo"),
            Record("new", "n", supersedes=("a", "b")), Delete("gone"),
        ]
    )  # fmt: skip
    probes = [
        me.Probe(name, "q", given, ["new"], forbid=["x"], now=MAY, history="one")
        for name in ("p", "q")
    ]
    hits = pd.DataFrame({"probe": "p", "rank": range(1, 5), "record_id": ["b", "z", "new", "c"]})
    said = me.Suite.of(probes).qrels(hits)
    rows = said[["probe", "record_id", "label", "reason"]].astype(str).values.tolist()
    assert rows == [
        ["p", "new", "expected", "listed"],
        ["p", "gone", "forbidden", "deleted"],
        ["p", "x", "forbidden", "listed"],
        ["p", "y", "forbidden", "foreign_scope"],  # one chance, whatever came back
        ["p", "z", "forbidden", "foreign_scope"],
        ["p", "b", "stale", "superseded"],
        ["p", "c", "stale", "expired"],
        ["q", "new", "expected", "listed"],
        ["q", "gone", "forbidden", "deleted"],
        ["q", "x", "forbidden", "listed"],
        ["q", "y", "forbidden", "foreign_scope"],
    ]


def test_labels_do_not_grow_with_probes_times_records():
    """Each answer names one record, so a probe has one label, and one more where that is stale."""
    n = 60
    given = Given(
        Record(f"f{at}", f"fact {at}", supersedes=(f"f{at - 1}",) if at % 2 else ())
        for at in range(n)
    )
    probes = [
        me.Probe(f"q{at}", "q", given, [f"f{at}"], k=1, history="facts") for at in range(1, n, 2)
    ]
    run = me.run(probes, Everything)
    assert len(run.qrels) == n // 2 + n // 2  # f0 comes back to all, and f1 replaces it
    assert run.results["n_stale"].tolist() == [1] * (n // 2)
    assert len(run.suite.qrels()) == n // 2 + (n // 2) ** 2


def test_hits_without_their_columns_are_refused():
    suite = me.Suite.of([me.Probe("p", "q", [Record("a", "a")], ["a"], history="one")])
    with pytest.raises(FrameError, match="wanted also \\['record_id'\\]"):
        suite.qrels(pd.DataFrame({"probe": ["p"]}))
