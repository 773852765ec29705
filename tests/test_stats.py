"""Intervals and agreement against scipy, the stored oracles and slow second definitions."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, mannwhitneyu

from memeval.stats import (
    auroc,
    clopper_pearson,
    quantile_hf8,
    quantile_interval,
    wilson,
    zero_event_bound,
)

scores = st.lists(st.sampled_from([-math.inf, -1.0, 0.0, 0.5, 0.5 + 1e-9, 2.0, math.inf]))


def test_shares_equal_the_stored_oracles(shared: Path) -> None:
    pages = json.loads((shared / "oracles" / "metric_oracles.json").read_text(encoding="utf-8"))
    assert pages["proportions"]
    for row in pages["proportions"]:
        hits, n = row["hits"], row["n"]
        assert wilson(hits, n) == pytest.approx(row["wilson95"], abs=1e-9)
        assert clopper_pearson(hits, n) == pytest.approx(row["clopper_pearson95"], abs=1e-9)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_shares_equal_scipy_at_any_level(pair: tuple[int, int]) -> None:
    hits, n = pair
    for level in (0.5, 0.9, 0.99):
        test = binomtest(hits, n)
        other = test.proportion_ci(level, method="wilson")
        assert wilson(hits, n, level) == pytest.approx((other.low, other.high), abs=1e-12)
        other = test.proportion_ci(level, method="exact")
        assert clopper_pearson(hits, n, level) == pytest.approx((other.low, other.high), abs=1e-9)


def test_wilson_half_widths_of_the_method_page() -> None:
    low, high = wilson(30, 34)
    assert (high - low) / 2 == pytest.approx(0.110, abs=5e-4)
    printed = {20: 0.137, 34: 0.110, 50: 0.091, 100: 0.064, 200: 0.045, 500: 0.029}
    for n, half in printed.items():
        low, high = wilson(round(0.88 * n), n)
        assert (high - low) / 2 == pytest.approx(half, abs=6e-4)


def test_closed_ends_are_exactly_zero_and_one() -> None:
    assert wilson(0, 7).low == 0.0 == clopper_pearson(0, 7).low
    assert wilson(7, 7).high == 1.0 == clopper_pearson(7, 7).high


def test_zero_event_bounds_of_the_method_page() -> None:
    printed = {5: 0.451, 13: 0.206, 20: 0.139, 34: 0.084, 59: 0.050, 100: 0.030}
    for n, bound in printed.items():
        assert zero_event_bound(n) == pytest.approx(bound, abs=6e-4)
        # The one-sided exact bound is the upper end of a two-sided interval at 1 - 2 * 5 %.
        assert zero_event_bound(n) == pytest.approx(clopper_pearson(0, n, 0.90).high, abs=1e-12)


def test_nothing_tried_is_undefined() -> None:
    assert all(map(math.isnan, (*wilson(0, 0), *clopper_pearson(0, 0), zero_event_bound(0))))


@pytest.mark.parametrize(("hits", "n"), [(-1, 3), (4, 3), (math.nan, 3), (0, -1)])
def test_impossible_counts_say_found_and_wanted(hits: int, n: int) -> None:
    for interval in (wilson, clopper_pearson):
        with pytest.raises(ValueError, match=r"found .*, wanted"):
            interval(hits, n)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, math.nan])
def test_a_level_in_percent_is_refused(level: float) -> None:
    for call in (lambda: wilson(1, 2, level), lambda: zero_event_bound(3, level)):
        with pytest.raises(ValueError, match="confidence: found"):
            call()


def test_quantile_is_hyndman_fan_8_by_hand() -> None:
    # n = 5, q = .3: h = (5 + 1/3) * .3 + 1/3 = 1.9333, so 1 + .9333 * (4 - 1) = 3.8.
    assert quantile_hf8([9.0, 1.0, 4.0, 25.0, 16.0], 0.3) == pytest.approx(3.8)
    # h = 20.3333 * .95 + .3333 = 19.65 of n = 20: 19 + .65.
    assert quantile_hf8(np.arange(1, 21), 0.95) == pytest.approx(19.65)
    assert quantile_hf8([3.0], 0.95) == 3.0


def test_quantile_leaves_out_what_was_not_measured() -> None:
    assert quantile_hf8([math.nan, 1.0, math.nan, 3.0], 0.5) == 2.0
    assert math.isnan(quantile_hf8([], 0.5))
    assert math.isnan(quantile_hf8([math.nan], 0.5))
    with pytest.raises(ValueError, match="q: found 95"):
        quantile_hf8([1.0], 95)


def test_ranks_of_a_p95_are_those_of_the_method_page() -> None:
    printed = {72: (64, 72), 100: (90, 100), 200: (184, 197), 340: (315, 331)}
    printed |= {500: (465, 485), 1000: (936, 964)}
    for n, ranks in printed.items():
        assert quantile_interval(np.arange(n, 0, -1), 0.95) == ranks


@given(st.integers(1, 3000), st.sampled_from([0.01, 0.5, 0.95, 0.99]), st.floats(0.5, 0.99))
def test_ranks_are_the_innermost_of_enough_probability(n: int, q: float, level: float) -> None:
    below = binom.cdf(np.arange(-1, n), n, q)  # P(fewer than i of n lie below the quantile)
    tail = (1 - level) / 2
    low = np.flatnonzero(below[1:] <= tail) + 1
    high = np.flatnonzero(below[1:] >= 1 - tail) + 1
    found = quantile_interval(range(1, n + 1), q, level)
    # The rank i of the formulas stands for B(i - 1): low may be i, high may be i.
    if low.size and high.size:
        assert found == (low.max(), high.min())
    else:
        assert all(map(math.isnan, found))


@pytest.mark.parametrize(("q", "fewest"), [(0.5, 6), (0.95, 72), (0.99, 368)])
def test_too_few_values_do_not_bound_a_quantile(q: float, fewest: int) -> None:
    assert all(map(math.isnan, quantile_interval(range(fewest - 1), q)))
    assert quantile_interval(range(fewest), q).high == fewest - 1
    unmeasured = [*range(fewest - 1), math.nan]
    assert all(map(math.isnan, quantile_interval(unmeasured, q)))


@pytest.mark.parametrize("q", [0, 1, 95])
def test_a_quantile_without_two_sides_is_refused(q: float) -> None:
    with pytest.raises(ValueError, match="q: found"):
        quantile_interval([1.0], q)


@given(scores, scores)
def test_auroc_is_the_share_of_pairs_in_order(
    positives: list[float], negatives: list[float]
) -> None:
    pairs = [(p > q) + (p == q) / 2 for p in positives for q in negatives]
    found = auroc(positives, negatives)
    if pairs:
        assert found == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)
        assert found + auroc(negatives, positives) == pytest.approx(1.0, abs=1e-12)
    else:
        assert math.isnan(found)


def test_auroc_equals_mann_whitney() -> None:
    rng = np.random.default_rng(5)
    left, right = rng.integers(0, 9, 300), rng.integers(0, 7, 200)
    statistic = mannwhitneyu(left, right).statistic
    assert auroc(left, right) == pytest.approx(statistic / (300 * 200), abs=1e-12)


def test_an_empty_answer_ranks_below_any_score() -> None:
    assert auroc([-1e300], [-math.inf]) == 1.0
    assert auroc([-math.inf], [-math.inf]) == 0.5


def test_auroc_refuses_nan() -> None:
    with pytest.raises(ValueError, match="found 1 NaN"):
        auroc([1.0], [math.nan])
