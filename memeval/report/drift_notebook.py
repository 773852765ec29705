"""What notebooks show of a simulation: small static HTML, safe with any text."""

from __future__ import annotations

from typing import Any

from memeval.report import drift_rows as rows
from memeval.report.templating import render
from memeval.simulation import Simulation

MOST_LOST = 50


def simulation_html(simulation: Simulation) -> str:
    """Verdict, slopes, checkpoints, lost probes, and how it was asked.

    Parameters
    ----------
    simulation : Simulation
        What to show.

    Returns
    -------
    str
        One ``div``.
    """
    return render(
        "notebook_drift.html.j2",
        verdict=simulation.verdict,
        sign=rows.SIGNS.get(simulation.verdict.word, "!"),
        withheld=simulation.withheld,
        word=rows.headline(simulation),
        slope=rows.slope(simulation),
        head=rows.head(simulation),
        circumstances=list(rows.circumstances(simulation)),
        **({} if simulation.withheld else _numbers(simulation)),
    )


def _numbers(simulation: Simulation) -> dict[str, Any]:
    """What an invalid suite cannot carry."""
    lost = rows.lost(simulation)
    return dict(
        sentences=rows.sentences(simulation),
        unknown=rows.why_unknown(simulation),
        slope_heads=list(zip(rows.SLOPE_HEAD, rows.SLOPE_SIDES, strict=True)),
        slope_sides=rows.SLOPE_SIDES,
        slopes=rows.slopes(simulation),
        slope_key=rows.SLOPE_KEY,
        size_heads=list(zip(rows.SIZE_HEAD, rows.SIZE_SIDES, strict=True)),
        sizes=rows.checkpoints(simulation),
        size_key=rows.SIZE_KEY,
        lost_head=rows.lost_head(simulation),
        lost_heads=list(zip(rows.LOST_HEAD, rows.LOST_SIDES, strict=True)),
        lost_sides=rows.LOST_SIDES,
        lost=[one.cells for one in lost[:MOST_LOST]],
        more=max(0, len(lost) - MOST_LOST),
        lost_key=rows.LOST_KEY,
    )
