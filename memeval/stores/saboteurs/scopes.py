# ruff: noqa: D101, D102 - what each does is said in its `fault`
"""Saboteurs that mix up whose memory it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import ClassVar

from memeval.record import Hit, Record
from memeval.stores.bound import View
from memeval.stores.saboteurs.base import Saboteur

MIXED_PER_SCOPE = 3


class ScopeBlind(Saboteur):
    name = "scope_blind"
    fault = "all scopes are one"
    caught_by = "forbidden, foreign scope"
    tag = "scope"
    must_kill = True
    touches = "write"
    needs = ("scoping",)

    def begin(self) -> None:
        super().begin()
        self._one: str | None = None  # the first scope that is written to
        self._homes: dict[str, str] = {}

    def _named(self, record_id: str, scope: str) -> str:
        """The id itself, unless another scope had it first: nothing is overwritten."""
        home = self._homes.get(record_id, scope)
        return record_id if home == scope else f"{record_id}@{scope}"

    def _only(self, scope: str) -> str:
        return scope if self._one is None else self._one

    def written(self, record: Record) -> Iterable[Record]:
        scope = record.scope
        self._one = self._only(scope)
        self._homes.setdefault(record.id, scope)
        name = self._named(record.id, scope)
        old = tuple(self._named(i, scope) for i in record.supersedes)
        return (replace(record, id=name, scope=self._one, supersedes=old),)

    def answer(self, view: View) -> list[Hit]:
        return super().answer(replace(view, scope=self._only(view.scope)))

    def drop(self, store_id: str, scope: str) -> None:
        super().drop(self._named(store_id, scope), self._only(scope))

    def remove(self, store_id: str, scope: str) -> None:
        super().remove(self._named(store_id, scope), self._only(scope))


class _Knowing(Saboteur):
    """Knows which scopes were written to, and can ask several as one."""

    touches = "write"
    needs = ("scoping",)

    def begin(self) -> None:
        super().begin()
        self._scopes: dict[str, None] = {}

    def written(self, record: Record) -> Iterable[Record]:
        self._scopes[record.scope] = None
        return (record,)

    def _ask(self, view: View, scopes: Iterable[str]) -> list[tuple[str, Hit]]:
        """The best k hits of several scopes, each with its scope: by score, else taken in turn."""
        parts = [
            [(scope, hit) for hit in super(_Knowing, self).answer(replace(view, scope=scope))]
            for scope in scopes
        ]
        found = [pair for pair in chain(*zip_longest(*parts)) if pair is not None]
        order = self.capabilities.score_order
        if order is not None and all(hit.score is not None for _, hit in found):
            sign = -1.0 if order == "high" else 1.0
            found.sort(key=lambda pair: sign * (pair[1].score or 0.0))
        return found[: view.k]


class ScopePrefix(_Knowing):
    name = "scope_prefix"
    fault = "a scope is asked with all whose names begin like it"
    caught_by = "forbidden, foreign scope"
    tag = "prefix"

    def answer(self, view: View) -> list[Hit]:
        longer = (s for s in self._scopes if s.startswith(view.scope) and s != view.scope)
        return [hit for _, hit in self._ask(view, (view.scope, *longer))]


class PostFilter(_Knowing):
    name = "post_filter"
    fault = "the best k of all scopes are found first, and filtered by scope after"
    caught_by = "ratchet"
    tag = "postfilter"

    def answer(self, view: View) -> list[Hit]:
        others = (scope for scope in self._scopes if scope != view.scope)
        found = self._ask(view, (view.scope, *others))
        return [hit for scope, hit in found if scope == view.scope]


class ScopeDropsAllOther(Saboteur):
    name = "scope_drops_all_other"
    fault = "only the scope that is asked first is ever served"
    caught_by = "ratchet"
    tag = "scope2"
    needs = ("scoping",)
    _served: ClassVar[list[str]] = []  # for a whole run

    @classmethod
    def reset(cls) -> None:
        cls._served.clear()

    def answer(self, view: View) -> list[Hit]:
        if not self._served:
            self._served.append(view.scope)
        return super().answer(view) if view.scope in self._served else []


class MixingSummary(Saboteur):
    """Only the first records of a scope are summed up: each more would cost a write."""

    name = "mixing_summary"
    fault = "a summary of records of two scopes is kept in one of them"
    caught_by = "canary"
    tag = "canary"
    touches = "write"
    needs = ("scoping",)

    def begin(self) -> None:
        super().begin()
        self._last: dict[str, Record] = {}
        self._n_mixed: Counter[str] = Counter()

    def written(self, record: Record) -> Iterable[Record]:
        scope, last = record.scope, self._last
        is_new = scope not in last
        if self._n_mixed[scope] == MIXED_PER_SCOPE:
            last[scope] = record
            return (record,)
        self._n_mixed[scope] += 1
        others = [other for other in last.values() if other.scope != scope]
        last[scope] = record
        return (record, *self._summaries(record, others, is_new))

    def _summaries(
        self, record: Record, others: Sequence[Record], is_new: bool
    ) -> Iterator[Record]:
        """What the other scopes get to know of a record, and what its own gets of theirs."""
        scopes = [other.scope for other in others]
        for n, (other, scope) in enumerate(zip(others, scopes, strict=True)):
            text = f"{record.text} {other.text}"
            yield Record(f"{record.id}-summary-{n}", text, scope, record.at)
            if is_new:
                yield Record(f"{record.id}-summary-own-{n}", text, record.scope, record.at)
