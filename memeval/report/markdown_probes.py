"""Failing probes as Markdown: why they failed in short, then one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memeval.report import cause_rows, control_rows, figures
from memeval.report.places import MOST_LISTED
from memeval.report.probes import STATUSES, Detail, Ledger
from memeval.runs import Run
from memeval.text import markdown_cell, visible

TEXT_LIMIT = 200


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], sides: str) -> str:
    """Table with escaped cells.

    Parameters
    ----------
    head : sequence of str
        Names of the columns, our own words.
    rows : iterable of sequence of str
        Cells, as many as columns.
    sides : str
        A letter per column: ``r`` sets it to the right, anything else to the left.

    Examples
    --------
    >>> print(markdown_table(["metric", "n"], [["a|b", "7"]], "lr"))
    | metric | n |
    | --- | ---: |
    | a&#124;b | 7 |
    """
    rule = ["---:" if side == "r" else "---" for side in sides]
    lines = [head, rule, *([markdown_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def causes_text(run: Run, limit: int | None = None) -> str:
    """Why probes failed: which to mend first, how many of each cause, and a row per probe.

    Parameters
    ----------
    run : Run
        What is reported.
    limit : int, optional
        Most probes to list; how many more there are is said. Without it all are listed.

    Returns
    -------
    str
        Empty where the run was not diagnosed or the suite is invalid.
    """
    told = cause_rows.rows(run)
    if not told:
        return ""
    listed = told if limit is None else told[: max(0, limit)]
    counts = [[c.cause, str(c.n), c.meaning] for c in cause_rows.counts(told)]
    steps = [
        [f"{r.place}", r.probe, r.cause + (" (must)" if r.must else ""), r.rank, r.next_step]
        for r in listed
    ]
    parts = [
        "## Why, and what next",
        markdown_cell(cause_rows.first_words(told)),
        markdown_table(["cause", "n", "what it means"], counts, "lrl"),
        markdown_table(["", "probe", "cause", "found at rank", "next step"], steps, "rllrl"),
    ]
    more = len(told) - len(listed)
    if more:
        parts.append(f"and {figures.count(more, 'more failing probe')}")
    return "\n\n".join(parts)


def failing_text(run: Run, limit: int | None = None) -> str:
    """What went wrong in each probe that did not pass, first to mend first, else worst first.

    Parameters
    ----------
    run : Run
        What is reported.
    limit : int, optional
        Most probes to tell of; how many more there are is said. Without it all are told.
    """
    if control_rows.withheld(run.validity):
        return f"## Failing probes\n\n{control_rows.WITHHELD}"
    ledger = Ledger(run)
    told = ledger.failing if limit is None else ledger.failing[: max(0, limit)]
    more = len(ledger.failing) - len(told)
    title = f"## Failing probes: {len(ledger.failing)} of {len(ledger.results)}"
    parts = [title, *(_failing(ledger.detail(name)) for name in told)]
    if told:
        parts.insert(1, f"Texts are cut to {TEXT_LIMIT} columns.")
    if more:
        parts.append(f"and {figures.count(more, 'more failing probe')}")
    return "\n\n".join(parts)


def _failing(detail: Detail) -> str:
    points = "\n".join(f"- {name}: {markdown_cell(words)}" for name, words in _points(detail))
    parts = [f"### {markdown_cell(detail.row.name)}: {markdown_cell(detail.row.outcome)}", points]
    if detail.places:
        rows = [
            [
                str(place.rank),
                place.record,
                "; ".join(label.words for label in place.labels),
                place.score,
                _short(place.text),
            ]
            for place in detail.places
        ]
        parts.append(markdown_table(["rank", "record", "label", "score", "text"], rows, "rllrl"))
    return "\n\n".join(parts)


def _points(detail: Detail) -> Iterator[tuple[str, str]]:
    if detail.cause is not None:
        yield "cause", f"{detail.cause.cause}: {detail.cause.meaning}"
        yield "because", detail.cause.because
        yield "next", detail.cause.next_step
    yield "asked", _short(detail.probe.query)
    if detail.row.tags:
        yield "tags", ", ".join(detail.row.tags)
    if detail.status != "ok":
        yield "status", f"{detail.status}: {STATUSES[detail.status]}"
    yield from (("error", error) for error in detail.errors)
    yield from (("**LEAK**", leak) for leak in detail.leaks)
    yield from (("contract", breach) for breach in detail.breaches)
    for group in detail.wanted:
        texts = "" if group.in_top else "; ".join(_short(r.text) for r in group.records)
        yield (
            "expected",
            f"{' or '.join(group.ids)}: {group.words}" + (f": {texts}" if texts else ""),
        )
    if detail.probe.is_negative:
        yield "expected", "an empty answer: nothing that was written is right"
    if not detail.places and detail.status == "ok":
        yield "returned", "nothing"
    away = [row.record for row in detail.forbidden if row.rank is None]
    if away:
        rest = f" and {len(away) - MOST_LISTED} more" if len(away) > MOST_LISTED else ""
        yield "kept out", ", ".join(away[:MOST_LISTED]) + rest
    yield from (("note", note) for note in detail.notes)


def _short(text: str | None) -> str:
    return "(text left out)" if text is None else visible(text, TEXT_LIMIT)
