"""Survival: at which size of the store the probes are lost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval import drift as reading
from memeval.plots.canvas import entry, nothing, prepared
from memeval.plots.grown import Side, legend, records, sides, wanted
from memeval.plots.lettering import lettered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.simulation import Simulation

CURVE = ["n_records", "survival", "low", "high"]


def plot_survival(
    simulation: Simulation | pd.DataFrame | Sequence[Simulation | pd.DataFrame],
    ax: Axes | None = None,
    *,
    labels: Sequence[str] | None = None,
) -> Axes:
    """Draw the share of the planted probes that still pass, against the records in the store.

    Parameters
    ----------
    simulation : Simulation or pandas.DataFrame, or a sequence of them
        From `memeval.run_simulation`; a frame as `memeval.drift.survival` gives; or a log with a
        row per probe and checkpoint: ``probe``, ``session``, ``n_records``, ``passed``, and
        ``cohort`` where known. Two or more are compared on one figure.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    labels : sequence of str, optional
        Names of several; their stores by default.

    Returns
    -------
    matplotlib.axes.Axes
        A step down at each size at which probes were lost, with the 95 % interval. The title says
        what is left at the end; of two logs or simulations also the log-rank test of their curves.

    Raises
    ------
    FrameError
        If a column is missing, or the suite of a simulation is invalid.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> log = pd.DataFrame(
    ...     {"probe": ["a", "a", "b", "b"], "session": [0, 9] * 2, "n_records": [10, 500] * 2,
    ...      "passed": [True, False, True, True]}
    ... )
    >>> plot_survival(log, Figure().subplots()).get_title(loc="left")
    'Still passing: 0.500 at 500 records'
    """
    drawn = sides(simulation, labels, "plot_survival")
    curves = [_curve(side) for side in drawn]
    if any(curve.empty for curve in curves):
        why = (
            "no probe passed and was asked again at another size; ask the same probes at two sizes "
            "or more"
        )
        return nothing(ax, "Still passing: nothing to draw", why)
    with prepared(ax, (8, 4.5)) as axes:
        shapes: list[Any] = []
        for side, rows in zip(drawn, curves, strict=True):
            shapes += _draw(axes, side, rows, len(drawn) == 1)
        records(axes)
        axes.set_ylim(-0.03, 1.03)
        axes.set_ylabel("planted probes that still pass (share, 0 to 1)")
        axes.set_title(_title(drawn, curves), loc="left")
        legend(axes, shapes)
    return axes


def _curve(side: Side) -> pd.DataFrame:
    """Steps of one side, drawn on to the largest size that was asked at."""
    frame = side.table("survival")
    if "survival" in frame:
        rows = wanted(frame, CURVE[:2])
        asked = None if side.simulation is None else side.simulation.drift_probes
    else:
        rows, asked = reading.survival(frame), frame
    if rows.empty:
        return rows
    rows = rows.reindex(columns=CURVE).astype("float64").sort_values("n_records", kind="stable")
    if asked is not None and asked["n_records"].max() > rows["n_records"].iloc[-1]:
        last = rows.iloc[[-1]].assign(n_records=float(asked["n_records"].max()))
        rows = pd.concat([rows, last])
    return rows.reset_index(drop=True)


def _draw(ax: Axes, side: Side, rows: pd.DataFrame, alone: bool) -> list[Any]:
    colour, marker, style = side.look
    name = "still passing" if alone else entry(side.name)
    steps = ax.step(rows["n_records"], rows["survival"], where="post", color=colour, ls=style, lw=2,
                    marker=marker, ms=4, label=name)  # fmt: skip
    shapes: list[Any] = list(steps)
    if rows["low"].notna().any():
        band = ax.fill_between(rows["n_records"], rows["low"], rows["high"], step="post",
                               color=colour, alpha=0.15, lw=0, label="95 % interval")  # fmt: skip
        shapes += [band] if alone else []
    return shapes


def _title(drawn: Sequence[Side], curves: Sequence[pd.DataFrame]) -> str:
    ends = [f"{rows['survival'].iloc[-1]:.3f}" for rows in curves]
    if len(drawn) == 1:
        return f"Still passing: {ends[0]} at {curves[0]['n_records'].iloc[-1]:,.0f} records"
    named = ", ".join(
        f"{end} {lettered(side.name, 20)}" for side, end in zip(drawn, ends, strict=True)
    )
    return f"Still passing at the end: {named}{_tested(drawn)}"


def _tested(drawn: Sequence[Side]) -> str:
    logs = [side.table("drift_probes") for side in drawn]
    if len(logs) != 2 or any("passed" not in log for log in logs):
        return ""
    p_value = reading.log_rank(*logs)
    return "" if math.isnan(p_value) else f" (log-rank p = {p_value:.2g})"
