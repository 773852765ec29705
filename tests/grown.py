"""Simulations made by hand, for the tests of what is read, drawn and told of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pandas as pd

from memeval import frames
from memeval.simulation import Simulation

SESSIONS = (0, 4, 8, 16, 32, 64, 128)
COHORTS = (0, 16)
Passes = Callable[[int, int, int], bool]


def n_records(session: int) -> int:
    """Thirty records at the start, ten a session, thirty more of the second cohort."""
    return 30 + 10 * session + (30 if session >= COHORTS[1] else 0)


def always(probe: int, cohort: int, session: int) -> bool:
    return True


def old_ones_are_lost(probe: int, cohort: int, session: int) -> bool:
    """Probes 0 to 19 of the first cohort pass until session 32, all others always."""
    return not (probe < 20 and cohort == 0 and session >= 32)


def probe_rows(passes: Passes = always, probes: int = 40, **more: Any) -> list[dict[str, Any]]:
    """Probes of two cohorts at each checkpoint, and a fresh cohort at the last."""
    rows = []
    for session in SESSIONS:
        asked = [c for c in COHORTS if c <= session]
        if session == SESSIONS[-1]:
            asked.append(session)
        for cohort in asked:
            for probe in range(probes):
                good = passes(probe, cohort, session)
                rows.append(
                    {
                        "probe": f"probe-{probe:02}",
                        "cohort": cohort,
                        "session": session,
                        "n_records": n_records(session),
                        "kind": "positive",
                        "status": "ok",
                        "rank": 1 if good else None,
                        "ndcg": float(good),
                        "recall_all": good,
                        "passed": good,
                        "latency_ms": 1.0,
                        "displaced_by": None if good else "s7-1 s9-2",
                        "cause": None if good else "outranked",
                    }
                    | more
                )
    return rows


def drift_probes(passes: Passes = always, probes: int = 40, **more: Any) -> pd.DataFrame:
    return frames.conform(pd.DataFrame(probe_rows(passes, probes, **more)), frames.DRIFT_PROBES)


def checkpoints(times: Callable[[int], float] = lambda n: 2.0 + 0.05 * n) -> pd.DataFrame:
    rows = [
        {
            "session": session,
            "n_records": n_records(session),
            "n_kept": n_records(session) // 2,
            "n_bytes": 100 * n_records(session),
            "write_ms": 0.5,
            "visible_ms": None,
            "latency_p50_ms": 1.0,
            "latency_p95_ms": times(n_records(session)),
            "n_searches": 40,
            "consolidated": False,
        }
        for session in SESSIONS
    ]
    return frames.conform(pd.DataFrame(rows), frames.CHECKPOINTS)


def sizes() -> pd.DataFrame:
    rows = [
        {"session": s, "n_records": n_records(s), "n_kept": n_records(s)} for s in range(1, 129)
    ]
    return frames.conform(pd.DataFrame(rows), frames.SIZES)


MANIFEST: dict[str, Any] = {
    "suite": "abc123", "seed": 7, "sessions": 128, "cohorts": list(COHORTS), "generator": 1,
    "store": "shelf", "asked": "what was asked at a checkpoint was taken back",
    "sessions_done": 128, "complete": True, "planted_once": 0,
}  # fmt: skip


def grown(passes: Passes = always, **changes: Any) -> Simulation:
    """A simulation whose searches slow down; `changes` replace what it is made of.

    With changes the time is constant: the interval of a crossing takes half a second.
    """
    if not changes:
        return _plain(passes)
    return _made(passes, **({"checkpoints": checkpoints(lambda n: 1.5)} | changes))


@lru_cache
def _plain(passes: Passes) -> Simulation:
    return _made(passes)


def _made(passes: Passes, **changes: Any) -> Simulation:
    made: dict[str, Any] = {
        "drift_probes": drift_probes(passes),
        "checkpoints": checkpoints(),
        "sizes": sizes(),
        "manifest": MANIFEST | changes.pop("manifest", {}),
        "queries": {"probe-00": "Where is the tram?"},
    }
    return Simulation(**(made | changes))
