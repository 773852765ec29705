"""``memeval history``: the results file through the commits of the branch."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memeval.cli import options
from memeval.cli.console import show
from memeval.cli.files import RESULTS
from memeval.cli.forms import rows, show_json
from memeval.errors import RunFileError
from memeval.text import markdown_cell, visible

if TYPE_CHECKING:
    import pandas as pd

HELP = "the results file through the commits of this branch"
DESCRIPTION = """\
Follow the figures of a committed results file through the commits of this
branch: a line per metric, then the newest commits. A | stands where results
were measured otherwise than before (another suite, another k), so that the
figures on its two sides cannot be compared. Exit code 2: there is no history."""
EXAMPLE = "memeval history --metric recall_all --metric leaks --limit 50"
METRICS = ("recall_all", "mrr", "distinct", "staleness", "leaks", "abstention", "latency_p95_ms")
NEWEST = 10
CURVE = 36
SHORT = 8
UNCOMMITTED, WORKTREE = "working tree", "worktree"
HEADS = {"latency_p95_ms": "p95_ms"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument(
        "path",
        nargs="?",
        default=RESULTS,
        type=options.filled,
        metavar="RESULTS.json",
        help=f"the results file (default: {RESULTS})",
    )
    parser.add_argument(
        "--metric",
        action="append",
        choices=METRICS,
        help="show this metric (repeatable; default: all of them)",
    )
    parser.add_argument(
        "--limit",
        type=options.whole(1),
        metavar="N",
        help="look at the newest N commits (default: all)",
    )
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Print the history; 0 where there is one."""
    from memeval.timeline import HistoryWarning, history

    with warnings.catch_warnings():
        warnings.simplefilter("always", HistoryWarning)
        frame = history(args.path, limit=args.limit)
    if frame.empty:
        raise RunFileError(
            f"{args.path}: no version of it could be read, wanted a results file; the warnings "
            "say why"
        )
    chosen = frame[frame["metric"].isin(args.metric or METRICS)]
    if args.format == "json":
        shown = {"path": args.path, "rows": rows(chosen), **frame.attrs}
        show_json(shown)
        return 0
    write = _markdown if args.format == "markdown" else _plain
    show("\n\n".join(write(args.path, chosen, frame.attrs["breaks"])))
    return 0


def _plain(path: str, frame: pd.DataFrame, breaks: dict[str, str]) -> list[str]:
    from memeval.report.layout import paragraph, table

    metrics = list(dict.fromkeys(frame["metric"]))
    parts = [
        paragraph(f"HISTORY of {path}: {_span(frame)}"),
        table(
            ["metric", "first", "last", "lowest", "highest", "oldest to newest"],
            [_line(frame, metric) for metric in metrics],
            [14, 6, 6, 6, 7, CURVE],
            "lrrrrl",
        ),
    ]
    told = [paragraph(text, 2, first="|") for text in _told(frame, breaks)]
    commits = list(_newest(frame))
    names = ["commit", "date", *(HEADS.get(metric, metric) for metric in metrics)]
    widths = [SHORT, 10, *(max(5, len(name)) for name in names[2:])]
    listed = table(names, [cells for _, cells in commits], widths, "ll" + "r" * len(metrics))
    more = frame["commit"].nunique() - len(commits)
    rest = f"\n{more} older; --format json gives all of them" if more else ""
    if commits[0][0] == UNCOMMITTED:
        rest = f"\n{WORKTREE}: as the file stands now, not committed{rest}"
    return [*parts, *(["\n".join(told)] if told else []), f"NEWEST FIRST\n{listed}{rest}"]


def _markdown(path: str, frame: pd.DataFrame, breaks: dict[str, str]) -> list[str]:
    metrics = list(dict.fromkeys(frame["metric"]))
    lines = [f"## History of {markdown_cell(path)}", markdown_cell(_span(frame))]
    heads = ["metric", "first", "last", "lowest", "highest", "oldest to newest"]
    lines.append(_grid(heads, [_line(frame, metric) for metric in metrics]))
    told = [f"- {markdown_cell(text)}" for text in _told(frame, breaks)]
    lines += ["\n".join(told)] if told else []
    lines.append(_grid(["commit", "date", *metrics], [cells for _, cells in _newest(frame)]))
    return lines


def _grid(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    cells = [" | ".join(map(markdown_cell, row)) for row in body]
    rule = " | ".join(["---"] * len(head))
    return "\n".join(f"| {row} |" for row in [" | ".join(head), rule, *cells])


def _span(frame: pd.DataFrame) -> str:
    count = frame["commit"].nunique()
    dates = [_date(at) for at in frame["at"].dropna()]
    ends = ", " + " to ".join(dict.fromkeys([dates[0], dates[-1]])) if dates else ""
    return f"{count} {'version' if count == 1 else 'versions'}{ends}"


def _line(frame: pd.DataFrame, metric: str) -> list[str]:
    """Name, ends and extremes of a metric, and its curve."""
    from memeval.sparkline import BLOCKS, sparkline

    rows_of = frame[frame["metric"].eq(metric)].reset_index(drop=True)
    values, known = rows_of["value"].to_list(), rows_of["value"].dropna()
    broken = set(rows_of.index[rows_of["comparable"].eq(False).fillna(False)])
    curve = sparkline(values, breaks=broken, width=CURVE, ascii_only=not _encodes(BLOCKS))
    told = [values[0], values[-1], known.min(), known.max()]
    return [metric, *(_number(metric, value) for value in told), curve]


def _encodes(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def _told(frame: pd.DataFrame, breaks: dict[str, str]) -> list[str]:
    """What changed at each break, newest last, and where a share stands on other probes."""
    at = dict(zip(frame["commit"], frame["at"].fillna(""), strict=True))
    told = [
        f"{_short(commit)} {_date(at[commit])} is not comparable with what was before: {why}"
        for commit, why in breaks.items()
        if commit in at
    ]
    counted = frame.loc[frame["metric"].eq("recall_all") & frame["n"].gt(0), "n"]
    if counted.nunique() > 1:
        told.append(
            f"recall_all stands on {counted.min()} to {counted.max()} positive probes: a store "
            "that does not take a probe is not measured by it"
        )
    return told


def _newest(frame: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """The newest commits, newest first, each as cells."""
    wide = {commit: part for commit, part in frame.groupby("commit", sort=False)}
    listed = []
    for commit in list(wide)[: -NEWEST - 1 : -1]:
        part = wide[commit]
        numbers = [_number(m, v) for m, v in zip(part["metric"], part["value"], strict=True)]
        at = part["at"].fillna("").iloc[0]
        listed.append((str(commit), [_short(str(commit)), _date(at), *numbers]))
    return listed


def _short(commit: str) -> str:
    return WORKTREE if commit == UNCOMMITTED else visible(commit[:SHORT])


def _date(at: str) -> str:
    return at[:10]


def _number(metric: str, value: float) -> str:
    if value != value:
        return "n/a"
    if metric == "leaks":
        return f"{value:.0f}"
    if metric != "latency_p95_ms":
        return f"{value:.3f}"
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}" if value < 1e6 else f"{value:.0e}"
