"""The growing itself: session after session is written, the probes are planted and asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memeval.files.growthjournal import GrowthJournal, Kept
from memeval.harness.options import Options
from memeval.harness.workspace import Workspace
from memeval.simulating.alone import neighbours
from memeval.simulating.ground import grounds
from memeval.simulating.plan import Plan
from memeval.simulating.world import World
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore

COUNTED = 200  # how often the store is asked for its size: to count may take as long as to search
Row = dict[str, Any]
Progress = Callable[[int, int, str], object]


@dataclass
class Growth:
    """One store that grows, and what comes of it.

    Attributes
    ----------
    plan : Plan
        What is written, planted and asked, and when.
    options : Options
        How to ask.
    consolidate_every : int
        Sessions after which the store is told to tidy up.
    progress : callable or None
        Told after each session and checkpoint.
    journal : GrowthJournal or None
        Where checkpoints are kept.
    alone : mapping of str to bool, or None
        How the probes of the first cohort do in clean stores.
    rows, checkpoints, sizes : list of dict
        Rows of the tables of these names.
    neighbours : dict or None
        How `alone` compares with the first checkpoint.
    done, n_skipped, left_behind : int
        Sessions written; operations that the store cannot do; records that could not be removed.
    takes_back : bool
        Whether what was asked was taken back.
    """

    plan: Plan
    options: Options
    consolidate_every: int
    progress: Progress | None
    journal: GrowthJournal | None = None
    alone: Mapping[str, bool] | None = None
    rows: list[Row] = field(default_factory=list)
    checkpoints: list[Row] = field(default_factory=list)
    sizes: list[Row] = field(default_factory=list)
    neighbours: Row | None = None
    done: int = 0
    n_skipped: int = 0
    left_behind: int = 0
    takes_back: bool = False

    def run(self, make: Callable[[], BoundStore], declared: Capabilities) -> None:
        """Grow the store to the end, or until it is interrupted after a checkpoint."""
        space = Workspace(
            make,
            declared,
            opaque_ids=self.options.opaque_ids,
            allow_nonempty=self.options.allow_nonempty,
        )
        with grounds(space) as ground:
            self.takes_back = ground.takes_back
            world = World(ground, self.options)
            try:
                self._grow(world)
            except KeyboardInterrupt:
                if not self.checkpoints:
                    raise
            self.n_skipped = world.n_skipped
        self.left_behind = space.left_behind

    def _grow(self, world: World) -> None:
        n = len(self.plan.sessions)
        for number in range(n + 1):
            if number < n and number in self.plan.cohorts:
                world.pass_time(self.plan.sessions[number].at)
                world.plant(self.plan.cohorts[number], number)
            if number in self.plan.checkpoints:
                self._ask(world, number)
                self._tell(world)
            if number < n:
                self._write(world, number)
                self._tell(world)

    def _write(self, world: World, number: int) -> None:
        session, n = self.plan.sessions[number], len(self.plan.sessions)
        world.pass_time(session.at)
        world.write(session.ops, number)
        done = number + 1
        if done % self.consolidate_every == 0:
            world.consolidate()
        if done % -(-n // COUNTED) == 0 or done == n:
            row = {"session": done, "n_records": world.n_records, "n_kept": world.count()}
            self.sizes.append(row)
        self.done = done

    def _ask(self, world: World, number: int) -> None:
        """Ask at a checkpoint, unless the journal has the answers already."""
        kept = None if self.journal is None else self.journal.found.get(number)
        if kept is None:
            row, rows = world.checkpoint(number, lambda: self.plan.fresh(world.at))
            together = self.alone is not None and number == 0
            kept = Kept(row, rows, neighbours(self.alone or {}, rows) if together else None)
            if self.journal is not None:
                self.journal.add(number, kept)
        else:
            world.losses.recall(kept.probes)
            world.passed_checkpoint()
        if number == 0:
            self.neighbours = kept.neighbours
        self.checkpoints.append(kept.checkpoint)
        self.rows += kept.probes
        if number < len(self.plan.sessions):
            world.ground.refuse_hung()

    def _tell(self, world: World) -> None:
        if self.progress is None:
            return
        asked = f"checkpoint {len(self.checkpoints)} of {len(self.plan.checkpoints)}"
        total = max(self.plan.n_records, world.n_records)
        sessions = f"session {self.done} of {len(self.plan.sessions)}"
        self.progress(world.n_records, total, f"records, {sessions}, {asked}")
