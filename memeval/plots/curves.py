"""Curves: what one run says of other cutoffs, and of a floor on the score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from memeval.curves import recall_curve, threshold_curve
from memeval.frames import RECALL_CURVE, THRESHOLD_CURVE, conform
from memeval.plots.canvas import (
    BROKEN,
    GREEN,
    KEPT,
    PURPLE,
    SHARE,
    entry,
    legend_below,
    nothing,
    prepared,
)
from memeval.plots.taking import table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.runs import Run

# Colour, marker and line of each curve; a further one starts again.
_LOOKS = (
    (KEPT, "o", "-"),
    (GREEN, "s", "--"),
    (BROKEN, "^", "-."),
    (PURPLE, "D", ":"),
    ("black", "v", "-"),
)
_OF_FLOORS = {
    "recall_all": (KEPT, "o", "-"),
    "abstention": (GREEN, "s", "--"),
    "leak_rate": (BROKEN, "X", ":"),
}


def plot_recall_curve(curve: pd.DataFrame | Run, ax: Axes | None = None) -> Axes:
    """Draw what a run scores at every cutoff, a line per metric.

    Parameters
    ----------
    curve : pandas.DataFrame or Run
        As `memeval.frames.RECALL_CURVE`, from `memeval.recall_curve`; or the run that it is of.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The cutoff k to the right, the value upwards; a metric with an interval has a band. The
        title says recall_all at both ends and over how many probes: they may be different ones.
        A curve without rows gives the words that say why.

    Raises
    ------
    FrameError
        If `curve` is no recall curve, or a run of an invalid suite.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> curve = pd.DataFrame({"k": [1, 2], "metric": "recall_all", "value": [0.5, 0.75], "n": 4})
    >>> ax = plot_recall_curve(curve, Figure().subplots())
    >>> ax.get_title(loc="left")
    'recall_all: 0.500 at k = 1 (n = 4), 0.750 at k = 2 (n = 4)'
    """
    given = table_of(curve, "plot_recall_curve", _by_cutoff)
    frame = conform(given, RECALL_CURVE).sort_values("k", kind="stable")
    if frame.empty:
        why = "no positive probe was asked; make a curve with memeval.recall_curve"
        return nothing(ax, "Recall by cutoff: nothing to draw", why)
    with prepared(ax, (8, 4.5)) as axes:
        lines = []
        for number, (metric, rows) in enumerate(frame.groupby("metric", sort=False)):
            colour, marker, style = _LOOKS[number % len(_LOOKS)]
            axes.fill_between(rows["k"], rows["low"], rows["high"], color=colour, alpha=0.12, lw=0)
            lines += axes.plot(
                rows["k"], rows["value"], color=colour, marker=marker, ls=style, ms=5,
                label=entry(str(metric)),
            )  # fmt: skip
        _label_cutoffs(axes, frame)
        legend_below(axes, lines)
    return axes


def _label_cutoffs(ax: Axes, frame: pd.DataFrame) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlim(frame["k"].min() - 0.5, frame["k"].max() + 0.5)
    ax.set_ylim(-0.03, 1.03)
    most, fewest = frame["n"].max(), frame["n"].min()
    probes = f"{most} positive probes"
    if fewest < most:
        probes = f"{probes}, {fewest} at the end: not all were asked for as many"
    ax.set_xlabel(f"k, the cutoff ({probes})")
    ax.set_ylabel(f"value of the metric ({SHARE})")
    known = frame[frame["metric"].eq("recall_all") & frame["value"].notna()]
    ends = known.iloc[[0, -1][: len(known)]].itertuples()
    said = ", ".join(f"{row.value:.3f} at k = {row.k} (n = {row.n})" for row in ends)
    ax.set_title(f"recall_all: {said or 'n/a'}", loc="left")


def plot_threshold_curve(curve: pd.DataFrame | Run, ax: Axes | None = None) -> Axes:
    """Draw recall, abstention and leaks against a floor on the score.

    Parameters
    ----------
    curve : pandas.DataFrame or Run
        As `memeval.frames.THRESHOLD_CURVE`, from `memeval.threshold_curve`; or the run that it is
        of.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The floor gets stricter to the right; upwards stands the share of probes with recall_all,
        with abstention, and with a leak. What is undefined is not drawn. An upright line and the
        title name the floor that separates best. A curve without rows gives the words that say why.

    Raises
    ------
    FrameError
        If `curve` is no threshold curve, or a run of an invalid suite.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> curve = pd.DataFrame({"floor": [0.4, 0.9], "recall_all": [1.0, 0.5], "best": [True, False]})
    >>> ax = plot_threshold_curve(curve, Figure().subplots())
    >>> ax.get_title(loc="left")
    'Best floor 0.4: recall_all 1.000, abstention n/a, leaks not measured'
    """
    given = table_of(curve, "plot_threshold_curve", _floored)
    frame = conform(given, THRESHOLD_CURVE)
    if frame.empty:
        why = given.attrs.get("reason", "no floor was tried; use memeval.threshold_curve")
        return nothing(ax, "Floors on the score: nothing to draw", why)
    with prepared(ax, (8, 4.5)) as axes:
        _draw_floors(axes, frame[np.isfinite(frame["floor"])])
        _label_floors(axes, frame)
    return axes


def _by_cutoff(run: Run) -> pd.DataFrame:
    return recall_curve(run.hits, run.qrels, run.calls)


def _floored(run: Run) -> pd.DataFrame:
    order = run.manifest.capabilities.get("score_order")
    return threshold_curve(run.hits, run.qrels, run.calls, score_order=order)


def _draw_floors(ax: Axes, frame: pd.DataFrame) -> None:
    lines = []
    for column, (colour, marker, style) in _OF_FLOORS.items():
        if frame[column].notna().any():
            lines += ax.plot(
                frame["floor"], frame[column], color=colour, marker=marker, ls=style, ms=5,
                label=column, markevery=max(1, len(frame) // 20),
            )  # fmt: skip
    for floor in frame.loc[frame["best"], "floor"]:
        lines.append(ax.axvline(floor, color="black", lw=1, zorder=1, label="best floor"))
    if lines:
        legend_below(ax, lines)
    if len(frame) and frame["floor"].iloc[0] > frame["floor"].iloc[-1]:
        ax.xaxis.set_inverted(True)


def _label_floors(ax: Axes, frame: pd.DataFrame) -> None:
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("floor on the score (the store's own scale, stricter to the right)")
    ax.set_ylabel(f"probes ({SHARE})")
    ax.set_title(_best_in_words(frame), loc="left")


def _best_in_words(frame: pd.DataFrame) -> str:
    best = frame[frame["best"]].to_dict("records")
    if not best:
        n_positive, n_negative = frame.loc[0, ["n_positive", "n_negative"]]
        return f"No best floor: {n_positive} positive, {n_negative} negative probes"
    row = best[0]
    leaks = row["leaks"] if row["leaks"] or not pd.isna(row["leak_rate"]) else "not measured"
    return (
        f"Best floor {row['floor']:g}: recall_all {_shown(row['recall_all'])}, "
        f"abstention {_shown(row['abstention'])}, leaks {leaks}"
    )


def _shown(value: float) -> str:
    return "n/a" if value != value else f"{value:.3f}"
