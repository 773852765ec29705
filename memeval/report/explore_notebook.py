"""What notebooks show of a run that is looked into: all about a probe, and a static drilldown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memeval.chances import leaks_of
from memeval.exploring.choosing import FAILING, Filter
from memeval.exploring.exploration import AS_ASKED, Exploration, View
from memeval.exploring.settings import Settings
from memeval.exploring.standing import Standing
from memeval.report import cause_rows, control_rows
from memeval.report.figures import count, figure
from memeval.report.probes import STATUSES
from memeval.report.templating import render
from memeval.report.track_drawing import drawn

MOST_FULL = 50
NO_CAUSES = (
    "The run holds no causes: me.diagnose(run, store) asks the store why each probe failed, and "
    "run.diagnosed(causes) keeps the answers."
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a probe is shown: characters, hits, judged records, steps, plantings, rows."""

    text: int
    places: int
    judged: int
    given: int
    lines: int
    rows: int


LIVE = Limits(text=5000, places=100, judged=40, given=40, lines=6, rows=12)
STATIC = Limits(text=600, places=20, judged=10, given=12, lines=2, rows=6)


def pane_html(view: View, sign: str = "≥") -> str:
    """All about one probe, for a notebook that is running.

    Parameters
    ----------
    view : View
        What to show.
    sign : str
        How a score stands to a floor that keeps it.

    Returns
    -------
    str
        One ``div``.
    """
    return render("explore_pane.html.j2", **_shown(view, LIVE, sign), live=True)


def head_html(exploration: Exploration, settings: Settings = AS_ASKED) -> str:
    """What the whole run comes to at some settings, beside what it came to as it was asked."""
    return render("explore_head.html.j2", **_head(exploration, settings))


def static_html(exploration: Exploration, note: str = "") -> str:
    """A drilldown that works without a kernel and without a script.

    Parameters
    ----------
    exploration : Exploration
        The run, and a simulation where there is one.
    note : str
        What is to be said below, such as how to get the live form.

    Returns
    -------
    str
        One ``div``: the failing probes by cause, the first 50 in full, the others counted.
    """
    if exploration.withheld:
        return render("explore_withheld.html.j2", **_withheld(exploration))
    names = exploration.matches(Filter())
    return render(
        "explore_static.html.j2",
        **_head(exploration, AS_ASKED),
        groups=list(_groups(exploration, names)),
        rest=_rest(exploration, names[MOST_FULL:]),
        others=_others(exploration),
        note=note,
        live=False,
    )


def withheld_html(exploration: Exploration) -> str:
    """What is said of an invalid suite: why, and no number."""
    return render("explore_withheld.html.j2", **_withheld(exploration))


def told_html(words: str, good: bool = True) -> str:
    """One sentence, such as what was written."""
    return render("explore_told.html.j2", words=words, good=good)


def said_settings(settings: Settings, sign: str = "≥") -> str:
    """Settings in words.

    Examples
    --------
    >>> said_settings(Settings(k=3, floor=0.25)), said_settings(Settings())
    ('k = 3, scores ≥ 0.25', 'as asked')
    """
    said = [] if settings.k is None else [f"k = {settings.k}"]
    if settings.floor is not None:
        said.append(f"scores {sign} {settings.floor:.4g}")
    return ", ".join(said) or "as asked"


def _shown(view: View, limits: Limits, sign: str) -> dict[str, Any]:
    track = view.track
    return {
        "v": view,
        "d": view.detail,
        "limits": limits,
        "at": said_settings(view.settings, sign),
        "statuses": STATUSES,
        "texts": {record.id: record.text for record in view.detail.probe.records},
        "lines": []
        if track is None
        else [drawn(one, limits.rows) for one in track.most(limits.lines)],
    }


def _head(exploration: Exploration, settings: Settings) -> dict[str, Any]:
    run = exploration.run
    return {
        "store": run.manifest.store,
        "verdict": run.verdict,
        "status": control_rows.SUITE_WORDS[run.validity.status],
        "at": said_settings(settings, exploration.floors.sign),
        "rows": list(_standing_rows(exploration, settings)),
        "moved": _moved(exploration.standing(settings), settings),
        "no_causes": "" if run.causes is not None or run.failing.empty else NO_CAUSES,
    }


def _standing_rows(exploration: Exploration, settings: Settings) -> Iterator[tuple[str, ...]]:
    """Name, value at the settings, and value as asked where that is another setting."""
    both = [exploration.standing(settings)]
    if not settings.as_asked:
        both.append(exploration.standing())
    measured = leaks_of(exploration.run.summary).measured
    yield "passing", *(f"{one.n_passed:,} of {one.n_asked:,}" for one in both)
    yield "recall_all", *(f"{figure(one.recall_all)} (n = {one.n_positive:,})" for one in both)
    yield "abstention", *(f"{figure(one.abstention)} (n = {one.n_negative:,})" for one in both)
    yield "leaked records", *(f"{one.leaks:,}" if measured else "not measured" for one in both)


def _moved(now: Standing, settings: Settings) -> str:
    if settings.as_asked:
        return ""
    if not now.gained and not now.lost:
        return "No probe changes."
    return f"{count(now.gained, 'probe')} gained, {now.lost:,} lost against as asked."


def _groups(exploration: Exploration, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The probes that are shown in full, by cause; those without one by what became of them."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(_kind(exploration, name), []).append(name)
    full = names[:MOST_FULL]
    views = dict(zip(full, exploration.views(full), strict=True))
    for kind, own in found.items():
        shown = [views[name] for name in own if name in views]
        if shown:
            yield {
                "title": kind,
                "n": len(own),
                "meaning": cause_rows.MEANINGS.get(kind, ""),
                "shown": [_shown(view, STATIC, exploration.floors.sign) for view in shown],
            }


def _kind(exploration: Exploration, name: str) -> str:
    row = exploration.catalogue.causes.get(name)
    return exploration.outcomes()[name][1] if row is None else row.cause


def _rest(exploration: Exploration, names: tuple[str, ...]) -> str:
    """The failing probes that are only counted, in words."""
    counts: dict[str, int] = {}
    for name in names:
        kind = _kind(exploration, name)
        counts[kind] = counts.get(kind, 0) + 1
    if not counts:
        return ""
    told = ", ".join(f"{n:,} {kind}" for kind, n in counts.items())
    return f"And {count(len(names), 'more failing probe')}: {told}. The frame run.failing has all."


def _others(exploration: Exploration) -> str:
    """What became of the probes that did not fail, in words."""
    states = [state for state, _ in exploration.outcomes().values()]
    said = f"{count(states.count('passed'), 'probe')} passed"
    refused = len(exploration.matches(Filter(status="not supported")))
    return said + (f", {refused:,} not supported by the store." if refused else ".")


def _withheld(exploration: Exploration) -> dict[str, Any]:
    validity = exploration.run.validity
    return {"validity": validity, "words": control_rows.WITHHELD}


def match_words(n: int, shown: int, wanted: Filter) -> str:
    """How many probes a filter leaves, and what to do where that is none or too many.

    Examples
    --------
    >>> match_words(540, 200, Filter())
    '540 probes, 340 more than are listed: narrow the filter'
    """
    if not n:
        plain = wanted == Filter(status=wanted.status)
        if wanted.status == FAILING and plain:
            return "No probe failed: choose another status to see the others."
        return "No probe is left: loosen the filter."
    more = f", {n - shown:,} more than are listed: narrow the filter" if n > shown else ""
    return f"{count(n, 'probe')}{more}"
