"""The verdict on two runs: the first rule that matches decides."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from memeval.comparing import caveats, gates, tolerance, unseen
from memeval.comparing.comparability import Comparability
from memeval.comparing.gates import Objection
from memeval.comparing.sides import Sides, count, listed
from memeval.stats.paired import paired_loss_bounds
from memeval.stats.power import minimum_detectable_drop, probes_to_decide
from memeval.verdicts import Verdict

SLOWER = 1.2
"""How many times as long a probe may take before it is warned of."""
PRIMARY = ("recall_all", "ndcg")


@dataclass(frozen=True)
class Deciding:
    """What the verdict on two sides rests on.

    Attributes
    ----------
    sides : Sides
        What is compared.
    comparability : Comparability
        What the manifests say of it.
    frame : pandas.DataFrame
        As `memeval.comparing.deltas.deltas` gives it.
    margin, alpha : float
        Net loss that is still no loss, and the one-sided level.
    latency_gate : bool
        Whether slower probes fail the comparison.
    """

    sides: Sides
    comparability: Comparability
    frame: pd.DataFrame
    margin: float
    alpha: float
    latency_gate: bool = False

    @cached_property
    def _rows(self) -> dict[str, Any]:
        rows: list[Any] = list(self.frame.itertuples(index=False))
        return {row.metric: row for row in rows}

    @property
    def n(self) -> int:
        """Positive probes that both answered."""
        return int(self._rows["recall_all"].n)

    @property
    def flips(self) -> tuple[int, int]:
        """How many of them lost recall_all, and how many gained it."""
        row = self._rows["recall_all"]
        return int(row.losses), int(row.wins)

    @cached_property
    def bound(self) -> float:
        """Upper bound of the net loss of recall_all; NaN without a probe."""
        return paired_loss_bounds(self.n, *self.flips, 1.0 - 2.0 * self.alpha).high

    @cached_property
    def detectable(self) -> float:
        """Smallest true net loss that these probes would show four times in five."""
        gain_rate = self.flips[1] / self.n if self.n else math.nan
        if not gain_rate < 0.5:
            return math.nan
        return minimum_detectable_drop(self.n, gain_rate, alpha=self._first_level)

    @cached_property
    def needed(self) -> int | None:
        """Probes that would decide, if losses and gains stay as frequent."""
        counts = (self.n, *self.flips)
        found = probes_to_decide(*counts, self.margin, self.alpha, test_alpha=self._first_level)
        if found is None or any(self._significant()):
            return found
        if self.bound < self.margin:  # it is not for want of probes that a PASS is withheld
            return None if self._withheld else found
        return max(found, self.n + 1)  # what was asked did not decide

    @property
    def _withheld(self) -> bool:
        """Whether something else than the bound stands against a PASS."""
        doubtful = gates.unconfirmed(self.sides)
        return bool(doubtful or self.untimed or self.fallen or self.rarer)

    @property
    def _first_level(self) -> float:
        """Level that the smaller of the p-values must keep, before Holm adjusts it."""
        return self.alpha / max(1, sum(not math.isnan(self._rows[m].p_value) for m in PRIMARY))

    def by_tests(self, *, anyway: bool) -> Verdict:
        """Decide by gates, ratchet, tests and margin, in this order."""
        if verdict := self._unfit(anyway):
            return verdict
        objections = [*gates.absolute(self.sides.current), *gates.ratchet(self.sides)]
        objections += self._slower() if self.latency_gate else []
        if not objections and self.sides.same:
            return self._untimed("all ranked lists are identical") or self._same()
        objections += self._significant()
        if verdict := gates.failed(objections):
            return verdict
        if self.bound < self.margin and not self._withheld:
            return self._pass()
        return self._cannot_tell(gates.unconfirmed(self.sides))

    def by_tolerance(self, allowed: float, *, anyway: bool) -> Verdict:
        """Decide by gates and fixed tolerances."""
        if verdict := self._unfit(anyway or self.sides.bare):
            return verdict
        tolerance.refuse_missing(self.sides)
        objections = list(gates.absolute(self.sides.current))
        objections += self._slower() if self.latency_gate else []
        told = (self.sides.baseline, self.sides.current)
        objections += tolerance.vanished(*told, as_specified=False)
        objections += tolerance.beyond(self.frame, allowed, as_specified=False)
        objections += tolerance.newly_failing(self.sides)
        if verdict := gates.failed(objections):
            return verdict
        if verdict := self._untimed("nothing else went beyond what is allowed"):
            return verdict
        if self.sides.same:
            return self._same()
        reason = f"on these probes: no leak, no newly failing probe, no metric beyond {allowed:g}"
        return Verdict("PASS", reason, "", 0)

    def _unfit(self, anyway: bool) -> Verdict | None:
        """Whether no number can be believed: an invalid suite, or another thing measured."""
        for name in ("current", "baseline"):
            side = getattr(self.sides, name)
            if side.validity.status == "invalid":
                return gates.invalid(side, f"suite of the {name} side")
        if anyway or self.comparability.quality != "blocked":
            return None
        reason = f"not the same thing was measured: {self.comparability.first_difference}"
        others = len(self.comparability.blocks) - 1
        reason += f", and {count(others, 'more difference')}" if others else ""
        broken = gates.failed(list(gates.absolute(self.sides.current)))
        if broken:
            reason += f"; also, whatever the baseline: {broken.reason}"
        return Verdict("NOT COMPARABLE", reason, self.comparability.next_step, 5)

    def _same(self) -> Verdict:
        n = len(self.sides.common)
        lists = "the ranked list is" if n == 1 else f"all {n:,} ranked lists are"
        return Verdict("SAME", f"on these probes: {lists} identical", "", 0)

    def _significant(self) -> Iterator[Objection]:
        """Primary tests that luck does not explain."""
        told = []
        for metric in PRIMARY:
            row = self._rows[metric]
            if row.p_value <= self.alpha:  # NaN is not
                told.append(
                    f"{metric} {row.baseline:.3f} -> {row.current:.3f} (p = "
                    f"{row.p_value:.2g}; worse on {count(row.losses, 'probe')}, better on "
                    f"{row.wins})"
                )
        if told:
            yield Objection(
                f"queries like these do worse, beyond what luck explains: {'; '.join(told)}",
                f"look at the lost probes first; or accept it: {gates.ACCEPT}",
            )

    def _slower(self) -> Iterator[Objection]:
        row = self._rows["latency_ms"]
        if self.slower and not self.untimed:
            yield Objection(
                f"a probe takes {row.delta:.2f} times as long ({row.low:.2f} to "
                f"{row.high:.2f}), more than {SLOWER:g}",
                "run both again on a quiet machine; then find what became slower",
            )

    @property
    def slower(self) -> bool:
        """Whether probes take more than 1.2 times as long, and that is not chance."""
        row = self._rows["latency_ms"]
        return bool(row.delta > SLOWER and row.low > 1.0)

    def _pass(self) -> Verdict:
        moved = f"fell by at most {self.bound:.3f}, less than the margin {self.margin:g}"
        if self.bound <= 0.0:
            moved = f"did not fall: it rose by {-self.bound:.3f} or more"
        reason = f"on queries like these recall_all {moved} (bound of {1.0 - self.alpha:.4g})"
        return Verdict("PASS", f"{reason}; {self._flipped()}", "", 0)

    def _flipped(self) -> str:
        """How recall_all went up and down, and which probes changed in any other way too."""
        losses, gains = self.flips
        of = count(self.n, "positive probe")
        said = f"recall_all worse on {losses}, better on {gains} of {of}"
        kinds = {"lost": self.sides.lost, "gained": self.sides.gained, "flaky": self.sides.flaky}
        counted = [f"{flags.sum():,} {word}" for word, flags in kinds.items() if flags.any()]
        if counted:
            said += f"; passing as a whole: {', '.join(counted)}"
        return "; ".join(part for part in (said, caveats.untaken(self.sides)) if part)

    def _cannot_tell(self, doubtful: list[str]) -> Verdict:
        reasons, todo = [], "add probes"
        if not self.n:
            reasons.append("no positive probe that both sides answered")
        elif not self.bound < self.margin:
            reasons.append(
                f"on queries like these recall_all may have fallen by up to {self.bound:.3f}, the "
                f"margin is {self.margin:g}; {self._flipped()}"
            )
            if self.needed is not None:
                todo = f"{self.needed:,} positive probes would decide, at so many flips"
            else:
                todo = "no number of probes would decide at this margin: set a wider one"
        if doubtful:
            reasons.append(
                f"marked must, lost in too few repeats to be sure: {listed(doubtful, width=100)}"
            )
            todo = f"ask both sides {gates.ENOUGH_REPEATS} times or more: memeval run --repeats 5"
        if self.rarer:
            reasons.append(self.rarer)
            todo = "look at the flaky probes: a single asking fails more often than before"
        if self.fallen:
            reasons.append(self.fallen)
            todo = "look at the negative probes that are answered now; add more of them to be sure"
        if self.untimed:
            reasons.append(self.untimed)
            todo = unseen.TIMED_BY
        return Verdict("CANNOT TELL", "; also: ".join(reasons), todo, 0)

    @cached_property
    def untimed(self) -> str:
        """Why the gate on time cannot judge; empty where it can, or is not asked for."""
        times = int(self._rows["latency_ms"].n)
        return unseen.untimed(self.comparability, self.sides, times) if self.latency_gate else ""

    def _untimed(self, beside: str) -> Verdict | None:
        """Withhold a success that a gate was asked for and could not judge."""
        if not self.untimed:
            return None
        return Verdict("CANNOT TELL", f"{self.untimed}; {beside}", unseen.TIMED_BY, 0)

    @cached_property
    def rarer(self) -> str:
        """How much more seldom repeats pass, where that is by the margin or more; else empty."""
        return caveats.rarer(self.sides, self.margin)

    @property
    def fallen(self) -> str:
        """How abstention fell, where chance hardly explains it; else empty."""
        return unseen.fallen(self._rows["abstention"])

    def regressed(self, allowed: float | None) -> pd.DataFrame:
        """The frame with what the verdict counts as worse.

        Parameters
        ----------
        allowed : float or None
            Tolerance of the rule; None for the paired rule.
        """
        rows: list[Any] = list(self.frame.itertuples(index=False))
        judged = [self._is_worse(row, allowed) for row in rows]
        return self.frame.assign(regressed=pd.array(judged, dtype="boolean"))

    def _is_worse(self, row: Any, allowed: float | None) -> bool | None:
        """Whether the verdict counts a metric as worse; None where it does not judge it."""
        if row.metric == "leaks":
            return None if math.isnan(row.current) else bool(row.current > 0)
        if row.metric == "latency_ms":
            judged = self.latency_gate and not self.untimed and not math.isnan(row.delta)
            return self.slower if judged else None
        if allowed is None:
            tested = row.metric in PRIMARY and not math.isnan(row.p_value)
            return bool(row.p_value <= self.alpha) if tested else None
        judged = row.metric in tolerance.JUDGED and not math.isnan(row.delta)
        return tolerance.is_beyond(row.metric, row.delta, allowed) if judged else None

    def notes(self) -> Iterator[str]:
        """What the reader must know beside the verdict."""
        yield from caveats.caveats(self.sides)
        for side, name in ((self.sides.baseline, "baseline"), (self.sides.current, "current")):
            if side.validity.status == "weak":
                yield f"the suite of the {name} side is weak: {'; '.join(side.validity.reasons)}"
        if self.untimed:
            yield self.untimed
        if self.fallen:
            yield f"warning: {self.fallen}; only recall_all and ndcg are tested"
        if self.slower:
            row = self._rows["latency_ms"]
            yield f"slower: a probe takes {row.delta:.2f} times as long"
        told = self.frame.loc[self.frame["n"].eq(0) & self.frame["delta"].notna(), "metric"]
        if len(told):
            yield f"{', '.join(told)}: as told of the whole suites, without single probes"
        missing = self.frame.loc[self.frame["delta"].isna(), "metric"]
        untold = [metric for metric in missing if self._was_told(metric)]
        if untold:
            yield (
                f"{', '.join(untold)}: not compared, since the probes differ and single ones are "
                "not told; two full runs would do"
            )

    def _was_told(self, metric: str) -> bool:
        """Whether both sides tell a value of their whole suites."""
        told = (
            side.metrics.get(metric, math.nan) for side in (self.sides.baseline, self.sides.current)
        )
        return metric in tolerance.JUDGED and not any(map(math.isnan, told))

    def doubts(self) -> Iterator[str]:
        """What the ratchet could not hold."""
        if (self.sides.lost & ~self.sides.untaken).any() and not gates.deterministic(self.sides):
            yield (
                "lost probes may be chance: not both sides are verified deterministic, so the "
                "ratchet holds only probes marked must"
            )
