"""Does the store keep growing? Records kept per record written, late against early."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memeval.columns import Column, present
from memeval.errors import FrameError
from memeval.showing import Shown

Floats = NDArray[np.float64]
GrowthWord = Literal["plateau", "bent", "linear", "cannot tell"]
PLATEAU, BENT, LINEAR = 0.2, 0.9, 0.8
DRAWS = 2000
FEWEST_SESSIONS = 8
_WRITTEN = (
    Column("session", "int64", "sessions that were written so far", required=True),
    Column("n_records", "float64", "records written so far", required=True),
    Column("n_kept", "float64", "records that the store counts", required=True),
)


@dataclass(frozen=True, slots=True, repr=False)
class Growth(Shown):
    """Whether what is kept still grows with what is written.

    Attributes
    ----------
    ratio, low, high : float
        Records kept per record written, late over early, with its interval of 95 %.
    kept_per_1k : float
        Records kept of 1,000 that are written, in the late part.
    n : int
        Sessions, or whatever the rows stand for.
    verdict : {'plateau', 'bent', 'linear', 'cannot tell'}
        Plateau: the upper end is below 0.2. Bent: below 0.9. Linear: the lower end is above 0.8.
    reason : str
        The same in a sentence.
    """

    ratio: float
    low: float
    high: float
    kept_per_1k: float
    n: int
    verdict: GrowthWord
    reason: str


def size_growth(sizes: pd.DataFrame, *, split: int | None = None, seed: int = 0) -> Growth:
    """Judge whether a store still grows.

    Parameters
    ----------
    sizes : pandas.DataFrame
        A row per session (or checkpoint), in order: ``session``, ``n_records`` written so far, and
        ``n_kept``, what the store counts. Rows without ``n_kept`` are left out.
    split : int, optional
        First session of the late part, such as the first after a consolidation; half way by
        default.
    seed : int
        Of the resampling.

    Returns
    -------
    Growth
        The ratio with its interval, and a verdict.

    Raises
    ------
    FrameError
        If a column is missing, or a value does not fit its column.

    Notes
    -----
    Sessions of each part are drawn anew 2,000 times (percentile interval). The size itself, not
    its growth, says nothing: a store that keeps everything is ten times as big after ten times as
    many sessions.

    Examples
    --------
    >>> written = range(0, 420, 20)
    >>> sizes = pd.DataFrame({"session": range(21), "n_records": written, "n_kept": written})
    >>> size_growth(sizes).verdict
    'linear'
    """
    wanted = ["session", "n_records", "n_kept"]
    missing = [name for name in wanted if name not in getattr(sizes, "columns", ())]
    if missing:
        raise FrameError(
            f"found no column {', '.join(missing)}, wanted {', '.join(wanted)}; give what was "
            "written so far and what the store counts"
        )
    rows = _counted(sizes)
    written, kept = (np.diff(rows[name].to_numpy()) for name in ("n_records", "n_kept"))
    sessions = rows["session"].to_numpy("int64")[1:]
    real = written > 0
    written, kept, sessions = written[real], kept[real], sessions[real]
    late = _late(sessions, split)
    n = len(written)
    if n < FEWEST_SESSIONS or late.all() or not late.any():
        return _unknown(n, f"{n} sessions with a count, at least {FEWEST_SESSIONS} are needed")
    early_share = kept[~late].sum() / written[~late].sum()
    if early_share <= 0:
        return _unknown(n, "nothing was kept in the early part, so nothing can be compared with it")
    late_share = float(kept[late].sum() / written[late].sum())
    low, high = _interval(written, kept, late, np.random.default_rng(seed))
    word, reason = _judged(late_share / early_share, low, high, n)
    return Growth(late_share / early_share, low, high, 1000.0 * late_share, n, word, reason)


def _counted(sizes: pd.DataFrame) -> pd.DataFrame:
    """Rows with a count, in order of their sessions."""
    told = pd.DataFrame(sizes["n_kept"]).notna().all(axis=1).to_numpy()
    rows = pd.DataFrame(present(sizes.loc[told], _WRITTEN))
    for name in ("n_records", "n_kept"):
        odd = rows.loc[~np.isfinite(rows[name]), name]
        if len(odd):
            raise FrameError(
                f"column {name!r} holds {odd.iloc[0]}, wanted finite numbers; mend or drop them"
            )
    return rows.sort_values("session", kind="stable")


def _late(sessions: NDArray[np.int64], split: int | None) -> NDArray[np.bool_]:
    if split is not None:
        return sessions >= split
    return np.arange(len(sessions)) >= len(sessions) // 2


def _interval(
    written: Floats, kept: Floats, late: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[float, float]:
    shares = []
    for part in (late, ~late):
        here = np.flatnonzero(part)
        drawn = here[rng.integers(0, len(here), (DRAWS, len(here)))]
        shares.append(kept[drawn].sum(axis=1) / written[drawn].sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(shares[1] > 0, shares[0] / shares[1], math.inf)
    low, high = np.quantile(ratios, [0.025, 0.975], method="inverted_cdf")
    return float(low), float(high)


def _judged(ratio: float, low: float, high: float, n: int) -> tuple[GrowthWord, str]:
    word: GrowthWord = "cannot tell"
    if high < PLATEAU:
        word = "plateau"
    elif high < BENT:
        word = "bent"
    elif low > LINEAR:
        word = "linear"
    said = {
        "plateau": "the store has stopped growing",
        "bent": "the store grows more slowly than before",
        "linear": "the store still grows with every record",
        "cannot tell": "whether the growth bends cannot be told; write more sessions",
    }[word]
    reason = (
        f"{said}: it keeps {ratio:.2f} [{low:.2f}, {high:.2f}] times as much of what is written "
        f"as before, over {n} sessions"
    )
    return word, reason


def _unknown(n: int, reason: str) -> Growth:
    return Growth(math.nan, math.nan, math.nan, math.nan, n, "cannot tell", reason)
