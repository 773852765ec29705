"""What a table promises: columns with dtype, unit and meaning, and frames made to keep it.

The schemas themselves stand in `memeval.frames`, which hands these names on.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pandas as pd

from memeval.errors import FrameError
from memeval.textcolumns import whole


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name, dtype, meaning : str
        ``dtype`` is a pandas dtype name; ``category`` uses `allowed`.
    unit : str
        Unit of measure, empty for none.
    allowed : tuple of str
        The categories, in order.
    required : bool
        Whether a frame without this column is refused rather than filled with NA.
    """

    name: str
    dtype: str
    meaning: str
    unit: str = ""
    allowed: tuple[str, ...] = ()
    required: bool = False


Schema = tuple[Column, ...]


def names(schema: Schema) -> list[str]:
    """Column names of a schema, in order."""
    return [column.name for column in schema]


def empty(schema: Schema) -> pd.DataFrame:
    """Frame with all columns and dtypes of a schema and no rows.

    Examples
    --------
    >>> from memeval.frames import TAGS
    >>> list(empty(TAGS).columns)
    ['probe', 'tag']
    """
    return conform(pd.DataFrame({column.name: [] for column in schema}), schema)


def conform(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Give a frame the columns, order and dtypes of a schema.

    Parameters
    ----------
    frame : pandas.DataFrame
        Any frame that holds at least the required columns; it is not changed.
    schema : tuple of Column
        What the result shall look like.

    Returns
    -------
    pandas.DataFrame
        New frame with a RangeIndex; optional columns that were missing are NA (0 or False where
        the dtype has no NA), columns that the schema does not know are left out. NA in a bool
        column is False.

    Raises
    ------
    FrameError
        If a required column is missing, or a value does not fit its column.

    Examples
    --------
    >>> from memeval.frames import TAGS
    >>> conform(pd.DataFrame({"tag": ["scope"], "probe": ["lunch"]}), TAGS)
       probe    tag
    0  lunch  scope
    """
    if _keeps(frame, schema):
        return frame.copy(deep=False)
    cast = present(frame, schema)
    made = {c.name: cast[c.name] if c.name in cast else _absent(len(frame), c) for c in schema}
    # Copy on write: what is right already is shared until one of both frames is changed.
    return pd.DataFrame(made, index=pd.RangeIndex(len(frame)), copy=False)


def present(
    frame: pd.DataFrame, schema: Schema, unread: Collection[str] = ()
) -> dict[str, pd.Series]:
    """Columns of a schema that a frame has, cast; what has its dtype already is not copied.

    Parameters
    ----------
    frame : pandas.DataFrame
        Any frame that holds at least the required columns; it is not changed.
    schema : tuple of Column
        What the columns shall look like.
    unread : collection of str
        Columns of texts that are not searched for half characters, since the caller does it.

    Returns
    -------
    dict of str to pandas.Series
        In the order of the schema, each with a RangeIndex.

    Raises
    ------
    FrameError
        As `conform`.

    Examples
    --------
    >>> from memeval.frames import HITS
    >>> list(present(pd.DataFrame({"record_id": ["r"], "probe": ["p"], "rank": [1]}), HITS))
    ['probe', 'rank', 'record_id']
    """
    if not isinstance(frame, pd.DataFrame):
        raise FrameError(
            f"found a {type(frame).__name__}, wanted a pandas.DataFrame with the columns "
            f"{[c.name for c in schema if c.required]}; wrap it in pandas.DataFrame(...)"
        )
    missing = [c.name for c in schema if c.required and c.name not in frame.columns]
    if missing:
        raise FrameError(
            f"found the columns {list(map(str, frame.columns))}, wanted also {missing}; "
            "add them, or build the frame with memeval.frames.empty"
        )
    if not _counts_rows(frame.index):
        frame = frame.reset_index(drop=True)
    cast = {c.name: _cast(frame[c.name], c) for c in schema if c.name in frame.columns}
    read = [c.name for c in schema if c.dtype == "str" and c.name in cast and c.name not in unread]
    return cast | {name: whole(cast[name])[0] for name in read}


def _keeps(frame: pd.DataFrame, schema: Schema) -> bool:
    """Whether a frame is what the schema promises already, with nothing else hanging on it."""
    if type(frame) is not pd.DataFrame or list(frame.columns) != names(schema) or frame.attrs:
        return False
    if not _counts_rows(frame.index) or frame.columns.name is not None:
        return False
    if not all(map(_is_of, frame.dtypes, map(_dtype, schema))):
        return False
    texts = (frame[c.name] for c in schema if c.dtype == "str")
    return all(whole(column)[0] is column for column in texts)


def _counts_rows(index: pd.Index) -> bool:
    plain = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
    return plain and index.name is None


def _cast(values: Any, column: Column) -> pd.Series:
    """One column, cast; the error names the column and a value that does not fit."""
    if isinstance(values, pd.DataFrame):
        raise FrameError(
            f"found {values.shape[1]} columns named {column.name!r}, wanted one; "
            "drop the others, or rename them"
        )
    try:
        return _of_kind(values, column)
    except FrameError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise FrameError(
            f"column {column.name!r} holds {_misfit(values, column)}, which is not "
            f"{column.dtype}; wanted: {column.meaning}; mend the column and try again"
        ) from error


@lru_cache(maxsize=512)
def _dtype(column: Column) -> Any:
    """What pandas calls the dtype of a column."""
    if column.dtype == "category":
        return pd.CategoricalDtype(list(column.allowed))
    return pd.api.types.pandas_dtype(column.dtype)


def _is_of(dtype: Any, wanted: Any) -> bool:
    """Whether a dtype is the wanted one, the order of categories included."""
    if dtype is wanted or dtype != wanted:
        return dtype is wanted
    return dtype != "category" or list(dtype.categories) == list(wanted.categories)


def _of_kind(values: pd.Series, column: Column) -> pd.Series:
    """Cast without loss: no half is cut off a number, and nothing but yes and no is a bool."""
    if column.dtype != "str" and _is_of(values.dtype, _dtype(column)):
        return values
    if column.dtype == "category":
        return _categories(values, column)
    if column.dtype == "str":
        return values if values.dtype == _dtype(column) else values.astype("str")
    if column.dtype in ("bool", "boolean"):
        values = _truth(values)
        if column.dtype == "bool":  # NaN would be True
            return values.fillna(False).astype("bool")
    cast: pd.Series = values.astype(column.dtype)  # type: ignore[call-overload]
    if column.dtype == "int64" and not pd.api.types.is_integer_dtype(values.dtype):
        if not cast.eq(pd.to_numeric(values)).all():
            raise ValueError("not a whole number")
    return cast


def _truth(values: pd.Series) -> pd.Series:
    """Truth values that may be NA."""
    if not values.dropna().isin([True, False]).all():
        raise ValueError("not a truth value")
    truth: pd.Series = values.eq(True).astype("boolean").mask(values.isna(), pd.NA)
    return truth


def _misfit(values: pd.Series, column: Column) -> str:
    """The first value that does not fit, and its row."""
    for row, value in enumerate(values):
        try:
            _of_kind(values.iloc[[row]], column)
        except (TypeError, ValueError, OverflowError):
            return f"{value!r:.80} (row {row})"
    return f"{values.dtype} values"


def _absent(length: int, column: Column) -> pd.Series:
    """Stand-in for an optional column: NA, or the zero of a dtype that has no NA."""
    zero = {"int64": 0, "bool": False}.get(column.dtype)
    return pd.Series(pd.array([zero], dtype=_dtype(column)).repeat(length))


def _categories(values: pd.Series, column: Column) -> pd.Series:
    if values.dtype == "category":  # of other words, or in another order
        values = values.astype("object")
    codes = pd.Index(column.allowed, dtype="object").get_indexer(pd.Index(values, dtype="object"))
    odd = values[codes < 0].dropna()
    if len(odd):
        raise FrameError(
            f"column {column.name!r} holds {sorted(set(map(str, odd)))}, wanted one of "
            f"{list(column.allowed)}; use one of these words"
        )
    return pd.Series(pd.Categorical.from_codes(codes, dtype=_dtype(column)))


def describe(schema: Schema) -> pd.DataFrame:
    """Show a schema as a table.

    Returns
    -------
    pandas.DataFrame
        A row per column: ``column``, ``dtype``, ``unit``, ``meaning`` (all str).

    Examples
    --------
    >>> from memeval.frames import TAGS
    >>> describe(TAGS)[["column", "dtype"]]
      column dtype
    0  probe   str
    1    tag   str
    """
    rows = [(c.name, c.dtype, c.unit, c.meaning) for c in schema]
    return pd.DataFrame(rows, columns=["column", "dtype", "unit", "meaning"], dtype="str")
