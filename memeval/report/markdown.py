"""A report as Markdown, for a comment on a change or a wiki.

Every text of others is escaped: no link, image, mention or mark-up of theirs comes alive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from memeval.report import control_rows, figures, tables
from memeval.report.places import MOST_LISTED
from memeval.report.probes import STATUSES, Detail, Ledger
from memeval.runs import Run, Validity
from memeval.text import markdown_cell, visible

TEXT_LIMIT = 200


def verdict_text(run: Run) -> str:
    """Verdict, reason and next step.

    Parameters
    ----------
    run : Run
        What is reported.
    """
    verdict = run.verdict
    lines = [f"## Verdict: {verdict.word}", markdown_cell(verdict.reason)]
    if verdict.next_step:
        lines.append(f"Next: {markdown_cell(verdict.next_step)}")
    return "\n\n".join(lines)


def validity_text(validity: Validity) -> str:
    """Whether the suite can carry its numbers; faults of suite and store apart."""
    word, words = control_rows.SUITE_WORDS[validity.status]
    points = [f"suite: {reason}" for reason in validity.reasons]
    if control_rows.withheld(validity):
        points.append(control_rows.WITHHELD)
    else:
        points += [f"store: {fault}" for fault in validity.store_faults]
        points += [f"note: {note}" for note in validity.notes]
    if validity.next_step:
        points.append(f"next: {validity.next_step}")
    return "\n".join(
        [f"**{word}**: {words}", "", *(f"- {markdown_cell(p)}" for p in points)]
    ).rstrip()


def controls_text(frame: pd.DataFrame | None, validity: Validity) -> str:
    """Result of the controls, and the table behind it.

    Parameters
    ----------
    frame : pandas.DataFrame or None
        As `memeval.frames.CONTROLS`; None where there are none.
    validity : Validity
        What they come to.
    """
    parts = ["## Controls", validity_text(validity)]
    rows = control_rows.checks(frame, validity)
    if rows:
        head = [
            "store",
            "rule",
            "judged",
            "value",
            "real",
            "chance",
            "must be",
            "rule is",
            "at fault",
            "why",
        ]
        cells = [
            [
                row.store,
                row.rule,
                row.metric,
                row.value,
                row.real,
                row.chance,
                row.must,
                row.state,
                "" if row.blames == "none" else row.blames,
                row.reason,
            ]
            for row in rows
        ]
        parts.append(_table(head, cells, "lllrrrrlll"))
    hidden = control_rows.hidden_checks(frame, validity)
    if hidden:
        parts.append(
            f"{figures.count(hidden, 'check')} of the store withheld: the suite is invalid."
        )
    return "\n\n".join(parts)


def split_text(run: Run) -> str:
    """How many probes of which kind."""
    rows = [[part.name, str(part.n), part.words] for part in tables.split(run)]
    return "## Probes\n\n" + _table(["probes", "n", "which"], rows, "lrl")


def summary_text(run: Run) -> str:
    """Every metric with its interval, what it was taken over, and its target.

    Of an invalid suite there is none: it says so.
    """
    if control_rows.withheld(run.validity):
        return f"## Summary\n\n{control_rows.WITHHELD}"
    head = [
        "metric",
        "value",
        "95 % interval",
        "n",
        "target",
        "is it met?",
        "gate and floor",
        "what it is",
    ]
    rows = [
        [m.name, m.value, m.interval, m.n, m.target, m.target_words, m.bound_words, m.meaning]
        for m in tables.metrics(run)
    ]
    thin = [markdown_cell(tables.thin(run))] if tables.thin(run) else []
    return "\n\n".join(["## Summary", *thin, _table(head, rows, "lrlrrlll")])


def failing_text(run: Run, limit: int | None = None) -> str:
    """What went wrong in each probe that did not pass, worst first.

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
        parts.append(_table(["rank", "record", "label", "score", "text"], rows, "rllrl"))
    return "\n\n".join(parts)


def _points(detail: Detail) -> Iterator[tuple[str, str]]:
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


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], sides: str) -> str:
    rule = ["---:" if side == "r" else "---" for side in sides]
    lines = [head, rule, *([markdown_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def report_text(run: Run, limit: int | None = None) -> str:
    """The whole report: what it grades, controls, verdict, split, summary, failing probes.

    Parameters
    ----------
    run : Run
        What is reported.
    limit : int, optional
        Most failing probes to tell of.

    Returns
    -------
    str
        Markdown with a line end behind the last line.
    """
    parts = [
        f"# memeval: {markdown_cell(run.manifest.store)}",
        tables.WHAT,
        controls_text(control_rows.controls_of(run), run.validity),
        verdict_text(run),
        split_text(run),
        summary_text(run),
        failing_text(run, limit),
    ]
    return "\n\n".join(parts) + "\n"
