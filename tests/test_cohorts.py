"""Copies of probes for cohorts: other names and ids, the same question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memeval.cohorts import (
    MOST_COHORTS,
    Renaming,
    moved,
    plant,
    planted,
    renaming,
    shift_of,
    unplantable,
    why_not,
)
from memeval.errors import ProbeError
from memeval.given import Given
from memeval.loading import load, load_text
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Record
from memeval.runner import run
from memeval.suite import Suite
from memeval.text import content_words
from memeval.words import FUNCTION_WORDS

ROOT = Path(__file__).resolve().parent.parent
MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)
CASES = (str, str.upper, str.lower)
# No function words: those are left as they stand in another case, "will" for Will.
WORDS = st.text("abcdefgh", min_size=3, max_size=8).filter(lambda w: w not in FUNCTION_WORDS)


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return load(ROOT / "probes")


@pytest.fixture(scope="module")
def copies(shipped: Suite) -> list[list[Probe]]:
    return [plant(shipped, cohort) for cohort in range(MOST_COHORTS)]


def probe(**changes: object) -> Probe:
    made = {
        "name": "office",
        "query": "Which office does Priya work from?",
        "given": [
            Record("r1", "Priya works from Porto.", "team", MARCH, "Priya's office"),
            Record("r2", "PRIYA liked the PRIYANKA house; ask priya.", "team2"),
            Record("r3", "Priya used to work in Cork.", "team"),
            Delete("r3"),
        ],
        "expect": ["r1"],
        "forbid": ["r2"],
        "scope": "team",
        "names": ["Priya"],
        "near": ["Priya's desk is grey."],
        **changes,
    }
    return Probe(**made)  # type: ignore[arg-type]


def test_a_copy_is_renamed_everywhere() -> None:
    copy = planted(probe(canary=["Cork"], stale=[]), 1)
    (fresh,) = copy.names
    assert fresh not in ("Priya", "")
    first, second, third, gone = copy.given
    assert copy.query == f"Which office does {fresh} work from?"
    assert first.text == f"{fresh} works from Porto." and first.unit == f"{fresh}'s office"
    assert second.text == f"{fresh.upper()} liked the PRIYANKA house; ask {fresh.lower()}."
    assert copy.near == (f"{fresh}'s desk is grey.",)
    assert (copy.expect, copy.forbid) == ((first.id,), (second.id,))
    assert (first.scope, second.scope, copy.scope) == ("team", "team2", "team")
    assert gone == Delete(third.id)
    assert copy.name == "office@1" and copy.canary == ("Cork",)
    assert (copy.k, copy.tags, copy.must, copy.why) == (5, (), False, "")


def test_cohort_0_is_what_the_author_wrote(shipped: Suite, copies: list[list[Probe]]) -> None:
    assert len(copies[0]) == len(shipped)
    for copy, own in zip(copies[0], shipped, strict=True):
        assert (copy.query, copy.names, copy.near, copy.canary) == (
            own.query, own.names, own.near, own.canary,
        )  # fmt: skip
        assert [r.text for r in copy.records] == [r.text for r in own.records]
        assert len(copy.given) == len(own.given)


def test_cohorts_share_no_id_and_no_fresh_name(copies: list[list[Probe]]) -> None:
    ids = Counter(name for each in copies for copy in each for name in copy.state.by_id)
    assert max(ids.values()) == 1  # not even two probes of one cohort, in one store
    names = [
        {name.casefold() for copy in each for word in copy.names for name in word.split()}
        for each in copies
    ]
    assert all(len(each) > 20 for each in names)
    for n, these in enumerate(names):
        for others in names[n + 1 :]:
            assert not these & others


def test_a_fresh_name_stands_in_no_probe(shipped: Suite) -> None:
    said = " ".join([p.query + " " + " ".join(r.text for r in p.records) for p in shipped])
    words = set(re.findall(r"\w+", said.casefold()))
    for cohort in range(1, MOST_COHORTS):
        fresh = {w.casefold() for _, new in renaming(shipped, cohort).words for w in new.split()}
        assert not fresh & words


def test_a_name_of_the_list_that_stands_in_a_probe_is_passed_over() -> None:
    said = probe(given=[Record("r1", "Priya shares with Abigail. ADRIANO too.", "team")], forbid=[])
    fresh = {renaming([said], cohort).words[0][1] for cohort in range(1, MOST_COHORTS)}
    assert len(fresh) == MOST_COHORTS - 1
    assert not fresh & {"Abigail", "Adriano"}
    assert renaming([probe()], 1).words == (("Priya", "Abigail"),)


def test_copies_load_and_lint_like_their_originals(
    shipped: Suite, copies: list[list[Probe]]
) -> None:
    for cohort in (1, MOST_COHORTS - 1):
        suite = Suite(tuple(copies[cohort]), shipped.haystack)
        text = yaml.safe_dump(suite.to_dict(), allow_unicode=True)
        assert list(load_text(text)) == list(suite)
        kept = {copy.name.partition("@")[0] for copy in suite}
        before = Suite(tuple(p for p in shipped if p.name in kept), shipped.haystack).lint()
        assert sorted(suite.lint()["field"]) == sorted(before["field"])


def test_what_query_and_answer_share_stays_shared(
    shipped: Suite, copies: list[list[Probe]]
) -> None:
    own = {p.name: p for p in shipped}

    def shared(one: Probe) -> list[int]:
        asked = Counter(content_words(one.query))
        return [
            (asked & Counter(content_words(one.state.by_id[name].text))).total()
            for group in one.groups
            for name in group
        ]

    for copy in (copy for each in copies[1:] for copy in each):
        before = own[copy.name.partition("@")[0]]
        assert shared(copy) == shared(before), copy.name
        assert copy.is_positive == before.is_positive and copy.k == before.k


def test_a_store_answers_copies_as_it_answers_the_originals(
    shipped: Suite, copies: list[list[Probe]]
) -> None:
    kept = {copy.name.partition("@")[0] for copy in copies[3]}
    own = run([p for p in shipped if p.name in kept], "sqlite").results
    copy = run(copies[3], "sqlite").results
    assert list(copy["probe"].str.partition("@")[0]) == list(own["probe"])
    for column in ("first_rank", "recall_fraction", "n_leaked"):
        assert copy[column].equals(own[column]), column


@given(st.lists(WORDS, min_size=1, max_size=40, unique=True), st.integers(1, MOST_COHORTS - 1))
def test_no_two_names_become_one(names: list[str], cohort: int) -> None:
    mixed = [name.capitalize() if n % 2 else name for n, name in enumerate(names)]
    words = renaming([Probe("p", "?", names=mixed)], cohort).words
    assert [name for name, _ in words] == mixed
    fresh = [new.casefold() for _, new in words]
    assert len(set(fresh)) == len(fresh)
    assert not set(fresh) & {name.casefold() for name in mixed}
    assert all(new[0].isupper() == name[0].isupper() for name, new in words)


@given(
    st.lists(WORDS, min_size=1, max_size=6, unique=True),
    st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from([str, str.upper, str.lower])), max_size=9
    ),
)
def test_renaming_can_be_undone(names: list[str], said: Sequence[tuple[int, object]]) -> None:
    capital = [name.capitalize() for name in names]
    there = renaming([Probe("p", "?", names=capital)], 1)
    back = Renaming(tuple((new, name) for name, new in there.words))
    text = " ".join(case((*capital, "xyzzy")[n % (len(names) + 1)]) for n, case in said)  # type: ignore[operator]
    renamed = there.apply(text)
    assert back.apply(renamed) == text
    assert not {name.casefold() for name in capital} & set(renamed.casefold().split())


def test_many_names_are_no_trouble() -> None:
    many = [Probe(f"p{n}", f"Where is Name{n}?", names=[f"Name{n}"]) for n in range(300)]
    fresh = [new for c in range(1, MOST_COHORTS) for _, new in renaming(many, c).words]
    assert len({new.casefold() for new in fresh}) == 300 * (MOST_COHORTS - 1)
    assert all(new.isalpha() and new[0].isupper() for new in fresh)


def test_a_probe_that_is_added_changes_no_name() -> None:
    first = [Probe(f"p{n}", f"Where is Name{n}?", names=[f"Name{n}"]) for n in range(20)]
    more = [*first, Probe("new", "Where are Bo and the boat?", names=["Bo", "boat"])]
    for cohort in range(1, 4):
        assert renaming(more, cohort).words[:20] == renaming(first, cohort).words


def test_names_are_whole_words_and_the_longest_wins() -> None:
    words = Renaming((("Otto", "Rolf"), ("Otto Voss", "Imre Dahl"), ("boat", "harp")))
    said = "Otto Voss, Otto's boat, Ottoline, lifeboat, Boat, BOAT, boat-house, my_boat"
    assert words.apply(said) == (
        "Imre Dahl, Rolf's harp, Ottoline, lifeboat, Harp, HARP, harp-house, my_boat"
    )


def test_a_name_that_is_a_common_word_is_renamed_with_its_capital_only() -> None:
    assert Renaming((("Will", "Rolf"),)).apply("Will will, WILL he?") == "Rolf will, WILL he?"


def test_scripts_without_spaces_are_renamed_within_a_sentence() -> None:
    assert Renaming((("王芳", "Rolf"),)).apply("我叫王芳。") == "我叫Rolf。"


def test_names_of_several_words_and_of_several_things_keep_their_form() -> None:
    (aunt, new), (tides, others) = renaming(
        [Probe("p", "Where?", names=["Aunt Odile", "tides"])], 2
    ).words
    assert (aunt, len(new.split())) == ("Aunt Odile", 2) and new.istitle()
    assert tides == "tides" and others.islower() and others.endswith("s")


def test_times_move_with_the_session(shipped: Suite) -> None:
    told = [
        Record("a", "Priya parks at 4.", at=MARCH, expires=MARCH + timedelta(days=9)),
        Record("b", "Priya parks at 5.", at=MARCH + timedelta(days=2), supersedes=("a",)),
        Record("c", "Hm."),
    ]
    at = datetime(2031, 7, 8, 12, tzinfo=UTC)
    base = Probe("p", "Where does Priya park?", told, ["b"], names=["Priya"])
    first, second, third = planted(base, 1, at=at).records
    assert (first.at, second.at, third.at) == (at - timedelta(days=2), at, None)
    assert first.expires == at + timedelta(days=7)
    assert second.supersedes == (first.id,)
    asked = planted(Probe("p", base.query, told, ["b"], now=MARCH + timedelta(days=3)), 0, at=at)
    assert asked.now == at
    assert asked.records[1].at == at - timedelta(days=1)
    dated = planted(Probe("p", "Where did I park in 2026?", told, ["b"]), 0, at=at)
    assert dated.records[0].at == MARCH
    assert planted(base, 1).records[0].at == MARCH


def test_what_never_expires_still_does_not() -> None:
    forever = datetime(9999, 12, 31, tzinfo=UTC)
    base = Probe("p", "x?", [Record("a", "x", at=MARCH, expires=forever)], ["a"])
    copy = planted(base, 0, at=MARCH + timedelta(days=400))
    assert copy.records[0].expires == forever


def test_other_steps_of_a_history_stay() -> None:
    told = [Record("a", "Bo has it."), Consolidate(), Advance(timedelta(days=1)), Delete("a")]
    copy = planted(Probe("p", "Who has it, Bo?", told, names=["Bo"]), 1)
    assert copy.given[1:3] == (Consolidate(), Advance(timedelta(days=1)))
    assert copy.deleted == {copy.records[0].id}


def test_groups_and_stale_ids_go_along() -> None:
    told = [Record(name, f"Bo has {name}.") for name in "abcd"]
    base = Probe("p", "What has Bo?", told, ["a", ["b", "c"]], stale=["d"], names=["Bo"])
    copy = planted(base, 1)
    a, b, c, d = (record.id for record in copy.records)
    assert (copy.expect, copy.stale) == ((a, (b, c)), (d,))


def test_what_cannot_be_planted_twice_says_why(shipped: Suite) -> None:
    assert why_not(probe()) is None
    assert "has no names" in str(why_not(probe(names=[])))
    assert "stands in the query" in str(why_not(probe(names=["Porto"])))
    plain = [Record("r1", "The office is in Porto.", "team")]
    assert "'The office is in Porto.'" in str(why_not(probe(given=plain, forbid=[])))
    assert "history 'h'" in str(why_not(probe(history="h")))
    bare = Suite.of(probe()).without_texts()[0]
    assert "taken out" in str(why_not(bare))
    listed = {p.name for p, _ in unplantable(shipped)}
    assert {p.name for p in shipped if not p.names} <= listed
    assert len(shipped) - len(listed) >= 20
    with pytest.raises(ValueError, match="'office' cannot be planted twice: it has no names"):
        planted(probe(names=[]), 1)
    assert planted(probe(names=[]), 0).name == "office@0"


@pytest.mark.parametrize("cohort", [-1, MOST_COHORTS])
def test_cohorts_out_of_range_are_refused(cohort: int) -> None:
    with pytest.raises(ValueError, match=f"cohort is {cohort}, wanted 0 to 7"):
        renaming([probe()], cohort)
    with pytest.raises(ValueError, match="cannot|cohort is"):
        planted(probe(), cohort)


def test_a_shared_history_stays_one() -> None:
    told = Given([Record("a", "The key is blue.", at=MARCH), Record("b", "The lid is red.")])
    two = [
        Probe("key", "Which key?", told, ["a"], history="h"),
        Probe("lid", "Which lid in 2026?", told, ["b"], history="h", now=MARCH),
    ]
    first, second = plant(Suite.of(two), 0, at=MARCH + timedelta(days=5))
    assert first.given is second.given
    assert first.records[0].at == MARCH + timedelta(days=5)
    assert (first.expect, second.expect) == ((first.records[0].id,), (first.records[1].id,))
    assert Suite.of([first, second]).histories.keys() == {"h"}
    assert plant(two, 1) == []


def test_one_probe_is_planted_as_in_the_suite(shipped: Suite) -> None:
    whole = {copy.name: copy for copy in plant(shipped, 2)}
    own = next(p for p in shipped if p.name == "which-office-now")
    assert planted(own, 2, names=renaming(shipped, 2)) == whole["which-office-now@2"]


MOMENTS = st.one_of(st.none(), st.datetimes(datetime(1990, 1, 1), timezones=st.just(UTC)))
OFTEN = st.sampled_from(["Ana has the key.", "ANA, ana!", "Hm.", "Zoë and Ana met."])


@st.composite
def askable(draw: st.DrawFn) -> Probe:
    """Any probe that copies can be made of, and some that they cannot."""
    n = draw(st.integers(1, 4))
    told: list[Record | Delete | Consolidate | Advance] = [
        Record(
            f"r{i}", draw(OFTEN), draw(st.sampled_from(["default", "team"])), draw(MOMENTS),
            draw(st.sampled_from([None, "Ana's key"])),
            ("r0",) if i and draw(st.booleans()) else (),
            draw(MOMENTS), draw(st.sampled_from([{}, {"type": "note"}])),
        )
        for i in range(n)
    ]  # fmt: skip
    told += draw(st.lists(st.sampled_from([Consolidate(), Advance(timedelta(days=1))]), max_size=1))
    told += [Delete("r0")] if draw(st.booleans()) else []
    return Probe(
        "p", draw(st.sampled_from(["Where is Ana?", "Who has it?", "What of Ana in 2026?"])),
        told, (), draw(st.sampled_from([(), ("r0",)])), draw(st.integers(1, 9)),
        stale=draw(st.sampled_from([(), ("r0",)])), now=draw(MOMENTS),
        canary=draw(st.sampled_from([(), ("Cork",)])), near=draw(st.lists(OFTEN, max_size=1)),
        filter=draw(st.sampled_from([{}, {"type": "note"}])), names=["Ana"], why="a reason",
        history=draw(st.sampled_from([None, "h"])), tags=["a"], must=draw(st.booleans()),
    )  # fmt: skip


def checked(copy: Probe) -> Probe:
    """The same, made as a user makes one: with every check."""
    return Probe(**{field.name: getattr(copy, field.name) for field in fields(Probe)})


def assert_sound(copy: Probe) -> None:
    again = checked(copy)
    for field in fields(Probe):
        mine, theirs = getattr(copy, field.name), getattr(again, field.name)
        assert mine == theirs and type(mine) is type(theirs), field.name
    assert copy.content_hash == again.content_hash and hash(copy) == hash(again)


@given(askable(), st.integers(0, 2), MOMENTS)
def test_a_copy_is_what_the_checks_would_make_of_it(
    own: Probe, cohort: int, at: datetime | None
) -> None:
    if cohort and why_not(own):
        return
    copy = planted(own, cohort, at=at)
    assert_sound(copy)
    assert copy.filter is not own.filter
    if own.history is None:
        assert_sound(moved(planted(own, cohort), shift_of(own, at)))
        assert moved(planted(own, cohort), shift_of(own, at)) == copy


def test_copies_of_the_shipped_suite_are_sound(copies: list[list[Probe]]) -> None:
    for copy in (copy for cohort in copies[:3] for copy in cohort):
        assert_sound(copy)


def test_a_copy_whose_canary_would_stand_in_its_query_is_refused() -> None:
    told = [Record("r1", "The samples are dry.")]
    own = Probe("p", "Where are the samples?", told, ["r1"], names=["samples"])
    names = renaming([own], 1)
    marked = Probe("p", own.query, told, ["r1"], names=["samples"], canary=[names.words[0][1]])
    with pytest.raises(ProbeError, match="stands in the query"):
        planted(marked, 1, names=names)
