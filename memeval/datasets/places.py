"""The answers of a run as rankings of documents, each hit at the rank that it had."""

from __future__ import annotations

from collections.abc import Container

import pandas as pd

from memeval.datasets.losses import Tally
from memeval.runs import Run

UNKNOWN, AGAIN = "no-record", "again"
OF_HITS = ("hits of no record", "hits of a record that stands higher")
UNANSWERED = "probes without a line, which trec_eval leaves out unless told -c"


def places(
    run: Run, tally: Tally, chosen: Container[str] | None = None
) -> dict[str, list[tuple[int, str]]]:
    """Rank and document of each hit of the first repeat, by probe; what is no record is counted.

    Parameters
    ----------
    run : Run
        A run.
    tally : Tally
        Gets what is told in another way, or not.
    chosen : container of str, optional
        Probes to look at; all of them unless told.
    """
    repeats = run.calls.loc[run.calls["repeat"] > 0, "probe"]
    tally.add("answers of further repeats", len(repeats), _first(repeats))
    first = run.hits[run.hits["repeat"].eq(0)]
    if chosen is not None:
        first = first[[name in chosen for name in first["probe"]]]
    scored = first.loc[first["score"].notna(), "probe"]
    tally.add("scores of the store, told as 1 / rank", len(scored), _first(scored))
    given = {probe.name: frozenset(probe.state.by_id) for probe in run.suite}
    placed: dict[str, list[tuple[int, str]]] = {name: [] for name in given}
    taken: dict[str, set[str]] = {name: set() for name in given}
    columns = (first[name] for name in ("probe", "rank", "record_id"))
    for name, rank, record in zip(*columns, strict=True):
        known = None if pd.isna(record) else str(record)
        document = _document(known, int(rank), taken[name], given[name])
        if document != known:
            tally.add(OF_HITS[known is not None], 1, name)
        taken[name].add(document)
        placed[name].append((int(rank), document))
    for name, entries in placed.items():
        tally.add(UNANSWERED, not entries, name)
    return {name: sorted(entries) for name, entries in placed.items()}


def _document(record: str | None, rank: int, seen: set[str], given: frozenset[str]) -> str:
    """The record, or a stand-in that is no record's id."""
    if record is not None and record not in seen:
        return record
    stand_in = f"{UNKNOWN if record is None else AGAIN}-{rank}"
    while stand_in in given or stand_in in seen:
        stand_in += "-"
    return stand_in


def _first(names: pd.Series) -> str:
    return str(names.iloc[0]) if len(names) else ""
