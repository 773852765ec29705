from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memeval.errors import FrameError
from memeval.plots import (
    ASIDE,
    BROKEN,
    KEPT,
    plot_controls,
    plot_history,
    plot_recall_curve,
    plot_tags,
    plot_threshold_curve,
)

HOSTILE = ["$x^", r"$\frac{1}{0$", "_a_", "\x1b[31m", "a\nb", "\ud800", "x" * 999]


@pytest.fixture(autouse=True)
def _no_window():
    before = dict(mpl.rcParams)
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")
    assert {k: v for k, v in mpl.rcParams.items() if before[k] != v} == {}


def controls(**changes: Any) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "store": ["null", "random", "shuffled", "shuffled"],
            "rule": ["C1", "C2", "C4", "C4"],
            "metric": ["recall_all", "recall_all", "ordering_potential", "mrr"],
            "value": [0.0, 0.25, 0.1, 0.5],
            "chance": [0.0, 0.05, np.nan, 0.45],
            "bound": [0.0, 0.2, 0.2, np.nan],
            "must": ["at_most", "at_most", "at_least", "at_most"],
            "applicable": [True, True, True, False],
            "passed": pd.array([True, False, False, None], dtype="boolean"),
            "blames": ["none", "suite", "store", "none"],
        }
    )
    return frame.assign(**changes)


def axes() -> Axes:
    return Figure().subplots()


def points(ax: Axes, label: str) -> list[tuple[float, float]]:
    drawn = [line for line in ax.lines if line.get_label() == label]
    return [(float(line.get_ydata()[0]), float(line.get_xdata()[0])) for line in drawn]


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_value_chance_and_bound_stand_in_the_line_of_their_rule():
    ax = plot_controls(controls(), axes())
    assert points(ax, "value") == [(0, 0.0), (1, 0.25), (2, 0.1), (3, 0.5)]
    assert points(ax, "bound") == [(0, 0.0), (1, 0.2), (2, 0.2)]
    assert [p for p in points(ax, "chance") if p[1] == p[1]] == [(0, 0.0), (1, 0.05), (3, 0.45)]
    top = [label.get_text() for label in ax.get_yticklabels()]
    assert top == [
        "C1 null: recall_all (at most)",
        "C2 random: recall_all (at most)",
        "C4 shuffled: ordering_potential (at least)",
        "C4 shuffled: mrr (at most)",
    ]
    assert ax.get_ylim() == (3.5, -0.5)


def test_the_bar_reaches_from_the_bound_to_the_allowed_end():
    ax = plot_controls(controls(), axes())
    bars = [list(line.get_xdata()) for line in ax.lines if line.get_linewidth() == 8]
    assert bars == [[0.0, 0.0], [0.0, 0.2], [0.2, 1.0]]


def test_a_word_says_what_the_colour_says():
    ax = plot_controls(controls(), axes())
    assert words(ax) == ["kept", "BROKEN: suite", "BROKEN: store", "not applicable"]
    dots = [line.get_color() for line in ax.lines if line.get_label() == "value"]
    assert dots[:3] == [KEPT, BROKEN, BROKEN]
    assert ax.get_title(loc="left") == "Controls: 1 of 3 rules kept, 1 not applicable"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "value",
        "chance",
        "bound",
        "where it must lie",
    ]


def test_a_rule_that_blames_nobody_is_not_called_broken():
    ax = plot_controls(controls(blames="none"), axes())
    assert words(ax)[1] == "not kept"


def test_axes_have_labels_and_units_and_are_given_back():
    ax = axes()
    assert plot_controls(controls(), ax) is ax
    assert "share, 0 to 1" in ax.get_xlabel()
    assert ax.get_ylabel() == "rule, store and metric"


def test_without_axes_one_figure_is_made_and_not_shown():
    ax = plot_controls(controls())
    assert plt.get_fignums() == [ax.figure.number]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_drawn_as_plain_text(text):
    ax = plot_controls(controls(store=text), axes())
    ax.figure.canvas.draw()
    label = ax.get_yticklabels()[0]
    assert not label.get_parse_math()
    assert label.get_text().isprintable()
    assert len(label.get_text()) <= 48


def test_the_input_is_not_changed():
    frame = controls()
    plot_controls(frame, axes())
    pd.testing.assert_frame_equal(frame, controls())


def test_what_is_no_controls_frame_is_refused():
    with pytest.raises(FrameError, match="wanted also"):
        plot_controls(pd.DataFrame({"probe": ["a"]}), axes())
    with pytest.raises(FrameError, match="found str, wanted Controls"):
        plot_controls("sqlite", axes())
    ax = plot_controls(controls().iloc[:0], axes())
    assert "memeval.run_controls" in words(ax)[0].replace("\n", " ")


def recall_curve() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "k": [1, 2, 3] * 2,
            "metric": ["recall_all"] * 3 + ["mrr"] * 3,
            "value": [0.25, 0.5, np.nan, 0.25, 0.375, np.nan],
            "low": [0.1, 0.2, np.nan, np.nan, np.nan, np.nan],
            "high": [0.5, 0.8, np.nan, np.nan, np.nan, np.nan],
            "n": [8, 4, 0] * 2,
        }
    )


def drawn(ax: Axes) -> dict[str, list[tuple[float, float]]]:
    """Points of each line by its label, without those that are undefined."""
    return {
        str(line.get_label()): [
            (float(x), float(y))
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
            if y == y
        ]
        for line in ax.lines
    }


def legend(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_recall_curve_has_a_line_of_its_own_look_per_metric():
    ax = plot_recall_curve(recall_curve().sample(frac=1, random_state=1), axes())
    assert drawn(ax)["recall_all"] == [(1, 0.25), (2, 0.5)]
    assert drawn(ax)["mrr"] == [(1, 0.25), (2, 0.375)]
    assert sorted(legend(ax)) == ["mrr", "recall_all"]
    looks = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in ax.lines}
    assert len(looks) == 2 and len({marker for _, marker, _ in looks}) == 2
    assert ax.get_ylim() == (-0.03, 1.03) and "share, 0 to 1" in ax.get_ylabel()


def test_the_band_of_a_recall_curve_is_its_interval():
    ax = plot_recall_curve(recall_curve(), axes())
    corners = {tuple(point) for point in ax.collections[0].get_paths()[0].vertices.tolist()}
    assert corners == {(1.0, 0.1), (1.0, 0.5), (2.0, 0.2), (2.0, 0.8)}
    assert ax.collections[1].get_paths() == []  # mrr has no interval


def test_a_recall_curve_says_over_how_many_probes():
    ax = plot_recall_curve(recall_curve(), axes())
    title = "recall_all: 0.250 at k = 1 (n = 8), 0.500 at k = 2 (n = 4)"
    assert ax.get_title(loc="left") == title
    said = "k, the cutoff (8 positive probes, 0 at the end: not all were asked for as many)"
    assert ax.get_xlabel() == said
    even = plot_recall_curve(recall_curve().assign(n=8), axes())
    assert even.get_xlabel() == "k, the cutoff (8 positive probes)"
    unknown = plot_recall_curve(recall_curve().assign(value=np.nan), axes())
    assert unknown.get_title(loc="left") == "recall_all: n/a"


def test_the_ticks_of_a_recall_curve_are_whole_numbers():
    ax = plot_recall_curve(recall_curve(), axes())
    assert [x for x in ax.get_xticks() if 0.5 <= x <= 3.5] == [1, 2, 3]


def threshold_curve(**changes: object) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "floor": [0.2, 0.5, 0.9],
            "recall_all": [1.0, 0.75, 0.5],
            "abstention": [0.0, 0.5, 1.0],
            "leaks": [3, 1, 0],
            "leak_rate": [0.5, 0.25, 0.0],
            "n_positive": 4,
            "n_negative": 2,
            "best": [False, False, True],
        }
    )
    return frame.assign(**changes)


def test_a_threshold_curve_shows_recall_abstention_leaks_and_the_best_floor():
    ax = plot_threshold_curve(threshold_curve(), axes())
    assert drawn(ax) == {
        "recall_all": [(0.2, 1.0), (0.5, 0.75), (0.9, 0.5)],
        "abstention": [(0.2, 0.0), (0.5, 0.5), (0.9, 1.0)],
        "leak_rate": [(0.2, 0.5), (0.5, 0.25), (0.9, 0.0)],
        "best floor": [(0.9, 0.0), (0.9, 1.0)],
    }
    assert legend(ax) == ["recall_all", "abstention", "leak_rate", "best floor"]
    said = "Best floor 0.9: recall_all 0.500, abstention 1.000, leaks 0"
    assert ax.get_title(loc="left") == said
    assert len({line.get_marker() for line in ax.lines}) == 4
    assert "stricter to the right" in ax.get_xlabel()
    assert not ax.xaxis_inverted()


def test_what_is_undefined_in_a_threshold_curve_is_not_drawn():
    bare = threshold_curve(abstention=np.nan, leak_rate=np.nan, n_negative=0, best=False)
    ax = plot_threshold_curve(bare, axes())
    assert list(drawn(ax)) == ["recall_all"]
    assert ax.get_title(loc="left") == "No best floor: 4 positive, 0 negative probes"


def test_the_floor_gets_stricter_to_the_right_where_low_scores_are_better():
    ax = plot_threshold_curve(threshold_curve(floor=[0.9, 0.5, 0.2]), axes())
    assert ax.xaxis_inverted()


def test_an_infinite_floor_does_not_stretch_the_drawing():
    ax = plot_threshold_curve(threshold_curve(floor=[-np.inf, 0.5, np.inf]), axes())
    ax.figure.canvas.draw()
    assert drawn(ax)["recall_all"] == [(0.5, 0.75)]
    assert ax.get_title(loc="left").startswith("Best floor inf:")


def tag_summary(**changes: object) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "tag": ["leak", "time", "good", "gone", None],
            "n_positive": [4, 2, 3, 0, 9],
            "n_negative": [1, 0, 2, 0, 3],
            "recall_all": [0.75, 0.5, 1.0, np.nan, 0.8],
            "low": [0.3, 0.1, 0.4, np.nan, 0.5],
            "high": [0.9, 0.9, 1.0, np.nan, 0.95],
            "leaks": [2, 0, 0, 0, 2],
            "abstention": [0.0, np.nan, 1.0, np.nan, 0.5],
            "n_failed": [3, 1, 0, 0, 4],
        }
    )
    return frame.assign(**changes)


def test_recall_interval_and_abstention_stand_in_the_line_of_their_tag():
    ax = plot_tags(tag_summary(), axes())
    known = [point for point in points(ax, "recall_all") if point[1] == point[1]]
    assert known == [(0, 0.75), (1, 0.5), (2, 1.0), (4, 0.8)]
    known = [point for point in points(ax, "abstention") if point[1] == point[1]]
    assert known == [(0, 0.0), (2, 1.0), (4, 0.5)]
    bars = [list(line.get_xdata()) for line in ax.lines if line.get_linewidth() == 8]
    assert bars[:3] == [[0.3, 0.9], [0.1, 0.9], [0.4, 1.0]]
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "leak (4 + 1)",
        "time (2 + 0)",
        "good (3 + 2)",
        "gone (0 + 0)",
        "all probes (9 + 3)",
    ]
    assert ax.get_ylim() == (4.5, -0.5)


def test_a_word_says_how_each_tag_did():
    ax = plot_tags(tag_summary(), axes())
    assert words(ax) == [
        "3 of 5 did not pass, LEAKS: 2",
        "1 of 2 did not pass",
        "all 5 passed",
        "no probe asked",
        "4 of 12 did not pass, LEAKS: 2",
    ]
    assert [t.get_color() for t in ax.texts] == [BROKEN, BROKEN, KEPT, ASIDE, BROKEN]
    assert ax.get_title(loc="left") == "Tags: 2 of 4 with a probe that did not pass"
    assert legend(ax) == ["recall_all", "its 95 % interval", "abstention"]
    assert "share, 0 to 1" in ax.get_xlabel()
    assert ax.get_ylabel() == "tag (positive + negative probes)"


PLOTS = [
    (plot_recall_curve, recall_curve, "recall_curve"),
    (plot_threshold_curve, threshold_curve, "threshold_curve"),
    (plot_tags, tag_summary, "summarize_by_tag"),
]


@pytest.mark.parametrize(("plot", "frame", "maker"), PLOTS)
def test_each_plot_draws_into_the_axes_given_and_changes_no_input(plot, frame, maker):
    ax, given = axes(), frame()
    assert plot(given, ax) is ax
    ax.figure.canvas.draw()
    pd.testing.assert_frame_equal(given, frame())
    own = plot(frame())
    assert plt.get_fignums() == [own.figure.number]


@pytest.mark.parametrize(("plot", "frame", "maker"), PLOTS)
def test_each_plot_refuses_what_it_cannot_draw(plot, frame, maker):
    with pytest.raises(FrameError, match="wanted also"):
        plot(pd.DataFrame({"probe": ["a"]}), axes())
    assert maker in words(plot(frame().iloc[:0], axes()))[0]


def test_an_empty_threshold_curve_says_its_reason():
    nothing = threshold_curve().iloc[:0].copy()
    nothing.attrs["reason"] = "no hit has a score"
    ax = plot_threshold_curve(nothing, axes())
    assert words(ax) == ["no hit has a score"] and not ax.lines
    assert ax.get_title(loc="left") == "Floors on the score: nothing to draw"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_tags_and_metrics_are_drawn_as_plain_text(text):
    ax = plot_tags(tag_summary(tag=text), axes())
    ax.figure.canvas.draw()
    label = ax.get_yticklabels()[0]
    assert not label.get_parse_math()
    assert label.get_text().isprintable() and len(label.get_text()) <= 48
    ax = plot_recall_curve(recall_curve().assign(metric=text), axes())
    ax.figure.canvas.draw()
    entry = ax.get_legend().get_texts()[0]
    assert not entry.get_parse_math()
    assert entry.get_text().isprintable() and len(entry.get_text()) <= 48


def moments(**changes: Any) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "commit": ["aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "working tree"],
            "metric": "recall_all",
            "value": [0.5, 0.75, np.nan, 1.0],
            "low": [0.25, 0.5, np.nan, 0.75],
            "high": [0.75, 1.0, np.nan, 1.0],
            "comparable": pd.array([None, True, False, True], dtype="boolean"),
        }
    )
    other = frame.assign(metric="leaks", value=[3.0, 0.0, 1.0, 0.0], low=np.nan, high=np.nan)
    return pd.concat([frame.assign(**changes), other])


def test_a_history_is_broken_where_it_cannot_be_compared():
    ax = plot_history(moments(), ax=axes())
    curves = [line for line in ax.lines if line.get_marker() == "o"]
    assert [list(line.get_xdata()) for line in curves] == [[0, 1], [2, 3]]
    assert list(curves[0].get_ydata()) == [0.5, 0.75]
    assert np.isnan(curves[1].get_ydata()[0]) and curves[1].get_ydata()[1] == 1.0
    breaks = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert [list(line.get_xdata()) for line in breaks] == [[1.5, 1.5]]
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == ["recall_all", "95 % interval", "measured otherwise from here on"]


def test_the_band_of_a_history_reaches_from_end_to_end():
    ax = plot_history(moments(), ax=axes())
    corners = {tuple(point) for point in ax.collections[0].get_paths()[0].vertices}
    assert corners == {(0, 0.25), (0, 0.75), (1, 0.5), (1, 1.0)}
    assert len(plot_history(moments(), "leaks", axes()).collections) == 0


def test_commits_stand_below_and_the_ends_in_the_title():
    ax = plot_history(moments(), ax=axes())
    assert [label.get_text() for label in ax.get_xticklabels()] == [
        "aaaaaaaa", "bbbbbbbb", "cccccccc", "working tree",
    ]  # fmt: skip
    assert ax.get_title(loc="left") == "recall_all: 0.500 at aaaaaaaa, 1.000 at working tree"
    assert ax.get_ylim() == (-0.03, 1.03) and "share, 0 to 1" in ax.get_ylabel()
    leaks = plot_history(moments(), "leaks", axes())
    assert leaks.get_ylabel() == "leaks (records)" and leaks.get_ylim()[0] == 0
    assert leaks.get_title(loc="left") == "leaks: 3 at aaaaaaaa, 0 at working tree"


def test_many_commits_do_not_run_into_each_other():
    rows = pd.DataFrame({"commit": [f"{n:040}" for n in range(100)], "metric": "mrr", "value": 0.5})
    ax = plot_history(rows, "mrr", axes())
    places = list(ax.get_xticks())
    assert len(places) <= 7 and places[-1] == 99 and len(set(np.diff(places))) == 1


def test_a_history_without_that_metric_is_refused_by_what_it_has():
    with pytest.raises(FrameError, match=r"'ndcg' \(recall_all, leaks\).*memeval.history"):
        plot_history(moments(), "ndcg", axes())
    assert "memeval.history" in words(plot_history(moments().iloc[:0], ax=axes()))[0]
    with pytest.raises(FrameError, match="wanted also"):
        plot_history(pd.DataFrame({"probe": ["a"]}), ax=axes())


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_commits_and_metrics_are_drawn_as_plain_text(text):
    rows = pd.DataFrame({"commit": [text, f"{text} tree"], "metric": text, "value": [0.5, 0.6]})
    ax = plot_history(rows, rows["metric"].iloc[0] if text != "\ud800" else "\ufffd", axes())
    ax.figure.canvas.draw()
    for label in ax.get_xticklabels():
        assert not label.get_parse_math()
        assert label.get_text().isprintable() and len(label.get_text()) <= 20
    entry = ax.get_legend().get_texts()[0]
    assert not entry.get_parse_math() and entry.get_text().isprintable()
