"""One probe: a history for a clean store, a question, and what the answer must and may not hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from functools import cached_property
from typing import Any, cast

from memeval.checks.fitting import probe_faults
from memeval.checks.kinds import LISTS, kind_faults, shown, well_typed
from memeval.errors import Fault, ProbeError
from memeval.given import Given, given_of, in_utc, op_to_dict
from memeval.hashes import digest
from memeval.record import Op, Record
from memeval.showing import ShownInNotebooks
from memeval.text import clean


@dataclass(frozen=True)
class Probe(ShownInNotebooks):
    """A fixture for a memory store: what was written, what is asked, what must come back.

    Lists are taken for tuples, times are made UTC, and any object with ``id`` and ``text`` is
    taken for a record. A negative probe built in Python may have an empty scope; one that is read
    from a file may not.

    Attributes
    ----------
    name : str
        Unique in the suite, one line.
    query : str
        What is asked.
    given : tuple of Op
        The whole history of the store before the query, in order.
    expect : tuple of str or tuple of str
        Ids that must be in the top k; a nested tuple is met by any one of its ids.
    forbid : tuple of str
        Ids that leak if they come back anywhere in the answer.
    k : int
        Cutoff, from 1.
    scope : str
        Whose memory is asked.
    tags : tuple of str
        What kind of probe it is.
    stale : tuple of str
        Ids that are outdated in truth, although nobody told the store.
    now : datetime or None
        When it is asked.
    canary : tuple of str
        Tokens that may appear nowhere in the answer, whatever the id.
    filter : mapping
        What the metadata of a record must match, for stores that can.
    reads : tuple of str
        Other scopes that this one may read.
    names : tuple of str
        Words that copies of this probe rename.
    near : tuple of str
        Texts of hand-written near misses.
    must : bool
        Any loss of this probe fails the gate.
    why : str
        Where it came from.
    history : str or None
        Name of the history that it shares with others.
    file, line : str, int
        Where it was read; empty and 0 for a probe built in Python.
    withheld : str
        Content hash from before its texts were taken out; empty while they are there.

    Raises
    ------
    ProbeError
        With every fault that was found.

    Examples
    --------
    >>> probe = Probe("lunch", "Where is lunch?", [Record("r1", "Noodle bar.")], ["r1"])
    >>> probe.is_positive, probe.groups
    (True, (('r1',),))
    >>> Probe("lunch", "Where is lunch?", expect=["r1"])
    Traceback (most recent call last):
        ...
    memeval.errors.ProbeError: probe 'lunch': expect[0]: no record has the id 'r1'; add the record to given, or name one of it
    """  # noqa: E501 - a doctest cannot break the line of a message

    name: str
    query: str
    given: Sequence[Op] = ()
    expect: Sequence[str | Sequence[str]] = ()
    forbid: Sequence[str] = ()
    k: int = 5
    scope: str = "default"
    tags: Sequence[str] = ()
    stale: Sequence[str] = ()
    now: datetime | None = None
    canary: Sequence[str] = ()
    filter: Mapping[str, Any] = field(default_factory=dict, hash=False)
    reads: Sequence[str] = ()
    names: Sequence[str] = ()
    near: Sequence[str] = ()
    must: bool = False
    why: str = ""
    history: str | None = None
    file: str = field(default="", compare=False, repr=False)
    line: int = field(default=0, compare=False, repr=False)
    withheld: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        try:
            for name, value in _normalised(self).items():
                object.__setattr__(self, name, value)
            faults = _all_faults(self)
        except RecursionError as error:
            found = "a value holds itself, or nests too deep"
            raise ProbeError([Fault(found, "write plain values", probe=str(self.name))]) from error
        if faults:
            raise ProbeError(faults)

    @property
    def state(self) -> Given:
        """The history, which knows what it comes to."""
        return cast(Given, self.given)

    @property
    def is_negative(self) -> bool:
        """Whether nothing is the right answer."""
        return not self.expect

    @property
    def is_positive(self) -> bool:
        """Whether something is expected."""
        return bool(self.expect)

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Expected groups: a plain id is a group of one, a nested list is any-of."""
        return tuple((e,) if isinstance(e, str) else tuple(e) for e in self.expect)

    @property
    def records(self) -> tuple[Record, ...]:
        """Last state of each record that was written, in order of the first write."""
        return self.state.records

    @property
    def live(self) -> tuple[Record, ...]:
        """Records that are not deleted; superseded and expired ones are still live."""
        return self.state.live

    @property
    def superseded(self) -> frozenset[str]:
        """Ids that the store was told are replaced."""
        return self.state.superseded

    @property
    def deleted(self) -> frozenset[str]:
        """Ids that are deleted when the query is asked."""
        return self.state.deleted

    @property
    def expired(self) -> frozenset[str]:
        """Ids that no longer hold at ``now``; none when the probe does not say when it is."""
        return self.state.expired(self.now)

    @cached_property
    def scopes_read(self) -> frozenset[str]:
        """Scopes that the answer may come from."""
        return frozenset({self.scope, *self.reads})

    @property
    def foreign(self) -> frozenset[str]:
        """Ids of records in other scopes."""
        found = [ids for scope, ids in self.state.ids_in.items() if scope not in self.scopes_read]
        return frozenset().union(*found)

    @cached_property
    def content_hash(self) -> str:
        """Hash of what is measured, 16 hexadecimal digits.

        Notes
        -----
        History (with units), query, scope, k, expect, forbid, stale, canary, filter, reads, now
        and near count; the order of the id lists does not. Name, tags, why, must, names and the
        place in a file do not count, so that a probe may be renamed and still be compared.
        """
        return self.withheld or digest(
            {
                "given": self.state.content_hash,
                "query": self.query,
                "scope": self.scope,
                "k": self.k,
                "expect": sorted(sorted(group) for group in self.groups),
                "forbid": sorted(self.forbid),
                "stale": sorted(self.stale),
                "canary": sorted(self.canary),
                "filter": self.filter,
                "reads": sorted(self.reads),
                "now": None if self.now is None else self.now.isoformat(),
                "near": self.near,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Write the probe in the words of a probe file: plain values, defaults left out.

        Returns
        -------
        dict
            What JSON and YAML can hold. A probe of a shared history names it and has no ``given``.

        Examples
        --------
        >>> Probe("lunch", "Where is lunch?", [Record("r1", "Noodle bar.")], ["r1"]).to_dict()
        {'name': 'lunch', 'query': 'Where is lunch?', 'given': [{'id': 'r1', 'text': 'Noodle bar.'}], 'expect': ['r1']}
        """  # noqa: E501 - a doctest cannot break a line of output
        said: dict[str, Any] = {}
        for spec in fields(self):
            value = getattr(self, spec.name)
            if spec.compare and value not in (spec.default, {}):
                said[spec.name] = value
        if self.now is not None:
            said["now"] = self.now.isoformat()
        if self.history is None and self.given:
            said["given"] = [op_to_dict(op, self.scope) for op in self.given]
        elif self.history is not None:
            said.pop("given", None)
        for name in LISTS:
            if name in said:
                said[name] = [e if isinstance(e, str) else list(e) for e in said[name]]
        return said


def _normalised(probe: Probe) -> dict[str, Any]:
    """Tuples for lists, UTC for times, texts that can be written; the rest stays as it is."""
    changes: dict[str, Any] = {}
    for name in LISTS:
        changes[name] = _tuple(getattr(probe, name))
    for name in ("name", "query", "scope", "why"):
        changes[name] = _clean(getattr(probe, name))
    if isinstance(probe.now, date):
        changes["now"] = in_utc(probe.now)
    if isinstance(probe.given, Iterable) and not isinstance(probe.given, str | Mapping):
        changes["given"] = given_of(probe.given, probe.scope)
    if isinstance(probe.filter, Mapping):
        changes["filter"] = dict(probe.filter)
    return changes


def _tuple(value: Any) -> Any:
    """A tuple of what is listed; a set has no order, so it gets one."""
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return tuple(_clean(e) if isinstance(e, str) else _tuple(e) for e in value)
    return value


def _clean(value: Any) -> Any:
    return value if not isinstance(value, str) or value.isascii() else clean(value)


def _all_faults(probe: Probe) -> list[Fault]:
    """What each value is, and, unless a kind is wrong, how they fit together."""
    if not isinstance(probe.given, Given):
        faults = [Fault(f"given is {shown(probe.given)}, not a list", "write a list", "given")]
    else:
        faults = list(probe.given.faults)
    faults += kind_faults(probe)
    if not faults or well_typed(probe):
        faults += probe_faults(probe)
    name = probe.name if isinstance(probe.name, str) else ""
    file = probe.file if isinstance(probe.file, str) else ""
    line = probe.line if isinstance(probe.line, int) else 0
    return [replace(fault, probe=name, file=file, line=line) for fault in faults]
