"""The survey of several stores as cells, for every form that shows it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from memeval.report.card import Card
from memeval.report.figures import UNDEFINED, count, figure, is_missing
from memeval.report.markdown_probes import markdown_table

HEADS = (
    "store", "suite", "controls", "verdict", "recall", "leaks", "stale", "distinct", "abstains",
    "killed", "p95 ms",
)  # fmt: skip
SIDES = "llllrrrrrrr"


def cells(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """Write a row per suite and store, as `HEADS` names its cells."""
    return [
        (
            str(row.store),
            str(row.suite),
            UNDEFINED if is_missing(row.controls) else str(row.controls),
            str(row.verdict),
            figure(row.recall_all),
            UNDEFINED if is_missing(row.leaks) else f"{row.leaks}",
            figure(row.staleness),
            figure(row.distinct),
            figure(row.abstention),
            figure(row.mutation_score),
            figure(row.latency_p95_ms, "latency_p95_ms"),
        )
        for row in table.itertuples()
    ]


def markdown(table: pd.DataFrame) -> str:
    """Write the table as GitHub-flavoured Markdown, the version beside the name of the store."""
    versions = table["version"].fillna("")
    rows = [
        (f"{name} {version}".strip(), *others)
        for version, (name, *others) in zip(versions, cells(table), strict=True)
    ]
    return markdown_table(HEADS, rows, SIDES) + "\n"


def card(one: Any) -> Card:
    """What each store comes to, and why some could not be asked."""
    table = one.table
    several = table["suite"].nunique() > 1
    kept = [n for n, head in enumerate(HEADS) if several or head != "suite"]
    failed = table[table["verdict"].eq("FAILED")]
    passed = int(table["verdict"].eq("PASS").sum())
    return Card(
        "Survey",
        f"{passed} of {count(len(table), 'run')} passed",
        heads=[HEADS[n] for n in kept],
        sides="".join(SIDES[n] for n in kept),
        rows=[[row[n] for n in kept] for row in cells(table)],
        lines=[(f"{row.store} not asked", row.reason) for row in failed.itertuples()],
        more="means of one store hide what another finds: compare two of .runs probe by probe",
    )
