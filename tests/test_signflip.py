"""The sign-flip test against all sign patterns, exact counting and scipy."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from memeval.errors import FrameError
from memeval.stats import signflip
from memeval.stats.paired import mcnemar_exact
from memeval.stats.paired import sign_flip as handed_on
from memeval.stats.signflip import sign_flip

whole = st.lists(st.integers(-6, 6), max_size=10)


def by_counting(differences: list[int]) -> Fraction:
    """P(sum <= the one seen), with whole numbers and every sign pattern counted once."""
    ways = Counter({0: 1})
    for size in map(abs, differences):
        wider: Counter[int] = Counter()
        for total, count in ways.items():
            wider[total + size] += count
            wider[total - size] += count
        ways = wider
    seen = sum(differences)
    return Fraction(
        sum(count for total, count in ways.items() if total <= seen), 2 ** len(differences)
    )


@given(whole)
def test_every_sign_pattern_is_counted(differences: list[int]) -> None:
    # A tenth has no exact float: 0.1 + 0.2 - 0.3 is not 0, yet it must tie with 0.
    tenths = [0.1 * value for value in differences]
    assert sign_flip(tenths) == pytest.approx(float(by_counting(differences)), rel=1e-12)


def test_it_equals_scipy() -> None:
    values = np.random.default_rng(7).normal(-0.2, 1.0, 11)
    other = permutation_test(
        (values,), np.mean, permutation_type="samples", alternative="less", n_resamples=np.inf
    )
    assert sign_flip(values) == pytest.approx(other.pvalue, rel=1e-12)


def test_thirty_six_different_sizes_are_exact() -> None:
    differences = [size if size % 3 else -size for size in range(1, 37)]
    assert sign_flip(differences) == pytest.approx(float(by_counting(differences)), rel=1e-12)
    distinct = [math.sqrt(size) * (-1 if size % 3 else 1) for size in range(2, 38)]
    assert sign_flip(distinct, seed=1) == sign_flip(distinct, seed=2)


def test_many_differences_of_few_sizes_are_exact() -> None:
    differences = [-3] * 90 + [3] * 70 + [-2] * 40 + [2] * 45 + [-1] * 30 + [0] * 100
    assert sign_flip(differences) == pytest.approx(float(by_counting(differences)), rel=1e-10)
    ranks = np.random.default_rng(2).choice(1 / np.log2(np.arange(2, 7)), (2, 100))
    found = {sign_flip(ranks[0] - ranks[1], seed=seed) for seed in range(3)}
    assert len(found) == 1


@given(st.integers(0, 200), st.integers(0, 200))
def test_differences_of_one_size_are_the_sign_test(losses: int, gains: int) -> None:
    found = sign_flip([-0.37] * losses + [0.37] * gains)
    assert found == pytest.approx(mcnemar_exact(losses, gains), rel=1e-9)


def test_nothing_differs() -> None:
    assert sign_flip([]) == sign_flip([0.0] * 10) == 1.0
    # Rounding is no difference: this is 5.6e-17.
    assert sign_flip([0.1 + 0.2 - 0.3]) == 1.0


def test_one_difference_among_ten_is_a_coin() -> None:
    assert sign_flip([0.0] * 9 + [-0.37]) == 0.5
    assert sign_flip([0.0] * 9 + [0.37]) == 1.0


def test_large_numbers_tie_in_their_own_unit() -> None:
    # 1e6 times the tenths above: sums differ by 1e-10 from rounding alone.
    assert sign_flip([1e5, 2e5 + 3e-11, -3e5]) == float(by_counting([1, 2, -3])) == 5 / 8


def test_false_alarms_are_never_above_the_level() -> None:
    sizes = np.array([0.37, 0.37, 0.5, 0.13, 1.0, 0.61, 0.61, 0.2])
    found = sorted(
        sign_flip(sizes * np.array(signs)) for signs in itertools.product((-1, 1), repeat=8)
    )
    for rank, p_value in enumerate(found, start=1):
        # Of all equally likely patterns, a share of at most p has a p-value of p or less.
        assert rank / len(found) <= p_value + 1e-12


def test_random_signs_come_near_the_exact_value(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(5).normal(-0.15, 0.5, 24)
    exact = sign_flip(values)
    monkeypatch.setattr(signflip, "_MOST_SUMS", 1)
    monkeypatch.setattr(signflip, "_SIGNS_AT_ONCE", 24 * 700)
    drawn = [sign_flip(values, seed=seed) for seed in range(4)]
    assert len(set(drawn)) > 1
    assert drawn[0] == sign_flip(values, seed=0)
    # Four standard errors of 9,999 draws.
    assert drawn == pytest.approx([exact] * 4, abs=4 * math.sqrt(exact * (1 - exact) / 9999))


def test_random_signs_never_give_zero() -> None:
    falls = -np.sqrt(np.arange(2.0, 82.0))
    assert sign_flip(falls, draws=99) == 1 / 100
    assert sign_flip(-falls, draws=99) == 1.0


def test_a_cluster_is_flipped_as_one() -> None:
    differences = [-1.0, -2.0, 1.0, -4.0, 2.0]
    # Sums by label: a -1, b -1 (-2 + 1), c -2 (-4 + 2).
    found = sign_flip(differences, clusters=["a", "b", "b", "c", "c"])
    assert found == float(by_counting([-1, -1, -2])) == 1 / 8
    assert sign_flip(differences, clusters=range(5)) == sign_flip(differences)
    assert sign_flip([1.0, -1.0], clusters=["a", "a"]) == 1.0


def test_rank_losses_of_a_fifth_of_the_probes() -> None:
    # Rank 1 to 2 costs 1 - 1/log2(3); w such falls have p = 2^-w, so 5 are needed and 4 too few.
    fall = 1 / math.log2(3) - 1
    assert sign_flip([fall] * 5 + [0.0] * 29) == 1 / 32 <= 0.05 < sign_flip([fall] * 4)


@pytest.mark.parametrize("wrong", [[math.nan, 1.0], [math.inf], [[1.0, 2.0]], 3.0])
def test_differences_that_are_no_row_of_numbers_are_refused(wrong: list[float]) -> None:
    with pytest.raises(FrameError, match=r"differences: found .*, wanted"):
        sign_flip(wrong)


def test_clusters_that_do_not_fit_are_refused() -> None:
    with pytest.raises(FrameError, match=r"clusters: found shape \(1,\), wanted \(2,\)"):
        sign_flip([1.0, 2.0], clusters=["a"])
    with pytest.raises(FrameError, match="clusters: found 1 of 2 missing"):
        sign_flip([1.0, 2.0], clusters=["a", None])
    with pytest.raises(ValueError, match="draws: found 0"):
        sign_flip([1.0], draws=0)


def test_it_is_handed_on_with_the_other_paired_tests() -> None:
    assert handed_on is sign_flip
