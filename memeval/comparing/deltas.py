"""How each metric moved between two outcomes, over the probes that both asked.

A difference is always current - baseline, whichever way is better; wins and losses count probes
that got better and worse. Each end of an interval holds with 1 - alpha on its side, so that it
agrees with the one-sided tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memeval.columns import conform
from memeval.comparing.sides import Sides
from memeval.frames import COMPARISON
from memeval.runs import Run
from memeval.scoring.measured import pooled
from memeval.stats import quantile_hf8
from memeval.stats.bootstrap import bca_mean
from memeval.stats.logratio import LogRatio, paired_log_ratio
from memeval.stats.paired import holm, mcnemar_midp, paired_loss_bounds, sign_flip

Floats = NDArray[np.float64]
# Means of the summary by their column of the outcomes.
MEANS = {"recall_fraction": "recall_fraction", "mrr": "rr", "ndcg": "ndcg"}
BESIDE = ("cold_ms", "write_ms", "visible_ms")
TIMES = ("latency_ms", "latency_p95_ms", *BESIDE)
# Probes that must differ before an interval of a mean difference can stand on them.
FEWEST_FLIPS = 5
# Values of the small files have six decimals; what differs by less is the same.
TIE = 1e-9


def deltas(sides: Sides, *, alpha: float, times: bool) -> pd.DataFrame:
    """Set both sides against each other, metric by metric.

    Parameters
    ----------
    sides : Sides
        What is compared.
    alpha : float
        One-sided level of the ends of intervals, above 0 and below 0.5.
    times : bool
        Whether latencies may be compared.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.COMPARISON`; ``regressed`` is NA. ``p_value`` stands at the two
        primary tests alone, McNemar's mid-p on ``recall_all`` and the sign flip on ``ndcg``, and
        is adjusted for there being two (Holm). Where some repeats of a probe passed and others
        failed, ``recall_all`` is what most of them came to, and a probe of which the first repeat
        came to something else counts as unmoved in the sign flip; all else is of the first repeat.
        ``n`` is 0 where values are only told for whole suites: there are no probes behind them, and
        no interval.
    """
    confidence = 1.0 - 2.0 * alpha
    rows = [
        _recall(sides, confidence),
        *(_mean(sides, metric, column, confidence) for metric, column in MEANS.items()),
        _distinct(sides, confidence),
        _staleness(sides),
        _leaks(sides),
        _abstention(sides, confidence),
        *_times(sides, confidence, times),
    ]
    tested = [row for row in rows if not math.isnan(row.get("p_value", math.nan))]
    for row, adjusted in zip(tested, holm([r["p_value"] for r in tested]), strict=True):
        row["p_value"] = float(adjusted)
    return conform(pd.DataFrame(rows), COMPARISON)


def _recall(sides: Sides, confidence: float) -> dict[str, Any]:
    before, after = sides.found
    chosen = sides.asked & ~np.isnan(before) & ~np.isnan(after)
    row = _row("recall_all", before[chosen], after[chosen])
    n, lost, gained = row["n"], row["losses"], row["wins"]
    if n:
        low, high = paired_loss_bounds(n, lost, gained, confidence)
        row |= {"low": -high, "high": -low, "p_value": mcnemar_midp(lost, gained)}
    return _told(sides, row)


def _mean(sides: Sides, metric: str, column: str, confidence: float) -> dict[str, Any]:
    chosen, before, after = _columns(sides, column)
    row = _row(metric, before, after) | _spread(before, after, confidence)
    if metric == "ndcg" and row["n"]:
        # What only the first repeat lost or found is luck, and its gain that of a lucky answer.
        gaps = np.where(sides.typical[chosen], after - before, 0.0)
        labels = sides.clusters
        clusters = None if labels is None else np.array(labels, dtype=object)[chosen]
        row["p_value"] = sign_flip(gaps, clusters=clusters)
    return _told(sides, row)


def _columns(sides: Sides, column: str) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Where both sides have a value, and the values there."""
    before, after = (_floats(rows[column]) for rows in (sides.before, sides.after))
    chosen = sides.asked & ~np.isnan(before) & ~np.isnan(after)
    return chosen, before[chosen], after[chosen]


def _floats(values: pd.Series) -> Floats:
    return values.to_numpy(np.float64, na_value=np.nan)


def _row(
    metric: str,
    before: Floats,
    after: Floats,
    of: Callable[[Floats], float] = lambda values: math.fsum(values) / len(values),
    *,
    lower: bool = False,
) -> dict[str, Any]:
    """Values, difference and counts, without an interval; NaN without a probe."""
    if not len(before):
        return {"metric": metric, "n": 0, "wins": 0, "ties": 0, "losses": 0}
    gaps = before - after if lower else after - before
    wins, losses = int((gaps > TIE).sum()), int((gaps < -TIE).sum())
    one, other = of(before), of(after)
    counts = {"n": len(gaps), "wins": wins, "ties": len(gaps) - wins - losses, "losses": losses}
    return {"metric": metric, "baseline": one, "current": other, "delta": other - one, **counts}


def _spread(before: Floats, after: Floats, confidence: float) -> dict[str, float]:
    gaps = after - before
    if (np.abs(gaps) > TIE).sum() < FEWEST_FLIPS:
        return {}
    one, other = np.sort(gaps), np.sort(-gaps)
    if one.tolist() >= other.tolist():
        low, high = bca_mean(one, confidence)
    else:  # always the same of both signs, so that swapped sides give this interval mirrored
        high, low = (-end for end in bca_mean(other, confidence))
    return {"low": low, "high": high}


def _told(sides: Sides, row: dict[str, Any]) -> dict[str, Any]:
    """Take what the sides tell of their whole suites where nothing else can stand."""
    if not (sides.bare or (not row["n"] and sides.whole)):
        return row
    metric = row["metric"]
    told = [side.metrics.get(metric, math.nan) for side in (sides.baseline, sides.current)]
    if all(map(math.isnan, told)):
        return row
    made = {"baseline": told[0], "current": told[1], "delta": told[1] - told[0]}
    return row | made | {"low": math.nan, "high": math.nan}


def _distinct(sides: Sides, confidence: float) -> dict[str, Any]:
    before, after = _results(sides, "distinct")
    known = ~np.isnan(before) & ~np.isnan(after)
    before, after = before[known], after[known]
    row = _row("distinct", before, after) | _spread(before, after, confidence)
    return _told(sides, row)


def _staleness(sides: Sides) -> dict[str, Any]:
    """Stale hits over hits, pooled as in the summary; wins and losses by stale hits a probe."""
    if sides.baseline.run is None or sides.current.run is None:
        return _told(sides, _row("staleness", np.empty(0), np.empty(0)))
    chosen = sides.asked & sides.before["kind"].eq("positive").to_numpy(np.bool_)
    stale = [counts[chosen] for counts in _results(sides, "n_stale")]
    row = _row("staleness", stale[0], stale[1], lower=True)
    shares = [
        pooled(pd.Series(parts), pd.Series(hits[chosen])).value
        for parts, hits in zip(stale, _hits_in_top(sides), strict=True)
    ]
    return row | {"baseline": shares[0], "current": shares[1], "delta": shares[1] - shares[0]}


def _hits_in_top(sides: Sides) -> list[Floats]:
    """How many hits stand in the top k of each common probe; none where the search failed."""
    lengths = zip(_results(sides, "n_returned"), _results(sides, "k"), strict=True)
    answered = (rows["status"].eq("ok").to_numpy(np.bool_) for rows in (sides.before, sides.after))
    return [np.minimum(n, k) * ok for (n, k), ok in zip(lengths, answered, strict=True)]


def _results(sides: Sides, column: str) -> tuple[Floats, Floats]:
    """A column that only full runs have, NaN where a side is none."""
    made = []
    for side in (sides.baseline, sides.current):
        values = np.full(len(sides.common), np.nan)
        if side.run is not None:
            results = side.run.results.set_index("probe")[column]
            values = _floats(results.reindex(sides.before["probe"]))
        made.append(values)
    return made[0], made[1]


def _leaks(sides: Sides) -> dict[str, Any]:
    before, after = (_floats(rows["n_leaked"])[sides.asked] for rows in (sides.before, sides.after))
    return _told(sides, _row("leaks", before, after, lambda v: float(v.sum()), lower=True))


def _abstention(sides: Sides, confidence: float) -> dict[str, Any]:
    """Share of negative probes with an empty answer, by the answers of the first repeat."""
    before, after = (
        np.array([_silent(row, side.answers) for row in _negatives(rows)], dtype=np.float64)
        for rows, side in ((sides.before, sides.baseline), (sides.after, sides.current))
    )
    known = sides.asked & ~np.isnan(before) & ~np.isnan(after)
    before, after = before[known], after[known]
    row = _row("abstention", before, after)
    if row["n"]:
        low, high = paired_loss_bounds(row["n"], row["losses"], row["wins"], confidence)
        row |= {"low": -high, "high": -low}
    return _told(sides, row)


def _negatives(rows: pd.DataFrame) -> Iterator[tuple[str, bool, bool]]:
    negative, status = rows["kind"].eq("negative"), rows["status"].eq("ok")
    yield from zip(rows["probe"], negative, status, strict=True)


def _silent(row: tuple[str, bool, bool], answers: Any) -> float:
    name, negative, answered = row
    if not negative or name not in answers:
        return math.nan
    return float(answered and not answers[name])


def _times(sides: Sides, confidence: float, times: bool) -> Iterator[dict[str, Any]]:
    """Ratio of the times of a probe, and the p95 of both sides; NA where not comparable."""
    yield _typical("latency_ms", sides, confidence, times)
    before, after = _both(sides, "latency_ms", times)
    p95 = _row("latency_p95_ms", before, after, lambda v: quantile_hf8(v, 0.95), lower=True)
    if p95["n"]:
        p95["delta"] = p95["current"] / p95["baseline"]
    yield p95
    for name in BESIDE:
        yield _typical(name, sides, confidence, times)


def _typical(name: str, sides: Sides, confidence: float, times: bool) -> dict[str, Any]:
    """Geometric means of a time, and the ratio of the two of each probe."""
    before, after = _both(sides, name, times)
    ratio = paired_log_ratio(before, after, confidence)
    return _row(name, before, after, _geometric, lower=True) | _ratio(ratio)


def _geometric(values: Floats) -> float:
    return math.exp(np.log(values).mean())


def _both(sides: Sides, name: str, times: bool) -> tuple[Floats, Floats]:
    """A time of the common probes of which both sides tell it."""
    pairs = ((sides.baseline, sides.before), (sides.current, sides.after))
    before, after = (_medians(side.run, rows, name) for side, rows in pairs)
    known = (before > 0.0) & (after > 0.0) & times
    return before[known], after[known]


def _ratio(found: LogRatio) -> dict[str, float]:
    return {"delta": found.ratio, "low": found.low, "high": found.high} if found.n else {}


def _medians(run: Run | None, rows: pd.DataFrame, name: str) -> Floats:
    """Time of each common probe: the median of its repeats, where all of them are known."""
    if run is None:
        return _floats(rows[name]) if name in rows else np.full(len(rows), np.nan)
    answered = run.calls[run.calls["status"].eq("ok")]
    medians = answered.groupby("probe")[name].median()
    return _floats(medians.reindex(rows["probe"]))
