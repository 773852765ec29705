"""``memeval mutate``: which faults are put in, forms, exit codes, journal, skeletons."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memeval.cli import main
from memeval.errors import StoreError
from memeval.loading import load
from memeval.stores.saboteurs import SABOTEURS
from tests.mutants import INVALID, SKELETON, Made, made, perfect

APP = Path(__file__).parent / "cli_app"
JOURNAL = Path(".memeval/mutation.jsonl")
Captured = pytest.CaptureFixture[str]
Given = dict[str, Any]


@pytest.fixture(autouse=True)
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with five probes and a module of stores."""
    shutil.copytree(APP, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delitem(sys.modules, "my_stores", raising=False)
    return tmp_path


def stands_in(
    monkeypatch: pytest.MonkeyPatch,
    result: Made | BaseException,
    journal: str | None = "the head\none answer\n",
) -> Given:
    """Let `memeval.mutate` give this; what it was asked for stands in what comes back."""
    asked: Given = {}

    def mutate(probes: Any, make_store: Any, **options: Any) -> Made:
        asked.update(options, probes=probes, make_store=make_store)
        if journal is not None:
            options["journal"].write_text(journal)
        if isinstance(result, BaseException):
            raise result
        return result

    monkeypatch.setitem(sys.modules, "memeval.mutation", SimpleNamespace(mutate=mutate))
    return asked


def called(capsys: Captured, *argv: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["mutate", *argv])
    return code, *capsys.readouterr()


def test_the_list_names_every_saboteur_in_order_and_needs_no_store(capsys: Captured) -> None:
    code, out, err = called(capsys, "--list", "--store", "no_such:store", "--probes", "no/where")
    assert code == 0 and not err
    lines = out.splitlines()
    assert lines[0].split() == ["saboteur", "fault", "tag"]
    assert max(map(len, lines)) <= 80
    begins = [line.split()[0] for line in lines[2:] if line[0] != " "]
    assert begins == [kind.name for kind in SABOTEURS] and len(begins) == 43


def test_the_list_in_other_forms(capsys: Captured) -> None:
    told = json.loads(called(capsys, "--list", "--format", "json")[1])
    assert [row["saboteur"] for row in told] == [kind.name for kind in SABOTEURS]
    null = told[0]
    assert null["must_kill"] is True and null["touches"] == "answer" and null["tag"] == "direct"
    out = called(capsys, "--list", "--format", "markdown", "--saboteur", "null")[1]
    assert out.splitlines()[0] == "| saboteur | fault | tag |" and out.count("\n") == 3


@pytest.mark.parametrize("more", [(), ("--list",), ("--dry-run",)])
def test_an_unknown_saboteur_is_refused_with_the_nearest(
    more: tuple[str, ...], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = stands_in(monkeypatch, made())
    code, out, err = called(capsys, "--saboteur", "null", "--saboteur", "scope_blnd", *more)
    assert code == 2 and not out and not asked
    assert "found no saboteur 'scope_blnd'; write 'scope_blind'" in err


def test_what_was_asked_for_is_handed_on(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = stands_in(monkeypatch, perfect())
    argv = ("--saboteur", "random", "--saboteur", "null", "--jobs", "2", "--seed", "7",
            "--repeats", "3", "--timeout", "2", "--tag", "plain", "--opaque-ids")  # fmt: skip
    code, _, err = called(capsys, *argv)
    assert code == 0
    assert [kind.name for kind in asked["saboteurs"]] == ["null", "random"]  # their own order
    wanted = {"jobs": 2, "seed": 7, "repeats": 3, "timeout_s": 2.0, "opaque_ids": True,
              "resume": False, "journal": JOURNAL}  # fmt: skip
    assert {name: asked[name] for name in wanted} == wanted
    assert len(asked["probes"]) == 2
    assert "chosen: 2 saboteurs; the score is of what was chosen alone" in err


def test_without_a_name_all_are_put_in(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = stands_in(monkeypatch, perfect())
    assert called(capsys)[0] == 0
    assert tuple(asked["saboteurs"]) == SABOTEURS


def test_the_table_has_80_columns_and_begins_with_what_lives(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands_in(monkeypatch, made())
    code, out, _ = called(capsys)
    assert code == 4 and out.startswith("SURVIVORS: 2")
    assert SKELETON in out and "3 of 5 killed (score 0.600, depth 0.67)" in out
    assert max(map(len, out.splitlines())) <= 80


def test_json_is_strict_with_the_score_first(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands_in(monkeypatch, made(kill_depth=float("nan")))
    code, out, _ = called(capsys, "--format", "json")

    def refuse(number: str) -> None:
        raise ValueError(number)

    told = json.loads(out, parse_constant=refuse)
    assert code == 4 and next(iter(told.items())) == ("score", 0.6)
    assert told["kill_depth"] is None and told["exit_code"] == 4
    assert told["survivors"][1]["skeleton"] == SKELETON


def test_markdown(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    stands_in(monkeypatch, made())
    code, out, _ = called(capsys, "--format", "markdown")
    assert code == 4 and out.startswith("## Mutation: FAIL") and "```yaml" in out


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_an_invalid_suite_is_4_and_shows_no_score(
    form: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands_in(monkeypatch, made(verdict=INVALID))
    code, out, _ = called(capsys, "--format", form, "--skeletons", "new.yaml")
    assert code == 4 and "luck alone recalls" in out
    assert not [word for word in ("score", "0.6", "3 of 5", "scope_blind") if word in out]
    assert not Path("new.yaml").exists()


def test_skeletons_are_written_as_probes_that_load(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands_in(monkeypatch, made())
    code, out, err = called(capsys, "--skeletons", "new.yaml")
    assert code == 4 and "SURVIVORS" in out and "wrote new.yaml" in err
    assert [probe.name for probe in load("new.yaml")] == ["tea-of-the-neighbour"]


def test_skeletons_write_over_nothing_and_cost_nothing_then(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = stands_in(monkeypatch, made())
    Path("mine.yaml").write_text("mine")
    Path("empty.yaml").touch()
    Path("broken.yaml").symlink_to("nowhere.yaml")
    for there in ("mine.yaml", "empty.yaml", "broken.yaml", "probes", "no/folder.yaml"):
        code, out, err = called(capsys, "--skeletons", there)
        assert code == 2 and not out and not asked, there
        assert there.split("/")[0] in err
    assert Path("mine.yaml").read_text() == "mine"


def test_without_a_survivor_no_file_is_written(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands_in(monkeypatch, perfect())
    code, _, err = called(capsys, "--skeletons", "new.yaml")
    assert code == 0 and "new.yaml is not written: there is no survivor" in err
    assert not Path("new.yaml").exists()


def test_the_journal_goes_when_the_run_ended_well(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = stands_in(monkeypatch, made())
    called(capsys)
    assert asked["journal"] == JOURNAL and not JOURNAL.exists()
    assert Path(".memeval/.gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("error", "code"), [(StoreError("the index is gone"), 2), (KeyboardInterrupt(), 130)]
)
def test_the_journal_stays_when_it_stopped_and_resume_goes_on(
    error: BaseException, code: int, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands_in(monkeypatch, error)
    found, out, err = called(capsys)
    assert found == code and not out and JOURNAL.exists()
    assert "memeval mutate --resume" in err
    asked = stands_in(monkeypatch, perfect())
    assert called(capsys, "--resume")[0] == 0
    assert asked["resume"] is True and not JOURNAL.exists()


def test_a_journal_that_nothing_was_added_to_is_not_offered(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    JOURNAL.parent.mkdir()
    JOURNAL.write_text("of another suite\n")
    stands_in(monkeypatch, StoreError("the suite was another"), journal=None)
    code, _, err = called(capsys, "--resume")
    assert code == 2 and "the suite was another" in err and "goes on" not in err
    assert JOURNAL.read_text() == "of another suite\n"


def test_a_journal_of_which_only_the_head_was_written_goes_and_is_not_offered(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands_in(monkeypatch, StoreError("it cannot begin"), journal="the head\n")
    code, _, err = called(capsys)
    assert code == 2 and "it cannot begin" in err and "goes on" not in err
    assert not JOURNAL.exists()


def test_a_journal_that_is_not_asked_for_is_written_over_and_that_is_said(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = stands_in(monkeypatch, perfect())
    JOURNAL.parent.mkdir()
    JOURNAL.write_text("old\n")
    _, _, err = called(capsys)
    assert asked["resume"] is False and "is written over" in err


def test_resume_without_a_journal_begins_anew_and_says_so(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = stands_in(monkeypatch, perfect())
    code, _, err = called(capsys, "--resume")
    assert code == 0 and asked["resume"] is False and "found no .memeval/mutation.jsonl" in err


def test_a_dry_run_counts_and_asks_no_probe(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = stands_in(monkeypatch, made())
    argv = ("--store", "my_stores:Words", "--dry-run", "--format", "json")
    few = ("--saboteur", "null", "--saboteur", "slow_20ms", "--saboteur", "truncate_text")
    code, out, err = called(capsys, *argv, *few)
    told = json.loads(out)
    # Five probes, asked 3 times as they are; null is made of these answers; with each of the two
    # other faults, and as they are once more, 2 times.
    assert code == 0 and told["searches"] == 5 * 3 + 3 * 5 * 2
    assert told["writes"] % 4 == 0 and not asked and not JOURNAL.exists()
    assert "with 2 faults; the answers of 1 more" in err


def test_a_dry_run_of_a_store_that_promises_nothing_counts_five_repeats(capsys: Captured) -> None:
    Path("loose.py").write_text(
        "from my_stores import Words\nfrom memeval import Capabilities\n"
        "class Loose(Words):\n    capabilities = Capabilities()\n"
    )
    argv = ("--store", "loose:Loose", "--dry-run", "--format", "json", "--saboteur", "null")
    told = json.loads(called(capsys, *argv)[1])
    assert told["searches"] == 5 * 5 * 3


def test_what_is_written_for_a_survivor_kills_it(capsys: Captured) -> None:
    faults = ("--saboteur", "null", "--saboteur", "k_minus_1", "--saboteur", "scope_blind")
    code, out, _ = called(capsys, "--skeletons", "new.yaml", "--format", "json", *faults)
    told = json.loads(out)
    # No probe expects as many records as its k of 5, so nobody misses the last hit.
    assert [row["saboteur"] for row in told["survivors"]] == ["k_minus_1"]
    assert (code, told["n_killed"], told["n_counted"]) == (0, 2, 3)
    assert told["score"] == pytest.approx(2 / 3) and told["validity"] == "weak"
    assert [row["saboteur"] for row in told["saboteurs"]] == ["null", "k_minus_1", "scope_blind"]
    code, out, _ = called(capsys, "--probes", "probes", "new.yaml", *faults)
    assert code == 0 and out.startswith("SURVIVORS: none")
    assert "3 of 3 killed (score 1.000" in out and "weak suite: positive probes" in out


def test_a_fault_that_must_die_and_lives_is_4(capsys: Captured) -> None:
    code, out, _ = called(capsys, "--saboteur", "ignores_delete", "--quiet")
    assert code == 4 and "ignores_delete (MUST be killed)" in out and "VERDICT: FAIL" in out
    assert "- name: deleted-tent-is-gone" in out.splitlines()


def test_a_real_journal_is_gone_on_with(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    import memeval.mutation as engine

    real, held = engine.mutate, []

    def stops(*given: Any, progress: Any, **options: Any) -> Any:
        def once(done: int, total: int, label: str) -> None:
            held.append(label)
            raise KeyboardInterrupt

        return real(*given, progress=once, **options)

    faults = ("--saboteur", "null", "--saboteur", "random", "--format", "json")
    whole = json.loads(called(capsys, *faults)[1])
    monkeypatch.setattr(engine, "mutate", stops)
    assert called(capsys, *faults)[0] == 130 and held == ["null"] and JOURNAL.exists()
    monkeypatch.setattr(engine, "mutate", real)
    code, out, _ = called(capsys, "--resume", *faults)
    assert code == 0 and json.loads(out) == whole and not JOURNAL.exists()
