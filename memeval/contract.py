"""Checks that need no expected answer: what any store owes its caller.

Pure functions over plain values. A record of another scope is a leak, not a breach.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

__all__ = ["CODES", "breaches", "describe", "key"]

CODES: Mapping[str, str] = {
    "length": (
        "more hits than k came back; let the store, or the adapter before it, cut its answer at k"
    ),
    "ids": "one id came back twice in one answer; let the store return each record once",
    "unknown": (
        "a hit came back that nobody wrote; return the id that was written or the one that put "
        "gave, start from an empty store, or declare rewrites if the store makes records itself"
    ),
    "text": (
        "a text came back that differs from what was written; return texts unchanged, or declare "
        "rewrites if the store rewrites them on purpose"
    ),
    "scores": (
        "scores do not stand in the declared order; sort the hits by score, or mend score_order "
        "(None if scores do not rank)"
    ),
    "repeat": (
        "the same query twice gave another answer, though the store declares itself "
        "deterministic; find the source of chance, or declare deterministic=False"
    ),
}


def breaches(
    *,
    store_ids: Sequence[str | None],
    record_ids: Sequence[str | None],
    texts: Sequence[str],
    written: Mapping[str, str],
    scores: Sequence[float | None],
    k: int,
    score_order: Literal["high", "low"] | None = None,
    rewrites: bool = False,
    repeated: Sequence[str | None] | None = None,
) -> tuple[str, ...]:
    """Say which checks one answer breaks.

    Parameters
    ----------
    store_ids, record_ids, texts, scores : sequence
        The answer, a place per hit, best first: the store's own id or None, the record it was
        recognised as or None, the text (empty where the store returns none), the score or None.
    written : mapping of str to str
        For each record the text that was written last.
    k : int
        How many hits were asked for.
    score_order : {'high', 'low'} or None
        Which scores are better, as declared; None where scores say nothing.
    rewrites : bool
        Whether the store declares that it changes texts or makes records of its own.
    repeated : sequence of str or None, optional
        `key` of each hit of a second answer to the same query; None where it was not asked, or
        the store does not declare itself deterministic.

    Returns
    -------
    tuple of str
        Codes of the broken checks in the order of `CODES`; `describe` says what they mean.

    Raises
    ------
    ValueError
        If the sequences are not of one length, or `score_order` is no order.

    Notes
    -----
    A store that rewrites is held to neither ``unknown`` nor ``text``. Missing and NaN scores are
    passed over; equal scores are in order. Texts are compared exactly.

    Examples
    --------
    >>> breaches(
    ...     store_ids=["m1", "m1"], record_ids=["r1", "r1"], texts=["Tea.", "Tea!"],
    ...     written={"r1": "Tea."}, scores=[0.5, 0.9], k=5, score_order="high",
    ... )
    ('ids', 'text', 'scores')
    """
    _check(store_ids, record_ids, texts, scores, score_order)
    answer = [key(store_id, text) for store_id, text in zip(store_ids, texts, strict=True)]
    broken = {
        "length": len(store_ids) > k,
        "ids": _has_twice(i for i in store_ids if i is not None),
        "unknown": not rewrites and None in record_ids,
        "text": not rewrites and any(_changed(record_ids, texts, written)),
        "scores": score_order is not None and not _ordered(scores, score_order),
        "repeat": repeated is not None and answer != list(repeated),
    }
    return tuple(code for code in CODES if broken[code])


def key(store_id: str | None, text: str) -> str:
    """Name a hit in the repeat check: by its id, or by its text where it has none."""
    return text if store_id is None else store_id


def describe(code: str) -> str:
    """Say what a code means and what to do about it.

    Parameters
    ----------
    code : str
        A code from `breaches`.

    Raises
    ------
    ValueError
        If there is no such code.

    Examples
    --------
    >>> describe("ids")
    'one id came back twice in one answer; let the store return each record once'
    """
    if code not in CODES:
        near = difflib.get_close_matches(code, CODES, 1, 0.0)[0]
        raise ValueError(
            f"contract code {code!r} is not known, wanted one of {list(CODES)}; "
            f"did you mean {near!r}?"
        )
    return CODES[code]


def _check(
    store_ids: Sequence[object],
    record_ids: Sequence[object],
    texts: Sequence[object],
    scores: Sequence[object],
    score_order: str | None,
) -> None:
    lengths = [len(store_ids), len(record_ids), len(texts), len(scores)]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"store_ids, record_ids, texts and scores have the lengths {lengths}, wanted one "
            "place per hit in each; use None, or an empty text, where there is nothing"
        )
    if score_order not in (None, "high", "low"):
        raise ValueError(f"score_order is {score_order!r}, wanted 'high', 'low' or None")


def _has_twice(ids: Iterable[str]) -> bool:
    seen = list(ids)
    return len(set(seen)) < len(seen)


def _changed(
    record_ids: Sequence[str | None], texts: Sequence[str], written: Mapping[str, str]
) -> Iterator[bool]:
    """For each hit that shows the text of a record known to be written: whether it differs."""
    for record_id, text in zip(record_ids, texts, strict=True):
        if record_id is not None and record_id in written and text:
            yield text != written[record_id]


def _ordered(scores: Sequence[float | None], score_order: Literal["high", "low"]) -> bool:
    sign = 1.0 if score_order == "high" else -1.0
    told = [sign * score for score in scores if score is not None and not math.isnan(score)]
    return all(better >= worse for better, worse in zip(told, told[1:], strict=False))
