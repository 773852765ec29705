"""The store as it is, run once and recorded: what every saboteur is held against."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from memeval.errors import WeakSuiteWarning
from memeval.harness.collecting import REPEATS_WHERE_UNSTEADY, Collector
from memeval.harness.options import Options
from memeval.harness.recording import recording
from memeval.harness.selfcheck import self_check
from memeval.harness.snapshots import Shelf
from memeval.harness.tape import Tape
from memeval.mutating.bench import Bench
from memeval.runs import Run
from memeval.stores.bound import Meter
from memeval.suite import Suite
from memeval.validity import judge

__all__ = ["recorded"]


def recorded(
    suite: Suite,
    factory: Callable[[], Any],
    options: Options,
    shelf: Shelf,
    *,
    repeats: int | None = None,
    max_calls: int | None = None,
    check_store: bool = True,
    judged: bool = True,
    told: Mapping[str, Any] | None = None,
) -> Bench:
    """Run the store as it is, and note what it says.

    Parameters
    ----------
    suite, factory, options
        What is asked, of which store, and how.
    shelf : Shelf
        Where to keep what is written.
    repeats : int, optional
        How often each probe is asked; once where that is enough to know that the store is
        deterministic, else 5 times.
    max_calls, check_store
        As for `memeval.run`.
    judged : bool
        Whether the suite is judged; a bare list of probes is not.
    told : mapping, optional
        What the run is to be given besides: targets, floors, allow_errors.

    Returns
    -------
    Bench
        With the run, and what the store shows when it is replayed.
    """
    meter = Meter(max_calls)

    def once(repeats: int | None) -> Bench:
        tape = Tape()
        make = recording(tape, options, factory, meter)
        checked = self_check(make, options, search=check_store)
        asked = Collector(suite, make, checked, options, repeats, None, shelf, meter=meter)
        tables = asked.tables()
        made = Run(*tables, manifest=asked.manifest(), suite=suite, **(told or {}))
        return Bench(suite, factory, options, checked, tape, made, meter=meter)

    bench = once(repeats)
    steady = bench.identity.manifest.verified_deterministic is True
    if repeats is None and not steady and bench.repeats < REPEATS_WHERE_UNSTEADY:
        bench = once(REPEATS_WHERE_UNSTEADY)
    if judged:
        bench = replace(bench, identity=_judged(bench.identity))
    return bench.with_replay()


def _judged(run: Run) -> Run:
    validity = judge(run)
    if validity.status == "weak":
        reasons = "; ".join(validity.reasons)
        warnings.warn(f"the suite is weak: {reasons}", WeakSuiteWarning, stacklevel=4)
    return run.judged(validity)
