"""A comparison as text of 80 columns, and as Markdown.

How both sides were measured stands before every number. Names and ids of others are made visible
and wrapped, never cut.
"""

from __future__ import annotations

from memeval.comparison import Comparison
from memeval.report import comparison_rows as rows
from memeval.report import figures
from memeval.report.layout import paragraph, table
from memeval.report.markdown_probes import markdown_table
from memeval.text import markdown_cell

__all__ = ["comparison_markdown", "comparison_text"]

LABEL = 9
WIDTHS = (17, 6, 6, 7, 16, 5, 5, 11)


def comparison_text(comparison: Comparison, limit: int | None = None) -> str:
    """Everything for a terminal or a log.

    Parameters
    ----------
    comparison : Comparison
        What is shown; of an invalid suite and of what is not comparable without any number.
    limit : int, optional
        Most changed probes to list; how many more there are is said. Without it all are listed.

    Returns
    -------
    str
        Lines of at most 80 columns, with a line end behind the last.
    """
    told = [paragraph(words, LABEL, first=label) for label, words in rows.circumstances(comparison)]
    top = "\n".join([paragraph(f"COMPARISON {rows.head(comparison)}"), *told])
    parts = [top, _verdict(comparison)]
    if comparison.withheld:
        parts.append(rows.WITHHELD)
    else:
        parts.append(_metrics(comparison))
    parts.append(_changes(comparison, limit))
    return "\n\n".join(filter(None, parts)) + "\n"


def _verdict(comparison: Comparison) -> str:
    verdict = comparison.verdict
    lines = [f"VERDICT: {verdict.word}", paragraph(verdict.reason, LABEL, first="why:")]
    if verdict.next_step:
        lines.append(paragraph(verdict.next_step, LABEL, first="next:"))
    return "\n".join(lines)


def _metrics(comparison: Comparison) -> str:
    cells = rows.metrics(comparison)
    if not cells:
        return ""
    heads, sides = rows.heads(comparison), rows.sides(comparison)
    widths = tuple(w for name, w in zip(rows.HEAD, WIDTHS, strict=True) if name in heads)
    lines = [table(heads, cells, widths, sides), paragraph(rows.key(comparison))]
    told = rows.power(comparison)
    return "\n".join([*lines, *([paragraph(told, LABEL, first="power:")] if told else [])])


def _changes(comparison: Comparison, limit: int | None) -> str:
    told = rows.changes(comparison)
    if not told:
        return "" if comparison.withheld else f"PROBES: {rows.counted(comparison)}"
    told, named = rows.compact(told, limit)
    listed = told if limit is None else told[: max(0, limit)]
    lines = [f"PROBES: {rows.counted(comparison)}"]
    for one in listed:
        lines.append(paragraph(one.probe, LABEL, first=one.change))
        lines.append(paragraph(one.reason, LABEL + 2))
    if len(told) > len(listed):
        more = figures.count(len(told) - len(listed), "more probe")
        lines.append(f"and {more}: --format json lists all")
    lines += [paragraph(names, LABEL, first=word) for word, names in named]
    return "\n".join(lines)


def comparison_markdown(comparison: Comparison, limit: int | None = None) -> str:
    """Everything for a comment on a change: every text of others is escaped.

    Parameters
    ----------
    comparison : Comparison
        What is shown.
    limit : int, optional
        Most changed probes to list.
    """
    verdict = comparison.verdict
    told = [f"- {label} {markdown_cell(words)}" for label, words in rows.circumstances(comparison)]
    parts = [
        f"## Comparison: {verdict.word}",
        markdown_cell(rows.head(comparison)),
        "\n".join(told),
        markdown_cell(verdict.reason),
        f"Next: {markdown_cell(verdict.next_step)}" if verdict.next_step else "",
    ]
    if comparison.withheld:
        parts.append(rows.WITHHELD)
    else:
        parts.append(_metrics_markdown(comparison))
        parts += [markdown_cell(rows.key(comparison)), markdown_cell(rows.power(comparison))]
    parts += _changes_markdown(comparison, limit)
    return "\n\n".join(filter(None, parts)) + "\n"


def _metrics_markdown(comparison: Comparison) -> str:
    heads, sides = rows.heads(comparison), rows.sides(comparison)
    return markdown_table(heads, rows.metrics(comparison), sides)


def _changes_markdown(comparison: Comparison, limit: int | None) -> list[str]:
    told = rows.changes(comparison)
    head = [] if comparison.withheld and not told else [f"Probes: {rows.counted(comparison)}"]
    told, named = rows.compact(told, limit)
    listed = told if limit is None else told[: max(0, limit)]
    parts = list(head)
    if listed:
        cells = [[one.change, one.probe, one.before, one.now, one.reason] for one in listed]
        parts.append(markdown_table(rows.CHANGE_HEAD, cells, "llrrl"))
    if len(told) > len(listed):
        parts.append(f"and {figures.count(len(told) - len(listed), 'more probe')}")
    return [*parts, *(f"{word}: {markdown_cell(names)}" for word, names in named)]
