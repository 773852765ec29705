"""What a check of a store found, told to a run where the store itself says nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from memeval.runs import Manifest
from memeval.stores.base import Capabilities, declared


class Check(Protocol):
    """What a run needs of a check, such as `memeval.StoreCheck`."""

    def applied(self, factory: Callable[[], Any]) -> Checked:
        """The factory of a store, whose stores declare what was found where they say nothing."""


@dataclass(frozen=True)
class Checked:
    """Gives the stores of a factory, with what was found of them filled in.

    Parameters
    ----------
    factory : callable
        Gives a fresh store of the user's.
    found : Capabilities
        What a check found.
    notes : tuple of str
        What the check came to, for the manifest.
    told : mapping
        The same as plain values.

    Notes
    -----
    A store that declares anything of itself is taken at its word: only ``deterministic`` is filled
    in where it is None and answers were seen to change.
    """

    factory: Callable[[], Any]
    found: Capabilities
    notes: tuple[str, ...] = ()
    told: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self) -> Any:
        """Make a store; one that is made by a coroutine stays so."""
        made = self.factory()
        if inspect.isawaitable(made) and not hasattr(made, "put"):
            return self._later(made)
        return self._filled(made)

    async def _later(self, made: Any) -> Any:
        return self._filled(await made)

    def _filled(self, store: Any) -> Any:
        told = getattr(store, "capabilities", None)
        known = None if told is None else declared(store)
        wanted = filled(known, self.found)
        if wanted != known:
            try:
                store.capabilities = wanted
            except (AttributeError, TypeError):  # no place for it, such as with __slots__
                return _Telling(store, wanted)
        return store

    def noted(self, manifest: Manifest) -> Manifest:
        """A manifest that says what the check came to."""
        options = dict(manifest.options) | {"store_check": dict(self.told)}
        return replace(manifest, notes=(*manifest.notes, *self.notes), options=options)


class _Telling:
    """A store that declares what it is told to."""

    def __init__(self, inner: Any, capabilities: Capabilities) -> None:
        self.inner = inner
        self.capabilities = capabilities

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # not there yet while being copied or unpickled
            raise AttributeError(name)
        return getattr(self.inner, name)


def filled(told: Capabilities | None, found: Capabilities) -> Capabilities:
    """What a store declares, and what was found where it says nothing.

    Parameters
    ----------
    told : Capabilities or None
        As declared; None, and the defaults, say nothing.
    found : Capabilities
        What a check found.

    Examples
    --------
    >>> filled(None, Capabilities(scoping="none")).scoping
    'none'
    >>> filled(Capabilities(score_order="high"), Capabilities(scoping="none")).scoping
    'native'
    """
    if told is None or told == Capabilities():
        return found
    if told.deterministic is None and found.deterministic is False:
        return replace(told, deterministic=False)
    return told
