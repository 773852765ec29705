"""Tables of logged queries of every kind, drawn from a seed, and cut by probe."""

from __future__ import annotations

import numpy as np
import pandas as pd

from memeval.frames import CALLS, HITS, QRELS, REASONS, STATUSES, conform

Frames = dict[str, pd.DataFrame]


def logged(seed: int, n: int = 60, *, scored: bool = True) -> Frames:
    """Hits, calls and qrels of n probes: repeats, failures, empty answers, leaks, ties, NA."""
    draw = np.random.default_rng(seed)
    calls, hits, qrels = [], [], []
    for number in range(n):
        probe, k = f"probe-{number}", int(draw.integers(1, 8))
        pool = [f"r{j}" for j in range(12)]
        expected = list(draw.choice(pool, int(draw.integers(0, 4)), replace=False))
        for at, record in enumerate(expected):
            group = at // 2 if draw.random() < 0.3 else at
            qrels.append({"probe": probe, "record_id": record, "label": "expected", "group": group})
        for record in sorted(set(pool) - set(expected)):
            if draw.random() < 0.2:
                label = str(draw.choice(["forbidden", "stale"]))
                reason = str(draw.choice(REASONS))
                qrels.append(
                    {"probe": probe, "record_id": record, "label": label, "reason": reason}
                )
        status = str(draw.choice(STATUSES)) if draw.random() < 0.2 else "ok"
        for repeat in range(int(draw.choice([1, 1, 3]))):
            calls.append(
                {
                    "probe": probe,
                    "repeat": repeat,
                    "k": k,
                    "status": status,
                    "breaches": "order" if draw.random() < 0.05 else None,
                    "n_eligible": 40,
                    "latency_ms": float(draw.gamma(2.0, 10.0)) if draw.random() < 0.9 else None,
                    "cold_ms": float(draw.integers(1, 9)),
                    "llm_calls": int(draw.integers(0, 3)),
                }
            )
            returned = draw.choice(pool, int(draw.integers(0, 9)), replace=True)
            for at, record in enumerate(returned if status == "ok" else []):
                hits.append(
                    {
                        "probe": probe,
                        "repeat": repeat,
                        "rank": at + 1,
                        "record_id": record if draw.random() < 0.95 else None,
                        "score": round(float(draw.normal()), 1) if scored else None,
                        "text": f"note {record} of some words" if draw.random() < 0.9 else None,
                    }
                )
    made = {"hits": (hits, HITS), "calls": (calls, CALLS), "qrels": (qrels, QRELS)}
    return {name: conform(pd.DataFrame(rows), schema) for name, (rows, schema) in made.items()}


def split(frames: Frames, part_of: dict[str, int]) -> list[Frames]:
    """The rows of the probes of each part."""
    parts = sorted(set(part_of.values()))
    return [
        {
            name: frame[frame["probe"].map(part_of) == part].reset_index(drop=True)
            for name, frame in frames.items()
        }
        for part in parts
    ]
