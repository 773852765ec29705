"""The two curves that a growing store draws: recall against age, and against size at fixed age."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from memeval import frames
from memeval.drifting.trend import with_ages
from memeval.errors import FrameError
from memeval.stats import wilson
from memeval.stats.bootstrap import bca_mean

SHARES = frozenset({"recall_all", "recall_any", "passed", "abstention"})


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


def by_checkpoint(drift_probes: pd.DataFrame) -> pd.DataFrame:
    """Every metric at every checkpoint, for each cohort and for all of them together.

    Parameters
    ----------
    drift_probes : pandas.DataFrame
        Columns of `memeval.frames.DRIFT_PROBES`.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.DRIFT`: ``recall_all``, ``mrr`` and ``ndcg`` over the positive
        probes, ``abstention`` over the negative ones, ``passed`` over both, and ``leaks``, a sum
        without an interval. ``cohort`` and ``age`` are NA in the rows of all cohorts.

    Raises
    ------
    FrameError
        If a column is missing.

    Examples
    --------
    >>> asked = pd.DataFrame(
    ...     {"probe": ["a", "b"], "cohort": 0, "session": 9, "n_records": 500,
    ...      "kind": "positive", "rank": [2, None], "recall_all": [True, False], "passed": False}
    ... )
    >>> made = by_checkpoint(asked)
    >>> made.loc[made["cohort"].isna() & (made["metric"] == "mrr"), "value"].item()
    0.25
    """
    rows = frames.conform(drift_probes, frames.DRIFT_PROBES)
    rows = rows[rows["status"].ne("not_supported")].reset_index(drop=True)
    positive = rows["kind"].eq("positive")
    told = pd.DataFrame(
        {
            "recall_all": rows["recall_all"].astype("Float64").astype("float64"),
            "mrr": (1.0 / rows["rank"].astype("Float64").astype("float64")).fillna(0.0),
            "ndcg": rows["ndcg"],
            "abstention": rows["passed"].astype("float64").mask(positive),
            "passed": rows["passed"].astype("float64"),
            "leaks": rows["n_leaked"].astype("float64"),
        }
    )
    told["mrr"] = told["mrr"].where(positive)
    keys = rows[["session", "n_records", "cohort"]]
    made = [
        _point(told[name][place], str(name), key)
        for key, place in _places(keys)
        for name in told
        if told[name][place].notna().any()
    ]
    table = pd.DataFrame(made, columns=frames.names(frames.DRIFT))
    return frames.conform(table, frames.DRIFT)


def _places(keys: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.Index]]:
    """Rows of each checkpoint, all cohorts first, then each."""
    key: dict[str, Any]
    for (session, n_records), group in keys.groupby(["session", "n_records"], sort=True):
        key = {"session": session, "n_records": n_records}
        yield key | {"cohort": pd.NA, "age": pd.NA}, group.index
        for cohort in sorted(group["cohort"].unique()):
            planted = group.index[group["cohort"] == cohort]
            yield key | {"cohort": cohort, "age": int(group["session"].iloc[0]) - cohort}, planted


def _point(values: pd.Series, metric: str, key: dict[str, Any]) -> dict[str, Any]:
    seen = values.dropna()
    n = len(seen)
    if metric == "leaks":
        nothing = math.nan
        return key | {
            "metric": metric,
            "value": seen.sum(),
            "low": nothing,
            "high": nothing,
            "n": n,
        }
    low, high = wilson(float(seen.sum()), n) if metric in SHARES else bca_mean(seen)
    return key | {"metric": metric, "value": seen.mean(), "low": low, "high": high, "n": n}


def _means(rows: pd.DataFrame, metric: str, keys: list[str]) -> pd.DataFrame:
    if metric in SHARES and not rows[metric].between(0.0, 1.0).all():
        odd = rows.loc[~rows[metric].between(0.0, 1.0), metric].iloc[0]
        raise FrameError(f"column {metric!r} holds {odd:g}, wanted 0 to 1; mend or drop such rows")
    made = []
    for key, group in rows.groupby(keys, sort=True):
        values = group[metric]
        mean, n = float(values.mean()), len(values)
        low, high = wilson(float(values.sum()), n) if metric in SHARES else bca_mean(values)
        said = {"metric": metric, "value": mean, "low": low, "high": high, "n": n}
        made.append(dict(zip(keys, key, strict=True)) | said)
    columns = frames.names(frames.DRIFT)
    return frames.conform(pd.DataFrame(made, columns=columns), frames.DRIFT)
