"""The generated sessions: pure, true to what they say, and no answer to any probe."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.cohorts import plant
from memeval.errors import MemevalError
from memeval.loading import load
from memeval.neardup import near_duplicate_key
from memeval.probe import Probe
from memeval.record import Delete, Record
from memeval.sessioning import freshnames, people, smalltalk
from memeval.sessioning.model import State, Truth
from memeval.sessioning.stories import STORIES
from memeval.sessioning.topics import PASSING, TOPICS
from memeval.sessions import (
    Generator,
    Session,
    generator_for,
    sessions_from,
    sessions_jsonl,
    sessions_of_transcript,
    truth_of,
)
from memeval.suite import Suite
from memeval.text import contains_tokens, normalise
from memeval.transcript_shapes import Turn
from memeval.transcripts import Transcript

ROOT = Path(__file__).resolve().parent.parent
TEXT_OPTIONS = ("long_texts", "typos", "second_language")
OPTIONS = (*TEXT_OPTIONS, "deletes", "bursts")
# Change the version of the generator whenever one of these must change.
GOLDEN = "6d8df488ad055c6dac99c9d40aec8beea896cf13fa7921eae5927d2e6b263089"
GOLDEN_ALL = "4d054248882cd92d63f36e620d69f2c3eff722eb6a53ca536ba9f527bae901bd"


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return load(ROOT / "probes")


@pytest.fixture(scope="module")
def plain() -> list[Session]:
    return list(Generator().sessions(300))


@pytest.fixture(scope="module")
def told(plain: list[Session]) -> list[tuple[Record, Truth]]:
    return [pair for s in plain for pair in zip(s.records, s.truths, strict=True)]


def sha256(sessions: Iterator[Session]) -> str:
    return hashlib.sha256("".join(sessions_jsonl(sessions)).encode()).hexdigest()


@settings(max_examples=25)
@given(
    st.integers(0, 2**32), st.integers(0, 8), st.integers(0, 8), st.sets(st.sampled_from(OPTIONS))
)
def test_the_first_sessions_do_not_depend_on_how_many_there_are(
    seed: int, n: int, more: int, on: set[str]
) -> None:
    options = dict.fromkeys(on, True)
    few = list(Generator(seed, **options).sessions(n))
    assert list(Generator(seed, **options).sessions(n + more))[:n] == few
    assert [session.number for session in few] == list(range(n))


def test_a_session_is_a_pure_function_of_number_and_state() -> None:
    generator = Generator(deletes=True, bursts=True)
    state = generator.state()
    for number in range(30):
        _, state = generator.session(number, state)
    before = json.dumps(state.to_dict())
    first, second = (generator.session(30, state) for _ in range(2))
    assert first == second
    assert json.dumps(state.to_dict()) == before


def test_a_state_that_was_written_as_json_goes_on_the_same() -> None:
    generator = Generator()
    state = generator.state()
    for number in range(25):
        _, state = generator.session(number, state)
    read = State.from_dict(json.loads(json.dumps(state.to_dict())))
    assert generator.session(25, read) == generator.session(25, state)


def test_the_same_seed_gives_the_same_bytes_for_ever() -> None:
    assert sha256(Generator().sessions(40)) == GOLDEN
    everything = Generator(11, **dict.fromkeys(OPTIONS, True))  # type: ignore[arg-type]
    assert sha256(everything.sessions(40)) == GOLDEN_ALL


def test_another_seed_gives_other_sessions() -> None:
    assert sha256(Generator(8).sessions(2)) != sha256(Generator(7).sessions(2))


def test_a_generator_survives_pickling_after_use(shipped: Suite) -> None:
    generator = generator_for(shipped[:30])
    first = list(generator.sessions(2))
    assert list(pickle.loads(pickle.dumps(generator)).sessions(2)) == first


def bounds(n: int, p: float) -> tuple[float, float]:
    """Four standard deviations of a binomial around its mean."""
    spread = 4 * math.sqrt(n * p * (1 - p))
    return n * p - spread, n * p + spread


def assert_binomial(count: int, n: int, p: float, what: str = "") -> None:
    low, high = bounds(n, p)
    assert low <= count <= high, f"{what}: {count} of {n}, expected {n * p:.0f}"


def test_kinds_have_their_shares(plain: list[Session]) -> None:
    counts = Counter(truth.kind for s in plain[3:] for truth in s.truths)
    n = counts.total()
    assert 5000 < n < 7000  # 297 sessions of about 20
    shares = {"chat": 0.35, "duplicate": 0.10, "update": 0.10, "contradiction": 0.05,
              "other_scope": 0.05}  # fmt: skip
    for kind, share in shares.items():
        assert_binomial(counts[kind], n, share, kind)
    assert_binomial(counts["fact"] + counts["event"], n, 0.35, "new")
    assert counts["event"] > 0.2 * (counts["fact"] + counts["event"])


def test_sessions_have_their_size(plain: list[Session]) -> None:
    sizes = [len(session.ops) for session in plain]
    mean = sum(sizes) / len(sizes)
    sd = math.sqrt(sum((size - mean) ** 2 for size in sizes) / (len(sizes) - 1))
    assert abs(mean - 20) < 4 * 6 / math.sqrt(300)
    assert 5 < sd < 7  # 6, four standard errors 6 / sqrt(600) each way


def zipf_share(rank: int, n: int, exponent: float) -> float:
    return rank**-exponent / sum(r**-exponent for r in range(1, n + 1))


def test_personas_and_topics_follow_zipf(told: list[tuple[Record, Truth]]) -> None:
    facts = [truth.unit or "" for _, truth in told if truth.kind == "fact"]
    whom = Counter(re.split(r"[/']", unit)[0] for unit in facts)
    topics = Counter(unit.rpartition("/")[2] for unit in facts)
    for rank, name in enumerate(people.PERSONAS[:12], 1):
        assert_binomial(whom[name], len(facts), zipf_share(rank, len(people.PERSONAS), 0.8), name)
    for rank, topic in enumerate(TOPICS[:12], 1):
        assert_binomial(topics[topic.key], len(facts), zipf_share(rank, len(TOPICS), 1.1))
    assert whom[people.PERSONAS[0]] > 3 * whom[people.PERSONAS[11]]  # 12 ** 0.8 = 7.3


def test_every_fact_is_new(told: list[tuple[Record, Truth]]) -> None:
    units = [truth.unit for _, truth in told if truth.kind in ("fact", "event", "near_miss")]
    assert len(set(units)) == len(units)


def test_what_is_said_again_fits_what_was_said(told: list[tuple[Record, Truth]]) -> None:
    """A slow second definition: a list of the current records of each unit and scope."""
    current: dict[tuple[str, str], list[tuple[Record, Truth]]] = {}
    seen = Counter[str]()
    for record, truth in told:
        if truth.kind == "chat":
            assert (record.unit, record.supersedes, truth.contradicts) == (None, (), ())
            continue
        assert record.unit is not None and record.unit == truth.unit
        key = record.scope, record.unit
        before = current.get(key, [])
        said = tuple(earlier.id for earlier, _ in before)
        seen[truth.kind] += 1
        assert record.supersedes == truth.supersedes
        if truth.kind in ("update", "contradiction"):
            told_of = truth.supersedes if truth.kind == "update" else truth.contradicts
            assert told_of == said and said
            assert not (truth.contradicts if truth.kind == "update" else truth.supersedes)
            assert truth.value != before[-1][1].value
            current[key] = [(record, truth)]
        elif truth.kind == "duplicate":
            assert truth.value == before[-1][1].value
            assert near_duplicate_key(record.text) != near_duplicate_key(before[-1][0].text)
            before.append((record, truth))
        elif truth.kind in ("fact", "event"):
            assert not before
            current[key] = [(record, truth)]
    assert set(seen) == {"fact", "event", "duplicate", "update", "contradiction", "other_scope"}


def test_values_stand_in_the_texts(told: list[tuple[Record, Truth]]) -> None:
    assert [record.text for record, truth in told if truth.value not in record.text] == []


def test_storylines_go_step_by_step(told: list[tuple[Record, Truth]]) -> None:
    by_id = {record.id: (record, truth) for record, truth in told}
    followed = 0
    for record, truth in told:
        if truth.kind == "event":
            chain, _, step = (truth.unit or "").rpartition("-")
            if step == "1" and chain.endswith("-1"):
                assert truth.follows is None
            if truth.follows is not None and step != "1":
                earlier, before = by_id[truth.follows]
                assert before.unit == f"{chain}-{int(step) - 1}"
                assert (earlier.at or record.at) < record.at  # type: ignore[operator]
                assert (before.value, earlier.scope) == (truth.value, record.scope)
                followed += 1
            assert (step == "1") <= (truth.follows is None)
    assert followed > 100


def test_ids_are_distinct_and_refer_back_only(plain: list[Session]) -> None:
    seen: set[str] = set()
    for session in plain:
        for record, truth in zip(session.records, session.truths, strict=True):
            assert record.id not in seen and record.id == truth.record_id
            refers = {
                *truth.supersedes,
                *truth.contradicts,
                *([truth.follows] * bool(truth.follows)),
            }
            assert refers <= seen
            seen.add(record.id)


def test_scopes_are_kept_apart() -> None:
    generator = Generator(scopes=("ana", "ana", "bo"), other_scopes=("ana2",))
    pairs = [
        pair for s in generator.sessions(100) for pair in zip(s.records, s.truths, strict=True)
    ]
    for record, truth in pairs:
        assert (record.scope == "ana2") == (truth.kind == "other_scope")
    own = [record.scope for record, truth in pairs if truth.kind in ("chat", "fact")]
    assert_binomial(own.count("ana"), len(own), 2 / 3)  # it is named twice of three


def test_time_goes_on_with_gaps(plain: list[Session]) -> None:
    times = [record.at for session in plain for record in session.records]
    assert all(a < b for a, b in zip(times, times[1:], strict=False))  # type: ignore[operator]
    assert plain[0].at == datetime(2026, 1, 5, 8, tzinfo=UTC)
    gaps = [b.at - a.records[-1].at for a, b in zip(plain, plain[1:], strict=False)]  # type: ignore[operator]
    assert min(gaps) >= timedelta(hours=5)
    assert_binomial(sum(gap >= timedelta(days=10) for gap in gaps), len(gaps), 0.05)


def test_truth_of_knows_what_came_later(plain: list[Session]) -> None:
    known = truth_of(plain)
    assert list(known) == [truth.record_id for s in plain for truth in s.truths]
    told, silent = {}, {}
    for session in plain:
        for truth in session.truths:
            told.update(dict.fromkeys(truth.supersedes, truth.record_id))
            silent.update(dict.fromkeys(truth.contradicts, truth.record_id))
    for name, truth in known.items():
        assert (truth.superseded_by, truth.contradicted_by) == (told.get(name), silent.get(name))
    assert len(told) > 500 and len(silent) > 250 and not told.keys() & silent.keys()


def test_a_truth_knows_no_more_than_its_session(plain: list[Session]) -> None:
    for session in plain:
        own = {truth.record_id for truth in session.truths}
        later = {t.superseded_by or t.contradicted_by for t in session.truths if t.outdated}
        assert later <= own
    assert any(truth.outdated for session in plain for truth in session.truths)


@pytest.mark.parametrize("option", TEXT_OPTIONS)
def test_options_on_texts_change_nothing_else(option: str, plain: list[Session]) -> None:
    changed = list(Generator(**{option: True}).sessions(100))  # type: ignore[arg-type]
    n = differ = 0
    for session, base in zip(changed, plain, strict=False):
        assert session.truths == base.truths
        for record, was in zip(session.records, base.records, strict=True):
            n, differ = n + 1, differ + (record.text != was.text)
            assert (record.id, record.scope, record.at) == (was.id, was.scope, was.at)
    # of 2000: a tenth of those with a word of five letters; a twentieth; a seventh of the German
    low, high = {"typos": (0.08, 0.12), "long_texts": (0.035, 0.065),
                 "second_language": (0.06, 0.15)}[option]  # fmt: skip
    assert low < differ / n < high


def test_options_leave_each_others_draws_alone(plain: list[Session]) -> None:
    def touched(**options: bool) -> set[str]:
        made = Generator(**options).sessions(60)  # type: ignore[arg-type]
        return {
            record.id
            for session, base in zip(made, plain, strict=False)
            for record, was in zip(session.records, base.records, strict=False)
            if record.text != was.text
        }

    alone = [touched(**{option: True}) for option in TEXT_OPTIONS]
    assert all(alone) and len(set.union(*alone)) > max(map(len, alone))
    assert touched(**dict.fromkeys(TEXT_OPTIONS, True)) == set.union(*alone)


def test_deletes_add_and_take_away_and_change_nothing_else(plain: list[Session]) -> None:
    made = list(Generator(deletes=True).sessions(100))
    born: dict[str, int] = {}
    died: dict[str, int] = {}
    for session, base in zip(made, plain, strict=False):
        assert session.ops[: len(base.ops)] == base.ops
        for op in session.ops[len(base.ops) :]:
            if isinstance(op, Delete):
                assert op.id not in died
                died[op.id] = session.number
            else:
                assert isinstance(op, Record)
                born[op.id] = session.number
    assert len(born) > 60  # one a session on average
    assert {died[name] - born[name] for name in died} == {1, 2, 3, 4}
    assert {name for name, number in born.items() if number < 96} <= died.keys()
    known = truth_of(made)
    assert {name for name, truth in known.items() if truth.deleted} == died.keys()
    assert {known[name].kind for name in born} == {"passing"}


def test_a_burst_is_one_large_session(plain: list[Session]) -> None:
    made = list(Generator(bursts=True).sessions(100))
    large = [n for n, s in enumerate(made) if len(s.ops) == 8 * len(plain[n].ops)]
    first = large[0]
    assert 1 <= len(large) <= 12  # 4 expected
    assert made[:first] == plain[:first]
    assert all(len(made[n].ops) == len(plain[n].ops) for n in range(100) if n not in large)


def test_twenty_thousand_records_still_vary() -> None:
    pairs = [
        (record.text, truth.kind)
        for session in Generator().sessions(1000)
        for record, truth in zip(session.records, session.truths, strict=True)
    ]
    assert 19_000 < len(pairs) < 21_000
    told = [text for text, kind in pairs if kind != "chat"]
    assert len(set(told)) > 0.9 * len(told)
    assert len({text for text, _ in pairs}) > 0.8 * len(pairs)


def test_the_state_stays_small() -> None:
    generator = Generator(scopes=("a",), mean=60, sd=0)
    state, sizes = generator.state(), []
    for number in range(200):
        _, state = generator.session(number, state)
        sizes.append(len(state.told))
    assert max(sizes) == sizes[-1] == 400
    assert len(json.dumps(state.to_dict())) < 100_000


def test_wordings_say_the_same_in_other_words() -> None:
    for topic in (*TOPICS, *PASSING):
        said = [topic.say("Magnus", 1, n) for n in range(len(topic.wordings))]
        assert len({near_duplicate_key(text) for text in said}) == len(said) >= 3
        assert all("Magnus" in text and topic.values.say(1) in text for text in said)
        assert len(topic.german) != 1
        assert all("{who}" in text and "{value}" in text for text in topic.german)
        some = range(min(topic.values.size, 2000))
        assert len({topic.values.say(n) for n in some}) == len(some)
        assert all(len(set(part)) == len(part) for part in topic.values.parts)
    for story in STORIES:
        assert len(story.steps) >= 4
        said = [story.say("Magnus", 1, s, w) for s in range(len(story.steps)) for w in (0, 1)]
        assert len(set(said)) == len(said)
        assert all("Magnus" in text and story.values.say(1) in text for text in said)
    assert len(TOPICS) >= 30


def test_small_talk_states_nothing_about_anyone() -> None:
    said = " ".join((*smalltalk.OPENERS, *smalltalk.REMARKS, *smalltalk.CLOSERS))
    named = {*people.PERSONAS, *people.RELATIVES}
    assert not re.search(r"\d", said)
    assert not named & set(re.findall(r"\w+", said))


def test_names_are_told_apart_by_the_near_duplicate_rule() -> None:
    fresh = (*freshnames._PERSONS, *freshnames._THINGS)
    for names in ((*people.PERSONAS, *freshnames._PERSONS), fresh, people.RELATIVES):
        assert len({name[:5].casefold() for name in names}) == len(names)
    around = {people.subject("Magnus", n) for n in range(people.CIRCLE)}
    assert len(around) == people.CIRCLE


@pytest.fixture(scope="module")
def grown(shipped: Suite) -> list[Session]:
    generator = generator_for(shipped, **dict.fromkeys(OPTIONS, True))
    return list(generator.sessions(150))


def test_no_record_answers_a_probe(shipped: Suite, grown: list[Session]) -> None:
    copies = [copy for cohort in range(4) for copy in plant(shipped, cohort)]
    expected = {
        copy.state.by_id[name].text for copy in copies for group in copy.groups for name in group
    }
    keys = {" ".join(("", *near_duplicate_key(text).stems, "")) for text in expected}
    canaries = {token for copy in copies for token in copy.canary}
    texts = [record.text for session in grown for record in session.records]
    assert len(texts) > 3000 and len(keys) > 150
    # Words first: the key of a text is dear, and these all stand in no expected one.
    joined = "\n".join(normalise(text) for text in texts)
    assert [text for text in expected if normalise(text) in joined] == []
    for text in texts:
        stems = " ".join(("", *near_duplicate_key(text).stems, ""))
        assert not [key for key in keys if key in stems], text
        assert not [token for token in canaries if contains_tokens(text, token)], text


def test_who_is_asked_about_is_told_of_other_things_only(
    shipped: Suite, grown: list[Session]
) -> None:
    units = {truth.unit or "" for session in grown for truth in session.truths}

    def of(name: str, key: str) -> list[str]:
        return [u for u in units if re.match(rf"{name}(?:'s .*)?/{key}(?:-|$)", u)]

    # "Which office does Priya work from now?", "Who is Ana's emergency contact?", ...
    asked = {"Priya": "office", "Ana": "emergency", "Milo": "allergy", "Mina": "lesson",
             "Leo": "doctor", "Pavel": "manager", "Chidi": "hometown"}  # fmt: skip
    for name, key in asked.items():
        assert of(name, r"\w+"), f"{name} is no persona"
        assert not of(name, key)
    for cohort in range(1, 4):
        copy = next(p for p in plant(shipped, cohort) if p.name.startswith("which-office-now"))
        assert of(copy.names[0], r"\w+") and not of(copy.names[0], "office")
    assert of("Magnus", "office") or of("Agnieszka", "office")  # near misses by predicate


def test_even_small_talk_that_answers_a_probe_is_not_said() -> None:
    told = [Record("a", "Such is life."), Record("b", "Hm.")]
    asked = Probe("p", "What did he say?", told, ["a", "b"], canary=["stretch"])
    options = {"long_texts": True, "typos": True}

    def found(*probes: Probe) -> list[str]:
        generator = Generator(probes=probes, **options)  # type: ignore[arg-type]
        texts = [r.text for session in generator.sessions(60) for r in session.records]
        assert sum(len(text) > 300 for text in texts) > 20
        return [text for text in texts if re.search(r"such is life|\bhm\b|stretch", text.lower())]

    assert len(found()) > 50
    assert found(asked) == []


def test_where_every_text_would_answer_it_says_so() -> None:
    openers = [Record(f"r{n}", text) for n, text in enumerate(smalltalk.OPENERS)]
    asked = Probe("p", "What?", openers, [[record.id for record in openers]])
    with pytest.raises(ValueError, match="1000 texts in a row would answer"):
        list(Generator(probes=(asked,)).sessions(3))


def test_without_the_probes_they_would_be_answered() -> None:
    units = {t.unit or "" for s in Generator(names=("Priya",)).sessions(150) for t in s.truths}
    assert [unit for unit in units if re.match(r"Priya.*/office$", unit)]


def test_near_misses_say_what_is_expected_of_someone_else(grown: list[Session]) -> None:
    near = [
        record for session in grown
        for record, truth in zip(session.records, session.truths, strict=True)
        if truth.kind == "near_miss"
    ]  # fmt: skip
    assert len(near) > 50
    allergic = [record for record in near if "is allergic to amoxicillin" in record.text]
    assert allergic and {record.scope for record in allergic} == {"family:weber"}


def test_it_crowds_the_scopes_that_are_asked(shipped: Suite, grown: list[Session]) -> None:
    own = {probe.scope for probe in shipped}
    named = {scope for probe in shipped for scope in probe.state.ids_in} | own
    pairs = [p for s in grown for p in zip(s.records, s.truths, strict=True)]
    assert {record.scope for record, truth in pairs if truth.kind != "other_scope"} == own
    foreign = {record.scope for record, truth in pairs if truth.kind == "other_scope"}
    assert len(foreign) > 10 and not foreign & named
    assert "default2" in foreign
    filtered = [record for record, truth in pairs if record.scope == "user:ines"]
    passing = [record for record in filtered if record.meta == {"type": "decision"}]
    assert len(filtered) > 20
    assert_binomial(len(passing), len(filtered), 0.8)


def test_ids_are_never_those_of_a_probe(shipped: Suite, grown: list[Session]) -> None:
    ids = {record.id for session in grown for record in session.records}
    assert len(ids) == sum(len(session.records) for session in grown)
    assert not ids & {name for probe in shipped for name in probe.state.by_id}
    clashing = Probe("p", "Where is it?", [Record("s0-0", "It is here."), Record("ss0-1", "Hm.")])
    assert generator_for([clashing]).prefix == "sss"


def test_cohorts_are_crowded_alike(shipped: Suite) -> None:
    """The names that one probe has in four cohorts stand beside each other in rank."""
    ranks = {name: n for n, name in enumerate(generator_for(shipped)._people)}
    copies = [copy for cohort in range(4) for copy in plant(shipped, cohort)]
    names = [copy.names[0] for copy in copies if copy.name.startswith("which-office-now@")]
    places = [ranks[name] for name in names]
    assert len(set(places)) == 4
    assert max(places) - min(places) == 6  # by turns with the built-in ones


def test_settings_tell_generators_apart(shipped: Suite) -> None:
    base = generator_for(shipped).settings
    assert base == generator_for(shipped).settings
    assert json.loads(json.dumps(base)) == base
    others = [
        generator_for(shipped, 8),
        generator_for(shipped, typos=True),
        generator_for(shipped[:50]),
        generator_for(shipped, cohorts=2),
    ]
    assert all(other.settings != base for other in others)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scopes": ()}, "name at least one"),
        ({"scopes": ("a",), "other_scopes": ("a",)}, "'a' is both"),
        ({"mean": 0}, "mean is 0"),
        ({"mean": math.nan}, "mean is nan"),
        ({"sd": -1}, "sd -1"),
        ({"start": datetime(2026, 1, 1)}, "without a time zone"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Generator(**options)  # type: ignore[arg-type]


def test_any_source_of_sessions_will_do() -> None:
    mine = [Session(5, None, (Record("m1", "The kettle is descaled."),)), Session(9, None, ())]
    for source in (mine, iter(mine), lambda n: mine[:n]):
        taken = list(sessions_from(source, 3))
        assert [s.number for s in taken] == [0, 1]
        assert taken[0].records == mine[0].records
    generator = Generator()
    assert list(sessions_from(generator, 3)) == list(generator.sessions(3))


def test_an_endless_source_is_cut() -> None:
    def endless() -> Iterator[Session]:
        while True:
            yield Session(0, None, ())

    assert [s.number for s in sessions_from(endless(), 4)] == [0, 1, 2, 3]


def test_a_source_of_something_else_is_refused() -> None:
    with pytest.raises(MemevalError, match="gave a Record at place 0, wanted a Session"):
        list(sessions_from([Record("a", "b")], 3))  # type: ignore[list-item]
    with pytest.raises(MemevalError, match="source is a int, wanted an iterable"):
        list(sessions_from(7, 3))  # type: ignore[arg-type]


def test_lines_of_json_hold_record_and_truth() -> None:
    sessions = list(Generator(deletes=True).sessions(30))
    lines = [json.loads(line) for line in sessions_jsonl(sessions)]
    assert len(lines) == sum(len(session.ops) for session in sessions)
    updates = [line for line in lines if line.get("truth", {}).get("kind") == "update"]
    assert updates and all(u["truth"]["supersedes"] == u["supersedes"] for u in updates)
    assert any("delete" in line for line in lines)


def test_a_transcript_is_cut_where_it_pauses() -> None:
    def turn(text: str, source: str, at: str | None = None, **more: object) -> Turn:
        return Turn(text, "user", source, at=at, **more)  # type: ignore[arg-type]

    turns = (
        turn("a", "Cats, message 1", "2026-03-01T09:00:00+00:00"),
        turn("b", "Cats, message 2", "2026-03-01T15:00:00+00:00"),  # six hours, not more
        turn("c", "Cats, message 3", "2026-03-02T15:00:00+00:00"),
        turn("d", "Dogs, message 1", "2026-03-02T15:00:01+00:00"),
        turn("asked", "Dogs, message 2", asked=True),
        turn("e", "Dogs, message 3", scope="bo"),
        turn(" ", "Dogs, message 4", scope="bo"),
        turn("f", "Dogs, message 5", scope="bo"),
        turn("g", "Dogs, message 6", scope="bo"),
    )
    made = list(sessions_of_transcript(Transcript("chat log", turns), most=2))
    assert ["".join(r.text for r in s.records) for s in made] == ["ab", "c", "d", "ef", "g"]
    assert [r.id for r in made[3].records] == ["t3-0", "t3-1"]
    assert [r.scope for r in made[3].records] == ["bo", "bo"]
    assert made[0].at == datetime(2026, 3, 1, 9, tzinfo=UTC) and made[4].at is None
    assert [t.kind for s in made for t in s.truths] == ["said"] * 7
    into_one = sessions_of_transcript(Transcript("chat log", turns), scope="mine")
    assert {r.scope for s in into_one for r in s.records} == {"mine"}
    with pytest.raises(ValueError, match="most is 0"):
        list(sessions_of_transcript(Transcript("chat log", turns), most=0))


def test_a_real_transcript_gives_its_own_sessions(shared: Path) -> None:
    path = shared / "data" / "locomo" / "locomo2.json"
    talks = [sample["conversation"] for sample in json.loads(path.read_text(encoding="utf-8"))]
    sizes = [
        len(talk[f"session_{n}"])
        for talk in talks for n in range(1, 100) if talk.get(f"session_{n}")
    ]  # fmt: skip
    made = list(sessions_of_transcript(path))
    assert [len(session.ops) for session in made] == sizes
    assert sum(sizes) == 788
    assert {record.scope for s in made for record in s.records} == {"conv-26", "conv-30"}
