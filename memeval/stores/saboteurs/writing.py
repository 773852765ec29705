# ruff: noqa: D101, D102 - what each does is said in its `fault`
"""Saboteurs that write something else than they were told to, or forget to delete."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from memeval.record import Receipt, Record
from memeval.stores.saboteurs.answers import LONGEST_TEXT
from memeval.stores.saboteurs.base import Saboteur

_DIGITS = re.compile(r"\d+")
_NEGATION = re.compile(r"\b(?:not|no|never|none|nobody|nothing|without)\b ?|n['\u2019]t\b", re.I)
_VALUES = re.compile(r"[A-Z]\w*|[0-9]+")


class TruncateText(Saboteur):
    name = "truncate_text"
    fault = f"texts are kept up to {LONGEST_TEXT} characters"
    caught_by = "text fidelity"
    tag = "long"
    touches = "write"
    needs = ("texts",)

    def written(self, record: Record) -> Iterable[Record]:
        if len(record.text) <= LONGEST_TEXT:
            return (record,)
        return (replace(record, text=record.text[:LONGEST_TEXT]),)


class DigitsDropped(Saboteur):
    name = "digits_dropped"
    fault = "digits are lost from texts"
    caught_by = "text fidelity"
    tag = "number"
    touches = "write"
    needs = ("texts",)

    def written(self, record: Record) -> Iterable[Record]:
        return (_without(_DIGITS, record),)


class NegationBlind(Saboteur):
    name = "negation_blind"
    fault = "words such as not and never are lost from texts"
    caught_by = "text fidelity"
    tag = "negation"
    touches = "write"
    needs = ("texts",)

    def written(self, record: Record) -> Iterable[Record]:
        return (_without(_NEGATION, record),)


def _without(parts: re.Pattern[str], record: Record) -> Record:
    kept, found = parts.subn("", record.text)
    return replace(record, text=kept) if found and kept.strip() else record


class NoDedup(Saboteur):
    name = "no_dedup"
    fault = "a record that is written again stands beside what it was before"
    caught_by = "text fidelity"
    tag = "update"
    touches = "write"

    def begin(self) -> None:
        super().begin()
        self._writes: Counter[str] = Counter()

    def written(self, record: Record) -> Iterable[Record]:
        self._writes[record.id] += 1
        n = self._writes[record.id]
        return (record if n == 1 else replace(record, id=f"{record.id}-{n}"),)


class IdCaseFolding(Saboteur):
    name = "id_case_folding"
    fault = "ids that differ only in letter case are one, and the later record wins"
    caught_by = "ids unknown, ratchet"
    tag = "ident"
    touches = "write"

    def begin(self) -> None:
        super().begin()
        self._kept_as: dict[str, str] = {}

    def written(self, record: Record) -> Iterable[Record]:
        folded = record.id.lower()
        old = tuple(map(str.lower, record.supersedes))
        if (folded, old) == (record.id, record.supersedes):
            return (record,)
        return (replace(record, id=folded, supersedes=old),)

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write, and say that all of it is kept under its own id."""
        told = list(records)
        receipts = super().put_many(told)
        for n, (record, receipt) in enumerate(zip(told, receipts, strict=True)):
            folded = record.id.lower()
            if folded != record.id and receipt.store_ids == (folded,):
                receipts[n] = replace(receipt, store_ids=(record.id,))
                self._kept_as[record.id] = folded
        return receipts

    def _folded(self, store_id: str) -> str:
        return self._kept_as.get(store_id, store_id)

    def drop(self, store_id: str, scope: str) -> None:
        super().drop(self._folded(store_id), scope)

    def remove(self, store_id: str, scope: str) -> None:
        super().remove(self._folded(store_id), scope)


class IgnoresSupersede(Saboteur):
    name = "ignores_supersede"
    fault = "what was superseded is found as if it still held"
    caught_by = "superseded"
    tag = "update"
    must_kill = True
    touches = "write"
    needs = ("supersedes",)

    def written(self, record: Record) -> Iterable[Record]:
        return (replace(record, supersedes=()) if record.supersedes else record,)


class KeepsOldest(Saboteur):
    name = "keeps_oldest"
    fault = "the first version of a record stays, and later ones are dropped"
    caught_by = "superseded, ratchet"
    tag = "update"
    touches = "write"

    def begin(self) -> None:
        super().begin()
        self._seen: set[str] = set()

    def written(self, record: Record) -> Iterable[Record]:
        if record.supersedes or record.id in self._seen:
            return ()
        self._seen.add(record.id)
        return (record,)

    def drop(self, store_id: str, scope: str) -> None:
        super().drop(store_id, scope)
        self._seen.discard(store_id)


class IgnoresDelete(Saboteur):
    name = "ignores_delete"
    fault = "what was deleted is still found"
    caught_by = "deleted"
    tag = "delete"
    must_kill = True
    touches = "write"
    needs = ("delete",)

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        receipts = super().put_many(records)
        again = {store_id for receipt in receipts for store_id in receipt.store_ids}
        self._besides = [there for there in self._besides if there[0] not in again]
        return receipts

    def drop(self, store_id: str, scope: str) -> None:
        self._besides.append((store_id, scope))  # taken away at the end, and not now


class OverMerge(Saboteur):
    name = "over_merge"
    fault = "a record that differs from an earlier one only in its values is taken for the same"
    caught_by = "ratchet"
    tag = "number"
    touches = "write"

    def begin(self) -> None:
        super().begin()
        self._first: dict[tuple[str, str], str] = {}

    def written(self, record: Record) -> Iterable[Record]:
        shape = (record.scope, _VALUES.sub("#", record.text))
        same = self._first.setdefault(shape, record.id) == record.id
        return (record,) if same or record.supersedes else ()
