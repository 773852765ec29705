"""The histories of a suite, and the asking of one of them: the same wherever it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from memeval.harness.asking import Options, Rows, Table
from memeval.harness.selfcheck import SelfCheck
from memeval.harness.snapshots import Place, Shelf
from memeval.harness.workspace import SLOW_PUT_MS, Workspace
from memeval.haystack import NOTHING, Haystack, around
from memeval.plain import plain
from memeval.probe import Probe
from memeval.stores.bound import BoundStore
from memeval.suite import Suite


def histories(suite: Sequence[Probe]) -> list[list[Probe]]:
    """Probes that share a store: all of one named history, else each for itself."""
    groups: dict[str | int, list[Probe]] = {}
    for n, probe in enumerate(suite):
        groups.setdefault(probe.history or n, []).append(probe)
    return list(groups.values())


def haystack_of(suite: Suite, probes: Sequence[Probe], seed: int, foreign: bool) -> Haystack:
    """What is written around the history of these probes; empty where the suite has none."""
    if suite.haystack is None:
        return NOTHING
    return around(probes, suite.haystack, seed=seed, foreign=foreign)


@dataclass(frozen=True)
class Work:
    """What a run has to ask, and how.

    Attributes
    ----------
    suite : Suite
        All probes of the run.
    checked : SelfCheck
        What the self check told of the store.
    options : Options
        How to ask.
    done : frozenset of (str, int)
        Which probe in which repeat was asked before, and is not asked again.
    """

    suite: Suite
    checked: SelfCheck
    options: Options
    done: frozenset[tuple[str, int]] = frozenset()

    @cached_property
    def histories(self) -> list[list[Probe]]:
        """The probes, those that share a store together."""
        return histories(self.suite)

    @property
    def foreign(self) -> bool:
        """Whether foreign scopes are written to."""
        return self.checked.capabilities.scoping != "none"

    def workspace(self, make: Callable[[], BoundStore]) -> Workspace:
        """Where histories are asked."""
        return Workspace(
            make,
            self.checked.capabilities,
            slow=self.checked.put_ms > SLOW_PUT_MS,
            opaque_ids=self.options.opaque_ids,
            allow_nonempty=self.options.allow_nonempty,
        )

    def ask(self, n: int, repeat: int, space: Workspace, rows: Rows, shelf: Shelf | None) -> None:
        """Write the history of this number to a clean store, and ask all of its probes."""
        probes, seed = self.histories[n], self.options.seed
        left = [probe for probe in probes if (probe.name, repeat) not in self.done]
        if not left:
            return
        haystack = haystack_of(self.suite, probes, seed, self.foreign)
        tag = f"{seed} {repeat} {probes[0].name}"
        with space.clean(tag, self._place(probes, shelf)) as desk:
            Table(desk, probes, haystack, repeat, self.options, rows).run(left)
            desk.store.end(tag)

    def _place(self, probes: Sequence[Probe], shelf: Shelf | None) -> Place | None:
        """Where this history is kept once it is written, by all that it depends on."""
        if shelf is None:
            return None
        asked = tuple(probe.content_hash for probe in probes)
        surrounded = (self.suite.haystack_hash, self.options.seed, self.foreign)
        history = (probes[0].state.content_hash, asked, *surrounded, self.options.opaque_ids)
        return Place(shelf, (history, repr(plain(self.checked.info))))
