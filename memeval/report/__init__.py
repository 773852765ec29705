"""Reports of saved runs: one HTML page, text of 80 columns, Markdown. No store is touched.

`write_report` writes the page. The texts for a terminal are in `memeval.report.plain`, the same
in Markdown in `memeval.report.markdown`, what notebooks show in `memeval.report.notebook`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.atomic import write_whole

if TYPE_CHECKING:
    from memeval.runs import Run

__all__ = ["write_report"]


def write_report(
    run: Run, path: str | os.PathLike[str], *, texts: bool = True, all_probes: bool = False
) -> Path:
    """Write one HTML page that opens anywhere, offline.

    Parameters
    ----------
    run : Run
        What is reported, as `memeval.run` or `memeval.load_run` gives it.
    path : path-like
        File to write; one that exists is replaced.
    texts : bool
        Whether the texts of records are in it.
    all_probes : bool
        Whether the probes that passed get a detail of their own too.

    Returns
    -------
    pathlib.Path
        The file that was written, as an absolute path.

    Raises
    ------
    MemevalError
        If the folder is missing or cannot be written to. The file is then as it was before.

    Notes
    -----
    The page of one run is the same, byte for byte, whenever and wherever it is written.

    Examples
    --------
    >>> import memeval as me
    >>> probe = me.Probe("lunch", "Where is lunch?", [me.Record("r1", "Noodle bar.")], ["r1"])
    >>> folder = getfixture("tmp_path")
    >>> write_report(me.run([probe], "sqlite"), folder / "report.html").name
    'report.html'
    """
    from memeval.report.html import report_html

    return write_whole(path, report_html(run, texts=texts, all_probes=all_probes))
