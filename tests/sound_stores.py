"""Small stores without a fault, each of another kind, and one fault for each relation."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities

HONOURS = frozenset({"supersedes"})


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def cosine(one: str, other: str) -> float:
    first, second = Counter(words(one)), Counter(words(other))
    shared = sum(first[word] * second[word] for word in first)
    sizes = math.hypot(*first.values()) * math.hypot(*second.values())
    return shared / sizes if sizes else 0.0


class Exact:
    """Every record of the scope that shares a word, by the cosine of word counts; ties by text."""

    capabilities = Capabilities(score_order="high", deterministic=True, honours=HONOURS)

    def __init__(self) -> None:
        self.kept: dict[str, Record] = {}
        self.replaced: set[str] = set()

    def put(self, record: Record) -> Any:
        self.kept[record.id] = record
        self.replaced.update(record.supersedes)
        return record.id

    def delete(self, store_id: str, *, scope: str) -> None:
        self.kept.pop(store_id, None)

    def score(self, query: str, record: Record) -> float:
        return cosine(query, record.text)

    def ranked(self, query: str, scope: str) -> list[tuple[float, str, Record]]:
        scored = [
            (self.score(query, record), name, record)
            for name, record in self.kept.items()
            if record.scope == scope and name not in self.replaced
        ]
        return sorted((s for s in scored if s[0] > 0), key=lambda s: (-s[0], s[2].text))

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        return [Hit(name, r.text, score) for score, name, r in self.ranked(query, scope)[:k]]


class Unscored(Exact):
    """Ranks by the number of shared words, ties by the order of writing, and tells no score."""

    capabilities = Capabilities(deterministic=True)

    def score(self, query: str, record: Record) -> float:
        return len(set(words(query)) & set(words(record.text)))

    def ranked(self, query: str, scope: str) -> list[tuple[float, str, Record]]:
        scored = [
            (self.score(query, record), name, record)
            for name, record in self.kept.items()
            if record.scope == scope
        ]
        return sorted((s for s in scored if s[0] > 0), key=lambda s: -s[0])

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        return [Hit(name, r.text) for _, name, r in self.ranked(query, scope)[:k]]


class NothingDeclared(Unscored):
    """The same, and declares nothing at all."""

    capabilities = None  # type: ignore[assignment]


class Distances(Exact):
    """Tells distances, where less is better."""

    capabilities = Capabilities(score_order="low", deterministic=True, honours=HONOURS)

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        return [Hit(n, r.text, 1 - s) for s, n, r in self.ranked(query, scope)[:k]]


class Everywhere(Exact):
    """Weighs words by how rare they are in all scopes together."""

    def score(self, query: str, record: Record) -> float:
        texts = [set(words(one.text)) for one in self.kept.values()]
        shared = set(words(query)) & set(words(record.text))
        rare = sum(math.log(1 + len(texts) / sum(w in t for t in texts)) for w in shared)
        return rare / math.sqrt(10 + len(words(record.text)))


class Assigning(Exact):
    """Gives ids of its own; a second write is a second record."""

    capabilities = Capabilities(ids="assigned", score_order="high", deterministic=True)

    def put(self, record: Record) -> Any:
        self.writes = getattr(self, "writes", 0) + 1
        self.kept[f"m{self.writes}"] = record
        return [f"m{self.writes}"]


class Merging(Exact):
    """Takes records of one scope with the same words for one."""

    capabilities = Capabilities(dedupes=True, score_order="high", deterministic=True)

    def put(self, record: Record) -> Any:
        for name, other in self.kept.items():
            if other.scope == record.scope and words(other.text) == words(record.text):
                return Receipt("merged" if name != record.id else "stored", (name,))
        return super().put(record)


class Rewriting(Assigning):
    """Keeps what it makes of a text, under an id of its own."""

    capabilities = Capabilities(
        ids="assigned", rewrites=True, score_order="high", deterministic=True
    )

    def put(self, record: Record) -> Any:
        text = f"THE USER SAID: {record.text.upper()}"
        return super().put(Record(record.id, text, record.scope, record.at))


class NoScopes(Exact):
    """Has one place for all, and cannot delete."""

    capabilities = Capabilities(scoping="none", score_order="high", deterministic=True)
    delete = None  # type: ignore[assignment]

    def ranked(self, query: str, scope: str) -> list[tuple[float, str, Record]]:
        scored = [(self.score(query, r), name, r) for name, r in self.kept.items()]
        return sorted((s for s in scored if s[0] > 0), key=lambda s: (-s[0], s[2].text))


class Async:
    """Every method is a coroutine function."""

    capabilities = Exact.capabilities

    def __init__(self) -> None:
        self.inner = Exact()

    async def put(self, record: Record) -> Any:
        return self.inner.put(record)

    async def delete(self, store_id: str, *, scope: str) -> None:
        self.inner.delete(store_id, scope=scope)

    async def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        return self.inner.search(query, k=k, scope=scope)


class Late(Exact):
    """What is written or deleted is seen a search later."""

    capabilities = Capabilities(
        score_order="high", deterministic=True, honours=HONOURS, consistency="eventual"
    )

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Callable[[], object]] = []

    def put(self, record: Record) -> Any:
        self.waiting.append(lambda: Exact.put(self, record))
        return record.id

    def delete(self, store_id: str, *, scope: str) -> None:
        self.waiting.append(lambda: self.kept.pop(store_id, None))

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        found = super().search(query, k=k, scope=scope)
        for do in self.waiting:
            do()
        self.waiting.clear()
        return found


class Wavering(Exact):
    """Declares that its answers change, and drops every fifth hit that it ever gave."""

    capabilities = Capabilities(score_order="high", deterministic=False)
    step = 5

    def __init__(self) -> None:
        super().__init__()
        self.given = 0

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        left = []
        for hit in super().search(query, k=k, scope=scope):
            self.given += 1
            left += [hit] if self.given % self.step else []
        return left


class WaveringSilently(Wavering):
    """The same, and does not say so."""

    capabilities = Capabilities(score_order="high")


SOUND: tuple[Callable[[], Any], ...] = (
    Exact,
    Unscored,
    NothingDeclared,
    Distances,
    Everywhere,
    Assigning,
    Merging,
    Rewriting,
    NoScopes,
    Async,
    Late,
    Wavering,
    WaveringSilently,
)


class BreaksR1(Exact):
    def ranked(self, query: str, scope: str) -> list[tuple[float, str, Record]]:
        order = list(self.kept)
        return sorted(super().ranked(query, scope), key=lambda s: order.index(s[1]))


class BreaksR3(Exact):
    def ranked(self, query: str, scope: str) -> list[tuple[float, str, Record]]:
        there = {r.scope for r in self.kept.values() if r.scope.lower() == scope.lower()}
        found = [one for same in there for one in super(BreaksR3, self).ranked(query, same)]
        return sorted(found, key=lambda s: (-s[0], s[2].text))


class BreaksR3ByCutting(Exact):
    """Cuts over all scopes at k, and only then looks at the scope."""

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        scored = [(self.score(query, r), n, r) for n, r in self.kept.items()]
        best = sorted(scored, key=lambda s: (-s[0], s[2].scope == scope))[:k]
        return [
            Hit(n, r.text, s)
            for s, n, r in best
            if r.scope == scope and n not in self.replaced and s > 0
        ]


class BreaksR4(Exact):
    def ranked(self, query: str, scope: str) -> list[tuple[float, str, Record]]:
        return [] if scope.endswith("2") else super().ranked(query, scope)


class BreaksR5(Exact):
    def put(self, record: Record) -> Any:
        self.kept[record.id.lower()] = record
        self.replaced.update(record.supersedes)
        return record.id.lower()


class BreaksR6(Exact):
    def put(self, record: Record) -> Any:
        name = record.id + "+" * (record.id in self.kept)
        self.kept[name] = record
        self.replaced.update(record.supersedes)
        return [record.id]


class BreaksR7(Exact):
    def delete(self, store_id: str, *, scope: str) -> None:
        first = words(self.kept[store_id].text)[0] if store_id in self.kept else ""
        for name, record in list(self.kept.items()):
            if record.scope == scope and words(record.text)[0] == first:
                del self.kept[name]


class BreaksR8(Exact):
    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def ranked(self, query: str, scope: str) -> list[tuple[float, str, Record]]:
        self.asked += 1
        found = super().ranked(query, scope)
        return found[1:] if self.asked % 2 else found


class BreaksR9(Exact):
    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        return super().search(query, k=k - 1 if k > 2 else k, scope=scope)


class BreaksR9b(Exact):
    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        found = super().search(query, k=k, scope=scope)
        return found[::-1] if k == 2 else found


class BreaksR11(Exact):
    def ranked(self, query: str, scope: str) -> list[tuple[float, str, Record]]:
        return super().ranked(query, scope)[::-1]


class BreaksR11b(Exact):
    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        found = super().search(query, k=k, scope=scope)
        return [Hit(hit.id, hit.text[:80], hit.score) for hit in found]


class BreaksR12(Exact):
    def put(self, record: Record) -> Any:
        self.kept[record.id] = record
        return record.id


class BreaksR13(Exact):
    def delete(self, store_id: str, *, scope: str) -> None:
        pass


class BreaksR14(Exact):
    def ranked(self, query: str, scope: str) -> list[tuple[float, str, Record]]:
        found = super().ranked(query, scope)
        return [one for one in found if one[2].at is None or one[2].at.year >= 2025]


class BreaksR2(Exact):
    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        crowded = sum(r.scope == scope for r in self.kept.values()) > 14
        return super().search(query, k=1 if crowded else k, scope=scope)


class BreaksR13b(Exact):
    def delete(self, store_id: str, *, scope: str) -> None:
        self.kept.clear()


class BreaksR15(Exact):
    def ranked(self, query: str, scope: str) -> list[tuple[float, str, Record]]:
        found = super().ranked(query, scope)
        rest = [(0.0, n, r) for n, r in self.kept.items() if r.scope == scope]
        return found or sorted(rest, key=lambda s: s[2].text)


class BreaksR10(Exact):
    def score(self, query: str, record: Record) -> float:
        said = set(re.findall(r"\w+", record.text))
        shared = len(said & set(re.findall(r"\w+", query)))
        return shared / math.sqrt(len(said))


BREAKING: dict[str, Callable[[], Any]] = {
    "R1": BreaksR1,
    "R3": BreaksR3,
    "R4": BreaksR4,
    "R5": BreaksR5,
    "R6": BreaksR6,
    "R7": BreaksR7,
    "R8": BreaksR8,
    "R9": BreaksR9,
    "R9b": BreaksR9b,
    "R11": BreaksR11,
    "R11b": BreaksR11b,
    "R12": BreaksR12,
    "R13": BreaksR13,
    "R14": BreaksR14,
    "R2": BreaksR2,
    "R13b": BreaksR13b,
    "R15": BreaksR15,
    "R10": BreaksR10,
    "R16": Exact,
}
