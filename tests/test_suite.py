"""A suite: its tables, its hashes, its holdout, and what lint says of it."""

from __future__ import annotations

import hashlib
import json
import pickle
import random
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given as law
from hypothesis import settings
from hypothesis import strategies as st

from memeval.errors import ProbeError
from memeval.frames import FAULTS, PROBES, QRELS, TAGS, names
from memeval.probe import Probe
from memeval.record import Delete, Record
from memeval.suite import Suite, faults_frame


def probe(name: str = "p", **more) -> Probe:
    values = {"query": f"Where is {name}?", "given": [Record("r1", f"{name} is here.")]}
    return Probe(**{"name": name, "expect": ["r1"], **values, **more})


def many(count: int) -> list[Probe]:
    return [probe(f"p{n}") for n in range(count)]


def said(suite: Suite) -> str:
    lint = suite.lint()
    return "\n".join(lint["found"])


def test_it_is_a_sequence_of_probes():
    suite = Suite.of(many(5))
    assert len(suite) == 5 and suite[1].name == "p1" and suite[-1].name == "p4"
    assert [p.name for p in suite[1:3]] == ["p1", "p2"] and isinstance(suite[1:3], Suite)
    assert suite[2] in suite and suite.index(suite[2]) == 2
    assert pickle.loads(pickle.dumps(suite)) == suite
    assert Suite.of(suite) is suite and len(Suite.of(suite[0])) == 1
    assert repr(suite) == "Suite of 5 probes: 5 positive, 0 negative; haystack: none"


@pytest.mark.parametrize("wrong", [["x"], "x", None, [{"name": "a"}], 3])
def test_something_else_is_no_suite(wrong):
    with pytest.raises(ProbeError, match="wanted a Probe; build it with memeval.Probe"):
        Suite.of(wrong)


def test_duplicate_names_are_refused_and_so_are_names_that_differ_in_case_only():
    with pytest.raises(ProbeError, match="duplicate probe names: 'a'"):
        Suite.of([probe("a"), probe("a", query="b")])
    with pytest.raises(ProbeError, match="too like the name 'gate-code'"):
        Suite.of([probe("gate-code"), probe("Gate-Code")])


def test_one_history_name_has_one_content():
    ops = [Record("r1", "x")]
    shared = Suite.of([probe("a", history="h", given=ops), probe("b", history="h", given=ops)])
    assert shared.histories == {"h": (Record("r1", "x"),)}
    with pytest.raises(ProbeError, match="its history 'h' is not that of 'a'"):
        Suite.of([probe("a", history="h"), probe("b", history="h")])


def test_haystack_ids_are_its_own():
    with pytest.raises(ProbeError, match="'r1' is the id of a probe's record too"):
        Suite((probe(),), (Record("r1", "x"),), "own")
    with pytest.raises(ProbeError, match="'h' is the id of another record of the haystack too"):
        Suite((probe(),), (Record("h", "x"), Record("h", "y")), "own")


def test_to_frame_has_a_row_per_probe():
    ops = [Record("r1", "x"), Record("r1", "y"), Record("r2", "z", "bo"), Delete("r2")]
    first = probe("a", given=ops, forbid=["r2"], tags=["t"], must=True, why="w", k=3)
    frame = Suite.of([first, probe("b", expect=[], file="f.yaml", line=7)]).to_frame()
    assert list(frame.columns) == names(PROBES)
    row = frame.iloc[0]
    assert (row["kind"], row["k"], row["n_given"], row["n_expected"]) == ("positive", 3, 3, 1)
    assert (row["n_forbidden"], row["n_stale"], bool(row["must"])) == (1, 0, True)
    assert frame["file"].isna().tolist() == [True, False] and frame["line"].iloc[1] == 7
    assert row["content_hash"] == first.content_hash and frame["history"].isna().all()


def test_tables_of_an_empty_suite_have_their_columns():
    suite = Suite(())
    assert list(suite.to_frame().columns) == names(PROBES)
    assert list(suite.tags().columns) == names(TAGS)
    assert list(suite.qrels().columns) == names(QRELS)
    assert list(suite.lint().columns) == names(FAULTS)


def test_tags_have_a_row_each():
    frame = Suite.of([probe("a", tags=["x", "y"]), probe("b"), probe("c", tags=["x"])]).tags()
    assert frame.values.tolist() == [["a", "x"], ["a", "y"], ["c", "x"]]


def test_qrels_by_hand():
    now = datetime(2026, 5, 1, tzinfo=UTC)
    ops = [
        Record("new", "n", supersedes=("old", "gone")),
        Record("old", "o"),
        Record("gone", "g"),
        Record("bo", "b", "bo"),
        Record("ended", "e", expires=now),
        Record("listed", "l"),
        Record("alt", "a"),
        Record("team", "t", "team"),
        Delete("gone"),
    ]
    made = probe(
        "p", given=ops, expect=["team", ["new", "alt"]], forbid=["old", "bo"],
        stale=["listed", "ended"], now=now, reads=["team"],
    )  # fmt: skip
    frame = Suite.of([made]).qrels()
    rows = frame.astype(object).where(frame.notna(), None).values.tolist()
    assert rows == [
        ["p", "team", "expected", 0, False, "listed"],
        ["p", "alt", "expected", 1, False, "listed"],
        ["p", "new", "expected", 1, False, "listed"],
        ["p", "bo", "forbidden", None, False, "listed"],  # foreign too, listed goes first
        ["p", "gone", "forbidden", None, False, "deleted"],
        ["p", "old", "forbidden", None, False, "listed"],
        ["p", "ended", "stale", None, False, "listed"],
        ["p", "gone", "stale", None, False, "superseded"],
        ["p", "listed", "stale", None, False, "listed"],
        ["p", "old", "stale", None, False, "superseded"],
    ]
    plain = replace(made, forbid=(), stale=())
    reasons = Suite.of([plain]).qrels().set_index(["record_id", "label"])["reason"]
    assert reasons["bo", "forbidden"] == "foreign_scope" and reasons["ended", "stale"] == "expired"


def test_select_by_tag_and_name():
    suite = Suite.of([probe("a1", tags=["x"]), probe("a2", tags=["y"]), probe("b?", tags=["x"])])
    assert [p.name for p in suite.select(tags=["x"])] == ["a1", "b?"]
    assert [p.name for p in suite.select(tags=["x", "y"], names=["a*"])] == ["a1", "a2"]
    assert [p.name for p in suite.select(names=["b?"])] == ["b?"]
    assert [p.name for p in suite.select(tags="y")] == ["a2"]
    assert suite.select() == suite


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"tags": ["tempral"]}, "no probe has the tag 'tempral'; write 'temporal'"),
        ({"names": ["no-such"]}, "no probe is called 'no-such'; write one of 'a', 'b'"),
        (
            {"tags": ["temporal"], "names": ["b"]},
            "no probe has both the tag and the name; ask for one of the two",
        ),
    ],
)
def test_select_of_nothing_is_an_error(asked, message):
    suite = Suite.of([probe("a", tags=["temporal"]), probe("b")])
    with pytest.raises(ProbeError) as caught:
        suite.select(**asked)
    assert str(caught.value) == message


def test_positives_and_negatives_split_the_suite():
    suite = Suite.of([probe("a"), probe("b", expect=[])])
    assert [p.name for p in suite.positives] == ["a"]
    assert [p.name for p in suite.negatives] == ["b"]


def test_suite_hash_counts_probes_and_haystack_and_neither_names_nor_order():
    probes = many(6)
    suite = Suite.of(probes)
    shuffled = [replace(p, name=f"x{n}", tags=("t",)) for n, p in enumerate(probes)]
    random.Random(1).shuffle(shuffled)
    assert Suite.of(shuffled).content_hash == suite.content_hash
    assert Suite.of(probes[:5]).content_hash != suite.content_hash
    around = replace(suite, haystack=(Record("h", "x"),), haystack_name="own")
    assert around.content_hash != suite.content_hash
    assert (suite.haystack_hash, len(around.haystack_hash)) == ("none", 16)
    other = replace(around, haystack=(Record("h", "y"),))
    assert other.haystack_hash != around.haystack_hash


def test_holdout_moves_no_probe_when_others_come_or_names_change():
    probes = many(200)
    training, held = Suite.of(probes).holdout()
    assert len(training) + len(held) == 200
    # 200 draws at 0.2: mean 40, sd sqrt(200 * 0.2 * 0.8) = 5.66; four sd either way.
    assert 17 <= len(held) <= 63
    more = [replace(p, name=f"new-{p.name}") for p in reversed(probes)] + many(300)[200:]
    again = {p.content_hash for p in Suite.of(more).holdout()[1]}
    assert {p.content_hash for p in held} == again & {p.content_hash for p in probes}
    assert {p.name for p in held} <= {p.name for p in Suite.of(probes).holdout(0.4)[1]}


def drawn(hash_):
    """Point of a content, by the definition: the first 64 bits of a SHA-256, as a share of 2^64."""
    return int(hashlib.sha256(b"holdout " + hash_.encode()).hexdigest()[:16], 16) / 2**64


def test_holdout_is_drawn_by_the_content_of_a_probe():
    probes = many(60)
    _, held = Suite.of(probes).holdout(0.3)
    assert [p.name for p in held] == [p.name for p in probes if drawn(p.content_hash) < 0.3]


def test_probes_of_one_history_fall_on_one_side():
    told = [[Record(f"r{i}", f"Note {i} of {n}.") for i in range(3)] for n in range(40)]
    probes = [
        Probe(f"h{n}-{i}", f"note {i}", told[n], [f"r{i}"], history=f"h{n}")
        for n in range(40)
        for i in range(3)
    ]
    dev, held = Suite.of(probes).holdout(0.3)
    sides = [{p.history for p in side} for side in (dev, held)]
    # 40 draws at 0.3: mean 12, sd sqrt(40 * 0.3 * 0.7) = 2.9; four sd either way.
    assert not sides[0] & sides[1] and 1 <= len(sides[1]) <= 23
    assert (len(dev), len(held)) == (3 * len(sides[0]), 3 * len(sides[1]))
    fewer = Suite.of([p for p in probes if not p.name.endswith("-2")]).holdout(0.3)[1]
    assert {p.name for p in fewer} == {p.name for p in held if not p.name.endswith("-2")}
    renamed = Suite.of([replace(p, history=f"x{p.history}") for p in probes]).holdout(0.3)[1]
    assert [p.name for p in renamed] == [p.name for p in held]


def test_dev_probes_are_a_suite_of_their_own_and_know_what_is_held_out():
    suite = Suite.of(many(60))
    dev, held = suite.holdout(0.3)
    names = tuple(sorted(p.name for p in held))
    assert (dev.chosen_of, held.chosen_of) == (0, 60)
    assert dev.held_out == held.held_out and dev.held_out.names == names
    assert dev.looked_at == frozenset() and held.looked_at == set(names)
    both = suite.with_holdout(0.3)
    assert list(both) == list(suite) and both.looked_at == set(names)
    assert dev[:3].chosen_of == len(dev)  # of the dev probes, not of all
    assert dev.holdout(0.3)[0] == dev and suite.looked_at == frozenset()


def test_another_holdout_has_another_hash_and_names_do_not_count():
    probes = many(60)
    hash_ = Suite.of(probes).with_holdout(0.3).held_out.hash
    renamed = [replace(p, name=f"new-{p.name}") for p in reversed(probes)]
    assert Suite.of(renamed).with_holdout(0.3).held_out.hash == hash_
    assert Suite.of(probes).with_holdout(0.4).held_out.hash != hash_


@pytest.mark.parametrize("share", [0, 1, -0.1, 20])
def test_holdout_share_lies_between_0_and_1(share):
    with pytest.raises(ProbeError, match="wanted a number between 0 and 1"):
        Suite.of(many(2)).holdout(share)


def test_lint_of_a_thin_suite():
    lint = Suite.of([probe("a", k=2, tags=["x"]), probe("b", k=2)]).lint()
    assert list(lint.columns) == names(FAULTS) and set(lint["level"]) == {"warning"}
    assert lint[["probe", "found"]].fillna("").values.tolist() == [
        ["", "2 positive probes, fewer than 20: one probe moves recall by a lot"],
        ["", "no negative probes of 2 (0%); wanted are 5 and 15%"],
        ["", "no probe has a forbid list: leaks and superseded facts are hardly seen"],
        ["", "no probe has a record in a second scope: no leak between scopes can be seen"],
        ["", "thin tags: 'x' (1)"],
        [
            "",
            "no probe expects as many records as its k: every answer has room for wrong ones",
        ],
        ["", "no probe has more right records than k: no answer must choose among them"],
        [
            "",
            "2 of 2 probes can be planted only once in a store that grows ('a': it has no names): "
            "age and size cannot be told apart by them",
        ],
        ["a", "k is 2 and only 1 record can be found: returning everything passes"],
        ["b", "k is 2 and only 1 record can be found: returning everything passes"],
    ]
    assert (lint["todo"].str.len() > 0).all()


def sound_probe(n: int) -> Probe:
    words = ["oak", "ash", "elm", "fir", "yew"]
    topic = words[n % 5] + " " + words[n // 5 % 5]
    right, wrong = Record("r1", f"about {topic}"), Record("r2", f"on {topic}", "bo")
    extra = [Record(f"x{m}", f"{topic} {'z' * m}") for m in range(1, 6)]
    ops = [right, *extra, wrong] if n % 2 else [*extra, wrong, right]
    expect: list = ["r1"] if n < 20 else []
    if n == 0:
        expect = [["r1", "x1", "x2", "x3", "x4", "x5"]]
    if n == 1:
        expect = ["r1", "x1"]
    more = {"expect": expect, "k": 2, "given": ops, "forbid": ["r2"], "names": ["about"]}
    return probe(f"s{n}", query=f"what about {topic}?", **more)


def test_lint_has_nothing_to_say_of_a_sound_suite():
    assert said(Suite.of(sound_probe(n) for n in range(25))) == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"forbid": ()}, "no probe has a forbid list"),
        ({"reads": ("bo",), "forbid": ()}, "no probe has a record in a second scope"),
        ({"k": 9}, "no probe expects as many records as its k"),
        ({"k": 6}, "no probe has more right records than k"),
        ({"names": ()}, "25 of 25 probes can be planted only once in a store that grows ('s0'"),
        ({"tags": ("y",)}, None),
    ],
)
def test_lint_sees_what_a_whole_suite_lacks(change, message):
    found = said(Suite.of(replace(sound_probe(n), **change) for n in range(25)))
    assert message in found if message else found == ""


def test_lint_counts_the_share_of_negatives():
    # 24 positive and 4 negative of 28 is 14 %; one more makes 5 of 29, 17 %.
    probes = [replace(sound_probe(n % 20), name=f"n{n}", query=f"q {'a' * n}") for n in range(24)]
    negative = [
        replace(sound_probe(20), name=f"m{n}", query=f"q {'b' * n}", expect=()) for n in range(5)
    ]
    assert "4 negative probes of 28 (14%)" in said(Suite.of(probes + negative[:4]))
    assert "negative" not in said(Suite.of(probes + negative))


def test_lint_sees_the_place_of_the_expected_record():
    first = [probe(f"p{n}", given=[Record("r1", "a"), Record("r2", "b")]) for n in range(5)]
    last = [replace(p, given=tuple(reversed(p.given))) for p in first]
    assert "an expected record stands first in given in all 5 positive probes" in said(
        Suite.of(first)
    )
    assert "an expected record stands last in given in all 5 positive probes" in said(
        Suite.of(last)
    )
    mixed = said(Suite.of(first[:4] + last[4:]))
    assert "stands first" not in mixed and "stands last" not in mixed


def test_lint_sees_probes_that_differ_in_names_and_numbers_only():
    def copy(name, who, code):
        return probe(
            name,
            query=f"What is the code of {who}?",
            given=[Record("r1", f"The code of {who} is {code}.")],
            names=[who] if who.islower() else [],
        )

    found = said(Suite.of([copy("a", "Ana", "12"), copy("b", "Bo", "4,471"), copy("c", "eva", 7)]))
    assert "differs from 'b', 'c' in names and numbers only" in found
    other = probe("d", query="What is the code?", given=[Record("r1", "The code is unknown.")])
    assert "differs" not in said(Suite.of([copy("a", "Ana", "12"), other]))


def test_lint_holds_k_against_what_can_be_found_only_without_a_haystack():
    suite = Suite.of([probe("a", k=1)])
    message = "k is 1 and only 1 record can be found"
    assert message in said(suite)
    around = replace(suite, haystack=(Record("h", "x"),), haystack_name="own")
    assert message not in said(around)
    tempted = probe("a", k=2, given=[Record("r1", "a"), Record("r2", "b")], forbid=["r2"])
    assert "can be found: returning" not in said(Suite.of([tempted]))


def test_lint_of_single_probes():
    silent = probe("a", expect=[], given=[])
    assert "expects nothing, and its scope holds nothing to be found" in said(Suite.of([silent]))
    canary = probe("a", canary=["4471"])
    assert "canary '4471' stands in no record, so it can never leak" in said(Suite.of([canary]))
    updated = [Record("r1", "code 4471"), Record("r1", "code 9025")]
    assert "canary" not in said(Suite.of([probe("a", canary=["4471"], given=updated)]))
    wanted = probe("a", filter={"type": "todo"})
    assert "expected 'r1' does not carry what filter asks for" in said(Suite.of([wanted]))
    listed = [Record("r1", "x", meta={"labels": ["harvest", "row"]})]
    carried = probe("a", filter={"labels": ["harvest"]}, given=listed)
    assert "filter" not in said(Suite.of([carried]))


def test_without_texts_no_text_is_left_and_probes_still_compare():
    ops = [Record("r1", "secret one", meta={"a": "secret"}), Record("r2", "secret two", "bo")]
    first = probe("a", query="q", given=ops, near=["secret"], canary=["secret9"], history="h")
    suite = Suite((first,), (Record("h1", "secret hay"),), "own", {"h": first.given})
    bare = suite.without_texts()
    assert "secret" not in repr(bare.probes) + json.dumps(bare.to_dict()) + repr(bare.histories)
    assert bare[0].content_hash == first.content_hash and bare[0].groups == first.groups
    assert bare.qrels().equals(suite.qrels()) and "secret" in repr(suite.probes)


def test_faults_frame_of_errors():
    with pytest.raises(ProbeError) as caught:
        probe(k=0)
    frame = faults_frame(caught.value.faults, "error")
    assert frame["level"].tolist() == ["error"] and frame["field"].tolist() == ["k"]


NAMES = st.text("abcdef-", min_size=1, max_size=6).filter(lambda name: name.strip())


@settings(max_examples=40, deadline=None)
@law(st.lists(NAMES, unique_by=str.casefold, min_size=1), st.floats(0.05, 0.95))
def test_holdout_splits_and_loses_nothing(chosen, share):
    suite = Suite.of(probe(name) for name in chosen)
    training, held = suite.holdout(share)
    assert sorted(p.name for p in [*training, *held]) == sorted(p.name for p in suite)


def slow_labels(probe: Probe) -> list[tuple[str, str, str, int | None]]:
    """Every record against every reason, the first of each label standing."""
    rows: list[tuple[str, str, str, int | None]] = [
        (name, "expected", "listed", n)
        for n, group in enumerate(probe.groups)
        for name in sorted(group)
    ]
    foreign = {r.id for r in probe.records if r.scope not in {probe.scope, *probe.reads}}
    late = {r.id for r in probe.records if probe.now and r.expires and r.expires <= probe.now}
    labels: dict[str, list[tuple[str, Collection[str]]]] = {
        "forbidden": [
            ("listed", probe.forbid), ("deleted", probe.deleted), ("foreign_scope", foreign),
        ],
        "stale": [("listed", probe.stale), ("superseded", probe.superseded), ("expired", late)],
    }  # fmt: skip
    for label, reasons in labels.items():
        for name in sorted(r.id for r in probe.records):
            why = [reason for reason, ids in reasons if name in ids]
            rows += [(name, label, why[0], None)] if why else []
    return rows


MAY = datetime(2026, 5, 1, tzinfo=UTC)


@law(
    scopes=st.lists(st.sampled_from(["default", "bo"]), min_size=4, max_size=4),
    told=st.sampled_from([(), ("r0",), ("r1",)]),
    deleted=st.sampled_from([(), ("r2",), ("r1", "r2")]),
    asked=st.lists(
        st.tuples(
            st.lists(st.sampled_from(["r0", "r1", "r2"]), unique=True),
            st.lists(st.sampled_from(["r0", "r1", "r2"]), unique=True),
            st.booleans(),
            st.booleans(),
        ),
        max_size=4,
    ),
)
def test_labels_are_those_of_a_look_at_each_record_of_each_probe(
    scopes: list[str], told: tuple[str, ...], deleted: tuple[str, ...], asked: list[Any]
) -> None:
    ends = [None, MAY, None, None]
    records = [
        Record(f"r{n}", "x", scopes[n], expires=ends[n], supersedes=told if n == 3 else ())
        for n in range(4)
    ]
    history = Probe("p", "q", [*records, *map(Delete, deleted)]).given
    suite = Suite.of(
        Probe(
            f"p{n}", "q", history, [["r3"]] if scopes[3] == "default" else [],
            forbid=forbid, stale=stale, now=MAY if timed else None,
            reads=["bo"] if reads else [], history="one",
        )
        for n, (forbid, stale, timed, reads) in enumerate(asked)
    )  # fmt: skip
    said = suite.qrels()
    rows = zip(
        said["probe"], said["record_id"], said["label"], said["reason"],
        (None if missing else group for group, missing in
         zip(said["group"], said["group"].isna(), strict=True)), strict=True,
    )  # fmt: skip
    assert list(rows) == [
        (p.name, name, label, why, group)
        for p in suite
        for name, label, why, group in slow_labels(p)
    ]
    assert not said["merged"].any()
