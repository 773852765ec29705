"""What the shipped suite sees of the embedded store with a fault: one long run, many questions."""

from __future__ import annotations

import pytest
from shipped_parts import shipped

from memeval.mutation import Mutation, mutate


@pytest.fixture(scope="module")
def mutation() -> Mutation:
    return mutate(shipped(), "sqlite", jobs=1)


@pytest.mark.slow
def test_every_known_fault_of_the_embedded_store_is_seen(mutation: Mutation) -> None:
    assert mutation.survivors.empty, mutation.survivors.to_string()
    assert (mutation.score, mutation.n_counted, mutation.must_killed) == (1.0, 42, True)
    assert mutation.kill_depth >= 0.9  # wanted: 0.75
    assert (mutation.verdict.word, mutation.verdict.exit_code) == ("PASS", 0)
    # Words alone are what a full-text index goes by: there that is no fault.
    unseen = mutation.saboteurs.set_index("saboteur")["killed"].isna()
    assert list(unseen.index[unseen]) == ["lexical_only"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "rare",
    ["loses_newest", "no_dedup", "id_case_folding", "over_merge", "delete_all_of_scope"]
    + ["ignores_supersede", "supersede_kills_both", "ignores_delete", "truncate_text"],
)
def test_a_rare_fault_is_seen_by_some_probes_and_not_by_all(mutation: Mutation, rare: str) -> None:
    depth = int(mutation.saboteurs.set_index("saboteur")["depth"][rare])
    assert 3 <= depth <= 15  # more: the saboteur breaks something else besides


@pytest.mark.slow
def test_what_the_embedded_store_passes_kills_more_than_slowness(mutation: Mutation) -> None:
    results = mutation.identity.results
    passed = set(results.loc[results["passed"].eq(True), "probe"])
    killing = set(mutation.kills.loc[mutation.kills["by"] != "latency", "probe"])
    assert passed <= killing
