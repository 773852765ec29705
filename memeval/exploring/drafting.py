"""A new probe made of what a failing one showed: a draft for a person, then a line in a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memeval.adding import append_probe
from memeval.errors import MemevalError
from memeval.given import op_to_dict
from memeval.loading import load_text
from memeval.probe import Probe
from memeval.probefiles.emitting import block
from memeval.record import Delete, Record
from memeval.report.copying import MOST_GIVEN
from memeval.report.places import Place
from memeval.report.probes import Detail
from memeval.text import clean, count, normalise

MOST_SEEN = 10
LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Draft:
    """A probe that nobody has accepted yet.

    Attributes
    ----------
    text : str
        The probe as it would stand in a probe file; to be edited.
    words : str
        What it is made of, and what is left to do.
    """

    text: str
    words: str


@dataclass(frozen=True, slots=True)
class Added:
    """A probe that was added: to which file, and under which name."""

    path: Path
    name: str

    @property
    def words(self) -> str:
        """What was done, in a sentence."""
        return f"Added {self.name} at the end of {self.path}; nothing else in it was changed."


def draft(detail: Detail, store: str, taken: frozenset[str]) -> Draft:
    """Make a draft of a probe and of what stood in its answer.

    Parameters
    ----------
    detail : Detail
        The probe and its answer.
    store : str
        Name of the store that was asked.
    taken : frozenset of str
        Names that cannot be used.

    Returns
    -------
    Draft
        It asks the same of the same history, and writes first what the haystack had in the
        answer: so it shows the failure without that haystack, where these records alone make it.
        A failure that needs the rest too, such as by how rare a word is among all records, may
        pass: the words say that it is to be run first.

    Raises
    ------
    MemevalError
        If the texts were left out of the run, or are too long.
    """
    probe = detail.probe
    if probe.withheld:
        raise MemevalError(
            f"probe {probe.name!r}: its texts were left out of the run; take a run that was saved "
            "with its texts"
        )
    seen = list(_seen(detail))
    said = probe.to_dict()
    for field in ("history", "must", "near", "names"):
        said.pop(field, None)
    said["name"] = _unused(probe.name, taken)
    said["given"] = [*(record for record, _ in seen), *_history(detail)]
    said["expect"] = [list(g) if len(g) > 1 else g[0] for g in probe.groups]
    barred = [record["id"] for record, is_barred in seen if is_barred]
    if barred:
        said["forbid"] = [*said.get("forbid", ()), *barred]
    said["why"] = f"Made from {probe.name}: {detail.row.outcome} on {store}."
    text = block(said)
    if len(text) > LONGEST:
        raise MemevalError(
            f"probe {probe.name!r}: its texts are too long for a draft ({len(text):,} characters, "
            f"at most {LONGEST:,}); write the probe by hand, with the records that matter"
        )
    return Draft(text, _words(detail, len(seen)))


def add(text: str, path: str | os.PathLike[str]) -> Added:
    """Add the one probe of a text to a probe file, by `memeval.append_probe`.

    Parameters
    ----------
    text : str
        A probe as it stands in a probe file.
    path : str or path-like
        To which file; it is made where there is none. What stands in it stays.

    Raises
    ------
    ProbeError
        If the probe, the file or the two together are at fault; nothing is written then.
    MemevalError
        If no file is named, or it cannot be written.
    """
    if not os.fspath(path).strip():
        raise MemevalError("found no file, wanted a path; name a .yaml file to add it to")
    probes = load_text(text, "draft.yaml").probes
    if len(probes) != 1:
        raise MemevalError(f"found {len(probes)} probes in the draft, wanted one; add one a time")
    return Added(append_probe(probes[0], os.fspath(path).strip()), probes[0].name)


def _seen(detail: Detail) -> Iterator[tuple[dict[str, Any], bool]]:
    """Records of the haystack in the answer, and whether they must not come back."""
    probe = detail.probe
    own = {normalise(record.text) for record in probe.records}
    ids = (name for n in range(1, 10_000) if (name := f"seen{n}") not in probe.state.by_id)
    places = [place for place in detail.places if _is_background(place, probe)]
    for place in places[:MOST_SEEN]:
        text = clean(str(place.text))
        if not text.strip() or normalise(text) in own:
            continue
        own.add(normalise(text))
        barred = any(label.kind == "forbidden" for label in place.labels)
        record = {"id": next(ids), "text": text}
        if barred:  # it leaked from another scope, whose name no table keeps
            record["scope"] = f"{probe.scope}-other"
        yield record, barred


def _is_background(place: Place, probe: Probe) -> bool:
    odd = any(label.kind in ("canary", "unknown", "expected") for label in place.labels)
    return place.text is not None and not odd and place.record not in probe.state.by_id


def _history(detail: Detail) -> Iterator[dict[str, Any]]:
    """The history, of a long one the steps that touch what is judged or came back."""
    probe = detail.probe
    steps = list(probe.given)
    if len(steps) > MOST_GIVEN:
        judged = {i for group in probe.groups for i in group} | {*probe.forbid, *probe.stale}
        wanted = judged | {place.record for place in detail.places}
        wanted |= {
            old for op in steps if isinstance(op, Record) and op.id in wanted
            for old in op.supersedes
        }  # fmt: skip
        steps = [op for op in steps if isinstance(op, Record | Delete) and op.id in wanted]
    return (op_to_dict(op, probe.scope) for op in steps)


def _unused(name: str, taken: frozenset[str]) -> str:
    known = {other.casefold() for other in taken}
    tries = (f"{name}-again{'' if n == 1 else f'-{n}'}" for n in range(1, len(known) + 2))
    return next(one for one in tries if one.casefold() not in known)


def _words(detail: Detail, n_seen: int) -> str:
    long = len(detail.probe.given) > MOST_GIVEN
    history = "the steps of its history that were judged or came back" if long else "its history"
    if not n_seen:
        return (
            f"The same question of {history}. Nothing of the haystack stood in its answer, so "
            "this asks what the suite asks already: change the query or the records."
        )
    return (
        f"The same question of {history}, and {count(n_seen, 'record')} of the haystack that "
        "stood in its answer. Read it, change what is not right, then add it to a file and run it: "
        "a failure that needs more of the haystack than these passes by itself."
    )
