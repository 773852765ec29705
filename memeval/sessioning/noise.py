"""What people do to texts: typing badly, and going on too long."""

from __future__ import annotations

import re
from random import Random

from memeval.sessioning.smalltalk import ramble

_WORD = re.compile(r"[A-Za-z]{5,}")


def with_typo(text: str, rng: Random) -> str:
    """Swap, drop or double a letter inside one word of five letters or more.

    Examples
    --------
    >>> with_typo("no word is long", Random(1))
    'no word is long'
    """
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word = words[int(rng.random() * len(words))]
    inner = word.start() + 1 + int(rng.random() * (len(word[0]) - 3))
    two = text[inner : inner + 2]
    changed = (two[::-1], two[0], two[0] + two)[int(rng.random() * 3)]
    return text[:inner] + changed + text[inner + 2 :]


def lengthened(text: str, rng: Random) -> str:
    """Put a text between many sentences of small talk, 60 to 240 words in all."""
    before, after = 4 + int(rng.random() * 16), 4 + int(rng.random() * 16)
    return f"{ramble(rng, before)} {text} {ramble(rng, after)}"
