"""Mutation: which probe sees which fault, as a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from memeval.errors import FrameError
from memeval.frames import KILLS, SABOTEURS, conform
from memeval.plots.canvas import ASIDE, BROKEN, GREEN, KEPT, NAME, PURPLE, nothing, prepared
from memeval.plots.lettering import lettered
from memeval.plots.taking import refuse_withheld
from memeval.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colour of a cell, and the mark in it that says the same without colour.
LOOKS: Mapping[str, tuple[str, str]] = {
    "gate": (BROKEN, "X"),
    "contract": (PURPLE, "D"),
    "ratchet": (KEPT, "o"),
    "latency": (GREEN, "^"),
}
# Rows of what was killed, of what survives, of what does not count.
PAPERS = ("white", "#FBE9DD", "#EEEEEE")
CROWDED = 60
_MADE = "make one with memeval.mutate"


def plot_kills(mutation: Any, ax: Axes | None = None, *, idle: bool = True) -> Axes:
    """Draw which probe kills which saboteur.

    Parameters
    ----------
    mutation : Mutation or (pandas.DataFrame, pandas.DataFrame)
        From `memeval.mutate`, or its two frames, as `memeval.frames.KILLS` and
        `memeval.frames.SABOTEURS`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, as large as all names need.
    idle : bool
        Whether probes that kill nothing have a column too, at the right end; only a Mutation knows
        them.

    Returns
    -------
    matplotlib.axes.Axes
        A row per saboteur and a column per probe. On top stand the survivors, then the killed, the
        one that most probes see first, then those that do not count. Probes that kill the same
        stand side by side. Colour and mark of a cell say what saw it; at the right stands in
        words what became of the saboteur. Without a saboteur the words say so.

    Raises
    ------
    FrameError
        If it is neither, tells a kill by a saboteur that is not there, or is of an invalid suite,
        whose outcomes may not be drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> kills = pd.DataFrame({"saboteur": ["null"], "probe": ["lunch"], "by": ["ratchet"]})
    >>> saboteurs = pd.DataFrame({"saboteur": ["null", "random"], "applicable": True,
    ...                           "killed": [True, False], "depth": [1, 0], "must_kill": True})
    >>> plot_kills((kills, saboteurs), Figure().subplots()).get_title(loc="left")
    'Mutation: 1 of 2 killed, 1 SURVIVOR'
    """
    kills, saboteurs, without = _frames(mutation)
    if saboteurs.empty:
        return nothing(ax, "Mutation: nothing to draw", f"no saboteur was tried; {_MADE}")
    rows = _rows(saboteurs)
    killers = _columns(kills, rows)
    columns = [*killers, *(without if idle else ())]
    size = (3.4 + 2.2 + 0.15 * max(20, len(columns)), 2.9 + 0.2 * max(4, len(rows)))
    with prepared(ax, size) as axes:
        _draw(axes, kills, rows, columns)
        _label(axes, rows, columns, len(killers))
    return axes


def _frames(mutation: Any) -> tuple[pd.DataFrame, pd.DataFrame, Sequence[str]]:
    """Kills, saboteurs and idle probes of what was given."""
    if isinstance(mutation, tuple | list) and len(mutation) == 2:
        (kills, saboteurs), without = mutation, []
    elif hasattr(mutation, "kills") and hasattr(mutation, "saboteurs"):
        refuse_withheld(mutation, "mutation")
        kills, saboteurs, without = mutation.kills, mutation.saboteurs, list(mutation.idle)
    else:
        raise FrameError(
            f"found {type(mutation).__name__}, wanted a Mutation, or its frames as (kills, "
            f"saboteurs); {_MADE}"
        )
    kills, saboteurs = conform(kills, KILLS), conform(saboteurs, SABOTEURS)
    strange = set(kills["saboteur"]) - set(saboteurs["saboteur"])
    if strange:
        names = ", ".join(visible(name, NAME) for name in sorted(strange)[:5])
        raise FrameError(
            f"found kills of {names}, wanted saboteurs of the other frame; give both frames of "
            "one mutation"
        )
    return kills, saboteurs, without


def _rows(saboteurs: pd.DataFrame) -> pd.DataFrame:
    """Saboteurs from top to bottom: survivors, the killed by depth, those that do not count."""
    killed = saboteurs["killed"]
    place = killed.map({False: 0, True: 1}).astype("Int64").fillna(2)
    may_live = place.eq(0).astype("bool") & ~saboteurs["must_kill"]
    order = pd.DataFrame({"place": place, "may_live": may_live, "depth": -saboteurs["depth"]})
    order = order.sort_values(["place", "may_live", "depth"], kind="stable")
    return saboteurs.loc[order.index].reset_index(drop=True)


def _columns(kills: pd.DataFrame, rows: pd.DataFrame) -> list[str]:
    """Probes from left to right: by what they kill, as a dictionary orders words.

    The saboteur that most probes see is the first letter, so that a row is cut in few pieces; what
    is killed by its time comes last, since that is not the same each time.
    """
    at, last = {name: y for y, name in enumerate(rows["saboteur"])}, len(rows)
    killed: dict[str, list[int]] = {}
    for probe, name, by in zip(kills["probe"], kills["saboteur"], kills["by"], strict=True):
        killed.setdefault(probe, []).append(at[name] + (last if by == "latency" else 0))
    return sorted(killed, key=lambda probe: ([*sorted(killed[probe]), 2 * last], probe))


def _draw(ax: Axes, kills: pd.DataFrame, rows: pd.DataFrame, columns: Sequence[str]) -> None:
    from matplotlib.colors import ListedColormap

    words = list(LOOKS)
    down = {name: y for y, name in enumerate(rows["saboteur"])}
    across = {name: x for x, name in enumerate(columns)}
    cells = np.zeros((len(rows), max(1, len(columns))), dtype=int)
    cells[:] = (
        rows["killed"]
        .map({True: 0, False: 1})
        .astype("Int64")
        .fillna(2)
        .to_numpy(dtype=int)[:, None]
    )
    for name, probe, word in zip(kills["saboteur"], kills["probe"], kills["by"], strict=True):
        cells[down[name], across[probe]] = len(PAPERS) + words.index(word)
    colours = ListedColormap([*PAPERS, *(colour for colour, _ in LOOKS.values())])
    edges = np.arange(cells.shape[1] + 1) - 0.5, np.arange(cells.shape[0] + 1) - 0.5
    ax.pcolormesh(
        *edges, cells, cmap=colours, vmin=-0.5, vmax=colours.N - 0.5, edgecolors="#DDDDDD",
        linewidth=0.4,
    )  # fmt: skip
    dot = 9 if max(cells.shape) > CROWDED else 24
    for word, (_, marker) in LOOKS.items():
        seen = kills[kills["by"].eq(word)]
        x, y = seen["probe"].map(across), seen["saboteur"].map(down)
        ax.scatter(x, y, s=dot, marker=marker, color="white", lw=0, label=word, zorder=3)


def _label(ax: Axes, rows: pd.DataFrame, columns: Sequence[str], killers: int) -> None:
    small = 7.0 if max(len(rows), len(columns)) > CROWDED else 8.0
    for y, row in enumerate(rows.itertuples()):
        colour, word = _became(row)
        ax.text(
            1.01, y, word, color=colour, va="center", fontsize=small,
            fontweight="bold" if colour == BROKEN else "normal",
            transform=ax.get_yaxis_transform(),
        )  # fmt: skip
    ax.set_yticks(range(len(rows)), [lettered(name, NAME) for name in rows["saboteur"]])
    ax.set_xticks(
        range(len(columns)), [lettered(name, NAME) for name in columns], rotation=90, va="top"
    )
    ax.tick_params(labelsize=small, length=0)
    for killed, label in zip(rows["killed"], ax.get_yticklabels(), strict=True):
        if not pd.isna(killed) and not killed:
            label.set(color=BROKEN, fontweight="bold")
    for label in ax.get_xticklabels()[killers:]:
        label.set(color=ASIDE, fontstyle="italic")
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(-0.5, max(1, len(columns)) - 0.5)
    idle = len(columns) - killers
    ax.set_xlabel("probe" + (f" (the last {idle}, in italics, kill nothing)" if idle else ""))
    ax.set_ylabel("saboteur")
    ax.set_title(_title(rows), loc="left", pad=24)
    _legend(ax)


def _became(row: Any) -> tuple[str, str]:
    if not row.applicable:
        return ASIDE, "not applicable"
    if not pd.isna(row.equivalent) and row.equivalent:
        return ASIDE, "equivalent"
    if pd.isna(row.killed):
        return ASIDE, "not counted"
    if row.killed:
        return KEPT, f"killed by {row.depth}"
    return BROKEN, "SURVIVES, must be killed" if row.must_kill else "SURVIVES"


def _title(rows: pd.DataFrame) -> str:
    judged = rows["killed"].dropna()
    dead, alive = int(judged.sum()), int((~judged).sum())
    lives = f", {alive} SURVIVOR{'' if alive == 1 else 'S'}" if alive else ""
    aside = f", {len(rows) - len(judged)} not counted" if len(judged) < len(rows) else ""
    return f"Mutation: {dead} of {len(judged)} killed{lives}{aside}"


def _legend(ax: Axes) -> None:
    """Between title and cells, since the names of the probes stand below."""
    from matplotlib.lines import Line2D

    shapes = [
        (
            Line2D([], [], marker="s", ls="none", color=colour, ms=9),
            Line2D([], [], marker=marker, ls="none", color="white", ms=4, mew=0),
        )
        for colour, marker in LOOKS.values()
    ]
    ax.legend(
        shapes,
        [f"killed by {word}" for word in LOOKS],
        ncols=len(LOOKS),
        frameon=False,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.2,
        handletextpad=0.2,
        columnspacing=1.2,
        fontsize=8,
    )
