"""Reading drift: what a growing store does to its probes, from a simulation or anyone's own log.

Every function takes a plain frame with the columns that it names, so the log of a system in
production is read like a simulation.

Examples
--------
A production log, one row a query and week: did it fall?

>>> import pandas as pd
>>> log = pd.DataFrame(
...     {"probe": ["rota", "rota", "lunch", "lunch"], "session": [1, 2, 1, 2],
...      "n_records": [900, 2900, 900, 2900], "recall_all": [True, False, True, True]}
... )
>>> found = trend(log)
>>> found.verdict, found.slope_per_1k
('cannot tell', -0.25)
>>> trend(log, curve="retention").reason
'recall_all by retention: no checkpoint asked cohorts of two ages, so age cannot be told from size'
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from memeval import frames
from memeval.drifting.comparing import DriftComparison as DriftComparison
from memeval.drifting.comparing import compare_drift as compare_drift
from memeval.drifting.curves import by_checkpoint as by_checkpoint
from memeval.drifting.curves import crowding as crowding
from memeval.drifting.curves import retention as retention
from memeval.drifting.growth import Growth as Growth
from memeval.drifting.growth import size_growth as size_growth
from memeval.drifting.shape import Shape as Shape
from memeval.drifting.shape import latency_shape as latency_shape
from memeval.drifting.survival import lifetimes as lifetimes
from memeval.drifting.survival import log_rank as log_rank
from memeval.drifting.survival import lost_probes as lost_probes
from memeval.drifting.survival import survival as survival
from memeval.drifting.trend import Curve as Curve
from memeval.drifting.trend import Trend as Trend
from memeval.drifting.trend import headline as headline
from memeval.drifting.trend import trend as trend

METRICS = ("recall_all", "ndcg")
TRENDS: tuple[Curve, ...] = ("growth", "retention", "crowding")
__all__ = [
    "DriftComparison",
    "Growth",
    "Shape",
    "Trend",
    "by_checkpoint",
    "compare_drift",
    "crowding",
    "headline",
    "latency_shape",
    "lifetimes",
    "log_rank",
    "lost_probes",
    "retention",
    "size_growth",
    "slopes",
    "survival",
    "trend",
]


def slopes(
    drift_probes: pd.DataFrame,
    checkpoints: pd.DataFrame | None = None,
    sizes: pd.DataFrame | None = None,
    *,
    margin: float = 0.10,
    budget_ms: float = 100.0,
) -> pd.DataFrame:
    """Sum up what drifts, a row per metric and curve.

    Parameters
    ----------
    drift_probes : pandas.DataFrame
        A row per probe and checkpoint, as for `trend`; of `METRICS` those that it has.
    checkpoints : pandas.DataFrame, optional
        A row per checkpoint with ``n_records`` and ``latency_p95_ms``, for the latency.
    sizes : pandas.DataFrame, optional
        As for `size_growth`; the checkpoints, where they have ``n_kept``, by default.
    margin : float
        Net fall over the measured range that would matter.
    budget_ms : float
        What the 95th percentile of the latency should stay below.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.SLOPES`.

    Raises
    ------
    FrameError
        If a column is missing.

    Examples
    --------
    >>> asked = pd.DataFrame(
    ...     {"probe": ["a", "a", "b", "b"], "session": [0, 9] * 2, "n_records": [10, 1010] * 2,
    ...      "recall_all": [True, False, True, True]}
    ... )
    >>> slopes(asked)[["metric", "curve", "slope_per_1k", "verdict"]]
           metric      curve  slope_per_1k      verdict
    0  recall_all     growth          -0.5  cannot tell
    1  recall_all  retention           NaN  cannot tell
    2  recall_all   crowding           NaN  cannot tell
    """
    rows = list(_trends(drift_probes, margin))
    counted = checkpoints if sizes is None else sizes
    if counted is not None and "n_kept" in counted and counted["n_kept"].notna().any():
        rows.append(_of_size(size_growth(counted)))
    if checkpoints is not None and "latency_p95_ms" in checkpoints:
        timed = checkpoints[checkpoints["latency_p95_ms"].gt(0) & checkpoints["n_records"].gt(1)]
        rows.append(
            _of_latency(
                latency_shape(timed["n_records"], timed["latency_p95_ms"], budget_ms=budget_ms),
                len(timed),
            )
        )
    made = pd.DataFrame(rows, columns=frames.names(frames.SLOPES))
    return frames.conform(made, frames.SLOPES)


def _trends(drift_probes: pd.DataFrame, margin: float) -> Iterator[dict[str, Any]]:
    for metric in METRICS:
        if metric != METRICS[0] and metric not in drift_probes:
            continue
        for curve in TRENDS:
            found = trend(drift_probes, metric, curve, margin=margin)
            yield {
                "metric": metric,
                "curve": curve,
                "slope_per_1k": found.slope_per_1k,
                "low": found.low,
                "high": found.high,
                "p_value": found.p_value,
                "n": found.n,
                "verdict": found.verdict,
                "reason": found.reason,
            }


def _of_size(found: Growth) -> dict[str, Any]:
    """The slope of a size is what is kept of a thousand records, in the late part."""
    return {
        "metric": "n_kept",
        "curve": "size",
        "slope_per_1k": found.kept_per_1k,
        "low": math.nan,
        "high": math.nan,
        "p_value": math.nan,
        "n": found.n,
        "verdict": found.verdict,
        "reason": found.reason,
    }


def _of_latency(found: Shape, n: int) -> dict[str, Any]:
    """The slope of a latency is that of its line; where no line fits there is none."""
    linear = found.group == "linear" and found.law == "linear"
    return {
        "metric": "latency_p95_ms",
        "curve": "latency",
        "slope_per_1k": 1000.0 * found.factor if linear else math.nan,
        "low": math.nan,
        "high": math.nan,
        "p_value": math.nan,
        "n": n,
        "verdict": found.group,
        "reason": found.reason,
    }
