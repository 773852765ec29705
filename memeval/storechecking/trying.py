"""Trying things out on a clean store: write, wait, ask."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from memeval.harness.asking import Options
from memeval.harness.desk import Desk
from memeval.harness.workspace import Workspace
from memeval.record import Hit, Op, Record
from memeval.stores.base import Capabilities
from memeval.stores.bound import View

POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Answered:
    """One hit, and which of our records it is.

    Attributes
    ----------
    id : str or None
        Our id, None where it is none of ours.
    how : str
        How that was seen: own, metadata, receipt, text, unknown.
    hit : Hit
        As the store gave it.
    """

    id: str | None
    how: str
    hit: Hit


class Tried:
    """A clean store in which something was written."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def ask(self, query: str, k: int = 5, scope: str = "ana", **options: object) -> list[Answered]:
        """Ask it."""
        view = View(query, k, self.desk.scope_alias(scope), **options)  # type: ignore[arg-type]
        hits = self.desk.store.search(view)
        resolved = self.desk.ids.resolve_all(hits)
        return [Answered(i, how, hit) for (i, how), hit in zip(resolved, hits, strict=True)]

    def ids(self, query: str, k: int = 5, scope: str = "ana") -> list[str | None]:
        """Our ids of an answer, in its order."""
        return [one.id for one in self.ask(query, k, scope)]


@dataclass
class Trying:
    """Gives clean stores to try things in."""

    space: Workspace
    capabilities: Capabilities
    options: Options
    _n: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @contextmanager
    def written(self, ops: Sequence[Op], wait: bool = True) -> Iterator[Tried]:
        """A clean store with this history; each of its records can be found by its own text."""
        with self.space.clean(f"{self.options.seed} check {next(self._n)}") as desk:
            desk.write_all(ops)
            tried = Tried(desk)
            if wait and self.capabilities.consistency == "eventual":
                last = {op.id: op for op in ops if isinstance(op, Record)}
                self.seen(tried, [one for one in last.values() if not desk.ids.is_deleted(one.id)])
            yield tried
            desk.give_back()

    def seen(self, tried: Tried, records: Sequence[Record]) -> float | None:
        """Seconds until all can be found by their texts; None where that did not come about."""
        started = time.perf_counter()
        left = list(records)
        while left:
            left = [one for one in left if one.id not in tried.ids(one.text, 10, one.scope)]
            if not left:
                break
            if time.perf_counter() - started > self.options.settle_s:
                return None
            time.sleep(POLL_S)
        return time.perf_counter() - started
