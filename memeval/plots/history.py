"""History: one metric through the commits of a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from memeval.errors import FrameError
from memeval.frames import HISTORY, conform
from memeval.plots.canvas import ASIDE, KEPT, NAME, SHARE, entry, legend_below, nothing, prepared
from memeval.plots.lettering import lettered
from memeval.text import clean, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

_NO_SHARE = {"leaks": "records", "latency_p95_ms": "ms"}
_MOST_NAMES = 7
OTHERWISE = "measured otherwise from here on"


def plot_history(frame: pd.DataFrame, metric: str = "recall_all", ax: Axes | None = None) -> Axes:
    """Draw one metric against the commits that it was measured at.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `memeval.frames.HISTORY`, from `memeval.history`.
    metric : str
        Which of its metrics.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Commits in their order to the right, evenly spaced, the value upwards; where there are
        intervals, a band. A dashed upright line stands before each commit that was measured
        otherwise than the one before it, and no line joins the values on its two sides. An empty
        history gives the words that say so.

    Raises
    ------
    FrameError
        If `frame` is no history, or has no row of that metric.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> frame = pd.DataFrame({"commit": ["a1", "b2"], "metric": "mrr", "value": [0.5, 0.75]})
    >>> plot_history(frame, "mrr", Figure().subplots()).get_title(loc="left")
    'mrr: 0.500 at a1, 0.750 at b2'
    """
    whole = conform(frame, HISTORY)
    if whole.empty:
        return nothing(
            ax,
            f"{metric}: nothing to draw",
            "no commit has figures yet; make a frame with memeval.history",
        )
    rows = whole[whole["metric"].eq(clean(metric))].reset_index(drop=True)
    if rows.empty:
        there = ", ".join(visible(name, 47) for name in whole["metric"].unique())
        raise FrameError(
            f"found no row of the metric {metric!r:.60} ({there}), nothing to draw; make a frame "
            "with memeval.history and name one of its metrics"
        )
    with prepared(ax, (8, 4.5)) as axes:
        _draw(axes, rows, metric)
        _label(axes, rows, metric)
    return axes


def _draw(ax: Axes, rows: pd.DataFrame, metric: str) -> None:
    breaks = rows["comparable"].eq(False).fillna(False).astype("bool")
    lines: list[Line2D] = []
    bands: list[PolyCollection] = []
    bars: list[Line2D] = []
    for _, part in rows.groupby(breaks.cumsum(), sort=True):
        if part["low"].notna().any():
            bands.append(
                ax.fill_between(
                    part.index, part["low"], part["high"], color=KEPT, alpha=0.15, lw=0,
                    label="95 % interval",
                )
            )  # fmt: skip
        lines += ax.plot(
            part.index, part["value"], color=KEPT, marker="o", ms=4, label=entry(metric)
        )
    for at in rows.index[breaks]:
        bars.append(ax.axvline(at - 0.5, color=ASIDE, ls="--", lw=1, zorder=1, label=OTHERWISE))
    legend_below(ax, [*lines[:1], *bands[:1], *bars[:1]])


def _label(ax: Axes, rows: pd.DataFrame, metric: str) -> None:
    named = [_short(commit) for commit in rows["commit"]]
    step = -(-len(named) // _MOST_NAMES)
    places = list(range(len(named) - 1, -1, -step))[::-1]
    ax.set_xticks(places, [named[at] for at in places])
    ax.set_xlim(-0.5, len(named) - 0.5)
    if metric in _NO_SHARE:
        ax.set_ylim(bottom=0)
    else:
        ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("commit, oldest first")
    ax.set_ylabel(f"{lettered(metric, NAME)} ({_NO_SHARE.get(metric, SHARE)})")
    form = ".0f" if metric == "leaks" else ".3f"
    known = [(f"{v:{form}}", c) for v, c in zip(rows["value"], named, strict=True) if v == v]
    ends = known[:1] + known[1:][-1:]
    said = ", ".join(f"{value} at {commit}" for value, commit in ends)
    ax.set_title(f"{lettered(metric, NAME)}: {said or 'n/a'}", loc="left")


def _short(commit: str) -> str:
    """The first eight characters of an id; words stay whole."""
    return lettered(commit if " " in commit else commit[:8], 20)
