"""What a session is, and what the generator remembers from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args

from memeval.record import Op, Record

Kind = Literal[
    "chat", "fact", "event", "near_miss", "duplicate", "update", "contradiction", "other_scope",
    "passing", "said",
]  # fmt: skip
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of one generated record.

    Attributes
    ----------
    record_id : str
        Whose truth it is.
    kind : str
        ``chat`` says nothing, ``fact`` something new, ``event`` the next step of a storyline,
        ``near_miss`` what a probe expects, but of someone else, ``duplicate`` the current value
        in other words, ``update`` a new value that the store is told of, ``contradiction`` a new
        value that it is not told of, ``other_scope`` a known fact with another value in a foreign
        scope, ``passing`` a fact that is deleted later, ``said`` a turn of a transcript.
    unit : str or None
        The information unit, equal for all records of one fact; None for chat.
    value : str
        What the record says of the unit, empty where it says none.
    supersedes : tuple of str
        Ids that it replaces, as told to the store.
    contradicts : tuple of str
        Ids that it makes outdated without a word to the store.
    follows : str or None
        Id of the event that came before it in the storyline.
    superseded_by, contradicted_by : str or None
        The record that did so, as far as it is known by the end of the session, see `truth_of`.
    deleted : bool
        Whether it was deleted, as far as known.
    """

    record_id: str
    kind: Kind
    unit: str | None = None
    value: str = ""
    supersedes: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    follows: str | None = None
    superseded_by: str | None = None
    contradicted_by: str | None = None
    deleted: bool = False

    @property
    def outdated(self) -> bool:
        """Whether it no longer holds, told or not."""
        return not (self.superseded_by is None and self.contradicted_by is None)


@dataclass(frozen=True, slots=True)
class Session:
    """What is written to a store in one sitting.

    Attributes
    ----------
    number : int
        From 0.
    at : datetime or None
        When it begins, in UTC; None where a transcript does not say.
    ops : tuple of Op
        What is written, in order.
    truths : tuple of Truth
        A truth for each record of `ops`, in the same order; empty where nothing is known.
    """

    number: int
    at: datetime | None
    ops: tuple[Op, ...]
    truths: tuple[Truth, ...] = ()

    @property
    def records(self) -> tuple[Record, ...]:
        """The records among the operations."""
        return tuple(op for op in self.ops if isinstance(op, Record))


class Told(NamedTuple):
    """A fact that later sessions may repeat, update or contradict.

    Attributes
    ----------
    topic : int
        Place in the list of topics.
    persona : str
        Name.
    circle : int
        Who around the persona, see `memeval.sessioning.people.subject`.
    scope : str
        Where it is kept.
    value : int
        Number of the current value.
    wording : int
        Wording used last.
    ids : tuple of str
        Records that say the current value.
    """

    topic: int
    persona: str
    circle: int
    scope: str
    value: int
    wording: int
    ids: tuple[str, ...]


class Thread(NamedTuple):
    """Where a persona is in its storyline.

    Attributes
    ----------
    story : int
        Place in the list of stories.
    round : int
        How many storylines the persona began, this one included.
    step : int
        Steps done.
    scope : str
        Where it is kept.
    value : int
        Number of the value.
    last : str
        Id of the last event.
    """

    story: int
    round: int
    step: int
    scope: str
    value: int
    last: str


@dataclass(frozen=True, slots=True)
class State:
    """What the generator remembers: bounded by its lists, whatever the number of sessions.

    Attributes
    ----------
    at : datetime
        When the last record was written.
    told : tuple of Told
        The facts touched last, the latest at the end.
    counts : mapping of str to int
        How many facts of each topic and persona there are.
    threads : mapping of str to Thread
        The storyline of each persona.
    """

    at: datetime
    told: tuple[Told, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict, hash=False)
    threads: Mapping[str, Thread] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Write it as plain values for JSON."""
        return {
            "at": self.at.isoformat(),
            "told": [[*told[:-1], list(told.ids)] for told in self.told],
            "counts": dict(self.counts),
            "threads": {name: list(thread) for name, thread in self.threads.items()},
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> State:
        """Read what `to_dict` wrote."""
        return cls(
            datetime.fromisoformat(written["at"]),
            tuple(Told._make([*told[:-1], tuple(told[-1])]) for told in written["told"]),
            dict(written["counts"]),
            {name: Thread(*thread) for name, thread in written["threads"].items()},
        )
