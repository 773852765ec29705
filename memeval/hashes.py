"""One short name for any value that can be written as JSON."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from typing import Any


def digest(value: Any) -> str:
    r"""Hash a value by what it says, not by how it is written.

    Parameters
    ----------
    value : object
        Texts, numbers, booleans, None, and lists and mappings of them.

    Returns
    -------
    str
        The first 16 hexadecimal digits of SHA-256 over canonical JSON: keys sorted, texts in
        Unicode normal form C, UTF-8.

    Examples
    --------
    >>> digest({"b": 1, "a": [True]}) == digest({"a": [True], "b": 1})
    True
    >>> digest("caf\u00e9") == digest("cafe\u0301")
    True
    """
    written = _canonical(value)
    if not unicodedata.is_normalized("NFC", written):
        written = _canonical(_composed(value))
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _canonical(value: Any) -> str:
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


def _composed(value: Any) -> Any:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, Mapping):
        return {_composed(key): _composed(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_composed(entry) for entry in value]
    return value
