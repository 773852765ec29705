"""A suite in the files of BEIR: a corpus, queries, and judgements."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from memeval.datasets.beir import AT, SCOPE
from memeval.datasets.ids import refuse_odd
from memeval.datasets.losses import Tally, losses, store_key, stores_of
from memeval.datasets.placing import put, writable
from memeval.errors import Fault, ProbeError
from memeval.probe import Probe
from memeval.record import Record
from memeval.suite import Suite

# `deleted` is not among them: a record that is deleted is not written.
SAID = ("query", "text", "scope", "foreign", "at", "meta")
ONE_CORPUS = "stores of their own that became one corpus"


def write_beir(
    suite: Suite | list[Probe], folder: str | Path, *, split: str = "test", replace: bool = False
) -> pd.DataFrame:
    r"""Write a suite in the form of BEIR.

    Parameters
    ----------
    suite : Suite or list of Probe
        What to write.
    folder : str or pathlib.Path
        Where ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv`` go; made where it is not
        there.
    split : str
        Name of the file of judgements.
    replace : bool
        Whether files there that say something else are written over.

    Returns
    -------
    pandas.DataFrame
        What the form has no words for: ``what`` (str), ``n`` (int64), ``example`` (str, a probe).

    Raises
    ------
    ProbeError
        If no record is to be written, or an id cannot stand in the files; with every fault.
    MemevalError
        If it cannot be written there. Nothing was written.

    Notes
    -----
    The corpus holds the records that are live when the query is asked, with their own metadata and
    two fields more, ``scope`` and ``at``; ``scope`` stands with the queries too.
    ``read_beir(folder, scope="scope", at="at")`` reads them, and asks each query in its scope
    alone. Expected records have the relevance 1; the members of a group of which any one will do
    are all relevant. A negative probe has a query and no judgement.

    BEIR has one corpus. Where the probes of a suite have stores of their own, a scope gets the name
    of its store before it, and so does an id that stands in two of them: both are counted. Whoever
    searches that corpus without the scopes asks something harder than the suite does.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import memeval as me
    >>> given = [me.Record("r1", "Tea is at four."), me.Record("r2", "Tea is at five.", "bo")]
    >>> probe = me.Probe("tea", "When is tea?", given, ["r1"], ["r2"])
    >>> with TemporaryDirectory() as folder:
    ...     lost = write_beir([probe], folder)
    ...     print(Path(folder, "corpus.jsonl").read_text(), end="")
    ...     Path(folder, "qrels", "test.tsv").read_text()
    {"_id": "r1", "title": "", "text": "Tea is at four.", "metadata": {"scope": "default"}}
    {"_id": "r2", "title": "", "text": "Tea is at five.", "metadata": {"scope": "bo"}}
    'query-id\tcorpus-id\tscore\ntea\tr1\t1\n'
    >>> lost
                    what  n example
    0  forbidden records  1     tea
    """
    suite, folder = writable(suite), Path(folder)
    if not split or not all(char.isalnum() or char in "-_." for char in split):
        raise ProbeError(f"split is {split!r}, wanted a plain name such as 'test'")
    named = _named(suite)
    tally = losses(suite, SAID)
    faults = [*_clashes(named), *_own_fields(named)]
    ids = [(probe.name, probe.name) for probe in suite]
    ids += [(store.probe, one) for store in named.values() for one in store.ids.values()]
    refuse_odd(ids, "\t\n\r", "BEIR", more=faults, quote=True)
    corpus = "".join(_line(row) for store in named.values() for row in _corpus(store))
    if not corpus:
        raise ProbeError(f"{folder}: found no live record in the suite; there is nothing to search")
    _tell(named, tally)
    queries = "".join(_line(_query(probe, named[store_key(probe)])) for probe in suite)
    put(
        {
            folder / "corpus.jsonl": corpus,
            folder / "queries.jsonl": queries,
            folder / "qrels" / f"{split}.tsv": _qrels(suite, named),
        },
        replace=replace,
        folder=folder,
    )
    return tally.frame()


@dataclass
class _Store:
    """A history, and how its ids and scopes are written."""

    name: str
    probe: str
    records: tuple[Record, ...]
    ids: dict[str, str]
    alone: bool

    def scope(self, scope: str) -> str:
        return scope if self.alone else f"{self.name}/{scope}"


def _named(suite: Suite) -> dict[str, _Store]:
    found: dict[str, _Store] = {}
    stores = stores_of(suite)
    seen: set[str] = set()
    twice: set[str] = set()
    for given, _ in stores.values():
        here = {record.id for record in given.live}
        twice |= here & seen
        seen |= here
    for key, (given, probe) in stores.items():
        name = key.partition(":")[2]
        ids = {r.id: f"{name}/{r.id}" if r.id in twice else r.id for r in given.live}
        found[key] = _Store(name, probe, given.live, ids, len(stores) == 1)
    return found


def _clashes(named: Mapping[str, _Store]) -> Iterator[Fault]:
    """Ids and scopes that are one only with the name of their store before them."""
    for what in ("id", "scope"):
        first: dict[str, str] = {}
        for key, store in named.items():
            entries = store.ids.values() if what == "id" else _scopes(store)
            for entry in entries:
                if first.setdefault(entry, key) != key:
                    found = f"two stores would have the {what} {entry!r:.60}"
                    yield Fault(found, "rename one of the probes or ids", probe=store.probe)


def _scopes(store: _Store) -> list[str]:
    return list(dict.fromkeys(store.scope(record.scope) for record in store.records))


def _own_fields(named: Mapping[str, _Store]) -> Iterator[Fault]:
    for store in named.values():
        for record in store.records:
            for name in (SCOPE, AT):
                if name in record.meta:
                    found = f"the metadata of {record.id!r:.40} has a field {name!r} of its own"
                    yield Fault(found, "rename it, since BEIR gets one so named", probe=store.probe)


def _corpus(store: _Store) -> Iterator[dict[str, Any]]:
    for record in store.records:
        meta = {**record.meta, SCOPE: store.scope(record.scope)}
        if record.at is not None:
            meta[AT] = record.at.isoformat()
        yield {"_id": store.ids[record.id], "title": "", "text": record.text, "metadata": meta}


def _query(probe: Probe, store: _Store) -> dict[str, Any]:
    meta = {SCOPE: store.scope(probe.scope)}
    return {"_id": probe.name, "text": probe.query, "metadata": meta}


def _qrels(suite: Suite, named: Mapping[str, _Store]) -> str:
    lines = ["query-id\tcorpus-id\tscore"]
    for probe in suite:
        ids = named[store_key(probe)].ids
        lines += [f"{probe.name}\t{ids[one]}\t1" for group in probe.groups for one in group]
    return "\n".join(lines) + "\n"


def _tell(named: Mapping[str, _Store], tally: Tally) -> None:
    """Count what had to be written in another way."""
    tally.add(ONE_CORPUS, len(named) if len(named) > 1 else 0, next(iter(named.values())).probe)
    for store in named.values():
        if not store.alone:
            n = len(_scopes(store))
            tally.add("scopes that have got the name of their store", n, store.probe)
        n = sum(name != written for name, written in store.ids.items())
        tally.add("ids that have got the name of their store", n, store.probe)
        n = sum(record.text != record.text.strip() for record in store.records)
        tally.add("texts that lose the blanks at their ends when read", n, store.probe)


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
