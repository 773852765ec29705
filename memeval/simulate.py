"""Grow one store over many sessions and ask it the same probes again and again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from memeval import frames
from memeval.environment import environment, tool_version
from memeval.errors import MemevalError
from memeval.files.growthjournal import GrowthJournal
from memeval.harness.options import Options
from memeval.harness.selfcheck import SelfCheck, self_check
from memeval.harness.workspace import Workspace
from memeval.plain import plain
from memeval.probe import Probe
from memeval.sessions import GENERATOR_VERSION, SessionSource, generator_for, sessions_from
from memeval.simulating.plan import Plan, planned
from memeval.simulating.world import Row, World
from memeval.simulation import Simulation
from memeval.stores.base import resolve
from memeval.stores.bound import Meter, View
from memeval.suite import Suite

COHORTS = 4
ASKED = {
    True: "what was asked at a checkpoint was taken back, and a fresh cohort planted each time",
    False: "the store can take nothing back: it was asked as it is, and no cohort planted afresh",
}
Progress = Callable[[int, int, str], object]


def run_simulation(
    probes: Suite | Probe | Sequence[Probe],
    make_store: str | Callable[[], Any],
    *,
    sessions: int = 200,
    seed: int = 7,
    every: int | None = None,
    checkpoints: Sequence[int] | None = None,
    cohorts: int = COHORTS,
    source: SessionSource | None = None,
    consolidate_every: int = 1,
    margin: float = 0.10,
    budget_ms: float = 100.0,
    retrieve: Callable[[Any, View], Any] | None = None,
    timeout_s: float | None = None,
    retries: int = 0,
    settle_s: float = 60.0,
    poll_s: float = 1.0,
    contract_checks: bool = True,
    opaque_ids: bool = False,
    max_calls: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> Simulation:
    """Grow one store over many sessions, and ask copies of the probes as it grows.

    Parameters
    ----------
    probes : Suite or sequence of Probe
        What is planted. The haystack is left out: the sessions crowd the same scopes.
    make_store : str or callable
        As for `memeval.run`; one store is made.
    sessions : int
        How many sessions are written.
    seed : int
        Same seed, suite and options: same sessions, same tables but for times.
    every : int, optional
        Ask after every so many sessions; by default eight times, at sizes that grow by one factor.
    checkpoints : sequence of int, optional
        Ask after these many sessions.
    cohorts : int
        How often the probes are planted, at equal distances. A probe without ``names`` is planted
        once, at the start.
    source : Generator, iterable of Session, or callable, optional
        Where sessions come from; by default `memeval.sessions.generator_for` of the probes.
    consolidate_every : int
        After how many sessions the store is told to tidy up, where it has such a step.
    margin, budget_ms : float
        Net fall of recall that would matter; what p95 should stay below, in milliseconds.
    retrieve, timeout_s, retries, settle_s, poll_s, contract_checks, opaque_ids, max_calls
        As for `memeval.run`.
    journal : path-like, optional
        A file to which each checkpoint is added, on disk before the next session is written.
    resume : bool
        Go on from the journal: what was asked is not asked again, the sessions before are written
        again.
    progress : callable, optional
        ``progress(done, total, label)`` after each session, in records.

    Returns
    -------
    Simulation
        Tables, trends and a verdict. Interrupted after a checkpoint, it holds what there is, and
        ``manifest["complete"]`` is False.

    Raises
    ------
    StoreError
        If the store cannot be made, is not empty, or fails to write.
    MemevalError
        If an option is out of range, or the journal is of another simulation.

    Notes
    -----
    Probes are asked in a scratch, or a fork, where the store can do that, so that asking leaves no
    trace; one more cohort is then planted, asked and taken back, which shows size at age 0. A store
    rebuilt for each checkpoint would give a flat line, and facts written again would hide that they
    were forgotten.

    Examples
    --------
    >>> import memeval as me
    >>> told = [me.Record("r1", "Priya works in Porto.")]
    >>> probe = me.Probe("office", "Where does Priya work?", told, ["r1"], names=["Priya"])
    >>> grown = run_simulation([probe], "sqlite", sessions=8, every=4)
    >>> grown.checkpoints["session"].tolist(), grown.lost.empty
    ([0, 4, 8], True)
    """
    suite = Suite.of(probes)
    if sessions < 1 or consolidate_every < 1:
        raise MemevalError(
            f"sessions is {sessions} and consolidate_every is {consolidate_every}, wanted whole "
            "numbers from 1; leave them out otherwise"
        )
    given = source if source is not None else generator_for(suite, seed, cohorts=cohorts + 1)
    written = tuple(sessions_from(given, sessions))
    plan = planned(suite, written, cohorts=cohorts, every=every, checkpoints=checkpoints)
    options = Options(
        retrieve=retrieve,
        seed=seed,
        timeout_s=timeout_s,
        retries=retries,
        repeat_check=False,
        contract_checks=contract_checks,
        opaque_ids=opaque_ids,
        settle_s=settle_s,
        poll_s=poll_s,
    )
    make = options.binding(resolve(make_store), Meter(max_calls))
    checked = self_check(make, options)
    growth = _Growth(
        plan=plan,
        workspace=_workspace(make, checked, options),
        options=options,
        consolidate_every=consolidate_every,
        progress=progress,
    )
    key = {
        "suite": suite.content_hash,
        "seed": seed,
        "sessions": len(written),
        "checkpoints": list(plan.checkpoints),
        "cohorts": sorted(plan.cohorts),
        "consolidate_every": consolidate_every,
        "generator": GENERATOR_VERSION if source is None else "own source",
        "store": str(checked.info.get("name", "store")),
        "store_info": plain(checked.info),
        "memeval": tool_version(),
    }
    if journal is not None:
        growth.journal = GrowthJournal(journal, key, resume=resume)
    growth.run()
    manifest = key | {
        "haystack": "none",
        "planting": "cohorts in the scopes of the growth, at the sessions of manifest['cohorts']",
        "capabilities": checked.capabilities.to_dict(),
        "asked": ASKED[growth.taken_back],
        "sessions_done": growth.done,
        "complete": growth.done == len(written),
        "planted_once": len(suite) - len(plan.fresh),
        "environment": environment(),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return Simulation(
        drift_probes=_table(growth.rows, frames.DRIFT_PROBES),
        checkpoints=_table(growth.checkpoints, frames.CHECKPOINTS),
        sizes=_table(growth.sizes, frames.SIZES),
        manifest=manifest,
        queries={probe.name: probe.query for probe in suite},
        margin=margin,
        budget_ms=budget_ms,
    )


def _workspace(make: Callable[[], Any], checked: SelfCheck, options: Options) -> Workspace:
    """Where the one store stands: a new one where that can be had, else as the store has it."""
    space = Workspace(make, checked.capabilities, opaque_ids=options.opaque_ids)
    if space.isolation == "fork":
        space.isolation = "fresh"
    return space


def _table(rows: list[Row], schema: frames.Schema) -> pd.DataFrame:
    return frames.conform(pd.DataFrame(rows, columns=frames.names(schema)), schema)


@dataclass
class _Growth:
    """The growing itself: writes, plants, asks, and keeps what came of it."""

    plan: Plan
    workspace: Workspace
    options: Options
    consolidate_every: int
    progress: Progress | None
    journal: GrowthJournal | None = None
    rows: list[Row] = field(default_factory=list)
    checkpoints: list[Row] = field(default_factory=list)
    sizes: list[Row] = field(default_factory=list)
    taken_back: bool = False
    done: int = 0

    def run(self) -> None:
        """Grow the store to the end, or until it is interrupted after a checkpoint."""
        with closing(self.workspace), self.workspace.clean("simulation") as desk:
            world = World(desk, self.options)
            self.taken_back = world.reads_leave_no_trace
            try:
                self._grow(world)
            except KeyboardInterrupt:
                if not self.checkpoints:
                    raise

    def _grow(self, world: World) -> None:
        n = len(self.plan.sessions)
        for number in range(n + 1):
            if number < n and number in self.plan.cohorts:
                world.pass_time(self.plan.sessions[number].at)
                world.plant(self.plan.cohorts[number], number)
            if number in self.plan.checkpoints:
                self._ask(world, number)
            if number == n:
                break
            self._write(world, number)

    def _write(self, world: World, number: int) -> None:
        session = self.plan.sessions[number]
        world.pass_time(session.at)
        world.write(session.ops)
        if (number + 1) % self.consolidate_every == 0:
            world.consolidate()
        self.done = number + 1
        counted = world.desk.store.count()
        self.sizes.append({"session": self.done, "n_records": world.n_records, "n_kept": counted})
        if self.progress is not None:
            n = len(self.plan.sessions)
            self.progress(self.done, n, f"session {self.done}, {world.n_records:,} records")

    def _ask(self, world: World, number: int) -> None:
        """Ask at a checkpoint, unless the journal has the answers already."""
        known = None if self.journal is None else self.journal.found.get(number)
        if known is None:
            row, rows = world.checkpoint(number, self.plan.fresh)
            if self.journal is not None:
                self.journal.add(number, row, rows)
        else:
            row, rows = known
            world.recall(rows)
        self.checkpoints.append(row)
        self.rows += rows
