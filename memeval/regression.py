"""The regression check of the specification: one call for a CI, with messages in words."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memeval.checks.kinds import shown
from memeval.comparing import gates
from memeval.comparing.sides import count
from memeval.comparing.tolerance import TOLERANCE, UNCOUNTED, beyond, vanished
from memeval.comparison import Comparison, compare
from memeval.errors import RunFileError
from memeval.outcomes import Outcomes, as_outcomes
from memeval.runs import Run
from memeval.text import visible


def check_regression(
    current: Run | Outcomes | Mapping[str, Any] | str | os.PathLike[str],
    baseline_path: str | os.PathLike[str],
    *,
    tolerance: float = TOLERANCE,
) -> tuple[bool, list[str]]:
    """Check a run against a saved one by fixed tolerances, and probe by probe.

    Parameters
    ----------
    current : Run, Outcomes, mapping, str or path-like
        A run, or what a results file or the dictionary of the specification holds.
    baseline_path : str or path-like
        The accepted baseline, or any file that memeval or the specification writes.
    tolerance : float
        Fall of recall_at_k, mrr and distinct_at_k, and rise of staleness, that is let pass.

    Returns
    -------
    tuple of bool and list of str
        Whether nothing got worse; and the problems, the most serious first, followed by notes
        that fail nothing. Without a baseline it is never a success.

    Raises
    ------
    RunFileError
        If a side cannot be read, or does not tell a metric that is judged; or the baseline is no
        path.

    See Also
    --------
    memeval.compare : the same with tests, intervals and what the probes can show at all.

    Examples
    --------
    >>> import json, tempfile
    >>> figures = {"mrr": 0.75, "distinct_at_k": 0.8, "staleness": 0.01, "leaks": 0}
    >>> saved = Path(tempfile.mkdtemp(), "baseline.json")
    >>> _ = saved.write_text(json.dumps(figures | {"recall_at_k": 0.90}))
    >>> ok, problems = check_regression(figures | {"recall_at_k": 0.80}, saved)
    >>> ok, problems[0]
    (False, 'recall_at_k: 0.900 -> 0.800, by more than 0.03')
    """
    if not isinstance(baseline_path, str | os.PathLike):
        raise RunFileError(
            f"baseline_path is {shown(baseline_path)}, wanted the path of a baseline; to compare "
            "what is in memory, use memeval.compare"
        )
    after = as_outcomes(current)
    if not Path(baseline_path).exists():
        return False, [*_leaks(after), *_others(after), missing(baseline_path)]
    made = compare(baseline_path, after, rule="tolerance", tolerance=tolerance)
    problems = [] if made.passed else list(_problems(made, tolerance))
    return made.passed, [*problems, *_uncommon(made), *_circumstances(made), *made.notes]


def missing(path: str | os.PathLike[str], options: str = "") -> str:
    """Say that there is no baseline, and the line to type for one.

    Parameters
    ----------
    path : str or path-like
        Where it is not.
    options : str
        What else the line must say.
    """
    line = f'memeval accept {options}{" " * bool(options)}--reason "..."'
    return f"{path}: found no baseline, wanted one to compare with; accept these outcomes: {line}"


def _problems(made: Comparison, allowed: float) -> Iterator[str]:
    """One message each, leaks first."""
    if made.withheld:
        yield f"{made.verdict.word}: {made.verdict.reason}; {made.verdict.next_step}"
        return
    yield from _leaks(made.current)
    yield from _others(made.current)
    gone = (one.reason for one in vanished(made.baseline, made.current))
    yield from (reason for reason in gone if reason != UNCOUNTED)  # told among the leaks
    yield from (one.reason for one in beyond(made.frame, allowed))
    lost = made.named("lost")
    if lost:
        yield "newly failing probes: " + ", ".join(map(visible, lost))


def _uncommon(made: Comparison) -> Iterator[str]:
    """Probes that only one side has, by name: a probe that is gone can fail no more."""
    for word, words in (("removed", "gone"), ("added", "new")):
        names = made.named(word)
        if names:
            verb = "is" if len(names) == 1 else "are"
            listed = ", ".join(map(visible, names))
            counted = f"{count(len(names), 'probe')} {verb} {words}"
            yield f"{word}: {counted}: {listed}{_passed(made, word)}"


def _passed(made: Comparison, word: str) -> str:
    """How many of the removed probes had passed."""
    if word == "added":
        return ""
    passed = len(made.baseline.passing.intersection(made.named(word)))
    return f" ({passed} had passed); deleting a failing probe is no success"


def _circumstances(made: Comparison) -> Iterator[str]:
    """How both were measured; what the bare dictionary does not tell cannot block."""
    lines = made.comparability.lines()
    if "bare" not in (made.baseline.kind, made.current.kind):
        yield from lines
        return
    yield "comparability unknown: one side does not tell how it was measured"
    yield from (line for line in lines if line.startswith("under test"))


def _leaks(current: Outcomes) -> Iterator[str]:
    leaks = gates.leaked(current)
    if leaks:
        yield f"LEAK GATE: {count(leaks, 'forbidden record')} came back; a leak is never traded off"
    if math.isnan(current.metrics.get("leaks", 0.0)):
        yield UNCOUNTED


def _others(current: Outcomes) -> Iterator[str]:
    """Other gates that need no baseline."""
    if current.validity.status == "invalid":
        yield f"INVALID: {gates.invalid(current).reason}"
        return
    yield from (one.reason for one in gates.beside_leaks(current))
