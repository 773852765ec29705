"""What all drawings share: an axes of one's own, colours, text that stays text, the legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from memeval.plots.lettering import lettered, set_plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe-Ito colours, which stay apart for colour-blind eyes.
KEPT, BROKEN, ASIDE = "#0072B2", "#D55E00", "#767676"
GREEN, PURPLE = "#009E73", "#CC79A7"
BAR = "#CCCCCC"
SHARE = "share, 0 to 1"
NAME = 47


@contextmanager
def prepared(ax: Axes | None, size: tuple[float, float]) -> Iterator[Axes]:
    """Axes to draw into, new ones of that size in inches unless given; no text is mathematics.

    What stood on an axes that was given stays as it is.
    """
    import matplotlib as mpl
    from matplotlib.text import Text

    if ax is None:
        from matplotlib import pyplot as plt

        from memeval.plots.described import DescribedFigure

        # Outside of the context: the first figure of a notebook switches to showing each figure,
        # and the end of the context would switch that off again.
        figure = plt.figure(FigureClass=DescribedFigure, figsize=size, layout="constrained")
    with mpl.rc_context({"text.parse_math": False}):
        axes = figure.subplots() if ax is None else ax
        stood = {id(text): text.get_text() for text in axes.findobj(Text)}
        yield axes
        for text in axes.findobj(Text):
            if stood.get(id(text)) != text.get_text():
                set_plain(text)


def nothing(ax: Axes | None, title: str, why: str) -> Axes:
    """Axes that say in words why there is nothing to draw.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to say so; a new figure by default.
    title : str
        What would be drawn, or what is true of nothing.
    why : str
        Why it is not, and what to do.
    """
    import textwrap

    words = lettered(why, 400)
    with prepared(ax, (8, 2.2)) as axes:
        axes.set_title(lettered(title, 2 * NAME), loc="left")
        axes.text(
            0.5, 0.5, "\n".join(textwrap.wrap(words, 60)), ha="center", va="center",
            color=ASIDE, transform=axes.transAxes,
        )  # fmt: skip
        axes.set_xticks([])
        axes.set_yticks([])
    return axes


def plain_ticks(ax: Axes) -> None:
    """Labels of the y axis as plain text: the axes may be older than the rc_context."""
    for label in ax.get_yticklabels():
        label.set_parse_math(False)


def entry(name: str) -> str:
    """Name of a thing in the legend."""
    shown = lettered(name, NAME)
    # A legend leaves out what begins with an underscore.
    return f" {shown}" if shown.startswith("_") else shown


def legend_below(ax: Axes, shapes: Sequence[Any], columns: int = 5) -> None:
    """Legend under the axes, in rows of at most so many."""
    ax.legend(
        handles=shapes,
        ncols=max(1, min(columns, len(shapes))),
        frameon=False,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=4.0,
    )
