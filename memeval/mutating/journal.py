"""What is finished, on disk at once: a line for each saboteur, so that nothing is tried twice.

The first line says what was tried on what; a journal goes on only with the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from memeval.errors import MemevalError, RunFileError
from memeval.mutating.trying import Found
from memeval.proof_frames import KILLED_BY

__all__ = ["Journal", "difference"]

FORMAT = "memeval mutation journal"
VERSION = 1
NEXT = "go on without resume (--resume), which begins it anew, or name another file"
_SHOWN = 80


class Journal:
    """A file to which each finished saboteur is added.

    Parameters
    ----------
    path : str or path-like
        Where; the folder is made where it is not there.
    key : mapping
        What is tried on what, as plain values.
    resume : bool
        Whether to go on from what is there; else it is begun anew.
    probes : iterable of str, optional
        Names of the probes that may have killed; any unless given.

    Attributes
    ----------
    found : dict of str to Found
        What was finished before, by name of the saboteur.

    Raises
    ------
    RunFileError
        If what is there is no journal, was made with another key, or is damaged before its end.
    MemevalError
        If it cannot be written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        key: Mapping[str, Any],
        *,
        resume: bool = False,
        probes: Iterable[str] | None = None,
    ) -> None:
        self.path = Path(path)
        self._probes = None if probes is None else frozenset(probes)
        self.found: dict[str, Found] = {}
        self._key = json.loads(json.dumps(key))
        there = resume and self.path.is_file() and self.path.stat().st_size > 0
        if there and self._read():
            return
        self._write("w", {"format": FORMAT, "version": VERSION, "key": self._key})

    def add(self, found: Found) -> None:
        """Add a finished saboteur; it is on disk when this returns."""
        self._write("a", found.to_dict())
        self.found[found.saboteur] = found

    def _write(self, mode: str, line: Mapping[str, Any]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, mode, encoding="utf-8", newline="\n") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise MemevalError(
                f"cannot write the journal {self.path} ({error.strerror or error}); wanted a place "
                "that may be written to; name another file, or leave the journal out"
            ) from error

    def _read(self) -> bool:
        """Read what is there, and cut off a line that was not finished; False for no first one."""
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise RunFileError(
                f"cannot read the journal {self.path} ({error.strerror or error}); {NEXT}"
            ) from error
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.split(b"\n")[:-1]
        if not lines:
            return False
        self._refuse_other(self._line(lines[0], 1))
        for number, line in enumerate(lines[1:], start=2):
            told = self._line(line, number)
            try:
                found = Found.from_dict(told)
            except (TypeError, KeyError) as error:
                raise self._damaged(number) from error
            if not self._may_be(found):
                raise self._damaged(number)
            self.found[found.saboteur] = found
        if len(whole) < len(data):
            os.truncate(self.path, len(whole))
        return True

    def _may_be(self, found: Found) -> bool:
        """Whether the saboteur is one of the key, killed in a known way by known probes."""
        known = self._key.get("saboteurs")
        return (known is None or found.saboteur in known) and all(
            kill.by in KILLED_BY and (self._probes is None or kill.probe in self._probes)
            for kill in found.kills
        )

    def _line(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            told = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._damaged(number) from error
        if not isinstance(told, dict):
            raise self._damaged(number)
        return told

    def _damaged(self, number: int) -> RunFileError:
        return RunFileError(
            f"{self.path}, line {number}: cannot be read, wanted a journal that memeval wrote, "
            f"unchanged; {NEXT}"
        )

    def _refuse_other(self, head: Mapping[str, Any]) -> None:
        if head.get("format") != FORMAT or head.get("version") != VERSION:
            raise RunFileError(
                f"{self.path}: is something else, wanted a journal of this version of memeval; "
                f"{NEXT}"
            )
        told = difference(head.get("key"), self._key)
        if told:
            raise RunFileError(f"{self.path}: {told}; {NEXT}")


def difference(then: Any, now: Any, name: str = "the journal") -> str:
    """Say where two values first differ; empty where they do not.

    Examples
    --------
    >>> difference({"seed": 0, "store": {"name": "a"}}, {"seed": 0, "store": {"name": "b"}})
    "store.name was 'a', now it is 'b'"
    """
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in [*now, *(key for key in then if key not in now)]:
            inner = key if name == "the journal" else f"{name}.{key}"
            told = difference(then.get(key), now.get(key), inner)
            if told:
                return told
        return ""
    if isinstance(then, list) and isinstance(now, list) and then != now:
        gone = [one for one in then if one not in now]
        come = [one for one in now if one not in then]
        if gone or come:
            return f"{name} had {_shown(gone)} that are gone, and now has {_shown(come)} besides"
    return "" if then == now else f"{name} was {_shown(then)}, now it is {_shown(now)}"


def _shown(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= _SHOWN else f"{told[:_SHOWN]}…"
