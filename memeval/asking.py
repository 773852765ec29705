"""One history written, and its probes asked: rows of hits, calls and judgements.

The order is always the same: write, settle, one search for a fixed word (cold), the scored search
(graded and timed, asked once: warming up with the same query would time a cache), and the same
query once more, untimed, to see whether the answer holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memeval import contract
from memeval.desk import Desk
from memeval.errors import said
from memeval.haystack import Haystack
from memeval.probe import Probe
from memeval.record import Advance, Delete, Hit, Op, Record
from memeval.settling import settle
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore, CallLimitError, SearchTimeoutError, View
from memeval.stores.broken import meets
from memeval.text import contains_tokens

FIXED_WORD = "memory"
Row = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """How a run asks; see `memeval.run` for each."""

    retrieve: Callable[[Any, View], Any] | None = None
    is_stale: Callable[[Record], bool] | None = None
    seed: int = 0
    timeout_s: float | None = None
    retries: int = 0
    repeat_check: bool = True
    opaque_ids: bool = False
    allow_nonempty: bool = False
    settle_s: float = 60.0
    poll_s: float = 1.0


@dataclass
class Rows:
    """Rows as they come in, to become tables in the end.

    Attributes
    ----------
    hits, calls, qrels : list of dict
        Rows of `memeval.frames.HITS`, ``CALLS`` and ``QRELS``; of the last only what came up
        while asking (merged writes, records of the haystack, stale by predicate).
    unsteady : int
        Probes that gave another answer when asked again.
    """

    hits: list[Row] = field(default_factory=list)
    calls: list[Row] = field(default_factory=list)
    qrels: list[Row] = field(default_factory=list)
    unsteady: int = 0


@dataclass
class Table:
    """One history on one desk: the haystack around it and the probes that ask it.

    Attributes
    ----------
    desk : Desk
        A clean store.
    probes : sequence of Probe
        All probes of the history.
    haystack : Haystack
        What is written around it.
    repeat : int
        Which repeat this is, from 0.
    options : Options
        How to ask.
    rows : Rows
        Where the rows go.
    """

    desk: Desk
    probes: Sequence[Probe]
    haystack: Haystack
    repeat: int
    options: Options
    rows: Rows

    def __post_init__(self) -> None:
        given = {record.id: record for probe in self.probes for record in probe.records}
        self.records = given | {record.id: record for record in self.haystack.records}

    def run(self) -> None:
        """Write the history once and ask every probe that the store can take."""
        store = self.desk.store
        store.tried.clear()
        reasons = {probe.name: unsupported(probe, store) for probe in self.probes}
        able = [probe for probe in self.probes if reasons[probe.name] is None]
        for probe in self.probes:
            if reasons[probe.name] is not None:
                self._note(probe, "not_supported", error=reasons[probe.name])
        if not able:
            return
        try:
            times = self._write(able[0].given)
        except CallLimitError:
            raise
        except Exception as error:  # whatever a store raises becomes a status
            for probe in able:
                self._note(probe, "failed", error=f"{self.desk.doing}: {said(error)}")
            return
        times["written"] = [f"writing: tried again after {error}" for error in store.tried]
        for probe in able:
            self._chance_to_leak(probe)
            self._ask(probe, times)

    def _write(self, given: Sequence[Op]) -> Row:
        """Write everything; milliseconds for the history and until it could be found."""
        self.desk.write_all(self.haystack.before)
        started = time.perf_counter_ns()
        self.desk.write_all(given)
        write_ms = _ms_since(started)
        self.desk.write_all(self.haystack.after)
        visible_ms, visible = settle(
            self.desk, self.probes, self.options.settle_s, self.options.poll_s
        )
        return {"write_ms": write_ms, "visible_ms": visible_ms, "visible": visible}

    def _ask(self, probe: Probe, written: Row) -> None:
        store = self.desk.store
        store.tried.clear()
        times: Row = {name: written[name] for name in ("write_ms", "visible_ms")}
        told: list[str] = list(written["written"])
        before = store.llm_calls()
        doing = "cold search: "
        try:
            times["cold_ms"] = self._cold(probe, told)
            doing = ""
            times["latency_ms"], hits = self._timed(probe)
            times["llm_calls"] = _difference(store.llm_calls(), before)
            doing = "asked again: "
            again = self._again(probe)
        except CallLimitError:
            raise
        except Exception as error:  # whatever a store raises becomes a status
            status = "timeout" if isinstance(error, SearchTimeoutError) else "failed"
            self._note(probe, status, error="; ".join([*told, doing + said(error)]), **times)
            return
        self._judge(probe, hits, again, written["visible"], times, told)

    def _cold(self, probe: Probe, told: list[str]) -> float | None:
        """Search for a fixed word; what it takes or comes to is no part of the answer."""
        try:
            return self._timed(probe, FIXED_WORD)[0]
        except (CallLimitError, SearchTimeoutError):
            raise
        except Exception as error:  # told; the scored search says whether the store works
            told.append(f"cold search: {said(error)}")
            return None

    def _timed(self, probe: Probe, query: str | None = None) -> tuple[float, list[Hit]]:
        """Milliseconds of the attempt that answered, and its hits."""
        hits = self.desk.store.search(self.desk.view(probe, query))
        return self.desk.store.attempt_ms, hits

    def _again(self, probe: Probe) -> list[Hit] | None:
        if not self.options.repeat_check:
            return None
        return self.desk.store.search(self.desk.view(probe))

    def _judge(
        self,
        probe: Probe,
        hits: list[Hit],
        again: list[Hit] | None,
        visible: bool,
        times: Row,
        told: list[str],
    ) -> None:
        """Turn an answer into rows."""
        resolved = [self.desk.ids.resolve(hit) for hit in hits]
        declared = self.desk.store.capabilities
        steady = again is None or _keys(again) == _keys(hits)
        self.rows.unsteady += not steady
        breaches = contract.breaches(
            store_ids=[hit.id for hit in hits],
            record_ids=[record_id for record_id, _ in resolved],
            texts=[hit.text for hit in hits],
            written=self.desk.ids.texts,
            scores=[hit.score for hit in hits],
            k=probe.k,
            score_order=declared.score_order,
            rewrites=declared.rewrites,
            repeated=_keys(again) if again is not None and declared.deterministic else None,
        )
        for rank, (hit, (record_id, how)) in enumerate(zip(hits, resolved, strict=True), 1):
            self._hit(probe, rank, hit, record_id, how)
        self._merged(probe)
        status = self._status(probe, visible)
        told += [f"tried again after {error}" for error in self.desk.store.tried]
        error = "; ".join(told) or None
        self._note(probe, status, error=error, breaches=" ".join(breaches) or None, **times)

    def _status(self, probe: Probe, visible: bool) -> str:
        lost = self.desk.ids.lost
        if any(all(i in lost for i in group) for group in probe.groups):
            return "not_stored"
        return "ok" if visible else "not_visible"

    def _hit(self, probe: Probe, rank: int, hit: Hit, record_id: str | None, how: str) -> None:
        record = self.records.get(record_id or "")
        text = hit.text or (record.text if record else "")
        canary = next((token for token in probe.canary if contains_tokens(text, token)), None)
        self.rows.hits.append(
            {
                "probe": probe.name,
                "repeat": self.repeat,
                "rank": rank,
                "record_id": record_id,
                "store_id": hit.id,
                "resolved_by": how,
                "score": hit.score,
                "text": text,
                "unit": record.unit if record else None,
                "canary": canary,
            }
        )
        if record is not None:
            self._pool(probe, record)

    def _chance_to_leak(self, probe: Probe) -> None:
        """One foreign record of the haystack stands for all: a probe has one chance of these."""
        foreign = (r for r in self.haystack.records if r.scope not in probe.scopes_read)
        first = next(foreign, None)
        if first is not None:
            self._qrel(probe, first.id, "forbidden", "foreign_scope")

    def _pool(self, probe: Probe, record: Record) -> None:
        """Judge what only an answer brings up: the haystack, and stale by predicate."""
        haystack = not any(record.id == mine.id for mine in probe.records)
        if haystack and record.scope not in probe.scopes_read:
            self._qrel(probe, record.id, "forbidden", "foreign_scope")
        if self.options.is_stale is not None and self.options.is_stale(record):
            self._qrel(probe, record.id, "stale", "listed")

    def _merged(self, probe: Probe) -> None:
        """An expected record that went into another one's id is satisfied by that one."""
        for number, group in enumerate(probe.groups):
            for record_id in group:
                for twin in self.desk.ids.merged.get(record_id, ()):
                    self._qrel(probe, twin, "expected", "listed", group=number, merged=True)

    def _qrel(self, probe: Probe, record_id: str, label: str, reason: str, **more: Any) -> None:
        row = {"probe": probe.name, "record_id": record_id, "label": label, "reason": reason}
        self.rows.qrels.append(row | {"group": None, "merged": False} | more)

    def _note(self, probe: Probe, status: str, **values: Any) -> None:
        """Add a row of calls."""
        row = {"probe": probe.name, "repeat": self.repeat, "k": probe.k, "status": status}
        written = {"n_records": len(self.desk.scopes), "n_eligible": self._eligible(probe)}
        self.rows.calls.append(row | written | values)

    def _eligible(self, probe: Probe) -> int:
        """Live records that the query may see."""
        now = probe.now
        return sum(
            record.scope in probe.scopes_read
            and meets(record.meta, probe.filter)
            and not (now is not None and record.expires is not None and record.expires <= now)
            for record in (*probe.live, *self.haystack.records)
        )


def unsupported(probe: Probe, store: BoundStore) -> str | None:
    """Why a store cannot take a probe; None where it can.

    Returns
    -------
    str or None
        In words, for the column ``error`` of the calls.
    """
    declared: Capabilities = store.capabilities
    needs: list[tuple[bool, str]] = [
        (_has(probe, Delete) and not store.supports("delete"), "delete"),
        (_has(probe, Advance) and not store.supports("advance"), "advance"),
        (
            bool(probe.filter) and "filter" not in declared.honours and store.retrieve is None,
            "filter",
        ),
        (any(r.expires for r in probe.records) and "expires" not in declared.honours, "expires"),
        (bool(probe.foreign or probe.reads) and declared.scoping == "none", "scopes"),
    ]
    lacking = [name for lacks, name in needs if lacks]
    return f"the store has no support for {', '.join(lacking)}" if lacking else None


def _has(probe: Probe, kind: type[Op]) -> bool:
    return any(isinstance(op, kind) for op in probe.given)


def _keys(hits: Sequence[Hit]) -> list[str | None]:
    return [hit.text if hit.id is None else hit.id for hit in hits]


def _ms_since(started: int) -> float:
    return (time.perf_counter_ns() - started) / 1e6


def _difference(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before
