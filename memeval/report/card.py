"""The card: a small result, ready to be set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """What a small result comes to; texts in it may still hold anything.

    Attributes
    ----------
    title, word : str
        What it is, and what it comes to.
    good : bool or None
        Whether that is good news; None where it is neither.
    sentence, next_step : str
        The same in a sentence, and what to do; may be empty.
    lines : sequence of (str, str)
        What else is known: a label and its words.
    heads, sides, rows : sequence
        A table: names of the columns, ``r`` for a column of numbers and ``l`` for words, cells.
    more : str
        What the table does not show, and where it stands.
    """

    title: str
    word: str
    good: bool | None = None
    sentence: str = ""
    next_step: str = ""
    lines: Sequence[tuple[str, str]] = ()
    heads: Sequence[str] = ()
    sides: str = ""
    rows: Sequence[Sequence[str]] = ()
    more: str = ""
