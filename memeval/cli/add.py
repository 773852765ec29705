"""``memeval add``: one more probe, from options, from questions, or from a transcript."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from memeval.cli import options, prompts
from memeval.cli.console import say, show
from memeval.cli.prompts import Fields
from memeval.config import load_config
from memeval.errors import ProbeError

HELP = "add a probe to a probe file, checked before it is written"
DESCRIPTION = """\
Add one probe at the end of a probe file. What is not said by an option is asked
for on a terminal, and the probe is shown before it is written. It is checked
first, together with the other files of its folder; comments and order of the
file stay as they are. With --from, questions of a chat or query log (LoCoMo,
MemoryBank, exports of ChatGPT and Claude, JSON lines) are proposed; none enters
without your yes, and without a terminal they are only listed."""
EXAMPLE = 'memeval add --name lunch --query Lunch? --record "r1=At noon." --expect r1'
DEFAULT = Path("probes") / "core.yaml"
ALL = ("query", "name", "scope", "given", "expect", "forbid", "tags", "why")
# What a probe needs, and how it is said.
NEEDED = {
    "name": "--name NAME",
    "query": "--query TEXT",
    "given": "--record ID=TEXT",
    "expect": "--expect ID, or --negative where nothing is right",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    add = parser.add_argument
    add("--probes", metavar="FILE", help=f"file to add to (default: {DEFAULT.as_posix()})")
    add("--name", help="name of the probe, unique in the suite")
    add("--query", metavar="TEXT", help="what is asked")
    add("--scope", help='whose memory is asked (default: "default")')
    add("--k", type=options.whole(1), metavar="N", help="cutoff (default: 5)")
    add(
        "--record",
        dest="given",
        action="append",
        type=record,
        metavar="ID=TEXT",
        help="a record that is written before (repeatable, in order)",
    )
    add(
        "--record-json",
        dest="given",
        action="append",
        type=record_json,
        metavar="JSON",
        help='the same with all its fields: \'{"id": "r1", "text": "...", "scope": "bo"}\'; '
        'also \'{"delete": "r1"}\'',
    )
    expected = parser.add_mutually_exclusive_group()
    several: Any = {"nargs": "+", "action": "extend", "metavar": "ID"}
    expected.add_argument("--expect", **several, help="records that must come back")
    expected.add_argument("--negative", action="store_true", help="nothing is the right answer")
    add("--forbid", **several, help="records that must not come back")
    add("--tag", dest="tags", metavar="TAG", action="append", help="tag (repeatable)")
    add("--why", metavar="TEXT", help="where it comes from: the failure that it stands for")
    add("--from", dest="source", metavar="FILE", help="propose questions of a chat or query log")
    add("--dry-run", action="store_true", help="show what would be written, and write nothing")
    options.add_output(parser)


def record(text: str) -> Fields:
    """Parse ``ID=TEXT``.

    Examples
    --------
    >>> record("r1=Lunch is at 1 = 13:00.")
    {'id': 'r1', 'text': 'Lunch is at 1 = 13:00.'}
    """
    name, equals, said = text.partition("=")
    if not equals or not name.strip() or not said.strip():
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted ID=TEXT")
    return {"id": name.strip(), "text": said}


def record_json(text: str) -> Fields:
    """Parse a record, or another step of a history, as JSON."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"found {text!r}, which is no JSON ({error})") from error
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError(f'found {text!r}, wanted {{"id": "r1", "text": "..."}}')
    return found


def execute(args: argparse.Namespace) -> int:
    """Add the probe and print it; 2 where something is missing or at fault."""
    target = _target(args)
    fields = _fields(args)
    if args.source is not None:
        from memeval.cli.proposing import propose

        if fields:
            said = ", ".join(sorted(fields))
            raise ProbeError(
                f"found --from together with {said}; leave out one of the two: with --from the "
                "probe is made from a candidate"
            )
        return propose(args, target)
    missing = [told for name, told in NEEDED.items() if name not in fields]
    if not prompts.at_terminal():
        if missing:
            raise ProbeError(
                f"found no terminal to ask at, and these are missing: {'; '.join(missing)}; give "
                "them as options"
            )
        write(fields, target, args)
        return 0
    if missing:
        fields = prompts.complete(fields, ALL)
    if not offer(fields, target, args):
        say("nothing was written", quiet=args.quiet)
    return 0


def _target(args: argparse.Namespace) -> Path:
    """File to add to: option, else setting, else the default; in a folder its core.yaml."""
    named = args.probes or next(iter(load_config().probes), None)
    path = DEFAULT if named is None else Path(named)
    return path / DEFAULT.name if path.is_dir() else path


def _fields(args: argparse.Namespace) -> Fields:
    """What the options say of the probe, in the words of a probe file."""
    said = {name: getattr(args, name) for name in (*ALL, "k")}
    if args.negative:
        said["expect"] = []
    return {name: value for name, value in said.items() if value is not None}


def offer(fields: Fields, target: Path, args: argparse.Namespace) -> bool:
    """Check the probe, show it, and write it if the person says yes.

    Returns
    -------
    bool
        Whether it was written.
    """
    from memeval.adding import prepare_probe

    while True:
        try:
            addition = prepare_probe(fields, target)
            break
        except ProbeError as error:
            again = _askable(error, fields)
            if not again:
                raise
            say(str(error))
            kept = {name: value for name, value in fields.items() if name not in again}
            fields = prompts.complete(kept, [name for name in (*ALL, "k") if name in again])
    show(addition.lines.rstrip("\n"))
    if args.dry_run or not prompts.confirmed("write it?"):
        return False
    write(fields, target, args, shown=True)
    return True


def _askable(error: ProbeError, fields: Fields) -> set[str]:
    """Fields to ask for again; none where the fault is not in the answers."""
    own = all(not f.line and f.probe == fields.get("name") for f in error.faults)
    named = {fault.field.partition("[")[0].partition(".")[0] for fault in error.faults}
    again = named & {*ALL, "k"} if own else set()
    return again | ({"expect", "forbid"} & set(fields) if "given" in again else set())


def write(fields: Fields, target: Path, args: argparse.Namespace, *, shown: bool = False) -> None:
    """Write the probe, unless nothing is to be written, and print it once."""
    from memeval.adding import append_probe, prepare_probe

    if not shown:
        show(prepare_probe(fields, target).lines.rstrip("\n"))
    if args.dry_run:
        say(f"not written to {target}, since --dry-run was given", quiet=args.quiet)
        return
    first = not target.parent.exists()
    append_probe(fields, target)
    say(f"added to {target}", quiet=args.quiet)
    if first and target.parent == DEFAULT.parent:
        say(
            "the folder probes is new: from now on its probes are asked here, not the shipped ones",
            quiet=args.quiet,
        )
