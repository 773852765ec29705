"""``memeval serve``: the evaluation call over HTTP."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from memeval.cli import choosing, options
from memeval.cli.console import say
from memeval.config import load_config
from memeval.errors import MemevalError, StoreError

HELP = "the evaluation call over HTTP, on loopback by default"
DESCRIPTION = """\
Answer POST /v1/memory/evals/run from stores that are full already, read-only,
as 'memeval evaluate' does. MEMEVAL_KEYS in the environment says who may ask: a
JSON list such as [{"id": "ci", "secret": "...", "agents": ["ana"]}]. A key
without agents may search as apikey:ID alone. There is no TLS here: for other
machines, put a proxy before it. One line of JSON a call goes to stdout,
without queries.

Exit codes: 0 stopped, 2 could not start."""
EXAMPLE = "memeval serve --store mymemory:open_store --port 8787"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument(
        "--store",
        type=options.filled,
        metavar="NAME",
        help="package.module:factory that opens the store, asked whatever the workspaceId "
        "(default: store of [tool.memeval] in pyproject.toml)",
    )
    parser.add_argument(
        "--workspace",
        type=_workspace,
        action="append",
        default=[],
        metavar="ID=NAME",
        help="a store for requests with this workspaceId (repeatable, in place of --store)",
    )
    parser.add_argument(
        "--host",
        type=options.filled,
        default="127.0.0.1",
        help="where to listen (default: 127.0.0.1)",
    )
    parser.add_argument(
        "--port", type=options.whole(0), default=8787, help="0: any free one (default: 8787)"
    )
    group = parser.add_argument_group("limits")
    group.add_argument(
        "--rate",
        type=options.whole(1),
        default=60,
        metavar="N",
        help="calls a minute of one key (default: 60)",
    )
    group.add_argument(
        "--max-bytes",
        type=options.whole(1),
        default=4 * 2**20,
        metavar="N",
        help="longest body (default: 4194304)",
    )
    group.add_argument(
        "--timeout",
        type=options.seconds(above=True),
        default=30.0,
        metavar="S",
        help="time limit of one search in seconds (default: 30)",
    )
    options.add_words(parser)


def _workspace(text: str) -> tuple[str, str]:
    name, equals, store = text.partition("=")
    if not (name.strip() and equals and store.strip()):
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted ID=package.module:factory")
    return name, store


def execute(args: argparse.Namespace) -> int:
    """Open the stores and serve until stopped."""
    from memeval.server import PATH, make_app, serve

    app = make_app(
        _stores(args),
        per_minute=args.rate,
        most_bytes=args.max_bytes,
        search_s=args.timeout,
        log=_log,
    )

    def started(address: str) -> None:
        say(f"listening: {address}{PATH} (Ctrl-C stops it)", quiet=args.quiet)

    try:
        serve(app, host=args.host, port=args.port, started=started)
    except KeyboardInterrupt:
        say("stopped", quiet=args.quiet)
    return 0


def _stores(args: argparse.Namespace) -> Callable[[], Any] | dict[str, Callable[[], Any]]:
    """Open one store for any workspace, or one for each."""
    if args.workspace and args.store:
        raise MemevalError("found --store and --workspace, wanted one of them; leave one out")
    if args.workspace:
        named = {name: choosing.find_store(store) for name, store in args.workspace}
        if len(named) < len(args.workspace):
            raise MemevalError("--workspace: one id stands there twice; name each once")
        return named
    store = args.store or load_config().store
    if store is None:
        raise StoreError(
            "no store is named, wanted one that is full already; --store package.module:factory, "
            "with a function that opens yours"
        )
    return choosing.find_store(store)


def _log(entry: dict[str, Any]) -> None:
    try:
        print(json.dumps(entry), flush=True)
    except OSError as error:  # whoever read it has gone; calls are answered all the same
        say(f"the log cannot be written ({error.strerror or error})")
