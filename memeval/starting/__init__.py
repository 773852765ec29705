"""A folder to start from: probes, a store to put one's own behind, a workflow, settings.

Nothing that stands there is written over: settings and ignored names are added to the files that
are there, everything else is left alone where it exists.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from memeval.atomic import write_whole
from memeval.checks.kinds import shown
from memeval.errors import MemevalError
from memeval.text import visible

__all__ = ["Step", "carry_out", "plan"]

NEW = {
    "probes/starter.yaml": "probes.yaml",
    "memory_store.py": "memory_store.py.txt",
    ".github/workflows/memeval.yml": "workflow.yml",
}
SETTINGS = '[tool.memeval]\nstore = "memory_store:Memory"\nprobes = ["probes"]\n'
IGNORED = ".memeval/\n"
Has = Callable[[Path, str], bool]


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one file.

    Attributes
    ----------
    path : Path
        The file.
    name : str
        Its name in the folder.
    kind : {'new', 'add', 'keep'}
        It is written, something is added at its end, or it stays as it is.
    text : str
        The whole file as it will be; empty where it stays.
    """

    path: Path
    name: str
    kind: Literal["new", "add", "keep"]
    text: str = ""


def plan(folder: Path) -> list[Step]:
    """Tell what starting in a folder would do; nothing is written.

    Parameters
    ----------
    folder : Path
        A folder, or the place for a new one.

    Raises
    ------
    MemevalError
        If it is a file, a file stands where a folder is wanted or a folder takes no files, or
        settings cannot be added to a pyproject.toml that is there.
    """
    if folder.exists() and not folder.is_dir():
        raise MemevalError(f"{folder}: found a file, wanted a folder; name another place")
    steps = list(_steps(folder))
    for step in steps:
        if step.kind != "keep":
            _check_place(step.path)
    return steps


def _check_place(path: Path) -> None:
    """Refuse a place that cannot be written to, before anything is."""
    above = next(one for one in path.absolute().parents if os.path.lexists(one))
    if not above.is_dir():
        raise MemevalError(
            f"{above}: found a file, wanted a folder, for {path.name}; move it, or name another "
            "place"
        )
    if not os.access(above, os.W_OK | os.X_OK):
        raise MemevalError(
            f"{above}: nothing can be written there, wanted a place for {path.name}; change its "
            "rights, or name another place"
        )


def _steps(folder: Path) -> Iterator[Step]:
    for name, source in NEW.items():
        path = folder / name
        there = os.path.lexists(path)
        yield Step(path, name, "keep") if there else Step(path, name, "new", _text(source))
    yield _added(folder, "pyproject.toml", SETTINGS, _has_settings)
    yield _added(folder, ".gitignore", IGNORED, _is_ignored)


def _text(source: str) -> str:
    return (files("memeval.starting") / source).read_text(encoding="utf-8")


def _added(folder: Path, name: str, text: str, has: Has) -> Step:
    """The text as a new file, or at the end of the one that is there."""
    path = folder / name
    if not os.path.lexists(path):
        return Step(path, name, "new", text)
    try:
        before = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MemevalError(f"{path}: cannot be read ({error}); mend or move it first") from error
    if has(path, before):
        return Step(path, name, "keep")
    end = "\r\n" if "\r\n" in before else "\n"
    gap = "" if not before else end if before.endswith("\n") else end * 2
    if name == ".gitignore" and before.endswith("\n"):
        gap = ""
    whole = before + gap + text.replace("\n", end)
    return Step(path, name, "add", whole)


def _has_settings(path: Path, text: str) -> bool:
    tool = _toml(path, text).get("tool", {})
    if not isinstance(tool, dict):
        raise MemevalError(f"{path}: tool is {shown(tool)}, wanted tables [tool.x]; mend it first")
    if "memeval" in tool:
        if not isinstance(tool["memeval"], dict):
            raise MemevalError(
                f"{path}: tool.memeval is {shown(tool['memeval'])}, wanted a table; write "
                "[tool.memeval], or take it out"
            )
        return True
    try:
        _toml(path, f"{text}\n{SETTINGS}")
    except MemevalError as error:
        tables = ", ".join(f"[tool.{name}]" for name in tool) or "[tool.x]"
        raise MemevalError(
            f"{path}: tool is an inline table, to which [tool.memeval] cannot be added; write it "
            f"as {visible(tables, 80)}, then start again"
        ) from error
    return False


def _toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.lstrip("\ufeff").replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        raise MemevalError(f"{path}: found no valid TOML ({error}); mend it first") from error


def _is_ignored(path: Path, text: str) -> bool:
    return any(line.strip().strip("/") == ".memeval" for line in text.splitlines())


def carry_out(steps: list[Step]) -> None:
    """Write what is planned.

    Parameters
    ----------
    steps : list of Step
        From `plan`.

    Raises
    ------
    MemevalError
        If a file cannot be written, or one has come up since; what was written so far stays.
    """
    for step in steps:
        if step.kind == "keep":
            continue
        if step.kind == "new" and os.path.lexists(step.path):
            raise MemevalError(f"{step.path}: has come up meanwhile and stays; start again")
        try:
            step.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MemevalError(
                f"cannot make the folder {step.path.parent} ({error.strerror or error}); make it, "
                "or name another place"
            ) from error
        write_whole(step.path, step.text)  # its line ends are those of the text
