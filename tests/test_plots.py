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
from memeval.plots import BROKEN, KEPT, plot_controls


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


@pytest.mark.parametrize(
    "text", ["$x^", r"$\frac{1}{0$", "_a_", "\x1b[31m", "a\nb", "\ud800", "x" * 999]
)
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
    with pytest.raises(FrameError, match="run_controls"):
        plot_controls(controls().iloc[:0], axes())
