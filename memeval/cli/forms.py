"""Results in the form that was asked for: a table of 80 columns, Markdown, or strict JSON."""

from __future__ import annotations

import json
import math
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memeval.cli.console import show

if TYPE_CHECKING:
    import pandas as pd

    from memeval.report.mutation_rows import Mutated
    from memeval.report.relations_rows import Related
    from memeval.runs import Run
    from memeval.simulation import Simulation

FAILING = 10
CAUSES = 40
LOST = 40


def form(name: str) -> Any:
    """Import the module of the report package that writes this form."""
    return import_module(f"memeval.report.{'markdown' if name == 'markdown' else 'plain'}")


def show_json(value: Any) -> None:
    """Print strict JSON, in ASCII where the console has no Unicode."""
    wide = (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf")
    show(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=not wide))


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a frame as plain values; NA and what is not finite are None."""
    plain: list[dict[str, Any]] = json.loads(frame.to_json(orient="records", double_precision=15))
    return plain


def show_run(run: Run, name: str) -> None:
    """Print summary, verdict, causes and failing probes, or the JSON of the results file."""
    if name == "json":
        from memeval.files.resultsfile import results_payload
        from memeval.report.holdout_rows import holdout_payload

        show_json(results_payload(run) | holdout_payload(run))
        return
    words = form(name)
    parts = [
        words.summary_text(run),
        words.holdout_text(run),
        words.verdict_text(run),
        words.causes_text(run, CAUSES),
        words.failing_text(run, FAILING),
    ]
    show("\n\n".join(part.strip("\n") for part in parts if part.strip()))


def show_mutation(mutation: Mutated, name: str) -> None:
    """Print survivors, score and the kill table, or the same as JSON."""
    if name == "json":
        show_json(mutation_payload(mutation))
        return
    show(mutation_in(mutation, name).rstrip("\n"))


def mutation_in(mutation: Mutated, name: str) -> str:
    """A mutation as text or Markdown."""
    from memeval.report import mutation_text as words

    write = words.mutation_markdown if name == "markdown" else words.mutation_text
    return write(mutation)


def mutation_payload(mutation: Mutated) -> dict[str, Any]:
    """The whole mutation as plain values; no number and no outcome of an invalid suite."""
    verdict = mutation.verdict
    told = {
        "verdict": verdict.word,
        "reason": verdict.reason,
        "next_step": verdict.next_step,
        "exit_code": verdict.exit_code,
    }
    if verdict.word == "INVALID":
        return told
    alive = [row | {"skeleton": mutation.skeletons.get(row["saboteur"])}
             for row in rows(mutation.survivors)]  # fmt: skip
    return {
        "score": _or_none(mutation.score),
        "must_killed": bool(mutation.must_killed),
        "kill_depth": _or_none(mutation.kill_depth),
        "n_killed": int(mutation.n_killed),
        "n_counted": int(mutation.n_counted),
        "survivors": alive,
        "saboteurs": rows(mutation.saboteurs),
        "kills": rows(mutation.kills),
        "idle": list(mutation.idle),
        "repeats": int(mutation.repeats),
        "notes": list(mutation.notes),
        "store": mutation.identity.manifest.store,
        "n_probes": len(mutation.identity.suite),
        "validity": mutation.identity.validity.status,
    } | told


def _or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def show_relations(found: Related, name: str) -> None:
    """Print violations, all relations and the verdict, or the same as JSON."""
    if name == "json":
        show_json(relations_payload(found))
        return
    from memeval.report import relations_text as words

    write = words.relations_markdown if name == "markdown" else words.relations_text
    show(write(found).rstrip("\n"))


def relations_payload(found: Related) -> dict[str, Any]:
    """All relations and every violation as plain values."""
    verdict = found.verdict
    return {
        "store": found.store,
        "verdict": verdict.word,
        "reason": verdict.reason,
        "next_step": verdict.next_step,
        "exit_code": verdict.exit_code,
        "relations": rows(found.frame),
        "violations": rows(found.violations),
        "left_behind": found.left_behind,
    }


def show_simulation(simulation: Simulation, name: str) -> None:
    """Print verdict, slopes, checkpoints and lost probes, or the same as JSON."""
    if name == "json":
        show_json(simulation_payload(simulation))
        return
    show(simulation_in(simulation, name, LOST).rstrip("\n"))


def simulation_in(simulation: Simulation, name: str, lost: int) -> str:
    """A simulation as text or markdown, with at most so many of the probes that were lost."""
    from memeval.report import drift_text as words

    write = words.simulation_markdown if name == "markdown" else words.simulation_text
    return write(simulation, lost)


def simulation_payload(simulation: Simulation) -> dict[str, Any]:
    """The whole simulation as plain values, without its row per probe: that is in its file.

    No number and no outcome of an invalid suite.
    """
    from memeval.comparing.manifests import without_private
    from memeval.plain import plain

    verdict, validity = simulation.verdict, simulation.validity
    told = {
        "verdict": verdict.word,
        "reason": verdict.reason,
        "next_step": verdict.next_step,
        "exit_code": verdict.exit_code,
        "validity": validity.status,
    }
    if simulation.withheld:
        return told
    trend, growth, shape = simulation.trend, simulation.growth, simulation.latency
    asked = simulation.drift_probes
    return told | {
        "suite": list(validity.reasons or validity.notes),
        "n_leaked": int(asked["n_leaked"].sum()),
        "n_contract": int(asked["n_contract"].sum()),
        "n_errors": simulation.errors,
        "drift": trend.verdict,
        "slope_per_1k": _or_none(trend.slope_per_1k),
        "low": _or_none(trend.low),
        "high": _or_none(trend.high),
        "n": trend.n,
        "growth": {"verdict": growth.verdict, "reason": growth.reason},
        "latency": {
            "law": shape.law,
            "verdict": shape.group,
            "crossing": _or_none(shape.crossing),
            "low": _or_none(shape.low),
            "high": _or_none(shape.high),
            "reason": shape.reason,
        },
        "slopes": rows(simulation.slopes),
        "checkpoints": rows(simulation.checkpoints),
        "points": rows(simulation.drift),
        "lost": rows(simulation.lost),
        "manifest": plain(without_private(simulation.manifest)),
    }
