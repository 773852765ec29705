"""Finding the shipped probes and notebooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from memeval import resources
from memeval.errors import MemevalError


def package_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = folder / "memeval"
    package.mkdir(parents=True)
    monkeypatch.setattr(resources, "PACKAGE", package)
    return package


def test_a_checkout_has_them_beside_the_package(tmp_path, monkeypatch):
    package_in(tmp_path, monkeypatch)
    (tmp_path / "probes").mkdir()
    (tmp_path / "notebooks").mkdir()
    assert resources.probes_folder() == tmp_path / "probes"
    assert resources.notebooks_folder() == tmp_path / "notebooks"


def test_a_wheel_has_them_inside_the_package(tmp_path, monkeypatch):
    package = package_in(tmp_path / "site-packages", monkeypatch)
    (package / "_shipped" / "probes").mkdir(parents=True)
    (tmp_path / "site-packages" / "probes").mkdir()
    assert resources.probes_folder() == package / "_shipped" / "probes"


def test_other_peoples_packages_are_not_taken_for_ours(tmp_path, monkeypatch):
    package_in(tmp_path / "site-packages", monkeypatch)
    (tmp_path / "site-packages" / "probes").mkdir()
    with pytest.raises(MemevalError, match="wanted the shipped probes; reinstall memeval"):
        resources.probes_folder()


def test_nothing_shipped_says_where_it_looked(tmp_path, monkeypatch):
    package = package_in(tmp_path, monkeypatch)
    with pytest.raises(MemevalError) as caught:
        resources.notebooks_folder()
    assert str(package / "_shipped" / "notebooks") in str(caught.value)
    assert str(tmp_path / "notebooks") in str(caught.value)


def test_a_missing_haystack_is_said(tmp_path, monkeypatch):
    package_in(tmp_path, monkeypatch)
    (tmp_path / "probes").mkdir()
    with pytest.raises(MemevalError, match="haystack: none"):
        resources.haystack_file()
