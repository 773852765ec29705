"""Hostile text stays harmless, and equal words are equal in any script."""

from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.text import (
    clean,
    contains_tokens,
    count_tokens,
    display_width,
    markdown_cell,
    normalise,
    pad,
    tokens,
    visible,
)

# Lone surrogates are what hypothesis leaves out of text by default.
anything = st.text(st.characters(exclude_categories=()))
HOSTILE = [
    "a|b",
    "a\\|b\\",
    "`x|y` ``z``",
    "<script>alert(1)</script>",
    "</td></tr></table>",
    "[x](javascript:alert(1))",
    "![i](http://evil.example/x.png)",
    "<http://evil.example>",
    "http://evil.example/x",
    "HTTPS://EVIL.EXAMPLE",
    "www.evil.example",
    "evil.example/path",
    "me@evil.example",
    "https://user:pw@h.example",
    "**b** _e_ ~~s~~ [^1]",
    "a\nb | c\r\n---|---",
    "&lt;b&gt; &#60;",
    "\x1b[31m\u202e\x00",
]


def test_clean_replaces_only_half_characters() -> None:
    assert clean("a\ud800b\udc00\t\x1b\u202e") == "a\ufffdb\ufffd\t\x1b\u202e"
    # A pair written as two escapes is the one character that it spells.
    assert clean("\ud83d\ude00\ude00") == "\U0001f600\ufffd"


@given(anything)
def test_clean_text_can_be_written(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    clean(text).encode("utf-8")


@given(anything, st.none() | st.integers(0, 30))
def test_visible_never_acts_and_keeps_its_width(text: str, limit: int | None) -> None:
    shown = visible(text, limit)
    assert {unicodedata.category(char) for char in shown}.isdisjoint({"Cc", "Cs", "Zl", "Zp"})
    assert set(shown).isdisjoint("\u200b\u200e\u200f\u202a\u202e\u2066\u2069\u061c\ufeff\u00ad")
    if limit is not None:
        assert display_width(shown) <= limit
        assert shown == visible(text) or shown.endswith("\u2026") or limit == 0


def test_every_single_character_is_shown_safely() -> None:
    for code in range(0x30000):
        shown = visible(chr(code))
        assert shown
        assert {unicodedata.category(char) for char in shown}.isdisjoint({"Cc", "Cs", "Zl", "Zp"})


def test_controls_are_shown_as_pictures_or_codes() -> None:
    assert visible("\x00\t\n\x1b\x1f\x7f") == "\u2400\u2409\u240a\u241b\u241f\u2421"
    assert visible("\x9b\u202e\u2066\u200f\u061c\u200b\u2028") == (
        "<U+009B><U+202E><U+2066><U+200F><U+061C><U+200B><U+2028>"
    )
    # Tag characters carry a hidden message; a Hangul filler is a blank that is a letter.
    assert visible("\U000e0041\u3164\ufe00") == "<U+E0041><U+3164><U+FE00>"
    assert visible("\ud800") == "\ufffd"
    assert visible("Zoë 木箱 \u2764\ufe0f \u0600") == "Zoë 木箱 \u2764\ufe0f \u0600"


def test_a_cut_counts_columns_and_ends_in_an_ellipsis() -> None:
    assert visible("abcdef", 6) == "abcdef"
    assert visible("abcdefg", 6) == "abcde…"
    # Wide characters take 2: 木 + … is 3 columns, 木箱 + … would be 5.
    assert visible("木箱木", 4) == "木…"
    assert visible("木箱木", 5) == "木箱…"
    assert visible("ab\u202ecd", 9) == "ab…"
    assert visible("abc", 0) == "" == visible("", 3)
    with pytest.raises(ValueError, match="limit: found -1"):
        visible("a", -1)


def test_marks_without_width_cannot_make_a_cell_endless() -> None:
    assert len(visible("e" + "\u0301" * 100_000, 10)) <= 82


def test_widths_by_hand() -> None:
    assert display_width("e\u0301") == 1
    assert display_width("ｗｉｄｅ") == 8
    assert display_width("\U0001f980") == 2
    # Composed and decomposed Korean take the same two columns.
    assert display_width("\ud55c") == display_width(unicodedata.normalize("NFD", "\ud55c")) == 2


@given(anything, st.integers(0, 40), st.sampled_from(["left", "right", "center"]))
def test_pad_fills_to_the_column(text: str, width: int, align: str) -> None:
    shown = visible(text)
    padded = pad(shown, width, align)  # type: ignore[arg-type]
    assert display_width(padded) == max(width, display_width(shown))
    assert shown in padded


def test_pad_refuses_another_side() -> None:
    with pytest.raises(ValueError, match="align: found 'middle'"):
        pad("a", 3, "middle")  # type: ignore[arg-type]


@given(anything)
def test_a_markdown_cell_has_no_live_mark(text: str) -> None:
    cell = markdown_cell(text)
    assert set(cell).isdisjoint("|<>\n\r")
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]{}~$!]", cell)
    assert not re.search(r"(?<!\\)://|@\w", cell)


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_readers_see_two_cells_of_plain_text(text: str) -> None:
    mistune = pytest.importorskip("mistune", reason="needs mistune, which nbconvert brings")
    reader = mistune.create_markdown(
        escape=False, plugins=["table", "url", "strikethrough", "footnotes"]
    )
    page = reader(f"| text | end |\n| --- | --- |\n| {markdown_cell(text)} | END |\n")
    cells = re.findall(r"<td[^>]*>(.*?)</td>", page, flags=re.DOTALL)
    assert len(cells) == 2
    assert cells[1].strip() == "END"
    assert "<" not in cells[0]
    assert html.unescape(cells[0]).replace("\uff20", "@").strip() == visible(text).strip()


@given(anything)
def test_normalise_twice_is_once(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert once == " ".join(once.split())


def test_every_single_character_is_normalised_once_and_for_all() -> None:
    for code in range(0x30000):
        once = normalise(f"a{chr(code)}b")
        assert normalise(once) == once


def test_normalise_forgets_typing_and_keeps_words() -> None:
    assert normalise(" “Caf\u00e9”\tGen\u00e8ve’s ") == '"cafe" geneve\'s'
    assert normalise("cafe\u0301") == normalise("CAFÉ") == "cafe"
    assert normalise("Ёлка Άνω ﬁn ＡＢＣ Straße") == "елка ανω fin abc strasse"
    assert normalise("\u0149 İ") == "'n i"
    assert normalise("\u200fموعد") == "موعد"
    assert normalise("한국어") == normalise(unicodedata.normalize("NFD", "한국어")) == "한국어"


# Vowel signs are not accents: without them these words are other words.
@pytest.mark.parametrize("word", ["हिन्दी", "ภาษาไทย", "தமிழ்", "বাংলা", "भाषा", "ខ្មែរ", "がぎ"])
def test_vowel_signs_of_other_scripts_stay(word: str) -> None:
    assert unicodedata.normalize("NFKD", normalise(word)) == unicodedata.normalize("NFKD", word)
    assert "".join(tokens(word)) == normalise(word)


def test_tokens_in_many_scripts() -> None:
    assert tokens("Zoë's key_2, E-7734!") == ["zoe", "s", "key", "2", "e", "7734"]
    assert tokens("नमस्ते दुनिया।") == ["नमस्ते", "दुनिया"]
    assert tokens("Привет, мир") == ["привет", "мир"]
    assert tokens("取木箱3个") == ["取", "木", "箱", "3", "个"]
    assert tokens("ที่นี่") == ["ที่", "นี่"]
    assert tokens(" \u200b… ") == []


@pytest.mark.parametrize(
    ("text", "canary", "found"),
    [
        ("His badge, e-7734, was blocked.", "E-7734", True),
        ("code:4471.", "4471", True),
        ("_4471_", "4471", True),
        ("invoice 44710", "4471", False),
        ("E 12 7734", "E-7734", False),
        ("the Quay  STREET flat", "Quay Street", True),
        ("Street Quay", "Quay Street", False),
        ("周五下午去河边的仓库取展览用的木箱。", "木箱", True),
        ("周五下午去河边的仓库", "木箱", False),
        ("cafe\u0301 Rosa", "Café Rosa", True),
        ("the word is \U0001f984!", "\U0001f984", True),
        ("the word is none", "\U0001f984", False),
        ("", "4471", False),
    ],
)
def test_canary_is_found_token_by_token(text: str, canary: str, found: bool) -> None:
    assert contains_tokens(text, canary) is found


@given(st.lists(st.sampled_from(["ana", "e7", "4471", "木", "हिन्दी"]), max_size=6))
def test_canary_is_contiguous_by_a_slow_search(words: list[str]) -> None:
    wanted = ["4471", "ana"]
    slow = any(words[i : i + 2] == wanted for i in range(len(words)))
    assert contains_tokens(" - ".join(words), "4471, Ana") is slow


def test_a_blank_canary_is_refused() -> None:
    with pytest.raises(ValueError, match="found the blank text"):
        contains_tokens("anything", " \u200b")


def test_count_tokens_counts_words_and_marks() -> None:
    # Ana | moved | to | Oslo | , | didn | ' | t | she | ?
    assert count_tokens("Ana moved to Oslo, didn't she?") == 10
    assert count_tokens("取木箱。") == 4
    assert count_tokens(" \n\t\u200b") == 0
