"""What comes of a question to a store, in words."""

from __future__ import annotations

from dataclasses import dataclass


class Unsupported(Exception):
    """The store has not what the question is about; the message says why it was not asked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a question.

    Attributes
    ----------
    status : {'ok', 'finding', 'broken'}
        Broken: other than declared, or than any store owes its caller.
    words : str
        What was found.
    declared, evidence, next_step : str
        What the store says of itself, what was seen, and what to do; may be empty.
    """

    status: str
    words: str
    declared: str = ""
    evidence: str = ""
    next_step: str = ""
