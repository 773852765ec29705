"""Adding a probe to a file: the rest untouched, everything checked first, nothing half written."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memeval as me
from memeval.adding import append_probe, prepare_probe
from memeval.errors import ProbeError
from memeval.loading import load, load_text
from memeval.probe import Probe
from memeval.probefiles.emitting import block, flow
from memeval.record import Advance, Consolidate, Delete, Op, Record
from memeval.resources import probes_folder
from memeval.times import parse_span

NEW = {
    "name": "new",
    "query": "Where is the new one?",
    "given": [{"id": "n1", "text": "In the attic: 2nd shelf # left."}],
    "expect": ["n1"],
}
OLD = "- {name: old, query: q, given: [{id: o1, text: t}], expect: [o1]}\n"


def added(tmp_path: Path, before: str | bytes, fields: Any = NEW) -> bytes:
    """What is added to a file that holds `before`, which must still be there."""
    path = tmp_path / "core.yaml"
    data = before.encode() if isinstance(before, str) else before
    path.write_bytes(data)
    assert append_probe(fields, path) == path
    after = path.read_bytes()
    assert after.startswith(data)
    return after[len(data) :]


def refused(tmp_path: Path, before: str | bytes, said: str, fields: Any = NEW) -> str:
    """The refusal; the file must be as it was, and nothing beside it."""
    path = tmp_path / "core.yaml"
    data = before.encode() if isinstance(before, str) else before
    path.write_bytes(data)
    there = sorted(os.listdir(tmp_path))
    with pytest.raises(ProbeError) as caught:
        append_probe(fields, path)
    assert path.read_bytes() == data and sorted(os.listdir(tmp_path)) == there
    assert said in str(caught.value)
    return str(caught.value)


def test_a_missing_file_and_its_folder_are_made(tmp_path: Path) -> None:
    path = tmp_path / "probes" / "mine" / "core.yaml"
    append_probe(NEW, path)
    assert path.read_text() == (
        "- name: new\n"
        '  query: "Where is the new one?"\n'
        "  given:\n"
        '    - {id: n1, text: "In the attic: 2nd shelf # left."}\n'
        "  expect: [n1]\n"
    )


def test_nothing_is_made_where_the_probe_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="no record has the id 'n2'"):
        append_probe(NEW | {"expect": ["n2"]}, tmp_path / "probes" / "core.yaml")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("before", "starts"),
    [
        ("", b"- name: new\n"),
        ("# only a comment\n", b"- name: new\n"),
        (OLD, b"\n- name: new\n"),
        (OLD + "\n", b"- name: new\n"),
        (OLD[:-1], b"\n\n- name: new\n"),
        (OLD + OLD.replace("old", "older").replace("o1", "o2"), b"- name: new\n"),
        (OLD + "\n# why\n" + OLD.replace("old", "older"), b"\n- name: new\n"),
        ("---\n" + OLD + "# the end\n", b"\n- name: new\n"),
        ("probes:\n  " + OLD, b"\n  - name: new\n    query:"),
        ("haystack: none\nprobes:\n" + OLD, b"\n- name: new\n  query:"),
        ("haystack: none\n", b"probes:\n  - name: new\n    query:"),
        ("probes:\n", b"  - name: new\n"),
        ("probes: &all\n   " + OLD, b"\n   - name: new\n     query:"),
        ("-\n  name: a\n  query: q\n  given: [{id: a, text: b}]\n", b"\n- name: new\n  query:"),
        ("-   name: a\n    query: q\n    given: [{id: a, text: b}]\n", b"\n-   name: new\n    que"),
    ],
)
def test_the_probe_is_set_as_the_file_is(tmp_path: Path, before: str, starts: bytes) -> None:
    assert added(tmp_path, before).startswith(starts)


def test_the_lists_of_the_file_are_the_model_for_the_dashes_of_given(tmp_path: Path) -> None:
    before = "- name: a\n  query: q\n  given:\n  - {id: a, text: b}\n"
    assert b"  given:\n  - {id: n1," in added(tmp_path, before)


def test_windows_line_ends_and_the_mark_are_kept(tmp_path: Path) -> None:
    before = b"\xef\xbb\xbf# caf\xc3\xa9\r\n" + OLD.replace("\n", "\r\n").encode()
    lines = added(tmp_path, before)
    assert lines.count(b"\r\n") == lines.count(b"\n") == 6
    assert [p.name for p in load(tmp_path)] == ["old", "new"]


def test_comments_and_order_of_the_shipped_files_stay_byte_for_byte(tmp_path: Path) -> None:
    for file in sorted(probes_folder().glob("*.yaml")):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    shipped = load(tmp_path)
    for file in ("core.yaml", "negative.yaml"):
        before = (tmp_path / file).read_bytes()
        append_probe(NEW | {"name": f"new-{file[0]}"}, tmp_path / file)
        assert (tmp_path / file).read_bytes().startswith(before)
    after = load(tmp_path)
    assert len(after) == len(shipped) + 2
    assert [p for p in after if not p.name.startswith("new-")] == list(shipped)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("[{name: a, query: q, given: [{id: a, text: b}]}]\n", "stand in brackets"),
        ("{probes: [{name: a, query: q, given: [{id: a, text: b}]}]}\n", "stand in brackets"),
        ("probes: []\n", "core.yaml:1: the probes stand in brackets"),
        (f"probes:\n{OLD}haystack: none\n", "core.yaml:3: the key 'haystack' stands after probes"),
        (f"{OLD}...\n", "core.yaml:2: the file ends with '...'; remove that line"),
        ("- name: a\n\tquery: b\n", "tabs cannot indent"),
        ("- name: a\n  query: b\n  k: 0\n", "core.yaml:3: probe 'a': k: k is 0"),
        ("- name: a\n  query: b\n  k: 0\n", "has faults already, nothing was added"),
        (b"- name: caf\xe9\n", "is not UTF-8"),
        ("- !!python/name:os.system x\n", "is not for probe files"),
        (f"{OLD}---\n{OLD}", "a second document begins"),
    ],
)
def test_a_file_that_cannot_take_a_probe_is_refused_with_the_line(
    tmp_path: Path, before: str | bytes, said: str
) -> None:
    refused(tmp_path, before, said)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "old"}, "duplicate probe names: 'old' is also at"),
        ({"name": "OLD"}, "too like the name 'old'"),
        ({"expect": ["n2"]}, "no record has the id 'n2'"),
        ({"expect": "n1"}, "'n1' is not a list"),
        ({"k": True}, "k is true"),
        ({"qeury": "x"}, "unknown key 'qeury'; write 'query'"),
        ({"a: b\n- x": "x"}, "unknown key"),
        ({"name": " "}, "is blank"),
        ({"given": []}, "no record has the id 'n1'"),
        ({"given": [{"id": "n1"}]}, "no text"),
        ({"history": "h", "given": None}, "given and history stand together"),
        ({"filter": {"n": float("nan")}}, "what a probe file cannot"),
        ({"filter": {"n": object()}}, "what a probe file cannot"),
    ],
)
def test_a_probe_at_fault_is_refused_and_no_line_is_named_that_is_not_there(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    message = refused(tmp_path, OLD, said, NEW | change)
    for line in range(2, 12):
        assert f"core.yaml:{line}" not in message


def test_a_name_of_another_file_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(OLD.replace("old", "new"))
    refused(tmp_path, OLD, "duplicate probe names: 'new' is also at")


def test_a_record_id_of_the_haystack_beside_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "haystack.yaml").write_text("haystack:\n  - {id: n1, text: Hay.}\n")
    refused(tmp_path, OLD, "is the id of a probe's record too")


def test_a_history_of_another_file_can_be_used(tmp_path: Path) -> None:
    shared = "haystack: none\nhistories:\n  week: [{id: w1, text: Rain on Monday.}]\n"
    (tmp_path / "shared.yaml").write_text(shared)
    fields = {"name": "rain", "query": "When?", "history": "week", "expect": ["w1"]}
    assert added(tmp_path, "", fields).endswith(b"  history: week\n  expect: [w1]\n")
    assert load(tmp_path)[0].records[0].text == "Rain on Monday."


def test_files_beside_it_that_are_no_probe_files_do_not_stop_it(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text("services: {web: {image: x}}\n")
    (tmp_path / "latin.yaml").write_bytes(b"caf\xe9")
    (tmp_path / "data.json").write_text('{"rows": [1, 2]}')
    added(tmp_path, OLD)
    refused(tmp_path, OLD, "duplicate probe names", NEW | {"name": "old"})


@pytest.mark.parametrize("name", ["core.json", "core.txt", "core"])
def test_other_kinds_of_files_are_refused_before_they_are_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(ProbeError, match="YAML files only; name a .yaml file"):
        append_probe(NEW, tmp_path / name)


def test_a_text_left_open_at_the_end_is_not_changed_by_what_follows(tmp_path: Path) -> None:
    kept = "- name: a\n  query: q\n  given: [{id: a, text: b}]\n  why: |+\n    because\n\n"
    more = kept.replace("name: a", "name: b")
    added(tmp_path, kept + "\n" + more)
    assert [p.why for p in load(tmp_path)] == ["because\n\n\n", "because\n\n", ""]
    message = refused(tmp_path, kept.replace("|+", "|")[:-2], "would not read back")
    assert "close the last text" in message


def test_a_probe_whose_texts_were_withheld_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="its texts were left out"):
        append_probe(load_text(OLD).without_texts()[0], tmp_path / "core.yaml")


def test_the_mode_of_the_file_and_a_link_to_it_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "core.yaml", tmp_path / "link" / "core.yaml"
    path.write_text(OLD)
    path.chmod(0o640)
    link.parent.mkdir()
    link.symlink_to(path)
    append_probe(NEW, link)
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert len(load(path)) == 2


def test_what_is_prepared_is_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "core.yaml"
    addition = prepare_probe(NEW, path)
    assert not path.exists() and addition.probe.name == "new"
    append_probe(NEW, path)
    assert path.read_text() == addition.text == addition.lines


def test_every_field_comes_back_as_it_was(tmp_path: Path) -> None:
    probe = me.Probe(
        "all-fields",
        "Where: 'here' or \"there\"?",
        [
            Record("r1", "- no\n# yes", "ana", datetime(2026, 3, 1, 9, tzinfo=UTC), "u"),
            Record("012", "null", "ana", supersedes=("r1",), meta={"a b": [1, 1.5, True, None]}),
            Record("2026-03-01", "~", "bo", expires=datetime(2027, 1, 1, microsecond=5)),
            Record("r4", "x", "ana", meta={"yes": {"no": "off"}, "n": 1e22}),
            Delete("r4"),
            Consolidate(),
            Advance(parse_span("30d")),
        ],
        ["012"],
        ["2026-03-01"],
        k=7,
        scope="ana",
        tags=["null", "a, b]"],
        stale=["r1"],
        now=datetime(2026, 5, 1, tzinfo=UTC),
        canary=["E-7734"],
        filter={"a b": [1, 1.5, True, None]},
        reads=["team: x"],
        names=["Quay Street"],
        near=["near\tmiss"],
        must=True,
        why="because",
    )
    append_probe(probe, tmp_path / "core.yaml")
    read = load(tmp_path)[0]
    assert read == probe and read.to_dict() == probe.to_dict()
    assert read.content_hash == probe.content_hash


def test_times_stand_as_a_person_writes_them(tmp_path: Path) -> None:
    fields = NEW | {"now": datetime(2026, 5, 1, tzinfo=UTC)}
    assert b"  now: 2026-05-01T00:00:00Z\n" in added(tmp_path, "", fields)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
SEEN = TEXT.map(lambda text: text + "x")
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SEEN, inner, max_size=3),
    max_leaves=6,
)


@given(PLAIN)
@settings(max_examples=300)
def test_any_plain_value_is_read_back_by_yaml_itself(value: Any) -> None:
    assert yaml.safe_load(flow(value)) == value


@given(
    texts=st.lists(SEEN, min_size=1, max_size=3),
    query=SEEN,
    scope=SEEN,
    why=TEXT,
    tag=SEEN,
    meta=st.dictionaries(SEEN, st.booleans() | st.integers(-9, 9) | TEXT, max_size=2),
    windows=st.booleans(),
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_comes_back_exactly_through_the_strict_loader(
    tmp_path: Path,
    texts: list[str],
    query: str,
    scope: str,
    why: str,
    tag: str,
    meta: dict[str, Any],
    windows: bool,
) -> None:
    ops: list[Op] = [Record(f"{t}{n}", t, scope, meta=meta) for n, t in enumerate(texts)]
    probe = me.Probe("p", query, ops, [f"{texts[0]}0"], scope=scope, why=why, tags=[tag])
    path = tmp_path / "core.yaml"
    before = OLD.replace("\n", "\r\n") if windows else OLD
    path.write_bytes(before.encode())
    append_probe(probe, path)
    assert path.read_bytes().startswith(before.encode())
    old, new = load(path)
    assert old.name == "old" and new == probe
    assert [r.text for r in new.records] == texts and new.records[0].meta == meta


def test_no_text_acts_on_a_terminal_or_hides_in_the_file() -> None:
    written = block(NEW | {"query": "a\x1b[31m\u202eb\u2028c\x85d\x00\ufeff\U000e0041"})
    assert r"a\x1B[31m\u202Eb\u2028c\x85d\x00\uFEFF\U000E0041" in written
    assert written.isascii()


def test_a_file_with_old_line_ends_gets_its_probe(tmp_path: Path) -> None:
    path = tmp_path / "old.yaml"
    path.write_bytes(b"- name: a\r  query: q\r  given: [{id: r1, text: t}]\r  expect: [r1]\r")
    probe = Probe("b", "who", [Record("r1", "Ida has it.")], ["r1"])
    append_probe(probe, path)
    assert [p.name for p in load(path)] == ["a", "b"]
