"""Summary: every metric of a run with its interval, its target and the user's floor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval.frames import SUMMARY, conform
from memeval.plots.canvas import (
    ASIDE,
    BAR,
    BROKEN,
    KEPT,
    NAME,
    SHARE,
    legend_below,
    nothing,
    prepared,
)
from memeval.plots.lettering import lettered
from memeval.plots.taking import table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.runs import Run

# What has a scale of its own stands in words, since the axis holds shares.
_COUNTS = frozenset({"leaks", "contract", "errors", "not_stored", "not_visible", "not_supported"})
_OTHER = {"context_tokens": "tokens", "llm_calls": "calls"}


def plot_summary(summary: Run | pd.DataFrame, ax: Axes | None = None, *, all: bool = False) -> Axes:
    """Draw every metric of a run with its interval, its target and its floor, a line per metric.

    Parameters
    ----------
    summary : Run or pandas.DataFrame
        From `memeval.run`, or its summary, as `memeval.frames.SUMMARY`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    all : bool
        Whether metrics without target, floor and gate are drawn too.

    Returns
    -------
    matplotlib.axes.Axes
        The dot is the value, the bar its 95 % interval, the open triangle the target, the upright
        stroke the floor; at the right stands the value, and whether gate or floor, else the target,
        is met. Counts and times stand in words alone, since they are no shares.

    Raises
    ------
    FrameError
        If it is neither, or a run of an invalid suite.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> summary = pd.DataFrame(
    ...     {"metric": ["recall_all"], "value": [0.9], "n": [20], "target": [0.85],
    ...      "better": "higher"}
    ... )
    >>> ax = plot_summary(summary, Figure().subplots())
    >>> ax.get_title(loc="left"), ax.texts[0].get_text()
    ('Summary: 1 of 1 targets met', '0.900, target met')
    """
    frame = conform(table_of(summary, "plot_summary", lambda run: run.summary), SUMMARY)
    asked = frame["target"].notna() | frame["floor"].notna() | frame["gate"]
    if not all and asked.any():
        frame = frame[asked].reset_index(drop=True)
    if frame.empty:
        why = "the summary has no rows; make one with memeval.summarize"
        return nothing(ax, "Summary: nothing to draw", why)
    with prepared(ax, (8, 1.6 + 0.4 * len(frame))) as axes:
        for y, row in enumerate(frame.itertuples()):
            _draw_metric(axes, y, row)
        _label(axes, frame)
    return axes


def _is_share(metric: str) -> bool:
    return not (metric.endswith("_ms") or metric in _COUNTS or metric in _OTHER)


def _draw_metric(ax: Axes, y: int, row: Any) -> None:
    colour, word = judged(row)
    if _is_share(row.metric):
        ax.plot([row.low, row.high], [y, y], color=BAR, lw=8, solid_capstyle="butt", zorder=1,
                label="interval")  # fmt: skip
        ax.plot([row.target], [y], ">" if row.better == "higher" else "<", mfc="none", mec="black",
                ms=11, ls="none", zorder=3, label="target")  # fmt: skip
        ax.plot([row.floor], [y], "|", color="black", ms=18, mew=2, zorder=3, label="floor")
        marker = "X" if colour == BROKEN else "o"
        ax.plot([row.value], [y], marker, color=colour, ms=8, ls="none", zorder=4, label="value")
    ax.text(1.02, y, f"{_written(row.metric, row.value)}{word}", color=colour, va="center",
            transform=ax.get_yaxis_transform())  # fmt: skip


def _written(metric: str, value: float) -> str:
    if value != value:
        return "n/a"
    if metric in _COUNTS:
        return f"{value:.0f}"
    if metric.endswith("_ms"):
        return f"{value:.1f} ms"
    return f"{value:.1f} {_OTHER[metric]}" if metric in _OTHER else f"{value:.3f}"


def judged(row: Any) -> tuple[str, str]:
    """Colour and words of a metric: gate and floor come before the target."""
    if not pd.isna(row.passed) and not row.passed:
        return BROKEN, ", GATE BROKEN" if row.gate else f", BELOW FLOOR {row.floor:g}" if (
            row.better == "higher") else f", ABOVE FLOOR {row.floor:g}"  # fmt: skip
    met = meets(row)
    if met is None:
        kept = row.gate and not pd.isna(row.passed)
        return (KEPT, ", gate kept") if kept else (ASIDE, "")
    return (KEPT, ", target met") if met else (BROKEN, f", target {row.target:g} MISSED")


def meets(row: Any) -> bool | None:
    """Whether the value reaches its target; None without either."""
    if row.target != row.target or row.value != row.value:
        return None
    return bool(row.value >= row.target if row.better == "higher" else row.value <= row.target)


def _label(ax: Axes, frame: pd.DataFrame) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    sizes = zip(frame["metric"], frame["n"], strict=True)
    ax.set_yticks(range(len(frame)), [f"{lettered(name, NAME)} (n = {n})" for name, n in sizes])
    ax.set_ylim(len(frame) - 0.5, -0.5)
    ax.set_xlim(-0.03, 1.03)
    ax.set_xlabel(f"value of the metric ({SHARE})")
    ax.set_ylabel("metric (taken over n)")
    told = [meets(row) for row in frame.itertuples()]
    known = [met for met in told if met is not None]
    broken = int(frame["passed"].eq(False).fillna(False).sum())
    bad = f", {broken} GATE{'' if broken == 1 else 'S'} OR FLOORS BROKEN" if broken else ""
    ax.set_title(f"Summary: {sum(known)} of {len(known)} targets met{bad}", loc="left")
    marks = [
        Line2D([], [], marker="o", ls="none", color="black", label="value"),
        Patch(color=BAR, label="95 % interval"),
        Line2D([], [], marker=">", ls="none", mfc="none", mec="black", ms=9, label="target"),
    ]
    if frame["floor"].notna().any():
        marks.append(Line2D([], [], marker="|", ls="none", color="black", ms=12, label="floor"))
    legend_below(ax, marks)
