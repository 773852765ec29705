"""Grow one store over many sessions and ask it the same probes again and again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from memeval import frames
from memeval.cohorts import MOST_COHORTS
from memeval.environment import environment
from memeval.files.growthjournal import GrowthJournal
from memeval.files.journal import check_journal
from memeval.harness.options import Options
from memeval.harness.selfcheck import SelfCheck, self_check
from memeval.probe import Probe
from memeval.record import Advance
from memeval.sessions import (
    GENERATOR_VERSION,
    SessionSource,
    generator_for,
)
from memeval.simulating.alone import asked_alone
from memeval.simulating.growth import Growth
from memeval.simulating.judging import validity_of
from memeval.simulating.plan import Plan, check_whole, planned
from memeval.simulating.refusing import (
    MOST_SESSIONS,
    check_asking,
    check_bounds,
    check_calls,
    taken,
)
from memeval.simulating.telling import ASKED, errors_of, key_of, notes_of, source_of
from memeval.simulation import Simulation
from memeval.stores.base import resolve
from memeval.stores.bound import BoundStore, Meter, View
from memeval.suite import Suite
from memeval.verdicts import Validity

COHORTS = 4
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
    allow_nonempty: bool = False,
    max_calls: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    validity: Validity | None = None,
    allow_errors: int = 0,
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
    retrieve, timeout_s, retries, settle_s, poll_s, contract_checks, opaque_ids, allow_nonempty
        As for `memeval.run`.
    max_calls : int, optional
        Calls to the store after which the next one is refused.
    journal : path-like, optional
        A file to which each checkpoint is added, on disk before the next session is written.
    resume : bool
        Go on from the journal: what was asked is not asked again, the sessions before are written
        again.
    progress : callable, optional
        ``progress(done, total, label)`` after each session and checkpoint, in records.
    validity : Validity, optional
        What was judged of the suite, such as ``memeval.run_controls(...).validity``. By default a
        suite is judged as `memeval.run` does, by closed forms; a bare list of probes stays
        unchecked.
    allow_errors : int
        How many searches may fail or time out; more fail the simulation.

    Returns
    -------
    Simulation
        Tables, trends and a verdict; what else is worth knowing stands in ``manifest["notes"]``.
        Of an invalid suite no number is shown.
        Interrupted by the keyboard after a checkpoint, it holds what there is, and
        ``manifest["complete"]`` is False.

    Raises
    ------
    StoreError
        If the store cannot be made, is not empty, or fails to write.
    MemevalError
        If an option is out of range, a session cannot be written, or the journal is of another
        simulation, damaged, or cannot be written.
    KeyboardInterrupt
        If it is interrupted before the first checkpoint.

    Notes
    -----
    Probes are asked in a scratch, or a fork, where the store can do that, so that asking leaves no
    trace; one more cohort is then planted, asked and taken back, which shows size at age 0. A store
    rebuilt for each checkpoint would give a flat line, and facts written again would hide that they
    were forgotten.

    A planted probe that the store cannot take, or whose history lets time pass (it would age all
    the others), has rows with status ``not_supported`` at every checkpoint. Before the growth each
    history is asked alone in a clean store: ``manifest["neighbours"]`` has the share of the probes
    that come out otherwise beside the others.

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
    check_whole("consolidate_every", consolidate_every, 1)
    check_bounds(margin, budget_ms)
    check_asking(
        timeout_s=timeout_s, retries=retries, settle_s=settle_s, poll_s=poll_s,
        max_calls=max_calls, allow_errors=allow_errors,
    )  # fmt: skip
    check_calls(retrieve=retrieve, progress=progress)
    check_journal(journal, resume)
    plan = plan_simulation(
        suite, sessions=sessions, seed=seed, every=every, checkpoints=checkpoints,
        cohorts=cohorts, source=source,
    )  # fmt: skip
    options = Options(
        retrieve=retrieve,
        seed=seed,
        timeout_s=timeout_s,
        retries=retries,
        repeat_check=False,
        contract_checks=contract_checks,
        opaque_ids=opaque_ids,
        allow_nonempty=allow_nonempty,
        settle_s=settle_s,
        poll_s=poll_s,
    )
    judged = validity_of(probes, suite, validity)
    make = options.binding(resolve(make_store), Meter(max_calls))
    checked = self_check(make, options)
    key = key_of(
        suite, plan, options, checked,
        source=source_of(plan, source is None), consolidate_every=consolidate_every,
    )  # fmt: skip
    kept = (
        None
        if journal is None
        else GrowthJournal(journal, key, resume=resume, validity=asdict(judged))
    )
    growth = Growth(plan, options, consolidate_every, progress, kept)
    if kept is None or 0 not in kept.found:
        growth.alone = _alone(plan, make, checked, options)
    growth.run(make, checked.capabilities)
    manifest = key | {
        "generator": GENERATOR_VERSION if source is None else None,
        "haystack": "none",
        "planting": "cohorts in the scopes of the growth, at the sessions of manifest['cohorts']",
        "capabilities": checked.capabilities.to_dict(),
        "asked": ASKED[growth.takes_back],
        "sessions_done": growth.done,
        "complete": growth.done == len(plan.sessions),
        "planted_once": len(suite) - len(plan.twice),
        "neighbours": growth.neighbours,
        "search_errors": errors_of(growth),
        "notes": list(notes_of(growth, checked, sessions)),
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
        validity=judged,
        allow_errors=allow_errors,
    )


def plan_simulation(
    suite: Suite,
    *,
    sessions: int = 200,
    seed: int = 7,
    every: int | None = None,
    checkpoints: Sequence[int] | None = None,
    cohorts: int = COHORTS,
    source: SessionSource | None = None,
) -> Plan:
    """Lay out what `run_simulation` with these options would do; no store is asked.

    Parameters
    ----------
    suite, sessions, seed, every, checkpoints, cohorts, source
        As for `run_simulation`.

    Returns
    -------
    Plan
        Sessions, cohorts and checkpoints, and how many calls they take.

    Raises
    ------
    MemevalError
        If an option is out of range, or a session cannot be written.

    Examples
    --------
    >>> from memeval.record import Record
    >>> told = [Record("r1", "Priya works in Porto.")]
    >>> suite = Suite.of([Probe("office", "Where does Priya work?", told, ["r1"], names=["Priya"])])
    >>> plan = plan_simulation(suite, sessions=8, every=4)
    >>> plan.checkpoints, sorted(plan.cohorts)
    ((0, 4, 8), [0, 2, 4, 6])
    """
    check_whole("sessions", sessions, 1, MOST_SESSIONS)
    check_whole("seed", seed, 0)
    check_whole("cohorts", cohorts, 1, MOST_COHORTS - 1)
    # One cohort more is planted at each checkpoint, and sessions answer none of its probes.
    given = source if source is not None else generator_for(suite, seed, cohorts=cohorts + 1)
    written = taken(given, sessions)
    return planned(suite, written, cohorts=cohorts, every=every, checkpoints=checkpoints)


def _alone(
    plan: Plan, make: Callable[[], BoundStore], checked: SelfCheck, options: Options
) -> Mapping[str, bool] | None:
    """How the first cohort does in clean stores; None where each write must be waited for."""
    if checked.capabilities.consistency == "eventual":
        return None
    probes = [probe for probe in plan.cohorts[0] if Advance not in probe.state.kinds]
    return asked_alone(probes, make, checked, options)


def _table(rows: list[dict[str, Any]], schema: frames.Schema) -> pd.DataFrame:
    return frames.conform(pd.DataFrame(rows, columns=frames.names(schema)), schema)
