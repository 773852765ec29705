"""A Parquet folder is summed up as if it were whole in memory, or what is wrong with it is said."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from logged import Frames, logged, split
from pandas.testing import assert_frame_equal

from memeval import parquet, parquetparts
from memeval.errors import FrameError, MemevalError, RunFileError
from memeval.metrics import score
from memeval.parquet import summarize_parquet, write_parquet
from memeval.summary import summarize

Change = Callable[[pd.DataFrame], pd.DataFrame]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A folder of several parts."""
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    return write_parquet(logged(1), tmp_path / "log", rows_per_file=200)


def whole(frames: Frames, **options: Any) -> pd.DataFrame:
    results = score(frames["hits"], frames["qrels"], frames["calls"])
    return summarize(results, frames["hits"], frames["qrels"], frames["calls"], **options)


def change(folder: Path, table: str, part: int, made: Change) -> Path:
    """Write one file of a folder anew."""
    path = sorted((folder / table).iterdir())[part]
    made(pd.read_parquet(path)).to_parquet(path, index=False)
    return path


def test_parts_of_any_size_give_the_summary_of_the_whole(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    frames = logged(2)
    for rows, n_parts in ((1, 60), (250, None), (10**6, 1)):
        folder = write_parquet(frames, tmp_path / str(rows), rows_per_file=rows)
        files = {name: sorted(os.listdir(folder / name)) for name in frames}
        assert files["hits"] == files["calls"] == files["qrels"]
        assert n_parts in (None, len(files["calls"]))
        assert_frame_equal(summarize_parquet(folder), whole(frames), check_exact=True)


def test_targets_floors_and_the_order_of_scores_are_those_of_summarize(written: Path) -> None:
    options: dict[str, Any] = {
        "targets": {"mrr": 0.9}, "floors": {"recall_all": 0.99}, "score_order": "low",
    }  # fmt: skip
    made = summarize_parquet(written, **options)
    assert_frame_equal(made, whole(logged(1), **options), check_exact=True)
    assert not made.loc[0, "passed"]
    with pytest.raises(FrameError, match="floors: 'mmr' is no metric"):
        summarize_parquet(written, floors={"mmr": 0.5})


def test_another_cutoff_is_scored_without_asking_again(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    frames = logged(4)
    frames["calls"]["k"] = 6
    folder = write_parquet(frames, tmp_path / "log", rows_per_file=300)
    shorter = frames | {"calls": frames["calls"].assign(k=2)}
    assert_frame_equal(summarize_parquet(folder, k=2), whole(shorter), check_exact=True)
    with pytest.raises(FrameError, match="was asked with k 6, wanted at least the k of 7"):
        summarize_parquet(folder, k=7)
    with pytest.raises(FrameError, match="k is 0"):
        summarize_parquet(folder, k=0)


def test_tables_may_come_one_after_the_other(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    frames = logged(5)
    place = {name: at % 3 for at, name in enumerate(frames["calls"]["probe"].unique())}
    given = (part for part in split(frames, place))
    folder = write_parquet(given, tmp_path / "log")
    assert len(os.listdir(folder / "calls")) == 3
    assert_frame_equal(summarize_parquet(folder), whole(frames), check_exact=True)


def test_several_processes_come_to_the_same(written: Path) -> None:
    pytest.importorskip("joblib", reason="several processes need joblib")
    assert_frame_equal(summarize_parquet(written, jobs=2), whole(logged(1)), check_exact=True)


def test_columns_of_other_programs_are_not_read_and_optional_ones_may_be_missing(
    written: Path,
) -> None:
    kept = ["probe", "rank", "record_id", "repeat"]
    for part in range(len(os.listdir(written / "hits"))):
        change(written, "hits", part, lambda hits: hits[kept].assign(trace="x"))
    frames = logged(1)
    frames["hits"] = frames["hits"][kept]
    (written / "calls" / "_SUCCESS.parquet").write_bytes(b"")
    assert_frame_equal(summarize_parquet(written), whole(frames), check_exact=True)


def test_a_missing_column_is_named_with_its_file(written: Path) -> None:
    path = change(written, "hits", 1, lambda hits: hits.drop(columns="record_id"))
    with pytest.raises(FrameError, match=r"wanted also \['record_id'\]") as caught:
        summarize_parquet(written)
    assert str(path) in str(caught.value)


def test_a_row_that_misfits_is_told_with_its_part(written: Path) -> None:
    change(written, "calls", 1, lambda calls: calls.assign(k=0))
    with pytest.raises(FrameError, match=r"part part-00001.parquet: calls: probe .* a k below 1"):
        summarize_parquet(written)


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped"])
def test_a_damaged_part_is_told_with_its_file(written: Path, damage: str) -> None:
    path = sorted((written / "hits").iterdir())[0]
    plain = {"compression": None, "use_dictionary": False, "write_page_checksum": True}
    pd.read_parquet(path).to_parquet(path, index=False, **plain)
    whole_file = path.read_bytes()
    assert whole_file.count(b"probe-3") > 2
    # as good a name as before, so that nothing but the checksum of its page can tell
    flipped = whole_file.replace(b"probe-3", b"probe-2", 1)
    made = {"cut": whole_file[:-40], "empty": b"", "flipped": flipped}
    path.write_bytes(made[damage])
    with pytest.raises(
        RunFileError, match="damaged or half written; write this part again"
    ) as told:
        summarize_parquet(written)
    assert str(path) in str(told.value)


def test_a_part_with_a_file_missing_is_not_whole(written: Path) -> None:
    (written / "qrels" / "part-00001.parquet").unlink()
    with pytest.raises(RunFileError, match="part part-00001.parquet has no file in qrels"):
        summarize_parquet(written)


def test_a_folder_without_parts_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    with pytest.raises(RunFileError, match="holds no part, wanted folders calls, hits and qrels"):
        summarize_parquet(tmp_path)
    with pytest.raises(RunFileError, match="is no folder"):
        summarize_parquet(tmp_path / "nowhere")


def test_a_probe_of_two_parts_is_refused_with_both(written: Path) -> None:
    first = pd.read_parquet(sorted((written / "calls").iterdir())[0]).iloc[[0]].assign(repeat=9)
    change(written, "calls", 1, lambda calls: pd.concat([calls, first], ignore_index=True))
    wanted = "probe 'probe-0': found rows in the parts part-00000.parquet and part-00001.parquet"
    with pytest.raises(FrameError, match=wanted):
        summarize_parquet(written)


def test_hits_in_another_part_than_their_call_are_refused(written: Path) -> None:
    stray = pd.read_parquet(sorted((written / "hits").iterdir())[0]).iloc[[0]]
    change(written, "hits", 1, lambda hits: pd.concat([hits, stray], ignore_index=True))
    with pytest.raises(FrameError, match="all rows of a probe belong into the files of one name"):
        summarize_parquet(written)


def test_probes_with_one_hash_are_told_apart_by_name(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_hashes", lambda names: np.zeros(len(names), dtype=np.uint64))
    assert_frame_equal(summarize_parquet(written), whole(logged(1)), check_exact=True)


def test_nothing_is_there_until_all_is_written(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")

    def ending() -> Iterator[Frames]:
        yield logged(1, 5)
        assert not (tmp_path / "log").exists()
        raise KeyError("the log ends here")

    with pytest.raises(KeyError):
        write_parquet(ending(), tmp_path / "log")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_left_alone(written: Path, tmp_path: Path) -> None:
    with pytest.raises(MemevalError, match="is there already, wanted a new or an empty folder"):
        write_parquet(logged(2, 5), written)
    (tmp_path / "new").mkdir()
    assert write_parquet(logged(2, 5), tmp_path / "new") == tmp_path / "new"
    with pytest.raises(MemevalError, match="cannot write"):
        write_parquet(logged(2, 5), written / "calls" / "part-00000.parquet" / "log")


def test_tables_that_are_missing_or_misfit_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    frames, log = logged(1, 5), tmp_path / "log"
    with pytest.raises(FrameError, match="qrels: not given"):
        write_parquet({"hits": frames["hits"], "calls": frames["calls"]}, log)
    with pytest.raises(FrameError, match=r"calls: found the columns .* wanted also \['k'\]"):
        write_parquet(frames | {"calls": frames["calls"].drop(columns="k")}, log)
    with pytest.raises(FrameError, match="found rows of a probe that is not in calls"):
        write_parquet(frames | {"calls": frames["calls"].iloc[3:]}, log)
    with pytest.raises(FrameError, match="rows_per_file is 0"):
        write_parquet(frames, log, rows_per_file=0)
    with pytest.raises(FrameError, match="found a str, wanted a Run"):
        write_parquet("hits", log)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_part_whose_worker_died_is_scored_again(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("joblib", reason="several processes need joblib")
    asked: list[list[str]] = []

    def dying(joblib: Any, jobs: int, call: Any, job: Any, parts: list[str]) -> Generator[Any]:
        asked.append(list(parts))
        yield call(job, parts[0])
        if len(asked) < n_good:
            raise BrokenExecutor("killed")
        yield from (call(job, part) for part in parts[1:])

    monkeypatch.setattr(parquet, "spread", dying)
    n_good = 3
    assert_frame_equal(summarize_parquet(written, jobs=2), whole(logged(1)), check_exact=True)
    assert [len(parts) for parts in asked] == [len(asked[0]) - n for n in range(3)]
    asked.clear()
    n_good = 9
    with pytest.raises(MemevalError, match="died 3 times while they scored its parts, and"):
        summarize_parquet(written, jobs=2)


@pytest.mark.parametrize("jobs", [0, -2, 1.5, True, None])
def test_jobs_that_are_no_number_of_workers_are_refused(written: Path, jobs: Any) -> None:
    with pytest.raises(MemevalError, match="jobs is .*, wanted a whole number from 1, or -1"):
        summarize_parquet(written, jobs=jobs)


def test_without_pyarrow_it_is_said_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(f"No module named {name!r}")
        return real(name, *rest)

    monkeypatch.setattr(parquetparts.importlib, "import_module", without)
    for call in (lambda: summarize_parquet(tmp_path), lambda: write_parquet({}, tmp_path / "x")):
        with pytest.raises(MemevalError, match=r"pip install 'memeval-toolkit\[distributed\]'"):
            call()
