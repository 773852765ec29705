"""What a suite comes to: a row per metric, with how many it was taken over and how sure it is."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from numbers import Real
from types import MappingProxyType
from typing import Literal

import pandas as pd

from memeval.errors import FrameError
from memeval.frames import SUMMARY, conform
from memeval.scoring.measured import Measured
from memeval.scoring.observed import figures, observations

__all__ = ["GATES", "METRICS", "TARGETS", "as_frame", "refuse_unknown", "summarize"]

METRICS: Mapping[str, Literal["higher", "lower"]] = MappingProxyType(
    {
        "recall_all": "higher",
        "recall_any": "higher",
        "recall_fraction": "higher",
        "mrr": "higher",
        "ndcg": "higher",
        "precision": "higher",
        "distinct": "higher",
        "staleness": "lower",
        "leaks": "lower",
        "leak_rate": "lower",
        "contract": "lower",
        "errors": "lower",
        "abstention": "higher",
        "abstention_auroc": "higher",
        "zero_result_rate": "lower",
        "latency_p50_ms": "lower",
        "latency_p95_ms": "lower",
        "latency_p99_ms": "lower",
        "cold_p50_ms": "lower",
        "write_p50_ms": "lower",
        "visible_p50_ms": "lower",
        "context_tokens": "lower",
        "llm_calls": "lower",
        "flaky_rate": "lower",
        "not_stored": "lower",
        "not_visible": "lower",
        "not_supported": "lower",
    }
)
GATES = frozenset({"leaks", "contract"})
TARGETS: Mapping[str, float] = MappingProxyType(
    {"recall_all": 0.85, "mrr": 0.7, "distinct": 0.8, "staleness": 0.05, "leaks": 0.0}
)


def summarize(
    results: pd.DataFrame,
    hits: pd.DataFrame | None = None,
    qrels: pd.DataFrame | None = None,
    calls: pd.DataFrame | None = None,
    *,
    targets: Mapping[str, float] = TARGETS,
    floors: Mapping[str, float] | None = None,
    score_order: Literal["high", "low"] | None = "high",
) -> pd.DataFrame:
    """Sum up the results of a suite.

    Parameters
    ----------
    results : pandas.DataFrame
        A row per probe, from `memeval.metrics.score`.
    hits, qrels, calls : pandas.DataFrame, optional
        The tables that were scored. Without `hits` ``abstention_auroc`` is NA; without `qrels`
        the chances of a leak are not known; without `calls` ``llm_calls`` is NA, and errors and
        flaky probes are taken from `results`.
    targets : mapping of str to float
        What to aim for, shown beside the values and never gating.
    floors : mapping of str to float, optional
        Bounds that the value must keep: at least, or at most where lower is better.
    score_order : {'high', 'low'} or None
        Which scores are better, for ``abstention_auroc``; None where scores say nothing.

    Returns
    -------
    pandas.DataFrame
        A row per metric, always all of them, in the order of `METRICS`; columns as in
        `memeval.frames.SUMMARY`. A metric over nothing is NA with ``n`` 0. ``passed`` is False
        where a gate or a floor is broken, NA where there is neither or no value.

    Raises
    ------
    FrameError
        If a table does not fit its schema, or `targets` or `floors` name an unknown metric.

    Notes
    -----
    Probes that are not supported count in ``not_supported`` alone. The other failures stay in
    every denominator.

    - ``recall_*``, ``mrr``, ``ndcg``, ``precision``: means over positive probes.
    - ``distinct``, ``context_tokens``: means over the probes where they are defined; tokens are NA
      where no text came with any hit.
    - ``staleness``: stale hits over hits in the top k of all positive probes, pooled.
    - ``leaks``: sum, a gate; ``n`` counts the chances: records listed as forbidden, deleted or
      with a canary, and one per probe for its foreign scopes; of probes that were answered alone.
    - ``leak_rate``: probes with a leak over answered probes that could leak; without any leak
      the interval is 0 to 1 - 0.05^(1/n).
    - ``contract``: sum of broken checks, a gate. ``errors``: searches that failed or timed out.
    - ``abstention``: share of negative probes. ``abstention_auroc``: how well the score of the
      first hit tells positive from negative probes, an empty answer below any score; NA where an
      answer has hits and its first no score.
    - ``zero_result_rate``: share of all probes whose search was ok and came back empty.
    - ``latency_p*_ms``: Hyndman-Fan 8 over probes; the interval is two order statistics, and NA
      below 6, 72 and 368 probes for the three.
    - ``cold_p50_ms``, ``write_p50_ms``, ``visible_p50_ms``: medians over `calls` of the search for
      a fixed word before the scored one, of writing a history, and of the wait until it could be
      found; NA where nothing was written or waited for.
    - ``flaky_rate``: share of the probes asked more than once whose repeats do not agree.

    - ``not_stored``, ``not_visible``, ``not_supported``: probes with that status.

    Shares of probes have a Wilson interval of 95 %. Means over probes (``recall_fraction``,
    ``mrr``, ``ndcg``, ``precision``, ``distinct``, ``context_tokens``) have a BCa bootstrap
    interval (`memeval.stats.bootstrap.bca_mean`), and ``staleness`` one that takes probes, not
    hits, again (`memeval.stats.bootstrap.bca_ratio`). Neither draws a random number. Below 5
    distinct values of the probes there is none: a bootstrap of so few says more of
    the values than of the store.

    Examples
    --------
    >>> from memeval.rankings import score_rankings
    >>> summary = summarize(score_rankings([["a"], ["x"]], [["a"], ["b"]]), floors={"mrr": 0.6})
    >>> summary[["metric", "value", "n", "floor", "passed"]].iloc[[0, 3]]
           metric  value  n  floor  passed
    0  recall_all    0.5  2    NaN    <NA>
    3         mrr    0.5  2    0.6   False
    """
    floors = floors or {}
    refuse_unknown(targets, "targets")
    refuse_unknown(floors, "floors")
    observed = observations(results, hits, qrels, calls, score_order)
    return as_frame(figures(observed), targets, floors)


def refuse_unknown(bounds: Mapping[str, float], what: str) -> None:
    """Refuse targets or floors of a metric that there is not, and bounds that are no numbers.

    Parameters
    ----------
    bounds : mapping of str to float
        Metric and bound.
    what : str
        What the bounds are, for the message.

    Raises
    ------
    FrameError
        If a name is no metric, where the message names the nearest, or a bound is not finite.
    """
    if not isinstance(bounds, Mapping):
        raise FrameError(f"{what}: found a {type(bounds).__name__}, wanted a mapping of metrics")
    for name, bound in bounds.items():
        if isinstance(bound, bool) or not isinstance(bound, Real) or not abs(bound) < math.inf:
            raise FrameError(f"{what}: {name} is {bound!r:.60}, wanted a finite number")
        if name not in METRICS:
            near = difflib.get_close_matches(str(name), METRICS, 1, 0.0)[0]
            raise FrameError(
                f"{what}: {name!r} is no metric, wanted one of {', '.join(METRICS)}; "
                f"did you mean {near!r}?"
            )


def as_frame(
    measured: Mapping[str, Measured], targets: Mapping[str, float], floors: Mapping[str, float]
) -> pd.DataFrame:
    """Figures as a frame of `memeval.frames.SUMMARY`, judged by gates and floors.

    Parameters
    ----------
    measured : mapping of str to Measured
        A figure of every metric.
    targets, floors : mapping of str to float
        As for `summarize`.
    """
    rows = [
        {
            "metric": name,
            "value": measured[name].value,
            "low": measured[name].low,
            "high": measured[name].high,
            "n": measured[name].n,
            "target": targets.get(name, math.nan),
            "floor": floors.get(name, math.nan),
            "better": better,
            "gate": name in GATES,
            "passed": _passed(name, measured[name].value, floors),
        }
        for name, better in METRICS.items()
    ]
    return conform(pd.DataFrame(rows), SUMMARY)


def _passed(name: str, value: float, floors: Mapping[str, float]) -> bool | None:
    """Tell whether gate and floor are kept; None where there is neither or no value."""
    if math.isnan(value) or not (name in GATES or name in floors):
        return None
    if name in GATES and value > 0:
        return False
    floor = floors.get(name, value)
    return value >= floor if METRICS[name] == "higher" else value <= floor
