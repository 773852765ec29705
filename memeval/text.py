"""Other people's text: made safe to show, and made comparable.

Record texts, queries, names and error messages come from outside and may hold anything: terminal
escapes, marks that turn the reading direction, half characters. `clean` is applied when they are
loaded, `visible` or `markdown_cell` when they are printed. The matching of words stands in
`memeval.words` and is handed on from here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from memeval.words import (
    clean,
    contains_tokens,
    content_words,
    count_tokens,
    is_hidden,
    normalise,
    tokens,
)

__all__ = [
    "clean",
    "contains_tokens",
    "content_words",
    "count",
    "count_tokens",
    "display_width",
    "markdown_cell",
    "normalise",
    "pad",
    "tokens",
    "visible",
]

_ELLIPSIS = "\u2026"
_MARKDOWN = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}
    | {mark: "\\" + mark for mark in "\\`*_[]{}~$!"}
)
# What readers turn into links without any mark-up: a scheme, and names joined by dots.
_MENTION = re.compile(r"@(?=\w)")
_AUTOLINK = re.compile(r":(?=//)|(?<=[^\W\d_])\.(?=[^\W\d_])")


@lru_cache(maxsize=4096)
def _shown(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"<U+{code:04X}>" if is_hidden(char) else char


def visible(text: str, limit: int | None = None) -> str:
    r"""Text that is safe to print: nothing in it acts on a terminal or hides from the reader.

    Parameters
    ----------
    text : str
        Any text.
    limit : int, optional
        Most display columns (`display_width`); what is longer ends in an ellipsis. Without it
        nothing is cut.

    Returns
    -------
    str
        One line without control characters.

    Raises
    ------
    ValueError
        `limit` below 0.

    Notes
    -----
    C0 controls (so NUL, tab, newline, ESC) and DEL become their Unicode control picture, lone
    surrogates U+FFFD. C1 controls, direction marks, zero-width and other characters without a
    glyph, and line and paragraph separators become their code in angle brackets; only the
    selectors of emoji style stay. Under a limit a text is also cut after eight characters a
    column, so that marks without width cannot make a cell endless. A code is never cut in two.

    Examples
    --------
    >>> visible("red: \x1b[31m\n")
    'red: ␛[31m␊'
    >>> visible("abc\u202ecba")
    'abc<U+202E>cba'
    >>> visible("a long text", limit=6)
    'a lon…'
    """
    shown = clean(text)
    if limit is not None and limit < 0:
        raise ValueError(f"limit: found {limit}, wanted a number of columns of 0 or more")
    if not (shown.isascii() and shown.isprintable()):
        return "".join(map(_shown, shown)) if limit is None else _cut(map(_shown, shown), limit)
    return shown if limit is None else _cut(shown, limit)


def _cut(pieces: Iterable[str], limit: int) -> str:
    kept: list[str] = []
    width = 0
    for piece in pieces:
        kept.append(piece)
        width += display_width(piece)
        if width > limit or len(kept) > 8 * limit:
            break
    else:
        return "".join(kept)
    while kept and width >= limit:
        width -= display_width(kept.pop())
    return "".join(kept) + _ELLIPSIS if limit else ""


@lru_cache(maxsize=4096)
def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me") or is_hidden(char):
        return 0
    # Vowels and finals of Korean join the consonant before them.
    if "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7ff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def display_width(text: str) -> int:
    """Columns that a text takes in a terminal.

    Parameters
    ----------
    text : str
        Text that went through `visible`; a control character counts as 0.

    Returns
    -------
    int
        East Asian wide and full-width characters and emoji count 2, combining marks without
        width of their own 0, everything else 1, by the Unicode tables of this Python. Emoji
        sequences count each of their members.

    Examples
    --------
    >>> display_width("木箱"), display_width("cafe"), display_width("cafe\u0301")
    (4, 4, 4)
    """
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(map(_char_width, text))


def count(n: int, one: str, many: str = "") -> str:
    """Say a number with its noun.

    Examples
    --------
    >>> count(1, "probe"), count(2, "probe"), count(2, "search", "searches")
    ('1 probe', '2 probes', '2 searches')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def pad(text: str, width: int, align: Literal["left", "right", "center"] = "left") -> str:
    """Fill a text with spaces to a number of columns.

    Parameters
    ----------
    text : str
        Text that went through `visible`.
    width : int
        Columns wanted. A wider text is returned unchanged.
    align : {"left", "right", "center"}
        Where the text stands.

    Returns
    -------
    str
        At least `width` columns wide.

    Raises
    ------
    ValueError
        Another `align`.

    Examples
    --------
    >>> pad("木箱", 6) + "|", pad("7", 3, "right"), pad("ab", 5, "center")
    ('木箱  |', '  7', ' ab  ')
    """
    fill = max(0, width - display_width(text))
    before = {"left": 0, "right": fill, "center": fill // 2}
    if align not in before:
        raise ValueError(f"align: found {align!r}, wanted 'left', 'right' or 'center'")
    return " " * before[align] + text + " " * (fill - before[align])


def markdown_cell(text: str, limit: int | None = None) -> str:
    r"""Text for a cell of a Markdown table: it shows as it is and does nothing.

    Parameters
    ----------
    text : str
        Any text.
    limit : int, optional
        Most display columns before escaping, as in `visible`.

    Returns
    -------
    str
        One line, without a bare pipe, and with no HTML, link, image, code or emphasis in it.

    Raises
    ------
    ValueError
        `limit` below 0.

    Notes
    -----
    After `visible`, ``& < > |`` become entities, other marks of Markdown get a backslash, and so
    do the colon of ``://`` and a dot between letters, which many readers turn into links. An
    ``@`` before a word becomes the full-width one: hosts look for names and mail addresses in the
    finished page, where no escape is left, and a record must not call on anyone.

    Examples
    --------
    >>> print(markdown_cell("a|b <b> [x](y)"))
    a&#124;b &lt;b&gt; \[x\](y)
    """
    quiet = _MENTION.sub("\uff20", visible(text, limit))
    return _AUTOLINK.sub(r"\\\g<0>", quiet.translate(_MARKDOWN))
