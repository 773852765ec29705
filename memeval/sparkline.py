"""A row of numbers as a row of characters, low to high."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-~=+*#"
GAP, BREAK = " ", "|"


def sparkline(
    values: Sequence[float],
    *,
    breaks: Collection[int] = (),
    width: int | None = None,
    ascii_only: bool = False,
) -> str:
    """Draw values as characters of eight heights.

    Parameters
    ----------
    values : sequence of float
        In their order. NaN and infinity leave a blank.
    breaks : collection of int
        Places that cannot be compared with the one before: a ``|`` stands before each.
    width : int, optional
        Most characters, from 1; of more values the last ones are drawn.
    ascii_only : bool
        Heights of characters that every console has.

    Returns
    -------
    str
        The lowest of the values drawn has the lowest height, the highest the highest, whatever
        they are: read it beside the numbers. Equal values stand in the middle.

    Raises
    ------
    ValueError
        `width` below 1.

    Examples
    --------
    >>> sparkline([0.2, 0.4, 0.9])
    '▁▃█'
    >>> sparkline([0.2, 0.4, 0.9, 0.9], breaks=[2], ascii_only=True)
    '_-|##'
    """
    if width is not None and width < 1:
        raise ValueError(f"width: found {width}, wanted 1 or more")
    drawn: list[tuple[bool, float]] = []
    used = 0
    for at in range(len(values) - 1, -1, -1):
        marked = at in breaks
        if width is not None and used + 1 + marked > width:
            break
        used += 1 + marked
        drawn.append((marked, float(values[at])))
    drawn.reverse()
    heights = ASCII if ascii_only else BLOCKS
    known = [value for _, value in drawn if math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    return "".join(BREAK * marked + _height(v, low, high, heights) for marked, v in drawn)


def _height(value: float, low: float, high: float, heights: str) -> str:
    if not math.isfinite(value):
        return GAP
    if high <= low:
        return heights[len(heights) // 2 - 1]
    share = (value / 2 - low / 2) / (high / 2 - low / 2)  # the halves cannot overflow
    return heights[round(share * (len(heights) - 1))]
