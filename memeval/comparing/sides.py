"""Two outcomes side by side: the probes that both asked, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memeval.comparing.comparability import verified_deterministic
from memeval.outcomes import Outcomes
from memeval.text import count as count
from memeval.text import visible

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
MOST_NAMES = 5


@dataclass(frozen=True)
class Sides:
    """Baseline and current, and what they have in common.

    Attributes
    ----------
    baseline, current : Outcomes
        Whole, with the probes that only one of them has.
    common : tuple of str
        Names of the probes that both asked with equal content, sorted.
    """

    baseline: Outcomes
    current: Outcomes
    common: tuple[str, ...]

    @property
    def bare(self) -> bool:
        """Whether a side is the dictionary of the specification: its numbers stand as told."""
        return "bare" in (self.baseline.kind, self.current.kind)

    @property
    def whole(self) -> bool:
        """Whether what is told of whole suites is of the common probes, and of all of them."""
        alike = len(self.common) == len(self.baseline) == len(self.current)
        return alike and bool(self.asked.all())

    @cached_property
    def before(self) -> pd.DataFrame:
        """Outcomes of the baseline, a row per common probe, sorted by name."""
        return self._rows(self.baseline)

    @cached_property
    def after(self) -> pd.DataFrame:
        """The same of the current side, in the same order."""
        return self._rows(self.current)

    def _rows(self, side: Outcomes) -> pd.DataFrame:
        rows = side.probes
        return rows[rows["probe"].isin(self.common)].reset_index(drop=True)

    @cached_property
    def asked(self) -> Flags:
        """Which common probes both stores could take: the others leave every denominator."""
        supported = [~rows["status"].eq("not_supported") for rows in (self.before, self.after)]
        return np.asarray(supported[0] & supported[1], dtype=np.bool_)

    @cached_property
    def lost(self) -> Flags:
        """Which passed in every repeat and now in none."""
        return _whole(self.before) & _none(self.after)

    @cached_property
    def gained(self) -> Flags:
        """Which passed in no repeat and now in every one."""
        return _none(self.before) & _whole(self.after)

    @cached_property
    def flaky(self) -> Flags:
        """Which passed in some repeats of a side and not in others."""
        before, after = (~(_whole(rows) | _none(rows)) for rows in (self.before, self.after))
        return before | after

    @cached_property
    def must(self) -> Flags:
        """Which are marked, on the current side, as never to be lost."""
        return self.after["must"].to_numpy(np.bool_)

    @cached_property
    def must_lost(self) -> Flags:
        """Which of these passed in every repeat before and do not now: one failure is enough."""
        return self.must & _whole(self.before) & ~_whole(self.after)

    @cached_property
    def untaken(self) -> Flags:
        """Which lost probes the store cannot take now: they are in no mean and in no test."""
        return self.lost & self.after["status"].eq("not_supported").to_numpy(np.bool_)

    @cached_property
    def mixed(self) -> bool:
        """Whether a positive probe is judged by most of its repeats, which do not agree."""
        positive = self.after["kind"].eq("positive").to_numpy(np.bool_)
        return bool((self.flaky & self.asked & positive).any())

    @cached_property
    def found(self) -> tuple[Floats, Floats]:
        """Whether each common probe was found, 0 or 1, on both sides; NaN where it cannot be.

        Notes
        -----
        ``recall_all``, which is of the first repeat; where some repeats passed and others failed,
        whether most of them passed (n_passed / n_repeats > 1/2).
        """
        return _found(self.before), _found(self.after)

    @cached_property
    def typical(self) -> Flags:
        """Where the first repeat of both sides came to what most of their repeats did."""
        pairs = zip((self.before, self.after), self.found, strict=True)
        alike = [(_recall(rows) == found) | np.isnan(found) for rows, found in pairs]
        return np.asarray(alike[0] & alike[1], dtype=np.bool_)

    def named(self, chosen: Flags) -> list[str]:
        """Names of the chosen common probes."""
        return self.before.loc[chosen, "probe"].tolist()

    @cached_property
    def clusters(self) -> list[str] | None:
        """What each common probe shares its history with; None where no side tells histories."""
        run = self.current.run or self.baseline.run
        if run is None:
            return None
        told = {probe.name: probe.history for probe in run.suite}
        histories = {name: f"history {told[name]}" for name in told if told[name] is not None}
        return [histories.get(name, f"probe {name}") for name in self.before["probe"]]

    @cached_property
    def same(self) -> bool:
        """Whether every common probe came to the same ranked list, status and share of passes."""
        if not self.common:
            return False
        told = (self.baseline.answers, self.current.answers)
        known = all(name in told[0] and name in told[1] for name in self.common)
        if not known or any(told[0][name] != told[1][name] for name in self.common):
            return False
        counted = [_outcome(rows) for rows in (self.before, self.after)]
        return counted[0].equals(counted[1]) and self._same_repeats()

    def _same_repeats(self) -> bool:
        """Whether all repeats of both sides are known, and gave the same lists."""
        for one, other in zip(self._lists(self.baseline), self._lists(self.current), strict=True):
            if not one or not other:
                return False
            if one != other and (len(one) == len(other) or len({*one, *other}) > 1):
                return False
        return True

    def _lists(self, side: Outcomes) -> Iterator[tuple[tuple[str, ...], ...]]:
        """Lists of all repeats of each common probe; empty where only the first is known."""
        steady = verified_deterministic(side.manifest)
        row: Any
        for row in self._rows(side).itertuples(index=False):
            first, known = side.answers[row.probe], side.repeats.get(row.probe, ())
            if len(known) >= row.n_repeats:
                yield known
            elif row.n_repeats == 1 or (steady and row.n_passed in (0, row.n_repeats)):
                yield (first,) * row.n_repeats
            else:
                yield ()


def _outcome(rows: pd.DataFrame) -> pd.DataFrame:
    shares = rows["n_passed"] / rows["n_repeats"]
    return rows[["n_leaked", "n_contract"]].assign(
        passes=shares, status=rows["status"].astype("str")
    )


def _found(rows: pd.DataFrame) -> Floats:
    """Recall of the first repeat, or of most where the repeats do not agree."""
    recall = _recall(rows)
    mixed = ~(_whole(rows) | _none(rows)) & ~np.isnan(recall)
    most = (2 * rows["n_passed"] > rows["n_repeats"]).to_numpy(np.float64)
    return np.where(mixed, most, recall)


def _recall(rows: pd.DataFrame) -> Floats:
    return rows["recall_all"].to_numpy(np.float64, na_value=np.nan)


def _whole(rows: pd.DataFrame) -> Flags:
    return rows["n_passed"].eq(rows["n_repeats"]).to_numpy(np.bool_)


def _none(rows: pd.DataFrame) -> Flags:
    return rows["n_passed"].eq(0).to_numpy(np.bool_)


def listed(names: Iterable[str], most: int = MOST_NAMES, *, width: int = 60) -> str:
    """First names of a list, and how many more there are; each of at most `width` characters.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    every = list(names)
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(visible(name, width) for name in every[:most]) + more
