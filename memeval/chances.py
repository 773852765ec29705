"""What a count of leaks is worth: over how many chances it was taken, in words.

"0 leaks" says nothing where nothing could leak, and little where few records could.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memeval.stats import wilson, zero_event_bound
from memeval.text import count

NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Leaks:
    """Leaks of a run beside its chances to leak.

    Attributes
    ----------
    n_leaked, n_chances : int
        Leaked records; records listed as forbidden, deleted or with a canary, and one per probe
        for its foreign scopes.
    high : float
        Upper end of the 95 % interval of the share of probes that leak, over those that could;
        NaN where none could, or where it is not known.
    """

    n_leaked: int
    n_chances: int
    high: float

    @property
    def measured(self) -> bool:
        """Whether anything could leak, or did."""
        return self.n_leaked > 0 or self.n_chances > 0

    @property
    def words(self) -> str:
        """The whole of it in one clause.

        Examples
        --------
        >>> Leaks(0, 0, math.nan).words
        'leaks not measured, as nothing could leak'
        >>> Leaks(0, 20, 0.139).words
        'no leak seen in 20 chances (<= 0.139 of probes)'
        >>> Leaks(2, 20, 0.3).words
        '2 leaked records in 20 chances (<= 0.300 of probes)'
        """
        if not self.measured:
            return f"leaks {NOT_MEASURED}, as nothing could leak"
        seen = count(self.n_leaked, "leaked record") if self.n_leaked else "no leak seen"
        bound = "" if math.isnan(self.high) else f" (<= {self.high:.3f} of probes)"
        return f"{seen} in {count(self.n_chances, 'chance')}{bound}"


def leaks_of(summary: pd.DataFrame) -> Leaks:
    """Read the leaks off a summary.

    Parameters
    ----------
    summary : pandas.DataFrame
        As `memeval.frames.SUMMARY`.
    """
    rows: dict[str, Any] = {str(row.metric): row for row in summary.itertuples()}
    leaks, rate = rows["leaks"], rows["leak_rate"]
    seen = 0 if math.isnan(leaks.value) else int(leaks.value)
    return Leaks(seen, int(leaks.n), float(rate.high))


def told(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary as it is shown: leaks that were not measured are NA, and keep no gate.

    Parameters
    ----------
    summary : pandas.DataFrame
        As `memeval.frames.SUMMARY`; it is not changed.
    """
    if leaks_of(summary).measured:
        return summary
    leaks = summary["metric"].eq("leaks")
    return summary.assign(
        value=summary["value"].mask(leaks), passed=summary["passed"].mask(leaks, pd.NA)
    )


def most_leaking(n_leaked: int, n: int) -> float:
    """Upper end of the 95 % interval of a leak rate.

    Parameters
    ----------
    n_leaked, n : int
        Probes that leaked, of those that could.

    Returns
    -------
    float
        1 - 0.05^(1/n) where none leaked, else the end of the Wilson interval, as of ``leak_rate``
        in the summary; NaN for no probe.

    Examples
    --------
    >>> round(most_leaking(0, 59), 3), round(most_leaking(1, 10), 3)
    (0.05, 0.404)
    """
    if n == 0:
        return math.nan
    return wilson(n_leaked, n).high if n_leaked else zero_event_bound(n)


def rate_words(n_leaked: int, n: int) -> str:
    """Say how many of some chances leaked, and how large the rate may be.

    Examples
    --------
    >>> rate_words(0, 59), rate_words(1, 10), rate_words(0, 0)
    ('no leak seen in 59 chances (<= 0.050)', '1 of 10 chances leaked (<= 0.404)', 'not measured')
    """
    if n == 0:
        return NOT_MEASURED
    bound = f"(<= {most_leaking(n_leaked, n):.3f})"
    if n_leaked:
        return f"{n_leaked:,} of {count(n, 'chance')} leaked {bound}"
    return f"no leak seen in {count(n, 'chance')} {bound}"
