"""Which words find which texts: identifiers, scripts, and queries that look like syntax."""

from __future__ import annotations

from typing import Any

import pytest

from memeval.record import Record
from memeval.stores.sqlite import SqliteStore, plain
from memeval.stores.words import MAX_PHRASES, asked, indexed


def store_of(*texts: str, scope: str = "s") -> SqliteStore:
    """Give a store that holds these texts as r0, r1, ..."""
    store = SqliteStore()
    store.put_many(Record(f"r{i}", text, scope) for i, text in enumerate(texts))
    return store


def found(store: SqliteStore, query: str, k: int = 5, scope: str = "s", **more: Any) -> list[Any]:
    return [hit.id for hit in store.search(query, k=k, scope=scope, **more)]


def test_an_error_code_finds_its_record_and_not_the_transposed_one() -> None:
    store = store_of(
        "When the scanner shows E-7734 the belt is dirty; wipe it with a dry cloth.",
        "When the scanner shows E-7743 the lamp is at the end of its life.",
        "Scanner errors are usually solved by a restart.",
    )
    for query in ("E-7734", "e7734", "error E\u20117734?", "7734"):
        assert found(store, query, k=1) == ["r0"]
    assert found(store, "E-7734") == ["r0"]


def test_the_exact_article_number_stands_before_its_neighbours() -> None:
    store = store_of(
        "Article LX-20418 is the oak handle, 12 left in stock.",
        "Article LX-20419 is the ash handle, sold out.",
        "Article LX-20420 is the beech handle, 3 left in stock.",
    )
    assert found(store, "How many of article LX-20419 are left?", k=1) == ["r1"]


def test_runs_that_differ_in_a_digit_stay_apart() -> None:
    store = store_of(*(f"Kiln firing {n} took 9 hours." for n in (40, 41, 42)))
    assert store.count() == 3
    assert found(store, "At what temperature did firing 41 peak?", k=1) == ["r1"]


def test_hyphenated_and_clipped_words_are_found_in_each_spelling() -> None:
    store = store_of(
        "The pre-launch checklist is pinned next to the lathe.",
        "Launch is on the slipway.",
        "Mark\u2019s boat is called L\u2019\u00c9toile.",
    )
    assert found(store, "pre-launch checklist", k=1) == ["r0"]
    assert found(store, "prelaunch") == ["r0"]
    for query in ("mark", "Mark's", "etoile", "L'\u00e9toile"):
        assert found(store, query) == ["r2"]


def test_a_compound_is_kept_with_its_parts_and_a_clipped_verb_is_not() -> None:
    assert indexed("Kai's pre-launch, 1,800 km") == "kai pre-launch, 1,800 km prelaunch 1800"
    assert asked("What's Kai's pre-launch and/or isn't?") == ["kai", "pre", "launch", "prelaunch"]


def test_scripts_without_spaces_are_asked_for_by_neighbours() -> None:
    assert asked("학교에서") == ["학 교", "교 에", "에 서"]
    assert asked("木箱 A4") == ["木 箱", "a4"]
    assert asked("กุญแจ") == ["ก ุ ญ", "ุ ญ แ", "ญ แ จ"]


def test_nothing_in_a_query_is_syntax() -> None:
    store = store_of(
        "The plotter isn't safe with the --keep-going flag.", "The plotter pen is blue."
    )
    assert found(store, 'isn\'t safe "--keep-going" AND (plotter OR *', k=1) == ["r0"]
    for query in (
        "plotter NEAR(",
        "NOT plotter",
        "words:plotter",
        '"plotter',
        "plot* plotter)",
        "^plotter",
    ):
        assert set(found(store, query)) == {"r0", "r1"}


@pytest.mark.parametrize("make", [SqliteStore, plain])
@pytest.mark.parametrize(
    "query", ["", "   ", "\n\t", '"', "''", "*", "-", "(", "...?!", "\x00", "\u200f"]
)
def test_a_query_without_a_word_finds_nothing(make: Any, query: str) -> None:
    store = make()
    store.put_many(
        [Record("a", "The rain barrel holds 300 litres.", "s"), Record("b", "Stairs", "s")]
    )
    assert store.search(query, k=10, scope="s") == []


@pytest.mark.parametrize("make", [SqliteStore, plain])
@pytest.mark.parametrize("filler", ["w\u00f6rd ", "x", "\ud800", "\x00", '"', "\U0001f600"])
def test_a_query_of_a_megabyte_is_answered(make: Any, filler: str) -> None:
    store = make()
    store.put(Record("a", "The kiosk is blue.", "s"))
    query = "kiosk " + filler * (1_000_000 // len(filler))
    assert found(store, query) == ["a"]


def test_of_a_very_long_query_the_first_words_count() -> None:
    store = store_of("kiosk", "ferry")
    many = " ".join(f"w{i}" for i in range(MAX_PHRASES - 1))
    assert found(store, f"kiosk {many} ferry") == ["r0"]


@pytest.mark.parametrize(
    ("text", "other", "queries"),
    [
        (
            "周五下午去河边的仓库取展览用的木箱。",
            "周一上午给图书馆还三本地图册。",
            ["仓库 木箱", "木箱", "箱", "去仓库"],
        ),
        (
            "来週の火曜日に東京タワーへ行きます。",
            "台所の電気を消した。",
            ["東京", "タワー", "火曜"],
        ),
        ("학교에서 도서관까지 걸어간다.", "저녁에 비가 온다.", ["학교", "도서관"]),
        ("हिन्दी की किताब मेज़ पर है।", "कल बारिश होगी।", ["किताब", "हिन्दी"]),
        ("กุญแจอยู่ใต้กระถางต้นไม้", "ฝนจะตกพรุ่งนี้", ["กุญแจ", "กระถาง"]),
        ("موعد الطبيب يوم الثلاثاء.", "المفتاح عند الجار.", ["\u200fموعد الطبيب", "الطَّبِيب"]),
        ("הרופא ביום שלישי", "המפתח אצל השכן", ["\u200fהרופא", "שלישי"]),
        ("Поезд уходит в полночь.", "Дождь идёт.", ["ПОЕЗД", "полночь"]),
        ("Party at the pier \U0001f389", "Rain at noon", ["\U0001f389", "\U0001f389\ufe0f"]),
        (
            "The vault code is \uff14\uff14\uff17\uff11.",
            "Rain at noon",
            ["4471", "\u0664\u0664\u0667\u0661"],
        ),
        ("Die Stra\u00dfe ist gesperrt.", "Rain at noon", ["STRASSE", "strasse"]),
        ("\u2124eta \U0001d400lpha team", "Rain at noon", ["zeta", "alpha"]),
        ("The soft\u00adware is \u200bnew.", "Rain at noon", ["software", "new"]),
    ],
)
def test_a_word_of_any_script_is_found(text: str, other: str, queries: list[str]) -> None:
    store = store_of(text, other)
    for query in queries:
        assert found(store, query) == ["r0"], query


def test_vowel_signs_tell_words_apart() -> None:
    store = store_of("काल मेज़ पर है", "कूल मेज़ पर है")
    assert found(store, "काल") == ["r0"]


def test_accents_composed_decomposed_and_left_out_are_one() -> None:
    store = store_of(
        "The caf\u00e9 in Gen\u00e8ve Street closes at six.", "The bank closes at four."
    )
    for query in ("cafe\u0301 in Gene\u0300ve", "CAFE", "caf\u00e9", "geneve"):
        assert found(store, query, k=1) == ["r0"]
    assert found(store_of("cafe\u0301"), "caf\u00e9") == ["r0"]


@pytest.mark.parametrize("make", [SqliteStore, plain])
@pytest.mark.parametrize(
    "text", ["a kiosk\x00 and more", "", " kiosk ", "<b>kiosk</b>", "kiosk'; DROP TABLE record;--"]
)
def test_texts_come_back_as_written(make: Any, text: str) -> None:
    store = make()
    store.put(Record("a", text, "s"))
    hits = store.search("kiosk", k=5, scope="s")
    assert [hit.text for hit in hits] == ([text] if text else [])


def test_a_lone_surrogate_in_a_text_becomes_the_replacement_character() -> None:
    store = store_of("kiosk \ud800 blue \ud83d\ude00")
    assert store.search("kiosk", k=1, scope="s")[0].text == "kiosk \ufffd blue \U0001f600"
