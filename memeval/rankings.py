"""Rankings in plain lists, scored without building a frame of hits first.

For re-scoring what another system returned, for sweeps over k, and for many thousand probes. The
numbers are those of `memeval.metrics.score`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from memeval.errors import FrameError
from memeval.frames import RESULTS, STATUSES
from memeval.ranks import Ranks, checked_k, chosen, named
from memeval.scoring import measures
from memeval.scoring.measures import Answers, Floats, Ints
from memeval.scoring.pairing import (
    Groups,
    Ids,
    Ranking,
    by_probe,
    check,
    opened,
    probes_of,
    refuse_contradictions,
)
from memeval.scoring.places import Places, find_places

__all__ = ["rank_expected", "score_rankings"]

NAMES = tuple(column.name for column in RESULTS)
STATUS = pd.CategoricalDtype(list(STATUSES))


def score_rankings(
    rankings: Sequence[Ranking] | Mapping[str, Ranking],
    expected: Sequence[Groups] | Mapping[str, Groups],
    *,
    k: int = 5,
    forbidden: Sequence[Ids] | Mapping[str, Ids] | None = None,
    stale: Sequence[Ids] | Mapping[str, Ids] | None = None,
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Score rankings that are lists of record ids.

    Parameters
    ----------
    rankings : sequence or mapping of sequence of str
        What was returned, best first, a list per probe; None stands for a hit that is no record.
    expected : sequence or mapping of sequence
        What should be found: ids, or nested sequences of ids of which any one will do. Empty for
        a negative probe.
    k : int
        Cutoff of all probes.
    forbidden, stale : sequence or mapping of sequence of str, optional
        Ids that are a leak anywhere in the answer, and ids that are outdated.
    names : sequence of str, optional
        Names of the probes, where `rankings` is a sequence; their numbers from 0 unless given.
    columns : sequence of str, optional
        Columns that are wanted, in this order; what only others need is not worked out. All
        unless given.

    Returns
    -------
    pandas.DataFrame
        A row per probe in the order of `rankings`, columns as from `memeval.metrics.score`, on
        which see the definitions. Every status is ok; ``distinct`` is over distinct ids, since
        there are no texts; ``chance``, ``latency_ms`` and (except for empty answers)
        ``context_tokens`` are NA.

    Raises
    ------
    FrameError
        If the arguments are of different lengths or name different probes, a string stands where
        a list of ids belongs, k is below 1, an any-of group is empty, or an id is expected twice,
        or both expected and forbidden or stale, or a column is not known.

    See Also
    --------
    rank_expected : the same ids scored at many cutoffs.

    Notes
    -----
    Mappings are paired by name; ranx pairs plain dicts by position. No id is hashed, except for
    ``distinct``, which is most of the time of a full frame: name the `columns` where time counts.

    Examples
    --------
    >>> found = score_rankings([["r3", "r1"], ["r9"]], [["r1"], []])
    >>> found[["probe", "kind", "recall_all", "rr", "abstained"]]
      probe      kind  recall_all   rr  abstained
    0     0  positive        True  0.5       <NA>
    1     1  negative        <NA>  NaN      False
    >>> score_rankings([["r3", "r1"]], [["r1"]], k=1, columns=["recall_any", "precision"])
       recall_any  precision
    0       False        0.0
    """
    k, wanted = checked_k(k), chosen(columns, NAMES)
    probes = probes_of(rankings, names)
    by_name = isinstance(rankings, Mapping)
    found = _found(rankings, expected, probes, k, different="distinct" in wanted)
    unwanted = [
        _unwanted(given, found, by_name, what)
        for given, what in ((forbidden, "forbidden"), (stale, "stale"))
    ]
    answers = found.ranks.answers(k)
    if any(unwanted[0]):
        answers = replace(answers, n_leaked=_n_leaked(found.returned, unwanted[0]))
    made = measures.columns(answers, wanted)
    for name in wanted:
        if name not in made:
            made[name] = OWN[name](found, answers, unwanted[1])
    index = pd.RangeIndex(len(probes))
    return pd.DataFrame({name: made[name] for name in wanted}, index=index, copy=False)


def rank_expected(
    rankings: Sequence[Ranking] | Mapping[str, Ranking],
    expected: Sequence[Groups] | Mapping[str, Groups],
    *,
    scores: Sequence[Sequence[float]] | Mapping[str, Sequence[float]] | None = None,
    names: Sequence[str] | None = None,
) -> Ranks:
    """Find the ranks of what is expected, to be scored at many cutoffs.

    Parameters
    ----------
    rankings, expected, names
        As for `score_rankings`.
    scores : sequence or mapping of sequence of float, optional
        Score of every hit, larger is better, for scoring with a floor: turn the signs where low
        ones are better. Along a ranking they may not rise.

    Returns
    -------
    Ranks
        Whose method ``score(k, columns=..., floor=...)`` gives a frame for any cutoff.

    Raises
    ------
    FrameError
        As `score_rankings`; or if the scores are not one number per hit, or rise along a ranking.

    Examples
    --------
    >>> ranks = rank_expected([["r3", "r1"], ["r2"]], [["r1"], ["r2"]])
    >>> [float(ranks.score(k)["recall_all"].mean()) for k in (1, 2)]
    [0.5, 1.0]
    """
    probes = probes_of(rankings, names)
    found = _found(rankings, expected, probes, sys.maxsize, different=False)
    if scores is None:
        return found.ranks
    listed = by_probe(scores, probes, isinstance(rankings, Mapping), "scores")
    return replace(found.ranks, scores=_checked_scores(listed, found.ranks))


@dataclass(frozen=True)
class _Found:
    """Checked lists, and where the expected ids stand in them."""

    returned: list[Ranking]
    wanted: list[Ids]
    places: Places
    ranks: Ranks
    plain: bool


def _found(
    rankings: Sequence[Ranking] | Mapping[str, Ranking],
    expected: Sequence[Groups] | Mapping[str, Groups],
    probes: Sequence[str] | range,
    k: int,
    *,
    different: bool,
) -> _Found:
    by_name = isinstance(rankings, Mapping)
    returned = by_probe(rankings, probes, by_name, "rankings")
    groups = by_probe(expected, probes, by_name, "expected")
    sizes: list[int] | None = None
    plain = True
    wanted: list[Any] = groups
    try:
        places = find_places(returned, wanted, k, different=different)
    except TypeError:  # groups, tuples, None or what is wrong: looked at one by one
        plain = False
        returned = check(returned, probes, "rankings")
        wanted, sizes = opened(check(groups, probes, "expected"))
        places = find_places(returned, wanted, k, trusted=True, different=different)
    if places.twice >= 0:
        probe, ids = str(probes[places.twice]), list(wanted[places.twice])
        raise FrameError(f"expected: probe {probe!r} names an id twice in {ids}; name it once")
    n_expected, rank = places.n_wanted, places.rank
    if sizes is not None:
        n_expected = np.array(list(map(len, groups)), dtype=np.int64)
        rank = _best_of_groups(rank, sizes)
    ranks = Ranks(probes, places.n_returned, n_expected, rank, places.n_wanted, places.rank)
    return _Found(returned, wanted, places, ranks, plain)


def _best_of_groups(rank: Ints, sizes: list[int]) -> Ints:
    """Best rank of each group of expected ids; 0 where all are missed."""
    missed = np.iinfo(np.int64).max
    starts = np.cumsum([0, *sizes[:-1]], dtype=np.int64)
    best = np.minimum.reduceat(np.where(rank > 0, rank, missed), starts)
    return np.where(best < missed, best, 0)


def _unwanted(
    given: Sequence[Ids] | Mapping[str, Ids] | None, found: _Found, by_name: bool, what: str
) -> list[Ids]:
    """Forbidden or stale ids of each probe, checked; an empty list where none are given."""
    if given is None:
        return []
    probes = found.ranks.probes
    lists = check(by_probe(given, probes, by_name, what), probes, what)
    refuse_contradictions(found.wanted, lists, probes, what)
    return lists


def _checked_scores(lists: list[Sequence[float]], ranks: Ranks) -> Floats:
    probes = ranks.probes
    try:
        n = np.array(list(map(len, lists)), dtype=np.int64)
        scores = np.fromiter(chain.from_iterable(lists), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise FrameError(f"scores: {error}; wanted a list of numbers per ranking") from error
    if (n != ranks.n_returned).any():
        at = int(np.argmax(n != ranks.n_returned))
        raise FrameError(
            f"scores: probe {str(probes[at])!r}: found {n[at]} scores, wanted one for each of "
            f"{ranks.n_returned[at]} hits"
        )
    owner = np.repeat(np.arange(len(n)), n)
    odd = np.isnan(scores)
    odd[1:] |= (owner[1:] == owner[:-1]) & (scores[1:] > scores[:-1])
    if odd.any():
        raise FrameError(
            f"scores: probe {str(probes[owner[np.argmax(odd)]])!r}: found NaN, or a score above "
            "the one before it, wanted numbers that never rise; turn the signs where low is "
            "better, or use threshold_curve"
        )
    return scores


def _n_leaked(returned: list[Ranking], barred: list[Ids]) -> Ints:
    pairs = zip(returned, barred, strict=True)
    leaked = [len(set(ids).intersection(ranking)) if ids else 0 for ranking, ids in pairs]
    return np.array(leaked, dtype=np.int64)


def _n_stale(found: _Found, answers: Answers, stale: list[Ids]) -> Ints:
    if not any(stale):
        return np.zeros(len(found.returned), dtype=np.int64)
    pairs = zip(found.returned, stale, answers.k.tolist(), strict=True)
    counts = [sum(map(ids[:k].count, set(old))) if old else 0 for ids, old, k in pairs]
    return np.array(counts, dtype=np.int64)


def _n_unknown(found: _Found, answers: Answers, stale: list[Ids]) -> Ints:
    if found.plain:
        return np.zeros(len(found.returned), dtype=np.int64)
    return np.array([ranking.count(None) for ranking in found.returned], dtype=np.int64)


def _distinct(found: _Found, answers: Answers, stale: list[Ids]) -> Floats:
    """Share of distinct ids; every hit that is no record is a unit of its own."""
    length = np.minimum(answers.n_returned, answers.k)
    units = found.places.n_different
    if not found.plain:
        tops = zip(found.returned, answers.k.tolist(), strict=True)
        units = units + np.array([max(ids[:k].count(None) - 1, 0) for ids, k in tops], np.int64)
    return np.where(length > 0, units / np.maximum(length, 1), np.nan)


def _all(value: float) -> Callable[[_Found, Answers, list[Ids]], Floats]:
    return lambda found, answers, stale: np.full(len(found.returned), value)


# What does not follow from the ranks: from the lists, the answers and the stale ids.
OWN: Mapping[str, Callable[[_Found, Answers, list[Ids]], Any]] = {
    "probe": lambda found, answers, stale: named(found.ranks.probes),
    "status": lambda found, answers, stale: pd.Categorical.from_codes(
        np.zeros(len(found.returned), dtype=np.int8), dtype=STATUS
    ),
    "n_stale": _n_stale,
    "n_unknown": _n_unknown,
    "distinct": _distinct,
    "chance": _all(np.nan),
    "context_tokens": lambda found, answers, stale: np.where(answers.n_returned > 0, np.nan, 0.0),
    "latency_ms": _all(np.nan),
    "flaky": lambda found, answers, stale: np.zeros(len(found.returned), dtype=np.bool_),
    "passed": lambda found, answers, stale: pd.arrays.BooleanArray(
        answers.passed, np.zeros(len(found.returned), dtype=np.bool_)
    ),
}
