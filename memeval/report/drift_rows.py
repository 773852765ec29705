"""What is shown of a simulation, in words and cells: the same for text, Markdown and HTML.

No record's text and no query is in it. Names and ids of others are made safe by each form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memeval.drifting.deciding import failed_searches
from memeval.report.control_rows import SUITE_WORDS, WITHHELD
from memeval.report.figures import UNDEFINED, count, figure, is_missing
from memeval.simulation import HEADLINE, Simulation
from memeval.verdicts import Validity

WORDS: Mapping[str, str] = {"decline": "DECLINE", "flat": "FLAT", "cannot tell": "CANNOT TELL"}
TONES: Mapping[str, str] = {"FAIL": "bad", "PASS": "good", "INVALID": "bad"}
SIGNS: Mapping[str, str] = {"FAIL": "✗", "PASS": "✓", "INVALID": "✗"}
GATES: Mapping[str, str] = {"n_leaked": "LEAKS", "n_contract": "CONTRACT BROKEN"}
FAILED = "SEARCHES FAILED"
# What stands in the notes and is told in a line of its own.
SAID = ("ended by the keyboard", "the store cannot take, and nothing counts")
SLOPE_HEAD = ("metric", "curve", "per 1,000", "95 % interval", "p", "n", "verdict")
SLOPE_SIDES = "llrlrrl"
SIZE_HEAD = ("session", "records", "kept", "recall", "fresh", "leaks", "write ms", "p50 ms",
             "p95 ms", "lag ms")  # fmt: skip
SIZE_SIDES = "rrrrrrrrrr"
LOST_HEAD = ("probe", "cohort", "lost between", "cause", "in its place")
LOST_SIDES = "lrrll"
SLOPE_KEY = (
    f"{HEADLINE} by growth decides, and by crowding where it falls by more than the margin; the "
    "others are shown. growth: per 1,000 records, age not fixed. retention: per 1,000 sessions of "
    "age, size fixed. crowding: per 1,000 records, age fixed. size: kept of the last 1,000 "
    "records. Each probe is held against itself, and copies of one probe count once. n: such "
    "probes, or sessions, or checkpoints. p: one-sided, that it falls by luck."
)
SIZE_KEY = (
    "recall: of all cohorts, each probe once, of those asked at every size where these are half of "
    "them; fresh: of probes planted just before they were asked. lag: until a fresh write is found."
)
LOST_KEY = (
    "lost between: records when it last passed, and from when on it passed no more. in its place: "
    "ids of what came back instead, +3 for three more of them."
)


@dataclass(frozen=True, slots=True)
class Lost:
    """A probe that passed and passes no more."""

    probe: str
    cohort: str
    between: str
    cause: str
    instead: str

    @property
    def cells(self) -> list[str]:
        """Cells under `LOST_HEAD`."""
        return [self.probe, self.cohort, self.between, self.cause, self.instead]

    @property
    def narrow(self) -> list[str]:
        """The same for a terminal: of what came back the first two, and how many more did."""
        ids = self.instead.split()
        more = [f"+{len(ids) - 2}"] if len(ids) > 2 else []
        return [*self.cells[:-1], " ".join([*ids[:2], *more])]


def word(simulation: Simulation) -> str:
    """FLAT, DECLINE or CANNOT TELL."""
    return WORDS[simulation.trend.verdict]


def headline(simulation: Simulation) -> str:
    """The same, behind the gates that are broken: they are never traded off.

    INVALID where the suite is.
    """
    if simulation.withheld:
        return "INVALID"
    asked = simulation.drift_probes
    broken = [said for column, said in GATES.items() if asked[column].gt(0).any()]
    broken += [FAILED] if simulation.errors > simulation.allow_errors else []
    return ", ".join([*broken, word(simulation)])


def slope(simulation: Simulation) -> str:
    """The headline in a sentence: slope with its interval, and over how many probes."""
    if simulation.withheld:
        return WITHHELD
    found = simulation.trend
    if not found.n:
        return found.reason
    ends = "" if is_missing(found.low) else f" [{_signed(found.low)}, {_signed(found.high)}]"
    probes = count(found.n, "probe")
    return f"{HEADLINE} {_signed(found.slope_per_1k)} per 1,000 records{ends}, over {probes}"


def head(simulation: Simulation) -> str:
    """Store, sessions and records."""
    manifest, sizes = simulation.manifest, simulation.checkpoints["n_records"]
    grown = f"{sizes.min():,} to {sizes.max():,} records" if len(sizes) else "never asked"
    sessions = count(int(manifest.get("sessions_done", 0)), "session")
    return f"{manifest.get('store', 'store')}, {sessions}, {grown}"


def circumstances(simulation: Simulation) -> Iterator[tuple[str, str]]:
    """How it was asked, labelled, and what the reader must know of it."""
    manifest = simulation.manifest
    if simulation.withheld:
        yield from _settings(manifest)
        return
    yield "suite", _suite(simulation.validity)
    if manifest.get("complete") is False:
        done, wanted = manifest.get("sessions_done", 0), manifest.get("sessions", "?")
        yield "warning", f"it was ended early, after {done} of {wanted} sessions"
    if simulation.errors:
        yield "failed", failed_searches(simulation)
    if "asked" in manifest:
        yield "asked", str(manifest["asked"])
    yield "planted", _planted(simulation)
    yield from _settings(manifest)
    none = unsupported(simulation)
    if none:
        yield (
            "not asked",
            f"{count(len(none), 'probe')} that the store cannot take: " + ", ".join(none),
        )
    for words in map(str, manifest.get("notes") or ()):
        if not any(said in words for said in SAID):
            yield "note", words


def _suite(validity: Validity) -> str:
    """What was judged of the suite: beside every number that hangs on it."""
    word, sentence = SUITE_WORDS[validity.status]
    return f"{word}: {'; '.join(validity.reasons or validity.notes) or sentence}"


def _settings(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    names = [name for name in ("seed", "suite", "generator") if name in manifest]
    if names:
        yield "settings", ", ".join(f"{name} {manifest[name]}" for name in names)


def _planted(simulation: Simulation) -> str:
    asked = simulation.drift_probes
    n, once = asked["probe"].nunique(), int(simulation.manifest.get("planted_once", 0))
    cohorts = simulation.manifest.get("cohorts") or sorted(asked["cohort"].unique())
    at = ", ".join(map(str, cohorts))
    said = f"{count(n, 'probe')} at session{'' if len(cohorts) == 1 else 's'} {at}"
    return said + (f"; {once:,} of them once, since they have no names to change" if once else "")


def unsupported(simulation: Simulation) -> list[str]:
    """Names of the probes that the store cannot take."""
    asked = simulation.drift_probes
    none = asked.loc[asked["status"].eq("not_supported").fillna(False), "probe"]
    return [str(name) for name in none.drop_duplicates()]


def slopes(simulation: Simulation) -> list[list[str]]:
    """Cells of each slope under `SLOPE_HEAD`."""
    return [
        [
            row.metric,
            str(row.curve),
            _signed(row.slope_per_1k, row.metric),
            UNDEFINED if is_missing(row.low) else f"[{_signed(row.low)}, {_signed(row.high)}]",
            UNDEFINED if is_missing(row.p_value) else f"{row.p_value:.2g}",
            str(row.n),
            str(row.verdict),
        ]
        for row in _told(simulation.slopes)
    ]


def _signed(value: float, metric: str = "") -> str:
    if is_missing(value):
        return UNDEFINED
    return f"{value:,.0f}" if metric.startswith("n_") else f"{value:+.3f}"


def checkpoints(simulation: Simulation) -> list[list[str]]:
    """Cells of each checkpoint under `SIZE_HEAD`."""
    return [
        [
            str(row.session),
            f"{row.n_records:,}",
            UNDEFINED if is_missing(row.n_kept) else f"{row.n_kept:,}",
            figure(value_at(simulation, row.session, HEADLINE)),
            figure(fresh_at(simulation, row.session)),
            figure(value_at(simulation, row.session, "leaks"), "leaks"),
            *(figure(value, "_ms") for value in (row.write_ms, row.latency_p50_ms)),
            *(figure(value, "_ms") for value in (row.latency_p95_ms, row.visible_ms)),
        ]
        for row in _told(simulation.checkpoints)
    ]


def value_at(simulation: Simulation, session: int, metric: str) -> Any:
    """A metric of all cohorts at a checkpoint."""
    table = simulation.drift
    return _first(table[table["cohort"].isna()], session, metric)


def fresh_at(simulation: Simulation, session: int) -> Any:
    """Recall of the cohort that was planted just before the checkpoint."""
    table = simulation.drift
    return _first(table[table["age"].eq(0).fillna(False)], session, HEADLINE)


def _first(table: pd.DataFrame, session: int, metric: str) -> Any:
    here = table.loc[table["session"].eq(session) & table["metric"].eq(metric), "value"]
    return here.iloc[0] if len(here) else None


def lost(simulation: Simulation) -> list[Lost]:
    """The probes that were lost, the earliest first."""
    return [
        Lost(
            row.probe,
            str(row.cohort),
            f"{row.last_passed:,} and {row.n_records:,}",
            "unknown" if is_missing(row.cause) else row.cause,
            "nothing" if is_missing(row.displaced_by) else row.displaced_by,
        )
        for row in _told(simulation.lost)
    ]


def lost_head(simulation: Simulation) -> str:
    """How many were lost, in how many copies."""
    gone = simulation.lost
    if gone.empty:
        return "none: each that passed at first still did at the end"
    copies = count(len(gone), "copy", "copies")
    return f"{count(gone['probe'].nunique(), 'probe')}, in {copies}"


def sentences(simulation: Simulation) -> list[tuple[str, str]]:
    """Growth and latency in a sentence each, labelled."""
    growth, shape = simulation.growth, simulation.latency
    return [
        ("growth", f"{growth.verdict.upper()}: {growth.reason}"),
        ("latency", f"{shape.group.upper()}: {shape.reason}"),
    ]


def why_unknown(simulation: Simulation) -> list[str]:
    """Reasons of the slopes that could not be taken at all."""
    none = simulation.slopes[simulation.slopes["n"].eq(0) & simulation.slopes["reason"].notna()]
    told = none[none["metric"].eq(HEADLINE)]
    return [str(reason) for reason in told["reason"]]


def note(simulation: Simulation, suite_hash: str, store: str) -> str:
    """What the reader must know where it grew another store or suite than a run asked; else empty.

    Parameters
    ----------
    suite_hash, store : str
        Of the run.
    """
    told, manifest = [], simulation.manifest
    for word, mine in (("suite", suite_hash), ("store", store)):
        grown = manifest.get(word)
        if grown is not None and grown != mine:
            told.append(f"{word} {grown}, the run above {mine}")
    return f"It is not of the same as the run: it was {' and '.join(told)}." if told else ""


def _told(frame: pd.DataFrame) -> list[Any]:
    return list(frame.itertuples())
