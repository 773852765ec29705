"""Asking the planted probes at one checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memeval.harness.asking import Options, Table, Written
from memeval.harness.desk import Desk
from memeval.harness.eligible import Eligible, unsupported
from memeval.haystack import NOTHING
from memeval.probe import Probe
from memeval.record import Advance, Hit, Record
from memeval.simulating.scoring import Noted, Planted
from memeval.stores.bound import BoundStore

OWN_TIME = "its history lets time pass, which would age every other record of the store"


def refusal(probe: Probe, store: BoundStore) -> str | None:
    """Why a probe cannot be planted in this store; None where it can."""
    reason = unsupported(probe, store)
    return reason or (OWN_TIME if Advance in probe.state.kinds else None)


class Siblings:
    """What copies of one probe forbid in the same words, whichever cohort they are of.

    A forbidden record that has none of the probe's names reads the same in every cohort, and each
    of its copies was deleted, replaced or forbidden in the same way: the one that comes back is as
    bad as the other. Records that expire are not among them, since they end at different times.
    """

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str, str], dict[str, None]] = {}

    def add(self, probe: Probe) -> None:
        """Note what one more copy forbids."""
        for record, _ in self._forbidden(probe):
            self._ids.setdefault(self._key(probe, record), {})[record.id] = None

    def of(self, probe: Probe) -> dict[str, str]:
        """Reason by id, for the records of other copies."""
        return {
            name: reason
            for record, reason in self._forbidden(probe)
            for name in self._ids.get(self._key(probe, record), ())
            if name != record.id
        }

    def _key(self, probe: Probe, record: Record) -> tuple[str, str, str]:
        return probe.name.rpartition("@")[0], record.scope, record.text

    def _forbidden(self, probe: Probe) -> Iterator[tuple[Record, str]]:
        state = probe.state
        if not (probe.forbid or state.deleted):
            return
        for name in sorted({*probe.forbid, *state.deleted} & state.by_id.keys()):
            record = state.by_id[name]
            if record.expires is None:
                told = "superseded" if name in state.superseded else "listed"
                yield record, "deleted" if name in state.deleted else told


class Uncounted(Eligible):
    """Of a store that holds other histories too, nobody asks how much of one a query may see."""

    def count(self, probe: Probe) -> int:
        """Count nothing."""
        return 0


@dataclass
class AskedTable(Table):
    """A probe asked of a store that holds more than its own history.

    Attributes
    ----------
    world : mapping of str to Record
        Everything in the store.
    siblings : mapping of str to str
        Copies of its forbidden records in other cohorts that say the same, by id, with the reason.
    n_written : int
        Records in the store.
    """

    world: Mapping[str, Record] = field(default_factory=dict)
    siblings: Mapping[str, str] = field(default_factory=dict)
    n_written: int = 0

    def ask(self, visible: bool) -> None:
        """Ask the one probe, if the store can take it; its history is written already."""
        self._n_records = self.n_written
        probe = self.probes[0]
        reason = refusal(probe, self.desk.store)
        if reason is None:
            self._ask(probe, Written(None, None, visible, ()))
        else:
            self._note(probe, "not_supported", reason)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._eligible = Uncounted(())

    def _record(self, record_id: str) -> Record | None:
        return self.world.get(record_id)

    def _hits(self, probe: Probe, hits: list[Hit], resolved: Any) -> Sequence[Sequence[Any]]:
        for record in (self._record(i) for i, _ in resolved if i is not None):
            if record is not None:
                self._pool(probe, record)
                if record.id in self.siblings:
                    self.rows.judge(probe.name, record.id, "forbidden", self.siblings[record.id])
        return super()._hits(probe, hits, resolved)


def ask(
    desk: Desk,
    planted: Planted,
    options: Options,
    world: Mapping[str, Record],
    siblings: Siblings,
    late: int | None = None,
) -> Noted:
    """Ask planted probes one after the other; scored by `memeval.simulating.scoring.answered`.

    Parameters
    ----------
    desk : Desk
        The store.
    planted : sequence of (int, Probe)
        Session of planting, and the copy.
    options : Options
        How to ask.
    world : mapping of str to Record
        Everything in the store.
    siblings : Siblings
        What the other copies of these probes forbid.
    late : int, optional
        Cohort of which not everything can be found yet.
    """
    rows = Noted()
    for cohort, probe in planted:
        table = AskedTable(
            desk, [probe], NOTHING, 0, options, rows,
            world=world, siblings=siblings.of(probe), n_written=len(world),
        )  # fmt: skip
        table.ask(cohort != late)
    return rows
