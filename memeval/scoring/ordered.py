"""Calls and hits, checked and put in order: repeats of a probe together, hits by rank.

Tables that stand in order already are taken as they are; only others are sorted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from memeval.columns import present
from memeval.errors import FrameError
from memeval.frames import CALLS, HITS, STATUSES
from memeval.scoring.blocks import blocks, named, numbers
from memeval.scoring.measures import Bools, Ints
from memeval.textcolumns import Objects, is_blank, objects, whole

__all__ = ["Calls", "Hits", "order_calls", "order_hits"]

_OPTIONAL_TEXTS = {column.name for column in HITS if column.dtype == "str" and not column.required}
_OK, _NOT_SUPPORTED = STATUSES.index("ok"), STATUSES.index("not_supported")


@dataclass(frozen=True)
class Calls:
    """Calls, the repeats of a probe together; arrays of one length unless said.

    Attributes
    ----------
    columns : dict of str to pandas.Series
        Columns that the table has, as in `memeval.frames.CALLS`.
    known : dict of str to int
        Number of each probe, in the order in which the probes are first named.
    at, repeat, k : ndarray of int64
        Number of the probe, which repeat, cutoff.
    status : ndarray of int64
        Place in `memeval.frames.STATUSES`.
    """

    columns: dict[str, pd.Series]
    known: dict[str, int]
    at: Ints
    repeat: Ints
    k: Ints
    status: Ints

    @property
    def ok(self) -> Bools:
        """Whether the search succeeded."""
        return np.asarray(self.status == _OK, dtype=np.bool_)

    @property
    def asked(self) -> Bools:
        """Whether the probe could be asked at all."""
        return np.asarray(self.status != _NOT_SUPPORTED, dtype=np.bool_)

    @property
    def are_single(self) -> bool:
        """Whether no probe was asked twice, so that a call is its probe."""
        return len(self.at) == len(self.known)

    def rows(self, at: Ints, repeat: Ints | None) -> Ints:
        """Row of the call of a probe and repeat (None: all 0), -1 for one that there is not."""
        if self.are_single and not self.repeat.any():
            return at if repeat is None else np.where(repeat == 0, at, -1)
        asked = zip(at.tolist(), [0] * len(at) if repeat is None else repeat.tolist(), strict=True)
        pairs = zip(self.at.tolist(), self.repeat.tolist(), strict=True)
        row = {pair: row for row, pair in enumerate(pairs)}
        return np.array([row.get(pair, -1) for pair in asked], dtype=np.int64)


@dataclass(frozen=True)
class Hits:
    """Hits in the order of calls and ranks.

    Attributes
    ----------
    columns : dict of str to pandas.Series
        Columns that the table has, as in `memeval.frames.HITS`; not those that are NA throughout,
        as the texts of a run saved without them.
    record : ndarray of object
        Record id of each hit, NA when unknown.
    are_known : bool
        Whether no record id is NA.
    rank : ndarray of int64
        Place in the answer, from 1.
    n, n_top : ndarray of int64
        Per call: hits of the answer, and how many of them make up its top k.
    """

    columns: dict[str, pd.Series]
    record: Objects
    are_known: bool
    rank: Ints
    n: Ints
    n_top: Ints

    @property
    def start(self) -> Ints:
        """First hit of each call."""
        return np.asarray(np.cumsum(self.n) - self.n, dtype=np.int64)

    @property
    def call(self) -> Ints:
        """Call that each hit answers."""
        return np.repeat(np.arange(len(self.n)), self.n)


def order_calls(frame: pd.DataFrame) -> Calls:
    """Check calls and put the repeats of a probe together.

    Parameters
    ----------
    frame : pandas.DataFrame
        Calls, at least ``probe`` and ``k``; it is not changed.

    Raises
    ------
    FrameError
        If a row has no probe, k is below 1, or a repeat stands twice.
    """
    columns = present(frame, CALLS, unread=("probe",))
    columns["probe"], all_named = whole(columns["probe"])
    n = len(columns["probe"])
    probe = objects(columns["probe"]).tolist()
    known = dict(zip(probe, range(n), strict=True))
    if len(known) < n:
        known = {name: at for at, name in enumerate(dict.fromkeys(probe))}
    status = (
        columns["status"].cat.codes.to_numpy().astype(np.int64) if "status" in columns else None
    )
    calls = Calls(
        columns=columns,
        known=known,
        at=numbers(probe, known),
        repeat=_whole_numbers(columns, "repeat", n),
        k=columns["k"].to_numpy(np.int64),
        status=np.full(n, _OK) if status is None else np.where(status < 0, _OK, status),
    )
    if not all_named or (calls.k < 1).any() or not calls.are_single:
        _refuse_calls(calls)
    return calls if calls.are_single else _sorted_calls(calls)


def _whole_numbers(columns: Mapping[str, pd.Series], name: str, n: int) -> Ints:
    return columns[name].to_numpy(np.int64) if name in columns else np.zeros(n, dtype=np.int64)


def _refuse_calls(calls: Calls) -> None:
    probe = calls.columns["probe"]
    twice = pd.DataFrame({"at": calls.at, "repeat": calls.repeat}).duplicated()
    for wrong, found, todo in (
        (probe.isna(), "a row without probe", "name the probe in every row"),
        (calls.k < 1, "a k below 1", "use a whole number from 1"),
        (twice, "the same repeat twice", "number the calls of a probe from 0 in column repeat"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise FrameError(
                f"calls: probe {probe[row]!r}: found {found} (repeat {calls.repeat[row]}, k "
                f"{calls.k[row]}), wanted one row per probe and repeat with its cutoff; {todo}"
            )


def _sorted_calls(calls: Calls) -> Calls:
    order = np.lexsort((calls.repeat, calls.at))
    return replace(
        calls,
        columns=_taken(calls.columns, order),
        at=calls.at[order],
        repeat=calls.repeat[order],
        k=calls.k[order],
        status=calls.status[order],
    )


def _taken(columns: Mapping[str, pd.Series], order: Ints) -> dict[str, pd.Series]:
    return {name: column.take(order) for name, column in columns.items()}


def order_hits(frame: pd.DataFrame, calls: Calls) -> Hits:
    """Check hits and put them in the order of calls and ranks.

    Parameters
    ----------
    frame : pandas.DataFrame
        Hits, at least ``probe``, ``rank`` and ``record_id``; it is not changed.
    calls : Calls
        What was asked.

    Raises
    ------
    FrameError
        If a hit belongs to no call, its rank is below 1, or a rank is given twice.
    """
    columns = present(frame, HITS, unread=("probe", "record_id"))
    columns["record_id"], are_known = whole(columns["record_id"])
    for name in _OPTIONAL_TEXTS & columns.keys():
        if is_blank(columns[name]):
            del columns[name]
    probe, rank = objects(columns["probe"]), columns["rank"].to_numpy(np.int64)
    repeat = _whole_numbers(columns, "repeat", len(rank))
    told = [repeat] if repeat.any() else []
    block = blocks(probe, *told)
    at = numbers(probe[block.start].tolist(), calls.known)
    call = calls.rows(at, repeat[block.start] if told else None)
    call = np.where(at < 0, -1, call)
    if not _rise(call, block.start, rank):
        columns, calls_of = _sorted_hits(columns, np.repeat(call, block.length))
        rank = columns["rank"].to_numpy(np.int64)
        block = blocks(calls_of)
        call = calls_of[block.start]
    n = np.zeros(len(calls.at), dtype=np.int64)
    n[call] = block.length
    in_top = rank <= np.repeat(calls.k[call], block.length)
    n_top = np.zeros_like(n)
    n_top[call] = np.add.reduceat(in_top, block.start, dtype=np.int64) if len(call) else 0
    record = objects(columns["record_id"])
    return Hits(columns, record, are_known, rank, n, n_top * calls.ok)


def _rise(call: Ints, start: Ints, rank: Ints) -> bool:
    """Whether the blocks stand in the order of the calls, and ranks rise from 1 in each."""
    higher = rank[1:] > rank[:-1]
    higher[start[1:] - 1] = True
    sound = (call[:1] >= 0).all() and (rank[start] >= 1).all()
    return bool(sound and higher.all() and (call[1:] > call[:-1]).all())


def _sorted_hits(columns: Mapping[str, pd.Series], call: Ints) -> tuple[dict[str, pd.Series], Ints]:
    order = np.lexsort((columns["rank"], call))
    taken, call = _taken(columns, order), call[order]
    rank = taken["rank"].to_numpy(np.int64)
    again = (np.diff(call, prepend=-1) == 0) & (np.diff(rank, prepend=0) == 0)
    for wrong, found, todo in (
        (call < 0, "a call that is not in calls", "add its row to calls, or drop its hits"),
        (rank < 1, "a rank below 1", "count ranks from 1"),
        (again, "a rank given twice", "number the hits as returned"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            repeat = _whole_numbers(taken, "repeat", len(call))[row]
            raise FrameError(
                f"hits: probe {named(taken['probe'].iloc[row])}: found {found} (repeat {repeat}, "
                f"rank {rank[row]}), wanted each place of an answer to a known call once; {todo}"
            )
    return taken, call
