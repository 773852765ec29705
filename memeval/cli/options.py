"""Options that several verbs share, and what their values must be."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

FORMATS = ("table", "json", "markdown")
MOST_DIGITS = 18


def filled(text: str) -> str:
    """Parse a name or path; a blank one is no default but a slip, such as an unset variable."""
    if not text.strip():
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted a name; leave the option out")
    return text


def whole(least: int) -> Callable[[str], int]:
    """Parser of a whole number from `least`."""

    def parse(text: str) -> int:
        digits = text.strip().removeprefix("-")
        short = digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS
        if not short or int(text) < least:
            raise argparse.ArgumentTypeError(
                f"found {text[:40]!r}, wanted a whole number from {least}"
            )
        return int(text)

    return parse


def workers(text: str) -> int:
    """Parse how many workers: from 1, or -1 for all cores."""
    return -1 if text.strip() == "-1" else whole(1)(text)


def seconds(above: bool) -> Callable[[str], float]:
    """Parser of a time in seconds, above 0 or from 0."""

    def parse(text: str) -> float:
        wanted = f"wanted seconds {'above' if above else 'from'} 0, such as 2.5"
        value = _number(text, text, wanted)
        if value < 0 or (above and value == 0):
            raise argparse.ArgumentTypeError(f"found {text!r}, {wanted}")
        return value

    return parse


def floor(text: str) -> tuple[str, float]:
    """Parse ``METRIC=VALUE``.

    Examples
    --------
    >>> floor("recall_all=0.8")
    ('recall_all', 0.8)
    """
    metric, equals, value = text.partition("=")
    wanted = "wanted METRIC=VALUE, such as recall_all=0.8"
    if not equals or not metric.strip():
        raise argparse.ArgumentTypeError(f"found {text!r}, {wanted}")
    return metric.strip(), _number(value, text, wanted)


def _number(digits: str, text: str, wanted: str) -> float:
    try:
        value = float(digits)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"found {text!r}, {wanted}")
    return value


def add_probes(parser: argparse.ArgumentParser) -> None:
    """Add which probe files are read."""
    parser.add_argument(
        "--probes",
        type=filled,
        nargs="+",
        metavar="PATH",
        help="probe files or folders (default: ./probes, or the shipped suite where there is none)",
    )


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add which of the probes are asked."""
    group = parser.add_argument_group("which probes (all but the held out, unless told)")
    group.add_argument(
        "--tag", action="append", default=[], help="probes with this tag (repeatable: any of them)"
    )
    group.add_argument(
        "--name",
        action="append",
        default=[],
        help="the probe of this name, or all that a pattern such as 'lunch-*' fits (repeatable)",
    )
    group.add_argument(
        "--failed-last", action="store_true", help="probes that failed in the last run"
    )
    group.add_argument(
        "--holdout",
        action="store_true",
        help="ask the held-out probes too, and count that as a look (20 %% of the probes by their "
        "content, or the holdout set in [tool.memeval]): when you think you are done",
    )


def add_store(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add which store is asked, and how, whatever is asked of it."""
    group = parser.add_argument_group("the store, and how it is asked")
    group.add_argument(
        "--store",
        type=filled,
        metavar="NAME",
        help="short name (sqlite, vector, chroma ...), FILE.yaml or package.module:factory "
        "(default: store of [tool.memeval] in pyproject.toml, else sqlite)",
    )
    group.add_argument(
        "--timeout",
        type=seconds(above=True),
        metavar="S",
        help="time limit of one search in seconds (default: none)",
    )
    group.add_argument(
        "--retries",
        type=whole(0),
        default=0,
        metavar="N",
        help="try a failed call again N times (default: 0)",
    )
    group.add_argument(
        "--settle",
        type=seconds(above=False),
        default=60.0,
        metavar="S",
        help="wait at most S seconds until writes can be found (default: 60)",
    )
    group.add_argument(
        "--no-contract-checks",
        action="store_true",
        help="do not hold answers against what any store owes its caller (scores, ids, texts)",
    )
    group.add_argument(
        "--no-store-check",
        action="store_true",
        help="leave out what 'memeval check-store' has found of this store and kept",
    )
    group.add_argument(
        "--opaque-ids", action="store_true", help="give the store ids that say nothing"
    )
    group.add_argument(
        "--allow-nonempty",
        action="store_true",
        help="accept a store that holds records; only what memeval wrote is removed",
    )
    group.add_argument(
        "--max-calls",
        type=whole(1),
        metavar="N",
        help="refuse a run that makes more than N calls to the store",
    )
    group.add_argument(
        "--dry-run",
        action="store_true",
        help="say how many calls it takes and how long, and run nothing",
    )
    return group


def add_asking(parser: argparse.ArgumentParser) -> None:
    """Add which store is asked, and how a run asks it."""
    group = add_store(parser)
    group.add_argument("--seed", type=whole(0), help="seed of all draws (default: 0)")
    group.add_argument(
        "--repeats",
        type=whole(1),
        metavar="N",
        help="ask each probe N times, of a store of its own (default: 1; 5 where answers change)",
    )
    group.add_argument(
        "--no-repeat-check",
        action="store_true",
        help="do not ask each query once more to see whether the answer holds (saves a search)",
    )
    group.add_argument(
        "--jobs",
        type=workers,
        default=1,
        metavar="N",
        help="ask with N workers at once, -1 for all cores (default: 1); times then never gate",
    )


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """Add what makes a run fail."""
    group = parser.add_argument_group("what fails the run, besides leaks and broken contracts")
    group.add_argument(
        "--floor",
        type=floor,
        action="append",
        default=[],
        metavar="METRIC=VALUE",
        help="fail where the metric is worse than this (repeatable)",
    )
    group.add_argument(
        "--allow-errors",
        type=whole(0),
        default=0,
        metavar="N",
        help="pass with up to N failed searches (default: 0)",
    )


def add_diagnosis(parser: argparse.ArgumentParser) -> None:
    """Add whether the store is asked why probes failed."""
    group = parser.add_argument_group("why probes failed")
    group.add_argument(
        "--no-diagnose",
        action="store_true",
        help="do not ask the store again to find out why a probe failed (saves its calls)",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add how results are shown."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", choices=FORMATS, default="table", help="form of the output (default: table)"
    )
    add_words(group)


def add_words(group: argparse._ActionsContainer) -> None:
    """Add what is said on stderr."""
    group.add_argument(
        "--quiet", action="store_true", help="no words and no progress on stderr, only errors"
    )
    group.add_argument(
        "--traceback", action="store_true", help="where something fails, show the Python traceback"
    )


def add_files(group: argparse._ActionsContainer) -> None:
    """Add what is written."""
    group.add_argument(
        "--out",
        type=filled,
        metavar="FILE",
        help="results file, to commit (default: eval-results.json)",
    )
    group.add_argument(
        "--no-texts", action="store_true", help="leave the texts of records out of all files"
    )
