# ruff: noqa: D101, D102 - what each does is said in its `fault`
"""Saboteurs that make another answer of the one that the store gave."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import replace

from memeval.record import Hit
from memeval.stores.bound import View
from memeval.stores.broken import stream
from memeval.stores.saboteurs.base import Saboteur
from memeval.words import content_words

STEM = 5  # letters of a word that tell it from others, roughly
LONGEST_TEXT = 200  # characters
NEAR_THE_BEST = 0.1  # relative to the best score
COPIES = 3


class Null(Saboteur):
    name = "null"
    fault = "nothing is ever found"
    caught_by = "ratchet"
    tag = "direct"
    must_kill = True

    def answer(self, view: View) -> list[Hit]:
        return []


class Lossy(Saboteur):
    name = "lossy_10pct"
    fault = "one record in ten is lost; which ones hangs on their texts"
    caught_by = "ratchet"
    tag = "direct"

    def answer(self, view: View) -> list[Hit]:
        return [hit for hit in super().answer(view) if zlib.crc32(hit.text.encode()) % 10]


class Shuffled(Saboteur):
    name = "shuffled"
    fault = "what is found comes back in any order"
    caught_by = "nDCG, score order"
    tag = "rank"
    must_kill = True
    needs = ("score_order",)

    def answer(self, view: View) -> list[Hit]:
        hits = super().answer(view)
        drawn = stream(self.seed, (f"{hit.id} {hit.text}" for hit in hits), view.query)
        mixed = drawn.sample(hits, len(hits))
        return mixed if mixed != hits else hits[::-1]


class Reversed(Saboteur):
    name = "reversed"
    fault = "the worst of what is found comes first"
    caught_by = "nDCG, score order"
    tag = "rank"
    needs = ("score_order",)

    def answer(self, view: View) -> list[Hit]:
        return super().answer(view)[::-1]


class ScoreUnordered(Saboteur):
    name = "score_unordered"
    fault = "the best hit carries the worst score"
    caught_by = "score order"
    tag = "rank"
    needs = ("score_order",)

    def answer(self, view: View) -> list[Hit]:
        hits = super().answer(view)
        pairs = zip(hits, reversed(hits), strict=True)
        return [replace(hit, score=other.score) for hit, other in pairs]


class KMinusOne(Saboteur):
    name = "k_minus_1"
    fault = "one hit fewer than k comes back"
    caught_by = "ratchet"
    tag = "fullk"

    def answer(self, view: View) -> list[Hit]:
        return super().answer(view)[: view.k - 1]


class Top1Only(Saboteur):
    name = "top1_only"
    fault = "only the best hit comes back"
    caught_by = "ratchet"
    tag = "multi"

    def answer(self, view: View) -> list[Hit]:
        return super().answer(view)[:1]


class DropTop1(Saboteur):
    name = "drop_top1"
    fault = "the best hit is missing"
    caught_by = "ratchet"
    tag = "direct"

    def answer(self, view: View) -> list[Hit]:
        return super().answer(view)[1:]


class IdSwap(Saboteur):
    name = "id_swap"
    fault = "the first two hits carry each other's id"
    caught_by = "text fidelity"
    tag = "rank"
    needs = ("texts",)

    def answer(self, view: View) -> list[Hit]:
        hits = super().answer(view)
        if len(hits) < 2:
            return hits
        first, second = hits[:2]
        return [replace(first, id=second.id), replace(second, id=first.id), *hits[2:]]


class TruncateReturned(Saboteur):
    name = "truncate_returned"
    fault = f"texts come back cut at {LONGEST_TEXT} characters"
    caught_by = "text fidelity"
    tag = "long"
    needs = ("texts",)

    def answer(self, view: View) -> list[Hit]:
        return [replace(hit, text=hit.text[:LONGEST_TEXT]) for hit in super().answer(view)]


class DuplicateIds(Saboteur):
    name = "duplicate_ids"
    fault = "the best hit comes back twice"
    caught_by = "ids unique"
    tag = "dup"

    def answer(self, view: View) -> list[Hit]:
        hits = super().answer(view)
        return [*hits[:1], *hits][: view.k]


class DuplicateFlood(Saboteur):
    name = "duplicate_flood"
    fault = f"every hit brings {COPIES - 1} copies of itself, under ids of their own"
    caught_by = "ids unknown, distinct"
    tag = "dup"

    def answer(self, view: View) -> list[Hit]:
        return [copy for hit in super().answer(view) for copy in _copies(hit)][: view.k]


def _copies(hit: Hit) -> list[Hit]:
    named = [None if hit.id is None else f"{hit.id}-copy-{n}" for n in range(1, COPIES)]
    return [hit, *(replace(hit, id=name) for name in named)]


class LexicalOnly(Saboteur):
    name = "lexical_only"
    fault = "only records that share a word with the query are found"
    caught_by = "ratchet"
    tag = "paraphrase"

    def answer(self, view: View) -> list[Hit]:
        hits, asked = super().answer(view), stems(view.query)
        return [hit for hit in hits if asked & stems(hit.text)] if asked else hits


class ThresholdTooHigh(Saboteur):
    name = "threshold_too_high"
    fault = "only hits as good as the best are let through"
    caught_by = "ratchet"
    tag = "paraphrase"

    def answer(self, view: View) -> list[Hit]:
        hits = super().answer(view)
        return hits[:1] + [hit for hit in hits[1:] if _is_near(hit.score, hits[0].score)]


def _is_near(score: float | None, best: float | None) -> bool:
    if score is None or best is None:
        return False
    return abs(score - best) <= NEAR_THE_BEST * abs(best)


class Nondeterministic(Saboteur):
    name = "nondeterministic"
    fault = "every second answer to a query lacks its best hit"
    caught_by = "same query twice"
    tag = "direct"
    needs = ("deterministic",)

    def begin(self) -> None:
        super().begin()
        self._asked: Counter[tuple[str, str]] = Counter()

    def answer(self, view: View) -> list[Hit]:
        self._asked[view.query, view.scope] += 1
        return super().answer(view)[self._asked[view.query, view.scope] % 2 == 0 :]


def stems(text: str) -> frozenset[str]:
    """Words that tell what a text is about, cut short, so that their endings do not matter.

    Examples
    --------
    >>> sorted(stems("Where do the swimmers swim?"))
    ['swim', 'swimm']
    """
    return frozenset(word[:STEM] for word in content_words(text))
