"""Open a store that is checked, and put one question after the other to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from memeval.errors import StoreError, said
from memeval.harness.options import Options
from memeval.harness.selfcheck import CANARY, self_check
from memeval.storechecking.findings import Finding, Unsupported
from memeval.storechecking.trying import Trying
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore, View
from memeval.stores.waiting import SearchTimeoutError

LIMIT_S = 30.0


def opened(make: Callable[[], BoundStore], options: Options) -> Trying:
    """See that a store can be written to and searched, and what it declares.

    Parameters
    ----------
    make : callable
        Gives a fresh `BoundStore`.
    options : Options
        How to ask and wait.

    Raises
    ------
    StoreError
        If it cannot be made, is not empty, fails, or does not find what was just written.
    """
    checked = self_check(make, options, lenient=True)
    trying = Trying(make, checked.capabilities, False, options, dict(checked.info))
    with trying.fresh() as store:
        if getattr(store.inner, "broken_on_purpose", False):
            raise StoreError(
                f"{trying.info.get('name')} is broken on purpose, to try out probes with; check a "
                "store of your own"
            )
        told = getattr(store.inner, "capabilities", None)
        # The defaults promise nothing, and are what the base class hands down.
        trying.told = told is not None and checked.capabilities != Capabilities()
        trying.limited = options.timeout_s is not None or _takes_threads(store)
    trying.found["honours"] = frozenset()
    return trying


def _takes_threads(store: BoundStore) -> bool:
    """Whether a store answers in another thread than the one that made it."""
    store.timeout_s = LIMIT_S
    try:
        store.search(View(CANARY.text, 1, CANARY.scope))
    except SearchTimeoutError:
        raise
    except Exception:  # it answered in this thread: then it is the thread
        return False
    finally:
        store.timeout_s = None
    return True


def asked(question: Callable[[Trying], Finding], trying: Trying) -> dict[str, Any]:
    """Put a question, and give what came of it as cells of a row."""
    try:
        return dict(_cells(question(trying)))
    except Unsupported as reason:
        return {"status": "not_asked", "found": str(reason)}
    except Exception as error:  # the store fails while it is tried: that is what was found
        words = str(error) if isinstance(error, StoreError) else said(error)
        step = "mend what fails, or raise a StoreError that says what the store cannot take"
        return {"status": "broken", "found": f"the store failed: {words}", "next_step": step}


def _cells(found: Finding) -> Iterator[tuple[str, Any]]:
    yield "status", found.status
    yield "found", found.words
    yield "declared", found.declared or None
    yield "evidence", found.evidence or None
    yield "next_step", found.next_step or None
