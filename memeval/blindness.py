"""Can the suite be passed without reading the query? Rule C5 on runs that were made.

A store that always returns its newest records, and one that returns the same records whatever is
asked, must score below the store under test: on nDCG, probe by probe, ties left out (sign test,
mid-p, P < 0.01). Where one does not, the blame follows from what the blind store found by itself:

======================================  ==========
the blind store                         who is blamed
======================================  ==========
finds more than luck explains, or luck  suite
alone would find so much
finds no more than luck                 store
======================================  ==========
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pandas as pd

from memeval.runs import Run
from memeval.stats.laws import chance_ndcg, poisson_binomial_critical, poisson_binomial_tail
from memeval.stats.paired import mcnemar_midp
from memeval.validity import ALPHA_CHANCE, Row, row

ALPHA_BLIND = 0.01
FEWEST = 6  # probes that must differ: 0.5^6 / 2 = 0.0078, 0.5^5 / 2 = 0.0156
TIED = 1e-12
BLIND: Mapping[str, str] = MappingProxyType(
    {
        "newest": "a store that returns the newest records",
        "constant": "a store that always returns the same records",
    }
)


@dataclass(frozen=True, slots=True)
class Pairs:
    """The store under test and a blind store on the same positive probes.

    Attributes
    ----------
    n : int
        Probes.
    above, below : int
        Probes on which the real store has the higher nDCG, and the lower one; ties are neither.
    real, blind, chance : float
        Mean nDCG of both, and of k records drawn at random; NaN without a probe.
    real_hits, blind_hits : int
        Probes with every expected group in the top k.
    luck : list of float
        Per probe: probability of recall by luck.
    """

    n: int
    above: int
    below: int
    real: float
    blind: float
    chance: float
    real_hits: int
    blind_hits: int
    luck: list[float]

    @property
    def p_value(self) -> float:
        """One-sided mid-p value of the sign test: luck alone seldom puts the real store so high."""
        return mcnemar_midp(self.above, self.below)

    @property
    def most_by_luck(self) -> int | None:
        """Most hits that luck explains; None where it explains any number."""
        least = poisson_binomial_critical(self.luck, ALPHA_CHANCE) if self.n else None
        return None if least is None else least - 1

    @property
    def is_seeing(self) -> bool:
        """Whether the blind store finds more than luck, or luck would find as much."""
        most = self.most_by_luck
        return most is None or self.blind_hits > most

    @property
    def is_lucky(self) -> bool:
        """Whether luck explains what the real store finds."""
        return not poisson_binomial_tail(self.luck, self.real_hits) < ALPHA_CHANCE


def pairs(real: Run, blind: Run) -> Pairs:
    """Hold a run against that of a blind store, over the positive probes that both could take."""
    both = _asked(real).merge(_asked(blind), on="probe", suffixes=("", "_blind"))
    gain = both["ndcg"] - both["ndcg_blind"]
    eligible = both["n_eligible"].fillna(both["k"])
    laws = [
        chance_ndcg(int(max(n, m)), int(m), int(k))
        for n, m, k in zip(eligible, both["n_expected"], both["k"], strict=True)
    ]
    return Pairs(
        n=len(both),
        above=int((gain > TIED).sum()),
        below=int((gain < -TIED).sum()),
        real=_mean(list(both["ndcg"])),
        blind=_mean(list(both["ndcg_blind"])),
        chance=_mean(laws),
        real_hits=int(both["recall_all"].fillna(False).sum()),
        blind_hits=int(both["recall_all_blind"].fillna(False).sum()),
        luck=list(both["chance"].fillna(1.0)),
    )


def _asked(run: Run) -> pd.DataFrame:
    """Results of the positive probes that a store could take; a failed search has an nDCG of 0."""
    results = run.results
    kept = results[results["kind"].eq("positive") & results["status"].ne("not_supported")]
    columns = ["probe", "k", "n_expected", "ndcg", "recall_all", "chance"]
    eligible = run.calls.loc[run.calls["repeat"].eq(0), ["probe", "n_eligible"]]
    return kept[columns].fillna({"ndcg": 0.0}).merge(eligible, on="probe", how="left")


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def blind_row(store: str, real: Run, blind: Run) -> Row:
    """Row of the controls frame for one blind store.

    Parameters
    ----------
    store : {'newest', 'constant'}
        Which one.
    real, blind : Run
        Of the store under test, and of the blind store, on the same suite.

    Returns
    -------
    dict
        ``value`` is the nDCG of the blind store, ``real`` and ``bound`` that of the store under
        test, ``chance`` that of a random draw.

    Notes
    -----
    Not applicable where no outcome of the sign test could reach P < 0.01 (under 6 positive
    probes, or under 6 that tell the two apart while the store itself is better than luck), and
    where neither store found anything.
    """
    seen = pairs(real, blind)
    why_not = _cannot_tell(seen)
    passed = seen.p_value < ALPHA_BLIND
    return row(
        store,
        "C5",
        "ndcg",
        "suite" if seen.is_seeing else "store",
        value=seen.blind,
        real=seen.real,
        chance=seen.chance,
        bound=seen.real,
        must="at_most",
        n=seen.n,
        applicable=not why_not,
        passed=passed,
        reason=why_not or (_blames_suite if seen.is_seeing and not passed else _told)(store, seen),
    )


def _cannot_tell(seen: Pairs) -> str:
    """Why the rule says nothing of these runs; empty where it does."""
    if seen.n < FEWEST:
        return (
            f"{seen.n} positive probes: at least {FEWEST} are needed to tell a store from one "
            "that never reads the query"
        )
    if not seen.real and not seen.blind:
        return "no expected record came back, neither from the store nor from a blind one"
    differing = seen.above + seen.below
    if differing < FEWEST and not seen.is_seeing and not seen.is_lucky:
        return (
            f"the store and a blind one differ on {differing} probes: at least {FEWEST} are "
            "needed to tell them apart"
        )
    return ""


def _told(store: str, seen: Pairs) -> str:
    return (
        f"{BLIND[store]}, whatever is asked, has nDCG {seen.blind:.3f}, the store {seen.real:.3f}: "
        f"above it on {seen.above} probes, below on {seen.below} (P = {seen.p_value:.2g}, wanted "
        f"under {ALPHA_BLIND:g})"
    )


def _blames_suite(store: str, seen: Pairs) -> str:
    """Without a number of the store under test, as those of an invalid suite are withheld."""
    most = seen.most_by_luck
    luck = "any number" if most is None else f"at most {most}"
    return (
        f"{BLIND[store]}, whatever is asked, recalls {seen.blind_hits} of {seen.n} probes, luck "
        f"explains {luck}: the suite can be passed without reading the query"
    )
