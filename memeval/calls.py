"""Suites as batches of the evaluation call, and its answers as a run.

A call asks a store that is full already, so it knows less than a probe: what it cannot carry is
named and counted, never dropped without a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from memeval import frames
from memeval.checks.kinds import shown
from memeval.environment import MATCHER, NORMALISER_VERSION, tool_version
from memeval.errors import RunFileError
from memeval.frames import CALLS, HITS, conform, empty
from memeval.haystack import VERSION as GENERATOR_VERSION
from memeval.probe import Probe
from memeval.runs import Manifest, Run
from memeval.showing import Shown
from memeval.suite import Suite
from memeval.text import count
from memeval.words import clean

__all__ = ["Calls", "requests_of", "run_of_answers"]

MOST_CASES = 200
MOST_K = 100
IDS = ("returned", "returnedIds", "results", "resultIds", "hits")
ID = ("id", "memoryId")
STATUSES = ("ok", "failed", "timeout")
Ids = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, repr=False)
class Calls(Shown):
    """Bodies of the call, and which probe each case is.

    Attributes
    ----------
    requests : tuple of dict
        Bodies, ready for JSON.
    probes : tuple of tuple of str
        For each body the names of its probes, in the order of its cases.
    left_out : mapping of str to str
        Probes that a call cannot ask, and why.
    notes : tuple of str
        What the cases do not say that their probes did.
    ids : mapping
        The store's ids by probe and record; where there is none, the record's own.
    """

    requests: tuple[dict[str, Any], ...]
    probes: tuple[tuple[str, ...], ...]
    left_out: Mapping[str, str]
    notes: tuple[str, ...] = ()
    ids: Ids = field(default_factory=dict)

    def lines(self) -> list[str]:
        """What became of the suite, in words."""
        n_cases = sum(map(len, self.probes))
        lines = [f"{count(n_cases, 'case')} in {count(len(self.requests), 'request')}"]
        for why, n in Counter(self.left_out.values()).items():
            lines.append(f"left out: {count(n, 'probe')} ({why})")
        return [*lines, *self.notes]


def requests_of(
    suite: Suite,
    *,
    workspace: str | None = None,
    dataset: str | None = None,
    ids: Ids | None = None,
) -> Calls:
    """Write a suite as batches of the evaluation call.

    Parameters
    ----------
    suite : Suite
        What to ask; its records must stand in the store that is called.
    workspace, dataset : str, optional
        ``workspaceId`` and ``datasetVersion`` of every body; the latter is the hash of the suite
        unless given.
    ids : mapping of str to mapping of str to str, optional
        For each probe the store's id of each record, where it is not the record's own.

    Returns
    -------
    Calls
        Bodies of at most 200 cases, one agent and one k each, in the order of the suite.

    Notes
    -----
    Expected, forbidden (listed, deleted, of other scopes) and stale records become ids. A probe is
    left out that has an any-of list, a filter, a time at which it is asked, other scopes to read,
    or a k above 100: the call has no words for these. Canaries are not looked for.

    Examples
    --------
    >>> import memeval as me
    >>> given = [me.Record("r1", "Lunch at the noodle bar.", "ana")]
    >>> suite = me.Suite.of([me.Probe("lunch", "Where is lunch?", given, ["r1"], scope="ana")])
    >>> requests_of(suite).requests[0]["cases"]
    [{'query': 'Where is lunch?', 'expectedIds': ['r1'], 'forbiddenIds': [], 'staleIds': []}]
    """
    known = {name: dict(mapping) for name, mapping in (ids or {}).items()}
    left_out = {probe.name: why for probe in suite for why in [_why_not(probe)] if why}
    grouped: dict[tuple[str, int], list[Probe]] = {}
    for probe in suite:
        if probe.name not in left_out:
            grouped.setdefault((probe.scope, probe.k), []).append(probe)
    labels = _labels(suite)
    requests, names = [], []
    for (scope, k), probes in grouped.items():
        for n in range(0, len(probes), MOST_CASES):
            batch = probes[n : n + MOST_CASES]
            body: dict[str, Any] = {"workspaceId": workspace, "agentId": scope, "k": k}
            body["datasetVersion"] = dataset or suite.content_hash
            body["cases"] = [_case(probe, labels, known) for probe in batch]
            requests.append({name: value for name, value in body.items() if value is not None})
            names.append(tuple(probe.name for probe in batch))
    asked = {name for batch in names for name in batch}
    n_canary = sum(bool(probe.canary) for probe in suite if probe.name in asked)
    notes = [f"canaries of {count(n_canary, 'probe')} are not looked for"] if n_canary else []
    return Calls(tuple(requests), tuple(names), left_out, tuple(notes), known)


def _why_not(probe: Probe) -> str:
    """Why a call cannot ask a probe; empty where it can."""
    reasons = {
        "any-of lists": any(len(group) > 1 for group in probe.groups),
        "filter": bool(probe.filter),
        "asked at a time": probe.now is not None,
        "reads other scopes": bool(probe.reads),
        f"k above {MOST_K}": probe.k > MOST_K,
    }
    return ", ".join(name for name, holds in reasons.items() if holds)


def _labels(suite: Suite) -> dict[tuple[str, str], list[str]]:
    """Ids of records by probe and label; each once."""
    labels: dict[tuple[str, str], list[str]] = {}
    told = suite.qrels()
    for probe, record, label in zip(told["probe"], told["record_id"], told["label"], strict=True):
        listed = labels.setdefault((str(probe), str(label)), [])
        if record not in listed:
            listed.append(str(record))
    return labels


def _case(probe: Probe, labels: Mapping[tuple[str, str], list[str]], ids: Ids) -> dict[str, Any]:
    known = ids.get(probe.name, {})
    told = {
        label: [known.get(record, record) for record in labels.get((probe.name, label), [])]
        for label in ("expected", "forbidden", "stale")
    }
    return {"query": probe.query, **{f"{label}Ids": listed for label, listed in told.items()}}


def run_of_answers(suite: Suite, calls: Calls, answers: Sequence[Mapping[str, Any]]) -> Run:
    """Read the answers of the call as a run, to be compared, reported and kept.

    Parameters
    ----------
    suite : Suite
        What was asked.
    calls : Calls
        The bodies that were sent.
    answers : sequence of mapping
        The answer to each, in order. Needed is ``perCase``, in the order of the cases, each with
        the ids that came back, best first, under ``returned``, ``returnedIds``, ``results``,
        ``resultIds`` or ``hits``: texts, or objects with ``id`` or ``memoryId``.

    Returns
    -------
    Run
        Of the probes that were asked; its texts are not known, so neither is ``distinct``.

    Raises
    ------
    RunFileError
        If an answer is not to these cases, or does not tell what came back.

    Examples
    --------
    >>> import memeval as me
    >>> given = [me.Record("r1", "Lunch at the noodle bar.", "ana")]
    >>> suite = me.Suite.of([me.Probe("lunch", "Where is lunch?", given, ["r1"], scope="ana")])
    >>> answer = {"perCase": [{"query": "Where is lunch?", "returned": ["r3", "r1"]}]}
    >>> run_of_answers(suite, requests_of(suite), [answer]).mrr
    0.5
    """
    if len(answers) != len(calls.requests):
        raise RunFileError(
            f"found {count(len(answers), 'answer')} to {count(len(calls.requests), 'request')}, "
            "wanted one for each, in order; send the others, or name them in order"
        )
    hits: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for n, (request, names) in enumerate(zip(calls.requests, calls.probes, strict=True)):
        entries = _entries(answers[n], request, n)
        for at, (name, entry) in enumerate(zip(names, entries, strict=True)):
            place = f"answer {n + 1}, perCase[{at}]"
            status = _status(entry, place)
            rows.append(
                {
                    "probe": name,
                    "repeat": 0,
                    "k": request["k"],
                    "status": status,
                    "error": None if status == "ok" else str(entry.get("error") or status),
                    "latency_ms": _number(entry.get("latencyMs")),
                    "llm_calls": entry.get("llmCalls"),
                }
            )
            if status == "ok":
                hits += _hits(name, entry, calls.ids.get(name, {}), place)
    return _run(suite, rows, hits, answers[0].get("manifest") if answers else None)


def _entries(answer: Any, request: Mapping[str, Any], n: int) -> list[Mapping[str, Any]]:
    """The details of each case, which must be of the cases that were sent."""
    place = f"answer {n + 1}"
    entries = answer.get("perCase") if isinstance(answer, Mapping) else None
    if not isinstance(entries, list) or not all(isinstance(one, Mapping) for one in entries):
        raise RunFileError(f"{place}: found no list perCase of objects; save the whole answer")
    cases = request["cases"]
    if len(entries) != len(cases):
        raise RunFileError(
            f"{place}: perCase has {len(entries)} entries, wanted {len(cases)}, one for each case "
            "that was sent; it is the answer to another request"
        )
    for at, (entry, case) in enumerate(zip(entries, cases, strict=True)):
        if "query" in entry and entry["query"] != case["query"]:
            raise RunFileError(
                f"{place}, perCase[{at}]: the query is {shown(entry['query'])}, wanted "
                f"{shown(case['query'])}; it is the answer to another request"
            )
    return entries


def _status(entry: Mapping[str, Any], place: str) -> str:
    status = entry.get("status", "failed" if entry.get("error") else "ok")
    if status not in STATUSES:
        raise RunFileError(f"{place}: status is {shown(status)}, wanted one of {STATUSES}")
    return str(status)


def _hits(
    name: str, entry: Mapping[str, Any], known: Mapping[str, str], place: str
) -> Iterator[dict[str, Any]]:
    listed = next((entry[key] for key in IDS if isinstance(entry.get(key), list)), None)
    if listed is None:
        raise RunFileError(
            f"{place}: found {', '.join(map(str, entry)) or 'nothing'}, wanted the ids that came "
            f"back as a list named {', '.join(IDS)}; write them there"
        )
    own = {store_id: record for record, store_id in known.items()}
    for rank, one in enumerate(listed, start=1):
        told = (
            next((one[key] for key in ID if key in one), None) if isinstance(one, Mapping) else one
        )
        if told is not None and not isinstance(told, str):
            raise RunFileError(f"{place}: an id is {shown(told)}, wanted a text")
        store_id = None if told is None else clean(told)
        yield {
            "probe": name,
            "repeat": 0,
            "rank": rank,
            "record_id": own.get(store_id, store_id) if store_id is not None else None,
            "store_id": store_id,
            "resolved_by": "unknown" if store_id is None else "own",
            "score": _number(one.get("score")) if isinstance(one, Mapping) else None,
        }


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


def _run(suite: Suite, rows: list[dict[str, Any]], hits: list[dict[str, Any]], told: object) -> Run:
    whole = len(rows) == len(suite)
    asked = suite if whole else suite.select(names=[row["probe"] for row in rows])
    frame = conform(pd.DataFrame(hits), HITS) if hits else empty(HITS)
    ks = {probe.k for probe in asked}
    manifest = Manifest(
        schema_version=frames.SCHEMA_VERSION,
        metric_version=frames.METRIC_VERSION,
        tool_version=tool_version(),
        suite_hash=asked.content_hash,
        haystack_hash="",
        n_probes=len(asked),
        k=next(iter(ks)) if len(ks) == 1 else None,
        seed=0,
        repeats=1,
        store="evaluation call",
        store_info={"name": "evaluation call", "manifest": told},
        notes=("asked through the evaluation call, of a store that was full already",),
        matcher=MATCHER,
        normaliser_version=NORMALISER_VERSION,
        generator_version=GENERATOR_VERSION,
        no_fingerprint="the store was not asked by memeval",
    )
    return Run(
        frame,
        conform(pd.DataFrame(rows), CALLS),
        asked.qrels(frame),
        manifest=manifest,
        suite=asked,
    )
