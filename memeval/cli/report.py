"""``memeval report``: controls, run, and one HTML file that opens offline."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.cli import choosing, control, files, forms, options
from memeval.cli.console import say, show
from memeval.cli.diagnosing import announce, diagnosed
from memeval.cli.forms import form, show_json
from memeval.cli.run import write_files
from memeval.config import Config, load_config
from memeval.errors import MemevalError

if TYPE_CHECKING:
    from memeval.runs import Run
    from memeval.suite import Suite

HELP = "controls, run and one HTML file that opens offline: the main job"
DESCRIPTION = """\
Run the controls and the probes, write one HTML file that opens offline, and
print the control result, the split of the probes, the metrics, the verdict and
why probes failed: the store is asked again about each of them. The last line
printed is the path of the file. With a saved run file, draw that one, without
any store. Exit codes as for 'memeval run'."""
BRIEFLY = 5
MOST_TAGS = 8
DRAWING = frozenset({"help", "html", "open", "no_texts", "format", "quiet", "traceback"})
EXAMPLE = "memeval report --store sqlite --html memeval-report.html"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument(
        "run_file",
        nargs="?",
        metavar="RUN.json",
        help="a saved run, such as those in .memeval/runs: draw it and run nothing",
    )
    options.add_probes(parser)
    options.add_selection(parser)
    options.add_asking(parser)
    options.add_bounds(parser)
    options.add_diagnosis(parser)
    group = parser.add_argument_group("files")
    group.add_argument(
        "--html",
        type=options.filled,
        metavar="FILE",
        help="the report (default: memeval-report.html)",
    )
    group.add_argument("--open", action="store_true", help="open the report in the browser")
    options.add_files(group)
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Make or load a run, draw it, print it, and give the exit code of its verdict."""
    config = load_config()
    html = files.check_target(args.html or config.html or files.REPORT, files.REPORT)
    if args.run_file is not None:
        return _redraw(html, args)
    suite = choosing.choose(choosing.load_suite(args, config), args, config)
    if args.dry_run:
        announce(args)
        return control.plan_controls(suite, args, config)
    return _make(suite, html, args, config)


def _make(suite: Suite, html: Path, args: argparse.Namespace, config: Config) -> int:
    out = files.check_target(args.out or config.out or files.RESULTS)
    if os.path.realpath(out) == os.path.realpath(html):
        raise MemevalError(f"{out}: found one name for the report and the results; name two files")
    made = control.make_controls(suite, args, config).real
    made = diagnosed(made, choosing.find_store(choosing.store_name(args, config)), args)
    try:
        write_files(made, out, args)
    finally:  # a run that was paid for is shown even where it cannot be kept
        code = _draw(made, html, args)
    return code


def _redraw(html: Path, args: argparse.Namespace) -> int:
    """Draw a saved run; options that concern the asking come too late for it."""
    from memeval.runfiles import load_run

    late = [
        action.option_strings[0]
        for action in args.parser._actions
        if action.option_strings
        and action.dest not in DRAWING
        and getattr(args, action.dest, action.default) != action.default
    ]
    if late:
        raise MemevalError(
            f"{args.run_file} is a run already made, and {', '.join(late)} would change how it is "
            "made; leave that out, or leave the run file out to run again"
        )
    return _draw(load_run(args.run_file), html, args)


def _draw(made: Run, html: Path, args: argparse.Namespace) -> int:
    """Write the report, print the run, and end with the path; open the report if told to.

    The files come first: whoever reads the output may stop reading before its end.
    """
    from memeval.report import write_report

    try:
        write_report(made, html, texts=not args.no_texts)
    finally:
        _show(made, args.format)
    if args.format == "json":
        say(f"wrote {html}", quiet=args.quiet)
    else:
        show(f"\n{html}")
    if args.open:
        import webbrowser

        webbrowser.open(html.resolve().as_uri())
    return made.verdict.exit_code


def _show(made: Run, name: str) -> None:
    if name == "json":
        from memeval.runfiles import results_payload

        show_json(results_payload(made))
    else:
        show(_text(made, name))


def _text(made: Run, name: str) -> str:
    """Control result first: every number after it depends on it."""
    words = form(name)
    parts = [
        words.controls_text(made.controls, made.validity) if made.controls is not None else "",
        words.split_text(made),
        words.summary_text(made),
        words.verdict_text(made),
        words.causes_text(made, forms.CAUSES),
        words.settings_text(made),
        words.tags_text(made, MOST_TAGS),
        words.failing_text(made, BRIEFLY),
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())
