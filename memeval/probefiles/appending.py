"""Where a probe file ends: how its probes are set, and whether one more can stand below them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from memeval.checks.kinds import shown
from memeval.probefiles.emitting import Style
from memeval.probefiles.yamlfile import SourceError

BREAK = re.compile(r"\r\n|\r|\n")  # what YAML takes for the end of a line
DASH = re.compile(r"^( *)-(?= |$)", re.MULTILINE)
LINES = "write each probe as lines that begin with '- name:', or add this one by hand"


@dataclass(frozen=True, slots=True)
class End:
    """What the next probe of a file begins with.

    Attributes
    ----------
    lead : str
        What must stand before it: nothing, or the line ``probes:``.
    style : Style
        How the probes of the file are set.
    blank : bool
        Whether a blank line parts it from the last one.
    """

    lead: str = ""
    style: Style = field(default_factory=Style)
    blank: bool = False


def find_end(source: str) -> End:
    r"""Find out how one more probe can be added at the end of a file.

    Parameters
    ----------
    source : str
        Text of a YAML file that `read_yaml` takes.

    Raises
    ------
    SourceError
        If it cannot: the list stands in brackets, is not last, or the document is closed.

    Examples
    --------
    >>> find_end("haystack: none\nprobes:\n  - name: a\n    query: q\n").style
    Style(dash=2, offset=2, nested=2)
    """
    seen = _Outline(source)
    root, listed = seen.root, seen.listed
    if seen.closed:
        raise SourceError("the file ends with '...'", "remove that line", seen.closed)
    if root is None or (type(root) is yaml.ScalarEvent and not root.value):
        return End()
    if _in_brackets(root) or _in_brackets(listed):
        place = listed if _in_brackets(listed) else root
        raise SourceError("the probes stand in brackets", LINES, _line(place) + 1)
    if type(root) is yaml.MappingStartEvent and listed is None:
        return End(" " * _column(root) + "probes:\n", Style(dash=_column(root) + 2))
    if root is not listed and seen.last != "probes":
        found = f"the key {shown(seen.last)} stands after probes"
        line = seen.line
        raise SourceError(found, "move 'probes:' with all below it to the end of the file", line)
    if type(listed) is yaml.ScalarEvent and not listed.value:
        return End("", Style(dash=_column(root) + 2))
    if type(listed) is not yaml.SequenceStartEvent:
        raise SourceError("its probes are no list", LINES, _line(root) + 1)
    return End("", seen.style(), seen.parted())


def _column(event: Any) -> int:
    return int(event.start_mark.column)


def _line(event: Any) -> int:
    return int(event.start_mark.line)


def _in_brackets(event: Any) -> bool:
    return bool(getattr(event, "flow_style", False))


class _Outline:
    """The first levels of a file, from parser events: they know columns, brackets and dashes."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.root: Any = None
        self.listed: Any = None
        self.last, self.line, self.closed = "", 0, 0
        self.entries: list[Any] = []
        self.nested: int | None = None
        self._walk()

    def _walk(self) -> None:
        # Events of collections that are open, each with the number of its children so far.
        above: list[tuple[Any, list[Any]]] = []
        for event in _events(self.source):
            if isinstance(event, yaml.NodeEvent):
                self._place(event, above)
            if isinstance(event, yaml.CollectionStartEvent):
                above.append((event, []))
            elif isinstance(event, yaml.CollectionEndEvent):
                above.pop()
            elif isinstance(event, yaml.DocumentEndEvent) and event.explicit:
                self.closed = _line(event) + 1

    def _place(self, event: Any, above: list[tuple[Any, list[Any]]]) -> None:
        if not above:
            self.root = event
            if type(event) is yaml.SequenceStartEvent:
                self.listed = event
            return
        parent, children = above[-1]
        is_value = len(children) % 2 == 1
        children.append(event)
        if parent is self.listed:
            self.entries.append(event)
        elif parent is self.root and not is_value:
            self.last, self.line = getattr(event, "value", ""), _line(event) + 1
        elif parent is self.root and self.last == "probes":
            self.listed = event
        elif len(above) > 1 and above[-2][0] is self.listed and is_value:
            self._inner(event, parent)

    def _inner(self, event: Any, probe: Any) -> None:
        """How far the first block list within a probe is set in."""
        if type(event) is yaml.SequenceStartEvent and not event.flow_style and not event.anchor:
            inset = _column(event) - _column(probe)
            if self.nested is None and 0 <= inset <= 8:
                self.nested = inset

    def style(self) -> Style:
        """How the probes are set; the last one is the model."""
        dash, lines = _column(self.listed), BREAK.split(self.source)
        if self.listed.anchor is not None or self.listed.tag is not None:
            match = DASH.search("\n".join(lines[_line(self.listed) + 1 :]))
            dash = len(match[1]) if match else dash
        offset = _column(self.entries[-1]) - dash
        same = lines[_line(self.entries[-1])][dash : dash + 1] == "-"
        offset = offset if same and 2 <= offset <= 8 else 2
        return Style(dash, offset, 2 if self.nested is None else self.nested)

    def parted(self) -> bool:
        """Whether a blank line stands before the last probe and what is said of it."""
        if len(self.entries) < 2:
            return True
        lines = BREAK.split(self.source)[: _line(self.entries[-1])]
        while lines and (lines[-1].strip() == "-" or lines[-1].lstrip().startswith("#")):
            lines.pop()
        return bool(lines) and not lines[-1].strip()


def _events(source: str) -> Iterator[Any]:
    """Parser events; the Python parser takes escapes that the C parser refuses."""
    fast = getattr(yaml, "CSafeLoader", None)
    try:
        yield from list(yaml.parse(source, Loader=fast or yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeEncodeError):
        yield from yaml.parse(source, Loader=yaml.SafeLoader)
