"""A suite as flat rows, one after the other: what JSON Lines and CSV hold.

A row is a record, another step of a history, or a probe; its ``row`` says which:

- ``record`` (``id``, ``text``, and where they are told ``scope``, ``at``, ``unit``, ``supersedes``,
  ``expires``, ``meta``), ``delete`` (``id``), ``consolidate``, ``advance`` (``by``): steps of the
  history of a probe (``probe`` names it) or of a shared one (``history`` names it), in their order.
  Steps that name neither are the history of every probe that has no other.
- ``probe`` (``probe`` is its name, then ``query`` and the other words of a probe file).
- ``history``: a shared history that has no step.
- ``haystack`` (``text`` is ``shipped``), or a row ``background`` for each record of another one.

Without ``row`` it is a probe where there is a ``query``, and a record where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from memeval.checks.kinds import shown
from memeval.datasets.placing import writable
from memeval.errors import ProbeError
from memeval.given import given_of, op_to_dict
from memeval.probe import Probe
from memeval.record import Op, Record
from memeval.suite import Suite

Row = dict[str, Any]

# Every field of a row, and what its value is.
FIELDS = {
    "row": "text",
    "probe": "text",
    "history": "text",
    "id": "text",
    "text": "text",
    "query": "text",
    "expect": "groups",
    "forbid": "texts",
    "stale": "texts",
    "scope": "text",
    "k": "whole",
    "now": "time",
    "at": "time",
    "unit": "text",
    "supersedes": "texts",
    "expires": "time",
    "by": "text",
    "meta": "mapping",
    "canary": "texts",
    "filter": "mapping",
    "reads": "texts",
    "names": "texts",
    "near": "texts",
    "tags": "texts",
    "must": "flag",
    "why": "text",
}
STEPS = ("record", "delete", "consolidate", "advance")
KINDS = (*STEPS, "probe", "history", "haystack", "background")
SHIPPED = "shipped"


def rows_of(made: Suite | Iterable[Probe | Record]) -> list[Row]:
    """Make the rows of a suite, or of records alone.

    Parameters
    ----------
    made : Suite, or iterable of Probe or of Record
        What to write.

    Raises
    ------
    ProbeError
        If it is none of these, there is nothing in it, or its texts were left out.

    Examples
    --------
    >>> rows_of([Record("r1", "Tea is at four.")])
    [{'row': 'record', 'id': 'r1', 'text': 'Tea is at four.', 'scope': 'default'}]
    """
    if not isinstance(made, Suite):
        if not isinstance(made, Iterable) or isinstance(made, str | bytes):
            raise ProbeError(f"found {shown(made)}, wanted a Suite, or records; pass one")
        made = list(made)
        if made and all(isinstance(entry, Record) for entry in made):
            return [_step(op) for op in sound(made)]
    suite = writable(made)
    if not len(suite):
        raise ProbeError("found nothing to write, wanted probes or records; pass at least one")
    return [*_haystack(suite), *_histories(suite), *_probes(suite)]


def sound(records: Iterable[Any]) -> tuple[Op, ...]:
    """Give records as a history, with times in UTC.

    Raises
    ------
    ProbeError
        If one is no record that a probe could hold; with every fault.
    """
    given = given_of(records, "default")
    if given.faults:
        raise ProbeError(given.faults)
    return given


def _haystack(suite: Suite) -> Iterator[Row]:
    if suite.haystack_name == SHIPPED:
        yield {"row": "haystack", "text": SHIPPED}
    else:
        for record in suite.haystack or ():
            yield {**_step(record), "row": "background"}


def _histories(suite: Suite) -> Iterator[Row]:
    told = {p.history: p.given for p in suite if p.history is not None}
    for name, ops in {**suite.histories, **told}.items():
        if not ops:
            yield {"row": "history", "history": name}
        for op in ops:
            row = _step(op)
            yield {"row": row.pop("row"), "history": name, **row}


def _probes(suite: Suite) -> Iterator[Row]:
    for probe in suite:
        for op in probe.given if probe.history is None else ():
            row = _step(op)
            yield {"row": row.pop("row"), "probe": probe.name, **row}
        said = probe.to_dict()
        said.pop("given", None)
        told = {"row": "probe", "probe": said.pop("name"), **said, "scope": probe.scope}
        yield {name: told[name] for name in FIELDS if name in told}


def _step(op: Op) -> Row:
    said = op_to_dict(op)
    if "delete" in said:
        return {"row": "delete", "id": said["delete"]}
    if "consolidate" in said:
        return {"row": "consolidate"}
    if "advance" in said:
        return {"row": "advance", "by": said["advance"]}
    return {"row": "record", **said}
