"""An answer of the evaluation call in words: 80 columns for a terminal, or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memeval.report.layout import paragraph, table
from memeval.text import count, markdown_cell, visible

METRICS = (
    "hitRate",
    "recallAtK",
    "precisionAtK",
    "mrr",
    "ndcgAtK",
    "forbiddenRate",
    "staleRate",
    "zeroResultRate",
    "abstentionAccuracy",
    "meanContextTokens",
    "llmCalls",
)
HEAD = ("metric", "value", "95 % interval", "n")
WIDTHS = (20, 9, 19, 5)
SHOWN = 10
LONGEST_QUERY = 300


def answer_text(told: Mapping[str, Any]) -> str:
    """Figures, verdict and the cases that did not pass, in 80 columns.

    Parameters
    ----------
    told : mapping
        As `memeval.evaluate_request` gives it.
    """
    parts = [table(HEAD, _rows(told), WIDTHS, "lrlr"), paragraph(_verdict(told), 6)]
    failing = list(_failing(told))
    if failing:
        parts.append("\n".join(_listed(failing, told)))
    parts.append("\n".join(paragraph(line, 12, first=name) for name, line in _manifest(told)))
    return "\n\n".join(parts)


def answer_markdown(told: Mapping[str, Any]) -> str:
    """The same as Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", "| --- | ---: | --- | ---: |"]
    lines += [f"| {' | '.join(map(markdown_cell, row))} |" for row in _rows(told)]
    lines += ["", f"**{markdown_cell(_verdict(told))}**", ""]
    lines += [f"- {markdown_cell(line)}" for line in map(_words, list(_failing(told))[:SHOWN])]
    return "\n".join(lines).rstrip()


def _rows(told: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    intervals = told["intervals"]
    rows = [_row(name, told[name], intervals[name]) for name in METRICS]
    times = told["latencyMs"]
    return rows + [_row(f"latencyMs {p}", times[p], intervals["latencyMs"][p]) for p in times]


def _row(name: str, value: float | None, interval: Mapping[str, Any]) -> tuple[str, str, str, str]:
    low, high = interval["low"], interval["high"]
    ends = "" if low is None or high is None else f"{low:.3f} to {high:.3f}"
    return name, "n/a" if value is None else f"{value:.3f}", ends, str(interval["n"])


def _verdict(told: Mapping[str, Any]) -> str:
    looked = f"k = {told['k']}, {count(told['cases'], 'case')}"
    if told["forbiddenRate"] is None:
        looked += ", none of which forbids anything: leaks are not measured"
    return f"{'PASSED' if told['passed'] else 'FAILED'}: {told['reason']} ({looked})"


def _failing(told: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Cases that did not pass: leaks first, then errors, then the rest."""
    failing = [case for case in told["perCase"] if not case["passed"]]
    yield from sorted(failing, key=lambda case: (not _leaked(case), case["status"] == "ok"))


def _leaked(case: Mapping[str, Any]) -> list[str]:
    return [f"{one['id']} at rank {one['rank']}" for one in case["forbidden"] if one["rank"]]


def _listed(failing: list[Mapping[str, Any]], told: Mapping[str, Any]) -> Iterator[str]:
    yield f"{len(failing)} of {count(told['cases'], 'case')} did not pass:"
    for case in failing[:SHOWN]:
        yield paragraph(_words(case), 4, first="  -")
    if len(failing) > SHOWN:
        yield f"  and {len(failing) - SHOWN} more; --format json has all of them"


def _words(case: Mapping[str, Any]) -> str:
    place = f"cases[{case['case']}] {visible(case['query'], LONGEST_QUERY)!r}"
    if case["status"] != "ok":
        return f"{place}: the search came to {case['status']}: {case['error']}"
    leaked = _leaked(case)
    if leaked:
        return f"{place}: forbidden, and came back: {', '.join(leaked)}"
    missing = [one["id"] for one in case["expected"] if one["rank"] is None]
    if missing:
        return f"{place}: missing {', '.join(missing)}"
    return f"{place}: {count(len(case['returned']), 'hit')}, wanted none"


def _manifest(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield (
        "manifest",
        ", ".join(
            f"{name} {'n/a' if value is None else value}"
            for name, value in told["manifest"].items()
        ),
    )
