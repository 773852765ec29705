"""``memeval lint``: what is wrong with the probe files, and what makes them weak."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memeval.cli import choosing, options
from memeval.cli.console import show, wrapped
from memeval.cli.forms import rows, show_json
from memeval.config import load_config
from memeval.errors import Fault, ProbeError
from memeval.text import markdown_cell

if TYPE_CHECKING:
    import pandas as pd

HELP = "check the probe files, without any store"
DESCRIPTION = """\
Read the probe files and list everything that is wrong with them, and what makes
the suite weak although nothing in it is wrong. Exit code 2: a file cannot be
used; 1: warnings, with --strict; 0: no error."""
EXAMPLE = "memeval lint --strict --format markdown"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    options.add_probes(parser)
    parser.add_argument("--strict", action="store_true", help="exit with 1 on any warning")
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Load and lint the files; print errors or warnings, and the count of both last."""
    from memeval.suite import faults_frame

    try:
        suite = choosing.load_suite(args, load_config())
    except ProbeError as error:
        if not error.faults:
            raise
        _show(faults_frame(error.faults, "error"), None, args.format)
        return 2
    found = suite.lint()
    _show(found, len(suite), args.format)
    return int(args.strict and bool(found["level"].eq("warning").any()))


def _show(found: pd.DataFrame, probes: int | None, name: str) -> None:
    listed = rows(found)
    if name == "json":
        show_json(listed)
        return
    errors = sum(row["level"] == "error" for row in listed)
    faults = [(row["level"], _fault(row)) for row in listed]
    lines = _markdown(faults) if name == "markdown" else _plain(faults)
    count = "no probes loaded" if probes is None else _count(probes, "probe")
    last = f"{count}, {_count(errors, 'error')}, {_count(len(listed) - errors, 'warning')}"
    show("\n".join([*lines, "", last] if lines else [last]))


def _plain(faults: Sequence[tuple[str, Fault]]) -> list[str]:
    return [wrapped(str(f) if level == "error" else _warning(f)) for level, f in faults]


def _markdown(faults: Sequence[tuple[str, Fault]]) -> list[str]:
    return [f"- **{level}** {markdown_cell(str(fault))}" for level, fault in faults]


def _warning(fault: Fault) -> str:
    """Write a warning as a line: the word after the place, where there is one."""
    place = f"{fault.file}:{fault.line}" if fault.line else fault.file
    bare = Fault(fault.found, fault.todo, fault.field, fault.probe)
    return f"{place}: warning: {bare}" if place else f"warning: {bare}"


def _fault(row: dict[str, object]) -> Fault:
    line = row["line"]
    texts = {key: str(row[key] or "") for key in ("found", "todo", "field", "probe", "file")}
    return Fault(**texts, line=int(str(line)) if line else 0)


def _count(n: int, one: str) -> str:
    return f"{n} {one}{'' if n == 1 else 's'}"
