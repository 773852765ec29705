"""A run that stops goes on from its journal, and ends as if it had never stopped."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path
from typing import Any

import odd_stores as odd
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from suites import suite

from memeval import Probe, Record, Run, Suite, run
from memeval.cli import main
from memeval.errors import MemevalError, RunFileError
from memeval.files.journal import JournalWarning
from memeval.harness import runjournal
from memeval.harness.rows import CALL_FIELDS, HIT_FIELDS, Rows
from memeval.record import Delete, Hit, Op
from memeval.stores.base import Capabilities
from memeval.stores.metering import CallLimitError

pytestmark = pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")

SMALL = suite(6, 2, 2)
TIMES = ["write_ms", "visible_ms", "cold_ms", "latency_ms"]


@pytest.fixture(autouse=True)
def kept_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep each answer as it comes in."""
    monkeypatch.setattr(runjournal, "EVERY_S", 0.0)


class Stops(odd.Plain):
    """Stops the program at one of its searches, and counts what it was asked."""

    capabilities = Capabilities(deterministic=True)
    at = 10**9
    asked: Counter[str] = Counter()

    def search(self, query: str, *, k: int, scope: str) -> Any:
        kind = type(self)
        if scope not in ("memeval-check", "memeval-fingerprint") and query != "memory":
            kind.asked[query] += 1
            if kind.asked.total() > kind.at:
                raise KeyboardInterrupt
        return self.found(query, k, scope)


def stops(at: int) -> type[Stops]:
    return type("Stops", (Stops,), {"at": at, "asked": Counter()})


def unprefixed(hits: pd.DataFrame) -> pd.DataFrame:
    """Without the prefix that a place of the user's is given, drawn anew for each attempt."""
    return hits.assign(store_id=hits["store_id"].str.replace(r"m[0-9a-f]{9}-", "", regex=True))


def assert_alike(one: Run, other: Run) -> None:
    """All but times and what the manifest says of how it went."""
    pd.testing.assert_frame_equal(*(unprefixed(made.hits) for made in (one, other)))
    pd.testing.assert_frame_equal(one.qrels, other.qrels)
    calls = (made.calls.drop(columns=TIMES) for made in (one, other))
    pd.testing.assert_frame_equal(*calls)
    assert one.verdict == other.verdict
    for name in ("puts", "searches"):
        assert one.manifest.options[name] <= other.manifest.options[name]


@pytest.mark.parametrize("at", [0, 1, 2, 7, 12, 19])
def test_a_stopped_run_goes_on_and_ends_as_if_it_had_not(at: int, tmp_path: Path) -> None:
    journal = tmp_path / "run.jsonl"
    store = stops(at)
    with pytest.raises(KeyboardInterrupt):
        run(SMALL, store, journal=journal)
    first = +store.asked
    store.at = 10**9
    made = run(SMALL, store, journal=journal, resume=True)
    whole = run(SMALL, stops(10**9))
    assert_alike(whole, made)
    n = at // 2  # a probe asks twice: the scored search, and the repeat check
    assert store.asked.total() == first.total() + 2 * (len(SMALL) - n)
    told = [note for note in made.manifest.notes if "attempt that stopped" in note]
    assert told == (
        [f"{n} answers are of an attempt that stopped, and stood in its journal"] * (n > 0)
    )


def test_a_finished_journal_asks_nothing_again(tmp_path: Path) -> None:
    store = stops(10**9)
    first = run(SMALL, store, journal=tmp_path / "j", repeats=2)
    asked = store.asked.total()
    again = run(SMALL, store, journal=tmp_path / "j", repeats=2, resume=True)
    assert store.asked.total() == asked
    assert_alike(first, again)
    pd.testing.assert_frame_equal(first.calls, again.calls)  # times too: they are those of then


def test_probes_of_one_history_go_on_in_its_middle(tmp_path: Path) -> None:
    records = [Record(f"r{n}", f"person{n} keeps bees") for n in range(9)]
    probes = [
        Probe(f"p{n}", f"person{n} bees", records, [f"r{n}"], history="all") for n in range(9)
    ]
    store = stops(11)
    with pytest.raises(KeyboardInterrupt):
        run(Suite(tuple(probes)), store, journal=tmp_path / "j")
    store.at = 10**9
    made = run(Suite(tuple(probes)), store, journal=tmp_path / "j", resume=True)
    assert_alike(run(Suite(tuple(probes)), stops(10**9)), made)
    assert store.asked.total() == 12 + 2 * 4  # five of nine were kept; the sixth is asked anew


class Flaky(Stops):
    """Answers otherwise each time."""

    capabilities = Capabilities()

    def search(self, query: str, *, k: int, scope: str) -> Any:
        found = super().search(query, k=k, scope=scope)
        if "memeval" in scope:
            return found
        return found[: len(found) - self.asked.total() % 2]


def test_repeats_that_a_first_attempt_called_for_are_made(tmp_path: Path) -> None:
    flaky = type("Flaky", (Flaky,), {"at": 60, "asked": Counter()})
    with pytest.raises(KeyboardInterrupt):
        run(SMALL, flaky, journal=tmp_path / "j")
    flaky.at = 10**9
    made = run(SMALL, flaky, journal=tmp_path / "j", resume=True)
    assert made.manifest.repeats == 5
    assert all(sorted(of["repeat"]) == [*range(5)] for _, of in made.calls.groupby("probe"))


class Namespaced(Stops):
    """One place for all, that several threads may ask."""

    capabilities = Capabilities(isolation="namespace", thread_safe=True, deterministic=True)
    place: dict[str, Record] = {}

    def __init__(self) -> None:
        self.kept = self.place

    def found(self, query: str, k: int, scope: str | None) -> list[Hit]:
        alone = odd.Plain()
        alone.kept = dict(self.kept)  # other threads write meanwhile
        return alone.found(query, k, scope)

    def delete(self, store_id: str) -> None:
        del self.kept[store_id]


@pytest.mark.parametrize("kind", [Stops, Namespaced])
def test_workers_keep_what_they_asked(kind: type[Stops], tmp_path: Path) -> None:
    pytest.importorskip("joblib", reason="several workers take joblib")
    store = type(kind.__name__, (kind,), {"at": 10**9, "asked": Counter(), "place": {}})
    whole = run(SMALL, store, jobs=2, journal=tmp_path / "j")
    lines = (tmp_path / "j").read_bytes().splitlines(keepends=True)
    (tmp_path / "j").write_bytes(b"".join(lines[: len(lines) // 2 + 1]))
    made = run(SMALL, store, jobs=2, journal=tmp_path / "j", resume=True)
    assert_alike(whole, made)
    assert made.manifest.options["searches"] >= 3 * len(SMALL)
    (tmp_path / "j").write_bytes(b"".join(lines[:3]))
    assert_alike(whole, run(SMALL, store, journal=tmp_path / "j", resume=True))  # and one alone


def test_calls_of_all_attempts_are_counted(tmp_path: Path) -> None:
    store, n = stops(9), len(SMALL)
    with pytest.raises(KeyboardInterrupt):
        run(SMALL, store, journal=tmp_path / "j", check_store=False)
    store.at = 10**9
    made = run(SMALL, store, journal=tmp_path / "j", resume=True, check_store=False)
    whole = run(SMALL, stops(10**9), check_store=False)
    assert whole.manifest.options["searches"] == made.manifest.options["searches"] == 3 * n
    assert whole.manifest.options["puts"] == made.manifest.options["puts"]


def test_a_limit_of_calls_stops_it_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    store = stops(10**9)
    with pytest.raises(CallLimitError):
        run(SMALL, store, journal=tmp_path / "j", max_calls=3076)  # the self check comes on top
    told = (tmp_path / "j").read_text(encoding="utf-8").count("\n")
    assert 1 < told
    made = run(SMALL, store, journal=tmp_path / "j", resume=True)
    assert_alike(run(SMALL, stops(10**9)), made)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"seed": 3}, "seed was 0, now it is 3"),
        ({"repeats": 2}, "repeats was None, now it is 2"),
        ({"opaque_ids": True}, "opaque_ids was False, now it is True"),
        ({"is_stale": bool}, "is_stale was None, now it is 'bool'"),
    ],
)
def test_a_run_of_something_else_is_refused(
    changed: dict[str, Any], told: str, tmp_path: Path
) -> None:
    run(SMALL, odd.Plain, journal=tmp_path / "j")
    before = (tmp_path / "j").read_bytes()
    with pytest.raises(RunFileError, match=told):
        run(SMALL, odd.Plain, journal=tmp_path / "j", resume=True, **changed)
    with pytest.raises(RunFileError, match="store was 'Plain', now it is 'Deleting'"):
        run(SMALL, odd.Deleting, journal=tmp_path / "j", resume=True)
    with pytest.raises(RunFileError, match="suite was"):
        run(suite(7, 2, 2), odd.Plain, journal=tmp_path / "j", resume=True)
    assert (tmp_path / "j").read_bytes() == before


def test_a_journal_that_is_no_place_or_is_lacking_is_refused_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    store = stops(0)
    with pytest.raises(MemevalError, match="resume is True and no journal is named"):
        run(SMALL, store, resume=True)
    with pytest.raises(MemevalError, match="a folder"):
        run(SMALL, store, journal=tmp_path)
    assert not store.asked


def test_a_line_that_was_cut_off_is_asked_again(tmp_path: Path) -> None:
    store = stops(10**9)
    whole = run(SMALL, store, journal=tmp_path / "j")
    data = (tmp_path / "j").read_bytes()
    (tmp_path / "j").write_bytes(data[:-40])
    with pytest.warns(JournalWarning, match="was cut off in the writing"):
        made = run(SMALL, store, journal=tmp_path / "j", resume=True)
    assert_alike(whole, made)


@pytest.mark.parametrize("damage", ["twice", "unknown probe", "short column", "no rows", "word"])
def test_a_damaged_line_is_refused_with_its_number(damage: str, tmp_path: Path) -> None:
    run(SMALL, odd.Plain, journal=tmp_path / "j")
    head, first, *others = (tmp_path / "j").read_text(encoding="utf-8").splitlines()
    told = json.loads(first)
    if damage == "unknown probe":
        told["rows"]["columns"]["probe"][0] = "nobody"
    elif damage == "short column":
        told["rows"]["columns"]["k"] = []
    elif damage == "no rows":
        del told["rows"]
    elif damage == "word":
        told["rows"]["columns"]["status"][0] = "fine"
    changed = [first, first] if damage == "twice" else [json.dumps(told)]
    (tmp_path / "j").write_text("\n".join([head, *changed, *others]) + "\n", encoding="utf-8")
    line = 3 if damage == "twice" else 2
    with pytest.raises(RunFileError, match=f"line {line}: cannot be read"):
        run(SMALL, odd.Plain, journal=tmp_path / "j", resume=True)


def test_what_another_run_adds_to_the_same_file_is_left_out(tmp_path: Path) -> None:
    """Two runs in one folder: the answers of one store are never taken for those of another."""
    path = tmp_path / "j"
    run(SMALL, odd.Plain, journal=path)
    mine = path.read_bytes().splitlines(keepends=True)
    run(SMALL, lambda: odd.FailingSearch("person"), journal=path)
    theirs = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*mine[:3], *theirs[1:5]]))
    made = run(SMALL, odd.Plain, journal=path, resume=True)
    assert made.calls["status"].eq("ok").all()
    assert "2 answers are of an attempt that stopped" in made.manifest.notes[0]


def test_a_full_disk_costs_the_journal_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, left = os.fsync, [4]

    def full(descriptor: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(JournalWarning, match="No space left on device.*this run goes on") as told:
        made = run(SMALL, odd.Plain, journal=tmp_path / "j")
    assert [one.category for one in told].count(JournalWarning) == 1
    assert left[0] == -1  # and it is not tried again
    monkeypatch.setattr(os, "fsync", real)
    assert_alike(run(SMALL, odd.Plain), made)
    assert_alike(made, run(SMALL, odd.Plain, journal=tmp_path / "j", resume=True))


SCRIPT = """
    import sys, time
    from suites import suite
    import odd_stores as odd
    from memeval import run
    from memeval.harness import runjournal
    from memeval.stores.base import Capabilities

    runjournal.EVERY_S = 0.0

    class Slow(odd.Plain):
        capabilities = Capabilities(deterministic=True)
        def search(self, query, *, k, scope):
            time.sleep(0.002)
            return self.found(query, k, scope)

    print("ready", flush=True)
    run(suite(20, 5, 5), Slow, journal=sys.argv[1], resume=True)
    print("done", flush=True)
"""


def test_killed_at_any_moment_it_loses_no_answer_that_was_in(tmp_path: Path) -> None:
    """Kill -9, again and again: each attempt begins with what the ones before it kept."""
    journal, kept = tmp_path / "j", [0]
    for n in range(8):
        attempt = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SCRIPT), str(journal)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parent,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )
        assert attempt.stdout is not None and attempt.stdout.readline() == b"ready\n"
        time.sleep(0.03 * (1 + n * 7 % 5))
        attempt.send_signal(signal.SIGKILL)
        if attempt.communicate()[0]:
            break
        whole = journal.read_bytes().count(b"\n") if journal.exists() else 0
        assert whole >= kept[-1]
        kept.append(whole)
    assert max(kept) > 1

    class Slow(odd.Plain):
        capabilities = Capabilities(deterministic=True)

    made = run(suite(20, 5, 5), Slow, journal=journal, resume=True)
    assert_alike(run(suite(20, 5, 5), Slow), made)


NUMBERS = st.floats() | st.none()


@given(
    st.lists(
        st.tuples(st.text(max_size=3), NUMBERS, st.lists(st.tuples(st.text(max_size=3), NUMBERS))),
        max_size=4,
    )
)
def test_rows_come_back_as_they_were(noted: list[tuple[str, Any, list[tuple[str, Any]]]]) -> None:
    def fill(rows: Rows) -> Rows:
        for n, (probe, ms, found) in enumerate(noted):
            call = dict.fromkeys(CALL_FIELDS[:-1])
            call |= {"probe": probe, "repeat": n, "k": 5, "status": "ok", "latency_ms": ms}
            call |= {"n_records": 3, "n_eligible": 3}
            hits = {name: [None] * len(found) for name in HIT_FIELDS}
            hits |= {"store_id": [i for i, _ in found], "score": [s for _, s in found]}
            hits |= {"resolved_by": ["unknown"] * len(found), "text": ["x"] * len(found)}
            rows.add(tuple(call.values()), list(hits.values()) if found else ())
            rows.judge(probe, "r", "stale", "listed", n)
        return rows

    told = json.loads(json.dumps(fill(Rows()).to_dict()))
    again, order = Rows.of_dict(told), {probe: n for n, (probe, _, _) in enumerate(noted)}
    assert len(again) == len(noted) and again.qrels == fill(Rows()).qrels
    assert (again.n_hits, again.n_known, again.unsteady) == (sum(len(f) for *_, f in noted), 0, 0)
    try:
        expected = fill(Rows()).tables(order)
    except KeyError:  # half characters were replaced in a name, which no suite has
        assert any(not probe.isprintable() for probe, _, _ in noted)
        return
    for one, other in zip(expected, again.tables(order), strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_a_score_without_end_comes_back() -> None:
    rows = Rows()
    call = dict.fromkeys(CALL_FIELDS[:-1])
    call |= {"probe": "p", "repeat": 0, "k": 1, "status": "ok", "n_records": 1, "n_eligible": 1}
    hits = dict.fromkeys(HIT_FIELDS, [None]) | {"score": [math.inf], "resolved_by": ["own"]}
    rows.add(tuple(call.values()), list(hits.values()))
    told = json.loads(json.dumps(rows.to_dict()))
    assert Rows.of_dict(told).tables({"p": 0})[0]["score"].tolist() == [math.inf]


def memeval(*argv: str) -> int:
    return main(["run", "--quiet", *argv])


STORE = """
    import os
    from memeval.stores.sqlite import SqliteStore

    class Stops(SqliteStore):
        n = 0

        def search(self, query, **options):
            Stops.n += 1
            if os.path.exists("stop") and Stops.n > 70:
                raise KeyboardInterrupt
            return super().search(query, **options)
"""
PROBES = "\n".join(
    f"""\
- name: p{n}
  query: "Where does person{n} keep the key?"
  given: [{{id: r{n}, text: "person{n} keeps the key in drawer{n}"}}]
  expect: [r{n}]"""
    for n in range(30)
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "all.yaml").write_text(PROBES, encoding="utf-8")
    (tmp_path / f"stopping_{tmp_path.name}.py").write_text(textwrap.dedent(STORE))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_goes_on_where_it_stopped(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, journal = f"stopping_{folder.name}:Stops", Path(".memeval/run.jsonl")
    Path("stop").touch()
    assert memeval("--store", store) == 130
    assert "'memeval run --resume' with the same options goes on" in capsys.readouterr().err
    kept = journal.read_bytes().count(b"\n")
    assert kept > 5 and not Path("eval-results.json").exists()
    Path("stop").unlink()
    assert main(["run", "--store", store, "--resume"]) == 0
    out, _ = capsys.readouterr()
    assert "recall_all" in out and not journal.exists()
    saved = next(Path(".memeval/runs").glob("*.json"))
    assert f"{kept - 1} answers are of an attempt that stopped" in saved.read_text()


def test_the_command_says_what_becomes_of_a_journal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--resume"]) == 0
    assert "--resume: found no .memeval/run.jsonl, so this is a new one" in capsys.readouterr().err
    Path(".memeval/run.jsonl").write_text("of one that stopped\n")
    assert main(["run"]) == 0
    assert ".memeval/run.jsonl of one that stopped is written over" in capsys.readouterr().err
    assert memeval("--resume", "--no-texts") == 2
    assert (
        "a journal, which holds the answers of the store, and --no-texts keeps none"
        in capsys.readouterr().err
    )


def test_without_texts_nothing_is_journalled(folder: Path) -> None:
    Path("stop").touch()
    store = f"stopping_{folder.name}:Stops"
    assert memeval("--store", store, "--no-texts") == 130
    assert not Path(".memeval").exists()


def test_histories_with_deletes_go_on_too(tmp_path: Path) -> None:
    ops: list[Op] = [Record("a", "the bike is red"), Record("b", "the bike is blue"), Delete("a")]
    probes = [Probe(f"p{n}", "bike", ops, ["b"], ["a"]) for n in range(4)]
    store = type("Stops", (Stops, odd.Deleting), {"at": 5, "asked": Counter()})
    with pytest.raises(KeyboardInterrupt):
        run(probes, store, journal=tmp_path / "j")
    store.at = 10**9
    made = run(probes, store, journal=tmp_path / "j", resume=True)
    assert_alike(run(probes, store), made)
