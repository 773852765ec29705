"""What memeval asks of a store: two methods, and what it declares of itself.

A store needs `put` and `search`. Everything else is optional and found by looking: ``put_many``,
``delete``, ``consolidate``, ``advance``, ``count``, ``clear``, ``scratch``, ``wait_visible``,
``close``, ``info``, ``n_bytes``, and a ``capabilities`` attribute. Each may be a coroutine function
instead.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Literal, Protocol, runtime_checkable

from memeval.errors import StoreError
from memeval.record import Hit, Receipt, Record

HONOURABLE = frozenset({"filter", "expires", "now", "supersedes"})
WORDS: dict[str, tuple[str | None, ...]] = {
    "ids": ("own", "meta", "assigned", "none"),
    "scoping": ("native", "client", "none"),
    "score_order": ("high", "low", None),
    "isolation": ("fresh", "clear", "fork", "namespace"),
    "consistency": ("immediate", "eventual"),
}
NAMES: dict[str, str] = {
    "sqlite": "memeval.stores.sqlite:SqliteStore",
    "sqlite-plain": "memeval.stores.sqlite:plain",
    "vector": "memeval.stores.vector:VectorStore",
    "vector-hash": "memeval.stores.vector:by_hash",
    "vector-minilm": "memeval.stores.vector:by_minilm",
    "hybrid": "memeval.stores.hybrid:HybridStore",
    "null": "memeval.stores.broken:NullStore",
    "random": "memeval.stores.broken:RandomStore",
    "newest": "memeval.stores.broken:NewestStore",
    "constant": "memeval.stores.broken:ConstantStore",
    "chroma": "memeval.stores.chroma:ChromaStore",
    "lancedb": "memeval.stores.lance:LanceStore",
    "langgraph": "memeval.stores.langgraph:LangGraphStore",
    "langgraph-sqlite": "memeval.stores.langgraph:by_sqlite",
    "mem0": "memeval.stores.mem0:Mem0Store",
    "pgvector": "memeval.stores.pgvector:PgVectorStore",
    "qdrant": "memeval.stores.qdrant:QdrantStore",
    "sqlite-vec": "memeval.stores.sqlite_vec:SqliteVecStore",
}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a store declares of itself; the defaults promise nothing.

    Attributes
    ----------
    ids : {'own', 'meta', 'assigned', 'none'}
        Whether a hit carries the id that was written, in its metadata, or only the store's own.
    scoping : {'native', 'client', 'none'}
        Who keeps scopes apart: the store, the adapter before it, or nobody.
    score_order : {'high', 'low'} or None
        Which scores are better; None where scores say nothing.
    rewrites, dedupes : bool
        The store changes texts, or merges records that it takes for one.
    deterministic : bool or None
        True: a different second answer is a broken contract. False: probes are repeated.
    honours : frozenset of str
        What the store acts on: ``filter``, ``expires``, ``now``, ``supersedes``.
    isolation : {'fresh', 'clear', 'fork', 'namespace'}
        How a probe gets a clean store: a new one, `clear`, `scratch`, or scopes of its own.
    thread_safe : bool
        Whether several threads may use one store.
    consistency : {'immediate', 'eventual'}
        Whether a write can be found at once.
    traceless : bool
        A promise that a search changes nothing: no counter, no later ranking. Only a store that can
        neither ``scratch`` nor ``fork`` needs it, to be evaluated in place.

    Raises
    ------
    StoreError
        If a field holds a word that it does not know.
    """

    ids: Literal["own", "meta", "assigned", "none"] = "own"
    scoping: Literal["native", "client", "none"] = "native"
    score_order: Literal["high", "low"] | None = None
    rewrites: bool = False
    dedupes: bool = False
    deterministic: bool | None = None
    honours: frozenset[str] = frozenset()
    isolation: Literal["fresh", "clear", "fork", "namespace"] = "fresh"
    thread_safe: bool = False
    consistency: Literal["immediate", "eventual"] = "immediate"
    traceless: bool = False

    def __post_init__(self) -> None:
        for name, known in WORDS.items():
            if getattr(self, name) not in known:
                raise StoreError(
                    f"capabilities: {name} is {getattr(self, name)!r}, wanted one of "
                    f"{', '.join(map(repr, known))}; use one of these words"
                )
        told = self.honours
        named = frozenset((told,) if isinstance(told, str) else told)
        if named - HONOURABLE:
            raise StoreError(
                f"capabilities: honours names {sorted(named - HONOURABLE)}, wanted some of "
                f"{sorted(HONOURABLE)}; leave out what the store does not act on"
            )
        object.__setattr__(self, "honours", named)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for the manifest."""
        return asdict(self) | {"honours": sorted(self.honours)}


def declared(store: object) -> Capabilities:
    """What a store declares, as an attribute or a method; the defaults where it does not.

    Raises
    ------
    StoreError
        If it declares something else than `Capabilities`.
    """
    told = getattr(store, "capabilities", None)
    told = told() if callable(told) else told
    if told is None:
        return Capabilities()
    if not isinstance(told, Capabilities):
        raise StoreError(
            f"capabilities is a {type(told).__name__}, wanted memeval.Capabilities(...); "
            "declare it with that class, or leave it out"
        )
    return told


@runtime_checkable
class Store(Protocol):
    """The two methods that every store has."""

    def put(self, record: Record, /) -> Any:
        """Write one record; return a `Receipt`, an id, a list of ids, or None."""
        ...

    def search(self, query: str, /, *, k: int, scope: str, **options: Any) -> Any:
        """Return at most k hits, best first; raise, and never return [], on a failure."""
        ...


class BaseStore:
    """Fallbacks for an adapter: derive from it and write `put` and `search`.

    Examples
    --------
    >>> class Words(BaseStore):
    ...     def __init__(self):
    ...         self.kept = []
    ...     def put(self, record):
    ...         self.kept.append(record)
    ...         return Receipt("stored", (record.id,))
    ...     def search(self, query, *, k, scope, filter=None, now=None):
    ...         wanted = set(query.lower().split())
    ...         mine = [r for r in self.kept if r.scope == scope]
    ...         found = [r for r in mine if wanted & set(r.text.lower().split())]
    ...         return [Hit(r.id, r.text) for r in found[:k]]
    >>> store = Words()
    >>> _ = store.put_many([Record("a", "blue kiosk"), Record("b", "red van")])
    >>> [hit.id for hit in store.search("kiosk", k=5, scope="default")]
    ['a']
    """

    capabilities: Capabilities = Capabilities()

    def put(self, record: Record) -> Receipt:
        """Write one record."""
        raise NotImplementedError(f"{type(self).__name__} has no put; write one")

    def search(
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Return at most k hits, best first."""
        raise NotImplementedError(f"{type(self).__name__} has no search; write one")

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write several records, in order."""
        return [self.put(record) for record in records]

    def close(self) -> None:
        """Let go of files and connections; nothing to do here."""

    def info(self) -> dict[str, Any]:
        """Name and settings, for the manifest."""
        return {"name": type(self).__name__}


def resolve(name: str | Callable[..., Any]) -> Callable[[], Any]:
    """Find the factory that a short name or ``"package.module:factory"`` stands for.

    Parameters
    ----------
    name : str or callable
        A callable is given back as it is. A text is a short name, a YAML file that declares a
        store, or ``"package.module:factory"``.

    Returns
    -------
    callable
        Called without arguments, it gives a fresh store.

    Raises
    ------
    StoreError
        If nothing of that name can be found; it says what was tried.

    Examples
    --------
    >>> resolve("null")().search("anything", k=5, scope="default")
    []
    """
    if callable(name):
        return name
    if not isinstance(name, str):
        raise StoreError(_not_a_factory(name))
    if name.endswith((".yaml", ".yml")) or (name not in NAMES and ":" not in name):
        return _declared(name)
    target = NAMES.get(name, name)
    module_name, colon, attribute = target.partition(":")
    if not colon or not module_name or not attribute:
        raise StoreError(_unknown(name))
    return _import_factory(name, module_name, attribute)


def _declared(name: str) -> Callable[[], Any]:
    """Factory of a store that a YAML file declares: one of your own, or one that ships."""
    from memeval.stores.declared import load_ready, load_store, ready

    if name.endswith((".yaml", ".yml")):
        return load_store(name)
    if name not in ready():
        raise StoreError(_unknown(name))
    return load_ready(name)


def _unknown(name: str) -> str:
    from memeval.stores.declared import ready

    near = get_close_matches(name, [*NAMES, *ready()], 1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return (
        f"store {name!r}: found neither a short name ({', '.join(sorted(NAMES))}; declared: "
        f"{', '.join(ready())}), nor FILE.yaml, nor 'package.module:factory'{meant or '; use one'}"
        f"{'' if meant else ' of these, such as my_app.memory:make_store'}"
    )


def _not_a_factory(found: object) -> str:
    kind = type(found).__name__
    return (
        f"make_store is a {kind} object, wanted a callable that gives a fresh store for each "
        f"probe; pass a factory, such as make_store=lambda: {kind}(...)"
    )


def _import_factory(name: str, module_name: str, attribute: str) -> Callable[[], Any]:
    try:
        found: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise StoreError(
            f"store {name!r}: tried to import {module_name}, and it failed ({error}); install the "
            "package, or run where it can be imported"
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            there = [n for n in dir(found) if not n.startswith("_") and callable(getattr(found, n))]
            raise StoreError(
                f"store {name!r}: {module_name} has no {part!r}, it has {', '.join(there[:8])}; "
                "name a class or function of it that gives a fresh store"
            )
        found = getattr(found, part)
    if not callable(found):
        raise StoreError(f"store {name!r}: {_not_a_factory(found)}")
    factory: Callable[[], Any] = found
    return factory
