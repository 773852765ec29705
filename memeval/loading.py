"""Reading probe files into a suite: strict, and with every fault at once.

A suite is a folder or files. The YAML and JSON files of a folder are read in the order of their
names; files in its subfolders and files whose name begins with a dot are not read. Histories and
the haystack belong to the suite, whichever file they stand in.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from memeval.checks.fitting import haystack_faults, name_faults
from memeval.checks.kinds import shown
from memeval.errors import Fault, MemevalError, ProbeError
from memeval.given import Given
from memeval.probe import Probe
from memeval.probefiles.jsonfile import read_json
from memeval.probefiles.nodes import locate
from memeval.probefiles.probefile import ProbeFile, read_document, read_probe, written_name
from memeval.probefiles.sources import decode, find_files
from memeval.probefiles.values import Reading
from memeval.probefiles.yamlfile import SourceError, read_yaml
from memeval.record import Record
from memeval.resources import haystack_file, probes_folder
from memeval.suite import Suite


def load(*paths: str | os.PathLike[str]) -> Suite:
    """Read a suite.

    Parameters
    ----------
    *paths : str or path-like
        Files (``.yaml``, ``.yml``, ``.json``) and folders. Without any, ``./probes`` is read if it
        exists, else the probes that ship with memeval.

    Returns
    -------
    Suite
        With the haystack of its files, else the shipped one.

    Raises
    ------
    ProbeError
        With every fault of every file, each with file, line, probe, field, what was found and
        what to do.

    Examples
    --------
    >>> load("no-such-folder")
    Traceback (most recent call last):
        ...
    memeval.errors.ProbeError: no-such-folder: there is no such file or folder; check the path
    """
    if not paths:
        paths = ("probes",) if Path("probes").is_dir() else (probes_folder(),)
    files, faults, notes = find_files(paths)
    lost = {fault.file: Reading(fault.file) for fault in faults}
    for fault in faults:
        lost[fault.file].faults.append(fault)
    read = [_read_file(path, name) for name, path in files.items()]
    return _suite([*map(ProbeFile, lost.values()), *read], notes, paths)


def load_text(source: str, name: str = "probes.yaml") -> Suite:
    """Read a suite from a text, as if it stood in a file.

    Parameters
    ----------
    source : str
        Text of a probe file.
    name : str
        Name to show in messages; one that ends in ``.json`` says that the text is JSON.

    Raises
    ------
    ProbeError
        With every fault.

    Examples
    --------
    >>> suite = load_text('''
    ... haystack: none
    ... probes:
    ... - name: lunch
    ...   query: Where is lunch?
    ...   given: [{id: r1, text: At the noodle bar.}]
    ...   expect: [r1]
    ... ''')
    >>> suite
    Suite of 1 probe: 1 positive, 0 negative; haystack: none
    """
    return load_texts({name: source})


def load_texts(sources: Mapping[str, str]) -> Suite:
    """Read a suite from the texts of several files, as if they stood in one folder.

    Parameters
    ----------
    sources : mapping of str to str
        Text by the name to show in messages, as in `load_text`.

    Raises
    ------
    ProbeError
        With every fault of every text.

    Examples
    --------
    >>> load_texts({"a.yaml": "haystack: none", "b.yaml": "- {name: a, query: What?}"})
    Traceback (most recent call last):
        ...
    memeval.errors.ProbeError: b.yaml:1: probe 'a': given: expects nothing, and its scope holds nothing to be found; give it records that do not answer the query
    """  # noqa: E501 - a doctest cannot break the line of a message
    read = [_read(source, Reading(name)) for name, source in sources.items()]
    return _suite(read, [], tuple(sources))


def _read_file(path: Path, name: str) -> ProbeFile:
    """One file; what keeps it from being read is a fault like others."""
    try:
        source = decode(path.read_bytes())
    except OSError as error:
        reading = Reading(name)
        reading.fault(0, "", f"cannot be read: {error.strerror}", "check the path and its rights")
        return ProbeFile(reading)
    except SourceError as error:
        return ProbeFile(Reading(name, faults=[replace(error.fault, file=name)]))
    return _read(source, Reading(name))


def _read(source: str, reading: Reading) -> ProbeFile:
    is_json = reading.file.lower().endswith(".json")
    reading.source = "" if is_json or "#" not in source else source
    try:
        root = read_json(source) if is_json else read_yaml(source)
    except SourceError as error:
        reading.faults.append(replace(error.fault, file=reading.file))
        return ProbeFile(reading)
    if root is None:
        reading.fault(0, "", "the file is empty", "write a list of probes, or remove the file")
        return ProbeFile(reading)
    return read_document(root, reading)


def _suite(files: Sequence[ProbeFile], notes: list[Fault], paths: Iterable[object]) -> Suite:
    """Put the files together; raise all faults of all of them, in the order of files and lines."""
    histories = _histories(files)
    probes = [_probes(file, histories) for file in files]
    _names(files)
    setting = _haystack_setting(files)
    faults = [f for file in files for f in sorted(file.reading.faults, key=_by_line)]
    found = tuple(probe for part in probes for probe in part)
    if not faults and not found:
        said = ", ".join(str(path) for path in paths)
        faults = [Fault("no probe stands in it", "write at least one probe", file=said)]
    if faults:
        raise ProbeError(dict.fromkeys(faults))
    haystack, name = _haystack(setting)
    _distinct(haystack, found, setting, name)
    notes = notes + [n for file in files for n in sorted(file.reading.notes, key=_by_line)]
    sound = {key: given for key, given in histories.items() if given is not None}
    return Suite(found, haystack, name, sound, tuple(dict.fromkeys(notes)))


def _by_line(fault: Fault) -> tuple[int, str]:
    return fault.line, fault.field


def _histories(files: Sequence[ProbeFile]) -> dict[str, Given | None]:
    """Histories of all files; a name that stands in two of them is a fault."""
    first: dict[str, tuple[str, int]] = {}
    histories: dict[str, Given | None] = {}
    for file in files:
        for name, (line, given) in file.histories.items():
            if name in first:
                place = "{}:{}".format(*first[name])
                said = f"a history {shown(name)} is also at {place}"
                file.reading.fault(line, f"histories.{name}", said, "rename one of the two")
                continue
            first[name] = file.reading.file, line
            histories[name] = given
    return histories


def _probes(file: ProbeFile, histories: Mapping[str, Given | None]) -> list[Probe]:
    read = (read_probe(node, file.reading, histories) for node in file.probes)
    return [probe for probe in read if probe is not None]


def _names(files: Sequence[ProbeFile]) -> None:
    """Names across all files, those of faulty probes included."""
    named = (
        (name, file.reading.file, locate(node, "name"))
        for file in files
        for node in file.probes
        if (name := written_name(node))
    )
    by_file = {file.reading.file: file.reading for file in files}
    for fault in name_faults(named):
        by_file[fault.file].faults.append(fault)


def _haystack_setting(files: Sequence[ProbeFile]) -> ProbeFile | None:
    """The one file that says what the haystack is."""
    setting = [file for file in files if file.haystack_node is not None]
    for file in setting[1:]:
        first = setting[0]
        line = first.haystack_node.line if first.haystack_node else 0
        said = f"the haystack is also set at {first.reading.file}:{line}"
        line = file.haystack_node.line if file.haystack_node else 0
        file.reading.fault(line, "haystack", said, "a suite has one; drop one of the two")
    return setting[0] if setting else None


def _haystack(setting: ProbeFile | None) -> tuple[tuple[Record, ...] | None, str]:
    """Records and name of the haystack."""
    said = "shipped" if setting is None else setting.haystack
    if setting is None or said is None or isinstance(said, str):
        return (None, "none") if said == "none" else (_shipped(haystack_file()), "shipped")
    path = Path(setting.reading.file)
    shipped = path.name == "haystack.yaml" and path.resolve().parent == _shipped_folder()
    return said, "shipped" if shipped else path.name


def _shipped_folder() -> Path | None:
    try:
        return probes_folder().resolve()
    except MemevalError:  # nothing ships here, so nothing read can be it
        return None


@lru_cache(maxsize=4)
def _shipped(path: Path) -> tuple[Record, ...]:
    """The shipped haystack, read once."""
    file = _read_file(path, path.name)
    if file.reading.faults or not isinstance(file.haystack, tuple):
        said = "\n".join(map(str, file.reading.faults)) or f"{path} holds no haystack"
        raise MemevalError(f"the shipped haystack cannot be read; reinstall memeval\n{said}")
    return file.haystack


def _distinct(
    haystack: Sequence[Record] | None,
    probes: Sequence[Probe],
    setting: ProbeFile | None,
    name: str,
) -> None:
    """Ids of the haystack are its own."""
    faults = haystack_faults(haystack or (), probes)
    node = setting.haystack_node if setting is not None else None
    if faults and node is not None and setting is not None and node.kind == "list":
        file = setting.reading.file
        lines = (locate(node, fault.field.removeprefix("haystack")) for fault in faults)
        raise ProbeError(
            replace(fault, file=file, line=line) for fault, line in zip(faults, lines, strict=True)
        )
    if faults:
        raise ProbeError(replace(fault, file=f"{name} haystack") for fault in faults)


__all__ = ["load", "load_text", "load_texts"]
