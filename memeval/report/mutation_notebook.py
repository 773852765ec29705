"""What notebooks show of a mutation: small static HTML, safe with any text."""

from __future__ import annotations

from memeval.report import mutation_rows as rows
from memeval.report.mutation_rows import Mutated
from memeval.report.templating import render


def mutation_html(mutation: Mutated) -> str:
    """Survivors with the probes that would kill them, score, and the kill table.

    Parameters
    ----------
    mutation : Mutation
        What to show; of an invalid suite no number and no outcome is shown.

    Returns
    -------
    str
        One ``div``.
    """
    hidden = rows.withheld(mutation)
    return render(
        "notebook_mutation.html.j2",
        verdict=mutation.verdict,
        notes=mutation.notes,
        withheld=hidden,
        withheld_words=rows.WITHHELD,
        head="" if hidden else rows.head(mutation),
        asked="" if hidden else rows.asked(mutation),
        weak="" if hidden else rows.thin_suite(mutation),
        must="" if hidden else rows.must(mutation),
        survivors=[] if hidden else rows.survivors(mutation),
        counts=mutation.n_counted > 0,
        by=[] if hidden else rows.killed_by(mutation),
        asides=[] if hidden else rows.asides(mutation),
        heads=list(zip(rows.KILL_HEAD, rows.KILL_SIDES, strict=True)),
        sides=rows.KILL_SIDES,
        kills=[] if hidden else rows.kills(mutation),
        key=rows.KEY,
        thin=[] if hidden else rows.thin(mutation),
        idle_head="" if hidden else rows.idle_head(mutation),
        idle="" if hidden else rows.idle(mutation),
    )
