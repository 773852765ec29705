"""Retrieval data sets in the files of BEIR, as a suite: a corpus, queries, and judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from memeval.datasets.reading import RAISED, FaultLog, Source, raised_k, table
from memeval.errors import Fault, ProbeError
from memeval.given import Given, given_of
from memeval.probe import Probe
from memeval.record import Record
from memeval.suite import Suite
from memeval.times import parse_time

HINT = "a folder in the form of BEIR: corpus.jsonl, queries.jsonl and qrels/test.tsv"
SCOPE, AT = "scope", "at"  # the fields that `write_beir` writes
LEFT_OUT = dict.fromkeys(("probe", "query", "reason"), "str")


@dataclass(frozen=True)
class Retrieval:
    """A retrieval data set, read.

    Attributes
    ----------
    suite : Suite
        A positive probe per query, all of one history, without a haystack.
    faults : pandas.DataFrame
        A row per fault of the files: ``sample`` (the file), ``place``, ``found``, ``done`` (str).
    left_out : pandas.DataFrame
        Queries that are no probe: ``probe``, ``query``, ``reason`` (str).
    raised : pandas.DataFrame
        Probes that expect more than the `k` asked for: ``probe`` (str), ``n_expected`` and ``k``
        (int64), the cutoff that they have got.
    """

    suite: Suite
    faults: pd.DataFrame
    left_out: pd.DataFrame
    raised: pd.DataFrame


class Query(NamedTuple):
    """A query, whose memory it asks, and where it was read."""

    name: str
    text: str
    scope: str
    why: str


@dataclass
class Collection:
    """Corpus, queries and judgements, from whatever form they were read.

    Attributes
    ----------
    name : str
        Name of the data set, and of its history.
    records, queries, relevant
        The corpus in order, the queries in order, and the ids judged relevant for each query.
    log : FaultLog
        What was wrong so far.
    """

    name: str
    records: list[Record] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)
    relevant: dict[str, list[str]] = field(default_factory=dict)
    log: FaultLog = field(default_factory=FaultLog)


def read_beir(
    folder: str | Path,
    *,
    split: str = "test",
    k: int = 5,
    scope: str | None = None,
    at: str | None = None,
) -> Retrieval:
    r"""Read a data set in the form of BEIR.

    Parameters
    ----------
    folder : str or pathlib.Path
        Where ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv`` lie.
    split : str
        Which judgements.
    k : int
        Cutoff of the probes, save of those that expect more.
    scope : str, optional
        Field of ``metadata``, in both files, that says whose record or query it is; its value
        becomes the scope, with the name of the field before it (``user_id-1``); of a field that is
        itself called ``scope``, as `write_beir` names it, the value alone. Without it all is in the
        scope ``default``.
    at : str, optional
        Field of ``metadata`` that holds the time of a record.

    Returns
    -------
    Retrieval
        A probe per query that has a relevant record; it expects all of them.

    Raises
    ------
    ProbeError
        If a file is missing or not of this form, or an id stands twice.

    Notes
    -----
    The text of a record is its title and its text, a blank between them; the other metadata is
    kept. A relevance of 1 or more is relevant, grades are not told apart. The whole corpus is
    written as one history, so this is for collections of thousands of records, not of millions.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     home = Path(folder)
    ...     _ = (home / "corpus.jsonl").write_text('{"_id": "m1", "text": "Tea at four."}\n')
    ...     _ = (home / "queries.jsonl").write_text('{"_id": "q1", "text": "When is tea?"}\n')
    ...     (home / "qrels").mkdir()
    ...     judged = "query-id\tcorpus-id\tscore\nq1\tm1\t1\n"
    ...     _ = (home / "qrels" / "test.tsv").write_text(judged)
    ...     (probe,) = read_beir(home).suite
    >>> probe.name, probe.expect
    ('q1', ('m1',))
    """
    return as_suite(read_collection(Path(folder), split, scope, at), k)


def read_collection(folder: Path, split: str, scope: str | None, at: str | None) -> Collection:
    """Read the files of BEIR; the parameters are those of `read_beir`."""
    if not folder.is_dir():
        raise ProbeError(f"found no folder {folder}; give {HINT}")
    found = Collection(folder.resolve().name)
    _read_corpus(Source(folder / "corpus.jsonl", HINT), scope, at, found)
    source = Source(folder / "queries.jsonl", HINT)
    for place, row in source.objects():
        name, text, whose, _ = _entry(source, row, scope, place)
        found.queries.append(Query(name, text, whose, f"queries.jsonl, {place}"))
    _read_qrels(Source(folder / "qrels" / f"{split}.tsv", HINT), found)
    return found


def as_suite(found: Collection, k: int) -> Retrieval:
    """Make probes of a collection.

    Raises
    ------
    ProbeError
        If an id stands twice in the corpus or among the queries.
    """
    _refuse_twice(found.name, "corpus", (record.id for record in found.records))
    _refuse_twice(found.name, "queries", (query.name for query in found.queries))
    given = given_of(found.records, "default")
    left_out: list[tuple[str, str, str]] = []
    raised: list[tuple[str, int, int]] = []
    probes = []
    known = {query.name for query in found.queries}
    for name in found.relevant:
        if name not in known:
            found.log.add("qrels", name, "no query has this id", "not used")
    for query in found.queries:
        expect = _expected(found, query, given)
        if not expect or not query.text.strip():
            reason = "the query is blank" if expect else "no record is relevant to it"
            left_out.append((query.name, query.text, reason))
            continue
        cut = raised_k(query.name, len(expect), k, raised)
        scope, why = query.scope, f"{found.name}, {query.why}"
        probes.append(
            Probe(
                query.name, query.text, given, expect,
                k=cut, scope=scope, why=why, history=found.name,
            )
        )  # fmt: skip
    return Retrieval(
        Suite.of(probes), found.log.frame(), table(left_out, LEFT_OUT), table(raised, RAISED)
    )


def add_record(
    found: Collection, file: str, place: str, record: Record, written: Any = None
) -> None:
    """Add a record, at the time that is `written` for it; a blank one is noted and left out."""
    if not record.text.strip():
        found.log.add(file, place, f"{record.id!r} without text", "not written")
        return
    moment = None
    if written is not None:
        try:
            moment = parse_time(str(written))
        except ValueError:
            found.log.add(file, place, f"the time {str(written)!r:.60}", "the record has no time")
    found.records.append(replace(record, at=moment))


def _read_corpus(source: Source, scope: str | None, at: str | None, found: Collection) -> None:
    for place, row in source.objects():
        name, text, whose, meta = _entry(source, row, scope, place)
        title = source.checked(row.get("title") or "", str, "'title'", place)
        rest = {key: value for key, value in meta.items() if key not in (scope, at)}
        record = Record(name, f"{title} {text}".strip(), whose, meta=rest)
        add_record(found, source.file.name, place, record, meta.get(at) if at else None)


def _entry(
    source: Source, row: Mapping[str, Any], scope: str | None, place: str
) -> tuple[str, str, str, dict[str, Any]]:
    """Id, text, scope and metadata of a line."""
    name, text = (source.member(row, key, str, place) for key in ("_id", "text"))
    meta: dict[str, Any] = source.checked(row.get("metadata") or {}, dict, "'metadata'", place)
    if scope is None:
        return name, text, "default", meta
    value = meta.get(scope)
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise source.damaged(f"{value!r:.40} as metadata {scope!r}", "a text or a number", place)
    return name, text, str(value) if scope == SCOPE else f"{scope}-{value}", meta


def _read_qrels(source: Source, found: Collection) -> None:
    faults = []
    judged: set[tuple[str, str]] = set()
    for number, line in source.lines():
        fields = line.split("\t")
        if number == 1 and fields[:1] == ["query-id"]:
            continue
        wrong = "" if len(fields) == 3 else f"{len(fields)} fields"
        if not wrong and not fields[2].strip().removeprefix("-").isdecimal():
            wrong = f"the score {fields[2]!r:.40}"
        if wrong:
            todo = "wanted query-id, corpus-id and a whole score, separated by tabs"
            faults.append(Fault(f"found {wrong}", todo, file=str(source.file), line=number))
            continue
        if (fields[0], fields[1]) in judged:
            found.log.add("qrels", f"line {number}", f"{fields[1]!r} judged again", "first kept")
            continue
        judged.add((fields[0], fields[1]))
        if int(fields[2]) >= 1:
            found.relevant.setdefault(fields[0], []).append(fields[1])
    source.refuse(faults)


def _expected(found: Collection, query: Query, given: Given) -> tuple[str, ...]:
    """Relevant records that are written and may be read, each once."""
    expected: list[str] = []
    for name in dict.fromkeys(found.relevant.get(query.name, ())):
        record = given.by_id.get(name)
        if record is None:
            found.log.add("qrels", query.name, f"{name!r}, which no record has", "dropped")
        elif record.scope != query.scope:
            whose = f"{name!r} of {record.scope}, asked is {query.scope}"
            found.log.add("qrels", query.name, whose, "dropped")
        else:
            expected.append(name)
    return tuple(expected)


def _refuse_twice(name: str, what: str, ids: Iterable[str]) -> None:
    twice = [entry for entry, n in Counter(ids).items() if n > 1]
    if twice:
        raise ProbeError(
            f"{name}: found the id {twice[0]!r} twice in the {what}, wanted each once; take out "
            "one of the two"
        )
