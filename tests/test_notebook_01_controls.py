from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from math import comb, fsum
from typing import Any

import pytest

from memeval.loading import load
from memeval.probe import Probe
from memeval.record import Delete, Hit, Receipt, Record
from memeval.runner import run as run_once
from memeval.stores.sqlite import SqliteStore
from tests.notebooks_shared import (
    KEEP_TABLES,
    ROOT,
    asked,
    check_outputs,
    expected_groups,
    kept_run,
    luck,
    most_by_luck,
    mrr,
    ndcgs,
    recall,
)

KEEP = f"""told_runs = {{**controls.runs, "real": controls.real}}
{KEEP_TABLES}"""
KEEP += """
figures = {
    "null_recall": controls["null_recall"],
    "random_recall": controls["random_recall"],
    "random_bound": float(rules.at[("random", "recall_all"), "bound"]),
    "ordered": bool(ordered),
    "shuffled_mrr": controls["shuffled_mrr"],
    "real_mrr": controls.real.mrr,
    "real_recall": controls.real.recall_at_k,
    "valid": controls["valid"],
    "probes": len(suite),
    "split": split["probes"].to_dict(),
    "blind": blind["value"].to_dict(),
    "blind_reasons": blind["reason"].to_dict(),
    "must_killed": bool(mutation.must_killed),
    "saboteurs": [kind.name for kind in faults if kind.must_kill],
}
kills = {
    name: [list(pair) for pair in made.kills[["saboteur", "probe"]].itertuples(index=False)]
    for name, made in {"mutation": mutation, "dozen": dozen}.items()
}
depths = mutation.saboteurs.set_index("saboteur")["depth"].to_dict()
survivors = {name: dozen.skeletons[name] for name in dozen.survivors["saboteur"]}
attempts = pairs[["asked", "other", "n_probes", "n_leaked"]].to_dict("records")
kept = {"tables": tables, "figures": figures, "kills": kills, "depths": depths}
kept |= {"survivors": survivors, "attempts": attempts}
Path(KEPT).write_text(json.dumps(kept))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return kept_run("01_control_validation", KEEP, tmp_path_factory.mktemp("notebook"))


@pytest.fixture
def kept(ran):
    return ran[1]


def test_it_runs_without_a_word_of_complaint(ran):
    check_outputs(ran[0], n_images=3)


def test_recall_and_rank_are_those_of_a_slow_second_definition(kept):
    figures = kept["figures"]
    assert figures["null_recall"] == recall(kept, "null") == 0.0
    assert figures["random_recall"] == pytest.approx(recall(kept, "random"))
    assert figures["real_recall"] == pytest.approx(recall(kept, "real"))
    assert recall(kept, "shuffled") == pytest.approx(recall(kept, "real"))
    assert figures["real_mrr"] == pytest.approx(mrr(kept, "real"))
    assert figures["shuffled_mrr"] == pytest.approx(mrr(kept, "shuffled"))
    assert mrr(kept, "shuffled") < mrr(kept, "real")
    assert recall(kept, "oracle") == 1.0
    assert figures["valid"] is True and figures["ordered"] is True


def test_the_bound_of_the_random_store_is_the_exact_law_of_luck(kept):
    chances = [luck(k, n, wanted) for k, n, wanted, _ in asked(kept, "random")]
    assert kept["figures"]["random_bound"] == pytest.approx(most_by_luck(chances, 0.001))
    assert recall(kept, "random") <= most_by_luck(chances, 0.001)


def test_the_split_counts_every_probe_once(kept):
    n = kept["figures"]["probes"]
    positive = len(expected_groups(kept, "real"))
    assert kept["figures"]["split"] == {"positive": positive, "negative": n - positive}


def test_stores_that_do_not_read_score_below_by_a_second_ndcg_and_sign_test(kept):
    real = ndcgs(kept, "real")
    for store in ("newest", "constant"):
        blind = ndcgs(kept, store)
        assert kept["figures"]["blind"][store] == pytest.approx(sum(blind) / len(blind))
        above = sum(a > b for a, b in zip(real, blind, strict=True))
        below = sum(a < b for a, b in zip(real, blind, strict=True))
        said = f"above it on {above} probes, below on {below} "
        assert said in kept["figures"]["blind_reasons"][store]
        n = above + below
        most = fsum(comb(n, wins) for wins in range(above, n + 1)) / 2**n
        assert most < 0.01


class FindsNothing(SqliteStore):
    """Its answer is always empty."""

    def search(self, query: str, **view: Any) -> list[Hit]:
        return []


class KeepsDeleted(SqliteStore):
    """Says that it deletes, and does not."""

    def delete(self, store_id: str, *, scope: str | None = None) -> bool:
        return True


class OneScope(SqliteStore):
    """Writes all records into one scope, and asks that."""

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        return super().put_many([replace(record, scope="all") for record in records])

    def delete(self, store_id: str, *, scope: str | None = None) -> bool:
        return super().delete(store_id)

    def search(self, query: str, *, scope: str, **view: Any) -> list[Hit]:
        return super().search(query, scope="all", **view)


BY_HAND = {"null": FindsNothing, "ignores_delete": KeepsDeleted, "scope_blind": OneScope}


@pytest.mark.parametrize("name", BY_HAND)
def test_what_kills_a_saboteur_is_what_fails_on_a_store_broken_by_hand(kept, name):
    suite = load(ROOT / "probes")
    for chosen, few in {"mutation": suite[::4], "dozen": suite[:12]}.items():
        sound, broken = (
            run_once(few, kind, check_store=False) for kind in (SqliteStore, BY_HAND[name])
        )
        assert sound.leaks == 0
        both = sound.results.merge(broken.results, on="probe", suffixes=("", "_broken"))
        lost = both["passed"].astype(bool) & ~both["passed_broken"].astype(bool)
        expected = set(both.loc[lost | both["n_leaked_broken"].gt(0), "probe"])
        found = {probe for saboteur, probe in kept["kills"][chosen] if saboteur == name}
        assert found == expected
        if chosen == "mutation":
            assert kept["depths"][name] == len(expected) > 0


def test_survivors_are_those_that_no_probe_kills_and_each_has_a_skeleton(kept):
    killed = {saboteur for saboteur, _ in kept["kills"]["dozen"]}
    assert set(kept["survivors"]) == set(kept["depths"]) - killed
    dozen = load(ROOT / "probes")[:12]
    # Of a dozen probes that all expect something and in which nothing is deleted:
    assert all(probe.is_positive for probe in dozen)
    assert not any(isinstance(op, Delete) for probe in dozen for op in probe.given)
    assert {"ignores_delete", "always_answers"} <= set(kept["survivors"])
    assert all(text.count("- name: ") == 1 for text in kept["survivors"].values())
    assert kept["figures"]["must_killed"] is True
    assert all(kept["depths"][name] > 0 for name in kept["figures"]["saboteurs"])


def other_scopes(probe: Probe) -> set[str]:
    """Scopes of records that a probe tells of, that live, and that it may not read."""
    live: dict[str, str] = {}
    for op in probe.given:
        if isinstance(op, Record):
            live[op.id] = op.scope
        elif isinstance(op, Delete):
            live.pop(op.id, None)
    return set(live.values()) - {probe.scope, *probe.reads}


def test_scopes_were_asked_beside_those_that_the_probes_tell_of(kept):
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for probe in load(ROOT / "probes"):
        for other in other_scopes(probe):
            counts[probe.scope, other] += 1
    told = {
        (row["asked"], row["other"]): row["n_probes"]
        for row in kept["attempts"]
        if not row["other"].startswith("haystack: ")
    }
    assert told == counts
    assert sum(row["n_leaked"] for row in kept["attempts"]) == 0
