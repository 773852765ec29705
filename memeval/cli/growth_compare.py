"""Two stores that grew on the same sessions: in words, as values, and on one figure."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.cli.console import say, show
from memeval.cli.forms import show_json, show_simulation, simulation_payload
from memeval.errors import MemevalError

if TYPE_CHECKING:
    from memeval.drift import DriftComparison
    from memeval.simulation import Simulation

FIGURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp")
SAME = ("suite", "source", "seed", "sessions", "checkpoints", "cohorts")
MOST_NAMED = 10


def check_figure(path: str) -> None:
    """Refuse a name that tells no kind of figure.

    Raises
    ------
    MemevalError
        It says which there are.
    """
    if Path(path).suffix.lower() not in FIGURES:
        raise MemevalError(
            f"--png {path}: found {Path(path).suffix or 'no ending'}, wanted one of "
            f"{', '.join(FIGURES)}; end the name with .png"
        )


def odd(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """Say the first thing in which two simulations are not grown alike; empty where there is none.

    Parameters
    ----------
    mine, theirs : mapping
        Their manifests, or of one that is not grown yet what its plan tells.
    """
    return next(
        (
            f"{name} is {mine.get(name)} here and {theirs.get(name)} there"
            for name in SAME
            if mine.get(name) != theirs.get(name)
        ),
        "",
    )


def show_compared(made: Simulation, other: Simulation, args: argparse.Namespace) -> str:
    """Print a simulation and how it compares with another.

    Returns
    -------
    str
        ``decline`` where it falls faster, ``flat``, ``cannot tell``, or ``invalid``: of an invalid
        suite nothing is compared.
    """
    found = None if made.withheld or other.withheld else _compared(made, other)
    if args.format == "json":
        told = {"against": args.compare, **_payload(made, other, found)}
        show_json(simulation_payload(made) | {"comparison": told})
    else:
        show_simulation(made, args.format)
        names = f"{made.manifest['store']} against {other.manifest['store']} ({args.compare})"
        show(_words(names, list(_lines(made, other, found)), args.format))
    return "invalid" if found is None else found.difference.verdict


def _compared(made: Simulation, other: Simulation) -> DriftComparison:
    from memeval.drift import compare_drift

    return compare_drift(other.drift_probes, made.drift_probes, margin=made.margin)


def _payload(made: Simulation, other: Simulation, found: DriftComparison | None) -> dict[str, Any]:
    if found is None:
        return {"verdict": "invalid", "reason": _why_not(made, other)}
    return {
        "verdict": found.difference.verdict,
        "reason": found.reason,
        "mean_difference": found.mean_difference,
        "slope_per_1k": found.difference.slope_per_1k,
        "log_rank_p": found.log_rank_p if found.log_rank_p == found.log_rank_p else None,
        "n": found.n,
        "lost_here_alone": _lost_alone(made, other),
        "lost_there_alone": _lost_alone(other, made),
        "failed_here": made.errors,
        "failed_there": other.errors,
    }


def _why_not(made: Simulation, other: Simulation) -> str:
    side, which = (made, "here") if made.withheld else (other, "there")
    return f"the suite is invalid {which}: {side.verdict.reason}"


def _lost_alone(one: Simulation, other: Simulation) -> list[str]:
    """Probes of which a copy was lost by the one and not by the other, by name."""
    keys = ["probe", "cohort"]
    theirs = set(other.lost[keys].itertuples(index=False, name=None))
    mine = one.lost[keys].itertuples(index=False, name=None)
    return sorted({name for name, cohort in mine if (name, cohort) not in theirs})


def _lines(
    made: Simulation, other: Simulation, found: DriftComparison | None
) -> list[tuple[str, str]]:
    if found is None:
        return [("so", _why_not(made, other))]
    told = [
        ("so", found.reason),
        ("lost here", _named(_lost_alone(made, other))),
        ("lost there", _named(_lost_alone(other, made))),
    ]
    failed = made.errors, other.errors
    if any(failed):
        told.append(
            ("failed", f"{failed[0]} searches here, {failed[1]} there: each counts as a miss")
        )
    return told


def _named(names: list[str]) -> str:
    if not names:
        return "no probe alone"
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{len(names)} alone: {', '.join(names[:MOST_NAMED])}{more}"


def _words(names: str, lines: list[tuple[str, str]], name: str) -> str:
    from memeval.report.layout import paragraph
    from memeval.text import markdown_cell

    if name == "markdown":
        told = "\n".join(f"- {label}: {markdown_cell(words)}" for label, words in lines)
        return f"\n## Compared\n\n{markdown_cell(names)}\n\n{told}"
    told = "\n".join(paragraph(words, 12, first=f"{label}:") for label, words in lines)
    return f"\n{paragraph(f'COMPARED: {names}')}\n{told}"


def draw(
    made: Simulation, other: Simulation | None, path: str | Path, args: argparse.Namespace
) -> None:
    """Draw recall against records, of one store or of both on one figure."""
    if made.withheld or (other is not None and other.withheld):
        say(f"{path} is not drawn: the suite is invalid", quiet=args.quiet)
        return
    from matplotlib.figure import Figure

    from memeval.plots import plot_drift

    figure = Figure(figsize=(8, 4.8), layout="constrained")
    plot_drift([made] if other is None else [made, other], ax=figure.subplots())
    try:
        figure.savefig(path)
    except ValueError as error:
        raise MemevalError(f"--png {path}: {error}; end the name with .png") from error
    say(f"drawn: {path}", quiet=args.quiet)
