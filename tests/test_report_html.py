"""The report as one HTML page, and what notebooks show: content, escaping, files."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from report_fixtures import (
    INVALID,
    PAYLOADS,
    WEAK,
    controls,
    diagnosed_run,
    hits,
    hostile_run,
    make_run,
    manifest,
    probes,
)

from memeval import frames
from memeval.errors import MemevalError
from memeval.loading import load_text
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Record
from memeval.report import write_report
from memeval.report.copying import to_yaml
from memeval.report.html import report_html
from memeval.report.notebook import controls_html, run_html
from memeval.report.probes import anchor, details
from memeval.runs import Run
from memeval.suite import Suite

ROOT = Path(__file__).resolve().parent.parent
VOID = {"meta", "input", "br", "hr", "img", "link", "base"}
LOADING = {"src", "href", "srcset", "data", "action", "formaction", "poster", "background", "ping"}


class Page(HTMLParser):
    """Elements, text and nesting faults of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def section(html: str, name: str) -> str:
    """Text of one section of the page."""
    found = re.search(rf'<section id="{name}".*?</section>', html, re.S)
    assert found, f"no section {name}"
    return Page(found[0]).text


@pytest.fixture(scope="module")
def html() -> str:
    return report_html(make_run())


def test_the_control_result_comes_first_then_verdict_numbers_probes_manifest(html: str) -> None:
    settings = ["cutoffs", "floors", "tags"]
    names = ["controls", "verdict", "numbers", "scopes", *settings, "probes", "details", "manifest"]
    assert re.findall(r'<section id="(\w+)"', html) == names
    assert "grades retrieval" in html[: html.index('<section id="controls"')]


def screen(run: Run) -> str:
    """Text of what stands before the first section."""
    html = report_html(run)
    return Page(html[html.index("<header>") : html.index("</header>")]).text


def test_the_first_screen_answers_validity_leaks_verdict_and_what_is_next() -> None:
    # By hand, see tests/report_fixtures.py: 3 of the 7 that were asked passed, n2 leaked.
    told = screen(diagnosed_run())
    words = ["Suite ✓ VALID", "Leaks ✗ 1 leaked record in 1 probe", "Verdict ✗ FAIL 3 of 7 probes",
             "Next mend neighbour : filter by scope inside the store"]  # fmt: skip
    places = [told.index(one) for one in words]
    assert places == sorted(places)
    assert "Next find out why" in screen(make_run())  # without causes as the verdict says it
    calm = make_run(hits=hits()[hits()["record_id"].ne("n2").fillna(True)])
    # Only neighbour could leak: none of one is at most 0.950 of them, as 1 - 0.05.
    assert "Leaks ✓ none seen in 1 chance, at most 0.950 of probes" in screen(calm)
    bare = make_run(qrels=make_run().qrels[make_run().qrels["label"].ne("forbidden")])
    assert "Leaks – not measured nothing could leak" in screen(bare)
    hidden = screen(make_run(validity=INVALID))
    assert "INVALID" in hidden and "Leaks" not in hidden and "of 7" not in hidden


def test_the_page_is_well_formed_and_says_its_language(html: str) -> None:
    for text in (html, report_html(hostile_run()), report_html(make_run(validity=INVALID))):
        page = Page(text)
        assert (page.faults, page.open) == ([], [])
        assert page.elements[0] == ("html", {"lang": "en"})


def test_ids_are_unique(html: str) -> None:
    for text in (html, report_html(hostile_run())):
        ids = [attrs["id"] for _, attrs in Page(text).elements if "id" in attrs]
        assert len(ids) == len(set(ids))


def test_nothing_in_the_page_names_anything_to_load() -> None:
    for tag, attrs in Page(report_html(hostile_run())).elements:
        for name in LOADING & attrs.keys():
            assert str(attrs[name]).startswith("#"), (tag, name, attrs[name])
        assert not [name for name in attrs if name.startswith("on")]
        assert tag not in {"img", "link", "base", "iframe", "object", "embed"}


def test_the_policy_allows_the_one_script_by_its_hash(html: str) -> None:
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [a["content"] for t, a in Page(html).elements if t == "meta" and "http-equiv" in a]
    assert policy == (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_tiles_show_value_interval_n_and_target_in_words(html: str) -> None:
    text = section(html, "numbers")
    # By hand, see tests/report_fixtures.py: 3 of 5 positives, Wilson 0.231 to 0.882.
    assert "Recall recall_all 0.600" in text
    assert "interval 0.231 to 0.882 n 5 positive probes target > 0.85 ✗ missed" in text
    assert "Abstention abstention 0.500" in text
    assert "target 0 ✗ missed decides ✗ gate BROKEN" in text
    assert "none: under 72 searches" in text
    assert "positive 6" in text
    assert "not supported 1" in text


def test_the_verdict_is_in_words_with_reason_and_next_step(html: str) -> None:
    text = section(html, "verdict")
    assert "✗ FAIL" in text
    assert "1 leaked record in 1 probe: neighbour" in text
    assert "Next: find out why" in text


def test_failing_probes_come_first_in_the_table_and_alone_have_details(html: str) -> None:
    table = section(html, "probes")
    order = ["neighbour", "answers-anyway", "search-breaks", "cafe-or-bar", "lunch-spot"]
    assert [table.index(name) for name in order] == sorted(table.index(name) for name in order)
    assert re.findall(r'<details class="probe \w+" id="([^"]+)"', html) == [
        f"probe-{name}" for name in order[:4]
    ]
    everything = report_html(make_run(), all_probes=True)
    assert len(re.findall(r'<details class="probe ', everything)) == 8


def test_a_detail_tells_what_was_expected_what_came_back_and_why_it_leaked(html: str) -> None:
    text = section(html, "details")
    assert "n2 at rank 4: forbidden, listed by the probe" in text
    assert "below the top k" in text
    assert "c1 or c2 : ✗ did not come back We meet in the cafe. We meet in the bar." in text
    assert "OSError: the disk is full" in text
    assert "unknown: a hit came back that nobody wrote" in text
    assert "haystack" in text
    assert "expected" in text


def test_an_invalid_suite_withholds_every_number_tile_and_outcome() -> None:
    text = Page(report_html(make_run(validity=INVALID))).text
    assert "✗ INVALID" in text
    assert "luck alone recalls 0.402" in text
    assert "Next: mend the suite" in text
    assert "is withheld" in text
    assert "0.031" in text
    for hidden in (
        "0.600",
        "0.400",
        "0.4321",
        "0.432",
        "0.111",
        "3 of 5",
        "neighbour",
        "passed",
        "Recall",
    ):
        assert hidden not in text, hidden


def test_a_weak_suite_is_said_beside_the_numbers_and_the_probes() -> None:
    html = report_html(make_run(validity=WEAK))
    assert "weak suite: 6 positive probes, at least 20 wanted" in section(html, "numbers")
    assert "(weak suite)" in section(html, "probes")


def test_faults_of_suite_and_store_are_told_apart() -> None:
    faulty = replace(WEAK, store_faults=("ranks no better than a shuffle",))
    text = section(report_html(make_run(validity=faulty)), "controls")
    assert "Faults of the store, not of the suite ranks no better" in text


def test_a_run_without_controls_says_that_closed_forms_decided() -> None:
    assert "decided by closed forms" in section(report_html(make_run(controls=None)), "controls")


def test_an_unchecked_run_shows_its_numbers_and_says_so() -> None:
    run = make_run(controls=None, validity=replace(WEAK, status="unchecked", reasons=()))
    html = report_html(run)
    assert "UNCHECKED" in section(html, "controls")
    assert "unchecked suite" in section(html, "numbers")


def test_texts_can_be_left_out_and_the_numbers_stay() -> None:
    html = report_html(make_run(), texts=False)
    assert "noodle bar" not in html
    assert "Bo has the key" not in html
    assert "text left out" in html
    assert "cannot be copied" in html
    assert section(html, "numbers") == section(report_html(make_run()), "numbers")


def test_a_canary_is_part_of_a_text_and_left_out_with_it() -> None:
    seen = hits()
    seen.loc[seen["probe"] == "cafe-or-bar", "canary"] = "E-7734"
    assert "E-7734" in report_html(make_run(hits=seen))
    assert "E-7734" not in report_html(make_run(hits=seen), texts=False)


def test_a_run_that_was_saved_without_texts_renders() -> None:
    assert "text left out" in report_html(make_run().without_texts())


def test_an_empty_run_renders() -> None:
    empty = make_run(
        hits=frames.empty(frames.HITS),
        calls=frames.empty(frames.CALLS),
        qrels=frames.empty(frames.QRELS),
        suite=Suite(()),
        controls=None,
    )
    assert "n/a" in section(report_html(empty), "numbers")


def test_hostile_text_stays_readable() -> None:
    text = Page(report_html(hostile_run())).text
    for payload in PAYLOADS[:8]:
        assert " ".join(payload.split()) in text
    assert "right <U+202E>to left" in text
    assert "nul ␀ esc ␛[31m bell ␇" in text
    assert "half \ufffd character" in text
    assert "{{ 7*7 }}" in text
    assert "show all 3,000 characters" in text  # the query, which the fixture cuts there
    assert "show 100,000 of 1,000,000 characters" in text
    assert "The whole text stands in the run file." in text


def test_no_control_character_or_half_character_is_in_the_page() -> None:
    html = report_html(hostile_run())
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", html
    )


def test_the_page_of_one_run_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    first = write_report(make_run(), tmp_path / "a.html").read_bytes()
    assert first == write_report(make_run(), tmp_path / "b.html").read_bytes()


def test_the_page_stays_small() -> None:
    sixty = [replace(p, name=f"{p.name}-{n}") for n in range(8) for p in probes()][:60]
    suite = Suite.of(sixty)
    many: dict[str, Any] = {}
    for name in ("hits", "calls"):
        one = getattr(make_run(), name)
        rows = [one.assign(probe=one["probe"] + f"-{n}") for n in range(8)]
        every = pd.concat(rows)
        many[name] = every[every["probe"].isin([p.name for p in sixty])]
    html = report_html(make_run(suite=suite, qrels=suite.qrels(), **many))
    assert len(html.encode()) < 250_000


def test_a_report_is_written_and_replaces_an_older_one(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("old", encoding="utf-8")
    assert write_report(make_run(), target) == target
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [target]


def test_a_missing_folder_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        MemevalError, match="wanted a place in a folder that exists.*name another file"
    ):
        write_report(make_run(), tmp_path / "no" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_cannot_be_moved_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(MemevalError, match="No space left"):
        write_report(make_run(), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("probe", probes(), ids=lambda p: p.name)
def test_a_probe_copied_as_yaml_is_read_back_equal(probe: Probe) -> None:
    assert list(load_text(to_yaml(probe))) == [probe]


def test_an_odd_probe_copied_as_yaml_is_read_back_equal() -> None:
    meta = {"type": "note", "n": 1.5, "deep": {"a": [True, None]}}
    odd = Probe(
        "odd \u202e name: 'x' # y",
        "a\tb\nc \x1b \u2028 \x85 ? %\u00a0",
        [
            Record(
                "no",
                "yes\r\n  two\n\n",
                "off",
                at=datetime(2026, 3, 1, tzinfo=UTC),
                unit="u",
                meta=meta,
            ),
            Record("012", "- a: b", "off", supersedes=("no",), meta=meta),
            Delete("no"),
            Consolidate(),
            Advance(timedelta(days=3)),
        ],
        ["012"],
        scope="off",
        k=9,
        filter={"type": "note"},
        tags=["on", "1.0"],
        why="{a}",
    )
    written = to_yaml(odd)
    assert list(load_text(written)) == [odd]
    assert not re.search("[^\n\x20-\x7e]", written)


def test_the_yaml_in_the_page_is_the_yaml_that_was_written(html: str) -> None:
    shown = re.findall(r'<pre class="yaml[^>]*>(.*?)</pre>', html, re.S)
    assert [unescape(text) for text in shown] == [d.yaml for d in details(make_run())]
    for text in shown:
        load_text(unescape(text))


def test_a_probe_of_a_short_shared_history_brings_it_along() -> None:
    shared = [Record("r1", "Noodle bar.", scope="ana"), Record("r2", "Tea.", scope="bo")]
    probe = Probe("lunch", "Where?", shared, ["r1"], history="week", scope="ana")
    assert list(load_text(to_yaml(probe))) == [probe]


def test_anchors_are_plain_and_differ() -> None:
    names = ["lunch-spot", "a b", "a-b", "<b>", "木", "x" * 300, "x" * 301]
    made = [anchor(name) for name in names]
    assert made[0] == "probe-lunch-spot"
    assert len(set(made)) == len(names)
    assert all(re.fullmatch(r"probe-[A-Za-z0-9._-]{1,80}", a) for a in made)


def test_notebooks_show_verdict_and_summary_escaped() -> None:
    shown = run_html(hostile_run())
    page = Page(shown)
    assert shown.lstrip().startswith('<div class="memeval tex2jax_ignore mathjax_ignore"')
    assert (page.faults, page.open) == ([], [])
    assert {tag for tag, _ in page.elements} <= {
        "div",
        "p",
        "b",
        "bdi",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    assert "<script>window.pwned=1</script>" in page.text


def test_notebooks_show_no_number_of_an_invalid_suite() -> None:
    text = Page(run_html(make_run(validity=INVALID))).text
    assert "INVALID" in text
    assert "mend the suite" in text
    assert not re.search(r"0\.(600|400|432|111)", text)


def test_notebooks_show_the_controls() -> None:
    text = Page(controls_html(SimpleNamespace(frame=controls(), validity=WEAK))).text
    assert "! WEAK" in text
    assert "suite: 6 positive probes" in text
    assert "shuffled C4 mrr 0.300 0.432 0.310 at most 0.350 ✓ kept" in text
    hidden = Page(controls_html(SimpleNamespace(frame=controls(), validity=INVALID))).text
    assert "0.432" not in hidden


def test_a_run_shows_itself_in_a_notebook() -> None:
    assert make_run()._repr_html_() == run_html(make_run())


def test_one_place_makes_environments_and_escaping_is_on() -> None:
    call = re.compile(r"\b(Environment|Template)\(\s*\n?\s*\w+=|\bTemplate\(")
    made = [
        path.name
        for path in (ROOT / "memeval").rglob("*.py")
        if call.search(path.read_text(encoding="utf-8"))
    ]
    assert made == ["templating.py"]
    from memeval.report.templating import environment

    assert environment().autoescape is True


def test_no_template_switches_escaping_off() -> None:
    for path in (ROOT / "memeval" / "report" / "templates").glob("*.j2"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape|Markup", text), path.name


def test_the_reading_wing_imports_no_store_and_no_runner() -> None:
    wall = re.compile(r"memeval\.(stores|runner|asking|workspace|controls|selfcheck|embedders)\b")
    for path in (ROOT / "memeval" / "report").glob("*.py"):
        lines = [
            x
            for x in path.read_text(encoding="utf-8").split("\n")
            if re.match(r"\s*(from|import) ", x)
        ]
        assert not [line for line in lines if wall.search(line)], path.name


def test_of_an_endless_answer_the_first_hits_are_shown() -> None:
    run = make_run()
    name = details(run)[0].probe.name
    many = pd.DataFrame({"probe": name, "rank": range(1, 5001), "repeat": 0, "text": "t"})
    rest = run.hits[run.hits["probe"] != name]
    hits = frames.conform(pd.concat([rest, many], ignore_index=True), frames.HITS)
    shown = details(replace(run, hits=hits), [name])[0]
    assert len(shown.places) == 100
    assert "5,000 hits came back: the first 100 are shown, all are saved" in shown.notes


def test_the_page_tells_no_secret_and_no_place_of_the_store() -> None:
    info = {"name": "shelf", "token": "sk-SECRET", "url": "https://u:pw@h/", "model": "small-v1"}
    html = report_html(make_run(manifest=manifest(store_info=info)))
    assert "small-v1" in html and "sk-SECRET" not in html and "pw@h" not in html
