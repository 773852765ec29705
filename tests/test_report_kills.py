"""The kill matrix on the page: survivors with what to write, strips, words, links, size."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import Any

import pandas as pd
import pytest
import yaml
from mutants import INVALID, SKELETON, kills, made, perfect, saboteurs
from report_fixtures import INVALID as INVALID_SUITE
from report_fixtures import PAYLOADS, SCRIPT, make_run, manifest
from test_report_html import LOADING, Page, section

from memeval.frames import KILLS, SABOTEURS, conform
from memeval.loading import load_text
from memeval.report.html import report_html
from memeval.report.mutation_page import MOST_DRAWN
from memeval.report.mutation_page import section as gathered


def of_shelf(**changes: Any) -> Any:
    """The mutation by hand, with kills by probes that the run has."""
    names = {"lunch": "lunch-spot", "tea": "old-address", "cats": "neighbour"}
    told = kills()
    return made(kills=kills(probe=told["probe"].map(names).to_numpy()), **changes)


@pytest.fixture(scope="module")
def html() -> str:
    return report_html(make_run(), mutation=of_shelf())


def test_survivors_stand_first_with_what_is_missing_and_what_to_write(html: str) -> None:
    text = section(html, "mutation")
    told = ["✗ FAIL", "3 of 5 killed (score 0.600, depth 0.67)", "2 survivors",
            "scope_blind ✗ lives, and must die", "a second scope", "tea-of-the-neighbour",
            "k_minus_1 ✗ lives", "as many expected as k", "Kill matrix"]  # fmt: skip
    places = [text.index(words) for words in told]
    assert places == sorted(places)
    assert "a note on how it was done" in text and "2 that do not count here" in text
    assert "2 probes kill nothing" in text
    (part,) = re.findall('<section id="mutation".*?</section>', html, re.S)
    (shown,) = re.findall('<pre class="yaml"[^>]*>(.*?)</pre>', part, re.S)
    assert yaml.safe_load(unescape(shown)) == yaml.safe_load(SKELETON)
    assert [probe.name for probe in load_text(unescape(shown))] == ["tea-of-the-neighbour"]


def test_the_section_stands_after_why_and_the_first_screen_sums_it_up(html: str) -> None:
    names = re.findall(r'<section id="(\w+)"', html)
    assert names.index("numbers") < names.index("mutation") < names.index("scopes")
    assert "Faults ✗ FAIL 3 of 5 killed" in Page(html[: html.index("</header>")]).text
    assert 'id="mutation"' not in report_html(make_run())


def test_each_fault_is_a_strip_those_that_few_probes_see_first(html: str) -> None:
    (table,) = re.findall('<table class="kills".*?</table>', html, re.S)
    rows = [Page(row).text for row in re.findall("<tr.*?</tr>", table, re.S)[1:]]
    assert [row.split()[0] for row in rows] == [
        "k_minus_1", "scope_blind", "reversed", "slow", "null"]  # fmt: skip
    assert rows[0] == "k_minus_1 ✗ lives passes"
    assert rows[2] == "reversed 1 only old-address passes"
    assert rows[4] == "null must die 3 fails too"
    # All three kill two faults and stand first, in the order of the suite: lunch-spot, neighbour,
    # old-address. Null is killed by ratchet, ratchet and gate; slow by the first two in time.
    found = [re.findall(r'<path class="(\w+)" d="([^"]+)"', row) for row in table.split("<tr")]
    assert found[-1] == [("back", "M0 11.5h8"), ("gate", "M2 6h1"), ("ratchet", "M0 9h2")]
    assert found[-2] == [("back", "M0 11.5h8"), ("latency", "M0 10.5h2")]


def test_the_matrix_is_told_in_words_too(html: str) -> None:
    assert (
        "5 faults by 8 probes: 3 of 5 killed (score 0.600, depth 0.67); lunch-spot sees most, 2; "
        "2 probes kill nothing: none of these faults needs them." in section(html, "mutation")
    )


def test_every_link_of_the_section_leads_to_something_on_the_page(html: str) -> None:
    ids = {attrs["id"] for _, attrs in Page(html).elements if "id" in attrs}
    (found,) = re.findall(r'<section id="mutation".*?</section>', html, re.S)
    links = re.findall(r'href="#([^"]+)"', found)
    # Probes are named where at most two see a fault; old-address passed and has a row alone.
    assert links == ["row-probe-old-address", "row-probe-lunch-spot", "probe-neighbour"]
    assert set(links) <= ids
    stranger = report_html(make_run(), mutation=made())
    assert "only tea" in section(stranger, "mutation") and 'href="#probe-tea' not in stranger


def test_without_a_survivor_the_page_says_so() -> None:
    text = section(report_html(make_run(), mutation=perfect()), "mutation")
    assert "✓ PASS" in text and "survivor" not in text and "lives" not in text


def test_an_invalid_suite_shows_no_number_and_no_outcome() -> None:
    text = section(report_html(make_run(), mutation=made(verdict=INVALID)), "mutation")
    assert "INVALID" in text and "0.600" not in text and "k_minus_1" not in text
    assert 'id="mutation"' not in report_html(make_run(validity=INVALID_SUITE), mutation=made())


def test_a_mutation_of_another_store_is_shown_with_a_note() -> None:
    other = make_run(manifest=manifest(store="desk"))
    text = section(report_html(make_run(), mutation=made(identity=other)), "mutation")
    assert "not of the same as the run: it was store desk, the run above shelf" in text
    assert "not of the same" not in section(report_html(make_run(), mutation=made()), "mutation")


def test_hostile_texts_of_a_mutation_are_text() -> None:
    one = saboteurs(reason=PAYLOADS[3], missing_probe=PAYLOADS[1], fault=PAYLOADS[4])
    hostile = made(saboteurs=one, notes=(SCRIPT,), skeletons={"scope_blind": PAYLOADS[2]},
                   kills=kills(probe=SCRIPT))  # fmt: skip
    html = report_html(make_run(), mutation=hostile)
    page = Page(html)
    assert (page.faults, page.open) == ([], [])
    for tag, attrs in page.elements:
        assert tag != "img" and not [name for name in attrs if name.startswith("on")]
        assert all(str(attrs[name]).startswith("#") for name in LOADING & attrs.keys())
    assert html.count("<script>") == 1
    text = section(html, "mutation")
    assert all(" ".join(p.split()) in text for p in (SCRIPT, *PAYLOADS[1:5]))


def test_a_large_matrix_stays_small() -> None:
    names = [f"fault_{n:02}" for n in range(43)]
    base = saboteurs().iloc[[0] * 43].assign(saboteur=names, depth=500)
    probe = make_run().suite[0]
    suite = [replace(probe, name=f"probe-{n:04}") for n in range(1000)]
    # The worst case for the drawing: no two probes side by side see the same.
    rows = [(fault, f"probe-{n:04}", "gate", None)
            for m, fault in enumerate(names) for n in range(m % 2, 1000, 2)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["saboteur", "probe", "by", "codes"])
    large = made(
        kills=conform(frame, KILLS),
        saboteurs=conform(base, SABOTEURS),
        identity=replace(make_run(), suite=suite),
    )
    told = gathered(large, make_run(), {})
    assert told.drawn == MOST_DRAWN and "the 300 probes that see most" in told.sentence
    assert sum(len(path) for strip in told.strips for _, path, _ in strip.marks) < 100_000
