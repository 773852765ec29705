"""The labels of a suite, checked and put in the order of its probes.

A probe is a number ``at``, its place in the results. Whether a record is named twice for a probe
shows when the records are looked for (`memeval.scoring.seeking`): two that are equal stand at one
place. Only then do records get numbers, and contradictions are looked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from memeval.columns import present
from memeval.errors import FrameError
from memeval.frames import LABELS, QRELS
from memeval.scoring.blocks import blocks, named, numbers
from memeval.scoring.measures import Bools, Ints
from memeval.textcolumns import Objects, objects

__all__ = ["Judged", "judge"]

_EXPECTED, _FORBIDDEN, _STALE = map(LABELS.index, ("expected", "forbidden", "stale"))


@dataclass(frozen=True, slots=True)
class Rows:
    """Labels as a table has them: ``label`` is a place in `LABELS`, `told` whether group is."""

    probe: Objects
    record: Objects
    at: Ints
    label: Ints
    merged: Bools
    group: Ints
    told: Bools

    @property
    def expected(self) -> Bools:
        return np.asarray(self.label == _EXPECTED, dtype=np.bool_)

    def take(self, rows: Ints) -> Rows:
        return Rows(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True)
class Judged:
    """Labels of all probes, probe by probe: arrays of one length unless said.

    Attributes
    ----------
    rows : Rows
        The table that they come from.
    record : ndarray of object
        Record id.
    at : ndarray of int64
        Number of the probe, rising.
    expected, forbidden, stale : ndarray of bool
        Whether this is its label.
    merged : ndarray of bool
        Whether the write of an expected record was merged into this one.
    group : ndarray of int64
        Group of an expected record; the groups of all probes are numbered on.
    n : ndarray of int64
        Labels of each probe.
    n_expected : ndarray of int64
        Expected groups of each probe.
    are_single : bool
        Whether no record can be named twice for a probe; False where `each_once` was needed.
    are_plain : bool
        Whether no group has two members.
    """

    rows: Rows
    record: Objects
    at: Ints
    expected: Bools
    forbidden: Bools
    stale: Bools
    merged: Bools
    group: Ints
    n: Ints
    n_expected: Ints
    are_single: bool
    are_plain: bool

    @property
    def start(self) -> Ints:
        """First label of each probe."""
        return np.asarray(np.cumsum(self.n) - self.n, dtype=np.int64)

    def each_once(self) -> Judged:
        """Labels where a record stands once as forbidden, as stale, and in each of its groups.

        Raises
        ------
        FrameError
            If a record is expected in two groups or both expected and forbidden or stale (merged
            rows aside).
        """
        rows, record = self.rows, pd.factorize(self.rows.record)[0].astype(np.int64)
        group = _groups(rows, record)
        _refuse_contradictions(rows, record, group)
        kept = _each_once(rows, record, group)
        return _judged(rows, rows.take(kept), group[kept], len(self.n), are_single=False)

    def group_sizes(self) -> list[tuple[int, ...]]:
        """Sizes of the groups of each probe as the author wrote them, sorted.

        In a group that is merged whole one record stands for it.
        """
        if self.are_plain:
            return [(1,) * n for n in self.n_expected.tolist()]
        rows = np.flatnonzero(self.expected)
        group, written = self.group[rows], ~self.merged[rows]
        number, first, inverse = np.unique(group, return_index=True, return_inverse=True)
        size = np.maximum(np.bincount(inverse, weights=written, minlength=len(number)), 1)
        sizes: list[list[int]] = [[] for _ in self.n]
        for at, members in zip(self.at[rows][first].tolist(), size.tolist(), strict=True):
            sizes[at].append(int(members))
        return [tuple(sorted(of_probe)) for of_probe in sizes]


def judge(frame: pd.DataFrame, known: Mapping[str, int]) -> Judged:
    """Check labels and put them in order.

    Parameters
    ----------
    frame : pandas.DataFrame
        Labels, at least ``probe``, ``record_id`` and ``label``; it is not changed.
    known : mapping of str to int
        Number of each probe that was asked.

    Raises
    ------
    FrameError
        If a row has no record or label, or its probe is not in `known`.
    """
    rows = _rows(frame, known)
    _refuse(rows, rows.at < 0, "labels of a probe that is not in calls", "add its call")
    blank = (rows.label < 0) | (rows.record != rows.record).astype(np.bool_)
    _refuse(rows, blank, "a row without record_id or label", "fill in both")
    number, given = np.arange(len(rows.at)), rows
    if (rows.at[1:] < rows.at[:-1]).any():
        rows = rows.take(np.argsort(rows.at, kind="stable"))
    group = number if _are_own_groups(rows) else _groups(rows, number)
    return _judged(given, rows, group, len(known), are_single=True)


def _rows(frame: pd.DataFrame, known: Mapping[str, int]) -> Rows:
    columns = present(frame, QRELS, unread=("probe",))
    probe, n = objects(columns["probe"]), len(columns["probe"])
    block = blocks(probe)
    at = numbers(probe[block.start].tolist(), known)
    group = columns.get("group")
    return Rows(
        probe=probe,
        record=objects(columns["record_id"]),
        at=np.repeat(at, block.length),
        label=columns["label"].cat.codes.to_numpy().astype(np.int64),
        merged=columns["merged"].to_numpy() if "merged" in columns else np.zeros(n, np.bool_),
        group=np.zeros(n, np.int64) if group is None else group.to_numpy(np.int64, na_value=0),
        told=np.zeros(n, np.bool_) if group is None else group.notna().to_numpy(),
    )


def _refuse(rows: Rows, wrong: Bools, found: str, todo: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise FrameError(
            f"qrels: probe {named(rows.probe[row])}, record {rows.record[row]!r}: found {found}, "
            f"wanted one meaning for each record of a probe in calls; {todo}"
        )


def _are_own_groups(rows: Rows) -> bool:
    """Whether it is plain to see that no two records of a probe share a group."""
    if not rows.told.any():
        return True
    at, group = rows.at[rows.expected], rows.group[rows.expected]
    rise = (at[1:] > at[:-1]) | (group[1:] > group[:-1])
    return bool(rise.all() and rows.told[rows.expected].all())


def _groups(rows: Rows, record: Ints) -> Ints:
    """Give each group of all probes a number; a row without a group is one by itself."""
    told, known = pd.factorize(rows.group)
    own = np.where(rows.told, told, len(known) + record)
    width = len(known) + int(record.max(initial=0)) + 1
    return np.unique(rows.at * width + own, return_inverse=True)[1].astype(np.int64)


def _each_once(rows: Rows, record: Ints, group: Ints) -> Ints:
    """Rows in the order of the probes, each record once a meaning.

    Each record of a group once; where it stands written and merged, as written.
    """
    meaning = np.where(rows.expected, len(LABELS) + group, rows.label)
    order = np.lexsort((rows.merged, meaning, record, rows.at))
    first = np.zeros(len(order), dtype=np.bool_)
    first[:1] = True
    for key in (rows.at, record, meaning):
        first[1:] |= np.diff(key[order]) != 0
    kept = np.sort(order[first])
    return kept[np.argsort(rows.at[kept], kind="stable")]


def _refuse_contradictions(rows: Rows, record: Ints, group: Ints) -> None:
    pair = rows.at * (int(record.max(initial=0)) + 1) + record
    written = rows.expected & ~rows.merged
    first = pd.Series(group[written]).groupby(pair[written]).first()
    other = written.copy()
    other[written] = first.reindex(pair[written]).to_numpy() != group[written]
    _refuse(rows, other, "a record expected in two groups", "keep it in one of them")
    both = ~rows.expected & np.isin(pair, pair[written])
    _refuse(rows, both, "a record both expected and forbidden or stale", "keep one label")


def _judged(given: Rows, rows: Rows, group: Ints, n_probes: int, *, are_single: bool) -> Judged:
    at, members = rows.at[rows.expected], group[rows.expected]
    plain = bool((members[1:] > members[:-1]).all())
    first = slice(None) if plain else np.unique(members, return_index=True)[1]
    return Judged(
        rows=given,
        record=rows.record,
        at=rows.at,
        expected=rows.expected,
        forbidden=rows.label == _FORBIDDEN,
        stale=rows.label == _STALE,
        merged=rows.merged,
        group=group,
        n=np.bincount(rows.at, minlength=n_probes).astype(np.int64),
        n_expected=np.bincount(at[first], minlength=n_probes).astype(np.int64),
        are_single=are_single,
        are_plain=plain,
    )
