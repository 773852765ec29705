"""Asking the planted probes at one checkpoint, and what comes of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from memeval import metrics
from memeval.harness.asking import Options, Rows, Table, Written
from memeval.harness.desk import Desk
from memeval.harness.eligible import unsupported
from memeval.harness.labels import labelled
from memeval.haystack import NOTHING
from memeval.probe import Probe
from memeval.record import Advance, Hit, Record
from memeval.stores.bound import BoundStore
from memeval.suite import Suite

MOST_DISPLACED = 10
KEPT = (
    "kind", "status", "first_rank", "ndcg", "recall_all", "passed", "n_leaked", "latency_ms",
)  # fmt: skip
OWN_TIME = "its history lets time pass, which would age every other record of the store"
Row = dict[str, Any]
Planted = Sequence[tuple[int, Probe]]


def refusal(probe: Probe, store: BoundStore) -> str | None:
    """Why a probe cannot be planted in this store; None where it can."""
    reason = unsupported(probe, store)
    return reason or (OWN_TIME if Advance in probe.state.kinds else None)


class Siblings:
    """What copies of one probe forbid in the same words, whichever cohort they are of.

    A forbidden record that has none of the probe's names reads the same in every cohort, and each
    of its copies was deleted, replaced or forbidden in the same way: the one that comes back is as
    bad as the other. Records that expire are not among them, since they end at different times.
    """

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str, str], dict[str, None]] = {}

    def add(self, probe: Probe) -> None:
        """Note what one more copy forbids."""
        for record, _ in self._forbidden(probe):
            self._ids.setdefault(self._key(probe, record), {})[record.id] = None

    def of(self, probe: Probe) -> dict[str, str]:
        """Reason by id, for the records of other copies."""
        return {
            name: reason
            for record, reason in self._forbidden(probe)
            for name in self._ids.get(self._key(probe, record), ())
            if name != record.id
        }

    def _key(self, probe: Probe, record: Record) -> tuple[str, str, str]:
        return probe.name.rpartition("@")[0], record.scope, record.text

    def _forbidden(self, probe: Probe) -> Iterator[tuple[Record, str]]:
        state = probe.state
        for name in sorted({*probe.forbid, *state.deleted} & state.by_id.keys()):
            record = state.by_id[name]
            if record.expires is None:
                told = "superseded" if name in state.superseded else "listed"
                yield record, "deleted" if name in state.deleted else told


@dataclass
class AskedTable(Table):
    """A probe asked of a store that holds more than its own history.

    Attributes
    ----------
    world : mapping of str to Record
        Everything in the store.
    siblings : mapping of str to str
        Copies of its forbidden records in other cohorts that say the same, by id, with the reason.
    n_written : int
        Records in the store.
    """

    world: Mapping[str, Record] = field(default_factory=dict)
    siblings: Mapping[str, str] = field(default_factory=dict)
    n_written: int = 0

    def ask(self, visible: bool) -> None:
        """Ask the one probe, if the store can take it; its history is written already."""
        self._n_records = self.n_written
        probe = self.probes[0]
        reason = refusal(probe, self.desk.store)
        if reason is None:
            self._ask(probe, Written(None, None, visible, ()))
        else:
            self._note(probe, "not_supported", reason)

    def _record(self, record_id: str) -> Record | None:
        return self.world.get(record_id)

    def _hits(self, probe: Probe, hits: list[Hit], resolved: Any) -> Sequence[Sequence[Any]]:
        for record in (self._record(i) for i, _ in resolved if i is not None):
            if record is not None:
                self._pool(probe, record)
                if record.id in self.siblings:
                    self.rows.judge(probe.name, record.id, "forbidden", self.siblings[record.id])
        return super()._hits(probe, hits, resolved)


@dataclass(frozen=True)
class Answered:
    """What one probe came to.

    Attributes
    ----------
    cohort : int
        Session at which it was planted.
    probe : Probe
        The copy.
    row : dict
        Columns of `memeval.frames.DRIFT_PROBES`, without a cause.
    breaches : str
        Broken contract checks.
    """

    cohort: int
    probe: Probe
    row: Row
    breaches: str


def ask(
    desk: Desk,
    planted: Planted,
    options: Options,
    world: Mapping[str, Record],
    siblings: Siblings,
    late: int | None = None,
) -> Rows:
    """Ask planted probes one after the other; scored by `answered`.

    Parameters
    ----------
    desk : Desk
        The store.
    planted : sequence of (int, Probe)
        Session of planting, and the copy.
    options : Options
        How to ask.
    world : mapping of str to Record
        Everything in the store.
    siblings : Siblings
        What the other copies of these probes forbid.
    late : int, optional
        Cohort of which not everything can be found yet.
    """
    rows = Rows()
    for cohort, probe in planted:
        table = AskedTable(
            desk, [probe], NOTHING, 0, options, rows,
            world=world, siblings=siblings.of(probe), n_written=len(world),
        )  # fmt: skip
        table.ask(cohort != late)
    return rows


def answered(planted: Planted, rows: Rows, size: Row) -> tuple[list[Answered], pd.DataFrame]:
    """Score what was asked at one checkpoint; and the labels that it was scored by."""
    suite = Suite.of([probe for _, probe in planted])
    hits, calls = rows.tables({probe.name: n for n, probe in enumerate(suite)})
    qrels = labelled(suite, hits, rows)
    # Nobody reads how often an answer repeats itself, so the texts need not be compared.
    results = metrics.score(hits.drop(columns=["text", "unit"]), qrels, calls)
    columns = [results[name].astype("object").tolist() for name in KEPT]
    told: list[Row] = [
        {name: None if _is_na(value) else value for name, value in zip(KEPT, row, strict=True)}
        for row in zip(*columns, strict=True)
    ]
    breaches = calls["breaches"].fillna("").tolist()
    answers: dict[str, list[str]] = {}
    named = hits["record_id"].notna().to_numpy()
    for name, record_id in zip(hits["probe"][named], hits["record_id"][named], strict=True):
        answers.setdefault(name, []).append(record_id)
    made = [
        Answered(cohort, probe, size | _row(cohort, probe, result, answers.get(probe.name, [])), b)
        for (cohort, probe), result, b in zip(planted, told, breaches, strict=True)
    ]
    return made, qrels


def _is_na(value: Any) -> bool:
    """The same as `pandas.isna` for a cell, which takes ten times as long."""
    return value is pd.NA or value is None or value != value


def _row(cohort: int, probe: Probe, result: Row, answer: Sequence[str]) -> Row:
    before: list[str] = []
    if probe.is_positive and result["recall_all"] is not True:
        expected = {name for group in probe.groups for name in group}
        before = [name for name in answer[: probe.k] if name not in expected]
    return {
        "probe": probe.name.rpartition("@")[0],
        "cohort": cohort,
        "kind": result["kind"],
        "status": result["status"],
        "rank": result["first_rank"],
        "ndcg": result["ndcg"],
        "recall_all": result["recall_all"],
        "passed": result["passed"] is True,
        "n_leaked": int(result["n_leaked"] or 0),
        "latency_ms": result["latency_ms"],
        "displaced_by": " ".join(before[:MOST_DISPLACED]) or None,
    }
