"""Columns of numbers in the tables of pandas, set to the right under their heads."""

from __future__ import annotations

import re

_TABLE = re.compile(r'<table\b[^>]*\bclass="[^"]*\bdataframe\b[^>]*>.*?</table>', re.DOTALL)
_ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<(t[hd])((?: [^>]*)?)>(.*?)</t[hd]>", re.DOTALL)
_NUMBER = re.compile(r"\s*[-+\u2212]?(\d[\d,_]*\.?\d*|\.\d+)(e[-+]?\d+)?\s*%?\s*", re.IGNORECASE)
_NONE = frozenset({"", "NaN", "nan", "None", "NaT", "&lt;NA&gt;", "inf", "-inf", "..."})


def align_numbers(markup: str) -> str:
    """Mark the cells of columns that hold numbers alone.

    Parameters
    ----------
    markup : str
        What `memeval.report.exporting.cleaning.clean_html` gives.

    Returns
    -------
    str
        The same, with the class ``num`` on these cells and their heads. A table with cells over
        several columns or rows stays as it is.

    Examples
    --------
    >>> align_numbers('<table class="dataframe"><tr><td>1.5</td><td>a</td></tr></table>')
    '<table class="dataframe"><tr><td class="num">1.5</td><td>a</td></tr></table>'
    """
    return _TABLE.sub(_aligned, markup)


def _aligned(found: re.Match[str]) -> str:
    table = found[0]
    if " colspan=" in table or " rowspan=" in table or table.count("<table") > 1:
        return table
    rows = [_CELL.findall(row) for row in _ROW.findall(table)]
    body = [row for row in rows if any(kind == "td" for kind, _, _ in row)]
    if not body or len({len(row) for row in rows}) != 1:
        return table
    numeric = {at for at, column in enumerate(zip(*body, strict=True)) if _are_numbers(column)}
    return _ROW.sub(lambda row: _marked(row[0], numeric), table)


def _are_numbers(column: tuple[tuple[str, str, str], ...]) -> bool:
    texts = [text for kind, _, text in column if kind == "td" and text.strip() not in _NONE]
    return bool(texts) and all(_NUMBER.fullmatch(text) for text in texts)


def _marked(row: str, numeric: set[int]) -> str:
    places = iter(range(row.count("<t")))
    return _CELL.sub(lambda cell: _cell(cell, next(places) in numeric), row)


def _cell(found: re.Match[str], numeric: bool) -> str:
    kind, rest, text = found.groups()
    if not numeric or "class=" in rest:
        return found[0]
    return f'<{kind} class="num"{rest}>{text}</{kind}>'
