"""``memeval evaluate``: one evaluation call, asked of a store that is full already."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from memeval.cli import choosing, options
from memeval.cli.console import say, show
from memeval.cli.files import check_place
from memeval.cli.forms import show_json
from memeval.config import load_config
from memeval.errors import Fault, MemevalError, RequestError, StoreError

HELP = "one evaluation call: cases in JSON, of a store that is full already"
DESCRIPTION = """\
Answer one evaluation call (agentId, k, datasetVersion, 1 to 200 cases with
query, expectedIds, forbiddenIds, staleIds) from a store that is full already.
Nothing is written to it and no trace is left: it is asked in a scratch or a
fork, or it declares that its searches change nothing. --store names a factory
that opens your store; a short name gives an empty one.

Exit codes: 0 passed; 1 a forbidden memory came back, or a search failed; 2 the
request or the store cannot be used (--format json prints the error object)."""
EXAMPLE = "memeval evaluate request.json --store mymemory:open_store --format json"
MOST_BYTES = 64 * 2**20


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument(
        "request",
        type=options.filled,
        metavar="REQUEST.json",
        help="the JSON body of the call; - reads it from standard input",
    )
    parser.add_argument(
        "--store",
        type=options.filled,
        metavar="NAME",
        help="package.module:factory that opens the store "
        "(default: store of [tool.memeval] in pyproject.toml)",
    )
    parser.add_argument(
        "--timeout",
        type=options.seconds(above=True),
        metavar="S",
        help="time limit of one search in seconds (default: none)",
    )
    parser.add_argument(
        "--out", type=options.filled, metavar="FILE", help="write the JSON answer there too"
    )
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Read the request, ask the store, print the answer."""
    if args.out is not None:
        check_place(args.out)
    try:
        told = _evaluated(args)
    except RequestError as error:
        if args.format == "json":
            show_json(error.to_dict())
        raise
    if args.out is not None:
        from memeval.atomic import write_whole

        write_whole(args.out, json.dumps(told, indent=2, allow_nan=False) + "\n")
        say(f"the answer: {args.out}", quiet=args.quiet)
    _show(told, args.format)
    return 0 if told["passed"] else 1


def _evaluated(args: argparse.Namespace) -> dict[str, Any]:
    from memeval.evaluating.request import read_request
    from memeval.evaluation import evaluate_request
    from memeval.stores.bound import BoundStore

    body = _body(args.request)
    read_request(body)  # before a store is opened for it
    name = args.store or load_config().store
    if name is None:
        raise StoreError(
            "no store is named, wanted one that is full already; --store package.module:factory, "
            "with a function that opens yours, or store in [tool.memeval] of pyproject.toml"
        )
    bound = BoundStore(choosing.find_store(name)(), timeout_s=args.timeout)
    try:
        if bound.count() == 0:
            raise StoreError(
                f"store {name!r} is empty, wanted one that is full already; name a function that "
                "opens yours (package.module:factory), short names give a new one"
            )
        return evaluate_request(body, bound)
    finally:
        bound.close()


def _body(name: str) -> Any:
    """What the JSON of a file, or of standard input, comes to."""
    raw = sys.stdin.buffer.read(MOST_BYTES + 1) if name == "-" else _bytes(Path(name))
    place = "standard input" if name == "-" else name
    if len(raw) > MOST_BYTES:
        raise MemevalError(f"{place}: more than {MOST_BYTES >> 20} MiB; send the cases in batches")
    from memeval.evaluating.request import parse_json

    try:
        return parse_json(raw)
    except ValueError as error:
        found = f"{place} is no JSON ({error})"
        raise RequestError([Fault(found, "send one object in UTF-8")]) from error


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def _show(told: dict[str, Any], form: str) -> None:
    if form == "json":
        show_json(told)
        return
    from memeval.report.evaluation_text import answer_markdown, answer_text

    show(answer_markdown(told) if form == "markdown" else answer_text(told))
