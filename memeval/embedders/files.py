"""The data files of the embedders, read and checked."""

from __future__ import annotations

import hashlib
import zlib
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memeval.errors import StoreError

DATA = Path(__file__).resolve().parent / "data"
VOCABULARY, TABLE = "vocab.txt", "table.zlib"
DIMENSION = 128
# SHA-256 of what the files say: of the vocabulary as it stands, of the table unpacked.
SHA256 = {
    VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    TABLE: "0455334c138d7adbe898f09eba2dd84b5b7405c0a0fd0a097495939f7b7c24d2",
}


def checked(content: bytes, wanted: str, where: str, todo: str) -> bytes:
    """Give content back where its SHA-256 is the one wanted.

    Raises
    ------
    StoreError
        If it is another.
    """
    found = hashlib.sha256(content).hexdigest()
    if found != wanted:
        raise StoreError(f"{where}: found content with SHA-256 {found}, wanted {wanted}; {todo}")
    return content


def _read(name: str) -> bytes:
    try:
        return (DATA / name).read_bytes()
    except OSError as error:
        raise StoreError(
            f"{DATA / name}: found no file that can be read ({error}), wanted one that ships with "
            "memeval; reinstall memeval"
        ) from error


@cache
def vocabulary() -> dict[str, int]:
    """Pieces of words and their numbers, in order.

    Raises
    ------
    StoreError
        If the file is not the one that shipped.

    Examples
    --------
    >>> vocabulary()["[UNK]"], len(vocabulary())
    (100, 30522)
    """
    content = checked(
        _read(VOCABULARY), SHA256[VOCABULARY], str(DATA / VOCABULARY), "reinstall memeval"
    )
    return {piece: number for number, piece in enumerate(content.decode("utf-8").split("\n")[:-1])}


@cache
def table() -> NDArray[np.int8]:
    """A row for each piece of the vocabulary; zeros for those that say nothing.

    Returns
    -------
    ndarray of int8, shape (30522, 128)
        Not to be written to.

    Raises
    ------
    StoreError
        If the file is not the one that shipped.
    """
    packed = _read(TABLE)
    try:
        content = zlib.decompress(packed)
    except zlib.error as error:
        raise StoreError(
            f"{DATA / TABLE}: found a file that cannot be unpacked ({error}), wanted the one that "
            "ships with memeval; reinstall memeval"
        ) from error
    return unpacked(checked(content, SHA256[TABLE], str(DATA / TABLE), "reinstall memeval"))


def packed(rows: NDArray[np.int8]) -> tuple[bytes, bytes]:
    """Content of a table, and the same packed: numbers of one dimension stand together."""
    content = np.ascontiguousarray(rows.T).tobytes()
    return content, zlib.compress(content, 9)


def unpacked(content: bytes) -> NDArray[np.int8]:
    """Read the content of a table."""
    rows = np.frombuffer(content, np.int8).reshape(DIMENSION, -1)
    table = np.ascontiguousarray(rows.T)
    table.setflags(write=False)
    return table
