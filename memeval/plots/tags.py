"""Tags: where a suite is weak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval.errors import FrameError
from memeval.frames import TAG_SUMMARY, conform
from memeval.plots.canvas import ASIDE, BROKEN, KEPT, SHARE, legend_below, plain_ticks, prepared
from memeval.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_tags(tag_summary: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw recall and abstention of every tag, a line per tag.

    Parameters
    ----------
    tag_summary : pandas.DataFrame
        As `memeval.frames.TAG_SUMMARY`, from `memeval.summarize_by_tag`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One line per row of `tag_summary`, the first on top. The dot is recall_all, the bar its
        interval, the open diamond abstention; what is undefined is not drawn. At the right stands
        in words how many probes did not pass, and leaks.

    Raises
    ------
    FrameError
        If `tag_summary` is no summary of tags or has no rows.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> tags = pd.DataFrame({"tag": ["time", "rank"], "n_positive": 5, "n_failed": [2, 0]})
    >>> ax = plot_tags(tags, Figure().subplots())
    >>> ax.get_title(loc="left")
    'Tags: 1 of 2 with a probe that did not pass'
    """
    frame = conform(tag_summary, TAG_SUMMARY)
    if frame.empty:
        raise FrameError(
            "found a summary of no tags; make one with memeval.summarize_by_tag, of a suite whose "
            "probes have tags"
        )
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
    ax.plot([row.recall_all], [y], "o", color=colour, ms=7, ls="none", label="recall_all", zorder=4)
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

    tags = [visible(str(tag), 32) for tag in frame["tag"].fillna("all probes")]
    sizes = zip(tags, frame["n_positive"], frame["n_negative"], strict=True)
    ax.set_yticks(range(len(frame)), [f"{tag} ({n} + {m})" for tag, n, m in sizes])
    plain_ticks(ax)
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
