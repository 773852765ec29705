"""The stores behind the server: each is asked by one thread of its own, one call at a time.

A scratch of a store cannot be shared, and many stores belong to the thread that opened them. A
store that hangs is left behind with its thread, and opened anew for the next call.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from memeval.errors import StoreError, said
from memeval.evaluating.asking import how_aside
from memeval.evaluation import evaluate_request
from memeval.stores.bound import BoundStore

__all__ = ["BusyError", "DownError", "GoneError", "HangingError", "Workspace"]

LONGEST_PAUSE_S = 300
CLOSING_S = 5.0

Job = tuple[Any, "Future[dict[str, Any]]"]


class BusyError(Exception):
    """Too many calls wait for this store already."""


class GoneError(Exception):
    """Whoever asked has gone, and the store was not asked."""


class HangingError(Exception):
    """The store did not answer in time."""


class DownError(Exception):
    """The store hung more than once, and is left alone for a while.

    Attributes
    ----------
    wait_s : int
        Seconds until it is opened again.
    """

    def __init__(self, wait_s: int) -> None:
        super().__init__(wait_s)
        self.wait_s = wait_s


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
        self._hung = 0
        self._rests_until = 0.0

    def open(self) -> None:
        """Open the store now, so that what is wrong with it is told before anybody asks.

        Raises
        ------
        Exception
            Whatever its factory raises; StoreError if it cannot be asked without a trace.
        """
        self._worker = _Worker(self._make, self._search_s)
        self._worker.ready.result()

    async def evaluate(
        self, body: Mapping[str, Any], has_gone: Callable[[], Awaitable[bool]]
    ) -> dict[str, Any]:
        """Answer a call when its turn has come.

        Parameters
        ----------
        body : mapping
            What is asked.
        has_gone : callable
            Whether nobody waits for the answer any more.

        Raises
        ------
        BusyError
            If too many wait already.
        GoneError
            If nobody waits any more when its turn has come.
        DownError
            If the store hung again and again: it rests, longer each time.
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
                if await has_gone():
                    raise GoneError
                return await self._ask(body)
        finally:
            self._waiting -= 1

    async def _ask(self, body: Mapping[str, Any]) -> dict[str, Any]:
        rest_s = self._rests_until - time.monotonic()
        if rest_s > 0:
            raise DownError(math.ceil(rest_s))
        worker = self._worker or _Worker(self._make, self._search_s)
        self._worker = worker
        done = asyncio.wrap_future(worker.ask(body))
        try:
            told = await asyncio.wait_for(done, self._call_s)
        except TimeoutError:
            self._rest(worker)
            raise HangingError from None
        except asyncio.CancelledError:  # nobody waits for it any more, but it goes on
            self._leave(worker)
            raise
        except Exception:  # raised again; a store that did not open is opened anew next time
            if worker.broken:
                self._leave(worker)
            raise
        if any(case["status"] == "timeout" for case in told["perCase"]):
            self._rest(worker)
        else:
            self._hung = 0
        return told

    def _rest(self, worker: _Worker) -> None:
        """Leave a store that hangs; from the second time on in a row, wait before it is opened."""
        self._leave(worker)
        self._hung += 1
        pause_s = 0 if self._hung == 1 else min(2.0**self._hung, LONGEST_PAUSE_S)
        self._rests_until = time.monotonic() + pause_s

    def _leave(self, worker: _Worker) -> None:
        worker.end()
        self._worker = None

    def close(self) -> None:
        """Close the store, as soon as its thread is free; one that hangs is not waited for."""
        if self._worker is not None:
            worker = self._worker
            self._leave(worker)
            worker.thread.join(CLOSING_S)


class _Worker:
    """A thread with an open store."""

    def __init__(self, make: Callable[[], Any], search_s: float) -> None:
        self.ready: Future[None] = Future()
        self.broken = False
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._make = make
        self._search_s = search_s
        self.thread = threading.Thread(target=self._work, name="memeval-serve", daemon=True)
        self.thread.start()

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
            store = BoundStore(self._make(), timeout_s=self._search_s)
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
            future.set_result(evaluate_request(body, store))
        except Exception as error:  # told to whoever asks
            future.set_exception(error)
        except BaseException as error:  # a store may ask for the end of anything but the server
            future.set_exception(StoreError(f"the store raised {said(error)}"))
