"""`explore`: the failing probes of a run, to be looked into in a notebook."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memeval.exploring.choosing import FAILING, Filter
from memeval.exploring.drafting import Added, Draft, add
from memeval.exploring.exploration import Exploration, View
from memeval.exploring.settings import Settings
from memeval.exploring.standing import Standing
from memeval.report.explore_notebook import static_html
from memeval.runs import Run
from memeval.simulation import Simulation, load_simulation
from memeval.text import count, visible
from memeval.widgets.frontend import NEEDED, in_kernel, installed

if TYPE_CHECKING:
    from memeval.widgets.panel import Panel

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
MOST_NAMED = 10


def explore(
    run: Run,
    *,
    simulation: Simulation | str | os.PathLike[str] | None = None,
    text: str = "",
    tag: str = "",
    cause: str = "",
    status: str = FAILING,
) -> Explorer:
    """Look into the probes of a run.

    In a notebook that is running the last line ``me.widgets.explore(run)`` shows a live view; in
    an exported file, and without ipywidgets, the same cell is a static drilldown.

    Parameters
    ----------
    run : Run
        As `memeval.run` or `memeval.load_run` gives it; the store is not asked again.
    simulation : Simulation, str or path-like, optional
        How the store answered as it grew, or the file of it: then each probe shows its rank at
        every checkpoint.
    text, tag, cause, status : str
        What the filter begins with: words, one tag, one cause, and one of failing, passed, all,
        leaked, stale, missed, answered, contract, error, flaky, not supported, changed.

    Returns
    -------
    Explorer
        Shows itself in a notebook; its methods tell the same as values.

    Raises
    ------
    MemevalError
        If there is no such status.
    RunFileError
        If the file is no simulation.

    Examples
    --------
    >>> import memeval as me
    >>> given = [me.Record("r1", "The kiosk is blue."), me.Record("r2", "The van is red.")]
    >>> probe = me.Probe("stall", "Which colour has the stall?", given, ["r1"], k=1)
    >>> explorer = explore(me.run([probe], "sqlite"))
    >>> explorer.matches()
    ('stall',)
    >>> explorer.standing().n_passed
    0
    """
    if isinstance(simulation, str | os.PathLike):
        simulation = load_simulation(simulation)
    wanted = Filter(text=text, tag=tag, cause=cause, status=status)
    return Explorer(Exploration(run, simulation), wanted)


class Explorer:
    """A run that is looked into; made by `explore`.

    Parameters
    ----------
    exploration : Exploration
        The run, and a simulation where there is one.
    wanted : Filter
        What the filter begins with.
    """

    def __init__(self, exploration: Exploration, wanted: Filter) -> None:
        self.exploration = exploration
        self.wanted = wanted

    def matches(
        self,
        text: str = "",
        *,
        tag: str = "",
        cause: str = "",
        status: str = FAILING,
        k: int | None = None,
        floor: float | None = None,
    ) -> tuple[str, ...]:
        """Names of the probes that a filter leaves, those to mend first in front.

        Parameters
        ----------
        text, tag, cause, status : str
            As for `explore`.
        k, floor : int, float, optional
            Settings that the status ``changed`` is held against.
        """
        wanted = Filter(text=text, tag=tag, cause=cause, status=status)
        return self.exploration.matches(wanted, Settings(k, floor))

    def standing(self, *, k: int | None = None, floor: float | None = None) -> Standing:
        """What the whole run comes to with another cutoff and score floor.

        Parameters
        ----------
        k : int, optional
            Cutoff of every probe; its own unless given.
        floor : float, optional
            Hits that score worse are dropped.

        Returns
        -------
        Standing
            Probes that pass, recall_all, abstention and leaks, from `memeval.score`.
        """
        return self.exploration.standing(Settings(k, floor))

    def view(self, name: str, *, k: int | None = None, floor: float | None = None) -> View:
        """All about one probe, with another cutoff and score floor.

        Parameters
        ----------
        name : str
            Name of the probe.
        k, floor : int, float, optional
            As for `standing`.
        """
        return self.exploration.view(name, Settings(k, floor))

    def draft(self, name: str) -> Draft:
        """A new probe made of this one and of what stood in its answer.

        Parameters
        ----------
        name : str
            Name of the probe.

        Returns
        -------
        Draft
            Its ``text`` is for a person to read and change. Nothing is written.
        """
        return self.exploration.draft(name)

    def add(self, text: str, path: str | os.PathLike[str]) -> Added:
        """Add a draft to a probe file, as `memeval.append_probe`: what stands there stays.

        Parameters
        ----------
        text : str
            A probe as it stands in a probe file.
        path : str or path-like
            The file, made where there is none.
        """
        return add(text, path)

    @cached_property
    def panel(self) -> Panel:
        """The parts of the live view.

        Raises
        ------
        MemevalError
            If ipywidgets is not installed.
        """
        from memeval.widgets.panel import Panel

        return Panel(self.exploration, self.wanted)

    @property
    def widget(self) -> Any:
        """The live view, an ``ipywidgets.VBox``."""
        return self.panel.box

    def __repr__(self) -> str:
        run = self.exploration.run
        head = f"Explorer of {count(len(run.suite), 'probe')} on {visible(run.manifest.store)}"
        if self.exploration.withheld:
            return f"{head}: INVALID, no number of an invalid suite is shown"
        names = self.matches()
        if not names:
            return f"{head}: no probe failed"
        rest = f"\nand {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        return f"{head}: {count(len(names), 'probe')} failed\n" + self._table(names) + rest

    def _table(self, names: tuple[str, ...]) -> str:
        causes, outcomes = self.exploration.catalogue.causes, self.exploration.outcomes()
        lines = []
        for name in names[:MOST_NAMED]:
            why = f" ({causes[name].cause})" if name in causes else ""
            lines.append(f"  {visible(name, 60)}: {outcomes[name][1]}{why}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return static_html(self.exploration, "" if installed() else NEEDED)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The live view where a kernel shows it, beside the forms that stand alone."""
        bundle = {"text/plain": repr(self), "text/html": self._repr_html_()}
        if in_kernel() and installed():
            bundle[WIDGET_VIEW] = self.widget._repr_mimebundle_()[WIDGET_VIEW]
        return bundle
