"""How far a run has come, on one line of a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Self, TextIO

from memeval.cli.console import width, wipers
from memeval.progressline import EVERY_S, Line
from memeval.text import visible


class Progress:
    """Draws ``done/total label`` over itself, at most ten times a second, and wipes it at the end.

    Parameters
    ----------
    stages : sequence of str
        What is run one after the other; a count that starts again is the next stage.
    stream : text stream, optional
        Where to draw; stderr by default.
    clock : callable
        Seconds, for the pace.
    """

    def __init__(
        self,
        stages: Sequence[str] = ("",),
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.stages = stages
        self.stream = stream or sys.stderr
        self.clock = clock
        self.stage = 0
        self.done = 0
        self.last = -EVERY_S
        self.line = Line(self.stream)

    def __call__(self, done: int, total: int, label: str) -> None:
        """Take note of one more step; draw it if it is time."""
        if done <= self.done:
            self.stage = min(self.stage + 1, len(self.stages) - 1)
        self.done = done
        if self.clock() - self.last >= EVERY_S:
            self.last = self.clock()
            told = f"{self.stages[self.stage]} {done}/{total} {visible(label)}".strip()
            self.line.draw(told, width())

    def __enter__(self) -> Self:
        """Begin; nothing is drawn yet."""
        wipers.append(self.wipe)
        return self

    def __exit__(self, *exception: object) -> None:
        """End, with nothing left on the line."""
        wipers.remove(self.wipe)
        self.wipe()

    def wipe(self) -> None:
        """Wipe what is drawn."""
        self.line.wipe()


def progress(stages: Sequence[str] = ("",), *, quiet: bool = False) -> Progress:
    """Progress on stderr where that is a terminal, else one that draws nothing."""
    shown = sys.stderr.isatty() and not quiet
    return Progress(stages) if shown else _Silent(stages)


class _Silent(Progress):
    def __call__(self, done: int, total: int, label: str) -> None:
        return
