"""The shipped suite, and parts of it, for the tests that take a store to it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from memeval.loading import load
from memeval.mutation import mutate
from memeval.suite import Suite

PROBES = Path(__file__).resolve().parent.parent / "probes"


@cache
def shipped() -> Suite:
    """All of it; nothing changes a suite."""
    return load(PROBES)


def some_of_each_tag(suite: Suite, n: int) -> Suite:
    """The last n probes of each tag; what a part of a suite kills, all of it kills."""
    last = {tag: [p.name for p in suite if tag in p.tags][-n:] for p in suite for tag in p.tags}
    kept = {name for names in last.values() for name in names}
    return Suite(tuple(p for p in suite if p.name in kept), suite.haystack, suite.haystack_name)


def assert_some_probes_see_the_faults_of(store: Any) -> None:
    """Two probes of each tag kill what a suite must, and nearly all of the rest."""
    found = mutate(some_of_each_tag(shipped(), 2), store, jobs=1)
    assert found.score >= 0.95 and found.must_killed, found.survivors.to_string()
