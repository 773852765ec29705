"""What is shown of a mutation, in words and cells: the same for text, Markdown and HTML.

Cells still hold other people's text; each form makes it safe in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd

from memeval.report import tables
from memeval.report.control_rows import WITHHELD as WITHHELD
from memeval.report.figures import count, figure, is_missing
from memeval.runs import Run, Verdict

KILLED_BY: Mapping[str, str] = {
    "gate": "a record that must never come back came back",
    "contract": "an answer broke what any store owes its caller",
    "ratchet": "a probe that passes on your store failed",
    "latency": "it took more than twice as long",
}
KILL_HEAD = ("saboteur", "depth", *KILLED_BY, "means")
KILL_SIDES = "lrrrrrl"
KEY = (
    "depth: probes that kill it, and by what.  means: whether the comparison of two runs, which "
    "looks at means, fails it too; no part of the score.  -: not asked."
)


class Mutated(Protocol):
    """What the forms need of a mutation, such as `memeval.mutation.Mutation`."""

    @property
    def kills(self) -> pd.DataFrame:
        """As `memeval.frames.KILLS`."""

    @property
    def saboteurs(self) -> pd.DataFrame:
        """As `memeval.frames.SABOTEURS`."""

    @property
    def identity(self) -> Run:
        """The store as it is; it carries the validity of the suite."""

    @property
    def skeletons(self) -> Mapping[str, str]:
        """Probe files that would kill the survivors, by their names."""

    @property
    def repeats(self) -> int:
        """How often each probe was asked."""

    @property
    def notes(self) -> Sequence[str]:
        """What the reader must know of how it was done."""

    @property
    def score(self) -> float:
        """Killed, of those that count."""

    @property
    def n_killed(self) -> int:
        """Saboteurs that were killed."""

    @property
    def n_counted(self) -> int:
        """Saboteurs that are applicable and not equivalent."""

    @property
    def kill_depth(self) -> float:
        """Share of the killed that at least two probes see."""

    @property
    def must_killed(self) -> bool:
        """Whether no must-kill saboteur survived."""

    @property
    def survivors(self) -> pd.DataFrame:
        """Rows of the saboteurs that live."""

    @property
    def idle(self) -> Sequence[str]:
        """Probes that kill nothing."""

    @property
    def verdict(self) -> Verdict:
        """What it comes to."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A saboteur that no probe sees, and what would see it."""

    name: str
    fault: str
    must: bool
    points: Sequence[tuple[str, str]]
    skeleton: str


@dataclass(frozen=True, slots=True)
class Aside:
    """A saboteur that does not count, and why."""

    name: str
    state: str
    reason: str


def withheld(mutation: Mutated) -> bool:
    """Whether every number and outcome must be kept back: those of an invalid suite."""
    return mutation.verdict.word == "INVALID"


def head(mutation: Mutated) -> str:
    """How many were killed, with score and depth."""
    if not mutation.n_counted:
        return "none to kill: no saboteur counts on this store (score n/a)"
    score, depth = figure(mutation.score), mutation.kill_depth
    shown = "n/a" if is_missing(depth) else f"{depth:.2f}"
    return f"{mutation.n_killed} of {mutation.n_counted} killed (score {score}, depth {shown})"


def asked(mutation: Mutated) -> str:
    """Which probes were asked of which store, how often, and what depth means."""
    times = "once" if mutation.repeats == 1 else f"{mutation.repeats} times"
    n = count(len(mutation.identity.suite), "probe")
    return (
        f"{n}, asked {times} of {mutation.identity.manifest.store}; depth: share of the killed "
        "that at least 2 probes see"
    )


def thin_suite(mutation: Mutated) -> str:
    """What stands beside the score of a weak or unchecked suite; empty for a valid one."""
    return tables.thin(mutation.identity)


def must(mutation: Mutated) -> str:
    """What became of the saboteurs that any suite must kill."""
    rows = mutation.saboteurs[mutation.saboteurs["must_kill"]]
    if rows.empty:
        return "none was asked of this suite"
    lives = rows.loc[_is(rows["killed"], False), "saboteur"]
    dead, aside = int(_is(rows["killed"], True).sum()), int(rows["killed"].isna().sum())
    told = f"all {dead} killed" if not len(lives) else f"{len(lives)} of {dead + len(lives)} LIVE"
    if not dead and not len(lives):
        told = "none could be asked"
    names = f": {', '.join(lives)}" if len(lives) else ""
    return f"{told}{names}" + (
        f"; {aside} more {'does' if aside == 1 else 'do'} not count on this store" if aside else ""
    )


def survivors(mutation: Mutated) -> list[Survivor]:
    """Saboteurs that no probe sees, those that must die first."""
    rows = sorted(_told(mutation.survivors), key=lambda row: not row.must_kill)
    return [_survivor(row, mutation.skeletons) for row in rows]


def _survivor(row: Any, skeletons: Mapping[str, str]) -> Survivor:
    skeleton = skeletons.get(row.saboteur, "").strip("\n")
    if all(line.lstrip().startswith("#") for line in skeleton.splitlines()):
        skeleton = ""  # words alone, which stand here as points
    return Survivor(row.saboteur, _or(row.fault), bool(row.must_kill),
                    list(_points(row, bool(skeleton))), skeleton)  # fmt: skip


def _points(row: Any, shown: bool) -> Iterator[tuple[str, str]]:
    kind = _or(row.missing_probe)
    if kind:
        yield "missing:", kind
    if _or(row.reason):
        yield "why:", _or(row.reason)
    if shown:
        yield "write:", "probes like these, with what your users store and ask"
    elif kind:
        yield "write:", "such a probe; nobody has written one that could be shown here"


def asides(mutation: Mutated) -> list[Aside]:
    """Saboteurs that do not count: equivalent ones, then those that mean nothing here."""
    frame = mutation.saboteurs
    same = frame[_is(frame["equivalent"], True)]
    none = frame[~frame["applicable"]]
    told = [(row, "equivalent") for row in _told(same)]
    told += [(row, "not applicable") for row in _told(none)]
    return [Aside(row.saboteur, state, _or(row.reason)) for row, state in told]


def killed_by(mutation: Mutated) -> list[list[str]]:
    """What killed them: word, saboteurs, probes and meaning."""
    kills = mutation.kills
    parts = [(word, kills[kills["by"].eq(word)]) for word in KILLED_BY]
    return [
        [word, str(rows["saboteur"].nunique()), str(rows["probe"].nunique()), KILLED_BY[word]]
        for word, rows in parts
        if len(rows)
    ]


def kills(mutation: Mutated) -> list[list[str]]:
    """Cells of each saboteur that was killed, under `KILL_HEAD`, in the order of the frame."""
    frame, by = mutation.saboteurs, mutation.kills["by"].astype("str")
    n = dict(mutation.kills.groupby(["saboteur", by]).size())
    return [
        [
            row.saboteur,
            str(row.depth),
            *(str(n.get((row.saboteur, word), "")) for word in KILLED_BY),
            "-" if is_missing(row.significant) else "fail" if row.significant else "pass",
        ]
        for row in _told(frame[_is(frame["killed"], True)])
    ]


def thin(mutation: Mutated) -> list[tuple[str, str]]:
    """Saboteurs that one probe alone kills, with that probe."""
    once = mutation.kills[~mutation.kills["saboteur"].duplicated(keep=False)]
    return list(zip(once["saboteur"], once["probe"], strict=True))


def idle(mutation: Mutated) -> str:
    """Probes that kill nothing, by name; empty where every probe kills something."""
    names = mutation.idle
    return ", ".join(names)


def idle_head(mutation: Mutated) -> str:
    """How many probes kill nothing, and what that means."""
    n = len(mutation.idle)
    if not n:
        return "every probe kills something"
    if n == 1:
        return "1 probe kills nothing: none of these faults needs it"
    return f"{n} probes kill nothing: none of these faults needs them"


def _told(frame: pd.DataFrame) -> list[Any]:
    return list(frame.itertuples())


def _is(column: pd.Series, value: bool) -> pd.Series:
    return column.eq(value).fillna(False).astype("bool")


def _or(value: Any) -> str:
    return "" if is_missing(value) else str(value)
