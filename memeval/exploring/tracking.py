"""Where the expected record of a probe stood as a store grew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memeval.report.figures import is_missing
from memeval.simulation import Simulation
from memeval.text import count


@dataclass(frozen=True, slots=True)
class Point:
    """One checkpoint: its session, records so far, rank (None: did not come back), outcome."""

    session: int
    n_records: int
    rank: int | None
    passed: bool
    n_leaked: int
    displaced_by: str


@dataclass(frozen=True, slots=True)
class Line:
    """One planting of a probe, and every time that it was asked.

    Attributes
    ----------
    cohort : int
        Session at which it was planted.
    positive : bool
        Whether something is expected, so that there is a rank.
    points : tuple of Point
        In the order of the checkpoints.
    """

    cohort: int
    positive: bool
    points: tuple[Point, ...]

    @property
    def words(self) -> str:
        """The whole of it in a sentence.

        Examples
        --------
        >>> ranks = [(54, 1), (300, 4), (900, None)]
        >>> points = [Point(n, size, rank, rank == 1, 0, "") for n, (size, rank) in enumerate(ranks)]
        >>> Line(0, True, tuple(points)).words
        'rank 1 at 54 records, none at 900; passes no more from 300 records on'
        """  # noqa: E501 - the doctest builds its points on one line
        first, last = self.points[0], self.points[-1]
        said = self._place(first)
        if len(self.points) > 1:
            said += f", {self._place(last, short=True)}"
        return f"{said}; {self._fate()}"

    def _place(self, point: Point, short: bool = False) -> str:
        size = f"{point.n_records:,}" if short else count(point.n_records, "record")
        if not self.positive:
            return f"{'abstained' if point.passed else 'answered'} at {size}"
        if point.rank is None:
            return f"{'none' if short else 'no rank'} at {size}"
        return f"{point.rank if short else f'rank {point.rank}'} at {size}"

    def _fate(self) -> str:
        passed = [point.passed for point in self.points]
        if len(passed) == 1:
            return "passed, asked once" if passed[0] else "failed, asked once"
        if all(passed):
            return "passes every time"
        if not any(passed):
            return "never passes"
        if passed[-1]:
            return f"fails {passed.count(False)} of {len(passed)} times, and passes at the end"
        last = len(passed) - 1 - passed[::-1].index(True)
        return f"passes no more from {count(self.points[last + 1].n_records, 'record')} on"


@dataclass(frozen=True, slots=True)
class Track:
    """A probe in a simulation.

    Attributes
    ----------
    lines : tuple of Line
        Every planting, the earliest first; empty where the simulation did not ask the probe.
    store : str
        Name of the store.
    """

    lines: tuple[Line, ...]
    store: str

    def most(self, n: int) -> list[Line]:
        """At most n plantings: those that were asked most often, the earliest first."""
        kept = sorted(self.lines, key=lambda line: -len(line.points))[:n]
        return sorted(kept, key=lambda line: line.cohort)


def track(simulation: Simulation, name: str) -> Track:
    """Follow one probe through a simulation.

    Parameters
    ----------
    simulation : Simulation
        As `memeval.run_simulation` gives it, or a saved one.
    name : str
        Name of the probe.
    """
    rows = simulation.drift_probes
    rows = rows[rows["probe"] == name].sort_values(["cohort", "session"])
    lines = [
        _line(int(str(cohort)), list(own.itertuples()))
        for cohort, own in rows.groupby("cohort", sort=True)
    ]
    return Track(tuple(lines), str(simulation.manifest.get("store", "store")))


def _line(cohort: int, rows: list[Any]) -> Line:
    points = tuple(
        Point(
            session=int(row.session),
            n_records=int(row.n_records),
            rank=None if is_missing(row.rank) else int(row.rank),
            passed=bool(row.passed),
            n_leaked=int(row.n_leaked),
            displaced_by="" if is_missing(row.displaced_by) else str(row.displaced_by),
        )
        for row in rows
    )
    return Line(cohort, str(rows[0].kind) != "negative", points)
