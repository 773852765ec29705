"""May two runs be compared? What blocks, what is warned of, what is under test."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import memeval as me
from memeval import environment
from memeval.baseline import accept
from memeval.comparing import comparability
from memeval.comparing.comparability import (
    BLOCKING,
    Comparability,
    Difference,
    comparability_key,
    compare_manifests,
    verified_deterministic,
)
from memeval.comparing.steadiness import equal_answers
from memeval.files import runfiles
from memeval.files.resultsfile import write_results
from memeval.outcomes import Outcomes, as_outcomes, outcomes_of, read_outcomes
from memeval.runs import Run
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite
from memeval.text import normalise, visible

PLACES = "harbour kitchen library station garden attic cellar office market museum".split()
THINGS = "kettle bicycle ladder violin".split()


def probes(n: int, text: str = "The {thing} stands in the {place}.") -> list[me.Probe]:
    made = []
    for i in range(n):
        place, thing = PLACES[i % 10], THINGS[i // 10 % 4]
        record = me.Record("r1", text.format(thing=thing, place=place))
        made.append(me.Probe(f"p{i:02}", f"Where is the {thing} of the {place}?", [record], ["r1"]))
    return made


@pytest.fixture(scope="module")
def run() -> Run:
    return me.run(probes(24), "sqlite")


@pytest.fixture(scope="module")
def one(run: Run) -> Outcomes:
    return outcomes_of(run)


@functools.cache
def small_run() -> Run:
    return me.run(probes(1), "null", check_store=False)


def told(outcomes: Outcomes, **changes: Any) -> Outcomes:
    """The same outcomes with another manifest; None takes a field away."""
    changed = {**outcomes.manifest, **changes}
    return dataclasses.replace(
        outcomes, manifest={name: v for name, v in changed.items() if v is not None}
    )


def around(outcomes: Outcomes, **changes: Any) -> Outcomes:
    return told(outcomes, environment={**outcomes.manifest["environment"], **changes})


def calm(outcomes: Outcomes) -> Outcomes:
    return around(outcomes, dirty=False, load=0.0)


def without(outcomes: Outcomes, names: int) -> Outcomes:
    return dataclasses.replace(outcomes, probes=outcomes.probes.iloc[names:].reset_index(drop=True))


def test_two_runs_of_the_same_are_compared_and_nothing_is_said(one: Outcomes) -> None:
    found = compare_manifests(calm(one), calm(one))
    assert (found.quality, found.latency) == ("comparable", "comparable")
    assert found.lines() == found.latency_lines() == ()
    assert (found.first_difference, found.next_step) == ("", "")
    assert found.common == tuple(f"p{i:02}" for i in range(24))


NORMALISED = {
    "Caf\u00e9  BAR": "cafe bar",
    "Stra\u00dfe": "strasse",
    "\u201cQuoted\u201d it\u2019s": '"quoted" it\'s',
    "\ufb01ne \uff21\uff22": "fine ab",
    "a\u00adb\u200bc": "abc",
    "Tab\tand\nline": "tab and line",
    "\u0130stanbul": "istanbul",
    "x\u00b2 \u00bd": "x2 1\u20442",
    "e\u0301te\u0301": "ete",
    "\u00dcn\u00efc\u00f6de \u2014 dash": "unicode \u2014 dash",
    "12,5 % @ 3pm!": "12,5 % @ 3pm!",
}

CHANGES: Mapping[str, Any] = {
    "schema_version": 99,
    "metric_version": 99,
    "matcher": "id",
    "normaliser_version": 99,
    "haystack_hash": "ffff",
    "generator_version": 99,
    "seed": 99,
}


@pytest.mark.parametrize("field", CHANGES)
def test_each_field_that_defines_the_numbers_blocks_and_is_named_with_both_values(
    one: Outcomes, field: str
) -> None:
    before = told(one, haystack_hash="eeee")
    after = told(before, **{field: CHANGES[field]})
    found = compare_manifests(before, after)
    assert found.quality == "blocked"
    assert [block.field for block in found.blocks] == [field]
    assert str(before.manifest[field]) in found.first_difference
    assert str(CHANGES[field]) in found.first_difference
    assert found.next_step


@pytest.mark.parametrize("field", CHANGES)
def test_a_baseline_that_lacks_such_a_field_blocks(one: Outcomes, field: str) -> None:
    one = told(one, haystack_hash="eeee")
    found = compare_manifests(told(one, **{field: None}), one)
    assert found.quality == "blocked"
    assert found.blocks[0].field == field
    assert "not told in the baseline" in found.first_difference


def test_the_first_of_several_differences_is_told_first(one: Outcomes) -> None:
    found = compare_manifests(told(one, haystack_hash="e"), told(one, haystack_hash="f", seed=3))
    assert found.first_difference == "haystack: e in the baseline, f now"
    assert [block.field for block in found.blocks] == ["haystack_hash", "seed"]


def test_another_haystack_blocks_and_another_store_is_shown() -> None:
    background = [me.Record(f"h{i}", f"Filler number {i} on tides.") for i in range(60)]
    suites = [Suite(tuple(probes(24)), tuple(background[:n])) for n in (59, 60)]
    with pytest.warns(me.WeakSuiteWarning):
        first, second = (outcomes_of(me.run(suite, "sqlite")) for suite in suites)
        other = outcomes_of(me.run(suites[0], lambda: SqliteStore(stem=False)))
    blocked = compare_manifests(first, second)
    assert blocked.quality == "blocked"
    assert blocked.first_difference.startswith("haystack: ")
    shown = compare_manifests(first, other)
    assert shown.quality == "comparable"
    assert "under test: settings.stem: True in the baseline, False now" in shown.lines()


def test_the_seed_does_not_count_where_no_haystack_is_drawn(one: Outcomes) -> None:
    assert one.manifest["haystack_hash"] == "none"
    assert compare_manifests(one, told(one, seed=5)).quality == "comparable"


def test_embedder_and_settings_and_declarations_are_under_test(one: Outcomes) -> None:
    info = {"name": "demo", "embedder": {"id": "small-v1", "dimension": 384}, "index": "flat"}
    before = told(one, store="demo", store_info=info)
    after = told(
        before,
        store_info=info | {"embedder": {"id": "small-v2", "dimension": 384}},
        capabilities={**one.manifest["capabilities"], "rewrites": True},
    )
    found = compare_manifests(before, after)
    assert found.quality == "comparable"
    assert [(d.field, d.baseline, d.current) for d in found.under_test] == [
        ("store_info.embedder.id", "small-v1", "small-v2"),
        ("capabilities.rewrites", False, True),
    ]
    assert found.lines()[0] == "under test: embedder.id: small-v1 in the baseline, small-v2 now"


def test_places_and_secrets_of_a_store_are_never_shown(one: Outcomes) -> None:
    sides = [
        told(one, store_info={"api_key": f"hunter{n}", "url": f"http://h{n}", "path": f"/x/{n}"})
        for n in (1, 2)
    ]
    found = compare_manifests(*sides)
    assert found.under_test == ()
    assert "hunter" not in repr(found)


def test_a_pipeline_of_the_callers_own_is_under_test(one: Outcomes) -> None:
    after = told(one, options={**one.manifest["options"], "retrieve": True})
    assert [d.field for d in compare_manifests(one, after).under_test] == ["options.retrieve"]


def test_another_number_of_repeats_is_warned_of_and_blocks_times(one: Outcomes) -> None:
    found = compare_manifests(calm(one), told(calm(one), repeats=5))
    assert (found.quality, found.latency) == ("comparable", "blocked")
    assert found.lines() == ("warning: repeats: 1 in the baseline, 5 now",)
    assert [d.field for d in found.latency_blocks] == ["repeats"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"python": "3.99.0"}, "environment.python"),
        ({"platform": "Plan9"}, "environment.platform"),
        ({"packages": {"numpy": "99"}}, "environment.packages"),
    ],
)
def test_other_software_is_warned_of_and_blocks_times(
    one: Outcomes, changes: dict[str, Any], field: str
) -> None:
    found = compare_manifests(calm(one), around(calm(one), **changes))
    assert (found.quality, found.latency) == ("comparable", "blocked")
    assert [d.field for d in found.warnings] == [field]
    assert [d.field for d in found.latency_blocks] == [field]


def test_of_the_packages_only_those_that_differ_are_told(one: Outcomes) -> None:
    old, new = ({"numpy": v, "scipy": "1.0"} for v in ("2.0", "2.1"))
    found = compare_manifests(around(calm(one), packages=old), around(calm(one), packages=new))
    assert found.lines() == ("warning: packages: numpy 2.0 in the baseline, numpy 2.1 now",)


@pytest.mark.parametrize("changes", [{"cpu": "Other 9000"}, {"cpus": 999}])
def test_another_machine_blocks_times_alone(one: Outcomes, changes: dict[str, Any]) -> None:
    found = compare_manifests(calm(one), around(calm(one), **changes))
    assert (found.quality, found.latency) == ("comparable", "blocked")
    assert found.lines() == ()
    assert found.latency_lines()[0].startswith("times are not comparable: processor")


def test_times_of_several_workers_are_not_compared_with_those_of_one(one: Outcomes) -> None:
    after = told(calm(one), options={**one.manifest["options"], "jobs": 2})
    found = compare_manifests(calm(one), after)
    assert (found.quality, found.latency) == ("comparable", "blocked")
    assert [d.field for d in found.latency_blocks] == ["options.jobs"]


@pytest.mark.parametrize(("load", "is_warned"), [(4.0, False), (4.1, True), (None, False)])
def test_a_load_above_one_per_core_is_warned_of(
    one: Outcomes, load: float | None, is_warned: bool
) -> None:
    before, after = (around(calm(one), cpus=4, load=value) for value in (0.0, load))
    found = compare_manifests(before, after)
    assert found.latency == "comparable"
    assert bool(found.latency_warnings) is is_warned  # 4.1 on 4 cores is 1.02 per core


@pytest.mark.parametrize("side", [0, 1])
def test_a_dirty_checkout_is_warned_of_on_either_side(one: Outcomes, side: int) -> None:
    sides = [calm(one), calm(one)]
    sides[side] = around(sides[side], dirty=True)
    found = compare_manifests(*sides)
    assert (found.quality, found.latency) == ("comparable", "comparable")
    for warnings in (found.warnings, found.latency_warnings):
        assert [d.field for d in warnings] == ["environment.dirty"]


@pytest.mark.parametrize(("gone", "quality"), [(4, "comparable"), (5, "blocked")])
def test_probes_are_compared_where_both_have_them(one: Outcomes, gone: int, quality: str) -> None:
    # 20 of 24 is 83 %, 19 of 24 is 79 %.
    for sides in ((one, without(one, gone)), (without(one, gone), one)):
        found = compare_manifests(*sides)
        assert found.quality == quality
        assert len(found.common) == 24 - gone
        assert any(d.field == "content_hash" for d in (*found.warnings, *found.blocks))


def test_a_probe_whose_content_was_edited_is_not_compared(one: Outcomes) -> None:
    edited = [*probes(1, "A {thing} is kept in the {place}."), *probes(24)[1:]]
    found = compare_manifests(one, outcomes_of(me.run(edited, "sqlite")))
    assert found.quality == "comparable"
    assert found.common == tuple(f"p{i:02}" for i in range(1, 24))
    assert any("compared over the 23 that both asked" in line for line in found.lines())


def test_too_few_common_positives_of_a_larger_suite_block(run: Run) -> None:
    # 24 positives; 5 more of 29 gone is 83 % of the probes, but 19 positives are left.
    negatives = [
        me.Probe(f"n{i}", "Is there a zebra?", [me.Record("z", "A note.")], []) for i in range(5)
    ]
    whole = outcomes_of(me.run([*probes(24), *negatives], "sqlite"))
    fewer = [me.Probe(f"q{i}", p.query, p.given, p.expect) for i, p in enumerate(probes(5))]
    other = outcomes_of(me.run([*fewer, *probes(24)[5:], *negatives], "sqlite"))
    found = compare_manifests(whole, other)
    assert found.quality == "blocked"
    assert "19 are the same, wanted at least 20" in found.first_difference


def test_a_suite_that_is_small_by_itself_is_compared_and_told() -> None:
    small = outcomes_of(me.run(probes(6), "sqlite"))
    found = compare_manifests(small, small)
    assert found.quality == "comparable"
    assert any(line.startswith("warning: positive probes: 6") for line in found.lines())


def test_nothing_in_common_blocks(one: Outcomes) -> None:
    renamed = dataclasses.replace(
        one, probes=one.probes.assign(probe=("x" + one.probes["probe"]).astype("str"))
    )
    assert compare_manifests(one, renamed).quality == "blocked"
    empty = dataclasses.replace(one, probes=one.probes.iloc[:0])
    assert compare_manifests(empty, empty).quality == "blocked"


def test_chosen_probes_are_told(run: Run) -> None:
    whole = Suite(tuple(probes(26)))
    before, after = (outcomes_of(me.run(suite, "sqlite")) for suite in (whole, whole[:23]))
    found = compare_manifests(before, after)
    assert found.quality == "comparable"
    assert any(d.field == "chosen_of" and d.current == 26 for d in found.warnings)


def test_a_committed_baseline_is_compared_for_quality_and_holds_no_times(
    run: Run, tmp_path: Path
) -> None:
    accept(run, tmp_path / "base.json", reason="first")
    found = compare_manifests(read_outcomes(tmp_path / "base.json"), calm(outcomes_of(run)))
    assert (found.quality, found.latency) == ("comparable", "blocked")
    assert found.lines() == ()
    assert found.latency_lines()[0] == (
        "times are not comparable: latency: no times in the baseline, times now; "
        "it takes two full runs"
    )


def test_a_results_file_is_compared_for_quality(run: Run, tmp_path: Path) -> None:
    write_results(run, tmp_path / "eval-results.json")
    found = compare_manifests(read_outcomes(tmp_path / "eval-results.json"), outcomes_of(run))
    assert (found.quality, found.latency) == ("comparable", "blocked")
    assert found.under_test == ()


def test_the_bare_dictionary_of_the_specification_is_unknown(one: Outcomes) -> None:
    per_probe = {name: {"hit": True, "rank": 1} for name in one.probes["probe"]}
    bare = as_outcomes({"recall_at_k": 1.0, "mrr": 1.0, "per_probe": per_probe})
    for sides in ((bare, one), (one, bare), (bare, bare)):
        found = compare_manifests(*sides)
        assert (found.quality, found.latency) == ("unknown", "unknown")
        assert found.under_test == ()
        assert "comparability unknown" in found.lines()[0]
        assert len(found.common) == 24


def test_a_run_file_of_an_older_memeval_loads_and_blocks(run: Run, tmp_path: Path) -> None:
    path = runfiles.save_run(run, tmp_path / "run.json")
    payload = json.loads(path.read_text())
    for name in ("matcher", "normaliser_version", "generator_version", "verified_deterministic",
                 "config_hash", "fingerprint", "no_fingerprint"):  # fmt: skip
        del payload["manifest"][name]
    del payload["manifest"]["environment"]["cpu"]
    path.write_text(json.dumps(payload))
    old = runfiles.load_run(path)
    assert (old.manifest.matcher, old.manifest.verified_deterministic) == (None, None)
    found = compare_manifests(outcomes_of(old), outcomes_of(run))
    assert found.quality == "blocked"
    assert found.blocks[0].field == "matcher"


def test_a_new_run_file_keeps_the_whole_manifest(run: Run, tmp_path: Path) -> None:
    path = runfiles.save_run(run, tmp_path / "run.json")
    assert runfiles.load_run(path).manifest == run.manifest


def test_a_moved_fingerprint_is_a_silent_change_where_the_store_tells_the_same(
    one: Outcomes,
) -> None:
    before, after = (told(calm(one), fingerprint=f"1-{value}") for value in ("aaa", "bbb"))
    found = compare_manifests(before, after)
    assert found.quality == "comparable"
    assert "silent change" in found.lines()[0]
    assert "1-aaa in the baseline, 1-bbb now" in found.lines()[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"store_info": {"name": "SqliteStore", "settings": {"stem": False}}},
        {"fingerprint": None},
        {"fingerprint": "2-bbb"},
        {"fingerprint": "1-aaa"},
        {"verified_deterministic": False},
    ],
)
def test_no_silent_change_where_something_else_explains_it(
    one: Outcomes, changes: dict[str, Any]
) -> None:
    before = told(calm(one), fingerprint="1-aaa")
    after = told(before, **({"fingerprint": "1-bbb"} | changes))
    assert not any("silent" in line for line in compare_manifests(before, after).lines())


def test_the_key_is_equal_exactly_where_nothing_blocks(one: Outcomes) -> None:
    before = {**one.manifest, "haystack_hash": "eeee"}
    key = comparability_key(before)
    assert comparability_key({**before, "store": "other", "repeats": 9, "environment": {}}) == key
    for field, value in CHANGES.items():
        assert comparability_key({**before, field: value}) != key, field
        assert comparability_key({n: v for n, v in before.items() if n != field}) != key, field


@given(
    st.dictionaries(
        st.sampled_from([*BLOCKING, "options", "environment", "store_info", "fingerprint", "store",
                         "capabilities", "repeats", "chosen_of"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=9),
            lambda inner: st.lists(inner, max_size=2)
            | st.dictionaries(st.text(max_size=9), inner, max_size=3),
            max_leaves=5,
        ),
    )
)  # fmt: skip
def test_a_manifest_of_any_shape_is_judged_in_words_of_one_line(
    manifest: dict[str, Any],
) -> None:
    other = outcomes_of(small_run())
    one = dataclasses.replace(other, manifest=manifest)
    for found in (compare_manifests(one, other), compare_manifests(other, one)):
        lines = (*found.lines(), *found.latency_lines())
        assert all(visible(line) == line for line in lines)
        assert found.quality in ("comparable", "blocked", "unknown")
    assert compare_manifests(one, one).under_test == ()


def test_hostile_values_are_shown_harmless() -> None:
    text = str(Difference("store", "a\x1b[31m", "b\u202e\n" * 99, "store"))
    assert text.isprintable()
    assert len(text) < 200


def test_a_run_tells_whether_answers_were_equal_when_asked_again() -> None:
    class Turning(SqliteStore):
        """Gives its hits forwards and backwards, in turns."""

        capabilities = dataclasses.replace(SqliteStore().capabilities, deterministic=None,
                                           isolation="fresh")  # fmt: skip
        turn = 0

        def search(self, *args: Any, **options: Any) -> Any:
            Turning.turn += 1
            hits = super().search(*args, **options)
            return hits[:: -1 if Turning.turn % 2 else 1]

    given = [me.Record(f"r{i}", f"The {PLACES[i]} of the town.") for i in range(3)]
    probe = me.Probe("town", "the town", given, ["r1"])
    steady = me.run([probe], "sqlite").manifest
    assert steady.verified_deterministic is True
    assert verified_deterministic(dataclasses.asdict(steady))
    turning = me.run([probe], Turning).manifest
    assert turning.verified_deterministic is False
    unseen = me.run([probe], "sqlite", repeat_check=False).manifest
    assert unseen.verified_deterministic is None
    assert not verified_deterministic(dataclasses.asdict(unseen))
    again = me.run([probe], "sqlite", repeat_check=False, repeats=2).manifest
    assert again.verified_deterministic is True


def test_a_store_that_declares_the_contrary_is_not_verified() -> None:
    seen = {"verified_deterministic": True}
    assert verified_deterministic(seen)
    assert not verified_deterministic(seen | {"capabilities": {"deterministic": False}})


def answers(*ids: str | None, status: str = "ok") -> tuple[pd.DataFrame, pd.DataFrame]:
    """One probe, whose repeats gave one hit each, None for a record that nobody wrote."""
    repeats = list(range(len(ids)))
    hits = pd.DataFrame({"probe": "a", "repeat": repeats, "rank": 1, "record_id": list(ids)})
    calls = pd.DataFrame({"probe": "a", "repeat": repeats, "status": status})
    return hits, calls


def test_answers_are_equal_by_record_and_rank() -> None:
    assert equal_answers(*answers("r1", "r1", "r1")) is True
    assert equal_answers(*answers("r1", "r1", "r2")) is False
    assert equal_answers(*answers(None, None)) is True
    assert equal_answers(*answers("r1", None)) is False
    assert equal_answers(*answers("r1")) is None
    assert equal_answers(*answers("r1", "r2", status="failed")) is None
    hits, calls = answers("r1", "r1")
    assert equal_answers(hits[:1], calls) is False  # the second answer is empty


def test_flake_rate_is_the_share_of_probes_with_mixed_repeats(run: Run) -> None:
    hits = [
        ("steady", 0, "r1"), ("steady", 1, "r1"), ("mixed", 0, "r1"), ("mixed", 1, "r2"),
    ]  # fmt: skip
    given = [me.Record("r1", "One."), me.Record("r2", "Two.")]
    made = me.run([me.Probe(n, "One?", given, ["r1"], k=1) for n in ("steady", "mixed")], "sqlite",
                  repeats=2)  # fmt: skip
    assert made.flake_rate == 0.0
    table = made.hits.assign(
        record_id=pd.array([r for _, _, r in hits], dtype="str"),
    )
    assert list(zip(table["probe"], table["repeat"], strict=True)) == [h[:2] for h in hits]
    assert dataclasses.replace(made, hits=table).flake_rate == 0.5  # one of two


def test_the_normaliser_has_a_new_version_when_it_makes_something_else_of_a_text() -> None:
    # Written down from version 1. If this fails, raise memeval.environment.NORMALISER_VERSION:
    # hits are recognised by these texts, so that runs before and after must not be compared.
    assert environment.NORMALISER_VERSION == 1
    made = {text: normalise(text) for text in NORMALISED}
    assert made == NORMALISED


def test_the_table_of_what_blocks_is_that_of_the_method() -> None:
    assert tuple(BLOCKING) == tuple(CHANGES)
    assert comparability.FEWEST_POSITIVES == 20
    assert comparability.LEAST_COMMON == 0.8
    assert Comparability("comparable", "unknown").lines() == ()
