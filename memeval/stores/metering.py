"""Counting the calls that a run makes to its stores, and the limit to them."""

from __future__ import annotations

from dataclasses import dataclass

from memeval.errors import StoreError


@dataclass(slots=True)
class Meter:
    """Counts the calls of one run over all its stores, and stops it at a limit.

    Attributes
    ----------
    limit : int or None
        Calls after which the next one is refused.
    puts, searches, retries : int
        Calls so far.
    left_behind : int
        Records that were written and could not be removed.
    """

    limit: int | None = None
    puts: int = 0
    searches: int = 0
    retries: int = 0
    left_behind: int = 0

    def count(self, puts: int = 0, searches: int = 0) -> None:
        """Add calls; raise StoreError past the limit."""
        self.puts += puts
        self.searches += searches
        made = self.puts + self.searches
        if self.limit is not None and made > self.limit:
            raise self.past(made)

    def past(self, made: int) -> CallLimitError:
        """What is raised past the limit."""
        return CallLimitError(
            f"{made} calls to the store, at most {self.limit} were allowed; "
            "raise max_calls, or select fewer probes"
        )

    def add(self, other: Meter) -> None:
        """Take over what another meter has counted."""
        self.puts += other.puts
        self.searches += other.searches
        self.retries += other.retries

    def copy(self) -> Meter:
        """What was counted so far, without the limit."""
        return Meter(None, self.puts, self.searches, self.retries)

    def since(self, before: Meter) -> Meter:
        """What was counted since a copy of this meter was made."""
        calls = (self.puts - before.puts, self.searches - before.searches)
        return Meter(None, *calls, self.retries - before.retries)


class CallLimitError(StoreError):
    """The run asked the store more often than it was allowed to."""
