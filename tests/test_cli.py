"""The command line as a whole: usage, help, exit codes, errors in words."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memeval.cli import guard, main
from memeval.cli.parser import VERBS
from memeval.errors import StoreError

APP = Path(__file__).parent / "cli_app"
ROOT = Path(__file__).parent.parent
MYMEMORY = """
import memeval as me

def open_store():
    store = me.SqliteStore()
    store.put(me.Record("m-1", "Soup at the kiosk by the station.", "ana"))
    return store
"""
REQUEST = '{"agentId": "ana", "cases": [{"query": "where is soup?", "expectedIds": ["m-1"]}]}'


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with five probes and a module of stores."""
    shutil.copytree(APP, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_stores", raising=False)
    return tmp_path


def python(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run a fresh Python that finds memeval and nothing else of this one."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", **env},
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("statement", ["import memeval.cli", "memeval.cli.main(['run', '--help'])"])
def test_parsing_and_help_import_nothing_heavy(statement: str, tmp_path: Path) -> None:
    code = (
        f"import sys, memeval.cli\n{statement}\n"
        "heavy = {'numpy', 'pandas', 'yaml', 'scipy', 'jinja2', 'matplotlib'}\n"
        "found = heavy & sys.modules.keys()\n"
        "sys.exit(f'imported {found}' if found else 0)"
    )
    done = python("-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("module", ["memeval", "memeval.cli"])
def test_both_modules_are_the_command_line(module: str, tmp_path: Path) -> None:
    done = python("-m", module, "--version", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.decode().startswith("memeval ")


def test_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("memeval ") and out.count("\n") == 1 and not err


def test_without_a_verb_the_help_is_shown_and_nothing_has_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert not out and all(verb in err for verb in VERBS)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["reprot"], "found no verb 'reprot'; write 'report'"),
        (["run", "--tga", "x"], "'--tga', which is no part of this command; write '--tag'"),
        (["run", "extra"], "'extra', which is no part of this command; leave it out"),
        (["run", "--repeats", "0"], "found '0', wanted a whole number from 1"),
        (["run", "--repeats", "1.5"], "found '1.5', wanted a whole number from 1"),
        (["run", "--seed", "-1"], "found '-1', wanted a whole number from 0"),
        (["run", "--timeout", "0"], "found '0', wanted seconds above 0"),
        (["run", "--settle", "nan"], "found 'nan', wanted seconds from 0"),
        (["run", "--floor", "recall_all"], "found 'recall_all', wanted METRIC=VALUE"),
        (["run", "--floor", "mrr=inf"], "found 'mrr=inf', wanted METRIC=VALUE"),
        (["run", "--format", "xml"], "invalid choice: 'xml'"),
        (["lint", "--store", "sqlite"], "'--store', which is no part of this command"),
    ],
)
def test_a_usage_error_says_what_was_found_and_wanted(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert not out
    assert said in err and err.startswith("usage: memeval")
    assert err.count("\n") <= 3


def test_abbreviated_options_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--repeat", "2"]) == 2
    assert "write '--repeats'" in capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_fits_80_columns(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([verb, "--help"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_the_example_that_ends_the_help_of_a_verb_runs(
    verb: str, app: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if verb in ("compare", "accept", "history", "runs"):  # these look at what others have left
        assert main(["run", "--quiet"]) == 0
        for command in ("init", "add eval-results.json", "commit -m one"):
            who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
            subprocess.run(["git", *who, *command.split()], check=True, capture_output=True)
        if verb == "compare":
            assert main(["accept", "--reason", "first", "--quiet"]) == 0
        capsys.readouterr()
    if verb == "evaluate":
        (app / "mymemory.py").write_text(MYMEMORY)
        (app / "request.json").write_text(REQUEST)
    if verb == "serve":
        pytest.skip("it ends with the keyboard alone: tests/test_server.py runs it")
    assert main([verb, "--help"]) == 0
    *_, head, example = capsys.readouterr().out.rstrip().splitlines()
    program, *argv = shlex.split(example)
    assert (head, program, argv[0]) == ("Example:", "memeval", verb)
    # Three of the four small positive probes hold words that the embedded store finds; lint
    # --strict fails on a suite of five probes, which is weak.
    assert main(argv) == (1 if "--strict" in argv else 0), capsys.readouterr().err
    assert capsys.readouterr().out


def test_verbs_of_later_versions_are_not_there() -> None:
    assert set(VERBS) == {
        "control", "run", "report", "mutate", "lint", "add", "schema", "env",
        "compare", "accept", "history", "runs", "simulate", "evaluate", "serve",
        "init", "convert", "notebook", "check-store",
    }  # fmt: skip


def test_a_bug_is_called_one_and_shows_its_traceback_only_when_asked(
    app: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> str:
        raise RuntimeError("colour\x1b[31m")

    monkeypatch.setattr("memeval.environment.tool_version", broken)
    assert main(["env"]) == 2
    err = capsys.readouterr().err
    assert "bug in memeval" in err and "RuntimeError: colour" in err and err.count("\n") == 1
    assert "\x1b" not in err
    assert main(["env", "--traceback"]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_interrupting_is_one_line_and_130(capsys: pytest.CaptureFixture[str]) -> None:
    def stopped() -> int:
        raise KeyboardInterrupt

    assert guard.guarded(stopped) == 130
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "notes.yaml"), "notes.yaml: Permission denied"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "invalid start byte"),
        (StoreError("store 'x': not there"), "memeval: store 'x': not there"),
        (BrokenPipeError(32, "Broken pipe"), "the reader of the output has gone away"),
    ],
)
def test_bad_input_is_one_message_and_no_traceback(
    error: Exception, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> int:
        raise error

    assert guard.guarded(fails) == 2
    err = capsys.readouterr().err
    assert said in err and "Traceback" not in err and err.count("\n") == 1


def test_the_working_folder_is_importable_only_while_a_verb_runs(app: Path) -> None:
    before = list(sys.path)
    assert main(["run", "--store", "my_stores:Words", "--quiet", "--format", "json"]) == 0
    assert sys.path == before


def test_a_closed_pipe_is_told_in_words(app: Path) -> None:
    script = (
        "import os, sys\n"
        "from memeval.cli import main\n"
        "read, write = os.pipe()\n"
        "os.close(read)\n"
        "os.dup2(write, 1)\n"
        "sys.exit(main(['env']))"
    )
    done = python("-c", script, cwd=app)
    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1, done.stderr.decode()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_console_takes_the_output(encoding: str, app: Path) -> None:
    probe = "- {name: 木箱—café, query: '\u202e🙂 …', given: [{id: a, text: '木'}], tags: ['✓']}\n"
    (app / "probes" / "wide.yaml").write_text(probe, encoding="utf-8")
    for argv in (["lint"], ["run", "--store", "my_stores:Words"], ["run", "--tag", "木"]):
        done = python("-m", "memeval", *argv, cwd=app, PYTHONIOENCODING=encoding, COLUMNS="80")
        said = done.stdout.decode(encoding) + done.stderr.decode(encoding)
        assert "UnicodeEncodeError" not in said and "Traceback" not in said
        assert "bug in memeval" not in said
        assert done.returncode in (0, 1, 2)


def test_files_are_read_and_written_as_utf8_whatever_the_host_prefers(app: Path) -> None:
    text = "- {name: quotes, query: “木箱” café, given: [{id: a, text: 木箱 café}], expect: [a]}\n"
    marked = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    (app / "probes" / "marked.yaml").write_bytes(marked)
    host = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    prefers = python(
        "-c", "import locale; print(locale.getpreferredencoding(False))", cwd=app, **host
    )
    assert prefers.stdout.decode().strip().lower() not in ("utf-8", "utf8")
    argv = ("-m", "memeval", "run", "--store", "my_stores:Words", "--name", "quotes",
            "--out", "eval-results.json")  # fmt: skip
    done = python(*argv, cwd=app, **host)
    assert done.returncode in (0, 1), done.stderr
    written = [app / "eval-results.json", *(app / ".memeval" / "runs").iterdir()]
    assert len(written) >= 2
    for path in written:
        data = path.read_bytes()
        assert data[:1] == b"{" and b"\r" not in data and json.loads(data.decode("utf-8"))


@pytest.mark.parametrize("error", ["SystemExit(0)", "BaseException('x')"])
def test_a_store_module_that_ends_the_program_is_no_good_run(
    error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ending.py").write_text(f"raise {error}\n")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--store", "ending:make"]) == 2
    assert "store 'ending:make': importing it failed" in capsys.readouterr().err


def test_what_ends_the_program_in_the_middle_of_a_command_is_no_good_run() -> None:
    def end() -> int:
        raise SystemExit(0)

    assert guard.guarded(end, quiet=True) == 2
