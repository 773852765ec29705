"""Rankings in lists give the numbers of the frames, and what cannot be paired is refused."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
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
from memeval.rankings import score_rankings

Groups = Sequence[str | Sequence[str]]


def by_frames(
    rankings: Sequence[Sequence[str | None]],
    expected: Sequence[Groups],
    k: int,
    forbidden: Sequence[Sequence[str]],
    stale: Sequence[Sequence[str]],
) -> pd.DataFrame:
    """Score the same by the long way round."""
    hits = [
        (str(probe), rank, record, "")
        for probe, ranking in enumerate(rankings)
        for rank, record in enumerate(ranking, 1)
    ]
    labels: list[tuple[str, str, str, int | None]] = [
        (str(probe), record, "expected", number)
        for probe, groups in enumerate(expected)
        for number, group in enumerate(groups)
        for record in ([group] if isinstance(group, str) else group)
    ]
    for label, lists in (("forbidden", forbidden), ("stale", stale)):
        for probe, records in enumerate(lists):
            labels += [(str(probe), record, label, None) for record in records]
    return score(
        pd.DataFrame(hits, columns=["probe", "rank", "record_id", "text"]),
        pd.DataFrame(labels, columns=["probe", "record_id", "label", "group"]),
        pd.DataFrame({"probe": [str(i) for i in range(len(rankings))], "k": k}),
    )


@st.composite
def probes(draw: st.DrawFn) -> tuple[list[str | None], list[str | list[str]], list[str], list[str]]:
    order = draw(st.permutations(["a", "b", "c", "d", "e", "f"]))
    sizes = draw(st.lists(st.integers(1, 2), max_size=3))
    groups: list[str | list[str]] = []
    for size in sizes:
        members, order = order[:size], order[size:]
        groups.append(members[0] if size == 1 and draw(st.booleans()) else members)
    if not order:
        return draw(answers), groups, [], []
    unwanted = st.lists(st.sampled_from(order), max_size=3)
    return draw(answers), groups, draw(unwanted), draw(unwanted)


answers = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", "x", None]), max_size=8)


@settings(max_examples=60, deadline=None)
@given(st.lists(probes(), max_size=4), st.integers(1, 7))
def test_same_numbers_as_from_frames(suite: list[Any], k: int) -> None:
    rankings, expected, forbidden, stale = ([probe[i] for probe in suite] for i in range(4))
    copy = json.dumps([rankings, expected, forbidden, stale])
    found = score_rankings(rankings, expected, k=k, forbidden=forbidden, stale=stale)
    assert_frame_equal(found, by_frames(rankings, expected, k, forbidden, stale), check_exact=True)
    assert json.dumps([rankings, expected, forbidden, stale]) == copy


@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_list_cases_agree_with_trec_eval(shared: Path, k: int) -> None:
    text = (shared / "oracles" / "metric_oracles.json").read_text(encoding="utf-8")
    cases = [case for case in json.loads(text)["cases"] if any(case["expected"].values())]
    wanted = [[record for record, gain in c["expected"].items() if gain > 0] for c in cases]
    rankings = [c.get("returned") or c.get("ranking_as_trec_eval") or [] for c in cases]
    found = score_rankings(rankings, wanted, k=k, names=[c["name"] for c in cases])
    reference = [case["trec_eval"] for case in cases]
    assert found["recall_fraction"].tolist() == [r[f"recall_{k}"] for r in reference]
    assert found["precision"].tolist() == [r[f"P_{k}"] for r in reference]
    assert found["recall_any"].tolist() == [r[f"success_{k}"] == 1 for r in reference]
    cut = [r["recip_rank"] if r[f"success_{k}"] else 0.0 for r in reference]
    assert found["rr"].tolist() == cut
    binary = [max(case["expected"].values()) == 1 for case in cases]
    assert sum(binary) > 15
    ndcg = [r[f"ndcg_cut_{k}"] for r in reference]
    assert found["ndcg"][binary].tolist() == np.array(ndcg)[binary].tolist()


def test_duplicates_keep_their_places_and_count_once(shared: Path) -> None:
    text = (shared / "oracles" / "metric_oracles.json").read_text(encoding="utf-8")
    for case in json.loads(text)["duplicates"]:
        row = score_rankings([case["returned"]], [case["expected"]]).iloc[0]
        found = [row["recall_fraction"], row["rr"], row["ndcg"], row["precision"]]
        wanted = case["positions_kept_first_occurrence_counts"]
        names = ["recall_5", "recip_rank", "ndcg_cut_5", "P_5"]
        assert found == [wanted[name] for name in names], case["name"]


def test_equal_to_trec_eval_bit_for_bit() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = random.Random(8)
    pools = [[f"r{i}" for i in range(rng.randint(3, 30))] for _ in range(200)]
    rankings = [rng.sample(pool, rng.randint(1, len(pool))) for pool in pools]
    expected = [rng.sample(pool, rng.randint(1, min(9, len(pool)))) for pool in pools]
    found = score_rankings(rankings, expected, k=5)
    run = {str(i): {r: -float(n) for n, r in enumerate(a)} for i, a in enumerate(rankings)}
    qrels = {str(i): dict.fromkeys(wanted, 1) for i, wanted in enumerate(expected)}
    judged = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.5", "recall.5", "P.5"}).evaluate(run)
    for ours, theirs in {
        "ndcg": "ndcg_cut_5",
        "recall_fraction": "recall_5",
        "precision": "P_5",
    }.items():
        assert found[ours].tolist() == [judged[str(i)][theirs] for i in range(200)]


FIVE = ["recall_fraction", "rr", "ndcg", "precision", "recall_any"]


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([1, 5, 10, 16, 17, 40]))
def test_five_columns_are_those_of_trec_eval_bit_for_bit(rng: random.Random, k: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    pools = [[f"é{i}" for i in range(rng.randint(1, 60))] for _ in range(20)]
    rankings = [rng.sample(pool, rng.randint(1, len(pool))) for pool in pools]
    expected = [rng.sample(pool, rng.randint(1, min(20, len(pool)))) for pool in pools]
    run = {
        str(at): {record: -float(rank) for rank, record in enumerate(ids[:k])}  # so rr is cut
        for at, ids in enumerate(rankings)
    }
    qrels = {str(at): dict.fromkeys(ids, 1) for at, ids in enumerate(expected)}
    measures = [f"recall.{k}", "recip_rank", f"ndcg_cut.{k}", f"P.{k}", f"success.{k}"]
    judged = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(run)
    found = score_rankings(rankings, expected, k=k, columns=FIVE)
    assert list(found.columns) == FIVE
    theirs = ["recall", "recip_rank", "ndcg_cut", "P", "success"]
    for ours, name in zip(FIVE, theirs, strict=True):
        key = name if name == "recip_rank" else f"{name}_{k}"
        assert found[ours].tolist() == [judged[str(at)][key] for at in range(len(pools))], ours


@settings(max_examples=30, deadline=None)
@given(st.lists(probes(), max_size=4), st.integers(1, 20), st.data())
def test_some_columns_are_those_of_the_whole(suite: list[Any], k: int, data: st.DataObject) -> None:
    rankings, expected, forbidden, stale = ([probe[i] for probe in suite] for i in range(4))
    options: dict[str, Any] = {"k": k, "forbidden": forbidden, "stale": stale}
    whole = score_rankings(rankings, expected, **options)
    wanted = data.draw(st.lists(st.sampled_from(list(whole.columns)), min_size=1, unique=True))
    assert_frame_equal(score_rankings(rankings, expected, columns=wanted, **options), whole[wanted])


@settings(max_examples=30, deadline=None)
@given(st.lists(probes(), max_size=4))
def test_the_frame_is_what_the_schema_says(suite: list[Any]) -> None:
    found = score_rankings([probe[0] for probe in suite], [probe[1] for probe in suite])
    assert_frame_equal(found, frames.conform(found, frames.RESULTS))
    assert found.dtypes.equals(frames.empty(frames.RESULTS).dtypes)
    plain = score_rankings([["a", "b"], [], ["b"]], [["b"], ["c"], []])
    assert_frame_equal(plain, frames.conform(plain, frames.RESULTS))
    assert plain.dtypes.equals(frames.empty(frames.RESULTS).dtypes)


@pytest.mark.parametrize("columns", ["rr", ["rr", "mrr"], ["rr", "rr"], [1]])
def test_a_column_that_is_not_known_is_refused(columns: Any) -> None:
    with pytest.raises(FrameError, match="columns: found .* wanted a list with some of probe, "):
        score_rankings([["a"]], [["a"]], columns=columns)


@pytest.mark.parametrize("n", [3, 600])
@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ((["a", 1], ["a"]), "rankings: found ids of the type int"),
        ((["a", b"b"], ["a"]), "rankings: found ids of the type bytes"),
        ((["a", ["b"]], ["a"]), "rankings: found ids of the type list"),
        ((["a", "b", 3], ["a"]), "rankings: found ids of the type int"),
        ((["a"], ["a", 1]), "expected: found ids of the type int"),
        ((["a"], [None]), "expected: found ids of the type NoneType"),
        (("ab", ["a"]), "rankings: probe '.*': found the text 'ab'"),
        ((["a"], "a"), "expected: probe '.*': found the text 'a'"),
        (("ab", "a"), "rankings: probe '.*': found the text 'ab'"),
        (({"a"}, ["a"]), "rankings: probe '.*': found {'a'}"),
        ((["a"], {"a": 1}), "expected: probe '.*': found {'a': 1}"),
        ((["x"], ["a", "b", "a"]), r"probe '.*' names an id twice in \['a', 'b', 'a'\]"),
        ((["a"], ["a", "b", "b"]), "probe '.*' names an id twice"),
        ((["a"], [*"bcdefghijklmnopqrstb"]), "probe '.*' names an id twice"),
    ],
)
def test_one_odd_probe_among_many_is_found(odd: Any, said: str, n: int) -> None:
    rankings, expected = [[*"abc"]] * n, [["a", "x"]] * n
    at = n - 2
    rankings[at], expected[at] = odd
    for k in (2, 5):
        with pytest.raises(FrameError, match=said.replace(".*", str(at))):
            score_rankings(rankings, expected, k=k, columns=FIVE)


def test_many_probes_are_the_same_one_by_one() -> None:
    rng = random.Random(3)
    pool = [f"r{i}" for i in range(12)]
    rankings: list[Any] = [rng.choices(pool, k=rng.randint(0, 25)) for _ in range(1200)]
    expected: list[Any] = [rng.sample(pool, rng.randint(0, 4)) for _ in range(1200)]
    expected[700] = [f"r{i}" for i in range(30)]
    rankings[701], expected[702], rankings[703] = (*"ab",), [["r1", "r2"], "r3"], [None, "r1"]
    plain = [at for at in range(1200) if not 701 <= at <= 703]
    for k in (3, 18):
        found = score_rankings(rankings, expected, k=k)
        one_by_one = [
            score_rankings([rankings[at]], [expected[at]], k=k, names=[str(at)])
            for at in (*range(0, 1200, 41), *range(699, 705))
        ]
        for row in one_by_one:
            same = found[found["probe"] == row["probe"].item()].reset_index(drop=True)
            assert_frame_equal(same, row)
        quick = score_rankings([rankings[i] for i in plain], [expected[i] for i in plain], k=k)
        slow = found.iloc[plain].reset_index(drop=True)
        assert_frame_equal(quick.drop(columns="probe"), slow.drop(columns="probe"))


def test_a_ranking_may_be_very_long() -> None:
    long = [str(i) for i in range(1_000_000)]
    few, many = ["999999", "5", "x"], [str(i) for i in range(0, 1_000_000, 40_000)]
    found = score_rankings([long, long], [few, many], k=1_000_000)
    assert found["recall_fraction"].tolist() == [2 / 3, 1.0]
    assert found["first_rank"].tolist() == [6, 1]
    assert score_rankings([long], [few], k=5)["recall_any"].tolist() == [False]


def test_mappings_are_paired_by_name_not_by_position() -> None:
    found = score_rankings({"q1": ["a"], "q2": ["b"]}, {"q2": ["b"], "q1": ["a"]})
    assert found["probe"].tolist() == ["q1", "q2"]
    assert found["rr"].tolist() == [1.0, 1.0]
    named = score_rankings([["a"], ["b"]], {"q2": ["b"], "q1": ["a"]}, names=["q1", "q2"])
    assert_frame_equal(named, found)


def test_none_is_a_hit_that_is_no_record() -> None:
    row = score_rankings([[None, None, "a"]], [["a"]]).iloc[0]
    assert (row["first_rank"], row["n_unknown"], row["distinct"]) == (3, 2, 1.0)


def test_a_forbidden_id_past_k_is_a_leak_and_a_stale_one_is_not_counted() -> None:
    row = score_rankings(
        [["a", "s", "x", "f", "f", "s"]], [["a"]], k=2, forbidden=[["f"]], stale=[["s", "s"]]
    ).iloc[0]
    assert (row["n_leaked"], row["n_stale"], row["passed"]) == (1, 1, False)


def test_tuples_and_long_lists_of_expected_ids_are_fine() -> None:
    many = tuple(f"r{i}" for i in range(40))
    row = score_rankings((many,), (many[::-1],), k=40).iloc[0]
    assert (row["recall_fraction"], row["rr"], row["ndcg"]) == (1.0, 1.0, 1.0)


def test_any_member_meets_an_any_of_group_at_its_best_rank() -> None:
    row = score_rankings([["x", "b", "a", "c"]], [[["a", "b"], "c"]], k=4).iloc[0]
    # Groups {a, b} at rank 2 and {c} at rank 4; three relevant records in four places.
    assert (row["n_expected"], row["recall_fraction"], row["precision"]) == (2, 1.0, 0.75)
    wanted = (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    assert row["ndcg"] == pytest.approx(wanted, abs=1e-15)


def test_no_rankings_give_no_rows() -> None:
    assert_frame_equal(score_rankings([], []), frames.empty(frames.RESULTS))
    assert_frame_equal(score_rankings({}, {}), frames.empty(frames.RESULTS))


def test_negatives_alone_have_no_recall() -> None:
    found = score_rankings([[], ["x"]], [[], []])
    assert found["abstained"].tolist() == [True, False]
    assert found["rr"].isna().all() and found["ndcg"].isna().all()
    assert found["context_tokens"].tolist() == [0.0, pytest.approx(math.nan, nan_ok=True)]


@pytest.mark.parametrize(
    ("args", "options", "said"),
    [
        (([["a"]], []), {}, "expected: found 0 lists, wanted 1"),
        (([["a"]], [["a"]]), {"k": 0}, "k is 0"),
        ((["a"], [["a"]]), {}, "rankings: probe '0': found the text 'a'"),
        (([["a"]], ["a"]), {}, "expected: probe '0': found the text 'a'"),
        (([["a"]], [["a", "a"]]), {}, "probe '0' names an id twice"),
        (([["a"]], [["a", ["b", "a"]]]), {}, "probe '0' names an id twice"),
        (([["a"]], [[[]]]), {}, "any-of group without ids"),
        (([["a"]], [["a"]]), {"forbidden": [["a"]]}, "forbidden: probe '0': found .*'a'"),
        (([["a"]], [["a"]]), {"stale": [["a"]]}, "stale: probe '0': found .*'a'"),
        (([["a"]], [["a"]]), {"forbidden": []}, "forbidden: found 0 lists"),
        (([["a"]], [["a"]]), {"names": ["p", "q"]}, "wanted one of its own for each of 1"),
        (([["a"], []], [["a"], []]), {"names": ["p", "p"]}, "1 different names in 2"),
        (({"q": ["a"]}, {"q": ["a"], "z": []}), {}, "expected: probe 'z' stands in one"),
        (({"q": ["a"], "z": []}, {"q": ["a"]}), {}, "expected: probe 'z' stands in one"),
        (({"q": ["a"]}, [["a"]]), {}, "expected: found a list beside a mapping"),
        (({"q": ["a"]}, {"q": ["a"]}), {"names": ["q"]}, "names beside a mapping"),
    ],
)
def test_what_cannot_be_paired_is_refused(args: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(FrameError, match=said):
        score_rankings(*args, **options)


@pytest.mark.parametrize(
    ("rankings", "expected"),
    [
        (None, [["a"]]),
        ("ab", [["a"]]),
        ([{"a"}], [["a"]]),
        ([{"a": 1.0}], [["a"]]),
        ([None], [["a"]]),
        ([iter("a")], [["a"]]),
        ([[1, 2]], [[1]]),
        ([["a"]], [None]),
        ([["a"]], [[None]]),
        ([["a"]], [[["a", 1]]]),
        ([["a"]], [{"a"}]),
    ],
)
def test_what_is_no_list_of_texts_is_refused(rankings: Any, expected: Any) -> None:
    with pytest.raises(FrameError, match="wanted"):
        score_rankings(rankings, expected)


@pytest.mark.parametrize("k", [1.5, "5", True, None, 10**30])
def test_a_k_that_is_no_whole_number_is_refused(k: Any) -> None:
    with pytest.raises(FrameError, match="wanted a whole number from 1"):
        score_rankings([["a"]], [["a"]], k=k)


def test_arrays_are_as_good_as_lists() -> None:
    listed = score_rankings([["b", "a"]], [["a"]])
    assert_frame_equal(score_rankings(np.array([["b", "a"]]), [np.array(["a"])]), listed)  # type: ignore[arg-type]
    assert_frame_equal(score_rankings(pd.Series([["b", "a"]]), [("a",)]), listed)  # type: ignore[arg-type]
