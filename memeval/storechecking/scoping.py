"""Whether scopes are kept apart, whatever stands in their names, and deletes keep to them."""

from __future__ import annotations

from memeval.errors import said
from memeval.record import Delete, Record
from memeval.storechecking.everyday import HOME, SCOPES, TEXTS
from memeval.storechecking.findings import Finding, Unsupported
from memeval.storechecking.trying import Tried, Trying

QUERY = "lapsang tea"
MOST = 4
EXACT = "compare scopes whole, as a bound parameter and never as a pattern or prefix"


def scopes(trying: Trying) -> Finding:
    """Whether scopes are compared whole."""
    if trying.declared.scoping == "none":
        raise Unsupported("the store declares that it has no scopes")
    kept, refused = _taken(trying)
    with trying.written(kept) as tried:
        strays = [f"{r.scope!r} finds that of {', '.join(found)}"
                  for r in kept if (found := _others(tried, r, kept))]  # fmt: skip
        lost = [repr(r.scope) for r in kept if r.id not in _found(tried, r, len(SCOPES))]
        cut = [repr(r.scope) for r in kept if r.id not in _found(tried, r, 1)]
    told = f"refused: {'; '.join(refused)}" if refused else ""
    declared = trying.said("scoping")
    if strays:
        return _leaking(trying, strays, len(strays) > len(kept) // 2)
    if lost:
        return Finding("broken", "some scopes lose their records", declared, ", ".join(lost),
                       "keep the scope as it is given")  # fmt: skip
    if cut:
        return Finding("broken", "the answer is cut at k before scopes are told apart", declared,
                       f"k=1 loses the record of {', '.join(cut[:MOST])}",
                       "look at the scope first, and cut at k then")  # fmt: skip
    trying.found["scoping"] = trying.declared.scoping
    step = "take any text as a scope, or escape it" if refused else ""
    return Finding("finding" if refused else "ok", "exact", declared, told, step)


def _taken(trying: Trying) -> tuple[list[Record], list[str]]:
    """Records in the scopes that the store takes, and which it refuses."""
    kept, refused = [], []
    for n, scope in enumerate(SCOPES):
        record = Record(f"r{n}", f"The tea of person {n} is lapsang.", scope)
        try:
            with trying.written([record], wait=False) as tried:
                tried.ask(QUERY, 1, scope)
        except Exception as error:  # told: a name that the store does not take
            refused.append(f"{scope!r} ({said(error)[:80]})")
        else:
            kept.append(record)
    return kept, refused


def _found(tried: Tried, record: Record, k: int) -> set[str | None]:
    return {one.id for one in tried.all(QUERY, k, record.scope)}


def _others(tried: Tried, record: Record, kept: list[Record]) -> list[str]:
    """Other scopes whose records are found in that of a record."""
    found = _found(tried, record, 2 * len(SCOPES)) - {record.id}
    return [repr(other.scope) for other in kept if other.id in found][:3]


def _leaking(trying: Trying, strays: list[str], everywhere: bool) -> Finding:
    evidence = "; ".join(strays[:MOST])
    if not everywhere:
        return Finding("broken", "not exact", trying.said("scoping"), evidence, EXACT)
    trying.found["scoping"] = "none"
    step = f"{EXACT}; or declare scoping='none'"
    status = "broken" if trying.told else "finding"
    return Finding(status, "ignored", trying.said("scoping"), evidence, step)


def deletes(trying: Trying) -> Finding:
    """Whether what is deleted is gone at once, and nothing else is."""
    gone, other = Record("r1", TEXTS[2], HOME), Record("r3", TEXTS[1], HOME)
    same = Record("r2", TEXTS[2], "bo")
    kept = [gone, other] if trying.declared.scoping == "none" else [gone, same, other]
    with trying.written(kept) as tried:
        if not tried.store.supports("delete"):
            raise Unsupported("the store has no delete")
        tried.desk.write_all([Delete("r1")])
        seconds = trying.until(lambda: not tried.finds(gone), waits=True)
        lost = [one for one in kept if one is not gone and not tried.finds(one)]
        tried.desk.write_all([gone])
        back = trying.until(lambda: tried.finds(gone)) is not None
    if seconds is None:
        return Finding("broken", "a deleted record is still found", "", "",
                       "let delete take the record out of the index as well")  # fmt: skip
    if lost:
        return Finding("broken", "takes more than the record", "", f"{lost[0].id} is gone too",
                       "delete by the id alone, in its scope")  # fmt: skip
    if seconds > 1.0 and not trying.waits:
        return Finding("broken", f"effective after {seconds:.1f} s", trying.said("consistency"),
                       "", "declare consistency='eventual'")  # fmt: skip
    if not back:
        return Finding("finding", "what is deleted cannot be written again", "", "",
                       "let put take an id that was deleted")  # fmt: skip
    return Finding("ok", "effective" if trying.waits else "effective at once")
