"""The two curves that a growing store draws: recall against age, and against size at fixed age."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from memeval import frames
from memeval.drifting.same import always_asked, compared
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
    Every row is over the same `n` probes, so that rows differ by what became of these and not by
    which they are: those that were planted more than once, where there are such, and were asked at
    every row of the curve; where gaps leave no such probe, rows go as well as probes. A store that
    answers each probe always alike has a flat curve, whatever was planted when. Where no probe was
    planted more than once, that holds within each cohort, and cohorts cannot be compared.

    Shares have a Wilson interval of 95 %, other means a BCa interval, none below five distinct
    values.

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
    point = ["age", "cohort", "session", "n_records"]
    if rows.groupby("probe")["cohort"].nunique().gt(1).any():
        return _means(compared(rows, metric, point), metric, point)
    parts = [compared(part, metric, point) for _, part in rows.groupby("cohort")]
    same = pd.concat(parts) if parts else compared(rows, metric, point)
    return _means(same, metric, point)


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
        size, all over the same `n` probes, as in `retention`. Empty where there is none, such as
        with one cohort alone: then age and size grow together and cannot be told apart.

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
    point = ["age", "n_records", "cohort", "session"]
    same = compared(_of_two_sizes(rows), metric, point)
    return _means(_of_two_sizes(same), metric, point)


def _of_two_sizes(rows: pd.DataFrame) -> pd.DataFrame:
    """Ages that were asked at two sizes or more."""
    return rows[rows.groupby("age")["n_records"].transform("nunique") >= 2]


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

        In the rows of all cohorts each probe counts once (`n` is probes), by the mean of its copies
        that were asked there, whatever their age: a probe that is planted more often gets no more
        weight as cohorts come in. Only probes that were asked at every checkpoint count there,
        where these are at least half. The row of one cohort is over all of its probes, and the
        oldest cohort may have probes that no other has: to compare ages, take `retention`.

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
    keys = ["session", "n_records", "cohort"]
    whole = pd.concat([rows[["probe", *keys]], told], axis=1)
    made = [row for name in told for row in _points(whole, str(name))]
    order = {name: n for n, name in enumerate(told)}
    made.sort(key=lambda row: (row["session"], row["n_records"], _place(row), order[row["metric"]]))
    table = pd.DataFrame(made, columns=frames.names(frames.DRIFT))
    return frames.conform(table, frames.DRIFT)


def _place(row: dict[str, Any]) -> float:
    """All cohorts first."""
    return -math.inf if row["cohort"] is pd.NA else row["cohort"]


def _points(whole: pd.DataFrame, metric: str) -> Iterator[dict[str, Any]]:
    """Rows of one metric: all cohorts at each checkpoint, and each cohort."""
    rows = whole[whole[metric].notna()]
    together = rows if metric == "leaks" else always_asked(rows)
    for (session, n_records), group in together.groupby(["session", "n_records"]):
        values = group[metric]
        if metric != "leaks":
            values = group.groupby("probe", sort=True)[metric].mean()
        key = {"session": session, "n_records": n_records, "cohort": pd.NA, "age": pd.NA}
        yield key | _point(values, metric)
    for (session, n_records, cohort), group in rows.groupby(["session", "n_records", "cohort"]):
        age = int(group["session"].iloc[0]) - int(group["cohort"].iloc[0])
        key = {"session": session, "n_records": n_records, "cohort": cohort, "age": age}
        yield key | _point(group[metric], metric)


def _point(values: pd.Series, metric: str) -> dict[str, Any]:
    n = len(values)
    if metric == "leaks":
        nothing = {"low": math.nan, "high": math.nan}
        return {"metric": metric, "value": values.sum(), "n": n} | nothing
    low, high = wilson(float(values.sum()), n) if metric in SHARES else bca_mean(values)
    return {"metric": metric, "value": values.mean(), "low": low, "high": high, "n": n}


def _means(rows: pd.DataFrame, metric: str, keys: list[str]) -> pd.DataFrame:
    if metric in SHARES and not rows[metric].between(0.0, 1.0).all():
        odd = rows.loc[~rows[metric].between(0.0, 1.0), metric].iloc[0]
        raise FrameError(f"column {metric!r} holds {odd:g}, wanted 0 to 1; mend or drop such rows")
    made = []
    for key, group in rows.groupby(keys, sort=True):
        made.append(dict(zip(keys, key, strict=True)) | _point(group[metric], metric))
    columns = frames.names(frames.DRIFT)
    return frames.conform(pd.DataFrame(made, columns=columns), frames.DRIFT)
