"""At which size is a probe lost? Kaplan-Meier by records, and the log-rank test of two stores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memeval.columns import present
from memeval.drift_frames import DRIFT_PROBES
from memeval.drifting.trend import with_ages

Z = 1.959963984540054
_NOTED = tuple(column for column in DRIFT_PROBES if column.name in ("displaced_by", "cause"))
_LOST: dict[str, str] = {
    "probe": "str", "cohort": "int64", "entered": "int64", "last_passed": "int64",
    "n_records": "Int64", "session": "Int64", "displaced_by": "str", "cause": "str",
}  # fmt: skip
_CURVE: dict[str, str] = {
    "n_records": "int64", "at_risk": "int64", "lost": "int64", "survival": "float64",
    "low": "float64", "high": "float64",
}  # fmt: skip


def lifetimes(drift_probes: pd.DataFrame) -> pd.DataFrame:
    """Tell of every planted probe that passed at first how long it did.

    Parameters
    ----------
    drift_probes : pandas.DataFrame
        A row per probe and checkpoint: ``probe``, ``session``, ``n_records``, ``passed``;
        ``cohort``, ``displaced_by`` and ``cause`` where known.

    Returns
    -------
    pandas.DataFrame
        A row per probe and cohort that was asked twice or more and passed the first time:

        - ``probe`` : str. ``cohort`` : int64.
        - ``entered`` : int64, records when it was first asked; ``last_passed`` : int64, when it
          last passed.
        - ``n_records``, ``session`` : Int64, of the first checkpoint from which on it never passed
          again; NA where it still did at the end.
        - ``displaced_by``, ``cause`` : str, as noted there.

    Raises
    ------
    FrameError
        If a column is missing.

    Notes
    -----
    A probe that comes back is not lost: what counts is that it passes no more.

    Examples
    --------
    >>> asked = pd.DataFrame(
    ...     {"probe": "lunch", "session": [0, 9, 20], "n_records": [10, 500, 999],
    ...      "passed": [True, False, False]}
    ... )
    >>> lifetimes(asked)[["probe", "entered", "last_passed", "n_records"]]
       probe  entered  last_passed  n_records
    0  lunch       10           10        500
    """
    rows = with_ages(drift_probes, "passed")
    told = present(drift_probes.loc[drift_probes["passed"].notna()], _NOTED)
    for column in _NOTED:
        rows[column.name] = told.get(column.name)
    made = [life for _, group in rows.groupby(["probe", "cohort"]) for life in _life(group)]
    return pd.DataFrame(made, columns=list(_LOST)).astype(_LOST)


def _life(group: pd.DataFrame) -> Iterator[dict[str, Any]]:
    asked = group.sort_values(["n_records", "session"], kind="stable")
    passed = asked["passed"].to_numpy() > 0
    if len(asked) < 2 or not passed[0]:
        return
    last = int(np.flatnonzero(passed)[-1])
    first, end = asked.iloc[0], asked.iloc[min(last + 1, len(asked) - 1)]
    lost = last + 1 < len(asked)
    yield {
        "probe": first["probe"],
        "cohort": first["cohort"],
        "entered": first["n_records"],
        "last_passed": asked["n_records"].iloc[last],
        "n_records": end["n_records"] if lost else pd.NA,
        "session": end["session"] if lost else pd.NA,
        "displaced_by": end["displaced_by"] if lost else None,
        "cause": end["cause"] if lost else None,
    }


def lost_probes(drift_probes: pd.DataFrame) -> pd.DataFrame:
    """Name the probes that were lost, and at which size, the earliest first.

    Parameters
    ----------
    drift_probes : pandas.DataFrame
        As for `lifetimes`.

    Returns
    -------
    pandas.DataFrame
        The rows of `lifetimes` that have an end.
    """
    lives = lifetimes(drift_probes)
    gone = lives[lives["n_records"].notna()]
    return gone.sort_values(["n_records", "probe", "cohort"], kind="stable", ignore_index=True)


def survival(drift_probes: pd.DataFrame) -> pd.DataFrame:
    """Share of the planted probes that still pass, by records in the store.

    Parameters
    ----------
    drift_probes : pandas.DataFrame
        As for `lifetimes`.

    Returns
    -------
    pandas.DataFrame
        A row for the start and for each size at which a probe was lost: ``n_records``, ``at_risk``,
        ``lost`` (int64), ``survival``, ``low``, ``high`` (float64). Empty where no probe that
        passed was asked twice.

    Raises
    ------
    FrameError
        If a column is missing.

    Notes
    -----
    Kaplan and Meier (1958) with the records in the store as time. A cohort that is planted later
    enters the risk set at its own size (delayed entry), unless one is lost at that very size, and a
    probe that still passes is censored at the last. Greenwood's variance on the log-log scale gives
    the 95 % interval; copies of one probe count as if they were independent, so it is a little
    narrow.

    Examples
    --------
    >>> asked = pd.DataFrame(
    ...     {"probe": ["a", "a", "b", "b"], "session": [0, 9] * 2, "n_records": [10, 500] * 2,
    ...      "passed": [True, False, True, True]}
    ... )
    >>> survival(asked)[["n_records", "at_risk", "lost", "survival"]]
       n_records  at_risk  lost  survival
    0         10        2     0       1.0
    1        500        2     1       0.5
    """
    lives = lifetimes(drift_probes)
    if lives.empty:
        return pd.DataFrame(columns=list(_CURVE)).astype(_CURVE)
    start = int(lives["entered"].min())
    n_first = int(lives["entered"].eq(start).sum())
    rows: list[tuple[float, ...]] = [(start, n_first, 0, 1.0, 1.0, 1.0)]
    share, variance = 1.0, 0.0
    for size, at_risk, lost in _events(lives):
        share *= 1.0 - lost / at_risk
        variance += lost / (at_risk * (at_risk - lost)) if at_risk > lost else math.inf
        rows.append((size, at_risk, lost, share, *_between(share, variance)))
    return pd.DataFrame(rows, columns=list(_CURVE)).astype(_CURVE)


def _events(lives: pd.DataFrame) -> Iterator[tuple[int, int, int]]:
    """Size, probes at risk just before it, and probes lost there."""
    entered, out, lost = _spans(lives)
    for size in np.unique(out[lost]):
        gone = lost & (out == size)
        tied = bool((gone & (entered == size)).any())
        yield int(size), _at_risk(entered, out, size, tied), int(gone.sum())


def _at_risk(entered: NDArray[np.int64], out: NDArray[np.int64], size: int, tied: bool) -> int:
    """Probes at risk; those that enter at this size too where one is lost as it enters."""
    came = entered <= size if tied else entered < size
    return int((came & (out >= size)).sum())


def _spans(
    lives: pd.DataFrame,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """When each probe came in, when it went out or was last seen, and whether it was lost."""
    lost = lives["n_records"].notna().to_numpy()
    out = lives["n_records"].fillna(lives["last_passed"]).to_numpy("int64")
    return lives["entered"].to_numpy("int64"), out, lost


def _between(share: float, variance: float) -> tuple[float, float]:
    if share <= 0.0:
        return 0.0, math.nan
    if share >= 1.0:
        return 1.0, 1.0
    reach = Z * math.sqrt(variance) / math.log(share)
    return share ** math.exp(-reach), share ** math.exp(reach)


def log_rank(baseline: pd.DataFrame, current: pd.DataFrame) -> float:
    """Test whether two stores lose the same probes' copies equally fast.

    Parameters
    ----------
    baseline, current : pandas.DataFrame
        ``drift_probes`` of two simulations, as for `lifetimes`.

    Returns
    -------
    float
        Two-sided p-value of the log-rank test; NaN where neither lost a probe.

    Raises
    ------
    FrameError
        If a column is missing.

    Notes
    -----
    Mantel (1966), with delayed entry. It takes the probes of the two for independent, although they
    are the same: the difference per probe of `memeval.drift.compare_drift` does not.

    Examples
    --------
    >>> asked = pd.DataFrame(
    ...     {"probe": "lunch", "session": [0, 9], "n_records": [10, 500], "passed": [True, False]}
    ... )
    >>> log_rank(asked, asked)
    1.0
    """
    from scipy import stats

    spans = [_spans(lifetimes(frame)) for frame in (baseline, current)]
    sizes = np.unique(np.concatenate([out[lost] for _, out, lost in spans]))
    difference, variance = 0.0, 0.0
    for size in sizes:
        tied = any((lost & (out == size) & (entered == size)).any() for entered, out, lost in spans)
        risks = [_at_risk(entered, out, size, tied) for entered, out, _ in spans]
        losses = [int((lost & (out == size)).sum()) for _, out, lost in spans]
        n, d = sum(risks), sum(losses)
        difference += losses[0] - d * risks[0] / n
        if n > 1:
            variance += d * (risks[0] / n) * (risks[1] / n) * (n - d) / (n - 1)
    if not len(sizes):
        return math.nan
    if variance == 0.0:
        return 1.0
    return float(stats.chi2.sf(difference**2 / variance, 1))
