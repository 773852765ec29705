"""Rules C1 to C5 on suites and stores that break one of them each."""

from __future__ import annotations

from typing import Any

import pytest

from memeval.controls import run_controls
from memeval.errors import WeakSuiteWarning
from memeval.probe import Probe
from memeval.record import Hit, Record
from memeval.runner import run
from memeval.stores.broken import RandomStore, ShuffledStore
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite
from memeval.validity import positives, rows
from tests.suites import BACKGROUND, leakable, negative, positive, suite


def test_a_suite_of_negatives_alone_is_invalid() -> None:
    made = run(Suite(tuple(negative(n) for n in range(9)), BACKGROUND, "test"), SqliteStore)
    assert made.validity.status == "invalid"
    assert made.validity.reasons == (
        "no positive probe: nothing can be recalled, so nothing is measured",
    )
    assert made.verdict.exit_code == 4


def test_given_alone_is_luck_and_the_same_suite_in_a_haystack_is_not() -> None:
    probes = tuple(positive(n) for n in range(20))
    # k = 5 of 4 records is everything: the chance is 1
    bare = run(Suite(probes), SqliteStore)
    assert bare.validity.status == "invalid"
    assert bare.validity.reasons[0].startswith("luck alone recalls 1.000 of the probes")
    with pytest.warns(WeakSuiteWarning):
        assert run(Suite(probes, BACKGROUND, "test"), SqliteStore).validity.status == "weak"


def test_chance_is_the_hypergeometric_law_of_the_records_that_may_be_seen() -> None:
    seen = positives(run(suite(), SqliteStore))
    # 20 probes with 4 + 100 eligible records, 5 with 1 + 100; one expected, k = 5
    assert sorted(seen.chance) == pytest.approx([5 / 104] * 20 + [5 / 101] * 5)


def test_a_suite_of_k_one_cannot_see_order() -> None:
    probes = tuple(positive(n, k=1) for n in range(20))
    made = run(Suite(probes, BACKGROUND, "test"), SqliteStore)
    assert made.validity.status == "invalid"
    assert "for the suite to see ranking" in made.validity.reasons[0]


class Backwards(SqliteStore):
    """Finds what it must and puts it last."""

    def search(self, query: str, **options: Any) -> list[Hit]:
        found = super().search(query, **options)
        return [Hit(hit.id, hit.text) for hit in found[::-1]]


def test_a_store_that_ranks_backwards_is_blamed_and_not_the_suite() -> None:
    made = run(suite(), Backwards)
    assert made.validity.status == "valid"
    assert len(made.validity.store_faults) == 1
    assert "a shuffle of its own answers" in made.validity.store_faults[0]
    assert made.recall_at_k == 1.0
    assert (made.verdict.word, made.verdict.exit_code) == ("FAIL", 1)


class OneHit(SqliteStore):
    """Returns its best record and nothing else."""

    def search(self, query: str, *, k: int, **options: Any) -> list[Hit]:
        return super().search(query, k=1, **options)


def test_an_answer_of_one_record_is_too_short_to_judge_order() -> None:
    made = run(suite(), OneHit)
    assert made.validity.status == "valid"
    assert made.validity.store_faults == ()
    assert any("too short an answer" in note for note in made.validity.notes)
    assert made.verdict.word == "PASS"


def test_two_perfect_probes_are_too_few_to_judge_a_store() -> None:
    with pytest.warns(WeakSuiteWarning):
        made = run(suite(2, 0, 0), SqliteStore)
    judged = {row["metric"]: row for row in rows(made)}
    assert judged["recall_all"]["applicable"] is False or judged["recall_all"]["passed"]
    assert made.validity.store_faults == ()


def test_thin_suites_are_weak_and_say_in_what() -> None:
    with pytest.warns(WeakSuiteWarning):
        made = run(suite(12, 3, 0), SqliteStore)
    assert made.validity.reasons == (
        "positive probes: 12, at least 20 wanted",
        "negative probes: 3, at least 5 wanted",
        "probes with forbid: 0, at least 5 wanted",
    )


def test_every_control_is_run_and_stands_beside_chance_and_bound() -> None:
    controls = run_controls(suite(), SqliteStore)
    frame = controls.frame
    broken = {"null", "oracle", "random", "shuffled", "newest", "constant"}
    assert set(frame["store"]) == {*broken, "real"} and set(controls.runs) == broken
    assert frame["passed"].all()
    assert set(frame["blames"]) == {"none"}
    assert controls["null_recall"] == 0.0
    assert controls["random_recall"] < 0.2
    assert controls["shuffled_mrr"] < controls.real.mrr - 0.1
    assert controls["valid"] is True
    assert controls.runs["oracle"].recall_at_k == 1.0
    assert controls.real.controls is not None


def test_controls_of_a_store_that_ranks_backwards_blame_the_store() -> None:
    controls = run_controls(suite(), Backwards)
    blamed = controls.frame[~controls.frame["passed"].fillna(True)]
    assert set(blamed["blames"]) == {"store"}
    assert controls["valid"] is True
    assert (controls.verdict.word, controls.verdict.exit_code) == ("FAIL", 1)


def test_controls_of_probes_without_haystack_blame_the_suite() -> None:
    controls = run_controls(Suite(tuple(positive(n) for n in range(20))), SqliteStore)
    assert (controls.verdict.word, controls.verdict.exit_code) == ("INVALID", 4)
    assert controls["valid"] is False


def test_a_pipeline_that_answers_without_a_store_is_found_out() -> None:
    known = {p.query: p for p in suite()}

    def from_memory(store: Any, view: Any) -> list[Hit]:
        probe = known.get(view.query)
        return [Hit(group[0]) for group in probe.groups] if probe else []

    controls = run_controls(suite(), SqliteStore, retrieve=from_memory, check_store=False)
    null = controls.frame[controls.frame["store"] == "null"].iloc[0]
    assert null["value"] == 1.0
    assert controls.verdict.word == "INVALID"


def test_a_shuffled_store_keeps_recall_and_loses_rank() -> None:
    real = run(suite(), SqliteStore)
    made = run(suite(), lambda: ShuffledStore(SqliteStore(), seed=1))
    assert made.recall_at_k == real.recall_at_k
    assert made.mrr < real.mrr - 0.1
    assert made.validity.store_faults  # and is blamed for it


def test_a_random_store_is_no_better_than_luck() -> None:
    made = run(suite(), lambda: RandomStore(7), check_store=False)
    assert made.recall_at_k < 0.2
    assert any("better than luck" in fault for fault in made.validity.store_faults)


def test_an_unknown_name_of_the_controls_says_which_there_are() -> None:
    controls = run_controls([positive(1), leakable(1)], SqliteStore)
    with pytest.raises(KeyError, match="null_recall, random_recall, shuffled_mrr, valid"):
        controls["null"]


def test_a_chance_of_exactly_the_bound_is_within_it() -> None:
    # 0.1 three times has a mean of 0.10000000000000002 in floats
    given = [Record(f"r{n}", f"alpha{n} text") for n in range(10)]
    probes = [Probe(f"p{n}", f"alpha{n}", given, [f"r{n}"], k=1) for n in range(3)]
    made = run(Suite(tuple(probes)), SqliteStore)
    chance = next(row for row in rows(made) if row["metric"] == "chance")
    assert chance["value"] == pytest.approx(0.1)
    assert chance["passed"]
