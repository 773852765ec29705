"""The notebooks that ship with memeval: what each asks, and which one a short name means."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memeval.checks.kinds import nearest
from memeval.errors import MemevalError
from memeval.resources import notebooks_folder

SUFFIX = ".ipynb"


@dataclass(frozen=True, slots=True)
class ShippedNotebook:
    """A notebook that ships with memeval.

    Attributes
    ----------
    name : str
        Name of the file without its ending, such as ``03_drift_curves``.
    title : str
        Its first heading, the question that it answers.
    path : pathlib.Path
        The file.
    """

    name: str
    title: str
    path: Path


def shipped_notebooks() -> list[ShippedNotebook]:
    """Notebooks that ship with memeval, in their order.

    Returns
    -------
    list of ShippedNotebook

    Raises
    ------
    MemevalError
        If the folder of the notebooks is not there.

    Examples
    --------
    >>> shipped_notebooks()[0].name
    '01_control_validation'
    """
    paths = sorted(notebooks_folder().glob(f"*{SUFFIX}"))
    return [ShippedNotebook(path.stem, _title_of(path), path) for path in paths]


def find_shipped(name: str) -> ShippedNotebook:
    """Find the shipped notebook that a name means.

    Parameters
    ----------
    name : str
        ``03_drift_curves``, its number ``03`` or ``3``, its words ``drift_curves``, or how one of
        these begins, as long as it is the only one.

    Raises
    ------
    MemevalError
        If no notebook, or more than one, is called so.

    Examples
    --------
    >>> find_shipped("1").name, find_shipped("drift_curves").name
    ('01_control_validation', '03_drift_curves')
    """
    known = {one.name: one for one in shipped_notebooks()}
    asked = name.removesuffix(SUFFIX).strip().lower().replace("-", "_")
    found = [one for one in known if asked in _names(one)]
    found = found or [
        one for one in known if asked and any(word.startswith(asked) for word in _names(one))
    ]
    if len(found) == 1:
        return known[found[0]]
    if found:
        raise MemevalError(f"{name!r} may be any of {', '.join(found)}; write one of them")
    words = [one.partition("_")[2] for one in known]
    near = nearest(asked, [*known, *words])
    todo = "write one of these" if near.startswith("write one of") else near
    raise MemevalError(
        f"found no notebook {name!r}, neither a file nor one that ships with memeval "
        f"({', '.join(known)}); {todo}"
    )


def find_notebook(notebook: str | os.PathLike[str]) -> Path:
    """Find a notebook by path, else by the name of one that ships.

    Parameters
    ----------
    notebook : str or path-like
        A file, or a name as `find_shipped` takes it. A file of that path comes first.

    Returns
    -------
    pathlib.Path
        A file that exists.

    Raises
    ------
    MemevalError
        If there is neither.
    """
    path = Path(notebook)
    if path.is_file():
        return path
    if path.is_dir():
        raise MemevalError(f"{path}: found a folder, wanted a notebook; name the file in it")
    if not isinstance(notebook, str) or len(path.parts) > 1:
        raise MemevalError(
            f"{path}: there is no such file; name a notebook file, or one that ships with memeval "
            f"({', '.join(one.name for one in shipped_notebooks())})"
        )
    return find_shipped(notebook).path


def heading_of(cells: Iterable[Any]) -> str:
    r"""Text of the first heading in the markdown cells of a notebook; empty where there is none.

    Examples
    --------
    >>> heading_of([{"cell_type": "markdown", "source": ["Hello\n", "# What *is* it?"]}])
    'What is it?'
    """
    for cell in cells:
        found = section_of(cell)
        if found:
            return found[0]
    return ""


def section_of(cell: Any) -> list[str]:
    """Texts of the headings in a cell; none in a cell of code, or in fenced lines."""
    if cell.get("cell_type") != "markdown":
        return []
    source = cell.get("source", "")
    text = source if isinstance(source, str) else "".join(source)
    found, fenced = [], False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        marks = len(line) - len(line.lstrip("#"))
        if not fenced and 0 < marks <= 6 and line[marks : marks + 1] == " ":
            found.append(line[marks:].strip().rstrip("#").strip().translate(_MARKS))
    return [heading for heading in found if heading]


_MARKS = str.maketrans("", "", "*`")


def _title_of(path: Path) -> str:
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (ValueError, KeyError, TypeError) as error:
        raise MemevalError(f"{path}: is no notebook ({error}); reinstall memeval") from error
    return heading_of(cells)


def _names(stem: str) -> set[str]:
    """What a notebook may be called: whole name, number with and without zeros, words."""
    number, _, words = stem.lower().partition("_")
    return {stem.lower(), number, number.lstrip("0"), words} - {""}
