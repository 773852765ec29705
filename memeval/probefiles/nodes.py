"""What a YAML or JSON file says, before anything is made of it: nodes that know their line.

A scalar keeps the words in which it was written, so that no value is ever guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["scalar", "list", "mapping"]

MOST_LEVELS = 100
MOST_EXPANDED = 1_000_000


@dataclass(slots=True, eq=False)
class Node:
    """A scalar, a list or a mapping of a file.

    Attributes
    ----------
    kind : {'scalar', 'list', 'mapping'}
        What it is.
    line : int
        Where it begins, from 1.
    tag : str
        What YAML or JSON would make of a scalar: ``str``, ``int``, ``float``, ``bool``, ``null``,
        ``timestamp``, ``merge`` or ``value``.
    text : str
        The words of a scalar as written, without quotes.
    end : int
        Place in the source right after an unquoted YAML scalar, else -1.
    entries : sequence of Node
        Entries of a list.
    pairs : sequence of (Node, Node)
        Keys and values of a mapping, in order, duplicates included.
    size : int
        How many nodes it comes to when every alias in it is written out.
    """

    kind: Kind
    line: int
    tag: str = ""
    text: str = ""
    end: int = -1
    entries: Sequence[Node] = ()
    pairs: Sequence[tuple[Node, Node]] = ()
    size: int = 1

    def said(self) -> str:
        """Say in words what it is.

        Examples
        --------
        >>> Node("scalar", 1, "bool", "no").said(), Node("list", 1).said()
        ('false', 'a list')
        """
        if self.kind != "scalar":
            return f"a {self.kind}"
        if self.tag == "bool":
            return "true" if self.text.lower() in ("y", "yes", "true", "on") else "false"
        words = {
            "null": "null",
            "str": "a text",
            "timestamp": "a time",
            "int": "a number",
            "float": "a number",
        }
        number = _number(self.text) if self.tag in ("int", "float") else ""
        return f"the number {number}" if number else words.get(self.tag, f"a {self.tag}")


def _number(written: str) -> str:
    """The number that YAML 1.1 makes of what is written, where it can be said shortly."""
    import yaml

    if len(written) > 40:
        return ""
    try:
        return f"{yaml.safe_load(written)!r}"
    except (yaml.YAMLError, ValueError, OverflowError):
        return ""


def walk(path: str) -> Iterator[str]:
    """Steps of a field such as ``given[2].id``, from the root on.

    Examples
    --------
    >>> list(walk("given[2].meta.a"))
    ['given', '[2]', 'meta', 'a']
    """
    for part in path.split("."):
        name, *places = part.split("[")
        if name:
            yield name
        yield from (f"[{place}" for place in places)


def locate(node: Node, path: str) -> int:
    """Line of a field below a node, or of the nearest thing above it that there is.

    Parameters
    ----------
    node : Node
        Where the path begins.
    path : str
        Such as ``given[2].id``.

    Returns
    -------
    int
        Line, from 1.
    """
    for step in walk(path):
        following = _step(node, step)
        if following is None:
            break
        node = following
    return node.line


def _step(node: Node, step: str) -> Node | None:
    if step.startswith("["):
        place = step[1:-1]
        if node.kind == "list" and place.isdigit() and int(place) < len(node.entries):
            return node.entries[int(place)]
        return None
    merged: list[Node] = []
    for key, value in node.pairs:
        if key.text == step and key.tag != "merge":
            return value
        if key.tag == "merge":
            merged += value.entries if value.kind == "list" else [value]
    return next((found for n in merged if (found := _step(n, step)) is not None), None)
