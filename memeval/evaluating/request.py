"""The body of an evaluation call, read strictly: every fault is told by the field it stands in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from memeval.checks.kinds import is_blank, nearest, shown
from memeval.errors import Fault, RequestError
from memeval.text import visible
from memeval.words import clean

__all__ = ["MOST_CASES", "MOST_K", "Case", "Request", "parse_json", "read_request"]

MOST_CASES = 200
MOST_K = 100
MOST_IDS = 1_000
LONGEST_QUERY = 10_000
LONGEST_NAME = 1_000
MOST_FAULTS = 50
DEFAULT_K = 10
FIELDS = ("workspaceId", "agentId", "k", "datasetVersion", "cases")
ID_LISTS = ("expectedIds", "forbiddenIds", "staleIds")
CASE_FIELDS = ("query", *ID_LISTS)


@dataclass(frozen=True, slots=True)
class Case:
    """One query, and which ids may and may not come back.

    Attributes
    ----------
    query : str
        What is asked.
    expected, forbidden, stale : tuple of str
        The store's own ids. Without an expected one the right answer is an empty one.
    """

    query: str
    expected: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """A body that was read.

    Attributes
    ----------
    agent : str
        Whose visibility is searched with.
    cases : tuple of Case
        1 to 200.
    k : int
        How many of the first results are looked at, 1 to 100.
    workspace : str or None
        Which store is asked.
    dataset : str or None
        Label of the cases.
    """

    agent: str
    cases: tuple[Case, ...]
    k: int = DEFAULT_K
    workspace: str | None = None
    dataset: str | None = None


def parse_json(raw: bytes) -> Any:
    """Parse strict JSON: UTF-8, no key twice in one object, no NaN.

    Raises
    ------
    ValueError
        If it is none; the message says why.

    Examples
    --------
    >>> parse_json(b'{"k": 5, "k": 6}')
    Traceback (most recent call last):
    ValueError: the key 'k' stands twice in one object
    """
    try:
        return json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse, object_pairs_hook=_once)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise ValueError(f"the key {counts.most_common(1)[0][0][:40]!r} stands twice in one object")
    return made


def read_request(body: object) -> Request:
    """Read the body of an evaluation call.

    Parameters
    ----------
    body : object
        What the JSON came to.

    Returns
    -------
    Request
        With lone surrogates replaced, as in probe files.

    Raises
    ------
    RequestError
        With every fault, up to 50, and its field, such as ``cases[3].expectedIds[0]``.

    Examples
    --------
    >>> read_request({"agentId": "ana", "cases": [{"query": "lunch?", "expectedIds": ["m-7"]}]}).k
    10
    >>> read_request({"agentId": "ana", "cases": [{"qeury": "lunch?"}]})
    Traceback (most recent call last):
    memeval.errors.RequestError: cases[0].query: the query is missing; write what is asked
    cases[0].qeury: unknown field 'qeury'; write 'query'
    """
    if not isinstance(body, Mapping):
        found = f"the body is {_kind(body)}, not an object"
        raise RequestError([Fault(found, f"send an object with {', '.join(FIELDS)}")])
    told: dict[str, Any] = _cleaned(body)
    faults = list(islice(chain(_body_faults(told), _unknown(told, FIELDS, "")), MOST_FAULTS))
    if faults:
        raise RequestError(faults)
    return Request(
        agent=told["agentId"],
        cases=tuple(_case(case) for case in told["cases"]),
        k=DEFAULT_K if told.get("k") is None else told["k"],
        workspace=told.get("workspaceId"),
        dataset=told.get("datasetVersion"),
    )


def _cleaned(value: Any, depth: int = 4) -> Any:
    """The body with lone surrogates replaced in every text, as deep as texts may stand."""
    if isinstance(value, str):
        return clean(value)
    if depth and isinstance(value, Mapping):
        return {name: _cleaned(one, depth - 1) for name, one in value.items()}
    if depth and isinstance(value, list | tuple):
        return [_cleaned(one, depth - 1) for one in value]
    return value


def _case(case: Mapping[str, Any]) -> Case:
    expected, forbidden, stale = (tuple(case.get(name) or ()) for name in ID_LISTS)
    return Case(case["query"], expected, forbidden, stale)


def _body_faults(body: Mapping[str, Any]) -> Iterator[Fault]:
    if body.get("agentId") is None:
        yield Fault("the agent is missing", "name whose visibility to search with", "agentId")
    for name in ("agentId", "workspaceId", "datasetVersion"):
        if body.get(name) is not None:
            yield from _text_faults(body[name], name, LONGEST_NAME)
    k = body.get("k")
    if k is not None and (type(k) is not int or not 1 <= k <= MOST_K):
        yield Fault(f"k is {shown(k)}", f"write a whole number from 1 to {MOST_K}", "k")
    cases = body.get("cases")
    if not isinstance(cases, list | tuple):
        found = "the cases are missing" if cases is None else f"cases is {_kind(cases)}, not a list"
        yield Fault(found, f"send 1 to {MOST_CASES} cases", "cases")
        return
    if not 1 <= len(cases) <= MOST_CASES:
        todo = f"send 1 to {MOST_CASES} cases in one call"
        yield Fault(f"found {len(cases)} cases", todo, "cases")
        return
    for n, case in enumerate(cases):
        yield from _case_faults(case, f"cases[{n}]")


def _case_faults(case: object, place: str) -> Iterator[Fault]:
    if not isinstance(case, Mapping):
        yield Fault(f"the case is {_kind(case)}, not an object", "send an object", place)
        return
    if case.get("query") is None:
        yield Fault("the query is missing", "write what is asked", f"{place}.query")
    else:
        yield from _text_faults(case["query"], f"{place}.query", LONGEST_QUERY)
    for name in ID_LISTS:
        if case.get(name) is not None:
            yield from _ids_faults(case[name], f"{place}.{name}")
    yield from _contradictions(case, place)
    yield from _unknown(case, CASE_FIELDS, place)


def _ids_faults(ids: object, place: str) -> Iterator[Fault]:
    if not isinstance(ids, list | tuple):
        yield Fault(f"found {_kind(ids)}, not a list", "send a list of ids", place)
        return
    if len(ids) > MOST_IDS:
        yield Fault(f"found {len(ids)} ids", f"send at most {MOST_IDS}", place)
        return
    for n, one in enumerate(ids):
        yield from _text_faults(one, f"{place}[{n}]", LONGEST_NAME)
    counts = Counter(one for one in ids if isinstance(one, str))
    for one, count in counts.items():
        if count > 1:
            yield Fault(f"{shown(one)} stands there {count} times", "send it once", place)


def _contradictions(case: Mapping[str, Any], place: str) -> Iterator[Fault]:
    """An expected id that is forbidden or stale as well."""
    expected = set(_texts(case.get("expectedIds")))
    for name, word in (("forbiddenIds", "forbidden"), ("staleIds", "stale")):
        for n, one in enumerate(_texts(case.get(name))):
            if one in expected:
                found = f"{shown(one)} is both expected and {word}"
                yield Fault(found, "take it out of one of the lists", f"{place}.{name}[{n}]")


def _texts(ids: object) -> list[str]:
    known = ids if isinstance(ids, list | tuple) else ()
    return [one for one in known if isinstance(one, str)]


def _text_faults(value: object, place: str, longest: int) -> Iterator[Fault]:
    if not isinstance(value, str):
        yield Fault(f"found {_kind(value)}, not a text", "send a text", place)
    elif is_blank(value):
        yield Fault(f"the text {shown(value)} is blank", "send one that can be seen", place)
    elif len(value) > longest:
        found = f"found a text of {len(value):,} characters"
        yield Fault(found, f"send at most {longest:,}", place)


def _unknown(mapping: Mapping[Any, Any], known: Sequence[str], place: str) -> Iterator[Fault]:
    for name in mapping:
        if name not in known:
            short = visible(str(name), 40)
            at = f"{place}.{short}" if place else short
            yield Fault(f"unknown field {shown(name)}", nearest(str(name)[:40], known), at)


def _kind(value: object) -> str:
    """What a value is in the words of JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value!r:.40}"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list | tuple) else "an object"
