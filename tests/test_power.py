"""What n probes can show: the tables of the method page, enumeration, simulated verdicts."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.stats.paired import holm, mcnemar_exact, mcnemar_midp, paired_loss_bounds, sign_flip
from memeval.stats.power import minimum_detectable_drop, power_of_drop, probes_to_decide

SIZES = (20, 34, 50, 75, 100, 150, 200, 300, 500)
DETECTABLE = {
    0.0: (0.259, 0.156, 0.108, 0.072, 0.054, 0.036, 0.027, 0.018, 0.011),
    0.02: (0.298, 0.194, 0.143, 0.105, 0.084, 0.062, 0.051, 0.039, 0.029),
    0.05: (0.351, 0.234, 0.176, 0.133, 0.110, 0.085, 0.071, 0.056, 0.042),
}


def chances(n: int, loss: float, gain: float) -> dict[tuple[int, int], float]:
    """Probability of every pair of counts (losses, gains), written out."""
    return {
        (losses, gains): math.comb(n, losses)
        * math.comb(n - losses, gains)
        * loss**losses
        * gain**gains
        * (1 - loss - gain) ** (n - losses - gains)
        for losses, gains in itertools.product(range(n + 1), range(n + 1))
        if losses + gains <= n
    }


@pytest.mark.parametrize("gain_rate", DETECTABLE)
def test_detectable_drops_of_the_method_page(gain_rate: float) -> None:
    found = [minimum_detectable_drop(n, gain_rate) for n in SIZES]
    assert found == pytest.approx(list(DETECTABLE[gain_rate]), abs=5.5e-4)


def test_type_one_error_of_the_method_page() -> None:
    assert power_of_drop(34, 0.0, gain_rate=0.05) == pytest.approx(0.020, abs=5e-4)
    exact = sum(p for pair, p in chances(34, 0.05, 0.05).items() if mcnemar_exact(*pair) <= 0.05)
    assert exact == pytest.approx(0.006, abs=5e-4)


def test_power_of_the_method_page() -> None:
    # Its figures are simulated, and are met with one gain in a hundred probes.
    found = [power_of_drop(34, drop, gain_rate=0.01) for drop in (0.05, 0.1, 0.15, 0.2, 0.25)]
    assert found == pytest.approx([0.11, 0.43, 0.69, 0.87, 0.95], abs=0.015)


@pytest.mark.parametrize(
    ("n", "drop", "gain_rate", "alpha"),
    [(0, 0.1, 0.1, 0.05), (1, 0.5, 0.0, 0.3), (12, 0.3, 0.1, 0.05), (23, 0.2, 0.25, 0.2),
     (15, 1.0, 0.0, 0.01)],
)  # fmt: skip
def test_power_is_the_chance_of_all_significant_counts(
    n: int, drop: float, gain_rate: float, alpha: float
) -> None:
    table = chances(n, gain_rate + drop, gain_rate)
    assert sum(table.values()) == pytest.approx(1.0)
    wanted = sum(p for pair, p in table.items() if mcnemar_midp(*pair) <= alpha)
    assert power_of_drop(n, drop, gain_rate, alpha) == pytest.approx(wanted, abs=1e-12)


@given(st.integers(30, 200), st.sampled_from([0.0, 0.01, 0.1]), st.sampled_from([0.5, 0.8, 0.95]))
def test_the_detectable_drop_has_just_the_power(n: int, gain_rate: float, power: float) -> None:
    drop = minimum_detectable_drop(n, gain_rate, power)
    assert power_of_drop(n, drop, gain_rate) == pytest.approx(power, abs=1e-9)


def test_too_few_probes_see_nothing() -> None:
    # Three losses of three have p = .0625, four of four .03125.
    assert math.isnan(minimum_detectable_drop(3, 0.0))
    assert math.isnan(minimum_detectable_drop(0, 0.0))
    # All four must be lost: drop^4 = .8.
    assert minimum_detectable_drop(4, 0.0) == pytest.approx(0.8**0.25, abs=1e-12)


def decided(n: int, losses: int, gains: int, margin: float) -> bool:
    bound = paired_loss_bounds(n, losses, gains).high
    return mcnemar_midp(losses, gains) <= 0.05 or bound < margin


@given(
    st.integers(1, 20).flatmap(
        lambda n: st.tuples(st.just(n), st.integers(0, n)).flatmap(
            lambda pair: st.tuples(
                st.just(pair[0]), st.just(pair[1]), st.integers(0, pair[0] - pair[1])
            )
        )
    ),
    st.sampled_from([0.03, 0.10, 0.25]),
)
def test_as_many_probes_do_decide(three: tuple[int, int, int], margin: float) -> None:
    n, losses, gains = three
    needed = probes_to_decide(n, losses, gains, margin)
    assert needed is not None
    times = math.ceil(needed / n)
    # At whole multiples of what was seen the counts are whole, and the public functions agree.
    assert decided(n * times, losses * times, gains * times, margin)
    if times > 1:
        assert not decided(n * (times - 1), losses * (times - 1), gains * (times - 1), margin)


def test_probes_that_decide_without_a_flip() -> None:
    # Rule of the method page: 99, 59, 29 probes for 3, 5, 10 %.
    assert [probes_to_decide(5, 0, 0, m) for m in (0.03, 0.05, 0.10)] == [99, 59, 29]
    assert probes_to_decide(0, 0, 0) is None


def test_a_test_of_half_the_level_takes_one_more_loss_without_a_gain() -> None:
    # L losses have mid-p 2^-(L + 1): .05 takes 3.32 of them, .025 4.32. One probe in five is lost.
    assert probes_to_decide(20, 4, 0) == math.ceil(5 * 3.3219)
    assert probes_to_decide(20, 4, 0, test_alpha=0.025) == math.ceil(5 * 4.3219)
    # The bound keeps its own level.
    assert probes_to_decide(5, 0, 0, 0.10, test_alpha=0.025) == 29


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: power_of_drop(10, 0.95, 0.05), "drop"),
        (lambda: power_of_drop(10, math.nan, 0.05), "drop"),
        (lambda: power_of_drop(10, 0.1, 0.5), "gain_rate"),
        (lambda: minimum_detectable_drop(10, -0.1), "gain_rate"),
        (lambda: minimum_detectable_drop(10, 0.1, power=1.0), "power"),
        (lambda: minimum_detectable_drop(10, 0.1, alpha=5), "alpha"),
        (lambda: minimum_detectable_drop(-1, 0.1), "n"),
        (lambda: probes_to_decide(10, 1, 1, margin=0.0), "margin"),
        (lambda: probes_to_decide(10, 1, 1, alpha=0.5), "alpha"),
        (lambda: probes_to_decide(10, 1, 1, test_alpha=0.0), "test_alpha"),
        (lambda: probes_to_decide(10, 6, 5), "n"),
    ],
)
def test_arguments_out_of_range_are_named(call: object, name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: found .*, wanted"):
        call()  # type: ignore[operator]


@functools.cache
def verdict(n: int, losses: int, gains: int) -> str:
    """Steps 5 to 8 of the algorithm; a lost probe takes its whole nDCG with it."""
    if losses + gains == 0:
        return "SAME"
    ndcg = sign_flip([-1.0] * losses + [1.0] * gains + [0.0] * (n - losses - gains))
    if holm([mcnemar_midp(losses, gains), ndcg]).min() <= 0.05:
        return "FAIL"
    bound = paired_loss_bounds(n, losses, gains).high
    return "PASS" if bound < 0.10 else "CANNOT TELL"


def shares(n: int, loss: float, gain: float) -> dict[str, float]:
    """Share of each verdict in 2,000 seeded pairs of runs."""
    drawn = np.random.default_rng(2024).multinomial(n, [loss, gain, 1 - loss - gain], size=2000)
    words = [verdict(n, int(losses), int(gains)) for losses, gains, _ in drawn]
    return {word: words.count(word) / 2000 for word in ("SAME", "PASS", "FAIL", "CANNOT TELL")}


def test_noise_is_seldom_called_a_failure() -> None:
    found = shares(34, 0.05, 0.05)
    assert found["FAIL"] <= 0.04
    assert found["PASS"] + found["SAME"] == pytest.approx(0.48, abs=0.05)
    assert found["CANNOT TELL"] == pytest.approx(0.51, abs=0.05)


def test_a_true_drop_is_found_and_seldom_passed() -> None:
    at_100 = shares(100, 0.11, 0.01)
    assert at_100["FAIL"] >= 0.85
    assert at_100["PASS"] + at_100["SAME"] <= 0.06
    at_34 = shares(34, 0.21, 0.01)
    assert at_34["FAIL"] == pytest.approx(0.76, abs=0.04)
    assert at_34["PASS"] + at_34["SAME"] <= 0.01


@pytest.mark.parametrize("n", [20, 34, 50, 100, 200])
def test_a_drop_as_large_as_the_margin_seldom_passes(n: int) -> None:
    table = chances(n, 0.11, 0.01)
    passed = sum(p for pair, p in table.items() if p > 1e-9 and verdict(n, *pair) == "PASS")
    assert passed <= 0.06
