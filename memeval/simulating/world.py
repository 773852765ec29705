"""The one store that grows, and what is asked of it at a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import islice
from statistics import median
from typing import Any

from memeval.given import Given
from memeval.harness.asking import Options
from memeval.harness.desk import Desk
from memeval.harness.settling import settle
from memeval.harness.workspace import explained
from memeval.probe import Probe
from memeval.record import Advance, Delete, Op, Record
from memeval.simulating.asking import Siblings, ask, refusal
from memeval.simulating.ground import Ground
from memeval.simulating.losing import Losses
from memeval.simulating.plan import histories, n_records
from memeval.simulating.scoring import Planted, answered
from memeval.stats import quantile_hf8
from memeval.stores.bound import View
from memeval.stores.waiting import finish

LAG_QUERY = "zephyrine marginalia quokka"
MOST = 2**63
WANTED = "a store that takes what it is given for as long as it grows"
Row = dict[str, Any]


class World:
    """A store that grows.

    Parameters
    ----------
    ground : Ground
        The store, clean.
    options : Options
        How to ask.

    Attributes
    ----------
    n_records : int
        Records written so far.
    at : datetime or None
        When the last session began.
    n_skipped : int
        Deletes and advances of the sessions that the store cannot do.
    losses : Losses
        Which probes passed when they were last asked.
    """

    def __init__(self, ground: Ground, options: Options) -> None:
        self.ground = ground
        self.store = ground.desk.store
        self.options = options
        self.n_records = 0
        self.n_skipped = 0
        self.at: datetime | None = None
        self.losses = Losses()
        self._write_ms: list[float] = []
        self._consolidated = False
        self._records: dict[str, Record] = {}
        self._planted: list[tuple[int, Probe]] = []
        self._siblings = Siblings()
        self._last: Sequence[Op] = ()

    def plant(self, probes: Sequence[Probe], session: int) -> None:
        """Write the histories of a cohort; those that the store cannot take are only noted."""
        self._write_probes(self.ground.desk, probes, "planting probes")
        self._planted += [(session, probe) for probe in probes]

    def write(self, ops: Sequence[Op], session: int) -> None:
        """Write one session; what the store cannot do is left out, and counted."""
        able = [op for op in ops if self._can(op)]
        self.n_skipped += len(ops) - len(able)
        self._write(self.ground.desk, able, f"session {session}")

    def pass_time(self, at: datetime | None) -> None:
        """Let the time between two sessions pass, where the store has time."""
        if at is None:
            return
        if self.at is not None and at > self.at and self.store.supports("advance"):
            with explained("the store failed in advance()", WANTED):
                self.store.advance(at - self.at)
        self.at = at if self.at is None else max(self.at, at)

    def consolidate(self) -> None:
        """Let the store tidy up, where it has such a step."""
        with explained("the store failed in consolidate()", WANTED):
            self._consolidated |= self.store.consolidate()

    def count(self) -> int | None:
        """Records as the store counts them; None where it cannot."""
        with explained("the store failed in count()", "the number of records, or None"):
            return _whole(self.store.count())

    def checkpoint(
        self, session: int, fresh: Callable[[], Sequence[Probe]]
    ) -> tuple[Row, list[Row]]:
        """Ask every cohort; a row of the checkpoints and the rows of its probes.

        Where it can be taken back, one more cohort is planted, so that size is seen at age 0.
        """
        size: Row = {"session": session, "n_records": self.n_records}
        row = size | {"n_kept": self.count(), "n_bytes": self._n_bytes(), "write_ms": None}
        if self._write_ms:
            row["write_ms"] = median(self._write_ms)
        with self._passing() as desk:
            waited_ms, visible = self._settle(desk)
            row["visible_ms"] = self._lag(desk) if self.ground.takes_back else waited_ms
            late = None if visible else session
            rows = self._asked(desk, self._planted, size, late)
            if self.ground.takes_back and self._newest() < session:
                probes = fresh()
                self._write_probes(desk, probes, "planting probes")
                _, visible = self._settle(desk)
                planted = [(session, probe) for probe in probes]
                rows += self._asked(desk, planted, size, None if visible else session)
        times = [told["latency_ms"] for told in rows if told["latency_ms"] is not None]
        row |= {
            "latency_p50_ms": quantile_hf8(times, 0.5) if times else None,
            "latency_p95_ms": quantile_hf8(times, 0.95) if times else None,
            "n_searches": len(times),
            "consolidated": self._consolidated,
        }
        self.passed_checkpoint()
        return row, rows

    def passed_checkpoint(self) -> None:
        """Begin to note anew what a record takes to write, and whether the store tidied up."""
        self._write_ms, self._consolidated = [], False

    def _can(self, op: Op) -> bool:
        if isinstance(op, Delete):
            return self.store.supports("delete")
        return not isinstance(op, Advance) or self.store.supports("advance")

    def _write_probes(self, desk: Desk, probes: Sequence[Probe], doing: str) -> None:
        for probe in probes:
            self._siblings.add(probe)
        for ops in histories([probe for probe in probes if refusal(probe, self.store) is None]):
            self._write(desk, ops, doing)

    def _write(self, desk: Desk, ops: Sequence[Op], doing: str) -> None:
        """Write records, and note what a record takes."""
        n = n_records(ops)
        started = time.perf_counter_ns()
        with explained(f"{doing}: the store failed to write", WANTED):
            desk.write_all(ops)
        if n:
            self._write_ms.append((time.perf_counter_ns() - started) / 1e6 / n)
        desk.give_back()
        self.n_records += n
        self._records.update((op.id, op) for op in ops if isinstance(op, Record))
        self._last = ops if n else self._last

    def _newest(self) -> int:
        return max((session for session, _ in self._planted), default=-1)

    @contextmanager
    def _passing(self) -> Iterator[Desk]:
        """Desk whose writes are forgotten, where the store can take them back."""
        if not self.ground.takes_back:
            yield self.ground.desk
            return
        before = self.n_records, list(self._write_ms), self._last
        there = len(self._records)
        with self.ground.passing() as desk:
            yield desk
        self.n_records, self._write_ms, self._last = before
        for name in list(islice(reversed(self._records), len(self._records) - there)):
            del self._records[name]

    def _n_bytes(self) -> int | None:
        n_bytes = getattr(self.store.inner, "n_bytes", None)
        if not callable(n_bytes):
            return None
        with explained("the store failed in n_bytes()", "its size in bytes, or None"):
            told = finish(n_bytes, (), None)
            return _whole(None if told is None else int(told))

    def _settle(self, desk: Desk) -> tuple[float | None, bool]:
        """Wait until what was written last can be found; older records may be lost by now."""
        eventual = self.store.capabilities.consistency == "eventual"
        if not (eventual or self.store.supports("wait_visible")):
            return None, True
        waited = _telling(self._last)
        if waited is None:
            return None, True
        probe = Probe("last", waited.text, [waited], [waited.id], scope=waited.scope)
        with explained("the store failed while its writes were waited for", WANTED):
            return settle(desk, [probe], self.options.settle_s, self.options.poll_s)

    def _lag(self, desk: Desk) -> float | None:
        """Milliseconds until a fresh write is found; None where it is not."""
        record = Record("memeval-lag", f"{LAG_QUERY}.", "memeval-lag")
        probe = Probe("lag", LAG_QUERY, [record], [record.id], scope=record.scope)
        view = View(LAG_QUERY, 1, desk.scope_alias(record.scope))
        started = time.perf_counter_ns()
        with explained("the store failed on a fresh record", WANTED):
            desk.write_all(probe.given)
            settle(desk, [probe], self.options.settle_s, self.options.poll_s)
            hits = self.store.search(view)
        took = (time.perf_counter_ns() - started) / 1e6
        return took if any(desk.ids.resolve(hit)[0] == record.id for hit in hits) else None

    def _asked(self, desk: Desk, planted: Planted, size: Row, late: int | None) -> list[Row]:
        """Ask probes and score the answers; the causes of those that have just been lost."""
        if not planted:
            return []
        rows = ask(desk, planted, self.options, self._records, self._siblings, late)
        return self.losses.explained(answered(planted, rows, size), desk, self._records)


def _whole(told: int | None) -> int | None:
    """A number that a table can hold, or an error."""
    if told is not None and not 0 <= told < MOST:
        raise ValueError(f"it told {told}, wanted a number from 0 below 2**63")
    return told


def _telling(ops: Sequence[Op]) -> Record | None:
    """Of what was just written and still holds the longest record: a store may drop small talk."""
    given = Given(ops)
    holding = [r for r in given.live if r.id not in given.superseded and r.expires is None]
    longest = max(holding, key=lambda record: len(record.text), default=None)
    return None if longest is None else replace(longest, supersedes=())
