"""Whether a clean store is clean: a fresh one, a cleared one, what scratches and forks leave."""

from __future__ import annotations

from contextlib import closing

from memeval.errors import said
from memeval.harness.selfcheck import CANARY, NEIGHBOUR, asked, is_canary, remove
from memeval.record import Record
from memeval.storechecking.everyday import HOME, TEXTS
from memeval.storechecking.findings import Finding, Unsupported
from memeval.storechecking.trying import Trying
from memeval.stores.bound import BoundStore, View

KEPT, WITHIN, BESIDE = (Record(f"memeval-{n}", TEXTS[n], f"memeval-{HOME}") for n in range(3))


def fresh(trying: Trying) -> Finding:
    """Whether a fresh store holds nothing that another one was given."""
    if trying.declared.isolation != "fresh":
        raise Unsupported(f"the store declares isolation {trying.declared.isolation!r}: it is not "
                          "made anew for each history")  # fmt: skip
    with trying.fresh() as first:
        receipt = first.put(CANARY)
        trying.until(lambda: _has(first, CANARY))
        with trying.fresh() as second:
            beside = _shares(second)
        with trying.fresh() as second:
            shared = beside or _shares(second)
            if shared:
                remove(second, CANARY, receipt)
    if shared:
        return trying.held("isolation", "namespace", "stores share their records",
                           "what was written to one is found in the next")  # fmt: skip
    return trying.held("isolation", "fresh", "a fresh store is empty")


def _shares(second: BoundStore) -> bool:
    """Whether a store finds what another one was given."""
    receipt = second.put(NEIGHBOUR)
    found = any(map(is_canary, asked(second, CANARY.text, CANARY.scope)))
    remove(second, NEIGHBOUR, receipt)
    return found


def cleared(trying: Trying) -> Finding:
    """Whether nothing is left after clear()."""
    with trying.fresh() as store:
        if not store.supports("clear"):
            if trying.declared.isolation == "clear":
                return Finding("broken", "there is no clear()", trying.said("isolation"), "",
                               "add clear(), or declare another isolation")  # fmt: skip
            raise Unsupported("the store has no clear")
        shared = trying.capabilities.isolation == "namespace" or trying.options.allow_nonempty
        if shared or (trying.declared.isolation != "fresh" and store.count() != 0):
            raise Unsupported("the store may hold records of others, which are not cleared")
        store.put(KEPT)
        trying.until(lambda: _has(store, KEPT))
        store.clear()
        left = store.count() or trying.until(lambda: not _has(store, KEPT)) is None
        store.put(WITHIN)
        again = trying.until(lambda: _has(store, WITHIN)) is not None
        store.clear()
    declared = trying.said("isolation") if trying.declared.isolation == "clear" else ""
    if left or not again:
        words = "clear() leaves records" if left else "after clear() nothing more is found"
        return Finding("broken", words, declared, "", "let clear() empty it, index and all")
    return Finding("ok", "clear() empties it", declared)


def scratched(trying: Trying) -> Finding:
    """Whether what is written in a scratch, or to a fork, is gone from the store."""
    with trying.fresh() as store:
        forks = store.supports("snapshot") and store.supports("fork")
        if not (forks or store.supports("scratch")):
            if trying.declared.isolation == "fork":
                return Finding("broken", "there is neither scratch() nor fork()",
                               trying.said("isolation"), "",
                               "add one, or declare another isolation")  # fmt: skip
            raise Unsupported("the store has neither scratch nor snapshot and fork")
        receipt = store.put(KEPT)
        trying.until(lambda: _has(store, KEPT))
        wrong = _in_scratch(trying, store) + (_in_fork(trying, store) if forks else [])
        remove(store, KEPT, receipt)
    declared = trying.said("isolation") if trying.declared.isolation == "fork" else ""
    if wrong:
        return Finding("broken", wrong[0], declared, "; ".join(wrong[1:]),
                       "give a scratch or a fork records of its own")  # fmt: skip
    return Finding("ok", "what is written there is gone afterwards", declared)


def _in_scratch(trying: Trying, store: BoundStore) -> list[str]:
    with store.scratch():
        held = trying.until(lambda: _has(store, KEPT)) is not None
        receipt = store.put(WITHIN)
        trying.until(lambda: _has(store, WITHIN))
    wrong = [] if held else ["a scratch does not hold what the store does"]
    if _has(store, WITHIN):
        wrong.append("what is written in a scratch stays")
        remove(store, WITHIN, receipt)
    kept = trying.until(lambda: _has(store, KEPT)) is not None
    return wrong + ([] if kept else ["a scratch takes records away"])


def _in_fork(trying: Trying, store: BoundStore) -> list[str]:
    with closing(store.forked(store.snapshot())) as fork:
        held = trying.until(lambda: _has(fork, KEPT)) is not None
        receipt = fork.put(BESIDE)
        trying.until(lambda: _has(fork, BESIDE))
        wrong = [] if held else ["a fork does not hold what the store does"]
        if _has(store, BESIDE):
            wrong.append("what a fork is given gets into the store")
            remove(store, BESIDE, receipt)
    return wrong


def _has(store: BoundStore, record: Record) -> bool:
    hits = store.search(View(record.text, 5, record.scope))
    return any(record.id in (hit.id, *hit.meta.values()) or hit.text == record.text for hit in hits)


def closed(trying: Trying) -> Finding:
    """Whether a store may be closed twice."""
    with trying.fresh() as store:
        if not store.supports("close"):
            raise Unsupported("the store has no close")
    try:
        store.close()
    except Exception as error:  # told: with blocks and finalisers close a second time
        return Finding("finding", "a second close() fails", "", said(error),
                       "let close() do nothing where it was done")  # fmt: skip
    return Finding("ok", "may be closed twice")
