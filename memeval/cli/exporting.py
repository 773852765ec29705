"""``memeval report --notebook``: a notebook, run and made into one HTML file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from memeval.cli import files, options
from memeval.cli.console import say, show
from memeval.cli.forms import show_json
from memeval.cli.guard import INTERRUPTED
from memeval.cli.progress import progress
from memeval.errors import MemevalError, NotebookError

LARGE = 5_000_000
FAILED = 1
TAKEN = frozenset(
    {
        "help", "notebook", "parameters", "inputs", "cell_timeout", "html", "open", "format",
        "quiet", "traceback",
    }
)  # fmt: skip


def add_notebook(parser: argparse.ArgumentParser) -> None:
    """Add that a notebook is run and exported, in place of the report."""
    group = parser.add_argument_group("a notebook in place of all this")
    group.add_argument(
        "--notebook",
        type=options.filled,
        metavar="NAME",
        help="run a notebook here and write what it shows as one HTML file: a path, or one that "
        "ships ('memeval notebook list'); exit 1 where a cell fails",
    )
    group.add_argument(
        "-p",
        dest="parameters",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set a parameter of it (repeatable): text as it is where the default is text, else a "
        "Python literal, or true, false, null; what is neither is text, so that where the default "
        "is None a path needs no quotes. Shown in the file: no secrets",
    )
    group.add_argument("--inputs", action="store_true", help="show the code of its cells too")
    group.add_argument(
        "--cell-timeout",
        type=options.seconds(above=True),
        metavar="S",
        help="give up where one cell takes longer than S seconds, such as 2.5 (default: never)",
    )


def refuse_without(args: argparse.Namespace) -> None:
    """Refuse what concerns a notebook where none is named.

    Raises
    ------
    MemevalError
        If there is any.
    """
    given = {"-p": args.parameters, "--inputs": args.inputs, "--cell-timeout": args.cell_timeout}
    if late := [option for option, value in given.items() if value]:
        raise MemevalError(
            f"found {', '.join(late)} without a notebook; name one with --notebook, or leave it out"
        )


def execute(args: argparse.Namespace) -> int:
    """Run the notebook, write the page, and end with its path; 1 where the notebook failed."""
    _refuse_other(args)
    from memeval.report.exporting import parameters
    from memeval.report.exporting.export import check_packages, export_notebook
    from memeval.report.exporting.reading import read_notebook
    from memeval.report.exporting.shipped import find_notebook

    check_packages()
    source = find_notebook(args.notebook)
    html = files.check_target(args.html or f"{source.stem}.html", files.NOTEBOOK)
    known = parameters.defaults(read_notebook(source))
    given = parameters.parse(args.parameters, known)
    _say_which(source, args)
    failed: NotebookError | None = None
    try:
        with progress([source.stem], quiet=args.quiet) as drawn:
            export_notebook(
                source,
                html,
                parameters=given,
                inputs=args.inputs,
                timeout=args.cell_timeout,
                progress=drawn,
            )
    except NotebookError as error:
        failed = error
        say(str(error))
    except KeyboardInterrupt as error:
        left = f"the page up to there is {html}" if error.args else "no page was written"
        say(f"interrupted; {left}")
        return INTERRUPTED
    _tell(html, source, failed, args)
    return FAILED if failed else 0


def _refuse_other(args: argparse.Namespace) -> None:
    """Refuse what concerns a run of the probes: the notebook makes its own."""
    other = [
        action.option_strings[0] if action.option_strings else "FILE"
        for action in args.parser._actions
        if action.dest not in TAKEN
        and getattr(args, action.dest, action.default) not in (action.default, [])
    ]
    if other:
        raise MemevalError(
            f"found {', '.join(other)} beside --notebook, which makes its own runs; leave that "
            "out, or set a parameter of the notebook with -p"
        )


def _say_which(source: Path, args: argparse.Namespace) -> None:
    """Say so where a notebook that ships is run, and one of the same name lies here."""
    here = Path(source.name)
    if here.exists() and here.resolve() != source.resolve():
        say(
            f"this is the notebook that ships with memeval; yours is --notebook {here}",
            quiet=args.quiet,
        )


def _tell(html: Path, source: Path, failed: NotebookError | None, args: argparse.Namespace) -> None:
    size = html.stat().st_size if html.is_file() else 0
    if size > LARGE:
        say(
            f"warning: {html} has {size / 1e6:.1f} MB, too much for many a mailbox; show less in "
            "the notebook, such as the head of a table",
            quiet=args.quiet,
        )
    if args.format == "json":
        told: dict[str, Any] = {
            "notebook": source.stem,
            "path": str(html),
            "n_bytes": size,
            "complete": failed is None,
            "error": None if failed is None else str(failed),
        }
        show_json(told)
    else:
        state = "run to its end" if failed is None else "not complete"
        show(f"{source.stem}: {state}, {_size(size)}\n\n{html}")
    if args.open:
        import webbrowser

        sys.stdout.flush()
        webbrowser.open(html.resolve().as_uri())


def _size(n: int) -> str:
    return f"{n / 1e6:.1f} MB" if n >= 1e6 else f"{n / 1e3:.0f} KB"
