"""Tables made of columns that are known to fit: typed at once, checked by nobody a second time.

`memeval.frames.conform` takes a table of anybody and finds every value that does not fit. Here the
values come from code of ours that has made them of their kinds already, so what is left is to give
each column its dtype. Both come to equal frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from memeval.columns import Column, Schema
from memeval.words import clean

__all__ = ["array_of", "table_of"]


def table_of(columns: Mapping[str, Any], schema: Schema) -> pd.DataFrame:
    """Table with all columns of a schema.

    Parameters
    ----------
    columns : mapping of str to sequence
        Values of each column, None for NA, or an array of its dtype.
    schema : tuple of Column
        What they are.

    Returns
    -------
    pandas.DataFrame
        As `memeval.frames.conform` makes it of the same values.

    Examples
    --------
    >>> from memeval.frames import TAGS
    >>> table_of({"probe": ["lunch"], "tag": ["scope"]}, TAGS)
       probe    tag
    0  lunch  scope
    """
    typed = {
        column.name: array_of(values, column) if isinstance(values, list) else values
        for column in schema
        for values in (columns[column.name],)
    }
    return pd.DataFrame(typed, copy=False)


def array_of(values: Sequence[Any], column: Column) -> Any:
    """Values of one column as an array of its dtype; None is NA.

    Parameters
    ----------
    values : sequence
        Of the kind that the column names: texts, whole numbers, floats, truth values, or its words.
    column : Column
        What they are.
    """
    if column.dtype == "str":
        return texts(values)
    if column.dtype == "category":
        codes = {word: code for code, word in enumerate(column.allowed)} | {None: -1}
        kind = pd.CategoricalDtype(list(column.allowed))
        return pd.Categorical.from_codes([codes[word] for word in values], dtype=kind)
    if column.dtype == "Int64":
        missing = np.fromiter((value is None for value in values), np.bool_, len(values))
        whole = [0 if value is None else value for value in values] if missing.any() else values
        return pd.arrays.IntegerArray(np.array(whole, dtype=np.int64), missing)
    return np.array(values, dtype=column.dtype)


def texts(values: Sequence[str | None]) -> Any:
    """Texts as pandas keeps them, without half characters."""
    kept = np.array(values, dtype=object)
    if values and values[0] is None and all(value is None for value in values):
        kept[:] = np.nan  # one by one, None costs pandas six times what a text does
    elif None in values:
        kept[[value is None for value in values]] = np.nan
    if not "".join(filter(None, values)).isascii():
        kept[:] = [clean(value) if isinstance(value, str) else value for value in kept]
    return pd.array(kept, dtype="str")
