# ruff: noqa: D101, D102 - what each does is said in its `fault`
"""Saboteurs that ask the store otherwise than they were asked, or take their time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from memeval.record import Hit, Record
from memeval.stores.bound import View
from memeval.stores.saboteurs.base import Saboteur

WHATEVER_K = 50
WORDS_READ = 3
SLOW_S = 0.02
SCAN_S = 1e-5  # for each record written: 300 records take 3 ms


class KIgnoring(Saboteur):
    name = "k_ignoring"
    fault = f"up to {WHATEVER_K} hits come back, whatever k is"
    caught_by = "contract length"
    tag = "overflow"
    touches = "search"

    def answer(self, view: View) -> list[Hit]:
        return super().answer(replace(view, k=max(WHATEVER_K, 2 * view.k)))


class QueryCut(Saboteur):
    name = f"query_cut_{WORDS_READ}_words"
    fault = f"only the first {WORDS_READ} words of a query are read"
    caught_by = "ratchet"
    tag = "direct"
    touches = "search"

    def answer(self, view: View) -> list[Hit]:
        return super().answer(replace(view, query=" ".join(view.query.split()[:WORDS_READ])))


class Slow(Saboteur):
    name = "slow_20ms"
    fault = f"every search takes {1000 * SLOW_S:g} ms longer"
    caught_by = "latency"
    tag = "direct"
    touches = "search"
    sleep: Callable[[float], object] = staticmethod(time.sleep)

    def answer(self, view: View) -> list[Hit]:
        self.sleep(SLOW_S)
        return super().answer(view)


class LinearScan(Saboteur):
    name = "linear_scan"
    fault = "a search reads every record that was ever written"
    caught_by = "latency, its shape"
    tag = "direct"
    touches = "write"
    sleep: Callable[[float], object] = staticmethod(time.sleep)

    def begin(self) -> None:
        super().begin()
        self._n_written = 0

    def written(self, record: Record) -> Iterable[Record]:
        self._n_written += 1
        return (record,)

    def answer(self, view: View) -> list[Hit]:
        self.sleep(SCAN_S * self._n_written)
        return super().answer(view)
