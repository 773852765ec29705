"""What a command leaves in the working folder, and what it finds there of earlier ones."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.errors import MemevalError, RunFileError

if TYPE_CHECKING:
    from memeval.runs import Run

RESULTS = "eval-results.json"
REPORT = "memeval-report.html"
HOME = Path(".memeval")
RUNS = HOME / "runs"


def check_target(path: str | Path) -> Path:
    """Refuse a path that cannot be written, before a run is paid for.

    Raises
    ------
    MemevalError
        If it is a folder, or the folder around it is not there or may not be written to.
    """
    target = Path(path)
    around = target.parent
    if target.is_dir():
        raise MemevalError(f"{path}: found a folder, wanted the name of a file; add one to it")
    if not around.is_dir():
        raise MemevalError(f"{path}: there is no folder {around}; make it, or name another place")
    if not os.access(around, os.W_OK):
        raise MemevalError(f"{path}: the folder {around} is read-only; name another place")
    return target


def keep_run(run: Run, *, texts: bool = True) -> Path:
    """Save a run in ``.memeval/runs``, which git does not see.

    Returns
    -------
    Path
        Relative to the working folder, named by UTC time and suite hash.
    """
    from memeval.runfiles import save_run

    RUNS.mkdir(parents=True, exist_ok=True)
    ignore = HOME / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    path = _free(_stem(run))
    save_run(run, path, texts=texts)
    return path


def _stem(run: Run) -> str:
    """UTC time to the second, and the hash of the suite; sorts by time."""
    moment = run.manifest.created_at.partition("+")[0]
    compact = moment.replace("-", "").replace(":", "")
    return f"{compact}Z-{run.manifest.suite_hash[:16]}"


def _free(stem: str) -> Path:
    """Find a path that is not there yet: two runs may end in one second."""
    path, n = RUNS / f"{stem}.json", 1
    while path.exists():
        n += 1
        path = RUNS / f"{stem}.{n}.json"
    return path


def last_run_file() -> Path | None:
    """Newest run file that was kept; None where there is none."""
    kept = [path for path in RUNS.glob("*.json") if path.is_file()] if RUNS.is_dir() else []
    return max(kept, key=lambda path: (path.stat().st_mtime_ns, path.name), default=None)


def failed_in_results(path: Path) -> frozenset[str]:
    """Names of the probes that did not pass, by a results file.

    Raises
    ------
    RunFileError
        If it is not there, or tells nothing of single probes.
    """
    advice = "run once without --failed-last"
    try:
        payload = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise RunFileError(
            f"--failed-last: found no run in {RUNS.as_posix()} and no {path}; {advice}"
        ) from error
    except ValueError as error:
        raise RunFileError(f"{path}: is not JSON ({error}); {advice}") from error
    per_probe = payload.get("per_probe") if isinstance(payload, dict) else None
    if not isinstance(per_probe, dict):
        raise RunFileError(f"{path}: tells nothing of single probes; {advice}")
    return frozenset(name for name, entry in per_probe.items() if _failed(entry))


def _failed(entry: object) -> bool:
    if not isinstance(entry, dict):
        return True
    if entry.get("status") == "not_supported":
        return False
    return not entry.get("hit") or bool(entry.get("leaked")) or entry.get("status") != "ok"
