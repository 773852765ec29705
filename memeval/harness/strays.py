"""Where lost records were looked for outside their own scope, while a store stays as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from memeval.probe import Probe
from memeval.record import Record

MOST_VAIN = 10


class Strays:
    """Which scopes are still worth a search for a record that is gone.

    A store that forgets loses hundreds of records, and none of them lies anywhere else: to look
    for each in every scope would take as many searches as there are pairs. A scope in which ten of
    them were looked for in vain, and none found, is left alone from then on; the scopes of the
    probe's own history, where records go astray first, are looked into always.

    Examples
    --------
    >>> strays, probe = Strays(), Probe("p", "?", [Record("r1", "x", "ana"), Record("r2", "y")])
    >>> records = {"r1": probe.records[0], "r2": probe.records[1], "r3": Record("r3", "z", "bo")}
    >>> strays.places(probe.records[0], probe, records)
    ['bo', 'default']
    >>> for _ in range(10):
    ...     strays.note("bo", found=False)
    ...     strays.note("default", found=False)
    >>> strays.places(probe.records[0], probe, records)
    ['default']
    """

    def __init__(self) -> None:
        self._vain: Counter[str] = Counter()
        self._found: set[str] = set()
        self._scopes: tuple[int, frozenset[str]] | None = None

    def places(self, record: Record, probe: Probe, records: Mapping[str, Record]) -> list[str]:
        """Scopes to look into, sorted.

        Parameters
        ----------
        record : Record
            The record that is gone.
        probe : Probe
            Who expects it.
        records : mapping of str to Record
            Everything in the store.
        """
        own = set() if probe.history else {other.scope for other in probe.records}
        told = self._found | own
        return sorted(
            scope
            for scope in self._all(records) - {record.scope}
            if self._vain[scope] < MOST_VAIN or scope in told
        )

    def note(self, scope: str, *, found: bool) -> None:
        """Note what came of looking into one."""
        if found:
            self._found.add(scope)
        else:
            self._vain[scope] += 1

    def _all(self, records: Mapping[str, Record]) -> frozenset[str]:
        """Scopes of the store; worked out anew only when it holds another number of records."""
        if self._scopes is None or self._scopes[0] != len(records):
            self._scopes = len(records), frozenset(record.scope for record in records.values())
        return self._scopes[1]
