"""What a table promises: columns with dtype, unit and meaning, and frames made to keep it.

The schemas themselves stand in `memeval.frames`, which hands these names on.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from memeval.errors import FrameError
from memeval.words import clean


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
    return pd.DataFrame({c.name: _cast(frame, c) for c in schema}).reset_index(drop=True)


def _cast(frame: pd.DataFrame, column: Column) -> pd.Series:
    """One column, cast; the error names the column and a value that does not fit."""
    if column.name not in frame.columns:
        return _absent(len(frame), column)
    values = frame[column.name]
    if isinstance(values, pd.DataFrame):
        raise FrameError(
            f"found {values.shape[1]} columns named {column.name!r}, wanted one; "
            "drop the others, or rename them"
        )
    values = values.reset_index(drop=True)
    try:
        return _of_kind(values, column)
    except FrameError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise FrameError(
            f"column {column.name!r} holds {_misfit(values, column)}, which is not "
            f"{column.dtype}; wanted: {column.meaning}; mend the column and try again"
        ) from error


def _of_kind(values: pd.Series, column: Column) -> pd.Series:
    """Cast without loss: no half is cut off a number, and nothing but yes and no is a bool."""
    if column.dtype == "category":
        return _categories(values, column)
    if column.dtype == "str":
        return _whole(values.astype("str"))
    if column.dtype in ("bool", "boolean"):
        values = _truth(values)
        if column.dtype == "bool":  # NaN would be True
            return values.fillna(False).astype("bool")
    cast: pd.Series = values.astype(column.dtype)  # type: ignore[call-overload]
    if column.dtype == "int64" and not pd.api.types.is_integer_dtype(values.dtype):
        if not cast.eq(pd.to_numeric(values)).all():
            raise ValueError("not a whole number")
    return cast


def _whole(texts: pd.Series) -> pd.Series:
    """Texts without half characters, which no file and no notebook can take."""
    if all(map(str.isascii, texts.dropna())):
        return texts
    return texts.map(clean, na_action="ignore").astype("str")


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
    if column.dtype == "category":
        kind = pd.CategoricalDtype(list(column.allowed))
        return pd.Series(pd.Categorical([None] * length, dtype=kind))
    zero = {"int64": 0, "bool": False}.get(column.dtype)
    return pd.Series([zero] * length, dtype=column.dtype)


def _categories(values: pd.Series, column: Column) -> pd.Series:
    unknown = sorted({str(v) for v in values.dropna().unique()} - set(column.allowed))
    if unknown:
        raise FrameError(
            f"column {column.name!r} holds {unknown}, wanted one of {list(column.allowed)}; "
            "use one of these words"
        )
    return pd.Series(pd.Categorical(values, dtype=pd.CategoricalDtype(list(column.allowed))))


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
