"""Ranks of what a run's tables expect, found once for every cutoff."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from memeval.frames import CALLS, HITS, conform
from memeval.scoring.judging import judge
from memeval.scoring.measures import Answers, Bools, Ints, gains_in_order


def first_repeat(calls: pd.DataFrame) -> pd.DataFrame:
    """Calls of the first repeat, numbered in column ``at``."""
    asked = conform(calls, CALLS)[["probe", "repeat", "k", "status"]]
    asked = asked.sort_values("repeat", kind="stable").drop_duplicates("probe")
    status = asked["status"].fillna("ok")
    return asked.assign(status=status, at=np.arange(len(asked))).reset_index(drop=True)


@dataclass(frozen=True)
class RunRanks:
    """Best rank of each group that was met, sorted by probe and rank, and what was asked.

    Attributes
    ----------
    at, rank : ndarray of int64
        Number of the probe, and rank, of each met group.
    k, n_expected : ndarray of int64
        Cutoff that was asked for, and expected groups, of each probe.
    supported : ndarray of bool
        Whether the probe could be asked at all.
    """

    at: Ints
    rank: Ints
    k: Ints
    n_expected: Ints
    supported: Bools

    def at_cutoff(self, k: int) -> Answers:
        """Answers of all probes as if k had been asked for, as far as recall goes."""
        n, top = len(self.k), self.rank <= k
        n_met, first_rank, dcg = gains_in_order(self.at[top], self.rank[top], n)
        every, none = np.ones(n, dtype=np.bool_), np.zeros(n, dtype=np.int64)
        return Answers(
            k=np.full(n, k, dtype=np.int64),
            asked=every,
            ok=every,
            n_expected=self.n_expected,
            n_met=n_met,
            n_relevant=n_met,
            first_rank=first_rank,
            dcg=dcg,
            n_returned=none,
            n_leaked=none,
            n_contract=none,
        )


def run_ranks(hits: pd.DataFrame, qrels: pd.DataFrame, asked: pd.DataFrame) -> RunRanks:
    """Ranks of the expected groups in the answers that `first_repeat` gives."""
    judged = judge(qrels, {probe: at for at, probe in enumerate(asked["probe"])})
    expected = judged.expected
    groups = pd.DataFrame(
        {
            "at": judged.at[expected],
            "record_id": pd.array(judged.record[expected], dtype="str"),
            "group": judged.group[expected],
        }
    )
    answers = asked.loc[asked["status"] == "ok", ["probe", "repeat", "at"]]
    found = conform(hits, HITS)[["probe", "repeat", "rank", "record_id"]]
    found = found[found["record_id"].notna()].merge(answers, on=["probe", "repeat"])
    met = found.merge(groups, on=["at", "record_id"]).sort_values(["at", "rank"])
    met = met.drop_duplicates(["at", "group"])
    return RunRanks(
        at=met["at"].to_numpy(np.int64),
        rank=met["rank"].to_numpy(np.int64),
        k=asked["k"].to_numpy(np.int64),
        n_expected=judged.n_expected,
        supported=(asked["status"] != "not_supported").to_numpy(np.bool_),
    )
