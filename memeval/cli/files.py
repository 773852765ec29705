"""What a command leaves in the working folder, and what it finds there of earlier ones."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.cli.console import say
from memeval.errors import MemevalError, RunFileError

if TYPE_CHECKING:
    from memeval.runs import Run

RESULTS = "eval-results.json"
REPORT = "memeval-report.html"
SCHEMA = "memeval.schema.json"
NOTEBOOK = "page of a notebook"
# How the files that memeval writes begin, so that it writes over no others.
BEGINS = {
    RESULTS: re.compile(r'\A\s*\{\s*"commit"'),
    REPORT: re.compile(r"memeval report</title>"),
    NOTEBOOK: re.compile(r"memeval (notebook|report)</title>"),
    SCHEMA: re.compile(r'\A\s*\{\s*"\$schema"'),
}
HEAD = 1 << 16
HOME = Path(".memeval")
RUNS = HOME / "runs"


def check_target(path: str | Path, kind: str = RESULTS) -> Path:
    """Refuse a path that cannot or must not be written, before a run is paid for.

    Parameters
    ----------
    path : str or Path
        Where to write. A link is followed; what is no file on a disk, such as a pipe, is fine.
    kind : str
        Which of the files of memeval it shall be, by its default name.

    Raises
    ------
    MemevalError
        If it is a folder, or the folder around it is not there or may not be written to, or a
        file stands there that is no older one of this kind: probes are not written over.
    """
    check_place(path)
    target = Path(os.path.realpath(path))
    if os.path.exists(path) and not os.path.isfile(path):
        return Path(path)
    if target.exists() and not _is_older(target, kind):
        raise MemevalError(
            f"{path}: found a file that is no older {kind} of memeval, and would be lost; name "
            "another place, or remove it"
        )
    return Path(path)


def check_place(path: str | Path) -> None:
    """Refuse a path at which no file can be, or none may be written.

    Raises
    ------
    MemevalError
        If it is a folder, or the folder around it is not there or may not be written to.
    """
    target = Path(os.path.realpath(path))
    around = target.parent
    if target.is_dir():
        raise MemevalError(f"{path}: found a folder, wanted the name of a file; add one to it")
    if os.path.exists(path) and not os.path.isfile(path):
        return
    if not around.is_dir():
        raise MemevalError(f"{path}: there is no folder {around}; make it, or name another place")
    if not os.access(around, os.W_OK):
        raise MemevalError(f"{path}: the folder {around} is read-only; name another place")


def _is_older(path: Path, kind: str) -> bool:
    """Whether a file is empty, or of this kind by how it begins."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        head = file.read(HEAD)
    return not head.strip() or BEGINS[kind].search(head) is not None


def make_home() -> None:
    """Make the folder of what is kept, which git does not see."""
    HOME.mkdir(exist_ok=True)
    ignore = HOME / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


def keep_run(run: Run, *, texts: bool = True) -> Path:
    """Save a run in ``.memeval/runs``, which git does not see.

    Returns
    -------
    Path
        Relative to the working folder, named by UTC time and suite hash.
    """
    from memeval.files.runfiles import save_run

    make_home()
    RUNS.mkdir(exist_ok=True)
    path = _reserved(_stem(run))
    try:
        save_run(run, path, texts=texts)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _stem(run: Run) -> str:
    """UTC time to the second, and the hash of the suite; sorts by time."""
    moment = run.manifest.created_at.partition("+")[0]
    compact = moment.replace("-", "").replace(":", "")
    return f"{compact}Z-{run.manifest.suite_hash[:16]}"


def _reserved(stem: str) -> Path:
    """Make an empty file of a name that nobody has: two runs may end in one second."""
    path, n = RUNS / f"{stem}.json", 1
    while True:
        try:
            path.touch(exist_ok=False)
            return path
        except FileExistsError:
            n += 1
            path = RUNS / f"{stem}.{n}.json"


def failed_in_runs() -> frozenset[str] | None:
    """Names of the probes that failed when they were last asked; None where no run was kept.

    Runs of chosen probes count for these alone: the runs before them are read until one of
    a whole suite is met.
    """
    from memeval.files.runfiles import load_run

    there = [path for path in RUNS.glob("*.json") if path.is_file()] if RUNS.is_dir() else []
    kept = [path for path in there if path.stat().st_size]  # an empty one is being written
    kept.sort(key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)
    failed: dict[str, bool] = {}
    for path in kept:
        try:
            run = load_run(path)
        except RunFileError as error:
            say(f"passed over: {error}")
            continue
        lost = set(run.failing["probe"])
        failed = {name: name in lost for name in run.results["probe"]} | failed
        if not run.suite.chosen_of:
            break
    return frozenset(name for name, lost in failed.items() if lost) if kept else None


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
