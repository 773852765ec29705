"""The results file through the commits of a branch."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from memeval.errors import RunFileError, said
from memeval.files import gitfile
from memeval.files.gitfile import Tracked, Version
from memeval.files.limits import checked_limit
from memeval.files.pastresults import METRICS, PastResults, changed, read_past
from memeval.frames import HISTORY, conform
from memeval.text import visible

__all__ = ["WORKING_TREE", "HistoryWarning", "history", "looks"]

WORKING_TREE = "working tree"
"""What stands in the place of a commit where the file is not committed yet."""
_TOLD = 5
_Reader = Callable[[Version], bytes]


class HistoryWarning(UserWarning):
    """Part of a history is missing: commits that cannot be read, or that the clone lacks."""


@dataclass(frozen=True, slots=True)
class _Moment:
    commit: str
    at: str
    results: PastResults


def history(
    path: str | os.PathLike[str] = "eval-results.json",
    *,
    repository: str | os.PathLike[str] | None = None,
    limit: int | None = None,
) -> pd.DataFrame:
    """Follow the figures of a results file through the commits of the present branch.

    Parameters
    ----------
    path : str or path-like
        The results file, of memeval or with the fields of the specification alone; relative to
        `repository` where that is given. It need not be there any more.
    repository : str or path-like, optional
        A folder of the git repository; by default the one around the file.
    limit : int, optional
        Look at the newest so many commits, from 1; all by default.

    Returns
    -------
    pandas.DataFrame
        A row per commit and metric, oldest commit first; columns as in `memeval.frames.HISTORY`.
        The metrics are recall_all, mrr, distinct, staleness, leaks, abstention and latency_p95_ms
        by the names of the summary; one that a file does not say, and all of an invalid suite, are
        NA. ``at`` is in UTC. ``n`` is 0 where it is not known. A file that differs from its last
        commit makes a last row with the commit ``"working tree"``, at the time of the file.
        ``frame.attrs`` holds ``breaks`` (by commit, what changed there) and ``left_out`` (by
        commit, why it could not be read), both dict of str to str.

    Raises
    ------
    MemevalError
        If git is not installed, there is no repository, or the file lies outside of it.
    RunFileError
        If no commit of the branch holds the file and it is not there either.
    ValueError
        If `limit` is below 1 or not whole.

    Warns
    -----
    HistoryWarning
        Of commits that are left out, each with its cause (conflict marks, not JSON, other
        things), and of a shallow clone, whose oldest commit need not be where the file began.

    Notes
    -----
    Commits are those that changed the file along first parents, in the order of the branch and not
    of their clocks: what a merge brought counts at the merge. Renames are followed, copies are
    not. recall_all has a Wilson interval of 95 % where the file tells how many probes are
    positive, directly or by its hits over its shares; the other metrics have none, for the file
    does not hold what it takes.

    ``comparable`` says whether suite, k and the fields of the manifest that bind the meaning of the
    figures are those of the row's predecessor. It is NA on the first, and where one of both does
    not say.

    Examples
    --------
    >>> import pathlib, subprocess, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = subprocess.run(["git", "init", "--quiet", folder], check=True)
    >>> _ = (folder / "eval-results.json").write_text('{"recall_at_5": 0.875, "mrr": 0.75}')
    >>> history(repository=folder)[["commit", "metric", "value"]].head(2)
             commit      metric  value
    0  working tree  recall_all  0.875
    1  working tree         mrr  0.750
    """
    most = checked_limit(limit)
    found = gitfile.tracked(path, repository)
    # One more tells whether the first that is shown is comparable with what came before.
    seen = gitfile.versions(found, most=None if most is None else most + 1)
    left_out: dict[str, str] = {}
    with gitfile.contents(found) as read:
        moments = [*_committed(seen, read, left_out)]
        now = _uncommitted(found, seen, read, left_out)
    if not seen and now is None and not left_out:
        raise RunFileError(
            f"{os.fsdecode(path)}: no commit of this branch holds it and it is not there, wanted a "
            "results file; make one with memeval run, and commit it"
        )
    earlier = seen[most].commit if most is not None and len(seen) > most else None
    left_out.pop(earlier or "", None)
    frame = _frame(moments + ([now] if now else []), earlier)
    frame.attrs["left_out"] = left_out
    _warn(found, left_out)
    return frame


def looks(
    path: str | os.PathLike[str] = "eval-results.json",
    baseline: str | os.PathLike[str] = "eval-results.baseline.json",
    *,
    repository: str | os.PathLike[str] | None = None,
) -> int:
    """Count the commits that were held against the present baseline before this one.

    Parameters
    ----------
    path, baseline : str or path-like
        The results file and the baseline file, relative to `repository` where that is given.
    repository : str or path-like, optional
        A folder of the git repository; by default the one around each file.

    Returns
    -------
    int
        Commits that changed the results since the last commit that changed the baseline. 0 where
        the baseline is not committed. Results that are committed as they stand are the present
        look and do not count; those that differ from their last commit are a look of their own.

    Raises
    ------
    MemevalError
        If git is not installed, there is no repository, or a file lies outside of it.

    Notes
    -----
    Each commit that is tested against the same baseline is a further chance of a false alarm: at
    level .05, 34 probes and 5 % noise, 50 commits come to .25. The level of one look that keeps
    all of them together below alpha is ``memeval.stats.paired.spent_alpha(looks(...))``, which is
    what ``compare(..., looks=looks(...))`` uses; accepting a new baseline starts at 0 again. What
    was compared without a commit is not seen.

    Examples
    --------
    >>> import subprocess, tempfile
    >>> from memeval.stats.paired import spent_alpha
    >>> folder = tempfile.mkdtemp()
    >>> _ = subprocess.run(["git", "init", "--quiet", folder], check=True)
    >>> spent_alpha(looks(repository=folder), alpha=0.05)
    0.025
    """
    accepted = gitfile.versions(gitfile.tracked(baseline, repository), most=1)
    if not accepted:
        return 0
    found = gitfile.tracked(path, repository)
    since = gitfile.versions(found, since=accepted[0].commit)
    since = [version for version in since if version.blob is not None]
    if not since:
        return 0
    with gitfile.contents(found) as read:
        return len(since) - int(_is_committed(found, since[0], read))


def _committed(
    seen: Sequence[Version], read: _Reader, left_out: dict[str, str]
) -> Iterator[_Moment]:
    """Versions that can be read, oldest first; why the others cannot is put into `left_out`."""
    for version in reversed(seen):
        if version.blob is not None:
            try:
                yield _Moment(version.commit, version.at, read_past(read(version)))
            except RunFileError as error:
                left_out[version.commit] = str(error)


def _uncommitted(
    found: Tracked, seen: Sequence[Version], read: _Reader, left_out: dict[str, str]
) -> _Moment | None:
    if not found.file.is_file() or (seen and _is_committed(found, seen[0], read)):
        return None
    try:
        results = read_past(found.file.read_bytes())
        written = found.file.stat().st_mtime
    except RunFileError as error:
        left_out[WORKING_TREE] = str(error)
    except OSError as error:
        left_out[WORKING_TREE] = f"cannot be read ({said(error)})"
    else:
        at = datetime.fromtimestamp(int(written), UTC).isoformat()
        return _Moment(WORKING_TREE, at, results)
    return None


def _is_committed(found: Tracked, newest: Version, read: _Reader) -> bool:
    """Whether the file stands as its last commit has it, but for the ends of its lines."""
    if newest.blob is None or not found.file.is_file():
        return False
    try:
        committed, there = read(newest), found.file.read_bytes()
    except (RunFileError, OSError):  # what cannot be read is told where it is read for its figures
        return False
    return there.replace(b"\r\n", b"\n") == committed.replace(b"\r\n", b"\n")


def _frame(moments: Sequence[_Moment], earlier: str | None) -> pd.DataFrame:
    """Rows of all moments but that of the commit before the first that was asked for."""
    rows: list[dict[str, Any]] = []
    breaks: dict[str, str] = {}
    before: PastResults | None = None
    for moment in moments:
        comparable, words = (None, "") if before is None else changed(before, moment.results)
        before = moment.results
        if moment.commit == earlier:
            continue
        if comparable is False:
            breaks[moment.commit] = words
        rows += [_row(moment, metric, comparable) for metric in METRICS]
    columns = [column.name for column in HISTORY]
    frame = conform(pd.DataFrame(rows, columns=columns), HISTORY)
    frame.attrs["breaks"] = breaks
    return frame


def _row(moment: _Moment, metric: str, comparable: bool | None) -> dict[str, Any]:
    low, high = moment.results.interval(metric)
    return {
        "commit": moment.commit,
        "at": moment.at or None,
        "metric": metric,
        "value": moment.results.figures.get(metric, math.nan),
        "low": low,
        "high": high,
        "n": moment.results.n(metric),
        "suite_hash": moment.results.suite_hash,
        "comparable": comparable,
    }


def _warn(found: Tracked, left_out: dict[str, str]) -> None:
    if left_out:
        told = [f"{commit[:12]} {visible(why, 160)}" for commit, why in left_out.items()]
        more = f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
        count = f"{len(told)} {'version' if len(told) == 1 else 'versions'}"
        warnings.warn(
            f"{visible(found.name)}: {count} left out of the history: "
            f"{'; '.join(told[:_TOLD])}{more}",
            HistoryWarning,
            stacklevel=3,
        )
    if gitfile.is_shallow(found):
        warnings.warn(
            "the clone is shallow: the history ends where it does, and its oldest commit need not "
            "be where that version began; git fetch --unshallow gets the rest",
            HistoryWarning,
            stacklevel=3,
        )
