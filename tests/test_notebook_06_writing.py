from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest
import yaml

from memeval.loading import load
from memeval.record import Hit, Receipt, Record
from memeval.resources import notebooks_folder, probes_folder
from memeval.runner import run as run_once
from memeval.stores.sqlite import SqliteStore
from tests.notebooks_shared import ROOT, check_outputs, code_cells, kept_run

STEM = "06_writing_probes"
KEEP = """
import json
from pathlib import Path

kept = {
    "folder": str(folder.resolve()),
    "chat": chat,
    "found": found[["query", "context"]].to_numpy().tolist(),
    "decided": decided,
    "left_out": left_out["query"].tolist(),
    "was": was.hits[["rank", "record_id"]].to_numpy().tolist(),
    "refused": refused["found"].tolist(),
    "kills": mutation.kills[["saboteur", "probe"]].to_numpy().tolist(),
    "tried": mutation.saboteurs["saboteur"].tolist(),
    "only": only[["saboteur", "probe"]].to_numpy().tolist(),
    "survivors": survivors["saboteur"].tolist(),
    "again": again.saboteurs.set_index("saboteur")["killed"].to_dict(),
    "stand": stand.to_numpy().tolist(),
    "near": near,
    "passed": run.results.set_index("probe")["passed"].to_dict(),
    "above": pair.hits[["probe", "rank", "text"]].to_numpy().tolist(),
    "weak": weak["found"].tolist(),
}
Path(KEPT).write_text(json.dumps(kept))
"""


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.yaml")}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    before = hashes(probes_folder())
    notebook, kept = kept_run(STEM, KEEP, tmp_path_factory.mktemp("notebook"))
    assert hashes(probes_folder()) == before
    yield notebook, kept
    for path in Path(kept["folder"]).iterdir():
        path.unlink()
    Path(kept["folder"]).rmdir()


@pytest.fixture
def kept(ran):
    return ran[1]


@pytest.fixture
def written(kept) -> list[dict[str, Any]]:
    """What stands in the new file, read by nothing of memeval."""
    return yaml.safe_load((Path(kept["folder"]) / "new.yaml").read_text(encoding="utf-8"))


def test_it_runs_without_a_word_of_complaint(ran):
    check_outputs(ran[0], n_images=1)


def test_nothing_is_written_that_nobody_decided(kept, written):
    names = [entry["name"] for entry in written]
    decided = {entry["name"] for entry in kept["decided"].values()}
    by_hand = {"stand-up-moved", "course-cancelled", "locker-number-among-locks"}
    assert sorted(names) == sorted(decided | by_hand)
    assert kept["left_out"] == ["Is Thursday a good day for the cinema?"]
    assert not {entry["query"] for entry in written} & set(kept["left_out"])
    assert sorted(path.name for path in Path(kept["folder"]).iterdir()) == [
        "chat.jsonl",
        "new.yaml",
    ]


def test_each_probe_says_what_the_person_decided_of_what_the_chat_holds(kept, written):
    said = {text: place for place, (_, text) in enumerate(kept["chat"])}
    by_name = {entry["name"]: entry for entry in written}
    for query, decision in kept["decided"].items():
        probe = by_name[decision["name"]]
        assert probe["query"] == query and kept["chat"][said[query]][0] == "user"
        assert {key: probe.get(key, []) for key in decision} == decision
        if "given" not in decision:  # the lines of the chat, each from before it was asked
            texts = [record["text"] for record in probe["given"]]
            assert texts and all(said[text] < said[query] for text in texts)


def test_proposed_are_questions_of_the_user_that_refer_back(kept):
    questions = [text for role, text in kept["chat"] if role == "user" and text.endswith("?")]
    limerick = "Could you write a limerick about rain?"
    assert [query for query, _ in kept["found"]] == [q for q in questions if q != limerick]


def test_the_first_probe_fails_on_a_store_that_does_not_act_on_supersedes(kept):
    # r1 is forbidden, and stands in the answer of that store.
    assert "r1" in [record for _, record in kept["was"]]
    assert kept["passed"]["stand-up-moved"] is True
    assert len(kept["refused"]) == 2
    assert "r9" in kept["refused"][0] and "'tag'" in kept["refused"][1]


def test_lint_counts_what_the_new_probes_lack(kept, written):
    first = [e for e in written if e["name"] in {"stand-up-moved"} | names_decided(kept)]
    positive = sum(bool(entry["expect"]) for entry in first)
    assert f"{positive} positive probes, fewer than 20" in kept["weak"][0]
    negative = len(first) - positive
    assert kept["weak"][1].startswith(f"{negative} negative probe of {len(first)}")
    forbids = sum(bool(entry.get("forbid")) for entry in first)
    assert kept["weak"][2].startswith(f"only {forbids} probe with a forbid list")


def names_decided(kept: Any) -> set[str]:
    return {entry["name"] for entry in kept["decided"].values()}


class FindsNothing(SqliteStore):
    """Its answer is always empty."""

    def search(self, query: str, **view: Any) -> list[Hit]:
        return []


class ToldNothing(SqliteStore):
    """Is not told what replaces what."""

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        return super().put_many([replace(record, supersedes=()) for record in records])


class KeepsDeleted(SqliteStore):
    """Says that it deletes, and does not."""

    def delete(self, store_id: str, *, scope: str | None = None) -> bool:
        return True


BY_HAND = {"null": FindsNothing, "ignores_supersede": ToldNothing, "ignores_delete": KeepsDeleted}


@pytest.mark.parametrize("name", BY_HAND)
def test_what_kills_a_saboteur_is_what_fails_on_a_store_broken_by_hand(kept, name):
    new = load(probes_folder(), Path(kept["folder"]) / "new.yaml")
    asked = {"stand-up-moved"} | names_decided(kept)
    sound, broken = (
        run_once(new.select(names=[*asked, "course-cancelled"]), kind, check_store=False)
        for kind in (SqliteStore, BY_HAND[name])
    )
    both = sound.results.merge(broken.results, on="probe", suffixes=("", "_broken"))
    lost = both["passed"].astype(bool) & ~both["passed_broken"].astype(bool)
    expected = set(both.loc[lost | both["n_leaked_broken"].gt(0), "probe"])
    found = {probe for saboteur, probe in kept["kills"] if saboteur == name}
    assert found == expected & asked
    assert (name in kept["survivors"]) == (not found)
    if name == "ignores_delete":  # what was written next kills it
        assert expected == {"course-cancelled"} and kept["again"][name] is True


def test_survivors_are_those_without_a_kill_and_those_that_must_be_killed_stand_first(kept):
    killed = {saboteur for saboteur, _ in kept["kills"]}
    assert set(kept["survivors"]) <= set(kept["tried"]) - killed
    assert kept["survivors"][0] == "ignores_delete"
    depths = {name: [s for s, _ in kept["kills"]].count(name) for name in killed}
    assert {s for s, _ in kept["only"]} == {name for name, depth in depths.items() if depth == 1}
    assert ["ignores_supersede", "stand-up-moved"] in kept["only"]


def test_near_misses_stand_in_the_scope_and_twins_with_one_value_changed_beside_it(kept):
    right = "My locker at the pool is number 41, it is the green one."
    own = [text for scope, text in kept["stand"] if scope == "default"]
    assert set(kept["near"]) <= set(own) and right not in own
    twins = [(s, text) for s, text in kept["stand"] if text.startswith("My locker at the pool")]
    assert twins and all(scope != "default" for scope, _ in twins)
    for _, text in twins:
        pairs = list(zip(right.split(), text.split(), strict=True))
        assert [a for a, b in pairs if a != b] == ["41,"]
    tops = {probe: text for probe, rank, text in kept["above"] if rank == 1}
    assert tops["locker-number"] == right
    assert tops["locker-number-among-locks"] in kept["near"]


def test_of_another_log_nothing_is_taken_until_somebody_decides(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    log = tmp_path / "queries.jsonl"
    log.write_text(json.dumps({"query": "Who has the spare key?"}) + "\n", encoding="utf-8")
    notebook = nbformat.read(notebooks_folder() / f"{STEM}.ipynb", as_version=4)
    space: dict[str, Any] = {}
    shown = ["display.html.use_mathjax", False, "display.max_colwidth", None]
    with pd.option_context(*shown):
        for cell in code_cells(notebook):
            exec(cell.source, space)
            if "parameters" in cell.metadata.get("tags", []):
                space |= {"transcript": str(log), "folder": str(tmp_path / "drafts")}
            if "left_out = " in cell.source:
                break
    assert space["left_out"]["query"].tolist() == ["Who has the spare key?"]
    found = yaml.safe_load((tmp_path / "drafts" / "new.yaml").read_text(encoding="utf-8"))
    assert [entry["name"] for entry in found] == ["stand-up-moved"]
    assert [path.name for path in (tmp_path / "drafts").iterdir()] == ["new.yaml"]
