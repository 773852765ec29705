"""From nodes to values: each field is read as one kind, and nothing is guessed.

A value of another kind is a fault. Where a text was wanted and YAML would make something else of
it, reading goes on with the words as written, so that one slip brings one fault and not ten.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from memeval.checks.kinds import shown
from memeval.errors import Fault
from memeval.probefiles.nodes import Node
from memeval.probefiles.yamlfile import CUT
from memeval.text import clean
from memeval.times import parse_span, parse_time

T = TypeVar("T")
WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
# An id in metadata may be longer than any count; past this Python itself reads none.
LONG_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,999})")
# Written so, a number is read back as it was written: no 4.10, no 012, no 1_000.
DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.(0|[0-9]*[1-9])([eE][-+]?[0-9]+)?")
FREE_TEXTS = ("query", "text", "why", "near", "canary", "names")
# Words of other tools for what is meant here.
MEANT = {
    "content": "text",
    "date": "at",
    "gold": "expect",
    "limit": "k",
    "metadata": "meta",
    "namespace": "scope",
    "ops": "given",
    "question": "query",
    "records": "given",
    "time": "at",
    "timestamp": "at",
    "top_k": "k",
    "user": "scope",
    "user_id": "scope",
}


@dataclass(slots=True)
class Reading:
    """One file being read, and what was found wrong or odd in it so far.

    Attributes
    ----------
    file : str
        Its path as shown.
    source : str
        Its text where it is YAML, to see what a ``#`` cut off; empty for JSON.
    faults, notes : list of Fault
        What is wrong, and what is only odd.
    probe : str
        Name of the probe that is being read.
    """

    file: str
    source: str = ""
    faults: list[Fault] = field(default_factory=list)
    notes: list[Fault] = field(default_factory=list)
    probe: str = ""

    def fault(self, line: int, field: str, found: str, todo: str) -> None:
        """Keep one fault."""
        self.faults.append(Fault(found, todo, field, self.probe, self.file, line))

    def text(self, node: Node, field: str) -> str | None:
        """Read a text; None where there are no words to go on with."""
        if node.kind != "scalar":
            self.fault(node.line, field, f"{node.said()} stands here", "write a text")
            return None
        if node.tag == "str":
            if node.end >= 0 and self.source:
                self._cut(node, field)
            return node.text if node.text.isascii() else clean(node.text)
        if not node.text:
            self._nothing(node, field)
            return None
        found = f"{node.text} is {node.said()}, not a text"
        if node.end >= 0:
            found = f"{shown(node.text)[1:-1]} without quotes is {node.said()}, not a text"
        self.fault(node.line, field, found, f'quote it: "{shown(node.text)[1:-1]}"')
        return node.text

    def _cut(self, node: Node, field: str) -> None:
        """Note an unquoted text that ends before `` #``, unless it looks like a comment."""
        tail = CUT.match(self.source, node.end)
        if tail is None:
            return
        name = re.split(r"[.\[]", field.rpartition(".")[2])[0]
        if name in FREE_TEXTS or tail[1].strip():
            found = f"{shown(node.text)} is cut at ' #'"
            todo = "quote the text if the rest belongs to it, else move the comment"
            self.notes.append(Fault(found, todo, field, self.probe, self.file, node.line))

    def _nothing(self, node: Node, field: str) -> None:
        if node.end >= 0 and self.source and CUT.match(self.source, node.end):
            found, todo = "nothing is left of it before ' #'", "quote a text that holds #"
        else:
            found, todo = "nothing stands here", "write a text in quotes, or leave the field out"
        self.fault(node.line, field, found, todo)

    def whole(self, node: Node, field: str) -> int | None:
        """Read a whole number."""
        if node.tag == "int" and WHOLE.fullmatch(node.text):
            return int(node.text)
        said = shown(node.text) if node.tag == "str" else node.text or "nothing"
        said = said if node.kind == "scalar" else node.said()
        kind = ", a text" if node.tag == "str" else ""
        self.fault(node.line, field, f"{field} is {said[:60]}{kind}", "write a whole number from 1")
        return None

    def flag(self, node: Node, field: str) -> bool | None:
        """Read true or false."""
        if node.tag == "bool" and node.text.lower() in ("true", "false"):
            return node.text.lower() == "true"
        said = shown(node.text) if node.kind == "scalar" else node.said()
        self.fault(node.line, field, f"{said} stands here", "write true or false")
        return None

    def time(self, node: Node, field: str) -> datetime | None:
        """Read a time in any form; without a zone it is UTC."""
        todo = "write it as 2026-03-01 or 2026-03-01T09:00:00Z"
        if node.tag in ("timestamp", "str"):
            try:
                return parse_time(node.text)
            except (ValueError, OverflowError) as error:
                why = "" if "isoformat" in str(error) else f": {error}"
                found = f"{shown(node.text)} is not a time{why}"
        else:
            found = f"{node.text or 'nothing'} is {node.said()}, not a time"
            found = found if node.kind == "scalar" else f"{node.said()} is not a time"
        self.fault(node.line, field, found, todo)
        return None

    def span(self, node: Node, field: str) -> timedelta | None:
        """Read a span of time such as 30d."""
        try:
            if node.tag == "str":
                return parse_span(node.text)
            said = node.text or node.said()
        except ValueError:
            said = shown(node.text)
        todo = "write a whole number and w, d, h, m or s, such as 30d; at most 100 years"
        self.fault(node.line, field, f"{said} is not a span of time", todo)
        return None

    def many(
        self, node: Node, field: str, read: Callable[[Node, str], T | None]
    ) -> tuple[T, ...] | None:
        """Read a list; None where it is none, or an entry cannot be used."""
        if node.kind != "list":
            if node.kind == "mapping" or node.tag == "null":
                said = node.said() if node.text or node.kind == "mapping" else "nothing"
                self.fault(node.line, field, f"{said} stands here", "write a list, such as []")
            else:
                said = shown(node.text)
                todo = f"write it as a list: [{said[1:-1]}]"
                self.fault(node.line, field, f"{said} is not a list", todo)
            return None
        values = [read(entry, f"{field}[{n}]") for n, entry in enumerate(node.entries)]
        return None if None in values else tuple(v for v in values if v is not None)

    def texts(self, node: Node, field: str) -> tuple[str, ...] | None:
        """Read a list of texts."""
        return self.many(node, field, self.text)

    def groups(self, node: Node, field: str) -> tuple[Any, ...] | None:
        """Read a list of texts and of lists of texts."""

        def entry(inner: Node, place: str) -> str | tuple[str, ...] | None:
            if inner.kind == "list":
                return self.texts(inner, place)
            return self.text(inner, place)

        return self.many(node, field, entry)

    def plain(self, node: Node, field: str) -> Any:
        """Read a value of metadata: text, number, true, false, null, list or mapping."""
        if node.kind == "list":
            return [self.plain(inner, f"{field}[{n}]") for n, inner in enumerate(node.entries)]
        if node.kind == "mapping":
            return self.mapping(node, field)
        if node.tag == "str":
            return self.text(node, field)
        if node.tag == "int" and LONG_WHOLE.fullmatch(node.text):
            return int(node.text)
        if node.tag == "float" and (DECIMAL.fullmatch(node.text) or self._json_float(node)):
            return float(node.text)
        if node.tag == "bool" and node.text.lower() in ("true", "false"):
            return node.text.lower() == "true"
        if node.tag == "null" and node.text.lower() == "null":
            return None
        if not node.text:
            self._nothing(node, field)
            return None
        plainly = "write it in its plain form (true, 12, 4.1, null), or quote it"
        if len(node.text) > 1000:
            plainly = "quote it: a number may have 1,000 digits"
        said = shown(node.text)[1:-1]
        self.fault(node.line, field, f"{said} would be read as {node.said()}", plainly)
        return node.text

    def _json_float(self, node: Node) -> bool:
        """JSON has one meaning for each number; only the infinite ones are no JSON."""
        return node.end < 0 and not set(node.text) & set("IN") and abs(float(node.text)) < 1e308

    def mapping(self, node: Node, field: str) -> dict[str, Any] | None:
        """Read a mapping with any keys."""
        if node.kind != "mapping":
            said = shown(node.text) if node.text else node.said()
            said = said if node.kind == "scalar" else node.said()
            self.fault(node.line, field, f"{said} is not a mapping", "write {key: value}")
            return None
        pairs = self.pairs(node, field)
        return {key: self.plain(value, f"{field}.{key}") for key, value in pairs.items()}

    def pairs(self, node: Node, field: str) -> dict[str, Node]:
        """Keys and values of a mapping; ``<<`` brings in what it names, and yields to the rest.

        Every key that stands twice, or is no text, is a fault.
        """
        own: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        lines: dict[str, int] = {}
        for key, value in node.pairs:
            name = self._key(key, field)
            if name is None:
                continue
            if name in lines:
                found = f"the key {shown(name)} stands twice, first at line {lines[name]}"
                self.fault(key.line, _below(field, name), found, "keep one of the two")
                continue
            lines[name] = key.line
            if key.tag == "merge":
                for other in self._merged(value, field):
                    merged = {**other, **merged}
            else:
                own[name] = value
        return {**merged, **own} if merged else own

    def _key(self, key: Node, field: str) -> str | None:
        if key.kind == "scalar" and key.tag in ("str", "merge"):
            return key.text if key.text.isascii() else clean(key.text)
        if key.kind == "scalar" and key.text:
            found = f"the key {shown(key.text)[1:-1]} is {key.said()}, not a text"
            self.fault(key.line, field, found, f'quote it: "{shown(key.text)[1:-1]}"')
            return key.text
        said = key.said() if key.kind != "scalar" else "nothing"
        self.fault(key.line, field, f"{said} stands in place of a key", "write a text as key")
        return None

    def _merged(self, value: Node, field: str) -> Iterator[dict[str, Node]]:
        for other in value.entries if value.kind == "list" else [value]:
            if other.kind == "mapping":
                yield self.pairs(other, field)
            else:
                found = f"<< names {other.said()}, not a mapping"
                self.fault(other.line, field, found, "write <<: *anchor of a mapping")

    def known(self, node: Node, field: str, names: Collection[str]) -> dict[str, Node]:
        """Keys and values of a mapping that may hold these keys only."""
        pairs = self.pairs(node, field)
        if all(name in names for name in pairs):
            return pairs
        lines = {key.text: key.line for key, _ in node.pairs}
        for name in [name for name in pairs if name not in names]:
            line = lines.get(name, node.line)
            self.fault(line, field, f"unknown key {shown(name)}", _meant(name, names))
            del pairs[name]
        return pairs


def _below(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name


def _meant(name: str, names: Collection[str]) -> str:
    near = difflib.get_close_matches(name.lower(), names, 1) or [MEANT.get(name.lower(), "")]
    if near[0] in names:
        return f"write {near[0]!r}"
    return f"known are {', '.join(names)}"
