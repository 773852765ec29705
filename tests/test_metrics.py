"""Every number of the results against numbers from elsewhere."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from memeval import frames
from memeval.errors import FrameError
from memeval.metrics import score

Groups = Sequence[str | Sequence[str]]
Tables = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]
SHARES = ["recall_fraction", "precision", "rr", "ndcg", "distinct", "chance"]


def tables(
    answers: Mapping[str, Sequence[str | None]],
    expected: Mapping[str, Groups] | None = None,
    k: int = 5,
    forbidden: Mapping[str, Sequence[str]] | None = None,
    stale: Mapping[str, Sequence[str]] | None = None,
) -> Tables:
    """Hits without texts, labels and calls from lists of record ids."""
    hits = [
        {"probe": probe, "rank": rank, "record_id": record, "text": ""}
        for probe, returned in answers.items()
        for rank, record in enumerate(returned, 1)
    ]
    judged = [
        {"probe": probe, "record_id": record, "label": "expected", "group": number}
        for probe, groups in (expected or {}).items()
        for number, group in enumerate(groups)
        for record in ([group] if isinstance(group, str) else group)
    ]
    for label, labelled in (("forbidden", forbidden or {}), ("stale", stale or {})):
        judged += [
            {"probe": probe, "record_id": record, "label": label}
            for probe, records in labelled.items()
            for record in records
        ]
    calls = pd.DataFrame({"probe": list(answers), "k": k})
    columns = (["probe", "rank", "record_id", "text"], ["probe", "record_id", "label", "group"])
    return pd.DataFrame(hits, columns=columns[0]), pd.DataFrame(judged, columns=columns[1]), calls


def one(answer: Sequence[str | None], expected: Groups = (), k: int = 5, **labels: Any) -> Any:
    """Row of a single probe."""
    named = {label: {"p": records} for label, records in labels.items()}
    return score(*tables({"p": answer}, {"p": expected}, k, **named)).iloc[0]


def slow(answer: Sequence[str], groups: Groups, k: int) -> dict[str, float]:
    """Spell out the definitions, one word after the other."""
    top = list(answer)[:k]
    sets = [{group} if isinstance(group, str) else set(group) for group in groups]
    ranks = []
    for members in sets:
        places = [place for place, record in enumerate(top, 1) if record in members]
        if places:
            ranks.append(min(places))
    dcg = sum(1 / math.log2(rank + 1) for rank in sorted(ranks))
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(sets)) + 1))
    return {
        "recall_all": float(len(ranks) == len(sets)),
        "recall_any": float(bool(ranks)),
        "recall_fraction": len(ranks) / len(sets),
        "precision": len(set(top) & set().union(*sets)) / k,
        "rr": 1 / min(ranks) if ranks else 0.0,
        "ndcg": dcg / ideal,
    }


def draw(rng: random.Random) -> tuple[list[str], list[str | list[str]], int]:
    """One random answer (with ids that come back twice), groups and cutoff."""
    pool = [f"r{i}" for i in range(rng.randint(3, 14))]
    answer = rng.choices(pool, k=rng.randint(0, 12))
    wanted = rng.sample(pool, rng.randint(1, min(6, len(pool))))
    groups: list[str | list[str]] = []
    while wanted:
        size = min(rng.choice([1, 1, 1, 2, 3]), len(wanted))
        group, wanted = wanted[:size], wanted[size:]
        groups.append(group if size > 1 else group[0])
    return answer, groups, rng.choice([1, 2, 3, 5, 10])


@pytest.fixture(scope="module")
def oracles(shared: Path) -> dict[str, Any]:
    return json.loads((shared / "oracles" / "metric_oracles.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_list_cases_agree_with_trec_eval(oracles: dict[str, Any], k: int) -> None:
    for case in oracles["cases"]:
        answer = case.get("returned") or case.get("ranking_as_trec_eval") or []
        wanted = [record for record, gain in case["expected"].items() if gain > 0]
        row, reference = one(answer, wanted, k), case["trec_eval"]
        if not wanted:
            assert row["kind"] == "negative" and pd.isna(row["recall_fraction"]), case["name"]
            assert row["abstained"] == (not answer)
            continue
        assert row["recall_fraction"] == reference[f"recall_{k}"], case["name"]
        assert row["precision"] == reference[f"P_{k}"], case["name"]
        assert float(row["recall_any"]) == reference[f"success_{k}"], case["name"]
        first = reference["recip_rank"] if reference[f"success_{k}"] else 0.0
        assert row["rr"] == first, case["name"]
        if set(case["expected"].values()) <= {0, 1, -1}:  # grades are not ours: gain is 0 or 1
            assert row["ndcg"] == reference[f"ndcg_cut_{k}"], case["name"]
        if k == 5:
            assert row["recall_all"] == case["seed_k5"]["hit_all"], case["name"]
            assert row["rr"] == case["seed_k5"]["rr_cut"], case["name"]


def test_a_record_that_comes_back_twice_keeps_its_places_and_counts_once(
    oracles: dict[str, Any],
) -> None:
    for case in oracles["duplicates"]:
        row = one(case["returned"], case["expected"], 5)
        reference = case["positions_kept_first_occurrence_counts"]
        found = {
            "recall_5": row["recall_fraction"],
            "recip_rank": row["rr"],
            "ndcg_cut_5": row["ndcg"],
            "P_5": row["precision"],
            "success_5": float(row["recall_any"]),
        }
        assert found == reference, case["name"]


def test_a_probe_without_hits_counts_as_zero_and_a_stranger_is_refused(
    oracles: dict[str, Any],
) -> None:
    case = oracles["several_queries"]
    answers = {
        probe: sorted(scores, key=lambda record, s=scores: -s[record])
        for probe, scores in case["run"].items()
    }
    expected = {probe: list(gains) for probe, gains in case["qrels"].items()}
    with pytest.raises(FrameError, match="'q9'"):
        hits = tables(answers, expected)[0]
        score(hits, *tables({probe: [] for probe in expected}, expected)[1:])
    asked = {probe: answers.get(probe, []) for probe in expected}
    results = score(*tables(asked, expected))
    means = results[["recall_fraction", "rr", "ndcg"]].mean()
    wanted = case["mean_over_all_judged_3 (trec_eval -c)"]
    assert means.tolist() == [wanted["recall_5"], wanted["recip_rank"], wanted["ndcg_cut_5"]]


def random_runs(n: int, seed: int) -> list[tuple[list[str], list[str]]]:
    """Answers without repeated ids, and plain expected ids."""
    rng = random.Random(seed)
    drawn = []
    for _ in range(n):
        pool = [f"r{i}" for i in range(rng.randint(3, 30))]
        answer = rng.sample(pool, rng.randint(1, len(pool)))
        drawn.append((answer, rng.sample(pool, rng.randint(1, min(9, len(pool))))))
    return drawn


@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_equal_to_trec_eval_bit_for_bit(k: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    drawn = {f"q{i}": run for i, run in enumerate(random_runs(200, seed=k))}
    qrels = {probe: dict.fromkeys(wanted, 1) for probe, (_, wanted) in drawn.items()}
    run = {
        probe: {record: float(len(answer) - place) for place, record in enumerate(answer)}
        for probe, (answer, _) in drawn.items()
    }
    wanted = {f"recall.{k}", f"P.{k}", f"ndcg_cut.{k}", f"success.{k}", "recip_rank"}
    judged = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)
    answers = {probe: answer for probe, (answer, _) in drawn.items()}
    results = score(*tables(answers, {probe: w for probe, (_, w) in drawn.items()}, k))
    assert len(judged) == 200
    for row in results.itertuples():
        reference = judged[row.probe]
        assert row.recall_fraction == reference[f"recall_{k}"]
        assert row.precision == reference[f"P_{k}"]
        assert row.ndcg == reference[f"ndcg_cut_{k}"]
        assert float(row.recall_any) == reference[f"success_{k}"]
        assert row.rr == (reference["recip_rank"] if row.recall_any else 0.0)


@pytest.mark.filterwarnings("ignore::Warning")  # numba warns of the code of ranx, not of ours
def test_equal_to_ranx_where_the_definitions_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)  # compiling takes a minute, this none
    ranx = pytest.importorskip("ranx")
    drawn = {f"q{i}": run for i, run in enumerate(random_runs(20, seed=11))}
    qrels = ranx.Qrels({probe: dict.fromkeys(wanted, 1) for probe, (_, wanted) in drawn.items()})
    run = ranx.Run(
        {
            probe: {record: float(len(answer) - place) for place, record in enumerate(answer)}
            for probe, (answer, _) in drawn.items()
        }
    )
    pairs = {
        "recall@5": "recall_fraction",
        "mrr@5": "rr",
        "ndcg@5": "ndcg",
        "precision@5": "precision",
        "hit_rate@5": "recall_any",
    }
    reference = ranx.evaluate(qrels, run, list(pairs))
    answers = {probe: answer for probe, (answer, _) in drawn.items()}
    results = score(*tables(answers, {probe: w for probe, (_, w) in drawn.items()}))
    for theirs, ours in pairs.items():
        assert results[ours].astype(float).mean() == pytest.approx(reference[theirs], abs=1e-12)


def trec_example(folder: Path) -> Tables:
    """Rank as trec_eval does: by score, where scores tie by document id, descending."""
    columns = ["probe", "q0", "record_id", "place", "score", "tag"]
    run = pd.read_csv(folder / "results.test", sep=r"\s+", names=columns, dtype=str)
    run["score"] = run["score"].astype("float32")
    run = run.sort_values(["probe", "score", "record_id"], ascending=[True, False, False])
    run["rank"] = run.groupby("probe").cumcount() + 1
    labels = ["probe", "q0", "record_id", "gain"]
    qrels = pd.read_csv(folder / "qrels.test", sep=r"\s+", names=labels, dtype=str)
    qrels = qrels[(qrels["gain"] != "0") & qrels["probe"].isin(run["probe"])]
    calls = pd.DataFrame({"probe": run["probe"].unique(), "k": 10})
    return run, qrels.assign(label="expected"), calls


def test_example_of_trec_eval(shared: Path) -> None:
    hits, qrels, calls = trec_example(shared / "data" / "trec_eval")
    at_10 = score(hits, qrels, calls)
    everything = score(hits, qrels, calls.assign(k=1000))
    assert len(at_10) == 3
    # As trec_eval prints them for all three queries; its recip_rank is not cut at 10.
    assert round(at_10["recall_fraction"].mean(), 4) == 0.0317
    assert round(at_10["ndcg"].mean(), 4) == 0.3016
    assert round(everything["rr"].mean(), 4) == 0.4064


def test_a_slow_second_definition_agrees_on_random_answers() -> None:
    rng = random.Random(20)
    drawn = {f"p{i}": draw(rng) for i in range(200)}
    hits, qrels, calls = tables(
        {p: a for p, (a, _, _) in drawn.items()}, {p: g for p, (_, g, _) in drawn.items()}
    )
    results = score(hits, qrels, calls.assign(k=[k for _, _, k in drawn.values()]))
    for row, (answer, groups, k) in zip(results.itertuples(), drawn.values(), strict=True):
        for column, value in slow(answer, groups, k).items():
            found = float(getattr(row, column))
            assert found == pytest.approx(value, abs=1e-12), (answer, groups, k, column)


laws = settings(max_examples=25, deadline=None)
ids = st.sampled_from(["a", "b", "c", "d", "e", None])
answers_of_probes = st.dictionaries(
    st.sampled_from(["p", "q", "x"]), st.lists(ids, max_size=8), min_size=1
)
labels_of_probe = st.permutations(["a", "b", "c", "d"]).flatmap(
    lambda order: st.tuples(*[st.integers(0, 2)] * 3).map(
        lambda n: (order[: n[0]], order[n[0] :][: n[1]], order[n[0] :][: n[2]])
    )
)


@st.composite
def suites(draw_from: st.DrawFn) -> Tables:
    answers = draw_from(answers_of_probes)
    labels = {probe: draw_from(labels_of_probe) for probe in answers}
    expected, forbidden, stale = ({p: labels[p][i] for p in labels} for i in range(3))
    hits, qrels, calls = tables(answers, expected, 5, forbidden, stale)
    status = draw_from(st.lists(st.sampled_from(frames.STATUSES), min_size=3, max_size=3))
    texts = draw_from(st.lists(st.sampled_from(["Tea.", "tea", "Rum 7", "", None])))
    canary = draw_from(st.lists(st.sampled_from([None, None, "zq7"])))
    pad = [None] * len(hits)
    hits = hits.assign(text=(texts + pad)[: len(hits)], canary=(canary + pad)[: len(hits)])
    return hits, qrels, calls.assign(k=draw_from(st.integers(1, 6)), status=status[: len(calls)])


@laws
@given(suites())
def test_shares_lie_within_0_and_1_whatever_comes_back(suite: Tables) -> None:
    results = score(*suite)
    for column in SHARES:
        assert results[column].dropna().between(0, 1).all(), column
    counts = results[["n_expected", "n_returned", "n_leaked", "n_stale", "n_unknown"]]
    assert (counts >= 0).all(axis=None)
    assert (results["n_stale"] <= results[["k", "n_returned"]].min(axis=1)).all()
    assert (results["n_leaked"] <= results["n_returned"]).all()


@laws
@given(suites(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(suite: Tables, rng: random.Random) -> None:
    hits, qrels, calls = suite
    mixed = [f.sample(frac=1, random_state=rng.randrange(2**31)) for f in (hits, qrels)]
    assert_frame_equal(score(*mixed, calls), score(hits, qrels, calls), check_exact=True)
    back = score(hits, qrels, calls[::-1])
    assert_frame_equal(back[::-1].reset_index(drop=True), score(hits, qrels, calls))


@laws
@given(suites())
def test_renaming_ids_changes_nothing(suite: Tables) -> None:
    hits, qrels, calls = suite
    new = {"a": "zz", "b": "10", "c": "9", "d": "A", "e": "é"}
    renamed = (f.assign(record_id=f["record_id"].map(new)) for f in (hits, qrels))
    assert_frame_equal(score(*renamed, calls), score(hits, qrels, calls), check_exact=True)


@laws
@given(suites(), st.lists(ids, min_size=1, max_size=4))
def test_hits_past_k_change_only_leaks_counts_and_silence(
    suite: Tables, more: list[str | None]
) -> None:
    hits, qrels, calls = suite
    ends = hits.groupby("probe")["rank"].max()
    late = [
        {"probe": row.probe, "rank": max(row.k, ends.get(row.probe, 0)) + i, "record_id": record}
        for row in calls.itertuples()
        for i, record in enumerate(more, 1)
    ]
    free = ["n_returned", "n_leaked", "n_unknown", "abstained", "passed"]
    before = score(hits, qrels, calls).drop(columns=free)
    after = score(pd.concat([hits, pd.DataFrame(late)]), qrels, calls).drop(columns=free)
    assert_frame_equal(after, before, check_exact=True)


@laws
@given(suites())
def test_inputs_are_not_changed(suite: Tables) -> None:
    copies = [frame.copy(deep=True) for frame in suite]
    score(*suite)
    for frame, copy in zip(suite, copies, strict=True):
        assert_frame_equal(frame, copy)


def test_rank_comes_from_the_order_returned_not_from_the_score() -> None:
    hits, qrels, calls = tables({"p": ["b", "a"]}, {"p": ["b"]})
    by_distance = score(hits.assign(score=[0.10, 0.90]), qrels, calls)
    assert by_distance["rr"].tolist() == [1.0]
    assert_frame_equal(score(hits.assign(score=[math.nan, None]), qrels, calls), by_distance)


def test_first_rank_is_of_whichever_expected_record_comes_first() -> None:
    for expected in (["a", "b"], ["b", "a"]):
        row = one(["x", "b", "a"], expected, 3)
        assert (row["first_rank"], row["rr"]) == (2, 0.5)


def test_a_repeated_record_fills_two_places() -> None:
    row = one(["p", "p", "q"], ["p"], 3)
    assert (row["recall_fraction"], row["rr"]) == (1.0, 1.0)
    assert row["precision"] == 1 / 3  # p once in three places
    assert row["distinct"] == 2 / 3  # p and q in three places


def test_an_unknown_hit_keeps_its_rank_and_is_counted() -> None:
    row = one([None, "a"], ["a"], 2)
    assert (row["first_rank"], row["n_unknown"], row["n_returned"]) == (2, 1, 2)
    assert not one([None], [], 2)["abstained"]


def test_an_empty_answer_is_a_measured_miss_with_nothing_distinct() -> None:
    row = one([], ["a"])
    assert (row["recall_fraction"], row["rr"], row["ndcg"]) == (0.0, 0.0, 0.0)
    assert pd.isna(row["distinct"]) and pd.isna(row["first_rank"])
    assert not row["passed"]


def test_negative_probes_have_no_recall_and_positive_probes_no_abstention() -> None:
    results = score(*tables({"neg": [], "pos": ["a"]}, {"pos": ["a"]}))
    retrieval = ["recall_all", "recall_any", "recall_fraction", "precision", "rr", "ndcg"]
    assert results.loc[0, [*retrieval, "first_rank"]].isna().all()
    assert results.loc[1, retrieval].notna().all()
    assert results["abstained"].tolist() == [True, pd.NA]
    assert results["passed"].tolist() == [True, True]


def test_any_member_meets_an_any_of_group_and_each_counts_as_relevant() -> None:
    row = one(["x", "b", "a", "c"], [["a", "b"], "c"], 4)
    # Groups {a, b} at rank 2 and {c} at rank 4; three relevant records in four places.
    assert (row["n_expected"], row["recall_fraction"], row["precision"]) == (2, 1.0, 0.75)
    wanted = (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    assert row["ndcg"] == pytest.approx(wanted, abs=1e-15)


def test_expected_rows_without_group_are_a_group_each() -> None:
    hits, qrels, calls = tables({"p": ["a", "x"]}, {"p": ["a", "b"]})
    row = score(hits, qrels.drop(columns="group"), calls).iloc[0]
    assert (row["n_expected"], row["recall_fraction"]) == (2, 0.5)


def test_leaks_count_in_the_whole_answer_once_per_record() -> None:
    row = one(["a", "x", "f", "f"], ["a"], k=1, forbidden=["f", "g"])
    assert (row["n_leaked"], row["recall_all"], row["passed"]) == (1, True, False)


def test_a_canary_is_a_leak_whatever_the_record() -> None:
    hits, qrels, calls = tables(
        {"p": ["a", "f", None, None, None, None]}, {"p": ["a"]}, k=1, forbidden={"p": ["f"]}
    )
    hits = hits.assign(canary=[None, *["zq7"] * 5], store_id=["1", "2", "9", "9", None, None])
    # f is forbidden and carries one: once. Store id 9 twice: once. The nameless: two.
    assert score(hits, qrels, calls)["n_leaked"].tolist() == [4]
    assert score(hits.assign(canary=""), qrels, calls)["n_leaked"].tolist() == [1]


def test_stale_hits_count_in_the_top_k_only_and_are_no_leak() -> None:
    row = one(["a", "s", "s", "s"], ["a"], k=3, stale=["s"])
    assert (row["n_stale"], row["n_leaked"], row["passed"]) == (2, 0, True)


def test_units_of_the_author_go_before_the_texts() -> None:
    hits, qrels, calls = tables({"p": ["a", "b", "c", "d"]})
    texts = ["Lunch is at the bar.", "lunch is at the bar", "Lunch is at the bar!", "Tea at 5."]
    worded = hits.assign(text=texts)
    assert score(worded, qrels, calls)["distinct"].tolist() == [0.5]
    labelled = worded.assign(unit=["lunch", "dinner", None, None])
    # lunch, dinner, the third text, the fourth text
    assert score(labelled, qrels, calls)["distinct"].tolist() == [1.0]
    assert score(labelled.assign(unit="one"), qrels, calls)["distinct"].tolist() == [0.25]


def test_without_texts_distinct_and_tokens_are_not_known() -> None:
    hits, qrels, calls = tables({"p": ["a", "b"], "q": []})
    bare = score(hits.drop(columns="text"), qrels, calls)
    assert bare["distinct"].isna().all()
    assert bare["context_tokens"].tolist() == [pytest.approx(math.nan, nan_ok=True), 0.0]


def test_tokens_are_those_of_the_top_k() -> None:
    hits, qrels, calls = tables({"p": ["a", "b", "c"], "q": []}, k=2)
    hits = hits.assign(text=["Tea at five.", "No.", "Out of sight"])
    # "Tea at five ." and "No .": 4 + 2; an empty answer takes none.
    assert score(hits, qrels, calls)["context_tokens"].tolist() == [6.0, 0.0]
    letters = score(hits, qrels, calls, count_tokens=len)
    assert letters["context_tokens"].tolist() == [15.0, 0.0]


def test_chance_is_the_closed_form_and_na_where_the_pool_is_not_known() -> None:
    hits, qrels, calls = tables(
        {"one": [], "two": [], "any": [], "not known": [], "neg": [], "tight": []},
        {"one": ["a"], "two": ["a", "b"], "any": [["a", "b"]], "not known": ["a"], "tight": ["a"]},
    )
    pool = pd.array([25, 12, 10, None, 10, 0], dtype="Int64")
    chance = score(hits, qrels, calls.assign(n_eligible=pool))["chance"]
    # 5/25; C(10,3)/C(12,5) = 120/792; 1 - C(8,5)/C(10,5) = 1 - 56/252
    assert chance[:3].tolist() == pytest.approx([0.2, 120 / 792, 1 - 56 / 252], abs=1e-12)
    assert chance[3:].isna().all()


@pytest.mark.parametrize("status", ["failed", "timeout", "not_stored", "not_visible"])
def test_a_failed_search_stays_in_the_denominator_as_zero(status: str) -> None:
    hits, qrels, calls = tables(
        {"pos": ["a", "s"], "neg": []}, {"pos": ["a"]}, stale={"pos": ["s"]}
    )
    results = score(hits, qrels, calls.assign(status=status))
    pos, neg = results.iloc[0], results.iloc[1]
    assert [pos["recall_all"], pos["recall_any"]] == [False, False]
    assert [pos[c] for c in ("recall_fraction", "precision", "rr", "ndcg")] == [0.0] * 4
    assert pd.isna(pos["distinct"]) and pd.isna(pos["context_tokens"]) and pos["n_stale"] == 0
    assert not neg["abstained"]
    assert results["passed"].tolist() == [False, False]


def test_a_leak_of_a_failed_search_is_still_a_leak() -> None:
    hits, qrels, calls = tables({"p": ["f"]}, {"p": ["a"]}, forbidden={"p": ["f"]})
    assert score(hits, qrels, calls.assign(status="not_visible"))["n_leaked"].tolist() == [1]


def test_a_probe_that_is_not_supported_leaves_every_denominator() -> None:
    hits, qrels, calls = tables({"p": ["f", None], "n": []}, {"p": ["a"]}, forbidden={"p": ["f"]})
    calls = calls.assign(
        status="not_supported", n_eligible=20, latency_ms=1.0, breaches="ids", k=[5, 5]
    )
    results = score(hits, qrels, calls)
    kept = ["probe", "kind", "status", "k", "n_expected", "flaky"]
    counts = [c for c in results if c.startswith("n_") and c != "n_expected"]
    assert (results[counts] == 0).all(axis=None)
    assert results.drop(columns=[*kept, *counts]).isna().all(axis=None)


def test_broken_checks_are_counted_and_fail_the_probe() -> None:
    hits, qrels, calls = tables({"p": ["a"], "q": ["a"]}, {"p": ["a"], "q": ["a"]})
    results = score(hits, qrels, calls.assign(breaches=["length ids", None]))
    assert results["n_contract"].tolist() == [2, 0]
    assert results["passed"].tolist() == [False, True]


def test_a_merged_row_lets_the_other_record_stand_for_the_expected_one() -> None:
    hits, qrels, calls = tables({"p": ["x", "b"]}, {"p": ["a", "b"]}, k=2)
    merged = {"probe": "p", "record_id": "b", "label": "expected", "group": 0, "merged": True}
    qrels = pd.concat([qrels.assign(merged=False), pd.DataFrame([merged])])
    row = score(hits, qrels, calls.assign(n_eligible=10)).iloc[0]
    # b stands for both groups: found in full, one record in two places.
    assert (row["recall_all"], row["n_expected"], row["precision"]) == (True, 2, 0.5)
    assert row["ndcg"] == pytest.approx(2 / math.log2(3) / (1 + 1 / math.log2(3)), abs=1e-15)
    assert row["chance"] == pytest.approx(1 / 45)  # two of ten drawn: C(10, 2) = 45 ways
    assert score(hits[1:].assign(rank=1), qrels, calls)["ndcg"].tolist() == [1.0]


def test_a_merged_record_may_be_forbidden() -> None:
    hits, qrels, calls = tables({"p": ["f"]}, {"p": ["a"]}, forbidden={"p": ["f"]})
    merged = {"probe": "p", "record_id": "f", "label": "expected", "group": 0, "merged": True}
    row = score(hits, pd.concat([qrels.assign(merged=False), pd.DataFrame([merged])]), calls)
    assert row[["recall_all", "n_leaked", "passed"]].to_numpy().tolist() == [[True, 1, False]]


def repeats(answers: Sequence[Sequence[str]], **columns: Any) -> Any:
    """Row of a probe that expects a and forbids f, asked once per answer."""
    hits = pd.concat(
        [tables({"p": a})[0].assign(repeat=number) for number, a in enumerate(answers)]
    )
    calls = pd.DataFrame({"probe": "p", "k": 2, "repeat": range(len(answers)), **columns})
    qrels = tables({"p": []}, {"p": ["a"]}, forbidden={"p": ["f"]})[1]
    return score(hits, qrels, calls[::-1]).iloc[0]


def test_repeats_give_the_first_measures_the_worst_leaks_and_flakiness() -> None:
    row = repeats([["a"], ["x", "a"], ["a", "f"]], latency_ms=[1.0, 9.0, 9.0])
    assert (row["rr"], row["n_returned"], row["latency_ms"]) == (1.0, 1, 1.0)
    assert (row["n_leaked"], row["flaky"], row["passed"]) == (1, True, False)
    broken = repeats([["a"], ["a"]], breaches=[None, "ids text"])
    assert (broken["n_contract"], broken["flaky"], broken["passed"]) == (2, True, False)


def test_repeats_that_agree_are_not_flaky() -> None:
    assert repeats([["a"], ["x", "a"]])[["flaky", "passed"]].tolist() == [False, True]
    assert repeats([["x"], []])[["flaky", "passed"]].tolist() == [False, False]


def test_a_probe_that_is_not_supported_is_not_flaky() -> None:
    status, breaches = ["not_supported", "ok", "ok"], [None, None, "ids"]
    row = repeats([[], ["a"], ["a", "f"]], status=status, breaches=breaches)
    assert row[["flaky", "n_leaked", "n_contract"]].tolist() == [False, 0, 0]
    assert pd.isna(row["passed"])


def test_frames_may_have_other_dtypes_extra_columns_and_repeated_labels() -> None:
    plain = tables({"p": ["a", None, "s"], "q": ["b"]}, {"p": ["a"]}, stale={"p": ["s"]})
    hits, qrels, calls = plain
    odd_hits = hits.astype({"probe": "category", "record_id": object, "rank": float})
    odd_qrels = pd.concat([qrels, qrels]).astype({"label": "category", "probe": object})
    odd = score(odd_hits.assign(note="n"), odd_qrels, calls.set_index(pd.Index([7, 7])))
    assert_frame_equal(odd, score(*plain))


def test_a_record_is_judged_for_its_own_probe_only() -> None:
    results = score(*tables({"p": ["a"], "q": ["a"]}, {"p": ["a"]}, forbidden={"q": ["a"]}))
    assert results["n_leaked"].tolist() == [0, 1]


def test_each_probe_has_its_own_k() -> None:
    hits, qrels, calls = tables({"p": ["x", "a"], "q": ["x", "a"]}, {"p": ["a"], "q": ["a"]})
    assert score(hits, qrels, calls.assign(k=[1, 2]))["recall_any"].tolist() == [False, True]


def test_no_rows_give_no_rows() -> None:
    empty = [frames.empty(schema) for schema in (frames.HITS, frames.QRELS, frames.CALLS)]
    assert_frame_equal(score(*empty), frames.empty(frames.RESULTS))
    _, _, calls = tables({"p": [], "q": []})
    assert score(empty[0], empty[1], calls)["abstained"].tolist() == [True, True]


def test_results_have_the_columns_and_dtypes_of_the_schema() -> None:
    results = score(*tables({"p": ["a"]}, {"p": ["a"]}))
    assert_frame_equal(results.iloc[:0], frames.empty(frames.RESULTS))


def test_docstring_lists_exactly_the_columns_of_the_schema() -> None:
    text = score.__doc__ or ""
    returns = text[text.index("Returns") : text.index("Raises")]
    assert re.findall(r"^ +- ``(\w+)`` : (\w+)", returns, re.MULTILINE) == [
        (column.name, column.dtype) for column in frames.RESULTS
    ]


BASE = tables({"p": ["a"]}, {"p": ["a"]})


@pytest.mark.parametrize(
    ("hits", "qrels", "calls", "said"),
    [
        ({"probe": "zz"}, {}, {}, r"hits: probe 'zz'.*not in calls"),
        ({"repeat": 1}, {}, {}, r"hits: probe 'p'.*not in calls \(repeat 1"),
        ({"rank": 0}, {}, {}, r"hits: probe 'p'.*rank below 1"),
        ({}, {"probe": "zz"}, {}, r"qrels: probe 'zz'.*not in calls"),
        ({}, {"record_id": None}, {}, r"qrels: probe 'p'.*without record_id"),
        ({}, {"label": None}, {}, r"qrels: probe 'p', record 'a'.*without record_id or label"),
        ({}, {"label": "good"}, {}, r"label.*good"),
        ({}, {}, {"k": 0}, r"calls: probe 'p'.*k below 1"),
        ({}, {}, {"probe": None}, r"calls: .*without probe"),
        ({}, {}, {"status": "broken"}, r"status.*broken"),
    ],
)
def test_faulty_frames_are_refused_by_name(
    hits: dict[str, Any], qrels: dict[str, Any], calls: dict[str, Any], said: str
) -> None:
    faulty = (f.assign(**change) for f, change in zip(BASE, (hits, qrels, calls), strict=True))
    with pytest.raises(FrameError, match=said):
        score(*faulty)


@pytest.mark.parametrize(
    ("table", "change", "said"),
    [
        (0, {}, r"hits: probe 'p'.*rank given twice.*rank 1"),
        (2, {}, r"calls: probe 'p'.*same repeat twice"),
        (1, {"group": 1}, r"qrels: probe 'p', record 'a'.*two groups"),
        (1, {"label": "forbidden"}, r"qrels: probe 'p', record 'a'.*both expected and forbidden"),
        (1, {"label": "stale"}, r"qrels: probe 'p', record 'a'.*both expected and forbidden"),
    ],
)
def test_rows_that_contradict_each_other_are_refused(
    table: int, change: dict[str, Any], said: str
) -> None:
    faulty = list(BASE)
    faulty[table] = pd.concat([BASE[table], BASE[table].assign(**change)])
    with pytest.raises(FrameError, match=said):
        score(*faulty)


def test_missing_columns_are_named() -> None:
    with pytest.raises(FrameError, match="record_id"):
        score(BASE[0].drop(columns="record_id"), *BASE[1:])


def test_many_probes_are_scored_as_one_by_one() -> None:
    rng = random.Random(5)
    drawn = {f"p{i}": draw(rng) for i in range(40)}
    parts = [score(*tables({p: a}, {p: g}, k)) for p, (a, g, k) in drawn.items()]
    hits, qrels, calls = tables(
        {p: a for p, (a, _, _) in drawn.items()}, {p: g for p, (_, g, _) in drawn.items()}
    )
    together = score(hits, qrels, calls.assign(k=np.array([k for _, _, k in drawn.values()])))
    assert_frame_equal(together, pd.concat(parts, ignore_index=True), check_exact=True)


HALF = "w\ud800"  # half a character: `conform` makes it U+FFFD
some_ids = st.lists(st.sampled_from(["a", "b", "c", "d", HALF, "w\ufffd", None]), max_size=20)


@st.composite
def told(draw_from: st.DrawFn) -> tuple[Tables, dict[str, tuple[Any, ...]]]:
    """Tables in order, and for each probe its answer, labels, cutoff and whether it was ok."""
    facts: dict[str, tuple[Any, ...]] = {}
    for probe in draw_from(st.permutations(["p", "q", HALF])):
        pool = draw_from(st.permutations(["a", "b", "c", "w\ufffd", *(f"m{i}" for i in range(20))]))
        sizes = draw_from(st.lists(st.sampled_from([1, 1, 2, 9]), max_size=3))
        ends = np.cumsum([0, *sizes]).tolist()
        groups = [list(pool[a:b]) for a, b in zip(ends, ends[1:], strict=False)]
        rest = pool[ends[-1] :]
        forbidden, stale = rest[: draw_from(st.integers(0, 2))], rest[1:2]
        answer = draw_from(some_ids)
        ok = draw_from(st.sampled_from([True, True, False]))
        facts[probe] = (answer, groups, forbidden, stale, draw_from(st.integers(1, 9)), ok)
    fields = list(zip(*facts.values(), strict=True))
    columns = (dict(zip(facts, field, strict=True)) for field in fields)
    answers, expected, barred, outdated, k, ok = columns
    hits, qrels, calls = tables(answers, expected, 1, barred, outdated)
    status = ["ok" if fine else "failed" for fine in ok.values()]
    return (hits, qrels, calls.assign(k=list(k.values()), status=status)), facts


def plain(answer: Any, groups: Any, forbidden: Any, stale: Any, k: int, ok: bool) -> list[Any]:
    """Counts and first rank, spelt out."""
    whole = ["w\ufffd" if record == HALF else record for record in answer]
    top = whole[:k] if ok else []
    ranks = [
        min(map(top.index, met)) + 1 for met in (set(group) & set(top) for group in groups) if met
    ]
    leaked = len(set(whole) & set(forbidden))
    right = len(ranks) == len(groups) if groups else not whole
    return [
        len(groups), len(whole), leaked, sum(map(top.count, stale)), whole.count(None),
        min(ranks, default=0), len(set(top) & set().union(*groups)) if groups else 0,
        ok and not leaked and right,
    ]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(told(), st.randoms(use_true_random=False), st.sampled_from(["str", "string", "object"]))
def test_tables_in_any_order_and_storage_score_as_the_definitions_spelt_out(
    drawn: tuple[Tables, dict[str, tuple[Any, ...]]], rng: random.Random, storage: str
) -> None:
    (hits, qrels, calls), facts = drawn
    results = score(hits, qrels, calls)
    relevant = (results["precision"].fillna(0) * results["k"]).round()
    rows = results.assign(first_rank=results["first_rank"].fillna(0), relevant=relevant)
    counts = ["n_expected", "n_returned", "n_leaked", "n_stale", "n_unknown", "first_rank"]
    assert rows[[*counts, "relevant", "passed"]].to_numpy().tolist() == [
        plain(*fact) for fact in facts.values()
    ]
    ids = dict.fromkeys(["probe", "record_id"], storage)
    mixed = [f.astype(ids).sample(frac=1, random_state=rng.randrange(2**31)) for f in (hits, qrels)]
    assert_frame_equal(score(*mixed, calls), results, check_exact=True)
    told_twice = pd.concat([qrels, qrels])
    assert_frame_equal(score(hits, told_twice, calls), results, check_exact=True)


def test_an_any_of_group_whose_rows_are_apart_is_still_one() -> None:
    hits, _, calls = tables({"p": ["a"], "q": []})
    rows = [("q", "a", 0), ("p", "b", 1), ("q", "c", 0), ("q", "d", 1)]
    qrels = pd.DataFrame(rows, columns=["probe", "record_id", "group"]).assign(label="expected")
    assert score(hits, qrels, calls)["n_expected"].tolist() == [1, 2]


def test_results_can_be_changed_and_leave_the_tables_alone() -> None:
    hits, qrels, calls = tables({"p": ["a"], "q": []}, {"p": ["a"]})
    before = calls.copy(deep=True)
    results = score(hits, qrels, calls)
    for column in results:
        results.loc[0, column] = results.loc[1, column]
    assert_frame_equal(calls, before)
    assert results["probe"].tolist() == ["q", "q"]


def test_labels_that_contradict_each_other_are_told_before_faulty_hits() -> None:
    hits, qrels, calls = BASE
    both = pd.concat([qrels, qrels.assign(label="stale")])
    with pytest.raises(FrameError, match="both expected and forbidden or stale"):
        score(hits.assign(rank=0), both, calls)
