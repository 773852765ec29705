"""What notebooks show of a run: small static HTML with inline style, safe with any text.

It works in light and dark themes, in a notebook that is not trusted, and in an exported file.
Dollar signs stay dollar signs.
"""

from __future__ import annotations

from typing import Protocol

import pandas as pd

from memeval.report import cause_rows, control_rows, coverage_rows, holdout_rows, tables
from memeval.report.templating import render
from memeval.runs import Run, Validity


class Judged(Protocol):
    """What `controls_html` needs: a frame of controls, and what it comes to."""

    @property
    def frame(self) -> pd.DataFrame:
        """As `memeval.frames.CONTROLS`."""

    @property
    def validity(self) -> Validity:
        """What the controls come to."""


def run_html(run: Run) -> str:
    """Verdict, validity, causes and summary of a run.

    Parameters
    ----------
    run : Run
        What to show; of an invalid suite no number is shown.

    Returns
    -------
    str
        One ``div``.
    """
    causes = cause_rows.rows(run)
    return render(
        "notebook_run.html.j2",
        causes=causes,
        held=holdout_rows.told(run),
        coverage=coverage_rows.coverage(run),
        counted=cause_rows.counted(causes),
        why_first=cause_rows.why_first(causes) if causes else "",
        store=run.manifest.store,
        n_probes=len(run.suite),
        verdict=run.verdict,
        word=control_rows.SUITE_WORDS[run.validity.status][0],
        thin=tables.thin(run),
        withheld=control_rows.withheld(run.validity),
        withheld_words=control_rows.WITHHELD,
        metrics=tables.metrics(run),
    )


def controls_html(controls: Judged, run: Run | None = None) -> str:
    """Result of the controls and the table behind it.

    Parameters
    ----------
    controls : object
        With ``frame`` and ``validity``, such as `memeval.controls.Controls`.
    run : Run, optional
        Of the store under test; with it the scope coverage is told too.

    Returns
    -------
    str
        One ``div``.
    """
    word, sentence = control_rows.SUITE_WORDS[controls.validity.status]
    return render(
        "notebook_controls.html.j2",
        word=word,
        sentence=sentence,
        validity=controls.validity,
        withheld=control_rows.withheld(controls.validity),
        withheld_words=control_rows.WITHHELD,
        checks=control_rows.checks(controls.frame, controls.validity),
        hidden_checks=control_rows.hidden_checks(controls.frame, controls.validity),
        coverage=None if run is None else coverage_rows.coverage(run),
    )
