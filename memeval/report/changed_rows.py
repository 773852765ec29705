"""Probes that changed between two runs, as the page shows them: ranks, links and newcomers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from memeval.comparing.changes import not_asked
from memeval.comparison import Comparison
from memeval.frames import CHANGE_WORDS
from memeval.report import figures
from memeval.report.comparison_rows import APART, MOST_APART, NOT_ASKED, tellable
from memeval.report.probes import Ledger, anchor

MOST_CHANGES = 200
LONGEST = 140
MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "lost": "passed in every repeat, passes in none now",
        "gained": "passed in no repeat, passes in every one now",
        "flaky": "passed in some repeats of a side and not in others",
        "added": "of the current side alone",
        "removed": "of the baseline alone",
        "edited": "its content changed, so it is not compared",
    }
)
# What is said once beside the changed probes, and again as records with their texts.
_NEWCOMERS = "; new before or instead of it: "
# What the heading of a group says of all its probes, and what the ranks beside it say.
_SAID_ABOVE = frozenset({"passed before, not now", "passes now, did not before"})
_SAID_BESIDE = "first expected record "


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A record that displaced the expected one: its id, its rank now and its text."""

    record: str
    rank: int
    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """One probe that changed; `then` and `now` are shares of the width, NaN for no rank at all."""

    probe: str
    link: str
    before: str
    after: str
    reason: str
    newcomers: tuple[Newcomer, ...]
    then: float
    now: float


@dataclass(frozen=True, slots=True)
class Group:
    """Probes that changed in one way; `names` in place of rows where these would say nothing."""

    change: str
    meaning: str
    n: int
    probes: tuple[Changed, ...]
    names: tuple[str, ...] = ()


def groups(comparison: Comparison, ledger: Ledger | None, told: frozenset[str]) -> Iterator[Group]:
    """Changed probes by what happened to them, lost ones first.

    Parameters
    ----------
    comparison : Comparison
        Whose changes are shown.
    ledger : Ledger or None
        The probes of the page; None where it shows none.
    told : frozenset of str
        Names of those that have a detail of their own.
    """
    changed = tellable(comparison)
    shown = changed[:MOST_CHANGES]
    ranks = [_rank(rank) for row in shown for rank in (row.rank_before, row.rank_after)]
    deepest = max((rank for rank in ranks if rank), default=1)
    for word in CHANGE_WORDS:
        n = sum(row.change == word for row in changed)
        listed = [row for row in shown if row.change == word]
        if n:
            if word in APART and n > MOST_APART:
                yield Group(word, MEANINGS[word], n, (), tuple(row.probe for row in listed))
                continue
            probes = tuple(_changed(row, comparison, ledger, told, deepest) for row in listed)
            yield Group(word, MEANINGS[word], n, probes)


def _changed(
    row: Any, comparison: Comparison, ledger: Ledger | None, told: frozenset[str], deepest: int
) -> Changed:
    newcomers = () if ledger is None else tuple(_newcomers(row, comparison, ledger))
    reason = _reason(row.reason, bool(newcomers))
    then, now = _rank(row.rank_before), _rank(row.rank_after)
    numbers = not comparison.withheld
    away = not_asked(row.reason)
    old, new = row.change != "added" and numbers, row.change != "removed" and numbers
    return Changed(
        probe=row.probe,
        link=_link(row.probe, ledger, told),
        before=NOT_ASKED if away[0] and old else _place(then, now, old),
        after=NOT_ASKED if away[1] and new else _place(now, then, new),
        reason=reason if numbers else "",
        newcomers=newcomers if numbers else (),
        then=_along(then, now, deepest, old and not away[0]),
        now=_along(now, then, deepest, new and not away[1]),
    )


def _reason(reason: str, newcomers: bool) -> str:
    """What is left to say beside heading, ranks and newcomers."""
    told = reason.partition(_NEWCOMERS)[0] if newcomers else reason
    parts = [part for part in told.split("; ") if part not in _SAID_ABOVE]
    rest = [part for part in parts if not part.startswith(_SAID_BESIDE)]
    return "; ".join(rest if rest or newcomers else parts)


def _rank(value: Any) -> int | None:
    return None if figures.is_missing(value) else int(value)


def _place(rank: int | None, other: int | None, there: bool) -> str:
    """A rank as a cell; empty where neither side has one, as of negative probes."""
    if not there or (rank is None and other is None):
        return ""
    return "–" if rank is None else str(rank)


def _along(rank: int | None, other: int | None, deepest: int, there: bool) -> float:
    """Share of the width for a rank: 1 stands left, what was not found at the right end."""
    if not there or (rank is None and other is None):
        return math.nan
    return ((rank or deepest + 1) - 1) / deepest


def _link(probe: str, ledger: Ledger | None, told: frozenset[str]) -> str:
    """Where the page says more of a probe: its detail, else its row; empty where it has none."""
    if probe in told:
        return anchor(probe)
    there = ledger is not None and probe in ledger.probes
    return f"row-{anchor(probe)}" if there else ""


def _newcomers(row: Any, comparison: Comparison, ledger: Ledger) -> Iterator[Newcomer]:
    """Records that displaced the expected one, with rank and text as they came back now."""
    rest = "" if figures.is_missing(row.displaced_by) else str(row.displaced_by)
    answer = comparison.current.answers.get(row.probe, ())
    texts = ledger.texts(row.probe)
    while rest:
        # Ids may hold blanks, so they are looked up in the answer, the longest that fits.
        fits = [one for one in answer if f"{rest} ".startswith(f"{one} ")]
        found = max(fits, key=len, default=rest)
        rank = answer.index(found) + 1 if found in answer else 0
        text = texts[rank - 1] if 0 < rank <= len(texts) else None
        yield Newcomer(_short(found), rank, _short(text))
        rest = rest[len(found) + 1 :]


def _short(text: str | None) -> str:
    """The begin of a text, on one line."""
    line = " ".join((text or "")[: 4 * LONGEST].split())
    return line if len(line) <= LONGEST and len(text or "") <= 4 * LONGEST else f"{line[:LONGEST]}…"
