"""What is planted at which session, and when the store is asked: known before anything is written.

Cohorts are planted at equal distances, so that at one checkpoint probes of several ages are asked,
and checkpoints lie at sizes that grow by one factor: few of them tell a shape better than many
that lie close together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import accumulate
from numbers import Integral

from memeval.cohorts import (
    MOST_COHORTS,
    Renaming,
    moved,
    plant,
    planted,
    renaming,
    shift_of,
    why_not,
)
from memeval.errors import MemevalError, ProbeError
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Op, Record
from memeval.sessioning.model import Session

CHECKPOINTS = 8


@dataclass(frozen=True)
class Plan:
    """A simulation before it starts.

    Attributes
    ----------
    sessions : tuple of Session
        What is written, in order.
    cohorts : mapping of int to list of Probe
        Copies of the probes, by the session before which they are written.
    checkpoints : tuple of int
        How many sessions stand before each checkpoint; the first is 0.
    twice : tuple of Probe
        Probes that can be planted more than once.
    names : Renaming
        Names of a further cohort, that is planted at checkpoints, asked, and taken back.
    number : int
        Which cohort that is.
    """

    sessions: tuple[Session, ...]
    cohorts: dict[int, list[Probe]]
    checkpoints: tuple[int, ...]
    twice: tuple[Probe, ...]
    names: Renaming
    number: int

    @cached_property
    def n_records(self) -> int:
        """How many records are written in all, if the store can take all probes."""
        written = sum(n_records(session.ops) for session in self.sessions)
        return written + sum(map(_written, self.cohorts.values()))

    @property
    def calls(self) -> tuple[int, int]:
        """Writes and searches at most, without those that ask why a probe was lost.

        Each history is asked alone first, and a fresh cohort is planted at each checkpoint, where
        the store can take it back.
        """
        first = self.cohorts[0]
        alone, fresh = _written(first), _written(self.fresh(None))
        writes, searches = self.n_records + alone, 2 * len(first)
        for checkpoint in self.checkpoints:
            there = [made for start, made in self.cohorts.items() if start <= checkpoint]
            newest = max(start for start in self.cohorts if start <= checkpoint)
            writes += 1 + fresh * (newest < checkpoint)
            asked = sum(map(len, there)) + len(self.twice) * (newest < checkpoint)
            searches += 1 + 2 * asked
        return writes, searches

    def fresh(self, at: datetime | None) -> list[Probe]:
        """Copies to be planted at a checkpoint, as of that time."""
        return [
            copy if not dated else moved(copy, shift_of(probe, at))
            for probe, copy, dated in zip(self.twice, self._copies, self._dated, strict=True)
        ]

    @cached_property
    def _copies(self) -> list[Probe]:
        """Copies at the times of their originals."""
        return [planted(probe, self.number, names=self.names) for probe in self.twice]

    @cached_property
    def _dated(self) -> list[bool]:
        """Whether a probe has times to move."""
        return [
            probe.now is not None or any(record.at or record.expires for record in probe.records)
            for probe in self.twice
        ]


def planned(
    probes: Sequence[Probe],
    sessions: Sequence[Session],
    *,
    cohorts: int,
    every: int | None = None,
    checkpoints: Sequence[int] | None = None,
) -> Plan:
    """Lay out a simulation.

    Parameters
    ----------
    probes : sequence of Probe
        The suite.
    sessions : sequence of Session
        All of them.
    cohorts : int
        How often the probes are planted, from 1; the first before anything else is written.
    every : int, optional
        Ask after every so many sessions.
    checkpoints : sequence of int, optional
        Ask after these many sessions; else eight times, at sizes that grow by one factor.

    Raises
    ------
    MemevalError
        If a number is out of range, both `every` and `checkpoints` are given, or a session holds
        what cannot be written.
    ProbeError
        If there is no probe, or its texts were taken out.
    """
    n = len(sessions)
    if n < 1:
        raise MemevalError("found no session to write, wanted at least 1; ask for more sessions")
    check_whole("cohorts", cohorts, 1, MOST_COHORTS - 1)
    if not probes:
        raise ProbeError("found no probe to plant, wanted at least one; give some")
    if any(probe.withheld for probe in probes):
        raise ProbeError(
            "found probes whose texts were taken out, wanted their records to write; take the "
            "suite that still has them"
        )
    _check_ops(sessions)
    at = [min(n - 1, round(c * n / cohorts)) for c in range(cohorts)]
    made = {
        start: plant(probes, c, at=sessions[start].at)
        for c, start in enumerate(at)
        if at.index(start) == c
    }
    chosen = _checkpoints(made, sessions, every, checkpoints)
    twice = tuple(probe for probe in probes if why_not(probe) is None)
    return Plan(tuple(sessions), made, chosen, twice, renaming(probes, cohorts), cohorts)


def check_whole(name: str, value: object, least: int, most: int | None = None) -> None:
    """Refuse what is no whole number in a range.

    Raises
    ------
    MemevalError
        It names the option and its range.
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):  # type: ignore[operator]
        ends = f"from {least}" + ("" if most is None else f" to {most}")
        raise MemevalError(
            f"{name} is {value!r}, wanted a whole number {ends}; leave it out for the default"
        )


def _check_ops(sessions: Sequence[Session]) -> None:
    """Refuse odd times, what is no operation, and a delete of what nobody wrote."""
    known: set[str] = set()
    for session in sessions:
        _check_time(session)
        _check_listed(session)
        for op in session.ops:
            if isinstance(op, Record):
                _check_texts(op, session.number)
                known.add(op.id)
            elif isinstance(op, Delete) and op.id not in known:
                raise MemevalError(
                    f"session {session.number} deletes {op.id!r}, which no session before has "
                    "written; write it first, or leave the delete out"
                )
            elif not isinstance(op, Delete | Advance | Consolidate):
                raise MemevalError(
                    f"session {session.number} holds a {type(op).__name__}, wanted Record, Delete, "
                    "Consolidate or Advance of memeval; build it of these"
                )


def _check_listed(session: Session) -> None:
    ops: object = session.ops
    if not isinstance(ops, tuple | list):
        raise MemevalError(
            f"session {session.number} has {type(ops).__name__} for its operations, wanted a tuple "
            "of Record, Delete, Consolidate and Advance; write tuple(...), or () for none"
        )


def _check_texts(record: Record, number: int) -> None:
    for name in ("id", "text", "scope"):
        value: object = getattr(record, name)
        if not isinstance(value, str):
            raise MemevalError(
                f"session {number} writes a record whose {name} is a {type(value).__name__}, "
                "wanted a string; write it as one"
            )


def _check_time(session: Session) -> None:
    at: object = session.at
    if at is not None and (not isinstance(at, datetime) or at.utcoffset() is None):
        raise MemevalError(
            f"session {session.number} begins at {at!r}, wanted a datetime with a time zone, or "
            "None; say datetime(..., tzinfo=UTC)"
        )


def n_records(ops: Sequence[Op]) -> int:
    """How many records a history writes."""
    return sum(isinstance(op, Record) for op in ops)


def histories(probes: Sequence[Probe]) -> list[Sequence[Op]]:
    """What has to be written for probes; a history that several share once."""
    return list({id(probe.state): probe.given for probe in probes}.values())


def _written(probes: Sequence[Probe]) -> int:
    return sum(map(n_records, histories(probes)))


def _checkpoints(
    made: dict[int, list[Probe]],
    sessions: Sequence[Session],
    every: int | None,
    checkpoints: Sequence[int] | None,
) -> tuple[int, ...]:
    n = len(sessions)
    if every is not None and checkpoints is not None:
        raise MemevalError("found every and checkpoints, wanted one of them; leave one out")
    if every is not None:
        check_whole("every", every, 1)
        return tuple(sorted({*range(0, n + 1, every), n}))
    if checkpoints is not None:
        listed: object = checkpoints
        if not isinstance(listed, Iterable) or isinstance(listed, str | bytes):
            raise MemevalError(
                f"checkpoints is {checkpoints!r}, wanted numbers of sessions, such as [0, 20, 40]; "
                "for one after every so many say every"
            )
        chosen = tuple(checkpoints)
        for checkpoint in chosen:
            check_whole("checkpoints", checkpoint, 0, n)
        if not chosen:
            raise MemevalError(
                f"checkpoints is empty, wanted numbers of sessions from 0 to {n}; leave it out for "
                "eight of them"
            )
        return tuple(sorted({0, *chosen}))
    return _growing_by_one_factor(_sizes(made, sessions))


def _sizes(made: dict[int, list[Probe]], sessions: Sequence[Session]) -> list[int]:
    """Records in the store after each number of sessions, from 0."""
    written = [_written(made.get(0, ()))]
    for number, session in enumerate(sessions):
        more = _written(made.get(number, ())) if number else 0
        written.append(n_records(session.ops) + more)
    return list(accumulate(written))


def _growing_by_one_factor(sizes: Sequence[int]) -> tuple[int, ...]:
    """Eight checkpoints, or all there can be, each as near to its size as the others let it."""
    last, n = len(sizes) - 1, min(CHECKPOINTS, len(sizes))
    low, high = max(sizes[0], 1), max(sizes[-1], 1)
    chosen = [0]
    for i in range(1, n):
        wanted = low * (high / low) ** (i / (n - 1))
        nearest = min(range(len(sizes)), key=lambda s: abs(sizes[s] - wanted))
        chosen.append(min(max(nearest, chosen[-1] + 1), last - (n - 1 - i)))
    return tuple(chosen)
