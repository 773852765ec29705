"""How the embedded store sees words: what of a text is indexed, what of a query is asked.

Texts and queries are folded alike: compatibility forms, case, accents, digits of other scripts and
invisible marks make no difference. Scripts that write no spaces are indexed a character at a time
and asked by windows of neighbours, so that a word inside a sentence is found.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from memeval.words import FUNCTION_WORDS as FUNCTION_WORDS

MAX_PHRASES = 1000
KEPT_TEXTS, KEPT_LENGTH = 4096, 512  # Spellings kept: at most some megabytes.

# Marks that a reader takes for decoration: accents, Hebrew points, Arabic vowel signs and tatweel,
# variation selectors. Vowel signs of Indic scripts and of Thai are letters and stay.
_DECORATION = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\U0001f3fb-\U0001f3ff"
    "\U000e0100-\U000e01ef]"
)
_EAST = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u3100-\u318f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_SOUTH_EAST = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1a20-\u1aaf"
_UNSPACED = re.compile(f"[{_EAST}{_SOUTH_EAST}]")
# Two neighbours make a word of Chinese; two letters of Thai are only a syllable.
_RUNS = ((re.compile(f"[{_EAST}]+"), 2), (re.compile(f"[{_SOUTH_EAST}]+"), 3))
_LETTER = "[a-z0-9\x80-\U0010ffff]"
_JOIN = r"(?:[-'_./:@]|,(?<=[0-9],)(?=[0-9]))"
_WORD = re.compile(f"{_LETTER}++(?:{_JOIN}{_LETTER}++)*")
_PARTS = re.compile(f"{_LETTER}+")
# Both begin with what is rare and look back from there: every text written is searched for them.
_JOINED = re.compile(f"[-'_./:@,](?<={_LETTER}.){_LETTER}")
_CLITIC = re.compile(f"'(?<={_LETTER}')(?:s|re|ve|ll|d|m)(?!{_LETTER})")


class _Folding(dict[int, str | None]):
    """What becomes of a character, worked out when it is first met."""

    def __missing__(self, code: int) -> str | None:
        self[code] = folded = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str | None:
    if character.isascii():
        return character
    if character in "\u2018\u2019\u02bc":
        return "'"
    if character == "\u2010":
        return "-"
    category = unicodedata.category(character)
    if category == "Cf" or _DECORATION.match(character):
        return None
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "So":
        return f" {character} "
    return character if category[0] in "LMN" or category in ("Co", "Cn") else " "


_FOLDING = _Folding()


def fold(text: str) -> str:
    r"""Level what a reader takes for the same: case, accents, forms, digits, invisible marks.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        Lower case; what is neither a letter, a mark, a number nor a pictograph is a space, except
        for ASCII punctuation, which is left to the reader.

    Examples
    --------
    >>> fold("Cafe\u0301 \u200fN\u00ba \uff14\uff12, Mark\u2019s")
    'cafe no 42, mark'
    """
    if text.isascii():
        folded = text.lower()
    else:
        # Case is folded between: a compatibility form may hide a capital, as in mathematical bold.
        lowered = unicodedata.normalize("NFKC", text).casefold()
        levelled = unicodedata.normalize("NFKD", lowered).translate(_FOLDING)
        folded = unicodedata.normalize("NFC", levelled)
    return _CLITIC.sub("", folded) if "'" in folded else folded


def indexed(text: str) -> str:
    r"""Spell a text for the index, whose tokenizer splits at ASCII punctuation and spaces.

    Parameters
    ----------
    text : str
        The text of a record.

    Returns
    -------
    str
        The folded text, characters of unspaced scripts apart, and at its end every compound
        written as one word, so that ``LX-20419`` is found by ``lx20419`` and by its parts.

    Examples
    --------
    >>> indexed("Article LX-20419")
    'article lx-20419 lx20419'
    >>> indexed("\u6728\u7bb1").split()
    ['木', '箱']
    """
    return _kept(text) if len(text) <= KEPT_LENGTH else _spelled(text)


def _spelled(text: str) -> str:
    folded = fold(text)
    if not folded.isascii():
        folded = _UNSPACED.sub(r" \g<0> ", folded)
    if not _JOINED.search(folded):
        return folded
    parts = (_PARTS.findall(word) for word in _WORD.findall(folded) if not word.isalnum())
    return " ".join([folded, *("".join(some) for some in parts if len(some) > 1)])


# The same haystack stands around many probes: what it says is spelled once.
_kept = lru_cache(maxsize=KEPT_TEXTS)(_spelled)


def asked(query: str, *, drop: frozenset[str] = FUNCTION_WORDS) -> list[str]:
    """List the phrases that a query asks for, any of which will do.

    Parameters
    ----------
    query : str
        Any text; nothing in it is syntax.
    drop : frozenset of str
        Words to leave out, folded.

    Returns
    -------
    list of str
        Words, or neighbouring characters of unspaced scripts with spaces between, each once, at
        most `MAX_PHRASES`. A query of dropped words alone is asked for as it stands, word after
        word ("who am I" finds these three words in a row); one such word alone asks for nothing.

    Examples
    --------
    >>> asked("Where is the E-7734?")
    ['7734', 'e7734']
    >>> asked("Who am I"), asked("ok")
    (['who am i'], [])
    """
    folded = fold(query)
    for run, _ in _RUNS:
        folded = run.sub(r" \g<0> ", folded) if not folded.isascii() else folded
    words = _WORD.findall(folded)
    kept: dict[str, None] = {}
    for word in dict.fromkeys(words):
        kept.update(dict.fromkeys(_phrases(word, drop)))
        if len(kept) >= MAX_PHRASES:
            break
    if kept or len(words) < 2:
        return list(kept)[:MAX_PHRASES]
    return [" ".join(part for word in words for part in _PARTS.findall(word))]


def _phrases(word: str, drop: frozenset[str]) -> list[str]:
    for run, width in _RUNS:
        if run.fullmatch(word):
            starts = range(max(1, len(word) - width + 1))
            return [" ".join(word[start : start + width]) for start in starts]
    parts = _PARTS.findall(word)
    whole = "".join(parts)
    if whole in drop or drop.issuperset(parts):
        return []
    if len(parts) == 1:
        return parts
    # One letter of an identifier says nothing: E-7734 is not asked for by its E.
    return [part for part in parts if len(part) > 1 and part not in drop] + [whole]


def asked_plainly(query: str) -> list[str]:
    """List the words of a query as SQLite's ``unicode61`` splits them, each once.

    Examples
    --------
    >>> asked_plainly("Which sport is E-7734?")
    ['Which', 'sport', 'is', 'E', '7734']
    """
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", query))
    return list(dict.fromkeys(words))[:MAX_PHRASES]
