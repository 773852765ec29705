"""A mutation as text, Markdown, JSON and notebook HTML."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
import yaml
from report_fixtures import PAYLOADS, WEAK, make_run, manifest
from test_report_html import Page

from memeval.cli.forms import mutation_payload
from memeval.frames import SABOTEURS as SABOTEUR_FRAME
from memeval.frames import conform
from memeval.loading import load_text
from memeval.report import mutation_rows as rows
from memeval.report.mutation_notebook import mutation_html
from memeval.report.mutation_skeletons import skeleton_file
from memeval.report.mutation_text import fenced, folded, mutation_markdown, mutation_text
from memeval.stores.saboteurs import SABOTEURS
from memeval.text import display_width
from tests.mutants import INVALID, SKELETON, Made, made, perfect, saboteurs


def as_json(mutation: Made) -> str:
    return json.dumps(mutation_payload(mutation), allow_nan=False)


FORMS = [mutation_text, mutation_markdown, mutation_html, as_json]


def flat(text: str) -> str:
    return " ".join(text.split())


def test_survivors_stand_first_those_that_must_die_before_the_others() -> None:
    text = mutation_text(made())
    wanted = ["SURVIVORS: 2 faults", "1.  scope_blind (MUST be killed): fault number 4",
              "missing:   a second scope", "why:       no foreign record", "write:", SKELETON,
              "2.  k_minus_1: fault number 3", "VERDICT: FAIL", "must-kill: 1 of 2 LIVE:",
              "score:     3 of 5 killed (score 0.600, depth 0.67)", "killed by", "NOT COUNTED: 2",
              "KILLED: 3 saboteurs", "IDLE: 2 probes"]  # fmt: skip
    places = [text.index(words) for words in wanted]
    assert places == sorted(places)


def test_the_skeleton_stands_in_full_and_can_be_copied() -> None:
    lines = mutation_text(made()).split("\n")
    at = lines.index("- name: tea-of-the-neighbour")
    assert yaml.safe_load("\n".join(lines[at : at + 8])) == yaml.safe_load(SKELETON)
    assert f"```yaml\n{SKELETON}```" in mutation_markdown(made())
    assert yaml.safe_load(SKELETON)[0]["query"] in Page(mutation_html(made())).text
    assert mutation_payload(made())["survivors"][1]["skeleton"] == SKELETON


def test_without_a_skeleton_it_says_that_there_is_none() -> None:
    assert "nobody has written one" in flat(mutation_text(made(skeletons={})))
    assert mutation_payload(made(skeletons={}))["survivors"][1]["skeleton"] is None


def test_a_skeleton_of_words_alone_is_none() -> None:
    words = made(skeletons={"scope_blind": "# No witness is written yet. Wanted: a scope\n"})
    assert "nobody has written one" in flat(mutation_text(words))
    assert "No witness" not in mutation_html(words) and skeleton_file(words) == ""


def test_a_weak_suite_is_called_so_beside_its_score() -> None:
    weak = made(identity=make_run(validity=WEAK))
    for form in FORMS[:3]:
        assert "weak suite: 6 positive probes, at least 20 wanted" in flat(form(weak))
        assert "weak" not in form(made())
    assert mutation_payload(weak)["validity"] == "weak"
    assert "8 probes, asked once of shelf" in flat(mutation_text(made()))


def test_notes_are_told() -> None:
    for form in FORMS:
        assert "a note on how it was done" in form(made())


def test_a_long_line_of_a_skeleton_is_broken_where_yaml_lets_it_be() -> None:
    said = " ".join(f"word{n}" for n in range(40))
    for source in (
        f'- query: "{said}"',
        f'- given:\n    - {{id: r1, text: "{said}"}}',
        f"# {said}\n- why: {said}",
        f"- expect: [{', '.join(said.split())}]",
    ):
        shown = [piece for line in source.split("\n") for piece in folded(line)]
        assert max(map(len, shown)) <= 80 and len(shown) > source.count("\n") + 2
        assert yaml.safe_load("\n".join(shown)) == yaml.safe_load(source)


def test_a_word_that_is_longer_than_a_line_is_broken_and_not_lost() -> None:
    word = "木" * 90
    shown = folded(f"  - {word}")
    assert max(map(display_width, shown)) <= 80
    assert "".join(shown).replace(" ", "") == f"-{word}"


def test_the_kill_table_counts_probes_by_what_saw_them() -> None:
    # null: lunch and cats by ratchet, tea by gate; slow: two by latency; reversed: one by contract.
    assert rows.kills(made()) == [
        ["null", "3", "1", "", "2", "", "fail"],
        ["reversed", "1", "", "1", "", "", "pass"],
        ["slow", "2", "", "", "", "2", "-"],
    ]
    assert [row[:3] for row in rows.killed_by(made())] == [
        ["gate", "1", "1"], ["contract", "1", "1"], ["ratchet", "1", "2"], ["latency", "1", "2"],
    ]  # fmt: skip
    assert rows.thin(made()) == [("reversed", "tea")]


def test_what_does_not_count_is_named_with_its_reason() -> None:
    text = flat(mutation_text(made()))
    assert "oldest: equivalent; no difference" in text
    assert "words: not applicable; the store has no words" in text
    page = flat(Page(mutation_html(made())).text)
    assert "oldest : equivalent; no difference" in page.replace("oldest:", "oldest :")
    assert "| oldest | equivalent | no difference |" in mutation_markdown(made())


def test_the_must_kill_result() -> None:
    assert rows.must(made()) == "1 of 2 LIVE: scope_blind; 1 more does not count on this store"
    assert rows.must(perfect()) == "all 1 killed; 1 more does not count on this store"
    assert rows.must(made(saboteurs=saboteurs(must_kill=False))) == "none was asked of this suite"


def test_idle_probes_are_named() -> None:
    for form in FORMS[:3]:
        assert "sheds, skis" in form(made())
    assert "every probe kills something" in mutation_text(perfect())


def test_without_a_survivor_it_says_so() -> None:
    assert mutation_text(perfect()).startswith("SURVIVORS: none")
    assert "Survivors" not in mutation_markdown(perfect())
    assert "No survivor" in mutation_html(perfect())


def test_where_nothing_counts_there_is_no_score_and_no_praise() -> None:
    frame = saboteurs(applicable=False, equivalent=None, killed=None, depth=0)
    none = made(saboteurs=frame, kills=made().kills.iloc[:0], score=float("nan"),
                kill_depth=float("nan"), n_killed=0, n_counted=0)  # fmt: skip
    for form in FORMS[:3]:
        text = flat(form(none))
        assert "score n/a" in text
        assert not re.search(r"\bnan\b", text) and "on this store is seen" not in text
    assert mutation_payload(none)["score"] is None


def test_repeats_and_a_missing_depth_are_told() -> None:
    assert "asked 5 times of shelf" in flat(mutation_text(made(repeats=5)))
    assert "depth n/a" in mutation_text(made(kill_depth=float("nan")))


@pytest.mark.parametrize("form", FORMS)
def test_an_invalid_suite_shows_no_number_and_no_outcome(form: Any) -> None:
    said = form(made(verdict=INVALID))
    assert "luck alone recalls 0.402" in flat(said) and "INVALID" in said
    for outcome in ("0.6", "3 of 5", "lunch", "sheds", "scope_blind", "k_minus_1", '"score"'):
        assert outcome not in said, outcome


def test_json_has_the_score_first_and_all_rows() -> None:
    told = mutation_payload(made())
    assert list(told)[:10] == ["score", "must_killed", "kill_depth", "n_killed", "n_counted",
                               "survivors", "saboteurs", "kills", "idle", "repeats"]  # fmt: skip
    assert (told["score"], told["must_killed"], told["exit_code"]) == (0.6, False, 4)
    assert [row["saboteur"] for row in told["survivors"]] == ["k_minus_1", "scope_blind"]
    assert len(told["saboteurs"]) == 7 and len(told["kills"]) == 6
    assert told["saboteurs"][6]["killed"] is None


def hostile(text: str) -> Made:
    """The same mutation with one text in every place that others fill."""
    frame = saboteurs(fault=text, missing_probe=text, reason=text)
    frame.loc[4, "saboteur"] = text
    found = made()
    return replace(
        found, saboteurs=frame, skeletons={text: f"# {text}\n- name: x\n  why: {text}\n"},
        kills=found.kills.assign(probe=text), idle=(text,),
        verdict=replace(found.verdict, reason=text, next_step=text), notes=(text,),
        identity=make_run(manifest=manifest(store=text)),
    )  # fmt: skip


@pytest.mark.parametrize("text", PAYLOADS)
def test_texts_of_others_do_nothing(text: str) -> None:
    said = mutation_text(hostile(text))
    assert max(map(display_width, said.split("\n"))) <= 80
    assert all(line.isprintable() for line in said.split("\n"))
    page = Page(mutation_html(hostile(text)))
    assert not {"script", "img", "svg", "meta", "base", "a"} & {tag for tag, _ in page.elements}
    assert not [a for _, attrs in page.elements for a in attrs if a.startswith("on")]
    outside = mutation_markdown(hostile(text)).split("```")[::2]
    assert not [part for part in outside if "<script" in part or "<img" in part]


def test_nothing_is_cut() -> None:
    long = "x" * 300
    for form in (mutation_text, mutation_html):
        assert long in form(hostile(long)).replace("\n", "").replace(" ", "")
    assert long in mutation_markdown(hostile(long))


def test_no_text_ends_the_block_of_code() -> None:
    source = "- why: |\n    ````\n    <b>out</b>\n"
    first, *_, last = fenced(source).split("\n")
    assert first == "`````yaml" and last == "`````"


def test_the_forms_change_no_frame() -> None:
    found = made()
    for form in FORMS:
        form(found)
    pd.testing.assert_frame_equal(found.saboteurs, saboteurs())
    pd.testing.assert_frame_equal(found.kills, made().kills)


def test_html_names_no_colour_that_only_one_theme_shows() -> None:
    html = mutation_html(made())
    assert html.startswith('<div class="memeval tex2jax_ignore mathjax_ignore"')
    assert "color:#" not in html and "background:#" not in html and "<style" not in html


SHARED = """\
histories:
  tea:
    - {id: r1, text: "Ana drinks mint tea.", scope: ana}
probes:
  - {name: tea-of-the-neighbour, history: tea, scope: ana, query: "Mint tea?", expect: [r1], k: 1}
"""


def test_the_file_of_skeletons_is_a_suite_with_a_probe_for_each_survivor() -> None:
    text = skeleton_file(made(skeletons={"scope_blind": SKELETON, "k_minus_1": SHARED}))
    first, second = load_text(text)
    (wanted,), (shared,) = load_text(SKELETON), load_text(SHARED)
    assert first == wanted
    assert (second.name, second.history) == ("tea-of-the-neighbour-2", None)
    assert (second.given, second.expect, second.k) == (shared.given, ("r1",), 1)
    for head in ("# scope_blind: fault number 4\n", "# k_minus_1: fault number 3\n"):
        assert head in text


def test_a_skeleton_that_two_survivors_share_is_written_once() -> None:
    text = skeleton_file(made(skeletons={"scope_blind": SKELETON, "k_minus_1": SKELETON}))
    assert len(load_text(text)) == 1 and SKELETON in text
    assert "# scope_blind: fault number 4\n# k_minus_1: fault number 3\n# A record" in text


def test_the_skeletons_that_ship_make_one_file() -> None:
    kinds = [kind for kind in SABOTEURS if kind.skeleton()]
    frame = pd.DataFrame({"saboteur": [kind.name for kind in kinds], "killed": False,
                          "fault": [kind.fault for kind in kinds], "applicable": True})  # fmt: skip
    alive = made(saboteurs=conform(frame, SABOTEUR_FRAME),
                 skeletons={kind.name: kind.skeleton() for kind in kinds})  # fmt: skip
    text = skeleton_file(alive)
    assert len(load_text(text)) >= len({kind.skeleton() for kind in kinds}) > 30
    shown = mutation_text(alive).split("\n")
    assert max(map(len, shown)) <= 80


def test_without_a_skeleton_there_is_no_file() -> None:
    assert skeleton_file(made(skeletons={})) == skeleton_file(perfect()) == ""
    assert skeleton_file(made(verdict=INVALID)) == ""


@pytest.mark.parametrize("text", PAYLOADS)
def test_no_fault_can_leave_its_comment(text: str) -> None:
    found = made(saboteurs=saboteurs(fault=f"{text}\n- name: smuggled\n  query: q"))
    assert [probe.name for probe in load_text(skeleton_file(found))] == ["tea-of-the-neighbour"]
