"""A simulation as text, Markdown, JSON, notebook HTML, and as a section of the page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from report_fixtures import INVALID, PAYLOADS, make_run, manifest
from test_report_browser import CONTRAST
from test_report_html import LOADING, Page

from memeval.cli.drift import exit_code
from memeval.cli.forms import simulation_payload
from memeval.errors import RunFileError
from memeval.frames import DRIFT_PROBES, conform
from memeval.report import drift_drawing, write_report
from memeval.report import drift_rows as rows
from memeval.report.drift_notebook import simulation_html
from memeval.report.drift_text import simulation_markdown, simulation_text
from memeval.report.html import report_html
from memeval.runs import Run
from memeval.simulation import Simulation, save_simulation
from memeval.text import display_width
from tests.grown import SESSIONS, checkpoints, drift_probes, grown, n_records, old_ones_are_lost


def as_json(simulation: Simulation) -> str:
    return json.dumps(simulation_payload(simulation), allow_nan=False)


FORMS = [simulation_text, simulation_markdown, simulation_html]


def flat(text: str) -> str:
    return " ".join(text.split())


def of_shelf(**more: Any) -> Run:
    """A run of the same suite and store as the simulations."""
    return make_run(manifest=manifest(suite_hash="abc123", store="shelf"), **more)


def drift_section(html: str) -> str:
    found = re.search(r'<section id="drift".*?</section>', html, re.S)
    assert found
    return found[0]


@pytest.fixture(scope="module")
def falling() -> Simulation:
    return grown(old_ones_are_lost)


@pytest.fixture(scope="module")
def page(falling: Simulation) -> str:
    return report_html(of_shelf(), simulation=falling)


def test_the_verdict_in_words_stands_first() -> None:
    few = grown(drift_probes=drift_probes(probes=5))
    for found, word in ((grown(), "FLAT"), (grown(old_ones_are_lost), "DECLINE"),
                        (few, "CANNOT TELL")):  # fmt: skip
        assert simulation_text(found).startswith(f"DRIFT: {word}: recall_all ")
        assert simulation_markdown(found).startswith(f"## Drift: {word}\n")
        assert Page(simulation_html(found)).text.split(" Drift: ")[0].endswith(word)
    assert "+0.000 per 1,000 records [+0.000, +0.000], over 40 probes" in flat(
        simulation_text(grown())
    )


def test_a_leak_stands_before_the_trend() -> None:
    asked = drift_probes()
    asked.loc[0, "n_leaked"] = 1
    leaking = grown(drift_probes=asked)
    assert simulation_text(leaking).startswith("DRIFT: LEAKS, FLAT: ")
    assert "VERDICT: FAIL" in simulation_text(leaking)
    assert "✗ LEAKS, FLAT" in Page(report_html(of_shelf(), simulation=leaking)).text


def test_failed_searches_stand_before_the_trend_in_every_form_and_gate_a_report() -> None:
    hostile = "RuntimeError: refused \x1b[31m<b>now</b>"
    made = grown(drift_probes=drift_probes(), manifest={"search_errors": [hostile]})
    made.drift_probes.loc[[0, 99], "status"] = ["failed", "timeout"]
    page = report_html(of_shelf(), simulation=made)
    for text in (simulation_text(made), simulation_markdown(made), Page(page).text,
                 Page(simulation_html(made)).text, str(simulation_payload(made))):  # fmt: skip
        assert "2 searches failed, 0 allowed" in flat(text) and "refused" in text
        assert "\x1b" not in text
    assert simulation_text(made).startswith("DRIFT: SEARCHES FAILED, FLAT: ")
    assert "✗ SEARCHES FAILED, FLAT" in Page(page).text and "<b>now" not in page
    payload = simulation_payload(made)
    assert (payload["verdict"], payload["exit_code"], payload["n_errors"]) == ("FAIL", 1, 2)
    assert exit_code(made) == 1 and exit_code(replace(made, allow_errors=2)) == 0
    allowed = simulation_text(replace(made, allow_errors=2))
    assert allowed.startswith("DRIFT: FLAT") and "2 searches failed, 2 allowed" in flat(allowed)


def test_the_parts_come_in_their_order(falling: Simulation) -> None:
    text = simulation_text(falling)
    wanted = ["DRIFT: DECLINE", "grown:", "asked:", "planted:", "VERDICT: FAIL", "why:", "next:",
              "SLOPES", "CHECKPOINTS", "\ngrowth:", "\nlatency:",
              "LOST: 20 probes, in 20 copies"]  # fmt: skip
    assert [text.index(words) for words in wanted] == sorted(text.index(w) for w in wanted)


def test_no_line_is_wider_than_80_columns() -> None:
    for found in (grown(old_ones_are_lost), hostile(PAYLOADS[1] * 9)):
        assert max(map(display_width, simulation_text(found).split("\n"))) <= 80


def test_slopes_and_checkpoints_are_those_of_the_frames(falling: Simulation) -> None:
    told = rows.slopes(falling)
    assert [cells[:2] for cells in told] == [
        *(["recall_all", c] for c in ("growth", "retention", "crowding")),
        *(["ndcg", c] for c in ("growth", "retention", "crowding")),
        ["n_kept", "size"], ["latency_p95_ms", "latency"],
    ]  # fmt: skip
    # All that is written is kept: 1,000 of 1,000. The line rises by 0.05 ms a record.
    assert told[6][2] == "1,000" and told[7][2] == "+50.000"
    assert [cells[-1] for cells in told[::7]] == ["decline", "linear"]
    # 380 records, half of them counted: 60 of 80 pass; no fresh cohort; 2 + 0.05 * 380 = 21 ms.
    assert rows.checkpoints(falling)[4] == [
        "32", "380", "190", "0.750", "n/a", "0", "0.500", "1.00", "21.0", "n/a",
    ]  # fmt: skip
    assert rows.checkpoints(falling)[6][3:5] == ["0.833", "1.000"]


def test_lost_probes_are_told_with_size_cause_and_what_came_instead(falling: Simulation) -> None:
    first = rows.lost(falling)[0]
    assert first.cells == ["probe-00", "0", "220 and 380", "outranked", "s7-1 s9-2"]
    for form in FORMS:
        words = flat(Page(form(falling)).text)
        assert "probe-19" in words and "220 and 380" in words and "s7-1 s9-2" in words
    unknown = drift_probes(old_ones_are_lost).assign(cause=None, displaced_by=None)
    assert rows.lost(grown(drift_probes=unknown))[0].cells[-2:] == ["unknown", "nothing"]


def test_of_many_lost_probes_the_first_are_listed_and_the_others_counted(
    falling: Simulation,
) -> None:
    text = simulation_text(falling, 3)
    assert "probe-02" in text and "probe-03" not in text
    assert "and 17 more: --format json has all" in text
    assert "and 17 more" in simulation_markdown(falling, 3)
    assert len(simulation_payload(falling)["lost"]) == 20


def test_without_a_loss_it_says_so() -> None:
    for form in FORMS:
        assert "none: each that passed at first still did at the end" in flat(form(grown()))


def test_growth_and_latency_are_said_in_a_sentence() -> None:
    for form in FORMS:
        words = flat(form(grown()))
        assert "LINEAR: the store still grows with every record" in words
        assert "crosses 100 ms at 1,960 records" in words


def test_how_it_was_asked_is_said() -> None:
    for form in FORMS:
        words = flat(form(grown(manifest={"planted_once": 12})))
        assert "what was asked at a checkpoint was taken back" in words
        assert "40 probes at sessions 0, 16; 12 of them once, since they have no names" in words
        assert "seed 7, suite abc123, generator 1" in words
        assert "shelf, 128 sessions, 30 to 1,340 records" in words


def test_what_was_ended_early_says_so() -> None:
    early = grown(manifest={"complete": False, "sessions_done": 64})
    for form in FORMS:
        assert "it was ended early, after 64 of 128 sessions" in flat(form(early))
        assert "ended early" not in form(grown())


def test_what_the_store_cannot_take_is_named() -> None:
    more = drift_probes(probes=1, status="not_supported", recall_all=None, ndcg=None)
    none = pd.concat([drift_probes(), more.assign(probe="with-filter", passed=False)])
    for form in FORMS:
        words = flat(form(grown(drift_probes=none)))
        assert "1 probe that the store cannot take: with-filter" in words
        assert "cannot take" not in form(grown())


def test_a_slope_that_cannot_be_taken_says_why() -> None:
    one = drift_probes().query("cohort == 0")
    for form in FORMS:
        words = flat(form(grown(drift_probes=one))).replace("\\", "")
        assert "no checkpoint asked cohorts of two ages, so age cannot be told from size" in words


def test_the_json_is_strict_and_holds_everything(falling: Simulation) -> None:
    told = json.loads(as_json(falling))
    assert (told["verdict"], told["drift"], told["exit_code"]) == ("FAIL", "decline", 1)
    assert told["slope_per_1k"] == falling.trend.slope_per_1k and told["n"] == 40
    assert len(told["slopes"]) == 8 and len(told["checkpoints"]) == len(SESSIONS)
    assert len(told["points"]) == len(falling.drift)
    assert told["latency"]["verdict"] == "linear" and told["growth"]["verdict"] == "linear"
    far = grown(budget_ms=1e6, checkpoints=checkpoints())
    assert json.loads(as_json(far))["latency"]["crossing"] is None


def test_places_and_secrets_of_a_store_stay_out_of_the_json() -> None:
    told = as_json(grown(manifest={"store_info": {"name": "shelf", "url": "https://u:p@host/"}}))
    assert "u:p@host" not in told and '"name": "shelf"' in told


def test_an_empty_simulation_has_every_form() -> None:
    from memeval import frames

    nothing = Simulation(frames.empty(frames.DRIFT_PROBES), frames.empty(frames.CHECKPOINTS),
                         frames.empty(frames.SIZES), {})  # fmt: skip
    for form in (*FORMS, as_json):
        assert "CANNOT TELL" in form(nothing)
    assert "CANNOT TELL" in drift_section(report_html(of_shelf(), simulation=nothing))


def test_the_page_has_drift_behind_the_numbers_and_a_way_there(page: str) -> None:
    order = re.findall(r'<section id="(\w+)"', page)
    assert order[order.index("numbers") + 1] == "drift"
    assert '<a href="#drift">Drift</a>' in page
    assert '<section id="drift"' not in report_html(of_shelf())


def test_the_page_is_well_formed_and_loads_nothing() -> None:
    for simulation in (grown(), grown(old_ones_are_lost), hostile(" ".join(PAYLOADS))):
        read = Page(report_html(of_shelf(), simulation=simulation))
        assert (read.faults, read.open) == ([], [])
        ids = [attrs["id"] for _, attrs in read.elements if "id" in attrs]
        assert len(ids) == len(set(ids))
        for _, attrs in read.elements:
            assert all(str(attrs[name]).startswith("#") for name in LOADING & attrs.keys())
            assert not [name for name in attrs if name.startswith("on")]


def test_each_chart_says_its_numbers_in_words(page: str) -> None:
    alts = [a["aria-label"] for t, a in Page(drift_section(page)).elements
            if t == "svg" and a.get("role") == "img"]  # fmt: skip
    assert len(alts) == 3
    assert alts[0].startswith("Recall of all cohorts as the store grows: 30 records 1.000; ")
    assert "380 records 0.750" in alts[0] and "Fresh cohort: 1.000 at first" in alts[0]
    assert "1,340 of 1,340 at last" in alts[1]
    assert "30 records 3.50 ms" in alts[2]


def test_the_recall_chart_puts_values_at_their_places(falling: Simulation) -> None:
    chart = drift_drawing.recall_chart(falling)
    assert chart is not None
    # 8 % to 95 % across from 30 to 1,340 records: 380 stand at 8 + 87 * 350 / 1310 = 31.24;
    # 0.75 stands at 18 + 168 * 0.25 = 60 pixels.
    assert (chart.dots[4].x, chart.dots[4].y) == (31.24, 60.0)
    assert [path.kind for path in chart.paths] == ["cohort", "cohort", "fresh", "target"]
    assert chart.paths[0].points.startswith("8,0 ") and chart.paths[0].points.endswith(" 95,84")
    assert chart.paths[-1].name == "target 0.85" and chart.band
    assert [tick.words for tick in chart.ticks] == ["30", "685", "1,340"]


def test_the_scales_of_size_and_time_say_their_units() -> None:
    size, time = drift_drawing.size_chart(grown()), drift_drawing.latency_chart(grown())
    assert size is not None and time is not None
    assert [line.words for line in size.grid] == ["0", "670", "1,340"]
    # A budget of 100 ms is near 69 ms: the scale goes a tenth beyond.
    assert [line.words for line in time.grid] == ["0 ms", "55 ms", "110 ms"]
    assert [path.name for path in time.paths] == ["linear law", "budget 100 ms"]
    fast = drift_drawing.latency_chart(grown(checkpoints=checkpoints(lambda n: 1.5)))
    assert fast is not None and [path.name for path in fast.paths] == ["constant law"]


def test_what_cannot_be_drawn_is_left_out() -> None:
    none = grown(sizes=grown().sizes.assign(n_kept=pd.NA), checkpoints=checkpoints().iloc[:1])
    section = drift_section(report_html(of_shelf(), simulation=none))
    assert section.count('role="img"') == 1 and "What the store keeps" not in section


def test_another_suite_or_store_is_noted(falling: Simulation) -> None:
    assert "not of the same" not in drift_section(report_html(of_shelf(), simulation=falling))
    other = drift_section(report_html(make_run(), simulation=falling))
    assert "It is not of the same as the run: it was suite abc123, the run above" in other


def test_an_invalid_suite_shows_no_number_of_drift(falling: Simulation) -> None:
    html = report_html(of_shelf(validity=INVALID), simulation=falling)
    assert 'id="drift"' not in html and "DECLINE" not in html


def test_a_simulation_of_an_invalid_suite_shows_its_verdict_alone() -> None:
    bad = grown(old_ones_are_lost, validity=INVALID)
    section = drift_section(report_html(of_shelf(), simulation=bad))
    for words in (flat(Page(section).text), flat(Page(simulation_html(bad)).text)):
        assert "✗ INVALID" in words and "luck alone recalls 0.402" in words
        assert "mend the suite before you believe any number" in words
        assert not re.search("per 1,000|DECLINE|recall_all|probe-|Slopes|Lost|3 of 5", words)
    assert "<svg" not in section and "<table" not in section and 'class="card bad"' in section


def test_a_broken_contract_stands_before_the_trend() -> None:
    asked = drift_probes()
    asked.loc[[0, 3], ["n_contract", "breaches"]] = [1, "scores"]
    broken = grown(drift_probes=asked)
    for form in FORMS:
        words = flat(Page(form(broken)).text)
        assert "CONTRACT BROKEN, FLAT" in words and "contract (scores) in 2 probes" in words
    assert "✗ CONTRACT BROKEN, FLAT" in Page(report_html(of_shelf(), simulation=broken)).text
    asked.loc[0, "n_leaked"] = 1
    assert rows.headline(grown(drift_probes=asked)) == "LEAKS, CONTRACT BROKEN, FLAT"


def test_what_the_reader_must_know_is_told_once() -> None:
    told = ["contract not checked: contract_checks=False was asked for",
            "ended by the keyboard after 64 of 128 sessions",
            "1 probe the store cannot take, and nothing counts: with-filter"]  # fmt: skip
    found = grown(manifest={"notes": told})
    for form in FORMS:
        words = flat(Page(form(found)).text)
        assert "contract not checked" in words
        assert "by the keyboard" not in words and "with-filter" not in words


def test_the_page_is_the_same_each_time_and_holds_no_query(
    tmp_path: Path, falling: Simulation, page: str
) -> None:
    again = write_report(of_shelf(), tmp_path / "a.html", simulation=grown(old_ones_are_lost))
    assert again.read_text(encoding="utf-8") == page
    saved = save_simulation(falling, tmp_path / "drift.json")
    loaded = write_report(of_shelf(), tmp_path / "b.html", simulation=saved)
    assert loaded.read_bytes() == again.read_bytes()
    without = report_html(of_shelf(), simulation=falling, texts=False)
    assert drift_section(without) == drift_section(page)
    assert "Where is the tram?" not in page
    saved.write_text("{", encoding="utf-8")
    with pytest.raises(RunFileError, match="is not JSON"):
        write_report(of_shelf(), tmp_path / "b.html", simulation=str(saved))


def hostile(text: str) -> Simulation:
    """Every word of others is this one."""
    asked = drift_probes(old_ones_are_lost).assign(probe=lambda t: text + t["probe"])
    asked = asked.assign(displaced_by=text, cause=text)
    more = {"store": text, "asked": text, "suite": text, "seed": text, "generator": text}
    return grown(drift_probes=conform(asked, DRIFT_PROBES), manifest=more)


@pytest.mark.parametrize("text", PAYLOADS)
def test_hostile_names_do_nothing_in_any_form(text: str) -> None:
    found = hostile(text)
    section = drift_section(report_html(of_shelf(), simulation=found))
    for html in (simulation_html(found), section):
        read = Page(html)
        assert (read.faults, read.open) == ([], [])
        tags = {tag for tag, _ in read.elements}
        assert not tags & {"script", "img", "base", "meta", "style", "a"}
        assert not re.search("[\x00-\x08\x0b-\x1f\u202e\ud800]", html)
    words = simulation_text(found)
    assert words.replace("\n", "").isprintable()
    assert "<script>" not in simulation_markdown(found)
    as_json(found)


def test_the_notebook_form_is_one_div_without_style_sheet_or_script() -> None:
    html = grown()._repr_html_()
    assert html.strip().startswith('<div class="memeval tex2jax_ignore mathjax_ignore"')
    assert html.strip().endswith("</div>") and "<style" not in html and "<script" not in html
    assert f"{n_records(SESSIONS[-1]):,}" in html


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_section_can_be_read_in_light_and_dark_without_javascript(
    request: pytest.FixtureRequest, tmp_path: Path, scheme: str
) -> None:
    open_page = request.getfixturevalue("visit")
    path = write_report(of_shelf(), tmp_path / "report.html", simulation=hostile(PAYLOADS[0]))
    seen = open_page(path, "#drift", color_scheme=scheme, java_script_enabled=False)
    assert seen.locator("#drift svg[role=img]").count() == 3
    assert seen.locator("#drift .chart").first.is_visible()
    assert seen.locator("#gone-title").is_visible()
    contrast, where = open_page(path, color_scheme=scheme).evaluate(CONTRAST)
    assert contrast >= 4.5, where


@pytest.mark.browser
def test_on_a_phone_no_part_of_the_section_is_wider_than_the_page(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    path = write_report(of_shelf(), tmp_path / "report.html", simulation=hostile(PAYLOADS[1]))
    page = request.getfixturevalue("visit")(path, viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    boxes = [chart.bounding_box() for chart in page.locator("#drift .chart").all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in boxes)
    assert page.evaluate("window.pwned") is None
