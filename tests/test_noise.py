"""What chance alone does: nothing may be killed, and nothing may fail, because of it."""

from __future__ import annotations

import random

import pytest

import memeval as me
from memeval.outcomes import Outcomes
from memeval.stores.saboteurs import BENIGN
from tests.outcome_sides import named, side

N_PROBES, REPLAYS, REPEATS, DROPPED = 34, 200, 5, 0.05


def asked(rng: random.Random) -> Outcomes:
    """Five repeats of a store that finds everything, and loses one hit in twenty by chance."""
    found = [[rng.random() >= DROPPED for _ in range(REPEATS)] for _ in range(N_PROBES)]
    return side(
        named([1 if repeats[0] else None for repeats in found]),
        passes={f"p{n:02}": (sum(repeats), REPEATS) for n, repeats in enumerate(found)},
    )


@pytest.mark.slow
def test_a_store_that_drops_hits_by_chance_does_not_fail_a_comparison() -> None:
    rng = random.Random(5)
    failed = lost = 0
    for _ in range(REPLAYS):
        found = me.compare(asked(rng), asked(rng))
        failed += found.verdict.word == "FAIL"
        lost += bool(found.changes["change"].eq("lost").any())
    assert lost / REPLAYS <= 0.01  # the ratchet
    assert failed / REPLAYS <= 0.03


@pytest.mark.slow
def test_benign_wrappers_are_never_killed() -> None:
    suite = me.load()[::8]
    for seed in range(8):
        found = me.mutate(suite, "sqlite", saboteurs=BENIGN, seed=seed)
        assert not len(found.kills), seed
        assert not found.saboteurs["killed"].fillna(False).any(), seed
