"""What a results file says, of whatever age and whoever wrote it: figures, and how it was measured.

Files of memeval name what they were measured with; those that follow the specification alone say
little more than their figures.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memeval import stats
from memeval.checks.kinds import shown
from memeval.comparing.differences import BLOCKING, flat
from memeval.errors import RunFileError, said
from memeval.files.headline import metrics_from
from memeval.files.saved import parsed
from memeval.outcomes import FORMATS, VERSION

METRICS = (
    "recall_all",
    "mrr",
    "distinct",
    "staleness",
    "leaks",
    "abstention",
    "latency_p95_ms",
)
_CUTOFF = re.compile(r"(?:recall|distinct)_at_([0-9]{1,6})", re.ASCII)
_CONFLICT = re.compile(r"^(<{7} |={7}\r?$|>{7} )", re.MULTILINE)
_POINTER = "version https://git-lfs"
# Half of the last of the four decimals that the specification writes, and a little.
_ROUNDING = 6e-5


@dataclass(frozen=True, slots=True)
class PastResults:
    """One results file.

    Attributes
    ----------
    figures : mapping of str to float
        By the names of the summary; NaN where it is undefined or not said.
    n_positive : int or None
        Positive probes that recall was taken over; None where the file does not tell.
    suite_hash : str or None
        Which suite.
    measured : mapping of str to str
        What must be the same for figures to be compared, as far as the file says.
    """

    figures: Mapping[str, float]
    n_positive: int | None
    suite_hash: str | None
    measured: Mapping[str, str]

    def interval(self, metric: str) -> tuple[float, float]:
        """Ends of the 95 % interval: Wilson for recall_all where n is known, else NaN."""
        value = self.figures[metric]
        if metric != "recall_all" or not self.n_positive or math.isnan(value):
            return math.nan, math.nan
        low, high = stats.wilson(_hits(value, self.n_positive), self.n_positive)
        return low, high

    def n(self, metric: str) -> int:
        """Probes that the metric was taken over; 0 where that is not known."""
        defined = metric in ("recall_all", "mrr") and not math.isnan(self.figures[metric])
        return (self.n_positive or 0) if defined else 0


def read_past(raw: bytes) -> PastResults:
    """Read a results file.

    Parameters
    ----------
    raw : bytes
        What stands in it.

    Returns
    -------
    PastResults
        Its figures.

    Raises
    ------
    RunFileError
        If it is none; the message is the cause alone, for the caller knows where it stands.

    Examples
    --------
    >>> read_past(b'{"recall_at_5": 0.875, "leaks": 0}').figures["recall_all"]
    0.875
    """
    try:
        text = raw.decode("utf-8-sig")
        payload = None if _CONFLICT.search(text) or text.startswith(_POINTER) else parsed(text)
    except (ValueError, RecursionError) as error:
        raise RunFileError(f"is not JSON ({said(error)})") from error
    if payload is None:
        pointer = text.startswith(_POINTER)
        raise RunFileError(
            "is a pointer of Git LFS, not the file itself"
            if pointer
            else "holds the conflict marks of a merge"
        )
    if not isinstance(payload, dict):
        raise RunFileError(f"is a {type(payload).__name__}, wanted the mapping of a results file")
    return _results(payload)


def _results(payload: dict[str, Any]) -> PastResults:
    if "format" in payload and payload["format"] not in FORMATS:
        raise RunFileError(f"says that it is {shown(payload['format'])}, wanted a results file")
    if "format" in payload and payload.get("version") != VERSION:
        version = shown(payload.get("version"))
        raise RunFileError(f"has version {version}, wanted {VERSION}; another memeval wrote it")
    told = metrics_from(payload, "its figures")
    figures = {metric: told.get(metric, math.nan) for metric in METRICS}
    if payload.get("verdict") != "INVALID" and not told:
        raise RunFileError("has none of the figures of a results file")
    suite = _suite_hash(payload)
    return PastResults(
        figures, _n_positive(payload, figures), suite, _cutoffs(payload) | _measured(payload, suite)
    )


def _cutoffs(payload: Mapping[str, Any]) -> dict[str, str]:
    """The k that a name of the specification says."""
    found = [match[1] for name in payload if (match := _CUTOFF.fullmatch(name))]
    return {"k": found[0]} if found else {}


def _suite_hash(payload: Mapping[str, Any]) -> str | None:
    manifest = payload.get("manifest")
    inner = manifest.get("suite_hash") if isinstance(manifest, dict) else None
    given = payload.get("suite", inner)
    return given if isinstance(given, str) and given else None


def _measured(payload: Mapping[str, Any], suite: str | None) -> dict[str, str]:
    """What must be equal, each as text; only what the file says."""
    manifest = payload.get("manifest")
    inner = manifest if isinstance(manifest, dict) else {}
    told = {"suite": suite, "k": payload.get("k"), "probes": payload.get("probes")}
    told |= {name: flat(inner)[name] for name in BLOCKING}
    return {
        name: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for name, value in told.items()
        if value is not None
    }


def _hits(share: float, n: int) -> float:
    """Hits behind a share that was rounded: the whole number where there is one."""
    exact = share * n
    return round(exact) if abs(round(exact) - exact) <= _ROUNDING * n else exact


def _n_positive(payload: Mapping[str, Any], figures: Mapping[str, float]) -> int | None:
    """Positive probes: those that expect something, or by the hits behind the shares.

    A probe that hit has a rank where it is positive and none where it is negative, while one that
    missed does not tell; but the hits of one kind over their share are all probes of that kind.
    """
    per_probe = payload.get("per_probe")
    if not isinstance(per_probe, dict):
        return None
    entries = [entry for entry in per_probe.values() if isinstance(entry, dict)]
    asked = [entry for entry in entries if entry.get("status") != "not_supported"]
    expected = [n for entry in asked if isinstance(n := entry.get("n_expected"), int)]
    if asked and len(expected) == len(asked):
        return sum(n > 0 for n in expected) or None
    hits = [entry.get("rank") is not None for entry in asked if entry.get("hit") is True]
    for kind, metric in ((True, "recall_all"), (False, "abstention")):
        share, count = figures[metric], hits.count(kind)
        if share > 0 and count:
            n = round(count / share)
            if n <= len(asked) and abs(count / n - share) <= _ROUNDING:
                return n if kind else len(asked) - n
    return None


def changed(before: PastResults, after: PastResults) -> tuple[bool | None, str]:
    """Whether two results were measured alike.

    Parameters
    ----------
    before, after : PastResults
        In their order.

    Returns
    -------
    comparable : bool or None
        None where the files do not say: one names no suite, or fields that the other lacks.
    words : str
        What is known to differ, or is not said.

    Examples
    --------
    >>> old, new = (read_past(b'{"mrr": 1, "suite": "%s"}' % name) for name in (b"a1", b"b2"))
    >>> changed(old, new)
    (False, 'suite a1 -> b2')
    """
    old, new = before.measured, after.measured
    both = [name for name in old if name in new]
    differ = [f"{n} {old[n]:.40} -> {new[n]:.40}" for n in both if old[n] != new[n]]
    if differ:
        return False, "; ".join(differ)
    unsaid = sorted((old.keys() ^ new.keys()) - {"k", "probes"})
    if unsaid or "suite" not in new:
        return None, f"not said by both: {', '.join(unsaid or ['suite'])}"
    return True, ""
