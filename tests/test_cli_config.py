"""Settings in pyproject.toml: option over setting over default, and strict."""

from __future__ import annotations

from pathlib import Path

import pytest

from memeval.cli import main
from memeval.config import Config, load_config
from memeval.errors import MemevalError


def written(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_setting_is_read(tmp_path: Path) -> None:
    text = """
[tool.memeval]
store = "my_app:make"
probes = ["probes", "more.yaml"]
seed = 7
out = "results.json"
html = "page.html"
holdout = 0.25
ledger = "looks.jsonl"
floors = {recall_all = 0.8}
[tool.memeval.targets]
mrr = 1
"""
    assert load_config(written(tmp_path, text)) == Config(
        "my_app:make",
        ("probes", "more.yaml"),
        7,
        {"recall_all": 0.8},
        {"mrr": 1},
        "results.json",
        "page.html",
        0.25,
        "looks.jsonl",
    )


@pytest.mark.parametrize("text", ["", "[tool.ruff]\nfix = true\n", "[project]\nname = 'x'\n"])
def test_a_file_that_says_nothing_of_memeval_is_all_default(text: str, tmp_path: Path) -> None:
    assert load_config(written(tmp_path, text)) == Config()


def test_a_byte_order_mark_is_read_over(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_bytes(b"\xef\xbb\xbf[tool.memeval]\r\nseed = 3\r\n")
    assert load_config(path).seed == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stor = 'sqlite'", "has no key 'stor'; write 'store'"),
        ("store = 3", "store is 3, wanted a text"),
        ("store = ' '", "store is ' ', wanted a text"),
        ("seed = true", "seed is True, wanted a whole number from 0"),
        ("seed = -1", "seed is -1"),
        ("seed = 1.0", "seed is 1.0"),
        ("probes = []", "probes is [], wanted a path, or a list of paths"),
        ("probes = [1]", "probes is [1]"),
        ("floors = 0.8", "floors is 0.8, wanted a table of finite numbers"),
        ("floors = {mrr = nan}", "wanted a table of finite numbers"),
        ("floors = {mrr = true}", "wanted a table of finite numbers"),
        ("holdout = 0", "holdout is 0, wanted a share above 0, at most 0.5"),
        ("holdout = 0.51", "holdout is 0.51, wanted a share"),
        ("holdout = true", "holdout is True, wanted a share"),
        ("holdout = nan", "holdout is nan, wanted a share"),
        ("ledger = 3", "ledger is 3, wanted the path of a file"),
        ("out = ['a']", "out is ['a'], wanted the path of a file"),
    ],
)
def test_a_wrong_key_or_value_is_refused_with_what_was_wanted(
    text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(MemevalError) as caught:
        load_config(written(tmp_path, f"[tool.memeval]\n{text}\n"))
    assert said in str(caught.value) and "pyproject.toml: [tool.memeval]" in str(caught.value)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(MemevalError) as caught:
        load_config(written(tmp_path, "[tool.memeval]\nseed = 'x'\nhmtl = 'x'\n"))
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[tool.memeval\n", "no valid TOML"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[tool]\nmemeval = 3\n", "wanted a table"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_by_name(
    content: bytes,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "pyproject.toml").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert main(["lint"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("memeval: pyproject.toml: ") and said in err


def test_an_option_wins_over_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, "[tool.memeval]\nstore = 'nowhere:make'\nprobes = 'none.yaml'\n")
    (tmp_path / "p.yaml").write_text("- {name: a, query: q, given: [{id: r, text: Some note.}]}\n")
    monkeypatch.chdir(tmp_path)
    assert main(["lint"]) == 2
    assert "none.yaml" in capsys.readouterr().out
    assert main(["run", "--probes", "p.yaml", "--dry-run"]) == 2
    assert "store 'nowhere:make'" in capsys.readouterr().err
    assert main(["run", "--probes", "p.yaml", "--store", "sqlite", "--dry-run"]) == 0


@pytest.mark.parametrize(
    "text",
    [
        f"floors = {{recall_all = 1{'0' * 400}}}",
        f"seed = 1{'0' * 5000}",
        'out = "\\u0000"',
        "a = " + "[" * 5000 + "]" * 5000,
    ],
)
def test_values_past_what_python_can_hold_are_said_and_are_no_bug(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, f"[tool.memeval]\n{text}\n")
    monkeypatch.chdir(tmp_path)
    assert main(["run"]) == 2
    said = capsys.readouterr().err
    assert "pyproject.toml" in said
    assert "bug" not in said
