"""``memeval control``: whether the probes fail stores that are broken on purpose."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from memeval.cli import choosing, options
from memeval.cli.console import show
from memeval.cli.forms import form, rows, show_json
from memeval.cli.planning import show_plan
from memeval.cli.progress import progress
from memeval.config import Config, load_config

if TYPE_CHECKING:
    from memeval.controls import Controls
    from memeval.suite import Suite

HELP = "check the probes against stores that are broken on purpose; start here"
DESCRIPTION = """\
Run the probes against stores that are broken on purpose, and against yours.
Probes that do not fail the broken ones measure nothing. Exit code 0: the suite
is sound; 4: the suite is invalid; 1: the suite is sound and the store is not."""
EXAMPLE = "memeval control --store sqlite --format markdown"
STAGES = ("your store", "null store", "random store", "shuffled store", "oracle store")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    options.add_probes(parser)
    options.add_selection(parser)
    options.add_asking(parser)
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Run the controls, print what they came to, and give the exit code of their verdict."""
    config = load_config()
    suite = choosing.choose(choosing.load_suite(args, config), args, config)
    if args.dry_run:
        return plan_controls(suite, args, config)
    controls = make_controls(suite, args, config)
    if args.format == "json":
        show_json(rows(controls.frame))
    else:
        show(form(args.format).controls_text(controls.frame, controls.validity).strip("\n"))
    return controls.verdict.exit_code


def make_controls(suite: Suite, args: argparse.Namespace, config: Config) -> Controls:
    """Run the store under test and the broken ones."""
    from memeval.controls import run_controls

    make_store = choosing.find_store(choosing.store_name(args, config))
    told: dict[str, Any] = choosing.run_options(args, config)
    with progress(STAGES, quiet=args.quiet) as shown:
        return run_controls(suite, make_store, progress=shown, **told)


def plan_controls(suite: Suite, args: argparse.Namespace, config: Config) -> int:
    """Say what the controls would take: the store is asked once as it is and once shuffled."""
    make_store = choosing.find_store(choosing.store_name(args, config))
    passes = [(args.repeats or 1, not args.no_repeat_check), (1, False)]
    return show_plan(suite, make_store, choosing.run_options(args, config), args, passes)
