"""Several saboteurs at once, each in a worker process with stores of its own."""

from __future__ import annotations

import pickle
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, cast

from memeval.errors import StoreError, said
from memeval.harness.chunks import Failed, end, unpacked
from memeval.harness.parallel import pickling
from memeval.harness.selfcheck import refuse_one_place
from memeval.harness.snapshots import Shelf
from memeval.mutating.bench import Bench
from memeval.mutating.trying import Found, tried
from memeval.spreading import Origin, joblib_of, spread
from memeval.stores.bound import Meter
from memeval.stores.saboteurs.base import Saboteur

__all__ = ["ONE_PLACE", "SHELF_BYTES", "in_order", "in_processes", "refuse_jobs"]

SHELF_BYTES = 256 * 2**20
ONE_PLACE = (
    "jobs is {jobs}, and the store keeps what is written in one place (isolation 'namespace'): its "
    "saboteurs were tried one after the other"
)
_last = threading.local()


@dataclass(frozen=True, slots=True)
class Parcel:
    """What all workers get: which bench, from where, and the bench itself, pickled once."""

    token: str
    origin: Origin
    packed: bytes


def in_order(bench: Bench, saboteurs: Sequence[type[Saboteur]], shelf: Shelf) -> Iterator[Found]:
    """Try saboteurs one after the other."""
    for saboteur in saboteurs:
        yield tried(bench, saboteur, shelf)


def refuse_jobs(bench: Bench, jobs: int) -> None:
    """Refuse several workers where the store does not allow them.

    Raises
    ------
    StoreError
        If calls are limited, or stores of several workers would meet in one place.
    MemevalError
        If joblib is not installed.
    """
    joblib_of(jobs)
    if bench.meter.limit is not None:
        raise StoreError(
            f"jobs is {jobs} and max_calls is {bench.meter.limit}: the workers are processes, "
            "which cannot keep one limit together; leave out one of them"
        )
    declared = bench.checked.capabilities
    seen_apart = declared.isolation == "fresh" and bench.checked.search_ms
    if not seen_apart or bench.options.allow_nonempty:
        make = bench.options.binding(bench.factory, Meter())
        refuse_one_place(make, declared, jobs)


def in_processes(bench: Bench, saboteurs: Sequence[type[Saboteur]], jobs: int) -> Iterator[Found]:
    """Try saboteurs in worker processes; in the order in which they are done.

    Raises
    ------
    StoreError
        If something that was handed in cannot be sent to another process, or a worker died.
    """
    joblib, parcel = joblib_of(jobs), _parcel(bench, saboteurs, jobs)
    outcomes = spread(joblib, jobs, work_on, parcel, range(len(saboteurs)))
    try:
        with closing(unpacked(outcomes)) as done:
            for found in done:
                yield cast(Found, found)
    finally:
        end(outcomes)


def _parcel(bench: Bench, saboteurs: Sequence[type[Saboteur]], jobs: int) -> Parcel:
    pickler = pickling()
    handed = {
        "make_store": bench.factory,
        "retrieve": bench.options.retrieve,
        "is_stale": bench.options.is_stale,
        "saboteurs": tuple(saboteurs),
        "what the store answered": bench.tape,
    }
    for name, value in handed.items():
        try:
            pickler.dumps(value)
        except Exception as error:  # whatever a pickler meets in other people's objects
            raise StoreError(
                f"jobs is {jobs}, and {name} cannot be sent to another process ({said(error)}); "
                "name a function of a module ('package.module:factory'), let it open what it "
                "needs when it is called, or leave jobs out"
            ) from error
    packed = pickler.dumps((bench, tuple(saboteurs)))
    return Parcel(secrets.token_hex(8), Origin.here(), packed)


def work_on(parcel: Parcel, number: int) -> Found | Failed:
    """Try the saboteur of this number, in whatever process this is."""
    try:
        bench, saboteurs, shelf = _opened(parcel)
        return tried(bench, saboteurs[number], shelf)
    except Exception as error:  # raised again in the parent
        return Failed.of(error)


def _opened(parcel: Parcel) -> tuple[Bench, Sequence[type[Saboteur]], Shelf]:
    """What is in a parcel, unpacked once; what is written is kept in each process."""
    if getattr(_last, "token", None) != parcel.token:
        parcel.origin.follow()
        try:
            content: Any = pickle.loads(parcel.packed)
        except Exception as error:  # a module that is imported now may raise anything
            raise StoreError(
                f"a worker process cannot make the store's factory or functions ({said(error)}); "
                "put them into a module that can be imported anywhere, or leave jobs out"
            ) from error
        _last.content, _last.token = (*content, Shelf(SHELF_BYTES)), parcel.token
    opened: tuple[Bench, Sequence[type[Saboteur]], Shelf] = _last.content
    return opened
