"""How many of the newest are asked for."""

from __future__ import annotations

from operator import index


def checked_limit(limit: int | None) -> int | None:
    """Give a limit back as a whole number.

    Parameters
    ----------
    limit : int or None
        The newest so many; None for all.

    Raises
    ------
    ValueError
        If it is below 1 or not whole.

    Examples
    --------
    >>> checked_limit(3)
    3
    """
    if limit is None:
        return None
    try:
        number = index(limit)
    except TypeError as error:
        raise ValueError(f"limit: found {limit!r:.60}, wanted a whole number from 1") from error
    if number < 1:
        raise ValueError(f"limit: found {number}, wanted 1 or more; leave it out for all")
    return number
