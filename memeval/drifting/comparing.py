"""Two stores that grew on the same sessions: which one loses more, probe by probe."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from memeval.drifting.survival import log_rank
from memeval.drifting.trend import Curve, Trend, headline, trend, with_ages
from memeval.errors import FrameError
from memeval.showing import Shown


@dataclass(frozen=True, slots=True, repr=False)
class DriftComparison(Shown):
    """What came of comparing two growing stores.

    Attributes
    ----------
    difference : Trend
        Of current minus baseline, probe by probe: it falls where the current store falls faster.
    mean_difference : float
        Mean of current minus baseline over all that both asked.
    log_rank_p : float
        Two-sided p-value that they lose probes equally fast; NaN where neither lost one.
    n : int
        Probes that both asked, at the same checkpoints.
    reason : str
        The same in a sentence.
    """

    difference: Trend
    mean_difference: float
    log_rank_p: float
    n: int
    reason: str


def compare_drift(
    baseline: pd.DataFrame,
    current: pd.DataFrame,
    metric: str = "recall_all",
    curve: Curve | None = None,
    *,
    margin: float = 0.10,
) -> DriftComparison:
    """Test whether one store drifts worse than another, on the same probes and sessions.

    Parameters
    ----------
    baseline, current : pandas.DataFrame
        ``drift_probes`` of two simulations of one suite, seed and number of sessions.
    metric, curve, margin
        As for `memeval.drift.trend`, which is taken of the difference, current minus baseline; the
        curve of `memeval.drift.headline` unless one is given.

    Returns
    -------
    DriftComparison
        The trend of the difference, and the log-rank test.

    Raises
    ------
    FrameError
        If a column is missing or no metric, or they share no probe at the same checkpoint.

    Examples
    --------
    >>> asked = pd.DataFrame(
    ...     {"probe": ["a", "a", "b", "b"], "session": [0, 9] * 2, "n_records": [10, 1010] * 2,
    ...      "recall_all": True, "passed": True}
    ... )
    >>> compare_drift(asked, asked).difference.slope_per_1k
    0.0
    """
    keys = ["probe", "cohort", "session"]
    if metric in keys:
        raise FrameError(
            f"metric is {metric!r}, by which rows are matched, wanted a column that is measured, "
            "such as recall_all; name one"
        )
    sides = [with_ages(frame, metric) for frame in (baseline, current)]
    for side in sides:
        twice = side[side.duplicated(keys)]
        if len(twice):
            raise FrameError(
                f"found probe {twice['probe'].iloc[0]!r} twice at session "
                f"{twice['session'].iloc[0]}, wanted one row for each probe, cohort and "
                "checkpoint; keep one repeat"
            )
    both = sides[1].merge(sides[0], on=keys, suffixes=("", "_before"))
    if both.empty:
        raise FrameError(
            "found no probe that both asked at the same checkpoint, wanted two simulations of one "
            "suite with the same sessions; simulate both with the same suite, seed and checkpoints"
        )
    both[metric] = both[metric] - both[f"{metric}_before"]
    if curve is None:
        found = headline(both, metric, margin=margin)
    else:
        found = trend(both, metric, curve, margin=margin)
    mean, n = float(both[metric].mean()), both["probe"].nunique()
    p_value = math.nan
    if "passed" in baseline and "passed" in current:
        p_value = log_rank(baseline, current)
    return DriftComparison(found, mean, p_value, n, _said(found, mean, p_value, n))


def _said(found: Trend, mean: float, p_value: float, n: int) -> str:
    word = {
        "decline": "the current store falls faster",
        "flat": "the current store falls no faster, within the margin",
        "cannot tell": "which of the two falls faster cannot be told",
    }[found.verdict]
    tested = "" if math.isnan(p_value) else f"; losses differ with p = {p_value:.2g} (log-rank)"
    return (
        f"{word}: current minus baseline is {mean:+.3f} on average over {n} probes and moves by "
        f"{found.slope_per_1k:+.3f} per 1,000{tested}"
    )
