"""Can this suite carry its numbers? Rules C1 to C5 on runs that were made.

Decided by closed forms, not by a sampled control: a sampled one fails by luck on small suites. What
is wrong with the suite is kept apart from what is wrong with the store.

=====  ===============================================================  ==============
rule   what must hold                                                   who is blamed
=====  ===============================================================  ==============
C1     there are positive probes, and a store that recalls nothing      suite
       recalls none of them
C2     luck alone recalls at most 0.10 of them                          suite
C3     the store recalls more than luck would (P < 0.001)               store
C4     the suite can see order (potential at least 0.20)                suite
C4     the store ranks better than a shuffle of its answers (P <= 0.01) store
C5     stores that never read the query score lower (P < 0.01)          suite or store
=====  ===============================================================  ==============

Source: hypergeometric and Poisson-binomial laws of `memeval.stats.laws`, and the exact law of a
shuffled answer of `memeval.stats.shuffle`. Rule C5 stands in `memeval.blindness`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memeval import frames
from memeval.runs import Run, Validity
from memeval.stats.laws import poisson_binomial_critical, poisson_binomial_tail
from memeval.stats.shuffle import shuffled_mrr_critical, shuffled_mrr_tail, shuffled_rr

MOST_CHANCE = 0.10
LEAST_POTENTIAL = 0.20
ROUNDING = 1e-12  # a mean of exact bounds may miss the bound by its last digit
ALPHA_CHANCE = 0.001
ALPHA_ORDER = 0.01
ENOUGH = {"positive probes": 20, "negative probes": 5, "probes with forbid": 5}
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Positives:
    """What the rules look at: the positive probes that the store could take.

    Attributes
    ----------
    chance, potential : list of float
        Per probe: probability of recall by luck; 1 - E[RR] of a shuffled answer of
        min(k, eligible) records.
    returned, found : list of int
        Per probe: records in the top k; expected records among them.
    hits : int
        Probes with every expected group in the top k.
    mrr : float
        Mean reciprocal rank.
    """

    chance: list[float]
    potential: list[float]
    returned: list[int]
    found: list[int]
    hits: int
    mrr: float

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.chance)


def positives(run: Run) -> Positives:
    """Collect what the rules look at."""
    results = run.results.merge(
        run.calls.loc[run.calls["repeat"] == 0, ["probe", "n_eligible"]], on="probe", how="left"
    )
    asked = results[results["kind"].eq("positive") & results["status"].ne("not_supported")]
    eligible = asked["n_eligible"].fillna(asked["k"])
    depth = [min(k, n) for k, n in zip(asked["k"], eligible, strict=True)]
    returned = [min(k, n) for k, n in zip(asked["k"], asked["n_returned"], strict=True)]
    relevant = [round(x) for x in asked["precision"].fillna(0.0) * asked["k"]]
    return Positives(
        chance=list(asked["chance"].fillna(1.0)),
        potential=[
            1.0 - shuffled_rr(int(r), int(min(e, r))) if r else 0.0
            for r, e in zip(depth, asked["n_expected"], strict=True)
        ],
        returned=returned,
        found=[min(r, e) for r, e in zip(returned, relevant, strict=True)],
        hits=int(asked["recall_all"].fillna(False).sum()),
        mrr=_mean(list(asked["rr"])),
    )


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def rows(run: Run) -> list[Row]:
    """Rows of the controls frame that a run alone decides, without any broken store."""
    return _rows(positives(run))


def _rows(seen: Positives) -> list[Row]:
    return [_chance(seen), _better_than_chance(seen), _potential(seen), _order(seen)]


def judge(run: Run, controls: pd.DataFrame | None = None) -> Validity:
    """Judge the suite of a run, and the store where rules C3 to C5 speak of it.

    Parameters
    ----------
    run : Run
        Of the store under test.
    controls : pandas.DataFrame, optional
        The controls frame, where broken stores were run.

    Returns
    -------
    Validity
        Invalid, weak or valid; faults of the store; what could not be judged; the next step.
        Unchecked where only some probes of a suite were chosen.
    """
    seen = positives(run)
    frame = to_frame(_rows(seen)) if controls is None else controls
    broken = frame[frame["applicable"] & frame["passed"].eq(False).fillna(False)]
    suite = tuple(broken.loc[broken["blames"] == "suite", "reason"])
    store = tuple(broken.loc[broken["blames"] == "store", "reason"])
    notes = tuple(dict.fromkeys(frame.loc[~frame["applicable"], "reason"])) + run.manifest.notes
    if run.suite.chosen_of:
        chosen = f"{len(run.suite)} of {run.suite.chosen_of} probes were chosen"
        partial = f"{chosen}: they judge neither the suite nor the store"
        step = "ask the whole suite before you believe a mean"
        return Validity("unchecked", notes=(partial, *run.manifest.notes), next_step=step)
    if seen.n == 0:
        suite = ("no positive probe: nothing can be recalled, so nothing is measured",)
    if suite:
        step = "mend the suite before you believe any number of it: memeval lint, memeval control"
        return Validity("invalid", suite, store, notes, step)
    thin = tuple(_thin(run))
    failed = bool(run.results["passed"].eq(False).fillna(False).any())
    step = "look at the failing probes first" if failed else "nothing failed: add probes"
    if store:
        step = "the suite is sound and the store is not: look at how it ranks and what it is asked"
    return Validity("weak" if thin else "valid", thin, store, notes, step)


def _thin(run: Run) -> Iterator[str]:
    """What the suite has too little of."""
    kinds = run.results["kind"].astype("str")
    told = run.qrels["label"].eq("forbidden") & run.qrels["reason"].isin(["listed", "deleted"])
    there = {
        "positive probes": int(kinds.eq("positive").sum()),
        "negative probes": int(kinds.eq("negative").sum()),
        "probes with forbid": int(run.qrels.loc[told, "probe"].nunique()),
    }
    for what, n in there.items():
        if n < ENOUGH[what]:
            yield f"{what}: {n}, at least {ENOUGH[what]} wanted"


def to_frame(judged: list[Row]) -> pd.DataFrame:
    """Rows as a controls frame."""
    return frames.conform(
        pd.DataFrame(judged, columns=frames.names(frames.CONTROLS)), frames.CONTROLS
    )


def row(store: str, rule: str, metric: str, blames: str, **values: Any) -> Row:
    """One row of the controls frame; `passed` is NA where the rule is not applicable."""
    blank: Row = {"value": math.nan, "real": math.nan, "chance": math.nan, "bound": math.nan}
    made = blank | {"store": store, "rule": rule, "metric": metric, "applicable": True} | values
    passed = bool(made["passed"]) if made["applicable"] else None
    blamed = "none" if passed or passed is None else blames
    return made | {"passed": passed, "blames": blamed}


def _chance(seen: Positives) -> Row:
    mean = _mean(seen.chance)
    return row(
        "random",
        "C2",
        "chance",
        "suite",
        value=mean,
        chance=mean,
        bound=MOST_CHANCE,
        must="at_most",
        n=seen.n,
        applicable=seen.n > 0,
        passed=mean <= MOST_CHANCE + ROUNDING,
        reason=(
            "no positive probe to judge chance on"
            if not seen.n
            else f"luck alone recalls {mean:.3f} of the probes, at most {MOST_CHANCE:g} may be luck"
        ),
    )


def _better_than_chance(seen: Positives) -> Row:
    least = poisson_binomial_critical(seen.chance, ALPHA_CHANCE) if seen.n else None
    real = seen.hits / seen.n if seen.n else math.nan
    tail = poisson_binomial_tail(seen.chance, seen.hits) if seen.n else math.nan
    common = {
        "value": real,
        "real": real,
        "must": "at_least",
        "n": seen.n,
        "passed": tail < ALPHA_CHANCE,
    }
    if least is None:
        return row(
            "real",
            "C3",
            "recall_all",
            "store",
            applicable=False,
            **common,
            reason="too few probes, or too much luck in them, to tell a store from chance",
        )
    return row(
        "real",
        "C3",
        "recall_all",
        "store",
        **common,
        chance=_mean(seen.chance),
        bound=least / seen.n,
        reason=(
            f"the store recalls {seen.hits} of {seen.n} probes, "
            f"{least} are needed to be better than luck"
        ),
    )


def _potential(seen: Positives) -> Row:
    mean = _mean(seen.potential)
    return row(
        "shuffled",
        "C4",
        "ordering_potential",
        "suite",
        value=mean,
        bound=LEAST_POTENTIAL,
        must="at_least",
        n=seen.n,
        applicable=seen.n > 0,
        passed=mean >= LEAST_POTENTIAL - ROUNDING,
        reason=(
            "no positive probe to judge order on"
            if not seen.n
            else f"shuffling can cost {mean:.3f} of rank, at least {LEAST_POTENTIAL:g} is needed "
            "for the suite to see ranking"
        ),
    )


def _order(seen: Positives) -> Row:
    """Whether the store's own order is better than a shuffle of its own answers."""
    shuffled = [
        shuffled_rr(r, e) if e else 0.0 for r, e in zip(seen.returned, seen.found, strict=True)
    ]
    law = _mean(shuffled)
    common = {"value": seen.mrr, "real": seen.mrr, "chance": law, "must": "at_least", "n": seen.n}
    too_short = _too_short(seen, shuffled)
    if too_short:
        return row(
            "shuffled",
            "C4",
            "mrr_real",
            "store",
            applicable=False,
            passed=False,
            reason=too_short,
            **common,
        )
    tail = shuffled_mrr_tail(seen.returned, seen.found, seen.n, seen.mrr)
    return row(
        "shuffled",
        "C4",
        "mrr_real",
        "store",
        **common,
        bound=shuffled_mrr_critical(seen.returned, seen.found, seen.n, ALPHA_ORDER),
        passed=tail <= ALPHA_ORDER,
        reason=(
            f"the store's MRR is {seen.mrr:.3f}, a shuffle of its own answers has {law:.3f} "
            f"(P = {tail:.2g})"
        ),
    )


def _too_short(seen: Positives, shuffled: list[float]) -> str:
    """Why order cannot be judged on these answers; empty where it can."""
    met = [(law, r) for law, r, e in zip(shuffled, seen.returned, seen.found, strict=True) if e]
    if not met:
        return "no expected record came back, so there is no order to judge"
    if 1.0 - _mean([law for law, _ in met]) < LEAST_POTENTIAL:
        length = _mean([float(r) for _, r in met])
        return (
            f"the store returns {length:.1f} records a probe on average: too short an answer "
            "to judge its order"
        )
    best = len(met) / seen.n
    if shuffled_mrr_tail(seen.returned, seen.found, seen.n, best) > ALPHA_ORDER:
        return f"{len(met)} probes with a hit are too few to judge order"
    return ""
