"""Which scope was asked beside whose records: counted by hand, known again without a store."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import odd_stores as odd
import pandas as pd
import pytest
from report_fixtures import INVALID, PAYLOADS, make_run

from memeval import frames
from memeval.chances import leaks_of, most_leaking, rate_words
from memeval.coverage import attempts, coverage_matrix, scope_coverage, scope_kind
from memeval.files.resultsfile import results_payload
from memeval.files.runfiles import load_run, save_run
from memeval.harness.histories import haystack_of
from memeval.loading import load, load_text
from memeval.probe import Probe
from memeval.record import Delete, Hit, Record
from memeval.report import coverage_rows, markdown, plain, tables, tag_rows
from memeval.report.html import report_html
from memeval.report.notebook import run_html
from memeval.runner import run
from memeval.runs import Run
from memeval.stores.base import Capabilities
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite
from memeval.text import display_width, visible
from tests.suites import BACKGROUND, positive, suite

pytestmark = pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")


def probe(name: str, scope: str, others: dict[str, int], **more: Any) -> Probe:
    """One record of its own, and so many of others."""
    given: list[Any] = [Record("mine", f"the kiosk of {name} is blue", scope)]
    for other, n in others.items():
        given += [Record(f"{other}-{j}", f"the kiosk number {j} is red", other) for j in range(n)]
    return Probe(name, f"kiosk of {name}", given, ["mine"], scope=scope, **more)


def small() -> list[Probe]:
    return [
        probe("one", "u1", {"u10": 2, "bo": 1}),
        probe("two", "u1", {"u10": 1}),
        probe("three", "bo", {"u1": 3, "team": 1}, reads=["team"]),
        probe("four", "AL", {"al": 1}),
        probe("five", "solo", {}),
    ]


class ScopeBlind(SqliteStore):
    """Looks in another scope as well."""

    def search(self, query: str, *, k: int, scope: str, **options: Any) -> list[Hit]:
        mine = super().search(query, k=k, scope=scope, **options)
        return [*mine, *super().search(query, k=k, scope="u10", **options)][:k]


def rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    columns = ["asked", "other", "kind", "n_probes", "n_records", "n_leaked"]
    return list(frame[columns].itertuples(index=False, name=None))


def test_pairs_are_those_of_probes_that_were_asked_beside_live_records_of_others() -> None:
    frame = scope_coverage(run(small(), SqliteStore))
    assert rows(frame) == [
        ("u1", "u10", "begins_alike", 2, 3, 0),
        ("u1", "bo", "other", 1, 1, 0),
        ("bo", "u1", "other", 1, 3, 0),  # team is read, and no attempt
        ("AL", "al", "differs_in_case", 1, 1, 0),
    ]
    # 1 - 0.05^(1/2) = 0.7764; 1 - 0.05 = 0.95
    assert frame["high"].tolist() == pytest.approx([0.776393, 0.95, 0.95, 0.95], abs=1e-6)
    assert list(frame.columns) == frames.names(frames.SCOPE_PAIRS)


def test_what_came_back_is_counted_by_probe() -> None:
    made = run(small(), ScopeBlind)
    frame = scope_coverage(made)
    leaking = frame[frame["n_leaked"] > 0]
    assert rows(leaking) == [("u1", "u10", "begins_alike", 2, 3, 2)]
    # Wilson, 2 of 2, z = 1.96: the upper end is 1
    assert leaking["high"].tolist() == pytest.approx([1.0])
    told = coverage_rows.coverage(made)
    assert told is not None and told.state == "bad"
    assert told.words.startswith("4 of 5 probes had a chance")
    # Wilson, 2 of 4: (0.5 + 0.4802 + 1.96 sqrt(0.0625 + 0.06003)) / 1.9604 = 0.850
    assert "2 of 4 chances leaked (<= 0.850)" in told.words
    assert [line.leaked for line in told.pairs] == [2, 0, 0, 0]


def test_a_probe_that_was_not_answered_is_no_attempt() -> None:
    made = run(small(), SqliteStore)
    status = made.calls["status"].where(made.calls["probe"] != "one", "failed")
    frame = scope_coverage(replace(made, calls=made.calls.assign(status=status)))
    assert rows(frame)[0] == ("u1", "u10", "begins_alike", 1, 1, 0)
    assert len(frame) == 3


def test_a_deleted_record_is_no_chance_but_a_leak_where_it_comes_back() -> None:
    given = [Record("a", "blue kiosk", "ana"), Record("b", "blue van", "bo"), Delete("b")]
    asked = [Probe("p", "blue", given, ["a"], scope="ana")]
    assert scope_coverage(run(asked, SqliteStore)).empty

    class Undead(SqliteStore):
        def search(self, query: str, **options: Any) -> list[Hit]:
            return [*super().search(query, **options), Hit("b", "blue van")]

    made = run(asked, Undead, check_store=False)
    assert rows(scope_coverage(made)) == [("ana", "bo", "other", 1, 0, 1)]


def test_the_matrix_counts_attempts_and_nothing_elsewhere() -> None:
    matrix = coverage_matrix(scope_coverage(run(small(), SqliteStore)))
    assert matrix.loc["u1"].to_dict() == {"u10": 2, "bo": 1, "u1": 0, "al": 0}
    assert matrix.to_numpy().sum() == 5
    assert (matrix.index.name, matrix.columns.name) == ("asked", "other")
    assert set(matrix.dtypes.astype(str)) == {"int64"}
    assert coverage_matrix(frames.empty(frames.SCOPE_PAIRS)).empty


@pytest.mark.parametrize(
    ("asked", "other", "kind"),
    [
        ("u1", "u10", "begins_alike"),
        ("u10", "u1", "begins_alike"),
        ("al", "AL", "differs_in_case"),
        ("Al", "alice", "begins_alike"),
        ("x%' OR 1=1 --", "user:mara", "syntax"),
        ("anything", "*", "syntax"),
        ("user_1", "userx1", "syntax"),
        ("user_1", "user_2", "other"),
        ("team a", "team-a", "syntax"),
        ("[a-z]_", "by", "other"),
        ("ana", "bo", "other"),
    ],
)
def test_how_names_differ(asked: str, other: str, kind: str) -> None:
    assert scope_kind(asked, other) == kind


def test_a_name_full_of_wildcards_is_told_quickly() -> None:
    assert scope_kind("_" * 3000, "b" * 2999) == "other"


def test_the_haystack_is_counted_as_it_was_written() -> None:
    # 330 records of background: 100 each for the own scope and two others, and a twin in each
    made = run(suite(3, 0, 0), SqliteStore)
    assert rows(scope_coverage(made)) == [
        ("default", "haystack: another name", "other", 3, 303, 0),
        ("default", "haystack: begins alike", "begins_alike", 3, 303, 0),
    ]
    for one in made.suite:
        around = haystack_of(made.suite, [one], 0, True)
        foreign = [record for record in around.records if record.scope != one.scope]
        assert sum(a.n_records for a in attempts(made) if a.probe == one.name) == len(foreign)


def test_a_leaked_record_of_the_haystack_is_told_by_its_scope() -> None:
    class Prefix(SqliteStore):
        def search(self, query: str, *, k: int, scope: str, **options: Any) -> list[Hit]:
            return super().search("background note", k=k, scope=scope + "2", **options)

    asked = Suite(tuple(positive(n) for n in range(3)), BACKGROUND, "test")
    made = run(asked, Prefix, check_store=False)
    leaked = scope_coverage(made).set_index("other")["n_leaked"].to_dict()
    assert leaked == {"haystack: another name": 0, "haystack: begins alike": 3}
    assert made.leaks > 0
    bare = made.without_texts()  # its haystack cannot be made again: either scope may be the one
    assert scope_coverage(bare)["n_leaked"].tolist() == [3, 3]


def test_probes_of_one_history_see_each_others_scopes_and_what_is_around_them() -> None:
    given = [Record("a", "blue kiosk", "ana"), Record("b", "red van", "bo")]
    asked = [
        Probe("pa", "blue kiosk", given, ["a"], scope="ana", history="h"),
        Probe("pb", "red van", given, ["b"], scope="bo", history="h"),
    ]
    made = run(Suite(tuple(asked), BACKGROUND, "test", {"h": given}), SqliteStore)
    frame = scope_coverage(made).set_index(["asked", "other"])
    # bo holds its own record and its own background
    assert frame.loc[("ana", "bo"), "n_records"] == 101
    around = haystack_of(made.suite, list(made.suite), 0, True)
    foreign = [record for record in around.records if record.scope not in ("ana", "bo")]
    made_up = frame[frame.index.get_level_values("other").str.startswith("haystack")]
    assert made_up.loc["ana", "n_records"].sum() == len(foreign) > 0


def test_a_saved_run_tells_the_same(tmp_path: Any) -> None:
    made = run(load(), "sqlite")
    frame = scope_coverage(made)
    saved = load_run(save_run(made, tmp_path / "run.json"))
    pd.testing.assert_frame_equal(scope_coverage(saved), frame)
    bare = scope_coverage(made.without_texts())
    keys = ["asked", "other", "kind", "n_probes", "n_leaked", "high"]
    pd.testing.assert_frame_equal(bare[keys], frame[keys])
    assert {one.probe for one in attempts(made)} == {one.name for one in made.suite}


def test_the_shipped_suite_takes_few_lines_in_a_report() -> None:
    made = run(load(), "sqlite")
    text = plain.coverage_text(made)
    n = len(made.suite)
    assert 10 < len(text.split("\n")) < 45
    assert f"{n} of {n} probes had a chance" in text
    bound = 1 - 0.05 ** (1 / n)
    assert f"no leak seen in {n} chances (<= {bound:.3f})" in " ".join(text.split())
    assert "more pairs: memeval.scope_coverage has all" in text


def scopeless() -> Run:
    class Flat(odd.Plain):
        capabilities = Capabilities(scoping="none")

    return run(Suite((positive(1, k=3),)), Flat).judged(make_run().validity)


def alone() -> Run:
    lone = Probe("p", "blue kiosk", [Record("a", "blue kiosk")], ["a"], tags=["t"])
    return run([lone], SqliteStore)


@pytest.mark.parametrize(("made", "why"), [(scopeless, "the store has none"), (alone, "no probe")])
def test_what_was_never_attempted_is_not_measured_in_any_form(made: Any, why: str) -> None:
    one = made()
    assert scope_coverage(one).empty
    for text in (
        plain.coverage_text(one),
        markdown.coverage_text(one),
        report_html(one),
        run_html(one),
        plain.report_text(one),
        plain.controls_text(None, one.validity, one),
        markdown.controls_text(None, one.validity, one),
    ):
        flat = " ".join(text.split())
        assert f"Scopes not measured: {why}" in flat
        assert "no leak seen" not in flat


def test_no_leak_of_nothing_that_could_leak_is_said_to_be_not_measured() -> None:
    one = alone()
    assert one.leaks == 0
    words = "leaks not measured, as nothing could leak"
    assert leaks_of(one.summary).words == words
    assert words in one.verdict.reason and repr(one).count(words) == 1
    assert results_payload(one)["leaks_in_words"] == words
    (tile,) = [m for m in tables.metrics(one) if m.name == "leaks"]
    assert (tile.value, tile.met, tile.kept, tile.bound_words) == ("n/a", None, None, "")
    assert tile.interval == "not measured: nothing could leak"
    (line,) = [x for x in plain.summary_text(one).split("\n") if x.startswith("leaks ")]
    assert line.split()[:4] == ["leaks", "n/a", "not", "measured"]
    assert [row.leak_words for row in tag_rows.tags(one)] == ["not measured"]
    assert "not measured: nothing could leak" in markdown.summary_text(one)
    (shown,) = [x for x in repr(one).split("\n") if x.split()[:1] == ["leaks"] and "NaN" in x]
    assert shown.split() == ["leaks", "NaN", "NaN", "NaN", "0"]
    json.dumps(results_payload(one), allow_nan=False, default=str)


def test_beside_a_zero_stands_how_large_the_rate_may_be() -> None:
    made = run([probe("one", "u1", {"u10": 2}, forbid=["u10-0"], tags=["t"])], SqliteStore)
    # a listed record and the foreign scope are two chances, of one probe: 1 - 0.05 = 0.95
    words = "no leak seen in 2 chances (<= 0.950 of probes)"
    assert words in made.verdict.reason and " ".join(repr(made).split()).count(words) == 1
    (tile,) = [m for m in tables.tiles(made) if m.name == "leaks"]
    assert (tile.value, tile.interval) == ("0", words)
    assert "rate <= 0.950" in plain.summary_text(made)
    assert [row.leak_words for row in tag_rows.tags(made)] == ["0 (<= 0.950)"]
    assert results_payload(made)["leaks_in_words"] == words


def test_a_run_that_fails_for_something_else_says_what_its_zero_is_worth() -> None:
    made = run([probe("one", "u1", {"u10": 2}, must=True)], "null", check_store=False)
    assert made.verdict.word == "FAIL" and "leak" not in made.verdict.reason
    assert "no leak seen in 1 chance (<= 0.950 of probes)" in repr(made)


def test_a_search_that_failed_had_no_chance_to_leak() -> None:
    class Down(SqliteStore):
        def search(self, query: str, **options: Any) -> list[Hit]:
            raise OSError("down")

    made = run([probe("one", "u1", {"u10": 2})], Down, check_store=False)
    assert leaks_of(made.summary).words == "leaks not measured, as nothing could leak"
    assert scope_coverage(made).empty
    assert "leaks not measured" in repr(made)


def test_the_bounds_are_those_of_the_definitions() -> None:
    # 1 - 0.05^(1/n) for 5, 13, 20, 59, 100
    for n, high in ((5, 0.451), (13, 0.206), (20, 0.139), (59, 0.050), (100, 0.030)):
        assert most_leaking(0, n) == pytest.approx(high, abs=6e-4)
    assert rate_words(0, 1) == "no leak seen in 1 chance (<= 0.950)"
    assert rate_words(0, 0) == "not measured"


def test_an_invalid_suite_tells_nothing_of_scopes() -> None:
    one = make_run(validity=INVALID)
    assert coverage_rows.coverage(one) is None
    assert plain.coverage_text(one) == markdown.coverage_text(one) == ""
    assert 'id="scopes"' not in report_html(one)


def test_names_of_scopes_are_other_peoples_text() -> None:
    asked = []
    for n, text in enumerate(PAYLOADS):
        name = f"{n} {visible(text)}"
        given = [Record("a", "blue kiosk", name), Record("b", "red van", f"{name} \u202ex")]
        asked.append(Probe(f"p{n}", "blue kiosk", given, ["a"], scope=name))
    made = run(asked, SqliteStore)
    page = report_html(made)
    section = page[page.index('<section id="scopes"') :]
    section = section[: section.index("</section>")]
    assert "<script" not in section and "<img" not in section and "\u202e" not in section
    assert "&lt;script&gt;" in section
    for line in plain.coverage_text(made).split("\n"):
        assert display_width(line) <= 80
        assert "\x1b" not in line and "\u202e" not in line
    assert "<script" not in markdown.coverage_text(made)


def test_many_pairs_are_counted_where_they_are_not_listed() -> None:
    made = run([probe("one", "u1", {f"other-{n}": 1 for n in range(150)})], SqliteStore)
    assert "and 130 more pairs" in plain.coverage_text(made)
    assert "and 130 more pairs" in markdown.coverage_text(made)
    page = report_html(made)
    assert "150 pairs of scopes" in page and "and 50 more" in page


def test_a_suite_from_a_file_tells_the_same_as_one_built_by_hand() -> None:
    text = json.dumps(Suite(tuple(small())).to_dict())
    assert rows(scope_coverage(run(load_text(text), SqliteStore))) == rows(
        scope_coverage(run(small(), SqliteStore))
    )
