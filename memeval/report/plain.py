"""A report as text of 80 columns, for a terminal or a log.

Nothing is cut silently: names and messages are wrapped, and texts are cut to one line only where
the heading says so. What could act on a terminal is made visible.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import pandas as pd

from memeval.report import control_rows, figures, tables
from memeval.report.layout import WIDTH, paragraph, table, wrap
from memeval.report.places import MOST_LISTED, Judged
from memeval.report.probes import STATUSES, Detail, Ledger
from memeval.runs import Run, Validity
from memeval.text import visible

LABEL = 11
# What a metric is, in the 21 columns that are left for it.
SHORT: Mapping[str, str] = MappingProxyType(
    {
        "recall_all": "all expected in top k",
        "recall_any": "any expected in top k",
        "recall_fraction": "expected in the top k",
        "mrr": "1 / rank of first hit",
        "ndcg": "expected, by its rank",
        "precision": "expected of k places",
        "distinct": "top k saying new",
        "staleness": "outdated hits",
        "leaks": "came back, must never",
        "leak_rate": "probes that leaked",
        "contract": "broken store checks",
        "errors": "failed or timed out",
        "abstention": "negatives left empty",
        "abstention_auroc": "score tells negatives",
        "zero_result_rate": "empty answers",
        "latency_p50_ms": "ms, half took less",
        "latency_p95_ms": "ms, 95 % took less",
        "latency_p99_ms": "ms, 99 % took less",
        "context_tokens": "words in the top k",
        "llm_calls": "model calls a search",
        "flaky_rate": "repeats that disagree",
        "not_stored": "records rejected",
        "not_visible": "records not yet seen",
        "not_supported": "store cannot take it",
    }
)


def verdict_text(run: Run) -> str:
    """Verdict, reason and next step.

    Parameters
    ----------
    run : Run
        What is reported.

    Returns
    -------
    str
        Lines of at most 80 columns.
    """
    verdict = run.verdict
    lines = [f"VERDICT: {verdict.word}", paragraph(verdict.reason, LABEL, first="why:")]
    if verdict.next_step:
        lines.append(paragraph(verdict.next_step, LABEL, first="next:"))
    return "\n".join(lines)


def validity_text(validity: Validity) -> str:
    """Whether the suite can carry its numbers; faults of suite and store apart."""
    word, words = control_rows.SUITE_WORDS[validity.status]
    lines = [paragraph(words, LABEL, first=word)]
    lines += [paragraph(reason, LABEL, first="suite:") for reason in validity.reasons]
    if control_rows.withheld(validity):
        lines.append(paragraph(control_rows.WITHHELD, LABEL))
    else:
        lines += [paragraph(fault, LABEL, first="store:") for fault in validity.store_faults]
        lines += [paragraph(note, LABEL, first="note:") for note in validity.notes]
    if validity.next_step:
        lines.append(paragraph(validity.next_step, LABEL, first="next:"))
    return "\n".join(lines)


def controls_text(frame: pd.DataFrame | None, validity: Validity) -> str:
    """Result of the controls, and the table behind it.

    Parameters
    ----------
    frame : pandas.DataFrame or None
        As `memeval.frames.CONTROLS`; None where there are none.
    validity : Validity
        What they come to.

    Returns
    -------
    str
        Lines of at most 80 columns.
    """
    parts = [
        "CONTROLS: stores broken on purpose; a suite that lets one pass measures nothing",
        validity_text(validity),
    ]
    rows = control_rows.checks(frame, validity)
    if rows:
        parts.append(_checks(rows))
    hidden = control_rows.hidden_checks(frame, validity)
    if hidden:
        parts.append(
            f"{figures.count(hidden, 'check')} of the store withheld: the suite is invalid."
        )
    return "\n\n".join(parts)


def _checks(rows: list[control_rows.Check]) -> str:
    head = ["store", "rule", "judged", "value", "real", "chance", "must be", "rule is"]
    widths = [8, 4, 18, 5, 8, 6, 14, 7]
    blocks = []
    for row in rows:
        cells = [
            row.store,
            row.rule,
            row.metric,
            row.value,
            row.real,
            row.chance,
            row.must,
            row.state,
        ]
        line = table(head, [cells], widths, "lllrrrrl").split("\n")
        blame = (
            f" (at fault: the {row.blames})"
            if row.state == "broken" and row.blames != "none"
            else ""
        )
        blocks.append("\n".join([*line[2:], paragraph(row.reason + blame, 10)]))
    top = table(head, [], widths, "lllrrrrl")
    return "\n".join([top, *blocks])


def split_text(run: Run) -> str:
    """How many probes of which kind."""
    parts = tables.split(run)
    rows = [[part.name, str(part.n), part.words] for part in parts]
    return "\n".join(
        [
            f"PROBES: {len(run.suite)}",
            table(["", "n", ""], rows, [14, 6, 58], "lrl").split("\n", 2)[2],
        ]
    )


def summary_text(run: Run) -> str:
    """Every metric with its interval, what it was taken over, and its target.

    Of an invalid suite there is none: it says so.
    """
    if control_rows.withheld(run.validity):
        return paragraph(f"SUMMARY: {control_rows.WITHHELD}")
    head = ["metric", "value", "95 % interval", "n", "target", "", "what it is"]
    widths = [16, 6, 14, 5, 6, 6, 21]
    rows = [_metric(metric) for metric in tables.metrics(run)]
    title = "SUMMARY: a target is what to aim for; only gates and floors decide"
    lines = [title, *([paragraph(tables.thin(run))] if tables.thin(run) else [])]
    key = "n/a: nothing was measured.  -: no interval, as it is a count or has none computed."
    return "\n".join([*lines, "", table(head, rows, widths, "lrlrrll"), *wrap(key)])


def _metric(metric: tables.Metric) -> list[str]:
    name = metric.name
    words = [SHORT.get(name, metric.meaning), *([metric.bound_words] if metric.bound_words else [])]
    met = {True: "met", False: "MISSED", None: ""}[metric.met]
    interval = (
        f"rate <= {metric.interval.split()[-1]}" if metric.interval.startswith("leak") else "-"
    )
    if not math.isnan(metric.low) and not math.isnan(metric.high):
        interval = f"[{figures.figure(metric.low, name)}, {figures.figure(metric.high, name)}]"
    return [name, metric.value, interval, metric.n, metric.target, met, "; ".join(words)]


def failing_text(run: Run, limit: int | None = None) -> str:
    """What went wrong in each probe that did not pass, worst first.

    Parameters
    ----------
    run : Run
        What is reported.
    limit : int, optional
        Most probes to tell of; how many more there are is said. Without it all are told.

    Returns
    -------
    str
        Lines of at most 80 columns; texts are cut to one line, and the heading says so.
    """
    if control_rows.withheld(run.validity):
        return paragraph(f"FAILING PROBES: {control_rows.WITHHELD}")
    ledger = Ledger(run)
    if not ledger.failing:
        return "FAILING PROBES: none"
    told = ledger.failing if limit is None else ledger.failing[: max(0, limit)]
    title = f"FAILING PROBES: {len(ledger.failing)} of {len(ledger.results)}"
    blocks = [f"{title}; texts are cut to one line"]
    blocks += ["\n".join(_failing(n, ledger.detail(name))) for n, name in enumerate(told, 1)]
    more = len(ledger.failing) - len(told)
    if more:
        blocks.append(f"and {figures.count(more, 'more failing probe')}: the HTML report shows all")
    return "\n\n".join(blocks)


def _failing(n: int, detail: Detail) -> Iterator[str]:
    yield paragraph(f"{detail.row.name}: {detail.row.outcome}", 4, first=f"{n}.")
    yield _line("asked", _short(detail.probe.query))
    if detail.row.tags:
        yield _line("tags", ", ".join(detail.row.tags))
    if detail.status != "ok":
        yield _line("status", f"{detail.status}: {STATUSES[detail.status]}")
    yield from (_line("error", error) for error in detail.errors)
    yield from (_line("LEAK", leak) for leak in detail.leaks)
    yield from (_line("contract", breach) for breach in detail.breaches)
    for group in detail.wanted:
        yield _line("expected", f"{' or '.join(group.ids)}: {group.words}")
        if not group.in_top:
            yield from (
                _line("", _short(f"{record.id} = {record.text}")) for record in group.records
            )
    if detail.probe.is_negative:
        yield _line("expected", "an empty answer: nothing that was written is right")
    yield from _returned(detail)
    yield from _absent(detail.forbidden)
    yield from (_line("note", note) for note in detail.notes)


def _returned(detail: Detail) -> Iterator[str]:
    if not detail.places and detail.status == "ok":
        yield _line("returned", "nothing")
    for place in detail.places:
        labels = "; ".join(label.words for label in place.labels)
        below = ", below the top k" if place.beyond else ""
        name = "returned" if place.rank == 1 else ""
        yield _line(name, f"{place.rank}. {place.record} ({labels}{below})")
        text = "(text left out)" if place.text is None else place.text
        yield " " * (4 + LABEL + 3) + visible(text, WIDTH - 4 - LABEL - 3)


def _absent(forbidden: tuple[Judged, ...]) -> Iterator[str]:
    """Forbidden records that stayed away, in one line."""
    away = [row.record for row in forbidden if row.rank is None]
    if away:
        more = f" and {len(away) - MOST_LISTED} more" if len(away) > MOST_LISTED else ""
        yield _line("kept out", f"{', '.join(away[:MOST_LISTED])}{more} (forbidden)")


def _line(name: str, words: str) -> str:
    indent = 4 + LABEL
    return paragraph(words, indent, first=" " * 4 + name)


def _short(text: str) -> str:
    return visible(text, WIDTH - 4 - LABEL)


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
        Lines of at most 80 columns, with a line end behind the last.
    """
    shown = [
        f"memeval: {run.manifest.store}, {figures.count(len(run.suite), 'probe')}",
        tables.WHAT,
    ]
    parts = [
        "\n".join(line for text in shown for line in wrap(text)),
        controls_text(control_rows.controls_of(run), run.validity),
        verdict_text(run),
        split_text(run),
        summary_text(run),
        failing_text(run, limit),
    ]
    return "\n\n\n".join(parts) + "\n"
