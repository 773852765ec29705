"""The face of a store that notes on a tape what the store says."""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable, Hashable, Sequence
from datetime import timedelta
from typing import Any

from memeval.harness.options import Options
from memeval.harness.tape import OPTIONAL, WAIT, Answer, Failure, Take, Tape
from memeval.record import Hit, Receipt, Record
from memeval.stores.bound import BoundStore, CallLimitError, Meter, View

Kept = dict[bytes, Take]


_TAPES = threading.Lock()


def recording(
    tape: Tape, options: Options, factory: Callable[[], Any], meter: Meter
) -> Callable[[], BoundStore]:
    """What gives fresh stores that note what they say.

    Parameters
    ----------
    tape : Tape
        Where to. Several threads may ask, each by a face of its own (`Recording.beside`).
    options : Options
        How the run asks.
    factory : callable
        Gives a fresh store of the user's.
    meter : Meter
        Where calls are counted.

    Examples
    --------
    >>> from memeval.stores.sqlite import SqliteStore
    >>> tape = Tape()
    >>> store = recording(tape, Options(), SqliteStore, Meter())()
    >>> _ = store.put(Record("r1", "The kiosk is blue."))
    >>> hits = store.search(View("kiosk", 5, "default"))
    >>> [answer.hits[0].id for answer in next(iter(tape.takes[0].answers.values()))]
    ['r1']
    """
    kept: Kept = {}

    def make() -> BoundStore:
        return Recording(
            factory(),
            tape=tape,
            kept=kept,
            retrieve=options.retrieve,
            timeout_s=options.timeout_s,
            retries=options.retries,
            meter=meter,
        )

    return make


class Recording(BoundStore):
    """A store as the runner sees it, that notes what it says.

    What is taken away once a history is over is no part of it and is not noted.

    Parameters
    ----------
    inner : object
        The store of the user.
    tape : Tape
        Where to note.
    kept : dict
        The takes of histories of which there is a snapshot, by a hash of that.
    **options
        As of `BoundStore`.
    """

    def __init__(self, inner: Any, *, tape: Tape, kept: Kept, **options: Any) -> None:
        super().__init__(inner, **options)
        self._tape, self._kept = tape, kept
        self._take: Take | None = None
        self._number = 0
        tape.capabilities = self.capabilities
        tape.pipeline = self.retrieve is not None
        there = {name for name in OPTIONAL if name != "put_many" and self.supports(name)}
        tape.supports = frozenset(there | ({"put_many"} if self.batches else set()))

    def begin(self) -> None:
        """Begin a take with what is written next."""
        super().begin()
        self._take = None

    def _current(self) -> Take:
        return self._go_on(Take()) if self._take is None else self._take

    def _go_on(self, take: Take) -> Take:
        with _TAPES:
            self._take, self._number = take, len(self._tape.takes)
            self._tape.add(take)
        return take

    def wrote(self, written: Any) -> Any:
        """Note how the writing went."""
        self._current().written = written
        return written

    def end(self, tag: str) -> None:
        """Let go of the take, which is whole; there is none where nothing was asked."""
        if self._take is not None:
            self._tape.end(self._take, tag)
            self._take = None

    def put(self, record: Record) -> Receipt:
        """Write one record."""
        key = self._current().names.writing((record,))
        call = functools.partial(BoundStore.put, self, record)
        receipt: Receipt = self._step(key, call, lambda said: ([said], [record]))
        return receipt

    def put_all(self, records: Sequence[Record]) -> list[Any]:
        """Write several records by the store's own ``put_many``."""
        key = self._current().names.writing(records)

        def read(told: list[Any]) -> tuple[list[Receipt], Sequence[Record]]:
            pairs = zip(told, records, strict=True)
            return [Receipt.of(one, record) for one, record in pairs], records

        told: list[Any] = self._step(key, lambda: BoundStore.put_all(self, records), read)
        return told

    def _step(self, key: Hashable, call: Callable[[], Any], read: Any = None) -> Any:
        """Call, and note what it came to; of a write its receipts."""
        take = self._current()
        told: list[Any] = []
        with _TAPES:
            self._tape.step(take, self._number, self._tape.key(key))
        take.told.append(told)
        value = self._noted(told, call)
        if read is None:
            told.append(value)
            return value
        try:
            receipts, records = read(value)
        except TypeError as error:  # the desk meets it too, and says so
            told.append(Failure.of(error))
            return value
        if _is_plain(receipts, records):
            told.append(None)
        else:
            take.names.keep(receipts)
            told.append(receipts)
        return value

    def _noted(self, told: list[Any], call: Callable[[], Any]) -> Any:
        """Call, and note every attempt that failed."""
        before = len(self.tried)
        try:
            value = call()
        except CallLimitError:
            raise
        except Exception as error:
            told += [*map(Failure, self.tried[before:]), Failure.of(error)]
            raise
        told += map(Failure, self.tried[before:])
        return value

    def search(self, view: View) -> list[Hit]:
        """Ask the store, or the user's pipeline."""
        told = self._told(self._current().names.asking(self._seen(view)))
        before = self.llm_calls()
        hits: list[Hit] = self._noted(told, lambda: BoundStore.search(self, view))
        after = None if before is None else self.llm_calls()
        self._tape.counts_calls |= after is not None
        n = 0 if before is None or after is None else after - before
        told.append(Answer(tuple(hits), n, self.attempt_ms))
        return hits

    def _told(self, key: Hashable) -> list[Any]:
        """Where answers to a question are noted."""
        take = self._current()
        return take.answers.setdefault((len(take.told), self._tape.key(key)), [])

    def _seen(self, view: View) -> View:
        """What the store gets to see of a view."""
        return view if self.retrieve is not None else View(view.query, **self._options(view))

    def delete(self, store_id: str, scope: str, *, within_limit: bool = True) -> None:
        """Delete by the store's own id; taking away what memeval wrote is no part of a history."""

        def call() -> None:
            BoundStore.delete(self, store_id, scope, within_limit=within_limit)

        if not within_limit:
            call()
            return
        self._step(self._current().names.deleting(store_id, scope), call)

    def advance(self, by: timedelta) -> None:
        """Let time pass for the store."""
        key = self._current().names.advancing(by)
        self._step(key, lambda: BoundStore.advance(self, by))

    def consolidate(self) -> bool:
        """Let the store tidy up; False where it has no such step."""
        if not self.supports("consolidate"):
            return False
        done: bool = self._step("consolidate", lambda: BoundStore.consolidate(self))
        return done

    def wait_visible(self, store_ids: Sequence[str], timeout_s: float) -> bool:
        """Wait for writes by the store's own means."""
        told = self._told(WAIT)
        wait = BoundStore.wait_visible
        seen: bool = self._noted(told, lambda: wait(self, store_ids, timeout_s))
        told.append(seen)
        return seen

    def info(self) -> dict[str, Any]:
        """Name and settings as the store tells them."""
        told = super().info()
        self._tape.info = told
        return told

    def snapshot(self) -> Any:
        """Everything that the store holds, and from now on a take that forks go on from."""
        made = super().snapshot()
        if isinstance(made, bytes):
            self._kept[_hash(made)] = self._current().copy()
        return made

    def forked(self, snapshot: Any) -> BoundStore:
        """Another store that notes, and holds what a snapshot holds."""
        made = self._like(Recording, self._try(self.inner.fork, snapshot), self.meter)
        known = self._kept.get(_hash(snapshot)) if isinstance(snapshot, bytes) else None
        if known is not None:
            made._go_on(known.copy())
        return made

    def beside(self, meter: Meter) -> Recording:
        """The same store for another thread, with times, errors and takes of its own."""
        return self._like(_Beside, self.inner, meter)

    def _like(self, kind: type[Recording], inner: Any, meter: Meter) -> Recording:
        return kind(
            inner,
            tape=self._tape,
            kept=self._kept,
            retrieve=self.retrieve,
            timeout_s=self.timeout_s,
            retries=self.retries,
            meter=meter,
        )


class _Beside(Recording):
    """One thread's face of a store that other threads use too."""

    def llm_calls(self) -> int | None:
        """None: what the store counts are the calls of all."""
        return None


def _hash(snapshot: bytes) -> bytes:
    return hashlib.blake2b(snapshot, digest_size=16).digest()


def _is_plain(receipts: Sequence[Receipt], records: Sequence[Record]) -> bool:
    """Whether all records were stored under their own ids, with their own texts."""
    return all(
        receipt.outcome == "stored" and not receipt.texts and receipt.store_ids == (record.id,)
        for receipt, record in zip(receipts, records, strict=True)
    )
