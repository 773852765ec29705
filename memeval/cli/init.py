"""``memeval init``: a folder to start from."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from memeval.cli import options, prompts
from memeval.cli.console import say, show
from memeval.errors import MemevalError
from memeval.text import visible

HELP = "a folder to start from: probes, a store to fill in, a workflow, settings"
DESCRIPTION = """\
Write what it takes to start: twenty probes to be replaced, memory_store.py to
put your memory behind, a GitHub workflow, [tool.memeval] in pyproject.toml, and
.memeval/ in .gitignore. It runs as it is. In a folder that holds something it
asks first, and no file that is there is written over: settings are added at the
end. Exit code 2: nothing was written."""
EXAMPLE = "memeval init my-memory"
WORDS = {"new": "new", "add": "added to", "keep": "kept as it is"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument(
        "folder",
        nargs="?",
        default=".",
        type=options.filled,
        metavar="DIR",
        help="where to; made where it is not there (default: this folder)",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask, in a folder that is in use")
    parser.add_argument("--dry-run", action="store_true", help="say what it would do, no more")
    options.add_words(parser)


def execute(args: argparse.Namespace) -> int:
    """Plan, ask where the folder is in use, write, and say how to go on."""
    from memeval.starting import carry_out, plan

    folder = Path(args.folder)
    steps = plan(folder)
    show("\n".join(f"{WORDS[step.kind]:<14} {visible(step.name)}" for step in steps))
    if args.dry_run:
        return 0
    if all(step.kind == "keep" for step in steps):
        say("everything is there already; nothing was written", quiet=args.quiet)
        return 0
    in_use = folder.is_dir() and any(folder.iterdir())
    if in_use and not args.yes:
        _ask(folder)
    carry_out(steps)
    place = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))}; "
    say(f"go on with: {place}memeval control; memeval run", quiet=args.quiet)
    return 0


def _ask(folder: Path) -> None:
    """Ask whether to go on.

    Raises
    ------
    MemevalError
        If nobody is there to be asked, or says no.
    """
    if not prompts.at_terminal():
        raise MemevalError(
            f"{folder}: holds files already, and nobody is here to be asked; look at what it would "
            "do with --dry-run, then add --yes"
        )
    if not prompts.confirmed(f"{visible(str(folder))} holds files already; go on?"):
        raise MemevalError("nothing was written")
