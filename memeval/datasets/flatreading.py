"""Flat rows, as a suite: the other way of `memeval.datasets.flatrows`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import pandas as pd

from memeval.checks.kinds import nearest, shown
from memeval.datasets.flatrows import FIELDS, KINDS, SHIPPED, STEPS, Row, sound
from memeval.datasets.reading import FaultLog
from memeval.errors import Fault, ProbeError
from memeval.given import Given, given_of
from memeval.loading import load_text
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Op, Record
from memeval.suite import Suite
from memeval.times import parse_span, parse_time

COMMON = "records"  # name of the history of what names none
OF_RECORD = ("id", "text", "scope", "at", "unit", "supersedes", "expires", "meta")
NOT_OF_PROBE = ("row", "probe", "id", "text", "at", "unit", "supersedes", "expires", "meta", "by")
# The shipped haystack comes with any suite that names no other.
BARE = "- {name: x, query: x, given: [{id: x, text: x}], expect: [x]}"


@dataclass(frozen=True)
class Rows:
    """What stood in flat files.

    Attributes
    ----------
    suite : Suite
        Its probes; none where there are records alone.
    records : tuple of Record
        Records that name no probe and no history.
    faults : pandas.DataFrame
        Fields that are none of a row: ``sample`` (the file), ``place``, ``found``, ``done`` (str).
    """

    suite: Suite
    records: tuple[Record, ...]
    faults: pd.DataFrame


class Placed(NamedTuple):
    """A row, and where it stands."""

    file: str
    line: int
    row: Row


@dataclass
class _Found:
    """Rows by what they are of."""

    steps: dict[tuple[str, str], list[Placed]] = field(default_factory=dict)
    probes: list[Placed] = field(default_factory=list)
    background: list[Placed] = field(default_factory=list)
    histories: set[str] = field(default_factory=set)
    shipped: bool = False
    faults: list[Fault] = field(default_factory=list)

    def fault(self, place: Placed, name: str, found: str, todo: str) -> None:
        """Note what is wrong with a field."""
        self.faults.append(Fault(found, todo, name, file=place.file, line=place.line))


def read_rows(placed: Sequence[Placed]) -> Rows:
    """Make a suite of rows.

    Parameters
    ----------
    placed : sequence of Placed
        The rows of one file or several, in their order.

    Raises
    ------
    ProbeError
        With every fault, each with its file and line.
    """
    found, log = _Found(), FaultLog()
    _unknown(placed, log)
    for place in placed:
        row = {name: place.row[name] for name in FIELDS if place.row.get(name) is not None}
        _sort(place._replace(row=_checked(place, row, found)), found)
    histories = _histories(found)
    probes = _probes(found, histories)
    haystack = tuple(record for place in found.background for record in _record(place, found))
    if found.shipped and haystack:
        place = found.background[0]
        found.fault(place, "row", "background beside the shipped haystack", "keep one of the two")
    if found.faults:
        raise ProbeError(found.faults)
    loose = histories.pop(COMMON, Given()) if ("history", "") in found.steps else Given()
    if loose and probes and not any(probe.given is loose for probe in probes):
        log.add(placed[0].file, "", f"{len(loose)} steps of no probe", "asked by none")
    kept = {p.history: p.given for p in probes if p.history is not None}
    told = {name: given for name, given in histories.items() if name in found.histories}
    name = SHIPPED if found.shipped else "none" if not haystack else placed[0].file
    background = load_text(BARE).haystack if found.shipped else haystack or None
    suite = Suite(tuple(probes), background, name, {**told, **kept})
    return Rows(suite, tuple(op for op in sound(loose) if isinstance(op, Record)), log.frame())


def _unknown(placed: Sequence[Placed], log: FaultLog) -> None:
    """Tell of fields that no row has, once for each file."""
    counts = Counter((p.file, name) for p in placed for name in p.row if name not in FIELDS)
    for (file, name), n in counts.items():
        log.add(file, f"{n} row{'s' * (n > 1)}", f"the field {shown(name)}", "not read")


def _checked(place: Placed, row: Row, found: _Found) -> Row:
    """The fields that are of their kind, times as times; the others are faults."""
    checked: Row = {}
    for name, value in row.items():
        kind = FIELDS[name]
        if not FITS[kind](value):
            found.fault(place, name, f"{shown(value)} is no {WANTED[kind]}", f"write {SUCH[kind]}")
            continue
        try:
            checked[name] = parse_time(value) if kind == "time" else value
        except ValueError:
            found.fault(place, name, f"{shown(value)} is no time", f"write {SUCH[kind]}")
    return checked


def _sort(place: Placed, found: _Found) -> None:
    row = place.row
    kind = row.get("row") or ("probe" if "query" in row else "record")
    if kind not in KINDS:
        found.fault(place, "row", f"{shown(kind)} is no kind of row", nearest(kind, KINDS))
    elif kind == "probe":
        found.probes.append(place)
    elif kind == "background":
        found.background.append(place)
    elif kind == "haystack":
        found.shipped = True
        if row.get("text") != SHIPPED:
            found.fault(place, "text", f"{shown(row.get('text'))} is no haystack", "write shipped")
    elif "probe" in row and "history" in row:
        found.fault(place, "history", "the step is of a probe and of a history", "name one of them")
    else:
        owner = ("probe", row["probe"]) if "probe" in row else ("history", row.get("history", ""))
        named = place._replace(row={**row, "row": kind})
        found.histories.update({row["history"]} if "history" in row else ())
        found.steps.setdefault(owner, []).extend([named] if kind in STEPS else [])


def _histories(found: _Found) -> dict[str, Given]:
    """Shared histories by name; what names none is the common one."""
    histories: dict[str, Given] = {}
    for (kind, name), steps in found.steps.items():
        if kind == "history":
            ops = [op for place in steps for op in _step(place, "default", found)]
            histories[name or COMMON] = given_of(ops, "default")
            faults = histories[name or COMMON].faults
            for fault in faults:
                place = steps[min(_nth(fault), len(steps) - 1)]
                found.faults.append(replace(fault, file=place.file, line=place.line))
    if ("history", "") in found.steps and COMMON in found.histories:
        place = found.steps["history", ""][0]
        said = f"a history is called {COMMON!r}, as is that of rows that name none"
        found.fault(place, "history", said, "rename it")
    return histories


def _nth(fault: Fault) -> int:
    """Which step a fault such as that of ``given[2].text`` is of."""
    digits = fault.field.removeprefix("given[").partition("]")[0]
    return int(digits) if digits.isdecimal() else 0


def _probes(found: _Found, histories: Mapping[str, Given]) -> list[Probe]:
    probes = []
    names = [place.row.get("probe") or place.row.get("id") for place in found.probes]
    for place, name in zip(found.probes, names, strict=True):
        said = {key: value for key, value in place.row.items() if key not in NOT_OF_PROBE}
        scope = said.get("scope", "default")
        own = found.steps.get(("probe", str(name)), [])
        steps = given_of([op for step in own for op in _step(step, scope, found)], scope)
        history = said.get("history") or (COMMON if not own and COMMON in histories else None)
        if history is not None and (own or history not in histories):
            what = "has steps of its own as well" if own else "has no row"
            found.fault(place, "history", f"the history {shown(history)} {what}", "mend the one")
            continue
        given = steps if history is None else histories[history]
        if history is not None and given.faults:
            continue  # told once, with the history
        said |= {"history": history, "given": given, "file": place.file, "line": place.line}
        try:
            probes.append(Probe(**{"name": name or "", "query": "", **said}))
        except ProbeError as error:
            found.faults += error.faults
    for (kind, owner), steps_of in found.steps.items():
        if kind == "probe" and owner not in names:
            said_of = f"a step of {shown(owner)}, which no row asks"
            found.fault(steps_of[0], "probe", said_of, "add the probe, or name another")
    return probes


def _step(place: Placed, scope: str, found: _Found) -> Iterable[Op]:
    row = place.row
    kind = row["row"]
    if kind == "record":
        return _record(place, found, scope)
    if kind == "consolidate":
        return [Consolidate()]
    if kind == "delete":
        return [Delete(row.get("id", ""))]
    try:
        return [Advance(parse_span(row.get("by", "")))]
    except ValueError:
        found.fault(place, "by", f"{shown(row.get('by'))} is no time span", "write 30d")
        return []


def _record(place: Placed, found: _Found, scope: str = "default") -> Iterable[Record]:
    said = {name: place.row[name] for name in OF_RECORD if name in place.row}
    for name in ("id", "text"):
        if name not in said:
            found.fault(place, name, f"a record without {name}", "write one, or take the row out")
            return []
    said["supersedes"] = tuple(said.get("supersedes", ()))
    return [Record(**{"scope": scope, **said})]


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


FITS: Mapping[str, Callable[[Any], bool]] = {
    "text": _is_text,
    "time": _is_text,
    "texts": _texts,
    "groups": lambda v: isinstance(v, list) and all(_is_text(e) or _texts(e) for e in v),
    "mapping": lambda v: isinstance(v, dict),
    "whole": lambda v: type(v) is int,
    "flag": lambda v: isinstance(v, bool),
}
WANTED = {
    "text": "text", "time": "time", "texts": "list of texts", "groups": "list of ids, or of lists",
    "mapping": "mapping", "whole": "whole number", "flag": "true or false",
}  # fmt: skip
SUCH = {
    "text": "a text", "time": "2026-03-01T09:00:00Z", "texts": '["r1", "r2"]', "flag": "true",
    "groups": '["r1", ["r2", "r3"]]', "mapping": '{"type": "note"}', "whole": "5",
}  # fmt: skip
