"""Which record a hit is, and what becomes of its text and of a second one."""

from __future__ import annotations

from dataclasses import replace

from memeval.record import Record
from memeval.storechecking.everyday import HOME, ODD_TEXTS, TEXTS, library
from memeval.storechecking.findings import Finding, Unsupported
from memeval.storechecking.trying import Answered, Tried, Trying
from memeval.text import contains_tokens, tokens

WEAKER = ("own", "meta", "assigned", "none")
BY = {"own": "own", "metadata": "meta", "receipt": "assigned", "text": "none"}
OLD, NEW = "The ferry leaves from the marigold pier.", "The ferry leaves from the cobalt pier."


def ids(trying: Trying) -> Finding:
    """Whether hits can be told to be the records that were written."""
    kept = library()
    with trying.written(kept) as tried:
        mine = [one for r in kept for one in tried.all(r.text)]
    strangers = [one.hit for one in mine if one.id is None]
    if strangers and not trying.declared.rewrites:
        step = "let put return the store's own id, or give ours back in the hit or its metadata"
        return Finding("broken", "hits are of no record that was written", trying.said("ids"),
                       f"such as id {strangers[0].id!r}", step)  # fmt: skip
    hows = {BY[one.how] for one in mine if one.id is not None}
    if not hows:
        raise Unsupported("no hit is of a record that was written: the store makes its own")
    word = max(hows, key=WEAKER.index)
    words = {"own": "own ids come back", "meta": "own ids stand in the metadata",
             "assigned": "ids of the store, known by its receipts",
             "none": "no ids: known by their texts alone"}[word]  # fmt: skip
    if WEAKER.index(word) < WEAKER.index(trying.declared.ids):
        trying.found["ids"] = word
        return Finding("ok", words, trying.said("ids"))
    return trying.held("ids", word, words)


def texts(trying: Trying) -> Finding:
    """Whether texts come back as they were written."""
    kept = [Record(f"r{n}", text, HOME) for n, text in enumerate((*TEXTS[:3], *ODD_TEXTS))]
    with trying.written(kept) as tried:
        shown = [(r, one.hit.text) for r in kept
                 for one in tried.all(" ".join(tokens(r.text))) if one.id == r.id]  # fmt: skip
    told = [(record, text) for record, text in shown if text]
    if not told:
        if trying.declared.rewrites:
            return Finding("ok", "what was written does not come back", trying.said("rewrites"))
        step = "give the text in the hit: repeated and outdated ones are seen by it"
        return Finding("finding", "hits carry no text", "", "", step)
    changed = [(record, text) for record, text in told if text != record.text]
    if not changed:
        if trying.declared.rewrites:  # it may, and here it did not
            trying.found["rewrites"] = True
            return Finding("ok", "kept, as far as seen", trying.said("rewrites"))
        return trying.held("rewrites", False, "kept")
    record, text = changed[0]
    return trying.held("rewrites", True, "rewritten", f"{record.text!r} came back as {text!r}")


def updates(trying: Trying) -> Finding:
    """What a second write of one id does."""
    first = Record("r1", OLD, HOME)
    second = replace(first, text=NEW)
    step = "let put update where the id is known: an old text that stays is given to the agent"
    with trying.written([first, Record("r2", TEXTS[1], HOME)]) as tried:
        before = _shows(tried, "marigold")
        try:
            tried.desk.write_all([second])
        except Exception as error:  # told: such a store takes no second write
            return Finding("finding", "is refused", "", f"{type(error).__name__}", step)
        trying.until(lambda: _shows(tried, "cobalt") and not _shows(tried, "marigold"))
        has_old, has_new = _shows(tried, "marigold"), _shows(tried, "cobalt")
    if not before:
        raise Unsupported("hits do not show the texts that were written")
    if has_new and not has_old:
        return Finding("ok", "updates the record")
    words = {(True, True): "adds a copy; the old text stays",
             (True, False): "is ignored; the old text stays",
             (False, False): "loses both texts"}[has_old, has_new]  # fmt: skip
    return Finding("finding", words, "", "", step)


def _shows(tried: Tried, word: str) -> bool:
    said = [one.hit.text for text in (OLD, NEW) for one in tried.all(text)]
    return any(contains_tokens(text, word) for text in said)


def twins(trying: Trying) -> Finding:
    """What becomes of two records that say the same."""
    pair = [Record(f"r{n}", TEXTS[2], HOME) for n in (1, 2)]
    other = Record("r3", TEXTS[2], "bo")
    scopes = [] if trying.declared.scoping == "none" else [other]
    with trying.written([*pair, *scopes]) as tried:
        n = max(_distinct(tried.ask(TEXTS[2], 10)) for _ in range(tried.tries))
        elsewhere = not scopes or bool(tried.all(TEXTS[2], 10, "bo"))
        merged = tried.desk.ids.merged.get("r2")
    if not elsewhere:
        return Finding("broken", "an equal text of another scope is lost", trying.said("dedupes"),
                       "", "merge within a scope alone")  # fmt: skip
    if n >= 2 and not merged:
        if trying.declared.dedupes:  # it may, and here it did not
            trying.found["dedupes"] = True
            return Finding("ok", "both are kept, as far as seen", trying.said("dedupes"))
        return trying.held("dedupes", False, "both are kept")
    if n == 0:
        return Finding("broken", "both are lost", trying.said("dedupes"), "", "keep one of them")
    return trying.held("dedupes", True, "merged", f"receipt: merged into {merged[0]}"
                       if merged else "one comes back")  # fmt: skip


def _distinct(answer: list[Answered]) -> int:
    """How many hits of an answer may be the records, the same id counted once."""
    mine = [one.hit.id for one in answer if one.id in ("r1", "r2", "r3")]
    return len({name for name in mine if name is not None}) + mine.count(None)
