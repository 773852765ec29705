"""``memeval run``: ask every probe, print the metrics and the verdict."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from memeval.cli import choosing, files, looks, options, publishing
from memeval.cli.console import say
from memeval.cli.diagnosing import announce, diagnosed
from memeval.cli.forms import show_run
from memeval.cli.journals import Kept
from memeval.cli.planning import show_plan
from memeval.cli.progress import progress
from memeval.config import load_config
from memeval.errors import MemevalError

if TYPE_CHECKING:
    from pathlib import Path

    from memeval.runs import Run
    from memeval.suite import Suite

HELP = "ask every probe; print metrics, verdict and why probes failed"
DESCRIPTION = """\
Ask every probe of a clean store and grade what comes back, then ask the store
again why probes failed, and say which to mend first. Writes a results file to
commit, and keeps the full run in .memeval/runs. Exit code 1 on a leak,
a broken contract, a floor, or more failed searches than allowed; 4 where the
suite is invalid."""
MOST_TOLD = 20
STOPPED = Kept(files.HOME / "run.jsonl", "run")
NOT_ASKED_WHY = (
    "the failed probes are not diagnosed: a recording has the answers of the run alone, and asking "
    "why takes others; run without --replay to learn the causes"
)
EXAMPLE = "memeval run --store sqlite --floor recall_all=0.5"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    options.add_probes(parser)
    options.add_selection(parser)
    options.add_asking(parser)
    options.add_bounds(parser)
    options.add_diagnosis(parser)
    group = parser.add_argument_group("files")
    options.add_files(group)
    group.add_argument(
        "--resume",
        action="store_true",
        help=f"go on where the last run stopped, by its journal {STOPPED.path.as_posix()}",
    )
    group.add_argument(
        "--record",
        type=options.filled,
        metavar="FILE",
        help="keep everything that the store says in this new file, for --replay",
    )
    group.add_argument(
        "--replay",
        type=options.filled,
        metavar="FILE",
        help="ask a recording and no store: the same answers and times, judged as you say now",
    )
    group.add_argument(
        "--junit", type=options.filled, metavar="FILE", help="JUnit XML, a test case for each probe"
    )
    publishing.add_github(parser)
    options.add_output(parser)


@publishing.without_commands
def execute(args: argparse.Namespace) -> int:
    """Run the suite, write its files, print it, and give the exit code of its verdict."""
    config = load_config()
    suite = choosing.choose(choosing.load_suite(args, config), args, config)
    make_store = _replay(args) if args.replay is not None else choosing.store_of(args, config)
    told = choosing.run_options(args, config)
    if args.dry_run:
        announce(args)
        passes = [(args.repeats or 1, not args.no_repeat_check)]
        return show_plan(suite, make_store, told, args, passes)
    _refuse_kept(args)
    out = files.check_target(args.out or config.out or files.RESULTS)
    if args.junit is not None:
        files.check_place(args.junit)
    made = _asked(suite, make_store, told, args)
    made = looks.counted(made, config, quiet=args.quiet)
    if args.replay is None:
        made = diagnosed(made, make_store, args)
    elif not made.failing.empty and not args.no_diagnose:
        say(NOT_ASKED_WHY, quiet=args.quiet)
    try:
        write_files(made, out, args)
    except BaseException:
        if _journalled(args):
            say(STOPPED.on)
        raise
    finally:  # a run that was paid for is shown even where it cannot be kept
        show_run(made, args.format)
    STOPPED.forget()
    _publish(made, args)
    return made.verdict.exit_code


def _asked(
    suite: Suite, make_store: Callable[[], Any], told: Mapping[str, Any], args: argparse.Namespace
) -> Run:
    """Run the suite; what was answered stands in a journal, unless texts are to be in no file."""
    from memeval.runner import run

    journal, resume = None, False
    if _journalled(args):
        journal, resume = STOPPED.path, STOPPED.may_resume(args)
        files.make_home()
    with STOPPED.said_on(), progress(quiet=args.quiet) as shown:
        made = run(
            suite, make_store, progress=shown, journal=journal, resume=resume,
            record=args.record, **told,
        )  # fmt: skip
    if args.record is not None:
        say(f"recorded in {args.record}", quiet=args.quiet)
    return made


def _journalled(args: argparse.Namespace) -> bool:
    """Whether answers are kept as they come in.

    Not where texts are to be in no file, and not of held-out probes: a look at these is counted
    when it is over, and what was left of it on disk would be one that nobody counts.
    """
    return args.replay is None and not args.no_texts and not args.holdout


def _replay(args: argparse.Namespace) -> Callable[[], Any]:
    """Load a recording; refuse what concerns the asking of a store."""
    from memeval.recordings import load_recording

    asking = {"--store": args.store, "--record": args.record}
    asking |= {"--resume": args.resume or None, "--dry-run": args.dry_run or None}
    for name, value in asking.items():
        if value is not None:
            raise MemevalError(
                f"{name} given beside --replay, which asks no store; leave out one of them"
            )
    replay = load_recording(args.replay)
    say(f"replayed: {args.replay}; no store is asked", quiet=args.quiet)
    return replay


def _refuse_kept(args: argparse.Namespace) -> None:
    """Refuse to keep answers where they are to be kept nowhere."""
    if args.resume and args.holdout:
        raise MemevalError(
            "--resume goes on from a journal, and of held-out probes there is none: what is left "
            "of a look would be one that nobody counts; leave out one of them"
        )
    for name, given, what in (
        ("--resume", args.resume, "goes on from a journal, which"),
        ("--record", args.record, "writes a recording, which"),
    ):
        if given and args.no_texts:
            raise MemevalError(
                f"{name} {what} holds the answers of the store, and --no-texts keeps none; leave "
                "out one of them"
            )


def _publish(made: Run, args: argparse.Namespace) -> None:
    """Tell those who do not read a terminal."""
    if args.junit is not None:
        from memeval.atomic import write_whole
        from memeval.report.junit import junit_xml

        write_whole(args.junit, junit_xml(made.without_texts() if args.no_texts else made))
        say(f"wrote {args.junit}", quiet=args.quiet)
    if args.github:
        from memeval.report import github, markdown

        told = made if not args.no_texts else made.without_texts()
        publishing.publish(github.ran(told), markdown.report_text(told, MOST_TOLD), args)


def write_files(made: Run, out: Path, args: argparse.Namespace) -> None:
    """Keep the run, write the results file, and say where they are.

    A run of chosen probes writes no results file unless one is named: the one to commit is of the
    whole suite.
    """
    from memeval.files.resultsfile import write_results

    kept = files.keep_run(made, texts=not args.no_texts).as_posix()
    if made.suite.chosen_of and args.out is None:
        say(f"wrote {kept}; {out} is of whole suites and stays as it is", quiet=args.quiet)
        return
    write_results(made, out)
    say(f"wrote {out} and {kept}", quiet=args.quiet)
