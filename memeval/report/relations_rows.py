"""What every form says of relations: violations of hard ones, a row per relation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd

from memeval.text import count
from memeval.verdicts import Verdict

MOST_OF_ONE = 2
TITLE = "what must hold between answers whatever the right answer is"
KEY = (
    "hard: no sound store breaks it, so one violation is a fault. soft: shown, never gates. "
    "broken: trials that broke it, of all trials. share: of the trials, with its 95 % interval."
)


class Related(Protocol):
    """What the forms need, such as `memeval.relations.Relations`."""

    @property
    def frame(self) -> pd.DataFrame:
        """As `memeval.frames.RELATIONS`."""

    @property
    def violations(self) -> pd.DataFrame:
        """As `memeval.frames.VIOLATIONS`."""

    @property
    def store(self) -> str:
        """Name of the store."""

    @property
    def left_behind(self) -> int:
        """Records that could not be removed."""

    @property
    def verdict(self) -> Verdict:
        """What it all comes to."""


@dataclass(frozen=True, slots=True)
class Line:
    """One relation in words."""

    relation: str
    kind: str
    broken: str
    share: str
    interval: str
    state: str
    statement: str


def lines(found: Related) -> list[Line]:
    """All relations in the order of the frame."""
    return [_line(row) for row in found.frame.itertuples()]


def _line(row: Any) -> Line:
    statement = row.statement
    if pd.notna(row.reason):
        return Line(row.relation, row.kind, "-", "-", "-", "n/a", f"{statement} ({row.reason})")
    state = "shown" if pd.isna(row.passed) else "kept" if row.passed else "BROKEN"
    share, interval = "-", "-"
    if row.n:
        share, interval = f"{row.share:.2f}", f"[{row.low:.2f}, {row.high:.2f}]"
    broken = f"{row.n_violated} of {row.n}"
    return Line(row.relation, row.kind, broken, share, interval, state, statement)


@dataclass(frozen=True, slots=True)
class Told:
    """One violation in words: a heading, and labelled parts."""

    heading: str
    parts: tuple[tuple[str, str], ...]
    more: str


def violations(found: Related) -> list[Told]:
    """Violations of hard relations, the first of each, and how many more there are."""
    hard = found.frame.loc[found.frame["kind"].eq("hard"), "relation"]
    listed: list[Told] = []
    for name in hard:
        rows = list(found.violations[found.violations["relation"].eq(name)].itertuples())
        for number, row in enumerate(rows[:MOST_OF_ONE], 1):
            rest = len(rows) - MOST_OF_ONE if number == MOST_OF_ONE else 0
            more = f"and {count(rest, 'more violation')} of {name}" if rest > 0 else ""
            last = number == min(len(rows), MOST_OF_ONE)
            listed.append(Told(f"{name}: {row.finding}", tuple(_parts(row, last)), more))
    return listed


def _parts(row: Any, last: bool) -> Iterator[tuple[str, str]]:
    yield "asked:", f'"{row.query}"'
    if pd.notna(row.records):
        yield "about:", row.records
    yield "first:", row.before
    yield "then:", row.after
    if last:
        yield "next:", row.next_step


def counted(found: Related) -> str:
    """How many hard relations are broken, in how many trials."""
    hard = found.frame[found.frame["kind"].eq("hard") & (found.frame["n_violated"] > 0)]
    if hard.empty:
        return "no hard relation is broken"
    n = int(hard["n_violated"].sum())
    return f"{count(len(hard), 'hard relation')} broken, {count(n, 'violation')}"


def notes(found: Related) -> list[str]:
    """What else must be said."""
    if not found.left_behind:
        return []
    return [f"{count(found.left_behind, 'record')} could not be removed from the store"]
