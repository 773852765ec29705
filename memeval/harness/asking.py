"""One history written, and its probes asked: rows of hits, calls and judgements.

The order is always the same: write, settle, one search for a fixed word (cold), the scored search
(graded and timed, asked once: warming up with the same query would time a cache), and the same
query once more, untimed, to see whether the answer holds.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from memeval import contract
from memeval.errors import said
from memeval.given import Given
from memeval.harness.desk import Desk
from memeval.harness.eligible import Eligible, unsupported
from memeval.harness.options import Options as Options
from memeval.harness.rows import Rows as Rows
from memeval.harness.settling import settle
from memeval.haystack import Haystack
from memeval.probe import Probe
from memeval.record import Hit, Record
from memeval.stores.bound import CallLimitError, SearchTimeoutError, View
from memeval.text import contains_tokens

FIXED_WORD = "memory"
Resolved = Sequence[tuple[str | None, str]]


@dataclass(frozen=True, slots=True)
class Written:
    """How the writing of a history went.

    Attributes
    ----------
    write_ms, visible_ms : float or None
        Milliseconds for the history, None where it was restored, and until it could be found.
    visible : bool
        Whether all of it can be found.
    told : tuple of str
        What had to be tried again.
    """

    write_ms: float | None
    visible_ms: float | None
    visible: bool
    told: tuple[str, ...]


@dataclass(slots=True)
class Asked:
    """How the asking of one probe went, as far as it got."""

    told: list[str]
    cold_ms: float | None = None
    latency_ms: float | None = None
    llm_calls: int | None = None


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
        self.given: Given = self.probes[0].state
        around = (self.haystack.after, self.haystack.before)
        self._parts = [*(part for part in around if part), self.given]
        self._n_records = 0
        self._eligible = Eligible(self._parts)

    @cached_property
    def records(self) -> Mapping[str, Record]:
        """Every record of the history and the haystack, by id."""
        return {name: record for part in self._parts[::-1] for name, record in part.by_id.items()}

    def run(self, asked: Sequence[Probe] | None = None) -> None:
        """Write the history once and ask every probe that the store can take.

        Parameters
        ----------
        asked : sequence of Probe, optional
            Ask only these of the history.
        """
        self.desk.store.tried.clear()
        able: list[Probe] = []
        for probe in self.probes if asked is None else asked:
            reason = unsupported(probe, self.desk.store)
            if reason is None:
                able.append(probe)
            else:
                self._note(probe, "not_supported", reason)
        if not able:
            return
        try:
            written = self._write()
        except CallLimitError:
            raise
        except Exception as error:  # whatever a store raises becomes a status
            self._n_records = self.desk.n_written
            for probe in able:
                self._note(probe, "failed", f"{self.desk.doing}: {said(error)}")
            return
        self._n_records = self.desk.n_written
        for probe in able:
            self._chance_to_leak(probe)
            self._ask(probe, written)
        self.desk.give_back()

    def _write(self) -> Written:
        """Write everything, unless the store holds it already."""
        write_ms = None if self.desk.restored else self._write_all()
        visible_ms, visible = settle(
            self.desk, self.probes, self.options.settle_s, self.options.poll_s
        )
        told = tuple(f"writing: tried again after {error}" for error in self.desk.store.tried)
        written: Written = self.desk.store.wrote(Written(write_ms, visible_ms, visible, told))
        return written

    def _write_all(self) -> float:
        """Write the haystack around the history; milliseconds for the history."""
        if self.haystack.before:
            self.desk.write_all(self.haystack.before)
        started = time.perf_counter_ns()
        self.desk.write_all(self.given)
        write_ms = (time.perf_counter_ns() - started) / 1e6
        if self.haystack.after:
            self.desk.write_all(self.haystack.after)
        if self.desk.on_written is not None:
            self.desk.on_written(self.desk)
        return write_ms

    def _ask(self, probe: Probe, written: Written) -> None:
        store = self.desk.store
        store.tried.clear()
        asked = Asked(list(written.told))
        before = store.llm_calls()
        view = self.desk.view(probe)
        doing = "cold search: "
        try:
            asked.cold_ms = self._cold(view, asked.told)
            doing = ""
            hits = store.search(view)
            asked.latency_ms = store.attempt_ms
            if before is not None:
                asked.llm_calls = _difference(store.llm_calls(), before)
            doing = "asked again: "
            again = self._again(probe, view)
        except CallLimitError:
            raise
        except Exception as error:  # whatever a store raises becomes a status
            status = "timeout" if isinstance(error, SearchTimeoutError) else "failed"
            told = "; ".join([*asked.told, doing + said(error)])
            self._note(probe, status, told, written=written, asked=asked)
            return
        self._judge(probe, hits, again, written, asked)

    def _cold(self, view: View, told: list[str]) -> float | None:
        """Search for a fixed word; what it takes or comes to is no part of the answer."""
        try:
            self.desk.store.search(_for_fixed_word(view))
        except (CallLimitError, SearchTimeoutError):
            raise
        except Exception as error:  # told; the scored search says whether the store works
            told.append(f"cold search: {said(error)}")
            return None
        return self.desk.store.attempt_ms

    def _again(self, probe: Probe, view: View) -> list[Hit] | None:
        if not self.options.repeat_check:
            return None
        # A filter is a copy that the store may have changed, so it is made anew.
        return self.desk.store.search(self.desk.view(probe) if view.filter else view)

    def _judge(
        self,
        probe: Probe,
        hits: list[Hit],
        again: list[Hit] | None,
        written: Written,
        asked: Asked,
    ) -> None:
        """Turn an answer into rows."""
        resolved = self.desk.ids.resolve_all(hits)
        if again is not None:
            self.rows.unsteady += _keys(again) != _keys(hits)
        breaches = None
        if self.options.contract_checks:
            breaches = " ".join(self._breaches(probe, hits, resolved, again)) or None
        columns = self._hits(probe, hits, resolved) if hits else ()
        if self.desk.ids.merged:
            self._merged(probe)
        asked.told += [f"tried again after {error}" for error in self.desk.store.tried]
        error = "; ".join(asked.told) or None
        status = self._status(probe, written.visible)
        self._note(probe, status, error, breaches, written, asked, columns)

    def _breaches(
        self, probe: Probe, hits: list[Hit], resolved: Resolved, again: list[Hit] | None
    ) -> tuple[str, ...]:
        declared = self.desk.store.capabilities
        record_ids = [record_id for record_id, _ in resolved]
        texts = {i: self.desk.ids.text(i) for i in record_ids if i is not None}
        return contract.breaches(
            store_ids=[hit.id for hit in hits],
            record_ids=record_ids,
            texts=[hit.text for hit in hits],
            written={i: text for i, text in texts.items() if text is not None},
            scores=[hit.score for hit in hits],
            k=probe.k,
            score_order=declared.score_order,
            rewrites=declared.rewrites,
            repeated=_keys(again) if again is not None and declared.deterministic else None,
        )

    def _status(self, probe: Probe, visible: bool) -> str:
        lost = self.desk.ids.lost
        if lost and any(all(i in lost for i in group) for group in probe.groups):
            return "not_stored"
        return "ok" if visible else "not_visible"

    def _hits(self, probe: Probe, hits: list[Hit], resolved: Resolved) -> Sequence[Sequence[Any]]:
        """What is noted of an answer, by column, as `memeval.harness.rows.HIT_FIELDS` has them."""
        record_ids = [record_id for record_id, _ in resolved]
        records = [None if i is None else self._record(i) for i in record_ids]
        if self.haystack.first_in or self.options.is_stale is not None:
            for record in filter(None, records):
                self._pool(probe, record)
        pairs = zip(hits, records, strict=True)
        texts = [hit.text or (record.text if record else "") for hit, record in pairs]
        canaries: list[str | None] = [None] * len(hits)
        if probe.canary:
            canaries = [_first_canary(text, probe.canary) for text in texts]
        return (
            record_ids,
            [hit.id for hit in hits],
            [how for _, how in resolved],
            [hit.score for hit in hits],
            texts,
            [record.unit if record else None for record in records],
            canaries,
        )

    def _record(self, record_id: str) -> Record | None:
        for part in self._parts:
            found = part.by_id.get(record_id)
            if found is not None:
                return found
        return None

    def _chance_to_leak(self, probe: Probe) -> None:
        """One foreign record of the haystack stands for all: a probe has one chance of these."""
        for scope, record in self.haystack.first_in.items():
            if scope not in probe.scopes_read:
                self.rows.judge(probe.name, record.id, "forbidden", "foreign_scope")
                return

    def _pool(self, probe: Probe, record: Record) -> None:
        """Judge what only an answer brings up: the haystack, and stale by predicate."""
        if record.scope not in probe.scopes_read and record.id not in self.given.by_id:
            self.rows.judge(probe.name, record.id, "forbidden", "foreign_scope")
        if self.options.is_stale is not None and self.options.is_stale(record):
            self.rows.judge(probe.name, record.id, "stale", "listed")

    def _merged(self, probe: Probe) -> None:
        """An expected record that went into another one's id is satisfied by that one."""
        for number, group in enumerate(probe.groups):
            for record_id in group:
                for twin in self.desk.ids.merged.get(record_id, ()):
                    self.rows.judge(probe.name, twin, "expected", "listed", number, True)

    def _note(
        self,
        probe: Probe,
        status: str,
        error: str | None,
        breaches: str | None = None,
        written: Written | None = None,
        asked: Asked | None = None,
        hits: Sequence[Sequence[Any]] = (),
    ) -> None:
        """Add a row of calls, its columns in the order of `memeval.frames.CALLS`, and its hits."""
        call = (
            probe.name,
            self.repeat,
            probe.k,
            status,
            error,
            breaches,
            self._n_records,
            self._eligible.count(probe),
            written and written.write_ms,
            written and written.visible_ms,
            asked and asked.cold_ms,
            asked and asked.latency_ms,
            asked and asked.llm_calls,
        )
        self.rows.add(call, hits)


def _first_canary(text: str, canaries: Sequence[str]) -> str | None:
    return next((token for token in canaries if contains_tokens(text, token)), None)


def _for_fixed_word(view: View) -> View:
    if view.filter is None:
        return _unfiltered(FIXED_WORD, view.k, view.scope, view.now)
    return View(FIXED_WORD, view.k, view.scope, copy.deepcopy(view.filter), view.now)


@lru_cache(maxsize=256)
def _unfiltered(query: str, k: int, scope: str, now: datetime | None) -> View:
    """A view without a filter holds nothing that anybody could change, so one may serve many."""
    return View(query, k, scope, None, now)


def _keys(hits: Sequence[Hit]) -> list[str | None]:
    return [hit.text if hit.id is None else hit.id for hit in hits]


def _difference(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before
