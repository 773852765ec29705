"""Several workers for one run: how many, of which kind, and whether the store allows it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

from memeval.checks.kinds import shown
from memeval.errors import StoreError
from memeval.harness.chunks import Crew as Crew
from memeval.harness.histories import Work
from memeval.harness.processes import Processes
from memeval.harness.selfcheck import refuse_one_place
from memeval.harness.threads import Threads
from memeval.spreading import joblib_of as joblib_of
from memeval.stores.bound import Meter

TIMES = ("latency_", "cold_", "write_", "visible_")
UNGATED = "latency measured with {jobs} jobs in parallel: it never gates"


def workers(jobs: Any, n_histories: int) -> int:
    """How many workers there is work for.

    Parameters
    ----------
    jobs : int
        As asked for: from 1, or -1 for all cores.
    n_histories : int
        What there is to do.

    Raises
    ------
    StoreError
        If it is no such number.

    Examples
    --------
    >>> workers(4, 105), workers(4, 3)
    (4, 3)
    """
    whole = isinstance(jobs, Integral) and not isinstance(jobs, bool)
    if not whole or not (jobs == -1 or jobs >= 1):
        raise StoreError(
            f"jobs is {shown(jobs)}, wanted a whole number from 1, or -1 for all cores; leave it "
            "out otherwise"
        )
    return max(1, min(_cores() if jobs == -1 else int(jobs), n_histories))


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def refuse_time_floors(floors: Iterable[str], jobs: int) -> None:
    """Refuse a floor of a time where several workers have their share in it.

    Raises
    ------
    StoreError
        If there is one.
    """
    gating = [name for name in floors if name.startswith(TIMES)]
    if jobs > 1 and gating:
        raise StoreError(
            f"floors: {gating[0]} gates a time, and jobs is {jobs}: times that are taken in "
            "parallel are those of the other workers too and never gate; leave out that floor, or "
            "measure it in a run of its own without jobs (--jobs)"
        )


def crew(jobs: int, work: Work, factory: Callable[[], Any], meter: Meter) -> Crew:
    """Workers of the kind that suits the store.

    Parameters
    ----------
    jobs : int
        How many, from 2.
    work : Work
        What to ask.
    factory : callable
        Gives a fresh store.
    meter : Meter
        Where calls are counted.

    Returns
    -------
    Crew
        Threads on one store where it keeps what is written (isolation ``namespace``), else
        processes, each with stores of its own.

    Raises
    ------
    StoreError
        If the store, or what was handed in, does not allow it; it says why and what to do.
    """
    joblib = joblib_of(jobs)
    declared = work.checked.capabilities
    if declared.isolation == "namespace":
        if not declared.thread_safe:
            raise StoreError(
                f"jobs is {jobs}, and the store has isolation 'namespace' without thread_safe: all "
                "workers would use one store, which does not say that it may be used by several at "
                "once; declare thread_safe=True if it may, or leave jobs out"
            )
        return Threads(joblib, jobs, work, meter)
    if meter.limit is not None:
        raise StoreError(
            f"jobs is {jobs} and max_calls is {meter.limit}: the workers are processes, which "
            "cannot keep one limit together; leave out one of them (a store with isolation "
            "'namespace' that is thread_safe can have both)"
        )
    seen_apart = declared.isolation == "fresh" and work.checked.search_ms
    if not seen_apart or work.options.allow_nonempty:
        refuse_one_place(work.options.binding(factory, Meter()), declared, jobs)
    return Processes(joblib, pickling(), jobs, work, factory, meter)


def pickling() -> Any:
    """What joblib pickles with: older versions carry it along."""
    try:
        return importlib.import_module("cloudpickle")
    except ImportError:
        return importlib.import_module("joblib.externals.cloudpickle")
