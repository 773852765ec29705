"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# A shared machine stalls now and then: no example may fail for being slow.
# `pytest --hypothesis-profile thorough` looks far longer, for a machine that has the night.
hypothesis.settings.register_profile("memeval", deadline=None, max_examples=60)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("memeval")

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with real data and reference values; the test skips where there is none."""
    folder = Path(os.environ.get("MEMEVAL_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no data folder at {folder}: set MEMEVAL_SHARED to run this test")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a page; at the end nothing may have been asked for, said or thrown."""
    contexts, asked, faults = [], [], []

    def go(path: Path, hash: str = "", quiet: bool = True, **options: Any) -> Any:
        context = browser.new_context(**({"viewport": {"width": 1200, "height": 900}} | options))
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        if quiet:
            page.on("console", lambda message: faults.append(message.text))
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri() + hash)
        return page

    yield go
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith("file://")] == []
    assert faults == []
