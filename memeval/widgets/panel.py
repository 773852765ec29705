"""The live view of a run that is looked into: a filter, a list, settings, and all about a probe.

Texts of others stand in the list, which shows plain text, in text areas, and in HTML that
`memeval.report.templating` made; nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memeval.exploring.choosing import STATUSES, Filter
from memeval.exploring.exploration import Exploration
from memeval.exploring.settings import Settings
from memeval.frames import CAUSE_WORDS
from memeval.report import explore_notebook as shown
from memeval.text import visible
from memeval.widgets.drafts import DraftPanel
from memeval.widgets.frontend import ipywidgets

MOST_LISTED = 200
MOST_TAGS = 200
SIGNS = {"passed": "✓", "failed": "✗", "skipped": "–"}


class Panel:
    """The parts of the live view, which answer each other.

    Parameters
    ----------
    exploration : Exploration
        The run, and a simulation where there is one.
    wanted : Filter
        What the filter begins with.

    Attributes
    ----------
    text, tag, cause, status : ipywidgets.Text, ipywidgets.Dropdown
        The filter.
    k, floor : ipywidgets.SelectionSlider
        The settings; `floor` is not in the view where scores have no order.
    probes : ipywidgets.Select
        The first 200 probes that the filter leaves.
    found, head, pane : ipywidgets.HTML
        How many these are, what the run comes to, and all about the picked probe.
    draft : DraftPanel
        What makes a new probe of the picked one.
    box : ipywidgets.VBox
        All of it.
    """

    def __init__(self, exploration: Exploration, wanted: Filter) -> None:
        self._exploration = exploration
        self._quiet = False
        self._w = ipywidgets()
        if exploration.withheld:
            self.box = self._w.VBox([self._w.HTML(shown.withheld_html(exploration))])
            return
        self._make_filter(wanted)
        self._make_settings()
        self.found, self.head, self.pane = (self._w.HTML() for _ in range(3))
        self.probes = self._w.Select(options=[], rows=12, layout=self._w.Layout(width="auto"))
        self.draft = DraftPanel(exploration, lambda: self.picked)
        self.box = self._placed()
        self._observe()
        self._refilter()
        self._resettle()

    @property
    def picked(self) -> str | None:
        """Name of the picked probe; None where the filter leaves none."""
        name = self.probes.value
        return None if name is None else str(name)

    @property
    def wanted(self) -> Filter:
        """The filter as it is set."""
        return Filter(self.text.value, self.tag.value, self.cause.value, self.status.value)

    @property
    def settings(self) -> Settings:
        """The settings as they are set."""
        return Settings(self._cutoffs[self.k.index], self._floors[self.floor.index])

    def _make_filter(self, wanted: Filter) -> None:
        catalogue = self._exploration.catalogue
        tags = [(f"{visible(tag, 40)} ({n})", tag) for tag, n in catalogue.tags.items()]
        tags = tags[:MOST_TAGS] + [pair for pair in tags[MOST_TAGS:] if pair[1] == wanted.tag]
        counts = [row.cause for row in catalogue.causes.values()]
        causes = [(f"{c} ({counts.count(c)})", c) for c in CAUSE_WORDS if c in counts]
        self.text = self._w.Text(
            value=wanted.text,
            description="Find",
            placeholder="name, query, tag, or text of a record",
            layout=self._w.Layout(width="auto"),
        )
        self.status = self._dropdown("Status", [(s, s) for s in STATUSES], wanted.status)
        self.tag = self._dropdown("Tag", [("any", ""), *tags], wanted.tag)
        self.cause = self._dropdown("Cause", [("any", ""), *causes], wanted.cause)

    def _dropdown(self, title: str, options: list[tuple[str, str]], value: str) -> Any:
        if value not in {known for _, known in options}:
            options = [*options, (visible(value, 40), value)]
        layout = self._w.Layout(width="auto")
        made = self._w.Dropdown(options=options, description=title, layout=layout)
        made.index = [known for _, known in options].index(value)
        return made

    def _make_settings(self) -> None:
        exploration = self._exploration
        own = exploration.own_k
        asked = f"as asked ({own[0]})" if len(own) == 1 else "as asked"
        self._cutoffs = [None, *range(1, exploration.largest_k + 1)]
        self._floors = [None, *exploration.floors.values]
        sign = exploration.floors.sign
        self.k = self._slider("k", [asked, *map(str, self._cutoffs[1:])])
        tried = [f"{sign} {value:.4g}" for value in exploration.floors.values]
        self.floor = self._slider("Score floor", ["none", *tried])

    def _slider(self, title: str, labels: list[str]) -> Any:
        layout = self._w.Layout(width="auto", max_width="30em")
        options = [(label, at) for at, label in enumerate(labels)]
        return self._w.SelectionSlider(options=options, description=title, layout=layout)

    def _placed(self) -> Any:
        w, floors = self._w, self._exploration.floors
        floor = (
            self.floor if floors.values else w.HTML(shown.told_html(f"No floor: {floors.reason}."))
        )
        side = w.Layout(flex="1 1 20em", min_width="0", max_width="30em", margin="0 1em 0 0")
        wide = w.Layout(flex="3 1 26em", min_width="0")
        # A list that offers nothing but "any" would be no control.
        narrowing = [part for part in (self.tag, self.cause) if len(part.options) > 1]
        left = w.VBox([self.text, self.status, *narrowing, self.found, self.probes], layout=side)
        right = w.VBox([self.pane, self.draft.box], layout=wide)
        both = w.HBox(
            [left, right], layout=w.Layout(flex_flow="row wrap", align_items="flex-start")
        )
        settings = w.VBox([self.k, floor])
        return w.VBox([self.head, settings, both])

    def _observe(self) -> None:
        for part in (self.text, self.status, self.tag, self.cause):
            part.observe(lambda change: self._unless_quiet(self._refilter), "value")
        for part in (self.k, self.floor):
            part.observe(lambda change: self._unless_quiet(self._resettle), "index")
        self.probes.observe(lambda change: self._unless_quiet(self._repick), "index")

    def _unless_quiet(self, act: Any) -> None:
        if not self._quiet:
            act()

    def _refilter(self) -> None:
        """Fill the list anew; the picked probe stays where the filter leaves it."""
        before = self.picked
        names = self._exploration.matches(self.wanted, self.settings)
        listed = names[:MOST_LISTED]
        states = self._exploration.outcomes(self.settings)
        options = [(_label(name, *states[name]), name) for name in listed]
        with self._silence(), self.probes.hold_sync():
            self.probes.index = None
            self.probes.options = options
            if listed:
                self.probes.index = listed.index(before) if before in listed else 0
        words = shown.match_words(len(names), len(listed), self.wanted)
        self.found.value = shown.told_html(words)
        if self.picked != before or before is None:
            self._repick()

    def _resettle(self) -> None:
        """Judge at the settings anew."""
        self.head.value = shown.head_html(self._exploration, self.settings)
        self._refilter()
        self._show()

    def _repick(self) -> None:
        self.draft.close()
        self._show()

    def _show(self) -> None:
        name = self.picked
        if name is None:
            self.pane.value = ""
            return
        view = self._exploration.view(name, self.settings)
        self.pane.value = shown.pane_html(view, self._exploration.floors.sign)

    @contextmanager
    def _silence(self) -> Iterator[None]:
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False


def _label(name: str, state: str, words: str) -> str:
    return f"{SIGNS[state]} {visible(name, 60)} · {words}"
