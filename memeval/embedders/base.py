"""What memeval asks of an embedder, and the short names of its own."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memeval.errors import StoreError

Vectors = NDArray[np.float32]
NAMES: dict[str, str] = {
    "hash": "memeval.embedders.hashed:HashEmbedder",
    "table": "memeval.embedders.table:TableEmbedder",
    "minilm": "memeval.embedders.onnx:OnnxEmbedder",
}


@runtime_checkable
class Embedder(Protocol):
    """What a store needs of an embedder.

    Attributes
    ----------
    name : str
        Which one, and of which version: vectors of two names are never compared.
    dimension : int
        Numbers in a vector.
    """

    @property
    def name(self) -> str:
        """Which one, and of which version."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Turn n texts into float32 of shape (n, dimension), each row of length 1.

        A text in which there is nothing to embed has a row of zeros. The row of a text must not
        depend on the texts beside it.
        """
        ...


def listed(texts: Sequence[str]) -> list[str]:
    """Give texts as a list.

    Raises
    ------
    StoreError
        If it is one string, or holds anything but strings.
    """
    if isinstance(texts, str):
        raise StoreError("embed: found one string, wanted a list of texts; give [text]")
    found = list(texts)
    for place, text in enumerate(found):
        if not isinstance(text, str):
            raise StoreError(
                f"embed: text {place} is a {type(text).__name__}, wanted a string; write it as one"
            )
    return found


def unit_rows(rows: NDArray[Any]) -> Vectors:
    """Scale rows to length 1; a row of zeros stays.

    Parameters
    ----------
    rows : ndarray, shape (n, d)
        Finite numbers.

    Returns
    -------
    ndarray of float32, shape (n, d)
        Worked out in float64, each row on its own.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    exact = np.asarray(rows, np.float64)
    top = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    scaled = exact / np.where(top > 0, top, 1.0)  # no square of a large or tiny number overflows
    lengths = np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    return (scaled / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def resolve_embedder(name: str | Embedder) -> Embedder:
    """Find the embedder that a short name stands for.

    Parameters
    ----------
    name : {'hash', 'table', 'minilm'} or Embedder
        An embedder is given back as it is.

    Returns
    -------
    Embedder
        One and the same for every call with the same name.

    Raises
    ------
    StoreError
        If there is none of that name, its files are not as they must be, or what it needs is not
        installed.

    Examples
    --------
    >>> resolve_embedder("hash").dimension
    512
    """
    if isinstance(name, str):
        if name in NAMES:
            return _shared(name)
    elif not isinstance(name, type) and isinstance(name, Embedder):
        return name
    raise StoreError(
        f"embedder: found {name!r:.80}, wanted one of {', '.join(map(repr, NAMES))}, or an object "
        "with name, dimension and embed(texts); use one of these"
    )


@cache
def _shared(name: str) -> Embedder:
    module, _, attribute = NAMES[name].partition(":")
    made: Embedder = getattr(importlib.import_module(module), attribute)()
    return made
