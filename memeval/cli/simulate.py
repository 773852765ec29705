"""``memeval simulate``: what becomes of the probes as the store grows."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.cli import choosing, files, growth_options, options
from memeval.cli.compare import UNDECIDED
from memeval.cli.console import say, show
from memeval.cli.forms import show_json, show_simulation, simulation_payload
from memeval.cli.guard import INTERRUPTED
from memeval.cli.progress import progress
from memeval.config import Config, load_config
from memeval.errors import MemevalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memeval.drift import DriftComparison
    from memeval.simulation import Simulation
    from memeval.suite import Suite

HELP = "one store grows over many sessions: what becomes of the probes?"
DESCRIPTION = """\
Grow one store over many sessions, plant copies of the probes at several of
them, and ask all copies again and again: is recall FLAT, in DECLINE, or can it
not be told? With --compare, hold it against a simulation of another store. With
the file of an earlier simulation, show that one and run nothing.
Exit codes: 0 flat, or cannot tell (3 with --strict); 1 a decline, a leak, or it
falls faster than the other; 2 could not run; 5 not comparable; 130 interrupted,
with the results so far."""
EXAMPLE = "memeval simulate --sessions 12 --store sqlite"
KEPT = files.HOME / "simulations"
JOURNAL = files.HOME / "simulation.jsonl"
ON = "'memeval simulate --resume' with the same options goes on where it stopped"
NOT_COMPARABLE = 5
SAME = ("suite", "source", "seed", "sessions", "checkpoints", "cohorts")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument(
        "saved",
        nargs="?",
        type=options.filled,
        metavar="SIMULATION.json",
        help=f"a simulation that was kept, such as those in {KEPT.as_posix()}: show it",
    )
    options.add_probes(parser)
    options.add_selection(parser)
    growth_options.add_growth(parser, JOURNAL.as_posix())
    options.add_store(parser)
    group = parser.add_argument_group("files")
    group.add_argument(
        "--out",
        type=options.filled,
        metavar="FILE",
        help=f"where the simulation is kept (default: {KEPT.as_posix()}/TIME.json)",
    )
    group.add_argument(
        "--png",
        type=options.filled,
        metavar="FILE",
        help="draw recall against records, with --compare of both stores (.png, .svg, .pdf)",
    )
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Grow a store or load what was, print it, and give the exit code of the verdict."""
    from memeval.simulation import load_simulation

    if args.holdout:
        raise MemevalError(
            "--holdout: a simulation asks many times and counts no look, so held-out probes are "
            "left out of it; leave the option out"
        )
    for path in filter(None, (args.out, args.png)):
        files.check_place(path)
    other = None if args.compare is None else load_simulation(args.compare)
    if args.saved is not None:
        _refuse_beside_saved(args)
        return _told(load_simulation(args.saved), other, args)
    config = load_config()
    suite = choosing.choose(choosing.load_suite(args, config), args, config)
    if args.dry_run:
        return growth_options.show_plan(suite, args, config)
    made = _simulated(suite, args, config)
    if not made.manifest["complete"]:
        show_simulation(made, args.format)
        say(f"interrupted: these are the results so far; {ON}")
        return INTERRUPTED
    try:
        _keep(made, args)
    finally:  # what was paid for is shown even where it cannot be kept
        code = _told(made, other, args)
    JOURNAL.unlink(missing_ok=True)
    return code


def _refuse_beside_saved(args: argparse.Namespace) -> None:
    names = ("out", "resume", "dry_run", "store", "probes")
    told = [f"--{name.replace('_', '-')}" for name in names if getattr(args, name)]
    if told:
        raise MemevalError(
            f"{', '.join(told)} given beside {args.saved}, which is only shown; leave it out, or "
            "leave out the file"
        )


def _simulated(suite: Suite, args: argparse.Namespace, config: Config) -> Simulation:
    """Grow the store; what was asked stands in the journal."""
    from memeval.simulate import run_simulation

    make_store = choosing.find_store(choosing.store_name(args, config))
    resume = _may_resume(args)
    files.HOME.mkdir(exist_ok=True)
    ignore = files.HOME / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    with _said_on(), progress(quiet=args.quiet) as shown:
        return run_simulation(
            suite,
            make_store,
            **growth_options.growth(args, config),
            margin=args.margin,
            budget_ms=args.budget_ms,
            timeout_s=args.timeout,
            retries=args.retries,
            settle_s=args.settle,
            contract_checks=not args.no_contract_checks,
            opaque_ids=args.opaque_ids,
            allow_nonempty=args.allow_nonempty,
            max_calls=args.max_calls,
            journal=JOURNAL,
            resume=resume,
            progress=growth_options.with_time(shown),
        )


@contextmanager
def _said_on() -> Iterator[None]:
    """Say how to go on where it stops after something was asked."""
    before = _written_at()
    try:
        yield
    except BaseException:
        if _written_at() not in (None, before):
            say(ON)
        raise


def _written_at() -> int | None:
    return JOURNAL.stat().st_mtime_ns if JOURNAL.exists() else None


def _may_resume(args: argparse.Namespace) -> bool:
    there = JOURNAL.exists()
    if args.resume and not there:
        say(f"--resume: found no {JOURNAL.as_posix()}, so this is a new one", quiet=args.quiet)
    if there and not args.resume:
        say(f"{JOURNAL.as_posix()} of one that stopped is written over", quiet=args.quiet)
    return bool(args.resume and there)


def _keep(made: Simulation, args: argparse.Namespace) -> None:
    from memeval.simulation import save_simulation

    if args.out is None:
        KEPT.mkdir(parents=True, exist_ok=True)
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    path = Path(args.out) if args.out is not None else KEPT / f"{moment}.json"
    save_simulation(made, path)
    say(f"kept in {path.as_posix()}", quiet=args.quiet)


def _told(made: Simulation, other: Simulation | None, args: argparse.Namespace) -> int:
    """Print one simulation, and how it compares with another; draw them where asked."""
    code: int = made.verdict.exit_code
    undecided = made.verdict.word == "CANNOT TELL"
    if other is None:
        show_simulation(made, args.format)
    else:
        odd = _odd(made, other)
        if odd:
            say(f"NOT COMPARABLE: {odd}; simulate both with the same probes and options")
            return NOT_COMPARABLE
        found = _compared(made, other, args)
        code = max(code, int(found.difference.verdict == "decline"))
        undecided |= found.difference.verdict == "cannot tell"
    if args.png is not None:
        _draw(made, other, args)
    return UNDECIDED if args.strict and undecided and not code else code


def _odd(made: Simulation, other: Simulation) -> str:
    """Say the first thing in which two simulations were not grown alike."""
    mine, theirs = _lists(made.manifest), _lists(other.manifest)
    return next(
        (
            f"{name} is {mine[name]} here and {theirs[name]} there"
            for name in SAME
            if mine[name] != theirs[name]
        ),
        "",
    )


def _lists(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {name: manifest.get(name) for name in SAME}


def _compared(made: Simulation, other: Simulation, args: argparse.Namespace) -> DriftComparison:
    from memeval.drift import compare_drift

    found = compare_drift(other.drift_probes, made.drift_probes, margin=args.margin)
    names = f"{made.manifest['store']} against {other.manifest['store']} ({args.compare})"
    if args.format == "json":
        told = {
            "against": args.compare,
            "verdict": found.difference.verdict,
            "reason": found.reason,
            "mean_difference": found.mean_difference,
            "slope_per_1k": found.difference.slope_per_1k,
            "log_rank_p": found.log_rank_p if found.log_rank_p == found.log_rank_p else None,
            "n": found.n,
        }
        show_json(simulation_payload(made) | {"comparison": told})
    else:
        show_simulation(made, args.format)
        show(_comparison(names, found.reason, args.format))
    return found


def _comparison(names: str, reason: str, form: str) -> str:
    from memeval.report.layout import paragraph
    from memeval.text import markdown_cell

    if form == "markdown":
        return f"\n## Compared\n\n{markdown_cell(names)}: {markdown_cell(reason)}"
    return f"\n{paragraph(f'COMPARED: {names}')}\n{paragraph(reason, 11, first='so:')}"


def _draw(made: Simulation, other: Simulation | None, args: argparse.Namespace) -> None:
    from matplotlib.figure import Figure

    from memeval.plots import plot_drift

    figure = Figure(figsize=(8, 4.8), layout="constrained")
    drawn = [made] if other is None else [made, other]
    plot_drift(drawn, ax=figure.subplots())
    try:
        figure.savefig(args.png)
    except ValueError as error:
        raise MemevalError(f"--png {args.png}: {error}; end the name with .png") from error
    say(f"drawn: {args.png}", quiet=args.quiet)
