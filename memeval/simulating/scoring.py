"""What the answers at one checkpoint come to, and what is said of the records of one probe.

A checkpoint has a few hundred answers, and a simulation a few of these: to lay them out as the
tables that `memeval.metrics.score` reads would take longer than to read them. What stands at which
rank is looked up here, answer by answer; what that is worth is worked out where it is for every
score, in `memeval.scoring.measures`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memeval.frames import CALLS, names
from memeval.harness.inquiry import Labels
from memeval.harness.rows import HIT_FIELDS, Rows
from memeval.probe import Probe
from memeval.scoring import measures
from memeval.text import clean

MOST_DISPLACED = 10
FAILED = ("failed", "timeout")
WORTH = ("first_rank", "ndcg", "recall_all", "n_leaked", "n_contract")
_CALL = names(CALLS)
_STATUS, _ERROR, _BREACHES, _LATENCY = (
    _CALL.index(name) for name in ("status", "error", "breaches", "latency_ms")
)
_RECORD, _STORE_ID, _CANARY = (HIT_FIELDS.index(n) for n in ("record_id", "store_id", "canary"))
Row = dict[str, Any]
Planted = Sequence[tuple[int, Probe]]


class Noted(Rows):
    """Calls and hits as they come in, one call a probe, to be read at once and not packed."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[tuple[tuple[Any, ...], Sequence[Sequence[Any]]]] = []

    def add(self, call: tuple[Any, ...], hits: Sequence[Sequence[Any]] = ()) -> None:
        """Note one call and its hits, as `memeval.harness.rows.Rows.add` has them."""
        self.answers.append((call, hits))

    def judged(self) -> dict[str, list[tuple[str, str, int | None, str]]]:
        """What came up of labels, by probe: record, label, group and reason, in order."""
        found: dict[str, list[tuple[str, str, int | None, str]]] = {}
        for (probe, record_id, label, group), (_, reason) in self._qrels.items():
            found.setdefault(probe, []).append((record_id, label, group, reason))
        return found


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
        Columns of `memeval.frames.DRIFT_PROBES`, without a cause; ``error`` besides, where the
        search failed.
    breaches : str
        Broken contract checks.
    group_of : mapping of str to int
        Group of each record that is expected, or was merged with one that is.
    more : mapping of str to str
        Reason by id of what is forbidden because of what came up while asking.
    """

    cohort: int
    probe: Probe
    row: Row
    breaches: str
    group_of: Mapping[str, int]
    more: Mapping[str, str]

    @property
    def labels(self) -> Labels:
        """What is said of the records; stale is all that is, whether it came back or not."""
        state, probe = self.probe.state, self.probe
        said = (("listed", probe.forbid), ("deleted", state.deleted))
        forbidden = dict(self.more) | dict.fromkeys(probe.foreign, "foreign_scope")
        for reason, ids in reversed(said):
            forbidden |= dict.fromkeys(ids, reason)
        groups: list[set[str]] = [set() for _ in probe.groups]
        for name, group in self.group_of.items():
            groups[group].add(name)
        return Labels(
            tuple(map(frozenset, groups)),
            {name: reason for name, reason in forbidden.items() if name not in self.group_of},
            frozenset({*probe.stale, *probe.superseded, *probe.expired}),
        )


def answered(planted: Planted, noted: Noted, size: Row) -> list[Answered]:
    """Score what was asked at one checkpoint.

    Parameters
    ----------
    planted : sequence of (int, Probe)
        Session of planting, and the copy.
    noted : Noted
        A call for each, in the same order.
    size : dict
        Columns that all rows share.

    Returns
    -------
    list of Answered
        The same numbers as `memeval.metrics.score` has of these answers and their labels.
    """
    judged = noted.judged()
    found = [
        _Found(probe, call, hits, judged.get(probe.name, ()))
        for (_, probe), (call, hits) in zip(planted, noted.answers, strict=True)
    ]
    worth, passed = _worth(found)
    return [
        Answered(
            cohort,
            one.probe,
            size | one.row(cohort, dict(zip(WORTH, numbers, strict=True)), right),
            one.breaches,
            one.group_of,
            one.more,
        )
        for (cohort, _), one, numbers, right in zip(planted, found, worth, passed, strict=True)
    ]


class _Found:
    """Where the judged records of one probe stand in its answer."""

    def __init__(
        self,
        probe: Probe,
        call: tuple[Any, ...],
        hits: Sequence[Sequence[Any]],
        judged: Sequence[tuple[str, str, int | None, str]],
    ) -> None:
        self.probe = probe
        self.status: str = call[_STATUS]
        self.error: str | None = call[_ERROR] if self.status in FAILED else None
        self.breaches: str = call[_BREACHES] or ""
        self.latency_ms: float | None = call[_LATENCY]
        self.records: Sequence[str | None] = hits[_RECORD] if hits else ()
        self.group_of = {name: n for n, group in enumerate(probe.groups) for name in group}
        for name, label, group, _ in judged:
            if label == "expected" and group is not None:  # the author's word goes before
                self.group_of.setdefault(name, group)
        self.more = {name: reason for name, label, _, reason in judged if label == "forbidden"}
        self.n_leaked = self._leaked(hits)
        self.ranks = self._ranks() if self.status == "ok" else []

    def _ranks(self) -> list[int]:
        """Rank of the first record of each group that is met in the top k."""
        met: dict[int, int] = {}
        for rank, name in enumerate(self.records[: self.probe.k], 1):
            group = None if name is None else self.group_of.get(name)
            if group is not None:
                met.setdefault(group, rank)
        return list(met.values())

    def _leaked(self, hits: Sequence[Sequence[Any]]) -> int:
        """Distinct records that leak; a stranger with a canary by its store id, else its place."""
        if not hits:
            return 0
        leaking: set[object] = {name for name in self.records if name and self._forbids(name)}
        if self.probe.canary:
            for place, canary in enumerate(hits[_CANARY]):
                if canary:
                    name, store_id = self.records[place], hits[_STORE_ID][place]
                    own = (store_id,) if store_id is not None else place
                    leaking.add(own if name is None else name)
        return len(leaking)

    def _forbids(self, name: str) -> bool:
        if name in self.group_of:
            return False
        probe, state = self.probe, self.probe.state
        if name in self.more or name in probe.forbid or name in state.deleted:
            return True
        record = state.by_id.get(name)
        return record is not None and record.scope not in probe.scopes_read

    def row(self, cohort: int, worth: Row, passed: bool) -> Row:
        """Columns of `memeval.frames.DRIFT_PROBES`, and the error of a search that failed."""
        missed = worth["recall_all"] is not True if self.probe.is_positive else not passed
        told = {} if self.error is None else {"error": self.error}
        return told | {
            "probe": self.probe.name.rpartition("@")[0],
            "cohort": cohort,
            "kind": "positive" if self.probe.is_positive else "negative",
            "status": self.status,
            "rank": worth["first_rank"],
            "ndcg": worth["ndcg"],
            "recall_all": worth["recall_all"],
            "passed": passed and self.status != "not_supported",
            "n_leaked": worth["n_leaked"],
            "n_contract": worth["n_contract"],
            "latency_ms": None if self.status == "not_supported" else self.latency_ms,
            "displaced_by": self._before() if missed else None,
            "breaches": self.breaches or None,
        }

    def _before(self) -> str | None:
        """The records in its place: the first that were found in the top k and not looked for."""
        expected = {name for group in self.probe.groups for name in group}
        known = [name for name in self.records if name is not None][: self.probe.k]
        others = [clean(name) for name in known if name not in expected]
        return " ".join(others[:MOST_DISPLACED]) or None


def _worth(found: Sequence[_Found]) -> tuple[list[tuple[Any, ...]], list[bool]]:
    """`WORTH` of each answer as plain values, None for NA; and whether it is right."""
    n = len(found)
    ranks = [(place, rank) for place, one in enumerate(found) for rank in sorted(one.ranks)]
    places = np.array(ranks, dtype=np.int64).reshape(-1, 2)
    n_met, first_rank, dcg = measures.gains_in_order(places[:, 0], places[:, 1], n)
    asked = np.array([one.status != "not_supported" for one in found], dtype=np.bool_)

    def counts(values: Sequence[int]) -> measures.Ints:
        return np.array(values, dtype=np.int64)

    answers = measures.Answers(
        k=counts([one.probe.k for one in found]),
        asked=asked,
        ok=np.array([one.status == "ok" for one in found], dtype=np.bool_),
        n_expected=counts([len(one.probe.groups) for one in found]),
        n_met=n_met,
        n_relevant=np.zeros(n, dtype=np.int64),  # for the precision, that nobody asks for
        first_rank=first_rank,
        dcg=dcg,
        n_returned=counts([len(one.records) for one in found]) * asked,
        n_leaked=counts([one.n_leaked for one in found]) * asked,
        n_contract=counts([len(one.breaches.split()) for one in found]) * asked,
    )
    worth = measures.columns(answers, WORTH)
    columns = [map(_plain, worth[name].tolist()) for name in WORTH]
    return list(zip(*columns, strict=True)), answers.passed.tolist()


def _plain(value: Any) -> Any:
    """The value of a cell, None where it is NA."""
    return value if isinstance(value, int | float) and value == value else None
