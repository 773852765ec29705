"""What a store of vectors holds, as bytes and back: JSON, then the matrix."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memeval.errors import StoreError
from memeval.stores.living import Living
from memeval.stores.sqlite_rows import Key, Row

MAGIC = b"memeval vectors 1\n"
_LENGTH = 8
Vectors = NDArray[np.float32]


def packed(living: Living, vectors: Vectors, settings: Mapping[str, Any]) -> bytes:
    """Write down what a store holds.

    Parameters
    ----------
    living : Living
        Its rows; they are written in the order of their ids.
    vectors : ndarray of float32, shape (n, d)
        A row for each, in that order.
    settings : mapping
        What the store was made with.
    """
    head = {
        "settings": dict(settings),
        "clock": living.clock,
        "rows": [_row(living.rows[name]) for name in in_order(living)],
        "replaced": [
            [_told(scope), _told(old), [_told(new) for new in sorted(news, key=_order)]]
            for scope in sorted(living.replaced, key=_order)
            for old, news in sorted(living.replaced[scope].items(), key=lambda one: _order(one[0]))
            if news
        ],
    }
    said = json.dumps(head, separators=(",", ":")).encode("ascii")
    return MAGIC + len(said).to_bytes(_LENGTH, "little") + said + vectors.astype("<f4").tobytes()


def in_order(living: Living) -> list[Key]:
    """Ids of the rows in the order of a snapshot, which is not the order of writing."""
    return sorted(living.rows, key=_order)


def unpacked(
    snapshot: bytes, dimension: int, settings: Mapping[str, Any]
) -> tuple[Living, Vectors]:
    """Read what a snapshot holds.

    Raises
    ------
    StoreError
        If it is none of a store of these settings.
    """
    if not isinstance(snapshot, bytes) or not snapshot.startswith(MAGIC):
        kind = type(snapshot).__name__
        raise StoreError(f"fork: found {kind} {snapshot!r:.20}, wanted bytes from snapshot()")
    start = len(MAGIC) + _LENGTH
    end = start + int.from_bytes(snapshot[len(MAGIC) : start], "little")
    try:
        head = json.loads(snapshot[start:end])
    except ValueError as error:
        raise _cut_short(snapshot) from error
    if head["settings"] != dict(settings):
        raise StoreError(
            f"fork: found the snapshot of a store made with {head['settings']}, wanted "
            f"{dict(settings)}; give it to a store with the settings it was made with"
        )
    if len(snapshot) - end != 4 * dimension * len(head["rows"]):
        raise _cut_short(snapshot)
    vectors = np.frombuffer(snapshot, "<f4", offset=end).reshape(-1, dimension)
    return _living(head), vectors.astype(np.float32)


def _cut_short(snapshot: bytes) -> StoreError:
    return StoreError(
        f"fork: found {len(snapshot)} bytes that do not end where they say, wanted bytes as they "
        "came from snapshot(); take a new one"
    )


def _living(head: Mapping[str, Any]) -> Living:
    living = Living()
    living.clock = head["clock"]
    for row in map(_read_row, head["rows"]):
        living.rows[row.id] = row
    for scope, old, news in head["replaced"]:
        living.replaced.setdefault(_read(scope), {})[_read(old)] = set(map(_read, news))
    return living


def _row(row: Row) -> list[Any]:
    # What a row replaces is written with the rest of it: it is no property of the row alone.
    return [_told(row.id), _told(row.scope), row.text, row.at, row.expires, row.meta]


def _read_row(fields: list[Any]) -> Row:
    name, scope, text, at, expires, meta = fields
    return Row(_read(name), _read(scope), text, at, expires, meta, ())


def _told(name: Key) -> str | list[str]:
    return name if isinstance(name, str) else [name.hex()]


def _read(told: str | list[str]) -> Key:
    return told if isinstance(told, str) else bytes.fromhex(told[0])


def _order(name: Key) -> tuple[bool, Key]:
    return isinstance(name, bytes), name
