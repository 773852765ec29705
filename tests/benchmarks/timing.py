"""Times that can be compared: contestants take turns in one process, medians of CPU time.

CPU time (all threads of this process) rather than wall time, because the machine may be shared; a
ratio of two medians rather than a time, because machines differ.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    Attributes
    ----------
    subject : str
        What is measured, with its size.
    ours, other : float
        CPU seconds (or what `unit` says) of memeval, and of whom it is held against.
    against : str
        Who that is.
    goal : float
        Bound of the ratio.
    at_least : bool
        True: the ratio is ``other / ours`` ("times as fast"), and the goal is its lower bound.
        False: it is ``ours / other``, and the goal is its upper bound.
    unit : str
        Unit of both values.
    """

    subject: str
    ours: float
    other: float
    against: str
    goal: float
    at_least: bool = True
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """How both compare, in the direction of the goal."""
        return self.other / self.ours if self.at_least else self.ours / self.other

    @property
    def reached(self) -> bool:
        """Whether the goal is kept."""
        return self.ratio >= self.goal if self.at_least else self.ratio <= self.goal


def medians(contestants: Mapping[str, Callable[[], object]], rounds: int = 7) -> dict[str, float]:
    """Median CPU seconds of each contestant, all taking turns.

    One turn each goes before and is not counted. The collector runs before every turn and stays
    on; what a turn returns is dropped within it.
    """
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(rounds + 1):
        for name, call in contestants.items():
            gc.collect()
            started = time.process_time()
            call()
            spent = time.process_time() - started
            if turn:
                taken[name].append(spent)
    return {name: statistics.median(times) for name, times in taken.items()}
