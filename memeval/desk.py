"""One clean store, and what is written to it for one history."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Collection, Sequence

from memeval.matching import IdMap
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Op, Receipt, Record
from memeval.stores.bound import BoundStore, View


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
    """

    def __init__(self, store: BoundStore, prefix: str = "", opaque_ids: bool = False) -> None:
        self.store = store
        self.prefix = prefix
        self.opaque_ids = opaque_ids
        self.ids = IdMap()
        self.scopes: dict[str, str] = {}
        self.doing = "writing"
        self.unsure = 0
        self._gone: set[str] = set()

    def write_all(self, ops: Sequence[Op]) -> None:
        """Write a history in order, neighbouring records in one call where the store can."""
        batch: dict[str, Record] = {}
        for op in ops:
            if not isinstance(op, Record) or op.id in batch:
                self._put(batch.values())
                batch = {}
            if isinstance(op, Record):
                batch[op.id] = op
            else:
                self._do(op)
        self._put(batch.values())

    def view(self, probe: Probe, query: str | None = None) -> View:
        """What the store gets to see of a probe, or of another query in its place."""
        return View(
            probe.query if query is None else query,
            probe.k,
            self.scope_alias(probe.scope),
            dict(probe.filter) or None,
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

    def _put(self, batch: Collection[Record]) -> None:
        """Write, and note at once what is written: whoever fails later must know what to remove."""
        if not self.store.batches:
            for record in batch:
                self.doing = f"writing {record.id!r}"
                told = self._told(record)
                self._note(record, told, self.store.put(told))
        elif batch:
            self.doing = f"writing {len(batch)} records"
            all_told = [self._told(record) for record in batch]
            self.unsure += len(all_told)
            receipts = self.store.put_many(all_told)
            self.unsure -= len(all_told)
            for record, told, receipt in zip(batch, all_told, receipts, strict=True):
                self._note(record, told, receipt)

    def _note(self, record: Record, told: Record, receipt: Receipt) -> None:
        self.ids.wrote(record, receipt, told.id)
        self.scopes[record.id] = record.scope
        self._gone.difference_update(receipt.store_ids or (told.id,))

    def _told(self, record: Record) -> Record:
        """The record as the store gets it: a copy, so that nothing it does reaches the probe."""
        return Record(
            id=self.id_alias(record.id),
            text=record.text,
            scope=self.scope_alias(record.scope),
            at=record.at,
            supersedes=tuple(self.id_alias(old) for old in record.supersedes),
            expires=record.expires,
            meta=copy.deepcopy(dict(record.meta)) if record.meta else {},
        )

    def _do(self, op: Op) -> None:
        self.doing = type(op).__name__.lower()
        if isinstance(op, Delete):
            self.doing += f" {op.id!r}"
            store_ids = self.ids.store_ids(op.id)
            if not store_ids and op.id not in self.ids.lost:
                store_ids = (self.id_alias(op.id),)
            for store_id in store_ids:
                self.store.delete(store_id, self.scope_alias(self.scopes[op.id]))
            self._gone.update(store_ids)
            self.ids.deleted(op.id)
        elif isinstance(op, Advance):
            self.store.advance(op.by)
        elif isinstance(op, Consolidate):
            self.store.consolidate()

    def remove_all(self) -> int:
        """Delete what was written, past any limit of calls.

        Returns
        -------
        int
            Records that could not be removed, or of which nobody knows whether they were written.
        """
        written = [name for name in self.scopes if name not in self.ids.lost]
        if not self.store.supports("delete"):
            return len(written) + self.unsure
        return sum(not self._removed(name) for name in written) + self.unsure

    def _removed(self, record_id: str) -> bool:
        """Delete one record under every id it ever had; False where that fails."""
        ever = self.ids.all_store_ids(record_id) or (self.id_alias(record_id),)
        there = [store_id for store_id in ever if store_id not in self._gone]
        self._gone.update(there)
        try:
            for store_id in there:
                scope = self.scope_alias(self.scopes[record_id])
                self.store.delete(store_id, scope, within_limit=False)
        except Exception:  # told as a number: the answers are in, and they are good
            return False
        return True
