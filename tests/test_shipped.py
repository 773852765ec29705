"""The shipped suite: by this every newcomer judges the tool."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from memeval.cohorts import unplantable
from memeval.controls import Controls, run_controls
from memeval.loading import load
from memeval.record import Record
from memeval.suite import Suite

ROOT = Path(__file__).resolve().parent.parent
# What would tell a store, or a reader, which record is meant.
HINTS = re.compile(r"old|new|right|wrong|answer|correct|stale|leak|expect|forbid|true|false|decoy")


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return load(ROOT / "probes")


@pytest.fixture(scope="module")
def controls(shipped: Suite) -> Controls:
    return run_controls(shipped, "sqlite")


def test_it_is_what_a_user_without_probes_gets(
    shipped: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load().content_hash == shipped.content_hash


def test_it_is_large_enough_to_carry_its_numbers(shipped: Suite) -> None:
    frame = shipped.to_frame()
    assert len(shipped) >= 60
    assert len(shipped.negatives) / len(shipped) >= 0.15
    assert (frame["n_forbidden"] > 0).sum() >= 13
    assert (frame["n_stale"] > 0).sum() >= 3
    assert (frame["scope"] != "default").sum() >= 5
    assert shipped.tags()["tag"].value_counts().min() >= 5
    assert {len(p.expect) == p.k for p in shipped.positives} == {True, False}


def test_nothing_in_it_is_odd_or_thin(shipped: Suite) -> None:
    assert shipped.lint().empty, shipped.lint().to_string()


def test_every_probe_says_where_it_came_from(shipped: Suite) -> None:
    assert [p.name for p in shipped if len(p.why) < 20] == []


def test_ids_do_not_hint_at_the_answer(shipped: Suite) -> None:
    ids = {r.id for p in shipped for r in p.given if isinstance(r, Record)}
    assert [name for name in sorted(ids) if HINTS.search(name)] == []
    places = Counter(
        [r.id for r in p.records].index(p.groups[0][0]) / max(1, len(p.records) - 1)
        for p in shipped.positives
    )
    most = max(places[0.0], places[1.0])
    assert most / len(shipped.positives) < 0.6  # neither first nor last gives it away


def masked(text: str) -> str:
    """A text without its names and numbers: capitalised words, digits."""
    return re.sub(r"\b[A-Z]\w*|\d+", "_", text)


def test_no_two_probes_are_one_probe_with_other_names(shipped: Suite) -> None:
    shapes = {
        p.name: (masked(p.query), tuple(sorted(masked(r.text) for r in p.records))) for p in shipped
    }
    same = [names for names in Counter(shapes.values()).items() if names[1] > 1]
    assert same == []
    records = Counter(
        text for p in shipped for text in {masked(r.text) for r in p.records} if len(text) > 20
    )
    assert [text for text, n in records.items() if n > 2] == []  # in how many probes


def test_the_background_is_large_different_and_answers_nothing(shipped: Suite) -> None:
    assert shipped.haystack is not None
    texts = [record.text for record in shipped.haystack]
    assert len(set(texts)) == len(texts) >= 300
    assert len({masked(text) for text in texts}) > 0.98 * len(texts)
    given = {r.text for p in shipped for r in p.records}
    assert not given & set(texts)


def test_several_scripts_are_asked_and_lie_in_the_background(shipped: Suite) -> None:
    scripts = {
        "Han": r"[\u4e00-\u9fff]", "Arabic or Hebrew": r"[\u0590-\u06ff]",
        "Cyrillic": r"[\u0400-\u04ff]", "Indic or Thai": r"[\u0900-\u0e7f]",
    }  # fmt: skip
    asked = " ".join(p.query for p in shipped)
    background = " ".join(record.text for record in shipped.haystack or ())
    for name, pattern in scripts.items():
        assert re.search(pattern, asked), f"no query in {name}"
        assert re.search(pattern, background), f"no background in {name}"


def test_it_is_valid_and_the_embedded_store_does_not_leak(controls: Controls) -> None:
    assert controls.validity.status == "valid"
    assert controls.real.leaks == 0
    assert controls.verdict.word == "PASS"
    assert (controls.real.verdict.word, controls.real.verdict.exit_code) == ("PASS", 0)
    assert controls.runs["oracle"].recall_at_k == 1.0
    assert controls["null_recall"] == 0.0


def test_the_embedded_store_misses_some_honestly(controls: Controls) -> None:
    results = controls.real.results
    missed = results[results["recall_all"].eq(False).fillna(False)]
    assert 3 <= len(missed) <= len(results) / 4
    tags = controls.real.suite.tags()
    assert "paraphrase" in set(tags.loc[tags["probe"].isin(missed["probe"]), "tag"])
    answered = results["abstained"].eq(False).fillna(False).sum()
    assert 0 < answered < len(controls.real.suite.negatives)


def test_every_haystack_record_above_an_expected_one_is_no_answer(controls: Controls) -> None:
    run = controls.real
    expected = run.qrels[run.qrels["label"] == "expected"]
    own = run.hits.merge(expected[["probe", "record_id"]], on=["probe", "record_id"])
    first = own.groupby("probe")["rank"].min()
    above = run.hits[run.hits["rank"] < run.hits["probe"].map(first)]
    strangers = above[above["record_id"].str.startswith("h")]
    assert len(strangers) <= 0.1 * len(run.suite.positives)


def test_most_probes_can_be_planted_in_several_cohorts(shipped: Suite) -> None:
    alone = {probe.name for probe, _ in unplantable(shipped)}
    assert sum(probe.name not in alone for probe in shipped.positives) >= 80
    assert sum(probe.name not in alone for probe in shipped.negatives) >= 10
