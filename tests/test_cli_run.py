"""``memeval run`` and ``memeval control``: selection, exit codes, files, forms."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from memeval import StoreError, load_run
from memeval.cli import main

APP = Path(__file__).parent / "cli_app"
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with five probes and a module of stores."""
    shutil.copytree(APP, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_stores", raising=False)
    return tmp_path


def strict(text: str) -> Any:
    """Parse JSON as a strict parser does: NaN and Infinity are errors."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


def kept_runs(app: Path) -> list[Path]:
    return sorted((app / ".memeval" / "runs").glob("*.json"))


def no_positive_probe(app: Path) -> None:
    """Write a suite that is invalid, of a probe that any store answers."""
    (app / "negative.yaml").write_text(
        "- name: nobody-said\n  query: Where is the ladder kept?\n"
        "  given: [{id: n1, text: The ladder is kept behind the shed.}]\n"
    )


def run_json(capsys: Captured, *argv: str, store: str = "Words") -> tuple[int, Any]:
    code = main(["run", "--store", f"my_stores:{store}", "--format", "json", *argv])
    out = capsys.readouterr().out
    return code, strict(out) if out else None


@pytest.mark.parametrize(
    ("store", "code"), [("Words", 0), ("Async", 0), ("Leaky", 1), ("Failing", 1)]
)
def test_run_exits_by_the_verdict(store: str, code: int, app: Path, capsys: Captured) -> None:
    found, payload = run_json(capsys, store=store)
    assert found == code
    assert payload["verdict"] == ("FAIL" if code else "PASS")
    assert payload["probes"] == 5


def test_json_is_what_the_results_file_holds(app: Path, capsys: Captured) -> None:
    _, payload = run_json(capsys, store="Failing")
    assert payload == strict((app / "eval-results.json").read_text(encoding="utf-8"))
    assert payload["distinct_at_5"] is None  # nothing came back


def test_one_failed_search_of_five_passes_only_where_it_is_allowed(
    app: Path, capsys: Captured
) -> None:
    code, payload = run_json(capsys, store="FailingOnce")
    # Four positive probes, one of them failed: 3/4, never 3/3.
    assert (code, payload["recall_at_5"]) == (1, 0.75)
    code, payload = run_json(capsys, "--allow-errors", "1", store="FailingOnce")
    assert (code, payload["recall_at_5"]) == (0, 0.75)


def test_a_floor_fails_the_run_and_an_option_wins_over_the_setting(
    app: Path, capsys: Captured
) -> None:
    argv = ("--allow-errors", "1", "--floor", "recall_all=0.8")
    assert run_json(capsys, *argv, store="FailingOnce")[0] == 1
    (app / "pyproject.toml").write_text("[tool.memeval]\nfloors = {recall_all = 0.8}\n")
    assert run_json(capsys, *argv[:2], store="FailingOnce")[0] == 1
    assert run_json(capsys, *argv[:3], "recall_all=0.7", store="FailingOnce")[0] == 0


def test_an_unknown_floor_runs_nothing(app: Path, capsys: Captured) -> None:
    assert main(["run", "--floor", "recal_all=0.8"]) == 2
    assert "recall_all" in capsys.readouterr().err
    assert not (app / "eval-results.json").exists()


def test_a_hung_search_is_a_failed_one(app: Path, capsys: Captured) -> None:
    argv = ("--timeout", "0.05", "--name", "ladder-*", "--no-repeat-check")
    code, payload = run_json(capsys, *argv, store="Slow")
    assert code == 1
    assert payload["per_probe"]["ladder-in-the-shed"]["status"] == "timeout"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--store", "my_stores:Filled"], "holds 3 records already"),
        (["--store", "my_stores:Hole"], "record written, not found"),
        (["--store", "my_stores:unmakeable"], "the address of the index is not set"),
        (["--store", "my_stores:not_a_factory"], "wanted a callable"),
        (["--store", "my_stores:Wrods"], "has no 'Wrods'"),
        (["--store", "my_store:Words"], "tried to import my_store"),
        (["--store", "sqlit"], "found neither a short name"),
        (["--store", "my_stores:Unclearable"], "no such table: notes"),
        (["--store", "my_stores:Words", "--max-calls", "10"], "at most 10"),
        (["--out", "no/such/folder.json"], "there is no folder"),
        (["--out", "probes"], "found a folder"),
        (["--probes", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_what_could_not_run_exits_2_and_writes_nothing(
    argv: list[str], said: str, app: Path, capsys: Captured
) -> None:
    assert main(["run", "--quiet", *argv]) == 2
    out, err = capsys.readouterr()
    assert said in err and not out
    assert err.startswith("memeval: ") and "Traceback" not in err and "bug" not in err
    assert not kept_runs(app) and not (app / "eval-results.json").exists()


def test_a_module_that_fails_while_it_is_imported_is_told_in_words(
    app: Path, capsys: Captured
) -> None:
    (app / "half_done.py").write_text("import sys\nsys.exit('set MODE first')\n")
    assert main(["run", "--store", "half_done:make"]) == 2
    assert "importing it failed (SystemExit: set MODE first)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--tag", "tempral"], ["'temporal'", "--tag tempral", "garden, negative, plain, scope"]),
        (["--name", "laddr-in-the-shed"], ["'ladder-in-the-shed'", "--name laddr-in-the-shed"]),
        (["--tag", "temporal", "--name", "ladder-*"], ["--tag temporal --name ladder-*"]),
        (["--probes", "empty.yaml"], ["empty.yaml"]),
        (["--probes", "empty-folder"], ["empty-folder"]),
    ],
)
@pytest.mark.parametrize("verb", ["run", "control", "report"])
def test_an_empty_selection_never_passes(
    verb: str, argv: list[str], said: list[str], app: Path, capsys: Captured
) -> None:
    (app / "empty.yaml").write_text("")
    (app / "empty-folder").mkdir()
    assert main([verb, "--store", "my_stores:Words", *argv]) == 2
    out, err = capsys.readouterr()
    assert not out and all(words in err for words in said)
    left = {path.name for path in app.iterdir()} - {"empty.yaml", "empty-folder", "__pycache__"}
    assert left == {"my_stores.py", "probes"}


def test_tags_and_patterns_choose_probes_and_the_choice_is_told(
    app: Path, capsys: Captured
) -> None:
    argv = ["run", "--store", "my_stores:Words", "--format", "json"]
    main([*argv, "--tag", "garden", "--tag", "scope"])
    out, err = capsys.readouterr()
    assert set(strict(out)["per_probe"]) == {"ladder-in-the-shed", "spare-key-holder"}
    assert "chosen: 2 of 5 probes" in err
    main([*argv, "--name", "*-month"])
    assert set(strict(capsys.readouterr().out)["per_probe"]) == {"boiler-service-month"}


def test_failed_last_asks_what_failed_in_the_run_that_was_kept(app: Path, capsys: Captured) -> None:
    run_json(capsys, store="FailingOnce")
    _, payload = run_json(capsys, "--failed-last")
    assert list(payload["per_probe"]) == ["ladder-in-the-shed"]
    assert main(["run", "--failed-last"]) == 2  # it passed, so none is left
    assert "every probe passed when it was last asked" in capsys.readouterr().err


def test_a_run_of_chosen_probes_does_not_forget_what_else_failed(
    app: Path, capsys: Captured
) -> None:
    run_json(capsys, store="FailingOnce")
    run_json(capsys, "--name", "choir-*", store="FailingOnce")
    _, payload = run_json(capsys, "--failed-last")
    assert list(payload["per_probe"]) == ["ladder-in-the-shed"]


def test_failed_last_falls_back_to_the_results_file(app: Path, capsys: Captured) -> None:
    run_json(capsys, store="FailingOnce")
    shutil.rmtree(app / ".memeval")
    assert list(run_json(capsys, "--failed-last")[1]["per_probe"]) == ["ladder-in-the-shed"]


def test_a_results_file_with_a_byte_order_mark_is_read(app: Path, capsys: Captured) -> None:
    run_json(capsys, store="FailingOnce")
    shutil.rmtree(app / ".memeval")
    results = app / "eval-results.json"
    results.write_bytes(b"\xef\xbb\xbf" + results.read_bytes())
    assert list(run_json(capsys, "--failed-last")[1]["per_probe"]) == ["ladder-in-the-shed"]


@pytest.mark.parametrize("content", [None, "{", "[]", '{"probes": 3}'])
def test_failed_last_without_a_run_says_what_to_do(
    content: str | None, app: Path, capsys: Captured
) -> None:
    if content is not None:
        (app / "eval-results.json").write_text(content)
    assert main(["run", "--failed-last"]) == 2
    assert "run once without --failed-last" in capsys.readouterr().err


def test_a_run_is_kept_whole_and_hidden_from_git(app: Path, capsys: Captured) -> None:
    assert main(["run", "--store", "my_stores:Words", "--out", "here.json"]) == 0
    assert main(["run", "--store", "my_stores:Words", "--out", "here.json"]) == 0
    assert (app / ".memeval" / ".gitignore").read_text() == "*\n"
    first, second = kept_runs(app)
    run = load_run(first)
    time, _, suite = first.stem.partition("-")
    assert suite.startswith(run.suite.content_hash[:8]) and time.endswith("Z")
    assert len(run.results) == 5 and run.hits["text"].notna().all()
    assert not (app / "eval-results.json").exists() and (app / "here.json").exists()
    assert f"wrote here.json and .memeval/runs/{second.name}" in capsys.readouterr().err


def test_a_run_that_cannot_be_kept_is_shown_all_the_same(app: Path, capsys: Captured) -> None:
    (app / ".memeval").mkdir()
    (app / ".memeval" / "runs").write_text("a file where a folder must be")
    assert main(["run", "--store", "my_stores:Words"]) == 2
    out, err = capsys.readouterr()
    assert "recall_all" in out and ".memeval" in err and "bug" not in err
    assert "'memeval run --resume' with the same options goes on" in err
    (app / ".memeval" / "runs").unlink()
    assert main(["run", "--store", "my_stores:Words", "--resume", "--quiet"]) == 0
    assert len(kept_runs(app)) == 1


def test_a_run_of_which_nothing_can_be_kept_is_not_begun(app: Path, capsys: Captured) -> None:
    (app / ".memeval").write_text("a file where a folder must be")
    assert main(["run", "--store", "my_stores:Words"]) == 2
    out, err = capsys.readouterr()
    assert not out and ".memeval" in err and "bug" not in err


def test_no_texts_leaves_the_texts_out_of_every_file(app: Path, capsys: Captured) -> None:
    assert main(["run", "--store", "my_stores:Words", "--no-texts", "--quiet"]) == 0
    written = [*kept_runs(app), app / "eval-results.json"]
    assert len(written) == 2
    for path in written:
        assert "behind the shed" not in path.read_text(encoding="utf-8")


def test_quiet_says_nothing_on_stderr(app: Path, capsys: Captured) -> None:
    assert main(["run", "--store", "my_stores:Words", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out and not err


def test_a_weak_suite_is_warned_of_in_one_line(app: Path, capsys: Captured) -> None:
    assert main(["run", "--store", "my_stores:Words"]) == 0
    err = capsys.readouterr().err
    told = [line for line in err.splitlines() if "weak" in line]
    assert len(told) == 1 and told[0].startswith("memeval: warning: ")
    assert "WeakSuiteWarning" not in err


def test_progress_is_drawn_on_a_terminal_alone(app: Path, capsys: Captured) -> None:
    main(["run", "--store", "my_stores:Words"])
    assert "\r" not in capsys.readouterr().err


def test_a_dry_run_counts_and_writes_nothing(app: Path, capsys: Captured) -> None:
    from memeval import load, plan

    writes, searches = plan(load("probes"))
    argv = ["run", "--store", "my_stores:Words", "--dry-run", "--format", "json"]
    assert main(argv) == 0
    told = strict(capsys.readouterr().out)
    assert (told["probes"], told["writes"], told["searches"]) == (5, writes, searches)
    # 5 probes: a cold search, the scored one and the repeat check each; without the last 2 each.
    assert searches == 15
    main([*argv, "--no-repeat-check", "--repeats", "3"])
    assert strict(capsys.readouterr().out)["searches"] == 5 * 2 * 3
    assert told["seconds"] >= 0 and told["write_ms"] > 0
    assert not kept_runs(app) and not (app / "eval-results.json").exists()


def test_a_dry_run_of_the_controls_asks_the_store_twice(app: Path, capsys: Captured) -> None:
    argv = ["--store", "my_stores:Words", "--dry-run", "--format", "json"]
    for verb in ("control", "report"):
        assert main([verb, *argv]) == 0
        # Once as it is with the repeat check (15), once shuffled without (10).
        assert strict(capsys.readouterr().out)["searches"] == 25


def test_failed_probes_are_diagnosed_told_and_kept(
    app: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["run", "--store", "my_stores:Leaky"]) == 1
    out, err = capsys.readouterr()
    told = [
        "VERDICT",
        "Mend boiler-service-month first: a leak",
        "leaked (4)",
        "FAILING PROBES",
        "because",
    ]
    assert [out.index(words) for words in told] == sorted(out.index(words) for words in told)
    assert max(map(len, out.splitlines())) <= 80
    (kept,) = kept_runs(app)
    causes = load_run(kept).causes
    assert causes is not None
    assert set(causes["cause"]) == {"leaked"} and len(causes) == 4


def test_where_nothing_failed_nothing_is_asked_again(
    app: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memeval.diagnosis.diagnose", None)  # calling it would fail
    assert main(["run", "--store", "my_stores:Words"]) == 0
    out, err = capsys.readouterr()
    assert "WHY" not in out and "diagnos" not in err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--no-diagnose"], ""),
        (["--max-calls", "100000"], "not diagnosed: --max-calls bounds the run alone"),
        (["--probes", "negative.yaml"], ""),
    ],
)
def test_diagnosing_is_left_out_when_told_bounded_or_invalid(
    argv: list[str], said: str, app: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memeval.diagnosis.diagnose", None)
    no_positive_probe(app)
    code = main(["run", "--store", "my_stores:Leaky", *argv])
    assert code == (4 if "negative.yaml" in argv else 1)
    out, err = capsys.readouterr()
    assert "WHY" not in out and said in err and "could not be diagnosed" not in err
    assert load_run(kept_runs(app)[0]).causes is None


@pytest.mark.parametrize("verb", ["run", "report"])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StoreError("the index went away; start it"), "the index went away; start it"),
        (LookupError("no such table"), "no such table"),
        (KeyboardInterrupt(), "interrupted while asking why"),
    ],
)
def test_a_run_is_shown_and_kept_where_it_cannot_be_diagnosed(
    verb: str,
    error: BaseException,
    said: str,
    app: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("memeval.diagnosis.diagnose", broken)
    assert main([verb, "--store", "my_stores:Leaky", "--quiet"]) == 1
    out, err = capsys.readouterr()
    assert said in err and "the run itself is kept, without causes" in err
    assert "recall_all" in out and "spare-key-holder" in out and "WHY" not in out
    assert load_run(kept_runs(app)[0]).causes is None


def test_a_dry_run_says_that_asking_why_comes_on_top(app: Path, capsys: Captured) -> None:
    for verb in ("run", "report"):
        assert main([verb, "--store", "my_stores:Words", "--dry-run"]) == 0
        assert "asking why is not counted" in capsys.readouterr().err
        assert main([verb, "--store", "my_stores:Words", "--dry-run", "--no-diagnose"]) == 0
        assert "asking why" not in capsys.readouterr().err
    assert main(["control", "--store", "my_stores:Words", "--dry-run"]) == 0
    assert "asking why" not in capsys.readouterr().err


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_tables_fit_and_show_metrics_verdict_and_failing_probes(
    form: str, app: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    argv = ["run", "--store", "my_stores:FailingOnce", "--format", form]
    assert main(argv) == 1
    out = capsys.readouterr().out
    plain = out.replace("\\", "")
    order = [plain.index(word) for word in ("recall_all", "FAIL", "ladder-in-the-shed")]
    assert order == sorted(order)
    assert "\x1b" not in out
    if form == "table":
        assert max(map(len, out.splitlines())) <= 80


def test_hostile_messages_of_a_store_do_nothing_to_the_terminal(
    app: Path, capsys: Captured
) -> None:
    main(["run", "--store", "my_stores:Failing"])
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err and "no route to the index" in out


def test_control_is_judged_first_and_tells_why(app: Path, capsys: Captured) -> None:
    assert main(["control", "--store", "my_stores:Words"]) == 0
    out, err = capsys.readouterr()
    for word in ("null", "random", "shuffled", "oracle", "WEAK", "next"):
        assert word in out
    assert max(map(len, out.splitlines())) <= 80
    assert not kept_runs(app) and not (app / "eval-results.json").exists()


def test_control_as_json_is_the_controls_frame(app: Path, capsys: Captured) -> None:
    assert main(["control", "--store", "my_stores:Words", "--format", "json"]) == 0
    rows = strict(capsys.readouterr().out)
    null = next(row for row in rows if row["store"] == "null")
    assert (null["rule"], null["metric"], null["value"], null["passed"]) == (
        "C1",
        "recall_all",
        0.0,
        True,
    )


def test_control_exits_1_where_the_store_is_no_better_than_luck(
    app: Path, capsys: Captured
) -> None:
    assert main(["control", "--store", "my_stores:Failing", "--format", "json"]) == 1


@pytest.mark.parametrize("verb", ["control", "run", "report"])
def test_an_invalid_suite_exits_4_and_shows_no_number(
    verb: str, app: Path, capsys: Captured
) -> None:
    no_positive_probe(app)
    argv = [verb, "--store", "my_stores:Words", "--probes", "negative.yaml"]
    assert main(argv) == 4
    out = capsys.readouterr().out
    assert "no positive probe" in out
    if verb != "control":
        assert main([*argv, "--format", "json"]) == 4
        assert "recall_at_5" not in strict(capsys.readouterr().out)


def test_without_probes_here_the_shipped_suite_is_asked_and_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--dry-run"]) == 0
    assert "the shipped suite" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_run_of_chosen_probes_leaves_the_results_file_of_the_suite_alone(
    app: Path, capsys: Captured
) -> None:
    assert main(["run", "--store", "my_stores:Words"]) == 0
    before = (app / "eval-results.json").read_bytes()
    assert main(["run", "--store", "my_stores:Words", "--name", "choir-*"]) == 0
    assert (app / "eval-results.json").read_bytes() == before
    assert "stays as it is" in capsys.readouterr().err
    named = ["--name", "choir-*", "--out", "part.json"]
    assert main(["run", "--store", "my_stores:Words", *named]) == 0
    assert list(json.loads((app / "part.json").read_text())["per_probe"]) == ["choir-practice-day"]


def test_a_damaged_file_among_the_kept_runs_is_passed_over_and_named(
    app: Path, capsys: Captured
) -> None:
    run_json(capsys, store="FailingOnce")
    (app / ".memeval" / "runs" / "zzz.json").write_text('{"x')
    assert main(["run", "--failed-last", "--format", "json", "--store", "my_stores:Words"]) == 0
    out, err = capsys.readouterr()
    assert list(json.loads(out)["per_probe"]) == ["ladder-in-the-shed"]
    assert "passed over" in err and "zzz.json" in err
