"""Schemas of the tables that prove a suite: saboteurs, relations, scope coverage, the holdout."""

from __future__ import annotations

from memeval.columns import Column, Schema

KILLED_BY = ("gate", "contract", "ratchet", "latency")
TOUCHES = ("answer", "search", "write")
RELATION_KINDS = ("hard", "soft")
SCOPE_KINDS = ("other", "begins_alike", "differs_in_case", "syntax")

KILLS: Schema = (
    Column("saboteur", "str", "the known fault", required=True),
    Column("probe", "str", "name of the probe that killed it", required=True),
    Column("by", "category", "what saw it, the first of these", allowed=KILLED_BY, required=True),
    Column("codes", "str", "what fired, blank separated: reasons of leaks, contract codes; or NA"),
)

SABOTEURS: Schema = (
    Column("saboteur", "str", "the known fault", required=True),
    Column("fault", "str", "the fault in one sentence"),
    Column("touches", "category", "answer: replayed without the store", allowed=TOUCHES),
    Column("applicable", "bool", "whether it means anything on this store"),
    Column("equivalent", "boolean", "its witness sees no difference; NA where it was not asked"),
    Column("killed", "boolean", "a probe sees it; NA when not applicable or equivalent"),
    Column("depth", "int64", "probes that kill it"),
    Column("must_kill", "bool", "a suite that lets it live is no good"),
    Column("significant", "boolean", "the comparison of means fails too: shown, no part of score"),
    Column("missing_probe", "str", "kind of probe that would kill a survivor; NA otherwise"),
    Column("reason", "str", "why it is not applicable, equivalent or alive; NA where killed"),
)

RELATIONS: Schema = (
    Column("relation", "str", "short name of the relation", required=True),
    Column("kind", "category", "hard: never broken by a sound store", allowed=RELATION_KINDS),
    Column("statement", "str", "what must hold, in one sentence"),
    Column("applicable", "bool", "whether the store declares what it takes"),
    Column("n", "int64", "trials"),
    Column("n_violated", "int64", "trials that broke it"),
    Column("share", "float64", "n_violated / n; NA without a trial"),
    Column("low", "float64", "lower end of the 95 % Wilson interval of share"),
    Column("high", "float64", "upper end of the interval"),
    Column("passed", "boolean", "hard and kept; NA for soft ones and where not applicable"),
    Column("reason", "str", "why it is not applicable; NA where it is"),
)

VIOLATIONS: Schema = (
    Column("relation", "str", "short name of the relation", required=True),
    Column("trial", "int64", "which trial, from 1"),
    Column("query", "str", "what was asked"),
    Column("records", "str", "the records that matter, in words"),
    Column("before", "str", "the first answer, in words"),
    Column("after", "str", "the second answer, or what was wanted"),
    Column("finding", "str", "what is wrong, in one sentence"),
    Column("next_step", "str", "what to do, in one sentence"),
)

SCOPE_PAIRS: Schema = (
    Column("asked", "str", "scope that is asked", required=True),
    Column("other", "str", "scope whose records were there and may not come back", required=True),
    Column("kind", "category", "how the names differ", allowed=SCOPE_KINDS),
    Column("n_probes", "int64", "probes that attempted it"),
    Column("n_records", "int64", "foreign records that could have come back"),
    Column("n_leaked", "int64", "probes in which one came back"),
    Column("high", "float64", "upper end of the 95 % interval of the leak rate, over probes"),
)

LOOKS: Schema = (
    Column("look", "int64", "which look at this holdout, from 1", required=True),
    Column("at", "str", "when, UTC, ISO 8601"),
    Column("run_hash", "str", "hash of the answers that were looked at"),
    Column("holdout_hash", "str", "which probes are held out"),
    Column("n_probes", "int64", "held out probes that were asked"),
    Column("store", "str", "name of the store"),
    Column("recall_all", "float64", "share of held out positive probes; NA without one"),
)

PROOF_SCHEMAS: dict[str, Schema] = {
    "kills": KILLS,
    "saboteurs": SABOTEURS,
    "relations": RELATIONS,
    "violations": VIOLATIONS,
    "scope_pairs": SCOPE_PAIRS,
    "looks": LOOKS,
}
