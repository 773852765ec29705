"""The answer of an evaluation call: the figures of memeval under the names of the call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from memeval.environment import tool_version
from memeval.evaluating.asking import Asked
from memeval.evaluating.request import Case, Request
from memeval.frames import CALLS, HITS, METRIC_VERSION, QRELS, conform, empty
from memeval.hashes import digest
from memeval.metrics import score
from memeval.record import Hit
from memeval.scoring.measured import UNDEFINED, Measured, share
from memeval.summary import summarize
from memeval.words import clean

__all__ = ["NAMES", "answer"]

# Names of the call, and of the metrics of memeval that they are.
NAMES: Mapping[str, str] = {
    "hitRate": "recall_any",
    "recallAtK": "recall_fraction",
    "precisionAtK": "precision",
    "mrr": "mrr",
    "ndcgAtK": "ndcg",
    "staleRate": "staleness",
    "zeroResultRate": "zero_result_rate",
    "abstentionAccuracy": "abstention",
    "meanContextTokens": "context_tokens",
    "llmCalls": "llm_calls",
}
LATENCIES = {f"p{n}": f"latency_p{n}_ms" for n in (50, 95, 99)}
META_IDS = ("id", "record_id", "memory_id")
LABELS = {"expected": "expected", "forbidden": "forbidden", "stale": "stale"}


def answer(
    request: Request, asked: Sequence[Asked], *, mode: str, embedding: str | None
) -> dict[str, Any]:
    """Answer a call.

    Parameters
    ----------
    request : Request
        What was asked.
    asked : sequence of Asked
        What each case came to.
    mode : str
        How the store was asked.
    embedding : str or None
        Which embeddings the store searches with, as far as it tells.

    Returns
    -------
    dict
        Plain values; what is undefined is None.
    """
    pairs = list(zip(request.cases, asked, strict=True))
    ids = [[_id(hit, case) for hit in one.hits] for case, one in pairs]
    hits, calls, qrels = _hits(asked, ids), _calls(request, asked), _qrels(request.cases)
    results = score(hits, qrels, calls)
    summary = summarize(results, hits, qrels, calls).set_index("metric")
    measured = {name: _row(summary, metric) for name, metric in NAMES.items()}
    measured["forbiddenRate"] = _forbidden_rate(request.cases, results)
    latency = {name: _row(summary, metric) for name, metric in LATENCIES.items()}
    surfaced = list(_surfaced(request.cases, ids))
    n_errors = sum(one.status != "ok" for one in asked)
    return {
        "passed": not surfaced and not n_errors,
        "reason": _reason(len({one["case"] for one in surfaced}), n_errors, len(asked)),
        "datasetVersion": request.dataset,
        "k": request.k,
        "cases": len(asked),
        "expectingCases": sum(bool(case.expected) for case in request.cases),
        "forbiddingCases": sum(bool(case.forbidden) for case in request.cases),
        "errors": n_errors,
        **{name: _number(one.value) for name, one in measured.items()},
        "forbiddenSurfaced": surfaced,
        "latencyMs": {name: _number(one.value) for name, one in latency.items()},
        "intervals": {name: _interval(one) for name, one in measured.items()}
        | {"latencyMs": {name: _interval(one) for name, one in latency.items()}},
        "manifest": _manifest(request, mode, embedding),
        "perCase": [
            _case(n, case, one, found, row)
            for n, (case, one, found, row) in enumerate(
                zip(request.cases, asked, ids, results.to_dict("records"), strict=True)
            )
        ],
    }


def _id(hit: Hit, case: Case) -> str | None:
    """Which id a hit stands for: its own, else one in its metadata that the case speaks of."""
    known = {*case.expected, *case.forbidden, *case.stale}
    own = None if hit.id is None else clean(hit.id)
    if own in known:
        return own
    found = [hit.meta[key] for key in META_IDS if isinstance(hit.meta.get(key), str | int)]
    told = [clean(str(one)) for one in found if not isinstance(one, bool)]
    return next((one for one in told if one in known), told[0] if own is None and told else own)


def _name(n: int) -> str:
    return f"case-{n}"


def _hits(asked: Sequence[Asked], ids: Sequence[Sequence[str | None]]) -> pd.DataFrame:
    rows = [
        {
            "probe": _name(n),
            "repeat": 0,
            "rank": rank,
            "record_id": name,
            "store_id": hit.id,
            "resolved_by": "unknown" if name is None else "own" if name == hit.id else "metadata",
            "score": hit.score,
            "text": hit.text or None,
        }
        for n, one in enumerate(asked)
        for rank, (hit, name) in enumerate(zip(one.hits, ids[n], strict=True), start=1)
    ]
    return conform(pd.DataFrame(rows), HITS) if rows else empty(HITS)


def _calls(request: Request, asked: Sequence[Asked]) -> pd.DataFrame:
    rows = [
        {
            "probe": _name(n),
            "repeat": 0,
            "k": request.k,
            "status": one.status,
            "error": one.error,
            "latency_ms": one.latency_ms,
            "llm_calls": one.llm_calls,
        }
        for n, one in enumerate(asked)
    ]
    return conform(pd.DataFrame(rows), CALLS)


def _qrels(cases: Sequence[Case]) -> pd.DataFrame:
    rows = [
        {"probe": _name(n), "record_id": one, "label": label, "reason": "listed"}
        for n, case in enumerate(cases)
        for label in LABELS
        for one in getattr(case, label)
    ]
    frame = pd.DataFrame(rows, columns=["probe", "record_id", "label", "reason"])
    frame["group"] = (
        frame.groupby(["probe", "label"]).cumcount().where(frame["label"] == "expected")
    )
    return conform(frame.assign(merged=False), QRELS)


def _row(summary: pd.DataFrame, metric: str) -> Measured:
    row: dict[Any, Any] = summary.loc[metric].to_dict()
    return Measured(float(row["value"]), int(row["n"]), float(row["low"]), float(row["high"]))


def _forbidden_rate(cases: Sequence[Case], results: pd.DataFrame) -> Measured:
    """Share of cases with a leak; undefined where no case forbids anything."""
    if not any(case.forbidden for case in cases):
        return UNDEFINED
    return share(results["n_leaked"].gt(0))


def _surfaced(cases: Sequence[Case], ids: Sequence[Sequence[str | None]]) -> list[dict[str, Any]]:
    """Every forbidden record anywhere in an answer, with its rank."""
    return [
        {"case": n, "id": name, "rank": rank}
        for n, (case, found) in enumerate(zip(cases, ids, strict=True))
        for rank, name in enumerate(found, start=1)
        if name in case.forbidden
    ]


def _reason(n_leaking: int, n_errors: int, n: int) -> str:
    if n_leaking:
        return f"a forbidden memory came back in {n_leaking} of {n} cases"
    if n_errors:
        return f"the search failed in {n_errors} of {n} cases"
    return "no forbidden memory came back, and every search was answered"


def _manifest(request: Request, mode: str, embedding: str | None) -> dict[str, Any]:
    """What must be the same for two answers to be compared."""
    cases = [[c.query, *(sorted(getattr(c, label)) for label in LABELS)] for c in request.cases]
    return {
        "dataset": f"{request.dataset or 'unnamed'} {digest(cases)}",
        "k": request.k,
        "scoreVersion": METRIC_VERSION,
        "mode": mode,
        "embeddingGeneration": embedding,
        "codeVersion": f"memeval {tool_version()}",
    }


def _case(
    n: int, case: Case, one: Asked, ids: Sequence[str | None], row: Mapping[Any, Any]
) -> dict[str, Any]:
    """Everything about one query."""
    top = ids[: int(row["k"])] if one.status == "ok" else []
    return {
        "case": n,
        "query": case.query,
        "status": one.status,
        "error": one.error,
        "passed": _plain(row["passed"]),
        "returned": [
            {"id": name, "rank": rank, "score": None if hit.score is None else _number(hit.score)}
            for rank, (name, hit) in enumerate(zip(ids, one.hits, strict=True), start=1)
        ],
        "expected": [{"id": name, "rank": _rank(name, top)} for name in case.expected],
        "forbidden": [{"id": name, "rank": _rank(name, ids)} for name in case.forbidden],
        "stale": [{"id": name, "rank": _rank(name, top)} for name in case.stale],
        "hit": _plain(row["recall_any"]),
        "recallAtK": _plain(row["recall_fraction"]),
        "precisionAtK": _plain(row["precision"]),
        "reciprocalRank": _plain(row["rr"]),
        "ndcgAtK": _plain(row["ndcg"]),
        "abstained": _plain(row["abstained"]),
        "contextTokens": _plain(row["context_tokens"]),
        "latencyMs": _plain(row["latency_ms"]),
        "llmCalls": one.llm_calls,
    }


def _rank(name: str, ids: Sequence[str | None]) -> int | None:
    return ids.index(name) + 1 if name in ids else None


def _interval(one: Measured) -> dict[str, Any]:
    return {"low": _number(one.low), "high": _number(one.high), "n": one.n}


def _plain(value: Any) -> Any:
    """A value as JSON has it: no NA, no numpy."""
    if value is None or pd.isna(value):
        return None
    if isinstance(value, bool) or pd.api.types.is_bool(value):
        return bool(value)
    return _number(float(value))


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
