"""How long a comparison of 10,000 probes takes, from tables or files to the verdict in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from memeval.comparison import compare
from memeval.files.resultsfile import write_results
from memeval.frames import CALLS, HITS, QRELS, conform
from memeval.probe import Probe
from memeval.record import Record
from memeval.report.comparison_text import comparison_text
from memeval.runs import Manifest, Run
from memeval.suite import Suite

from .timing import Figure, medians

PROBES, QUICK_PROBES, K = 10_000, 1_000, 5


def figures(quick: bool) -> Iterator[Figure]:
    """Runs that were never scored nor hashed, and results files; a tenth of the answers differ."""
    n, rounds = (QUICK_PROBES, 3) if quick else (PROBES, 5)
    pairs = [(run_of(n, 1), run_of(n, 2)) for _ in range(rounds + 1)]
    with TemporaryDirectory() as folder:
        files = [write_results(run, Path(folder, f"{at}.json")) for at, run in enumerate(pairs[0])]
        fresh = iter(pairs[1:] + [(run_of(n, 1), run_of(n, 2))])
        spent = medians(
            {
                "runs": lambda: comparison_text(compare(*next(fresh)), 40),
                "files": lambda: comparison_text(compare(*files), 40),
            },
            rounds,
        )
    for kind, words in (("runs", "two runs"), ("files", "two results files")):
        subject = f"compare {words} of {n:,} probes"
        yield Figure(subject, spent[kind], 3.0, "3 s", 1, at_least=False)


def names_of(n: int) -> list[str]:
    """Names of the probes."""
    return [f"probe-{at:05}" for at in range(n)]


def run_of(n: int, seed: int) -> Run:
    """A run with one repeat; the expected record is at any rank, or nowhere."""
    names = names_of(n)
    given = [Record("r0", "what is asked for"), Record("r1", "something else")]
    suite = Suite(tuple(Probe(name, f"question {name}", given, ["r0"]) for name in names))
    calls = pd.DataFrame({"probe": names, "repeat": 0, "k": K, "status": "ok"})
    rng = np.random.default_rng(seed)
    calls["latency_ms"] = rng.lognormal(1.0, 0.3, n)
    qrels = pd.DataFrame({"probe": names, "record_id": "r0", "label": "expected", "group": 0})
    manifest = Manifest(
        1, 1, "0", "s", "none", n, K, 0, 1, "Store", matcher="id", normaliser_version=1
    )
    return Run(hits_of(n, seed), conform(calls, CALLS), conform(qrels, QRELS), manifest, suite)


def hits_of(n: int, seed: int) -> pd.DataFrame:
    """Hits of each probe; in one of ten the order hangs on the seed."""
    rank = np.random.default_rng(0).integers(0, K + 2, n)
    moved = np.random.default_rng(seed)
    rank = np.where(moved.random(n) < 0.1, moved.integers(0, K + 2, n), rank)
    places = np.tile(np.arange(1, K + 1), n)
    gold = places == np.repeat(rank, K)
    ids = np.where(gold, "r0", np.char.add("x", places.astype("str")))
    made = {"probe": np.repeat(names_of(n), K), "repeat": 0, "rank": places, "record_id": ids}
    return conform(pd.DataFrame(made), HITS)
