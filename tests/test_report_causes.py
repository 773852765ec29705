"""Why probes failed, in every form of the report: order, words, what is withheld."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from report_fixtures import (
    INVALID,
    PAYLOADS,
    causes,
    diagnosed_run,
    hostile_run,
    make_run,
    probes,
)
from test_report_html import Page, section

from memeval import diagnosis, frames
from memeval.files.runfiles import load_run, save_run
from memeval.report import cause_rows, markdown, plain
from memeval.report.cause_rows import CauseRow
from memeval.report.html import report_html
from memeval.report.notebook import run_html
from memeval.report.probes import Ledger
from memeval.suite import Suite
from memeval.text import display_width

README = Path(__file__).resolve().parent.parent / "README.md"
FORMS = [plain, markdown]
ORDER = ["neighbour", "answers-anyway", "cafe-or-bar", "search-breaks"]


def row(probe: str, cause: str, rank: str = "", *, must: bool = False) -> CauseRow:
    return CauseRow(1, probe, cause, "", "", "do", rank, "", must)


@pytest.fixture(scope="module")
def html() -> str:
    return report_html(diagnosed_run())


def test_every_cause_has_its_meaning_in_the_order_of_the_words() -> None:
    assert tuple(cause_rows.MEANINGS) == frames.CAUSE_WORDS


def test_the_readme_lists_every_cause_with_the_same_meaning() -> None:
    listed = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", README.read_text("utf-8"), re.MULTILINE))
    assert {c: listed.get(c) for c in frames.CAUSE_WORDS} == dict(cause_rows.MEANINGS)


def test_the_order_is_told_as_the_diagnosis_makes_it() -> None:
    assert cause_rows.ORDER is diagnosis.ORDER
    assert tuple(cause_rows.GATING) == diagnosis.GATING


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ([row("a", "leaked"), row("b", "leaked", must=True)], "a leak fails the run"),
        ([row("a", "contract"), row("b", "cut")], "a broken contract fails the run"),
        ([row("a", "cut", must=True), row("b", "failed")], "it is marked must"),
        ([row("a", "cut", "2"), row("b", "cut", "9")], "all failed of one cause, cut"),
        ([row("a", "cut"), row("b", "outranked", "2")], "cut comes earliest on a record's way"),
    ],
)
def test_why_the_first_is_first_is_said_in_its_own_words(told: list[CauseRow], why: str) -> None:
    assert why in cause_rows.why_first(told)


def test_the_nearest_to_passing_is_called_so_only_where_a_rank_tells() -> None:
    near = [row("a", "cut", "2"), row("b", "cut", "9"), row("c", "outranked", "3")]
    assert "of 2 such probes none is nearer" in cause_rows.why_first(near)
    assert "nearer" not in cause_rows.why_first([row("a", "cut"), row("b", "cut")])
    assert "nearer" not in cause_rows.why_first([row("a", "cut", "2"), row("c", "outranked", "3")])


def test_causes_are_counted_and_grouped() -> None:
    told = [row("a", "cut", must=True), row("b", "cut"), row("c", "cut"), row("d", "outranked")]
    assert cause_rows.counted(told) == "3 cut, 1 outranked"
    assert [count.share for count in cause_rows.counts(told)] == [1.0, 1 / 3]
    assert [group.title for group in cause_rows.groups(told)] == [
        "cut, must (1)",
        "cut (2)",
        "outranked (1)",
    ]


def test_a_probe_that_passed_or_is_not_there_has_no_cause() -> None:
    more = causes().iloc[[0, 0]].assign(probe=["lunch-spot", "who-is-this"])
    run = diagnosed_run(causes=frames.conform(more, frames.CAUSES))
    assert cause_rows.rows(run) == []


def test_failing_probes_stand_in_the_order_of_their_causes_and_the_rest_behind() -> None:
    assert Ledger(diagnosed_run()).failing == ORDER
    part = diagnosed_run(causes=causes().iloc[[2]])
    assert Ledger(part).failing == ["cafe-or-bar", "neighbour", "answers-anyway", "search-breaks"]


@pytest.mark.parametrize("form", FORMS)
def test_texts_say_which_to_mend_first_then_list_all_in_order(form: object) -> None:
    text = form.causes_text(diagnosed_run())  # type: ignore[attr-defined]
    assert "Mend neighbour first: a leak fails the run" in text
    places = [text.rindex(name) for name in ORDER]
    assert places == sorted(places)
    assert "17" in text and "a record came back that must never come back" in " ".join(text.split())
    assert "and 3 more" in form.causes_text(diagnosed_run(), 1)  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", FORMS)
def test_each_failing_probe_tells_cause_because_and_next_before_what_was_asked(
    form: object,
) -> None:
    text = form.failing_text(diagnosed_run())  # type: ignore[attr-defined]
    flat = " ".join(text.replace("\\", "").split())
    told = [
        "cafe-or-bar: missed",
        "outranked: it is found, and other records stand before it",
        "before c1: c3 (We met at work.); it comes at rank 17",
        "read what stands before it",
        "Where do we meet?",
    ]
    places = [flat.index(words) for words in told]
    assert places == sorted(places)


@pytest.mark.parametrize("form", FORMS)
def test_without_causes_and_on_an_invalid_suite_nothing_is_said(form: object) -> None:
    for run in (make_run(), diagnosed_run(validity=INVALID)):
        assert form.causes_text(run) == ""  # type: ignore[attr-defined]
        assert "outranked" not in form.report_text(run)  # type: ignore[attr-defined]


def test_a_next_step_is_said_once_for_those_that_follow() -> None:
    same = diagnosed_run(causes=causes().assign(cause="cut", next_step="match by meaning"))
    text = plain.causes_text(same)
    # The must stands in a group of its own, the other three in the next.
    assert text.count("match by meaning") == 2 and text.count("as above") == 2


def test_the_table_of_causes_stays_within_80_columns() -> None:
    for run in (diagnosed_run(), hostile_run()):
        assert max(display_width(line) for line in plain.causes_text(run).split("\n")) <= 80


def test_the_page_tells_why_after_the_numbers_and_before_the_probes(html: str) -> None:
    names = re.findall(r'<section id="(\w+)"', html)
    assert names[:5] == ["controls", "verdict", "numbers", "why", "scopes"]
    text = section(html, "why")
    assert "Mend neighbour first: a leak fails the run and is never traded off" in text
    assert "Next: filter by scope inside the store" in text
    assert "4 failing probes, by cause" in text
    assert "outranked it is found, and other records stand before it 1" in text
    assert "3 cafe-or-bar rank 17 read what stands before it" in text
    assert "Mend first: neighbour : filter by scope" in section(html, "verdict")
    assert "in the order in which to mend them" in section(html, "probes")


def test_every_link_of_the_page_leads_somewhere(html: str) -> None:
    for text in (html, report_html(hostile_run())):
        elements = Page(text).elements
        ids = {attrs["id"] for _, attrs in elements if "id" in attrs}
        links = {str(attrs["href"])[1:] for tag, attrs in elements if tag == "a"}
        assert links <= ids
    assert {f"probe-{name}" for name in ORDER} <= {
        str(attrs["href"])[1:] for tag, attrs in Page(section_html(html)).elements if tag == "a"
    }


def section_html(html: str) -> str:
    found = re.search(r'<section id="why".*?</section>', html, re.S)
    assert found
    return found[0]


def test_a_detail_begins_with_cause_evidence_and_next_step(html: str) -> None:
    found = re.search(r'<details class="probe failed" id="probe-cafe-or-bar">.*?<h4>', html, re.S)
    assert found
    text = Page(found[0]).text
    told = ["Cause outranked", "Because before c1", "In its place c3 h1", "Next read", "Asked"]
    places = [text.index(words) for words in told]
    assert places == sorted(places)


def test_an_invalid_suite_shows_no_cause_and_an_old_file_none_either() -> None:
    hidden = report_html(diagnosed_run(validity=INVALID))
    assert 'id="why"' not in hidden and "outranked" not in Page(hidden).text
    assert "Mend first" not in hidden
    old = report_html(make_run())
    assert 'id="why"' not in old and "why they failed was not asked" in section(old, "probes")


def test_without_texts_neither_evidence_nor_the_text_of_an_unknown_hit_is_shown() -> None:
    html = report_html(diagnosed_run(), texts=False)
    assert "met at work" not in html and "Who wrote this" not in html
    assert "read what stands before it" in section(html, "why")


def test_a_run_that_was_saved_with_its_causes_gives_the_same_page(tmp_path: Path) -> None:
    run = diagnosed_run()
    assert report_html(load_run(save_run(run, tmp_path / "run.json"))) == report_html(run)


def test_probes_marked_must_are_told_so() -> None:
    # "neighbour" is a must, and here its cause does not gate.
    run = diagnosed_run(causes=causes().iloc[[0]].assign(cause="cut"))
    assert "cut, must (1)" in plain.causes_text(run)
    assert "it is marked must" in section(report_html(run), "why")


def test_a_notebook_shows_the_counts_and_the_first() -> None:
    text = Page(run_html(diagnosed_run())).text
    assert "Why 4 probes failed: 1 leaked, 1 contract, 1 outranked, 1 not_reproduced" in text
    assert "Mend neighbour first: a leak" in text
    assert "Why" not in Page(run_html(make_run())).text
    assert "Why" not in Page(run_html(diagnosed_run(validity=INVALID))).text


def test_hostile_evidence_is_text_in_the_page() -> None:
    html = report_html(hostile_run())
    page = Page(html)
    assert (page.faults, page.open) == ([], [])
    for payload in PAYLOADS[:4]:
        assert f"asked again: {payload}" in page.text


def test_the_page_with_causes_stays_small() -> None:
    run = diagnosed_run()
    sixty = [replace(p, name=f"{p.name}-{n}") for n in range(8) for p in probes()][:60]
    suite, names = Suite.of(sixty), {probe.name for probe in sixty}
    many: dict[str, Any] = {}
    for table in ("hits", "calls", "causes"):
        one = getattr(run, table)
        told = [one.assign(probe=one["probe"] + f"-{n}") for n in range(8)]
        every = frames.conform(pd.concat(told), frames.SCHEMAS[table])
        many[table] = every[every["probe"].isin(names)]
    html = report_html(replace(run, suite=suite, qrels=suite.qrels(), **many))
    assert "30 failing probes, by cause" in html
    assert len(html.encode()) < 250_000
