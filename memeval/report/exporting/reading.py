"""Notebook files, read without a warning, and only where they can be run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memeval.errors import MemevalError

HINT = "pip install 'memeval-toolkit[notebook]'"


def require(module: str) -> None:
    """Refuse to go on without a package of the extra ``notebook``.

    Raises
    ------
    MemevalError
        If it is not installed; says what to install.
    """
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise MemevalError(
            f"found no package {module!r}, wanted it to run notebooks; install it: {HINT}"
        )


def read_notebook(path: Path) -> Any:
    """Read a notebook of any format, as format 4.

    Parameters
    ----------
    path : pathlib.Path
        The file.

    Returns
    -------
    nbformat.NotebookNode
        A valid notebook; cells without an id of their own have one by their place.

    Raises
    ------
    MemevalError
        If it cannot be read, or is no notebook of Python.
    """
    import nbformat
    from nbformat.reader import reads

    try:
        text = path.read_text(encoding="utf-8-sig")
        notebook = nbformat.convert(reads(text), 4)  # type: ignore[no-untyped-call]
        _name_cells(notebook)
        nbformat.validate(notebook)
    except OSError as error:
        raise MemevalError(f"{path}: {error.strerror}; check the path") from error
    except (ValueError, KeyError, TypeError, AttributeError, nbformat.ValidationError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise MemevalError(
            f"{path}: is no notebook ({reason[0][:200]}); name a file that Jupyter can open"
        ) from error
    language = notebook.metadata.get("kernelspec", {}).get("language", "python")
    if language != "python":
        raise MemevalError(
            f"{path}: found a notebook of {language!r}, wanted one of Python; name another"
        )
    return notebook


def _name_cells(notebook: Any) -> None:
    """Give an id to each cell that has none, or one that is taken."""
    if notebook.nbformat_minor < 5:
        notebook.nbformat_minor = 5
    taken: set[str] = set()
    for n, cell in enumerate(notebook.cells):
        if not cell.get("id") or cell["id"] in taken:
            cell["id"] = f"memeval-cell-{n}"
        taken.add(cell["id"])
