"""``memeval init``: what it wrote runs as it is, and nothing that was there is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml

from memeval.cli import main
from memeval.loading import load

ROOT = Path(__file__).resolve().parent.parent
NAMES = {
    "probes/starter.yaml",
    "memory_store.py",
    ".github/workflows/memeval.yml",
    "pyproject.toml",
    ".gitignore",
}
ACTION = ROOT / ".github" / "actions" / "memeval" / "action.yml"
INVALID = "- {name: n, query: q, given: [{id: r, text: t}], expect: []}\n"


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def shell(folder: Path, script: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a step as a workflow does, with ``memeval`` on the path."""
    program = folder.parent / "bin" / "memeval"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memeval "$@"\n')
    program.chmod(0o755)
    found = {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, **found, **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def steps_of(path: Path) -> dict[str, dict[str, Any]]:
    """Steps with a script, by name, in order."""
    told = yaml.safe_load(path.read_text())
    listed = told["runs"]["steps"] if "runs" in told else told["jobs"]["probes"]["steps"]
    return {step["name"]: step for step in listed if "run" in step}


def test_a_new_folder_runs_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "mine"]) == 0
    captured = capsys.readouterr()
    folder = tmp_path / "mine"
    assert set(tree(folder)) == NAMES
    assert captured.err.strip().endswith("go on with: cd mine; memeval control; memeval run")
    suite = load(folder / "probes")
    assert len(suite) == 20 and len(suite.negatives) == 5

    steps = steps_of(folder / ".github/workflows/memeval.yml")
    assert list(steps) == ["Install", "Control", "Run", "Compare"]
    assert steps["Compare"]["if"] == "hashFiles('eval-results.baseline.json') != ''"
    summary = tmp_path / "summary.md"
    for name in ("Control", "Run"):
        done = shell(folder, steps[name]["run"], GITHUB_STEP_SUMMARY=str(summary))
        assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "memeval-junit.xml").exists() and "# memeval" in summary.read_text()
    done = shell(folder, "memeval accept --reason first && " + steps["Compare"]["run"])
    assert done.returncode == 0 and "SAME" in done.stdout, done.stdout + done.stderr


def test_a_failed_control_stops_the_action_and_the_workflow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "mine", "--quiet"]) == 0
    folder = tmp_path / "mine"
    (folder / "bad.yaml").write_text(INVALID)
    steps = steps_of(ACTION)
    assert list(steps) == ["Control", "Run", "Compare"]
    told = yaml.safe_load(ACTION.read_text())
    given = {name: one["default"] for name, one in told["inputs"].items()}

    def env(step: dict[str, Any], **inputs: str) -> dict[str, str]:
        values = given | inputs
        return {
            name: values[expression.removeprefix("${{ inputs.").removesuffix(" }}")]
            for name, expression in step["env"].items()
        }

    # The shell that a step names ends at the first error, and a step that fails ends the job.
    assert all(
        step["shell"] == "bash" and "continue-on-error" not in step for step in steps.values()
    )
    bad = shell(folder, steps["Control"]["run"], **env(steps["Control"], probes="bad.yaml"))
    assert bad.returncode == 4, bad.stdout
    good = shell(
        folder, steps["Control"]["run"], **env(steps["Control"], store="memory_store:Memory")
    )
    assert good.returncode == 0, good.stderr
    hostile = 'x"; touch hacked; echo "'
    run = shell(folder, steps["Run"]["run"], **env(steps["Run"], store=hostile))
    assert run.returncode == 2 and not (folder / "hacked").exists()
    run = shell(folder, steps["Run"]["run"], **env(steps["Run"]))
    assert run.returncode == 0 and (folder / "eval-results.json").exists()
    assert "hashFiles(inputs.baseline)" in steps["Compare"]["if"]
    shell(folder, "memeval accept --reason first")
    done = shell(folder, steps["Compare"]["run"], **env(steps["Compare"]))
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_input_is_pasted_into_a_script() -> None:
    for step in steps_of(ACTION).values():
        assert "${{" not in step["run"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with its own settings, with Windows line ends, and an ignore file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_bytes(b'[project]\r\nname = "mine"\r\nversion = "1"')
    (tmp_path / ".gitignore").write_text("*.pyc")
    (tmp_path / "memory_store.py").write_text("# mine\n")
    return tmp_path


def test_an_existing_project_keeps_all_that_it_has(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(project)
    assert main(["init"]) == 2
    assert "nobody is here to be asked" in capsys.readouterr().err
    assert tree(project) == before
    assert main(["init", "--dry-run"]) == 0
    assert tree(project) == before
    assert main(["init", "--yes"]) == 0
    after = tree(project)
    assert set(after) == NAMES
    assert all(after[name].startswith(before[name]) for name in before)
    assert after["memory_store.py"] == before["memory_store.py"]
    settings = after["pyproject.toml"].decode()
    assert settings.count("\r\n") == settings.count("\n") and "[tool.memeval]" in settings
    assert after[".gitignore"] == b"*.pyc\n\n.memeval/\n"
    assert main(["init", "--yes"]) == 0
    assert "everything is there already" in capsys.readouterr().err
    assert tree(project) == after


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 2)])
def test_in_a_folder_in_use_it_asks(
    answer: str, code: int, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(project)
    monkeypatch.setattr("memeval.cli.prompts.at_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda *prompt: answer)
    assert main(["init"]) == code
    assert (tree(project) == before) == bool(code)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("pyproject.toml", b"[tool", "no valid TOML"),
        ("pyproject.toml", b"\xff", "cannot be read"),
        ("pyproject.toml", b"tool = 1\n", "tool is 1, wanted tables"),
        ("pyproject.toml", b"tool = {x = 1}\n", "write it as [tool.x], then start again"),
        ("pyproject.toml", b"tool = {x = {y = 1}, z = {}}\n", "as [tool.x], [tool.z]"),
        ("pyproject.toml", b"[tool]\nmemeval = 3\n", "tool.memeval is 3, wanted a table"),
        (".github", b"", "found a file, wanted a folder"),
        ("probes", b"", "found a file, wanted a folder"),
    ],
)
def test_settings_that_cannot_be_added_stop_everything(
    name: str,
    content: bytes,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    assert main(["init", "--yes"]) == 2
    assert words in capsys.readouterr().err
    assert tree(tmp_path) == {name: content}


def test_a_file_in_the_place_of_the_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").write_text("x")
    assert main(["init", str(tmp_path / "mine")]) == 2
    assert "found a file, wanted a folder" in capsys.readouterr().err


def test_a_link_to_nowhere_in_the_place_of_a_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".github").symlink_to("nowhere")
    assert main(["init", "--yes"]) == 2
    assert "found a file, wanted a folder" in capsys.readouterr().err
    assert tree(tmp_path) == {}


def test_how_to_go_on_can_be_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my memory; ls"]) == 0
    assert "go on with: cd 'my memory; ls'; memeval" in capsys.readouterr().err


@pytest.mark.parametrize("how", [["-m", "pytest"], ["-P", "-m", "pytest"]])
def test_plain_pytest_stays_green_in_a_project_that_started(
    how: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_own.py").write_text("def test_it(): pass\n")
    assert main(["init", "--yes", "--quiet"]) == 0
    plugin = "memeval.pytest_plugin"
    installed = any(one.value == plugin for one in entry_points(group="pytest11"))
    options = ["-p", "no:cacheprovider", *([] if installed else ["-p", plugin])]
    done = subprocess.run(
        [sys.executable, *how],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": " ".join(options)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    told = done.stdout + done.stderr
    assert done.returncode == 0 and "22 passed" in told, told  # 20 probes, the controls, its own
