"""The labels of a suite, checked and made ready to be looked up for many hits at once.

A probe is a number ``at``, its place in the results, and a judged record a number too, so that a
pair of both is one whole number and looking up is a search in a sorted array.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from memeval.errors import FrameError
from memeval.frames import QRELS, conform
from memeval.measures import Bools, Ints

__all__ = ["Judged", "judge"]


@dataclass(frozen=True)
class Judged:
    """Labels of all probes.

    Attributes
    ----------
    ids : pandas.Index
        Every record id that is judged for any probe; its place here is its number.
    expected, group : ndarray of int64
        Pairs of probe and expected record, sorted, and the group of each; the groups of all
        probes are numbered on.
    forbidden, stale : ndarray of int64
        Pairs of probe and record with that label.
    n_expected : ndarray of int64
        Expected groups of each probe.
    group_sizes : list of tuple of int
        Sizes of these groups as the author wrote them, sorted.
    """

    ids: pd.Index
    expected: Ints
    group: Ints
    forbidden: Ints
    stale: Ints
    n_expected: Ints
    group_sizes: list[tuple[int, ...]]

    def pairs(self, at: Ints, record_ids: pd.Series) -> Ints:
        """Give each pair of probe and record its number; -1 for a record that is not judged."""
        record = self.ids.get_indexer(pd.Index(record_ids))
        return np.where(record < 0, -1, at * len(self.ids) + record)

    def groups_of(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Places of the expected among `pairs` and their groups; a place may have several."""
        start = np.searchsorted(self.expected, pairs, side="left")
        n = np.searchsorted(self.expected, pairs, side="right") - start
        place = np.repeat(np.arange(len(pairs)), n)
        nth = np.arange(len(place)) - np.repeat(np.cumsum(n) - n, n)
        return place, self.group[start[place] + nth]


def judge(frame: pd.DataFrame, probes: pd.Index) -> Judged:
    """Check labels and index them.

    Parameters
    ----------
    frame : pandas.DataFrame
        Labels, at least ``probe``, ``record_id`` and ``label``; it is not changed.
    probes : pandas.Index
        Names of the probes that were asked.

    Raises
    ------
    FrameError
        If a row has no record or label, its probe is not in `probes`, or a record is expected in
        two groups or both expected and forbidden or stale (merged rows aside).
    """
    qrels = conform(frame, QRELS)
    at = probes.get_indexer(pd.Index(qrels["probe"])).astype(np.int64)
    _refuse(qrels, at < 0, "labels of a probe that is not in calls", "add its call")
    blank = (qrels["record_id"].isna() | qrels["label"].isna()).to_numpy(np.bool_)
    _refuse(qrels, blank, "a row without record_id or label", "fill in both")
    record, ids = pd.factorize(qrels["record_id"])
    pair = at * len(ids) + record
    group = _groups(at, record.astype(np.int64), qrels["group"])
    label, merged = qrels["label"].to_numpy(), qrels["merged"].to_numpy(np.bool_)
    expected = label == "expected"
    _refuse_contradictions(qrels, pair, group, expected, merged)
    # Each record of a group once; where it stands written and merged, as written.
    rows = np.flatnonzero(expected)
    rows = rows[np.lexsort((merged[rows], group[rows], pair[rows]))]
    again = (np.diff(pair[rows], prepend=-1) == 0) & (np.diff(group[rows], prepend=-1) == 0)
    rows = rows[~again]
    return Judged(
        ids=pd.Index(ids),
        expected=pair[rows],
        group=group[rows],
        forbidden=np.unique(pair[label == "forbidden"]),
        stale=np.unique(pair[label == "stale"]),
        n_expected=_n_groups(at[rows], group[rows], len(probes)),
        group_sizes=_sizes(at[rows], group[rows], ~merged[rows], len(probes)),
    )


def _refuse(rows: pd.DataFrame, wrong: Bools, found: str, todo: str) -> None:
    if wrong.any():
        row = rows.iloc[int(np.argmax(wrong))]
        raise FrameError(
            f"qrels: probe {row['probe']!r}, record {row['record_id']!r}: found {found}, wanted "
            f"one meaning for each record of a probe in calls; {todo}"
        )


def _refuse_contradictions(
    qrels: pd.DataFrame, pair: Ints, group: Ints, expected: Bools, merged: Bools
) -> None:
    written = expected & ~merged
    first = pd.Series(group[written]).groupby(pair[written]).first()
    other = written.copy()
    other[written] = first.reindex(pair[written]).to_numpy() != group[written]
    _refuse(qrels, other, "a record expected in two groups", "keep it in one of them")
    both = ~expected & np.isin(pair, pair[written])
    _refuse(qrels, both, "a record both expected and forbidden or stale", "keep one label")


def _groups(at: Ints, record: Ints, group: pd.Series) -> Ints:
    """Give each group of all probes a number; a row without a group is one by itself."""
    told, known = pd.factorize(group)
    own = np.where(told < 0, len(known) + record, told)
    width = len(known) + int(record.max(initial=0)) + 1
    return np.unique(at * width + own, return_inverse=True)[1].astype(np.int64)


def _n_groups(at: Ints, group: Ints, n: int) -> Ints:
    first = np.unique(group, return_index=True)[1]
    return np.bincount(at[first], minlength=n).astype(np.int64)


def _sizes(at: Ints, group: Ints, written: Bools, n: int) -> list[tuple[int, ...]]:
    """Group sizes per probe; in a group that is merged whole one record stands for it."""
    number, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    size = np.maximum(np.bincount(inverse, weights=written, minlength=len(number)), 1)
    sizes: list[list[int]] = [[] for _ in range(n)]
    for of_probe, members in zip(at[first].tolist(), size.astype(int).tolist(), strict=True):
        sizes[of_probe].append(members)
    return [tuple(sorted(of_probe)) for of_probe in sizes]
