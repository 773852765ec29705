"""Judgements and rankings as the nested dicts of pytrec_eval and ranx.

A run is ``{query: {document: score}}``, and judgements are ``{query: {document: relevance}}``.
Neither has texts, so there is nothing to ask a store; `memeval.rankings.score_rankings` scores
what another system returned.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from memeval.checks.kinds import shown
from memeval.datasets.losses import Tally
from memeval.datasets.places import OF_HITS, places
from memeval.datasets.reading import table
from memeval.datasets.trec import Trec
from memeval.errors import Fault, ProbeError
from memeval.runs import Run
from memeval.suite import Suite

Qrels = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Dicts:
    """A suite, or a run, in the dicts of others, and what they have no words for.

    Attributes
    ----------
    qrels : dict
        ``{probe: {record: 1}}``, the expected records.
    run : dict
        ``{probe: {record: score}}``, of a run; empty of a suite.
    left_out : pandas.DataFrame
        ``what`` (str) and ``n`` (int64): what these dicts cannot say, counted.
    """

    qrels: Qrels
    run: Scores
    left_out: pd.DataFrame


def read_dicts(
    run: Mapping[str, Mapping[str, float]],
    qrels: Mapping[str, Mapping[str, int]],
    *,
    level: int = 1,
) -> Trec:
    """Read a run and the judgements that it is to be held against.

    Parameters
    ----------
    run : mapping
        ``{query: {document: score}}``.
    qrels : mapping
        ``{query: {document: relevance}}``.
    level : int
        Least relevance of a document that should be found, from 1.

    Returns
    -------
    Trec
        As of `memeval.datasets.read_trec`, in the same order as pytrec_eval: highest score first,
        as a 32-bit number, and where two are equal the document id that is greater byte by byte.
        A query that was not answered has an empty ranking, which counts as 0 (pytrec_eval leaves it
        out). One that was not judged, or has nothing relevant, is left out.

    Raises
    ------
    ProbeError
        If they are no such mappings, a score is no number, or a relevance is no whole number; with
        every fault.

    Examples
    --------
    >>> from memeval.rankings import score_rankings
    >>> found = read_dicts({"q1": {"d1": 0.5, "d2": 0.9}}, {"q1": {"d1": 2, "d3": 0}})
    >>> found.rankings, found.expected
    ({'q1': ['d2', 'd1']}, {'q1': ['d1']})
    >>> score_rankings(found.rankings, found.expected, k=10)["rr"].tolist()
    [0.5]
    """
    if isinstance(level, bool) or not isinstance(level, Integral) or level < 1:
        raise ProbeError(f"level is {shown(level)}, wanted a whole number from 1; pass one")
    faults = [*_faults("run", run, _is_score, "a number"),
              *_faults("qrels", qrels, _is_relevance, "a whole number")]  # fmt: skip
    if faults:
        raise ProbeError(faults)
    relevant = {
        query: [document for document, grade in judged.items() if grade >= level]
        for query, judged in qrels.items()
    }
    left_out = [(query, "not judged") for query in run if query not in relevant]
    left_out += [(query, "no relevant document") for query, found in relevant.items() if not found]
    kept = {query: found for query, found in relevant.items() if found}
    rankings = {query: _ranked(run.get(query, {})) for query in kept}
    return Trec(rankings, kept, table(left_out, {"query": "str", "reason": "str"}))


def to_dicts(made: Suite | Run) -> Dicts:
    """Give the expected records, and of a run its answers, as pytrec_eval and ranx take them.

    Parameters
    ----------
    made : Suite or Run
        Of a run the first repeat is taken.

    Returns
    -------
    Dicts
        Scores are ``1 / rank``, so that no library sorts what is equal in another way. A hit of no
        record keeps its place as ``no-record-RANK``, and one of a record that stands higher already
        as ``again-RANK``, since what stands below would else move up; both are counted. Negative
        probes have no dict; they and what else there is no word for are counted too.

    Raises
    ------
    ProbeError
        If it is neither.

    Examples
    --------
    >>> import memeval as me
    >>> probe = me.Probe("tea", "lapsang", [me.Record("r1", "My tea is lapsang.")], ["r1"])
    >>> found = to_dicts(me.run([probe], "sqlite"))
    >>> found.qrels, found.run
    ({'tea': {'r1': 1}}, {'tea': {'r1': 1.0}})
    """
    if not isinstance(made, Suite | Run):
        raise ProbeError(f"found a {type(made).__name__}, wanted a Suite or a Run; pass one")
    suite = made.suite if isinstance(made, Run) else made
    lost: Counter[str] = Counter()
    qrels: Qrels = {}
    for probe in suite:
        if not probe.is_positive:
            lost["negative probes"] += 1
            continue
        qrels[probe.name] = {name: 1 for group in probe.groups for name in group}
        lost["groups of which any one will do"] += sum(len(group) > 1 for group in probe.groups)
        lost["forbidden records"] += len(probe.forbid)
        lost["stale records"] += len(probe.stale)
    run = _run_of(made, qrels, lost) if isinstance(made, Run) else {}
    return Dicts(qrels, run, table([(what, n) for what, n in lost.items() if n],
                                   {"what": "str", "n": "int64"}))  # fmt: skip


def _run_of(made: Run, qrels: Qrels, lost: Counter[str]) -> Scores:
    tally = Tally()
    placed = places(made, tally, qrels)
    for what in OF_HITS:
        lost[what] += tally.counted.get(what, (0, ""))[0]
    return {
        name: {document: 1.0 / rank for rank, document in placed.get(name, ())} for name in qrels
    }


def _ranked(answer: Mapping[str, float]) -> list[str]:
    """Documents best first, as pytrec_eval sorts them."""

    def place(document: str) -> tuple[float, bytes]:
        return float(np.float32(answer[document])), document.encode("utf-8", "surrogatepass")

    return sorted(answer, key=place, reverse=True)


def _faults(name: str, told: Any, fits: Any, wanted: str) -> list[Fault]:
    if not isinstance(told, Mapping):
        return [Fault(f"found {shown(told)}", "pass {query: {document: value}}", name)]
    faults = []
    for query, inner in told.items():
        where = f"{name}[{query!r:.40}]"
        if not isinstance(query, str) or not isinstance(inner, Mapping):
            faults.append(Fault(f"found {shown(inner)}", "pass {document: value} by a text", where))
            continue
        for document, value in inner.items():
            if not isinstance(document, str) or not fits(value):
                found = f"{shown(document)} has {shown(value)}"
                faults.append(Fault(found, f"give each document, by a text, {wanted}", where))
    return faults


def _is_score(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(float(value))


def _is_relevance(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
