"""The report in a real browser: nothing loads, nothing of others runs, everything works."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from grown import grown
from mutants import SKELETON, made
from report_fixtures import (
    INVALID,
    PAYLOADS,
    SCRIPT,
    calls,
    diagnosed_run,
    earlier_run,
    hits,
    hostile_pair,
    hostile_run,
    make_run,
    manifest,
    probes,
)

import memeval as me
from memeval import frames
from memeval.comparison import compare
from memeval.loading import load_text
from memeval.report import write_report
from memeval.report.notebook import controls_html, run_html
from memeval.runs import Run
from memeval.suite import Suite

pytestmark = pytest.mark.browser

# Relative luminance and contrast as WCAG 2 defines them, of every text that is seen.
CONTRAST = """() => {
  const rgb = c => c.match(/[0-9.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = node => {
    for (let n = node; n; n = n.parentElement) {
      const c = rgb(getComputedStyle(n).backgroundColor);
      if (c.length < 4 || c[3] > 0) { return c; }
    }
    return [255, 255, 255];
  };
  const worst = [21, ''];
  for (const node of document.querySelectorAll('main *, footer *')) {
    const own = [...node.childNodes].some(c => c.nodeType === 3 && c.data.trim());
    if (!own || !node.checkVisibility() || node.closest('script, style')) { continue; }
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(ground(node))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < worst[0]) { worst[0] = contrast; 
      worst[1] = node.className + ': ' + node.textContent.slice(0, 40);
    }
  }
  return worst;
}"""
OPEN_ALL = "() => document.querySelectorAll('details').forEach(d => { d.open = true; })"
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(diagnosed_run(), tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(
        hostile_run(), tmp_path_factory.mktemp("report") / "hostile.html", all_probes=True
    )


@pytest.fixture(scope="module")
def invalid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    return write_report(diagnosed_run(validity=INVALID), folder / "invalid.html")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "compared.html"
    return write_report(diagnosed_run(), path, baseline=earlier_run())


@pytest.fixture(scope="module")
def hostile_compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    before, now = hostile_pair()
    return write_report(now, tmp_path_factory.mktemp("report") / "odd.html", baseline=before)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every section that there is."""
    days = [manifest(created_at=f"2026-04-0{day}T12:00:00+00:00") for day in range(1, 8)]
    return write_report(
        diagnosed_run(),
        tmp_path_factory.mktemp("report") / "whole.html",
        baseline=earlier_run(),
        simulation=grown(),
        mutation=made(),
        earlier=[make_run(manifest=told) for told in days],
    )


@pytest.fixture(scope="module")
def sixty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every other shipped probe, sixty of them, with hits, causes, drift and runs before."""
    suite = me.load()
    run = me.run(replace(suite, probes=tuple(suite)[:120:2]), "sqlite", repeat_check=False)
    run = run.diagnosed(me.diagnose(run, "sqlite").causes)
    told = [replace(run.manifest, created_at=f"2026-04-{day:02}T12:00:00+00:00") for day in
            range(1, 21)]  # fmt: skip
    return write_report(
        run,
        tmp_path_factory.mktemp("report") / "sixty.html",
        simulation=grown(),
        earlier=[replace(run, manifest=one) for one in told],
    )


def thousand() -> Run:
    """The eight probes 125 times over, with their hits."""
    copies = range(125)
    suite = Suite.of([replace(p, name=f"{p.name}-{n:03}") for n in copies for p in probes()])
    many = {
        name: frames.conform(
            pd.concat([one.assign(probe=one["probe"] + f"-{n:03}") for n in copies]), schema
        )
        for name, one, schema in (("hits", hits(), frames.HITS), ("calls", calls(), frames.CALLS))
    }
    return make_run(suite=suite, qrels=suite.qrels(), **many)


def pages_of(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def names(page: Any) -> list[str]:
    """Names of the rows of the probe table that are seen, in order."""
    return list(
        page.eval_on_selector_all(
            "#table tbody tr:not([hidden])",
            "rows => rows.map(r => r.querySelector('.name').textContent)",
        )
    )


def test_nothing_but_the_file_is_asked_for(
    visit: Open, report: Path, invalid: Path, whole: Path
) -> None:
    for path in (report, invalid, whole):
        visit(path).evaluate(OPEN_ALL)


def test_hostile_text_does_not_run_and_is_readable(visit: Open, hostile: Path) -> None:
    page = visit(hostile)
    page.evaluate(OPEN_ALL)
    for link in page.query_selector_all("#table a"):
        link.evaluate("a => a.click()")
    assert page.evaluate("window.pwned") is None
    assert page.query_selector_all("img, base, iframe, svg[onload], a[href^='javascript']") == []
    assert SCRIPT in page.inner_text("h1")
    text = page.inner_text("#details")
    odd = {
        "right \u202eto left": "right <U+202E>to left",
        "nul \x00 esc \x1b[31m bell \x07": "nul ␀ esc ␛[31m bell ␇",
        "half \ud800 character": "half \ufffd character",
        "中文 and \U0001f9e0 and e\u0301": "中文 and \U0001f9e0",
    }
    for payload in PAYLOADS:  # a path, dollars and names with a _ among them
        assert odd.get(payload, payload) in text
    assert page.evaluate("document.scripts.length") == 1
    host = Path("/etc/hostname")
    if host.exists() and len(name := host.read_text().strip()) > 3:
        assert name not in hostile.read_text(encoding="utf-8")  # the path is text, never opened


def test_escaping_alone_stops_hostile_text(visit: Open, hostile: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.html"
    html = hostile.read_text(encoding="utf-8")
    bare.write_text(re.sub("<meta http-equiv=.*?>", "", html, count=1), encoding="utf-8")
    page = visit(bare)
    page.evaluate(OPEN_ALL)
    assert "Content-Security-Policy" not in page.content()
    assert page.evaluate("window.pwned") is None


def test_the_policy_alone_stops_a_script(visit: Open, report: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    html = report.read_text(encoding="utf-8")
    hole = '<script>window.pwned=1</script><svg onload="window.pwned=1"></svg><h1>'
    broken.write_text(html.replace("<h1>", hole, 1), encoding="utf-8")
    page = visit(broken, quiet=False)
    page.wait_for_timeout(100)
    assert page.query_selector("#count").text_content() == "8 of 8 shown"
    assert page.evaluate("window.pwned") is None


def test_a_notebook_output_does_not_run_hostile_text(visit: Open, tmp_path: Path) -> None:
    path = tmp_path / "cell.html"
    path.write_text(f"<meta charset=utf-8>{run_html(hostile_run())}", encoding="utf-8")
    page = visit(path)
    assert page.evaluate("window.pwned") is None
    assert SCRIPT in page.inner_text("body")


def test_a_deep_link_opens_its_detail(visit: Open, report: Path) -> None:
    page = visit(report, "#probe-search-breaks")
    assert page.evaluate(
        "[...document.querySelectorAll('.probe')].filter(d => d.open).map(d => d.id)"
    ) == ["probe-search-breaks"]
    page.wait_for_function(
        "document.getElementById('probe-search-breaks').getBoundingClientRect().bottom < 900"
    )
    page.click("#table a >> text=cafe-or-bar")
    page.wait_for_function("document.getElementById('probe-cafe-or-bar').open")


def test_a_deep_link_to_what_passed_or_is_filtered_out_shows_it(visit: Open, report: Path) -> None:
    page = visit(report, "#probe-old-address")  # it passed, so it has a row and no detail
    near = "document.getElementById('{}').getBoundingClientRect().top"
    page.wait_for_function(near.format("row-probe-old-address") + " < 900")
    page.fill("#find", "nothing is called so")
    assert names(page) == []
    page.evaluate("location.hash = '#probe-cafe-or-bar'")
    page.wait_for_function("document.getElementById('probe-cafe-or-bar').open")
    page.wait_for_function(near.format("probe-cafe-or-bar") + " < 900")
    page.evaluate("location.hash = '#row-probe-old-address'")
    page.wait_for_function("!document.getElementById('row-probe-old-address').hidden")


def test_the_table_sorts_by_its_buttons_and_says_how(visit: Open, report: Path) -> None:
    page = visit(report)
    given = names(page)
    assert given[:4] == ["neighbour", "answers-anyway", "cafe-or-bar", "search-breaks"]  # by cause
    button = "#table th button >> text=First rank"
    page.click(button)
    # Ranks by hand: neighbour 1, lunch-spot 2, old-address 2; the others have none and stay last.
    assert names(page)[:3] == ["neighbour", "lunch-spot", "old-address"]
    assert page.get_attribute("th[data-key=rank]", "aria-sort") == "ascending"
    page.click(button)
    assert names(page)[:3] == ["lunch-spot", "old-address", "neighbour"]
    assert page.get_attribute("th[data-key=rank]", "aria-sort") == "descending"
    page.click(button)
    assert names(page) == given
    assert page.get_attribute("th[data-key=rank]", "aria-sort") == "none"


def test_the_table_filters_by_name_and_by_tag(visit: Open, report: Path) -> None:
    page = visit(report)
    page.fill("#find", "LEAK")
    assert names(page) == ["neighbour"]
    assert page.text_content("#count") == "1 of 8 shown"
    page.fill("#find", "")
    page.select_option("#outcome", "failing")
    assert len(names(page)) == 4


def test_the_table_filters_by_outcome_cause_and_tag(visit: Open, report: Path) -> None:
    page = visit(report)
    told = "id => [...document.getElementById(id).options].map(o => o.value)"
    # By hand, see tests/report_fixtures.py.
    assert page.evaluate(told, "tag") == ["", "any-of", "direct", "leak", "scope", "stale"]
    assert page.evaluate(told, "cause") == [
        "", "contract", "leaked", "not_reproduced", "outranked"]  # fmt: skip
    assert page.evaluate(told, "outcome")[:3] == ["", "failing", "broke the contract"]
    page.select_option("#cause", "outranked")
    assert names(page) == ["cafe-or-bar"]
    page.select_option("#cause", "")
    page.select_option("#outcome", "passed")
    assert set(names(page)) == {"lunch-spot", "nobody-knows", "old-address"}
    page.select_option("#tag", "stale")
    assert names(page) == ["old-address"]
    kept = page.evaluate("location.hash")
    assert names(visit(report, kept)) == ["old-address"]
    # What a report of other probes wrote into the address leaves nothing out.
    assert len(names(visit(report, "#tag=none-such&cause=x&outcome=y"))) == 8


def test_the_address_keeps_what_is_shown(visit: Open, report: Path) -> None:
    page = visit(report)
    page.fill("#find", "a")
    page.select_option("#outcome", "failing")
    page.click("#table th button >> text=Probe")
    kept = page.evaluate("location.hash")
    wanted = ["answers-anyway", "cafe-or-bar", "neighbour", "search-breaks"]  # one by its tag
    assert names(visit(report, kept)) == names(page) == wanted


def test_a_probe_is_copied_as_yaml_that_loads(visit: Open, report: Path) -> None:
    page = visit(report, "#probe-neighbour")
    box = page.locator("#probe-neighbour")
    box.locator("summary >> text=The probe as YAML").click()
    box.locator("button.copy").click()
    page.wait_for_function(
        "document.querySelector('#probe-neighbour .copy').textContent !== 'Copy'"
    )
    copied = page.evaluate("document.querySelector('#probe-neighbour pre').textContent")
    assert [p.name for p in load_text(copied)] == ["neighbour"]
    assert [p for p in load_text(copied)] == [p for p in make_run().suite if p.name == "neighbour"]


def test_where_the_clipboard_is_shut_the_text_is_selected(visit: Open, report: Path) -> None:
    page = visit(report, "#probe-neighbour")
    page.evaluate(
        "() => { Object.defineProperty(navigator, 'clipboard', {value: undefined});"
        " document.execCommand = () => false; }"
    )
    box = page.locator("#probe-neighbour")
    box.locator("summary >> text=The probe as YAML").click()
    box.locator("button.copy").click()
    assert "Selected" in box.locator("button.copy").text_content()
    assert page.evaluate("getSelection().toString()").startswith("- name: neighbour")


def test_without_javascript_everything_is_there_and_no_dead_control(
    visit: Open, report: Path
) -> None:
    page = visit(report, java_script_enabled=False)
    assert page.locator("#tools").is_hidden()
    assert page.locator("button.copy:visible").count() == 0
    assert page.locator("#table tbody tr").count() == 8
    page.locator("#probe-neighbour > summary").click()
    assert page.locator("#probe-neighbour .hits").is_visible()


def test_without_javascript_every_section_is_there(visit: Open, whole: Path) -> None:
    page = visit(whole, java_script_enabled=False, viewport={"width": 380, "height": 800})
    for name in ("controls", "verdict", "numbers", "comparison", "drift", "why", "mutation",
                 "scopes", "probes", "details", "manifest"):  # fmt: skip
        assert page.locator(f"section#{name}").is_visible()
    assert page.locator("#table svg.runs").count() == 8
    assert page.locator("#mutation .kills svg").count() == 5


def test_the_first_screen_of_a_phone_tells_all_there_is_to_know(visit: Open, whole: Path) -> None:
    page = visit(whole, viewport={"width": 380, "height": 800})
    told = page.inner_text(".answers")
    for words in ("✓ VALID", "✗ 1 leaked record", "✗ FAIL", "3 of 7 probes passed", "mend neigh"):
        assert words in told
    box = page.locator(".answers").bounding_box()
    assert box["y"] + box["height"] <= 800


def test_the_skeleton_of_a_survivor_is_copied_as_a_probe_file(visit: Open, whole: Path) -> None:
    page = visit(whole)
    page.evaluate(
        "() => { window.copied = ''; Object.defineProperty(navigator, 'clipboard', {value:"
        " {writeText: t => { window.copied = t; return Promise.resolve(); }}}); }"
    )
    page.locator("#mutation details").first.locator("button.copy").click()
    page.wait_for_function("window.copied !== ''")
    assert list(load_text(page.evaluate("window.copied"))) == list(load_text(SKELETON))


def test_a_thousand_probes_are_filtered_and_stay_under_three_megabytes(
    visit: Open, tmp_path: Path
) -> None:
    path = write_report(thousand(), tmp_path / "thousand.html")
    assert path.stat().st_size <= 3_000_000
    page = visit(path)
    assert page.text_content("#count") == "1000 of 1000 shown"
    page.fill("#find", "lunch-spot-07")
    assert names(page) == [f"lunch-spot-07{n}" for n in range(10)]
    page.fill("#find", "")
    page.select_option("#outcome", "failing")
    assert page.text_content("#count") == "500 of 1000 shown"  # four of eight
    assert visit(path, "#probe-neighbour-099").evaluate(
        "document.getElementById('probe-neighbour-099').open"
    )


def test_sixty_probes_are_under_250_kilobytes_and_ten_pages(visit: Open, sixty: Path) -> None:
    assert sixty.stat().st_size <= 250_000
    page = visit(sixty)
    assert page.text_content("#count") == "60 of 60 shown"
    assert pages_of(page.pdf()) < 10
    page.emulate_media(media="print")
    shown = page.locator("#details .probe.failed .hits").first
    assert shown.bounding_box()["height"] > 10  # what failed is printed with its answer


def test_print_without_javascript_shows_what_failed(visit: Open, report: Path) -> None:
    page = visit(report, java_script_enabled=False)
    page.emulate_media(media="print")
    assert page.locator("#probe-neighbour .hits").bounding_box()["height"] > 10


@pytest.mark.parametrize(
    "which", ["report", "hostile", "invalid", "whole", "sixty", "hostile_compared"]
)
def test_a_phone_needs_no_sideways_scroll(
    visit: Open, which: str, request: pytest.FixtureRequest
) -> None:
    page = visit(request.getfixturevalue(which), viewport={"width": 380, "height": 800})
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read_in_light_and_in_dark(
    visit: Open, report: Path, invalid: Path, whole: Path, scheme: str
) -> None:
    for path in (report, invalid, whole):
        page = visit(path, color_scheme=scheme)
        page.evaluate(OPEN_ALL)
        contrast, where = page.evaluate(CONTRAST)
        assert contrast >= 4.5, where


def test_dark_and_light_differ(visit: Open, report: Path) -> None:
    grounds = {
        visit(report, color_scheme=scheme).evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    assert len(grounds) == 2


def test_a_long_text_is_folded_and_opens_in_its_own_scroll(visit: Open, hostile: Path) -> None:
    page = visit(hostile)
    long = page.locator(".probe .hits > li > div > details.long").last
    page.evaluate(
        "() => { for (const d of document.querySelectorAll('.probe')) { d.open = true; } }"
    )
    long.locator("> summary").click()
    full = long.locator(".full")
    assert full.is_visible()
    assert full.bounding_box()["height"] <= 330


def test_print_shows_the_details_of_failing_probes(visit: Open, report: Path) -> None:
    page = visit(report)
    page.emulate_media(media="print")
    assert page.locator("#tools").is_hidden()
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF")
    assert 1 <= pages_of(pdf) <= 10


def test_the_title_is_plain_text(hostile: Path) -> None:
    found = re.search("<title>(.*?)</title>", hostile.read_text(encoding="utf-8"), re.S)
    assert found
    assert unescape(found[1]).startswith(f"FAIL: {SCRIPT}")


def test_a_cause_leads_to_the_detail_of_its_probe(visit: Open, report: Path) -> None:
    page = visit(report)
    page.click("#why .causes a >> text=search-breaks")
    page.wait_for_function("document.getElementById('probe-search-breaks').open")
    box = page.locator("#probe-search-breaks .why")
    assert box.is_visible() and "not_reproduced" in box.inner_text()
    page.click("#verdict a")
    page.wait_for_function("document.getElementById('probe-neighbour').open")


@pytest.mark.parametrize("width", [380, 1200])
def test_charts_are_as_wide_as_their_page_and_their_words_keep_their_size(
    visit: Open, report: Path, width: int
) -> None:
    page = visit(report, viewport={"width": width, "height": 800})
    for chart in page.query_selector_all("svg.chart"):
        box = chart.bounding_box()
        assert 300 <= box["width"] <= width
        for word in chart.query_selector_all("text"):
            inside = word.bounding_box()
            assert 8 <= inside["height"] <= 20
            assert inside["x"] >= 0 and inside["x"] + inside["width"] <= width
    assert page.locator("#why .causes .step").first.is_visible()


def test_a_phone_shows_the_next_steps_without_scrolling(visit: Open, report: Path) -> None:
    page = visit(report, viewport={"width": 380, "height": 800})
    step = page.locator("#why .causes .step").first.bounding_box()
    assert step["x"] + step["width"] <= 380


def test_hostile_text_of_a_comparison_does_not_run_and_is_readable(
    visit: Open, hostile_compared: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.html"
    html = hostile_compared.read_text(encoding="utf-8")
    bare.write_text(re.sub("<meta http-equiv=.*?>", "", html, count=1), encoding="utf-8")
    for path in (hostile_compared, bare):
        page = visit(path)
        page.evaluate(OPEN_ALL)
        for link in page.query_selector_all("#comparison a"):
            link.evaluate("a => a.click()")
        assert page.evaluate("window.pwned") is None
        assert page.query_selector_all("img, base, iframe, svg[onload]") == []
        text = page.inner_text("#comparison")
        assert all(payload in text for payload in PAYLOADS[:4]) and "U+202E" in text


def test_a_comparison_in_a_notebook_does_not_run_hostile_text(visit: Open, tmp_path: Path) -> None:
    path = tmp_path / "cell.html"
    shown = compare(*hostile_pair())._repr_html_()
    path.write_text(f"<meta charset=utf-8>{shown}", encoding="utf-8")
    page = visit(path)
    assert page.evaluate("window.pwned") is None
    assert SCRIPT in page.inner_text("body")


def test_a_lost_probe_leads_to_its_detail_and_a_gained_one_to_its_row(
    visit: Open, compared: Path
) -> None:
    page = visit(compared)
    page.click("#comparison a >> text=cafe-or-bar")
    page.wait_for_function("document.getElementById('probe-cafe-or-bar').open")
    assert "lost: passed before" in page.inner_text("#probe-cafe-or-bar")
    page.select_option("#outcome", "failing")  # hides the rows of what passed
    assert "old-address" not in names(page)
    page.click("#comparison a >> text=old-address")
    row = page.locator("#row-probe-old-address")
    page.wait_for_function(
        "document.getElementById('row-probe-old-address').getBoundingClientRect().bottom < 900"
    )
    assert row.is_visible() and "gained" in row.inner_text()


@pytest.mark.parametrize("width", [380, 1200])
def test_the_drawings_of_a_comparison_are_seen_and_stay_in_their_page(
    visit: Open, compared: Path, width: int
) -> None:
    page = visit(compared, viewport={"width": width, "height": 800})
    drawn = page.query_selector_all("#comparison .changed svg.rank circle")
    # cafe-or-bar, neighbour and old-address have a rank on a side, needs-delete has none.
    assert len(drawn) == 6
    for circle in drawn:
        box = circle.bounding_box()
        assert box["width"] > 5 and 0 <= box["x"] and box["x"] + box["width"] <= width
    words = page.locator("#comparison .changed .words").first.bounding_box()
    assert words["x"] >= 0 and words["x"] + words["width"] <= width


def test_a_comparison_prints(visit: Open, compared: Path) -> None:
    page = visit(compared)
    page.emulate_media(media="print")
    assert page.locator("#comparison .changed").is_visible()
    assert pages_of(page.pdf()) <= 10


# Tables as JupyterLab sets them, in an output cell of 700 px.
LAB = """<style>.out { width: 700px; font: 13px/1.5 sans-serif; overflow: auto; }
.out table { font-size: 12px; table-layout: fixed; margin: 0 auto 1em; }</style>"""


def test_what_a_cell_shows_of_a_run_and_its_controls_fits_the_width_of_a_notebook(
    tmp_path: Path, visit: Open
) -> None:
    controls = me.run_controls(me.load(Path(__file__).parent.parent / "probes"), "sqlite")
    cells = [run_html(controls.real), controls_html(controls, controls.real)]
    path = tmp_path / "cells.html"
    path.write_text(LAB + "".join(f'<div class="out">{one}</div>' for one in cells), "utf-8")
    page = visit(path)
    wide = page.evaluate("[...document.querySelectorAll('.out *')].filter("
                         "e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth)"
                         ".map(e => e.outerHTML.slice(0, 80))")  # fmt: skip
    assert wide == [] and page.locator("table").count() == 2
