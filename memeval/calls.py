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
from memeval.callentries import entries_of, hits_of, number, status_of
from memeval.callids import (
    LABELS,
    Ids,
    Labels,
    check_ids,
    clash,
    labels_of,
    records_of,
    shared_note,
)
from memeval.checks.kinds import nearest, shown
from memeval.environment import MATCHER, NORMALISER_VERSION, tool_version
from memeval.errors import RunFileError
from memeval.frames import CALLS, HITS, conform, empty
from memeval.haystack import VERSION as GENERATOR_VERSION
from memeval.probe import Probe
from memeval.runs import Manifest, Run
from memeval.showing import Shown
from memeval.suite import Suite
from memeval.text import count

__all__ = ["Calls", "requests_of", "run_of_answers"]

MOST_CASES = 200
MOST_K = 100


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
    suite_hash : str
        Content hash of the suite that they were written of.
    contents : mapping of str to str
        Content hash of each probe that is asked.
    """

    requests: tuple[dict[str, Any], ...]
    probes: tuple[tuple[str, ...], ...]
    left_out: Mapping[str, str]
    notes: tuple[str, ...] = ()
    ids: Ids = field(default_factory=dict)
    suite_hash: str = ""
    contents: Mapping[str, str] = field(default_factory=dict)

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

    Raises
    ------
    RunFileError
        If ids are given of a probe or a record that is not there.

    Notes
    -----
    Expected, forbidden (listed, deleted, of other scopes) and stale records become ids. A probe is
    left out that has an any-of list, a filter, a time at which it is asked, other scopes to read,
    or a k above 100: the call has no words for these. So is one where an id of the store is several
    expected records, or both an expected and a forbidden or stale one. Canaries are not looked for.

    Examples
    --------
    >>> import memeval as me
    >>> given = [me.Record("r1", "Lunch at the noodle bar.", "ana")]
    >>> suite = me.Suite.of([me.Probe("lunch", "Where is lunch?", given, ["r1"], scope="ana")])
    >>> requests_of(suite).requests[0]["cases"]
    [{'query': 'Where is lunch?', 'expectedIds': ['r1'], 'forbiddenIds': [], 'staleIds': []}]
    """
    known = {name: dict(mapping) for name, mapping in (ids or {}).items()}
    labels = labels_of(suite)
    check_ids(suite, known, labels)
    told = {
        probe.name: _why_not(probe) or clash(labels[probe.name], known.get(probe.name, {}))
        for probe in suite
    }
    left_out = {name: why for name, why in told.items() if why}
    grouped: dict[tuple[str, int], list[Probe]] = {}
    for probe in suite:
        if probe.name not in left_out:
            grouped.setdefault((probe.scope, probe.k), []).append(probe)
    requests, names = [], []
    for (scope, k), probes in grouped.items():
        for n in range(0, len(probes), MOST_CASES):
            batch = probes[n : n + MOST_CASES]
            body: dict[str, Any] = {"workspaceId": workspace, "agentId": scope, "k": k}
            body["datasetVersion"] = dataset or suite.content_hash
            body["cases"] = [
                _case(probe, labels[probe.name], known.get(probe.name, {})) for probe in batch
            ]
            requests.append({name: value for name, value in body.items() if value is not None})
            names.append(tuple(probe.name for probe in batch))
    asked = [probe for probe in suite if probe.name not in left_out]
    n_canary = sum(bool(probe.canary) for probe in asked)
    notes = [f"canaries of {count(n_canary, 'probe')} are not looked for"] if n_canary else []
    notes += shared_note(asked, known)
    contents = {probe.name: probe.content_hash for probe in asked}
    of = (known, suite.content_hash, contents)
    return Calls(tuple(requests), tuple(names), left_out, tuple(notes), *of)


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


def _case(probe: Probe, labels: Labels, known: Mapping[str, str]) -> dict[str, Any]:
    told: dict[str, Any] = {"query": probe.query}
    for label in LABELS:
        ids = (known.get(record, record) for record in labels.get(label, ()))
        told[f"{label}Ids"] = list(dict.fromkeys(ids))
    return told


def run_of_answers(suite: Suite, calls: Calls, answers: Sequence[Mapping[str, Any]]) -> Run:
    """Read the answers of the call as a run, to be compared, reported and kept.

    Parameters
    ----------
    suite : Suite
        What was asked.
    calls : Calls
        The bodies that were sent.
    answers : sequence of mapping
        The answer to each, in order. Needed is ``perCase``, each with the ids that came back, best
        first, under ``returned``, ``returnedIds``, ``results``, ``resultIds`` or ``hits``: texts,
        or objects with ``id`` or ``memoryId``. Entries with a ``case`` stand for the case of that
        number, from 0; without it their order counts, and ``query`` is checked where it is there.
        With neither in a batch of several, the order alone says which case an entry is.

    Returns
    -------
    Run
        Of the probes that were asked; its texts are not known, so neither is ``distinct``.

    Raises
    ------
    RunFileError
        If a probe has changed since the calls were written, or an answer is not to these cases or
        does not tell what came back.

    Notes
    -----
    Where several records share an id of the store, a hit on it is the expected one, else the
    forbidden, the stale, the first.

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
    _check_contents(suite, calls)
    hits: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    labels = labels_of(suite)
    probes = {probe.name: probe for probe in suite}
    for n, (request, names) in enumerate(zip(calls.requests, calls.probes, strict=True)):
        for name, (place, entry) in zip(names, entries_of(answers[n], request, n), strict=True):
            status = status_of(entry, place)
            rows.append(_row(name, request["k"], status, entry))
            if status == "ok":
                own = records_of(probes[name], labels[name], calls.ids.get(name, {}))
                hits += _hits(name, entry, own, place)
    return _run(suite, rows, hits, answers[0].get("manifest") if answers else None)


def _row(name: str, k: int, status: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "probe": name,
        "repeat": 0,
        "k": k,
        "status": status,
        "error": None if status == "ok" else str(entry.get("error") or status),
        "latency_ms": number(entry.get("latencyMs")),
        "llm_calls": entry.get("llmCalls"),
    }


def _check_contents(suite: Suite, calls: Calls) -> None:
    """Refuse answers to probes that say something else by now."""
    if calls.suite_hash == suite.content_hash:
        return
    now = {probe.name: probe.content_hash for probe in suite}
    for name in (name for names in calls.probes for name in names):
        if name not in now:
            raise RunFileError(
                f"probe {shown(name)} was asked and is not in the suite; {nearest(name, now)} in "
                "its place, or write the calls again and send them"
            )
        if now[name] != calls.contents.get(name):
            raise RunFileError(
                f"probe {shown(name)} has changed since the calls were written, so their answers "
                "are to another question; write the calls again and send them, or take the suite "
                "as it was"
            )


def _hits(
    name: str, entry: Mapping[str, Any], own: Mapping[str, str], place: str
) -> Iterator[dict[str, Any]]:
    for rank, (store_id, score) in enumerate(hits_of(entry, place), start=1):
        yield {
            "probe": name,
            "repeat": 0,
            "rank": rank,
            "record_id": None if store_id is None else own.get(store_id, store_id),
            "store_id": store_id,
            "resolved_by": "unknown" if store_id is None else "own",
            "score": score,
        }


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
