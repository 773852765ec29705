"""The schema of every table: its columns, their types, units and meaning.

A table is a promise. `conform` gives any frame the columns, order and dtypes of its schema,
`empty` gives the same with no rows, and `describe` shows a schema as a table.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from memeval.errors import FrameError


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

SCHEMA_VERSION = 1
"""Version of the tables; raised when a column changes its name, type or meaning."""
METRIC_VERSION = 1
"""Version of the definitions; raised when the same answers would score otherwise."""

STATUSES = ("ok", "failed", "timeout", "not_stored", "not_visible", "not_supported")
RESOLVED_BY = ("own", "metadata", "receipt", "text", "unknown")
LABELS = ("expected", "forbidden", "stale")
REASONS = ("listed", "deleted", "foreign_scope", "superseded", "expired", "canary")
KINDS = ("positive", "negative")
RULES = ("C1", "C2", "C3", "C4", "C5")

PROBE = Column("probe", "str", "name of the probe", required=True)
REPEAT = Column("repeat", "int64", "which repeat of the probe, from 0")

HITS: Schema = (
    PROBE,
    REPEAT,
    Column("rank", "int64", "place in the answer, from 1", required=True),
    Column("record_id", "str", "id of the probe's record; NA when unknown", required=True),
    Column("store_id", "str", "the store's own id; NA when it gave none"),
    Column("resolved_by", "category", "how the record was recognised", allowed=RESOLVED_BY),
    Column("score", "float64", "the store's own scale; shown, never sorted by"),
    Column("text", "str", "the text as returned"),
    Column("unit", "str", "the author's information unit; NA where not labelled"),
    Column("canary", "str", "the canary token found in the text; NA when none"),
)

CALLS: Schema = (
    PROBE,
    REPEAT,
    Column("k", "int64", "cutoff", required=True),
    Column("status", "category", "what became of the search", allowed=STATUSES),
    Column("error", "str", "message of a search or write that failed; NA otherwise"),
    Column("breaches", "str", "codes of broken contract checks, blank separated; NA when none"),
    Column("n_records", "Int64", "records written to the store, haystack included"),
    Column("n_eligible", "Int64", "live records that the query may see"),
    Column("write_ms", "float64", "writing the history, without the haystack", "ms"),
    Column(
        "visible_ms", "float64", "waiting until the history could be found; NA: not polled", "ms"
    ),
    Column("cold_ms", "float64", "one search for a fixed word", "ms"),
    Column("latency_ms", "float64", "the scored search alone", "ms"),
    Column("llm_calls", "Int64", "model calls as the store reports them"),
)

QRELS: Schema = (
    PROBE,
    Column("record_id", "str", "id of the judged record", required=True),
    Column("label", "category", "what is said of it", allowed=LABELS, required=True),
    Column("group", "Int64", "expected only: records that share a number are any-of"),
    Column("merged", "bool", "the write of an expected record was merged into this id"),
    Column("reason", "category", "why it has this label", allowed=REASONS),
)

RESULTS: Schema = (
    PROBE,
    Column(
        "kind", "category", "positive expects something, negative expects nothing", allowed=KINDS
    ),
    Column("status", "category", "what became of the search", allowed=STATUSES),
    Column("k", "int64", "cutoff"),
    Column("n_expected", "int64", "expected groups"),
    Column("n_returned", "int64", "records in the whole answer"),
    Column("n_leaked", "int64", "leaking records anywhere in the answer"),
    Column("n_stale", "int64", "stale records in the top k"),
    Column("n_unknown", "int64", "returned records that nobody wrote"),
    Column("n_contract", "int64", "contract checks broken"),
    Column("recall_all", "boolean", "every expected group is in the top k; NA on negatives"),
    Column("recall_any", "boolean", "any expected group is in the top k; NA on negatives"),
    Column("recall_fraction", "float64", "share of expected groups in the top k"),
    Column("precision", "float64", "distinct relevant records in the top k over k"),
    Column("first_rank", "Int64", "rank of the first expected hit in the top k; NA when none"),
    Column("rr", "float64", "1 / first_rank, 0 when none; NA on negatives"),
    Column("ndcg", "float64", "binary gain, discount log2(rank + 1), ideal from all expected"),
    Column("distinct", "float64", "information units in the top k over its length; NA when empty"),
    Column("abstained", "boolean", "the answer to a negative probe was empty; NA on positives"),
    Column("chance", "float64", "probability that a random answer has recall_all"),
    Column("context_tokens", "float64", "words and punctuation marks in the top k"),
    Column("latency_ms", "float64", "the scored search alone", "ms"),
    Column("flaky", "bool", "its repeats did not agree on passed"),
    Column("passed", "boolean", "status ok, no leak, contract kept, and found or abstained"),
)

SUMMARY: Schema = (
    Column("metric", "str", "name of the metric", required=True),
    Column("value", "float64", "its value; NA when undefined"),
    Column("low", "float64", "lower end of the 95 % interval; NA when there is none"),
    Column("high", "float64", "upper end of the 95 % interval; NA when there is none"),
    Column("n", "int64", "what the value was taken over: probes, hits or chances"),
    Column("target", "float64", "what to aim for: shown, never gating"),
    Column("floor", "float64", "the user's own bound: gating"),
    Column("better", "category", "which way is better", allowed=("higher", "lower")),
    Column("gate", "bool", "a gate is never tuned"),
    Column("passed", "boolean", "gate and floor kept; NA where there is neither or no value"),
)

CONTROLS: Schema = (
    Column("store", "str", "the broken store that was run", required=True),
    Column("rule", "category", "rule that judges it", allowed=RULES, required=True),
    Column("metric", "str", "what is judged"),
    Column("value", "float64", "what the rule judges, as measured"),
    Column("real", "float64", "the same of the store under test; NA when it was not run"),
    Column("chance", "float64", "what luck scores, by closed form"),
    Column("bound", "float64", "what the value is held against"),
    Column("must", "category", "which side of the bound", allowed=("at_most", "at_least")),
    Column("n", "int64", "probes"),
    Column("applicable", "bool", "whether the rule can say anything here"),
    Column("passed", "boolean", "the rule is kept; NA when not applicable"),
    Column("blames", "category", "who is at fault", allowed=("suite", "store", "none")),
    Column("reason", "str", "the same in words"),
)

PROBES: Schema = (
    PROBE,
    Column(
        "kind", "category", "positive expects something, negative expects nothing", allowed=KINDS
    ),
    Column("query", "str", "what is asked"),
    Column("scope", "str", "whose memory is asked"),
    Column("k", "int64", "cutoff"),
    Column("n_given", "int64", "records written by its history"),
    Column("n_expected", "int64", "expected groups"),
    Column("n_forbidden", "int64", "records listed as forbidden"),
    Column("n_stale", "int64", "records listed as stale"),
    Column("must", "bool", "any loss of it fails the gate"),
    Column("history", "str", "name of the shared history; NA when it has its own"),
    Column("file", "str", "file that it was read from; NA when built in Python"),
    Column("line", "Int64", "line in that file"),
    Column("content_hash", "str", "hash of what is measured, without name, tags and why"),
    Column("why", "str", "where it came from"),
)

TAGS: Schema = (PROBE, Column("tag", "str", "one tag of the probe", required=True))

FAULTS: Schema = (
    Column(
        "level", "category", "an error is refused, a warning is said", allowed=("error", "warning")
    ),
    Column("file", "str", "probe file; NA when built in Python"),
    Column("line", "Int64", "line in that file"),
    Column("probe", "str", "name of the probe; NA for the suite as a whole"),
    Column("field", "str", "field at fault"),
    Column("found", "str", "what stands there"),
    Column("todo", "str", "what to do about it"),
)

SCHEMAS: dict[str, Schema] = {
    "hits": HITS,
    "calls": CALLS,
    "qrels": QRELS,
    "results": RESULTS,
    "summary": SUMMARY,
    "controls": CONTROLS,
    "probes": PROBES,
    "tags": TAGS,
    "faults": FAULTS,
}


def names(schema: Schema) -> list[str]:
    """Column names of a schema, in order."""
    return [column.name for column in schema]


def empty(schema: Schema) -> pd.DataFrame:
    """Frame with all columns and dtypes of a schema and no rows.

    Examples
    --------
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
    >>> conform(pd.DataFrame({"tag": ["scope"], "probe": ["lunch"]}), TAGS)
       probe    tag
    0  lunch  scope
    """
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
        return values.astype("str")
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
    >>> describe(TAGS)[["column", "dtype"]]
      column dtype
    0  probe   str
    1    tag   str
    """
    rows = [(c.name, c.dtype, c.unit, c.meaning) for c in schema]
    return pd.DataFrame(rows, columns=["column", "dtype", "unit", "meaning"], dtype="str")
