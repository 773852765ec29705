"""How each probe did in the runs before: a strip of marks, and the same in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from memeval.files.earlier import Earlier
from memeval.files.passing import passing_of
from memeval.report.figures import count
from memeval.runs import Run

PITCH = 5
BAR = 3
HEIGHT = 16
# Where the middle of each mark lies: a bar above the line, one below it, a dot on it.
LEVEL = {"passed": 5, "failed": 11, "absent": 8}
KEY = (
    "oldest at the left, this run last. A bar above: passed; a bar below: failed; a dot: not "
    "asked, not supported, or asked with other content."
)


@dataclass(frozen=True, slots=True)
class Trend:
    """One probe through the runs.

    Attributes
    ----------
    words : str
        What happened, as a sentence without its end.
    marks : sequence of (str, str)
        State, and the path that draws its marks.
    """

    words: str
    marks: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Trends:
    """All probes through the same runs.

    Attributes
    ----------
    n : int
        Runs before this one.
    words : str
        How many runs these are, and of which time.
    width : int
        Of each strip, in pixels.
    of : mapping of str to Trend
        By the name of the probe.
    """

    n: int
    words: str
    width: int
    of: Mapping[str, Trend]


def trends(run: Run, earlier: Earlier | None) -> Trends | None:
    """Follow each probe through the runs before; None where there is none.

    Parameters
    ----------
    run : Run
        The run that is shown.
    earlier : Earlier or None
        The runs before it, oldest first.
    """
    if earlier is None or not earlier.runs:
        return None
    n, days = len(earlier.runs), [one.at[:10] for one in earlier.runs]
    made = {
        name: _trend([_state(one.probes.get(name), told[0]) for one in earlier.runs],
                     _word(told[1]), days)
        for name, told in passing_of(run).items()
    }  # fmt: skip
    since = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    words = f"{count(n, 'run')} of this store before, {since}"
    return Trends(n, words, PITCH * (n + 1) - (PITCH - BAR), made)


def _state(told: tuple[str, bool | None] | None, content: str) -> str:
    return "absent" if told is None or told[0] != content else _word(told[1])


def _word(passed: bool | None) -> str:
    return "absent" if passed is None else "passed" if passed else "failed"


def _trend(before: Sequence[str], now: str, days: Sequence[str]) -> Trend:
    return Trend(_words(before, now, days), tuple(_marks([*before, now])))


def _words(before: Sequence[str], now: str, days: Sequence[str]) -> str:
    """How often it passed, and since when it is as it is now.

    Examples
    --------
    >>> _words(["passed", "failed", "failed"], "failed", ["01", "02", "03"])
    'passed 1 of 3 runs before; failing since 02'
    >>> _words(["passed", "passed"], "failed", ["01", "02"])
    'passed 2 of 2 runs before; fails for the first time'
    >>> _words(["absent", "failed"], "passed", ["01", "02"])
    'passed 0 of 1 run before; passes for the first time'
    """
    known = [state for state in before if state != "absent"]
    if not known:
        return "not asked like this before"
    told = f"passed {known.count('passed')} of {count(len(known), 'run')} before"
    if now == "absent":
        return told
    verb = ("passes", "passing") if now == "passed" else ("fails", "failing")
    if now not in known:
        return f"{told}; {verb[0]} for the first time"
    if len(set(known)) == 1:
        return told
    seen = [(state, day) for state, day in zip(before, days, strict=True) if state != "absent"]
    run_of = [day for _, day in _tail(seen, now)]
    return f"{told}; {verb[1]} since {run_of[0]}" if run_of else f"{told}; {verb[0]} again"


def _tail(seen: Sequence[tuple[str, str]], now: str) -> list[tuple[str, str]]:
    """The last of them that are alike, oldest first."""
    tail: list[tuple[str, str]] = []
    for one in reversed(seen):
        if one[0] != now:
            break
        tail.insert(0, one)
    return tail


def _marks(states: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A path for each state; marks in a row are one dashed line.

    Examples
    --------
    >>> list(_marks(["passed", "passed", "failed"]))
    [('passed', 'M0 5h8'), ('failed', 'M10 11h3')]
    """
    paths: dict[str, str] = {}
    at = 0
    for state, marks in groupby(states):
        n = len(list(marks))
        step = f"M{PITCH * at} {LEVEL[state]}h{PITCH * n - (PITCH - BAR)}"
        paths[state] = paths.get(state, "") + step
        at += n
    yield from paths.items()
