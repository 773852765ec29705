"""``memeval lint`` and ``memeval env``."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from memeval.cli import main

APP = Path(__file__).parent / "cli_app"
Captured = pytest.CaptureFixture[str]
BROKEN = """\
- name: tyre-of-the-bike
  query: Which tyre is flat?
  k: 0
  expct: [a]
  given: [{id: a, text: The front tyre is flat.}]
- name: empty-question
  query: " "
"""


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with five probes."""
    shutil.copytree(APP / "probes", tmp_path / "probes")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def test_errors_are_all_listed_with_their_place_and_exit_2(app: Path, capsys: Captured) -> None:
    (app / "probes" / "broken.yaml").write_text(BROKEN)
    assert main(["lint"]) == 2
    lines = capsys.readouterr().out.splitlines()
    starts = [line for line in lines if line.startswith("probes/broken.yaml:")]
    assert starts[0].startswith("probes/broken.yaml:3: probe 'tyre-of-the-bike': k: ")
    assert any("expct" in line for line in starts)
    assert any("empty-question" in line for line in starts)
    assert lines[-1] == f"no probes loaded, {len(starts)} errors, 0 warnings"
    assert max(map(len, lines)) <= 80
    assert all(line.startswith(("probes/", "    ")) or not line for line in lines[:-1])


def test_warnings_exit_0_and_1_with_strict(app: Path, capsys: Captured) -> None:
    assert main(["lint", "--probes", "probes/core.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    warned = [line for line in lines if "warning: " in line]
    assert warned and lines[-1] == f"4 probes, 0 errors, {len(warned)} warnings"
    assert main(["lint", "--strict", "--probes", "probes/core.yaml"]) == 1


def test_a_sound_suite_is_one_line_and_passes_strictly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)  # the shipped suite
    assert main(["lint", "--strict"]) == 0
    out = capsys.readouterr().out
    assert out.endswith(" probes, 0 errors, 0 warnings\n") and out.count("\n") == 1


def test_a_tab_and_another_encoding_are_told_in_one_line(app: Path, capsys: Captured) -> None:
    (app / "tab.yaml").write_text("- name: t\n\tquery: q\n")
    assert main(["lint", "--probes", "tab.yaml"]) == 2
    out = capsys.readouterr().out
    assert out.startswith("tab.yaml:2: ") and "tab" in out
    (app / "latin.yaml").write_bytes("- {name: caf\xe9, query: q}\n".encode("latin-1"))
    assert main(["lint", "--probes", "latin.yaml"]) == 2
    assert capsys.readouterr().out.startswith("latin.yaml")


def test_a_missing_file_is_told_and_exits_2(app: Path, capsys: Captured) -> None:
    assert main(["lint", "--probes", "nowhere"]) == 2
    assert "nowhere: there is no such file or folder" in capsys.readouterr().out


def test_faults_as_json_are_strict_rows(app: Path, capsys: Captured) -> None:
    (app / "broken.yaml").write_text(BROKEN)
    assert main(["lint", "--probes", "broken.yaml", "--format", "json"]) == 2
    rows = json.loads(capsys.readouterr().out)
    assert {"level", "file", "line", "probe", "field", "found", "todo"} == set(rows[0])
    place = next((row["file"], row["line"]) for row in rows if row["field"] == "k")
    assert place == ("broken.yaml", 3)


def test_hostile_names_do_nothing_in_a_terminal_or_in_markdown(app: Path, capsys: Captured) -> None:
    (app / "odd.yaml").write_text('- {name: "<b>|\\u202e", query: q, k: 0}\n')
    assert main(["lint", "--probes", "odd.yaml"]) == 2
    assert "\u202e" not in capsys.readouterr().out
    assert main(["lint", "--probes", "odd.yaml", "--format", "markdown"]) == 2
    out = capsys.readouterr().out
    assert "<b>" not in out and "\u202e" not in out and "|" not in out


def test_env_tells_versions_and_neither_secrets_nor_the_home_folder(
    app: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("INDEX_API_KEY", "sk-very-secret")
    monkeypatch.setenv("HOME", str(app))
    toml = f"[tool.memeval]\nstore = 'sqlite'\nprobes = '{(app / 'probes').as_posix()}'\n"
    (app / "pyproject.toml").write_text(toml)
    for form in ("table", "json", "markdown"):
        assert main(["env", "--format", form]) == 0
        out = capsys.readouterr().out
        assert "sk-very-secret" not in out and str(app) not in out
        assert "pandas" in out and "setting store" in out
    assert main(["env", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["setting probes"] == "~/probes"
    assert os.environ["INDEX_API_KEY"] not in str(told)
