"""Was it chance? Everything is asked again before a verdict of FAIL counts.

A store whose answers vary loses probes now and then without being any worse. So where tests fail
such a store, all its probes are asked again of clean stores, and the comparison is decided anew
on this fresh run alone: an independent replication, in which a real fall falls again. To ask only
what changed again, or to take the middle of repeats, would hide what goes wrong less than half of
the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from memeval.comparing import gates
from memeval.comparing import tolerance as fixed
from memeval.comparing.changes import changes
from memeval.comparing.differences import flat, under_test
from memeval.comparing.manifests import told
from memeval.comparing.sides import Sides, count, listed
from memeval.comparison import Comparison, compare
from memeval.errors import IncomparableRunsError, MemevalError
from memeval.harness.collecting import Progress
from memeval.outcomes import Outcomes, outcomes_of
from memeval.record import Record
from memeval.runner import run as ask
from memeval.runs import Run
from memeval.stores.bound import View
from memeval.verdicts import Verdict

__all__ = ["confirm", "needs_confirming"]

REPEATS = 5
# What of the first run's options holds for the second one too.
_AS_BEFORE = (
    "repeat_check",
    "contract_checks",
    "opaque_ids",
    "allow_nonempty",
    "timeout_s",
    "retries",
)
_GIVEN = ("retrieve", "is_stale")


def needs_confirming(comparison: Comparison) -> bool:
    """Whether a comparison failed by what may be chance.

    Parameters
    ----------
    comparison : Comparison
        As `memeval.compare` gives it.

    Returns
    -------
    bool
        False where a gate or the ratchet failed it too, where both sides are verified
        deterministic, and for every other verdict: to ask again until it fails would be as wrong
        as to ask again until it passes. The gate on time is one of the gates.
    """
    if comparison.verdict.word != "FAIL":
        return False
    sides = _sides(comparison)
    objections = [*gates.absolute(comparison.current), *gates.ratchet(sides)]
    slower = comparison.of("latency_ms")["regressed"]
    gated = bool(objections) or (not pd.isna(slower) and bool(slower))
    return not gated and not gates.deterministic(sides)


def confirm(
    comparison: Comparison,
    make_store: str | Callable[[], Any],
    *,
    repeats: int = REPEATS,
    tolerance: float = fixed.TOLERANCE,
    latency_gate: bool = False,
    anyway: bool = False,
    retrieve: Callable[[Any, View], Any] | None = None,
    is_stale: Callable[[Record], bool] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Ask all probes again, and decide on the fresh run alone, where a FAIL may be chance.

    Parameters
    ----------
    comparison : Comparison
        Of a baseline with a full run of this store.
    make_store : callable or str
        Gives a fresh store, as for `memeval.run`: the one that was run.
    repeats : int
        How often each probe is asked in the fresh run; at least as often as in the first.
    tolerance, latency_gate, anyway
        As they were given to `memeval.compare`.
    retrieve, is_stale
        As they were given to `memeval.run`.
    progress : callable, optional
        ``progress(done, total, label)`` after each history.

    Returns
    -------
    Comparison
        The baseline with the fresh run; where nothing is to be confirmed (`needs_confirming`), the
        one that was given. Its first note says what was done, or why nothing was.

    Raises
    ------
    MemevalError
        If the full run is not there, or its texts are not, or a function of the caller's is
        missing that it was made with.
    IncomparableRunsError
        If this is another store than the one that was run.
    StoreError
        As `memeval.run`.

    Notes
    -----
    The fresh run is independent of the first one, and `memeval.compare` decides on it as on any
    other: the tests take as many of its repeats as the first run had, so that they measure the
    same once more; leaks, contract, ratchet and must take all its repeats, and so does all of the
    tolerance rule.
    So the level of the tests holds for it, and a false FAIL needs chance twice. A gate, or a must
    lost in enough repeats, of the first run is never asked again: it stands, and so does a time
    that the first run could judge. The baseline is not asked again.

    Examples
    --------
    >>> import memeval as me
    >>> probe = me.Probe("lunch", "noodle bar", [me.Record("r1", "Lunch: noodle bar.")], ["r1"])
    >>> run = me.run([probe], "sqlite")
    >>> same = compare(run, run)
    >>> confirm(same, "sqlite").notes[0]
    'not asked again: only a FAIL is confirmed, and the verdict is SAME'
    """
    if not needs_confirming(comparison):
        return replace(comparison, notes=(_why_not(comparison), *comparison.notes))
    run = _run_of(comparison, {"retrieve": retrieve, "is_stale": is_stale})
    options = {n: v for n, v in run.manifest.options.items() if n in _AS_BEFORE}
    fresh = ask(
        run.suite,
        make_store,
        repeats=max(repeats, run.manifest.repeats),
        seed=run.manifest.seed,
        retrieve=retrieve,
        is_stale=is_stale,
        progress=progress,
        allow_errors=run.allow_errors,
        floors=run.floors,
        **options,
    )
    _refuse_other(run, fresh)
    tested = fresh if comparison.rule == "tolerance" else _first(fresh, run.manifest.repeats)
    again = compare(
        comparison.baseline,
        _judged_alike(tested, comparison),
        margin=comparison.margin,
        alpha=comparison.alpha,
        rule=comparison.rule,
        tolerance=tolerance,
        latency_gate=latency_gate and bool(pd.isna(comparison.of("latency_ms")["regressed"])),
        anyway=anyway,
    )
    again = _gated(again, _judged_alike(fresh, comparison))
    return replace(again, notes=(*_notes(comparison, again, fresh, tested), *again.notes))


def _first(fresh: Run, repeats: int) -> Run:
    """Its first repeats, as many as the first run had: the same measurement once more."""
    hits, calls = (table[table["repeat"].lt(repeats)] for table in (fresh.hits, fresh.calls))
    manifest = replace(fresh.manifest, repeats=repeats)
    return replace(fresh, hits=hits, calls=calls, manifest=manifest)


def _gated(again: Comparison, whole: Outcomes) -> Comparison:
    """The same, with gates, ratchet and changed probes by all repeats."""
    made = replace(again, current=whole)
    sides = _sides(made)
    made = replace(made, changes=changes(sides))
    if again.withheld or again.rule == "tolerance":
        return made
    objections = [*gates.absolute(whole), *gates.ratchet(sides)]
    if again.verdict.word == "FAIL":
        objections.append(gates.Objection(again.verdict.reason, again.verdict.next_step))
    verdict = gates.failed(list(dict.fromkeys(objections)))
    doubtful = gates.unconfirmed(sides)
    if not verdict and again.passed and doubtful:
        reason = f"marked must, lost in too few repeats to be sure: {listed(doubtful)}"
        todo = f"ask both sides {gates.ENOUGH_REPEATS} times or more: memeval run --repeats 5"
        verdict = Verdict("CANNOT TELL", reason, todo, 0)
    return replace(made, verdict=verdict or again.verdict)


def _sides(comparison: Comparison) -> Sides:
    return Sides(comparison.baseline, comparison.current, comparison.comparability.common)


def _run_of(comparison: Comparison, given: dict[str, Any]) -> Run:
    """The full run of the current side, or an error that says why it cannot be asked again."""
    run, source = comparison.current.run, comparison.current.source
    if run is None:
        raise MemevalError(
            f"{source}: holds no probes, wanted a full run to ask them again; compare with the run "
            "itself, or with its file in .memeval/runs"
        )
    if any(probe.withheld for probe in run.suite):
        raise MemevalError(
            f"{source}: was saved without texts, wanted the probes as they were asked; compare "
            "with a run that has them"
        )
    lacking = [n for n in _GIVEN if run.manifest.options.get(n) and given[n] is None]
    if lacking:
        raise MemevalError(
            f"{source}: was made with {lacking[0]} of the caller's own, found none; give "
            f"{lacking[0]}= the same function"
        )
    return run


def _refuse_other(run: Run, fresh: Run) -> None:
    differences = list(under_test(flat(told(run)), flat(told(fresh))))
    if differences:
        said = str(differences[0]).replace("in the baseline", "in the run")
        raise IncomparableRunsError(
            f"another store was asked again than was run ({said}); give the store of the run"
        )


def _judged_alike(fresh: Run, comparison: Comparison) -> Outcomes:
    """The fresh outcomes; the suite is judged as it was, the store by what it did now."""
    judged, now = comparison.current.validity, fresh.validity
    if now.store_faults:
        judged = replace(judged, store_faults=now.store_faults, next_step=now.next_step)
    source = f"{comparison.current.source}, asked again"
    return replace(outcomes_of(fresh, source), validity=judged)


def _why_not(comparison: Comparison) -> str:
    """Why nothing was asked again."""
    word = comparison.verdict.word
    if word != "FAIL":
        return f"not asked again: only a FAIL is confirmed, and the verdict is {word}"
    if gates.deterministic(_sides(comparison)):
        return (
            "not asked again: both sides are verified deterministic, so that the same would come "
            "back"
        )
    return "not asked again: a gate or a probe marked must failed it too, which is never chance"


def _notes(first: Comparison, again: Comparison, fresh: Run, tested: Run) -> Iterator[str]:
    """What was done, what came of it, and which lost must-probes the first run had."""
    n, most = tested.manifest.repeats, fresh.manifest.repeats
    part = "" if n == most else f"the tests by its first {count(n, 'repeat')}, gates by all; "
    asked = (
        f"all {count(len(again.current), 'probe')} were asked again {count(most, 'time')} each, "
        f"and this fresh run alone decides ({part}the first run has no part in it)"
    )
    if again.verdict.word == "FAIL":
        yield f"confirmed: the first run failed; {asked}: it fails too"
    else:
        yield f"not confirmed: the first run failed; {asked}: it comes to {again.verdict.word}"
    doubtful = gates.unconfirmed(_sides(first))
    if doubtful:
        yield f"marked must and lost in the first run: {listed(doubtful)}"
