"""Drawings in words, for those who cannot see them and where no picture is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 8
"""Rows that are told one by one at most: a longer text is no help to the ear."""


def describe(drawing: Axes | Figure) -> str:
    """Tell a drawing in words.

    Parameters
    ----------
    drawing : matplotlib.axes.Axes or matplotlib.figure.Figure
        Axes that a function of `memeval.plots` drew into, or a figure of them.

    Returns
    -------
    str
        The title, which holds the main numbers; what is drawn against what; the words beside the
        rows, of eight at most; what the legend names. It is read from what is drawn, so that it
        holds when you have changed the drawing.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from memeval.plots import plot_history
    >>> frame = pd.DataFrame({"commit": ["a1", "b2"], "metric": "mrr", "value": [0.5, 0.75]})
    >>> describe(plot_history(frame, "mrr", Figure().subplots()))
    'mrr: 0.500 at a1, 0.750 at b2. Chart of mrr (share, 0 to 1) by commit, oldest first.'
    """
    parts = [drawing] if not isinstance(drawing, Figure) else drawing.axes
    heads = [] if not isinstance(drawing, Figure) else [drawing.get_suptitle()]
    told = [*heads, *(" ".join(_sentences(ax)) for ax in parts)]
    return "\n".join(words for words in told if words)


def _sentences(ax: Axes) -> Iterator[str]:
    title = ax.get_title(loc="left") or ax.get_title()
    if title:
        yield f"{title}."
    up, across = ax.get_ylabel(), ax.get_xlabel()
    if up and across:
        yield f"Chart of {up} by {across}."
    words = _beside(ax)
    if words:
        more = f"; and {len(words) - MOST_ROWS} more" if len(words) > MOST_ROWS else ""
        yield f"{'; '.join(words[:MOST_ROWS])}{more}."
    legend = ax.get_legend()
    named = [] if legend is None else [text.get_text().strip() for text in legend.get_texts()]
    if len(named) > 1:
        yield f"Shown: {', '.join(named)}."


def _beside(ax: Axes) -> list[str]:
    """Words beside the rows, or above the columns; of an axes with neither its words alone."""
    words = [" ".join(text.get_text().split()) for text in ax.texts]
    down = [label.get_text() for label in ax.get_yticklabels()]
    across = [" ".join(label.get_text().split()) for label in ax.get_xticklabels()]
    for names in (down, across):
        if words and len(words) == len(names):
            return [f"{name}: {word}" for name, word in zip(names, words, strict=True)]
    return [] if down or across else words


class DescribedFigure(Figure):
    """A figure that a notebook keeps with its words: they become the alt text of an export."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Words for those who see no picture; the picture itself is made by the notebook."""
        words = describe(self)
        alt = {"alt": words}
        return {"text/plain": words}, {"image/png": alt, "image/svg+xml": dict(alt)}
