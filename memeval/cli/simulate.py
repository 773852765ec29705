"""``memeval simulate``: what becomes of the probes as the store grows."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.cli import choosing, files, growth_compare, growth_controls, growth_options, options
from memeval.cli.compare import UNDECIDED
from memeval.cli.console import say
from memeval.cli.forms import show_simulation
from memeval.cli.guard import INTERRUPTED
from memeval.cli.journals import Kept
from memeval.cli.progress import progress
from memeval.config import load_config
from memeval.errors import MemevalError

if TYPE_CHECKING:
    from memeval.config import Config
    from memeval.simulation import Simulation
    from memeval.suite import Suite
    from memeval.verdicts import Validity

HELP = "one store grows over many sessions: what becomes of the probes?"
DESCRIPTION = """\
Run the controls, then grow one store over many sessions, plant copies of the
probes at several of them, and ask all copies again and again: is recall FLAT,
in DECLINE, or can it not be told? With --compare, hold it against a simulation
of another store. With the file of an earlier simulation, show that one and run
nothing.
Exit codes: 0 flat, or cannot tell (3 with --strict); 1 a decline, a leak, a
broken contract, more failed searches than allowed, a fault of the store, or it
falls faster than the other; 2 could not run; 4 the suite is invalid: nothing is
grown and no number shown; 5 not comparable; 130 interrupted, with the results
so far."""
EXAMPLE = "memeval simulate --sessions 12 --store sqlite"
KEPT = files.HOME / "simulations"
JOURNAL = files.HOME / "simulation.jsonl"
STOPPED = Kept(JOURNAL, "simulate")
INVALID = 4
NOT_COMPARABLE = 5
SHOWING = frozenset(
    {
        "help",
        "compare",
        "png",
        "margin",
        "budget_ms",
        "allow_errors",
        "strict",
        "format",
        "quiet",
        "traceback",
    }
)


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
    growth_controls.add_controls(parser)
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
        help="draw recall against records (.png, .svg, .pdf); with --compare both stores are drawn "
        f"on one figure in any case (default: {KEPT.as_posix()}/TIME-compared.png)",
    )
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Grow a store or load what was, print it, and give the exit code of the verdict."""
    from memeval.simulation import load_simulation

    _check_files(args)
    other = None if args.compare is None else load_simulation(args.compare)
    if args.saved is not None:
        _refuse_beside_saved(args)
        return _told(_with_bounds(load_simulation(args.saved), args), other, args)
    growth_options.check_growth(args)
    growth_controls.refuse_uncounted(args)
    config = load_config()
    suite = choosing.choose(choosing.load_suite(args, config), args, config)
    if args.dry_run:
        return growth_options.show_plan(suite, args, config)
    if other is not None and _not_comparable(growth_options.told(suite, args, config), other):
        return NOT_COMPARABLE
    files.make_home()
    validity = growth_controls.judged_before(suite, args, config, JOURNAL)
    validity = validity or growth_controls.judged(suite, args, config)
    if validity is None:
        return INVALID
    made = _simulated(suite, validity, args, config)
    if not made.manifest["complete"]:
        show_simulation(made, args.format)
        say(f"interrupted: these are the results so far; {STOPPED.on}")
        return INTERRUPTED
    try:
        _keep(made, args)
    finally:  # what was paid for is shown even where it cannot be kept
        code = _told(made, other, args)
    STOPPED.forget()
    return code


def _check_files(args: argparse.Namespace) -> None:
    """Refuse places where nothing can be written, or something else would be lost."""
    if args.png is not None:
        growth_compare.check_figure(args.png)
    for path in filter(None, (args.out, args.png)):
        files.check_place(path)
    if args.out is None:
        return
    named = [path for path in (args.png, args.compare) if path is not None]
    if os.path.realpath(args.out) in map(os.path.realpath, named):
        raise MemevalError(f"--out {args.out}: found that file named twice; name another one")
    if os.path.isfile(args.out) and not _is_older(args.out):
        raise MemevalError(
            f"--out {args.out}: found a file that is no simulation, and would be lost; name "
            "another one"
        )


def _is_older(path: str) -> bool:
    from memeval.simulation import FORMAT

    with open(path, encoding="utf-8-sig", errors="replace") as file:
        head = file.read(files.HEAD)
    return not head.strip() or f'"{FORMAT}"' in head


def _refuse_beside_saved(args: argparse.Namespace) -> None:
    """Refuse options that concern the growing: they come too late."""
    late = [
        action.option_strings[0]
        for action in args.parser._actions
        if action.option_strings
        and action.dest not in SHOWING
        and getattr(args, action.dest, action.default) != action.default
    ]
    if late:
        raise MemevalError(
            f"{', '.join(late)} given beside {args.saved}, which is only shown; leave it out, or "
            "leave out the file"
        )


def _with_bounds(made: Simulation, args: argparse.Namespace) -> Simulation:
    """The same, read with the bounds that were asked for."""
    names = ("margin", "budget_ms", "allow_errors")
    asked = {name: getattr(args, name) for name in names}
    return replace(made, **{name: value for name, value in asked.items() if value is not None})


def _not_comparable(mine: Mapping[str, Any], other: Simulation) -> bool:
    """Whether they are not grown alike; the first difference is said."""
    odd = growth_compare.odd(mine, other.manifest)
    if odd:
        say(f"NOT COMPARABLE: {odd}; simulate both with the same probes and options")
    return bool(odd)


def _simulated(
    suite: Suite, validity: Validity, args: argparse.Namespace, config: Config
) -> Simulation:
    """Grow the store; what was asked stands in the journal."""
    from memeval.simulate import run_simulation

    make_store = choosing.store_of(args, config)
    resume = STOPPED.may_resume(args)
    with STOPPED.said_on(), progress(quiet=args.quiet) as shown:
        return run_simulation(
            suite,
            make_store,
            **growth_options.growth(args, config),
            **growth_options.bounds(args),
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
            validity=validity,
        )


def _keep(made: Simulation, args: argparse.Namespace) -> None:
    from memeval.simulation import save_simulation

    path = Path(args.out) if args.out is not None else _home_of(KEPT) / f"{_moment()}.json"
    save_simulation(made, path)
    say(f"kept in {path.as_posix()}", quiet=args.quiet)


def _told(made: Simulation, other: Simulation | None, args: argparse.Namespace) -> int:
    """Print one simulation, and how it compares with another; draw them where asked."""
    code: int = made.verdict.exit_code
    undecided = made.verdict.word == "CANNOT TELL"
    path = args.png
    if other is None:
        show_simulation(made, args.format)
    else:
        if _not_comparable(made.manifest, other):
            return NOT_COMPARABLE
        word = growth_compare.show_compared(made, other, args)
        code = max(code, {"decline": 1, "invalid": INVALID}.get(word, 0))
        undecided |= word == "cannot tell"
        path = path or (_home_of(KEPT) / f"{_moment()}-compared.png").as_posix()
    if path is not None:
        growth_compare.draw(made, other, path, args)
    return UNDECIDED if args.strict and undecided and not code else code


def _home_of(folder: Path) -> Path:
    files.make_home()
    folder.mkdir(exist_ok=True)
    return folder


def _moment() -> str:
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
