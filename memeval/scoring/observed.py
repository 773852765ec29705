"""What the metrics of a suite are taken over: the observations of each, and their figures.

An observation is a number, a truth or a pair of one probe. The figures hang on which observations
there are and how many of each, never on their order or on whose they are: so they may come from
one table, or from the tallies of many (`memeval.scoring.tallies`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd

from memeval import stats
from memeval.frames import CALLS, HITS, QRELS, RESULTS, conform
from memeval.scoring.measured import UNDEFINED, Measured, mean, mean_of_probes, pooled, share, total
from memeval.textcolumns import objects

__all__ = ["Observations", "figures", "observations"]

Observations = dict[str, pd.Series]
_NONE = pd.Series([], dtype="float64")
_MEANS = {
    "recall_fraction": "recall_fraction",
    "mrr": "rr",
    "ndcg": "ndcg",
    "precision": "precision",
}
_QUANTILES = {
    "latency_p50_ms": ("latency_ms", 0.5),
    "latency_p95_ms": ("latency_ms", 0.95),
    "latency_p99_ms": ("latency_ms", 0.99),
    "cold_p50_ms": ("cold_ms", 0.5),
    "write_p50_ms": ("write_ms", 0.5),
    "visible_p50_ms": ("visible_ms", 0.5),
}


def observations(
    results: pd.DataFrame,
    hits: pd.DataFrame | None = None,
    qrels: pd.DataFrame | None = None,
    calls: pd.DataFrame | None = None,
    score_order: Literal["high", "low"] | None = "high",
) -> Observations:
    """Observations of all metrics.

    Parameters
    ----------
    results, hits, qrels, calls, score_order
        As for `memeval.summary.summarize`.

    Returns
    -------
    dict of str to pandas.Series
        A series for each of what metrics are taken over, NA where not measured; none of what
        needs a table that was not given. Pairs are complex numbers: part + whole * 1j.

    Raises
    ------
    FrameError
        If a table does not fit its schema.

    Examples
    --------
    >>> from memeval.rankings import score_rankings
    >>> made = observations(score_rankings([["a"], ["x"]], [["a"], ["b"]]))
    >>> made["rr"].tolist()
    [1.0, 0.0]
    """
    results = conform(results, RESULTS)
    refused = results["status"] == "not_supported"
    asked = results[~refused]
    calls = None if calls is None else _asked(conform(calls, CALLS), asked)
    qrels = None if qrels is None else _asked(conform(qrels, QRELS), asked)
    return {
        **_retrieval(asked),
        **_leaks(asked, qrels),
        **_scores(asked, hits, calls, score_order),
        **_times(asked, calls),
        **_context(asked),
        "error": (asked if calls is None else calls)["status"].isin(["failed", "timeout"]),
        "empty": (asked["status"] == "ok") & (asked["n_returned"] == 0),
        "flaky": _flaky(asked, calls),
        "not_stored": asked["status"] == "not_stored",
        "not_visible": asked["status"] == "not_visible",
        "not_supported": refused,
    }


def figures(observed: Mapping[str, pd.Series]) -> dict[str, Measured]:
    """What observations come to.

    Parameters
    ----------
    observed : mapping of str to pandas.Series
        As from `observations`, in any order.

    Returns
    -------
    dict of str to Measured
        By the name of the metric; what they are stands in `memeval.summary.summarize`.

    Examples
    --------
    >>> from memeval.rankings import score_rankings
    >>> figures(observations(score_rankings([["a"], ["x"]], [["a"], ["b"]])))["mrr"].value
    0.5
    """
    stale = observed["stale"].to_numpy(np.complex128)
    return {
        "recall_all": share(observed["recall_all"]),
        "recall_any": share(observed["recall_any"]),
        **{name: mean_of_probes(observed[column]) for name, column in _MEANS.items()},
        "staleness": pooled(pd.Series(stale.real), pd.Series(stale.imag)),
        "distinct": mean_of_probes(observed["distinct"]),
        **_leak_figures(observed),
        "contract": total(observed["n_contract"]),
        "errors": total(observed["error"]),
        "abstention": share(observed["abstained"]),
        "abstention_auroc": _auroc(observed),
        "zero_result_rate": share(observed["empty"]),
        **{name: _quantile(observed.get(of, _NONE), q) for name, (of, q) in _QUANTILES.items()},
        "context_tokens": _tokens(observed),
        "llm_calls": mean(observed.get("llm_calls", _NONE)),
        "flaky_rate": share(observed["flaky"]),
        "not_stored": total(observed["not_stored"]),
        "not_visible": total(observed["not_visible"]),
        "not_supported": Measured(
            float(observed["not_supported"].sum()), len(observed["not_supported"])
        ),
    }


def _asked(frame: pd.DataFrame, asked: pd.DataFrame) -> pd.DataFrame:
    return frame[_is_of(frame["probe"], asked["probe"])]


def _is_of(names: pd.Series, probes: pd.Series) -> pd.Series:
    """Whether each name is that of a probe; pandas would make a list of texts kept by pyarrow."""
    return pd.Series(objects(names), index=names.index, dtype="object").isin(objects(probes))


def _retrieval(asked: pd.DataFrame) -> Observations:
    positive = asked[asked["kind"] == "positive"]
    in_top = positive["n_returned"].clip(upper=positive["k"]).where(positive["status"] == "ok", 0)
    names = ["recall_all", "recall_any", "recall_fraction", "rr", "ndcg", "precision"]
    return {
        **{name: positive[name] for name in names},
        "stale": positive["n_stale"] + in_top * 1j,
        "distinct": asked["distinct"],
        "n_contract": asked["n_contract"],
        "abstained": asked.loc[asked["kind"] == "negative", "abstained"],
    }


def _leaks(asked: pd.DataFrame, qrels: pd.DataFrame | None) -> Observations:
    if qrels is None:
        return {"n_leaked": asked["n_leaked"]}
    leaked = asked["n_leaked"] > 0
    # A search that failed had no chance to leak.
    answered = asked.loc[leaked | asked["status"].eq("ok"), "probe"]
    forbidden = qrels[qrels["label"].eq("forbidden") & _is_of(qrels["probe"], answered)]
    foreign = forbidden["reason"] == "foreign_scope"
    named = forbidden[~foreign].drop_duplicates(["probe", "record_id"])
    one_each = forbidden.loc[foreign, "probe"].drop_duplicates()
    return {
        "n_leaked": asked["n_leaked"],
        "chances": pd.concat([named["probe"], one_each]).value_counts(),
        "leaked": leaked[leaked | _is_of(asked["probe"], forbidden["probe"])],
    }


def _leak_figures(observed: Mapping[str, pd.Series]) -> dict[str, Measured]:
    leaks = total(observed["n_leaked"]).value
    if "leaked" not in observed:
        return {"leaks": Measured(leaks, 0), "leak_rate": UNDEFINED}
    rate = share(observed["leaked"])
    if rate.n and not rate.value:
        rate = Measured(0.0, rate.n, 0.0, stats.zero_event_bound(rate.n))
    return {"leaks": Measured(leaks, int(observed["chances"].sum())), "leak_rate": rate}


def _scores(
    asked: pd.DataFrame,
    hits: pd.DataFrame | None,
    calls: pd.DataFrame | None,
    score_order: Literal["high", "low"] | None,
) -> Observations:
    """Score of the first hit of each answer, larger is better; -inf where it was empty."""
    if hits is None or score_order is None:
        return {}
    answered = asked[asked["status"] == "ok"]
    first = _first_hits(conform(hits, HITS), calls)
    sign = 1.0 if score_order == "high" else -1.0
    found = first.set_index("probe")["score"].reindex(answered["probe"])
    score = pd.Series(found.to_numpy(np.float64) * sign, index=answered.index)
    score = score.where(answered["n_returned"] > 0, -math.inf)
    positive = answered["kind"] == "positive"
    return {
        "score_positive": score[positive],
        "score_negative": score[~positive],
        "unscored": score.isna(),
    }


def _first_hits(hits: pd.DataFrame, calls: pd.DataFrame | None) -> pd.DataFrame:
    """Hit at the first rank of the first repeat of each probe; repeat 0 without calls."""
    repeat = 0 if calls is None else hits["probe"].map(calls.groupby("probe")["repeat"].min())
    hits = hits[hits["repeat"] == repeat].sort_values("rank")
    return hits.drop_duplicates("probe")


def _auroc(observed: Mapping[str, pd.Series]) -> Measured:
    if "unscored" not in observed or observed["unscored"].any():
        return UNDEFINED
    positive, negative = observed["score_positive"], observed["score_negative"]
    if positive.empty or negative.empty:
        return UNDEFINED
    return Measured(stats.auroc(positive, negative), len(positive) + len(negative))


def _times(asked: pd.DataFrame, calls: pd.DataFrame | None) -> Observations:
    """The scored search, and what is no part of it, each apart."""
    if calls is None:
        return {"latency_ms": asked["latency_ms"]}
    beside = ("cold_ms", "write_ms", "visible_ms", "llm_calls")
    return {"latency_ms": asked["latency_ms"], **{name: calls[name] for name in beside}}


def _quantile(times: pd.Series, q: float) -> Measured:
    known = times.dropna().to_numpy(np.float64)
    return Measured(stats.quantile_hf8(known, q), len(known), *stats.quantile_interval(known, q))


def _context(asked: pd.DataFrame) -> Observations:
    filled = asked.loc[(asked["status"] == "ok") & (asked["n_returned"] > 0), "context_tokens"]
    return {"context_tokens": asked["context_tokens"], "read": filled.notna()}


def _tokens(observed: Mapping[str, pd.Series]) -> Measured:
    """Mean tokens; undefined where no text is known, since empty answers alone would make it 0."""
    read = observed["read"]
    return UNDEFINED if len(read) and not read.any() else mean_of_probes(observed["context_tokens"])


def _flaky(asked: pd.DataFrame, calls: pd.DataFrame | None) -> pd.Series:
    if calls is None:
        return asked["flaky"]
    repeats = asked["probe"].map(calls["probe"].value_counts())
    return asked.loc[repeats > 1, "flaky"]
