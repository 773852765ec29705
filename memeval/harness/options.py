"""How a run asks: what is told to `memeval.run` once and holds for every probe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memeval.record import Record
from memeval.stores.bound import BoundStore, Meter, View


@dataclass(frozen=True)
class Options:
    """How a run asks; see `memeval.run` for each."""

    retrieve: Callable[[Any, View], Any] | None = None
    is_stale: Callable[[Record], bool] | None = None
    seed: int = 0
    timeout_s: float | None = None
    retries: int = 0
    repeat_check: bool = True
    contract_checks: bool = True
    opaque_ids: bool = False
    allow_nonempty: bool = False
    settle_s: float = 60.0
    poll_s: float = 1.0

    def binding(
        self, factory: Callable[[], Any], meter: Meter, face: type[BoundStore] = BoundStore
    ) -> Callable[[], BoundStore]:
        """What gives fresh stores as the runner sees them.

        Parameters
        ----------
        factory : callable
            Gives a fresh store of the user's.
        meter : Meter
            Where their calls are counted.
        face : type
            Which kind of `BoundStore`.
        """

        def make() -> BoundStore:
            return face(
                factory(),
                retrieve=self.retrieve,
                timeout_s=self.timeout_s,
                retries=self.retries,
                meter=meter,
            )

        return make
