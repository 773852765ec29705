"""Reading sessions, wherever they come from: what is true of them, and how they are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol

from memeval.errors import MemevalError
from memeval.given import op_to_dict
from memeval.record import Delete, Record
from memeval.sessioning.model import Session, Truth

_WRITER = json.JSONEncoder(ensure_ascii=False)


class Sessions(Protocol):
    """Anything that gives its first n sessions when it is asked for them."""

    def sessions(self, n: int) -> Iterable[Session]:
        """Give the first `n` sessions."""


SessionSource = Sessions | Iterable[Session] | Callable[[int], Iterable[Session]]


def told_now(truths: tuple[Truth, ...]) -> tuple[Truth, ...]:
    """Fill in what a session says of its own records."""
    if not any(truth.supersedes or truth.contradicts for truth in truths):
        return truths
    known = {truth.record_id: truth for truth in truths}
    _mark(known, truths)
    return tuple(known.values())


def _mark(known: dict[str, Truth], truths: Iterable[Truth]) -> None:
    for truth in truths:
        for name in truth.supersedes:
            if name in known and known[name].superseded_by is None:
                known[name] = replace(known[name], superseded_by=truth.record_id)
        for name in truth.contradicts:
            if name in known and known[name].contradicted_by is None:
                known[name] = replace(known[name], contradicted_by=truth.record_id)


def truth_of(sessions: Iterable[Session]) -> dict[str, Truth]:
    """What is true of every record once these sessions are over.

    Parameters
    ----------
    sessions : iterable of Session
        In order.

    Returns
    -------
    dict of str to Truth
        By record id, with what came later filled in.

    Examples
    --------
    >>> moved = Truth("b", "update", "desk", "Cork", supersedes=("a",))
    >>> known = truth_of([Session(0, None, (), (Truth("a", "fact", "desk", "Riga"), moved))])
    >>> known["a"].superseded_by, known["a"].outdated, known["b"].outdated
    ('b', True, False)
    """
    known: dict[str, Truth] = {}
    for session in sessions:
        known.update((truth.record_id, truth) for truth in session.truths)
        _mark(known, session.truths)
        for op in session.ops:
            if isinstance(op, Delete) and op.id in known:
                known[op.id] = replace(known[op.id], deleted=True)
    return known


def sessions_from(source: SessionSource, n: int) -> Iterator[Session]:
    """Take up to `n` sessions from any source of them.

    Parameters
    ----------
    source : Generator, iterable of Session, or callable
        A `sessions` method or a callable is asked with `n`, and gives an iterable.
    n : int
        How many at most; a source that is shorter ends sooner.

    Yields
    ------
    Session
        Numbered from 0 in the order of the source, whatever it numbers them.

    Raises
    ------
    MemevalError
        If it is none of these, or something else than a session comes.

    Examples
    --------
    >>> mine = [Session(0, None, (Record("m1", "The kettle is descaled."),))]
    >>> [session.records[0].text for session in sessions_from(mine, 10)]
    ['The kettle is descaled.']
    """
    asked = getattr(source, "sessions", source)
    found = asked(n) if callable(asked) else asked
    if not isinstance(found, Iterable):
        raise MemevalError(
            f"the session source is a {type(source).__name__}, wanted an iterable of Session, a "
            "callable that gives one for a number of sessions, or a Generator; see sessions_from"
        )
    for number, session in enumerate(islice(found, n)):
        if not isinstance(session, Session):
            raise MemevalError(
                f"the session source gave a {type(session).__name__} at place {number}, wanted a "
                "Session; build it with memeval.sessions.Session(number, at, ops)"
            )
        yield session if session.number == number else replace(session, number=number)


def sessions_jsonl(sessions: Iterable[Session]) -> Iterator[str]:
    """Write sessions as lines of JSON, a line for each operation with the truth of its record.

    Examples
    --------
    >>> print(*sessions_jsonl([Session(0, None, (Record("m1", "Hm."), Delete("m1")))]), sep="")
    {"session": 0, "id": "m1", "text": "Hm.", "scope": "default"}
    {"session": 0, "delete": "m1"}
    <BLANKLINE>
    """
    for session in sessions:
        known = {truth.record_id: truth for truth in session.truths}
        for op in session.ops:
            line: dict[str, Any] = {"session": session.number, **op_to_dict(op)}
            truth = known.get(op.id) if isinstance(op, Record) else None
            if truth is not None:
                said = {name: getattr(truth, name) for name in Truth.__slots__}
                line["truth"] = {k: v for k, v in said.items() if v and k != "record_id"}
            yield _WRITER.encode(line) + "\n"
