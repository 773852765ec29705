"""Which probes and which store a command speaks of: option, else setting, else default."""

from __future__ import annotations

import argparse
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.cli.console import say
from memeval.cli.looks import check_ledger
from memeval.config import Config
from memeval.errors import MemevalError, ProbeError, RunFileError, StoreError, said

if TYPE_CHECKING:
    from memeval.suite import Suite

CHECKS = Path(".memeval/stores")
SHIPPED = "the shipped suite, since there is no ./probes and --probes names none"


def probe_paths(args: argparse.Namespace, config: Config) -> tuple[list[str], str]:
    """Paths of the probe files, and what to call them."""
    named = args.probes or list(config.probes)
    if named:
        return named, " ".join(named)
    if Path("probes").exists():
        return ["probes"], "probes"
    from memeval.resources import probes_folder

    return [str(probes_folder())], SHIPPED


def load_suite(args: argparse.Namespace, config: Config) -> Suite:
    """Load the whole suite, and say which it is."""
    from memeval.loading import load

    paths, called = probe_paths(args, config)
    suite = load(*paths)
    if not len(suite):
        raise ProbeError(f"found no probe in {called}; add one, or name another file with --probes")
    say(f"probes: {called}", quiet=args.quiet)
    return suite


def choose(suite: Suite, args: argparse.Namespace, config: Config) -> Suite:
    """Choose the probes that were asked for; an empty choice is an error, never a pass.

    Where a holdout is set, what is not held out is the whole suite, unless ``--holdout`` asks all.

    Raises
    ------
    ProbeError
        If nothing is left: it says what was asked for, and what there is.
    MemevalError
        If held-out probes are asked and no look can be counted.
    """
    try:
        chosen = suite.select(args.tag, args.name)
    except ProbeError as error:
        raise ProbeError(f"{error}; {_asked_for(args)}, of {_there(suite)}") from error
    whole = _parted(suite, args, config)
    chosen = _within(whole, chosen, suite)
    if args.failed_last and len(chosen):
        chosen = _failed(chosen, config)
    if not len(chosen):
        raise ProbeError(
            f"no probe is left to run: {_asked_for(args)}, of {_there(suite)}{_kept(whole)}; ask "
            "for less"
        )
    if len(chosen) < len(whole):
        say(f"chosen: {len(chosen)} of {len(whole)} probes ({_asked_for(args)})", quiet=args.quiet)
    if args.holdout and not args.dry_run:
        check_ledger(chosen, config)
    return chosen


def _parted(suite: Suite, args: argparse.Namespace, config: Config) -> Suite:
    """Give the suite without what is held out, or with it where told; say so once."""
    if not args.holdout and config.holdout is None:
        return suite
    from memeval.heldout import SHARE

    both = suite.with_holdout(config.holdout or SHARE)
    held = f"holdout: {len(both.looked_at)} of {len(suite)} probes are held out"
    if args.holdout:
        words = f"{held}; all are asked" if both.looked_at else f"{held}; there is none to look at"
        say(words, quiet=args.quiet)
        return both
    say(f"{held}; --holdout asks them too", quiet=args.quiet)
    return both.holdout(config.holdout or SHARE)[0]


def _within(whole: Suite, chosen: Suite, suite: Suite) -> Suite:
    """Give those of the chosen that are not left out."""
    names = {probe.name for probe in chosen}
    left = [probe.name for probe in whole if probe.name in names]
    if len(chosen) == len(suite):
        return whole
    return whole.select(names=left) if left else whole[:0]


def _kept(whole: Suite) -> str:
    """Say that held-out probes are not among those that can be chosen."""
    held = 0 if whole.held_out is None else len(whole.held_out.names) - len(whole.looked_at)
    return f", {held} of them held out (--holdout asks them too)" if held else ""


def _failed(suite: Suite, config: Config) -> Suite:
    """Keep the probes that failed when they were last asked."""
    failed = failed_last(config)
    if not failed:
        raise ProbeError("--failed-last: every probe passed when it was last asked; none is left")
    names = [probe.name for probe in suite if probe.name in failed]
    return suite.select(names=names) if names else suite[:0]


def _asked_for(args: argparse.Namespace) -> str:
    asked = [f"--tag {tag}" for tag in args.tag] + [f"--name {name}" for name in args.name]
    asked += ["--failed-last"] * args.failed_last + ["--holdout"] * args.holdout
    return "asked for " + " ".join(asked)


def _there(suite: Suite) -> str:
    tags = sorted({tag for probe in suite for tag in probe.tags})
    return f"{len(suite)} probes; tags there are: {', '.join(tags) or 'none'}"


def failed_last(config: Config) -> frozenset[str]:
    """Names of the probes that failed when they were last asked, by the runs that were kept."""
    from memeval.cli.files import failed_in_results, failed_in_runs

    failed = failed_in_runs()
    if failed is not None:
        return failed
    return failed_in_results(Path(config.out or "eval-results.json"))


def store_name(args: argparse.Namespace, config: Config) -> str:
    """Name of the store: option, else setting, else the embedded one."""
    return args.store or config.store or "sqlite"


def store_of(args: argparse.Namespace, config: Config) -> Callable[[], Any]:
    """Find the factory of the store that is named, with what a kept check found of it.

    What is found is used where the store declares nothing; both are said.
    """
    name = store_name(args, config)
    factory, path = find_store(name), check_file(name)
    if getattr(args, "no_store_check", False) or not path.is_file():
        return factory
    from memeval.storecheck import StoreCheck

    try:
        check = StoreCheck.load(path)
    except RunFileError as error:
        say(f"passed over: {error}")
        return factory
    if check.store != name:  # two names may be written alike
        return factory
    applied = check.applied(factory)
    day = check.created_at.partition("T")[0]
    say(f"{applied.notes[0]} on {day}, kept in {path.as_posix()}; what it found is used where the "
        "store declares nothing (--no-store-check leaves it out)", quiet=args.quiet)  # fmt: skip
    for objection in check.objections:
        say(objection, quiet=args.quiet)
    return applied


def check_file(name: str) -> Path:
    """Where the check of a store of this name is kept.

    Examples
    --------
    >>> check_file("sqlite").as_posix()
    '.memeval/stores/sqlite.json'
    >>> check_file("app.memory:make").as_posix()
    '.memeval/stores/app.memory_make-90f5c1bd.json'
    """
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:80].lstrip(".-")
    if safe != name:
        safe += f"-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return CHECKS / f"{safe}.json"


def find_store(name: str) -> Callable[[], Any]:
    """Find the factory of a store; what it raises names the store.

    Raises
    ------
    StoreError
        If it cannot be found or imported.
    """
    from memeval.stores.base import resolve

    try:
        factory = resolve(name)
    except (MemevalError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a module may raise anything while it is imported
        raise StoreError(
            f"store {name!r}: importing it failed ({said(error)}); import it once in Python, or "
            "run this with --traceback, to see where"
        ) from error

    def make() -> Any:
        try:
            return factory()
        except (MemevalError, KeyboardInterrupt):
            raise
        except BaseException as error:  # and so may a store while it is made
            raise StoreError(
                f"store {name!r}: making a fresh one failed ({said(error)}); the factory is called "
                "without arguments, --traceback shows where it stopped"
            ) from error

    return make


def run_options(args: argparse.Namespace, config: Config) -> dict[str, Any]:
    """Options of `memeval.run` as the command line and the settings have them."""
    return {
        "repeats": args.repeats,
        "seed": args.seed if args.seed is not None else config.seed or 0,
        "targets": dict(config.targets),
        "floors": dict(config.floors) | dict(getattr(args, "floor", ())),
        "allow_errors": getattr(args, "allow_errors", 0),
        "timeout_s": args.timeout,
        "retries": args.retries,
        "settle_s": args.settle,
        "repeat_check": not args.no_repeat_check,
        "contract_checks": not args.no_contract_checks,
        "opaque_ids": args.opaque_ids,
        "allow_nonempty": args.allow_nonempty,
        "max_calls": args.max_calls,
        "jobs": args.jobs,
    }
