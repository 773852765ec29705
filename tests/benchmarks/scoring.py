"""Scoring rankings in Python lists, against pytrec_eval, ranx and one hash of every id.

Every round gets string objects that nobody has hashed, since a hash once taken is kept in the
string and would spare the peers, who put ids in dicts, most of their work. To be fair the other
way round as well, nothing but the ids is built before the clock starts: a peer's dicts are part of
its time, as our ranks are of ours. 10 returned, 1 to 3 expected, 7 in 10 of them found, ids of 8
characters.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import chain

import pandas as pd

from memeval.curves import recall_curve
from memeval.rankings import rank_expected, score_rankings
from memeval.ranks import Ranks

from .timing import Figure, medians

K = 10
FIVE = ["recall_fraction", "rr", "ndcg", "precision", "recall_any"]
MEASURES = {f"recall.{K}", "recip_rank", f"ndcg_cut.{K}", f"P.{K}", f"success.{K}"}
RANX = [f"recall@{K}", "mrr", f"ndcg@{K}", f"precision@{K}", f"hit_rate@{K}"]
Lists = list[list[str]]
Inputs = tuple[Lists, Lists]


def figures(quick: bool) -> Iterator[Figure]:
    """Ratios of scoring."""
    n = 20_000 if quick else 100_000
    rounds = 3 if quick else 7
    yield from _against_trec_eval(n, rounds)
    yield from _against_ranx(n // 5 if quick else n, 1 if quick else 3)
    yield from _memory(n)
    yield from _again(n, rounds)
    if not quick:
        yield from _at_a_million()


def _against_trec_eval(n: int, rounds: int) -> Iterator[Figure]:
    taken = _fresh_medians(
        {"five": _five, "all": _every, "trec_eval": _trec_eval, "hash": _hashed}, n, rounds
    )
    trec, said = taken["trec_eval"], f"{n:,} lists"
    yield Figure(f"5 columns, {said}", taken["five"], trec, "pytrec_eval to a frame", 12)
    yield Figure(
        f"5 columns, {said}", taken["five"], taken["hash"], "a hash of each id", 1.1, False
    )
    yield Figure(f"all columns, {said}", taken["all"], trec, "pytrec_eval to a frame", 10)


def _against_ranx(n: int, rounds: int) -> Iterator[Figure]:
    taken = _fresh_medians({"five": _five, "dicts": _ranx_dicts, "objects": _ranx}, n, rounds)
    said = f"5 columns, {n:,} lists"
    yield Figure(said, taken["five"], taken["dicts"], "ranx from dicts", 20)
    yield Figure(said, taken["five"], taken["objects"], "ranx, Qrels and Run", 100)


def _at_a_million() -> Iterator[Figure]:
    taken = _fresh_medians({"five": _five, "trec_eval": _trec_eval}, 1_000_000, 1)
    yield Figure(
        "5 columns, 1,000,000 lists",
        taken["five"],
        taken["trec_eval"],
        "pytrec_eval to a frame",
        15,
    )


def _memory(n: int) -> Iterator[Figure]:
    """Peak above the inputs, of all that Python and numpy allocate."""
    tracemalloc.start()
    rankings, expected = _inputs(n)
    inputs, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    _five(rankings, expected)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    mib = 2.0**20
    yield Figure(
        f"peak memory, {n:,} lists", (peak - inputs) / mib, inputs / mib, "the inputs", 0.1, False,
        "MiB",
    )  # fmt: skip


def _again(n: int, rounds: int) -> Iterator[Figure]:
    """Nanoseconds a probe of another cutoff; the goal is a number, so it is held against 1."""
    rankings, expected = _inputs(n)
    scores = [[1.0 - place / K for place in range(K)]] * n
    ranks = rank_expected(rankings, expected, scores=scores)
    ranks.score(K)
    cuts: Mapping[str, Callable[[], object]] = {
        "k": lambda: ranks.score(5, columns=FIVE),
        "floor": lambda: ranks.score(K, columns=FIVE, floor=0.35),
        "deep": lambda: _deep(ranks),
    }
    taken = {name: spent / n * 1e9 for name, spent in medians(cuts, max(rounds, 7)).items()}
    said = f"{n:,} ranks again, 5 columns"
    yield Figure(f"{said}, other k", taken["k"], 1, "1 ns a probe", 50, False, "ns")
    yield Figure(f"{said}, a floor", taken["floor"], 1, "1 ns a probe", 50, False, "ns")
    yield from _curve(n // 20)


def _deep(ranks: Ranks) -> pd.DataFrame:
    return ranks.score(3, columns=["recall_fraction", "ndcg"])


def _curve(n: int) -> Iterator[Figure]:
    """A curve over 10 cutoffs, against the scoring of one of them."""
    from memeval.metrics import score

    rankings, expected = _inputs(n)
    hits = pd.DataFrame(
        [(str(at), rank, i) for at, ids in enumerate(rankings) for rank, i in enumerate(ids, 1)],
        columns=["probe", "rank", "record_id"],
    )
    qrels = pd.DataFrame(
        [(str(at), i, "expected") for at, ids in enumerate(expected) for i in ids],
        columns=["probe", "record_id", "label"],
    )
    calls = pd.DataFrame({"probe": [str(at) for at in range(n)], "k": K})
    contestants: Mapping[str, Callable[[], object]] = {
        "curve": lambda: recall_curve(hits, qrels, calls),
        "score": lambda: score(hits, qrels, calls),
    }
    taken = medians(contestants, 3)
    yield Figure(
        f"curve of {K} cutoffs, {n:,} probes", taken["curve"], taken["score"], "one score", 2, False
    )


def _five(rankings: Lists, expected: Lists) -> pd.DataFrame:
    return score_rankings(rankings, expected, k=K, columns=FIVE)


def _every(rankings: Lists, expected: Lists) -> pd.DataFrame:
    return score_rankings(rankings, expected, k=K)


def _hashed(rankings: Lists, expected: Lists) -> None:
    deque(map(hash, chain(chain.from_iterable(rankings), chain.from_iterable(expected))), maxlen=0)


def _trec_eval(rankings: Lists, expected: Lists) -> pd.DataFrame:
    from pytrec_eval import RelevanceEvaluator

    qrels, run = _dicts(rankings, expected)
    return pd.DataFrame.from_dict(RelevanceEvaluator(qrels, MEASURES).evaluate(run), orient="index")


def _ranx_dicts(rankings: Lists, expected: Lists) -> object:
    from ranx import evaluate

    return evaluate(*_dicts(rankings, expected), RANX)


def _ranx(rankings: Lists, expected: Lists) -> object:
    from ranx import Qrels, Run, evaluate

    qrels, run = _dicts(rankings, expected)
    return evaluate(Qrels(qrels), Run(run), RANX)


def _dicts(
    rankings: Lists, expected: Lists
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    falling = [float(K - place) for place in range(K)]
    qrels = {str(at): dict.fromkeys(ids, 1) for at, ids in enumerate(expected)}
    run = {str(at): dict(zip(ids, falling, strict=True)) for at, ids in enumerate(rankings)}
    return qrels, run


def _fresh_medians(
    contestants: Mapping[str, Callable[[Lists, Lists], object]], n: int, rounds: int
) -> dict[str, float]:
    """As `timing.medians`, with new ids for every turn, made while the clock stands."""
    small = _inputs(100)
    for call in contestants.values():
        call(*small)
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(rounds):
        for name, call in contestants.items():
            inputs = _inputs(n, turn)
            gc.collect()
            started = time.process_time()
            call(*inputs)
            taken[name].append(time.process_time() - started)
    return {name: statistics.median(times) for name, times in taken.items()}


def _inputs(n: int, seed: int = 0) -> Inputs:
    """Rankings and expected ids; each id a string object of its own."""
    rng = random.Random(seed)
    rankings, expected = [], []
    for _ in range(n):
        pool = rng.sample(range(16**8), K + 3)
        returned = pool[:K]
        hit = rng.sample(returned, 3)
        ids = [hit[i] if rng.random() < 0.7 else pool[K + i] for i in range(rng.randint(1, 3))]
        rankings.append([f"{number:08x}" for number in returned])
        expected.append([f"{number:08x}" for number in ids])
    return rankings, expected
