"""YAML as nodes: read strictly, with exact lines, and without running anything in it.

The tree is built from parser events, not by recursion, so depth and aliases have limits that hold
whatever a file says. The fast C parser is used where there is one; when it refuses a file, the
Python parser has the last word, since it knows more escapes and says better what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import yaml

from memeval.errors import Fault
from memeval.probefiles.nodes import MOST_EXPANDED, MOST_LEVELS, Kind, Node

STANDARD = "tag:yaml.org,2002:"
TAGS = frozenset({"str", "int", "float", "bool", "null", "timestamp", "seq", "map"})
CUT = re.compile(r"[ \t]+#(.?)")


class SourceError(Exception):
    """A file cannot be read as YAML or JSON.

    Attributes
    ----------
    fault : Fault
        What is wrong, with line and column and without the file.
    """

    def __init__(self, found: str, todo: str, line: int = 1, column: int = 0) -> None:
        place = f"column {column}" if column else ""
        self.fault = Fault(found, todo, place, line=line)
        super().__init__(str(self.fault))


def read_yaml(source: str) -> Node | None:
    """Read one YAML document.

    Parameters
    ----------
    source : str
        Text of the file.

    Returns
    -------
    Node or None
        None where the file says nothing.

    Raises
    ------
    SourceError
        If it is not YAML, holds several documents or foreign tags, or nests or expands too far.

    Examples
    --------
    >>> node = read_yaml("- {id: no}")
    >>> key, value = node.entries[0].pairs[0]
    >>> key.text, value.text, value.tag
    ('id', 'no', 'bool')
    """
    fast = getattr(yaml, "CSafeLoader", None)
    if fast is not None:
        try:
            return _Builder().build(yaml.parse(source, Loader=fast))
        except (yaml.YAMLError, UnicodeEncodeError):
            pass  # the Python parser decides, and says why
    try:
        return _Builder().build(yaml.parse(source, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise _said(error, source) from error
    except (ValueError, OverflowError) as error:  # escapes such as "\\UFFFFFFFF"
        found = "not YAML: an escape names no character"
        raise SourceError(found, "look for \\U in double quotes and mend it") from error


class _Builder:
    """Nodes from parser events, on a stack of its own."""

    def __init__(self) -> None:
        self.anchors: dict[str, Node] = {}
        # Collections that are not closed yet, each with its entries, or its keys and values.
        self.open: list[tuple[Node, list[Node]]] = []
        self.root: Node | None = None
        self.documents = 0
        self.distinct = 0

    def build(self, events: Iterator[Any]) -> Node | None:
        for event in events:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._add(_scalar(event), event)
            elif kind is yaml.SequenceEndEvent or kind is yaml.MappingEndEvent:
                self._end()
            elif kind is yaml.SequenceStartEvent:
                self._begin(event, "list")
            elif kind is yaml.MappingStartEvent:
                self._begin(event, "mapping")
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                self._document(event)
        if self.root is not None and self.root.size > self.distinct + MOST_EXPANDED:
            found = f"its aliases come to {min(self.root.size, 10**12):,} values or more"
            raise SourceError(found, "write the values out, or use fewer aliases")
        blank = self.root is not None and self.root.tag == "null" and not self.root.text
        return None if blank else self.root

    def _document(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            raise SourceError(
                "a second document begins (---)",
                "put all probes into one list, or into several files",
                event.start_mark.line + 1,
            )

    def _add(self, node: Node, event: Any) -> None:
        self.distinct += 1
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        if self.open:
            self.open[-1][1].append(node)
        else:
            self.root = node

    def _begin(self, event: Any, kind: Kind) -> None:
        if event.tag is not None and event.tag != "!":
            _allowed(event)
        line = event.start_mark.line + 1
        if len(self.open) >= MOST_LEVELS:
            found = f"nested deeper than {MOST_LEVELS} levels"
            raise SourceError(found, "look for brackets left open", line)
        node = Node(kind, line)
        self._add(node, event)
        self.open.append((node, []))

    def _end(self) -> None:
        node, inner = self.open.pop()
        node.size = 1 + sum([n.size for n in inner])
        if node.kind == "list":
            node.entries = inner
        else:
            node.pairs = list(zip(inner[::2], inner[1::2], strict=True))

    def _alias(self, event: Any) -> None:
        node = self.anchors.get(event.anchor)
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if node is None:
            todo = "put the anchor (&) before it, or quote a text that begins with *"
            raise SourceError(f"the alias *{event.anchor} has no anchor", todo, line, column)
        if any(node is parent for parent, _ in self.open):
            raise SourceError(
                f"the alias *{event.anchor} holds itself", "write the values out", line, column
            )
        if self.open:
            self.open[-1][1].append(node)


def _scalar(event: Any) -> Node:
    plain = event.implicit[0] and not event.style
    if event.tag is None:
        tag = _resolved(event.value) if plain else "str"
    else:
        tag = "str" if event.tag == "!" else _allowed(event)
    end = event.end_mark.index if plain else -1
    return Node("scalar", event.start_mark.line + 1, tag, event.value, end)


@lru_cache(maxsize=4096)
def _resolved(written: str) -> str:
    """What YAML 1.1 makes of an unquoted scalar."""
    resolver: Any = yaml.resolver.Resolver()
    return str(resolver.resolve(yaml.ScalarNode, written, (True, False))).removeprefix(STANDARD)


def _allowed(event: Any) -> str:
    """A tag of plain values; any other could ask for an object to be made."""
    name: str = event.tag.removeprefix(STANDARD)
    if event.tag.startswith(STANDARD) and name in TAGS:
        return name
    written = event.tag.replace(STANDARD, "!!")
    line, column = event.start_mark.line + 1, event.start_mark.column + 1
    todo = "leave the tag out; quote a text that begins with !"
    raise SourceError(f"the tag {written!r} is not for probe files", todo, line, column)


def _said(error: yaml.YAMLError, source: str) -> SourceError:
    """The parser's complaint, with the fix where it is known."""
    if isinstance(error, yaml.reader.ReaderError):
        line, column = place(source, error.position)
        code = f"U+{ord(source[error.position]):04X}"
        what = "a NUL byte: the file is not text" if code == "U+0000" else f"the character {code}"
        todo = 'write it as an escape in double quotes, such as "\\u001b", or leave it out'
        return SourceError(f"holds {what}, which YAML forbids", todo, line, column)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "context", None) or "unreadable"
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 0)
    if "'\\t'" in problem:
        return SourceError("tabs cannot indent", "use blanks instead", line, column)
    return SourceError(f"not YAML: {problem}", _advice(problem), line, column)


def _advice(problem: str) -> str:
    if "mapping values are not allowed" in problem:
        return "quote a text that holds ': ', and check the indent"
    if "cannot start any token" in problem:
        return "quote a text that begins with this character"
    if "end of stream" in problem or "<stream end>" in problem or "quoted scalar" in problem:
        return "close the quote or bracket that is left open"
    return "check the indent; quote texts that hold any of : # [ ] { } , & * ! | > ' \""


def place(source: str, index: int) -> tuple[int, int]:
    """Line and column, both from 1, of a place in a text."""
    before = source[:index]
    return before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1
