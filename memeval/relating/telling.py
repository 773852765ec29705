"""Trials as rows and in words: texts of others are quoted, shortened, and made safe to show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from memeval.frames import RELATIONS as RELATIONS_SCHEMA
from memeval.frames import VIOLATIONS, conform
from memeval.record import Record
from memeval.relating.answers import Answer
from memeval.relating.catalogue import RELATIONS, Relation
from memeval.relating.trials import Trial
from memeval.stats.shares import wilson
from memeval.text import display_width, visible

TEXT, QUERY, NAME, END = 60, 100, 30, 18
MOST_HITS = 4


def quoted(text: str, limit: int = TEXT) -> str:
    r"""Quote other people's text on one line, shortened in the middle: values often end a text.

    Examples
    --------
    >>> quoted('say "no"\n')
    '"say "no"␊"'
    """
    if display_width(visible(text)) <= limit:
        return f'"{visible(text)}"'
    return f'"{visible(text, limit - END)}{visible(text[-END:])}"'


def recorded(record: Record) -> str:
    """A record in words.

    Examples
    --------
    >>> recorded(Record("r1", "Lunch is at noon.", "ana"))
    '"Lunch is at noon." (r1 of ana)'
    """
    return f"{quoted(record.text)} ({visible(record.id, NAME)} of {visible(record.scope, NAME)})"


def answered(answer: Answer | str | None) -> str:
    """An answer in words: its first records, and how many more there are."""
    if answer is None or isinstance(answer, str):
        return visible(answer or "")
    if not answer.found:
        return "nothing"
    listed = [f"{n}. {quoted(one.text)}" for n, one in enumerate(answer.found[:MOST_HITS], 1)]
    more = len(answer.found) - MOST_HITS
    return "; ".join(listed) + (f"; and {more} more" if more > 0 else "")


def sentence(finding: str) -> str:
    """A finding as a sentence."""
    return finding[:1].upper() + finding[1:] + "."


def violations_frame(trials: Mapping[str, Sequence[Trial]]) -> pd.DataFrame:
    """Rows of `memeval.frames.VIOLATIONS`, relations in their order, hard ones first."""
    rows = [row for one in RELATIONS for row in _rows(one, trials.get(one.name, ()))]
    return conform(pd.DataFrame(rows, columns=[c.name for c in VIOLATIONS]), VIOLATIONS)


def _rows(relation: Relation, trials: Iterable[Trial]) -> Iterator[dict[str, Any]]:
    for number, trial in enumerate(trials, 1):
        if trial.finding is not None:
            yield {
                "relation": relation.name,
                "trial": number,
                "query": quoted(trial.query, QUERY)[1:-1],
                "records": "; ".join(map(recorded, trial.records)) or None,
                "before": answered(trial.before),
                "after": answered(trial.after),
                "finding": sentence(trial.finding),
                "next_step": relation.next_step,
            }


def relations_frame(
    trials: Mapping[str, Sequence[Trial]], reasons: Mapping[str, str]
) -> pd.DataFrame:
    """Rows of `memeval.frames.RELATIONS`.

    Parameters
    ----------
    trials : mapping of str to sequence of Trial
        By relation.
    reasons : mapping of str to str
        Why a relation is not applicable, by relation.
    """
    rows = [_row(one, trials.get(one.name, ()), reasons.get(one.name)) for one in RELATIONS]
    return conform(pd.DataFrame(rows), RELATIONS_SCHEMA)


def _row(relation: Relation, trials: Sequence[Trial], reason: str | None) -> dict[str, Any]:
    n = len(trials)
    violated = sum(trial.finding is not None for trial in trials)
    low, high = wilson(violated, n)
    judged = relation.kind == "hard" and reason is None and n > 0
    return {
        "relation": relation.name,
        "kind": relation.kind,
        "statement": relation.statement,
        "applicable": reason is None,
        "n": n,
        "n_violated": violated,
        "share": violated / n if n else None,
        "low": low if n else None,
        "high": high if n else None,
        "passed": violated == 0 if judged else None,
        "reason": reason,
    }
