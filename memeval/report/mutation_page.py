"""The section of the page on mutation: survivors first, then the kill matrix as strips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from memeval.report import mutation_rows as rows
from memeval.report.figures import count
from memeval.report.mutation_rows import Aside, Mutated, Survivor
from memeval.runs import Run, Verdict

MOST_DRAWN = 300
MOST_NAMED = 2
HEIGHT = 12
# How high a mark stands, so that no colour is needed to tell by what a fault was seen.
TALL: Mapping[str, int] = {"gate": 12, "contract": 9, "ratchet": 6, "latency": 3}


@dataclass(frozen=True, slots=True)
class Strip:
    """One saboteur against all probes.

    Attributes
    ----------
    saboteur, fault, means : str
        Its name, what is wrong with it, and whether the comparison of means fails it too.
    depth : int
        Probes that kill it; 0 where it lives.
    must : bool
        Whether any suite must kill it.
    killers : sequence of (str, str)
        Name of the probes and where they stand on the page, if anywhere; none of many.
    marks : sequence of (str, str, int)
        By what it was killed, the path that draws these, and how thick they are.
    """

    saboteur: str
    fault: str
    means: str
    depth: int
    must: bool
    killers: Sequence[tuple[str, str]]
    marks: Sequence[tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class Section:
    """Everything that the template prints of a mutation; of an invalid one the verdict alone."""

    verdict: Verdict
    tone: str
    sign: str
    note: str
    notes: Sequence[str]
    withheld: bool
    head: str
    asked: str
    weak: str
    must: str
    survivors: Sequence[Survivor]
    counts: bool
    by: Sequence[Sequence[str]]
    strips: Sequence[Strip]
    drawn: int
    sentence: str
    asides: Sequence[Aside]
    idle_head: str
    idle: str

    tall = TALL


def section(mutation: Mutated, run: Run, places: Mapping[str, str]) -> Section:
    """Gather what the page says of a mutation.

    Parameters
    ----------
    mutation : Mutation
        What became of the faults that were put in.
    run : Run
        What the page reports; where it is of another suite or store, that is said.
    places : mapping of str to str
        Where on the page each of its probes stands.
    """
    hidden = rows.withheld(mutation)
    good = mutation.verdict.exit_code == 0
    lives = not hidden and bool(len(mutation.survivors))
    order = [] if hidden else _order(mutation)
    return Section(
        verdict=mutation.verdict,
        tone="bad" if not good else "warn" if lives else "good",
        sign="✗" if not good else "!" if lives else "✓",
        note=_note(mutation.identity, run),
        notes=mutation.notes,
        withheld=hidden,
        head="" if hidden else rows.head(mutation),
        asked="" if hidden else rows.asked(mutation),
        weak="" if hidden else rows.thin_suite(mutation),
        must="" if hidden else rows.must(mutation),
        survivors=[] if hidden else rows.survivors(mutation),
        counts=mutation.n_counted > 0,
        by=[] if hidden else rows.killed_by(mutation),
        strips=[] if hidden else list(_strips(mutation, order, places)),
        drawn=len(order),
        sentence="" if hidden else _sentence(mutation, order),
        asides=[] if hidden else rows.asides(mutation),
        idle_head="" if hidden else rows.idle_head(mutation),
        idle="" if hidden else rows.idle(mutation),
    )


def _note(identity: Run, run: Run) -> str:
    """What to know where other probes or another store were asked; else empty."""
    asked, shown = identity.manifest, run.manifest
    told = [
        f"{word} {old}, the run above {new}"
        for word, old, new in (
            ("suite", asked.suite_hash, shown.suite_hash),
            ("store", asked.store, shown.store),
        )
        if old != new
    ]
    return f"It is not of the same as the run: it was {' and '.join(told)}." if told else ""


def _order(mutation: Mutated) -> list[str]:
    """Probes from left to right: those that kill most first, at most so many as can be seen."""
    n = Counter(mutation.kills["probe"])
    names = [probe.name for probe in mutation.identity.suite]
    return sorted(names, key=lambda name: -n[name])[:MOST_DRAWN]


def _strips(mutation: Mutated, order: Sequence[str], places: Mapping[str, str]) -> Iterator[Strip]:
    """What lives first, then what few probes see."""
    column = {name: n for n, name in enumerate(order)}
    killers: dict[str, dict[str, str]] = {}
    for one in _told(mutation.kills):
        killers.setdefault(str(one.saboteur), {}).setdefault(str(one.probe), str(one.by))
    frame = mutation.saboteurs
    counted: list[Any] = _told(frame[frame["killed"].notna()])
    for row in sorted(counted, key=lambda row: int(row.depth)):
        by = killers.get(row.saboteur, {})
        named = list(by) if len(by) <= MOST_NAMED else []
        yield Strip(
            saboteur=str(row.saboteur),
            fault="" if row.fault != row.fault or row.fault is None else str(row.fault),
            means={True: "fails too", False: "passes"}.get(row.significant, ""),
            depth=int(row.depth),
            must=bool(row.must_kill),
            killers=[(name, places.get(name, "")) for name in named],
            marks=list(_marks({column[name]: word for name, word in by.items() if name in column})),
        )


def _marks(at: Mapping[int, str]) -> Iterator[tuple[str, str, int]]:
    """A path for each word, a step for each run of probes side by side; all stand on the ground.

    Examples
    --------
    >>> list(_marks({0: "gate", 1: "gate", 4: "latency"}))
    [('gate', 'M0 6h2', 12), ('latency', 'M4 10.5h1', 3)]
    """
    for word, tall in TALL.items():
        steps = []
        places = sorted(place for place, by in at.items() if by == word)
        for _, side in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
            together = [place for _, place in side]
            steps.append(f"M{together[0]} {HEIGHT - tall / 2:g}h{len(together)}")
        if steps:
            yield word, "".join(steps), tall


def _sentence(mutation: Mutated, order: Sequence[str]) -> str:
    """The matrix in words, for whoever cannot see it."""
    n, kills = len(mutation.identity.suite), mutation.kills
    told = f"{count(mutation.n_counted, 'fault')} by {count(n, 'probe')}: {rows.head(mutation)}"
    if len(kills):
        told += f"; {order[0]} sees most, {max(Counter(kills['probe']).values())}"
    cut = f". Drawn are the {len(order)} probes that see most" if len(order) < n else ""
    return f"{told}; {rows.idle_head(mutation)}{cut}."


def _told(frame: Any) -> list[Any]:
    return list(frame.itertuples())
