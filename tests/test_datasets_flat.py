"""Probe files, JSON Lines and CSV hold all of a suite, whatever stands in its texts."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import given as law
from hypothesis import strategies as st

import memeval as me
from memeval.datasets import (
    read_csv,
    read_factconsolidation,
    read_jsonl,
    read_turns,
    write_csv,
    write_jsonl,
    write_probes,
)
from memeval.errors import MemevalError, ProbeError
from memeval.record import Advance, Consolidate, Delete, Record

# What ends a line, a cell or a text somewhere: CR alone, BOM, separators, quotes, NUL, a formula.
ODD = list("\"',;\t\r\n \\=+-@#{}[]:|\x00\x1b\x85\ufeff\u2028\u202e") + ["\r\n", "null", "é", "日"]
TEXTS = st.lists(st.sampled_from([*ODD, "a", "b"]), min_size=1, max_size=8).map(
    lambda parts: "x".join(["", *parts])
) | st.text(min_size=1, max_size=12).filter(lambda text: any(c.isalnum() for c in text))
NAMES = st.text(
    st.sampled_from('ab,;"\'=[]{}:#-é日'), min_size=1, max_size=6
).filter(lambda text: any(c.isalnum() for c in text))  # fmt: skip
TIMES = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False, width=32) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
LATER = st.datetimes(datetime(2101, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
# A suite takes minutes to shrink, and its probes say enough as they are.
FEW = (Phase.explicit, Phase.reuse, Phase.generate)
META = st.dictionaries(TEXTS, VALUES, max_size=2)


@st.composite
def histories(draw, prefix: str) -> list:
    ids = [prefix + name for name in draw(st.lists(NAMES, unique=True, min_size=2, max_size=4))]
    ops: list = []
    for n, name in enumerate(ids):
        scope = "default" if n == 0 else draw(st.sampled_from(["default", "bo,2"]))
        told = draw(st.sampled_from([(), tuple(ids[1:n])]))
        more = {"at": draw(st.none() | TIMES), "expires": draw(st.none() | LATER)}
        unit = draw(st.none() | TEXTS)
        ops.append(Record(name, draw(TEXTS), scope, unit=unit, supersedes=told,
                          meta=draw(META), **more))  # fmt: skip
    steps = [Consolidate(), Advance(timedelta(hours=36)), Delete(ids[-1])]
    ops += draw(st.lists(st.sampled_from(steps), max_size=3, unique_by=id))
    return [*ops, Record(ids[0], draw(TEXTS))]


@st.composite
def probes(draw, name: str, given: list, history: str | None = None) -> me.Probe:
    gone = {op.id for op in given if isinstance(op, Delete)}
    first = given[0].id
    mine = [op.id for op in given if isinstance(op, Record) and op.scope == "default"]
    gone |= {one for op in given if isinstance(op, Record) for one in op.supersedes}
    live = [one for one in dict.fromkeys(mine) if one not in gone]
    foreign = {op.id for op in given if isinstance(op, Record) and op.scope != "default"}
    return me.Probe(
        name,
        draw(TEXTS),
        given,
        draw(st.sampled_from([[], [first], live, [live]])),
        sorted(foreign),
        k=draw(st.integers(5, 99)),
        history=history,
        tags=draw(st.lists(TEXTS, unique=True, max_size=2)),
        now=draw(st.none() | TIMES),
        filter=draw(META),
        near=draw(st.lists(TEXTS, unique=True, max_size=2)),
        names=draw(st.lists(st.sampled_from(["ana", "Quay, 7"]), unique=True)),
        reads=draw(st.sampled_from([(), ("team",)])),
        canary=draw(st.sampled_from([(), ('zq"7,9',)])),
        must=draw(st.booleans()),
        why=draw(st.just("") | TEXTS),
    )


@st.composite
def suites(draw) -> me.Suite:
    shared = draw(histories("s"))
    made = [
        draw(probes("one", draw(histories("r")))),
        draw(probes('two, "x"', draw(histories("r")))),
        draw(probes("three", shared, "talk: é")),
        draw(probes("=four", shared, "talk: é")),
    ]
    background = draw(st.none() | st.just((Record("hay 1", "x,\r\ny", unit="u"),)))
    shared_by = {"talk: é": made[2].given}
    return me.Suite(tuple(made), background, "none" if background is None else "own", shared_by)


@settings(max_examples=15, phases=FEW)
@law(suites())
def test_what_is_written_is_read_back_equal(tmp_path_factory, suite):
    folder = tmp_path_factory.mktemp("forms")
    for name, write, read in (
        ("p.yaml", write_probes, me.load),
        ("p.json", write_probes, me.load),
        ("p.jsonl", write_jsonl, lambda path: read_jsonl(path).suite),
        ("p.csv", write_csv, lambda path: read_csv(path).suite),
    ):
        write(suite, folder / name)
        back = read(folder / name)
        assert back == suite, name
        assert [p.content_hash for p in back] == [p.content_hash for p in suite]
        assert [p.to_dict() for p in back] == [p.to_dict() for p in suite]
        assert back.content_hash == suite.content_hash


def test_the_shipped_suite_goes_out_with_its_haystack_named_and_comes_back(tmp_path):
    from memeval.resources import probes_folder

    suite = me.load(probes_folder())
    for name, write, read in (
        ("p.yaml", write_probes, me.load),
        ("p.jsonl", write_jsonl, lambda path: read_jsonl(path).suite),
        ("p.csv", write_csv, lambda path: read_csv(path).suite),
    ):
        assert write(suite, tmp_path / name)["n"].sum() <= 1, name
        back = read(tmp_path / name)
        assert back == suite and back.haystack_name == "shipped"
        first = suite.haystack[0].text
        assert first not in (tmp_path / name).read_text(encoding="utf-8")
    assert (tmp_path / "p.yaml").read_text(encoding="utf-8").startswith("- name: ")


def test_another_reader_of_csv_sees_the_same_cells(tmp_path):
    text = 'a\rb\n"c", \x85d\r\n'
    probe = me.Probe("tea", "When?", [Record("r1", text, "ana"), Record("r2", "=1+1")], ["r2"])
    lost = write_csv([probe], tmp_path / "p.csv")
    with (tmp_path / "p.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["text"] for row in rows] == [text, "=1+1", ""]
    assert [row["scope"] for row in rows] == ["ana", "default", "default"]
    assert json.loads(rows[2]["expect"]) == ["r2"]
    (told,) = lost.to_numpy().tolist()
    assert told[1:] == [1, "tea"] and "a spreadsheet takes for a formula" in told[0]


def test_what_a_spreadsheet_saved_is_read(tmp_path):
    path = tmp_path / "tea.csv"
    rows = "id,text,scope,query,expect,must\r\nr1,Tea at four,ana,,,\r\n,,,,,\r\n\r\n"
    path.write_bytes(b"\xef\xbb\xbf" + rows.encode() + b"q1,,ana,When?,r1,TRUE\r\n")
    found = read_csv(path)
    (probe,) = found.suite
    assert (probe.name, probe.query, probe.expect) == ("q1", "When?", ("r1",))
    assert (probe.scope, probe.must, probe.line) == ("ana", True, 5)
    assert [(r.id, r.scope) for r in found.records] == [("r1", "ana")]


def test_records_alone_and_fields_that_no_row_has(tmp_path):
    records = [Record("r1", "Tea."), Record("r2", "Rum.", "bo", meta={"n": 1})]
    for write, read in ((write_jsonl, read_jsonl), (write_csv, read_csv)):
        write(records, tmp_path / write.__name__)
        back = read(tmp_path / write.__name__)
        assert list(back.records) == records and len(back.suite) == 0 and back.faults.empty
    (tmp_path / "x.jsonl").write_text('{"id": "a", "text": "x", "order": 1, "who": 2}\n' * 2)
    told = read_jsonl(tmp_path / "x.jsonl").faults
    assert told[["place", "found", "done"]].to_numpy().tolist() == [
        ["2 rows", "the field 'order'", "not read"],
        ["2 rows", "the field 'who'", "not read"],
    ]


def test_records_that_no_probe_asks_are_told(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"id": "lost", "text": "x"}\n{"probe": "q", "id": "r", "text": "y"}\n'
        '{"probe": "q", "query": "y?", "expect": ["r"]}\n'
    )
    found = read_jsonl(path)
    assert found.faults["found"].tolist() == ["1 steps of no probe"]
    assert [record.id for record in found.suite[0].records] == ["r"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (['{"row": "prob"}'], "x.jsonl:1: row: 'prob' is no kind of row; write 'probe'"),
        (['{"id": "a"}'], "x.jsonl:1: text: a record without text"),
        (['{"id": 7, "text": "x"}'], "x.jsonl:1: id: 7 is no text; write a text"),
        (['{"id": "a", "text": "x", "at": "soon"}'], "x.jsonl:1: at: 'soon' is no time"),
        (['{"row": "advance", "by": "soon"}'], "x.jsonl:1: by: 'soon' is no time span"),
        (['{"id": "a", "text": " "}', '{"id": "b", "text": " "}'], "x.jsonl:2: given[1].text"),
        (['{"query": "q", "id": "a", "k": "5"}'], "x.jsonl:1: k: '5' is no whole number"),
        (['{"query": "q", "id": "a", "history": "h"}'], "the history 'h' has no row"),
        (['{"id": "a", "text": "x", "probe": "p"}'], "a step of 'p', which no row asks"),
        (['{"id": "a", "text": "x", "probe": "p", "history": "h"}'], "of a probe and of a history"),
        (['{"query": "q", "id": "a", "expect": ["r"]}'], "x.jsonl:1: probe 'a': expect[0]"),
        (['{"row": "haystack", "text": "own"}'], "'own' is no haystack; write shipped"),
        (["nope"], "x.jsonl: line 1: found what is not JSON"),
    ],
)  # fmt: skip
def test_faults_of_json_lines_are_told_with_their_lines(tmp_path, monkeypatch, lines, words):
    monkeypatch.chdir(tmp_path)
    Path("x.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(ProbeError) as caught:
        read_jsonl("x.jsonl")
    assert words in str(caught.value)


def test_a_fault_of_a_shared_history_is_told_once(tmp_path):
    path = tmp_path / "x.jsonl"
    rows = ['{"id": "a", "text": " "}', *(json.dumps({"id": f"q{n}", "query": "q"}) for n in "abc")]
    path.write_text("\n".join(rows))
    with pytest.raises(ProbeError) as caught:
        read_jsonl(path)
    assert [(fault.line, fault.field) for fault in caught.value.faults] == [(1, "given[0].text")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id;text\na;b\n", "found the names ['id;text']"),
        ("id,id\n", "found the names ['id', 'id']"),
        ("", "found no line, wanted a first line of names"),
        ("id,text\na,b,c\n", "x.csv:2: 3 cells under 2 names; quote a text that holds a comma"),
        ('id,text\n"a"b,c\n', "line 2: found what is not CSV"),
        ("id,text\nr,\"x\ny\"\ns,t,u\n", "x.csv:4: 3 cells"),
        ("id,query,k\np,q,five\n", "x.csv:2: k: 'five' is no whole"),
        ("id,query,filter\np,q,{\n", "x.csv:2: filter: '{' is no mapping"),
        ("id,query,must\np,q,maybe\n", "x.csv:2: must: 'maybe' is no true or false"),
    ],
)  # fmt: skip
def test_faults_of_csv_are_told_with_their_lines(tmp_path, monkeypatch, text, words):
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text(text)
    with pytest.raises(ProbeError) as caught:
        read_csv("x.csv")
    assert words in str(caught.value)


def test_a_very_long_text_is_read_and_the_limit_of_others_stays(tmp_path):
    before = csv.field_size_limit()
    probe = me.Probe("tea", "When?", [Record("r1", "x" * 200_000)], ["r1"])
    write_csv([probe], tmp_path / "p.csv")
    assert read_csv(tmp_path / "p.csv").suite[0].content_hash == probe.content_hash
    assert csv.field_size_limit() == before


def test_what_no_file_may_hold_is_refused_and_nothing_is_written(tmp_path):
    probe = me.Probe("tea", "When?", [Record("r1", "At four.")], ["r1"])
    empty = me.Probe("empty", "When?")
    for made, path, words in (
        ([empty], "p.yaml", "probe 'empty': given: expects nothing"),
        ([probe], "p.txt", "wanted .yaml, .yml, .json"),
        ([], "p.yaml", "found no probe to write"),
        (me.Suite.of([probe]).without_texts(), "p.yaml", "probe 'tea': its texts were left out"),
        (3, "p.yaml", "found a int, wanted a Suite"),
    ):
        with pytest.raises(ProbeError) as caught:
            write_probes(made, tmp_path / path)
        assert words in str(caught.value)
    with pytest.raises(MemevalError, match="the folder .* is not there"):
        write_probes([probe], tmp_path / "nowhere" / "p.yaml")
    half = me.Probe("tea", "When?", [Record("r1", "x", meta={"a": "\ud800"})], ["r1"])
    with pytest.raises(MemevalError, match="half a character"):
        write_jsonl([half], tmp_path / "p.jsonl")
    assert not list(tmp_path.iterdir())


def test_another_file_stays_unless_it_is_to_be_replaced(tmp_path):
    probe = me.Probe("tea", "When?", [Record("r1", "At four.")], ["r1"])
    for name, write in (("p.yaml", write_probes), ("p.jsonl", write_jsonl), ("p.csv", write_csv)):
        path = tmp_path / name
        path.write_text("mine")
        with pytest.raises(MemevalError, match="says something else, and stays"):
            write([probe], path)
        assert path.read_text() == "mine"
        write([probe], path, replace=True)
        told = path.read_bytes()
        write([probe], path)
        assert path.read_bytes() == told != b"mine"


def test_turns_of_a_chat_are_records(tmp_path):
    path = tmp_path / "log.jsonl"
    said = [{"role": "user", "content": "Tea is at four."}, {"role": "assistant", "content": " "}]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in [*said, {"odd": 1}]))
    found = read_turns(path)
    assert [record.text for record in found.records] == ["Tea is at four."]
    assert "1 entries of no known form" in found.faults["found"].tolist()


def test_factconsolidation_as_rows_is_the_same_as_from_its_own_file(shared, tmp_path):
    home = shared / "data" / "factconsolidation"
    suite = read_factconsolidation(home).suite
    rows = read_jsonl(home / "sh_6k.records.jsonl", home / "sh_6k.probes.jsonl")
    # 455 facts, 99 probes, 73 with forbid: as the page of the data has it.
    assert (len(rows.records), len(rows.suite)) == (455, 99)
    assert sum(bool(probe.forbid) for probe in rows.suite) == 73
    assert rows.faults["found"].tolist() == ["the field 'order'", "the field 'answers'"]
    for ours, theirs in zip(suite, rows.suite, strict=True):
        assert (ours.name, ours.query, ours.expect) == (theirs.name, theirs.query, theirs.expect)
        assert sorted(ours.forbid) == sorted(theirs.forbid)
    for write, read in ((write_jsonl, read_jsonl), (write_csv, read_csv)):
        assert write(suite, tmp_path / "fc")["n"].sum() == 0
        assert read(tmp_path / "fc").suite.content_hash == suite.content_hash
        (tmp_path / "fc").unlink()
