"""Results tag by tag against sums by hand, and the words that probes share with their answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from memeval import frames
from memeval.breakdown import lexical_overlap, summarize_by_tag
from memeval.checks.kinds import is_blank
from memeval.errors import FrameError
from memeval.probe import Probe
from memeval.record import Record
from memeval.suite import Suite
from memeval.summary import summarize


def results() -> pd.DataFrame:
    """Three positives (a found first, b missed, c found but leaking) and two negatives."""
    rows: dict[str, list[Any]] = {
        "probe": ["a", "b", "c", "n", "m", "u"],
        "kind": ["positive", "positive", "positive", "negative", "negative", "positive"],
        "status": ["ok"] * 5 + ["not_supported"],
        "k": [5] * 6,
        "n_leaked": [0, 0, 2, 0, 0, 0],
        "recall_all": [True, False, True, None, None, None],
        "rr": [1.0, 0.0, 0.5, None, None, None],
        "abstained": [None, None, None, True, False, None],
        "passed": [True, False, False, True, False, None],
    }
    return frames.conform(pd.DataFrame(rows), frames.RESULTS)


def tags(**of_tag: str) -> pd.DataFrame:
    rows = [(probe, tag) for tag, probes in of_tag.items() for probe in probes]
    return pd.DataFrame(rows, columns=["probe", "tag"])


def test_tags_by_hand_the_worst_first() -> None:
    table = summarize_by_tag(results(), tags(good="an", leaky="acnm", weak="ab", odd="u"))
    # leaky: 2 of 2 recalled, mrr (1 + .5) / 2; 1 of 2 abstained; c leaks, m answers: 2 of 4 failed.
    # weak: 1 of 2. good: 1 of 1 and 1 of 1. odd was never asked. Wilson at 95 % of 2/2: .3424 to 1,
    # of 1/2: .0945 to .9055, of 1/1: .2065 to 1.
    wanted = pd.DataFrame(
        {
            "tag": ["leaky", "weak", "good", "odd"],
            "n_positive": [2, 2, 1, 0],
            "n_negative": [2, 0, 1, 0],
            "recall_all": [1.0, 0.5, 1.0, None],
            "low": [0.3424, 0.0945, 0.2065, None],
            "high": [1.0, 0.9055, 1.0, None],
            "mrr": [0.75, 0.5, 1.0, None],
            "leaks": [2, 0, 0, 0],
            "abstention": [0.5, None, 1.0, None],
            "n_failed": [2, 1, 0, 0],
        }
    )
    assert_frame_equal(table, frames.conform(wanted, frames.TAG_SUMMARY), atol=5e-5, rtol=0)


def test_what_stands_first() -> None:
    table = summarize_by_tag(results(), tags(half="ab", more="abnm", all="b", also="b", fine="a"))
    # No leak: 1 of 1 failed twice (by name), 2 of 4 before 1 of 2 since they are more, then none.
    assert table["tag"].tolist() == ["all", "also", "more", "half", "fine"]
    # A leak comes before any miss: 1 of 3 failed against 1 of 1.
    leaking = summarize_by_tag(results(), tags(missed="b", leaky="acn"))
    assert leaking["tag"].tolist() == ["leaky", "missed"]


def test_a_probe_counts_in_each_of_its_tags_and_once_in_the_total() -> None:
    table = summarize_by_tag(results(), tags(one="ab", two="ab"), total=True)
    assert table["tag"].isna().tolist() == [False, False, True]
    assert table["n_positive"].tolist() == [2, 2, 3]  # c has no tag and is in the total
    total, summary = table.iloc[-1], summarize(results()).set_index("metric")
    assert total["leaks"] == 2 and total["n_failed"] == 3 and total["n_negative"] == 2
    for metric in ("recall_all", "mrr", "abstention"):
        assert total[metric] == summary.at[metric, "value"]
    assert [total["low"], total["high"]] == summary.loc["recall_all", ["low", "high"]].tolist()


def test_a_tag_said_twice_or_of_a_probe_that_was_not_asked_changes_nothing() -> None:
    plain = summarize_by_tag(results(), tags(one="ab"))
    more = pd.concat([tags(one="abz"), tags(one="a", gone="yz")], ignore_index=True)
    assert_frame_equal(summarize_by_tag(results(), more), plain)


def slow_line(tag: str | None, results: pd.DataFrame) -> dict[str, Any]:
    """One line by the summary of the whole suite, asked of the rows of one tag."""
    asked = results[results["status"] != "not_supported"]
    metrics = summarize(results).set_index("metric")
    return {
        "tag": tag,
        "n_positive": int(asked["kind"].eq("positive").sum()),
        "n_negative": int(asked["kind"].eq("negative").sum()),
        "recall_all": metrics.at["recall_all", "value"],
        "low": metrics.at["recall_all", "low"],
        "high": metrics.at["recall_all", "high"],
        "mrr": metrics.at["mrr", "value"],
        "leaks": int(asked["n_leaked"].sum()),
        "abstention": metrics.at["abstention", "value"],
        "n_failed": int(asked["passed"].eq(False).fillna(False).sum()),
    }


PROBE = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["positive", "negative"]),
        "status": st.sampled_from(["ok", "ok", "failed", "not_supported"]),
        "n_leaked": st.integers(0, 2),
        "recall_all": st.sampled_from([True, False, None]),
        "rr": st.sampled_from([1.0, 0.5, 1 / 3, 0.1, 0.0, None]),
        "abstained": st.sampled_from([True, False, None]),
        "passed": st.sampled_from([True, False, None]),
        "tags": st.lists(st.sampled_from("xyz")),
    }
)


@settings(max_examples=15)
@given(st.lists(PROBE, min_size=1, max_size=9), st.booleans())
def test_each_line_is_the_summary_of_the_probes_of_its_tag(
    probes: list[dict[str, Any]], total: bool
) -> None:
    rows = [{"probe": f"p{n}", "k": 5, **probe} for n, probe in enumerate(probes)]
    table = frames.conform(pd.DataFrame(rows).drop(columns="tags"), frames.RESULTS)
    pairs = [(row["probe"], tag) for row in rows for tag in row["tags"]]
    carried = frames.conform(pd.DataFrame(pairs, columns=["probe", "tag"]), frames.TAGS)
    found = summarize_by_tag(table, carried, total=total)
    named = found["tag"].dropna().tolist()
    assert sorted(named) == sorted({tag for _, tag in pairs})
    lines = [slow_line(tag, table[[tag in row["tags"] for row in rows]]) for tag in named]
    lines += [slow_line(None, table)] if total else []
    wanted = pd.DataFrame(lines, columns=frames.names(frames.TAG_SUMMARY))
    assert_frame_equal(found, frames.conform(wanted, frames.TAG_SUMMARY), check_exact=True)


def test_zero_rows() -> None:
    nothing = frames.empty(frames.TAG_SUMMARY)
    assert_frame_equal(summarize_by_tag(results(), frames.empty(frames.TAGS)), nothing)
    assert_frame_equal(summarize_by_tag(results().iloc[:0], tags(one="ab")), nothing)
    total = summarize_by_tag(results().iloc[:0], tags(one="ab"), total=True)
    assert len(total) == 1 and total[["recall_all", "mrr", "abstention"]].isna().all(axis=None)
    assert_frame_equal(lexical_overlap([]), frames.empty(frames.OVERLAP))


def test_results_of_two_runs_and_strange_tables_are_refused() -> None:
    both = pd.concat([results(), results()])
    with pytest.raises(FrameError, match="found the probe 'a' twice"):
        summarize_by_tag(both, tags(one="a"))
    with pytest.raises(FrameError, match="wanted also"):
        summarize_by_tag(results(), results())


@settings(max_examples=20)
@given(st.dictionaries(st.sampled_from("xyz"), st.sets(st.sampled_from("abcnm"), min_size=1)))
def test_each_line_is_the_summary_of_its_probes(carried: dict[str, set[str]]) -> None:
    table = summarize_by_tag(results(), tags(**{t: "".join(p) for t, p in carried.items()}))
    assert sorted(table["tag"]) == sorted(carried)
    for row in table.to_dict("records"):
        part = results()[results()["probe"].isin(carried[row["tag"]])]
        summary = summarize(part).set_index("metric")["value"]
        assert row["n_positive"] + row["n_negative"] == len(part)
        assert row["leaks"] == summary["leaks"]
        assert row["recall_all"] == pytest.approx(summary["recall_all"], nan_ok=True)


def asked(query: str, *texts: str, expect: Any = None, **more: Any) -> Probe:
    given_records = [Record(f"r{n}", text) for n, text in enumerate(texts)]
    return Probe("p", query, given_records, ["r0"] if expect is None else expect, **more)


def overlap(probe: Probe) -> float:
    return float(lexical_overlap([probe])["overlap"].item())


@pytest.mark.parametrize(
    ("query", "text", "share"),
    [
        ("Where is the noodle bar?", "The Noodle Bar is open.", 1.0),
        ("Which café serves ramen?", "The CAFE closes at ten.", 1 / 3),  # cafe; not serves, ramen
        ("What food is dangerous for me?", "Peanuts make my throat swell.", 0.0),
        ("lunch lunch dinner", "Lunch is late.", 1 / 2),  # each word once
        ("Don't you know Ana's key?", "The key of Ana", 2 / 3),  # know, ana, key
        ("E-7734", "The code E-7735", 1 / 2),  # e, 7734
        ("木箱子", "木箱は倉庫", 1 / 2),  # 木箱, 箱子
        ("木。箱", "木箱", 1.0),  # not neighbours: two characters, both there
        ("鍵 key", "key", 1 / 2),
    ],
)
def test_overlap_by_hand(query: str, text: str, share: float) -> None:
    assert overlap(asked(query, text)) == pytest.approx(share, abs=1e-12)


def test_the_best_expected_record_counts() -> None:
    texts = ["lunch at noon", "lunch at the noodle bar", "noodle bar lunch special"]
    query = "noodle bar lunch special"
    assert overlap(asked(query, *texts, expect=["r0", "r1"])) == 3 / 4
    assert overlap(asked(query, *texts, expect=[["r0", "r2"], "r1"])) == 1.0


def test_an_updated_record_counts_as_it_stands_at_the_end() -> None:
    ops = [Record("r0", "noodle bar"), Record("r0", "soup kitchen")]
    assert overlap(Probe("p", "noodle bar", ops, ["r0"])) == 0.0


def test_where_overlap_is_undefined_it_is_na() -> None:
    plain = asked("noodle bar", "noodle bar")
    suite = Suite.of([plain, replace(plain, name="n", expect=()), asked_name("f", "Who am I?")])
    assert lexical_overlap(suite)["overlap"].isna().tolist() == [False, True, True]
    assert lexical_overlap(suite)["probe"].tolist() == ["p", "n", "f"]
    assert lexical_overlap(suite.without_texts())["overlap"].isna().all()


def asked_name(name: str, query: str) -> Probe:
    return replace(asked(query, "I am Ana"), name=name)


SAID = st.text(min_size=1, max_size=20).filter(lambda text: not is_blank(text))


@given(SAID, SAID)
def test_overlap_is_a_share_and_a_text_shares_all_with_itself(query: str, text: str) -> None:
    share, own = overlap(asked(query, text)), overlap(asked(text, text))
    assert pd.isna(share) or 0 <= share <= 1
    assert pd.isna(own) or own == 1


def test_inputs_are_not_changed() -> None:
    table, carried = results(), tags(one="ab")
    summarize_by_tag(table, carried, total=True)
    assert_frame_equal(table, results())
    assert_frame_equal(carried, tags(one="ab"))


def found_by_lint(query: str, tag: str = "paraphrase") -> list[str]:
    suite = Suite.of([asked(query, "Lunch is at the noodle bar.", tags=[tag])])
    return [
        found for found in suite.lint()["found"] if "paraphrase'" in found and "thin" not in found
    ]


def test_lint_names_a_paraphrase_that_repeats_the_words_of_its_record() -> None:
    # noodle and bar of noodle, bar, open: two of three
    assert found_by_lint("Is the noodle bar open?") == [
        "tagged 'paraphrase', but 2 of 3 content words of the query stand in the expected record: "
        "'noodle', 'bar'"
    ]
    assert found_by_lint("Is the noodle bar open?", tag="direct") == []
    assert found_by_lint("Where does noodle soup come from?") == []  # one of three
    assert found_by_lint("noodle soup") == []  # one of two is not more than half
    assert found_by_lint("Who am I?") == []


def test_lint_points_at_the_probe_and_its_tags() -> None:
    suite = Suite.of([asked("noodle bar", "The noodle bar.", tags=["paraphrase"])])
    fault = suite.lint().set_index("found").filter(like="tagged", axis=0).iloc[0]
    assert fault["probe"] == "p" and fault["field"] == "tags"
    assert fault["todo"] == "ask in other words, or drop the tag"
    assert "tagged" not in " ".join(suite.without_texts().lint()["found"])
