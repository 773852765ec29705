# ruff: noqa: D101, D102 - what each does is said in its `fault`
"""Saboteurs that let one history answer for another: what they keep, a whole run shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from memeval.record import Hit
from memeval.stores.bound import View
from memeval.stores.saboteurs.answers import stems
from memeval.stores.saboteurs.base import Saboteur

WORDS_OF_THE_KEY = 3


class StaleCache(Saboteur):
    name = "stale_cache"
    fault = f"queries with the same first {WORDS_OF_THE_KEY} words get the answer to the first one"
    caught_by = "ids unknown, text fidelity"
    tag = "pair"
    _kept: ClassVar[dict[str, list[Hit]]] = {}

    @classmethod
    def reset(cls) -> None:
        cls._kept.clear()

    def answer(self, view: View) -> list[Hit]:
        key = " ".join(view.query.casefold().split()[:WORDS_OF_THE_KEY])
        if key not in self._kept:
            self._kept[key] = super().answer(view)
        return self._kept[key][: view.k]


class SharedState(Saboteur):
    name = "shared_state"
    fault = "what an earlier store found is found again in the next, which never held it"
    caught_by = "ids unknown, text fidelity"
    tag = "pair"
    _found: ClassVar[dict[tuple[int, str], tuple[frozenset[str], Hit]]] = {}
    _n_begun: ClassVar[list[int]] = [0]

    @classmethod
    def reset(cls) -> None:
        cls._found.clear()
        cls._n_begun[:] = [0]

    def begin(self) -> None:
        super().begin()
        self._n_begun[0] += 1
        self._nth = self._n_begun[0]

    def _snapshot(self) -> Any:
        return self.inner.snapshot()  # a fork begins anew

    def answer(self, view: View) -> list[Hit]:
        hits, asked = super().answer(view), stems(view.query)
        ours = {hit.text for hit in hits}
        strangers = [
            hit
            for (nth, text), (told, hit) in self._found.items()
            if nth != self._nth and text not in ours and asked & told
        ]
        for hit in hits:
            self._found.setdefault((self._nth, hit.text), (stems(hit.text), hit))
        first = [replace(hit, score=hits[0].score if hits else hit.score) for hit in strangers[:1]]
        return (first + hits)[: view.k]
