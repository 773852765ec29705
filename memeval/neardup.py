"""The near-duplicate rule: which texts say the same thing in nearly the same words.

No similarity tells a paraphrase from the same sentence with another value, so nothing is scored
here. Two texts are one information unit when a short list of things about them is equal, and the
rule leans towards calling them different. The names are handed on by `memeval.text`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from memeval.words import normalise, split_words

__all__ = ["NearDuplicateKey", "count_units", "near_duplicate_key"]

_STOP_WORDS = frozenset(
    "a an the of and that am is are do does very really quite please also".split()
)
_NEGATIONS = frozenset("not no never none nobody nothing nowhere neither nor without".split())
_STEM = 5
# Cut to five letters, seven, seventeen and seventy would be one word.
_NUMBER_WORD = re.compile("thir|four|fift|sixt|seven|eight|nine|hundr|thous|milli|billi|trilli")
_KEPT_MARKS = frozenset("#%‰?")

_DATE = r"(?:\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}/\d{2,4})"
_TIME = r"(?:\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[ap]m)?(?:\s?z|\s?utc|[+-]\d\d:?\d\d)?)"
_LEAD = re.compile(
    rf"""(?:
      [-*•‣◦▪●·–—]\s                                            # list mark
    | \#{{1,6}}\s                                               # heading
    | \[[x\s]?\]\s                                              # tick box
    | \(?\d{{1,2}}[.)]\s | \(?[a-z]\)\s                         # numbered, lettered
    | [\[(](?:{_DATE}(?:[t,\s]\s?{_TIME})?|{_TIME})[\])]:?\s    # time stamp in brackets
    | {_DATE}[t,\s]\s?{_TIME}(?::|\s[-–—|])?\s                  # bare date and time
    | {_DATE}(?::|\s[-–—|])\s                                   # bare date and a separator
    | (?:user|assistant|system|human|ai|bot|agent|speaker(?:\s?\d+)?)\s?:\s
    )(?=\S)""",
    re.VERBOSE,
)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d|,\d)")
_NUMBER = re.compile(r"(?:(?<![^\W_])[-−–])?\d+(?:[.,:/⁄]\d+)*")
# Folding makes "10²" "102": a space keeps the two numbers apart.
_RAISED = re.compile("(?<=[0-9])(?=[\u00b2\u00b3\u00b9\u2070-\u2089\u00bc-\u00be\u2150-\u215e])")
_SHORT_NOT = re.compile(
    r"\b(do|does|did|is|was|are|were|has|have|had|would|could|should|must|need|might)n'?t\b"
)
_SHORT_FORMS = (
    (re.compile(r"\bcan(?:'?t|not)\b"), "can not"),
    (re.compile(r"\bwon'?t\b"), "will not"),
    (re.compile(r"\bshan'?t\b"), "shall not"),
    (_SHORT_NOT, r"\1 not"),
    (re.compile(r"(?<=\w)'m\b"), " am"),
    (re.compile(r"(?<=\w)'re\b"), " are"),
    (re.compile(r"(?<=\w)'ll\b"), " will"),
    (re.compile(r"(?<=\w)'ve\b"), " have"),
)
# Every short form has one of these; most texts have none, and are spared eight searches.
_MAY_BE_SHORT = re.compile("'|nt|nnot")


class NearDuplicateKey(NamedTuple):
    """What two texts must share to count as one information unit.

    Attributes
    ----------
    numbers : tuple of str
        Numbers in order, with sign and decimals.
    negated : bool
        Whether the number of negation words is odd.
    stems : tuple of str
        Words without stop words, shortened, in order.

    Examples
    --------
    >>> near_duplicate_key("She does not eat 2 eggs").negated
    True
    """

    numbers: tuple[str, ...]
    negated: bool
    stems: tuple[str, ...]


def near_duplicate_key(text: str) -> NearDuplicateKey:
    """Key that is equal for two texts exactly when they are one information unit.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    NearDuplicateKey
        A tuple of numbers, negation and stems; compare whole.

    Notes
    -----
    1. The text is normalised (`memeval.text.normalise`). What leads is dropped while something
       follows it: a list mark, heading mark or tick box, ``1.`` to ``99.``, ``a)``, a time stamp
       (in brackets; or a bare date with a time, or with a colon or dash after it), a role (user,
       assistant, system, human, ai, bot, agent, speaker 1). A name before a colon stays: it
       cannot be told from a label that carries the fact.
    2. ``1,000`` is ``1000``; ``n't`` and ``cannot`` are ``not``; ``'m 're 'll 've`` are words.
    3. Numbers: runs of digits in order, joined by ``. , : /``, with a minus that no letter or
       digit precedes.
    4. Negation: the parity of the English words not, no, never, none, nobody, nothing, nowhere,
       neither, nor, without. They also stay among the stems, so their place counts.
    5. Stems: the tokens in order, with currency, mathematical and other symbols, emoji and
       ``# % ?`` as tokens of their own (repeated ``?`` once); without a, an, the, of, and, that,
       am, is, are, do, does, very, really, quite, please, also; words of plain Latin letters cut
       to five, but not number words, and no word with a digit. Other scripts are never cut and
       have no stop words. A text in which no word is left is compared as normalised.

    Prepositions, pronouns and tenses are no stop words: they change what is said. Words that
    share five letters are one (Martin, Martina): label units where that matters.

    Examples
    --------
    >>> near_duplicate_key("- Ana's flat: floor 3.") == near_duplicate_key("ANA’S FLAT, FLOOR 3")
    True
    >>> near_duplicate_key("Bo isn't vegan") == near_duplicate_key("Bo is vegan")
    False
    >>> near_duplicate_key("Room 12 is free") == near_duplicate_key("Room 21 is free")
    False
    """
    core = _without_lead(normalise(_RAISED.sub(" ", text)))
    plain = _THOUSANDS.sub(lambda match: match.group().replace(",", ""), core)
    if _MAY_BE_SHORT.search(plain):
        for pattern, full in _SHORT_FORMS:
            plain = pattern.sub(full, plain)
    words = [word for word in split_words(plain, _is_symbol) if word not in _STOP_WORDS]
    if not any(char.isalnum() for word in words for char in word):
        return NearDuplicateKey((), False, ("", core))
    numbers = tuple(re.sub("^[−–]", "-", found) for found in _NUMBER.findall(plain))
    negated = sum(word in _NEGATIONS for word in words) % 2 == 1
    return NearDuplicateKey(numbers, negated, _stems(words))


def _without_lead(text: str) -> str:
    start = 0
    while lead := _LEAD.match(text, start):
        start = lead.end()
    return text[start:]


def _is_symbol(char: str) -> bool:
    return char in _KEPT_MARKS or unicodedata.category(char) in ("Sm", "Sc", "So")


def _stems(words: list[str]) -> tuple[str, ...]:
    return tuple(
        _stem(word)
        for before, word in zip(["", *words], words, strict=False)
        if not word == before == "?"
    )


def _stem(word: str) -> str:
    if word.isascii() and word.isalpha() and not _NUMBER_WORD.match(word):
        return word[:_STEM]
    return word


def count_units(texts: Iterable[str]) -> int:
    """Count the information units among some texts.

    Parameters
    ----------
    texts : iterable of str
        Texts of the hits.

    Returns
    -------
    int
        Number of different `near_duplicate_key`; 0 for no text.

    Examples
    --------
    >>> count_units(["The key is blue.", "the key is blue", "The key is red."])
    2
    """
    return len({near_duplicate_key(text) for text in texts})
