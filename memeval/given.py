"""The ordered history of a clean store, and what it comes to.

`Given` is a tuple of operations that knows its own end state. Probes that share one history share
one `Given`, so that what follows from it is worked out once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import cached_property
from typing import Any

from memeval.batches import Batch, steps_of
from memeval.errors import Fault
from memeval.hashes import digest
from memeval.record import Advance, Consolidate, Delete, Op, Record
from memeval.text import clean
from memeval.times import as_utc, write_span


class Given(tuple[Op, ...]):
    """Operations in the order in which the store sees them.

    A second write of one id is an update. A record is superseded when a later write, or one that
    came before it, names it in ``supersedes``; writing it again makes it current again.

    Examples
    --------
    >>> given = Given([Record("a", "x"), Record("b", "y", supersedes=("a",)), Delete("b")])
    >>> [record.id for record in given.live], sorted(given.superseded), sorted(given.deleted)
    (['a'], ['a'], ['b'])
    """

    @cached_property
    def by_id(self) -> Mapping[str, Record]:
        """Last state of each record that was written, by id, in order of the first write."""
        if len(self.steps) == 1 and isinstance(self.steps[0], Batch):
            return self.steps[0].by_id
        return {op.id: op for op in self if isinstance(op, Record)}

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """Last state of each record that was written, in order of the first write."""
        return tuple(self.by_id.values())

    @cached_property
    def deleted(self) -> frozenset[str]:
        """Ids that are deleted when the history has ended."""
        gone: set[str] = set()
        for op in self:
            if isinstance(op, Delete):
                gone.add(op.id)
            elif isinstance(op, Record):
                gone.discard(op.id)
        return frozenset(gone)

    @cached_property
    def live(self) -> tuple[Record, ...]:
        """Records that are not deleted; superseded and expired ones are still live."""
        return tuple(record for record in self.records if record.id not in self.deleted)

    @cached_property
    def superseded(self) -> frozenset[str]:
        """Ids that the store was told are replaced."""
        written: set[str] = set()
        replaced: set[str] = set()
        for op in self:
            if isinstance(op, Record):
                if op.id in written:
                    replaced.discard(op.id)
                written.add(op.id)
                replaced.update(op.supersedes)
        return frozenset(replaced)

    @cached_property
    def content_hash(self) -> str:
        """Hash of all operations in their order."""
        return digest([op_to_dict(op) for op in self])

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong with this history, taken alone; fields begin with ``given[n]``."""
        from memeval.checks.histories import (
            given_faults,  # the checks are written in terms of Given
        )

        return tuple(given_faults(self))

    @cached_property
    def kinds(self) -> frozenset[type]:
        """Kinds of operations in it."""
        return frozenset(map(type, self))

    @cached_property
    def steps(self) -> tuple[Batch | Op, ...]:
        """The operations as they are written, neighbouring records together."""
        return steps_of(self)

    @cached_property
    def live_in(self) -> Mapping[str, Sequence[Record]]:
        """Live records by scope, scopes in order of their first record."""
        found: dict[str, list[Record]] = {}
        for record in self.live:
            found.setdefault(record.scope, []).append(record)
        return found

    def live_of(self, scopes: frozenset[str]) -> Sequence[Record]:
        """Live records of some scopes, in order of the first write."""
        if len(scopes) == 1:
            return self.live_in.get(next(iter(scopes)), ())
        if scopes not in self._live_of:
            self._live_of[scopes] = [record for record in self.live if record.scope in scopes]
        return self._live_of[scopes]

    @cached_property
    def _live_of(self) -> dict[frozenset[str], Sequence[Record]]:
        return {}

    @cached_property
    def ids_in(self) -> Mapping[str, frozenset[str]]:
        """Ids of all records by scope."""
        found: dict[str, set[str]] = {}
        for record in self.records:
            found.setdefault(record.scope, set()).add(record.id)
        return {scope: frozenset(ids) for scope, ids in found.items()}

    @cached_property
    def expiring(self) -> tuple[Record, ...]:
        """Records that hold only for a time."""
        return tuple(record for record in self.records if record.expires is not None)

    @cached_property
    def ends_in(self) -> Mapping[str, Sequence[datetime]]:
        """When live records end to hold, by scope, sorted."""
        found: dict[str, list[datetime]] = {}
        for record in self.expiring:
            if record.expires is not None and record.id not in self.deleted:
                found.setdefault(record.scope, []).append(record.expires)
        return {scope: sorted(ends) for scope, ends in found.items()}

    def expired(self, now: datetime | None) -> frozenset[str]:
        """Ids that no longer hold at `now`; none when nobody says when it is asked."""
        if now is None:
            return frozenset()
        ends = ((record.id, record.expires) for record in self.expiring)
        return frozenset(name for name, expires in ends if expires is not None and expires <= now)


def op_to_dict(op: Op, scope: str | None = None) -> dict[str, Any]:
    """Write an operation in the words of a probe file, with plain values only.

    Parameters
    ----------
    op : Record, Delete, Consolidate or Advance
        What to write.
    scope : str, optional
        Scope that need not be said.

    Examples
    --------
    >>> op_to_dict(Record("a", "x", "ana", unit="lunch"), "ana")
    {'id': 'a', 'text': 'x', 'unit': 'lunch'}
    >>> op_to_dict(Delete("a"))
    {'delete': 'a'}
    """
    if isinstance(op, Delete):
        return {"delete": op.id}
    if isinstance(op, Consolidate):
        return {"consolidate": True}
    if isinstance(op, Advance):
        return {"advance": write_span(op.by)}
    said = {
        "id": op.id,
        "text": op.text,
        "scope": None if op.scope == scope else op.scope,
        "at": None if op.at is None else op.at.isoformat(),
        "unit": op.unit,
        "supersedes": list(op.supersedes) or None,
        "expires": None if op.expires is None else op.expires.isoformat(),
        "meta": dict(op.meta) or None,
    }
    return {name: value for name, value in said.items() if value is not None}


def given_of(entries: Iterable[object], scope: str) -> Given:
    """Make a history of what stands in ``given``.

    Parameters
    ----------
    entries : iterable
        Operations; any object with ``id`` and ``text`` is taken as a record. What is neither stays
        as it is, for the checks to refuse.
    scope : str
        Scope of an object that has none.

    Returns
    -------
    Given
        Times in UTC, lone surrogates replaced.
    """
    if isinstance(entries, Given):
        return entries
    return Given(_op(entry, scope) for entry in entries)


def _op(entry: Any, scope: str) -> Any:
    if isinstance(entry, Delete | Consolidate | Advance):
        return entry
    if isinstance(entry, Record):
        return _normalised(entry)
    if isinstance(entry, Mapping) or not (hasattr(entry, "id") and hasattr(entry, "text")):
        return entry
    names = ("at", "unit", "supersedes", "expires", "meta")
    more = {name: getattr(entry, name) for name in names if getattr(entry, name, None) is not None}
    said = getattr(entry, "scope", None)
    return _normalised(Record(entry.id, entry.text, scope if said is None else said, **more))


def in_utc(moment: date) -> date:
    """The same moment in UTC; one that UTC cannot say stays as it is, for the checks to refuse."""
    try:
        return as_utc(moment)
    except ValueError:
        return moment


def _normalised(record: Record) -> Record:
    """The same record with times in UTC, a tuple, and texts that can be written."""
    changes: dict[str, Any] = {}
    for name in ("id", "text", "scope", "unit"):
        value = getattr(record, name)
        if isinstance(value, str) and not value.isascii():
            changes[name] = clean(value)
    for name in ("at", "expires"):
        value = getattr(record, name)
        if isinstance(value, date):
            changes[name] = in_utc(value)
    if isinstance(record.supersedes, list):
        changes["supersedes"] = tuple(record.supersedes)
    return replace(record, **changes) if changes else record
