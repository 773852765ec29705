"""Hits: whether the store's own score tells what was expected from the rest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from memeval.errors import FrameError
from memeval.plots.canvas import ASIDE, BROKEN, KEPT, PURPLE, legend_below, nothing, prepared
from memeval.plots.taking import refuse_withheld

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.runs import Run

# Label, colour and marker; a record with several labels goes by the first of these.
LOOKS = {
    "forbidden": (BROKEN, "X"),
    "stale": (PURPLE, "D"),
    "expected": (KEPT, "o"),
    "other": (ASIDE, "x"),
}
MOST_HITS = 4000
SPREAD = 0.3


def plot_hits(run: Run, ax: Axes | None = None, *, seed: int = 0) -> Axes:
    """Draw the score of every hit at its rank, expected records apart from all others.

    Parameters
    ----------
    run : Run
        From `memeval.run`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    seed : int
        Of the small moves to the side, without which hits of one rank would cover each other, and
        of the choice where there are more than 4,000 hits.

    Returns
    -------
    matplotlib.axes.Axes
        The rank to the right, the score upwards, on the store's own scale. The title says how often
        an expected hit scores better than another one of any probe: 1.00 means that one floor on
        the score would part them all, 0.50 that the score says nothing across probes.

    Raises
    ------
    FrameError
        If it is no Run, or one of an invalid suite: hits alone do not say what was expected.

    Notes
    -----
    The number is the area under the ROC curve, with ties as half (Mann and Whitney, 1947), of
    expected hits against all others. It is not given where the store does not say which scores are
    better.

    Examples
    --------
    >>> import memeval as me
    >>> from matplotlib.figure import Figure
    >>> given = [me.Record("r1", "Lunch: noodle bar."), me.Record("r2", "Lunch is at noon.")]
    >>> run = me.run([me.Probe("lunch", "noodle bar lunch", given, ["r1"])], "sqlite")
    >>> plot_hits(run, Figure().subplots()).get_title(loc="left")
    'Scores: an expected hit beats another with 1.00 (1 against 1)'
    """
    from memeval.runs import Run

    if not isinstance(run, Run):
        raise FrameError(
            f"found {type(run).__name__}, wanted a Run: hits alone do not say what was expected; "
            "draw memeval.plots.plot_hits(memeval.run(...))"
        )
    refuse_withheld(run, "run")
    hits = labelled(run)
    hits = hits[np.isfinite(hits["score"].astype("float64"))].reset_index(drop=True)
    if hits.empty:
        why = "no hit has a score: the store gives none, or returned nothing"
        return nothing(ax, "Scores: nothing to draw", why)
    shown = hits if len(hits) <= MOST_HITS else hits.sample(MOST_HITS, random_state=seed)
    beside = np.random.default_rng(seed).uniform(-SPREAD, SPREAD, len(shown))
    with prepared(ax, (8, 4.8)) as axes:
        marks: list[Any] = []
        for word, (colour, marker) in reversed(LOOKS.items()):
            of = shown["what"].eq(word).to_numpy()
            if of.any():
                marks += axes.plot(
                    (shown["rank"] + beside)[of], shown["score"][of], marker, color=colour,
                    ms=4 if word == "other" else 6, ls="none", alpha=0.8,
                    mec="black" if word in ("stale", "forbidden") else colour,
                    label=f"{word} ({hits['what'].eq(word).sum():,})",
                )  # fmt: skip
        _label(axes, hits, len(shown))
        order = run.manifest.capabilities.get("score_order")
        axes.set_title(_title(hits, order), loc="left")
        if order == "low":
            axes.yaxis.set_inverted(True)
        legend_below(axes, marks)
    return axes


def labelled(run: Run) -> pd.DataFrame:
    """Hits of a run with a column ``what``: what the probe says of the record."""
    qrels = run.qrels.assign(label=run.qrels["label"].astype("str"))
    hits = run.hits[["probe", "rank", "record_id", "score"]].assign(what="other")
    pairs = pd.MultiIndex.from_frame(hits[["probe", "record_id"]])
    for word in ("expected", "stale", "forbidden"):
        judged = qrels.loc[qrels["label"].eq(word), ["probe", "record_id"]]
        hits.loc[pairs.isin(pd.MultiIndex.from_frame(judged)), "what"] = word
    return hits


def _title(hits: pd.DataFrame, order: str | None) -> str:
    ours = hits.loc[hits["what"].eq("expected"), "score"].to_numpy(np.float64)
    others = hits.loc[hits["what"].ne("expected"), "score"].to_numpy(np.float64)
    if order not in ("high", "low"):
        return "Scores: the store does not say which are better"
    better = separated(ours, others) if order == "high" else separated(-ours, -others)
    if math.isnan(better):
        return f"Scores: nothing to tell apart ({len(ours):,} expected, {len(others):,} others)"
    return (
        f"Scores: an expected hit beats another with {better:.2f} "
        f"({len(ours):,} against {len(others):,})"
    )


def separated(ours: np.ndarray, others: np.ndarray) -> float:
    """Share of pairs in which ours is higher, ties as half; NaN without a pair.

    Examples
    --------
    >>> separated(np.array([3.0, 1.0]), np.array([1.0, 0.0]))
    0.875
    """
    if not (len(ours) and len(others)):
        return math.nan
    ordered = np.sort(others)
    below = np.searchsorted(ordered, ours, "left")
    not_above = np.searchsorted(ordered, ours, "right")
    return float((below + not_above).sum() / 2 / (len(ours) * len(others)))


def _label(ax: Axes, hits: pd.DataFrame, n_shown: int) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlim(0.5, hits["rank"].max() + 0.5)
    few = f", {n_shown:,} of {len(hits):,} hits drawn" if n_shown < len(hits) else ""
    ax.set_xlabel(f"rank{few}")
    ax.set_ylabel("score (the store's own scale, better is up)")
