"""Which record is this hit? The map from a store's ids back to the probe's.

A store may assign ids, split one record into several, merge several into one, or rewrite
what it is given, so the map is many to many. A hit is recognised by, in this order: its own id,
an id in its metadata, the receipts of the writes, its exact text, its normalised text. What nobody
wrote stays unknown and keeps its place in the answer.

Most stores do none of this: every record is kept under its own id, and every hit carries it. So
such writes are noted a batch at a time, and entered one by one only when a hit comes up that no
own id explains, or a write that went otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memeval.batches import Batch
from memeval.record import Hit, Receipt, Record
from memeval.text import normalise


class IdMap:
    """What was written to one store, and under which ids it lives there.

    Attributes
    ----------
    lost : set of str
        Records whose write was rejected.
    merged : dict of str to tuple of str
        For a record whose write went into the id of other records: those records.
    plain : bool
        Whether so far every record was stored under its own id, and nothing else is known.

    Examples
    --------
    >>> ids = IdMap()
    >>> ids.wrote(Record("g1", "A pilot's licence."), Receipt("split", ("m-81", "m-82")))
    >>> ids.resolve(Hit("m-82"))
    ('g1', 'receipt')
    >>> ids.resolve(Hit("zz9"))
    (None, 'unknown')
    """

    def __init__(self) -> None:
        self.lost: set[str] = set()
        self.merged: dict[str, tuple[str, ...]] = {}
        self.plain = True
        self._batches: list[Batch] = []
        self._deleted: set[str] = set()

    def _begin(self) -> None:
        """Make what is needed to note writes one by one."""
        self._texts: dict[str, str] = {}
        self._nth: dict[str, int] = {}  # the last write of each record, counted
        self._writes = 0
        self._own: dict[str, str] = {}
        self._store_ids: dict[str, tuple[str, ...]] = {}
        self._ever: dict[str, dict[str, None]] = {}
        self._said: set[tuple[str, str]] = set()
        self._owners: dict[str, list[str]] = {}
        self._by_text: dict[str, list[str]] = {}
        self._by_normal: dict[str, list[str]] | None = None

    def wrote(self, record: Record, receipt: Receipt, own_id: str | None = None) -> None:
        """Note one write.

        Parameters
        ----------
        record : Record
            What the probe wrote, under the probe's own id.
        receipt : Receipt
            What the store said.
        own_id : str, optional
            The id that was handed to the store, where it is not the probe's.
        """
        self._enter()
        self._write(record, receipt, own_id)

    def wrote_plainly(self, batch: Batch) -> None:
        """Note records that are all stored, each under its own id and with its own text."""
        self._deleted.difference_update(batch.by_id if self._deleted else ())
        if self.plain:
            self._batches.append(batch)
            return
        for record in batch.records:
            self._write(record, Receipt("stored", (record.id,)), record.id)

    def _enter(self) -> None:
        """Enter record by record what was noted by batch."""
        if not self.plain:
            return
        self.plain, deleted = False, set(self._deleted)
        self._begin()
        for batch in self._batches:
            for record in batch.records:
                self._write(record, Receipt("stored", (record.id,)), record.id)
        self._deleted = deleted  # it was up to date, the writes are older

    def _write(self, record: Record, receipt: Receipt, own_id: str | None) -> None:
        name = record.id
        self._deleted.discard(name)
        self.lost.discard(name)
        self.merged.pop(name, None)
        self._texts[name] = record.text
        self._nth[name] = self._writes = self._writes + 1
        self._own[own_id or name] = name
        if receipt.outcome == "rejected":
            self.lost.add(name)
        self._store_ids[name] = receipt.store_ids
        self._ever.setdefault(name, {}).update(dict.fromkeys(receipt.store_ids))
        self._share(name, receipt.store_ids)
        if record.meta:
            self._said.update(_told(record.meta))
        for text in (record.text, *receipt.texts):
            self._by_text.setdefault(text, []).append(name)
        self._by_normal = None

    def _share(self, name: str, store_ids: tuple[str, ...]) -> None:
        """Note who lives under these ids; a record that finds another there was merged into it."""
        earlier: list[str] = []
        for store_id in store_ids:
            owners = self._owners.setdefault(store_id, [])
            own = self._own.get(store_id)
            if own is not None and own != name and not self._store_ids.get(own):
                owners.insert(0, own)  # a store that gives no ids keeps those of the probe
            earlier += [owner for owner in owners if owner != name]
            if name not in owners:
                owners.append(name)
        if earlier:
            self.merged[name] = tuple(dict.fromkeys(earlier))

    def deleted(self, record_id: str) -> None:
        """Note a delete: of two records under one store id the live one is meant."""
        self._deleted.add(record_id)

    def is_deleted(self, record_id: str) -> bool:
        """Whether a record was deleted, and not written again since."""
        return record_id in self._deleted

    def store_ids(self, record_id: str) -> tuple[str, ...]:
        """Ids that the store gave for the last write of a record."""
        if self.plain:
            return () if self._plainly(record_id) is None else (record_id,)
        return self._store_ids.get(record_id, ())

    def all_store_ids(self, record_id: str) -> tuple[str, ...]:
        """Ids that the store gave for a record at any of its writes, to take them all away."""
        if self.plain:
            return self.store_ids(record_id)
        return tuple(self._ever.get(record_id, ()))

    def text(self, record_id: str) -> str | None:
        """Text that was written last for a record; None for one that was not written."""
        if self.plain:
            record = self._plainly(record_id)
            return None if record is None else record.text
        return self._texts.get(record_id)

    def _plainly(self, record_id: str) -> Record | None:
        """A record by its own id, as it was written last."""
        for batch in reversed(self._batches):
            if record_id in batch.by_id:
                return batch.by_id[record_id]
        return None

    def resolve(self, hit: Hit) -> tuple[str | None, str]:
        """Record id and how it was recognised; None and ``unknown`` for a stranger."""
        if self.plain:
            for batch in self._batches:
                if hit.id in batch.by_id:
                    return hit.id, "own"
            self._enter()
        return self._resolve(hit)

    def resolve_all(self, hits: Sequence[Hit]) -> list[tuple[str | None, str]]:
        """The same of each hit of an answer; usually all carry their own id."""
        ids = [hit.id for hit in hits]
        if self.plain and len(self._batches) == 1 and self._batches[0].by_id.keys() >= set(ids):
            return [(name, "own") for name in ids]
        return [self.resolve(hit) for hit in hits]

    def _resolve(self, hit: Hit) -> tuple[str | None, str]:
        owners = self._owners.get(hit.id, []) if hit.id is not None else []
        own = self._own.get(hit.id) if hit.id is not None else None
        if own is not None:
            name = self._of_several(own, owners, hit.text)
            return name, "own" if name == own else "receipt"
        told = self._in_metadata(hit, owners)
        if told is not None:
            return told, "metadata"
        if owners:
            return self._choose(owners, hit.text), "receipt"
        if hit.text in self._by_text:
            return self._latest(self._by_text[hit.text]), "text"
        same = self._with_text(hit.text)
        return (self._latest(same), "text") if same else (None, "unknown")

    def _of_several(self, own: str, owners: list[str], text: str) -> str:
        """Under an id of the probe's that stands for other records too, the one that is meant."""
        if not owners or owners == [own]:
            return own
        if own in owners:
            return self._choose(owners, text)
        # The store numbers records in its own way and a number happens to be an id of ours.
        others = [name for name in owners if name in self._with_text(text)]
        return self._latest(others) if others and text != self._texts[own] else own

    def _in_metadata(self, hit: Hit, owners: list[str]) -> str | None:
        """The record that the store names in its metadata, fields of the author's own aside."""
        told = [item for item in _told(hit.meta) if item not in self._said and item[1] in self._own]
        names = list(dict.fromkeys(self._own[value] for _, value in told))
        if len(names) < 2:
            return names[0] if names else None
        same = self._with_text(hit.text)
        likely = [n for n in names if n in owners] or [n for n in names if n in same] or names
        return likely[0]

    def _choose(self, owners: list[str], text: str) -> str:
        """Of several records under one id, the one with this text, else the latest live one."""
        if len(owners) == 1:
            return owners[0]
        same = [name for name in owners if self._texts[name] == text]
        return self._latest(same or [n for n in owners if n in self._with_text(text)] or owners)

    def _with_text(self, text: str) -> list[str]:
        """Records that were written, or are kept, with this text or one that reads the same."""
        if not text.strip():
            return []
        return self._by_text.get(text) or self._normalised().get(normalise(text), [])

    def _latest(self, owners: list[str]) -> str:
        if len(owners) == 1:
            return owners[0]
        live = [name for name in owners if name not in self._deleted]
        return max(live or owners, key=self._nth.__getitem__)

    def _normalised(self) -> dict[str, list[str]]:
        if self._by_normal is None:
            self._by_normal = {}
            for text, owners in self._by_text.items():
                self._by_normal.setdefault(normalise(text), []).extend(owners)
        return self._by_normal


def _told(meta: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Keys and texts of metadata, those in lists last; what a record replaces is not its name."""
    alone = [(key, said) for key, said in meta.items() if isinstance(said, str)]
    listed = [
        (key, item)
        for key, said in meta.items()
        if isinstance(said, list | tuple) and key != "supersedes"
        for item in said
        if isinstance(item, str)
    ]
    return alone + listed
