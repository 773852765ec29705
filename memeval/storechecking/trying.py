"""Trying things out on a clean store: write, wait, ask."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from memeval.harness.desk import Desk
from memeval.harness.options import Options
from memeval.harness.workspace import Workspace, explained
from memeval.record import Hit, Op, Record
from memeval.storechecking.everyday import HOME
from memeval.storechecking.findings import Finding
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore, View

LEAST_S, MOST_S = 0.002, 0.2
PATIENCE_S = 10.0
TRIES = 5
ROOM = 20


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
    """A clean store in which something was written.

    Parameters
    ----------
    desk : Desk
        Where it was written.
    tries : int
        How often to ask before a record counts as not found: once where answers hold.
    """

    def __init__(self, desk: Desk, tries: int = 1) -> None:
        self.desk = desk
        self.tries = tries

    @property
    def store(self) -> BoundStore:
        """The store itself."""
        return self.desk.store

    def ask(self, query: str, k: int = 5, scope: str = HOME, **options: Any) -> list[Answered]:
        """Ask it once."""
        hits = self.store.search(View(query, k, self.desk.scope_alias(scope), **options))
        resolved = self.desk.ids.resolve_all(hits)
        return [Answered(i, how, hit) for (i, how), hit in zip(resolved, hits, strict=True)]

    def ids(self, query: str, k: int = 5, scope: str = HOME) -> list[str | None]:
        """Our ids of one answer, in its order."""
        return [one.id for one in self.ask(query, k, scope)]

    def all(self, query: str, k: int = ROOM, scope: str = HOME, **options: Any) -> list[Answered]:
        """Every hit of one answer, or of several where answers do not hold."""
        return [one for _ in range(self.tries) for one in self.ask(query, k, scope, **options)]

    def finds(self, record: Record, k: int = ROOM) -> bool:
        """Whether the own text of a record finds it in its scope."""
        return any(record.id in self.ids(record.text, k, record.scope) for _ in range(self.tries))


@dataclass
class Trying:
    """Gives clean stores to try things in.

    Attributes
    ----------
    make : callable
        Gives a fresh `BoundStore`.
    declared : Capabilities
        As the store declares them.
    told : bool
        Whether it declares anything of itself.
    options : Options
        How to ask and wait.
    found : dict
        Fields of `Capabilities`, as they were found.
    info : mapping
        As the store tells it.
    embedder : object
        What the store is said to embed with; None where nothing is said.
    steady : bool
        False once answers were seen to change.
    limited : bool
        Whether searches can have a time limit, which takes a thread of their own.
    """

    make: Callable[[], BoundStore]
    declared: Capabilities
    told: bool
    options: Options
    info: dict[str, Any] = field(default_factory=dict)
    embedder: Any = None
    found: dict[str, Any] = field(default_factory=dict)
    steady: bool = True
    limited: bool = True
    left_behind: int = 0
    _n: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def capabilities(self) -> Capabilities:
        """What is declared, where nothing else was found of how to get and fill a clean store."""
        known = {n: self.found[n] for n in ("isolation", "consistency") if n in self.found}
        return replace(self.declared, **known)

    @property
    def waits(self) -> bool:
        """Whether a write takes its time to be found."""
        return self.capabilities.consistency == "eventual"

    def fresh(self) -> closing[BoundStore]:
        """A store of its own, closed at the end of the block."""
        with explained("make_store failed", "a fresh store"):
            return closing(self.make())

    @contextmanager
    def written(
        self, ops: Sequence[Op], wait: bool = True, make: Callable[[], BoundStore] | None = None
    ) -> Iterator[Tried]:
        """A clean store with this history; each of its records can be found by its own text."""
        space = Workspace(
            make or self.make, self.capabilities, allow_nonempty=self.options.allow_nonempty
        )
        try:
            with space.clean(f"{self.options.seed} check {next(self._n)}") as desk:
                tried = Tried(desk, 1 if self.steady else TRIES)
                desk.write_all(ops)
                if wait:
                    self.settled(tried, ops)
                yield tried
                desk.give_back()
        finally:
            space.close()
            self.left_behind += space.left_behind

    def settled(self, tried: Tried, ops: Sequence[Op]) -> None:
        """Wait until what was written can be found, where that takes time."""
        last = {op.id: op for op in ops if isinstance(op, Record)}
        live = [one for one in last.values() if not tried.desk.ids.is_deleted(one.id)]
        if tried.store.supports("wait_visible"):
            ids = [i for one in live for i in tried.desk.ids.store_ids(one.id)]
            tried.store.wait_visible(ids, self.options.settle_s)
        elif self.waits:
            self.until(lambda: all(map(tried.finds, live)))

    def until(self, holds: Callable[[], bool], waits: bool | None = None) -> float | None:
        """Seconds until something holds; None where it does not, and there is no more waiting."""
        started = time.perf_counter()
        patient = self.waits if waits is None else waits
        most = self.options.settle_s if self.waits else min(self.options.settle_s, PATIENCE_S)
        end = started + (most if patient else 0.0)
        pause = LEAST_S
        while not holds():
            if time.perf_counter() >= end:
                return None
            time.sleep(pause)
            pause = min(2 * pause, MOST_S)
        return time.perf_counter() - started

    def said(self, name: str) -> str:
        """What the store declares of one field; empty where it declares nothing."""
        value = getattr(self.declared, name)
        return f"{name}={value!r}" if self.told and value is not None else ""

    def held(self, name: str, found: Any, words: str, evidence: str = "") -> Finding:
        """Hold what was found against what is declared of one field.

        Where nothing is declared it is a finding: the run is told of it.
        """
        self.found[name] = found
        wanted, said = getattr(self.declared, name), self.said(name)
        if found == wanted:
            return Finding("ok", words, said, evidence)
        status = "broken" if self.told and wanted is not None else "finding"
        return Finding(status, words, said, evidence, f"declare {name}={found!r}")
