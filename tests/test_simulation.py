"""A simulation: its verdict in words, its file, and what is refused as one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from memeval import frames
from memeval.errors import RunFileError
from memeval.simulation import Simulation, load_simulation, save_simulation
from tests.grown import checkpoints, drift_probes, grown, n_records, old_ones_are_lost

TABLES = ("drift_probes", "checkpoints", "sizes")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return save_simulation(grown(old_ones_are_lost), tmp_path / "drift.json")


def test_what_is_read_is_what_was_written(saved: Path) -> None:
    written, read = grown(old_ones_are_lost), load_simulation(saved)
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(read, name), getattr(written, name))
    assert dict(read.manifest) == dict(written.manifest)
    assert read.queries == written.queries
    assert (read.margin, read.budget_ms) == (0.10, 100.0)
    pd.testing.assert_frame_equal(read.slopes, written.slopes)
    assert repr(read) == repr(written)


def test_margin_and_budget_are_kept(tmp_path: Path) -> None:
    path = save_simulation(grown(margin=0.03, budget_ms=7.5), tmp_path / "drift.json")
    assert (load_simulation(path).margin, load_simulation(path).budget_ms) == (0.03, 7.5)


def test_the_same_simulation_is_the_same_file(tmp_path: Path) -> None:
    one = save_simulation(grown(), tmp_path / "one.json")
    two = save_simulation(load_simulation(one), tmp_path / "two.json")
    assert one.read_bytes() == two.read_bytes() and one.is_absolute()


def test_empty_tables_come_back_with_their_dtypes(tmp_path: Path) -> None:
    empty = {
        name: frames.empty(schema)
        for name, schema in zip(
            TABLES, (frames.DRIFT_PROBES, frames.CHECKPOINTS, frames.SIZES), strict=True
        )
    }
    nothing = Simulation(**empty, manifest={})
    read = load_simulation(save_simulation(nothing, tmp_path / "drift.json"))
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(read, name), empty[name])
    assert read.verdict.word == "CANNOT TELL" and "0 sessions" in repr(read)


def change(path: Path, **changes: Any) -> Path:
    payload = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(payload | changes), encoding="utf-8")
    return path


def test_a_newer_version_is_refused(saved: Path) -> None:
    with pytest.raises(RunFileError, match="version 2, wanted 1; simulate again, or update"):
        load_simulation(change(saved, version=2))


def test_another_file_of_memeval_is_refused(saved: Path) -> None:
    with pytest.raises(RunFileError, match="found 'memeval run', wanted a simulation"):
        load_simulation(change(saved, format="memeval run"))


DAMAGES: list[dict[str, Any]] = [
    {"tables": {}},
    {"tables": []},
    {"tables": None},
    {"tables": {"drift_probes": {}, "checkpoints": {}, "sizes": {}}},
    {"tables": {name: {"session": [1], "n_records": [1, 2]} for name in TABLES}},
    {"tables": {name: "text" for name in TABLES}},
    {"manifest": 3},
    {"queries": ["a"]},
    {"queries": None},
    {"margin": "much"},
    {"margin": None},
    {"budget_ms": []},
    {"budget_ms": 10**400},
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_with_its_path(saved: Path, damage: dict[str, Any]) -> None:
    with pytest.raises(RunFileError, match=r"drift\.json.*(damaged|simulate again)"):
        load_simulation(change(saved, **damage))


@pytest.mark.parametrize("key", ["tables", "manifest", "queries", "margin", "budget_ms"])
def test_a_file_that_lacks_a_part_is_refused(saved: Path, key: str) -> None:
    payload = json.loads(saved.read_text(encoding="utf-8"))
    del payload[key]
    saved.write_text(json.dumps(payload), encoding="utf-8")
    with pytest.raises(RunFileError, match=f"damaged.*{key}"):
        load_simulation(saved)


def test_cells_of_another_kind_are_refused(saved: Path) -> None:
    tables = json.loads(saved.read_text(encoding="utf-8"))["tables"]
    tables["sizes"]["n_kept"][0] = "many"
    with pytest.raises(RunFileError, match="damaged.*n_kept"):
        load_simulation(change(saved, tables=tables))


def test_a_cut_off_file_is_refused(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes()[:999])
    with pytest.raises(RunFileError, match="is not JSON"):
        load_simulation(saved)
    with pytest.raises(RunFileError, match="cannot be read"):
        load_simulation(saved.with_name("none.json"))


def test_recall_that_holds_is_flat() -> None:
    verdict = grown().verdict
    assert (verdict.word, verdict.exit_code) == ("PASS", 0)
    # No loss in 40 probes: at most 1 - 0.05 ** (1 / 40) = 0.0722 can have been lost.
    assert verdict.reason.startswith("FLAT: recall_all by growth: +0.000") and (
        f"{1 - 0.05 ** (1 / 40):.3f}" in verdict.reason
    )


def test_recall_that_falls_is_a_decline() -> None:
    found = grown(old_ones_are_lost)
    assert (found.verdict.word, found.verdict.exit_code) == ("FAIL", 1)
    assert found.verdict.reason.startswith("DECLINE: ")
    assert found.trend.n == 40 and "20 fall and 0 rise" in found.verdict.reason


def test_few_probes_cannot_tell() -> None:
    # No loss in 5 probes: up to 1 - 0.05 ** (1 / 5) = 0.451 can have been lost, above the margin.
    found = grown(drift_probes=drift_probes(probes=5))
    assert (found.verdict.word, found.verdict.exit_code) == ("CANNOT TELL", 0)
    assert "0.451" in found.verdict.reason


def test_a_leak_fails_although_recall_holds() -> None:
    asked = drift_probes()
    asked.loc[[3, 44], "n_leaked"] = 1
    verdict = grown(drift_probes=asked).verdict
    assert (verdict.word, verdict.exit_code) == ("FAIL", 1)
    assert "leaks in 2 probes" in verdict.reason and "probe-03, probe-04" in verdict.reason


def test_what_was_lost_is_told_with_its_size() -> None:
    lost = grown(old_ones_are_lost).lost
    assert lost["probe"].tolist() == [f"probe-{n:02}" for n in range(20)]
    assert set(lost["last_passed"]) == {n_records(16)} == {220}
    assert set(lost["n_records"]) == {n_records(32)} == {380}
    # 20 of the 80 copies that were asked twice are lost: 1 - 20 / 80.
    assert grown(old_ones_are_lost).survival["survival"].iloc[-1] == pytest.approx(0.75)


def test_growth_and_latency_are_read_off_the_tables() -> None:
    found = grown()
    assert found.growth.verdict == "linear" and found.growth.ratio == pytest.approx(1.0)
    assert found.latency.group == "linear"
    # 100 ms = 2 + 0.05 n at n = 1,960, within four times 1,340.
    assert found.latency.crossing == pytest.approx(1960)
    far = grown(budget_ms=500.0, checkpoints=checkpoints())
    assert far.latency.crossing == math.inf


def test_the_words_of_a_hostile_store_do_no_harm() -> None:
    found = grown(manifest={"store": "a\x1b[31m\u202eb"})
    assert "\x1b" not in repr(found) and "\u202e" not in repr(found)
    assert repr(found).startswith("Simulation of 128 sessions on a␛[31m<U+202E>b: PASS: FLAT")
    assert "recall_all" in repr(found) and "retention" in repr(found)


def test_a_store_that_is_full_declines_although_what_it_has_stays() -> None:
    # The first cohort is found at every size, those planted later never: by cohort nothing moves,
    # at age 0 recall goes from 1 to 0.
    full = grown(lambda probe, cohort, session: cohort == 0)
    assert full.trend.curve == "crowding" and full.trend.drop > 0.5
    assert (full.verdict.word, full.verdict.exit_code) == ("FAIL", 1)
    assert full.verdict.reason.startswith("DECLINE: recall_all by crowding: -")


def test_a_fall_by_crowding_below_the_margin_does_not_decide() -> None:
    slight = grown(lambda probe, cohort, session: cohort == 0 or probe > 2)
    assert slight.trend.curve == "growth" and slight.verdict.word == "PASS"
