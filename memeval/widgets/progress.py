"""How far something has come: a bar in a notebook, a line in a terminal, else nothing."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from memeval.progressline import EVERY_S, Line
from memeval.text import count, visible

LABEL = 60


@dataclass(frozen=True, slots=True)
class _Frame:
    """What is seen at one moment; without `total` it is the sentence at the end."""

    words: str
    done: int = 0
    total: int = 0

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from memeval.report.templating import render

        html = render(
            "notebook_progress.html.j2", words=self.words, done=self.done, total=self.total
        )
        return {"text/plain": self.words, "text/html": html}


class Progress:
    """Shows how far a call has come; give it to any function that takes ``progress=``.

    In a notebook it is a bar that becomes one plain sentence, in a terminal a line that is wiped at
    the end. Under a CI (the variable ``CI`` is set), and where nobody looks, it shows nothing.

    Parameters
    ----------
    what : str
        What is counted, in the singular: ``"probe"``, ``"saboteur"``.
    clock : callable
        Seconds, for the pace and for the sentence.

    Notes
    -----
    It is drawn ten times a second at most. A count that starts again is a further stage, and is
    added to those before it, as in `memeval.run_controls`, which runs several stores.

    Examples
    --------
    >>> import memeval as me
    >>> probe = me.Probe("lunch", "noodle bar", [me.Record("r1", "The noodle bar.")], ["r1"])
    >>> with Progress("probe") as progress:
    ...     run = me.run([probe], "sqlite", progress=progress)
    >>> progress.sentence.partition(" in ")[0]
    '1 probe'
    """

    def __init__(self, what: str = "step", clock: Callable[[], float] = time.monotonic) -> None:
        self.what = what
        self.clock = clock
        self.done = self.total = self.before = 0
        self.started: float | None = None
        self.last = -EVERY_S
        self.show = _shower()

    def __call__(self, done: int, total: int, label: str) -> None:
        """Take note of one more step; draw it if it is time."""
        now = self.clock()
        if self.started is None:
            self.started = now
        if done <= self.done:
            self.before += self.done
        self.done, self.total = done, total
        if done >= total:
            self._end()
        elif now - self.last >= EVERY_S:
            self.last = now
            told = count(total, visible(self.what, LABEL))
            words = f"{done:,} of {told}: {visible(label, LABEL)}"
            self.show(_Frame(words, done, total))

    @property
    def sentence(self) -> str:
        """What has been done, in a sentence."""
        taken = 0.0 if self.started is None else self.clock() - self.started
        whole = self.before + self.done
        told = f"{count(whole, visible(self.what, LABEL))} in {taken:.1f} s"
        return (
            told
            if self.done >= self.total
            else f"stopped at {self.done:,} of {self.total:,}, {told}"
        )

    def __enter__(self) -> Self:
        """Begin to count the time; nothing is drawn yet."""
        self.started = self.clock()
        return self

    def __exit__(self, *exception: object) -> None:
        """End with the sentence, also where it was stopped."""
        self._end()

    def _end(self) -> None:
        self.last = self.clock()
        self.show(_Frame(self.sentence))


def _shower() -> Callable[[_Frame], None]:
    if os.environ.get("CI"):
        return lambda frame: None
    if _in_notebook():
        return _Handle().show
    return _Terminal().show if sys.stderr.isatty() else lambda frame: None


def _in_notebook() -> bool:
    """Whether a kernel asks: a notebook has one, and a terminal with IPython has none."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class _Handle:
    """One place under the cell, whose content is replaced."""

    def __init__(self) -> None:
        self.handle: Any = None

    def show(self, frame: _Frame) -> None:
        from IPython.display import display

        if self.handle is None:
            self.handle = display(frame, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self.handle.update(frame)


class _Terminal:
    """A line on stderr, wiped at the end."""

    def __init__(self) -> None:
        self.line = Line(sys.stderr)

    def show(self, frame: _Frame) -> None:
        if frame.total:
            self.line.draw(frame.words)
        else:
            self.line.wipe()
