"""What fails a comparison apart from statistics: gates of the current side alone, and the ratchet.

Each objection is a reason with what to do about it, the most serious first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from memeval.comparing.comparability import verified_deterministic
from memeval.comparing.sides import Flags, Sides, count, listed
from memeval.outcomes import Outcomes
from memeval.stats import wilson
from memeval.stats.bootstrap import bca_mean
from memeval.summary import METRICS
from memeval.text import visible
from memeval.verdicts import Verdict

# Repeats of a side from which a loss counts where answers may change by themselves.
ENOUGH_REPEATS = 3
ACCEPT = 'memeval accept --reason "..."'
_MEANS = {"recall_fraction": "recall_fraction", "mrr": "rr", "ndcg": "ndcg"}
_SHARES = {"recall_all": "positive", "recall_any": "positive", "abstention": "negative"}


class Objection(NamedTuple):
    """Why a comparison fails, and what to do about it."""

    reason: str
    next_step: str


def alone(current: Outcomes) -> Verdict | None:
    """Judge outcomes that have nothing to be compared with.

    Parameters
    ----------
    current : Outcomes
        What was measured.

    Returns
    -------
    Verdict or None
        INVALID for an invalid suite, FAIL where a gate is broken that needs no baseline; None
        where nothing stands against it, which is no success.
    """
    if current.validity.status == "invalid":
        return invalid(current)
    return failed(list(absolute(current)))


def invalid(side: Outcomes, name: str = "") -> Verdict:
    """Give the verdict on a side whose suite is invalid."""
    why = "; ".join(side.validity.reasons) or "the suite cannot carry its numbers"
    todo = side.validity.next_step or "mend the suite and run it again"
    return Verdict("INVALID", f"{name}: {why}" if name else why, todo, 4)


def failed(objections: list[Objection]) -> Verdict | None:
    """Give FAIL with every objection, and what to do about the first; None without any."""
    if not objections:
        return None
    reasons = "; also: ".join(one.reason for one in objections)
    return Verdict("FAIL", reasons, objections[0].next_step, 1)


def absolute(current: Outcomes) -> Iterator[Objection]:
    """Whatever the baseline: leaks, broken contracts, floors, errors, faults of the store.

    Parameters
    ----------
    current : Outcomes
        With all its probes, compared or not.

    Yields
    ------
    Objection
        A floor is broken only where the upper 95 % bound is below it: Wilson for shares, BCa for
        means; a value without a bound stands for itself.
    """
    leaks = leaked(current)
    if leaks:
        probes = current.probes.loc[current.probes["n_leaked"] > 0, "probe"]
        where = f" in {count(len(probes), 'probe')}: {listed(probes)}" if len(probes) else ""
        yield Objection(
            f"{count(leaks, 'leaked record')}{where}",
            "find out why the store returned what it must not; a leak is never traded off",
        )
    yield from beside_leaks(current)


def leaked(current: Outcomes) -> int:
    """How many records leaked, by the probes (the worst repeat of each) or by what is told."""
    told = current.metrics.get("leaks", 0.0)
    return max(int(current.probes["n_leaked"].sum()), 0 if math.isnan(told) else int(told))


def beside_leaks(current: Outcomes) -> Iterator[Objection]:
    """Give the gates of `absolute` without the one on leaks."""
    probes = current.probes
    broken = probes.loc[probes["n_contract"] > 0, "probe"]
    if len(broken):
        yield Objection(
            f"the store broke its contract in {count(len(broken), 'probe')}: {listed(broken)}",
            "mend the store, or what it declares, and run again",
        )
    yield from _errors(current)
    if current.validity.store_faults:
        yield Objection("; ".join(current.validity.store_faults), current.validity.next_step)
    for metric, floor in current.floors.items():
        yield from _floor(current, metric, floor)


def _errors(current: Outcomes) -> Iterator[Objection]:
    probes = current.probes
    failing = probes.loc[probes["status"].isin(["failed", "timeout"]), "probe"]
    if len(failing) > current.allow_errors:
        yield Objection(
            f"{count(len(failing), 'search', 'searches')} failed, {current.allow_errors} allowed: "
            f"{listed(failing)}",
            "run again when the store answers, or with --allow-errors N",
        )
    if len(probes) and not probes["status"].eq("ok").any():
        yield Objection(
            "no probe was answered: all failed, were skipped, or are not supported",
            "run again with a store that answers",
        )


def _floor(current: Outcomes, metric: str, floor: float) -> Iterator[Objection]:
    value = current.metrics.get(metric, math.nan)
    lower = METRICS.get(metric) == "lower"
    bound = _best(current, metric, value, lower)
    if not (bound > floor if lower else bound < floor):  # NaN breaks nothing
        return
    end = f", at best {bound:.3f}" if bound != value else ""
    yield Objection(
        f"{metric} is {value:.3f}{end}; its floor is {floor:g}",
        "look at the failing probes, or set another floor",
    )


def _best(current: Outcomes, metric: str, value: float, lower: bool) -> float:
    """The end of the interval that speaks for the store; the value where there is none."""
    if current.run is not None:
        summary = current.run.summary
        ends = summary.loc[summary["metric"].eq(metric), "low" if lower else "high"].dropna()
        return float(ends.iloc[0]) if len(ends) else value
    if metric in _SHARES and not math.isnan(value):
        asked = ~current.probes["status"].eq("not_supported")
        n = int((current.probes["kind"].eq(_SHARES[metric]) & asked).sum())
        return wilson(min(round(value * n), n), n).high if n else value
    if metric in _MEANS:
        values = current.probes[_MEANS[metric]].dropna().to_numpy(np.float64)
        return bca_mean(values).high if len(np.unique(values)) >= 5 else value
    return value


def ratchet(sides: Sides) -> Iterator[Objection]:
    """What passed must go on passing.

    Parameters
    ----------
    sides : Sides
        What is compared.

    Yields
    ------
    Objection
        For any loss where both sides are verified deterministic; and for a probe marked must that
        passed in every repeat and does not now, if both sides asked it three times or more, or the
        store cannot take it now, which is no chance.
    """
    firm = deterministic(sides)
    lost = sides.lost if firm else np.zeros_like(sides.lost)
    held = sides.must_lost & ~lost & (_repeated(sides) | sides.untaken | firm)
    for chosen, why in ((lost, "lost that passed before"), (held, "marked must and lost")):
        names = _counted(sides, chosen)
        if names:
            yield Objection(
                f"on these probes: {count(len(names), 'probe')} {why}: {listed(names, width=100)}",
                f"mend the store; or, if the loss is worth it: {ACCEPT}",
            )


def _counted(sides: Sides, chosen: Flags) -> list[str]:
    """Names, with what is to be known of a loss: how many repeats passed, or that none was made."""
    rows = sides.after.loc[chosen]
    told = zip(rows["probe"], rows["n_passed"], rows["n_repeats"], rows["status"], strict=True)
    return [
        f"{visible(name, 60)} (the store cannot take it now)"
        if status == "not_supported"
        else f"{visible(name, 60)} (passed {passed} of {asked})"
        if asked > 1
        else visible(name, 60)
        for name, passed, asked, status in told
    ]


def unconfirmed(sides: Sides) -> list[str]:
    """Names of lost probes marked must that too few repeats were asked of to be sure."""
    if deterministic(sides):
        return []
    return _counted(sides, sides.must_lost & ~_repeated(sides) & ~sides.untaken)


def deterministic(sides: Sides) -> bool:
    """Whether both sides gave the same answer when asked again, and declare nothing else."""
    return all(verified_deterministic(s.manifest) for s in (sides.baseline, sides.current))


def _repeated(sides: Sides) -> Flags:
    enough = [rows["n_repeats"].ge(ENOUGH_REPEATS) for rows in (sides.before, sides.after)]
    return np.asarray(enough[0] & enough[1], dtype=np.bool_)
