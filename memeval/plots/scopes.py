"""Scopes: which scope was asked beside whose records, and what came back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval.coverage import scope_coverage
from memeval.frames import SCOPE_PAIRS, conform
from memeval.plots.canvas import BROKEN, KEPT, legend_below, nothing, prepared
from memeval.plots.lettering import lettered
from memeval.plots.taking import table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.runs import Run

KIND_WORDS = {
    "other": "other name",
    "begins_alike": "begins alike",
    "differs_in_case": "differs in case",
    "syntax": "quotes, wildcards",
}


def plot_scopes(pairs: Run | pd.DataFrame, ax: Axes | None = None, *, most: int = 40) -> Axes:
    """Draw which scope was asked while records of which other stood there, and what leaked.

    Parameters
    ----------
    pairs : Run or pandas.DataFrame
        As `memeval.scope_coverage` gives it; or the run that it is of.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    most : int
        Scopes that are drawn at most.

    Returns
    -------
    matplotlib.axes.Axes
        A row per scope that was asked, those that leak first, then those beside most kinds of
        other scope; a column per kind. The circle is larger with the probes that attempted it,
        whose number stands beside it; a cross says that records came back, and in how many probes.
        An empty place was never attempted: nothing is known of it.

    Raises
    ------
    FrameError
        If it is neither, or a run of an invalid suite.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> pairs = pd.DataFrame({"asked": ["ana"], "other": ["bo"], "kind": "other", "n_probes": [9],
    ...                       "n_leaked": [0]})
    >>> plot_scopes(pairs, Figure().subplots()).get_title(loc="left")
    'Scopes: no leak in 1 pair; 1 of 1 asked drawn'
    """
    frame = conform(table_of(pairs, "plot_scopes", scope_coverage), SCOPE_PAIRS)
    if frame.empty:
        why = "no leak between scopes was attempted, so nothing is known; add a second scope"
        return nothing(ax, "Scopes: not measured", why)
    kinds = list(KIND_WORDS)
    sums = frame.assign(kind=frame["kind"].astype("str")).groupby(["asked", "kind"], sort=False)
    cells = sums[["n_probes", "n_leaked"]].sum().reset_index()
    seen = cells.groupby("asked", sort=False).agg({"n_leaked": "sum", "kind": "nunique"})
    order = seen.sort_values(["n_leaked", "kind"], ascending=False, kind="stable")
    rows = [str(name) for name in order.index[:most]]
    with prepared(ax, (8, 1.6 + 0.35 * len(rows))) as axes:
        for cell in cells[cells["asked"].isin(rows)].itertuples():
            _draw(axes, kinds.index(str(cell.kind)), rows.index(str(cell.asked)), cell)
        axes.set_yticks(range(len(rows)), [lettered(name, 32) for name in rows])
        axes.set_xticks(range(len(kinds)), list(KIND_WORDS.values()))
        axes.set_xlim(-0.5, len(kinds) - 0.3)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel("how the name of the other scope differs (number: probes that attempted)")
        axes.set_ylabel("scope that is asked")
        axes.set_title(_title(frame, len(rows), len(order)), loc="left")
        _legend(axes)
    return axes


def _draw(ax: Axes, x: int, y: int, cell: Any) -> None:
    n, leaked = int(cell.n_probes), int(cell.n_leaked)
    size = 4 + 10 * min(1.0, n / 30) ** 0.5
    ax.plot([x], [y], "o", ms=size, mfc=KEPT if not leaked else "white",
            mec=BROKEN if leaked else KEPT, ls="none", label="attempted")  # fmt: skip
    if leaked:
        ax.plot([x], [y], "X", ms=8, color=BROKEN, ls="none", label="leaked", zorder=4)
    words = f"{n}, LEAKED in {leaked}" if leaked else f"{n}"
    ax.text(x + 0.12, y, words, va="center", fontsize="small",
            color=BROKEN if leaked else "black")  # fmt: skip


def _title(frame: pd.DataFrame, n_drawn: int, n_scopes: int) -> str:
    pairs = f"{len(frame)} pair{'' if len(frame) == 1 else 's'}"
    leaking = int(frame["n_leaked"].gt(0).sum())
    said = f"LEAKS in {leaking} of {pairs}" if leaking else f"no leak in {pairs}"
    return f"Scopes: {said}; {n_drawn} of {n_scopes} asked drawn"


def _legend(ax: Axes) -> None:
    from matplotlib.lines import Line2D

    legend_below(ax, [
        Line2D([], [], marker="o", ls="none", color=KEPT, label="attempted, nothing came back"),
        Line2D([], [], marker="X", ls="none", color=BROKEN, label="records came back"),
    ])  # fmt: skip
