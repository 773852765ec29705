"""What all drawings of a growing store share: what they take, sizes in records, names of sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval.errors import FrameError
from memeval.plots.canvas import BROKEN, GREEN, KEPT, PURPLE, legend_below
from memeval.plots.taking import refuse_withheld

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.simulation import Simulation

# Colour, marker and line of each side; shape and line say the same without colour.
LOOKS = (
    (KEPT, "o", "-"),
    (BROKEN, "^", "--"),
    (GREEN, "s", "-."),
    (PURPLE, "D", ":"),
    ("black", "v", "-"),
)


@dataclass(frozen=True, slots=True)
class Side:
    """One store that grew: a simulation or the frame of a log, with its name and its look."""

    name: str
    simulation: Simulation | None
    frame: pd.DataFrame | None
    look: tuple[str, str, str]

    def table(self, name: str) -> pd.DataFrame:
        """Frame that was given, or this table of the simulation."""
        made = self.frame if self.simulation is None else getattr(self.simulation, name)
        return pd.DataFrame(made, copy=False)


def sides(given: Any, labels: Sequence[str] | None, plot: str) -> list[Side]:
    """Take one simulation or frame, or several of them.

    Parameters
    ----------
    given : Simulation, pandas.DataFrame, or sequence of them
        What is drawn.
    labels : sequence of str, optional
        A name for each; names of the stores, or numbers, by default.
    plot : str
        Name of the plot, for messages.

    Raises
    ------
    FrameError
        If it is neither, of an invalid suite, whose numbers may not be drawn, there are more than
        can be told apart, or labels of another number.
    """
    whole = list(given) if isinstance(given, list | tuple) else [given]
    if not 1 <= len(whole) <= len(LOOKS):
        raise FrameError(
            f"found {len(whole)} simulations, wanted 1 to {len(LOOKS)}: more cannot be told apart; "
            "draw them on several figures"
        )
    if labels is not None and (isinstance(labels, str) or len(labels) != len(whole)):
        n = 1 if isinstance(labels, str) else len(labels)
        raise FrameError(
            f"found {n} labels for {len(whole)} simulations, wanted a list with one for each; name "
            "all or none"
        )
    names = _names(whole) if labels is None else [str(label) for label in labels]
    return [_side(one, names[at], LOOKS[at], plot) for at, one in enumerate(whole)]


def _side(given: Any, name: str, look: tuple[str, str, str], plot: str) -> Side:
    if isinstance(given, pd.DataFrame):
        return Side(name, None, given, look)
    if hasattr(given, "drift_probes") and hasattr(given, "checkpoints"):
        if given.withheld:  # the verdict of a valid one takes long, and is not needed
            refuse_withheld(given, "simulation")
        return Side(name, given, None, look)
    raise FrameError(
        f"found {type(given).__name__}, wanted a Simulation or a pandas.DataFrame; draw "
        f"memeval.plots.{plot}(memeval.run_simulation(...)), or the frame of a log"
    )


def _names(whole: Sequence[Any]) -> list[str]:
    """Names of the stores, numbered where they are the same."""
    stores = [str(getattr(one, "manifest", {}).get("store", "log")) for one in whole]
    alike = len(set(stores)) < len(stores)
    return [f"{store} {n}" if alike else store for n, store in enumerate(stores, 1)]


def wanted(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Rows of a frame that have these columns.

    Raises
    ------
    FrameError
        If a column is missing.
    """
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise FrameError(
            f"found the columns {list(map(str, frame.columns))}, wanted also {missing}; add them, "
            "or rename what stands for them"
        )
    return frame.dropna(subset=list(columns)).reset_index(drop=True)


def legend(ax: Axes, shapes: Sequence[Any]) -> None:
    """Legend under the axes, in rows of at most three: names of cohorts are long."""
    legend_below(ax, shapes, columns=3)


def records(ax: Axes) -> None:
    """Sizes to the right, from nothing, with commas between thousands."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True, min_n_ticks=1))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    ax.set_xlim(left=0.0)
    ax.set_xlabel("records written")
