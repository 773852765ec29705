"""Which scope was asked while whose records stood in the store: "0 leaks" is worth no more.

Worked out from a run alone, without a store: what a probe gives, and the haystack that was written
around it, are both known again from the suite and the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType

import pandas as pd

from memeval import frames
from memeval.chances import most_leaking
from memeval.haystack import NOTHING, PER_SCOPE, Haystack, around, foreign_scopes
from memeval.probe import Probe
from memeval.runs import Run

HAYSTACK: Mapping[str, str] = MappingProxyType(
    {
        "other": "haystack: another name",
        "begins_alike": "haystack: begins alike",
        "differs_in_case": "haystack: differs in case",
        "syntax": "haystack: query syntax",
    }
)
# Quotes, ends of statements and wildcards: what a query language may take for its own.
SYNTAX = frozenset("'\"`\\;*?%{}$|<>&\n\r\t\0")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One probe, asked while records of one scope that it may not read stood in the store.

    Attributes
    ----------
    probe, asked, other : str
        Name of the probe, its scope, and the other scope; one that the haystack made up goes by
        what its name is like.
    kind : {'other', 'begins_alike', 'differs_in_case', 'syntax'}
        How the names differ.
    made_up : bool
        Whether the haystack made the other scope up, rather than the author of the probe.
    n_records : int
        Live records of the other scope.
    leaked : bool
        Whether one of them came back.
    """

    probe: str
    asked: str
    other: str
    kind: str
    made_up: bool
    n_records: int
    leaked: bool


def scope_kind(asked: str, other: str) -> str:
    """How the names of two scopes differ.

    Returns
    -------
    {'differs_in_case', 'begins_alike', 'syntax', 'other'}
        The first of these that holds: equal but for case; one begins with the other, whatever the
        case; one holds quotes or wildcards, fits the other as a pattern (``%``, ``_``, ``*``,
        ``?``), or is equal to it but for marks and blanks; none of these.

    Examples
    --------
    >>> scope_kind("al", "AL"), scope_kind("u1", "u10"), scope_kind("ana", "bo")
    ('differs_in_case', 'begins_alike', 'other')
    >>> scope_kind("user_1", "userx1"), scope_kind("team a", "team-a"), scope_kind("a", "*")
    ('syntax', 'syntax', 'syntax')
    """
    one, two = asked.casefold(), other.casefold()
    if one == two:
        return "differs_in_case"
    if one.startswith(two) or two.startswith(one):
        return "begins_alike"
    if SYNTAX & {*asked, *other} or _fits(one, two) or _fits(two, one):
        return "syntax"
    letters = ("".join(filter(str.isalnum, name)) for name in (one, two))
    return "syntax" if next(letters) == next(letters) else "other"


def _fits(pattern: str, name: str) -> bool:
    """Whether a name, read as a pattern of SQL, fits another."""
    if "_" not in pattern:  # the other wildcards are syntax in any case
        return False
    return fnmatchcase(name, pattern.replace("[", "[[]").replace("_", "?"))


def attempts(run: Run) -> list[Attempt]:
    """Every attempt of a run to get at the records of another scope.

    Parameters
    ----------
    run : Run
        Any run, such as a saved one.

    Returns
    -------
    list of Attempt
        In the order of the suite: of each probe that was answered (status ok in some repeat) those
        scopes, beside its own and its ``reads``, that had live records or of which one came back.

    Notes
    -----
    The haystack is made again from suite and seed. Of a run without texts it cannot be: its scopes
    are named by the same rule, `n_records` of them is what is written as a rule, and a leaked
    record of the haystack counts for each of its scopes.
    """
    calls = run.calls
    answered = set(calls.loc[calls["status"].astype("str").eq("ok"), "probe"])
    known = run.hits[run.hits["record_id"].notna()]
    back = {name: set(ids) for name, ids in known.groupby("probe", sort=False)["record_id"]}
    judged = run.qrels[run.qrels["reason"].astype("str").eq("foreign_scope")]
    barred = {name: set(ids) for name, ids in judged.groupby("probe", sort=False)["record_id"]}
    found: dict[str, list[Attempt]] = {}
    for probes in _histories(run.suite):
        around_them = _Around(run, probes)
        for probe in probes:
            if probe.name in answered:
                ids = back.get(probe.name, set())
                strange = ids & barred.get(probe.name, set())
                found[probe.name] = list(around_them.attempts(probe, ids, strange))
    return [one for probe in run.suite for one in found.get(probe.name, ())]


def _histories(suite: Sequence[Probe]) -> list[list[Probe]]:
    """Probes that share a store, together."""
    groups: dict[tuple[str, str], list[Probe]] = {}
    for probe in suite:
        key = ("", probe.name) if probe.history is None else ("shared", probe.history)
        groups.setdefault(key, []).append(probe)
    return list(groups.values())


class _Around:
    """What stood in the store of one history."""

    def __init__(self, run: Run, probes: Sequence[Probe]) -> None:
        corpus = run.suite.haystack
        scoped = run.manifest.capabilities.get("scoping") != "none"
        self.given = probes[0].state
        self.named = {s for p in probes for s in p.scopes_read} | set(self.given.ids_in)
        self.withheld = bool(corpus) and any(probe.withheld for probe in probes)
        self.haystack: Haystack = NOTHING
        self.sizes = {scope: len(live) for scope, live in self.given.live_in.items()}
        if not corpus or not scoped:
            return
        if self.withheld:
            for scope in dict.fromkeys(probe.scope for probe in probes):
                self.sizes |= dict.fromkeys(foreign_scopes(probes, scope), PER_SCOPE)
            return
        self.haystack = around(probes, corpus, seed=run.manifest.seed)
        for part in (self.haystack.before, self.haystack.after):
            for scope, live in part.live_in.items():
                self.sizes[scope] = self.sizes.get(scope, 0) + len(live)

    def attempts(self, probe: Probe, ids: set[str], strange: set[str]) -> Iterator[Attempt]:
        """Attempts of one probe, by the records that came back and those that are barred."""
        back = {scope for scope in map(self._scope_of, ids) if scope not in probe.scopes_read}
        lost = self.withheld and any(self._scope_of(name) is None for name in strange)
        others = [scope for scope in self.sizes if scope not in probe.scopes_read]
        more = [scope for scope in sorted(filter(None, back)) if scope not in self.sizes]
        merged: dict[tuple[str, str, bool], tuple[int, bool]] = {}
        for scope in [*others, *more]:
            made_up = scope not in self.named
            kind = scope_kind(probe.scope, scope)
            key = (HAYSTACK[kind] if made_up else scope, kind, made_up)
            n, leaked = merged.get(key, (0, False))
            leaked = leaked or scope in back or (made_up and lost)
            merged[key] = (n + self.sizes.get(scope, 0), leaked)
        # Those that are made up stand last, in one order for all probes.
        names = list(HAYSTACK.values())
        order = sorted(merged, key=lambda key: names.index(key[0]) if key[2] else -1)
        for other, kind, made_up in order:
            n, leaked = merged[other, kind, made_up]
            yield Attempt(probe.name, probe.scope, other, kind, made_up, n, leaked)

    def _scope_of(self, record_id: str) -> str | None:
        for part in (self.given, self.haystack.before, self.haystack.after):
            record = part.by_id.get(record_id)
            if record is not None:
                return record.scope
        return None


def scope_coverage(run: Run) -> pd.DataFrame:
    """Which scope was asked while records of which other stood there, and what came back.

    Parameters
    ----------
    run : Run
        Any run, such as a saved one; no store is touched.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.SCOPE_PAIRS`, a row per asked and other scope, in the order of
        the suite. Scopes that the haystack made up go by what their names are like, such as
        ``haystack: begins alike``. Empty where no leak between scopes was attempted: then it was
        not measured.

    Notes
    -----
    An attempt is a probe that was answered in scope `asked` while live records of scope `other`,
    which it may not read, stood in the store. ``n_records`` adds these up over the probes.
    ``high`` is 1 - 0.05^(1/n) where none of the n probes leaked, else the upper end of the Wilson
    interval.

    Examples
    --------
    >>> import memeval as me
    >>> given = [me.Record("a", "The kiosk is blue.", "u1"), me.Record("b", "Blue van.", "u10")]
    >>> probe = me.Probe("kiosk", "blue kiosk", given, ["a"], scope="u1")
    >>> scope_coverage(me.run([probe], "sqlite"))
      asked other          kind  n_probes  n_records  n_leaked  high
    0    u1   u10  begins_alike         1          1         0  0.95
    """
    pairs: dict[tuple[str, str, str, bool], list[Attempt]] = {}
    for one in attempts(run):
        pairs.setdefault((one.asked, one.other, one.kind, one.made_up), []).append(one)
    rows = [
        {"asked": asked, "other": other, "kind": kind, **counted(found)}
        for (asked, other, kind, _), found in pairs.items()
    ]
    made = pd.DataFrame(rows, columns=frames.names(frames.SCOPE_PAIRS))
    return frames.conform(made, frames.SCOPE_PAIRS)


def counted(found: Sequence[Attempt]) -> dict[str, float]:
    """Probes, records, leaking probes and the bound of some attempts; each probe counts once."""
    n, n_leaked = len({one.probe for one in found}), len({o.probe for o in found if o.leaked})
    return {
        "n_probes": n,
        "n_records": sum(one.n_records for one in found),
        "n_leaked": n_leaked,
        "high": most_leaking(n_leaked, n),
    }


def coverage_matrix(frame: pd.DataFrame) -> pd.DataFrame:
    """How often each scope was asked in the presence of each other.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `scope_coverage` gives it.

    Returns
    -------
    pandas.DataFrame
        ``asked`` down, ``other`` across, in the order of their first rows; int64, the probes that
        attempted it, 0 where none did.

    Examples
    --------
    >>> frame = pd.DataFrame({"asked": ["ana", "bo"], "other": ["bo", "cy"], "n_probes": [2, 1]})
    >>> coverage_matrix(frame).loc["ana"].to_dict()
    {'bo': 2, 'cy': 0}
    """
    pairs = frames.conform(frame, frames.SCOPE_PAIRS)
    table = pairs.groupby(["asked", "other"], sort=False)["n_probes"].sum().unstack(fill_value=0)
    asked, others = pairs["asked"].unique(), pairs["other"].unique()
    return (
        table.reindex(index=asked, columns=others, fill_value=0)
        .astype("int64")
        .rename_axis(index="asked", columns="other")
    )
