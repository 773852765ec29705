"""Stores for the tests of the command line: one that works, and what may go wrong."""

from __future__ import annotations

import time
from typing import Any

from memeval import BaseStore, Capabilities, Hit, Receipt, Record


class Words(BaseStore):
    """Finds records of the scope by the words they share with the query."""

    capabilities = Capabilities(deterministic=True)

    def __init__(self) -> None:
        self.kept: dict[str, Record] = {}

    def put(self, record: Record) -> Receipt:
        self.kept[record.id] = record
        return Receipt("stored", (record.id,))

    def search(self, query: str, *, k: int, scope: str, **_: Any) -> list[Hit]:
        asked = set(query.lower().rstrip("?").split())
        return [Hit(r.id, r.text) for r in self.ranked(asked) if self.sees(r, scope)][:k]

    def ranked(self, asked: set[str]) -> list[Record]:
        words = {r.id: set(r.text.lower().rstrip(".").split()) for r in self.kept.values()}
        shared = {i: len(asked & said) for i, said in words.items()}
        found = [r for r in self.kept.values() if shared[r.id] >= 2]
        return sorted(found, key=lambda r: -shared[r.id])

    def sees(self, record: Record, scope: str) -> bool:
        return record.scope == scope


class Leaky(Words):
    """Keeps no scopes apart, although it says so."""

    def sees(self, record: Record, scope: str) -> bool:
        return True


class Failing(Words):
    """Fails on every query of the suite, not on the self check."""

    def search(self, query: str, *, k: int, scope: str, **options: Any) -> list[Hit]:
        if "canary" not in query.lower():
            raise ConnectionError("no route to the index\x1b[31m")
        return super().search(query, k=k, scope=scope)


class FailingOnce(Words):
    """Fails on the query about the ladder alone."""

    def search(self, query: str, *, k: int, scope: str, **options: Any) -> list[Hit]:
        if "ladder" in query:
            raise ConnectionError("no route to the index")
        return super().search(query, k=k, scope=scope)


class Slow(Words):
    """Takes its time over every query of the suite."""

    def search(self, query: str, *, k: int, scope: str, **options: Any) -> list[Hit]:
        if "canary" not in query.lower():
            time.sleep(0.2)
        return super().search(query, k=k, scope=scope)


class Filled(Words):
    """Holds records already."""

    def count(self, scope: str | None = None) -> int:
        return 3


class Hole(Words):
    """Takes everything and finds nothing."""

    def search(self, query: str, *, k: int, scope: str, **options: Any) -> list[Hit]:
        return []


class Unclearable(Words):
    """Fails where memeval asks for a clean store, not where a probe is asked."""

    capabilities = Capabilities(isolation="clear")

    def clear(self) -> None:
        raise LookupError("no such table: notes")

    def delete(self, store_id: str, *, scope: str | None = None) -> None:
        self.kept.pop(store_id)


class Async:
    """The same as `Words`, in coroutines."""

    capabilities = Capabilities(deterministic=True)

    def __init__(self) -> None:
        self.words = Words()

    async def put(self, record: Record) -> Receipt:
        return self.words.put(record)

    async def search(self, query: str, *, k: int, scope: str, **options: Any) -> list[Hit]:
        return self.words.search(query, k=k, scope=scope)


def unmakeable() -> Words:
    """Cannot be made."""
    raise ValueError("the address of the index is not set")


not_a_factory = Words()
