"""What is shown of a comparison, in words and cells: the same for text, Markdown and HTML."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memeval.comparing.changes import not_asked
from memeval.comparing.sides import listed
from memeval.comparison import Comparison
from memeval.frames import CHANGE_WORDS
from memeval.outcomes import Outcomes
from memeval.report import figures
from memeval.summary import METRICS

WITHHELD = "No number is shown: none of them can be believed here."
HEAD = ("metric", "before", "now", "delta", "interval", "p", "n", "+/=/-")
SIDES = "lrrrlrrr"
TESTED = "tested:"
CHANGE_HEAD = ("change", "probe", "before", "now", "why")
P_KEY = (
    "p: one-sided, that it got worse by luck, made good for two tests: only recall_all and ndcg "
    "are tested.  "
)
KEY = (
    "interval: each end holds with {level:.4g}.  {p}+/=/-: probes better, level, worse.  x: a "
    "ratio of times.  !: counts as worse.  -: {none}.  n/a: not measured on both sides."
)
TIMES = ("latency_ms", "latency_p95_ms", "cold_ms", "write_ms", "visible_ms")
# What is rounded to no difference is none: three decimals of a share, two of a ratio of times.
LEVEL = 0.0005
LEVEL_RATIO = 0.005
NOT_ASKED = "not asked"
# Kinds of change that are of the suite, not of the store, and how many stand with a line each.
APART = ("added", "removed")
MOST_APART = 10
_P = HEAD.index("p")


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
    yield from ((TESTED, str(one)) for one in found.under_test)
    if not found.under_test and found.quality != "unknown":
        sides = (comparison.baseline.manifest, comparison.current.manifest)
        named = all(side.get("store") for side in sides)
        same = "the store and its settings are the same on both sides"
        yield TESTED, same if named else "not told: not both sides name their store"
    yield from (("differs:", str(one)) for one in found.blocks)
    if found.quality == "unknown":
        yield "unknown:", "comparability unknown: one side does not tell how it was measured"
    yield from (("warning:", str(one)) for one in found.warnings)
    if not comparison.withheld:
        yield from (("note:", note) for note in comparison.notes)


def told(comparison: Comparison) -> list[Any]:
    """Rows of the metrics that a side has a value of, as named tuples."""
    rows: list[Any] = list(comparison.frame.itertuples(index=False))
    there = [row for row in rows if not (figures.is_missing(row.baseline) and not row.n)]
    return [_seen(row, comparison) if row.metric == "leaks" else row for row in there]


def _seen(row: Any, comparison: Comparison) -> Any:
    """The row of leaks, in which no leak is NA on a side where nothing could leak."""
    sides = (comparison.baseline, comparison.current)
    before, now = (
        value if value or could_leak(side, comparison) else math.nan
        for value, side in zip((row.baseline, row.current), sides, strict=True)
    )
    delta = row.delta if before == before and now == now else math.nan
    return row._replace(baseline=before, current=now, delta=delta)


def could_leak(side: Outcomes, comparison: Comparison) -> bool:
    """Whether a common probe that a side answered names anything that must not come back.

    What must not come back is a matter of the probes, so one full run tells it for both sides; it
    is taken for granted where neither side is one.
    """
    qrels = [one.run.qrels for one in (side, comparison.current, comparison.baseline) if one.run]
    if not qrels:
        return True
    answered = side.probes.loc[side.probes["status"].eq("ok"), "probe"]
    forbidden = qrels[0].loc[qrels[0]["label"].eq("forbidden"), "probe"]
    return not {*comparison.comparability.common}.isdisjoint({*answered} & {*forbidden})


def metrics(comparison: Comparison) -> list[list[str]]:
    """Cells of each metric that a side has a value of, under `heads`."""
    return [_tested(cells(row), comparison) for row in told(comparison)]


def heads(comparison: Comparison) -> list[str]:
    """Heads of the table of metrics: without p where no test decides."""
    return _tested(HEAD, comparison)


def sides(comparison: Comparison) -> str:
    """At which side the cells of each column stand."""
    return "".join(_tested(SIDES, comparison))


def _tested(columns: Sequence[str], comparison: Comparison) -> list[str]:
    every = range(len(columns))
    return [columns[n] for n in every if n != _P or comparison.rule == "paired"]


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
    level = LEVEL_RATIO if row.metric in TIMES else LEVEL
    return "level" if abs(change) < level else "better" if change > 0 else "worse"


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
    tested = comparison.rule == "paired"
    none = "no interval or no test" if tested else "no interval"
    return KEY.format(level=1.0 - comparison.alpha, p=P_KEY if tested else "", none=none)


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
    return [_cells(row) for row in tellable(comparison)]


def compact(
    told: Sequence[Change], limit: int | None
) -> tuple[list[Change], list[tuple[str, str]]]:
    """Divide changed probes: those with a line each, and kinds of which names alone are told.

    Parameters
    ----------
    told : sequence of Change
        As `changes` gives them.
    limit : int or None
        Most names of a kind.

    Returns
    -------
    list of Change, list of (str, str)
        The second has kinds that say nothing of a store, added and removed, where more than ten
        probes are of one: the kind and the names, with how many more there are.
    """
    kinds = [one.change for one in told]
    many = [word for word in APART if kinds.count(word) > MOST_APART]
    most = len(told) if limit is None else max(0, limit)
    named = [(word, listed((c.probe for c in told if c.change == word), most)) for word in many]
    return [one for one in told if one.change not in many], named


def _cells(row: Any) -> Change:
    before, now = not_asked(row.reason)
    ranks = _rank(row.rank_before, before), _rank(row.rank_after, now)
    return Change(row.change, row.probe, *ranks, row.reason)


def _rank(rank: Any, away: bool) -> str:
    if away:
        return NOT_ASKED
    return "-" if figures.is_missing(rank) else str(rank)
