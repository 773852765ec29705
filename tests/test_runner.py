from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from memeval.errors import FrameError, ProbeError, StoreError, WeakSuiteWarning
from memeval.probe import Probe
from memeval.record import Hit, Record
from memeval.runner import histories, plan, run
from memeval.stores.broken import NullStore, RandomStore
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite
from tests.suites import BACKGROUND, leakable, positive, suite

thin = pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
TIMES = ["write_ms", "visible_ms", "cold_ms", "latency_ms"]


def test_a_run_asks_every_probe_once_in_the_order_of_the_suite() -> None:
    asked = suite()
    made = run(asked, SqliteStore)
    assert list(made.calls["probe"]) == [probe.name for probe in asked]
    assert list(made.results["probe"]) == [probe.name for probe in asked]
    assert set(made.calls["status"]) == {"ok"}
    assert (made.recall_at_k, made.leaks) == (1.0, 0)


@thin
def test_the_same_seed_gives_the_same_tables_but_for_times() -> None:
    first, second = (run(suite(6, 2, 2), RandomStore, check_store=False, seed=3) for _ in "ab")
    pd.testing.assert_frame_equal(first.hits, second.hits)
    pd.testing.assert_frame_equal(first.qrels, second.qrels)
    pd.testing.assert_frame_equal(first.calls.drop(columns=TIMES), second.calls.drop(columns=TIMES))
    other = run(suite(6, 2, 2), RandomStore, check_store=False, seed=4)
    assert not other.hits.equals(first.hits)


def test_a_bare_list_is_an_ad_hoc_run_without_haystack_and_unchecked() -> None:
    made = run([positive(1)], SqliteStore)
    assert made.validity.status == "unchecked"
    assert list(made.calls["n_records"]) == [4]
    assert made.verdict.word == "PASS"


def test_a_suite_is_asked_in_its_haystack() -> None:
    made = run(suite(), SqliteStore)
    positives = made.calls[made.calls["probe"].str.startswith("positive")]
    # four given records, 100 of background in each of three scopes, a twin in each foreign scope
    assert set(positives["n_records"]) == {4 + 300 + 2}
    assert set(positives["n_eligible"]) == {4 + 100}


def test_an_instance_in_the_place_of_a_factory_is_refused_with_the_fix() -> None:
    with pytest.raises(StoreError, match=r"make_store=lambda: SqliteStore\(\.\.\.\)"):
        run([positive(1)], SqliteStore())  # type: ignore[arg-type]


def test_no_probe_at_all_is_refused() -> None:
    with pytest.raises(ProbeError, match="no probe to ask"):
        run([], SqliteStore)


def test_unknown_floors_are_refused_before_anything_is_asked() -> None:
    with pytest.raises(FrameError, match="did you mean 'recall_all'"):
        run([positive(1)], _refusing, floors={"recal_all": 0.8})


def _refusing() -> Any:
    raise AssertionError("the store must not be made")


def test_repeats_below_one_are_refused() -> None:
    with pytest.raises(StoreError, match="repeats is 0, wanted a whole number from 1"):
        run([positive(1)], SqliteStore, repeats=0)


def test_each_repeat_gets_a_store_of_its_own() -> None:
    made = run([positive(1), positive(2)], SqliteStore, repeats=3)
    assert list(made.calls["repeat"]) == [0, 1, 2] * 2
    assert len(made.results) == 2
    assert not made.results["flaky"].any()
    assert made.manifest.repeats == 3


def test_max_calls_refuses_a_run_that_needs_more_before_it_begins() -> None:
    # 4 writes, then the cold, the scored and the repeated search
    with pytest.raises(StoreError, match="at least 7 calls to the store, at most 6"):
        run([positive(1)], _refusing, max_calls=6)


def test_plan_counts_writes_and_searches_with_the_haystack() -> None:
    assert plan([positive(1)]) == (4, 3)
    assert plan([positive(1)], repeats=2, repeat_check=False) == (8, 4)
    assert plan(Suite((positive(1),), BACKGROUND, "test")) == (306, 3)


@thin
def test_planned_calls_are_the_calls_that_are_made() -> None:
    made = run(suite(3, 1, 1), RandomStore, check_store=False)
    writes, searches = plan(suite(3, 1, 1))
    assert (made.manifest.options["puts"], made.manifest.options["searches"]) == (writes, searches)


def shared_history(*names: str) -> list[Probe]:
    given = [Record("r1", "red van"), Record("r2", "blue kiosk")]
    return [Probe(name, "kiosk", given, ["r2"], history="town") for name in names]


def test_probes_of_one_history_share_a_store_that_is_written_once() -> None:
    made_stores: list[SqliteStore] = []

    def make() -> SqliteStore:
        made_stores.append(SqliteStore())
        return made_stores[-1]

    asked = [*shared_history("a", "b"), positive(1), *shared_history("c")]
    assert [[p.name for p in group] for group in histories(asked)] == [
        ["a", "b", "c"],
        ["positive-01"],
    ]
    made = run(asked, make, check_store=False)
    assert list(made.results["probe"]) == ["a", "b", "positive-01", "c"]
    assert made.recall_at_k == 1.0
    assert made.manifest.options["puts"] == 2 + 4


def test_progress_is_told_after_each_history_up_to_the_total() -> None:
    seen: list[tuple[int, int, str]] = []
    run([positive(1), positive(2)], SqliteStore, progress=lambda *told: seen.append(told))
    assert seen == [(1, 2, "positive-01"), (2, 2, "positive-02")]


class Moody(SqliteStore):
    """Forgets every second answer, and does not claim otherwise."""

    from memeval.stores.base import Capabilities

    capabilities = Capabilities()
    asked = 0

    def search(self, query: str, **options: Any) -> list[Hit]:
        type(self).asked += 1
        return super().search(query, **options) if type(self).asked % 2 else []


def test_a_store_that_changes_its_mind_is_asked_five_times_and_called_flaky_by_outcome() -> None:
    made = run([positive(1)], Moody)
    assert made.manifest.repeats == 5
    assert len(made.calls) == 5
    assert made.calls["breaches"].isna().all()  # it never declared itself deterministic
    assert any("changed when the same query was asked again" in n for n in made.manifest.notes)


def test_a_weak_suite_warns_and_says_so_with_its_numbers() -> None:
    with pytest.warns(WeakSuiteWarning, match="negative probes: 2, at least 5 wanted"):
        made = run(suite(20, 2, 5), SqliteStore)
    assert made.validity.status == "weak"
    assert made.verdict.word == "PASS"


def test_a_valid_suite_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(suite(), SqliteStore).validity.status == "valid"


def test_an_amnesiac_store_is_not_passed_although_nothing_leaks() -> None:
    made = run(suite(), NullStore, check_store=False)
    assert made.leaks == 0
    # Poisson-binomial, 25 probes at 5/104 and 5/101: P(X >= 6) = 0.0013, P(X >= 7) = 0.0002
    assert made.validity.store_faults == (
        "the store recalls 0 of 25 probes, 7 are needed to be better than luck",
    )
    assert (made.verdict.word, made.verdict.exit_code) == ("FAIL", 1)


def test_chosen_probes_judge_neither_suite_nor_store() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = run(suite().select(names=["negative-*"]), SqliteStore)
    assert made.validity.status == "unchecked"
    assert made.validity.notes[0] == (
        "5 of 30 probes were chosen: they judge neither the suite nor the store"
    )
    assert made.verdict.word == "PASS"
    assert run(suite()[:], SqliteStore).validity.status == "valid"  # all of it is no choice


def test_a_lost_probe_that_is_marked_must_fails_the_run_and_comes_first() -> None:
    lost = replace(positive(1), name="z-must", must=True, query="nothing of this kind")
    also = replace(positive(2), name="a-missed", query="nothing of that kind")
    made = run([also, lost, positive(3)], SqliteStore)
    assert made.verdict.reason == "1 probe marked must did not pass: z-must"
    assert made.verdict.exit_code == 1
    assert list(made.failing["probe"]) == ["z-must", "a-missed"]


def test_a_store_that_is_broken_on_purpose_needs_no_self_check() -> None:
    assert run([positive(1)], "null").recall_at_k == 0.0
    assert run([positive(1)], "random").recall_at_k == 1.0  # k = 5 of four records


def test_every_objection_is_told_the_most_serious_first() -> None:
    class Bad(SqliteStore):
        def search(self, query: str, *, scope: str, **options: Any) -> list[Hit]:
            if "person1 " in query:
                raise ConnectionError("refused")
            found = super().search(query, scope=scope, **options)
            return found + super().search(query, scope="bo", **options)

    made = run([leakable(1), positive(1)], Bad, check_store=False)
    assert made.verdict.reason == (
        "1 leaked record in 1 probe: leakable-01; also: 1 search failed, 0 allowed"
    )


@pytest.mark.parametrize(
    "options",
    [
        {"timeout_s": "5"},
        {"timeout_s": -1},
        {"settle_s": float("nan")},
        {"repeats": 1.5},
        {"repeats": True},
        {"retries": -1},
        {"seed": "a"},
        {"allow_errors": None},
        {"max_calls": 0},
    ],
)
def test_an_option_of_the_wrong_kind_is_refused_before_the_store_is_asked(
    options: dict[str, Any],
) -> None:
    name = next(iter(options))
    with pytest.raises(StoreError, match=f"^{name} is .*, wanted a .*number from"):
        run([positive(1)], SqliteStore, **options)


@pytest.mark.parametrize("bound", ["a", None, float("nan"), float("inf"), True])
@pytest.mark.parametrize("what", ["floors", "targets"])
def test_a_bound_that_is_no_number_is_refused(what: str, bound: Any) -> None:
    with pytest.raises(FrameError, match=f"{what}: mrr is .*, wanted a finite number"):
        run([positive(1)], SqliteStore, **{what: {"mrr": bound}})
    with pytest.raises(FrameError, match="wanted a mapping"):
        run([positive(1)], SqliteStore, **{what: ["mrr"]})
