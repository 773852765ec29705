"""Files of other people, read with the place of every fault.

What is wrong with the form of a file raises; what is wrong with its content is told in a `FaultLog`
and worked around, so that nothing in it is silent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from memeval.errors import Fault, ProbeError
from memeval.text import clean, visible

T = TypeVar("T")
MOST_FAULTS = 20
RAISED = {"probe": "str", "n_expected": "int64", "k": "int64"}


@dataclass(frozen=True)
class Source:
    """A file of a data set, and what errors say of where to get it.

    Attributes
    ----------
    file : pathlib.Path
        The file.
    hint : str
        What to give: the data set by name, and which of its files.
    """

    file: Path
    hint: str

    @classmethod
    def find(cls, path: str | Path, pattern: str, hint: str) -> Source:
        """Take a file as it is, or the one file of a folder that fits a pattern.

        Raises
        ------
        ProbeError
            If there is no such file, or the folder has several.
        """
        path = Path(path)
        if path.is_file():
            return cls(path, hint)
        fitting = sorted(path.glob(pattern)) if path.is_dir() else []
        if len(fitting) == 1 and fitting[0].is_file():
            return cls(fitting[0], hint)
        names = ", ".join(file.name for file in fitting)
        found = f"files {names} in {path}, name one of these" if names else f"no file {path}"
        raise ProbeError(visible(f"found {found}; give {hint}"))

    def text(self) -> str:
        """The whole file, without a byte-order mark.

        Raises
        ------
        ProbeError
            If there is no such file, or it is not UTF-8.
        """
        if not self.file.is_file():
            raise ProbeError(visible(f"found no file {self.file}; give {self.hint}"))
        try:
            return self.file.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise self.damaged(f"what is not UTF-8 ({error})", "UTF-8") from error

    def lines(self) -> Iterator[tuple[int, str]]:
        """Lines that are not blank, with their number from 1."""
        for number, line in enumerate(self.text().split("\n"), 1):
            if line.strip():
                yield number, line.rstrip("\r")

    def json(self) -> Any:
        """The file as one JSON value.

        Raises
        ------
        ProbeError
            If it is not JSON.
        """
        try:
            return json.loads(self.text())
        except (ValueError, RecursionError) as error:
            if isinstance(error, ProbeError):
                raise
            raise self.damaged(f"what is not JSON ({error})", "JSON") from error

    def objects(self) -> list[tuple[str, Mapping[str, Any]]]:
        """A JSON object per line, each with its place (``line 7``).

        Raises
        ------
        ProbeError
            If a line is none, or the file has none.
        """
        found: list[tuple[str, Mapping[str, Any]]] = []
        for number, line in self.lines():
            place = f"line {number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise self.damaged(f"what is not JSON ({error})", "JSON", place) from error
            found.append((place, self.checked(value, dict, "the line", place)))
        if not found:
            raise self.damaged("no line", "a JSON object a line")
        return found

    def member(self, row: Mapping[str, Any], name: str, kind: type[T], place: str) -> T:
        """The value of a field, which must be there and of a kind."""
        if name not in row:
            raise self.damaged(f"nothing as {name!r}", kind.__name__, place)
        return self.checked(row[name], kind, repr(name), place)

    def texts(self, row: Mapping[str, Any], name: str, place: str) -> list[str]:
        """The value of a field that must be a list of texts."""
        listed: list[Any] = self.member(row, name, list, place)
        for n, entry in enumerate(listed):
            self.checked(entry, str, f"{name}[{n}]", place)
        return listed

    def checked(self, value: Any, kind: type[T], what: str, place: str) -> T:
        """The same value, if it is of a kind; true and false are no numbers."""
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.damaged(f"{type(value).__name__} as {what}", kind.__name__, place)
        return value

    def damaged(self, found: str, wanted: str, place: str = "") -> ProbeError:
        """An error that names the file, the place in it, and the data set."""
        where = f"{self.file}: {place}" if place else str(self.file)
        said = f"{where}: found {found}, wanted {wanted}; give {self.hint}"
        return ProbeError(visible(said))

    def refuse(self, faults: Sequence[Fault]) -> None:
        """Raise what was found wrong, if anything was; of very many faults the first.

        Raises
        ------
        ProbeError
            If there are faults.
        """
        if len(faults) > MOST_FAULTS:
            more = Fault(f"{len(faults) - MOST_FAULTS} more faults", self.hint, file=str(self.file))
            faults = [*faults[:MOST_FAULTS], more]
        if faults:
            raise ProbeError(faults)


@dataclass
class FaultLog:
    """Faults of the content of a file, and what was done about each.

    Examples
    --------
    >>> log = FaultLog()
    >>> log.add("s1", "qa[3]", "evidence 'D1:1' twice", "counted once")
    >>> log.frame()
      sample  place                  found          done
    0     s1  qa[3]  evidence 'D1:1' twice  counted once
    """

    rows: list[tuple[str, str, str, str]] = field(default_factory=list)

    def add(self, sample: str, place: str, found: str, done: str) -> None:
        """Note a fault: in what, where in it, what stands there, what became of it."""
        self.rows.append((sample, place, found, done))

    def frame(self) -> pd.DataFrame:
        """Table of all faults: ``sample``, ``place``, ``found``, ``done`` (all str)."""
        return table(self.rows, dict.fromkeys(("sample", "place", "found", "done"), "str"))


def table(rows: Iterable[Sequence[Any]], columns: Mapping[str, str]) -> pd.DataFrame:
    """Make a table of rows, with declared dtypes also when it is empty.

    Examples
    --------
    >>> table([], {"probe": "str", "k": "int64"}).dtypes.astype(str).to_dict()
    {'probe': 'str', 'k': 'int64'}
    """
    tidy = [[clean(v) if isinstance(v, str) else v for v in row] for row in rows]
    return pd.DataFrame(tidy, columns=list(columns)).astype(dict(columns))


def raised_k(name: str, n_expected: int, k: int, raised: list[tuple[str, int, int]]) -> int:
    """Give the cutoff of a probe: where more is expected than `k`, as many, which is noted."""
    if n_expected <= k:
        return k
    raised.append((name, n_expected, n_expected))
    return n_expected
