"""Calls: how long the searches of one run took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from memeval.frames import CALLS, conform
from memeval.plots.canvas import ASIDE, BROKEN, KEPT, legend_below, nothing, prepared
from memeval.plots.taking import table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.runs import Run

# Fewest searches whose order statistics bound the 95th percentile on both sides.
ENOUGH = 72


def plot_calls(
    calls: Run | pd.DataFrame, ax: Axes | None = None, *, budget_ms: float | None = None
) -> Axes:
    """Draw how long the scored searches took: the share of them that was done by then.

    Parameters
    ----------
    calls : Run or pandas.DataFrame
        From `memeval.run`, or its calls, as `memeval.frames.CALLS`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    budget_ms : float, optional
        Milliseconds at which an upright line is drawn.

    Returns
    -------
    matplotlib.axes.Axes
        Milliseconds to the right, on a logarithmic scale, the share of searches upwards. Circle and
        diamond are the median and the 95th percentile (Hyndman-Fan 8), which the title tells.
        Below 72 searches the 95th percentile has no interval: the title says so. The foot says how
        many searches gave no answer, and so have no time.

    Raises
    ------
    FrameError
        If it is neither, or a run of an invalid suite.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> calls = pd.DataFrame({"probe": list("abc"), "k": 5, "status": "ok",
    ...                       "latency_ms": [1.0, 2.0, 4.0]})
    >>> plot_calls(calls, Figure().subplots()).get_title(loc="left")
    'Searches: p50 2.0 ms, p95 4.0 ms (of 3: too few to be sure of p95)'
    """
    frame = conform(table_of(calls, "plot_calls", lambda run: run.calls), CALLS)
    times = np.sort(frame.loc[frame["latency_ms"].gt(0), "latency_ms"].to_numpy(np.float64))
    if not len(times):
        why = "no search has a time; the run was saved without, or every search failed"
        return nothing(ax, "Searches: nothing to draw", why)
    p50, p95 = np.quantile(times, [0.5, 0.95], method="median_unbiased")
    shares = np.arange(1, len(times) + 1) / len(times)
    with prepared(ax, (8, 4.2)) as axes:
        lines = axes.plot(times, shares, drawstyle="steps-post", color=KEPT, lw=2,
                          label="searches done by then")  # fmt: skip
        lines += axes.plot([p50], [0.5], "o", color="black", ms=8, ls="none", label="median (p50)")
        lines += axes.plot([p95], [0.95], "D", color="black", mfc="white", ms=8, ls="none",
                           label="p95")  # fmt: skip
        if budget_ms is not None:
            lines.append(axes.axvline(budget_ms, color=BROKEN, ls="--", label="budget"))
        _label(axes, frame, times)
        thin = f" (of {len(times)}: too few to be sure of p95)" if len(times) < ENOUGH else (
            f" of {len(times):,}")  # fmt: skip
        axes.set_title(f"Searches: p50 {p50:.1f} ms, p95 {p95:.1f} ms{thin}", loc="left")
        legend_below(axes, lines)
    return axes


def _label(ax: Axes, frame: pd.DataFrame, times: np.ndarray) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlim(times[0] / 1.3, times[-1] * 1.3)
    ax.axhline(0.5, color=ASIDE, lw=0.6, ls=":", zorder=1)
    ax.axhline(0.95, color=ASIDE, lw=0.6, ls=":", zorder=1)
    ax.set_ylim(0, 1.03)
    lost = int(frame["status"].astype("str").ne("ok").sum())
    without = f"; {lost} of {len(frame)} gave no answer" if lost else ""
    ax.set_xlabel(f"time of the scored search (ms{without})")
    ax.set_ylabel("searches (share, 0 to 1)")
