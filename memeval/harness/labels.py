"""The labels of a run: what the author said, and what came up while asking."""

from __future__ import annotations

import pandas as pd

from memeval import frames
from memeval.harness.rows import Rows
from memeval.suite import Suite


def labelled(suite: Suite, hits: pd.DataFrame, rows: Rows) -> pd.DataFrame:
    """Join what the author said and what came up while asking; the author's word first.

    Parameters
    ----------
    suite : Suite
        The probes that were asked.
    hits : pandas.DataFrame
        What came back.
    rows : Rows
        What was noted while asking.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.QRELS`, in the order of the suite.
    """
    said = suite.qrels(hits)
    more = rows.qrels_table()
    if more is None:
        return said
    order = {probe.name: n for n, probe in enumerate(suite)}
    both = pd.concat([said, more], ignore_index=True)
    both = both.drop_duplicates(["probe", "record_id", "label"])
    expected = both["label"].eq("expected")
    keys = both["probe"] + "\x00" + both["record_id"]
    both = both[expected | ~keys.isin(keys[expected])]
    ranked = both.assign(order=both["probe"].map(order)).sort_values("order", kind="stable")
    return frames.conform(ranked, frames.QRELS)
