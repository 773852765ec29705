"""Rankings and labels as they are given, paired by place or by name, and what cannot be refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from itertools import chain
from typing import Any, TypeVar, cast

from memeval.errors import FrameError

T = TypeVar("T")
Ids = Sequence[str]
Ranking = Sequence[str | None]
Groups = Sequence[str | Sequence[str]]
Lists = Sequence[Sequence[T]] | Mapping[str, Sequence[T]]
# What may stand among the ids besides texts: a hit that is no record, and any-of groups.
ALSO: Mapping[str, tuple[type, ...]] = {"rankings": (type(None),), "expected": (list, tuple)}


def probes_of(rankings: Lists[str | None], names: Sequence[str] | None) -> Sequence[str] | range:
    """Names of the probes; a range where they are only numbered, which costs nothing."""
    if isinstance(rankings, str | bytes) or not isinstance(rankings, Collection):
        raise FrameError(
            f"rankings: found a {type(rankings).__name__}, wanted a list with a ranking per probe"
        )
    if isinstance(rankings, Mapping):
        if names is not None:
            raise FrameError("names: found names beside a mapping that has its own; leave them out")
        return list(rankings)
    if names is None:
        return range(len(rankings))
    probes = list(names)
    if len(probes) != len(rankings) or len(set(probes)) != len(probes):
        raise FrameError(
            f"names: found {len(set(probes))} different names in {len(probes)}, wanted one of its "
            f"own for each of {len(rankings)} rankings; number them, or leave names out"
        )
    return probes


def by_probe(
    given: Lists[T], probes: Sequence[str] | range, by_name: bool, what: str
) -> list[Sequence[T]]:
    """What is given for each probe, in the order of the probes; `check` says whether it is fit."""
    if not isinstance(given, Collection):
        raise FrameError(f"{what}: found a {type(given).__name__}, wanted a list per ranking")
    if isinstance(given, Mapping):
        lists = _by_name(given, probes, what)
    elif by_name:
        raise FrameError(f"{what}: found a list beside a mapping of rankings; give a mapping too")
    else:
        lists = given if type(given) is list else list(given)
    if len(lists) != len(probes):
        raise FrameError(
            f"{what}: found {len(lists)} lists, wanted {len(probes)}, one per ranking; give an "
            "empty list where there is nothing"
        )
    return lists


def _by_name(
    given: Mapping[str, Sequence[T]], probes: Sequence[str] | range, what: str
) -> list[Sequence[T]]:
    names = list(map(str, probes)) if isinstance(probes, range) else probes
    odd = sorted(given.keys() ^ set(names))
    if odd:
        raise FrameError(
            f"{what}: probe {odd[0]!r} stands in one mapping only, wanted the probes of rankings; "
            "give an empty list where there is nothing, or leave the probe out of both"
        )
    return [given[probe] for probe in names]


def check(lists: list[Sequence[T]], probes: Sequence[str] | range, what: str) -> list[Sequence[T]]:
    """Every member as a list or tuple of texts (or what else may stand there), or an error."""
    if not set(map(type, lists)) <= {list, tuple}:
        lists = [_listed(ids, str(probe), what) for ids, probe in zip(lists, probes, strict=True)]
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


def opened(groups: list[Groups]) -> tuple[list[Ids], list[int] | None]:
    """The expected ids of each probe in one list, and the sizes of all groups.

    The sizes are None where every group is a single id.
    """
    if set(map(type, chain.from_iterable(groups))) <= {str}:
        return cast("list[Ids]", groups), None
    members = [[_members(group) for group in ids] for ids in groups]
    flat: list[Ids] = [list(chain.from_iterable(of_probe)) for of_probe in members]
    return flat, list(map(len, chain.from_iterable(members)))


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


def refuse_contradictions(
    wanted: list[Ids], unwanted: list[Ids], probes: Sequence[str] | range, what: str
) -> None:
    """Refuse an id that is both expected and unwanted."""
    for probe, ids, others in zip(probes, wanted, unwanted, strict=True):
        if others and not set(others).isdisjoint(ids):
            both = sorted(set(others).intersection(ids))
            raise FrameError(
                f"{what}: probe {str(probe)!r}: found {both}, which it also expects; keep one label"
            )
