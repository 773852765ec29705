"""How long the history of a results file takes, and what it is made of.

The repository is made first, and its making is not counted. Wall time, since most of it is spent by
git: two processes, one that walks the commits and one that reads every version.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import memeval as me
from memeval.errors import WeakSuiteWarning
from memeval.files.keptruns import kept_runs
from memeval.files.resultsfile import write_results
from memeval.files.runfiles import save_run
from memeval.timeline import history

from .timing import Figure

FILE = "eval-results.json"
WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "a"), ("EMAIL", "a@example.invalid"))
}


def figures(quick: bool) -> Iterator[Figure]:
    """Results of the shipped suite through commits, and the table of kept runs."""
    commits, rounds = (50, 3) if quick else (200, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakSuiteWarning)
        run = me.run(me.load(), "sqlite")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _commit_all(run, folder, commits)
        n = run.manifest.n_probes
        yield Figure(
            f"history of {commits} commits, {n} probes each",
            _wall(lambda: history(repository=folder), rounds),
            5.0, "5 s", 1, at_least=False,
        )  # fmt: skip
        yield Figure(
            f"its newest 20 of {commits} commits",
            _wall(lambda: history(repository=folder, limit=20), rounds),
            1.0, "1 s", 1, at_least=False,
        )  # fmt: skip
        (folder / FILE).unlink()
        yield from _of_runs(run, folder, rounds)


def _of_runs(run: me.Run, folder: Path, rounds: int) -> Iterator[Figure]:
    """Runs that say their outcome, and the same that do not."""
    n = run.manifest.n_probes
    payload = json.loads(save_run(run, folder / "0.json").read_text(encoding="utf-8"))
    payload.pop("outcome", None)
    silent = json.dumps(payload)
    outcome = {"verdict": run.verdict.word, "recall_all": run.recall_at_k, "mrr": run.mrr}
    speaking = json.dumps(payload | {"outcome": outcome | {"leaks": run.leaks}})
    for count, text, what in (
        (200, speaking, "that say their outcome"),
        (20, silent, "scored again"),
    ):
        for path in folder.glob("*.json"):
            path.unlink()
        for at in range(count):
            (folder / f"{at}.json").write_text(text, encoding="utf-8")
        yield Figure(
            f"{count} kept runs of {n} probes, {what}",
            _wall(lambda: kept_runs(folder), rounds),
            5.0, "5 s", 1, at_least=False,
        )  # fmt: skip


def _commit_all(run: me.Run, folder: Path, commits: int) -> None:
    """Each commit moves the figures of the file."""
    text = write_results(run, folder / FILE).read_text(encoding="utf-8")
    _git(folder, "init", "--quiet", "--initial-branch=main", ".")
    for at in range(commits):
        moved = text.replace('"mrr": 0.', f'"mrr": 0.{at % 10}', 1)
        (folder / FILE).write_text(moved.replace('"at": "', f'"at": "{at} ', 1), encoding="utf-8")
        _git(folder, "add", FILE)
        _git(folder, "commit", "--quiet", "--message", f"results {at}")


def _git(folder: Path, *arguments: str) -> None:
    env = os.environ | WHO | {"GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=env)


def _wall(call: Callable[[], object], rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)
