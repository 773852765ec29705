"""Other rules for answers that are in: what comes of them is what a run by these rules gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import odd_stores as odd
import pandas as pd
import pytest
from suites import suite

import memeval as me
from memeval import Suite, run
from memeval.errors import FrameError
from memeval.record import Hit
from memeval.stores.base import Capabilities

pytestmark = pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
TIMES = ["latency_ms"]
SMALL = suite(6, 2, 2)


class Floored(odd.Plain):
    """Leaves out what shares fewer words than a floor."""

    floor = 2.0

    def found(self, query: str, k: int, scope: str | None) -> list[Hit]:
        found = super().found(query, k, scope)
        if scope is None or "memeval" in scope:
            return found
        return [hit for hit in found if hit.score is not None and hit.score >= self.floor]


def test_a_floor_gives_what_a_store_with_that_floor_gives() -> None:
    made = me.rescore(run(SMALL, odd.Plain), score_floor=2.0)
    expected = run(SMALL, Floored)
    names = [name for name in expected.results if name not in TIMES]
    pd.testing.assert_frame_equal(made.results[names], expected.results[names])
    assert made.verdict.exit_code == expected.verdict.exit_code
    assert len(made.hits) < len(run(SMALL, odd.Plain).hits)


def test_a_smaller_k_gives_what_a_run_with_it_gives() -> None:
    cut = Suite(tuple(replace(probe, k=2) for probe in SMALL), SMALL.haystack, "test")
    made, expected = me.rescore(run(SMALL, odd.Plain), k=2), run(cut, odd.Plain)
    names = ["probe", "k", "recall_all", "recall_fraction", "rr", "ndcg", "precision", "first_rank"]
    pd.testing.assert_frame_equal(made.results[names], expected.results[names])
    assert made.manifest.k == 2 and made.manifest.options["rescored_at_k"] == 2
    assert "scored at k = 2 without asking the store again" in made.manifest.notes


def test_a_leak_beyond_the_cutoff_stays_one() -> None:
    first = run(SMALL, odd.ScopeBlind)
    assert first.leaks and me.rescore(first, k=1).leaks == first.leaks


class Distances(odd.Plain):
    """Scores of which lower is better."""

    capabilities = Capabilities(score_order="low")

    def found(self, query: str, k: int, scope: str | None) -> list[Hit]:
        return [Hit(h.id, h.text, -(h.score or 0.0)) for h in super().found(query, k, scope)]


def test_where_lower_is_better_the_floor_is_the_highest() -> None:
    first = run(SMALL, Distances)
    made = me.rescore(first, score_floor=-2.0)
    assert made.hits["score"].max() <= -2.0 < first.hits["score"].max()
    groups = made.hits.groupby(["probe", "repeat"])["rank"]
    assert all(sorted(rank) == list(range(1, len(rank) + 1)) for _, rank in groups)


def test_bounds_are_taken_in_place_of_those_of_the_run() -> None:
    first = run(SMALL, odd.Plain)
    assert me.rescore(first, floors={"precision": 0.99}).verdict.exit_code == 1
    failing = run(SMALL, lambda: odd.FailingSearch("person1"))
    assert failing.verdict.exit_code == 1
    assert me.rescore(failing, allow_errors=9).verdict.exit_code == 0
    assert me.rescore(first, targets={"mrr": 0.1}).targets == {"mrr": 0.1}


def test_causes_and_controls_of_other_answers_are_left_out() -> None:
    first = run(SMALL, odd.Plain)
    causes = me.diagnose(first, odd.Plain).causes
    told = first.diagnosed(causes)
    assert me.rescore(told, floors={"mrr": 0.1}).causes is causes
    assert me.rescore(told, k=1).causes is None


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"k": 6}, "no probe was asked for more than 5"),
        ({"k": 0}, "k is 0, wanted a whole number from 1"),
        ({"k": True}, "k is True"),
        ({"score_floor": "high"}, "score_floor is 'high', wanted a number"),
        ({"score_floor": float("nan")}, "score_floor is nan"),
    ],
)
def test_rules_that_cannot_be_are_refused(rules: dict[str, Any], told: str) -> None:
    with pytest.raises(FrameError, match=told):
        me.rescore(run(SMALL, odd.Plain), **rules)
    with pytest.raises(me.MemevalError, match="floors"):
        me.rescore(run(SMALL, odd.Plain), floors={"recal": 1.0})


def test_hits_without_a_score_take_no_floor() -> None:
    made = run(SMALL, odd.TextsOnly)
    with pytest.raises(FrameError, match="hits have no score to hold against it"):
        me.rescore(made, score_floor=0.5)


def test_a_run_without_a_hit_takes_any_rule() -> None:
    made = run([SMALL[-3]], odd.Plain)
    assert me.rescore(replace(made, hits=made.hits[:0]), score_floor=9.0, k=1).hits.empty
