"""A simulation as text of 80 columns, and as Markdown: the verdict in words first.

Names and ids of others are made visible and wrapped, never cut. No record's text is in it.
"""

from __future__ import annotations

from memeval.report import drift_rows as rows
from memeval.report.figures import count
from memeval.report.layout import paragraph, table
from memeval.report.markdown_probes import markdown_table
from memeval.simulation import Simulation
from memeval.text import markdown_cell

__all__ = ["simulation_markdown", "simulation_text"]

LABEL = 11
SLOPE_WIDTHS = (14, 9, 9, 20, 7, 4, 11)
SIZE_WIDTHS = (7, 9, 9, 6, 5, 5, 8, 7, 7, 7)
LOST_WIDTHS = (28, 6, 15, 11, 16)


def simulation_text(simulation: Simulation, limit: int | None = None) -> str:
    """Everything for a terminal or a log.

    Parameters
    ----------
    simulation : Simulation
        What is shown.
    limit : int, optional
        Most lost probes to list; how many more there are is said. Without it all are listed.

    Returns
    -------
    str
        Lines of at most 80 columns, with a line end behind the last; of an invalid suite without
        any number.
    """
    verdict = simulation.verdict
    top = [paragraph(f"DRIFT: {rows.headline(simulation)}: {rows.slope(simulation)}")]
    top.append(paragraph(rows.head(simulation), LABEL, first="grown:"))
    for label, words in rows.circumstances(simulation):
        top.append(paragraph(words, LABEL, first=f"{label}:"))
    said = [f"VERDICT: {verdict.word}", paragraph(verdict.reason, LABEL, first="why:")]
    said.append(paragraph(verdict.next_step, LABEL, first="next:"))
    if simulation.withheld:
        return "\n\n".join("\n".join(lines) for lines in (top, said)) + "\n"
    told = [paragraph(words, LABEL, first=f"{what}:") for what, words in rows.sentences(simulation)]
    parts = ["\n".join(lines) for lines in (top, said)]
    parts += [_slopes(simulation), _checkpoints(simulation), "\n".join(told)]
    return "\n\n".join([*parts, _lost(simulation, limit)]) + "\n"


def _slopes(simulation: Simulation) -> str:
    lines = ["SLOPES", table(rows.SLOPE_HEAD, rows.slopes(simulation), SLOPE_WIDTHS,
                             rows.SLOPE_SIDES), paragraph(rows.SLOPE_KEY)]  # fmt: skip
    return "\n".join([*lines, *map(paragraph, rows.why_unknown(simulation))])


def _checkpoints(simulation: Simulation) -> str:
    cells = rows.checkpoints(simulation)
    drawn = table(rows.SIZE_HEAD, cells, SIZE_WIDTHS, rows.SIZE_SIDES)
    return "\n".join(["CHECKPOINTS", drawn, paragraph(rows.SIZE_KEY)])


def _lost(simulation: Simulation, limit: int | None) -> str:
    lines, told = [paragraph(f"LOST: {rows.lost_head(simulation)}")], rows.lost(simulation)
    listed = told if limit is None else told[: max(0, limit)]
    if listed:
        cells = [one.narrow for one in listed]
        lines.append(table(rows.LOST_HEAD, cells, LOST_WIDTHS, rows.LOST_SIDES))
    if len(told) > len(listed):
        lines.append(f"and {count(len(told) - len(listed), 'more', 'more')}: --format json has all")
    return "\n".join([*lines, *([paragraph(rows.LOST_KEY)] if listed else [])])


def simulation_markdown(simulation: Simulation, limit: int | None = None) -> str:
    """Everything for a comment on a change: every text of others is escaped.

    Parameters
    ----------
    simulation : Simulation
        What is shown.
    limit : int, optional
        Most lost probes to list.

    Returns
    -------
    str
        Markdown, with a line end behind the last line.
    """
    verdict = simulation.verdict
    points = [("grown", rows.head(simulation)), *rows.circumstances(simulation)]
    points += [] if simulation.withheld else rows.sentences(simulation)
    parts = [
        f"## Drift: {rows.headline(simulation)}",
        markdown_cell(rows.slope(simulation)),
        f"Verdict: **{verdict.word}**: {markdown_cell(verdict.reason)}",
        f"Next: {markdown_cell(verdict.next_step)}",
        "\n".join(f"- {label}: {markdown_cell(words)}" for label, words in points),
        *([] if simulation.withheld else _markdown_tables(simulation, limit)),
    ]
    return "\n\n".join(parts) + "\n"


def _markdown_tables(simulation: Simulation, limit: int | None) -> list[str]:
    told = rows.lost(simulation)
    listed = told if limit is None else told[: max(0, limit)]
    return [
        "### Slopes",
        markdown_table(rows.SLOPE_HEAD, rows.slopes(simulation), rows.SLOPE_SIDES),
        markdown_cell(rows.SLOPE_KEY),
        *map(markdown_cell, rows.why_unknown(simulation)),
        "### Checkpoints",
        markdown_table(rows.SIZE_HEAD, rows.checkpoints(simulation), rows.SIZE_SIDES),
        markdown_cell(rows.SIZE_KEY),
        f"### Lost: {rows.lost_head(simulation)}",
        *([markdown_table(rows.LOST_HEAD, [one.cells for one in listed], rows.LOST_SIDES)]
          if listed else []),
        *([f"and {len(told) - len(listed):,} more"] if len(told) > len(listed) else []),
        *([markdown_cell(rows.LOST_KEY)] if listed else []),
    ]  # fmt: skip
