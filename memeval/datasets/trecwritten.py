"""A suite as judgements of TREC, and a run as a run of TREC, for trec_eval and its kin."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from memeval.datasets.ids import refuse_odd
from memeval.datasets.losses import Tally, losses
from memeval.datasets.places import UNANSWERED, places
from memeval.datasets.placing import put, writable
from memeval.datasets.trec import Trec
from memeval.errors import ProbeError
from memeval.probe import Probe
from memeval.runs import Run
from memeval.suite import Suite


def write_trec_qrels(
    suite: Suite | Run | Trec | list[Probe], path: str | Path, *, replace: bool = False
) -> pd.DataFrame:
    r"""Write the expected records as judgements of TREC, lines ``probe 0 record 1``.

    Parameters
    ----------
    suite : Suite, Run, Trec or list of Probe
        Of a run its suite; of a `Trec` what it expects.
    path : str or pathlib.Path
        Where to.
    replace : bool
        Whether a file there that says something else is written over.

    Returns
    -------
    pandas.DataFrame
        What the form has no words for: ``what`` (str), ``n`` (int64), ``example`` (str, a probe).

    Raises
    ------
    ProbeError
        If no probe expects a record, or a name or an id holds a blank; with every fault.
    MemevalError
        If it cannot be written there. Nothing was written.

    Notes
    -----
    A negative probe has no line, since trec_eval would count it as 0 in every mean. Forbidden
    records have none either: to trec_eval a record that is judged 0 is as one that is not judged.
    The members of a group of which any one will do are all relevant.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import memeval as me
    >>> probe = me.Probe("tea", "lapsang", [me.Record("r1", "My tea is lapsang.")], ["r1"])
    >>> with TemporaryDirectory() as folder:
    ...     lost = write_trec_qrels([probe], Path(folder, "qrels.txt"))
    ...     Path(folder, "qrels.txt").read_text()
    'tea 0 r1 1\n'
    >>> lost["what"].tolist()
    ['texts of queries', 'texts of records']
    """
    if isinstance(suite, Trec):
        judged = [(name, one) for name, found in suite.expected.items() for one in found]
        tally = Tally()
    else:
        told = _suite(suite)
        judged = [(p.name, one) for p in told for group in p.groups for one in group]
        tally = losses(told, ())
    if not judged:
        raise ProbeError(f"{path}: found no probe that expects a record; there is nothing to judge")
    refuse_odd([*((name, name) for name, _ in judged), *judged], None, "TREC")
    text = "".join(f"{name} 0 {record} 1\n" for name, record in judged)
    put({Path(path): text}, replace=replace)
    return tally.frame()


def write_trec_run(
    run: Run | Trec, path: str | Path, *, tag: str = "memeval", replace: bool = False
) -> pd.DataFrame:
    r"""Write the answers of a run, lines ``probe Q0 record rank score tag``.

    Parameters
    ----------
    run : Run or Trec
        What to write; of several repeats the first, of a `Trec` its rankings.
    path : str or pathlib.Path
        Where to.
    tag : str
        Name of the run, without blanks.
    replace : bool
        Whether a file there that says something else is written over.

    Returns
    -------
    pandas.DataFrame
        What was written in another way or not at all: ``what`` (str), ``n`` (int64), ``example``
        (str, a probe).

    Raises
    ------
    ProbeError
        If the run has no hit, or a name or an id holds a blank; with every fault.
    MemevalError
        If it cannot be written there. Nothing was written.

    Notes
    -----
    The score is ``1 / rank``, so that the order is that of the store for whoever sorts by score as
    trec_eval does; the scores of a store are on any scale, and need not fall. A hit of no record
    keeps its place as ``no-record-RANK``, and one of a record that stands higher as ``again-RANK``:
    what stands below would else move up, and count for more than it did.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import memeval as me
    >>> probe = me.Probe("tea", "lapsang", [me.Record("r1", "My tea is lapsang.")], ["r1"])
    >>> with TemporaryDirectory() as folder:
    ...     lost = write_trec_run(me.run([probe], "sqlite"), Path(folder, "run.txt"))
    ...     Path(folder, "run.txt").read_text()
    'tea Q0 r1 1 1.0 memeval\n'
    """
    tally = Tally()
    if isinstance(run, Trec):
        placed = {name: [*enumerate(found, 1)] for name, found in run.rankings.items()}
        for name, found in placed.items():
            tally.add(UNANSWERED, not found, name)
    elif isinstance(run, Run):
        placed = places(run, tally)
    else:
        raise ProbeError(f"found a {type(run).__name__}, wanted a Run or a Trec; pass one")
    lines = [(name, *entry) for name, entries in placed.items() for entry in entries]
    if not lines:
        raise ProbeError(f"{path}: found no hit in the run; there is no ranking to write")
    ids = [*((name, name) for name in placed), *((name, record) for name, _, record in lines)]
    refuse_odd([*ids, ("", tag)], None, "TREC")
    text = "".join(
        f"{name} Q0 {record} {rank} {1.0 / rank!r} {tag}\n" for name, rank, record in lines
    )
    put({Path(path): text}, replace=replace)
    return tally.frame()


def _suite(suite: Suite | Run | list[Probe]) -> Suite:
    """Give the suite; ids are there also where the texts were left out."""
    if isinstance(suite, Run):
        return suite.suite
    return suite if isinstance(suite, Suite) else writable(suite)
