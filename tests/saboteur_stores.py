"""What the tests of saboteurs are made with: a small sound store, and ways to ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from memeval.record import Delete, Hit, Op, Record
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore
from memeval.stores.saboteurs import Saboteur
from memeval.stores.sqlite import SqliteStore

STORES: dict[str, Callable[[], Any]] = {"list": lambda: Listing(), "sqlite": SqliteStore}


class Listing:
    """Ranks by shared words, then by the order of writing; updates, supersedes, deletes."""

    capabilities = Capabilities(
        score_order="high", deterministic=True, honours=frozenset({"supersedes"})
    )

    def __init__(self) -> None:
        self.kept: dict[str, Record] = {}
        self.gone: set[str] = set()

    def put(self, record: Record) -> str:
        self.kept[record.id] = record
        self.gone.update(record.supersedes)
        return record.id

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        asked = set(words(query))
        found = [
            Hit(record.id, record.text, float(len(asked & set(words(record.text)))))
            for record in self.kept.values()
            if record.scope == scope and record.id not in self.gone
        ]
        return sorted((hit for hit in found if hit.score), key=lambda hit: -(hit.score or 0))[:k]

    def delete(self, store_id: str, *, scope: str) -> None:
        if store_id in self.kept and self.kept[store_id].scope == scope:
            del self.kept[store_id]


def words(text: str) -> list[str]:
    return text.lower().replace(".", " ").replace("?", " ").split()


def told(
    kind: type[Saboteur], ops: Iterable[Op], make: Callable[[], Any] = Listing, seed: int = 0
) -> Saboteur:
    """A saboteur of a new run, after a history."""
    kind.reset()
    made = kind(BoundStore(make()), seed)
    write(made, ops)
    return made


def write(store: Saboteur, ops: Iterable[Op]) -> None:
    for op in ops:
        if isinstance(op, Record):
            store.put(op)
        elif isinstance(op, Delete):
            scope = next(r.scope for r in ops if isinstance(r, Record) and r.id == op.id)
            store.delete(op.id, scope=scope)


def ids(hits: Iterable[Hit]) -> list[str | None]:
    return [hit.id for hit in hits]
