"""Flat rows in CSV: for spreadsheets, and out of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from memeval.checks.kinds import shown
from memeval.datasets.flatreading import Placed, Rows, read_rows
from memeval.datasets.flatrows import FIELDS, Row, rows_of
from memeval.datasets.jsonlines import lost_in_rows
from memeval.datasets.placing import put
from memeval.datasets.reading import Source
from memeval.errors import Fault, ProbeError
from memeval.probe import Probe
from memeval.record import Record
from memeval.suite import Suite

HINT = "CSV with commas and a first line of names, such as id,text and probe,query,expect"
FORMULA = ("=", "+", "-", "@", "\t", "\r")
AS_FORMULA = "texts that a spreadsheet takes for a formula (import the columns as text)"
MOST_CHARACTERS = 2**31 - 1
NESTED = ("texts", "groups", "mapping")


def read_csv(*paths: str | Path) -> Rows:
    r"""Read a suite, or records, from CSV.

    Parameters
    ----------
    *paths : str or pathlib.Path
        One file, or several that belong together, such as records and probes.

    Returns
    -------
    Rows
        The suite, the records that name no probe, and the columns that were not read.

    Raises
    ------
    ProbeError
        If there is no such file, it is not of this form, or a probe is at fault; with every fault
        and its line.

    Notes
    -----
    The columns are the fields of `memeval.datasets.flatrows`, in any order; an empty cell says
    nothing. A list is JSON, ``["r1", "r2"]``, or the one entry as it stands; a mapping is JSON.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tea.csv")
    ...     _ = path.write_text('id,text,query,expect\nr1,"Tea, at four.",,\nq1,,When?,r1\n')
    ...     (probe,) = read_csv(path).suite
    >>> probe.name, probe.expect, probe.records[0].text
    ('q1', ('r1',), 'Tea, at four.')
    """
    if not paths:
        raise ProbeError(f"found no path, wanted at least one; give {HINT}")
    placed: list[Placed] = []
    faults: list[Fault] = []
    for path in paths:
        placed += _rows(Source(Path(path), HINT), faults)
    if faults:
        raise ProbeError(faults)
    return read_rows(placed)


def write_csv(
    made: Suite | Iterable[Probe | Record], path: str | Path, *, replace: bool = False
) -> pd.DataFrame:
    r"""Write a suite, or records, as CSV; `read_csv` gives them back equal.

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
        What is odd in it: ``what`` (str), ``n`` (int64), ``example`` (str, a probe).

    Raises
    ------
    ProbeError
        If there is nothing to write, or the texts were left out.
    MemevalError
        If it cannot be written there. Nothing was written.

    Notes
    -----
    Lines end in CRLF, as RFC 4180 has it, so that a lone CR or LF within a text is told from an
    end. Texts are not changed: one that begins with ``=`` is a formula to a spreadsheet that is
    not told otherwise, which is counted.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> probe = Probe("tea", "When is tea?", [Record("r1", 'At "four".')], ["r1"])
    >>> with TemporaryDirectory() as folder:
    ...     lost = write_csv([probe], Path(folder, "tea.csv"))
    ...     print(Path(folder, "tea.csv").read_text(), end="")
    row,probe,id,text,query,expect,scope
    record,tea,r1,"At ""four"".",,,default
    probe,tea,,,When is tea?,"[""r1""]",default
    """
    rows = rows_of(made)
    names = [name for name in FIELDS if any(name in row for row in rows)]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(names)
    tally = lost_in_rows(made)
    for row in rows:
        cells = [_cell(row.get(name)) for name in names]
        risky = sum(cell.startswith(FORMULA) for cell in cells)
        tally.add(AS_FORMULA, risky, str(row.get("probe", "")))
        writer.writerow(cells)
    put({Path(path): out.getvalue()}, replace=replace)
    return tally.frame()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _rows(source: Source, faults: list[Fault]) -> Iterator[Placed]:
    file = str(source.file)
    lines = _lines(source)
    if not lines:
        raise source.damaged("no line", "a first line of names")
    names = lines[0][1]
    if len(set(names)) < len(names) or not {"id", "query"} & set(names):
        raise source.damaged(f"the names {shown(names)}", "each once, among them id or query")
    for number, cells in lines[1:]:
        if len(cells) > len(names):
            said = f"{len(cells)} cells under {len(names)} names"
            faults.append(Fault(said, "quote a text that holds a comma", file=file, line=number))
            continue
        row: Row = {}
        for name, cell in zip(names, cells, strict=False):
            if cell:
                try:
                    row[name] = _value(cell, FIELDS.get(name, "text"))
                except (ValueError, RecursionError):
                    said = f"{shown(cell)} is no {FIELDS[name]}"
                    todo = "write JSON, true or false, or a whole number"
                    faults.append(Fault(said, todo, name, file=file, line=number))
        if row:
            yield Placed(file, number, row)


def _lines(source: Source) -> list[tuple[int, list[str]]]:
    """Cells of each line that is not blank, with the number of its first line."""
    found = []
    text = source.text()
    with _long_fields():
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        number = 1
        try:
            for cells in reader:
                if cells:
                    found.append((number, cells))
                number = reader.line_num + 1
        except csv.Error as error:
            raise source.damaged(f"what is not CSV ({error})", "CSV", f"line {number}") from error
    return found


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let a text be as long as it is; the limit is one for the whole process."""
    before = csv.field_size_limit(MOST_CHARACTERS)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _value(cell: str, kind: str) -> Any:
    """What a cell says, as JSON has it."""
    if kind == "whole":
        return int(cell)
    if kind == "flag":
        return {"true": True, "false": False}.get(cell.strip().lower(), cell)
    if kind in NESTED and (kind == "mapping" or cell.lstrip().startswith("[")):
        return json.loads(cell)
    return [cell] if kind in NESTED else cell
