"""The baseline: a function of the outcomes, and never of what must not be accepted."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memeval.baseline import accept, difference, former, reason_of
from memeval.comparing.refusals import refusal
from memeval.errors import MemevalError, RunFileError
from memeval.files.resultsfile import write_results
from memeval.files.runfiles import save_run
from memeval.outcomes import outcomes_of, read_outcomes
from memeval.record import Hit
from memeval.runner import run
from memeval.runs import Run
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite
from tests.suites import BACKGROUND, leakable, negative, positive, suite


@pytest.fixture(scope="module")
def made() -> Run:
    return run(suite(), SqliteStore)


def forgetting(word: str) -> type[SqliteStore]:
    class Forgetting(SqliteStore):
        def search(self, query: str, **options: Any) -> list[Hit]:
            return [] if word in query else super().search(query, **options)

        def info(self) -> dict[str, Any]:
            return super().info() | {"name": "SqliteStore"}

    return Forgetting


def elsewhere(made: Run) -> Run:
    """The same outcomes, measured at another time, commit, host and speed."""
    manifest = replace(
        made.manifest,
        created_at="2025-01-02T00:00:00+00:00",
        environment={"commit": "c2", "platform": "other", "python": "3.13.0", "dirty": False},
        options=dict(made.manifest.options) | {"retried": 3, "puts": 1},
        store_info=dict(made.manifest.store_info) | {"version": "SQLite 9", "path": "/tmp/x"},
        notes=("slow today",),
    )
    slower = made.calls.assign(latency_ms=made.calls["latency_ms"] * 3)
    return replace(made, calls=slower, manifest=manifest)


def test_identical_outcomes_give_identical_bytes(made: Run, tmp_path: Path) -> None:
    same_store = dict(made.manifest.store_info)
    other = elsewhere(made)
    other = replace(other, manifest=replace(other.manifest, store_info=same_store))
    first = accept(made, tmp_path / "a.json", reason="r").read_bytes()
    assert accept(other, tmp_path / "b.json", reason="r").read_bytes() == first
    kept = save_run(other, tmp_path / "run.json", texts=False)
    results = write_results(other, tmp_path / "results.json")
    assert accept(results, tmp_path / "c.json", reason="r").read_bytes() == first
    assert (
        json.loads(accept(kept, tmp_path / "d.json", reason="r").read_text())["per_probe"]
        == (json.loads(first)["per_probe"])
    )


def test_the_file_holds_a_line_per_probe_and_no_time_place_or_text(
    made: Run, tmp_path: Path
) -> None:
    text = accept(elsewhere(made), tmp_path / "b.json", reason="first").read_text()
    for word in (
        "2025-",
        '"c2"',
        '"other"',
        "3.13.0",
        "/tmp",
        "latency",
        "p95",
        "noodle",
        "slow today",
    ):
        assert word not in text
    lines = re.findall(r'^    "([^"]+)": \{"hit"', text, re.MULTILINE)
    assert lines == sorted(probe.name for probe in made.suite)
    assert json.loads(text)["recall_at_5"] == 1.0


def test_accepting_the_same_again_leaves_the_bytes_whatever_the_reason(
    made: Run, tmp_path: Path
) -> None:
    path = accept(made, tmp_path / "b.json", reason="first")
    before, moment = path.read_bytes(), path.stat().st_mtime_ns
    assert accept(elsewhere(made), path, reason="another word") == path
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, moment)
    assert reason_of(path) == "first"


def test_changed_outcomes_are_written_with_their_reason(made: Run, tmp_path: Path) -> None:
    path = accept(made, tmp_path / "b.json", reason="first")
    before = former(path)
    worse = run(suite(), forgetting("person1 "))
    accept(worse, path, reason="  we\nlose  one ")
    assert reason_of(path) == "we lose one"
    changes = difference(before, outcomes_of(worse))
    assert (changes.lost, changes.gained, changes.edited) == (("positive-01",), (), ())
    assert difference(outcomes_of(worse), outcomes_of(made)).gained == ("positive-01",)


def test_another_embedder_is_written_although_the_outcomes_are_the_same(
    made: Run, tmp_path: Path
) -> None:
    path = accept(made, tmp_path / "b.json", reason="first")
    info = dict(made.manifest.store_info) | {"embedder": "small-v2"}
    moved = replace(made, manifest=replace(made.manifest, store_info=info))
    accept(moved, path, reason="new embedder")
    assert reason_of(path) == "new embedder"


def test_differences_name_added_removed_and_edited_probes(made: Run) -> None:
    edited = replace(suite()[0], query="where does person0 keep item0 in the room")
    probes = (edited, *suite()[2:], positive(77))
    other = run(Suite(probes, BACKGROUND, "test"), SqliteStore)
    changes = difference(outcomes_of(made), outcomes_of(other))
    assert (changes.added, changes.removed) == (("positive-77",), ("positive-01",))
    assert changes.edited == ("positive-00",)
    assert len(difference(None, outcomes_of(made)).added) == 30


@pytest.mark.parametrize("reason", ["", "  \n", "...", "\u200b", None])
def test_a_blank_reason_is_refused(reason: Any, made: Run, tmp_path: Path) -> None:
    with pytest.raises(MemevalError, match="wanted a few words"):
        accept(made, tmp_path / "b.json", reason=reason)
    assert not (tmp_path / "b.json").exists()


class Leaky(SqliteStore):
    def search(self, query: str, *, scope: str, **options: Any) -> list[Hit]:
        found = super().search(query, scope=scope, **options)
        return found + super().search(query, scope="bo", **options) if scope == "ana" else found


class Down(SqliteStore):
    def search(self, query: str, **options: Any) -> list[Hit]:
        if "person1 " in query:
            raise ConnectionError("refused")
        return super().search(query, **options)


def test_a_leak_can_never_be_accepted(tmp_path: Path) -> None:
    leaking = run(suite(), Leaky)
    for source in (leaking, write_results(leaking, tmp_path / "r.json")):
        with pytest.raises(
            MemevalError, match="leaked in 5 probes: leakable-00.*never be accepted"
        ):
            accept(source, tmp_path / "b.json", reason="r")
    assert not (tmp_path / "b.json").exists()


def test_failed_searches_are_accepted_only_as_far_as_they_are_allowed(tmp_path: Path) -> None:
    failed = run(suite(), Down)
    with pytest.raises(MemevalError, match="than the 0 allowed, in 1 probe: positive-01"):
        accept(failed, tmp_path / "b.json", reason="r")
    allowed = run(suite(), Down, allow_errors=1)
    results = write_results(allowed, tmp_path / "r.json")
    assert read_outcomes(accept(results, tmp_path / "b.json", reason="r")).passing


def test_a_lost_must_probe_and_a_broken_contract_are_refused(made: Run) -> None:
    probes = (replace(positive(1), must=True), *suite()[2:])
    lost = refusal(outcomes_of(run(Suite(probes, BACKGROUND), forgetting("person1 "))))
    assert lost is not None and lost.exit_code == 1
    assert "marked must and not passed: 1 probe: positive-01" in lost.reason
    assert "take 'must' off" in lost.next_step
    broken = outcomes_of(made)
    broken = replace(broken, probes=broken.probes.assign(n_contract=1))
    refused = refusal(broken)
    assert refused is not None and "broke its contract in 30 probes" in refused.reason


def test_an_invalid_suite_and_one_without_probes_are_refused(made: Run, tmp_path: Path) -> None:
    invalid = run(Suite((positive(1),)), SqliteStore)
    for source in (invalid, write_results(invalid, tmp_path / "r.json")):
        with pytest.raises(MemevalError, match="luck alone"):
            accept(source, tmp_path / "b.json", reason="r")
    sound = outcomes_of(made)
    none = refusal(replace(sound, probes=sound.probes.iloc[:0]))
    assert none is not None and (none.word, none.exit_code) == ("INVALID", 4)
    assert refusal(sound) is None


def test_chosen_probes_and_bare_numbers_hold_too_little(made: Run, tmp_path: Path) -> None:
    chosen = run(suite()[:25], SqliteStore)
    with pytest.raises(RunFileError, match="of 25 probes chosen of 30"):
        accept(write_results(chosen, tmp_path / "r.json"), tmp_path / "b.json", reason="r")
    with pytest.raises(RunFileError, match="has no manifest"):
        accept({"recall_at_k": 0.9, "per_probe": {}}, tmp_path / "b.json", reason="r")


BARE = '{"recall_at_k": 0.9, "mrr": 0.5}'


@pytest.mark.parametrize(
    "text", [BARE, '{"per_probe": {}}', '{"name": "app"}', "probes:\n- name: x\n", "[]", "\x00\xff"]
)
def test_another_file_is_never_written_over(text: str, made: Run, tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(RunFileError, match=r"b\.json"):
        accept(made, path, reason="r")
    assert path.read_text(encoding="latin-1") == text


def test_the_bare_dictionary_is_said_to_be_no_baseline(made: Run, tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text(BARE)
    with pytest.raises(RunFileError, match=r"b\.json: is no baseline of memeval"):
        accept(made, path, reason="r")


def test_runs_sources_and_conflicts_are_not_written_over(made: Run, tmp_path: Path) -> None:
    kept = save_run(made, tmp_path / "run.json")
    held = kept.read_bytes()
    with pytest.raises(RunFileError, match="is a full run"):
        accept(made, kept, reason="r")
    assert kept.read_bytes() == held
    results = write_results(made, tmp_path / "r.json")
    with pytest.raises(RunFileError, match="found one name"):
        accept(results, results, reason="r")
    path = tmp_path / "b.json"
    path.write_text("{\n<<<<<<< ours\n}\n")
    with pytest.raises(RunFileError, match="merge conflict"):
        accept(made, path, reason="r")
    with pytest.raises(RunFileError, match="found a folder"):
        accept(made, tmp_path, reason="r")


def test_a_results_file_or_an_empty_file_gives_way_to_a_baseline(made: Run, tmp_path: Path) -> None:
    path = write_results(made, tmp_path / "b.json")
    assert read_outcomes(accept(made, path, reason="r")).kind == "baseline"
    path.write_text("")
    assert former(path) is None
    assert read_outcomes(accept(made, path, reason="r")).kind == "baseline"


def test_probes_that_are_not_supported_are_no_lost_must(made: Run) -> None:
    side = outcomes_of(made)
    skipped = side.probes.assign(must=True)
    skipped.loc[0, "status"] = "not_supported"
    skipped.loc[0, "n_passed"] = 0
    assert refusal(replace(side, probes=skipped)) is None
    assert {negative(0).name, leakable(0).name} <= side.passing
