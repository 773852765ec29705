"""Why did a probe fail, and what next: the store is asked again, never a model."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from memeval import frames
from memeval.advice import ORDER as ORDER
from memeval.advice import next_step
from memeval.errors import MemevalError, said
from memeval.harness.asking import Options, Rows, Table
from memeval.harness.collecting import Progress, haystack_of, histories
from memeval.harness.inquiry import Cause, Inquiry, Labels
from memeval.harness.selfcheck import self_check
from memeval.harness.workspace import SLOW_PUT_MS, Workspace
from memeval.probe import Probe
from memeval.runs import Run
from memeval.showing import ShownInNotebooks
from memeval.stores.base import resolve
from memeval.stores.bound import BoundStore, CallLimitError, View

GATING = ("leaked", "contract")
NEVER_FOUND = 10**9


@dataclass(frozen=True)
class Diagnosis(ShownInNotebooks):
    """Causes of the failed probes of a run.

    Attributes
    ----------
    causes : pandas.DataFrame
        As `memeval.frames.CAUSES`, in the order in which to mend them.
    reason : str
        What is wrong, in a sentence.
    next_step : str
        What to do first.
    order : str
        Why the first comes first.
    """

    causes: pd.DataFrame
    reason: str
    next_step: str
    order: str = ORDER

    def __repr__(self) -> str:
        from memeval.report.cards import card_text

        return card_text(self)


def diagnose(
    run: Run,
    store: str | Callable[[], Any],
    *,
    retrieve: Callable[[Any, View], Any] | None = None,
    timeout_s: float | None = None,
    wait_s: float = 2.0,
    progress: Progress | None = None,
) -> Diagnosis:
    """Find a cause for each failed probe by asking the store again.

    Parameters
    ----------
    run : Run
        A run with its texts; only its failed probes are asked.
    store : callable or str
        Gives a fresh store of the same kind, as for `memeval.run`.
    retrieve : callable, optional
        The pipeline that the run graded, where it did.
    timeout_s : float, optional
        Time limit of one search, in seconds.
    wait_s : float
        How long to wait for a record to appear, in seconds.
    progress : callable, optional
        ``progress(done, total, label)`` after each history.

    Returns
    -------
    Diagnosis
        A row per failed probe: cause, evidence, rank of the missing record when more is asked
        for, what stands in its place, and one next step.

    Raises
    ------
    MemevalError
        If the run was saved without texts.
    StoreError
        If the store cannot be made.

    Notes
    -----
    The causes, in the order in which they are asked for: ``failed``, ``leaked``, ``contract``,
    ``did_not_abstain`` (negative probes), ``not_stored``, ``merged``, ``not_visible``,
    ``filtered``, ``cut``, ``stale_won``, ``crowded_out``, ``outranked``, and ``not_reproduced``
    where the probe passes when asked again.

    Examples
    --------
    >>> import memeval as me
    >>> given = [me.Record("r1", "The kiosk is blue."), me.Record("r2", "The van is red.")]
    >>> probe = me.Probe("stall", "Which colour has the stall?", given, ["r1"], k=1)
    >>> me.diagnose(me.run([probe], "sqlite"), "sqlite").causes[["probe", "cause"]]
       probe cause
    0  stall   cut
    """
    failing = list(run.failing["probe"])
    if not failing:
        return Diagnosis(frames.empty(frames.CAUSES), "no probe failed", "nothing to mend")
    if any(probe.withheld for probe in run.suite):
        raise MemevalError(
            "this run was saved without texts, and the store is asked again with them; diagnose "
            "the run that was made, or save it with its texts"
        )
    options = Options(
        retrieve=retrieve, seed=run.manifest.seed, timeout_s=timeout_s, repeat_check=False,
        opaque_ids=bool(run.manifest.options.get("opaque_ids")), allow_nonempty=True,
    )  # fmt: skip
    found = _Diagnosing(run, store, options, set(failing), wait_s, progress).causes()
    return _ordered(found, run)


@dataclass
class _Diagnosing:
    """The failed probes of a run, history by history."""

    run: Run
    store: str | Callable[[], Any]
    options: Options
    failing: set[str]
    wait_s: float
    progress: Progress | None

    def causes(self) -> dict[str, Cause]:
        """Cause by name of the probe."""
        factory = resolve(self.store)
        retrieve, limit = self.options.retrieve, self.options.timeout_s

        def make() -> BoundStore:
            return BoundStore(factory(), retrieve=retrieve, timeout_s=limit)

        checked = self_check(make, self.options, search=False)
        self.space = Workspace(make, checked.capabilities, slow=checked.put_ms > SLOW_PUT_MS)
        self.foreign = checked.capabilities.scoping != "none"
        self.breaches = dict(zip(self.run.calls["probe"], self.run.calls["breaches"], strict=True))
        status = self.run.results.set_index("probe")["status"]
        self.late = set(status.index[status == "not_visible"])
        found: dict[str, Cause] = {}
        groups = [g for g in histories(self.run.suite) if self.failing & {p.name for p in g}]
        try:
            for n, group in enumerate(groups, 1):
                found |= self._group(group)
                if self.progress is not None:
                    self.progress(n, len(groups), group[0].name)
        finally:
            self.space.close()
        return found

    def _group(self, group: Sequence[Probe]) -> dict[str, Cause]:
        asked = [probe for probe in group if probe.name in self.failing]
        haystack = haystack_of(self.run.suite, group, self.options.seed, self.foreign)
        rows, options = Rows(), self.options
        if self.late & {probe.name for probe in asked}:
            options = replace(options, settle_s=0.0)  # how late it is, is the question
        with self.space.clean(f"{self.options.seed} 0 {group[0].name}") as desk:
            table = Table(desk, asked, haystack, 0, options, rows)
            table.run()
            calls = {call["probe"]: call for call in rows.calls}
            return {p.name: self._one(table, p, calls[p.name]) for p in asked}

    def _one(self, table: Table, probe: Probe, call: dict[str, Any]) -> Cause:
        then = self.breaches.get(probe.name)
        now = call.get("breaches") or ""
        inquiry = Inquiry(
            desk=table.desk,
            probe=probe,
            labels=self._labels(probe, table.rows),
            records=table.records,
            status=call["status"],
            error=call.get("error") or "",
            breaches=now or ("" if pd.isna(then) else str(then)),
            lost_at=self._lost_at,
            wait_s=self.wait_s,
        )
        try:
            return inquiry.cause()
        except CallLimitError:
            raise
        except Exception as error:  # the store fails while it is asked why: that is the cause
            told = f"asked why, the store fails: {said(error)}"
            return Cause("failed", told, next_step=next_step("failed", {}))

    def _labels(self, probe: Probe, rows: Rows) -> Labels:
        judged = self.run.qrels[self.run.qrels["probe"] == probe.name]
        groups = [set(group) for group in probe.groups]
        for row in rows.qrels:
            if row["probe"] == probe.name and row["merged"]:
                groups[row["group"]].add(row["record_id"])
        forbidden = judged[judged["label"] == "forbidden"]
        reasons = forbidden["reason"].astype("str")
        return Labels(
            groups=tuple(frozenset(group) for group in groups),
            forbidden=dict(zip(forbidden["record_id"], reasons, strict=True)),
            # Asked again, a store may return what no answer of the run held.
            stale=frozenset(judged.loc[judged["label"] == "stale", "record_id"])
            | probe.superseded
            | probe.expired,
        )

    def _lost_at(self, score: float) -> tuple[int, int]:
        """How many positives that are found a floor above this score would lose, of how many."""
        return bisect_right(self.best, score), len(self.best)

    @cached_property
    def best(self) -> list[float]:
        """Lowest score that each positive with recall_all needs, lowest first."""
        results = self.run.results
        passed = results.loc[results["recall_all"].fillna(False), "probe"]
        expected = self.run.qrels.loc[self.run.qrels["label"] == "expected"]
        first = self.run.hits[self.run.hits["repeat"] == 0]
        found = first.merge(expected[["probe", "record_id", "group"]], on=["probe", "record_id"])
        best = found[found["probe"].isin(passed)].groupby(["probe", "group"])["score"].max()
        return sorted(best.groupby("probe").min().dropna())


def _ordered(found: dict[str, Cause], run: Run) -> Diagnosis:
    """Causes as a frame, in the order in which to mend them."""
    must = {probe.name: probe.must for probe in run.suite}
    rows = sorted(
        found.items(),
        key=lambda item: (
            item[1].cause not in GATING,
            not must[item[0]],
            frames.CAUSE_WORDS.index(item[1].cause),
            item[1].rank_found or NEVER_FOUND,
            item[0],
        ),
    )
    frame = pd.DataFrame(
        [
            {
                "probe": name,
                "cause": cause.cause,
                "evidence": cause.evidence,
                "rank_found": cause.rank_found,
                "displaced_by": " ".join(cause.displaced_by) or None,
                "next_step": cause.next_step,
            }
            for name, cause in rows
        ]
    )
    causes = frames.conform(frame, frames.CAUSES)
    counts = causes["cause"].value_counts(sort=False)
    told = ", ".join(f"{n} {word}" for word, n in counts.items() if n)
    name, first = rows[0]
    return Diagnosis(causes, f"{len(rows)} probes failed: {told}", f"{name}: {first.next_step}")
