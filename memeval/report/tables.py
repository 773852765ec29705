"""The rows and words that every form of a report shares.

What is shown, what is withheld, how a number is rounded and how it is said: decided here once, so
that the page, the terminal and Markdown never differ. Values are plain strings that still hold
other people's text; each form makes them safe in its own way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memeval.chances import NOT_MEASURED, Leaks, leaks_of, told
from memeval.report.control_rows import withheld
from memeval.report.figures import (
    COUNTED,
    COUNTS,
    ENOUGH_SEARCHES,
    HEADLINE,
    MEANINGS,
    PROBE_MEANS,
    TITLES,
    figure,
    is_missing,
)
from memeval.runs import Run

WHAT = (
    "memeval grades retrieval: which records a memory store brings back, and in which order. "
    "It does not grade the answer that an agent makes of them."
)


def meets(value: float, target: float, better: str) -> bool:
    """Whether a value is better than its target; the end of the scale itself will do.

    Examples
    --------
    >>> meets(0.85, 0.85, "higher"), meets(0.0, 0.0, "lower"), meets(1.0, 1.0, "higher")
    (False, True, True)
    """
    if better == "higher":
        return value > target or value == target == 1.0
    return value < target or value == target == 0.0


@dataclass(frozen=True, slots=True)
class Metric:
    """One row of the summary, ready to be shown.

    Attributes
    ----------
    name, title, meaning : str
        Its name in the tables, its name on a tile, and what it is.
    value, interval, n, counted : str
        The number, its interval or why there is none, and how many of what it was taken over.
    target, target_words : str
        What to aim for, such as ``> 0.85``, and whether it is met; empty without a target.
    bound_words : str
        Whether gate and floor are kept; empty without them.
    met, kept : bool or None
        The same as values; None where there is nothing to say.
    place, low, high, mark : float
        Value, interval and target, for drawing; NaN where undefined.
    """

    name: str
    title: str
    meaning: str
    value: str
    interval: str
    n: str
    counted: str
    target: str
    target_words: str
    bound_words: str
    met: bool | None
    kept: bool | None
    place: float
    low: float
    high: float
    mark: float


def metrics(run: Run) -> list[Metric]:
    """Every metric of the summary, in its order; none of an invalid suite."""
    if withheld(run.validity):
        return []
    rows: dict[str, Any] = {str(row.metric): row for row in told(run.summary).itertuples()}
    seen = leaks_of(run.summary)
    return [_metric(row, _interval(row, seen)) for row in rows.values()]


def tiles(run: Run) -> list[Metric]:
    """The metrics that head a report."""
    known = {metric.name: metric for metric in metrics(run)}
    return [known[name] for name in HEADLINE if name in known]


def _metric(row: Any, interval: str) -> Metric:
    name, better = str(row.metric), str(row.better)
    aimed, known = not is_missing(row.target), not is_missing(row.value)
    met = meets(row.value, row.target, better) if aimed and known else None
    kept = None if is_missing(row.passed) else bool(row.passed)
    return Metric(
        name=name,
        title=TITLES.get(name, name),
        meaning=MEANINGS.get(name, ""),
        value=figure(row.value, name),
        interval=interval,
        n=f"{row.n:,}",
        counted=COUNTED.get(name, "probes"),
        target=_aim(row.target, better) if aimed else "",
        target_words=_target_words(met) if aimed else "",
        bound_words="; ".join(_bounds(row, kept)),
        met=met,
        kept=kept,
        place=float(row.value),
        low=float(row.low),
        high=float(row.high),
        mark=float(row.target),
    )


def _aim(target: float, better: str) -> str:
    if target == (1.0 if better == "higher" else 0.0):
        return f"{target:g}"
    return f"{'>' if better == 'higher' else '<'} {target:g}"


def _target_words(met: bool | None) -> str:
    return {True: "met", False: "missed", None: "nothing to judge"}[met]


def _bounds(row: Any, kept: bool | None) -> Iterator[str]:
    """What gates: each bound with the word whether it is kept."""
    if row.gate and not is_missing(row.value):
        yield f"gate {'kept' if row.value == 0 else 'BROKEN'}"
    if not is_missing(row.floor):
        side = "floor" if row.better == "higher" else "ceiling"
        held = row.value >= row.floor if row.better == "higher" else row.value <= row.floor
        word = "nothing to judge" if kept is None else "kept" if held else "BROKEN"
        yield f"{side} {row.floor:g} {word}"


def _interval(row: Any, seen: Leaks) -> str:
    """The interval of 95 %, or in words why there is none."""
    name = str(row.metric)
    if name == "leaks" and not seen.measured:
        return f"{NOT_MEASURED}: nothing could leak"
    if name == "leaks" and not math.isnan(seen.high):
        return f"leak rate at most {seen.high:.3f}" if seen.n_leaked else seen.words
    if not is_missing(row.low) and not is_missing(row.high):
        return f"{figure(row.low, name)} to {figure(row.high, name)}"
    if row.n == 0 or is_missing(row.value):
        return "nothing measured"
    if name in COUNTS:
        return "a count: no interval"
    if name in ENOUGH_SEARCHES and row.n < ENOUGH_SEARCHES[name]:
        return f"none: under {ENOUGH_SEARCHES[name]} searches"
    if name in PROBE_MEANS:
        return "none: too few distinct values"
    return "none: too few" if row.n < 5 else "none computed"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the probes: how many, of what kind, and what that means."""

    name: str
    n: int
    words: str


def split(run: Run) -> list[Part]:
    """Positive, negative and held-out probes, and those that were not asked or got no answer.

    Of an invalid suite only the first three: what became of a search is an outcome.
    """
    positive = sum(probe.is_positive for probe in run.suite)
    held_out = 0 if run.suite.held_out is None else len(run.suite.held_out.names)
    parts = [
        Part("positive", positive, "something is expected"),
        Part("negative", len(run.suite) - positive, "nothing is right: the answer must be empty"),
        Part("held out", held_out, _held_words(run)),
    ]
    if withheld(run.validity):
        return parts
    status = run.results["status"].astype("str")
    lost = int(status.isin(["not_stored", "not_visible"]).sum())
    unsupported = int(status.eq("not_supported").sum())
    parts += [
        Part("not supported", unsupported, "the store cannot take it: left out of every number"),
        Part("errors", run.errors, "the search failed or timed out: counted as 0"),
    ]
    if lost:
        parts.append(Part("lost", lost, "what was written could not be found: counted as 0"))
    return parts


def _held_words(run: Run) -> str:
    if run.suite.held_out is None:
        return "none is kept for last: set holdout = 0.2 in [tool.memeval]"
    asked = len(run.suite.looked_at)
    if not asked:
        return "not asked: --holdout asks them too"
    part = "all" if asked == len(run.suite.held_out.names) else f"{asked} of them"
    return f"{part} asked here, which is a look at the holdout"


def thin(run: Run) -> str:
    """What to print beside every number of a weak or unchecked suite; empty for a valid one."""
    reasons = "; ".join(run.validity.reasons)
    return {
        "weak": f"weak suite: {reasons}",
        "unchecked": "unchecked suite: no control has judged these numbers",
    }.get(run.validity.status, "")


@dataclass(frozen=True, slots=True)
class Bar:
    """Positive probes whose first expected record stands at these ranks."""

    label: str
    n: int
    share: float
    missed: bool = False


def rank_bars(run: Run, most: int = 10) -> list[Bar]:
    """Where the first expected record stands, over the positive probes that were asked."""
    results = run.results
    asked = results[results["kind"].eq("positive") & results["status"].ne("not_supported")]
    if withheld(run.validity) or asked.empty:
        return []
    ranks, deepest, n = asked["first_rank"], int(asked["k"].max()), len(asked)
    counts = [(f"rank {r}", int(ranks.eq(r).sum())) for r in range(1, min(deepest, most) + 1)]
    if deepest > most:
        counts.append((f"rank {most + 1} to {deepest}", int(ranks.gt(most).sum())))
    bars = [Bar(label, found, found / n) for label, found in counts]
    return [*bars, Bar("not in the top k", missing := int(ranks.isna().sum()), missing / n, True)]
