"""What comes first, which way scores run, how many come back."""

from __future__ import annotations

import math
from collections.abc import Sequence

from memeval.record import Record
from memeval.storechecking.everyday import HOME, QUESTIONS, TEXTS, library
from memeval.storechecking.findings import Finding, Unsupported
from memeval.storechecking.trying import Answered, Trying

MANY = 30
GRADED = (
    "Smoked lapsang tea is served in the walled garden.",
    "Lapsang tea is served in the kitchen.",
    "Green tea is served at the counter.",
    "The garden gate creaks.",
)
EQUAL = 1e-4
KNOWN = ("table", "hash")


def order(trying: Trying) -> Finding:
    """Whether the best match comes first."""
    kept = library()
    with trying.written(kept) as tried:
        found = [any(r.id in tried.ids(r.text)[:1] for _ in range(tried.tries)) for r in kept]
    evidence = f"a record is first for its own text in {sum(found)} of {len(found)}"
    if all(found):
        return Finding("ok", "best first", "", evidence)
    if trying.declared.rewrites:
        return Finding("finding", "not always the best first", "", evidence,
                       "see what is made of the texts")  # fmt: skip
    status = "broken" if 2 * sum(found) < len(found) else "finding"
    return Finding(status, "a record is not first for its own text", "", evidence,
                   "give hits best first: ranks are read off their order")  # fmt: skip


def scores(trying: Trying) -> Finding:
    """Which way scores run."""
    said = [Record(f"g{n}", text, HOME) for n, text in enumerate(GRADED)]
    with trying.written([*library(), *said]) as tried:
        answers = [tried.ask(query, 10) for query in (*GRADED, *TEXTS, *QUESTIONS)]
    told = [[one.hit.score for one in answer] for answer in answers]
    numbers = [[s for s in row if s is not None and math.isfinite(s)] for row in told]
    odd = sum(s is not None and not math.isfinite(s) for row in told for s in row)
    if not any(numbers):
        return trying.held("score_order", None, "hits carry no scores")
    way = _way(numbers)
    evidence = f"{odd} are no finite numbers" if odd else ""
    if way == "equal":
        return Finding("ok", "scores say nothing: all are equal", trying.said("score_order"),
                       evidence)  # fmt: skip
    if way == "neither":
        bad = next(row for row in numbers if _way([row]) == "neither" or len(set(row)) > 1)
        status = "finding" if trying.declared.score_order is None else "broken"
        return Finding(status, "hits do not stand in the order of their scores",
                       trying.said("score_order"), f"such as {[round(s, 4) for s in bad[:5]]}",
                       "sort hits by their scores, or declare score_order=None")  # fmt: skip
    return trying.held("score_order", way, f"scores run {way}", evidence)


def _way(rows: Sequence[Sequence[float]]) -> str:
    """Which scores come first: high, low, neither; or all are equal."""
    if all(len(set(row)) < 2 for row in rows):
        return "equal"
    if all(list(row) == sorted(row, reverse=True) for row in rows):
        return "high"
    return "low" if all(list(row) == sorted(row) for row in rows) else "neither"


def cutoff(trying: Trying) -> Finding:
    """Whether no more than k come back, and all of them once."""
    kept = [Record(f"r{n}", f"The tea of day {n} is lapsang.", HOME) for n in range(MANY)]
    answers: dict[int, list[Answered]] = {}
    with trying.written(kept) as tried:
        for k in (1, 3, MANY, 2 * MANY):
            try:
                answers[k] = max((tried.ask("The tea is lapsang.", k) for _ in range(tried.tries)),
                                 key=len)  # fmt: skip
            except Exception as error:  # told: some stores refuse a k above what they hold
                if k <= 3:
                    raise
                evidence = f"{type(error).__name__}, with {MANY} records"
                step = "cut k at what the store holds"
                return Finding("finding", f"k={k} is refused", "", evidence, step)
    counts = {k: len(answer) for k, answer in answers.items()}
    evidence = ", ".join(f"k={k}: {n}" for k, n in counts.items())
    if any(n > k for k, n in counts.items()):
        return Finding("broken", "more than k come back", "", evidence, "cut the answer at k")
    named = [one.hit.id for one in answers[2 * MANY] if one.hit.id is not None]
    if len(set(named)) < len(named):
        return Finding("broken", "one hit comes back twice", "", evidence,
                       "return each record once")  # fmt: skip
    if trying.steady and (counts[3] < 3 or counts[2 * MANY] < MANY):
        return Finding("finding", "fewer than there are", "", evidence,
                       "see what else cuts the answer: a floor, a budget, a limit")  # fmt: skip
    return Finding("ok", "honoured", "", evidence)


def vectors(trying: Trying) -> Finding:
    """Whether a store of vectors ranks as the exact cosine of its embedder does."""
    from memeval.embedders.base import resolve_embedder
    from memeval.stores.vector import VectorStore

    given = trying.embedder if trying.embedder is not None else _named(trying)
    if given is None:
        raise Unsupported("no embedder is named: pass embedder= to have ranks compared")
    embedder = resolve_embedder(given) if isinstance(given, str) else given
    kept, exact = library(), VectorStore(embedder)
    exact.put_many(kept)
    with trying.written(kept) as tried:
        wrong = []
        for query in (*QUESTIONS, *TEXTS[:2]):
            wanted = {str(hit.id): hit.score or 0.0 for hit in exact.search(query, k=5, scope=HOME)}
            found = tried.ids(query, len(wanted))
            if not _same(found, wanted):
                wrong.append(f"{query!r}: {', '.join(map(str, found))} for {', '.join(wanted)}")
    exact.close()
    if not wrong:
        return Finding("ok", f"as the exact cosine of {embedder.name}")
    status = "finding" if trying.embedder is None else "broken"
    return Finding(status, "ranks otherwise than the exact cosine", embedder.name,
                   "; ".join(wrong[:2]), "see whether it is approximate, mixes in words, or embeds "
                   "more than the text")  # fmt: skip


def _named(trying: Trying) -> str | None:
    """The embedder of memeval that a store says to use, by its short name."""
    said = str(trying.info.get("embedder", ""))
    return next((name for name in KNOWN if said.split("-")[0] == name), None)


def _same(found: Sequence[str | None], wanted: dict[str, float]) -> bool:
    """Whether two rankings are alike but for records of equal score."""
    if len(found) != len(wanted) or len(set(found)) < len(found):
        return False
    here = [wanted.get(str(name)) for name in found]
    last = min(wanted.values(), default=0.0)  # one of equal score may stand beyond the cut
    told = [last if one is None else one for one in here]
    pairs = zip(told, wanted.values(), strict=True)
    strangers = sum(one is None for one in here)
    tied = sum(abs(one - last) < EQUAL for one in wanted.values())
    return strangers <= tied - 1 and all(abs(one - other) < EQUAL for one, other in pairs)
