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
    from memeval.suite import Suite

SEED = 7
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
        default=0.10,
        metavar="X",
        help="net fall of recall that would matter (default: 0.1)",
    )
    group.add_argument(
        "--budget-ms",
        type=_positive,
        default=100.0,
        metavar="MS",
        help="what p95 of a search should stay below (default: 100)",
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
        help=f"go on where the last simulation stopped, by its journal {journal}",
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


def show_plan(suite: Suite, args: argparse.Namespace, config: Config) -> int:
    """Say how many calls it takes at most, and how long at the speed of one of each."""
    from memeval.harness.options import Options
    from memeval.harness.selfcheck import self_check
    from memeval.simulate import plan_simulation
    from memeval.stores.bound import Meter

    plan = plan_simulation(suite, **growth(args, config))
    how = Options(
        timeout_s=args.timeout,
        retries=args.retries,
        settle_s=args.settle,
        allow_nonempty=args.allow_nonempty,
    )
    make_store = choosing.find_store(choosing.store_name(args, config))
    checked = self_check(how.binding(make_store, Meter()), how)
    writes, searches = plan.calls
    told: dict[str, Any] = {
        "probes": len(suite),
        "planted_once": len(suite) - len(plan.twice),
        "sessions": len(plan.sessions),
        "records": plan.n_records,
        "checkpoints": list(plan.checkpoints),
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
