"""``memeval report``: controls, run, and one HTML file that opens offline."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.cli import choosing, control, drift, exporting, files, forms, killing, looks, options
from memeval.cli import compare as comparing
from memeval.cli.compare import BASELINE
from memeval.cli.console import say, show
from memeval.cli.diagnosing import announce, diagnosed
from memeval.cli.forms import form, show_json
from memeval.cli.page import write_page
from memeval.cli.run import write_files
from memeval.config import Config, load_config
from memeval.errors import MemevalError, RunFileError

if TYPE_CHECKING:
    from memeval.comparison import Comparison
    from memeval.mutation import Mutation
    from memeval.runs import Run
    from memeval.simulation import Simulation
    from memeval.suite import Suite

HELP = "controls, run and one HTML file that opens offline: the main job"
DESCRIPTION = """\
Run the controls and the probes, grow one more store over 40 sessions to see
what drifts, write one HTML file that opens offline, and print the control
result, the split of the probes, the metrics, the verdict, why probes failed
(the store is asked again about each of them) and the drift. The last line
printed is the path of the file. With a saved run file, draw that one, without
any store; with a baseline before it, say after the verdict what changed. Each
probe shows how it did in the runs of this store that the folder has kept.

Without files, eval-results.baseline.json in this folder is compared with by
itself, as long as all probes are asked, and never changes the exit code.
Exit codes: those of 'memeval run', 1 also where a record leaks or the contract
breaks as the store grows, 4 also where --mutate finds a fault that every suite
must see and this one does not; a decline is shown and does not gate. With two
files the higher of that of the run and that of 'memeval compare', so both must
be good."""
BRIEFLY = 5
MOST_TAGS = 8
MOST_CHANGES = 10
MOST_LOST = 5
DRAWING = frozenset({"help", "html", "drift", "open", "no_texts", "format", "quiet", "traceback"})
EXAMPLE = "memeval report --store sqlite --html memeval-report.html"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument(
        "saved",
        nargs="*",
        type=options.filled,
        metavar="FILE",
        help="a saved run, such as those in .memeval/runs: draw it and run nothing; of two files "
        "the first is the baseline: a baseline, a results file or a run file",
    )
    options.add_probes(parser)
    options.add_selection(parser)
    options.add_asking(parser)
    options.add_bounds(parser)
    options.add_diagnosis(parser)
    drift.add_sessions(parser, options.whole(0))
    killing.add_mutate(parser)
    group = parser.add_argument_group("files")
    group.add_argument(
        "--html",
        type=options.filled,
        metavar="FILE",
        help="the report (default: memeval-report.html)",
    )
    group.add_argument("--open", action="store_true", help="open the report in the browser")
    options.add_files(group)
    exporting.add_notebook(parser)
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Make or load a run, draw it, print it, and give the exit code of its verdict."""
    if args.notebook is not None:
        return exporting.execute(args)
    exporting.refuse_without(args)
    config = load_config()
    html = files.check_target(args.html or config.html or files.REPORT, files.REPORT)
    drift.check_saved(args)
    if args.saved:
        return _redraw(html, args)
    suite = choosing.choose(choosing.load_suite(args, config), args, config)
    if args.dry_run:
        announce(args)
        drift.announce(args)
        killing.announce(args)
        return control.plan_controls(suite, args, config)
    return _make(suite, html, args, config)


def _make(suite: Suite, html: Path, args: argparse.Namespace, config: Config) -> int:
    out = files.check_target(args.out or config.out or files.RESULTS)
    if os.path.realpath(out) == os.path.realpath(html):
        raise MemevalError(f"{out}: found one name for the report and the results; name two files")
    made = control.make_controls(suite, args, config).real
    made = looks.counted(made, config, quiet=args.quiet)
    make_store = choosing.store_of(args, config)
    made = diagnosed(made, make_store, args)
    simulation = drift.grown(made, make_store, args)
    mutation = killing.mutated(made, make_store, args, config)
    try:
        write_files(made, out, args)
    finally:  # a run that was paid for is shown even where it cannot be kept
        _draw(made, html, args, _by_itself(made, args), simulation, mutation)
    codes = made.verdict.exit_code, drift.exit_code(simulation), killing.exit_code(mutation)
    return max(codes)


def _by_itself(made: Run, args: argparse.Namespace) -> Comparison | None:
    """Compare with the baseline of this folder, if there is one that all probes can meet."""
    from memeval.comparison import compare

    if made.suite.chosen_of or not os.path.isfile(BASELINE):
        return None
    try:
        comparison = compare(BASELINE, made)
    except RunFileError as error:
        say(f"warning: not compared with a baseline: {error}", quiet=args.quiet)
        return None
    say(
        f"compared with {BASELINE}: {comparison.verdict.word}; the exit code is that of the run "
        "alone, 'memeval compare' judges the change",
        quiet=args.quiet,
    )
    return comparison


def _redraw(html: Path, args: argparse.Namespace) -> int:
    """Draw a saved run, beside a baseline if one is named."""
    _refuse_late(args)
    if len(args.saved) == 1:
        from memeval.files.runfiles import load_run

        made = load_run(args.saved[0])
        simulation = drift.saved(made, args)
        _draw(made, html, args, None, simulation)
        return max(made.verdict.exit_code, drift.exit_code(simulation))
    made, comparison = _with_baseline(args.saved[0], args.saved[1], args)
    simulation = drift.saved(made, args)
    _draw(made, html, args, comparison, simulation)
    codes = made.verdict.exit_code, comparison.verdict.exit_code, drift.exit_code(simulation)
    return max(codes)


def _with_baseline(baseline: str, current: str, args: argparse.Namespace) -> tuple[Run, Comparison]:
    """Load the run that is drawn, and compare it."""
    from memeval.comparison import compare
    from memeval.files.runfiles import load_run
    from memeval.outcomes import outcomes_of

    try:
        made = load_run(current)
    except RunFileError as error:
        raise RunFileError(
            f"{error}; of two files the second is the run that is drawn, the first its baseline"
        ) from error
    if os.path.realpath(baseline) == os.path.realpath(current):
        say(f"warning: {current} is compared with itself", quiet=args.quiet)
    return made, compare(baseline, outcomes_of(made, str(Path(current))))


def _refuse_late(args: argparse.Namespace) -> None:
    """Refuse a third file, and options that concern the asking: they come too late."""
    if len(args.saved) > 2:
        raise MemevalError(
            f"found {len(args.saved)} files, wanted one run, or a baseline and a run; name these"
        )
    late = [
        action.option_strings[0]
        for action in args.parser._actions
        if action.option_strings
        and action.dest not in DRAWING
        and getattr(args, action.dest, action.default) != action.default
    ]
    if late:
        raise MemevalError(
            f"{args.saved[-1]} is a run already made, and {', '.join(late)} would change how it is "
            "made; leave that out, or leave the run file out to run again"
        )


def _draw(
    made: Run,
    html: Path,
    args: argparse.Namespace,
    comparison: Comparison | None,
    simulation: Simulation | None = None,
    mutation: Mutation | None = None,
) -> None:
    """Write the report, print the run, and end with the path; open the report if told to.

    The files come first: whoever reads the output may stop reading before its end.
    """
    try:
        write_page(made, html, args, baseline=comparison, simulation=simulation, mutation=mutation)
    finally:
        _show(made, args.format, comparison, simulation, mutation)
    if args.format != "json":
        show(f"\n{html}")
    if args.open:
        import webbrowser

        webbrowser.open(html.resolve().as_uri())


def _show(
    made: Run,
    name: str,
    comparison: Comparison | None,
    simulation: Simulation | None,
    mutation: Mutation | None,
) -> None:
    if name != "json":
        show(_text(made, name, comparison, simulation, mutation))
        return
    from memeval.files.resultsfile import results_payload
    from memeval.report.holdout_rows import holdout_payload

    told = results_payload(made) | holdout_payload(made)
    if comparison is not None:
        told = {**told, "comparison": comparing.payload(comparison)}
    if simulation is not None:
        told = {**told, "drift": forms.simulation_payload(simulation)}
    if mutation is not None:
        told = {**told, "mutation": forms.mutation_payload(mutation)}
    show_json(told)


def _text(
    made: Run,
    name: str,
    comparison: Comparison | None,
    simulation: Simulation | None,
    mutation: Mutation | None,
) -> str:
    """Control result first: every number after it depends on it."""
    words = form(name)
    parts = [
        words.controls_text(made.controls, made.validity) if made.controls is not None else "",
        words.split_text(made),
        words.holdout_text(made),
        words.summary_text(made),
        words.verdict_text(made),
        words.comparison_text(comparison, MOST_CHANGES) if comparison is not None else "",
        words.causes_text(made, forms.CAUSES),
        forms.simulation_in(simulation, name, MOST_LOST) if simulation is not None else "",
        forms.mutation_in(mutation, name) if mutation is not None else "",
        words.settings_text(made),
        words.tags_text(made, MOST_TAGS),
        words.failing_text(made, BRIEFLY),
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())
