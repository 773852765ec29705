"""Which probes of a run passed, by name and content, small enough to stand in its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memeval.runs import Run

Passing = Mapping[str, tuple[str, bool | None]]
"""By the name of a probe: hash of its content, and whether it passed; None where not supported."""


def passing_of(run: Run) -> dict[str, tuple[str, bool | None]]:
    """Tell of each probe of a run whether it passed.

    Parameters
    ----------
    run : Run
        What was asked; probes of which it has no result are left out.

    Examples
    --------
    >>> import memeval as me
    >>> probe = me.Probe("lunch", "Where is lunch?", [me.Record("r1", "Lunch: noodles.")], ["r1"])
    >>> passing_of(me.run([probe], "sqlite"))["lunch"] == (probe.content_hash, True)
    True
    """
    hashes = {probe.name: probe.content_hash for probe in run.suite}
    results = run.results
    passed = results["passed"].astype("object").where(results["passed"].notna(), None)
    return {
        str(name): (hashes[name], None if one is None else bool(one))
        for name, one in zip(results["probe"], passed, strict=True)
        if name in hashes
    }


def passing_from(value: Any) -> dict[str, tuple[str, bool | None]] | None:
    """Read what `passing_of` gave from a file; None where it is not there, or is something else.

    Examples
    --------
    >>> passing_from({"lunch": ["cafe", True]}), passing_from({"lunch": "yes"})
    ({'lunch': ('cafe', True)}, None)
    """
    if not isinstance(value, dict):
        return None
    found: dict[str, tuple[str, bool | None]] = {}
    for name, one in value.items():
        if not (isinstance(one, list) and len(one) == 2 and isinstance(one[0], str)):
            return None
        if not (one[1] is None or isinstance(one[1], bool)):
            return None
        found[name] = (one[0], one[1])
    return found
