"""The regression check of the specification, on its own dictionaries and on files of memeval."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memeval.baseline import accept
from memeval.comparison import compare
from memeval.errors import MemevalError, RunFileError
from memeval.regression import check_regression
from memeval.report.comparison_rows import circumstances
from memeval.runner import run
from memeval.runs import Run
from memeval.stores.sqlite import SqliteStore
from memeval.verdicts import Validity
from tests.outcome_sides import MANIFEST, named, side
from tests.suites import suite

FIGURES: dict[str, Any] = {
    "recall_at_k": 0.90, "mrr": 0.75, "distinct_at_k": 0.8, "staleness": 0.01,
}  # fmt: skip


@pytest.fixture(scope="module")
def made() -> Run:
    return run(suite(), SqliteStore)


def saved(folder: Path, **changes: Any) -> Path:
    path = folder / "b.json"
    path.write_text(json.dumps(FIGURES | {"per_probe": {"a": {"hit": True}}} | changes))
    return path


def current(**changes: Any) -> dict[str, Any]:
    return FIGURES | {"leaks": 0, "per_probe": {"a": {"hit": True, "leaked": []}}} | changes


def test_the_check_fails_on_a_drop(tmp_path: Path) -> None:
    ok, problems = check_regression(
        current(recall_at_k=0.80, per_probe={"a": {"hit": False, "leaked": []}}), saved(tmp_path)
    )
    assert not ok
    assert any("recall_at_k" in problem for problem in problems)
    assert any("newly failing probes: a" in problem for problem in problems)
    assert problems[0] == "recall_at_k: 0.900 -> 0.800, by more than 0.03"


def test_the_check_fails_on_any_leak(tmp_path: Path) -> None:
    ok, problems = check_regression(
        {"leaks": 1, "recall_at_k": 0.99, "mrr": 0.9, "distinct_at_k": 0.9, "staleness": 0.0,
         "per_probe": {}}, saved(tmp_path),
    )  # fmt: skip
    assert not ok and "LEAK GATE" in problems[0]
    assert not any("not comparable" in problem for problem in problems)


def test_what_is_no_worse_passes_and_says_that_comparability_is_unknown(tmp_path: Path) -> None:
    ok, notes = check_regression(current(), saved(tmp_path))
    assert ok and any("comparability unknown" in note for note in notes)


@pytest.mark.parametrize(
    ("metric", "value", "fails"),
    [
        ("recall_at_k", 0.87, False),  # by .03 exactly, which in floats is a little more
        ("recall_at_k", 0.869, True),
        ("mrr", 0.71, True),
        ("distinct_at_k", 0.76, True),
        ("staleness", 0.04, False),
        ("staleness", 0.05, True),  # up is worse
        ("staleness", 0.0, False),
        ("p95_ms", 9000.0, False),  # times are not judged by it
    ],
)
def test_each_metric_has_its_direction(
    metric: str, value: float, fails: bool, tmp_path: Path
) -> None:
    ok, problems = check_regression(current(**{metric: value}), saved(tmp_path, p95_ms=40))
    assert ok is not fails
    assert any(problem.startswith(metric) for problem in problems) is fails


def test_newly_failing_probes_are_all_named_in_order(tmp_path: Path) -> None:
    names = [f"p{n}" for n in range(9)]
    path = saved(tmp_path, per_probe={name: {"hit": True} for name in [*names, "x\x1b"]})
    failing = {name: {"hit": False} for name in [*reversed(names), "x\x1b"]}
    ok, problems = check_regression(current(per_probe=failing), path)
    assert not ok
    assert f"newly failing probes: {', '.join(names)}, x\u241b" in problems


def test_added_and_long_failing_probes_do_not_alarm(tmp_path: Path) -> None:
    path = saved(tmp_path, per_probe={"a": {"hit": True}, "b": {"hit": False}})
    entries = {"a": {"hit": True}, "b": {"hit": False}, "new": {"hit": False}}
    assert check_regression(current(per_probe=entries), path)[0]


@pytest.mark.parametrize("missing", ["recall_at_k", "mrr", "distinct_at_k", "staleness", "leaks"])
def test_a_missing_metric_is_an_error_that_names_it(missing: str, tmp_path: Path) -> None:
    given = {name: value for name, value in current().items() if name != missing}
    with pytest.raises(RunFileError, match=f"a dictionary: says nothing of {missing}, wanted"):
        check_regression(given, saved(tmp_path))


def test_a_metric_that_the_baseline_lacks_is_one_too(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text(json.dumps({name: v for name, v in FIGURES.items() if name != "mrr"}))
    with pytest.raises(RunFileError, match=r"b\.json: says nothing of mrr"):
        check_regression(current(), path)


def test_another_spelling_of_the_cutoff_is_the_same_metric(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    others = {"recall_at_5": 0.9, "distinct_at_5": 0.8, "mrr": 0.75, "staleness": 0.01}
    path.write_text(json.dumps(others))
    assert not check_regression(current(recall_at_k=0.5), path)[0]


def test_a_metric_that_was_undefined_before_fails_nothing(tmp_path: Path) -> None:
    assert check_regression(current(mrr=math.nan), saved(tmp_path, mrr=None))[0]
    assert check_regression(current(), saved(tmp_path, mrr=None))[0]


@pytest.mark.parametrize("gone", [None, math.nan, np.float32("nan")])
@pytest.mark.parametrize("metric", ["recall_at_k", "mrr", "distinct_at_k", "staleness"])
def test_a_metric_that_is_undefined_now_is_a_problem(
    metric: str, gone: float | None, tmp_path: Path
) -> None:
    ok, problems = check_regression(current(**{metric: gone}), saved(tmp_path))
    assert not ok and problems[0] == f"{metric}: {FIGURES[metric]:.3f} -> not measured"
    found = compare(saved(tmp_path), current(**{metric: gone}), rule="tolerance")
    assert found.verdict.word == "FAIL" and "-> not measured" in found.verdict.reason


@pytest.mark.parametrize("gone", [None, math.nan])
def test_leaks_that_nobody_counted_are_a_problem(gone: float | None, tmp_path: Path) -> None:
    ok, problems = check_regression(current(leaks=gone), saved(tmp_path))
    assert not ok and problems.count("leaks: not measured") == 1
    assert "leaks: not measured" == problems[0]
    assert problems[0] in check_regression(current(leaks=gone), tmp_path / "none.json")[1]
    found = compare(saved(tmp_path), current(leaks=gone), rule="tolerance")
    assert found.verdict.word == "FAIL" and "no leak" not in found.verdict.reason


def test_probes_that_are_gone_or_new_are_named_and_fail_nothing(tmp_path: Path) -> None:
    entries = {name: {"hit": name != "p2"} for name in ("a", "p1", "p2")}
    ok, notes = check_regression(
        current(per_probe={"a": {"hit": True}, "n": {"hit": True}}),
        saved(tmp_path, per_probe=entries),
    )
    assert ok
    assert (
        "removed: 2 probes are gone: p1, p2 (1 had passed); deleting a failing probe is no success"
        in notes
    )
    assert "added: 1 probe is new: n" in notes


def test_figures_of_two_cutoffs_are_not_comparable(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    rest = {"mrr": 0.75, "staleness": 0.01, "leaks": 0, "per_probe": {"a": {"hit": True}}}
    path.write_text(json.dumps(rest | {"recall_at_10": 0.9, "distinct_at_10": 0.8}))
    now = rest | {"recall_at_5": 0.9, "distinct_at_5": 0.8}
    ok, problems = check_regression(now, path)
    assert not ok
    assert "not comparable: measured at the cutoff 10 in the baseline, at 5 now" in problems
    assert compare(path, now).verdict.word == "NOT COMPARABLE"
    assert check_regression(current(), path)[0]  # recall_at_k does not tell its cutoff


@pytest.mark.parametrize("path", [5, None, {"mrr": 1}])
def test_a_baseline_that_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(RunFileError, match=r"baseline_path is .*, wanted the path"):
        check_regression(current(), path)


def test_a_tolerance_smaller_than_one_probe_is_warned_of(tmp_path: Path) -> None:
    entries = {f"p{n}": {"hit": True} for n in range(30)}
    path = saved(tmp_path, per_probe=entries)
    _, notes = check_regression(current(per_probe=entries), path)
    assert any("smaller than one probe of 30 (0.033 of recall)" in note for note in notes)
    _, notes = check_regression(current(per_probe=entries), path, tolerance=0.04)
    assert not any("smaller than one probe" in note for note in notes)


def test_without_a_baseline_it_is_never_a_success(tmp_path: Path) -> None:
    ok, problems = check_regression(current(), tmp_path / "none.json")
    assert not ok and len(problems) == 1
    assert 'memeval accept --reason "..."' in problems[0] and "none.json" in problems[0]
    ok, problems = check_regression(current(leaks=2), tmp_path / "none.json")
    assert not ok and "LEAK GATE: 2" in problems[0] and "accept" in problems[1]


def test_a_run_against_its_own_baseline(made: Run, tmp_path: Path) -> None:
    path = accept(made, tmp_path / "baseline.json", reason="first")
    assert check_regression(made, path)[0]
    loses = [name for name in made.results["probe"] if name.startswith("positive")][:1]
    hits = made.hits[~made.hits["probe"].isin(loses)]
    ok, problems = check_regression(dataclasses.replace(made, hits=hits), path)
    assert not ok and f"newly failing probes: {loses[0]}" in problems


def test_an_invalid_suite_and_another_haystack_are_problems_of_their_own(
    made: Run, tmp_path: Path
) -> None:
    path = accept(made, tmp_path / "baseline.json", reason="first")
    invalid = dataclasses.replace(made, validity=Validity("invalid", ("no positive probe",)))
    ok, problems = check_regression(invalid, path)
    assert not ok and problems[0].startswith("INVALID:") and "no positive probe" in problems[0]
    manifest = dataclasses.replace(made.manifest, haystack_hash="another")
    ok, problems = check_regression(dataclasses.replace(made, manifest=manifest), path)
    assert not ok and problems[0].startswith("NOT COMPARABLE:") and "haystack" in problems[0]


def test_the_tolerance_rule_says_that_it_speaks_of_these_probes_alone() -> None:
    told = {"recall_all": 1.0, "mrr": 1.0, "distinct": 1.0, "staleness": 0.0, "leaks": 0.0}
    ranks = named([1] * 40)
    one, other = side(ranks, metrics=told), side(ranks | {"p00": 2}, metrics=told)
    found = compare(one, other, rule="tolerance")
    assert found.verdict.word == "PASS" and found.verdict.reason.startswith("on these probes")
    # mrr fell by (1 - 1/2) / 40 = .0125
    assert found.of("mrr")["delta"] == pytest.approx(-0.0125)
    strict = compare(one, other, rule="tolerance", tolerance=0.01)
    assert strict.verdict.word == "FAIL" and strict.of("mrr")["regressed"]
    assert not strict.of("staleness")["regressed"]
    lost = compare(one, side(ranks | {"p00": None}, metrics=told), rule="tolerance")
    assert "newly failing probes: p00" in lost.verdict.reason  # although recall fell by .025


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("margin", value) for value in (0, 1, "x", None, True, math.nan, 10**400)),
        *(("alpha", value) for value in (0, 0.5, "x", None, 1e-17, math.nan)),
        *(("looks", value) for value in (-1, 1.0, "x", True, 10**8, 10**200)),
        *(("tolerance", value) for value in (-0.1, "0.1", None, True, math.inf, 10**400)),
    ],
)
def test_options_out_of_range_are_refused_in_words(name: str, value: Any) -> None:
    one = side(named([1] * 3))
    with pytest.raises(MemevalError, match=f"^{name} is .*, wanted .*; "):
        compare(one, one, **{name: value})


def test_the_ends_of_the_ranges_still_decide() -> None:
    ranks = named([1] * 40)
    one, other = side(ranks), side(ranks | {"p00": None})
    found = compare(one, other, alpha=1e-6, looks=10_000)
    # 1e-6 / (10,001 * 10,002)
    assert found.alpha == pytest.approx(9.997e-15, rel=1e-4)
    assert 1 / 40 < compare(one, other).bound < found.bound < 1.0
    assert compare(one, other, margin=0.001).verdict.word == "CANNOT TELL"


def test_sides_that_name_no_store_are_not_said_to_be_the_same(tmp_path: Path) -> None:
    manifest = {name: value for name, value in MANIFEST.items() if name != "store"}
    ranks = named([1] * 3)
    same = "the store and its settings are the same on both sides"
    nameless = compare(side(ranks), side(ranks, manifest=manifest))
    assert ("tested:", same) not in circumstances(nameless)
    assert any(
        words.startswith("not told")
        for _, words in circumstances(
            compare(side(ranks, manifest=manifest), side(ranks, manifest=manifest))
        )
    )
    assert ("tested:", same) in circumstances(compare(side(ranks), side(ranks)))
    path = tmp_path / "b.json"
    path.write_text(json.dumps(FIGURES | {"recall_at_10": 0.9, "per_probe": {}}))
    assert ("tested:", same) not in circumstances(compare(path, current()))
