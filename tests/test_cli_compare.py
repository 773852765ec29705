"""``memeval compare``: exit codes, forms, and what it says without a baseline."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memeval.cli import main
from memeval.files.resultsfile import write_results
from memeval.runner import run
from memeval.stores.sqlite import SqliteStore
from tests.outcome_sides import agreeing
from tests.suites import suite

APP = Path(__file__).parent / "cli_app"
BASELINE = "eval-results.baseline.json"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = write_results(run(suite(40), SqliteStore), tmp_path_factory.mktemp("r") / "r.json")
    return path.read_text(encoding="utf-8")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, results: str) -> Path:
    """Working folder with results, and a baseline accepted of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("eval-results.json").write_text(results, encoding="utf-8")
    assert main(["accept", "--reason", "first", "--quiet"]) == 0
    return tmp_path


def edit(steady: bool = True, **entries: dict[str, Any]) -> None:
    """Change entries of the results file; steady or not on both sides."""
    for name in ("eval-results.json", BASELINE):
        payload = json.loads(Path(name).read_text())
        payload["manifest"]["verified_deterministic"] = steady
        if name == "eval-results.json":
            for probe, values in entries.items():
                payload["per_probe"][probe.replace("_", "-")] |= values
            agreeing(payload)
        Path(name).write_text(json.dumps(payload))


MISS = {"hit": False, "rank": None, "passes": "0/1", "ids": [], "recall_fraction": 0, "ndcg": 0}


def called(capsys: Captured, *argv: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["compare", *argv])
    return code, *capsys.readouterr()


def test_its_own_baseline_is_the_same(here: Path, capsys: Captured) -> None:
    code, out, err = called(capsys)
    assert code == 0 and "VERDICT: SAME" in out and not err
    assert max(map(len, out.splitlines())) <= 80
    assert called(capsys, BASELINE, "eval-results.json")[1] == out


def test_a_lost_probe_of_a_steady_store_fails_by_name(here: Path, capsys: Captured) -> None:
    edit(positive_07=MISS)
    code, out, _ = called(capsys)
    assert code == 1 and "VERDICT: FAIL" in out
    assert "lost     positive-07" in out and "memeval accept --reason" in " ".join(out.split())


def test_what_cannot_be_told_is_0_or_3(here: Path, capsys: Captured) -> None:
    edit(steady=False, positive_07=MISS, positive_08=MISS)
    code, out, _ = called(capsys)
    assert code == 0 and "VERDICT: CANNOT TELL" in out and "would decide" in out
    assert called(capsys, "--strict")[0] == 3
    code, out, _ = called(capsys, "--strict", "--format", "json")
    told = json.loads(out)
    assert (code, told["exit_code"], told["verdict"]) == (3, 3, "CANNOT TELL")
    assert told["needed"] > 45 and 0.1 < told["bound"] < 0.3
    assert called(capsys, "--strict", "--margin", "0.4")[0] == 0


def test_json_is_strict_and_whole(here: Path, capsys: Captured) -> None:
    edit(positive_07=MISS)
    code, out, _ = called(capsys, "--format", "json")

    def refuse(number: str) -> None:
        raise ValueError(number)

    told = json.loads(out, parse_constant=refuse)
    assert code == 1 and told["exit_code"] == 1
    rows = {row["metric"]: row for row in told["metrics"]}
    # 45 positive probes of suite(40): one of them lost.
    assert rows["recall_all"]["n"] == 45
    assert rows["recall_all"]["delta"] == pytest.approx(-1 / 45)
    assert told["changes"][0]["probe"] == "positive-07"
    assert told["comparability"]["quality"] == "comparable"


def test_markdown(here: Path, capsys: Captured) -> None:
    edit(positive_07=MISS)
    code, out, _ = called(capsys, "--format", "markdown")
    assert code == 1 and out.startswith("## Comparison: FAIL") and "| lost | positive-07 |" in out


def test_leaks_and_another_haystack(here: Path, capsys: Captured) -> None:
    edit(leakable_00={"leaked": ["b"]})
    code, out, _ = called(capsys)
    assert code == 1 and "1 leaked record" in out
    payload = json.loads(Path("eval-results.json").read_text())
    payload["manifest"]["haystack_hash"] = "another"
    Path("eval-results.json").write_text(json.dumps(payload))
    code, out, _ = called(capsys)
    assert code == 5 and "VERDICT: NOT COMPARABLE" in out and "recall_all" not in out
    assert "metrics" not in json.loads(called(capsys, "--format", "json")[1])
    assert called(capsys, "--anyway")[0] == 1


def test_an_invalid_suite_is_4_and_shows_no_number(here: Path, capsys: Captured) -> None:
    payload = json.loads(Path("eval-results.json").read_text())
    payload |= {"validity": "invalid", "judged": {"reasons": ["chance is too high"]}}
    Path("eval-results.json").write_text(json.dumps(payload))
    code, out, _ = called(capsys)
    assert code == 4 and "chance is too high" in out and "recall_all" not in out
    Path(BASELINE).unlink()
    assert called(capsys)[0] == 4


def test_without_a_baseline_it_is_2_with_the_line_to_type(here: Path, capsys: Captured) -> None:
    Path(BASELINE).unlink()
    code, out, err = called(capsys)
    assert code == 2 and not out
    assert 'memeval accept --reason "..."' in err and BASELINE in err
    shutil.copy("eval-results.json", "now here.json")
    code, _, err = called(capsys, "old.json", "now here.json")
    assert code == 2
    assert "memeval accept 'now here.json' --baseline old.json --reason \"...\"" in err


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_gates_decide_before_a_missing_baseline(form: str, here: Path, capsys: Captured) -> None:
    edit(leakable_00={"leaked": ["b"]})
    Path(BASELINE).unlink()
    code, out, err = called(capsys, "--format", form)
    assert code == 1 and "FAIL" in out and "1 leaked record" in out
    assert "memeval accept" in err


def test_the_line_to_type_works(here: Path, capsys: Captured) -> None:
    Path(BASELINE).unlink()
    assert called(capsys)[0] == 2
    assert main(["accept", "--reason", "..a"]) == 0
    assert called(capsys)[0] == 0


def test_no_results_and_no_outcomes_are_2(here: Path, capsys: Captured) -> None:
    Path("eval-results.json").unlink()
    code, _, err = called(capsys)
    assert code == 2 and "run 'memeval run'" in err
    Path("odd.json").write_text("[]")
    assert called(capsys, BASELINE, "odd.json")[0] == 2
    assert called(capsys, "odd.json", BASELINE)[0] == 2


def test_a_file_compared_with_itself_is_warned_of(here: Path, capsys: Captured) -> None:
    code, _, err = called(capsys, "eval-results.json")
    assert code == 0 and "compared with itself" in err


def test_the_rule_of_the_specification(here: Path, capsys: Captured) -> None:
    edit(steady=False, positive_07=MISS)
    code, out, _ = called(capsys, "--rule", "tolerance")
    assert code == 1 and "newly failing probes: positive-07" in out
    code, out, _ = called(capsys, "--rule", "tolerance", "--tolerance", "0.01")
    assert "recall_all: 1.000 -> 0.978, by more than 0.01" in " ".join(out.split())
    assert "smaller than one probe of 45" in " ".join(out.split())
    code, _, err = called(capsys, "--tolerance", "0.1")
    assert code == 2 and "--rule tolerance" in err


def test_so_many_looks_that_nothing_could_be_shown_are_2(here: Path, capsys: Captured) -> None:
    code, out, err = called(capsys, "--looks", "100000000")
    assert code == 2 and not out and "looks is 100000000, wanted" in " ".join(err.split())
    assert "bug in memeval" not in err


def test_looks_make_it_stricter_and_can_be_counted(here: Path, capsys: Captured) -> None:
    code, out, _ = called(capsys, "--looks", "3", "--format", "json")
    assert json.loads(out)["alpha"] == pytest.approx(0.05 / (4 * 5))
    subprocess.run(["git", "init", "--quiet"], check=True)
    code, out, _ = called(capsys, "--looks", "git", "--format", "json")
    assert code == 0 and json.loads(out)["alpha"] == pytest.approx(0.025)


@pytest.mark.parametrize(
    "argv",
    [
        ["--margin", "2"],
        ["--margin", "x"],
        ["--margin", "0"],
        ["--looks", "-1"],
        ["--rule", "sketch"],
    ],
)
def test_usage_errors_are_2(argv: list[str], here: Path, capsys: Captured) -> None:
    code, out, err = called(capsys, *argv)
    assert code == 2 and not out and "usage" in err


def test_run_accept_run_compare_in_a_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    shutil.copytree(APP, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_stores", raising=False)
    quiet = ["--no-diagnose", "--quiet"]
    main(["run", "--store", "my_stores:Words", *quiet])
    assert main(["accept", "--reason", "first"]) == 0
    assert called(capsys)[0] == 0
    main(["run", "--store", "my_stores:Leaky", *quiet])
    code, out, _ = called(capsys)
    assert code == 1 and "leaked record" in out
    runs = list((tmp_path / ".memeval" / "runs").glob("*.json"))
    first = str(min(runs, key=lambda path: path.stat().st_mtime_ns))
    assert called(capsys, BASELINE, first)[0] == 0


def test_a_gate_on_time_without_times_is_0_or_3_and_says_so(here: Path, capsys: Captured) -> None:
    code, out, _ = called(capsys, "--latency-gate")
    told = " ".join(out.split())
    assert code == 0 and "VERDICT: CANNOT TELL" in out and "cannot gate on time" in told
    assert "compare two run files" in told
    assert called(capsys, "--latency-gate", "--strict")[0] == 3
