"""One broken answer per check, and the answers that break none."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.contract import CODES, breaches, describe, key

SOUND: dict[str, Any] = {
    "store_ids": ["m1", "m2"],
    "record_ids": ["r1", "r2"],
    "texts": ["Tea at five.", "No sugar."],
    "written": {"r1": "Tea at five.", "r2": "No sugar.", "r3": "Never asked for."},
    "scores": [0.9, 0.5],
    "k": 2,
    "score_order": "high",
    "rewrites": False,
    "repeated": ("m1", "m2"),
}


def broken(**change: Any) -> tuple[str, ...]:
    return breaches(**SOUND | change)


def test_a_sound_answer_breaks_nothing() -> None:
    assert broken() == ()


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({"k": 1}, ("length",)),
        ({"store_ids": ["m1", "m1"], "repeated": None}, ("ids",)),
        ({"record_ids": ["r1", None]}, ("unknown",)),
        ({"texts": ["Tea at five.", "No sugar"]}, ("text",)),
        ({"texts": ["Tea at five.", "no sugar."]}, ("text",)),
        ({"scores": [0.5, 0.9]}, ("scores",)),
        ({"score_order": "low"}, ("scores",)),
        ({"repeated": ("m2", "m1")}, ("repeat",)),
        ({"repeated": ("m1",)}, ("repeat",)),
        ({"repeated": ()}, ("repeat",)),
    ],
)
def test_each_check_fires_alone(change: dict[str, Any], codes: tuple[str, ...]) -> None:
    assert broken(**change) == codes


def test_codes_come_in_a_fixed_order() -> None:
    everything = broken(
        store_ids=["m1", "m1", "m3"],
        record_ids=["r1", "r1", None],
        texts=["Tea", "Tea", "Rum"],
        scores=[0.1, 0.2, 0.3],
        repeated=(),
    )
    assert everything == ("length", "ids", "unknown", "text", "scores", "repeat") == tuple(CODES)


def test_a_rewriting_store_may_return_other_texts_and_records_of_its_own() -> None:
    assert broken(texts=["Tea, 5", "None"], record_ids=["r1", None], rewrites=True) == ()


def test_empty_texts_and_missing_ids_are_no_breach() -> None:
    assert broken(texts=["", ""]) == ()
    texts = ("Tea at five.", "No sugar.")
    assert broken(store_ids=[None, None], repeated=texts) == ()
    assert broken(store_ids=[None, None], repeated=texts[::-1]) == ("repeat",)


def test_a_record_split_in_two_under_ids_of_their_own_is_no_double() -> None:
    assert broken(record_ids=["r1", "r1"], texts=["Tea at five.", ""]) == ()


@pytest.mark.parametrize(
    "scores", [[0.9, 0.9], [None, 0.9], [0.9, None], [math.nan, 0.9], [None, None]]
)
def test_equal_and_missing_scores_are_in_order(scores: list[float | None]) -> None:
    assert broken(scores=scores) == ()
    assert broken(scores=scores, score_order="low") == ()


def test_a_missing_score_does_not_hide_the_disorder_around_it() -> None:
    three = {
        "store_ids": ["m1", "m2", "m3"],
        "record_ids": ["r1", "r2", "r3"],
        "texts": ["", "", ""],
        "k": 3,
        "repeated": None,
    }
    assert broken(**three, scores=[0.1, math.nan, 0.2]) == ("scores",)
    assert broken(**three, scores=[0.2, None, 0.1], score_order="low") == ("scores",)
    assert broken(**three, scores=[0.1, 0.3, 0.2], score_order=None) == ()


def test_an_empty_answer_breaks_nothing() -> None:
    assert broken(store_ids=[], record_ids=[], texts=[], scores=[], repeated=()) == ()


def test_the_last_text_written_counts() -> None:
    assert broken(written=SOUND["written"] | {"r2": "Two sugars."}) == ("text",)


@given(st.lists(st.sampled_from([None, math.nan, -1.0, 0.0, 2.0])), st.integers(1, 4))
def test_sorting_the_scores_mends_their_order(scores: list[float | None], k: int) -> None:
    n = len(scores)
    told = sorted((s for s in scores if s is not None and not math.isnan(s)), reverse=True)
    answer: dict[str, Any] = {
        "store_ids": [str(i) for i in range(n)],
        "record_ids": ["r1"] * n,
        "texts": [""] * n,
        "written": {},
        "k": k,
    }
    mended = told + [None] * (n - len(told))
    codes = breaches(**answer, scores=mended, score_order="high")
    assert codes == (("length",) if n > k else ())
    if len(set(told)) > 1:
        assert "scores" in breaches(**answer, scores=mended, score_order="low")


def test_every_code_is_described_with_what_to_do() -> None:
    for code in CODES:
        found, todo = describe(code).split("; ", 1)
        assert found and todo


def test_faulty_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="did you mean 'scores'"):
        describe("score")
    with pytest.raises(ValueError, match=r"lengths \[2, 2, 2, 1\]"):
        broken(scores=[0.9])
    with pytest.raises(ValueError, match="score_order is 'up'"):
        broken(score_order="up")


def test_key_is_the_id_or_else_the_text() -> None:
    assert (key("m1", "Tea."), key(None, "Tea.")) == ("m1", "Tea.")
