"""Making a new probe of a picked one: read, changed, and added to a file by a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memeval.errors import MemevalError
from memeval.exploring.drafting import add
from memeval.exploring.exploration import Exploration
from memeval.report.explore_notebook import told_html
from memeval.widgets.frontend import ipywidgets


class DraftPanel:
    """A button that shows a draft, and one that adds it to the file that is named.

    Parameters
    ----------
    exploration : Exploration
        Where the probes are.
    picked : callable
        Gives the name of the picked probe, or None.

    Attributes
    ----------
    start, add, cancel : ipywidgets.Button
        Make a draft, add it to the file, put it away.
    text : ipywidgets.Textarea
        The draft, to be changed.
    path : ipywidgets.Text
        The file.
    said : ipywidgets.HTML
        What was done, or why it was not.
    box : ipywidgets.VBox
        All of it.
    """

    def __init__(self, exploration: Exploration, picked: Callable[[], str | None]) -> None:
        self._exploration = exploration
        self._picked = picked
        w = ipywidgets()
        wide = w.Layout(width="auto")
        self.start = w.Button(description="Make this a probe", layout=w.Layout(width="auto"))
        self.add = w.Button(description="Add to the file", layout=w.Layout(width="auto"))
        self.cancel = w.Button(description="Put away", layout=w.Layout(width="auto"))
        self.text = w.Textarea(rows=12, layout=wide)
        self.path = w.Text(
            description="File", placeholder="a .yaml file, such as probes/mine.yaml", layout=wide
        )
        self.words, self.said = w.HTML(), w.HTML()
        buttons = w.HBox([self.add, self.cancel])
        self._form = w.VBox([self.words, self.text, self.path, buttons], layout=w.Layout())
        self.box = w.VBox([self.start, self._form, self.said])
        self.start.on_click(lambda button: self.open())
        self.add.on_click(lambda button: self.write())
        self.cancel.on_click(lambda button: self.close())
        self.close()

    def open(self) -> None:
        """Show a draft of the picked probe; nothing is written."""
        name = self._picked()
        self.said.value = ""
        if name is None:
            self._tell("Pick a probe first.", good=False)
            return
        try:
            made = self._exploration.draft(name)
        except MemevalError as error:
            self._tell(str(error), good=False)
            return
        self.text.value = made.text
        self.words.value = told_html(made.words)
        self._form.layout.display = ""
        self.start.layout.display = "none"

    def write(self) -> Any:
        """Add the draft to the file that is named, and say what was done."""
        try:
            added = add(self.text.value, self.path.value)
        except MemevalError as error:
            self._tell(f"Nothing was written: {error}", good=False)
            return
        self._away()
        self._tell(added.words)

    def close(self) -> None:
        """Put the draft away; nothing is written."""
        self._away()
        self.said.value = ""

    def _away(self) -> None:
        self.text.value = ""
        self._form.layout.display = "none"
        self.start.layout.display = ""

    def _tell(self, words: str, good: bool = True) -> None:
        self.said.value = told_html(words, good)
