"""The check of a store as cells and words, for every form that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memeval.report.card import Card
from memeval.report.figures import is_missing
from memeval.report.markdown_probes import markdown_table
from memeval.text import markdown_cell

HEADS = ("question", "is", "found")
WORDS = {"ok": "ok", "finding": "note", "broken": "BROKEN", "not_asked": "-"}


def cells(one: Any) -> list[tuple[str, str, str]]:
    """A row per question."""
    return [
        (row.question, WORDS[row.status], "" if is_missing(row.found) else str(row.found))
        for row in one.table.itertuples()
    ]


def details(one: Any) -> Iterator[tuple[str, str]]:
    """What was seen and what to do, of all that is not as it should be."""
    for row in one.table.itertuples():
        if row.status in ("finding", "broken"):
            parts = (row.evidence, row.next_step)
            told = "; ".join(str(part) for part in parts if not is_missing(part))
            if told:
                yield row.question, told


def card(one: Any) -> Card:
    """What the store does, question by question."""
    verdict = one.verdict
    return Card(
        f"Check of {one.store}",
        verdict.word,
        verdict.exit_code == 0,
        verdict.reason,
        verdict.next_step,
        heads=HEADS,
        sides="lll",
        rows=cells(one),
        lines=list(details(one)),
    )


def markdown(one: Any) -> str:
    """The same as GitHub-flavoured Markdown, safe with any text."""
    verdict = one.verdict
    head = f"## Check of {markdown_cell(one.store)}: {markdown_cell(verdict.word)}"
    points = "\n".join(
        f"- {markdown_cell(name)}: {markdown_cell(words)}" for name, words in details(one)
    )
    parts = [head, markdown_cell(verdict.reason), markdown_table(HEADS, cells(one), "lll"), points]
    return "\n\n".join(filter(None, parts)) + "\n"
