"""The stores behind the server: each is asked by one thread of its own, one call at a time.

A scratch of a store cannot be shared, and many stores belong to the thread that opened them. A
store that hangs is left behind with its thread, and opened anew for the next call.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from memeval.evaluating.asking import how_aside
from memeval.evaluation import evaluate_request
from memeval.stores.bound import BoundStore

__all__ = ["BusyError", "HangingError", "Workspace"]

Job = tuple[Any, "Future[dict[str, Any]]"]


class BusyError(Exception):
    """Too many calls wait for this store already."""


class HangingError(Exception):
    """The store did not answer in time."""


class Workspace:
    """One store, and the thread that asks it.

    Parameters
    ----------
    make : callable
        Opens the store, in the thread that will ask it.
    search_s, call_s : float
        Time limits of one search and of one whole call, in seconds.
    most_waiting : int
        Calls that may wait; more are turned away.
    """

    def __init__(
        self, make: Callable[[], Any], *, search_s: float, call_s: float, most_waiting: int
    ) -> None:
        self._make = make
        self._search_s = search_s
        self._call_s = call_s
        self._most_waiting = most_waiting
        self._waiting = 0
        self._turn = asyncio.Lock()
        self._worker: _Worker | None = None

    def open(self) -> None:
        """Open the store now, so that what is wrong with it is told before anybody asks.

        Raises
        ------
        Exception
            Whatever its factory raises; StoreError if it cannot be asked without a trace.
        """
        self._worker = _Worker(self._make, self._search_s)
        self._worker.ready.result()

    async def evaluate(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a call when its turn has come.

        Raises
        ------
        BusyError
            If too many wait already.
        HangingError
            If the store does not answer in time; the next call opens it anew.
        RequestError, StoreError
            As `memeval.evaluate_request`.
        """
        if self._waiting >= self._most_waiting:
            raise BusyError
        self._waiting += 1
        try:
            async with self._turn:
                return await self._ask(body)
        finally:
            self._waiting -= 1

    async def _ask(self, body: Mapping[str, Any]) -> dict[str, Any]:
        worker = self._worker or _Worker(self._make, self._search_s)
        self._worker = worker
        done = asyncio.wrap_future(worker.ask(body))
        try:
            told = await asyncio.wait_for(done, self._call_s)
        except TimeoutError:
            self._leave(worker)
            raise HangingError from None
        except asyncio.CancelledError:  # nobody waits for it any more, but it goes on
            self._leave(worker)
            raise
        except Exception:
            if worker.broken:
                self._leave(worker)
            raise
        if any(case["status"] == "timeout" for case in told["perCase"]):
            self._leave(worker)
        return told

    def _leave(self, worker: _Worker) -> None:
        worker.end()
        self._worker = None

    def close(self) -> None:
        """Close the store, as soon as its thread is free."""
        if self._worker is not None:
            self._leave(self._worker)


class _Worker:
    """A thread with an open store."""

    def __init__(self, make: Callable[[], Any], search_s: float) -> None:
        self.ready: Future[None] = Future()
        self.broken = False
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._make = make
        self._search_s = search_s
        threading.Thread(target=self._work, name="memeval-serve", daemon=True).start()

    def ask(self, body: Any) -> Future[dict[str, Any]]:
        """Put a call into the queue."""
        future: Future[dict[str, Any]] = Future()
        self._jobs.put((body, future))
        return future

    def end(self) -> None:
        """Close the store after what is being asked, and end the thread."""
        self._jobs.put(None)

    def _work(self) -> None:
        try:
            store = BoundStore(self._make())
            how_aside(store)
        except BaseException as error:  # told to whoever asks
            self.broken = True
            self.ready.set_exception(error)
            store = None
        else:
            self.ready.set_result(None)
        while (job := self._jobs.get()) is not None:
            self._answer(store, *job)
        if store is not None:
            with contextlib.suppress(Exception):  # nobody is left to be told
                store.close()

    def _answer(self, store: BoundStore | None, body: Any, future: Future[dict[str, Any]]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            if store is None:
                raise self.ready.exception() or RuntimeError("the store could not be opened")
            future.set_result(evaluate_request(body, store.inner, timeout_s=self._search_s))
        except BaseException as error:  # told to whoever asks
            future.set_exception(error)
