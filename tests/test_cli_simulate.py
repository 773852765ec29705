"""``memeval simulate``: forms, files, exit codes, going on, comparing, what it would take."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import memeval.simulate
from memeval.cli import growth_options, main
from memeval.simulation import load_simulation

APP = Path(__file__).parent / "cli_app"
JOURNAL = Path(".memeval/simulation.jsonl")
KEPT = Path(".memeval/simulations")
SMALL = ("--sessions", "8", "--cohorts", "2")
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with five probes and a module of stores."""
    shutil.copytree(APP, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delitem(sys.modules, "my_stores", raising=False)
    return tmp_path


def called(capsys: Captured, *argv: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["simulate", *argv])
    return code, *capsys.readouterr()


def test_it_is_shown_and_kept_where_git_does_not_look(capsys: Captured) -> None:
    code, out, err = called(capsys, *SMALL)
    assert code == 0 and "CANNOT TELL" in out and max(map(len, out.splitlines())) <= 80
    (path,) = KEPT.glob("*.json")
    assert f"kept in {path.as_posix()}" in err and not JOURNAL.exists()
    assert Path(".memeval/.gitignore").read_text() == "*\n"
    made = load_simulation(path)
    assert made.manifest["seed"] == 7 and made.manifest["sessions"] == 8


def test_options_are_handed_on(capsys: Captured) -> None:
    code, out, _ = called(
        capsys, "--sessions", "6", "--every", "3", "--cohorts", "3", "--seed", "5", "--margin",
        "0.4", "--budget-ms", "20", "--name", "*", "--opaque-ids", "--no-contract-checks",
        "--store", "sqlite-plain", "--format", "json", "--out", "s.json", "--quiet",
    )  # fmt: skip
    told = json.loads(out)
    manifest = load_simulation("s.json").manifest
    assert code == told["exit_code"] == 0
    assert (manifest["seed"], manifest["checkpoints"]) == (5, [0, 3, 6])
    assert manifest["cohorts"] == [0, 2, 4] and manifest["options"]["opaque_ids"] is True
    assert manifest["options"]["contract_checks"] is False and "plain" in manifest["store"]
    made = load_simulation("s.json")
    assert (made.margin, made.budget_ms) == (0.4, 20.0)


def test_markdown(capsys: Captured) -> None:
    code, out, _ = called(capsys, *SMALL, "--format", "markdown")
    assert code == 0 and out.startswith("## ") and "| --- |" in out


def test_strict_is_3_where_it_cannot_be_told(capsys: Captured) -> None:
    assert called(capsys, *SMALL, "--strict")[0] == 3


def test_a_leak_is_1(capsys: Captured) -> None:
    code, out, _ = called(capsys, *SMALL, "--store", "my_stores:Leaky")
    assert code == 1 and "FAIL" in out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--sessions", "0"), "wanted a whole number from 1"),
        (("--cohorts", "9"), "cohorts is 9, wanted a whole number from 1 to 7"),
        (("--margin", "1"), "wanted a share below 1"),
        (("--budget-ms", "x"), "wanted a number above 0"),
        (("--holdout",), "counts no look"),
        (("--store", "my_stores:NoSuch"), "my_stores has no 'NoSuch'"),
        (("--out", "no/where.json"), "there is no folder"),
        (("--compare", "no.json"), "no.json"),
        (("no.json",), "no.json"),
    ],
)
def test_what_cannot_run_is_2(argv: tuple[str, ...], said: str, capsys: Captured) -> None:
    code, out, err = called(capsys, *argv)
    assert code == 2 and not out and said in err
    assert not KEPT.exists()


def test_a_saved_one_is_shown_again_without_a_store(capsys: Captured) -> None:
    first = called(capsys, *SMALL, "--out", "s.json")
    code, out, err = called(capsys, "s.json")
    assert (code, out) == first[:2] and not err
    code, _, err = called(capsys, "s.json", "--store", "sqlite", "--resume")
    assert code == 2 and "--resume, --store given beside s.json" in err


def test_two_stores_are_compared_and_drawn(capsys: Captured) -> None:
    assert called(capsys, *SMALL, "--out", "one.json")[0] == 0
    code, out, err = called(
        capsys, *SMALL, "--store", "sqlite-plain", "--out", "two.json",
        "--compare", "one.json", "--png", "both.png",
    )  # fmt: skip
    assert code == 0 and "COMPARED: SqliteStore (plain) against SqliteStore (one.json)" in out
    assert (
        "current minus baseline is" in " ".join(out.split())
        and max(map(len, out.splitlines())) <= 80
    )
    assert Path("both.png").read_bytes().startswith(b"\x89PNG") and "drawn: both.png" in err
    code, out, _ = called(capsys, "two.json", "--compare", "one.json", "--format", "json")
    told = json.loads(out)["comparison"]
    assert told["against"] == "one.json" and told["n"] > 0 and "current minus" in told["reason"]
    out = called(capsys, "two.json", "--compare", "one.json", "--format", "markdown")[1]
    assert "## Compared" in out
    assert called(capsys, "two.json", "--compare", "one.json", "--strict")[0] == 3


def test_a_store_that_falls_faster_is_1(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    assert called(capsys, *SMALL, "--out", "one.json")[0] == 0
    verdict = SimpleNamespace(verdict="decline", slope_per_1k=-0.4)
    found = SimpleNamespace(
        difference=verdict, reason="it falls", mean_difference=-0.2, log_rank_p=float("nan"), n=4
    )
    monkeypatch.setattr("memeval.drift.compare_drift", lambda *frames, **options: found)
    code, out, _ = called(capsys, "one.json", "--compare", "one.json", "--format", "json")
    assert code == 1 and json.loads(out)["comparison"]["log_rank_p"] is None


def test_what_was_grown_otherwise_is_5_and_says_the_first_difference(capsys: Captured) -> None:
    called(capsys, *SMALL, "--out", "one.json")
    called(capsys, *SMALL, "--seed", "8", "--out", "two.json")
    code, out, err = called(capsys, "two.json", "--compare", "one.json")
    assert code == 5 and not out and "seed is 8 here and 7 there" in err


def test_a_figure_of_no_known_kind_is_2(capsys: Captured) -> None:
    called(capsys, *SMALL, "--out", "one.json")
    code, _, err = called(capsys, "one.json", "--png", "drift.xyz")
    assert code == 2 and "--png drift.xyz" in err


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_a_dry_run_says_what_it_takes_and_keeps_nothing(form: str, capsys: Captured) -> None:
    code, out, err = called(capsys, *SMALL, "--dry-run", "--format", form)
    assert code == 0 and "searches" in out and "dry run" in err
    assert not Path(".memeval").exists()
    if form == "json":
        told = json.loads(out)
        assert told["calls"] == told["writes"] + told["searches"] and told["sessions"] == 8


def stopping(monkeypatch: pytest.MonkeyPatch, records: int) -> None:
    """Let the keyboard stop it once so many records are written."""
    real = memeval.simulate.run_simulation

    def run(*told: Any, **options: Any) -> Any:
        def tell(done: int, total: int, label: str) -> None:
            if done >= records:
                raise KeyboardInterrupt

        return real(*told, **options | {"progress": tell})

    monkeypatch.setattr("memeval.simulate.run_simulation", run)


def test_ctrl_c_shows_the_results_so_far_and_goes_on_with_resume(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        stopping(patched, 60)
        code, out, err = called(capsys, *SMALL)
    assert code == 130 and "CHECKPOINTS" in out
    assert "results so far" in err and "'memeval simulate --resume'" in err
    assert JOURNAL.exists() and not KEPT.exists()
    code, out, _ = called(capsys, *SMALL, "--resume")
    assert code == 0 and not JOURNAL.exists() and len(list(KEPT.iterdir())) == 1
    assert "written over" not in called(capsys, *SMALL)[2]


def test_a_journal_of_other_options_is_refused_and_kept(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        stopping(patched, 60)
        called(capsys, *SMALL)
    before = JOURNAL.read_bytes()
    code, _, err = called(capsys, *SMALL, "--seed", "9", "--resume")
    assert code == 2 and "seed was 7, now it is 9" in err and JOURNAL.read_bytes() == before
    code, _, err = called(capsys, *SMALL)
    assert code == 0 and "is written over" in err


def test_resume_without_a_journal_begins_anew(capsys: Captured) -> None:
    code, _, err = called(capsys, *SMALL, "--resume")
    assert code == 0 and "so this is a new one" in err


def test_a_store_that_fails_says_how_to_go_on(capsys: Captured) -> None:
    Path("late.py").write_text(
        "from my_stores import Words\n"
        "class Late(Words):\n"
        "    def put(self, record):\n"
        "        if len(self.kept) > 70: raise ConnectionError('gone')\n"
        "        return super().put(record)\n"
    )
    code, out, err = called(capsys, *SMALL, "--store", "late:Late")
    assert code == 2 and not out and "the store failed to write" in err
    assert "--resume" in err and JOURNAL.exists()


def test_progress_tells_how_long_it_takes_yet() -> None:
    told: list[str] = []
    now = iter([0.0, 30.0, 60.0])
    tell = growth_options.with_time(
        lambda done, total, label: told.append(label), lambda: next(now)
    )
    tell(100, 1100, "records")
    tell(600, 1100, "records")  # 500 in 30 s, 500 to come
    tell(1100, 1100, "records")
    assert told == ["records", "records, 30 s left", "records, under 1 s left"]
