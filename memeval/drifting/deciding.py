"""What a growing store comes to: gates first, then whether recall falls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from memeval.contract import CODES
from memeval.text import count, visible
from memeval.verdicts import Verdict

if TYPE_CHECKING:
    from memeval.simulation import Simulation

MOST_NAMED = 5
Objection = tuple[str, str]


def decide(simulation: Simulation) -> Verdict:
    """Decide on a simulation.

    Parameters
    ----------
    simulation : Simulation
        With what was judged of its suite.

    Returns
    -------
    Verdict
        INVALID where the suite is; else FAIL with every objection, the most serious first and
        what to do about that; PASS where recall is flat; else CANNOT TELL.
    """
    validity = simulation.validity
    if validity.status == "invalid":
        return Verdict("INVALID", "; ".join(validity.reasons), validity.next_step, 4)
    trend = simulation.trend
    objections = list(broken_gates(simulation))
    if validity.store_faults:
        objections.append(("; ".join(validity.store_faults), validity.next_step))
    if trend.verdict == "decline":
        step = "read which probes were lost and at which size: .lost, and .slopes on why"
        objections.append((f"DECLINE: {trend.reason}", step))
    if objections:
        reasons = "; also: ".join(reason for reason, _ in objections)
        return Verdict("FAIL", reasons, objections[0][1], 1)
    if trend.verdict == "flat":
        step = "grow it further: what is flat at this size may fall at the next"
        return Verdict("PASS", f"FLAT: {trend.reason}", step, 0)
    step = "simulate more sessions, or with more probes that have names"
    return Verdict("CANNOT TELL", trend.reason, step, 0)


def broken_gates(simulation: Simulation) -> Iterator[Objection]:
    """Tell what no checkpoint may show, whatever recall does.

    Parameters
    ----------
    simulation : Simulation
        Looked through for leaks, a broken contract, and more failed searches than are allowed.

    Yields
    ------
    tuple of (str, str)
        What was broken, in how many probes and from which checkpoint on; and what to do.
    """
    drift_probes = simulation.drift_probes
    leaking = drift_probes[drift_probes["n_leaked"].gt(0)]
    if len(leaking):
        yield (
            f"leaks in {_where(leaking)}",
            "find out why the store returned what it must not; a leak is never traded off",
        )
    breached = drift_probes[drift_probes["n_contract"].gt(0)]
    if len(breached):
        told = breached["breaches"].dropna().str.split()
        codes = sorted({code for line in told for code in line})
        what = f" ({', '.join(visible(code, 60) for code in codes)})" if codes else ""
        yield (
            f"the store broke its contract{what} in {_where(breached)}",
            "; ".join(f"{code}: {CODES[code]}" for code in codes if code in CODES)
            or "mend the store or what it declares",
        )
    if simulation.errors > simulation.allow_errors:
        yield (
            failed_searches(simulation),
            "find out why searches fail: each counts as not found, whatever the store holds; "
            "--allow-errors N lets N pass",
        )


def failed_searches(simulation: Simulation) -> str:
    """Say how many searches failed or timed out, in which probes, from when and with what error.

    Parameters
    ----------
    simulation : Simulation
        With one or more of them.
    """
    asked = simulation.drift_probes
    failed = asked[asked["status"].isin(["failed", "timeout"])]
    texts = simulation.manifest.get("search_errors")
    first = texts[0] if isinstance(texts, list) and texts else "its text was not kept"
    return (
        f"{count(simulation.errors, 'search', 'searches')} failed, "
        f"{simulation.allow_errors:,} allowed; the first error: {visible(str(first), 200)}; in "
        f"{_where(failed)}"
    )


def _where(rows: pd.DataFrame) -> str:
    """How many probes, from when on, and the first of their names."""
    names = rows["probe"].drop_duplicates()
    named = ", ".join(visible(name, 60) for name in names[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    at = f"first at session {rows['session'].min()}"
    return f"{count(len(names), 'probe')} as the store grew, {at}: {named}{more}"
