"""Ids that a form of lines and fields cannot hold."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.checks.kinds import shown
from memeval.errors import Fault, ProbeError

MOST_FAULTS = 20


def refuse_odd(
    ids: Iterable[tuple[str, str]],
    breaks: str | None,
    form: str,
    *,
    more: Iterable[Fault] = (),
    quote: bool = False,
) -> None:
    r"""Refuse ids that would break their line.

    Parameters
    ----------
    ids : iterable of (str, str)
        Name of a probe, and an id of it.
    breaks : str or None
        Characters that an id may not hold; None for every kind of blank.
    form : str
        What the form is called.
    more : iterable of Fault
        What else is wrong.
    quote : bool
        Whether an id may not begin with a double quote either, which readers of CSV take for the
        start of a text.

    Raises
    ------
    ProbeError
        With every fault; of very many the first.

    Examples
    --------
    >>> refuse_odd([("tea", "r 1")], None, "TREC")
    Traceback (most recent call last):
        ...
    memeval.errors.ProbeError: probe 'tea': 'r 1' holds ' ', which ends a field in TREC; rename it, or write JSON Lines, which holds any id
    """  # noqa: E501 - a doctest cannot break the line of a message
    todo = "rename it, or write JSON Lines, which holds any id"
    faults = []
    for probe, name in dict.fromkeys(ids):
        odd = [c for c in name if (c.isspace() if breaks is None else c in breaks)]
        if odd:
            said = f"{shown(name)} holds {odd[0]!r}, which ends a field in {form}"
            faults.append(Fault(said, todo, probe=probe))
        elif quote and name.startswith('"'):
            said = f"{shown(name)} begins with a quote, which begins a text in {form}"
            faults.append(Fault(said, todo, probe=probe))
    faults += more
    if len(faults) > MOST_FAULTS:
        rest = Fault(f"{len(faults) - MOST_FAULTS} more faults", "mend these first")
        faults = [*faults[:MOST_FAULTS], rest]
    if faults:
        raise ProbeError(faults)
