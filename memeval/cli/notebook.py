"""``memeval notebook``: list the notebooks that ship, copy one here, open it."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.atomic import write_whole
from memeval.cli import options
from memeval.cli.console import say, show
from memeval.cli.files import check_place
from memeval.cli.forms import show_json
from memeval.errors import MemevalError
from memeval.text import markdown_cell, visible

if TYPE_CHECKING:
    from memeval.report.exporting.shipped import ShippedNotebook

HELP = "list the notebooks that ship, copy one here, or open it"
DESCRIPTION = """\
List the notebooks that ship with memeval, copy one or all of them into this
folder or another, or copy one here, unless it is here already, and open it in
JupyterLab. A notebook is named in full (03_drift_curves), by its number (03) or
by its words (drift_curves). No file is written over without --force.

'memeval report --notebook NAME' runs one and writes it as one HTML file."""
EXAMPLE = "memeval notebook copy 03_drift_curves"
SUFFIX = ".ipynb"
COULD_NOT_RUN = 2


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("action", choices=("list", "copy", "open"), help="what to do")
    parser.add_argument(
        "what",
        nargs="*",
        type=options.filled,
        metavar="NAME",
        help="the notebook; after it, for copy, the folder or the file to copy it to",
    )
    parser.add_argument(
        "--all",
        nargs="?",
        const=".",
        type=options.filled,
        metavar="FOLDER",
        help="copy all of them, to this folder or that one",
    )
    parser.add_argument("--force", action="store_true", help="write over files that are there")
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """List, copy or open; 0 unless JupyterLab ends with an error."""
    if args.action != "copy" and (args.all or args.force):
        raise MemevalError(f"'{args.action}' takes neither --all nor --force; leave them out")
    return {"list": _list, "copy": _copy, "open": _open}[args.action](args)


def _list(args: argparse.Namespace) -> int:
    from memeval.report.exporting.shipped import shipped_notebooks

    if args.what:
        raise MemevalError(f"list: found {args.what[0]!r}, wanted no name; leave it out")
    known = shipped_notebooks()
    if args.format == "json":
        show_json([{"name": n.name, "title": n.title, "path": str(n.path)} for n in known])
    elif args.format == "markdown":
        lines = [" | ".join(map(markdown_cell, (n.name, n.title, str(n.path)))) for n in known]
        heads = ["notebook | title | path", "--- | --- | ---"]
        show("\n".join(f"| {line} |" for line in [*heads, *lines]))
    else:
        show(_table(known))
    return 0


def _table(known: Iterable[ShippedNotebook]) -> str:
    """Two lines a notebook: what it asks, and its path, which is never broken."""
    from memeval.report.layout import table

    lines: list[str] = []
    for one in known:
        drawn = table(["notebook", "title"], [[one.name, one.title]], [26, 53]).split("\n")
        lines += [*drawn[2 if lines else 0 :], f"  {visible(str(one.path))}"]
    return "\n".join(lines)


def _copy(args: argparse.Namespace) -> int:
    from memeval.report.exporting.shipped import find_shipped, shipped_notebooks

    most = 0 if args.all else 2
    if len(args.what) > most or not (args.what or args.all):
        wanted = "none beside --all" if args.all else "a NAME and where to copy it, or --all"
        raise MemevalError(
            f"copy: found {len(args.what)} names, wanted {wanted}; 'memeval notebook list' shows "
            "the names"
        )
    chosen = shipped_notebooks() if args.all else [find_shipped(args.what[0])]
    given = args.all or (args.what[1] if len(args.what) == most else None)
    pairs = [(one.path, _target(one, given, several=bool(args.all))) for one in chosen]
    written = _copied(pairs, force=args.force)
    if args.format == "json":
        show_json([str(path) for path in written])
    else:
        show("\n".join(visible(str(path)) for path in written))
    if not args.all:
        say(f"open it with: jupyter lab {shlex.quote(str(written[0]))}", quiet=args.quiet)
    return 0


def _target(one: ShippedNotebook, given: str | None, *, several: bool) -> Path:
    """Where a notebook is copied to: a folder, a file where it is one alone, or here."""
    if given is None:
        return Path(one.path.name)
    place = Path(given)
    if place.suffix == SUFFIX and not place.is_dir():
        if several:
            raise MemevalError(f"{place}: found a file, wanted a folder for all of them; name one")
        return place
    if place.suffix and not place.is_dir() and not given.endswith(("/", os.sep)):
        raise MemevalError(
            f"{place}: found the suffix {place.suffix!r}, wanted a name that ends in {SUFFIX}, or "
            f"a folder; write {place.with_suffix(SUFFIX)}, or {place}{os.sep} for a folder"
        )
    return place / one.path.name


def _copied(pairs: Iterable[tuple[Path, Path]], *, force: bool) -> list[Path]:
    """Copy files, all of them or none; one that is there with the same content stays.

    Raises
    ------
    MemevalError
        If a file is there that would be lost, or a folder cannot be written to.
    """
    texts = {target: source.read_text(encoding="utf-8") for source, target in pairs}
    todo = {target: text for target, text in texts.items() if not _is_same(target, text)}
    lost = [str(target) for target in todo if os.path.lexists(target)]
    if lost and not force:
        raise MemevalError(
            f"{', '.join(lost)}: already there, and would be lost; name another place, or write "
            "over with --force"
        )
    for target, text in todo.items():
        if not target.parent.exists() and target.parent.parent.is_dir():
            target.parent.mkdir(exist_ok=True)
        if target.is_symlink():  # what it points to is no copy of ours
            target.unlink()
        check_place(target)
        write_whole(target, text)
    return list(texts)


def _is_same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode("utf-8")


def _open(args: argparse.Namespace) -> int:
    from importlib.util import find_spec

    from memeval.report.exporting.reading import HINT
    from memeval.report.exporting.shipped import find_shipped

    if len(args.what) != 1:
        raise MemevalError(
            f"open: found {len(args.what)} names, wanted one; 'memeval notebook list' shows them"
        )
    if find_spec("jupyterlab") is None:
        raise MemevalError(f"found no JupyterLab, wanted it to open a notebook; install it: {HINT}")
    path = Path(args.what[0])
    if not (path.suffix == SUFFIX and path.is_file()):
        chosen = find_shipped(args.what[0])
        path = Path(chosen.path.name)
        if not path.exists():
            _copied([(chosen.path, path)], force=False)
    show(visible(str(path)))
    sys.stdout.flush()
    return COULD_NOT_RUN if _wait([sys.executable, "-m", "jupyterlab", str(path)]) else 0


def _wait(command: list[str]) -> int:
    """Wait for a program that asks before Ctrl-C ends it, and that ends itself."""
    process = subprocess.Popen(command)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue
