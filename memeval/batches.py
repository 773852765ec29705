"""A history as it is written: neighbouring records in one call, and the copies a store is handed.

A store gets copies, never the author's own records: without ``unit``, and with metadata of their
own, so that nothing that it does to them reaches a probe. A copy costs more than most writes to a
memory, so copies are lent, taken back, and lent to the next store that is written the same history,
unless a store has changed them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from memeval.record import Op, Record


class Batch:
    """Records that are written one after the other, each under an id of its own.

    Parameters
    ----------
    records : iterable of Record
        In the order of writing, no id twice.

    Examples
    --------
    >>> batch = Batch([Record("r1", "Noodle bar.", unit="lunch")])
    >>> batch.lend()
    [Record(id='r1', text='Noodle bar.', scope='default', at=None, unit=None, supersedes=(), expires=None, meta={})]
    """  # noqa: E501 - a doctest cannot break a line of output

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = tuple(records)
        self._copies: list[Record] | None = None
        self._metas: list[Mapping[str, Any]] = []

    def __len__(self) -> int:
        """Count the records."""
        return len(self.records)

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to another process without copies: that one makes its own."""
        return Batch, (self.records,)

    @cached_property
    def by_id(self) -> dict[str, Record]:
        """The records by id, in the order of writing."""
        return {record.id: record for record in self.records}

    @cached_property
    def ids(self) -> list[str]:
        """Their ids."""
        return [record.id for record in self.records]

    @cached_property
    def id_tuples(self) -> list[tuple[str, ...]]:
        """What a receipt of each names where it is stored under its own id."""
        return [(name,) for name in self.ids]

    @cached_property
    def _said(self) -> list[Mapping[str, Any]]:
        """The metadata of those records that have any."""
        return [record.meta for record in self.records if record.meta]

    def lend(self) -> list[Record]:
        """Copies for one store, nobody else's until they are given back."""
        copies, self._copies = self._copies, None
        if copies is None or not self._unchanged():
            copies = [copied(record) for record in self.records]
            self._metas = [copy.meta for copy in copies]
        return copies

    def give_back(self, copies: list[Record]) -> None:
        """Take copies back from a store that is done with them."""
        self._copies = copies

    def _unchanged(self) -> bool:
        """Whether all metadata still says what the author wrote; a frozen record has no more."""
        return [meta for meta in self._metas if meta] == self._said


def copied(
    record: Record, id: str | None = None, scope: str | None = None, supersedes: Sequence[str] = ()
) -> Record:
    """A record as a store gets it, under its own names or others.

    Parameters
    ----------
    record : Record
        The author's.
    id, scope, supersedes : optional
        Names in place of its own; with an `id` all of them are.
    """
    if id is None:
        id, scope, supersedes = record.id, record.scope, record.supersedes
    meta = copy.deepcopy(dict(record.meta)) if record.meta else {}
    return Record(
        id,
        record.text,
        record.scope if scope is None else scope,
        record.at,
        None,
        tuple(supersedes),
        record.expires,
        meta,
    )


def steps_of(ops: Iterable[Op]) -> tuple[Batch | Op, ...]:
    """Put neighbouring records together; a second write of one id begins a new batch."""
    steps: list[Batch | Op] = []
    batch: dict[str, Record] = {}
    for op in ops:
        if batch and (not isinstance(op, Record) or op.id in batch):
            steps.append(Batch(batch.values()))
            batch = {}
        if isinstance(op, Record):
            batch[op.id] = op
        else:
            steps.append(op)
    if batch:
        steps.append(Batch(batch.values()))
    return tuple(steps)
