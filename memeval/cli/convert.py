"""``memeval convert``: suites, runs and answers in the forms of others."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.cli import choosing, conversions, options
from memeval.cli.console import say, show, wrapped
from memeval.cli.files import check_place
from memeval.config import load_config
from memeval.errors import MemevalError

if TYPE_CHECKING:
    from memeval.suite import Suite

HELP = "read and write suites, runs and data sets in the forms of others"
DESCRIPTION = """\
--from FORM PATH reads, --to FORM PATH writes. Without --from the suite of
--probes is taken; without --to it is said what was read, and nothing written.

--from  probes, jsonl, csv, beir, longmemeval, locomo, factconsolidation, madial
        (a suite); run (RUN.json); trec (RUN QRELS), dicts (rankings alone);
        mem0, chat (records alone: mem0 get_all; ChatGPT, Claude and other logs)
--to    probes, jsonl, csv, beir, trec-qrels, dicts; of a run trec-run as well

What was odd in the files, and what the other form has no words for, is named
and counted. No file that says something else is written over without --force.

--to calls --dir DIR writes the suite as bodies of the evaluation call
(request-001.json and on, up to 200 cases each, one agent and one k) for a
service that holds the records already. Send each, and save its answer beside it
as answer-001.json. --from calls --dir DIR reads the answers back as a run file,
for 'memeval compare' and 'memeval report'; a probe that was asked must be as it
was.

Exit code 2: something is missing or at fault; nothing was written."""
EXAMPLE = "memeval convert --to beir exported"
# Options of a reader, by name; those of the calls stand in `_CALLS`.
OF_READERS = ("k", "unit", "part", "split", "scope_field", "time_field")
_CALLS = {"workspace": "--to", "dataset": "--to", "ids": "--to", "out": "--from"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    add = parser.add_argument
    options.add_probes(parser)
    form = ("FORM", "PATH")
    add("--from", dest="source", nargs="+", type=options.filled, metavar=form,
        help="form to read, and where it lies")  # fmt: skip
    add("--to", dest="target", nargs="+", type=options.filled, metavar=form,
        help="form to write, and where to")  # fmt: skip
    add("--force", action="store_true", help="write over files that say something else")
    group = parser.add_argument_group("data sets")
    add = group.add_argument
    add("--k", type=options.whole(1), metavar="N", help="cutoff of the probes (default: 5)")
    add("--unit", choices=("turn", "session"), help="longmemeval: what a record is")
    add("--part", type=options.filled, metavar="NAME", help="factconsolidation: file of a folder")
    add("--split", type=options.filled, metavar="NAME", help="beir: which qrels (default: test)")
    add("--scope-field", type=options.filled, metavar="NAME",
        help="beir: field of the metadata that says whose a record is")  # fmt: skip
    add("--time-field", type=options.filled, metavar="NAME",
        help="beir: field of the metadata that holds its time")  # fmt: skip
    _add_calls(parser)
    options.add_words(parser)


def _add_calls(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("evaluation calls").add_argument
    add("--dir", type=options.filled, metavar="DIR", help="folder of the calls")
    add(
        "--workspace", type=options.filled, metavar="ID", help="with --to: workspaceId of each body"
    )
    add(
        "--dataset",
        type=options.filled,
        metavar="LABEL",
        help="with --to: datasetVersion of each body (default: the hash of the suite)",
    )
    add(
        "--ids",
        type=options.filled,
        metavar="FILE",
        help="with --to: the store's ids, JSON: for each probe an object from record to id",
    )
    add(
        "--out",
        type=options.filled,
        metavar="FILE",
        help="with --from: the run file (default: DIR/run.json)",
    )


def execute(args: argparse.Namespace) -> int:
    """Read, say what was found, and write."""
    if not args.source and not args.target:
        raise MemevalError("found neither --from nor --to; name a form and a path after one")
    source, *paths = args.source or ["probes"]
    target, *places = args.target or [""]
    conversions.form_of(source, tuple(conversions.FORMS))
    if target:
        conversions.form_of(target, (*conversions.WRITERS, "calls"))
    _check(args, source, target)
    if source == "calls":
        return _read_calls(args, _folder(args, paths))
    found = _found(args, source, paths)
    if target:
        conversions.check_way(found, target)
    _tell(f"read {source}: {found.said}", found.odd)
    if not target:
        say("nothing was written; --to FORM PATH writes it", quiet=args.quiet)
        return 0
    if target == "calls":
        suite = found.made.suite if found.kind == "run" else found.made
        return _write_calls(suite, args, _folder(args, places))
    return _write(args, found, target, places)


def _check(args: argparse.Namespace, source: str, target: str) -> None:
    """Refuse options that the two forms have no use for."""
    for name, way in _CALLS.items():
        wanted = source if way == "--from" else target
        if getattr(args, name) and wanted != "calls":
            raise MemevalError(f"--{name} is of {way} calls; leave it out")
    if args.dir and "calls" not in (source, target):
        raise MemevalError("--dir is of calls; write the path after the form")
    if source == "calls" and target:
        raise MemevalError("--from calls makes a run file; convert that with --from run")
    if args.probes and args.source and source not in ("probes", "calls"):
        raise MemevalError(f"--probes is no part of --from {source}; leave one of them out")
    takes = {*conversions.FORMS[source].options, *(["split"] if target == "beir" else [])}
    for name in OF_READERS:
        if getattr(args, name) is not None and name not in takes:
            option = name.replace("_", "-")
            raise MemevalError(f"--{option} says nothing to --from {source}; leave it out")


def _found(args: argparse.Namespace, source: str, paths: list[str]) -> conversions.Read:
    if source == "probes" and not paths:
        return conversions.of_suite(choosing.load_suite(args, load_config()))
    if source == "probes" and args.probes:
        raise MemevalError("found --probes and paths after --from probes; leave one of them out")
    takes = conversions.FORMS[source].options
    given = {takes[name]: getattr(args, name) for name in takes if getattr(args, name) is not None}
    return conversions.read(source, paths, given)


def _write(
    args: argparse.Namespace, found: conversions.Read, target: str, places: list[str]
) -> int:
    if len(places) != 1:
        raise MemevalError(f"found {len(places)} paths after --to {target}, wanted one")
    more = {"split": args.split} if target == "beir" and args.split else {}
    lost = conversions.write(target, found, places[0], {"replace": args.force, **more})
    _tell(f"wrote {target}: {places[0]}", lost)
    return 0


def _tell(said: str, odd: list[conversions.Oddity]) -> None:
    """Show a line, and below it what was odd: how many, of what, and one of them."""
    show(wrapped(said))
    for n, what, example in odd:
        such = f", such as {example}" if example else ""
        show(wrapped(f"{n:>7,}  {what}{such}", indent=" " * 9))


def _folder(args: argparse.Namespace, paths: list[str]) -> str:
    folders = [*([args.dir] if args.dir else []), *paths]
    if len(folders) != 1:
        raise MemevalError("calls lie in one folder; name it with --dir")
    return str(folders[0])


def _write_calls(suite: Suite, args: argparse.Namespace, folder: str) -> int:
    from memeval.calls import requests_of
    from memeval.files.callfiles import read_ids, write_calls

    ids = None if args.ids is None else read_ids(args.ids)
    made = requests_of(suite, workspace=args.workspace, dataset=args.dataset, ids=ids)
    if not made.requests:
        raise MemevalError(f"no probe can be asked by a call: {'; '.join(made.lines()[1:])}")
    written = write_calls(made, folder)
    for line in made.lines():
        show(wrapped(line))
    names = written[0].name + (f" to {written[-1].name}" if len(written) > 1 else "")
    show(wrapped(f"wrote {names} in {folder}"))
    say(f"send each of {folder}, and save the answers as answer-001.json ...", quiet=args.quiet)
    return 0


def _read_calls(args: argparse.Namespace, folder: str) -> int:
    from memeval.calls import run_of_answers
    from memeval.files.callfiles import read_answers, read_calls
    from memeval.files.runfiles import save_run

    suite = choosing.load_suite(args, load_config())
    out = Path(args.out or Path(folder) / "run.json")
    check_place(out)
    if out.exists():
        raise MemevalError(f"{out}: is there already and stays; name another file with --out")
    calls = read_calls(folder)
    run = run_of_answers(suite, calls, read_answers(folder, calls))
    save_run(run, out)
    for line in [*calls.lines(), f"recall_all {run.recall_at_k:.3f}, leaks {run.leaks}"]:
        show(wrapped(line))
    say(f"wrote {out}", quiet=args.quiet)
    return 0
