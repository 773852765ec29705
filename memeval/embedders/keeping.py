"""Vectors of texts that were embedded before, kept for when they come again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from memeval.embedders.base import Embedder, Vectors, listed, resolve_embedder, unit_rows
from memeval.errors import StoreError

KEPT_TEXTS, KEPT_LENGTH = 8192, 2048  # With 384 numbers a text at most some 30 megabytes.


class KeepingEmbedder:
    """Keeps the vectors of the latest texts that went through an embedder.

    The same haystack stands around many probes: what it says is embedded once. Threads may share
    it. A store asks it for records only: a query is embedded anew each time, so that the time of a
    search is the same whether or not it was asked before.

    Parameters
    ----------
    inner : Embedder
        The embedder.

    Examples
    --------
    >>> embedder = KeepingEmbedder(resolve_embedder("hash"))
    >>> embedder.embed(["the blue kiosk", ""]).any(axis=1).tolist()
    [True, False]
    """

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.name = inner.name
        self.dimension = inner.dimension
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Vectors] = OrderedDict()

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Turn texts into rows of length 1, or of zeros, by the embedder or from what is kept.

        Raises
        ------
        StoreError
            If the embedder returns anything but a row of finite numbers for each text.
        """
        wanted = listed(texts)
        rows = np.empty((len(wanted), self.dimension), np.float32)
        with self._lock:
            new = [text for text in dict.fromkeys(wanted) if text not in self._kept]
            made = dict(zip(new, embedded(self.inner, new), strict=True)) if new else {}
            for place, text in enumerate(wanted):
                rows[place] = made[text] if text in made else self._kept[text]
            self._keep(wanted, made)
        return rows

    def _keep(self, texts: Sequence[str], made: dict[str, Vectors]) -> None:
        for text in texts:
            if text in self._kept:
                self._kept.move_to_end(text)
            elif len(text) <= KEPT_LENGTH:
                self._kept[text] = made[text].copy()  # not a view, which keeps all of its batch
        while len(self._kept) > KEPT_TEXTS:
            self._kept.popitem(last=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.inner,)


def embedded(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Embed texts and check what came back.

    Parameters
    ----------
    embedder : Embedder
        Anybody's.
    texts : sequence of str
        At least one.

    Returns
    -------
    ndarray of float32, shape (n, dimension)
        Each row scaled to length 1; rows of zeros stay.

    Raises
    ------
    StoreError
        If it is not a row of finite numbers for each text.
    """
    returned = embedder.embed(texts)
    try:
        found = np.asarray(returned)
    except (TypeError, ValueError) as error:
        raise StoreError(
            f"embedder {embedder.name}: found rows that make no table ({error}), wanted numbers of "
            f"shape {(len(texts), embedder.dimension)}; return a row for each text"
        ) from error
    wanted = (len(texts), embedder.dimension)
    if found.shape != wanted or found.dtype.kind not in "fiu":
        raise StoreError(
            f"embedder {embedder.name}: found {found.dtype} of shape {found.shape} for "
            f"{len(texts)} texts, wanted numbers of shape {wanted}; return a row for each text"
        )
    bad = ~np.isfinite(found).all(axis=1)
    if bad.any():
        raise StoreError(
            f"embedder {embedder.name}: found a number that is not finite in the vector of "
            f"{texts[int(bad.argmax())]!r:.80}, wanted finite ones; return zeros for a text that "
            "cannot be embedded"
        )
    return unit_rows(found)


def keeping(embedder: str | Embedder) -> KeepingEmbedder:
    """Find an embedder as `resolve_embedder` does, and keep what it makes.

    Returns
    -------
    KeepingEmbedder
        One and the same for every call with the same short name, so that stores share it.

    Examples
    --------
    >>> keeping("hash") is keeping("hash")
    True
    """
    return _shared(embedder) if isinstance(embedder, str) else _checked(resolve_embedder(embedder))


@cache
def _shared(name: str) -> KeepingEmbedder:
    return KeepingEmbedder(resolve_embedder(name))


def _checked(embedder: Embedder) -> KeepingEmbedder:
    found = embedder.dimension
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise StoreError(
            f"embedder {embedder.name!r:.80}: dimension is {found!r:.80}, wanted a whole number "
            "from 1; say how many numbers a vector has"
        )
    return KeepingEmbedder(embedder)
