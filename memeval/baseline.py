"""The baseline: outcomes that somebody accepted, with the reason, to compare later runs with.

The file is a function of the outcomes and of what was measured: no time, host, path, commit,
latency or text is in it, so that it changes only where outcomes do.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memeval.comparing.manifests import lasting
from memeval.comparing.refusals import refusal, refuse_look
from memeval.errors import MemevalError, RunFileError
from memeval.files.headline import other_numbers, spec_numbers
from memeval.files.outcome_lines import lines_of
from memeval.files.resultsfile import SPREAD
from memeval.files.saved import read_saved, write_lines
from memeval.outcomes import VERSION, Outcomes, as_outcomes, read_outcomes
from memeval.runs import Run
from memeval.text import clean

BASELINE = "eval-results.baseline.json"
FORMAT = "memeval baseline"
# Metrics that do not belong to the outcomes: times, costs, and what hangs on scores or wording.
_PASSING = frozenset(
    {
        "latency_p50_ms",
        "latency_p95_ms",
        "latency_p99_ms",
        "cold_p50_ms",
        "write_p50_ms",
        "visible_p50_ms",
        "llm_calls",
        "context_tokens",
        "abstention_auroc",
    }
)


@dataclass(frozen=True, slots=True)
class Accepted:
    """How an accepted baseline differs from the one before it.

    Attributes
    ----------
    lost, gained : tuple of str
        Probes of which every repeat passed before and not now, and the other way round.
    added, removed, edited : tuple of str
        Probes that only one side has, and those whose content changed.
    """

    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()


def accept(
    run_or_path: Run | Outcomes | Mapping[str, Any] | str | os.PathLike[str],
    path: str | os.PathLike[str] = BASELINE,
    *,
    reason: str,
    holdout: bool = False,
) -> Path:
    """Accept outcomes as the baseline that later runs are compared with.

    Parameters
    ----------
    run_or_path : Run, Outcomes, mapping, str or path-like
        A run, or the path of a run file or results file.
    path : str or path-like
        Where the baseline is kept; to be committed.
    reason : str
        Why this is how it shall be, in words; it is kept in the file.
    holdout : bool
        Accept held-out probes that were asked too, in place of refusing them.

    Returns
    -------
    Path
        The absolute path.

    Raises
    ------
    RunFileError
        If the source cannot be read, holds too little or held-out probes, or a file stands at
        `path` that is neither a baseline nor a results file of memeval.
    MemevalError
        If the reason is blank, or the outcomes must not be accepted
        (`memeval.comparing.refusals.refusal` says which).

    Notes
    -----
    Where the outcomes and what was measured are those of the baseline that is there, the file
    stays as it is, whatever the reason: the one that stands there is of the last change. A newer
    version of the same store alone is no change.
    """
    outcomes, because = as_outcomes(run_or_path), _reason(reason)
    if not holdout:
        refuse_look(outcomes)
    if refused := refusal(outcomes):
        raise MemevalError(f"{outcomes.source}: {refused.reason}; {refused.next_step}")
    _refuse_same(outcomes.source, path)
    payload = _payload(outcomes, because)
    if former(path) is not None and _same(read_saved(path, "a baseline"), payload):
        return Path(path).absolute()
    return write_lines(path, payload, SPREAD)


def former(path: str | os.PathLike[str] = BASELINE) -> Outcomes | None:
    """Read the baseline that a new one would replace; None where there is none, or it is empty.

    Parameters
    ----------
    path : str or path-like
        Where the baseline is kept.

    Raises
    ------
    RunFileError
        If something else stands there, which would be lost.
    """
    place = Path(path)
    if not place.is_dir() and not (place.is_file() and place.stat().st_size):
        return None  # nothing there, or a pipe
    there = read_outcomes(path)
    if there.kind == "bare":
        raise RunFileError(
            f"{path}: is no baseline of memeval, wanted one or no file, since it would be lost; "
            "name another place, or move it away"
        )
    if there.kind == "run":
        raise RunFileError(
            f"{path}: is a full run, wanted a baseline or no file, since it would be lost; name "
            "another place"
        )
    return there


def reason_of(path: str | os.PathLike[str] = BASELINE) -> str:
    """Give the reason that a baseline holds; empty for a file of another kind.

    Parameters
    ----------
    path : str or path-like
        Where the baseline is kept.
    """
    return str(read_saved(path, "a baseline").get("reason", ""))


def difference(before: Outcomes | None, after: Outcomes) -> Accepted:
    """Tell by name how outcomes differ from a former baseline.

    Parameters
    ----------
    before : Outcomes or None
        The former baseline; None where there was none, and all probes are new.
    after : Outcomes
        What is accepted in its place.

    Returns
    -------
    Accepted
        Names in sorted order.
    """
    now = set(after.probes["probe"])
    if before is None:
        return Accepted(added=tuple(sorted(now)))
    then, hashes = set(before.probes["probe"]), before.hashes
    changed = {n for n, value in after.hashes.items() if hashes.get(n, value) != value}
    lost, gained = before.passing - after.passing, after.passing - before.passing
    names = (lost & now, gained & then, now - then, then - now, changed)
    return Accepted(*(tuple(sorted(some)) for some in names))


def _payload(outcomes: Outcomes, reason: str) -> dict[str, Any]:
    manifest = lasting(outcomes.manifest)
    k = manifest.get("k")
    metrics = {name: v for name, v in outcomes.metrics.items() if name not in _PASSING}
    return {
        "format": FORMAT,
        "version": VERSION,
        "reason": reason,
        "probes": len(outcomes),
        "validity": outcomes.validity.status,
        "k": "mixed" if k is None else k,
        **spec_numbers(metrics, k),
        "metrics": other_numbers(metrics),
        "judged": {"reasons": list(outcomes.validity.reasons)},
        "manifest": manifest,
        "per_probe": lines_of(outcomes.probes, outcomes.answers),
    }


def _same(there: Mapping[str, Any], payload: Mapping[str, Any]) -> bool:
    """Whether a baseline says the same, apart from its reason and the version of the store."""
    sides = [dict(side.get("manifest") or {}) for side in (there, payload)]
    # A busy machine may have been too slow to take one: its absence is no change.
    both = all(manifest.get("fingerprint") is not None for manifest in sides)
    left_out: frozenset[str] = frozenset() if both else frozenset({"fingerprint", "no_fingerprint"})
    return _compared(there, left_out) == _compared(payload, left_out)


def _compared(payload: Mapping[str, Any], left_out: frozenset[str]) -> dict[str, Any]:
    told = payload.get("manifest") or {}
    manifest = {name: value for name, value in told.items() if name not in left_out}
    info = manifest.get("store_info")
    if isinstance(info, Mapping):
        manifest["store_info"] = {name: v for name, v in info.items() if name != "version"}
    rest = {name: value for name, value in payload.items() if name not in ("reason", "manifest")}
    return rest | {"manifest": manifest}


def _reason(reason: str) -> str:
    said = " ".join(clean(reason).split()) if isinstance(reason, str) else ""
    if not any(character.isalnum() for character in said):
        raise MemevalError(
            f"reason is {reason!r:.40}, wanted a few words on why these outcomes are how it shall "
            "be: whoever reads the history of the baseline has nothing else"
        )
    return said


def _refuse_same(source: str, path: str | os.PathLike[str]) -> None:
    if os.path.realpath(source) == os.path.realpath(path):
        raise RunFileError(
            f"{path}: found one name for what is accepted and for the baseline, which would be "
            "written over it; name two files"
        )
