"""What a store check asks: each question tries one thing and says what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from memeval.errors import said
from memeval.record import Delete, Op, Record
from memeval.storechecking.trying import Trying

TEXTS = (
    "Lunch is at the noodle bar on Quay Street.",
    "The blue van is parked behind the warehouse.",
    "My favourite tea is lapsang.",
    "The rowing club meets on Thursday evening.",
    "The landlord raised the rent in March.",
    "Passwords are rotated every ninety days.",
)
SCOPES = ("ana", "an", "ANA", "ana.b", "ana/b", "*", "%", "_", "o'x", 'o"x', "мая", "ana ", "a\nb")
ODD = (
    "", " ", "?!", "☕☕", "tea " * 2500, "' OR 1=1; --", '"tea" AND (NEAR', "{{tea}} {tea}",
    "a\x00b", "<b>tea</b>", "*", "%",
)  # fmt: skip


class Unsupported(Exception):
    """The store has not what the question is about."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a question.

    Attributes
    ----------
    status : {'ok', 'finding', 'broken'}
        Broken: other than declared, or than any store owes its caller.
    words : str
        What was found.
    declared, evidence, next_step : str
        What the store says of itself, what was seen, and what to do; may be empty.
    """

    status: str
    words: str
    declared: str = ""
    evidence: str = ""
    next_step: str = ""


def _records(scope: str = "ana") -> list[Record]:
    return [Record(f"r{n}", text, scope) for n, text in enumerate(TEXTS)]


def ids(trying: Trying) -> Finding:
    """Whether hits can be told to be the records that were written."""
    declared = trying.capabilities.ids
    with trying.written(_records()) as store:
        found = [store.ask(text, 1)[:1] for text in TEXTS]
    hows = {one[0].how if one else "nothing" for one in found}
    seen = f"by {', '.join(sorted(hows))}"
    if hows & {"unknown", "nothing"}:
        step = "let put return the store's own id, or give ours back in the hit or its metadata"
        return Finding("broken", "some hits are of no record", declared, seen, step)
    wanted = {"own": {"own"}, "meta": {"own", "metadata"}}.get(declared, hows)
    if hows <= wanted:
        return Finding("ok", f"recognised {seen}", declared)
    return Finding("finding", f"recognised {seen}", declared, "",
                   f"declare ids={_ids_word(hows)!r}")  # fmt: skip


def _ids_word(hows: set[str]) -> str:
    return "meta" if "metadata" in hows else "assigned" if "receipt" in hows else "none"


def texts(trying: Trying) -> Finding:
    """Whether texts come back as they were written."""
    rewrites = trying.capabilities.rewrites
    odd = (*TEXTS[:3], "Tea\twith <b>milk</b> & 2 % sugar, {{x}} ☕", "line one\nline two of tea")
    kept = [Record(f"r{n}", text, "ana") for n, text in enumerate(odd)]
    with trying.written(kept) as store:
        found = {one.id: one.hit.text for text in odd for one in store.ask(text)}
    changed = [r for r in kept if r.id in found and found[r.id] not in ("", r.text)]
    if not changed:
        return Finding("ok", "kept", f"rewrites={rewrites}")
    evidence = f"{changed[0].text!r} came back as {found[changed[0].id]!r}"
    if rewrites:
        return Finding("ok", "rewritten", "rewrites=True", evidence)
    return Finding("broken", "rewritten", "rewrites=False", evidence, "declare rewrites=True")


def updates(trying: Trying) -> Finding:
    """What a second write of one id does."""
    old, new = Record("r1", "My favourite tea is lapsang.", "ana"), "My favourite tea is assam."
    with trying.written([old, Record("r1", new, "ana"), Record("r2", TEXTS[1], "ana")]) as store:
        said_now = [one.hit.text for one in store.ask("My favourite tea is lapsang or assam.", 10)]
    has_old, has_new = old.text in said_now, new in said_now
    if has_new and not has_old:
        return Finding("ok", "updates the record")
    step = "let put update where the id is known: an old text that stays is given to the agent"
    if has_new:
        return Finding("finding", "adds a copy; the old text stays", "", "", step)
    if has_old:
        return Finding("finding", "is ignored; the old text stays", "", "", step)
    return Finding("finding", "loses both texts", "", str(said_now[:2]), step)


def scopes(trying: Trying) -> Finding:
    """Whether scopes are compared whole."""
    declared = trying.capabilities.scoping
    if declared == "none":
        raise Unsupported("the store declares that it has no scopes")
    refused, kept = [], list[tuple[str, Record]]()
    for n, scope in enumerate(SCOPES):
        record = Record(f"r{n}", f"The tea of person {n} is lapsang.", scope)
        try:
            with trying.written([record], wait=False):
                kept.append((scope, record))
        except Exception as error:  # told: a name that the store does not take
            refused.append(f"{scope!r} ({said(error)})")
    strays, lost = [], []
    with trying.written([record for _, record in kept]) as store:
        for scope, record in kept:
            found = store.ids("lapsang tea", 50, scope)
            lost += [repr(scope)] if record.id not in found else []
            others = sorted({str(i) for i in found if i != record.id})
            strays += [f"{scope!r} finds {', '.join(others[:3])}"] if others else []
    told = f"refused: {'; '.join(refused)}" if refused else ""
    if strays:
        word = "ignored" if len(strays) > len(kept) // 2 else "not exact"
        step = "compare scopes whole, as a bound parameter and never as a pattern or prefix"
        return Finding("broken", word, declared, "; ".join(strays[:4]), step)
    if lost:
        return Finding("broken", "some scopes lose their records", declared, ", ".join(lost),
                       "keep the scope as it is given")  # fmt: skip
    return Finding("finding" if refused else "ok", "exact", declared, told)


def deletes(trying: Trying) -> Finding:
    """Whether what is deleted is gone, and nothing else is."""
    if not trying.space.supports("delete"):
        raise Unsupported("the store has no delete")
    same = Record("r2", TEXTS[2], "bo")
    ops: list[Op] = [
        Record("r1", TEXTS[2], "ana"),
        same,
        Record("r3", TEXTS[1], "ana"),
        Delete("r1"),
    ]
    with trying.written(ops) as store:
        gone = "r1" not in store.ids(TEXTS[2], 10)
        others = "r3" in store.ids(TEXTS[1], 10)
        scoped = trying.capabilities.scoping == "none" or "r2" in store.ids(TEXTS[2], 10, "bo")
    if not gone:
        return Finding("broken", "a deleted record is still found", "", "",
                       "let delete take the record out of the index as well")  # fmt: skip
    if not (others and scoped):
        return Finding("broken", "takes more than the record", "", "",
                       "delete by the id alone, in its scope")  # fmt: skip
    return Finding("ok", "effective at once")


def order(trying: Trying) -> Finding:
    """Whether the best match comes first, and which way scores run."""
    declared = trying.capabilities.score_order
    with trying.written(_records()) as store:
        answers = [store.ask(text, 6) for text in TEXTS]
    first = [bool(a) and a[0].id == f"r{n}" for n, a in enumerate(answers)]
    scores = [[one.hit.score for one in a if one.hit.score is not None] for a in answers]
    falls = all(s == sorted(s, reverse=True) for s in scores)
    rises = all(s == sorted(s) for s in scores)
    differ = any(len(set(s)) > 1 for s in scores)
    way = None if not differ else "high" if falls else "low" if rises else "neither"
    evidence = f"own text at rank 1 in {sum(first)} of {len(first)}; scores: {way or 'say nothing'}"
    if declared is not None and way not in (declared, None):
        return Finding("broken", f"scores run {way}", declared, evidence,
                       f"declare score_order={way!r}" if way in ("high", "low")
                       else "give hits in the order of their scores")  # fmt: skip
    if not all(first):
        return Finding(
            "finding", "a record is not first for its own text", declared or "", evidence
        )
    if declared is None and way in ("high", "low"):
        return Finding("finding", "best first", "", evidence, f"declare score_order={way!r}")
    return Finding("ok", "best first", declared or "", evidence)


def cutoff(trying: Trying) -> Finding:
    """Whether no more than k come back."""
    records = [Record(f"r{n}", f"The tea of day {n} is lapsang.", "ana") for n in range(8)]
    with trying.written(records) as store:
        counts = {k: len(store.ask("The tea is lapsang.", k)) for k in (1, 3, 8, 50)}
    evidence = ", ".join(f"k={k}: {n}" for k, n in counts.items())
    if any(n > k for k, n in counts.items()):
        return Finding("broken", "more than k come back", "", evidence, "cut the answer at k")
    if counts[50] < 8:
        return Finding("finding", "fewer than there are", "", evidence,
                       "see what else cuts the answer: a floor, a budget, a limit")  # fmt: skip
    return Finding("ok", "honoured", "", evidence)


def visibility(trying: Trying) -> Finding:
    """How long until a write can be found."""
    declared = trying.capabilities.consistency
    records = _records()
    with trying.written(records, wait=False) as store:
        at_once = all(r.id in store.ids(r.text, 10) for r in records)
        seconds = 0.0 if at_once else trying.seen(store, records)
    if at_once:
        return Finding("ok", "at once", declared)
    if seconds is None:
        return Finding("broken", f"not within {trying.options.settle_s:g} s", declared, "",
                       "raise settle_s, or see why writes do not arrive")  # fmt: skip
    status = "ok" if declared == "eventual" else "broken"
    return Finding(status, f"after {seconds:.1f} s", declared, "",
                   "" if status == "ok" else "declare consistency='eventual'")  # fmt: skip


def steadiness(trying: Trying) -> Finding:
    """Whether the same question has the same answer, of one store and of another."""
    declared = trying.capabilities.deterministic
    query = "What do we drink and where do we park?"
    several = []
    for _ in range(2):
        with trying.written(_records()) as store:
            several.append([tuple(store.ids(query)) for _ in range(5)])
    within = len({answer for answers in several for answer in answers[:5]}) == 1
    words = "the same answer each time" if within else "answers differ"
    if declared is True and not within:
        return Finding("broken", words, "deterministic=True", str(several[0][:2]),
                       "declare deterministic=False: probes are then repeated")  # fmt: skip
    step = "" if within or declared is False else "declare deterministic=False"
    status = "ok" if within or declared is False else "finding"
    return Finding(status, words, f"deterministic={declared}", "", step)


def oddities(trying: Trying) -> Finding:
    """Whether odd queries get an answer or a clean error."""
    failed, everything = [], []
    with trying.written(_records()) as store:
        before = store.ids(TEXTS[2], 1)
        for query in ODD:
            try:
                found = store.ask(query, 50)
            except Exception as error:  # told below: a refusal in words is a clean one
                failed.append(f"{query[:12]!r}: {said(error)[:80]}")
                continue
            if not query.strip() and len(found) == len(TEXTS):
                everything.append(repr(query))
        sound = store.ids(TEXTS[2], 1) == before
    if not sound:
        return Finding("broken", "after odd queries it no longer answers", "", "; ".join(failed),
                       "pass queries as data, and leave no transaction open")  # fmt: skip
    if failed:
        return Finding("finding", f"refuses {len(failed)} of {len(ODD)}", "", "; ".join(failed[:4]),
                       "let blank or odd queries answer [], unless a refusal is meant")  # fmt: skip
    if everything:
        return Finding("finding", "gives everything for a blank query", "", ", ".join(everything))
    return Finding("ok", f"answers all {len(ODD)}")


def traces(trying: Trying) -> Finding:
    """Whether reading changes what is read."""
    with trying.written(_records()) as store:
        before = [store.ids(text) for text in TEXTS]
        n_before = store.desk.store.count()
        for n in range(20):
            store.ask(TEXTS[2] if n % 2 else "parking", 3)
        after = [store.ids(text) for text in TEXTS]
        n_after = store.desk.store.count()
    if before == after and n_before == n_after:
        return Finding("ok", "reads leave no trace")
    evidence = "answers changed" if before != after else f"count went {n_before} to {n_after}"
    return Finding("finding", "reads leave a trace", "", evidence,
                   "probes are asked in clean stores; in production ranks will wander")  # fmt: skip


def twins(trying: Trying) -> Finding:
    """What becomes of two records that say the same."""
    declared = trying.capabilities.dedupes
    pair = [
        Record("r1", TEXTS[2], "ana"),
        Record("r2", TEXTS[2], "ana"),
        Record("r3", TEXTS[1], "ana"),
    ]
    with trying.written(pair) as store:
        n = sum(one.hit.text == TEXTS[2] for one in store.ask(TEXTS[2], 10))
    if n == 2:
        return Finding("ok", "both are kept", f"dedupes={declared}")
    status = "ok" if declared else "finding"
    return Finding(status, "merged" if n == 1 else f"{n} come back", f"dedupes={declared}", "",
                   "" if declared else "declare dedupes=True")  # fmt: skip


def filters(trying: Trying) -> Finding:
    """Whether a filter on metadata does what it says."""
    if "filter" not in trying.capabilities.honours:
        raise Unsupported("the store declares no filter")
    metas: tuple[dict[str, Any], ...] = (
        {"type": "note", "labels": ["a", "b"]},
        {"type": "note"},
        {"type": "chat"},
    )
    given = [Record(f"r{n}", f"Plums, entry {n}.", "ana", meta=m) for n, m in enumerate(metas)]
    wanted = {"type=note": ({"type": "note"}, {"r0", "r1"}), "labels=b": ({"labels": "b"}, {"r0"}),
              "type=o'x": ({"type": "o'x"}, set())}  # fmt: skip
    with trying.written(given) as store:
        wrong = [
            f"{name} gives {sorted(map(str, found))}"
            for name, (condition, ids_wanted) in wanted.items()
            for found in [{one.id for one in store.ask("plums entry", 9, filter=condition)}]
            if found != ids_wanted
        ]
    if wrong:
        return Finding("broken", "does not filter as asked", "honours filter", "; ".join(wrong),
                       "compare values for equality, and of a list ask for its items")  # fmt: skip
    return Finding("ok", "as asked", "honours filter")


QUESTIONS: Mapping[str, Callable[[Trying], Finding]] = MappingProxyType({
    "ids": ids,
    "texts": texts,
    "second write of an id": updates,
    "equal texts": twins,
    "scopes": scopes,
    "delete": deletes,
    "order and scores": order,
    "k": cutoff,
    "visible": visibility,
    "deterministic": steadiness,
    "odd queries": oddities,
    "traces of reading": traces,
    "filter": filters,
})  # fmt: skip
