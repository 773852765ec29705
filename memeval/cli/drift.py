"""The drift of the main job: one store grows, and the run is never lost by it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memeval.cli import options
from memeval.cli.console import say
from memeval.cli.guard import explained
from memeval.cli.progress import progress

if TYPE_CHECKING:
    from memeval.runs import Run
    from memeval.simulation import Simulation

SESSIONS = 40
SKIPPED = (
    "drift is not measured: --max-calls bounds the run alone, and growing a store takes further "
    "calls; leave it out, or ask with 'memeval simulate'"
)
ANNOUNCED = (
    "growing a store is not counted: {n} sessions of about 20 records are written to one more "
    "store, and the probes asked at up to 8 sizes; --sessions 0 leaves that out"
)


def add_sessions(parser: argparse.ArgumentParser, whole: Callable[[str], int]) -> None:
    """Add over how many sessions one store grows."""
    group = parser.add_argument_group("drift")
    group.add_argument(
        "--sessions",
        type=whole,
        default=SESSIONS,
        metavar="N",
        help="sessions that one store grows over, to see what is lost as it does (default: "
        f"{SESSIONS}); 0 leaves drift out, 'memeval simulate' is for hundreds",
    )
    group.add_argument(
        "--drift",
        type=options.filled,
        metavar="SIMULATION.json",
        help="show this simulation, such as those in .memeval/simulations, and grow no store; also "
        "beside a saved run",
    )


def check_saved(args: argparse.Namespace) -> None:
    """Refuse what is no simulation, before a run is paid for.

    Raises
    ------
    RunFileError
        If it cannot be read.
    """
    if args.drift is not None:
        from memeval.simulation import load_simulation

        load_simulation(args.drift)


def saved(run: Run, args: argparse.Namespace) -> Simulation | None:
    """Load the simulation that is to be shown beside a run; None without, and beside no number."""
    if args.drift is None or run.validity.status == "invalid":
        return None
    from memeval.simulation import load_simulation

    return load_simulation(args.drift)


def grown(run: Run, make_store: Callable[[], Any], args: argparse.Namespace) -> Simulation | None:
    """Grow one store and ask the probes of a run as it grows, unless told not to.

    Parameters
    ----------
    run : Run
        What was made; of an invalid suite, or of chosen probes, there is no drift to speak of.
    make_store : callable
        Gives a fresh store of the same kind.
    args : argparse.Namespace
        Of `memeval report`.

    Returns
    -------
    Simulation or None
        None where it was not asked for, or where it fails, which is said on stderr.
    """
    if args.drift is not None:
        return saved(run, args)
    if not args.sessions or run.validity.status == "invalid" or run.suite.chosen_of:
        return None
    if args.max_calls is not None:
        say(SKIPPED, quiet=args.quiet)
        return None
    from memeval.simulate import run_simulation

    try:
        with progress(("growing",), quiet=args.quiet) as shown:
            return run_simulation(
                run.suite,
                make_store,
                sessions=args.sessions,
                timeout_s=args.timeout,
                retries=args.retries,
                settle_s=args.settle,
                opaque_ids=args.opaque_ids,
                progress=shown,
                validity=run.validity,
                allow_errors=run.allow_errors,
            )
    except KeyboardInterrupt:
        say("interrupted while the store grew; the run itself is kept, without drift")
    except Exception as error:  # a store may raise anything, and the run is paid for
        say(f"drift could not be measured: {explained(error)}")
        say("the run itself is kept, without drift")
    return None


def exit_code(simulation: Simulation | None) -> int:
    """1 where a record leaked, the contract broke or searches failed as the store grew.

    These are gates wherever they are seen. 4 where the suite that grew is invalid.
    """
    from memeval.drifting.deciding import broken_gates

    if simulation is None:
        return 0
    if simulation.withheld:
        return simulation.verdict.exit_code
    return int(any(broken_gates(simulation)))


def announce(args: argparse.Namespace) -> None:
    """Say in a dry run that growing a store comes on top of what is counted."""
    if args.sessions and args.max_calls is None and args.drift is None:
        say(ANNOUNCED.format(n=args.sessions), quiet=args.quiet)
