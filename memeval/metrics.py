"""The definitions: from hits, labels and calls to one row of results per probe.

What each number is, to the formula, and where it differs from trec_eval and ranx, stands in
`score`. The arithmetic is in `memeval.scoring.measures`; means over the suite are in
`memeval.summary`; rankings in plain lists are scored by `memeval.rankings.score_rankings`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from memeval import text
from memeval.errors import FrameError
from memeval.frames import RESULTS, STATUSES, names
from memeval.scoring import measures
from memeval.scoring.contents import carrying_canary, distinct_and_tokens, n_records
from memeval.scoring.judging import Judged, judge
from memeval.scoring.measures import Answers, Floats, Ints, count
from memeval.scoring.ordered import Calls, Hits, order_calls, order_hits
from memeval.scoring.seeking import Found, gains, n_relevant, n_stale, seek
from memeval.stats.laws import chance_hit_all
from memeval.textcolumns import objects

__all__ = ["score"]

_STATUS = pd.CategoricalDtype(list(STATUSES))


def score(
    hits: pd.DataFrame,
    qrels: pd.DataFrame,
    calls: pd.DataFrame,
    *,
    count_tokens: Callable[[str], int] = text.count_tokens,
) -> pd.DataFrame:
    """Score every probe that was asked.

    Parameters
    ----------
    hits : pandas.DataFrame
        A row per returned hit; ``probe``, ``rank`` and ``record_id`` are required. The rows may
        stand in any order.
    qrels : pandas.DataFrame
        A row per judged record and label; ``probe``, ``record_id`` and ``label`` are required.
        Expected rows without ``group`` are a group each.
    calls : pandas.DataFrame
        A row per probe and repeat; ``probe`` and ``k`` are required. It fixes every denominator:
        a probe without hits returned nothing. A missing ``status`` means ok.
    count_tokens : callable
        From a text to its number of tokens; counts words and punctuation marks unless given.

    Returns
    -------
    pandas.DataFrame
        A row per probe, in the order in which `calls` first names them. R is the whole answer of
        the first repeat, T its first k places (none where the status is not ok), E the expected
        groups, h the groups met in T.

        - ``probe`` : str, its name.
        - ``kind`` : category, positive when something is expected, else negative.
        - ``status`` : category, what became of the search.
        - ``k`` : int64, the cutoff.
        - ``n_expected`` : int64, groups in E.
        - ``n_returned`` : int64, hits in R.
        - ``n_leaked`` : int64, distinct records in R (not only T) that are forbidden or carry a
          canary; the worst of all repeats.
        - ``n_stale`` : int64, hits in T that are stale; a record that comes back twice counts
          twice, since it fills two places.
        - ``n_unknown`` : int64, hits in R that are no record.
        - ``n_contract`` : int64, broken contract checks; the worst of all repeats.
        - ``recall_all`` : boolean, h = n_expected.
        - ``recall_any`` : boolean, h > 0.
        - ``recall_fraction`` : float64, h / n_expected.
        - ``precision`` : float64, distinct expected records in T / k.
        - ``first_rank`` : Int64, best rank of a met group, NA when none.
        - ``rr`` : float64, 1 / first_rank, 0 when none.
        - ``ndcg`` : float64, DCG of the met groups / DCG of min(k, n_expected) in front.
        - ``distinct`` : float64, information units in T / hits in T, NA when T is empty.
        - ``abstained`` : boolean, the search was ok and R is empty.
        - ``chance`` : float64, `recall_all` of a random answer; NA without ``n_eligible``.
        - ``context_tokens`` : float64, tokens of the texts in T, 0 when T is empty; NA where
          a text is missing or the search failed.
        - ``latency_ms`` : float64, ms, of the scored search.
        - ``flaky`` : bool, the repeats do not agree on ``passed``.
        - ``passed`` : boolean, status ok, no leak, no broken check, and recall_all or abstained, in
          every repeat.

        Recall, precision, ranks and ndcg are NA on negatives, ``abstained`` on positives. A
        failed positive stays in the denominator with recall False and 0, a failed negative has
        not abstained. A probe with status not_supported is NA and its counts are 0.

    Raises
    ------
    FrameError
        If a column is missing or misfits; a probe stands in `hits` or `qrels` and not in `calls`,
        or twice in `calls` with one repeat; k or a rank is below 1; a rank is given twice; a record
        is expected in two groups, or both expected and forbidden or stale.

    Notes
    -----
    Several repeats: measures are of the first repeat, since repeats are not new queries.

    The order is the rank, whatever the scores say; trec_eval sorts by score (as float32) and
    breaks ties by id, ranx and others by theirs. Further differences:

    - ``recall_fraction`` is trec_eval's ``recall_k`` and ranx's ``recall@k``; ``recall_any`` is
      ``success_k`` and ``hit_rate@k``; ``recall_all`` has no counterpart there.
    - ``rr`` is cut at k, as ranx's ``mrr@k``; trec_eval's ``recip_rank`` is not.
    - ``precision`` is ``P_k``: over k, however few were returned.
    - ``ndcg`` is ``ndcg_cut_k`` with gain 1, each group counted once, at its best rank.
    - A record that comes back twice fills two places and is found once; trec_eval cannot be given
      such a ranking, and a dict keeps the last place instead of the first.
    - A negative probe is left out of recall, as in trec_eval; ranx counts it as 0. A failed or
      unanswered positive counts as 0; trec_eval leaves it out unless told ``-c``.

    Units of ``distinct``: the author's label where a hit has one, else the near-duplicate rule of
    `memeval.text` on its text, else (a store that returns ids only) its record. Where the text
    itself is NA, as in a run saved without texts, it is NA.

    A merged row of `qrels` adds the record that an expected one was merged into to its group. It
    says what the store did, so it may stand in a second group, or be forbidden or stale as well.

    Examples
    --------
    >>> hits = pd.DataFrame({"probe": "lunch", "rank": [1, 2], "record_id": ["r3", "r1"]})
    >>> qrels = pd.DataFrame({"probe": "lunch", "record_id": ["r1"], "label": "expected"})
    >>> calls = pd.DataFrame({"probe": ["lunch"], "k": 5})
    >>> score(hits, qrels, calls)[["probe", "recall_all", "rr", "precision", "passed"]]
       probe  recall_all   rr  precision  passed
    0  lunch        True  0.5        0.2    True
    """
    asked = order_calls(calls)
    judged = judge(qrels, asked.known)
    try:
        given = order_hits(hits, asked)
    except FrameError:
        judged.each_once()  # labels that contradict each other are told first
        raise
    found = seek(given, judged, asked)
    if found.has_twins:
        judged = judged.each_once()
        found = seek(given, judged, asked)
    answers = _answers(given, judged, asked, found)
    distinct, tokens = distinct_and_tokens(given, asked.ok, count_tokens)
    scored = measures.columns(answers) | {
        "probe": asked.columns["probe"],
        "status": pd.Categorical.from_codes(asked.status, dtype=_STATUS),
        "n_stale": n_stale(found, given, judged),
        "n_unknown": _n_unknown(given) * answers.asked,
        "distinct": distinct,
        "chance": _chance(asked, judged),
        "context_tokens": tokens,
        "latency_ms": np.where(answers.asked, _column(asked, "latency_ms"), np.nan),
    }
    return _by_probe(scored, answers, asked)


def _answers(hits: Hits, judged: Judged, calls: Calls, found: Found) -> Answers:
    n_met, first_rank, dcg = gains(found, hits, judged)
    return Answers(
        k=calls.k.copy(),
        asked=calls.asked,
        ok=calls.ok,
        n_expected=judged.n_expected[calls.at],
        n_met=n_met,
        n_relevant=n_relevant(found, hits, judged),
        first_rank=first_rank,
        dcg=dcg,
        n_returned=hits.n * calls.asked,
        n_leaked=_n_leaked(hits, judged, found) * calls.asked,
        n_contract=_n_breaches(calls) * calls.asked,
    )


def _n_leaked(hits: Hits, judged: Judged, found: Found) -> Ints:
    """Distinct leaking records in each whole answer."""
    forbidden = found.in_answer & judged.forbidden[found.label]
    marked = carrying_canary(hits)
    if not len(marked):
        return count(found.call[forbidden], len(hits.n))
    return n_records(hits, np.union1d(found.hit[forbidden], marked))


def _n_unknown(hits: Hits) -> Ints:
    if hits.are_known:
        return np.zeros(len(hits.n), dtype=np.int64)
    return count(hits.call[np.flatnonzero(hits.record != hits.record)], len(hits.n))


def _n_breaches(calls: Calls) -> Ints:
    if "breaches" not in calls.columns:
        return np.zeros(len(calls.at), dtype=np.int64)
    codes = objects(calls.columns["breaches"].fillna("")).tolist()
    return np.array([len(broken.split()) for broken in codes], dtype=np.int64)


def _column(calls: Calls, name: str) -> Floats:
    """Numbers of a column, NaN where they are NA or the column is missing."""
    if name not in calls.columns:
        return np.full(len(calls.at), np.nan)
    return calls.columns[name].to_numpy(np.float64, na_value=np.nan)


def _chance(calls: Calls, judged: Judged) -> Floats:
    """Closed-form chance of each call, worked out once per pool, groups and cutoff."""
    known: dict[tuple[int, tuple[int, ...], int], float] = {}
    chance, pools = np.full(len(calls.at), np.nan), _column(calls, "n_eligible")
    told = np.flatnonzero(calls.asked & ~np.isnan(pools))
    if not len(told):
        return chance
    group_sizes = judged.group_sizes()
    rows = ([int(value) for value in values[told]] for values in (calls.at, pools, calls.k))
    for call, at, pool, k in zip(told.tolist(), *rows, strict=True):
        sizes = group_sizes[at]
        if not sizes or pool < sum(sizes):
            continue
        if (pool, sizes, k) not in known:
            known[pool, sizes, k] = chance_hit_all(pool, sizes, k)
        chance[call] = known[pool, sizes, k]
    return chance


def _by_probe(scored: dict[str, Any], answers: Answers, calls: Calls) -> pd.DataFrame:
    """Row of the first repeat of each probe, with the worst leaks and checks of all repeats."""
    first, every = np.flatnonzero(np.diff(calls.at, prepend=-1)), answers.passed
    asked, some = answers.asked[first], every
    if not calls.are_single:
        every = np.logical_and.reduceat(answers.passed, first)
        some = np.logical_or.reduceat(answers.passed, first)
        scored["probe"] = scored["probe"].array
        scored = {name: values[first] for name, values in scored.items()} | {
            "n_leaked": np.maximum.reduceat(answers.n_leaked, first) * asked,
            "n_contract": np.maximum.reduceat(answers.n_contract, first) * asked,
        }
    scored["flaky"] = (every != some) & asked
    scored["passed"] = pd.arrays.BooleanArray(every, ~asked)
    return pd.DataFrame({name: scored[name] for name in names(RESULTS)}, copy=False)
