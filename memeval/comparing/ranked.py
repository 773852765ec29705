"""Rankings that some system returned, as one side of a comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from memeval.files.outcome_rows import GRID, STRANGER, by_name
from memeval.files.saved import DECIMALS
from memeval.hashes import digest
from memeval.outcomes import Outcomes
from memeval.rankings import score_rankings
from memeval.scoring.pairing import Groups, Ids, Ranking
from memeval.summary import summarize
from memeval.text import clean
from memeval.verdicts import Validity

_UNCHECKED = Validity(
    "unchecked",
    notes=("rankings without a store: no control has judged the suite behind them",),
)

# What ids alone do not tell.
_OF_TEXTS = ("distinct", "staleness")


def outcomes_of_rankings(
    rankings: Sequence[Ranking] | Mapping[str, Ranking],
    expected: Sequence[Groups] | Mapping[str, Groups],
    *,
    k: int = 5,
    forbidden: Sequence[Ids] | Mapping[str, Ids] | None = None,
    names: Sequence[str] | None = None,
    source: str = "rankings",
) -> Outcomes:
    """Take the outcomes of rankings, to compare two systems of which only the answers are known.

    Parameters
    ----------
    rankings, expected, k, forbidden, names
        As for `memeval.score_rankings`.
    source : str
        Where they come from, for messages.

    Returns
    -------
    Outcomes
        Of kind ``results``, with an empty manifest: how it was measured is not told, so that a
        comparison says "comparability unknown", and nothing is taken as deterministic. The content
        of a probe is what is expected, forbidden, and k.

    Raises
    ------
    FrameError
        As `memeval.score_rankings`.

    Examples
    --------
    >>> import memeval as me
    >>> wanted = {"lunch": ["r1"], "dinner": ["r2"]}
    >>> one = outcomes_of_rankings({"lunch": ["r3", "r1"], "dinner": ["r2"]}, wanted)
    >>> one.answers["lunch"], one.metrics["mrr"]
    (('r3', 'r1'), 0.75)
    """
    results = score_rankings(rankings, expected, k=k, forbidden=forbidden, names=names)
    probes = [clean(name) for name in results["probe"]]
    given = [_values(one, results["probe"]) for one in (rankings, expected, forbidden)]
    hashes = [_content(wanted, barred, k) for wanted, barred in zip(*given[1:], strict=True)]
    rows = results.assign(
        probe=pd.array(probes, dtype="str"),
        content_hash=hashes,
        n_repeats=1,
        n_passed=results["passed"].fillna(False).astype("int64"),
    )
    for name in GRID:
        rows[name] = rows[name].round(DECIMALS)
    summary = summarize(results)
    told = zip(summary["metric"], summary["value"], strict=True)
    metrics = {m: round(v, DECIMALS) if math.isfinite(v) else math.nan for m, v in told}
    answers = {n: tuple(map(_shown, ids)) for n, ids in zip(probes, given[0], strict=True)}
    return Outcomes(
        probes=by_name(rows),
        metrics=metrics | dict.fromkeys(_OF_TEXTS, math.nan),
        kind="results",
        source=source,
        validity=_UNCHECKED,
        answers=dict(sorted(answers.items())),
    )


def _values(given: Any, names: pd.Series) -> list[Any]:
    """Lists in the order of the results, whether they came by name or by position."""
    if given is None:
        return [()] * len(names)
    return [given[name] for name in names] if isinstance(given, Mapping) else list(given)


def _content(wanted: Any, barred: Any, k: int) -> str:
    """Hash of what a probe asks for, whatever the order it is named in."""
    groups = sorted([one] if isinstance(one, str) else sorted(one) for one in wanted)
    return digest({"expect": groups, "forbid": sorted(barred), "k": k})


def _shown(record_id: str | None) -> str:
    return STRANGER if record_id is None else clean(record_id)
