"""How a store grows, on the command line: options, what it takes, and how long it takes yet."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memeval.cli import choosing, options
from memeval.cli.console import say, show
from memeval.cli.forms import show_json
from memeval.cli.planning import duration
from memeval.config import Config

if TYPE_CHECKING:
    from memeval.harness.options import Options
    from memeval.suite import Suite

SEED = 7
MARGIN, BUDGET_MS = 0.10, 100.0
Told = Callable[[int, int, str], object]


def add_growth(parser: argparse.ArgumentParser, journal: str) -> None:
    """Add how the store grows, and what decides."""
    group = parser.add_argument_group("how it grows, and what decides")
    whole = options.whole
    group.add_argument(
        "--sessions",
        type=whole(1),
        default=200,
        metavar="N",
        help="write so many sessions, some 20 records each (default: 200)",
    )
    group.add_argument("--seed", type=whole(0), help="seed of the sessions (default: 7)")
    group.add_argument(
        "--every",
        type=whole(1),
        metavar="N",
        help="ask after every N sessions (default: 8 times, at sizes that grow by one factor)",
    )
    group.add_argument(
        "--cohorts",
        type=whole(1),
        default=4,
        metavar="N",
        help="plant the probes at N sessions (default: 4)",
    )
    group.add_argument(
        "--margin",
        type=_share,
        metavar="X",
        help="net fall of recall that would matter (default: 0.1)",
    )
    group.add_argument(
        "--budget-ms",
        type=_positive,
        metavar="MS",
        help="what p95 of a search should stay below (default: 100)",
    )
    group.add_argument(
        "--allow-errors",
        type=whole(0),
        metavar="N",
        help="searches that may fail or time out (default: 0)",
    )
    group.add_argument(
        "--compare",
        type=options.filled,
        metavar="OTHER.json",
        help="does it fall faster than this simulation, probe by probe?",
    )
    group.add_argument("--strict", action="store_true", help="exit 3 where it cannot be told")
    group.add_argument(
        "--resume",
        action="store_true",
        help=f"go on where the last simulation stopped, by its journal {journal}: the controls are "
        "not run again, and a look at the holdout is counted once",
    )


def _share(text: str) -> float:
    value = _positive(text)
    if value >= 1.0:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted a share below 1, such as 0.05")
    return value


def _positive(text: str) -> float:
    try:
        return options.seconds(above=True)(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted a number above 0") from error


def growth(args: argparse.Namespace, config: Config) -> dict[str, Any]:
    """Options that `memeval.simulate.plan_simulation` takes: option, else setting, else default."""
    seed = args.seed if args.seed is not None else config.seed
    return {
        "sessions": args.sessions,
        "seed": SEED if seed is None else seed,
        "every": args.every,
        "cohorts": args.cohorts,
    }


def bounds(args: argparse.Namespace) -> dict[str, Any]:
    """Margin, budget and errors allowed, as they were asked for or by default."""
    return {
        "margin": MARGIN if args.margin is None else args.margin,
        "budget_ms": BUDGET_MS if args.budget_ms is None else args.budget_ms,
        "allow_errors": args.allow_errors or 0,
    }


def check_growth(args: argparse.Namespace) -> None:
    """Refuse what nothing could be grown by, before anything is asked."""
    from memeval.cohorts import MOST_COHORTS
    from memeval.simulating.plan import check_whole
    from memeval.simulating.refusing import MOST_SESSIONS

    check_whole("cohorts", args.cohorts, 1, MOST_COHORTS - 1)
    check_whole("sessions", args.sessions, 1, MOST_SESSIONS)


def told(suite: Suite, args: argparse.Namespace, config: Config) -> dict[str, Any]:
    """What the manifest will say of how it is grown, before it is."""
    from memeval.simulate import plan_simulation
    from memeval.simulating.telling import source_of

    asked = growth(args, config)
    plan = plan_simulation(suite, **asked)
    return {
        "suite": suite.content_hash,
        "source": source_of(plan, True),
        "seed": asked["seed"],
        "sessions": len(plan.sessions),
        "checkpoints": list(plan.checkpoints),
        "cohorts": sorted(plan.cohorts),
    }


def key(suite: Suite, args: argparse.Namespace, config: Config) -> dict[str, Any]:
    """What a journal of the simulation says that it is of; one record is written and removed."""
    from memeval.harness.selfcheck import self_check
    from memeval.simulate import plan_simulation
    from memeval.simulating.telling import key_of, source_of
    from memeval.stores.bound import Meter

    asked = growth(args, config)
    how = _how(args, seed=asked["seed"])
    make_store = choosing.store_of(args, config)
    checked = self_check(how.binding(make_store, Meter()), how)
    plan = plan_simulation(suite, **asked)
    return key_of(suite, plan, how, checked, source=source_of(plan, True))


def _how(args: argparse.Namespace, seed: int = 0) -> Options:
    """How the store is asked."""
    from memeval.harness.options import Options

    return Options(
        seed=seed,
        timeout_s=args.timeout,
        retries=args.retries,
        settle_s=args.settle,
        contract_checks=not args.no_contract_checks,
        opaque_ids=args.opaque_ids,
        allow_nonempty=args.allow_nonempty,
    )


def with_time(shown: Told, clock: Callable[[], float] = time.monotonic) -> Told:
    """Add how long it takes yet, at the pace so far."""
    began: list[tuple[float, int]] = []

    def tell(done: int, total: int, label: str) -> None:
        if not began:
            began.append((clock(), done))
        start, first = began[0]
        if done > first:
            left = (clock() - start) / (done - first) * (total - done)
            label += f", {duration(left)} left"
        shown(done, total, label)

    return tell


def _controls(suite: Suite, args: argparse.Namespace) -> tuple[int, int]:
    """Writes and searches of the controls: the store as it is, and with its answers shuffled."""
    from memeval.cli.growth_controls import runs_controls
    from memeval.runner import plan

    if not runs_controls(suite, args):
        return 0, 0
    real, shuffled = plan(suite), plan(suite, repeat_check=False)
    return real[0] + shuffled[0], real[1] + shuffled[1]


def show_plan(suite: Suite, args: argparse.Namespace, config: Config) -> int:
    """Say how many calls it takes at most, and how long at the speed of one of each."""
    from memeval.harness.selfcheck import self_check
    from memeval.simulate import plan_simulation
    from memeval.stores.bound import Meter

    plan = plan_simulation(suite, **growth(args, config))
    how = _how(args)
    make_store = choosing.store_of(args, config)
    checked = self_check(how.binding(make_store, Meter()), how)
    writes, searches = plan.calls
    controls = _controls(suite, args)
    writes, searches = writes + controls[0], searches + controls[1]
    told: dict[str, Any] = {
        "probes": len(suite),
        "planted_once": len(suite) - len(plan.twice),
        "sessions": len(plan.sessions),
        "records": plan.n_records,
        "checkpoints": list(plan.checkpoints),
        "controls": sum(controls),
        "writes": writes,
        "searches": searches,
        "calls": writes + searches,
        "seconds": round((writes * checked.put_ms + searches * checked.search_ms) / 1000, 1),
    }
    if args.format == "json":
        show_json(told)
    else:
        told["seconds"] = duration(told["seconds"])
        told["checkpoints"] = " ".join(map(str, plan.checkpoints))
        markdown = args.format == "markdown"
        lines = [f"| {k} | {v} |" if markdown else f"{k:<13}{v}" for k, v in told.items()]
        show("\n".join([*(["| what | |", "| --- | ---: |"] if markdown else []), *lines]))
    say(
        "dry run: one record was written, searched and removed to see how fast the store is; at "
        "most so many calls, without those that ask why a probe was lost",
        quiet=args.quiet,
    )
    return 0
