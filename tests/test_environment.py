"""What a run was made with."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest

from memeval import environment


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        + list(arguments),
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def test_versions_are_told_as_plain_values() -> None:
    told = environment.environment()
    assert told["python"] == platform.python_version()
    assert told["packages"]["numpy"] == np.__version__  # type: ignore[index]
    assert told["cpus"] == os.cpu_count()
    assert json.loads(json.dumps(told)) == told


@pytest.mark.parametrize(
    ("cpuinfo", "model"),
    [
        (
            "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD  EPYC 7B13\ncpu MHz : 2445\n",
            "AMD EPYC 7B13",
        ),
        ("Processor\t: ARMv7 rev 4 (v7l)\nHardware\t: BCM2835\n", "ARMv7 rev 4 (v7l)"),
        ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"),
        ("processor : 0\nBogoMIPS : 50.00\n", ""),
        ("model name :\n", ""),
        ("", ""),
    ],
)
def test_the_processor_is_told_as_each_architecture_names_it(cpuinfo: str, model: str) -> None:
    assert environment._cpu_of(cpuinfo) == model


def test_a_machine_that_does_not_tell_its_processor_tells_its_architecture(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(environment, "_CPUINFO", tmp_path / "none")
    monkeypatch.setattr(platform, "processor", lambda: "")
    assert environment.environment()["cpu"] == platform.machine()


def test_the_load_is_that_of_the_last_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (1.234, 9.0, 9.0))
    assert environment.environment()["load"] == environment.load() == 1.23


def test_a_system_without_a_load_tells_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getloadavg")
    assert environment.load() is None


def test_a_package_that_is_absent_is_none_and_left_out() -> None:
    assert environment.package_version("no-such-package-anywhere") is None
    assert None not in environment.environment()["packages"].values()  # type: ignore[attr-defined]


def test_without_a_repository_there_is_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    told = environment.environment()
    assert (told["commit"], told["dirty"]) == (None, None)


def test_without_git_there_is_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert environment.environment()["commit"] is None


def test_the_commit_is_told_and_whether_something_was_changed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("one")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-q", "-m", "one")
    monkeypatch.chdir(tmp_path)
    told = environment.environment()
    assert (told["commit"], told["dirty"]) == (git(tmp_path, "rev-parse", "HEAD"), False)
    (tmp_path / "a").write_text("two")
    assert environment.environment()["dirty"] is True


@pytest.mark.parametrize(
    ("name", "is_dirty"),
    [
        ("eval-results.json", False),
        ("eval-results.baseline.json", False),
        ("deep/eval-results.json", False),
        (".memeval/runs/a.json", False),
        ("deep/.memeval/runs/a.json", False),
        ("memeval-report.html", False),
        ("adapter.py", True),
        ("my-eval-results.json", True),
        ("memeval/new.py", True),
    ],
)
@pytest.mark.parametrize("below", [False, True])
def test_what_memeval_writes_is_no_change_of_what_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_dirty: bool, below: bool
) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a").write_text("one")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("new")
    monkeypatch.chdir(tmp_path / "work" if below else tmp_path)
    assert environment.environment()["dirty"] is is_dirty


def test_no_secret_of_the_environment_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2-secret")
    assert "hunter2-secret" not in json.dumps(environment.environment())


def test_no_program_that_the_repository_names_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spy = tmp_path / "spy.sh"
    spy.write_text("#!/bin/sh\necho ran >> ran.txt\n")
    spy.chmod(0o755)
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for command in ("init", "add spy.sh", "commit -m one", f"config core.fsmonitor {spy}"):
        subprocess.run(["git", *who, *command.split()], check=True, capture_output=True)
    (tmp_path / "ran.txt").unlink(missing_ok=True)
    assert environment.environment()["commit"] and not (tmp_path / "ran.txt").exists()
