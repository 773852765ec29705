"""``memeval report``: the main job, and the same from a saved run."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from memeval.cli import main

APP = Path(__file__).parent / "cli_app"
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with five probes and a module of stores."""
    shutil.copytree(APP, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delitem(sys.modules, "my_stores", raising=False)
    return tmp_path


def test_report_leads_with_the_controls_and_ends_with_the_path(app: Path, capsys: Captured) -> None:
    assert main(["report", "--store", "my_stores:Words"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "memeval-report.html"
    assert lines[0].startswith("CONTROLS")
    first = {
        word: next(n for n, line in enumerate(lines) if word in line)
        for word in ("null", "positive  ", "recall_fraction", "PASS")
    }
    assert list(first.values()) == sorted(first.values())
    assert max(map(len, lines)) <= 80
    page = (app / "memeval-report.html").read_text(encoding="utf-8")
    assert "<html" in page and "ladder-in-the-shed" in page
    assert json.loads((app / "eval-results.json").read_text())["verdict"] == "PASS"
    assert len(list((app / ".memeval" / "runs").glob("*.json"))) == 1


def test_report_of_a_leaking_store_exits_1_and_names_the_probe(app: Path, capsys: Captured) -> None:
    assert main(["report", "--store", "my_stores:Leaky", "--html", "page.html"]) == 1
    out = capsys.readouterr().out
    assert "spare-key-holder" in out and out.endswith("\npage.html\n")


def test_report_of_a_saved_run_needs_no_store(app: Path, capsys: Captured) -> None:
    assert main(["report", "--store", "my_stores:FailingOnce"]) == 1
    before = capsys.readouterr().out
    (saved,) = (app / ".memeval" / "runs").glob("*.json")
    (app / "my_stores.py").unlink()
    shutil.rmtree(app / "probes")
    (app / "eval-results.json").unlink()
    (app / "memeval-report.html").unlink()
    assert main(["report", str(saved)]) == 1
    assert capsys.readouterr().out == before
    assert (app / "memeval-report.html").exists() and not (app / "eval-results.json").exists()
    assert len(list((app / ".memeval" / "runs").glob("*.json"))) == 1


def test_report_tells_why_and_a_run_without_causes_is_drawn_too(
    app: Path, capsys: Captured
) -> None:
    argv = ["report", "--store", "my_stores:Leaky"]
    assert main(argv) == 1
    assert "Mend boiler-service-month first" in capsys.readouterr().out
    page = app / "memeval-report.html"
    assert 'id="why"' in page.read_text(encoding="utf-8")
    shutil.rmtree(app / ".memeval")
    assert main([*argv, "--no-diagnose"]) == 1
    (old,) = (app / ".memeval" / "runs").glob("*.json")
    capsys.readouterr()
    assert main(["report", str(old)]) == 1
    out = capsys.readouterr().out
    assert "FAILING PROBES" in out and "WHY" not in out
    assert 'id="why"' not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be read"), ("{", "is not JSON"), ("{}", "is not a run file")],
)
def test_what_is_no_run_file_is_refused_by_name(
    content: str | None, said: str, app: Path, capsys: Captured
) -> None:
    if content is not None:
        (app / "old.json").write_text(content)
    assert main(["report", "old.json"]) == 2
    err = capsys.readouterr().err
    assert "old.json" in err and said in err
    assert not (app / "memeval-report.html").exists()


def test_options_of_the_asking_come_too_late_for_a_saved_run(app: Path, capsys: Captured) -> None:
    assert main(["report", "old.json", "--store", "sqlite", "--tag", "x", "--quiet"]) == 2
    err = capsys.readouterr().err
    assert "--store, --tag" in err or "--tag, --store" in err
    assert "--quiet" not in err


def test_open_shows_the_report_in_the_browser(
    app: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main(["report", "--store", "my_stores:Words", "--open"]) == 0
    assert opened == [(app / "memeval-report.html").resolve().as_uri()]


def test_json_alone_stands_on_stdout_and_the_path_on_stderr(app: Path, capsys: Captured) -> None:
    assert main(["report", "--store", "my_stores:Words", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["verdict"] == "PASS"
    assert "wrote memeval-report.html" in err


def test_no_texts_leaves_the_texts_out_of_the_report_too(app: Path, capsys: Captured) -> None:
    argv = ["report", "--store", "my_stores:FailingOnce"]
    assert main(argv) == 1  # of the probe that failed the texts are shown
    assert "behind the shed" in (app / "memeval-report.html").read_text(encoding="utf-8")
    shutil.rmtree(app / ".memeval")
    assert main([*argv, "--no-texts"]) == 1
    written = [app / "memeval-report.html", *(app / ".memeval" / "runs").glob("*.json")]
    assert len(written) == 2
    for path in written:
        assert "behind the shed" not in path.read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_asked(
    app: Path, capsys: Captured
) -> None:
    assert main(["report", "--store", "my_stores:Words", "--html", "no/such.html"]) == 2
    out, err = capsys.readouterr()
    assert "there is no folder" in err and not out
    assert not (app / ".memeval").exists()


def test_markdown_ends_with_the_path_as_well(app: Path, capsys: Captured) -> None:
    assert main(["report", "--store", "my_stores:Words", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "memeval-report.html"


def test_the_files_are_there_even_where_nobody_reads_the_output(
    app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("memeval.cli.report.show", gone)
    assert main(["report", "--store", "my_stores:Words"]) == 2
    assert (app / "memeval-report.html").exists() and (app / "eval-results.json").exists()
