"""The passes of one run: every history on a clean store, as often as needed, into tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pandas as pd

from memeval import frames
from memeval.comparing.differences import config_hash
from memeval.comparing.steadiness import equal_answers
from memeval.environment import MATCHER, NORMALISER_VERSION, environment, load, tool_version
from memeval.errors import StoreError
from memeval.harness.asking import Options, Rows
from memeval.harness.chunks import Crew, Done
from memeval.harness.fingerprint import Fingerprint, fingerprinted
from memeval.harness.histories import Work
from memeval.harness.histories import haystack_of as haystack_of
from memeval.harness.histories import histories as histories
from memeval.harness.labels import labelled
from memeval.harness.parallel import UNGATED
from memeval.harness.runjournal import Noting, RunJournal
from memeval.harness.selfcheck import SelfCheck
from memeval.harness.snapshots import Shelf
from memeval.haystack import VERSION as GENERATOR_VERSION
from memeval.plain import plain
from memeval.runs import Manifest
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore, Meter
from memeval.suite import Suite

REPEATS_WHERE_UNSTEADY = 5
TOLD_FROM_S = 1.0
Progress = Callable[[int, int, str], object]


@dataclass
class Collector:
    """The passes of one run over a suite."""

    suite: Suite
    make: Callable[[], BoundStore]
    checked: SelfCheck
    options: Options
    repeats: int | None
    progress: Progress | None
    shelf: Shelf | None = None
    crew: Crew | None = None
    journal: RunJournal | None = None
    meter: Meter = field(default_factory=Meter)

    def __post_init__(self) -> None:
        if self.shelf is None and (self.repeats or 1) > 1:
            self.shelf = Shelf()
        self.rows = Rows()
        self.n_asked = 0
        self.load = load()
        self.verified: bool | None = None
        self.fingerprint = Fingerprint(cause="no probe was asked")
        done = frozenset() if self.journal is None else self.journal.asked
        self.work = Work(self.suite, self.checked, self.options, done)
        self.space = self.work.workspace(self.make)
        if self.journal is not None:
            self.rows.extend(self.journal.rows)

    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Ask everything, as often as needed, and give hits, calls and qrels."""
        wanted = self.repeats or self._declared_repeats()
        try:
            self.fingerprint = fingerprinted(self.space, self.checked, self.options)
            done = 0
            while done < wanted:
                last = done + 1 if self.crew is None else wanted
                self._ask(range(done, last), wanted)
                done = last
                if self.repeats is None and self.rows.unsteady and not self._deterministic():
                    wanted = REPEATS_WHERE_UNSTEADY
        finally:
            self.space.close()
        self.repeats = wanted
        self._refuse_strangers()
        hits, calls, qrels = self._frames()
        self.verified = self._seen_equal(hits, calls)
        return hits, calls, qrels

    def _seen_equal(self, hits: pd.DataFrame, calls: pd.DataFrame) -> bool | None:
        """Whether answers were equal, of one store and of several; None where that was not seen."""
        again, several = equal_answers(hits, calls), self.fingerprint.equal
        if self.rows.unsteady or again is False or several is False:
            return False
        checked = self.options.repeat_check and bool(calls["status"].eq("ok").any())
        seen = again or (checked and (several or self._deterministic()))
        return True if seen else None

    def _declared_repeats(self) -> int:
        return REPEATS_WHERE_UNSTEADY if self.checked.capabilities.deterministic is False else 1

    def _deterministic(self) -> bool:
        return self.checked.capabilities.deterministic is True

    def _ask(self, repeats: range, wanted: int) -> None:
        """Ask every history as often as told; so many repeats are wanted in all."""
        if self.crew is None:
            noting = self._noting()
            rows = self.rows if noting is None else noting
            for repeat in repeats:
                for n in range(len(self.work.histories)):
                    self.work.ask(n, repeat, self.space, rows, self.shelf)
                    if noting is not None:
                        noting.end()
                    self._tell(n, wanted)
            if noting is not None:
                noting.flush()
            return
        made: list[Done] = []
        with closing(self.crew.asked(repeats, self.space, self.shelf)) as outcomes:
            for done in outcomes:
                made.append(done)
                if self.journal is not None:
                    self.journal.add(done.rows, done.meter, done.left_behind, done.emptying_s)
                for n in [*done.chunk] * len(repeats):
                    self._tell(n, wanted)
        for done in sorted(made, key=lambda done: done.chunk.start):
            self._join(done)

    def _noting(self) -> Noting | None:
        if self.journal is None:
            return None
        return Noting(self.journal, self.rows, self.meter, self.space)

    def _tell(self, n: int, repeats: int) -> None:
        self.n_asked += 1
        if self.progress is not None:
            groups = self.work.histories
            self.progress(self.n_asked, repeats * len(groups), groups[n][0].name)

    def _join(self, done: Done) -> None:
        """Take over what a worker noted."""
        self.rows.extend(done.rows)
        self.space.emptying_s += done.emptying_s
        self.space.left_behind += done.left_behind
        if self.shelf is not None and done.no_snapshot is not None:
            self.shelf.refused = done.no_snapshot

    def _refuse_strangers(self) -> None:
        """Stop where every hit of the run is unknown: then the ids are mapped wrong."""
        rows = self.rows
        if rows.n_hits and not rows.n_known and not self.options.allow_nonempty:
            raise StoreError(
                f"all {rows.n_hits} hits of this run are records that nobody wrote, such as id "
                f"{rows.stranger!r}; let put return the store's own id (or a Receipt), or "
                "give back the written id in the hit or in its metadata"
            )

    def _frames(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        hits, calls = self.rows.tables(self._order())
        return hits, calls, labelled(self.suite, hits, self.rows)

    def _order(self) -> dict[str, int]:
        return {probe.name: n for n, probe in enumerate(self.suite)}

    def manifest(self, around: Mapping[str, object] | None = None) -> Manifest:
        """What was measured with what.

        Parameters
        ----------
        around : mapping, optional
            The environment, where it is known already; to look takes as long as a small run.
        """
        declared, told = self.checked.capabilities, plain(self.checked.info)
        ks, calls = {probe.k for probe in self.suite}, self._calls()
        options = {
            "isolation": self.space.isolation,
            "repeat_check": self.options.repeat_check,
            "contract_checks": self.options.contract_checks,
            "opaque_ids": self.options.opaque_ids,
            "allow_nonempty": self.options.allow_nonempty,
            "timeout_s": self.options.timeout_s,
            "retries": self.options.retries,
            "retrieve": self.options.retrieve is not None,
            "is_stale": self.options.is_stale is not None,
            "jobs": 1 if self.crew is None else self.crew.jobs,
            "puts": calls.puts,
            "searches": calls.searches,
            "retried": calls.retries,
        }
        return Manifest(
            schema_version=frames.SCHEMA_VERSION,
            metric_version=frames.METRIC_VERSION,
            tool_version=tool_version(),
            suite_hash=self.suite.content_hash,
            haystack_hash=self.suite.haystack_hash,
            n_probes=len(self.suite),
            k=next(iter(ks)) if len(ks) == 1 else None,
            seed=self.options.seed,
            repeats=self.repeats or 1,
            store=str(told.get("name", "store")),
            store_info=told,
            capabilities=declared.to_dict(),
            options=options,
            environment=dict(environment() if around is None else around) | {"load": self.load},
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            notes=tuple(self._notes(declared)),
            matcher=MATCHER,
            normaliser_version=NORMALISER_VERSION,
            generator_version=GENERATOR_VERSION,
            verified_deterministic=self.verified,
            config_hash=config_hash(told, declared.to_dict()),
            fingerprint=self.fingerprint.value,
            no_fingerprint=self.fingerprint.cause,
        )

    def _calls(self) -> Meter:
        """Calls to the store, those of attempts before too."""
        made = self.meter.copy()
        if self.journal is not None:
            made.add(self.journal.before)
        return made

    def _notes(self, declared: Capabilities) -> Iterator[str]:
        if declared.scoping == "none":
            yield "scopes not measured: the store has none"
        if declared.scoping == "client":
            yield "the adapter, not the store, keeps the scopes: its filtered answer is graded"
        if self.suite.haystack is None:
            yield "no haystack: each probe is asked among its own records alone"
        if not self.options.contract_checks:
            yield "contract not checked: contract_checks=False was asked for"
        if self.crew is not None:
            yield UNGATED.format(jobs=self.crew.jobs)
            yield from self.crew.notes()
        left_behind, emptying_s = self.space.left_behind, self.space.emptying_s
        if self.journal is not None and self.journal.asked:
            left_behind += self.journal.left_behind
            emptying_s += self.journal.emptying_s
            taken = len(self.journal.asked)
            yield f"{taken} answers are of an attempt that stopped, and stood in its journal"
        if left_behind:
            yield f"{left_behind} records could not be removed from the store"
        if emptying_s >= TOLD_FROM_S:
            yield (
                f"emptying the store between histories took {emptying_s:.1f} s in all, "
                "which no latency holds; a fresh store for each probe needs none"
            )
        if self.shelf is not None and self.shelf.refused is not None:
            yield f"every history was written anew: no snapshot of the store ({self.shelf.refused})"
        if self.rows.unsteady:
            yield (
                f"{self.rows.unsteady} answers changed when the same query was asked again; "
                f"repeats: {self.repeats}"
            )
