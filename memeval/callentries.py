"""Answers of the evaluation call, taken apart: the details of each case, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memeval.checks.kinds import shown
from memeval.errors import RunFileError
from memeval.words import clean

__all__ = ["entries_of", "hits_of", "number", "status_of"]

IDS = ("returned", "returnedIds", "results", "resultIds", "hits")
ID = ("id", "memoryId")
STATUSES = ("ok", "failed", "timeout")
Entry = Mapping[str, Any]


def entries_of(answer: Any, request: Mapping[str, Any], n: int) -> list[tuple[str, Entry]]:
    """Place and details of each case, which must be of the cases that were sent.

    Parameters
    ----------
    answer : mapping
        To the request.
    request : mapping
        Its ``cases`` are what was sent.
    n : int
        Which answer it is, from 0.

    Raises
    ------
    RunFileError
        If it is the answer to something else, or a ``case`` is missing, twice or out of range.
    """
    place = f"answer {n + 1}"
    told = answer.get("perCase") if isinstance(answer, Mapping) else None
    if not isinstance(told, list) or not all(isinstance(one, Mapping) for one in told):
        raise RunFileError(f"{place}: found no list perCase of objects; save the whole answer")
    cases = request["cases"]
    if len(told) != len(cases):
        raise RunFileError(
            f"{place}: perCase has {len(told)} entries, wanted {len(cases)}, one for each case "
            "that was sent; it is the answer to another request"
        )
    entries = _placed([(f"{place}, perCase[{at}]", one) for at, one in enumerate(told)])
    for (where, entry), case in zip(entries, cases, strict=True):
        if "query" in entry and entry["query"] != case["query"]:
            raise RunFileError(
                f"{where}: the query is {shown(entry['query'])}, wanted "
                f"{shown(case['query'])}; it is the answer to another request"
            )
    return entries


def _placed(entries: Sequence[tuple[str, Entry]]) -> list[tuple[str, Entry]]:
    """The entries by their ``case``; as they stand where none has one."""
    if not any("case" in entry for _, entry in entries):
        return list(entries)
    placed: dict[int, tuple[str, Entry]] = {}
    last = len(entries) - 1
    for place, entry in entries:
        if "case" not in entry:
            raise RunFileError(f"{place}: found no case, which others have; save the whole answer")
        case = entry["case"]
        if type(case) is not int or not 0 <= case <= last:
            raise RunFileError(
                f"{place}: case is {shown(case)}, wanted a whole number from 0 to {last}; it is "
                "the answer to another request"
            )
        if case in placed:
            raise RunFileError(f"{place}: case {case} is there twice; save each answer once")
        placed[case] = (place, entry)
    return [placed[case] for case in range(len(entries))]


def status_of(entry: Entry, place: str) -> str:
    """What became of a search: ``ok``, ``failed`` or ``timeout``.

    Raises
    ------
    RunFileError
        If the entry says something else.
    """
    status = entry.get("status", "failed" if entry.get("error") else "ok")
    if status not in STATUSES:
        raise RunFileError(f"{place}: status is {shown(status)}, wanted one of {STATUSES}")
    return str(status)


def hits_of(entry: Entry, place: str) -> Iterator[tuple[str | None, float | None]]:
    """Id and score of each hit, best first; either None where it is not told.

    Raises
    ------
    RunFileError
        If there is no list of hits, or an id is no text.
    """
    listed = next((entry[key] for key in IDS if isinstance(entry.get(key), list)), None)
    if listed is None:
        raise RunFileError(
            f"{place}: found {', '.join(map(str, entry)) or 'nothing'}, wanted the ids that came "
            f"back as a list named {', '.join(IDS)}; write them there"
        )
    for one in listed:
        is_object = isinstance(one, Mapping)
        told = next((one[key] for key in ID if key in one), None) if is_object else one
        if told is not None and not isinstance(told, str):
            raise RunFileError(f"{place}: an id is {shown(told)}, wanted a text")
        score = number(one.get("score")) if is_object else None
        yield None if told is None else clean(told), score


def number(value: Any) -> float | None:
    """A number as it was told; None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None
