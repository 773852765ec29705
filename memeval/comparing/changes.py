"""What became of each probe between two outcomes, by name and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from memeval.columns import conform
from memeval.comparing.sides import Sides, count, listed
from memeval.frames import CHANGE_WORDS, CHANGES
from memeval.outcomes import Outcomes

# Ids of others that are told of one probe.
MOST_IDS = 5


def changes(sides: Sides) -> pd.DataFrame:
    """List the probes that changed.

    Parameters
    ----------
    sides : Sides
        What is compared.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.CHANGES`, lost probes first, each kind sorted by name. ``lost``
        passed in every repeat and now in none, ``gained`` the other way round, ``flaky`` passed in
        some repeats of a side and failed in others; ``edited`` has other content than before, so
        that its outcomes are not compared. What one side held out is neither added nor removed.

    Notes
    -----
    ``displaced_by`` are the records that stand in the answer now, before the place of the expected
    record or, where it is gone, anywhere, and did not stand before it then: at most 5.
    """
    common = zip(
        sides.before.itertuples(index=False), sides.after.itertuples(index=False), strict=True
    )
    flags = zip(sides.lost, sides.gained, sides.flaky, strict=True)
    rows = [
        _compared(sides, word, before, after)
        for (before, after), told in zip(common, flags, strict=True)
        for word, told_so in zip(CHANGE_WORDS, told, strict=False)
        if told_so
    ]
    rows += _uncommon(sides)
    order = {word: n for n, word in enumerate(CHANGE_WORDS)}
    rows.sort(key=lambda row: (order[row["change"]], row["probe"]))
    return conform(pd.DataFrame(rows, columns=[c.name for c in CHANGES]), CHANGES)


def _compared(sides: Sides, word: str, before: Any, after: Any) -> dict[str, Any]:
    newcomers = _newcomers(sides, before, after) if word != "gained" else []
    return {
        "probe": before.probe,
        "change": word,
        "rank_before": before.first_rank,
        "rank_after": after.first_rank,
        "displaced_by": " ".join(newcomers) or None,
        "reason": _reason(sides, before, after, newcomers),
    }


def _newcomers(sides: Sides, before: Any, after: Any) -> list[str]:
    """Records that stand where they push the expected one down, and did not do so before."""
    if _or_none(before.first_rank) is None or NOT_ASKED in (before.status, after.status):
        return []
    then = sides.baseline.answers.get(before.probe, ())
    now = sides.current.answers.get(before.probe, ())
    if _or_none(after.first_rank) is None or after.first_rank == before.first_rank:
        ahead, behind = now, then  # all of it may count: another expected record may be missing
    else:
        ahead, behind = now[: after.first_rank - 1], then[: before.first_rank - 1]
    return [one for one in dict.fromkeys(ahead) if one not in behind][:MOST_IDS]


def _reason(sides: Sides, before: Any, after: Any, newcomers: list[str]) -> str:
    """How it passed then and now, and what happened to it."""
    counted = _counted(before, after)
    first = "in the first repeat: " if max(before.n_repeats, after.n_repeats) > 1 else ""
    told = [*_faults(before, after), *(first + one for one in _move(sides, before, after))]
    if newcomers:
        told.append(f"new before or instead of it: {listed(newcomers)}")
    return "; ".join([counted, *told])


def _counted(before: Any, after: Any) -> str:
    """How often it passed on both sides."""
    if before.n_repeats == after.n_repeats == 1:
        return "passed before, not now" if before.n_passed else "passes now, did not before"
    return f"passed {_passes(before)} before, {_passes(after)} now"


def _passes(row: Any) -> str:
    return f"{row.n_passed} of {row.n_repeats}"


def _faults(before: Any, after: Any) -> Iterator[str]:
    """What kept it from passing, apart from ranks, on either side."""
    for when, row in (("before", before), ("now", after)):
        if row.status == NOT_ASKED:
            yield f"not asked {when}: {STATUS_WORDS[row.status]}"
        elif row.status != "ok" and not pd.isna(row.status):
            yield f"{when} {STATUS_WORDS[row.status]}"
        if row.n_leaked:
            yield f"{when} {count(row.n_leaked, 'record')} leaked"
        if row.n_contract:
            yield f"{when} {count(row.n_contract, 'check')} of the contract broken"


NOT_ASKED = "not_supported"
STATUS_WORDS = {
    "failed": "the search failed",
    "timeout": "the search ran out of time",
    "not_stored": "the store rejected its records",
    "not_visible": "its records could not be found in time",
    "not_supported": "the store cannot take it",
}


def _move(sides: Sides, before: Any, after: Any) -> Iterator[str]:
    """Where the expected record stood, or whether a negative probe was answered."""
    if before.kind == "negative":
        yield from _answered(sides, before.probe)
        return
    if NOT_ASKED in (before.status, after.status):
        return
    then, now = _place(before.first_rank), _place(after.first_rank)
    if then != now:
        yield f"first expected record {then} before, {now} now"
    found = [row.recall_fraction for row in (before, after)]
    partly = not any(map(math.isnan, found)) and found[0] != found[1]
    if partly and before.n_expected != 1:
        yield f"{found[0]:.2f} of the expected found before, {found[1]:.2f} now"


def _answered(sides: Sides, name: str) -> Iterator[str]:
    for when, side in (("before", sides.baseline), ("now", sides.current)):
        answer = side.answers.get(name, ())
        if answer:
            yield f"{when} answered, where silence is right, with {listed(answer)}"


def not_asked(reason: Any) -> tuple[bool, bool]:
    """Whether a probe was not asked before, and now, by the reason in its row.

    Examples
    --------
    >>> not_asked("passed before, not now; not asked now: the store cannot take it")
    (False, True)
    """
    parts = [] if pd.isna(reason) else str(reason).split("; ")
    words = STATUS_WORDS[NOT_ASKED]
    return f"not asked before: {words}" in parts, f"not asked now: {words}" in parts


def _place(rank: Any) -> str:
    return "not found" if _or_none(rank) is None else f"at rank {rank}"


def _or_none(value: Any) -> Any:
    return None if pd.isna(value) else value


def _uncommon(sides: Sides) -> list[dict[str, Any]]:
    """Probes that only one side has, and those whose content differs."""
    common = set(sides.common)
    old, new = _by_name(sides.baseline, common), _by_name(sides.current, common)
    rows = []
    held_out = sides.baseline.left_out | sides.current.left_out
    for name in sorted((old.keys() | new.keys()) - held_out):
        before, after = old.get(name), new.get(name)
        word = "added" if before is None else "removed" if after is None else "edited"
        rows.append(
            {
                "probe": name,
                "change": word,
                "rank_before": pd.NA if before is None else before.first_rank,
                "rank_after": pd.NA if after is None else after.first_rank,
                "displaced_by": None,
                "reason": _apart(before, after),
            }
        )
    return rows


def _by_name(side: Outcomes, common: set[str]) -> dict[str, Any]:
    rows = side.probes[~side.probes["probe"].isin(common).to_numpy(np.bool_)]
    named: Any = zip(rows["probe"], rows.itertuples(index=False), strict=True)
    return dict(named)


def _apart(before: Any, after: Any) -> str:
    if before is None:
        return f"new: passed {_passes(after)}"
    if after is None:
        return f"gone: passed {_passes(before)} before"
    return (
        f"its content changed, so it is not compared: passed {_passes(before)} before, "
        f"{_passes(after)} now"
    )
