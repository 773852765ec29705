"""What one run says of other settings: of every smaller cutoff, and of a floor on the score.

Frames in, frames out. The store is not asked again, so a curve tells what the recorded answers
would have been worth, not what the store would have answered.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
import pandas as pd

from memeval.errors import FrameError
from memeval.frames import HITS, RECALL_CURVE, THRESHOLD_CURVE, conform, empty
from memeval.metrics import score
from memeval.scoring import measures
from memeval.scoring.cutoffs import RunRanks, first_repeat, run_ranks
from memeval.scoring.levels import Floored, floored, signed, supported
from memeval.scoring.measures import Bools, Floats, Ints
from memeval.stats import wilson

__all__ = ["best_floor", "recall_curve", "threshold_curve"]

# Name of the metric and its column in the results; shares of probes have an interval.
_CURVES = {
    "recall_all": "recall_all",
    "recall_any": "recall_any",
    "recall_fraction": "recall_fraction",
    "mrr": "rr",
    "ndcg": "ndcg",
}
_SHARES = frozenset({"recall_all", "recall_any"})


def recall_curve(
    hits: pd.DataFrame, qrels: pd.DataFrame, calls: pd.DataFrame, *, max_k: int | None = None
) -> pd.DataFrame:
    """Tell what a run would score at every smaller cutoff.

    Parameters
    ----------
    hits, qrels, calls : pandas.DataFrame
        As for `memeval.score`: ``run.hits``, ``run.qrels``, ``run.calls``.
    max_k : int, optional
        Last cutoff; the largest that was asked for unless given.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.RECALL_CURVE`: five rows per cutoff from 1 on, none where nothing
        was asked.

        - ``k`` : int64, the cutoff.
        - ``metric`` : str, recall_all, recall_any, recall_fraction, mrr, ndcg, in this order.
        - ``value`` : float64, its mean over the probes that are counted; NA where there are none.
        - ``low``, ``high`` : float64, ends of the Wilson interval of 95 %; NA for what is no share
          of probes.
        - ``n`` : int64, positive probes that are counted.

    Raises
    ------
    FrameError
        If the tables do not fit each other (as in `memeval.score`), or `max_k` is below 1.

    Notes
    -----
    Each row is `memeval.score` with that k in `calls`, so it is the first repeat that counts, and
    a failed search counts as 0. A probe that was asked with k = 3 says nothing of what stands at
    rank 5: at each k only probes that were asked with that k or a larger one are counted. Where
    ``n`` falls along the curve, its ends are of different probes, and recall may fall as k rises;
    over the same probes it never does. Ranks are found once for all cutoffs.

    Examples
    --------
    >>> hits = pd.DataFrame({"probe": "lunch", "rank": [1, 2], "record_id": ["r3", "r1"]})
    >>> qrels = pd.DataFrame({"probe": "lunch", "record_id": ["r1"], "label": "expected"})
    >>> calls = pd.DataFrame({"probe": ["lunch"], "k": 2})
    >>> curve = recall_curve(hits, qrels, calls)
    >>> curve[curve["metric"] == "recall_all"][["k", "value", "n"]]
       k  value  n
    0  1    0.0  1
    5  2    1.0  1
    """
    counts = isinstance(max_k, int | np.integer) and not isinstance(max_k, bool)
    if max_k is not None and not (counts and max_k >= 1):
        raise FrameError(f"max_k: found {max_k!r}, wanted a whole number from 1; leave it out")
    score(hits, qrels, calls)  # refuses tables that do not fit each other
    asked = first_repeat(calls)
    last = int(asked["k"].max() if max_k is None else max_k) if len(asked) else 0
    ranks = run_ranks(hits, qrels, asked)
    return _framed(row for k in range(1, last + 1) for row in _at_cutoff(k, ranks))


def _framed(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    listed = list(rows)
    return conform(pd.DataFrame(listed), RECALL_CURVE) if listed else empty(RECALL_CURVE)


def _at_cutoff(k: int, ranks: RunRanks) -> Iterator[dict[str, Any]]:
    counted = ranks.supported & (ranks.n_expected > 0) & (ranks.k >= k)
    columns = measures.columns(ranks.at_cutoff(k), _CURVES.values())
    for metric, column in _CURVES.items():
        known = pd.Series(columns[column])[counted].to_numpy(np.float64)
        n, total = len(known), math.fsum(known)
        low, high = wilson(total, n) if metric in _SHARES else (math.nan, math.nan)
        value = total / n if n else math.nan
        yield {"k": k, "metric": metric, "value": value, "low": low, "high": high, "n": n}


def threshold_curve(
    hits: pd.DataFrame,
    qrels: pd.DataFrame,
    calls: pd.DataFrame,
    *,
    score_order: Literal["high", "low"] | None = "high",
    floors: Iterable[float] | None = None,
) -> pd.DataFrame:
    """Tell what a run would score if hits below a floor on the score were dropped.

    Parameters
    ----------
    hits, qrels, calls : pandas.DataFrame
        As for `memeval.score`: ``run.hits``, ``run.qrels``, ``run.calls``.
    score_order : {'high', 'low'} or None
        Which scores are better, such as ``run.manifest.capabilities["score_order"]``. With
        ``low`` a floor is the largest score that is kept. None: scores have no order.
    floors : iterable of float, optional
        Floors to try. By default the worst score of all hits, which drops nothing, and the score
        of each answer's first hit; infinite ones are left out.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.THRESHOLD_CURVE`: a row per distinct floor, the laxest first.

        - ``floor`` : float64, on the store's own scale; a hit that scores exactly this is kept.
        - ``recall_all``, ``abstention`` : float64, as in the summary; NA without such probes.
        - ``leaks`` : int64, leaking records anywhere in the answer that remains, as in the summary.
        - ``leak_rate`` : float64, probes that still leak over ``n_leakable``; NA where that is 0.
        - ``n_positive``, ``n_negative`` : int64, probes behind recall_all and abstention.
        - ``n_leakable`` : int64, probes that forbid something, or leak without a floor.
        - ``n_dropped`` : int64, hits that are dropped, of all repeats.
        - ``best`` : bool, on one row, or on none where there is no positive or no negative probe.

        Without rows where no floor can be tried; ``.attrs["reason"]`` says why: no hit has a score,
        or the scores have no order.

    Raises
    ------
    FrameError
        If the tables do not fit each other (as in `memeval.score`), a floor is NaN, or
        `score_order` is another word.

    Notes
    -----
    The best floor has the largest recall_all + abstention - 1 (Youden's J). Of equals it is the
    laxest, which has the most recall of them. It is fitted to these very probes: expect less of it
    on others, and check it on the held out ones (``suite.holdout()``).

    What remains of an answer moves up and is graded as the answer of `memeval.score`. A hit without
    a score stays at every floor, since no floor can be held against it; so a store that scores only
    some of its hits looks less silent than it is. A store that has the floor itself may fill the
    places with other hits, which no recorded answer can show.

    Examples
    --------
    >>> names = ["lunch", "dinner"]
    >>> hits = pd.DataFrame({"probe": names, "rank": 1, "record_id": ["r1", "r2"]})
    >>> hits["score"] = [0.9, 0.4]
    >>> qrels = pd.DataFrame({"probe": "lunch", "record_id": ["r1"], "label": "expected"})
    >>> curve = threshold_curve(hits, qrels, pd.DataFrame({"probe": names, "k": 5}))
    >>> curve[["floor", "recall_all", "abstention", "best"]]
       floor  recall_all  abstention   best
    0    0.4         1.0         0.0  False
    1    0.9         1.0         1.0   True
    """
    if score_order not in ("high", "low", None):
        raise FrameError(f"score_order: found {score_order!r}, wanted 'high', 'low' or None")
    score(hits, qrels, calls)  # refuses tables that do not fit each other
    found = conform(hits, HITS)
    found = found[found["probe"].isin(supported(calls)["probe"])]
    given = None if floors is None else _checked(floors)
    reason = _untried(found, score_order, given)
    if reason:
        nothing = empty(THRESHOLD_CURVE)
        nothing.attrs["reason"] = reason
        return nothing
    found = found.assign(score=signed(found["score"], score_order))
    tried = _own_floors(found) if given is None else np.unique(signed(given, score_order))
    under = floored(found, qrels, calls, tried)
    return conform(_rows(under, signed(tried, score_order)), THRESHOLD_CURVE)


def _checked(floors: Iterable[float]) -> Floats:
    listed = list(floors)
    try:
        checked = np.array([float(floor) for floor in listed], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise FrameError(f"floors: found {listed!r:.80}, wanted numbers") from error
    if np.isnan(checked).any():
        raise FrameError(f"floors: found NaN in {listed!r:.80}, wanted numbers; leave it out")
    return checked


def _untried(hits: pd.DataFrame, score_order: str | None, floors: Floats | None) -> str:
    """Why no floor can be tried; empty where one can."""
    if score_order is None:
        return "the scores have no order: the store does not say which are better"
    if not hits["score"].notna().any():
        return "no hit has a score: the store gives none, or returned nothing"
    if floors is None and not np.isfinite(hits["score"]).any():
        return "no hit has a finite score to try as a floor: give floors"
    if floors is not None and not len(floors):
        return "no floor was given"
    return ""


def _own_floors(hits: pd.DataFrame) -> Floats:
    """The worst score of all, and that of each first hit; larger is better."""
    first = hits.sort_values("rank").drop_duplicates(["probe", "repeat"])["score"]
    finite = hits["score"][np.isfinite(hits["score"])]
    known = np.array([*first, finite.min()], dtype=np.float64)
    return np.unique(known[np.isfinite(known)])


def _rows(under: Floored, floors: Floats) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "floor": floors,
            "recall_all": _shares(under.n_recalled, under.n_positive),
            "leaks": under.leaks,
            "leak_rate": _shares(under.n_leaking, under.n_leakable),
            "abstention": _shares(under.n_abstained, under.n_negative),
            "n_positive": under.n_positive,
            "n_negative": under.n_negative,
            "n_leakable": under.n_leakable,
            "n_dropped": under.n_dropped,
            "best": _best(under),
        }
    )


def _shares(counts: Ints, n: int) -> Floats:
    return counts / n if n else np.full(len(counts), np.nan)


def _best(under: Floored) -> Bools:
    """Mark the largest Youden's J, in whole numbers so that equals are equal."""
    best = np.zeros(len(under.n_recalled), dtype=np.bool_)
    if under.n_positive and under.n_negative:
        gain = under.n_recalled * under.n_negative + under.n_abstained * under.n_positive
        # The first of equals is the laxest; a stricter one never has more recall at the same gain.
        best[np.argmax(gain)] = True
    return best


def best_floor(curve: pd.DataFrame) -> float:
    """Floor that separates positive from negative probes best.

    Parameters
    ----------
    curve : pandas.DataFrame
        From `threshold_curve`.

    Returns
    -------
    float
        On the store's own scale: hits that score worse would be dropped.

    Raises
    ------
    FrameError
        If `curve` is no threshold curve, or has no best floor; the message says why.

    Examples
    --------
    >>> best_floor(pd.DataFrame({"floor": [0.4, 0.9], "best": [False, True]}))
    0.9
    """
    frame = conform(curve, THRESHOLD_CURVE)
    best = frame.loc[frame["best"], "floor"]
    if len(best):
        return float(best.iloc[0])
    if frame.empty:
        why = curve.attrs.get("reason", "the curve has no rows")
    else:
        n_positive, n_negative = frame.loc[0, ["n_positive", "n_negative"]]
        why = f"a best floor needs both kinds: {n_positive} positive, {n_negative} negative probes"
    raise FrameError(f"no best floor: {why}; take a run of a suite and a store that have both")
