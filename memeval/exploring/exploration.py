"""A run to be looked into: which probes, at which settings, and all about one of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import pandas as pd

from memeval.errors import MemevalError
from memeval.exploring.choosing import Catalogue, Filter
from memeval.exploring.drafting import Draft, draft
from memeval.exploring.settings import Floors, Settings, floors_of, largest_k
from memeval.exploring.standing import Standing, only, results_at, standing
from memeval.exploring.tracking import Track, track
from memeval.report.control_rows import WITHHELD, withheld
from memeval.report.places import Place
from memeval.report.probes import Detail, Ledger, outcome
from memeval.runs import Run
from memeval.simulation import Simulation

AS_ASKED = Settings()


@dataclass(frozen=True)
class View:
    """All about one probe at some settings.

    Attributes
    ----------
    detail : Detail
        The probe, its answer as the settings leave it, and why it failed as it was asked.
    settings : Settings
        At what it is judged.
    before : tuple of str
        State and outcome as it was asked.
    k_asked : int
        Cutoff that was asked for.
    dropped : tuple of Place
        Hits that the floor takes away, with their ranks as they came.
    track : Track or None
        The probe in a simulation, where there is one.
    """

    detail: Detail
    settings: Settings
    before: tuple[str, str]
    k_asked: int
    dropped: tuple[Place, ...]
    track: Track | None

    @property
    def unknown_below(self) -> bool:
        """Whether the cutoff reaches below what the store was asked for."""
        return self.detail.row.k > self.k_asked


class Exploration:
    """A run, looked into without asking the store again.

    Parameters
    ----------
    run : Run
        As `memeval.run` or `memeval.load_run` gives it.
    simulation : Simulation, optional
        How the store answered as it grew.

    Notes
    -----
    Of an invalid suite nothing is told: everything but `withheld` raises.
    """

    def __init__(self, run: Run, simulation: Simulation | None = None) -> None:
        self.run = run
        self.simulation = simulation
        self._scored = lru_cache(maxsize=64)(lambda settings: results_at(run, settings))
        self._outcomes = lru_cache(maxsize=8)(self._told)

    @property
    def withheld(self) -> bool:
        """Whether the suite is invalid, so that nothing of it is told."""
        return withheld(self.run.validity)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The probes, to be chosen from."""
        if self.withheld:
            why = "; ".join(self.run.validity.reasons)
            raise MemevalError(f"{WITHHELD} {why}; {self.run.validity.next_step}")
        return Catalogue(self.run)

    @cached_property
    def largest_k(self) -> int:
        """Largest cutoff that the answers can say anything of."""
        return largest_k(self.run)

    @cached_property
    def floors(self) -> Floors:
        """Floors that are worth trying."""
        return floors_of(self.run)

    @cached_property
    def own_k(self) -> tuple[int, ...]:
        """Cutoffs that were asked for, each once."""
        return tuple(sorted({int(k) for k in self.run.calls["k"]}))

    def results(self, settings: Settings = AS_ASKED) -> pd.DataFrame:
        """Results at some settings, as `memeval.score` gives them."""
        _ = self.catalogue
        found: pd.DataFrame = self._scored(settings)
        return found

    def matches(self, wanted: Filter, settings: Settings = AS_ASKED) -> tuple[str, ...]:
        """Names of the probes that a filter leaves, in the order in which to look at them."""
        now = self.results(settings) if wanted.status == "changed" else None
        return self.catalogue.matches(wanted, now)

    def standing(self, settings: Settings = AS_ASKED) -> Standing:
        """What the whole run comes to at some settings."""
        return standing(self.results(settings), self.results())

    def outcomes(self, settings: Settings = AS_ASKED) -> Mapping[str, tuple[str, str]]:
        """State and words of what became of each probe, by its name."""
        found: Mapping[str, tuple[str, str]] = self._outcomes(settings)
        return found

    def _told(self, settings: Settings) -> Mapping[str, tuple[str, str]]:
        return {str(row.probe): outcome(row) for row in self.results(settings).itertuples()}

    def view(self, name: str, settings: Settings = AS_ASKED) -> View:
        """All about one probe.

        Parameters
        ----------
        name : str
            Name of the probe.
        settings : Settings
            At what to judge.

        Raises
        ------
        MemevalError
            If there is no such probe, or the suite is invalid.
        """
        own = self._ledger([name]).detail(name)
        if settings.as_asked:
            return self._viewed(own, own, settings)
        now = only(self.run, [name], settings)
        gone = self._dropped(name, now)
        dropped = tuple(place for place in own.places if place.rank in gone)
        return self._viewed(own, Ledger(now).detail(name), settings, dropped)

    def views(self, names: Collection[str]) -> list[View]:
        """All about some probes as they were asked, at less cost than one by one."""
        ledger = self._ledger(names)
        details = [ledger.detail(name) for name in names]
        return [self._viewed(detail, detail, AS_ASKED) for detail in details]

    def draft(self, name: str) -> Draft:
        """A new probe made of this one and of what stood in its answer, for a person to edit."""
        taken = frozenset(probe.name for probe in self.run.suite)
        return draft(self._ledger([name]).detail(name), self.run.manifest.store, taken)

    def _viewed(
        self, own: Detail, detail: Detail, settings: Settings, dropped: tuple[Place, ...] = ()
    ) -> View:
        name = own.row.name
        return View(
            detail=replace(detail, cause=self.catalogue.causes.get(name)),
            settings=settings,
            before=(own.row.state, own.row.outcome),
            k_asked=own.row.k,
            dropped=dropped,
            track=None if self.simulation is None else track(self.simulation, name),
        )

    def _ledger(self, names: Collection[str]) -> Ledger:
        for name in names:
            if name not in self.outcomes():
                raise MemevalError(f"found no probe {name!r:.80} in the run; .matches() names them")
        return Ledger(only(self.run, names, AS_ASKED))

    def _dropped(self, name: str, now: Run) -> set[int]:
        """Ranks in the first answer, as it came, that are not in it now."""
        first = now.calls["repeat"].min()
        hits = self.run.hits[self.run.hits["probe"].eq(name) & self.run.hits["repeat"].eq(first)]
        return set(hits.loc[~hits.index.isin(now.hits.index), "rank"])
