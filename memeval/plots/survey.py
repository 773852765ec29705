"""A survey: what several stores come to, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval.errors import FrameError
from memeval.frames import SURVEY, conform
from memeval.plots.canvas import ASIDE, BROKEN, KEPT, SHARE, legend_below, nothing, prepared
from memeval.plots.lettering import lettered

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_survey(survey: Any, ax: Axes | None = None) -> Axes:
    """Draw recall and abstention of every store, a line per suite and store.

    Parameters
    ----------
    survey : Survey or pandas.DataFrame
        From `memeval.survey`, or its table.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One line per row of the table, the first on top. The dot is recall_all (a cross where the
        verdict is not PASS), the bar its interval, the open diamond abstention. At the right stand
        verdict and leaks in words. Of an invalid suite, and of a store that could not be asked,
        there are words alone.

    Raises
    ------
    FrameError
        If it is no survey.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> rows = {"suite": "mine", "store": ["a", "b"], "verdict": ["PASS", "FAIL"], "leaks": [0, 2]}
    >>> ax = plot_survey(pd.DataFrame(rows), Figure().subplots())
    >>> ax.get_title(loc="left")
    'Survey: 1 of 2 passed'
    """
    given = getattr(survey, "table", survey)
    if not isinstance(given, pd.DataFrame):
        raise FrameError(
            f"found {type(survey).__name__}, wanted a Survey or its table; draw "
            "memeval.plots.plot_survey(memeval.survey(...))"
        )
    frame = conform(given, SURVEY)
    if frame.empty:
        return nothing(ax, "Survey: nothing to draw", "no store was asked; use memeval.survey")
    with prepared(ax, (8, 1.4 + 0.4 * len(frame))) as axes:
        for y, row in enumerate(frame.itertuples()):
            _draw_store(axes, y, row)
        _label_stores(axes, frame)
    return axes


def _draw_store(ax: Axes, y: int, row: Any) -> None:
    passed = row.verdict == "PASS"
    colour = KEPT if passed else ASIDE if row.verdict in ("FAILED", "INVALID") else BROKEN
    ax.plot([row.low, row.high], [y, y], color="#CCCCCC", lw=8, solid_capstyle="butt", zorder=1)
    ax.plot(
        [row.abstention], [y], "D", mfc="none", mec="black", ms=11, ls="none", label="abstention",
        zorder=3,
    )  # fmt: skip
    dot = "o" if passed else "X"
    ax.plot([row.recall_all], [y], dot, color=colour, ms=8, ls="none", label="recall_all", zorder=4)
    ax.text(1.02, y, _words(row), color=colour, va="center", transform=ax.get_yaxis_transform())


def _words(row: Any) -> str:
    word = "not asked" if row.verdict == "FAILED" else lettered(str(row.verdict), 20)
    return f"{word}, LEAKS: {row.leaks}" if not pd.isna(row.leaks) and row.leaks else word


def _label_stores(ax: Axes, frame: pd.DataFrame) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    several = frame["suite"].nunique() > 1
    names = [
        lettered(f"{row.store}, {row.suite}" if several else str(row.store), 32)
        for row in frame.itertuples()
    ]
    ax.set_yticks(range(len(frame)), names)
    ax.set_ylim(len(frame) - 0.5, -0.5)
    ax.set_xlim(-0.03, 1.03)
    ax.set_xlabel(f"recall_all and abstention ({SHARE})")
    ax.set_ylabel("store")
    ax.set_title(f"Survey: {frame['verdict'].eq('PASS').sum()} of {len(frame)} passed", loc="left")
    shapes = [
        Line2D([], [], marker="o", ls="none", color="black", label="recall_all"),
        Patch(color="#CCCCCC", label="its 95 % interval"),
        Line2D([], [], marker="D", ls="none", mfc="none", mec="black", label="abstention"),
    ]
    legend_below(ax, shapes)
