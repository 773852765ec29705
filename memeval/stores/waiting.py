"""Waiting for a call, whatever it is: sync or async, at once or bit by bit, within a time limit.

Coroutines run on one private loop thread, so that they work inside Jupyter, where a loop is running
already. A sync call with a limit runs in a thread of its own, which is left behind when the limit
is reached, since Python cannot stop it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import threading
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

from memeval.errors import StoreError, said
from memeval.record import Receipt

LOOP_PATIENCE_S = 0.5
AT_ONCE = frozenset({list, tuple, dict, str, int, bool, type(None), Receipt})
"""What is there when it is returned, so that nobody asks whether it must be waited for."""
NO_OPTIONS: Mapping[str, Any] = {}


class SearchTimeoutError(StoreError):
    """A search did not end within its time limit."""


class StoreExitError(StoreError):
    """A store asked for the end of the whole program in place of an answer."""


def finish(
    call: Callable[..., Any],
    args: tuple[Any, ...],
    limit: float | None,
    options: Mapping[str, Any] = NO_OPTIONS,
) -> Any:
    """Call and wait for all of it: a coroutine and what a generator gives belong to the call.

    Parameters
    ----------
    call : callable
        Gives a value, or something to wait for.
    args : tuple
        What to call it with.
    limit : float or None
        Seconds, None for no limit.
    options : mapping
        What to call it with by name.

    Raises
    ------
    SearchTimeoutError
        If the limit is reached.
    StoreExitError
        If it raises what ends a program, such as SystemExit: no call may end the run, and least of
        all with the exit code of a good one. The keyboard still may.
    """
    try:
        if limit is None:
            found = call(*args, **options)
            return found if type(found) in AT_ONCE else _whole(found, None)
        return _finished(functools.partial(call, *args, **options), call, limit)
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise StoreExitError(
            f"the store asked for the end of the program ({said(error)}); let it raise an ordinary "
            "error where a call fails"
        ) from error


def _finished(ask: Callable[[], Any], call: Callable[..., Any], limit: float) -> Any:
    """Within a limit: a coroutine function on the loop, anything else in a thread of its own."""
    if inspect.iscoroutinefunction(call):
        return _whole(ask(), limit)
    return _thread_run(lambda: _whole(ask(), None), limit)


def _whole(found: Any, limit: float | None) -> Any:
    """All of what was returned, however it comes."""
    if inspect.isawaitable(found):
        found = _loop_run(_awaited(found), limit)
    if inspect.isasyncgen(found):
        found = _loop_run(_collected(found), limit)
    return list(found) if isinstance(found, Iterator) else found


async def _awaited(found: Awaitable[Any]) -> Any:
    return await found


async def _collected(found: AsyncIterable[Any]) -> list[Any]:
    return [one async for one in found]


def _thread_run(call: Callable[[], Any], limit: float) -> Any:
    """Run in a thread of its own, which is left behind when the limit is reached."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()  # a thread cannot be taken back: it ends when it ends

    def work() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, name="memeval-search", daemon=True).start()
    return _wait(future, limit)


def _wait(future: Future[Any], limit: float | None) -> Any:
    try:
        return future.result(None if limit is None else min(limit, threading.TIMEOUT_MAX))
    except FutureTimeout as error:
        if future.done():  # at the last moment, or the call itself raised a TimeoutError
            return future.result()
        future.cancel()
        raise SearchTimeoutError(
            f"no answer within {limit:g} s; raise timeout_s, or look why the store hangs"
        ) from error


_loop: asyncio.AbstractEventLoop | None = None
_lock = threading.Lock()


def _loop_run(coroutine: Coroutine[Any, Any, Any], limit: float | None) -> Any:
    """Run a coroutine on the private loop thread, started at first use."""
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_serve, args=(_loop,), name="memeval-loop", daemon=True).start()
        running = _loop
    try:
        return _wait(asyncio.run_coroutine_threadsafe(coroutine, running), limit)
    except SearchTimeoutError:
        _leave_if_blocked(running)
        raise


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop for good: what tries to end it from within is told to whoever waits for it."""
    while True:
        with contextlib.suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()


def _leave_if_blocked(running: asyncio.AbstractEventLoop) -> None:
    """Start anew next time where a coroutine blocks its loop: nothing else would ever run."""
    global _loop
    answered = threading.Event()
    running.call_soon_threadsafe(answered.set)
    if not answered.wait(LOOP_PATIENCE_S):
        with _lock:
            if _loop is running:
                _loop = None


@contextlib.contextmanager
def entered(manager: Any) -> Iterator[None]:
    """A context manager of either kind, the asynchronous one on the private loop."""
    if hasattr(manager, "__enter__"):
        with manager:
            yield
        return
    _loop_run(manager.__aenter__(), None)
    try:
        yield
    except BaseException as error:
        if not _loop_run(manager.__aexit__(type(error), error, error.__traceback__), None):
            raise
    else:
        _loop_run(manager.__aexit__(None, None, None), None)


def end_elsewhere(stack: contextlib.ExitStack) -> None:
    """Leave what was entered in a thread of its own, without waiting for it."""

    def leave() -> None:
        with contextlib.suppress(Exception):  # its store is left behind: nobody asks it again
            stack.close()

    threading.Thread(target=leave, name="memeval-leaving", daemon=True).start()
