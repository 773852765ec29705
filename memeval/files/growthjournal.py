"""Checkpoints of a simulation, on disk at once, so that nothing is asked twice after a crash.

The first line says what is simulated; a journal goes on only with the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memeval.errors import MemevalError, RunFileError
from memeval.text import visible

FORMAT = "memeval simulation journal"
VERSION = 1
NEXT = "simulate without resume (--resume), which begins it anew, or name another file"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """One checkpoint of a journal.

    Attributes
    ----------
    checkpoint : dict
        Its row of `memeval.frames.CHECKPOINTS`.
    probes : list of dict
        Rows of `memeval.frames.DRIFT_PROBES`.
    neighbours : dict or None
        How probes do alone, at the first checkpoint.
    """

    checkpoint: Row
    probes: list[Row]
    neighbours: Row | None = None


class GrowthJournal:
    """A file to which each checkpoint is added.

    Parameters
    ----------
    path : str or path-like
        Where; the folder is made where it is not there.
    key : mapping
        What is simulated on what, as plain values.
    resume : bool
        Whether to go on from what is there; else it is begun anew.

    Attributes
    ----------
    found : dict of int to Kept
        Checkpoints that were asked before, by number of sessions.

    Raises
    ------
    RunFileError
        If what is there is no journal, was made with another key, or is damaged before its end.
    MemevalError
        If it cannot be read or written.
    """

    def __init__(
        self, path: str | os.PathLike[str], key: Mapping[str, Any], *, resume: bool = False
    ) -> None:
        self.path = Path(path)
        self.found: dict[int, Kept] = {}
        self._key = json.loads(json.dumps(key))
        if not (resume and self._read()):
            self._write("wb", {"format": FORMAT, "version": VERSION, "key": self._key})

    def add(self, session: int, kept: Kept) -> None:
        """Add a checkpoint; it is on disk when this returns."""
        self._write("ab", {"session": session, **asdict(kept)})
        self.found[session] = kept

    def _write(self, mode: str, line: Mapping[str, Any]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, mode) as file:
                file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise MemevalError(
                f"cannot write the journal {self.path} ({error.strerror or error}); wanted a place "
                "that may be written to; name another file, or leave the journal out"
            ) from error

    def _read(self) -> bool:
        """Read what is there, and cut off a line that was not finished; False without a first."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise RunFileError(
                f"cannot read the journal {self.path} ({error.strerror or error}); {NEXT}"
            ) from error
        whole = data[: data.rfind(b"\n") + 1]
        if not whole:
            return False
        lines = whole.split(b"\n")[:-1]
        self._refuse_other(self._line(lines[0], 1))
        for number, line in enumerate(lines[1:], start=2):
            told = self._line(line, number)
            try:
                self.found[int(told["session"])] = _kept(told)
            except (TypeError, ValueError, LookupError) as error:
                raise self._damaged(number) from error
        if len(whole) < len(data):
            os.truncate(self.path, len(whole))
        return True

    def _line(self, line: bytes, number: int) -> Row:
        try:
            told = json.loads(line)
        except ValueError as error:
            raise self._damaged(number) from error
        if not isinstance(told, dict):
            raise self._damaged(number)
        return told

    def _damaged(self, number: int) -> RunFileError:
        return RunFileError(
            f"{self.path}, line {number}: cannot be read, wanted a journal that memeval wrote; "
            f"{NEXT}"
        )

    def _refuse_other(self, head: Row) -> None:
        """Refuse the journal of something else, with the first thing that differs."""
        if head.get("format") != FORMAT or head.get("version") != VERSION:
            raise RunFileError(
                f"{self.path}: found {visible(str(head.get('format')), 40)}, version "
                f"{head.get('version')}, wanted {FORMAT}, version {VERSION}; {NEXT}"
            )
        there = head.get("key")
        there = there if isinstance(there, dict) else {}
        for name in {**self._key, **there}:
            if there.get(name) != self._key.get(name):
                raise RunFileError(
                    f"{self.path} is of another simulation: its {visible(name, 40)} is "
                    f"{visible(str(there.get(name)), 60)}, wanted "
                    f"{visible(str(self._key.get(name)), 60)}; {NEXT}"
                )


def _kept(told: Row) -> Kept:
    probes = [dict(row) for row in told["probes"]]
    beside = told["neighbours"]
    return Kept(dict(told["checkpoint"]), probes, None if beside is None else dict(beside))
