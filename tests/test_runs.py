from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from memeval.controls import run_controls
from memeval.diagnosis import diagnose
from memeval.errors import MemevalError, RunFileError
from memeval.files.resultsfile import results_payload, write_results
from memeval.files.runfiles import load_run, save_run
from memeval.probe import Probe
from memeval.record import Advance, Delete, Hit, Record
from memeval.runner import run
from memeval.runs import Run
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite
from tests.suites import positive, suite


@pytest.fixture(scope="module")
def made() -> Run:
    return run_controls(suite(), SqliteStore).real


class Forgetful(SqliteStore):
    """Finds nothing that person 1 keeps, and leaks what bo has."""

    def search(self, query: str, *, scope: str, **options: Any) -> list[Hit]:
        if "person1 " in query:
            return []
        found = super().search(query, scope=scope, **options)
        return found + super().search(query, scope="bo", **options) if scope == "ana" else found


@pytest.fixture(scope="module")
def failed() -> Run:
    return run(suite(), Forgetful)


def tables(of: Run) -> dict[str, pd.DataFrame]:
    return {"hits": of.hits, "calls": of.calls, "qrels": of.qrels}


def test_a_saved_run_comes_back_equal(made: Run, tmp_path: Path) -> None:
    back = load_run(save_run(made, tmp_path / "run.json"))
    for name, frame in tables(made).items():
        pd.testing.assert_frame_equal(tables(back)[name], frame)
    assert made.controls is not None and back.controls is not None
    pd.testing.assert_frame_equal(back.controls, made.controls)
    pd.testing.assert_frame_equal(back.results, made.results)
    pd.testing.assert_frame_equal(back.summary, made.summary)
    assert back.suite == made.suite
    assert back.manifest == made.manifest
    assert (back.validity, back.verdict) == (made.validity, made.verdict)


def test_saving_twice_gives_the_same_bytes(made: Run, tmp_path: Path) -> None:
    first = save_run(made, tmp_path / "a.json").read_bytes()
    again = save_run(load_run(tmp_path / "a.json"), tmp_path / "b.json").read_bytes()
    assert first == again


def test_every_kind_of_operation_and_time_survives_a_save(tmp_path: Path) -> None:
    at = datetime(2026, 3, 1, 9, tzinfo=UTC)
    given = [
        Record("r1", "tea", at=at, unit="tea", meta={"type": "note", "tags": ["a"]}),
        Record("r2", "tea now", at=at, supersedes=("r1",), expires=at + timedelta(days=90)),
        Record("r3", "tea elsewhere", "bo"),
        Record("r4", "tea gone"),
        Record("r5", "tea now, said again"),
        Delete("r4"),
        Advance(timedelta(hours=36)),
    ]
    probe = Probe(
        "p", "tea", given, [["r2", "r5"]], ["r3"], now=at + timedelta(days=2), canary=["gone"],
        filter={}, near=["coffee now"], tags=["update"], must=True, why="seen in the field",
    )  # fmt: skip
    made = run([probe], SqliteStore)
    back = load_run(save_run(made, tmp_path / "run.json"))
    assert back.suite == made.suite
    assert back.suite[0].content_hash == probe.content_hash


def test_without_texts_the_file_holds_none_and_the_hashes_stay(made: Run, tmp_path: Path) -> None:
    path = save_run(made, tmp_path / "run.json", texts=False)
    assert "keeps item" not in path.read_text().replace("keep item", "")
    assert "noodle" not in path.read_text()
    back = load_run(path)
    assert (
        back.suite.content_hash != "" and back.suite[0].content_hash == made.suite[0].content_hash
    )
    assert back.recall_at_k == made.recall_at_k
    assert back.leaks == made.leaks


def test_numbers_that_json_does_not_have_become_null_with_a_note(tmp_path: Path) -> None:
    class Odd(SqliteStore):
        def search(self, query: str, **options: Any) -> list[Hit]:
            found = super().search(query, **options)
            return [Hit(h.id, h.text, s) for h, s in zip(found, (math.inf, math.nan), strict=False)]

    made = run([positive(1)], Odd)
    path = save_run(made, tmp_path / "run.json")

    def refuse(name: str) -> float:
        raise AssertionError(name)

    json.loads(path.read_text(), parse_constant=refuse)
    assert "1 scores are infinite and saved as null" in load_run(path).manifest.notes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("[1, 2", "is not JSON"),
        ("[]", r"holds \[\], wanted a run file"),
        ('{"probes": 3, "recall_at_5": 0.8}', "the results file holds too little"),
        ('{"format": "memeval run", "version": 99}', "has version 99, wanted 1"),
        ('{"format": "memeval run", "version": 1}', "the run file is damaged"),
    ],
)
def test_a_file_that_is_no_run_is_refused_with_what_to_do(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(RunFileError, match=said):
        load_run(tmp_path / "x.json")


def test_a_run_file_with_a_byte_order_mark_is_read(made: Run, tmp_path: Path) -> None:
    path = save_run(made, tmp_path / "run.json")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_run(path).recall_at_k == made.recall_at_k


def test_a_missing_run_file_says_where_runs_are_kept(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match=r"\.memeval/runs"):
        load_run(tmp_path / "none.json")


def test_a_file_that_cannot_be_written_leaves_the_old_one(made: Run, tmp_path: Path) -> None:
    with pytest.raises(MemevalError, match="cannot write"):
        write_results(made, tmp_path / "no-folder" / "eval-results.json")
    assert list(tmp_path.iterdir()) == []


def test_the_results_file_has_the_fields_of_the_specification(made: Run, tmp_path: Path) -> None:
    text = write_results(made, tmp_path / "eval-results.json").read_text()
    read = json.loads(text)
    wanted = {
        "commit", "at", "probes", "recall_at_5", "mrr", "distinct_at_5", "staleness", "leaks",
        "p95_ms", "per_probe",
    }  # fmt: skip
    assert wanted <= read.keys()
    assert (read["probes"], read["recall_at_5"], read["leaks"]) == (30, 1.0, 0)
    assert list(read["per_probe"]) == sorted(read["per_probe"])
    entry = read["per_probe"]["positive-03"]
    assert (entry["hit"], entry["rank"], entry["leaked"], entry["status"]) == (True, 1, [], "ok")
    assert (entry["passes"], entry["n_expected"], entry["ids"][0]) == ("1/1", 1, "r3")
    assert (entry["recall_fraction"], entry["ndcg"]) == (1.0, 1.0)
    assert entry["hash"] == made.suite[3].content_hash
    one_line_each = [line for line in text.splitlines() if '"status"' in line]
    assert len(one_line_each) == 30


def test_the_results_file_says_mixed_where_k_differs() -> None:
    payload = results_payload(run([positive(1), positive(2, k=3)], SqliteStore))
    assert payload["k"] == "mixed"
    assert "recall_at_5" not in payload
    assert payload["recall_at_k"] == 1.0


def test_undefined_numbers_are_null_in_the_results_file() -> None:
    payload = results_payload(run([positive(1)], SqliteStore))
    assert payload["negative_correct"] is None


def test_the_results_file_names_leaks_and_misses(failed: Run) -> None:
    payload = results_payload(failed)
    assert payload["verdict"] == "FAIL"
    assert payload["leaks"] == 5
    assert payload["per_probe"]["leakable-02"]["leaked"] == ["b"]
    missed = payload["per_probe"]["positive-01"]
    assert (missed["hit"], missed["rank"], missed["leaked"]) == (False, None, [])
    assert (missed["passes"], missed["recall_fraction"], missed["ids"]) == ("0/1", 0.0, [])
    assert "n_leaked" not in payload["per_probe"]["leakable-02"]  # as many as are listed


def test_a_leak_decides_before_everything_else(failed: Run) -> None:
    verdict = failed.verdict
    assert (verdict.word, verdict.exit_code) == ("FAIL", 1)
    names = ", ".join(f"leakable-0{n}" for n in range(5))
    assert verdict.reason == f"5 leaked records in 5 probes: {names}"


def test_failing_probes_come_worst_first(failed: Run) -> None:
    assert list(failed.failing["probe"]) == [
        *(f"leakable-0{n}" for n in range(5)),
        "positive-01",
    ]


def test_an_invalid_suite_shows_no_number_anywhere_it_is_printed(tmp_path: Path) -> None:
    made = run(Suite((positive(1),)), SqliteStore)
    assert made.validity.status == "invalid"
    for text in (repr(made), made._repr_html_(), json.dumps(results_payload(made))):
        assert "recall_all" not in text
        assert "recall_at" not in text
        assert "luck alone" in text
    assert made.results["recall_all"].all()  # whoever asks for it by name gets it


def test_floors_gate_and_targets_do_not() -> None:
    class Worse(Forgetful):
        def search(self, query: str, *, scope: str, **options: Any) -> list[Hit]:
            found = super().search(query, scope=scope, **options)
            return [hit for hit in found if hit.id != "b"]

    kept = run(suite(), Worse, floors={"recall_all": 0.9})
    assert kept.recall_at_k == 24 / 25  # one of the 25 positive probes is missed
    assert kept.verdict.word == "PASS"
    broken = run(suite(), Worse, floors={"recall_all": 0.97})
    assert broken.verdict.reason == "recall_all is 0.960, its floor is 0.97"
    assert run(suite(), Worse, targets={"recall_all": 0.99}).verdict.word == "PASS"


def test_errors_fail_a_run_unless_so_many_are_allowed() -> None:
    class Raising(SqliteStore):
        def search(self, query: str, **options: Any) -> list[Hit]:
            if "person1 " in query:
                raise ConnectionError("refused")
            return super().search(query, **options)

    made = run(suite(), Raising)
    assert made.verdict.reason == "1 search failed, 0 allowed"
    assert made.recall_at_k == 24 / 25
    assert run(suite(), Raising, allow_errors=1).verdict.word == "PASS"


def test_a_run_in_which_everything_failed_never_passes() -> None:
    class Down(SqliteStore):
        def search(self, query: str, **options: Any) -> list[Hit]:
            raise ConnectionError("refused")

    made = run([positive(1)], Down, check_store=False, allow_errors=9)
    assert (
        made.verdict.reason
        == "no probe was answered: all failed, were skipped, or are not supported"
    )
    assert made.passed is False


def test_a_metric_that_is_not_there_says_which_are(made: Run) -> None:
    with pytest.raises(KeyError, match="recall_all, recall_any"):
        made.value("recall")


def test_scoring_a_loaded_run_needs_no_store(made: Run, tmp_path: Path) -> None:
    path = save_run(made, tmp_path / "run.json")
    code = (
        "import sys; from memeval.files.runfiles import load_run; run = load_run(sys.argv[1]);"
        "run.summary; loaded = [n for n in sys.modules if n.startswith('memeval.stores')];"
        "sys.exit(', '.join(loaded) if loaded else 0)"
    )
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_latency_is_the_search_alone_in_milliseconds(made: Run) -> None:
    latency = made.results["latency_ms"].to_numpy()
    assert np.isfinite(latency).all()
    assert (latency > 0).all()
    assert (latency < 10_000).all()


def test_causes_are_saved_with_the_run_and_leave_no_text_without_texts(
    failed: Run, tmp_path: Path
) -> None:
    causes = diagnose(failed, Forgetful).causes
    diagnosed = failed.diagnosed(causes)
    assert diagnosed.verdict == failed.verdict
    back = load_run(save_run(diagnosed, tmp_path / "run.json")).causes
    assert back is not None
    pd.testing.assert_frame_equal(back, causes)
    path = save_run(diagnosed, tmp_path / "bare.json", texts=False)
    assert "falafel" not in path.read_text()
    bare = load_run(path).causes
    assert bare is not None
    assert list(bare["cause"]) == list(causes["cause"])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("allow_errors",), "many"),
        (("targets",), {"mrr": None}),
        (("floors",), ["mrr"]),
        (("manifest", "created_at"), [None]),
        (("manifest", "k"), True),
        (("validity", "status"), "fine"),
        (("validity", "reasons"), [1]),
        (("tables", "hits", "probe", 0), "nobody"),
        (("tables", "calls", "repeat", 0), -1),
        (("tables", "qrels", "record_id", 0), None),
        (("suite", "probes"), []),
        (("suite", "haystack_name"), 3),
    ],
)
def test_a_run_file_with_a_value_that_does_not_fit_is_damaged_and_said_so_at_once(
    path: tuple[Any, ...], value: Any, made: Run, tmp_path: Path
) -> None:
    payload = json.loads(save_run(made, tmp_path / "run.json").read_text())
    place = payload
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    (tmp_path / "run.json").write_text(json.dumps(payload))
    with pytest.raises(RunFileError, match="the run file is damaged"):
        load_run(tmp_path / "run.json")


def test_half_characters_in_a_run_file_are_replaced(made: Run, tmp_path: Path) -> None:
    payload = json.loads(save_run(made, tmp_path / "run.json").read_text())
    payload["suite"]["haystack"][0]["text"] = "half \ud800"
    (tmp_path / "run.json").write_text(json.dumps(payload))
    back = load_run(tmp_path / "run.json")
    assert back.suite.haystack is not None
    assert back.suite.haystack[0].text == "half \ufffd"
    save_run(back, tmp_path / "again.json")


def test_the_results_file_names_no_place_time_or_secret_of_the_store(tmp_path: Path) -> None:
    class Telling(SqliteStore):
        def info(self) -> dict[str, Any]:
            return {
                "name": "telling",
                "embedder_id": "small-v2",
                "settings": {
                    "dimension": 8,
                    "dbPath": "/srv/db",
                    "mirror": "https://u:p@h.example",
                },
                "api_key": "sk-1",
                "files": ["/srv/a", "plain"],
            }

    made = run([positive(1)], Telling)
    told = results_payload(made)["manifest"]
    assert told["store_info"] == {
        "name": "telling",
        "embedder_id": "small-v2",
        "settings": {"dimension": 8},
        "files": ["plain"],
    }
    assert "created_at" not in told
    assert not {"platform", "cpus", "commit"} & told["environment"].keys()


def test_a_leaking_answer_without_any_id_leaves_no_text_in_the_results_file() -> None:
    class Nameless(SqliteStore):
        def search(self, query: str, **options: Any) -> list[Hit]:
            return [Hit(None, "the code word is swordfish")]

    probe = Probe("p", "tea", [Record("a", "tea")], ["a"], canary=["swordfish"])
    payload = results_payload(run([probe], Nameless, check_store=False, allow_nonempty=True))
    assert payload["per_probe"]["p"]["leaked"] == ["?"]
    assert payload["per_probe"]["p"]["ids"] == ["?"]
    assert "the code word" not in json.dumps(payload)
