"""Make the table of `memeval.embedders.table` from the sentence model: run as a module.

``python -m memeval.embedders.distil`` needs the extra ``semantic``; it prints size, hash and
quality of what it makes and, with ``--write``, puts it into the package (the hash that it must have
stands in `memeval.embedders.files`).

Every piece of the vocabulary goes through the model alone, between the marks for the beginning and
the end of a text. The vectors are centred, turned to their 128 main directions, weighted, and
rounded to whole numbers from -127 to 127 with one scale for all, so that the later directions take
few bits. It is the recipe of Model2Vec (https://github.com/MinishLab/model2vec) but for two things
that were measured on 70 pairs, 30 of them not those that ship:

- A vector is the mean over the beginning and the piece. With the end, which says little of the
  piece, the mean reciprocal rank is .68 instead of .78.
- A weight is ln(1 + rank), since the vocabulary stands in the order of how frequent a word is: the
  rank is counted from the first word, "the". Counted from the first entry of the vocabulary, so
  that frequent and rare words weigh nearly the same, and with the end, it is .51. Marks weigh
  nothing, and lone letters and digits, which stand before the words, as much as a word of rank 54.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memeval.embedders.files import DATA, DIMENSION, SHA256, TABLE, packed, vocabulary
from memeval.embedders.quality import line, measured_rows
from memeval.embedders.table import summed

if TYPE_CHECKING:
    from memeval.embedders.onnx import OnnxEmbedder

BATCH = 256
FIRST_WORD = "the"
LONE_CHARACTER = 4.0
_MARK = re.compile(r"\[.+\]")  # "[PAD]", "[unused17]" and the like


def distilled(model: OnnxEmbedder) -> NDArray[np.int8]:
    """Make the table.

    Parameters
    ----------
    model : OnnxEmbedder
        With one thread the same machine makes the same table; another kind of processor may round
        a few numbers to their neighbours.

    Returns
    -------
    ndarray of int8, shape (30522, 128)
        Zeros for what is no piece of a text.
    """
    numbers = vocabulary()
    places = np.array([n for piece, n in numbers.items() if not _MARK.fullmatch(piece)], np.int64)
    batches = (places[start : start + BATCH] for start in range(0, len(places), BATCH))
    vectors = np.vstack([_alone(model, numbers, batch) for batch in batches])
    weighted = turned(vectors)[:, :DIMENSION] * weights(numbers)[places, None]
    rows = np.zeros((len(numbers), DIMENSION), np.int8)
    rows[places] = np.rint(weighted * (127 / np.abs(weighted).max())).astype(np.int8)
    return rows


def _alone(
    model: OnnxEmbedder, numbers: Mapping[str, int], places: NDArray[np.int64]
) -> NDArray[np.float64]:
    marked = np.empty((len(places), 3), np.int64)
    marked[:] = numbers["[CLS]"], 0, numbers["[SEP]"]
    marked[:, 1] = places
    vectors: NDArray[np.float64] = model.states(marked)[:, :2].mean(axis=1, dtype=np.float64)
    return vectors


def weights(numbers: Mapping[str, int]) -> NDArray[np.float64]:
    """Weight of each piece, by its place in the vocabulary.

    Examples
    --------
    >>> weights({"!": 0, "a": 1, "the": 2, "of": 3}).round(2).tolist()
    [0.0, 4.0, 0.69, 1.1]
    """
    first = numbers[FIRST_WORD]
    found = np.log1p(np.maximum(np.arange(len(numbers)) - first + 1, 0))
    lone = [number for piece, number in numbers.items() if number < first and piece.isalnum()]
    found[lone] = LONE_CHARACTER
    return found


def turned(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centre vectors and turn them to their main directions, the widest first.

    Notes
    -----
    The singular value decomposition by way of the scatter matrix. A direction points to where its
    largest part is positive, since a library may give either way.
    """
    centred = vectors - vectors.mean(axis=0)
    directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    turned: NDArray[np.float64] = centred @ (directions * np.sign(largest))
    return turned


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the table, say what it is, and write it where that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m memeval.embedders.distil")
    parser.add_argument("--write", action="store_true", help="put the table into the package")
    asked = parser.parse_args(arguments)
    from memeval.embedders.onnx import OnnxEmbedder

    rows = distilled(OnnxEmbedder())
    content, small = packed(rows)
    found = hashlib.sha256(content).hexdigest()
    same = "as recorded" if found == SHA256[TABLE] else f"recorded is {SHA256[TABLE]}"
    quality = measured_rows(lambda texts: summed(rows, texts))
    sys.stdout.write(
        f"table: {len(content):,} bytes, packed {len(small):,}\nsha256: {found} ({same})\n"
        f"{line('embedder')}\n{line('table', DIMENSION, quality)}\n"
    )
    if asked.write:
        (DATA / TABLE).write_bytes(small)
        sys.stdout.write(f"written: {TABLE}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
