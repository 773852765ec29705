"""``memeval accept``: what it prints, what it leaves alone, and its exit codes."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from memeval.cli import main
from tests.outcome_sides import agreeing

APP = Path(__file__).parent / "cli_app"
BASELINE = "eval-results.baseline.json"
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with five probes and a module of stores."""
    shutil.copytree(APP, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delitem(sys.modules, "my_stores", raising=False)
    return tmp_path


def ran(store: str, capsys: Captured) -> None:
    main(["run", "--store", f"my_stores:{store}", "--no-diagnose", "--quiet"])
    capsys.readouterr()


def test_the_first_baseline_is_written_and_said_in_80_columns(app: Path, capsys: Captured) -> None:
    ran("Words", capsys)
    assert main(["accept", "--reason", "first one"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ACCEPTED\n")
    assert "there was no baseline" in out and "first one" in out
    assert "5: 5 passed, 0 did not" in out
    assert max(map(len, out.splitlines())) <= 80
    assert json.loads((app / BASELINE).read_text())["reason"] == "first one"


def test_lost_and_gained_probes_are_named(app: Path, capsys: Captured) -> None:
    ran("Words", capsys)
    assert main(["accept", "--reason", "first"]) == 0
    payload = json.loads((app / "eval-results.json").read_text())
    name = next(n for n, entry in payload["per_probe"].items() if entry["n_expected"])
    payload["per_probe"][name] |= {"hit": False, "rank": None, "passes": "0/1", "ids": []}
    (app / "worse.json").write_text(json.dumps(agreeing(payload)))
    capsys.readouterr()
    assert main(["accept", "worse.json", "--reason", "given up", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["lost"], told["gained"], told["written"]) == ([name], [], True)
    assert main(["accept", "--reason", "back again", "--format", "markdown"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("**ACCEPTED**") and "- **gained** 1: " in out


def test_the_same_outcomes_leave_file_and_reason(app: Path, capsys: Captured) -> None:
    ran("Words", capsys)
    assert main(["accept", "--reason", "first", "--baseline", "kept.json"]) == 0
    held = (app / "kept.json").read_bytes()
    ran("Words", capsys)
    assert main(["accept", "--reason", "second", "--baseline", "kept.json"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("UNCHANGED") and "first" in out and "second" not in out
    assert (app / "kept.json").read_bytes() == held
    assert not (app / BASELINE).exists()


def test_without_a_results_file_the_newest_kept_run_is_taken(app: Path, capsys: Captured) -> None:
    for store in ("Leaky", "Words"):
        ran(store, capsys)
    (app / "eval-results.json").unlink()
    runs = sorted((app / ".memeval" / "runs").glob("*.json"))
    for path in runs:
        leaking = '"FAIL"' in path.read_text() or "Leaky" in path.read_text()
        os.utime(path, (1, 1) if leaking else (2, 2))
    assert main(["accept", "--reason", "from the run"]) == 0
    assert ".memeval/runs/" in capsys.readouterr().out


def test_a_leak_exits_1_and_an_invalid_suite_4_and_nothing_is_written(
    app: Path, capsys: Captured
) -> None:
    ran("Leaky", capsys)
    assert main(["accept", "--reason", "please"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("NOT ACCEPTED (FAIL)") and "never be accepted" in out
    invalid = {
        "format": "memeval results", "version": 1, "probes": 3, "validity": "invalid",
        "judged": {"reasons": ["luck alone recalls too much"]},
    }  # fmt: skip
    (app / "invalid.json").write_text(json.dumps(invalid))
    assert main(["accept", "invalid.json", "--reason", "please", "--format", "json"]) == 4
    told = json.loads(capsys.readouterr().out)
    assert (told["accepted"], told["verdict"]) == (False, "INVALID")
    assert not (app / BASELINE).exists()


def test_what_cannot_be_used_exits_2_in_words(app: Path, capsys: Captured) -> None:
    assert main(["accept", "--reason", "r"]) == 2
    assert "run 'memeval run' first" in capsys.readouterr().err
    assert main(["accept", "none.json", "--reason", "r"]) == 2
    ran("Words", capsys)
    assert main(["accept", "--reason", " "]) == 2
    assert "wanted a few words" in capsys.readouterr().err
    (app / BASELINE).write_text('{"name": "app"}')
    assert main(["accept", "--reason", "r"]) == 2
    assert "is something else" in capsys.readouterr().err
    assert main(["accept"]) == 2
    assert "--reason" in capsys.readouterr().err


def test_a_hostile_reason_and_name_do_nothing_to_the_terminal(app: Path, capsys: Captured) -> None:
    ran("Words", capsys)
    assert main(["accept", "--reason", "red \x1b[31m now"]) == 0
    assert "\x1b" not in capsys.readouterr().out
