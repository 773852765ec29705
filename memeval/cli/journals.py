"""Where a command keeps what is finished, and how it says that it goes on from there."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from memeval.cli.console import say


@dataclass(frozen=True)
class Kept:
    """The journal of a command.

    Attributes
    ----------
    path : Path
        Where it is.
    verb : str
        The command.
    """

    path: Path
    verb: str

    @property
    def on(self) -> str:
        """How to go on."""
        return f"'memeval {self.verb} --resume' with the same options goes on where it stopped"

    def may_resume(self, args: argparse.Namespace) -> bool:
        """Whether to go on from it; what becomes of it, where that was not asked for, is said."""
        there = self.path.exists()
        if args.resume and not there:
            say(
                f"--resume: found no {self.path.as_posix()}, so this is a new one", quiet=args.quiet
            )
        if there and not args.resume:
            say(f"{self.path.as_posix()} of one that stopped is written over", quiet=args.quiet)
        return bool(args.resume and there)

    @contextmanager
    def said_on(self) -> Iterator[None]:
        """Say how to go on where it stops after something was added; else nothing is left there."""
        before = self._written_at()
        try:
            yield
        except BaseException:
            if self._written_at() not in (None, before):
                self._stopped()
            raise

    def _stopped(self) -> None:
        with self.path.open("rb") as lines:
            begun = len(list(islice(lines, 2))) > 1
        if begun:
            say(self.on)
        else:  # the head alone, which says what would have been asked
            self.forget()

    def forget(self) -> None:
        """Take the journal away: what it was for is done."""
        self.path.unlink(missing_ok=True)

    def _written_at(self) -> int | None:
        return self.path.stat().st_mtime_ns if self.path.exists() else None
