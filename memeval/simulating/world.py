"""The one store that grows, and what is asked of it at a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any

import pandas as pd

from memeval import metrics
from memeval.errors import said
from memeval.harness.asking import Options, Rows, Table, Written
from memeval.harness.desk import Desk
from memeval.harness.eligible import unsupported
from memeval.harness.inquiry import Cause, Inquiry, Labels
from memeval.harness.labels import labelled
from memeval.harness.settling import settle
from memeval.haystack import NOTHING
from memeval.probe import Probe
from memeval.record import Hit, Record
from memeval.simulating.plan import histories, n_records
from memeval.stats import quantile_hf8
from memeval.stores.bound import CallLimitError, View
from memeval.suite import Suite

LAG_QUERY = "zephyrine marginalia quokka"
MOST_DISPLACED = 10
Row = dict[str, Any]


@dataclass
class AskedTable(Table):
    """Probes asked of a store that holds more than their own history."""

    world: Mapping[str, Record] = field(default_factory=dict)

    def ask(self, n_written: int) -> None:
        """Ask the probes that the store can take; their history is written already."""
        self._n_records = n_written
        told = Written(None, None, True, ())
        for probe in self.probes:
            reason = unsupported(probe, self.desk.store)
            if reason is None:
                self._ask(probe, told)
            else:
                self._note(probe, "not_supported", reason)

    def _record(self, record_id: str) -> Record | None:
        return self.world.get(record_id)

    def _hits(self, probe: Probe, hits: list[Hit], resolved: Any) -> Sequence[Sequence[Any]]:
        for record in (self._record(i) for i, _ in resolved if i is not None):
            if record is not None:
                self._pool(probe, record)
        return super()._hits(probe, hits, resolved)


class World:
    """A store that grows.

    Parameters
    ----------
    desk : Desk
        The store, clean.
    options : Options
        How to ask.

    Attributes
    ----------
    n_records : int
        Records written so far.
    """

    def __init__(self, desk: Desk, options: Options) -> None:
        self.desk = desk
        self.options = options
        self.n_records = 0
        self.write_ms: list[float] = []
        self.consolidated = False
        self._by_id: dict[str, Record] = {}
        self._planted: list[tuple[int, Probe]] = []
        self._passing: set[tuple[str, int]] = set()
        self._at: datetime | None = None

    @property
    def reads_leave_no_trace(self) -> bool:
        """Whether what is asked, and planted to be asked, can be taken back."""
        store = self.desk.store
        return store.supports("scratch") or (store.supports("snapshot") and store.supports("fork"))

    def plant(self, probes: Sequence[Probe], session: int) -> None:
        """Write the histories of a cohort."""
        self._write_probes(probes)
        self._planted += [(session, probe) for probe in probes]

    def _write_probes(self, probes: Sequence[Probe]) -> None:
        able = [probe for probe in probes if unsupported(probe, self.desk.store) is None]
        for ops in histories(able):
            self.write(ops)

    def write(self, ops: Sequence[Any]) -> None:
        """Write records, and note what a record takes."""
        started = time.perf_counter_ns()
        self.desk.write_all(ops)
        n = n_records(ops)
        if n:
            self.write_ms.append((time.perf_counter_ns() - started) / 1e6 / n)
        self.n_records += n
        self._by_id.update((op.id, op) for op in ops if isinstance(op, Record))

    def pass_time(self, at: datetime | None) -> None:
        """Let the time between two sessions pass, where the store has time."""
        if at is None:
            return
        if self._at is not None and at > self._at and self.desk.store.supports("advance"):
            self.desk.store.advance(at - self._at)
        self._at = at

    def consolidate(self) -> None:
        """Let the store tidy up, where it has such a step."""
        self.consolidated |= self.desk.store.consolidate()

    def checkpoint(self, session: int, fresh: Sequence[Probe]) -> tuple[Row, list[Row]]:
        """Ask every cohort; a row of the checkpoints and the rows of its probes.

        Where it can be taken back, one more cohort is planted, so that size is seen at age 0.
        """
        size: Row = {"session": session, "n_records": self.n_records}
        write_ms = median(self.write_ms) if self.write_ms else None
        n_kept, n_bytes = self.desk.store.count(), self._n_bytes()
        with self._taken_back():
            visible_ms = self._lag()
            rows = self._asked(self._planted, size)
            if self.reads_leave_no_trace and self._newest() < session:
                self._write_probes(fresh)
                rows += self._asked([(session, probe) for probe in fresh], size)
        times = [row["latency_ms"] for row in rows if row["latency_ms"] is not None]
        row = size | {
            "n_kept": n_kept,
            "n_bytes": n_bytes,
            "write_ms": write_ms,
            "visible_ms": visible_ms,
            "latency_p50_ms": quantile_hf8(times, 0.5) if times else None,
            "latency_p95_ms": quantile_hf8(times, 0.95) if times else None,
            "n_searches": len(times),
            "consolidated": self.consolidated,
        }
        self.write_ms, self.consolidated = [], False
        return row, rows

    def recall(self, rows: Sequence[Row]) -> None:
        """Take over what was found at a checkpoint before: which probes pass."""
        for row in rows:
            name = (row["probe"], row["cohort"])
            (self._passing.add if row["passed"] else self._passing.discard)(name)

    def _newest(self) -> int:
        return max((session for session, _ in self._planted), default=-1)

    @contextmanager
    def _taken_back(self) -> Iterator[None]:
        """Leave nothing behind of what is done within, where the store can do that."""
        if not self.reads_leave_no_trace:
            yield
            return
        before = self.n_records, list(self.write_ms)
        with self.desk.store.scratch():
            yield
        self.n_records, self.write_ms = before

    def _n_bytes(self) -> int | None:
        n_bytes = getattr(self.desk.store.inner, "n_bytes", None)
        return int(n_bytes()) if callable(n_bytes) else None

    def _lag(self) -> float | None:
        """Milliseconds until a fresh write is found; None where it could not be taken back."""
        if not self.reads_leave_no_trace:
            return None
        record = Record("memeval-lag", f"{LAG_QUERY}.", "memeval-lag")
        probe = Probe("lag", LAG_QUERY, [record], [record.id], scope=record.scope)
        started = time.perf_counter_ns()
        self.desk.write_all(probe.given)
        settle(self.desk, [probe], self.options.settle_s, self.options.poll_s)
        found = self.desk.store.search(View(LAG_QUERY, 1, self.desk.scope_alias(record.scope)))
        return (time.perf_counter_ns() - started) / 1e6 if found else None

    def _asked(self, planted: Sequence[tuple[int, Probe]], size: Row) -> list[Row]:
        """Ask probes and score the answers; the causes of those that have just been lost."""
        if not planted:
            return []
        probes = [probe for _, probe in planted]
        rows = Rows()
        settle(self.desk, probes, self.options.settle_s, self.options.poll_s)
        for probe in probes:
            table = AskedTable(
                self.desk, [probe], NOTHING, 0, self.options, rows, world=self._by_id
            )
            table.ask(self.n_records)
        suite = Suite.of(probes)
        hits, calls = rows.tables({probe.name: n for n, probe in enumerate(probes)})
        qrels = labelled(suite, hits, rows)
        results = metrics.score(hits, qrels, calls)
        breaches = calls.set_index("probe")["breaches"]
        answers = {str(name): group for name, group in hits.groupby("probe", sort=False)}
        made = []
        told: list[Row] = [dict(zip(results, values, strict=True)) for values in results.values]
        for (cohort, probe), result in zip(planted, told, strict=True):
            row = size | self._row(cohort, probe, result, answers.get(probe.name))
            row["cause"] = self._cause(probe, row, breaches[probe.name], qrels)
            made.append(row)
        return made

    def _row(self, cohort: int, probe: Probe, result: Row, answer: pd.DataFrame | None) -> Row:
        expected = {name for group in probe.groups for name in group}
        before: list[str] = []
        missed = probe.is_positive and result["recall_all"] is not True
        if missed and answer is not None:
            before = [i for i in answer["record_id"].dropna()[: probe.k] if i not in expected]
        return {
            "probe": probe.name.rpartition("@")[0],
            "cohort": cohort,
            "kind": result["kind"],
            "status": result["status"],
            "rank": _plain(result["first_rank"]),
            "ndcg": _plain(result["ndcg"]),
            "recall_all": _plain(result["recall_all"]),
            "passed": _plain(result["passed"]) is True,
            "n_leaked": int(result["n_leaked"]),
            "latency_ms": _plain(result["latency_ms"]),
            "displaced_by": " ".join(before[:MOST_DISPLACED]) or None,
        }

    def _cause(self, probe: Probe, row: Row, breaches: Any, qrels: pd.DataFrame) -> str | None:
        """Why a probe was lost that passed when it was last asked; asked while it can be."""
        name = (row["probe"], row["cohort"])
        if row["passed"]:
            self._passing.add(name)
            return None
        if name not in self._passing:
            return None
        self._passing.discard(name)
        if row["status"] in ("failed", "timeout"):
            return "failed"
        judged = qrels[qrels["probe"] == probe.name]
        forbidden = judged[judged["label"] == "forbidden"]
        inquiry = Inquiry(
            desk=self.desk,
            probe=probe,
            labels=Labels(
                tuple(frozenset(group) for group in probe.groups),
                dict(zip(forbidden["record_id"], forbidden["reason"].astype("str"), strict=True)),
                frozenset(judged.loc[judged["label"] == "stale", "record_id"]),
            ),
            records=self._by_id,
            status=row["status"],
            error="",
            breaches="" if pd.isna(breaches) else str(breaches),
            lost_at=lambda score: (0, 0),
        )
        return self._found(inquiry).cause

    def _found(self, inquiry: Inquiry) -> Cause:
        try:
            return inquiry.cause()
        except CallLimitError:
            raise
        except Exception as error:  # the store fails while it is asked why: that is the cause
            return Cause("failed", said(error))


def _plain(value: Any) -> Any:
    """A cell as JSON has it."""
    if value is None or pd.isna(value):
        return None
    return value.item() if hasattr(value, "item") else value
