"""What all drawings share: an axes of one's own, colours, text that stays text, the legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe-Ito colours, which stay apart for colour-blind eyes.
KEPT, BROKEN, ASIDE = "#0072B2", "#D55E00", "#767676"
GREEN, PURPLE = "#009E73", "#CC79A7"
SHARE = "share, 0 to 1"


@contextmanager
def prepared(ax: Axes | None, size: tuple[float, float]) -> Iterator[Axes]:
    """Axes to draw into, new ones of that size in inches unless given; no text is mathematics."""
    import matplotlib as mpl

    if ax is None:
        from matplotlib import pyplot as plt

        # Outside of the context: the first figure of a notebook switches to showing each figure,
        # and the end of the context would switch that off again.
        figure = plt.figure(figsize=size, layout="constrained")
    with mpl.rc_context({"text.parse_math": False}):
        yield figure.subplots() if ax is None else ax


def plain_ticks(ax: Axes) -> None:
    """Labels of the y axis as plain text: the axes may be older than the rc_context."""
    for label in ax.get_yticklabels():
        label.set_parse_math(False)


def legend_below(ax: Axes, shapes: Sequence[Any]) -> None:
    """Legend under the axes, in rows of at most five."""
    ax.legend(
        handles=shapes,
        ncols=min(5, len(shapes)),
        frameon=False,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=4.0,
    )
