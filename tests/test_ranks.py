"""Ranks that are found once give at every cutoff what scoring the lists again gives."""

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
from memeval.errors import FrameError
from memeval.rankings import rank_expected, score_rankings
from memeval.ranks import TOLD, _worth
from memeval.scoring.measures import discounts

IDS = [f"r{i}" for i in range(24)]
rankings = st.lists(st.sampled_from([*IDS, "x", "y"]), max_size=22)


@st.composite
def expectations(draw: st.DrawFn) -> list[str | list[str]]:
    order = draw(st.permutations(IDS))[: draw(st.integers(0, 20))]
    if draw(st.booleans()):
        return [*order]
    halves = [order[at : at + 2] for at in range(0, len(order), 2)]
    return [half if len(half) == 2 else half[0] for half in halves]


suites = st.lists(st.tuples(rankings, expectations()), max_size=4)
cutoffs = st.sampled_from([1, 2, 5, 15, 16, 17, 30])


@settings(max_examples=60, deadline=None)
@given(suites, st.lists(cutoffs, min_size=1, max_size=3))
def test_every_cutoff_is_scoring_the_lists_again(suite: Any, ks: list[int]) -> None:
    returned, expected = [list(side) for side in zip(*suite, strict=True)] or ([], [])
    ranks = rank_expected(returned, expected)
    for k in ks:
        again = score_rankings(returned, expected, k=k, columns=TOLD)
        assert_frame_equal(ranks.score(k), again, check_exact=True)
        assert_frame_equal(ranks.score(k, columns=["rr", "kind"]), again[["rr", "kind"]])


@settings(max_examples=60, deadline=None)
@given(suites, cutoffs, st.sampled_from([-math.inf, 0.0, 0.35, 0.5, 2.0, math.inf]), st.data())
def test_a_floor_is_scoring_what_is_left(
    suite: Any, k: int, floor: float, data: st.DataObject
) -> None:
    if data.draw(st.booleans()):  # all of one length
        suite = [((ids * 3 + ["x", "y", "x"])[:3], wanted) for ids, wanted in suite]
    returned, expected = [list(side) for side in zip(*suite, strict=True)] or ([], [])
    steps = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
    scores = [
        sorted(data.draw(st.lists(steps, min_size=len(ids), max_size=len(ids))), reverse=True)
        for ids in returned
    ]
    left = [
        [record for record, score in zip(ids, own, strict=True) if score >= floor]
        for ids, own in zip(returned, scores, strict=True)
    ]
    ranks = rank_expected(returned, expected, scores=scores)
    again = score_rankings(left, expected, k=k, columns=TOLD)
    assert_frame_equal(ranks.score(k, floor=floor), again, check_exact=True)


def test_ranks_by_hand() -> None:
    # b stands second, and x is missed; of the group {c, d} d is better, at rank 1.
    ranks = rank_expected([["a", "b"], ["d", "c"]], [["b", "x"], [["c", "d"]]])
    assert ranks.n_expected.tolist() == [2, 1]
    assert ranks.rank.tolist() == [2, 0, 1]
    assert ranks.record_rank.tolist() == [2, 0, 2, 1]
    found = ranks.score(2)
    assert found["recall_fraction"].tolist() == [1 / 2, 1.0]
    assert found["precision"].tolist() == [1 / 2, 1.0]
    assert found["probe"].tolist() == ["0", "1"]


def test_the_tables_are_sums_from_the_first_rank_on() -> None:
    n_met, first_rank, dcg = _worth(16)
    gains = discounts(16)
    for code in [0, 1, 2, 0b1010, 0xFFFF, *range(5, 65_536, 977)]:
        met = [rank for rank in range(1, 17) if code >> (rank - 1) & 1]
        total = 0.0
        for rank in met:
            total += gains[rank - 1]
        assert (n_met[code], first_rank[code], dcg[code]) == (len(met), min(met, default=0), total)


def test_mappings_and_names() -> None:
    by_name = rank_expected(
        {"p": ["a"], "q": ["b"]}, {"q": ["b"], "p": ["x"]}, scores={"q": [1], "p": [2]}
    )
    listed = rank_expected([["a"], ["b"]], [["x"], ["b"]], scores=[[2], [1]], names=["p", "q"])
    assert_frame_equal(by_name.score(1, floor=1.5), listed.score(1, floor=1.5))
    assert by_name.score(1)["probe"].tolist() == ["p", "q"]


def test_no_probes() -> None:
    ranks = rank_expected([], [], scores=[])
    empty = frames.empty(frames.RESULTS)[list(TOLD)]
    assert_frame_equal(ranks.score(3), empty)
    assert_frame_equal(ranks.score(3, floor=1.0), empty)
    assert len(rank_expected([[]], [[]]).score(columns=[])) == 1


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([[1.0, 2.0]], "probe '0': found NaN, or a score above the one before it"),
        ([[math.nan, 1.0]], "probe '0': found NaN"),
        ([[1.0]], "probe '0': found 1 scores, wanted one for each of 2"),
        ([], "scores: found 0 lists, wanted 1"),
        ([["high", "low"]], "wanted a list of numbers per ranking"),
        ([None], "wanted a list of numbers per ranking"),
        ([[None, 1.0]], "wanted a list of numbers per ranking|found NaN"),
        ({"0": [1.0, 0.5], "1": []}, "scores: probe '1' stands in one mapping only"),
    ],
)
def test_scores_that_cannot_be_used_are_refused(scores: Any, said: str) -> None:
    with pytest.raises(FrameError, match=said):
        rank_expected([["a", "b"]], [["a"]], scores=scores)


@pytest.mark.parametrize("floor", [math.nan, "high", True])
def test_a_floor_that_is_no_number_is_refused(floor: Any) -> None:
    ranks = rank_expected([["a"]], [["a"]], scores=[[1.0]])
    with pytest.raises(FrameError, match="floor: found .* wanted a number"):
        ranks.score(1, floor=floor)


def test_a_floor_needs_scores() -> None:
    with pytest.raises(FrameError, match="floor: found no scores; give them to rank_expected"):
        rank_expected([["a"]], [["a"]]).score(1, floor=0.5)


@pytest.mark.parametrize(("k", "columns"), [(0, None), (True, None), (1, ["n_leaked"]), (1, "rr")])
def test_what_ranks_cannot_tell_is_refused(k: Any, columns: Any) -> None:
    with pytest.raises(FrameError, match="wanted"):
        rank_expected([["a"]], [["a"]]).score(k, columns=columns)


def test_what_a_frame_is_changed_to_does_not_reach_the_ranks() -> None:
    ranks = rank_expected([["a", "b"]], [["b"]])
    frame = ranks.score(2)
    frame.loc[0, ["n_expected", "n_returned", "k"]] = 9
    frame.loc[0, ["rr", "ndcg"]] = 9.0
    assert ranks.score(2)[["n_expected", "n_returned", "k"]].to_numpy().tolist() == [[1, 2, 2]]
    assert pd.notna(frame["rr"]).all() and ranks.score(2)["rr"].tolist() == [0.5]
    assert np.array_equal(ranks.n_returned, [2])
