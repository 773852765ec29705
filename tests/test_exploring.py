"""Looking into a run, without a kernel: filters, settings, drafts, and the static drilldown."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from grown import drift_probes, grown, old_ones_are_lost
from hypothesis import given, settings
from hypothesis import strategies as st
from report_fixtures import (
    INVALID,
    PAYLOADS,
    VALID,
    diagnosed_run,
    frame,
    hit,
    hostile_run,
    make_run,
    manifest,
)

from memeval import frames
from memeval.curves import recall_curve, threshold_curve
from memeval.errors import FrameError, MemevalError, ProbeError
from memeval.exploring.choosing import STATUSES, Filter
from memeval.exploring.drafting import add
from memeval.exploring.exploration import Exploration
from memeval.exploring.settings import Settings, floors_of, largest_k
from memeval.exploring.standing import results_at
from memeval.exploring.tracking import track
from memeval.files.runfiles import load_run, save_run
from memeval.loading import load, load_text
from memeval.probe import Probe
from memeval.record import Record
from memeval.report.explore_notebook import MOST_FULL, head_html, pane_html, static_html
from memeval.runner import run as run_once
from memeval.runs import Run
from memeval.suite import Suite

IDS = ["r1", "r2", "r3", "r4"]
Answer = list[tuple[str, float | None]]


def run_of(probes: list[Probe], answers: dict[str, Answer], **more: Any) -> Run:
    """A run by hand, of a store whose scores have an order."""
    hits = [
        hit(name, rank, record, f"text of {record}", score=score)
        for name, answer in answers.items()
        for rank, (record, score) in enumerate(answer, 1)
    ]
    calls = [{"probe": p.name, "k": p.k, "status": "ok", "latency_ms": 1.0} for p in probes]
    suite = Suite.of(probes)
    order = more.pop("score_order", "high")
    told = manifest(k=probes[0].k, capabilities={"score_order": order})
    made = {"hits": frame(hits, frames.HITS), "calls": frame(calls, frames.CALLS)}
    return replace(
        Run(**made, qrels=suite.qrels(), manifest=told, suite=suite, validity=VALID), **more
    )


@st.composite
def asked(draw: st.DrawFn) -> tuple[int, list[Probe], dict[str, Answer]]:
    """Some probes of one cutoff, and what came back: judged records, others, with scores or not."""
    k = draw(st.integers(1, 4))
    probes, answers = [], {}
    for n in range(draw(st.integers(1, 4))):
        order = draw(st.permutations(IDS))
        n_expected = draw(st.integers(0, min(k, 2)))
        groups: list[Any] = [[one] for one in order[:n_expected]]
        if groups and draw(st.booleans()):
            groups[0].append(order[2])
        forbid = [order[3]] if draw(st.booleans()) else []
        records = [Record(one, f"{one} of {n}") for one in IDS]
        probes.append(Probe(f"p{n}", "What?", records, groups, forbid, k=k))
        pool = st.sampled_from([*IDS, "h1", "h2"])
        scores = st.none() | st.integers(0, 4).map(float)
        answers[f"p{n}"] = draw(st.lists(st.tuples(pool, scores), max_size=6))
    return k, probes, answers


def passes(probe: Probe, answer: Answer, k: int, floor: float | None) -> bool:
    """The definition, read out: R without what scores worse, and its first k places."""
    left = [one for one, score in answer if floor is None or score is None or score >= floor]
    if any(one in probe.forbid for one in left):
        return False
    if not probe.groups:
        return not left
    return all(any(one in left[:k] for one in group) for group in probe.groups)


@settings(max_examples=25)
@given(asked())
def test_at_its_own_settings_a_probe_passes_as_in_the_results(suite: Any) -> None:
    k, probes, answers = suite
    run = run_of(probes, answers)
    for own in (Settings(), Settings(k=k)):
        pd.testing.assert_series_equal(results_at(run, own)["passed"], run.results["passed"])


@settings(max_examples=15)
@given(asked(), st.integers(1, 6), st.none() | st.integers(0, 5).map(float))
def test_at_other_settings_the_definition_is_read_again(
    suite: Any, k: int, floor: float | None
) -> None:
    _, probes, answers = suite
    exploration = Exploration(run_of(probes, answers))
    at = Settings(k, floor)
    found = exploration.results(at)
    wanted = [passes(p, answers[p.name], k, floor) for p in probes]
    assert found["passed"].tolist() == wanted
    assert exploration.standing(at).n_passed == sum(wanted)
    before = [passes(p, answers[p.name], p.k, None) for p in probes]
    moved = {p.name for p, a, b in zip(probes, wanted, before, strict=True) if a != b}
    assert set(exploration.matches(Filter(status="changed"), at)) == moved
    for probe, passed in zip(probes, wanted, strict=True):
        view = exploration.view(probe.name, at)
        assert (view.detail.row.state == "passed") == passed
        kept = [one for one, score in answers[probe.name]
                if floor is None or score is None or score >= floor]  # fmt: skip
        assert [place.record for place in view.detail.places] == kept
        assert len(view.dropped) == len(answers[probe.name]) - len(kept)


@settings(max_examples=12)
@given(asked(), st.sampled_from(["high", "low"]))
def test_floors_and_cutoffs_say_what_the_curves_say(suite: Any, order: str) -> None:
    k, probes, answers = suite
    run = run_of(probes, answers, score_order=order)
    tables = run.hits, run.qrels, run.calls
    curve = threshold_curve(*tables, score_order=order, floors=[0.0, 2.0, 3.0])  # type: ignore[arg-type]
    for row in curve.itertuples():
        stands = Exploration(run).standing(Settings(floor=row.floor))
        assert stands.leaks == row.leaks
        assert stands.recall_all == pytest.approx(row.recall_all, nan_ok=True)
        assert stands.abstention == pytest.approx(row.abstention, nan_ok=True)
    by_k = recall_curve(*tables)
    for row in by_k[by_k["metric"] == "recall_all"].itertuples():
        stands = Exploration(run).standing(Settings(k=int(row.k)))
        assert stands.recall_all == pytest.approx(row.value, nan_ok=True)
        assert stands.leaks == run.leaks  # anywhere in the answer, whatever k


def test_a_floor_by_hand() -> None:
    # The wrong answer scores 0.1, the right one 0.9 and 0.5; all others 0.8.
    exploration = Exploration(diagnosed_run())
    at = exploration.standing(Settings(floor=0.6))
    before = exploration.standing()
    # Without a floor: lunch-spot, old-address (its record at rank 2 of 3) and nobody-knows pass.
    assert (before.n_passed, before.n_asked, before.leaks) == (3, 7, 1)
    # Of positives: lunch-spot, neighbour, old-address; not cafe-or-bar and search-breaks.
    assert before.recall_all == 3 / 5
    # At k = 1 an outdated record stands in one top place, and the leak at rank 4 is still one.
    assert exploration.standing(Settings(k=1)).leaks == 1
    assert exploration.standing(Settings(floor=0.85)).leaks == 0
    # lunch-spot loses r1 (0.5); answers-anyway is silent, but its broken contract stays noted.
    assert (at.n_passed, at.gained, at.lost, at.leaks) == (2, 0, 1, 1)
    assert at.recall_all == 2 / 5
    assert (before.abstention, at.abstention) == (1 / 2, 1)
    view = exploration.view("lunch-spot", Settings(k=1, floor=0.6))
    assert [(p.record, p.rank) for p in view.dropped] == [("r1", 2)]
    assert view.detail.wanted[0].words == "did not come back"
    assert view.before == ("passed", "passed")
    assert not view.unknown_below
    assert exploration.view("lunch-spot", Settings(k=4)).unknown_below


def test_a_floor_needs_scores_with_an_order() -> None:
    exploration = Exploration(make_run())
    assert "no order" in exploration.floors.reason
    assert exploration.floors.values == ()
    with pytest.raises(FrameError, match="leave the floor out"):
        exploration.standing(Settings(floor=0.5))
    silent = run_of([Probe("a", "What?", [Record("r1", "One.")], ["r1"])], {"a": [("r1", None)]})
    assert "no hit has a score" in floors_of(silent).reason


def test_floors_go_from_lax_to_strict_on_the_scale_of_the_store() -> None:
    probes = [Probe("a", "What?", [Record("r1", "One.")], ["r1"])]
    answers: dict[str, Answer] = {"a": [(f"h{n}", float(n)) for n in range(200)]}
    high, low = (floors_of(run_of(probes, answers, score_order=o)) for o in ("high", "low"))
    assert (high.values[0], high.values[-1], high.sign) == (0.0, 199.0, "≥")
    assert (low.values[0], low.values[-1], low.sign) == (199.0, 0.0, "≤")
    assert len(high.values) == len(set(high.values)) == 60
    assert list(low.values) == sorted(low.values, reverse=True)
    assert largest_k(run_of(probes, answers)) == 100


@pytest.mark.parametrize("wrong", [{"k": 0}, {"k": True}, {"floor": float("nan")}, {"floor": "1"}])
def test_settings_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(FrameError, match="wanted a"):
        Settings(**wrong)


CHOSEN: dict[str, set[str]] = {
    "failing": {"cafe-or-bar", "neighbour", "answers-anyway", "search-breaks"},
    "passed": {"lunch-spot", "old-address", "nobody-knows"},
    "leaked": {"neighbour"},
    "stale": {"old-address"},
    "missed": {"cafe-or-bar"},
    "answered": {"answers-anyway"},
    "contract": {"answers-anyway"},
    "error": {"search-breaks"},
    "flaky": set(),
    "not supported": {"needs-delete"},
    "changed": set(),
}


@pytest.mark.parametrize("status", STATUSES)
def test_each_status_chooses_what_it_says(status: str) -> None:
    exploration = Exploration(diagnosed_run())
    every = {probe.name for probe in exploration.run.suite}
    assert set(exploration.matches(Filter(status=status))) == CHOSEN.get(status, every)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Filter(text="LUNCH", status="all"), {"lunch-spot"}),  # its name
        (Filter(text="shoe", status="all"), {"nobody-knows"}),  # its query
        (Filter(text="any-of", status="all"), {"cafe-or-bar"}),  # its tag
        (Filter(text="basel", status="all"), {"old-address"}),  # a record that it writes
        (Filter(text="tram", status="all"), {"cafe-or-bar", "neighbour"}),  # what came back
        (Filter(text="tram key", status="all"), {"neighbour"}),  # both words, in different places
        (Filter(text="tram basel", status="all"), set()),
        (Filter(tag="leak"), {"neighbour"}),
        (Filter(tag="direct"), set()),  # it passed
        (Filter(cause="outranked"), {"cafe-or-bar"}),
        (Filter(cause="outranked", text="key"), set()),
        (Filter(text=".*", status="all"), set()),  # no pattern, plain words
    ],
)
def test_text_tag_and_cause_narrow_the_choice(wanted: Filter, found: set[str]) -> None:
    assert set(Exploration(diagnosed_run()).matches(wanted)) == found


def test_failing_probes_come_in_the_order_in_which_to_mend_them() -> None:
    exploration = Exploration(diagnosed_run())
    names = exploration.matches(Filter(status="all"))
    causes = exploration.run.causes
    assert causes is not None
    assert list(names[:4]) == list(causes["probe"])
    assert list(names[4:]) == ["lunch-spot", "nobody-knows", "old-address", "needs-delete"]


def test_an_unknown_status_or_probe_is_refused_with_what_there_is() -> None:
    with pytest.raises(MemevalError, match="wanted one of failing, passed, all.*'passed'"):
        Filter(status="pased")
    with pytest.raises(MemevalError, match="found no probe 'nobody'"):
        Exploration(diagnosed_run()).view("nobody")


def test_a_saved_run_says_the_same_alone(tmp_path: Path) -> None:
    run = diagnosed_run()
    again = Exploration(load_run(save_run(run, tmp_path / "run.json")))
    assert static_html(again) == static_html(Exploration(run))


def test_an_invalid_suite_shows_words_and_no_number() -> None:
    exploration = Exploration(diagnosed_run(validity=INVALID))
    assert exploration.withheld
    page = static_html(exploration)
    assert "every number and every outcome of a probe is withheld" in page
    assert INVALID.reasons[0] in page and INVALID.next_step in page
    assert not any(word in page for word in ("lunch-spot", "neighbour", "passing", "0.6"))
    for told in (
        exploration.standing,
        lambda: exploration.matches(Filter()),
        lambda: exploration.view("lunch-spot"),
        lambda: exploration.draft("lunch-spot"),
    ):
        with pytest.raises(MemevalError, match="mend the suite"):
            told()


class Tags(HTMLParser):
    """What a browser would make of a page: tags, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


PLAIN = set("div p b i span bdi details summary table thead tbody tr th td ul ol li pre svg "
            "polyline circle path button".split())  # fmt: skip


@pytest.mark.parametrize("live", [False, True])
def test_hostile_text_is_text_and_nothing_else(live: bool) -> None:
    exploration = Exploration(hostile_run())
    pages = [static_html(exploration)]
    if live:
        pages = [pane_html(exploration.view(p.name)) for p in exploration.run.suite]
        pages.append(head_html(exploration, Settings(k=2)))
    for page in pages:
        page.encode("utf-8")  # a half character would end the message to the browser
        read = Tags(page)
        assert {tag for tag, _ in read.tags} <= PLAIN
        acts = {name for _, said in read.tags for name in said if name.startswith("on")}
        assert acts <= ({"onclick"} if live else set())
        clicks = {said["onclick"] for _, said in read.tags if "onclick" in said}
        assert len(clicks) <= 1 and not any("pwned" in str(click) for click in clicks)
        assert read.tags[0][1]["class"].endswith("tex2jax_ignore mathjax_ignore")  # type: ignore[union-attr]
        assert "\x1b" not in page and "\u202e" not in page
    everything = "".join(Tags(page).text for page in pages)
    assert all(payload in everything for payload in PAYLOADS[:12])


def many(n: int) -> Run:
    """n probes that fail: each expects r1 and got h1."""
    probes = [Probe(f"probe-{i}", f"Where is {i}?", [Record("r1", f"Here is {i}.")], ["r1"])
              for i in range(n)]  # fmt: skip
    return run_of(probes, {p.name: [("h1", 0.5)] for p in probes})


def test_the_static_drilldown_is_whole_for_fifty_and_counts_the_rest() -> None:
    page = static_html(Exploration(many(MOST_FULL + 7)))
    assert page.count("The probe as YAML") == MOST_FULL
    assert "And 7 more failing probes: 7 missed." in page
    assert "(57)" in page
    assert "me.diagnose(run, store)" in page  # nobody asked why
    assert len(page) < 400_000


def test_long_texts_keep_the_static_drilldown_small() -> None:
    run = many(MOST_FULL)
    long = run.hits.assign(text="long " * 20_000)
    page = static_html(Exploration(replace(run, hits=long)))
    assert "the first 600 of 100,000 characters" in page
    assert len(page) < 500_000


def test_what_is_empty_is_said_in_words() -> None:
    one = Probe("a", "What?", [Record("r1", "One.")], ["r1"])
    passed = Exploration(run_of([one], {"a": [("r1", 1.0)]}))
    assert "No probe failed." in static_html(passed)
    assert "1 probe passed." in static_html(passed)
    missed = Exploration(run_of([one], {}))
    page = pane_html(missed.view("a"))
    assert "nothing" in page and "did not come back" in page
    bare = Exploration(diagnosed_run().without_texts())
    page = static_html(bare)
    assert "text left out" in page and "noodle" not in page
    with pytest.raises(MemevalError, match="texts were left out"):
        bare.draft("cafe-or-bar")


def test_the_rank_over_the_checkpoints_is_told_in_words_and_drawn() -> None:
    run = many(1)
    name = run.suite[0].name
    rows = drift_probes(old_ones_are_lost, probes=1)
    simulation = grown(drift_probes=rows.assign(probe=name))
    found = track(simulation, name)
    own = rows[rows["cohort"] == 0].sort_values("session")
    first = found.lines[0]
    assert [p.n_records for p in first.points] == own["n_records"].tolist()
    lost = own.loc[~own["passed"], "n_records"]
    assert len(lost) and f"from {lost.iloc[0]:,} records on" in first.words
    page = pane_html(Exploration(run, simulation).view(name))
    assert first.words in page and "<svg" in page and 'aria-label="rank of' in page
    other = pane_html(Exploration(many(2), simulation).view("probe-1"))
    assert "did not ask this probe" in other and "<svg" not in other


def test_the_line_of_a_probe_has_a_mark_for_each_checkpoint_that_is_counted() -> None:
    run = many(1)
    rows = drift_probes(old_ones_are_lost, probes=1)
    simulation = grown(drift_probes=rows.assign(probe=run.suite[0].name))
    page = static_html(Exploration(run, simulation))
    asked = rows.groupby("cohort").size()
    assert asked.iloc[0] > 4  # more than the static drilldown has rows for
    drawings = re.findall(r"<svg.*?</svg>.*?<summary>(\d+) checkpoint", page, re.S)
    assert drawings == [str(n) for n in asked[asked > 1].iloc[: len(drawings)]] and drawings
    marks = re.findall(r"<svg.*?</svg>", page, re.S)[0]
    assert marks.count("<circle") + marks.count("<path") == asked.iloc[0]


def crowded() -> Run:
    """A real store, whose haystack puts two records before the right one."""
    given = [Record("r1", "The kiosk on the corner is blue.")]
    probe = Probe("stall", "Which colour has the market stall?", given, ["r1"], k=2)
    haystack = tuple(Record(f"n{n}", f"The market stall {n} has no colour yet.") for n in range(3))
    suite = replace(Suite.of([probe]), haystack=haystack, haystack_name="own")
    return replace(run_once(suite, "sqlite"), validity=VALID)


def test_a_draft_fails_by_itself_as_the_probe_failed_in_its_haystack() -> None:
    run = crowded()
    assert run.results["passed"].tolist() == [False]
    made = Exploration(run).draft("stall")
    suite = load_text(made.text)
    (probe,) = suite
    assert (probe.name, probe.query, probe.k) == ("stall-again", run.suite[0].query, 2)
    assert "2 records of the haystack" in made.words
    assert "needs more of the haystack than these passes by itself" in made.words
    assert probe.why == f"Made from stall: missed on {run.manifest.store}."
    again = run_once([probe], "sqlite")
    assert again.results["passed"].tolist() == [False]
    assert {row.record_id for row in again.hits.itertuples()} == {"seen1", "seen2"}


def test_a_draft_of_a_leak_forbids_what_leaked_and_loads() -> None:
    run = make_run()
    made = Exploration(run).draft("neighbour")
    (probe,) = load_text(made.text)
    assert set(probe.forbid) == {"n2"}
    assert [record.text for record in probe.records] == [
        "The tram is late.", "The shop is shut.", "Ana has the key.", "Bo has the key.",
    ]  # fmt: skip


def test_every_draft_of_a_hostile_run_loads() -> None:
    exploration = Exploration(hostile_run())
    for probe in exploration.run.suite[: len(PAYLOADS)]:
        assert load_text(exploration.draft(probe.name).text)[0].query == probe.query
    with pytest.raises(MemevalError, match="too long for a draft"):
        exploration.draft(exploration.run.suite[-1].name)


def test_a_draft_without_anything_new_says_so() -> None:
    assert "change the query or the records" in Exploration(make_run()).draft("lunch-spot").words


def test_adding_leaves_what_stands_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    old = b"# mine\n- name: old\n  query: Old?\n  given: [{id: a, text: Old.}]\n  expect: [a]\n"
    path.write_bytes(old)
    text = Exploration(make_run()).draft("cafe-or-bar").text
    added = add(text, path)
    assert path.read_bytes().startswith(old)
    assert [probe.name for probe in load(path)] == ["old", "cafe-or-bar-again"]
    assert "cafe-or-bar-again" in added.words and str(path) in added.words
    whole = path.read_bytes()
    with pytest.raises(ProbeError, match="duplicate"):
        add(text, path)
    assert path.read_bytes() == whole


TWO = "".join(
    f"- {{name: {n}, query: A?, given: [{{id: r, text: R.}}], expect: [r]}}\n" for n in "ab"
)


@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        ("- {name: a, query: A?, given: [{id: r, text: R.}], expect: [r]}", "  ", "no file"),
        (TWO, "x.yaml", "found 2 probes"),
        ("- {name: a, query: A?, expect: [r]}", "x.yaml", "no record has the id"),
        ("- {name: a, query: A?, given: [{id: r, text: R.}], expect: [r]}", "x.txt", "YAML files"),
    ],
)
def test_what_cannot_be_added_is_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, path: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MemevalError, match=said):
        add(text, path)
    assert list(tmp_path.iterdir()) == []
