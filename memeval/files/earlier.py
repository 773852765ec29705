"""What became of the same probes in the runs that were kept before one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memeval.errors import RunFileError
from memeval.files.passing import Passing, passing_from, passing_of
from memeval.files.runfiles import FORMAT, VERSION, run_from
from memeval.files.saved import read_saved
from memeval.runs import Run
from memeval.times import parse_time

__all__ = ["MOST_READ", "Earlier", "EarlierRun", "earlier_runs"]

MOST_READ = 20
"""Files that are read at most: a report must not get slower with every run."""
_STAMPED = re.compile(r"\d{8}T\d{6}Z")
_WANTED = "a run file, such as memeval run leaves in .memeval/runs"


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """One run before: when it was made, and which of its probes passed.

    Attributes
    ----------
    at : str
        Its time in UTC, as in a manifest.
    probes : mapping
        By name: hash of the content, and whether it passed; None where it was not supported.
    """

    at: str
    probes: Passing


@dataclass(frozen=True, slots=True)
class Earlier:
    """The runs of one store before one of its runs.

    Attributes
    ----------
    runs : tuple of EarlierRun
        Oldest first.
    left_out : mapping of str to str
        By the name of a file: why it could not be read.
    """

    runs: tuple[EarlierRun, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


def earlier_runs(
    source: str | os.PathLike[str] | Iterable[Run], run: Run, *, limit: int = MOST_READ
) -> Earlier:
    """Gather what became of the probes in the runs before one.

    Parameters
    ----------
    source : str, path-like or iterable of Run
        A folder in which runs are kept, such as ``.memeval/runs``, or the runs themselves.
    run : Run
        The run that they came before. Only runs of a store of the same name that were made before
        it count; one of an invalid suite tells nothing.
    limit : int
        Files that are read at most, the newest by their names.

    Returns
    -------
    Earlier
        Without any run where there is no such folder. A file that cannot be read is left out and
        told in ``left_out``.

    Notes
    -----
    A file that holds the outcome of its probes is read and no more, some 3 ms for 105 probes; an
    older one is loaded and scored again.

    Examples
    --------
    >>> import memeval as me
    >>> probe = me.Probe("lunch", "Where is lunch?", [me.Record("r1", "Noodle bar.")], ["r1"])
    >>> earlier_runs("no-such-folder", me.run([probe], "sqlite"))
    Earlier(runs=(), left_out={})
    """
    if not isinstance(source, str | os.PathLike):
        made = [_of(one) for one in source if one is not run and _counts(one, run)]
        return Earlier(_before(made, run)[-limit:])
    left_out: dict[str, str] = {}
    read = [_read(path, run, left_out) for path in _newest(Path(source), run, limit)]
    return Earlier(_before([one for one in read if one is not None], run), left_out)


def _before(made: Iterable[EarlierRun], run: Run) -> tuple[EarlierRun, ...]:
    now = _moment(run.manifest.created_at)
    dated = [(_moment(one.at), one) for one in made]
    past = [(moment, one) for moment, one in dated if moment and moment < now]
    return tuple(one for _, one in sorted(past, key=lambda pair: pair[0]))


def _moment(at: str) -> str:
    """A time as text that sorts; empty where it is none."""
    try:
        return parse_time(at).isoformat()
    except (ValueError, TypeError, OverflowError, AttributeError):
        return ""


def _newest(folder: Path, run: Run, limit: int) -> list[Path]:
    """The files to read: those that are later by their names are passed over unread."""
    now = _moment(run.manifest.created_at).partition("+")[0]
    stamp = f"{re.sub('[-:]', '', now)}Z"
    there = [path for path in folder.glob("*.json") if path.is_file() and path.stat().st_size]
    past = [path for path in there if not (_STAMPED.match(path.name) and path.name >= stamp)]
    return sorted(past, key=lambda path: path.name, reverse=True)[:limit]


def _read(path: Path, run: Run, left_out: dict[str, str]) -> EarlierRun | None:
    try:
        payload = read_saved(path, _WANTED)
        if payload.get("format") != FORMAT or payload.get("version") != VERSION:
            raise RunFileError(f"{path}: is no run file of this version, wanted {_WANTED}")
        return _told(payload, path, run)
    except RunFileError as error:
        left_out[path.name] = str(error)
    return None


def _told(payload: Mapping[str, Any], path: Path, run: Run) -> EarlierRun | None:
    manifest, outcome = _mapping(payload.get("manifest")), _mapping(payload.get("outcome"))
    if manifest.get("store") != run.manifest.store or outcome.get("verdict") == "INVALID":
        return None
    probes, at = passing_from(outcome.get("probes")), manifest.get("created_at")
    if probes is not None and isinstance(at, str):
        return EarlierRun(at, probes)
    loaded = run_from(payload, path)
    return _of(loaded) if _counts(loaded, run) else None


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _counts(one: Run, run: Run) -> bool:
    return one.manifest.store == run.manifest.store and one.validity.status != "invalid"


def _of(run: Run) -> EarlierRun:
    return EarlierRun(run.manifest.created_at, passing_of(run))
