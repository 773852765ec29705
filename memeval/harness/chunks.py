"""Chunks of histories: what a worker is given, and what it gives back."""

from __future__ import annotations

import pickle
import traceback
import warnings
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from memeval.errors import StoreError, said
from memeval.harness.asking import Rows
from memeval.harness.histories import Work
from memeval.harness.snapshots import Shelf
from memeval.harness.workspace import Workspace
from memeval.stores.bound import Meter

CHUNKS_PER_JOB = 4
"""A few, so that no worker waits long for the last; not one each, since each makes a store."""


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning that was given in another process."""

    message: str
    category: type[Warning]
    filename: str
    lineno: int


@dataclass(slots=True)
class Done:
    """A chunk of histories that was asked.

    Attributes
    ----------
    chunk : range
        Which histories.
    rows : Rows
        What was noted.
    meter : Meter
        Calls that it took.
    emptying_s, left_behind : float, int
        As of `memeval.harness.workspace.Workspace`.
    no_snapshot : str or None
        Why the store gave no snapshot.
    warned : list of Warned
        What the parent is to say.
    """

    chunk: range
    rows: Rows
    meter: Meter = field(default_factory=Meter)
    emptying_s: float = 0.0
    left_behind: int = 0
    no_snapshot: str | None = None
    warned: list[Warned] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Failed:
    """A chunk that ended in an error, and the traceback of it in words."""

    error: Exception
    told: str

    @classmethod
    def of(cls, error: Exception) -> Failed:
        """Take an error along; one that cannot be sent in the words of its message."""
        told = "".join(traceback.format_exception(error))
        error.__traceback__ = error.__cause__ = error.__context__ = None
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # an error of other people's code may be of a kind that cannot travel
            return cls(StoreError(said(error)), told)
        return cls(error, told)


Chunks: TypeAlias = Generator[Done, None, None]


class Crew(Protocol):
    """Several workers."""

    jobs: int

    def asked(self, repeats: range, space: Workspace, shelf: Shelf | None) -> Chunks:
        """Ask every history as often as told; chunks in the order in which they are done."""
        ...

    def notes(self) -> Iterator[str]:
        """What the reader must know of how these workers asked."""
        ...


def chunks(n: int, most: int) -> list[range]:
    """Neighbouring numbers below n in chunks as equal as can be.

    Examples
    --------
    >>> chunks(5, 2)
    [range(0, 2), range(2, 5)]
    """
    count = min(n, most)
    return [range(n * i // count, n * (i + 1) // count) for i in range(count)]


def ask_chunk(
    work: Work, chunk: range, repeats: range, space: Workspace, shelf: Shelf | None
) -> Done:
    """Ask the histories of a chunk, all of them once before any a second time."""
    rows = Rows()
    for repeat in repeats:
        for n in chunk:
            work.ask(n, repeat, space, rows, shelf)
    return Done(chunk, rows, no_snapshot=None if shelf is None else shelf.refused)


def end(outcomes: Any) -> None:
    """End what joblib still has to do; that it was not done need not be warned of."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
        outcomes.close()


def unpacked(outcomes: Iterable[Any]) -> Chunks:
    """What was done; the first error is raised as if it had come up here.

    Raises
    ------
    StoreError
        If a worker process has died.
    """
    try:
        for outcome in outcomes:
            if isinstance(outcome, Failed):
                with suppress(AttributeError):  # a class of errors may forbid it
                    outcome.error.add_note(f"in a worker:\n{outcome.told}")
                raise outcome.error
            if outcome is not None:
                yield outcome
    except BrokenExecutor as error:
        raise StoreError(
            f"a worker process died while it asked the store ({said(error)}), wanted an answer or "
            "an ordinary error; run with jobs=1 (without --jobs) to see where, and look whether "
            "there is memory for a store in each process"
        ) from error
