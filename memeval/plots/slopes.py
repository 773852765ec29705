"""Slopes: what drifts, how fast, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval.errors import FrameError
from memeval.frames import SLOPES, conform
from memeval.plots.canvas import ASIDE, BAR, BROKEN, KEPT, NAME, legend_below, nothing, prepared
from memeval.plots.lettering import lettered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.simulation import Simulation

# These have a scale of their own and stand in words, with what is counted.
_OWN_SCALE = {"retention": "per 1,000 sessions", "size": "records", "latency": "ms"}
_BAD = frozenset({"decline", "declining", "worse"})
_GOOD = frozenset({"flat", "plateau", "constant", "bent"})


def plot_slopes(slopes: Simulation | pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the slope of every metric with its interval, a line per metric and curve.

    Parameters
    ----------
    slopes : Simulation or pandas.DataFrame
        From `memeval.run_simulation`, or its slopes, as `memeval.frames.SLOPES`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The dot is the change per 1,000 records, the bar its 95 % interval, the upright line no
        change; at the right stands the verdict in words. Retention (per 1,000 sessions), size and
        latency have a scale of their own: they stand in words alone.

    Raises
    ------
    FrameError
        If it is neither.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> slopes = pd.DataFrame({"metric": ["mrr"], "curve": ["growth"], "slope_per_1k": [-0.2],
    ...                        "low": [-0.3], "high": [-0.1], "n": [40], "verdict": ["decline"]})
    >>> plot_slopes(slopes, Figure().subplots()).get_title(loc="left")
    'Slopes: 1 of 1 declines'
    """
    given = slopes if isinstance(slopes, pd.DataFrame) else getattr(slopes, "slopes", None)
    if given is None:
        raise FrameError(
            f"found {type(slopes).__name__}, wanted a Simulation or its slopes; draw "
            "memeval.plots.plot_slopes(memeval.run_simulation(...))"
        )
    frame = conform(given, SLOPES)
    if frame.empty:
        why = "no probe was asked at two sizes; simulate more sessions"
        return nothing(ax, "Slopes: nothing to draw", why)
    with prepared(ax, (8, 1.6 + 0.4 * len(frame))) as axes:
        for y, row in enumerate(frame.itertuples()):
            _draw(axes, y, row)
        _label(axes, frame)
    return axes


def _draw(ax: Axes, y: int, row: Any) -> None:
    verdict = "" if pd.isna(row.verdict) else str(row.verdict)
    colour = BROKEN if verdict in _BAD else KEPT if verdict in _GOOD else ASIDE
    words = verdict.upper() if verdict in _BAD else verdict
    if row.curve not in _OWN_SCALE:
        ax.plot([row.low, row.high], [y, y], color=BAR, lw=8, solid_capstyle="butt", zorder=1,
                label="interval")  # fmt: skip
        marker = "X" if verdict in _BAD else "o"
        ax.plot([row.slope_per_1k], [y], marker, color=colour, ms=8, ls="none", zorder=4,
                label="slope")  # fmt: skip
        if row.slope_per_1k == row.slope_per_1k:
            words = f"{row.slope_per_1k:+.3f} {words}"
    elif row.slope_per_1k == row.slope_per_1k:
        words = f"{row.slope_per_1k:+,.4g} {_OWN_SCALE[row.curve]}: {words}"
    ax.text(1.02, y, words, color=colour, va="center", transform=ax.get_yaxis_transform())


def _label(ax: Axes, frame: pd.DataFrame) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    names = [f"{lettered(str(row.metric), NAME)}, {row.curve} (n = {row.n})"
             for row in frame.itertuples()]  # fmt: skip
    shares = frame[~frame["curve"].astype("str").isin(_OWN_SCALE)]
    reach = shares[["slope_per_1k", "low", "high"]].abs().max().max()
    ax.axvline(0.0, color="black", lw=1, zorder=2)
    ax.set_yticks(range(len(frame)), names)
    ax.set_ylim(len(frame) - 0.5, -0.5)
    ax.set_xlim(*([-1.1 * reach, 1.1 * reach] if reach and reach == reach else [-1, 1]))
    ax.set_xlabel("change per 1,000 records (of metrics from 0 to 1)")
    ax.set_ylabel("metric and curve")
    bad = int(frame["verdict"].astype("str").isin(_BAD).sum())
    ax.set_title(f"Slopes: {bad} of {len(frame)} decline{'s' if bad == 1 else ''}", loc="left")
    legend_below(ax, [
        Line2D([], [], marker="o", ls="none", color="black", label="slope"),
        Patch(color=BAR, label="95 % interval"),
    ])  # fmt: skip
