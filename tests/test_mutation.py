"""A suite is tried on the user's own store with one known fault at a time."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import odd_stores as odd
import pandas as pd
import pytest
import suites
from hypothesis import given, settings
from hypothesis import strategies as st

import memeval as me
from memeval import frames
from memeval.errors import MemevalError, RunFileError, StoreError
from memeval.files.journal import JournalWarning
from memeval.mutating.journal import MutationJournal
from memeval.mutating.killing import Kill, Seen, kills, seen, slower
from memeval.mutating.significance import significant
from memeval.mutating.trying import Found
from memeval.mutation import Mutation, mutate
from memeval.record import Hit, Record
from memeval.stores.base import Capabilities
from memeval.stores.bound import View
from memeval.stores.saboteurs.asking import KIgnoring
from memeval.stores.saboteurs.base import Saboteur

SHIPPED = Path(me.__file__).parent.parent / "probes"
GIVEN = [Record("r1", "Lunch: noodle bar."), Record("r2", "Tea: blue kiosk.")]
LUNCH = me.Probe("lunch", "noodle bar", GIVEN, ["r1"])


class Null(Saboteur):
    name, fault, caught_by, tag = "null", "finds nothing", "ratchet", "direct"
    must_kill = True

    def answer(self, view: View) -> list[Hit]:
        return []


class Reversed(Saboteur):
    name, fault, caught_by, tag = "reversed", "turned round", "score order", "rank"
    needs = ("score_order",)

    def answer(self, view: View) -> list[Hit]:
        return super().answer(view)[::-1]


class OneWord(Saboteur):
    name, fault, caught_by, tag = "one_word", "asks for the first word", "ratchet", "paraphrase"
    touches = "search"

    def answer(self, view: View) -> list[Hit]:
        return self.inner.search(replace(view, query=view.query.split()[0]))


class Forgetful(Saboteur):
    name, fault, caught_by, tag = "forgetful", "keeps no noodles", "ratchet", "noodles"
    touches = "write"

    def written(self, record: Record) -> list[Record]:
        return [] if "noodle" in record.text else [record]


class Shouts(Saboteur):
    name, fault, caught_by, tag = "shouts", "texts in capitals", "text fidelity", "direct"
    needs = ("texts",)

    def answer(self, view: View) -> list[Hit]:
        return [replace(hit, text=hit.text.upper()) for hit in super().answer(view)]


class Sleepy(Saboteur):
    name, fault, caught_by, tag = "sleepy", "20 ms slower", "latency", "direct"

    def answer(self, view: View) -> list[Hit]:
        time.sleep(0.02)
        return super().answer(view)


class Undone(Saboteur):
    name, fault, caught_by, tag = "undone", "leaves out plums", "ratchet", "plums"
    witness = """
- name: plums
  query: plums in the cellar
  given:
    - {id: r1, text: "The plums lie in the cellar."}
  expect: [r1]
"""

    def answer(self, view: View) -> list[Hit]:
        return [hit for hit in super().answer(view) if "plums" not in hit.text]


class Harmless(Undone):
    name, fault, tag = "harmless", "leaves out what is not there", "x"

    def answer(self, view: View) -> list[Hit]:
        return [hit for hit in self.inner.search(view) if "no such text" not in hit.text]


class Curious(Saboteur):
    name, fault, caught_by, tag = "curious", "asks what nobody asked", "nothing", "direct"

    def answer(self, view: View) -> list[Hit]:
        return self.inner.search(replace(view, query="another question"))


class Counted(Null):
    name = "counted"
    resets: ClassVar[int] = 0

    @classmethod
    def reset(cls) -> None:
        cls.resets += 1


SMALL = [Null, Reversed, OneWord, Forgetful, Shouts, Undone, Harmless]


def small_suite() -> me.Suite:
    return suites.suite(4, 1, 1)


def mutated(**options: Any) -> Mutation:
    return mutate([LUNCH], "sqlite", **options)


def a_run(
    passed: dict[str, list[bool]],
    leaks: dict[str, str] | None = None,
    breaches: dict[str, str] | None = None,
    ms: dict[str, float] | None = None,
    canaries: tuple[str, ...] = (),
) -> me.Run:
    """A run of positive probes: hit x where passed, y (forbidden for a reason) where it leaks."""
    leaks, breaches, ms = leaks or {}, breaches or {}, ms or {}
    hits, calls, qrels = [], [], []
    for probe, repeats in passed.items():
        qrels.append({"probe": probe, "record_id": "x", "label": "expected", "group": 0})
        if probe in leaks:
            label = {"label": "forbidden", "reason": leaks[probe]}
            qrels.append({"probe": probe, "record_id": "y", **label})
        for repeat, found in enumerate(repeats):
            call = {"probe": probe, "repeat": repeat, "k": 5, "status": "ok"}
            last = repeat == len(repeats) - 1  # gates and breaches come up in one repeat
            broken = breaches.get(probe) if last else None
            calls.append({**call, "breaches": broken, "latency_ms": ms.get(probe, 1.0)})
            names = (["x"] if found else []) + (["y"] if probe in leaks and last else [])
            for rank, name in enumerate(names, start=1):
                token = "secret" if probe in canaries else None
                hit = {"probe": probe, "repeat": repeat, "rank": rank, "record_id": name}
                hits.append({**hit, "store_id": name, "text": name, "canary": token})
    tables = [
        frames.conform(pd.DataFrame(rows, columns=frames.names(schema)), schema)
        for rows, schema in ((hits, frames.HITS), (calls, frames.CALLS), (qrels, frames.QRELS))
    ]
    suite = me.Suite.of([me.Probe(name, "q", [Record("x", "t")], ["x"]) for name in passed])
    manifest = me.Manifest(1, 1, "0", "s", "h", len(passed), 5, 0, 1, "hand")
    return me.Run(*tables, manifest=manifest, suite=suite)


def test_kills_of_hand_made_runs() -> None:
    names = "abcdefg"
    sound = {name: [True, True] for name in names} | {"f": [False, True]}
    before = a_run(sound, leaks={"e": "deleted"}, breaches={"d": "text"})
    after = a_run(
        {
            "a": [False, False],  # passes in both repeats before and in none now: ratchet
            "b": [True, False],  # lost in one repeat of two: no kill
            "c": [True, True],  # leaks in one repeat: gate
            "d": [True, True],  # breaks "text" as before and "ids" besides: contract
            "e": [False, False],  # leaks as before, and did not pass before: no kill
            "f": [False, False],  # did not pass in all repeats before: no kill
            "g": [False, False],  # leaks anew and fails: the gate is named first
        },
        leaks={"c": "foreign_scope", "e": "deleted", "g": "superseded"},
        breaches={"d": "text ids", "g": "length"},
        canaries=("g",),
    )
    assert kills(seen(before), seen(after)) == [
        Kill("a", "ratchet"),
        Kill("c", "gate", "foreign_scope"),
        Kill("d", "contract", "ids"),
        Kill("g", "gate", "canary superseded length"),
    ]


def test_slower_takes_the_whole_run_and_then_each_probe() -> None:
    def at(**ms: float) -> Seen:
        return seen(a_run({name: [True] for name in ms}, ms=ms))

    # medians 1, 1.2 and 3: the last is more than twice the first, and more than 1 ms above it
    assert slower(at(a=1.0, b=1.0, c=1.0), at(a=3.0, b=3.0, c=1.2)) == {"a", "b"}
    assert not slower(at(a=1.0, b=1.0, c=1.0), at(a=3.0, b=1.2, c=1.2))  # one stalled
    assert not slower(at(a=0.1), at(a=1.0))  # ten times, but 0.9 ms
    assert not slower(at(a=10.0), at(a=20.0))  # twice, not more
    assert [k.by for k in kills(at(a=1.0), at(a=9.0), slower(at(a=1.0), at(a=9.0)))] == ["latency"]


def test_significance_is_that_of_the_comparison() -> None:
    names = [f"p{n}" for n in range(20)]
    before = a_run({name: [True] for name in names})

    def losing(n: int) -> me.Run:
        return a_run({name: [i >= n] for i, name in enumerate(names)})

    # McNemar mid-p of n losses alone is 2^-n / 2 and so is, up to its ties, no less the sign flip's
    # 2^-n; Holm doubles the smaller: 4 losses give 2 x 0.03125 = 0.0625, 5 give 2 x 0.015625
    assert significant(before, losing(4)) is False
    assert significant(before, losing(5)) is True
    assert significant(before, before) is False


PROBE = st.tuples(
    st.sampled_from([[True, True], [True, False], [False, False]]),
    st.sampled_from([[True, True], [True, False], [False, False]]),
    st.sampled_from([None, "deleted", "foreign_scope"]),
    st.sampled_from([None, "text", "text ids"]),
)


@settings(max_examples=20)
@given(st.lists(PROBE, min_size=1, max_size=5), PROBE)
def test_a_probe_more_never_saves_a_saboteur(probes: list[Any], more: Any) -> None:
    def killed(rows: list[Any]) -> set[str]:
        named = {f"p{n}": row for n, row in enumerate(rows)}
        before = a_run({name: row[0] for name, row in named.items()})
        after = a_run(
            {name: row[1] for name, row in named.items()},
            {name: row[2] for name, row in named.items() if row[2]},
            {name: row[3] for name, row in named.items() if row[3]},
        )
        return {kill.probe for kill in kills(seen(before), seen(after))}

    assert killed(probes) <= killed([*probes, more])


def test_a_larger_suite_kills_what_a_smaller_one_kills() -> None:
    suite = me.load(SHIPPED)
    kinds = [Null, OneWord, Forgetful, Reversed]
    few, more = (mutate(suite[:n], "sqlite", saboteurs=kinds) for n in (6, 18))
    one, other = (set(zip(m.kills["saboteur"], m.kills["probe"], strict=True)) for m in (few, more))
    assert one <= other and len(one) >= 3


def test_kills_and_survivors_of_a_small_suite() -> None:
    made = mutated(saboteurs=SMALL)
    rows = made.saboteurs.set_index("saboteur")
    assert list(made.saboteurs["saboteur"]) == [kind.name for kind in SMALL]
    by = dict(zip(made.kills["saboteur"], made.kills["by"].astype("str"), strict=True))
    # one hit alone stands in any order, and the first word of "noodle bar" finds it too
    assert by == {"null": "ratchet", "forgetful": "ratchet", "shouts": "contract"}
    known = rows["killed"].dropna()
    assert known.index[known].tolist() == ["null", "forgetful", "shouts"]
    assert known.index[~known].tolist() == ["reversed", "one_word", "undone"]
    assert rows["equivalent"]["harmless"]
    assert rows["reason"]["harmless"] == "its witness shows no difference on this store"
    assert rows["equivalent"]["undone"] is not pd.NA and not rows["equivalent"]["undone"]
    assert rows["reason"]["undone"] == "no probe is tagged plums"
    assert rows["missing_probe"]["undone"] == "one tagged plums; caught by: ratchet"
    assert made.score == 3 / 6 and (made.n_killed, made.n_counted) == (3, 6)
    assert made.kill_depth == 0.0 and made.idle == []
    assert made.skeletons["undone"] == Undone.witness
    assert "No witness of one_word" in made.skeletons["one_word"]
    assert made.matrix.loc["null", "lunch"] == "ratchet" and made.matrix["lunch"].isna().sum() == 4
    assert made.verdict.word == "PASS" and made.verdict.exit_code == 0
    said = repr(made)
    assert "score 0.500: 3 of 6 killed" in said and "alive: undone: leaves out plums" in said


def test_a_fault_that_means_nothing_on_a_store_is_not_counted_and_says_why() -> None:
    made = mutate([LUNCH], odd.Plain, saboteurs=[Reversed, Null])
    row = made.saboteurs.iloc[0]
    assert not row["applicable"] and pd.isna(row["killed"])
    assert "declares no order of scores" in row["reason"]
    assert made.score == 1.0 and made.n_counted == 1


@pytest.mark.parametrize("kinds", [[], [Reversed]])
def test_where_no_saboteur_is_counted_nothing_is_said_to_be_seen(kinds: list[Any]) -> None:
    made = mutate([LUNCH], odd.Plain, saboteurs=kinds)
    assert (made.n_counted, made.verdict.word, made.verdict.exit_code) == (0, "CANNOT TELL", 0)
    assert f"none of {len(kinds)} saboteur" in made.verdict.reason
    assert "every known fault" not in repr(made)


def test_a_survivor_that_must_be_killed_fails_the_suite() -> None:
    blind = me.Probe("nothing", "zebra quokka", GIVEN)
    made = mutate([blind], "sqlite", saboteurs=[Null])
    assert made.verdict.word == "FAIL" and made.verdict.exit_code == 4
    assert made.verdict.reason.startswith("1 saboteur that must be killed lives: null")
    assert not made.must_killed
    assert made.score == 0.0 and pd.isna(made.kill_depth)


def test_an_invalid_suite_shows_no_score() -> None:
    made = mutate(me.Suite(tuple([LUNCH]), None, "none"), "sqlite", saboteurs=[Null])
    assert made.identity.validity.status == "invalid"  # two records, all of them in the top 5
    assert made.verdict.word == "INVALID" and made.verdict.exit_code == 4
    assert made.score == 1.0
    assert "INVALID" in repr(made) and "luck alone recalls" in repr(made)
    assert "killed" not in repr(made) and "score" not in repr(made)


def test_chosen_probes_say_so() -> None:
    made = mutate(small_suite()[:2], "sqlite", saboteurs=[Null])
    assert "by 2 probes chosen of 6" in made.verdict.reason and "chosen of 6" in repr(made)


def test_the_store_as_it_is_is_never_killed() -> None:
    class Written(Saboteur):
        name, touches = "written", "write"

    class Searched(Saboteur):
        name, touches = "searched", "search"

    kinds = [Saboteur, Written, Searched]
    for store in ("sqlite", odd.Assigning, odd.Merging, odd.Learning, odd.Async, odd.Strangers):
        made = mutate(list(small_suite()), store, saboteurs=kinds)
        assert not len(made.kills), store


def test_latency_kills_and_is_the_last_that_is_named() -> None:
    made = mutated(saboteurs=[Sleepy, Null])
    assert list(made.kills["by"].astype("str")) == ["latency", "ratchet"]


def test_a_pipeline_is_graded_as_it_is() -> None:
    def first(store: Any, view: View) -> Any:
        return store.search(view.query, k=1, scope=view.scope)

    made = mutated(saboteurs=[Null, OneWord, Saboteur], retrieve=first)
    assert set(made.kills["saboteur"]) == {"null"}
    assert (made.identity.hits.groupby("probe").size() == 1).all()


def test_answers_are_replayed_and_the_store_is_not_asked_for_them() -> None:
    calls = []

    class Asked(odd.Plain):
        capabilities = Capabilities(deterministic=True)

        def search(self, query: str, *, k: int, scope: str) -> Any:
            calls.append(query)
            return super().search(query, k=k, scope=scope)

    mutate([LUNCH], Asked, saboteurs=[])
    once = len(calls)
    mutate([LUNCH], Asked, saboteurs=[Null, Shouts])
    assert len(calls) == 2 * once


def test_a_saboteur_that_asks_what_was_never_recorded_is_named() -> None:
    with pytest.raises(StoreError, match="saboteur curious: it says that it touches answers alone"):
        mutated(saboteurs=[Curious])


def test_a_saboteur_that_cannot_be_made_is_named() -> None:
    class Broken(Null):
        name = "broken"

        def __init__(self, inner: Any, seed: int = 0) -> None:
            raise ValueError("no such thing")

    with pytest.raises(StoreError, match=r"saboteur broken: .*no such thing"):
        mutated(saboteurs=[Broken])


def test_a_saboteur_that_fails_each_time_is_killed_and_that_is_said() -> None:
    class Slip(Saboteur):
        name = "slip"

        def answer(self, view: Any) -> Any:
            super().answer(view)  # and returns nothing

    made = mutated(saboteurs=[Null, Slip])
    assert made.n_killed == 2
    (note,) = made.notes
    assert re.match(r"slip: no probe of it was answered \(.*search returned NoneType", note)
    assert note in " ".join(repr(made).split())


def test_what_is_no_saboteur_is_refused() -> None:
    with pytest.raises(StoreError, match="wanted classes that derive from"):
        mutated(saboteurs=[Null, "reversed"])
    with pytest.raises(StoreError, match="two saboteurs are called 'null'"):
        mutated(saboteurs=[Null, Null])
    with pytest.raises(TypeError, match="no option 'shelf'"):
        mutated(saboteurs=[Null], shelf=None)
    with pytest.raises(StoreError, match="repeats is 0"):
        mutated(saboteurs=[Null], repeats=0)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"name": None}, "name is None, wanted a string"),
        ({"name": ""}, "name is '', wanted a word"),
        ({"name": "\x1b[31mred"}, "wanted a word of its own, on one line"),
        ({"fault": None}, "fault is None, wanted a string"),
        ({"tag": 3}, "tag is 3, wanted a string"),
        ({"witness": 3}, "witness is 3, wanted a string"),
        ({"touches": "everything"}, "touches is 'everything', wanted one of 'answer'"),
        ({"must_kill": "no"}, "must_kill is 'no', wanted True or False"),
        ({"needs": ("banana",)}, r"needs is \('banana',\), wanted a tuple of some of 'delete'"),
        ({"needs": "delete"}, "needs is 'delete', wanted a tuple"),
    ],
)
def test_a_saboteur_that_describes_itself_oddly_is_refused_before_the_store_is_made(
    told: dict[str, Any], said: str
) -> None:
    def never() -> Any:
        raise AssertionError("the store was made")

    with pytest.raises(StoreError, match=rf"saboteur Odd: .*{said}"):
        mutate([LUNCH], never, saboteurs=[type("Odd", (Null,), told)])


@pytest.mark.parametrize("whole", [Null, "null", 3])
def test_saboteurs_that_are_no_list_are_refused(whole: Any) -> None:
    with pytest.raises(StoreError, match="wanted a list of classes"):
        mutate([LUNCH], odd.Plain, saboteurs=whole)


def test_state_that_instances_share_is_reset_before_each_run() -> None:
    Counted.resets = 0
    mutated(saboteurs=[Counted])
    assert Counted.resets == 1


def test_progress_is_told_after_each_saboteur() -> None:
    told: list[tuple[int, int, str]] = []
    mutated(saboteurs=[Null, Shouts], progress=lambda *of: told.append(of))
    assert told == [(1, 2, "null"), (2, 2, "shouts")]


def test_a_store_that_drops_hits_kills_nothing_as_it_is() -> None:
    class Dropping(odd.Plain):
        capabilities = Capabilities(deterministic=False)
        chance: ClassVar[random.Random]

        def search(self, query: str, *, k: int, scope: str) -> Any:
            return [h for h in self.found(query, k, scope) if self.chance.random() > 0.05]

    class Again(Saboteur):
        name, touches = "again", "write"

    probes = [suites.positive(n) for n in range(8)]
    lost_once = 0
    for seed in range(6):
        Dropping.chance = random.Random(seed)
        made = mutate(probes, Dropping, saboteurs=[Saboteur, Again])
        assert made.repeats == 5
        assert not len(made.kills), seed
        lost_once += len(mutate(probes, Dropping, saboteurs=[Again], repeats=1).kills)
    assert lost_once  # asked once, chance alone kills


def assert_same(one: Mutation, other: Mutation) -> None:
    pd.testing.assert_frame_equal(one.kills, other.kills)
    pd.testing.assert_frame_equal(one.saboteurs, other.saboteurs)
    assert one.skeletons == other.skeletons


class Noting:
    """A progress callback that notes what it is told."""

    def __init__(self, told: list[tuple[int, int, str]]) -> None:
        self.told = told

    def __call__(self, *of: Any) -> None:
        self.told.append(of)


def unmarked(journal: bytes) -> list[Any]:
    """Its lines without the mark of the run that wrote them, and the sums."""
    return [json.loads(line) | {"mark": "", "sum": 0} for line in journal.splitlines()]


def test_a_journal_cut_at_any_line_goes_on_to_the_same_tables(tmp_path: Path) -> None:
    whole = tmp_path / "deep" / "mutation.jsonl"
    made = mutated(saboteurs=SMALL, journal=whole)
    lines = whole.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + len(SMALL)
    for n in range(len(lines)):
        cut = tmp_path / f"cut-{n}"
        cut.write_bytes(b"".join(lines[:n]) + lines[n][: len(lines[n]) // 2])
        left = len(SMALL) - max(0, n - 1)
        told: list[tuple[int, int, str]] = []
        with pytest.warns(JournalWarning, match="cut off"):
            again = mutated(saboteurs=SMALL, journal=cut, resume=True, progress=Noting(told))
        assert [of[2] for of in told] == [kind.name for kind in SMALL[-left:]]
        assert_same(again, made)
        assert unmarked(cut.read_bytes()) == unmarked(b"".join(lines))


def test_ending_it_by_hand_leaves_a_journal_that_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "mutation.jsonl"

    def end(done: int, total: int, label: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mutated(saboteurs=SMALL, journal=path, progress=end)
    assert len(path.read_text().splitlines()) == 3
    assert_same(mutated(saboteurs=SMALL, journal=path, resume=True), mutated(saboteurs=SMALL))


def test_a_journal_of_something_else_is_refused_with_the_first_difference(tmp_path: Path) -> None:
    path = tmp_path / "mutation.jsonl"
    mutated(saboteurs=[Null], journal=path)
    with pytest.raises(RunFileError, match="seed was 0, now it is 1"):
        mutated(saboteurs=[Null], journal=path, resume=True, seed=1)
    with pytest.raises(RunFileError, match=r"store.name was 'SqliteStore', now it is 'Plain'"):
        mutate([LUNCH], odd.Plain, saboteurs=[Null], journal=path, resume=True)
    with pytest.raises(RunFileError, match=r"saboteurs had \[\] that are gone, .*'shouts'"):
        mutated(saboteurs=[Null, Shouts], journal=path, resume=True)
    other = me.Probe("tea", "kiosk", GIVEN, ["r2"])
    with pytest.raises(RunFileError, match="suite_hash was"):
        mutate([other], "sqlite", saboteurs=[Null], journal=path, resume=True)
    mutated(saboteurs=[Null, Shouts], journal=path)  # without resume it is begun anew
    assert json.loads(path.read_text().splitlines()[0])["key"]["saboteurs"] == ["null", "shouts"]


def test_a_damaged_journal_is_refused_and_resume_needs_one(tmp_path: Path) -> None:
    path = tmp_path / "mutation.jsonl"
    mutated(saboteurs=[Null, Shouts], journal=path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "{", lines[2], ""]))
    with pytest.raises(RunFileError, match="line 2: cannot be read"):
        mutated(saboteurs=[Null, Shouts], journal=path, resume=True)
    path.write_text("something\n")
    with pytest.raises(RunFileError, match="line 1"):
        mutated(saboteurs=[Null], journal=path, resume=True)
    path.write_text('{"format": "other"}\n')
    with pytest.raises(RunFileError, match="found other, version None, wanted memeval mut"):
        mutated(saboteurs=[Null], journal=path, resume=True)
    with pytest.raises(MemevalError, match="resume without a journal"):
        mutated(saboteurs=[Null], resume=True)
    with pytest.raises(MemevalError, match="cannot write the journal"):
        mutated(saboteurs=[Null], journal=tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        '{"saboteur": ["null"], "kills": []}',
        '{"saboteur": "null", "kills": {}}',
        '{"saboteur": "null", "kills": [{"probe": "lunch", "by": "gate", "codes": 5}]}',
        '{"saboteur": "null", "kills": [{"probe": "lunch", "by": "magic", "codes": ""}]}',
        '{"saboteur": "null", "kills": [{"probe": "no such", "by": "gate", "codes": ""}]}',
        '{"saboteur": "null", "kills": [], "equivalent": "x"}',
        '{"saboteur": "null", "kills": [], "lacks": 5}',
        '{"saboteur": "no such", "kills": []}',
        "[" * 100_000,
    ],
)
def test_a_journal_with_a_line_that_says_what_cannot_be_is_refused(
    line: str, tmp_path: Path
) -> None:
    path = tmp_path / "mutation.jsonl"
    mutated(saboteurs=[Null], journal=path)
    head = path.read_text().splitlines()[0]
    path.write_text(f"{head}\n{line}\n")
    with pytest.raises(RunFileError, match="line 2: cannot be read"):
        mutated(saboteurs=[Null], journal=path, resume=True)


def test_what_was_found_is_read_back_as_it_was(tmp_path: Path) -> None:
    found = Found("null", (Kill("lunch", "gate", "canary"),), None, None, True)
    journal = MutationJournal(tmp_path / "j", {"seed": 0})
    journal.add(found)
    assert MutationJournal(tmp_path / "j", {"seed": 0}, resume=True).found == {"null": found}


def test_two_jobs_give_the_tables_of_one() -> None:
    pytest.importorskip("joblib")
    probes = list(small_suite())
    kinds = [Null, Reversed, OneWord, Forgetful, Shouts, Undone, Harmless]
    assert_same(
        mutate(probes, "sqlite", saboteurs=kinds, jobs=2),
        mutate(probes, "sqlite", saboteurs=kinds),
    )


def test_jobs_on_one_place_are_done_one_after_the_other_and_it_is_said() -> None:
    pytest.importorskip("joblib")
    place = odd.Place("namespace")
    made = mutate([LUNCH], lambda: odd.Client(place), saboteurs=[Null, Forgetful, Shouts], jobs=2)
    assert "one after the other" in made.notes[0] and made.notes[0] in " ".join(repr(made).split())
    assert set(made.kills["saboteur"]) == {"null", "forgetful", "shouts"}
    assert not place.kept


def test_errors_of_a_worker_name_the_saboteur_and_what_cannot_be_sent_is_said() -> None:
    pytest.importorskip("joblib")
    with pytest.raises(StoreError, match="saboteur curious"):
        mutated(saboteurs=[Null, Curious], jobs=2)
    lock = threading.Lock()
    with pytest.raises(StoreError, match="make_store cannot be sent to another process"):
        mutate([LUNCH], lambda: (lock, odd.Plain())[1], saboteurs=[Null, Shouts], jobs=2)
    with pytest.raises(StoreError, match="max_calls is 9999"):
        mutated(saboteurs=[Null, Shouts], jobs=2, max_calls=9999)


class Besides(Saboteur):
    name, fault, tag = "besides", "writes a record besides", "x"
    touches = "write"

    def written(self, record: Record) -> list[Record]:
        return [record, replace(record, id=f"{record.id}-beside", text=f"{record.text} And more.")]


@pytest.mark.parametrize("isolation", ["namespace", "clear", "fork"])
def test_nothing_is_left_behind_in_a_place_of_the_users(isolation: str) -> None:
    place = odd.Place(isolation)
    kind = {"namespace": odd.Client, "clear": odd.Clearing, "fork": odd.Scratching}[isolation]
    made = mutate([LUNCH], lambda: kind(place), saboteurs=[Besides, Null, Forgetful])
    assert not place.kept
    assert "besides" in set(made.kills["saboteur"])  # a record that nobody wrote


def test_eventual_stores_are_not_waited_for_where_nothing_will_come() -> None:
    started = time.monotonic()
    made = mutate(
        [LUNCH], odd.Eventual, saboteurs=[Null, Forgetful], repeats=1, poll_s=0.01, settle_s=30.0
    )
    assert time.monotonic() - started < 20.0
    assert set(made.kills["saboteur"]) == {"null", "forgetful"}


def test_a_store_that_raises_on_what_a_shipped_fault_asks_of_it_stops_nothing() -> None:
    class Strict(odd.Plain):
        def search(self, query: str, *, k: int, scope: str) -> Any:
            if k > 20:
                raise TypeError(f"k is {k}")
            return super().search(query, k=k, scope=scope)

    made = mutate([LUNCH], Strict, saboteurs=[KIgnoring, Null])
    assert made.saboteurs["killed"].tolist() == [True, True]


def test_a_saboteur_that_crashes_is_refused_and_never_counts_as_killed() -> None:
    class Crashes(Saboteur):
        name, fault = "crashes", "its author mistyped a name"

        def answer(self, view: View) -> list[Hit]:
            return super().answer(view).reversed()  # type: ignore[attr-defined]

    with pytest.raises(StoreError, match=r"saboteur crashes: its own code fails .*AttributeError"):
        mutated(saboteurs=[Crashes])


def test_a_search_that_fails_on_purpose_is_a_fault_like_any_other() -> None:
    class Down(Saboteur):
        name, fault = "down", "every search fails"

        def answer(self, view: View) -> list[Hit]:
            raise StoreError("the index is gone")

    assert mutated(saboteurs=[Down]).score == 1.0
