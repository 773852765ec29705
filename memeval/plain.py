"""Other people's values, made into what JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from memeval.errors import said
from memeval.words import clean

MOST_LEVELS = 20
MOST_DIGITS = 64


def plain(value: object, within: tuple[int, ...] = ()) -> Any:
    r"""Make a value of texts, finite numbers, true, false, null, lists and mappings of these.

    Parameters
    ----------
    value : object
        Whatever a store tells of itself.
    within : tuple of int
        Identities of what it stands in: nothing is written within itself.

    Returns
    -------
    object
        What is none of these is told as a text; what nests too deep, or holds itself, is cut.

    Examples
    --------
    >>> plain({"size": float("nan"), 5: (b"x", "half \ud800")})
    {'size': 'nan', '5': ["b'x'", 'half �']}
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean(str(value))
    if isinstance(value, int):
        return int(value) if value.bit_length() < MOST_DIGITS else hex(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return _inner(value, within)
    number = getattr(value, "item", None) if getattr(value, "ndim", None) == 0 else None
    alone = number() if callable(number) else None  # of numpy, in the words of Python
    return plain(alone) if isinstance(alone, int | float) else _told(value)


def _inner(value: Any, within: tuple[int, ...]) -> Any:
    if id(value) in within or len(within) >= MOST_LEVELS:
        return "..."
    inside = (*within, id(value))
    if isinstance(value, Mapping):
        return {_told(key): plain(entry, inside) for key, entry in value.items()}
    entries = [plain(entry, inside) for entry in value]
    return sorted(entries, key=str) if isinstance(value, set | frozenset) else entries


def _told(value: object) -> str:
    try:
        return clean(str(value))
    except Exception as error:  # an object of other people's may not even be told
        return f"a {type(value).__name__} ({said(error)})"
