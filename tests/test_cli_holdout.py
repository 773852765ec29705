"""Held-out probes in the command line: left out unless told, and every look is counted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from memeval import load, load_run
from memeval.cli import main
from memeval.ledger import load_looks
from memeval.suite import Suite
from tests.suites import BACKGROUND, leakable, negative, positive

Captured = pytest.CaptureFixture[str]
LEDGER = "eval-holdout.jsonl"
N = 46
# A growing store knows no holdout: a report need not grow one to show a look.
UNGROWN = {"report": ["--sessions", "0"]}


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with 46 probes, of which 0.3 are held out by pyproject.toml."""
    probes = [*map(positive, range(28)), *map(negative, range(9)), *map(leakable, range(9))]
    suite = Suite(tuple(probes), BACKGROUND[:120], "test")
    told = suite.to_dict()
    for n, one in enumerate(told["probes"]):
        one["tags"] = ["even" if n % 2 == 0 else "odd"]
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "all.yaml").write_text(yaml.safe_dump(told, sort_keys=False))
    settings(tmp_path, "holdout = 0.3")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def settings(folder: Path, *lines: str) -> None:
    (folder / "pyproject.toml").write_text("\n".join(["[tool.memeval]", *lines, ""]))


def split(share: float = 0.3) -> tuple[list[str], list[str]]:
    dev, held = load("probes").holdout(share)
    return sorted(p.name for p in dev), sorted(p.name for p in held)


def asked(capsys: Captured, *argv: str, verb: str = "run") -> tuple[int, dict[str, Any], str]:
    capsys.readouterr()
    code = main([verb, "--no-diagnose", "--format", "json", *UNGROWN.get(verb, []), *argv])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else {}, err


def test_dev_probes_are_the_suite_and_that_is_said_once(app: Path, capsys: Captured) -> None:
    dev, held = split()
    code, payload, err = asked(capsys)
    assert code == 0 and sorted(payload["per_probe"]) == dev and payload["validity"] == "valid"
    said = f"holdout: {len(held)} of {N} probes are held out; --holdout asks them too"
    assert err.count("holdout") == 2 and said in err  # the second in the name of the option
    assert payload["manifest"]["chosen_of"] == 0 and "holdout" not in payload
    assert payload["manifest"]["holdout"] == {"asked": 0, "probes": held, "share": 0.3}
    assert (app / "eval-results.json").exists() and not (app / LEDGER).exists()


def test_a_look_asks_all_probes_and_is_counted_beside_the_results(
    app: Path, capsys: Captured
) -> None:
    _, held = split()
    code, payload, err = asked(capsys, "--holdout")
    assert code == 0 and payload["probes"] == N
    told = payload["holdout"]
    assert (told["n_probes"], told["n_looks"], told["share"]) == (len(held), 1, 0.3)
    assert told["word"] == "no difference seen" and told["low"] <= 0 <= told["high"]
    assert f"1 look at this holdout, 1 answer seen; counted in {LEDGER}" in err
    looks = load_looks(app / LEDGER)
    assert looks["n_probes"].tolist() == [len(held)]
    assert asked(capsys, "--holdout")[1]["holdout"]["n_looks"] == 2
    kept = sorted((app / ".memeval" / "runs").glob("*.json"))
    assert {len(load_run(path).suite) for path in kept} == {N}
    run = load_run(kept[-1])
    assert run.looks is not None and sorted(run.suite.looked_at) == held


def test_without_a_setting_all_are_asked_and_a_look_splits_off_a_fifth(
    app: Path, capsys: Captured
) -> None:
    settings(app)
    _, payload, err = asked(capsys)
    assert payload["probes"] == N and "holdout:" not in err
    assert payload["manifest"]["holdout"] == {"asked": 0, "probes": [], "share": 0.0}
    _, payload, _ = asked(capsys, "--holdout")
    assert payload["probes"] == N and payload["holdout"]["share"] == 0.2
    assert payload["holdout"]["n_probes"] == len(split(0.2)[1])


@pytest.mark.parametrize("verb", ["run", "report"])
def test_a_look_that_cannot_be_counted_is_refused_before_the_store_is_asked(
    verb: str, app: Path, capsys: Captured
) -> None:
    (app / LEDGER).write_text("<<<<<<< HEAD\n")
    code, payload, err = asked(capsys, "--holdout", verb=verb)
    assert code == 2 and not payload
    assert f"{LEDGER}:1: found no look" in err and "Traceback" not in err
    assert not (app / ".memeval").exists() and not (app / "eval-results.json").exists()
    assert asked(capsys, verb=verb)[0] == 0  # without a look the ledger does not matter


@pytest.mark.parametrize("verb", ["run", "report"])
def test_where_the_ledger_fails_after_the_run_no_number_is_shown(
    verb: str, app: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, payload, err = asked(capsys, "--holdout", verb=verb)
    assert code == 2 and not payload
    assert f"cannot add a line to {LEDGER} (No space left on device)" in err
    left = {path.name for path in app.iterdir()}
    assert left == {"probes", "pyproject.toml", LEDGER}


def test_of_held_out_probes_no_journal_is_kept(app: Path, capsys: Captured) -> None:
    code, _, err = asked(capsys, "--holdout", "--resume", verb="run")
    assert code == 2 and "of held-out probes there is none" in err
    assert not (app / ".memeval").exists()


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["out = 'kept/results.json'"], "kept/eval-holdout.jsonl"),
        (["ledger = 'kept/looks.jsonl'"], "kept/looks.jsonl"),
    ],
)
def test_the_ledger_stands_where_it_is_set_and_no_option_moves_it(
    lines: list[str], wanted: str, app: Path, capsys: Captured
) -> None:
    (app / "kept").mkdir()
    settings(app, "holdout = 0.3", *lines)
    assert asked(capsys, "--holdout", "--out", "once.json")[0] == 0
    assert len(load_looks(app / wanted)) == 1 and not (app / LEDGER).exists()


def test_a_dry_run_counts_what_would_be_asked_and_no_look(app: Path, capsys: Captured) -> None:
    dev, _ = split()
    assert main(["run", "--dry-run", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["probes"] == len(dev)
    assert main(["report", "--dry-run", "--format", "json", "--holdout"]) == 0
    assert json.loads(capsys.readouterr().out)["probes"] == N
    assert not (app / LEDGER).exists()


def test_a_choice_is_of_the_dev_probes_unless_told(app: Path, capsys: Captured) -> None:
    dev, held = split()
    even = {p.name for p in load("probes").select(tags=["even"])}
    _, payload, err = asked(capsys, "--tag", "even")
    assert set(payload["per_probe"]) == even & set(dev)
    assert f"chosen: {len(even & set(dev))} of {len(dev)} probes" in err
    assert payload["manifest"]["chosen_of"] == len(dev)
    _, payload, err = asked(capsys, "--tag", "even", "--holdout")
    assert set(payload["per_probe"]) == even and f"chosen: {len(even)} of {N} probes" in err
    assert load_looks(app / LEDGER)["n_probes"].tolist() == [len(even & set(held))]
    _, payload, _ = asked(capsys, "--name", dev[0], "--holdout")
    assert list(payload["per_probe"]) == [dev[0]] and "holdout" not in payload
    assert len(load_looks(app / LEDGER)) == 1  # no held-out probe was asked, so no look


def test_a_held_out_probe_by_its_name_is_told_to_be_held_out(app: Path, capsys: Captured) -> None:
    _, held = split()
    code, _, err = asked(capsys, "--name", held[0])
    assert code == 2 and f"{len(held)} of them held out (--holdout asks them too)" in err
    assert list(asked(capsys, "--name", held[0], "--holdout")[1]["per_probe"]) == [held[0]]


def test_what_failed_last_is_asked_among_the_dev_probes_unless_told(
    app: Path, capsys: Captured
) -> None:
    dev, held = split()
    assert asked(capsys, "--holdout", "--store", "null", "--floor", "recall_all=0.5")[0] == 1
    failing = {p.name for p in load("probes") if p.is_positive}
    assert set(asked(capsys, "--failed-last", "--holdout")[1]["per_probe"]) == failing
    asked(capsys, "--holdout", "--store", "null")
    assert set(asked(capsys, "--failed-last")[1]["per_probe"]) == failing & set(dev)


@pytest.mark.parametrize("form", ["table", "markdown"])
@pytest.mark.parametrize("verb", ["run", "report"])
def test_the_gap_and_the_looks_are_shown_and_only_with_a_look(
    verb: str, form: str, app: Path, capsys: Captured
) -> None:
    argv = [verb, "--no-diagnose", "--format", form, *UNGROWN.get(verb, [])]
    assert main(argv) == 0
    without = " ".join(capsys.readouterr().out.split())
    assert "dev minus held out" not in without and "look at this holdout" not in without
    assert main([*argv, "--holdout"]) == 0
    out = capsys.readouterr().out
    flat = " ".join(out.split())
    assert "dev minus held out" in flat and "1 look at this holdout, 1 answer seen" in flat
    assert "worn out" not in flat
    assert form == "markdown" or max(map(len, out.splitlines())) <= 80


def worn(app: Path) -> None:
    """Make the ledger tell of 24 other answers to the same probes."""
    line = json.loads((app / LEDGER).read_text().splitlines()[0])
    others = [json.dumps(line | {"look": n, "run_hash": f"other{n}"}) for n in range(2, 26)]
    with (app / LEDGER).open("a") as file:
        file.write("\n".join(others) + "\n")


def test_a_worn_out_holdout_is_warned_of_everywhere(app: Path, capsys: Captured) -> None:
    asked(capsys, "--holdout")
    worn(app)
    code, payload, err = asked(capsys, "--holdout", verb="report")
    assert code == 0 and payload["holdout"]["worn_out"] is True
    assert (payload["holdout"]["n_looks"], payload["holdout"]["n_answers"]) == (26, 25)
    assert "warning: the holdout is worn out" in err
    html = (app / "memeval-report.html").read_text()
    assert "the holdout is worn out" in html and "flatters by up to 1.97 standard" in html
    assert main(["report", "--holdout", "--no-diagnose", *UNGROWN["report"]]) == 0
    assert "the holdout is worn out" in " ".join(capsys.readouterr().out.split())


def test_a_saved_run_is_drawn_with_its_look_and_that_is_no_other_look(
    app: Path, capsys: Captured
) -> None:
    asked(capsys, "--holdout")
    (path,) = (app / ".memeval" / "runs").glob("*.json")
    assert main(["report", str(path), "--html", "drawn.html"]) == 0
    assert "dev minus held out" in " ".join(capsys.readouterr().out.split())
    assert "Held-out probes" in (app / "drawn.html").read_text()
    assert len(load_looks(app / LEDGER)) == 1
    asked(capsys, verb="report")
    assert "Held-out probes" not in (app / "memeval-report.html").read_text()


def test_a_dev_baseline_and_a_look_are_compared_where_both_asked(
    app: Path, capsys: Captured
) -> None:
    settings(app, "holdout = 0.45")  # less than 80 % are left: it is no other suite for that
    dev, held = split(0.45)
    assert len(dev) < 0.8 * N
    asked(capsys)
    assert main(["accept", "--reason", "first", "--quiet"]) == 0
    asked(capsys, "--holdout")
    capsys.readouterr()
    assert main(["compare", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "SAME" and told["changes"] == []
    lines = " ".join(told["comparability"]["lines"])
    assert f"held-out probes that were asked: 0 in the baseline, {len(held)} now" in lines
    assert f"compared over the {len(dev)} that both asked" in lines


def test_a_baseline_of_before_the_holdout_is_compared_with_dev_probes(
    app: Path, capsys: Captured
) -> None:
    settings(app)
    asked(capsys)
    assert main(["accept", "--reason", "first", "--quiet"]) == 0
    settings(app, "holdout = 0.45")
    asked(capsys)
    capsys.readouterr()
    assert main(["compare", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "SAME" and told["changes"] == []
    assert "share of the probes that is held out: 0" in " ".join(told["comparability"]["lines"])


def test_a_look_becomes_a_baseline_only_where_told(app: Path, capsys: Captured) -> None:
    _, held = split()
    asked(capsys, "--holdout")
    assert main(["accept", "--reason", "r"]) == 2
    err = capsys.readouterr().err
    assert f"{len(held)} of its {N} probes are held out" in err and "--holdout" in err
    assert not (app / "eval-results.baseline.json").exists()
    assert main(["accept", "--reason", "r", "--holdout"]) == 0
    assert len(json.loads((app / "eval-results.baseline.json").read_text())["per_probe"]) == N


def test_lint_sees_all_probes(app: Path, capsys: Captured) -> None:
    main(["lint"])
    out, err = capsys.readouterr()
    assert f"{N} probes" in out and "holdout" not in err


def test_of_an_invalid_suite_a_look_shows_no_number(app: Path, capsys: Captured) -> None:
    (app / "negatives.yaml").write_text(
        yaml.safe_dump([negative(n).to_dict() for n in range(30)], sort_keys=False)
    )
    argv = ["run", "--holdout", "--probes", "negatives.yaml"]
    assert main(argv) == 4
    assert "dev minus held out" not in " ".join(capsys.readouterr().out.split())
    assert load_looks(app / LEDGER)["recall_all"].isna().all()
    assert main([*argv, "--format", "json"]) == 4
    assert "gap" not in json.loads(capsys.readouterr().out)["holdout"]


def test_controls_of_held_out_probes_are_a_look(app: Path, capsys: Captured) -> None:
    assert main(["control"]) == 0 and not (app / LEDGER).exists()
    assert main(["control", "--holdout"]) == 0
    assert len(load_looks(app / LEDGER)) == 1
    (app / LEDGER).write_text("half")
    capsys.readouterr()
    assert main(["control", "--holdout"]) == 2
    out, err = capsys.readouterr()
    assert not out and f"{LEDGER}:1: found half a line" in err


def test_the_split_tells_what_is_held_out(app: Path, capsys: Captured) -> None:
    _, held = split()
    argv = ["report", "--no-diagnose", *UNGROWN["report"]]
    for more, words in (
        ([], f"{len(held)} not asked: --holdout asks them too"),
        (["--holdout"], f"{len(held)} all asked here, which is a look"),
    ):
        assert main([*argv, *more]) == 0
        assert f"held out {words}" in " ".join(capsys.readouterr().out.split())
    settings(app)
    assert main(argv) == 0
    assert "held out 0 none is kept for last" in " ".join(capsys.readouterr().out.split())
