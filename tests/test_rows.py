"""Rows as they come in, against a slow second definition of their tables."""

from __future__ import annotations

import pickle
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from memeval import frames
from memeval.harness import rows
from memeval.harness.rows import HIT_FIELDS, Rows

NAMES = [f"p{n}" for n in range(5)]
ORDER = {name: n for n, name in enumerate(NAMES)}
texts = some.none() | some.sampled_from(["", "tea", "caf\u00e9", "half \ud83d"])
numbers = some.none() | some.floats(allow_nan=False, width=32)
hit = some.fixed_dictionaries(
    {
        "record_id": texts,
        "store_id": texts,
        "resolved_by": some.sampled_from(frames.RESOLVED_BY),
        "score": numbers,
        "text": texts.map(lambda text: text or ""),
        "unit": texts,
        "canary": texts,
    }
)
call = some.fixed_dictionaries(
    {
        "k": some.integers(1, 9),
        "status": some.sampled_from(frames.STATUSES),
        "error": texts,
        "breaches": texts,
        "n_records": some.integers(0, 9),
        "n_eligible": some.integers(0, 9),
        "write_ms": numbers,
        "visible_ms": numbers,
        "cold_ms": numbers,
        "latency_ms": numbers,
        "llm_calls": some.none() | some.integers(0, 9),
    }
)
asked = some.lists(
    some.tuples(
        some.tuples(some.sampled_from(NAMES), some.integers(0, 2)),
        call,
        some.lists(hit, max_size=3),
    ),
    unique_by=lambda made: made[0],
    max_size=8,
)


def note(into: Rows, made: Any) -> None:
    (name, repeat), said, hits = made
    columns = [[one[field] for one in hits] for field in HIT_FIELDS]
    into.add((name, repeat, *(said[c.name] for c in frames.CALLS[2:])), columns if hits else ())


def slowly(all_made: list[Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every row a mapping, sorted, then cast by `conform`."""
    ranked = sorted(all_made, key=lambda made: (ORDER[made[0][0]], made[0][1]))
    calls = [{"probe": n, "repeat": r} | said for (n, r), said, _ in ranked]
    hits = [
        {"probe": n, "repeat": r, "rank": rank} | one
        for (n, r), _, found in ranked
        for rank, one in enumerate(found, 1)
    ]
    return framed(hits, frames.HITS), framed(calls, frames.CALLS)


def framed(listed: list[dict[str, Any]], schema: frames.Schema) -> pd.DataFrame:
    columns = {c.name: pd.Series([row[c.name] for row in listed], dtype="object") for c in schema}
    return frames.conform(pd.DataFrame(columns), schema)


@pytest.mark.parametrize("packed_from", [1, 2, 4096])
@settings(max_examples=40)
@given(made=asked, cut=some.integers(0, 8))
def test_tables_are_those_of_the_slow_way_also_in_pieces_of_several_workers(
    packed_from: int, made: list[Any], cut: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "PACKED_FROM", packed_from)
        whole, first, second = Rows(), Rows(), Rows()
        for n, one in enumerate(made):
            note(whole, one)
            note(first if n < cut else second, one)
        first.extend(pickle.loads(pickle.dumps(second)))
    known = [one["record_id"] is not None for _, _, found in made for one in found]
    for noted in (whole, first):
        assert (noted.n_hits, noted.n_known) == (len(known), sum(known))
        assert [row["probe"] for row in noted.calls] == [made_[0][0] for made_ in made]
        for ours, slow in zip(noted.tables(ORDER), slowly(made), strict=True):
            pd.testing.assert_frame_equal(ours, slow)


def test_the_first_stranger_is_remembered() -> None:
    noted, later = Rows(), Rows()
    for into, record_id, store_id in ((noted, "a", "1"), (later, None, "2"), (later, None, "3")):
        values: dict[str, list[Any]] = {field: [None] for field in HIT_FIELDS}
        values |= {"record_id": [record_id], "store_id": [store_id], "resolved_by": ["own"]}
        into.add(("p0", 0, 5, "ok", *[None] * 9), list(values.values()))
    assert (noted.stranger, later.stranger) == (None, "2")
    noted.extend(later)
    assert noted.stranger == "2"


def test_of_labels_that_come_up_again_the_first_stays() -> None:
    noted, other = Rows(), Rows()
    noted.judge("p0", "a", "forbidden", "foreign_scope")
    noted.judge("p0", "a", "forbidden", "listed")
    other.judge("p0", "a", "forbidden", "deleted")
    other.judge("p1", "b", "expected", "listed", 0, True)
    noted.extend(other)
    told = ("record_id", "group", "merged", "reason")
    assert [tuple(row[name] for name in told) for row in noted.qrels] == [
        ("a", None, False, "foreign_scope"),
        ("b", 0, True, "listed"),
    ]
    table = noted.qrels_table()
    assert table is not None and table["group"].isna().tolist() == [True, False]
    assert Rows().qrels_table() is None
