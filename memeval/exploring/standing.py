"""What a run comes to at other settings, by the definitions of `memeval.score`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import pandas as pd

from memeval.exploring.choosing import changed
from memeval.exploring.settings import Settings, under
from memeval.metrics import score
from memeval.runs import Run
from memeval.suite import Suite

# What is needed to judge an answer; texts are read for nothing here.
_JUDGED = ["probe", "repeat", "rank", "record_id", "store_id", "canary"]


@dataclass(frozen=True, slots=True)
class Standing:
    """What a run comes to.

    Attributes
    ----------
    n_passed, n_asked : int
        Probes that pass, of those that the store supports.
    recall_all, abstention : float
        Shares of the positive, and of the negative probes; NaN without any.
    n_positive, n_negative : int
        Probes behind these two.
    leaks : int
        Leaking records anywhere in the answers, whatever k.
    gained, lost : int
        Probes that pass and did not as they were asked, and the other way round.
    """

    n_passed: int
    n_asked: int
    recall_all: float
    n_positive: int
    abstention: float
    n_negative: int
    leaks: int
    gained: int = 0
    lost: int = 0


def results_at(run: Run, settings: Settings) -> pd.DataFrame:
    """Score the recorded answers at other settings.

    Parameters
    ----------
    run : Run
        What was recorded.
    settings : Settings
        At what to judge.

    Returns
    -------
    pandas.DataFrame
        Columns and rows of ``run.results``, from `memeval.score`. Broken contract checks stay as
        they were noted while asking; ``distinct`` and ``context_tokens`` say nothing here.

    Raises
    ------
    FrameError
        If there is a floor and scores have no order.
    """
    if settings.as_asked:
        return run.results
    hits, calls = tables_at(run, settings)
    return score(hits[_JUDGED], run.qrels, calls)


def tables_at(run: Run, settings: Settings) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Hits and calls of a run as if it had been asked so."""
    hits, calls = run.hits, run.calls
    if settings.floor is not None:
        hits = under(hits, settings.floor, run.manifest.capabilities.get("score_order"))
    if settings.k is not None:
        calls = calls.assign(k=settings.k)
    return hits, calls


def standing(now: pd.DataFrame, before: pd.DataFrame) -> Standing:
    """Count what results come to.

    Parameters
    ----------
    now, before : pandas.DataFrame
        Results at some settings, and as the probes were asked.
    """
    moved, passes = changed(before, now), now["passed"].fillna(False).astype("bool")
    found, silent = (now[name].dropna().astype("float64") for name in ("recall_all", "abstained"))
    return Standing(
        n_passed=int(passes.sum()),
        n_asked=int(now["passed"].notna().sum()),
        recall_all=float(found.mean()),
        n_positive=len(found),
        abstention=float(silent.mean()),
        n_negative=len(silent),
        leaks=int(now["n_leaked"].sum()),
        gained=int((moved & passes).sum()),
        lost=int((moved & ~passes).sum()),
    )


def only(run: Run, names: Collection[str], settings: Settings) -> Run:
    """The run of some of its probes, as if it had been asked so.

    Parameters
    ----------
    run : Run
        What was recorded.
    names : collection of str
        Names of the probes.
    settings : Settings
        At what to judge.
    """
    hits, calls, qrels = (
        frame[frame["probe"].isin(list(names))] for frame in (run.hits, run.calls, run.qrels)
    )
    suite = Suite.of([probe for probe in run.suite if probe.name in names])
    some = replace(run, hits=hits, calls=calls, qrels=qrels, suite=suite, causes=None, looks=None)
    hits, calls = tables_at(some, settings)
    return replace(some, hits=hits, calls=calls)
