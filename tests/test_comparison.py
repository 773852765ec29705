"""Two runs, one verdict: the rules in their order, the laws they keep, the numbers they show."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.comparing.ranked import outcomes_of_rankings
from memeval.comparison import Comparison, compare
from memeval.datasets import read_locomo
from memeval.errors import MemevalError, RunFileError
from memeval.frames import CHANGES, COMPARISON, names
from memeval.outcomes import Outcomes
from memeval.probe import Probe
from memeval.record import Record
from memeval.report.comparison_text import comparison_markdown, comparison_text
from memeval.runner import run
from memeval.runs import Run
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite
from memeval.verdicts import Validity
from tests.outcome_sides import MANIFEST, named, side
from tests.suites import suite

ALL_FIRST = named([1] * 34)


def with_ranks(changed: dict[int, int | None], n: int = 34) -> dict[str, int | None]:
    return named([changed.get(at, 1) for at in range(n)])


def word(made: Comparison) -> tuple[str, int]:
    return made.verdict.word, made.verdict.exit_code


@pytest.fixture(scope="module")
def made() -> Run:
    return run(suite(), SqliteStore)


def test_the_frames_have_the_columns_and_types_of_their_schemas() -> None:
    found = compare(side(ALL_FIRST), side(with_ranks({0: None})))
    assert list(found.frame.columns) == names(COMPARISON)
    assert list(found.changes.columns) == names(CHANGES)
    assert found.frame["wins"].dtype == "int64" and found.changes["rank_before"].dtype == "Int64"


def test_identical_lists_are_the_same_and_all_numbers_stay(made: Run) -> None:
    found = compare(made, made)
    assert word(found) == ("SAME", 0) and found.passed
    assert found.changes.empty
    deltas = found.frame.set_index("metric")["delta"].dropna()
    times = deltas.index.str.endswith("_ms")  # ratios
    assert (deltas[~times] == 0).all() and (deltas[times] == 1).all()
    assert deltas["latency_ms"] == 1.0


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([1, 2, 5, None]), min_size=1, max_size=40),
    st.lists(st.booleans(), max_size=4),
    st.booleans(),
)
def test_what_is_compared_with_itself_is_the_same(ranks, silent, steady) -> None:  # type: ignore[no-untyped-def]
    one = side(named(ranks), silent={f"n{n}": s for n, s in enumerate(silent)}, steady=steady)
    found = compare(one, one)
    assert word(found) == ("SAME", 0)
    assert found.changes.empty and (found.frame["delta"].fillna(0) == 0).all()


RANKS = st.lists(st.sampled_from([1, 2, 3, 5, None]), min_size=20, max_size=40)


@settings(max_examples=40)
@given(RANKS, st.randoms(use_true_random=False))
def test_swapping_the_sides_turns_every_sign_and_lost_into_gained(ranks, random) -> None:  # type: ignore[no-untyped-def]
    other = [random.choice([rank, rank, 1, 4, None]) for rank in ranks]
    one = compare(side(named(ranks)), side(named(other)))
    back = compare(side(named(other)), side(named(ranks)))
    assert one.named("lost") == back.named("gained")
    assert one.named("gained") == back.named("lost")
    for metric in ("recall_all", "recall_fraction", "mrr", "ndcg", "leaks"):
        there, here = one.of(metric), back.of(metric)
        assert there["delta"] == pytest.approx(-here["delta"], abs=1e-12)
        assert (there["wins"], there["losses"]) == (here["losses"], here["wins"])
        ends = (there["low"], there["high"]), (-here["high"], -here["low"])
        assert ends[0] == pytest.approx(ends[1], abs=1e-9, nan_ok=True), metric


@settings(max_examples=40)
@given(RANKS, st.randoms(use_true_random=False))
def test_a_probe_that_did_not_change_never_turns_a_pass_into_a_fail(ranks, random) -> None:  # type: ignore[no-untyped-def]
    other = [random.choice([rank] * 6 + [1, None]) for rank in ranks]
    old, new = named(ranks), named(other)
    before = compare(side(old), side(new))
    after = compare(side(old | {"z": 2}), side(new | {"z": 2}))
    for metric in ("recall_all", "ndcg"):
        assert before.of(metric)["p_value"] == after.of(metric)["p_value"]
    if before.passed:
        assert after.passed


def test_flips_and_their_tests_are_those_of_the_method() -> None:
    # 4 losses, no gain: McNemar mid-p .03125; the sign flip of four equal falls 1/16 = .0625. Holm:
    # the smaller doubled, .0625, and the larger at least that: .0625. Not significant at 34 probes;
    # with 5 losses 1/64 = .015625 and 1/32, doubled .03125.
    four = compare(side(ALL_FIRST), side(with_ranks(dict.fromkeys(range(4)))))
    assert four.of("recall_all")["p_value"] == pytest.approx(0.0625)
    assert four.of("ndcg")["p_value"] == pytest.approx(0.0625)
    five = compare(side(ALL_FIRST), side(with_ranks(dict.fromkeys(range(5)))))
    assert five.of("recall_all")["p_value"] == pytest.approx(0.03125)
    assert word(four) == ("CANNOT TELL", 0) and word(five) == ("FAIL", 1)
    assert "queries like these do worse" in five.verdict.reason
    assert five.of("recall_all")["regressed"] and not four.of("recall_all")["regressed"]
    tested = five.frame.loc[five.frame["p_value"].notna(), "metric"]
    assert list(tested) == ["recall_all", "ndcg"]


def test_ranks_alone_can_be_significant() -> None:
    # Six of 34 fall from rank 1 to 2, none is lost: sign flip 1/64, doubled 1/32.
    found = compare(side(ALL_FIRST), side(with_ranks(dict.fromkeys(range(6), 2))))
    assert found.of("ndcg")["p_value"] == pytest.approx(1 / 32)
    assert word(found) == ("FAIL", 1) and found.changes.empty


def test_a_pass_needs_the_bound_below_the_margin() -> None:
    # One of 34 turns from rank 1 to 2: no loss. The exact bound of no loss is 1 - .05^(1/34).
    found = compare(side(ALL_FIRST), side(with_ranks({0: 2})))
    assert found.bound == pytest.approx(1 - 0.05 ** (1 / 34)) and word(found) == ("PASS", 0)
    # One loss of 34: Wilson 90 % of 1/34 ends at .125 (z = 1.645), above .10.
    lost = compare(side(ALL_FIRST), side(with_ranks({0: None})))
    assert word(lost) == ("CANNOT TELL", 0) and not lost.passed
    assert 0.11 < lost.bound < 0.13
    # Ends of the interval are those of the bound, with the sign of the difference.
    assert lost.of("recall_all")["low"] == pytest.approx(-lost.bound)
    assert f"{lost.bound:.3f}" in lost.verdict.reason
    assert lost.needed is not None and f"{lost.needed}" in lost.verdict.next_step
    assert word(compare(side(ALL_FIRST), side(with_ranks({0: None})), margin=0.2)) == ("PASS", 0)


def test_the_smallest_fall_that_so_many_probes_show_is_told() -> None:
    found = compare(side(ALL_FIRST), side(ALL_FIRST))
    # Holm halves the level of the first of two tests, to .025: 5 losses without a gain (1/64) show,
    # 4 (1/32) do not. At the fall of .190 a Binomial(34, .190) is 5 or more four times in five.
    below = sum(math.comb(34, k) * found.detectable**k * (1 - found.detectable) ** (34 - k)
                for k in range(5))  # fmt: skip
    assert 1 - below == pytest.approx(0.8, abs=1e-6)
    assert "0.190" in repr(found)
    assert math.isnan(compare(side(named([1] * 3)), side(named([1] * 3))).detectable)


def test_the_ratchet_holds_every_probe_where_both_are_verified_deterministic() -> None:
    lost = with_ranks({7: None}, n=200)
    one = named([1] * 200)
    found = compare(side(one, steady=True), side(lost, steady=True))
    assert word(found) == ("FAIL", 1)
    assert "on these probes: 1 probe lost that passed before: p07" in found.verdict.reason
    assert "memeval accept --reason" in found.verdict.next_step
    for sides in ((True, False), (False, True), (False, False)):
        unsure = compare(side(one, steady=sides[0]), side(lost, steady=sides[1]))
        assert word(unsure) == ("PASS", 0) and unsure.named("lost") == ["p07"]
        assert any("may be chance" in note for note in unsure.notes)


def test_a_store_that_declares_that_it_varies_is_not_deterministic_whatever_was_seen() -> None:
    manifest = MANIFEST | {"verified_deterministic": True, "capabilities": {"deterministic": False}}
    one = side(named([1] * 200), manifest=manifest)
    other = side(with_ranks({7: None}, n=200), manifest=manifest)
    assert word(compare(one, other)) == ("PASS", 0)


@pytest.mark.parametrize(
    ("repeats", "must", "expected"),
    [(3, True, "FAIL"), (5, True, "FAIL"), (2, True, "CANNOT TELL"), (5, False, "PASS")],
)
def test_else_only_probes_marked_must_hold_it_from_three_repeats(
    repeats: int, must: bool, expected: str
) -> None:
    kept = {f"p{n:02}": (repeats, repeats) for n in range(200)}
    marked = ["p07"] if must else []
    one = side(named([1] * 200), passes=kept, must=marked)
    other = side(with_ranks({7: None}, n=200), passes=kept | {"p07": (0, repeats)}, must=marked)
    found = compare(one, other)
    assert found.verdict.word == expected
    if expected == "CANNOT TELL":
        assert "--repeats 5" in found.verdict.next_step
        assert found.needed is None and "would decide" not in repr(found)  # probes are not wanting


def test_one_repeat_that_still_passes_is_flaky_and_no_loss_but_of_a_probe_marked_must() -> None:
    kept = {f"p{n:02}": (5, 5) for n in range(200)}
    one = side(named([1] * 200), passes=kept)
    found = compare(one, side(named([1] * 200), passes=kept | {"p07": (1, 5)}))
    assert word(found) == ("PASS", 0)
    assert found.named("flaky") == ["p07"] and not found.named("lost")
    marked = side(named([1] * 200), passes=kept | {"p07": (4, 5)}, must=["p07"])
    held = compare(one, marked)
    assert word(held) == ("FAIL", 1)
    assert "1 probe marked must and lost: p07 (passed 4 of 5)" in held.verdict.reason
    # It was not whole before: nothing new.
    assert word(compare(marked, marked)) != ("FAIL", 1)


def repeated(passed: int, asked: int = 5, n: int = 34, first: int | None = 1) -> Outcomes:
    ranks = named([first] * n)
    return side(ranks, passes=dict.fromkeys(ranks, (passed, asked)))


def test_with_repeats_a_probe_is_found_where_most_of_them_passed() -> None:
    # All 34 fall from 5 of 5 to 1 of 5, and the one that passes is the first, which a file holds.
    fallen = compare(repeated(5), repeated(1))
    assert word(fallen) == ("FAIL", 1)
    row = fallen.of("recall_all")
    assert (row["baseline"], row["current"], row["losses"]) == (1.0, 0.0, 34)
    assert any("found where most of its repeats passed" in note for note in fallen.notes)
    # 4 of 5 pass still, and the one that fails is the first: neither recall nor ranks fell.
    kept = compare(repeated(5), repeated(4, first=None))
    assert word(kept) == ("CANNOT TELL", 0)  # a fifth of the answers is lost all the same
    assert "passes more seldom: 1.000 -> 0.800" in kept.verdict.reason
    assert word(compare(repeated(20, 20), repeated(19, 20, first=None))) == ("PASS", 0)
    assert kept.of("recall_all")["delta"] == 0 and kept.of("ndcg")["p_value"] == 1.0
    # Half of them are not most.
    assert compare(repeated(4, 4), repeated(2, 4)).of("recall_all")["losses"] == 34
    assert not any("most of its" in note for note in compare(repeated(5), repeated(5)).notes)


def test_no_fewer_probes_are_advised_than_were_asked_in_vain() -> None:
    # 4 of 30 lost, none gained: mid-p 1/32 is below .05 but not below .025, where Holm decides.
    # L losses have 2^-(L + 1), so .025 takes 4.32 losses: 4.32 / 4 x 30 = 32.4 probes.
    found = compare(side(named([1] * 30)), side(with_ranks(dict.fromkeys(range(4)), n=30)))
    assert word(found) == ("CANNOT TELL", 0) and found.needed == 33
    assert "33 positive probes would decide" in found.verdict.next_step


@settings(max_examples=40)
@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, min(n, 6)))))
def test_advice_is_more_than_was_asked(pair: tuple[int, int]) -> None:
    n, lost = pair
    ranks = named([1] * n)
    other = side(named([None] * lost + [2] + [1] * (n - lost - 1) if lost < n else [None] * n))
    found = compare(side(ranks), other)
    if found.verdict.word == "CANNOT TELL" and found.needed is not None:
        assert found.needed > n


def test_lists_of_which_only_the_first_repeat_is_known_are_not_the_same() -> None:
    assert word(compare(repeated(5), repeated(5))) == ("PASS", 0)
    assert word(compare(repeated(1, 1), repeated(5))) == ("PASS", 0)
    assert word(compare(repeated(1, 1), repeated(1, 1))) == ("SAME", 0)
    known = repeated(5)
    lists = {name: (answer,) * 5 for name, answer in known.answers.items()}
    known = dataclasses.replace(known, repeats=lists)
    assert word(compare(known, known)) == ("SAME", 0)
    assert word(compare(repeated(1, 1), known)) == ("SAME", 0)
    assert word(compare(repeated(5), known)) == ("PASS", 0)
    other = {name: (*answers[:4], ("else",)) for name, answers in lists.items()}
    moved = dataclasses.replace(known, repeats=other)
    assert word(compare(known, moved)) == ("PASS", 0)
    # Seen to be equal in every repeat: the first tells the others.
    steady = MANIFEST | {"verified_deterministic": True}
    assert word(compare(dataclasses.replace(repeated(5), manifest=steady), known)) == ("SAME", 0)


def test_a_removed_probe_that_was_marked_must_is_warned_of() -> None:
    before = side(ALL_FIRST, must=["p00", "p01"])
    after = side({name: 1 for name in ALL_FIRST if name != "p00"})
    found = compare(before, after)
    assert word(found) == ("SAME", 0)
    assert any("removed since, so that nothing holds them: p00" in note for note in found.notes)
    assert any("no longer: p01" in note for note in found.notes)
    assert "nothing holds them: p00" in " ".join(repr(found).split())


@pytest.mark.parametrize("name", ["baseline", "current"])
def test_an_invalid_suite_comes_first_and_no_number_is_shown(name: str) -> None:
    invalid = Validity("invalid", ("chance is too high",), next_step="add a haystack")
    sides = {"baseline": side(ALL_FIRST), "current": side(with_ranks({0: None}), leaks={"p01": 1})}
    sides[name] = dataclasses.replace(sides[name], validity=invalid)
    found = compare(**sides)
    assert word(found) == ("INVALID", 4)
    assert "chance is too high" in found.verdict.reason and name in found.verdict.reason
    for shown in (repr(found), comparison_markdown(found), found._repr_html_()):
        assert "recall_all" not in shown and "0.9" not in shown and "chance is too high" in shown
    assert len(found.frame)  # reachable for those who ask for it by name


def test_what_measures_something_else_is_not_comparable_before_any_gate() -> None:
    other = side(ALL_FIRST, manifest=MANIFEST | {"haystack_hash": "other"}, leaks={"p01": 1})
    found = compare(side(ALL_FIRST), other)
    assert word(found) == ("NOT COMPARABLE", 5)
    assert "haystack: h in the baseline, other now" in found.verdict.reason
    assert "1 leaked record" in found.verdict.reason
    assert "recall_all" not in repr(found)
    anyway = compare(side(ALL_FIRST), other, anyway=True)
    assert word(anyway) == ("FAIL", 1)


def test_the_store_under_test_stands_before_every_number_and_never_blocks() -> None:
    other = side(ALL_FIRST, manifest=MANIFEST | {"store": "Other"})
    found = compare(side(ALL_FIRST), other)
    assert word(found) == ("SAME", 0)
    text = repr(found)
    assert text.index("Store in the baseline, Other now") < text.index("VERDICT")
    assert text.index("VERDICT") < text.index("recall_all")


def test_leaks_fail_whatever_the_baseline() -> None:
    leaking = side(ALL_FIRST, leaks={"p03": 2})
    found = compare(leaking, leaking)
    assert word(found) == ("FAIL", 1)
    assert found.verdict.reason.startswith("2 leaked records in 1 probe: p03")
    assert found.of("leaks")["regressed"]


def test_a_broken_contract_and_errors_fail() -> None:
    broken = side(ALL_FIRST)
    broken.probes.loc[3, "n_contract"] = 1
    assert "broke its contract" in compare(side(ALL_FIRST), broken).verdict.reason
    failing = side(with_ranks({3: None}), status={"p03": "failed"})
    found = compare(side(ALL_FIRST), failing)
    assert word(found) == ("FAIL", 1) and "1 search failed, 0 allowed: p03" in found.verdict.reason
    allowed = compare(side(ALL_FIRST), dataclasses.replace(failing, allow_errors=1))
    assert allowed.verdict.word == "CANNOT TELL"


def test_a_store_that_answers_nothing_fails_though_it_never_did() -> None:
    mute = side(named([None] * 30), status={f"p{n:02}": "not_supported" for n in range(30)})
    assert word(compare(mute, mute)) == ("FAIL", 1)


def test_a_floor_fails_only_where_even_the_bound_is_below_it() -> None:
    # 17 of 34: Wilson 95 % ends at .6594 (by hand: (.5 + 1.9207/34 + 1.96 sqrt(.25/34 +
    # .9604/34^2)) / (1 + 3.8415/34)).
    half = named([1] * 17 + [None] * 17)
    for floor, expected in ((0.65, "SAME"), (0.67, "FAIL")):
        one = side(half, metrics={"recall_all": 0.5}, floors={"recall_all": floor})
        assert compare(one, one).verdict.word == expected
    assert "its floor is 0.67" in compare(one, one).verdict.reason


def test_a_floor_on_a_mean_and_one_that_is_a_ceiling() -> None:
    one = side(ALL_FIRST, metrics={"mrr": 1.0, "staleness": 0.2}, floors={"staleness": 0.1})
    assert "staleness is 0.200; its floor is 0.1" in compare(one, one).verdict.reason
    ranks = named([1, 2, 3, 4, 5, None] * 5)
    low = side(ranks, metrics={"mrr": 0.38}, floors={"mrr": 0.99})
    assert word(compare(low, low)) == ("FAIL", 1)
    undefined = side(ALL_FIRST, metrics={"mrr": math.nan}, floors={"mrr": 0.9})
    assert word(compare(undefined, undefined)) == ("SAME", 0)


def test_only_probes_of_equal_content_are_compared() -> None:
    # Two of 34 are edited and fail now, one is added: 32 stay, none of them flips.
    one = side(ALL_FIRST)
    other = side(
        with_ranks({0: None, 1: None}) | {"new": None}, content={"p00": "another", "p01": "another"}
    )
    found = compare(one, other)
    assert word(found) == ("SAME", 0)
    assert found.of("recall_all")["n"] == 32 and found.of("recall_all")["delta"] == 0
    assert found.named("edited") == ["p00", "p01"] and found.named("added") == ["new"]
    assert compare(other, one).named("removed") == ["new"]


def test_a_probe_that_the_store_can_no_longer_take_is_lost_and_in_no_mean() -> None:
    gone = side(with_ranks({2: None}), status={"p02": "not_supported"}, steady=True)
    found = compare(side(ALL_FIRST, steady=True), gone)
    assert found.of("recall_all")["n"] == 33 and found.of("recall_all")["delta"] == 0
    assert word(found) == ("FAIL", 1) and found.named("lost") == ["p02"]
    assert "p02 (the store cannot take it now)" in found.verdict.reason
    unsure = compare(side(ALL_FIRST), dataclasses.replace(gone, manifest=MANIFEST))
    assert word(unsure) == ("PASS", 0) and unsure.named("lost") == ["p02"]
    assert "lost, since the store cannot take it now: p02" in unsure.verdict.reason
    assert not any("may be chance" in note for note in unsure.notes)
    marked = side(with_ranks({2: None}), status={"p02": "not_supported"}, must=["p02"])
    held = compare(side(ALL_FIRST), marked)
    assert word(held) == ("FAIL", 1) and "p02 (the store cannot take it now)" in held.verdict.reason


def test_earlier_looks_make_the_tests_stricter() -> None:
    # 5 losses: Holm .03125. First of many looks: .05/2 = .025.
    sides = side(ALL_FIRST), side(with_ranks(dict.fromkeys(range(5))))
    assert compare(*sides).verdict.word == "FAIL"
    spent = compare(*sides, looks=0)
    assert spent.verdict.word == "CANNOT TELL" and spent.alpha == pytest.approx(0.025)


def test_probes_of_one_history_are_flipped_together() -> None:
    # Six falls from rank 1 to 2 in one history of six probes are one flip: p = 1/2, Holm 1.
    given = [Record(f"r{n}", f"word{n} of the day{n}") for n in range(6)]
    grouped = Suite(
        tuple(Probe(f"p{n:02}", f"word{n}", given, [f"r{n}"], history="talk") for n in range(6))
    )
    asked = run(grouped, SqliteStore)
    ranks = named([1] * 30)
    other = side(named([2] * 6 + [1] * 24))
    assert compare(side(ranks), other).of("ndcg")["p_value"] == pytest.approx(1 / 32)
    told = compare(side(ranks), dataclasses.replace(other, run=asked))
    assert told.of("ndcg")["p_value"] == 1.0


def test_abstention_is_counted_over_negative_probes_by_their_answers() -> None:
    silent = {f"n{n}": True for n in range(10)}
    found = compare(
        side(ALL_FIRST, silent=silent), side(ALL_FIRST, silent=silent | {"n0": False, "n1": False})
    )
    row = found.of("abstention")
    assert (row["baseline"], row["current"], row["n"]) == (1.0, 0.8, 10)
    assert (row["wins"], row["ties"], row["losses"]) == (0, 8, 2)
    assert found.named("lost") == ["n0", "n1"]
    assert "silence is right, with n0-x1" in found.changes["reason"].iloc[0]


def test_a_metric_that_nobody_measured_is_not_compared() -> None:
    negative = side({}, silent={f"n{n}": True for n in range(30)})
    found = compare(negative, negative)
    assert found.of("recall_all")["n"] == 0 and math.isnan(found.of("recall_all")["delta"])
    assert math.isnan(found.bound)
    changed = compare(negative, side({}, silent={f"n{n}": n > 0 for n in range(30)}))
    assert changed.verdict.word == "CANNOT TELL"
    assert "no positive probe" in changed.verdict.reason


def slowed(made: Run, times: float) -> Run:
    calls = made.calls.assign(latency_ms=np.linspace(2.0, 3.0, len(made.calls)) * times)
    return dataclasses.replace(made, calls=calls)


def test_times_are_a_paired_ratio_that_warns_and_gates_only_if_asked(made: Run) -> None:
    one, other = slowed(made, 1.0), slowed(made, 1.5)
    found = compare(one, other)
    row = found.of("latency_ms")
    assert row["delta"] == pytest.approx(1.5) and row["n"] == len(made.calls)
    assert row["losses"] == row["n"] and found.of("latency_p95_ms")["delta"] == pytest.approx(1.5)
    assert word(found) == ("SAME", 0) and any("1.50 times" in note for note in found.notes)
    gated = compare(one, other, latency_gate=True)
    assert word(gated) == ("FAIL", 1) and "1.50 times as long" in gated.verdict.reason
    assert gated.of("latency_ms")["regressed"]
    near = compare(one, slowed(made, 1.15), latency_gate=True)
    assert word(near) == ("SAME", 0) and not near.of("latency_ms")["regressed"]
    assert word(compare(other, one, latency_gate=True)) == ("SAME", 0)


def test_times_of_another_machine_are_not_compared(made: Run) -> None:
    around = dict(made.manifest.environment) | {"cpus": 77, "cpu": "another"}
    manifest = dataclasses.replace(made.manifest, environment=around)
    found = compare(made, dataclasses.replace(slowed(made, 9.0), manifest=manifest))
    assert math.isnan(found.of("latency_ms")["delta"]) and found.of("latency_ms")["n"] == 0
    assert "latency" not in comparison_text(found).partition("VERDICT")[2]


def test_a_full_run_tells_staleness_and_distinct_probe_by_probe(made: Run) -> None:
    found = compare(made, made)
    for metric in ("staleness", "distinct"):
        row = found.of(metric)
        assert row["baseline"] == pytest.approx(made.value(metric)) and row["n"] > 0


def test_no_option_out_of_its_range_is_taken() -> None:
    one = side(ALL_FIRST)
    for options in ({"margin": 0}, {"margin": 1.0}, {"alpha": 0.5}, {"tolerance": -0.1}):
        with pytest.raises(MemevalError, match="wanted"):
            compare(one, one, **options)  # type: ignore[arg-type]
    with pytest.raises(MemevalError, match="wanted 'paired' or 'tolerance'"):
        compare(one, one, rule="sketch")  # type: ignore[arg-type]
    with pytest.raises(RunFileError, match="wanted a run"):
        compare(one, 7)  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="recall_all"):
        compare(one, one).of("recall")


def test_the_text_keeps_to_80_columns_and_names_cannot_act(made: Run) -> None:
    evil = "lunch\x1b[31m\u202e|<b>" + "x" * 120
    one = side({**ALL_FIRST, evil: 1}, source="a\x1b[2J.json")
    other = side({**ALL_FIRST, evil: None})
    found = compare(one, other)
    for text in (comparison_text(found), repr(found)):
        assert max(map(len, text.splitlines())) <= 80
        assert "\x1b" not in text and "\u202e" not in text
    assert "<b>" not in comparison_markdown(found) and "\x1b" not in comparison_markdown(found)
    html = found._repr_html_()
    assert "<b>x" not in html and "\x1b" not in html and "CANNOT TELL" in html
    short = comparison_text(compare(side(ALL_FIRST), side(with_ranks({0: None, 1: None}))), 1)
    assert "and 1 more probe" in short


def verdicts_under_noise(n: int, loss: float, gain: float, draws: int) -> dict[str, float]:
    """Shares of verdicts on probes that flip by chance, ranks 1 or none, never deterministic."""
    rng = np.random.default_rng(5)
    before = [1] * (n - n // 8) + [None] * (n // 8)
    seen: dict[str, int] = {}
    for _ in range(draws):
        flip = rng.random(n)
        after: list[Any] = [
            (None if f < loss else 1) if rank else (1 if f < gain else None)
            for rank, f in zip(before, flip, strict=True)
        ]
        found = compare(side(named(before)), side(named(after))).verdict.word
        seen[found] = seen.get(found, 0) + 1
    return {name: count / draws for name, count in seen.items()}


def test_error_rates_of_the_verdict_are_those_of_the_method() -> None:
    noise = verdicts_under_noise(34, 0.05, 0.05, 60)
    assert noise.get("FAIL", 0) <= 0.1 and "CANNOT TELL" in noise
    fallen = verdicts_under_noise(100, 0.16, 0.05, 40)
    assert fallen["FAIL"] >= 0.7 and fallen.get("PASS", 0) <= 0.1


def mempalace(shared: Path, mode: str, wanted: dict[str, list[str]]) -> Outcomes:
    file = shared / "data" / "mempalace-locomo" / f"{mode}_session_top10.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found = {f"{r['sample_id']}-q{r['qa_index']:03d}": r["retrieved_ids"] for r in rows}
    ranked = {name: found[name] for name in wanted}
    return outcomes_of_rankings(ranked, wanted, k=10, source=f"MemPalace {mode}")


def test_two_published_rankings_fail_one_way_and_pass_the_other(shared: Path) -> None:
    probes = read_locomo(shared / "data" / "locomo" / "locomo2.json").suite
    wanted = {
        probe.name: list(
            dict.fromkeys(f"session_{probe.state.by_id[n].meta['session']}" for n in probe.expect)
        )
        for probe in probes
    }
    raw, hybrid = (mempalace(shared, mode, wanted) for mode in ("raw", "hybrid"))
    better, worse = compare(raw, hybrid), compare(hybrid, raw)
    assert word(better) == ("PASS", 0) and word(worse) == ("FAIL", 1)
    assert "queries like these do worse" in worse.verdict.reason
    assert "lost that passed before" not in worse.verdict.reason  # never verified deterministic
    row = worse.of("recall_all")
    assert (row["n"], row["baseline"], row["current"]) == (
        231, pytest.approx(0.9048, abs=5e-5), pytest.approx(0.6450, abs=5e-5),
    )  # fmt: skip
    for found, sign in ((better, 1), (worse, -1)):
        for metric in ("recall_all", "recall_fraction", "mrr", "ndcg"):
            ends = found.of(metric)["low"] * sign, found.of(metric)["high"] * sign
            assert min(ends) > 0, metric
    assert better.comparability.quality == "unknown" and "unknown" in repr(better)


def test_rankings_know_their_content_and_keep_strangers_apart() -> None:
    one = outcomes_of_rankings([["a", None], ["b"]], [["a"], []], forbidden=[[], ["b"]])
    assert one.answers == {"0": ("a", "?"), "1": ("b",)}
    assert one.probes["n_leaked"].tolist() == [0, 1]
    assert word(compare(one, one)) == ("FAIL", 1)  # a leak
    groups = outcomes_of_rankings([["a"]], [[["b", "a"]]])
    assert groups.hashes == outcomes_of_rankings([["a"]], [[("a", "b")]]).hashes
    assert groups.hashes != outcomes_of_rankings([["a"]], [["a"]]).hashes


@pytest.mark.parametrize("rule", ["paired", "tolerance"])
def test_a_gate_on_time_that_cannot_judge_gives_no_success(made: Run, rule: Any) -> None:
    full = dataclasses.replace(made, calls=made.calls.assign(latency_ms=math.nan))
    found = compare(full, made, latency_gate=True, rule=rule)
    assert word(found) == ("CANNOT TELL", 0) and not found.passed
    said = "cannot gate on time: the baseline holds no times"
    assert said in found.verdict.reason and said in found.notes
    assert "compare two run files" in found.verdict.next_step
    assert compare(full, made, rule=rule).verdict.word == "SAME"


def test_a_gate_on_time_says_what_makes_times_differ(made: Run) -> None:
    options = dict(made.manifest.options) | {"jobs": 4}
    other = dataclasses.replace(made, manifest=dataclasses.replace(made.manifest, options=options))
    found = compare(made, other, latency_gate=True)
    assert found.verdict.word == "CANNOT TELL"
    assert "cannot gate on time: workers that asked at a time" in found.verdict.reason


def test_times_of_several_workers_never_gate_though_both_sides_had_as_many(made: Run) -> None:
    options = dict(made.manifest.options) | {"jobs": 2}
    manifest = dataclasses.replace(made.manifest, options=options)
    one, other = (
        dataclasses.replace(slowed(made, times), manifest=manifest) for times in (1.0, 9.0)
    )
    found = compare(one, other, latency_gate=True)
    assert found.verdict.word == "CANNOT TELL" and found.of("latency_ms")["regressed"] is pd.NA
    assert "cannot gate on time: 2 workers asked at a time" in found.verdict.reason


def test_a_fail_stays_one_where_time_cannot_be_judged() -> None:
    lost = side(with_ranks(dict.fromkeys(range(5))))
    found = compare(side(ALL_FIRST), lost, latency_gate=True)
    assert word(found) == ("FAIL", 1)
    assert any("cannot gate on time: both sides hold no times" in note for note in found.notes)


def test_no_pass_while_abstention_is_known_to_have_fallen() -> None:
    silent = {f"n{n}": n < 10 for n in range(20)}
    many = named([1] * 60)
    mute = side(many, silent=silent)
    fallen = compare(mute, side(many, silent=dict.fromkeys(silent, False)))
    row = fallen.of("abstention")
    assert (row["baseline"], row["current"]) == (0.5, 0.0) and row["high"] < 0
    assert fallen.bound < fallen.margin  # recall_all alone would pass
    assert word(fallen) == ("CANNOT TELL", 0)
    assert "abstention fell: 0.500 -> 0.000 over 20 negative probes" in fallen.verdict.reason
    assert f"[{row['low']:+.3f}, {row['high']:+.3f}]" in fallen.verdict.reason
    (note,) = [note for note in fallen.notes if note.startswith("warning: abstention")]
    assert "only recall_all and ndcg are tested" in note
    assert math.isnan(row["p_value"])  # and it is no third test
    # One answer more is within luck; the other way round nothing is withheld.
    assert compare(mute, side(many, silent=silent | {"n0": False})).passed
    assert compare(side(many, silent=dict.fromkeys(silent, False)), mute).passed


def test_flips_of_recall_are_not_called_lost_and_gained() -> None:
    worse = compare(side(ALL_FIRST), side(with_ranks(dict.fromkeys(range(12)))))
    assert "worse on 12 probes, better on 0" in worse.verdict.reason
    # Leaks that are gone gain probes whose recall does not move.
    clean = compare(side(ALL_FIRST, leaks={"p00": 1, "p01": 2}), side(ALL_FIRST))
    assert clean.verdict.word == "PASS"
    assert "recall_all worse on 0, better on 0 of 34 positive probes" in clean.verdict.reason
    assert "passing as a whole: 2 gained" in clean.verdict.reason


def test_the_tolerance_rule_shows_no_p_and_names_metrics_as_the_table() -> None:
    lost = side(with_ranks({0: None}), metrics={})
    told = dict.fromkeys(("recall_all", "mrr", "distinct", "staleness", "leaks"), 0.0)
    one, other = (dataclasses.replace(s, metrics=told) for s in (side(ALL_FIRST), lost))
    found = compare(one, other, rule="tolerance", tolerance=0.01)
    assert "recall_all: 1.000 -> 0.971" in found.verdict.reason
    for text in (comparison_text(found), comparison_markdown(found), found._repr_html_()):
        assert "two tests" not in text and "recall_at_k" not in text
    heads = comparison_text(found).partition("metric  ")[2].splitlines()[0].split()
    assert heads == ["before", "now", "delta", "interval", "n", "+/=/-"]
    heads = comparison_text(compare(one, other)).partition("metric  ")[2].splitlines()[0].split()
    assert "p" in heads


def test_many_added_or_removed_probes_stand_in_one_paragraph() -> None:
    few = side(named([1] * 30))
    found = compare(side(named([1] * 99)), few)
    assert found.verdict.word == "NOT COMPARABLE"
    text = comparison_text(found, 40)
    assert len(text.splitlines()) < 30 and "removed  p30, p31" in text
    assert "gone: passed" not in text and "and 29 more" in " ".join(text.split())
    assert "removed: p30, p31" in comparison_markdown(found)
    ten = compare(side(named([1] * 99)), side(named([1] * 89)))
    assert comparison_text(ten).count("gone: passed 1 of 1 before") == 10


def test_a_ratio_of_times_that_rounds_to_one_is_level(made: Run) -> None:
    from memeval.plots.comparison import _moved
    from memeval.report.comparison_rows import way

    found = compare(slowed(made, 1.0), slowed(made, 1.004))
    row: Any = next(r for r in found.frame.itertuples() if r.metric == "latency_p95_ms")
    assert (way(row), _moved(row)) == ("level", "x 1.00 level")
    found = compare(slowed(made, 1.0), slowed(made, 1.02))
    row = next(r for r in found.frame.itertuples() if r.metric == "latency_p95_ms")
    assert (way(row), _moved(row)) == ("worse", "x 1.02 worse")
