"""What a mem0 remembers, as ``get_all`` gives it: memories as records, for probes and haystacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from memeval.checks.kinds import shown
from memeval.datasets.reading import FaultLog, Source
from memeval.errors import ProbeError
from memeval.record import Record
from memeval.text import clean
from memeval.times import as_utc, parse_time

HINT = "the answer of mem0's get_all as JSON: {'results': [{'id': …, 'memory': …, 'user_id': …}]}"
OWNERS = ("user_id", "agent_id", "run_id")
DEFAULT = "default"


@dataclass(frozen=True)
class Mem0Memories:
    """The memories of a mem0.

    Attributes
    ----------
    records : tuple of Record
        A record per memory, in the order of the file: its own id and text, its ``created_at`` as
        ``at``, its metadata as ``meta``. The scope is the ``user_id``; where there is none the
        ``agent_id``, else the ``run_id``, else ``default``.
    faults : pandas.DataFrame
        What was odd, and what was done: ``sample`` (the scope), ``place``, ``found``, ``done``.
    """

    records: tuple[Record, ...]
    faults: pd.DataFrame


def read_mem0(source: str | Path | Mapping[str, Any] | list[Any]) -> Mem0Memories:
    """Read what ``Memory.get_all`` or the platform's ``get_all`` returned.

    Parameters
    ----------
    source : path, mapping or list
        A JSON file, or the answer itself: a mapping with ``results``, or a list of memories.

    Returns
    -------
    Mem0Memories
        A memory without an id or a text is left out, a second one of an id as well; of several
        owners the first counts; a time that is none is dropped. Relations of a graph are not read.
        All of it is told in ``faults``.

    Raises
    ------
    ProbeError
        If there is no list of memories.

    Examples
    --------
    >>> found = read_mem0({"results": [{"id": "m1", "memory": "Likes tea.", "user_id": "ana"}]})
    >>> found.records[0].id, found.records[0].text, found.records[0].scope
    ('m1', 'Likes tea.', 'ana')
    """
    told: Any = source
    if isinstance(source, str | Path):
        told = Source.find(source, "*.json", HINT).json()
    memories = told.get("results", told.get("memories")) if isinstance(told, Mapping) else told
    if not isinstance(memories, list):
        raise ProbeError(f"found {shown(told)}, wanted a list of memories; give {HINT}")
    log, kept = FaultLog(), dict[str, Record]()
    for n, memory in enumerate(memories):
        record = _record(memory, f"results[{n}]", log)
        if record is None:
            continue
        if record.id in kept:
            log.add(record.scope, f"results[{n}]", f"the id {record.id!r} twice", "left out")
            continue
        kept[record.id] = record
    relations = told.get("relations") if isinstance(told, Mapping) else None
    if relations:
        log.add("", "relations", f"{len(relations)} relations of a graph", "not read")
    return Mem0Memories(tuple(kept.values()), log.frame())


def _record(memory: Any, place: str, log: FaultLog) -> Record | None:
    if not isinstance(memory, Mapping):
        log.add("", place, shown(memory), "left out")
        return None
    owners = [(name, memory[name]) for name in OWNERS if memory.get(name)]
    scope = str(owners[0][1]) if owners else DEFAULT
    if len(owners) > 1:
        log.add(scope, place, f"owners {', '.join(name for name, _ in owners)}", "the first counts")
    name, text = memory.get("id"), memory.get("memory")
    if not isinstance(name, str | int) or not isinstance(text, str) or not text.strip():
        lacking = "id" if not isinstance(name, str | int) else "text"
        log.add(scope, place, f"a memory without {lacking}", "left out")
        return None
    meta = memory.get("metadata") or {}
    if not isinstance(meta, Mapping):
        log.add(scope, place, f"metadata {shown(meta)}", "left out")
        meta = {}
    at = _time(memory.get("created_at"), scope, place, log)
    return Record(clean(str(name)), clean(text), clean(scope), at=at, meta=dict(meta))


def _time(written: Any, scope: str, place: str, log: FaultLog) -> datetime | None:
    if written is None:
        return None
    try:
        return as_utc(parse_time(written))
    except (TypeError, ValueError, AttributeError, OverflowError):
        log.add(scope, place, f"created_at {shown(written)}", "left out")
        return None
