"""How often: a bucket of tokens for each key, filled at a steady rate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Bucket:
    tokens: float
    seen: float


@dataclass(slots=True)
class Rates:
    """At most so many requests a minute for each key, all of them at once if need be.

    Attributes
    ----------
    per_minute : int
        Requests a minute.
    clock : callable
        Seconds that only grow.

    Examples
    --------
    >>> rates = Rates(2, clock=lambda: 0.0)
    >>> [rates.wait_s("ci") for _ in range(3)]
    [0.0, 0.0, 30.0]
    """

    per_minute: int
    clock: Callable[[], float] = time.monotonic
    _buckets: dict[str, _Bucket] = field(default_factory=dict)

    def wait_s(self, name: str) -> float:
        """Take a token: 0 where there is one, else the seconds until there will be."""
        now, per_second = self.clock(), self.per_minute / 60
        bucket = self._buckets.setdefault(name, _Bucket(self.per_minute, now))
        gained = (now - bucket.seen) * per_second
        bucket.tokens, bucket.seen = min(bucket.tokens + gained, self.per_minute), now
        if bucket.tokens < 1:
            return (1 - bucket.tokens) / per_second
        bucket.tokens -= 1
        return 0.0
