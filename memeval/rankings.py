"""Rankings in plain lists, scored without building a frame of hits first.

For re-scoring what another system returned, for sweeps over k, and for many thousand probes. The
numbers are those of `memeval.metrics.score`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from itertools import chain
from numbers import Integral
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from memeval import measures
from memeval.errors import FrameError
from memeval.frames import RESULTS, conform
from memeval.measures import Answers, Floats, Ints

__all__ = ["score_rankings"]

T = TypeVar("T")
MOST_K = 2**31 - 1
# What may stand among the ids besides texts: a hit that is no record, and any-of groups.
ALSO: Mapping[str, tuple[type, ...]] = {"rankings": (type(None),), "expected": (list, tuple)}
Ids = Sequence[str]
Ranking = Sequence[str | None]
Groups = Sequence[str | Sequence[str]]


def score_rankings(
    rankings: Sequence[Ranking] | Mapping[str, Ranking],
    expected: Sequence[Groups] | Mapping[str, Groups],
    *,
    k: int = 5,
    forbidden: Sequence[Ids] | Mapping[str, Ids] | None = None,
    stale: Sequence[Ids] | Mapping[str, Ids] | None = None,
    names: Sequence[str] | None = None,
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
        or both expected and forbidden or stale.

    Notes
    -----
    Mappings are paired by name; ranx pairs plain dicts by position. The expected ids are put
    behind the returned ones and looked for in that list: always found, and a place past the
    returned ones is a miss. This needs no hash of any id, and the first of several places counts.

    Examples
    --------
    >>> found = score_rankings([["r3", "r1"], ["r9"]], [["r1"], []])
    >>> found[["probe", "kind", "recall_all", "rr", "abstained"]]
      probe      kind  recall_all   rr  abstained
    0     0  positive        True  0.5       <NA>
    1     1  negative        <NA>  NaN      False
    """
    if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= MOST_K:
        raise FrameError(f"k is {k!r:.40}, wanted a whole number from 1; give the cutoff")
    probes = _probes(rankings, names)
    by_name = isinstance(rankings, Mapping)
    returned = _lists(rankings, probes, by_name, "rankings")
    groups = _lists(expected, probes, by_name, "expected")
    barred = _lists(forbidden, probes, by_name, "forbidden")
    outdated = _lists(stale, probes, by_name, "stale")
    wanted = _flat(groups, probes)
    for unwanted, what in ((barred, "forbidden"), (outdated, "stale")):
        _refuse_contradictions(wanted, unwanted, probes, what)
    cut = bool((_lengths(returned) > k).any())
    top = [ranking[:k] for ranking in returned] if cut else returned
    unknown = np.array([ranking.count(None) for ranking in returned], dtype=np.int64)
    answers = _answers(returned, top, groups, wanted, barred, k)
    return conform(
        pd.DataFrame(
            measures.columns(answers)
            | {
                "probe": probes,
                "status": "ok",
                "n_stale": _n_stale(top, outdated),
                "n_unknown": unknown,
                "distinct": _distinct(top, bool(unknown.any())),
                "context_tokens": np.where(answers.n_returned > 0, np.nan, 0.0),
                "passed": answers.passed,
            }
        ),
        RESULTS,
    )


def _probes(
    rankings: Sequence[Ranking] | Mapping[str, Ranking], names: Sequence[str] | None
) -> list[str]:
    if isinstance(rankings, str | bytes) or not isinstance(rankings, Collection):
        raise FrameError(
            f"rankings: found a {type(rankings).__name__}, wanted a list with a ranking per probe"
        )
    if isinstance(rankings, Mapping):
        if names is not None:
            raise FrameError("names: found names beside a mapping that has its own; leave them out")
        return list(rankings)
    probes = [str(at) for at in range(len(rankings))] if names is None else list(names)
    if len(probes) != len(rankings) or len(set(probes)) != len(probes):
        raise FrameError(
            f"names: found {len(set(probes))} different names in {len(probes)}, wanted one of its "
            f"own for each of {len(rankings)} rankings; number them, or leave names out"
        )
    return probes


def _lists(
    given: Sequence[Sequence[T]] | Mapping[str, Sequence[T]] | None,
    probes: list[str],
    by_name: bool,
    what: str,
) -> list[Sequence[T]]:
    """One sequence per probe, in the order of the probes."""
    if given is None:
        return [()] * len(probes)
    if not isinstance(given, Collection):
        raise FrameError(f"{what}: found a {type(given).__name__}, wanted a list per ranking")
    if isinstance(given, Mapping):
        lists = _by_name(given, probes, what)
    elif by_name:
        raise FrameError(f"{what}: found a list beside a mapping of rankings; give a mapping too")
    else:
        lists = list(given)
    if len(lists) != len(probes):
        raise FrameError(
            f"{what}: found {len(lists)} lists, wanted {len(probes)}, one per ranking; give an "
            "empty list where there is nothing"
        )
    if not set(map(type, lists)) <= {list, tuple}:
        lists = [_listed(ids, probe, what) for ids, probe in zip(lists, probes, strict=True)]
    kinds = set(map(type, chain.from_iterable(lists)))
    odd = [kind.__name__ for kind in kinds if not issubclass(kind, (str, *ALSO.get(what, ())))]
    if odd:
        said = ", ".join(sorted(odd))
        raise FrameError(f"{what}: found ids of the type {said}, wanted texts; give str(id)")
    return lists


def _listed(ids: Any, probe: str, what: str) -> list[Any]:
    """Any ordered collection as a list; a set has no first, and a text is no list."""
    if isinstance(ids, str | bytes | Mapping | Set) or not isinstance(ids, Collection):
        raise FrameError(
            f"{what}: probe {probe!r}: found {'the text ' * isinstance(ids, str)}{ids!r:.60}, "
            "wanted a list of ids; wrap it in a list, or sort it into one"
        )
    return list(ids)


def _by_name(given: Mapping[str, Sequence[T]], probes: list[str], what: str) -> list[Sequence[T]]:
    odd = sorted(given.keys() ^ set(probes))
    if odd:
        raise FrameError(
            f"{what}: probe {odd[0]!r} stands in one mapping only, wanted the probes of rankings; "
            "give an empty list where there is nothing, or leave the probe out of both"
        )
    return [given[probe] for probe in probes]


def _flat(groups: list[Groups], probes: list[str]) -> list[Ids]:
    """Open the groups: the expected ids of each probe in one list."""
    flat = cast("list[Ids]", groups)
    if not _are_plain(groups):
        flat = [[record for group in ids for record in _members(group)] for ids in groups]
    twice = _lengths(flat) > _n_different(flat)
    if twice.any():
        at = int(np.argmax(twice))
        raise FrameError(
            f"expected: probe {probes[at]!r} names an id twice in {list(flat[at])}; name it once"
        )
    return flat


def _are_plain(groups: list[Groups]) -> bool:
    """Whether every group is a single id."""
    return set(map(type, chain.from_iterable(groups))) <= {str}


def _members(group: str | Ids) -> Ids:
    if isinstance(group, str):
        return (group,)
    if not group:
        raise FrameError("expected: found an any-of group without ids; name one, or leave it out")
    if not all(isinstance(record, str) for record in group):
        raise FrameError(
            f"expected: found the any-of group {list(group)!r:.60}, wanted texts in it"
        )
    return group


def _refuse_contradictions(
    wanted: list[Ids], unwanted: list[Ids], probes: list[str], what: str
) -> None:
    if not any(unwanted):
        return
    for probe, ids, others in zip(probes, wanted, unwanted, strict=True):
        if others and not set(others).isdisjoint(ids):
            both = sorted(set(others).intersection(ids))
            raise FrameError(
                f"{what}: probe {probe!r}: found {both}, which it also expects; keep one label"
            )


def _answers(
    returned: list[Ranking],
    top: list[Ranking],
    groups: list[Groups],
    wanted: list[Ids],
    barred: list[Ids],
    k: int,
) -> Answers:
    n = len(returned)
    owner = np.repeat(np.arange(n), _lengths(wanted))
    place = _places(top, wanted)
    met = place < _lengths(top)[owner]
    starts = _group_starts(groups)
    missed = np.iinfo(np.int64).max
    best = np.where(met, place, missed)
    if len(starts) < len(best):
        best = np.minimum.reduceat(best, starts)
    found = best < missed
    n_met, first_rank, dcg = measures.gains(owner[starts][found], best[found] + 1, n)
    return Answers(
        k=np.full(n, k, dtype=np.int64),
        asked=np.ones(n, dtype=np.bool_),
        ok=np.ones(n, dtype=np.bool_),
        n_expected=_lengths(groups),
        n_met=n_met,
        n_relevant=measures.count(owner[met], n),
        first_rank=first_rank,
        dcg=dcg,
        n_returned=_lengths(returned),
        n_leaked=_n_leaked(returned, barred),
        n_contract=np.zeros(n, dtype=np.int64),
    )


def _places(top: list[Ranking], wanted: list[Ids]) -> Ints:
    """First place, from 0, of each expected id in its ranking; past its end when missed."""
    places = [
        behind.index(record)
        for ranking, ids in zip(top, wanted, strict=True)
        for behind in ([*ranking, *ids],)
        for record in ids
    ]
    return np.array(places, dtype=np.int64)


def _group_starts(groups: list[Groups]) -> Ints:
    """Where each group begins among all expected ids."""
    if _are_plain(groups):
        return np.arange(_lengths(groups).sum(), dtype=np.int64)
    sizes = [1 if isinstance(group, str) else len(group) for ids in groups for group in ids]
    return np.cumsum([0, *sizes[:-1]], dtype=np.int64)[: len(sizes)]


def _n_leaked(returned: list[Ranking], barred: list[Ids]) -> Ints:
    if not any(barred):
        return np.zeros(len(returned), dtype=np.int64)
    pairs = zip(returned, barred, strict=True)
    leaked = [len(set(ids).intersection(ranking)) if ids else 0 for ranking, ids in pairs]
    return np.array(leaked, dtype=np.int64)


def _n_stale(top: list[Ranking], outdated: list[Ids]) -> Ints:
    if not any(outdated):
        return np.zeros(len(top), dtype=np.int64)
    pairs = zip(top, outdated, strict=True)
    stale = [sum(map(ranking.count, set(ids))) if ids else 0 for ranking, ids in pairs]
    return np.array(stale, dtype=np.int64)


def _distinct(top: list[Ranking], has_unknown: bool) -> Floats:
    """Share of distinct ids; every hit that is no record is a unit of its own."""
    length, units = _lengths(top), _n_different(top)
    if has_unknown:
        units = units + np.array([max(ranking.count(None) - 1, 0) for ranking in top])
    return np.where(length > 0, units / np.maximum(length, 1), np.nan)


def _n_different(lists: Sequence[Sequence[object]]) -> Ints:
    return np.fromiter(map(len, map(set, lists)), dtype=np.int64, count=len(lists))


def _lengths(lists: Sequence[Sequence[object]]) -> Ints:
    return np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
