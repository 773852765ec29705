"""Bootstrap intervals against every resample listed, scipy's draws, and laws in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, bootstrap

from memeval.stats import Interval
from memeval.stats.bootstrap import bca_mean, bca_ratio, percentile_mean

Floats = NDArray[np.float64]
PHI = NormalDist()
RANKS = np.array([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 0])
# nDCG of one expected record at rank 1 to 5, and of a miss: no two of them have a common measure.
GAINS = np.array([*1 / np.log2(np.arange(2, 7)), 0])
OFTEN = (0.6, 0.1, 0.1, 0.05, 0.05, 0.1)
# How far a mean may lie from one in exact arithmetic.
CLOSE = 1e-12


def ends(places: Floats, chance: Floats, low: float, high: float) -> tuple[float, float]:
    """Outer quantiles of a discrete law, by going through it place by place."""
    order = np.argsort(places)
    places, chance = places[order].round(12), chance[order]
    at = [place for place in places if chance[places <= place].sum() >= low - CLOSE]
    to = [place for place in places if chance[places >= place].sum() >= 1 - high - CLOSE]
    return min(at), max(to)


def shares(mid: float, left_out: Sequence[float], level: float) -> tuple[float, float]:
    """Efron's formula, from the estimates without one observation each."""
    pull = np.mean(left_out) - np.asarray(left_out)
    a = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)
    z0, z = PHI.inv_cdf(mid), PHI.inv_cdf((1 + level) / 2)
    low, high = (PHI.cdf(z0 + (z0 + s) / (1 - a * (z0 + s))) for s in (-z, z))
    return low, high


def listed(resampled: Floats, low: float, high: float) -> tuple[float, float]:
    """Outer quantiles where every resample is as likely as any other."""
    places, counts = np.unique(resampled.round(12), return_counts=True)
    return ends(places, counts / len(resampled), low, high)


def listed_bca(
    resampled: Floats, estimate: float, left_out: Sequence[float], level: float
) -> tuple[float, float]:
    """BCa ends where every resample is as likely as any other."""
    tied = np.abs(resampled - estimate) < CLOSE
    mid = ((resampled < estimate) & ~tied).mean() + tied.mean() / 2
    return listed(resampled, *shares(float(mid), left_out, level))


numbers = st.one_of(
    st.sampled_from([*RANKS, *GAINS, -0.25, -0.63]), st.floats(-3, 3).map(lambda x: round(x, 3))
)


@settings(deadline=None, max_examples=60)
@given(st.lists(numbers, min_size=2, max_size=5), st.sampled_from([0.5, 0.9, 0.95]))
def test_ends_are_those_of_all_resamples_listed(values: list[float], level: float) -> None:
    n, mean = len(values), math.fsum(values) / len(values)
    resampled = np.array(list(product(values, repeat=n))).mean(axis=1)
    tail = (1 - level) / 2
    wanted = listed(resampled, tail, 1 - tail)
    assert percentile_mean(values, level) == pytest.approx(wanted, abs=1e-9)
    if np.ptp(values):
        left_out = [(n * mean - value) / (n - 1) for value in values]
        wanted = listed_bca(resampled, mean, left_out, level)
        assert bca_mean(values, level) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("values", [RANKS, GAINS, GAINS - RANKS[::-1]])
def test_six_values_are_those_of_all_46656_resamples(values: Floats) -> None:
    resampled = np.array(list(product(values, repeat=6))).mean(axis=1)
    left_out = [(values.sum() - value) / 5 for value in values]
    wanted = listed_bca(resampled, values.mean(), left_out, 0.95)
    assert bca_mean(values) == pytest.approx(wanted, abs=1e-9)
    assert percentile_mean(values) == pytest.approx(listed(resampled, 0.025, 0.975), abs=1e-9)


def law_by_adding(values: Floats, n: int) -> tuple[Floats, Floats]:
    """Law of the mean of n draws: one draw after the other, equal sums joined."""
    found = {0.0: 1.0}
    for _ in range(n):
        longer: dict[float, float] = {}
        for total, chance in found.items():
            for value in values:
                key = round(total + value, 9)
                longer[key] = longer.get(key, 0.0) + chance / len(values)
        found = longer
    return np.array(list(found)) / n, np.array(list(found.values()))


def test_a_grid_stands_in_for_values_without_a_common_step() -> None:
    # C(19, 5) = 11,628 resamples up to order: more than are listed, so a grid is used.
    values = np.repeat(GAINS, [6, 2, 2, 1, 1, 2])
    low, high = ends(*law_by_adding(values, 14), 0.025, 0.975)
    assert percentile_mean(values) == pytest.approx((low, high), abs=3e-4 * (high - low))


def scipy_ends(
    data: Sequence[Floats], statistic: Callable[..., Floats], runs: int, **how: object
) -> Floats:
    drawn = [
        bootstrap(data, statistic, n_resamples=100_000, batch=5_000, rng=seed, **how)
        for seed in range(runs)
    ]
    return np.array([result.confidence_interval for result in drawn])


def samples() -> dict[str, Floats]:
    rng = np.random.default_rng(20)
    return {
        # In sixtieths, whose sums are exact: scipy compares floats, and finds a third of the ties
        # among resamples of thirds and fifths, which moves its ends by a per cent of the width.
        "rr": (rng.choice(RANKS, 34, p=OFTEN) * 60).round(),
        "ndcg": rng.choice(GAINS, 34, p=OFTEN),
        "differences": rng.choice(GAINS, 34, p=OFTEN) - rng.choice(GAINS, 34),
        "skewed": rng.lognormal(size=34),
        "ndcg of 150": rng.choice(GAINS, 150, p=OFTEN),
    }


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("method", ["BCa", "percentile"])
def test_ends_are_those_that_scipy_draws_near(name: str, method: str) -> None:
    values = samples()[name]
    found = bca_mean(values) if method == "BCa" else percentile_mean(values)
    drawn = scipy_ends([values], np.mean, 8, method=method)
    low, high = drawn.mean(axis=0)
    # One run of 100,000 scatters by up to 0.4 % of the width, the mean of eight by 0.15 %.
    assert found == pytest.approx((low, high), abs=0.005 * (high - low))


def test_two_values_have_the_binomial_law() -> None:
    values = np.repeat([0.0, 0.2], [26, 11])  # precision at 5 of 37 probes
    wanted = binom(37, 11 / 37).ppf([0.025, 0.975]) * 0.2 / 37
    assert percentile_mean(values) == pytest.approx(wanted, abs=1e-12)


def test_one_other_value_of_a_hundred_thousand_is_exact() -> None:
    n = 100_000
    values = np.ones(n)
    values[77] = 0.0
    # The number N of its draws is binomial, and the mean is 1 - N / n. The mean lies below 1 - 1/n
    # where N > 1; u is -1 + 1/n once and 1/n else.
    law = binom(n, 1 / n)
    z0 = PHI.inv_cdf(law.sf(1) + law.pmf(1) / 2)
    u = np.append(np.full(n - 1, 1 / n), 1 / n - 1)
    a = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    at = [PHI.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))) for z in map(PHI.inv_cdf, (0.025, 0.975))]
    wanted = 1 - law.ppf([1 - at[0], 1 - at[1]]) / n
    assert bca_mean(values) == pytest.approx(wanted, abs=1e-15)
    assert percentile_mean(values) == pytest.approx((1 - 3 / n, 1.0), abs=1e-15)  # N = 3 and 0


def test_a_million_values_have_the_second_order_interval() -> None:
    values = np.random.default_rng(3).choice(RANKS, 1_000_000, p=OFTEN)
    gaps = values - values.mean()
    error = gaps.std() / 1000
    # Efron 1987, section 8: both ends at mean + error (z + a (1 + 2 z^2)), a a sixth of the skew.
    a = (gaps**3).mean() / gaps.std() ** 3 / 6 / 1000
    z = np.array([-1.959964, 1.959964])
    wanted = values.mean() + error * (z + a * (1 + 2 * z**2))
    assert bca_mean(values) == pytest.approx(wanted, abs=4 * error * 1e-4)


@pytest.mark.parametrize("n", [1, 2, 7, 100_000])
@pytest.mark.parametrize("value", [0.0, 0.1, -3e300, 5e-324])
def test_equal_values_have_themselves_for_both_ends(n: int, value: float) -> None:
    for interval in (bca_mean, percentile_mean):
        assert interval(np.full(n, value)) == (value, value)


def test_nothing_has_no_interval() -> None:
    for interval in (bca_mean([]), percentile_mean([]), bca_ratio([], [])):
        assert all(map(math.isnan, interval))


values_of_any_kind = st.lists(
    st.one_of(st.sampled_from([*RANKS, *GAINS]), st.floats(-2, 2)), min_size=1, max_size=30
)


@settings(deadline=None)
@given(st.lists(st.sampled_from(RANKS), min_size=1, max_size=40))
def test_turned_round_the_interval_turns_round(values: list[float]) -> None:
    low, high = bca_mean(values)
    assert bca_mean([-value for value in values]) == pytest.approx((-high, -low), abs=1e-12)


@settings(deadline=None)
@given(values_of_any_kind)
def test_both_ends_lie_between_the_values(values: list[float]) -> None:
    low, high = bca_mean(values)
    assert min(values) <= low <= high <= max(values)


@settings(deadline=None)
@given(values_of_any_kind, st.permutations(range(30)))
def test_no_end_depends_on_the_order_or_on_chance(values: list[float], order: list[int]) -> None:
    mixed = [values[at] for at in order if at < len(values)]
    assert bca_mean(mixed) == bca_mean(values)
    assert percentile_mean(mixed) == percentile_mean(values)


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("factor", [1e-300, 3.7e-9, 1e5, 1e300])
def test_a_factor_moves_the_ends_with_it(name: str, factor: float) -> None:
    values = samples()[name]
    low, high = bca_mean(values)
    found = bca_mean(values * factor)
    assert found == pytest.approx((low * factor, high * factor), abs=2e-4 * (high - low) * factor)


def test_values_far_from_0_keep_their_step() -> None:
    values = samples()["rr"]
    low, high = bca_mean(values)
    found = bca_mean(values + 1e7)
    assert (found.low - 1e7, found.high - 1e7) == pytest.approx((low, high), abs=1e-8)


@pytest.mark.parametrize("values", [[5e-324, 1.0], [-1.7e308, 0.1, 1.7e308], [5e-324, 1e-323]])
def test_the_ends_of_the_range_of_floats_are_kept(values: list[float]) -> None:
    low, high = bca_mean(values * 3, 1 - 1e-13)
    assert (low, high) == (values[0], values[-1])


def test_values_one_rounding_apart_still_lie_between_their_ends() -> None:
    values = 1.0 + np.arange(40) * 2.0**-52
    low, high = bca_mean(values)
    assert values[0] <= low <= values.mean() <= high <= values[-1]


@pytest.mark.parametrize("odd", [math.nan, math.inf, pd.NA, None, "x"])
def test_what_was_not_measured_is_refused(odd: object) -> None:
    for call in (
        lambda: bca_mean([1.0, odd]),  # type: ignore[list-item]
        lambda: percentile_mean(pd.Series([1.0, odd], dtype=object)),
        lambda: bca_ratio([1.0, odd], [1.0, 1.0]),  # type: ignore[list-item]
        lambda: bca_ratio([1.0, 1.0], [1.0, odd]),  # type: ignore[list-item]
    ):
        with pytest.raises(ValueError, match=r"(values|ators): .*wanted finite numbers"):
            call()


@pytest.mark.parametrize("level", [0.0, 1.0, 95, math.nan])
def test_a_level_in_percent_is_refused(level: float) -> None:
    for call in (lambda: bca_mean([1], level), lambda: bca_ratio([1], [1], level)):
        with pytest.raises(ValueError, match="confidence: found"):
            call()


@pytest.mark.parametrize("level", [1e-9, 1 - 1e-9, 1 - 1e-16])
def test_any_level_has_ends(level: float) -> None:
    values = samples()["rr"]
    low, high = bca_mean(values, level)
    assert 0 <= low <= high <= 60


def test_beyond_the_pole_of_the_formula_the_end_is_the_last() -> None:
    # One of 50 differs: a = 0.14, so 1 - a (z0 + z) is below 0 from a level of 1 - 1e-11 on.
    values = [1.0] + [0.0] * 49
    last = binom(50, 1 / 50).ppf(1 - 2e-12) / 50
    assert bca_mean(values, 1 - 1e-13).high == pytest.approx(last, abs=1e-12)
    assert bca_mean(np.negative(values), 1 - 1e-13).low == pytest.approx(-last, abs=1e-12)


PAIRS = [(0, 5), (1, 5), (0, 3), (2, 4), (1, 1), (0, 0)]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(PAIRS), min_size=3, max_size=5))
def test_ratio_ends_are_those_of_all_resamples_listed(pairs: list[tuple[int, int]]) -> None:
    tops, bottoms = np.array(pairs).T
    without = bottoms.sum() - bottoms
    if not without.all():
        assert all(map(math.isnan, bca_ratio(tops, bottoms)))
        return
    drawn = np.array(list(product(range(len(pairs)), repeat=len(pairs))))
    over, under = tops[drawn].sum(axis=1), bottoms[drawn].sum(axis=1)
    resampled = over[under > 0] / under[under > 0]
    left_out = (tops.sum() - tops) / without
    if np.ptp(left_out):
        wanted = listed_bca(resampled, tops.sum() / bottoms.sum(), left_out, 0.95)
        assert bca_ratio(tops, bottoms) == pytest.approx(wanted, abs=1e-9)


def exact_ratio(tops: NDArray[np.int64], bottoms: NDArray[np.int64]) -> Floats:
    """BCa ends from the law of both sums together, one draw after the other."""
    n = len(tops)
    law = np.zeros((n * int(tops.max()) + 1, n * int(bottoms.max()) + 1))
    law[0, 0] = 1.0
    for _ in range(n):
        longer = np.zeros_like(law)
        for top, bottom in zip(tops, bottoms, strict=True):
            rows, columns = law.shape[0] - top, law.shape[1] - bottom
            longer[top:, bottom:] += law[:rows, :columns] / n
        law = longer
    over, under = np.nonzero(law)
    chance = law[over, under][under > 0]
    places = over[under > 0] / under[under > 0]
    chance = chance / chance.sum()
    ratio = tops.sum() / bottoms.sum()
    tied = np.abs(places - ratio) < CLOSE
    mid = chance[(places < ratio) & ~tied].sum() + chance[tied].sum() / 2
    left_out = (tops.sum() - tops) / (bottoms.sum() - bottoms)
    low, high = shares(mid, left_out, 0.95)
    order = np.argsort(places)
    at = np.searchsorted(np.cumsum(chance[order]), [low, high])
    return places[order][at]


def hits_of(n: int, share: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rng = np.random.default_rng(n)
    hits = rng.choice([5, 4, 3, 2, 0], n, p=[0.7, 0.1, 0.1, 0.05, 0.05])
    return rng.binomial(hits, share), hits


@pytest.mark.parametrize(("n", "share"), [(30, 0.3), (30, 0.08), (60, 0.1)])
def test_a_ratio_that_is_searched_for_is_that_of_the_law_of_both_sums(n: int, share: float) -> None:
    stale, hits = hits_of(n, share)
    low, high = exact_ratio(stale, hits)
    assert bca_ratio(stale, hits) == pytest.approx((low, high), abs=2e-3 * (high - low))


def test_resamples_without_a_hit_are_left_out_of_a_ratio() -> None:
    # Of 31 answers 27 are empty: (27/31)^31 = 1.4 % of the resamples have no ratio.
    stale, hits = np.array([(0, 0)] * 27 + [(1, 7), (2, 9), (5, 11), (3, 13)]).T
    low, high = exact_ratio(stale, hits)
    assert bca_ratio(stale, hits) == pytest.approx((low, high), abs=2e-3 * (high - low))


def test_an_end_on_the_least_ratio_is_exact() -> None:
    # Two of 40 answers have a stale hit: (38/40)^40 = 13 % of the resamples have none.
    stale, hits = np.zeros(40), np.array([5, 4, 3, 2] * 10)
    stale[[1, 30]] = 1
    assert bca_ratio(stale, hits).low == 0.0


def pooled(tops: Floats, bottoms: Floats, axis: int = -1) -> Floats:
    return tops.sum(axis=axis) / bottoms.sum(axis=axis)


def test_ratio_ends_are_those_that_scipy_draws_near() -> None:
    stale, hits = hits_of(100, 0.2)
    drawn = scipy_ends([stale, hits], pooled, 4, paired=True, method="BCa")
    low, high = drawn.mean(axis=0)
    assert bca_ratio(stale, hits) == pytest.approx((low, high), abs=0.006 * (high - low))


def test_a_ratio_over_equal_denominators_is_a_mean() -> None:
    stale = np.repeat([0, 1, 2, 3], [40, 7, 5, 2])
    assert bca_ratio(stale, np.full(54, 5)) == pytest.approx(bca_mean(stale / 5), abs=1e-12)


def test_units_of_a_ratio_cancel() -> None:
    stale, hits = hits_of(40, 0.2)
    low, high = bca_ratio(stale, hits)
    found = bca_ratio(stale * 2.0**900, hits * 2.0**-40)
    assert found == (low * 2.0**940, high * 2.0**940)


def test_a_ratio_that_hangs_on_one_observation_has_no_interval() -> None:
    for hits in ([0, 4, 0], [0, 0, 0], [7]):
        assert all(map(math.isnan, bca_ratio([0] * len(hits), hits)))


def test_nothing_stale_has_an_interval_of_no_width() -> None:
    assert bca_ratio([0, 0, 0, 0], [5, 4, 3, 0]) == Interval(0.0, 0.0)


@pytest.mark.parametrize(
    ("tops", "bottoms", "told"),
    [
        ([1, 2], [5], "found 2 and 1"),
        ([1, 2], [5, -1], "found -1.0, wanted 0 or more"),
        ([1, 2], [5, 0], "over a denominator of 0"),
    ],
)
def test_pairs_that_are_no_share_are_refused(
    tops: list[int], bottoms: list[int], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        bca_ratio(tops, bottoms)
