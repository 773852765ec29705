r"""Words cut into the pieces that a BERT model knows, by plain Python.

The rule is that of the uncased BERT tokenizer (https://github.com/google-research/bert,
``tokenization.py``): control characters go, Chinese characters stand alone, case and accents go,
punctuation stands alone, and each word is cut from its beginning into the longest pieces known.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

MOST_CHARACTERS = 100  # A longer word is unknown as a whole.
KEPT_WORDS = 16384

_CHINESE = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b820-\U0002ceaf\U0002f800-\U0002fa1f]"
)
_ASCII_PARTS = re.compile(r"[A-Za-z0-9]+|[!-/:-@\[-`{-~]")


class WordPiece:
    """Cuts texts into pieces and gives their numbers.

    Parameters
    ----------
    numbers : mapping of str to int
        Every piece and its number; one that goes on within a word begins with ``##``.
    unknown : str
        The piece that stands for a word that cannot be cut.

    Examples
    --------
    >>> WordPiece({"[UNK]": 0, "kiosk": 1, "##s": 2, ",": 3}).pieces("Kiosks, QR")
    [1, 2, 3, 0]
    """

    def __init__(self, numbers: Mapping[str, int], unknown: str = "[UNK]") -> None:
        self.numbers = numbers
        self._unknown = numbers[unknown]
        self._longest = max(map(len, numbers))
        self._cut = lru_cache(maxsize=KEPT_WORDS)(self._pieces_of_word)

    def pieces(self, text: str) -> list[int]:
        """Numbers of the pieces of a text, in order, without marks for its beginning and end."""
        return [number for word in split(text) for number in self._cut(word)]

    def _pieces_of_word(self, word: str) -> tuple[int, ...]:
        if len(word) > MOST_CHARACTERS:
            return (self._unknown,)
        found: list[int] = []
        start = 0
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in self.numbers:
                    found.append(self.numbers[piece])
                    break
            else:
                return (self._unknown,)
            start = end
        return tuple(found)


def split(text: str) -> list[str]:
    r"""Words and marks of a text, folded as the model's vocabulary is.

    Examples
    --------
    >>> split("Caf\u00e9 No. 7 \u6728\u7bb1")
    ['cafe', 'no', '.', '7', '木', '箱']
    """
    if text.isascii() and text.isprintable():
        return _ASCII_PARTS.findall(text.lower())
    kept = "".join(_kept(char) for char in text)
    spaced = _CHINESE.sub(r" \g<0> ", kept)
    parts = unicodedata.normalize("NFD", spaced)
    lowered = "".join(char for char in parts if unicodedata.category(char) != "Mn").lower()
    marked = "".join(f" {char} " if _is_mark(char) else char for char in lowered)
    return marked.split()


@lru_cache(maxsize=4096)
def _kept(char: str) -> str:
    """A character, a space for any white space, nothing for what shows nothing."""
    if char in "\t\n\r":
        return " "
    if char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co"):
        return ""
    return " " if char.isspace() else char


@lru_cache(maxsize=4096)
def _is_mark(char: str) -> bool:
    ascii_mark = char.isascii() and char.isprintable() and not char.isalnum() and char != " "
    return ascii_mark or unicodedata.category(char).startswith("P")
