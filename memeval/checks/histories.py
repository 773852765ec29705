"""What makes a history wrong, taken alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

from memeval.checks.kinds import (
    alike,
    nearest_id,
    ops_well_typed,
    record_faults,
    shown,
    text_faults,
)
from memeval.errors import Fault
from memeval.given import Given
from memeval.record import Advance, Consolidate, Delete, Record
from memeval.times import LONGEST


def given_faults(given: Given) -> list[Fault]:
    """All faults of a history, taken alone.

    Returns
    -------
    list of Fault
        Fields begin with ``given[n]``, n from 0.
    """
    found = [fault for n, op in enumerate(given) for fault in _kind(op, f"given[{n}]")]
    if found and not ops_well_typed(given):
        return found
    homes: dict[str, str] = {}
    for n, op in enumerate(given):
        field = f"given[{n}]"
        if isinstance(op, Record):
            found += _home(op, field, homes)
        elif isinstance(op, Delete):
            found += _deletes(op, field, homes, given)
    return found + _confusable(homes) + _supersedes(given)


def _kind(op: object, field: str) -> Iterator[Fault]:
    """What is wrong with one entry, taken alone."""
    if isinstance(op, Record):
        yield from record_faults(op, field)
    elif isinstance(op, Delete):
        yield from text_faults(op.id, f"{field}.delete")
    elif isinstance(op, Advance):
        yield from _advances(op, field)
    elif not isinstance(op, Consolidate):
        todo = "write a Record, Delete, Consolidate or Advance"
        yield Fault(f"{shown(op)} is neither a record nor an operation", todo, field)


def _home(record: Record, field: str, homes: dict[str, str]) -> list[Fault]:
    """Within a probe an id belongs to one scope."""
    home = homes.setdefault(record.id, record.scope)
    if home == record.scope:
        return []
    found = f"{shown(record.id)} is in the scopes {shown(home)} and {shown(record.scope)}"
    return [Fault(found, "give one of the two records another id", f"{field}.id")]


def _deletes(op: Delete, field: str, written: Mapping[str, str], given: Given) -> list[Fault]:
    field = f"{field}.delete"
    if op.id in written:
        return []
    if op.id in given.by_id:
        return [Fault(f"{shown(op.id)} is not written yet", "delete it after its record", field)]
    return [
        Fault(f"no record has the id {shown(op.id)}", nearest_id(op.id, given.by_id), field),
    ]


def _advances(op: Advance, field: str) -> Iterator[Fault]:
    whole = isinstance(op.by, timedelta) and timedelta(0) < op.by <= LONGEST
    if not whole or op.by.microseconds:
        todo = "write whole seconds, more than 0 and at most 100 years"
        yield Fault(f"{shown(op.by)} is not a span of time", todo, f"{field}.advance")


def _confusable(homes: Iterable[str]) -> list[Fault]:
    """Ids that look the same and are not."""
    seen: dict[str, str] = {}
    twins = [name for name in homes if seen.setdefault(alike(name), name) != name]
    todo = "write both in one Unicode form"
    return [Fault(f"two ids look the same: {shown(name)}", todo, "given") for name in twins]


def _supersedes(given: Given) -> list[Fault]:
    found: list[Fault] = []
    edges: dict[str, list[tuple[str, str]]] = {}
    for n, op in enumerate(given):
        for m, name in enumerate(op.supersedes if isinstance(op, Record) else ()):
            field = f"given[{n}].supersedes[{m}]"
            if name not in given.by_id:
                todo = nearest_id(name, given.by_id)
                found.append(Fault(f"no record has the id {shown(name)}", todo, field))
            elif isinstance(op, Record) and name == op.id:
                found.append(Fault(f"{shown(name)} supersedes itself", "name another", field))
            elif isinstance(op, Record):
                edges.setdefault(op.id, []).append((name, field))
    return found + _circles(edges)


def _circles(edges: Mapping[str, Sequence[tuple[str, str]]]) -> list[Fault]:
    """Records that replace each other: a walk from each, without recursion, newest step first."""
    done: set[str] = set()
    for start in edges:
        path: dict[str, Iterator[tuple[str, str]]] = {}
        if start not in done:
            path[start] = iter(edges[start])
        while path:
            here = next(reversed(path))
            name, field = next(path[here], ("", ""))
            if not field:
                done.add(here)
                del path[here]
            elif name in path:
                circle = [*list(path)[list(path).index(name) :], name]
                said = " > ".join(map(shown, circle[:5])) + (" > …" if len(circle) > 5 else "")
                return [Fault(f"supersedes goes in a circle: {said}", "drop one of them", field)]
            elif name not in done:
                path[name] = iter(edges.get(name, ()))
    return []
