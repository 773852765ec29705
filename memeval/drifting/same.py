"""Which probes can be compared along a curve: those that were asked at every point of it.

Probes differ: a mean over other probes is another mean, although nothing has changed. A probe that
can be planted once only is in the oldest cohort and in no other, so without it the oldest cohort
would look harder, or easier, than the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Bools = NDArray[np.bool_]


def compared(rows: pd.DataFrame, metric: str, point: Sequence[str]) -> pd.DataFrame:
    """One value for each probe and point, of probes that were asked at all the points left.

    Parameters
    ----------
    rows : pandas.DataFrame
        ``probe``, ``cohort``, the metric, and the columns of a point; a value in every row.
    metric : str
        What is averaged where a probe has several rows at one point.
    point : sequence of str
        Columns that make up a point of the curve.

    Returns
    -------
    pandas.DataFrame
        Columns of a point, ``probe`` and the metric, by point and probe.

    Notes
    -----
    Probes of one cohort alone are left out where others have several. Of what is left the probe or
    the point goes that lacks the largest share, one after the other, until nothing is lacking.
    """
    cohorts = rows.groupby("probe")["cohort"].transform("nunique")
    kept = rows[cohorts > 1] if cohorts.gt(1).any() else rows
    values = kept.groupby([*point, "probe"], sort=True)[metric].mean()
    if values.empty:
        return values.reset_index()
    whole = values.unstack("probe")  # a row a point, a column a probe
    points, probes = _without_gaps(whole.notna().to_numpy())
    table = whole.loc[points, probes]
    long: pd.Series = table.stack()  # type: ignore[assignment]
    return long.to_frame(metric).reset_index()


def _without_gaps(asked: Bools) -> tuple[Bools, Bools]:
    """Rows and columns that stay, so that between them everything was asked."""
    kept = np.ones(asked.shape[0], dtype=np.bool_), np.ones(asked.shape[1], dtype=np.bool_)
    lacking = [(~asked).sum(axis=1), (~asked).sum(axis=0)]
    while lacking[0][kept[0]].any():
        shares = [
            np.where(kept[axis], lacking[axis] / kept[1 - axis].sum(), -1.0) for axis in (0, 1)
        ]
        axis = int(shares[1].max() >= shares[0].max())  # rather a probe than a point
        worst = len(shares[axis]) - 1 - int(np.argmax(shares[axis][::-1]))
        kept[axis][worst] = False
        lacking[1 - axis] = lacking[1 - axis] - ~(asked[worst] if axis == 0 else asked[:, worst])
    return kept


def always_asked(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the probes that were asked at every checkpoint, if these are at least half of all."""
    checkpoints = rows.groupby("probe")["session"].nunique()
    always = checkpoints.index[checkpoints == rows["session"].nunique()]
    return rows[rows["probe"].isin(always)] if 2 * len(always) >= len(checkpoints) else rows
