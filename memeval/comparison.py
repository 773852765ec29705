"""Two runs, one verdict: whether the second is as good, as far as the probes can show.

Two questions are kept apart. Did this store change on these probes: no statistics, one loss of a
deterministic store is real. Will it do worse on queries that nobody asked yet: the probes are a
sample, so there are tests, a margin, and a verdict that says when nothing can be said.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import pandas as pd

from memeval.checks.kinds import shown
from memeval.comparing import tolerance as fixed
from memeval.comparing.changes import changes
from memeval.comparing.comparability import Comparability, compare_manifests
from memeval.comparing.deciding import Deciding
from memeval.comparing.deltas import deltas
from memeval.comparing.sides import Sides
from memeval.errors import MemevalError
from memeval.outcomes import Outcomes, as_outcomes
from memeval.runs import Run
from memeval.stats.paired import spent_alpha
from memeval.verdicts import Verdict

__all__ = ["Comparison", "compare"]

Source = Run | Outcomes | Mapping[str, Any] | str | os.PathLike[str]
MARGIN = 0.10
# Below, a level less what earlier looks spent is lost in the rounding of floats.
LEAST_ALPHA = 1e-6
MOST_LOOKS = 10_000
WITHHELD = frozenset({"INVALID", "NOT COMPARABLE"})


@dataclass(frozen=True, eq=False)
class Comparison:
    """What two runs come to side by side.

    Attributes
    ----------
    frame : pandas.DataFrame
        A row per metric: columns of `memeval.frames.COMPARISON`, over the common probes.
    changes : pandas.DataFrame
        A row per probe that was lost, gained, flaky, added, removed or edited: columns of
        `memeval.frames.CHANGES`.
    verdict : Verdict
        SAME, PASS, FAIL, CANNOT TELL, INVALID or NOT COMPARABLE, with reason, next step and exit
        code.
    comparability : Comparability
        How both were measured: to be read before any number.
    baseline, current : Outcomes
        The two sides.
    rule : {'paired', 'tolerance'}
        Which rule decided.
    margin, alpha : float
        Net loss of recall_all that is still no loss, and the one-sided level of the tests and
        bounds, after what earlier looks have spent.
    bound : float
        Upper bound of the net loss of recall_all on queries like these; NaN without a probe.
    detectable : float
        Smallest true net loss that so many probes would show four times in five; NaN where none.
    needed : int or None
        Probes that would decide, if losses and gains stay as frequent; None where no number would.
    notes : tuple of str
        What the reader must know of this comparison.
    """

    frame: pd.DataFrame
    changes: pd.DataFrame
    verdict: Verdict
    comparability: Comparability
    baseline: Outcomes
    current: Outcomes
    rule: Literal["paired", "tolerance"]
    margin: float
    alpha: float
    bound: float
    detectable: float
    needed: int | None
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether it is shown to be as good: SAME or PASS. CANNOT TELL is neither."""
        return self.verdict.word in ("SAME", "PASS")

    @property
    def withheld(self) -> bool:
        """Whether no number may be shown, since none can be believed."""
        return self.verdict.word in WITHHELD

    def of(self, metric: str) -> pd.Series:
        """Row of one metric."""
        rows = self.frame[self.frame["metric"] == metric]
        if rows.empty:
            raise KeyError(f"metric {metric!r} is not here: {', '.join(self.frame['metric'])}")
        return rows.iloc[0]

    def named(self, change: str) -> list[str]:
        """Names of the probes that were lost, gained, flaky, added, removed or edited."""
        return list(self.changes.loc[self.changes["change"].eq(change), "probe"])

    def __repr__(self) -> str:
        from memeval.report.comparison_text import comparison_text

        return comparison_text(self).rstrip("\n")

    def _repr_html_(self) -> str:
        from memeval.report.comparison_notebook import comparison_html

        return comparison_html(self)


def compare(
    baseline: Source,
    current: Source,
    *,
    margin: float = MARGIN,
    alpha: float = 0.05,
    rule: Literal["paired", "tolerance"] = "paired",
    tolerance: float = fixed.TOLERANCE,
    latency_gate: bool = False,
    looks: int | None = None,
    anyway: bool = False,
) -> Comparison:
    """Compare two runs on the probes that both asked with equal content.

    Parameters
    ----------
    baseline, current : Run, Outcomes, mapping, str or path-like
        What was, and what is: runs, or files that memeval wrote, or the dictionary of the
        specification. Rankings in lists become outcomes by `memeval.outcomes_of_rankings`.
    margin : float
        Net loss of recall_all on unseen queries, 0 to 1, that is still no loss.
    alpha : float
        One-sided level of tests and bounds, from 1e-6, below 0.5.
    rule : {'paired', 'tolerance'}
        ``tolerance`` decides by fixed tolerances and newly failing probes, as the specification
        has it: easy to say, and mostly noise where answers vary.
    tolerance : float
        Fall of recall_all, mrr or distinct, and rise of staleness, that the rule lets pass.
    latency_gate : bool
        Whether a probe that takes more than 1.2 times as long fails the comparison; else it is
        warned of.
    looks : int, optional
        How many runs were compared with this baseline before, at most 10,000
        (`memeval.timeline.looks` counts them): the level of this one is
        ``alpha / ((looks + 1) (looks + 2))``, so that all of them together keep `alpha`. Without,
        this is taken as the only one.
    anyway : bool
        Go on where the manifests say that both do not measure the same thing.

    Returns
    -------
    Comparison
        Frames, verdict, reason and next step.

    Raises
    ------
    RunFileError
        If a side cannot be read, or does not tell what the tolerance rule judges.
    MemevalError
        If an option is out of its range.

    Notes
    -----
    The first that matches decides: INVALID, a suite is; NOT COMPARABLE, the manifests say; FAIL, a
    gate that needs no baseline (leak in any repeat, broken contract, floor out of reach, errors,
    store fault), or the ratchet (what passed in every repeat passes in none, where both sides are
    verified deterministic; and probes marked must that passed in every repeat and do not now, from
    three repeats a side, or where the store cannot take them now); SAME, all ranked lists of all
    repeats are known and identical; FAIL, one of the two primary tests, McNemar's mid-p on
    recall_all and the sign flip on ndcg, is significant after Holm; PASS, the upper bound of the
    net loss of recall_all (square-and-add) is below the margin; else CANNOT TELL. A PASS is also
    withheld where a probe marked must was lost in too few repeats to be sure, and where repeats
    pass more seldom by the margin or more.

    With repeats, a probe counts as found where most of its repeats passed, in recall_all, its test
    and its bound; in the sign flip, a probe of which the first repeat came to something else than
    most did counts as unmoved. All other numbers are of the first repeat.

    Examples
    --------
    >>> import memeval as me
    >>> probe = me.Probe("lunch", "noodle bar", [me.Record("r1", "Lunch: noodle bar.")], ["r1"])
    >>> run = me.run([probe], "sqlite")
    >>> compare(run, run).verdict.word
    'SAME'
    """
    _check(margin=margin, alpha=alpha, tolerance=tolerance, looks=looks)
    if rule not in ("paired", "tolerance"):
        raise MemevalError(f"rule is {rule!r}, wanted 'paired' or 'tolerance'; leave it out")
    level = alpha if looks is None else spent_alpha(looks, alpha)
    before, after = as_outcomes(baseline), as_outcomes(current)
    comparability = compare_manifests(before, after)
    sides = Sides(before, after, comparability.common)
    frame = deltas(sides, alpha=level, times=comparability.latency == "comparable")
    decide = Deciding(sides, comparability, frame, margin, level, latency_gate)
    if rule == "tolerance":
        verdict = decide.by_tolerance(tolerance, anyway=anyway)
        notes = [fixed.too_fine(frame, tolerance), *decide.notes()]
    else:
        verdict = decide.by_tests(anyway=anyway)
        notes = [*decide.doubts(), *decide.notes()]
    return Comparison(
        frame=decide.regressed(tolerance if rule == "tolerance" else None),
        changes=changes(sides),
        verdict=verdict,
        comparability=comparability,
        baseline=before,
        current=after,
        rule=rule,
        margin=margin,
        alpha=level,
        bound=decide.bound,
        detectable=decide.detectable,
        needed=decide.needed,
        notes=tuple(note for note in notes if note),
    )


def _check(*, margin: Any, alpha: Any, tolerance: Any, looks: Any) -> None:
    """Refuse an option that is no number in its range."""
    below_half, below_one = math.nextafter(0.5, 0.0), math.nextafter(1.0, 0.0)
    ranges = (
        ("margin", margin, (math.ulp(0.0), below_one), "a share above 0 and below 1"),
        ("alpha", alpha, (LEAST_ALPHA, below_half), f"a level from {LEAST_ALPHA:g}, below 0.5"),
        ("tolerance", tolerance, (0.0, sys.float_info.max), "a share from 0"),
    )
    for name, value, (least, greatest), wanted in ranges:
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not least <= value <= greatest:
            raise MemevalError(f"{name} is {shown(value)}, wanted {wanted}; leave it out otherwise")
    whole = isinstance(looks, Integral) and not isinstance(looks, bool)
    if looks is not None and not (whole and 0 <= looks <= MOST_LOOKS):
        raise MemevalError(
            f"looks is {shown(looks)}, wanted a whole number from 0 to {MOST_LOOKS:,}, or None; "
            "after so many looks nothing could be shown: accept a new baseline"
        )
