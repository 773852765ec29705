"""Reading probe files: strict, everything at once, nothing guessed and nothing dropped."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from hypothesis import given as law
from hypothesis import settings
from hypothesis import strategies as st

from memeval import loading, resources
from memeval.datasets.probeswritten import write_probes
from memeval.errors import MemevalError, ProbeError
from memeval.loading import load, load_text
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Record
from memeval.suite import Suite

SHIPPED = "haystack: [{text: 'The ferry is late.'}, {id: b2, text: 'The tap drips.', unit: u}]\n"


@pytest.fixture(autouse=True)
def shipped(tmp_path_factory, monkeypatch) -> Path:
    """A small haystack in the place of the shipped one."""
    folder = tmp_path_factory.mktemp("shipped") / "probes"
    folder.mkdir()
    (folder / "haystack.yaml").write_text(SHIPPED)
    monkeypatch.setattr(resources, "_folder", lambda name: folder)
    return folder


def refused(text: str, name: str = "p.yaml") -> list[str]:
    with pytest.raises(ProbeError) as caught:
        load_text(text, name)
    assert all(len(str(fault)) < 230 for fault in caught.value.faults)
    return [str(fault) for fault in caught.value.faults]


def one(**more) -> dict:
    fields = {"name": "a", "query": "q", "given": [{"id": "r1", "text": "t"}], "expect": ["r1"]}
    return {**fields, **more}


def dumped(*probes: dict) -> str:
    """One probe a line."""
    return "".join(f"- {json.dumps(probe)}\n" for probe in probes)


FULL = """\
- name: lunch-spot-is-mine          # unique in the suite
  query: "Where do I have lunch on workdays?"
  scope: ana
  k: 3
  now: 2026-05-01T12:00:00Z
  given:
    - {id: r1, text: "At the bakery.", at: 2026-03-01T09:00:00Z, unit: lunch}
    - {id: r7, text: "At the noodle bar.", supersedes: [r1], unit: lunch}
    - {id: r3, text: "Falafel.", scope: bo, meta: {type: note, n: 3, f: 4.5}, expires: 2026-04-01}
    - {id: r4, text: "Code 4471."}
    - {delete: r4}
    - {consolidate: true}
    - {advance: 30d}
    - {id: r2, text: "Soup."}
  expect: [[r7, r2]]
  forbid: [r3]
  stale: [r1]
  canary: ["4471"]
  filter: {type: note}
  reads: [team]
  names: [ana, "Quay Street"]
  near: ["At the pasta bar."]
  tags: [scope, leak]
  must: true
  why: "a report"
"""


def test_every_field_of_the_format():
    (probe,) = load_text(FULL, "p.yaml")
    assert probe == Probe(
        name="lunch-spot-is-mine",
        query="Where do I have lunch on workdays?",
        scope="ana",
        k=3,
        now=datetime(2026, 5, 1, 12, tzinfo=UTC),
        given=[
            Record("r1", "At the bakery.", "ana", datetime(2026, 3, 1, 9, tzinfo=UTC), "lunch"),
            Record("r7", "At the noodle bar.", "ana", None, "lunch", ("r1",)),
            Record(
                "r3",
                "Falafel.",
                "bo",
                expires=datetime(2026, 4, 1, tzinfo=UTC),
                meta={"type": "note", "n": 3, "f": 4.5},
            ),
            Record("r4", "Code 4471.", "ana"),
            Delete("r4"),
            Consolidate(),
            Advance(timedelta(days=30)),
            Record("r2", "Soup.", "ana"),
        ],
        expect=[["r7", "r2"]],
        forbid=["r3"],
        stale=["r1"],
        canary=["4471"],
        filter={"type": "note"},
        reads=["team"],
        names=["ana", "Quay Street"],
        near=["At the pasta bar."],
        tags=["scope", "leak"],
        must=True,
        why="a report",
    )
    assert (probe.file, probe.line) == ("p.yaml", 1)


def test_defaults():
    (probe,) = load_text("- {name: a, query: q, given: [{id: r1, text: t}]}")
    assert (probe.k, probe.scope, probe.must, probe.is_negative) == (5, "default", False, True)


def test_the_specs_duplicate_names(tmp_path):
    (tmp_path / "p.yaml").write_text("- {name: a, query: q}\n- {name: a, query: r}\n")
    with pytest.raises(ValueError, match="duplicate probe names"):
        load(tmp_path / "p.yaml")


def test_all_faults_of_all_files_in_order_in_full(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(
        "- name: typo\n  query: q\n  given: [{id: a, text: t}]\n  expects: [a]\n  k: 0\n"
        "- name: same\n  query: q\n  given:\n  - {id: no, text: t}\n  expect: [no]\n"
    )
    Path("b.yaml").write_text("- {name: same, query: q, given: [{id: r, text: ' '}]}\n")
    Path("c.yaml").write_text("- {name: x\n")
    with pytest.raises(ProbeError) as caught:
        load("a.yaml", "b.yaml", "c.yaml")
    assert str(caught.value).splitlines() == [
        "a.yaml:4: probe 'typo': unknown key 'expects'; write 'expect'",
        "a.yaml:5: probe 'typo': k: k is 0; write a whole number from 1",
        "a.yaml:9: probe 'same': given[0].id: no without quotes is false, not a text; "
        'quote it: "no"',
        "a.yaml:10: probe 'same': expect[0]: no without quotes is false, not a text; "
        'quote it: "no"',
        "b.yaml:1: probe 'same': given[0].text: the text ' ' is blank; "
        "write something that can be seen",
        "b.yaml:1: probe 'same': name: duplicate probe names: 'same' is also at a.yaml:6; "
        "rename one of the two",
        "c.yaml:2: column 1: not YAML: expected ',' or '}', but got '<stream end>'; "
        "close the quote or bracket that is left open",
    ]


@pytest.mark.parametrize("k", ["0", "-1", "2.5", '"5"', "true", "null", "1_0", "05", "[5]", "1e3"])
def test_k_is_a_whole_number_from_1(k):
    text = f"- name: a\n  query: q\n  given: [{{id: a, text: t}}]\n  k: {k}\n"
    (fault,) = refused(text)
    assert fault.startswith("p.yaml:4: probe 'a': k: k is ")
    assert fault.endswith("; write a whole number from 1")


@pytest.mark.parametrize(
    ("written", "reading"),
    [
        ("no", "false"),
        ("yes", "true"),
        ("on", "true"),
        ("Off", "false"),
        ("012", "the number 10"),
        ("1_000", "the number 1000"),
        ("12:30:45", "the number 45045"),
        ("4.10", "the number 4.1"),
        ("12", "the number 12"),
        ("0x1F", "the number 31"),
        (".inf", "the number inf"),
        ("2026-03-01", "a time"),
        ("~", "null"),
        ("null", "null"),
        ("=", "a value"),
    ],
)
@pytest.mark.parametrize("field", ["name", "query", "scope", "why", "given[0].id", "tags[0]"])
def test_what_is_not_a_text_is_refused_as_it_is_written(written, reading, field):
    values = {
        "name": "a",
        "query": "q",
        "scope": "s",
        "why": "w",
        "given[0].id": "r",
        "tags[0]": "t",
    }
    values[field] = written
    text = (
        "- name: {name}\n  query: {query}\n  scope: {scope}\n  why: {why}\n"
        "  given: [{{id: {id}, text: t}}]\n  tags: [{tag}]\n"
    ).format(**values, id=values["given[0].id"], tag=values["tags[0]"])
    (fault,) = refused(text)
    said = f'{field}: {written} without quotes is {reading}, not a text; quote it: "{written}"'
    assert fault.endswith(said)
    name = values["name"]
    assert f"probe '{name}'" in fault


def test_quoted_they_are_texts():
    text = "- {name: 'no', query: '012', given: [{id: '~', text: '4.10'}], expect: ['~']}"
    (probe,) = load_text(text)
    assert (probe.name, probe.query, probe.records[0].id) == ("no", "012", "~")


def test_leading_zero_and_its_octal_double_stay_apart():
    text = (
        "- name: p\n  query: q\n  given:\n    - {id: 0417, text: a}\n    - {id: '271', text: b}\n"
    )
    (fault,) = refused(text)
    assert "0417 without quotes is the number 271" in fault


@pytest.mark.parametrize(
    ("field", "written", "said"),
    [
        ("expect", "r1", "'r1' is not a list; write it as a list: [r1]"),
        ("expect", "null", "null stands here; write a list, such as []"),
        ("expect", "", "nothing stands here; write a list, such as []"),
        ("tags", "{a: b}", "a mapping stands here; write a list, such as []"),
        ("tags", "[[a]]", "tags[0]: a list stands here; write a text"),
        ("must", "yes", "'yes' stands here; write true or false"),
        ("must", "1", "'1' stands here; write true or false"),
        ("now", "noon", "'noon' is not a time; write it as 2026-03-01 or 2026-03-01T09:00:00Z"),
        ("now", "2026-02-30", "'2026-02-30' is not a time: day is out of range for month; "),
        ("now", "20260301", "20260301 is the number 20260301, not a time; write"),
        ("now", "0001-01-01T00:00:00+05:00", "is not a time: it is out of range in UTC"),
        ("filter", "note", "'note' is not a mapping; write {key: value}"),
        ("filter", "{a: no}", "filter.a: no would be read as false; write it in its plain form"),
        ("filter", "{a: 4.10}", "filter.a: 4.10 would be read as the number 4.1"),
        ("filter", "{a: 012}", "filter.a: 012 would be read as the number 10"),
        ("filter", "{a: 2026-01-01}", "filter.a: 2026-01-01 would be read as a time"),
        ("filter", f"{{a: {'1' * 1001}}}", "a number; quote it: a number may have 1,000 digits"),
        ("filter", "{a: .nan}", "filter.a: .nan would be read as"),
        ("filter", "{no: a}", "the key no is false, not a text; quote it: \"no\""),
        ("filter", "{a: 1, a: 2}", "filter.a: the key 'a' stands twice, first at line 2"),
        ("filter", "{a: {b: 1, b: 2}}", "filter.a.b: the key 'b' stands twice"),
        ("history", "h", "no history is called 'h'; write it under histories"),
        ("forbid", "[r9]", "forbid[0]: no record has the id 'r9'; add the record to given"),
        ("reads", "['']", "reads[0]: the text '' is blank"),
        ("near", "[#x]", ""),
    ],
)  # fmt: skip
def test_values_of_other_kinds(field, written, said):
    text = (
        f"- {{name: a, query: q, given: [{{id: r1, text: t}}]}}\n- name: b\n  query: q\n  {field}: "
    )
    text = f"- name: b\n  {field}: {written}\n  query: q\n"
    if field != "history":
        text += "  given: [{id: r1, text: t}]\n"
    faults = refused(text)
    assert len(faults) == 1 and said in faults[0] and faults[0].startswith("p.yaml:")


@pytest.mark.parametrize("n", [10**18, -(2**64), 10**999])
def test_ids_of_many_digits_in_metadata_are_read_and_written_as_they_are(n, tmp_path):
    place = tmp_path / "p.json"
    given = [{"id": "r1", "text": "t", "meta": {"message": n}}]
    place.write_text(json.dumps([{"name": "a", "query": "q", "given": given, "expect": ["r1"]}]))
    suite = load(place)
    assert suite[0].given[0].meta == {"message": n}
    write_probes(suite, tmp_path / "p.yaml")
    assert load(tmp_path / "p.yaml")[0].given[0].meta == {"message": n}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("x", "given[0]: 'x' is neither a record nor an operation"),
        ("[a]", "given[0]: a list is neither a record nor an operation"),
        ("{foo: bar}", "given[0]: a mapping with foo is neither a record nor an operation"),
        ("{id: r1}", "given[0]: no text; give it one: text: ..."),
        ("{text: t}", "given[0]: no id; give it one: id: ..."),
        ("{id: r1, text: t, time: x}", "given[0]: unknown key 'time'; write 'at'"),
        (
            "{id: r1, text: t, suprsedes: []}",
            "given[0]: unknown key 'suprsedes'; write 'supersedes'",
        ),
        ("{id: r1, text: t, supersedes: r0}", "supersedes: 'r0' is not a list; write it as a list"),
        ("{id: r1, text: t, supersedes: [r9]}", "supersedes[0]: no record has the id 'r9'"),
        ("{delete: r1}", "given[0].delete: no record has the id 'r1'"),
        ("{delete: [r1]}", "given[0].delete: a list stands here; write a text"),
        ("{consolidate: true, id: r1}", "given[0]: unknown key 'id'; known are consolidate"),
        (
            "{consolidate: false}",
            "given[0].consolidate: consolidate is false; write {consolidate: ",
        ),
        ("{consolidate: yes}", "given[0].consolidate: consolidate is yes"),
        ("{advance: 30}", "given[0].advance: 30 is not a span of time; write a whole number and w"),
        ("{advance: 1:30}", "given[0].advance: 1:30 is not a span of time"),
        ("{advance: 1.5d}", "given[0].advance: '1.5d' is not a span of time"),
        ("{advance: 0d}", "given[0].advance: '0d' is not a span of time"),
        ("{advance: 9999w}", "given[0].advance: '9999w' is not a span of time"),
        ("{id: r1, text: '\\u200f'}", None),
        ('{id: r1, text: "\\u200f"}', "given[0].text: the text '\\u200f' is blank"),
    ],
)
def test_entries_of_given(entry, said):
    text = f"- name: a\n  query: q\n  given:\n    - {entry}\n    - {{id: z, text: t}}\n"
    if said is None:
        assert load_text(text)[0].records[0].text == "\\u200f"
        return
    (fault,) = refused(text)
    assert fault.startswith("p.yaml:4: probe 'a': ") and said in fault


@pytest.mark.parametrize(
    ("written", "span"),
    [("30d", timedelta(30)), ("12h", timedelta(0, 43200)), ("90m", timedelta(0, 5400)),
     ("2w", timedelta(14)), ("45s", timedelta(0, 45))],
)  # fmt: skip
def test_spans_of_time(written, span):
    (probe,) = load_text(
        f"- {{name: a, query: q, given: [{{id: r, text: t}}, {{advance: {written}}}]}}"
    )
    assert probe.given[1] == Advance(span)


@pytest.mark.parametrize(
    "written",
    ["2025-04-03T08:00:00Z", '"2025-04-03T08:00Z"', "2025-04-03T10:00:00+02:00",
     "2025-04-03 08:00:00", "2025-04-03t03:00:00.0-5", "2025-4-3 8:00:00", '"20250403T080000Z"'],
)  # fmt: skip
def test_times_of_any_form_become_one(written):
    (probe,) = load_text(f"- {{name: a, query: q, now: {written}, given: [{{id: r, text: t}}]}}")
    assert probe.now == datetime(2025, 4, 3, 8, tzinfo=UTC) and probe.now.tzinfo is UTC


def test_times_of_four_forms_can_be_sorted_and_written():
    text = """\
- name: mixed-times
  query: "When was the roof done?"
  given:
    - {id: a, text: "Roof done.", at: 2025-04-01}
    - {id: b, text: "Roof done again.", at: "2025-04-02"}
    - {id: c, text: "Roof checked.", at: 2025-04-03T10:00:00+02:00}
    - {id: d, text: "Roof painted.", at: 2025-04-04 10:00:00}
  expect: [a]
"""
    (probe,) = load_text(text)
    assert [r.at for r in probe.records] == sorted(r.at for r in probe.records)
    assert json.dumps(probe.to_dict())


def test_a_key_that_stands_twice_is_named_with_both_lines():
    text = "- name: dup\n  query: q\n  forbid: [b]\n  given: [{id: b, text: u}]\n  forbid: []\n"
    assert refused(text) == [
        "p.yaml:5: probe 'dup': forbid: the key 'forbid' stands twice, first at line 3; "
        "keep one of the two"
    ]


def test_merge_keys_go_on_working():
    text = """\
- &base
  name: a
  query: q
  given: [&r {id: r1, text: t}]
  expect: [r1]
- {<<: *base, name: b, k: 1}
- <<: [{name: c, k: 2}, *base]
  given: [{<<: *r, id: r2}, *r]
"""
    suite = load_text(text)
    assert [(p.name, p.k, p.query) for p in suite] == [("a", 5, "q"), ("b", 1, "q"), ("c", 2, "q")]
    assert suite[2].given == (Record("r2", "t"), Record("r1", "t"))
    assert "<< names a text, not a mapping" in refused("- {<<: x, name: a, query: q}")[0]


def test_faults_that_only_follow_are_left_out():
    # The record cannot be used, so nothing is said of the ids that name it.
    text = "- {name: a, query: q, given: [{id: r1, text: [x]}], expect: [r1], forbid: [r2]}"
    assert refused(text) == ["p.yaml:1: probe 'a': given[0].text: a list stands here; write a text"]


def test_a_negative_probe_with_an_empty_scope_is_refused():
    said = "given: expects nothing, and its scope holds nothing to be found"
    for given in ("[]", "[{id: r, text: t, scope: bo}]", "[{id: r, text: t}, {delete: r}]"):
        (fault,) = refused(f"- {{name: a, query: q, given: {given}}}")
        assert said in fault
    team = "- {name: a, query: q, reads: [bo], given: [{id: r, text: t, scope: bo}]}"
    assert load_text(team)[0].is_negative


def test_empty_gold_set_is_a_negative_probe():
    text = """\
- {name: neg, query: "anything about trains?", expect: [], given: [{id: a, text: "I like plums."}]}
- {name: pos, query: "plums", expect: [a], given: [{id: a, text: "I like plums."}]}
"""
    assert [p.is_negative for p in load_text(text)] == [True, False]


def test_a_value_cut_at_a_hash_is_said_by_lint():
    text = """\
- name: hash # a comment
  query: what did ticket #4512 say about the pump
  scope: team #5
  given:
    - {id: a, text: "Ticket #4512: the pump rattles.", scope: team}
  expect: [a]
  k: 5 #five
  why: plain text   # from a user
"""
    (fault,) = refused(text.replace("  scope: team #5\n", "  scope: #5\n"))
    assert fault == (
        "p.yaml:3: probe 'hash': scope: nothing is left of it before ' #'; "
        "quote a text that holds #"
    )
    lint = load_text(text).lint()
    cut = lint[lint["found"].str.contains("cut at")]
    assert cut[["line", "probe", "field", "found"]].values.tolist() == [
        [2, "hash", "query", "'what did ticket' is cut at ' #'"],
        [3, "hash", "scope", "'team' is cut at ' #'"],
        [8, "hash", "why", "'plain text' is cut at ' #'"],
    ]


def test_a_query_that_is_only_a_hash_is_refused():
    (fault,) = refused("- name: a\n  query: #4512 pump\n  given: [{id: r, text: t}]\n")
    assert fault.startswith("p.yaml:2: probe 'a': query: nothing is left of it before ' #'")


HISTORY = """\
histories:
  house:
    - {id: r1, text: a}
    - {id: r2, text: b, scope: ana}
haystack: none
probes:
- {name: a, query: q, history: house, expect: [r1]}
- {name: b, query: q, history: house, scope: ana, expect: [r2]}
"""


def test_probes_share_a_history():
    suite = load_text(HISTORY)
    assert suite.haystack is None and suite.haystack_name == "none"
    assert suite[0].given is suite[1].given and suite.histories["house"] == suite[0].given
    assert suite[0].given == (Record("r1", "a"), Record("r2", "b", "ana"))


def test_a_history_may_stand_in_another_file(tmp_path):
    (tmp_path / "a.yaml").write_text("- {name: a, query: q, history: h, expect: [r1]}\n")
    (tmp_path / "z.yaml").write_text("histories: {h: [{id: r1, text: t}]}\n")
    assert load(tmp_path)[0].given == (Record("r1", "t"),)
    (tmp_path / "y.yaml").write_text("histories: {h: []}\n")
    with pytest.raises(ProbeError, match=r"a history 'h' is also at .*y.yaml:1; rename one"):
        load(tmp_path)


def test_faults_of_a_shared_history_come_once():
    text = HISTORY.replace("{id: r2, text: b", "{id: r1, text: b")
    assert refused(text) == [
        "p.yaml:4: histories.house[1].id: 'r1' is in the scopes 'default' and 'ana'; "
        "give one of the two records another id"
    ]
    both = HISTORY.replace("expect: [r1]", "given: [{id: r1, text: t}]")
    assert "given and history stand together; a probe has one of the two" in refused(both)[0]
    assert (
        "no history is called 'hous'; write 'house'"
        in refused(HISTORY.replace("history: house, scope", "history: hous, scope"))[0]
    )


def test_haystack_of_a_file():
    text = "haystack: [{text: x}, {id: b, text: y, unit: u, meta: {t: z}}]\nprobes:\n" + dumped(
        one()
    )
    suite = load_text(text, "p.yaml")
    made, named = suite.haystack
    assert named == Record("b", "y", unit="u", meta={"t": "z"})
    assert made.text == "x" and len(made.id) == 12 and "x" not in made.id
    assert load_text(text).haystack[0].id == made.id and suite.haystack_name == "p.yaml"


def test_without_one_the_shipped_haystack_is_taken():
    for text in (dumped(one()), "haystack: shipped\nprobes:\n" + dumped(one())):
        suite = load_text(text)
        assert suite.haystack_name == "shipped" and len(suite.haystack) == 2
        assert suite.haystack[1] == Record("b2", "The tap drips.", unit="u")


def test_a_shipped_haystack_that_cannot_be_read_is_said(shipped):
    (shipped / "haystack.yaml").write_text("haystack: [{text: no}]")
    loading._shipped.cache_clear()
    with pytest.raises(MemevalError, match="the shipped haystack cannot be read"):
        load_text(dumped(one()))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("[{text: x, scope: s}]", "haystack[0]: unknown key 'scope'; known are id, text, unit"),
        ("[{id: x}]", "haystack[0]: no text"),
        ("[x]", "haystack[0]: 'x' is not a record"),
        ("[]", "haystack: an empty list stands here"),
        ("", "haystack: nothing stands here"),
        ("some", "haystack: 'some' stands here; write a list of records, or one of the words none"),
        ("{near: []}", "haystack: a mapping stands here"),
        ("[{id: x, text: a}, {id: x, text: b}]", "haystack[1].id: 'x' is the id of another record"),
        ("[{text: a}, {id: r1, text: b}]", "haystack[1].id: 'r1' is the id of a probe's record"),
    ],
)  # fmt: skip
def test_haystacks_that_are_refused(written, said):
    (fault,) = refused(f"haystack: {written}\nprobes:\n" + dumped(one()))
    assert fault.startswith("p.yaml:1: ") and said in fault


def test_one_file_of_a_suite_sets_the_haystack(tmp_path):
    (tmp_path / "core.yaml").write_text(dumped(one()))
    (tmp_path / "haystack.yaml").write_text("haystack: none\n")
    assert load(tmp_path).haystack is None
    (tmp_path / "more.yaml").write_text("\n\nhaystack: shipped\n")
    with pytest.raises(ProbeError) as caught:
        load(tmp_path)
    said = (
        f"{tmp_path}/more.yaml:3: haystack: the haystack is also set at {tmp_path}/haystack.yaml:1"
    )
    assert str(caught.value) == said + "; a suite has one; drop one of the two"


def test_keys_of_a_file():
    faults = refused("probe:\n" + dumped(one()) + "defaults: {k: 3}\n")
    assert faults == [
        "p.yaml:1: unknown key 'probe'; write 'probes'",
        "p.yaml:3: unknown key 'defaults'; known are histories, haystack, probes",
    ]


def test_names_across_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("core.yaml").write_text(dumped(one(name="gate-code")))
    Path("extra.yaml").write_text(
        "# extra\n" + dumped(one(name="gate-code"), one(name="Gate-Code"))
    )
    with pytest.raises(ProbeError) as caught:
        load("core.yaml", "extra.yaml")
    assert [(f.file, f.line) for f in caught.value.faults] == [("extra.yaml", 2), ("extra.yaml", 3)]
    first, second = map(str, caught.value.faults)
    assert "duplicate probe names: 'gate-code' is also at core.yaml:1; rename" in first
    assert "too like the name 'gate-code' at core.yaml:1; names that differ in case only" in second


def test_a_canary_in_a_live_record_is_matched_by_its_words():
    text = "- {name: a, query: q, given: [{id: r, text: 'The CODE (44-71)!'}], canary: ['44 71']}"
    assert "canary '44 71' stands in the live record 'r'" in refused(text)[0]
    assert load_text(text.replace("44-71", "44-710"))[0].canary == ("44 71",)


def test_lone_surrogates_are_replaced_and_pairs_joined():
    text = '- {name: a, query: "\\ud83d x \\ud83d\\ude00", given: [{id: r, text: "\\udc00"}]}'
    (probe,) = load_text(text)
    assert probe.query == "\ufffd x \U0001f600" and probe.records[0].text == "\ufffd"
    (probe,) = load_text(json.dumps([one(query="\ud83d x \U0001f600")]), "p.json")
    assert probe.query == "\ufffd x \U0001f600"
    (probe,) = load_text("- {name: a, query: '\\ud83d', given: [{id: r, text: t}]}")
    assert probe.query == "\\ud83d"


@pytest.mark.parametrize("name", ["p.json", "p.yaml"])
def test_json_files(name):
    (probe,) = load_text(json.dumps([one(filter={"a": 1.5, "b": [True, None]}, k=2)]), name)
    assert probe.filter == {"a": 1.5, "b": [True, None]} and probe.k == 2


def test_json_is_not_yaml():
    source = (
        '[\t{"name":"a",\n\t"query":"a\\/b",\n"given":[{"id":"r","text":"t","meta":{"x":1e5}}]}]'
    )
    (probe,) = load_text(source, "p.json")
    assert probe.records[0].meta == {"x": 1e5} and probe.query == "a/b"
    assert refused(source.replace('"a\\/b"', "12"), "p.json") == [
        "p.json:2: probe 'a': query: 12 is the number 12, not a text; quote it: \"12\""
    ]
    twice = '[{"name": "a", "query": "q",\n"query": "q", "given": [{"id": "r", "text": "t"}]}]'
    dup = refused(twice, "p.json")
    assert "p.json:2: probe 'a': query: the key 'query' stands twice, first at line 1" in dup[0]
    assert refused("[{}\n,]", "p.json")[0].startswith("p.json:2: column ")
    assert refused("[" * 100_000, "p.json")[0].startswith("p.json:1: nested deeper than 100 levels")
    assert "NaN" in refused(json.dumps([one(filter={"a": float("nan")})]), "p.json")[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- name: t\n\tquery: q\n", "p.yaml:2: column 1: tabs cannot indent; use blanks instead"),
        ("", "p.yaml: the file is empty; write a list of probes, or remove the file"),
        ("# no\n---\n", "p.yaml: the file is empty; write a list of probes, or remove the file"),
        ("[]", "p.yaml: no probe stands in it; write at least one probe"),
        ("haystack: none", "p.yaml: no probe stands in it; write at least one probe"),
        ("hello", "p.yaml:1: the file holds a text; write a list of probes, or a mapping with "
         "probes"),
        ("- foo", "p.yaml:1: 'foo' is not a probe; write {name: ..., query: ...}"),
        ("- ", "p.yaml:1: null is not a probe; write {name: ..., query: ...}"),
        ("probes: 3", "p.yaml:1: probes: the number 3 stands here; write a list of probes"),
        ("probes:\n", "p.yaml:1: probes: nothing stands here; write a list of probes"),
        ("- {}\n---\n- {}", "p.yaml:2: a second document begins (---); put all probes into "
         "one list, or into several files"),
        ("- !!python/object/apply:os.system [x]", "p.yaml:1: column 3: the tag "
         "'!!python/object/apply:os.system' is not for probe files; leave the tag out; quote a "
         "text that begins with !"),
        ("- !mine x", "p.yaml:1: column 3: the tag '!mine' is not for probe files; leave the tag "
         "out; quote a text that begins with !"),
        ("- *x", "p.yaml:1: column 3: the alias *x has no anchor; put the anchor (&) before it, or "
         "quote a text that begins with *"),
        ("&a [*a]", "p.yaml:1: column 5: the alias *a holds itself; write the values out"),
        ("[" * 5000, "p.yaml:1: nested deeper than 100 levels; look for brackets left open"),
        ("- " * 5000, "p.yaml:1: nested deeper than 100 levels; look for brackets left open"),
        ('- "\\UFFFFFFFF"', "p.yaml:1: not YAML: an escape names no character; look for \\U in "
         "double quotes and mend it"),
        ("- {name: 'a\x1bb'}", "p.yaml:1: column 12: holds the character U+001B, which YAML "
         'forbids; write it as an escape in double quotes, such as "\\u001b", or leave it out'),
        ("a: b: c", "p.yaml:1: column 5: not YAML: mapping values are not allowed here; quote a "
         "text that holds ': ', and check the indent"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read_in_full(text, said):
    assert refused(text) == [said]


def test_aliases_cannot_blow_a_file_up():
    lines = ["a: &a [x,x,x,x,x,x,x,x,x,x]"]
    lines += [
        f"{n}: &{n} [{','.join(['*' + o] * 10)}]"
        for o, n in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    started = time.perf_counter()
    (fault,) = refused("\n".join(lines))
    assert "its aliases come to" in fault and time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"- {name: \x93a\x94}\n", "1: the byte 0x93 is not UTF-8; save the file as UTF-8"),
        ("- {name: a}".encode("utf-16"), " the file is UTF-16; save it as UTF-8"),
        ("- {name: a}".encode("utf-32"), " the file is UTF-32; save it as UTF-8"),
        (b"- a\n- \x00\n", "2: holds a NUL byte: the file is not text; save it as UTF-8 text"),
    ],
)
def test_other_encodings_are_named(tmp_path, data, said):
    path = tmp_path / "p.yaml"
    path.write_bytes(data)
    with pytest.raises(ProbeError) as caught:
        load(path)
    assert str(caught.value).removeprefix(f"{path}:").removeprefix("1:") in (said, said[2:])


@pytest.mark.parametrize("suffix", [".yaml", ".yml", ".json"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_utf8_with_marks_and_windows_line_ends(tmp_path, suffix, mark):
    source = json.dumps([one(query="\u201c周五\u201d")], ensure_ascii=False, indent=1)
    path = tmp_path / f"p{suffix}"
    path.write_bytes(mark + source.replace("\n", "\r\n").encode())
    assert load(path)[0].query == "\u201c周五\u201d"


def test_paths_that_lead_nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("other").mkdir()
    Path("other", "a.txt").write_text("x")
    Path("above", "below").mkdir(parents=True)
    Path("above", "below", "p.yaml").write_text(dumped(one()))
    Path("x.txt").write_text("x")
    with pytest.raises(ProbeError) as caught:
        load("none.yaml", "empty", "other", "above", "x.txt")
    assert str(caught.value).splitlines() == [
        "none.yaml: there is no such file or folder; check the path",
        "empty: the folder is empty; wanted are .yaml, .yml and .json; put probes there or check "
        "the path",
        "other: no probe file in the folder; wanted are .yaml, .yml and .json; put probes there or "
        "check the path",
        "above: no probe file in it, only in its subfolders 'below'; name these folders",
        "x.txt: is no probe file; wanted are .yaml, .yml and .json; rename or convert it",
    ]
    with pytest.raises(ProbeError, match="is not a path; name files one by one"):
        load(["a.yaml"])


def test_a_folder_is_read_by_name_and_not_below(tmp_path):
    for name in ("b.yaml", "a.yml", "c.json", ".hidden.yaml", "sub/d.yaml", "note.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps([one(name=path.stem)]))
    suite = load(tmp_path, tmp_path / "b.yaml")
    assert [p.name for p in suite] == ["a", "b", "c"]
    assert suite[0].file == str(tmp_path / "a.yml")
    lint = suite.lint()
    assert "probe files in its subfolders are not read: 'sub'" in lint["found"].iloc[-1]


def test_without_a_path_probes_beside_are_read_else_the_shipped(tmp_path, shipped, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (shipped / "core.yaml").write_text(dumped(one(name="shipped")))
    suite = load()
    assert [p.name for p in suite] == ["shipped"] and suite.haystack_name == "shipped"
    Path("probes").mkdir()
    with pytest.raises(ProbeError, match="probes: the folder is empty"):
        load()
    Path("probes", "core.yaml").write_text(dumped(one(name="mine")))
    assert [p.name for p in load()] == ["mine"]


IDS = st.sampled_from(
    ["no", "012", "r1", "2026-01-01", "~", "café", "a: b", "#x", "1e3", "-", "é " * 3]
)
TEXTS = st.text(min_size=1, max_size=30).filter(lambda t: any(c.isalnum() for c in t))
TIMES = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False, width=32),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@st.composite
def probes(draw, name: str) -> Probe:
    ids = draw(st.lists(IDS, unique=True, min_size=1, max_size=4))
    ops: list = [
        Record(
            id,
            draw(TEXTS),
            draw(st.sampled_from(["default", "on"])) if n else "default",
            draw(st.none() | TIMES),
            draw(st.none() | TEXTS),
            meta=draw(st.dictionaries(TEXTS, PLAIN, max_size=2)),
        )
        for n, id in enumerate(ids)
    ]
    ops += draw(
        st.lists(st.sampled_from([Consolidate(), Advance(timedelta(hours=36))]), max_size=2)
    )
    return Probe(
        name,
        draw(TEXTS),
        ops,
        expect=draw(st.sampled_from([[], [ids[0]], [[ids[0]]]])),
        forbid=[r.id for r in ops if isinstance(r, Record) and r.scope == "on"],
        k=draw(st.integers(1, 99)),
        tags=draw(st.lists(TEXTS, unique=True, max_size=2)),
        now=draw(st.none() | TIMES),
        filter=draw(st.dictionaries(TEXTS, PLAIN, max_size=2)),
        near=draw(st.lists(TEXTS, unique=True, max_size=2)),
        must=draw(st.booleans()),
        why=draw(st.just("") | TEXTS),
    )


SUITES = st.tuples(probes("yes"), probes("no 2")).map(
    lambda made: Suite(made, (Record("hay 1", "x"),), "p.yaml")
)


@settings(max_examples=60, deadline=None)
@law(SUITES)
def test_a_suite_that_is_written_loads_back_equal(suite):
    for name, write in (("p.yaml", yaml.safe_dump), ("p.json", json.dumps)):
        back = load_text(write(suite.to_dict()), name)
        assert back == suite and back.content_hash == suite.content_hash
        assert back.haystack == suite.haystack


@settings(max_examples=30, deadline=None)
@law(probes("a"), st.randoms())
def test_content_hash_does_not_depend_on_the_order_of_keys(probe, rng):
    said = probe.to_dict()
    keys = list(said)
    rng.shuffle(keys)
    text = yaml.safe_dump([{key: said[key] for key in keys}], sort_keys=False)
    assert load_text(text)[0].content_hash == probe.content_hash


CRUMBS = st.lists(
    st.sampled_from(
        "- name query given expect k : , [ ] { } ' \" & * ! # \n \t << a no 012 ~ ? | > % @ ` --- "
        "... id text delete advance haystack probes histories \\ud83d &a *a !!str".split(" ")
    )
).map(" ".join)


@settings(max_examples=300, deadline=None)
@law(st.text() | CRUMBS, st.sampled_from(["p.yaml", "p.json"]))
def test_arbitrary_text_raises_nothing_but_probe_errors(text, name):
    try:
        load_text(text, name)
    except ProbeError as error:
        assert all(fault.found and fault.todo and fault.file == name for fault in error.faults)


@settings(max_examples=100, deadline=None)
@law(st.binary())
def test_arbitrary_bytes_raise_nothing_but_probe_errors(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("bytes") / "p.yaml"
    path.write_bytes(data)
    with pytest.raises(ProbeError):
        load(path)


SPOILT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=4,
)


@settings(max_examples=200, deadline=None)
@law(probes("a"), st.data())
def test_one_spoilt_value_raises_nothing_but_probe_errors(probe, data):
    said = probe.to_dict()
    target = data.draw(st.sampled_from([said, *[e for e in said["given"] if isinstance(e, dict)]]))
    target[data.draw(st.sampled_from(sorted(target)))] = data.draw(SPOILT)
    try:
        load_text(yaml.safe_dump([said]))
    except ProbeError as error:
        assert all(fault.line >= 1 and fault.file for fault in error.faults)


def test_the_python_parser_gives_the_same_when_there_is_no_fast_one(monkeypatch):
    fast = load_text(FULL)
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    slow = load_text(FULL)
    assert slow == fast and slow.lint().equals(fast.lint())


def test_ten_thousand_probes_load_in_seconds():
    text = "".join(
        f"- {{name: p{n}, query: 'q {n}', given: [{{id: r1, text: 't {n}'}}], expect: [r1]}}\n"
        for n in range(10_000)
    )
    started = time.process_time()
    assert len(load_text(text)) == 10_000
    assert time.process_time() - started < 20  # 2 s on an idle machine


def test_the_shipped_suite_loads(monkeypatch):
    monkeypatch.undo()
    suite = load(resources.probes_folder())
    assert len(suite.positives) >= 20 and len(suite.negatives) >= 5
    assert suite.haystack_name == "shipped" and len(suite.haystack) >= 300
