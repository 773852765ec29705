"""Reports of saved runs: one HTML page, text of 80 columns, Markdown. No store is touched.

`write_report` writes the page. The texts for a terminal are in `memeval.report.plain`, the same
in Markdown in `memeval.report.markdown`, what notebooks show in `memeval.report.notebook`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.atomic import write_whole
from memeval.errors import MemevalError

if TYPE_CHECKING:
    from memeval.comparison import Comparison, Source
    from memeval.files.earlier import Earlier
    from memeval.report.mutation_rows import Mutated
    from memeval.runs import Run
    from memeval.simulation import Simulation

__all__ = ["write_report"]


def write_report(
    run: Run,
    path: str | os.PathLike[str],
    *,
    baseline: Source | Comparison | None = None,
    simulation: Simulation | str | os.PathLike[str] | None = None,
    mutation: Mutated | None = None,
    earlier: Earlier | Iterable[Run] | str | os.PathLike[str] | None = None,
    texts: bool = True,
    all_probes: bool = False,
) -> Path:
    """Write one HTML page that opens anywhere, offline.

    Parameters
    ----------
    run : Run
        What is reported, as `memeval.run` or `memeval.load_run` gives it.
    path : path-like
        File to write; one that exists is replaced.
    baseline : Run, Outcomes, mapping, str, path-like or Comparison, optional
        What the run is compared with, on the tiles and in a section after them: whatever
        `memeval.compare` takes as a baseline, or what it made of this run, for other options.
    simulation : Simulation, str or path-like, optional
        How the store answered as it grew, as `memeval.run_simulation` or a saved one: it gets a
        section of its own, without any record's text. A simulation of another suite or store is
        shown with a note that it is.
    mutation : Mutation, optional
        Which faults of the store the probes see, as `memeval.mutate` gives it: survivors with what
        to write, and the kill matrix.
    earlier : path-like, iterable of Run or Earlier, optional
        The runs before this one, such as the folder ``.memeval/runs``: each probe shows how it did
        in those of the same store, as long as its content is the same. Of a folder the newest 20
        files are read; what cannot be read is left out (`memeval.files.earlier.earlier_runs`
        tells which).
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
        If the folder is missing or cannot be written to, or a comparison is of another run. The
        file is then as it was before.
    RunFileError
        If the baseline or the simulation cannot be read.

    Notes
    -----
    The same arguments give the same page, byte for byte, whenever and wherever it is written. What
    stands beside the run changes nothing of what the page says of the run itself.

    Examples
    --------
    >>> import memeval as me
    >>> probe = me.Probe("lunch", "Where is lunch?", [me.Record("r1", "Noodle bar.")], ["r1"])
    >>> folder = getfixture("tmp_path")
    >>> write_report(me.run([probe], "sqlite"), folder / "report.html").name
    'report.html'
    """
    from memeval.report.html import report_html

    comparison = None if baseline is None else _comparison(baseline, run)
    page = report_html(
        run,
        comparison=comparison,
        simulation=_simulation(simulation),
        mutation=mutation,
        earlier=_earlier(earlier, run),
        texts=texts,
        all_probes=all_probes,
    )
    return write_whole(path, page)


def _simulation(given: Simulation | str | os.PathLike[str] | None) -> Simulation | None:
    from memeval.simulation import load_simulation

    return load_simulation(given) if isinstance(given, str | os.PathLike) else given


def _earlier(
    given: Earlier | Iterable[Run] | str | os.PathLike[str] | None, run: Run
) -> Earlier | None:
    from memeval.files.earlier import Earlier, earlier_runs

    return given if given is None or isinstance(given, Earlier) else earlier_runs(given, run)


def _comparison(baseline: Source | Comparison, run: Run) -> Comparison:
    from memeval.comparison import Comparison, compare

    if not isinstance(baseline, Comparison):
        return compare(baseline, run)
    if baseline.current.run is not run:
        raise MemevalError(
            f"found a comparison of {baseline.current.source}, wanted one of the run that is "
            "reported; make it with memeval.compare(baseline, run), or give the baseline itself"
        )
    return baseline
