"""Looks at the held-out probes, counted in a file that is only ever added to.

Every look tells a little of the held-out probes, and whoever chooses by what was seen fits them
too: in the end they are dev probes like the others. The ledger says how far that has come.
"""

from __future__ import annotations

import errno
import json
import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pandas as pd

from memeval.appending import append_line
from memeval.checks.kinds import shown
from memeval.columns import conform, names
from memeval.errors import MemevalError, RunFileError, said
from memeval.files.outcome_rows import repeats_of
from memeval.frames import LOOKS
from memeval.hashes import digest
from memeval.runs import Run
from memeval.showing import Shown
from memeval.stats.independent import expected_maximum

LEDGER = "eval-holdout.jsonl"
# Half the width of a 95 % interval, in standard errors.
WORN_OUT = NormalDist().inv_cdf(0.975)
_WORDS = ("at", "run_hash", "holdout_hash", "store")


@dataclass(frozen=True, slots=True, repr=False)
class Wear(Shown):
    """How far a holdout has been used up by looking at it.

    Attributes
    ----------
    n_looks : int
        Looks at this very holdout.
    n_answers : int
        Different answers that were seen in them: what was there to choose from.
    n_before : int
        Looks in the same ledger at other probes, held out before these.
    flattered : float
        By how many standard errors the best of so many answers looks better than it is, at most.
    worn_out : bool
        Whether that reaches half the width of a 95 % interval (1.96), as it does from 25 answers.
    """

    n_looks: int
    n_answers: int
    n_before: int
    flattered: float
    worn_out: bool


def append_look(path: str | os.PathLike[str], run: Run) -> pd.DataFrame:
    """Count a look at the held-out probes; do so before you read the numbers of the run.

    Parameters
    ----------
    path : str or path-like
        The ledger, a line of JSON a look; made where there is none, else added to.
    run : Run
        Of a suite with a holdout that was asked: of ``suite.with_holdout(0.2)``, or of
        ``suite.holdout(0.2)[1]``.

    Returns
    -------
    pandas.DataFrame
        All looks, this one last: columns of `memeval.frames.LOOKS`.

    Raises
    ------
    MemevalError
        If the run asked no held-out probe, or the file cannot be written.
    RunFileError
        As `load_looks`; nothing is written then.

    Notes
    -----
    ``run_hash`` is of what was seen: status and ranked record ids of the held-out probes. The
    recall of an invalid suite is not told.
    """
    told = _told(run)

    def line_of(before: bytes) -> str:
        earlier = _rows(before, path)
        same = sum(row["holdout_hash"] == told["holdout_hash"] for row in earlier)
        return json.dumps({"look": same + 1} | told, allow_nan=False)

    return _frame(_rows(append_line(path, line_of), path))


def load_looks(path: str | os.PathLike[str] = LEDGER) -> pd.DataFrame:
    """Read all looks that were counted.

    Parameters
    ----------
    path : str or path-like
        The ledger; where there is none, nobody has looked.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.LOOKS`, in the order of the file. ``look`` is counted anew for
        each holdout: two branches that were merged may have given a number twice.

    Raises
    ------
    RunFileError
        If it cannot be read, or a line is half written or is no look; all of them are listed.

    Examples
    --------
    >>> len(load_looks("no-such-folder/eval-holdout.jsonl"))
    0
    """
    try:
        if not Path(path).exists():
            return _frame([])
        if not Path(path).is_file():  # a pipe would be waited for without an end
            raise OSError(errno.EINVAL, "it is no file on a disk")
        content = Path(path).read_bytes()
    except OSError as error:
        raise RunFileError(
            f"{path}: cannot be read ({error.strerror}); wanted the ledger of looks, a file that "
            "may be read"
        ) from error
    return _frame(_rows(content, path))


def wear(looks: pd.DataFrame, holdout_hash: str) -> Wear:
    """Tell how far a holdout is used up.

    Parameters
    ----------
    looks : pandas.DataFrame
        As `load_looks` gives them.
    holdout_hash : str
        Which holdout: ``suite.held_out.hash``.

    Returns
    -------
    Wear
        Of the looks at this holdout.

    Notes
    -----
    Were n answers equally good in truth, and their luck independent and normal, the best of them
    would look better than it is by the mean of the largest of n standard normal draws, in standard
    errors: 1.54 for 10, 1.87 for 20, 1.97 for 25, the first n past 1.96
    (`memeval.stats.independent.expected_maximum`; Harter 1961). Answers of one store resemble each
    other, so that it is a bound. A look that saw what an earlier one saw offers no choice and is
    not counted in n. A probe that is added or edited makes another holdout, since the old one can
    no longer be asked; the looks before it are told apart.

    Examples
    --------
    >>> seen = pd.DataFrame({"look": [1, 2], "run_hash": ["a", "b"], "holdout_hash": ["h", "h"]})
    >>> found = wear(seen, "h")
    >>> found.n_looks, round(found.flattered, 3), found.worn_out
    (2, 0.564, False)
    """
    here = looks["holdout_hash"].eq(holdout_hash).fillna(False).astype("bool")
    answers = int(looks.loc[here, "run_hash"].nunique())
    flattered = expected_maximum(answers) if answers else 0.0
    n = int(here.sum())
    return Wear(n, answers, len(looks) - n, flattered, flattered >= WORN_OUT)


def _told(run: Run) -> dict[str, Any]:
    """What a line holds, but for its number."""
    held = run.suite.held_out
    asked = {p.name: p.content_hash for p in run.suite if p.name in run.suite.looked_at}
    if held is None or not asked:
        raise MemevalError(
            f"found no held-out probe among the {len(run.suite)} of this run, wanted a look to "
            "count; give a run of suite.with_holdout(0.2), or none"
        )
    calls = run.calls.sort_values(["probe", "repeat"], kind="stable")
    statuses = calls["status"].astype("str").groupby(calls["probe"]).agg(list)
    answers = repeats_of(run)
    seen = sorted([asked[n], statuses.get(n, []), [list(a) for a in answers[n]]] for n in asked)
    recall = run.results.loc[run.results["probe"].isin(asked), "recall_all"].dropna()
    known = len(recall) > 0 and run.verdict.word != "INVALID"
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "run_hash": digest(seen),
        "holdout_hash": held.hash,
        "n_probes": len(asked),
        "store": run.manifest.store,
        "recall_all": float(recall.astype("float64").mean()) if known else None,
    }


def _rows(content: bytes, path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Every line as a look, or an error that lists those that are none."""
    rows, faults = [], []
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append(_look(json.loads(line)))
        except (ValueError, RecursionError) as error:
            half = number == len(lines) and not line.rstrip().endswith(b"}")
            what = "half a line" if half else f"no look ({said(error)})"
            faults.append(f"{path}:{number}: found {what}")
    if faults:
        raise RunFileError(
            "\n".join(faults) + "\nwanted a look on each line, as memeval wrote it; nothing was "
            "changed: mend these lines by hand, or take the file from the history of your "
            "repository; half a line stands for a look that was made"
        )
    return rows


def _look(told: Any) -> dict[str, Any]:
    """One look as plain values; ValueError says what is odd about it."""
    if not isinstance(told, Mapping):
        raise ValueError(f"{shown(told)} in place of a look")
    for name in _WORDS:
        if not isinstance(told.get(name), str) or not told[name]:
            raise ValueError(f"{name} is {shown(told.get(name))}")
    for name in ("look", "n_probes"):
        if type(told.get(name)) is not int or not 0 < told[name] < 2**31:
            raise ValueError(f"{name} is {shown(told.get(name))}")
    recall = told.get("recall_all")
    if recall is not None and not (type(recall) in (int, float) and 0 <= recall <= 1):
        raise ValueError(f"recall_all is {shown(recall)}")
    return {name: told.get(name) for name in names(LOOKS)}


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    counted: Counter[str] = Counter()
    for row in rows:
        counted[row["holdout_hash"]] += 1
        row["look"] = counted[row["holdout_hash"]]
        row["recall_all"] = math.nan if row["recall_all"] is None else row["recall_all"]
    return conform(pd.DataFrame(rows, columns=names(LOOKS)), LOOKS)
