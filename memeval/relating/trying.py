"""All relations tried, world after world."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from memeval.relating import changing, reading, rearranging
from memeval.relating.answers import Rule, difference
from memeval.relating.catalogue import BY_NAME
from memeval.relating.lab import TOP, Lab, Pair
from memeval.relating.trials import Trial
from memeval.relating.worlds import PER_WORLD, World

Progress = Callable[[int, int, str], object]
REARRANGED = {
    "R1": rearranging.insertion_order,
    "R4": rearranging.scopes_renamed,
    "R5": rearranging.ids_renamed,
    "R14": rearranging.times_shifted,
}
CHANGED = {
    "R3": changing.twins_elsewhere,
    "R6": changing.written_twice,
    "R7": changing.written_and_deleted,
    "R12": changing.superseded,
    "R2": changing.unrelated_added,
}
UNSTEADY = "the same records, written and asked again unchanged, got other answers"
NOTHING_THERE = "nothing was found that could be lost"
STEPS = 3 + len(REARRANGED) + len(CHANGED)


@dataclass
class Tried:
    """Trials of all relations, as they come in.

    Attributes
    ----------
    lab : Lab
        Where they are tried.
    reasons : dict of str to str
        Why a relation is not applicable.
    trials : dict of str to list of Trial
        By relation.
    wavers : bool
        Whether answers were seen to change by themselves: then none is held against another.
    """

    lab: Lab
    reasons: dict[str, str]
    trials: dict[str, list[Trial]] = field(default_factory=dict)
    wavers: bool = False

    def run(self, worlds: Sequence[World], most: int, progress: Progress | None) -> None:
        """Try all applicable relations in each world, `most` trials each."""
        total, done = STEPS * len(worlds), 0
        for number, world in enumerate(worlds):
            for label in self._steps(world, number):
                done += 1
                if progress is not None:
                    progress(done, total, label)
        for name, relation in BY_NAME.items():
            trials = self.trials.setdefault(name, [])
            del trials[0 if self.wavers and relation.compares else most :]
            if not trials:
                why = UNSTEADY if relation.compares else NOTHING_THERE
                self.reasons.setdefault(name, why)

    def _steps(self, world: World, number: int) -> Iterator[str]:
        before = self._read(world)
        yield "reading"
        steady = _Steady(self.lab, world, before)
        for name, rearrange in REARRANGED.items():
            if self._applies(name):
                self._add(name, rearrange(self.lab, world, before), steady)
            yield name
        for name, change in CHANGED.items():
            if self._applies(name):
                self._add(name, change(self.lab, world), steady)
            yield name
        if self._applies("R13"):
            gone, left = changing.deleted(self.lab, world)
            self._add("R13", gone, steady)
            self._add("R13b", left, steady)
        yield "R13"
        self._add("R16", reading.wordings(self.lab, number), steady)
        yield "R16"

    def _read(self, world: World) -> list[Pair]:
        """Answers to all questions of the world as it is, and what is tried on these alone."""
        with self.lab.bench(world, "as it is") as bench:
            before = bench.ask_all()
            found = {
                "R8": list(reading.same_twice(bench, before)) if self._applies("R8") else [],
                "R9": list(reading.prefix(bench, TOP, TOP + 1)) if self._applies("R9") else [],
                "R9b": list(reading.prefix(bench, 2, reading.FIVE)) if self._applies("R9b") else [],
                "R11": list(reading.self_retrieval(bench)),
                "R11b": list(reading.fidelity(bench)) if self._applies("R11b") else [],
                "R10": list(reading.typing(bench, before)) if self._applies("R10") else [],
                "R15": list(reading.nonsense(bench)),
            }
        steady = _Steady(self.lab, world, before)
        for name, trials in found.items():
            self._add(name, trials, steady)
        return before

    def _applies(self, name: str) -> bool:
        return name not in self.reasons and not (self.wavers and BY_NAME[name].compares)

    def _add(self, name: str, trials: Iterator[Trial] | Sequence[Trial], steady: _Steady) -> None:
        """Add trials, after a look whether answers change by themselves where any is broken."""
        listed = list(trials)
        if not self._applies(name):
            return
        if BY_NAME[name].compares and any(one.finding is not None for one in listed):
            self.wavers = self.wavers or not steady.holds
        self.trials.setdefault(name, []).extend(listed)


class _Steady:
    """Whether a world gets the same answers when it is written and asked again, unchanged.

    Of a store that declares itself deterministic that is taken for granted; any other is asked
    before a changed answer is held against it.
    """

    def __init__(self, lab: Lab, world: World, before: Sequence[Pair]) -> None:
        self.lab = lab
        self.world = world
        self.before = before
        self._holds: bool | None = True if lab.declared.deterministic is True else None

    @property
    def holds(self) -> bool:
        """Asked for once, when it is needed."""
        if self._holds is None:
            self._holds = all(self._same(n) for n in range(2))
        return self._holds

    def _same(self, number: int) -> bool:
        rule = Rule(same_state=True, texts=not self.lab.declared.rewrites)
        with self.lab.bench(self.world, f"unchanged {number}") as bench:
            for pairs in (bench.ask_all(), bench.ask_all()):
                for one, other in zip(self.before, pairs, strict=True):
                    both = ((one.top, other.top), (one.whole, other.whole))
                    if any(difference(a, b, rule) is not None for a, b in both):
                        return False
        return True


def n_worlds(trials: int) -> int:
    """How many worlds it takes."""
    return math.ceil(trials / PER_WORLD)
