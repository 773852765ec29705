"""Two answers held against each other, up to what a sound store may change.

Records of equal score may change places, also across the cut at k. A store that declares no order
of scores says nothing of ties, so of two different states of it only whole answers are compared,
as sets. Everything is compared by record, never by the store's own id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Order = Literal["high", "low"] | None
RELATIVE, ABSOLUTE = 1e-5, 1e-9


@dataclass(frozen=True, slots=True)
class Found:
    """One hit: the record it was recognised as, None for a stranger, with text and score."""

    record: str | None
    text: str
    score: float | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Names the record; a stranger is named by its text."""
        return ("stranger", self.text) if self.record is None else ("record", self.record)


@dataclass(frozen=True)
class Answer:
    """What came back to one query.

    Attributes
    ----------
    query : str
        As it was asked.
    k : int
        How many were asked for.
    found : tuple of Found
        Best first.
    order : {'high', 'low'} or None
        Which scores are better, as the store declares.
    """

    query: str
    k: int
    found: tuple[Found, ...]
    order: Order = None

    @cached_property
    def keys(self) -> list[tuple[str, str]]:
        """Names of the hits, best first."""
        return [one.key for one in self.found]

    @cached_property
    def by_key(self) -> Mapping[tuple[str, str], Found]:
        """The first hit of each record."""
        return {one.key: one for one in reversed(self.found)}

    @property
    def scored(self) -> bool:
        """Whether its scores say which records are tied."""
        return self.order is not None and all(_is_number(one.score) for one in self.found)

    def has(self, record: str) -> bool:
        """Whether a record is among the hits."""
        return ("record", record) in self.by_key

    def is_first(self, record: str) -> bool:
        """Whether a record is first, or has the score of the first."""
        found = self.by_key.get(("record", record))
        if found is None:
            return False
        return found.key == self.keys[0] or tied(found.score, self.found[0].score)

    def top(self, n: int) -> Answer:
        """The first n hits, as if so many had been asked for."""
        return Answer(self.query, n, self.found[:n], self.order)


@dataclass(frozen=True, slots=True)
class Rule:
    """How strictly two answers are compared.

    Attributes
    ----------
    same_state : bool
        Nothing was written between: without scores too, the order must be the same.
    scores_move : bool
        What was done may move scores (statistics, clocks); order is compared only where none did.
    texts : bool
        A record's text must be the same; not where the store rewrites.
    whole : bool
        As many were asked for as there are records.
    own_cut : bool
        What was done may turn ties round, and a store may cut below k by a limit of its own: ties
        at the end of an answer are free there too.
    """

    same_state: bool = False
    scores_move: bool = False
    texts: bool = True
    whole: bool = True
    own_cut: bool = False


def difference(before: Answer, after: Answer, rule: Rule) -> str | None:
    """Say what differs between two answers that should be the same; None where they are.

    Parameters
    ----------
    before, after : Answer
        Asked alike, with the same k.
    rule : Rule
        What may differ.

    Examples
    --------
    >>> one = Answer("tea?", 2, (Found("a", "x", 1.0), Found("b", "y", 0.5)), "high")
    >>> other = Answer("tea?", 2, (Found("a", "x", 1.0), Found("c", "z", 0.5)), "high")
    >>> difference(one, other, Rule()) is None  # equal scores at the cut
    True
    >>> difference(one, one.top(1), Rule())
    '2 records came back, then 1'
    """
    moved = rule.scores_move and _moved(before, after)
    scored = before.scored and after.scored and not moved
    if not (rule.whole or rule.same_state or scored):
        return None
    if len(before.found) != len(after.found):
        return f"{_records(len(before.found))} came back, then {len(after.found)}"
    ties = scored or rule.same_state
    if Counter(before.keys) != Counter(after.keys) and not (
        ties and _swapped_at_cut(before, after, scored and rule.own_cut)
    ):
        return "other records came back"
    if rule.texts and any(
        one.text != before.by_key[one.key].text for one in after.found if one.key in before.by_key
    ):
        return "a record came back with another text"
    if before.keys == after.keys:
        return None
    if scored:
        kept = _in_order(before, after) and _in_order(after, before)
        return None if kept else "the records came back in another order"
    if rule.same_state and not _same_up_to_equal(before, after):
        return "the records came back in another order"
    return None


def tied(one: float | None, other: float | None) -> bool:
    """Whether two scores are equal, but for rounding."""
    if one is None or other is None:
        return False
    return abs(one - other) <= RELATIVE * max(abs(one), abs(other)) + ABSOLUTE


def _is_number(score: float | None) -> bool:
    return score is not None and score == score


def _records(n: int) -> str:
    return f"{n} record{'' if n == 1 else 's'}"


def _moved(before: Answer, after: Answer) -> bool:
    return any(
        not tied(one.score, before.by_key[one.key].score)
        for one in after.found
        if one.key in before.by_key
    )


def _swapped_at_cut(before: Answer, after: Answer, own_cut: bool) -> bool:
    """Whether only records that tie with the last one went or came, both answers being cut."""
    if not (own_cut or len(before.found) >= min(before.k, after.k)):
        return False
    return _only_last(before, after) and _only_last(after, before)


def _only_last(whole: Answer, other: Answer) -> bool:
    there = set(other.keys)
    last = whole.found[-1].score
    return all(one.key in there or tied(one.score, last) for one in whole.found)


def _in_order(scores_of: Answer, listed: Answer) -> bool:
    """Whether an order is right by the scores of the other answer, ties being free."""
    sign = -1.0 if scores_of.order == "low" else 1.0
    least: float | None = None
    for one in listed.found:
        known = scores_of.by_key.get(one.key)
        if known is None or known.score is None:
            continue
        score = sign * known.score
        if least is not None and score > least and not tied(score, least):
            return False
        least = score if least is None else min(least, score)
    return True


def _same_up_to_equal(before: Answer, after: Answer) -> bool:
    """Whether two answers of one state agree place by place, equal scores being free."""
    return all(
        one.key == other.key or tied(one.score, before.by_key.get(other.key, one).score)
        for one, other in zip(before.found, after.found, strict=True)
    )
