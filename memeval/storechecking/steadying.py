"""Whether answers hold: how soon a write is found, the same answer again, no trace of reading."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.contract import key
from memeval.record import Record
from memeval.storechecking.everyday import HOME, QUESTIONS, TEXTS, library
from memeval.storechecking.findings import Finding
from memeval.storechecking.trying import Answered, Tried, Trying

AGAIN = 5
READS = 40
QUERIES = (*QUESTIONS, *TEXTS[:3])
Seen = list[list[Answered]]


def visibility(trying: Trying) -> Finding:
    """How long until a write can be found."""
    kept = [Record("r0", TEXTS[0], HOME), Record("r1", TEXTS[1], HOME)]
    with trying.written(kept, wait=False) as tried:
        if tried.store.supports("wait_visible"):
            trying.settled(tried, kept)
            words = "after the store's own wait"
            status = all(map(tried.finds, kept))
            return Finding("ok" if status else "broken", words if status else f"not {words}",
                           trying.said("consistency"))  # fmt: skip
        if all(r.id in tried.ids(r.text, 10) for r in kept):
            trying.found["consistency"] = trying.declared.consistency
            return Finding("ok", "at once", trying.said("consistency"))
        seconds = trying.until(lambda: all(map(tried.finds, kept)), waits=True)
    if seconds is None:
        return Finding("broken", "not found, however long it is waited for",
                       trying.said("consistency"), "",
                       "see why writes do not arrive, or raise settle_s and declare "
                       "consistency='eventual'")  # fmt: skip
    words = f"after {seconds:.1f} s" if seconds >= 0.05 else "at a later search"
    # One that drops hits now and then looks like one that is late: the next question tells.
    return trying.held("consistency", "eventual", words)


def steadiness(trying: Trying) -> Finding:
    """Whether the same question has the same answer, of one store and of another."""
    declared = trying.declared.deterministic
    several: list[Seen] = []
    for _ in range(2):
        with trying.written(library()) as tried:
            several += [[tried.ask(query) for query in QUERIES] for _ in range(AGAIN)]
    within = all(_names(one) == _names(several[n // AGAIN * AGAIN])
                 for n, one in enumerate(several))  # fmt: skip
    if not within:
        trying.steady = False
        trying.found["deterministic"] = False
        if declared is False:
            return Finding("ok", "answers differ", trying.said("deterministic"))
        status = "broken" if declared is True else "finding"
        return Finding(status, "answers differ", trying.said("deterministic"), "",
                       "declare deterministic=False: probes are then repeated")  # fmt: skip
    trying.found["deterministic"] = declared
    if [_tied(a) for a in several[0]] != [_tied(a) for a in several[AGAIN]]:
        status = "broken" if declared is True else "finding"
        return Finding(status, "a second store answers otherwise", trying.said("deterministic"),
                       "", "find the source of chance, or declare deterministic=False")  # fmt: skip
    return Finding("ok", "the same answer each time", trying.said("deterministic"))


def _names(seen: Seen) -> list[list[str | None]]:
    return [[one.id or key(one.hit.id, one.hit.text) for one in answer] for answer in seen]


def _tied(answer: Sequence[Answered]) -> list[tuple[float, str]]:
    """An answer in which hits of equal score stand in the order of their names."""
    scored = [round(one.hit.score or 0.0, 6) for one in answer]
    names = [one.id or one.hit.text for one in answer]
    if all(one.hit.score is None for one in answer):
        return [(0.0, name) for name in names]
    return sorted(zip(scored, names, strict=True))


def traces(trying: Trying) -> Finding:
    """Whether reading changes what is read."""
    with trying.written(library()) as tried:
        before, n_before = _state(tried)
        for n in range(READS):
            tried.ask(TEXTS[2] if n % 2 else "parking", 3)
        after, n_after = _state(tried)
    counted = n_before != n_after
    if not counted and (before == after or not trying.steady):
        trying.found["traceless"] = trying.declared.traceless
        return Finding("ok", "reads leave no trace", trying.said("traceless"))
    evidence = f"count went {n_before} to {n_after}" if counted else "answers changed"
    promised = trying.declared.traceless or trying.declared.deterministic is True
    told = "traceless" if trying.declared.traceless else "deterministic"
    return Finding("broken" if promised else "finding", "reads leave a trace", trying.said(told),
                   evidence, "probes are asked in clean stores; in production ranks will "
                   "wander")  # fmt: skip


def _state(tried: Tried) -> tuple[list[list[str | None]], int | None]:
    return [tried.ids(text) for text in TEXTS], tried.store.count()
