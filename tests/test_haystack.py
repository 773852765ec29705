"""What stands around a probe's history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.checks.kinds import is_blank
from memeval.haystack import Haystack, _Telling, around, foreign_scopes, twin
from memeval.probe import Probe
from memeval.record import Record
from memeval.stores.broken import meets
from memeval.text import contains_tokens, normalise

CORPUS = tuple(
    Record(f"b{n}", f"{verb} the {noun} number {n}.")
    for n, (verb, noun) in enumerate(
        (verb, noun)
        for verb in ("Water", "Paint", "Move", "Sell", "Count", "Clean", "Mend", "Lend")
        for noun in ("ladder", "fern", "kettle", "sofa", "drum") * 10
    )
)
MARCH = datetime(2026, 3, 1, tzinfo=UTC)


def probe(name: str = "lunch", **more: object) -> Probe:
    asked: dict[str, object] = {
        "given": [
            Record("r1", "Ana has lunch at stall 41.", "ana", at=MARCH),
            Record("r2", "The tram to Quay Street leaves at nine.", "ana", at=MARCH),
        ],
        "expect": ["r1"],
        "scope": "ana",
    }
    return Probe(name, "Where does Ana have lunch?", **(asked | more))  # type: ignore[arg-type]


def texts(haystack: Haystack) -> list[str]:
    return [record.text for record in haystack.records]


def of_scope(haystack: Haystack, scope: str) -> list[Record]:
    return [record for record in haystack.records if record.scope == scope]


def test_a_hundred_different_records_stand_in_each_of_three_scopes() -> None:
    corpus_texts = {record.text for record in CORPUS}
    haystack = around([probe()], CORPUS)
    background = [record for record in haystack.records if record.text in corpus_texts]
    assert Counter(r.scope for r in background) == {"ana": 100, "ana2": 100, "elsewhere": 100}
    assert len({r.text for r in background}) == 300


def test_near_misses_stand_in_the_own_scope_and_twins_in_the_foreign_ones() -> None:
    haystack = around([probe(near=["Ana has lunch with Bo."])], CORPUS)
    where = {record.text: record.scope for record in haystack.records}
    assert where["Ana has lunch with Bo."] == "ana"
    # One value changed: 41 + 1 in the first foreign scope, 41 + 2 in the second.
    assert where["Ana has lunch at stall 42."] == "ana2"
    assert where["Ana has lunch at stall 43."] == "elsewhere"
    assert len(haystack.records) == 303


def test_half_is_written_before_the_history_and_half_after_and_both_hold_all_scopes() -> None:
    haystack = around([probe(near=["a b", "c d"])], CORPUS)
    assert (len(haystack.before), len(haystack.after)) == (152, 152)
    for half in (haystack.before, haystack.after):
        assert {record.scope for record in half} == {"ana", "ana2", "elsewhere"}


def test_times_stand_before_and_after_those_of_the_history() -> None:
    times = [record.at for record in around([probe()], CORPUS).records]
    assert sum(at < MARCH for at in times if at) > 100
    assert sum(at > MARCH for at in times if at) > 100
    assert min(t for t in times if t) >= MARCH - timedelta(days=30)
    assert max(t for t in times if t) <= MARCH + timedelta(days=30)


@pytest.mark.parametrize("days", [-400, -31, -30, 0, 1, 10, 400])
def test_no_time_lies_after_the_time_of_asking(days: int) -> None:
    now = MARCH + timedelta(days=days)
    haystack = around([probe(now=now)], CORPUS)
    assert max(record.at for record in haystack.records if record.at) <= now
    assert len({record.at for record in haystack.records}) > 100


def test_a_history_without_times_gets_a_haystack_without_times() -> None:
    bare = probe(given=[Record("r1", "Ana has lunch at stall 41.", "ana")])
    assert {record.at for record in around([bare], CORPUS).records} == {None}


def test_all_but_twenty_of_the_own_scope_pass_the_filter() -> None:
    asked = probe(
        given=[Record("r1", "Ana has lunch at stall 41.", "ana", meta={"type": "note"})],
        filter={"type": "note"},
        near=["Ana has lunch with Bo."],
    )
    corpus = [Record(r.id, r.text, meta={"type": "note", "n": n}) for n, r in enumerate(CORPUS)]
    own = of_scope(around([asked], corpus), "ana")
    passing = [record for record in own if meets(record.meta, asked.filter)]
    assert (len(own), len(passing)) == (101, 81)  # 80 of 100, and the near miss
    assert all("n" in record.meta for record in own if record.text != "Ana has lunch with Bo.")


def test_with_few_records_half_of_them_pass_the_filter() -> None:
    own = of_scope(around([probe(filter={"type": "note"})], CORPUS[:30]), "ana")
    assert sum(meets(record.meta, {"type": "note"}) for record in own) == 15


@pytest.mark.parametrize("scope", ["ana", "", "u1", "*", "o'x", "a.b", "雪"])
def test_the_first_foreign_scope_collides_as_a_prefix_and_no_probe_names_either(scope: str) -> None:
    asked = (
        Probe(
            "p",
            "q?",
            [
                Record("r1", "x", scope),
                Record("r2", "y", scope + "2"),
                Record("r3", "z", "elsewhere"),
            ],
            ["r1"],
            scope=scope,
            reads=["elsewhere-too", scope + "22"],
        )
        if scope
        else Probe("p", "q?", scope="default")
    )
    first, second = foreign_scopes([asked], asked.scope)
    named = {"elsewhere-too", scope + "22"} | {r.scope for r in asked.records} | {asked.scope}
    assert first.startswith(asked.scope) and first != asked.scope
    assert not {first, second} & (named if scope else {"default"})
    assert first != second


def test_ids_are_opaque_and_distinct_from_each_other_and_from_those_of_the_probe() -> None:
    haystack = around([probe(near=["a b"])], CORPUS)
    ids = [record.id for record in haystack.records]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & {"r1", "r2", *(record.id for record in CORPUS)}
    assert {len(name) for name in ids} == {12}


def test_the_same_seed_gives_the_same_haystack_and_another_another() -> None:
    one = around([probe()], list(CORPUS), seed=3)
    assert around([probe("renamed")], list(CORPUS), seed=3) == one
    assert around([probe()], CORPUS, seed=4) != one


def test_another_probe_draws_other_records() -> None:
    one = around([probe()], CORPUS)
    other = around([probe(k=4)], CORPUS)
    own = {record.text for record in of_scope(one, "ana")}
    others = {record.text for record in of_scope(other, "ana")}
    # 100 of 400 each: 25 in common on average.
    assert len(own & others) < 60


def test_a_record_of_the_corpus_that_says_a_given_text_is_left_out_in_any_typing() -> None:
    said = "Ana has lunch at stall 41."
    corpus = [Record("c1", "ANA has lunch  at stall 41."), Record("c2", "fine")]
    assert said not in texts(around([probe()], corpus))
    assert texts(around([probe()], corpus, foreign=False)) == ["fine"]


def test_a_text_that_was_updated_later_is_left_out_too() -> None:
    updated = probe(
        given=[
            Record("r1", "Lunch is at home.", "ana"),
            Record("r1", "Lunch is at stall 41.", "ana"),
        ]
    )
    corpus = [Record("c1", "Lunch is at home."), Record("c2", "fine")]
    assert texts(around([updated], corpus, foreign=False)) == ["fine"]


def test_no_record_carries_a_canary() -> None:
    told = probe(
        given=[
            Record("r1", "Ana has lunch at stall 41.", "ana"),
            Record("r2", "The code is kestrel 42.", "bo"),
        ],
        canary=["kestrel", "42"],
        near=["Ana saw a kestrel.", "Ana saw a wren."],
    )
    corpus = [Record("c1", "A Kestrel, over there."), Record("c2", "fine")]
    said = texts(around([told], corpus))
    assert not any(contains_tokens(text, token) for text in said for token in told.canary)
    # The twin that would say 42 is passed over: 43 and 44 stand in its place.
    assert sorted(said) == [
        "Ana has lunch at stall 43.",
        "Ana has lunch at stall 44.",
        "Ana saw a wren.",
        "fine",
    ]


def test_a_twin_never_says_what_another_record_of_the_history_says() -> None:
    codes = [Record(f"r{n}", f"The gate code is {n}.", "ana") for n in (1, 2, 3)]
    said = texts(around([probe(given=codes, expect=["r1", "r2"])], ()))
    assert sorted(said) == ["The gate code is 4."] * 2 + ["The gate code is 5."] * 2


def test_a_text_that_stands_twice_in_the_corpus_is_used_once() -> None:
    corpus = [Record(f"c{n}", "The ladder is in the shed.") for n in range(20)]
    assert texts(around([probe()], corpus)).count("The ladder is in the shed.") == 1


@pytest.mark.parametrize(
    ("size", "own", "colliding", "other"),
    [(0, 0, 1, 1), (50, 50, 1, 1), (150, 100, 51, 1), (250, 100, 101, 51), (400, 100, 101, 101)],
)
def test_a_small_corpus_goes_to_the_own_scope_first(
    size: int, own: int, colliding: int, other: int
) -> None:
    haystack = around([probe()], CORPUS[:size])
    counted = Counter(record.scope for record in haystack.records)  # a twin in each foreign scope
    assert (counted["ana"], counted["ana2"], counted["elsewhere"]) == (own, colliding, other)


def test_a_store_without_scopes_gets_the_own_scope_alone() -> None:
    haystack = around([probe(near=["a b"])], CORPUS, foreign=False)
    assert Counter(record.scope for record in haystack.records) == {"ana": 101}


def history(*scopes: str) -> list[Probe]:
    given = [Record(f"r-{scope}", f"In {scope} the code is 7.", scope) for scope in scopes]
    return [
        Probe(f"p-{n}", f"What is the code {n}?", given, [f"r-{s}"], scope=s, history="h")
        for n, s in enumerate((*scopes, *scopes))
    ]


def test_probes_of_one_history_share_one_haystack() -> None:
    haystack = around(history("ana"), CORPUS)
    counted = Counter(record.scope for record in haystack.records)
    assert counted == {
        "ana": 100,
        "ana2": 101,
        "elsewhere": 101,
    }  # one twin each, though asked twice


def test_a_history_with_two_scopes_asked_draws_for_each_and_no_text_twice() -> None:
    corpus = [Record(f"c{n}", f"Note {n}.") for n in range(600)]
    haystack = around(history("ana", "bo"), corpus)
    background = [record for record in haystack.records if record.text.startswith("Note")]
    counted = Counter(record.scope for record in background)
    assert counted == {"ana": 100, "bo": 100, "ana2": 100, "bo2": 100, "elsewhere": 200}
    assert len({record.text for record in background}) == 600


def test_in_a_history_every_scope_asked_is_served_before_any_foreign_one() -> None:
    haystack = around(history("ana", "bo"), CORPUS[:200])
    counted = Counter(record.scope for record in haystack.records)
    assert (counted["ana"], counted["bo"]) == (100, 100)


@given(st.text(min_size=1), st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_a_twin_is_never_the_text_itself_in_any_script(text: str, n: int) -> None:
    assert twin(text, n) != text
    assert normalise(twin(text, n)) != normalise(text)


@pytest.mark.parametrize(
    "text",
    ["Meet Ottilie at noon.", "Meet Bram at noon.", "昼は駅前で。", "code 0099", "7" * 6000, "٤٢"],
)
def test_two_twins_of_one_text_differ(text: str) -> None:
    assert len({text, twin(text, 0), twin(text, 1), twin(text, 2)}) == 4


sentences = st.lists(
    st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=30).filter(
        lambda text: not is_blank(text) and bool(normalise(text))
    ),
    min_size=1,
    max_size=5,
    unique_by=normalise,
)


@given(sentences, st.data())
@settings(max_examples=40, deadline=None)
def test_no_record_of_a_haystack_says_a_given_text_in_any_script(
    given_texts: Sequence[str], data: st.DataObject
) -> None:
    records = [Record(f"r{n}", text) for n, text in enumerate(given_texts)]
    expected = data.draw(st.sampled_from([record.id for record in records]))
    near = data.draw(sentences)
    asked = Probe("p", "zebra crossing", records, [expected], near=near)
    corpus = [*CORPUS[:5], *(Record(f"x{n}", text.upper()) for n, text in enumerate(given_texts))]
    told = {normalise(text) for text in given_texts}
    assert not told & {normalise(text) for text in texts(around([asked], corpus))}


@settings(deadline=None)
@given(
    st.text("Éé1-,e7 ①木箱😀", max_size=12),
    st.lists(st.sampled_from(["E-7", "É7", "木", "箱木", "😀", "1 e"]), unique=True),
)
def test_a_text_that_carries_a_canary_is_seen_as_such(text: str, canaries: list[str]) -> None:
    asked = Probe("p", "q", [Record("a", "zzz")], ["a"], canary=canaries)
    assert (text in _Telling([asked])) == any(contains_tokens(text, c) for c in canaries)
