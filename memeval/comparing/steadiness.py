"""Whether answers were equal wherever the same was asked again."""

from __future__ import annotations

import pandas as pd


def equal_answers(hits: pd.DataFrame, calls: pd.DataFrame) -> bool | None:
    """Whether the repeats of every probe gave the same records in the same order.

    Parameters
    ----------
    hits, calls : pandas.DataFrame
        As in `memeval.frames`.

    Returns
    -------
    bool or None
        None where no probe was answered twice. Of a record that nobody wrote only its place
        counts, since a store may draw its id anew; a failed search is no answer.

    Examples
    --------
    >>> calls = pd.DataFrame({"probe": ["a", "a"], "repeat": [0, 1], "status": ["ok", "ok"]})
    >>> hits = pd.DataFrame(
    ...     {"probe": ["a", "a"], "repeat": [0, 1], "rank": [1, 1], "record_id": ["r1", "r2"]}
    ... )
    >>> equal_answers(hits, calls), equal_answers(hits, calls[:1])
    (False, None)
    """
    answered = calls.loc[calls["status"].eq("ok"), ["probe", "repeat"]]
    twice = answered.loc[answered["probe"].duplicated(keep=False)]
    if twice.empty:
        return None
    ranked = hits.sort_values(["probe", "repeat", "rank"], kind="stable")
    found: dict[tuple[str, int], list[str]] = {}
    ids = ranked["record_id"].astype("object").where(ranked["record_id"].notna(), None)
    for probe, repeat, record_id in zip(ranked["probe"], ranked["repeat"], ids, strict=True):
        found.setdefault((probe, repeat), []).append(record_id)
    first: dict[str, list[str]] = {}
    for probe, repeat in zip(twice["probe"], twice["repeat"], strict=True):
        answer = found.get((probe, repeat), [])
        if first.setdefault(probe, answer) != answer:
            return False
    return True
