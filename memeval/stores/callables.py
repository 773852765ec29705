"""A memory that is two functions of yours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memeval.errors import StoreError
from memeval.stores.base import Capabilities

OPTIONAL = ("put_many", "delete", "consolidate", "advance", "count", "clear", "close", "info")


def from_functions(
    put: Callable[..., Any],
    search: Callable[..., Any],
    *,
    capabilities: Capabilities | None = None,
    **optional: Callable[..., Any],
) -> Callable[[], Any]:
    """Make a factory of stores from functions, sync or async.

    Parameters
    ----------
    put : callable
        ``put(record)``: an id, a list of ids, a `Receipt`, or None.
    search : callable
        ``search(query, *, k, scope)``: hits, best first.
    capabilities : Capabilities, optional
        What the store does. Functions speak of one store that is there already: by default each
        probe gets scopes of its own in it, and memeval deletes what it wrote, which takes a
        ``delete``; with a ``clear`` it is emptied instead.
    **optional
        Further methods of a store by their names, such as ``delete`` or ``count``.

    Returns
    -------
    callable
        For `memeval.run` and all that takes a store.

    Raises
    ------
    StoreError
        If one of them cannot be called, or no store has a method of that name.

    Examples
    --------
    >>> import memeval as me
    >>> kept = {}
    >>> make_store = from_functions(
    ...     lambda record: kept.update({record.id: record}),
    ...     lambda query, *, k, scope: [
    ...         (r.id, 1.0) for r in kept.values() if r.scope == scope and query in r.text][:k],
    ...     clear=kept.clear, count=lambda: len(kept))
    >>> probe = me.Probe("tea", "lapsang", [me.Record("r1", "My tea is lapsang.")], ["r1"])
    >>> me.run([probe], make_store).recall_at_k
    1.0
    """
    given = {"put": put, "search": search, **optional}
    for name, function in given.items():
        if name not in ("put", "search", *OPTIONAL):
            raise StoreError(f"no store has a method {name!r}; give some of {', '.join(OPTIONAL)}")
        if not callable(function):
            raise StoreError(f"{name} is a {type(function).__name__}, wanted a function")
    isolation = "clear" if "clear" in optional else "namespace"
    declared = capabilities or Capabilities(isolation=isolation)  # type: ignore[arg-type]
    methods = {name: staticmethod(function) for name, function in given.items()}
    return type("Functions", (), {**methods, "capabilities": declared})
