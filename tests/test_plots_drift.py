"""Drawings of a growing store, judged by what their artists hold."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memeval import drift as reading
from memeval.errors import FrameError
from memeval.plots import (
    plot_drift,
    plot_latency_growth,
    plot_retention,
    plot_store_size,
    plot_survival,
)
from memeval.plots.canvas import KEPT
from memeval.simulation import Simulation
from tests.grown import SESSIONS, checkpoints, drift_probes, grown, n_records, old_ones_are_lost

HOSTILE = ["$x^", r"$\frac{1}{0$", "_a_", "\x1b[31m", "a\nb", "\ud800", "x" * 999]
PLOTS = [plot_drift, plot_retention, plot_survival, plot_store_size, plot_latency_growth]
SEVERAL = [plot_drift, plot_survival, plot_store_size, plot_latency_growth]


@pytest.fixture(autouse=True)
def _no_window() -> Any:
    before = dict(mpl.rcParams)
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")
    assert {k: v for k, v in mpl.rcParams.items() if before[k] != v} == {}


@pytest.fixture(scope="module")
def falling() -> Simulation:
    return grown(old_ones_are_lost)


def axes() -> Axes:
    return Figure().subplots()


def line(ax: Axes, label: str) -> list[tuple[float, float]]:
    found = [one for one in ax.lines if str(one.get_label()).startswith(label)]
    assert len(found) == 1, [one.get_label() for one in ax.lines]
    return [(float(x), float(y)) for x, y in zip(*found[0].get_data(), strict=True)]


def legend(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def said(ax: Axes) -> str:
    """Words of an axes that has nothing to draw."""
    assert not ax.lines and "nothing to draw" in ax.get_title(loc="left")
    return " ".join(ax.texts[0].get_text().split())


def log() -> pd.DataFrame:
    """A production log: two queries, two weeks."""
    return pd.DataFrame(
        {
            "probe": ["rota", "lunch", "rota", "lunch"],
            "session": [1, 1, 2, 2],
            "n_records": [900, 900, 2900, 2900],
            "recall_all": [True, True, False, True],
            "passed": [True, True, False, True],
        }
    )


def test_all_cohorts_each_cohort_and_the_fresh_one_are_drawn(falling: Simulation) -> None:
    ax = plot_drift(falling, ax=axes(), target=0.85)
    x = [n_records(session) for session in SESSIONS]
    # 40 probes; from session 16 on 80; then 20 are lost: 60 of 80; at the end with 40 fresh: 100
    # of 120.
    assert line(ax, "all cohorts") == pytest.approx(
        np.array(list(zip(x, [1, 1, 1, 1, 0.75, 0.75, 100 / 120], strict=True)))
    )
    old = line(ax, "cohort of session 0 (n = 40)")
    assert old == list(zip(x, [1, 1, 1, 1, 0.5, 0.5, 0.5], strict=True))
    assert line(ax, "cohort of session 16 (n = 40)") == [(n, 1.0) for n in x[3:]]
    assert line(ax, "fresh cohort (age 0)") == [(x[0], 1.0), (x[3], 1.0), (x[6], 1.0)]
    assert line(ax, "target 0.85") == [(0.0, 0.85), (1.0, 0.85)]
    assert legend(ax) == [
        "all cohorts",
        "95 % interval",
        "cohort of session 0 (n = 40)",
        "cohort of session 16 (n = 40)",
        "fresh cohort (age 0)",
        "target 0.85",
    ]


def test_the_band_is_the_interval_of_all_cohorts(falling: Simulation) -> None:
    ax = plot_drift(falling, ax=axes())
    corners = {(x, round(y, 9)) for x, y in ax.collections[0].get_paths()[0].vertices}
    # Wilson of 40 of 40: the lower end is n / (n + z**2) = 40 / 43.8415.
    assert (30.0, round(40 / (40 + 1.959963984540054**2), 9)) in corners
    assert (30.0, 1.0) in corners and len(ax.collections) == 1


def test_the_trend_by_probe_stands_in_the_title(falling: Simulation) -> None:
    title = plot_drift(falling, ax=axes()).get_title(loc="left")
    assert title.startswith("recall_all: DECLINE, -0.") and title.endswith("per 1,000 records")
    assert plot_drift(grown(), ax=axes()).get_title(loc="left").startswith("recall_all: FLAT, +0")
    mrr = plot_drift(grown(), "mrr", axes())
    assert mrr.get_title(loc="left") == "mrr: 1.000 at 30 to 1.000 at 1,340 records"


def test_two_stores_stand_on_one_figure_by_name(falling: Simulation) -> None:
    ax = plot_drift([grown(), falling], ax=axes(), labels=["before", "after"])
    assert legend(ax) == ["before", "after"]
    assert ax.get_title(loc="left") == "recall_all: before FLAT, after DECLINE"
    assert line(ax, "before")[-1] == (1340.0, 1.0)
    assert line(ax, "after")[-1] == (1340.0, pytest.approx(100 / 120))
    looks = {(one.get_color(), one.get_marker(), one.get_linestyle()) for one in ax.lines}
    assert len(looks) == 2 and all(len(set(part)) == 2 for part in zip(*looks, strict=True))
    assert legend(plot_drift([grown(), falling], ax=axes())) == ["shelf 1", "shelf 2"]
    assert "fresh cohort (age 0)" in legend(plot_drift([grown()] * 2, ax=axes(), cohorts=True))


def test_a_production_log_is_drawn_as_it_is() -> None:
    ax = plot_drift(log(), ax=axes())
    assert line(ax, "all cohorts") == [(900, 1.0), (2900, 0.5)]
    assert legend(ax) == ["all cohorts", "95 % interval"]
    with_cohorts = log().assign(cohort=[0, 1, 0, 1])
    ax = plot_drift(with_cohorts, ax=axes())
    assert line(ax, "cohort of session 0 (n = 1)") == [(900, 1.0), (2900, 0.0)]
    assert line(ax, "cohort of session 1 (n = 1)") == [(900, 1.0), (2900, 1.0)]


def test_a_frame_of_means_is_drawn_with_its_ends_in_the_title() -> None:
    means = pd.DataFrame({"session": [0, 9], "n_records": [10, 5000], "metric": "leaks",
                          "value": [0.0, 3.0]})  # fmt: skip
    ax = plot_drift(means, "leaks", axes())
    assert ax.get_title(loc="left") == "leaks: 0 at 10 to 3 at 5,000 records"
    assert ax.get_ylabel() == "leaks (records)" and ax.get_ylim()[0] == 0
    crowded = plot_drift(reading.crowding(drift_probes()), ax=axes())
    assert "all cohorts" not in legend(crowded) and "fresh cohort (age 0)" in legend(crowded)


def test_retention_holds_the_size_fixed(falling: Simulation) -> None:
    ax = plot_retention(falling, ax=axes())
    # At the end: the fresh cohort, that of session 16 and that of session 0, which lost a half.
    assert line(ax, "1,340 records") == [(0, 1.0), (112, 1.0), (128, 0.5)]
    assert line(ax, "220 records") == [(0, 1.0), (16, 1.0)]
    assert ax.get_title(loc="left") == "recall_all by age at 7 sizes of the store"
    assert ax.get_xlabel().startswith("age (sessions") and "share, 0 to 1" in ax.get_ylabel()
    assert legend(ax)[-1] == "95 % interval" and len(ax.collections) == 1
    shades = [sum(mpl.colors.to_rgb(one.get_color())) for one in ax.lines]
    assert shades == sorted(shades, reverse=True)  # the largest is the darkest
    assert len({one.get_marker() for one in ax.lines}) == 7


def test_retention_takes_only_probes_that_were_planted_again() -> None:
    asked = drift_probes()
    bad = drift_probes(lambda *_: False).query("cohort == 0").assign(probe=lambda t: "x" + t.probe)
    ax = plot_retention(grown(drift_probes=pd.concat([asked, bad])), ax=axes())
    assert line(ax, "1,340 records") == [(0, 1.0), (112, 1.0), (128, 1.0)]


def test_of_many_sizes_eight_are_drawn() -> None:
    many = pd.DataFrame({"probe": "a", "session": range(20), "n_records": range(0, 2000, 100),
                         "cohort": 0, "recall_all": True})  # fmt: skip
    ax = plot_retention(many, ax=axes())
    assert ax.get_title(loc="left") == "recall_all by age at 20 sizes of the store (8 are drawn)"
    assert len(ax.lines) == 8
    assert legend(ax)[0] == "0 records" and "1,900 records" in legend(ax)


def test_survival_steps_down_where_probes_are_lost(falling: Simulation) -> None:
    ax = plot_survival(falling, axes())
    # 20 of the 80 copies at risk are lost at 380 records; the curve goes on to the end.
    assert line(ax, "still passing") == [(30, 1.0), (380, 0.75), (1340, 0.75)]
    assert ax.lines[0].get_drawstyle() == "steps-post"
    assert ax.get_title(loc="left") == "Still passing: 0.750 at 1,340 records"
    assert legend(ax) == ["still passing", "95 % interval"]
    known = reading.survival(falling.drift_probes)
    corners = {(x, round(y, 9)) for x, y in ax.collections[0].get_paths()[0].vertices}
    low = round(known["low"].iloc[1], 9)
    assert (380.0, low) in corners and (30.0, low) not in corners  # it steps as the line does


def test_two_survivals_are_compared_by_log_rank(falling: Simulation) -> None:
    ax = plot_survival([grown(), falling], axes(), labels=["new", "old"])
    p_value = reading.log_rank(grown().drift_probes, falling.drift_probes)
    assert ax.get_title(loc="left") == (
        f"Still passing at the end: 1.000 new, 0.750 old (log-rank p = {p_value:.2g})"
    )
    assert legend(ax) == ["new", "old"]
    same = plot_survival([grown(), grown()], axes()).get_title(loc="left")
    assert "log-rank" not in same  # neither lost one


def test_survival_takes_a_curve_or_a_log(falling: Simulation) -> None:
    assert line(plot_survival(falling.survival, axes()), "still passing")[-1] == (380, 0.75)
    assert line(plot_survival(log(), axes()), "still passing") == [(900, 1.0), (2900, 0.5)]
    assert "asked again at another size" in said(plot_survival(log().iloc[:2], axes()))


def test_store_size_stands_beside_all_that_is_written() -> None:
    ax = plot_store_size(grown(), ax=axes())
    assert line(ax, "records that the store counts")[-1] == (1340, 1340)
    assert line(ax, "all that is written") == [(0, 0), (1340, 1340)]
    said = "Store size: linear, keeps 1,000 of 1,000 records in the late part"
    assert ax.get_title(loc="left") == said
    size = plot_store_size(grown(), "n_bytes", axes())
    assert line(size, "size (bytes)")[0] == (30, 3000) and "all that" not in str(legend(size))
    assert size.get_title(loc="left") == "Store size: 134,000 bytes at 1,340 records"


def test_of_a_store_that_does_not_count_nothing_is_drawn_but_words() -> None:
    unknown = grown(sizes=grown().sizes.assign(n_kept=pd.NA))
    ax = plot_store_size(unknown, ax=axes())
    assert "no row has n_kept" in said(ax) and "count()" in said(ax)
    with pytest.raises(FrameError, match="'n_words', wanted n_kept or n_bytes"):
        plot_store_size(grown(), "n_words", axes())  # type: ignore[arg-type]


def test_latency_shows_points_law_budget_and_crossing() -> None:
    ax = plot_latency_growth(grown(), ax=axes())
    # 2 + 0.05 n: 3.5 ms at 30 records, 69 ms at 1,340, and 100 ms at 1,960.
    assert line(ax, "measured")[0] == (30, 3.5) and line(ax, "measured")[-1] == (1340, 69.0)
    law = np.array(line(ax, "linear law"))
    assert law[:, 1] == pytest.approx(2 + 0.05 * law[:, 0])
    assert (law[0, 0], law[-1, 0]) == (30, 1340)
    assert line(ax, "crossing, with") == [(pytest.approx(1960), 100.0)]
    beyond = line(ax, "the same law on")
    assert beyond[0] == (1340, pytest.approx(69))
    assert beyond[-1] == (pytest.approx(1960), pytest.approx(100))
    assert [y for _, y in line(ax, "crossing, 95 %")] == [100, 100]
    assert line(ax, "budget 100 ms") == [(0, 100), (1, 100)]
    said = "latency_p95_ms: linear, crosses 100 ms at 1,960 records"
    assert ax.get_title(loc="left") == said
    assert ax.get_ylabel() == "latency_p95_ms (ms)" and ax.get_ylim()[1] > 100


def test_a_far_budget_is_named_and_does_not_press_the_points_flat() -> None:
    ax = plot_latency_growth(grown(checkpoints=checkpoints(lambda n: 1.5)), ax=axes())
    assert "budget 100 ms: far above" in legend(ax) and ax.get_ylim()[1] < 5
    assert ax.get_title(loc="left") == "latency_p95_ms: constant, does not grow with the store"
    near = plot_latency_growth(
        grown(checkpoints=checkpoints(lambda n: 1.5)), ax=axes(), budget_ms=2
    )
    assert line(near, "budget 2 ms") == [(0, 2), (1, 2)]


def test_too_few_sizes_have_no_law() -> None:
    few = pd.DataFrame({"n_records": [100, 200], "latency_p95_ms": [1.0, 2.0]})
    ax = plot_latency_growth(few, ax=axes())
    assert ax.get_title(loc="left") == "latency_p95_ms: CANNOT TELL, fewer than six sizes"
    assert not [one for one in ax.lines if "law" in str(one.get_label())]
    untimed = few.assign(latency_p95_ms=0.0)
    assert "no row has a time" in said(plot_latency_growth(untimed, ax=axes()))


def test_a_law_that_is_not_sure_is_grey_and_dotted() -> None:
    times = dict(zip(map(n_records, SESSIONS), [1.0, 1.1, 1.0, 1.2, 1.1, 1.3, 1.3], strict=True))
    ax = plot_latency_growth(grown(checkpoints=checkpoints(times.__getitem__)), ax=axes())
    law = next(one for one in ax.lines if "law" in str(one.get_label()))
    assert "cannot tell" in str(law.get_label())
    assert law.get_linestyle() == ":" and law.get_color() != KEPT


@pytest.mark.parametrize("plot", PLOTS)
def test_each_draws_into_the_axes_given_with_labels_and_changes_nothing(plot: Any) -> None:
    ax, given = axes(), grown(old_ones_are_lost, margin=0.10)
    assert plot(given, ax=ax) is ax
    ax.figure.savefig(BytesIO(), dpi=30)
    assert ax.get_xlabel() and ax.get_ylabel() and ax.get_legend() is not None
    fresh = grown(old_ones_are_lost, margin=0.10)
    for name in ("drift_probes", "checkpoints", "sizes"):
        pd.testing.assert_frame_equal(getattr(given, name), getattr(fresh, name))
    own = plot(given)
    assert plt.get_fignums() == [own.figure.number]


@pytest.mark.parametrize("plot", PLOTS)
def test_each_refuses_what_it_cannot_draw(plot: Any) -> None:
    with pytest.raises(FrameError, match=f"found int, wanted a Simulation.*{plot.__name__}"):
        plot(3, ax=axes())
    with pytest.raises(FrameError, match="found"):
        plot(pd.DataFrame({"a": [1]}), ax=axes())


@pytest.mark.parametrize("plot", SEVERAL)
def test_each_refuses_more_than_can_be_told_apart_and_odd_labels(plot: Any) -> None:
    with pytest.raises(FrameError, match="found 6 simulations, wanted 1 to 5"):
        plot([grown()] * 6, ax=axes())
    with pytest.raises(FrameError, match="found 0 simulations"):
        plot([], ax=axes())
    with pytest.raises(FrameError, match="found 1 labels for 2 simulations"):
        plot([grown()] * 2, ax=axes(), labels=["a"])
    with pytest.raises(FrameError, match="1 labels for 2"):
        plot([grown()] * 2, ax=axes(), labels="ab")


def test_an_unknown_metric_is_refused_by_what_there_is() -> None:
    with pytest.raises(FrameError, match=r"'nothing' \(recall_all, mrr, ndcg, passed, leaks\)"):
        plot_drift(grown(), "nothing", axes())
    with pytest.raises(FrameError, match="no column speed"):
        plot_drift(log(), "speed", axes())
    means = pd.DataFrame({"session": [0], "n_records": [9], "metric": "mrr", "value": [0.5]})
    with pytest.raises(FrameError, match="found no age"):
        plot_retention(means, "mrr", axes())


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("plot", SEVERAL)
def test_hostile_names_are_drawn_as_plain_text(plot: Any, text: str) -> None:
    ax = plot([grown(), grown(old_ones_are_lost)], ax=axes(), labels=[text, "other"])
    ax.figure.savefig(BytesIO(), dpi=30)
    first = ax.get_legend().get_texts()[0]
    assert len(ax.get_legend().get_texts()) >= 2
    assert not first.get_parse_math() and first.get_text().isprintable()
    assert ax.get_title(loc="left").isprintable()
    assert len(first.get_text()) <= 48


@pytest.mark.parametrize("text", HOSTILE[:-2])
def test_a_hostile_metric_is_drawn_as_plain_text(text: str) -> None:
    for plot in (plot_drift, plot_retention):
        rows = log().assign(cohort=0).rename(columns={"recall_all": text})
        ax = plot(rows, text, axes())
        ax.figure.savefig(BytesIO(), dpi=30)
        assert ax.get_ylabel().isprintable() and ax.get_title(loc="left").isprintable()
    timed = checkpoints().rename(columns={"latency_p95_ms": text})
    plot_latency_growth(timed, text, axes()).figure.savefig(BytesIO(), dpi=30)
