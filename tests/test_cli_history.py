"""``memeval history`` in real git repositories."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from memeval.cli import main
from tests.test_timeline import FILE, Repository, results

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return Repository(tmp_path)


def spec(recall: float, **more: object) -> dict[str, object]:
    rest = {"distinct_at_5": 0.75, "staleness": 0.125, "negative_correct": 1.0, "p95_ms": 12345.6}
    return results(recall) | rest | more


def test_a_line_per_metric_and_the_newest_commits(repo: Repository, capsys: Captured) -> None:
    commits = [repo.commit(spec(n / 16)) for n in range(12)]
    repo.write(spec(1.0))
    assert main(["history"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("HISTORY of eval-results.json: 13 versions, 2026-03-01 to ")
    recall = next(line for line in lines if line.startswith("recall_all"))
    assert recall.split()[1:5] == ["0.000", "1.000", "0.000", "1.000"]
    assert (
        recall.split()[5][0] == "▁"
        and recall.split()[5][-1] == "█"
        and len(recall.split()[5]) == 13
    )
    start = lines.index("NEWEST FIRST")
    listed = [line.split()[0] for line in lines[start + 3 :]]
    assert listed[:10] == ["worktree", *(commit[:8] for commit in commits[:2:-1])]
    # 11 / 16 = .6875
    assert lines[start + 4].split() == [
        commits[-1][:8], "2026-03-12", "0.688", "0.250", "0.750", "0.125", "0", "1.000", "12346",
    ]  # fmt: skip
    assert lines[-2:] == [
        "worktree: as the file stands now, not committed",
        "3 older; --format json gives all of them",
    ]


def test_a_share_that_stands_on_other_probes_is_told(repo: Repository, capsys: Captured) -> None:
    for positive in (2, 3):
        probes = {f"p{n}": {"hit": True, "n_expected": int(n < positive)} for n in range(4)}
        repo.commit(spec(1.0, per_probe=probes))
    assert main(["history"]) == 0
    assert "recall_all stands on 2 to 3 positive probes" in capsys.readouterr().out


def test_a_break_is_marked_and_told(repo: Repository, capsys: Captured) -> None:
    repo.commit(spec(0.25))
    repo.commit(spec(0.5))
    other = repo.commit(spec(0.75, suite="s2"))
    assert main(["history", "--metric", "recall_all", "--metric", "leaks"]) == 0
    out = capsys.readouterr().out
    # .25, .5, .75 of eight heights: 0, round(3.5) = 4, 7
    assert "▁▅|█" in out and "▄▄|▄" in out
    assert f"| {other[:8]} 2026-03-03 is not comparable with what was before: suite s1 -> s2" in out
    assert "mrr" not in out and "worktree" not in out


def test_a_console_without_blocks_gets_ascii(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(spec(0.25))
    repo.commit(spec(0.5))
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert main(["history", "--metric", "recall_all"]) == 0
    sys.stdout.flush()
    assert b" _#\n" in raw.getvalue()


def test_json_has_all_rows_breaks_and_what_was_left_out(repo: Repository, capsys: Captured) -> None:
    first = repo.commit(spec(0.25))
    broken = repo.commit(b"<<<<<<< HEAD\n")
    last = repo.commit(spec(0.5, suite="s2"))
    assert main(["history", FILE, "--format", "json", "--metric", "recall_all"]) == 0
    told = capsys.readouterr()
    shown = json.loads(told.out)
    assert [(row["commit"], row["value"], row["comparable"]) for row in shown["rows"]] == [
        (first, 0.25, None),
        (last, 0.5, False),
    ]
    assert shown["breaks"] == {last: "suite s1 -> s2"}
    assert list(shown["left_out"]) == [broken]
    assert "warning" in told.err and broken[:12] in told.err


def test_markdown_is_safe(repo: Repository, capsys: Captured) -> None:
    name = "a <b>|`x`.json"
    repo.commit(spec(0.25), name)
    repo.commit(spec(0.5, suite="<script>|\x1b[31m"), name)
    assert main(["history", name, "--format", "markdown"]) == 0
    out = capsys.readouterr().out
    assert "<b>" not in out and "<script" not in out and "\x1b" not in out
    rows = [line for line in out.splitlines() if line.startswith("|")]
    assert {line.count(" | ") for line in rows} == {5, 8}
    assert main(["history", name]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_limit_is_handed_on(repo: Repository, capsys: Captured) -> None:
    for n in range(3):
        repo.commit(spec(n / 4))
    assert main(["history", "--limit", "2", "--metric", "mrr"]) == 0
    assert ": 2 versions, 2026-03-02 to 2026-03-03" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["history"], "no commit of this branch holds it"),
        (["history", "../outside.json"], "outside of the repository|found no git repository"),
        (["history", "--metric", "recal"], "invalid choice"),
        (["history", "--limit", "0"], "whole number from 1"),
        (["history", " "], "wanted a name"),
    ],
)
def test_where_there_is_nothing_it_says_so_and_exits_2(
    repo: Repository, capsys: Captured, argv: list[str], word: str
) -> None:
    assert main(argv) == 2
    told = capsys.readouterr()
    assert told.out == "" and any(part in told.err for part in word.split("|"))


def test_only_broken_versions_exit_2(repo: Repository, capsys: Captured) -> None:
    repo.commit(b"{")
    assert main(["history"]) == 2
    err = capsys.readouterr().err
    assert "no version of it could be read" in err and "is not JSON" in err


def test_a_single_commit_and_undefined_figures(repo: Repository, capsys: Captured) -> None:
    repo.commit({"recall_at_5": 0.5, "leaks": 2})
    assert main(["history"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "HISTORY of eval-results.json: 1 version, 2026-03-01"
    assert next(line for line in lines if line.startswith("mrr")).split() == ["mrr", *["n/a"] * 4]
