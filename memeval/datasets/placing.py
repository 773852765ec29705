"""Files that others will read, put in their places all or none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from memeval.atomic import write_whole
from memeval.errors import MemevalError, ProbeError
from memeval.suite import Suite


def put(files: Mapping[Path, str], *, replace: bool, folder: Path | None = None) -> list[Path]:
    """Write texts, each whole, after every place was found fit.

    Parameters
    ----------
    files : mapping of pathlib.Path to str
        Text by place.
    replace : bool
        Whether a file that says something else is written over.
    folder : pathlib.Path, optional
        A folder that is made where it is missing, and with it those of `files` in it.

    Returns
    -------
    list of pathlib.Path
        The absolute paths.

    Raises
    ------
    MemevalError
        If a place is a folder or cannot be written to, a text cannot be UTF-8, or a file stands
        there that says something else and `replace` is false; then nothing was written.
    """
    for path, text in files.items():
        _encodable(path, text)
        _check(
            path, text.encode("utf-8"), replace, path.parent if folder is None else folder.parent
        )
    for place in dict.fromkeys(path.parent for path in files if folder is not None):
        _make(place)
    return [write_whole(path, text) for path, text in files.items()]


def writable(suite: object) -> Suite:
    """Give the suite, if it is one and has its texts.

    Raises
    ------
    ProbeError
        If it is no suite (or probes), or its texts were left out.
    """
    if not isinstance(suite, Suite):
        is_list = isinstance(suite, Iterable) and not isinstance(suite, str | bytes | Mapping)
        if not is_list:
            raise ProbeError(f"found a {type(suite).__name__}, wanted a Suite; pass one")
        suite = Suite.of(suite)  # type: ignore[arg-type]
    bare = [probe.name for probe in suite if probe.withheld]
    if bare:
        raise ProbeError(
            f"probe {bare[0]!r}: its texts were left out when the run was saved, and with it "
            f"{len(bare) - 1} more; write the suite that it was made of"
        )
    return suite


def _check(path: Path, wanted: bytes, replace: bool, around: Path) -> None:
    if path.is_dir():
        raise MemevalError(f"{path}: found a folder, wanted the name of a file; add one to it")
    around = path.parent if path.parent.exists() else around
    if not around.is_dir() or not os.access(around, os.W_OK):
        raise MemevalError(
            f"{path}: the folder {around} is not there, or may not be written to; name another"
        )
    if path.is_file() and not replace and path.stat().st_size and path.read_bytes() != wanted:
        raise MemevalError(
            f"{path}: is there already, says something else, and stays; name another place, or "
            "write over it (replace=True; --force on the command line)"
        )


def _encodable(path: Path, text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        found = ascii(text[max(0, error.start - 30) : error.end])
        raise MemevalError(
            f"{path}: found half a character, which UTF-8 cannot hold, after {found}; take it out"
        ) from error


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MemevalError(
            f"cannot make the folder {folder} ({error.strerror or error}); name another one"
        ) from error
