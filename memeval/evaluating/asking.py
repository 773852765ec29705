"""Asking a store that is full already, so that nothing of it remains."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from memeval.errors import StoreError, said
from memeval.evaluating.request import Case
from memeval.record import Hit
from memeval.stores.bound import BoundStore, SearchTimeoutError, View

__all__ = ["Asked", "ask_all", "how_aside"]

FIXED_WORD = "memory"
Aside = Callable[[], AbstractContextManager[BoundStore]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What one query came to.

    Attributes
    ----------
    hits : tuple of Hit
        The whole answer, best first.
    status : {'ok', 'failed', 'timeout'}
        What became of the search.
    error : str or None
        What the store said where it failed.
    latency_ms : float or None
        The search alone, in milliseconds; None where it failed.
    llm_calls : int or None
        Model calls as the store counts them.
    """

    hits: tuple[Hit, ...] = ()
    status: str = "ok"
    error: str | None = None
    latency_ms: float | None = None
    llm_calls: int | None = None


def how_aside(store: BoundStore) -> str:
    """How the store is asked without a trace: ``scratch``, ``fork`` or ``in place``.

    Raises
    ------
    StoreError
        If it can set nothing aside and does not promise that reading changes nothing.
    """
    if store.supports("scratch"):
        return "scratch"
    if store.supports("snapshot") and store.supports("fork"):
        return "fork"
    if store.capabilities.traceless:
        return "in place"
    raise StoreError(
        f"{store.info()['name']} has no scratch() and no snapshot() with fork(), and does not "
        "declare traceless=True: an evaluation might leave a trace in it; add one of these (a "
        "store whose searches change nothing declares Capabilities(traceless=True))"
    )


def ask_all(store: BoundStore, cases: tuple[Case, ...], *, k: int, scope: str) -> list[Asked]:
    """Ask every case of the same store: none sees that another was asked.

    Parameters
    ----------
    store : BoundStore
        A store that is full already.
    cases : tuple of Case
        What to ask.
    k, scope : int and str
        How many results, and whose.

    Returns
    -------
    list of Asked
        One for each case, in order.

    Raises
    ------
    StoreError
        As `how_aside`; or if the store cannot be set aside after all.
    """
    aside = _aside(store)
    _ask(aside, View(FIXED_WORD, k, scope))  # the first search of a store may pay for opening it
    return list(_each(aside, [View(case.query, k, scope) for case in cases], store))


def _each(aside: Aside, views: list[View], store: BoundStore) -> Iterator[Asked]:
    """Ask one after the other; where the store itself still hangs, no further."""
    for view in views:
        if store.hung:
            yield Asked(status="timeout", error="not asked: the store hangs in an earlier search")
        else:
            yield _ask(aside, view)


def _aside(store: BoundStore) -> Aside:
    """How to get the store as it is now, over and over."""
    way = how_aside(store)
    if way == "in place":
        return lambda: contextlib.nullcontext(store)
    if way == "scratch":
        return lambda: _scratch(store)
    try:
        snapshot = store.snapshot()
    except Exception as error:
        raise _not_aside(error) from error
    return lambda: _fork(store, snapshot)


@contextlib.contextmanager
def _scratch(store: BoundStore) -> Iterator[BoundStore]:
    with store.scratch():
        yield store


@contextlib.contextmanager
def _fork(store: BoundStore, snapshot: object) -> Iterator[BoundStore]:
    forked = store.forked(snapshot)
    if forked.inner is store.inner:
        raise StoreError("fork() gave the store itself, wanted another one that holds the same")
    try:
        yield forked
    finally:
        forked.close()


def _ask(aside: Aside, view: View) -> Asked:
    """Ask one query; what the search raises is its status, anything else is the store's fault."""
    try:
        with aside() as store:
            return _searched(store, view)
    except StoreError:
        raise
    except Exception as error:
        raise _not_aside(error) from error


def _not_aside(error: Exception) -> StoreError:
    return StoreError(
        f"the store could not be set aside, or not be taken back ({said(error)}); mend its "
        "scratch(), or snapshot() and fork()"
    )


def _searched(store: BoundStore, view: View) -> Asked:
    before = store.llm_calls()
    started = time.perf_counter_ns()
    try:
        hits = tuple(store.search(view))
    except SearchTimeoutError as error:
        return Asked(status="timeout", error=said(error))
    except Exception as error:  # whatever a store raises becomes a status
        return Asked(status="failed", error=said(error))
    elapsed = (time.perf_counter_ns() - started) / 1e6
    after = store.llm_calls()
    calls = None if before is None or after is None else after - before
    return Asked(hits, latency_ms=elapsed, llm_calls=calls)
