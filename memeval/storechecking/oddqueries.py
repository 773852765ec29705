"""Whether odd queries get an answer or a clean error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memeval.errors import said
from memeval.record import Record
from memeval.storechecking.everyday import ODD_QUERIES, library
from memeval.storechecking.findings import Finding
from memeval.storechecking.trying import Tried, Trying
from memeval.stores.bound import SearchTimeoutError
from memeval.stores.waiting import StoreExitError

LIMIT_S = 30.0
K = 3
OTHER, THEIRS = "bo", "Somebody else drinks tea at four."


def oddities(trying: Trying) -> Finding:
    """Whether odd queries get an answer or a clean error."""
    refused, wrong, blank = [], [], []
    scopes = trying.declared.scoping != "none" and trying.found.get("scoping") != "none"
    foreign = [Record("theirs", THEIRS, OTHER)] if scopes else []
    with trying.written([*library(), *foreign]) as tried, _limited(trying, tried):
        for query in ODD_QUERIES:
            shown = repr(query[:24])
            try:
                found = tried.ids(query, K)
            except SearchTimeoutError as error:
                return Finding("broken", "a query hangs", "", f"{shown}: {said(error)}",
                               "let the search end by itself, with an error")  # fmt: skip
            except StoreExitError as error:
                wrong.append(f"{shown}: {said(error)[:80]}")
            except Exception as error:  # told below: a refusal in words is a clean one
                refused.append(f"{shown}: {said(error)[:80]}")
            else:
                wrong += [f"{shown} gets {len(found)} of k={K}"] if len(found) > K else []
                wrong += [f"{shown} finds another scope"] if "theirs" in found else []
                blank += [shown] if found and not query.strip() else []
        sound = all(map(tried.finds, library()))
    return _told(refused, wrong, blank, sound)


def _told(refused: list[str], wrong: list[str], blank: list[str], sound: bool) -> Finding:
    if not sound:
        return Finding("broken", "after odd queries it no longer answers", "", "; ".join(refused),
                       "pass queries as data, and leave no transaction open")  # fmt: skip
    if wrong:
        return Finding("broken", "odd queries get what they must not", "", "; ".join(wrong[:4]),
                       "pass queries as data, never as syntax")  # fmt: skip
    if refused:
        return Finding("finding", f"refuses {len(refused)} of {len(ODD_QUERIES)}", "",
                       "; ".join(refused[:4]),
                       "let blank or odd queries answer [], unless a refusal is meant")  # fmt: skip
    if blank:
        return Finding("finding", "gives records for a blank query", "", ", ".join(blank),
                       "answer [] where nothing is asked")  # fmt: skip
    return Finding("ok", f"answers all {len(ODD_QUERIES)}")


@contextmanager
def _limited(trying: Trying, tried: Tried) -> Iterator[None]:
    """Give each search a time limit, where it can have one."""
    before = tried.store.timeout_s
    if trying.limited and before is None:
        tried.store.timeout_s = LIMIT_S
    try:
        yield
    finally:
        tried.store.timeout_s = before
