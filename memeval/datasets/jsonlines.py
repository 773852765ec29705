"""Flat rows in JSON Lines: a JSON object a line, whatever is in the texts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from memeval.datasets.flatreading import Placed, Rows, read_rows
from memeval.datasets.flatrows import rows_of
from memeval.datasets.losses import Tally
from memeval.datasets.placing import put
from memeval.datasets.reading import Source
from memeval.errors import ProbeError
from memeval.probe import Probe
from memeval.record import Record
from memeval.suite import Suite

HINT = 'JSON Lines of rows, such as {"id": "r1", "text": "..."} and {"probe": "p1", "query": "..."}'


def read_jsonl(*paths: str | Path) -> Rows:
    r"""Read a suite, or records, from JSON Lines.

    Parameters
    ----------
    *paths : str or pathlib.Path
        One file, or several that belong together, such as records and probes.

    Returns
    -------
    Rows
        The suite, the records that name no probe, and the fields that were not read.

    Raises
    ------
    ProbeError
        If there is no such file, it is not of this form, or a probe is at fault; with every fault
        and its line.

    Notes
    -----
    The fields of a row are those of `memeval.datasets.flatrows`: what `write_jsonl` writes, and
    what is easy to write by hand. A probe is named by ``probe``, else by ``id``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tea.jsonl")
    ...     _ = path.write_text(
    ...         '{"id": "r1", "text": "Tea is at four."}\n'
    ...         '{"id": "q1", "query": "When is tea?", "expect": ["r1"]}\n'
    ...     )
    ...     (probe,) = read_jsonl(path).suite
    >>> probe.name, probe.expect, probe.records[0].text
    ('q1', ('r1',), 'Tea is at four.')
    """
    if not paths:
        raise ProbeError(f"found no path, wanted at least one; give {HINT}")
    placed = []
    for path in paths:
        source = Source(Path(path), HINT)
        for place, row in source.objects():
            placed.append(Placed(str(path), int(place.removeprefix("line ")), dict(row)))
    return read_rows(placed)


def write_jsonl(
    made: Suite | Iterable[Probe | Record], path: str | Path, *, replace: bool = False
) -> pd.DataFrame:
    """Write a suite, or records, as JSON Lines; `read_jsonl` gives them back equal.

    Parameters
    ----------
    made : Suite, or iterable of Probe or of Record
        What to write.
    path : str or pathlib.Path
        Where to.
    replace : bool
        Whether a file there that says something else is written over.

    Returns
    -------
    pandas.DataFrame
        What the form has no words for: ``what`` (str), ``n`` (int64), ``example`` (str, a probe).
        It has words for all of a probe; an empty haystack is read as none.

    Raises
    ------
    ProbeError
        If there is nothing to write, or the texts were left out.
    MemevalError
        If it cannot be written there. Nothing was written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> probe = Probe("tea", "When is tea?", [Record("r1", "At four.")], ["r1"])
    >>> with TemporaryDirectory() as folder:
    ...     lost = write_jsonl([probe], Path(folder, "tea.jsonl"))
    ...     print(Path(folder, "tea.jsonl").read_text(), end="")
    {"row": "record", "probe": "tea", "id": "r1", "text": "At four.", "scope": "default"}
    {"row": "probe", "probe": "tea", "query": "When is tea?", "expect": ["r1"], "scope": "default"}
    """
    rows = rows_of(made)
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    put({Path(path): "".join(lines)}, replace=replace)
    return lost_in_rows(made).frame()


def lost_in_rows(made: object) -> Tally:
    """Count what rows cannot say: that there is a haystack without a record."""
    tally = Tally()
    if isinstance(made, Suite) and made.haystack == () and made.haystack_name != "shipped":
        tally.add("haystack without a record, which is read as none")
    return tally
