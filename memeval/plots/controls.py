"""Controls: value, chance and bound of every rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval.errors import FrameError
from memeval.frames import CONTROLS, conform
from memeval.plots.canvas import ASIDE, BROKEN, KEPT, legend_below, nothing, prepared
from memeval.plots.lettering import lettered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDES = {"at_most": "(at most)", "at_least": "(at least)"}


def plot_controls(controls: Any, ax: Axes | None = None) -> Axes:
    """Draw value, chance and bound of every control, a line per rule.

    Parameters
    ----------
    controls : Controls or pandas.DataFrame
        From `memeval.run_controls`, or its frame, as `memeval.frames.CONTROLS`. Of a Controls whose
        suite is invalid only the rules of the suite are drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One line per row of `controls`, the first on top. The bar is where the value must lie, its
        inner end the bound; the dot is the value (a cross where it is broken), the open diamond
        what luck scores; at the right stands in words whether the rule is kept, and who is at fault
        where it is not. Without rows the words say so.

    Raises
    ------
    FrameError
        If `controls` is no controls frame.

    Examples
    --------
    >>> import memeval as me
    >>> from matplotlib.figure import Figure
    >>> probe = me.Probe("lunch", "noodle bar", [me.Record("r1", "The noodle bar.")], ["r1"])
    >>> ax = plot_controls(me.run_controls([probe], "sqlite").frame, Figure().subplots())
    >>> ax.get_xlabel()
    'value of the metric (share, 0 to 1)'
    """
    frame = conform(_frame(controls), CONTROLS)
    if frame.empty:
        return nothing(
            ax, "Controls: nothing to draw", "no control was run; run memeval.run_controls"
        )
    with prepared(ax, (8, 1.4 + 0.4 * len(frame))) as axes:
        for y, row in enumerate(frame.itertuples()):
            _draw_rule(axes, y, row)
        _label_rules(axes, frame)
    return axes


def _frame(controls: Any) -> pd.DataFrame:
    """All rows, or of an invalid suite those that hold no number of the store under test."""
    if isinstance(controls, pd.DataFrame):
        return controls
    frame = getattr(controls, "frame", None)
    if not isinstance(frame, pd.DataFrame):
        raise FrameError(
            f"found {type(controls).__name__}, wanted Controls or their frame; draw "
            "memeval.plots.plot_controls(memeval.run_controls(...))"
        )
    if controls.validity.status != "invalid":
        return frame
    rule = frame["rule"].astype("str")
    of_suite = rule.isin(["C1", "C2"]) | (rule.eq("C4") & frame["metric"].eq("ordering_potential"))
    return frame[of_suite].reset_index(drop=True)


def _draw_rule(ax: Axes, y: int, row: Any) -> None:
    """One rule: the side that is allowed, what luck scores, what was measured, and the word."""
    colour, word = _judged(row)
    if row.bound == row.bound:  # not NaN
        left, right = (0.0, row.bound) if row.must == "at_most" else (row.bound, 1.0)
        ax.plot([left, right], [y, y], color="#CCCCCC", lw=8, solid_capstyle="butt", zorder=1)
        ax.plot([row.bound], [y], "|", color="black", ms=16, mew=1.5, label="bound", zorder=2)
    ax.plot(
        [row.chance], [y], "D", mfc="none", mec="black", ms=11, ls="none", label="chance", zorder=3
    )
    dot = "X" if colour == BROKEN else "o"
    ax.plot([row.value], [y], dot, color=colour, ms=8, ls="none", label="value", zorder=4)
    beside = ax.get_yaxis_transform()
    ax.text(1.02, y, word, color=colour, va="center", transform=beside)


def _judged(row: Any) -> tuple[str, str]:
    if not row.applicable or pd.isna(row.passed):
        return ASIDE, "not applicable"
    if row.passed:
        return KEPT, "kept"
    return (ASIDE, "not kept") if row.blames == "none" else (BROKEN, f"BROKEN: {row.blames}")


def _label_rules(ax: Axes, frame: pd.DataFrame) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    names = [
        lettered(f"{row.rule} {row.store}: {row.metric} {SIDES.get(str(row.must), '')}", 48)
        for row in frame.itertuples()
    ]
    ax.set_yticks(range(len(frame)), names)
    ax.set_ylim(len(frame) - 0.5, -0.5)
    ax.set_xlim(-0.03, 1.03)
    ax.set_xlabel("value of the metric (share, 0 to 1)")
    ax.set_ylabel("rule, store and metric")
    kept = int(frame["passed"].eq(True).fillna(False).sum())
    judged = int(frame["passed"].notna().sum())
    aside = f", {len(frame) - judged} not applicable" if judged < len(frame) else ""
    ax.set_title(f"Controls: {kept} of {judged} rules kept{aside}", loc="left")
    shapes = [
        Line2D([], [], marker="o", ls="none", color="black", label="value"),
        Line2D([], [], marker="D", ls="none", mfc="none", mec="black", label="chance"),
        Line2D([], [], marker="|", ls="none", color="black", ms=12, label="bound"),
        Patch(color="#CCCCCC", label="where it must lie"),
    ]
    legend_below(ax, shapes)
