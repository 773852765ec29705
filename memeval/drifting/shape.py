"""How does a search slow down as the store grows? A choice among five laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memeval.errors import FrameError, said
from memeval.showing import Shown

Floats = NDArray[np.float64]
Law = Literal["constant", "logarithmic", "linear", "linearithmic", "quadratic"]
Group = Literal["constant", "linear", "worse", "cannot tell"]
LAWS: Mapping[str, tuple[Callable[[Floats], Floats] | None, Group]] = {
    "constant": (None, "constant"),
    "logarithmic": (np.log, "constant"),
    "linear": (lambda n: n, "linear"),
    "linearithmic": (lambda n: n * np.log(n), "linear"),
    "quadratic": (lambda n: n * n, "worse"),
}
GAP = 4.0
FEWEST = 6
FURTHEST = 4.0
DRAWS = 1000
# Below this the residuals are rounding, and their logarithm would decide.
_LEAST_RSS = 1e-20


@dataclass(frozen=True, slots=True, repr=False)
class Shape(Shown):
    """The law that the latency follows.

    Attributes
    ----------
    law : str
        The law that fits best; ``cannot tell`` below six sizes.
    group : {'constant', 'linear', 'worse', 'cannot tell'}
        Like a constant (it or its logarithm), like a line (or n log n), or worse; a verdict only
        where the next group is more than 4 behind by AICc.
    offset_ms, factor : float
        Latency = offset + factor * f(n).
    crossing, low, high : float
        Records at which the law crosses the budget, with the 95 % interval; NaN where it does not
        grow or cannot be told, and infinity where that lies beyond four times the largest size
        measured.
    reason : str
        The same in words.
    """

    law: str
    group: Group
    offset_ms: float
    factor: float
    crossing: float
    low: float
    high: float
    reason: str

    def at(self, n_records: ArrayLike) -> Floats:
        """Milliseconds that the law gives for these sizes."""
        sizes = np.asarray(n_records, dtype="float64")
        return self.offset_ms + self.factor * _shape_of(self.law, sizes)


@dataclass(frozen=True, slots=True)
class _Fit:
    law: str
    offset: float
    factor: float
    aicc: float


def latency_shape(
    n_records: ArrayLike, latency_ms: ArrayLike, *, budget_ms: float = 100.0, seed: int = 0
) -> Shape:
    """Choose the law that a latency follows, and the size at which it crosses a budget.

    Parameters
    ----------
    n_records, latency_ms : array_like of float
        A size above 1 and the latency there, in milliseconds, for each checkpoint; eight sizes that
        double are better than eleven that do not.
    budget_ms : float
        What the latency should stay below.
    seed : int
        Of the resampling.

    Returns
    -------
    Shape
        Law, group, and the crossing with its interval.

    Raises
    ------
    FrameError
        If the two are not of one length, or a value is not above its least.

    Notes
    -----
    Non-negative least squares on relative errors, and the corrected information criterion of
    Hurvich and Tsai (1989). The slope of a log-log plot would take 2 ms + 0.005 ms a record for a
    power of 0.69.

    The crossing is that of the law that fits best. Its interval resamples the relative residuals of
    that law 1,000 times, widened by ``sqrt(n / (n - 2))`` for the two coefficients, and fits all
    laws of the group again each time: that a line and n log n can hardly be told apart widens it.

    Examples
    --------
    >>> sizes = 125 * 2 ** np.arange(8)
    >>> found = latency_shape(sizes, 2 + 0.005 * sizes)
    >>> found.group, round(found.crossing)
    ('linear', 19600)
    """
    sizes, times = _checked(n_records, latency_ms, budget_ms)
    if len(np.unique(sizes)) < FEWEST:
        return _unknown(f"{len(np.unique(sizes))} sizes, at least {FEWEST} are needed")
    fits = [_fitted(law, sizes, times) for law in LAWS]
    best = min(fits, key=lambda fit: fit.aicc)
    by_group: dict[Group, float] = {}
    for fit in fits:
        group = LAWS[fit.law][1]
        by_group[group] = min(fit.aicc, by_group.get(group, math.inf))
    ranked = sorted(by_group.items(), key=lambda item: item[1])
    group = ranked[0][0] if ranked[1][1] - ranked[0][1] > GAP else "cannot tell"
    crossing, low, high = _crossing(best, group, sizes, times, budget_ms, seed)
    reason = _said(best, group, crossing, low, high, budget_ms, float(sizes.max()))
    return Shape(best.law, group, best.offset, best.factor, crossing, low, high, reason)


def _checked(
    n_records: ArrayLike, latency_ms: ArrayLike, budget_ms: float
) -> tuple[Floats, Floats]:
    sizes, times = _numbers("n_records", n_records), _numbers("latency_ms", latency_ms)
    if len(sizes) != len(times):
        raise FrameError(
            f"found {len(sizes)} sizes and {len(times)} latencies, wanted one for each; drop what "
            "has no partner"
        )
    if not isinstance(budget_ms, Real) or not budget_ms > 0:
        raise FrameError(f"budget_ms is {budget_ms!r}, wanted milliseconds above 0; give some")
    for name, values, least in (("n_records", sizes, 1.0), ("latency_ms", times, 0.0)):
        odd = values[~(np.isfinite(values) & (values > least))]
        if len(odd):
            raise FrameError(
                f"{name} holds {odd[0]}, wanted numbers above {least:g}; drop the rows without a "
                "measurement"
            )
    return sizes, times


def _numbers(name: str, values: ArrayLike) -> Floats:
    try:
        return np.asarray(values, dtype="float64").ravel()
    except (TypeError, ValueError, OverflowError) as error:
        raise FrameError(
            f"{name} holds what is no number ({said(error)}), wanted numbers, one for each "
            "checkpoint; convert them, or drop the rows without a measurement"
        ) from error


def _fitted(law: str, sizes: Floats, times: Floats) -> _Fit:
    """Least squares on relative errors, both coefficients at least 0."""
    from scipy.optimize import nnls

    function = LAWS[law][0]
    columns = [np.ones_like(sizes)] if function is None else [np.ones_like(sizes), function(sizes)]
    scale = np.array([column.max() for column in columns])
    design = np.stack(columns, axis=1) / scale / times[:, None]
    found, norm = nnls(design, np.ones_like(times))
    coefficients = found / scale
    n, k = len(times), len(columns) + 1
    aicc = n * math.log(max(norm**2, _LEAST_RSS) / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1)
    factor = float(coefficients[1]) if len(coefficients) > 1 else 0.0
    return _Fit(law, float(coefficients[0]), factor, aicc)


def _crossing(
    best: _Fit, group: Group, sizes: Floats, times: Floats, budget_ms: float, seed: int
) -> tuple[float, float, float]:
    """Size at which the law meets the budget; it is drawn no further than four times as far."""
    if group not in ("linear", "worse") or best.factor <= 0:
        return math.nan, math.nan, math.nan
    fitted = best.offset + best.factor * _shape_of(best.law, sizes)
    relative = (times / fitted - 1.0) * math.sqrt(len(times) / (len(times) - 2))
    rng = np.random.default_rng(seed)
    again = fitted * (1.0 + rng.choice(relative, (DRAWS, len(relative))))
    again = np.maximum(again, times.min() * 1e-3)
    drawn = _meet_again([law for law in LAWS if LAWS[law][1] == group], sizes, again, budget_ms)
    low, high = np.quantile(drawn, [0.025, 0.975], method="inverted_cdf")
    met = _meets(best.law, np.array([best.offset]), np.array([best.factor]), budget_ms)
    furthest = FURTHEST * float(sizes.max())
    ends = (float(met[0]), float(low), float(high))
    crossing, low, high = (math.inf if end > furthest else end for end in ends)
    return crossing, low, high


def _shape_of(law: str, sizes: Floats) -> Floats:
    function = LAWS[law][0] if law in LAWS else None
    return np.zeros_like(sizes) if function is None else function(sizes)


def _meet_again(laws: Sequence[str], sizes: Floats, times: Floats, budget_ms: float) -> Floats:
    """Where each row of times meets the budget, by that of the laws which fits it best."""
    rss = np.full(len(times), math.inf)
    crossing = np.full(len(times), math.inf)
    for law in laws:
        offset, factor, error = _lines(_shape_of(law, sizes), times)
        better = error < rss
        rss[better] = error[better]
        crossing[better] = _meets(law, offset, factor, budget_ms)[better]
    return crossing


def _lines(shape: Floats, times: Floats) -> tuple[Floats, Floats, Floats]:
    """Non-negative least squares on relative errors of many rows: offset, factor, squared error."""
    one, grown = 1.0 / times, shape / times
    aa, ab, bb = (one * one).sum(1), (one * grown).sum(1), (grown * grown).sum(1)
    a, b = one.sum(1), grown.sum(1)
    both = np.stack([a * bb - b * ab, b * aa - a * ab]) / (aa * bb - ab * ab)
    alone = np.stack([a / aa, np.zeros_like(a)]), np.stack([np.zeros_like(b), b / bb])
    flat, through = (_error(fit, one, grown) for fit in alone)
    edge = np.where(flat <= through, alone[0], alone[1])
    offset, factor = np.where((both >= 0).all(axis=0), both, edge)
    return offset, factor, _error(np.stack([offset, factor]), one, grown)


def _error(fit: Floats, one: Floats, grown: Floats) -> Floats:
    left: Floats = ((fit[0][:, None] * one + fit[1][:, None] * grown - 1.0) ** 2).sum(1)
    return left


def _meets(law: str, offset: Floats, factor: Floats, budget_ms: float) -> Floats:
    """Size at which a law meets the budget: 0 where it starts above, infinity where never."""
    with np.errstate(divide="ignore"):
        wanted = np.maximum(budget_ms - offset, 0.0) / factor
    wanted[budget_ms <= offset] = 0.0
    if law == "quadratic":
        return np.sqrt(wanted)
    return wanted if law == "linear" else _before_its_logarithm(wanted)


def _before_its_logarithm(wanted: Floats) -> Floats:
    """The n of ``n log n = wanted``: ``wanted / W(wanted)``, with the function of Lambert."""
    from scipy.special import wrightomega

    found = wanted.copy()
    inner = (wanted > 0) & np.isfinite(wanted)
    found[inner] /= wrightomega(np.log(wanted[inner]))
    return found


def _said(
    best: _Fit, group: Group, crossing: float, low: float, high: float, budget_ms: float, top: float
) -> str:
    if group == "cannot tell":
        return (
            f"the {best.law} law fits best, but another is not far behind; ask at more sizes, each "
            "twice the one before"
        )
    if group == "constant":
        return f"the latency does not grow with the store, but for a logarithm at most ({best.law})"
    grows = f"the latency grows with the store ({best.law})"
    if group == "worse":
        grows = "the latency grows faster than the store: with its square"
    if math.isnan(crossing):
        return grows
    if math.isinf(crossing):
        return (
            f"{grows} and stays below {budget_ms:g} ms up to {FURTHEST * top:,.0f} records, four "
            "times the largest size measured"
        )
    start = f"{low:,.0f}" if math.isfinite(low) else "beyond what can be said"
    end = f"{high:,.0f}" if math.isfinite(high) else "beyond what can be said"
    return f"{grows} and crosses {budget_ms:g} ms at {crossing:,.0f} records [{start}, {end}]"


def _unknown(reason: str) -> Shape:
    nothing = math.nan
    return Shape("cannot tell", "cannot tell", nothing, nothing, nothing, nothing, nothing, reason)
