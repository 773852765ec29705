"""What neither test nor margin sees, and why a success is withheld for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memeval.comparing.comparability import Comparability
from memeval.comparing.sides import Sides, count
from memeval.outcomes import Outcomes

TIMED_BY = (
    "compare two run files of full runs (in .memeval/runs), made alike on one machine with one "
    "worker; or leave the gate on time out"
)


def untimed(comparability: Comparability, sides: Sides, times: int) -> str:
    """Say why a gate on time cannot judge.

    Parameters
    ----------
    comparability : Comparability
        What the manifests say of times.
    sides : Sides
        What is compared.
    times : int
        Common probes of which both sides tell a time that may be compared.

    Returns
    -------
    str
        Empty where it can judge.
    """
    crew = max(_workers(side) for side in (sides.baseline, sides.current))
    if comparability.latency == "comparable" and times:
        why = f"{crew} workers asked at a time, which changes how long each one takes"
        return f"cannot gate on time: {why}" if crew > 1 else ""
    timed = [bool(s.probes["latency_ms"].notna().any()) if "latency_ms" in s.probes else False
             for s in (sides.baseline, sides.current)]  # fmt: skip
    if not all(timed):
        names = ("the baseline holds", "the current side holds")
        why = "both sides hold" if not any(timed) else names[timed.index(False)]
        return f"cannot gate on time: {why} no times"
    if comparability.latency_blocks:
        return f"cannot gate on time: {comparability.latency_blocks[0]}"
    if comparability.latency == "unknown":
        return "cannot gate on time: one side does not say how it was measured"
    return "cannot gate on time: no common probe has a time on both sides"


def _workers(side: Outcomes) -> int:
    """How many asked at a time; one where a side does not say."""
    options = side.manifest.get("options")
    jobs = options.get("jobs") if isinstance(options, Mapping) else None
    return jobs if isinstance(jobs, int) else 1


def fallen(row: Any) -> str:
    """Say how abstention fell, where the interval of its difference is below 0.

    Parameters
    ----------
    row : named tuple
        Of abstention, as `memeval.comparing.deltas.deltas` gives it.

    Returns
    -------
    str
        Empty where the interval holds 0, or there is none. It is no third primary test, which
        would make the other two weaker: so it never fails a comparison, it only withholds a PASS.
    """
    if not row.high < 0.0:  # NaN is not
        return ""
    return (
        f"abstention fell: {row.baseline:.3f} -> {row.current:.3f} over "
        f"{count(row.n, 'negative probe')}, interval of the difference [{row.low:+.3f}, "
        f"{row.high:+.3f}]"
    )
