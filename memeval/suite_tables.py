"""Tables of what the author of a suite says: probes, tags, judged records, faults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from memeval.errors import Fault
from memeval.frames import FAULTS, PROBES, QRELS, TAGS, Schema, conform, names
from memeval.probe import Probe
from memeval.record import Record


def probes_table(probes: Iterable[Probe]) -> pd.DataFrame:
    """Table with the columns of `memeval.frames.PROBES`, a row per probe."""
    rows = [
        {
            "probe": p.name,
            "kind": "positive" if p.is_positive else "negative",
            "query": p.query,
            "scope": p.scope,
            "k": p.k,
            "n_given": sum(isinstance(op, Record) for op in p.given),
            "n_expected": len(p.expect),
            "n_forbidden": len(p.forbid),
            "n_stale": len(p.stale),
            "must": p.must,
            "history": p.history,
            "file": p.file or None,
            "line": p.line or None,
            "content_hash": p.content_hash,
            "why": p.why,
        }
        for p in probes
    ]
    return _framed(rows, PROBES)


def tags_table(probes: Iterable[Probe]) -> pd.DataFrame:
    """Table with the columns of `memeval.frames.TAGS`, a row per probe and tag."""
    return _framed([{"probe": p.name, "tag": tag} for p in probes for tag in p.tags], TAGS)


def qrels_table(probes: Iterable[Probe]) -> pd.DataFrame:
    """Table with the columns of `memeval.frames.QRELS`, a row per probe, record and label."""
    return _framed([row for p in probes for row in _judged(p)], QRELS)


def _judged(probe: Probe) -> Iterator[dict[str, Any]]:
    def row(name: str, label: str, reason: str, group: int | None = None) -> dict[str, Any]:
        return {
            "probe": probe.name,
            "record_id": name,
            "label": label,
            "group": group,
            "merged": False,
            "reason": reason,
        }

    for n, group in enumerate(probe.groups):
        yield from (row(name, "expected", "listed", n) for name in sorted(group))
    labels = {
        "forbidden": {
            "listed": probe.forbid,
            "deleted": probe.deleted,
            "foreign_scope": probe.foreign,
        },
        "stale": {
            "listed": probe.stale,
            "superseded": probe.superseded,
            "expired": probe.expired,
        },
    }
    for label, reasons in labels.items():
        first: dict[str, str] = {}
        for reason, ids in reasons.items():
            for name in ids:
                first.setdefault(name, reason)
        yield from (row(name, label, first[name]) for name in sorted(first))


def faults_frame(faults: Iterable[Fault], level: str = "warning") -> pd.DataFrame:
    """Table of faults, in their order.

    Parameters
    ----------
    faults : iterable of Fault
        Such as those of a `ProbeError`.
    level : {'error', 'warning'}
        Level of all of them.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.FAULTS`.
    """
    rows = [
        {
            "level": level,
            "file": f.file or None,
            "line": f.line or None,
            "probe": f.probe or None,
            "field": f.field,
            "found": f.found,
            "todo": f.todo,
        }
        for f in faults
    ]
    return _framed(rows, FAULTS)


def _framed(rows: Sequence[Mapping[str, Any]], schema: Schema) -> pd.DataFrame:
    return conform(pd.DataFrame(rows, columns=names(schema)), schema)
