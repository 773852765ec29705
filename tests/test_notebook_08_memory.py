from __future__ import annotations

import json

import pytest
import yaml

import memeval as me
from tests.notebooks_shared import KEEP_TABLES, check_outputs, kept_run, mrr, recall, rows

KEEP = """
told_runs = {name: run for (title, name), run in found.runs.items() if title == "suite"}
"""
KEEP += KEEP_TABLES
KEEP += """
figures = {
    "here": here,
    "lacking": lacking,
    "survey": found.table.to_json(orient="records"),
    "checked": {name: one.verdict.word for name, one in checks.items()},
    "starred": starred.broken["question"].tolist(),
    "failing": {name: len(probes) for name, probes in failing.items()},
    "small": [small.yaml, worst, small.n_before, small.n_after],
    "spoken": spoken.results["status"].value_counts().to_dict(),
    "spoken_recall": spoken.recall_at_k,
}
Path(KEPT).write_text(json.dumps({"tables": tables, "figures": figures}, default=float))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return kept_run("08_any_memory", KEEP, tmp_path_factory.mktemp("notebook"))


@pytest.fixture
def kept(ran):
    return ran[1]


def test_it_runs_without_a_word_of_complaint(ran):
    check_outputs(ran[0], n_images=1)


def test_every_store_is_asked_or_said_to_be_lacking_with_the_line_that_installs_it(kept):
    here, lacking = kept["figures"]["here"], kept["figures"]["lacking"]
    assert set(here) >= {"sqlite", "vector", "hybrid"} and not set(here) & set(lacking)
    for name, reason in lacking.items():
        assert f"store {name!r}" in reason and "pip install" in reason


def test_the_survey_says_what_a_slow_second_definition_says(kept):
    table = {row["store"]: row for row in json.loads(kept["figures"]["survey"])}
    assert list(table) == kept["figures"]["here"]
    for name, row in table.items():
        assert row["controls"] in ("valid", "weak") and row["verdict"] in ("PASS", "FAIL")
        assert row["recall_all"] == pytest.approx(recall(kept, name))
        forbidden = {
            (one["probe"], one["record_id"])
            for one in rows(kept, name, "qrels")
            if one["label"] == "forbidden"
        }
        came = {(hit["probe"], hit["record_id"]) for hit in rows(kept, name, "hits")}
        assert row["leaks"] == len(came & forbidden)
    assert mrr(kept, "hybrid") > mrr(kept, "vector")


def test_the_store_with_a_wildcard_is_found_out_and_the_sound_ones_are_not(kept):
    assert kept["figures"]["starred"] == ["scopes"]
    assert all(kept["figures"]["checked"][name] == "PASS" for name in ("sqlite", "vector"))


def test_the_small_probe_fails_without_the_notebook_too(kept, tmp_path):
    text, store, before, after = kept["figures"]["small"]
    assert after < 10 < before and store == max(
        kept["figures"]["failing"], key=kept["figures"]["failing"].get
    )
    assert len(yaml.safe_load(text)["probes"][0]["given"]) == after
    (tmp_path / "small.yaml").write_text(text, encoding="utf-8")
    probes = list(me.load(tmp_path / "small.yaml"))
    assert me.run(probes, store).results["passed"].eq(False).all()


def test_the_program_answers_as_well_as_ten_lines_can(kept):
    spoken = kept["figures"]["spoken"]
    assert spoken.get("failed", 0) == spoken.get("timeout", 0) == 0 < spoken["not_supported"]
    assert 0.4 < kept["figures"]["spoken_recall"] < 1.0
