"""Growth: what the store keeps of what is written, and how its searches slow down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from memeval import drift as reading
from memeval.drift import Shape
from memeval.errors import FrameError
from memeval.plots.canvas import ASIDE, NAME, entry, nothing, prepared
from memeval.plots.grown import Side, legend, records, sides, wanted
from memeval.plots.lettering import lettered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.simulation import Simulation

Measure = Literal["n_kept", "n_bytes"]
SIZES = {"n_kept": "records that the store counts", "n_bytes": "size (bytes)"}
BUDGET_MS = 100.0
# A budget further above the times than this would press them flat.
_FAR = 4.0
_MOST_DOTS = 40


def plot_store_size(
    simulation: Simulation | pd.DataFrame | Sequence[Simulation | pd.DataFrame],
    measure: Measure = "n_kept",
    ax: Axes | None = None,
    *,
    labels: Sequence[str] | None = None,
) -> Axes:
    """Draw the size of the store against the records that were written.

    Parameters
    ----------
    simulation : Simulation or pandas.DataFrame, or a sequence of them
        From `memeval.run_simulation`, or a log with ``n_records`` and the measure.
    measure : {'n_kept', 'n_bytes'}
        Records that the store counts, or bytes that it takes.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    labels : sequence of str, optional
        Names of several; their stores by default.

    Returns
    -------
    matplotlib.axes.Axes
        One line per store; of records a dashed line where all that is written is kept. The title
        says whether it still grows, as `memeval.drift.size_growth` judges it.

    Raises
    ------
    FrameError
        If a column is missing, or the suite of a simulation is invalid.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> log = pd.DataFrame({"n_records": [0, 100, 200], "n_kept": [0, 60, 90]})
    >>> plot_store_size(log, ax=Figure().subplots()).get_title(loc="left")
    'Store size: 90 at 200 records'
    """
    if measure not in SIZES:
        raise FrameError(f"measure is {measure!r:.60}, wanted {' or '.join(SIZES)}; use one")
    drawn = sides(simulation, labels, "plot_store_size")
    tables = [_sizes(side, measure) for side in drawn]
    if any(table.empty for table in tables):
        why = (
            f"no row has {measure}: the store does not say how large it is; give it a count() or "
            "n_bytes() method"
        )
        return nothing(ax, "Store size: nothing to draw", why)
    with prepared(ax, (8, 4.5)) as axes:
        lines: list[Any] = []
        for side, rows in zip(drawn, tables, strict=True):
            colour, marker, style = side.look
            name = SIZES[measure] if len(drawn) == 1 else side.name
            dot = marker if len(rows) <= _MOST_DOTS else None
            lines += axes.plot(rows["n_records"], rows[measure], color=colour, ls=style, ms=4,
                               marker=dot, label=entry(name))  # fmt: skip
        if measure == "n_kept":
            end = max(int(rows["n_records"].max()) for rows in tables)
            lines += axes.plot([0, end], [0, end], color=ASIDE, ls=(0, (6, 3)), lw=1, zorder=1,
                               label="all that is written")  # fmt: skip
        records(axes)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(lambda y, _: f"{y:,.0f}")
        axes.set_ylabel(SIZES[measure])
        told = [_grown(rows, measure) for rows in tables]
        axes.set_title(_title("Store size", drawn, told), loc="left")
        legend(axes, lines)
    return axes


def _sizes(side: Side, measure: Measure) -> pd.DataFrame:
    frame = side.table("sizes" if measure == "n_kept" else "checkpoints")
    rows = wanted(frame, ["n_records", measure]).sort_values("n_records", kind="stable")
    return rows.assign(**{name: rows[name].astype("float64") for name in ("n_records", measure)})


def _grown(rows: pd.DataFrame, measure: Measure) -> str:
    end = f"{rows[measure].iloc[-1]:,.0f} at {rows['n_records'].iloc[-1]:,.0f} records"
    if measure == "n_bytes":
        return end.replace(" at", " bytes at")
    session = rows["session"] if "session" in rows else range(len(rows))
    found = reading.size_growth(rows.assign(session=session))
    if math.isnan(found.ratio):
        return end
    return f"{found.verdict}, keeps {found.kept_per_1k:,.0f} of 1,000 records in the late part"


def _title(what: str, drawn: Sequence[Side], told: Sequence[str]) -> str:
    if len(drawn) == 1:
        return f"{what}: {told[0]}"
    short = [said.partition(", ")[0] for said in told]
    names = [lettered(side.name, 20) for side in drawn]
    return f"{what}: " + "; ".join(f"{a} {b}" for a, b in zip(names, short, strict=True))


def plot_latency_growth(
    simulation: Simulation | pd.DataFrame | Sequence[Simulation | pd.DataFrame],
    metric: str = "latency_p95_ms",
    ax: Axes | None = None,
    *,
    budget_ms: float | None = None,
    labels: Sequence[str] | None = None,
) -> Axes:
    """Draw the time of a search against the records in the store, with the law that it follows.

    Parameters
    ----------
    simulation : Simulation or pandas.DataFrame, or a sequence of them
        From `memeval.run_simulation`, or a log with ``n_records`` and the metric.
    metric : str
        Column of the times, in milliseconds.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    budget_ms : float, optional
        What the time should stay below; that of the simulation, or 100, by default.
    labels : sequence of str, optional
        Names of several; their stores by default.

    Returns
    -------
    matplotlib.axes.Axes
        A point per size, and a line for the law of `memeval.drift.latency_shape`; it is dotted and
        grey where another law fits nearly as well. Where the time meets the budget stands a
        cross with its 95 % interval, as a straight line through the points foretells it, at most
        four times the largest size away. A budget that lies far above is named and not drawn.

    Raises
    ------
    FrameError
        If a column is missing, or the suite of a simulation is invalid.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> log = pd.DataFrame({"n_records": [125 * 2**n for n in range(8)]})
    >>> log["latency_p95_ms"] = 2 + 0.005 * log["n_records"]
    >>> plot_latency_growth(log, ax=Figure().subplots()).get_title(loc="left")
    'latency_p95_ms: linear, crosses 100 ms at 19,600 records'
    """
    drawn = sides(simulation, labels, "plot_latency_growth")
    budget = _budget(drawn, budget_ms)
    tables = [_timed(side, metric) for side in drawn]
    if any(table.empty for table in tables):
        why = f"no row has a time in {metric} and a size above 1; give the milliseconds of a search"
        return nothing(ax, f"{metric}: nothing to draw", why)
    shapes = [reading.latency_shape(t["n_records"], t[metric], budget_ms=budget) for t in tables]
    with prepared(ax, (8, 4.5)) as axes:
        lines: list[Any] = []
        for side, rows, shape in zip(drawn, tables, shapes, strict=True):
            lines += _draw_times(axes, side, rows[["n_records", metric]], shape, len(drawn) == 1)
        most = max(float(rows[metric].max()) for rows in tables)
        tops = [float(rows["n_records"].max()) for rows in tables]
        lines += _draw_budget(axes, budget, most, list(zip(drawn, shapes, tops, strict=True)))
        records(axes)
        axes.set_ylim(0.0, 1.05 * axes.get_ylim()[1])
        axes.set_ylabel(f"{lettered(metric, NAME)} (ms)")
        told = [_shaped(shape, budget) for shape in shapes]
        axes.set_title(_title(lettered(metric, NAME), drawn, told), loc="left")
        legend(axes, lines)
    return axes


def _budget(drawn: Sequence[Side], budget_ms: float | None) -> float:
    if budget_ms is not None:
        return budget_ms
    known = [side.simulation.budget_ms for side in drawn if side.simulation is not None]
    return known[0] if known else BUDGET_MS


def _timed(side: Side, metric: str) -> pd.DataFrame:
    rows = wanted(side.table("checkpoints"), ["n_records", metric])
    rows = rows[rows[metric].gt(0) & rows["n_records"].gt(1)]
    rows = rows.assign(**{name: rows[name].astype("float64") for name in ("n_records", metric)})
    return rows.sort_values("n_records", kind="stable", ignore_index=True)


def _draw_times(ax: Axes, side: Side, rows: pd.DataFrame, shape: Shape, alone: bool) -> list[Any]:
    colour, marker, style = side.look
    sizes = rows["n_records"]
    name = "measured" if alone else side.name
    lines = ax.plot(sizes, rows.iloc[:, 1], marker, color=colour, ms=6, ls="none", zorder=4,
                    label=entry(name))  # fmt: skip
    if not math.isfinite(shape.offset_ms):
        return lines
    reach = np.linspace(sizes.min(), sizes.max(), 200)
    told = shape.group != "cannot tell"
    fit = ax.plot(reach, shape.at(reach), color=colour if told else ASIDE, lw=1.5,
                  ls=style if told else ":",
                  label=f"{shape.law} law" + ("" if told else " (cannot tell)"))  # fmt: skip
    return [*lines, *(fit if alone else [])]


def _draw_budget(
    ax: Axes, budget: float, most: float, fitted: Sequence[tuple[Side, Shape, float]]
) -> list[Any]:
    """The budget, and where each line crosses it; a far one is named alone."""
    crossed = [one for one in fitted if math.isfinite(one[1].crossing)]
    if budget > _FAR * most and not crossed:
        return ax.plot([], [], ls="none", label=f"budget {budget:g} ms: far above")
    lines: list[Any] = [
        ax.axhline(budget, color="black", ls=(0, (6, 3)), lw=1, label=f"budget {budget:g} ms")
    ]
    for side, shape, end in crossed:
        colour = side.look[0]
        beyond = np.linspace(end, shape.crossing, 100)
        ax.plot(beyond, shape.at(beyond), color=colour, ls=":", lw=1.5, label="the same law on")
        high = shape.high if math.isfinite(shape.high) else ax.get_xlim()[1]
        ax.plot([shape.low, high], [budget, budget], color=colour, lw=7, alpha=0.3,
                solid_capstyle="butt", label="crossing, 95 % interval")  # fmt: skip
        mark = ax.plot([shape.crossing], [budget], "X", color=colour, ms=9, ls="none", zorder=5,
                       label="crossing, with interval")  # fmt: skip
        lines += mark if side is crossed[0][0] else []
    return lines


def _shaped(shape: Shape, budget: float) -> str:
    if shape.group == "cannot tell":
        return "CANNOT TELL, " + (
            "fewer than six sizes" if shape.law == shape.group else f"{shape.law} fits best"
        )
    if shape.group == "constant":
        return f"{shape.law}, does not grow with the store"
    if math.isfinite(shape.crossing):
        return f"{shape.law}, crosses {budget:g} ms at {shape.crossing:,.0f} records"
    faster = "faster than" if shape.group == "worse" else "with"
    return f"{shape.law}, grows {faster} the store"
