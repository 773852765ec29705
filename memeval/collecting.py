"""The passes of one run: every history on a clean store, as often as needed, into tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import pandas as pd

from memeval import frames
from memeval.asking import Options, Rows, Table
from memeval.environment import environment, tool_version
from memeval.errors import StoreError
from memeval.haystack import Haystack, around
from memeval.plain import plain
from memeval.probe import Probe
from memeval.runs import Manifest
from memeval.selfcheck import SelfCheck
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore, Meter
from memeval.suite import Suite
from memeval.workspace import SLOW_PUT_MS, Workspace

REPEATS_WHERE_UNSTEADY = 5
TOLD_FROM_S = 1.0
Progress = Callable[[int, int, str], object]


def histories(suite: Sequence[Probe]) -> list[list[Probe]]:
    """Probes that share a store: all of one named history, else each for itself."""
    keyed = [(probe.history or f"\x00{n}", probe) for n, probe in enumerate(suite)]
    order = {key: n for n, (key, _) in reversed(list(enumerate(keyed)))}
    keyed.sort(key=lambda pair: order[pair[0]])
    return [[probe for _, probe in same] for _, same in groupby(keyed, key=lambda pair: pair[0])]


def haystack_of(suite: Suite, probes: Sequence[Probe], seed: int, foreign: bool) -> Haystack:
    """What is written around the history of these probes; empty where the suite has none."""
    if suite.haystack is None:
        return Haystack()
    return around(probes, suite.haystack, seed=seed, foreign=foreign)


@dataclass
class Collector:
    """The passes of one run over a suite."""

    suite: Suite
    make: Callable[[], BoundStore]
    checked: SelfCheck
    options: Options
    repeats: int | None
    progress: Progress | None

    def __post_init__(self) -> None:
        self.rows = Rows()
        self.space = Workspace(
            self.make,
            self.checked.capabilities,
            slow=self.checked.put_ms > SLOW_PUT_MS,
            opaque_ids=self.options.opaque_ids,
            allow_nonempty=self.options.allow_nonempty,
        )

    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Ask everything, as often as needed, and give hits, calls and qrels."""
        wanted = self.repeats or self._declared_repeats()
        try:
            done = 0
            while done < wanted:
                self._pass(done, wanted)
                done += 1
                if self.repeats is None and self.rows.unsteady and not self._deterministic():
                    wanted = REPEATS_WHERE_UNSTEADY
        finally:
            self.space.close()
        self.repeats = wanted
        self._refuse_strangers()
        return self._frames()

    def _declared_repeats(self) -> int:
        return REPEATS_WHERE_UNSTEADY if self.checked.capabilities.deterministic is False else 1

    def _deterministic(self) -> bool:
        return self.checked.capabilities.deterministic is True

    def _pass(self, repeat: int, repeats: int) -> None:
        groups = histories(self.suite)
        foreign = self.checked.capabilities.scoping != "none"
        for n, probes in enumerate(groups):
            haystack = haystack_of(self.suite, probes, self.options.seed, foreign)
            with self.space.clean(f"{self.options.seed} {repeat} {probes[0].name}") as desk:
                Table(desk, probes, haystack, repeat, self.options, self.rows).run()
            if self.progress is not None:
                done = repeat * len(groups) + n + 1
                self.progress(done, repeats * len(groups), probes[0].name)

    def _refuse_strangers(self) -> None:
        """Stop where every hit of the run is unknown: then the ids are mapped wrong."""
        hows = [row["resolved_by"] for row in self.rows.hits]
        if hows and set(hows) == {"unknown"} and not self.options.allow_nonempty:
            example = self.rows.hits[0]
            raise StoreError(
                f"all {len(hows)} hits of this run are records that nobody wrote, such as id "
                f"{example['store_id']!r}; let put return the store's own id (or a Receipt), or "
                "give back the written id in the hit or in its metadata"
            )

    def _frames(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        order = {probe.name: n for n, probe in enumerate(self.suite)}
        sort = [(order[row["probe"]], row["repeat"]) for row in self.rows.calls]
        calls = [
            row for _, row in sorted(zip(sort, self.rows.calls, strict=True), key=lambda p: p[0])
        ]
        hits = sorted(
            self.rows.hits, key=lambda row: (order[row["probe"]], row["repeat"], row["rank"])
        )
        return (
            frames.conform(_frame(hits, frames.HITS), frames.HITS),
            frames.conform(_frame(calls, frames.CALLS), frames.CALLS),
            self._qrels(order),
        )

    def _qrels(self, order: Mapping[str, int]) -> pd.DataFrame:
        """What the author said, and what came up while asking; the author's word first."""
        said = self.suite.qrels()
        if not self.rows.qrels:
            return said
        more = frames.conform(_frame(self.rows.qrels, frames.QRELS), frames.QRELS)
        both = pd.concat([said, more], ignore_index=True)
        both = both.drop_duplicates(["probe", "record_id", "label"])
        expected = both["label"].eq("expected")
        keys = both["probe"] + "\x00" + both["record_id"]
        both = both[expected | ~keys.isin(keys[expected])]
        ranked = both.assign(order=both["probe"].map(order)).sort_values("order", kind="stable")
        return frames.conform(ranked, frames.QRELS)

    def manifest(self, meter: Meter) -> Manifest:
        """What was measured with what."""
        declared, told = self.checked.capabilities, plain(self.checked.info)
        ks = {probe.k for probe in self.suite}
        options = {
            "isolation": self.space.isolation,
            "repeat_check": self.options.repeat_check,
            "opaque_ids": self.options.opaque_ids,
            "allow_nonempty": self.options.allow_nonempty,
            "timeout_s": self.options.timeout_s,
            "retries": self.options.retries,
            "retrieve": self.options.retrieve is not None,
            "is_stale": self.options.is_stale is not None,
            "puts": meter.puts,
            "searches": meter.searches,
            "retried": meter.retries,
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
            environment=environment(),
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            notes=tuple(self._notes(declared)),
        )

    def _notes(self, declared: Capabilities) -> Iterator[str]:
        if declared.scoping == "none":
            yield "scopes not measured: the store has none"
        if declared.scoping == "client":
            yield "the adapter, not the store, keeps the scopes: its filtered answer is graded"
        if self.suite.haystack is None:
            yield "no haystack: each probe is asked among its own records alone"
        if self.space.left_behind:
            yield f"{self.space.left_behind} records could not be removed from the store"
        if self.space.emptying_s >= TOLD_FROM_S:
            yield (
                f"emptying the store between histories took {self.space.emptying_s:.1f} s in all, "
                "which no latency holds; a fresh store for each probe needs none"
            )
        if self.rows.unsteady:
            yield (
                f"{self.rows.unsteady} answers changed when the same query was asked again; "
                f"repeats: {self.repeats}"
            )


def _frame(rows: Sequence[Mapping[str, Any]], schema: frames.Schema) -> pd.DataFrame:
    """Rows as a frame with every column of the schema, typed before any NA is guessed at."""
    columns = {name: [row.get(name) for row in rows] for name in frames.names(schema)}
    return pd.DataFrame({name: pd.Series(v, dtype="object") for name, v in columns.items()})
