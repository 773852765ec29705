"""Whether a store acts on what it says to act on: filters, expiry, supersession."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from memeval.record import Advance, Record
from memeval.storechecking.everyday import HOME
from memeval.storechecking.findings import Finding, Unsupported
from memeval.storechecking.trying import Tried, Trying

START = datetime(2026, 1, 1, tzinfo=UTC)
END = START + timedelta(days=30)
OLD = Record("r1", "The code of the door is four seven one.", HOME, START)


def filters(trying: Trying) -> Finding:
    """Whether a filter on metadata does what it says."""
    if "filter" not in trying.declared.honours:
        raise Unsupported("the store declares no filter")
    metas: tuple[dict[str, Any], ...] = (
        {"type": "note", "labels": ["a", "b"]}, {"type": "note"}, {"type": "chat"}
    )  # fmt: skip
    given = [Record(f"r{n}", f"Plums, entry {n}.", HOME, meta=m) for n, m in enumerate(metas)]
    asked = {"type=note": ({"type": "note"}, {"r0", "r1"}), "labels=b": ({"labels": "b"}, {"r0"}),
             "type in (chat, x)": ({"type": ["chat", "x"]}, {"r2"}),
             "type=o'x": ({"type": "o'x"}, set())}  # fmt: skip
    with trying.written(given) as tried:
        wrong = [
            f"{name} gives {sorted(map(str, found))}"
            for name, (condition, wanted) in asked.items()
            for found in [{one.id for one in tried.all("plums entry", 9, filter=condition)}]
            if found != wanted
        ]
    if wrong:
        return Finding("broken", "does not filter as asked", "honours filter", "; ".join(wrong),
                       "compare values for equality, and of a list ask for its items")  # fmt: skip
    _honoured(trying, "filter")
    return Finding("ok", "as asked", "honours filter")


def expiry(trying: Trying) -> Finding:
    """Whether a record is given before it expires, and not after."""
    honours = trying.declared.honours
    if "expires" not in honours:
        raise Unsupported("the store does not declare that it acts on expires")
    fleeting = Record("r2", "The guest code of the door is nine two.", HOME, START, expires=END)
    with trying.written([OLD], wait=True) as tried:
        if "now" not in honours and not tried.store.supports("advance"):
            raise Unsupported("time cannot be told: the store honours no now and has no advance")
        tried.desk.write_all([fleeting])
        trying.until(lambda: "r2" in _ids(tried, trying, START))
        before = _ids(tried, trying, START + timedelta(days=1))
        if "now" not in honours:
            tried.desk.write_all([Advance(timedelta(days=60))])
        after = _ids(tried, trying, END + timedelta(days=1))
    declared = "honours expires" + (", now" if "now" in honours else "")
    if "r2" not in before:
        return Finding("broken", "a record is gone before it expires", declared, "",
                       "compare expires with the now of the question")  # fmt: skip
    if "r2" in after or "r1" not in after:
        words = "an expired record is given" if "r2" in after else "what holds on is gone too"
        return Finding("broken", words, declared, "", "leave out what expired until now")
    _honoured(trying, "expires")
    return Finding("ok", "acted on", declared)


def _ids(tried: Tried, trying: Trying, now: datetime) -> set[str | None]:
    told: dict[str, Any] = {"now": now} if "now" in trying.declared.honours else {}
    return {one.id for one in tried.all("code of the door", 9, **told)}


def superseding(trying: Trying) -> Finding:
    """Whether a record is still given that another one replaces."""
    said = "supersedes" in trying.declared.honours
    newer = Record("r2", "The code of the door is eight eight.", HOME, END, supersedes=("r1",))
    with trying.written([OLD, newer]) as tried:
        found = {one.id for one in tried.all("code of the door", 9)}
    declared = "honours supersedes" if said else ""
    if "r2" not in found:
        if trying.declared.rewrites:
            return Finding("ok", "the newer record does not come back as it was", declared)
        step = "give the record that replaces another"
        return Finding("broken", "the newer record is not given", declared, "", step)
    if "r1" not in found:
        _honoured(trying, "supersedes")
        return Finding("ok" if said else "finding", "what is replaced is not given", declared, "",
                       "" if said else "declare honours={'supersedes'}")  # fmt: skip
    if said:
        return Finding("broken", "what is replaced is still given", declared, "",
                       "leave out what supersedes names, or do not declare it")  # fmt: skip
    return Finding("ok", "what is replaced is still given", "does not honour supersedes")


def _honoured(trying: Trying, name: str) -> None:
    trying.found["honours"] = trying.found.get("honours", frozenset()) | {name}
