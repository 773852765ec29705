"""A notebook, run and written as one HTML file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memeval.atomic import write_whole
from memeval.errors import MemevalError, NotebookError
from memeval.report.exporting.reading import read_notebook, require
from memeval.report.exporting.shipped import find_notebook

__all__ = ["export_notebook"]


PACKAGES = ("nbformat", "nbclient", "nbconvert", "ipykernel")


def check_packages() -> None:
    """Refuse to go on where the extra ``notebook`` is not installed.

    Raises
    ------
    MemevalError
        If a package is missing; says what to install.
    """
    for package in PACKAGES:
        require(package)


def _check_place(path: str | os.PathLike[str]) -> None:
    """Refuse a place where no file can be written, before minutes are spent."""
    around = Path(path).absolute().parent
    if not around.is_dir():
        raise MemevalError(f"{path}: there is no folder {around}; make it, or name another place")
    if Path(path).is_dir():
        raise MemevalError(f"{path}: found a folder, wanted the name of a file; add one to it")


def export_notebook(
    notebook: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    parameters: Mapping[str, Any] | None = None,
    inputs: bool = False,
    timeout: float | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Path:
    """Run a notebook and write what it shows as one HTML file that opens anywhere, offline.

    Parameters
    ----------
    notebook : str or path-like
        A notebook file, or the name of one that ships with memeval: ``"03_drift_curves"``,
        ``"03"`` or ``"drift_curves"``. The file itself stays as it is.
    path : path-like
        File to write; one that exists is replaced.
    parameters : mapping, optional
        Values for the names in its cell tagged ``parameters``: plain values of the type of the
        default. They are shown at the end of the page, so put no secret there.
    inputs : bool
        Whether the code of the cells is in the file.
    timeout : float, optional
        Most seconds for one cell, such as 2.5; without it a cell may take for ever.
    progress : callable, optional
        Called with cells done, cells in all and the heading above the cell, in the thread of the
        caller.

    Returns
    -------
    pathlib.Path
        The file that was written, as an absolute path.

    Raises
    ------
    MemevalError
        If there is no such notebook or parameter, a value has another type than the default, the
        file cannot be written, or nbclient or nbconvert are not installed. Nothing has been run
        then, unless it is the writing that fails.
    NotebookError
        If a cell fails, takes too long, or the kernel dies. The page is written up to there, with
        the cell marked; `NotebookError.path` is its place.
    KeyboardInterrupt
        If it is interrupted. The page is written up to there, too; its place is the argument. A
        second Ctrl-C, or one while the page is written, is not heard.

    Notes
    -----
    The cells run in the working directory of the caller, in a kernel of this Python that opens no
    port. The file holds no script. Of the HTML and Markdown in outputs and text cells only what
    cannot act or load is kept: pictures that lie beside the notebook, formulas in TeX and widgets
    without an HTML form of their own are told in words. An executed notebook gives the same file,
    byte for byte, each time. Of a text above 200,000 characters the middle is left out; of the
    markup in the outputs of one cell, 2,000,000 characters or 50,000 tags are drawn.

    Examples
    --------
    >>> import memeval as me
    >>> me.export_notebook("03", "drift.html", parameters={"sessions": 80})  # doctest: +SKIP
    """
    check_packages()
    _check_place(path)
    from memeval.report.exporting import parameters as named
    from memeval.report.exporting.executing import run_cells
    from memeval.report.exporting.holding import one_interrupt
    from memeval.report.exporting.page import notebook_html

    source = find_notebook(notebook)
    read = read_notebook(source)
    named.inject(read, named.checked(parameters or {}, named.defaults(read), source.stem))
    with one_interrupt() as hold:
        stopped = run_cells(read, folder=Path.cwd(), timeout=timeout, progress=progress)
        hold()
        page = notebook_html(read, source.stem, inputs=inputs, stopped=stopped)
        written = write_whole(path, page)
    if stopped is None:
        return written
    if stopped.kind == "interrupted":
        raise KeyboardInterrupt(str(written))
    raise NotebookError(
        f"{source.name}: cell {stopped.n_run + 1} of {stopped.n_cells} stopped it: "
        f"{stopped.name}: {stopped.message}; the page up to there is {written}",
        written,
    )
