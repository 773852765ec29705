"""A run that was kept, judged by other rules: the store is not asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import pandas as pd

from memeval.checks.kinds import shown
from memeval.errors import FrameError
from memeval.runs import Run
from memeval.summary import refuse_unknown
from memeval.validity import judge

__all__ = ["rescore"]


def rescore(
    run: Run,
    *,
    k: int | None = None,
    score_floor: float | None = None,
    targets: Mapping[str, float] | None = None,
    floors: Mapping[str, float] | None = None,
    allow_errors: int | None = None,
) -> Run:
    """Judge the answers of a run by other rules.

    Parameters
    ----------
    run : Run
        As `memeval.run` or `memeval.load_run` gives it.
    k : int, optional
        Another cutoff, from 1, for every probe that was asked for more. Only what stands in the
        first `k` places counts as found; a leak counts wherever it stands.
    score_floor : float, optional
        Leave out every hit with a score worse than this, as the store itself might: what is
        left moves up. For scores of which lower is better it is the highest allowed.
    targets, floors : mapping of str to float, optional
        In place of those of the run.
    allow_errors : int, optional
        In place of that of the run.

    Returns
    -------
    Run
        The manifest says what was changed. Causes and controls are of the answers as they were,
        and are left out where `k` or `score_floor` changed them.

    Raises
    ------
    FrameError
        If more is asked for than was asked of the store, hits have no score to hold against a
        floor, or a value is none of its kind.

    Examples
    --------
    >>> import memeval as me
    >>> given = [me.Record("r1", "Lunch: noodle bar."), me.Record("r2", "Noodle bar opens at 9.")]
    >>> run = me.run([me.Probe("lunch", "lunch noodle bar", given, ["r2"])], "sqlite")
    >>> run.recall_at_k, me.rescore(run, k=1).recall_at_k
    (1.0, 0.0)
    """
    refuse_unknown(targets or {}, "targets")
    refuse_unknown(floors or {}, "floors")
    made, told = run, []
    if k is not None:
        made = replace(made, calls=_cut(made.calls, k))
        told.append(f"scored at k = {k} without asking the store again")
    if score_floor is not None:
        order = run.manifest.capabilities.get("score_order")
        made = replace(made, hits=_floored(made.hits, score_floor, order))
        told.append(f"hits with a score worse than {score_floor:g} are left out")
    changes: dict[str, Any] = {"targets": targets, "floors": floors, "allow_errors": allow_errors}
    made = replace(made, **{name: value for name, value in changes.items() if value is not None})
    if not told:
        return made
    ks = set(made.calls["k"])
    manifest = replace(
        run.manifest,
        k=int(next(iter(ks))) if len(ks) == 1 else None,
        notes=(*run.manifest.notes, *told),
        options=dict(run.manifest.options) | dict(_rules(k, score_floor)),
    )
    made = replace(made, manifest=manifest, controls=None, causes=None)
    return made if run.validity.status == "unchecked" else made.judged(judge(made))


def _rules(k: int | None, score_floor: float | None) -> Iterator[tuple[str, Any]]:
    if k is not None:
        yield "rescored_at_k", k
    if score_floor is not None:
        yield "score_floor", float(score_floor)


def _cut(calls: pd.DataFrame, k: int) -> pd.DataFrame:
    """Calls with a smaller cutoff."""
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise FrameError(f"k is {shown(k)}, wanted a whole number from 1; leave it out otherwise")
    most = int(calls["k"].max()) if len(calls) else 0
    if k > most:
        raise FrameError(
            f"k is {k}, and no probe was asked for more than {most}: what stands in further places "
            "nobody knows; use a smaller k, or run the suite again with that one"
        )
    return calls.assign(k=calls["k"].clip(upper=int(k)))


def _floored(hits: pd.DataFrame, floor: float, order: str | None) -> pd.DataFrame:
    """Hits that a floor lets through, in ranks without gaps."""
    if not isinstance(floor, Real) or isinstance(floor, bool) or floor != floor:
        raise FrameError(f"score_floor is {shown(floor)}, wanted a number; leave it out otherwise")
    bare = int(hits["score"].isna().sum())
    if bare:
        raise FrameError(
            f"score_floor is {floor:g}, and {bare} of {len(hits)} hits have no score to hold "
            "against it; leave it out, or let the adapter hand the scores on and run again"
        )
    kept = hits["score"] <= floor if order == "low" else hits["score"] >= floor
    left = hits[kept].sort_values(["probe", "repeat", "rank"], kind="stable")
    rank = left.groupby(["probe", "repeat"], sort=False).cumcount() + 1
    return left.assign(rank=rank.astype("int64")).sort_index().reset_index(drop=True)
