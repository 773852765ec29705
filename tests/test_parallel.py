"""Several workers for one run: the same tables, and everything that must not be lost with them."""

from __future__ import annotations

import dataclasses
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from suites import positive, suite

from memeval import Probe, Record, Run, run, run_controls
from memeval.cli import main
from memeval.errors import Fault, MemevalError, ProbeError, StoreError
from memeval.harness import measuring, selfcheck
from memeval.harness.chunks import Failed, chunks
from memeval.harness.selfcheck import SelfCheck
from memeval.record import Hit
from memeval.runner import plan
from memeval.stores.base import Capabilities
from memeval.stores.bound import CallLimitError, SearchTimeoutError
from memeval.stores.sqlite import SqliteStore

pytestmark = pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")

SMALL = suite(6, 2, 2)
TIMES = ["write_ms", "visible_ms", "cold_ms", "latency_ms"]
STEADY = Capabilities(deterministic=True)


class Words:
    """Ranks by shared words, then by the order of writing."""

    capabilities = STEADY

    def __init__(self) -> None:
        self.kept: dict[str, Record] = {}

    def put(self, record: Record) -> str:
        self.kept[record.id] = record
        return record.id

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        asked = set(query.lower().split())
        mine = [record for record in self.kept.values() if record.scope == scope]
        scored = [(len(asked & set(record.text.lower().split())), record) for record in mine]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [Hit(record.id, record.text, float(score)) for score, record in best[:k]]

    def delete(self, store_id: str, *, scope: str) -> None:
        del self.kept[store_id]

    def count(self) -> int:
        return len(self.kept)


class Clearing(Words):
    capabilities = Capabilities(deterministic=True, isolation="clear")

    def clear(self) -> None:
        self.kept.clear()


class Sharing(Words):
    """One store for all, that several threads may use."""

    capabilities = Capabilities(deterministic=True, isolation="namespace", thread_safe=True)

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()  # so that it cannot be pickled either
        self.threads: set[str] = set()
        self.calls = 0

    def put(self, record: Record) -> str:
        with self.lock:
            return super().put(record)

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        self.threads.add(threading.current_thread().name)
        time.sleep(0.002)
        with self.lock:
            self.calls += 1
            return super().search(query, k=k, scope=scope)

    def delete(self, store_id: str, *, scope: str) -> None:
        with self.lock:
            super().delete(store_id, scope=scope)


class Unsteady(Words):
    """Answers otherwise each second time, of any query."""

    capabilities = Capabilities()
    asked = 0

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        self.asked += 1
        found = super().search(query, k=k, scope=scope)
        return found if self.asked % 2 else found[::-1]


def same(one: Run, other: Run) -> None:
    """Hits, calls and qrels are equal, and all of the manifest but what hangs on the times."""
    pd.testing.assert_frame_equal(one.hits, other.hits)
    pd.testing.assert_frame_equal(one.qrels, other.qrels)
    pd.testing.assert_frame_equal(one.calls.drop(columns=TIMES), other.calls.drop(columns=TIMES))
    for column in TIMES:  # a time is missing where it was missing
        assert list(one.calls[column].isna()) == list(other.calls[column].isna()), column
    assert manifest(one) == manifest(other)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that stalls, the self check may write once more, or find the store slow."""

    def checked(*args: Any, **options: Any) -> SelfCheck:
        return replace(selfcheck.self_check(*args, **options), put_ms=0.1, search_ms=0.1)

    monkeypatch.setattr(selfcheck, "SLOW_PUT_MS", 1e9)
    monkeypatch.setattr(measuring, "self_check", checked)


def manifest(made: Run) -> dict[str, Any]:
    told = dataclasses.asdict(made.manifest)
    told["notes"] = [note for note in told["notes"] if "in parallel" not in note]
    told["options"].pop("jobs")
    told["environment"].pop("load")
    return {name: value for name, value in told.items() if name != "created_at"}


@pytest.mark.parametrize("store", ["sqlite", Words, Clearing, lambda: SqliteStore(stem=False)])
def test_processes_give_the_tables_of_a_run_without(store: Any) -> None:
    made = run(SMALL, store, jobs=2)
    same(made, run(SMALL, store))
    assert made.manifest.options["jobs"] == 2
    assert made.manifest.notes == ("latency measured with 2 jobs in parallel: it never gates",)


def test_threads_give_the_tables_of_a_run_without_and_share_one_store() -> None:
    shared, alone = Sharing(), Sharing()
    made = run(SMALL, lambda: shared, jobs=2)
    same(made, run(SMALL, lambda: alone))
    assert shared.calls == alone.calls
    assert len(shared.threads - {threading.main_thread().name}) == 2
    assert shared.kept == {}  # what was written was taken away


def test_repeats_are_asked_by_the_same_worker_and_restored_as_without() -> None:
    made = run(SMALL, "sqlite", repeats=3, jobs=2)
    assert made.manifest.repeats == 3
    assert made.calls["write_ms"].isna().sum() == 2 * 10  # written once, restored twice
    same(made, run(SMALL, "sqlite", repeats=3))


def test_a_store_that_changes_its_mind_is_asked_five_times_by_several_workers_too() -> None:
    made = run(SMALL, Unsteady, jobs=2)
    assert made.manifest.repeats == 5
    assert len(made.calls) == 5 * 10
    same(made, run(SMALL, Unsteady))


def test_probes_of_one_history_stay_together() -> None:
    given = [Record("r1", "red van"), Record("r2", "blue kiosk")]
    town = [Probe(name, "kiosk", given, ["r2"], history="town") for name in "abc"]
    asked = [town[0], positive(1), town[1], positive(2), positive(3), town[2]]
    made = run(asked, Words, jobs=3)
    assert made.manifest.options["jobs"] == 3
    assert list(made.results["probe"]) == [probe.name for probe in asked]
    same(made, run(asked, Words))


def test_controls_come_to_the_same() -> None:
    alone, several = run_controls(SMALL, "sqlite"), run_controls(SMALL, "sqlite", jobs=2)
    pd.testing.assert_frame_equal(alone.frame, several.frame)
    same(alone.real, several.real)
    for name, made in alone.runs.items():
        pd.testing.assert_frame_equal(made.hits, several.runs[name].hits)


def grading(store: Any, view: Any) -> Any:
    return store.search(view.query, k=view.k, scope=view.scope)[::-1]


def test_a_pipeline_goes_along() -> None:
    same(
        run(SMALL, Words, retrieve=grading, jobs=2),
        run(SMALL, Words, retrieve=grading),
    )


def test_progress_is_told_here_up_to_the_total() -> None:
    seen: list[tuple[int, int, str]] = []
    asked = suite(5, 3, 2)
    run(asked, Words, repeats=2, jobs=2, progress=lambda *told: seen.append(told))
    assert [done for done, _, _ in seen] == list(range(1, 21))
    assert {total for _, total, _ in seen} == {20}
    assert sorted(label for _, _, label in seen) == sorted([probe.name for probe in asked] * 2)


# The thread of loky that hands out work may trip over what is taken back from it (KeyError).
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_progress_that_fails_ends_the_run_and_the_next_one_works() -> None:
    def failing(*told: Any) -> None:
        raise OSError("no terminal")

    with pytest.raises(OSError, match="no terminal"):
        run(SMALL, Words, jobs=2, progress=failing)
    assert len(run(SMALL, Words, jobs=2).calls) == 10


class Warning_(Words):
    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        if "person1 " in query:
            warnings.warn("an old index", UserWarning, stacklevel=1)
        return super().search(query, k=k, scope=scope)


def test_a_warning_of_a_worker_is_given_here() -> None:
    with pytest.warns(UserWarning, match="an old index"):
        run(suite(4, 1, 1)[:], Warning_, jobs=2)


def test_a_warning_that_is_an_error_here_is_one_in_a_worker() -> None:
    made = run(suite(4, 1, 1).select(names=["positive-*"]), Warning_, jobs=2)
    failed = made.calls[made.calls["status"] == "failed"]
    assert list(failed["probe"]) == ["positive-01"]
    assert failed["error"].iloc[0] == "UserWarning: an old index"


class OddError(Exception):
    """Cannot be made of its message."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(one + other)


def value_rule(record: Record) -> bool:
    raise ValueError("no such rule")


def test_an_error_of_a_worker_arrives_with_its_class_and_message() -> None:
    with pytest.raises(ValueError, match="^no such rule") as caught:
        run(SMALL, Words, is_stale=value_rule, jobs=2)
    assert "in value_rule" in "".join(caught.value.__notes__)  # where it was raised


def test_errors_travel_whole_and_those_that_cannot_in_their_words() -> None:
    faults = [Fault("k is 0", "use 1", "k", "lunch")]
    for error in (ProbeError(faults), CallLimitError("9 calls"), SearchTimeoutError("none")):
        sent = pickle.loads(pickle.dumps(Failed.of(error))).error
        assert (type(sent), str(sent)) == (type(error), str(error))
    assert pickle.loads(pickle.dumps(Failed.of(ProbeError(faults)))).error.faults == tuple(faults)
    odd = Failed.of(OddError("never ", "again")).error
    assert (type(odd), str(odd)) == (StoreError, "OddError: never again")


class Dying(Words):
    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        if "person3 " in query:
            os._exit(3)
        return super().search(query, k=k, scope=scope)


def test_a_worker_that_dies_is_a_store_error_and_the_next_run_works() -> None:
    with pytest.raises(StoreError, match="a worker process died while it asked the store"):
        run(SMALL, Dying, jobs=2)
    assert len(run(SMALL, Words, jobs=2).calls) == 10


def test_a_limit_of_calls_holds_for_all_threads_together() -> None:
    asked = suite(8, 1, 1)
    alone, store, other = Sharing(), Sharing(), Sharing()
    options = run(asked, lambda: alone).manifest.options
    needed = options["puts"] + options["searches"]
    assert len(run(asked, lambda: store, jobs=2, max_calls=needed).calls) == 10
    # To remove records is counted, and the plan knows nothing of it: the limit comes on the way.
    limit = sum(plan(asked)) + 100
    with pytest.raises(CallLimitError, match=f"at most {limit} were allowed"):
        run(asked, lambda: other, jobs=2, max_calls=limit)
    assert other.kept == {}  # nothing stays behind, although the run was ended


def test_a_limit_of_calls_and_processes_are_refused_together() -> None:
    with pytest.raises(StoreError, match="jobs is 2 and max_calls is 99999: the workers are proc"):
        run(SMALL, Words, jobs=2, max_calls=99_999)


def test_model_calls_of_a_shared_store_are_not_measured_and_it_is_said() -> None:
    class Thinking(Sharing):
        llm_calls = 0

    store = Thinking()
    made = run(SMALL, lambda: store, jobs=2)
    assert made.calls["llm_calls"].isna().all()
    assert made.manifest.notes[1].startswith("model calls not measured: 2 threads share one store")


class Stalling(Sharing):
    """Hangs in one search, and holds nobody else up."""

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        if "person1 " in query:
            time.sleep(2)
        return super().search(query, k=k, scope=scope)


def test_a_search_that_hangs_in_a_shared_store_costs_no_other_probe() -> None:
    one, other = Stalling(), Stalling()
    made = run(SMALL, lambda: one, jobs=2, timeout_s=0.5)
    assert list(made.calls.loc[made.calls["status"] != "ok", "status"]) == ["timeout"]
    assert "306 records could not be removed from the store" in made.manifest.notes
    same(made, run(SMALL, lambda: other, timeout_s=0.5))


class Unsafe(Sharing):
    capabilities = Capabilities(isolation="namespace")


def test_a_shared_store_that_is_not_thread_safe_is_refused() -> None:
    with pytest.raises(StoreError, match="isolation 'namespace' without thread_safe"):
        run(SMALL, Unsafe, jobs=2)


def test_what_cannot_be_sent_is_refused_by_name() -> None:
    lock = threading.Lock()

    def make() -> Words:
        with lock:
            return Words()

    def retrieve(store: Any, view: Any) -> Any:
        with lock:
            return store.search(view.query, k=view.k, scope=view.scope)

    with pytest.raises(StoreError, match=r"jobs is 2, and make_store cannot be sent to another"):
        run(SMALL, make, jobs=2)
    with pytest.raises(StoreError, match=r"jobs is 2, and retrieve cannot be sent to another"):
        run(SMALL, Words, retrieve=retrieve, jobs=2)


ONE_PLACE: dict[str, Record] = {}


class OnePlace(Clearing):
    def __init__(self) -> None:
        self.kept = ONE_PLACE


def test_stores_that_are_cleared_in_one_place_are_refused() -> None:
    with pytest.raises(StoreError, match="jobs is 2, and make_store gives stores that share their"):
        run(SMALL, OnePlace, jobs=2)
    assert ONE_PLACE == {}
    run(SMALL, OnePlace)


@pytest.mark.parametrize("jobs", [0, -2, True, 1.0, "2", None])
def test_jobs_that_are_no_number_of_workers_are_refused(jobs: Any) -> None:
    with pytest.raises(StoreError, match=r"^jobs is .*, wanted a whole number from 1, or -1 for"):
        run([positive(1)], Words, jobs=jobs)


def test_no_more_workers_than_histories() -> None:
    made = run([positive(1)], Words, jobs=-1)
    assert made.manifest.options["jobs"] == 1
    assert not any("parallel" in note for note in made.manifest.notes)


def test_a_floor_of_a_time_is_refused_with_several_workers() -> None:
    with pytest.raises(StoreError, match=r"latency_p95_ms gates a time, and jobs is 2: .*--jobs"):
        run(SMALL, Words, floors={"latency_p95_ms": 5.0}, jobs=2)
    run(SMALL, Words, floors={"latency_p95_ms": 1e9})
    run(SMALL, Words, floors={"mrr": 0.1}, targets={"latency_p95_ms": 5.0}, jobs=2)


def test_without_joblib_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "joblib", None)
    assert len(run(SMALL, Words).calls) == 10  # one worker needs none
    wanted = r"jobs is 2, and joblib cannot .*wanted joblib.*pip install 'memeval-toolkit\[distrib"
    with pytest.raises(MemevalError, match=wanted):
        run(SMALL, Words, jobs=2)


def test_one_worker_imports_no_joblib() -> None:
    code = (
        "import sys, memeval as me\n"
        "me.run([me.Probe('a', 'b', [me.Record('r', 'b')], ['r'])], 'sqlite')\n"
        "assert 'joblib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_store_of_a_module_that_was_found_after_the_workers_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(SMALL, Words, jobs=2)  # the pool is warm
    (tmp_path / "late_store.py").write_text(
        "from pathlib import Path\n"
        "from memeval.stores.sqlite import SqliteStore\n"
        "def make():\n    return SqliteStore(stem=Path('words.txt').read_text() != 'here')\n"
    )
    (tmp_path / "words.txt").write_text("here")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    made = run(SMALL, "late_store:make", jobs=2)
    assert made.errors == 0


INTERRUPTED = """
import os, signal, sys, threading, time
sys.path[:0] = [{root!r}, {tests!r}]
import memeval as me
from suites import suite
from test_parallel import {store} as Store

def slow(store, view):
    name = f"{{os.getpid()}}-{{threading.get_ident()}}"
    open(os.path.join({folder!r}, name), "w").close()
    time.sleep(0.2)
    return store.search(view.query, k=view.k, scope=view.scope)

def interrupt():
    # the first file is of the self check, in this process, before any worker is there
    while len(os.listdir({folder!r})) < 2:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)

kept = Store()
threading.Thread(target=interrupt, daemon=True).start()
try:
    me.run(suite(), {make}, retrieve=slow, jobs=2)
except KeyboardInterrupt:
    print("interrupted", len(kept.kept))
"""


@pytest.mark.parametrize(("store", "make"), [("Words", "Store"), ("Sharing", "lambda: kept")])
def test_the_keyboard_ends_the_workers(store: str, make: str, tmp_path: Path) -> None:
    tests = Path(__file__).parent
    code = INTERRUPTED.format(
        root=str(tests.parent), tests=str(tests), folder=str(tmp_path), store=store, make=make
    )
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "interrupted 0", done.stderr
    assert "Traceback" not in done.stderr and "leaked" not in done.stderr, done.stderr
    assert time.monotonic() - started < 30
    workers = [int(path.name.partition("-")[0]) for path in tmp_path.iterdir()]
    assert workers
    assert not [pid for pid in workers if _runs(pid)]


def _runs(pid: int) -> bool:
    """Whether a process is there that is more than a name that nobody has asked for yet."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_chunks_hold_every_history_once_and_are_as_equal_as_can_be() -> None:
    for n in range(1, 40):
        for most in (1, 2, 7, 100):
            made = chunks(n, most)
            assert [i for chunk in made for i in chunk] == list(range(n))
            sizes = [len(chunk) for chunk in made]
            assert len(made) <= most and max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("given", [["--jobs", "0"], ["--jobs", "-2"], ["--jobs", "two"]])
def test_the_command_line_refuses_an_odd_number_of_workers(
    given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *given]) == 2
    assert "wanted a whole number from 1" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["run", "control", "report"])
def test_the_command_line_asks_with_several_workers(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    app = Path(__file__).parent / "cli_app" / "probes"
    assert main([verb, "--probes", str(app), "--jobs", "2", "--store", "sqlite"]) in (0, 1, 4)
    assert "Error" not in capsys.readouterr().err
