from __future__ import annotations

import math
from types import SimpleNamespace

import pandas as pd
import pytest
from matplotlib.figure import Figure

import memeval as me
from memeval.errors import FrameError, ProbeError, StoreError
from memeval.stores.sqlite import SqliteStore
from tests.odd_stores import Plain
from tests.suites import negative, suite


class Versioned(SqliteStore):
    def info(self):
        return super().info() | {"version": "7.1"}


class Scopeless(Plain):
    def search(self, query, *, k, scope):
        return self.found(query, k, None)


def absent():
    raise StoreError("tried to import chromadb, and it failed")


@pytest.fixture(scope="module")
def found():
    stores = {"good": Versioned, "leaks": Scopeless, "absent": absent}
    return me.survey({"small": suite()}, stores)


def test_each_row_is_what_a_run_and_its_controls_say(found):
    table = found.table.set_index("store")
    assert list(table.index) == ["good", "leaks", "absent"]
    controls = me.run_controls(suite(), Versioned)
    good = table.loc["good"]
    assert good["recall_all"] == controls.real.recall_at_k == 1.0
    assert (good["controls"], good["verdict"], good["version"]) == ("valid", "PASS", "7.1")
    assert good["low"] < good["high"] == 1.0 and good["n_probes"] == 30
    assert good["abstention"] == controls.real.value("abstention")
    assert good["latency_p95_ms"] > 0 and math.isnan(good["mutation_score"])
    leaks = me.run(suite(), Scopeless)
    assert table.loc["leaks", "leaks"] == leaks.leaks > 0
    assert table.loc["leaks", "verdict"] == leaks.verdict.word == "FAIL"
    assert set(found.runs) == {("small", "good"), ("small", "leaks")}


def test_a_store_that_cannot_be_had_is_told_and_the_others_are_asked(found):
    row = found.table.set_index("store").loc["absent"]
    assert row["verdict"] == "FAILED" and "chromadb" in row["reason"]
    assert row[["recall_all", "leaks", "controls"]].isna().all()
    assert "absent not asked: tried to import chromadb" in " ".join(repr(found).split())
    assert "1 of 3 runs passed" in repr(found)


def test_an_invalid_suite_has_no_number():
    nothing = me.Suite(tuple(negative(n) for n in range(6)), suite().haystack, "test")
    row = me.survey(nothing, {"good": Versioned}).table.iloc[0]
    assert (row["suite"], row["controls"], row["verdict"]) == ("suite", "invalid", "INVALID")
    assert row[["recall_all", "leaks", "staleness", "latency_p95_ms"]].isna().all()


def test_markdown_has_a_row_for_each_and_its_version(found):
    lines = found.markdown().splitlines()
    assert lines[0].startswith("| store | suite |") and len(lines) == 5
    assert lines[2].startswith("| good 7.1 | small | valid | PASS | 1.000 | 0 |")
    assert lines[4].startswith("| absent | small | n/a | FAILED | n/a | n/a |")


def test_known_faults_are_counted_where_asked_for(monkeypatch):
    asked, told = [], []

    def mutate(probes, store, *, seed):
        asked.append((probes, store, seed))
        return SimpleNamespace(score=0.75)

    monkeypatch.setattr("memeval.surveying.mutate", mutate)
    few = suite(2, 1, 1)
    found = me.survey(
        few, ["sqlite"], mutation=True, seed=3, progress=lambda *step: told.append(step)
    )
    assert asked == [(few, "sqlite", 3)] and told == [(1, 1, "suite, sqlite")]
    assert found.controls["suite", "sqlite"].validity.status == "weak"
    assert found.table["mutation_score"][0] == 0.75


def test_nothing_to_survey_is_refused():
    with pytest.raises(ProbeError, match="no store to survey"):
        me.survey(suite(), [])
    with pytest.raises(ProbeError, match="no suite to survey"):
        me.survey({}, ["sqlite"])


def test_the_table_keeps_its_schema(found):
    assert isinstance(found.table["leaks"].dtype, pd.Int64Dtype)
    assert me.frames.conform(found.table, me.frames.SURVEY).equals(found.table)


def test_the_drawing_holds_recall_abstention_and_words(found):
    ax = me.plots.plot_survey(found, Figure().subplots())
    drawn = {line.get_label(): [] for line in ax.lines}
    for line in ax.lines:
        drawn[line.get_label()].append((line.get_xdata()[0], line.get_ydata()[0]))
    table = found.table
    assert drawn["recall_all"][:2] == [(table["recall_all"][0], 0), (table["recall_all"][1], 1)]
    assert math.isnan(drawn["recall_all"][2][0])
    assert drawn["abstention"][0] == (table["abstention"][0], 0)
    words = [text.get_text() for text in ax.texts]
    assert words == ["PASS", f"FAIL, LEAKS: {table['leaks'][1]}", "not asked"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["good", "leaks", "absent"]
    with pytest.raises(FrameError, match="found int, wanted a Survey or its table"):
        me.plots.plot_survey(3)
