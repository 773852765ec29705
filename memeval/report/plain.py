"""A report as text of 80 columns, for a terminal or a log.

Nothing is cut silently: names and messages are wrapped, and texts are cut to one line only where
the heading says so. What could act on a terminal is made visible.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType

import pandas as pd

from memeval.chances import NOT_MEASURED
from memeval.comparison import Comparison
from memeval.report import control_rows, curve_rows, figures, tables, tag_rows
from memeval.report.comparison_text import comparison_text
from memeval.report.coverage_rows import coverage_text
from memeval.report.holdout_rows import holdout_text
from memeval.report.layout import paragraph, table, wrap
from memeval.report.plain_probes import LABEL, causes_text, failing_text
from memeval.runs import Run, Validity

__all__ = [
    "causes_text",
    "comparison_text",
    "controls_text",
    "coverage_text",
    "failing_text",
    "holdout_text",
    "report_text",
    "settings_text",
    "split_text",
    "summary_text",
    "tags_text",
    "validity_text",
    "verdict_text",
]

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
        "cold_p50_ms": "ms, first search",
        "write_p50_ms": "ms, writing a history",
        "visible_p50_ms": "ms, until it is found",
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
    lines += [paragraph(note, LABEL, first="note:") for note in run.manifest.notes]
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


def controls_text(frame: pd.DataFrame | None, validity: Validity, run: Run | None = None) -> str:
    """Result of the controls, and the table behind it.

    Parameters
    ----------
    frame : pandas.DataFrame or None
        As `memeval.frames.CONTROLS`; None where there are none.
    validity : Validity
        What they come to.
    run : Run, optional
        Of the store under test; with it the scope coverage is told too.

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
    covered = "" if run is None else coverage_text(run)
    return "\n\n".join([*parts, *([covered] if covered else [])])


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
    key = (
        "n/a: nothing was measured.  -: no interval, as it is a count or has none computed.  too "
        "few: not enough distinct values, or searches, for an interval."
    )
    return "\n".join([*lines, "", table(head, rows, widths, "lrlrrll"), *wrap(key)])


def _metric(metric: tables.Metric) -> list[str]:
    name = metric.name
    words = [SHORT.get(name, metric.meaning), *([metric.bound_words] if metric.bound_words else [])]
    met = {True: "met", False: "MISSED", None: ""}[metric.met]
    interval = "-"
    if name == "leaks":
        interval = _leak_bound(metric.interval)
    elif metric.interval.startswith(("none: too few", "none: under")):
        interval = "too few"
    if not math.isnan(metric.low) and not math.isnan(metric.high):
        interval = f"[{figures.figure(metric.low, name)}, {figures.figure(metric.high, name)}]"
    return [name, metric.value, interval, metric.n, metric.target, met, "; ".join(words)]


def _leak_bound(words: str) -> str:
    """The bound of the leak rate, in 14 columns."""
    bound = re.search(r"(?:at most|<=) ([0-9.]+)", words)
    return f"rate <= {bound[1]}" if bound else NOT_MEASURED


def settings_text(run: Run) -> str:
    """Recall at every smaller k, and the best floor on the score; empty for an invalid suite."""
    cutoffs, floors = curve_rows.cutoffs(run), curve_rows.floors(run)
    lines = []
    if cutoffs:
        note = curve_rows.cutoff_note(cutoffs)
        lines.append(paragraph(curve_rows.cutoff_line(cutoffs), LABEL, first="recall:"))
        lines += [paragraph(note, LABEL)] if note else []
    if floors is not None:
        lines.append(paragraph(floors.words, LABEL, first="floor:"))
        lines += [paragraph(curve_rows.FITTED, LABEL)] if floors.best else []
    title = "OTHER SETTINGS: what these answers would be worth; nothing was asked again"
    return "\n".join([title, *lines]) if lines else ""


def tags_text(run: Run, limit: int | None = None) -> str:
    """What each tag comes to, the worst first.

    Parameters
    ----------
    run : Run
        What is reported.
    limit : int, optional
        Most tags to list; how many more there are is said. Without it all are listed.

    Returns
    -------
    str
        Lines of at most 80 columns; empty without tags and for an invalid suite.
    """
    told = tag_rows.tags(run)
    if not told:
        return ""
    listed = told if limit is None else told[: max(0, limit)]
    rows = [
        [r.tag, f"{r.failed} of {r.n}", r.recall, r.interval, r.leak_words, r.abstention]
        for r in listed
    ]
    head = ["tag", "failed", "recall", "95 % interval", "leaks", "abstention"]
    lines = [
        f"TAGS: {len(told)}, the worst first",
        table(head, rows, [20, 10, 7, 16, 12, 10], "lrrrrr"),
    ]
    if len(told) > len(listed):
        more = figures.count(len(told) - len(listed), "more tag")
        lines.append(f"and {more}: 'memeval report' shows all")
    return "\n".join([*lines, paragraph(tag_rows.NOTE)])


def report_text(run: Run, limit: int | None = None, comparison: Comparison | None = None) -> str:
    """The whole report: what it grades, controls, verdict, numbers, causes, failing probes.

    Parameters
    ----------
    run : Run
        What is reported.
    limit : int, optional
        Most failing probes, and most changed ones, to tell of.
    comparison : Comparison, optional
        Of this run with a baseline: told after the verdict.

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
        "" if comparison is None else comparison_text(comparison, limit).rstrip("\n"),
        split_text(run),
        summary_text(run),
        coverage_text(run),
        holdout_text(run),
        causes_text(run),
        settings_text(run),
        tags_text(run),
        failing_text(run, limit),
    ]
    return "\n\n\n".join(filter(None, parts)) + "\n"
