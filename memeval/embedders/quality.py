"""How well an embedder finds what is meant: run as a module.

``python -m memeval.embedders.quality`` prints a table of the embedders that can be used here, by 40
facts, a question for each that shares no word with it but function words, and 10 questions that
none of the facts answers. Search by words alone finds nothing here.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memeval.embedders.base import NAMES, Embedder, resolve_embedder
from memeval.embedders.files import DATA
from memeval.errors import StoreError

PAIRS = "paraphrases.tsv"


@dataclass(frozen=True, slots=True)
class Quality:
    """What an embedder reached on the pairs.

    Attributes
    ----------
    hit_1, hit_5 : float
        Share of questions whose fact stands first, or among the first five.
    mrr : float
        Mean of 1 / rank of the fact. Equal scores count as the worst of their ranks.
    auc : float
        Chance that the best score of a question with an answer is above that of one without one;
        a tie counts half.
    ms : float
        Milliseconds for a text that was not seen before, embedded in one batch.
    """

    hit_1: float
    hit_5: float
    mrr: float
    auc: float
    ms: float


def pairs() -> tuple[list[str], list[str], list[str]]:
    """Facts, the questions that they answer in the same order, and unrelated questions.

    Examples
    --------
    >>> [len(part) for part in pairs()]
    [40, 40, 10]
    """
    rows = [line.split("\t") for line in (DATA / PAIRS).read_text("utf-8").splitlines()]
    facts = [fact for fact, _ in rows if fact]
    asked = [query for fact, query in rows if fact]
    return facts, asked, [query for fact, query in rows if not fact]


def measured(embedder: Embedder) -> Quality:
    """Measure an embedder on the pairs.

    Parameters
    ----------
    embedder : Embedder
        Any; what it has seen already makes its time shorter.

    Examples
    --------
    >>> from memeval.embedders.hashed import HashEmbedder
    >>> measured(HashEmbedder()).hit_5 < 0.6
    True
    """
    embedder.embed(["warm up"])
    return measured_rows(embedder.embed)


def measured_rows(embed: Callable[[list[str]], NDArray[np.float32]]) -> Quality:
    """Measure what turns texts into rows of length 1, as `measured` does."""
    facts, asked, unrelated = pairs()
    texts = [*facts, *asked, *unrelated]
    started = time.perf_counter()
    rows = embed(texts).astype(np.float64)
    ms = (time.perf_counter() - started) * 1e3 / len(texts)
    cosines = np.round(rows[len(facts) :] @ rows[: len(facts)].T, 6)
    answered, not_answered = cosines[: len(asked)], cosines[len(asked) :]
    ranks = (answered >= np.diag(answered)[:, None]).sum(axis=1)
    tops, others = answered.max(axis=1)[:, None], not_answered.max(axis=1)
    auc = float(((tops > others) + (tops == others) / 2).mean())
    hit_1, hit_5 = (float((ranks <= k).mean()) for k in (1, 5))
    return Quality(hit_1, hit_5, float((1 / ranks).mean()), auc, ms)


def line(name: str, dimension: int = 0, found: Quality | None = None) -> str:
    """Line of the printed table; its head where nothing was found."""
    if found is None:
        return f"{name:<8}  dims  hit@1  hit@5   MRR   AUC  ms/text"
    return (
        f"{name:<8}  {dimension:>4}  {found.hit_1:5.2f}  {found.hit_5:5.2f}  {found.mrr:4.2f}  "
        f"{found.auc:4.2f}  {found.ms:7.3f}"
    )


def main(names: Sequence[str] | None = None) -> int:
    """Print a table of the embedders named, or of all; one that is not installed says why."""
    asked = list(sys.argv[1:] if names is None else names) or list(NAMES)
    sys.stdout.write(f"{line('embedder')}\n")
    for name in asked:
        try:
            embedder = resolve_embedder(name)
        except StoreError as error:
            sys.stdout.write(f"{name:<8}  {error}\n")
            continue
        sys.stdout.write(f"{line(name, embedder.dimension, measured(embedder))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
