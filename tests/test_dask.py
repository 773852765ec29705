"""Runs and Parquet folders on a Dask cluster: the same figures, also where a worker is killed."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from logged import logged
from pandas.testing import assert_frame_equal
from suites import suite

from memeval import SABOTEURS, Run, mutate, parquet, run, spreading
from memeval.errors import StoreError
from memeval.metrics import score
from memeval.parquet import summarize_parquet, write_parquet
from memeval.spreading import Origin, spread
from memeval.stores.sqlite import SqliteStore
from memeval.summary import summarize

dask = pytest.importorskip("dask", reason="a Dask cluster needs dask[distributed]")
distributed = pytest.importorskip("distributed", reason="a Dask cluster needs dask[distributed]")
joblib = pytest.importorskip("joblib", reason="a Dask cluster is used through joblib")

TIMES = ["write_ms", "visible_ms", "cold_ms", "latency_ms"]
SUITE = suite()


@contextmanager
def started() -> Iterator[Any]:
    """Two worker processes on this machine; port 0 is any free one, of which nobody is warned."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        ) as made,
        distributed.Client(made) as client,
        joblib.parallel_config(backend="dask"),
    ):
        yield client


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of which nobody kills a worker."""
    with started() as client:
        yield client


@pytest.fixture
def on_dask(cluster: Any) -> Iterator[Any]:
    """What is spread goes to that cluster."""
    with cluster.as_current(), joblib.parallel_config(backend="dask"):
        yield cluster


@pytest.fixture
def on_mortal() -> Iterator[Any]:
    """What is spread goes to a cluster of which a worker may be killed."""
    with started() as client:
        yield client


@pytest.fixture
def on_impatient() -> Iterator[Any]:
    """What is spread goes to a cluster that gives up a piece with the first worker it kills."""
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), started() as client:
        yield client


def same(one: Run, other: Run) -> None:
    assert_frame_equal(one.hits, other.hits)
    assert_frame_equal(one.qrels, other.qrels)
    assert_frame_equal(one.calls.drop(columns=TIMES), other.calls.drop(columns=TIMES))


class Killed(SqliteStore):
    """Its process is killed in the middle of a search, the first time that it is asked."""

    def __init__(self, mark: str) -> None:
        super().__init__()
        self.mark = mark

    def search(self, query: str, **options: Any) -> Any:
        if "person7 " in query:
            try:
                os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass  # killed once already
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().search(query, **options)


def test_a_run_on_a_cluster_gives_the_tables_of_a_run_without(on_dask: Any) -> None:
    same(run(SUITE, "sqlite", jobs=2, repeats=2), run(SUITE, "sqlite", repeats=2))


def test_a_run_whose_worker_is_killed_in_the_middle_loses_nothing(
    on_mortal: Any, tmp_path: Path
) -> None:
    before = set(on_mortal.run(os.getpid).values())
    made = run(SUITE, partial(Killed, str(tmp_path / "mark")), jobs=2)
    assert (tmp_path / "mark").exists()
    same(made, run(SUITE, "sqlite"))
    assert set(made.calls["status"]) == {"ok"}
    assert before - set(on_mortal.run(os.getpid).values())  # one of them is gone


def test_a_folder_whose_worker_is_killed_in_the_middle_loses_nothing(
    on_mortal: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    frames = logged(6, 120)
    folder = write_parquet(frames, tmp_path / "log", rows_per_file=60)
    results = score(frames["hits"], frames["qrels"], frames["calls"])
    wanted = summarize(results, frames["hits"], frames["qrels"], frames["calls"])
    assert_frame_equal(summarize_parquet(folder, jobs=2), wanted, check_exact=True)
    killed: list[int] = []

    class Killing(parquet.Merging):
        def add(self, part: Any) -> None:
            if not killed:
                killed.append(next(iter(on_mortal.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)
            super().add(part)

    monkeypatch.setattr(parquet, "Merging", Killing)
    assert_frame_equal(summarize_parquet(folder, jobs=2), wanted, check_exact=True)
    assert killed


def killing(shared: str, piece: int) -> int:
    if shared == "deadly" and piece == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return piece


def test_a_piece_that_kills_every_worker_ends_in_an_error_and_the_next_one_is_done(
    on_impatient: Any,
) -> None:
    with pytest.raises(BrokenExecutor, match="the cluster gave up: Attempted to run task"):
        list(spread(joblib, 2, killing, "deadly", range(5)))
    assert sorted(spread(joblib, 2, killing, "harmless", range(5))) == list(range(5))


class Deserted:
    """A cluster that never has a worker."""

    def ncores(self) -> dict[str, int]:
        return {}


def test_a_cluster_that_lost_all_its_workers_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spreading, "_LOOK_S", 0.01)
    monkeypatch.setattr(spreading, "PATIENCE_S", 0.05)
    with pytest.raises(BrokenExecutor, match="has had no worker for"):
        spreading._next(SimpleQueue(), Deserted())


def failing(shared: bytes, piece: int) -> int:
    if piece == 2:
        raise KeyError(f"{len(shared)} bytes")
    return len(shared) + piece


def test_what_all_pieces_need_may_be_large_and_their_errors_arrive(on_dask: Any) -> None:
    large = os.urandom(12 * 2**20)
    assert sorted(spread(joblib, 2, failing, large, [0, 1])) == [len(large), len(large) + 1]
    with pytest.raises(KeyError, match="12582912 bytes"):
        list(spread(joblib, 2, failing, large, range(4)))


def slow(shared: str, piece: int) -> None:
    time.sleep(0.05)
    Path(shared, str(piece)).touch()


def test_what_nobody_waits_for_any_more_is_not_done(on_dask: Any, tmp_path: Path) -> None:
    outcomes = spread(joblib, 2, slow, str(tmp_path), range(60))
    next(outcomes)
    outcomes.close()
    time.sleep(0.4)
    assert len(list(tmp_path.iterdir())) < 30


def test_a_worker_elsewhere_stays_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["a"])
    Origin("another", str(tmp_path / "nowhere"), ("a", "b")).follow()
    assert os.getcwd() == str(tmp_path)
    (tmp_path / "there").mkdir()
    Origin("another", str(tmp_path / "there"), ("a", "b")).follow()
    assert os.getcwd() == str(tmp_path / "there")
    assert sys.path == ["a", "b"]
    Origin.here().follow()
    assert Origin.here().is_here and not Origin("another", "", ()).is_here


class Deadly(SqliteStore):
    """Kills its process whenever it is asked of one person."""

    def search(self, query: str, **options: Any) -> Any:
        if "person7 " in query:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().search(query, **options)


def test_a_store_that_kills_every_worker_is_told_and_not_waited_for(on_impatient: Any) -> None:
    with pytest.raises(StoreError, match="a worker process died while it asked the store"):
        run(SUITE, Deadly, jobs=2)


def test_saboteurs_are_tried_on_a_cluster_too(on_dask: Any) -> None:
    some = list(SABOTEURS)[:2]
    alone = mutate(SUITE, "sqlite", saboteurs=some)
    assert_frame_equal(mutate(SUITE, "sqlite", saboteurs=some, jobs=2).kills, alone.kills)


def test_the_cluster_of_the_readme_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    (code,) = (block for block in blocks if "LocalCluster" in block)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md, the cluster", "exec"), {})
