"""``memeval convert``: suites and answers in the forms of others."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.cli import choosing, options
from memeval.cli.console import say, show
from memeval.cli.files import check_place
from memeval.config import load_config
from memeval.errors import MemevalError

if TYPE_CHECKING:
    from memeval.suite import Suite

HELP = "write a suite as evaluation calls, and read their answers as a run"
DESCRIPTION = """\
--to calls writes the suite as bodies of the evaluation call (request-001.json
and on, up to 200 cases each, one agent and one k) for a service that holds the
records already. Send each, and save its answer beside it as answer-001.json.
--from calls reads the answers back as a run file, for 'memeval compare' and
'memeval report'; a probe that was asked must be as it was. What a call has no
words for is named and counted.

Exit code 2: something is missing; nothing was written."""
EXAMPLE = "memeval convert --to calls --dir calls"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    options.add_probes(parser)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--to", choices=("calls",), help="what to write of the suite")
    way.add_argument("--from", dest="source", choices=("calls",), help="what to read a run of")
    parser.add_argument(
        "--dir", required=True, type=options.filled, metavar="DIR", help="folder of the calls"
    )
    parser.add_argument(
        "--workspace", type=options.filled, metavar="ID", help="with --to: workspaceId of each body"
    )
    parser.add_argument(
        "--dataset",
        type=options.filled,
        metavar="LABEL",
        help="with --to: datasetVersion of each body (default: the hash of the suite)",
    )
    parser.add_argument(
        "--ids",
        type=options.filled,
        metavar="FILE",
        help="with --to: the store's ids, JSON: for each probe an object from record to id",
    )
    parser.add_argument(
        "--out",
        type=options.filled,
        metavar="FILE",
        help="with --from: the run file (default: DIR/run.json)",
    )
    options.add_words(parser)


def execute(args: argparse.Namespace) -> int:
    """Write calls, or read their answers."""
    of_to = {"--workspace": args.workspace, "--dataset": args.dataset, "--ids": args.ids}
    wrong = [name for name, value in of_to.items() if value and args.source]
    wrong += ["--out"] if args.out and args.to else []
    if wrong:
        other = "--to" if args.source else "--from"
        raise MemevalError(f"{wrong[0]} is of {other} calls; leave it out")
    suite = choosing.load_suite(args, load_config())
    return _written(suite, args) if args.to else _read(suite, args)


def _written(suite: Suite, args: argparse.Namespace) -> int:
    from memeval.calls import requests_of
    from memeval.files.callfiles import read_ids, write_calls

    ids = None if args.ids is None else read_ids(args.ids)
    made = requests_of(suite, workspace=args.workspace, dataset=args.dataset, ids=ids)
    if not made.requests:
        raise MemevalError(f"no probe can be asked by a call: {'; '.join(made.lines()[1:])}")
    written = write_calls(made, args.dir)
    show("\n".join([*made.lines(), *(str(path.name) for path in written)]))
    say(f"send each of {args.dir}, and save the answers as answer-001.json ...", quiet=args.quiet)
    return 0


def _read(suite: Suite, args: argparse.Namespace) -> int:
    from memeval.calls import run_of_answers
    from memeval.files.callfiles import read_answers, read_calls
    from memeval.files.runfiles import save_run

    out = Path(args.out or Path(args.dir) / "run.json")
    check_place(out)
    if out.exists():
        raise MemevalError(f"{out}: is there already and stays; name another file with --out")
    calls = read_calls(args.dir)
    run = run_of_answers(suite, calls, read_answers(args.dir, calls))
    save_run(run, out)
    show("\n".join([*calls.lines(), f"recall_all {run.recall_at_k:.3f}, leaks {run.leaks}"]))
    say(f"wrote {out}", quiet=args.quiet)
    return 0
