"""The summary against sums by hand, and what is undefined."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from report_fixtures import make_run

from memeval import frames
from memeval.errors import FrameError
from memeval.metrics import score
from memeval.rankings import score_rankings
from memeval.report import markdown, plain
from memeval.stats.bootstrap import bca_mean, bca_ratio
from memeval.summary import GATES, METRICS, TARGETS, summarize

ORDER = """recall_all recall_any recall_fraction mrr ndcg precision distinct staleness leaks
leak_rate contract errors abstention abstention_auroc zero_result_rate latency_p50_ms latency_p95_ms
latency_p99_ms cold_p50_ms write_p50_ms visible_p50_ms context_tokens llm_calls flaky_rate
not_stored not_visible not_supported""".split()


def results(n: int = 4, **columns: Any) -> pd.DataFrame:
    """Results of n positive probes that found one of one expected record at rank 1 of 5."""
    base = {
        "probe": [f"p{i}" for i in range(n)],
        "kind": "positive",
        "status": "ok",
        "k": 5,
        "n_expected": 1,
        "n_returned": 5,
        "recall_all": True,
        "rr": 1.0,
        "passed": True,
    }
    return frames.conform(pd.DataFrame(base | columns), frames.RESULTS)


def of(frame: pd.DataFrame, metric: str) -> Any:
    return frame.set_index("metric").loc[metric]


def test_every_metric_has_its_row_in_a_fixed_order() -> None:
    for table in (results(), frames.empty(frames.RESULTS)):
        summary = summarize(table)
        assert summary["metric"].tolist() == ORDER == list(METRICS)
        assert_frame_equal(summary.iloc[:0], frames.empty(frames.SUMMARY))


def test_targets_are_those_of_the_definitions() -> None:
    wanted = {"recall_all": 0.85, "mrr": 0.7, "distinct": 0.8, "staleness": 0.05, "leaks": 0}
    assert dict(TARGETS) == wanted
    summary = summarize(results(recall_all=False))
    assert summary.dropna(subset="target").set_index("metric")["target"].to_dict() == wanted
    assert pd.isna(of(summary, "recall_all")["passed"])  # a target gates nothing


def test_nothing_measured_is_na_over_0_and_neither_passes_nor_fails() -> None:
    floors = dict.fromkeys(METRICS, 0.5)
    summary = summarize(frames.empty(frames.RESULTS), floors=floors).set_index("metric")
    told = ["not_supported"]  # 0 of 0 is a count like any other
    assert summary.drop(told)[["value", "low", "high", "passed"]].isna().all(axis=None)
    assert (summary["n"] == 0).all()


def test_only_negatives_leave_recall_and_mrr_undefined() -> None:
    summary = summarize(score_rankings([[], ["x"]], [[], []]), floors={"mrr": 0.5})
    for metric in ("recall_all", "recall_any", "recall_fraction", "mrr", "ndcg", "staleness"):
        assert of(summary, metric)[["value", "low", "high", "passed"]].isna().all()
        assert of(summary, metric)["n"] == 0
    assert of(summary, "abstention")[["value", "n"]].tolist() == [0.5, 2]


def test_a_negative_counts_only_in_its_own_metric() -> None:
    summary = summarize(score_rankings([["a"], ["plums"]], [["a"], []]))
    assert of(summary, "recall_all")[["value", "n"]].tolist() == [1.0, 1]
    assert of(summary, "abstention")[["value", "n"]].tolist() == [0.0, 1]


def test_errors_stay_in_the_denominator() -> None:
    hits = pd.DataFrame({"probe": ["p0", "p1"], "rank": 1, "record_id": "a"})
    names = [f"p{i}" for i in range(4)]
    qrels = pd.DataFrame({"probe": names, "record_id": "a", "label": "expected"})
    status = ["ok", "ok", "failed", "timeout"]
    calls = pd.DataFrame({"probe": names, "k": 5, "status": status})
    summary = summarize(score(hits, qrels, calls), hits, qrels, calls)
    assert of(summary, "recall_all")[["value", "n"]].tolist() == [0.5, 4]
    assert of(summary, "errors")[["value", "n"]].tolist() == [2, 4]
    assert of(summary, "zero_result_rate")[["value", "n"]].tolist() == [0.0, 4]
    assert of(summarize(score(hits, qrels, calls)), "errors")["value"] == 2


def test_shares_have_the_wilson_interval(shared: Path) -> None:
    oracles = json.loads((shared / "oracles" / "metric_oracles.json").read_text(encoding="utf-8"))
    for case in oracles["proportions"]:
        n, hits = case["n"], case["hits"]
        found = np.arange(n) < hits
        summary = summarize(
            results(n, recall_all=found, recall_any=found, n_returned=np.where(found, 0, 5))
        )
        for metric in ("recall_all", "recall_any", "zero_result_rate"):
            row = of(summary, metric)
            assert row["value"] == hits / n and row["n"] == n
            assert row[["low", "high"]].tolist() == pytest.approx(case["wilson95"], abs=1e-12)
        assert of(summary, "mrr")[["low", "high"]].isna().all()


def test_means_are_over_positive_probes() -> None:
    table = results(
        recall_fraction=[1, 0.5, 0, 0.5],
        rr=[1, 0.5, 0, 0.25],
        ndcg=[1, 0.6, 0, 0.4],
        precision=[0.2, 0.2, 0, 0.2],
        distinct=[1.0, 0.5, None, 0.6],
    )
    summary = summarize(table)
    # (1 + .5 + 0 + .5)/4, (1 + .5 + 0 + .25)/4, (1 + .6 + 0 + .4)/4, .6/4, (1 + .5 + .6)/3
    wanted = {
        "recall_fraction": (0.5, 4),
        "mrr": (0.4375, 4),
        "ndcg": (0.5, 4),
        "precision": (0.15, 4),
        "distinct": (0.7, 3),
    }
    for metric, (value, n) in wanted.items():
        row = of(summary, metric)
        assert row["value"] == pytest.approx(value, abs=1e-15) and row["n"] == n


SPREAD = {
    "recall_fraction": "recall_fraction",
    "mrr": "rr",
    "ndcg": "ndcg",
    "precision": "precision",
    "distinct": "distinct",
    "context_tokens": "context_tokens",
}


@pytest.mark.parametrize(("metric", "column"), SPREAD.items())
def test_means_over_probes_have_a_bootstrap_interval(metric: str, column: str) -> None:
    values = [1, 0.5, 0.25, 0.2, 0, 1, 1, 0.5, 1]
    row = of(summarize(results(10, **{column: [*values, None]})), metric)
    assert row["n"] == 9
    assert row[["low", "high"]].tolist() == list(bca_mean(values))
    assert row["low"] < row["value"] < row["high"]


@pytest.mark.parametrize("values", [[1, 0.5, 0.25, 0], [0.1 + 0.2, 0.3, 0.5, 0.25, 0]])
def test_below_five_distinct_values_a_mean_has_no_interval(values: list[float]) -> None:
    row = of(summarize(results(20 * len(values), rr=values * 20)), "mrr")
    assert row["n"] == 20 * len(values) and not pd.isna(row["value"])
    assert row[["low", "high"]].isna().all()


def test_staleness_has_an_interval_that_draws_probes() -> None:
    stale, hits = [0, 1, 0, 2, 0, 0, 1, 0], [5, 5, 3, 5, 2, 5, 4, 5]
    table = results(10, n_stale=[*stale, 2, 0], n_returned=[*hits, 5, 5])
    table.loc[[1, 3], "n_returned"] = 9  # only the top 5 count
    table.loc[8, "kind"] = "negative"
    table.loc[9, "status"] = "failed"
    row = of(summarize(table), "staleness")
    assert row[["value", "n"]].tolist() == [4 / 34, 34]
    # The failed search is a probe that can be drawn, with nothing in its top k.
    wanted = bca_ratio([*stale, 0], [*hits, 0])
    assert row[["low", "high"]].tolist() == list(wanted)
    assert wanted != bca_ratio(stale, hits)


def test_nothing_stale_has_no_interval_of_staleness() -> None:
    row = of(summarize(results(8, n_returned=[1, 2, 3, 4, 5, 5, 5, 5], n_stale=0)), "staleness")
    assert row["value"] == 0
    assert row[["low", "high"]].isna().all()


def test_a_report_shows_the_interval_or_that_there_are_too_few() -> None:
    run = make_run()  # rr: 1/2, 0, 1, 1/2, 0 are three values; latency: under 72 searches
    text = plain.summary_text(run)
    rows = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    for metric in ("mrr", "ndcg", "staleness", "latency_p95_ms"):
        assert " too few " in rows[metric], metric
    assert all(len(line) <= 80 for line in text.splitlines())
    page = markdown.summary_text(run)
    assert "none: too few distinct values" in page and "none: under 72 searches" in page


def test_values_do_not_depend_on_the_order_of_rows() -> None:
    # Added from the left 1 + 1e-16 + 1e-16 is 1, from the right it is more.
    table = results(3, rr=[1.0, 1e-16, 1e-16])
    assert_frame_equal(summarize(table[::-1]), summarize(table), check_exact=True)


def test_staleness_is_pooled_over_hits_in_the_top_k_of_positive_probes() -> None:
    table = results(
        kind=["positive", "positive", "negative", "positive"],
        status=["ok", "ok", "ok", "failed"],
        n_returned=[7, 2, 5, 3],
        n_stale=[1, 1, 5, 0],
    )
    # (1 + 1) stale hits of min(7, 5) + 2 places
    assert of(summarize(table), "staleness")[["value", "n"]].tolist() == [2 / 7, 7]


LABELS = pd.DataFrame(
    [
        ("p0", "f", "forbidden", "listed"),
        ("p0", "f", "forbidden", "listed"),
        ("p0", "d", "forbidden", "deleted"),
        ("p0", "c", "forbidden", "canary"),
        ("p1", "o1", "forbidden", "foreign_scope"),
        ("p1", "o2", "forbidden", "foreign_scope"),
        ("p2", "s", "stale", "superseded"),
        ("p3", "f", "forbidden", None),
    ],
    columns=["probe", "record_id", "label", "reason"],
)


def test_chances_of_a_leak_are_counted_and_bounded() -> None:
    summary = summarize(results(), qrels=LABELS)
    # p0: f, d, c; p1: its foreign scopes, once; p3: f without a reason
    assert of(summary, "leaks")[["value", "n", "passed"]].tolist() == [0, 5, True]
    assert of(summary, "leaks")[["low", "high"]].isna().all()
    rate = of(summary, "leak_rate")
    assert rate[["value", "n", "low"]].tolist() == [0, 3, 0]
    assert rate["high"] == pytest.approx(1 - 0.05 ** (1 / 3), abs=1e-12)
    assert pd.isna(rate["passed"])


def test_one_leak_breaks_the_gate() -> None:
    summary = summarize(results(n_leaked=[2, 0, 1, 0]), qrels=LABELS)
    assert of(summary, "leaks")[["value", "passed", "gate"]].tolist() == [3, False, True]
    rate = of(summary, "leak_rate")
    # p2 leaked without a label (a canary), so it could: 2 of p0, p1, p2, p3
    assert rate[["value", "n"]].tolist() == [0.5, 4]
    assert 0 < rate["low"] < 0.5 < rate["high"] < 1
    blind = summarize(results(n_leaked=[2, 0, 1, 0]))
    assert of(blind, "leaks")[["value", "n", "passed"]].tolist() == [3, 0, False]
    assert pd.isna(of(blind, "leak_rate")["value"])


def test_a_broken_contract_breaks_the_gate() -> None:
    assert of(summarize(results(n_contract=[0, 2, 0, 1])), "contract")["value"] == 3
    assert not of(summarize(results(n_contract=[0, 0, 0, 1])), "contract")["passed"]
    assert of(summarize(results()), "contract")["passed"]
    assert set(summarize(results()).query("gate")["metric"]) == {"leaks", "contract"} == GATES


def test_probes_that_are_not_supported_leave_every_denominator() -> None:
    status = ["ok", "ok", "ok", "not_supported"]
    table = results(status=status, n_returned=[5, 5, 5, 0], rr=[1, 1, 1, None])
    table["recall_all"] = table["recall_all"].where(table["status"] == "ok")
    calls = pd.DataFrame({"probe": table["probe"], "k": 5, "status": status, "llm_calls": 2})
    qrels = pd.DataFrame({"probe": ["p3"], "record_id": "f", "label": "forbidden"})
    summary = summarize(table, qrels=qrels, calls=calls)
    assert of(summary, "not_supported")[["value", "n"]].tolist() == [1, 4]
    for metric in ("recall_all", "mrr", "contract", "errors", "zero_result_rate", "llm_calls"):
        assert of(summary, metric)["n"] == 3, metric
    assert of(summary, "leaks")["n"] == 0


def test_latency_quantiles_are_median_unbiased() -> None:
    # Hyndman-Fan 8: position q (n + 1/3) + 1/3. n = 10: .5 -> 5.5; .95 -> 10.15, kept at 10.
    summary = summarize(results(11, latency_ms=[*range(1, 11), None]))
    assert of(summary, "latency_p50_ms")[["value", "n"]].tolist() == [pytest.approx(5.5), 10]
    assert of(summary, "latency_p95_ms")["value"] == 10
    hundred = summarize(results(100, latency_ms=np.arange(1, 101)))
    # .95 * 100.333 + .333 = 95.65; .99 * 100.333 + .333 = 99.6633
    assert of(hundred, "latency_p95_ms")["value"] == pytest.approx(95.65)
    assert of(hundred, "latency_p99_ms")["value"] == pytest.approx(99.66333333)
    # Ranks 90 and 100 of 100, and 40 and 61 for the median: binomial tails below 2.5 %.
    assert of(hundred, "latency_p95_ms")[["low", "high"]].tolist() == [90, 100]
    assert of(hundred, "latency_p50_ms")[["low", "high"]].tolist() == [40, 61]
    assert of(hundred, "latency_p99_ms")[["low", "high"]].isna().all()
    assert of(summary, "latency_p95_ms")[["low", "high"]].isna().all()


def test_context_tokens_are_not_read_off_empty_answers_alone() -> None:
    known = summarize(results(context_tokens=[10, None, 20, 0], n_returned=[5, 5, 5, 0]))
    assert of(known, "context_tokens")[["value", "n"]].tolist() == [10, 3]
    without = summarize(results(context_tokens=[None, None, None, 0], n_returned=[5, 5, 5, 0]))
    assert pd.isna(of(without, "context_tokens")["value"])
    silent = summarize(results(context_tokens=0, n_returned=0))
    assert of(silent, "context_tokens")[["value", "n"]].tolist() == [0, 4]


def test_llm_calls_are_as_told() -> None:
    calls = pd.DataFrame({"probe": [f"p{i}" for i in range(4)], "k": 5})
    told = calls.assign(llm_calls=pd.array([1, 2, None, 3], dtype="Int64"))
    assert of(summarize(results(), calls=told), "llm_calls")[["value", "n"]].tolist() == [2, 3]
    assert pd.isna(of(summarize(results(), calls=calls), "llm_calls")["value"])


def test_flaky_rate_is_over_the_probes_asked_more_than_once() -> None:
    table = results(flaky=[True, False, False, False])
    calls = pd.DataFrame({"probe": ["p0", "p0", "p1", "p1", "p2", "p3"], "k": 5})
    calls["repeat"] = [0, 1, 0, 1, 0, 0]
    row = of(summarize(table, calls=calls), "flaky_rate")
    assert row[["value", "n"]].tolist() == [0.5, 2]
    once = calls.drop_duplicates("probe")
    assert pd.isna(of(summarize(table, calls=once), "flaky_rate")["value"])


def scored(scores: dict[str, list[float | None]], **options: Any) -> Any:
    """Row of abstention_auroc; probes named n are negative."""
    hits = pd.DataFrame(
        [(p, i, "x", s) for p, of_p in scores.items() for i, s in enumerate(of_p, 1)],
        columns=["probe", "rank", "record_id", "score"],
    )
    positive = [p for p in scores if not p.startswith("n")]
    qrels = pd.DataFrame({"probe": positive, "record_id": "a", "label": "expected"})
    calls = pd.DataFrame({"probe": list(scores), "k": 5})
    summary = summarize(score(hits, qrels, calls), hits[::-1], qrels, calls, **options)
    return of(summary, "abstention_auroc")


def test_auroc_compares_top_scores_with_an_empty_answer_below_any() -> None:
    # pairs (p > n): 3>2, 3>none, 1<2, 1>none: 3 of 4; only the first hit counts
    found = scored({"p1": [3.0, 9.0], "p2": [1.0], "n1": [2.0], "n2": []})
    assert found[["value", "n"]].tolist() == [0.75, 4]
    assert found[["low", "high"]].isna().all()
    # both empty: a tie is half
    assert scored({"p1": [], "n1": []})["value"] == 0.5


def test_auroc_of_distances_counts_the_other_way_round() -> None:
    near = {"p1": [0.1], "p2": [0.2], "n1": [0.9], "n2": []}
    assert scored(near, score_order="low")["value"] == 1.0
    # as if higher were better: only the empty answer is below
    assert scored(near)["value"] == 0.5
    assert pd.isna(scored(near, score_order=None)["value"])


@pytest.mark.parametrize(
    "scores",
    [
        {"p1": [None], "n1": [2.0]},
        {"p1": [math.nan, 3.0], "n1": []},
        {"p1": [1.0]},
        {"n1": [1.0]},
    ],
)
def test_auroc_is_undefined_without_scores_or_without_a_side(
    scores: dict[str, list[float | None]],
) -> None:
    assert scored(scores)[["value", "n"]].tolist() == [pytest.approx(math.nan, nan_ok=True), 0]


def test_auroc_is_of_the_first_repeat() -> None:
    hits = pd.DataFrame(
        {"probe": ["p", "p", "n"], "rank": 1, "record_id": "x", "repeat": [0, 1, 0]}
    )
    hits["score"] = [5.0, 0.0, 1.0]
    qrels = pd.DataFrame({"probe": ["p"], "record_id": "a", "label": "expected"})
    calls = pd.DataFrame({"probe": ["p", "p", "n"], "k": 5, "repeat": [0, 1, 0]})
    table = score(hits, qrels, calls)
    for known in (calls, None):
        summary = summarize(table, hits[::-1], qrels, known)
        assert of(summary, "abstention_auroc")["value"] == 1.0


@pytest.mark.parametrize(
    ("floors", "passed"),
    [
        ({"recall_all": 0.75}, True),
        ({"recall_all": 0.76}, False),
        ({"latency_p50_ms": 2.0}, True),
        ({"latency_p50_ms": 1.9}, False),
        ({"ndcg": 0.1}, pd.NA),
    ],
)
def test_floors_are_kept_broken_or_not_judged(floors: dict[str, float], passed: Any) -> None:
    table = results(recall_all=[True, True, True, False], latency_ms=2.0)
    row = of(summarize(table, floors=floors), next(iter(floors)))
    assert row["floor"] == next(iter(floors.values()))
    assert row["passed"] is passed or row["passed"] == passed


def test_a_gate_is_kept_only_at_zero_whatever_the_floor() -> None:
    summary = summarize(results(n_leaked=1), floors={"leaks": 10})
    assert not of(summary, "leaks")["passed"]


@pytest.mark.parametrize("what", ["targets", "floors"])
def test_an_unknown_metric_is_named_with_the_nearest(what: str) -> None:
    with pytest.raises(FrameError, match=f"{what}: 'recall_al' .* did you mean 'recall_all'"):
        summarize(results(), **{what: {"recall_al": 0.8}})


def test_inputs_are_not_changed() -> None:
    table, labels, floors = results(), LABELS.copy(), {"mrr": 0.5}
    before = table.copy()
    summarize(table, qrels=labels, floors=floors)
    assert_frame_equal(table, before)
    assert_frame_equal(labels, LABELS)
    assert floors == {"mrr": 0.5}


def test_lost_records_are_counted_by_how_they_were_lost() -> None:
    status = ["ok", "not_stored", "not_visible", "not_visible"]
    summary = summarize(results(status=status))
    assert of(summary, "not_stored")["value"] == 1
    assert of(summary, "not_visible")["value"] == 2
    assert of(summary, "errors")["value"] == 0
