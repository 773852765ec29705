"""``memeval runs``: the runs that are kept, and what each came to."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any, Literal

from memeval.cli import options
from memeval.cli.console import say, show
from memeval.cli.files import RUNS
from memeval.cli.forms import rows, show_json
from memeval.text import markdown_cell, pad, visible

HELP = "the runs that are kept, newest first, with their paths"
DESCRIPTION = """\
List the runs that 'memeval run' and 'memeval report' have kept, newest first:
when, what they came to, and the path to hand to 'memeval report'. A file that
cannot be read is listed as damaged, with the reason."""
EXAMPLE = "memeval runs --limit 50 --format json"
NEWEST = 20
HEADS = ("when (UTC)", "verdict", "store", "probes", "recall_all", "mrr", "leaks")
WIDTHS = (16, 7, 22, 6, 10, 5, 6)
SIDES: tuple[Literal["left", "right"], ...] = (
    "left", "left", "left", "right", "right", "right", "right",
)  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument(
        "folder",
        nargs="?",
        type=options.filled,
        metavar="FOLDER",
        help=f"where the runs are (default: {RUNS.as_posix()})",
    )
    parser.add_argument(
        "--limit",
        type=options.whole(1),
        default=NEWEST,
        metavar="N",
        help=f"the newest N; each is scored again, some 0.1 s (default: {NEWEST})",
    )
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Print the runs; always 0 where the folder can be read."""
    folder = Path(args.folder or RUNS)
    if args.folder is None and not folder.is_dir():
        return _nothing(folder, args)
    from memeval.files.keptruns import kept_runs

    frame = kept_runs(folder, limit=args.limit)
    if frame.empty:
        return _nothing(folder, args)
    damaged = frame.attrs["damaged"]
    listed = [
        row | {"path": (folder / row["run"]).as_posix(), "reason": damaged.get(row["run"])}
        for row in rows(frame)
    ]
    if args.format == "json":
        show_json(listed)
        return 0
    show((_markdown if args.format == "markdown" else _plain)(listed))
    more = frame.attrs["n_files"] - len(listed)
    if more:
        say(f"{more} older; --limit {frame.attrs['n_files']} shows them too", quiet=args.quiet)
    return 0


def _nothing(folder: Path, args: argparse.Namespace) -> int:
    if args.format == "json":
        show_json([])
    say(f"{folder}: holds no run; memeval run keeps one there", quiet=args.quiet)
    return 0


def _plain(listed: list[dict[str, Any]]) -> str:
    """Two lines a run: what it came to, and its path; the path is never broken."""
    from memeval.report.layout import paragraph

    lines = [_set(HEADS), "-" * (sum(WIDTHS) + len(WIDTHS) - 1)]
    for row in listed:
        lines += [_set(_cells(row)), f"  {visible(row['path'])}"]
        if row["reason"]:
            lines.append(paragraph(row["reason"], 2))
    return "\n".join([*lines, "", _advice(listed)])


def _set(cells: tuple[str, ...]) -> str:
    pairs = zip(cells, WIDTHS, SIDES, strict=True)
    return " ".join(pad(visible(cell, width), width, side) for cell, width, side in pairs).rstrip()


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    when = (row["at"] or "")[:16].replace("T", " ")
    if row["verdict"] == "DAMAGED":
        return (when, "DAMAGED", "", "", "", "", "")
    invalid = row["verdict"] == "INVALID"
    return (
        when,
        row["verdict"],
        row["store"] or "",
        str(row["n_probes"]),
        *("n/a" if row[name] is None else f"{row[name]:.3f}" for name in ("recall_all", "mrr")),
        "n/a" if invalid else str(row["leaks"]),
    )


def _advice(listed: list[dict[str, Any]]) -> str:
    """How to draw the newest that can be drawn."""
    path = next((row["path"] for row in listed if row["verdict"] != "DAMAGED"), None)
    if path is None:
        return "no run can be drawn: all are damaged"
    return f"draw the newest:\n  memeval report {visible(shlex.quote(path))}"


def _markdown(listed: list[dict[str, Any]]) -> str:
    heads = [*HEADS, "path"]
    body = []
    for row in listed:
        path = row["path"] + (f": {row['reason']}" if row["reason"] else "")
        body.append(" | ".join(map(markdown_cell, (*_cells(row), path))))
    rule = " | ".join(["---"] * len(heads))
    return "\n".join(f"| {line} |" for line in [" | ".join(heads), rule, *body])
