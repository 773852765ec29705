"""What the page says of a comparison: cells, drawings, and links to the probes below."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from memeval.chances import NOT_MEASURED
from memeval.comparison import Comparison
from memeval.report import comparison_rows as rows
from memeval.report import figures
from memeval.report.changed_rows import Group, groups
from memeval.report.probes import Ledger

KEY = (
    "Drawn: delta and its interval, a line at no change, a dashed one at the margin. Interval: "
    "each end holds with {level:.4g}. {p}+/=/-: probes better, level, worse. x: a ratio of times."
)
_LABELS: Mapping[str, str] = MappingProxyType({"tested:": "under test"})


@dataclass(frozen=True, slots=True)
class Moved:
    """How one metric moved.

    Attributes
    ----------
    metric, before, now, delta, interval, p, n, flips : str
        Cells.
    way : str
        ``better``, ``worse``, ``level``, or empty.
    worse : bool
        Whether the verdict counts it as worse.
    place, low, width, margin : float
        For drawing, as shares of the width; NaN where there is nothing to draw.
    """

    metric: str
    before: str
    now: str
    delta: str
    interval: str
    p: str
    n: str
    flips: str
    way: str
    worse: bool
    place: float
    low: float
    width: float
    margin: float


@dataclass(frozen=True, slots=True)
class Section:
    """Everything that the template prints of a comparison."""

    comparison: Comparison
    tone: str
    sign: str
    circumstances: Sequence[tuple[str, Sequence[str]]]
    metrics: Sequence[Moved]
    reach: float
    groups: Sequence[Group]
    words: Mapping[str, str]
    reasons: Mapping[str, str]

    @property
    def counted(self) -> str:
        """How many probes changed in which way."""
        return rows.counted(self.comparison)

    @property
    def key(self) -> str:
        """How the table of metrics is to be read."""
        p = rows.P_KEY.replace("  ", " ") if self.tested else ""
        return KEY.format(level=1.0 - self.comparison.alpha, p=p)

    @property
    def tested(self) -> bool:
        """Whether tests decide, so that p stands in the table."""
        return self.comparison.rule == "paired"

    @property
    def power(self) -> str:
        """What so many probes can show at all."""
        return rows.power(self.comparison)

    @property
    def moved(self) -> dict[str, Moved]:
        """How each metric moved, by its name; nothing where no number may be shown."""
        return {one.metric: one for one in self.metrics if one.way}

    @property
    def common(self) -> int:
        """How many probes both sides asked with equal content."""
        return len(self.comparison.comparability.common)


def section(comparison: Comparison, ledger: Ledger | None, told: Collection[str]) -> Section:
    """Gather what the page says of a comparison.

    Parameters
    ----------
    comparison : Comparison
        Of the run that the page draws.
    ledger : Ledger or None
        Its probes; None where the page shows none.
    told : collection of str
        Names of the probes that have a detail of their own.

    Returns
    -------
    Section
        Without any metric, rank and changed outcome where the verdict withholds them; which probes
        were added, removed or edited is told even then, as it may be why.
    """
    word = comparison.verdict.word
    changed = rows.tellable(comparison)
    reach = _reach(comparison)
    metrics = [] if comparison.withheld else rows.told(comparison)
    return Section(
        comparison=comparison,
        tone="good" if comparison.passed else "warn" if word == "CANNOT TELL" else "bad",
        sign="✓" if comparison.passed else "?" if word == "CANNOT TELL" else "✗",
        circumstances=_grouped(rows.circumstances(comparison)),
        metrics=[_moved(row, reach, comparison.margin) for row in metrics],
        reach=reach,
        groups=list(groups(comparison, ledger, frozenset(told))),
        words={row.probe: str(row.change) for row in changed},
        reasons={} if comparison.withheld else {row.probe: row.reason for row in changed},
    )


def _grouped(pairs: Iterator[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Words under their labels, in the order in which these come."""
    found: dict[str, list[str]] = {}
    for label, words in pairs:
        found.setdefault(_LABELS.get(label, label.rstrip(":")), []).append(words)
    return list(found.items())


def _reach(comparison: Comparison) -> float:
    """Where the drawing of the differences ends: the next tenth."""
    shares = comparison.frame[~comparison.frame["metric"].isin([*rows.TIMES, *figures.COUNTS])]
    ends = shares[["low", "delta", "high"]].abs().to_numpy()
    most: float = max([comparison.margin, *(v for v in ends.ravel() if not math.isnan(v))])
    return float(min(1.0, math.ceil(10 * most - 1e-9) / 10))


def _moved(row: Any, reach: float, margin: float) -> Moved:
    drawn = row.metric not in rows.TIMES and row.metric not in figures.COUNTS
    low, high = _across(row.low, reach), _across(row.high, reach)
    _, before, now, delta, interval, p, n, flips = rows.cells(row)
    if row.metric == "leaks":
        before, now = (NOT_MEASURED if one == figures.UNDEFINED else one for one in (before, now))
    return Moved(
        metric=row.metric,
        before=before,
        now=now,
        delta=delta,
        interval=interval,
        p=p,
        n=n,
        flips=flips,
        way=rows.way(row),
        worse=rows.worse(row),
        place=_across(row.delta, reach) if drawn else math.nan,
        low=low if drawn else math.nan,
        width=high - low if drawn else math.nan,
        margin=_across(-margin, reach) if row.metric == "recall_all" else math.nan,
    )


def _across(value: float, reach: float) -> float:
    """Share of the width of a difference; 0.5 is none."""
    return 0.5 + max(-1.0, min(1.0, value / reach)) / 2 if value == value else math.nan
