"""Was it chance? The probes that changed are asked again before a verdict of FAIL counts.

A store whose answers vary loses probes now and then without being any worse. So where tests fail
such a store, the probes that changed are asked again, several times, of clean stores, and the
comparison is decided anew with what they typically give.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from memeval import frames
from memeval.columns import Schema, conform
from memeval.comparing import gates
from memeval.comparing import tolerance as fixed
from memeval.comparing.deltas import TIE
from memeval.comparing.differences import flat, under_test
from memeval.comparing.manifests import told
from memeval.comparing.sides import Sides, count
from memeval.comparison import Comparison, compare
from memeval.errors import IncomparableRunsError, MemevalError
from memeval.harness.collecting import Progress
from memeval.metrics import score
from memeval.outcomes import Outcomes, outcomes_of
from memeval.record import Record
from memeval.runner import run as ask
from memeval.runs import Run
from memeval.stores.bound import View
from memeval.suite import Suite

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
        as to ask again until it passes.
    """
    if comparison.verdict.word != "FAIL":
        return False
    sides = _sides(comparison)
    objections = [*gates.absolute(comparison.current), *gates.ratchet(sides)]
    return not objections and not gates.deterministic(sides)


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
    """Ask the probes that changed again, and decide again, where a FAIL may be chance.

    Parameters
    ----------
    comparison : Comparison
        Of a baseline with a full run of this store.
    make_store : callable or str
        Gives a fresh store, as for `memeval.run`: the one that was run.
    repeats : int
        How often each of these probes is asked of a store of its own.
    tolerance, latency_gate, anyway
        As they were given to `memeval.compare`.
    retrieve, is_stale
        As they were given to `memeval.run`.
    progress : callable, optional
        ``progress(done, total, label)`` after each history.

    Returns
    -------
    Comparison
        The same where nothing is to be confirmed (`needs_confirming`), else one that says in its
        notes what came of it.

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
    Of the fresh repeats of a probe the middle one, by recall_all and then ndcg, stands for all.
    A leak or a broken contract fails whatever the repeats say, and a search that failed stays so.
    The baseline is not asked again.

    Examples
    --------
    >>> import memeval as me
    >>> probe = me.Probe("lunch", "noodle bar", [me.Record("r1", "Lunch: noodle bar.")], ["r1"])
    >>> run = me.run([probe], "sqlite")
    >>> same = compare(run, run)
    >>> confirm(same, "sqlite") is same
    True
    """
    if not needs_confirming(comparison):
        return comparison
    run = _run_of(comparison, {"retrieve": retrieve, "is_stale": is_stale})
    names = _changed(_sides(comparison))
    if not names:
        return comparison
    options = {n: v for n, v in run.manifest.options.items() if n in _AS_BEFORE}
    fresh = ask(
        _with_histories(run.suite, names),
        make_store,
        repeats=repeats,
        seed=run.manifest.seed,
        retrieve=retrieve,
        is_stale=is_stale,
        progress=progress,
        allow_errors=run.allow_errors,
        **options,
    )
    _refuse_other(run, fresh)
    again = compare(
        comparison.baseline,
        _replaced(comparison.current, run, fresh, names),
        margin=comparison.margin,
        alpha=comparison.alpha,
        rule=comparison.rule,
        tolerance=tolerance,
        latency_gate=latency_gate,
        anyway=anyway,
    )
    return replace(again, notes=(_note(again, len(names), repeats), *again.notes))


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


def _changed(sides: Sides) -> set[str]:
    """Probes that both answered and that came to something else, for better or worse."""
    before, after = sides.before, sides.after
    answered = sides.asked & after["status"].eq("ok").to_numpy(np.bool_)
    differs = sides.lost | sides.gained | sides.flaky
    for column in ("recall_all", "ndcg"):
        old, new = (rows[column].to_numpy(np.float64, na_value=np.nan) for rows in (before, after))
        differs = differs | ~np.isclose(old, new, rtol=0.0, atol=TIE, equal_nan=True)
    return set(sides.named(answered & differs))


def _with_histories(suite: Suite, names: Collection[str]) -> Suite:
    """These probes, and those that share a history with them: its haystack is made for all."""
    shared = {probe.history for probe in suite if probe.name in names and probe.history}
    kept = tuple(p for p in suite if p.name in names or p.history in shared)
    histories = {name: ops for name, ops in suite.histories.items() if name in shared}
    whole = max(suite.chosen_of, len(suite))
    return replace(suite, probes=kept, histories=histories, chosen_of=whole)


def _refuse_other(run: Run, fresh: Run) -> None:
    differences = list(under_test(flat(told(run)), flat(told(fresh))))
    if differences:
        said = str(differences[0]).replace("in the baseline", "in the run")
        raise IncomparableRunsError(
            f"another store was asked again than was run ({said}); give the store of the run"
        )


def _replaced(current: Outcomes, run: Run, fresh: Run, names: Collection[str]) -> Outcomes:
    """The current side with what these probes typically give."""
    merged = _merged(run, _typical_first(fresh), names)
    return replace(outcomes_of(merged, current.source), manifest=current.manifest)


def _typical_first(fresh: Run) -> Run:
    """The same run with the middle repeat of each probe in the place of the first."""
    scored = [
        _of_repeat(fresh, repeat).assign(repeat=repeat)
        for repeat in sorted(fresh.calls["repeat"].unique())
    ]
    every = pd.concat(scored, ignore_index=True)
    order = ["probe", "recall_all", "ndcg", "passed", "repeat"]
    every = every[order].sort_values(order, kind="stable", na_position="first")
    sizes = every.groupby("probe")["repeat"].transform("size")
    middle = every[every.groupby("probe").cumcount().eq((sizes - 1) // 2)]
    chosen = dict(zip(middle["probe"], middle["repeat"], strict=True))
    hits, calls = (_swapped(table, chosen) for table in (fresh.hits, fresh.calls))
    return replace(fresh, hits=hits, calls=calls)


def _of_repeat(run: Run, repeat: int) -> pd.DataFrame:
    hits, calls = (t[t["repeat"].eq(repeat)].assign(repeat=0) for t in (run.hits, run.calls))
    return score(hits, run.qrels, calls, count_tokens=len)


def _swapped(table: pd.DataFrame, chosen: dict[str, int]) -> pd.DataFrame:
    """Repeats renumbered: the chosen one of each probe is the first, the first has its number."""
    middle, repeat = table["probe"].map(chosen).astype("int64"), table["repeat"]
    numbers = repeat.mask(repeat.eq(middle), 0).mask(repeat.eq(0), middle)
    return table.assign(repeat=numbers.astype(repeat.dtype))


def _merged(run: Run, fresh: Run, names: Collection[str]) -> Run:
    """The first run with the answers of the second to these probes."""
    order = {probe.name: n for n, probe in enumerate(run.suite)}

    def joined(old: pd.DataFrame, new: pd.DataFrame, schema: Schema) -> pd.DataFrame:
        kept = [old[~old["probe"].isin(names)], new[new["probe"].isin(names)]]
        both = pd.concat([table for table in kept if len(table)] or [old[:0]], ignore_index=True)
        keys = ["order", *(key for key in ("repeat", "rank") if key in both)]
        both["order"] = both["probe"].map(order)
        return conform(both.sort_values(keys, kind="stable"), schema)

    return replace(
        run,
        hits=joined(run.hits, fresh.hits, frames.HITS),
        calls=joined(run.calls, fresh.calls, frames.CALLS),
        qrels=joined(run.qrels, fresh.qrels, frames.QRELS),
    )


def _note(again: Comparison, n: int, repeats: int) -> str:
    asked = f"{count(n, 'probe')} that changed asked again {repeats} times each"
    if again.verdict.word == "FAIL":
        return f"confirmed: {asked}, and it fails still"
    return f"not confirmed: the first run failed; {asked}, it does not"
