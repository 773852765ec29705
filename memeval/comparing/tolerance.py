"""The rule of the specification: fixed tolerances, and no probe that newly fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

from memeval.comparing.gates import ACCEPT, Objection
from memeval.comparing.sides import Sides
from memeval.errors import RunFileError
from memeval.outcomes import Outcomes
from memeval.text import visible

TOLERANCE = 0.03
# Metrics that the rule judges, by their names in the specification.
JUDGED: Mapping[str, str] = MappingProxyType(
    {
        "recall_all": "recall_at_k",
        "mrr": "mrr",
        "distinct": "distinct_at_k",
        "staleness": "staleness",
    }
)
UNCOUNTED = "leaks: not measured"
# What rounding may add to a difference of two shares.
_ROUNDING = 1e-9


def beyond(
    frame: pd.DataFrame, tolerance: float, *, as_specified: bool = True
) -> Iterator[Objection]:
    """Metrics that fell by more than the tolerance; staleness where it rose.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `memeval.comparing.deltas.deltas` gives it. What is undefined on a side passes and
        fails nothing here; see `vanished`.
    tolerance : float
        A share, from 0.
    as_specified : bool
        Whether metrics have their names of the specification, else those of the frame.
    """
    row: Any
    for row in frame[frame["metric"].isin(list(JUDGED))].itertuples():
        if is_beyond(row.metric, row.delta, tolerance):
            moved = f"{row.baseline:.3f} -> {row.current:.3f}"
            risen = " rose" if row.metric == "staleness" else ""
            name = JUDGED[row.metric] if as_specified else row.metric
            yield Objection(
                f"{name}{risen}: {moved}, by more than {tolerance:g}",
                f"look at the probes that were lost; or accept it: {ACCEPT}",
            )


def is_beyond(metric: str, delta: float, tolerance: float) -> bool:
    """Whether a metric got worse by more than the tolerance; rounding and NaN are not.

    Examples
    --------
    >>> is_beyond("recall_all", 0.87 - 0.90, 0.03), is_beyond("staleness", 0.04, 0.03)
    (False, True)
    """
    return (delta if metric == "staleness" else -delta) > tolerance + _ROUNDING


def vanished(
    baseline: Outcomes, current: Outcomes, *, as_specified: bool = True
) -> Iterator[Objection]:
    """Figures that cannot be set against each other any more: a fall would not be seen.

    Parameters
    ----------
    baseline, current : Outcomes
        The two sides.
    as_specified : bool
        As in `beyond`.

    Yields
    ------
    Objection
        For leaks that are undefined now, whatever they were; for a judged metric that is undefined
        now and was not; and for names that tell two cutoffs where a side tells nothing else.
    """
    if math.isnan(current.metrics.get("leaks", 0.0)):
        yield Objection(UNCOUNTED, "measure leaks again: run 'memeval run'")
    for name, spoken in JUDGED.items():
        then, now = (side.metrics.get(name, math.nan) for side in (baseline, current))
        if not math.isnan(then) and math.isnan(now):
            yield Objection(
                f"{spoken if as_specified else name}: {then:.3f} -> not measured",
                f"find out why nothing is left to measure it by; or accept it: {ACCEPT}",
            )
    cutoffs = [side.manifest.get("k") for side in (baseline, current)]
    if "bare" in (baseline.kind, current.kind) and None not in cutoffs and len({*cutoffs}) > 1:
        yield Objection(
            f"not comparable: measured at the cutoff {visible(str(cutoffs[0]))} in the baseline, "
            f"at {visible(str(cutoffs[1]))} now",
            "measure both at one cutoff",
        )


def newly_failing(sides: Sides) -> Iterator[Objection]:
    """Probes that passed and do not any more, by name: all of them."""
    names = sides.named(sides.lost)
    if names:
        yield Objection(
            "newly failing probes: " + ", ".join(map(visible, names)),
            f"mend these first; or accept the loss: {ACCEPT}",
        )


def refuse_missing(sides: Sides) -> None:
    """Refuse a side that does not tell a metric that the rule judges.

    Raises
    ------
    RunFileError
        With the side and the metrics. A metric that is undefined (null) is told.
    """
    for side in (sides.baseline, sides.current):
        wanted = list(JUDGED) if side is sides.baseline else [*JUDGED, "leaks"]
        missing = [JUDGED.get(name, name) for name in wanted if not _tells(side, name)]
        if missing:
            raise RunFileError(
                f"{side.source}: says nothing of {', '.join(missing)}, wanted "
                f"{', '.join(JUDGED.get(name, name) for name in wanted)} (null where undefined); "
                "without them a fall would not be seen: make the file again with 'memeval run'"
            )


def _tells(side: Outcomes, metric: str) -> bool:
    return metric in side.metrics


def too_fine(frame: pd.DataFrame, tolerance: float) -> str:
    """Warn of a tolerance that is smaller than one probe; empty where it is not."""
    n = int(frame.loc[frame["metric"].eq("recall_all"), "n"].iloc[0])
    if not n or tolerance >= 1.0 / n - _ROUNDING:
        return ""
    return (
        f"the tolerance {tolerance:g} is smaller than one probe of {n} ({1.0 / n:.3f} of recall): "
        "one flip goes beyond it, and at a store whose answers vary that is chance"
    )
