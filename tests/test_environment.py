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


def test_no_secret_of_the_environment_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2-secret")
    assert "hunter2-secret" not in json.dumps(environment.environment())
