"""Files that a command writes: none of the user's is lost, and two commands do not meet."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memeval import load_run
from memeval.cli import main
from memeval.cli.files import RUNS, failed_in_runs, keep_run

APP = Path(__file__).parent / "cli_app"
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with five probes and a module of stores."""
    shutil.copytree(APP, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_stores", raising=False)
    return tmp_path


def command(*argv: str) -> int:
    return main([*argv, "--store", "my_stores:Words", "--quiet"])


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize(("verb", "option"), [("run", "--out"), ("report", "--html")])
def test_probe_files_are_not_written_over(
    verb: str, option: str, link: bool, app: Path, capsys: Captured
) -> None:
    probes = next((app / "probes").iterdir())
    before = probes.read_bytes()
    if link:
        (app / "link").symlink_to(probes)
    assert command(verb, option, "link" if link else str(probes)) == 2
    assert "would be lost" in capsys.readouterr().err
    assert probes.read_bytes() == before
    assert not (app / ".memeval").exists()  # refused before anything was run


def test_older_files_of_the_same_kind_and_empty_ones_are_replaced(app: Path) -> None:
    (app / "memeval-report.html").touch()
    assert [command("report"), command("report"), command("run")] == [0, 0, 0]
    old = {"commit": "abc", "recall_at_5": 0.5}  # as another tool of the same format writes it
    (app / "eval-results.json").write_text(json.dumps(old))
    assert command("run") == 0
    assert len(json.loads((app / "eval-results.json").read_text())) > 2


def test_a_saved_run_is_not_written_over_by_its_own_report(app: Path, capsys: Captured) -> None:
    assert command("run") == 0
    (kept,) = RUNS.iterdir()
    assert main(["report", str(kept), "--html", str(kept)]) == 2
    assert main(["run", "--out", str(kept)]) == 2
    load_run(kept)


def test_report_and_results_need_two_names(app: Path, capsys: Captured) -> None:
    assert command("report", "--html", "x", "--out", "./x") == 2
    assert "one name for the report and the results" in capsys.readouterr().err


def test_a_pipe_stays_a_pipe_and_gets_the_results(app: Path) -> None:
    os.mkfifo(app / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((app / "pipe").read_text()), daemon=True)
    reader.start()
    assert command("run", "--out", "pipe") == 0
    reader.join(10)
    assert json.loads(read[0])["verdict"] == "PASS"
    assert stat.S_ISFIFO((app / "pipe").stat().st_mode)


@pytest.mark.parametrize("option", ["--store", "--out", "--probes", "--html"])
def test_a_blank_name_is_a_slip_and_no_default(option: str, app: Path, capsys: Captured) -> None:
    assert main(["report", option, ""]) == 2
    assert "wanted a name" in capsys.readouterr().err


def test_runs_that_end_in_one_second_are_all_kept(app: Path) -> None:
    assert command("run") == 0
    (kept,) = RUNS.iterdir()
    run = load_run(kept)
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(keep_run, [run] * 12))
    assert len(set(paths)) == 12
    assert all(load_run(path).suite == run.suite for path in paths)


def test_a_run_that_cannot_be_kept_leaves_no_empty_file(
    app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("run") == 0
    (kept,) = RUNS.iterdir()
    run = load_run(kept)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        keep_run(run)
    assert list(kept.parent.iterdir()) == [kept]


def test_a_run_file_that_is_being_written_is_not_the_last_run(app: Path) -> None:
    assert command("run") == 0
    before = failed_in_runs()
    (RUNS / "later.json").touch()
    assert failed_in_runs() == before
