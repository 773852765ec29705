"""Files that are whole or not there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from memeval.atomic import write_whole
from memeval.errors import MemevalError


def test_text_is_written_as_utf8_with_lf_ends(tmp_path: Path) -> None:
    path = write_whole(tmp_path / "a.txt", "Fenster öffnen\nja\n")
    assert path == tmp_path / "a.txt"
    assert path.read_bytes() == "Fenster öffnen\nja\n".encode()


def test_nothing_else_is_left_in_the_folder(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.txt", "one")
    write_whole(tmp_path / "a.txt", "two")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "two"


@pytest.mark.parametrize("text", ["half \ud83d", "long " * 10_000 + "\udc00"])
def test_text_that_cannot_be_written_leaves_the_old_file_and_no_other(
    tmp_path: Path, text: str
) -> None:
    write_whole(tmp_path / "a.txt", "one")
    with pytest.raises(MemevalError, match=r"cannot write .*a\.txt"):
        write_whole(tmp_path / "a.txt", text)
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "one"


def test_a_move_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_whole(tmp_path / "a.txt", "one")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(MemevalError, match=r"Permission denied"):
        write_whole(tmp_path / "a.txt", "two")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "one"


def test_a_key_press_in_the_middle_leaves_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "chmod", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a.txt", "two")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MemevalError, match=r"cannot write .*nowhere.*No such file.*wanted a place"):
        write_whole(tmp_path / "nowhere" / "a.txt", "one")
    with pytest.raises(MemevalError, match="cannot write"):
        write_whole(tmp_path / "a\x00.txt", "one")
    (tmp_path / "folder").mkdir()
    with pytest.raises(MemevalError, match="cannot write"):
        write_whole(tmp_path / "folder", "one")


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_a_new_file_has_the_mode_of_the_umask_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        path = write_whole(tmp_path / "a.txt", "one")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_whole(path, "two")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_a_link_stays_a_link_and_what_it_points_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "kept" / "a.txt")
    write_whole(tmp_path / "link.txt", "one")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "kept" / "a.txt").read_text() == "one"


def test_a_name_as_long_as_the_file_system_takes_is_written(tmp_path: Path) -> None:
    assert write_whole(tmp_path / ("x" * 255), "one").read_text() == "one"


def test_a_relative_path_comes_back_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_whole("a.txt", "one") == tmp_path / "a.txt"
