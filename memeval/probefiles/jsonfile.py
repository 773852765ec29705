"""JSON as nodes, with lines; the rest of the reading is that of YAML files.

JSON is not read as YAML: the two differ on tabs, long keys, numbers and half characters.
"""

from __future__ import annotations

import json
import re
from json import decoder
from typing import Any

from memeval.probefiles.nodes import MOST_LEVELS, Node
from memeval.probefiles.yamlfile import SourceError

_scanstring: Any = decoder.scanstring  # type: ignore[attr-defined]
_SKIP = re.compile(r"[ \t\r\n]*")
_BARE = re.compile(r"[^\s,\]}]+")
_NAMES = {"true": "bool", "false": "bool", "null": "null"}


def read_json(source: str) -> Node | None:
    """Read a JSON text.

    Parameters
    ----------
    source : str
        Text of the file.

    Returns
    -------
    Node or None
        None where the file is blank.

    Raises
    ------
    SourceError
        If it is not JSON, or nests too deep.

    Examples
    --------
    >>> read_json('[{"k": 5}]').entries[0].pairs[0][1].tag
    'int'
    """
    if not source.strip():
        return None
    deep = f"nested deeper than {MOST_LEVELS} levels"
    try:
        json.loads(source, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        todo = "mend this place; names and texts stand in double quotes, no comma before ] or }"
        raise SourceError(f"not JSON: {error.msg}", todo, error.lineno, error.colno) from error
    except RecursionError as error:
        raise SourceError(deep, "look for brackets left open") from error
    reader = _Reader(source)
    return reader.value(_skip(source, 0))[0]


class _Reader:
    """Nodes from a text that is known to be JSON."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.line, self.counted, self.depth = 1, 0, 0

    def _line(self, at: int) -> int:
        self.line += self.source.count("\n", self.counted, at)
        self.counted = at
        return self.line

    def value(self, at: int) -> tuple[Node, int]:
        line, first = self._line(at), self.source[at]
        if first == '"':
            text, end = _scanstring(self.source, at + 1, True)
            return Node("scalar", line, "str", text), end
        if first in "[{":
            return self._collection(at, line)
        match = _BARE.match(self.source, at)
        word = match[0] if match else ""
        number = "float" if set(word) & set(".eENI") else "int"
        return Node("scalar", line, _NAMES.get(word, number), word), at + len(word)

    def _collection(self, at: int, line: int) -> tuple[Node, int]:
        self.depth += 1
        if self.depth > MOST_LEVELS:
            todo = "look for brackets left open"
            raise SourceError(f"nested deeper than {MOST_LEVELS} levels", todo, line)
        inner: list[Node] = []
        is_list = self.source[at] == "["
        at = _skip(self.source, at + 1)
        while self.source[at] not in "]}":
            entry, at = self.value(at)
            at = _skip(self.source, at)
            inner.append(entry)
            if not is_list:
                value, at = self.value(_skip(self.source, at + 1))  # past the colon
                inner.append(value)
            at = _skip(self.source, at)
            if self.source[at] == ",":
                at = _skip(self.source, at + 1)
        self.depth -= 1
        if is_list:
            return Node("list", line, entries=inner), at + 1
        pairs = list(zip(inner[::2], inner[1::2], strict=True))
        return Node("mapping", line, pairs=pairs), at + 1


def _skip(source: str, at: int) -> int:
    match = _SKIP.match(source, at)
    return match.end() if match else at
