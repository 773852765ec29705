"""``memeval evaluate``: request files of any kind, the answer in every form, exit codes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memeval.cli import main

MEMORY = """
import memeval as me

def open_store():
    store = me.SqliteStore()
    store.put(me.Record("m-1", "Soup at the kiosk by the station.", "ana"))
    store.put(me.Record("m-2", "The safe opens with the soup spoon.", "ana"))
    return store
"""
GOOD = {"query": "where is the kiosk?", "expectedIds": ["m-1"], "forbiddenIds": ["m-9"]}
LEAK = {"query": "soup", "expectedIds": ["m-1"], "forbiddenIds": ["m-2"]}
HOSTILE = {"query": "\x1b[31m<script>| zebra\u202e", "expectedIds": ["m-\x1b]0;1"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "evaluated_memory.py").write_text(MEMORY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def evaluate(folder: Path, *cases: dict[str, Any], options: tuple[str, ...] = ()) -> int:
    body = {"agentId": "ana", "cases": list(cases), "datasetVersion": "v1"}
    (folder / "request.json").write_text(json.dumps(body))
    store = ("--store", "evaluated_memory:open_store")
    return main(["evaluate", "request.json", *store, *options])


def test_the_answer_in_80_columns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(folder, GOOD, LEAK, HOSTILE) == 1
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "FAILED: a forbidden memory came back in 1 of 3 cases" in out
    assert "recallAtK                0.667" in out
    assert "forbidden, and came back: m-2 at rank" in " ".join(out.split())
    assert "\x1b" not in out and "\u202e" not in out and "␛[31m" in out


def test_what_passes_exits_with_0(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(folder, GOOD) == 0
    assert "PASSED" in capsys.readouterr().out
    assert evaluate(folder, {"query": "kiosk", "expectedIds": ["m-1"]}) == 0
    assert "leaks are not measured" in " ".join(capsys.readouterr().out.split())


def test_json_and_the_file_hold_the_answer(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(folder, GOOD, options=("--format", "json", "--out", "answer.json")) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((folder / "answer.json").read_text())
    assert printed["perCase"][0]["returned"][0]["id"] == "m-1"


def test_markdown_escapes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(folder, LEAK, HOSTILE, options=("--format", "markdown")) == 1
    out = capsys.readouterr().out
    assert out.startswith("| metric | value |")
    assert "<script>" not in out and "**FAILED" in out


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b"{", ""),
        (b"\xff\xfe", ""),
        (b"[" * 100_000, ""),
        (b"[]", ""),
        (b'{"agentId": "ana", "agentId": "bo", "cases": []}', ""),
        (b'{"k": NaN}', ""),
        (b'{"agentId": "ana", "cases": [{"query": ""}]}', "cases[0].query"),
    ],
)
def test_a_bad_request_is_2_and_an_error_object(
    content: bytes, field: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.json").write_bytes(content)
    argv = ["evaluate", "bad.json", "--store", "no.such:module", "--format", "json"]
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out)["error"]["field"] == field
    assert captured.err.startswith("memeval: ") and "Traceback" not in captured.err


def test_a_store_is_not_closed_while_its_search_goes_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "hanging_memory.py").write_text(
        "import threading\n"
        "import memeval as me\n"
        "lock = threading.Lock()\n"
        "class Hanging:\n"
        "    capabilities = me.Capabilities(traceless=True)\n"
        "    def put(self, record): ...\n"
        "    def search(self, query, *, k, scope):\n"
        "        with lock:\n"
        "            threading.Event().wait()\n"
        "    def close(self):\n"
        "        with lock: ...\n"
    )
    (folder / "request.json").write_text(json.dumps({"agentId": "ana", "cases": [GOOD]}))
    argv = ["evaluate", "request.json", "--store", "hanging_memory:Hanging", "--timeout", "0.3"]
    assert main(argv) == 1
    assert "the search failed in 1 of 1 cases" in capsys.readouterr().out


def test_the_request_may_come_from_standard_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = json.dumps({"agentId": "ana", "cases": [GOOD]}).encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(sent)))
    assert main(["evaluate", "-", "--store", "evaluated_memory:open_store"]) == 0
    assert "PASSED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["request.json"], "no store is named"),
        (["request.json", "--store", "sqlite"], "store 'sqlite' is empty"),
        (["request.json", "--store", "evaluated_memory:none"], "evaluated_memory"),
        (["nowhere.json", "--store", "sqlite"], "nowhere.json: No such file"),
        (["request.json", "--out", "none/x.json"], "there is no folder"),
    ],
)
def test_what_cannot_be_asked_is_told(
    options: list[str], words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "request.json").write_text(json.dumps({"agentId": "ana", "cases": [GOOD]}))
    assert main(["evaluate", *options]) == 2
    captured = capsys.readouterr()
    assert words in captured.err and not captured.out
