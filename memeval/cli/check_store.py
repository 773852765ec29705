"""``memeval check-store``: what a store does with ids, scopes, deletes and odd queries."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from memeval.cli import choosing, files, options
from memeval.cli.console import say, show
from memeval.cli.forms import show_json
from memeval.cli.progress import progress
from memeval.config import load_config

if TYPE_CHECKING:
    from memeval.storecheck import StoreCheck

HELP = "try what your store does with ids, scopes, deletes and odd queries; no probes"
DESCRIPTION = """\
Write a few records to your store and say in words what it does with them: ids,
texts, second writes, scopes with hostile names, deletes, the order of scores,
k, how long until a write is found, odd queries. Start here with a new adapter.
What is found is kept in .memeval/stores; 'memeval run' and the other verbs use
it for the store of that name, where the store itself declares nothing.

Exit code 1: something is other than the store declares, or than any store owes
its caller; 2: it cannot even be written to and searched. What is only worth
knowing fails nothing."""
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
        "--embedder",
        type=options.filled,
        metavar="NAME",
        help="what the store embeds with (hash, table, minilm): ranks must be its exact cosine's",
    )
    group.add_argument(
        "--timeout",
        type=options.seconds(above=True),
        metavar="S",
        help="time limit of one search in seconds (default: 30 for odd queries, else none)",
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
    group.add_argument("--seed", type=options.whole(0), default=0, help="seed (default: 0)")
    group.add_argument("--no-keep", action="store_true", help="write no file in .memeval/stores")
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Try the store, print what was found, and give the exit code of the verdict."""
    name = choosing.store_name(args, load_config())
    make_store = choosing.find_store(name)
    from memeval.storecheck import check_store

    with progress(quiet=args.quiet) as shown:
        found = check_store(
            make_store,
            seed=args.seed,
            timeout_s=args.timeout,
            settle_s=args.settle,
            allow_nonempty=args.allow_nonempty,
            embedder=args.embedder,
            progress=shown,
        )
    found = replace(found, store=name)
    try:
        _keep(found, args)
    finally:  # what was found is shown even where it cannot be kept
        _show(found, args.format)
    return found.verdict.exit_code


def _keep(found: StoreCheck, args: argparse.Namespace) -> None:
    if args.no_keep:
        return
    files.make_home()
    choosing.CHECKS.mkdir(exist_ok=True)
    path = choosing.check_file(found.store)
    found.save(path)
    say(f"wrote {path.as_posix()}", quiet=args.quiet)


def _show(found: StoreCheck, name: str) -> None:
    if name == "json":
        show_json(found.to_dict())
    elif name == "markdown":
        from memeval.report.check_rows import markdown

        show(markdown(found).rstrip("\n"))
    else:
        show(repr(found))
