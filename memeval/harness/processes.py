"""Workers that are processes, each with stores of its own.

What holds for the whole run is pickled once and unpickled once in each process; a chunk is then no
more than the numbers of its histories. A process keeps the last suite, and with it the haystacks
that it has built, for the next run of the same one: the controls are five of them.
"""

from __future__ import annotations

import pickle
import secrets
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from memeval.errors import StoreError, said
from memeval.harness.chunks import (
    CHUNKS_PER_JOB,
    Chunks,
    Done,
    Failed,
    Warned,
    ask_chunk,
    chunks,
    end,
    unpacked,
)
from memeval.harness.histories import Work
from memeval.harness.snapshots import Shelf
from memeval.harness.workspace import Workspace
from memeval.plain import plain
from memeval.spreading import Origin, spread
from memeval.stores.bound import Meter
from memeval.suite import Suite

Factory = Callable[[], Any]
_NOBODY = Suite(())
_last = threading.local()
_sent: list[tuple[weakref.ref[Suite], str, bytes]] = []


@dataclass(frozen=True, slots=True)
class Parcel:
    """What all workers of a run get.

    Attributes
    ----------
    token : str
        Tells the run from others.
    origin : Origin
        The process that sends it.
    filters : bytes
        Which warnings it ignores or takes for errors.
    suite : tuple of str and bytes
        Name and content of the suite.
    packed : bytes
        The `Work` without its suite, and the factory.
    """

    token: str
    origin: Origin
    filters: bytes
    suite: tuple[str, bytes]
    packed: bytes


class Processes:
    """Workers that are processes.

    Parameters
    ----------
    joblib, pickler : module
        ``joblib`` and a pickler that takes functions of a session too.
    jobs : int
        How many.
    work : Work
        What to ask.
    factory : callable
        Gives a fresh store.
    meter : Meter
        Where calls are counted.

    Raises
    ------
    StoreError
        If something that was handed in cannot be sent to another process; it says what.
    """

    def __init__(
        self, joblib: Any, pickler: Any, jobs: int, work: Work, factory: Factory, meter: Meter
    ) -> None:
        self.jobs = jobs
        self._joblib = joblib
        self._meter = meter
        self._n_histories = len(work.histories)
        self._parcel = _parcel(pickler, jobs, work, factory)

    def asked(self, repeats: range, space: Workspace, shelf: Shelf | None) -> Chunks:
        """Ask every history as often as told; chunks in the order in which they are done."""
        parts = chunks(self._n_histories, CHUNKS_PER_JOB * self.jobs)
        pieces = [(chunk, repeats, shelf is not None) for chunk in parts]
        outcomes = spread(self._joblib, self.jobs, work_on, self._parcel, pieces)
        seen: dict[str, dict[Any, Any]] = {}
        try:
            for done in unpacked(outcomes):
                self._meter.add(done.meter)
                for one in done.warned:
                    _warn(one, seen.setdefault(one.filename, {}))
                yield done
        finally:
            end(outcomes)

    def notes(self) -> Iterator[str]:
        """Nothing but what holds for any workers."""
        yield from ()


def _parcel(pickler: Any, jobs: int, work: Work, factory: Factory) -> Parcel:
    handed = {
        "make_store": factory,
        "retrieve": work.options.retrieve,
        "is_stale": work.options.is_stale,
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
    checked = replace(work.checked, info=plain(work.checked.info))
    told = Work(_NOBODY, checked, work.options, work.done)
    return Parcel(
        secrets.token_hex(8),
        Origin.here(),
        pickler.dumps(warnings.filters),
        _packed(pickler, work.suite),
        pickler.dumps((told, factory)),
    )


def _packed(pickler: Any, suite: Suite) -> tuple[str, bytes]:
    """A suite as it is sent, and a name for it: the same as long as it is the same object."""
    for known, name, packed in _sent:
        if known() is suite:
            return name, packed
    name, packed = secrets.token_hex(8), pickler.dumps(suite)
    _sent[:] = [(weakref.ref(suite), name, packed)]
    return name, packed


def work_on(parcel: Parcel, piece: tuple[range, range, bool]) -> Done | Failed:
    """Ask a chunk of histories so often, shelved or not, in whatever process this is."""
    try:
        if parcel.origin.is_here:
            return _asked(parcel, *piece)
        with warnings.catch_warnings(record=True) as told:
            warnings.resetwarnings()
            warnings.filters[:] = pickle.loads(parcel.filters)  # type: ignore[index]
            done = _asked(parcel, *piece)
        done.warned = [
            Warned(str(one.message), one.category, one.filename, one.lineno) for one in told
        ]
        return done
    except Exception as error:  # raised again in the parent
        return Failed.of(error)


def _asked(parcel: Parcel, chunk: range, repeats: range, shelved: bool) -> Done:
    work, factory = _opened(parcel)
    meter = Meter()
    space = work.workspace(work.options.binding(factory, meter))
    try:
        done = ask_chunk(work, chunk, repeats, space, Shelf() if shelved else None)
    finally:
        space.close()
    done.meter, done.emptying_s, done.left_behind = meter, space.emptying_s, space.left_behind
    return done


def _opened(parcel: Parcel) -> tuple[Work, Factory]:
    """What is in a parcel, unpacked once and kept until the next run."""
    if getattr(_last, "token", None) != parcel.token:
        parcel.origin.follow()
        try:
            name, packed = parcel.suite
            if getattr(_last, "suite_name", None) != name:
                _last.suite, _last.suite_name = pickle.loads(packed), name
            work, factory = pickle.loads(parcel.packed)
            _last.content = replace(work, suite=_last.suite), factory
        except Exception as error:  # a module that is imported now may raise anything
            raise StoreError(
                f"a worker process cannot make the store's factory or functions ({said(error)}); "
                "put them into a module that can be imported anywhere, or leave jobs out"
            ) from error
        _last.token = parcel.token
    content: tuple[Work, Factory] = _last.content
    return content


def _warn(one: Warned, registry: dict[Any, Any]) -> None:
    """Give a warning here that was given in a worker, by the rules that hold here."""
    warnings.warn_explicit(one.message, one.category, one.filename, one.lineno, registry=registry)
