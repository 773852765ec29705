"""The runs that are kept in a folder, as a table."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from memeval.errors import RunFileError, said
from memeval.files.limits import checked_limit
from memeval.files.runfiles import load_run
from memeval.frames import KEPT_RUNS, conform, names

__all__ = ["DAMAGED", "kept_runs"]

DAMAGED = "DAMAGED"
"""What stands in the place of a verdict where the file cannot be read."""


def kept_runs(
    folder: str | os.PathLike[str] = ".memeval/runs", *, limit: int | None = None
) -> pd.DataFrame:
    """List the runs that are kept in a folder.

    Parameters
    ----------
    folder : str or path-like
        Where ``memeval run`` and ``memeval report`` keep them.
    limit : int, optional
        The newest so many, from 1; all by default.

    Returns
    -------
    pandas.DataFrame
        A row per ``.json`` file, newest first; columns as in `memeval.frames.KEPT_RUNS`. A file
        that cannot be read has the verdict ``"DAMAGED"``, no numbers, and a place by the time of
        the file; ``frame.attrs["damaged"]`` says why, by its name. Of an invalid suite the metrics
        are NA and the leaks 0: no number of it is shown.

    Raises
    ------
    RunFileError
        If there is no such folder.
    ValueError
        If `limit` is below 1 or not whole.

    Notes
    -----
    A file that holds its ``outcome`` (``verdict``, ``recall_all``, ``mrr`` and ``leaks``) is read
    and no more: some 3 ms for 105 probes. Any other is loaded and scored again, which takes some
    0.1 s; `limit` keeps that from the older ones.

    Examples
    --------
    >>> import tempfile
    >>> list(kept_runs(tempfile.mkdtemp()))[:4]
    ['run', 'at', 'store', 'verdict']
    """
    most = checked_limit(limit)
    place = Path(folder)
    if not place.is_dir():
        raise RunFileError(
            f"{place}: found no folder, wanted one with runs; memeval run keeps them in "
            ".memeval/runs of the folder that it is started in"
        )
    heads = [_head(path) for path in place.glob("*.json") if path.is_file()]
    heads.sort(key=lambda head: (head["moment"], head["run"]), reverse=True)
    damaged: dict[str, str] = {}
    rows = [_row(place / head["run"], head, damaged) for head in heads[:most]]
    frame = conform(pd.DataFrame(rows, columns=names(KEPT_RUNS)), KEPT_RUNS)
    frame.attrs["damaged"] = damaged
    frame.attrs["n_files"] = len(heads)
    return frame


def _head(path: Path) -> dict[str, Any]:
    """Name and time of a file, and what it says of its outcome."""
    try:
        payload = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):  # load_run says why, when it comes to this one
        payload = None
    manifest = _mapping(_mapping(payload).get("manifest"))
    made = _moment(manifest.get("created_at"))
    return {
        "run": path.name,
        "moment": made or _written(path),
        "at": made,
        "manifest": manifest,
        "outcome": _mapping(_mapping(payload).get("outcome")),
    }


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _moment(value: Any) -> str | None:
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (TypeError, ValueError, OverflowError):
        return None


def _written(path: Path) -> str:
    try:
        return datetime.fromtimestamp(int(path.stat().st_mtime), UTC).isoformat()
    except OSError:  # it has been removed in between
        return ""


def _row(path: Path, head: Mapping[str, Any], damaged: dict[str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {"run": head["run"], "at": head["at"], "n_probes": 0, "leaks": 0}
    try:
        return row | (_said(head) or _scored(path))
    except RunFileError as error:
        empty = "is empty: a run is being written there, or was stopped; remove it if none is"
        damaged[head["run"]] = empty if _is_empty(path) else str(error)
    return row | {"verdict": DAMAGED}


def _is_empty(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except OSError:
        return False


def _said(head: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the file says of its outcome; None where it does not, or not in such words."""
    outcome, manifest = head["outcome"], head["manifest"]
    word, leaks, probes = outcome.get("verdict"), outcome.get("leaks"), manifest.get("n_probes")
    if not isinstance(word, str) or not (_is_count(leaks) and _is_count(probes)):
        return None
    metrics = {name: outcome.get(name) for name in ("recall_all", "mrr")}
    if not all(value is None or _is_share(value) for value in metrics.values()):
        return None
    return _measured(manifest) | metrics | {"verdict": word, "leaks": leaks, "n_probes": probes}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _scored(path: Path) -> dict[str, Any]:
    """Load a run and let it say what it comes to."""
    try:
        run = load_run(path)
        word = run.verdict.word
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read ({said(error)})") from error
    manifest = {
        "store": run.manifest.store,
        "suite_hash": run.manifest.suite_hash,
        "environment": dict(run.manifest.environment),
    }
    valid = word != "INVALID"
    return _measured(manifest) | {
        "verdict": word,
        "n_probes": len(run.results),
        "recall_all": run.recall_at_k if valid else math.nan,
        "mrr": run.mrr if valid else math.nan,
        "leaks": run.leaks if valid else 0,
    }


def _measured(manifest: Mapping[str, Any]) -> dict[str, Any]:
    commit = _mapping(manifest.get("environment")).get("commit")
    told = {"store": manifest.get("store"), "suite_hash": manifest.get("suite_hash")}
    told["commit"] = commit
    return {name: value if isinstance(value, str) else None for name, value in told.items()}
