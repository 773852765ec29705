"""Kinds of failure from public reports: each has a shipped probe, or a reason why it has none.

A kind is named in words. The second part of each entry is what a probe must be made of to be of
that kind at all, so that a probe which is reworded cannot quietly stop covering it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from os.path import commonprefix
from pathlib import Path

import pytest

from memeval.errors import ProbeError
from memeval.loading import load, load_text
from memeval.probe import Probe
from memeval.record import Record
from memeval.stores.words import FUNCTION_WORDS
from memeval.suite import Suite

ROOT = Path(__file__).resolve().parent.parent
DAY = timedelta(days=1)
NEGATIONS = {"not", "cannot", "no", "never"}


# --- what probes are made of


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def telling(text: str) -> set[str]:
    """Words without function words."""
    return words(text) - FUNCTION_WORDS


def expected(probe: Probe) -> list[Record]:
    return [r for r in probe.records if any(r.id in group for group in probe.groups)]


def mine(probe: Probe) -> list[Record]:
    """Other live records of the scope that is asked."""
    wanted = {r.id for r in expected(probe)}
    return [r for r in probe.live if r.scope == probe.scope and r.id not in wanted]


def strangers(probe: Probe) -> list[Record]:
    return [r for r in probe.live if r.id in probe.foreign]


def shared(probe: Probe, record: Record) -> int:
    """How many words of the query a record holds."""
    return len(telling(probe.query) & telling(record.text))


def as_close(probe: Probe, others: list[Record]) -> list[Record]:
    """Of these, the ones that hold as many words of the query as the expected record has."""
    least = min(shared(probe, record) for record in expected(probe))
    return [record for record in others if shared(probe, record) >= max(1, least)]


def alike(one: Record, other: Record) -> float:
    both, either = words(one.text) & words(other.text), words(one.text) | words(other.text)
    return len(both) / len(either)


def masked(text: str) -> str:
    return re.sub(r"\d+", "0", text)


def day(time: datetime) -> str:
    return f"{time.day} {time:%B %Y}"


def puts(probe: Probe) -> list[Record]:
    return [op for op in probe.given if isinstance(op, Record)]


def silent(probe: Probe) -> bool:
    """Negative, and the scope holds records that could be returned."""
    return probe.is_negative and any(r.scope == probe.scope for r in probe.live)


# --- the kinds


def closest_record_is_somebody_elses(p: Probe) -> bool:
    return bool(p.forbid) and any(r.id in p.forbid for r in as_close(p, strangers(p)))


def scope_names_begin_alike(p: Probe) -> bool:
    return any(
        r.scope.startswith(p.scope) or p.scope.startswith(r.scope)
        for r in as_close(p, strangers(p))
    )


def names_share_their_beginning(p: Probe) -> bool:
    names = [(r.scope, p.scope) for r in strangers(p)]
    return any(len(commonprefix(pair)) >= min(map(len, pair)) / 2 for pair in names)


def only_somebody_else_knows(p: Probe) -> bool:
    return silent(p) and any(r.id in p.forbid and shared(p, r) for r in strangers(p))


def one_member_confided(p: Probe) -> bool:
    group = p.scope.startswith(("group:", "family:"))
    return group and any(r.scope.startswith("dm:") and r.id in p.forbid for r in strangers(p))


def both_parts_of_the_scope_count(p: Probe) -> bool:
    first, second = p.scope.split("/")
    scopes = {r.scope for r in strangers(p) if r.id in p.forbid}
    return any(s.startswith(f"{first}/") for s in scopes) and any(
        s.endswith(f"/{second}") for s in scopes
    )


def filter_decides(p: Probe) -> bool:
    failing = [r for r in mine(p) if any(r.meta.get(k) != v for k, v in p.filter.items())]
    return bool(p.filter) and p.k == 1 and bool(as_close(p, failing))


def filter_asks_for_one_of_a_list(p: Probe) -> bool:
    return any(
        isinstance(value, list | tuple) and set(value) < set(record.meta[key])
        for key, value in p.filter.items()
        for record in expected(p)
    )


def crowd_stands_in_other_scopes(p: Probe) -> bool:
    return len(as_close(p, strangers(p))) >= p.k


def asked_from_a_second_scope(p: Probe) -> bool:
    first = puts(p)[0]
    return first.scope != p.scope and first.id in p.foreign and bool(as_close(p, [first]))


def more_fit_than_places(p: Probe) -> bool:
    return sum(len(group) for group in p.groups) > p.k


def store_was_told_what_is_replaced(p: Probe) -> bool:
    return bool(p.superseded & set(p.forbid)) and bool(expected(p))


def only_the_present_has_a_place(p: Probe) -> bool:
    return p.k == 1 and bool(p.stale) and bool(as_close(p, mine(p)))


def older_record_still_holds(p: Probe) -> bool:
    times = [r.at for r in expected(p) if r.at]
    return len(p.groups) > 1 and max(times) - min(times) > 365 * DAY and not p.superseded


def one_id_written_twice(p: Probe) -> bool:
    texts = {
        name: [r.text for r in puts(p) if r.id == name] for group in p.groups for name in group
    }
    return any(
        len(said) == 2 and any(c in said[0] and c not in said[1] for c in p.canary)
        for said in texts.values()
    )


def expired_record_is_closer(p: Probe) -> bool:
    past = [r for r in p.live if r.id in p.expired]
    return bool(as_close(p, past)) and not set(p.expired) & {r.id for r in expected(p)}


def one_record_ends_several(p: Probe) -> bool:
    return any(len(r.supersedes) > 1 and set(r.supersedes) <= set(p.forbid) for r in puts(p))


def deleted_and_nothing_else_fits(p: Probe) -> bool:
    return silent(p) and bool(set(p.deleted) & set(p.forbid))


def delete_spares_the_same_text_elsewhere(p: Probe) -> bool:
    gone = {(r.text, r.scope) for r in puts(p) if r.id in p.deleted}
    return any(r.text == text and r.scope != scope for r in expected(p) for text, scope in gone)


def one_fact_in_more_wordings_than_places(p: Probe) -> bool:
    units = Counter(r.unit for r in mine(p) if r.unit)
    texts = {r.text for r in mine(p)}
    (unit, n), *_ = units.most_common(1)
    return n >= p.k and len(texts) == len(mine(p)) and unit not in {r.unit for r in expected(p)}


def identical_copies_count_as_one(p: Probe) -> bool:
    by_id = {r.id: r for r in p.records}
    copies = [g for g in p.groups if len(g) > 1 and len({by_id[i].text for i in g}) == 1]
    return bool(copies) and len(p.groups) == p.k


def neighbours_differ_in_digits_alone(p: Probe) -> bool:
    return p.k == 1 and any(masked(r.text) == masked(e.text) for r in mine(p) for e in expected(p))


def two_people_nearly_alike(p: Probe) -> bool:
    return any(alike(r, e) >= 0.6 for r in mine(p) for e in expected(p))


def correction_adds_one_little_word(p: Probe) -> bool:
    old = {r.id: r for r in p.records}
    return any(
        words(new.text) - words(old[gone].text) == {"not"} and gone in p.forbid
        for new in expected(p)
        for gone in new.supersedes
    )


def question_of_two_words(p: Probe) -> bool:
    return len(p.query.split()) == 2 and len(expected(p)[0].text.split()) > 10


def no_word_in_common(p: Probe) -> bool:
    return not any(shared(p, record) for record in expected(p))


def some_words_occur_nowhere(p: Probe) -> bool:
    there = set().union(*(words(r.text) for r in p.records))
    return len(telling(p.query) - there) >= 1 and len(telling(p.query) & there) >= 2


def identifier_alone_among_its_anagrams(p: Probe) -> bool:
    codes = {code for r in mine(p) for code in re.findall(r"[A-Z]+-\d+", r.text)}
    return p.k == 1 and any(sorted(c) == sorted(p.query) and c != p.query for c in codes)


def neighbouring_numbers(p: Probe) -> bool:
    (asked,) = re.findall(r"[A-Z]+-(\d+)", p.query)
    there = {int(n) for r in mine(p) for n in re.findall(r"[A-Z]+-(\d+)", r.text)}
    return p.k == 1 and {int(asked) - 1, int(asked) + 1} <= there


def negated_record_is_wanted(p: Probe) -> bool:
    plain = [r for r in as_close(p, mine(p)) if not NEGATIONS & words(r.text)]
    return bool(NEGATIONS & words(expected(p)[0].text)) and bool(plain)


def last_week_is_a_window(p: Probe) -> bool:
    assert p.now is not None
    inside = all(r.at and DAY < p.now - r.at < 14 * DAY for r in expected(p))
    before = [r for r in as_close(p, mine(p)) if r.at and p.now - r.at > 300 * DAY]
    return "last week" in p.query and inside and bool(before)


def yesterday_is_read_against_the_record(p: Probe) -> bool:
    says = [r for r in expected(p) if r.at and "Yesterday" in r.text]
    return any(day(r.at - DAY) in p.query for r in says if r.at)


def midnight_lies_between(p: Probe) -> bool:
    late = [r.at for r in expected(p) if r.at]
    early = [r.at for r in as_close(p, mine(p)) if r.at]
    return any(
        timedelta(0) < after - before < timedelta(hours=2)
        and after.date() > before.date()
        and day(before) in p.query
        for before in late
        for after in early
    )


def old_among_the_chatter_of_today(p: Probe) -> bool:
    assert p.now is not None
    fresh = [r for r in mine(p) if r.at and p.now - r.at < 3 * DAY]
    return len(fresh) >= 3 and all(r.at and p.now - r.at > 365 * DAY for r in expected(p))


def a_link_shares_nothing_with_the_question(p: Probe) -> bool:
    links = expected(p)
    joined = all(
        any(telling(r.text) & telling(other.text) for other in links if other is not r)
        for r in links
    )
    return len(links) >= 3 and joined and no_shared_link(p)


def no_shared_link(p: Probe) -> bool:
    return any(not shared(p, record) for record in expected(p))


def equal_siblings(p: Probe) -> bool:
    texts = [r.text.split(",")[0] for r in expected(p)]
    return len(texts) >= 3 and len(set(texts)) == 1 and p.k > len(texts)


def nothing_was_said_about_it(p: Probe) -> bool:
    return silent(p) and not p.foreign and all(shared(p, r) <= 1 for r in p.live)


def clearly_more_records_than_places(p: Probe) -> bool:
    best = shared(p, expected(p)[0])
    worse = [r for r in mine(p) if shared(p, r) < best]
    return len(worse) > p.k - 1 and len(worse) == len(mine(p))


def equals_without_an_order(p: Probe) -> bool:
    return p.k < len(expected(p)) and len({shared(p, r) for r in expected(p)}) == 1


def written_last_and_asked_at_once(p: Probe) -> bool:
    last = puts(p)[-1]
    recent = p.now and last.at and timedelta(0) <= p.now - last.at <= timedelta(minutes=1)
    return bool(recent) and last in expected(p)


def word_inside_an_unspaced_sentence(p: Probe) -> bool:
    text, query = expected(p)[0].text, p.query
    pairs = [query[n : n + 2] for n in range(len(query) - 1) if query[n : n + 2] in text]
    return " " not in text and any(text.index(pair) > 0 for pair in pairs)


def composed_and_decomposed(p: Probe) -> bool:
    query, text = p.query, expected(p)[0].text
    typed_apart = query != unicodedata.normalize("NFC", query)
    return typed_apart and text == unicodedata.normalize("NFC", text) and not text.isascii()


def invisible_mark_before_the_word(p: Probe) -> bool:
    return p.query.startswith("\u200f") and "\u200f" not in expected(p)[0].text


def fact_at_the_end_of_a_long_text(p: Probe) -> bool:
    said = expected(p)[0].text.lower().split()
    return any(word in said and said.index(word) > 200 for word in telling(p.query))


def hyphen_in_the_question(p: Probe) -> bool:
    return bool(re.search(r"\w-\w", p.query))


def operators_and_unbalanced_marks(p: Probe) -> bool:
    return p.query.count("(") != p.query.count(")") and {"AND", "OR"} <= set(p.query.split())


def scope_name_is_syntax(p: Probe) -> bool:
    return bool(re.search(r"['%*]", p.scope)) and bool(set(p.forbid) & p.foreign)


def an_order_hides_in_a_record(p: Probe) -> bool:
    orders = [r for r in mine(p) if re.match(r"(SYSTEM|CORRECTION)\b", r.text)]
    return any(shared(p, r) for r in orders)


def somebody_else_is_called_something(p: Probe) -> bool:
    return "my name" in p.query and bool(as_close(p, mine(p)))


def only_time_can_decide(p: Probe) -> bool:
    dated = [r for r in p.live if r.at]
    newest = max(dated, key=lambda r: str(r.at))
    equal = {shared(p, r) for r in p.live}
    return p.k == 1 and len(equal) == 1 and expected(p) == [newest] and newest is not puts(p)[-1]


def a_turn_that_asks_nothing(p: Probe) -> bool:
    return silent(p) and "?" not in p.query and not any(shared(p, r) for r in p.live)


def neighbouring_topic(p: Probe) -> bool:
    return silent(p) and not p.foreign and any(shared(p, r) >= 2 for r in p.live)


Kind = tuple[Callable[[Probe], bool], tuple[str, ...]]
KINDS: dict[str, Kind] = {
    "another person's record is as close": (
        closest_record_is_somebody_elses,
        ("bike-on-weekdays-is-mine",),
    ),
    "scope names that begin alike": (
        scope_names_begin_alike,
        ("refunds-of-this-tenant-only", "night-shift-does-not-read-the-parent"),
    ),
    "the only record on the topic is somebody else's": (
        only_somebody_else_knows,
        ("a-plan-that-is-not-mine", "same-question-in-another-home"),
    ),
    "private to one member of the group": (
        one_member_confided,
        ("confided-to-one-asked-by-all", "told-to-one-parent-only"),
    ),
    "a scope of two parts": (both_parts_of_the_scope_count, ("recipe-under-user-and-agent",)),
    "a filter on metadata is applied": (filter_decides, ("only-what-was-decided",)),
    "a filter on one element of a list": (
        filter_asks_for_one_of_a_list,
        ("apple-trees-under-one-label",),
    ),
    "a small scope in a crowd": (
        crowd_stands_in_other_scopes,
        ("three-of-mine-in-a-crowd", "december-hours-of-this-branch"),
    ),
    "found at a small k too": (
        crowd_stands_in_other_scopes,
        ("my-desk-among-everybodys-desks", "homework-of-our-own-class"),
    ),
    "more records fit than were asked for": (more_fit_than_places, ("six-pots-two-places",)),
    "an update that the store was told of": (
        store_was_told_what_is_replaced,
        ("vet-has-another-number", "third-time-for-the-stand-up"),
    ),
    "a question in the present tense": (
        only_the_present_has_a_place,
        ("which-office-now", "branch-that-new-clones-get"),
    ),
    "a newer fact does not end the older one": (
        older_record_still_holds,
        ("second-allergy-keeps-the-first",),
    ),
    "a second write under one id": (one_id_written_twice, ("cabin-wifi-written-twice",)),
    "a record past its date": (expired_record_is_closer, ("diversion-is-over",)),
    "one change ends several particulars": (
        one_record_ends_several,
        ("gave-up-running-altogether",),
    ),
    "deleted means not found": (deleted_and_nothing_else_fits, ("medicine-withdrawn-from-memory",)),
    "a delete is no wider than it was asked": (
        delete_spares_the_same_text_elsewhere,
        ("same-words-deleted-next-door",),
    ),
    "one fact in many wordings": (
        one_fact_in_more_wordings_than_places,
        ("quiet-hours-in-five-wordings",),
    ),
    "identical copies": (identical_copies_count_as_one, ("two-copies-and-the-guest-network",)),
    "records that differ in digits": (
        neighbours_differ_in_digits_alone,
        ("run-0147-not-its-sisters",),
    ),
    "two people are not one": (two_people_nearly_alike, ("paediatrician-and-allergist",)),
    "a correction by one little word": (
        correction_adds_one_little_word,
        ("softener-is-not-connected",),
    ),
    "a question of two words": (question_of_two_words, ("two-words-are-a-question",)),
    "the same meaning without a shared word": (no_word_in_common, ("what-hosts-must-not-serve",)),
    "one word too many": (some_words_occur_nowhere, ("one-word-that-matches-nothing",)),
    "an identifier by itself": (identifier_alone_among_its_anagrams, ("error-code-on-its-own",)),
    "neighbouring article numbers": (neighbouring_numbers, ("stock-of-the-middle-part",)),
    "who does not": (negated_record_is_wanted, ("who-cannot-swim",)),
    "a span of time in words": (last_week_is_a_window, ("promised-last-week",)),
    "the time of the record itself": (
        yesterday_is_read_against_the_record,
        ("the-day-before-that-entry",),
    ),
    "either side of midnight": (midnight_lies_between, ("export-failure-just-before-midnight",)),
    "old and still the only answer": (
        old_among_the_chatter_of_today,
        ("seven-years-old-and-still-true",),
    ),
    "an answer in several links": (
        a_link_shares_nothing_with_the_question,
        ("who-to-call-before-the-fair", "bridge-fact-without-the-name"),
    ),
    "equal siblings all come": (equal_siblings, ("all-steps-of-the-shutdown",)),
    "never said anything about it": (nothing_was_said_about_it, ("passport-never-came-up",)),
    "best first and not worst first": (
        clearly_more_records_than_places,
        ("best-first-not-worst-first",),
    ),
    "ties": (equals_without_an_order, ("six-pots-two-places",)),
    "written and asked at once": (written_last_and_asked_at_once, ("told-a-minute-ago",)),
    "words inside an unspaced sentence": (
        word_inside_an_unspaced_sentence,
        ("chinese-words-without-spaces", "japanese-in-three-scripts"),
    ),
    "composed and decomposed letters": (composed_and_decomposed, ("accents-written-two-ways",)),
    "an invisible right-to-left mark": (
        invisible_mark_before_the_word,
        ("invisible-mark-before-arabic",),
    ),
    "the end of a long text": (fact_at_the_end_of_a_long_text, ("last-line-of-the-handover",)),
    "a hyphen is no syntax": (hyphen_in_the_question, ("hyphenated-checklist",)),
    "operators are plain text": (operators_and_unbalanced_marks, ("query-full-of-operators",)),
    "a scope name is data": (
        scope_name_is_syntax,
        ("wildcard-characters-in-a-scope", "scope-value-with-a-condition-in-it"),
    ),
    "an order in a record is only text": (
        an_order_hides_in_a_record,
        ("order-hidden-in-a-record", "a-text-that-claims-to-correct"),
    ),
    "a person of an example is not me": (
        somebody_else_is_called_something,
        ("name-in-the-tutorial-is-not-mine",),
    ),
    "the order of events": (only_time_can_decide, ("last-recipe-of-the-evening",)),
    "small talk": (a_turn_that_asks_nothing, ("thanks-and-goodbye",)),
    "a neighbouring topic is no answer": (neighbouring_topic, ("insurance-of-another-thing",)),
}

# What no probe can say: the key that it would take, and why the format does without it.
UNSAYABLE: dict[str, tuple[str, str]] = {
    "a blank question": (
        "allow_blank_query",
        "a query is never blank: that is nearly always a slip, so loading refuses it; that blanks "
        "find nothing is a law of the embedded store, tested there",
    ),
    "one question at several k": (
        "also_k",
        "a probe has one k, so that it has one outcome; two probes may differ in k alone, and that "
        "the answer at k begins the answer at k + 1 is a relation of stores, not of a suite",
    ),
    "one question in several scopes": (
        "also_scopes",
        "a probe has one scope, so that its records, its haystack and its outcome belong together",
    ),
    "thousands of generated records": (
        "fill",
        "the haystack surrounds every probe alike with a fixed number of records; how a store "
        "fares as it grows is simulated, not probed",
    ),
    "generated padding": (
        "pad_words",
        "what is written is what is read: a long record is written out, not made up",
    ),
    "a whole scope is cleared": (
        "delete_scope",
        "a probe deletes records by id, which every store with a delete can do; clearing is the "
        "business of the one who runs the store",
    ),
    "many writers at once": (
        "parallel",
        "a history is an order, so that what is true in the end can be told; lost writes of "
        "threads and processes are tested on the store itself",
    ),
    "the same question again and again": (
        "repeat",
        "every query is asked twice anyway, and the option repeats rebuilds the store each time: a "
        "property of the run, the same for all probes",
    ),
    "asked without any wait": (
        "settle_s",
        "how long to wait for writes is an option of the run, since it belongs to the store",
    ),
    "the host in another time zone": (
        "run_with_tz",
        "a probe cannot change the process that asks it; run the suite under another TZ",
    ),
    "the time that a hit carries": (
        "expect_time",
        "records are judged, not their fields: stores differ in what they hand back",
    ),
}

TAGS = (
    "direct age rank scope update delete overflow fullk multi long number negation dup ident "
    "paraphrase negative prefix postfilter scope2 canary stale time expiry filter script syntax "
    "poison entity"
).split()
TAGGED: dict[str, Callable[[Probe], bool]] = {
    "canary": lambda p: bool(p.canary),
    "delete": lambda p: bool(p.deleted),
    "expiry": lambda p: any(r.expires for r in puts(p)),
    "filter": lambda p: bool(p.filter),
    "fullk": lambda p: len(p.groups) == p.k,
    "long": lambda p: max(len(t.split()) for t in (p.query, *(r.text for r in puts(p)))) > 60,
    "multi": lambda p: len(p.groups) > 1,
    "negative": silent,
    "postfilter": crowd_stands_in_other_scopes,
    "prefix": names_share_their_beginning,
    "scope": lambda p: bool(p.foreign),
    "scope2": asked_from_a_second_scope,
    "script": lambda p: not p.query.isascii(),
    "stale": lambda p: bool(p.stale),
}


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return load(ROOT / "probes")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_failure_has_a_probe_that_is_made_for_it(kind: str, shipped: Suite) -> None:
    is_of_the_kind, names = KINDS[kind]
    there = {probe.name: probe for probe in shipped}
    assert [name for name in names if name not in there] == []
    assert [name for name in names if not is_of_the_kind(there[name])] == []


@pytest.mark.parametrize("kind", UNSAYABLE)
def test_what_the_format_cannot_say_is_refused_and_not_passed_over(kind: str) -> None:
    key, reason = UNSAYABLE[kind]
    entry = {"delete_scope": "{delete_scope: a}", "parallel": "{parallel: 20}"}.get(key)
    entry = entry or (f"{{id: r2, text: u, {key}: 1}}" if key == "pad_words" else "")
    field = "" if entry else f", {key}: 1"
    given = ", ".join(filter(None, ["{id: r1, text: t}", entry]))
    with pytest.raises(ProbeError) as caught:
        load_text(f"- {{name: a, query: q, given: [{given}], expect: [r1]{field}}}\n")
    assert any(key in str(fault) for fault in caught.value.faults)
    assert len(reason) > 40


@pytest.mark.parametrize("tag", TAGS)
def test_every_tag_stands_on_five_probes_or_more(tag: str, shipped: Suite) -> None:
    tagged = [probe for probe in shipped if tag in probe.tags]
    assert len(tagged) >= 5
    of_the_kind = TAGGED.get(tag, lambda p: True)
    assert [probe.name for probe in tagged if not of_the_kind(probe)] == []
