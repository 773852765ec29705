"""What goes to the two streams: results to stdout, words to stderr, safe on any console."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from memeval.text import visible

ERRORS = "memeval-console"
# One column each, so that a table keeps its shape on a console that cannot show the character.
_PLAIN = {
    "…": "~",
    "·": "-",
    "–": "-",
    "—": "-",
    "−": "-",
    "×": "x",
    "→": ">",
    "≤": "<",
    "≥": ">",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "✓": "+",
    "✗": "x",
    "│": "|",
    "─": "-",
    "±": "~",
}


def _plainer(error: UnicodeError) -> tuple[str, int]:
    """Stand-ins for what the console cannot show, other characters as escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    pieces = (_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lost)
    return "".join(pieces), error.end


def make_safe() -> None:
    """Let no character that the console cannot show, and no closed stream, stop the output.

    Python has None for a stream that is closed at its start, and prints to stdout in its place.
    """
    codecs.register_error(ERRORS, _plainer)
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors != ERRORS:
            stream.reconfigure(errors=ERRORS)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


# What wipes a line that is being drawn, so that words do not run into it.
wipers: list[Callable[[], None]] = []


def show(text: str) -> None:
    """Print a result to stdout."""
    print(text)


def say(text: str, *, quiet: bool = False) -> None:
    """Print words to stderr, each line made safe and led in by the name of the program.

    Where stderr takes no more, nobody can be told, and the work goes on.
    """
    if not quiet:
        with contextlib.suppress(OSError, ValueError):
            for wipe in wipers:
                wipe()
            for line in text.splitlines():
                print(f"memeval: {visible(line)}", file=sys.stderr)


def width() -> int:
    """Columns to print in: those of the terminal, at most 100, and 80 where there is none."""
    return max(40, min(100, shutil.get_terminal_size((80, 24)).columns))


def wrapped(text: str, indent: str = "    ") -> str:
    """One paragraph, made safe and broken into lines; what cannot be broken stays whole."""
    return textwrap.fill(
        visible(text),
        width(),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


@contextmanager
def warnings_in_one_line(*, quiet: bool = False) -> Iterator[None]:
    """Show Python warnings as one line of words on stderr, each of them once."""
    seen: set[str] = set()

    def tell(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> Any:
        said = " ".join(str(message).split())
        if said not in seen:
            seen.add(said)
            say(f"warning: {said}", quiet=quiet)

    with warnings.catch_warnings():
        from memeval.errors import WeakSuiteWarning

        warnings.simplefilter("always", WeakSuiteWarning)
        warnings.showwarning = tell
        yield
