"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

# A shared machine stalls now and then: no example may fail for being slow.
hypothesis.settings.register_profile("memeval", deadline=None)
hypothesis.settings.load_profile("memeval")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with real data and reference values; the test skips where there is none."""
    folder = Path(os.environ.get("MEMEVAL_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no data folder at {folder}: set MEMEVAL_SHARED to run this test")
    return folder
