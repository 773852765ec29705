"""The README is run: its Python blocks, its probe, its tables, its commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from memeval import Record, VectorStore, frames, run
from memeval.cli import main
from memeval.loading import load
from memeval.stores.declared import read_declaration

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
PYTHON = [text for language, text in BLOCKS if language == "python"]


class Deaf(VectorStore):
    """Ranks as the stores of others do, and is told of nothing that is replaced."""

    def put(self, record: Record) -> Any:
        return super().put(replace(record, supersedes=()))

    def put_many(self, records: Any) -> Any:
        return super().put_many([replace(record, supersedes=()) for record in records])


@pytest.mark.parametrize("number", range(len(PYTHON)))
@pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
def test_a_python_block_runs_as_it_stands(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any
) -> None:
    code = PYTHON[number]
    if "LocalCluster" in code:
        pytest.skip("a Dask cluster is started in tests/test_dask.py")
    if "path/to/" in code:
        code = code.replace("path/to/", f"{request.getfixturevalue('shared')}/data/")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, f"README.md, Python block {number}", "exec"), {})


def test_the_figures_of_the_demonstration_are_those_that_its_block_prints(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = next(text for text in PYTHON if "read_factconsolidation" in text)
    with pytest.warns(UserWarning, match="weak"):
        exec(code.replace("path/to/", f"{shared}/data/"), {})
    assert capsys.readouterr().out.split("\n")[:2] == re.findall(r"  # (.+)", code)


def test_the_probe_that_is_shown_loads(tmp_path: Path) -> None:
    shown = next(text for _, text in BLOCKS if text.startswith("- name: lunch-spot-is-mine"))
    (tmp_path / "shown.yaml").write_text(shown, encoding="utf-8")
    assert load(tmp_path / "shown.yaml")[0].name == "lunch-spot-is-mine"


@pytest.mark.parametrize(
    ("name", "store"), [("vet-has-another-number", Deaf), ("error-code-on-its-own", "vector")]
)
def test_a_finding_that_is_shown_comes_back(name: str, store: Any, tmp_path: Path) -> None:
    shown = next(text for _, text in BLOCKS if text.startswith(f"- name: {name}"))
    (tmp_path / "shown.yaml").write_text(shown, encoding="utf-8")
    probes = list(load(tmp_path / "shown.yaml"))
    assert run(probes, store).failing["probe"].tolist() == [name]
    assert run(probes, "sqlite").failing.empty


def test_every_declared_store_that_is_shown_can_be_read() -> None:
    shown = [text for language, text in BLOCKS if language == "yaml" and "kind:" in text]
    kinds = [read_declaration(text.encode(), "shown.yaml").kind for text in shown]
    assert kinds == ["http", "mcp", "command"]


def test_every_table_lists_the_columns_of_its_schema_in_order() -> None:
    for name, schema in frames.SCHEMAS.items():
        row = re.search(rf"^\| {name} \| .* \| (.*) \|$", README, re.MULTILINE)
        assert row is not None, name
        assert re.findall(r"`(\w+)`", row[1]) == frames.names(schema), name


def test_every_command_that_the_readme_lists_has_help_with_an_example(
    capsys: pytest.CaptureFixture[str],
) -> None:
    verbs = sorted(set(re.findall(r"^\| `memeval ([\w-]+)", README, re.MULTILINE)))
    for verb in verbs:
        assert main([verb, "--help"]) == 0
        assert f"memeval {verb}" in capsys.readouterr().out
    done = subprocess.run(  # and once as it is typed
        [sys.executable, "-m", "memeval", verbs[0], "--help"],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"memeval {verbs[0]}" in done.stdout


def test_the_continuous_integration_runs_the_command_that_the_readme_gives() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "<!-- command: tests -->" in README
    assert "/<!-- command: tests -->/" in script
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "checks.yml").read_text())
    steps = workflow["jobs"]["checks"]["steps"]
    commands = "\n".join(step.get("run", "") for step in steps)
    assert "bash .ci/run" in commands
    versions = workflow["jobs"]["checks"]["strategy"]["matrix"]["python"]
    assert versions == ["3.11", "3.12", "3.13", "3.14"]


def test_the_workflow_step_chooses_the_oldest_versions_when_told_to(tmp_path: Path) -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "checks.yml").read_text())
    step = next(s for s in workflow["jobs"]["checks"]["steps"] if "run" in s)
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "run").write_text('echo "constraint: ${PIP_CONSTRAINT:-none}"\n')
    for constraint, wanted in (("", "none"), (".ci/oldest.txt", f"{tmp_path}/.ci/oldest.txt")):
        environment = {"PATH": os.environ["PATH"], "CONSTRAINT": constraint}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", step["run"]],
            capture_output=True, text=True, cwd=tmp_path, env=environment, check=True,
        )  # fmt: skip
        assert done.stdout == f"constraint: {wanted}\n"


def test_the_oldest_versions_are_those_that_the_project_allows() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    own, _, _ = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8").partition("# held back")
    for line in own.split():
        name, version = line.split("==")
        floor = re.search(rf'"{name}(?:\[\w+\])?>=([\d.]+)"', project)
        assert floor is not None, name
        padded = floor[1] + ".0" * (version.count(".") - floor[1].count("."))
        assert version.split(".")[:2] == padded.split(".")[:2], line
