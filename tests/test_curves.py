"""Curves against scoring again, setting by setting, and against numbers by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from memeval import frames
from memeval.curves import best_floor, recall_curve, threshold_curve
from memeval.errors import FrameError
from memeval.metrics import score
from memeval.summary import summarize

METRICS = ["recall_all", "recall_any", "recall_fraction", "mrr", "ndcg"]
Tables = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]


def hits_of(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    """Hits from (probe, record ids) or (probe, record ids, scores)."""
    listed = [
        {"probe": probe, "rank": rank, "record_id": record, "score": value}
        for probe, ids, *scores in rows
        for rank, (record, value) in enumerate(
            zip(ids, scores[0] if scores else [None] * len(ids), strict=True), 1
        )
    ]
    return frames.conform(
        pd.DataFrame(listed, columns=["probe", "rank", "record_id", "score"]), frames.HITS
    )


def qrels_of(*rows: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["probe", "record_id", "label"])


def calls_of(**k: int) -> pd.DataFrame:
    return pd.DataFrame({"probe": list(k), "k": list(k.values())})


def by_hand() -> Tables:
    """Two positives of k 3 and one of k 1.

    a: expects r1, r2, which stand at ranks 1 and 3. b: expects r9, at rank 2. c: expects r5, and
    is given r6.
    """
    hits = hits_of([("a", ["r1", "x", "r2"]), ("b", ["x", "r9"]), ("c", ["r6"])])
    qrels = qrels_of(
        ("a", "r1", "expected"),
        ("a", "r2", "expected"),
        ("b", "r9", "expected"),
        ("c", "r5", "expected"),
    )
    return hits, qrels, calls_of(a=3, b=3, c=1)


def values(curve: pd.DataFrame, metric: str, column: str = "value") -> list[float]:
    return curve.loc[curve["metric"] == metric, column].tolist()


def test_the_curve_by_hand() -> None:
    curve = recall_curve(*by_hand())
    # k=1: a has r1 of two, b and c nothing. From k=2 on only a and b were asked.
    assert values(curve, "recall_all") == [0, 1 / 2, 1]  # b at 2, then a too at 3
    assert values(curve, "recall_any") == [1 / 3, 1, 1]
    assert values(curve, "recall_fraction") == [(1 / 2) / 3, (1 / 2 + 1) / 2, 1]
    assert values(curve, "mrr") == [1 / 3, (1 + 1 / 2) / 2, (1 + 1 / 2) / 2]
    # nDCG of a: 1/1, 1/(1 + .6309), (1 + .5)/(1 + .6309); of b: 0, .6309, .6309; of c: 0.
    second = 1 / math.log2(3)
    wanted = [1 / 3, (1 / (1 + second) + second) / 2, (1.5 / (1 + second) + second) / 2]
    assert values(curve, "ndcg") == pytest.approx(wanted, abs=1e-12)
    assert values(curve, "recall_all", "n") == [3, 2, 2]
    assert curve["metric"].tolist() == METRICS * 3
    assert curve["k"].tolist() == [1] * 5 + [2] * 5 + [3] * 5


def test_shares_have_the_wilson_interval_and_means_have_none() -> None:
    curve = recall_curve(*by_hand(), max_k=1).set_index("metric")
    # Wilson of 1 of 3 at 95 %: z^2 = 3.8415, (1/3 + .64024 -+ 1.96 sqrt(.074074 + .106708)) / 2.28
    assert curve.loc["recall_any", ["low", "high"]].tolist() == pytest.approx(
        [0.06149, 0.79234], abs=1e-5
    )
    means = curve.loc[["recall_fraction", "mrr", "ndcg"], ["low", "high"]]
    assert means.isna().all(axis=None)


def test_a_cutoff_that_nobody_was_asked_for_is_na_over_0() -> None:
    curve = recall_curve(*by_hand(), max_k=5)
    beyond = curve[curve["k"] > 3]
    assert beyond["k"].unique().tolist() == [4, 5]
    assert beyond[["value", "low", "high"]].isna().all(axis=None)
    assert beyond["n"].eq(0).all()


def test_negatives_and_what_is_not_supported_are_not_counted_but_failures_are() -> None:
    hits, qrels, _ = by_hand()
    calls = pd.DataFrame(
        {
            "probe": ["a", "b", "c", "n"],
            "k": 3,
            "status": ["ok", "failed", "not_supported", "ok"],
        }
    )
    curve = recall_curve(hits[hits["probe"] == "a"], qrels, calls)
    assert values(curve, "recall_any") == [0.5, 0.5, 0.5]  # a of a and b
    assert values(curve, "recall_any", "n") == [2, 2, 2]


def test_it_is_the_first_repeat_that_counts() -> None:
    hits, qrels, calls = by_hand()
    again = hits[hits["probe"] == "a"].assign(record_id="x", repeat=2)
    more = pd.DataFrame({"probe": ["a", "b"], "k": [9, 9], "repeat": [2, 2]})
    both = recall_curve(pd.concat([again, hits]), qrels, pd.concat([more, calls.assign(repeat=0)]))
    assert_frame_equal(both, recall_curve(hits, qrels, calls))


def test_zero_rows() -> None:
    nothing = (frames.empty(frames.HITS), frames.empty(frames.QRELS), frames.empty(frames.CALLS))
    assert_frame_equal(recall_curve(*nothing), frames.empty(frames.RECALL_CURVE))
    assert_frame_equal(recall_curve(*nothing, max_k=3), frames.empty(frames.RECALL_CURVE))
    only_negative = recall_curve(*nothing[:2], calls_of(n=2))
    assert only_negative["n"].eq(0).all() and only_negative["value"].isna().all()
    assert len(only_negative) == 10
    assert only_negative.dtypes.equals(frames.empty(frames.RECALL_CURVE).dtypes)


@pytest.mark.parametrize("max_k", [0, -1, True, math.nan, 2.5])
def test_a_last_cutoff_that_is_no_count_is_refused(max_k: Any) -> None:
    with pytest.raises(FrameError, match="max_k: found .* wanted a whole number from 1"):
        recall_curve(*by_hand(), max_k=max_k)


@pytest.mark.parametrize("curve", [recall_curve, threshold_curve])
def test_tables_that_do_not_fit_are_refused(curve: Any) -> None:
    hits, qrels, calls = by_hand()
    with pytest.raises(FrameError, match="a call that is not in calls"):
        curve(hits, qrels.iloc[:3], calls[:2])
    with pytest.raises(FrameError, match="labels of a probe that is not in calls"):
        curve(hits[hits["probe"] != "c"], qrels, calls[:2])
    with pytest.raises(FrameError, match="wanted also"):
        curve(hits.drop(columns="rank"), qrels, calls)


SCORES = st.sampled_from([-math.inf, -1.0, 0.0, 0.25, 0.5, 0.75, 2.0, math.inf, None])


@st.composite
def runs(draw: st.DrawFn) -> Tables:
    """A small run: repeats, any-of, forbidden, canaries, strangers, failures, longer answers."""
    hits, qrels, calls = [], [], []
    for probe in "abcd"[: draw(st.integers(1, 4))]:
        pool = ["r1", "r2", "r3", "r4", None]
        labels = draw(st.lists(st.sampled_from(["expected", "forbidden", "stale", ""]), min_size=4))
        qrels += [
            (probe, record, label, draw(st.integers(0, 1)) if label == "expected" else None)
            for record, label in zip(pool, labels, strict=False)
            if label and record
        ]
        status = draw(st.sampled_from(["ok", "ok", "ok", "failed", "not_supported"]))
        for repeat in range(draw(st.integers(1, 2))):
            calls.append((probe, repeat, draw(st.integers(1, 4)), status))
            if status == "not_supported":
                continue
            for rank in range(1, 1 + draw(st.integers(0, 5))):
                record, value = draw(st.sampled_from(pool)), draw(SCORES)
                canary = draw(st.sampled_from([None, None, None, "4471"]))
                store_id = draw(st.sampled_from(["s1", "s2", None]))
                hits.append((probe, repeat, rank, record, store_id, value, canary))
    order = draw(st.randoms())
    order.shuffle(hits)
    return (
        frames.conform(
            pd.DataFrame(
                hits,
                columns=["probe", "repeat", "rank", "record_id", "store_id", "score", "canary"],
            ),
            frames.HITS,
        ),
        pd.DataFrame(qrels, columns=["probe", "record_id", "label", "group"]),
        pd.DataFrame(calls, columns=["probe", "repeat", "k", "status"]),
    )


@settings(max_examples=25)
@given(runs())
def test_every_cutoff_is_scoring_again_with_that_k(tables: Tables) -> None:
    hits, qrels, calls = tables
    curve = recall_curve(hits, qrels, calls)
    first = calls[calls["repeat"] == 0].set_index("probe")["k"]
    assert curve["k"].max() == first.max()
    for k, rows in curve.groupby("k"):
        names = first[first >= k].index
        kept = [table[table["probe"].isin(names)] for table in (hits, qrels, calls)]
        summary = summarize(score(kept[0], kept[1], kept[2].assign(k=k))).set_index("metric")
        assert_frame_equal(
            rows[["value", "low", "high", "n"]].reset_index(drop=True),
            summary.loc[METRICS, ["value", "low", "high", "n"]].reset_index(drop=True),
        )


@settings(max_examples=15)
@given(runs())
def test_recall_never_falls_over_the_same_probes(tables: Tables) -> None:
    hits, qrels, calls = tables
    curve = recall_curve(hits, qrels, calls.assign(k=5))
    for metric in ("recall_all", "recall_any", "recall_fraction", "mrr"):
        assert (np.diff(values(curve, metric)) >= 0).all() or np.isnan(values(curve, metric)).all()


def scored() -> Tables:
    """Two positives and two negatives.

    a: r1 (expected) .9, x .5. b: r2 (forbidden) .8, r3 (expected) .6. n: x .7. m: nothing.
    """
    hits = hits_of([("a", ["r1", "x"], [0.9, 0.5]), ("b", ["r2", "r3"], [0.8, 0.6]),
                    ("n", ["x"], [0.7])])  # fmt: skip
    qrels = qrels_of(("a", "r1", "expected"), ("b", "r3", "expected"), ("b", "r2", "forbidden"))
    return hits, qrels, calls_of(a=5, b=5, n=5, m=5)


def test_floors_by_hand() -> None:
    curve = threshold_curve(*scored())
    # Floors: the worst score of all, .5, and the top scores .7 (n), .8 (b), .9 (a).
    # .5 drops nothing; n is answered, m is not. .7 drops x of a and r3 of b: b is lost. .8 drops
    # the hit of n too. .9 drops r2 of b as well: the leak is gone.
    wanted = pd.DataFrame(
        {
            "floor": [0.5, 0.7, 0.8, 0.9],
            "recall_all": [1.0, 0.5, 0.5, 0.5],
            "leaks": [1, 1, 1, 0],
            "leak_rate": [1.0, 1.0, 1.0, 0.0],
            "abstention": [0.5, 0.5, 1.0, 1.0],
            "n_positive": 2,
            "n_negative": 2,
            "n_leakable": 1,
            "n_dropped": [0, 2, 3, 4],
            # J: 1 + .5 - 1 = .5; .5 + .5 - 1 = 0; .5 + 1 - 1 = .5; .5: of the equal the most recall
            "best": [True, False, False, False],
        }
    )
    assert_frame_equal(curve, frames.conform(wanted, frames.THRESHOLD_CURVE))
    assert best_floor(curve) == 0.5


def test_of_equal_floors_with_equal_recall_the_laxest_is_best() -> None:
    curve = threshold_curve(*scored(), floors=[0.9, 0.8, 0.85])
    assert curve["floor"].tolist() == [0.8, 0.85, 0.9]
    assert curve["best"].tolist() == [True, False, False]


def test_where_low_scores_are_better_the_floor_is_the_largest_kept() -> None:
    hits, qrels, calls = scored()
    low = threshold_curve(hits.assign(score=1 - hits["score"]), qrels, calls, score_order="low")
    high = threshold_curve(hits, qrels, calls)
    assert low["floor"].tolist() == pytest.approx([0.5, 0.3, 0.2, 0.1])
    assert_frame_equal(low.drop(columns="floor"), high.drop(columns="floor"))


def test_a_hit_without_a_score_stays_at_every_floor() -> None:
    hits, qrels, calls = scored()
    unscored = hits.assign(score=hits["score"].where(hits["record_id"] != "r2"))
    curve = threshold_curve(unscored, qrels, calls, floors=[0.0, 1.0])
    assert curve["leaks"].tolist() == [1, 1]
    assert curve["n_dropped"].tolist() == [0, 4]
    assert curve["recall_all"].tolist() == [1.0, 0.0]


def test_what_remains_moves_up() -> None:
    hits = hits_of([("a", ["x", "r1"], [0.1, 0.9])])
    tables = hits, qrels_of(("a", "r1", "expected")), calls_of(a=1)
    curve = threshold_curve(*tables, floors=[0.0, 0.5])
    assert curve["recall_all"].tolist() == [0.0, 1.0]


def test_scores_of_no_store_give_an_empty_curve_that_says_why() -> None:
    hits, qrels, calls = scored()
    for curve, why in (
        (threshold_curve(hits.assign(score=None), qrels, calls), "no hit has a score"),
        (threshold_curve(hits.iloc[:0], qrels, calls), "no hit has a score"),
        (threshold_curve(hits, qrels, calls.assign(status="not_supported")), "no hit has a score"),
        (threshold_curve(hits, qrels, calls, score_order=None), "scores have no order"),
        (threshold_curve(hits, qrels, calls, floors=[]), "no floor was given"),
    ):
        assert_frame_equal(curve, frames.empty(frames.THRESHOLD_CURVE))
        assert why in curve.attrs["reason"]
        with pytest.raises(FrameError, match=f"no best floor: .*{why}"):
            best_floor(curve)


def test_without_both_kinds_of_probes_no_floor_is_best() -> None:
    hits, qrels, calls = scored()
    for names, missing, said in (
        (["a", "b"], "abstention", "2 positive, 0 negative"),
        (["n", "m"], "recall_all", "0 positive, 2 negative"),
    ):
        kept = [table[table["probe"].isin(names)] for table in (hits, qrels, calls)]
        curve = threshold_curve(*kept)
        assert not curve["best"].any()
        assert curve[missing].isna().all()
        with pytest.raises(FrameError, match=said):
            best_floor(curve)


@pytest.mark.parametrize("floors", [[math.nan], ["high"], [None]])
def test_a_floor_that_is_no_number_is_refused(floors: Any) -> None:
    with pytest.raises(FrameError, match="floors: found .* wanted numbers"):
        threshold_curve(*scored(), floors=floors)


def test_another_order_of_scores_is_refused() -> None:
    with pytest.raises(FrameError, match="score_order: found 'up'"):
        threshold_curve(*scored(), score_order="up")  # type: ignore[arg-type]


def dropped_and_scored_again(tables: Tables, floor: float, low: bool) -> dict[str, float]:
    """Drop the hits, number the rest anew, score and sum up: the definition, word for word."""
    hits, qrels, calls = tables
    worse = hits["score"] > floor if low else hits["score"] < floor
    kept = hits[~worse].sort_values("rank")
    kept = kept.assign(rank=kept.groupby(["probe", "repeat"]).cumcount() + 1)
    results = score(kept, qrels, calls)
    return {
        "recall_all": results["recall_all"].astype("float64").mean(),
        "abstention": results["abstained"].astype("float64").mean(),
        "leaks": results["n_leaked"].sum(),
        "n_leaking": (results["n_leaked"] > 0).sum(),
        "n_dropped": worse.sum(),
    }


@settings(max_examples=25)
@given(runs(), st.booleans(), st.lists(st.floats(-2, 3), min_size=1, max_size=4))
def test_every_floor_is_dropping_and_scoring_again(
    tables: Tables, low: bool, floors: list[float]
) -> None:
    order: Any = "low" if low else "high"
    for given_floors in (None, floors[:2]):
        curve = threshold_curve(*tables, score_order=order, floors=given_floors)
        for _, row in curve.iterrows():
            again = dropped_and_scored_again(tables, row["floor"], low)
            rate = row["leak_rate"] if row["n_leakable"] else 0.0
            again["n_leaking"] /= max(row["n_leakable"], 1)
            assert rate == again.pop("n_leaking")
            for column, value in again.items():
                assert row[column] == pytest.approx(value, abs=1e-12, nan_ok=True), column


@settings(max_examples=15)
@given(runs())
def test_a_stricter_floor_drops_more_leaks_less_and_abstains_more(tables: Tables) -> None:
    hits, qrels, calls = tables
    curve = threshold_curve(hits, qrels, calls.assign(k=5))  # no answer is longer than k
    assert curve["floor"].is_monotonic_increasing
    assert curve["best"].sum() == int(
        len(curve) > 0 and curve["n_positive"].max() > 0 and curve["n_negative"].max() > 0
    )
    assert (np.diff(curve["n_dropped"]) >= 0).all()
    assert (np.diff(curve["leaks"]) <= 0).all()
    assert (np.diff(curve["recall_all"].fillna(0)) <= 0).all()
    assert (np.diff(curve["abstention"].fillna(0)) >= 0).all()


@settings(max_examples=15)
@given(runs())
def test_no_other_floor_of_the_curve_separates_better(tables: Tables) -> None:
    curve = threshold_curve(*tables)
    if curve["best"].any():
        youden = curve["recall_all"] + curve["abstention"] - 1
        chosen = youden[curve["best"]].item()
        assert chosen == pytest.approx(youden.max(), abs=1e-12)
        equal = curve[np.isclose(youden, chosen, atol=1e-9, rtol=0)]
        assert curve.loc[curve["best"], "recall_all"].item() == equal["recall_all"].max()
        assert (
            best_floor(curve)
            == equal[equal["recall_all"] == equal["recall_all"].max()]["floor"].iloc[0]
        )


def test_recall_is_of_the_first_repeat_and_leaks_are_of_the_worst() -> None:
    # First repeat: r1 (expected) .9. Second: r2 (forbidden) .7, nothing else. Third: nothing.
    hits = pd.concat(
        [
            hits_of([("a", ["r1"], [0.9])]),
            hits_of([("a", ["r2"], [0.7])]).assign(repeat=1),
        ]
    )
    qrels = qrels_of(("a", "r1", "expected"), ("a", "r2", "forbidden"))
    calls = pd.DataFrame({"probe": "a", "k": 5, "repeat": [2, 1, 0]})
    curve = threshold_curve(hits, qrels, calls)
    assert curve["floor"].tolist() == [0.7, 0.9]
    assert curve["recall_all"].tolist() == [1.0, 1.0]
    assert curve["leaks"].tolist() == [1, 0]
    assert curve["n_dropped"].tolist() == [0, 1]


def test_the_leak_rate_is_over_what_could_leak() -> None:
    # a forbids r2 and does not leak, b leaks a canary without forbidding, c can leak nothing.
    hits = hits_of([("a", ["r1"], [0.9]), ("b", ["r3"], [0.8]), ("c", ["r4"], [0.7])])
    hits["canary"] = pd.array([None, "4471", None], dtype="str")
    tables = hits, qrels_of(("a", "r2", "forbidden")), calls_of(a=5, b=5, c=5)
    curve = threshold_curve(*tables)
    assert curve["n_leakable"].tolist() == [2, 2, 2]
    assert curve["leak_rate"].tolist() == [0.5, 0.5, 0.0]
    summary = summarize(score(*tables), *tables).set_index("metric")["value"]
    assert summary["leak_rate"] == 0.5


def test_without_a_floor_the_curve_says_what_the_summary_says() -> None:
    hits, qrels, calls = scored()
    summary = summarize(score(hits, qrels, calls), hits, qrels, calls).set_index("metric")["value"]
    first = threshold_curve(hits, qrels, calls).iloc[0]
    for metric in ("recall_all", "leaks", "leak_rate", "abstention"):
        assert first[metric] == summary[metric], metric


def test_what_is_no_threshold_curve_is_refused() -> None:
    with pytest.raises(FrameError, match="wanted also"):
        best_floor(pd.DataFrame({"k": [1]}))


def test_inputs_are_not_changed() -> None:
    tables = scored()
    before = [table.copy(deep=True) for table in tables]
    recall_curve(*tables)
    threshold_curve(*tables, floors=(0.9, 0.1))
    for table, copy in zip(tables, before, strict=True):
        assert_frame_equal(table, copy)
