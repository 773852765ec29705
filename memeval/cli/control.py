"""``memeval control``: whether the probes fail stores that are broken on purpose."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from memeval.cli import choosing, looks, options, publishing
from memeval.cli.console import show
from memeval.cli.forms import form, rows, show_json, show_relations
from memeval.cli.planning import show_plan
from memeval.cli.progress import progress
from memeval.config import Config, load_config
from memeval.errors import MemevalError

if TYPE_CHECKING:
    from memeval.controls import Controls
    from memeval.relations import Relations
    from memeval.suite import Suite

HELP = "check the probes against stores that are broken on purpose; start here"
DESCRIPTION = """\
Run the probes against stores that are broken on purpose, and against yours.
Probes that do not fail the broken ones measure nothing. Exit code 0: the suite
is sound; 4: the suite is invalid; 1: the suite is sound and the store is not.

With --relations no probes are needed: records are rearranged, renamed, written
twice and deleted in your store, and the answers must agree. Exit code 0: they
do; 1: they do not."""
EXAMPLE = "memeval control --store sqlite --format markdown"
# Options of probes, which relations do without.
OF_PROBES = ("tag", "name", "failed_last", "holdout", "repeats", "dry_run", "github")
STAGES = (
    "your store",
    "null store",
    "random store",
    "shuffled store",
    "oracle store",
    "newest store",
    "constant store",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    options.add_probes(parser)
    options.add_selection(parser)
    options.add_asking(parser)
    group = parser.add_argument_group("without probes")
    group.add_argument(
        "--relations",
        action="store_true",
        help="check only what must hold whatever the right answers are (writes everyday records; "
        "those of --probes where it is given)",
    )
    publishing.add_github(parser)
    options.add_output(parser)


@publishing.without_commands
def execute(args: argparse.Namespace) -> int:
    """Run the controls, print what they came to, and give the exit code of their verdict."""
    config = load_config()
    if args.relations:
        found = check(args, config)
        show_relations(found, args.format)
        return found.verdict.exit_code
    suite = choosing.choose(choosing.load_suite(args, config), args, config)
    if args.dry_run:
        return plan_controls(suite, args, config)
    controls = make_controls(suite, args, config)
    looks.counted(controls.real, config, quiet=args.quiet)
    if args.format == "json":
        show_json(rows(controls.frame))
    else:
        show(
            form(args.format)
            .controls_text(controls.frame, controls.validity, controls.real)
            .strip("\n")
        )
    if args.github:
        from memeval.report import github, markdown

        summary = markdown.controls_text(controls.frame, controls.validity, controls.real)
        told = github.controlled(controls.validity, controls.verdict)
        publishing.publish(told, f"## Controls\n\n{summary}", args)
    return controls.verdict.exit_code


def make_controls(suite: Suite, args: argparse.Namespace, config: Config) -> Controls:
    """Run the store under test and the broken ones."""
    from memeval.controls import run_controls

    make_store = choosing.store_of(args, config)
    told: dict[str, Any] = choosing.run_options(args, config)
    with progress(STAGES, quiet=args.quiet) as shown:
        return run_controls(suite, make_store, progress=shown, **told)


def plan_controls(suite: Suite, args: argparse.Namespace, config: Config) -> int:
    """Say what the controls would take: the store is asked once as it is and once shuffled."""
    make_store = choosing.store_of(args, config)
    passes = [(args.repeats or 1, not args.no_repeat_check), (1, False)]
    return show_plan(suite, make_store, choosing.run_options(args, config), args, passes)


def check(args: argparse.Namespace, config: Config) -> Relations:
    """Check the relations, on records of the probes where these are named.

    Raises
    ------
    MemevalError
        If an option is given that speaks of probes, or of workers.
    """
    told = [f"--{name.replace('_', '-')}" for name in OF_PROBES if getattr(args, name)]
    told += ["--jobs"] if args.jobs != 1 else []
    if told:
        raise MemevalError(
            f"{', '.join(told)} given beside --relations, which asks no probes and runs alone; "
            "leave it out, or leave out --relations"
        )
    from memeval.relations import check_relations

    suite = choosing.load_suite(args, config) if args.probes else None
    make_store = choosing.store_of(args, config)
    with progress(("relations",), quiet=args.quiet) as shown:
        return check_relations(
            make_store,
            suite=suite,
            seed=args.seed if args.seed is not None else config.seed or 0,
            progress=shown,
            timeout_s=args.timeout,
            retries=args.retries,
            settle_s=args.settle,
            opaque_ids=args.opaque_ids,
            allow_nonempty=args.allow_nonempty,
            max_calls=args.max_calls,
        )
