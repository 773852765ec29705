"""Paired tests and bounds against enumeration, scipy and the figures of the method page."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp

from memeval.errors import FrameError
from memeval.stats.paired import (
    LogRatio,
    holm,
    mcnemar_exact,
    mcnemar_midp,
    paired_log_ratio,
    paired_loss_bounds,
    spent_alpha,
)
from memeval.stats.power import power_of_drop

counts = st.integers(0, 40)
flips = st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)).map(
    lambda three: (sum(three), three[0], three[1])
)


def midp_by_counting(losses: int, gains: int) -> Fraction:
    """Twice the sign patterns with more losses, plus those with as many, over twice them all."""
    flipped = losses + gains
    more = sum(math.comb(flipped, count) for count in range(losses + 1, flipped + 1))
    return Fraction(2 * more + math.comb(flipped, losses), 2 * 2**flipped)


@given(counts, counts)
def test_midp_counts_ties_half(losses: int, gains: int) -> None:
    found = mcnemar_midp(losses, gains)
    if losses + gains == 0:
        assert found == 1.0
    else:
        assert found == pytest.approx(float(midp_by_counting(losses, gains)), rel=1e-12)
        assert found + mcnemar_midp(gains, losses) == pytest.approx(1.0, abs=1e-12)


@given(counts, counts)
def test_exact_is_the_sign_test_of_scipy(losses: int, gains: int) -> None:
    if losses + gains:
        wanted = binomtest(losses, losses + gains, alternative="greater").pvalue
        assert mcnemar_exact(losses, gains) == pytest.approx(wanted, rel=1e-10)
    else:
        assert mcnemar_exact(losses, gains) == 1.0


def test_midp_values_of_the_method_page() -> None:
    assert (mcnemar_midp(4, 0), mcnemar_midp(3, 0), mcnemar_midp(0, 0)) == (0.03125, 0.0625, 1.0)


@pytest.mark.parametrize(
    ("gains", "exact", "midp"), [(0, 5, 4), (1, 7, 6), (2, 9, 8), (3, 10, 9), (5, 13, 12)]
)
def test_losses_needed_at_five_percent(gains: int, exact: int, midp: int) -> None:
    assert mcnemar_exact(exact, gains) <= 0.05 < mcnemar_exact(exact - 1, gains)
    assert mcnemar_midp(midp, gains) <= 0.05 < mcnemar_midp(midp - 1, gains)


def test_a_very_small_p_value_keeps_its_digits() -> None:
    wanted = float(midp_by_counting(300, 100))
    assert 0.0 < wanted < 1e-20
    assert mcnemar_midp(300, 100) == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("wrong", [-1, math.nan, 0.5, None])
def test_counts_that_are_none_are_refused(wrong: int) -> None:
    for call in (
        lambda: mcnemar_midp(wrong, 0),
        lambda: mcnemar_exact(0, wrong),
        lambda: paired_loss_bounds(3, 1, wrong),
        lambda: spent_alpha(wrong),
    ):
        with pytest.raises(ValueError, match=r"(gains|losses|look): found .*, wanted"):
            call()


def test_numpy_counts_are_counts() -> None:
    assert mcnemar_midp(np.int64(4), np.uint8(0)) == 0.03125


@given(flips)
def test_bounds_are_square_and_add_of_wilson(three: tuple[int, int, int]) -> None:
    n, losses, gains = three
    low, high = paired_loss_bounds(n, losses, gains)
    if n == 0:
        assert math.isnan(low) and math.isnan(high)
        return
    lost, gained = losses / n, gains / n
    ends = []
    for count in (losses, gains):
        shares = binomtest(count, n).proportion_ci(0.9, method="wilson")
        # Exact for a count of 0: (1 - rate)^n = 5 %.
        ends.append((shares.low, shares.high if count else 1 - 0.05 ** (1 / n)))
    below = math.sqrt((lost - ends[0][0]) ** 2 + (ends[1][1] - gained) ** 2)
    above = math.sqrt((ends[0][1] - lost) ** 2 + (gained - ends[1][0]) ** 2)
    assert low == pytest.approx(lost - gained - below, abs=1e-12)
    assert high == pytest.approx(lost - gained + above, abs=1e-12)


@given(flips)
def test_to_swap_the_runs_turns_the_bounds_over(three: tuple[int, int, int]) -> None:
    n, losses, gains = three
    if n:
        low, high = paired_loss_bounds(n, losses, gains)
        assert -1.0 <= low <= (losses - gains) / n <= high <= 1.0
        assert paired_loss_bounds(n, gains, losses) == pytest.approx((-high, -low), abs=1e-15)


@given(flips)
def test_another_loss_raises_the_upper_bound(three: tuple[int, int, int]) -> None:
    n, losses, gains = three
    if losses + gains < n:
        bound = paired_loss_bounds(n, losses, gains).high
        assert paired_loss_bounds(n, losses + 1, gains).high >= bound


def test_bounds_without_a_flip_are_those_of_the_method_page() -> None:
    printed = {
        20: 0.139, 34: 0.084, 50: 0.058, 75: 0.039, 100: 0.030,
        150: 0.020, 200: 0.015, 300: 0.010, 500: 0.006,
    }  # fmt: skip
    for n, bound in printed.items():
        assert paired_loss_bounds(n, 0, 0).high == pytest.approx(bound, abs=5e-4)


@pytest.mark.parametrize(("n", "margin"), [(99, 0.03), (59, 0.05), (29, 0.10)])
def test_probes_without_a_flip_that_back_a_claim(n: int, margin: float) -> None:
    assert paired_loss_bounds(n, 0, 0).high < margin <= paired_loss_bounds(n - 1, 0, 0).high


def test_bounds_when_all_is_lost() -> None:
    low, high = paired_loss_bounds(20, 20, 0)
    assert high == 1.0
    assert 0.7 < low < 1.0
    assert paired_loss_bounds(1, 0, 1).low == -1.0


@pytest.mark.parametrize(
    ("n", "loss", "gain"), [(34, 0.05, 0.05), (34, 0.11, 0.01), (34, 0.15, 0.05), (50, 0.15, 0.05)]
)
def test_the_true_net_loss_is_seldom_above_the_bound(n: int, loss: float, gain: float) -> None:
    missed = 0.0
    for losses, gains in itertools.product(range(n + 1), range(n + 1)):
        kept = n - losses - gains
        if kept < 0:
            continue
        ways = math.comb(n, losses) * math.comb(n - losses, gains)
        chance = ways * loss**losses * gain**gains * (1 - loss - gain) ** kept
        if chance > 1e-9 and paired_loss_bounds(n, losses, gains).high < loss - gain - 1e-12:
            missed += chance
    assert missed <= 0.058


def test_more_flips_than_probes_are_refused() -> None:
    with pytest.raises(ValueError, match="found 2 losses and 2 gains among n = 3 probes, wanted"):
        paired_loss_bounds(3, 2, 2)
    with pytest.raises(ValueError, match="confidence: found 95"):
        paired_loss_bounds(3, 1, 1, 95)


def holm_by_closure(p_values: list[float]) -> list[float]:
    """Closed testing: a claim falls when Bonferroni rejects every group that it is part of."""
    everyone = range(len(p_values))
    groups = [g for size in everyone for g in itertools.combinations(everyone, size + 1)]
    return [
        max(min(1.0, len(g) * min(p_values[j] for j in g)) for g in groups if i in g)
        for i in everyone
    ]


@given(st.lists(st.sampled_from([0.0, 0.01, 0.0249, 0.025, 0.04, 0.3, 1.0]), max_size=6))
def test_holm_is_closed_testing_with_bonferroni(p_values: list[float]) -> None:
    assert holm(p_values).tolist() == pytest.approx(holm_by_closure(p_values), abs=1e-15)


def test_holm_by_hand() -> None:
    # R: p.adjust(c(.01, .02, .03, .04), "holm") is .04 .06 .06 .06.
    assert holm([0.04, 0.02, 0.03, 0.01]).tolist() == pytest.approx([0.06, 0.06, 0.06, 0.04])
    assert holm([]).tolist() == []
    assert holm([0.03]).tolist() == [0.03]


@pytest.mark.parametrize("wrong", [[0.1, math.nan], [1.1], [-0.1], [[0.1, 0.2]], 0.1])
def test_holm_refuses_what_is_no_row_of_p_values(wrong: list[float]) -> None:
    with pytest.raises(FrameError, match=r"p_values: found .*, wanted p-values from 0 to 1"):
        holm(wrong)


def test_the_levels_of_all_looks_add_up_to_alpha() -> None:
    levels = [spent_alpha(look) for look in range(1000)]
    # 1/(1*2) + 1/(2*3) + ... telescopes to 1 - 1/1001.
    assert sum(levels) == pytest.approx(0.05 * (1 - 1 / 1001), abs=1e-12)
    assert levels == sorted(levels, reverse=True)
    assert spent_alpha(1, alpha=0.12) == pytest.approx(0.12 / 6)
    with pytest.raises(ValueError, match="alpha: found 5"):
        spent_alpha(0, alpha=5)


def test_fifty_commits_against_one_baseline_keep_their_false_alarms_rare() -> None:
    # By Boole, P(some false alarm) is at most the sum; the method page simulated <= .011.
    sums = [power_of_drop(34, 0.0, gain_rate=0.05, alpha=spent_alpha(look)) for look in range(50)]
    assert sum(sums) <= 0.011


def test_log_ratio_is_the_t_test_of_scipy() -> None:
    rng = np.random.default_rng(3)
    before = rng.lognormal(2.0, 1.0, 25)
    after = before * rng.lognormal(0.05, 0.2, 25)
    other = ttest_1samp(np.log(after / before), 0.0, alternative="greater")
    ends = ttest_1samp(np.log(after / before), 0.0).confidence_interval(0.9)
    found = paired_log_ratio(before, after)
    assert found.p_value == pytest.approx(other.pvalue, rel=1e-9)
    assert (found.low, found.high) == pytest.approx((math.exp(ends.low), math.exp(ends.high)))
    assert found.ratio == pytest.approx(float(np.exp(np.log(after / before).mean())))
    assert found.n == 25
    # The lower end of the two-sided 90 % interval passes 1 as p passes 5 %.
    at_the_edge = paired_log_ratio(before * found.low, after)
    assert at_the_edge.p_value == pytest.approx(0.05, abs=1e-9)


def test_to_swap_the_runs_turns_the_ratio_over() -> None:
    before, after = [10.0, 12.0, 9.0, 30.0], [11.0, 15.0, 8.5, 33.0]
    one, other = paired_log_ratio(before, after), paired_log_ratio(after, before)
    assert one.ratio == pytest.approx(1 / other.ratio)
    assert (one.low, one.high) == pytest.approx((1 / other.high, 1 / other.low))
    assert one.p_value + other.p_value == pytest.approx(1.0)


def test_pairs_without_a_ratio_are_left_out() -> None:
    before, after = [10.0, 0.0, 5.0, math.nan, 4.0], [11.0, 1.0, 0.0, 3.0, 6.0]
    assert paired_log_ratio(before, after) == paired_log_ratio([10.0, 4.0], [11.0, 6.0])
    assert paired_log_ratio(before, after).n == 2


def test_too_few_pairs_have_no_interval() -> None:
    nothing = paired_log_ratio([], [])
    assert nothing.n == 0 and math.isnan(nothing.ratio) and math.isnan(nothing.p_value)
    one = paired_log_ratio([2.0], [3.0])
    assert (one.ratio, one.n) == (1.5, 1)
    assert all(map(math.isnan, (one.low, one.high, one.p_value)))


def test_ratios_without_spread() -> None:
    assert paired_log_ratio([1.0, 7.0], [1.0, 7.0]) == LogRatio(1.0, 1.0, 1.0, 1.0, 2)
    times = np.array([0.3, 0.7, 1.1, 13.0])
    slower, faster = paired_log_ratio(times, times * 1.3), paired_log_ratio(times, times / 1.3)
    assert (slower.p_value, faster.p_value) == (0.0, 1.0)
    assert slower.low == slower.high == pytest.approx(1.3)


@pytest.mark.parametrize("wrong", [-1.0, math.inf])
def test_impossible_times_are_refused(wrong: float) -> None:
    with pytest.raises(FrameError, match="after_ms: found .*, wanted milliseconds"):
        paired_log_ratio([1.0, 2.0], [1.0, wrong])


def test_times_that_do_not_pair_are_refused() -> None:
    with pytest.raises(FrameError, match="found 2 and 3 times, wanted one pair a probe"):
        paired_log_ratio([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(FrameError, match=r"before_ms: found shape \(1, 2\)"):
        paired_log_ratio([[1.0, 2.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="confidence: found 1.0"):
        paired_log_ratio([1.0], [2.0], confidence=1.0)


@pytest.mark.parametrize(
    ("repeats", "powers"),
    [(1, (0.27, 0.61, 0.98)), (5, (0.60, 0.97, 1.0)), (10, (0.84, 1.0, 1.0))],
)
def test_power_of_the_latency_test_on_the_method_page(
    repeats: int, powers: tuple[float, float, float]
) -> None:
    # The page's figures are those of 34 probes whose calls vary by a log standard deviation of .2.
    rng = np.random.default_rng(11)
    noise = np.exp(np.median(rng.normal(0.0, 0.2, (2, 800, 34, repeats)), axis=-1))
    for slower, power in zip((1.05, 1.10, 1.20), powers, strict=True):
        runs = zip(noise[0], noise[1] * slower, strict=True)
        seen = np.mean([paired_log_ratio(*pair).p_value <= 0.05 for pair in runs])
        assert seen == pytest.approx(power, abs=0.05)
