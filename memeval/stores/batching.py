"""Whether a store writes batches by a method of its own."""

from __future__ import annotations

from memeval.stores.base import BaseStore


def batching(store: object) -> bool:
    """Whether a store has a ``put_many`` of its own; see `BoundStore.batches`."""
    own = getattr(store, "put_many", None)
    if not callable(own) or getattr(own, "__func__", None) is BaseStore.put_many:
        return False
    return _depth(store, "put_many") <= _depth(store, "put")


def _depth(store: object, name: str) -> float:
    """How far up its classes a store finds a method; infinite where it is handed through."""
    if name in getattr(store, "__dict__", ()):
        return 0
    for n, kind in enumerate(type(store).__mro__, 1):
        if name in kind.__dict__:
            return n
    return float("inf")
