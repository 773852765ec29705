"""A run that was recorded runs again without its store, and comes to the same, times included."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import odd_stores as odd
import pandas as pd
import pytest
import test_runjournal as stopping
from suites import positive, suite
from test_tape import STORES

import memeval as me
from memeval import Record, Run, Suite, run
from memeval.cli import main
from memeval.errors import MemevalError, RunFileError, StoreError
from memeval.harness import runjournal
from memeval.harness.tapefile import Hashed
from memeval.record import Hit
from memeval.recordings import load_recording
from memeval.stores.base import Capabilities

pytestmark = pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")

SMALL = suite(5, 2, 2)


def assert_same(one: Run, other: Run) -> None:
    for name in ("hits", "calls", "qrels"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))
    assert one.verdict == other.verdict
    assert one.manifest.config_hash == other.manifest.config_hash
    assert one.manifest.fingerprint == other.manifest.fingerprint
    assert one.manifest.repeats == other.manifest.repeats


@pytest.mark.parametrize("name", sorted(STORES))
def test_a_replay_is_the_run_that_was_recorded_times_included(name: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"poll_s": 0.01, "settle_s": 0.05}
    odd_one = {"allow_nonempty": True} if name == "strangers" else {}
    path = tmp_path / "said.jsonl"
    first = run(SMALL, STORES[name], record=path, **options, **odd_one)
    replay = load_recording(path)
    again = run(SMALL, replay, **options)
    assert_unprefixed(first, again, name)
    assert_unprefixed(again, run(SMALL, replay, **options), name)  # a replay can be run again


def assert_unprefixed(one: Run, other: Run, name: str) -> None:
    """The same; a namespace is called otherwise in a store that is made for each history."""
    if "namespace" in name:
        one, other = (replace(r, hits=stopping.unprefixed(r.hits)) for r in (one, other))
    assert_same(one, other)


def test_a_pipeline_is_recorded_as_it_is_asked(tmp_path: Path) -> None:
    def retrieve(store: Any, view: Any) -> Any:
        return store.search(view.query, k=view.k, scope=view.scope)[:2]

    first = run(SMALL, odd.Plain, retrieve=retrieve, record=tmp_path / "r")
    assert_same(first, run(SMALL, load_recording(tmp_path / "r")))
    assert first.hits.groupby("probe").size().max() == 2


class Shaky(odd.Plain):
    """Fails every third call for the first time, and is found when tried again."""

    n = 0

    def search(self, query: str, *, k: int, scope: str) -> Any:
        Shaky.n += 1
        if Shaky.n % 3 == 0:
            raise ConnectionError("the line is down")
        return self.found(query, k, scope)


def test_calls_that_were_tried_again_are_told_again_without_a_pause(tmp_path: Path) -> None:
    first = run(SMALL, Shaky, retries=2, record=tmp_path / "r")
    assert first.calls["error"].notna().any()
    started = time.monotonic()
    assert_same(first, run(SMALL, load_recording(tmp_path / "r")))
    assert time.monotonic() - started < 0.1 * first.manifest.options["retried"]


class Chance(odd.Plain):
    """Answers otherwise each time, and says so."""

    capabilities = Capabilities(deterministic=False)
    n = 0

    def search(self, query: str, *, k: int, scope: str) -> Any:
        Chance.n += 1
        found = self.found(query, k, scope)
        return found if "memeval" in scope else found[: len(found) - Chance.n % 2]


def test_each_repeat_has_its_own_answers(tmp_path: Path) -> None:
    first = run(SMALL, Chance, record=tmp_path / "r")
    assert first.manifest.repeats == 5 and first.results["flaky"].any()
    assert_same(first, run(SMALL, load_recording(tmp_path / "r")))
    fewer = run(SMALL, load_recording(tmp_path / "r"), repeats=2)
    kept = first.calls[first.calls["repeat"] < 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(fewer.calls, kept)
    with pytest.raises(StoreError, match="repeats is 6, and the recording has at most 5"):
        run(SMALL, load_recording(tmp_path / "r"), repeats=6)


def test_judging_may_change_and_asks_nothing(tmp_path: Path) -> None:
    first = run(SMALL, odd.Plain, record=tmp_path / "r")
    again = run(
        SMALL,
        load_recording(tmp_path / "r"),
        floors={"precision": 0.99},
        targets={"mrr": 0.99},
        contract_checks=False,
        is_stale=lambda record: record.id == "r0",
    )
    assert first.verdict.exit_code == 0 and again.verdict.exit_code == 1
    assert again.summary.set_index("metric").loc["staleness", "value"] > 0
    assert again.manifest.options["contract_checks"] is False
    assert any("contract not checked" in note for note in again.manifest.notes)


def test_some_of_the_probes_can_be_asked_alone(tmp_path: Path) -> None:
    first = run(SMALL, odd.Plain, record=tmp_path / "r")
    some = SMALL.select(names=["positive-03", "negative-01"])
    made = run(some, load_recording(tmp_path / "r"))
    kept = first.calls[first.calls["probe"].isin(["positive-03", "negative-01"])]
    pd.testing.assert_frame_equal(made.calls, kept.reset_index(drop=True))


@pytest.mark.parametrize("changed", ["query", "k", "record", "another"])
def test_what_was_not_recorded_is_refused_whole(changed: str, tmp_path: Path) -> None:
    run(SMALL, odd.Plain, record=tmp_path / "r")
    probe = SMALL[0]
    other = {
        "query": replace(probe, query="Who else?"),
        "k": replace(probe, k=3),
        "record": replace(probe, given=[*probe.given, Record("new", "a new one")]),
        "another": positive(77),
    }[changed]
    asked = Suite((other, *SMALL[1:]), SMALL.haystack, "test")
    with pytest.raises(StoreError, match="the recording has no answer to this: ") as told:
        run(asked, load_recording(tmp_path / "r"))
    assert "The probes are not those that were recorded" in str(told.value)
    assert "ask the store itself" in str(told.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"seed": 3}, "seed is 3, and the recording has 0"),
        ({"retrieve": lambda store, view: []}, "retrieve is given, and the recording has none"),
        ({"journal": "j"}, "journal is 'j', and what is asked is a recording"),
        ({"record": "r2"}, "record is 'r2', and what is asked is a recording"),
    ],
)
def test_options_that_would_ask_otherwise_are_refused(
    options: dict[str, Any], told: str, tmp_path: Path
) -> None:
    run(SMALL, odd.Plain, record=tmp_path / "r")
    with pytest.raises(StoreError, match=told):
        run(SMALL, load_recording(tmp_path / "r"), **options)


def test_the_manifest_is_that_of_then_and_says_so(tmp_path: Path) -> None:
    first = run(SMALL, odd.Plain, record=tmp_path / "r", seed=4)
    made = run(SMALL, load_recording(tmp_path / "r")).manifest
    assert made.seed == 4 and made.store_info == first.manifest.store_info
    assert made.options["searches"] == first.manifest.options["searches"]
    assert made.options["recorded_at"] == first.manifest.created_at
    assert made.notes[-1].startswith("answers and times are of a recording made 20")
    assert me.compare(first, run(SMALL, load_recording(tmp_path / "r"))).verdict.exit_code == 0


class Shared(odd.Plain):
    """One place for all, that several threads may ask."""

    capabilities = Capabilities(isolation="namespace", thread_safe=True, deterministic=True)
    place: dict[str, Record] = {}

    def __init__(self) -> None:
        self.kept = self.place

    def found(self, query: str, k: int, scope: str | None) -> list[Hit]:
        time.sleep(0.001)
        alone = odd.Plain()
        alone.kept = dict(self.kept)  # other threads write meanwhile
        return alone.found(query, k, scope)

    def delete(self, store_id: str) -> None:
        del self.kept[store_id]


def test_threads_record_together(tmp_path: Path) -> None:
    pytest.importorskip("joblib", reason="several workers take joblib")
    many = suite(24, 5, 5)
    first = run(many, Shared, jobs=8, record=tmp_path / "r")
    again = run(many, load_recording(tmp_path / "r"))
    assert_unprefixed(first, again, "namespace")
    assert again.manifest.options["jobs"] == 8
    with pytest.raises(StoreError, match="times that are taken in parallel"):
        run(many, load_recording(tmp_path / "r"), floors={"latency_p95_ms": 5.0})


def test_processes_cannot_and_that_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    pytest.importorskip("joblib", reason="several workers take joblib")
    with pytest.raises(StoreError, match="the workers are processes, which cannot write one"):
        run(SMALL, odd.Plain, jobs=2, record=tmp_path / "r")
    with pytest.raises(StoreError, match="the workers are processes"):
        run(SMALL, odd.Plain, jobs=2, record=tmp_path / "r", journal=tmp_path / "j")
    assert not list(tmp_path.iterdir())


def test_a_recording_is_never_written_over(tmp_path: Path) -> None:
    run(SMALL, odd.Plain, record=tmp_path / "r")
    before = (tmp_path / "r").read_bytes()
    with pytest.raises(RunFileError, match="is there already and is not written over"):
        run(SMALL, odd.Plain, record=tmp_path / "r")
    assert (tmp_path / "r").read_bytes() == before


@pytest.mark.parametrize("at", [1, 7, 12])
def test_a_recording_that_stopped_is_gone_on_with(at: int, tmp_path: Path) -> None:
    store, record, journal = stopping.stops(at), tmp_path / "r", tmp_path / "j"
    with pytest.raises(KeyboardInterrupt):
        run(SMALL, store, record=record, journal=journal)
    with pytest.raises(RunFileError, match=f"the recording stops after {at // 2} histories"):
        load_recording(record)
    store.at = 10**9
    made = run(SMALL, store, record=record, journal=journal, resume=True)
    assert store.asked.total() == at + 1 + 2 * (len(SMALL) - at // 2)
    assert_same(made, run(SMALL, load_recording(record)))


def test_a_run_that_was_not_recorded_from_its_beginning_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runjournal, "EVERY_S", 0.0)
    store, journal = stopping.stops(7), tmp_path / "j"
    with pytest.raises(KeyboardInterrupt):
        run(SMALL, store, journal=journal)
    with pytest.raises(StoreError, match="the recording would lack what was asked then"):
        run(SMALL, store, journal=journal, resume=True, record=tmp_path / "r")
    assert not (tmp_path / "r").exists()


SCRIPT = """
    import sys, time
    from suites import suite
    import odd_stores as odd
    from memeval import run
    from memeval.stores.base import Capabilities

    class Slow(odd.Plain):
        capabilities = Capabilities(deterministic=True)
        def search(self, query, *, k, scope):
            time.sleep(0.002)
            return self.found(query, k, scope)

    print("ready", flush=True)
    run(suite(20, 5, 5), Slow, journal=sys.argv[1], record=sys.argv[2], resume=True)
    print("done", flush=True)
"""


def test_killed_at_any_moment_a_recording_and_its_journal_agree(tmp_path: Path) -> None:
    journal, record = tmp_path / "j", tmp_path / "r"
    for n in range(6):
        attempt = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SCRIPT), journal, record],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parent,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )
        assert attempt.stdout is not None and attempt.stdout.readline() == b"ready\n"
        time.sleep(0.05 * (1 + n * 3 % 4))
        attempt.send_signal(signal.SIGKILL)
        if attempt.communicate()[0]:
            break

    class Slow(odd.Plain):
        capabilities = Capabilities(deterministic=True)

    many = suite(20, 5, 5)
    made = run(many, Slow, journal=journal, record=record, resume=True)
    assert_same(made, run(many, load_recording(record)))


@pytest.mark.parametrize("damage", ["no journal", "cut", "no json", "key gone", "odd receipt"])
def test_a_damaged_recording_is_refused_in_words(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "r"
    run(SMALL, STORES["assigning"], record=path)
    lines = path.read_text(encoding="utf-8").splitlines()
    told = json.loads(lines[3])
    if damage == "no journal":
        lines = ['{"format": "something else"}']
    elif damage == "cut":
        lines = lines[:-1]
    elif damage == "no json":
        lines[3] = lines[3][:-5]
    elif damage == "key gone":
        del told["steps"]
    else:
        told["told"][0] = [{"receipts": [["stored"]]}]
    if damage in ("key gone", "odd receipt"):
        lines[3] = json.dumps(told)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(RunFileError, match="wanted a (recording|whole one)"):
        load_recording(path)
    with pytest.raises(RunFileError, match="cannot read"):
        load_recording(tmp_path / "none")


def test_what_was_written_and_asked_stands_there_as_hashes_alone(tmp_path: Path) -> None:
    run(SMALL, odd.Plain, record=tmp_path / "r")
    text = (tmp_path / "r").read_text(encoding="utf-8")
    assert "where does person1 keep" not in text and "background note" not in text
    assert "person1 keeps item1" in text  # what the store answered does


def test_half_characters_of_a_store_come_back_as_they_were(tmp_path: Path) -> None:
    class Half(odd.Plain):
        def found(self, query: str, k: int, scope: str | None) -> list[Hit]:
            told = super().found(query, k, scope)
            return [Hit(hit.id, hit.text, hit.score, {"raw": "\ud800", "n": [1]}) for hit in told]

    first = run(SMALL, Half, record=tmp_path / "r")
    assert_same(first, run(SMALL, load_recording(tmp_path / "r")))


def test_hashes_are_equal_in_every_process() -> None:
    key = (("a", 0), None, 1.5, True)
    code = f"from memeval.harness.tapefile import Hashed; print(Hashed().key({key!r}))"
    told = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[1])},
        ).stdout.strip()
        for seed in ("1", "2")
    ]  # fmt: skip
    assert told == [Hashed().key(key)] * 2


def test_a_replay_shows_what_it_is(tmp_path: Path) -> None:
    run(SMALL, "sqlite", record=tmp_path / "r")
    assert repr(load_recording(tmp_path / "r")) == f"Replay of SqliteStore: {len(SMALL)} histories"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "all.yaml").write_text(stopping.PROBES, encoding="utf-8")
    (tmp_path / f"stopping_{tmp_path.name}.py").write_text(textwrap.dedent(stopping.STORE))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_records_and_replays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--record", "said.jsonl", "--format", "json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["run", "--replay", "said.jsonl", "--format", "json", "--out", "again.json"]) == 0
    out, err = capsys.readouterr()
    again = json.loads(out)
    for name in ("metrics", "per_probe", "recall_at_5"):
        assert first.get(name) == again.get(name)
    assert "said.jsonl" in err
    assert main(["run", "--record", "said.jsonl"]) == 2
    assert "is there already and is not written over" in capsys.readouterr().err


@pytest.mark.parametrize("other", ["--store sqlite", "--record b", "--resume", "--dry-run"])
def test_replay_goes_with_nothing_that_asks_a_store(
    other: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--record", "said.jsonl", "--quiet"]) == 0
    assert main(["run", "--replay", "said.jsonl", *other.split()]) == 2
    assert f"{other.split()[0]} given beside --replay" in capsys.readouterr().err


def test_failing_probes_of_a_replay_are_not_diagnosed_and_that_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("probes/more.yaml").write_text(
        '- name: lost\n  query: "Who paints?"\n'
        '  given: [{id: a, text: "the ferry leaves at nine"}]\n  expect: [a]\n'
    )
    assert main(["run", "--record", "said.jsonl", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["run", "--replay", "said.jsonl"]) == 0
    assert "the failed probes are not diagnosed: a recording" in capsys.readouterr().err


def test_a_recorded_command_that_stops_goes_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"stopping_{folder.name}:Stops"
    Path("stop").touch()
    assert main(["run", "--store", store, "--record", "said.jsonl", "--quiet"]) == 130
    Path("stop").unlink()
    assert main(["run", "--store", store, "--record", "said.jsonl", "--resume", "--quiet"]) == 0
    assert main(["run", "--replay", "said.jsonl", "--quiet"]) == 0


def test_a_recording_is_no_text_file_where_texts_are_to_be_in_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--record", "said.jsonl", "--no-texts"]) == 2
    assert "a recording, which holds the answers of the store" in capsys.readouterr().err


def test_counting_calls_is_replayed(tmp_path: Path) -> None:
    class Counting(odd.Plain):
        def __init__(self) -> None:
            super().__init__()
            self.llm_calls = 0

        def search(self, query: str, *, k: int, scope: str) -> Any:
            self.llm_calls += 2
            return self.found(query, k, scope)

    first = run(SMALL, Counting, record=tmp_path / "r")
    assert set(first.calls["llm_calls"]) == {4}  # the fixed word, and the query
    assert_same(first, run(SMALL, load_recording(tmp_path / "r")))


def test_a_recording_in_a_folder_that_is_not_there_is_refused_before(tmp_path: Path) -> None:
    run(SMALL, odd.Plain, record=tmp_path / "new" / "r")  # made, as for a journal
    assert (tmp_path / "new" / "r").is_file()
    (tmp_path / "file").touch()
    with pytest.raises(MemevalError, match="cannot write"):
        run(SMALL, odd.Plain, record=tmp_path / "file" / "r")
