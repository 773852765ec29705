"""What a probe can be asked of a store at all, and which records its query may see."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from memeval.given import Given
from memeval.probe import Probe
from memeval.record import Advance, Delete, Record
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore
from memeval.stores.broken import meets

WRITES = frozenset({Record})


class Eligible:
    """Counts the live records that a query may see, without a look at each where that is enough.

    Parameters
    ----------
    parts : sequence of Given
        The history and what stands around it.
    """

    def __init__(self, parts: Sequence[Given]) -> None:
        self.parts = parts
        self._passing: dict[str, int] = {}

    def count(self, probe: Probe) -> int:
        """Records of the scopes that a probe reads that hold and pass its filter."""
        if not probe.filter:
            found = 0
            for part in self.parts:
                found += _n_live(part, probe)
            return found
        key = repr((sorted(probe.scopes_read), probe.now, probe.filter))
        if key not in self._passing:
            self._passing[key] = sum(_n_passing(part, probe) for part in self.parts)
        return self._passing[key]


def _n_live(part: Given, probe: Probe) -> int:
    found = 0
    for scope in probe.scopes_read:
        found += len(part.live_in.get(scope, ()))
        if probe.now is not None:
            found -= bisect_right(part.ends_in.get(scope, ()), probe.now)
    return found


def _n_passing(part: Given, probe: Probe) -> int:
    now = probe.now
    return sum(
        meets(record.meta, probe.filter)
        and not (now is not None and record.expires is not None and record.expires <= now)
        for scope in probe.scopes_read
        for record in part.live_in.get(scope, ())
    )


def unsupported(probe: Probe, store: BoundStore) -> str | None:
    """Why a store cannot take a probe; None where it can.

    Returns
    -------
    str or None
        In words, for the column ``error`` of the calls.
    """
    declared: Capabilities = store.capabilities
    given = probe.state
    if given.kinds <= WRITES and not (given.expiring or probe.filter or declared.scoping == "none"):
        return None  # the usual one, told quickly
    needs: list[tuple[bool, str]] = [
        (Delete in given.kinds and not store.supports("delete"), "delete"),
        (Advance in given.kinds and not store.supports("advance"), "advance"),
        (
            bool(probe.filter) and "filter" not in declared.honours and store.retrieve is None,
            "filter",
        ),
        (bool(given.expiring) and "expires" not in declared.honours, "expires"),
        (declared.scoping == "none" and bool(probe.reads or probe.foreign), "scopes"),
    ]
    lacking = [name for lacks, name in needs if lacks]
    return f"the store has no support for {', '.join(lacking)}" if lacking else None
