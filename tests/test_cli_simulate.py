"""``memeval simulate``: forms, files, exit codes, going on, comparing, what it would take."""

from __future__ import annotations

import json
import shutil
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import memeval.simulate
from memeval.cli import growth_options, main
from memeval.simulation import load_simulation
from tests.cli_app.my_stores import Words

APP = Path(__file__).parent / "cli_app"
JOURNAL = Path(".memeval/simulation.jsonl")
KEPT = Path(".memeval/simulations")
WHOLE = ("--sessions", "8", "--cohorts", "2")
SMALL = (*WHOLE, "--no-controls")
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
        (("--holdout", "--no-controls"), "--holdout given beside --no-controls"),
        (("--holdout", "--max-calls", "9999"), "--holdout given beside --max-calls"),
        (("--png", "drift.foo"), "--png drift.foo: found .foo, wanted one of .png, .svg"),
        (("--png", "drift"), "--png drift: found no ending"),
        (("--png", "no/where.png"), "there is no folder"),
        (("--png", "probes"), "--png probes: found no ending"),
        (("--out", "probes"), "found a folder"),
        (("--out", "probes/core.yaml"), "found a file that is no simulation"),
        (("--out", "x.png", "--png", "./x.png"), "found that file named twice"),
        (("--sessions", "9999999"), "wanted a whole number from 1 to 1000000"),
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
    Path("s.json").write_text('{"format": "memeval simulation"}')  # an older one is written over
    first = called(capsys, *SMALL, "--out", "s.json")
    code, out, err = called(capsys, "s.json")
    assert (code, out) == first[:2] and not err
    code, _, err = called(capsys, "s.json", "--store", "sqlite", "--resume")
    assert code == 2 and "--resume, --store given beside s.json" in err
    assert called(capsys, "s.json", "--seed", "5", "--holdout")[0] == 2
    # The rows are those of the file, read with another bound where one is told.
    told = json.loads(called(capsys, "s.json", "--format", "json")[1])
    wider = json.loads(called(capsys, "s.json", "--format", "json", "--margin", "0.9")[1])
    assert "the margin is 0.1" in told["reason"] and wider["verdict"] == "PASS"


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
    assert "lost here:  no probe alone" in out and not KEPT.exists()
    code, out, _ = called(capsys, "two.json", "--compare", "one.json", "--format", "json")
    told = json.loads(out)["comparison"]
    assert told["against"] == "one.json" and told["n"] > 0 and "current minus" in told["reason"]
    assert told["lost_here_alone"] == told["lost_there_alone"] == []
    # Unless told where, the figure of both lands where git does not look.
    (drawn,) = KEPT.glob("*-compared.png")
    assert drawn.read_bytes().startswith(b"\x89PNG")
    out = called(capsys, "two.json", "--compare", "one.json", "--format", "markdown")[1]
    assert "## Compared" in out
    assert called(capsys, "two.json", "--compare", "one.json", "--strict")[0] == 3


def test_a_comparison_tells_the_searches_that_failed(capsys: Captured) -> None:
    assert called(capsys, *SMALL, "--out", "one.json")[0] == 0
    told = json.loads(Path("one.json").read_text())
    told["tables"]["drift_probes"]["status"][:2] = ["failed", "timeout"]
    Path("two.json").write_text(json.dumps(told))
    words = " ".join(called(capsys, "one.json", "--compare", "two.json")[1].split())
    assert "failed: 0 searches here, 2 there: each counts as a miss" in words
    out = called(capsys, "one.json", "--compare", "two.json", "--format", "json")[1]
    found = json.loads(out)["comparison"]
    assert (found["failed_here"], found["failed_there"]) == (0, 2)


def test_a_store_that_falls_faster_is_1(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
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
    code, out, err = called(capsys, *SMALL, "--seed", "8", "--compare", "one.json")
    assert code == 5 and not out and "seed is 8 here and 7 there" in err
    assert not KEPT.exists()  # it was not even grown


def test_a_figure_of_no_known_kind_is_2(capsys: Captured) -> None:
    called(capsys, *SMALL, "--out", "one.json")
    code, _, err = called(capsys, "one.json", "--png", "drift.xyz")
    assert code == 2 and "--png drift.xyz" in err


BAD = """
haystack: none
probes:
- name: lunch
  query: "Where do I have lunch?"
  given: [{id: r1, text: "Lunch is at the noodle bar."}]
  expect: [r1]
"""
SHOWN = ("SLOPES", "CHECKPOINTS", "per 1,000", "slope", "CANNOT TELL", "FLAT", "LOST")


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
@pytest.mark.parametrize("more", [(), ("--no-controls",), ("--max-calls", "9999")])
def test_of_an_invalid_suite_nothing_is_grown_and_no_number_shown(
    form: str, more: tuple[str, ...], capsys: Captured
) -> None:
    Path("bad.yaml").write_text(BAD)
    code, out, err = called(capsys, "--probes", "bad.yaml", "--format", form, *more)
    assert code == 4 and "INVALID" in out and "luck alone recalls" in out
    assert not any(words in out for words in SHOWN) and "nothing was grown" in err
    assert not KEPT.exists() and not JOURNAL.exists()
    assert ("CONTROLS" in out.upper()) == (form != "json" and not more)
    assert ("the controls are not run" in err) == (more[:1] == ("--max-calls",))
    if form == "json":
        assert json.loads(out)["exit_code"] == 4 and json.loads(out)["validity"] == "invalid"


def invalid(name: str) -> None:
    """A saved simulation, of which somebody found the suite invalid later."""
    told = json.loads(Path(name).read_text())
    told["validity"] |= {"status": "invalid", "reasons": ["all is luck"]}
    Path("bad.json").write_text(json.dumps(told))


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_a_saved_one_of_an_invalid_suite_shows_no_number_and_is_not_drawn(
    form: str, capsys: Captured
) -> None:
    called(capsys, *SMALL, "--out", "one.json")
    invalid("one.json")
    code, out, err = called(capsys, "bad.json", "--png", "x.png", "--format", form)
    assert code == 4 and "INVALID" in out and "all is luck" in out
    assert not any(words in out for words in SHOWN)
    assert not Path("x.png").exists() and "x.png is not drawn" in err
    for pair, side in ((("bad.json", "one.json"), "here"), (("one.json", "bad.json"), "there")):
        code, out, _ = called(capsys, pair[0], "--compare", pair[1], "--format", form)
        assert code == 4 and f"the suite is invalid {side}: all is luck" in " ".join(out.split())
        assert "current minus" not in out and not list(Path().rglob("*.png"))


def test_the_controls_come_first_and_are_those_of_memeval_control(capsys: Captured) -> None:
    asked: list[str] = []

    class Noting(Words):
        def search(self, query: str, **options: Any) -> Any:
            asked.append(query)
            return super().search(query, **options)

    sys.modules["noting"] = SimpleNamespace(Noting=Noting)  # type: ignore[assignment]
    try:
        called(capsys, *WHOLE, "--store", "noting:Noting", "--out", "s.json")
        n, with_controls = len(asked), load_simulation("s.json").validity
        called(capsys, *SMALL, "--store", "noting:Noting", "--out", "s.json")
        without = load_simulation("s.json").validity
    finally:
        del sys.modules["noting"]
    assert n > len(asked) - n  # the controls took searches of their own
    assert with_controls.status == without.status == "weak"
    assert any("closed forms" in note for note in without.notes)


def test_a_look_at_the_holdout_is_counted_once_before_anything_is_shown(capsys: Captured) -> None:
    Path("pyproject.toml").write_text("[tool.memeval]\nholdout = 0.5\n")
    code, out, err = called(capsys, *SMALL, "--out", "dev.json")
    assert code == 0 and "--holdout asks them too" in err
    ledger = Path("eval-holdout.jsonl")
    assert not ledger.exists()
    code, _, err = called(capsys, *WHOLE, "--holdout", "--out", "all.json")
    assert code == 0 and len(ledger.read_text().splitlines()) == 1
    assert "1 look at this holdout" in err
    n = [load_simulation(f"{name}.json").drift_probes["probe"].nunique() for name in ("dev", "all")]
    assert n[0] < n[1] == 5
    ledger.write_text("half")
    code, out, _ = called(capsys, *WHOLE, "--holdout")
    assert code == 2 and not out


def test_a_report_shows_a_saved_simulation_beside_a_saved_run(capsys: Captured) -> None:
    called(capsys, *SMALL, "--out", "s.json")
    assert main(["run", "--quiet"]) == 0
    (kept,) = Path(".memeval/runs").glob("*.json")
    capsys.readouterr()
    assert main(["report", str(kept), "--drift", "s.json"]) == 0
    assert "DRIFT: CANNOT TELL" in capsys.readouterr().out
    assert 'id="drift"' in Path("memeval-report.html").read_text()
    told = json.loads(Path("s.json").read_text())
    told["tables"]["drift_probes"]["n_contract"][0] = 1
    Path("s.json").write_text(json.dumps(told))
    assert main(["report", str(kept), "--drift", "s.json"]) == 1  # a gate, wherever it is seen
    invalid("s.json")
    capsys.readouterr()
    assert main(["report", str(kept), "--drift", "bad.json"]) == 4
    assert "SLOPES" not in capsys.readouterr().out
    page = Path("memeval-report.html").read_text()
    assert "all is luck" in page and 'class="slopes"' not in page
    Path("memeval-report.html").unlink()
    assert main(["report", "--drift", "no.json"]) == 2  # before anything is run
    assert not Path("memeval-report.html").exists()


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_a_dry_run_says_what_it_takes_and_keeps_nothing(form: str, capsys: Captured) -> None:
    code, out, err = called(capsys, *WHOLE, "--dry-run", "--format", form)
    assert code == 0 and "searches" in out and "dry run" in err
    assert not Path(".memeval").exists()
    if form == "json":
        told = json.loads(out)
        assert told["calls"] == told["writes"] + told["searches"] and told["sessions"] == 8
        bare = json.loads(called(capsys, *SMALL, "--dry-run", "--format", form)[1])
        assert bare["controls"] == 0 and told["controls"] > 0
        assert told["calls"] - bare["calls"] == told["controls"]


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


def test_on_resume_the_controls_are_not_run_again_and_no_look_is_counted(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("pyproject.toml").write_text("[tool.memeval]\nholdout = 0.5\n")
    with monkeypatch.context() as patched:
        stopping(patched, 60)
        code, out, _ = called(capsys, *WHOLE, "--holdout")
    assert code == 130 and "CHECKPOINTS" in out
    before = JOURNAL.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("memeval.controls.run_controls", lambda *a, **b: pytest.fail("run again"))
        code, _, err = called(capsys, *WHOLE, "--holdout", "--seed", "9", "--resume")
        assert code == 2 and "seed was 7, now it is 9" in err and JOURNAL.read_bytes() == before
        code, _, err = called(capsys, *WHOLE, "--holdout", "--store", "sqlite-plain", "--resume")
        assert code == 2 and "now it is" in err and JOURNAL.read_bytes() == before
        code, _, err = called(capsys, *WHOLE, "--holdout", "--resume", "--out", "on.json")
    assert code == 0 and "controls are not run again, and no further look is counted" in err
    assert len(Path("eval-holdout.jsonl").read_text().splitlines()) == 1
    assert called(capsys, *WHOLE, "--holdout", "--out", "whole.json")[0] == 0
    on, whole = (load_simulation(f"{name}.json") for name in ("on", "whole"))
    assert on.validity == whole.validity and on.validity.status != "unchecked"


def test_controls_that_were_left_out_before_are_run_on_resume(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        stopping(patched, 60)
        called(capsys, *SMALL)
    code, _, err = called(capsys, *WHOLE, "--resume", "--out", "on.json")
    assert code == 0 and "not run again" not in err
    assert not any("closed forms" in note for note in load_simulation("on.json").validity.notes)


@pytest.mark.parametrize("odd", [3, {"status": "fine", "more": 1}, {"status": 3}])
def test_a_journal_whose_judgement_is_damaged_is_refused(
    odd: Any, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        stopping(patched, 60)
        called(capsys, *SMALL)
    head, *rest = JOURNAL.read_text().splitlines(keepends=True)
    told = json.loads(head) | {"beside": {"validity": odd}}
    del told["sum"]  # that of the changed line, as if it had been written so
    told["sum"] = zlib.crc32(json.dumps(told, ensure_ascii=False).encode())
    JOURNAL.write_text("".join([json.dumps(told, ensure_ascii=False) + "\n", *rest]))
    code, out, err = called(capsys, *WHOLE, "--resume")
    assert code == 2 and not out and "what was judged of the suite cannot be read" in err


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
