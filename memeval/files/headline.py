"""The numbers of a summary under the names of the specification, and back."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from memeval.checks.kinds import shown
from memeval.errors import RunFileError
from memeval.files.saved import DECIMALS, rounded
from memeval.summary import METRICS

# Metric by its name in the specification; of the two that name a cutoff without it.
NAMES: Mapping[str, str] = {
    "recall_at": "recall_all",
    "mrr": "mrr",
    "distinct_at": "distinct",
    "staleness": "staleness",
    "leaks": "leaks",
    "negative_correct": "abstention",
    "p95_ms": "latency_p95_ms",
}
# Metrics that may be above 1.
_COUNTS = frozenset({"leaks", "contract", "errors", "llm_calls", "context_tokens"})
SHARES = frozenset(
    name for name in METRICS if not name.endswith("_ms") and not name.startswith("not_")
).difference(_COUNTS)
_CUTOFF = re.compile(r"(recall_at|distinct_at)_(k|[0-9]{1,9})", re.ASCII)


def spec_numbers(metrics: Mapping[str, float], k: int | None) -> dict[str, float | int | None]:
    """Numbers by the names of the specification, six decimals, None where undefined.

    Parameters
    ----------
    metrics : mapping of str to float
        Values by the names of the summary.
    k : int or None
        The cutoff that all probes share; only 5 is named.

    Examples
    --------
    >>> spec_numbers({"recall_all": 2 / 3, "leaks": 0.0, "flaky_rate": 0.5}, 5)
    {'recall_at_5': 0.666667, 'leaks': 0}
    """
    named: dict[str, float | int | None] = {}
    for name, metric in NAMES.items():
        if metric in metrics:
            cutoff = f"_{'5' if k == 5 else 'k'}" if name.endswith("_at") else ""
            named[name + cutoff] = rounded(metrics[metric])
    if "leaks" in metrics:
        named["leaks"] = int(metrics["leaks"]) if math.isfinite(metrics["leaks"]) else 0
    return named


def other_numbers(metrics: Mapping[str, float]) -> dict[str, float | int | None]:
    """Numbers that the specification has no name for, by the names of the summary."""
    spoken = set(NAMES.values())
    return {metric: rounded(v) for metric, v in metrics.items() if metric not in spoken}


def metrics_from(
    payload: Mapping[str, Any], source: str, *, bounds: bool = False
) -> dict[str, float]:
    """Read numbers under either name.

    Parameters
    ----------
    payload : mapping
        What a file holds: names of the specification, and those of the summary in ``metrics``.
    source : str
        Where it comes from, for messages.
    bounds : bool
        Whether they are the user's own bounds, which no value need reach.

    Returns
    -------
    dict of str to float
        By the names of the summary; null is NaN, what is not there is left out.

    Raises
    ------
    RunFileError
        If one of them is no number or out of its range, or one metric has two values.
    """
    others = payload.get("metrics") or {}
    if not isinstance(others, Mapping):
        raise RunFileError(
            f"{source}: metrics is {shown(others)}, wanted a mapping; make the file again"
        )
    found: dict[str, tuple[str, float]] = {}
    told = [(n, v, spoken_metric(n)) for n, v in payload.items()]
    told += [(n, v, n if n in METRICS else None) for n, v in others.items()]
    for name, value, metric in told:
        if metric is None:
            continue
        number = _number(name, value, metric, source)
        if metric in SHARES and number > 1 and not bounds:
            raise _wrong(source, name, value, "a share from 0 to 1, or null")
        if metric in found and found[metric][1] != number:
            raise RunFileError(
                f"{source}: {found[metric][0]} and {name} are one metric and differ; leave one out"
            )
        found[metric] = (name, number)
    return {metric: found[metric][1] for metric in METRICS if metric in found}


def spoken_metric(name: object) -> str | None:
    """Metric of a name of the specification; None for any other name.

    Examples
    --------
    >>> spoken_metric("recall_at_10"), spoken_metric("probes")
    ('recall_all', None)
    """
    if not isinstance(name, str):
        return None
    cutoff = _CUTOFF.fullmatch(name)
    return NAMES.get(cutoff[1] if cutoff else name)


def spoken_cutoff(payload: Mapping[str, Any], source: str) -> int | None:
    """Cutoff that the names of the figures tell, such as 10 of ``recall_at_10``.

    Raises
    ------
    RunFileError
        If two names tell two.
    """
    matches = (_CUTOFF.fullmatch(name) for name in payload if isinstance(name, str))
    told = sorted({one[2] for one in matches if one and one[2] != "k"})
    if len(told) > 1:
        raise RunFileError(
            f"{source}: its figures are of the cutoffs {' and '.join(told[:2])}, wanted one; "
            "make the file again"
        )
    return int(told[0]) if told else None


def _number(name: str, value: Any, metric: str, source: str) -> float:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return math.nan
    wanted = "a number from 0, or null"
    if not isinstance(value, Real) or isinstance(value, bool):
        raise _wrong(source, name, value, wanted)
    if value != value:  # NaN of numpy
        return math.nan
    number: Any = value
    if not 0 <= number <= sys.float_info.max:
        raise _wrong(source, name, value, f"{wanted}, within the range of floats")
    if metric == "leaks" and not isinstance(value, Integral) and float(value) % 1:
        raise _wrong(source, name, value, "a whole number")
    return round(float(value), DECIMALS)


def _wrong(source: str, name: str, value: Any, wanted: str) -> RunFileError:
    return RunFileError(
        f"{source}: {name} is {shown(value)}, wanted {wanted}; make the file again, or take it "
        "from the history of your repository"
    )
