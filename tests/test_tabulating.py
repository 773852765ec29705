"""Columns that are known to fit come to the frames that `conform` makes of them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from memeval import frames
from memeval.columns import Column, Schema
from memeval.tabulating import array_of, table_of

FLOATS = some.floats(allow_nan=False)
VALUES: dict[str, some.SearchStrategy[Any]] = {
    "str": some.none() | some.text(some.characters(exclude_categories=())),
    "category": some.none() | some.sampled_from(("ok", "failed")),
    "int64": some.integers(-(2**63), 2**63 - 1),
    "Int64": some.none() | some.integers(-(2**63), 2**63 - 1),
    "float64": some.none() | FLOATS,
    "bool": some.booleans(),
}


@pytest.mark.parametrize("dtype", VALUES)
@settings(max_examples=60)
@given(data=some.data())
def test_a_column_is_what_conform_makes_of_it(dtype: str, data: some.DataObject) -> None:
    values = data.draw(some.lists(VALUES[dtype], max_size=5))
    column = Column("x", dtype, "", allowed=("ok", "failed"))
    ours = pd.DataFrame({"x": array_of(values, column)})
    raw = pd.DataFrame({"x": pd.Series(values, dtype="object")})
    pd.testing.assert_frame_equal(ours, frames.conform(raw, (column,)))


def test_half_characters_are_replaced() -> None:
    made = array_of(["half \ud83d", None, "caf\u00e9"], Column("x", "str", ""))
    assert list(made[[0, 2]]) == ["half \ufffd", "caf\u00e9"] and made.isna().tolist()[1]


@pytest.mark.parametrize("schema", [frames.HITS, frames.CALLS, frames.QRELS])
def test_a_table_without_rows_is_an_empty_one(schema: Schema) -> None:
    made = table_of({column.name: [] for column in schema}, schema)
    pd.testing.assert_frame_equal(made, frames.empty(schema))
