"""Does a metric fall as the store grows? The unit is the probe, not the checkpoint.

The same probes are asked at every checkpoint, so the means of the checkpoints hang together, and a
test on them finds a trend in every third store that has none. A slope of each probe, and a t-test
on the slopes, holds its level.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memeval.columns import Column, present
from memeval.drift_frames import DRIFT_PROBES
from memeval.errors import FrameError
from memeval.showing import Shown
from memeval.stats.paired import paired_loss_bounds
from memeval.text import count

Curve = Literal["growth", "retention", "crowding"]
Word = Literal["flat", "decline", "cannot tell"]
Floats = NDArray[np.float64]
PER = 1000.0
NO_SLOPE = 1e-12
LOST = 0.5
ALPHA = 0.05
_ASKED = tuple(
    replace(column, required=False)
    for column in DRIFT_PROBES
    if column.name in ("probe", "session", "n_records", "cohort")
)
# What is regressed on, what is held fixed, and how the answer is called where neither varies.
_CURVES: Mapping[str, tuple[str, str, str]] = {
    "growth": ("n_records", "cohort", "no probe was asked at two sizes of the store"),
    "retention": (
        "age",
        "session",
        "no checkpoint asked cohorts of two ages, so age cannot be told from size",
    ),
    "crowding": (
        "n_records",
        "age",
        "no age was asked at two sizes, so size cannot be told from age",
    ),
}


@dataclass(frozen=True, slots=True, repr=False)
class Trend(Shown):
    """How a metric moves, by the slopes of its probes.

    Attributes
    ----------
    metric : str
        What was regressed.
    curve : {'growth', 'retention', 'crowding'}
        ``growth``: on records, age not fixed. ``retention``: on age, at fixed size. ``crowding``:
        on records, at fixed age.
    slope_per_1k : float
        Mean slope, per 1,000 records (of ``retention``: per 1,000 sessions).
    low, high : float
        Ends of the 95 % t-interval; NaN below two probes.
    p_value : float
        One-sided, that the mean slope is as low by luck; NaN below two probes.
    drop, most : float
        Net fall over the range that was measured, and its one-sided upper bound of 95 %.
    n : int
        Probes with a slope.
    verdict : {'flat', 'decline', 'cannot tell'}
        Decline: p at most 0.05. Flat: the bound is below the margin. Not significant alone is
        never flat.
    reason : str
        The same in a sentence.
    """

    metric: str
    curve: Curve
    slope_per_1k: float
    low: float
    high: float
    p_value: float
    drop: float
    most: float
    n: int
    verdict: Word
    reason: str


def trend(
    drift_probes: pd.DataFrame,
    metric: str = "recall_all",
    curve: Curve = "growth",
    *,
    margin: float = 0.10,
) -> Trend:
    """Test whether a metric falls, by a slope for each probe.

    Parameters
    ----------
    drift_probes : pandas.DataFrame
        A row per probe and checkpoint: ``probe``, ``session``, ``n_records`` and the metric;
        ``cohort`` where copies of a probe were planted at several sessions (0 otherwise). Rows
        without a value, such as those of negative probes, are left out.
    metric : str
        Column that is regressed: ``recall_all``, ``ndcg``, or any number or truth value.
    curve : {'growth', 'retention', 'crowding'}
        What it is held against, and what is kept fixed.
    margin : float
        Net fall over the measured range that would matter.

    Returns
    -------
    Trend
        Slope with interval, p-value and verdict.

    Raises
    ------
    FrameError
        If a column is missing, a value does not fit its column, the curve is unknown, or the margin
        is no number from 0.

    Notes
    -----
    Each probe has one least squares slope over all its rows, with an intercept for each value of
    what is kept fixed (its cohort, the checkpoint, or the age), so that copies of one probe in
    several cohorts count once. The mean of the slopes is held against 0 by a one-sided t-test;
    slopes below 1e-12 are 0, and n equal falls have the p-value of the sign test, ``0.5 ** n``. The
    bound of the fall is the larger of that of the t-interval, which
    is too narrow where few probes move, and of `memeval.stats.paired.paired_loss_bounds` on the
    probes that change by a half or more over the range: ``1 - 0.05 ** (1 / n)`` where none does.

    Examples
    --------
    >>> asked = pd.DataFrame(
    ...     {"probe": ["a", "a", "b", "b"], "session": [0, 9] * 2, "n_records": [10, 1010] * 2,
    ...      "recall_all": [True, False, True, True]}
    ... )
    >>> found = trend(asked)
    >>> found.slope_per_1k, found.n, found.verdict
    (-0.5, 2, 'cannot tell')
    """
    if curve not in tuple(_CURVES):
        raise FrameError(f"curve is {curve!r}, wanted one of {', '.join(_CURVES)}; use one of them")
    check_margin(margin)
    against, fixed, unvaried = _CURVES[curve]
    rows = with_ages(drift_probes, metric)
    slopes, spans = _slopes(rows, metric, against, fixed)
    if not len(slopes):
        nothing = math.nan
        return Trend(
            metric, curve, nothing, nothing, nothing, nothing, nothing, nothing, 0,
            "cannot tell", f"{metric} by {curve}: {unvaried}",
        )  # fmt: skip
    return _judged(metric, curve, slopes, float(np.median(spans)), margin)


def headline(
    drift_probes: pd.DataFrame, metric: str = "recall_all", *, margin: float = 0.10
) -> Trend:
    """Test whether a metric falls as the store grows, by the curve that shows it.

    Parameters
    ----------
    drift_probes, metric, margin
        As for `trend`.

    Returns
    -------
    Trend
        By growth, which holds each copy of a probe against itself; but by crowding where that is a
        decline by more than the margin and growth is none: a store that is full keeps the old
        copies and takes no new ones, so that by growth nothing moves.

    Raises
    ------
    FrameError
        As `trend`.

    Notes
    -----
    Two tests are looked at. Among probes that come and go without any net fall, four cohorts and a
    fresh one at eight checkpoints, 34 probes, 400 runs: 0.03 to 0.04 are called a decline, of 10
    probes 0.06.

    Examples
    --------
    >>> full = pd.DataFrame(
    ...     {"probe": [f"p{n}" for n in range(5)] * 2, "cohort": [0] * 5 + [9] * 5,
    ...      "session": [0] * 5 + [9] * 5, "n_records": [10] * 5 + [1010] * 5,
    ...      "recall_all": [True] * 5 + [False] * 5}
    ... )
    >>> trend(full).verdict, headline(full).curve, headline(full).verdict
    ('cannot tell', 'crowding', 'decline')
    """
    growth = trend(drift_probes, metric, "growth", margin=margin)
    crowding = trend(drift_probes, metric, "crowding", margin=margin)
    full = crowding.verdict == "decline" and crowding.drop > margin
    return crowding if full and growth.verdict != "decline" else growth


def check_margin(margin: object) -> None:
    """Refuse a margin that no fall can be held against.

    Raises
    ------
    FrameError
        If it is no finite number from 0.
    """
    if not isinstance(margin, Real) or not 0.0 <= float(margin) < math.inf:
        raise FrameError(f"margin is {margin!r}, wanted a number from 0, such as 0.1; give one")


def with_ages(drift_probes: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Rows that have a value of the metric, with ``cohort``, ``age`` and the value as floats.

    Raises
    ------
    FrameError
        If a column is missing, or a value does not fit its column.
    """
    wanted = ["probe", "session", "n_records", metric]
    missing = [str(name) for name in wanted if name not in getattr(drift_probes, "columns", ())]
    if missing:
        raise FrameError(
            f"found no column {', '.join(missing)}, wanted {', '.join(map(str, wanted))} (and "
            "cohort where copies of a probe were planted at several sessions); rename or add what "
            "is missing"
        )
    for name in ("session", "n_records", "cohort"):
        if name in drift_probes and pd.api.types.is_datetime64_any_dtype(drift_probes[name]):
            raise FrameError(
                f"column {name!r} holds times, wanted whole numbers; number the days or weeks from "
                "0, such as (at - at.min()).dt.days"
            )
    values = present(drift_probes, (Column(metric, "float64", "a number or truth value"),))[metric]
    seen = values.notna().to_numpy()
    rows = present(drift_probes.loc[seen], _ASKED)
    _check_values(metric, values[seen], rows["probe"])
    cohort = rows["cohort"] if "cohort" in rows else pd.Series(0, rows["probe"].index, "int64")
    made = {name: rows[name] for name in ("probe", "session", "n_records")}
    frame = pd.DataFrame(made | {"cohort": cohort, metric: values[seen].to_numpy()})
    frame["age"] = frame["session"] - frame["cohort"]
    return frame


def _check_values(metric: str, values: pd.Series, probes: pd.Series) -> None:
    if np.isinf(values.to_numpy()).any():
        raise FrameError(f"column {metric!r} holds inf, wanted finite numbers; mend or drop them")
    if probes.isna().any():
        raise FrameError("a row with a value has no probe, wanted its name; name it, or drop it")


def _slopes(rows: pd.DataFrame, metric: str, against: str, fixed: str) -> tuple[Floats, Floats]:
    """One slope per probe, per 1,000, and the range that each was seen over."""
    probe = pd.factorize(rows["probe"])[0]
    held = pd.factorize(rows[fixed])[0]
    cell = pd.factorize(probe * (len(held) + 1) + held)[0]
    x, y = (_centred(rows[name].to_numpy("float64"), cell) for name in (against, metric))
    across, spread = np.bincount(probe, x * y), np.bincount(probe, x * x)
    told = spread > 0
    slopes = across[told] / spread[told] * PER
    slopes[np.abs(slopes) < NO_SLOPE] = 0.0
    return slopes, _ranges(rows[against].to_numpy("float64"), probe)[told]


def _centred(values: Floats, cell: NDArray[np.intp]) -> Floats:
    """Values less the mean of their cell."""
    centred: Floats = values - (np.bincount(cell, values) / np.bincount(cell))[cell]
    return centred


def _ranges(values: Floats, group: NDArray[np.intp]) -> Floats:
    """Largest less smallest value of each group."""
    n = int(group.max()) + 1 if len(group) else 0
    high, low = np.full(n, -math.inf), np.full(n, math.inf)
    np.maximum.at(high, group, values)
    np.minimum.at(low, group, values)
    spans: Floats = high - low
    return spans


def _judged(metric: str, curve: Curve, slopes: Floats, span: float, margin: float) -> Trend:
    from scipy import stats

    n, mean = len(slopes), float(slopes.mean())
    error = float(slopes.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    if n > 1 and error < NO_SLOPE:
        error = 0.0
    low, high, p_value = math.nan, math.nan, math.nan
    if n > 1:
        reach = float(stats.t.ppf(0.975, n - 1)) * error
        low, high = mean - reach, mean + reach
        p_value = _p_value(mean, error, n)
    falls, rises = int((slopes < 0).sum()), int((slopes > 0).sum())
    drop = -mean * span / PER
    most = _most(slopes * span / PER, drop, error * span / PER)
    word: Word = "cannot tell"
    if p_value <= ALPHA:
        word = "decline"
    elif most < margin:
        word = "flat"
    unit = "records" if curve != "retention" else "sessions"
    reason = (
        f"{metric} by {curve}: {mean:+.3f} per 1,000 {unit}"
        + (f" [{low:+.3f}, {high:+.3f}]" if n > 1 else "")
        + f" over {count(n, 'probe')}, {falls} fall and {rises} rise; "
        + _said(word, p_value, most, margin)
    )
    return Trend(metric, curve, mean, low, high, p_value, drop, most, n, word, reason)


def _p_value(mean: float, error: float, n: int) -> float:
    from scipy import stats

    if error == 0.0:  # no t without spread: that all fall, if each were as likely to rise
        return 1.0 if mean >= 0 else 0.5**n
    return float(stats.t.cdf(mean / error, n - 1))


def _most(changes: Floats, drop: float, error: float) -> float:
    """One-sided upper bound of 95 % of the net fall."""
    from scipy import stats

    n = len(changes)
    losses, gains = int((changes <= -LOST).sum()), int((changes >= LOST).sum())
    counted = paired_loss_bounds(n, losses, gains, 0.90)[1]
    if not changes.any() or n < 2:
        return counted
    return max(counted, drop + float(stats.t.ppf(0.95, n - 1)) * error)


def _said(word: Word, p_value: float, most: float, margin: float) -> str:
    if word == "decline":
        return f"chance alone seldom makes so much of a fall (p = {p_value:.2g})"
    at_most = f"a fall of {most:.3f} over the measured range cannot be ruled out"
    if word == "flat":
        return f"the net fall over the measured range is below {most:.3f}, the margin is {margin:g}"
    return f"{at_most}, the margin is {margin:g}; ask more probes"
