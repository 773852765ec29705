"""Tables keep the promise of their schema."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from memeval import frames
from memeval.errors import FrameError
from memeval.frames import SCHEMAS, Column, conform, describe, empty

ONE_ROW: dict[str, dict[str, Any]] = {
    "hits": {"probe": "p", "rank": 1, "record_id": None, "resolved_by": "unknown"},
    "calls": {"probe": "p", "k": 5, "status": "ok", "n_records": None},
    "qrels": {"probe": "p", "record_id": "r", "label": "expected", "group": None},
    "results": {"probe": "p", "kind": "negative", "recall_all": None, "passed": True},
    "summary": {"metric": "mrr", "value": None, "better": "higher", "passed": None},
    "controls": {"store": "null", "rule": "C1", "must": "at_most", "passed": None},
    "causes": {"probe": "p", "cause": "cut", "rank_found": None, "displaced_by": None},
    "probes": {"probe": "p", "kind": "positive", "line": None},
    "tags": {"probe": "p", "tag": "scope"},
    "candidates": {"candidate": 1, "source": "entry 3", "query": "Which number?", "n_records": 0},
    "faults": {"level": "error", "line": None, "file": None},
    "recall_curve": {"k": 1, "metric": "mrr", "value": None, "low": None, "n": 0},
    "threshold_curve": {"floor": 0.5, "recall_all": None, "best": True},
    "tag_summary": {"tag": None, "n_positive": 1, "recall_all": None},
    "overlap": {"probe": "p", "overlap": None},
    "outcomes": {"probe": "p", "status": "ok", "n_repeats": 1, "recall_all": None},
    "comparison": {"metric": "mrr", "baseline": 0.5, "p_value": None, "regressed": None},
    "changes": {"probe": "p", "change": "lost", "rank_after": None, "displaced_by": "b c"},
    "history": {"commit": "c0", "metric": "mrr", "value": None, "comparable": None},
    "kept_runs": {"run": "a.json", "verdict": "PASS", "n_probes": 1, "commit": None},
    "kills": {"saboteur": "null", "probe": "p", "by": "ratchet", "codes": None},
    "saboteurs": {"saboteur": "null", "touches": "answer", "equivalent": None, "reason": None},
    "relations": {"relation": "R1", "kind": "hard", "share": None, "passed": None},
    "violations": {"relation": "R1", "trial": 1, "query": "Which number?"},
    "scope_pairs": {"asked": "ana", "other": "bo", "kind": "other", "high": None},
    "drift": {"session": 1, "n_records": 9, "metric": "mrr", "value": None, "cohort": 0},
    "drift_probes": {"probe": "p", "cohort": 0, "session": 1, "n_records": 9, "passed": True},
    "slopes": {"metric": "mrr", "curve": "retention", "verdict": "flat", "p_value": None},
    "checkpoints": {"session": 1, "n_records": 9, "n_kept": None, "n_bytes": None},
    "sizes": {"session": 1, "n_records": 9, "n_kept": None},
    "survey": {"suite": "s", "store": "sqlite", "verdict": "PASS", "leaks": None},
    "store_checks": {"question": "ids", "status": "ok", "declared": None},
    "looks": {"look": 1, "at": None, "recall_all": None},
}


def dtypes(name: str) -> list[str]:
    return [column.dtype for column in SCHEMAS[name]]


@pytest.mark.parametrize("name", SCHEMAS)
def test_an_empty_table_has_every_column_in_its_dtype(name: str) -> None:
    frame = empty(SCHEMAS[name])
    assert list(frame.columns) == frames.names(SCHEMAS[name])
    assert [str(dtype) for dtype in frame.dtypes] == dtypes(name)
    assert len(frame) == 0
    assert isinstance(frame.index, pd.RangeIndex)


@pytest.mark.parametrize("name", SCHEMAS)
def test_zero_rows_and_one_row_have_the_same_dtypes(name: str) -> None:
    one = conform(pd.DataFrame([ONE_ROW[name]]), SCHEMAS[name])
    assert one.dtypes.equals(empty(SCHEMAS[name]).dtypes)
    assert one.iloc[:0].dtypes.equals(empty(SCHEMAS[name]).dtypes)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_table_conforms_to_itself(name: str) -> None:
    one = conform(pd.DataFrame([ONE_ROW[name]]), SCHEMAS[name])
    pd.testing.assert_frame_equal(conform(one, SCHEMAS[name]), one)
    both = conform(pd.concat([one, one], ignore_index=True), SCHEMAS[name])
    pd.testing.assert_frame_equal(both.iloc[:1], one)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_table_survives_plain_rows_and_back(name: str) -> None:
    one = conform(pd.DataFrame([ONE_ROW[name]]), SCHEMAS[name])
    rows = one.astype("object").where(one.notna(), None).to_dict("records")
    pd.testing.assert_frame_equal(conform(pd.DataFrame(rows), SCHEMAS[name]), one)


def test_columns_are_put_in_order_strange_ones_left_out_and_the_index_renewed() -> None:
    frame = pd.DataFrame({"tag": ["a", "b"], "x": [1, 2], "probe": ["p", "q"]}, index=[7, 3])
    made = conform(frame, frames.TAGS)
    assert made.to_dict("list") == {"probe": ["p", "q"], "tag": ["a", "b"]}
    assert list(made.index) == [0, 1]


def test_the_frame_that_is_given_is_not_changed() -> None:
    frame = pd.DataFrame({"tag": ["a"], "probe": ["p"]}, index=[7])
    before = frame.copy(deep=True)
    made = conform(frame, frames.TAGS)
    made.loc[0, "tag"] = "changed"
    pd.testing.assert_frame_equal(frame, before)


def test_a_missing_required_column_is_named() -> None:
    with pytest.raises(FrameError, match=r"found the columns \['probe'\], wanted also \['tag'\]"):
        conform(pd.DataFrame({"probe": ["p"]}), frames.TAGS)


def one_column(dtype: str, values: list[Any], **more: Any) -> list[Any]:
    schema = (Column("x", dtype, "what it means", **more),)
    return conform(pd.DataFrame({"x": pd.Series(values, dtype="object")}), schema)["x"].tolist()


@pytest.mark.parametrize(
    ("dtype", "values", "misfit"),
    [
        ("int64", [1, 1.5], r"1\.5 \(row 1\)"),  # astype would cut it to 1
        ("int64", [1, None], r"None \(row 1\)"),
        ("int64", ["x"], r"'x' \(row 0\)"),
        ("int64", [2**70], r"1180591620717411303424 \(row 0\)"),
        ("Int64", [2, 2.5], r"2\.5 \(row 1\)"),
        ("float64", [0.5, "x"], r"'x' \(row 1\)"),
        ("bool", ["false"], r"'false' \(row 0\)"),  # astype would make it True
        ("boolean", [None, "no"], r"'no' \(row 1\)"),
        ("bool", [2], r"2 \(row 0\)"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_column(
    dtype: str, values: list[Any], misfit: str
) -> None:
    with pytest.raises(FrameError, match=f"column 'x' holds {misfit}.*not {dtype}; wanted: what"):
        one_column(dtype, values)


def test_an_unknown_category_is_named_with_the_known_ones() -> None:
    with pytest.raises(FrameError, match=r"column 'x' holds \['maybe'\], wanted one of \['yes'"):
        one_column("category", ["yes", "maybe"], allowed=("yes", "no"))


def test_two_columns_of_one_name_are_refused() -> None:
    twice = pd.DataFrame([["p", "a", "b"]], columns=["probe", "tag", "tag"])
    with pytest.raises(FrameError, match="found 2 columns named 'tag', wanted one"):
        conform(twice, frames.TAGS)


def test_na_in_a_column_without_na_is_false_and_never_true() -> None:
    assert one_column("bool", [float("nan"), None, True]) == [False, False, True]


def test_whole_floats_and_truth_values_are_taken_without_loss() -> None:
    assert one_column("int64", [1.0, 2**53 + 2]) == [1, 9007199254740994]
    assert one_column("bool", [0, 1, True]) == [False, True, True]


@pytest.mark.parametrize("name", SCHEMAS)
def test_describe_says_what_every_column_means(name: str) -> None:
    said = describe(SCHEMAS[name])
    assert said["column"].tolist() == frames.names(SCHEMAS[name])
    assert said["dtype"].tolist() == dtypes(name)
    assert said["meaning"].str.len().gt(0).all()
    assert set(said.loc[said["column"].str.endswith("_ms"), "unit"]) <= {"ms"}
    assert list(said.columns) == ["column", "dtype", "unit", "meaning"]


@pytest.mark.parametrize("found", [None, [], {"probe": []}, pd.Series(["a"], name="probe")])
def test_what_is_no_frame_is_refused(found: Any) -> None:
    with pytest.raises(FrameError, match=r"wanted a pandas\.DataFrame"):
        conform(found, frames.TAGS)


def test_half_characters_do_not_get_into_a_table() -> None:
    made = conform(pd.DataFrame({"probe": ["\ud800 a", None], "tag": ["b", "\u00e9"]}), frames.TAGS)
    assert made["probe"][0] == "\ufffd a"
    assert made["probe"].isna()[1]
    assert (list(made["tag"]), str(made["probe"].dtype)) == (["b", "\u00e9"], "str")


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_right_already_is_shared_and_yet_apart(name: str) -> None:
    one = conform(pd.DataFrame([ONE_ROW[name]] * 2), SCHEMAS[name])
    before = one.copy(deep=True)
    for given in (one, one[[*one.columns[::-1]]]):
        made = conform(given, SCHEMAS[name])
        first = next(column for column in one if one[column].dtype != "category")
        assert np.shares_memory(made[first].array, one[first].array)
        for column in made:
            made.loc[0, column] = made.loc[1, column]
        made.loc[0, first] = 3 if pd.api.types.is_numeric_dtype(made[first]) else made.loc[1, first]
        pd.testing.assert_frame_equal(one, before)


def test_a_frame_of_the_right_dtypes_is_still_read_for_half_characters() -> None:
    dirty = pd.DataFrame(
        {"probe": ["\ud83d\ude00", "\ud800"], "tag": ["\u00e9", None]}, dtype="str"
    )
    assert conform(dirty, frames.TAGS)["probe"].tolist() == ["\U0001f600", "\ufffd"]


def test_nothing_else_that_hangs_on_a_frame_comes_along() -> None:
    frame = conform(pd.DataFrame([ONE_ROW["tags"]]), frames.TAGS).rename_axis(columns="named")
    frame.attrs["x"] = 1
    made = conform(frame, frames.TAGS)
    assert (made.attrs, made.columns.name) == ({}, None)


def test_categories_in_another_order_are_put_in_that_of_the_schema() -> None:
    kind = pd.CategoricalDtype(["negative", "positive"])
    frame = pd.DataFrame({"probe": ["p"], "kind": pd.Series(["negative"], dtype=kind)})
    made = conform(frame, frames.RESULTS)["kind"]
    assert (list(made.cat.categories), made.tolist()) == (list(frames.KINDS), ["negative"])
