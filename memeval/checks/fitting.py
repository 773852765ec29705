"""What makes a probe or a suite wrong, whether it was read from a file or built in Python.

Each check yields faults that name a field and no file; who knows the file adds the place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memeval.checks.kinds import alike, nearest_id, shown
from memeval.errors import Fault
from memeval.record import Record
from memeval.text import contains_tokens, normalise

if TYPE_CHECKING:
    from memeval.given import Given
    from memeval.probe import Probe


def probe_faults(probe: Probe) -> list[Fault]:
    """All faults of a probe whose values are of the right kinds.

    Parameters
    ----------
    probe : Probe
        After `kind_faults` found nothing in it.

    Returns
    -------
    list of Fault
        Without file and line, and without those of its history, see `given_faults`.
    """
    checks = (_size, _labels, _against, _expected, _canaries)
    return [fault for check in checks for fault in check(probe)]


def _size(probe: Probe) -> Iterator[Fault]:
    if probe.k < 1:
        yield Fault(f"k is {probe.k}", "write a whole number from 1", "k")
    elif len(probe.expect) > probe.k:
        yield Fault(
            f"{len(probe.expect)} records are expected and k is {probe.k}",
            f"raise k to {len(probe.expect)}, or expect fewer",
            "k",
        )


def _labels(probe: Probe) -> Iterator[Fault]:
    """Ids that no record has."""
    known = probe.state.by_id
    for field, name in named(probe):
        if name not in known:
            yield Fault(f"no record has the id {shown(name)}", nearest_id(name, known), field)


def named(probe: Probe) -> Iterator[tuple[str, str]]:
    """Every id that `expect`, `forbid` and `stale` name, with its field."""
    for n, entry in enumerate(probe.expect):
        if isinstance(entry, str):
            yield f"expect[{n}]", entry
        else:
            yield from ((f"expect[{n}][{m}]", name) for m, name in enumerate(entry))
    yield from ((f"forbid[{n}]", name) for n, name in enumerate(probe.forbid))
    yield from ((f"stale[{n}]", name) for n, name in enumerate(probe.stale))


def _against(probe: Probe) -> Iterator[Fault]:
    expected = {name for group in probe.groups for name in group}
    for field in ("forbid", "stale"):
        for n, name in enumerate(getattr(probe, field)):
            if name in expected:
                yield Fault(
                    f"{shown(name)} is also expected",
                    "keep it in one of the two lists",
                    f"{field}[{n}]",
                )


def _expected(probe: Probe) -> Iterator[Fault]:
    """Expected records that a right answer may not hold."""
    given, readable = probe.state, probe.scopes_read
    for field, name in named(probe):
        record = given.by_id.get(name)
        if record is None or not field.startswith("expect"):
            continue
        if record.scope not in readable:
            yield Fault(
                f"{shown(name)} is in the scope {shown(record.scope)}, asked is "
                f"{shown(probe.scope)}",
                "put it into that scope, or name its own in reads",
                field,
            )
        if name in given.deleted:
            yield Fault(f"{shown(name)} is deleted", "expect another, or drop the delete", field)
        if name in given.superseded:
            yield Fault(f"{shown(name)} is superseded", "expect the record that replaced it", field)
        if probe.now is not None and name in probe.expired:
            yield Fault(f"{shown(name)} is expired at now", "expect another, or change now", field)


def _canaries(probe: Probe) -> Iterator[Fault]:
    for n, token in enumerate(probe.canary):
        field, todo = f"canary[{n}]", "choose a token that stands only where it must not be found"
        if not normalise(token):
            yield Fault(f"canary {shown(token)} has nothing to look for", todo, field)
            continue
        if contains_tokens(probe.query, token):
            yield Fault(f"canary {shown(token)} stands in the query", todo, field)
        for record in probe.live:
            if record.scope in probe.scopes_read and contains_tokens(record.text, token):
                yield Fault(
                    f"canary {shown(token)} stands in the live record {shown(record.id)}",
                    todo,
                    field,
                )


def empty_scope_faults(given: Given, scopes: Collection[str]) -> Iterator[Fault]:
    """Say that nothing could be found: a negative probe there is passed by every store."""
    if not any(record.scope in scopes for record in given.live):
        yield Fault(
            "expects nothing, and its scope holds nothing to be found",
            "give it records that do not answer the query",
            "given",
        )


def name_faults(named: Iterable[tuple[str, str, int]]) -> list[Fault]:
    """Names that two probes share, or that differ in case only.

    Parameters
    ----------
    named : iterable of (str, str, int)
        Name, file and line of each probe; equal whatever the case is too easily confused, on a
        command line and in file names, and is refused.

    Returns
    -------
    list of Fault
        With file and line.
    """
    same: dict[str, tuple[str, str, int]] = {}
    close: dict[str, tuple[str, str, int]] = {}
    found: list[Fault] = []
    for entry in named:
        name, key = entry[0], alike(entry[0]).casefold()
        other = same.get(name) or close.get(key)
        if other is not None:
            found.append(_clash(entry, other))
        same.setdefault(name, entry)
        close.setdefault(key, entry)
    return found


def _clash(entry: tuple[str, str, int], other: tuple[str, str, int]) -> Fault:
    name, file, line = entry
    place = f" is also at {other[1]}:{other[2]}" if other[1] else ""
    if other[0] == name:
        found, todo = f"duplicate probe names: {shown(name)}{place}", "rename one of the two"
    else:
        found = f"too like the name {shown(other[0])}" + place.replace(" is also", "")
        todo = "names that differ in case only are refused; rename one of the two"
    return Fault(found, todo, "name", name, file, line)


def haystack_faults(haystack: Sequence[Record], probes: Iterable[Probe]) -> list[Fault]:
    """Ids of the haystack that stand twice, or that a probe uses.

    Returns
    -------
    list of Fault
        Fields begin with ``haystack[n]``, n from 0.
    """
    if not haystack:
        return []
    histories = {id(probe.state): probe.state for probe in probes}
    taken = {name for given in histories.values() for name in given.by_id}
    seen: set[str] = set()
    found: list[Fault] = []
    for n, record in enumerate(haystack):
        if record.id in seen or record.id in taken:
            whose = "another record of the haystack" if record.id in seen else "a probe's record"
            todo = "give it another id, or none at all"
            field = f"haystack[{n}].id"
            found.append(Fault(f"{shown(record.id)} is the id of {whose} too", todo, field))
        seen.add(record.id)
    return found


def history_faults(probes: Iterable[Probe]) -> list[Fault]:
    """Probes that name one history and do not hold the same one."""
    first: dict[str, Probe] = {}
    found: list[Fault] = []
    for probe in probes:
        if probe.history is None:
            continue
        other = first.setdefault(probe.history, probe)
        if other.given is not probe.given and other.given != probe.given:
            said = f"its history {shown(probe.history)} is not that of {shown(other.name)}"
            todo = "give both the same given, or another history name"
            found.append(Fault(said, todo, "history", probe.name, probe.file, probe.line))
    return found
