"""One line of a terminal that is drawn over itself, to tell how far something has come."""

from __future__ import annotations

import shutil
from typing import TextIO

from memeval.text import display_width, pad, visible

EVERY_S = 0.1
"""Seconds between two drawings: ten a second are as many as an eye can tell apart."""


class Line:
    r"""A line that is drawn over itself and leaves nothing behind.

    Parameters
    ----------
    stream : text stream
        Where to draw.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> line = Line(stream)
    >>> line.draw("1/2 lunch"), line.draw("2/2"), line.wipe()
    (None, None, None)
    >>> stream.getvalue().split("\r")
    ['', '1/2 lunch', '2/2      ', '   ', '']
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.drawn = 0

    def draw(self, words: str, columns: int | None = None) -> None:
        """Draw words over what stands there, cut to the columns of the terminal."""
        wide = shutil.get_terminal_size().columns if columns is None else columns
        line = visible(words, wide - 1)
        self.stream.write("\r" + pad(line, self.drawn))
        self.stream.flush()
        self.drawn = display_width(line)

    def wipe(self) -> None:
        """Wipe what is drawn."""
        if self.drawn:
            self.stream.write("\r" + " " * self.drawn + "\r")
            self.stream.flush()
            self.drawn = 0
