"""``memeval add``: options, questions, candidates; nothing enters without a yes."""

from __future__ import annotations

import argparse
import builtins
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.cli import main, prompts
from memeval.cli.add import record, record_json
from memeval.loading import load

ROOT = Path(__file__).parent.parent
Captured = pytest.CaptureFixture[str]
Answers = Callable[..., list[str]]
OPTIONS = ["--name", "lunch", "--query", "Lunch?", "--record", "r1=Noodle bar.", "--expect", "r1"]
FILE = Path("probes") / "core.yaml"
CHAT = [
    {"role": "user", "content": "My locker at the pool is number 41."},
    {"role": "user", "content": "The red bicycle is in the cellar."},
    {"role": "user", "content": "Which number is my locker?"},
    {"role": "user", "content": "Where is the red bicycle?"},
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """Someone at the terminal who says these things in turn, and then leaves."""

    def sit_down(*said: str | BaseException) -> list[str]:
        left, asked = list(said), []

        def give(prompt: str = "") -> str:
            asked.append(prompt)
            if not left:
                raise EOFError
            answer = left.pop(0)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        monkeypatch.setattr(prompts, "at_terminal", lambda: True)
        monkeypatch.setattr(builtins, "input", give)
        return asked

    return sit_down


def test_options_alone_are_the_yes_where_there_is_no_terminal(capsys: Captured) -> None:
    assert main(["add", *OPTIONS, "--tag", "plain", "--why", "It failed.", "--k", "3"]) == 0
    out, err = capsys.readouterr()
    assert out == FILE.read_text() and f"added to {FILE}" in err
    assert "not the shipped ones" in err
    (probe,) = load(FILE)
    assert (probe.k, probe.tags, probe.why) == (3, ("plain",), "It failed.")


def test_records_come_in_the_order_of_the_options_whichever_their_form(capsys: Captured) -> None:
    more = ["--record-json", '{"id": "r2", "text": "Soup.", "supersedes": ["r1"]}',
            "--record", "r3=x", "--record-json", '{"delete": "r3"}']  # fmt: skip
    assert main(["add", *OPTIONS[:-1], "r2", "--forbid", "r1", "r3", *more]) == 0
    (probe,) = load(FILE)
    assert [r.id for r in probe.records] == ["r1", "r2", "r3"]
    assert probe.superseded == {"r1"} and probe.deleted == {"r3"}
    assert probe.forbid == ("r1", "r3")


@pytest.mark.parametrize(
    ("left_out", "said"),
    [
        ("--name", "--name NAME"),
        ("--query", "--query TEXT"),
        ("--record", "--record ID=TEXT"),
        ("--expect", "--expect ID, or --negative where nothing is right"),
    ],
)
def test_without_a_terminal_what_is_missing_is_named(
    left_out: str, said: str, capsys: Captured
) -> None:
    place = OPTIONS.index(left_out)
    assert main(["add", *OPTIONS[:place], *OPTIONS[place + 2 :]]) == 2
    out, err = capsys.readouterr()
    assert said in err and err.count("--") == 1 + ("or --negative" in err) and not out
    assert not FILE.parent.exists()


def test_a_negative_probe_has_to_be_asked_for(capsys: Captured) -> None:
    assert main(["add", *OPTIONS[:-2], "--negative"]) == 0
    assert load(FILE)[0].is_negative
    assert main(["add", *OPTIONS, "--negative"]) == 2
    assert "not allowed with argument" in capsys.readouterr().err


def test_what_the_loader_refuses_is_not_written(capsys: Captured) -> None:
    assert main(["add", *OPTIONS]) == 0
    before = FILE.read_bytes()
    assert main(["add", *OPTIONS]) == 2
    assert "duplicate probe names: 'lunch'" in capsys.readouterr().err
    assert main(["add", *OPTIONS[2:-1], "r9", "--name", "other"]) == 2
    assert "no record has the id 'r9'" in capsys.readouterr().err
    assert FILE.read_bytes() == before


def test_a_dry_run_prints_the_probe_and_writes_nothing(capsys: Captured) -> None:
    assert main(["add", *OPTIONS, "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("- name: lunch\n") and "--dry-run" in err
    assert not FILE.parent.exists()


def test_the_file_is_the_option_else_the_setting_else_the_default(home: Path) -> None:
    (home / "mine").mkdir()
    assert main(["add", *OPTIONS, "--probes", "mine"]) == 0
    assert (home / "mine" / "core.yaml").exists()
    assert main(["add", *OPTIONS, "--probes", "mine/new.yaml"]) == 2  # the name is taken there
    (home / "pyproject.toml").write_text("[tool.memeval]\nprobes = 'kept'\n")
    (home / "kept").mkdir()
    assert main(["add", *OPTIONS]) == 0
    assert (home / "kept" / "core.yaml").exists() and not FILE.exists()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--record", "r1"], "found 'r1', wanted ID=TEXT"),
        (["--record", "=x"], "wanted ID=TEXT"),
        (["--record-json", "{"], "which is no JSON"),
        (["--record-json", "[" * 99_999], "which is no JSON"),
        (["--record-json", "[]"], 'wanted {"id": "r1", "text": "..."}'),
        (["--k", "0"], "wanted a whole number from 1"),
        (["--from", "x.json", "--name", "a"], "found --from together with name"),
    ],
)
def test_options_that_cannot_be_used_are_told(
    option: list[str], said: str, capsys: Captured
) -> None:
    assert main(["add", *option]) == 2
    assert said in capsys.readouterr().err


def test_parsers_of_records() -> None:
    assert record("a = b=c") == {"id": "a", "text": " b=c"}
    with pytest.raises(argparse.ArgumentTypeError):
        record_json("null")


def test_on_a_terminal_what_is_missing_is_asked_and_the_probe_is_shown_before_the_yes(
    answers: Answers, capsys: Captured
) -> None:
    answers("Where is lunch?", "", "ana", "At the noodle bar.", "At the soup kitchen.", "",
            "r2", "r1", "plain moved", "It came back wrong.", "y")  # fmt: skip
    assert main(["add"]) == 0
    out, err = capsys.readouterr()
    (probe,) = load(FILE)
    assert (probe.name, probe.scope, probe.expect) == ("where-is-lunch", "ana", ("r2",))
    assert (probe.forbid, probe.tags, probe.why) == (
        ("r1",), ("plain", "moved"), "It came back wrong.")  # fmt: skip
    assert out == FILE.read_text()
    asked = [line.split("[")[0] for line in err.split(": ")]
    assert asked[0] == "what is asked" and "write it?" in err


@pytest.mark.parametrize("answer", ["", "n", "yeah", "N"])
def test_anything_but_yes_is_no(answers: Answers, answer: str, capsys: Captured) -> None:
    asked = answers(answer)
    assert main(["add", *OPTIONS]) == 0
    out, err = capsys.readouterr()
    assert len(asked) == 1  # everything else was said by options
    assert "- name: lunch" in out and "nothing was written" in err
    assert not FILE.parent.exists()


@pytest.mark.parametrize(("stop", "code"), [(EOFError(), 2), (KeyboardInterrupt(), 130)])
@pytest.mark.parametrize("given", [0, 1, 4, 8])
def test_leaving_at_any_question_writes_nothing(
    answers: Answers, stop: BaseException, code: int, given: int, capsys: Captured
) -> None:
    answers(*["Where?", "w", "", "Here.", "", "r1", "", "", ""][:given], stop)
    assert main(["add"]) == code
    assert not FILE.parent.exists()
    assert "Traceback" not in capsys.readouterr().err


def test_an_answer_that_cannot_be_used_is_asked_for_again(
    answers: Answers, capsys: Captured
) -> None:
    assert main(["add", *OPTIONS]) == 0
    answers("", "Where?", "lunch", "", "Here.", "", "r7", "r1", "", "", "", "other", "y")
    assert main(["add"]) == 0
    err = capsys.readouterr().err
    assert "found nothing, wanted a few words" in err
    assert "no record is called 'r7'; there are r1" in err
    assert "duplicate probe names: 'lunch'" in err
    assert [probe.name for probe in load(FILE)] == ["lunch", "other"]


def test_a_file_at_fault_is_told_and_not_asked_about(answers: Answers, capsys: Captured) -> None:
    FILE.parent.mkdir()
    FILE.write_text("- name: lunch\n  query: q\n  k: 0\n")
    asked = answers("y")
    assert main(["add", *OPTIONS]) == 2
    assert "has faults already" in capsys.readouterr().err and not asked


def chat(home: Path) -> str:
    (home / "chat.json").write_text(json.dumps(CHAT))
    return "chat.json"


def test_without_a_terminal_candidates_are_listed_and_nothing_is_written(
    home: Path, capsys: Captured
) -> None:
    before = sorted(os.listdir(home)) + ["chat.json"]
    assert main(["add", "--from", chat(home)]) == 0
    out, err = capsys.readouterr()
    assert "1. Which number is my locker?" in out and "> My locker at the pool" in out
    assert "read as chat log, 4 turns; 2 candidates, none of them decided" in err
    assert main(["add", "--from", "chat.json", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [row["query"] for row in listed] == [CHAT[2]["content"], CHAT[3]["content"]]
    assert main(["add", "--from", "chat.json", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.count("\n| ") == 3
    assert sorted(os.listdir(home)) == before


def test_hostile_candidates_do_nothing_on_a_terminal_or_in_markdown(
    home: Path, capsys: Captured
) -> None:
    talk = [{"role": "user", "content": "My <b>locker</b> | \x1b[31m is \u202e number 41."},
            {"role": "user", "content": "Which \x1b[31m number <i>is</i> my locker?"}]  # fmt: skip
    (home / "odd.json").write_text(json.dumps(talk))
    for form in ("table", "markdown"):
        assert main(["add", "--from", "odd.json", "--format", form]) == 0
        out = capsys.readouterr().out
        assert "\x1b" not in out and "\u202e" not in out
        assert form == "table" or ("<b>" not in out and "<i>" not in out)


def test_candidates_are_walked_one_by_one(home: Path, answers: Answers, capsys: Captured) -> None:
    answers("s", "a", "", "r1", "", "y")
    assert main(["add", "--from", chat(home)]) == 0
    (probe,) = load(FILE)
    assert probe.query == CHAT[3]["content"] and probe.expect == ("r1",)
    assert probe.records[0].text == CHAT[1]["content"]
    assert probe.why == "chat.json: entry 4."
    assert "1 of 2 candidates were added" in capsys.readouterr().err


def test_an_edited_candidate_is_as_the_person_wants_it(
    home: Path, answers: Answers, capsys: Captured
) -> None:
    answers("x", "e", "My locker number?", "ana", "Locker: 41.", "Locker: 12.", "", "From a chat.",
            "locker", "r1", "r2", "y", "q")  # fmt: skip
    assert main(["add", "--from", chat(home)]) == 0
    (probe,) = load(FILE)
    assert (probe.name, probe.query, probe.scope) == ("locker", "My locker number?", "ana")
    assert [r.text for r in probe.records] == ["Locker: 41.", "Locker: 12."]
    assert "found 'x', wanted one of a, e, s, q" in capsys.readouterr().err


def test_leaving_the_walk_keeps_what_was_confirmed_and_nothing_else(
    home: Path, answers: Answers, capsys: Captured
) -> None:
    answers("a", "one", "r1", "", "y", "a", "two", "r1", "")
    assert main(["add", "--from", chat(home)]) == 2
    assert [probe.name for probe in load(FILE)] == ["one"]
    assert "what was not confirmed was not written" in capsys.readouterr().err
    answers("a", "one", "r1", "", "three", "n", KeyboardInterrupt())
    assert main(["add", "--from", "chat.json"]) == 130
    assert [probe.name for probe in load(FILE)] == ["one"]


def test_a_file_of_no_known_form_is_told(home: Path, capsys: Captured) -> None:
    (home / "x.json").write_text('{"a": 1}')
    assert main(["add", "--from", "x.json"]) == 2
    err = capsys.readouterr().err
    assert "found an entry with 'a'" in err and "chat_messages" in err


def talk_to(argv: list[str], answers: list[bytes], cwd: Path) -> tuple[int, str]:
    """Run a command on a real terminal; each answer is typed when the program has asked."""
    leader, follower = pty.openpty()
    env = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "TERM": "dumb"}
    program = subprocess.Popen(
        [sys.executable, "-m", "memeval", *argv],
        cwd=cwd, env=env, stdin=follower, stdout=follower, stderr=follower,
        start_new_session=True, close_fds=True,
    )  # fmt: skip
    os.close(follower)
    seen, left, end = b"", list(answers), time.monotonic() + 60
    since = 0
    while time.monotonic() < end:
        if select.select([leader], [], [], 0.1)[0]:
            try:
                part = os.read(leader, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            seen += part
        elif left and seen[since:].endswith(b": "):
            os.write(leader, left.pop(0))
            since = len(seen)
        elif program.poll() is not None:
            break
    os.close(leader)
    try:
        return program.wait(30), seen.decode()
    finally:
        program.kill()


def test_a_real_terminal_asks_and_writes(home: Path) -> None:
    said = [b"Where is lunch?\n", b"\n", b"\n", "At the café \x08bar.\n".encode(), b"\n", b"r1\n",
            b"\n", b"\n", b"\n", b"y\n"]  # fmt: skip
    code, seen = talk_to(["add"], said, home)
    assert code == 0, seen
    assert "write it? [y/N]: " in seen and "added to" in seen
    (probe,) = load(home / FILE)
    assert probe.name == "where-is-lunch" and "café" in probe.records[0].text


def test_end_of_file_on_a_real_terminal_writes_nothing(home: Path) -> None:
    code, seen = talk_to(["add"], [b"Where is lunch?\n", b"\x04"], home)
    assert code == 2, seen
    assert "the input ended" in seen and not (home / "probes").exists()
