"""A tape: what a store said to every history that was written to it, to be said again.

A history is known by what was written, and a question by what was asked, both without any name
that differs from run to run: the n-th record and the n-th scope, never their ids, which carry a
prefix that is drawn anew. One history may have been written several times, by repeats or by probes
that share it; each time is a `Take` of its own.

`memeval.harness.recording` fills a tape and `memeval.harness.replaying` plays it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from memeval.errors import said
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.bound import SearchTimeoutError, View

OPTIONAL = (
    "put_many",
    "delete",
    "consolidate",
    "advance",
    "count",
    "clear",
    "scratch",
    "snapshot",
    "fork",
    "wait_visible",
)
"""Methods that a store need not have; a replay has those that the recorded one had."""
ROOT = 0
WAIT: Hashable = ("wait",)
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed.

    Attributes
    ----------
    words : str
        Type and message of the error, as `memeval.errors.said` tells them.
    timeout : bool
        Whether it was a search that reached its time limit.
    """

    words: str
    timeout: bool = False

    @classmethod
    def of(cls, error: Exception) -> Failure:
        """Note an error."""
        return cls(said(error), isinstance(error, SearchTimeoutError))

    def error(self) -> Exception:
        """An error that is told in the same words.

        Examples
        --------
        >>> said(Failure("KeyError: 'score'").error())
        "KeyError: 'score'"
        """
        kind, _, message = self.words.partition(": ")
        if self.timeout:
            return SearchTimeoutError(message)
        made: Exception = type(kind, (ReplayedError,), {})(message)
        return made


class ReplayedError(Exception):
    """What a recorded store has raised; the type that is raised bears the name it had then."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back from one search.

    Attributes
    ----------
    hits : tuple of Hit
        Best first.
    llm_calls : int
        Model calls that the store counted meanwhile.
    ms : float
        Time of the search, in milliseconds.
    """

    hits: tuple[Hit, ...]
    llm_calls: int = 0
    ms: float = 0.0


class Names:
    """Ids and scopes of one history as a store knows them, by the order in which they came up.

    Attributes
    ----------
    ids, scopes : dict of str to int
        Place of each id that was told, and of each scope.
    kept : dict of str to tuple of int
        For each id that the store gave itself: which write, and which of the ids of that write.
    """

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.scopes: dict[str, int] = {}
        self.kept: dict[str, Place] = {}
        self._n_writes = 0

    def copy(self) -> Names:
        """The same names, for a store that goes on from here."""
        made = Names()
        made.ids, made.scopes, made.kept = dict(self.ids), dict(self.scopes), dict(self.kept)
        made._n_writes = self._n_writes
        return made

    def same_as(self, other: Names) -> bool:
        """Whether all names are the same, so that nothing is to be translated."""
        return self.ids == other.ids and self.scopes == other.scopes and self.kept == other.kept

    def writing(self, records: Iterable[Record]) -> Hashable:
        """What is written, whatever it is called."""
        return tuple([self._written(record) for record in records])

    def _written(self, record: Record) -> Hashable:
        ids, scopes = self.ids, self.scopes
        place = ids.setdefault(record.id, len(ids))
        scope = scopes.setdefault(record.scope, len(scopes))
        if not (record.supersedes or record.expires or record.meta):
            return place, scope, record.text, record.at
        replaced = tuple([ids.get(old, old) for old in record.supersedes])
        meta = repr(record.meta) if record.meta else ""
        return place, scope, record.text, record.at, record.expires, replaced, meta

    def deleting(self, store_id: str, scope: str) -> Hashable:
        """What is deleted."""
        place: Hashable = self.ids.get(store_id, self.kept.get(store_id, store_id))
        return "delete", place, self.scopes.get(scope, scope)

    @staticmethod
    def advancing(by: timedelta) -> Hashable:
        """How much time is let pass."""
        return "advance", by

    def asking(self, view: View) -> Hashable:
        """What is asked."""
        scope = self.scopes.setdefault(view.scope, len(self.scopes))
        wanted = repr(sorted(view.filter.items(), key=repr)) if view.filter else ""
        return view.query, view.k, scope, wanted, view.now

    def keep(self, receipts: Iterable[Receipt]) -> None:
        """Note the ids that the store gave to the records of one call."""
        for receipt in receipts:
            for n, store_id in enumerate(receipt.store_ids):
                self.kept.setdefault(store_id, (self._n_writes, n))
            self._n_writes += 1


@dataclass(slots=True, eq=False)
class Take:
    """One history as it was written once, and what was said to it.

    Attributes
    ----------
    names : Names
        As the store knew them.
    path : list of int
        The nodes of the tape that it went through, from the root.
    told : list of list
        For each step what its attempts came to: a `Failure`, or what was returned at last. For a
        write: receipts, or None where every record was stored under its own id.
    answers : dict
        By number of steps and question: a `Failure` or an `Answer` for each attempt, in order.
    written : Written or None
        How the writing went, where that was told.
    """

    names: Names = field(default_factory=Names)
    path: list[int] = field(default_factory=lambda: [ROOT])
    told: list[list[Any]] = field(default_factory=list)
    answers: dict[tuple[int, Hashable], list[Any]] = field(default_factory=dict)
    written: Any = None

    def copy(self) -> Take:
        """Another history that begins like this one, and was asked nothing yet."""
        return Take(self.names.copy(), list(self.path), list(self.told))


@dataclass(slots=True, eq=False)
class Tape:
    """Everything that a recorded store said: plain values that can be pickled.

    Attributes
    ----------
    takes : list of Take
        In the order in which they were begun.
    edges : dict
        From a node and a step to the next node: histories that begin alike share their nodes.
    through : list of list of int
        For each node the takes that went through it.
    capabilities : Capabilities
        What the store declared.
    info : mapping
        What it told of itself.
    supports : frozenset of str
        Which of `OPTIONAL` it had.
    pipeline : bool
        Whether answers are those of a ``retrieve`` function.
    counts_calls : bool
        Whether the store counted model calls.
    """

    takes: list[Take] = field(default_factory=list)
    edges: dict[tuple[int, Hashable], int] = field(default_factory=dict)
    through: list[list[int]] = field(default_factory=lambda: [[]])
    capabilities: Capabilities = field(default_factory=Capabilities)
    info: Mapping[str, Any] = field(default_factory=dict)
    supports: frozenset[str] = frozenset()
    pipeline: bool = False
    counts_calls: bool = False

    def key(self, told: Hashable) -> Hashable:
        """How a step or a question is known here: as it is told."""
        return told

    def end(self, take: Take, tag: str) -> None:
        """Take it that nothing more is asked of a take, that of the history of this tag."""

    def add(self, take: Take) -> None:
        """Begin another take."""
        for node in take.path:
            self.through[node].append(len(self.takes))
        self.takes.append(take)

    def step(self, take: Take, number: int, key: Hashable) -> None:
        """Let the take of this number, one that was added, go on by one step."""
        node = self.edges.setdefault((take.path[-1], key), len(self.through))
        if node == len(self.through):
            self.through.append([])
        self.through[node].append(number)
        take.path.append(node)
