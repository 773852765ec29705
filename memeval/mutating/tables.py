"""What was found of the saboteurs, as tables: the same, however and in whatever order it came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from memeval.columns import conform
from memeval.columns import names as columns_of
from memeval.mutating.skeletons import alive, missing_probe
from memeval.mutating.trying import EQUIVALENT, Found
from memeval.proof_frames import KILLS, SABOTEURS
from memeval.stores.saboteurs.base import Saboteur
from memeval.suite import Suite

__all__ = ["frames_of"]


def frames_of(
    suite: Suite, saboteurs: Sequence[type[Saboteur]], found: Mapping[str, Found]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables of kills and of saboteurs, in the order of the saboteurs and of the suite.

    Parameters
    ----------
    suite : Suite
        The probes.
    saboteurs : sequence of type
        What was tried.
    found : mapping of str to Found
        What came of each, by name.

    Returns
    -------
    tuple of pandas.DataFrame
        Columns of `memeval.frames.KILLS` and of `memeval.frames.SABOTEURS`.
    """
    order = {probe.name: n for n, probe in enumerate(suite)}
    kills = [
        {"saboteur": kind.name, "probe": kill.probe, "by": kill.by, "codes": kill.codes or None}
        for kind in saboteurs
        for kill in sorted(found[kind.name].kills, key=lambda kill: order[kill.probe])
    ]
    rows = [_row(kind, found[kind.name], suite) for kind in saboteurs]
    return (
        conform(pd.DataFrame(kills, columns=columns_of(KILLS)), KILLS),
        conform(pd.DataFrame(rows, columns=columns_of(SABOTEURS)), SABOTEURS),
    )


def _row(kind: type[Saboteur], found: Found, suite: Suite) -> dict[str, Any]:
    lives = found.killed is False
    reason = found.lacks or (EQUIVALENT if found.equivalent else None)
    return {
        "saboteur": kind.name,
        "fault": kind.fault,
        "touches": kind.touches,
        "applicable": found.lacks is None,
        "equivalent": found.equivalent,
        "killed": found.killed,
        "depth": len(found.kills),
        "must_kill": kind.must_kill,
        "significant": found.significant,
        "missing_probe": missing_probe(kind) if lives else None,
        "reason": alive(kind, suite) if lives else reason,
    }
