"""Drawings of a comparison, judged by what their artists hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from test_plots import HOSTILE

from memeval.comparison import Comparison, compare
from memeval.errors import FrameError
from memeval.plots import BROKEN, KEPT, plot_changes, plot_comparison
from memeval.verdicts import Validity
from tests.outcome_sides import MANIFEST, named, side


@pytest.fixture(autouse=True)
def _no_window() -> Iterator[None]:
    before = dict(mpl.rcParams)
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")
    assert {k: v for k, v in mpl.rcParams.items() if before[k] != v} == {}


def axes() -> Axes:
    return Figure().subplots()


def points(ax: Axes, label: str) -> dict[int, float]:
    """Place across of each mark with that label, by its line."""
    drawn = [line for line in ax.lines if line.get_label() == label]
    return {int(line.get_ydata()[0]): float(line.get_xdata()[0]) for line in drawn}


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


@pytest.fixture(scope="module")
def fell() -> Comparison:
    """Of 40 probes at rank 1 ten are lost: recall_all, mrr and ndcg fall by 10/40."""
    return compare(side(named([1] * 40)), side(named([None] * 10 + [1] * 30), leaks={"p39": 2}))


def test_each_metric_has_its_delta_in_its_line_and_the_word_beside(fell: Comparison) -> None:
    ax = plot_comparison(fell, axes())
    labels = [label.get_text() for label in ax.get_yticklabels()]
    at = {name: y for y, name in enumerate(labels)}
    assert labels[0] == "recall_all" and ax.get_ylim() == (len(labels) - 0.5, -0.5)
    deltas = points(ax, "delta")
    for metric in ("recall_all", "recall_fraction", "mrr", "ndcg"):
        assert deltas[at[metric]] == pytest.approx(-0.25)
    assert at["leaks"] not in deltas
    assert words(ax)[0] == "-0.250\nCOUNTS AS WORSE" and words(ax)[at["mrr"]] == "-0.250 worse"
    assert words(ax)[at["leaks"]] == "0 to 2\nCOUNTS AS WORSE"
    assert ax.get_title(loc="left") == "FAIL: recall_all 1.000 before, 0.750 now"


def test_the_bar_is_the_interval_and_lines_stand_at_zero_and_the_margin(fell: Comparison) -> None:
    ax = plot_comparison(fell, axes())
    row = fell.of("recall_all")
    (bar,) = [line for line in ax.lines if line.get_lw() == 8 and line.get_ydata()[0] == 0]
    assert list(bar.get_xdata()) == pytest.approx([row["low"], row["high"]])
    assert points(ax, "margin") == {0: -0.1}
    assert [0.0, 0.0] in [list(line.get_xdata()) for line in ax.lines]
    low, high = ax.get_xlim()
    assert low == -high and low < row["low"]


def test_what_counts_as_worse_has_a_shape_of_its_own(fell: Comparison) -> None:
    ax = plot_comparison(fell, axes())
    looks = {
        int(line.get_ydata()[0]): (line.get_marker(), line.get_color())
        for line in ax.lines
        if line.get_label() == "delta"
    }
    assert looks[0] == ("X", BROKEN) and looks[1] == ("o", KEPT)


def test_no_change_is_level_and_times_stand_in_words(fell: Comparison) -> None:
    same = compare(side(named([1] * 40)), side(named([1] * 40)))
    ax = plot_comparison(same, axes())
    assert words(ax)[0] == "0 level"
    assert ax.get_title(loc="left") == "SAME: recall_all 1.000 before, 1.000 now"
    frame = fell.frame.copy()
    frame.loc[frame["metric"].eq("latency_ms"), "delta"] = 1.5
    slow = Comparison(**{**vars(fell), "frame": frame})
    assert words(plot_comparison(slow, axes()))[-1] == "x 1.50 worse"


@pytest.mark.parametrize("drawn", [plot_comparison, plot_changes])
def test_no_number_is_drawn_that_is_withheld(drawn: Any) -> None:
    one, other = side(named([1] * 40)), side(named([1] * 40), manifest=MANIFEST | {"seed": 9})
    with pytest.raises(FrameError, match=r"NOT COMPARABLE.*seed"):
        drawn(compare(one, other), axes())
    bad = side(named([1] * 40), validity=Validity("invalid", ("chance is too high",)))
    with pytest.raises(FrameError, match="INVALID.*chance is too high"):
        drawn(compare(one, bad), axes())


def changes(**more: Any) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "probe": ["a", "b", "c", "d", "e", "f"],
            "change": ["lost", "gained", "flaky", "added", "removed", "lost"],
            "rank_before": pd.array([1, None, 2, None, 3, None], dtype="Int64"),
            "rank_after": pd.array([None, 4, 2, 1, None, None], dtype="Int64"),
        }
    )
    return frame.assign(**more)


def test_ranks_before_and_after_stand_in_the_line_of_their_probe() -> None:
    ax = plot_changes(changes(), axes())
    # The deepest rank is 4, so what was not found stands at 5; d has no before, e no after.
    assert points(ax, "before") == {0: 1, 1: 5, 2: 2, 4: 3}
    assert points(ax, "now") == {0: 5, 1: 4, 2: 2, 3: 1}
    assert points(ax, "moved").keys() == {0, 1, 2}
    assert words(ax) == ["lost", "gained", "flaky", "added", "removed", "lost (no rank)"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "2", "3", "4", "not found"]
    assert ax.get_title(loc="left") == "Changes: 2 lost, 1 gained, 1 flaky, 1 added, 1 removed"


def test_kinds_of_change_differ_without_colour() -> None:
    ax = plot_changes(changes(), axes())
    shapes = [line.get_marker() for line in ax.lines if line.get_label() == "now"]
    assert len(set(shapes)) == len(shapes) == 4
    styles = [line.get_linestyle() for line in ax.lines if line.get_label() == "moved"]
    assert len(set(styles)) == 3
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["before", "lost", "gained", "flaky", "added", "removed"]


def test_a_comparison_is_drawn_like_its_changes(fell: Comparison) -> None:
    ax = plot_changes(fell, axes())
    assert ax.get_title(loc="left").startswith("Changes: 11 lost")
    assert points(ax, "before") == points(plot_changes(fell.changes, axes()), "before")


def test_without_a_change_the_title_says_so() -> None:
    for empty in (changes().iloc[:0], compare(side(named([1])), side(named([1])))):
        ax = plot_changes(empty, axes())
        ax.figure.canvas.draw()
        assert ax.get_title(loc="left") == "Changes: none" and not ax.lines
        assert ax.get_legend() is None


def test_of_many_changes_the_first_are_drawn_and_the_title_says_so() -> None:
    many = pd.DataFrame({"probe": [f"p{n}" for n in range(99)], "change": "lost",
                         "rank_before": range(1, 100)})  # fmt: skip
    ax = plot_changes(many, axes())
    assert len(words(ax)) == 40
    assert ax.get_title(loc="left") == "Changes: 99 lost (the first 40 are drawn)"
    assert len(ax.get_xticks()) <= 13


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_drawn_as_plain_text(text: str, fell: Comparison) -> None:
    ax = plot_changes(changes(probe=[f"{text}{n}" for n in range(6)]), axes())
    odd = Comparison(**{**vars(fell), "frame": fell.frame.assign(metric=text)})
    for drawn in (ax, plot_comparison(odd, axes())):
        drawn.figure.canvas.draw()
        for label in drawn.get_yticklabels():
            assert not label.get_parse_math() and label.get_text().isprintable()
            assert len(label.get_text()) <= 48


def test_axes_are_given_back_and_the_input_is_not_changed(fell: Comparison) -> None:
    for drawn in (plot_comparison, plot_changes):
        ax, before = axes(), (fell.frame.copy(), fell.changes.copy())
        assert drawn(fell, ax) is ax
        pd.testing.assert_frame_equal(fell.frame, before[0])
        pd.testing.assert_frame_equal(fell.changes, before[1])
        assert plt.get_fignums() == []
        assert drawn(fell).figure.number in plt.get_fignums()
        plt.close("all")


def test_what_is_no_frame_of_changes_is_refused() -> None:
    with pytest.raises(FrameError, match="wanted also"):
        plot_changes(pd.DataFrame({"metric": ["a"]}), axes())


@pytest.mark.parametrize("draw", [plot_comparison, plot_changes])
@pytest.mark.parametrize("given", [side({"a": 1}), None, "run.json"])
def test_what_is_no_comparison_is_refused_with_what_to_draw(draw: Any, given: Any) -> None:
    with pytest.raises(FrameError, match=rf"found {type(given).__name__}, wanted a Comparison"):
        draw(given, axes())
    with pytest.raises(FrameError, match=rf"{draw.__name__}\(memeval.compare"):
        draw(given, axes())


def test_the_axis_speaks_of_more_than_shares(fell: Comparison) -> None:
    assert plot_comparison(fell, axes()).get_xlabel() == (
        "current - baseline (of metrics from 0 to 1)"
    )


def test_words_beside_the_drawing_stay_on_the_figure(fell: Comparison) -> None:
    ax = plot_comparison(fell)
    figure: Any = ax.figure
    figure.canvas.draw()
    right = max(text.get_window_extent().x1 for text in ax.texts)
    assert right <= figure.bbox.x1


def test_what_was_not_asked_has_a_mark_of_its_own_and_no_line() -> None:
    gone = side({"a": None, "b": None}, status={"a": "not_supported"})
    ax = plot_changes(compare(side({"a": 1, "b": 1}), gone), axes())
    assert points(ax, "before") == {0: 1.0, 1: 1.0}
    assert set(points(ax, "now")) == {1} and set(points(ax, "moved")) == {1}
    assert set(points(ax, "not asked")) == {0}
    assert words(ax) == ["lost (not asked now)", "lost"]
