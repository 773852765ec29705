"""Which record is this hit, in a store that grows: no slower after a thousand sessions.

`memeval.harness.matching.IdMap` looks through what was written call by call, which is quick for one
history and slow for thousands of sessions. What is written only to be asked, and taken back by the
store, is forgotten here as well: a store that numbers its records gives the same number again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from memeval.batches import Batch
from memeval.harness.matching import IdMap
from memeval.record import Hit, Record

OWN = "own"


class GrowingIds(IdMap):
    """What was written to a store that grows, and under which ids it lives there.

    Examples
    --------
    >>> ids = GrowingIds()
    >>> ids.wrote_plainly(Batch([Record("r1", "Noodle bar.")]))
    >>> with ids.passing():
    ...     ids.wrote_plainly(Batch([Record("r2", "Falafel van.")]))
    ...     ids.resolve(Hit("r2"))
    ('r2', 'own')
    >>> ids.resolve(Hit("r1")), ids.resolve(Hit("r2"))
    (('r1', 'own'), (None, 'unknown'))
    """

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, Record] = {}
        self._earlier: list[Record] = []  # what an update wrote over, the earliest first
        self._added: list[str] | None = None

    def wrote_plainly(self, batch: Batch) -> None:
        """Note records that are all stored, each under its own id and with its own text."""
        if not self.plain:
            super().wrote_plainly(batch)
            return
        self._deleted.difference_update(batch.by_id if self._deleted else ())
        for record in batch.records:
            before = self._known.pop(record.id, None)
            if before is not None:
                self._earlier.append(before)
            elif self._added is not None:
                self._added.append(record.id)
            self._known[record.id] = record

    def resolve(self, hit: Hit) -> tuple[str | None, str]:
        """Record id and how it was recognised; None and ``unknown`` for a stranger."""
        if self.plain and hit.id in self._known:
            return hit.id, OWN
        self._enter()
        return self._resolve(hit)

    def resolve_all(self, hits: Sequence[Hit]) -> list[tuple[str | None, str]]:
        """The same of each hit of an answer."""
        return [self.resolve(hit) for hit in hits]

    def _plainly(self, record_id: str) -> Record | None:
        return self._known.get(record_id)

    def _enter(self) -> None:
        if self.plain:
            self._batches = [Batch([record]) for record in self._earlier]
            self._batches.append(Batch(self._known.values()))
            super()._enter()
            self._batches = []

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Forget what is written within."""
        if not self.plain:
            yield from self._put_back()
            return
        deleted, n_earlier = set(self._deleted), len(self._earlier)
        self._added = []
        try:
            yield
        finally:
            for name in self._added:
                self._known.pop(name, None)
            self._added, self.plain, self._deleted = None, True, deleted
            for before in reversed(self._earlier[n_earlier:]):
                if before.id in self._known:
                    self._known[before.id] = before
            del self._earlier[n_earlier:]
            self.lost.clear()
            self.merged.clear()

    def _put_back(self) -> Iterator[None]:
        """The same where writes are noted one by one; only stores that name records anew pay it."""
        before = {name: _copied(value) for name, value in vars(self).items()}
        try:
            yield
        finally:
            vars(self).update(before)


def _copied(value: Any) -> Any:
    """A copy that shares nothing with what changes."""
    if isinstance(value, dict):
        return {k: v.copy() if isinstance(v, list | dict) else v for k, v in value.items()}
    return value.copy() if isinstance(value, list | set) else value
