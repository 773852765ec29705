"""Tables in, tables out: `score` on long frames against pytrec_eval on its own dicts.

Ids and names are string objects of their own in each table, as after reading files, and memeval
never hashes a hit's id, so a cached hash would not help it. pytrec_eval is given dicts that are
ready, whose ids are hashed already: that favours it. It has no counterpart to leaks, staleness,
units and tokens, which memeval works out as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from memeval.frames import HITS, RESULTS, conform
from memeval.metrics import score
from memeval.neardup import near_duplicate_key
from memeval.summary import summarize
from memeval.words import count_tokens

from .timing import Figure, medians

K = 10
MEASURES = {f"recall.{K}", f"P.{K}", f"ndcg_cut.{K}", f"success.{K}", "recip_rank"}
COLUMNS = [f"recall_{K}", f"P_{K}", f"ndcg_cut_{K}", f"success_{K}", "recip_rank"]
_FLOOR = "units and tokens of each text alone"
WORDS = [f"word{i}" for i in range(5000)]


def figures(quick: bool) -> Iterator[Figure]:
    """Long frames, small suites, frames with texts, `conform` and `summarize`."""
    n, rounds = (10_000, 7) if quick else (100_000, 5)
    suite = Drawn(n)
    hits, qrels, calls = suite.tables()
    trec = suite.trec()
    mixed = hits.sample(frac=1, random_state=1)
    kept = conform(hits, HITS)
    took = medians(
        {
            "bare": lambda: score(hits, qrels, calls),
            "kept": lambda: score(kept, qrels, calls),
            "mixed": lambda: score(mixed, qrels, calls),
            "trec": trec,
        },
        rounds,
    )
    yield Figure(f"score, {n} probes, k={K}", took["bare"], took["trec"], "pytrec_eval", 3)
    yield Figure("the same, all columns of HITS", took["kept"], took["trec"], "pytrec_eval", 2)
    yield Figure("the same, rows in any order", took["mixed"], took["trec"], "pytrec_eval", 0.3)
    # A tenth of the probes: the time is that of the texts, which are looked at one by one.
    yield from _with_texts(Drawn(n // 10).tables(texts=True), 1 if quick else 3)
    yield from _conform_and_summarize(kept, score(hits, qrels, calls), rounds)
    yield from _small()


def _with_texts(tables: tuple[pd.DataFrame, ...], rounds: int) -> Iterator[Figure]:
    took = medians({"ours": lambda: score(*tables), "floor": _floor(tables[0])}, rounds)
    subject = f"score, {len(tables[2])} probes, texts, canaries"
    yield Figure(subject, took["ours"], took["floor"], _FLOOR, 1.5, at_least=False)


def _floor(hits: pd.DataFrame) -> Callable[[], None]:
    texts = hits["text"].tolist()

    def look_at_each() -> None:
        for each in texts:
            near_duplicate_key(each)
            count_tokens(each)

    return look_at_each


def _conform_and_summarize(
    hits: pd.DataFrame, results: pd.DataFrame, rounds: int
) -> Iterator[Figure]:
    took = medians(
        {
            "hits": lambda: conform(hits, HITS),
            "copy": lambda: hits.copy(),
            "results": lambda: conform(results, RESULTS),
            "summary": lambda: summarize(results),
            "means": lambda: results.mean(numeric_only=True),
        },
        rounds,
    )
    subject = f"conform, {len(hits)} hits already right"
    yield Figure(subject, took["hits"], took["copy"], "a deep copy", 0.1, at_least=False)
    subject = f"conform, {len(results)} results already right"
    yield Figure(subject, took["results"], took["copy"], "a deep copy of the hits", 0.1, False)
    subject = f"summarize, {len(results)} results"
    yield Figure(subject, took["summary"], took["means"], "results.mean()", 50, at_least=False)


def _small() -> Iterator[Figure]:
    suite = Drawn(34, k=5)
    hits, qrels, calls = suite.tables(texts=True)
    bare = hits.drop(columns=["text", "canary"])
    frame = suite.trec()
    took = medians(
        {
            "texts": lambda: score(hits, qrels, calls),
            "bare": lambda: score(bare, qrels, calls),
            "floor": _floor(hits),
            "trec": lambda: pd.DataFrame(frame()[0], columns=COLUMNS),
        },
        25,
    )
    against = "pytrec_eval -> DataFrame"
    yield Figure("score, 34 probes, k=5", took["bare"], took["trec"], against, 10, at_least=False)
    subject = "score, 34 probes, k=5, texts"
    yield Figure(subject, took["texts"], took["trec"], against, 20, at_least=False)
    yield Figure(subject, took["texts"], 0.008, "the target of 8 ms", 1, at_least=False)
    yield Figure(subject, took["texts"], took["floor"], _FLOOR, 1.5, at_least=False)


class Drawn:
    """Answers of `k` hits and 1 to 3 expected records a probe, of which 70 % are found."""

    def __init__(self, n: int, k: int = K) -> None:
        rng = random.Random(n)
        self.k = k
        self.names = [f"probe-{i:07d}" for i in range(n)]
        self.answers = [_ids(rng, k) for _ in self.names]
        self.wanted = [
            [record if rng.random() < 0.7 else _ids(rng, 1)[0] + "m" for record in some]
            for some in (rng.sample(answer, rng.randint(1, 3)) for answer in self.answers)
        ]

    def tables(self, *, texts: bool = False) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Hits, labels and calls; each string is an object of its own, names of a probe one."""
        n, k = len(self.names), self.k
        names = np.array(_fresh(self.names), dtype=object)
        hits = pd.DataFrame(
            {
                "probe": pd.Series(names.repeat(k), dtype="str"),
                "rank": np.tile(np.arange(1, k + 1), n),
                "record_id": _texts(record for answer in self.answers for record in answer),
            }
        )
        if texts:
            rng = random.Random(7)
            hits["text"] = _texts(" ".join(rng.choices(WORDS, k=12)) for _ in range(n * k))
            hits["canary"] = _texts("zq7" if rng.random() < 0.01 else None for _ in range(n * k))
        names = np.array(_fresh(self.names), dtype=object)
        qrels = pd.DataFrame(
            {
                "probe": pd.Series(names.repeat([len(ids) for ids in self.wanted]), dtype="str"),
                "record_id": _texts(record for ids in self.wanted for record in ids),
            }
        ).assign(label="expected")
        return hits, qrels, pd.DataFrame({"probe": _texts(self.names), "k": k})

    def trec(self) -> Callable[[], Any]:
        """Evaluation by pytrec_eval, from ready dicts to an array and its means."""
        import pytrec_eval

        labels = [dict.fromkeys(ids, 1) for ids in self.wanted]
        ranked = [{id_: float(-at) for at, id_ in enumerate(answer)} for answer in self.answers]
        qrels, run = (dict(zip(self.names, each, strict=True)) for each in (labels, ranked))
        keys = [name.replace(str(K), str(self.k)) for name in COLUMNS]
        measures = {name.replace(str(K), str(self.k)) for name in MEASURES}

        def evaluate() -> tuple[Any, Any]:
            judged = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
            table = np.array([[row[key] for key in keys] for row in judged.values()])
            return table, table.mean(axis=0)

        return evaluate


def _ids(rng: random.Random, n: int) -> list[str]:
    return [f"r{number:07d}" for number in rng.sample(range(10**7), n)]


def _fresh(texts: Any) -> list[Any]:
    return [text if text is None else text[:1] + text[1:] for text in texts]


def _texts(texts: Any) -> pd.Series:
    return pd.Series(_fresh(texts), dtype="str")
