from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from memeval.loading import load
from memeval.record import Record
from tests.notebooks_shared import ROOT, check_outputs, expected_groups, kept_run, outputs, rows

STEM = "04_failure_drilldown"
VIEW = "application/vnd.jupyter.widget-view+json"
PICKED = "buried-in-the-minutes"
KEEP = """
import json
from pathlib import Path

columns = ["probe", "cohort", "session", "n_records", "rank", "passed"]
kept = {
    "tables": {
        "run": {
            "hits": run.hits.to_json(orient="records"),
            "calls": run.calls.to_json(orient="records"),
            "qrels": run.qrels.to_json(orient="records"),
        }
    },
    "scores": run.hits["score"].tolist(),
    "causes": causes.set_index("probe")["cause"].to_dict(),
    "deeper": json.loads(causes.set_index("probe")["rank_found"].to_json()),
    "settings": {name: asdict(one) for name, one in settings.items()},
    "changed": list(changed),
    "followed": [one.name for one in followed],
    "drift": grown.drift_probes[columns].to_json(orient="values"),
    "fate": fate[["cohort", "n_records", "rank", "passed"]].to_json(orient="values"),
    "words": {line.cohort: line.words for line in track},
    "lost": grown.lost[["probe", "cohort", "n_records"]].to_numpy().tolist(),
    "answer": answer[["rank", "record", "text"]].to_numpy().tolist(),
    "yaml": view.detail.yaml,
    "new": str(new.resolve()),
    "accepted": accepted,
    "again": again.results[["probe", "passed"]].to_numpy().tolist(),
}
Path(KEPT).write_text(json.dumps(kept))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    notebook, kept = kept_run(STEM, KEEP, tmp_path_factory.mktemp("notebook"))
    yield notebook, kept
    Path(kept["new"]).unlink()
    Path(kept["new"]).parent.rmdir()


@pytest.fixture
def kept(ran):
    return ran[1]


@pytest.fixture(scope="module")
def explored(ran) -> dict[str, Any]:
    """What the drilldown shows of itself, by the kind of the output."""
    (found,) = (o.data for o in outputs(ran[0]) if VIEW in o.get("data", {}))
    return dict(found)


def test_it_runs_without_a_word_of_complaint(ran):
    notebook = ran[0].copy()
    notebook.metadata = {k: v for k, v in ran[0].metadata.items() if k != "widgets"}
    assert "widgets" in ran[0].metadata
    check_outputs(notebook, n_images=1)


def test_the_live_view_stands_beside_a_page_that_needs_no_kernel(explored, kept):
    html = explored["text/html"]
    assert all(name in html for name in kept["causes"])
    assert html.count("<details") > len(kept["causes"])
    assert not any(tag in html for tag in ("<script", "<select", "<input", "<button"))
    assert f"Explorer of {len(load(ROOT / 'probes'))} probes" in explored["text/plain"]


class Answers:
    """The recorded answers, judged again by hand at another cutoff or score floor."""

    def __init__(self, kept: Any) -> None:
        hits = zip(rows(kept, "run", "hits"), kept["scores"], strict=True)
        self.hits = [(hit["probe"], hit["rank"], hit["record_id"], score) for hit, score in hits]
        self.groups = expected_groups(kept, "run")
        self.calls = {call["probe"]: call["k"] for call in rows(kept, "run", "calls")}
        labels = [(q["probe"], q["record_id"], q["label"]) for q in rows(kept, "run", "qrels")]
        self.forbidden = {(probe, record) for probe, record, what in labels if what == "forbidden"}
        self.stale = {(probe, record) for probe, record, what in labels if what == "stale"}

    def top(self, probe: str, k: int | None = None, floor: float = float("-inf")) -> list[str]:
        own = sorted(hit[1:] for hit in self.hits if hit[0] == probe and hit[3] >= floor)
        return [record for _, record, _ in own][: k or self.calls[probe]]

    def passed(self, **at: Any) -> set[str]:
        found = set()
        for probe in self.calls:
            top = self.top(probe, **at)
            groups = self.groups.get(probe)
            if groups and all(group & set(top) for group in groups.values()):
                found.add(probe)
            elif not groups and not top:
                found.add(probe)
        return found


@pytest.fixture(scope="module")
def answers(ran):
    return Answers(ran[1])


AT = {f"k = {k}": {"k": k} for k in (1, 2, 3, 5)}
AT |= {f"floor {floor}": {"floor": floor} for floor in (3, 4, 5, 7)}


@pytest.mark.parametrize("name", ["as asked", *AT])
def test_each_setting_is_what_the_recorded_answers_come_to(kept, answers, name):
    assert kept["settings"].keys() == {"as asked", *AT}
    assert not {hit[::2][:2] for hit in answers.hits} & answers.forbidden  # so nothing leaks
    before, now = answers.passed(), answers.passed(**AT.get(name, {}))
    said = kept["settings"][name]
    positive = set(answers.groups)
    negative = set(answers.calls) - positive
    assert said["n_passed"] == len(now) and said["leaks"] == 0
    assert (said["gained"], said["lost"]) == (len(now - before), len(before - now))
    assert said["recall_all"] == pytest.approx(len(now & positive) / len(positive))
    assert said["abstention"] == pytest.approx(len(now & negative) / len(negative))
    if name == "k = 1":
        assert set(kept["changed"]) == now ^ before


def test_every_failing_probe_has_a_cause_that_its_answer_bears_out(kept, answers):
    assert set(kept["causes"]) == set(answers.calls) - answers.passed()
    negative = {name for name in kept["causes"] if name not in answers.groups}
    said = {name for name, cause in kept["causes"].items() if cause == "did_not_abstain"}
    assert said == negative and said
    for name, cause in kept["causes"].items():
        if cause == "stale_won":  # an outdated record came back
            assert any((name, record) in answers.stale for record in answers.top(name))
        if cause in ("cut", "outranked"):  # of what else was asked, only a longer answer has it
            rank = kept["deeper"][name]
            assert rank is None if cause == "cut" else rank > answers.calls[name]


def test_the_answer_of_the_picked_probe_is_what_came_back(kept, answers):
    assert [record for _, record, _ in kept["answer"]] == answers.top(PICKED)
    (copied,) = yaml.safe_load(kept["yaml"])
    (own,) = (probe for probe in load(ROOT / "probes") if probe.name == PICKED)
    assert (copied["name"], copied["query"], copied["expect"]) == (own.name, own.query, ["r6"])
    assert [r["text"] for r in copied["given"]] == [r.text for r in own.given]


def test_those_that_failed_are_followed_as_the_store_grows(kept, answers):
    positive = set(answers.groups)
    assert set(kept["causes"]) & positive <= set(kept["followed"]) <= positive
    drift = yaml.safe_load(kept["drift"])
    own = sorted([c, n, rank, ok] for probe, c, _, n, rank, ok in drift if probe == PICKED)
    cohorts = {cohort for cohort, *_ in yaml.safe_load(kept["fate"])}
    assert sorted(yaml.safe_load(kept["fate"])) == [row for row in own if row[0] in cohorts]
    # A rank where it passed, none where it did not; passes no more from the first that is so.
    (first, *_) = sorted(cohorts)
    line = [row for row in own if row[0] == first]
    assert all((rank is not None) == ok for _, _, rank, ok in line)
    gone = next(n for at, (_, n, *_) in enumerate(line) if not any(row[3] for row in line[at:]))
    assert f"passes no more from {gone} records on" in kept["words"][str(first)]
    assert [PICKED, first, gone] in kept["lost"]


def test_the_new_probe_holds_the_history_and_what_the_haystack_had_in_the_answer(kept):
    written = yaml.safe_load(Path(kept["new"]).read_text(encoding="utf-8"))
    assert kept["accepted"] == [PICKED]
    (probe,) = written
    (own,) = (one for one in load(ROOT / "probes") if one.name == PICKED)
    told = {op.id: op.text for op in own.given if isinstance(op, Record)}
    between = [text for _, record, text in kept["answer"] if record not in told]
    assert between
    assert [record["text"] for record in probe["given"]] == [*between, *told.values()]
    assert probe["query"] == own.query and probe["expect"] == ["r6"]
    assert kept["again"] == [[probe["name"], False]]
    assert probe["name"] != PICKED
