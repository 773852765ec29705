"""``memeval report``: the main job, and the same from a saved run."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mutants import made

from memeval.cli import main
from memeval.errors import StoreError
from memeval.simulate import run_simulation
from memeval.simulation import Simulation

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
    assert main(["report", "--store", "my_stores:FailingOnce", "--sessions", "0"]) == 1
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


BASELINE = "eval-results.baseline.json"


@pytest.fixture
def saved(app: Path, capsys: Captured) -> dict[str, str]:
    """Run files of three stores, and a baseline accepted of the first."""
    made = {}
    for store in ("Words", "Leaky", "FailingOnce"):
        main(["run", "--store", f"my_stores:{store}", "--no-diagnose", "--quiet"])
        (path,) = {*Path(".memeval", "runs").glob("*.json")} - {*map(Path, made.values())}
        made[store] = str(path)
        if store == "Words":
            assert main(["accept", "--reason", "first", "--quiet"]) == 0
    capsys.readouterr()
    return made


def page_of(app: Path) -> str:
    return (app / "memeval-report.html").read_text(encoding="utf-8")


def test_with_a_baseline_every_form_says_what_changed(
    saved: dict[str, str], app: Path, capsys: Captured
) -> None:
    argv = ["report", saved["Words"], saved["Leaky"]]
    assert main(argv) == 1
    out = capsys.readouterr().out
    assert out.index("SUMMARY") < out.index("COMPARISON") < out.index("FAILING PROBES")
    assert f"COMPARISON {saved['Words']} ->" in " ".join(out.split())
    assert out.endswith("memeval-report.html\n") and max(map(len, out.splitlines())) <= 80
    assert 'id="comparison"' in page_of(app) and "spare-key-holder" in page_of(app)
    assert main([*argv, "--format", "markdown"]) == 1
    assert "## Comparison: FAIL" in capsys.readouterr().out
    assert main([*argv, "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "FAIL" and told["comparison"]["verdict"] == "FAIL"
    assert told["comparison"]["changes"][0]["change"] == "lost"


@pytest.mark.parametrize(
    ("before", "now", "code"),
    [("Words", "Words", 0), ("Leaky", "Words", 0), ("Leaky", "Leaky", 1), (BASELINE, "Leaky", 1)],
)
def test_the_exit_code_is_the_higher_of_both(
    before: str, now: str, code: int, saved: dict[str, str], capsys: Captured
) -> None:
    assert main(["report", saved.get(before, before), saved[now], "--quiet"]) == code


def test_a_run_that_passes_fails_where_the_comparison_does(
    saved: dict[str, str], app: Path, capsys: Captured
) -> None:
    payload = json.loads(Path(BASELINE).read_text())
    payload["manifest"]["haystack_hash"] = "another"
    Path("other.json").write_text(json.dumps(payload))
    assert main(["report", saved["Words"]]) == 0
    assert main(["report", "other.json", saved["Words"]]) == 5
    out = capsys.readouterr().out
    assert "VERDICT: PASS" in out and "VERDICT: NOT COMPARABLE" in out
    payload |= {"validity": "invalid", "judged": {"reasons": ["chance is too high"]}}
    Path("other.json").write_text(json.dumps(payload))
    assert main(["report", "other.json", saved["Words"]]) == 4
    assert "chance is too high" in page_of(app)


def test_files_that_cannot_be_compared_are_2_and_nothing_is_written(
    saved: dict[str, str], app: Path, capsys: Captured
) -> None:
    for argv, said in (
        ([BASELINE, "eval-results.json"], "the second is the run that is drawn"),
        ([saved["Words"], BASELINE], "is not a run file"),
        (["no.json", saved["Words"]], "no.json"),
        ([BASELINE, "no.json"], "no.json"),
        ([BASELINE, *2 * [saved["Words"]]], "found 3 files"),
        ([BASELINE, saved["Words"], "--seed", "4"], "--seed would change"),
    ):
        assert main(["report", *argv]) == 2
        out, err = capsys.readouterr()
        assert said in err and not out
    assert not (app / "memeval-report.html").exists()


def test_a_file_compared_with_itself_is_warned_of(saved: dict[str, str], capsys: Captured) -> None:
    assert main(["report", saved["Words"], saved["Words"]]) == 0
    out, err = capsys.readouterr()
    assert "compared with itself" in err and "VERDICT: SAME" in out


def test_a_baseline_of_the_folder_is_shown_and_changes_no_exit_code(
    saved: dict[str, str], app: Path, capsys: Captured
) -> None:
    payload = json.loads(Path(BASELINE).read_text())
    payload["manifest"]["haystack_hash"] = "another"
    Path(BASELINE).write_text(json.dumps(payload))
    argv = ["report", "--store", "my_stores:Words"]
    assert main(argv) == 0
    out, err = capsys.readouterr()
    assert "NOT COMPARABLE" in out and 'id="comparison"' in page_of(app)
    assert f"compared with {BASELINE}: NOT COMPARABLE; the exit code is that of the run" in err
    assert main([*argv, "--name", "spare-*"]) == 0  # of chosen probes it would say nothing
    assert "COMPARISON" not in capsys.readouterr().out
    Path(BASELINE).write_text("{")
    assert main(argv) == 0
    out, err = capsys.readouterr()
    assert "warning: not compared with a baseline" in err and "COMPARISON" not in out
    assert 'id="comparison"' not in page_of(app)
    assert main(["report", saved["Words"]]) == 0  # a saved run is drawn alone
    assert "not compared" not in capsys.readouterr().err


def test_report_grows_one_more_store_and_shows_what_drifts(app: Path, capsys: Captured) -> None:
    main(["report", "--sessions", "6"])
    told = capsys.readouterr().out
    assert "DRIFT:" in told and "6 sessions" in told
    assert 'id="drift"' in (app / "memeval-report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--sessions", "0"], ""),
        (["--max-calls", "100000"], "drift is not measured: --max-calls"),
    ],
)
def test_report_leaves_drift_out_where_it_must(
    app: Path, capsys: Captured, more: list[str], words: str
) -> None:
    main(["report", *more])
    told = capsys.readouterr()
    assert words in told.err
    assert "DRIFT:" not in told.out


def test_a_store_that_cannot_grow_costs_the_report_nothing(
    app: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("memeval.simulate.run_simulation", fails)
    main(["report", "--sessions", "6"])
    told = capsys.readouterr()
    assert "drift could not be measured: the disk is full" in told.err
    assert "DRIFT:" not in told.out
    assert (app / "memeval-report.html").exists()


@pytest.mark.parametrize(("leaked", "code"), [(0, 0), (1, 1)])
def test_a_record_that_leaks_only_as_the_store_grows_fails_the_report(
    app: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, leaked: int, code: int
) -> None:
    def grows(*told: Any, **options: Any) -> Simulation:
        made = run_simulation(*told, **options)
        return replace(made, drift_probes=made.drift_probes.assign(n_leaked=leaked))

    monkeypatch.setattr("memeval.simulate.run_simulation", grows)
    assert main(["report", "--sessions", "2"]) == code
    assert ("leaks in" in capsys.readouterr().out) == bool(leaked)


def kept_earlier(day: int) -> Path:
    """The one run that is kept, once more, as if it had been made on a day of 2020."""
    (newest,) = [p for p in Path(".memeval", "runs").glob("*.json") if p.name[:4] != "2020"]
    payload = json.loads(newest.read_text())
    payload["manifest"]["created_at"] = f"2020-01-0{day}T00:00:00+00:00"
    path = newest.with_name(f"2020010{day}T000000Z-{payload['manifest']['suite_hash']}.json")
    path.write_text(json.dumps(payload))
    return path


def test_each_probe_shows_how_it_did_in_the_runs_that_were_kept(
    app: Path, capsys: Captured
) -> None:
    argv = ["report", "--store", "my_stores:FailingOnce", "--sessions", "0"]
    assert main(argv) == 1
    assert "runs before" not in page_of(app)  # it is the first
    for day in (1, 2):
        kept_earlier(day)
    (newest,) = [p for p in Path(".memeval", "runs").glob("*.json") if p.name[:4] != "2020"]
    assert main(["report", str(newest)]) == 1
    assert "2 runs of this store before, 2020-01-01 to 2020-01-02" in page_of(app)
    assert "passed 0 of 2 runs before" in page_of(app)
    assert main(["report", str(kept_earlier(2))]) == 1  # later ones are not before it
    assert "1 run of this store before, 2020-01-01," in page_of(app)
    kept_earlier(1).write_text("{")
    capsys.readouterr()
    assert main(["report", str(newest)]) == 1
    assert "passed over: .memeval/runs/20200101T000000Z-" in capsys.readouterr().err
    assert "1 run of this store before, 2020-01-02," in page_of(app)


def test_the_size_of_the_page_is_said_and_a_large_one_warned_of(
    saved: dict[str, str], app: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    assert main(["report", saved["Words"]]) == 0
    size = (app / "memeval-report.html").stat().st_size
    err = capsys.readouterr().err
    assert f"wrote memeval-report.html ({round(size / 1000)} KB)" in err and "warning" not in err
    monkeypatch.setattr("memeval.cli.page.LARGE", size - 1)
    assert main(["report", saved["Words"], "--quiet"]) == 0
    err = capsys.readouterr().err
    assert "warning: memeval-report.html is" in err and "--no-texts" in err and "wrote" not in err


def test_faults_are_tried_where_told_and_one_that_must_die_is_4(
    app: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr("memeval.mutation.mutate", lambda *a, **o: (asked.append(a), made())[1])
    argv = ["report", "--store", "my_stores:Words", "--sessions", "0"]
    assert main(argv) == 0
    assert not asked and 'id="mutation"' not in page_of(app)
    assert main([*argv, "--mutate"]) == 4
    out = capsys.readouterr().out
    assert "SURVIVORS: 2 faults" in out and out.endswith("memeval-report.html\n")
    assert 'id="mutation"' in page_of(app) and len(asked[0][0]) == 5
    assert main([*argv, "--mutate", "--format", "json"]) == 4
    assert json.loads(capsys.readouterr().out)["mutation"]["n_killed"] == 3
    assert main([*argv, "--mutate", "--max-calls", "100000"]) == 0
    assert "faults are not tried: --max-calls" in capsys.readouterr().err
    assert main([*argv, "--mutate", "--dry-run"]) == 0
    assert "trying faults is not counted" in capsys.readouterr().err
    assert main(["report", "old.json", "--mutate"]) == 2
    assert "--mutate would change how it is made" in capsys.readouterr().err
    assert len(asked) == 2


def test_faults_that_cannot_be_tried_cost_the_report_nothing(
    app: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("memeval.mutation.mutate", fails)
    assert main(["report", "--store", "my_stores:Words", "--sessions", "0", "--mutate"]) == 0
    assert "faults could not be tried: the disk is full" in capsys.readouterr().err
    assert (app / "memeval-report.html").exists()
