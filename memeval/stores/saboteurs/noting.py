# ruff: noqa: D101, D102 - what each does is said in its `fault`
"""Saboteurs that answer by what was written, and not only by what was found."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from memeval.record import Hit, Receipt, Record
from memeval.stores.bound import View
from memeval.stores.broken import meets, stream
from memeval.stores.saboteurs.base import Saboteur

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
Named = tuple[str, Record]


class Noting(Saboteur):
    """Notes what was written, under the ids that the store gave; a base for others.

    Attributes
    ----------
    noted : dict of str to Record
        By the store's id, in the order of their last write; deleted ones are gone.
    """

    def begin(self) -> None:
        super().begin()
        self.noted: dict[str, Record] = {}

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        told = list(records)
        receipts = super().put_many(told)
        for record, receipt in zip(told, receipts, strict=True):
            for store_id in receipt.store_ids:
                self.noted.pop(store_id, None)
                self.noted[store_id] = record
        return receipts

    def drop(self, store_id: str, scope: str) -> None:
        super().drop(store_id, scope)
        self.noted.pop(store_id, None)

    def of_scope(self, view: View) -> list[Named]:
        """Ids and records that a query may see, in the order of writing."""
        return [
            (store_id, record)
            for store_id, record in self.noted.items()
            if record.scope == view.scope and meets(record.meta, view.filter)
        ]

    def oldest_first(self, scope: str) -> list[Named]:
        """Ids and records of a scope by their time; those without one are older than any."""
        mine = [named for named in self.noted.items() if named[1].scope == scope]
        return sorted(mine, key=lambda named: named[1].at or _LONG_AGO)

    def without(self, lost: Iterable[Named], view: View) -> list[Hit]:
        """What is found but for these records, known by id, or by text where a hit has none."""
        ids, texts = set(), set()
        for store_id, record in lost:
            ids.add(store_id)
            texts.add(record.text)
        return [
            hit
            for hit in super().answer(view)
            if (hit.id not in ids if hit.id in self.noted else hit.text not in texts)
        ]


class LosesNewest(Noting):
    name = "loses_newest"
    fault = "the newest record of a scope is not found yet"
    caught_by = "ratchet"
    tag = "age"

    def answer(self, view: View) -> list[Hit]:
        return self.without(self.oldest_first(view.scope)[-1:], view)


class ForgetsOldest(Noting):
    name = "forgets_oldest_10"
    fault = "the oldest tenth of the records of a scope is forgotten, one at least"
    caught_by = "ratchet"
    tag = "age"

    def answer(self, view: View) -> list[Hit]:
        mine = self.oldest_first(view.scope)
        return self.without(mine[: max(1, len(mine) // 10)], view)


class Random(Noting):
    name = "random"
    fault = "any k records of the scope come back, whatever is asked"
    caught_by = "nDCG, leaks, C3"
    tag = "rank"
    must_kill = True

    def answer(self, view: View) -> list[Hit]:
        mine = self.of_scope(view)
        drawn = stream(self.seed, self.noted, view.query)
        return _as_hits(drawn.sample(mine, min(view.k, len(mine))))


class NewestOnly(Noting):
    name = "newest_only"
    fault = "the newest k records of the scope come back, whatever is asked"
    caught_by = "nDCG, leaks, C5"
    tag = "rank"
    must_kill = True

    def answer(self, view: View) -> list[Hit]:
        return _as_hits(self.oldest_first(view.scope)[: -view.k - 1 : -1])


class Constant(Noting):
    name = "constant"
    fault = "the first k records of the scope come back, whatever is asked"
    caught_by = "nDCG, leaks, C5"
    tag = "rank"

    def answer(self, view: View) -> list[Hit]:
        return _as_hits(self.of_scope(view)[: view.k])


class AlwaysAnswers(Noting):
    name = "always_answers"
    fault = "where nothing fits, any k records of the scope come back"
    caught_by = "abstention"
    tag = "negative"

    def answer(self, view: View) -> list[Hit]:
        return super().answer(view) or _as_hits(self.of_scope(view)[: view.k])


class SupersedeKillsBoth(Noting):
    name = "supersede_kills_both"
    fault = "a record that supersedes another is lost with it"
    caught_by = "ratchet"
    tag = "update"
    needs = ("supersedes",)

    def answer(self, view: View) -> list[Hit]:
        return self.without((n for n in self.noted.items() if n[1].supersedes), view)


class DeleteAllOfScope(Noting):
    name = "delete_all_of_scope"
    fault = "to delete one record is to lose all that its scope held"
    caught_by = "ratchet"
    tag = "delete"
    touches = "write"
    needs = ("delete",)

    def begin(self) -> None:
        super().begin()
        self._lost: set[str] = set()

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        receipts = super().put_many(records)
        self._lost.difference_update(i for receipt in receipts for i in receipt.store_ids)
        return receipts

    def drop(self, store_id: str, scope: str) -> None:
        super().drop(store_id, scope)
        self._lost.update(i for i, record in self.noted.items() if record.scope == scope)

    def answer(self, view: View) -> list[Hit]:
        return self.without(((i, self.noted[i]) for i in self._lost & self.noted.keys()), view)


def _as_hits(named: Iterable[Named]) -> list[Hit]:
    return [Hit(store_id, record.text) for store_id, record in named]
