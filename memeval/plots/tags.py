"""Tags: where a suite is weak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval.breakdown import summarize_by_tag
from memeval.frames import TAG_SUMMARY, conform
from memeval.plots.canvas import ASIDE, BROKEN, KEPT, SHARE, legend_below, nothing, prepared
from memeval.plots.lettering import lettered
from memeval.plots.taking import table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.runs import Run


def plot_tags(tag_summary: pd.DataFrame | Run, ax: Axes | None = None) -> Axes:
    """Draw recall and abstention of every tag, a line per tag.

    Parameters
    ----------
    tag_summary : pandas.DataFrame or Run
        As `memeval.frames.TAG_SUMMARY`, from `memeval.summarize_by_tag`; or the run that it is of.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One line per row of `tag_summary`, the first on top. The dot is recall_all (a cross where
        a probe did not pass), the bar its interval, the open diamond abstention; what is undefined
        is not drawn. At the right stands in words how many probes did not pass, and leaks. Without
        rows the words say so.

    Raises
    ------
    FrameError
        If `tag_summary` is no summary of tags, or a run of an invalid suite.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> tags = pd.DataFrame({"tag": ["time", "rank"], "n_positive": 5, "n_failed": [2, 0]})
    >>> ax = plot_tags(tags, Figure().subplots())
    >>> ax.get_title(loc="left")
    'Tags: 1 of 2 with a probe that did not pass'
    """
    given = table_of(
        tag_summary, "plot_tags", lambda run: summarize_by_tag(run.results, run.suite.tags())
    )
    frame = conform(given, TAG_SUMMARY)
    if frame.empty:
        why = "no probe has a tag; give them tags and use memeval.summarize_by_tag"
        return nothing(ax, "Tags: nothing to draw", why)
    with prepared(ax, (8, 1.4 + 0.4 * len(frame))) as axes:
        for y, row in enumerate(frame.itertuples()):
            _draw_tag(axes, y, row)
        _label_tags(axes, frame)
    return axes


def _draw_tag(ax: Axes, y: int, row: Any) -> None:
    colour, word = _judged(row)
    ax.plot([row.low, row.high], [y, y], color="#CCCCCC", lw=8, solid_capstyle="butt", zorder=1)
    ax.plot(
        [row.abstention], [y], "D", mfc="none", mec="black", ms=11, ls="none", label="abstention",
        zorder=3,
    )  # fmt: skip
    dot = "X" if colour == BROKEN else "o"
    ax.plot([row.recall_all], [y], dot, color=colour, ms=8, ls="none", label="recall_all", zorder=4)
    ax.text(1.02, y, word, color=colour, va="center", transform=ax.get_yaxis_transform())


def _judged(row: Any) -> tuple[str, str]:
    n = row.n_positive + row.n_negative
    if not n:
        return ASIDE, "no probe asked"
    if not (row.n_failed or row.leaks):
        return KEPT, f"all {n} passed"
    leaks = f", LEAKS: {row.leaks}" if row.leaks else ""
    return BROKEN, f"{row.n_failed} of {n} did not pass{leaks}"


def _label_tags(ax: Axes, frame: pd.DataFrame) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    tags = [lettered(str(tag), 32) for tag in frame["tag"].fillna("all probes")]
    sizes = zip(tags, frame["n_positive"], frame["n_negative"], strict=True)
    ax.set_yticks(range(len(frame)), [f"{tag} ({n} + {m})" for tag, n, m in sizes])
    ax.set_ylim(len(frame) - 0.5, -0.5)
    ax.set_xlim(-0.03, 1.03)
    ax.set_xlabel(f"recall_all and abstention ({SHARE})")
    ax.set_ylabel("tag (positive + negative probes)")
    weak = frame.loc[frame["tag"].notna(), "n_failed"].gt(0)
    ax.set_title(f"Tags: {weak.sum()} of {len(weak)} with a probe that did not pass", loc="left")
    shapes = [
        Line2D([], [], marker="o", ls="none", color="black", label="recall_all"),
        Patch(color="#CCCCCC", label="its 95 % interval"),
        Line2D([], [], marker="D", ls="none", mfc="none", mec="black", label="abstention"),
    ]
    legend_below(ax, shapes)
