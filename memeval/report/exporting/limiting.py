"""Outputs of a cell, cut where they are endless: a page is read by people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

HALF = 100_000
LONGEST_TEXT = 2 * HALF
# The cleaning of markup takes longer with its square where one element holds all the others.
MOST_MARKUP = 2_000_000
MOST_TAGS = 50_000
LEFT_OUT = "left_out"
# What only says that there is an object.
OBJECT = re.compile(r"<[\w.]+ (object|at 0x)[^>]*>|<Figure size [^>]*>")
MARKUP = ("text/html", "text/markdown")


def shorten(stream: Any) -> None:
    """Cut the middle out of a stream that still grows, and note how much that was.

    Parameters
    ----------
    stream : nbformat.NotebookNode
        An output; it is changed. Its ``left_out`` says how many characters are gone.
    """
    text = stream.text
    if len(text) > 2 * LONGEST_TEXT:
        stream.text = text[:HALF] + text[-HALF:]
        stream[LEFT_OUT] = stream.get(LEFT_OUT, 0) + len(text) - LONGEST_TEXT


def ends_of(text: str, gone: int = 0) -> tuple[str, int, str]:
    """How a text begins, how many characters are left out after that, and how it ends.

    Parameters
    ----------
    text : str
        Any text.
    gone : int
        How many characters `shorten` has left out of it.

    Examples
    --------
    >>> ends_of("short")
    ('short', 0, '')
    """
    n = gone + max(0, len(text) - LONGEST_TEXT)
    return (text[:HALF], n, text[HALF:][-HALF:]) if n else (text, 0, "")


def overwritten(text: str) -> str:
    r"""Text as a terminal shows it where lines go back to their start.

    Examples
    --------
    >>> overwritten("10 %\r20 %\rdone\r\nnext")
    'done\r\nnext'
    """
    return "\n".join(_last(line) for line in text.split("\n")) if "\r" in text else text


def _last(line: str) -> str:
    told = line.rstrip("\r")
    return told.rpartition("\r")[2] + line[len(told) :]


def within(outputs: Iterable[Any]) -> Iterator[Any]:
    """Outputs of one cell; markup beyond what can be cleaned soon gives way to its text.

    Parameters
    ----------
    outputs : iterable of nbformat.NotebookNode
        They are changed.
    """
    room, tags = MOST_MARKUP, MOST_TAGS
    for output in outputs:
        for kind in set(MARKUP) & set(output.get("data", {})):
            value = output.data[kind]
            text = value if isinstance(value, str) else "".join(map(str, value))
            if len(text) <= room and text.count("<") <= tags:
                room, tags = room - len(text), tags - text.count("<")
            else:
                _give_way(output, kind, len(text))
        yield output


def _give_way(output: Any, kind: str, size: int) -> None:
    name = {"text/html": "HTML", "text/markdown": "Markdown"}[kind]
    note = f"… {size:,} characters of {name} left out: too much for a page"
    del output.data[kind]
    plain = output.data.get("text/plain", "")
    text = plain if isinstance(plain, str) else "".join(map(str, plain))
    told = "" if OBJECT.fullmatch(text.strip()) else text
    output.data["text/plain"] = f"{told}\n{note}".strip()
