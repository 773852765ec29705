"""The JSON Schema of probe files agrees with the loader that it is made from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from memeval.cli import main
from memeval.errors import ProbeError
from memeval.loading import load_text
from memeval.probefiles.jsonschema import probe_schema
from memeval.probefiles.probefile import (
    HAYSTACK_FIELDS,
    OPERATIONS,
    PROBE_FIELDS,
    RECORD_FIELDS,
    SUITE_FIELDS,
)
from memeval.resources import probes_folder

GIVEN = "given: [{id: a, text: b}]"
SOUND = [
    f"- {{name: a, query: q, {GIVEN}}}",
    f"- {{name: a, query: q, {GIVEN}, expect: [[a]], k: 1, must: true, now: 2026-05-01}}",
    f"- {{name: a, query: q, {GIVEN}, filter: {{x: [1, null]}}, why: '', near: [x]}}",
    "- {name: a, query: q, given: [{id: a, text: b, at: 2026-03-01T09:00:00Z, supersedes: []},"
    " {id: c, text: b}, {delete: c}, {consolidate: true}, {advance: 30d}]}",
    f"haystack: none\nprobes:\n- {{name: a, query: q, {GIVEN}}}",
    "histories: {h: [{id: a, text: b}]}\nprobes: [{name: a, query: q, history: h}]",
    f"haystack: [{{text: hay}}]\nprobes: [{{name: a, query: q, {GIVEN}}}]",
]
FAULTY = [
    "just words",
    "- words",
    "- {query: q, given: [{id: a, text: b}]}",
    f"- {{name: a, {GIVEN}}}",
    f"- {{name: a, qeury: q, query: q, {GIVEN}}}",
    f"- {{name: a, query: q, k: 0, {GIVEN}}}",
    f"- {{name: a, query: q, k: true, {GIVEN}}}",
    f"- {{name: a, query: q, k: '5', {GIVEN}}}",
    f"- {{name: 12, query: q, {GIVEN}}}",
    f"- {{name: a, query: ' ', {GIVEN}}}",
    f"- {{name: a, query: q, expect: a, {GIVEN}}}",
    f"- {{name: a, query: q, expect: [[]], {GIVEN}}}",
    f"- {{name: a, query: q, forbid: [1], {GIVEN}}}",
    f"- {{name: a, query: q, tags: [x, x], {GIVEN}}}",
    f"- {{name: a, query: q, must: 1, {GIVEN}}}",
    f"- {{name: a, query: q, now: soon, {GIVEN}}}",
    f"- {{name: a, query: q, filter: [x], {GIVEN}}}",
    "- {name: a, query: q, given: [{id: a}]}",
    "- {name: a, query: q, given: [{id: a, text: b, when: 2026-03-01}]}",
    "- {name: a, query: q, given: [{id: a, text: b}, {delete: a, id: c}]}",
    "- {name: a, query: q, given: [{id: a, text: b}, {consolidate: false}]}",
    "- {name: a, query: q, given: [{id: a, text: b}, {advance: soon}]}",
    "- {name: a, query: q, given: {id: a, text: b}}",
    f"histories: {{h: []}}\nprobes: [{{name: a, query: q, history: h, {GIVEN}}}]",
    f"haystack: all\nprobes: [{{name: a, query: q, {GIVEN}}}]",
    f"haystack: []\nprobes: [{{name: a, query: q, {GIVEN}}}]",
    f"haystack: [{{text: hay, scope: x}}]\nprobes: [{{name: a, query: q, {GIVEN}}}]",
    f"probe: [{{name: a, query: q, {GIVEN}}}]",
]


class AsEditors(yaml.SafeLoader):
    """YAML as editors read it: a time is a text."""


AsEditors.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if not tag.endswith("timestamp")]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@pytest.fixture(scope="module")
def validator() -> Any:
    package = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    package.Draft202012Validator.check_schema(probe_schema())
    return package.Draft202012Validator(probe_schema())


def read(text: str) -> Any:
    return yaml.load(text, AsEditors)  # noqa: S506 - a subclass of the safe loader


@pytest.mark.parametrize("file", sorted(probes_folder().glob("*.yaml")), ids=lambda f: f.name)
def test_the_shipped_files_are_valid(file: Path, validator: Any) -> None:
    document = read(file.read_text(encoding="utf-8"))
    assert [error.message for error in validator.iter_errors(document)] == []


@pytest.mark.parametrize("text", SOUND)
def test_what_the_loader_takes_is_valid(text: str, validator: Any) -> None:
    load_text(text)
    assert [error.message for error in validator.iter_errors(read(text))] == []


@pytest.mark.parametrize("text", FAULTY)
def test_what_is_no_probe_file_is_refused_by_both(text: str, validator: Any) -> None:
    with pytest.raises(ProbeError):
        load_text(text)
    assert not validator.is_valid(read(text))


def properties(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        yield from node.get("properties", {}).items()
        for inner in node.values():
            yield from properties(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from properties(inner)


def test_every_key_of_the_format_is_in_it_with_a_description() -> None:
    schema = probe_schema()
    parts = {name: set(part.get("properties", ())) for name, part in schema["$defs"].items()}
    assert parts["probe"] == set(PROBE_FIELDS)
    assert parts["record"] == set(RECORD_FIELDS)
    assert parts["background"] == set(HAYSTACK_FIELDS)
    assert parts["suite"] == set(SUITE_FIELDS)
    steps = schema["$defs"]["given"]["items"]["anyOf"][1:]
    assert {key for step in steps for key in step["properties"]} == set(OPERATIONS)
    for name, value in properties(schema):
        assert value["description"].strip().endswith("."), name


def test_it_is_printed_as_json_or_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == probe_schema()
    assert main(["schema", "--out", "s.json"]) == 0
    out, err = capsys.readouterr()
    assert out == "s.json\n" and "$schema=s.json" in err
    assert json.loads((tmp_path / "s.json").read_text()) == probe_schema()
    assert main(["schema", "--out", "nowhere/s.json"]) == 2
