"""``memeval check-store``: exit codes, the file that is kept, and who reads it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from memeval.cli import choosing, main
from memeval.text import display_width, visible

APP = Path(__file__).parent / "cli_app"
KEPT = Path(".memeval/stores")
MORE = '''

class Undeclared:
    """Declares nothing, and keeps no scopes apart."""

    def __init__(self):
        self.kept = {}

    def put(self, record):
        self.kept[record.id] = record

    def search(self, query, *, k, scope):
        asked = set(query.lower().rstrip("?").split())
        shared = {r.id: len(asked & set(r.text.lower().rstrip(".").split()))
                  for r in self.kept.values()}
        best = sorted(self.kept.values(), key=lambda r: -shared[r.id])
        return [Hit(r.id, r.text) for r in best if shared[r.id]][:k]


class Hostile(Undeclared):
    def search(self, query, *, k, scope):
        if "'" in query:
            raise ValueError("no quotes \\x1b[31m | \\u202e <b>" + "x" * 200)
        return super().search(query, k=k, scope=scope)
'''


@pytest.fixture(autouse=True)
def app(tmp_path, monkeypatch):
    """Working folder with five probes and a module of stores."""
    shutil.copytree(APP, tmp_path, dirs_exist_ok=True)
    with (tmp_path / "my_stores.py").open("a") as file:
        file.write(MORE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delitem(sys.modules, "my_stores", raising=False)
    return tmp_path


def called(capsys, *argv):
    capsys.readouterr()
    code = main([*argv])
    return code, *capsys.readouterr()


def test_what_was_found_is_kept_under_the_name_of_the_store(capsys):
    code, out, err = called(capsys, "check-store", "--store", "vector")
    path = KEPT / "vector.json"
    assert code == 0 and "Check of vector: PASS" in out and f"wrote {path.as_posix()}" in err
    assert json.loads(path.read_text())["store"] == "vector"
    assert Path(".memeval/.gitignore").read_text() == "*\n"
    assert called(capsys, "check-store", "--store", "sqlite", "--no-keep")[0] == 0
    assert [one.name for one in KEPT.iterdir()] == ["vector.json"]


def test_names_that_are_no_file_names_are_told_apart():
    names = ["a:b", "a_b", "a/b", "../../x", "A:b", "ä", "", "x" * 300, ".."]
    files = {choosing.check_file(name) for name in names}
    assert len(files) == len(names)
    assert all(one.parent == KEPT and len(one.name) < 100 for one in files)


def test_what_cannot_be_written_to_and_searched_is_2(capsys):
    code, out, err = called(capsys, "check-store", "--store", "my_stores:Hole", "--settle", "0")
    assert (code, out) == (2, "") and "record written, not found" in err
    assert called(capsys, "check-store", "--store", "my_stores:Filled")[0] == 2
    assert called(capsys, "check-store", "--store", "null")[0] == 2
    assert not KEPT.exists()


def test_what_is_other_than_declared_is_1(capsys):
    code, out, _ = called(capsys, "check-store", "--store", "my_stores:Leaky")
    assert code == 1 and "BROKEN ignored" in out


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_hostile_words_of_a_store_are_safe_and_nothing_is_cut(form, capsys):
    argv = ("check-store", "--store", "my_stores:Hostile", "--format", form)
    code, out, _ = called(capsys, *argv)
    assert code in (0, 1) and "\x1b" not in out
    assert "\u202e" not in out or form == "json"
    if form == "table":
        assert all(display_width(line) <= 80 and line == visible(line) for line in out.splitlines())
    if form == "json":
        assert json.loads(out)["format"] == "memeval store check"
    assert "<b>" not in out or form != "markdown"


@pytest.mark.parametrize("verb", ["run", "control"])
def test_a_run_uses_what_was_found_where_the_store_declares_nothing(verb, capsys):
    name = "my_stores:Undeclared"
    told = ("--store", name, "--format", "json")
    _, before, err = called(capsys, verb, *told)
    assert "store check" not in err
    assert called(capsys, "check-store", "--store", name)[0] == 0
    _, after, err = called(capsys, verb, *told)
    assert "store check: PASS, 0 questions broken" in err and "kept in .memeval/stores" in err
    assert before != after
    _, without, err = called(capsys, verb, *told, "--no-store-check")
    assert "store check" not in err
    if verb == "run":
        caps = [json.loads(one)["manifest"]["capabilities"] for one in (before, after, without)]
        assert [one["scoping"] for one in caps] == ["native", "none", "native"]
        options = json.loads(after)["manifest"]["options"]
        assert options["store_check"]["scopes"] == "ignored"


@pytest.mark.parametrize(
    "argv",
    [
        ("mutate", "--saboteur", "null"),
        ("simulate", "--sessions", "4", "--every", "4", "--cohorts", "1"),
        ("report", "--sessions", "0"),
    ],
)
def test_the_other_verbs_use_it_too(argv, capsys):
    name = "my_stores:Undeclared"
    called(capsys, "check-store", "--store", name)
    _, _, err = called(capsys, *argv, "--store", name)
    assert "store check: PASS" in err, err


def test_a_contradiction_is_said_and_the_declaration_stays(capsys):
    called(capsys, "check-store", "--store", "my_stores:Leaky")
    _, out, err = called(capsys, "run", "--store", "my_stores:Leaky", "--format", "json")
    assert "store check: scopes: ignored, as against what is declared" in err
    assert json.loads(out)["manifest"]["capabilities"]["scoping"] == "native"


def test_a_file_that_cannot_be_read_is_passed_over(capsys):
    called(capsys, "check-store", "--store", "my_stores:Words")
    choosing.check_file("my_stores:Words").write_text("{")
    _, out, err = called(capsys, "run", "--store", "my_stores:Words", "--format", "json")
    assert "passed over: .memeval/stores/my_stores_Words" in err and json.loads(out)
