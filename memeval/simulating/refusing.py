"""What is refused before a store is made: options that nothing could be done with later."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

from memeval.checks.kinds import shown
from memeval.drifting.trend import check_margin
from memeval.errors import MemevalError, said
from memeval.runner import refuse_odd
from memeval.sessioning.model import Session
from memeval.sessions import SessionSource, sessions_from

MOST_SESSIONS = 1_000_000


def check_bounds(margin: float, budget_ms: float) -> None:
    """Refuse what the tables could not be read with.

    Raises
    ------
    MemevalError
        It names the option.
    """
    check_margin(margin)
    if not isinstance(budget_ms, Real) or not 0.0 < float(budget_ms) < math.inf:
        raise MemevalError(
            f"budget_ms is {budget_ms!r}, wanted milliseconds above 0; leave it out for 100"
        )


def check_asking(
    *, timeout_s: Any, retries: Any, settle_s: Any, poll_s: Any, max_calls: Any, allow_errors: Any
) -> None:
    """Refuse what no store can be asked with, as `memeval.run` does.

    Raises
    ------
    StoreError
        It names the option.
    """
    refuse_odd(Integral, 1, max_calls=max_calls)
    refuse_odd(Integral, 0, retries=retries, allow_errors=allow_errors)
    refuse_odd(Real, 0, settle_s=settle_s, poll_s=poll_s, timeout_s=timeout_s)


def check_calls(**options: Callable[..., Any] | None) -> None:
    """Refuse what is to be called and cannot be.

    Raises
    ------
    MemevalError
        It names the option.
    """
    for name, value in options.items():
        if value is not None and not callable(value):
            raise MemevalError(
                f"{name} is {shown(value)}, wanted something to call, such as a function; leave it "
                "out otherwise"
            )


def taken(source: SessionSource, n: int) -> tuple[Session, ...]:
    """Take the first sessions of any source.

    Raises
    ------
    MemevalError
        If something else comes, or the source fails.
    """
    try:
        return tuple(sessions_from(source, n))
    except MemevalError:
        raise
    except Exception as error:  # the code of a user may raise anything
        raise MemevalError(
            f"the session source failed ({said(error)}), wanted up to {n} sessions; it is an "
            "iterable of Session, or is called with their number"
        ) from error
