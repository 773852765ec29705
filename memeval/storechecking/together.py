"""Several at once: batches of records, and threads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from memeval.errors import said
from memeval.harness.desk import Desk
from memeval.record import Record
from memeval.storechecking.everyday import HOME, QUESTIONS, TEXTS, library
from memeval.storechecking.findings import Finding, Unsupported
from memeval.storechecking.trying import Answered, Trying
from memeval.stores.bound import BoundStore, View

THREADS, WRITES = 4, 8


class OneByOne(BoundStore):
    """A store that is given no batches."""

    @property
    def batches(self) -> bool:
        """None."""
        return False


def batches(trying: Trying) -> Finding:
    """Whether a batch leaves what the same records leave one by one."""

    def alone() -> BoundStore:
        made = trying.make()
        return OneByOne(made.inner, timeout_s=made.timeout_s, meter=made.meter)

    with trying.written(library()) as tried:
        if not tried.store.batches:
            raise Unsupported("the store has no put_many of its own")
        together = [_seen(tried.ask(query, len(TEXTS))) for query in (*QUESTIONS, *TEXTS)]
    with trying.written(library(), make=alone) as tried:
        singly = [_seen(tried.ask(query, len(TEXTS))) for query in (*QUESTIONS, *TEXTS)]
    if together == singly or not trying.steady:
        return Finding("ok", "as one by one")
    query = next(q for q, a, b in zip((*QUESTIONS, *TEXTS), together, singly, strict=True)
                 if a != b)  # fmt: skip
    return Finding("broken", "a batch leaves other answers than the same records one by one", "",
                   f"asked {query!r}", "let put_many do what put does for each record")  # fmt: skip


def _seen(answer: Sequence[Answered]) -> list[tuple[float, str, str]]:
    """An answer in which hits of equal score stand in the order of their names."""
    return sorted((round(one.hit.score or 0.0, 4), one.id or "", one.hit.text) for one in answer)


def threads(trying: Trying) -> Finding:
    """Whether several threads may write and read one store."""
    if not trying.limited:
        return trying.held("thread_safe", False, "bound to the thread that made it",
                           "searches can have no time limit, and runs no shared store")  # fmt: skip
    if not trying.declared.thread_safe:
        raise Unsupported("the store does not declare thread_safe")
    with trying.written(library()) as tried:
        desks = [Desk(tried.store, f"{tried.desk.prefix}t{n}-") for n in range(THREADS)]
        with ThreadPoolExecutor(THREADS) as pool:
            errors = [error for error in pool.map(_work, desks) if error]
        lost = sum(not _is_there(desk, n, tried.tries) for desk in desks for n in range(WRITES))
        if trying.capabilities.isolation == "namespace":
            trying.left_behind += sum(desk.remove_all() for desk in desks)
    if errors or (lost and not trying.waits):
        evidence = errors[0] if errors else f"{lost} of {THREADS * WRITES} records are lost"
        return trying.held("thread_safe", False, f"{THREADS} threads at once fail", evidence)
    return trying.held("thread_safe", True, f"no fault seen with {THREADS} threads")


def _work(desk: Desk) -> str:
    """Write and read; what failed, else nothing."""
    try:
        for n in range(WRITES):
            desk.write_all([Record(f"r{n}", TEXTS[n % len(TEXTS)], HOME)])
            desk.store.search(View(TEXTS[0], 5, desk.scope_alias(HOME)))
    except Exception as error:  # told: this is what is asked for
        return said(error)
    return ""


def _is_there(desk: Desk, n: int, tries: int) -> bool:
    view = View(TEXTS[n % len(TEXTS)], 10, desk.scope_alias(HOME))
    hits = [hit for _ in range(tries) for hit in desk.store.search(view)]
    return f"r{n}" in {desk.ids.resolve(hit)[0] for hit in hits}
