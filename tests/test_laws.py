"""The laws of chance and shuffle against the printed table, enumeration and simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from memeval.stats import shuffle
from memeval.stats.laws import (
    chance_hit_all,
    chance_ndcg,
    chance_recall,
    chance_rr,
    first_rank_pmf,
    poisson_binomial_critical,
    poisson_binomial_tail,
    shuffled_mrr_critical,
    shuffled_mrr_tail,
    shuffled_ndcg,
    shuffled_rr,
)

# (n, m, k): hit_all, recall, RR, nDCG, as printed in the method.
TABLE = {
    (25, 1, 5): (0.2000, 0.2000, 0.0913, 0.1179),
    (12, 2, 5): (0.1515, 0.4167, 0.3394, 0.3013),
    (30, 3, 10): (0.0296, 0.3333, 0.2479, 0.2132),
    (8, 2, 5): (0.3571, 0.6250, 0.4738, 0.4520),
}
small = st.integers(1, 7)


def dcg(ranks: list[int]) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks)


@pytest.mark.parametrize("sizes", TABLE)
def test_the_printed_table(sizes: tuple[int, int, int]) -> None:
    n, m, k = sizes
    found = (chance_hit_all(n, [1] * m, k), chance_recall(n, k), chance_rr(n, m, k))
    assert (*found, chance_ndcg(n, m, k)) == pytest.approx(TABLE[sizes], abs=5e-5)


@pytest.mark.parametrize("sizes", TABLE)
def test_forty_thousand_random_answers_agree(sizes: tuple[int, int, int]) -> None:
    n, m, k = sizes
    # The records 0 .. m-1 are the expected ones.
    order = np.random.default_rng(7).random((40_000, n)).argsort(axis=1)[:, :k]
    met = order < m
    rank = np.arange(1, k + 1)
    first = np.where(met.any(axis=1), 1 / (met.argmax(axis=1) + 1), 0.0)
    ideal = dcg(list(range(1, min(m, k) + 1)))
    drawn = (
        (met.sum(axis=1) == m).mean(),
        (met.sum(axis=1) / m).mean(),
        first.mean(),
        (met / np.log2(rank + 1)).sum(axis=1).mean() / ideal,
    )
    closed = (chance_hit_all(n, [1] * m, k), chance_recall(n, k), chance_rr(n, m, k))
    assert drawn == pytest.approx((*closed, chance_ndcg(n, m, k)), abs=0.01)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(0, 5), st.integers(1, 12))
def test_any_of_groups_by_enumeration(sizes: list[int], others: int, k: int) -> None:
    group_of = [g for g, size in enumerate(sizes) for _ in range(size)] + [-1] * others
    n = len(group_of)
    draws = list(combinations(group_of, min(k, n)))
    met = sum(set(range(len(sizes))) <= set(draw) for draw in draws)
    assert chance_hit_all(n, sizes, k) == pytest.approx(met / len(draws), abs=1e-14)


@given(small, small, small)
def test_chance_of_rank_by_enumeration(n: int, m: int, k: int) -> None:
    m, depth = min(m, n), min(k, n)
    ideal = dcg(list(range(1, min(m, k) + 1)))
    places = list(combinations(range(1, n + 1), m))
    rr = sum(1 / at[0] for at in places if at[0] <= depth) / len(places)
    ndcg = sum(dcg([rank for rank in at if rank <= depth]) / ideal for at in places) / len(places)
    assert chance_rr(n, m, k) == pytest.approx(rr, abs=1e-12)
    assert chance_ndcg(n, m, k) == pytest.approx(ndcg, abs=1e-12)


@given(small, small, small, st.integers(0, 4))
def test_shuffle_by_enumeration(r: int, e: int, k: int, missed: int) -> None:
    e = min(e, r)
    m = e + missed
    places = list(combinations(range(1, r + 1), e))
    rr = sum(1 / at[0] for at in places) / len(places)
    ideal = dcg(list(range(1, min(m, k) + 1)))
    ndcg = sum(dcg([rank for rank in at if rank <= k]) / ideal for at in places) / len(places)
    assert shuffled_rr(r, e) == pytest.approx(rr, abs=1e-12)
    assert shuffled_ndcg(r, e, k, m) == pytest.approx(ndcg, abs=1e-12)
    firsts = [sum(at[0] == j for at in places) / len(places) for j in range(1, r - e + 2)]
    assert first_rank_pmf(r, e).tolist() == pytest.approx(firsts, abs=1e-12)


def test_shuffled_rr_of_the_method_page() -> None:
    printed = {1: 1.0, 2: 0.75, 3: 0.611, 4: 0.521, 5: 0.457}
    assert [shuffled_rr(r, 1) for r in printed] == pytest.approx(list(printed.values()), abs=5e-4)
    assert shuffled_rr(5, 2) == pytest.approx(0.642, abs=5e-4)
    assert shuffled_rr(5, 3) == pytest.approx(0.783, abs=5e-4)


def test_chance_stays_exact_in_a_store_of_a_million() -> None:
    n = 1_000_000
    # Ratios of falling factorials, as fractions: no rounding before the last step.
    alone = Fraction(5 * 4 * 3, n * (n - 1) * (n - 2))
    assert chance_hit_all(n, [1, 1, 1], 5) == pytest.approx(float(alone), rel=1e-14)
    missed_two = Fraction(math.perm(n - 2, 5), math.perm(n, 5))
    missed_three = Fraction(math.perm(n - 3, 5), math.perm(n, 5))
    missed_all = Fraction(math.perm(n - 5, 5), math.perm(n, 5))
    both = 1 - missed_two - missed_three + missed_all
    assert chance_hit_all(n, [2, 3], 5) == pytest.approx(float(both), rel=1e-14)
    assert chance_hit_all(n, [2, 3], 900_000) == pytest.approx(0.99 * 0.999, abs=1e-5)
    harmonic = sum(1 / j for j in range(1, 11))
    assert chance_rr(n, 1, 10) == pytest.approx(harmonic / n, rel=1e-12)


def test_small_answers_and_small_scopes() -> None:
    assert chance_hit_all(5, [1, 2], 5) == 1.0
    assert chance_hit_all(9, [1, 0], 5) == 0.0 == chance_hit_all(3, [1, 0], 5)
    assert chance_hit_all(9, [1, 1, 1], 2) == 0.0
    assert chance_hit_all(9, [2, 2, 2], 2) == 0.0
    assert chance_recall(3, 5) == 1.0
    assert shuffled_rr(4, 0) == 0.0 == shuffled_rr(0, 0)
    assert shuffled_ndcg(4, 0, 5, 2) == 0.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: chance_hit_all(4, [3, 2], 5),
        lambda: chance_hit_all(4, [1], 0),
        lambda: chance_hit_all(4, [], 5),
        lambda: chance_hit_all(4, [-1, 1], 5),
        lambda: chance_recall(0, 5),
        lambda: chance_rr(4, 5, 5),
        lambda: chance_ndcg(4, 0, 5),
        lambda: first_rank_pmf(3, 4),
        lambda: first_rank_pmf(3, 0),
        lambda: shuffled_rr(2, 3),
        lambda: shuffled_ndcg(3, 2, 5, 1),
        lambda: poisson_binomial_tail([1.5], 1),
        lambda: poisson_binomial_tail([math.nan], 1),
        lambda: poisson_binomial_critical([0.5], 1.0),
        lambda: shuffled_mrr_tail([1], [2], 1, 0.5),
        lambda: shuffled_mrr_tail([1, 1], [1, 1], 1, 0.5),
        lambda: shuffled_mrr_tail([1, 1], [1], 2, 0.5),
        lambda: shuffled_mrr_tail([1], [1], 1, math.nan),
        lambda: shuffled_mrr_critical([1], [1], 1, 0.0),
    ],
)
def test_nonsense_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"found .*wanted|shorter|longer"):
        call()


@given(st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]), max_size=8))
def test_poisson_binomial_by_enumeration(probs: list[float]) -> None:
    exact = [0.0] * (len(probs) + 2)
    for outcome in product([0, 1], repeat=len(probs)):
        chance = math.prod(p if hit else 1 - p for p, hit in zip(probs, outcome, strict=True))
        for x in range(sum(outcome) + 1):
            exact[x] += chance
    found = [poisson_binomial_tail(probs, x) for x in range(len(probs) + 2)]
    assert found == pytest.approx(exact, abs=1e-12)
    assert poisson_binomial_tail(probs, -1) == 1.0


@pytest.mark.parametrize("n", [34, 1_000, 20_000])
def test_poisson_binomial_of_equal_trials_is_binomial(n: int) -> None:
    for seen in (n // 5, n // 5 + 3 * math.isqrt(n), n // 4):
        tail = float(binom.sf(seen - 1, n, 0.2))
        assert poisson_binomial_tail([0.2] * n, seen) == pytest.approx(tail, rel=1e-9, abs=1e-13)


# Eligible records at k = 5 and 34 probes: the recall that chance no longer explains.
@pytest.mark.parametrize(("n_eligible", "recall"), [(25, 0.471), (50, 0.324), (8, 0.882)])
def test_better_than_chance_of_the_method_page(n_eligible: int, recall: float) -> None:
    chance = chance_hit_all(n_eligible, [1], 5)
    hits = poisson_binomial_critical([chance] * 34)
    assert hits is not None
    assert hits / 34 == pytest.approx(recall, abs=5e-4)
    assert binom.sf(hits - 1, 34, chance) < 0.001 <= binom.sf(hits - 2, 34, chance)


def test_a_scope_of_five_cannot_beat_chance() -> None:
    assert poisson_binomial_critical([chance_hit_all(5, [1], 5)] * 34) is None
    assert poisson_binomial_critical([]) is None


def orders(returned: list[int], found: list[int], n: int) -> list[Fraction]:
    """Mean RR of every joint order of a few small answers."""
    each = [
        [Fraction(1, at[0]) if e else Fraction(0) for at in combinations(range(1, r + 1), e)]
        for r, e in zip(returned, found, strict=True)
    ]
    return [sum(joint, Fraction(0)) / n for joint in product(*each)]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.integers(1, 4).flatmap(lambda r: st.tuples(st.just(r), st.integers(0, r))),
        min_size=1,
        max_size=3,
    ),
    st.integers(0, 2),
)
def test_shuffled_mrr_by_enumeration(answers: list[tuple[int, int]], unanswered: int) -> None:
    returned, found = [r for r, _ in answers], [e for _, e in answers]
    n = len(answers) + unanswered
    means = orders(returned, found, n)
    for value in {*means, Fraction(1, 3), Fraction(0), Fraction(2)}:
        exact = sum(mean >= value for mean in means) / len(means)
        assert shuffled_mrr_tail(returned, found, n, float(value)) == pytest.approx(
            exact, abs=1e-12
        )
    for alpha in (0.01, 0.2, 0.6):
        enough = [v for v in means if sum(mean >= v for mean in means) <= alpha * len(means)]
        bound = shuffled_mrr_critical(returned, found, n, alpha)
        assert bound == pytest.approx(float(min(enough)) if enough else math.nan, nan_ok=True)


def test_a_mean_that_misses_a_tie_by_rounding_still_ties() -> None:
    # (1/3 + 1/3 + 1/3) / 3 lands a hair above 1/3 or below, by the order of the sums.
    returned, found = [3, 3, 3], [1, 1, 1]
    exact = shuffled_mrr_tail(returned, found, 3, 1 / 3)
    assert exact == 1.0
    two_firsts = (1 + 1 + 1 / 2) / 3
    for hair in (-1e-15, 0.0, 1e-15):
        # 1 order of 27 has three firsts, 3 have two firsts and a second.
        tail = shuffled_mrr_tail(returned, found, 3, two_firsts + hair)
        assert tail == pytest.approx(4 / 27, abs=1e-12)


def test_draws_agree_with_the_exact_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    returned, found, n = [5] * 20 + [3] * 10, [1] * 25 + [2] * 5, 34
    values = [0.35, 0.40, 0.45, 0.5]
    exact = [shuffled_mrr_tail(returned, found, n, value) for value in values]
    bound = shuffled_mrr_critical(returned, found, n)
    monkeypatch.setattr(shuffle, "_EXACT_WORK", 0)
    drawn = [shuffled_mrr_tail(returned, found, n, value) for value in values]
    assert drawn == pytest.approx(exact, abs=0.015)
    assert drawn != exact
    assert drawn == [shuffled_mrr_tail(returned, found, n, value) for value in values]
    assert shuffled_mrr_critical(returned, found, n) == pytest.approx(bound, abs=0.01)
    # No draw meets the best of all orders, which is yet possible; above it nothing is.
    assert shuffled_mrr_tail(returned, found, n, 30 / 34) == 1 / 20_001
    assert shuffled_mrr_tail(returned, found, n, 31 / 34) == 0.0


def test_the_bound_is_where_the_tail_falls_to_alpha() -> None:
    returned, found, n = [5] * 28, [1] * 28, 34
    bound = shuffled_mrr_critical(returned, found, n)
    assert shuffled_mrr_tail(returned, found, n, bound) <= 0.01
    assert shuffled_mrr_tail(returned, found, n, bound - 1e-6) <= 0.01
    # One step of the lattice, 1/60 of a rank, below.
    assert shuffled_mrr_tail(returned, found, n, bound - 1 / 60 / n) > 0.01


def test_nothing_found_and_nothing_to_order() -> None:
    assert shuffled_mrr_tail([5, 5], [0, 0], 2, 0.0) == 1.0
    assert shuffled_mrr_tail([5, 5], [0, 0], 2, 0.1) == 0.0
    assert shuffled_mrr_tail([1, 1], [1, 1], 2, 1.0) == 1.0
    assert math.isnan(shuffled_mrr_critical([1, 1], [1, 1], 2))
    assert shuffled_mrr_tail([], [], 3, 0.5) == 0.0
