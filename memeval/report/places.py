"""One answer, ready to be shown: what each hit is, and where each judged record stands."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from memeval.probe import Probe
from memeval.record import Record
from memeval.report.figures import is_missing

MOST_LISTED = 12
REASONS: Mapping[str, str] = MappingProxyType(
    {
        "listed": "listed by the probe",
        "deleted": "deleted",
        "foreign_scope": "of another scope",
        "superseded": "superseded",
        "expired": "expired",
        "canary": "holds a canary",
    }
)


@dataclass(frozen=True, slots=True)
class Label:
    """What is said of a hit: a kind for the eye, and the words."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class Place:
    """One hit of an answer."""

    rank: int
    record: str
    labels: tuple[Label, ...]
    score: str
    text: str | None
    beyond: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """An expected group: its records, and the rank at which the first of them came back."""

    ids: tuple[str, ...]
    rank: int | None
    in_top: bool
    records: tuple[Record, ...]

    @property
    def words(self) -> str:
        """Where it stands."""
        if self.rank is None:
            return "did not come back"
        return f"at rank {self.rank}" + ("" if self.in_top else ", below the top k")


@dataclass(frozen=True, slots=True)
class Judged:
    """A forbidden or stale record: why, and the rank at which it came back."""

    record: str
    reason: str
    rank: int | None


def name_of(hit: Any) -> str:
    """Id of a hit: of the record that it was recognised as, else the store's own."""
    if not is_missing(hit.record_id):
        return str(hit.record_id)
    return "no id" if is_missing(hit.store_id) else str(hit.store_id)


def best_ranks(hits: list[Any]) -> dict[str, int]:
    """Best rank of each record of an answer."""
    best: dict[str, int] = {}
    for hit in hits:
        if not is_missing(hit.record_id):
            best.setdefault(str(hit.record_id), int(hit.rank))
    return best


def labels_of(hit: Any, labels: Mapping[str, list[Any]], own: Collection[str]) -> Iterator[Label]:
    """Everything that is said of a hit; at least one thing."""
    if not is_missing(hit.canary) and hit.canary:
        token = "a canary" if is_missing(hit.text) else f"the canary {hit.canary}"
        yield Label("canary", f"forbidden: holds {token}")
    if is_missing(hit.record_id):
        yield Label("unknown", "unknown: nobody wrote it")
        return
    said = labels.get(str(hit.record_id), ())
    for row in said:
        kind, reason = str(row.label), REASONS.get(str(row.reason), "")
        if kind == "expected":
            yield Label(kind, "expected, merged into this one" if row.merged else "expected")
        else:
            yield Label(kind, f"{kind}: {reason}" if reason else kind)
    if not said:
        mine = str(hit.record_id) in own
        yield Label("other", "other record of the probe") if mine else Label("haystack", "haystack")


def judged(
    labels: Mapping[str, list[Any]], kind: str, ranks: Mapping[str, int], probe: Probe
) -> Iterator[Judged]:
    """Records with a label, those that came back first; of the haystack only these."""
    own = {record.id for record in probe.records}
    rows = [
        Judged(record, REASONS.get(str(row.reason), "listed by the probe"), ranks.get(record))
        for record, said in labels.items()
        for row in said
        if row.label == kind and (record in own or record in ranks)
    ]
    yield from sorted(rows, key=lambda row: (row.rank is None, row.rank or 0))
