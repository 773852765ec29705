"""Results and causes: at which rank the probes were answered, and why the others failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval.errors import FrameError
from memeval.frames import CAUSE_WORDS, CAUSES, RESULTS, conform
from memeval.plots.canvas import BROKEN, KEPT, nothing, prepared
from memeval.plots.taking import refuse_withheld, table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memeval.runs import Run

MOST_RANKS = 10
# Causes that fail a run whatever the rest says.
_GATES = frozenset({"leaked", "contract"})


def plot_results(results: Run | pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how many probes came out how: the rank of what was expected, and what became of others.

    Parameters
    ----------
    results : Run or pandas.DataFrame
        From `memeval.run`, or its results, as `memeval.frames.RESULTS`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        A bar per outcome. Positive probes stand by the rank of the first expected record, then
        those with none in the top k; negative probes by whether they were left unanswered; last
        those without an answer (failed, not stored, not supported). Each probe is in one bar. The
        hatched part did not pass, for whatever reason, such as a leak.

    Raises
    ------
    FrameError
        If it is neither, or a run of an invalid suite.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> results = pd.DataFrame(
    ...     {"probe": ["a", "b", "c"], "kind": "positive", "status": "ok", "k": 5,
    ...      "first_rank": [1, 1, None], "passed": [True, True, False]}
    ... )
    >>> plot_results(results, Figure().subplots()).get_title(loc="left")
    'Results: 2 of 3 probes passed, 2 at rank 1'
    """
    frame = conform(table_of(results, "plot_results", lambda run: run.results), RESULTS)
    if frame.empty:
        why = "no probe was asked; make results with memeval.run or memeval.score"
        return nothing(ax, "Results: nothing to draw", why)
    from matplotlib.ticker import MaxNLocator

    named = outcomes(frame)
    passed = frame["passed"].eq(True).fillna(False).astype("bool")
    names = list(named.drop_duplicates().sort_values())
    good = [int((named.eq(name) & passed).sum()) for name in names]
    whole = [int(named.eq(name).sum()) for name in names]
    with prepared(ax, (8, 1.6 + 0.35 * len(names))) as axes:
        axes.barh(range(len(names)), good, color=KEPT, edgecolor="black", lw=0.6, label="passed")
        bad = [n - m for n, m in zip(whole, good, strict=True)]
        axes.barh(range(len(names)), bad, left=good, color="white", edgecolor=BROKEN, lw=1,
                  hatch="///", label="did not pass")  # fmt: skip
        for y, n in enumerate(whole):
            axes.text(n, y, f" {n}", va="center")
        axes.set_yticks(range(len(names)), [str(name) for name in names])
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(0, 1.12 * max(whole))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("probes")
        axes.set_ylabel("first expected record, or outcome")
        first = int(named.eq("rank 1").sum())
        title = f"Results: {passed.sum()} of {len(frame)} probes passed, {first} at rank 1"
        axes.set_title(title, loc="left")
        axes.legend(frameon=False)
    return axes


def outcomes(frame: pd.DataFrame) -> pd.Series:
    """Outcome of each probe in words, in the order in which they are drawn."""
    ranks = frame["first_rank"]
    most = min(MOST_RANKS, int(frame["k"].max()))
    words = [f"rank {n}" for n in range(1, most + 1)]
    deeper, none = f"rank > {most}", "not in the top k"
    quiet, loud = "negative, unanswered", "negative, ANSWERED"
    said = ranks.map(
        lambda rank: f"rank {rank:.0f}" if rank <= most else deeper, na_action="ignore"
    )
    said = said.astype("object").where(ranks.notna(), none)
    negative = frame["kind"].astype("str").eq("negative")
    abstained = frame["abstained"].eq(True).fillna(False).astype("bool")
    said = said.mask(negative & abstained, quiet).mask(negative & ~abstained, loud)
    said = said.mask(frame["status"].astype("str").ne("ok"), "no answer")
    order = [*words, deeper, none, quiet, loud, "no answer"]
    return pd.Series(pd.Categorical(said, categories=order, ordered=True), index=frame.index)


def plot_causes(causes: Any, ax: Axes | None = None) -> Axes:
    """Draw how many probes failed for which cause.

    Parameters
    ----------
    causes : Run, Diagnosis or pandas.DataFrame
        From `memeval.diagnose`, or its frame, as `memeval.frames.CAUSES`; or a run that was
        diagnosed.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        A bar per cause, in the order in which to mend them: what breaks a gate comes first and is
        hatched. At the end stands the number of probes, and in how many of them the missing record
        is found when more is asked for.

    Raises
    ------
    FrameError
        If it is none of these, or a run of an invalid suite.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> causes = pd.DataFrame({"probe": ["a", "b"], "cause": ["cut", "cut"], "rank_found": [7, 9]})
    >>> plot_causes(causes, Figure().subplots()).get_title(loc="left")
    'Causes: 2 failed probes, most by cut'
    """
    frame = _causes(causes)
    if frame is None:
        why = "the run was not diagnosed; use memeval.diagnose, then run.diagnosed(...)"
        return nothing(ax, "Causes: nothing to draw", why)
    frame = conform(frame, CAUSES)
    if frame.empty:
        return nothing(ax, "Causes: none", "no probe failed, so there is no cause")
    from matplotlib.ticker import MaxNLocator

    words = [word for word in CAUSE_WORDS if frame["cause"].eq(word).any()]
    counts = [int(frame["cause"].eq(word).sum()) for word in words]
    with prepared(ax, (8, 1.4 + 0.4 * len(words))) as axes:
        for y, (word, n) in enumerate(zip(words, counts, strict=True)):
            gate = word in _GATES
            axes.barh(y, n, color="white" if gate else KEPT, edgecolor=BROKEN if gate else "black",
                      lw=1, hatch="///" if gate else None)  # fmt: skip
            found = int(frame.loc[frame["cause"].eq(word), "rank_found"].notna().sum())
            deeper = f", {found} found deeper" if found else ""
            gated = ", BREAKS A GATE" if gate else ""
            axes.text(n, y, f" {n}{deeper}{gated}", va="center", color=BROKEN if gate else "black")
        axes.set_yticks(range(len(words)), words)
        axes.set_ylim(len(words) - 0.5, -0.5)
        axes.set_xlim(0, 1.5 * max(counts))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("failed probes")
        axes.set_ylabel("cause")
        most = words[counts.index(max(counts))]
        s = "" if len(frame) == 1 else "s"
        axes.set_title(f"Causes: {len(frame)} failed probe{s}, most by {most}", loc="left")
    return axes


def _causes(given: Any) -> pd.DataFrame | None:
    from memeval.runs import Run

    if isinstance(given, pd.DataFrame):
        return given
    if not hasattr(given, "causes"):
        raise FrameError(
            f"found {type(given).__name__}, wanted a Diagnosis, its frame, or a Run; draw "
            "memeval.plots.plot_causes(memeval.diagnose(run, store))"
        )
    if isinstance(given, Run):
        refuse_withheld(given, "run")
    causes: pd.DataFrame | None = given.causes
    return causes
