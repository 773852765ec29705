"""Drift: a metric against the size of the store, and against age at fixed size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval import drift as reading
from memeval.errors import FrameError
from memeval.frames import DRIFT, conform
from memeval.plots.canvas import ASIDE, GREEN, KEPT, NAME, PURPLE, SHARE, entry, nothing, prepared
from memeval.plots.grown import Side, legend, records, sides
from memeval.plots.lettering import lettered
from memeval.text import clean, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.simulation import Simulation

# Colour, marker and line of each cohort; there are seven at most, and of a log it starts again.
COHORTS = (
    (GREEN, "s", "--"),
    (PURPLE, "D", "-."),
    ("black", "v", ":"),
    ("#56B4E9", "P", "--"),
    ("#E69F00", "*", "-."),
    (GREEN, "<", ":"),
    (PURPLE, ">", "--"),
)
MARKERS = "osD^vP*X"
MOST_SIZES = len(MARKERS)
_COUNTS = {"leaks": "records"}
_UNASKED = "no checkpoint was asked; simulate more sessions"


def plot_drift(
    simulation: Simulation | pd.DataFrame | Sequence[Simulation | pd.DataFrame],
    metric: str = "recall_all",
    ax: Axes | None = None,
    *,
    target: float | None = None,
    labels: Sequence[str] | None = None,
    cohorts: bool | None = None,
) -> Axes:
    """Draw a metric against the records in the store.

    Parameters
    ----------
    simulation : Simulation or pandas.DataFrame, or a sequence of them
        From `memeval.run_simulation`; a frame as `memeval.frames.DRIFT`; or any log with a row per
        probe and checkpoint: ``probe``, ``session``, ``n_records``, the metric, and ``cohort``
        where known. Several are drawn on one figure, a line each.
    metric : str
        Which metric; of a log the column that is averaged.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    target : float, optional
        Where a dashed line across is drawn.
    labels : sequence of str, optional
        Names of several; their stores by default.
    cohorts : bool, optional
        Whether each cohort has a line of its own, and the fresh ones (age 0) too; by default where
        one simulation is drawn.

    Returns
    -------
    matplotlib.axes.Axes
        The full line with its 95 % interval is all cohorts together, broken lines are cohorts,
        open circles the fresh cohort: probes that were planted just before they were asked. The
        title says the trend by probe in a word.

    Raises
    ------
    FrameError
        If a column or the metric is missing, there is nothing to draw, or the suite of a
        simulation is invalid.

    Notes
    -----
    In the line of all cohorts each probe counts once, by the mean of its copies: young copies come
    in as the store grows. `memeval.drift.trend`, which the title tells, holds each copy against
    itself.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> log = pd.DataFrame(
    ...     {"probe": ["rota", "lunch"] * 2, "session": [1, 1, 9, 9],
    ...      "n_records": [900, 900, 2900, 2900], "recall_all": [True, True, False, True]}
    ... )
    >>> plot_drift(log, ax=Figure().subplots()).get_title(loc="left")
    'recall_all: CANNOT TELL, -0.250 [-3.427, +2.927] per 1,000 records'
    """
    drawn = sides(simulation, labels, "plot_drift")
    tables = [drift_of(side, metric) for side in drawn]
    if all(table.empty for table in tables):
        return nothing(ax, f"{metric}: nothing to draw", _UNASKED)
    alone = len(drawn) == 1
    with prepared(ax, (8, 4.8)) as axes:
        shapes: list[Any] = []
        for side, table in zip(drawn, tables, strict=True):
            shapes += _draw_all(axes, table, side, alone)
            if alone if cohorts is None else cohorts:
                shapes += _draw_cohorts(axes, table)
        if target is not None:
            shapes.append(
                axes.axhline(
                    target, color="black", ls=(0, (6, 3)), lw=1, label=f"target {target:g}"
                )
            )
        _label(axes, metric, tables)
        axes.set_title(_title(drawn, tables, metric), loc="left")
        legend(axes, shapes)
    return axes


def drift_of(side: Side, metric: str) -> pd.DataFrame:
    """Rows of one metric as `memeval.frames.DRIFT`, by size.

    Raises
    ------
    FrameError
        If the frame has rows, and none of that metric.
    """
    frame = side.table("drift")
    if side.simulation is None and _is_log(frame):
        frame = _of_log(frame, metric)
    whole = conform(frame, DRIFT)
    rows = whole[whole["metric"].eq(clean(metric))]
    if rows.empty and len(whole):
        there = ", ".join(visible(name, NAME) for name in whole["metric"].unique())
        raise FrameError(
            f"found no row of the metric {metric!r:.60} ({there}), nothing to draw; name one of "
            "its metrics"
        )
    return rows.sort_values(["n_records", "cohort"], kind="stable").reset_index(drop=True)


def _is_log(frame: pd.DataFrame) -> bool:
    return "probe" in frame.columns and "metric" not in frame.columns


def _of_log(log: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Means of a log at each size: of all its rows, and of each cohort where there are several."""
    together = reading.retention(log.drop(columns="cohort", errors="ignore"), metric)
    parts = [together.assign(cohort=None, age=None)]
    if "cohort" in log:
        # One by one: retention compares the same probes, and cohorts of a log are different ones.
        parts += [reading.retention(rows, metric) for _, rows in log.groupby("cohort")]
    return pd.concat([conform(part, DRIFT) for part in parts], ignore_index=True)


def _draw_all(ax: Axes, table: pd.DataFrame, side: Side, alone: bool) -> list[Any]:
    rows = table[table["cohort"].isna()]
    if rows.empty:
        return []
    colour, marker, style = side.look
    band = ax.fill_between(rows["n_records"], rows["low"], rows["high"], color=colour, alpha=0.15,
                           lw=0, label="95 % interval")  # fmt: skip
    line = ax.plot(rows["n_records"], rows["value"], color=colour, marker=marker, ls=style, ms=5,
                   lw=2, zorder=4, label="all cohorts" if alone else entry(side.name))  # fmt: skip
    return [*line, *([band] if alone and rows["low"].notna().any() else [])]


def _draw_cohorts(ax: Axes, table: pd.DataFrame) -> list[Any]:
    """A line per cohort that was asked again, and the points at age 0."""
    planted = table[table["cohort"].notna()]
    grown = planted.groupby("cohort")["age"].max().gt(0)
    lines: list[Any] = []
    for at, cohort in enumerate(grown.index[grown]):
        rows = planted[planted["cohort"].eq(cohort)]
        colour, marker, style = COHORTS[at % len(COHORTS)]
        name = f"cohort of session {cohort} (n = {rows['n'].iloc[-1]})"
        lines += ax.plot(rows["n_records"], rows["value"], color=colour, marker=marker, ls=style,
                         ms=4, lw=1.3, label=name)  # fmt: skip
    fresh = planted[planted["age"].eq(0)]
    if len(fresh):
        lines += ax.plot(fresh["n_records"], fresh["value"], "o", mfc="white", mec=ASIDE, mew=1.5,
                         ms=8, ls="none", zorder=3, label="fresh cohort (age 0)")  # fmt: skip
    return lines


def _label(ax: Axes, metric: str, tables: Sequence[pd.DataFrame]) -> None:
    records(ax)
    unit = _COUNTS.get(metric, SHARE)
    ax.set_ylabel(f"{lettered(metric, NAME)} ({unit})")
    if metric in _COUNTS:
        ax.set_ylim(bottom=0)
    elif max(table["value"].max() for table in tables) <= 1:
        ax.set_ylim(-0.03, 1.03)


def _title(drawn: Sequence[Side], tables: Sequence[pd.DataFrame], metric: str) -> str:
    name = lettered(metric, NAME)
    told = [_said(side, table, metric) for side, table in zip(drawn, tables, strict=True)]
    if len(told) == 1:
        return f"{name}: {told[0]}"
    words = [said.partition(",")[0] for said in told]
    named = zip((lettered(side.name, 20) for side in drawn), words, strict=True)
    return f"{name}: {', '.join(f'{side} {word}' for side, word in named)}"


def _said(side: Side, table: pd.DataFrame, metric: str) -> str:
    """The trend by probe in words; of a frame of means its two ends."""
    asked = side.table("drift_probes")
    if {"probe", "session", "n_records", metric} <= set(asked.columns):
        margin = 0.10 if side.simulation is None else side.simulation.margin
        found = reading.headline(asked, metric, margin=margin)
        if found.n:
            interval = f" [{found.low:+.3f}, {found.high:+.3f}]" if found.low == found.low else ""
            return f"{found.verdict.upper()}, {found.slope_per_1k:+.3f}{interval} per 1,000 records"
    rows = table[table["cohort"].isna()]
    rows = (rows if len(rows) else table).dropna(subset="value")
    form = ".0f" if metric in _COUNTS else ".3f"
    ends = [f"{row.value:{form}} at {row.n_records:,}" for row in rows.itertuples()]
    return f"{' to '.join(ends[:1] + ends[1:][-1:])} records" if ends else "n/a"


def plot_retention(
    simulation: Simulation | pd.DataFrame, metric: str = "recall_all", ax: Axes | None = None
) -> Axes:
    """Draw a metric against age, a line for each size of the store.

    Parameters
    ----------
    simulation : Simulation or pandas.DataFrame
        From `memeval.run_simulation`; a frame as `memeval.frames.DRIFT`, such as
        `memeval.drift.retention` gives; or a log, as for `plot_drift`.
    metric : str
        Which metric.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Sessions since the probes were planted to the right, the metric upwards. Along a line the
        size is fixed, so what falls is forgotten; between the lines, at one age, it is crowded out.
        Dark lines are larger stores; at most eight sizes are drawn, and the title says how many
        there are. The largest has its 95 % interval. Of a simulation and of a log only the probes
        count that were planted more than once, where there are such: else a cohort of other probes
        would pass for one of another age.

    Raises
    ------
    FrameError
        If a column, the metric, or every age is missing, or the suite of a simulation is invalid.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> log = pd.DataFrame(
    ...     {"probe": ["rota"] * 2, "session": [9, 9], "cohort": [0, 9], "n_records": 500,
    ...      "recall_all": [False, True]}
    ... )
    >>> plot_retention(log, ax=Figure().subplots()).get_title(loc="left")
    'recall_all by age at 1 size of the store'
    """
    side = sides([simulation], None, "plot_retention")[0]
    table = drift_of(_planted_again(side), metric)
    rows = table[table["age"].notna()].sort_values(["n_records", "age"], kind="stable")
    if table.empty:
        return nothing(ax, f"{metric}: nothing to draw", _UNASKED)
    if rows.empty:
        raise FrameError(
            "found no age, wanted rows with the session at which probes were planted; give a frame "
            "with age, or a log with cohort"
        )
    sizes = list(rows["n_records"].drop_duplicates())
    shown = _spread(sizes)
    with prepared(ax, (8, 4.8)) as axes:
        lines = _draw_sizes(axes, rows, shown)
        _label(axes, metric, [rows])
        axes.set_xlabel("age (sessions since it was planted)")
        few = f" ({len(shown)} are drawn)" if len(shown) < len(sizes) else ""
        n = f"{len(sizes)} size{'' if len(sizes) == 1 else 's'}"
        axes.set_title(f"{lettered(metric, NAME)} by age at {n} of the store{few}", loc="left")
        legend(axes, lines)
    return axes


def _planted_again(side: Side) -> Side:
    """Copies of the same probes at every age, where there are any."""
    log = side.table("drift_probes")
    if "probe" not in log or "cohort" not in log:
        return side
    copies = log.groupby("probe")["cohort"].transform("nunique")
    kept = log[copies.gt(1)] if copies.gt(1).any() else log
    return replace(side, frame=kept if side.simulation is None else reading.by_checkpoint(kept),
                   simulation=None)  # fmt: skip


def _spread(sizes: Sequence[int]) -> list[int]:
    """At most so many sizes as can be told apart, with both ends."""
    if len(sizes) <= MOST_SIZES:
        return list(sizes)
    last = len(sizes) - 1
    return [sizes[round(last * at / (MOST_SIZES - 1))] for at in range(MOST_SIZES)]


def _draw_sizes(ax: Axes, rows: pd.DataFrame, sizes: Sequence[int]) -> list[Any]:
    import matplotlib as mpl

    shades = mpl.colormaps["cividis"]
    lines: list[Any] = []
    for at, size in enumerate(sizes):
        part = rows[rows["n_records"].eq(size)]
        colour = shades(0.75 - 0.75 * at / (len(sizes) - 1)) if len(sizes) > 1 else KEPT
        lines += ax.plot(part["age"], part["value"], color=colour, marker=MARKERS[at], ms=5,
                         label=f"{size:,} records")  # fmt: skip
        if size == sizes[-1] and part["low"].notna().any():
            lines.append(ax.fill_between(part["age"].astype("float64"), part["low"], part["high"],
                                         color=colour, alpha=0.2, lw=0,
                                         label="95 % interval"))  # fmt: skip
    return lines
