"""The schema of every table: its columns, their types, units and meaning.

A table is a promise. `conform` gives any frame the columns, order and dtypes of its schema,
`empty` gives the same with no rows, and `describe` shows a schema as a table.
"""

from __future__ import annotations

from memeval.columns import Column as Column
from memeval.columns import Schema as Schema
from memeval.columns import conform as conform
from memeval.columns import describe as describe
from memeval.columns import empty as empty
from memeval.columns import names as names
from memeval.drift_frames import CHECKPOINTS as CHECKPOINTS
from memeval.drift_frames import DRIFT as DRIFT
from memeval.drift_frames import DRIFT_PROBES as DRIFT_PROBES
from memeval.drift_frames import DRIFT_SCHEMAS
from memeval.drift_frames import SIZES as SIZES
from memeval.drift_frames import SLOPES as SLOPES
from memeval.past_frames import HISTORY as HISTORY
from memeval.past_frames import KEPT_RUNS as KEPT_RUNS
from memeval.past_frames import PAST_SCHEMAS
from memeval.proof_frames import KILLS as KILLS
from memeval.proof_frames import LOOKS as LOOKS
from memeval.proof_frames import PROOF_SCHEMAS
from memeval.proof_frames import RELATIONS as RELATIONS
from memeval.proof_frames import SABOTEURS as SABOTEURS
from memeval.proof_frames import SCOPE_PAIRS as SCOPE_PAIRS
from memeval.proof_frames import VIOLATIONS as VIOLATIONS
from memeval.store_frames import STORE_CHECKS as STORE_CHECKS
from memeval.store_frames import STORE_SCHEMAS
from memeval.store_frames import SURVEY as SURVEY

SCHEMA_VERSION = 1
"""Version of the tables; raised when a column changes its name, type or meaning."""
METRIC_VERSION = 1
"""Version of the definitions; raised when the same answers would score otherwise."""

STATUSES = ("ok", "failed", "timeout", "not_stored", "not_visible", "not_supported")
RESOLVED_BY = ("own", "metadata", "receipt", "text", "unknown")
LABELS = ("expected", "forbidden", "stale")
REASONS = ("listed", "deleted", "foreign_scope", "superseded", "expired", "canary")
KINDS = ("positive", "negative")
CAUSE_WORDS = (
    "leaked",
    "contract",
    "failed",
    "not_stored",
    "not_visible",
    "merged",
    "filtered",
    "stale_won",
    "crowded_out",
    "cut",
    "outranked",
    "did_not_abstain",
    "not_reproduced",
)
CHANGE_WORDS = ("lost", "gained", "flaky", "added", "removed", "edited")
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
    Column(
        "write_ms",
        "float64",
        "writing the history, without the haystack; NA: restored as written before",
        "ms",
    ),
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

CAUSES: Schema = (
    PROBE,
    Column("cause", "category", "why it failed", allowed=CAUSE_WORDS, required=True),
    Column("evidence", "str", "what the store answered when it was asked again"),
    Column("rank_found", "Int64", "rank of the missing record when more is asked for; NA: never"),
    Column("displaced_by", "str", "ids of the records in its place, blank separated; NA: none"),
    Column("next_step", "str", "what to do, in one sentence"),
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
    Column("must", "bool", "its loss fails the run"),
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

CANDIDATES: Schema = (
    Column("candidate", "int64", "number of the candidate, from 1", required=True),
    Column("source", "str", "file, conversation and turn that it comes from", required=True),
    Column("at", "str", "when it was asked, as ISO 8601; NA where the file does not say"),
    Column("scope", "str", "whose memory is asked"),
    Column("query", "str", "what was asked", required=True),
    Column("context", "str", "earlier statements that seem to hold the answer, one a line"),
    Column("n_records", "int64", "lines of the context"),
    Column("reason", "str", "why it is proposed"),
)

RECALL_CURVE: Schema = (
    Column("k", "int64", "cutoff", required=True),
    Column("metric", "str", "name of the metric", required=True),
    Column("value", "float64", "its value at that cutoff; NA when undefined", required=True),
    Column("low", "float64", "lower end of the 95 % interval; NA when there is none"),
    Column("high", "float64", "upper end of the 95 % interval; NA when there is none"),
    Column("n", "int64", "positive probes that were asked with that cutoff or a larger one"),
)

THRESHOLD_CURVE: Schema = (
    Column("floor", "float64", "hits that score worse are dropped", required=True),
    Column("recall_all", "float64", "share of positive probes; NA without any"),
    Column("leaks", "int64", "leaking records that remain"),
    Column("leak_rate", "float64", "probes that still leak over probes that could; NA without any"),
    Column("abstention", "float64", "share of negative probes; NA without any"),
    Column("n_positive", "int64", "positive probes"),
    Column("n_negative", "int64", "negative probes"),
    Column("n_leakable", "int64", "probes that forbid something, or leak without a floor"),
    Column("n_dropped", "int64", "hits that the floor takes away"),
    Column("best", "bool", "the floor that separates best"),
)

TAG_SUMMARY: Schema = (
    Column("tag", "str", "one tag; NA for all probes together", required=True),
    Column("n_positive", "int64", "positive probes that carry it"),
    Column("n_negative", "int64", "negative probes that carry it"),
    Column("recall_all", "float64", "share of the positive probes; NA without any"),
    Column("low", "float64", "lower end of the 95 % interval of recall_all"),
    Column("high", "float64", "upper end of the 95 % interval of recall_all"),
    Column("mrr", "float64", "mean of rr over the positive probes; NA without any"),
    Column("leaks", "int64", "leaking records"),
    Column("abstention", "float64", "share of the negative probes; NA without any"),
    Column("n_failed", "int64", "probes that did not pass"),
)

OVERLAP: Schema = (
    PROBE,
    Column("overlap", "float64", "content words of the query in its record; NA when undefined"),
)

OUTCOMES: Schema = (
    PROBE,
    Column("content_hash", "str", "hash of what is measured; NA where the file does not say"),
    Column(
        "kind", "category", "positive expects something, negative expects nothing", allowed=KINDS
    ),
    Column("must", "bool", "its loss fails the run"),
    Column("status", "category", "what became of the search", allowed=STATUSES),
    Column("n_repeats", "int64", "how often it was asked of a store of its own"),
    Column("n_passed", "int64", "how many of these repeats passed"),
    Column("recall_all", "boolean", "every expected group is in the top k; NA on negatives"),
    Column("recall_fraction", "float64", "share of expected groups in the top k"),
    Column("first_rank", "Int64", "rank of the first expected hit in the top k; NA when none"),
    Column("rr", "float64", "1 / first_rank, 0 when none; NA on negatives"),
    Column("ndcg", "float64", "binary gain, discount log2(rank + 1), ideal from all expected"),
    Column("n_leaked", "int64", "leaking records, the worst of all repeats"),
    Column("n_contract", "int64", "contract checks broken, the worst of all repeats"),
    Column("latency_ms", "float64", "the scored search; NA where the file does not say", "ms"),
    Column("n_expected", "Int64", "expected groups; NA where the file does not say"),
)

COMPARISON: Schema = (
    Column("metric", "str", "name of the metric", required=True),
    Column("baseline", "float64", "its value before, over the common probes"),
    Column("current", "float64", "its value now, over the same probes"),
    Column("delta", "float64", "current - baseline; latency: their ratio"),
    Column("low", "float64", "lower end of the interval of delta; NA when there is none"),
    Column("high", "float64", "upper end of the interval of delta; NA when there is none"),
    Column("p_value", "float64", "one-sided, that it got worse by luck; NA where not tested"),
    Column("n", "int64", "common probes that it is taken over"),
    Column("wins", "int64", "probes that got better"),
    Column("ties", "int64", "probes that stayed"),
    Column("losses", "int64", "probes that got worse"),
    Column("regressed", "boolean", "the verdict counts it as worse; NA where it is not judged"),
)

CHANGES: Schema = (
    PROBE,
    Column("change", "category", "what happened to it", allowed=CHANGE_WORDS, required=True),
    Column("rank_before", "Int64", "rank of its first expected record before; NA: not found"),
    Column("rank_after", "Int64", "the same now"),
    Column("displaced_by", "str", "ids that now stand in its place, blank separated; NA: none"),
    Column("reason", "str", "the same in words"),
)

SCHEMAS: dict[str, Schema] = {
    "hits": HITS,
    "calls": CALLS,
    "qrels": QRELS,
    "results": RESULTS,
    "summary": SUMMARY,
    "controls": CONTROLS,
    "causes": CAUSES,
    "probes": PROBES,
    "tags": TAGS,
    "faults": FAULTS,
    "candidates": CANDIDATES,
    "recall_curve": RECALL_CURVE,
    "threshold_curve": THRESHOLD_CURVE,
    "tag_summary": TAG_SUMMARY,
    "overlap": OVERLAP,
    "outcomes": OUTCOMES,
    "comparison": COMPARISON,
    "changes": CHANGES,
    **PAST_SCHEMAS,
    **PROOF_SCHEMAS,
    **STORE_SCHEMAS,
    **DRIFT_SCHEMAS,
}
