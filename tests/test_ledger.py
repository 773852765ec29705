"""The ledger of looks at the held-out probes, their wear, and the gap to the dev probes."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memeval as me
from memeval.errors import MemevalError, RunFileError
from memeval.files.runfiles import load_run, save_run
from memeval.frames import LOOKS
from memeval.gap import holdout_gap
from memeval.ledger import append_look, load_looks, wear
from memeval.runs import Run
from memeval.stats.independent import difference_interval, expected_maximum
from memeval.suite import Suite
from tests.suites import positive, suite

COLUMNS = [column.name for column in LOOKS]


@cache
def looked(share: float = 0.3) -> Run:
    return me.run(suite(40, 10, 10).with_holdout(share), "sqlite")


def missing(run: Run, names: frozenset[str]) -> Run:
    """The same run, in which these probes found nothing."""
    return dataclasses.replace(run, hits=run.hits[~run.hits["probe"].isin(names)])


def test_a_look_is_a_line_with_what_was_seen(tmp_path: Path) -> None:
    run, path = looked(), tmp_path / "looks.jsonl"
    looks = append_look(path, run)
    held = run.suite.looked_at
    found = run.results[run.results["probe"].isin(held)]["recall_all"].dropna()
    line = json.loads(path.read_text())
    assert list(line) == COLUMNS
    assert (line["look"], line["n_probes"], line["store"]) == (1, len(held), run.manifest.store)
    assert line["recall_all"] == sum(map(bool, found)) / len(found)
    assert pd.Timestamp(line["at"]).utcoffset() == pd.Timedelta(0)
    assert list(looks.columns) == COLUMNS and looks.equals(load_looks(path))


def test_what_stands_in_the_ledger_is_never_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "looks.jsonl"
    for n in range(1, 4):
        before = path.read_bytes() if path.exists() else b""
        assert append_look(path, looked())["look"].tolist() == list(range(1, n + 1))
        assert path.read_bytes().startswith(before)
    assert len(path.read_bytes().splitlines()) == 3


def test_a_last_line_without_an_end_is_ended_first(tmp_path: Path) -> None:
    path = tmp_path / "looks.jsonl"
    append_look(path, looked())
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert append_look(path, looked())["look"].tolist() == [1, 2]


def test_the_hash_is_of_the_answers_to_held_out_probes_alone(tmp_path: Path) -> None:
    run, path = looked(), tmp_path / "looks.jsonl"
    held = run.suite.looked_at
    dev = frozenset(p.name for p in run.suite) - held
    again = me.run(run.suite, "sqlite")
    for one in (run, again, missing(run, dev), missing(run, held)):
        append_look(path, one)
    hashes = load_looks(path)["run_hash"].tolist()
    assert hashes[0] == hashes[1] == hashes[2] != hashes[3]


def test_each_holdout_is_counted_by_itself_in_the_order_of_the_lines(tmp_path: Path) -> None:
    path = tmp_path / "looks.jsonl"
    append_look(path, looked())
    ours = path.read_text()
    append_look(path, looked(0.4))
    # Another branch has looked as well: merged, the number 1 stands there twice.
    path.write_text(path.read_text() + ours)
    looks = load_looks(path)
    assert looks["look"].tolist() == [1, 1, 2]
    held = looked().suite.held_out
    assert held is not None
    found = wear(looks, held.hash)
    assert (found.n_looks, found.n_answers, found.n_before) == (2, 1, 1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"look": 1, "at": "2026-05-0', "half a line"),
        ("<<<<<<< HEAD\n", "no look"),
        ("[1]\n", "[1] in place of a look"),
        ('{"look": 0}\n', "at is None"),
        ("\udcff\n", "no look"),
        ("[" * 9000 + "\n", "no look"),
    ],
)
def test_an_odd_line_is_reported_with_its_place_and_nothing_is_lost(
    line: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "looks.jsonl"
    append_look(path, looked())
    with path.open("ab") as file:
        file.write(line.encode("utf-8", "surrogateescape"))
    before = path.read_bytes()
    with pytest.raises(RunFileError) as read:
        load_looks(path)
    with pytest.raises(RunFileError) as added:
        append_look(path, looked())
    assert f"{path}:2: found" in str(read.value) and said in str(read.value)
    assert str(added.value) == str(read.value) and path.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [{"recall_all": 1.5}, {"recall_all": True}, {"look": "1"}, {"n_probes": 0}, {"store": None},
     {"run_hash": ""}],
)  # fmt: skip
def test_a_value_that_no_look_has_is_reported(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "looks.jsonl"
    append_look(path, looked())
    path.write_text(json.dumps(json.loads(path.read_text()) | change) + "\n")
    with pytest.raises(RunFileError, match=next(iter(change))):
        load_looks(path)


def test_windows_line_ends_blank_lines_and_a_byte_order_mark_are_read_over(tmp_path: Path) -> None:
    path = tmp_path / "looks.jsonl"
    append_look(path, looked())
    append_look(path, looked())
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert len(append_look(path, looked())) == 3


@pytest.mark.parametrize("made", ["folder", "pipe", "nowhere"])
def test_what_is_no_file_is_refused(made: str, tmp_path: Path) -> None:
    path = tmp_path / "looks.jsonl"
    if made == "folder":
        path.mkdir()
    elif made == "pipe":
        os.mkfifo(path)
    else:
        path = tmp_path / "nowhere" / "looks.jsonl"
    with pytest.raises(MemevalError, match="looks.jsonl"):
        append_look(path, looked())
    if made != "nowhere":
        with pytest.raises(RunFileError, match="looks.jsonl"):
            load_looks(path)


def test_a_run_without_a_look_is_not_counted(tmp_path: Path) -> None:
    dev, _ = suite(40, 10, 10).holdout(0.3)
    for run in (me.run(dev, "sqlite"), me.run(suite(), "sqlite")):
        with pytest.raises(MemevalError, match="no held-out probe"):
            append_look(tmp_path / "looks.jsonl", run)
        with pytest.raises(MemevalError, match="no held-out probe"):
            holdout_gap(run)
    assert not list(tmp_path.iterdir())


def test_of_an_invalid_suite_no_recall_is_told(tmp_path: Path) -> None:
    run = looked()
    invalid = run.judged(dataclasses.replace(run.validity, status="invalid", reasons=("thin",)))
    looks = append_look(tmp_path / "looks.jsonl", invalid)
    assert looks["recall_all"].isna().all()
    assert load_looks(tmp_path / "looks.jsonl")["recall_all"].isna().all()


def test_many_append_at_once_and_no_line_is_lost(tmp_path: Path) -> None:
    path, run = tmp_path / "looks.jsonl", looked()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: append_look(path, run), range(40)))
    assert [json.loads(line)["look"] for line in path.read_text().splitlines()] == [*range(1, 41)]


def test_several_processes_append_at_once_and_no_number_is_given_twice(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    code = (
        "import sys; from memeval.appending import append_line\n"
        "for _ in range(50): append_line(sys.argv[1], lambda held: str(held.count(b'\\n')))"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(3)]
    assert [one.wait(60) for one in started] == [0, 0, 0]
    assert path.read_text().split() == [str(n) for n in range(150)]


# Harter (1961), "Expected values of normal order statistics", Biometrika 48, 151-165.
HARTER = [(1, 0.0), (2, 0.56419), (3, 0.84628), (5, 1.16296), (10, 1.53875), (20, 1.86748),
          (24, 1.94767), (25, 1.96531), (50, 2.24907), (100, 2.50759)]  # fmt: skip


@pytest.mark.parametrize(("n", "mean"), HARTER)
def test_the_mean_of_the_largest_of_n_draws_is_that_of_the_tables(n: int, mean: float) -> None:
    assert expected_maximum(n) == pytest.approx(mean, abs=6e-6)


def test_the_mean_of_the_largest_grows_with_n_and_agrees_with_draws() -> None:
    values = [expected_maximum(n) for n in (1, 2, 7, 40, 1000, 10**6, 10**12)]
    assert all(a < b for a, b in pairwise(values))
    drawn = np.random.default_rng(5).standard_normal((40_000, 7)).max(axis=1)
    assert values[2] == pytest.approx(drawn.mean(), abs=4 * drawn.std() / 200)
    with pytest.raises(ValueError, match="wanted a count of 1 or more"):
        expected_maximum(0)


def seen(hashes: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"run_hash": hashes, "holdout_hash": ["h"] * len(hashes)})


def test_a_holdout_is_worn_out_at_25_different_answers() -> None:
    for n, worn in ((1, False), (24, False), (25, True), (26, True)):
        assert wear(seen([f"a{i}" for i in range(n)]), "h").worn_out is worn
    again = wear(seen(["a"] * 60), "h")
    assert (again.n_looks, again.n_answers, again.flattered, again.worn_out) == (60, 1, 0, False)


def test_without_a_look_nothing_is_worn(tmp_path: Path) -> None:
    found = wear(load_looks(tmp_path / "none.jsonl"), "h")
    assert (found.n_looks, found.n_before, found.flattered, found.worn_out) == (0, 0, 0.0, False)


# Newcombe (1998), Statistics in Medicine 17, 873-890, table II, method 10.
NEWCOMBE = [
    ((56, 48), (70, 80), 0.0524, 0.3339),
    ((9, 3), (10, 10), 0.1705, 0.8090),
    ((6, 2), (7, 7), 0.0582, 0.8062),
    ((5, 0), (56, 29), -0.0381, 0.1926),
    ((0, 0), (10, 20), -0.1611, 0.2775),
    ((0, 0), (10, 10), -0.2775, 0.2775),
    ((10, 0), (10, 20), 0.6791, 1.0),
    ((10, 0), (10, 10), 0.6075, 1.0),
]


@pytest.mark.parametrize(("hits", "n", "low", "high"), NEWCOMBE)
def test_the_interval_of_a_difference_is_the_published_one(
    hits: tuple[int, int], n: tuple[int, int], low: float, high: float
) -> None:
    assert difference_interval(hits, n) == pytest.approx((low, high), abs=6e-5)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_the_interval_holds_the_difference_and_turns_with_it(
    n: int, m: int, data: st.DataObject
) -> None:
    hits, other = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    low, high = difference_interval((hits, other), (n, m))
    assert -1 <= low <= hits / n - other / m + 1e-12 and hits / n - other / m - 1e-12 <= high <= 1
    assert difference_interval((other, hits), (m, n)) == pytest.approx((-high, -low), abs=1e-12)


def test_a_difference_to_nothing_is_undefined() -> None:
    assert all(map(math.isnan, difference_interval((1, 0), (3, 0))))


def test_no_gap_where_both_sides_are_served_alike() -> None:
    gap = holdout_gap(looked())
    assert gap.n_dev + gap.n_held_out == 50  # 40 positive probes and 10 with a forbidden record
    assert gap.word == "no difference seen" and gap.low <= 0 <= gap.high
    assert gap.gap == gap.dev - gap.held_out


def test_a_store_that_only_serves_dev_probes_is_overfitted_and_the_other_way_round() -> None:
    run = looked()
    held = run.suite.looked_at
    over = holdout_gap(missing(run, held))
    assert (over.held_out, over.word) == (0.0, "dev is better") and "overfitted" in over.reason
    names = run.results.dropna(subset="recall_all")
    hits = int(names[~names["probe"].isin(held)]["recall_all"].astype(bool).sum())
    wanted = difference_interval((hits, 0), (over.n_dev, over.n_held_out))
    assert (over.low, over.high) == wanted
    under = holdout_gap(missing(run, frozenset(p.name for p in run.suite) - held))
    assert under.word == "held out is better" and under.high < 0


def test_few_probes_are_too_few_to_judge_and_none_is_undefined() -> None:
    few = me.run(Suite.of(positive(n) for n in range(20)).with_holdout(0.2), "sqlite")
    gap = holdout_gap(few)
    assert 0 < gap.n_held_out < 10 and gap.word == "too few"
    assert "wanted 10 of either" in gap.reason
    alone = holdout_gap(me.run(suite(40).holdout(0.3)[1], "sqlite"))
    assert alone.n_dev == 0 and math.isnan(alone.gap) and math.isnan(alone.low)
    assert alone.word == "too few"


def test_a_saved_run_knows_what_was_held_out_and_who_had_looked(tmp_path: Path) -> None:
    run = looked()
    run = run.looked(append_look(tmp_path / "looks.jsonl", run))
    for texts in (True, False):
        back = load_run(save_run(run, tmp_path / "run.json", texts=texts))
        assert back.suite.held_out == run.suite.held_out
        assert back.suite.looked_at == run.suite.looked_at
        assert holdout_gap(back) == holdout_gap(run)
        assert back.looks is not None and run.looks is not None and back.looks.equals(run.looks)


def test_a_run_file_of_before_holdouts_is_read(tmp_path: Path) -> None:
    path = save_run(me.run(suite(), "sqlite"), tmp_path / "run.json")
    payload = json.loads(path.read_text())
    assert payload["suite"].pop("held_out") is None
    path.write_text(json.dumps(payload))
    assert load_run(path).suite.held_out is None


def test_the_dev_probes_come_to_the_same_with_and_without_the_held_out() -> None:
    whole, dev = looked(), me.run(suite(40, 10, 10).holdout(0.3)[0], "sqlite")
    same = whole.results[~whole.results["probe"].isin(whole.suite.looked_at)]
    columns = ["probe", "recall_all", "first_rank", "n_returned", "passed"]
    assert same[columns].reset_index(drop=True).equals(dev.results[columns])
    assert dev.validity.status == "valid"
