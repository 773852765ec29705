"""Text set in columns: wrapped by what a terminal shows, never cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from memeval.text import display_width, pad, visible

WIDTH = 80
JOINTS = "-_/."


def wrap(text: str, width: int = WIDTH) -> list[str]:
    """Break a text into lines; a word that is longer than a line is broken too.

    Parameters
    ----------
    text : str
        Any text; what could act on a terminal is made visible.
    width : int
        Columns of a line, from 2.

    Returns
    -------
    list of str
        At least one line.

    Examples
    --------
    >>> wrap("the quick brown fox", 10)
    ['the quick', 'brown fox']
    >>> wrap("gate-code-of-the-attic", 12)
    ['gate-code-', 'of-the-attic']
    >>> wrap("木箱木箱木箱", 5)
    ['木箱', '木箱', '木箱']
    """
    lines = [""]
    for word in visible(text).split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if display_width(joined) <= width:
            lines[-1] = joined
            continue
        pieces = _pieces(word, width)
        lines = [line for line in lines if line] + pieces
    return lines


def fitted(text: str, width: int = WIDTH) -> str:
    r"""Lines of a text, those that are too long broken; tables that fit stay as they are.

    Examples
    --------
    >>> print(fitted("a  b\nthe quick brown fox", 10))
    a  b
    the quick
    brown fox
    """
    return "\n".join(
        part
        for line in text.split("\n")
        for part in ([line] if display_width(line) <= width and line == visible(line)
                     else wrap(line, width))
    )  # fmt: skip


def _pieces(word: str, width: int) -> list[str]:
    """A word in pieces that fit a line each, broken behind a joint where one is near the end."""
    pieces, used = [""], 0
    for char in word:
        wide = display_width(char)
        if used + wide > width:
            joint = max(map(pieces[-1].rfind, JOINTS)) + 1
            rest = pieces[-1][joint:] if joint > len(pieces[-1]) // 2 else ""
            pieces[-1] = pieces[-1].removesuffix(rest)
            pieces.append(rest)
            used = display_width(rest)
        pieces[-1] += char
        used += wide
    return pieces


def paragraph(text: str, indent: int = 0, width: int = WIDTH, first: str = "") -> str:
    """Set a text as a paragraph.

    Parameters
    ----------
    text : str
        Any text.
    indent : int
        Blanks before each line.
    first : str
        What stands before the first line in place of the blanks; it is padded to the indent.

    Examples
    --------
    >>> print(paragraph("a store that returns nothing", 6, 24, "why:"))
    why:  a store that
          returns nothing
    """
    lines = wrap(text, width - indent)
    head = pad(first, indent)
    return "\n".join(
        (head if n == 0 else " " * indent) + line for n, line in enumerate(lines)
    ).rstrip()


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], widths: Sequence[int], right: str = ""
) -> str:
    """Set rows in columns; a cell that is too long goes on below itself.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    rows : iterable of sequence of str
        Cells, as many as columns.
    widths : sequence of int
        Columns of each cell.
    right : str
        A letter per column: ``r`` sets it to the right, anything else to the left.

    Examples
    --------
    >>> print(table(["metric", "n"], [["leaks", "7"]], [8, 3], "lr"))
    metric     n
    ------------
    leaks      7
    """
    body = [line for row in rows for line in _cells(row, widths, right)]
    rule = "-" * (sum(widths) + len(widths) - 1)
    return "\n".join([*_cells(head, widths, right), rule, *body])


def _cells(row: Sequence[str], widths: Sequence[int], right: str) -> list[str]:
    columns = [wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
    tall = max(map(len, columns))
    lines = []
    for n in range(tall):
        cells = [
            pad(column[n] if n < len(column) else "", width, _side(right, at))
            for at, (column, width) in enumerate(zip(columns, widths, strict=True))
        ]
        lines.append(" ".join(cells).rstrip())
    return lines


def _side(right: str, at: int) -> Literal["left", "right"]:
    return "right" if right[at : at + 1] == "r" else "left"
