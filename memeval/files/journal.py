"""What is finished, on disk at once: a line each, so that nothing is done twice after a crash.

The first line says what is done on what; a journal goes on only with the same. Each line bears the
mark of the first, so that what another process adds to the same file meanwhile is left out, and a
checksum, so that no number is taken from a file that was damaged.
"""

from __future__ import annotations

import json
import os
import secrets
import warnings
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memeval.checks.kinds import shown
from memeval.errors import MemevalError, RunFileError
from memeval.text import visible

VERSION = 2
NEXT = "go on without resume (--resume), which begins it anew, or name another file"
_SHOWN = 80
Line = dict[str, Any]


class JournalWarning(UserWarning):
    """A journal ends in a line that was not finished."""


class Journal:
    """A file to which a line is added for everything that is finished.

    Parameters
    ----------
    path : str or path-like
        Where; the folder is made where it is not there.
    name : str
        What kind of journal it is, such as ``memeval mutation journal``.
    key : mapping
        What is done on what, as plain values.
    read : callable
        Takes a line that was added before; whatever it raises of LookupError, TypeError and
        ValueError means that nobody could go on with it.
    resume : bool
        Whether to go on from what is there; else it is begun anew.
    beside : mapping, optional
        What else its first line is to hold, as plain values; it may differ when it goes on.

    Attributes
    ----------
    beside : mapping
        What its first line holds beside the key, of whoever began it.

    Raises
    ------
    RunFileError
        If what is there is no such journal, was made with another key, or is damaged before its
        end.
    MemevalError
        If it cannot be read or written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        name: str,
        key: Mapping[str, Any],
        read: Callable[[Line], object],
        *,
        resume: bool = False,
        beside: Mapping[str, Any] | None = None,
    ) -> None:
        self.path = Path(path)
        self.beside: Mapping[str, Any] = {} if beside is None else beside
        self._name = name
        self._key = json.loads(json.dumps(key))
        self._mark: Any = secrets.token_hex(8)
        if not (resume and self._read(read)):
            head = {"format": name, "version": VERSION, "key": self._key, "mark": self._mark}
            self._write("wb", head | ({"beside": beside} if beside else {}))

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a line; it is on disk when this returns."""
        self._write("ab", {"mark": self._mark, **line})

    def _write(self, mode: str, line: Mapping[str, Any]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, mode) as file:
                file.write(_encoded({**line, "sum": _sum_of(line)}) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise MemevalError(
                f"cannot write the journal {self.path} ({error.strerror or error}); wanted a place "
                "that may be written to; name another file, or leave the journal out"
            ) from error

    def _read(self, read: Callable[[Line], object]) -> bool:
        """Read what is there, and cut off a line that was not finished; False for no first one."""
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
            if data:
                self._warn_of_half("its first line was cut off, so it is begun anew")
            return False
        lines = whole.split(b"\n")[:-1]
        first = _parsed(lines[0])
        if first is None:
            raise self._damaged(1)
        self._refuse_form(first)
        head = self._line(lines[0], 1)
        self._refuse_other(head)
        self.beside = head.get("beside", {})
        self._mark = head.get("mark")
        for number, line in enumerate(lines[1:], start=2):
            told = self._line(line, number)
            if told.pop("mark", self._mark) != self._mark:
                continue
            try:
                read(told)
            except (LookupError, TypeError, ValueError) as error:
                raise self._damaged(number) from error
        if len(whole) < len(data):
            os.truncate(self.path, len(whole))
            half = f"line {len(lines) + 1} was cut off in the writing"
            self._warn_of_half(f"{half}; what it was to tell is done again, all before it is kept")
        return True

    def _warn_of_half(self, words: str) -> None:
        warnings.warn(f"{self.path}: {words}", JournalWarning, stacklevel=5)

    def _line(self, line: bytes, number: int) -> Line:
        told = _decoded(line)
        if told is None:
            raise self._damaged(number)
        return told

    def _damaged(self, number: int) -> RunFileError:
        return RunFileError(
            f"{self.path}, line {number}: cannot be read, wanted a journal that memeval wrote, "
            f"unchanged; {NEXT}"
        )

    def _refuse_form(self, head: Line) -> None:
        """Refuse what is no such journal."""
        if head.get("format") != self._name or head.get("version") != VERSION:
            raise RunFileError(
                f"{self.path}: found {visible(str(head.get('format')), 40)}, version "
                f"{visible(str(head.get('version')), 20)}, wanted {self._name}, version {VERSION}; "
                f"{NEXT}"
            )

    def _refuse_other(self, head: Line) -> None:
        """Refuse the journal of something else, with the first thing that differs."""
        told = difference(head.get("key"), self._key)
        if told:
            raise RunFileError(f"{self.path} is of something else: {told}; {NEXT}")


def _encoded(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _sum_of(line: Mapping[str, Any]) -> int:
    return zlib.crc32(_encoded(line))


def _parsed(line: bytes) -> Line | None:
    """What a line says; None where it cannot be read."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _decoded(line: bytes) -> Line | None:
    """A line without its checksum; None where it is not as it was written."""
    told = _parsed(line)
    if told is None or told.pop("sum", None) != _sum_of(told):
        return None
    return told


def check_journal(journal: str | os.PathLike[str] | None, resume: bool) -> None:
    """Refuse a place where no journal can be, and to go on without one.

    Raises
    ------
    MemevalError
        It says which of the two.
    """
    if journal is None and resume:
        raise MemevalError(
            "resume is True and no journal is named, wanted the one to go on from; give "
            "journal=..., or leave resume out"
        )
    named = journal is None or isinstance(journal, str | os.PathLike)
    if not named or (journal is not None and not os.fspath(journal).strip()):
        raise MemevalError(
            f"journal is {shown(journal)}, wanted the path of a file; leave it out for none"
        )
    if journal is not None and os.path.isdir(journal):
        raise MemevalError(f"journal is {journal}, a folder, wanted a file; add a name to it")


def read_journal(path: str | os.PathLike[str], name: str, wanted: str) -> tuple[Line, list[Line]]:
    """Read a journal without going on with it.

    Parameters
    ----------
    path : str or path-like
        Where it is.
    name : str
        What kind of journal it is.
    wanted : str
        What to say that was wanted, and what to do, where it is none.

    Returns
    -------
    tuple of dict and list of dict
        Its first line, and those that bear its mark; one that was not finished is left out.

    Raises
    ------
    RunFileError
        If it cannot be read, is none, or is damaged before its end.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise RunFileError(
            f"cannot read {path} ({error.strerror or error}); wanted {wanted}"
        ) from error
    lines = data.split(b"\n")[:-1]
    first = (_parsed(lines[0]) if lines else None) or {}
    if "format" not in first:
        raise RunFileError(f"{path}: does not begin as a file of memeval; wanted {wanted}")
    if first["format"] != name or first.get("version") != VERSION:
        raise RunFileError(
            f"{path}: found {visible(str(first['format']), 40)}, version "
            f"{visible(str(first.get('version')), 20)}; wanted {wanted}, version {VERSION}"
        )
    found: list[Line] = []
    for number, line in enumerate(lines, start=1):
        told = _decoded(line)
        if told is None:
            raise RunFileError(
                f"{path}, line {number}: is not as it was written; wanted {wanted}, unchanged"
            )
        found.append(told)
    head = found[0]
    return head, [line for line in found[1:] if line.get("mark") == head.get("mark")]


def difference(then: Any, now: Any, name: str = "") -> str:
    """Say where two values first differ; empty where they do not.

    Examples
    --------
    >>> difference({"seed": 0, "store": {"name": "a"}}, {"seed": 0, "store": {"name": "b"}})
    "store.name was 'a', now it is 'b'"
    """
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in [*now, *(key for key in then if key not in now)]:
            told = difference(then.get(key), now.get(key), f"{name}.{key}" if name else str(key))
            if told:
                return told
        return ""
    if isinstance(then, list) and isinstance(now, list) and then != now:
        gone = [one for one in then if one not in now]
        come = [one for one in now if one not in then]
        if gone or come:
            return f"{name} had {_shown(gone)} that are gone, and now has {_shown(come)} besides"
    name = name or "what it is of"
    return "" if then == now else f"{name} was {_shown(then)}, now it is {_shown(now)}"


def _shown(value: Any) -> str:
    return visible(repr(value), _SHOWN)
