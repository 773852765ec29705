"""The definitions: from hits, labels and calls to one row of results per probe.

What each number is, to the formula, and where it differs from trec_eval and ranx, stands in
`score`. The arithmetic is in `memeval.measures`; means over the suite are in `memeval.summary`;
rankings in plain lists are scored by `memeval.rankings.score_rankings`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from memeval import measures, text
from memeval.errors import FrameError
from memeval.frames import CALLS, HITS, RESULTS, conform
from memeval.judging import Judged, judge
from memeval.laws import chance_hit_all
from memeval.measures import Answers, Bools, Floats, Ints, count

__all__ = ["score"]


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
    calls = _calls(calls)
    judged = judge(qrels, pd.Index(calls["probe"].drop_duplicates()))
    hits = _hits(hits, calls, judged)
    answers = _answers(hits, judged, calls)
    top = hits[hits["in_top"].to_numpy(np.bool_)]
    strange = count(_answer(hits[hits["record_id"].isna()]), len(calls))
    stale = np.isin(top["pair"], judged.stale)
    scored = measures.columns(answers) | {
        "probe": calls["probe"],
        "status": calls["status"],
        "n_stale": count(_answer(top)[stale], len(calls)),
        "n_unknown": strange * answers.asked,
        "distinct": _distinct(top, len(calls)),
        "chance": _chance(calls, judged),
        "context_tokens": _tokens(top, answers, count_tokens),
        "latency_ms": calls["latency_ms"].where(answers.asked),
    }
    return conform(_by_probe(pd.DataFrame(scored), answers, calls), RESULTS)


def _calls(frame: pd.DataFrame) -> pd.DataFrame:
    """Check calls and put the repeats of a probe together; ``at`` numbers the probes."""
    calls = conform(frame, CALLS)
    calls = calls.assign(at=pd.factorize(calls["probe"])[0], status=calls["status"].fillna("ok"))
    twice = calls.duplicated(["probe", "repeat"])
    for wrong, found, todo in (
        (calls["at"] < 0, "a row without probe", "name the probe in every row"),
        (calls["k"] < 1, "a k below 1", "use a whole number from 1"),
        (twice, "the same repeat twice", "number the calls of a probe from 0 in column repeat"),
    ):
        if wrong.any():
            row = calls[wrong].iloc[0]
            raise FrameError(
                f"calls: probe {row['probe']!r}: found {found} (repeat {row['repeat']}, k "
                f"{row['k']}), wanted one row per probe and repeat with its cutoff; {todo}"
            )
    return calls.sort_values(["at", "repeat"]).reset_index(drop=True)


def _hits(frame: pd.DataFrame, calls: pd.DataFrame, judged: Judged) -> pd.DataFrame:
    """Check hits and sort them by call and rank, with what is asked of each.

    ``call`` is its row in `calls`, ``pair`` its probe and record as `judged` numbers them.
    """
    hits = conform(frame, HITS)
    call = _call_of(hits, calls)
    order = np.lexsort((hits["rank"], call))
    hits, call = hits.iloc[order], call[order]
    rank = hits["rank"].to_numpy(np.int64)
    again = (np.diff(call, prepend=-1) == 0) & (np.diff(rank, prepend=0) == 0)
    for wrong, found, todo in (
        (call < 0, "a call that is not in calls", "add its row to calls, or drop its hits"),
        (rank < 1, "a rank below 1", "count ranks from 1"),
        (again, "a rank given twice", "number the hits as returned"),
    ):
        if wrong.any():
            row = hits.iloc[int(np.argmax(wrong))]
            raise FrameError(
                f"hits: probe {row['probe']!r}: found {found} (repeat {row['repeat']}, rank "
                f"{row['rank']}), wanted each place of an answer to a known call once; {todo}"
            )
    ok = (calls["status"] == "ok").to_numpy(np.bool_)
    in_top = ok[call] & (rank <= calls["k"].to_numpy(np.int64)[call])
    pair = judged.pairs(calls["at"].to_numpy(np.int64)[call], hits["record_id"])
    return hits.assign(call=call, pair=pair, in_top=in_top)


def _call_of(hits: pd.DataFrame, calls: pd.DataFrame) -> Ints:
    """Row in `calls` of the call that each hit answers, -1 for none."""
    probes, repeats = pd.Index(calls["probe"].unique()), pd.Index(calls["repeat"].unique())
    known = pd.Index(calls["at"] * len(repeats) + repeats.get_indexer(pd.Index(calls["repeat"])))
    at, repeat = probes.get_indexer(pd.Index(hits["probe"])), repeats.get_indexer(hits["repeat"])
    asked = np.where((at < 0) | (repeat < 0), -1, at * len(repeats) + repeat)
    return np.asarray(known.get_indexer(pd.Index(asked)), dtype=np.int64)


def _answers(hits: pd.DataFrame, judged: Judged, calls: pd.DataFrame) -> Answers:
    n, pair, call = len(calls), hits["pair"].to_numpy(np.int64), _answer(hits)
    place, group = judged.groups_of(np.where(hits["in_top"], pair, -1))
    # Hits stand in order of rank: the first of a group, or of a record, is its best.
    best = place[np.unique(call[place] * (len(judged.group) + 1) + group, return_index=True)[1]]
    n_met, first_rank, dcg = measures.gains(call[best], hits["rank"].to_numpy(np.int64)[best], n)
    relevant = np.unique(np.stack([call[place], pair[place]]), axis=1)[0]
    asked = (calls["status"] != "not_supported").to_numpy(np.bool_)
    breaches = [len(codes.split()) for codes in calls["breaches"].fillna("")]
    leaking = np.isin(pair, judged.forbidden) | _given(hits["canary"])
    return Answers(
        k=calls["k"].to_numpy(np.int64),
        asked=asked,
        ok=(calls["status"] == "ok").to_numpy(np.bool_),
        n_expected=judged.n_expected[calls["at"].to_numpy(np.int64)],
        n_met=n_met,
        n_relevant=count(relevant, n),
        first_rank=first_rank,
        dcg=dcg,
        n_returned=count(call, n) * asked,
        n_leaked=_records(hits[leaking], n) * asked,
        n_contract=np.array(breaches, dtype=np.int64) * asked,
    )


def _answer(rows: pd.DataFrame) -> Ints:
    return rows["call"].to_numpy(np.int64)


def _given(values: pd.Series) -> Bools:
    return (values.notna() & (values != "")).to_numpy(np.bool_)


def _records(rows: pd.DataFrame, n: int) -> Ints:
    """Distinct records per call; strangers are told apart by store id, else by place."""
    known = rows[rows["record_id"].notna()].drop_duplicates(["call", "record_id"])
    strange = rows[rows["record_id"].isna()]
    again = strange.duplicated(["call", "store_id"]) & strange["store_id"].notna()
    return count(_answer(known), n) + count(_answer(strange[~again]), n)


def _distinct(top: pd.DataFrame, n: int) -> Floats:
    """Share of distinct information units in the top k of each call; NaN when undefined."""
    labelled, worded = _given(top["unit"]), _given(top["text"])
    unread = top["text"].isna().to_numpy(np.bool_) & ~labelled
    record, stored = _codes(top["record_id"]), _codes(top["store_id"])
    texts = _text_codes(top["text"].where(worded & ~labelled))
    kinds = [labelled, worded, record >= 0, stored >= 0]
    codes = [_codes(top["unit"]), texts, record, stored]
    call, kind = _answer(top), np.select(kinds, [np.array(i) for i in range(4)], np.array(4))
    units = np.stack([call, kind, np.select(kinds, codes, top["rank"].to_numpy(np.int64))])
    n_top, n_units = count(call, n), count(np.unique(units, axis=1)[0], n)
    defined = (n_top > 0) & (count(call[unread], n) == 0)
    return np.where(defined, n_units / np.maximum(n_top, 1), np.nan)


def _codes(values: pd.Series) -> Ints:
    return pd.factorize(values)[0].astype(np.int64)


def _text_codes(texts: pd.Series) -> Ints:
    """Give each text a number that its near-duplicates share; -1 for a text that is NA."""
    code, words = pd.factorize(texts)
    seen: dict[tuple[object, ...], int] = {}
    unit = [seen.setdefault(text.near_duplicate_key(word), len(seen)) for word in words]
    return np.array([*unit, -1], dtype=np.int64)[code]


def _tokens(top: pd.DataFrame, answers: Answers, count_tokens: Callable[[str], int]) -> Floats:
    """Tokens in the top k of each call; NaN where a text is missing or the search failed."""
    n, call, worded = len(answers.k), _answer(top), _given(top["text"])
    code, words = pd.factorize(top["text"])
    tokens = np.array([*map(count_tokens, words), 0], dtype=np.float64)[code]
    unread = count(call[~worded], n)
    total = np.bincount(call, weights=tokens, minlength=n)
    return np.where(answers.ok & (unread == 0), total, np.nan)


def _chance(calls: pd.DataFrame, judged: Judged) -> Floats:
    """Closed-form chance of each call, worked out once per pool, groups and cutoff."""
    known: dict[tuple[int, tuple[int, ...], int], float] = {}
    chance = np.full(len(calls), np.nan)
    told = (calls["status"] != "not_supported") & calls["n_eligible"].notna()
    rows = calls.loc[told, ["at", "n_eligible", "k"]].to_numpy(np.int64).tolist()
    for call, (at, pool, k) in zip(np.flatnonzero(told), rows, strict=True):
        sizes = judged.group_sizes[at]
        if not sizes or pool < sum(sizes):
            continue
        if (pool, sizes, k) not in known:
            known[pool, sizes, k] = chance_hit_all(pool, sizes, k)
        chance[call] = known[pool, sizes, k]
    return chance


def _by_probe(scored: pd.DataFrame, answers: Answers, calls: pd.DataFrame) -> pd.DataFrame:
    """Row of the first repeat of each probe, with the worst leaks and checks of all repeats."""
    first = np.flatnonzero(np.diff(calls["at"], prepend=-1))
    asked = answers.asked[first]
    every = np.logical_and.reduceat(answers.passed, first)
    some = np.logical_or.reduceat(answers.passed, first)
    return scored.iloc[first].assign(
        n_leaked=np.maximum.reduceat(answers.n_leaked, first) * asked,
        n_contract=np.maximum.reduceat(answers.n_contract, first) * asked,
        flaky=(every != some) & asked,
        passed=pd.arrays.BooleanArray(every, ~asked),
    )
