"""Why the probes of a run failed: the store is asked again, and the run is never lost by it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memeval.cli.console import say
from memeval.cli.guard import explained
from memeval.cli.progress import progress

if TYPE_CHECKING:
    from memeval.runs import Run

SKIPPED = (
    "the failed probes are not diagnosed: --max-calls bounds the run alone, and asking why takes "
    "further calls; leave it out to learn the causes"
)
ANNOUNCED = (
    "asking why is not counted: each probe that fails is written once more and searched a few "
    "times; --no-diagnose leaves that out"
)


def diagnosed(run: Run, make_store: Callable[[], Any], args: argparse.Namespace) -> Run:
    """Find the cause of each failed probe, unless told not to.

    Parameters
    ----------
    run : Run
        What was made; that of an invalid suite is not diagnosed, as its outcomes say nothing.
    make_store : callable
        Gives a fresh store of the same kind.
    args : argparse.Namespace
        Of `memeval run` or `memeval report`.

    Returns
    -------
    Run
        With causes; as it was where there is nothing to ask, or where the asking fails, which is
        said on stderr.
    """
    if args.no_diagnose or run.validity.status == "invalid" or run.failing.empty:
        return run
    if args.max_calls is not None:
        say(SKIPPED, quiet=args.quiet)
        return run
    from memeval.diagnosis import diagnose

    try:
        with progress(("asking why",), quiet=args.quiet) as shown:
            found = diagnose(run, make_store, timeout_s=args.timeout, progress=shown)
    except KeyboardInterrupt:
        say("interrupted while asking why; the run itself is kept, without causes")
        return run
    except Exception as error:  # a store may raise anything, and the run is paid for
        say(f"the failed probes could not be diagnosed: {explained(error)}")
        say("the run itself is kept, without causes")
        return run
    return run.diagnosed(found.causes)


def announce(args: argparse.Namespace) -> None:
    """Say in a dry run that asking why comes on top of what is counted."""
    if not args.no_diagnose and args.max_calls is None:
        say(ANNOUNCED, quiet=args.quiet)
