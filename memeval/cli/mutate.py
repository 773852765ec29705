"""``memeval mutate``: which faults of a store the probes would see, and which they would not."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.checks.kinds import nearest
from memeval.cli import choosing, files, looks, options
from memeval.cli.console import say, show
from memeval.cli.forms import show_json, show_mutation
from memeval.cli.journals import Kept
from memeval.cli.planning import show_plan
from memeval.cli.progress import progress
from memeval.config import Config, load_config
from memeval.errors import MemevalError
from memeval.text import count

if TYPE_CHECKING:
    from memeval.mutation import Mutation
    from memeval.stores.saboteurs.base import Saboteur
    from memeval.suite import Suite

    Kinds = Sequence[type[Saboteur]]

HELP = "put known faults into your store; which of them do the probes see?"
DESCRIPTION = """\
Put one known fault after the other into your store and ask the probes again. A
fault that no probe sees survives: it would reach your users unseen. For each
survivor the probe that is missing is told, in full. Exit code 4: a fault lives
that every suite must kill, or the suite is invalid; 0: good; 2: could not run."""
EXAMPLE = "memeval mutate --saboteur null --saboteur random"
JOURNAL = files.HOME / "mutation.jsonl"
KEPT = Kept(JOURNAL, "mutate")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    options.add_probes(parser)
    options.add_selection(parser)
    options.add_asking(parser)
    group = parser.add_argument_group("which faults, and what is missing")
    group.add_argument(
        "--saboteur",
        type=options.filled,
        action="append",
        default=[],
        metavar="NAME",
        help="only this fault (repeatable; default: all); --list tells their names",
    )
    group.add_argument(
        "--list",
        action="store_true",
        help="list the faults and the tags of the probes that can see them, and run nothing",
    )
    group.add_argument(
        "--skeletons",
        type=options.filled,
        metavar="FILE",
        help="write the probes that would kill the survivors into this new file",
    )
    group.add_argument(
        "--resume",
        action="store_true",
        help=f"go on where the last mutation stopped, by its journal {JOURNAL.as_posix()}",
    )
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Mutate, print what came of it, and give the exit code of its verdict."""
    chosen = find_saboteurs(args.saboteur)
    if args.list:
        _list(chosen, args.format)
        return 0
    target = None if args.skeletons is None else _new(args.skeletons)
    config = load_config()
    suite = choosing.choose(choosing.load_suite(args, config), args, config)
    if args.dry_run:
        return _plan(suite, chosen, args, config)
    made = _mutated(suite, chosen, args, config)
    if args.holdout:  # before anything is shown
        looks.counted(made.identity, config, quiet=args.quiet)
    try:
        if target is not None:
            _write_skeletons(made, target, args)
    finally:  # what was paid for is shown even where it cannot be kept
        show_mutation(made, args.format)
    return made.verdict.exit_code


def find_saboteurs(names: Sequence[str]) -> Kinds:
    """Find the saboteurs of these names, in their own order; all of them without a name.

    Raises
    ------
    MemevalError
        If there is none of that name: it says which is nearest.
    """
    from memeval.stores.saboteurs import SABOTEURS

    known = {kind.name: kind for kind in SABOTEURS}
    for name in names:
        if name not in known:
            raise MemevalError(
                f"--saboteur: found no saboteur {name!r}; {nearest(name, known)} "
                "('memeval mutate --list' tells all)"
            )
    return [kind for kind in SABOTEURS if not names or kind.name in names]


def _list(chosen: Kinds, name: str) -> None:
    told = [(kind.name, kind.fault, kind.tag) for kind in chosen]
    if name == "json":
        keys = ("saboteur", "fault", "tag", "must_kill", "touches")
        show_json([
            dict(zip(keys, (*one, kind.must_kill, kind.touches), strict=True))
            for one, kind in zip(told, chosen, strict=True)
        ])  # fmt: skip
        return
    from memeval.report import mutation_text as words

    write = words.saboteurs_markdown if name == "markdown" else words.saboteurs_text
    show(write(told))


def _new(path: str) -> Path:
    """Refuse a place where nothing new can be written, before anything is paid for."""
    if os.path.lexists(path):
        raise MemevalError(
            f"--skeletons: {path} is there already, and is not written over; name a new file, "
            "and move what you keep of it into your probes"
        )
    return files.check_target(path)


def _mutated(suite: Suite, chosen: Kinds, args: argparse.Namespace, config: Config) -> Mutation:
    """Run the store as it is and with each fault; what was done stands in the journal."""
    from memeval.mutation import mutate

    make_store = choosing.store_of(args, config)
    told: dict[str, Any] = choosing.run_options(args, config)
    if args.saboteur:
        told_of = count(len(chosen), "saboteur")
        say(f"chosen: {told_of}; the score is of what was chosen alone", quiet=args.quiet)
    resume = KEPT.may_resume(args)
    files.make_home()
    with KEPT.said_on(), progress(quiet=args.quiet) as shown:
        made = mutate(
            suite, make_store, saboteurs=chosen, progress=shown, journal=JOURNAL,
            resume=resume, **told,
        )  # fmt: skip
    KEPT.forget()
    return made


def _plan(suite: Suite, chosen: Kinds, args: argparse.Namespace, config: Config) -> int:
    """Say what it would take at most: histories that can be kept are not written again."""
    make_store = choosing.store_of(args, config)
    told = choosing.run_options(args, config)
    repeats = args.repeats or (1 if _steady(make_store) else 5)
    asking = [kind for kind in chosen if kind.touches != "answer"]
    # Once more as it is, where a fault is seen by its time alone.
    passes = [
        (repeats, not args.no_repeat_check),
        *[(repeats, False)] * (len(asking) + bool(asking)),
    ]
    say(
        f"at most: your store is asked as it is and with {len(asking)} faults; the answers of "
        f"{len(chosen) - len(asking)} more are made of the first, and a history is written anew "
        "only where the fault is in the writing or your store has no snapshot",
        quiet=args.quiet,
    )
    return show_plan(suite, make_store, told, args, passes)


def _steady(make_store: Callable[[], Any]) -> bool:
    """Whether the store says that it answers the same query alike each time."""
    from memeval.stores.bound import BoundStore

    store = BoundStore(make_store())
    try:
        return store.capabilities.deterministic is True
    finally:
        store.close()


def _write_skeletons(made: Mutation, target: Path, args: argparse.Namespace) -> None:
    from memeval.atomic import write_whole
    from memeval.report.mutation_skeletons import skeleton_file

    text = skeleton_file(made)
    if not text:
        say(f"{target} is not written: there is no survivor to write a probe for", quiet=args.quiet)
        return
    write_whole(target, text)
    say(f"wrote {target}: put your own records and queries into it", quiet=args.quiet)
