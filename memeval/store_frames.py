"""Schemas of the tables about stores as a whole."""

from __future__ import annotations

from memeval.columns import Column, Schema

SURVEY: Schema = (
    Column("suite", "str", "which suite was asked", required=True),
    Column("store", "str", "short name of the store", required=True),
    Column("version", "str", "what the store tells of its version; NA where it tells none"),
    Column("controls", "str", "valid, weak or invalid; NA where the store could not be asked"),
    Column("verdict", "str", "word of the verdict; FAILED where the store could not be asked"),
    Column("reason", "str", "the verdict in a sentence"),
    Column("n_probes", "int64", "probes asked"),
    Column("recall_all", "float64", "share of positive probes; NA of an invalid suite"),
    Column("low", "float64", "lower end of the 95 % interval of recall_all"),
    Column("high", "float64", "upper end of it"),
    Column("leaks", "Int64", "records that must never come back and did"),
    Column("staleness", "float64", "share of hits that are outdated"),
    Column("distinct", "float64", "share of the top k that says something new"),
    Column("abstention", "float64", "share of negative probes with an empty answer"),
    Column("mutation_score", "float64", "killed / counted known faults; NA where not asked for"),
    Column("latency_p95_ms", "float64", "95 % of the searches took at most this", unit="ms"),
)

CHECKED = ("ok", "finding", "broken", "not_asked")

STORE_CHECKS: Schema = (
    Column("question", "str", "what was tried", required=True),
    Column("status", "category", "broken: other than declared", allowed=CHECKED, required=True),
    Column("found", "str", "what came of it, in words"),
    Column("declared", "str", "what the store says of itself; NA where it says nothing"),
    Column("evidence", "str", "what was seen; NA where there is nothing to add"),
    Column("next_step", "str", "what to do, in one sentence; NA where there is nothing to do"),
)

STORE_SCHEMAS: dict[str, Schema] = {"survey": SURVEY, "store_checks": STORE_CHECKS}
