"""The tests that the specification requires, under its names and in its call shapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval import NullStore, RandomStore, Record, ShuffledStore, SqliteStore
from memeval.frames import HITS, conform
from memeval.loading import load
from memeval.metrics import score
from memeval.probe import Probe
from memeval.runner import run
from memeval.spec import evaluate, spec_results, summarize
from memeval.suite import Suite

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class SpecHit:
    """A hit as the specification writes it: the record itself, a score, a reason."""

    record: Record
    score: float
    why: str = ""


class ListStore:
    """A store written to the specification alone: it finds records that share a word."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def put(self, record: Record) -> str:
        self.records.append(record)
        return record.id

    def search(self, query: str, *, k: int = 5, scope: str = "default", **_: Any) -> list[SpecHit]:
        wanted = set(query.lower().split())
        mine = [r for r in self.records if r.scope == scope]
        found = [r for r in mine if wanted & set(r.text.lower().split())]
        return [SpecHit(r, 1.0, "shares a word") for r in found[:k]]


class LeakyStore(ListStore):
    """The same, blind to scopes."""

    def search(self, query: str, *, k: int = 5, scope: str = "default", **_: Any) -> list[SpecHit]:
        mine = super().search(query, k=k, scope=scope)
        return (mine + super().search(query, k=k, scope="bo"))[:k]


@pytest.fixture(scope="module")
def probes() -> Suite:
    return load(ROOT / "probes")


@pytest.fixture
def real_store_factory() -> Callable[[], Any]:
    return SqliteStore


def test_suite_detects_a_broken_store(probes: Suite) -> None:
    # The specification writes store=NullStore(); each probe needs a clean one: a factory.
    results = run(probes, make_store=NullStore, check_store=False)
    assert results.recall_at_k < 0.2


def test_null_store_fails_the_suite(probes: Suite) -> None:
    summary, _ = run(probes, make_store=NullStore, check_store=False)
    assert summary.recall_at_k == 0.0


def test_random_store_fails_the_suite(probes: Suite) -> None:
    summary, _ = run(probes, make_store=lambda: RandomStore(seed=1), check_store=False)
    assert summary.recall_at_k < 0.2


def test_random_store_passes_bare_probes_of_few_records_which_is_why_there_is_a_haystack() -> None:
    # The sketch draws from the probe's own records: k = 5 of 3 returns everything, E[recall] = 1.
    given = [Record(f"r{n}", text) for n, text in enumerate(("tea", "coffee", "juice"))]
    bare = [Probe(name=f"p{n}", query="tea", given=given, expect=["r0"]) for n in range(20)]
    summary, _ = run(bare, make_store=lambda: RandomStore(seed=1), check_store=False)
    assert summary.recall_at_k == 1.0


def test_shuffled_store_keeps_recall_but_drops_mrr(
    probes: Suite, real_store_factory: Callable[[], Any]
) -> None:
    real, _ = run(probes, make_store=real_store_factory)
    shuffled, _ = run(probes, make_store=lambda: ShuffledStore(real_store_factory()))
    assert shuffled.recall_at_k >= real.recall_at_k - 0.05
    assert shuffled.mrr < real.mrr - 0.1


def leaking_probe() -> Probe:
    given = [
        Record("r1", "lunch is at the noodle bar"),
        Record("r2", "lunch is at the falafel van", "bo"),
    ]
    return Probe(name="lunch", query="where is lunch", given=given, expect=["r1"], forbid=["r2"])


def test_a_leak_fails_the_run_regardless_of_recall() -> None:
    made = run([leaking_probe()], make_store=LeakyStore)
    summary, results = made
    assert summary.recall_at_k == 1.0
    assert summary.leaks > 0
    assert summary.passed is False
    assert results[0].leaked == ["r2"]
    assert made.verdict.word == "FAIL"


def test_negative_probe_scores_correctly_on_empty_result() -> None:
    # The sketch's own probe has nothing in its store, so every store passes it: a loaded suite
    # refuses such a probe, one built in Python is allowed.
    probe = Probe(name="n1", query="something nobody said", expect=[], given=[])
    summary, _ = run([probe], make_store=NullStore, check_store=False)
    assert summary.negative_correct == 1.0
    assert math.isnan(summary.recall_at_k)  # the sketch says 0.0 of no positive probe at all


def test_probes_do_not_share_state() -> None:
    first = Probe(name="a", query="x", given=[Record("r1", "x")], expect=["r1"])
    second = Probe(name="b", query="x", given=[], expect=[])
    _, results = run([first, second], make_store=SqliteStore)
    assert results[0].returned == ["r1"]
    assert results[1].returned == []


def test_duplicate_probe_names_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("- {name: a, query: q}\n- {name: a, query: r}\n")
    with pytest.raises(ValueError, match="duplicate probe names"):
        load(tmp_path / "p.yaml")


def probe_k3() -> Probe:
    return Probe(name="p", query="q", given=[Record("r1", "t")], expect=["r1"], k=3)


def test_distinct_at_k_penalizes_near_duplicates() -> None:
    hits = [SpecHit(Record(f"r{n}", "The ferry leaves at ten."), 1.0) for n in (1, 2, 3)]
    result = evaluate(probe_k3(), hits, is_stale=lambda r: False)
    assert result.distinct == pytest.approx(1 / 3)  # one unit in three places


def test_distinct_at_k_sees_phrasings_that_differ_in_punctuation() -> None:
    # Equal lower-cased text, as in the sketch, would call these three units.
    texts = ("The ferry leaves at ten.", "the ferry leaves at ten", "- The Ferry leaves at ten!")
    hits = [SpecHit(Record(f"r{n}", text), 1.0) for n, text in enumerate(texts, 1)]
    assert evaluate(probe_k3(), hits).distinct == pytest.approx(1 / 3)


def test_is_stale_marks_what_the_probe_does_not() -> None:
    hits = [SpecHit(Record("r1", "t"), 1.0), SpecHit(Record("r2", "u"), 0.5)]
    graded = evaluate(probe_k3(), hits, is_stale=lambda r: r.id == "r2")
    assert graded.stale == ["r2"]
    given = [Record("r1", "old tea"), Record("r2", "new tea")]
    probe = Probe(name="p", query="tea", given=given, expect=["r2"])
    made = run([probe], make_store=ListStore, is_stale=lambda r: r.id == "r1")
    assert made.staleness == 0.5  # one of two hits


def test_retrieve_grades_a_pipeline_and_never_sees_what_is_expected() -> None:
    seen: list[Any] = []

    def retrieve(store: ListStore, view: Any) -> list[SpecHit]:
        seen.append(view)
        return store.search(view.query, k=view.k, scope=view.scope)[::-1]

    given = [Record("r1", "tea"), Record("r2", "tea too")]
    probe = Probe(name="p", query="tea", given=given, expect=["r1"], tags=["direct"])
    _, results = run([probe], make_store=ListStore, retrieve=retrieve)
    assert results[0].returned == ["r2", "r1"]
    assert results[0].first_rank == 2
    fields = {name for view in seen for name in view.__slots__}
    assert fields == {"query", "k", "scope", "filter", "now"}


def test_summarize_equals_the_summary_of_the_run() -> None:
    given = [Record("r1", "tea"), Record("r2", "tea too"), Record("r3", "milk")]
    asked = [
        Probe(name="a", query="too", given=given, expect=["r2"]),
        Probe(name="b", query="tea", given=given, expect=["r2"], stale=["r1"]),
        Probe(name="c", query="bread", given=given),
        Probe(name="d", query="milk", given=given),
    ]
    summary, results = run(asked, make_store=ListStore)
    # a: rank 1; b: rank 2, one of two hits stale; c: nothing, as it should; d: answered.
    assert (summary.recall_at_k, summary.mrr, summary.negative_correct) == (1.0, 0.75, 0.5)
    assert summary.staleness == pytest.approx(1 / 3)
    assert summarize(results) == summary


def test_a_missing_list_of_results_is_undefined_and_not_perfect() -> None:
    nothing = summarize([])
    assert nothing.probes == 0
    assert math.isnan(nothing.recall_at_k)
    assert math.isnan(nothing.distinct_at_k)
    assert math.isnan(nothing.negative_correct)


HIT = st.tuples(
    st.sampled_from(["r0", "r1", "r2", None]),
    st.sampled_from(["own-1", "own-2", None]),
    st.sampled_from([None, None, "canary"]),
)


@settings(max_examples=25)
@given(st.lists(HIT, max_size=6), st.lists(HIT, max_size=2), st.integers(1, 4))
def test_each_result_is_what_its_tables_hold(
    first: list[tuple[Any, ...]], again: list[tuple[Any, ...]], k: int
) -> None:
    records = [Record(f"r{n}", f"text {n}") for n in range(3)]
    probe = Probe("p", "text", records, ["r0"], ["r1"], stale=["r2"], k=k)
    empty = Probe("q", "text", records, ["r0"])
    rows = [
        {"probe": "p", "repeat": repeat, "rank": rank, "record_id": own, "store_id": told,
         "text": f"text {rank}", "canary": canary}
        for repeat, answer in enumerate((first, again))
        for rank, (own, told, canary) in enumerate(answer, 1)
    ]  # fmt: skip
    names = ("probe", "repeat", "rank", "record_id", "store_id", "text", "canary")
    hits = conform(pd.DataFrame(rows[::-1], columns=list(names)), HITS)  # in any order
    calls = pd.DataFrame({"probe": ["p", "q"], "repeat": 0, "k": [k, 5], "status": "ok"})
    suite = Suite.of([probe, empty])
    qrels = suite.qrels(hits)
    results = score(hits[hits["repeat"] == 0], qrels, calls)
    found, nothing = spec_results(results, hits, qrels, suite)
    shown = [own or told or f"text {rank}" for rank, (own, told, _) in enumerate(first, 1)]
    leaking = [own == "r1" or canary is not None for own, _, canary in first]
    assert found.returned == shown[:k]
    assert found.leaked == list(
        dict.fromkeys(name for name, leaks in zip(shown, leaking, strict=True) if leaks)
    )
    assert found.stale == [own for own, _, _ in first[:k] if own == "r2"]
    assert (nothing.returned, nothing.leaked, nothing.stale) == ([], [], [])
