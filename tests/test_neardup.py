"""The near-duplicate rule: what it merges, and what it must never merge."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memeval.neardup import count_units, near_duplicate_key

SENTENCES = [
    "Ana moved to Oslo in 2024 and keeps 3 cats",
    "The gate code of the workshop is 4471",
    "Bo pays 12 euro a month for the train",
    "Zoë's café opens at 8 on weekdays",
]

SAME = [
    ("Ana lives in Oslo", "ana lives in OSLO."),
    ("Ana lives in Oslo", "- Ana lives in Oslo!"),
    ("Ana lives in Oslo", "2) Ana lives, in Oslo"),
    ("Ana lives in Oslo", "[2026-03-01 09:30] user: Ana lives in Oslo"),
    ("Ana lives in Oslo", "2026-03-01T09:30:00Z Ana lives in Oslo"),
    ("Zoe’s “café”", 'Zoë\'s "cafe"'),
    ("The rent is 1,200 euro", "Rent is 1200 euro"),
    ("Bo doesn't eat fish", "Bo does not eat fish"),
    ("Bo can't swim", "Bo cannot swim"),
    ("The garden is very big", "The garden is big"),
    ("tea & coffee", "tea and coffee"),
    ("keep the receipts", "Keep receipts"),
    ("取木箱。", "取木箱"),
]

DIFFERENT = [
    ("Room 12 is free", "Room 21 is free"),
    ("It was -5 outside", "It was 5 outside"),
    ("It weighs 3.5 kilos", "It weighs 35 kilos"),
    ("It weighs 3.5 kilos", "It weighs 3 5 kilos"),
    ("an area of 10² m", "an area of 102 m"),
    ("Bo is vegan", "Bo isn't vegan"),
    ("Bo will not eat fish but will eat meat", "Bo will eat fish but will not eat meat"),
    ("Ana called Bo", "Bo called Ana"),
    ("I like fish", "She likes fish"),
    ("from Oslo to Rome", "to Oslo from Rome"),
    ("Ana lives in Oslo", "Ana lived in Oslo"),
    ("Ana lives in Oslo", "Ana lives in Oslo with Bo"),
    ("seventeen cats", "seventy cats"),
    ("thirteen cats", "thirty cats"),
    ("It costs $5", "It costs €5"),
    ("She writes C++", "She writes C"),
    ("Lunch: pizza", "Dinner: pizza"),
    ("Ana: allergic to nuts", "Bo: allergic to nuts"),
    ("09:00 call Bo", "10:00 call Bo"),
    ("2026-03-01 is the deadline", "2026-04-01 is the deadline"),
    ("Is Ana in Oslo?", "Ana is in Oslo."),
    ("周五下午去河边的仓库取木箱", "周五下午去河边的仓库取地图"),
    ("समझौता हुआ", "समझौते हुआ"),
    ("международный рейс", "междугородный рейс"),
    ("ภาษาไทยกลาง", "ภาษาไทยใต้"),
    ("the of", "is the"),
    ("the", "a"),
    ("...", "!!"),
    ("", "the"),
    ("?", "the?"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_the_same_unit(left: str, right: str) -> None:
    assert near_duplicate_key(left) == near_duplicate_key(right)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_different_units(left: str, right: str) -> None:
    assert near_duplicate_key(left) != near_duplicate_key(right)


def test_texts_of_stop_words_merge_only_when_equal() -> None:
    assert near_duplicate_key("The OF") == near_duplicate_key("  the of ")


def accented(text: str) -> str:
    return re.sub("([aeiou])", "\\1\u0301", text)


@given(
    st.sampled_from(SENTENCES),
    st.lists(
        st.sampled_from(
            [
                accented,
                str.upper,
                str.title,
                "- {}".format,
                "* {}".format,
                "1. {}".format,
                "• {}".format,
                " {} ".format,
                "{}!".format,
            ]
        ),
        max_size=5,
    ),
)
def test_key_does_not_see_accents_case_and_list_marks(text: str, changes: list[object]) -> None:
    changed = text
    for change in changes:
        changed = change(changed)  # type: ignore[operator]
    assert near_duplicate_key(changed) == near_duplicate_key(text)


@given(st.sampled_from(SENTENCES), st.integers(0, 99_999), st.integers(0, 99_999))
def test_another_number_is_another_unit(text: str, first: int, second: int) -> None:
    assume(first != second)
    left, right = (re.sub(r"\d+", str(number), text, count=1) for number in (first, second))
    assert near_duplicate_key(left) != near_duplicate_key(right)


@given(st.sampled_from(SENTENCES), st.integers(1, 9), st.sampled_from(["not", "never", "no"]))
def test_a_negation_is_another_unit(text: str, place: int, negation: str) -> None:
    words = text.split()
    words.insert(place, negation)
    assert near_duplicate_key(" ".join(words)) != near_duplicate_key(text)


@given(
    st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=1),
    st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=1),
)
def test_different_chinese_never_merges(left: str, right: str) -> None:
    assert (near_duplicate_key(left) == near_duplicate_key(right)) is (left == right)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_has_a_key_that_white_space_does_not_change(text: str) -> None:
    key = near_duplicate_key(text)
    assert near_duplicate_key(f" \t{text}\r\n") == key
    assert len(key.stems) > 0


def test_count_units() -> None:
    texts = ["Bo is vegan", "bo is vegan.", "Bo is not vegan", "* Bo isn’t vegan", "Bo is 40"]
    assert count_units(texts) == 3
    assert count_units([]) == 0


# Hostile texts must not take quadratic time: a million characters are read in a moment.
@pytest.mark.parametrize("piece", ["x", "木", "- ", "1,000", "n't", "é", "1:"])
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    start = time.process_time()
    near_duplicate_key(piece * (1_000_000 // len(piece)))
    assert time.process_time() - start < 20
