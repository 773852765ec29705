"""Adding a probe to a probe file: checked as a whole before anything is written.

The probe is put below what stands in the file, whose bytes stay as they are. The suite that would
come of it is read first, with the other files of its folder, by the same strict loader as always;
what it would refuse is never written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from memeval.atomic import write_whole
from memeval.checks.fitting import name_faults
from memeval.errors import Fault, MemevalError, ProbeError
from memeval.given import op_to_dict
from memeval.loading import load_texts
from memeval.probe import Probe
from memeval.probefiles.appending import End, find_end
from memeval.probefiles.emitting import block
from memeval.probefiles.sources import decode, find_files
from memeval.probefiles.yamlfile import SourceError, read_yaml
from memeval.record import Advance, Consolidate, Delete, Record
from memeval.suite import Suite
from memeval.words import clean

SUFFIXES = (".yaml", ".yml")
# A larger file beside the probes is some export, not a part of the suite.
LARGEST_SIBLING = 20_000_000


@dataclass(frozen=True, slots=True)
class Addition:
    """A probe that fits a file, and what the file would become.

    Attributes
    ----------
    path : Path
        The file.
    probe : Probe
        As the loader would read it back.
    lines : str
        The probe as it would stand there, with LF ends.
    text : str
        The whole file, with its own line ends and mark.
    """

    path: Path
    probe: Probe
    lines: str
    text: str


def append_probe(probe: Probe | Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Add a probe at the end of a probe file; what stands there stays, byte for byte.

    Parameters
    ----------
    probe : Probe or mapping
        What to add; a mapping has the keys of a probe file.
    path : str or path-like
        A YAML file: a list of probes, or a mapping with ``probes`` last. It is made, with the
        folder around it, where it is missing.

    Returns
    -------
    Path
        The absolute path.

    Raises
    ------
    ProbeError
        If the probe, the file or the two together are at fault; nothing is written then.
    MemevalError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> probe = Probe("lunch", "Where is lunch?", [Record("r1", "Noodle bar.")], ["r1"])
    >>> print(append_probe(probe, folder.name + "/core.yaml").read_text(), end="")
    - name: lunch
      query: "Where is lunch?"
      given:
        - {id: r1, text: "Noodle bar."}
      expect: [r1]
    >>> folder.cleanup()
    """
    addition = prepare_probe(probe, path)
    folder = addition.path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MemevalError(
            f"cannot make the folder {folder} ({error.strerror}); name a file in another place"
        ) from error
    return write_whole(addition.path, addition.text)


def prepare_probe(probe: Probe | Mapping[str, Any], path: str | os.PathLike[str]) -> Addition:
    """Do all that `append_probe` does but write.

    Parameters
    ----------
    probe : Probe or mapping
        What to add.
    path : str or path-like
        To which file.

    Raises
    ------
    ProbeError
        As `append_probe`.
    """
    target = Path(path)
    raw = _raw(target)
    said = _said(probe)
    end = _end(raw, str(target))
    folder = _Folder(target)
    before, old = folder.load(raw) if raw.strip("\ufeff \r\n\t") else folder.load(None)
    _unlike(said, before, str(target))
    for blank in (True, False) if end.blank else (False,):
        lines = block(said, end.style)
        text = raw + _joint(raw, blank) + _ends(end.lead + lines, raw)
        after, faults = folder.load(text)
        if any(fault.file == str(target) or fault not in old for fault in faults):
            raise _refusal(faults, old, str(target), raw)
        if after is None:  # files beside it are at fault, and not through this probe
            before, after = folder.alone(raw), _alone(target, text, raw)
        added = _added(before, after, str(target))
        if added is not None and (isinstance(probe, Mapping) or _same(added, probe)):
            return Addition(target, added, lines, text)
    raise ProbeError(
        f"{target}: with the probe {said.get('name')!r} at its end the file would not read back "
        "as it is now; close the last text in it, or add the probe by hand"
    )


class _Folder:
    """The probe files around one of them, as texts; those that cannot be read are left out."""

    def __init__(self, target: Path) -> None:
        self.name = str(target)
        self.files: dict[str, Path] = {}
        if target.parent.is_dir():
            found = find_files([target.parent])[0]
            own = target.resolve()
            self.files = {name: p for name, p in found.items() if p.resolve() != own}
        self.texts = dict(_texts(self.files))

    def load(self, raw: str | None) -> tuple[Suite | None, list[Fault]]:
        """Suite of the folder with this text in place of the file, or its faults."""
        texts = dict(self.texts)
        if raw is not None:
            texts[self.name] = _plain(raw)
        if not texts:
            return None, []
        in_order = sorted(texts.items(), key=lambda item: Path(item[0]).name)
        try:
            return load_texts(dict(in_order)), []
        except ProbeError as error:
            return None, list(error.faults)

    def alone(self, raw: str) -> Suite | None:
        """Suite of the file by itself, where it is one."""
        try:
            return load_texts({self.name: _plain(raw)})
        except ProbeError:  # such as a file that is still empty: there is nothing to compare
            return None


def _alone(target: Path, text: str, raw: str) -> Suite:
    """Suite that the file would be by itself; its faults are told."""
    try:
        return load_texts({str(target): _plain(text)})
    except ProbeError as error:
        raise _refusal(error.faults, (), str(target), raw) from error


def _texts(files: Mapping[str, Path]) -> Iterable[tuple[str, str]]:
    for name, path in files.items():
        try:
            if path.stat().st_size <= LARGEST_SIBLING:
                yield name, decode(path.read_bytes())
        except (OSError, SourceError):  # memeval lint tells of it; here it is only left out
            continue


def _raw(target: Path) -> str:
    """Text of the file with its mark and line ends; empty where there is none."""
    if target.suffix.lower() not in SUFFIXES:
        todo = "name a .yaml file"
        if target.suffix.lower() == ".json":
            todo += "; it may stand beside the JSON file, in the same folder"
        raise ProbeError([Fault("probes are added to YAML files only", todo, file=str(target))])
    try:
        data = target.read_bytes()
        decode(data)
    except FileNotFoundError:
        return ""
    except OSError as error:
        found = f"cannot be read: {error.strerror}"
        raise ProbeError([Fault(found, "name a file", file=str(target))]) from error
    except SourceError as error:
        raise ProbeError([replace(error.fault, file=str(target))]) from error
    return data.decode("utf-8")


def _plain(raw: str) -> str:
    """The text as the loader sees it."""
    return raw.removeprefix("\ufeff").replace("\r\n", "\n")


def _said(probe: Probe | Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the probe as plain values."""
    if isinstance(probe, Probe) and probe.withheld:
        raise ProbeError(
            f"probe {probe.name!r}: its texts were left out of the run that it comes from; take "
            "it from the probe file, or from a run that was saved with its texts"
        )
    fields = probe.to_dict() if isinstance(probe, Probe) else dict(probe)
    try:
        written = json.dumps(fields, default=_written, allow_nan=False, ensure_ascii=False)
        said = json.loads(clean(written))
    except (TypeError, ValueError, RecursionError) as error:
        raise ProbeError(
            f"the probe holds what a probe file cannot ({error}); use texts, numbers, true, "
            "false, lists and mappings of them"
        ) from error
    return dict(said)


def _written(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Record | Delete | Consolidate | Advance):
        return op_to_dict(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    raise TypeError(f"a {type(value).__name__}")


def _end(raw: str, name: str) -> End:
    try:
        read_yaml(_plain(raw))
        return find_end(_plain(raw))
    except SourceError as error:
        todo = f"{error.fault.todo}; nothing was added"
        raise ProbeError([replace(error.fault, file=name, todo=todo)]) from error


def _unlike(said: Mapping[str, Any], before: Suite | None, name: str) -> None:
    """Refuse a name that a probe of the suite has."""
    if before is not None and isinstance(said.get("name"), str):
        taken = [(probe.name, probe.file, probe.line) for probe in before]
        faults = name_faults([*taken, (said["name"], name, 0)])
        if faults:
            raise ProbeError(faults)


def _joint(raw: str, blank: bool) -> str:
    """Line ends between the file and the probe."""
    text = _plain(raw)
    joint = "" if not text or text.endswith("\n") else "\n"
    if blank and text.strip() and not text.endswith("\n\n"):
        joint += "\n"
    return _ends(joint, raw)


def _ends(lines: str, raw: str) -> str:
    """The same lines with the ends that most lines of the file have."""
    windows = raw.count("\r\n") * 2 > raw.count("\n")
    return lines.replace("\n", "\r\n") if windows else lines


def _refusal(faults: Iterable[Fault], old: Iterable[Fault], name: str, raw: str) -> ProbeError:
    """Say what is wrong, first of all in the file as it is; no line is named that is not there."""
    before = [fault for fault in old if fault.file == name and fault in faults]
    if before:
        todo = "mend what follows first; 'memeval lint' lists it too"
        head = Fault("has faults already, nothing was added", todo, file=name)
        return ProbeError([head, *before])
    lines = raw.count("\n") + bool(raw and not raw.endswith("\n"))
    fresh = (fault for fault in faults if fault not in old)
    new = (replace(f, line=0) if f.file == name and f.line > lines else f for f in fresh)
    return ProbeError(dict.fromkeys(new))


def _added(before: Suite | None, after: Suite, name: str) -> Probe | None:
    """The new probe; None where anything else has changed."""
    own = [probe for probe in after if probe.file == name]
    rest = [probe for probe in after if probe.file != name]
    if before is None:
        return own[0] if len(own) == 1 else None
    was = [probe for probe in before if probe.file == name]
    others = [probe for probe in before if probe.file != name]
    kept = len(own) == len(was) + 1 and all(map(_same, [*own[:-1], *rest], [*was, *others]))
    kept = kept and len(rest) == len(others) and dict(before.histories) == dict(after.histories)
    return own[-1] if kept and before.haystack == after.haystack else None


def _same(one: Probe, other: Probe) -> bool:
    """Whether two probes say the same, to the letter: 1 is not true, and no accent is moved."""
    told = (json.dumps(probe.to_dict(), sort_keys=True) for probe in (one, other))
    return one.given == other.given and next(told) == next(told)
