"""Self check, clean store, write, settle, search, time: `run` gives a `Run`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from memeval.checks.kinds import shown
from memeval.errors import ProbeError, StoreError, WeakSuiteWarning
from memeval.files.journal import check_journal
from memeval.harness.asking import Options
from memeval.harness.checked import Check
from memeval.harness.collecting import Progress, haystack_of, histories
from memeval.harness.measuring import Keeping, asked_of_store
from memeval.harness.parallel import refuse_time_floors, workers
from memeval.harness.played import asked_of_recording
from memeval.harness.replaying import Replay
from memeval.harness.snapshots import Shelf
from memeval.probe import Probe
from memeval.record import Record
from memeval.runs import Run
from memeval.stores.base import resolve
from memeval.stores.bound import View
from memeval.suite import Suite
from memeval.summary import TARGETS, refuse_unknown
from memeval.validity import judge

OPTIONAL = frozenset({"repeats", "max_calls", "timeout_s"})


def run(
    probes: Suite | Sequence[Probe],
    make_store: str | Callable[[], Any],
    *,
    retrieve: Callable[[Any, View], Any] | None = None,
    is_stale: Callable[[Record], bool] | None = None,
    repeats: int | None = None,
    seed: int = 0,
    targets: Mapping[str, float] | None = None,
    floors: Mapping[str, float] | None = None,
    allow_errors: int = 0,
    timeout_s: float | None = None,
    retries: int = 0,
    settle_s: float = 60.0,
    poll_s: float = 1.0,
    repeat_check: bool = True,
    contract_checks: bool = True,
    opaque_ids: bool = False,
    allow_nonempty: bool = False,
    max_calls: int | None = None,
    check_store: bool = True,
    jobs: int = 1,
    progress: Progress | None = None,
    shelf: Shelf | None = None,
    check: Check | None = None,
    journal: str | os.PathLike[str] | None = None,
    resume: bool = False,
    record: str | os.PathLike[str] | None = None,
) -> Run:
    """Ask every probe of a clean store and keep what came back.

    Parameters
    ----------
    probes : Suite or sequence of Probe
        A suite from `memeval.load` gets its haystack and is judged; a bare list is an ad hoc run
        without haystack, and its validity stays unchecked.
    make_store : callable or str
        Gives a fresh store; or a short name, or ``"package.module:factory"``; or a recording, as
        `memeval.load_recording` gives it, of which nothing can be asked that was not recorded.
    retrieve : callable, optional
        ``retrieve(store, view)`` grades a whole pipeline instead of ``store.search``. The view
        has ``query``, ``k``, ``scope``, ``filter`` and ``now``, never what is expected.
    is_stale : callable, optional
        ``is_stale(record)`` marks returned records as stale, beside what the probes say.
    repeats : int, optional
        How often each probe is asked of a store of its own; 1 by default, 5 where the store
        declares that it is not deterministic, or is seen not to be.
    seed : int
        The one seed of all draws.
    targets, floors : mapping of str to float, optional
        By metric of the summary: what to aim for (shown), and bounds that gate.
    allow_errors : int
        Failed searches that do not fail the run.
    timeout_s : float, optional
        Time limit of one search, in seconds; none by default.
    retries : int
        How often a failed call is tried again.
    settle_s, poll_s : float
        How long to wait until writes can be found, and how often to look, in seconds.
    repeat_check : bool
        Whether each query is asked once more, untimed, to see whether the answer holds.
    contract_checks : bool
        Whether each answer is held against what any store owes its caller; without, the run says
        "contract not checked".
    opaque_ids : bool
        Hand the store ids that say nothing, in place of the author's.
    allow_nonempty : bool
        Accept a store that holds records; memeval removes only what it wrote.
    max_calls : int, optional
        Refuse to make more calls to the store than this.
    check_store : bool
        Whether one record is written and searched before the suite is asked.
    jobs : int
        How many workers ask, -1 for one on each core; above 1 it takes joblib, and probes must
        not depend on each other. The tables are those of a run without, but for the times, which
        then never gate. A store with isolation ``namespace`` that is thread-safe is shared by
        threads; any other is made anew in each of several processes, which get copies of
        `make_store`, `retrieve` and `is_stale`.
    progress : callable, optional
        ``progress(done, total, label)`` after each history; with `jobs` as chunks of them are done.
    shelf : Shelf, optional
        Histories that other runs of this store have written; by default a run keeps its own for
        its repeats. What is restored from there was not written: its ``write_ms`` is NA.
    check : StoreCheck, optional
        What `memeval.check_store` found of this store: it is used where the store declares nothing,
        never against what it declares, and goes into the manifest.
    journal : path-like, optional
        A file to which answers are added as they come in, at most a second after (with processes
        as `jobs`: as chunks are done), and flushed to disk.
    resume : bool
        Go on from the journal of a run that stopped: what was asked is not asked again, and the
        tables are those of a run that never stopped. One of other probes, another store or other
        options is refused.
    record : path-like, optional
        A new file for everything that the store says, to be asked again without it: see
        `memeval.load_recording`. With `jobs` it takes a store that threads share.

    Returns
    -------
    Run
        Tables, results, summary and verdict; ``summary, results = run(...)`` unpacks it into the
        shapes of the specification.

    Raises
    ------
    StoreError
        If the store cannot be made, is not empty, does not find what was just written, returns
        only records that nobody wrote, more calls than ``max_calls`` are needed, or it does not
        allow several `jobs`.
    ProbeError
        If the probes are at fault.
    RunFileError, MemevalError
        If the journal is of something else or damaged, or cannot be written.

    Examples
    --------
    >>> import memeval as me
    >>> given = [me.Record("r1", "Lunch at the noodle bar.")]
    >>> probe = me.Probe("lunch", "noodle bar", given, ["r1"])
    >>> me.run([probe], "sqlite").results[["probe", "recall_all", "first_rank", "rr"]]
       probe  recall_all  first_rank   rr
    0  lunch        True           1  1.0
    """
    refuse_unknown(targets or {}, "targets")
    refuse_unknown(floors or {}, "floors")
    refuse_odd(Integral, 1, repeats=repeats, max_calls=max_calls)
    refuse_odd(Integral, 0, seed=seed, retries=retries, allow_errors=allow_errors)
    refuse_odd(Real, 0, settle_s=settle_s, poll_s=poll_s, timeout_s=timeout_s)
    check_journal(journal, resume)
    suite = Suite.of(probes)
    if not suite:
        raise ProbeError("no probe to ask; give at least one, or load a folder with memeval.load")
    n_jobs = workers(jobs, len(histories(suite)))
    refuse_time_floors(floors or {}, n_jobs)
    options = Options(
        retrieve,
        is_stale,
        seed,
        timeout_s,
        retries,
        repeat_check,
        contract_checks,
        opaque_ids,
        allow_nonempty,
        settle_s,
        poll_s,
    )
    factory = resolve(make_store)
    if isinstance(factory, Replay) and factory.manifest:
        _refuse_beside_replay(journal=journal, record=record, check=check)
        refuse_time_floors(floors or {}, int(factory.manifest["options"].get("jobs", 1)))
        tables, manifest = asked_of_recording(suite, factory, options, repeats, progress)
    else:
        if max_calls is not None:
            _refuse_too_many(suite, max_calls, repeats or 1, repeat_check)
        tables, manifest = asked_of_store(
            suite,
            factory if check is None else check.applied(factory),
            options,
            Keeping(journal, resume, record),
            repeats=repeats,
            max_calls=max_calls,
            check_store=check_store,
            jobs=n_jobs,
            progress=progress,
            shelf=shelf,
        )
    made = Run(
        *tables,
        manifest=manifest,
        suite=suite,
        targets=dict(TARGETS) | dict(targets or {}),
        floors=dict(floors or {}),
        allow_errors=allow_errors,
    )
    if not isinstance(probes, Suite):
        return made
    validity = judge(made)
    if validity.status == "weak":
        reasons = "; ".join(validity.reasons)
        warnings.warn(f"the suite is weak: {reasons}", WeakSuiteWarning, stacklevel=2)
    return made.judged(validity)


def _refuse_beside_replay(**given: Any) -> None:
    """Refuse what concerns the asking of a store."""
    for name, value in given.items():
        if value is not None:
            raise StoreError(
                f"{name} is {shown(value)}, and what is asked is a recording, which cannot take "
                f"it; leave {name} out, or ask the store itself"
            )


def refuse_odd(kind: Any, least: int, **options: Any) -> None:
    """Refuse an option that is no number of its kind, or a smaller one; None is the default."""
    wanted = f"a {'whole ' if kind is Integral else ''}number from {least}"
    value: Any
    for name, value in options.items():
        if value is None and name in OPTIONAL:
            continue
        is_number = isinstance(value, kind) and not isinstance(value, bool)
        if not is_number or not value >= least:
            raise StoreError(f"{name} is {shown(value)}, wanted {wanted}; leave it out otherwise")


def _refuse_too_many(suite: Suite, most: int, repeats: int, repeat_check: bool) -> None:
    needed = sum(plan(suite, repeats, repeat_check=repeat_check))
    if needed > most:
        raise StoreError(
            f"this run would make at least {needed:,} calls to the store, at most {most:,} are "
            "allowed; raise max_calls (--max-calls), or select fewer probes"
        )


def plan(suite: Sequence[Probe], repeats: int = 1, *, repeat_check: bool = True) -> tuple[int, int]:
    """Count writes and searches that a run will make at least.

    Returns
    -------
    tuple of int
        Writes and searches, self check, waiting and retries left out.
    """
    whole = Suite.of(suite)
    writes = sum(
        len(group[0].given) + len(haystack_of(whole, group, 0, True).records)
        for group in histories(whole)
    )
    searches = len(whole) * (3 if repeat_check else 2)
    return writes * repeats, searches * repeats
