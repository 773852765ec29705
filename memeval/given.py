"""The ordered history of a clean store, and what it comes to.

`Given` is a tuple of operations that knows its own end state. Probes that share one history share
one `Given`, so that what follows from it is worked out once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from functools import cached_property
from typing import Any

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

    def expired(self, now: datetime | None) -> frozenset[str]:
        """Ids that no longer hold at `now`; none when nobody says when it is asked."""
        if now is None:
            return frozenset()
        ends = ((record.id, record.expires) for record in self.records)
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
