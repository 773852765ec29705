"""Where a suite is weak: tag by tag, and by the words that its probes give away."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memeval.checks.wording import shared_words
from memeval.errors import FrameError
from memeval.frames import OVERLAP, RESULTS, TAG_SUMMARY, TAGS, conform, empty
from memeval.probe import Probe
from memeval.stats import wilson

__all__ = ["lexical_overlap", "summarize_by_tag"]

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


def summarize_by_tag(
    results: pd.DataFrame, tags: pd.DataFrame, *, total: bool = False
) -> pd.DataFrame:
    """Sum up the results of each tag, the worst tag first.

    Parameters
    ----------
    results : pandas.DataFrame
        A row per probe, such as ``run.results``.
    tags : pandas.DataFrame
        A row per probe and tag, such as ``suite.tags()``. Probes that are not in `results` are
        left out.
    total : bool
        Whether a last row tells of all probes together; its ``tag`` is NA.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.TAG_SUMMARY`. Leaking tags come first, those with more leaks
        before those with fewer; then by the share of probes that did not pass, then by their
        number, then by name.

        - ``tag`` : str.
        - ``n_positive``, ``n_negative`` : int64, probes that carry it.
        - ``recall_all``, ``low``, ``high`` : float64, share of its positive probes and the ends of
          the Wilson interval of 95 %; NA without any.
        - ``mrr`` : float64, mean of ``rr`` over the positive probes.
        - ``leaks`` : int64, leaking records.
        - ``abstention`` : float64, share of its negative probes; NA without any.
        - ``n_failed`` : int64, probes that did not pass, for whatever reason.

    Raises
    ------
    FrameError
        If a table does not fit its schema, or a probe stands in `results` twice.

    Notes
    -----
    A probe with two tags counts in both lines and once in the total, and a probe without a tag
    only there, so the lines do not add up to the total. Probes that are not supported count
    nowhere. Tags are looked at after the fact and many at once: the worst of twenty tags looks bad
    by luck alone. Read the interval, and decide on the suite.

    Examples
    --------
    >>> from memeval.rankings import score_rankings
    >>> results = score_rankings([["a"], ["x"]], [["a"], ["b"]])
    >>> tags = pd.DataFrame({"probe": results["probe"], "tag": ["rank", "time"]})
    >>> summarize_by_tag(results, tags)[["tag", "n_positive", "recall_all", "n_failed"]]
        tag  n_positive  recall_all  n_failed
    0  time           1         0.0         1
    1  rank           1         1.0         0
    """
    results = conform(results, RESULTS)
    twice = results["probe"].duplicated()
    if twice.any():
        raise FrameError(
            f"results: found the probe {results.loc[twice, 'probe'].iloc[0]!r} twice, wanted a row "
            "per probe; sum up one run at a time"
        )
    carried = conform(tags, TAGS).dropna()
    carried = carried[carried["probe"].isin(results["probe"])]
    asked = _Asked.of(results)
    place = {name: at for at, name in enumerate(results["probe"])}
    places: dict[str, set[int]] = {}
    for probe, tag in zip(carried["probe"], carried["tag"], strict=True):
        places.setdefault(str(tag), set()).add(place[probe])
    rows = [_line(tag, asked.at(sorted(of_tag))) for tag, of_tag in places.items()]
    rows.sort(key=_badness)
    if total:
        rows.append(_line(None, asked))
    return conform(pd.DataFrame(rows), TAG_SUMMARY) if rows else empty(TAG_SUMMARY)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Columns of results as plain arrays: of many tags each would be cut out of a table again."""

    positive: Flags
    negative: Flags
    found: Flags
    found_known: Flags
    rr: Floats
    abstained: Flags
    abstained_known: Flags
    n_leaked: NDArray[np.int64]
    failed: Flags

    @classmethod
    def of(cls, results: pd.DataFrame) -> _Asked:
        """Take what the summary of a tag rests on; of what is not supported, nothing counts."""
        asked = results["status"].ne("not_supported").to_numpy(np.bool_)
        positive = asked & results["kind"].eq("positive").to_numpy(np.bool_)
        negative = asked & results["kind"].eq("negative").to_numpy(np.bool_)
        return cls(
            positive=positive,
            negative=negative,
            found=_true(results["recall_all"]),
            found_known=positive & results["recall_all"].notna().to_numpy(np.bool_),
            rr=np.where(positive, results["rr"].to_numpy(np.float64, na_value=np.nan), np.nan),
            abstained=_true(results["abstained"]),
            abstained_known=negative & results["abstained"].notna().to_numpy(np.bool_),
            n_leaked=results["n_leaked"].to_numpy(np.int64) * asked,
            failed=asked & _true(results["passed"].eq(False)),
        )

    def at(self, places: list[int]) -> _Asked:
        """The same of some rows."""
        return _Asked(*(getattr(self, name)[places] for name in self.__slots__))


def _true(column: pd.Series) -> Flags:
    return column.fillna(False).to_numpy(np.bool_)


def _line(tag: str | None, asked: _Asked) -> dict[str, Any]:
    found, n = int((asked.found & asked.found_known).sum()), int(asked.found_known.sum())
    low, high = wilson(found, n)
    rr = asked.rr[~np.isnan(asked.rr)]
    abstained, n_silent = asked.abstained & asked.abstained_known, int(asked.abstained_known.sum())
    return {
        "tag": tag,
        "n_positive": int(asked.positive.sum()),
        "n_negative": int(asked.negative.sum()),
        "recall_all": found / n if n else math.nan,
        "low": low,
        "high": high,
        "mrr": math.fsum(rr) / len(rr) if len(rr) else math.nan,
        "leaks": int(asked.n_leaked.sum()),
        "abstention": int(abstained.sum()) / n_silent if n_silent else math.nan,
        "n_failed": int(asked.failed.sum()),
    }


def _badness(row: dict[str, Any]) -> tuple[float, float, int, str]:
    n = row["n_positive"] + row["n_negative"]
    failed = row["n_failed"]
    return -row["leaks"], -failed / max(n, 1), -failed, str(row["tag"])


def lexical_overlap(suite: Iterable[Probe]) -> pd.DataFrame:
    """Tell how much of each query stands word for word in the record that answers it.

    Parameters
    ----------
    suite : iterable of Probe
        The probes.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.OVERLAP`, a row per probe in order.

        - ``probe`` : str, its name.
        - ``overlap`` : float64, 0 to 1; NA for a negative probe, for a query of function words
          alone, and where the texts of the records are withheld.

    Notes
    -----
    |words of the query that stand in the record| / |words of the query|, for the expected record
    with the largest share. Words are `memeval.text.content_words`: without function words (English
    ones only), compared as they are, so ``lunches`` is not ``lunch``; pairs of neighbours in
    scripts written without spaces.

    A keyword search finds a record of high overlap whatever it understands. A probe that is tagged
    ``paraphrase`` and has an overlap above one half is warned of by ``suite.lint()``.

    Examples
    --------
    >>> from memeval.record import Record
    >>> given = [Record("r1", "The noodle bar is open until ten.")]
    >>> probes = [Probe("a", "noodle bar", given, ["r1"]), Probe("b", "Who serves ramen?", given)]
    >>> lexical_overlap(probes)
      probe  overlap
    0     a      1.0
    1     b      NaN
    """
    rows = [{"probe": probe.name, "overlap": _share(probe)} for probe in suite]
    return conform(pd.DataFrame(rows), OVERLAP) if rows else empty(OVERLAP)


def _share(probe: Probe) -> float:
    shared, asked = shared_words(probe)
    return len(shared) / len(asked) if asked else math.nan
