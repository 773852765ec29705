"""``memeval check-store``: what a store does with ids, scopes, deletes and odd queries."""

from __future__ import annotations

import argparse

from memeval.cli import choosing, options
from memeval.cli.console import show
from memeval.cli.forms import rows, show_json
from memeval.cli.progress import progress
from memeval.config import load_config

HELP = "try what your store does with ids, scopes, deletes and odd queries; no probes"
DESCRIPTION = """\
Write a few records to your store and say in words what it does with them: ids,
texts, second writes, scopes with hostile names, deletes, the order of scores,
k, how long until a write is found, odd queries. Start here with a new adapter.

Exit code 1: something is other than the store declares, or than any store owes
its caller. What is only worth knowing fails nothing."""
EXAMPLE = "memeval check-store --store sqlite"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    group = parser.add_argument_group("the store")
    group.add_argument(
        "--store",
        type=options.filled,
        metavar="NAME",
        help="short name, FILE.yaml or package.module:factory (default: store of [tool.memeval] in "
        "pyproject.toml, else sqlite)",
    )
    group.add_argument(
        "--timeout",
        type=options.seconds(above=True),
        default=30.0,
        metavar="S",
        help="time limit of one search in seconds (default: 30)",
    )
    group.add_argument(
        "--settle",
        type=options.seconds(above=False),
        default=60.0,
        metavar="S",
        help="wait at most S seconds until writes can be found (default: 60)",
    )
    group.add_argument(
        "--allow-nonempty",
        action="store_true",
        help="accept a store that holds records; only what memeval wrote is removed",
    )
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Try the store, print what was found, and give the exit code of the verdict."""
    config = load_config()
    make_store = choosing.find_store(choosing.store_name(args, config))
    from memeval.storecheck import check_store

    with progress(quiet=args.quiet) as shown:
        found = check_store(
            make_store,
            timeout_s=args.timeout,
            settle_s=args.settle,
            allow_nonempty=args.allow_nonempty,
            progress=shown,
        )
    verdict = found.verdict
    if args.format == "json":
        show_json({
            "store": found.store, "verdict": verdict.word, "reason": verdict.reason,
            "next_step": verdict.next_step, "checks": rows(found.table),
        })  # fmt: skip
    elif args.format == "markdown":
        from memeval.report.check_rows import markdown

        show(markdown(found).rstrip("\n"))
    else:
        show(repr(found))
    return verdict.exit_code
