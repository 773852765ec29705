"""What every answer of a run would be worth under every floor on the score.

An answer changes only at its own scores. It is graded once at each of them, as a probe of its own,
and a floor then looks up which of these levels it leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
import pandas as pd

from memeval.frames import CALLS, QRELS, conform
from memeval.metrics import score
from memeval.scoring.measures import Bools, Floats, Ints


@dataclass(frozen=True)
class Floored:
    """What a run comes to under each floor: an entry per floor, or one number for all.

    Attributes
    ----------
    n_recalled, n_abstained, n_leaking : ndarray of int64
        Positive probes with recall_all, negative probes with an empty answer, probes with a leak.
    leaks, n_dropped : ndarray of int64
        Leaking records (the worst repeat of each probe), hits that the floor takes away.
    n_positive, n_negative, n_leakable : int
        Probes that could be counted by the first three.
    """

    n_recalled: Ints
    n_abstained: Ints
    n_leaking: Ints
    leaks: Ints
    n_dropped: Ints
    n_positive: int
    n_negative: int
    n_leakable: int


@dataclass(frozen=True)
class _Graded:
    """The levels of all answers, one after the other: all hits first, then fewer and fewer."""

    positive: Bools
    recalled: Bools
    abstained: Bools
    leaked: Ints


@overload
def signed(scores: pd.Series, score_order: str | None) -> pd.Series: ...
@overload
def signed(scores: Floats, score_order: str | None) -> Floats: ...
def signed(scores: pd.Series | Floats, score_order: str | None) -> pd.Series | Floats:
    """Turn scores round where low ones are better; doing it twice gives them back."""
    return -scores if score_order == "low" else scores


def floored(
    hits: pd.DataFrame, qrels: pd.DataFrame, calls: pd.DataFrame, floors: Floats
) -> Floored:
    """Grade a run under each of some floors.

    Parameters
    ----------
    hits, qrels, calls : pandas.DataFrame
        Tables that `memeval.metrics.score` takes; in `hits` a larger score is better, and a hit
        without a score stays.
    floors : ndarray of float64
        In any order, none of them NaN; a hit that scores exactly this is kept.

    Returns
    -------
    Floored
        An entry per floor, in the order of `floors`.
    """
    calls = supported(calls)
    hits = hits.merge(calls[["probe", "repeat", "call"]], on=["probe", "repeat"])
    hits = hits.sort_values(["call", "rank"]).reset_index(drop=True)
    scores = [np.unique(of_call) for of_call in _scores_by_call(hits, len(calls))]
    start = np.cumsum([0, *(len(own) + 1 for own in scores)])
    graded = _graded(hits, conform(qrels, QRELS), calls, scores, start)
    forbidding = calls["probe"].isin(qrels.loc[qrels["label"] == "forbidden", "probe"])
    recalled, abstained, leaking, leaks = np.zeros((4, len(floors)), dtype=np.int64)
    n_positive = n_negative = n_leakable = 0
    for of_probe in np.split(np.arange(len(calls)), np.flatnonzero(calls["first"])[1:]):
        level = [start[c] + np.searchsorted(scores[c], floors, side="left") for c in of_probe]
        worst = np.max([graded.leaked[at] for at in level], axis=0)
        could = forbidding.iloc[of_probe[0]] or graded.leaked[start[of_probe]].any()
        positive = bool(graded.positive[start[of_probe[0]]])
        recalled += graded.recalled[level[0]]
        abstained += graded.abstained[level[0]]
        leaking += worst > 0
        leaks += worst
        n_positive, n_negative = n_positive + positive, n_negative + (not positive)
        n_leakable += bool(could)
    known = np.sort(hits["score"].dropna().to_numpy(np.float64))
    dropped = np.searchsorted(known, floors, side="left").astype(np.int64)
    return Floored(recalled, abstained, leaking, leaks, dropped, n_positive, n_negative, n_leakable)


def supported(frame: pd.DataFrame) -> pd.DataFrame:
    """Calls of the probes that could be asked, repeats together.

    Parameters
    ----------
    frame : pandas.DataFrame
        Calls of a run.

    Returns
    -------
    pandas.DataFrame
        ``probe``, ``repeat``, ``k``, ``status``, and: ``at`` numbers the probes, ``call`` the
        rows; ``first`` marks the first repeat of each probe.
    """
    calls = conform(frame, CALLS)[["probe", "repeat", "k", "status"]]
    calls = calls.assign(at=pd.factorize(calls["probe"])[0]).sort_values(["at", "repeat"])
    calls = calls.assign(first=~calls.duplicated("probe"))
    refused = calls.loc[calls["first"] & calls["status"].eq("not_supported"), "probe"]
    calls = calls[~calls["probe"].isin(refused)].reset_index(drop=True)
    return calls.assign(call=np.arange(len(calls)))


def _scores_by_call(hits: pd.DataFrame, n: int) -> list[Floats]:
    known = hits[hits["score"].notna()]
    ends = np.cumsum(np.bincount(known["call"], minlength=n))[:-1]
    return np.split(known["score"].to_numpy(np.float64), ends)


def _graded(
    hits: pd.DataFrame, qrels: pd.DataFrame, calls: pd.DataFrame, scores: list[Floats], start: Ints
) -> _Graded:
    """Score every level of every answer as a probe of its own."""
    n_levels = np.diff(start)
    owner = np.repeat(np.arange(len(calls)), n_levels)
    levels = calls.iloc[owner].assign(level=np.arange(len(owner)).astype(str), repeat=0)
    left = _levels_left(hits, scores)
    copies = hits.iloc[np.repeat(np.arange(len(hits)), left)]
    nth = np.arange(len(copies)) - np.repeat(np.cumsum(left) - left, left)
    at = start[copies["call"].to_numpy(np.int64)] + nth
    rank = pd.Series(at).groupby(at).cumcount().to_numpy(np.int64) + 1
    kept = copies[["record_id", "store_id", "canary"]].assign(probe=at.astype(str), rank=rank)
    judged = qrels.merge(levels[["probe", "level"]], on="probe")
    results = score(
        kept,
        judged.drop(columns="probe").rename(columns={"level": "probe"}),
        levels[["level", "k", "status"]].rename(columns={"level": "probe"}),
    )
    return _Graded(
        positive=results["kind"].eq("positive").to_numpy(np.bool_),
        recalled=results["recall_all"].eq(True).fillna(False).to_numpy(np.bool_),
        abstained=results["abstained"].eq(True).fillna(False).to_numpy(np.bool_),
        leaked=results["n_leaked"].to_numpy(np.int64),
    )


def _levels_left(hits: pd.DataFrame, scores: list[Floats]) -> Ints:
    """How many levels of its answer each hit is in: those up to its own score, or all."""
    left = hits.groupby("call")["score"].rank(method="dense")
    every = hits["call"].map(pd.Series([len(own) + 1 for own in scores], dtype=np.int64))
    return left.fillna(every).to_numpy(np.int64)
