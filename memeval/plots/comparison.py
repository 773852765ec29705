"""A comparison: how each metric moved, and what became of each probe that changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval.comparing.changes import not_asked
from memeval.errors import FrameError
from memeval.frames import CHANGE_WORDS, CHANGES, COMPARISON, conform
from memeval.plots.canvas import (
    ASIDE,
    BROKEN,
    GREEN,
    KEPT,
    NAME,
    PURPLE,
    legend_below,
    nothing,
    prepared,
)
from memeval.plots.lettering import lettered
from memeval.summary import METRICS
from memeval.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.comparison import Comparison

MOST_CHANGES = 40
"""Probes that are drawn at most: more lines than that are no drawing."""
UNASKED_AT = 0.6
"""Where the mark of a probe stands that was not asked: before any rank."""
# What is no share stands in words: it has a scale of its own.
_COUNTS = frozenset({"leaks"})
_TIMES = frozenset({"latency_ms", "latency_p95_ms", "cold_ms", "write_ms", "visible_ms"})
# Colour, marker and line of each kind of change.
_LOOKS = {
    "lost": (BROKEN, "X", "-"),
    "gained": (KEPT, "o", "--"),
    "flaky": ("black", "D", ":"),
    "added": (GREEN, "^", "-."),
    "removed": (PURPLE, "v", "-."),
    "edited": (ASIDE, "s", "-."),
}


def plot_comparison(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw how each metric moved against the baseline, with its interval.

    Parameters
    ----------
    comparison : Comparison
        From `memeval.compare`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One line per metric that both sides tell, the first on top. The dot is current - baseline,
        the bar its interval, the upright line no change, the short one at recall_all the margin. At
        the right stands the same in words, and whether it got better or worse; counts and times
        stand in words alone, since they are no shares.

    Raises
    ------
    FrameError
        If it is no Comparison, or its verdict is INVALID or NOT COMPARABLE: none of its numbers
        may be drawn.

    Examples
    --------
    >>> import memeval as me
    >>> from matplotlib.figure import Figure
    >>> from memeval.comparison import compare
    >>> probe = me.Probe("lunch", "noodle bar", [me.Record("r1", "Lunch: noodle bar.")], ["r1"])
    >>> run = me.run([probe], "sqlite")
    >>> plot_comparison(compare(run, run), Figure().subplots()).get_title(loc="left")
    'SAME: recall_all 1.000 before, 1.000 now'
    """
    _refuse_other(comparison, "plot_comparison")
    _refuse_withheld(comparison)
    frame = conform(comparison.frame, COMPARISON)
    frame = frame[frame["delta"].notna()].reset_index(drop=True)
    if frame.empty:
        return nothing(ax, comparison.verdict.word, "there is no metric that both sides tell")
    with prepared(ax, (8, 1.6 + 0.4 * max(1, len(frame)))) as axes:
        for y, row in enumerate(frame.itertuples()):
            _draw_metric(axes, y, row, comparison.margin)
        _label_metrics(axes, frame, comparison)
    return axes


def _refuse_other(given: object, name: str, also: str = "") -> None:
    """Refuse what is neither a comparison nor like one."""
    from memeval.comparison import Comparison

    if not isinstance(given, Comparison):
        raise FrameError(
            f"found {type(given).__name__}, wanted a Comparison{also}; draw "
            f"memeval.plots.{name}(memeval.compare(baseline, run))"
        )


def _refuse_withheld(comparison: Comparison) -> None:
    verdict = comparison.verdict
    if comparison.withheld:
        raise FrameError(
            f"found a comparison that is {verdict.word} ({visible(verdict.reason)}), so no number "
            f"of it may be drawn; {visible(verdict.next_step) or 'mend that first'}"
        )


def _draw_metric(ax: Axes, y: int, row: Any, margin: float) -> None:
    """One metric: what moved, how sure that is, and the word."""
    bad = _is_worse(row)
    colour = BROKEN if bad else KEPT
    if row.metric not in _COUNTS | _TIMES:
        ends = [row.low, row.high]
        ax.plot(ends, [y, y], color="#CCCCCC", lw=8, solid_capstyle="butt", label="interval")
        marker = "X" if bad else "o"
        ax.plot([row.delta], [y], marker, color=colour, ms=8, ls="none", label="delta", zorder=4)
    if row.metric == "recall_all":
        ax.plot([-margin], [y], "|", color="black", ms=18, mew=1.5, label="margin", zorder=3)
    ax.text(
        1.02, y, _moved(row), color=colour, va="center", linespacing=0.95, fontsize="small",
        transform=ax.get_yaxis_transform(),
    )  # fmt: skip


def _is_worse(row: Any) -> bool:
    """Whether the verdict counts it as worse; not where it does not judge it."""
    return not pd.isna(row.regressed) and bool(row.regressed)


def _moved(row: Any) -> str:
    """The difference in words."""
    sign = row.delta - 1 if row.metric in _TIMES else row.delta
    if METRICS.get(row.metric) == "lower" or row.metric in _TIMES:
        sign = -sign
    level = 0.005 if row.metric in _TIMES else 0.0005
    word = "level" if abs(sign) < level else "better" if sign > 0 else "worse"
    said = "0" if word == "level" else f"{row.delta:+.3f}"
    if row.metric in _TIMES:
        said = f"x {row.delta:.2f}"
    elif row.metric in _COUNTS:
        said = f"{row.baseline:.0f} to {row.current:.0f}"
    return f"{said}\nCOUNTS AS WORSE" if _is_worse(row) else f"{said} {word}"


def _label_metrics(ax: Axes, frame: pd.DataFrame, comparison: Comparison) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shares = frame[~frame["metric"].isin(_COUNTS | _TIMES)]
    ends = shares[["low", "delta", "high"]].abs().max().max()
    reach = 1.1 * max(comparison.margin, 0.0 if pd.isna(ends) else float(ends))
    ax.axvline(0.0, color="black", lw=1, zorder=2)
    ax.set_yticks(range(len(frame)), [lettered(name, NAME) for name in frame["metric"]])
    ax.set_ylim(max(1, len(frame)) - 0.5, -0.5)
    ax.set_xlim(-reach, reach)
    ax.set_xlabel("current - baseline (of metrics from 0 to 1)")
    ax.set_ylabel("metric")
    recall = frame[frame["metric"].eq("recall_all")].to_dict("records")
    said = "no metric that both sides tell"
    if recall:
        row = recall[0]
        said = f"recall_all {row['baseline']:.3f} before, {row['current']:.3f} now"
    ax.set_title(f"{comparison.verdict.word}: {said}", loc="left")
    shapes = [
        Line2D([], [], marker="o", ls="none", color=KEPT, label="current - baseline"),
        Patch(color="#CCCCCC", label=f"each end holds with {1 - comparison.alpha:.4g}"),
        Line2D([], [], marker="|", ls="none", color="black", ms=12, label="margin"),
    ]
    legend_below(ax, shapes)


def plot_changes(changes: Comparison | pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the rank of the first expected record before and after, a line per changed probe.

    Parameters
    ----------
    changes : Comparison or pandas.DataFrame
        From `memeval.compare`, or a frame as `memeval.frames.CHANGES`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One line per probe, the first on top, at most 40; the title says how many there are. The
        open circle is the rank before, the filled mark the rank now, its shape and the word at the
        right what happened. A record that was not found stands at the right end; a cross on the
        left edge is a probe that was not asked, since the store cannot take it. Where neither
        side has a rank, as of negative probes, no mark is drawn. Without any change the title
        says so, and nothing is drawn.

    Raises
    ------
    FrameError
        If it is no frame of changes, or of a comparison whose numbers may not be drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> frame = pd.DataFrame({"probe": ["lunch"], "change": "lost", "rank_before": [1]})
    >>> plot_changes(frame, Figure().subplots()).get_title(loc="left")
    'Changes: 1 lost'
    """
    if not isinstance(changes, pd.DataFrame):
        _refuse_other(changes, "plot_changes", " or its frame of changes")
        _refuse_withheld(changes)
        changes = changes.changes
    frame = conform(changes, CHANGES)
    if frame.empty:
        return nothing(ax, "Changes: none", "every common probe came out as before")
    drawn = frame.head(MOST_CHANGES)
    ranks = pd.concat([drawn["rank_before"], drawn["rank_after"]]).dropna()
    away = int(ranks.max()) + 1 if len(ranks) else 1
    with prepared(ax, (8, 1.6 + 0.4 * max(1, len(drawn)))) as axes:
        for y, row in enumerate(drawn.itertuples()):
            _draw_change(axes, y, row, away)
        _label_changes(axes, drawn, away, _counted(frame))
    return axes


def _draw_change(ax: Axes, y: int, row: Any, away: int) -> None:
    """One probe: where the record stood, where it stands, and the word."""
    colour, marker, style = _LOOKS[row.change]
    then, now = (away if pd.isna(rank) else int(rank) for rank in (row.rank_before, row.rank_after))
    ranked = not (pd.isna(row.rank_before) and pd.isna(row.rank_after))
    unasked = not_asked(row.reason)
    old, new = row.change != "added" and not unasked[0], row.change != "removed" and not unasked[1]
    if ranked and old and new:
        ax.plot([then, now], [y, y], color=colour, ls=style, lw=1.5, zorder=2, label="moved")
    if ranked and old:
        ax.plot([then], [y], "o", mfc="white", mec=colour, ms=9, ls="none", zorder=3,
                label="before")  # fmt: skip
    if ranked and new:
        ax.plot([now], [y], marker, color=colour, ms=8, ls="none", zorder=4, label="now")
    if any(unasked):
        ax.plot([UNASKED_AT], [y], "x", color="black", ms=8, mew=1.5, ls="none", zorder=4,
                label="not asked")  # fmt: skip
    said = "not asked now" if unasked[1] else "not asked before" if unasked[0] else "no rank"
    word = row.change if ranked and not any(unasked) else f"{row.change} ({said})"
    ax.text(1.02, y, word, color=colour, va="center", transform=ax.get_yaxis_transform())


def _counted(frame: pd.DataFrame) -> str:
    counts = [(word, int(frame["change"].eq(word).sum())) for word in CHANGE_WORDS]
    said = ", ".join(f"{n} {word}" for word, n in counts if n)
    more = f" (the first {MOST_CHANGES} are drawn)" if len(frame) > MOST_CHANGES else ""
    return f"Changes: {said or 'none'}{more}"


def _label_changes(ax: Axes, frame: pd.DataFrame, away: int, title: str) -> None:
    from matplotlib.lines import Line2D

    ax.set_title(title, loc="left")
    ax.set_yticks(range(len(frame)), [lettered(name, 32) for name in frame["probe"]])
    ax.set_ylim(max(1, len(frame)) - 0.5, -0.5)
    ax.set_xlim(0.5, away + 0.5)
    ticks = _ranks(away - 1)
    ax.set_xticks([*ticks, away], [*map(str, ticks), "not found"])
    ax.set_xlabel("rank of the first expected record")
    ax.set_ylabel("probe")
    there = [word for word in CHANGE_WORDS if frame["change"].eq(word).any()]
    shapes = [
        Line2D([], [], marker="o", ls="none", mfc="white", mec="black", label="before"),
        *(
            Line2D([], [], marker=_LOOKS[word][1], ls="none", color=_LOOKS[word][0], label=word)
            for word in there
        ),
    ]
    if any(any(not_asked(reason)) for reason in frame["reason"]):
        shapes.append(Line2D([], [], marker="x", ls="none", color="black", label="not asked"))
    if there:
        legend_below(ax, shapes)


def _ranks(most: int) -> Sequence[int]:
    """Ranks at which a tick stands: all of a few, else every so many, with the first."""
    step = max(1, -(-most // 10))
    return [1, *range(step, most, step)] if step > 1 else range(1, most + 1)
