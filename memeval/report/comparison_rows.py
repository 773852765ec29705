"""What is shown of a comparison, in words and cells: the same for text, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memeval.comparison import Comparison
from memeval.frames import CHANGE_WORDS
from memeval.report import figures
from memeval.summary import METRICS

WITHHELD = "No number is shown: none of them can be believed here."
HEAD = ("metric", "before", "now", "delta", "interval", "p", "n", "+/=/-")
SIDES = "lrrrlrrr"
CHANGE_HEAD = ("change", "probe", "before", "now", "why")
KEY = (
    "interval: each end holds with {level:.4g}.  p: one-sided, that it got worse by luck, made "
    "good for two tests.  +/=/-: probes better, level, worse.  x: a ratio of times.  !: counts as "
    "worse.  -: no interval or no test.  n/a: not measured on both sides."
)
TIMES = ("latency_ms", "latency_p95_ms")
# What is rounded to no difference is none.
LEVEL = 0.0005


@dataclass(frozen=True, slots=True)
class Change:
    """One probe that changed, as cells."""

    change: str
    probe: str
    before: str
    now: str
    reason: str


def head(comparison: Comparison) -> str:
    """Which two sides, the older one first."""
    n = len(comparison.comparability.common)
    probes = figures.count(n, "common probe")
    return f"{comparison.baseline.source} -> {comparison.current.source}: {probes}"


def circumstances(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """How both were measured: to be read before any number, as label and words.

    What is under test, the store and its settings, comes first.
    """
    found = comparison.comparability
    yield from (("tested:", str(one)) for one in found.under_test)
    if not found.under_test and found.quality != "unknown":
        yield "tested:", "the store and its settings are the same on both sides"
    yield from (("differs:", str(one)) for one in found.blocks)
    if found.quality == "unknown":
        yield "unknown:", "comparability unknown: one side does not tell how it was measured"
    yield from (("warning:", str(one)) for one in found.warnings)
    if not comparison.withheld:
        yield from (("note:", note) for note in comparison.notes)


def told(comparison: Comparison) -> list[Any]:
    """Rows of the metrics that a side has a value of, as named tuples."""
    rows = comparison.frame.itertuples(index=False)
    return [row for row in rows if not (figures.is_missing(row.baseline) and not row.n)]


def metrics(comparison: Comparison) -> list[list[str]]:
    """Cells of each metric that a side has a value of."""
    return [cells(row) for row in told(comparison)]


def worse(row: Any) -> bool:
    """Whether the verdict counts a metric as worse; not where it does not judge it."""
    return not figures.is_missing(row.regressed) and bool(row.regressed)


def way(row: Any) -> str:
    """Which way a metric moved: better, worse or level; empty where nobody knows."""
    if figures.is_missing(row.delta):
        return ""
    change = 1.0 - row.delta if row.metric in TIMES else row.delta
    if METRICS.get(row.metric) == "lower" and row.metric not in TIMES:
        change = -change
    return "level" if abs(change) < LEVEL else "better" if change > 0 else "worse"


def cells(row: Any) -> list[str]:
    """Cells of one metric, under `HEAD`."""
    name = row.metric
    mark = " !" if worse(row) else ""
    values = [figures.figure(value, name) for value in (row.baseline, row.current)]
    flips = f"{row.wins}/{row.ties}/{row.losses}" if row.n else "-"
    n = str(row.n) if row.n else "all"
    return [name + mark, *values, delta(row), _interval(row), _p(row.p_value), n, flips]


def delta(row: Any) -> str:
    """Write a difference with its sign, or a ratio of times."""
    if figures.is_missing(row.delta):
        return figures.UNDEFINED
    if row.metric in TIMES:
        return f"x {row.delta:.2f}"
    written = f"{row.delta:+.0f}" if row.metric in figures.COUNTS else f"{row.delta:+.3f}"
    return "0" if not float(written) else written


def _interval(row: Any) -> str:
    if figures.is_missing(row.low) or figures.is_missing(row.high):
        return "-"
    if row.metric in TIMES:
        return f"[{row.low:.2f}, {row.high:.2f}]"
    return f"[{row.low:+.3f}, {row.high:+.3f}]"


def _p(value: float) -> str:
    if figures.is_missing(value):
        return "-"
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def key(comparison: Comparison) -> str:
    """How the table is to be read."""
    return KEY.format(level=1.0 - comparison.alpha)


def power(comparison: Comparison) -> str:
    """What so many probes can show at all; empty where nothing is tested."""
    n = int(comparison.of("recall_all")["n"])
    if not n:
        return ""
    probes = figures.count(n, "positive probe")
    if figures.is_missing(comparison.detectable):
        shown = f"{probes} would hardly show any fall of recall_all"
    else:
        shown = (
            f"{probes} would show (4 times in 5) a fall of recall_all by "
            f"{comparison.detectable:.3f} or more"
        )
    if comparison.verdict.word == "CANNOT TELL" and comparison.needed is not None:
        shown += f"; some {comparison.needed:,} would decide"
    return shown + f"; margin {comparison.margin:g}"


def counted(comparison: Comparison) -> str:
    """How many probes changed in which way, as far as that may be told."""
    changed = [row.change for row in tellable(comparison)]
    words = [(word, changed.count(word)) for word in CHANGE_WORDS]
    there = [f"{n} {word}" for word, n in words if n]
    return ", ".join(there) or "no probe was lost, gained, flaky, added, removed or edited"


def tellable(comparison: Comparison) -> list[Any]:
    """Rows of the changed probes that may be told: where numbers are withheld, no outcome."""
    every: list[Any] = list(comparison.changes.itertuples(index=False))
    if comparison.verdict.word == "INVALID":
        return []
    hidden = ("lost", "gained", "flaky") if comparison.withheld else ()
    return [row for row in every if row.change not in hidden]


def changes(comparison: Comparison) -> list[Change]:
    """Cells of each changed probe that may be told, in the order of the frame: lost ones first."""
    return [
        Change(row.change, row.probe, _rank(row.rank_before), _rank(row.rank_after), row.reason)
        for row in tellable(comparison)
    ]


def _rank(rank: Any) -> str:
    return "-" if figures.is_missing(rank) else str(rank)
