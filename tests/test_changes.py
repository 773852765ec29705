"""What became of each probe: lost, gained, flaky, added, removed, edited, and who stands there."""

from __future__ import annotations

import dataclasses

import pandas as pd

from memeval.comparing.changes import changes, not_asked
from memeval.comparing.sides import Sides, listed
from memeval.outcomes import Outcomes
from tests.outcome_sides import side


def changed(before: Outcomes, after: Outcomes, common: tuple[str, ...]) -> pd.DataFrame:
    return changes(Sides(before, after, common)).set_index("probe")


def answering(made: Outcomes, **answers: tuple[str, ...]) -> Outcomes:
    return dataclasses.replace(made, answers=dict(made.answers) | answers)


def test_ranks_before_and_after_and_who_pushed_the_record_out() -> None:
    before = answering(side({"a": 2}), a=("x", "gold", "y"))
    after = answering(side({"a": None}), a=("x", "new", "y", "other"))
    row = changed(before, after, ("a",)).loc["a"]
    assert row["change"] == "lost"
    assert row["rank_before"] == 2 and pd.isna(row["rank_after"])
    assert row["displaced_by"] == "new other"
    assert "at rank 2 before, not found now" in row["reason"]


def test_a_record_that_only_fell_names_those_that_came_before_it() -> None:
    # Flaky: found at rank 1 before, at 3 now behind y, which stood behind it, and z, which is new.
    before = answering(side({"a": 1}, passes={"a": (5, 5)}), a=("gold", "y"))
    after = answering(side({"a": 3}, passes={"a": (2, 5)}), a=("y", "z", "gold", "w"))
    row = changed(before, after, ("a",)).loc["a"]
    assert (row["change"], row["displaced_by"]) == ("flaky", "y z")
    assert "passed 5 of 5 before, 2 of 5 now" in row["reason"]


def test_an_empty_answer_displaces_by_nothing() -> None:
    before = side({"a": 1})
    after = answering(side({"a": None}), a=())
    assert pd.isna(changed(before, after, ("a",)).loc["a", "displaced_by"])


def test_gained_probes_and_the_reason_that_they_failed_before() -> None:
    before = side({"a": None, "b": 1}, status={"a": "timeout"}, leaks={"b": 2})
    found = changed(before, side({"a": 1, "b": 1}), ("a", "b"))
    assert list(found["change"]) == ["gained", "gained"]
    assert found["displaced_by"].isna().all()
    assert "before the search ran out of time" in found.loc["a", "reason"]
    assert "before 2 records leaked" in found.loc["b", "reason"]


def test_kinds_come_in_their_order_and_names_sorted_within() -> None:
    before = side({"e": 1, "b": 1, "a": 1, "g": None, "gone": 1}, passes={"e": (1, 1)})
    after = side({"e": 1, "b": None, "a": None, "g": 2, "new": 1}, content={"e": "edited"})
    found = changed(before, after, ("a", "b", "g"))
    assert list(found.index) == ["a", "b", "g", "new", "gone", "e"]
    assert list(found["change"]) == ["lost", "lost", "gained", "added", "removed", "edited"]
    assert "not compared" in found.loc["e", "reason"]
    assert found.loc["gone", "reason"] == "gone: passed 1 of 1 before"


def test_a_probe_that_never_passes_is_no_change() -> None:
    assert changed(side({"a": None}), side({"a": None}), ("a",)).empty


def test_ids_without_answers_are_no_fault() -> None:
    bare = [dataclasses.replace(side({"a": r}), answers={}) for r in (1, None)]
    row = changed(bare[0], bare[1], ("a",)).loc["a"]
    assert row["change"] == "lost" and pd.isna(row["displaced_by"])


def test_names_in_a_sentence_are_safe_and_counted() -> None:
    assert listed(["a\x1b", "b", "c"], 2) == "a\u241b, b and 1 more"


def test_a_probe_that_was_flaky_before_is_told_though_it_is_steady_now() -> None:
    before = side({"a": 1}, passes={"a": (3, 5)})
    row = changed(before, side({"a": 1}, passes={"a": (5, 5)}), ("a",)).loc["a"]
    assert row["change"] == "flaky" and "passed 3 of 5 before, 5 of 5 now" in row["reason"]


def test_a_gained_probe_is_displaced_by_nothing_though_its_record_fell() -> None:
    # It leaked before, with its record at rank 1; now there is no leak, and x stands before it.
    before = answering(side({"a": 1}, leaks={"a": 1}), a=("gold", "leak"))
    row = changed(before, answering(side({"a": 2}), a=("x", "gold")), ("a",)).loc["a"]
    assert row["change"] == "gained" and pd.isna(row["displaced_by"])


def test_with_repeats_ranks_are_said_to_be_of_the_first() -> None:
    before = side({"a": 1}, passes={"a": (5, 5)})
    row = changed(before, side({"a": None}, passes={"a": (4, 5)}), ("a",)).loc["a"]
    assert "4 of 5 now; in the first repeat: first expected record at rank 1" in row["reason"]
    once = changed(side({"a": 1}), side({"a": None}), ("a",)).loc["a"]
    assert "first repeat" not in once["reason"]


def test_a_probe_that_the_store_cannot_take_is_not_asked_and_has_no_rank() -> None:
    gone = side({"a": None}, status={"a": "not_supported"})
    now = changed(side({"a": 1}), gone, ("a",)).loc["a", "reason"]
    assert now == "passed before, not now; not asked now: the store cannot take it"
    assert not_asked(now) == (False, True)
    then = changed(gone, side({"a": 1}), ("a",)).loc["a", "reason"]
    assert not_asked(then) == (True, False) and "not found" not in then
    assert not_asked(None) == (False, False)
