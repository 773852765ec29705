"""What stands in the answers besides ranks: texts, the units they make, and canaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import pandas as pd

from memeval.neardup import near_duplicate_key
from memeval.scoring.blocks import spread
from memeval.scoring.measures import Bools, Floats, Ints, count
from memeval.scoring.ordered import Hits
from memeval.textcolumns import Objects, objects

__all__ = ["carrying_canary", "distinct_and_tokens", "n_records"]


def carrying_canary(hits: Hits) -> Ints:
    """Rows of the hits that carry a canary."""
    canary = _column(hits, "canary")
    return np.empty(0, dtype=np.int64) if canary is None else np.flatnonzero(_given(canary))


def n_records(hits: Hits, rows: Ints) -> Ints:
    """Distinct records per call among some hits; strangers by store id, else by place."""
    unit = _units([hits.record[rows], _at(hits, "store_id", rows)])
    return _n_distinct(hits.call[rows], unit, len(hits.n))


def distinct_and_tokens(
    hits: Hits, ok: Bools, count_tokens: Callable[[str], int]
) -> tuple[Floats, Floats]:
    """Share of distinct units, and tokens, in the top k of each call; NaN where not known.

    Parameters
    ----------
    hits : Hits
        What was returned.
    ok : ndarray of bool
        Whether the search of each call succeeded.
    count_tokens : callable
        From a text to its number of tokens.

    Returns
    -------
    distinct, tokens : ndarray of float64
        A place per call. ``distinct`` is NaN for an empty top k, and where a hit has neither unit
        nor text (an empty text is one); ``tokens`` is NaN where a text is NA or empty, and where
        the search failed.
    """
    if _column(hits, "text") is None and _column(hits, "unit") is None:
        unread = np.full(len(hits.n), np.nan)
        return unread, np.where(ok & (hits.n_top == 0), 0.0, np.nan)
    rows = spread(hits.start, hits.n_top)
    code, words = _factorized(_at(hits, "text", rows), len(rows))
    call = np.repeat(np.arange(len(hits.n)), hits.n_top)
    return _distinct(hits, rows, call, code, words), _tokens(call, code, words, ok, count_tokens)


def _factorized(texts: Objects | None, n: int) -> tuple[Ints, list[str]]:
    """Number of each text, -1 where it is NA, and the texts by number."""
    if texts is None:
        return np.full(n, -1, dtype=np.int64), []
    code, words = pd.factorize(texts)
    return code.astype(np.int64), cast("list[str]", words.tolist())


def _distinct(hits: Hits, rows: Ints, call: Ints, code: Ints, words: list[str]) -> Floats:
    labels, n = _at(hits, "unit", rows), len(hits.n)
    labelled = np.zeros(len(rows), dtype=np.bool_) if labels is None else _given(labels)
    worded = np.array([word != "" for word in words] + [False])[code]
    named = None if labels is None else np.where(labelled, labels, np.nan)
    similar = _similar(np.where(worded & ~labelled, code, -1), words)
    unit = _units([named, similar, hits.record[rows], _at(hits, "store_id", rows)])
    n_units, unread = _n_distinct(call, unit, n), count(call[(code < 0) & ~labelled], n)
    defined = (hits.n_top > 0) & (unread == 0)
    return np.where(defined, n_units / np.maximum(hits.n_top, 1), np.nan)


def _tokens(
    call: Ints, code: Ints, words: list[str], ok: Bools, count_tokens: Callable[[str], int]
) -> Floats:
    tokens = np.array([*map(count_tokens, words), 0], dtype=np.float64)[code]
    worded = np.array([word != "" for word in words] + [False])[code]
    total = np.bincount(call, weights=tokens, minlength=len(ok))
    return np.where(ok & (count(call[~worded], len(ok)) == 0), total, np.nan)


def _similar(code: Ints, words: list[str]) -> Ints:
    """Number that near-duplicate texts share; -1 stays."""
    seen: dict[tuple[object, ...], int] = {}
    unit = np.full(len(words) + 1, -1, dtype=np.int64)
    for number in np.unique(code[code >= 0]).tolist():
        unit[number] = seen.setdefault(near_duplicate_key(words[number]), len(seen))
    return unit[code]


def _units(names: list[Objects | Ints | None]) -> Ints:
    """Number each row by the first of its names that is there; a row without is one by itself.

    Names are objects, NA where there is none, or numbers, -1 where there is none.
    """
    n = max(len(name) for name in names if name is not None)
    unit, used = np.full(n, -1, dtype=np.int64), n
    for name in names:
        rest = np.flatnonzero(unit < 0)
        if name is not None and len(rest):
            code = name[rest] if name.dtype == np.int64 else pd.factorize(name[rest])[0]
            unit[rest] = np.where(code < 0, -1, used + code)
            used += int(code.max(initial=-1)) + 1
    return np.where(unit < 0, np.arange(n), unit)


def _n_distinct(call: Ints, unit: Ints, n: int) -> Ints:
    width = int(unit.max(initial=0)) + 1
    return count(np.unique(call * width + unit) // width, n)


def _given(values: Objects) -> Bools:
    """Where a text is neither NA nor empty."""
    return np.asarray((values == values) & (values != ""), dtype=np.bool_)


def _at(hits: Hits, name: str, rows: Ints) -> Objects | None:
    values = _column(hits, name)
    return None if values is None else values[rows]


def _column(hits: Hits, name: str) -> Objects | None:
    return objects(hits.columns[name]) if name in hits.columns else None
