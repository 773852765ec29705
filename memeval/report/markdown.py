"""A report as Markdown, for a comment on a change or a wiki.

Every text of others is escaped: no link, image, mention or mark-up of theirs comes alive.
"""

from __future__ import annotations

import pandas as pd

from memeval.comparison import Comparison
from memeval.report import control_rows, curve_rows, figures, tables, tag_rows
from memeval.report.comparison_text import comparison_markdown
from memeval.report.coverage_rows import coverage_markdown
from memeval.report.holdout_rows import holdout_markdown
from memeval.report.markdown_probes import causes_text, failing_text, markdown_table
from memeval.runs import Run, Validity
from memeval.text import markdown_cell

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
# The same names as in `memeval.report.plain`: one of the two modules is chosen by the form.
comparison_text = comparison_markdown
coverage_text = coverage_markdown
holdout_text = holdout_markdown


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
    lines += [f"Note: {markdown_cell(note)}" for note in run.manifest.notes]
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
        parts.append(markdown_table(head, cells, "lllrrrrlll"))
    hidden = control_rows.hidden_checks(frame, validity)
    if hidden:
        parts.append(
            f"{figures.count(hidden, 'check')} of the store withheld: the suite is invalid."
        )
    covered = "" if run is None else coverage_text(run)
    return "\n\n".join([*parts, *([covered] if covered else [])])


def split_text(run: Run) -> str:
    """How many probes of which kind."""
    rows = [[part.name, str(part.n), part.words] for part in tables.split(run)]
    return "## Probes\n\n" + markdown_table(["probes", "n", "which"], rows, "lrl")


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
    return "\n\n".join(["## Summary", *thin, markdown_table(head, rows, "lrlrrlll")])


def settings_text(run: Run) -> str:
    """Recall at every smaller k, and the best floor on the score; empty for an invalid suite."""
    cutoffs, floors = curve_rows.cutoffs(run), curve_rows.floors(run)
    points = []
    if cutoffs:
        note = curve_rows.cutoff_note(cutoffs)
        points.append(f"recall: {curve_rows.cutoff_line(cutoffs)}" + (f". {note}" if note else ""))
    if floors is not None:
        fitted = f" {curve_rows.FITTED}" if floors.best else ""
        points.append(f"floor: {floors.words}{fitted}")
    if not points:
        return ""
    words = "What these answers would be worth at other settings; nothing was asked again."
    listed = "\n".join(f"- {markdown_cell(point)}" for point in points)
    return f"## Other settings\n\n{words}\n\n{listed}"


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
        Empty without tags and for an invalid suite.
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
    parts = ["## Tags", tag_rows.NOTE, markdown_table(head, rows, "lrrrrr")]
    if len(told) > len(listed):
        parts.append(f"and {figures.count(len(told) - len(listed), 'more tag')}")
    return "\n\n".join(parts)


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
        Markdown with a line end behind the last line.
    """
    parts = [
        f"# memeval: {markdown_cell(run.manifest.store)}",
        tables.WHAT,
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
    return "\n\n".join(filter(None, parts)) + "\n"
