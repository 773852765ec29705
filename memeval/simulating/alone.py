"""Do probes that share one store disturb each other? Each is asked alone in a clean one, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

from memeval import metrics
from memeval.harness.asking import Options, Rows
from memeval.harness.histories import Work
from memeval.harness.labels import labelled
from memeval.harness.selfcheck import SelfCheck
from memeval.probe import Probe
from memeval.stores.bound import BoundStore
from memeval.suite import Suite

MOST_DISTURBED = 0.05
Row = dict[str, Any]


def asked_alone(
    probes: Sequence[Probe], make: Callable[[], BoundStore], checked: SelfCheck, options: Options
) -> dict[str, bool]:
    """Ask each history in a store of its own, with nothing around it.

    Parameters
    ----------
    probes : sequence of Probe
        Those that the store can take.
    make : callable
        Gives a fresh store.
    checked : SelfCheck
        What the self check told of the store.
    options : Options
        How to ask.

    Returns
    -------
    dict of str to bool
        Whether each passed; those without an answer that counts are left out.
    """
    work = Work(Suite.of(probes), checked, options)
    rows = Rows()
    with closing(work.workspace(make)) as space:
        for n in range(len(work.histories)):
            work.ask(n, 0, space, rows, None)
    hits, calls = rows.tables({probe.name: n for n, probe in enumerate(work.suite)})
    results = metrics.score(hits, labelled(work.suite, hits, rows), calls)
    told = results[results["passed"].notna()]
    return dict(zip(told["probe"], told["passed"].astype(bool).tolist(), strict=True))


def neighbours(alone: Mapping[str, bool], together: Sequence[Row]) -> Row:
    """Compare with the answers at the first checkpoint, before anything else is written.

    Parameters
    ----------
    alone : mapping of str to bool
        From `asked_alone`.
    together : sequence of dict
        Rows of the first cohort.

    Returns
    -------
    dict
        ``share`` of the probes with another outcome (None without any), ``n``, and their names.
    """
    both = [row for row in together if f"{row['probe']}@0" in alone]
    other = [r["probe"] for r in both if r["passed"] != alone[f"{r['probe']}@0"]]
    share = len(other) / len(both) if both else None
    return {"share": share, "n": len(both), "probes": other}


def disturbed(told: Row) -> str | None:
    """Say that neighbours matter, where they do for more than one probe in twenty."""
    if told["share"] is None or told["share"] <= MOST_DISTURBED:
        return None
    named = ", ".join(told["probes"][:5])
    return (
        f"{len(told['probes'])} of {told['n']} probes come out otherwise beside the others than "
        f"alone in a clean store, before anything else is written ({named}): what falls later may "
        "be their doing; give them scopes of their own"
    )
