"""Rankings and judgements in the files of TREC, as trec_eval reads them.

Neither has texts, so there is nothing to ask a store; `memeval.rankings.score_rankings` scores
what another system returned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from memeval.datasets.reading import Source, table
from memeval.errors import Fault, ProbeError
from memeval.text import visible

Order = Literal["score", "rank", "file"]
RUN_LINE = "query Q0 document rank score tag"
QRELS_LINE = "query iteration document relevance"


@dataclass(frozen=True)
class Trec:
    """Rankings and judgements of the same queries, ready for `score_rankings`.

    Attributes
    ----------
    rankings : dict of str to list of str
        Documents of each query, best first; empty where the run has no answer.
    expected : dict of str to list of str
        Relevant documents of each query, in the order of the file.
    left_out : pandas.DataFrame
        Queries of only one of the files, or without a relevant document: ``query`` and
        ``reason`` (str).
    """

    rankings: dict[str, list[str]]
    expected: dict[str, list[str]]
    left_out: pd.DataFrame


class _Line(NamedTuple):
    document: str
    rank: int
    score: float


def read_trec(
    run: str | Path, qrels: str | Path, *, order: Order = "score", level: int = 1
) -> Trec:
    r"""Read a run and the judgements that it is to be held against.

    Parameters
    ----------
    run, order
        As for `read_trec_run`.
    qrels, level
        As for `read_trec_qrels`.

    Returns
    -------
    Trec
        A query that was not answered has an empty ranking, which counts as 0 (trec_eval leaves it
        out unless told ``-c``). One that was not judged, or has nothing relevant, is left out.

    Raises
    ------
    ProbeError
        As the two readers.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from memeval.rankings import score_rankings
    >>> with TemporaryDirectory() as folder:
    ...     run, qrels = Path(folder, "run.txt"), Path(folder, "qrels.txt")
    ...     _ = run.write_text("q1 Q0 d1 1 0.5 bm25\nq1 Q0 d2 2 0.9 bm25\n")
    ...     _ = qrels.write_text("q1 0 d1 1\n")
    ...     trec = read_trec(run, qrels)
    >>> trec.rankings
    {'q1': ['d2', 'd1']}
    >>> score_rankings(trec.rankings, trec.expected, k=10)["rr"].tolist()
    [0.5]
    """
    answered, judged = read_trec_run(run, order=order), read_trec_qrels(qrels, level=level)
    relevant = {query: found for query, found in judged.items() if found}
    left_out = [(query, "not judged") for query in answered if query not in judged]
    left_out += [(query, "no relevant document") for query in judged if query not in relevant]
    rankings = {query: answered.get(query, []) for query in relevant}
    return Trec(rankings, relevant, table(left_out, {"query": "str", "reason": "str"}))


def read_trec_run(path: str | Path, *, order: Order = "score") -> dict[str, list[str]]:
    r"""Read a TREC run.

    Parameters
    ----------
    path : str or pathlib.Path
        A file with lines ``query Q0 document rank score tag``, separated by blanks or tabs.
    order : {'score', 'rank', 'file'}
        What makes the order. ``score``: as trec_eval, highest first as a 32-bit number, and where
        two are equal the document id that is greater byte by byte; the rank column is not looked
        at. ``rank``: the rank column, lowest first, equal ones as they stand. ``file``: the lines
        as they stand.

    Returns
    -------
    dict of str to list of str
        Documents of each query, best first; queries as they first appear.

    Raises
    ------
    ProbeError
        If the file is missing, empty or not of this form, a score is no number, or a document
        stands twice for a query (trec_eval refuses these too); every fault with its line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     run = Path(folder, "run.txt")
    ...     _ = run.write_text("q1 Q0 d1 1 0.5 bm25\nq1 Q0 d2 2 0.5 bm25\n")
    ...     read_trec_run(run), read_trec_run(run, order="rank")
    ({'q1': ['d2', 'd1']}, {'q1': ['d1', 'd2']})
    """
    if order not in ("score", "rank", "file"):
        raise ProbeError(f"order is {order!r}, wanted 'score', 'rank' or 'file'; choose one")
    source = Source(Path(path), f"a TREC run, lines {RUN_LINE!r}")
    found: dict[str, dict[str, _Line]] = {}
    faults: list[Fault] = []
    for number, line in source.lines():
        fields = line.split()
        wrong = _run_fault(fields, order)
        if not wrong:
            query, _, document, rank, score, _ = fields
            entry = _Line(document, int(rank) if order == "rank" else 0, float(score))
            wrong = _add(found.setdefault(query, {}), entry)
        if wrong:
            faults.append(_fault(source, number, wrong, RUN_LINE))
    _finish(source, faults, bool(found))
    return {query: _ordered([*entries.values()], order) for query, entries in found.items()}


def read_trec_qrels(path: str | Path, *, level: int = 1) -> dict[str, list[str]]:
    r"""Read TREC judgements.

    Parameters
    ----------
    path : str or pathlib.Path
        A file with lines ``query iteration document relevance``, separated by blanks or tabs.
    level : int
        The least relevance that counts as relevant (``-l`` of trec_eval).

    Returns
    -------
    dict of str to list of str
        Relevant documents of each judged query, in the order of the file; an empty list where
        none is relevant.

    Raises
    ------
    ProbeError
        If the file is missing, empty or not of this form, a relevance is no whole number, or a
        document is judged twice for a query; every fault with its line.

    Notes
    -----
    Grades above `level` are not told apart: gain is binary in memeval.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     qrels = Path(folder, "qrels.txt")
    ...     _ = qrels.write_text("q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 0\n")
    ...     read_trec_qrels(qrels)
    {'q1': ['d1'], 'q2': []}
    """
    source = Source(Path(path), f"TREC judgements, lines {QRELS_LINE!r}")
    judged: dict[str, dict[str, int]] = {}
    faults: list[Fault] = []
    for number, line in source.lines():
        fields = line.split()
        wrong = "" if len(fields) == 4 else f"{len(fields)} fields"
        if not wrong and not _is_whole(fields[3]):
            wrong = f"the relevance {fields[3]!r}"
        if not wrong and fields[2] in judged.get(fields[0], {}):
            wrong = f"document {fields[2]!r} judged again for query {fields[0]!r}"
        if wrong:
            faults.append(_fault(source, number, wrong, QRELS_LINE))
        else:
            judged.setdefault(fields[0], {})[fields[2]] = int(fields[3])
    _finish(source, faults, bool(judged))
    return {
        query: [document for document, grade in grades.items() if grade >= level]
        for query, grades in judged.items()
    }


def _run_fault(fields: list[str], order: Order) -> str:
    """What is wrong with the fields of a line; empty for nothing."""
    if len(fields) != 6:
        return f"{len(fields)} fields"
    if order == "rank" and not _is_whole(fields[3]):
        return f"the rank {fields[3]!r}"
    try:
        score = float(fields[4])
    except ValueError:
        return f"the score {fields[4]!r}"
    return f"the score {fields[4]!r}" if math.isnan(score) else ""


def _add(entries: dict[str, _Line], entry: _Line) -> str:
    """Add a line to its query; what is wrong with it, empty for nothing."""
    if entry.document in entries:
        return f"document {entry.document!r} again for the same query"
    entries[entry.document] = entry
    return ""


def _is_whole(written: str) -> bool:
    return written.removeprefix("-").isascii() and written.removeprefix("-").isdigit()


def _ordered(entries: list[_Line], order: Order) -> list[str]:
    if order == "rank":
        entries = sorted(entries, key=lambda entry: entry.rank)
    elif order == "score":
        with np.errstate(over="ignore", under="ignore"):
            scores = np.array([entry.score for entry in entries]).astype(np.float32).tolist()
        names = [entry.document.encode() for entry in entries]
        keyed = sorted(zip(scores, names, entries, strict=True), key=lambda e: e[:2], reverse=True)
        entries = [entry for _, _, entry in keyed]
    return [entry.document for entry in entries]


def _fault(source: Source, line: int, found: str, form: str) -> Fault:
    return Fault(visible(f"found {found}"), f"wanted {form!r}", file=str(source.file), line=line)


def _finish(source: Source, faults: list[Fault], has_lines: bool) -> None:
    source.refuse(faults)
    if not has_lines:
        raise source.damaged("no line", "a line a document")
