"""A clean store for every history, whatever that takes with the store at hand.

Four ways, by what the store declares: a fresh store each time, one that is cleared, one that
forgets what was written within ``scratch()``, or one store in which every history has scopes of its
own. memeval never clears what it did not write, and says what it could not remove.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType

from memeval.errors import MemevalError, StoreError, said
from memeval.harness.desk import Desk
from memeval.harness.snapshots import Kept, Place
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore

SLOW_PUT_MS = 5.0


class explained:  # noqa: N801 - a context manager, read as a word
    """Turn whatever a store raises into a StoreError that says what was done and wanted.

    Three times for each fresh store, so it is no generator: that would take ten times as long.
    """

    __slots__ = ("wanted", "what")

    def __init__(self, what: str, wanted: str) -> None:
        self.what = what
        self.wanted = wanted

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: object, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, MemevalError):
            return
        if isinstance(error, Exception | SystemExit):  # no store may end the program
            raise StoreError(
                f"{self.what} ({said(error)}); wanted: {self.wanted}; mend the adapter and try "
                "again"
            ) from error


class Workspace:
    """Gives every history a clean store.

    Parameters
    ----------
    make : callable
        Gives a fresh `BoundStore`.
    capabilities : Capabilities
        As the store declares them.
    slow : bool
        Whether one write takes more than 5 ms, so that a store each time is too dear.
    opaque_ids, allow_nonempty : bool
        See `memeval.run`.

    Attributes
    ----------
    isolation : {'fresh', 'clear', 'fork', 'namespace'}
        The way that is used.
    left_behind : int
        Records that could not be removed.
    emptying_s : float
        Time that it took to empty the store between histories, in seconds, no part of any other.
    """

    def __init__(
        self,
        make: Callable[[], BoundStore],
        capabilities: Capabilities,
        *,
        slow: bool = False,
        opaque_ids: bool = False,
        allow_nonempty: bool = False,
    ) -> None:
        self.make = make
        self.capabilities = capabilities
        self.isolation = capabilities.isolation
        if slow and self.isolation == "fresh" and capabilities.scoping != "none":
            self.isolation = "namespace"
        self.opaque_ids = opaque_ids
        self.allow_nonempty = allow_nonempty
        self.left_behind = 0
        self.emptying_s = 0.0
        self._shared: BoundStore | None = None
        self._there: int | None = None
        self._token = ""
        self._opened = False
        self._lent: BoundStore | None = None

    def clean(self, key: str, place: Place | None = None) -> AbstractContextManager[Desk]:
        """Desk with a clean store for the history of this key.

        Parameters
        ----------
        key : str
            Tells the history from others.
        place : Place, optional
            Where a history is kept that was written before, and where to keep this one: the store
            of the desk holds it then, and `Desk.restored` says so.
        """
        if self.isolation == "fresh":
            return self._fresh()
        if self.isolation == "fork":
            return self._scratched(place)
        return self._cleared() if self.isolation == "clear" else self._namespaced(key)

    def shared(self) -> BoundStore:
        """The one store in which every history has scopes of its own."""
        return self._share()

    def beside(self, make: Callable[[], BoundStore], store: BoundStore) -> Workspace:
        """Workspace of another thread, in the same store.

        Parameters
        ----------
        make : callable
            Gives another `BoundStore` of that thread's, should it leave one behind that hangs.
        store : BoundStore
            The shared store as that thread sees it; not closed with the new workspace.
        """
        other = Workspace(
            make,
            self.capabilities,
            opaque_ids=self.opaque_ids,
            allow_nonempty=self.allow_nonempty,
        )
        other.isolation, other._token = self.isolation, self._token
        other._shared = other._lent = store
        other._opened = True
        return other

    def take_over(self, other: Workspace) -> None:
        """Add what came of a workspace beside this one, once that is closed."""
        self.left_behind += other.left_behind
        self.emptying_s += other.emptying_s
        if self._shared is not None and other._lent is not None:
            self._shared.hung |= other._lent.hung

    def close(self) -> None:
        """Let go of a shared store, after a look at what is left in it."""
        if self._shared is None or self._shared is self._lent:
            return
        shared, self._shared = self._shared, None
        if self._keeps_records() and self._there is not None and self._can_count(shared):
            with explained(
                "the store failed where it must not, in count()", "the number of records, or None"
            ):
                self.left_behind = max(0, (shared.count() or 0) - self._there)
        self._let_go(shared)

    def _keeps_records(self) -> bool:
        """Whether what memeval writes stays in a place of the user's."""
        return self.capabilities.isolation == "namespace"

    def _can_count(self, shared: BoundStore) -> bool:
        """Whether a count now says what is there: deletes may not have come through yet."""
        eventual = self.capabilities.consistency == "eventual"
        return not shared.hung and not eventual

    @contextmanager
    def _fresh(self) -> Iterator[Desk]:
        store = self._open()
        try:
            store.begin()
            yield Desk(store, opaque_ids=self.opaque_ids)
        finally:
            self._let_go(store)

    @contextmanager
    def _cleared(self) -> Iterator[Desk]:
        store = self._share("clear")
        store.begin()
        try:
            yield Desk(store, opaque_ids=self.opaque_ids)
        finally:
            if store.hung:
                store = self._shared = self._made()
            with self._timed():
                self._tidied(store)
                self._clear(store)

    @contextmanager
    def _scratched(self, place: Place | None) -> Iterator[Desk]:
        store = self._share("scratch")
        snaps = store.supports("snapshot") and store.supports("fork")
        place = place if snaps and self.capabilities.deterministic is True else None
        kept = None if place is None else place.find()
        restored = None if kept is None else self._restored(store, kept)
        if restored is not None:
            try:
                yield restored
            finally:
                self._let_go(restored.store)
            return
        with store.scratch():
            store.begin()
            desk = Desk(store, opaque_ids=self.opaque_ids)
            desk.on_written = None if place is None else place.keep
            yield desk

    def _restored(self, store: BoundStore, kept: Kept) -> Desk | None:
        """Desk with a fork that holds what is kept, None where the fork is of another type.

        A wrapper that hands every call on to the store within hands out forks of that one, without
        itself around them.
        """
        with explained("the store failed where it must not, in fork()", "a store like this one"):
            fork = store.forked(kept.snapshot)
        if type(fork.inner) is not type(store.inner):
            self._let_go(fork)
            return None
        desk = Desk(fork, opaque_ids=self.opaque_ids)
        desk.restore(kept.noted)
        return desk

    @contextmanager
    def _namespaced(self, key: str) -> Iterator[Desk]:
        store = self._share()
        store.begin()
        prefix = "m" + hashlib.sha256(f"{self._token}{key}".encode()).hexdigest()[:9] + "-"
        desk = Desk(store, prefix, self.opaque_ids)
        try:
            yield desk
        finally:
            with self._timed():
                left = 0 if store.hung else self._tidied(store)
                left += len(desk.scopes) + desk.unsure if store.hung else desk.remove_all()
            self.left_behind += left if self._keeps_records() else 0

    def _tidied(self, store: BoundStore) -> int:
        """Let a saboteur take away what it wrote besides; 1 where that failed, and 0."""
        try:
            if store.supports("delete"):
                store.tidy()
        except Exception:  # told as a number: the answers are in, and they are good
            return 1
        return 0

    @contextmanager
    def _timed(self) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.emptying_s += time.perf_counter() - started

    def _made(self) -> BoundStore:
        with explained("make_store failed", "a fresh store for each probe"):
            return self.make()

    def _let_go(self, store: BoundStore) -> None:
        with explained("the store failed where it must not, in close()", "close() lets go of it"):
            store.close()

    def _clear(self, store: BoundStore) -> None:
        """Empty the store, and believe its count, not its word."""
        with explained("the store failed where it must not, in clear()", "clear() empties it"):
            store.clear()
            left = store.count()
        if left:
            raise StoreError(
                f"clear() returned and left {left} records in the store, wanted none; mend "
                "clear(), or declare another isolation"
            )

    def _open(self, again: bool = False) -> BoundStore:
        """Make a store and refuse a filled one, unless what is there was written by this run."""
        store = self._made()
        with explained(
            "the store failed where it must not, in count()", "the number of records, or None"
        ):
            there = store.count()
        ours = store.meter.left_behind
        if there and there > ours and not again and not self.allow_nonempty:
            self._let_go(store)
            raise StoreError(
                f"make_store gave a store that holds {there} records already, wanted an empty one; "
                "let it give a fresh store for each probe (memeval writes to it), or say "
                "allow_nonempty=True (--allow-nonempty) if these records may stay"
            )
        if not again:
            self._there = None if there is None else there - min(ours, there)
            # Where an earlier run may have left records, no name of this one may meet them.
            known = there is not None and not self.allow_nonempty
            self._token = secrets.token_hex(8) if self._keeps_records() and not known else ""
            self.left_behind = max(self.left_behind, ours)
        return store

    def _share(self, needed: str | None = None) -> BoundStore:
        if self._shared is not None and self._shared.hung:
            self._shared = None  # left behind with the search that hangs in it
        if self._shared is None:
            self._shared = self._open(again=self._opened and self.isolation == "namespace")
            self._opened = True
        forks = needed == "scratch" and all(map(self._shared.supports, ("snapshot", "fork")))
        if needed and not forks and not self._shared.supports(needed):
            raise StoreError(
                f"the store declares isolation {self.isolation!r} and has no {needed}(); "
                f"add {needed}(), or declare another isolation"
            )
        if needed == "clear" and self.allow_nonempty:
            raise StoreError(
                "allow_nonempty with isolation 'clear' would clear records that memeval did not "
                "write; declare isolation 'namespace', or give an empty store"
            )
        return self._shared
