"""What a run shows of its store, and which probes tell a saboteur from the store as it is.

A probe kills a saboteur where (K1) a gate or contract code fires in some repeat and in no repeat of
the identity, (K2) it passes in every repeat of the identity and in none of the saboteur, or (K4) it
is slower. All of it is said of one probe alone, so a probe more never saves a saboteur from K1 and
K2; a test of means may do that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

import numpy as np
import pandas as pd

from memeval.files.outcome_rows import rows_of
from memeval.runs import Run

__all__ = ["Kill", "Seen", "kills", "seen", "slower"]

Codes = Mapping[str, frozenset[str]]
NOTHING: frozenset[str] = frozenset()
TIMES_SLOWER = 2.0
LEAST_MS = 1.0


@dataclass(frozen=True, slots=True)
class Kill:
    """One probe that kills a saboteur.

    Attributes
    ----------
    probe : str
        Name of the probe.
    by : {'gate', 'contract', 'ratchet', 'latency'}
        What saw it, the first of these.
    codes : str
        What fired: reasons of leaks and contract codes, blank separated; empty where none did.
    """

    probe: str
    by: str
    codes: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run shows, probe by probe.

    Attributes
    ----------
    gates, contract : mapping of str to frozenset of str
        Reasons of leaks, and contract codes, that came up in some repeat; only probes with any.
    passing, failing : frozenset of str
        Probes that passed in every repeat, and those that were asked and passed in none.
    latencies : mapping of str to float
        Median time of the scored searches of each probe that were answered, in milliseconds.
    latency_ms : float
        Median over all of them; NaN where none was answered.
    """

    gates: Codes
    contract: Codes
    passing: frozenset[str]
    failing: frozenset[str]
    latencies: Mapping[str, float]
    latency_ms: float


def seen(run: Run, rows: pd.DataFrame | None = None) -> Seen:
    """Collect what a run shows.

    Parameters
    ----------
    run : Run
        With all repeats.
    rows : pandas.DataFrame, optional
        Its outcomes, where they are known already.
    """
    rows = rows_of(run) if rows is None else rows
    asked = ~rows["status"].eq("not_supported")
    whole = asked & rows["n_passed"].eq(rows["n_repeats"])
    answered = run.calls[run.calls["status"].eq("ok") & run.calls["latency_ms"].notna()]
    medians = answered.groupby("probe")["latency_ms"].median()
    return Seen(
        gates=_gathered(_leaks(run)),
        contract=_gathered(_breaches(run)),
        passing=frozenset(rows.loc[whole, "probe"]),
        failing=frozenset(rows.loc[asked & rows["n_passed"].eq(0), "probe"]),
        latencies=dict(zip(medians.index, medians, strict=True)),
        latency_ms=float(np.median(answered["latency_ms"])) if len(answered) else float("nan"),
    )


def _leaks(run: Run) -> Iterator[tuple[str, str]]:
    """Probe and reason of every leak, of all that was returned, in all repeats."""
    barred = run.qrels.loc[run.qrels["label"].eq("forbidden"), ["probe", "record_id", "reason"]]
    leaked = run.hits[["probe", "record_id"]].drop_duplicates().merge(barred)
    yield from zip(leaked["probe"], leaked["reason"].astype("str"), strict=True)
    for probe in run.hits.loc[run.hits["canary"].notna(), "probe"]:
        yield probe, "canary"


def _breaches(run: Run) -> Iterator[tuple[str, str]]:
    broken = run.calls.loc[run.calls["breaches"].notna(), ["probe", "breaches"]]
    for probe, codes in zip(broken["probe"], broken["breaches"], strict=True):
        for code in codes.split():
            yield probe, code


def _gathered(pairs: Iterator[tuple[str, str]]) -> Codes:
    found: dict[str, set[str]] = {}
    for probe, code in pairs:
        found.setdefault(probe, set()).add(code)
    return {probe: frozenset(codes) for probe, codes in found.items()}


def kills(identity: Seen, saboteur: Seen, slow: Set[str] = NOTHING) -> list[Kill]:
    """Which probes kill a saboteur, sorted by name.

    Parameters
    ----------
    identity, saboteur : Seen
        Of runs of the same probes, on the store as it is and with one fault.
    slow : set of str
        Probes that are slower, as `slower` gives them once that is confirmed.

    Examples
    --------
    >>> sound = Seen({}, {}, frozenset({"lunch", "tea"}), frozenset(), {}, 1.0)
    >>> blind = Seen(
    ...     {"lunch": frozenset({"foreign_scope"})}, {}, frozenset(), frozenset({"tea"}), {}, 1.0
    ... )
    >>> kills(sound, blind)[0]
    Kill(probe='lunch', by='gate', codes='foreign_scope')
    >>> kills(sound, blind)[1]
    Kill(probe='tea', by='ratchet', codes='')
    """
    lost = identity.passing & saboteur.failing
    gates, contract = (
        _new(getattr(identity, kind), getattr(saboteur, kind)) for kind in ("gates", "contract")
    )
    made = []
    for probe in sorted({*gates, *contract, *lost, *slow}):
        ways = {"gate": probe in gates, "contract": probe in contract, "ratchet": probe in lost}
        by = next((way for way, so in ways.items() if so), "latency")
        codes = [*sorted(gates.get(probe, NOTHING)), *sorted(contract.get(probe, NOTHING))]
        made.append(Kill(probe, by, " ".join(codes)))
    return made


def _new(before: Codes, after: Codes) -> Codes:
    """Codes that fire now and did not before, probe by probe."""
    found = {probe: codes - before.get(probe, NOTHING) for probe, codes in after.items()}
    return {probe: codes for probe, codes in found.items() if codes}


def slower(identity: Seen, saboteur: Seen) -> frozenset[str]:
    """Which probes are slower, where the run as a whole is; none where it is not.

    Notes
    -----
    Slower: the median is more than twice that of the identity, and more than 1 ms above it. A
    machine stalls now and then, so it counts only once a second run of the identity confirms it.

    Examples
    --------
    >>> quick = Seen({}, {}, frozenset(), frozenset(), {"lunch": 0.2}, 0.2)
    >>> slow = Seen({}, {}, frozenset(), frozenset(), {"lunch": 20.3}, 20.3)
    >>> sorted(slower(quick, slow)), sorted(slower(slow, slow))
    (['lunch'], [])
    """
    if not _is_slower(identity.latency_ms, saboteur.latency_ms):
        return NOTHING
    before, after = identity.latencies, saboteur.latencies
    common = before.keys() & after.keys()
    return frozenset(probe for probe in common if _is_slower(before[probe], after[probe]))


def _is_slower(before: float, after: float) -> bool:
    return after > TIMES_SLOWER * before and after - before > LEAST_MS
