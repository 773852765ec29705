"""What can go wrong, as one tree.

::

    Exception
    └── MemevalError
        ├── ProbeError (ValueError)            a probe, a suite or a probe file is at fault
        ├── StoreError (RuntimeError)          a store, or the adapter before it, is at fault
        ├── FrameError (ValueError)            a table has not the columns or values it must have
        ├── RunFileError (ValueError)          a saved run cannot be read
        ├── RequestError (ValueError)          the body of an evaluation call is at fault
        ├── NotebookError (RuntimeError)       a notebook came to no end
        └── IncomparableRunsError (ValueError) two runs do not measure the same thing
    UserWarning
    └── WeakSuiteWarning                       the suite is too thin to carry its numbers

Every message says what was found, what was wanted, where, and what to do next.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_CHARACTERS = 2000


class MemevalError(Exception):
    """Base of all errors that memeval raises on purpose."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a probe, and where.

    Attributes
    ----------
    found : str
        What stands there.
    todo : str
        What to do about it.
    field : str
        The field at fault, such as ``given[2].id``; empty for the file as a whole.
    probe : str
        Name of the probe, empty where it has none.
    file : str
        Path of the probe file, empty for a probe built in Python.
    line : int
        Line in that file, from 1; 0 where there is none.

    Examples
    --------
    >>> print(Fault("k is 0", "use a whole number from 1", "k", "lunch", "core.yaml", 7))
    core.yaml:7: probe 'lunch': k: k is 0; use a whole number from 1
    """

    found: str
    todo: str
    field: str = ""
    probe: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        parts = [place, f"probe {self.probe!r}" if self.probe else "", self.field]
        where = ": ".join(part for part in parts if part)
        said = f"{self.found}; {self.todo}"
        return f"{where}: {said}" if where else said


class ProbeError(MemevalError, ValueError):
    """A probe, a suite or a probe file is at fault.

    Parameters
    ----------
    faults : str or iterable of Fault
        All faults that were found, or one message.

    Attributes
    ----------
    faults : tuple of Fault
        Every fault, in the order of the file; empty for a plain message.
    """

    def __init__(self, faults: str | Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = () if isinstance(faults, str) else tuple(faults)
        message = faults if isinstance(faults, str) else "\n".join(map(str, self.faults))
        super().__init__(message)


class StoreError(MemevalError, RuntimeError):
    """A store, or the adapter before it, is at fault."""


class FrameError(MemevalError, ValueError):
    """A table has not the columns or values that its schema asks for."""


class RunFileError(MemevalError, ValueError):
    """A saved run cannot be read."""


class RequestError(MemevalError, ValueError):
    """The body of an evaluation call is at fault.

    Parameters
    ----------
    faults : iterable of Fault
        All faults that were found; the field of each is its place in the body.

    Attributes
    ----------
    faults : tuple of Fault
        Every fault, in the order of the body.
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))

    def to_dict(self) -> dict[str, Any]:
        """Error object of the call, plain values.

        Returns
        -------
        dict
            ``error`` with ``code``, ``field`` and ``message`` of the first fault, and ``fields``
            with all of them.

        Examples
        --------
        >>> RequestError([Fault("k is 0", "write 1 to 100", "k")]).to_dict()["error"]["field"]
        'k'
        """
        told = [{"field": one.field, "message": f"{one.found}; {one.todo}"} for one in self.faults]
        return {"error": {"code": "bad_request", **told[0], "fields": told}}


class NotebookError(MemevalError, RuntimeError):
    """A notebook came to no end: a cell failed or took too long, or the kernel died.

    Parameters
    ----------
    message : str
        What happened, and where.
    path : path-like
        The page that was written all the same.

    Attributes
    ----------
    path : pathlib.Path
        The page, up to the cell that stopped it.
    """

    def __init__(self, message: str, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        super().__init__(message)


class IncomparableRunsError(MemevalError, ValueError):
    """Two runs do not measure the same thing."""


class WeakSuiteWarning(UserWarning):
    """The suite is too thin to carry its numbers."""


def said(error: BaseException) -> str:
    """Type and message of an error, on one line, cut where it is very long.

    A password in an address is left out.

    Examples
    --------
    >>> said(KeyError("score"))
    "KeyError: 'score'"
    >>> said(OSError("no answer from https://me:secret@memory.example/search"))
    'OSError: no answer from https://…@memory.example/search'
    """
    try:
        message = " ".join(str(error).split())
    except Exception as another:  # an error of other people's code may not even be told
        message = f"(its message cannot be had: {type(another).__name__})"
    message = re.sub(r"://[^/\s@]+@", "://…@", message)
    cut = f"{message[:MOST_CHARACTERS]}…" if len(message) > MOST_CHARACTERS else message
    return f"{type(error).__name__}: {cut}"
