"""An embedder that needs nothing: words and parts of words, hashed into a vector."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memeval.embedders.base import Vectors, listed, unit_rows
from memeval.errors import StoreError
from memeval.text import content_words

WIDTHS = (3, 4)


class HashEmbedder:
    """Counts the words of a text and their runs of 3 and 4 characters, at hashed places.

    It finds the same words, other forms of them, and misspellings of them; of meaning it knows
    nothing.

    Parameters
    ----------
    dimension : int
        Numbers in a vector, from 1.

    Raises
    ------
    StoreError
        If the dimension is no whole number from 1.

    Notes
    -----
    Each word of `memeval.text.content_words`, once, and each run of 3 and of 4 characters of
    ``<word>``, adds +1 or -1 at one place, both taken from its BLAKE2b hash (the hashing trick,
    Weinberger and others 2009, https://arxiv.org/abs/0902.2206). Sums of whole numbers are exact:
    the same text has the same vector everywhere.

    Examples
    --------
    >>> one, other, far = HashEmbedder().embed(["blue kiosk", "Kiosks, blue", "a red van"])
    >>> bool(one @ other > 0.5 > one @ far)
    True
    """

    def __init__(self, dimension: int = 512) -> None:
        if not isinstance(dimension, int) or isinstance(dimension, bool) or dimension < 1:
            raise StoreError(f"dimension is {dimension!r}, wanted a whole number from 1; pass one")
        self.dimension = dimension
        self.name = f"hash-{dimension}"

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Turn texts into rows of length 1, or of zeros for one of function words only.

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
        wanted = listed(texts)
        counts = np.zeros((len(wanted), self.dimension))
        for row, text in zip(counts, wanted, strict=True):
            words = [_hashed(word) for word in content_words(text)]
            if words:
                places, signs = map(np.concatenate, zip(*words, strict=True))
                row[:] = np.bincount(places % self.dimension, signs, self.dimension)
        return unit_rows(counts)


@lru_cache(maxsize=16384)
def _hashed(word: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    hashes = [
        int.from_bytes(hashlib.blake2b(part.encode("utf-8"), digest_size=8).digest(), "little")
        for part in _parts(word)
    ]
    places = np.array([value >> 1 & (2**62 - 1) for value in hashes], np.int64)
    return places, np.array([1.0 if value & 1 else -1.0 for value in hashes])


def _parts(word: str) -> Iterator[str]:
    yield f" {word}"  # a word of three letters is no run of three
    framed = f"<{word}>"
    for width in WIDTHS:
        for start in range(len(framed) - width + 1):
            yield framed[start : start + width]
