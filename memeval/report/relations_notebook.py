"""What notebooks show of relations: small static HTML, safe with any text."""

from __future__ import annotations

from memeval.report import relations_rows as rows
from memeval.report.relations_rows import Related
from memeval.report.templating import render


def relations_html(found: Related) -> str:
    """Verdict, violations and the table of all relations.

    Parameters
    ----------
    found : object
        What is shown, such as `memeval.relations.Relations`.

    Returns
    -------
    str
        One ``div``.
    """
    return render(
        "notebook_relations.html.j2",
        verdict=found.verdict,
        failed=found.verdict.exit_code != 0,
        store=found.store,
        counted=rows.counted(found),
        violations=rows.violations(found),
        lines=rows.lines(found),
        notes=rows.notes(found),
        key=rows.KEY,
    )
