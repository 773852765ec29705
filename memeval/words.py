"""Words of other people's text: cleaned, made comparable, split.

What a hit or a canary is matched on, and what a query shares with a record. The names are handed on
by `memeval.text`, which holds what makes text safe to show.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

__all__ = [
    "FUNCTION_WORDS",
    "clean",
    "contains_tokens",
    "content_words",
    "count_tokens",
    "normalise",
    "tokens",
]

# Words of English that say nothing of what is asked for; short forms stand without apostrophe.
FUNCTION_WORDS = frozenset(
    """
    a about after again all also am an and any are arent as at be because been before being between
    both but by bye can cannot cant could couldnt d did didnt do does doesnt doing dont down during
    each either else ever few for from further get gets go goodbye got had hadnt has hasnt have
    havent having he hello her here hers herself hey hi him himself his how i if in into is isnt it
    its itself just later let ll m many me might more most much must my myself neither no
    nor not now of off ok okay on once only or other our ours ourselves out over own please re s
    same see shall she should shouldnt since so some such t tell than thank thanks that the their
    theirs them themselves then there these they this those though through to too under until up
    upon us ve very was wasnt we were werent what when where whether which while who whom whose why
    will with within without wont would wouldnt yes you your yours yourself yourselves
    """.split()
)

_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")
# Format characters (category Cf) that do have a glyph: Arabic, Syriac and Kaithi number signs.
_VISIBLE_FORMATS = frozenset("\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd").union(
    map(chr, range(0x600, 0x606))
)
# Letters and marks that show nothing: fillers, joiners, selectors. The two selectors that only
# choose between text and emoji style (FE0E, FE0F) are left out on purpose.
_BLANKS = frozenset(
    map(
        chr,
        (
            *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE0E),
            *range(0xFFF0, 0xFFF9),
            *range(0xE0000, 0xE1000),
        ),
    )
)
# The Afrikaans letter holds a curly quote that only folding would set free.
_QUOTES = str.maketrans("‘’‚‛\u02bc\u00b4“”„‟", "''''''" + '""""') | {0x149: "'n"}
# The blocks of accents shared by Latin, Greek and Cyrillic, Cyrillic's own, and the two selectors
# of emoji style. Vowel signs of other scripts are letters to their readers and stay.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe0e\ufe0f\ufe20-\ufe2f]"
)
# Scripts that put no space between words: every character is a token of its own there.
_UNSPACED = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF)),
    *((0x1B00, 0x1B7F), (0x3005, 0x3007), (0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF)),
    *((0x4E00, 0x9FFF), (0xA980, 0xA9FF), (0xAA60, 0xAA7F), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
_ASCII_PARTS = re.compile("[A-Za-z0-9]+|[^A-Za-z0-9]")
_SHORT_FORM = re.compile(r"(?<=\w)'(?:s|re|ve|ll|d|m)(?!\w)")


def clean(text: str) -> str:
    r"""Replace half characters, which no file, terminal or browser takes.

    Parameters
    ----------
    text : str
        Text as it was loaded.

    Returns
    -------
    str
        The same, with each lone surrogate as U+FFFD and each high and low surrogate that stand
        together as the one character that they spell. Everything else is kept.

    Examples
    --------
    >>> clean("half \ud83d, whole \ud83d\ude00") == "half \ufffd, whole \U0001f600"
    True
    """
    return _SURROGATES.sub(_whole_character, text)


def _whole_character(match: re.Match[str]) -> str:
    found = match.group()
    if len(found) == 1:
        return "\ufffd"
    return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


@lru_cache(maxsize=4096)
def is_hidden(char: str) -> bool:
    """Whether a character shows nothing, or only acts on the text around it."""
    if char in _BLANKS:
        return True
    category = unicodedata.category(char)
    return category in ("Cc", "Zl", "Zp") or (category == "Cf" and char not in _VISIBLE_FORMATS)


def normalise(text: str) -> str:
    r"""Text as it is compared: the same words, whatever the typing.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        Compatibility forms and full-width letters made plain, accents of Latin, Greek and
        Cyrillic gone, case folded, curly quotes straight, characters without a glyph gone, white
        space folded to single spaces. Vowel signs of Indic, Thai and other scripts are kept.
        Applying it twice changes nothing.

    Notes
    -----
    NFKD, then folding, then NFC, so that Korean and Indic text comes out composed.

    Examples
    --------
    >>> normalise("  The CAFÉ’s  “menu” ")
    'the cafe\'s "menu"'
    >>> normalise("हिन्दी") == "हिन्दी"
    True
    """
    spaced = " ".join(text.split())
    if spaced.isascii() and spaced.isprintable():
        return spaced.lower()
    return _fold(clean(spaced))


def _fold(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.translate(_QUOTES)).casefold()
    # Folding case sets accents free (that of a capital I with dot), so they go after it.
    parts = _ACCENTS.sub("", unicodedata.normalize("NFKD", parts))
    kept = "".join(char for char in parts if char.isspace() or not is_hidden(char))
    return unicodedata.normalize("NFC", " ".join(kept.split()))


def _never(char: str) -> bool:
    return False


@lru_cache(maxsize=4096)
def _kind(char: str) -> str:
    """Kind of a character in a word: letter or digit, mark, lone (no spaces), or none ("")."""
    if unicodedata.category(char).startswith("M"):
        return "mark"
    if not char.isalnum():
        return ""
    code = ord(char)
    return "lone" if any(low <= code <= high for low, high in _UNSPACED) else "letter"


def split_words(text: str, keep: Callable[[str], bool] = _never) -> list[str]:
    """Words of a text as it stands, and other characters that `keep` asks for, in order."""
    if text.isascii():
        return [part for part in _ASCII_PARTS.findall(text) if part.isalnum() or keep(part)]
    found: list[str] = []
    start, last = 0, ""
    for at, char in enumerate(text):
        kind = _kind(char)
        if (kind == "mark" and last) or (kind == last == "letter"):
            continue
        if last:
            found.append(text[start:at])
        start, last = at, "letter" if kind == "mark" else kind
        if not kind and keep(char):
            found.append(char)
    return [*found, text[start:]] if last else found


def tokens(text: str) -> list[str]:
    """Words of a text, in any script, on its normalised form.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        Runs of letters and digits with their marks; everything else (the underscore too)
        separates. In scripts written without spaces (Chinese, Japanese kana, Thai, Lao, Khmer,
        Burmese and kin) every character with its marks is a token.

    Examples
    --------
    >>> tokens("Error E-7734: the Café's door_2")
    ['error', 'e', '7734', 'the', 'cafe', 's', 'door', '2']
    >>> tokens("हिन्दी 木箱")
    ['हिन्दी', '木', '箱']
    """
    return split_words(normalise(text))


def _always(char: str) -> bool:
    return True


def content_words(text: str) -> list[str]:
    """Words that tell what a text is about, each once, in order.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        Words as in `tokens` without the `FUNCTION_WORDS` of English; ``'s`` and its like are cut
        off, and other apostrophes vanish (``don't`` is a function word). In scripts written without
        spaces, where a single character says little, every two neighbours are a word, and a
        character is one only where it stands alone.

    Examples
    --------
    >>> content_words("Where is Ana's spare key, and isn't it Bo's?")
    ['ana', 'spare', 'key', 'bo']
    >>> content_words("木箱子 key 木")
    ['木箱', '箱子', 'key', '木']
    """
    plain = _SHORT_FORM.sub("", normalise(text)).replace("'", "")
    found: list[str] = []
    run: list[str] = []
    for part in [*split_words(plain, _always), " "]:
        kind = _kind(part[0])
        if kind == "lone":
            run.append(part)
            continue
        found += map("".join, zip(run, run[1:], strict=False)) if len(run) > 1 else run
        run = []
        if kind and part not in FUNCTION_WORDS:
            found.append(part)
    return list(dict.fromkeys(found))


def contains_tokens(text: str, token_text: str) -> bool:
    """Whether the words of a canary stand in a text, next to each other and in order.

    Parameters
    ----------
    text : str
        Text of a hit.
    token_text : str
        The canary: a name, a number, an identifier.

    Returns
    -------
    bool
        Compared token by token, so ``4471`` is not in ``44710``. A canary without any letter or
        digit (an emoji) is looked for as normalised text.

    Raises
    ------
    ValueError
        A blank canary, which would stand in every text.

    Examples
    --------
    >>> contains_tokens("the code (e–7734) expired", "E-7734")
    True
    >>> contains_tokens("invoice 44710", "4471")
    False
    """
    wanted = tokens(token_text)
    if wanted:
        return f" {' '.join(wanted)} " in f" {' '.join(tokens(text))} "
    marks = normalise(token_text)
    if not marks:
        raise ValueError(f"canary: found the blank text {token_text!r}, wanted a word or a mark")
    return marks in normalise(text)


def _is_mark(char: str) -> bool:
    return not char.isspace() and not is_hidden(char)


def count_tokens(text: str) -> int:
    """Context tokens of a text, by the default counter: words and punctuation marks.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    int
        Words as in `tokens`, plus one for every other character that is printed and no space.
        No model's tokenizer counts so: use it to compare runs, not to pay bills.

    Examples
    --------
    >>> count_tokens("Ana moved to Oslo, didn't she?")
    10
    """
    return len(split_words(clean(text), _is_mark))
