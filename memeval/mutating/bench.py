"""The bench on which saboteurs are tried: the suite, the store, and what that said as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from memeval.errors import StoreError
from memeval.files.outcome_rows import rows_of
from memeval.harness.collecting import Collector
from memeval.harness.options import Options
from memeval.harness.replaying import Replay, answered
from memeval.harness.selfcheck import SelfCheck
from memeval.harness.snapshots import Shelf
from memeval.harness.tape import Tape
from memeval.mutating.killing import Seen, seen
from memeval.mutating.significance import outcomes_of
from memeval.outcomes import Outcomes
from memeval.runs import Run
from memeval.stores.bound import Meter
from memeval.stores.saboteurs.base import Saboteur, Touches
from memeval.suite import Suite

__all__ = ["Bench", "Unrefused"]


class Unrefused(Collector):
    """The passes of a run of a store that may answer with nothing but what nobody wrote."""

    def _refuse_strangers(self) -> None:
        """Refuse nothing: that may be the fault."""


@dataclass(frozen=True, eq=False)
class Bench:
    """What every saboteur is tried on.

    Attributes
    ----------
    suite : Suite
        The probes.
    factory : callable
        Gives a fresh store of the user's.
    options : Options
        How to ask.
    checked : SelfCheck
        What the self check told of the store.
    tape : Tape
        What the store said as it is.
    identity : Run
        The run that was recorded.
    replayed : Seen or None
        What the store as it is shows when it is replayed: no search of it takes the time of one.
    meter : Meter
        Where calls to the store are counted.
    """

    suite: Suite
    factory: Callable[[], Any]
    options: Options
    checked: SelfCheck
    tape: Tape
    identity: Run
    replayed: Seen | None = None
    meter: Meter = field(default_factory=Meter)

    @property
    def repeats(self) -> int:
        """How often each probe is asked."""
        return self.identity.manifest.repeats

    @cached_property
    def recorded(self) -> Seen:
        """What the store shows as it is."""
        return seen(self.identity, self.outcomes.probes)

    @cached_property
    def outcomes(self) -> Outcomes:
        """The same as a comparison of means takes it."""
        return outcomes_of(self.identity, rows_of(self.identity))

    def supports(self, name: str) -> bool:
        """Whether the store has a method."""
        return name in self.tape.supports

    def with_replay(self) -> Bench:
        """The same, with what the store as it is shows when it is replayed."""
        return replace(self, replayed=seen(self.run(Saboteur, "answer")))

    def on(self, suite: Suite) -> Bench:
        """The same with other probes, of which nothing is recorded."""
        return replace(self, suite=suite, replayed=None)

    def run(
        self, saboteur: type[Saboteur], touches: Touches | None = None, shelf: Shelf | None = None
    ) -> Run:
        """Run the suite on the store with one fault.

        Parameters
        ----------
        saboteur : type
            The fault; `Saboteur` itself is the store as it is.
        touches : {'answer', 'search', 'write'}, optional
            What is done anew; as the saboteur says unless given.
        shelf : Shelf, optional
            Histories that were written before, where only searches are done anew.

        Raises
        ------
        StoreError
            If the store cannot be made, or what is replayed was never recorded.
        """
        touches = touches or saboteur.touches
        getattr(saboteur, "reset", bool)()
        if touches == "answer":
            return self._replayed(saboteur)
        kept = shelf if touches == "search" and shelf is not None else Shelf(0)
        return self._asked(saboteur, self.factory, self.options, self.checked, kept, self.meter)

    def _replayed(self, saboteur: type[Saboteur]) -> Run:
        replay = Replay(self.tape, plainly=True)
        options = replace(self.options, retrieve=replay.retrieve, allow_nonempty=False)
        checked = replace(self.checked, capabilities=replay.capabilities, put_ms=0.0)
        made = self._asked(saboteur, replay, options, checked, Shelf(0), Meter())
        if replay.missed:
            raise StoreError(
                f"it says that it touches answers alone, and {replay.missed[0]}; let it say "
                "touches = 'search', or 'write' where it changes what is written"
            )
        return made

    def _asked(
        self,
        saboteur: type[Saboteur],
        source: Callable[[], Any],
        options: Options,
        checked: SelfCheck,
        shelf: Shelf,
        meter: Meter,
    ) -> Run:
        make_inner = replace(options, timeout_s=None, retries=0).binding(source, Meter())
        around = replace(
            options,
            retrieve=None if options.retrieve is None else answered,
            settle_s=min(options.settle_s, self._patience_s(options)),
        )
        make = around.binding(lambda: saboteur(make_inner(), options.seed), meter)
        checked = replace(checked, search_ms=0.0)
        asked = Unrefused(self.suite, make, checked, around, self.repeats, None, shelf, meter=meter)
        tables = asked.tables()
        around_it = self.identity.manifest.environment  # which no saboteur changes
        return Run(*tables, manifest=asked.manifest(around_it), suite=self.suite)

    def _patience_s(self, options: Options) -> float:
        """How long writes can take to be found: a fault may hide one for ever."""
        longest = self.identity.calls["visible_ms"].max()
        return 2.0 * (float(longest) / 1000.0 if longest == longest else 0.0) + options.poll_s
