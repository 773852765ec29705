"""Why probes failed, ready to be shown: in the order in which to mend them, and counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Any

from memeval.advice import ORDER as ORDER
from memeval.frames import CAUSE_WORDS
from memeval.report.control_rows import withheld
from memeval.report.figures import is_missing
from memeval.runs import Run
from memeval.suite import WITHHELD

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "leaked": "a record came back that must never come back",
        "contract": "the answer broke a rule that every store must keep",
        "failed": "the search raised an error or took too long",
        "not_stored": "the record never arrived: not even its own text finds it",
        "not_visible": "the record arrived, later than it was asked for",
        "merged": "its text comes back under another record's id",
        "filtered": "it is found without the scope or the filter, not with it",
        "stale_won": "an outdated record stands before the right one",
        "crowded_out": "repeats of one fact take the places before it",
        "cut": "it is stored, and the answer ends before it comes",
        "outranked": "it is found, and other records stand before it",
        "did_not_abstain": "nothing was right, and something came back",
        "not_reproduced": "asked again of a clean store, the probe passes",
    }
)
GATING: Mapping[str, str] = MappingProxyType(
    {
        "leaked": "a leak fails the run and is never traded off",
        "contract": "a broken contract fails the run",
    }
)


@dataclass(frozen=True, slots=True)
class CauseRow:
    """Why one probe failed.

    Attributes
    ----------
    place : int
        Its place in the order in which to mend, from 1.
    probe, cause, meaning : str
        Name of the probe, the cause in one word, and what that word means.
    because, next_step : str
        What the store answered when it was asked again, and what to do.
    rank : str
        Rank of the missing record when more is asked for; empty where it never came.
    displaced_by : str
        Ids of the records in its place, blank separated.
    must : bool
        Whether the probe is marked so.
    """

    place: int
    probe: str
    cause: str
    meaning: str
    because: str
    next_step: str
    rank: str
    displaced_by: str
    must: bool


@dataclass(frozen=True, slots=True)
class CauseCount:
    """How many probes failed of one cause; `share` is of the most frequent one."""

    cause: str
    n: int
    share: float
    meaning: str


def rows(run: Run) -> list[CauseRow]:
    """Causes of the failed probes, first to mend first.

    Parameters
    ----------
    run : Run
        What is reported.

    Returns
    -------
    list of CauseRow
        Empty where the run was not diagnosed, and for an invalid suite.
    """
    if run.causes is None or withheld(run.validity):
        return []
    must = {probe.name: probe.must for probe in run.suite}
    failing = set(run.failing["probe"])
    told: list[Any] = [row for row in run.causes.itertuples() if row.probe in failing]
    return [_row(place, row, must[row.probe]) for place, row in enumerate(told, 1)]


def _row(place: int, row: Any, must: bool) -> CauseRow:
    cause, because, displaced = str(row.cause), _said(row.evidence), _said(row.displaced_by)
    if because == WITHHELD and "unknown: " in displaced:
        displaced = ""  # what nobody wrote is named by its text
    return CauseRow(
        place=place,
        probe=str(row.probe),
        cause=cause,
        meaning=MEANINGS.get(cause, ""),
        because=because,
        next_step=_said(row.next_step),
        rank="" if is_missing(row.rank_found) else str(row.rank_found),
        displaced_by=displaced,
        must=must,
    )


def _said(value: Any) -> str:
    return "" if is_missing(value) else str(value)


@dataclass(frozen=True, slots=True)
class Group:
    """Probes that failed of one cause and stand together in the order in which to mend.

    Attributes
    ----------
    cause, meaning : str
        The cause, and what that word means.
    must : bool
        Whether these are the probes that are marked so.
    rows : sequence of CauseRow
        At least one.
    """

    cause: str
    meaning: str
    must: bool
    rows: Sequence[CauseRow]

    @property
    def title(self) -> str:
        """The cause and how many failed of it."""
        return f"{self.cause}{', must' if self.must else ''} ({len(self.rows)})"

    def steps(self) -> Iterator[tuple[CauseRow, bool]]:
        """Each row, and whether its next step is that of the row before."""
        before = None
        for row in self.rows:
            yield row, row.next_step == before
            before = row.next_step


def groups(told: Sequence[CauseRow]) -> list[Group]:
    """The rows of each cause together, in the order in which to mend them."""
    return [
        Group(cause, MEANINGS.get(cause, ""), must, tuple(rows))
        for (cause, must), rows in groupby(told, key=lambda row: (row.cause, row.must))
    ]


def counts(told: Sequence[CauseRow]) -> list[CauseCount]:
    """How many probes failed of each cause, in the order of the causes."""
    found = [(cause, sum(row.cause == cause for row in told)) for cause in CAUSE_WORDS]
    most = max((n for _, n in found), default=0)
    return [CauseCount(cause, n, n / most, MEANINGS[cause]) for cause, n in found if n]


def counted(told: Sequence[CauseRow]) -> str:
    """The same in one line, such as ``2 cut, 1 outranked``."""
    return ", ".join(f"{count.n} {count.cause}" for count in counts(told))


def why_first(told: Sequence[CauseRow]) -> str:
    """Say why the first is to be mended first, to go on after its name.

    Examples
    --------
    >>> row = CauseRow(1, "lunch", "leaked", "", "", "", "", "", False)
    >>> why_first([row])
    'a leak fails the run and is never traded off'
    """
    first = told[0]
    if first.cause in GATING:
        return GATING[first.cause]
    alike = [row for row in told if (row.must, row.cause) == (first.must, first.cause)]
    if first.must:
        words = "it is marked must: its loss is never traded off"
    elif len(alike) == len(told):
        words = f"all failed of one cause, {first.cause}"
    else:
        words = (
            f"of the causes found, {first.cause} comes earliest on a record's way from writing to "
            "ranking"
        )
    if len(alike) > 1 and first.rank:
        words += f"; of {len(alike)} such probes none is nearer to passing"
    return words


def first_words(told: Sequence[CauseRow]) -> str:
    """Which probe to mend first and why, in one sentence."""
    return f"Mend {told[0].probe} first: {why_first(told)}."
