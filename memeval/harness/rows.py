"""What is noted while probes are asked, and the tables of hits and calls that it becomes.

Notes are kept by column, and packed into typed arrays every few thousand calls, so that a long run
holds little more than its tables. Rows can be pickled, and those of several workers be joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from memeval import frames
from memeval.columns import Column
from memeval.tabulating import array_of, table_of
from memeval.words import clean

__all__ = ["CALL_FIELDS", "HIT_FIELDS", "Rows"]

PACKED_FROM = 1024
OF_CALL = ("probe", "repeat", "rank")  # columns of a hit that follow from its call
HIT_FIELDS = tuple(c.name for c in frames.HITS if c.name not in OF_CALL)
CALL_FIELDS = (*frames.names(frames.CALLS), "n_hits")
QREL_FIELDS = frames.names(frames.QRELS)
_COLUMNS: dict[str, Column] = {c.name: c for c in (*frames.HITS, *frames.CALLS)}
_COLUMNS["n_hits"] = Column("n_hits", "int64", "hits of the call")

Row = dict[str, Any]
Packed = dict[str, list[Any]]


class Rows:
    """Rows as they come in.

    Attributes
    ----------
    unsteady : int
        Probes that gave another answer when asked again.
    n_hits, n_known : int
        Hits, and those of them that are records which somebody wrote.
    stranger : str or None
        Store id of the first hit that is none.
    """

    def __init__(self) -> None:
        self.unsteady = 0
        self.n_hits = 0
        self.n_known = 0
        self.stranger: str | None = None
        self._calls: list[tuple[Any, ...]] = []
        self._hits: list[list[Any]] = [[] for _ in HIT_FIELDS]
        self._qrels: dict[tuple[Any, ...], tuple[bool, str]] = {}
        self._packed: Packed = {name: [] for name in (*HIT_FIELDS, *CALL_FIELDS)}

    def add(self, call: tuple[Any, ...], hits: Sequence[Sequence[Any]] = ()) -> None:
        """Note one call and its hits.

        Parameters
        ----------
        call : tuple
            Values of the columns of `memeval.frames.CALLS`, in order.
        hits : sequence of sequence
            Values of each of `HIT_FIELDS`, best hit first; empty without a hit.
        """
        n = len(hits[0]) if hits else 0
        self._calls.append((*call, n))
        if n:
            for column, values in zip(self._hits, hits, strict=True):
                column += values
            self._count(hits[0], hits[1])
        if len(self._calls) >= PACKED_FROM:
            self._pack()

    def _count(self, record_ids: Sequence[str | None], store_ids: Sequence[str | None]) -> None:
        strange = record_ids.count(None)
        if strange and self.n_hits == self.n_known:
            self.stranger = store_ids[record_ids.index(None)]
        self.n_hits += len(record_ids)
        self.n_known += len(record_ids) - strange

    def judge(
        self,
        probe: str,
        record_id: str,
        label: str,
        reason: str,
        group: int | None = None,
        merged: bool = False,
    ) -> None:
        """Note what is said of one record, where it came up while asking; once is enough."""
        self._qrels.setdefault((probe, record_id, label, group), (merged, reason))

    def extend(self, other: Rows) -> None:
        """Put what another worker noted behind what is noted here."""
        self._pack()
        other._pack()
        for name, chunks in other._packed.items():
            self._packed[name] += chunks
        for key, said in other._qrels.items():
            self._qrels.setdefault(key, said)
        if self.n_hits == self.n_known:
            self.stranger = other.stranger
        self.unsteady += other.unsteady
        self.n_hits += other.n_hits
        self.n_known += other.n_known

    def to_dict(self) -> dict[str, Any]:
        """What is noted, as values that JSON can hold."""
        self._pack()
        columns = {name: _plain(self._whole(name)) for name in (*HIT_FIELDS, *CALL_FIELDS)}
        stranger = None if self.stranger is None else clean(self.stranger)
        counts = (self.unsteady, self.n_hits, self.n_known)
        return {"columns": columns, "qrels": self._judged(), "counts": counts, "stranger": stranger}

    @classmethod
    def of_dict(cls, told: Mapping[str, Any]) -> Rows:
        """Notes again of what `to_dict` gave.

        Raises
        ------
        LookupError, TypeError, ValueError
            If it is nothing like that.
        """
        made = cls()
        made.unsteady, made.n_hits, made.n_known = map(int, told["counts"])
        made.stranger = told["stranger"]
        for name, chunks in made._packed.items():
            chunks.append(array_of(list(told["columns"][name]), _COLUMNS[name]))
        for fields in ((*HIT_FIELDS,), CALL_FIELDS):
            if len({len(made._packed[name][0]) for name in fields}) != 1:
                raise ValueError("columns are not of one length")
        for probe, record_id, label, group, merged, reason in told["qrels"]:
            made._qrels[probe, record_id, label, group] = (bool(merged), str(reason))
        return made

    @property
    def asked(self) -> Iterator[tuple[str, int]]:
        """Which probe in which repeat, of each call."""
        self._pack()
        return zip(self._whole("probe").tolist(), self._whole("repeat").tolist(), strict=True)

    def __len__(self) -> int:
        return len(self._calls) + sum(map(len, self._packed["probe"]))

    def _pack(self) -> None:
        """Put what came in since the last time into arrays."""
        if not self._calls:
            return
        for name, column in zip(CALL_FIELDS, zip(*self._calls, strict=True), strict=True):
            self._packed[name].append(array_of(column, _COLUMNS[name]))
        for name, values in zip(HIT_FIELDS, self._hits, strict=True):
            self._packed[name].append(array_of(values, _COLUMNS[name]))
        self._calls = []
        self._hits = [[] for _ in HIT_FIELDS]

    @property
    def calls(self) -> list[Row]:
        """Calls as they came in, a mapping each, for a look at a few."""
        self._pack()
        columns = (self._whole(name) for name in CALL_FIELDS)
        plain = [[None if pd.isna(v) else v for v in column.tolist()] for column in columns]
        return [dict(zip(CALL_FIELDS, row, strict=True)) for row in zip(*plain, strict=True)]

    @property
    def qrels(self) -> list[Row]:
        """What came up of labels, a mapping each."""
        return [dict(zip(QREL_FIELDS, row, strict=True)) for row in self._judged()]

    def _judged(self) -> list[tuple[Any, ...]]:
        return [(*key, *said) for key, said in self._qrels.items()]

    def qrels_table(self) -> pd.DataFrame | None:
        """Labels that came up, as `memeval.frames.QRELS`; None without any."""
        if not self._qrels:
            return None
        columns = zip(*self._judged(), strict=True)
        listed = {name: list(column) for name, column in zip(QREL_FIELDS, columns, strict=True)}
        return table_of(listed, frames.QRELS)

    def tables(self, order: Mapping[str, int]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Hits and calls, in the order of the suite and in each probe of the repeats.

        The rows are used up: a column is let go of as soon as it stands in a table.

        Parameters
        ----------
        order : mapping of str to int
            Place of each probe, by name.
        """
        self._pack()
        calls = {name: self._whole(name, drop=True) for name in CALL_FIELDS}
        at = np.fromiter((order[name] for name in calls["probe"]), np.int64, len(calls["probe"]))
        n_hits, repeat = calls.pop("n_hits"), calls["repeat"]
        turned = np.lexsort((repeat, at))
        moved = bool((turned[1:] < turned[:-1]).any())
        place = _places(n_hits, turned) if moved else None
        if moved:
            calls = {name: column.take(turned) for name, column in calls.items()}
            n_hits = n_hits[turned]
        starts = np.cumsum(n_hits) - n_hits
        hits = {
            "probe": calls["probe"].take(np.repeat(np.arange(len(n_hits)), n_hits)),
            "repeat": np.repeat(calls["repeat"], n_hits),
            "rank": np.arange(1, int(n_hits.sum()) + 1) - np.repeat(starts, n_hits),
        }
        for name in HIT_FIELDS:
            column = self._whole(name, drop=True)
            hits[name] = column if place is None else column.take(place)
        return table_of(hits, frames.HITS), table_of(calls, frames.CALLS)

    def _whole(self, name: str, *, drop: bool = False) -> Any:
        """A column in one piece."""
        chunks = self._packed[name]
        if drop:
            self._packed[name] = []
        if not chunks:
            return array_of([], _COLUMNS[name])
        if len(chunks) == 1:
            return chunks[0]
        if isinstance(chunks[0], np.ndarray):
            return np.concatenate(chunks)
        if _COLUMNS[name].dtype == "str":
            objects = [np.asarray(chunk, dtype=object) for chunk in chunks]
            return pd.array(np.concatenate(objects), dtype="str")
        return pd.concat([pd.Series(chunk) for chunk in chunks], ignore_index=True).array


def _plain(column: Any) -> list[Any]:
    """Values of a column, None where there is none; a float that is no number stays one."""
    if isinstance(column, np.ndarray):
        listed: list[Any] = column.tolist()
        return listed
    return [None if pd.isna(value) else value for value in column.tolist()]


def _places(n_hits: Any, turned: Any) -> Any:
    """Places of the hits in the order of their calls."""
    starts = np.cumsum(n_hits) - n_hits
    n = n_hits[turned]
    within = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
    return np.repeat(starts[turned], n) + within
