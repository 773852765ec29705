"""One probe: what it accepts, what it comes to, what it refuses."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given as law
from hypothesis import settings
from hypothesis import strategies as st

from memeval.errors import ProbeError
from memeval.given import Given
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Record


def record(name: str = "r1", text: str = "Noodle bar.", **more) -> Record:
    return Record(name, text, **more)


def probe(**more) -> Probe:
    values = {"name": "p", "query": "Where?", "given": [record()], "expect": ["r1"]}
    return Probe(**{**values, **more})


def faults(**more) -> list[str]:
    with pytest.raises(ProbeError) as caught:
        probe(**more)
    return [f"{f.field}: {f.found}" for f in caught.value.faults]


def test_lists_become_tuples_and_the_probe_can_be_hashed():
    made = probe(given=[record(), record("r2")], expect=[["r1", "r2"]], tags=["a"])
    assert made.expect == (("r1", "r2"),)
    assert made.given == (record(), record("r2"))
    assert hash(made) == hash(replace(made))
    assert pickle.loads(pickle.dumps(made)) == made


def test_a_set_gets_an_order():
    assert probe(tags={"b", "a"}).tags == ("a", "b")


def test_a_negative_probe_built_in_python_may_have_an_empty_scope():
    made = Probe(name="n1", query="something nobody said", expect=[], given=[])
    assert made.is_negative and not made.is_positive and made.live == ()


@dataclass
class Note:
    """A record as someone else writes it."""

    id: str
    text: str
    scope: str | None = None


def test_any_object_with_id_and_text_is_a_record_in_the_probes_scope():
    made = probe(given=[Note("r1", "x"), Note("r2", "y", "bo")], scope="ana")
    assert made.given == (Record("r1", "x", "ana"), Record("r2", "y", "bo"))


@pytest.mark.parametrize(
    "now",
    [
        date(2026, 3, 1),
        datetime(2026, 3, 1),
        datetime(2026, 3, 1, 2, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_times_of_any_kind_become_utc(now):
    made = probe(now=now, given=[record(at=now, expires=datetime(2026, 3, 2))])
    assert made.now == made.records[0].at == datetime(2026, 3, 1, tzinfo=UTC)
    assert made.now.tzinfo is UTC


def test_lone_surrogates_are_replaced():
    made = probe(query="half \ud83d", given=[record(text="\udc00 a")])
    assert made.query == "half \ufffd" and made.records[0].text == "\ufffd a"


def test_end_state_of_a_history():
    # a is updated, b deleted, c deleted and written again, d superseded by a.
    ops = [
        record("a", "1"),
        record("b"),
        record("c", "old"),
        record("d"),
        Delete("b"),
        Delete("c"),
        Consolidate(),
        Advance(timedelta(days=1)),
        record("c", "new"),
        record("a", "2", supersedes=("d",)),
        record("e", scope="bo"),
    ]
    made = probe(given=ops, expect=["a"])
    assert [(r.id, r.text) for r in made.records][:3] == [
        ("a", "2"),
        ("b", "Noodle bar."),
        ("c", "new"),
    ]
    assert [r.id for r in made.live] == ["a", "c", "d", "e"]
    assert made.deleted == {"b"} and made.superseded == {"d"} and made.foreign == {"e"}


def test_a_record_written_again_after_it_was_superseded_is_current():
    again = [record("a"), record("b", supersedes=("a",)), record("a", "once more")]
    early = [record("b", supersedes=("a",)), record("a")]
    assert Given(again).superseded == frozenset()
    assert Given(early).superseded == {"a"}  # told before it came: still outdated


def test_expiry_counts_only_where_now_is_given_and_from_the_moment_on():
    end = datetime(2026, 4, 1, tzinfo=UTC)
    ops = [record(), record("r2", expires=end)]
    assert probe(given=ops).expired == frozenset()
    assert probe(given=ops, now=end - timedelta(seconds=1)).expired == frozenset()
    assert probe(given=ops, now=end).expired == {"r2"}


def test_other_scopes_that_may_be_read_are_not_foreign():
    ops = [record(), record("r2", scope="team"), record("r3", scope="bo")]
    made = probe(given=ops, reads=["team"], expect=["r1", "r2"])
    assert made.scopes_read == {"default", "team"} and made.foreign == {"r3"}


def test_groups_are_tuples():
    made = probe(given=[record(), record("r2"), record("r3")], expect=["r1", ["r2", "r3"]])
    assert made.groups == (("r1",), ("r2", "r3"))


FULL = {
    "given": [record(unit="u"), record("r2", scope="bo"), record("r3"), Delete("r3")],
    "forbid": ["r2"],
    "stale": ["r3"],
    "canary": ["4471"],
    "filter": {"type": "note"},
    "reads": ["team"],
    "near": ["Noodle shop."],
    "now": datetime(2026, 5, 1, tzinfo=UTC),
}


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"tags": ["a"]},
        {"why": "b"},
        {"must": True},
        {"names": ["ana"]},
        {"file": "x.yaml", "line": 3},
        {"history": "h"},
        {"now": datetime(2026, 5, 1, 2, tzinfo=timezone(timedelta(hours=2)))},
    ],
)
def test_content_hash_does_not_see(change):
    assert probe(**{**FULL, **change}).content_hash == probe(**FULL).content_hash


@pytest.mark.parametrize(
    "change",
    [
        {"query": "What?"},
        {"k": 4},
        {"expect": ["r1", "r4"], "given": [*FULL["given"], record("r4")]},
        {"forbid": []},
        {"stale": []},
        {"canary": []},
        {"filter": {}},
        {"reads": []},
        {"near": []},
        {"now": None},
        {"given": [record(unit="v"), *FULL["given"][1:]]},
        {"given": [record(text="Noodle bar", unit="u"), *FULL["given"][1:]]},
        {"given": [record(unit="u", meta={"a": 1}), *FULL["given"][1:]]},
        {"given": [record(unit="u", at=datetime(2026, 1, 1)), *FULL["given"][1:]]},
        {"given": [FULL["given"][1], FULL["given"][0], *FULL["given"][2:]]},
        {"given": [*FULL["given"], Consolidate()]},
    ],
)
def test_content_hash_sees(change):
    assert probe(**{**FULL, **change}).content_hash != probe(**FULL).content_hash


def test_content_hash_does_not_see_the_order_of_id_lists_nor_the_unicode_form():
    ops = [record("caf\u00e9"), record("r2")]
    other = [record("cafe\u0301"), record("r2")]
    one = probe(given=ops, expect=["caf\u00e9", "r2"])
    two = probe(given=other, expect=["r2", "cafe\u0301"])
    assert one.content_hash == two.content_hash
    assert len(one.content_hash) == 16 and int(one.content_hash, 16) >= 0


def test_content_hash_is_pinned_so_that_baselines_stay_comparable():
    # sha256 of the canonical JSON, written out by hand and hashed apart.
    import hashlib

    ops = '[{"id":"r1","scope":"default","text":"Noodle bar."}]'
    inner = hashlib.sha256(ops.encode()).hexdigest()[:16]
    outer = (
        '{"canary":[],"expect":[["r1"]],"filter":{},"forbid":[],"given":"' + inner + '","k":5,'
        '"near":[],"now":null,"query":"Where?","reads":[],"scope":"default","stale":[]}'
    )
    assert probe().content_hash == hashlib.sha256(outer.encode()).hexdigest()[:16]


@law(st.text(min_size=1), st.text(min_size=1))
def test_two_texts_hash_alike_only_if_they_are_one_in_normal_form(one, two):
    import unicodedata

    from memeval.hashes import digest

    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", two)
    assert (digest(one) == digest(two)) == same


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"k": 0}, "k: k is 0"),
        ({"k": True}, "k: k is True"),
        ({"k": 2.5}, "k: k is 2.5"),
        ({"k": "5"}, "k: k is '5'"),
        ({"k": None}, "k: k is None"),
        ({"name": " "}, "name: the text ' ' is blank"),
        ({"name": "a\nb"}, "name: name 'a\\nb' holds a line break or control character"),
        ({"query": "\u200f"}, "query: the text '\\u200f' is blank"),
        ({"scope": "", "given": [], "expect": []}, "scope: the text '' is blank"),
        ({"given": [record(text="\t")]}, "given[0].text: the text '\\t' is blank"),
        ({"given": [record(), record("")]}, "given[1].id: the text '' is blank"),
        ({"tags": "a"}, "tags: tags is 'a', not a list"),
        ({"tags": ["a", "a"]}, "tags: 'a' stands there 2 times"),
        ({"expect": [[]]}, "expect[0]: an empty any-of list"),
        ({"expect": ["r9"]}, "expect[0]: no record has the id 'r9'"),
        ({"forbid": ["r9"]}, "forbid[0]: no record has the id 'r9'"),
        ({"stale": ["r9"]}, "stale[0]: no record has the id 'r9'"),
        ({"forbid": ["r1"]}, "forbid[0]: 'r1' is also expected"),
        ({"stale": ["r1"]}, "stale[0]: 'r1' is also expected"),
        (
            {"given": [record(scope="bo")]},
            "expect[0]: 'r1' is in the scope 'bo', asked is 'default'",
        ),
        ({"given": [record(), Delete("r1")]}, "expect[0]: 'r1' is deleted"),
        ({"given": [record(), record("r2", supersedes=("r1",))]}, "expect[0]: 'r1' is superseded"),
        (
            {"given": [record(expires=datetime(2026, 1, 1))], "now": datetime(2026, 1, 1)},
            "expect[0]: 'r1' is expired at now",
        ),
        (
            {"given": [record(), record("r2"), record("r2", scope="bo")]},
            "given[2].id: 'r2' is in the scopes 'default' and 'bo'",
        ),
        ({"given": [Delete("r1"), record()]}, "given[0].delete: 'r1' is not written yet"),
        ({"given": [record(), Delete("r9")]}, "given[1].delete: no record has the id 'r9'"),
        ({"given": [record(), "x"]}, "given[1]: 'x' is neither a record nor an operation"),
        ({"given": {"a": 1}}, "given: given is {'a': 1}, not a list"),
        (
            {"given": [record(), Advance(timedelta(0))]},
            "given[1].advance: datetime.timedelta(0) is not a span of time",
        ),
        (
            {"given": [record(), record("r2", supersedes=("r2",))]},
            "given[1].supersedes[0]: 'r2' supersedes itself",
        ),
        (
            {"given": [record(), record("r2", supersedes=("r9",))]},
            "given[1].supersedes[0]: no record has the id 'r9'",
        ),
        ({"canary": ["where"]}, "canary[0]: canary 'where' stands in the query"),
        ({"canary": ["noodle"]}, "canary[0]: canary 'noodle' stands in the live record 'r1'"),
        ({"filter": {"a": float("nan")}}, "filter.a: nan cannot be written as JSON"),
        ({"filter": {1: "a"}}, "filter: the key 1 is not a text"),
        ({"must": 1}, "must: must is 1"),
        ({"now": "today"}, "now: 'today' is not a time"),
        ({"given": [record("caf\u00e9"), record("cafe\u0301"), record()]},
         "given: two ids look the same: 'cafe\u0301'"),
    ],
)  # fmt: skip
def test_each_fault_is_found_alone(change, said):
    assert faults(**change) == [said]


def test_more_expected_groups_than_k():
    ops = [record(), record("r2"), record("r3")]
    assert faults(given=ops, expect=["r1", "r2"], k=1) == ["k: 2 records are expected and k is 1"]
    assert probe(given=ops, expect=[["r1", "r2", "r3"]], k=1).k == 1  # one group of three


def test_one_id_in_two_groups():
    found = faults(given=[record(), record("r2")], expect=["r1", ["r2", "r1"]])
    assert found == ["expect: 'r1' stands there 2 times in one group or several"]


def test_supersedes_in_a_circle_of_any_length():
    # r0 is replaced by r1, r1 by r2, ... and r0 replaces the last: a walk of 2,000 steps.
    ring = [record(f"r{n}", supersedes=(f"r{(n - 1) % 2000}",)) for n in range(2000)]
    (found,) = faults(given=ring, expect=[])
    assert "supersedes goes in a circle: 'r0' > 'r1999' > 'r1998' > 'r1997' > 'r1996' > …" in found
    line = [record("r0"), *(record(f"r{n}", supersedes=(f"r{n - 1}",)) for n in range(1, 2000))]
    assert len(probe(given=line, expect=["r1999"]).superseded) == 1999


def test_a_canary_may_stand_where_it_must_not_be_found():
    ops = [record(), record("r2", "code 4471"), Delete("r2"), record("r3", "4471", scope="bo")]
    assert probe(given=ops, canary=["4471", "44"]).canary == ("4471", "44")


def test_all_faults_come_at_once_and_read_well():
    with pytest.raises(ProbeError) as caught:
        probe(
            k=0, query=" ", expect=["r2"], forbid=["x"], given=[record(), record("r2", scope="b")]
        )
    assert str(caught.value).splitlines() == [
        "probe 'p': query: the text ' ' is blank; write something that can be seen",
        "probe 'p': k: k is 0; write a whole number from 1",
        "probe 'p': forbid[0]: no record has the id 'x'; add the record to given, or name one "
        "of it",
        "probe 'p': expect[0]: 'r2' is in the scope 'b', asked is 'default'; put it into that "
        "scope, or name its own in reads",
    ]


def test_an_id_in_another_unicode_form_is_named_as_such():
    with pytest.raises(ProbeError, match="same id in another Unicode form; copy it from there"):
        probe(given=[record("cafe\u0301")], expect=["caf\u00e9"])


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
ANYTHING: st.SearchStrategy[object] = st.deferred(
    lambda: VALUES | st.lists(ANYTHING, max_size=3) | st.dictionaries(VALUES, ANYTHING, max_size=3)
)
FIELDS = st.sampled_from(
    "name query given expect forbid k scope tags stale now canary filter reads names near must why "
    "history".split()
)


@settings(max_examples=60, deadline=None)
@law(st.dictionaries(FIELDS, ANYTHING | st.lists(st.builds(Record, ANYTHING, ANYTHING))))
def test_no_value_of_any_kind_raises_anything_else(values):
    try:
        made = probe(**values)
    except ProbeError as error:
        assert error.faults and all(fault.found and fault.todo for fault in error.faults)
    else:
        assert made.content_hash and made.to_dict()["name"] == made.name


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError("no")


LISTED: list[object] = []
LISTED.append(LISTED)
MAPPED: dict[str, object] = {}
MAPPED["a"] = MAPPED


@pytest.mark.parametrize(
    "values",
    [
        {"k": 10**30},
        {"k": 10**5000},  # more digits than Python writes
        {"why": Mute()},
        {"tags": LISTED},
        {"filter": MAPPED},
        {"expect": np.array(["r1"])},
        {"file": 3},
        {"line": "x"},
        {"withheld": None},
        {"given": [Record("r1", "t", supersedes=None)]},  # type: ignore[arg-type]
    ],
)
def test_values_that_cannot_be_used_shown_or_ended_are_faults(values: dict[str, Any]) -> None:
    with pytest.raises(ProbeError):
        Probe(**{"name": "n", "query": "q", **values})
