"""``memeval compare``: two runs, one verdict, for a CI."""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.cli import options, publishing
from memeval.cli.console import say, show
from memeval.cli.files import RESULTS
from memeval.cli.forms import rows, show_json
from memeval.errors import MemevalError, RunFileError

if TYPE_CHECKING:
    from memeval.comparison import Comparison
    from memeval.outcomes import Outcomes
    from memeval.verdicts import Verdict

HELP = "two runs, one verdict: the regression check for a CI"
DESCRIPTION = """\
Compare outcomes with a baseline, probe by probe, over the probes that both
asked with equal content: how both were measured first, then the verdict, the
metrics with their intervals, and by name what was lost, gained, or flaky.
Exit codes: 0 SAME or PASS, and CANNOT TELL (3 with --strict); 1 FAIL; 2 a file
is missing or cannot be read; 4 INVALID; 5 NOT COMPARABLE."""
EXAMPLE = "memeval compare eval-results.baseline.json eval-results.json --margin 0.05"
BASELINE = "eval-results.baseline.json"
MOST_CHANGES = 40
UNDECIDED = 3


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument(
        "baseline",
        nargs="?",
        default=BASELINE,
        type=options.filled,
        metavar="BASELINE",
        help=f"what was: a baseline, a results file or a run file (default: {BASELINE})",
    )
    parser.add_argument(
        "current",
        nargs="?",
        default=RESULTS,
        type=options.filled,
        metavar="CURRENT",
        help=f"what is: a results file or a run file (default: {RESULTS})",
    )
    group = parser.add_argument_group("what decides")
    group.add_argument(
        "--margin",
        type=_margin,
        metavar="X",
        help="fall of recall on queries like these that is still none (default: 0.1)",
    )
    group.add_argument(
        "--rule",
        choices=("paired", "tolerance"),
        default="paired",
        help="paired: tests on the flips of probes; tolerance: fixed tolerances (default: paired)",
    )
    group.add_argument(
        "--tolerance",
        type=_share,
        metavar="X",
        help="with --rule tolerance: how far a metric may fall (default: 0.03)",
    )
    group.add_argument(
        "--latency-gate",
        action="store_true",
        help="fail where probes take more than 1.2 times as long; else it is a warning",
    )
    group.add_argument(
        "--looks",
        type=_looks,
        metavar="N|git",
        help="runs compared with this baseline before: makes the tests stricter; git counts the "
        "commits of CURRENT since BASELINE changed (default: this is the only one)",
    )
    group.add_argument(
        "--anyway", action="store_true", help="compare what is not comparable, at your own risk"
    )
    group.add_argument(
        "--strict", action="store_true", help="exit 3 where nothing can be told, in place of 0"
    )
    group.add_argument(
        "--confirm",
        action="store_true",
        help="where a store whose answers vary fails: ask all probes again, 5 times each, and "
        "decide on this fresh run alone; CURRENT must be a run file",
    )
    group.add_argument(
        "--store",
        type=options.filled,
        metavar="NAME",
        help="with --confirm: the store that was run (default: as for memeval run)",
    )
    publishing.add_github(parser)
    options.add_output(parser)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value < 1.0:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted a share from 0, such as 0.05")
    return value


def _margin(text: str) -> float:
    value = _share(text)
    if not value:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted a share above 0, such as 0.05")
    return value


def _looks(text: str) -> int | str:
    count: Callable[[str], int] = options.whole(0)
    return text if text == "git" else count(text)


@publishing.without_commands
def execute(args: argparse.Namespace) -> int:
    """Compare, print, and give the exit code of the verdict."""
    from memeval.comparison import compare
    from memeval.outcomes import read_outcomes

    if args.tolerance is not None and args.rule != "tolerance":
        raise MemevalError("--tolerance is of another rule; add --rule tolerance, or leave it out")
    if args.store and not args.confirm:
        raise MemevalError("--store is asked again with --confirm alone; add it, or leave it out")
    if args.current == RESULTS and not Path(RESULTS).exists():
        raise RunFileError(f"found no {RESULTS}, wanted outcomes to compare; run 'memeval run'")
    current = read_outcomes(args.current)
    if not os.path.exists(args.baseline):
        return _without_baseline(current, args)
    if os.path.realpath(args.baseline) == os.path.realpath(args.current):
        say(f"warning: {args.baseline} is compared with itself", quiet=args.quiet)
    chosen = {"margin": args.margin, "tolerance": args.tolerance, "looks": _count_looks(args)}
    made = compare(
        args.baseline,
        current,
        rule=args.rule,
        latency_gate=args.latency_gate,
        anyway=args.anyway,
        **{name: value for name, value in chosen.items() if value is not None},
    )
    if args.confirm:
        made = _confirmed(made, args)
        say(made.notes[0], quiet=args.quiet)
    undecided = args.strict and made.verdict.word == "CANNOT TELL"
    if undecided:
        verdict = dataclasses.replace(made.verdict, exit_code=UNDECIDED)
        made = dataclasses.replace(made, verdict=verdict)
    _show(made, args.format)
    if args.github:
        from memeval.report import comparison_text, github

        summary = comparison_text.comparison_markdown(made, MOST_CHANGES)
        publishing.publish(github.compared(made), summary, args)
    return made.verdict.exit_code


def _confirmed(made: Comparison, args: argparse.Namespace) -> Comparison:
    from memeval.cli import choosing, looks
    from memeval.config import load_config
    from memeval.confirming import confirm

    config = load_config()
    make_store = choosing.store_of(args, config)
    told = {} if args.tolerance is None else {"tolerance": args.tolerance}
    if made.current.run is not None:
        looks.check_ledger(made.current.run.suite, config)
    again = confirm(made, make_store, latency_gate=args.latency_gate, anyway=args.anyway, **told)
    if again.current.run is not None and again.current.run is not made.current.run:
        looks.counted(again.current.run, config, quiet=args.quiet)
    return again


def _count_looks(args: argparse.Namespace) -> int | None:
    if args.looks != "git":
        return None if args.looks is None else int(args.looks)
    from memeval.timeline import looks

    return looks(args.current, args.baseline)


def _without_baseline(current: Outcomes, args: argparse.Namespace) -> int:
    """Judge what needs no baseline; a missing one is never a success."""
    from memeval.comparing.gates import alone
    from memeval.regression import missing

    verdict = alone(current)
    typed = [shlex.quote(args.current)] if args.current != RESULTS else []
    typed += ["--baseline", shlex.quote(args.baseline)] if args.baseline != BASELINE else []
    words = missing(args.baseline, " ".join(typed))
    if verdict is None:
        raise RunFileError(words)
    say(words, quiet=args.quiet)
    _show_alone(current, verdict, args.format)
    return verdict.exit_code


def _show_alone(current: Outcomes, verdict: Verdict, name: str) -> None:
    from memeval.report.layout import paragraph
    from memeval.text import markdown_cell

    told = {"current": current.source, "baseline": None, **_told(verdict)}
    if name == "json":
        show_json(told)
    elif name == "markdown":
        words = markdown_cell(f"{verdict.reason}; {verdict.next_step}")
        show(f"## Without a baseline: {verdict.word}\n\n{words}")
    else:
        lines = [
            paragraph(f"WITHOUT A BASELINE {current.source}"),
            f"VERDICT: {verdict.word}",
            paragraph(verdict.reason, 9, first="why:"),
            paragraph(verdict.next_step, 9, first="next:"),
        ]
        show("\n".join(lines))


def _show(made: Comparison, name: str) -> None:
    if name == "json":
        show_json(payload(made))
        return
    from memeval.report import comparison_text as words

    write = words.comparison_markdown if name == "markdown" else words.comparison_text
    show(write(made, MOST_CHANGES).rstrip("\n"))


def _told(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.word,
        "reason": verdict.reason,
        "next_step": verdict.next_step,
        "exit_code": verdict.exit_code,
    }


def payload(made: Comparison) -> dict[str, Any]:
    """The whole comparison as plain values; no number where none can be believed."""
    told = made.comparability
    made_of: dict[str, Any] = {
        "baseline": made.baseline.source,
        "current": made.current.source,
        "comparability": {
            "quality": told.quality,
            "latency": told.latency,
            "lines": [*told.lines(), *told.latency_lines()],
        },
        **_told(made.verdict),
        "rule": made.rule,
        "notes": list(made.notes),
    }
    if made.withheld:
        return made_of
    numbers = {
        "margin": made.margin,
        "alpha": made.alpha,
        "bound": _or_none(made.bound),
        "detectable": _or_none(made.detectable),
        "needed": made.needed,
    }
    return made_of | numbers | {"metrics": rows(made.frame), "changes": rows(made.changes)}


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
