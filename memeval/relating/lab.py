"""Where relations are tried: clean stores to write worlds to, and to ask."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from memeval.harness.desk import Desk
from memeval.harness.options import Options
from memeval.harness.settling import settle
from memeval.harness.workspace import Workspace, explained
from memeval.probe import Probe
from memeval.record import Delete, Op, Record
from memeval.relating.answers import Answer, Found
from memeval.relating.worlds import Question, World
from memeval.stores.base import Capabilities
from memeval.stores.bound import View

TOP = 3
TRIES = 5
WANTED = "writes, searches and deletes that do not fail; relations are judged on answers alone"


@dataclass
class Lab:
    """Gives desks with a world on them.

    Attributes
    ----------
    workspace : Workspace
        Gives clean stores.
    declared : Capabilities
        What the store declares.
    options : Options
        How to ask and wait.
    """

    workspace: Workspace
    declared: Capabilities
    options: Options
    _patience: dict[str, float] = field(default_factory=dict)

    @property
    def tries(self) -> int:
        """How often to ask before a record counts as not found: once where answers hold."""
        return 1 if self.declared.deterministic is True else TRIES

    @contextmanager
    def bench(self, world: World, arm: str, records: Sequence[Record] = ()) -> Iterator[Bench]:
        """A clean store that holds the records of a world, or others in their place."""
        with self.workspace.clean(f"{world.key} {arm}") as desk:
            bench = Bench(self, desk, world)
            bench.write(records or world.records)
            yield bench

    def until(self, arm: str, check: Callable[[], str | None]) -> str | None:
        """What is found wrong; where writes take their time, as long as that is still so.

        A relation that was waited for in vain once is waited for no more.
        """
        wrong = check()
        if self.declared.consistency != "eventual":
            return wrong
        left = self._patience.setdefault(arm, self.options.settle_s)
        end = time.monotonic() + left
        while wrong is not None and (left := end - time.monotonic()) > 0:
            time.sleep(min(self.options.poll_s, left))
            wrong = check()
        if wrong is not None:
            self._patience[arm] = 0.0
        return wrong


@dataclass
class Bench:
    """One clean store with a world in it, to write to and to ask."""

    lab: Lab
    desk: Desk
    world: World

    def write(self, ops: Sequence[Op]) -> None:
        """Write, and wait until it can be found."""
        with explained("relations: the store failed when it was written to", WANTED):
            self.desk.write_all(ops)
        written = [replace(op, supersedes=()) for op in ops if isinstance(op, Record)]
        waits = self.desk.store.supports("wait_visible")
        if written and (waits or self.lab.declared.consistency == "eventual"):
            probe = Probe("relations", "anything", written, scope=written[0].scope)
            with explained("relations: the store failed when waited for", WANTED):
                settle(self.desk, [probe], self.lab.options.settle_s, self.lab.options.poll_s)

    def delete(self, records: Sequence[Record]) -> None:
        """Delete records that were written."""
        with explained("relations: the store failed in delete()", WANTED):
            self.desk.write_all([Delete(record.id) for record in records])

    def ask(
        self, query: str, k: int, scope: str | None = None, now: datetime | None = None
    ) -> Answer:
        """Ask the scope of the world, or another."""
        alias = self.desk.scope_alias(self.world.scope if scope is None else scope)
        view = View(query, k, alias, None, self.world.now if now is None else now)
        with explained("relations: the store failed in a search", WANTED):
            hits = self.desk.store.search(view)
        names = [name for name, _ in self.desk.ids.resolve_all(hits)]
        texts = [
            hit.text or (name and self.desk.ids.text(name)) or f"(id {hit.id})"
            for hit, name in zip(hits, names, strict=True)
        ]
        found = zip(names, texts, (hit.score for hit in hits), strict=True)
        declared = self.lab.declared.score_order
        return Answer(query, k, tuple(Found(*one) for one in found), declared)

    def ask_all(self, scope: str | None = None, now: datetime | None = None) -> list[Pair]:
        """Ask all questions of the world in their order: the first records, and all of them."""
        return [self.ask_one(one, scope, now) for one in self.world.questions]

    def ask_one(
        self, question: Question, scope: str | None = None, now: datetime | None = None
    ) -> Pair:
        """Ask one question: for the first records, and for all of them."""
        query, n = question.query, self.world.n_own
        return Pair(self.ask(query, TOP, scope, now), self.ask(query, n, scope, now))

    def copies(self, record_id: str) -> int:
        """How many records of its own the store has made of one."""
        return max(1, len(self.desk.ids.store_ids(record_id)))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to one question: with a cutoff, and with room for every record."""

    top: Answer
    whole: Answer
