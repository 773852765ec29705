"""The page of a notebook in a real browser: nothing loads, nothing of others runs, all is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exporting import MARKUP, code, data, hostile_notebook, notebook
from test_report_browser import CONTRAST

from memeval.report.exporting.executing import Stopped
from memeval.report.exporting.page import notebook_html
from memeval.text import clean

pytestmark = pytest.mark.browser

Open = Callable[..., Any]
PHONE = {"width": 380, "height": 800}
OPEN_ALL = "() => document.querySelectorAll('details').forEach(d => { d.open = true; })"
WORDS = "a word of a table " * 6
TABLE = (
    "<table class='dataframe'><thead><tr><th></th>"
    + "<th>n_records</th>" * 12
    + "</tr></thead><tbody><tr><th>0</th>"
    + f"<td>{WORDS}</td>" * 12
    + "</tr></tbody></table>"
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = hostile_notebook()
    made.cells.insert(1, code("wide", data(text_html=TABLE), data(text_plain="x" * 3000)))
    stopped = Stopped("failed", len(made.cells) - 2, 1, 3, "Bad", "message")
    path = tmp_path_factory.mktemp("export") / "hostile.html"
    path.write_text(notebook_html(made, "hostile", inputs=True, stopped=stopped), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "options",
    [
        {"color_scheme": "light"},
        {"color_scheme": "dark"},
        {"viewport": PHONE},
        {"viewport": PHONE, "color_scheme": "dark", "java_script_enabled": False},
    ],
    ids=["light", "dark", "phone", "no script"],
)
def test_hostile_cells_do_nothing_and_can_be_read(
    options: dict[str, Any], hostile: Path, visit: Open
) -> None:
    page = visit(hostile, **options)
    page.wait_for_load_state("load")
    if not options.get("java_script_enabled", True):
        assert page.get_by_role("heading", level=1).is_visible()
        return
    assert page.evaluate("window.pwned") is None
    assert page.url == hostile.as_uri() and page.title().endswith("memeval notebook")
    assert page.locator("script, iframe, object, form, base").count() == 0
    room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert room[0] <= room[1]
    page.evaluate(OPEN_ALL)
    contrast, where = page.evaluate(CONTRAST)
    assert contrast >= 4.5, where


def test_every_hostile_text_is_there_and_nothing_stands_over_it(hostile: Path, visit: Open) -> None:
    page = visit(hostile)
    shown = page.evaluate("[...document.querySelectorAll('pre.out')].map(p => p.textContent)")
    flat = ["".join(text.split()) for text in shown]
    for text in MARKUP:
        wanted = "".join(clean(text).split()).replace("\x1b", "\u241b").replace("\x07", "\u2407")
        wanted = wanted.replace("\u241b[31m", "").replace("\u202e", "<U+202E>")
        assert flat.count(wanted) >= 3, text  # as a value, on stdout and on stderr
    fixed = "[...document.querySelectorAll('main *')].filter(n => n.checkVisibility() && "
    fixed += "['fixed', 'absolute', 'sticky'].includes(getComputedStyle(n).position)).length"
    assert page.evaluate(fixed) == 0
    broken = "[...document.images].filter(i => !i.alt || !i.complete || !i.naturalWidth).length"
    assert page.evaluate(broken) == 0
    assert page.locator(".stopped").is_visible()
    page.get_by_role("link", name="What stopped it").click()
    page.wait_for_function("location.hash === '#stopped'")


def test_no_output_is_drawn_over_what_comes_after_it(tmp_path: Path, visit: Open) -> None:
    over = "<div style='height:0'><div style='height:3000px;background:lime'>over</div></div>"
    made = notebook(
        "# T", "## A", code("x", data(text_html=over)), f"text\n\n{over}", "## B", "last"
    )
    path = tmp_path / "page.html"
    path.write_text(notebook_html(made, "t"), encoding="utf-8")
    page = visit(path)
    at = "n => { const r = n.getBoundingClientRect(); return n.contains("
    at += "document.elementFromPoint(r.x + 5, r.y + r.height / 2)); }"
    for found in (page.get_by_text("text"), page.locator("#B"), page.get_by_text("last")):
        assert found.first.evaluate(at)


def test_a_wide_table_scrolls_in_its_own_box_and_prints(tmp_path: Path, visit: Open) -> None:
    path = tmp_path / "page.html"
    made = notebook("# T", code("t", data(text_html=TABLE)), "## A", "## B", "## C")
    path.write_text(notebook_html(made, "t"), encoding="utf-8")
    page = visit(path, viewport=PHONE)
    box = page.get_by_role("region", name="Table")
    wide, seen = box.evaluate("n => [n.scrollWidth, n.clientWidth]")
    assert wide > seen and seen < PHONE["width"]
    page.keyboard.press("Tab")
    while not box.evaluate("n => n === document.activeElement"):  # after the links of the contents
        assert page.evaluate("document.activeElement !== document.body")
        page.keyboard.press("Tab")
    page.get_by_role("link", name="B").click()
    page.wait_for_function("location.hash === '#B'")
    assert page.pdf(format="A4").startswith(b"%PDF")
