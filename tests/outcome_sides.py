"""Sides of a comparison, built by hand from ranks."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from memeval.files.outcome_rows import by_name
from memeval.outcomes import Outcomes
from memeval.verdicts import Validity

K = 5
MANIFEST: dict[str, Any] = {
    "schema_version": 1,
    "metric_version": 1,
    "matcher": "id, text",
    "normaliser_version": 1,
    "haystack_hash": "h",
    "generator_version": 1,
    "seed": 0,
    "repeats": 1,
    "chosen_of": 0,
    "store": "Store",
    "capabilities": {"deterministic": None},
}
Ranks = Mapping[str, int | None]


def named(ranks: Collection[int | None]) -> dict[str, int | None]:
    """Ranks by names p00, p01, ... in order."""
    return {f"p{n:02}": rank for n, rank in enumerate(ranks)}


def side(
    ranks: Ranks,
    *,
    silent: Mapping[str, bool] | None = None,
    passes: Mapping[str, tuple[int, int]] | None = None,
    must: Collection[str] = (),
    content: Mapping[str, str] | None = None,
    leaks: Mapping[str, int] | None = None,
    steady: bool = False,
    status: Mapping[str, str] | None = None,
    **more: Any,
) -> Outcomes:
    """Positive probes by the rank of their one expected record, negative ones by silence.

    An answer is the expected record, called gold, at its rank among others; without it, two others.
    """
    silent, passes = silent or {}, passes or {}
    content, leaks, status = content or {}, leaks or {}, status or {}
    rows, answers = [], {}
    for name in [*ranks, *silent]:
        positive, rank = name in ranks, ranks.get(name)
        found = rank is not None if positive else silent[name]
        passed = found and not leaks.get(name)
        n_passed, n_repeats = passes.get(name, (int(passed), 1))
        state = status.get(name, "ok")
        rows.append(
            {
                "probe": name,
                "content_hash": content.get(name, f"hash of {name}"),
                "kind": "positive" if positive else "negative",
                "must": name in must,
                "status": state,
                "n_repeats": n_repeats,
                "n_passed": n_passed if state == "ok" else 0,
                "recall_all": found if positive else None,
                "recall_fraction": float(found) if positive else None,
                "first_rank": rank,
                "rr": (1 / rank if rank else 0.0) if positive else None,
                "ndcg": (1 / math.log2(rank + 1) if rank else 0.0) if positive else None,
                "n_leaked": leaks.get(name, 0),
                "n_contract": 0,
                "n_expected": int(positive),
            }
        )
        others = [f"{name}-x{n}" for n in range(1, K)]
        gold = [*others[: (rank or 1) - 1], "gold"] if rank else others[:2]
        answers[name] = tuple(gold if positive else [] if silent[name] else others[:1])
    manifest = MANIFEST | {"verified_deterministic": steady}
    made: dict[str, Any] = {
        "probes": by_name(pd.DataFrame(rows)),
        "metrics": {},
        "kind": "results",
        "source": "made.json",
        "validity": Validity("valid"),
        "manifest": manifest,
        "answers": answers,
    }
    return Outcomes(**(made | more))


def agreeing(payload: dict[str, Any]) -> dict[str, Any]:
    """A results file of single repeats whose probes were changed, with the figures they come to."""
    ranks = []
    for entry in payload["per_probe"].values():
        passed = entry["hit"] and not entry["leaked"]
        entry["passes"] = f"{int(passed)}/1"
        if entry["n_expected"]:
            ranks.append(entry["rank"] if entry["hit"] else None)
    recall = "recall_at_5" if "recall_at_5" in payload else "recall_at_k"
    payload[recall] = round(sum(rank is not None for rank in ranks) / len(ranks), 6)
    payload["mrr"] = round(sum(1 / rank for rank in ranks if rank) / len(ranks), 6)
    return payload
