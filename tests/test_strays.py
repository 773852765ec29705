"""Looking for lost records in other scopes: bounded, and the same causes as without a bound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from memeval.harness import strays
from memeval.probe import Probe
from memeval.record import Hit, Receipt, Record
from memeval.sessions import Generator
from memeval.simulate import run_simulation
from memeval.simulation import Simulation
from memeval.stores.sqlite import SqliteStore
from tests.growing_stores import small

SCOPES = tuple(f"scope {n:02}" for n in range(30))
asked: list[str] = []


class Forgetful(SqliteStore):
    """Keeps the last forty records, and notes in which scope it is asked."""

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write, then forget the oldest."""
        told = super().put_many(records)
        over = max(0, self.count() - 40)
        rows = self._tables.run("SELECT id FROM record ORDER BY key LIMIT ?", over).fetchall()
        for (name,) in rows:
            self.delete(name)
        return told

    def search(self, query: str, **options: Any) -> list[Hit]:
        """Search, and note the scope."""
        asked.append(options["scope"])
        return super().search(query, **options)


def grown(store: Any) -> tuple[Simulation, int]:
    """A simulation, and in how many searches another scope than the probes' own was asked."""
    asked.clear()
    source = Generator(scopes=SCOPES, seed=3)
    made = run_simulation(list(small(6)), store, sessions=12, every=3, cohorts=4, source=source)
    return made, sum(scope.startswith("scope") or scope == "elsewhere" for scope in asked)


def test_a_store_that_forgets_is_not_searched_for_every_pair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {}
    for most in (2, 10**9):
        monkeypatch.setattr(strays, "MOST_VAIN", most)
        found[most] = grown(Forgetful)
    (bounded, few), (whole, many) = found.values()
    lost = whole.drift_probes["cause"].eq("not_stored")
    per_checkpoint = lost.groupby(whole.drift_probes["session"]).sum()
    assert per_checkpoint.tolist() == [0, 6, 6, 6, 6]  # each cohort is gone at the next one
    assert bounded.drift_probes["cause"].equals(whole.drift_probes["cause"])
    # The sessions write to 30 scopes at most, that no probe names: two searches each, not six.
    assert 0 < few <= 2 * 30 * 4
    assert many == 3 * few


def test_a_scope_in_which_something_was_found_is_looked_into_again() -> None:
    known, probe = strays.Strays(), Probe("p", "?", [Record("r1", "x", "ana")], ["r1"], scope="ana")
    records = {name: Record(name, "y", name) for name in ("bo", "cy")} | {"r1": probe.records[0]}
    known.note("bo", found=True)
    for scope in ("bo", "cy") * strays.MOST_VAIN:
        assert known.places(probe.records[0], probe, records) == ["bo", "cy"]
        known.note(scope, found=False)
    assert known.places(probe.records[0], probe, records) == ["bo"]
    records["new"] = Record("new", "z", "dee")  # the store has grown by a scope
    assert known.places(probe.records[0], probe, records) == ["bo", "dee"]
