"""The shapes of the specification: its Summary, its list of ProbeResult, its `evaluate`.

Whoever knows the specification alone finds here what it names. The numbers are those of
`memeval.metrics`; where the specification's sketch counts otherwise, the docstring says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from memeval.frames import HITS, QRELS, conform, names
from memeval.metrics import score
from memeval.probe import Probe
from memeval.record import Hit, Record
from memeval.showing import Shown
from memeval.stats import quantile_hf8
from memeval.suite import Suite
from memeval.text import contains_tokens


@dataclass(frozen=True, slots=True, repr=False)
class Summary(Shown):
    """The suite's numbers, by the names of the specification.

    Attributes
    ----------
    probes : int
        Probes asked.
    recall_at_k, mrr, distinct_at_k, staleness : float
        NaN where nothing was measured; the sketch says 0 or 1 there.
    leaks : int
        Leaking records, anywhere in the answers.
    negative_correct : float
        Share of negative probes that correctly returned nothing.
    p95_ms : float
        95th percentile of the search time, Hyndman-Fan 8.
    """

    probes: int
    recall_at_k: float
    mrr: float
    distinct_at_k: float
    staleness: float
    leaks: int
    negative_correct: float
    p95_ms: float

    @property
    def passed(self) -> bool:
        """Whether the leak gate held; `memeval.runs.Run.passed` asks more than this."""
        return self.leaks == 0


@dataclass(frozen=True, slots=True, repr=False)
class ProbeResult(Shown):
    """One probe's outcome, by the names of the specification.

    Attributes
    ----------
    probe : Probe
        What was asked.
    returned : list of str
        Ids in the top k, in order; the store's own where the record is unknown.
    hit_all : bool
        Every expected record in the top k; on a negative probe, nothing returned.
    first_rank : int or None
        Rank of the first expected record in the top k.
    leaked : list of str
        Leaking ids anywhere in the answer, not only in the top k.
    stale : list of str
        Stale ids in the top k.
    distinct : float
        Information units over places in the top k; NaN where nothing was returned.
    latency_ms : float
        Time of the search, in milliseconds.
    """

    probe: Probe
    returned: list[str]
    hit_all: bool
    first_rank: int | None
    leaked: list[str]
    stale: list[str]
    distinct: float
    latency_ms: float


def evaluate(
    probe: Probe,
    hits: Sequence[Any],
    *,
    is_stale: Callable[[Any], bool] = lambda record: False,
    latency_ms: float = 0.0,
) -> ProbeResult:
    """Grade one answer to one probe.

    Parameters
    ----------
    probe : Probe
        What was asked.
    hits : sequence
        The answer, best first: hits in any form that `Hit.of` takes.
    is_stale : callable
        Marks records of the answer as stale, beside what the probe says.
    latency_ms : float
        Time of the search, in milliseconds.

    Returns
    -------
    ProbeResult
        Graded by the same definitions as a whole run.

    Examples
    --------
    >>> from memeval import Probe, Record
    >>> probe = Probe("lunch", "lunch?", [Record("r1", "Noodle bar.")], ["r1"])
    >>> evaluate(probe, [("r9", 0.8), ("r1", 0.5)]).first_rank
    2
    """
    graded = [Hit.of(found) for found in hits]
    records = {record.id: record for record in probe.records}
    seen = pd.DataFrame(
        [_row(probe, rank, hit, records) for rank, hit in enumerate(graded, 1)],
        columns=names(HITS),
    )
    outdated = [
        {"probe": probe.name, "record_id": hit.id, "label": "stale", "reason": "listed"}
        for raw, hit in zip(hits, graded, strict=True)
        if hit.id is not None and is_stale(getattr(raw, "record", records.get(hit.id, raw)))
    ]
    known = conform(pd.DataFrame(outdated, columns=names(QRELS)), QRELS)
    qrels = pd.concat([Suite.of([probe]).qrels(), known], ignore_index=True)
    qrels = conform(qrels.drop_duplicates(["record_id", "label"]), QRELS)
    calls = pd.DataFrame({"probe": [probe.name], "k": [probe.k], "latency_ms": [latency_ms]})
    results = score(seen, qrels, calls)
    return spec_results(results, seen, qrels, [probe])[0]


def summarize(results: Sequence[ProbeResult]) -> Summary:
    """Sum up graded probes.

    Parameters
    ----------
    results : sequence of ProbeResult
        From `evaluate`, or from unpacking a run.

    Returns
    -------
    Summary
        As `memeval.summary.summarize`, of which this is the short form: NaN where nothing was
        measured, and staleness over the positive probes alone.

    Examples
    --------
    >>> summarize([]).probes
    0
    """
    positive = [r for r in results if r.probe.is_positive]
    answered = [r.distinct for r in results if r.returned]
    places = sum(len(r.returned) for r in positive)
    return Summary(
        probes=len(results),
        recall_at_k=_mean([float(r.hit_all) for r in positive]),
        mrr=_mean([1.0 / r.first_rank if r.first_rank else 0.0 for r in positive]),
        distinct_at_k=_mean(answered),
        staleness=sum(len(r.stale) for r in positive) / places if places else math.nan,
        leaks=sum(len(r.leaked) for r in results),
        negative_correct=_mean([float(r.hit_all) for r in results if r.probe.is_negative]),
        p95_ms=quantile_hf8([r.latency_ms for r in results], 0.95),
    )


def spec_summary(results: pd.DataFrame, summary: pd.DataFrame) -> Summary:
    """The specification's Summary of a scored run.

    Parameters
    ----------
    results, summary : pandas.DataFrame
        As in `memeval.frames`.
    """
    value = summary.set_index("metric")["value"]
    leaks = value["leaks"]
    return Summary(
        probes=len(results),
        recall_at_k=float(value["recall_all"]),
        mrr=float(value["mrr"]),
        distinct_at_k=float(value["distinct"]),
        staleness=float(value["staleness"]),
        leaks=0 if math.isnan(leaks) else int(leaks),
        negative_correct=float(value["abstention"]),
        p95_ms=float(value["latency_p95_ms"]),
    )


def spec_results(
    results: pd.DataFrame, hits: pd.DataFrame, qrels: pd.DataFrame, probes: Iterable[Probe]
) -> list[ProbeResult]:
    """The specification's list of ProbeResult of a scored run, in the order of the probes.

    Parameters
    ----------
    results, hits, qrels : pandas.DataFrame
        As in `memeval.frames`; of several repeats the first is shown.
    probes : iterable of Probe
        What was asked.
    """
    answers = _answers(hits)
    scored = {row.probe: row for row in results.itertuples()}
    labels = _labels(qrels)
    return [
        _result(probe, scored[probe.name], answers.get(probe.name, []), labels)
        for probe in probes
        if probe.name in scored
    ]


class _Place(NamedTuple):
    """One hit, with the name that it is shown by; secret where it holds a canary."""

    rank: int
    record_id: Any
    name: Any
    secret: bool


def _answers(hits: pd.DataFrame) -> dict[str, list[_Place]]:
    """The first answer to each probe, best hit first."""
    first = hits[hits["repeat"] == 0].sort_values("rank")
    named = first["record_id"].fillna(first["store_id"]).fillna(first["text"])
    columns: Any = (first["probe"], first["rank"], first["record_id"], named)
    found: dict[str, list[_Place]] = {}
    for probe, rank, record_id, name, secret in zip(*columns, first["canary"].notna(), strict=True):
        found.setdefault(probe, []).append(_Place(rank, record_id, name, secret))
    return found


def _labels(qrels: pd.DataFrame) -> dict[tuple[str, str], set[str]]:
    """Ids of each probe by label."""
    found: dict[tuple[str, str], set[str]] = {}
    for probe, record_id, label in zip(
        qrels["probe"], qrels["record_id"], qrels["label"], strict=True
    ):
        found.setdefault((probe, str(label)), set()).add(record_id)
    return found


def _result(
    probe: Probe,
    row: Any,
    answer: Sequence[_Place],
    labels: dict[tuple[str, str], set[str]],
) -> ProbeResult:
    forbidden = labels.get((probe.name, "forbidden"), set())
    stale = labels.get((probe.name, "stale"), set())
    top = [hit for hit in answer if hit.rank <= probe.k]
    leaked = [hit.name for hit in answer if hit.secret or hit.record_id in forbidden]
    hit_all = row.abstained if probe.is_negative else row.recall_all
    return ProbeResult(
        probe=probe,
        returned=[hit.name for hit in top],
        hit_all=False if pd.isna(hit_all) else bool(hit_all),
        first_rank=None if pd.isna(row.first_rank) else int(row.first_rank),
        leaked=list(dict.fromkeys(leaked)),
        stale=[hit.name for hit in top if hit.record_id in stale],
        distinct=float(row.distinct),
        latency_ms=float(row.latency_ms),
    )


def _row(probe: Probe, rank: int, hit: Hit, records: dict[str, Record]) -> dict[str, Any]:
    """One row of hits; here an id is taken at its word."""
    record = records.get(hit.id or "")
    text = hit.text or (record.text if record else "")
    return {
        "probe": probe.name,
        "repeat": 0,
        "rank": rank,
        "record_id": hit.id,
        "store_id": hit.id,
        "resolved_by": "own" if record else "unknown",
        "score": hit.score,
        "text": text,
        "unit": record.unit if record else None,
        "canary": next((c for c in probe.canary if contains_tokens(text, c)), None),
    }


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
