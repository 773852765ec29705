"""An embedder that looks words up in a small table made from a sentence model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from memeval.embedders.base import Vectors, listed, unit_rows
from memeval.embedders.files import DIMENSION, SHA256, TABLE, table, vocabulary
from memeval.embedders.wordpiece import WordPiece


class TableEmbedder:
    """Adds up one vector for each piece of a text, from the table that ships with memeval.

    It finds words of like meaning ("tea", "brew") without any model to run; of the order of words
    it knows nothing. English only.

    Raises
    ------
    StoreError
        If a file of it is not the one that shipped.

    Notes
    -----
    The table is made by `memeval.embedders.distil` from all-MiniLM-L6-v2. Its weights make rare
    pieces count more. Sums of whole numbers are exact: the same text has the same vector
    everywhere, whatever stands beside it.

    Examples
    --------
    >>> embedder = TableEmbedder()
    >>> tea, drink, van = embedder.embed(["favourite tea", "a hot drink", "the red van"])
    >>> bool(tea @ drink > tea @ van)
    True
    """

    def __init__(self) -> None:
        table()  # a damaged file is told here, and not by a search
        self.dimension = DIMENSION
        self.name = f"table-{SHA256[TABLE][:8]}"

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Turn texts into rows of length 1, or of zeros for one with no piece known.

        Parameters
        ----------
        texts : sequence of str
            Any texts.

        Returns
        -------
        ndarray of float32, shape (n, dimension)
            The row of a text does not depend on the texts beside it.

        Raises
        ------
        StoreError
            If it is one string, or holds anything but strings.
        """
        return summed(table(), listed(texts))


@cache
def cutter() -> WordPiece:
    """The cutter of texts for the vocabulary that ships, with what it has cut."""
    return WordPiece(vocabulary())


def summed(rows: NDArray[np.int8], texts: Sequence[str]) -> Vectors:
    """Add up the rows of the pieces of each text and scale the sums to length 1.

    Parameters
    ----------
    rows : ndarray of int8, shape (pieces, d)
        A table.
    texts : sequence of str
        Any texts.

    Returns
    -------
    ndarray of float32, shape (n, d)
    """
    sums = np.zeros((len(texts), rows.shape[1]), np.int64)
    for total, text in zip(sums, texts, strict=True):
        pieces = rows.take(cutter().pieces(text), axis=0)
        pieces.sum(axis=0, dtype=np.int64, out=total)
    return unit_rows(sums)
