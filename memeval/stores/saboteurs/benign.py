# ruff: noqa: D101, D102 - what each does is said in its `fault`
"""Wrappers that do no harm: a suite that is killed by one of them measures chance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memeval.record import Hit, Receipt, Record
from memeval.stores.bound import View
from memeval.stores.broken import stream
from memeval.stores.saboteurs.base import Saboteur

JITTER = 1e-9


class ScoreJitter(Saboteur):
    name = "score_jitter"
    fault = f"none: scores differ by {JITTER:g} of their size, and ties may change places"

    def answer(self, view: View) -> list[Hit]:
        hits = super().answer(view)
        noise = stream(self.seed, (f"{hit.id} {hit.text}" for hit in hits), view.query)
        hits = [
            hit
            if hit.score is None
            else replace(hit, score=hit.score * (1 + JITTER * noise.uniform(-1, 1)))
            for hit in hits
        ]
        order = self.capabilities.score_order
        if order is None or any(hit.score is None for hit in hits):
            return hits
        return sorted(hits, key=lambda hit: hit.score or 0.0, reverse=order == "high")


class InsertionOrder(Saboteur):
    name = "insertion_order"
    fault = "none: neighbouring records are written in another order, their times kept"
    touches = "write"

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        told = list(records)
        drawn = stream(self.seed, (record.id for record in told), "")
        order = [n for run in _runs(told) for n in drawn.sample(run, len(run))]
        receipts = super().put_many(told[n] for n in order)
        return [receipt for _, receipt in sorted(zip(order, receipts, strict=True), key=_place)]


def _place(pair: tuple[int, Receipt]) -> int:
    return pair[0]


def _runs(records: list[Record]) -> list[list[int]]:
    """Places of neighbours of which none is about another: written again, or superseded."""
    runs: list[list[int]] = [[]]
    about: set[str] = set()
    for n, record in enumerate(records):
        own = {record.id, *record.supersedes}
        if own & about:
            runs.append([])
            about = set()
        about |= own
        runs[-1].append(n)
    return runs
