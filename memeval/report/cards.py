"""Cards: what a small result comes to, told once and set as text or as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memeval.report import (
    cards_of_drift,
    cards_of_runs,
    cards_of_suites,
    check_rows,
    survey_rows,
)
from memeval.report.card import Card
from memeval.report.layout import WIDTH, paragraph, table
from memeval.report.templating import render

# By the name of the class, since the reading wing may not import all of them.
CARDS: Mapping[str, Callable[[Any], Card]] = {
    "Calls": cards_of_suites.calls,
    "Comparability": cards_of_runs.comparability,
    "Diagnosis": cards_of_runs.diagnosis,
    "DriftComparison": cards_of_drift.comparison,
    "Gap": cards_of_runs.gap,
    "Growth": cards_of_drift.growth,
    "Manifest": cards_of_runs.manifest,
    "Outcomes": cards_of_runs.outcomes,
    "Probe": cards_of_suites.probe,
    "ProbeResult": cards_of_runs.probe_result,
    "Ranks": cards_of_runs.ranks,
    "Shape": cards_of_drift.shape,
    "Shrunk": cards_of_suites.shrunk,
    "StoreCheck": check_rows.card,
    "Suite": cards_of_suites.suite,
    "Summary": cards_of_runs.summary,
    "Survey": survey_rows.card,
    "Trend": cards_of_drift.trend,
    "Validity": cards_of_runs.validity,
    "Verdict": cards_of_runs.verdict,
    "Wear": cards_of_runs.wear,
}


def card_of(result: Any) -> Card:
    """What a result comes to, in words.

    Raises
    ------
    TypeError
        If there is no card for it.
    """
    for kind in type(result).__mro__:
        if kind.__name__ in CARDS:
            return CARDS[kind.__name__](result)
    known = ", ".join(sorted(CARDS))
    raise TypeError(f"found {type(result).__name__}, wanted one of {known}; show its frame")


def card_html(result: Any) -> str:
    """Set a result as HTML for a notebook: one ``div``, safe with any text."""
    return render("notebook_card.html.j2", card=card_of(result))


def card_text(result: Any) -> str:
    """Set a result as text of at most 80 columns."""
    return "\n".join(_lines(card_of(result)))


def _lines(card: Card) -> Iterator[str]:
    yield paragraph(f"{card.title}: {card.word}")
    if card.sentence:
        yield paragraph(card.sentence)
    if card.next_step:
        yield paragraph(f"next: {card.next_step}", indent=2)
    for label, words in card.lines:
        yield paragraph(f"{label}: {words}", indent=2)
    if card.rows:
        yield table(card.heads, card.rows, _widths(card), card.sides).rstrip("\n")
    if card.more:
        yield paragraph(card.more)


def _widths(card: Card) -> list[int]:
    """As wide as the cells are, and narrower where that is more than a line: the widest first."""
    from memeval.text import display_width, visible

    cells = [card.heads, *card.rows]
    widths = [max(1, *(display_width(visible(c)) for c in column))
              for column in zip(*cells, strict=True)]  # fmt: skip
    while sum(widths) + len(widths) - 1 > WIDTH:
        widths[widths.index(max(widths))] -= 1
    return widths
