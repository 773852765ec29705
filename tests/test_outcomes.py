"""Outcomes: the same, whatever they were read from; whatever is no outcome is refused in words."""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memeval.baseline import accept
from memeval.errors import RunFileError
from memeval.files.resultsfile import results_payload, write_results
from memeval.files.runfiles import save_run
from memeval.frames import CALLS, HITS, conform
from memeval.outcomes import Outcomes, as_outcomes, outcomes_of, read_outcomes
from memeval.probe import Probe
from memeval.record import Hit, Record
from memeval.runner import run
from memeval.runs import Run
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite
from tests.suites import positive, suite


@pytest.fixture(scope="module")
def made() -> Run:
    return run(suite(), SqliteStore)


def same(one: Outcomes, other: Outcomes) -> None:
    """What both tell is equal to the last digit."""
    rows = [side.probes.drop(columns="latency_ms") for side in (one, other)]
    pd.testing.assert_frame_equal(rows[0], rows[1], check_exact=True)
    assert one.answers == other.answers
    for metric in one.metrics.keys() & other.metrics.keys():
        values = (one.metrics[metric], other.metrics[metric])
        assert values[0] == values[1] or all(map(math.isnan, values)), metric
    shared = one.manifest.keys() & other.manifest.keys() - {"environment", "options", "store_info"}
    assert {n: one.manifest[n] for n in shared} == {n: other.manifest[n] for n in shared}
    assert (one.validity.status, one.validity.reasons) == (
        other.validity.status,
        other.validity.reasons,
    )


def test_run_results_file_run_file_and_baseline_give_the_same(made: Run, tmp_path: Path) -> None:
    live = outcomes_of(made)
    kinds = {
        "run": read_outcomes(save_run(made, tmp_path / "run.json")),
        "results": read_outcomes(write_results(made, tmp_path / "results.json")),
        "baseline": read_outcomes(accept(made, tmp_path / "baseline.json", reason="first")),
    }
    for kind, side in kinds.items():
        assert side.kind == kind
        same(live, side)
    assert set(live.metrics) == set(kinds["results"].metrics)
    assert {"recall_all", "mrr", "ndcg", "distinct"} <= kinds["baseline"].metrics.keys()
    assert not {"latency_p95_ms", "context_tokens"} & kinds["baseline"].metrics.keys()
    assert kinds["results"].manifest["created_at"] == made.manifest.created_at
    assert kinds["results"].run is None and live.run is made


def test_rows_are_of_the_first_repeat_and_count_the_repeats_that_passed() -> None:
    # Repeat 0 finds a at rank 2: rr 1/2, ndcg 1/log2(3) = 0.630930. Repeat 1 finds nothing.
    probe = Probe("p", "q", [Record("a", "x"), Record("b", "y")], ["a"], must=True)
    hits = pd.DataFrame(
        {"probe": "p", "repeat": [0, 0, 1], "rank": [2, 1, 1], "record_id": ["a", "b", "b"]}
    )
    calls = pd.DataFrame({"probe": "p", "repeat": [1, 0, 2], "k": 5, "status": "ok"})
    base = run([probe], SqliteStore)
    tested = replace(base, hits=conform(hits, HITS), calls=conform(calls, CALLS))
    side = outcomes_of(tested)
    row = side.probes.iloc[0]
    assert (row["n_passed"], row["n_repeats"], row["first_rank"]) == (1, 3, 2)
    assert (row["rr"], row["ndcg"], bool(row["must"])) == (0.5, 0.63093, True)
    assert side.answers == {"p": ("b", "a")}
    assert side.repeats == {"p": (("b", "a"), ("b",), ())}
    assert results_payload(tested)["per_probe"]["p"]["passes"] == "1/3"
    assert side.passing == frozenset()


def test_strangers_are_marked_and_ids_drawn_anew_do_not_make_two_answers_differ() -> None:
    def answer(ids: list[str | None]) -> tuple[str, ...]:
        class Strange(SqliteStore):
            def search(self, query: str, **options: Any) -> list[Hit]:
                return [Hit(one, f"never written {n}") for n, one in enumerate(ids)]

        made = run([positive(1)], Strange, check_store=False, allow_nonempty=True)
        return outcomes_of(made).answers["positive-01"]

    drawn = "0b9e2c9c-52f4-4d0c-9c53-1d3f7b1c2a{:02x}"
    assert answer(["m7", None]) == ("?m7", "?")
    first, again = (answer([drawn.format(n), drawn.format(n + 1)]) for n in (1, 7))
    assert first == again == ("?uuid-1", "?uuid-2")
    named = "886313e1-3b8a-5372-9b90-0c9aee199e5d"  # version 5: made of a name, so it stays
    assert answer([named]) == (f"?{named}",)


def test_the_bare_dictionary_of_the_specification_is_taken() -> None:
    bare = {
        "recall_at_k": 0.9, "mrr": 0.75, "distinct_at_k": 0.8, "staleness": 0.01, "leaks": 0,
        "p95_ms": 41, "per_probe": {"b": {"hit": True, "rank": 3, "leaked": []},
                                    "a": {"hit": False, "rank": None, "leaked": ["x", "y"]}},
    }  # fmt: skip
    side = as_outcomes(bare)
    assert (side.kind, side.manifest, side.answers, len(side)) == ("bare", {}, {}, 2)
    assert side.metrics == {
        "recall_all": 0.9, "mrr": 0.75, "distinct": 0.8, "staleness": 0.01, "leaks": 0.0,
        "latency_p95_ms": 41.0,
    }  # fmt: skip
    assert list(side.probes["probe"]) == ["a", "b"]
    assert side.probes["content_hash"].isna().all()
    assert side.probes["rr"].tolist() == [0.0, 0.333333]
    assert side.probes["n_leaked"].tolist() == [2, 0]
    assert side.passing == {"b"}


def test_numbers_of_the_sketch_may_be_nan_in_python_but_not_in_a_file(tmp_path: Path) -> None:
    assert math.isnan(as_outcomes({"recall_at_k": np.float64(0.5), "mrr": math.nan}).metrics["mrr"])
    (tmp_path / "x.json").write_text('{"recall_at_k": 0.5, "mrr": NaN}')
    with pytest.raises(RunFileError, match="NaN is no number of JSON"):
        read_outcomes(tmp_path / "x.json")


def test_an_invalid_suite_gives_its_reasons_and_no_number(tmp_path: Path) -> None:
    made = run(Suite((positive(1),)), SqliteStore)
    side = read_outcomes(write_results(made, tmp_path / "r.json"))
    assert side.validity == made.validity
    assert side.validity.status == "invalid"
    assert (len(side), side.metrics, side.kind) == (0, {}, "results")


def test_what_is_outcomes_already_is_given_back_and_other_things_are_refused(made: Run) -> None:
    side = outcomes_of(made)
    assert as_outcomes(side) is side
    assert as_outcomes(made).kind == "run"
    with pytest.raises(RunFileError, match=r"found 7, wanted a run"):
        as_outcomes(7)  # type: ignore[arg-type]


CONFLICT = '{\n<<<<<<< HEAD\n  "leaks": 0\n=======\n  "leaks": 1\n>>>>>>> other\n}\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\ufeff \n", "is empty"),
        ("{", "is not JSON"),
        ("[]", "holds"),
        ("{}", "is something else"),
        ('{"name": "app", "errors": 0}', "is something else"),
        (CONFLICT, r"x\.json:2: found the marks of a merge conflict.*git checkout --ours.*accept"),
        ('{"a": 1}\n=======\r\n', ":2: found the marks of a merge conflict"),
        ('{"mrr": 1, "mrr": 2}', "the key 'mrr' stands there twice"),
        ('{"mrr": 0.5, "per_probe": {"a": {"hit": true}, "a": {"hit": false}}}', "'a' stands"),
        ('{"recall_at_5": 0.5, "recall_at_10": 0.6}', "are one metric and differ"),
        ('{"mrr": Infinity}', "Infinity is no number"),
        ('{"mrr": 1e999}', "mrr is inf, wanted a number"),
        ('{"mrr": true}', "mrr is True, wanted a number"),
        ('{"mrr": 0.5, "leaks": "many"}', "leaks is 'many', wanted a number"),
        ('{"mrr": 0.5, "leaks": 0.5}', "leaks is 0.5, wanted a whole number"),
        ('{"mrr": 0.5, "leaks": -1}', "leaks is -1"),
        ('{"mrr": 0.5, "leaks": 1' + "0" * 400 + "}", "leaks is 1000.*range of floats"),
        ('{"mrr": 1' + "0" * 400 + "}", "mrr is 1000.*range of floats"),
        ('{"mrr": 1.2}', "mrr is 1.2, wanted a share from 0 to 1"),
        ('{"mrr": -0.1}', "mrr is -0.1, wanted a number from 0"),
        ('{"recall_at_5": 0.5, "distinct_at_10": 0.6}', "cutoffs 10 and 5, wanted one"),
        ('{"per_probe": []}', "per_probe is \\[\\], wanted a mapping"),
        ('{"per_probe": {"a": 3}}', "per_probe 'a' is 3"),
        ('{"per_probe": {"a": {}}}', "'a': hit is None, wanted true or false"),
        ('{"per_probe": {"a": {"hit": 1}}}', "hit is 1, wanted true or false"),
        ('{"per_probe": {"a": {"hit": true, "rank": 0}}}', "rank is 0, wanted a whole number"),
        ('{"per_probe": {"a": {"hit": true, "leaked": 3}}}', "leaked is 3, wanted a list"),
        ('{"per_probe": {"a": {"hit": true, "passes": "6/5"}}}', "passes is '6/5'"),
        ('{"per_probe": {"a": {"hit": true, "status": "fine"}}}', "status is 'fine'"),
        ('{"per_probe": {"a": {"hit": true, "ndcg": 2}}}', "ndcg is 2, wanted a number from 0 to"),
        ('{"per_probe": {"a": {"hit": true, "ids": [1]}}}', "ids is"),
        ('{"per_probe": {"\\ud800": {"hit": true}, "\\ud801": {"hit": true}}}', "twice"),
        ('{"format": "memeval baseline", "version": 2}', "has version 2, wanted 1; install"),
        ('{"format": "memeval run", "version": 9}', "has version 9, wanted 1; install"),
        ('{"format": "memeval map"}', "says that it is 'memeval map'"),
        ('{"format": "memeval results", "version": 1, "probes": 2, "per_probe": {}}', "lists 0"),
        ('{"mrr": 1, "validity": "fine"}', "validity cannot be used"),
        ("[" * 200_000, "is not JSON"),
        ('{"mrr": ' * 100_000, "is not JSON"),
    ],
)
def test_what_holds_no_outcomes_is_refused_in_words(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(RunFileError, match=words) as refused:
        read_outcomes(path)
    assert str(refused.value).startswith(str(path))
    assert len(str(refused.value)) < 1000


def test_places_that_hold_no_file_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="found a folder, wanted a run"):
        read_outcomes(tmp_path)
    with pytest.raises(RunFileError, match="No such file.*wanted a run"):
        read_outcomes(tmp_path / "none.json")
    (tmp_path / "latin.json").write_bytes(b'{"mrr": "\xe9"}')
    with pytest.raises(RunFileError, match="cannot be read"):
        read_outcomes(tmp_path / "latin.json")


def test_a_run_file_that_is_damaged_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"format": "memeval run", "version": 1}')
    with pytest.raises(RunFileError, match="the run file is damaged"):
        read_outcomes(tmp_path / "x.json")


def edited(made: Run, **entry: Any) -> dict[str, Any]:
    payload = results_payload(made)
    name = next(n for n, one in payload["per_probe"].items() if one["n_expected"] == 1)
    payload["per_probe"][name] |= entry
    return payload


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"passes": "0/1"}, "passes is '0/1', wanted what agrees with hit True, 0 leaked"),
        ({"passes": "0/5"}, "passes is '0/5'"),
        ({"hit": False, "rank": None}, "passes is '1/1', wanted what agrees with hit False"),
        ({"leaked": ["x"]}, "1 leaked"),
        ({"n_contract": 1}, "1 broken checks"),
        ({"hit": False, "rank": None, "passes": "0/1"}, "recall_all is 1, but its probes come to"),
        ({"rank": 4}, "mrr is .*, but its probes come to"),
    ],
)
def test_an_edited_file_that_contradicts_itself_is_refused(
    entry: dict[str, Any], words: str, made: Run
) -> None:
    assert as_outcomes(edited(made)).kind == "results"
    with pytest.raises(RunFileError, match=words):
        as_outcomes(edited(made, **entry))


def test_a_floor_may_be_out_of_reach(made: Run) -> None:
    payload = results_payload(made) | {"floors": {"recall_all": 85.0}}
    assert as_outcomes(payload).floors == {"recall_all": 85.0}


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8).map("p{}".format)
ANSWERS = st.lists(st.sampled_from(["a", "b", "c", "zz", None]), max_size=4, unique=True)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Runs of odd names, several repeats, and failed searches, in any order of probes."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique_by=lambda n: n.casefold()))
    repeats = draw(st.integers(1, 3))
    records = [Record(one, f"text {one}") for one in "abc"]
    expected: Any = [
        draw(st.sampled_from([[], ["a"], ["a", "b"], [["a", "c"], "b"]])) for _ in names
    ]
    probes = [Probe(n, "q", records, e) for n, e in zip(names, expected, strict=True)]
    hits, calls = [], []
    for name in names:
        for repeat in range(repeats):
            status = draw(st.sampled_from(["ok", "ok", "ok", "failed"]))
            calls.append({"probe": name, "repeat": repeat, "k": 2, "status": status})
            for rank, one in enumerate(draw(ANSWERS) if status == "ok" else [], 1):
                hits.append({"probe": name, "repeat": repeat, "rank": rank, "record_id": one})
    frame = pd.DataFrame(hits, columns=["probe", "repeat", "rank", "record_id"])
    whole = Suite.of(probes)
    return replace(
        one_run(),
        hits=conform(frame, HITS),
        calls=conform(pd.DataFrame(calls), CALLS),
        qrels=whole.qrels(),
        suite=whole,
        allow_errors=99,
    )


@cache
def one_run() -> Run:
    return run([positive(1)], SqliteStore)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(runs())
def test_outcomes_are_the_same_by_every_way(made: Run) -> None:
    live = outcomes_of(made)
    with tempfile.TemporaryDirectory() as folder:
        same(live, read_outcomes(write_results(made, Path(folder) / "results.json")))
        if live.probes["status"].eq("ok").any():
            path = accept(made, Path(folder) / "baseline.json", reason="a law")
            same(live, read_outcomes(path))
            again = read_outcomes(Path(folder) / "results.json")
            other = accept(again, Path(folder) / "other.json", reason="a law")
            assert other.read_bytes() == path.read_bytes()
    assert list(live.probes["probe"]) == sorted(probe.name for probe in made.suite)
    assert json.loads(json.dumps(results_payload(made), allow_nan=False))
