"""Tables of what the author of a suite says: probes, tags, judged records, faults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import pandas as pd

from memeval.columns import present
from memeval.errors import Fault
from memeval.frames import FAULTS, HITS, PROBES, QRELS, TAGS, Schema, conform, names
from memeval.probe import Probe
from memeval.record import Record
from memeval.tabulating import table_of

_Said = list[tuple[str, str]]
_HITS = tuple(column for column in HITS if column.name in ("probe", "record_id"))


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


def qrels_table(probes: Sequence[Probe], hits: pd.DataFrame | None = None) -> pd.DataFrame:
    """Table with the columns of `memeval.frames.QRELS`, a row per probe, record and label.

    With `hits`, what follows from a shared history is said of the records among them alone.
    """
    columns: dict[str, list[Any]] = {name: [] for name in names(QRELS) if name != "merged"}
    label_of = _Labels() if hits is None else _LabelsOfHits(probes, hits)
    for probe in probes:
        before = len(columns["record_id"])
        for n, group in enumerate(probe.groups):
            _extend(columns, [(name, "listed") for name in sorted(group)], "expected", n)
        _extend(columns, label_of.forbidden(probe), "forbidden")
        _extend(columns, label_of.stale(probe), "stale")
        columns["probe"] += [probe.name] * (len(columns["record_id"]) - before)
    return table_of(columns | {"merged": [False] * len(columns["probe"])}, QRELS)


def _extend(
    columns: Mapping[str, list[Any]], said: _Said, label: str, group: int | None = None
) -> None:
    if said:
        columns["record_id"] += [name for name, _ in said]
        columns["reason"] += [reason for _, reason in said]
        columns["label"] += [label] * len(said)
        columns["group"] += [group] * len(said)


class _Labels:
    """Ids that are labelled and why, sorted; what follows from a history is worked out once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], _Said] = {}

    def forbidden(self, probe: Probe) -> _Said:
        given = probe.state
        if not given.deleted and probe.scopes_read >= given.ids_in.keys():
            return [(name, "listed") for name in sorted(set(probe.forbid))]
        key = (id(given), probe.scopes_read, probe.forbid)
        if key not in self._known:
            self._known[key] = _first_reasons(
                listed=probe.forbid, deleted=given.deleted, foreign_scope=probe.foreign
            )
        return self._known[key]

    def stale(self, probe: Probe) -> _Said:
        given = probe.state
        if not given.superseded and not (given.expiring and probe.now is not None):
            return [(name, "listed") for name in sorted(set(probe.stale))]
        key = (id(given), probe.now, probe.stale)
        if key not in self._known:
            self._known[key] = _first_reasons(
                listed=probe.stale, superseded=given.superseded, expired=probe.expired
            )
        return self._known[key]


class _LabelsOfHits(_Labels):
    """The same, but of a shared history only what came back: mostly few of many.

    What counts as a chance to leak is there in any case: all that is listed or deleted, and one
    record of the other scopes.
    """

    def __init__(self, probes: Sequence[Probe], hits: pd.DataFrame) -> None:
        super().__init__()
        shared = {probe.name: probe for probe in probes if probe.history is not None}
        self._foreign: dict[str, set[str]] = {}
        self._stale: dict[str, set[str]] = {}
        columns = present(hits, _HITS, unread=names(_HITS)).values()
        pairs = zip(*(column.tolist() for column in columns), strict=True)
        for name, record_id in pairs if shared else ():
            probe = shared.get(name)
            if probe is None:
                continue
            if _is_foreign(probe, record_id):
                self._foreign.setdefault(name, set()).add(record_id)
            if record_id in probe.superseded or _is_expired(probe, record_id):
                self._stale.setdefault(name, set()).add(record_id)

    def forbidden(self, probe: Probe) -> _Said:
        if probe.history is None:
            return super().forbidden(probe)
        foreign = chain(self._foreign.get(probe.name, ()), islice(_live_elsewhere(probe), 1))
        return _first_reasons(listed=probe.forbid, deleted=probe.deleted, foreign_scope=foreign)

    def stale(self, probe: Probe) -> _Said:
        if probe.history is None:
            return super().stale(probe)
        returned = self._stale.get(probe.name, set())
        superseded = probe.superseded & returned
        return _first_reasons(listed=probe.stale, superseded=superseded, expired=returned)


def _is_foreign(probe: Probe, record_id: str) -> bool:
    record = probe.state.by_id.get(record_id)
    return record is not None and record.scope not in probe.scopes_read


def _live_elsewhere(probe: Probe) -> Iterator[str]:
    """Live records that a probe must not see because of their scope alone."""
    for scope, records in probe.state.live_in.items():
        if scope not in probe.scopes_read:
            yield from (record.id for record in records if record.id not in probe.forbid)


def _is_expired(probe: Probe, record_id: str) -> bool:
    record, now = probe.state.by_id.get(record_id), probe.now
    if record is None or record.expires is None or now is None:
        return False
    return record.expires <= now


def _first_reasons(**reasons: Iterable[str]) -> _Said:
    """Every id with the first reason that it is named for, sorted by id."""
    first: dict[str, str] = {}
    for reason, ids in reasons.items():
        for name in ids:
            first.setdefault(name, reason)
    return sorted(first.items())


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
