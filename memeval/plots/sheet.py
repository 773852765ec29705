"""The tear sheet: one page for a run."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memeval.errors import FrameError
from memeval.plots.calls import plot_calls
from memeval.plots.canvas import BROKEN, KEPT, nothing
from memeval.plots.comparison import plot_changes, plot_comparison
from memeval.plots.curves import plot_recall_curve, plot_threshold_curve
from memeval.plots.drift import plot_drift
from memeval.plots.growth import plot_latency_growth
from memeval.plots.hits import plot_hits
from memeval.plots.kills import plot_kills
from memeval.plots.lettering import lettered, set_plain
from memeval.plots.results import plot_causes, plot_results
from memeval.plots.scopes import plot_scopes
from memeval.plots.summary import plot_summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from memeval.comparison import Comparison
    from memeval.runs import Run
    from memeval.simulation import Simulation

WIDE = 14.0
REASON = 110
Panel = Callable[["Axes"], Any]
Row = tuple[float, Sequence[Panel]]


def tear_sheet(
    run: Run,
    *,
    simulation: Simulation | None = None,
    comparison: Comparison | None = None,
    mutation: Any = None,
) -> Figure:
    """Draw one page for a run: verdict, numbers, ranks, causes, curves.

    Parameters
    ----------
    run : Run
        From `memeval.run`.
    simulation : Simulation, optional
        Of the same store: drift and latency by its size are drawn too.
    comparison : Comparison, optional
        With another run: how the metrics moved, and which probes.
    mutation : Mutation, optional
        Of the same suite: which probe sees which fault.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not known to pyplot; save it with ``savefig``, or leave it as the last line of
        a cell. Its head is the verdict with the reason. Of an invalid suite nothing else is drawn.
        `memeval.plots.describe` tells it in words.

    Raises
    ------
    FrameError
        If `run` is no Run.

    Examples
    --------
    >>> import memeval as me
    >>> probe = me.Probe("lunch", "noodle bar", [me.Record("r1", "The noodle bar.")], ["r1"])
    >>> sheet = tear_sheet(me.run([probe], "sqlite"))
    >>> sheet.get_suptitle().splitlines()[0]
    '✓ PASS: SqliteStore, 1 probe'
    """
    from memeval.plots.described import DescribedFigure
    from memeval.runs import Run

    if not isinstance(run, Run):
        raise FrameError(
            f"found {type(run).__name__}, wanted a Run; draw "
            "memeval.plots.tear_sheet(memeval.run(...))"
        )
    rows = _rows(run, simulation, comparison, mutation)
    tall = 1.0 + sum(height for height, _ in rows)
    figure = DescribedFigure(figsize=(WIDE, tall), layout="constrained")
    strips = figure.subfigures(len(rows), 1, height_ratios=[height for height, _ in rows])
    for strip, (_, panels) in zip(np.ravel([strips]), rows, strict=True):
        for ax, panel in zip(strip.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            panel(ax)
    figure.suptitle(
        _head(run), x=0.01, ha="left", fontsize="large", fontweight="bold",
        color=KEPT if run.passed else BROKEN, parse_math=False,
    )  # fmt: skip
    for text in figure.texts:
        set_plain(text)
    return figure


def _head(run: Run) -> str:
    verdict = run.verdict
    n = len(run.results)
    mark = "✓" if run.passed else "✗"
    store = lettered(run.manifest.store, 40)
    lines = [f"{mark} {verdict.word}: {store}, {n} probe{'' if n == 1 else 's'}"]
    lines += textwrap.wrap(lettered(verdict.reason, 3 * REASON), REASON)
    if run.validity.status == "weak":
        lines += textwrap.wrap(f"weak suite: {lettered('; '.join(run.validity.reasons))}", REASON)
    return "\n".join(lines)


def _rows(run: Run, simulation: Any, comparison: Any, mutation: Any) -> list[Row]:
    """Height in inches and panels of each row of the page."""
    if run.verdict.word == "INVALID":
        return [(3.0, [_withheld("The suite is invalid", run.verdict.next_step)])]
    rows: list[Row] = [
        (3.6, [lambda ax: plot_summary(run, ax), lambda ax: plot_results(run, ax)]),
        (3.4, [lambda ax: plot_causes(run, ax), lambda ax: plot_scopes(run, ax, most=8)]),
        (3.6, [lambda ax: plot_recall_curve(run, ax), lambda ax: plot_threshold_curve(run, ax)]),
        (3.6, [lambda ax: plot_hits(run, ax), lambda ax: plot_calls(run, ax)]),
    ]
    if simulation is not None:
        rows.append(_grown(simulation))
    if comparison is not None:
        rows += _compared(comparison)
    if mutation is not None:
        rows.append(_mutated(mutation))
    return rows


def _grown(simulation: Any) -> Row:
    if getattr(simulation, "withheld", False):  # the frame of a log has no verdict
        return 2.0, [_withheld("Drift: INVALID", simulation.verdict.reason)]
    both: list[Panel] = [
        lambda ax: plot_drift(simulation, ax=ax),
        lambda ax: plot_latency_growth(simulation, ax=ax),
    ]
    return 4.2, both


def _compared(comparison: Comparison) -> list[Row]:
    if comparison.withheld:
        title = f"Comparison: {comparison.verdict.word}"
        return [(2.0, [_withheld(title, comparison.verdict.reason)])]
    tall = max(4.2, 1.6 + 0.2 * min(40, len(comparison.changes)))
    both: list[Panel] = [
        lambda ax: plot_comparison(comparison, ax),
        lambda ax: plot_changes(comparison, ax),
    ]
    return [(tall, both)]


def _mutated(mutation: Any) -> Row:
    if mutation.verdict.word == "INVALID":
        return 2.0, [_withheld("Mutation: INVALID", mutation.verdict.reason)]
    tall = 2.8 + 0.2 * len(mutation.saboteurs)
    return tall, [lambda ax: plot_kills(mutation, ax, idle=False)]


def _withheld(title: str, step: str) -> Panel:
    said = f"{title}: no number is shown"
    return lambda ax: nothing(ax, said, step or "mend the suite first")
