"""The history of a results file, in real git repositories; the sparkline; old results files."""

from __future__ import annotations

import json
import math
import os
import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval import frames
from memeval.errors import MemevalError, RunFileError
from memeval.files import gitfile
from memeval.files.pastresults import METRICS, changed, read_past
from memeval.files.resultsfile import write_results
from memeval.sparkline import ASCII, BLOCKS, sparkline
from memeval.timeline import WORKING_TREE, HistoryWarning, history, looks
from tests.report_fixtures import INVALID, make_run

FILE = "eval-results.json"
BASELINE = "eval-results.baseline.json"


class Repository:
    """A git repository with a clock of its own, a day later at each commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.day = 0
        self.git("init", "--quiet", "--initial-branch=main", ".")

    def git(self, *arguments: str) -> str:
        who = {
            "NAME": "a",
            "EMAIL": "a@example.invalid",
            "DATE": f"2026-03-{self.day + 1:02}T12:00:00+02:00",
        }
        told = {
            f"GIT_{role}_{name}": value
            for role in ("AUTHOR", "COMMITTER")
            for name, value in who.items()
        }
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, capture_output=True, text=True, check=True,
            env=os.environ | told | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
        )  # fmt: skip
        return done.stdout.strip()

    def commit(self, content: Any, name: str = FILE) -> str:
        self.write(content, name)
        self.git("add", "--all")
        return self.snap()

    def write(self, content: Any, name: str = FILE) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        path.write_bytes(raw)

    def snap(self) -> str:
        self.git("commit", "--quiet", "--allow-empty", "--message", "snap")
        self.day += 1
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.chdir(tmp_path)
    return Repository(tmp_path)


def results(recall: float | None = 0.5, **more: Any) -> dict[str, Any]:
    return {"recall_at_5": recall, "mrr": 0.25, "leaks": 0, "probes": 4, "suite": "s1"} | more


def column(frame: pd.DataFrame, name: str = "value", metric: str = "recall_all") -> list[Any]:
    values = frame.loc[frame["metric"].eq(metric), name]
    return [None if pd.isna(value) else value for value in values]


def test_a_row_per_commit_and_metric_oldest_first(repo: Repository) -> None:
    spec = results(0.25, distinct_at_5=0.75, staleness=0.125, negative_correct=1.0, p95_ms=41)
    commits = [
        repo.commit(spec),
        repo.commit(results(0.5), "another.json"),
        repo.commit(results(0.75)),
    ]
    frame = history()
    assert [str(dtype) for dtype in frame.dtypes] == [c.dtype for c in frames.HISTORY]
    assert list(frame.columns) == frames.names(frames.HISTORY)
    assert column(frame, "commit") == [commits[0], commits[2]]
    assert column(frame) == [0.25, 0.75]
    assert column(frame, "at") == ["2026-03-01T10:00:00+00:00", "2026-03-03T10:00:00+00:00"]
    first = frame[frame["commit"].eq(commits[0])]
    assert dict(zip(first["metric"], first["value"], strict=True)) == {
        "recall_all": 0.25, "mrr": 0.25, "distinct": 0.75, "staleness": 0.125, "leaks": 0,
        "abstention": 1.0, "latency_p95_ms": 41,
    }  # fmt: skip
    assert column(frame, metric="abstention") == [1.0, None]
    assert column(frame, "suite_hash") == ["s1", "s1"]


def test_a_results_file_that_memeval_wrote_is_read_with_its_interval(repo: Repository) -> None:
    run = make_run()
    write_results(run, FILE)
    frame = history()
    assert column(frame, "commit") == [WORKING_TREE]
    summary = run.summary.set_index("metric")
    for metric in METRICS:
        (value,), wanted = column(frame, metric=metric), summary.at[metric, "value"]
        assert value == pytest.approx(wanted, abs=1e-6) if not math.isnan(wanted) else value is None
    # the fixture has 8 probes, 2 of them negative and one positive one not supported
    assert column(frame, "n") == [5]
    assert column(frame, "low")[0] == pytest.approx(summary.at["recall_all", "low"], abs=1e-6)
    assert column(frame, "high")[0] == pytest.approx(summary.at["recall_all", "high"], abs=1e-6)


def test_an_invalid_suite_has_its_commit_and_no_number(repo: Repository) -> None:
    write_results(make_run(validity=INVALID), FILE)
    frame = history()
    assert len(frame) == len(METRICS) and frame["value"].isna().all()


@pytest.mark.parametrize(
    ("recall", "abstained", "hits", "wanted"),
    [
        (0.75, 0.5, [1, 2, 1, None], 4),  # 3 positive hits / .75 = 4; 1 negative hit of 2
        (0.0, 0.5, [None], 4),  # no positive hit; 1 negative hit / .5 = 2 negatives, 6 - 2 = 4
        (0.75, None, [1, 2], None),  # 2 / .75 is no whole number: the file does not add up
        (0.25, None, [1, 2], None),  # 2 / .25 = 8, and 6 were asked
        (None, None, [], None),
    ],
)
def test_positive_probes_are_counted_from_hits_and_shares(
    recall: float | None, abstained: float | None, hits: Sequence[int | None], wanted: int | None
) -> None:
    probes = {f"p{n}": {"hit": True, "rank": rank} for n, rank in enumerate(hits)}
    missed = {f"m{n}": {"hit": False, "rank": None} for n in range(6 - len(hits))}
    skipped = {"s": {"hit": False, "rank": None, "status": "not_supported"}}
    payload = {"recall_at_k": recall, "negative_correct": abstained, "mrr": 0.5}
    past = read_past(json.dumps(payload | {"per_probe": probes | missed | skipped}).encode())
    assert past.n_positive == wanted
    assert math.isnan(past.interval("recall_all")[0]) == (wanted is None)


def test_the_interval_is_that_of_wilson() -> None:
    # 30 of 34: centre (p + z2/2n) / (1 + z2/n) with p = .88235, z = 1.959964, n = 34
    # = (.88235 + .05649) / 1.11299 = .84354; half = 1.959964 / 1.11299
    # * sqrt(p(1-p)/34 + z2/4/34^2) = 1.76099 * sqrt(.0030531 + .0008308) = .10975
    probes = {f"p{n}": {"hit": n < 30, "rank": 1 if n < 30 else None} for n in range(34)}
    payload = {"recall_at_k": round(30 / 34, 4), "per_probe": probes}
    low, high = read_past(json.dumps(payload).encode()).interval("recall_all")
    assert (low, high) == pytest.approx((0.84354 - 0.10975, 0.84354 + 0.10975), abs=2e-5)


def test_comparable_tells_what_was_measured_alike(repo: Repository) -> None:
    manifest = {"metric_version": 1, "haystack_hash": "h1"}
    steps = [
        (results(suite="s1"), None),
        (results(suite="s1"), True),
        (results(suite="s2"), False),
        ({"recall_at_5": 0.5}, None),
        ({"recall_at_5": 0.6}, None),
        ({"recall_at_10": 0.6}, False),
        (results(manifest=manifest), False),
        (results(manifest=manifest | {"store": "another"}), True),
        (results(manifest=manifest | {"haystack_hash": "h2"}), False),
        (results(manifest={"metric_version": 1}), None),
    ]
    commits = [repo.commit(content | {"turn": n}) for n, (content, _) in enumerate(steps)]
    frame = history()
    assert column(frame, "comparable") == [wanted for _, wanted in steps]
    assert frame.attrs["breaks"] == {
        commits[2]: "suite s1 -> s2",
        commits[5]: "k 5 -> 10",
        commits[6]: "k 10 -> 5",
        commits[8]: "haystack_hash h1 -> h2",
    }


BROKEN = {
    b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n": "conflict marks",
    b'{\n<<<<<<< ours\n  "mrr": 1,\n=======\n  "mrr": 0,\n>>>>>>> theirs\n}\n': "conflict marks",
    b"{": "is not JSON",
    b"": "is not JSON",
    b"\xff\xfe\x00": "is not JSON",
    b"[" * 100_000: "is not JSON",
    b"[1, 2]": "is a list",
    b'{"a": 1}': "none of the figures",
    b'{"recall_at_5": "high"}': "recall_at_5 is",
    b'{"recall_at_5": true}': "recall_at_5 is",
    b'{"recall_at_5": 7.5}': "recall_at_5 is 7.5, wanted a share from 0 to 1",
    b'{"recall_at_5": 0.5, "leaks": 1' + b"0" * 400 + b"}": "leaks is 1000",
    b'{"mrr": 1' + b"0" * 400 + b"}": "mrr is 1000",
    b'{"mrr": 0.5, "mrr": 1}': "the key 'mrr' stands there twice",
    b'{"mrr": NaN}': "NaN is no number",
    b'{"leaks": -1}': "leaks is -1",
    b'{"mrr": 1' + b"0" * 6000 + b"}": "is not JSON",
    b'{"format": "memeval run", "version": 1}': "memeval run",
    b'{"format": "memeval results", "version": 99, "mrr": 1}': "version 99",
    b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n": "Git LFS",
}


@pytest.mark.parametrize(("raw", "cause"), BROKEN.items())
def test_a_file_that_is_none_says_why(raw: bytes, cause: str) -> None:
    with pytest.raises(RunFileError, match=cause):
        read_past(raw)


def test_broken_versions_are_left_out_and_told(repo: Repository) -> None:
    good = [repo.commit(results(0.25))]
    bad = [repo.commit(raw) for raw in BROKEN]
    good.append(repo.commit(results(0.5)))
    with pytest.warns(HistoryWarning, match=f"{len(bad)} versions left out") as told:
        frame = history()
    assert column(frame, "commit") == good
    assert column(frame, "comparable") == [None, True]
    assert list(frame.attrs["left_out"]) == bad
    assert all(
        cause in frame.attrs["left_out"][commit]
        for commit, cause in zip(bad, BROKEN.values(), strict=True)
    )
    assert bad[0][:12] in str(told[0].message) and "conflict marks" in str(told[0].message)
    assert f"and {len(bad) - 5} more" in str(told[0].message)


def test_only_broken_versions_give_an_empty_frame(repo: Repository) -> None:
    repo.commit(b"{")
    with pytest.warns(HistoryWarning, match="1 version left out"):
        frame = history()
    assert frame.empty and list(frame.columns) == frames.names(frames.HISTORY)


def test_renames_are_followed_and_copies_are_not(repo: Repository) -> None:
    filler = {"per_probe": {f"p{n}": {"hit": True, "rank": 1} for n in range(30)}}
    first = repo.commit(results(0.25) | filler, "old name é.json")
    repo.git("mv", "old name é.json", FILE)
    moved = repo.snap()
    last = repo.commit(results(0.5) | filler)
    frame = history()
    assert column(frame, "commit") == [first, moved, last] and column(frame) == [0.25, 0.25, 0.5]
    copied = repo.commit(results(0.5) | filler, "copy.json")
    assert column(history("copy.json"), "commit") == [copied]


ODD = (
    "--all", "-x.json", "a b.json", "übung 木.json", ":(exclude)a.json", "*.json",
    "a'\"$(x).json", "new\nline.json",
)  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_names_and_nothing_else(repo: Repository, name: str) -> None:
    repo.commit(results(0.125), "other.json")
    commit = repo.commit(results(0.25), name)
    inside = repo.commit(results(0.5), f"in side/{name}")
    repo.commit(results(0.875), "z.json")
    for path, wanted in ((name, (commit, 0.25)), (f"in side/{name}", (inside, 0.5))):
        frame = history(path)
        assert list(zip(column(frame, "commit"), column(frame), strict=True)) == [wanted]


def test_a_merge_counts_where_the_branch_took_it_in(repo: Repository) -> None:
    base = repo.commit(results(0.25))
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit(results(0.375))
    repo.commit(results(0.5))
    repo.git("checkout", "--quiet", "main")
    repo.commit({}, "other.json")
    repo.git("merge", "--quiet", "--no-ff", "--message", "merge", "side")
    merged = repo.git("rev-parse", "HEAD")
    frame = history()
    assert column(frame, "commit") == [base, merged] and column(frame) == [0.25, 0.5]


def test_the_order_is_that_of_the_branch_not_of_the_clocks(repo: Repository) -> None:
    repo.day = 20
    first = repo.commit(results(0.25))
    repo.day = 3
    second = repo.commit(results(0.5))
    assert column(history(), "commit") == [first, second]


def test_what_is_not_committed_is_the_last_row(repo: Repository) -> None:
    commit = repo.commit(json.dumps(results(0.25), indent=2).encode())
    assert column(history(), "commit") == [commit]
    raw = Path(FILE).read_bytes()
    Path(FILE).write_bytes(raw.replace(b"\n", b"\r\n"))
    assert column(history(), "commit") == [commit]
    repo.write(results(0.5))
    os.utime(FILE, (1_770_000_000, 1_770_000_000))  # 2026-02-02 02:40:00 UTC
    frame = history()
    assert column(frame, "commit") == [commit, WORKING_TREE] and column(frame) == [0.25, 0.5]
    assert column(frame, "at")[1] == "2026-02-02T02:40:00+00:00"
    repo.write(b"<<<<<<< HEAD\n")
    with pytest.warns(HistoryWarning, match="working tree holds the conflict marks"):
        assert column(history(), "commit") == [commit]


def test_a_file_that_is_gone_has_its_history_and_one_that_came_back_too(repo: Repository) -> None:
    first = repo.commit(results(0.25))
    Path(FILE).unlink()
    repo.git("add", "--all")
    repo.snap()
    assert column(history(), "commit") == [first]
    again = repo.commit(results(0.5))
    assert column(history(), "commit") == [first, again]


def test_a_limit_is_of_the_newest_and_still_knows_the_one_before(repo: Repository) -> None:
    commits = [repo.commit(results(n / 8)) for n in range(4)]
    frame = history(limit=2)
    assert column(frame, "commit") == commits[2:] and column(frame, "comparable") == [True, True]
    assert column(history(limit=99), "commit") == commits
    repo.commit(b"{")
    last = repo.commit(results(1.0))
    assert column(history(limit=1), "commit") == [last]  # without a warning of the one before
    for wrong in (0, -1, 1.5, "3"):
        with pytest.raises(ValueError, match="limit: found"):
            history(limit=wrong)  # type: ignore[arg-type]


def test_a_link_in_place_of_the_file_is_told(repo: Repository) -> None:
    repo.commit(results(0.25), "real.json")
    os.symlink("real.json", FILE)
    repo.git("add", "--all")
    repo.snap()
    assert column(history()) == [0.25]  # the file behind the link
    Path(FILE).unlink()
    with pytest.warns(HistoryWarning, match="a link"):
        assert history().empty


def test_a_file_of_a_folder_a_repository_by_name_and_a_hook(
    repo: Repository, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = repo.commit(results(0.25), f"deep/er/{FILE}")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("GIT_DIR", ".git")  # as git sets it for a hook
    assert column(history(repo.folder / "deep" / "er" / FILE), "commit") == [commit]
    assert column(history(f"deep/er/{FILE}", repository=repo.folder), "commit") == [commit]
    assert column(history(FILE, repository=repo.folder / "deep" / "er"), "commit") == [commit]


def test_what_is_not_there_is_an_error_that_says_what_to_do(
    repo: Repository, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunFileError, match="memeval run, and commit it"):
        history()  # a branch without commits
    repo.commit(results(), "other.json")
    with pytest.raises(RunFileError, match="no commit of this branch holds it"):
        history()
    with pytest.raises(MemevalError, match="is no path"):
        history("a\0b")
    outside = tmp_path_factory.mktemp("outside")
    with pytest.raises(MemevalError, match="outside of the repository"):
        history(outside / FILE, repository=repo.folder)
    with pytest.raises(MemevalError, match="found no git repository around"):
        history(outside / FILE)
    with pytest.raises(MemevalError, match="found no folder"):
        history(repository=outside / "nowhere")
    monkeypatch.setenv("PATH", str(outside))
    with pytest.raises(MemevalError, match="install git"):
        history()


def test_a_shallow_clone_says_so(
    repo: Repository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    repo.commit(results(0.25))
    last = repo.commit(results(0.5))
    clone = tmp_path_factory.mktemp("clone")
    repo.git("clone", "--quiet", "--depth=1", f"file://{repo.folder}", str(clone))
    with pytest.warns(HistoryWarning, match="git fetch --unshallow"):
        assert column(history(repository=clone), "commit") == [last]


def test_content_that_the_clone_lacks_is_not_fetched(
    repo: Repository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    repo.commit(results(0.25))
    last = repo.commit(results(0.5))
    old = repo.git("rev-parse", f"HEAD~1:{FILE}")
    (repo.folder / ".git" / "objects" / old[:2] / old[2:]).unlink()
    with pytest.warns(HistoryWarning, match="does not have its content"):
        assert column(history(), "commit") == [last]


def test_what_a_repository_configures_is_not_run(repo: Repository, tmp_path: Path) -> None:
    commits = [repo.commit(results(0.25)), repo.commit(results(0.5))]
    head, _, message = repo.git("cat-file", "commit", "HEAD").partition("\n\n")
    seal = "-----BEGIN PGP SIGNATURE-----\n \n aaaa\n -----END PGP SIGNATURE-----"
    (tmp_path / ".git" / "sealed").write_text(f"{head}\ngpgsig {seal}\n\n{message}\n")
    commits[1] = repo.git("hash-object", "-t", "commit", "-w", ".git/sealed")
    repo.git("update-ref", "HEAD", commits[1])
    ran, trap = tmp_path / "ran", tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    trap.chmod(0o755)
    for key in (
        "core.pager", "core.fsmonitor", "diff.external", "diff.evil.textconv",
        "filter.evil.smudge", "gpg.program",
    ):  # fmt: skip
        repo.git("config", key, str(trap) if key == "gpg.program" else f"touch '{ran}'; cat")
    for key in ("log.showSignature", "color.ui", "log.follow"):
        repo.git("config", key, "always" if key == "color.ui" else "true")
    (tmp_path / ".git" / "info" / "attributes").write_text("* diff=evil filter=evil\n")
    assert column(history(), "commit") == commits
    assert not ran.exists()


def test_what_a_repository_configures_changes_nothing(repo: Repository) -> None:
    first = repo.commit(results(0.25))
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit(results(0.5))
    repo.git("checkout", "--quiet", "main")
    second = repo.commit(results(0.375))
    repo.git("merge", "--quiet", "--no-commit", "--strategy=ours", "side")
    merged = repo.commit(results(0.75))
    repo.git("notes", "add", "-m", ":100644 100644 a b M\tx", "HEAD")
    for key, value in {
        "log.diffMerges": "combined", "log.showRoot": "false", "diff.renames": "false",
        "format.pretty": "oneline", "core.abbrev": "5", "log.decorate": "full",
        "notes.displayRef": "*", "core.quotePath": "true", "log.date": "relative",
    }.items():  # fmt: skip
        repo.git("config", key, value)
    frame = history()
    assert column(frame, "commit") == [first, second, merged]
    assert column(frame) == [0.25, 0.375, 0.75]
    assert column(frame, "at")[0] == "2026-03-01T10:00:00+00:00"


def test_one_process_reads_all_versions(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(5):
        repo.commit(results(n / 8))
    repo.write(results(0.875))
    started: list[Any] = []

    class Counted(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, command: Any, **options: Any) -> None:
            started.append(command)
            super().__init__(command, **options)

    monkeypatch.setattr(gitfile.subprocess, "Popen", Counted)
    assert len(column(history())) == 6
    assert sum("cat-file" in command for command in started) == 1
    assert all(isinstance(command, list) for command in started)


def test_a_file_too_large_to_be_one_is_passed_over_whole(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(results(0.25, padding="x" * 5000))
    last = repo.commit(results(0.5))
    monkeypatch.setattr(gitfile, "MOST_BYTES", 1000)
    with pytest.warns(HistoryWarning, match="wanted a results file"):
        frame = history()
    assert column(frame, "commit") == [last] and column(frame) == [0.5]


def test_looks_count_the_commits_since_the_baseline_was_accepted(repo: Repository) -> None:
    assert looks() == 0
    repo.commit(results(0.125))
    repo.write(results(0.25), BASELINE)
    repo.commit(results(0.25))
    assert looks() == 0
    repo.commit(results(0.375))
    assert looks() == 0  # the present look is that commit
    repo.commit({}, "other.json")
    repo.write(results(0.5))
    assert looks() == 1  # a second look, after the one that is committed
    repo.commit(results(0.5))
    assert looks() == 1
    repo.commit(results(0.5), BASELINE)
    assert looks() == 0


def test_nothing_known_to_differ_is_not_yet_comparable() -> None:
    before, after = (read_past(b'{"mrr": 1}'), read_past(b'{"mrr": 0.5, "suite": "s"}'))
    assert changed(before, after) == (None, "not said by both: suite")
    assert changed(before, before)[0] is None
    assert changed(after, after) == (True, "")


def test_heights_are_those_of_the_values() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == BLOCKS
    assert sparkline([7, 0], ascii_only=True) == "#_"
    assert sparkline([5, 5]) == "▄▄" and sparkline([]) == ""
    assert sparkline([0, math.nan, math.inf, 1]) == "▁  █"
    assert sparkline([0, 1, 0, 1], breaks={0, 2}) == "|▁█|▁█"
    assert sparkline([0, 1, 0, 1], breaks={2}, width=3) == "|▁█"
    assert sparkline([9, 0, 1], width=2) == "▁█"
    with pytest.raises(ValueError, match="width: found 0"):
        sparkline([1], width=0)


@given(st.lists(st.floats(allow_nan=True), max_size=30), st.integers(1, 40), st.booleans())
def test_a_sparkline_fits_and_keeps_the_order(values: list[float], width: int, plain: bool) -> None:
    with warnings.catch_warnings():
        drawn = sparkline(values, breaks={3, 5}, width=width, ascii_only=plain)
    assert len(drawn) <= width
    heights = ASCII if plain else BLOCKS
    shown = [heights.index(char) for char in drawn if char in heights]
    kept = [v for v in values[len(values) - len(drawn.replace("|", "")) :] if math.isfinite(v)]
    assert len(shown) == len(kept)
    for (low, a), (high, b) in zip(zip(kept, shown), zip(kept[1:], shown[1:])):  # noqa: B905
        assert (a <= b) if low <= high else (a >= b)
