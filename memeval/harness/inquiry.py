"""One failed probe, asked again: which cause do the store's own answers speak for.

Nothing here is guessed and no model is asked. Each cause is a question to the store with a yes or
no answer, put in a fixed order; the first that is answered with yes is the cause.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memeval import contract
from memeval.advice import LEAKS, next_step
from memeval.harness.questions import (
    SHOWN,
    Found,
    Questions,
    listed,
    names_of,
    rank_of,
    same_text,
    shared_words,
)
from memeval.harness.strays import Strays
from memeval.neardup import near_duplicate_key
from memeval.record import Record
from memeval.text import visible

SELF_SEARCH_K = 10


class Cause(NamedTuple):
    """Why a probe failed.

    Attributes
    ----------
    cause : str
        One of `memeval.frames.CAUSE_WORDS`.
    evidence : str
        What the store answered, in words.
    rank_found : int or None
        Rank of the missing record when more is asked for; None where it never comes.
    displaced_by : tuple of str
        Ids of the records that stand in its place.
    next_step : str
        What to do.
    """

    cause: str
    evidence: str
    rank_found: int | None = None
    displaced_by: tuple[str, ...] = ()
    next_step: str = ""


@dataclass(frozen=True)
class Labels:
    """What is said of the records of one probe, by the run's qrels.

    Attributes
    ----------
    groups : tuple of frozenset of str
        Expected groups, merged records included.
    forbidden : mapping of str to str
        Forbidden ids and the reason of each.
    stale : frozenset of str
        Outdated ids.
    """

    groups: tuple[frozenset[str], ...] = ()
    forbidden: Mapping[str, str] = field(default_factory=dict)
    stale: frozenset[str] = frozenset()


@dataclass(kw_only=True)
class Inquiry(Questions):
    """Why one probe failed, asked of a clean store on which its history is written.

    Attributes
    ----------
    labels : Labels
        What is said of its records.
    status, error : str
        What became of the probe when asked again.
    breaches : str
        Codes of broken contract checks, then or now.
    lost_at : callable
        From a score to how many found positives a floor above it would lose, and of how many.
    wait_s : float
        How long to wait for a record to appear, in seconds.
    strays : Strays
        What is known of other scopes from inquiries before, on the same store as it is now.
    """

    labels: Labels
    status: str
    error: str
    breaches: str
    lost_at: Callable[[float], tuple[int, int]]
    wait_s: float = 2.0
    strays: Strays = field(default_factory=Strays)

    def cause(self) -> Cause:
        """The first cause that the store's answers speak for."""
        if self.status in ("failed", "timeout"):
            return self._made("failed", f"asked again, it fails: {self.error}")
        self.answer = self.ask(self.probe.query, self.probe.k)
        return next(cause for cause in self._causes() if cause is not None)

    def _causes(self) -> Iterator[Cause | None]:
        yield self._leaked()
        yield self._contract()
        if self.probe.is_negative:
            yield self._answered()
        else:
            missing = self._missing()
            if missing is not None:
                yield from self._why(missing)
        yield self._made("not_reproduced", "asked again on a clean store, the probe passes")

    def _why(self, record: Record) -> Iterator[Cause | None]:
        """Causes of one expected record that is not in the top k."""
        if self.rank is None:
            yield self._not_stored(record)
            yield from self._absent(record)
        else:
            yield self._cut(record, self.rank)
        yield self._stale_won(record)
        yield self._crowded_out(record)
        yield self._outranked(record)

    def _leaked(self) -> Cause | None:
        leaking = [hit for hit in self.answer if self._leak_of(hit)]
        if not leaking:
            return None
        kinds = list(dict.fromkeys(self._leak_of(hit) for hit in leaking))
        ranks = ", ".join(f"{h.name} at rank {self.answer.index(h) + 1}" for h in leaking[:5])
        what = ", ".join(LEAKS[kind] for kind in kinds)
        return self._made("leaked", f"{what}: {ranks}", kind=kinds[0])

    def _leak_of(self, hit: Found) -> str:
        """Kind of the leak; empty where it is none."""
        known = hit.record_id or ""
        if known in self.labels.forbidden:
            return "superseded" if known in self.probe.superseded else self.labels.forbidden[known]
        record = self.records.get(known)
        if record is not None and record.scope not in self.probe.scopes_read:
            return "foreign_scope"
        return "canary" if hit.canary else ""

    def _contract(self) -> Cause | None:
        codes = self.breaches.split()
        if not codes:
            return None
        return self._made("contract", "; ".join(contract.describe(code) for code in codes))

    def _answered(self) -> Cause | None:
        """A negative probe that got an answer, and the score that would have stopped it."""
        if not self.answer:
            return None
        top = self.answer[0]
        shown = f"{top.name} on top: {visible(top.text, SHOWN)}"
        if top.score is None:
            return self._made("did_not_abstain", f"{shown}; the store gives no score", kind="bare")
        lost, n = self.lost_at(top.score)
        said = f"{shown}, with score {top.score:.4g}; a floor above it loses {lost} of {n} found"
        return self._made("did_not_abstain", said, floor=top.score, lost=lost, n=n)

    def _missing(self) -> Record | None:
        """Of the groups that are not met the first, and of that the record that comes nearest.

        A group that never comes goes before one that comes too late.
        """
        top = {hit.record_id for hit in self.answer[: self.probe.k]}
        pairs = zip(self.labels.groups, self.probe.groups, strict=True)
        unmet = [authored for group, authored in pairs if not group & top]
        if not unmet:
            return None
        self.wide, self.wide_k = self.ask_wide(self.probe.query)
        ranks = [[rank_of(self.wide, name) for name in group] for group in unmet]
        nearest = [min((r for r in group if r), default=None) for group in ranks]
        late = [rank for rank in nearest if rank is not None]
        self.needed = max(late) if len(late) == len(unmet) else None
        first = nearest.index(None) if None in nearest else 0
        self.rank = nearest[first]
        place = ranks[first].index(self.rank) if self.rank else 0
        return self.records[unmet[first][place]]

    def _not_stored(self, record: Record) -> Cause | None:
        """Refused, kept under another record's id, or not found by its own text."""
        if record.id in self.desk.ids.lost:
            return self._made("not_stored", f"put of {record.id} was rejected")
        own, asked = self.ask_wide(record.text, SELF_SEARCH_K)
        if rank_of(own, record.id) is None:
            own, asked = self.ask_wide(record.text)
        if rank_of(own, record.id) is not None:
            return None
        more_to_come = len(own) >= asked < len(self.records)
        same = [h for h in own if same_text(h.text, record.text) and h.record_id is not None]
        if same:
            said = f"the text of {record.id} comes back as {same[0].name}"
            return self._made("merged", said, displaced_by=(same[0].name,))
        late = self._late(record) or self._elsewhere(record)
        return late if late or more_to_come else self._lost(record)

    def _late(self, record: Record) -> Cause | None:
        """It appears after a while."""
        if not self._may_be_late():
            return None
        started = time.monotonic()
        while time.monotonic() - started < self.wait_s:
            time.sleep(min(0.05, self.wait_s))
            if rank_of(self.ask_wide(record.text, SELF_SEARCH_K)[0], record.id) is not None:
                waited = time.monotonic() - started
                return self._made("not_visible", f"{record.id} could be found {waited:.1f} s later")
        return None

    def _may_be_late(self) -> bool:
        store = self.desk.store
        eventual = store.capabilities.consistency == "eventual"
        return self.status == "not_visible" or eventual or store.supports("wait_visible")

    def _elsewhere(self, record: Record) -> Cause | None:
        """It is found without the filter, or in another scope."""
        if self.probe.filter and self._finds(record, with_filter=False):
            asked = ", ".join(f"{key}={value}" for key, value in self.probe.filter.items())
            said = f"{record.id} is found without the filter {visible(asked)}, and not with it"
            return self._made("filtered", said, kind="filter")
        for scope in self.strays.places(record, self.probe, self.records):
            found = self._finds(record, scope=scope)
            self.strays.note(scope, found=found)
            if found:
                said = f"{record.id} is found in scope {visible(scope)!r}, not in {record.scope!r}"
                return self._made("filtered", said)
        return None

    def _finds(self, record: Record, *, with_filter: bool = True, scope: str | None = None) -> bool:
        hits, _ = self.ask_wide(record.text, SELF_SEARCH_K, with_filter=with_filter, scope=scope)
        return any(h.record_id == record.id or same_text(h.text, record.text) for h in hits)

    def _lost(self, record: Record) -> Cause:
        said = f"put took {record.id}, and a search for its own text does not find it"
        return self._made("not_stored", said)

    def _absent(self, record: Record) -> Iterator[Cause | None]:
        """It is stored, and this query does not bring it at any k."""
        if self.probe.filter:
            free, _ = self.ask_wide(self.probe.query, with_filter=False)
            if rank_of(free, record.id) is not None:
                said = f"{record.id} is found for this query without the filter, and not with it"
                yield self._made("filtered", said, kind="filter")
        if len(self.wide) < self.wide_k:
            shared, asked = shared_words(self.probe.query, record.text)
            n, k = len(self.wide), self.wide_k
            said = (
                f"asked for {k}, the store returns {n}, and {record.id} is not among them; "
                f"query and record share {shared} of {asked} content words"
            )
            yield self._made("cut", said, kind="meaning" if not shared else "floor")

    def _cut(self, record: Record, rank: int) -> Cause | None:
        """It is near enough, and left out all the same."""
        short = len(self.answer) < self.probe.k
        if rank > self.probe.k and not short:
            return None
        said = f"{record.id} is at rank {rank} when {self.wide_k} are asked for, and is left out"
        said += f" of the {len(self.answer)} returned at k = {self.probe.k}"
        return self._made("cut", said, rank)

    def _before(self) -> list[Found]:
        """Records that stand before the missing one: the top k, or all above its own rank."""
        return self.wide[: self.rank - 1] if self.rank else self.answer[: self.probe.k]

    def _stale_won(self, record: Record) -> Cause | None:
        stale = [h for h in self._before()[: self.probe.k] if h.record_id in self.labels.stale]
        if not stale:
            return None
        said = f"{listed(stale)}, outdated, before {record.id}{self._where()}"
        return self._made("stale_won", said, self.rank, displaced_by=names_of(stale))

    def _crowded_out(self, record: Record) -> Cause | None:
        """Without repeats of one fact among those before it, it would be in the top k."""
        before = self._before()
        units = {self._unit(hit) for hit in before}
        if self.rank is None or len(units) >= self.probe.k or len(units) == len(before):
            return None
        things = "one thing" if len(units) == 1 else f"{len(units)} things"
        said = f"{len(before)} records before {record.id} say {things}{self._where()}"
        return self._made("crowded_out", said, self.rank, displaced_by=names_of(before))

    def _unit(self, hit: Found) -> object:
        record = self.records.get(hit.record_id or "")
        return record.unit if record and record.unit else near_duplicate_key(hit.text)

    def _outranked(self, record: Record) -> Cause:
        before = self._before()[: self.probe.k]
        said = f"before {record.id}: {listed(before)}{self._where()}{self._gap(record)}"
        return self._made(
            "outranked", said, self.rank, displaced_by=names_of(before), needed=self.needed
        )

    def _where(self) -> str:
        if self.rank is None:
            more = f", and more are refused ({self.refusal})" if self.refusal else ""
            return f"; it is not among the first {self.wide_k}{more}"
        return f"; it comes at rank {self.rank}"

    def _gap(self, record: Record) -> str:
        """Score of the missing record beside that of the last one that made it."""
        last = self.answer[: self.probe.k][-1:]
        if self.rank is None or not last:
            return ""
        mine, its = self.wide[self.rank - 1].score, last[0].score
        return (
            "" if mine is None or its is None else f" with score {mine:.4g}, rank k has {its:.4g}"
        )

    def _made(
        self,
        cause: str,
        evidence: str,
        rank: int | None = None,
        *,
        displaced_by: tuple[str, ...] = (),
        **about: Any,
    ) -> Cause:
        about |= {"probe": self.probe, "rank": rank, "breaches": self.breaches}
        return Cause(cause, evidence, rank, displaced_by, next_step(cause, about))
