"""The table of runs that are kept, and ``memeval runs``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from memeval import frames
from memeval.cli import main
from memeval.errors import RunFileError
from memeval.files import keptruns
from memeval.files.keptruns import DAMAGED, kept_runs
from memeval.files.runfiles import save_run
from tests.report_fixtures import INVALID, SCRIPT, make_run, manifest

Captured = pytest.CaptureFixture[str]


def keep(folder: Path, day: int, name: str | None = None, **more: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    told = manifest(
        created_at=f"2026-05-{day:02}T12:00:00+02:00", environment={"commit": f"c{day}"},
        store=more.pop("store", "shelf"),
    )  # fmt: skip
    path = folder / (name or f"run-{day}.json")
    save_run(make_run(manifest=told, **more), path)
    return path


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return Path(".memeval/runs")


def test_runs_stand_newest_first_with_what_they_came_to(runs: Path) -> None:
    for day in (2, 3, 1):
        keep(runs, day)
    frame = kept_runs()
    assert list(frame.columns) == frames.names(frames.KEPT_RUNS)
    assert [str(dtype) for dtype in frame.dtypes] == [c.dtype for c in frames.KEPT_RUNS]
    assert list(frame["run"]) == ["run-3.json", "run-2.json", "run-1.json"]
    made = make_run()
    assert frame.loc[0].to_dict() == {
        "run": "run-3.json", "at": "2026-05-03T10:00:00+00:00", "store": "shelf",
        "verdict": made.verdict.word, "n_probes": 8, "recall_all": made.recall_at_k,
        "mrr": made.mrr, "leaks": made.leaks, "suite_hash": "cafe0000cafe0000", "commit": "c3",
    }  # fmt: skip


def test_an_invalid_suite_shows_no_number(runs: Path) -> None:
    keep(runs, 1, validity=INVALID)
    row = kept_runs().loc[0]
    assert row["verdict"] == "INVALID" and pd.isna(row["recall_all"]) and pd.isna(row["mrr"])


def test_damaged_files_are_listed_with_the_reason(runs: Path) -> None:
    whole = keep(runs, 3)
    text = whole.read_text()
    (runs / "cut.json").write_text(text[: len(text) // 2])
    (runs / "other.json").write_text("[]")
    (runs / "empty.json").touch()
    half = json.loads(text)
    half["tables"]["hits"]["rank"][0] = "first"
    del half["outcome"]  # so that it has to be scored
    (runs / "half.json").write_text(json.dumps(half))
    (runs / "bytes.json").write_bytes(b"\xff\xfe\xfa")
    (runs / "folder.json").mkdir()
    (runs / "notes.txt").write_text("x")
    for path in runs.glob("*.json"):
        os.utime(path, (1_000_000_000, 1_000_000_000))  # 2001: files of no known time come last
    frame = kept_runs()
    assert list(frame["run"])[0] == "run-3.json"
    damaged = frame[frame["verdict"].eq(DAMAGED)].set_index("run")
    assert set(damaged.index) == {"cut.json", "other.json", "empty.json", "half.json", "bytes.json"}
    told = frame.attrs["damaged"]
    assert "JSON" in told["cut.json"] and "damaged" in told["half.json"]
    assert "is empty" in told["empty.json"] and told["other.json"] and told["bytes.json"]
    assert damaged["recall_all"].isna().all() and damaged.at["cut.json", "n_probes"] == 0


def test_a_file_that_says_its_outcome_is_not_scored_again(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = keep(runs, 1)
    older = keep(runs, 2)  # as earlier versions wrote them
    older.write_text(json.dumps({**json.loads(older.read_text()), "outcome": None}))
    payload = json.loads(path.read_text())
    payload["outcome"] = {"verdict": "PASS", "recall_all": 0.75, "mrr": None, "leaks": 0}
    path.write_text(json.dumps(payload))
    loaded: list[str] = []
    load = keptruns.load_run
    monkeypatch.setattr(keptruns, "load_run", lambda p: (loaded.append(p.name), load(p))[1])
    frame = kept_runs().set_index("run")
    assert loaded == ["run-2.json"]
    assert frame.at["run-1.json", "recall_all"] == 0.75 and frame.at["run-1.json", "n_probes"] == 8
    assert pd.isna(frame.at["run-1.json", "mrr"]) and frame.at["run-1.json", "store"] == "shelf"
    for wrong in ({"leaks": "no"}, {"verdict": 3}, {"recall_all": 7.5}, {"mrr": True}):
        path.write_text(json.dumps(payload | {"outcome": payload["outcome"] | wrong}))
        assert kept_runs().set_index("run").at["run-1.json", "recall_all"] != 0.75


def test_a_limit_leaves_the_older_ones_unread(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for day in (1, 2, 3):
        keep(runs, day)
    loaded: list[str] = []
    load = keptruns.load_run
    monkeypatch.setattr(keptruns, "load_run", lambda p: (loaded.append(p.name), load(p))[1])
    frame = kept_runs(limit=2)
    assert list(frame["run"]) == ["run-3.json", "run-2.json"] and not loaded
    assert frame.attrs["n_files"] == 3
    with pytest.raises(ValueError, match="limit: found 0"):
        kept_runs(limit=0)


def test_a_folder_that_is_not_there_is_an_error_and_an_empty_one_is_not(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="found no folder"):
        kept_runs(tmp_path / "nowhere")
    assert kept_runs(tmp_path).empty


def test_a_time_that_is_none_is_na_and_does_no_harm(runs: Path) -> None:
    keep(runs, 1)
    told = manifest(created_at="zzz\x1b[31m")
    save_run(make_run(manifest=told), runs / "odd.json")
    frame = kept_runs().set_index("run")
    assert pd.isna(frame.at["odd.json", "at"]) and frame.at["odd.json", "verdict"] != DAMAGED


def test_runs_are_listed_with_the_path_to_report(runs: Path, capsys: Captured) -> None:
    keep(
        runs, 1, "20260501T100000Z-cafe0000cafe0000.json", store="a store of a very long name " * 3
    )
    keep(runs, 2, "20260502T100000Z-cafe0000cafe0000.json", validity=INVALID)
    (runs / "cut.json").write_text("{")
    assert main(["runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    newest = ".memeval/runs/20260502T100000Z-cafe0000cafe0000.json"
    assert f"  {newest}" in lines and "  .memeval/runs/cut.json" in lines
    row = next(line for line in lines if line.startswith("2026-05-02 10:00 INVALID"))
    assert row.split()[-3:] == ["n/a", "n/a", "n/a"]
    assert any("JSON" in line for line in lines)
    assert lines[-1] == f"  memeval report {newest}"
    assert main(["report", newest]) == 4
    capsys.readouterr()


def test_no_run_is_said_and_is_no_failure(runs: Path, capsys: Captured) -> None:
    assert main(["runs"]) == 0
    told = capsys.readouterr()
    assert told.out == "" and "holds no run; memeval run keeps one there" in told.err
    runs.mkdir(parents=True)
    assert main(["runs", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["runs", "nowhere"]) == 2
    assert "nowhere: found no folder" in capsys.readouterr().err


def test_json_and_markdown_hold_the_same_rows_and_are_safe(runs: Path, capsys: Captured) -> None:
    keep(runs, 1, store=SCRIPT)
    keep(runs, 2, "<b>|x.json", store="\x1b[31mred")
    (runs / "cut.json").write_text("{")
    assert main(["runs", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {row["path"] for row in listed} == {f".memeval/runs/{p.name}" for p in runs.glob("*")}
    assert [row["verdict"] == DAMAGED for row in listed] == [
        row["reason"] is not None for row in listed
    ]
    assert main(["runs", "--format", "markdown"]) == 0
    out = capsys.readouterr().out
    assert "<script" not in out and "<b>" not in out and "\x1b" not in out
    assert {line.count("|") for line in out.splitlines()} == {9}
    assert main(["runs"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_more_than_the_limit_is_said(runs: Path, capsys: Captured) -> None:
    for day in (1, 2, 3):
        keep(runs, day)
    assert main(["runs", "--limit", "1"]) == 0
    told = capsys.readouterr()
    assert "run-3.json" in told.out and "run-2.json" not in told.out
    assert "2 older; --limit 3 shows them too" in told.err
