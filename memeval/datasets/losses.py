"""What a suite says that another form has no words for, counted.

Each writer names the features that its form can hold; all others that the suite has are told, with
how many there are and the first probe that has one, so that nothing is lost in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from memeval.datasets.reading import table
from memeval.given import Given
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Record
from memeval.suite import Suite

LOST = {"what": "str", "n": "int64", "example": "str"}
USUAL_K = 5

# Feature, what it is called, and how many a probe has.
OF_PROBE: Mapping[str, tuple[str, Callable[[Probe], int]]] = {
    "query": ("texts of queries", lambda p: 1),
    "negative": ("negative probes", lambda p: p.is_negative),
    "any_of": (
        "groups of which any one will do",
        lambda p: sum(len(group) > 1 for group in p.groups),
    ),
    "forbid": ("forbidden records", lambda p: len(p.forbid)),
    "stale": ("stale records", lambda p: len(p.stale)),
    "canary": ("canaries", lambda p: len(p.canary)),
    "k": (f"cutoffs (k) other than {USUAL_K}", lambda p: p.k != USUAL_K),
    "scope": ("scopes of probes", lambda p: p.scope != "default"),
    "now": ("times of asking (now)", lambda p: p.now is not None),
    "filter": ("filters", lambda p: bool(p.filter)),
    "reads": ("further scopes that may be read", lambda p: len(p.reads)),
    "near": ("near misses", lambda p: len(p.near)),
    "names": ("names for copies to rename", lambda p: len(p.names)),
    "tags": ("tags", lambda p: len(p.tags)),
    "must": ("marks that a probe must pass", lambda p: p.must),
    "why": ("reasons (why)", lambda p: bool(p.why)),
}


def _records(test: Callable[[Record], int]) -> Callable[[Given], int]:
    return lambda given: sum(test(op) for op in given if isinstance(op, Record))


def _ops(kind: type) -> Callable[[Given], int]:
    return lambda given: sum(isinstance(op, kind) for op in given)


# The same of a history, which counts once however many probes share it.
OF_HISTORY: Mapping[str, tuple[str, Callable[[Given], int]]] = {
    "text": ("texts of records", _records(lambda r: 1)),
    "rewritten": (
        "earlier states of records that were written again",
        lambda g: _ops(Record)(g) - len(g.records),
    ),
    "delete": ("deletes", _ops(Delete)),
    "deleted": ("records that are deleted when it is asked", lambda g: len(g.deleted & {*g.by_id})),
    "consolidate": ("consolidations", _ops(Consolidate)),
    "advance": ("times that pass", _ops(Advance)),
    "foreign": ("scopes of records", _records(lambda r: r.scope != "default")),
    "at": ("times of records (at)", _records(lambda r: r.at is not None)),
    "unit": ("units", _records(lambda r: r.unit is not None)),
    "supersedes": ("records that a later one replaces", _records(lambda r: len(r.supersedes))),
    "expires": ("times from when a record no longer holds", _records(lambda r: bool(r.expires))),
    "meta": ("metadata of records", _records(lambda r: bool(r.meta))),
}
BACKGROUND = "background records of the haystack"


@dataclass
class Tally:
    """Counts by name, each with the first probe that it was met in.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add("deletes", 2, "lunch")
    >>> tally.add("deletes", 1, "tea")
    >>> tally.frame()
          what  n example
    0  deletes  3   lunch
    """

    counted: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, what: str, n: int = 1, example: str = "") -> None:
        """Count `n` more; none makes no line."""
        if n:
            before, first = self.counted.get(what, (0, example))
            self.counted[what] = before + n, first

    def frame(self) -> pd.DataFrame:
        """``what`` (str), ``n`` (int64), and ``example`` (str), a probe that has it."""
        return table(((what, *rest) for what, rest in self.counted.items()), LOST)


def stores_of(probes: Iterable[Probe]) -> dict[str, tuple[Given, str]]:
    """Histories by their own name, else that of the probe, each with its first probe.

    A probe and a history may bear one name, so the key says which of the two it is of.
    """
    found: dict[str, tuple[Given, str]] = {}
    for probe in probes:
        found.setdefault(store_key(probe), (probe.state, probe.name))
    return found


def store_key(probe: Probe) -> str:
    """Which store a probe is asked in: equal for those that share a history."""
    return f"p:{probe.name}" if probe.history is None else f"h:{probe.history}"


def losses(suite: Suite, said: Collection[str]) -> Tally:
    """Count what a suite has beside the features that are `said`.

    Parameters
    ----------
    suite : Suite
        What is written.
    said : collection of str
        Features, by their keys in `OF_PROBE` and `OF_HISTORY`, and ``haystack``.

    Returns
    -------
    Tally
        To which a writer may add.
    """
    tally = Tally()
    for name, (what, count) in OF_PROBE.items():
        for probe in suite if name not in said else ():
            tally.add(what, int(count(probe)), probe.name)
    stores = stores_of(suite)
    for name, (what, tell) in OF_HISTORY.items():
        for given, first in stores.values() if name not in said else ():
            tally.add(what, int(tell(given)), first)
    if "haystack" not in said:
        tally.add(BACKGROUND, len(suite.haystack or ()))
    return tally
