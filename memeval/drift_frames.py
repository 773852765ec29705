"""Schemas of the tables of drift: what happens as a store grows."""

from __future__ import annotations

from memeval.columns import Column, Schema

CURVES = ("retention", "crowding", "growth", "size", "latency")
DRIFT_VERDICTS = (
    "flat", "decline", "cannot tell",
    "plateau", "bent", "linear",
    "constant", "worse",
)  # fmt: skip
LAWS = ("constant", "logarithmic", "linear", "linearithmic", "quadratic")

DRIFT: Schema = (
    Column("session", "int64", "sessions that were written before the checkpoint", required=True),
    Column("n_records", "int64", "records written so far, all cohorts and growth", required=True),
    Column("cohort", "Int64", "session at which these probes were planted; NA: all cohorts"),
    Column("age", "Int64", "sessions since they were planted; NA for all cohorts"),
    Column("metric", "str", "name of the metric", required=True),
    Column("value", "float64", "value; NA when undefined", required=True),
    Column("low", "float64", "lower end of the 95 % interval; NA when there is none"),
    Column("high", "float64", "upper end of the interval"),
    Column("n", "int64", "probes, or calls, that it was taken over"),
)

DRIFT_PROBES: Schema = (
    Column("probe", "str", "name of the probe", required=True),
    Column("cohort", "int64", "session at which it was planted", required=True),
    Column("session", "int64", "sessions that were written before the checkpoint", required=True),
    Column("n_records", "int64", "records written so far, but for a fresh cohort", required=True),
    Column("kind", "category", "positive or negative", allowed=("positive", "negative")),
    Column("status", "str", "outcome of the call, as in calls"),
    Column("rank", "Int64", "rank of the first expected record; NA when it did not come back"),
    Column("ndcg", "float64", "binary nDCG; NA for negatives"),
    Column("recall_all", "boolean", "every expected group in the top k; NA for negatives"),
    Column("passed", "bool", "whether the probe passed", required=True),
    Column("n_leaked", "int64", "leaking records"),
    Column("n_contract", "int64", "contract checks broken"),
    Column("breaches", "str", "codes of broken contract checks, blank separated; NA when none"),
    Column("latency_ms", "float64", "the scored search alone", "ms"),
    Column("displaced_by", "str", "ids of the records in its place, blank separated; NA: none"),
    Column("cause", "str", "why it was lost, in the words of causes; NA where it was not"),
)

SLOPES: Schema = (
    Column("metric", "str", "name of the metric", required=True),
    Column("curve", "category", "against what", allowed=CURVES, required=True),
    Column("slope_per_1k", "float64", "change of the metric per 1,000 records (or sessions)"),
    Column("low", "float64", "lower end of the 95 % interval"),
    Column("high", "float64", "upper end of the interval"),
    Column("p_value", "float64", "one-sided, that it falls by luck; NA without a test"),
    Column("n", "int64", "probes, or sessions, that it was taken over"),
    Column("verdict", "category", "the same in a word", allowed=DRIFT_VERDICTS),
    Column("reason", "str", "the same in a sentence"),
)

CHECKPOINTS: Schema = (
    Column("session", "int64", "sessions that were written before the checkpoint", required=True),
    Column("n_records", "int64", "records written so far", required=True),
    Column("n_kept", "Int64", "records that the store counts; NA where it cannot"),
    Column("n_bytes", "Int64", "bytes that the store takes; NA where it does not say"),
    Column(
        "write_ms", "float64", "median time to write one record since the last checkpoint", "ms"
    ),
    Column(
        "visible_ms", "float64", "read-after-write lag: time until a fresh write is found", "ms"
    ),
    Column("latency_p50_ms", "float64", "median of the scored searches", "ms"),
    Column("latency_p95_ms", "float64", "95th percentile (Hyndman-Fan 8) of them", "ms"),
    Column("n_searches", "int64", "scored searches"),
    Column("consolidated", "bool", "whether the store tidied up since the last checkpoint"),
)

SIZES: Schema = (
    Column("session", "int64", "sessions that were written so far", required=True),
    Column("n_records", "int64", "records written so far", required=True),
    Column("n_kept", "Int64", "records that the store counts; NA where it cannot"),
)

DRIFT_SCHEMAS: dict[str, Schema] = {
    "drift": DRIFT,
    "drift_probes": DRIFT_PROBES,
    "slopes": SLOPES,
    "checkpoints": CHECKPOINTS,
    "sizes": SIZES,
}
