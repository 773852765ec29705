"""The kill matrix of the main job: faults put in on purpose, and the run is never lost by it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memeval.cli import choosing
from memeval.cli.console import say
from memeval.cli.guard import explained
from memeval.cli.progress import progress
from memeval.config import Config

if TYPE_CHECKING:
    from memeval.mutation import Mutation
    from memeval.runs import Run

SKIPPED = (
    "faults are not tried: --max-calls bounds the run alone, and every fault takes further calls; "
    "leave it out, or ask with 'memeval mutate'"
)
ANNOUNCED = (
    "trying faults is not counted: 'memeval mutate --dry-run' tells what it takes; leave "
    "--mutate out to do without"
)


def add_mutate(parser: argparse.ArgumentParser) -> None:
    """Add whether faults are put into the store."""
    parser.add_argument_group("faults").add_argument(
        "--mutate",
        action="store_true",
        help="put known faults into one more store, to see which of them no probe would see "
        "(minutes; exit code 4 where one lives that every suite must kill)",
    )


def mutated(
    run: Run, make_store: Callable[[], Any], args: argparse.Namespace, config: Config
) -> Mutation | None:
    """Put every known fault into the store of a run and ask its probes, if told to.

    Parameters
    ----------
    run : Run
        What was made; an invalid suite cannot be said to see anything.
    make_store : callable
        Gives a fresh store of the same kind.
    args : argparse.Namespace
        Of `memeval report`.
    config : Config
        Settings of the folder.

    Returns
    -------
    Mutation or None
        None where it was not asked for, or where it fails, which is said on stderr.
    """
    if not args.mutate or run.validity.status == "invalid":
        return None
    if args.max_calls is not None:
        say(SKIPPED, quiet=args.quiet)
        return None
    from memeval.mutation import mutate

    told = choosing.run_options(args, config)
    try:
        with progress(quiet=args.quiet) as shown:
            return mutate(run.suite, make_store, progress=shown, **told)
    except KeyboardInterrupt:
        say("interrupted while faults were tried; the run itself is kept, without them")
    except Exception as error:  # a store may raise anything, and the run is paid for
        say(f"faults could not be tried: {explained(error)}")
        say("the run itself is kept, without them")
    return None


def exit_code(mutation: Mutation | None) -> int:
    """That of its verdict: 4 where a fault lives that every suite must kill."""
    return 0 if mutation is None else mutation.verdict.exit_code


def announce(args: argparse.Namespace) -> None:
    """Say in a dry run that trying faults comes on top of what is counted."""
    if args.mutate and args.max_calls is None:
        say(ANNOUNCED, quiet=args.quiet)
