"""What a report says of one probe: what was asked and expected, and what stands in its place."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any

import pandas as pd

from memeval.contract import CODES, describe
from memeval.probe import Probe
from memeval.report import cause_rows
from memeval.report.copying import MOST_GIVEN, copyable, describe_step
from memeval.report.figures import UNDEFINED, count, figure, is_missing
from memeval.report.places import Judged, Place, Wanted, best_ranks, judged, labels_of, name_of
from memeval.runs import Run

# What a reader can take in; a store may return everything that it holds.
MOST_PLACES = 100
STATUSES: Mapping[str, str] = MappingProxyType(
    {
        "ok": "the store answered",
        "failed": "the search, or the writing before it, failed",
        "timeout": "the search took longer than allowed",
        "not_stored": "the store did not keep an expected record",
        "not_visible": "what was written could not be found in time",
        "not_supported": "the store cannot do what this probe needs",
    }
)


@dataclass(frozen=True, slots=True)
class Row:
    """One probe in the table of all probes."""

    name: str
    anchor: str
    kind: str
    outcome: str
    state: str
    tags: tuple[str, ...]
    k: int
    rank: str
    recall: str
    leaks: int
    stale: int
    latency: str


@dataclass(frozen=True)
class Detail:
    """Everything that a report says of one probe."""

    row: Row
    probe: Probe
    cause: cause_rows.CauseRow | None
    status: str
    errors: tuple[str, ...]
    breaches: tuple[str, ...]
    wanted: tuple[Wanted, ...]
    forbidden: tuple[Judged, ...]
    stale: tuple[Judged, ...]
    leaks: tuple[str, ...]
    places: tuple[Place, ...]
    given: tuple[tuple[str, str | None], ...]
    more_given: int
    yaml: str
    yaml_words: str
    notes: tuple[str, ...]


def anchor(name: str) -> str:
    """Name of a probe as the end of an address: the name itself where it can be.

    Examples
    --------
    >>> anchor("lunch-spot")
    'probe-lunch-spot'
    >>> anchor("<b>")
    'probe-b-507ca5'
    """
    if re.fullmatch(r"[A-Za-z0-9._-]{1,80}", name):
        return f"probe-{name}"
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name)[:40].strip("-")
    short = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
    return f"probe-{plain}-{short}" if plain else f"probe-{short}"


def outcome(row: Any) -> tuple[str, str]:
    """What became of a probe: a state (passed, failed or skipped) and the words.

    Parameters
    ----------
    row : named tuple
        A row of `memeval.frames.RESULTS`.
    """
    status = str(row.status)
    if status == "not_supported":
        return "skipped", "not supported"
    if row.n_leaked:
        return "failed", f"leaked {count(int(row.n_leaked), 'record')}"
    if row.n_contract:
        return "failed", "broke the contract"
    if status != "ok":
        return "failed", status.replace("_", " ")
    if bool(row.passed):
        return "passed", "passed"
    if str(row.kind) == "negative":
        return "failed", "not steady" if row.abstained else "did not abstain"
    met = round(float(row.recall_fraction) * row.n_expected)
    if met == row.n_expected:
        return "failed", "not steady"
    if row.n_expected == 1:
        return "failed", "missed"
    return "failed", f"missed {row.n_expected - met} of {row.n_expected}"


class Ledger:
    """The tables of a run, looked up by probe.

    Parameters
    ----------
    run : Run
        Of a suite that is not invalid.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.probes = {probe.name: probe for probe in run.suite}
        self.results: dict[str, Any] = {str(row.probe): row for row in run.results.itertuples()}
        self._hits = dict(
            iter(run.hits.sort_values(["repeat", "rank"]).groupby("probe", sort=False))
        )
        self._calls = dict(iter(run.calls.sort_values("repeat").groupby("probe", sort=False)))
        self._qrels = dict(iter(run.qrels.groupby("probe", sort=False)))
        self.causes = {row.probe: row for row in cause_rows.rows(run)}

    @cached_property
    def failing(self) -> list[str]:
        """Names of the probes that did not pass: in the order of their causes, else worst first."""
        rest = [str(name) for name in self.run.failing["probe"] if name not in self.causes]
        return [*self.causes, *rest]

    @cached_property
    def order(self) -> list[str]:
        """Names of all probes: failing first, then in the order of the suite."""
        rest = [name for name in self.results if name not in set(self.failing)]
        return [*self.failing, *rest]

    def row(self, name: str) -> Row:
        """Row of one probe in the table of all."""
        result, probe = self.results[name], self.probes[name]
        state, words = outcome(result)
        positive = str(result.kind) == "positive" and state != "skipped"
        return Row(
            name=name,
            anchor=anchor(name),
            kind=str(result.kind),
            outcome=words,
            state=state,
            tags=tuple(map(str, probe.tags)),
            k=int(result.k),
            rank="" if is_missing(result.first_rank) else str(result.first_rank),
            recall=figure(result.recall_fraction) if positive else UNDEFINED,
            leaks=int(result.n_leaked),
            stale=int(result.n_stale),
            latency=figure(result.latency_ms, "_ms"),
        )

    def detail(self, name: str) -> Detail:
        """Everything about one probe."""
        probe, row = self.probes[name], self.row(name)
        calls, hits, labels = self._calls[name], self._first(name), self._labels(name)
        ranks = best_ranks(hits)
        given, whole = probe.given[:MOST_GIVEN], len(probe.given)
        yaml, yaml_words = copyable(probe)
        return Detail(
            row=row,
            probe=probe,
            cause=self.causes.get(name),
            status=str(self.results[name].status),
            errors=tuple(dict.fromkeys(str(e) for e in calls["error"].dropna())),
            breaches=tuple(_breaches(calls)),
            wanted=tuple(self._wanted(probe, ranks, row.k)),
            forbidden=tuple(judged(labels, "forbidden", ranks, probe)),
            stale=tuple(judged(labels, "stale", ranks, probe)),
            leaks=tuple(islice(self._leaks(name), MOST_PLACES)),
            places=tuple(self._places(probe, hits[:MOST_PLACES], labels, row.k)),
            given=tuple(describe_step(op, probe) for op in given),
            more_given=whole - len(given),
            yaml=yaml,
            yaml_words=yaml_words,
            notes=tuple(self._notes(name, calls, len(hits))),
        )

    def texts(self, name: str) -> list[str | None]:
        """Texts of the first answer to a probe, in the order of the ranks; None where left out."""
        return [None if is_missing(hit.text) else str(hit.text) for hit in self._first(name)]

    def _first(self, name: str) -> list[Any]:
        """Hits of the first repeat, in order."""
        if name not in self._hits:
            return []
        first = self._calls[name]["repeat"].min()
        rows = self._hits[name]
        return list(rows[rows["repeat"] == first].itertuples())

    def _labels(self, name: str) -> dict[str, list[Any]]:
        """What is said of each record, by its id."""
        said: dict[str, list[Any]] = {}
        rows: list[Any] = list(self._qrels[name].itertuples()) if name in self._qrels else []
        for row in rows:
            said.setdefault(str(row.record_id), []).append(row)
        return said

    def _wanted(self, probe: Probe, ranks: Mapping[str, int], k: int) -> Iterator[Wanted]:
        known = {record.id: record for record in probe.records}
        merged = self._merged(probe.name)
        ok = str(self.results[probe.name].status) == "ok"
        for number, group in enumerate(probe.groups):
            found = [ranks[i] for i in (*group, *merged.get(number, ())) if i in ranks]
            rank = min(found, default=None)
            records = tuple(known[i] for i in group if i in known)
            yield Wanted(tuple(group), rank, ok and rank is not None and rank <= k, records)

    def _merged(self, name: str) -> dict[int, list[str]]:
        """Records that stand for an expected group, as the store merged it into them."""
        rows: list[Any] = list(self._qrels[name].itertuples()) if name in self._qrels else []
        into: dict[int, list[str]] = {}
        for row in rows:
            if row.merged and not is_missing(row.group):
                into.setdefault(int(row.group), []).append(str(row.record_id))
        return into

    def _places(
        self, probe: Probe, hits: list[Any], labels: Mapping[str, list[Any]], k: int
    ) -> Iterator[Place]:
        own = {record.id for record in probe.records}
        for hit in hits:
            yield Place(
                rank=int(hit.rank),
                record=name_of(hit),
                labels=tuple(labels_of(hit, labels, own)),
                score=UNDEFINED if is_missing(hit.score) else f"{hit.score:.4g}",
                text=None if is_missing(hit.text) else str(hit.text),
                beyond=int(hit.rank) > k,
            )

    def _leaks(self, name: str) -> Iterator[str]:
        """Every leaking hit of every repeat, in words."""
        labels = self._labels(name)
        rows: list[Any] = list(self._hits[name].itertuples()) if name in self._hits else []
        first = self._calls[name]["repeat"].min()
        for hit in rows:
            for label in labels_of(hit, labels, set()):
                if label.kind in ("forbidden", "canary"):
                    again = "" if hit.repeat == first else f" (repeat {hit.repeat})"
                    why = label.words.replace(": ", ", ", 1)
                    yield f"{name_of(hit)} at rank {hit.rank}{again}: {why}"

    def _notes(self, name: str, calls: pd.DataFrame, n_hits: int) -> Iterator[str]:
        if n_hits > MOST_PLACES:
            yield f"{n_hits:,} hits came back: the first {MOST_PLACES} are shown, all are saved"
        if len(calls) > 1:
            agree = "do not agree; the first is shown" if self.results[name].flaky else "agree"
            yield f"asked {len(calls)} times, each time of a fresh store: the repeats {agree}"


def details(run: Run, names: Collection[str] | None = None) -> list[Detail]:
    """Details of the failing probes, worst first, or of the probes named."""
    ledger = Ledger(run)
    return [ledger.detail(name) for name in (ledger.failing if names is None else names)]


def _breaches(calls: pd.DataFrame) -> Iterator[str]:
    codes = dict.fromkeys(code for codes in calls["breaches"].dropna() for code in codes.split())
    for code in codes:
        yield f"{code}: {describe(code)}" if code in CODES else code
