"""Waiting until what was written can be found."""

from __future__ import annotations

import time
from collections.abc import Sequence

from memeval.harness.desk import Desk
from memeval.probe import Probe
from memeval.record import Record
from memeval.stores.bound import View


def settle(
    desk: Desk, probes: Sequence[Probe], settle_s: float, poll_s: float
) -> tuple[float | None, bool]:
    """Wait until a history can be found, by the store's own means or by asking.

    Parameters
    ----------
    desk : Desk
        Where the history was written.
    probes : sequence of Probe
        All that ask it.
    settle_s, poll_s : float
        How long to wait, and how often to look, in seconds.

    Returns
    -------
    tuple of float or None, and bool
        Milliseconds waited, None where no wait is needed; whether everything can be found.
    """
    desk.doing = "waiting for writes"
    told = desk.store.supports("wait_visible")
    if not told and desk.store.capabilities.consistency != "eventual":
        return None, True
    waiting = _waited_for(desk, probes)
    started = time.perf_counter_ns()
    if told:
        ids = [i for record in waiting for i in desk.ids.store_ids(record.id)]
        visible = desk.store.wait_visible(ids, settle_s)
    else:
        visible = _poll(desk, waiting, settle_s, poll_s)
    return (time.perf_counter_ns() - started) / 1e6, visible


def _waited_for(desk: Desk, probes: Sequence[Probe]) -> list[Record]:
    """The expected records, else all that still hold; none whose write was refused."""
    states = {id(probe.state): probe.state for probe in probes}.values()
    live = {r.id: r for state in states for r in state.live}
    expected = {i for probe in probes for group in probe.groups for i in group}
    chosen = expected & live.keys() or live.keys() - _past(probes)
    return [live[i] for i in live if i in chosen and i not in desk.ids.lost]


def _past(probes: Sequence[Probe]) -> set[str]:
    """Ids that no longer hold, for one of the probes at least."""
    asked = {(id(probe.state), probe.now): probe for probe in probes}.values()
    return {i for probe in asked for i in probe.superseded | probe.expired}


def _poll(desk: Desk, waiting: list[Record], settle_s: float, poll_s: float) -> bool:
    end = time.monotonic() + settle_s
    while waiting := [record for record in waiting if not _is_findable(desk, record)]:
        left = end - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(poll_s, left))
    return True


def _is_findable(desk: Desk, record: Record) -> bool:
    """Whether a search for its own text finds it, or what it was merged into."""
    hits = desk.store.search(View(record.text, 10, desk.scope_alias(record.scope)))
    found = {desk.ids.resolve(hit)[0] for hit in hits}
    return not found.isdisjoint({record.id, *desk.ids.merged.get(record.id, ())})
