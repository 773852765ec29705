"""What a generator takes from the probes whose store it fills."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memeval.probe import Probe
from memeval.record import Meta


def persons_of(copies: Sequence[Probe]) -> tuple[str, ...]:
    """Names of persons, those of one probe in all cohorts beside each other: alike in rank."""
    by_probe: dict[str, list[str]] = {}
    for copy in copies:
        persons = [name for name in copy.names if name[:1].isupper()]
        by_probe.setdefault(copy.name.rpartition("@")[0], []).extend(persons)
    return tuple(dict.fromkeys(name for names in by_probe.values() for name in names))


def homes_of(copies: Iterable[Probe]) -> dict[str, tuple[str, ...]]:
    """Where the names of probes are spoken of: in the scopes that ask for them."""
    found: dict[str, dict[str, None]] = {}
    for copy in copies:
        for name in copy.names:
            found.setdefault(name, {})[copy.scope] = None
    return {name: tuple(scopes) for name, scopes in found.items()}


def metas_of(probes: Iterable[Probe]) -> dict[str, tuple[Meta, ...]]:
    """What the records of a scope must carry, lest its filters hide them all."""
    found: dict[str, list[Meta]] = {}
    for probe in probes:
        if probe.filter and probe.filter not in found.setdefault(probe.scope, []):
            found[probe.scope].append(dict(probe.filter))
    return {scope: (*(metas * 4), *({} for _ in metas)) for scope, metas in found.items()}


def prefix_of(copies: Iterable[Probe]) -> str:
    """How no id of these probes begins."""
    states = {id(copy.state): copy.state for copy in copies}
    taken = tuple(name for state in states.values() for name in state.by_id)
    prefix = "s"
    while any(name.startswith(prefix) and name[len(prefix) : len(prefix) + 1].isdigit()
              for name in taken):  # fmt: skip
        prefix += "s"
    return prefix
