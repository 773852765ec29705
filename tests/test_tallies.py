"""Tallies lose nothing that a figure hangs on, and merge to the same however they are split."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logged import Frames, logged, split
from pandas.testing import assert_frame_equal

from memeval.metrics import score
from memeval.scoring.measured import Measured, mean_of_probes
from memeval.scoring.observed import figures, observations
from memeval.scoring.tallies import Merging, Tallies, column_of, merged, tallies_of, tally
from memeval.stats.bootstrap import bca_mean
from memeval.summary import METRICS, summarize


def tallied(frames: Frames, order: Any = "high") -> Tallies:
    results = score(frames["hits"], frames["qrels"], frames["calls"])
    observed = observations(results, frames["hits"], frames["qrels"], frames["calls"], order)
    return tallies_of(observed)


def bytes_of(tallies: Tallies) -> dict[str, tuple[bytes, bytes]]:
    return {n: (t.values.tobytes(), t.counts.tobytes()) for n, t in sorted(tallies.items())}


def as_told(measured: dict[str, Measured]) -> pd.DataFrame:
    """Figures in the columns and order of a summary."""
    rows = [(name, *(getattr(measured[name], field) for field in ("value", "low", "high", "n")))
            for name in METRICS]  # fmt: skip
    columns = ["metric", "value", "low", "high", "n"]
    return pd.DataFrame(rows, columns=columns).astype({"metric": "str"})


def whole(frames: Frames, order: Any = "high") -> pd.DataFrame:
    results = score(frames["hits"], frames["qrels"], frames["calls"])
    summary = summarize(
        results, frames["hits"], frames["qrels"], frames["calls"], score_order=order
    )
    return summary[["metric", "value", "low", "high", "n"]]


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 999), data=st.data())
def test_any_split_in_any_order_gives_the_same_bytes_and_the_summary_of_the_whole(
    seed: int, data: st.DataObject
) -> None:
    frames = logged(seed, 30)
    probes = list(frames["calls"]["probe"].unique())
    place = data.draw(st.lists(st.integers(0, 5), min_size=len(probes), max_size=len(probes)))
    parts = [tallied(part) for part in split(frames, dict(zip(probes, place, strict=True)))]
    merging = Merging()
    for part in data.draw(st.permutations(parts)):
        merging.add(part)
    made = merging.whole()
    assert bytes_of(made) == bytes_of(tallied(frames))
    told = as_told(figures({name: column_of(one) for name, one in made.items()}))
    assert_frame_equal(told, whole(frames), check_exact=True)


VALUES = st.lists(
    st.sampled_from([0.0, -0.0, 1 / 3, 0.5, math.inf, -math.inf, math.nan]) | st.floats()
)


@settings(max_examples=30, deadline=None)
@given(st.tuples(VALUES, VALUES, VALUES))
def test_merging_is_associative_and_commutative_to_the_byte(
    lists: tuple[list[float], ...],
) -> None:
    a, b, c = (tallies_of({"x": pd.Series(one, dtype="float64")}) for one in lists)
    wanted = bytes_of(
        tallies_of({"x": pd.Series([x for one in lists for x in one], dtype="float64")})
    )
    for one in (merged(merged(a, b), c), merged(a, merged(b, c)), merged(merged(c, a), b)):
        assert bytes_of(one) == wanted


@pytest.mark.parametrize("order", ["high", "low", None])
@pytest.mark.parametrize("scored", [True, False])
def test_what_the_tables_say_is_in_the_figures_with_and_without_scores(
    order: Any, scored: bool
) -> None:
    frames = logged(7, scored=scored)
    columns = {name: column_of(one) for name, one in tallied(frames, order).items()}
    told = as_told(figures(columns)).set_index("metric")
    assert_frame_equal(told.reset_index(), whole(frames, order), check_exact=True)
    assert math.isnan(told.loc["abstention_auroc", "value"]) == (order is None or not scored)


def test_the_drawn_tables_leave_no_figure_and_no_interval_untried() -> None:
    told = whole(logged(7)).set_index("metric")
    empty = {"write_p50_ms", "visible_p50_ms"}
    assert set(told.index[told["value"].isna()]) == empty
    assert {"mrr", "ndcg", "staleness", "distinct", "context_tokens"} <= set(
        told.index[told["low"].notna()]
    )


def test_tables_that_are_not_given_leave_the_same_figures_undefined() -> None:
    frames = logged(3)
    results = score(frames["hits"], frames["qrels"], frames["calls"])
    for given_ in ({}, {"qrels": frames["qrels"]}, {"hits": frames["hits"]},
                   {"calls": frames["calls"]}):  # fmt: skip
        wanted = summarize(results, **given_)[["metric", "value", "low", "high", "n"]]
        assert_frame_equal(as_told(figures(observations(results, **given_))), wanted)


def test_an_interval_from_a_tally_is_that_of_the_values_by_hand() -> None:
    # 40 probes, found at ranks 1, 2, 3, 4, 5 or not at all: reciprocal ranks of six values
    ranks = [1] * 15 + [2] * 9 + [3] * 5 + [4] * 3 + [5] * 2 + [0] * 6
    values = [1 / rank if rank else 0.0 for rank in ranks]
    halves = [tallies_of({"rr": pd.Series(values[start::2])}) for start in (0, 1)]
    made = merged(*halves)["rr"]
    assert made.counts.tolist() == [6, 2, 3, 5, 9, 15]
    assert made.nbytes == 6 * 16
    low, high = bca_mean(values)
    # 15 + 9/2 + 5/3 + 3/4 + 2/5 = 22.31666..., over 40
    measured = mean_of_probes(column_of(made))
    assert measured == Measured(math.fsum(values) / 40, 40, low, high)
    assert measured.value == pytest.approx(22.316666666 / 40)


def test_na_is_left_out_and_zero_has_one_sign() -> None:
    made = tally(pd.Series([-0.0, 0.0, None, 2.0]))
    assert made.values.tobytes() == np.array([0.0, 2.0]).tobytes()
    assert made.counts.tolist() == [2, 1]
    assert tally(pd.Series([], dtype="float64")).nbytes == 0


def test_merging_many_parts_sorts_those_of_like_size() -> None:
    merging = Merging()
    for number in range(11):
        merging.add(tallies_of({"x": pd.Series([float(number)])}))
    assert [height for height, _ in merging._piles] == [3, 1, 0]  # 11 = 8 + 2 + 1
    assert merging.whole()["x"].values.tolist() == [float(n) for n in range(11)]
