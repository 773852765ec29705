"""Rows of outcomes, taken from a run.

All shares and gains stand on a grid of six decimals, whatever they come from: a run and a file
written of it do not differ by their last digits.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

import pandas as pd

from memeval.columns import conform
from memeval.files.saved import DECIMALS
from memeval.frames import OUTCOMES
from memeval.metrics import score
from memeval.runs import Run

STRANGER = "?"
GRID = ("recall_fraction", "rr", "ndcg")
# Versions of UUID that are drawn anew or tell the time; those made of a name (3, 5) stay.
_DRAWN = frozenset({1, 2, 4, 6, 7})


def rows_of(run: Run) -> pd.DataFrame:
    """Outcomes of a run, a row per probe, sorted by name.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.OUTCOMES`. Measures are of the first repeat,
        leaks and broken checks the worst of all; ``n_passed`` counts the repeats that passed.
    """
    results = run.results
    asked = run.calls.groupby("probe").size()
    hashes = {probe.name: probe.content_hash for probe in run.suite}
    must = {probe.name for probe in run.suite if probe.must}
    repeats = results["probe"].map(asked).fillna(1).astype("int64")
    passed = results["passed"].fillna(False).astype("bool")
    made = results.assign(
        content_hash=results["probe"].map(hashes),
        must=results["probe"].isin(must),
        n_repeats=repeats,
        n_passed=repeats.where(passed, 0),
    )
    for name in GRID:
        made[name] = made[name].round(DECIMALS)
    flaky = results.loc[results["flaky"], "probe"]
    if len(flaky):
        counts = _passes(run, set(flaky))
        made["n_passed"] = made["probe"].map(counts).fillna(made["n_passed"]).astype("int64")
    return by_name(made)


def by_name(rows: pd.DataFrame) -> pd.DataFrame:
    """Conform rows of outcomes and sort them by the code points of their names."""
    names = rows["probe"].tolist()
    order = sorted(range(len(names)), key=names.__getitem__)
    return conform(rows.iloc[order], OUTCOMES)


def _passes(run: Run, probes: set[str]) -> dict[str, int]:
    """How many repeats of each probe passed, scored one by one."""
    hits, calls, qrels = (t[t["probe"].isin(probes)] for t in (run.hits, run.calls, run.qrels))
    counts = dict.fromkeys(probes, 0)
    for repeat in calls["repeat"].unique():
        asked = calls[calls["repeat"] == repeat].assign(repeat=0)
        answer = hits[hits["repeat"] == repeat].assign(repeat=0)
        judged = qrels[qrels["probe"].isin(asked["probe"])]
        one = score(answer, judged, asked, count_tokens=len)
        for probe in one.loc[one["passed"].eq(True).fillna(False), "probe"]:
            counts[probe] += 1
    return counts


def repeats_of(run: Run) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Ranked ids of every answer, by probe, in the order of the repeats.

    Notes
    -----
    A record that nobody wrote is ``?`` and the store's own id. An id that is drawn anew each time
    (UUID version 1, 2, 4, 6, 7) says nothing of the next run, so it is ``?uuid-1``, ``?uuid-2`` in
    the order of the answer. The answer of a search that failed is empty.
    """
    hits = run.hits.sort_values(["probe", "repeat", "rank"], kind="stable")
    found: dict[tuple[str, int], list[tuple[Any, Any]]] = {}
    columns: Any = (hits[name] for name in ("probe", "repeat", "record_id", "store_id"))
    for probe, repeat, record_id, store_id in zip(*columns, strict=True):
        found.setdefault((probe, repeat), []).append((record_id, store_id))
    calls = run.calls.sort_values(["probe", "repeat"], kind="stable")
    made: dict[str, list[tuple[str, ...]]] = {}
    row: Any
    for row in calls.itertuples():
        answer = found.get((row.probe, row.repeat), []) if row.status == "ok" else []
        made.setdefault(row.probe, []).append(_ids(answer))
    return {probe: tuple(made[probe]) for probe in sorted(made)}


def _ids(answer: Iterable[tuple[Any, Any]]) -> tuple[str, ...]:
    drawn: dict[str, str] = {}
    ids = []
    for record_id, store_id in answer:
        if pd.notna(record_id):
            ids.append(str(record_id))
        elif pd.isna(store_id):
            ids.append(STRANGER)
        elif _is_drawn(store_id):
            ids.append(drawn.setdefault(store_id, f"{STRANGER}uuid-{len(drawn) + 1}"))
        else:
            ids.append(f"{STRANGER}{store_id}")
    return tuple(ids)


def _is_drawn(store_id: str) -> bool:
    if len(store_id) != 36:  # without its hyphens it may as well be a hash of the content
        return False
    try:
        return uuid.UUID(store_id).version in _DRAWN
    except ValueError:
        return False
