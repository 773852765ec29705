"""Recall at every k, floors on the score and tags: numbers by hand, words, drawing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_fixtures import INVALID, calls, diagnosed_run, hits, make_run, manifest, scored
from test_report_html import Page, section

from memeval import frames
from memeval.report import curve_rows, drawing, markdown, plain, tag_rows
from memeval.report.html import report_html
from memeval.suite import Suite
from memeval.text import display_width

FORMS = [plain, markdown]


def test_recall_at_every_k_is_what_counting_by_hand_gives() -> None:
    rows = curve_rows.cutoffs(make_run())
    # Ranks of the five positives that were asked: lunch 2, cafe none, neighbour 1, address 2,
    # breaks none. So 1, 3 and 3 of 5.
    assert [(row.k, row.recall, row.n) for row in rows] == [
        (1, "0.200", 5),
        (2, "0.600", 5),
        (3, "0.600", 5),
    ]
    # Wilson, 1 of 5, z = 1.96: (0.2 + 0.3842) / 1.7683 -+ 0.2941.
    assert rows[0].interval == "0.036 to 0.624"
    assert rows[0].mrr == "0.200" and rows[1].mrr == "0.400"  # (1 + 1/2 + 1/2) / 5
    assert curve_rows.cutoff_note(rows) == ""


def test_where_fewer_probes_were_asked_for_so_many_it_is_said_and_drawn() -> None:
    fewer = calls()
    fewer.loc[fewer["probe"] == "lunch-spot", "k"] = 2
    rows = curve_rows.cutoffs(make_run(calls=fewer))
    assert [row.n for row in rows] == [5, 5, 4]
    assert "at k = 3 only 4 of 5 count" in curve_rows.cutoff_note(rows)
    assert [s.faint for s in curve_rows.cutoff_chart(rows).segments] == [False, True]
    assert "only 4 of 5 count" in section(report_html(make_run(calls=fewer)), "cutoffs")


def test_no_more_than_twenty_cutoffs_are_shown_and_the_ticks_do_not_crowd() -> None:
    rows = curve_rows.cutoffs(make_run(calls=calls().assign(k=50)))
    assert [row.k for row in rows] == list(range(1, 21))
    assert len(curve_rows.cutoff_chart(rows).ticks) <= 10


def test_one_cutoff_is_no_curve() -> None:
    assert curve_rows.cutoffs(make_run(calls=calls().assign(k=1))) == []


def test_the_best_floor_is_named_with_what_it_changes() -> None:
    found = curve_rows.floors(diagnosed_run())
    assert found is not None and found.best
    # At 0.8 the wrong answer (2 hits of 0.1) and the lunch record (0.5) go: 2 of 5, 2 of 2.
    assert found.words == (
        "A floor of 0.8 separates best: without the 3 hits below it recall would be 0.400 (now "
        "0.600), abstention 1.000 (now 0.500), leaks 1 (now 1)."
    )
    assert [(row.floor, row.best) for row in found.rows] == [
        ("0.1", False),
        ("0.8", True),
        ("0.9", False),
    ]


def test_of_low_scores_the_hits_above_a_floor_are_dropped() -> None:
    told = manifest(capabilities={"score_order": "low"})
    turned = scored()
    turned["score"] = -turned["score"]
    found = curve_rows.floors(diagnosed_run(hits=turned, manifest=told))
    assert found is not None
    assert found.words.startswith("A floor of -0.8 separates best: without the 3 hits above it")


def test_where_no_floor_helps_it_is_said() -> None:
    # Only the two hits of the lunch probe have a score: dropping one loses a recall.
    found = curve_rows.floors(diagnosed_run(hits=hits()))
    assert found is not None and not found.best
    assert found.words.startswith("No floor separates better than none")


def test_without_an_order_or_scores_the_section_gives_the_reason() -> None:
    assert "scores have no order" in section(report_html(make_run()), "floors")
    bare = scored()
    bare["score"] = float("nan")
    text = section(report_html(diagnosed_run(hits=bare)), "floors")
    assert "No floor can be tried: no hit has a score" in text
    odd = manifest(capabilities={"score_order": "sideways"})
    assert "no order" in section(report_html(diagnosed_run(manifest=odd)), "floors")


def test_without_negative_probes_no_floor_is_called_the_best() -> None:
    run = diagnosed_run()
    kept = [probe for probe in run.suite if probe.is_positive]
    names = [probe.name for probe in kept]
    some = {n: t[t["probe"].isin(names)] for n in ("hits", "calls") for t in [getattr(run, n)]}
    suite = Suite.of(kept)
    found = curve_rows.floors(diagnosed_run(suite=suite, qrels=suite.qrels(), causes=None, **some))
    assert found is not None and not found.best
    assert "these are 5 and 0" in found.words


def test_tags_come_worst_first_with_their_numbers() -> None:
    rows = tag_rows.tags(make_run())
    # The probe that leaks carries "leak" and "scope"; "any-of" missed, the rest passed.
    assert [row.tag for row in rows] == ["leak", "scope", "any-of", "direct", "stale"]
    assert (rows[0].failed, rows[0].n, rows[0].leaks, rows[0].recall) == (1, 1, 1, "1.000")
    assert (rows[2].failed, rows[2].recall, rows[2].abstention) == (1, "0.000", "n/a")


@pytest.mark.parametrize("form", FORMS)
def test_texts_tell_recall_at_k_the_floor_and_the_tags(form: object) -> None:
    text = form.settings_text(diagnosed_run())  # type: ignore[attr-defined]
    flat = " ".join(text.split())
    assert "k = 1: 0.200 (n = 5), k = 2: 0.600 (n = 5), k = 3: 0.600 (n = 5)" in flat
    assert "A floor of 0.8 separates best" in flat and "held" in flat
    tags = form.tags_text(diagnosed_run(), 2)  # type: ignore[attr-defined]
    assert "leak" in tags and "direct" not in tags and "and 3 more tags" in tags
    assert form.settings_text(diagnosed_run()) in form.report_text(diagnosed_run())  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", FORMS)
def test_an_invalid_suite_and_an_empty_run_show_none_of_it(form: object) -> None:
    empty = make_run(
        hits=frames.empty(frames.HITS),
        calls=frames.empty(frames.CALLS),
        qrels=frames.empty(frames.QRELS),
        suite=Suite(()),
        controls=None,
    )
    for run in (diagnosed_run(validity=INVALID), empty):
        assert form.settings_text(run) == form.tags_text(run) == ""  # type: ignore[attr-defined]
        html = report_html(run)
        assert not re.search(r'id="(cutoffs|floors|tags)"', html)


def test_lines_of_the_texts_stay_within_80_columns() -> None:
    wide = make_run(calls=calls().assign(k=20))
    for text in (plain.settings_text(wide), plain.tags_text(wide)):
        assert max(display_width(line) for line in text.split("\n")) <= 80


def test_charts_have_their_numbers_as_words() -> None:
    html = report_html(diagnosed_run())
    charts = [a for t, a in Page(html).elements if t == "svg" and a.get("class") == "chart"]
    assert [a["role"] for a in charts] == ["img", "img"]
    assert "k = 2: 0.600 (n = 5)" in str(charts[0]["aria-label"])
    assert "0.8: recall 0.400, abstention 1.000, leaks 1" in str(charts[1]["aria-label"])
    assert "leak rate" in section(html, "floors")


def test_dots_stand_where_their_values_are() -> None:
    chart = curve_rows.cutoff_chart(curve_rows.cutoffs(make_run()))
    # The plot is 168 pixels high and begins 18 from the top; k = 2 is half way from 8 to 95 %.
    assert [(d.x, d.y) for d in chart.dots] == [(8.0, 152.4), (51.5, 85.2), (95.0, 85.2)]
    assert chart.band.split()[0] == f"8,{168 * (1 - 0.6245):.1f}"


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(0, 1)), min_size=2))
def test_lines_stay_inside_their_plot(values: list[tuple[float, float]]) -> None:
    first, last = min(v for v, _ in values), max(v for v, _ in values)
    drawn = drawing.points((drawing.across(v, first, last), share) for v, share in values)
    for point in drawn.split():
        x, y = map(float, point.split(","))
        assert 0 <= x <= 100 and 0 <= y <= drawing.PLOT
