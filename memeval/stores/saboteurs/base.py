"""The user's own store with one known fault: what every saboteur is built on.

A saboteur stands around a `BoundStore`, so that it speaks of records, views and hits alone, whether
the store within is sync or async, bare or rich, asked by itself or through a pipeline.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any, ClassVar, Literal

from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore, View

Touches = Literal["answer", "search", "write"]
Need = Literal["delete", "supersedes", "scoping", "score_order", "deterministic", "texts"]
NEEDS: Mapping[Need, str] = {
    "delete": "the store has no delete",
    "supersedes": "the store does not say that it honours supersedes",
    "scoping": "the store has no scopes",
    "score_order": "the store declares no order of scores, and a probe passes on what is among "
    "the first k: only rule C4 of the controls sees an order that is lost",
    "deterministic": "the store does not declare itself deterministic, so that a second answer "
    "may differ",
    "texts": "the store rewrites texts, so that nobody can say which one is right",
}
_OWN = ("delete", "fork", "clear", "scratch", "snapshot")
_SAME = ("advance", "consolidate", "count", "wait_visible")
_HANDED_ON = {name: f"_{name}" for name in _OWN} | {name: name for name in _SAME}
_NO_STATE = frozenset({"inner", "seed", "_besides"})


@dataclass(frozen=True, slots=True)
class Remembered:
    """A snapshot of the store within, and what a saboteur with a memory of its own remembers."""

    within: Any
    state: Mapping[str, Any]


class Saboteur:
    """A store with one known fault, around any store; without one of its own it changes nothing.

    Derive from it, say what the fault is, and override `written`, `answer` or `drop`.

    Parameters
    ----------
    inner : BoundStore
        The user's store, as the harness sees it.
    seed : int
        For saboteurs that draw; same seed, same writes and same query: same answer.

    Attributes
    ----------
    name : str
        What it is called in tables: lower case, words joined by ``_``.
    fault : str
        The fault in one sentence.
    caught_by : str
        What catches it, in words.
    tag : str
        Tag of the probes that can kill it.
    must_kill : bool
        Whether a suite that lets it live is no good.
    touches : {'answer', 'search', 'write'}
        What it changes: the answer alone (replayed from recorded answers, the store is not asked),
        how it is asked (on histories that were written before), or what is written.
    needs : tuple of str
        What the store must have for the fault to mean anything: keys of `NEEDS`.
    witness : str
        The smallest probes that see the fault, as a probe file; empty: those of the package.

    Examples
    --------
    >>> from dataclasses import replace
    >>> class Shouts(Saboteur):
    ...     name = "shouts"
    ...     fault = "texts come back in capitals"
    ...     caught_by = "text fidelity"
    ...     tag = "direct"
    ...     needs = ("texts",)
    ...
    ...     def answer(self, view):
    ...         return [replace(hit, text=hit.text.upper()) for hit in super().answer(view)]
    >>> from memeval.stores.sqlite import SqliteStore
    >>> store = Shouts(BoundStore(SqliteStore()))
    >>> _ = store.put(Record("r1", "The kiosk is blue."))
    >>> store.search("kiosk", k=5, scope="default")[0].text
    'THE KIOSK IS BLUE.'
    """

    name: ClassVar[str] = "identity"
    fault: ClassVar[str] = "none: the store as it is"
    caught_by: ClassVar[str] = "nothing may catch it"
    tag: ClassVar[str] = ""
    must_kill: ClassVar[bool] = False
    touches: ClassVar[Touches] = "answer"
    needs: ClassVar[Sequence[Need]] = ()
    witness: ClassVar[str] = ""

    broken_on_purpose = True

    def __init__(self, inner: BoundStore, seed: int = 0) -> None:
        self.inner = inner
        self.seed = seed
        self._besides: list[tuple[str, str]] = []
        self.begin()

    def put(self, record: Record) -> Receipt:
        """Write one record."""
        return self.put_many([record])[0]

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write several records: what `written` puts in the place of each."""
        told = list(records)
        if type(self).written is Saboteur.written:
            return self.inner.put_many(told)
        parts = [list(self.written(record)) for record in told]
        flat = [one for part in parts for one in part]
        if len(flat) == len(told) and all(parts):
            return self.inner.put_many(flat)
        receipts = iter(self.inner.put_many(flat) if flat else ())
        said = [[next(receipts) for _ in part] for part in parts]
        self._besides += _besides(told, parts, said)
        return [
            part[0] if part else Receipt("stored", (record.id,))
            for record, part in zip(told, said, strict=True)
        ]

    def written(self, record: Record) -> Iterable[Record]:
        """What is written in the place of a record: itself, another, several, or nothing.

        What the store says of the first is said of the record; of nothing, that it is stored.
        """
        return (record,)

    def answer(self, view: View) -> list[Hit]:
        """Answer what is asked, best first."""
        return self.inner.search(view)

    def drop(self, store_id: str, scope: str) -> None:
        """Delete one record; asked for only where the store within has a ``delete``."""
        self.inner.delete(store_id, scope)

    def remove(self, store_id: str, scope: str) -> None:
        """Take away what memeval wrote, whatever the fault: nothing is left behind."""
        self.inner.delete(store_id, scope, within_limit=False)

    def begin(self) -> None:
        """Forget what belongs to the history before: a new one is written next.

        Called when it is made, too: what a saboteur remembers of a history it sets up here.
        """
        self._besides.clear()

    @classmethod
    def reset(cls) -> None:
        """Forget what all saboteurs of this kind share: a new run begins.

        Called by who asks a whole suite, before the first store is made. Only a fault that reaches
        from one history into another keeps anything in its class; `begin` leaves that alone.
        """

    def tidy(self) -> None:
        """Take away what this saboteur wrote besides, in a store that keeps what is written."""
        for store_id, scope in self._besides:
            self.inner.delete(store_id, scope, within_limit=False)
        self._besides.clear()

    def search(
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Ask as any store is asked."""
        return self.answer(View(query, k, scope, filter, now))

    @property
    def capabilities(self) -> Capabilities:
        """Those of the store within: it is held to what it declares."""
        return self.inner.capabilities

    @property
    def llm_calls(self) -> int | None:
        """Model calls of the store within."""
        return self.inner.llm_calls()

    def info(self) -> dict[str, Any]:
        """What the store within tells: a history written to it is the same history."""
        return dict(self.inner.info())

    def close(self) -> None:
        """Let go of the store within."""
        self.inner.close()

    def __getattr__(self, name: str) -> Any:
        """What a store need not have: there if the store within has it."""
        handed = _HANDED_ON.get(name)
        if handed is None or not self.inner.supports(name):
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        return getattr(self, handed) if handed.startswith("_") else getattr(self.inner, handed)

    def _delete(self, store_id: str, *, scope: str) -> None:
        self.drop(store_id, scope)

    def _clear(self) -> None:
        self.inner.clear()
        self.begin()

    @contextmanager
    def _scratch(self) -> Iterator[None]:
        self.begin()
        with self.inner.scratch():
            yield
        self.begin()

    def _snapshot(self) -> Any:
        """What the store within holds; with what is remembered beside it, which no bytes hold."""
        within = self.inner.snapshot()
        state = {name: told for name, told in vars(self).items() if name not in _NO_STATE}
        return Remembered(within, copy.deepcopy(state)) if state else within

    def _fork(self, snapshot: Any) -> Saboteur:
        known = isinstance(snapshot, Remembered)
        fork = type(self)(self.inner.forked(snapshot.within if known else snapshot), self.seed)
        vars(fork).update(copy.deepcopy(dict(snapshot.state)) if known else {})
        return fork

    @classmethod
    def lacks(cls, declared: Capabilities, supports: Callable[[str], bool]) -> str | None:
        """Say why the fault means nothing on a store; None where it does.

        Parameters
        ----------
        declared : Capabilities
            What the store declares.
        supports : callable
            ``supports(name)``: whether it has a method.
        """
        there: Mapping[Need, bool] = {
            "delete": supports("delete"),
            "supersedes": "supersedes" in declared.honours,
            "scoping": declared.scoping != "none",
            "score_order": declared.score_order is not None,
            "deterministic": declared.deterministic is True,
            "texts": not declared.rewrites,
        }
        return next((NEEDS[need] for need in cls.needs if not there[need]), None)

    @classmethod
    def skeleton(cls) -> str:
        """The probes that would kill it, as a probe file; empty where nobody wrote any."""
        if cls.witness:
            return cls.witness
        kept = files("memeval.stores.saboteurs").joinpath("witnesses", f"{cls.name}.yaml")
        return kept.read_text(encoding="utf-8") if kept.is_file() else ""


def _besides(
    told: Sequence[Record], parts: Sequence[Sequence[Record]], said: Sequence[Sequence[Receipt]]
) -> Iterator[tuple[str, str]]:
    """Ids and scopes of what nobody told to write, as the store has them."""
    for record, part, receipts in zip(told, parts, said, strict=True):
        for one, receipt in zip(part[1:], receipts[1:], strict=True):
            yield from ((i, one.scope) for i in receipt.store_ids if i != record.id)
