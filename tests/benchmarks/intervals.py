"""Intervals of five metrics: the exact law against 10,000 resamples of `scipy.stats.bootstrap`.

scipy takes the five metrics as one array, in batches of about a million numbers, and gives plain
percentiles, its fastest kind. memeval gives BCa ends, which cost it a little more, a metric at a
time, and finds the distinct values anew each time. 100,000 probes take scipy most of a minute: it
has one turn there, and only without ``--quick``, which takes 20,000 probes instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from memeval.stats.bootstrap import bca_mean, bca_ratio

from .timing import Figure, medians

RESAMPLES = 10_000
MISSED = 0.1


def figures(quick: bool) -> Iterator[Figure]:
    """Speed against scipy at three sizes, and the milliseconds of memeval alone."""
    for n, goal in ((34, 1.0), (1_000, 10.0)):
        rows = _metrics(n)
        spent = medians({"ours": _ours(rows), "scipy": _scipy(rows)}, 3 if quick else 7)
        yield _against_scipy(n, spent["ours"], spent["scipy"], goal)
    n, goal = (20_000, 100.0) if quick else (100_000, 500.0)
    rows = _metrics(n)
    ours = medians({"ours": _ours(rows)}, 7)["ours"]
    yield _against_scipy(n, ours, _once(_scipy(rows)), goal)
    yield from _alone((100_000,) if quick else (100_000, 1_000_000))


def _alone(sizes: tuple[int, ...]) -> Iterator[Figure]:
    for n in sizes:
        rows = _metrics(n)
        spent = medians({"five": _ours(rows), "pooled": _ratio(n)}, 7)
        bound = 30.0 if n <= 100_000 else 100.0
        for name, words in (("five", "five BCa intervals"), ("pooled", "a pooled share")):
            ms = spent[name] * 1000.0
            yield Figure(f"{words}, {n:,} probes", ms, bound, f"{bound:g} ms", 1, False, "ms")


def _against_scipy(n: int, ours: float, other: float, goal: float) -> Figure:
    return Figure(f"five intervals, {n:,} probes", ours, other, "scipy bootstrap, percentile", goal)


def _metrics(n: int) -> NDArray[np.float64]:
    """Recall fraction, reciprocal rank, nDCG, precision and distinct of n probes at k = 5."""
    rng = np.random.default_rng(n)
    rank = rng.choice([1, 2, 3, 4, 5], n, p=[0.65, 0.15, 0.1, 0.05, 0.05])
    found = rng.random(n) > MISSED
    expected = rng.integers(1, 4, n)
    met = found * rng.integers(1, expected + 1)
    gain = found / np.log2(rank + 1)
    returned = rng.integers(1, 6, n)
    units = rng.integers((returned + 1) // 2, returned + 1)
    return np.array([met / expected, found / rank, gain, met / 5, units / returned])


def _ours(rows: NDArray[np.float64]) -> Callable[[], object]:
    return lambda: [bca_mean(row) for row in rows]


def _ratio(n: int) -> Callable[[], object]:
    rng = np.random.default_rng(n)
    hits = rng.integers(1, 6, n)
    stale = rng.binomial(hits, 0.05)
    return lambda: bca_ratio(stale, hits)


def _scipy(rows: NDArray[np.float64]) -> Callable[[], object]:
    from scipy.stats import bootstrap

    batch = max(1, 1_000_000 // rows.size)
    return lambda: bootstrap(
        (rows,), np.mean, axis=1, vectorized=True, n_resamples=RESAMPLES, batch=batch,
        method="percentile", rng=np.random.default_rng(1),
    )  # fmt: skip


def _once(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started
