"""Finding probe files, and turning their bytes into text."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from memeval.checks.kinds import shown
from memeval.errors import Fault
from memeval.probefiles.yamlfile import SourceError

SUFFIXES = (".yaml", ".yml", ".json")
WANTED = "wanted are .yaml, .yml and .json"
OTHER_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def find_files(
    paths: Iterable[str | os.PathLike[str]],
) -> tuple[dict[str, Path], list[Fault], list[Fault]]:
    """Probe files of paths, in their order; those of a folder by name.

    Parameters
    ----------
    paths : iterable of str or path-like
        Files and folders. A file that is met twice is read once.

    Returns
    -------
    files : dict of str to pathlib.Path
        By the name to show in messages.
    faults : list of Fault
        Paths that hold no probe file.
    notes : list of Fault
        Subfolders that are not read although probe files lie in them.
    """
    files: dict[str, Path] = {}
    faults: list[Fault] = []
    notes: list[Fault] = []
    met: set[Path] = set()
    for given in paths:
        if not isinstance(given, str | os.PathLike):
            faults.append(Fault(f"{shown(given)} is not a path", "name files one by one"))
            continue
        path = Path(given)
        found = _of_folder(path, faults, notes) if path.is_dir() else _of_file(path, faults)
        for file in found:
            if file.resolve() not in met:
                met.add(file.resolve())
                files[str(file)] = file
    return files, faults, notes


def _of_file(path: Path, faults: list[Fault]) -> list[Path]:
    name = str(path)
    if not path.exists():
        faults.append(Fault("there is no such file or folder", "check the path", file=name))
    elif not path.is_file():
        faults.append(Fault("is neither a file nor a folder", WANTED, file=name))
    elif path.suffix.lower() not in SUFFIXES:
        faults.append(Fault(f"is no probe file; {WANTED}", "rename or convert it", file=name))
    else:
        return [path]
    return []


def _of_folder(folder: Path, faults: list[Fault], notes: list[Fault]) -> list[Path]:
    name = str(folder)
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
        files = [entry for entry in entries if _is_probe_file(entry)]
        below = [e for e in entries if e.is_dir() and e.name[0] != "." and _holds_probes(e)]
    except OSError as error:
        said = f"cannot be read: {error.strerror}"
        faults.append(Fault(said, "check the rights of the folder", file=name))
        return []
    unread = ", ".join(shown(entry.name) for entry in below[:5])
    if files and below:
        said = f"probe files in its subfolders are not read: {unread}"
        notes.append(Fault(said, "name these folders too", file=name))
    if not files and below:
        said = f"no probe file in it, only in its subfolders {unread}"
        faults.append(Fault(said, "name these folders", file=name))
    elif not files:
        held = "the folder is empty" if not entries else "no probe file in the folder"
        faults.append(Fault(f"{held}; {WANTED}", "put probes there or check the path", file=name))
    return files


def _is_probe_file(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and path.name[0] != "." and path.is_file()


def _holds_probes(folder: Path) -> bool:
    """Whether probe files lie in a subfolder; one that may not be looked into holds none."""
    if not os.access(folder, os.R_OK | os.X_OK):
        return False
    return any(_is_probe_file(entry) for entry in folder.iterdir())


def decode(data: bytes) -> str:
    r"""Text of a file: UTF-8, with or without a mark at its start, any line ends.

    Parameters
    ----------
    data : bytes
        The whole file.

    Raises
    ------
    SourceError
        If it is in another encoding, or no text at all.

    Examples
    --------
    >>> decode(b"\xef\xbb\xbfname: caf\xc3\xa9\r\n")
    'name: café\n'
    """
    for mark, name in OTHER_MARKS.items():
        if data.startswith(mark):
            raise SourceError(f"the file is {name}", "save it as UTF-8")
    if b"\x00" in data:
        line = data[: data.index(b"\x00")].count(b"\n") + 1
        raise SourceError("holds a NUL byte: the file is not text", "save it as UTF-8 text", line)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        found = f"the byte 0x{data[error.start]:02x} is not UTF-8"
        raise SourceError(found, "save the file as UTF-8", line) from error
    return text.replace("\r\n", "\n")
