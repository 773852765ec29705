"""One clean store, and what is written to it for one history."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memeval.batches import Batch, copied
from memeval.given import Given
from memeval.harness.matching import IdMap
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Op, Receipt, Record
from memeval.stores.bound import BoundStore, View


@dataclass(frozen=True, slots=True)
class Noted:
    """What a desk knows of a history that was written: enough for a desk that has it restored."""

    ids: IdMap
    written: Sequence[Mapping[str, Record]]
    n_written: int


class Desk:
    """One clean store, and what is written to it for one history.

    The store sees ids and scopes under the names that this desk gives them, never the author's
    labels.

    Parameters
    ----------
    store : BoundStore
        Where to write.
    prefix : str
        Put before every id and scope; empty where the store is all ours.
    opaque_ids : bool
        Hand the store ids that say nothing.

    Attributes
    ----------
    doing : str
        What is being done, in words, for an error that comes of it.
    unsure : int
        Records of which nobody knows whether they were written.
    restored : bool
        Whether the store holds the history already, as it was written to another desk.
    on_written : callable or None
        Called with this desk once the history is written, before it is asked anything.
    """

    def __init__(self, store: BoundStore, prefix: str = "", opaque_ids: bool = False) -> None:
        self.store = store
        self.prefix = prefix
        self.opaque_ids = opaque_ids
        self.renames = bool(prefix or opaque_ids)
        self.ids = IdMap()
        self.doing = "writing"
        self.unsure = 0
        self.restored = False
        self.on_written: Callable[[Desk], object] | None = None
        self._written: list[Mapping[str, Record]] = []
        self._lent: list[tuple[Batch, list[Record]]] = []
        self._gone: set[str] = set()

    def write_all(self, ops: Sequence[Op]) -> None:
        """Write a history in order, neighbouring records in one call where the store can."""
        for step in ops.steps if isinstance(ops, Given) else Given(ops).steps:
            if isinstance(step, Batch):
                self._put(step)
            else:
                self._do(step)

    @property
    def noted(self) -> Noted:
        """What is known of the history that was written."""
        return Noted(self.ids, tuple(self._written), self.n_written)

    def restore(self, noted: Noted) -> None:
        """Take a history as written that the store holds already."""
        self.ids, self._written, self.restored = noted.ids, list(noted.written), True

    def give_back(self) -> None:
        """Take back the copies that were lent to the store, which is asked no more."""
        for batch, copies in () if self.store.hung else self._lent:
            batch.give_back(copies)
        self._lent = []

    @property
    def scopes(self) -> dict[str, str]:
        """Scope of each record that was written, by id."""
        return {name: record.scope for name, record in self._all().items()}

    @property
    def n_written(self) -> int:
        """How many records were written."""
        return len(self._written[0] if len(self._written) == 1 else self._all())

    def _all(self) -> dict[str, Record]:
        found: dict[str, Record] = {}
        for records in self._written:
            found.update(records)
        return found

    def view(self, probe: Probe, query: str | None = None) -> View:
        """What the store gets to see of a probe, or of another query in its place."""
        return View(
            probe.query if query is None else query,
            probe.k,
            self.prefix + probe.scope,
            copy.deepcopy(dict(probe.filter)) if probe.filter else None,
            probe.now,
        )

    def scope_alias(self, scope: str) -> str:
        """Name of a scope as the store knows it."""
        return self.prefix + scope

    def id_alias(self, record_id: str) -> str:
        """Id of a record as the store knows it."""
        if self.opaque_ids:
            return "r" + hashlib.sha256(f"{self.prefix}\x00{record_id}".encode()).hexdigest()[:15]
        return self.prefix + record_id

    def _put(self, batch: Batch) -> None:
        """Write, and note at once what is written: whoever fails later must know what to remove."""
        told = self._told(batch)
        if not self.store.batches:
            self._put_each(batch, told)
            return
        self.doing = f"writing {len(batch)} records"
        self.unsure += len(batch)
        returned = self.store.put_all(told)
        if not self.renames and _is_plain(returned, batch):
            self._note_plainly(batch)
        else:
            receipts = [Receipt.of(one, record) for one, record in zip(returned, told, strict=True)]
            self._note(batch, told, receipts)
        self.unsure -= len(batch)

    def _put_each(self, batch: Batch, told: Sequence[Record]) -> None:
        receipts: list[Receipt] = []
        try:
            for record in told:
                receipts.append(self.store.put(record))
        except BaseException:
            self.doing = f"writing {batch.ids[len(receipts)]!r}"
            self._note(Batch(batch.records[: len(receipts)]), told, receipts)
            raise
        if not self.renames and _is_plain(receipts, batch):
            self._note_plainly(batch)
        else:
            self._note(batch, told, receipts)

    def _told(self, batch: Batch) -> list[Record]:
        """The records as the store gets them: copies, so that nothing it does reaches the probe."""
        if not self.renames:
            copies = batch.lend()
            self._lent.append((batch, copies))
            return copies
        return [
            copied(
                record,
                self.id_alias(record.id),
                self.scope_alias(record.scope),
                [self.id_alias(old) for old in record.supersedes],
            )
            for record in batch.records
        ]

    def _note_plainly(self, batch: Batch) -> None:
        self.ids.wrote_plainly(batch)
        self._written.append(batch.by_id)
        self._gone.difference_update(batch.ids if self._gone else ())

    def _note(self, batch: Batch, told: Sequence[Record], receipts: Sequence[Receipt]) -> None:
        for record, copy_told, receipt in zip(batch.records, told, receipts, strict=False):
            self.ids.wrote(record, receipt, copy_told.id)
            self._gone.difference_update(receipt.store_ids or (copy_told.id,))
        self._written.append(batch.by_id)

    def _do(self, op: Op) -> None:
        self.doing = type(op).__name__.lower()
        if isinstance(op, Delete):
            self.doing += f" {op.id!r}"
            store_ids = self.ids.store_ids(op.id)
            if not store_ids and op.id not in self.ids.lost:
                store_ids = (self.id_alias(op.id),)
            for store_id in store_ids:
                self.store.delete(store_id, self.scope_alias(self._scope(op.id)))
            self._gone.update(store_ids)
            self.ids.deleted(op.id)
        elif isinstance(op, Advance):
            self.store.advance(op.by)
        elif isinstance(op, Consolidate):
            self.store.consolidate()

    def _scope(self, record_id: str) -> str:
        return next(r[record_id].scope for r in reversed(self._written) if record_id in r)

    def remove_all(self) -> int:
        """Delete what was written, past any limit of calls.

        Returns
        -------
        int
            Records that could not be removed, or of which nobody knows whether they were written.
        """
        written = {name: scope for name, scope in self.scopes.items() if name not in self.ids.lost}
        if not self.store.supports("delete"):
            return len(written) + self.unsure
        removed = sum(self._removed(name, scope) for name, scope in written.items())
        return len(written) - removed + self.unsure

    def _removed(self, record_id: str, scope: str) -> bool:
        """Delete one record under every id it ever had; False where that fails."""
        ever = self.ids.all_store_ids(record_id) or (self.id_alias(record_id),)
        there = [store_id for store_id in ever if store_id not in self._gone]
        self._gone.update(there)
        try:
            for store_id in there:
                self.store.delete(store_id, self.scope_alias(scope), within_limit=False)
        except Exception:  # told as a number: the answers are in, and they are good
            return False
        return True


def _is_plain(returned: Sequence[Any], batch: Batch) -> bool:
    """Whether all records are stored under their own ids, with their own texts."""
    first = returned[0]
    if first is None:
        return returned.count(None) == len(batch)
    if type(first) is str:
        return returned == batch.ids
    if type(first) is not Receipt or set(map(type, returned)) != {Receipt}:
        return False
    return [receipt.store_ids for receipt in returned] == batch.id_tuples and not any(
        receipt.texts or receipt.outcome != "stored" for receipt in returned
    )
