"""The journal of a run: answers that came in, on disk, so that nothing is asked twice.

A line is written at most every second, so that a run of a fast store is not slowed by it, and a
run of a slow one loses no more than the probe that is being asked.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from memeval.comparing.manifests import public
from memeval.environment import tool_version
from memeval.errors import MemevalError
from memeval.files.journal import Journal, JournalWarning, Line
from memeval.harness.options import Options
from memeval.harness.rows import Rows
from memeval.harness.selfcheck import SelfCheck
from memeval.harness.workspace import Workspace
from memeval.plain import plain
from memeval.stores.bound import Meter
from memeval.suite import Suite

__all__ = ["Noting", "RunJournal", "key_of"]

NAME = "memeval run journal"
EVERY_S = 1.0
COUNTED = ("puts", "searches", "retries")


def key_of(
    suite: Suite, checked: SelfCheck, options: Options, repeats: int | None
) -> dict[str, Any]:
    """What is asked of which store, and how: a journal goes on with the same alone.

    Parameters
    ----------
    suite, checked, options, repeats
        As of the run.
    """
    functions = (options.retrieve, options.is_stale)
    named = [getattr(f, "__qualname__", type(f).__name__) for f in functions]
    return {
        "suite": suite.content_hash,
        "haystack": suite.haystack_hash,
        "probes": sorted(probe.name for probe in suite),
        "seed": options.seed,
        "repeats": repeats,
        "retrieve": None if options.retrieve is None else named[0],
        "is_stale": None if options.is_stale is None else named[1],
        "repeat_check": options.repeat_check,
        "contract_checks": options.contract_checks,
        "opaque_ids": options.opaque_ids,
        "timeout_s": options.timeout_s,
        "retries": options.retries,
        "store": str(checked.info.get("name", "store")),
        "store_info": public({"store_info": plain(checked.info)}),
        "capabilities": checked.capabilities.to_dict(),
        "memeval": tool_version(),
    }


class RunJournal:
    """A file to which answers are added as they come in.

    Parameters
    ----------
    path : str or path-like
        Where; the folder is made where it is not there.
    key : mapping
        What is asked of which store, as `key_of` gives it.
    resume : bool
        Whether to go on from what is there; else it is begun anew.
    by_history : bool
        Whether answers are added once all of a history are in; else as they come in.

    Attributes
    ----------
    rows : Rows
        What is noted there of attempts before this one.
    asked : frozenset of (str, int)
        Which probe in which repeat that is.
    before : Meter
        The calls that it took.
    left_behind : int
        Records that could not be removed then.
    emptying_s : float
        Time that it took to empty the store then, in seconds.

    Raises
    ------
    RunFileError, MemevalError
        As `memeval.files.journal.Journal`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        key: Mapping[str, Any],
        *,
        resume: bool = False,
        by_history: bool = False,
    ) -> None:
        self.by_history, self._ended = by_history, False
        self.rows, self.before = Rows(), Meter()
        self.left_behind, self.emptying_s = 0, 0.0
        self._names = frozenset(key["probes"])
        self._asked: set[tuple[str, int]] = set()
        self._journal = Journal(path, NAME, key, self._take, resume=resume)
        self.asked = frozenset(self._asked)

    def add(self, rows: Rows, calls: Meter, left_behind: int = 0, emptying_s: float = 0.0) -> None:
        """Add answers; they are on disk when this returns.

        Where that fails, the run is worth more than its journal: it is told, and goes on without.
        """
        if self._ended or not len(rows):
            return
        counted = {name: getattr(calls, name) for name in COUNTED}
        places = {"left_behind": left_behind, "emptying_s": emptying_s}
        try:
            self._journal.add({"rows": rows.to_dict(), "calls": counted, **places})
        except MemevalError as error:
            self._ended = True
            told = f"{error}; this run goes on, but what follows cannot be resumed"
            warnings.warn(told, JournalWarning, stacklevel=2)

    def _take(self, line: Line) -> None:
        rows = Rows.of_dict(line["rows"])
        asked = list(rows.asked)
        if not self._names.issuperset(name for name, _ in asked):
            raise ValueError("a probe is not of this journal")
        if not self._asked.isdisjoint(asked):
            raise ValueError("a probe stands there twice")
        self._asked.update(asked)
        self.rows.extend(rows)
        self.before.add(Meter(**{name: int(line["calls"][name]) for name in COUNTED}))
        self.left_behind += int(line["left_behind"])
        self.emptying_s += float(line["emptying_s"])


class Noting(Rows):
    """Notes of a run that go into its journal, and into its rows, as they come in.

    Parameters
    ----------
    journal : RunJournal
        Where they are kept.
    rows : Rows
        Where they go in the end.
    meter : Meter
        Where the calls of the run are counted.
    space : Workspace
        Where the histories are asked.
    """

    def __init__(self, journal: RunJournal, rows: Rows, meter: Meter, space: Workspace) -> None:
        super().__init__()
        self._journal, self._rows, self._meter, self._space = journal, rows, meter, space
        self._since = time.monotonic()
        self._told = self._standing()

    def add(self, call: tuple[Any, ...], hits: Sequence[Sequence[Any]] = ()) -> None:
        """Note one call and its hits; what came in is kept every second."""
        super().add(call, hits)
        if not self._journal.by_history and time.monotonic() - self._since >= EVERY_S:
            self.flush()

    def end(self) -> None:
        """A history is asked: keep it at once, where that is done by histories."""
        if self._journal.by_history:
            self.flush()

    def flush(self) -> None:
        """Keep what came in since the last time."""
        (meter, left, emptying_s), now = self._told, self._standing()
        self._journal.add(self, self._meter.since(meter), now[1] - left, now[2] - emptying_s)
        self._rows.extend(self)
        super().__init__()
        self._told, self._since = now, time.monotonic()

    def _standing(self) -> tuple[Meter, int, float]:
        return self._meter.copy(), self._space.left_behind, self._space.emptying_s
