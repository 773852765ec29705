"""Controls before a store grows: of an invalid suite no number is shown, so none is paid for."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.cli import choosing, control, growth_options, looks
from memeval.cli.console import say, show
from memeval.cli.forms import form, show_simulation
from memeval.cli.progress import progress
from memeval.config import Config
from memeval.errors import MemevalError

if TYPE_CHECKING:
    from memeval.controls import Controls
    from memeval.suite import Suite
    from memeval.verdicts import Validity

BOUNDED = (
    "the controls are not run: --max-calls bounds what the growth takes, and they take further "
    "calls; the suite is judged by closed forms"
)
NOT_GROWN = "the suite is invalid, so nothing was grown and nothing is kept"


def add_controls(parser: argparse.ArgumentParser) -> None:
    """Add whether broken stores are run first."""
    group = parser.add_argument_group("whether the suite can carry the numbers")
    group.add_argument(
        "--no-controls",
        action="store_true",
        help="do not run the probes against your store and broken ones before it grows (saves "
        "those calls); the suite is then judged by closed forms alone",
    )


def refuse_uncounted(args: argparse.Namespace) -> None:
    """Refuse a look at held-out probes that nothing would count.

    Raises
    ------
    MemevalError
        If the controls are left out, whose answers are what is counted.
    """
    off = "--no-controls" if args.no_controls else "--max-calls" if args.max_calls else ""
    if args.holdout and off and not args.dry_run:
        raise MemevalError(
            f"--holdout given beside {off}, which leaves the controls out: a look is counted by "
            "their answers; leave one of both out"
        )


def runs_controls(suite: Suite, args: argparse.Namespace) -> bool:
    """Whether broken stores are run; chosen probes judge no suite."""
    if args.no_controls or args.max_calls is not None:
        return False
    return not suite.chosen_of or bool(suite.looked_at)


def judged_before(
    suite: Suite, args: argparse.Namespace, config: Config, path: Path
) -> Validity | None:
    """What the controls came to when the simulation was begun that this goes on with.

    A journal of something else is refused here, before the controls are paid for.

    Parameters
    ----------
    suite, args, config
        What is to be grown, and how.
    path : Path
        The journal.

    Returns
    -------
    Validity or None
        None where there is nothing to go on with, or the controls were left out then: they are to
        be run. Else no further look is counted either, as the first counted it.

    Raises
    ------
    RunFileError, MemevalError
        As `memeval.files.journal.Journal`.
    """
    if not (args.resume and path.exists() and runs_controls(suite, args)):
        return None
    from memeval.simulating.judging import ALONE

    validity = _kept(path, growth_options.key(suite, args, config))
    if validity is None or validity.status == "invalid" or ALONE in validity.notes:
        return None
    counted = ", and no further look is counted" if suite.looked_at else ""
    say(f"the controls are not run again{counted}: {path.as_posix()} has what they came to",
        quiet=args.quiet)  # fmt: skip
    return validity


def _kept(path: Path, key: Mapping[str, Any]) -> Validity | None:
    """What a journal says was judged; older ones say nothing."""
    from memeval.errors import RunFileError
    from memeval.files.growthjournal import GrowthJournal
    from memeval.files.journal import NEXT
    from memeval.simulation import read_validity

    told = GrowthJournal(path, key, resume=True).validity
    if told is None:
        return None
    try:
        return read_validity(told)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise RunFileError(
            f"{path}, line 1: what was judged of the suite cannot be read ({error}); {NEXT}"
        ) from error


def judged(suite: Suite, args: argparse.Namespace, config: Config) -> Validity | None:
    """Judge the suite before anything is grown; a look at the holdout is counted by this.

    Returns
    -------
    Validity or None
        None where it is invalid: that has been shown then, and nothing else may be.
    """
    from memeval.simulating.judging import judged as by_closed_forms

    controls = None
    if runs_controls(suite, args):
        controls = _run(suite, args, config)
        looks.counted(controls.real, config, quiet=args.quiet)
    elif args.max_calls is not None:
        say(BOUNDED, quiet=args.quiet)
    validity = by_closed_forms(suite) if controls is None else controls.validity
    if validity.status != "invalid":
        return validity
    _show_invalid(validity, controls, args)
    return None


def _run(suite: Suite, args: argparse.Namespace, config: Config) -> Controls:
    from memeval.controls import run_controls

    make_store = choosing.store_of(args, config)
    with progress(control.STAGES, quiet=args.quiet) as shown:
        return run_controls(
            suite,
            make_store,
            seed=args.seed if args.seed is not None else config.seed or 0,
            timeout_s=args.timeout,
            retries=args.retries,
            settle_s=args.settle,
            contract_checks=not args.no_contract_checks,
            opaque_ids=args.opaque_ids,
            allow_nonempty=args.allow_nonempty,
            progress=shown,
        )


def _show_invalid(validity: Validity, controls: Controls | None, args: argparse.Namespace) -> None:
    from memeval import frames
    from memeval.simulation import Simulation

    nothing = Simulation(
        drift_probes=frames.empty(frames.DRIFT_PROBES),
        checkpoints=frames.empty(frames.CHECKPOINTS),
        sizes=frames.empty(frames.SIZES),
        manifest={} if controls is None else {"store": controls.real.manifest.store},
        validity=validity,
    )
    if controls is not None and args.format != "json":
        words = form(args.format)
        show(words.controls_text(controls.frame, validity, controls.real).strip("\n") + "\n")
    show_simulation(nothing, args.format)
    say(NOT_GROWN, quiet=args.quiet)
