"""A store that says again what is on a tape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from memeval.errors import StoreError
from memeval.harness.tape import OPTIONAL, ROOT, WAIT, Answer, Failure, Names, Take, Tape
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.bound import View
from memeval.text import visible

_PLACED = frozenset({"clear", "scratch", "snapshot", "fork"})
_SHOWN = 60


class NeverRecordedError(StoreError):
    """Something was written or asked that is not on the tape."""


def answered(store: Any, view: View) -> Any:
    """Ask a store of memeval's own with a whole view: as ``retrieve``, for a recorded pipeline."""
    return store.answer(view)


@dataclass(repr=False)
class Replay:
    """One playing of a tape: gives stores, as ``make_store`` of a run.

    Each take is played once before any is played again, in the order in which they were recorded,
    so that the repeats of a run get the answers of its repeats. Run it with ``check_store=False``:
    what the self check writes depends on how long it takes.

    Parameters
    ----------
    tape : Tape
        What is played.
    plainly : bool
        Whether each history gets a fresh store that finds at once what is written, whatever the
        recorded store did: what is asked is the same, and nothing must be waited for or removed.
    strict : bool
        Whether a question is answered no oftener than it was asked.
    asking : mapping
        Options of the run that was recorded, where they are known.
    manifest : mapping
        The manifest of that run, where it is known.

    Attributes
    ----------
    missed : list of str
        What was written or asked and is not on the tape, in words; each was an error.

    Examples
    --------
    >>> import memeval as me
    >>> from memeval.harness.options import Options
    >>> from memeval.harness.recording import recording
    >>> from memeval.stores.bound import Meter
    >>> tape = Tape()
    >>> store = recording(tape, Options(), me.SqliteStore, Meter())()
    >>> _ = store.put(Record("r1", "The kiosk is blue."))
    >>> _ = store.search(View("kiosk", 5, "default"))
    >>> again = Replay(tape)()
    >>> _ = again.put(Record("x", "The kiosk is blue."))
    >>> again.search("kiosk", k=5, scope="default")[0].id
    'x'
    >>> again.search("van", k=5, scope="default")
    Traceback (most recent call last):
        ...
    memeval.harness.replaying.NeverRecordedError: 'van' was never asked of this history ...
    """

    tape: Tape
    plainly: bool = False
    strict: bool = False
    asking: Mapping[str, Any] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    played: Counter[int] = field(default_factory=Counter)
    kept: list[ReplayStore] = field(default_factory=list)

    def __repr__(self) -> str:
        name = self.tape.info.get("name", "store")
        return f"Replay of {name}: {len(self.tape.takes)} histories"

    def __call__(self) -> ReplayStore:
        """Give a fresh store."""
        return ReplayStore(self)

    @property
    def retrieve(self) -> Callable[[Any, View], Any] | None:
        """What to hand in as ``retrieve``: the answers of a pipeline are asked for by views."""
        return answered if self.tape.pipeline else None

    @property
    def capabilities(self) -> Capabilities:
        """As the recorded store declared them."""
        declared = self.tape.capabilities
        if not self.plainly:
            return declared
        return replace(declared, isolation="fresh", consistency="immediate")

    def offers(self, name: str) -> bool:
        """Whether its stores have a method."""
        hidden = self.plainly and (name in _PLACED or name == "wait_visible")
        return name in self.tape.supports and not hidden

    def miss(self, what: str) -> NeverRecordedError:
        """Note what is not on the tape."""
        self.missed.append(what)
        return NeverRecordedError(
            f"{what}: a replay has only what was recorded, and no other answer; record the run "
            "again, or ask the store itself"
        )


class ReplayStore:
    """A store that says again what is on a tape.

    Parameters
    ----------
    replay : Replay
        What it is played for.
    """

    is_told = True

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.capabilities = replay.capabilities
        self._llm_calls, self.ms = 0, 0.0
        if replay.offers("put_many"):  # the store's own, as its put is, and not handed through
            self.put_many = self._put_many
        self.begin()

    def begin(self) -> None:
        """Forget the history before: a new one is written next."""
        self._names = Names()
        self._node, self._n_steps, self._attempt = ROOT, 0, 0
        self._number: int | None = None
        self._asked: Counter[Hashable] = Counter()
        self._same: bool | None = None

    @property
    def written(self) -> Any:
        """How the writing of this history went when it was recorded; None where nobody told."""
        return None if self._number is None else self._take.written

    @property
    def _take(self) -> Take:
        return self.replay.tape.takes[self._number or 0]

    def put(self, record: Record) -> Receipt | None:
        """Say what was said to the same write."""
        told = self._written((record,), visible(record.text, _SHOWN))
        return None if told is None else told[0]

    def _put_many(self, records: Iterable[Record]) -> Sequence[Receipt | None]:
        listed = list(records)
        told = self._written(listed, f"{len(listed)} records")
        return [None] * len(listed) if told is None else told

    def _written(self, records: Sequence[Record], what: str) -> list[Receipt] | None:
        key = self._names.writing(records)
        recorded: list[Receipt] | None = self._step(key, f"writing {what!r} here")
        if recorded is None:
            return None
        named = self._named
        told = [Receipt(r.outcome, tuple(map(named, r.store_ids)), r.texts) for r in recorded]
        self._names.keep(told)
        return told

    def _step(self, key: Hashable, what: str) -> Any:
        """Go on by one step, and give what was returned; raise where that was an error."""
        tape = self.replay.tape
        child = tape.edges.get((self._node, tape.key(key)))
        if child is None:
            raise self.replay.miss(f"{what} was never recorded")
        if self._number is None or not self._leads_to(child):
            self._choose(tape.through[child])
        attempts = self._take.told[self._n_steps]
        if not attempts:
            raise self.replay.miss(f"{what} was never recorded to its end")
        outcome = attempts[min(self._attempt, len(attempts) - 1)]
        if isinstance(outcome, Failure):
            self._attempt += 1
            raise outcome.error()
        self._node, self._n_steps, self._attempt, self._same = child, self._n_steps + 1, 0, None
        return outcome

    def _leads_to(self, node: int) -> bool:
        path = self._take.path
        return len(path) > self._n_steps + 1 and path[self._n_steps + 1] == node

    def _choose(self, numbers: Sequence[int]) -> None:
        """Take, of these takes, the earliest of those that were played least often."""
        played = self.replay.played
        if self._number is not None:
            played[self._number] -= 1
        self._number = min(numbers, key=lambda number: (played[number], number))
        played[self._number] += 1
        self._same = None

    def search(
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Give the hits that were given to the same question."""
        return self.answer(View(query, k, scope, filter, now))

    def answer(self, view: View) -> list[Hit]:
        """Give the hits that were given to the same question, in the names of this history."""
        outcome: Answer = self._answer(
            self._names.asking(view), f"{visible(view.query, _SHOWN)!r} was never asked"
        )
        self._llm_calls += outcome.llm_calls
        self.ms = outcome.ms
        if self._same is None:
            self._same = self._names.same_as(self._take.names)
        return list(outcome.hits if self._same else map(self._told, outcome.hits))

    def _answer(self, key: Hashable, what: str) -> Any:
        place = (self._n_steps, self.replay.tape.key(key))
        if self._number is None or place not in self._take.answers:
            takes = self.replay.tape.takes
            able = [n for n in self.replay.tape.through[self._node] if place in takes[n].answers]
            if not able:
                raise self.replay.miss(f"{what} of this history (k, scope, filter and time count)")
            self._choose(able)
        attempts = self._take.answers[place]
        if not attempts:
            raise self.replay.miss(f"{what} of this history to its end")
        n = self._asked[place]
        if self.replay.strict and n >= len(attempts):
            raise self.replay.miss(f"{what} of this history once more")
        outcome = attempts[min(n, len(attempts) - 1)]
        self._asked[place] += 1
        if isinstance(outcome, Failure):
            raise outcome.error()
        return outcome

    def _told(self, hit: Hit) -> Hit:
        """A hit in the names of this history."""
        meta = {key: self._meant(value) for key, value in hit.meta.items()} if hit.meta else {}
        return Hit(None if hit.id is None else self._named(hit.id), hit.text, hit.score, meta)

    def _meant(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._named(value)
        return [self._meant(one) for one in value] if isinstance(value, list | tuple) else value

    def _named(self, name: str) -> str:
        """An id or a scope of the take as it is called here; another text as it is."""
        theirs, mine = self._take.names, self._names
        for one, other in ((theirs.ids, mine.ids), (theirs.scopes, mine.scopes)):
            if name in one:
                return _nth(other, one[name], name)
        place = theirs.kept.get(name)
        if place is None or mine.kept.get(name) == place or place not in mine.kept.values():
            return name
        return next(mine_name for mine_name, at in mine.kept.items() if at == place)

    def _delete(self, store_id: str, *, scope: str) -> None:
        self._step(self._names.deleting(store_id, scope), f"deleting {store_id!r} here")

    def remove(self, store_id: str, scope: str) -> None:
        """Do nothing: what is removed once a history is over was never recorded."""

    def _advance(self, by: timedelta) -> None:
        self._step(self._names.advancing(by), f"advancing by {by} here")

    def _consolidate(self) -> None:
        self._step("consolidate", "consolidating here")

    def _wait_visible(self, store_ids: Sequence[str], timeout_s: float) -> bool:
        seen: bool = self._answer(WAIT, "waiting was never asked")
        return seen

    def _count(self) -> int:
        return 0

    def _clear(self) -> None:
        self.begin()

    @contextmanager
    def _scratch(self) -> Iterator[None]:
        self.begin()
        yield
        self.begin()

    def _snapshot(self) -> bytes:
        self.replay.kept.append(self._fork(b""))
        return b"%d" % (len(self.replay.kept) - 1)

    def _fork(self, snapshot: bytes) -> ReplayStore:
        source = self.replay.kept[int(snapshot)] if snapshot else self
        made = ReplayStore(self.replay)
        made._names, made._node, made._n_steps = source._names.copy(), source._node, source._n_steps
        made._number = source._number
        return made

    @property
    def llm_calls(self) -> int | None:
        """Model calls that the recorded store counted for the answers so far."""
        return self._llm_calls if self.replay.tape.counts_calls else None

    def info(self) -> dict[str, Any]:
        """What the recorded store told of itself."""
        return dict(self.replay.tape.info)

    def close(self) -> None:
        """Let go of nothing."""

    def __getattr__(self, name: str) -> Any:
        """What a store need not have: there if the recorded store had it."""
        if name not in OPTIONAL or not self.replay.offers(name):
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        return getattr(self, f"_{name}")


def _nth(names: Mapping[str, int], place: int, otherwise: str) -> str:
    """The name that came up at this place."""
    if names.get(otherwise) == place:
        return otherwise
    listed = list(names)
    return listed[place] if place < len(listed) else otherwise
