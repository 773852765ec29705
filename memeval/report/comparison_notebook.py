"""What notebooks show of a comparison: small static HTML, safe with any text."""

from __future__ import annotations

from memeval.comparison import Comparison
from memeval.report import comparison_rows as rows
from memeval.report.templating import render

MOST_CHANGES = 50


def comparison_html(comparison: Comparison) -> str:
    """Verdict and reason, how both were measured, metrics and changed probes.

    Parameters
    ----------
    comparison : Comparison
        What to show; of an invalid suite and of what is not comparable no number is shown.

    Returns
    -------
    str
        One ``div``.
    """
    told = rows.changes(comparison)
    measured = list(rows.circumstances(comparison))
    return render(
        "notebook_comparison.html.j2",
        verdict=comparison.verdict,
        passed=comparison.passed,
        failed=comparison.verdict.exit_code != 0,
        head=rows.head(comparison),
        tested=[words for label, words in measured if label == rows.TESTED],
        circumstances=[one for one in measured if one[0] != rows.TESTED],
        withheld=comparison.withheld,
        withheld_words=rows.WITHHELD,
        heads=list(zip(rows.heads(comparison), rows.sides(comparison), strict=True)),
        sides=rows.sides(comparison),
        metrics=rows.metrics(comparison),
        key=rows.key(comparison),
        power=rows.power(comparison),
        counted=rows.counted(comparison),
        changes=told[:MOST_CHANGES],
        more=max(0, len(told) - MOST_CHANGES),
    )
