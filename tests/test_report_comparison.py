"""The comparison in the report: section, tiles, links, and what is withheld."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from report_fixtures import (
    INVALID,
    PAYLOADS,
    earlier_run,
    frame,
    hit,
    hostile_pair,
    make_run,
    manifest,
    probes,
)
from test_report_html import LOADING, Page, section

from memeval import frames
from memeval.comparison import Comparison, compare
from memeval.errors import MemevalError, RunFileError
from memeval.probe import Probe
from memeval.report import markdown, plain, write_report
from memeval.report.comparison_notebook import comparison_html
from memeval.report.comparison_page import section as gather
from memeval.report.comparison_rows import circumstances
from memeval.report.comparison_text import comparison_markdown, comparison_text
from memeval.report.html import report_html
from memeval.report.notebook import run_html
from memeval.report.probes import Ledger
from memeval.runs import Run
from memeval.suite import Suite
from tests.outcome_sides import named, side


@pytest.fixture(scope="module")
def run() -> Run:
    return make_run()


@pytest.fixture(scope="module")
def comparison(run: Run) -> Comparison:
    return compare(earlier_run(), run)


@pytest.fixture(scope="module")
def html(run: Run, comparison: Comparison) -> str:
    return report_html(run, comparison=comparison)


def row(html: str, table: str, start: str) -> str:
    """Text of the row of a table that starts with a word."""
    (found,) = re.findall(rf'<table class="{table}">.*?</table>', html, re.S)
    texts = [Page(one).text for one in re.findall("<tr.*?</tr>", found, re.S)]
    (told,) = [text for text in texts if text.startswith(start)]
    return told


def test_the_section_stands_right_after_the_numbers_and_only_with_a_baseline(
    run: Run, html: str
) -> None:
    names = re.findall(r'<section id="(\w+)"', html)
    assert names[:4] == ["controls", "verdict", "numbers", "comparison"]
    assert 'id="comparison"' not in report_html(run)
    assert "<title>FAIL (against the baseline: FAIL): shelf - memeval report</title>" in html


def test_how_both_were_measured_stands_before_any_number(html: str) -> None:
    text = section(html, "comparison")
    told = ["✗ FAIL", "under test", "store: desk in the baseline, shelf now", "1 leaked record"]
    places = [text.index(words) for words in [*told, "How each metric moved", "0.600"]]
    assert places == sorted(places)
    assert "7 common probes" in text and "Next: find out why" in text


def test_the_metrics_stand_with_both_values_delta_interval_and_p(html: str) -> None:
    # By hand: of 5 positive probes that both answered cafe-or-bar is lost, old-address gained.
    assert row(html, "moved", "recall_all").startswith("recall_all 0.600 0.600 0 [-")
    assert row(html, "moved", "recall_all").endswith("5 1/3/1")
    # 1/rank before: 1, 1, 1, 0, 0; now: 1/2, 0, 1, 1/2, 0.
    assert row(html, "moved", "mrr") == "mrr 0.600 0.400 -0.200 worse 5 1/2/2"
    assert row(html, "moved", "leaks").startswith("leaks 0 1 +1 ✗ counts as worse")


def test_changed_probes_stand_by_name_with_ranks_and_who_displaced_them(html: str) -> None:
    assert "Probes that changed: 2 lost, 1 gained, 1 added" in section(html, "comparison")
    assert row(html, "changed", "cafe-or-bar") == "cafe-or-bar 1 – 2 h1 The tram is late."
    assert row(html, "changed", "neighbour").startswith("neighbour 1 1 Now 1 record leaked")
    assert row(html, "changed", "neighbour").endswith("4 n2 Bo has the key.")
    assert row(html, "changed", "old-address").startswith("old-address – 2")
    assert row(html, "changed", "2 lost") == "2 lost passed in every repeat, passes in none now"


def test_every_link_of_the_section_leads_to_something_on_the_page(html: str) -> None:
    ids = {attrs["id"] for _, attrs in Page(html).elements if "id" in attrs}
    (found,) = re.findall(r'<section id="comparison".*?</section>', html, re.S)
    links = re.findall(r'href="#([^"]+)"', found)
    assert links == ["probe-cafe-or-bar", "probe-neighbour", "row-probe-old-address",
                     "row-probe-needs-delete"]  # fmt: skip
    assert set(links) <= ids and len(ids) == len(re.findall(r'\bid="', html))


def test_rows_and_details_below_say_what_changed(html: str) -> None:
    assert "old-address stale ✓ passed gained" in section(html, "probes")
    detail = html[html.index('id="probe-cafe-or-bar"') :]
    assert "<b>lost</b>: passed before, not now" in detail[: detail.index("</details>")]


def test_tiles_show_the_change_against_the_baseline(html: str) -> None:
    text = section(html, "numbers")
    assert "was 0.600 no change target > 0.85" in text
    assert "was 0.600 -0.200 worse target > 0.7" in text
    assert "was 0 ✗ +1 worse target 0" in text


def test_a_tile_of_more_probes_than_were_compared_tells_both_values(run: Run) -> None:
    before = earlier_run()
    calls = before.calls.assign(
        status=before.calls["status"]
        .astype("str")
        .mask(before.calls["probe"].eq("old-address"), "not_supported")
    )
    less = dataclasses.replace(before, calls=calls.astype(before.calls.dtypes.to_dict()))
    text = section(report_html(run, comparison=compare(less, run)), "numbers")
    # Without old-address 4 positive probes: 3 of 4 before, lunch-spot and neighbour now.
    assert "0.600" in text and "compared 0.750 → 0.500 change -0.250 worse" in text


def test_what_is_not_comparable_shows_no_number_of_the_comparison(run: Run) -> None:
    other = earlier_run(manifest=manifest(haystack_hash="other", n_probes=7))
    html = report_html(run, comparison=compare(other, run))
    text = section(html, "comparison")
    assert "✗ NOT COMPARABLE" in text and "haystack: other in the baseline, none now" in text
    assert "No number is shown" in text and "needs-delete" in text
    assert not re.search(r"\d\.\d{3}|recall_all|cafe-or-bar", text)
    assert "was 0" not in section(html, "numbers") and "0.600" in section(html, "numbers")


@pytest.mark.parametrize("form", [comparison_text, comparison_markdown, comparison_html])
def test_no_form_tells_an_outcome_of_what_is_not_comparable(form: Any, run: Run) -> None:
    alike = compare(earlier_run(), run)
    assert "cafe-or-bar" in form(alike) and " lost" in form(alike)
    other = earlier_run(manifest=manifest(haystack_hash="other", n_probes=7))
    said = form(compare(other, run))
    assert "needs-delete" in said  # which probes there are is no outcome
    assert "cafe-or-bar" not in said and "lost" not in said and "gained" not in said


def test_a_notebook_says_verdict_and_reason_before_the_settings_that_differ(run: Run) -> None:
    info = {"store_info": {f"setting{n}": n for n in range(15)}}
    many = compare(earlier_run(), make_run(manifest=manifest(**info)))
    told = [words for label, words in circumstances(many) if label == "tested:"]
    assert len(told) > 15
    html = comparison_html(many)
    folded = html[html.index("<details") : html.index("</details>")]
    assert html.index(many.verdict.reason[:20]) < html.index("<details") < html.index("<table")
    assert f"<bdi>{told[0]}</bdi>; and {len(told) - 1} more</summary>" in folded
    assert [words in folded for words in told] == [True] * len(told)
    assert html.count("setting14") == 1 and html.count(">tested: ") == 1
    few = comparison_html(compare(earlier_run(), run))
    assert few.count("store: desk in the baseline, shelf now") == 1


def test_an_invalid_suite_withholds_the_comparison_too() -> None:
    run = make_run(validity=INVALID)
    html = report_html(run, comparison=compare(earlier_run(), run))
    text = section(html, "comparison")
    assert "✗ INVALID" in text and "luck alone" in text and "No number is shown" in text
    assert not re.search(r"recall_all|0\.(600|400)|lost", text)
    assert (Page(html).faults, Page(html).open) == ([], [])


def _of(asked: list[Probe], run: Run) -> Run:
    """A run of some of its probes, of those that it has."""
    suite = Suite.of([p for p in asked if p.name in {one.name for one in run.suite}])
    names = [probe.name for probe in suite]
    tables = {
        name: (one := getattr(run, name))[one["probe"].isin(names)].reset_index(drop=True)
        for name in ("hits", "calls")
    }
    return dataclasses.replace(run, suite=suite, qrels=suite.qrels(), **tables)


def test_what_cannot_be_told_says_how_many_probes_would_decide() -> None:
    asked = [probe for probe in probes() if probe.name not in ("search-breaks", "answers-anyway")]
    runs = [_of(asked, one) for one in (earlier_run(), make_run())]
    hits = runs[1].hits[~runs[1].hits["record_id"].eq("n2").fillna(False)].reset_index(drop=True)
    run = dataclasses.replace(runs[1], hits=hits)
    text = section(report_html(run, comparison=compare(runs[0], run)), "comparison")
    assert "? CANNOT TELL" in text
    assert re.search(r"4 positive probes would .* would decide; margin 0.1", text)


def test_without_a_change_the_section_says_so(run: Run) -> None:
    text = section(report_html(run, comparison=compare(run, run)), "comparison")
    assert "the store and its settings are the same on both sides" in text
    assert "No probe was lost, gained, flaky, added, removed or edited." in text


def test_hostile_names_ids_and_texts_are_text() -> None:
    before, now = hostile_pair()
    page = Page(report_html(now, comparison=compare(before, now)))
    assert (page.faults, page.open) == ([], [])
    for tag, attrs in page.elements:
        assert tag not in {"img", "link", "base", "iframe", "object", "embed"}
        assert not [name for name in attrs if name.startswith("on")]
        assert all(str(attrs[name]).startswith("#") for name in LOADING & attrs.keys())
    html = report_html(now, comparison=compare(before, now))
    text = section(html, "comparison")
    assert f"{len(PAYLOADS) + 1} lost" in text
    for payload in PAYLOADS[:5]:
        assert payload in text
    assert "U+202E" in text and "\x1b" not in text
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_ids_that_hold_blanks_are_not_torn() -> None:
    before, now = hostile_pair()
    found = compare(before, now)
    ledger = Ledger(now)
    told = gather(found, ledger, ledger.failing).groups[0].probes
    shown = {one.probe: [new.record for new in one.newcomers] for one in told}
    for probe, answer in found.current.answers.items():
        assert shown[probe] == list(answer)


def test_of_ids_that_begin_alike_the_longest_is_meant(run: Run) -> None:
    rest = run.hits[run.hits["probe"].ne("cafe-or-bar")]
    odd = [hit("cafe-or-bar", n, None, "t", store_id=name) for n, name in ((1, "a"), (2, "a b"))]
    hits = pd.concat([rest, frame(odd, frames.HITS)], ignore_index=True)
    html = report_html(now := dataclasses.replace(run, hits=hits),
                       comparison=compare(earlier_run(), now))  # fmt: skip
    assert row(html, "changed", "cafe-or-bar").endswith("1 ?a t 2 ?a b t")


def test_a_long_text_is_cut_and_texts_may_be_left_out(run: Run, comparison: Comparison) -> None:
    before, now = hostile_pair()
    text = section(report_html(now, comparison=compare(before, now)), "comparison")
    assert "x" * 140 + "…" in text and "x" * 250 not in text  # a name has 200
    bare = section(report_html(run, comparison=comparison, texts=False), "comparison")
    assert "2 h1" in bare and "tram" not in bare


def test_the_page_is_the_same_byte_for_byte(tmp_path: Path, run: Run) -> None:
    pages = [
        write_report(make_run(), tmp_path / name, baseline=earlier_run()).read_bytes()
        for name in ("a.html", "b.html")
    ]
    assert pages[0] == pages[1] and b'id="comparison"' in pages[0]
    assert write_report(run, tmp_path / "c.html").read_bytes() not in pages


def test_write_report_takes_whatever_compare_takes(tmp_path: Path, run: Run) -> None:
    made = compare(earlier_run(), run, margin=0.4)
    page = write_report(run, tmp_path / "a.html", baseline=made).read_text(encoding="utf-8")
    assert "margin 0.4" in page
    bare = {"recall_at_k": 0.9, "per_probe": {}}
    page = write_report(run, tmp_path / "a.html", baseline=bare).read_text(encoding="utf-8")
    assert 'id="comparison"' in page
    with pytest.raises(MemevalError, match="wanted one of the run that is reported"):
        write_report(make_run(), tmp_path / "n.html", baseline=made)
    with pytest.raises(RunFileError, match=r"no\.json"):
        write_report(run, tmp_path / "n.html", baseline=tmp_path / "no.json")
    assert not (tmp_path / "n.html").exists()


def test_the_texts_carry_the_same_section(run: Run, comparison: Comparison) -> None:
    for words, head in ((plain, "COMPARISON"), (markdown, "## Comparison: FAIL")):
        text = words.report_text(run, None, comparison)
        assert text.index(f"{words.verdict_text(run)}") < text.index(head)
        assert text.index(head) < text.index(words.split_text(run))
        assert words.comparison_text(comparison).rstrip("\n") in text
        assert head not in words.report_text(run)
    assert max(map(len, plain.report_text(run, None, comparison).splitlines())) <= 80


def test_what_counts_as_worse_is_marked_in_every_form(comparison: Comparison) -> None:
    assert re.search(r"^leaks ! +0 +1 +\+1", plain.comparison_text(comparison), re.M)
    assert "leaks !" in comparison._repr_html_()
    assert "recall_all !" not in comparison._repr_html_()


def test_a_notebook_shows_a_comparison_like_a_run(run: Run, comparison: Comparison) -> None:
    shown = comparison._repr_html_()
    assert shown.split(">")[0] == run_html(run).split(">")[0]
    before, now = hostile_pair()
    page = Page(compare(before, now)._repr_html_())
    assert (page.faults, page.open) == ([], [])
    allowed = {"div", "p", "b", "bdi", "table", "thead", "tbody", "tr", "th", "td", "code"}
    assert {tag for tag, _ in page.elements} <= allowed
    assert "<script>window.pwned=1</script>" in page.text


def test_what_was_not_asked_is_not_shown_as_not_found() -> None:
    gone = side({"a": None, "b": None}, status={"a": "not_supported"})
    found = compare(side({"a": 1, "b": 1}), gone)
    (group,) = gather(found, None, ()).groups
    places = [(one.probe, one.before, one.after) for one in group.probes]
    assert places == [("a", "1", "not asked"), ("b", "1", "–")]
    assert math.isnan(group.probes[0].now) and not math.isnan(group.probes[1].now)
    assert "not asked now" in comparison_text(found)
    assert "| 1 | not asked |" in comparison_markdown(found)


def test_many_removed_probes_are_names_in_one_row(run: Run) -> None:
    found = compare(side(named([1] * 60)), side(named([1] * 30)))
    (group,) = gather(found, None, ()).groups
    assert (group.change, group.n, group.probes) == ("removed", 30, ())
    assert group.names[:2] == ("p30", "p31") and len(group.names) == 30
    html = report_html(run, comparison=found)
    assert "<bdi" in html and html.count("p59") == 1


def two_probes(run: Run) -> Run:
    """The run of lunch-spot and cafe-or-bar alone: they name nothing that must not come back."""
    suite = Suite.of(probes()[:2])
    kept = {
        name: frame[frame["probe"].isin([probe.name for probe in suite])].reset_index(drop=True)
        for name, frame in (("hits", run.hits), ("calls", run.calls))
    }
    return dataclasses.replace(run, suite=suite, qrels=suite.qrels(), causes=None, **kept)


def test_no_leak_where_nothing_could_leak_is_not_measured_and_not_zero(run: Run) -> None:
    before, now = two_probes(earlier_run()), two_probes(run)
    told = compare(before, now)
    html = report_html(now, comparison=told)
    assert row(html, "moved", "leaks").startswith("leaks not measured not measured n/a")
    leaks = re.search(r"^leaks +(.*)$", comparison_text(told), re.M)
    assert leaks and leaks[1].split()[:3] == ["n/a", "n/a", "n/a"]
    # With the other probes neighbour could leak, and did not before.
    assert row(
        report_html(run, comparison=compare(earlier_run(), run)), "moved", "leaks"
    ).startswith("leaks 0 1 +1")
