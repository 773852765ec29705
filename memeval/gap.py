"""Whether a store is better on the probes that everybody looks at than on those held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from memeval.errors import MemevalError
from memeval.runs import Run
from memeval.showing import Shown
from memeval.stats.independent import difference_interval

Word = Literal["too few", "no difference seen", "dev is better", "held out is better"]
FEWEST = 10


@dataclass(frozen=True, slots=True, repr=False)
class Gap(Shown):
    """Recall of the dev probes beside that of the held-out ones.

    Attributes
    ----------
    dev, held_out : float
        ``recall_all`` of either side, 0 to 1; NaN without a positive probe that was asked.
    n_dev, n_held_out : int
        Positive probes that it was taken over.
    gap, low, high : float
        Dev minus held out, and its 95 % interval.
    word : {'too few', 'no difference seen', 'dev is better', 'held out is better'}
        What it comes to.
    """

    dev: float
    held_out: float
    n_dev: int
    n_held_out: int
    gap: float
    low: float
    high: float
    word: Word

    @property
    def reason(self) -> str:
        """The same in a sentence."""
        if self.word == "too few":
            sides = f"{self.n_dev} dev and {self.n_held_out} held-out positive probes"
            return f"too few to tell: {sides} were asked, wanted {FEWEST} of either"
        if self.word == "dev is better":
            return (
                "dev is better than the held out (overfitted): what was tuned fits the probes that "
                "were looked at; expect the held-out number of other queries"
            )
        if self.word == "held out is better":
            return "the held out are better than dev: no sign of overfitting; the split fell so"
        return f"no difference seen; one of up to {self.high:.2f} cannot be ruled out"


def holdout_gap(run: Run) -> Gap:
    """Compare the recall of the dev probes with that of the held-out ones.

    Parameters
    ----------
    run : Run
        Of a suite with a holdout that was asked: ``memeval run --holdout``, or
        ``me.run(suite.with_holdout(0.2), ...)``.

    Returns
    -------
    Gap
        Of ``recall_all``, dev minus held out.

    Raises
    ------
    MemevalError
        If no held-out probe was asked.

    Notes
    -----
    The interval is Newcombe's for two independent shares
    (`memeval.stats.independent.difference_interval`), of the first repeat of each probe. Probes
    are taken as independent of each other: where many share a history, it is too narrow. It is
    shown for any n, and judged from 10 positive probes on either side.

    Examples
    --------
    >>> import memeval as me
    >>> ask = [
    ...     me.Probe(f"p{n}", f"word{n}", [me.Record("r", f"word{n}")], ["r"]) for n in range(90)
    ... ]
    >>> found = holdout_gap(me.run(me.Suite.of(ask).with_holdout(0.3), "sqlite"))
    >>> found.n_dev + found.n_held_out, found.gap, found.word
    (90, 0.0, 'no difference seen')
    """
    held = run.suite.looked_at
    if not held:
        raise MemevalError(
            f"found no held-out probe among the {len(run.suite)} of this run, wanted a look at "
            "some; run with --holdout, or give suite.with_holdout(0.2)"
        )
    found = run.results[["probe", "recall_all"]].dropna()
    out = found["probe"].isin(held)
    (hits, n), (held_hits, n_held) = _counted(found[~out]), _counted(found[out])
    low, high = difference_interval((hits, held_hits), (n, n_held))
    dev, kept = (h / k if k else float("nan") for h, k in ((hits, n), (held_hits, n_held)))
    return Gap(dev, kept, n, n_held, dev - kept, low, high, _word(n, n_held, low, high))


def _counted(rows: pd.DataFrame) -> tuple[int, int]:
    return int(rows["recall_all"].astype("bool").sum()), len(rows)


def _word(n_dev: int, n_held_out: int, low: float, high: float) -> Word:
    if min(n_dev, n_held_out) < FEWEST:
        return "too few"
    if low > 0.0:
        return "dev is better"
    return "held out is better" if high < 0.0 else "no difference seen"
