"""Schemas of the tables that look back: over commits, and over runs that were kept."""

from __future__ import annotations

from memeval.columns import Column, Schema

HISTORY: Schema = (
    Column("commit", "str", "commit that holds the file", required=True),
    Column("at", "str", "time of the commit, as ISO 8601"),
    Column("metric", "str", "name of the metric", required=True),
    Column("value", "float64", "its value; NA when undefined"),
    Column("low", "float64", "lower end of the 95 % interval; NA when there is none"),
    Column("high", "float64", "upper end of the 95 % interval; NA when there is none"),
    Column("n", "int64", "what the value was taken over"),
    Column("suite_hash", "str", "which suite; NA where the file does not say"),
    Column("comparable", "boolean", "measured like the one before it; NA on the first"),
)

KEPT_RUNS: Schema = (
    Column("run", "str", "name of the file", required=True),
    Column("at", "str", "when it was made, UTC, ISO 8601"),
    Column("store", "str", "name of the store"),
    Column("verdict", "str", "what it came to"),
    Column("n_probes", "int64", "probes asked"),
    Column("recall_all", "float64", "share of positive probes; NA of an invalid suite"),
    Column("mrr", "float64", "mean of rr over the positive probes; NA of an invalid suite"),
    Column("leaks", "int64", "leaking records"),
    Column("suite_hash", "str", "which suite"),
    Column("commit", "str", "commit of the folder that it was made in; NA outside of git"),
)

PAST_SCHEMAS: dict[str, Schema] = {"history": HISTORY, "kept_runs": KEPT_RUNS}
