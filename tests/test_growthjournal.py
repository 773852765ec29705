"""The journal of a simulation: on disk at once, cut where it was torn, refused where it is odd."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from memeval.errors import MemevalError, RunFileError
from memeval.files.growthjournal import GrowthJournal, Kept
from memeval.files.journal import JournalWarning

KEY: dict[str, Any] = {"suite": "abc", "seed": 7, "cohorts": [0, 5], "memeval": "1.0"}
SIZE, LATER = {"session": 0, "n_records": 3}, {"session": 5, "n_records": 9}
ALONE = {"share": 0.0, "n": 1, "probes": []}
FIRST = Kept(SIZE, [SIZE | {"probe": "a", "cohort": 0, "passed": True}], ALONE)
SECOND = Kept(LATER, [LATER | {"probe": "a", "cohort": 0, "passed": False}])


def warned(words: str, left: int) -> AbstractContextManager[Any]:
    """Expect the words where something is left of a line; a whole file is taken in silence."""
    return pytest.warns(JournalWarning, match=rf"j\.jsonl: {words}") if left else nullcontext()


def filled(path: Path) -> GrowthJournal:
    journal = GrowthJournal(path, KEY)
    journal.add(0, FIRST)
    journal.add(5, SECOND)
    return journal


def test_what_was_added_is_found_again(tmp_path: Path) -> None:
    filled(tmp_path / "new" / "j.jsonl")
    again = GrowthJournal(tmp_path / "new" / "j.jsonl", KEY, resume=True)
    assert again.found == {0: FIRST, 5: SECOND}


def test_what_was_judged_of_the_suite_stays_as_it_was_when_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    GrowthJournal(path, KEY, validity={"status": "weak"}).add(0, FIRST)
    again = GrowthJournal(path, KEY, resume=True, validity={"status": "valid"})
    assert again.validity == {"status": "weak"} and again.found == {0: FIRST}
    assert GrowthJournal(path, KEY, validity={"status": "valid"}).validity == {"status": "valid"}
    filled(path)
    assert GrowthJournal(path, KEY, resume=True, validity={"status": "weak"}).validity is None


def test_each_line_is_on_disk_before_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bytes] = []
    path = tmp_path / "j.jsonl"
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(path.read_bytes()))
    filled(path)
    assert [said.count(b"\n") for said in synced] == [1, 2, 3]


def test_without_resume_it_is_begun_anew(tmp_path: Path) -> None:
    filled(tmp_path / "j.jsonl")
    assert GrowthJournal(tmp_path / "j.jsonl", KEY).found == {}
    assert (tmp_path / "j.jsonl").read_bytes().count(b"\n") == 1


@pytest.mark.parametrize("left", [0, 1, 40])
def test_a_last_line_that_was_torn_is_cut_off_and_written_again(left: int, tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    filled(path)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:left])
    with warned("line 3 was cut off in the writing; what it was to tell is done again", left):
        again = GrowthJournal(path, KEY, resume=True)
    assert again.found == {0: FIRST}
    again.add(5, SECOND)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("left", [0, 1, 30])
def test_a_first_line_that_was_torn_begins_it_anew(left: int, tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    filled(path)
    head = path.read_bytes().splitlines(keepends=True)[0]
    path.write_bytes(head[:left])
    with warned("its first line was cut off, so it is begun anew", left):
        assert GrowthJournal(path, KEY, resume=True).found == {}
    again, first = (json.loads(line) | {"mark": "", "sum": 0} for line in (path.read_bytes(), head))
    assert again == first


@pytest.mark.parametrize(
    "damage",
    [
        b"\x00\x00",
        b"[1]",
        b"[" * 100_000,
        b'{"session": 0}',
        b'{"session": "x"}',
        b'{"session": 0, "checkpoint": {}, "probes": [], "neighbours": null}',
        b'{"session": 0, "checkpoint": {"session": 0, "n_records": 3}, "probes": [{}], '
        b'"neighbours": null}',
        b'{"session": 0, "checkpoint": {"session": 0, "n_records": NaN}, "probes": [], '
        b'"neighbours": null}',
        b'{"session": 0, "checkpoint": {"session": 0, "n_records": 3}, "probes": [], '
        b'"neighbours": {"n": 3}}',
    ],
)
def test_a_damaged_line_in_the_middle_is_refused_with_its_number(
    damage: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "j.jsonl"
    filled(path)
    lines = path.read_bytes().splitlines()
    lines[1] = damage
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(RunFileError, match=r"j\.jsonl, line 2: cannot be read.*without resume"):
        GrowthJournal(path, KEY, resume=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"suite": "xyz"}, "suite was 'abc', now it is 'xyz'"),
        ({"seed": 8, "memeval": "2.0"}, "seed was 7, now it is 8"),
        ({"cohorts": (0, 6)}, r"cohorts had \[5\] that are gone, and now has \[6\] besides"),
        ({"memeval": "2.0"}, "memeval was '1.0', now it is '2.0'"),
        ({"more": 1}, "more was None, now it is 1"),
    ],
)
def test_the_journal_of_another_simulation_is_refused_with_the_first_difference(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "j.jsonl"
    filled(path)
    before = path.read_bytes()
    with pytest.raises(RunFileError, match=said):
        GrowthJournal(path, KEY | change, resume=True)
    assert path.read_bytes() == before


def test_a_key_that_the_new_one_lacks_is_a_difference_too(tmp_path: Path) -> None:
    filled(tmp_path / "j.jsonl")
    fewer = {name: value for name, value in KEY.items() if name != "seed"}
    with pytest.raises(RunFileError, match="seed was 7, now it is None"):
        GrowthJournal(tmp_path / "j.jsonl", fewer, resume=True)


@pytest.mark.parametrize(
    "head", [{"format": "something", "version": 1}, {"format": "memeval simulation journal"}]
)
def test_what_is_no_journal_is_refused(head: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text(json.dumps(head) + "\n")
    with pytest.raises(RunFileError, match="wanted memeval simulation journal, version 2"):
        GrowthJournal(path, KEY, resume=True)


def test_a_head_that_was_changed_is_refused_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    filled(path)
    head, *others = path.read_text(encoding="utf-8").splitlines()
    changed = json.dumps(json.loads(head) | {"key": [1]})
    path.write_text("\n".join([changed, *others]) + "\n", encoding="utf-8")
    with pytest.raises(RunFileError, match="line 1: cannot be read"):
        GrowthJournal(path, KEY, resume=True)


def test_a_number_that_was_changed_on_disk_is_never_taken(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    filled(path)
    whole = path.read_bytes()
    at = whole.rindex(b'"n_records": ') + 13
    other = b"%d" % ((int(whole[at : at + 1]) + 1) % 10 or 1)
    path.write_bytes(whole[:at] + other + whole[at + 1 :])
    with pytest.raises(RunFileError, match="cannot be read"):
        GrowthJournal(path, KEY, resume=True)


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MemevalError, match="cannot write the journal .*file/j.jsonl"):
        GrowthJournal(tmp_path / "file" / "j.jsonl", KEY)
    with pytest.raises(RunFileError, match="cannot read the journal"):
        GrowthJournal(tmp_path, KEY, resume=True)
