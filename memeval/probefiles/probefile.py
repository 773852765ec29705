"""The format of probe files: which keys there are, and what is made of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memeval.checks.fitting import empty_scope_faults
from memeval.checks.kinds import nearest, shown
from memeval.errors import Fault, ProbeError
from memeval.given import Given
from memeval.hashes import digest
from memeval.probe import Probe
from memeval.probefiles.nodes import Node, locate
from memeval.probefiles.values import Reading
from memeval.record import Advance, Consolidate, Delete, Op, Record
from memeval.text import clean

# Key of a probe, and the reader of its value; `given` needs the scope, so it is read apart.
PROBE_FIELDS: Mapping[str, str] = {
    "name": "text",
    "query": "text",
    "scope": "text",
    "k": "whole",
    "now": "time",
    "given": "given",
    "history": "text",
    "expect": "groups",
    "forbid": "texts",
    "stale": "texts",
    "canary": "texts",
    "filter": "mapping",
    "reads": "texts",
    "names": "texts",
    "near": "texts",
    "tags": "texts",
    "must": "flag",
    "why": "text",
}
RECORD_FIELDS: Mapping[str, str] = {
    "id": "text",
    "text": "text",
    "scope": "text",
    "at": "time",
    "unit": "text",
    "supersedes": "texts",
    "expires": "time",
    "meta": "mapping",
}
HAYSTACK_FIELDS: Mapping[str, str] = {
    "id": "text",
    "text": "text",
    "unit": "text",
    "meta": "mapping",
}
OPERATIONS = ("delete", "consolidate", "advance")
SUITE_FIELDS = ("histories", "haystack", "probes")
HAYSTACK_WORDS = ("none", "shipped")
NAMELESS = "?"
# What cannot be judged while the history, or the scope that is asked, is not known.
DEPENDENT = ("expect", "forbid", "stale", "canary", "given")


@dataclass
class ProbeFile:
    """What one file holds.

    Attributes
    ----------
    reading : Reading
        Where its faults are kept.
    histories : dict of str to (int, Given or None)
        Line and content of each shared history; None where it cannot be used.
    haystack : tuple of Record, str or None
        Records, one of the words ``none`` and ``shipped``, or None where it says nothing.
    haystack_node : Node or None
        Where ``haystack`` stands.
    probes : list of Node
        Not read yet, since a history may stand in another file.
    """

    reading: Reading
    histories: dict[str, tuple[int, Given | None]] = field(default_factory=dict)
    haystack: tuple[Record, ...] | str | None = None
    haystack_node: Node | None = None
    probes: list[Node] = field(default_factory=list)


def read_document(root: Node, reading: Reading) -> ProbeFile:
    """Take a file apart: histories, haystack, and the nodes of its probes.

    Parameters
    ----------
    root : Node
        A list of probes, or a mapping with ``histories``, ``haystack`` and ``probes``.
    reading : Reading
        Gets the faults.
    """
    found = ProbeFile(reading)
    if root.kind == "list":
        found.probes = list(root.entries)
    elif root.kind == "mapping":
        parts = reading.known(root, "", SUITE_FIELDS)
        if "histories" in parts:
            found.histories = _histories(parts["histories"], reading)
        if "haystack" in parts:
            found.haystack_node = parts["haystack"]
            found.haystack = _haystack(parts["haystack"], reading)
        listed = parts.get("probes")
        if listed is not None and listed.kind == "list":
            found.probes = list(listed.entries)
        elif listed is not None:
            said = listed.said() if listed.text or listed.kind != "scalar" else "nothing"
            reading.fault(listed.line, "probes", f"{said} stands here", "write a list of probes")
    else:
        todo = "write a list of probes, or a mapping with probes"
        reading.fault(root.line, "", f"the file holds {root.said()}", todo)
    return found


def _histories(node: Node, reading: Reading) -> dict[str, tuple[int, Given | None]]:
    if node.kind != "mapping":
        reading.fault(node.line, "histories", f"{node.said()} stands here", "write {name: [...]}")
        return {}
    histories: dict[str, tuple[int, Given | None]] = {}
    for name, entries in reading.pairs(node, "histories").items():
        field = f"histories.{name}"
        given = _given(entries, field, "default", reading)
        for fault in given.faults if given is not None else ():
            path = fault.field.removeprefix("given")
            line = locate(entries, path)
            reading.fault(line, field + path, fault.found, fault.todo)
        sound = given is not None and not given.faults
        histories[name] = (entries.line, given if sound else None)
    return histories


def _haystack(node: Node, reading: Reading) -> tuple[Record, ...] | str | None:
    if node.kind == "scalar" and node.text in HAYSTACK_WORDS:
        return node.text
    if node.kind != "list" or not node.entries:
        said = (
            "an empty list" if node.kind == "list" else repr(node.text) if node.text else "nothing"
        )
        said = node.said() if node.kind == "mapping" else said
        todo = "write a list of records, or one of the words none and shipped"
        reading.fault(node.line, "haystack", f"{said} stands here", todo)
        return None
    records = reading.many(node, "haystack", lambda n, f: _background(n, f, reading))
    for fault in Given(records or ()).faults:
        path = fault.field.removeprefix("given")
        reading.fault(locate(node, path), "haystack" + path, fault.found, fault.todo)
    return records


def _background(node: Node, field: str, reading: Reading) -> Record | None:
    """A record without a scope; without an id it gets one that says nothing."""
    values = _fields(node, field, HAYSTACK_FIELDS, reading, ("text",))
    if values is None:
        return None
    return Record(**{"id": "b" + digest([values["text"], field])[:11], **values})


def _fields(
    node: Node, field: str, known: Mapping[str, str], reading: Reading, needed: tuple[str, ...]
) -> dict[str, Any] | None:
    """Values of a mapping; None where one of them cannot be used."""
    if node.kind != "mapping":
        said = node.said() if node.kind != "scalar" or node.tag != "str" else repr(node.text[:40])
        reading.fault(node.line, field, f"{said} is not a record", "write {id: ..., text: ...}")
        return None
    parts = reading.known(node, field, known)
    values = {n: getattr(reading, known[n])(part, f"{field}.{n}") for n, part in parts.items()}
    lacking = [name for name in needed if name not in values]
    for name in lacking:
        reading.fault(node.line, field, f"no {name}", f"give it one: {name}: ...")
    return None if lacking or None in values.values() else values


def _given(node: Node, field: str, scope: str, reading: Reading) -> Given | None:
    def entry(inner: Node, place: str) -> Op | None:
        return _op(inner, place, scope, reading)

    entries: tuple[Op, ...] | None = reading.many(node, field, entry)
    return None if entries is None else Given(entries)


def _op(node: Node, field: str, scope: str, reading: Reading) -> Op | None:
    keys = {key.text for key, _ in node.pairs}
    asked = [name for name in OPERATIONS if name in keys]
    if node.kind == "mapping" and asked:
        return _operation(node, field, asked, reading)
    if node.kind != "mapping" or not keys & {*RECORD_FIELDS, "<<"}:
        said = node.said() if node.kind != "scalar" or node.tag != "str" else repr(node.text[:40])
        said = f"a mapping with {', '.join(sorted(keys)) or 'no keys'}" if node.pairs else said
        todo = "write {id: ..., text: ...}, or delete, consolidate or advance"
        reading.fault(node.line, field, f"{said} is neither a record nor an operation", todo)
        return None
    values = _fields(node, field, RECORD_FIELDS, reading, ("id", "text"))
    return None if values is None else Record(**{"scope": scope, **values})


def _operation(node: Node, field: str, asked: list[str], reading: Reading) -> Op | None:
    parts = reading.known(node, field, asked[:1])
    name = asked[0]
    value, place = parts[name], f"{field}.{name}"
    if name == "delete":
        gone = reading.text(value, place)
        return None if gone is None else Delete(gone)
    if name == "advance":
        by = reading.span(value, place)
        return None if by is None else Advance(by)
    if value.tag == "bool" and value.text.lower() == "true":
        return Consolidate()
    todo = "write {consolidate: true}, or leave the entry out"
    reading.fault(value.line, place, f"consolidate is {value.text or value.said()}", todo)
    return None


def read_probe(node: Node, reading: Reading, histories: Mapping[str, Given | None]) -> Probe | None:
    """Read one probe; every fault of it is kept in the reading.

    Parameters
    ----------
    node : Node
        Its mapping.
    reading : Reading
        Gets the faults.
    histories : mapping of str to Given or None
        Shared histories of the suite; None for one that cannot be used.

    Returns
    -------
    Probe or None
        None where it has faults.
    """
    before = len(reading.faults)
    reading.probe = ""
    if node.kind != "mapping":
        said = node.said() if node.tag != "str" else repr(node.text[:40])
        reading.fault(node.line, "", f"{said} is not a probe", "write {name: ..., query: ...}")
        return None
    reading.probe = written_name(node)
    parts = reading.known(node, "", PROBE_FIELDS)
    values, unusable = _values(node, parts, reading, histories)
    probe = _checked(node, reading, values, unusable)
    reading.probe = ""
    return probe if len(reading.faults) == before else None


def written_name(node: Node) -> str:
    """Name of a probe as it is written, empty where it has none."""
    named = (v for k, v in node.pairs if k.text == "name" and v.kind == "scalar")
    found = next(named, None)
    return clean(found.text) if found is not None else ""


def _values(
    node: Node,
    parts: Mapping[str, Node],
    reading: Reading,
    histories: Mapping[str, Given | None],
) -> tuple[dict[str, Any], set[str]]:
    """Values of the fields, and the names of those that cannot be used."""
    values: dict[str, Any] = {"name": NAMELESS, "query": NAMELESS}
    unusable: set[str] = set()
    for name in ("name", "query"):
        if name not in parts:
            reading.fault(node.line, "", f"no {name}", f"give it one: {name}: ...")
            unusable.add(name)
    for name, part in parts.items():
        if name == "given":
            continue
        value = getattr(reading, PROBE_FIELDS[name])(part, name)
        if value is None:
            unusable.add(name)
        else:
            values[name] = value
    given = _history(parts, values, reading, histories)
    if given is None:
        unusable.add("given")
    else:
        values["given"] = given
    return values, unusable


def _history(
    parts: Mapping[str, Node],
    values: dict[str, Any],
    reading: Reading,
    histories: Mapping[str, Given | None],
) -> Given | None:
    """The probe's own history, or the shared one that it names."""
    name = values.get("history")
    if "given" in parts:
        if "history" in parts:
            todo = "a probe has one of the two; drop the other"
            line = parts["history"].line
            reading.fault(line, "history", "given and history stand together", todo)
        return _given(parts["given"], "given", values.get("scope", "default"), reading)
    if name is None:
        return None if "history" in parts else Given()
    if name not in histories:
        todo = nearest(name, histories) if histories else "write it under histories"
        reading.fault(parts["history"].line, "history", f"no history is called {shown(name)}", todo)
        return None
    return histories[name]


def _checked(
    node: Node, reading: Reading, values: dict[str, Any], unusable: set[str]
) -> Probe | None:
    """The probe, or None with its faults kept; what may only follow from another is left out."""
    faults = [] if unusable & {"expect", "given", "scope", "reads"} else _vacuous(values)
    probe = None
    try:
        probe = Probe(**values, file=reading.file, line=node.line)
    except ProbeError as error:
        faults += error.faults
    left_out = {*unusable, *(DEPENDENT if unusable & {"given", "scope", "reads"} else ())}
    for fault in faults:
        if fault.field.partition(".")[0].partition("[")[0] not in left_out:
            line = locate(node, fault.field)
            said = replace(fault, probe=reading.probe, file=reading.file, line=line)
            reading.faults.append(said)
    return probe


def _vacuous(values: Mapping[str, Any]) -> list[Fault]:
    if values.get("expect"):
        return []
    scopes = {values.get("scope", "default"), *values.get("reads", ())}
    return list(empty_scope_faults(values["given"], scopes))
