"""Relations as text of 80 columns, and as Markdown: violations first, the verdict last.

Of each relation the first violations are told in full, and how many more there are is said.
"""

from __future__ import annotations

from memeval.report import relations_rows as rows
from memeval.report.layout import paragraph, table
from memeval.report.markdown_probes import markdown_table
from memeval.report.relations_rows import Related
from memeval.text import markdown_cell

__all__ = ["relations_markdown", "relations_text"]

LABEL = 7
WIDTHS = (8, 4, 11, 5, 14, 6)
HEAD = ("relation", "kind", "broken", "share", "95 % interval", "state")


def relations_text(found: Related) -> str:
    """Everything for a terminal or a log.

    Parameters
    ----------
    found : object
        What is shown, such as `memeval.relations.Relations`.

    Returns
    -------
    str
        Lines of at most 80 columns, with a line end behind the last.
    """
    verdict = found.verdict
    last = [f"VERDICT: {verdict.word}", paragraph(verdict.reason, LABEL, first="why:")]
    last.append(paragraph(verdict.next_step, LABEL, first="next:"))
    last += [paragraph(note, LABEL, first="note:") for note in rows.notes(found)]
    store = f" ({found.store})" if found.store else ""
    parts = [
        paragraph(f"RELATIONS{store}: {rows.TITLE}"),
        _violations(found),
        _table(found),
        "\n".join(last),
    ]
    return "\n\n".join(parts) + "\n"


def _violations(found: Related) -> str:
    blocks = [f"VIOLATIONS: {rows.counted(found)}"]
    for told in rows.violations(found):
        lines = [paragraph(told.heading)]
        lines += [paragraph(words, LABEL + 2, first=f"  {label}") for label, words in told.parts]
        lines += [paragraph(f"{told.more}: --format json has all", 2)] if told.more else []
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _table(found: Related) -> str:
    blocks = [table(HEAD, [], WIDTHS, "llrrll")]
    for line in rows.lines(found):
        cells = [line.relation, line.kind, line.broken, line.share, line.interval, line.state]
        body = table(HEAD, [cells], WIDTHS, "llrrll").split("\n", 2)[2]
        blocks.append(f"{body}\n{paragraph(line.statement, WIDTHS[0] + 1)}")
    return "\n".join([*blocks, "", paragraph(rows.KEY)])


def relations_markdown(found: Related) -> str:
    """Everything for a comment on a change or a wiki.

    Parameters
    ----------
    found : object
        What is shown, such as `memeval.relations.Relations`.

    Returns
    -------
    str
        Markdown with a line end behind the last line.
    """
    verdict = found.verdict
    head = [*HEAD, "what must hold"]
    cells = [
        [o.relation, o.kind, o.broken, o.share, o.interval, o.state, o.statement]
        for o in rows.lines(found)
    ]
    store = f" ({markdown_cell(found.store)})" if found.store else ""
    parts = [f"# Relations{store}", f"{rows.TITLE[:1].upper()}{rows.TITLE[1:]}."]
    parts += ["## Violations", rows.counted(found)]
    for told in rows.violations(found):
        points = "\n".join(f"- {label} {markdown_cell(words)}" for label, words in told.parts)
        parts.append(f"**{markdown_cell(told.heading)}**\n\n{points}")
        parts += [f"{told.more}: `--format json` has all"] if told.more else []
    parts += ["## All relations", markdown_table(head, cells, "llrrlll"), markdown_cell(rows.KEY)]
    parts += [f"## Verdict: {verdict.word}", markdown_cell(verdict.reason)]
    parts.append(f"Next: {markdown_cell(verdict.next_step)}")
    parts += [f"Note: {markdown_cell(note)}" for note in rows.notes(found)]
    return "\n\n".join(parts) + "\n"
