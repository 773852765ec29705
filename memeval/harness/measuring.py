"""A store asked once through: what came back, in tables, and what was measured with what."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memeval.errors import StoreError
from memeval.harness.checked import Checked
from memeval.harness.collecting import Collector, Progress
from memeval.harness.histories import Work
from memeval.harness.options import Options
from memeval.harness.parallel import crew
from memeval.harness.recording import recording
from memeval.harness.runjournal import RunJournal, key_of
from memeval.harness.selfcheck import self_check
from memeval.harness.snapshots import Shelf
from memeval.harness.tapefile import TapeFile
from memeval.runs import Manifest
from memeval.stores.bound import Meter
from memeval.suite import Suite

__all__ = ["Keeping", "asked_of_store"]

Tables = tuple[Any, Any, Any]
Path = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where what comes in is kept meanwhile; see `memeval.run` for each."""

    journal: Path | None = None
    resume: bool = False
    record: Path | None = None


def asked_of_store(
    suite: Suite,
    factory: Callable[[], Any],
    options: Options,
    keeping: Keeping,
    *,
    repeats: int | None,
    max_calls: int | None,
    check_store: bool,
    jobs: int,
    progress: Progress | None,
    shelf: Shelf | None,
) -> tuple[Tables, Manifest]:
    """Ask every probe of a store.

    Parameters
    ----------
    suite, options, repeats, max_calls, check_store, jobs, progress, shelf
        As of `memeval.run`; so many jobs as there is work for.
    factory : callable
        Gives a fresh store.
    keeping : Keeping
        Where to keep what comes in.

    Returns
    -------
    tuple of tuple and Manifest
        Hits, calls and qrels; and what was measured with what.

    Raises
    ------
    StoreError, RunFileError, MemevalError
        As `memeval.run`.
    """
    meter = Meter(max_calls)
    tape = None if keeping.record is None else TapeFile(keeping.record, resume=keeping.resume)
    make = options.binding(factory, meter)
    if tape is not None:
        make = recording(tape, options, factory, meter)
    checked = self_check(make, options, search=check_store)
    if tape is not None and jobs > 1 and checked.capabilities.isolation != "namespace":
        raise StoreError(
            f"jobs is {jobs} and record is {keeping.record}: the workers are processes, which "
            "cannot write one recording together; leave out one of them (a store with isolation "
            "'namespace' that is thread_safe can have both)"
        )
    key = key_of(suite, checked, options, repeats)
    journal = None
    if keeping.journal is not None:
        whole = tape is not None
        journal = RunJournal(keeping.journal, key, resume=keeping.resume, by_history=whole)
    done = frozenset() if journal is None else journal.asked
    several = None
    if jobs > 1:
        several = crew(jobs, Work(suite, checked, options, done), factory, meter)
    if tape is not None:
        _refuse_unrecorded(keeping, bool(done))
        tape.begin(key, options)
    asked = Collector(
        suite, make, checked, options, repeats, progress, shelf, several, journal, meter
    )
    tables, manifest = asked.tables(), asked.manifest()
    if isinstance(factory, Checked):
        manifest = factory.noted(manifest)
    if tape is not None:
        tape.close(manifest)
    return tables, manifest


def _refuse_unrecorded(keeping: Keeping, goes_on: bool) -> None:
    """Refuse a recording that would lack what was asked before."""
    if goes_on and keeping.record is not None and not os.path.exists(keeping.record):
        raise StoreError(
            f"record is {keeping.record}, which is not there, and the run that stopped has asked "
            "without it: the recording would lack what was asked then; name the recording that it "
            "wrote, leave record (--record) out, or begin anew without resume (--resume)"
        )
