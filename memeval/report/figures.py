"""Numbers as they are written, and the words for each metric."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

from memeval.text import count as count

UNDEFINED = "n/a"
HEADLINE = ("recall_all", "mrr", "distinct", "staleness", "leaks", "abstention", "latency_p95_ms")
COUNTS = frozenset({"leaks", "contract", "errors", "not_stored", "not_visible", "not_supported"})
# Fewest searches whose order statistics bound the quantile on both sides with 95 %.
ENOUGH_SEARCHES = MappingProxyType(
    {"latency_p50_ms": 6, "latency_p95_ms": 72, "latency_p99_ms": 368}
    | dict.fromkeys(("cold_p50_ms", "write_p50_ms", "visible_p50_ms"), 6)
)
# Means over probes: an interval needs enough distinct values of them.
PROBE_MEANS = frozenset(
    {"recall_fraction", "mrr", "ndcg", "precision", "distinct", "staleness", "context_tokens"}
)
TITLES: Mapping[str, str] = MappingProxyType(
    {
        "recall_all": "Recall",
        "mrr": "Rank (MRR)",
        "distinct": "Distinct",
        "staleness": "Staleness",
        "leaks": "Leaks",
        "abstention": "Abstention",
        "latency_p95_ms": "Time (p95)",
    }
)
MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "recall_all": "probes with every expected record in the top k",
        "recall_any": "probes with some expected record in the top k",
        "recall_fraction": "share of expected records in the top k",
        "mrr": "mean of 1 / rank of the first expected record",
        "ndcg": "expected records, weighed by their rank",
        "precision": "share of the k places with an expected record",
        "distinct": "share of the top k that says something new",
        "staleness": "share of hits that are outdated",
        "leaks": "records that must never come back and did",
        "leak_rate": "probes that leaked, of those that could",
        "contract": "checks of the store's contract that broke",
        "errors": "searches that failed or timed out",
        "abstention": "negative probes that got an empty answer",
        "abstention_auroc": "how well the top score tells negatives apart",
        "zero_result_rate": "probes with an empty answer",
        "latency_p50_ms": "half of the searches took at most this, in ms",
        "latency_p95_ms": "95 % of the searches took at most this, in ms",
        "latency_p99_ms": "99 % of the searches took at most this, in ms",
        "cold_p50_ms": "half of the first searches, for a fixed word, took at most this, in ms",
        "write_p50_ms": "half of the histories were written in at most this, in ms",
        "visible_p50_ms": "half of the histories could be found within this, in ms",
        "context_tokens": "mean words and marks in the top k",
        "llm_calls": "mean model calls of a search",
        "flaky_rate": "probes whose repeats disagree",
        "not_stored": "probes whose records the store rejected",
        "not_visible": "probes whose records could not be found in time",
        "not_supported": "probes that the store cannot take",
    }
)
COUNTED: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        ("recall_all", "recall_any", "recall_fraction", "mrr", "ndcg", "precision"),
        "positive probes",
    )
    | {
        "abstention": "negative probes",
        "staleness": "hits",
        "leaks": "chances",
        "latency_p50_ms": "searches",
        "latency_p95_ms": "searches",
        "latency_p99_ms": "searches",
        "cold_p50_ms": "searches",
        "write_p50_ms": "histories",
        "visible_p50_ms": "histories",
    }
)


def is_missing(value: Any) -> bool:
    """Whether a cell is NA, NaN or None."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def figure(value: Any, metric: str = "") -> str:
    """Write a number: three decimals, counts whole, milliseconds to three digits.

    Parameters
    ----------
    value : float
        What to write; NA and NaN give ``n/a``.
    metric : str
        Name of the metric, which says what kind of number it is.

    Examples
    --------
    >>> figure(0.82222), figure(3.0, "leaks"), figure(412.7, "latency_p95_ms"), figure(float("nan"))
    ('0.822', '3', '413', 'n/a')
    """
    if is_missing(value):
        return UNDEFINED
    if metric in COUNTS:
        return f"{value:.0f}"
    if metric.endswith("_ms") and abs(value) >= 1:
        return f"{value:.{max(0, 3 - len(str(abs(int(value)))))}f}"
    return f"{value:.3f}"
