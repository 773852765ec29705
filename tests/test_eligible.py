"""Which records a query may see, against a look at each of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from memeval.given import Given
from memeval.harness.eligible import Eligible
from memeval.probe import Probe
from memeval.record import Delete, Op, Record
from memeval.stores.broken import meets

NOW = datetime(2026, 5, 1, tzinfo=UTC)
moments = some.none() | some.sampled_from([NOW - timedelta(days=1), NOW, NOW + timedelta(days=1)])
fields = some.fixed_dictionaries({}, optional={"type": some.sampled_from(["note", "fact"])})
written = some.lists(
    some.tuples(some.sampled_from(["default", "team", "bo"]), moments, fields), max_size=8
)


@given(written, written, moments, some.booleans(), fields, some.integers(0, 3))
def test_the_count_is_that_of_a_look_at_each(
    own: list[Any], around: list[Any], now: datetime | None, team: bool, asked: Any, gone: int
) -> None:
    records = [Record(f"r{n}", "x", s, expires=e, meta=m) for n, (s, e, m) in enumerate(own)]
    haystack = Given(
        Record(f"h{n}", "x", s, expires=e, meta=m) for n, (s, e, m) in enumerate(around)
    )
    deleted = {record.id for record in records[:gone]}
    history: list[Op] = [*records, *map(Delete, sorted(deleted))]
    probe = Probe("p", "q", history, now=now, filter=asked, reads=["team"] if team else [])
    seen = [
        record
        for record in (*records, *haystack)
        if record.id not in deleted
        and record.scope in ({"default", "team"} if team else {"default"})
        and meets(record.meta, asked)
        and (now is None or record.expires is None or record.expires > now)
    ]
    eligible = Eligible([haystack, probe.state])
    assert eligible.count(probe) == eligible.count(probe) == len(seen)
