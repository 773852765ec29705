"""A folder of evaluation calls: ``request-001.json``, what became of each probe, the answers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from memeval.atomic import write_whole
from memeval.callids import Ids
from memeval.calls import Calls
from memeval.errors import MemevalError, RunFileError

__all__ = ["INDEX", "read_answers", "read_calls", "read_ids", "write_calls"]

INDEX = "calls.json"
SCHEMA = "memeval calls 2"


def write_calls(calls: Calls, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the bodies, and last an index that says which probe each case is.

    Parameters
    ----------
    calls : Calls
        From `memeval.calls.requests_of`.
    folder : str or path-like
        Where to; made where it is not there.

    Returns
    -------
    list of Path
        The bodies.

    Raises
    ------
    MemevalError
        If the folder holds calls or answers already, or cannot be written to.
    """
    place = Path(folder)
    there = sorted(one.name for one in place.glob("*.json")) if place.is_dir() else []
    if there:
        raise MemevalError(
            f"{place}: holds {there[0]} already, wanted an empty folder; name another one"
        )
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MemevalError(
            f"cannot make the folder {place} ({error.strerror or error}); name another one"
        ) from error
    written = []
    for n, body in enumerate(calls.requests, start=1):
        written.append(write_whole(place / f"request-{n:03}.json", _json(body)))
    told = {
        "schema": SCHEMA,
        "suite_hash": calls.suite_hash,
        "probes": [list(names) for names in calls.probes],
        "left_out": dict(calls.left_out),
        "notes": list(calls.notes),
        "ids": {name: dict(known) for name, known in calls.ids.items()},
        "contents": dict(calls.contents),
    }
    write_whole(place / INDEX, _json(told))
    return written


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_calls(folder: str | os.PathLike[str]) -> Calls:
    """Read what `write_calls` wrote.

    Raises
    ------
    RunFileError
        If a file is missing or is not what was written.
    """
    place = Path(folder)
    told = _read(place / INDEX)
    if not isinstance(told, dict) or told.get("schema") != SCHEMA:
        raise RunFileError(f"{place / INDEX}: found no index of calls; write them again")
    names = tuple(map(tuple, told["probes"]))
    bodies = tuple(_read(place / f"request-{n:03}.json") for n in range(1, len(names) + 1))
    of = (told["ids"], told["suite_hash"], told["contents"])
    return Calls(bodies, names, told["left_out"], tuple(told["notes"]), *of)


def read_answers(folder: str | os.PathLike[str], calls: Calls) -> list[Any]:
    """Read ``answer-001.json`` and so on, one for each body.

    Raises
    ------
    RunFileError
        If one is missing or is no JSON.
    """
    names = [f"answer-{n:03}.json" for n in range(1, len(calls.requests) + 1)]
    return [_read(Path(folder) / name) for name in names]


def read_ids(path: str | os.PathLike[str]) -> Ids:
    """Read the store's ids: for each probe an object from record to id.

    Raises
    ------
    RunFileError
        If it is not that.
    """
    told = _read(Path(path))
    good = isinstance(told, dict) and all(
        isinstance(known, dict) and all(isinstance(one, str) and one for one in known.values())
        for known in told.values()
    )
    if not good:
        raise RunFileError(
            f'{path}: wanted an object such as {{"probe": {{"r1": "m-81"}}}}: for each probe the '
            "store's id of each record"
        )
    ids: Ids = told
    return ids


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise RunFileError(f"{path}: is not there; save it under that name") from error
    except (ValueError, RecursionError) as error:
        raise RunFileError(f"{path}: is no JSON in UTF-8 ({str(error)[:200]})") from error
