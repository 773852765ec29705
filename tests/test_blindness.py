"""Rule C5: a suite that can be passed without reading the query, and a store that does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from memeval.blindness import Pairs, blind_row, pairs
from memeval.controls import Controls, run_controls
from memeval.errors import WeakSuiteWarning
from memeval.files.runfiles import load_run, save_run
from memeval.loading import load
from memeval.probe import Probe
from memeval.record import Hit, Record
from memeval.report import markdown, plain
from memeval.report.html import report_html
from memeval.runner import run
from memeval.runs import Run
from memeval.stores.broken import NewestStore, RandomStore
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite
from memeval.validity import judge, to_frame
from tests.suites import suite

pytestmark = pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")


def c5(controls: Controls, store: str = "newest") -> dict[str, Any]:
    frame = controls.frame
    row = frame[frame["store"].eq(store) & frame["rule"].eq("C5")]
    assert len(row) == 1
    found: dict[str, Any] = row.iloc[0].to_dict()
    return found


def ranked(*ranks: int | None) -> Run:
    """A run in which the record of each probe stands at that rank, among 40 of its scope."""
    probes = []
    answers = {}
    for n, rank in enumerate(ranks):
        given = [Record(f"r{n}-{j}", f"text {n} {j}") for j in range(40)]
        probes.append(Probe(f"p{n:02}", f"query {n}", given, [f"r{n}-0"]))
        others = [f"r{n}-{j}" for j in range(1, 6)]
        answers[f"query {n}"] = (
            others if rank is None else [*others[: rank - 1], f"r{n}-0", *others[rank - 1 : 4]]
        )

    class Told(RandomStore):
        def search(self, query: str, **options: Any) -> list[Hit]:
            return [Hit(name) for name in answers[query]]

    return run(Suite(tuple(probes)), Told, check_store=False)


def row_of(real: Run, blind: Run) -> dict[str, Any]:
    return blind_row("newest", real, blind)


def test_six_wins_without_a_loss_are_enough_and_five_are_not() -> None:
    # 0.5^6 / 2 = 0.0078 and 0.5^5 / 2 = 0.0156; the level is 0.01
    none = ranked(*[None] * 6)
    assert pairs(ranked(*[1] * 6), none).p_value == pytest.approx(0.5**6 / 2)
    assert row_of(ranked(*[1] * 6), none)["passed"] is True
    five = row_of(ranked(1, 1, 1, 1, 1, None), none)
    assert pairs(ranked(1, 1, 1, 1, 1, None), none).p_value == pytest.approx(0.5**5 / 2)
    assert (five["applicable"], five["passed"], five["blames"]) == (False, None, "none")
    assert "differ on 5 probes: at least 6 are needed" in five["reason"]


def test_ties_are_left_out_and_a_lower_rank_is_a_loss() -> None:
    # ranks 1 1 1 1 1 1 1 1 2 3 against none ... and 1, 2: eight wins, one loss, one tie
    real = ranked(1, 1, 1, 1, 1, 1, 1, 1, 2, 2)
    blind = ranked(*[None] * 8, 1, 2)
    seen = pairs(real, blind)
    assert (seen.n, seen.above, seen.below) == (10, 8, 1)
    # X ~ Bin(9, 1/2): P(X > 8) + P(X = 8) / 2 = (1 + 9 / 2) / 512 = 0.01074: just not enough
    assert seen.p_value == pytest.approx(5.5 / 512)
    assert row_of(real, blind)["passed"] is False
    # nDCG of rank 2 is 1 / log2(3) = 0.6309; the means are (8 + 2 * 0.6309) / 10 and 1.6309 / 10
    assert seen.real == pytest.approx(0.92619, abs=1e-5)
    assert seen.blind == pytest.approx(0.163093, abs=1e-6)
    # luck: 1/40 of the sum of 1 / log2(j + 1) to j = 5, which is 2.94846
    assert seen.chance == pytest.approx(2.94846 / 40, abs=1e-6)


def test_a_blind_store_beyond_luck_blames_the_suite_without_a_number_of_the_store() -> None:
    # luck is 5/40 a probe: of 10 it explains at most 6 (P(X >= 6) = 0.00046 is the first below
    # 0.001, so 5); nine are beyond it
    row = row_of(ranked(2, 2, *[1] * 8), ranked(*[1] * 9, None))
    assert (row["passed"], row["blames"]) == (False, "suite")
    assert "recalls 9 of 10 probes, luck explains at most 5" in row["reason"]
    assert "passed without reading the query" in row["reason"]
    assert f"{row['real']:.3f}" not in row["reason"]


def test_a_store_no_better_than_a_blind_one_that_finds_nothing_is_to_blame() -> None:
    row = row_of(ranked(5, *[None] * 9), ranked(*[None] * 9, 1))
    assert (row["passed"], row["blames"]) == (False, "store")
    assert "above it on 1 probes, below on 1" in row["reason"]


def test_where_nothing_was_found_or_probes_are_few_the_rule_says_nothing() -> None:
    row = row_of(ranked(*[None] * 9), ranked(*[None] * 9))
    assert (row["applicable"], row["passed"], row["blames"]) == (False, None, "none")
    assert row["reason"].startswith("no expected record came back")
    few = row_of(ranked(*[1] * 5), ranked(*[None] * 5))
    assert few["applicable"] is False
    assert few["reason"].startswith("5 positive probes: at least 6 are needed")


def test_probes_that_one_store_cannot_take_are_no_pair() -> None:
    real, blind = ranked(*[1] * 8), ranked(*[None] * 8)
    calls = real.calls.assign(
        status=real.calls["status"].where(real.calls["probe"] != "p03", "not_supported")
    )
    seen = pairs(replace(real, calls=calls), blind)
    assert (seen.n, seen.above) == (7, 7)


def test_where_luck_recalls_everything_the_suite_is_to_blame() -> None:
    seen = Pairs(9, 0, 0, 1.0, 1.0, 1.0, 9, 9, [1.0] * 9)
    assert seen.most_by_luck is None and seen.is_seeing


def given_alone(n: int) -> Probe:
    """Three records as somebody would write them down: what counts was said last."""
    said = [("r1", "breakfast is porridge"), ("r2", "the tram is late"), ("r3", f"lunch{n} here")]
    records = [
        Record(name, text, at=datetime(2026, 3, day, tzinfo=UTC))
        for day, (name, text) in enumerate(said, 1)
    ]
    return Probe(f"p{n:02}", f"where is lunch{n}", records, ["r3"])


def test_a_suite_of_a_few_records_each_is_passed_by_the_newest_ones_and_invalid() -> None:
    controls = run_controls(Suite(tuple(given_alone(n) for n in range(30))), SqliteStore)
    assert controls.runs["newest"].recall_at_k == 1.0
    row = c5(controls)
    assert (row["passed"], row["blames"]) == (False, "suite")
    assert controls.verdict.word == "INVALID"


class Forgetful(SqliteStore):
    """Finds nothing for some of the people."""

    def search(self, query: str, **options: Any) -> list[Hit]:
        return [] if query.endswith("7") else super().search(query, **options)


def test_a_suite_whose_answer_was_always_said_last_is_invalid_though_luck_is_small() -> None:
    probes = []
    for n in range(20):
        given = [Record(f"r{j}", f"note {j} of person{n}") for j in range(60)]
        probes.append(Probe(f"p{n}", f"note 59 of person{n}", given, ["r59"]))
    controls = run_controls(Suite(tuple(probes)), Forgetful)
    assert f"{controls.real.value('ndcg'):.3f}" == "0.900"
    frame = controls.frame
    assert frame.loc[frame["metric"].eq("chance"), "passed"].all()  # 5 of 60
    assert (c5(controls)["passed"], c5(controls)["blames"]) == (False, "suite")
    assert c5(controls, "constant")["passed"]
    assert (controls.verdict.word, controls.verdict.exit_code) == ("INVALID", 4)
    assert "newest records" in controls.verdict.reason
    for text in (plain.report_text(controls.real), markdown.report_text(controls.real)):
        assert "0.900" not in text
        assert "withheld" in text
    assert "0.900" not in report_html(controls.real)


def test_the_shipped_suite_stands_and_what_never_reads_the_query_fails_it(tmp_path: Any) -> None:
    controls = run_controls(load(), "sqlite")
    assert controls.validity.status == "valid" and controls.verdict.word == "PASS"
    for store in ("newest", "constant"):
        row = c5(controls, store)
        assert row["passed"] and row["blames"] == "none"
        assert row["value"] < 0.05 < row["real"]
        assert controls.runs[store].recall_at_k <= 0.05
        assert controls.runs[store].leaks == 0
        assert not controls.runs[store].results["n_contract"].any()
    saved = load_run(save_run(controls.real, tmp_path / "run.json"))
    assert saved.validity == controls.validity
    assert saved.controls is not None
    assert judge(saved, saved.controls) == controls.validity


def test_judging_a_saved_frame_blames_as_the_live_one_did(tmp_path: Any) -> None:
    row = row_of(ranked(5, *[None] * 9), ranked(*[None] * 9, 1))
    real = run(suite(), SqliteStore)
    judged = real.judged(judge(real, to_frame([row])), to_frame([row]))
    assert judged.validity.store_faults == (row["reason"],)
    assert (judged.verdict.word, judged.verdict.exit_code) == ("FAIL", 1)
    again = load_run(save_run(judged, tmp_path / "run.json"))
    assert judge(again, again.controls) == judged.validity


def test_a_store_that_is_newest_only_is_blamed_and_the_suite_is_not() -> None:
    controls = run_controls(suite(), NewestStore, check_store=False)
    assert c5(controls)["blames"] in ("store", "none")
    assert controls.validity.status == "valid"
    assert controls.verdict.word == "FAIL"


def test_the_blind_stores_do_not_stand_behind_a_pipeline() -> None:
    asked: list[str] = []

    def pipeline(store: Any, view: Any) -> Any:
        asked.append(type(store).__name__)
        return store.search(view.query, k=view.k, scope=view.scope)

    run_controls(suite(6, 0, 0), SqliteStore, retrieve=pipeline)
    assert not {"NewestStore", "ConstantStore"} & set(asked)


def test_few_probes_are_told_of_and_fail_nothing() -> None:
    with pytest.warns(WeakSuiteWarning):
        controls = run_controls(suite(3, 1, 1), SqliteStore)
    assert not c5(controls)["applicable"] and not c5(controls, "constant")["applicable"]
    assert any("4 positive probes: at least 6" in note for note in controls.validity.notes)
