"""K3: whether the comparison of means would have failed a saboteur too. Shown, and no kill.

Significance is not monotone: probes that see nothing of a fault drown those that do.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from memeval.comparing.sides import Sides
from memeval.files.outcome_rows import rows_of
from memeval.outcomes import Outcomes
from memeval.runs import UNCHECKED, Run
from memeval.stats.paired import holm, mcnemar_midp
from memeval.stats.signflip import sign_flip

__all__ = ["outcomes_of", "significant"]

ALPHA = 0.05
TIE = 1e-9


def significant(identity: Run | Outcomes, saboteur: Run | Outcomes) -> bool | None:
    """Whether recall or rank fell further than chance would let them.

    Parameters
    ----------
    identity, saboteur : Run or Outcomes
        Of the same probes, on the store as it is and with one fault; the outcomes of runs, as
        `outcomes_of` gives them, where they are known already.

    Returns
    -------
    bool or None
        None without a positive probe that both could take.

    Notes
    -----
    As `memeval.compare`: McNemar's mid-p on ``recall_all`` and the sign flip on ``ndcg``,
    one-sided, Holm over the two, at 0.05.
    """
    sides = _sides(identity, saboteur)
    before, after = sides.found
    asked = sides.asked & ~np.isnan(before) & ~np.isnan(after)
    if not asked.any():
        return None
    moved = (after - before)[asked]
    recall = mcnemar_midp(int((moved < -TIE).sum()), int((moved > TIE).sum()))
    ndcg = [
        rows["ndcg"].to_numpy(np.float64, na_value=np.nan) for rows in (sides.before, sides.after)
    ]
    chosen = asked & ~np.isnan(ndcg[0]) & ~np.isnan(ndcg[1])
    gaps = np.where(sides.typical, ndcg[1] - ndcg[0], 0.0)[chosen]
    labels = sides.clusters
    clusters = None if labels is None else np.array(labels, dtype=object)[chosen]
    rank = sign_flip(gaps, clusters=clusters)
    return bool(np.min(holm([recall, rank])) <= ALPHA)


def _sides(identity: Run | Outcomes, saboteur: Run | Outcomes) -> Sides:
    before, after = (
        run if isinstance(run, Outcomes) else outcomes_of(run, rows_of(run))
        for run in (identity, saboteur)
    )
    common = sorted({*before.probes["probe"]} & {*after.probes["probe"]})
    return Sides(before, after, tuple(common))


def outcomes_of(run: Run, rows: pd.DataFrame) -> Outcomes:
    """What the tests look at: the rows of the probes alone, since no mean is asked for."""
    return Outcomes(rows, {}, "run", run.manifest.store, UNCHECKED, run=run)
