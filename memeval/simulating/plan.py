"""What is planted at which session, and when the store is asked: known before anything is written.

Cohorts are planted at equal distances, so that at one checkpoint probes of several ages are asked,
and checkpoints lie at sizes that grow by one factor: few of them tell a shape better than many
that lie close together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from memeval.cohorts import MOST_COHORTS, plant
from memeval.errors import MemevalError, ProbeError
from memeval.probe import Probe
from memeval.record import Op, Record
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
    fresh : list of Probe
        Copies that are planted at each checkpoint, asked, and taken back.
    checkpoints : tuple of int
        How many sessions stand before each checkpoint; the first is 0.
    """

    sessions: tuple[Session, ...]
    cohorts: dict[int, list[Probe]]
    fresh: list[Probe]
    checkpoints: tuple[int, ...]


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
        If a number is out of range, or both `every` and `checkpoints` are given.
    ProbeError
        If no probe is left that can be planted.
    """
    n = len(sessions)
    if n < 1:
        raise MemevalError("found no session to write, wanted at least 1; ask for more sessions")
    if not 1 <= cohorts < MOST_COHORTS:
        raise MemevalError(
            f"cohorts is {cohorts}, wanted a whole number from 1 to {MOST_COHORTS - 1}; leave it "
            "out for 4"
        )
    if not probes:
        raise ProbeError("no probe to plant; give at least one")
    at = [min(n - 1, round(c * n / cohorts)) for c in range(cohorts)]
    planted = {
        start: plant(probes, c, at=sessions[start].at)
        for c, start in enumerate(at)
        if at.index(start) == c
    }
    chosen = _checkpoints(planted, sessions, every, checkpoints)
    return Plan(tuple(sessions), planted, plant(probes, cohorts), chosen)


def n_records(ops: Sequence[Op]) -> int:
    """How many records a history writes."""
    return sum(isinstance(op, Record) for op in ops)


def histories(probes: Sequence[Probe]) -> list[Sequence[Op]]:
    """What has to be written for probes; a history that several share once."""
    return list({id(probe.state): probe.given for probe in probes}.values())


def _checkpoints(
    planted: dict[int, list[Probe]],
    sessions: Sequence[Session],
    every: int | None,
    checkpoints: Sequence[int] | None,
) -> tuple[int, ...]:
    n = len(sessions)
    if every is not None and checkpoints is not None:
        raise MemevalError("found every and checkpoints, wanted one of them; leave one out")
    if every is not None:
        if every < 1:
            raise MemevalError(f"every is {every}, wanted a number of sessions from 1; give one")
        return tuple(sorted({*range(0, n + 1, every), n}))
    if checkpoints is not None:
        odd = [c for c in checkpoints if not 0 <= c <= n]
        if odd or not checkpoints:
            raise MemevalError(
                f"checkpoints holds {odd[0] if odd else 'nothing'}, wanted numbers of sessions "
                f"from 0 to {n}; give some of these"
            )
        return tuple(sorted({0, *checkpoints}))
    return _growing_by_one_factor(_sizes(planted, sessions))


def _sizes(planted: dict[int, list[Probe]], sessions: Sequence[Session]) -> list[int]:
    """Records in the store after each number of sessions, from 0."""
    written = [sum(n_records(ops) for ops in histories(planted.get(0, ())))]
    for number, session in enumerate(sessions):
        more = sum(n_records(ops) for ops in histories(planted.get(number, ()))) if number else 0
        written.append(n_records(session.ops) + more)
    return list(accumulate(written))


def _growing_by_one_factor(sizes: Sequence[int]) -> tuple[int, ...]:
    first, last = max(sizes[0], 1), max(sizes[-1], 1)
    wanted = [first * (last / first) ** (i / (CHECKPOINTS - 1)) for i in range(CHECKPOINTS)]
    chosen = {min(range(len(sizes)), key=lambda s: abs(sizes[s] - size)) for size in wanted}
    return tuple(sorted({0, *chosen, len(sizes) - 1}))
