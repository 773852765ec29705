"""What a run would take: calls to the store, and time at the speed of one of each."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from memeval.cli.console import say, show
from memeval.cli.forms import show_json

if TYPE_CHECKING:
    from memeval.suite import Suite


def show_plan(
    suite: Suite,
    make_store: Callable[[], Any],
    options: dict[str, Any],
    args: argparse.Namespace,
    passes: Sequence[tuple[int, bool]],
) -> int:
    """Print how many writes and searches a command makes and about how long; run nothing.

    Parameters
    ----------
    suite : Suite
        The probes that were chosen.
    make_store : callable
        Gives a fresh store; one record is written to it, searched and removed, to see how fast
        it is.
    options : dict
        Of `memeval.run`.
    args : argparse.Namespace
        For the form of the output.
    passes : sequence of (int, bool)
        Repeats, and whether the repeat check is made, of each pass over the suite that asks this
        store.

    Returns
    -------
    int
        0.
    """
    from memeval.runner import plan

    counted = [plan(suite, n, repeat_check=checked) for n, checked in passes]
    writes, searches = (sum(column) for column in zip(*counted, strict=True))
    put_ms, search_ms = _measured(make_store, options)
    took = (writes * put_ms + searches * search_ms) / 1000
    told = {
        "probes": len(suite),
        "writes": writes,
        "searches": searches,
        "calls": writes + searches,
        "write_ms": round(put_ms, 3),
        "search_ms": round(search_ms, 3),
        "seconds": round(took, 1),
    }
    if args.format == "json":
        show_json(told)
    else:
        show(_table(told) if args.format == "table" else _markdown(told))
    say(
        "dry run: one record was written, searched and removed to see how fast the store is; "
        "no probe was asked, no file written",
        quiet=args.quiet,
    )
    return 0


def _measured(make_store: Callable[[], Any], options: dict[str, Any]) -> tuple[float, float]:
    """Milliseconds of one write and of one search, from the self check that every run makes."""
    from memeval.harness.asking import Options
    from memeval.harness.selfcheck import self_check
    from memeval.stores.bound import BoundStore

    how = Options(
        timeout_s=options["timeout_s"],
        retries=options["retries"],
        allow_nonempty=options["allow_nonempty"],
        settle_s=options["settle_s"],
    )
    checked = self_check(
        lambda: BoundStore(make_store(), timeout_s=how.timeout_s, retries=how.retries), how
    )
    return checked.put_ms, checked.search_ms


def _lines(told: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        ("probes", f"{told['probes']:,}", ""),
        ("writes", f"{told['writes']:,}", f"{told['write_ms']:g} ms each"),
        ("searches", f"{told['searches']:,}", f"{told['search_ms']:g} ms each"),
        ("time", duration(told["seconds"]), "at the speed of one write and one search"),
    ]


def _table(told: dict[str, Any]) -> str:
    return "\n".join(f"{a:<9} {b:>12}  {c}".rstrip() for a, b, c in _lines(told))


def _markdown(told: dict[str, Any]) -> str:
    head = "| what | how much | |\n| --- | ---: | --- |"
    return "\n".join([head, *(f"| {a} | {b} | {c} |" for a, b, c in _lines(told))])


def duration(seconds: float) -> str:
    """Time in the unit that fits it.

    Examples
    --------
    >>> duration(0.3), duration(42.4), duration(600), duration(9000)
    ('under 1 s', '42 s', '10 min', '2.5 h')
    """
    if seconds < 1:
        return "under 1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
