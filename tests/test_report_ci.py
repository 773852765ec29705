"""What workflows and readers of JUnit XML are told of a run: hostile names included."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from report_fixtures import INVALID, PAYLOADS, diagnosed_run, hostile_run

from memeval.cli import main
from memeval.report.github import controlled, ran
from memeval.report.junit import junit_xml
from memeval.runs import Run

COMMAND = re.compile(r"::(error|warning|notice) [^\n:]*::[^\n]*")


def in_file(run: Run, path: Path, line: int) -> Run:
    """The run, with every probe read from one line of a file."""
    probes = [replace(probe, file=str(path), line=line) for probe in run.suite]
    return replace(run, suite=replace(run.suite, probes=tuple(probes)))


def lines(text: str) -> list[str]:
    found = text.split("\n")
    assert all(COMMAND.fullmatch(line) for line in found), found
    return found


def test_every_failing_probe_is_annotated_at_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = in_file(diagnosed_run(), tmp_path / "probes" / "a.yaml", 7)
    told = lines(ran(run))
    about = [line for line in told if "file=" in line]
    assert len(about) == min(10, len(run.failing)) > 0
    assert all("file=probes/a.yaml,line=7,title=" in line for line in about)
    assert any("%0A" in line for line in about)
    assert told[0].startswith("::error title=memeval run%3A FAIL::")


def test_a_file_elsewhere_is_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = in_file(diagnosed_run(), tmp_path.parent / "other" / "a.yaml", 7)
    assert str(tmp_path.parent) not in ran(run) and "file=" not in ran(run)


def test_no_text_of_others_begins_a_command() -> None:
    told = lines(ran(hostile_run()))
    assert len(told) > 1
    for line in told:
        assert line.count("::") >= 2
        head = line[2:].partition("::")[0]
        assert not set(head) & {"\r", "\n", "\x1b"}
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", ran(hostile_run()))


def test_of_an_invalid_suite_no_probe_is_told() -> None:
    run = diagnosed_run(validity=INVALID)
    (line,) = lines(ran(run))
    assert "INVALID" in line
    told = ET.fromstring(junit_xml(run).encode())
    suite = told[0]
    assert int(suite.get("skipped", "")) == len(run.suite) and suite.get("failures") == "1"


def test_controls_that_came_out_well_say_nothing() -> None:
    run = diagnosed_run()
    good = replace(run.verdict, word="PASS", exit_code=0)
    assert controlled(replace(run.validity, status="valid"), good) == ""
    weak = controlled(replace(run.validity, status="weak"), good)
    assert weak.startswith("::warning title=memeval control%3A weak suite::")


def test_junit_counts_what_became_of_the_probes() -> None:
    run = diagnosed_run()
    suite = ET.fromstring(junit_xml(run).encode())[0]
    cases = {case.get("name"): case for case in suite}
    assert len(cases) == len(run.suite) + 1
    failed = {name for name, case in cases.items() if case.find("failure") is not None}
    errors = {name for name, case in cases.items() if case.find("error") is not None}
    assert failed | errors == set(run.failing["probe"]) | {"memeval verdict"}
    assert int(suite.get("failures", "")) == len(failed)
    assert int(suite.get("errors", "")) == len(errors)
    row = run.results.set_index("probe")["latency_ms"].dropna()
    assert float(cases[row.index[0]].get("time", "")) == pytest.approx(row.iloc[0] / 1000, abs=1e-6)
    assert junit_xml(run) == junit_xml(run)


def test_junit_of_hostile_texts_is_well_formed() -> None:
    text = junit_xml(hostile_run())
    suite = ET.fromstring(text.encode())[0]
    assert len(suite) == len(hostile_run().suite) + 1
    assert not any(payload in text for payload in PAYLOADS if "<" in payload)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "a.yaml").write_text(
        "- name: kiosk\n  query: zebra\n  given: [{id: r1, text: The kiosk sells soup.}]\n"
        "  expect: [r1]\n- name: dark\n  query: lighthouse\n"
        "  given: [{id: r1, text: The kiosk sells soup.}]\n  expect: []\n"
    )
    return tmp_path


@pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
def test_the_verbs_write_annotations_summary_and_junit(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["run", "--name", "kiosk", "--github", "--junit", "out.xml", "--no-diagnose"]
    main([*argv, "--quiet"])
    out = capsys.readouterr().out
    assert "file=probes/a.yaml,line=1,title=kiosk%3A missed" in out
    summary = (folder / "summary.md").read_text()
    assert summary.startswith("# memeval: ") and "kiosk" in summary
    assert ET.parse(folder / "out.xml").getroot()[0].get("tests") == "2"
    assert main(["control", "--github", "--quiet"]) == 0
    assert "::warning title=memeval control%3A weak suite::" in capsys.readouterr().out
    both = (folder / "summary.md").read_text()
    assert both.startswith(summary) and "## Controls" in both[len(summary) :]


@pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
def test_beside_json_annotations_stand_on_stderr(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    main(["run", "--name", "kiosk", "--github", "--format", "json", "--no-diagnose"])
    captured = capsys.readouterr()
    assert "::" not in captured.out and "title=kiosk%3A missed" in captured.err
    json.loads(captured.out)
    assert captured.err.startswith("::stop-commands::")
    assert "there is no step summary" in captured.err


def test_a_place_for_junit_is_checked_before_anything_runs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--junit", "none/out.xml"]) == 2
    assert "there is no folder" in capsys.readouterr().err


def acted_on(text: str) -> list[str]:
    """Lines that the runner takes as commands, by its rules, slowly."""
    found, token = [], ""
    for line in text.split("\n"):
        start = line.lstrip()
        if token:
            token = "" if start.startswith(f"::{token}::") else token
        elif start.startswith("::stop-commands::"):
            token = start.removeprefix("::stop-commands::")
        elif start.startswith("::") or "##[" in line:
            found.append(line)
    return [*found, "never resumed"] if token else found


@pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
@pytest.mark.parametrize(
    "argv",
    [
        ["run", "--name", "kiosk", "--no-diagnose", "--out", "r.json"],
        ["run", "--dry-run"],
        ["control"],
        ["compare", "r.json", "r.json"],
    ],
)
def test_no_text_in_a_table_is_a_command(
    argv: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    probes = folder / "probes" / "a.yaml"
    hostile = '"::error::soup ##[error]soup"'
    named = probes.read_text().replace("The kiosk sells soup.", hostile).replace("zebra", hostile)
    probes.write_text(named)
    main(["run", "--no-diagnose", "--out", "r.json", "--quiet"])
    capsys.readouterr()
    main([*argv, "--github"])
    captured = capsys.readouterr()
    assert captured.out.startswith("::stop-commands::")
    found = acted_on(captured.out)
    assert all(COMMAND.fullmatch(line) and "##[" not in line for line in found), found


def test_every_verb_stops_commands_under_another_token(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = set()
    for _ in range(2):
        main(["run", "--dry-run", "--github"])
        tokens.add(capsys.readouterr().out.split("\n")[0])
    assert len(tokens) == 2 and all(len(token) >= 32 for token in tokens)


def test_after_an_error_the_runner_takes_no_commands(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--github", "--store", "no_such:thing"]) == 2
    assert acted_on(capsys.readouterr().out) == ["never resumed"]


@pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
def test_a_summary_that_cannot_be_written_changes_no_exit_code(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder))  # a folder
    assert main(["control", "--github", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert "GITHUB_STEP_SUMMARY: cannot write to" in captured.err
    assert "::warning title=memeval control" in captured.out


def test_junit_holds_no_character_that_xml_does_not_allow() -> None:
    run = hostile_run()
    odd = "".join(map(chr, [0, 8, 0x0B, 0xFFFE, 0xFFFF, 0xD800, 0x1FFFE]))
    probes = [replace(probe, file=f"{odd}.yaml") for probe in run.suite]
    text = junit_xml(replace(run, suite=replace(run.suite, probes=tuple(probes))))
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", text)
    classes = {case.get("classname") or "" for case in ET.fromstring(text.encode())[0]}
    assert any("<U+FFFE>" in name and "<U+FFFF>" in name for name in classes)
