"""Cards of what a growing store comes to."""

from __future__ import annotations

import math
from typing import Any

from memeval.report.card import Card
from memeval.report.figures import UNDEFINED

_BAD = frozenset({"decline", "worse"})
_GOOD = frozenset({"flat", "plateau", "constant"})


def _judged(word: str) -> bool | None:
    return False if word in _BAD else True if word in _GOOD else None


def _number(value: float, form: str = "+.3f") -> str:
    return UNDEFINED if math.isnan(value) else f"{value:{form}}"


def _interval(one: Any, form: str = "+.3f") -> str:
    if math.isnan(one.low) or math.isnan(one.high):
        return "no interval"
    return f"[{one.low:{form}}, {one.high:{form}}]"


def trend(one: Any) -> Card:
    """Whether a metric falls."""
    per = "sessions" if one.curve == "retention" else "records"
    return Card(
        f"Trend of {one.metric} ({one.curve})",
        one.verdict.upper(),
        _judged(one.verdict),
        one.reason,
        lines=[
            (f"slope per 1,000 {per}", f"{_number(one.slope_per_1k)} {_interval(one)}"),
            ("net fall", f"{_number(one.drop, '.3f')}, at most {_number(one.most, '.3f')}"),
            ("p", _number(one.p_value, ".3g")),
            ("n", f"{one.n}"),
        ],
    )


def growth(one: Any) -> Card:
    """Whether the store still grows."""
    return Card(
        "Growth of the store",
        one.verdict.upper(),
        _judged(one.verdict),
        one.reason,
        lines=[
            ("kept per record, late over early", f"{_number(one.ratio, '.3f')} "
             f"{_interval(one, '.3f')}"),
            ("kept of 1,000 written, late", _number(one.kept_per_1k, ",.0f")),
            ("n", f"{one.n}"),
        ],
    )  # fmt: skip


def shape(one: Any) -> Card:
    """The law of the latency."""
    return Card(
        "Shape of the latency",
        one.group.upper(),
        _judged(one.group),
        one.reason,
        lines=[
            ("law", one.law),
            ("crosses the budget at", f"{_number(one.crossing, ',.0f')} records "
             f"{_interval(one, ',.0f')}"),
        ],
    )  # fmt: skip


def comparison(one: Any) -> Card:
    """Whether one store drifts worse than another."""
    found = one.difference
    return Card(
        "Drift, current against baseline",
        found.verdict.upper(),
        _judged(found.verdict),
        one.reason,
        lines=[
            ("difference of the slopes per 1,000", f"{_number(found.slope_per_1k)} "
             f"{_interval(found)}"),
            ("mean difference", _number(one.mean_difference)),
            ("log-rank p", _number(one.log_rank_p, ".3g")),
            ("n", f"{one.n}"),
        ],
    )  # fmt: skip
