"""What a simulation says of itself: how it was asked, and what the reader must know of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

from memeval.environment import tool_version
from memeval.given import op_to_dict
from memeval.harness.options import Options
from memeval.harness.selfcheck import SelfCheck
from memeval.plain import plain
from memeval.record import Op, Record
from memeval.sessions import GENERATOR_VERSION
from memeval.simulating.alone import disturbed
from memeval.simulating.growth import Growth
from memeval.simulating.plan import Plan
from memeval.suite import Suite
from memeval.text import count

MOST_ERRORS = 5
ASKED = {
    True: "what was asked at a checkpoint was taken back, and a fresh cohort planted each time",
    False: "the store can take nothing back: it was asked as it is, and no cohort planted afresh",
}


def source_of(plan: Plan, generated: bool) -> str:
    """What the sessions are, for a journal to go on with the same."""
    if generated:
        return f"generator, version {GENERATOR_VERSION}"
    found = hashlib.sha256()
    for session in plan.sessions:
        told = [session.at, [_told(op) for op in session.ops]]
        found.update(json.dumps(told, default=_written).encode())
    return f"own, {found.hexdigest()[:16]}"


_fields = attrgetter("id", "text", "scope", "at", "unit", "supersedes", "expires", "meta")


def _told(op: Op) -> Any:
    return _fields(op) if isinstance(op, Record) else op_to_dict(op)


def _written(value: object) -> object:
    """What JSON has no word for: times, and what metadata may hold."""
    return dict(value) if isinstance(value, Mapping) else str(value)


def told_of(options: Options) -> dict[str, Any]:
    """The options that change an answer."""
    retrieve = options.retrieve
    named = None if retrieve is None else getattr(retrieve, "__qualname__", type(retrieve).__name__)
    return {
        "retrieve": named,
        "timeout_s": options.timeout_s,
        "retries": options.retries,
        "contract_checks": options.contract_checks,
        "opaque_ids": options.opaque_ids,
    }


def key_of(
    suite: Suite,
    plan: Plan,
    options: Options,
    checked: SelfCheck,
    *,
    source: str,
    consolidate_every: int = 1,
) -> dict[str, Any]:
    """What is simulated on what: a journal goes on with the same alone.

    Parameters
    ----------
    suite, plan, options, checked
        What is planted, when, how it is asked, and what the store said of itself.
    source : str
        What the sessions are, as `source_of` says.
    consolidate_every : int
        As for `memeval.run_simulation`.
    """
    return {
        "suite": suite.content_hash,
        "seed": options.seed,
        "sessions": len(plan.sessions),
        "source": source,
        "checkpoints": list(plan.checkpoints),
        "cohorts": sorted(plan.cohorts),
        "consolidate_every": consolidate_every,
        "options": told_of(options),
        "store": str(checked.info.get("name", "store")),
        "store_info": plain(checked.info),
        "memeval": tool_version(),
    }


def errors_of(growth: Growth) -> list[str]:
    """What the first searches that failed said, each text once."""
    told = (str(row["error"]) for row in growth.rows if row.get("error"))
    return list(dict.fromkeys(told))[:MOST_ERRORS]


def notes_of(growth: Growth, checked: SelfCheck, sessions: int) -> Iterator[str]:
    """What the reader must know of how it went."""
    n, done = len(growth.plan.sessions), growth.done
    if n < sessions:
        yield f"the source ended after {count(n, 'session')}, asked for were {sessions}"
    if done < n:
        yield f"ended by the keyboard after {done} of {count(n, 'session')}"
    refused = {row["probe"] for row in growth.rows if row["status"] == "not_supported"}
    if refused:
        named = ", ".join(sorted(refused)[:5]) + (", ..." if len(refused) > 5 else "")
        yield f"{count(len(refused), 'probe')} the store cannot take, and nothing counts: {named}"
    if growth.n_skipped:
        yield f"{growth.n_skipped} deletes and advances of the sessions are none the store can do"
    if checked.capabilities.scoping == "none":
        yield "scopes not measured: the store has none"
    if checked.capabilities.scoping == "client":
        yield "the adapter, not the store, keeps the scopes: its filtered answer is graded"
    if not growth.options.contract_checks:
        yield "contract not checked: contract_checks=False was asked for"
    if growth.left_behind:
        yield f"{growth.left_behind} records could not be removed from the store"
    said = None if growth.neighbours is None else disturbed(growth.neighbours)
    if said is not None:
        yield said
