"""The report as text and Markdown: what it says, how wide, and what it never says."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_fixtures import INVALID, WEAK, calls, controls, hostile_run, make_run, manifest

from memeval.report import control_rows, figures, markdown, plain, tables
from memeval.report.layout import paragraph, table, wrap
from memeval.report.probes import Ledger, details
from memeval.text import display_width, visible

FORMS = [plain, markdown]


def row_of(text: str, start: str) -> str:
    """The one line that begins so."""
    (line,) = [line for line in text.split("\n") if line.startswith(start)]
    return line


def test_the_summary_shows_the_numbers_that_hand_counting_gives() -> None:
    text = plain.summary_text(make_run())
    # Ranks of the five positives: lunch 2, cafe none, neighbour 1, address 2, breaks none.
    assert " 0.600 " in row_of(text, "recall_all ")  # 3 of 5
    assert " 0.400 " in row_of(text, "mrr ")  # (1/2 + 0 + 1 + 1/2 + 0) / 5
    assert " 0.111 " in row_of(text, "staleness ")  # 1 of 2 + 2 + 3 + 2 hits
    assert " 0.500 " in row_of(text, "abstention ")  # 1 of 2 negatives
    assert "n/a" in row_of(text, "llm_calls ")
    assert "MISSED" in row_of(text, "recall_all ")
    assert "gate BROKEN" in " ".join(text.split())


def test_an_interval_is_shown_with_its_ends() -> None:
    # Wilson, 3 of 5, z = 1.96: (0.6 + 0.3842) / 1.7683 -+ 0.3258, so 0.231 and 0.882.
    assert "[0.231, 0.882]" in row_of(plain.summary_text(make_run()), "recall_all ")


def test_floors_are_told_with_the_word_whether_they_are_kept() -> None:
    text = " ".join(plain.summary_text(make_run(floors={"recall_all": 0.5, "mrr": 0.9})).split())
    assert "floor 0.5 kept" in text
    assert "floor 0.9 BROKEN" in text


@pytest.mark.parametrize("form", FORMS)
def test_failing_probes_come_worst_first_and_say_what_stood_there(form: object) -> None:
    text = form.failing_text(make_run())  # type: ignore[attr-defined]
    order = [text.index(name) for name in ("neighbour", "answers", "search", "cafe")]
    assert order == sorted(order)
    assert "n2 at rank 4: forbidden, listed by the probe" in text
    assert "unknown: nobody wrote it" in text
    assert "the disk is full" in text.replace("\\", "")
    assert "c1 or c2: did not come back" in text
    assert "start from an empty store" in " ".join(text.split())
    assert "lunch" not in text


@pytest.mark.parametrize("form", FORMS)
def test_what_is_left_out_is_counted(form: object) -> None:
    text = form.failing_text(make_run(), 1)  # type: ignore[attr-defined]
    assert "and 3 more failing probes" in text
    assert "cafe" not in text


@pytest.mark.parametrize("form", FORMS)
def test_an_invalid_suite_withholds_every_number_and_outcome(form: object) -> None:
    run = make_run(validity=INVALID)
    text = form.report_text(run)  # type: ignore[attr-defined]
    assert "INVALID" in text
    assert "luck alone recalls" in " ".join(text.split())
    assert "mend the suite" in " ".join(text.split())
    for number in ("0.600", "0.400", "0.4321", "0.432", "0.111", "3 of 5"):
        assert number not in text
    for name in ("neighbour", "cafe", "passed", "MISSED"):
        assert name not in text
    assert "0.031" in text  # what the controls say of the suite is shown
    assert "2 checks of the store" in text  # C3, and the MRR of the shuffle


@pytest.mark.parametrize("form", FORMS)
def test_a_weak_suite_is_said_beside_the_numbers(form: object) -> None:
    text = form.summary_text(make_run(validity=WEAK))  # type: ignore[attr-defined]
    assert "weak suite: 6 positive probes, at least 20 wanted" in text


@pytest.mark.parametrize("form", FORMS)
def test_faults_of_suite_and_store_are_told_apart(form: object) -> None:
    faulty = replace(WEAK, store_faults=("the store ranks no better than a shuffle",))
    text = form.controls_text(controls(), faulty)  # type: ignore[attr-defined]
    assert re.search(r"suite: +6 positive", text)
    assert re.search(r"store: +the store ranks", text)


def test_controls_show_value_real_chance_and_bound_side_by_side() -> None:
    line = row_of(plain.controls_text(controls(), WEAK), "shuffled C4")
    assert line.split() == [
        "shuffled",
        "C4",
        "mrr",
        "0.300",
        "0.432",
        "0.310",
        "at",
        "most",
        "0.350",
        "kept",
    ]


def test_a_rule_that_cannot_be_judged_is_neither_kept_nor_broken() -> None:
    rows = control_rows.checks(controls(), WEAK)
    assert [row.state for row in rows] == ["kept", "kept", "kept", "cannot tell"]


def test_the_blame_of_a_broken_rule_is_named() -> None:
    frame = controls().assign(passed=False, blames="suite")
    assert "at fault: the suite" in " ".join(plain.controls_text(frame, WEAK).split())


def test_the_split_counts_what_could_not_be_asked() -> None:
    found = {part.name: part.n for part in tables.split(make_run())}
    assert found == {"positive": 6, "negative": 2, "held out": 0, "not supported": 1, "errors": 1}


def test_records_that_were_lost_are_a_part_of_their_own() -> None:
    lost = calls()
    lost.loc[lost["probe"] == "cafe-or-bar", "status"] = "not_stored"
    assert tables.split(make_run(calls=lost))[-1].n == 1


def test_ranks_are_counted_over_the_positives_that_were_asked() -> None:
    bars = {bar.label: bar.n for bar in tables.rank_bars(make_run())}
    assert bars == {"rank 1": 1, "rank 2": 2, "rank 3": 0, "not in the top k": 2}


def test_deep_cutoffs_share_a_bar() -> None:
    run = make_run(calls=calls().assign(k=50))
    assert [bar.label for bar in tables.rank_bars(run)][-2:] == [
        "rank 11 to 50",
        "not in the top k",
    ]


def test_the_verdict_tells_reason_and_next_step() -> None:
    text = plain.verdict_text(make_run())
    assert text.startswith("VERDICT: FAIL\nwhy:       1 leaked record in 1 probe: neighbour")
    assert "next:" in text


@pytest.mark.parametrize("form", FORMS)
def test_an_unchecked_run_says_so_and_shows_its_numbers(form: object) -> None:
    run = replace(make_run(), controls=None, validity=replace(WEAK, status="unchecked", reasons=()))
    text = form.report_text(run)  # type: ignore[attr-defined]
    assert "UNCHECKED" in text
    assert "unchecked suite" in text
    assert "0.600" in text


@pytest.mark.parametrize("form", FORMS)
def test_a_run_without_texts_says_that_they_were_left_out(form: object) -> None:
    text = form.failing_text(make_run().without_texts())  # type: ignore[attr-defined]
    assert "text left out" in text
    assert "Bo has the key" not in text


@pytest.mark.parametrize("form", FORMS)
def test_nothing_in_hostile_text_acts_on_a_terminal_or_hides(form: object) -> None:
    text = form.report_text(hostile_run())  # type: ignore[attr-defined]
    assert visible(text.replace("\n", "")) == text.replace("\n", "")


def test_plain_text_stays_within_80_columns() -> None:
    for run in (
        make_run(),
        hostile_run(),
        hostile_run(INVALID),
        make_run(manifest=manifest(store="木" * 90)),
    ):
        assert max(display_width(line) for line in plain.report_text(run).split("\n")) <= 80


def test_markdown_lets_no_markup_of_others_live() -> None:
    text = markdown.report_text(hostile_run())
    assert "<" not in text.replace("<U+", "")
    assert not re.search(r"(?<!\\)!\[|(?<!\\)`", text)


def test_every_row_of_a_markdown_table_has_as_many_cells_as_its_head() -> None:
    block: list[int] = []
    for line in markdown.report_text(hostile_run()).split("\n"):
        if line.startswith("|"):
            block.append(len(re.findall(r"(?<!\\)\|", line)))
            assert block[-1] == block[0], line
        else:
            block = []


def test_all_metrics_of_the_summary_have_words() -> None:
    from memeval.summary import METRICS

    assert set(figures.MEANINGS) == set(METRICS)
    assert set(plain.SHORT) == set(METRICS)
    assert max(map(len, plain.SHORT.values())) <= 21


@pytest.mark.parametrize(
    ("value", "target", "better", "met"),
    [
        (0.85, 0.85, "higher", False),
        (0.851, 0.85, "higher", True),
        (0.05, 0.05, "lower", False),
        (0.049, 0.05, "lower", True),
        (0.0, 0.0, "lower", True),
        (1.0, 1.0, "higher", True),
    ],
)
def test_a_target_is_met_beyond_it_or_at_the_end_of_the_scale(
    value: float, target: float, better: str, met: bool
) -> None:
    assert tables.meets(value, target, better) is met


@pytest.mark.parametrize(
    ("value", "metric", "shown"),
    [
        (0.0004, "mrr", "0.000"),
        (0.41, "latency_p50_ms", "0.410"),
        (9.994, "latency_p50_ms", "9.99"),
        (99.94, "latency_p50_ms", "99.9"),
        (1234.5, "latency_p50_ms", "1234"),
        (2.0, "errors", "2"),
        (pd.NA, "mrr", "n/a"),
        (None, "mrr", "n/a"),
    ],
)
def test_numbers_are_written_so(value: float, metric: str, shown: str) -> None:
    assert figures.figure(value, metric) == shown


def test_repeats_that_leak_are_told_with_their_number() -> None:
    from report_fixtures import frame, hit, hits

    from memeval import frames

    twice = pd.concat([calls(), calls().assign(repeat=1)])
    more = frame([hit("cafe-or-bar", 1, "x9", "leak", repeat=1, canary="leak")], frames.HITS)
    run = make_run(calls=twice, hits=pd.concat([hits(), hits().assign(repeat=1).iloc[:2], more]))
    (found,) = [d for d in details(run) if d.row.name == "cafe-or-bar"]
    assert found.leaks == ("x9 at rank 1 (repeat 1): forbidden, holds the canary leak",)
    assert "asked 2 times" in found.notes[0]


def test_a_merged_record_stands_for_the_expected_one() -> None:
    run = make_run()
    merged = pd.DataFrame(
        {
            "probe": ["cafe-or-bar"],
            "record_id": ["c3"],
            "label": ["expected"],
            "group": [0],
            "merged": [True],
            "reason": ["listed"],
        }
    )
    run = replace(
        run, qrels=pd.concat([run.qrels.astype({"label": "str", "reason": "str"}), merged])
    )
    found = Ledger(run).detail("cafe-or-bar")
    assert found.wanted[0].rank == 1
    assert found.places[0].labels[0].words == "expected, merged into this one"


@given(st.text(max_size=200), st.integers(2, 30))
def test_wrapping_loses_nothing_but_blanks(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join(lines).replace(" ", "") == visible(text).replace(" ", "")
    assert all(display_width(line) <= width for line in lines)


def test_a_paragraph_keeps_its_indent_and_a_table_its_columns() -> None:
    assert paragraph("one two", 4, 7, "a:") == "a:  one\n    two"
    assert table(["n", "x"], [["1", "long cell"]], [3, 4], "r").split("\n")[2:] == [
        "  1 long",
        "    cell",
    ]


@pytest.mark.parametrize("form", [plain, markdown])
def test_what_the_reader_must_know_of_the_run_stands_with_the_verdict(form: Any) -> None:
    told = manifest(notes=("latency measured with 2 jobs in parallel: it never gates",))
    said = " ".join(form.verdict_text(make_run(manifest=told)).split())
    assert "ote: latency measured with 2 jobs in parallel: it never gates" in said
