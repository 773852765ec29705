"""The JSON files that memeval keeps: read strictly, written so that they diff well."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from memeval.atomic import write_whole
from memeval.checks.kinds import shown
from memeval.errors import RunFileError, said
from memeval.text import clean

DECIMALS = 6
"""Decimals of the small files, and of whatever is compared with them."""

# A line of JSON never begins so: it has no raw line ends within a text.
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?=[ \r\n]|\Z)", re.MULTILINE)


def read_saved(path: str | os.PathLike[str], wanted: str) -> dict[str, Any]:
    """Read a JSON file that holds one mapping.

    Parameters
    ----------
    path : str or path-like
        The file; UTF-8, with or without a byte-order mark.
    wanted : str
        What it should be, for messages.

    Returns
    -------
    dict
        Plain values; half characters are replaced.

    Raises
    ------
    RunFileError
        If it cannot be read, is empty, has the marks of a merge conflict, is not strict JSON
        (NaN and infinity are not), names a key twice, nests too deep, or holds no mapping.
    """
    text = _text(path, wanted)
    if mark := _CONFLICT.search(text):
        line = text.count("\n", 0, mark.start()) + 1
        raise RunFileError(
            f"{path}:{line}: found the marks of a merge conflict, wanted {wanted}: two branches "
            "changed it, such as by accepting different baselines; take one side (git checkout "
            f"--ours {path}, or --theirs), run 'memeval report', then 'memeval accept --reason ...'"
        )
    if not text.strip():
        raise RunFileError(f"{path}: is empty, wanted {wanted}; make it again, or name another")
    try:
        payload = parsed(text)
        if "\\ud" in text.lower():  # half characters, which no file that memeval writes can hold
            payload = parsed(clean(json.dumps(payload, ensure_ascii=False)))
    except (ValueError, RecursionError) as error:
        raise RunFileError(
            f"{path}: is not JSON that can be used ({said(error)}); wanted {wanted}; take the file "
            "from the history of your repository, make it again, or name another"
        ) from error
    if not isinstance(payload, dict):
        raise RunFileError(f"{path}: holds {shown(payload)}, wanted {wanted}; name another")
    return payload


def _text(path: str | os.PathLike[str], wanted: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except IsADirectoryError as error:
        raise RunFileError(f"{path}: found a folder, wanted {wanted}; name a file in it") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise RunFileError(
            f"{path}: cannot be read ({reason or said(error)}); wanted {wanted}; name one"
        ) from error


def parsed(text: str) -> Any:
    """Values of strict JSON; a `ValueError` for NaN, infinity, and a key that stands twice."""
    return json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {shown(twice)} stands there twice")
    return made


def write_lines(
    path: str | os.PathLike[str], payload: Mapping[str, Any], spread: Collection[str]
) -> Path:
    """Write a mapping a line per key, replaced as a whole.

    Parameters
    ----------
    path : str or path-like
        Where to.
    payload : mapping
        Values for JSON.
    spread : collection of str
        Keys of mappings that are written a line per key as well.

    Returns
    -------
    Path
        The absolute path.
    """
    return write_whole(path, in_lines(payload, spread))


def in_lines(payload: Mapping[str, Any], spread: Collection[str]) -> str:
    r"""JSON text of a mapping, a line per key.

    Examples
    --------
    >>> print(in_lines({"probes": 1, "per_probe": {"lunch": {"hit": True}}}, ["per_probe"]), end="")
    {
      "probes": 1,
      "per_probe": {
        "lunch": {"hit": true}
      }
    }
    """
    lines = []
    for name, value in payload.items():
        inner = strict(value)
        if name in spread and value:
            rows = ",\n".join(f"    {strict(key)}: {strict(v)}" for key, v in value.items())
            inner = f"{{\n{rows}\n  }}"
        lines.append(f"  {strict(name)}: {inner}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def strict(value: Any) -> str:
    """JSON that any parser takes: no NaN, no infinity."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    """What a store may have put into its info, in words that JSON has."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return dict(value) if isinstance(value, Mapping) else str(value)


def rounded(value: float) -> float | int | None:
    """Round to the decimals of the small files; None where undefined.

    Examples
    --------
    >>> rounded(2 / 3), rounded(float("nan")), rounded(4)
    (0.666667, None, 4)
    """
    if isinstance(value, int):
        return value
    return round(float(value), DECIMALS) if math.isfinite(value) else None
