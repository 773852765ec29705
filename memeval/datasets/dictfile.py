"""The dicts of pytrec_eval and ranx in a JSON file, ``{"qrels": {...}, "run": {...}}``."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from memeval.datasets.dicts import Dicts, read_dicts, to_dicts
from memeval.datasets.losses import LOST, Tally
from memeval.datasets.placing import put
from memeval.datasets.reading import Source, table
from memeval.datasets.trec import Trec
from memeval.runs import Run
from memeval.suite import Suite

HINT = 'JSON such as {"qrels": {"q1": {"d1": 1}}, "run": {"q1": {"d1": 0.5}}}'


def read_dicts_file(path: str | Path, *, level: int = 1) -> Trec:
    """Read judgements and a run from a JSON file of the two dicts.

    Parameters
    ----------
    path : str or pathlib.Path
        A file with ``qrels`` and ``run``; without a run every query counts as not answered.
    level : int
        As for `memeval.datasets.read_dicts`.

    Returns
    -------
    Trec
        As of `memeval.datasets.read_dicts`.

    Raises
    ------
    ProbeError
        If there is no such file, or it is not of this form.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "dicts.json")
    ...     _ = path.write_text('{"qrels": {"q": {"d": 1}}, "run": {"q": {"d": 0.5, "e": 0.9}}}')
    ...     read_dicts_file(path).rankings
    {'q': ['e', 'd']}
    """
    source = Source(Path(path), HINT)
    told = source.checked(source.json(), dict, "the file", "")
    qrels = source.member(told, "qrels", dict, "")
    return read_dicts(source.checked(told.get("run", {}), dict, "'run'", ""), qrels, level=level)


def write_dicts(
    made: Suite | Run | Trec, path: str | Path, *, replace: bool = False
) -> pd.DataFrame:
    """Write judgements, and of a run the answers, as a JSON file of the two dicts.

    Parameters
    ----------
    made : Suite, Run or Trec
        What to write, as `memeval.datasets.to_dicts` makes it.
    path : str or pathlib.Path
        Where to.
    replace : bool
        Whether a file there that says something else is written over.

    Returns
    -------
    pandas.DataFrame
        What the dicts have no words for: ``what`` (str), ``n`` (int64), ``example`` (str, empty).

    Raises
    ------
    ProbeError
        If it is none of the three.
    MemevalError
        If it cannot be written there. Nothing was written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import memeval as me
    >>> probe = me.Probe("tea", "When is tea?", [me.Record("r1", "At four.")], ["r1"])
    >>> with TemporaryDirectory() as folder:
    ...     lost = write_dicts(me.Suite.of([probe]), Path(folder, "dicts.json"))
    ...     Path(folder, "dicts.json").read_text()
    '{"qrels": {"tea": {"r1": 1}}, "run": {}}'
    """
    told = _of_trec(made) if isinstance(made, Trec) else to_dicts(made)
    text = json.dumps({"qrels": told.qrels, "run": told.run}, ensure_ascii=False, allow_nan=False)
    put({Path(path): text}, replace=replace)
    rows = [(*row, "") for row in told.left_out.to_numpy().tolist()]
    return table(rows, LOST)


def _of_trec(made: Trec) -> Dicts:
    qrels = {query: dict.fromkeys(found, 1) for query, found in made.expected.items()}
    run = {
        query: {document: 1.0 / rank for rank, document in enumerate(found, 1)}
        for query, found in made.rankings.items()
    }
    return Dicts(qrels, run, Tally().frame()[["what", "n"]])
