"""The two curves that a growing store draws: recall against age, and against size at fixed age."""

from __future__ import annotations

import pandas as pd

from memeval import frames
from memeval.drifting.trend import with_ages
from memeval.stats import wilson
from memeval.stats.bootstrap import bca_mean

SHARES = frozenset({"recall_all", "recall_any", "passed"})


def retention(drift_probes: pd.DataFrame, metric: str = "recall_all") -> pd.DataFrame:
    """Metric against age: how long after it was written a probe is still answered.

    Parameters
    ----------
    drift_probes : pandas.DataFrame
        A row per probe, cohort and checkpoint: ``probe``, ``session``, ``n_records``, the metric,
        and ``cohort`` (0 where it is missing).
    metric : str
        Column that is averaged.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.DRIFT`, a row per age and checkpoint size, by age; ``cohort`` is
        the session of planting.

    Raises
    ------
    FrameError
        If a column is missing.

    Notes
    -----
    Shares have a Wilson interval of 95 %, other means a BCa interval, none below five distinct
    values. Each row is over the probes of one cohort at one checkpoint.

    Examples
    --------
    >>> asked = pd.DataFrame(
    ...     {"probe": ["a", "b"] * 2, "session": [0, 0, 9, 9], "n_records": [10, 10, 500, 500],
    ...      "recall_all": [True, True, True, False]}
    ... )
    >>> retention(asked)[["age", "n_records", "value", "n"]]
       age  n_records  value  n
    0    0         10    1.0  2
    1    9        500    0.5  2
    """
    rows = with_ages(drift_probes, metric)
    return _means(rows, metric, ["age", "cohort", "session", "n_records"])


def crowding(drift_probes: pd.DataFrame, metric: str = "recall_all") -> pd.DataFrame:
    """Metric against size at fixed age: what the records around a probe do to it.

    Parameters
    ----------
    drift_probes, metric
        As for `retention`.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.DRIFT`: the ages that were asked at two sizes or more, by age and
        size. Empty where there is none, such as with one cohort alone: then age and size grow
        together and cannot be told apart.

    Raises
    ------
    FrameError
        If a column is missing.

    Examples
    --------
    >>> asked = pd.DataFrame(
    ...     {"probe": "a", "cohort": [0, 9], "session": [0, 9], "n_records": [10, 500],
    ...      "recall_all": [True, False]}
    ... )
    >>> crowding(asked)[["age", "n_records", "value"]]
       age  n_records  value
    0    0         10    1.0
    1    0        500    0.0
    """
    rows = with_ages(drift_probes, metric)
    sizes = rows.groupby("age")["n_records"].transform("nunique")
    return _means(rows[sizes >= 2], metric, ["age", "n_records", "cohort", "session"])


def _means(rows: pd.DataFrame, metric: str, keys: list[str]) -> pd.DataFrame:
    made = []
    for key, group in rows.groupby(keys, sort=True):
        values = group[metric]
        mean, n = float(values.mean()), len(values)
        low, high = wilson(float(values.sum()), n) if metric in SHARES else bca_mean(values)
        said = {"metric": metric, "value": mean, "low": low, "high": high, "n": n}
        made.append(dict(zip(keys, key, strict=True)) | said)
    columns = frames.names(frames.DRIFT)
    return frames.conform(pd.DataFrame(made, columns=columns), frames.DRIFT)
