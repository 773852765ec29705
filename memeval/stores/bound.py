"""One face for every store: sync or async, bare or rich, whatever it returns.

The runner speaks to a `BoundStore` alone. It turns ids, lists and mappings into `Receipt` and
`Hit`, runs coroutine functions on one private loop thread (so they work inside Jupyter), passes
``filter`` and ``now`` only where the store declares that it honours them, retries where told to,
ends a search at its time limit, and counts calls.
"""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memeval.errors import StoreError, said
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities, declared
from memeval.stores.batching import batching
from memeval.stores.metering import CallLimitError as CallLimitError
from memeval.stores.metering import Meter as Meter
from memeval.stores.waiting import SearchTimeoutError as SearchTimeoutError
from memeval.stores.waiting import end_elsewhere, entered, finish

LONGEST_PAUSE_S = 5.0
NOTHING_DECLARED = Capabilities()


@dataclass(frozen=True, slots=True)
class View:
    """What a ``retrieve(store, view)`` function gets to see of a probe: plain values.

    Never what is expected or forbidden, never tags, never the probe's name.
    """

    query: str
    k: int
    scope: str
    filter: Mapping[str, Any] | None = None
    now: datetime | None = None


class BoundStore:
    """A store as the runner sees it.

    Parameters
    ----------
    inner : object
        The store of the user: `put` and `search`, sync or async.
    retrieve : callable, optional
        ``retrieve(store, view)`` grades a whole pipeline instead of ``search``.
    timeout_s : float, optional
        Time limit of one search, in seconds.
    retries : int
        How often a failed call is tried again, after 0.1, 0.2, 0.4 ... seconds.
    meter : Meter, optional
        Where calls are counted.

    Attributes
    ----------
    tried : list of str
        Errors of the calls that were tried again.
    attempt_ms : float
        Time of the last attempt alone, in milliseconds: without earlier ones and pauses.
    hung : bool
        Whether a search reached its time limit and may still be going on.

    Raises
    ------
    StoreError
        If the object has no `put` or no `search`.
    """

    pause: Callable[[float], object] = staticmethod(time.sleep)

    def __init__(
        self,
        inner: Any,
        *,
        retrieve: Callable[[Any, View], Any] | None = None,
        timeout_s: float | None = None,
        retries: int = 0,
        meter: Meter | None = None,
    ) -> None:
        if not callable(getattr(inner, "put", None)) and inspect.isawaitable(inner):
            inner = finish(lambda made=inner: made, (), None)
        wanted = ("put",) if retrieve else ("put", "search")
        lacking = [name for name in wanted if not callable(getattr(inner, name, None))]
        if isinstance(inner, type):
            raise StoreError(
                f"make_store gave the class {inner.__name__}, wanted an object of it; call it: "
                f"make_store={inner.__name__}, or lambda: {inner.__name__}(...)"
            )
        if lacking:
            raise StoreError(
                f"make_store gave a {type(inner).__name__} without {' and '.join(lacking)}, wanted "
                "put(record) and search(query, *, k, scope); add them, or write an adapter"
            )
        self.inner = inner
        self.retrieve = retrieve
        self.timeout_s = timeout_s
        self.retries = retries
        self.meter = meter or Meter()
        self.tried: list[str] = []
        self.attempt_ms = 0.0
        self.hung = False
        self._declared: Capabilities | None = None

    @property
    def capabilities(self) -> Capabilities:
        """What the store declares, or the defaults; looked up once."""
        if self._declared is None:
            told = getattr(self.inner, "capabilities", None)
            self._declared = NOTHING_DECLARED if told is None else declared(self.inner)
        return self._declared

    def supports(self, name: str) -> bool:
        """Whether the store has this method."""
        return callable(getattr(self.inner, name, None))

    def put(self, record: Record) -> Receipt:
        """Write one record."""
        self.meter.count(puts=1)
        return Receipt.of(self._try(self.inner.put, record), record)

    @property
    def batches(self) -> bool:
        """Whether the store has a ``put_many`` of its own, no further from it than its `put`.

        The fallback of the base class is none, and neither is one inherited or handed through by a
        store that has a ``put`` of its own: that would pass the new one by.
        """
        return batching(self.inner)

    def put_many(self, records: Sequence[Record]) -> list[Receipt]:
        """Write several records, by the store's own ``put_many`` where it has one."""
        if not self.batches:
            return [self.put(record) for record in records]
        told = self.put_all(records)
        return [Receipt.of(one, record) for one, record in zip(told, records, strict=True)]

    def put_all(self, records: Sequence[Record]) -> list[Any]:
        """Write several records by the store's own ``put_many``; what it said of each, unread."""
        self.meter.count(puts=len(records))
        returned = self._try(self.inner.put_many, list(records))
        if returned is None:
            returned = [None] * len(records)
        if isinstance(returned, str | bytes | Mapping) or not isinstance(returned, Iterable):
            raise StoreError(
                f"put_many returned {type(returned).__name__}, wanted a list; return one receipt, "
                "id or None for each record, in order"
            )
        told = list(returned)
        if len(told) != len(records):
            raise StoreError(
                f"put_many gave {len(told)} receipts for {len(records)} records; return one "
                "receipt, id or None for each record, in order"
            )
        return told

    def search(self, view: View) -> list[Hit]:
        """Ask the store, or the user's pipeline; raise on anything but an answer."""
        self.meter.count(searches=1)
        try:
            if self.retrieve is not None:
                return _hits(self._try(self.retrieve, self.inner, view, limit=self.timeout_s))
            options = self._options(view)
            return _hits(self._try(self.inner.search, view.query, limit=self.timeout_s, **options))
        except SearchTimeoutError:
            self.hung = True
            raise

    def _options(self, view: View) -> dict[str, Any]:
        honours = self.capabilities.honours
        options: dict[str, Any] = {"k": view.k, "scope": view.scope}
        if "filter" in honours and view.filter:
            options["filter"] = view.filter
        if "now" in honours and view.now is not None:
            options["now"] = view.now
        return options

    def delete(self, store_id: str, scope: str, *, within_limit: bool = True) -> None:
        """Delete by the store's own id; the scope goes along where the store takes it.

        Taking away what memeval wrote is counted and, with ``within_limit=False``, never refused.
        """
        remove = None if within_limit else self._hook("remove")
        if within_limit:
            self.meter.count(puts=1)
        else:
            self.meter.puts += 1
        if remove is not None:
            self._try(remove, store_id, scope)
            return
        parameters = _parameters(self.inner.delete)
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        options: dict[str, Any] = {"scope": scope} if takes_any or "scope" in parameters else {}
        self._try(self.inner.delete, store_id, **options)

    def begin(self) -> None:
        """Tell a store of memeval's own, and one within it, that a new history is written next."""
        (self._hook("begin") or bool)()
        within = getattr(self.inner, "inner", None)
        if isinstance(within, BoundStore):
            within.begin()

    def wrote(self, written: Any) -> Any:
        """How the writing of a history went: as told, unless it is known better."""
        return written

    def end(self, tag: str) -> None:
        """Know that nothing more is asked of the history of this tag."""

    def tidy(self) -> None:
        """Let a store of memeval's own take away what it wrote that nobody told it to."""
        (self._hook("tidy") or bool)()

    def _hook(self, name: str) -> Callable[..., Any] | None:
        """A method of a store of memeval's own: a user's may mean another thing by that name."""
        kind = type(self.inner)
        ours = getattr(kind, "broken_on_purpose", False) or getattr(kind, "is_told", False)
        return getattr(self.inner, name) if ours and hasattr(kind, name) else None

    def advance(self, by: timedelta) -> None:
        """Let time pass for the store."""
        self._try(self.inner.advance, by)

    def consolidate(self) -> bool:
        """Let the store tidy up; False where it has no such step."""
        if not self.supports("consolidate"):
            return False
        self._try(self.inner.consolidate)
        return True

    def count(self) -> int | None:
        """Records in the store; None where it cannot tell."""
        if not self.supports("count"):
            return None
        found = self._try(self.inner.count)
        return None if found is None else int(found)

    def clear(self) -> None:
        """Empty the store."""
        self._try(self.inner.clear)

    def wait_visible(self, store_ids: Sequence[str], timeout_s: float) -> bool:
        """Wait for writes by the store's own means; False where they did not appear."""
        return self._try(self.inner.wait_visible, list(store_ids), timeout_s) is not False

    @contextlib.contextmanager
    def scratch(self) -> Iterator[None]:
        """Everything written within is gone afterwards: by ``scratch``, or in a ``fork``.

        Where the store still hangs in a search, to end the scratch might hang too: then it is
        ended in a thread of its own, whenever that may be.
        """
        whole = self.inner
        with contextlib.ExitStack() as stack:
            if self.supports("scratch"):
                stack.enter_context(entered(whole.scratch()))
            else:
                self.inner = self._try(whole.fork, self._try(whole.snapshot))
                stack.callback(setattr, self, "inner", whole)
                stack.callback(self.close)
            try:
                yield
            finally:
                if self.hung:
                    end_elsewhere(stack.pop_all())

    def snapshot(self) -> Any:
        """Everything that the store holds, for `forked`."""
        return self._try(self.inner.snapshot)

    def forked(self, snapshot: Any) -> BoundStore:
        """Another store, that holds what a snapshot holds."""
        return BoundStore(
            self._try(self.inner.fork, snapshot),
            retrieve=self.retrieve,
            timeout_s=self.timeout_s,
            retries=self.retries,
            meter=self.meter,
        )

    def close(self) -> None:
        """Let go of what the store holds, unless it still hangs in a search."""
        if self.supports("close") and not self.hung:
            self._try(self.inner.close)

    def info(self) -> dict[str, Any]:
        """Name and settings as the store tells them; its type's name otherwise."""
        told = self._try(self.inner.info) if self.supports("info") else None
        return {"name": type(self.inner).__name__} | dict(told if isinstance(told, Mapping) else {})

    def llm_calls(self) -> int | None:
        """Model calls so far as the store counts them; None where it does not."""
        counted = getattr(self.inner, "llm_calls", None)
        counted = self._try(counted) if callable(counted) else counted
        return int(counted) if isinstance(counted, int) else None

    def _try(
        self, call: Callable[..., Any], *args: Any, limit: float | None = None, **options: Any
    ) -> Any:
        """Call, wait for a coroutine, and try again as often as allowed."""
        for attempt in range(self.retries):
            try:
                return self._attempt(call, args, limit, options)
            except (CallLimitError, SearchTimeoutError):
                raise
            except Exception as error:  # counted and told; the last attempt raises
                self.meter.retries += 1
                self.tried.append(said(error))
                self.pause(min(0.1 * 2**attempt, LONGEST_PAUSE_S))
        return self._attempt(call, args, limit, options)

    def _attempt(
        self,
        call: Callable[..., Any],
        args: tuple[Any, ...],
        limit: float | None,
        options: Mapping[str, Any],
    ) -> Any:
        started = time.perf_counter_ns()
        found = finish(call, args, limit, options)
        self.attempt_ms = (time.perf_counter_ns() - started) / 1e6
        return found


def _hits(answer: Any) -> list[Hit]:
    if type(answer) is not list and not _is_ordered(answer):
        raise StoreError(
            f"search returned {type(answer).__name__}, wanted a list of hits; return [] when "
            "nothing was found, and raise when the search failed"
        )
    return [Hit.of(found) for found in answer]


def _is_ordered(answer: Any) -> bool:
    unordered = isinstance(answer, str | bytes | Mapping | set | frozenset)
    return not unordered and isinstance(answer, Iterable)


def _parameters(call: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(call).parameters
    except (TypeError, ValueError):  # a builtin tells nothing of its parameters
        return {}
