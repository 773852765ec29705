"""Stores that forget as they grow, and a small suite to grow them with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from memeval.probe import Probe
from memeval.record import Hit, Receipt, Record
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite

PEOPLE = ("Priya", "Tomas", "Ingrid", "Wendell", "Marisol", "Okoro")
THINGS = ("kayak", "violin", "telescope", "typewriter", "samovar", "loom")
PLACES = ("cellar", "attic", "boathouse", "pantry", "studio", "greenhouse")


def office(n: int, **more: Any) -> Probe:
    """Where somebody keeps something; the same of somebody else lies in another scope."""
    who, thing, place = PEOPLE[n % 6], THINGS[n % 6], PLACES[n % 6]
    given = [
        Record("r1", f"{who} keeps the {thing} in the {place}.", "team"),
        Record("r2", f"{who} lent the {thing} to a neighbour.", "other"),
    ]
    told: dict[str, Any] = {"scope": "team", "forbid": ["r2"], "names": [who]} | more
    return Probe(f"office{n}", f"Where does {who} keep the {thing}?", given, ["r1"], **told)


def small(n: int = 3) -> Suite:
    """Probes that can be planted often."""
    return Suite.of([office(i) for i in range(n)])


class Capped(SqliteStore):
    """Keeps the last 600 records."""

    most = 600

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write, then forget the oldest."""
        told = super().put_many(records)
        over = max(0, self.count() - self.most)
        rows = self._tables.run("SELECT id FROM record ORDER BY key LIMIT ?", over).fetchall()
        for (name,) in rows:
            self.delete(name)
        return told


class Decaying(SqliteStore):
    """What is older counts less, and in the end nothing; its clock is that of `advance`."""

    half_life = timedelta(days=10)

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write; what has no time is of now."""
        (clock,) = self._tables.one("SELECT clock FROM store")
        now = datetime.fromtimestamp((clock or 0) / 1e6, UTC)
        return super().put_many([r if r.at else replace(r, at=now) for r in records])

    def search(
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Rank by score times age, and leave out what has faded."""
        found = super().search(query, k=200, scope=scope, filter=filter, now=now)
        (clock,) = self._tables.one("SELECT clock FROM store")
        scored = []
        for hit in found:
            (at,) = self._tables.one("SELECT at FROM record WHERE id = ?", hit.id)
            age = timedelta(microseconds=(clock or 0) - (at if at is not None else clock or 0))
            factor = 0.5 ** (max(age, timedelta(0)) / self.half_life)
            if factor > 0.1:
                scored.append((float(hit.score or 0.0) * factor, hit))
        scored.sort(key=lambda pair: -pair[0])
        return [Hit(hit.id, hit.text, score) for score, hit in scored[:k]]
