"""How probes did in the runs before: what is read of a folder, and what the page shows of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_fixtures import INVALID, hostile_run, make_run, manifest
from test_report_html import LOADING, Page, section

from memeval.files import earlier as reading
from memeval.files.earlier import EarlierRun, earlier_runs
from memeval.files.passing import passing_of
from memeval.files.runfiles import save_run
from memeval.report import write_report
from memeval.report.html import report_html
from memeval.report.trend_rows import trends
from memeval.runs import Run


def of_day(day: int, **more: Any) -> Run:
    """The run of the eight probes on a day of April; that of `make_run` is of the first of May."""
    return make_run(manifest=manifest(created_at=f"2026-04-{day:02}T12:00:00+00:00"), **more)


def keep(folder: Path, day: int, **more: Any) -> Path:
    return save_run(of_day(day, **more), folder / f"202604{day:02}T120000Z-cafe.json")


def cat_found(run: Run) -> Run:
    """The same run with an empty answer where nothing is right, so that the probe passes."""
    kept = run.hits[run.hits["probe"].ne("answers-anyway")]
    calls = run.calls.assign(breaches=run.calls["breaches"].mask(run.calls["breaches"].notna()))
    return replace(run, hits=kept, calls=calls)


def test_a_run_file_tells_which_probes_passed(tmp_path: Path) -> None:
    # By hand, see tests/report_fixtures.py: four fail, one is not supported, three pass.
    told = json.loads(keep(tmp_path, 1).read_text())["outcome"]["probes"]
    assert {name for name, (_, passed) in told.items() if passed is False} == {
        "neighbour", "answers-anyway", "search-breaks", "cafe-or-bar"}  # fmt: skip
    assert told["needs-delete"][1] is None and told["lunch-spot"][1] is True
    assert told["lunch-spot"][0] == make_run().suite[0].content_hash
    withheld = json.loads(save_run(make_run(validity=INVALID), tmp_path / "x.json").read_text())
    assert withheld["outcome"]["probes"] is None


def test_the_runs_of_the_same_store_before_this_one_are_found_oldest_first(tmp_path: Path) -> None:
    for day in (3, 1, 2):
        keep(tmp_path, day)
    save_run(make_run(), tmp_path / "20260501T120000Z-cafe.json")  # itself
    other = manifest(store="desk", created_at="2026-04-04T12:00:00+00:00")
    save_run(make_run(manifest=other), tmp_path / "20260404T120000Z-desk.json")
    keep(tmp_path, 5, validity=INVALID)
    later = manifest(created_at="2026-06-01T12:00:00+00:00")
    save_run(make_run(manifest=later), tmp_path / "copied.json")
    found = earlier_runs(tmp_path, make_run())
    assert [one.at[:10] for one in found.runs] == ["2026-04-01", "2026-04-02", "2026-04-03"]
    assert found.runs[0].probes == passing_of(make_run()) and not found.left_out
    assert earlier_runs([of_day(3), make_run(), of_day(1)], make_run()).runs == (
        found.runs[0], found.runs[2])  # fmt: skip
    assert earlier_runs(tmp_path / "nowhere", make_run()).runs == ()


def test_at_most_so_many_files_are_read_the_newest_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = keep(tmp_path, 1)
    for day in range(2, 28):  # a copy each, so that only the names differ
        text = first.read_text().replace("2026-04-01T12", f"2026-04-{day:02}T12")
        (tmp_path / f"202604{day:02}T120000Z-cafe.json").write_text(text)
    save_run(make_run(), tmp_path / "20260501T120000Z-cafe.json")
    read: list[str] = []
    real = reading.read_saved
    monkeypatch.setattr(reading, "read_saved", lambda p, w: (read.append(p.name), real(p, w))[1])
    monkeypatch.setattr(reading, "run_from", lambda *_: pytest.fail("it was scored again"))
    found = earlier_runs(tmp_path, make_run())
    assert len(read) == len(found.runs) == 20 and found.runs[0].at[8:10] == "08"
    assert not any(name.startswith("202605") for name in read)  # by their names they are later


def test_what_cannot_be_read_is_left_out_and_told(tmp_path: Path) -> None:
    keep(tmp_path, 1)
    (tmp_path / "20260402T120000Z-cafe.json").write_text("{")
    (tmp_path / "20260403T120000Z-cafe.json").write_text('{"format": "other"}')
    (tmp_path / "20260404T120000Z-cafe.json").write_text("")  # one that is being written
    payload = json.loads(keep(tmp_path, 5).read_text())
    payload["outcome"]["probes"] = {"lunch-spot": "yes"}  # then the run itself decides
    (tmp_path / "20260405T120000Z-cafe.json").write_text(json.dumps(payload))
    payload["tables"] = {}
    (tmp_path / "20260406T120000Z-cafe.json").write_text(json.dumps(payload))
    found = earlier_runs(tmp_path, make_run())
    assert [one.at[:10] for one in found.runs] == ["2026-04-01", "2026-04-05"]
    assert found.runs[0].probes == found.runs[1].probes
    assert [name[6:8] for name in found.left_out] == ["06", "03", "02"]
    assert "damaged" in found.left_out["20260406T120000Z-cafe.json"]


def shown(before: list[dict[str, Any]]) -> Any:
    """Trends of the run of the eight probes after runs in which probes had these outcomes."""
    hashes = {probe.name: probe.content_hash for probe in make_run().suite}
    runs = [
        EarlierRun(f"2026-04-0{n}T12:00:00+00:00", {
            name: (hashes[name] if passed != "other" else "0" * 16, passed is True)
            for name, passed in one.items()})
        for n, one in enumerate(before, 1)
    ]  # fmt: skip
    return trends(make_run(), reading.Earlier(tuple(runs)))


def test_marks_are_bars_above_for_passed_below_for_failed_and_dots_for_absent() -> None:
    told = shown([{"neighbour": True}, {"neighbour": True}, {}, {"neighbour": False}])
    # A mark is 3 wide, the next begins 5 on: passed at 0 and 5, absent 10, failed 15, and now 20.
    assert dict(told.of["neighbour"].marks) == {
        "passed": "M0 5h8", "absent": "M10 8h3", "failed": "M15 11h8"}  # fmt: skip
    assert told.width == 23 and told.n == 4


@pytest.mark.parametrize(
    ("probe", "before", "words"),
    [
        ("neighbour", [True, True], "passed 2 of 2 runs before; fails for the first time"),
        ("neighbour", [True, False, False], "passed 1 of 3 runs before; failing since 2026-04-02"),
        ("neighbour", [False, True], "passed 1 of 2 runs before; fails again"),
        ("neighbour", [False, None, False], "passed 0 of 2 runs before"),
        ("neighbour", ["other", True], "passed 1 of 1 run before; fails for the first time"),
        ("neighbour", [None, "other"], "not asked like this before"),
        ("lunch-spot", [False], "passed 0 of 1 run before; passes for the first time"),
        ("lunch-spot", [False, True, None], "passed 1 of 2 runs before; passing since 2026-04-02"),
        ("needs-delete", [True], "passed 1 of 1 run before"),
    ],
)
def test_the_same_stands_in_words(probe: str, before: list[Any], words: str) -> None:
    told = shown([{} if one is None else {probe: one} for one in before])
    assert told.of[probe].words == words


def test_the_page_has_a_strip_for_each_probe_with_its_words(tmp_path: Path) -> None:
    html = report_html(make_run(), earlier=earlier_runs([of_day(1), of_day(2)], make_run()))
    (table,) = re.findall('<table class="probes".*?</table>', html, re.S)
    strips = [attrs for tag, attrs in Page(table).elements if tag == "svg"]
    assert len(strips) == 8
    assert all(one["role"] == "img" and one["aria-label"] for one in strips)
    assert "Runs: 2 runs of this store before, 2026-04-01 to 2026-04-02, oldest" in section(
        html, "probes"
    )
    assert "Runs passed 0 of 2 runs before Asked" in section(html, "details")
    assert html.count("<path") < 2 * 8 + 1
    without = report_html(make_run())
    assert 'class="runs"' not in without and "runs before" not in without


def test_a_folder_may_be_named_and_the_page_stays_the_same_byte_for_byte(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for day in (1, 2, 3):
        save_run(
            cat_found(of_day(day)) if day == 2 else of_day(day), runs / f"2026040{day}T120000Z.json"
        )
    one = write_report(make_run(), tmp_path / "a.html", earlier=runs).read_bytes()
    assert one == write_report(make_run(), tmp_path / "b.html", earlier=str(runs)).read_bytes()
    assert b"passed 1 of 3 runs before; failing since 2026-04-03" in one
    made = [of_day(3), cat_found(of_day(2)), of_day(1)]
    assert one == write_report(make_run(), tmp_path / "c.html", earlier=made).read_bytes()


def test_of_an_invalid_suite_no_run_before_is_told() -> None:
    run = make_run(validity=INVALID)
    assert report_html(run, earlier=earlier_runs([of_day(1)], run)) == report_html(run)


def test_hostile_names_in_kept_files_do_nothing(tmp_path: Path) -> None:
    run = hostile_run()
    before = replace(run, manifest=replace(run.manifest, created_at="2026-04-01T12:00:00+00:00"))
    now = replace(run, manifest=replace(run.manifest, created_at="2026-05-01T12:00:00+00:00"))
    html = report_html(now, earlier=earlier_runs([before], now))
    assert 'class="runs"' in html
    for tag, attrs in Page(html).elements:
        assert not [name for name in attrs if name.startswith("on")]
        assert all(str(attrs[name]).startswith("#") for name in LOADING & attrs.keys()), tag
