"""Ids of a store for the records of probes: what they stand for, and where they cannot say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memeval.checks.kinds import nearest, shown
from memeval.errors import RunFileError
from memeval.probe import Probe
from memeval.suite import Suite
from memeval.text import count

__all__ = ["Ids", "Labels", "check_ids", "clash", "labels_of", "records_of", "shared_note"]

Ids = Mapping[str, Mapping[str, str]]
Labels = Mapping[str, list[str]]
LABELS = ("expected", "forbidden", "stale")


def labels_of(suite: Suite) -> dict[str, dict[str, list[str]]]:
    """Ids of records by probe and label; each once.

    Parameters
    ----------
    suite : Suite
        Whose table of labels is read.
    """
    labels: dict[str, dict[str, list[str]]] = {probe.name: {} for probe in suite}
    told = suite.qrels()
    for probe, record, label in zip(told["probe"], told["record_id"], told["label"], strict=True):
        listed = labels[str(probe)].setdefault(str(label), [])
        if record not in listed:
            listed.append(str(record))
    return labels


def check_ids(suite: Suite, ids: Ids, labels: Mapping[str, Labels]) -> None:
    """Refuse ids of probes and records that are not there.

    Raises
    ------
    RunFileError
        If a name is none of the suite, with the nearest that is.
    """
    probes = {probe.name: probe for probe in suite}
    for name, known in ids.items():
        if name not in probes:
            raise RunFileError(f"ids: found no probe {shown(name)}; {nearest(name, probes)}")
        records = _records(probes[name], labels[name])
        for record in known:
            if record not in records:
                raise RunFileError(
                    f"ids: probe {shown(name)} has no record {shown(record)}; "
                    f"{nearest(record, records)}"
                )


def _records(probe: Probe, labels: Labels) -> list[str]:
    """Ids of its records: expected, forbidden, stale, then the others."""
    told = [record for label in LABELS for record in labels.get(label, ())]
    return list(dict.fromkeys([*told, *(record.id for record in probe.records)]))


def records_of(probe: Probe, labels: Labels, known: Mapping[str, str]) -> dict[str, str]:
    """Record that an id of the store stands for.

    Parameters
    ----------
    probe : Probe
        That was asked.
    labels : mapping of str to list of str
        Of its records, from `labels_of`.
    known : mapping of str to str
        The store's ids by record; where there is none, the record's own.

    Returns
    -------
    dict of str to str
        Of several records on one id the expected one, else the forbidden, the stale, the first.
    """
    found: dict[str, str] = {}
    for record in _records(probe, labels):
        found.setdefault(known.get(record, record), record)
    return found


def clash(labels: Labels, known: Mapping[str, str]) -> str:
    """Why the ids of a store cannot say what a probe does; empty where they can."""
    expected = [known.get(record, record) for record in labels.get("expected", ())]
    bad = {known.get(record, record) for label in LABELS[1:] for record in labels.get(label, ())}
    if bad & set(expected):
        return "one id is both expected and forbidden or stale"
    if len(set(expected)) < len(expected):
        return "one id is several expected records"
    return ""


def shared_note(probes: Iterable[Probe], ids: Ids) -> list[str]:
    """Note on ids that stand for records of several texts, where the store's own are not given."""
    texts: dict[str, set[str]] = {}
    for probe in probes:
        known = ids.get(probe.name, {})
        for record in probe.records:
            if record.id not in known:
                texts.setdefault(record.id, set()).add(record.text)
    n = sum(len(told) > 1 for told in texts.values())
    stand = "stands" if n == 1 else "stand"
    words = f"{count(n, 'id')} {stand} for several records: give --ids unless the store keeps one "
    return [f"{words}workspace per probe"] if n else []
